//! Strategies that lead from the states of the trigger to heads with claims.

use super::Search;
use super::strategies::{free, holding};
use crate::proof::Stuck;
use crate::starts::{Done, Starts, Unshown};
use avr_symbolic::{Rounds, Strategy};
use std::collections::{BTreeMap, BTreeSet};

impl Search<'_, '_> {
    /// Strategies that lead from the states of the trigger to the heads that are solved, if some are found and no others were tried with as
    /// many claims.
    pub(super) fn sets_out(&mut self) -> Result<Option<Vec<Rounds>>, Stuck> {
        if !self.may_be_enough() || self.tried == Some(self.claims.len()) {
            return Ok(None);
        }
        self.tried = Some(self.claims.len());
        let regions: BTreeMap<_, _> =
            (0..).zip(&self.heads).filter_map(|(head, of)| Some((head, of.solved?))).collect();
        let Self { machine, places, possibility, executor, limits, is_over, .. } = self;
        let starts = Starts { machine, places, possibility, executor, regions: &regions, limits, is_over };
        let interrupts = free(&places.interrupts());
        let mut registers = BTreeSet::new();
        let mut tried: Vec<Vec<Rounds>> = Vec::new();
        for number in 0..5 {
            let holding = |free: &[Rounds]| free.iter().flat_map(|one| holding(one, &registers)).collect::<Vec<_>>();
            let first = match number {
                0 => vec![Rounds::one(Strategy::anything())],
                1 => interrupts[..1].to_vec(),
                2 => [interrupts[..1].to_vec(), holding(&interrupts[..1])].concat(),
                3 => interrupts.clone(),
                _ => [interrupts.clone(), holding(&interrupts)].concat(),
            };
            if tried.contains(&first) {
                continue;
            }
            let mut done = Done::default();
            match starts.show(&first, &mut done) {
                Ok(()) => return Ok(Some(first)),
                Err(Unshown::Behind(_)) => {}
                Err(Unshown::Limit) if is_over() => return Err(Stuck::Limit),
                Err(Unshown::Limit) => break,
            }
            registers = done.asked;
            tried.push(first);
        }
        Ok(None)
    }
}
