//! Ways: paths of which each step is given, their feasibility, and the steps of one that contradict each other.

use super::moment::Moment;
use super::path_condition::PathCondition;
use super::point::Path;
use super::replay::{ConcreteRun, concrete_state, taken};
use super::run::SymbolicState;
use super::step::{Outcome, Stepped, Stepper};
use super::strategy::{Course, Freedom, Strategy};
use super::world::StepRecord;
use crate::domain::assignment::{Assignment, Valuation};
use crate::domain::bit::SymbolicBit;
use crate::domain::graph::Graph;
use crate::query::{Core, QueryLimits, Unanswered, unsatisfiable_core};
use avr_isa::FlashWordAddress;
use avr_machine::{HazardKind, Machine};
use three_valued::BitDomain;

/// The outcomes of one step that are followed at most.
const MOST_OUTCOMES: usize = 64;

/// The outcome of one step of a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waypoint {
    /// It leads to a place.
    Place {
        /// The program counter, a flash word address.
        pc: FlashWordAddress,
        /// The number of calls and handlers that are under way.
        depth: usize,
    },
    /// It is a hazard of this kind, and the last step.
    Hazard(HazardKind),
}

impl Waypoint {
    fn of(state: &SymbolicState<'_>) -> Self {
        Self::Place { pc: state.control.pc, depth: state.calls.frames().len() }
    }
}

/// The feasibility of a way.
#[derive(Clone, Debug)]
pub enum Feasibility {
    /// Some steps, by index, that no run takes together, and none of which can be left out as far as the solver sees within its limit.
    Infeasible(Vec<usize>),
    /// The steps do not contradict each other: this run takes them; none where that depends on an open bit.
    Feasible(Option<Box<ConcreteRun>>),
    /// Nothing is claimed.
    Unanswered(Unanswered),
}

/// The feasibility of a way from a state; none if a step cannot be followed.
#[must_use]
pub fn feasibility<'g>(
    machine: &Machine,
    graph: &'g Graph,
    start: SymbolicState<'g>,
    way: &[Waypoint],
    limits: QueryLimits,
) -> Option<Feasibility> {
    let mut walk = Walk::new(machine, graph, start.clone());
    let (mut conditions, mut records) = (Vec::with_capacity(way.len()), Vec::with_capacity(way.len()));
    for waypoint in way {
        let (condition, outcomes) = walk.step(*waypoint)?;
        conditions.push(condition);
        records.push(outcomes);
        if condition == SymbolicBit::ZERO {
            break;
        }
    }
    Some(match unsatisfiable_core(&conditions, limits) {
        Core::Of(steps) => Feasibility::Infeasible(steps),
        Core::Satisfiable(assignment) => Feasibility::Feasible(run(graph, &start, &records, assignment).map(Box::new)),
        Core::None(reason) => Feasibility::Unanswered(reason),
    })
}

/// The run under an assignment, of the outcomes of each step that lead to its waypoint; none if an open bit decides.
fn run<'g>(
    graph: &'g Graph,
    start: &SymbolicState<'g>,
    way: &[Vec<StepRecord<'g>>],
    assignment: Assignment,
) -> Option<ConcreteRun> {
    let mut values = Valuation::new(graph, assignment);
    let start = concrete_state(start, &mut values)?;
    let step = |outcomes: &Vec<StepRecord<'g>>| taken(outcomes.iter().map(|record| (record, ())), &mut values);
    let steps = way.iter().map(step).map(|taken| taken.map(|(step, ())| step)).collect::<Option<Vec<_>>>()?;
    Some(ConcreteRun { start, steps })
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

    /// The bit that is 1 if the next step leads to a waypoint, with its outcomes that do; none if that cannot be told.
    fn step(&mut self, to: Waypoint) -> Option<(SymbolicBit<'g>, Vec<StepRecord<'g>>)> {
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
        let (mut records, mut is_hazard) = (Vec::new(), SymbolicBit::ZERO);
        for Outcome { stepped, condition, record, .. } in stepper.outcomes(&self.path)? {
            match stepped {
                Stepped::To(state) if Waypoint::of(&state) == to => {
                    records.push(record);
                    let path = Path { state: *state, condition, ..self.path.clone() };
                    match &mut next {
                        Some(next) => next.merge(&path),
                        None => next = Some(path),
                    }
                }
                Stepped::Hazard(hazard) if Waypoint::Hazard(hazard.kind) == to => {
                    records.push(record);
                    is_hazard = is_hazard.or(&condition.bit());
                }
                Stepped::To(_) | Stepped::Hazard(_) => {}
                Stepped::Cannot(_) => return None,
            }
        }
        let Some(next) = next else { return Some((is_hazard, records)) };
        let condition = next.condition.bit();
        self.path = Path { condition: PathCondition::new(), ..next };
        Some((condition, records))
    }
}
