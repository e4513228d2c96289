//! Formulas that are true in every state: on all paths from the states of each head to the next heads.
//!
//! The knowledge of single states may be too little, where a path has compared values that no state remembers
//! (`docs/soundness.md`, "Everywhere between heads").

use crate::accepted::Accepted;
use crate::faults::{Fault, is_on};
use crate::limits::Limits;
use crate::places::Places;
use crate::proof::Stuck;
use crate::rounds::Start;
use crate::target::Target;
use avr_invariant::{Map, Move};
use avr_isa::FlashByteAddress;
use avr_machine::Machine;
use avr_symbolic::{
    Answer, End, EndKind, Executor, Goal, Graph, PathCondition, Strategy, SymbolicBit, SymbolicState, power_on, satisfy,
};
use std::collections::BTreeMap;
use three_valued::BitDomain;

/// Paths end at heads; all states on the way are of the target.
struct Between<'a> {
    places: &'a Places<'a>,
    target: &'a dyn Target,
    is_over: &'a dyn Fn() -> bool,
}

impl<'g> Goal<'g> for Between<'_> {
    fn is_over(&self) -> bool {
        (self.is_over)()
    }

    fn is_end(&self, state: &SymbolicState<'g>, _: usize) -> bool {
        self.places.head_at(state.calls.frames(), state.control.pc).is_some()
    }

    fn is_kept(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        self.target.bit(state)
    }
}

/// Proves that every reachable state is one of the target. It searches for nothing: whoever does not trust it repeats it.
///
/// The map must have been accepted for the machine, without marks, and the moves be those of its check. The work ends early where it is over.
///
/// # Errors
/// The reason why no proof was found.
pub fn holds_everywhere(
    machine: &Machine,
    (map, moves): (&Map, &BTreeMap<Move, usize>),
    target: &dyn Target,
    (limits, is_over): (&Limits, &dyn Fn() -> bool),
) -> Result<Accepted, Stuck> {
    let places = Places::new(machine, map, moves).map_err(Stuck::Obstacle)?;
    let heads = (0..places.heads.len()).flat_map(|head| places.entries(head).map(move |entry| (head, entry)));
    let heads: Vec<_> = heads.collect();
    if heads.len() > limits.entries {
        return Err(Stuck::Limit);
    }
    let executor = Executor::new(machine, limits.execution);
    let goal = Between { places: &places, target, is_over };
    let mut done = Accepted::default();
    let mut check = |start: Start<'_>, at: FlashByteAddress| {
        let round = executor.execute(start.graph, (start.state, start.condition), &Strategy::anything(), &goal);
        done.steps += round.steps;
        done.queries += 1;
        if done.steps > limits.steps || is_over() {
            return Err(Stuck::Limit);
        }
        let fails = round.ends.iter().fold(SymbolicBit::ZERO, |any, end| any.or(&fails(end)));
        match satisfy(&fails, limits.query) {
            Answer::Unsatisfiable => Ok(()),
            Answer::Satisfiable(_) | Answer::None(_) => Err(Stuck::Loop(at)),
        }
    };
    let graph = Graph::new(limits.nodes);
    let state = power_on(machine, &graph);
    let at = state.control.pc.byte();
    if !is_on(Fault::StartForgotten) {
        check(Start { graph: &graph, state, condition: PathCondition::new() }, at)?;
    }
    heads.into_iter().try_for_each(|(head, entry)| {
        let graph = Graph::new(limits.nodes);
        let mut start = Start::of(machine, map, entry, &graph);
        // SOUND: a run comes to the head on a path of another check, whose last state is one of the target.
        start.condition.assume(target.outside(&start.state).not());
        check(start, places.location(head).at())
    })?;
    Ok(done)
}

/// The bit that is 1 if some state on paths to an end may not be one of the target.
fn fails<'g>(end: &End<'g>) -> SymbolicBit<'g> {
    let is_kept = match end.kind {
        EndKind::Goal(_) | EndKind::Hazard(_) => end.kept,
        EndKind::Cannot(_) if is_on(Fault::CannotPassed) => end.kept,
        EndKind::Cannot(_) => SymbolicBit::ZERO,
    };
    end.condition.bit().and(&is_kept.not())
}
