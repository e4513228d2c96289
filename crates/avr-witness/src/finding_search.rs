//! The search for runs that show findings: random runs are tracked, and each run that shows something is made smaller and replayed.

use crate::concretise::Walked;
use crate::concretise::concrete_step::{Observed, Run, Stepper, Tracking};
use crate::confirmation::Confirmation;
use crate::evidence::Evidence;
use crate::minimise::answers;
use crate::random_search::Sampler;
use crate::replay::confirm;
use crate::tracking::{Key, Observation, Subjects, Tracker};
use avr_isa::DataAddress;
use avr_model::context::Context;
use mu_calculus::{Formula, NormalForm};
use std::collections::BTreeMap;
use std::rc::Rc;
use tvar::{Goal, Watch};

/// So many steps are taken before it is asked if anything is left to be found.
const SLICE: u64 = 20_000;
/// Longer runs, and runs with more choices, are left as they are.
const MAX_STEPS: u64 = 20_000;
const MAX_CHOICES: usize = 64;
/// The most observations that get runs.
const MAX_FOUND: usize = 32;

/// An observation with the run that shows it.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The observation.
    pub observation: Observation,
    /// The run, replayed: its last step is the instruction that was observed.
    pub evidence: Box<Evidence>,
}

/// Looks for runs that show something of the subjects, in so many steps for interleavings and so many for all others.
///
/// # Panics
/// Never: a formula without atoms has a normal form.
pub fn look(
    context: &Context<'_>,
    subjects: &Rc<Subjects>,
    (interleavings, others): (u64, u64),
    watch: &dyn Watch,
) -> Vec<Seen> {
    let search = FindingSearch { context, watch };
    let windows = !subjects.windows.is_empty();
    let stores = subjects.has_stack_cells || !subjects.objects.is_empty();
    let without_windows = Rc::new(Subjects { windows: Vec::new(), ..(**subjects).clone() });
    let only_windows = Rc::new(Subjects { windows: subjects.windows.clone(), ..Subjects::default() });
    let torn = windows.then(|| search.observed(&only_windows, interleavings));
    let stored = stores.then(|| search.observed(&without_windows, others));
    [torn, stored].into_iter().flatten().flatten().take(MAX_FOUND).filter_map(|one| search.shown(one)).collect()
}

struct FindingSearch<'a, 'f> {
    context: &'a Context<'f>,
    watch: &'a dyn Watch,
}

/// An observation of a search, with the tracker that knows the program.
struct Found {
    observed: Observed,
    tracker: Tracker,
}

impl FindingSearch<'_, '_> {
    /// The observations of random runs: of each finding one, and one of the hardware where there is one.
    fn observed(&self, subjects: &Rc<Subjects>, steps: u64) -> Vec<Found> {
        let tracker = Tracker::new(self.context.machine, subjects);
        let tracking = Tracking { tracker: tracker.clone(), found: Rc::default() };
        let only_windows = !subjects.windows.is_empty();
        let mut sampler = Sampler::tracking(tracking.clone());
        let mut taken = 0;
        while taken < steps && !self.watch.cancelled() && !(only_windows && tracker.open_windows() == 0) {
            taken += SLICE;
            sampler.deepest(self.context, (None, None), taken, self.watch);
        }
        if !only_windows {
            let on_model = tracking.found.borrow().clone();
            let on_model = on_model.iter().map(|(_, run, _)| run).filter(|run| run.abstracted.is_some());
            let is_done = || !tracker.has_some_on_model();
            sampler.track_on_hardware((self.context, self.watch), on_model, steps, &is_done);
        }
        // A later one of the same finding is one of the hardware.
        let mut latest: BTreeMap<Key, Observed> = BTreeMap::new();
        for observed in tracking.found.take() {
            latest.insert(observed.0.key(), observed);
        }
        latest.into_values().map(|observed| Found { observed, tracker: tracker.clone() }).collect()
    }

    /// The run of an observation, made smaller and replayed. None where the replay does not come to the same state.
    fn shown(&self, found: Found) -> Option<Seen> {
        let (observation, run, last) = self.smaller(found);
        let formula = NormalForm::new(&Formula::Constant(true)).expect("it has no atoms");
        let walked = Walked { last: Some(last), ..Walked::broken_off(run) };
        let confirmed = confirm(self.context, &formula, true, &walked, self.watch).ok()?;
        let goal = Goal { formula, observes_hazards: false };
        let confirmation = Confirmation { context: self.context, goal: &goal, value: true, watch: self.watch };
        let (evidence, _) = confirmation.told(&walked, confirmed);
        Some(Seen { observation, evidence: Box::new(Evidence { reached: None, ..evidence }) })
    }

    /// The same observation in a run with fewer choices: each in turn is replaced by what comes by itself.
    fn smaller(&self, found: Found) -> Observed {
        let Found { observed: mut best, tracker } = found;
        let is_large = |run: &Run| run.steps > MAX_STEPS || run.initial.len() + run.chosen.len() > MAX_CHOICES;
        if is_large(&best.1) {
            return best;
        }
        for step in best.1.chosen.iter().rev().map(|(step, _)| *step).collect::<Vec<_>>() {
            if self.watch.cancelled() {
                break;
            }
            let mut wanted = best.1.clone();
            wanted.chosen.retain(|(at, _)| *at != step);
            let again = self.again(&wanted, &tracker, best.0.key());
            let is_no_worse = |run: &Run| run.abstracted.is_none() || best.1.abstracted.is_some();
            if let Some(again) = again.filter(|again| is_no_worse(&again.1)) {
                best = again;
            }
        }
        best
    }

    /// The observation in a run with the initial content and the choices that are wanted, if it is made there.
    fn again(&self, wanted: &Run, tracker: &Tracker, key: Key) -> Option<Observed> {
        let content = |cell: DataAddress| wanted.initial.get(&cell).copied().unwrap_or(0);
        let tracking = Tracking { tracker: tracker.again(self.context.machine), found: Rc::default() };
        let mut stepper = Stepper::new(self.context, &content).tracked(Some(tracking.clone()));
        let mut chosen = wanted.chosen.iter().peekable();
        for step in 0..wanted.steps {
            let given = chosen.next_if(|(at, _)| *at == step).map(|(_, asked)| answers(asked)).unwrap_or_default();
            let tried = stepper.attempt(&given, &|_| 0);
            tried.result.ok()?;
            stepper.accept(tried);
            let mut found = tracking.found.borrow_mut();
            if let Some(index) = found.iter().position(|(observation, ..)| observation.key() == key) {
                return Some(found.swap_remove(index));
            }
        }
        None
    }
}
