//! Attempts to find a map: one as cheap as can be, and others in which states are told apart by what its alarms depend on.

use std::collections::{BTreeMap, BTreeSet};

use avr_machine::Machine;

use super::alarms::Alarms;
use super::analysis::{Analysis, Options};
use super::fixpoint::Fixpoint;
use super::hints::Hints;
use super::slice::Depth;
use crate::check::{Move, check_from};
use crate::step::Start;

/// The most attempts with slices of one depth.
const ATTEMPTS: usize = 8;

/// The slices that are tried, each with the part of the remaining steps that one attempt may take.
const DEPTHS: [(Depth, usize); 3] = [(Depth::Numbers, 2), (Depth::Rounds, 2), (Depth::Branches, 1)];

/// The first of the further attempts is without slices. It may take so many times the steps of all: one that meets no alarm ends soon.
const WITHOUT_SLICES: usize = 2;

/// It may take so many times the steps of the first attempt as well: it widens more slowly.
const OF_FIRST: usize = 4;

/// Attempts to find a map.
pub(crate) struct Attempts<'a> {
    machine: &'a Machine,
    start: Start<'a>,
    options: &'a Options,
    is_cancelled: &'a dyn Fn() -> bool,
    /// The steps of all attempts so far.
    steps: usize,
    /// Their work, in steps of usual length.
    work: usize,
}

impl<'a> Attempts<'a> {
    pub(crate) fn new(
        machine: &'a Machine,
        start: Start<'a>,
        options: &'a Options,
        is_cancelled: &'a dyn Fn() -> bool,
    ) -> Self {
        Self { machine, start, options, is_cancelled, steps: 0, work: 0 }
    }

    /// The map with the fewest alarms that is found; the first one if there are more.
    pub(crate) fn analysis(mut self) -> Analysis {
        let none = Hints::default();
        let (first, alarms) = self.attempt(&none, self.options.steps, false);
        if alarms.is_none() || self.options.further == 0 {
            return Analysis { steps: self.steps, work: self.work, ..first };
        }
        let last = self.work + self.options.further;
        let mut best = first;
        let steps = (OF_FIRST * self.work).min(self.options.steps).max(WITHOUT_SLICES * self.options.further);
        let (found, first) = self.attempt(&none, steps, true);
        if number(&found) < number(&best) {
            best = found;
        }
        for (depth, share) in DEPTHS {
            let mut hints = first.as_ref().map_or(Hints::default(), |alarms| alarms.hints(self.machine, depth, &none));
            let mut abounding = BTreeSet::new();
            for _ in 0..ATTEMPTS {
                if hints == none || number(&best) == 0 || (self.is_cancelled)() {
                    break;
                }
                let (found, alarms) = self.attempt(&hints, last.saturating_sub(self.work) / share, true);
                if number(&found) < number(&best) {
                    best = found;
                }
                let Some(alarms) = alarms else { break };
                abounding.extend(&alarms.abounding);
                let more = alarms.hints(self.machine, depth, &hints).without(&abounding);
                if more == hints {
                    break;
                }
                hints = more;
            }
        }
        Analysis { steps: self.steps, work: self.work, ..best }
    }

    /// The map with states told apart by hints, and what it fails at.
    fn attempt(&mut self, hints: &Hints, steps: usize, is_strict: bool) -> (Analysis, Option<Alarms>) {
        let options = Options { steps, ..*self.options };
        let mut fixpoint = Fixpoint::new(self.machine, self.start, (options, hints), self.is_cancelled);
        if is_strict {
            fixpoint.mistrust();
        }
        let found = fixpoint.run().and_then(|()| fixpoint.narrow());
        self.steps += fixpoint.work().steps();
        self.work += fixpoint.work().in_steps();
        let gap = found.as_ref().err().cloned();
        let seen = Alarms::seen(self.machine, &mut fixpoint);
        let mut map = fixpoint.into_map();
        let mut moves = BTreeMap::new();
        let mut count = |one: Move| {
            let is_plain = matches!(one, Move::To(from, to) if from.calls == to.calls && to.control.pc == from.control.pc.wrapping_add(1));
            if !is_plain {
                *moves.entry(one).or_default() += 1;
            }
        };
        let outcome = found.and_then(|()| check_from(self.machine, self.start, &mut map, &mut count));
        let alarms = match (&outcome, gap) {
            (Ok(claims), _) => seen.marked(self.machine, &claims.marks),
            (Err(_), Some(gap)) => seen.open(self.machine, &gap),
            (Err(_), None) => None,
        };
        (Analysis { map, outcome, steps: 0, work: 0, moves }, alarms)
    }
}

/// The number of alarms of a map; that is not known of one that is open.
fn number(found: &Analysis) -> usize {
    found.outcome.as_ref().map_or(usize::MAX, |claims| claims.marks.len())
}
