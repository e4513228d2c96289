//! Runs that violate formulas of linear time: a way to a part that repeats for ever.
//!
//! The strategy of the solver says which steps refute the formula. They are taken with concrete states of all nodes, until these come
//! again at the same place of the strategy: from there on the same steps can be taken for ever. Neither the strategy nor the repetition is
//! trusted alone: each node must take steps in the part that repeats, characters must move on there, and the formula must be false of the
//! truths along the run.

use mu_calculus::{Choice, Modality, Node, NodeId, Problem, Solution, StateId};
use rustc_hash::FxHashMap;
use three_valued::Truth;

use crate::composition::Space;
use crate::edges::Mover;
use crate::faults::{Fault, is_on};
use crate::replay::{Concrete, Length, Replay};
use crate::run::Run;
use crate::wire::LineState;

/// The most moves of all nodes together that a run has: for each, the states of all nodes are kept.
const MAX_MOVES: usize = 16_384;

/// A formula that is false in the initial state of a solved problem.
pub(crate) struct Refutation<'a> {
    pub(crate) problem: &'a Problem<'a>,
    pub(crate) solution: &'a Solution,
}

/// A run that ends in a part that repeats.
pub(crate) struct Lasso {
    pub(crate) run: Run,
    /// The states of the space that cover it, move by move; behind the last one comes that of `back`.
    pub(crate) states: Vec<u32>,
    pub(crate) back: usize,
    /// For each node and then for each line: true if it goes on in the part that repeats, or has nothing to do.
    pub(crate) is_fair: Vec<bool>,
}

/// A moment of the play: all that decides how it goes on.
struct Position {
    concrete: Concrete,
    length: Length,
    index: usize,
}

impl Refutation<'_> {
    /// A run from the initial content of this number along the strategy; none if the strategy leads to no concrete states, or if they do
    /// not come again.
    pub(crate) fn lasso(&self, space: &mut Space<'_>, content: u8) -> Option<Lasso> {
        let mut replay = Replay::begin(space, content, 0)?;
        let mut known: FxHashMap<(u32, NodeId), Vec<Position>> = FxHashMap::default();
        let (mut state, mut node) = (0_u32, self.problem.formula.root());
        let mut states = Vec::new();
        // By move: the node that took it, or the line, and the lines that had nothing to do before it.
        let mut moves: Vec<(Mover, Vec<bool>)> = Vec::new();
        for index in 0..MAX_MOVES / space.nodes.len().max(1) {
            let modal = self.modal(StateId(state), node)?;
            let before = known.entry((state, modal)).or_default();
            if let Some(position) = before.iter().find(|position| is_back(position, &replay)) {
                let (back, length) = (position.index, position.length);
                let is_fair = is_fair(space, &moves[back..]);
                return Some(Lasso { run: replay.ended(space, Some(length)), states, back, is_fair });
            }
            before.push(Position { concrete: replay.now.clone(), length: replay.length(), index });
            let Some(Choice::Edge(edge)) = self.solution.choice(self.problem, StateId(state), modal) else {
                return None;
            };
            let (mover, members) = space.edges.get(state, edge).map(|edge| (edge.mover, edge.members.to_vec()))?;
            let idle = replay.now.lines.iter().map(LineState::is_idle).collect();
            // SOUND: every member refutes the formula, so the run may take the first one that it can.
            let came = (0..members.len()).find(|member| replay.take(space, (state, edge, *member)).is_some())?;
            states.push(state);
            moves.push((mover, idle));
            state = members[came];
            let Node::Modal(_, child) = self.problem.formula.node(modal) else { return None };
            node = child;
        }
        None
    }

    /// The part of a false formula that says what comes next, by the choices of the strategy.
    fn modal(&self, state: StateId, node: NodeId) -> Option<NodeId> {
        let (mut waiting, mut seen) = (vec![node], Vec::new());
        while let Some(node) = waiting.pop() {
            if seen.contains(&node) {
                continue;
            }
            seen.push(node);
            match self.problem.formula.node(node) {
                Node::Modal(Modality::Box, _) => return Some(node),
                Node::Fixed(_, body) => waiting.push(body),
                Node::And(..) => match (self.told(state, node), self.solution.choice(self.problem, state, node)?) {
                    (Some(child), _) | (None, Choice::Child(child)) => waiting.push(child),
                    (None, Choice::Edge(_)) => return None,
                },
                // Both are false.
                Node::Or(p, q) => waiting.extend([q, p]),
                Node::Modal(Modality::Diamond, _) | Node::Constant(_) | Node::Atom(_) | Node::NegatedAtom(_) => {}
            }
        }
        None
    }

    /// The part of `(!a || p) && (a || q) && (p || q)` that is asked for in a state in which a is known: p or q. The strategy may refute the
    /// last part of it, which leaves open what was read; the run goes on with what was.
    fn told(&self, state: StateId, node: NodeId) -> Option<NodeId> {
        let formula = self.problem.formula;
        let Node::And(both, either) = formula.node(node) else { return None };
        let (Node::And(when, unless), Node::Or(p, q)) = (formula.node(both), formula.node(either)) else { return None };
        let (Node::Or(negated, high), Node::Or(asked, low)) = (formula.node(when), formula.node(unless)) else {
            return None;
        };
        let is_false = |node: NodeId| self.solution.truth(state, node) == Truth::False;
        match (p == high && q == low, is_false(negated), is_false(asked)) {
            (true, true, false) => Some(p),
            (true, false, true) => Some(q),
            _ => None,
        }
    }
}

/// True if nodes and lines are again where they were.
fn is_back(position: &Position, replay: &Replay) -> bool {
    position.concrete == replay.now || is_on(Fault::RepetitionNotClosed)
}

/// For each node and then for each line: true if it goes on in these moves, or has nothing to do before one of them.
fn is_fair(space: &Space<'_>, moves: &[(Mover, Vec<bool>)]) -> Vec<bool> {
    let has = |wanted: &[Mover]| moves.iter().any(|(mover, _)| wanted.contains(mover));
    let nodes = (0..space.nodes.len()).map(|node| has(&[Mover::Node(node)]));
    let lines = (0..space.wires.lines.len()).map(|line| {
        has(&[Mover::Begin(line), Mover::Arrive(line)]) || moves.iter().any(|(_, idle)| idle.get(line) == Some(&true))
    });
    nodes.chain(lines).collect()
}
