//! One step from a path, with all its outcomes.

use super::cannot::Cannot;
use super::path_condition::PathCondition;
use super::point::Path;
use super::strategy::{Course, Freedom, Strategy};
use super::world::{Script, StepRecord, World};
use crate::domain::byte::SymbolicByte;
use crate::domain::graph::Graph;
use crate::query::QueryLimits;
use avr_machine::{Happening, Hazard, Machine, MachineState, Stop};

/// The result of a step in one case.
pub(super) enum Stepped<'g> {
    To(Box<MachineState<SymbolicByte<'g>>>),
    Hazard(Hazard),
    Cannot(Cannot),
}

/// One outcome of a step.
pub(super) struct Outcome<'g> {
    pub(super) stepped: Stepped<'g>,
    pub(super) condition: PathCondition<'g>,
    pub(super) record: StepRecord<'g>,
    pub(super) course: Course,
    pub(super) freedom: Freedom,
}

/// Takes steps.
pub(super) struct Stepper<'a, 'g> {
    pub(super) machine: &'a Machine,
    pub(super) graph: &'g Graph,
    pub(super) strategy: &'a Strategy,
    pub(super) feasibility: QueryLimits,
    pub(super) most_outcomes: usize,
    /// True if paths go on where the processor sleeps on.
    pub(super) sleeps_on: bool,
}

impl<'g> Stepper<'_, 'g> {
    /// All outcomes of the step from a path; none if there are too many.
    pub(super) fn outcomes(&self, path: &Path<'g>) -> Option<Vec<Outcome<'g>>> {
        let mut script = Script::default();
        let mut state = path.state.clone();
        let mut all = Vec::new();
        loop {
            state.data.remember();
            state.calls.remember();
            let outcome = self.outcome(path, &mut state, &mut script);
            all.push(outcome);
            if all.len() > self.most_outcomes {
                return None;
            }
            if !script.advance() {
                return Some(all);
            }
            state.data.put_back();
            state.calls.put_back();
            state.control = path.state.control;
        }
    }

    fn outcome(
        &self,
        path: &Path<'g>,
        state: &mut MachineState<SymbolicByte<'g>>,
        script: &mut Script<'g>,
    ) -> Outcome<'g> {
        let began = (path.condition.clone(), path.course.clone());
        let mut world = World::new(self.graph, self.strategy, self.feasibility, script, began);
        let stepped = self.machine.step(state, &mut world);
        let course = world.course();
        let World { record, condition, freedom, problem, .. } = world;
        let slept = path.state.control.sleeping && state.control.sleeping;
        let slept = slept && record.happening.is_none_or(|happening| happening == Happening::Continue);
        let stepped = match (problem, stepped) {
            (Some(problem), _) => Stepped::Cannot(problem),
            (None, Err(Stop::Hazard(hazard))) => Stepped::Hazard(hazard),
            (None, Err(Stop::Limit(limit))) => Stepped::Cannot(Cannot::Machine(limit)),
            (None, Err(Stop::Infeasible)) => Stepped::Cannot(Cannot::Contradiction),
            (None, Ok(_)) if self.graph.is_full() => Stepped::Cannot(Cannot::Nodes),
            (None, Ok(_)) if slept && !self.sleeps_on => Stepped::Cannot(Cannot::Sleep),
            (None, Ok(_)) => Stepped::To(Box::new(self.taken(state, script))),
        };
        Outcome { stepped, condition, record, course, freedom }
    }

    /// The state after a step. If it is the last outcome there is no need for a copy.
    fn taken(&self, state: &mut MachineState<SymbolicByte<'g>>, script: &Script<'g>) -> MachineState<SymbolicByte<'g>> {
        let mut taken = match script.has_next() {
            true => state.clone(),
            false => std::mem::replace(state, MachineState::new(0, three_valued::ByteDomain::constant(0))),
        };
        taken.data.forget();
        taken.calls.forget();
        taken
    }
}
