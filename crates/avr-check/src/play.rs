//! The game of a sentence on abstract states, played by a strategy.
//!
//! The one who wants the sentence true chooses at `p || q` and `<>p`, by the strategy; the opponent chooses at `p && q`, at
//! `[]p`, and the member of every hyper-edge. All that can come of it is visited. The sentence is proved if every
//! literal that comes up is certainly true, and the largest priority of every cycle is even.
//!
//! The obligations of the proof are handed back as [`Duties`]: the states of which all successors must be members of
//! their hyper-edges, and the hyper-edges into which someone must be able to lead.

use avr_certificate::{Basis, Edges, Strategy};
use fixedbitset::FixedBitSet;
use mu_calculus::{Modality, Node};
use std::collections::BTreeSet;
use three_valued::Truth;

use crate::cycles::Components;
use crate::rejection::{Reason, Rejection};
use crate::sentence::Sentence;
use crate::vigilance::{Check, does};

/// Abstract states with hyper-edges and labels.
pub(crate) trait Ground {
    /// The hyper-edges.
    fn edges(&self) -> &Edges;
    /// The truth of an atom in a state, which the certificate must state as it is.
    fn label(&self, state: u32, atom: usize) -> Result<Truth, Rejection>;
    /// The kind of future of the state.
    fn future(&self, state: u32) -> Future;
}

/// The future of a state: a step, nothing, or anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Future {
    /// A step, into the members of its hyper-edges.
    Step,
    /// Nothing: it is an end of which the labels tell, and that is never left.
    End,
    /// Anything: nothing is known of the state, nor of what follows.
    Open,
}

/// The obligations of proofs, while they are collected.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relied {
    all_successors: FixedBitSet,
    forced: Vec<(u32, u32, Foundation)>,
}

impl Relied {
    /// All of it in order.
    pub(crate) fn duties(mut self) -> Duties {
        self.forced.sort_unstable();
        self.forced.dedup();
        Duties { all_successors: self.all_successors, forced: self.forced }
    }
}

/// The obligations of proofs on the steps of states.
#[derive(Clone, Debug)]
pub(crate) struct Duties {
    /// The states all of whose successors are members of their hyper-edges.
    pub(crate) all_successors: FixedBitSet,
    /// Hyper-edges by state and number, in order: whatever is not known of the state, some input leads into the members. On the
    /// basis of hardware this must be so whatever the hardware does.
    forced: Vec<(u32, u32, Foundation)>,
}

impl Duties {
    /// The forced hyper-edges of a state.
    pub(crate) fn forced_in(&self, state: u32) -> impl Iterator<Item = (u32, Foundation)> {
        let first = self.forced.partition_point(|(before, ..)| *before < state);
        let here = self.forced[first..].iter().take_while(move |(other, ..)| *other == state);
        here.map(|(_, edge, foundation)| (*edge, *foundation))
    }

    /// True if anything is relied on in a state.
    pub(crate) fn concerns(&self, state: u32) -> bool {
        self.all_successors.contains(state as usize) || self.forced_in(state).next().is_some()
    }
}

/// The player against whom a hyper-edge must be forced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Foundation {
    /// The hardware chooses as one wishes.
    Model,
    /// The hardware does what it does.
    Hardware,
}

impl From<Basis> for Foundation {
    fn from(basis: Basis) -> Self {
        match basis {
            Basis::Hardware => Self::Hardware,
            Basis::Model => Self::Model,
        }
    }
}

/// A position of the game.
type Position = (u32, u32);

/// The largest memory, as a multiple of that of its list, that the choices at a node may take to be found at once.
const MOST_GROWTH: usize = 8;

/// The choices of a strategy at a node.
#[derive(Clone, Default)]
struct Choices<'a> {
    /// By rising state.
    list: &'a [(u32, u32)],
    /// By state, `NONE` where there is none; nothing where few states have one.
    by_state: Vec<u32>,
}

/// No choice: what has so large a number does not exist.
const NONE: u32 = u32::MAX;

impl<'a> Choices<'a> {
    fn new(list: &'a [(u32, u32)], states: usize) -> Self {
        let mut by_state = Vec::new();
        if list.len() >= states / MOST_GROWTH {
            by_state = vec![NONE; states];
            list.iter().for_each(|(state, choice)| by_state[*state as usize] = *choice);
        }
        Self { list, by_state }
    }

    fn of(&self, state: u32) -> Option<u32> {
        match self.by_state.get(state as usize) {
            Some(choice) => Some(*choice).filter(|choice| *choice != NONE),
            None => self.list.binary_search_by_key(&state, |(state, _)| *state).ok().map(|index| self.list[index].1),
        }
    }
}

struct Play<'a, G> {
    sentence: &'a Sentence,
    ground: &'a G,
    /// The choices at each node.
    choices: Vec<Choices<'a>>,
    foundation: Foundation,
    relied: &'a mut Relied,
    /// The states in which each node was visited.
    visited: Vec<FixedBitSet>,
}

/// Checks that a strategy wins the game of a sentence from state 0, and adds what this relies on.
///
/// # Errors
/// If it does not.
pub(crate) fn play<G: Ground>(
    sentence: &Sentence,
    ground: &G,
    strategy: &Strategy,
    foundation: Foundation,
    relied: &mut Relied,
) -> Result<(), Rejection> {
    let states = ground.edges().states();
    relied.all_successors.grow(states);
    let mut choices = vec![Choices::default(); sentence.nodes.len()];
    for (node, list) in &strategy.choices {
        if let Some(place) = choices.get_mut(*node as usize) {
            *place = Choices::new(list, states);
        }
    }
    let visited = vec![FixedBitSet::new(); sentence.nodes.len()];
    let mut play = Play { sentence, ground, choices, foundation, relied, visited };
    play.visit_all(states)?;
    if does(Check::Cycles) { play.check_cycles(states) } else { Ok(()) }
}

impl<G: Ground> Play<'_, G> {
    /// Visits every position that can come up.
    fn visit_all(&mut self, states: usize) -> Result<(), Rejection> {
        let mut waiting: Vec<Position> = Vec::new();
        let mut next = vec![(self.sentence.root, 0)];
        loop {
            for (node, state) in next.drain(..) {
                let visited = &mut self.visited[node as usize];
                visited.grow(states);
                if !visited.put(state as usize) {
                    waiting.push((node, state));
                }
            }
            let Some(position) = waiting.pop() else { return Ok(()) };
            self.rely(position)?;
            self.moves(position, &mut next)?;
        }
    }

    /// Notes what the moves from a position rely on.
    fn rely(&mut self, (node, state): Position) -> Result<(), Rejection> {
        let Node::Modal(modality, _) = self.sentence.nodes[node as usize] else { return Ok(()) };
        if self.ground.future(state) != Future::Step {
            return Ok(());
        }
        match modality {
            Modality::Box => self.relied.all_successors.insert(state as usize),
            Modality::Diamond => {
                let edge = self.chosen(node, state)?;
                self.relied.forced.push((state, edge, self.foundation));
            }
        }
        Ok(())
    }

    fn chosen(&self, node: u32, state: u32) -> Result<u32, Rejection> {
        self.choices[node as usize].of(state).ok_or_else(|| Reason::NoChoice { node }.at(state))
    }

    /// The positions that a position leads to, by the choice of the strategy or by any choice of the opponent.
    fn moves(&self, (node, state): Position, next: &mut Vec<Position>) -> Result<(), Rejection> {
        let future = self.ground.future(state);
        match self.sentence.nodes[node as usize] {
            Node::Constant(true) => {}
            Node::Constant(false) => return Err(Reason::False.at(state)),
            Node::Atom(atom) => self.literal(state, atom.index(), Truth::True)?,
            Node::NegatedAtom(atom) => self.literal(state, atom.index(), Truth::False)?,
            Node::And(p, q) => next.extend([(p.0, state), (q.0, state)]),
            Node::Or(p, q) => match self.chosen(node, state)? {
                0 => next.push((p.0, state)),
                1 => next.push((q.0, state)),
                _ => return Err(Reason::NoChoice { node }.at(state)),
            },
            Node::Fixed(_, body) => next.push((body.0, state)),
            Node::Modal(_, p) if future == Future::End => next.push((p.0, state)),
            // SOUND: no literal is certain in such a state, so what is true in it is true of anything.
            Node::Modal(Modality::Box, p) if future == Future::Open => next.push((p.0, state)),
            Node::Modal(Modality::Diamond, _) if future == Future::Open => return Err(Reason::NoWay.at(state)),
            Node::Modal(Modality::Box, p) => {
                next.extend(self.ground.edges().all_members(state).iter().map(|member| (p.0, *member)));
            }
            Node::Modal(Modality::Diamond, p) => {
                let edge = self.chosen(node, state)?;
                let members = self.ground.edges().edge(state, edge);
                let members = members.ok_or_else(|| Reason::NoSuchEdge { edge }.at(state))?;
                next.extend(members.iter().map(|member| (p.0, *member)));
            }
        }
        Ok(())
    }

    fn literal(&self, state: u32, atom: usize, wanted: Truth) -> Result<(), Rejection> {
        let is_known = self.ground.future(state) != Future::Open;
        let truth = if is_known { self.ground.label(state, atom)? } else { Truth::Unknown };
        if truth == wanted || !does(Check::Literals) {
            return Ok(());
        }
        Err(Reason::Literal { atom, truth, wanted }.at(state))
    }

    /// Makes sure that no play passes an odd priority for ever without a larger one.
    fn check_cycles(&self, states: usize) -> Result<(), Rejection> {
        let odd: BTreeSet<u32> =
            self.sentence.priorities.iter().copied().flatten().filter(|priority| priority % 2 == 1).collect();
        odd.into_iter().try_for_each(|priority| self.check_priority(priority, states))
    }

    /// Makes sure that no cycle has this as its largest priority.
    fn check_priority(&self, largest: u32, states: usize) -> Result<(), Rejection> {
        let nodes = self.nodes_on_cycles(largest);
        let index_of = |node: u32| nodes.binary_search(&node).ok();
        let decode = |vertex: u32| (nodes[vertex as usize / states], vertex % states as u32);
        let vertices = nodes.len().checked_mul(states).filter(|vertices| u32::try_from(*vertices).is_ok());
        let vertices = vertices.ok_or_else(|| Reason::TooManyPositions.at(0))?;
        let mut moves = Vec::new();
        let successors = |vertex: u32, found: &mut Vec<u32>| {
            moves.clear();
            // Positions that were visited have moves.
            if self.moves(decode(vertex), &mut moves).is_ok() {
                let inside = moves.iter().filter_map(|(node, state)| Some((index_of(*node)?, *state)));
                found.extend(inside.map(|(index, state)| (index * states) as u32 + state));
            }
        };
        let visited = nodes.iter().enumerate().flat_map(|(index, node)| {
            self.visited[*node as usize].ones().map(move |state| (index * states + state) as u32)
        });
        let is_bad = |vertex: u32| self.sentence.priorities[decode(vertex).0 as usize] == Some(largest);
        match Components::new(vertices, successors).find_cycle_through(visited, is_bad) {
            Some(vertex) => Err(Reason::Cycle.at(decode(vertex).1)),
            None => Ok(()),
        }
    }

    /// The nodes of the sentence on cycles whose largest priority is this one, in ascending order.
    fn nodes_on_cycles(&self, largest: u32) -> Vec<u32> {
        let counts = |node: u32| self.sentence.priorities[node as usize].is_none_or(|priority| priority <= largest);
        let successors = |node: u32, found: &mut Vec<u32>| {
            let children = self.sentence.nodes[node as usize].children();
            found.extend(children.iter().map(|child| child.0).filter(|child| counts(*child)));
        };
        let all = (0..self.sentence.nodes.len() as u32).filter(|node| counts(*node));
        let has_it = |node: u32| self.sentence.priorities[node as usize] == Some(largest);
        let mut nodes = Components::new(self.sentence.nodes.len(), successors).on_cycles_through(all, has_it);
        nodes.sort_unstable();
        nodes
    }
}
