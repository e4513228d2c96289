//! Verdicts about formulas of branching time.

use mu_calculus::{AtomId, Formula, PathOperator, PathQuantifier};
use three_valued::Truth;

use super::Verdict;
use crate::binding::System;
use crate::branching::{asks_for_possibilities, over_fair_runs};
use crate::composition::Space;

impl System<'_> {
    /// The verdict about a formula that is true at the start. `AG` of something is looked at in each state, so that a run leads to one
    /// in which it is false.
    ///
    /// SOUND: a possibility that is certainly denied is one that no concrete state has, so a run to a state that denies it is a violation.
    /// Other formulas that are false rest on a choice of runs, which no run shows.
    pub(super) fn branching(
        &self,
        space: &mut Space<'_>,
        formula: &Formula<AtomId>,
        is_complete: bool,
        is_over: &(dyn Fn() -> bool + Sync),
    ) -> Verdict {
        let (everywhere, inner) = match formula {
            Formula::Path(PathQuantifier::All, PathOperator::Always, inner) => (true, &**inner),
            other => (false, other),
        };
        let mut truths = match self.truths(space, &over_fair_runs(inner, self.round()), is_over) {
            Ok(truths) => truths,
            Err(reason) => return Verdict::Unknown(reason),
        };
        if !everywhere {
            truths.truncate(1);
        }
        if !asks_for_possibilities(inner) && truths.contains(&Truth::False) {
            let reason = "it is false in the abstraction, and a single run does not show that it is violated";
            return Verdict::Unknown(reason.to_owned());
        }
        let reason = truths.iter().position(|truth| *truth == Truth::Unknown).map(|state| {
            let end = (0..space.states.len() as u32).find_map(|state| space.end(state));
            match end {
                Some((node, reason)) => format!("a path ends in {}: {reason}", self.names[node]),
                None => format!("it is not known if the formula is true {}", self.described(space, state as u32)),
            }
        });
        self.concluded(space, &truths, is_complete, reason)
    }
}
