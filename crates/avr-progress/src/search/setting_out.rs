//! Strategies that lead from the states of the trigger to heads with claims.

use super::Search;
use super::strategies::{free, holding};
use crate::proof::Stuck;
use crate::starts::{Done, Starts, Unshown};
use avr_isa::DataAddress;
use avr_symbolic::{Rounds, Strategy};
use std::collections::{BTreeMap, BTreeSet};

impl Search<'_, '_> {
    /// Strategies that lead from the states of the trigger to the heads that are solved, if some are found and none were sought for as many
    /// claims.
    pub(super) fn sets_out(&mut self) -> Result<Option<Vec<Rounds>>, Stuck> {
        if !self.may_be_enough() || self.tried == Some(self.claims.len()) {
            return Ok(None);
        }
        self.tried = Some(self.claims.len());
        let regions: BTreeMap<_, _> =
            (0..).zip(&self.heads).filter_map(|(head, of)| Some((head, of.solved?))).collect();
        let Self { machine, places, possibility, executor, limits, is_over, .. } = self;
        let starts = Starts { machine, places, possibility, executor, regions: &regions, limits, is_over };
        let lead = |first: &[Rounds], asked: &mut BTreeSet<DataAddress>| {
            let mut done = Done::default();
            let shown = starts.show(first, &mut done);
            asked.extend(done.asked);
            match shown {
                Ok(()) => Ok(true),
                Err(Unshown::Limit) if is_over() => Err(Stuck::Limit),
                Err(Unshown::Behind(_) | Unshown::Limit) => Ok(false),
            }
        };
        let with_held = |free: &[Rounds], asked: &BTreeSet<DataAddress>| -> Vec<Rounds> {
            free.iter().cloned().chain(free.iter().flat_map(|free| holding(free, asked))).collect()
        };
        let mut asked = BTreeSet::new();
        let free = free(&places.interrupts());
        let mut found = free.clone();
        if !lead(&free, &mut asked)? {
            found = with_held(&free, &asked);
            if found == free || !lead(&found, &mut asked)? {
                return Ok(None);
            }
        }
        // Fewer strategies rest on less.
        let fewer = [vec![Rounds::one(Strategy::anything())], free[..1].to_vec(), with_held(&free[..1], &asked)];
        for first in fewer {
            if first != found && first.len() <= found.len() && lead(&first, &mut BTreeSet::new())? {
                return Ok(Some(first));
            }
        }
        Ok(Some(found))
    }
}
