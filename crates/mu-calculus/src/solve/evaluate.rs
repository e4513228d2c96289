//! Evaluation of one of the two games, block by block of the normal form.

use fixedbitset::FixedBitSet;

use crate::cancel::{Cancelled, Ticker};
use crate::formula::Modality;
use crate::graph::{HyperGraph, StateId};
use crate::node::{Node, NodeId};
use crate::problem::Problem;
use crate::solution::{Moves, Outcome};
use crate::solve::game::solve_block;
use crate::solve::{Game, SolveError};

/// Solves `game` for every subformula in every state.
pub(crate) fn evaluate(problem: &Problem<'_>, game: Game, ticker: &mut Ticker<'_>) -> Result<Outcome, SolveError> {
    let nodes = problem.formula.node_count();
    let mut outcome = Outcome { won: vec![FixedBitSet::new(); nodes], moves: vec![Moves::Any; nodes] };
    for block in problem.formula.blocks() {
        if block.recursive {
            solve_block(problem, game, &block.nodes, &mut outcome, ticker)?;
        } else {
            let node = block.nodes[0];
            outcome.won[node.index()] = single(problem, game, node, &outcome.won, ticker)?;
        }
    }
    Ok(outcome)
}

/// The states where a node is won that does not depend on itself, from those of its subformulas.
fn single(
    problem: &Problem<'_>,
    game: Game,
    node: NodeId,
    won: &[FixedBitSet],
    ticker: &mut Ticker<'_>,
) -> Result<FixedBitSet, Cancelled> {
    let labels = problem.labels;
    ticker.tick(problem.graph.state_count() / 64)?;
    Ok(match problem.formula.node(node) {
        Node::Constant(value) => constant(problem.graph.state_count(), value),
        Node::Atom(atom) => atom_states(problem.graph, game, labels.certain(atom), labels.refuted(atom)),
        Node::NegatedAtom(atom) => atom_states(problem.graph, game, labels.refuted(atom), labels.certain(atom)),
        Node::And(p, q) => &won[p.index()] & &won[q.index()],
        Node::Or(p, q) => &won[p.index()] | &won[q.index()],
        Node::Fixed(_, body) => won[body.index()].clone(),
        Node::Modal(modality, child) => modal(problem.graph, game, modality, &won[child.index()], ticker)?,
    })
}

fn constant(states: usize, value: bool) -> FixedBitSet {
    let mut set = FixedBitSet::with_capacity(states);
    set.set_range(.., value);
    set
}

/// The states in which a literal counts as true, given those in which it certainly is and those in which it certainly
/// is not.
fn atom_states(graph: &HyperGraph, game: Game, certain: &FixedBitSet, refuted: &FixedBitSet) -> FixedBitSet {
    match game {
        // SOUND: a label in a sink claims nothing, whatever it says.
        Game::Definite => {
            let mut definite = certain.clone();
            definite.difference_with(graph.sinks());
            definite
        }
        Game::Possible => {
            let mut possible = refuted.clone();
            possible.toggle_range(..);
            possible.union_with(graph.sinks());
            possible
        }
    }
}

fn modal(
    graph: &HyperGraph,
    game: Game,
    modality: Modality,
    won: &FixedBitSet,
    ticker: &mut Ticker<'_>,
) -> Result<FixedBitSet, Cancelled> {
    let mut states = FixedBitSet::with_capacity(graph.state_count());
    for state in graph.states() {
        ticker.tick(1 + graph.may(state).len())?;
        states.set(state.index(), modal_at(graph, game, modality, won, state));
    }
    Ok(states)
}

/// The table of the module documentation of [`crate::solve`] for one state.
fn modal_at(graph: &HyperGraph, game: Game, modality: Modality, won: &FixedBitSet, state: StateId) -> bool {
    let holds = |member: &StateId| won.contains(member.index());
    match (game, modality) {
        (Game::Definite, Modality::Diamond) => graph.edges(state).any(|members| members.iter().all(holds)),
        (Game::Possible, Modality::Box) => graph.edges(state).all(|members| members.iter().any(holds)),
        _ if graph.is_sink(state) => holds(&state),
        (Game::Definite, Modality::Box) => graph.may(state).iter().all(holds),
        (Game::Possible, Modality::Diamond) => graph.may(state).iter().any(holds),
    }
}
