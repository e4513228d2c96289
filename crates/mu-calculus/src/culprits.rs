//! Root causes of unknown verdicts, searched through the unknown part of the game.
//!
//! The search starts at the initial state with the whole formula and follows moves between nodes that are unknown
//! (the failure search of Shoham & Grumberg). It looks for a node where the two games, "certainly true" and
//! "not certainly false", have different rules: an unknown atom, a sink below a modality, or a hyper-edge with several
//! members. Of these the opponent picks one in the first game and the proponent in the second.
//!
//! There always is one. Suppose no unknown node that can be reached has any. Then both games are the same game there,
//! and every move out of the unknown part leads to a node with the same decided value in both. A parity game is
//! determined: the node would be won by the same player in both games, thus not unknown.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};
use three_valued::Truth;

use crate::formula::Modality;
use crate::graph::StateId;
use crate::labels::AtomId;
use crate::node::{Node, NodeId};
use crate::problem::Problem;
use crate::solution::Solution;

/// A root cause of an unknown verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Culprit {
    /// The steps from the initial state to the state; empty if it is the initial state.
    pub path: Vec<Step>,
    /// The state where the cause is found.
    pub state: StateId,
    /// The subformula whose value is unknown there.
    pub node: NodeId,
    /// The cause.
    pub cause: Cause,
}

/// One step of a path: `member` of the hyper-edge `edge` of `state`, which is the next state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The state that the step leaves.
    pub state: StateId,
    /// The index of the hyper-edge among those of the state.
    pub edge: usize,
    /// The index of the member in the hyper-edge.
    pub member: usize,
    /// The modal subformula that was followed: whether the step was looked at as `[]` or `<>`.
    pub node: NodeId,
}

/// The reason why a subformula is unknown in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// An atom is unknown.
    Atom(AtomId),
    /// The members of a hyper-edge matter: the value differs between them, or may.
    Edge {
        /// The index of the hyper-edge among those of the state.
        edge: usize,
        /// True if some member has the value 1 and some the value 0. If not, an unknown member has a cause of its
        /// own, which is usually the better one to remove.
        disagree: bool,
    },
    /// The state is a sink: nothing is known of what comes after it.
    Sink,
}

/// The root causes of an unknown verdict, found one by one in a deterministic order: by the number of steps from the
/// initial state, but hyper-edges without certain disagreement after all others, and those that contain another one last.
#[derive(Debug)]
pub struct Culprits<'a> {
    problem: Problem<'a>,
    solution: &'a Solution,
    visits: Vec<Visit>,
    /// The visit with the fewest steps of each (state, node).
    best: FxHashMap<(StateId, NodeId), usize>,
    /// Visits still to be looked at, by number of steps.
    waiting: VecDeque<usize>,
    found: VecDeque<(usize, Cause)>,
    /// Hyper-edges without certain disagreement, some member of which decides the modality alone, where they come before the others.
    decided: VecDeque<(usize, Cause)>,
    weak: VecDeque<(usize, Cause)>,
    /// Hyper-edges that contain another one of the same state: who may take that one needs no other.
    weakest: VecDeque<(usize, Cause)>,
    is_decided_first: bool,
    /// Causes that were found before, from another node.
    reported: FxHashSet<(StateId, Cause)>,
}

/// A (state, node) that was reached.
#[derive(Clone, Copy, Debug)]
struct Visit {
    state: StateId,
    node: NodeId,
    /// The visit before and the step from it, unless both are of the same state.
    parent: Option<(usize, Option<Step>)>,
    steps: usize,
}

impl<'a> Culprits<'a> {
    pub(crate) fn new(problem: Problem<'a>, solution: &'a Solution) -> Self {
        let mut search = Self {
            problem,
            solution,
            visits: Vec::new(),
            best: FxHashMap::default(),
            waiting: VecDeque::new(),
            found: VecDeque::new(),
            decided: VecDeque::new(),
            is_decided_first: false,
            weak: VecDeque::new(),
            weakest: VecDeque::new(),
            reported: FxHashSet::default(),
        };
        if solution.verdict().is_unknown() {
            search.reach(problem.graph.initial(), problem.formula.root(), None);
        }
        search
    }

    /// The same with another order: of the hyper-edges without certain disagreement those come first of which some member decides
    /// the modality alone: is 0 below `[]`, or 1 below `<>`. All members of the others are unknown or leave it open.
    #[must_use]
    pub fn decided_first(mut self) -> Self {
        self.is_decided_first = true;
        self
    }

    /// Notes that an unknown node can be reached, if that is new or takes fewer steps than known so far.
    fn reach(&mut self, state: StateId, node: NodeId, parent: Option<(usize, Option<Step>)>) {
        if !self.solution.truth(state, node).is_unknown() {
            return;
        }
        let is_step = parent.is_some_and(|(_, step)| step.is_some());
        let steps = parent.map_or(0, |(before, _)| self.visits[before].steps) + usize::from(is_step);
        let next = self.visits.len();
        match self.best.entry((state, node)) {
            Entry::Occupied(known) if self.visits[*known.get()].steps <= steps => return,
            Entry::Occupied(mut known) => *known.get_mut() = next,
            Entry::Vacant(place) => {
                place.insert(next);
            }
        }
        self.visits.push(Visit { state, node, parent, steps });
        if is_step {
            self.waiting.push_back(next);
        } else {
            self.waiting.push_front(next);
        }
    }

    /// Looks at one node: notes its causes and reaches its unknown successors.
    fn expand(&mut self, visit: usize) {
        let Visit { state, node, .. } = self.visits[visit];
        match self.problem.formula.node(node) {
            Node::Constant(_) => {}
            Node::Atom(_) | Node::NegatedAtom(_) if self.problem.graph.is_sink(state) => {
                self.report(visit, Cause::Sink);
            }
            Node::Atom(atom) | Node::NegatedAtom(atom) => self.report(visit, Cause::Atom(atom)),
            // Backwards, because the last one reached without a step is looked at first.
            Node::And(p, q) | Node::Or(p, q) => {
                self.reach(state, q, Some((visit, None)));
                self.reach(state, p, Some((visit, None)));
            }
            Node::Fixed(_, body) => self.reach(state, body, Some((visit, None))),
            Node::Modal(modality, child) => self.expand_modal(visit, modality, child),
        }
    }

    fn expand_modal(&mut self, visit: usize, modality: Modality, child: NodeId) {
        let Visit { state, node, .. } = self.visits[visit];
        if self.problem.graph.is_sink(state) {
            self.report(visit, Cause::Sink);
        }
        let graph = self.problem.graph;
        for (edge, members) in graph.edges(state).enumerate() {
            if let Some(disagree) = self.matters(members, modality, child) {
                let against = if modality == Modality::Diamond { Truth::True } else { Truth::False };
                let is_decided = members.iter().any(|&member| self.solution.truth(member, child) == against);
                let is_wider = graph.edges(state).any(|other| is_part(other, members));
                self.report_edge(visit, Cause::Edge { edge, disagree }, (is_decided, is_wider));
            }
            for (member, &next) in members.iter().enumerate() {
                self.reach(next, child, Some((visit, Some(Step { state, edge, member, node }))));
            }
        }
    }

    /// Tells if the value depends on who picks the member (`None` if not), and if so, whether 1 stands against 0.
    ///
    /// A hyper-edge all of whose members are 0 is lost for `<>p` in both games, and one whose members are all 1 is
    /// harmless for `[]p`. Otherwise the games differ there as soon as there are two members.
    fn matters(&self, members: &[StateId], modality: Modality, child: NodeId) -> Option<bool> {
        let has = |truth: Truth| members.iter().any(|&member| self.solution.truth(member, child) == truth);
        let indifferent = if modality == Modality::Diamond { Truth::False } else { Truth::True };
        let several = members.iter().any(|member| *member != members[0]);
        let all_indifferent = members.iter().all(|&member| self.solution.truth(member, child) == indifferent);
        (several && !all_indifferent).then(|| has(Truth::True) && has(Truth::False))
    }

    fn report(&mut self, visit: usize, cause: Cause) {
        if self.reported.insert((self.visits[visit].state, cause)) {
            self.found.push_back((visit, cause));
        }
    }

    fn report_edge(&mut self, visit: usize, cause: Cause, (is_decided, is_wider): (bool, bool)) {
        if !self.reported.insert((self.visits[visit].state, cause)) {
            return;
        }
        let found = match cause {
            _ if is_wider => &mut self.weakest,
            Cause::Edge { disagree: false, .. } if is_decided && self.is_decided_first => &mut self.decided,
            Cause::Edge { disagree: false, .. } => &mut self.weak,
            _ => &mut self.found,
        };
        found.push_back((visit, cause));
    }

    /// The culprit with its path, which may be long: only those that are asked for have one.
    fn culprit(&self, (visit, cause): (usize, Cause)) -> Culprit {
        let Visit { state, node, .. } = self.visits[visit];
        Culprit { path: self.path(visit), state, node, cause }
    }

    fn path(&self, visit: usize) -> Vec<Step> {
        let mut path = Vec::with_capacity(self.visits[visit].steps);
        let mut here = visit;
        while let Some((before, step)) = self.visits[here].parent {
            path.extend(step);
            here = before;
        }
        path.reverse();
        path
    }
}

/// True if the members of a hyper-edge are some of those of another one, and not all.
fn is_part(part: &[StateId], whole: &[StateId]) -> bool {
    let is_inside = |some: &[StateId], all: &[StateId]| some.iter().all(|member| all.contains(member));
    is_inside(part, whole) && !is_inside(whole, part)
}

impl Iterator for Culprits<'_> {
    type Item = Culprit;

    fn next(&mut self) -> Option<Culprit> {
        while self.found.is_empty() {
            let Some(visit) = self.waiting.pop_front() else {
                let left =
                    self.decided.pop_front().or_else(|| self.weak.pop_front()).or_else(|| self.weakest.pop_front());
                return left.map(|found| self.culprit(found));
            };
            let Visit { state, node, .. } = self.visits[visit];
            if self.best[&(state, node)] == visit {
                self.expand(visit);
            }
        }
        self.found.pop_front().map(|found| self.culprit(found))
    }
}

impl Solution {
    /// The root causes of an unknown verdict, nearest to the initial state first; none if the verdict is decided.
    ///
    /// # Panics
    /// If `problem` is not the one that was solved.
    #[must_use]
    pub fn culprits<'a>(&'a self, problem: &Problem<'a>) -> Culprits<'a> {
        Culprits::new(*problem, self)
    }
}
