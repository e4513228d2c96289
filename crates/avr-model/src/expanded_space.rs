//! State spaces in which no state is skipped, where that is needed for showing a run.

use crate::firmware::Firmware;
use crate::reduction::path_expansion::between;
use crate::reduction::skipped_paths::Spot;
use crate::state::{AbstractState, PrecisionLookup};
use mu_calculus::state_formula::{parts, truth};
use mu_calculus::{AtomId, Problem};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use three_valued::Truth;
use tvar::{
    Abstraction, Blame, Candidate, Decided, Decision, Exhausted, Goal, HyperEdges, LocationPrecision, Precision,
    Progress, StateKind, StateSpace, StepPrecision, Strategy, System, Watch,
};

/// The greatest numbers of states of a space that is built anew with nothing skipped. The first is tried first, the
/// next ones where the states do not decide the same or handlers touch more than was assumed.
const STEPWISE: [usize; 6] = [2_000, 20_000, 20_000, 100_000, 100_000, 500_000];

/// The decision over a state space in which no state is skipped on the way to its cause: for goals that are refuted by
/// the way to a state. None if nothing was skipped, or if the way cannot be found again.
pub fn expanded_decision(
    firmware: &mut Firmware<'_>,
    decided: &Decided<'_, Firmware<'_>>,
) -> Option<Decision<AbstractState>> {
    firmware.model.passes.path_compression.as_ref()?;
    let Decided { goal, decision, .. } = decided;
    if !decision.verdict.is_false() {
        return None;
    }
    let ways = ways(firmware, goal, &decision.space)?;
    let state = |number: u32| decision.space.states[number as usize];
    let kept: FxHashSet<AbstractState> = ways.iter().flat_map(|(from, to)| [state(*from), state(*to)]).collect();
    let mut steps = kept.clone();
    let mut joined = FxHashMap::default();
    for (from, to) in ways {
        let (from, to) = (state(from), state(to));
        let ways = between(&mut firmware.model, &from, &to, decided.precision, usize::MAX);
        if ways.is_empty() {
            return None;
        }
        for (between, last) in ways {
            steps.extend(between);
            // One that is kept itself goes on as it is, although another one covers it.
            if !kept.contains(&last) {
                joined.insert(last, to);
            }
        }
    }
    let mut guided = Guided { firmware, precision: decided.precision, steps, joined };
    let whole = Precision::new(Strategy::Naive);
    let patient = UntilCancelled(decided.watch);
    let space = StateSpace::explore(&mut guided, &whole, &patient, &mut Progress::default());
    decided_again(firmware, decided, space)
}

/// The decision over a state space in which no state is skipped: it is built anew with the same precision. None if
/// nothing was skipped, if there are too many states, or if they do not decide the same.
pub fn stepwise_decision(
    firmware: &mut Firmware<'_>,
    decided: &Decided<'_, Firmware<'_>>,
) -> Option<Decision<AbstractState>> {
    let passes = &mut firmware.model.passes;
    let (compression, summaries) = (passes.path_compression.take()?, passes.handler_summaries.take());
    let whole = Precision::new(Strategy::Naive);
    let decision = STEPWISE.into_iter().find_map(|most| {
        firmware.model.passes.begin(firmware.model.context.machine);
        let mut stepwise = Stepwise { firmware, precision: decided.precision };
        let few = FewStates { most, watch: decided.watch };
        let space = StateSpace::explore(&mut stepwise, &whole, &few, &mut Progress::default());
        let may_tell = firmware.is_discharged() && !few.cancelled();
        may_tell.then(|| decided_again(firmware, decided, space)).flatten()
    });
    let passes = &mut firmware.model.passes;
    (passes.path_compression, passes.handler_summaries) = (Some(compression), summaries);
    decision
}

/// The same decision over another state space; none if it is not decided there.
fn decided_again(
    firmware: &Firmware<'_>,
    decided: &Decided<'_, Firmware<'_>>,
    space: StateSpace<AbstractState>,
) -> Option<Decision<AbstractState>> {
    let Decided { goal, decision, .. } = decided;
    let graph = space.graph(goal.observes_hazards);
    let labels = space.labels(firmware.model.context.atoms.len(), |state, atom| firmware.label(state, atom));
    let problem = Problem { graph: &graph, labels: &labels, formula: &goal.formula };
    let solution = problem.solve(&|| decided.watch.cancelled()).ok()?;
    (solution.verdict() == decision.verdict).then(|| Decision {
        verdict: decision.verdict,
        robust: decision.robust,
        undecided: None,
        refinements: decision.refinements,
        spent: decision.spent,
        time: decision.time,
        largest: decision.largest,
        space: Arc::new(space),
        solution: Some(solution),
    })
}

/// Limits without those on time, and one on states.
struct FewStates<'a> {
    most: usize,
    watch: &'a dyn Watch,
}

impl Watch for FewStates<'_> {
    fn check(&self, progress: &Progress) -> Option<Exhausted> {
        (self.cancelled() || progress.states > self.most).then_some(Exhausted::Interrupted)
    }

    fn cancelled(&self) -> bool {
        self.watch.cancelled()
    }
}

/// Firmware step by step under a precision that is not refined.
struct Stepwise<'g, 'f> {
    firmware: &'g mut Firmware<'f>,
    precision: &'g PrecisionLookup<'g>,
}

impl System for Stepwise<'_, '_> {
    type State = AbstractState;
    type Location = crate::state::Location;

    fn initial(&mut self) -> AbstractState {
        AbstractState::Dummy
    }

    fn location(&self, state: &AbstractState) -> Self::Location {
        self.firmware.location(state)
    }

    fn expand(&mut self, state: &AbstractState, _: &LocationPrecision, edges: &mut HyperEdges<AbstractState>) {
        let (firmware, precision) = (&mut *self.firmware, self.precision);
        let mut all = HyperEdges::default();
        firmware.expand(state, precision.leaving(state, &firmware.location(state)), &mut all);
        *edges = all.map(|member| {
            let arriving = precision.arriving(state, &firmware.location(&member));
            firmware.decay(member, arriving)
        });
    }

    fn decay(&mut self, state: AbstractState, _: &StepPrecision) -> AbstractState {
        state
    }

    fn covers(&self, coarse: &AbstractState, fine: &AbstractState) -> bool {
        self.firmware.covers(coarse, fine)
    }

    fn label(&self, state: &AbstractState, atom: AtomId) -> Truth {
        self.firmware.label(state, atom)
    }

    fn kind(&self, state: &AbstractState) -> StateKind {
        self.firmware.kind(state)
    }

    fn blame(&mut self, _: &[AbstractState], _: Blame, _: &PrecisionLookup<'_>) -> Vec<Candidate<Self::Location>> {
        Vec::new()
    }
}

impl Abstraction for Stepwise<'_, '_> {}

/// The pairs of states of a run that cannot avoid the refutation of a goal, whatever the stored values. For each state
/// it takes the hyper-edge with the fewest steps to go at worst (Knuth's generalisation of Dijkstra's algorithm). None
/// if there is no such run.
fn ways(firmware: &Firmware<'_>, goal: &Goal, space: &StateSpace<AbstractState>) -> Option<Vec<(u32, u32)>> {
    let edges: Vec<(u32, &[u32])> = (0..space.states.len())
        .flat_map(|state| space.edges(state).map(move |members| (state as u32, members)))
        .collect();
    let mut leading = vec![Vec::new(); space.states.len()];
    for ((_, members), edge) in edges.iter().zip(0u32..) {
        members.iter().for_each(|member| leading[*member as usize].push(edge));
    }
    let mut missing: Vec<usize> = edges.iter().map(|(_, members)| members.len()).collect();
    let parts = parts(&goal.formula, false)?;
    let refutes = |state: &AbstractState| match firmware.kind(state) {
        StateKind::Hazard => goal.observes_hazards,
        _ => parts.iter().any(|part| truth(&goal.formula, *part, &|atom| firmware.label(state, atom)).is_false()),
    };
    let refuting = (0u32..).zip(&space.states).filter(|(_, state)| refutes(state));
    let ends: FxHashSet<u32> = refuting.map(|(state, _)| state).collect();
    let length = |from: u32, to: u32| length(firmware, &space.states[from as usize], &space.states[to as usize]);
    let mut chosen: Vec<Option<u32>> = vec![None; space.states.len()];
    let mut steps: Vec<Option<u32>> = vec![None; space.states.len()];
    let mut waiting: BinaryHeap<Reverse<(u32, u32, Option<u32>)>> =
        ends.iter().map(|state| Reverse((0, *state, None))).collect();
    while let Some(Reverse((distance, state, edge))) = waiting.pop() {
        if steps[state as usize].is_some() {
            continue;
        }
        (steps[state as usize], chosen[state as usize]) = (Some(distance), edge);
        for edge in &leading[state as usize] {
            missing[*edge as usize] -= 1;
            if missing[*edge as usize] == 0 {
                let (origin, members) = edges[*edge as usize];
                let longest = members.iter().filter_map(|to| Some(steps[*to as usize]? + length(origin, *to))).max();
                waiting.push(Reverse((longest?, origin, Some(*edge))));
            }
        }
    }
    let (mut pairs, mut seen, mut open) = (Vec::new(), FxHashSet::from_iter([0]), vec![0]);
    while let Some(state) = open.pop() {
        if ends.contains(&state) {
            continue;
        }
        for member in edges[chosen[state as usize]? as usize].1 {
            pairs.push((state, *member));
            if seen.insert(*member) {
                open.push(*member);
            }
        }
    }
    Some(pairs)
}

/// The number of steps from a state that is kept to the next.
fn length(firmware: &Firmware<'_>, from: &AbstractState, to: &AbstractState) -> u32 {
    let spots = Spot::of(from).zip(Spot::of(to));
    let passed = firmware.model.passes.skipped_paths();
    spots.zip(passed).map_or(1, |((from, to), log)| log.length(from, to))
}

/// The same limits without one on states, for state spaces whose size is bounded otherwise. It is not told of the progress.
pub struct UntilCancelled<'a>(pub &'a dyn Watch);

impl Watch for UntilCancelled<'_> {
    fn check(&self, _: &Progress) -> Option<Exhausted> {
        self.cancelled().then_some(Exhausted::Interrupted)
    }

    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

/// Firmware step by step, as far as some steps lead. All else is a sink, of which nothing is known.
struct Guided<'g, 'f> {
    firmware: &'g mut Firmware<'f>,
    precision: &'g PrecisionLookup<'g>,
    /// The states that are followed.
    steps: FxHashSet<AbstractState>,
    /// The states that replace some states, each of which covers those that it replaces.
    joined: FxHashMap<AbstractState, AbstractState>,
}

impl System for Guided<'_, '_> {
    type State = AbstractState;
    type Location = crate::state::Location;

    fn initial(&mut self) -> AbstractState {
        AbstractState::Dummy
    }

    fn location(&self, state: &AbstractState) -> Self::Location {
        self.firmware.location(state)
    }

    fn expand(&mut self, state: &AbstractState, _: &LocationPrecision, edges: &mut HyperEdges<AbstractState>) {
        if !self.steps.contains(state) {
            return;
        }
        let mut all = HyperEdges::default();
        self.firmware.expand(state, self.precision.leaving(state, &self.firmware.location(state)), &mut all);
        *edges = all.map(|member| self.joined.get(&member).copied().unwrap_or(member));
    }

    fn decay(&mut self, state: AbstractState, _: &StepPrecision) -> AbstractState {
        state
    }

    fn covers(&self, coarse: &AbstractState, fine: &AbstractState) -> bool {
        self.firmware.covers(coarse, fine)
    }

    fn label(&self, state: &AbstractState, atom: AtomId) -> Truth {
        self.firmware.label(state, atom)
    }

    fn kind(&self, state: &AbstractState) -> StateKind {
        match self.firmware.kind(state) {
            StateKind::Ordinary if !self.steps.contains(state) => StateKind::Limit,
            kind => kind,
        }
    }

    fn blame(&mut self, _: &[AbstractState], _: Blame, _: &PrecisionLookup<'_>) -> Vec<Candidate<Self::Location>> {
        Vec::new()
    }
}

impl Abstraction for Guided<'_, '_> {}
