//! Minimisation of a run: each initial value and each choice in turn is replaced by what comes by itself. What the run
//! then comes to is checked as if it had been found so.

use crate::concretise::concrete_step::{Answer, Answers, Asked, Run, Stepper};
use crate::concretise::{Ending, Walked};
use crate::replay::{Confirmed, confirm};
use avr_isa::DataAddress;
use avr_machine::Stop;
use avr_model::context::Context;
use mu_calculus::NormalForm;
use tvar::Watch;

/// Longer runs, and runs with more choices, are left as they are.
const MAX_STEPS: u64 = 5_000;
const MAX_CHOICES: usize = 64;

/// A run that shows a formula by itself, with as few choices as can be told by leaving out one after the other.
pub(crate) struct Minimiser<'a, 'f> {
    pub(crate) context: &'a Context<'f>,
    pub(crate) formula: &'a NormalForm,
    pub(crate) value: bool,
    pub(crate) watch: &'a dyn Watch,
}

impl Minimiser<'_, '_> {
    /// The smaller run with its replay.
    pub(crate) fn minimise(&self, walked: Walked, confirmed: Confirmed) -> (Walked, Confirmed) {
        let mut best = (walked, confirmed);
        let count = |run: &Run| run.initial.len() + run.chosen.len();
        if best.0.run.steps > MAX_STEPS || count(&best.0.run) > MAX_CHOICES {
            return best;
        }
        for cell in best.0.run.initial.keys().copied().collect::<Vec<_>>() {
            let mut wanted = best.0.run.clone();
            wanted.initial.remove(&cell);
            self.try_it(&mut best, &wanted);
        }
        // The last choices go first, because what comes last depends on what comes first.
        for step in best.0.run.chosen.iter().rev().map(|(step, _)| *step).collect::<Vec<_>>() {
            let mut wanted = best.0.run.clone();
            wanted.chosen.retain(|(at, _)| *at != step);
            self.try_it(&mut best, &wanted);
        }
        best
    }

    /// Takes what `wanted` comes to if it shows the same.
    fn try_it(&self, best: &mut (Walked, Confirmed), wanted: &Run) {
        if self.watch.cancelled() {
            return;
        }
        let Some(walked) = self.walk(&best.0, wanted) else { return };
        let is_no_worse = walked.run.abstracted.is_none() || best.0.run.abstracted.is_some();
        if let Ok(confirmed) = confirm(self.context, self.formula, self.value, &walked, self.watch)
            && confirmed.alone
            && is_no_worse
        {
            *best = (walked, confirmed);
        }
    }

    /// The run with the initial content and the choices that are wanted, to the same end.
    fn walk(&self, old: &Walked, wanted: &Run) -> Option<Walked> {
        let content = |cell: DataAddress| wanted.initial.get(&cell).copied().unwrap_or(0);
        let mut stepper = match &old.start {
            Some(start) => Stepper::at(self.context, start.clone()),
            None => Stepper::new(self.context, &content),
        };
        let mut chosen = wanted.chosen.iter().peekable();
        let last = if matches!(old.ending, Ending::Hazard(_)) { wanted.steps + 1 } else { wanted.steps };
        for step in 0..last {
            let answers = chosen.next_if(|(at, _)| *at == step).map(|(_, asked)| answers(asked)).unwrap_or_default();
            let tried = stepper.attempt(&answers, &|_| 0);
            match (tried.result, old.ending) {
                (Ok(_), _) if step < wanted.steps => {}
                (Err(Stop::Hazard(met)), Ending::Hazard(hazard)) if step == wanted.steps && met == hazard => {}
                _ => return None,
            }
            stepper.accept(tried);
        }
        let last = Some(stepper.state().clone());
        let (start, ending, is_branch) = (old.start.clone(), old.ending, old.is_branch);
        Some(Walked { start, ending, last, is_branch, ..Walked::broken_off(stepper.run) })
    }
}

/// The answers that were given in a step.
pub(crate) fn answers(asked: &[(usize, Asked)]) -> Answers {
    let answer = |asked: &Asked| match asked {
        Asked::Input { value, .. } => Answer::Input(*value),
        Asked::Choice { chosen, .. } => Answer::Happening(*chosen),
    };
    asked.iter().map(|(index, asked)| (*index, answer(asked))).collect()
}
