//! Ways: paths of which each step is given, and the steps of one that contradict each other.

use super::moment::Moment;
use super::path_condition::PathCondition;
use super::point::Path;
use super::run::SymbolicState;
use super::step::{Outcome, Stepped, Stepper};
use super::strategy::{Course, Freedom, Strategy};
use crate::domain::bit::SymbolicBit;
use crate::domain::graph::Graph;
use crate::query::{Core, QueryLimits, unsatisfiable_core};
use avr_isa::FlashWordAddress;
use avr_machine::Machine;

/// The outcomes of one step that are followed at most.
const MOST_OUTCOMES: usize = 64;

/// The place that a step leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waypoint {
    /// The program counter, a flash word address.
    pub pc: FlashWordAddress,
    /// The number of calls and handlers that are under way.
    pub depth: usize,
}

impl Waypoint {
    fn of(state: &SymbolicState<'_>) -> Self {
        Self { pc: state.control.pc, depth: state.calls.frames().len() }
    }
}

/// The steps, by index, that no run takes together on a way from a state. A way is satisfiable if some run takes it. None if a step cannot be followed.
#[must_use]
pub fn contradiction<'g>(
    machine: &Machine,
    graph: &'g Graph,
    start: SymbolicState<'g>,
    way: &[Waypoint],
    limits: QueryLimits,
) -> Option<Core> {
    let mut walk = Walk::new(machine, graph, start);
    let mut conditions = Vec::with_capacity(way.len());
    for waypoint in way {
        conditions.push(walk.step(*waypoint)?);
        if conditions.last() == Some(&SymbolicBit::ZERO) {
            break;
        }
    }
    Some(unsatisfiable_core(&conditions, limits))
}

/// A path in progress.
struct Walk<'a, 'g> {
    machine: &'a Machine,
    graph: &'g Graph,
    strategy: Strategy,
    path: Path<'g>,
}

impl<'a, 'g> Walk<'a, 'g> {
    fn new(machine: &'a Machine, graph: &'g Graph, start: SymbolicState<'g>) -> Self {
        let path = Path {
            state: start,
            condition: PathCondition::new(),
            moment: Moment::default(),
            course: Course::default(),
            rounds: 0,
            freedom: Freedom::default(),
            kept: SymbolicBit::ONE,
            history: Vec::new(),
        };
        Self { machine, graph, strategy: Strategy::anything(), path }
    }

    /// The bit that is 1 if the next step leads to a waypoint; none if that cannot be told.
    fn step(&mut self, to: Waypoint) -> Option<SymbolicBit<'g>> {
        let stepper = Stepper {
            machine: self.machine,
            graph: self.graph,
            strategy: &self.strategy,
            // Each case is followed: the contradiction is to be found among all steps.
            feasibility: QueryLimits { steps: 0, nodes: 0 },
            most_outcomes: MOST_OUTCOMES,
            sleeps_on: true,
        };
        let mut next: Option<Path<'g>> = None;
        for Outcome { stepped, condition, .. } in stepper.outcomes(&self.path)? {
            match stepped {
                Stepped::To(state) if Waypoint::of(&state) == to => {
                    let path = Path { state: *state, condition, ..self.path.clone() };
                    match &mut next {
                        Some(next) => next.merge(&path),
                        None => next = Some(path),
                    }
                }
                Stepped::To(_) | Stepped::Hazard(_) => {}
                Stepped::Cannot(_) => return None,
            }
        }
        let Some(next) = next else { return Some(SymbolicBit::ZERO) };
        let condition = next.condition.bit();
        self.path = Path { condition: PathCondition::new(), ..next };
        Some(condition)
    }
}
