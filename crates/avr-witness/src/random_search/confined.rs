//! Runs to states from which nothing leads to a goal any more.
//!
//! A run shows only that it comes to the state. That nothing leads on from there is proved by a closed set, which the caller has to find.

use super::Sampler;
use super::answers::Manner;
use super::running::Running;
use super::script::Script;
use crate::concretise::concrete_step::{Run, Stepper};
use crate::concretise::{Ending, Remainder, Walked};
use crate::confirmation::Confirmation;
use crate::evidence::Search;
use avr_machine::MachineState;
use avr_model::context::Context;
use avr_properties::StateView;
use mu_calculus::{AtomId, NodeId, NormalForm};
use rustc_hash::FxHashMap;
use tvar::{Goal, Watch};

/// So many runs go on from a state to see whether it leads to the goal, each for so many steps.
const RUNS_FROM_STATE: usize = 6;
const STEPS_FROM_STATE: u64 = 400;
/// So many states are tried at an instruction, and in all.
const TRIED_AT_INSTRUCTION: usize = 3;
const TRIED: usize = 40;

/// Long runs are looked at every so many steps. One in which nothing is chosen has so many times the steps of the short ones, and the
/// others have as many.
const STEPS_BETWEEN_LOOKS: u64 = 10_000;
const LONG_SHARE: u64 = 2;
/// So many times a long run is looked at in which something is chosen.
const LOOKS: u64 = 8;
/// More inputs are not kept.
const MOST_INPUTS: usize = 100_000;
/// The number of stops between which the first state is sought that leads nowhere.
const STOPS: u64 = 32;

/// The manner of a run in which nothing is chosen.
const QUIET: Manner =
    Manner { happenings: 0, inputs: 0, only_environment: true, only_hardware: false, is_shadowed: false };

/// A subformula `EF q` that must be true in the states in which p is.
pub trait Lost {
    /// The subformula.
    fn subformula(&self) -> &NormalForm;
    /// The atoms of p and q.
    fn atoms(&self) -> Vec<AtomId>;
    /// True if p is certainly true in a state, and q certainly false.
    fn is_claimed(&self, view: &dyn StateView) -> bool;
    /// True if q may be true in a state.
    fn is_reached(&self, view: &dyn StateView) -> bool;
    /// True if a closed set shows that q is true in no state that a state leads to.
    fn is_lost(&self, state: &MachineState<u8>) -> bool;
}

impl<'m> Sampler<'m> {
    /// Looks for a run to a state from which some q cannot be reached, although it must be, until so many steps were taken in all.
    pub fn confined(
        &mut self,
        (context, watch): (&Context<'m>, &dyn Watch),
        goal: &Goal,
        targets: &[&dyn Lost],
        steps: u64,
    ) -> Option<Search> {
        let nodes: Vec<NodeId> =
            targets.iter().map(|target| goal.formula.find(target.subformula())).collect::<Option<_>>()?;
        let mut tried = FxHashMap::default();
        let mut search = |sampler: &mut Self, running: &Running<'m>| {
            let number = sampler.lost_at(running, targets, &mut tried)?;
            let walked = sampler.first_lost(context, running.stepper.clone(), (targets[number], nodes[number]));
            Some(Confirmation { context, goal, value: false, watch }.search(walked))
        };
        while self.steps < steps && !watch.cancelled() {
            let manner = if self.random.bool() { self.manner_of_hardware() } else { self.manner() };
            let (_, Some(running)) = self.run_on(context, manner, &[], u64::MAX) else { continue };
            if let found @ Some(_) = search(self, &running) {
                return found;
            }
        }
        let looks = steps * LONG_SHARE / STEPS_BETWEEN_LOOKS;
        let runs = std::iter::repeat_n(LOOKS, (looks / LOOKS) as usize).chain([looks]);
        for looks in runs {
            let manner = if looks == LOOKS { Manner { is_shadowed: false, ..self.manner() } } else { QUIET };
            let mut running = Running::new(Stepper::new(context, &|_| 0), None, Script::default(), None);
            for _ in 0..looks {
                if !self.goes_on(&mut running, manner) || watch.cancelled() {
                    break;
                }
                if let found @ Some(_) = search(self, &running) {
                    return found;
                }
            }
        }
        None
    }

    /// Some steps; false if they come to an end.
    fn goes_on(&mut self, running: &mut Running<'m>, manner: Manner) -> bool {
        for _ in 0..STEPS_BETWEEN_LOOKS {
            self.steps += 1;
            let tried = self.step(running, manner);
            if tried.result.is_err() {
                running.stepper.take_back();
                return false;
            }
            running.stepper.accept(tried);
        }
        running.stepper.run.inputs.len() < MOST_INPUTS
    }

    /// The target that is lost at the end of a run. States at an instruction are tried a few times.
    fn lost_at(
        &mut self,
        running: &Running<'m>,
        targets: &[&dyn Lost],
        tried: &mut FxHashMap<(usize, u32), usize>,
    ) -> Option<usize> {
        let pc = running.stepper.state().control.pc.0;
        targets.iter().enumerate().position(|(number, target)| {
            let is_candidate = tried.values().sum::<usize>() < TRIED
                && tried.get(&(number, pc)).is_none_or(|count| *count < TRIED_AT_INSTRUCTION)
                && target.is_claimed(&running.stepper.view())
                && !self.leads_to(running, *target);
            if is_candidate {
                *tried.entry((number, pc)).or_default() += 1;
            }
            is_candidate && target.is_lost(running.stepper.state())
        })
    }

    /// True if some run from the end of another one comes to a state of the target.
    fn leads_to(&mut self, running: &Running<'m>, target: &dyn Lost) -> bool {
        for _ in 0..RUNS_FROM_STATE {
            let manner = Manner { is_shadowed: false, only_hardware: false, ..self.manner() };
            let mut on = Running::new(running.stepper.clone(), None, Script::default(), None);
            for _ in 0..STEPS_FROM_STATE {
                self.steps += 1;
                let tried = self.step(&mut on, manner);
                if tried.result.is_err() {
                    on.stepper.take_back();
                    break;
                }
                on.stepper.accept(tried);
                if target.is_reached(&on.stepper.view()) {
                    return true;
                }
            }
        }
        false
    }

    /// The shortest beginning of a run that ends in a state from which the target is not reached, and in which it must be: once it is lost
    /// it stays lost.
    fn first_lost(&mut self, context: &Context<'m>, last: Stepper<'m>, (target, node): (&dyn Lost, NodeId)) -> Walked {
        let best = self.shorter(context, &last, target).unwrap_or(last);
        let view = best.view();
        let known = |atom: AtomId| Some((atom, view.label(context.atoms, atom).known()?));
        let claims = target.atoms().into_iter().filter_map(known).collect();
        let step = best.run.steps;
        let universal = vec![Remainder { node, value: false, step }];
        Walked { universal, ..Walked::to_end(best, Ending::Shown, claims) }
    }

    /// A shorter run of this kind, if the run can be followed again.
    fn shorter(&mut self, context: &Context<'m>, last: &Stepper<'m>, target: &dyn Lost) -> Option<Stepper<'m>> {
        let run = &last.run;
        let mut from = Stepper::new(context, &|cell| run.initial.get(&cell).copied().unwrap_or(0));
        let (mut until, mut lost) = (run.steps, None);
        if target.is_lost(from.state()) {
            (until, lost) = (0, Some(from.clone()));
        }
        while until > from.run.steps + 1 {
            let between = ((until - from.run.steps) / STOPS).max(1);
            let mut stops = vec![from];
            while let Some(stop) = stops.last().filter(|stop| stop.run.steps + between < until) {
                let next = stop.run.steps + between;
                stops.push(self.followed(stop.clone(), run, &|stepper| stepper.run.steps >= next)?);
            }
            // SOUND: each state that is taken was proved to be lost by itself.
            let first = stops.partition_point(|stop| !target.is_lost(stop.state()));
            if let Some(stop) = stops.get(first) {
                (until, lost) = (stop.run.steps, Some(stop.clone()));
            }
            from = stops.swap_remove(first.checked_sub(1)?);
        }
        let best = self.followed(lost?, run, &|stepper| target.is_claimed(&stepper.view()))?;
        (best.run.steps < run.steps && target.is_lost(best.state())).then_some(best)
    }

    /// Goes on as in a run until something is so; none if it never is, or the run is another one.
    fn followed(
        &mut self,
        stepper: Stepper<'m>,
        run: &Run,
        is_there: &dyn Fn(&Stepper<'m>) -> bool,
    ) -> Option<Stepper<'m>> {
        let script = Script::changed(&run.chosen, stepper.run.steps, &[]);
        let mut running = Running::new(stepper, None, script, None);
        while !is_there(&running.stepper) {
            if running.stepper.run.steps >= run.steps {
                return None;
            }
            self.steps += 1;
            let tried = self.step(&mut running, QUIET);
            if tried.result.is_err() {
                return None;
            }
            running.stepper.accept(tried);
        }
        Some(running.stepper)
    }
}
