//! The paths of a program from a state.

use super::cannot::Cannot;
use super::moment::{Moment, Rank};
use super::path_condition::PathCondition;
use super::point::{Key, Path, Told};
use super::step::{Outcome, Stepped, Stepper};
use super::strategy::{Course, Freedom, Strategy};
use super::world::{AskedInput, StepRecord};
use crate::domain::bit::SymbolicBit;
use crate::domain::byte::SymbolicByte;
use crate::domain::graph::Graph;
use crate::query::QueryLimits;
use avr_analysis::iteration_order::IterationOrder;
use avr_machine::{FrameKind, Hazard, Machine, MachineState};
use std::collections::{BTreeMap, BTreeSet};
use three_valued::BitDomain;

/// A symbolic state.
pub type SymbolicState<'g> = MachineState<SymbolicByte<'g>>;

/// The states at which paths end, and what is demanded of the others.
pub trait Goal<'g> {
    /// True if a state, after one step at least, ends a round.
    fn is_round(&self, _state: &SymbolicState<'g>) -> bool {
        false
    }

    /// True if paths end in a state, after one step at least, when so many rounds have ended, which may be the one that ends here.
    fn is_end(&self, state: &SymbolicState<'g>, rounds: usize) -> bool;

    /// The bit that is 1 if a state on the way, the first and the last one included, is as demanded.
    fn is_kept(&self, _state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        SymbolicBit::ONE
    }

    /// The bit for the states on the way up to this one, from that for the states before it.
    fn keep(&self, kept: &SymbolicBit<'g>, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        kept.and(&self.is_kept(state))
    }

    /// History bits: what else is to be known at an end of the states on the way (auxiliary variables; Owicki & Gries, "An axiomatic
    /// proof technique for parallel programs I", 1976). `before` are those up to the state before, none at the first state; `kept` is the
    /// bit up to this one. There are the same number of bits at each state.
    fn history(
        &self,
        _before: Option<&[SymbolicBit<'g>]>,
        _kept: &SymbolicBit<'g>,
        _state: &SymbolicState<'g>,
    ) -> Vec<SymbolicBit<'g>> {
        Vec::new()
    }

    /// Takes note of a state from which a step is to be taken, the first one included, with the condition of the paths to it.
    fn passes(&self, _state: &SymbolicState<'g>, _condition: &PathCondition<'g>) {}

    /// True if paths go on where the processor sleeps on.
    fn sleeps_on(&self) -> bool {
        false
    }

    /// True if the work is to end: paths are not followed further, as at a limit on steps.
    fn is_over(&self) -> bool {
        false
    }
}

impl<'g, F: Fn(&SymbolicState<'g>) -> bool> Goal<'g> for F {
    fn is_end(&self, state: &SymbolicState<'g>, _: usize) -> bool {
        self(state)
    }
}

/// Limits of an execution. Those of the nodes are the graph's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutionLimits {
    /// Steps of all paths together.
    pub steps: usize,
    /// Paths that are open at the same time.
    pub paths: usize,
    /// Outcomes of one step.
    pub outcomes: usize,
    /// Limits of the queries that exclude cases. Without an answer a case is followed.
    pub feasibility: QueryLimits,
}

impl Default for ExecutionLimits {
    fn default() -> Self {
        let feasibility = QueryLimits { steps: 1_000, nodes: 20_000 };
        Self { steps: 100_000, paths: 1_000, outcomes: 1_024, feasibility }
    }
}

/// The way in which a path ends.
#[derive(Clone, Debug)]
pub enum EndKind<'g> {
    /// In a state of the goal.
    Goal(Box<SymbolicState<'g>>),
    /// With a hazard.
    Hazard(Hazard),
    /// Not at all: it is not followed further.
    Cannot(Cannot),
}

/// The end of paths.
#[derive(Clone, Debug)]
pub struct End<'g> {
    /// The way in which they end.
    pub kind: EndKind<'g>,
    /// The condition.
    pub condition: PathCondition<'g>,
    /// The freedom that the strategy uses on them.
    pub freedom: Freedom,
    /// The bit that is 1 if all states on the way are as the goal demands.
    pub kept: SymbolicBit<'g>,
    /// The history bits.
    pub history: Vec<SymbolicBit<'g>>,
}

/// The place to which a step leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Another point, by its number.
    Point(usize),
    /// An end, by its number.
    End(usize),
}

/// All paths from a state. Points are numbered; the first one is the start.
#[derive(Debug)]
pub struct Execution<'g> {
    /// The state in which it begins.
    pub start: SymbolicState<'g>,
    /// The ends. For each assignment under which the condition of the start is 1, that of exactly one of them is, unless the graph is
    /// full: then conditions may be open.
    pub ends: Vec<End<'g>>,
    /// The number of steps that were taken.
    pub steps: usize,
    /// The number of times that two paths were merged.
    pub merges: usize,
    /// For each point the outcomes of its step, with what they lead to.
    pub(crate) outcomes: Vec<Vec<(StepRecord<'g>, Target)>>,
}

impl<'g> Execution<'g> {
    /// The inputs that steps asked for.
    pub fn inputs(&self) -> impl Iterator<Item = &AskedInput<'g>> {
        self.outcomes.iter().flatten().flat_map(|(record, _)| &record.inputs)
    }

    /// The freedom that the strategy uses on some path.
    #[must_use]
    pub fn freedom(&self) -> Freedom {
        self.ends.iter().fold(Freedom::default(), |all, end| all.union(end.freedom))
    }
}

/// Follows paths.
#[derive(Debug)]
pub struct Executor<'a> {
    machine: &'a Machine,
    order: IterationOrder,
    limits: ExecutionLimits,
}

impl<'a> Executor<'a> {
    /// An executor of a machine's program.
    #[must_use]
    pub fn new(machine: &'a Machine, limits: ExecutionLimits) -> Self {
        Self { machine, order: IterationOrder::new(&machine.program), limits }
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &'a Machine {
        self.machine
    }

    /// All paths from a state with a condition, under a strategy, until a goal.
    pub fn execute<'g>(
        &self,
        graph: &'g Graph,
        (start, condition): (SymbolicState<'g>, PathCondition<'g>),
        strategy: &Strategy,
        goal: &impl Goal<'g>,
    ) -> Execution<'g> {
        let stepper = Stepper {
            machine: self.machine,
            graph,
            strategy,
            feasibility: self.limits.feasibility,
            most_outcomes: self.limits.outcomes,
            sleeps_on: goal.sleeps_on(),
        };
        let moment = Moment::default().advanced(&self.order, start.control.pc, start.calls.frames().len(), false);
        let kept = goal.is_kept(&start);
        let first = Path {
            state: start.clone(),
            condition,
            moment,
            course: Course::default(),
            rounds: 0,
            freedom: Freedom::default(),
            history: goal.history(None, &kept, &start),
            kept,
        };
        let execution = Execution { start, ends: Vec::new(), steps: 0, merges: 0, outcomes: Vec::new() };
        let mut run = Run {
            executor: self,
            stepper,
            goal,
            execution,
            waiting: Vec::new(),
            order: BTreeSet::new(),
            points: BTreeMap::new(),
            goals: BTreeMap::new(),
        };
        run.wait(first);
        while let Some((_, point)) = run.order.pop_first() {
            run.follow(point);
        }
        run.execution
    }
}

/// An execution in progress.
struct Run<'a, 'g, G> {
    executor: &'a Executor<'a>,
    stepper: Stepper<'a, 'g>,
    goal: &'a G,
    execution: Execution<'g>,
    /// The paths that wait, by the number of their point.
    waiting: Vec<Option<Path<'g>>>,
    order: BTreeSet<(Rank, usize)>,
    /// The points at which paths wait.
    points: BTreeMap<Key, usize>,
    /// The ends in states of the goal.
    goals: BTreeMap<Key, usize>,
}

impl<'g, G: Goal<'g>> Run<'_, 'g, G> {
    /// Lets a path wait for its turn; it is merged with one that waits at the same point.
    fn wait(&mut self, path: Path<'g>) -> Target {
        let key = path.key(self.executor.machine);
        if let Some(point) = self.points.get(&key).copied()
            && let Some(waiting) = &mut self.waiting[point]
        {
            waiting.merge(&path);
            self.execution.merges += 1;
            return Target::Point(point);
        }
        if self.order.len() >= self.executor.limits.paths.max(1) {
            return self.end(EndKind::Cannot(Cannot::Paths), path.told());
        }
        let point = self.waiting.len();
        self.order.insert((path.moment.rank(), point));
        self.waiting.push(Some(path));
        self.execution.outcomes.push(Vec::new());
        self.points.insert(key, point);
        Target::Point(point)
    }

    /// Takes the step of a point.
    fn follow(&mut self, point: usize) {
        let Some(path) = self.waiting[point].take() else { return };
        self.points.remove(&path.key(self.executor.machine));
        self.goal.passes(&path.state, &path.condition);
        let outcomes = match self.execution.steps >= self.executor.limits.steps || self.goal.is_over() {
            true => Err(Cannot::Steps),
            false => self.stepper.outcomes(&path).ok_or(Cannot::Outcomes),
        };
        self.execution.steps += 1;
        match outcomes {
            Ok(outcomes) => {
                for outcome in outcomes {
                    let record = outcome.record.clone();
                    let target = self.arrive(&path, outcome);
                    self.execution.outcomes[point].push((record, target));
                }
            }
            Err(reason) => {
                let target = self.end(EndKind::Cannot(reason), path.told());
                self.execution.outcomes[point].push((StepRecord::default(), target));
            }
        }
    }

    /// Goes on with an outcome of the step of a path.
    fn arrive(&mut self, path: &Path<'g>, outcome: Outcome<'g>) -> Target {
        let Outcome { stepped, condition, course, freedom, .. } = outcome;
        let freedom = freedom.union(path.freedom);
        let state = match stepped {
            Stepped::To(state) => *state,
            Stepped::Hazard(hazard) => {
                return self.end(EndKind::Hazard(hazard), Told { condition, freedom, ..path.clone().told() });
            }
            Stepped::Cannot(reason) => {
                return self.end(EndKind::Cannot(reason), Told { condition, freedom, ..path.clone().told() });
            }
        };
        let kept = self.goal.keep(&path.kept, &state);
        let history = self.goal.history(Some(&path.history), &kept, &state);
        let (before, after) = (path.state.calls.frames(), state.calls.frames());
        let left_handler = after.len() < before.len()
            && before.last().is_some_and(|frame| matches!(frame.kind, FrameKind::Interrupt(_)));
        let moment = path.moment.advanced(&self.executor.order, state.control.pc, after.len(), left_handler);
        let rounds = path.rounds + usize::from(self.goal.is_round(&state));
        let next = Path { state, condition, moment, course, rounds, freedom, kept, history };
        if self.goal.is_end(&next.state, rounds) { self.reach(next) } else { self.wait(next) }
    }

    /// Ends a path in a state of the goal; it is merged with others that end at the same point.
    fn reach(&mut self, path: Path<'g>) -> Target {
        let key = path.key(self.executor.machine);
        if let Some(end) = self.goals.get(&key).copied() {
            let End { kind: EndKind::Goal(state), condition, freedom, kept, history } =
                self.execution.ends[end].clone()
            else {
                unreachable!("only ends in states of the goal are noted")
            };
            let mut merged = Path { state: *state, condition, freedom, kept, history, ..path.clone() };
            merged.merge(&path);
            self.execution.merges += 1;
            let Path { state, condition, freedom, kept, history, .. } = merged;
            self.execution.ends[end] = End { kind: EndKind::Goal(Box::new(state)), condition, freedom, kept, history };
            return Target::End(end);
        }
        let state = Box::new(path.state.clone());
        let target = self.end(EndKind::Goal(state), path.told());
        self.goals.insert(key, self.execution.ends.len() - 1);
        target
    }

    fn end(&mut self, kind: EndKind<'g>, told: Told<'g>) -> Target {
        let Told { condition, freedom, kept, history } = told;
        self.execution.ends.push(End { kind, condition, freedom, kept, history });
        Target::End(self.execution.ends.len() - 1)
    }
}
