//! Writing proofs down: from decisions to a certificate.
//!
//! Of a state space only the positions that a proof visits are kept. They come up when the winner follows the strategy
//! and the opponent does anything. A state at which the opponent chooses keeps members for all of its successors, the
//! others keep only the hyper-edges that are chosen.

pub(crate) mod certify;
mod invariant_map;
mod loop_claims;
mod obligations;
mod state_table;

use avr_certificate::{
    Basis, Certificate, Claim, ClosedSet as Written, Decided, Depth, Edges, Header, Labels, Map, PredicateLiteral,
    PredicateTerms, Proof, Space, Stack, State, Strategy, Symbolic, Upper, Vacuous, Verdict,
};
use avr_machine::{Comparison, Machine};
use avr_properties::Atom;
use mu_calculus::{AtomId, Choice, HyperGraph, Node, NodeId, NormalForm, Problem, Solution, StateId};
use std::collections::BTreeMap;
use std::sync::Arc;
use three_valued::Truth;
use tvar::{Goal, Outcome, StateSpace, System};

use crate::invariants::{Invariants, SymbolicProof};
use crate::pipeline::confined::ClosedSet;
use crate::pipeline::goals::PropertyGoals;
use crate::request::Request;
use crate::stack_bound::StackBound;
use crate::stack_bound::stack_spaces;
use avr_model::Firmware;
use avr_model::predicates::{Literal, Term};
use avr_model::state::AbstractState;
use obligations::Bound;
use state_table::Stored;

/// The properties as they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PropertyText {
    /// The text of the property file.
    pub file: String,
    /// Properties of the command line.
    pub more: Vec<String>,
    /// True if the command line asked for the inherent property.
    pub inherent: bool,
}

/// The claim about a property.
#[derive(Debug)]
pub(crate) enum Claimed {
    /// Nothing: it is undecided.
    Nothing,
    /// It is decided, but nothing of this work proves it, for this reason.
    Unproved(String),
    /// Invariants of the whole program prove it, also with a part replaced that does not matter, by its number among the strengthenings.
    Invariant(Option<usize>),
    /// Symbolic execution proves it, also with a part replaced that does not matter, as for invariants.
    Symbolic(SymbolicProof, Option<usize>),
    /// A run into a closed set violates it.
    Confined(ClosedSet),
    /// It is decided.
    Decided {
        holds: bool,
        /// The goals that prove it.
        goals: PropertyGoals,
        /// A part of its formula that does not matter, by its number among the strengthenings.
        vacuous: Option<usize>,
    },
}

/// The certificate of a run: one claim for each property, and how deep the stack gets.
pub(crate) fn certificate<'f>(
    firmware: &Firmware<'f>,
    request: &Request<'_>,
    text: &PropertyText,
    (goals, outcome, invariants): (&[Goal], &Outcome<Firmware<'f>>, Option<&Invariants>),
    (claimed, stack): (&[Claimed], StackBound),
) -> Certificate {
    let of_map = invariants.and_then(|invariants| invariants.stack_bound().upper);
    let upper_of_map = stack.upper.filter(|bytes| of_map.is_some_and(|bound| bound <= *bytes));
    let of_spaces = StackBound { upper: stack.upper.filter(|_| upper_of_map.is_none()), ..stack };
    let bound = Bound::new(request, of_spaces);
    let of_map = |claimed: &Claimed| matches!(claimed, Claimed::Invariant(_) | Claimed::Symbolic(..));
    let rests_on_map = upper_of_map.is_some() || claimed.iter().any(of_map);
    let map = invariants.filter(|_| rests_on_map).map(|invariants| invariant_map::written(invariants.map()));
    let mut draft = Draft { firmware, goals, outcome, bound: &bound, map: map.as_ref(), spaces: Vec::new() };
    let claims = claimed.iter().enumerate();
    let mut claims: Vec<Claim> = claims.map(|(property, claimed)| draft.claim(property, claimed)).collect();
    let mut stack = draft.stack();
    stack.upper = upper_of_map.map(Upper::Map).or(stack.upper);
    let mut stored = Stored::new(firmware);
    let drafts = draft.spaces.iter();
    let (spaces, numbers): (Vec<Space>, Vec<Numbers>) = drafts.map(|space| space.finish(&mut stored)).unzip();
    let upper = match &mut stack.upper {
        Some(Upper::Space(depth)) => Some(depth),
        Some(Upper::Map(_)) | None => None,
    };
    let depths = upper.into_iter().chain(&mut stack.lower);
    let proofs = claims.iter_mut().flat_map(proofs_of).chain(depths.map(|depth| &mut depth.proof));
    proofs.for_each(|proof| renumber(proof, &numbers));
    let predicates = predicates(firmware);
    Certificate { header: header(request, text), predicates, store: stored.store, spaces, map, claims, stack }
}

/// The numbers about which states may have predicates.
fn predicates(firmware: &Firmware<'_>) -> Option<PredicateTerms> {
    let kept = firmware.model.passes.predicates()?.get();
    let compared = |(_, term): (_, &Term)| Comparison { left: term.left.clone(), right: term.right.clone() };
    let literal = |one: &Literal| PredicateLiteral {
        pair: one.term as u32,
        predicate: one.predicate,
        is_negated: one.is_negated,
    };
    let clauses = kept.all().clauses().iter().map(|clause| clause.each_ref().map(literal)).collect();
    Some(PredicateTerms { compared: kept.all().terms().map(compared).collect(), telling: kept.named() as u32, clauses })
}

fn header(request: &Request<'_>, text: &PropertyText) -> Header {
    let digest = &request.image.sha256;
    let byte =
        |index: usize| digest.get(2 * index..2 * index + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    Header {
        sha256: std::array::from_fn(|index| byte(index).expect("a digest has 64 hexadecimal digits")),
        device: request.device.name.to_owned(),
        start: request.start,
        properties: text.file.clone(),
        more_properties: text.more.clone(),
        inherent: text.inherent,
        eeprom: request.eeprom.iter().map(|(address, byte)| (*address, *byte)).collect(),
    }
}

/// The new number of each state of a space that is kept.
type Numbers = Vec<u32>;

/// All proofs of a claim.
fn proofs_of(claim: &mut Claim) -> Vec<&mut Proof> {
    let Claim::Decided(decided) = claim else { return Vec::new() };
    let vacuous = decided.vacuous.iter_mut().flat_map(|vacuous| &mut vacuous.proofs);
    decided.proofs.iter_mut().chain(vacuous).collect()
}

/// Renumbers the states of a strategy.
fn renumber(proof: &mut Proof, numbers: &[Numbers]) {
    let numbers = &numbers[proof.space as usize];
    let choices = proof.strategy.choices.iter_mut().flat_map(|(_, states)| states);
    choices.for_each(|(state, _)| *state = numbers[*state as usize]);
}

/// A certificate in the making.
struct Draft<'a, 'f> {
    firmware: &'a Firmware<'f>,
    goals: &'a [Goal],
    outcome: &'a Outcome<Firmware<'f>>,
    bound: &'a Bound,
    /// The invariants, if a claim rests on them.
    map: Option<&'a Map>,
    spaces: Vec<DraftSpace<'a>>,
}

/// The parts of a state space that proofs need.
struct DraftSpace<'a> {
    machine: &'a Machine,
    space: &'a Arc<StateSpace<AbstractState>>,
    atoms: &'a [Atom],
    labels: mu_calculus::Labels,
    /// The states that are visited.
    visited: Vec<bool>,
    /// The states all of whose successors are needed.
    all_successors: Vec<bool>,
    /// The hyper-edges of each state that are chosen.
    chosen: BTreeMap<u32, Vec<Vec<u32>>>,
}

impl<'a> Draft<'a, '_> {
    fn claim(&mut self, property: usize, claimed: &Claimed) -> Claim {
        let (holds, goals, vacuous) = match claimed {
            Claimed::Nothing => return Claim::Undecided,
            Claimed::Unproved(reason) => return Claim::Uncertified(reason.clone()),
            Claimed::Invariant(part) => return Claim::Invariant(part.map(|part| part as u32)),
            Claimed::Symbolic(proof, part) => {
                let proof = loop_claims::written(proof, self.map.expect("a claim rests on it"));
                return Claim::Symbolic(Symbolic { proof, vacuous: part.map(|part| part as u32) });
            }
            Claimed::Confined(ClosedSet { stimulus, steps, map }) => {
                let (stimulus, map) = (stimulus.clone(), invariant_map::written(map));
                return Claim::Confined(Box::new(Written { stimulus, steps: *steps, map }));
            }
            Claimed::Decided { holds, goals, vacuous } => (*holds, *goals, *vacuous),
        };
        let all = std::iter::once(goals.formula).chain(goals.conditions(holds));
        let proofs: Option<Vec<Proof>> = all.map(|goal| self.proof(goal)).collect();
        let verdict = if holds { Verdict::Holds } else { Verdict::Violated };
        match proofs {
            Some(proofs) => {
                let vacuous = vacuous.and_then(|part| self.vacuous(property, goals.formula, part));
                Claim::Decided(Decided { verdict, proofs, vacuous })
            }
            None => Claim::Uncertified("no strategy for it was found again".to_owned()),
        }
    }

    /// The proof of a goal or of its negation.
    fn proof(&mut self, goal: usize) -> Option<Proof> {
        let (decision, goal) = (&self.outcome.decisions[goal], &self.goals[goal]);
        let basis = if decision.robust { Basis::Hardware } else { Basis::Model };
        let wanted = decision.verdict.known()?;
        // A verdict that stands whatever the hardware does is proved with its choices left open.
        let is_open = decision.robust && decision.space.has_abstracted_choices();
        let solution = decision.solution.as_ref().filter(|_| !is_open);
        self.shown(&decision.space, (&goal.formula, goal.observes_hazards), (wanted, basis), solution)
    }

    /// The proof that a part of a property does not matter.
    fn vacuous(&mut self, property: usize, goal: usize, part: usize) -> Option<Vacuous> {
        let (formulas, space) = (self.bound.strengthened(property, part)?, &self.outcome.decisions[goal].space);
        let proofs = formulas.iter().map(|formula| self.shown_on_some_basis(space, formula, true));
        let proofs: Vec<Proof> = proofs.collect::<Option<_>>()?;
        Some(Vacuous { part: part as u32, proofs })
    }

    /// The proofs of how deep the stack gets.
    fn stack(&mut self) -> Stack {
        let bound = self.bound;
        let upper = self.depth(bound.upper.as_ref(), true).map(Upper::Space);
        Stack { upper, lower: self.depth(bound.lower.as_ref(), false) }
    }

    /// The proof that a formula about the stack has a value, in the first state space that shows it. State spaces that
    /// other proofs need come first.
    fn depth(&mut self, stated: Option<&(u32, NormalForm)>, wanted: bool) -> Option<Depth> {
        let (bytes, formula) = stated?;
        let mut spaces: Vec<&'a Arc<StateSpace<AbstractState>>> = self.spaces.iter().map(|draft| draft.space).collect();
        spaces.extend(stack_spaces(self.outcome));
        let proof = spaces.into_iter().find_map(|space| self.shown_on_some_basis(space, formula, wanted))?;
        Some(Depth { bytes: *bytes, proof })
    }

    /// The proof that a formula has a value, of the hardware if possible.
    fn shown_on_some_basis(
        &mut self,
        space: &'a Arc<StateSpace<AbstractState>>,
        formula: &NormalForm,
        wanted: bool,
    ) -> Option<Proof> {
        let bases: &[Basis] = match space.has_abstracted_choices() {
            true => &[Basis::Hardware, Basis::Model],
            false => &[Basis::Hardware],
        };
        bases.iter().find_map(|basis| self.shown(space, (formula, false), (wanted, *basis), None))
    }

    /// The proof that a formula has a value in a state space, read off a solution if there is one already.
    fn shown(
        &mut self,
        space: &'a Arc<StateSpace<AbstractState>>,
        (formula, observes_hazards): (&NormalForm, bool),
        (wanted, basis): (bool, Basis),
        solution: Option<&Solution>,
    ) -> Option<Proof> {
        let number = self.space_number(space);
        let draft = &mut self.spaces[number];
        let graph = match basis {
            Basis::Hardware => space.open_graph(observes_hazards),
            Basis::Model => space.graph(observes_hazards),
        };
        let solved = match solution {
            Some(_) => None,
            None => Problem { graph: &graph, labels: &draft.labels, formula }.solve(&|| false).ok(),
        };
        let winner = solution.or(solved.as_ref()).filter(|winner| winner.verdict() == Truth::from(wanted));
        let strategy = winner.map(|winner| draft.follow(&graph, formula, winner, observes_hazards));
        if !draft.visited[0] {
            // No proof needs it: it is the last one.
            self.spaces.truncate(number);
        }
        Some(Proof { space: number as u32, basis, strategy: strategy? })
    }

    fn space_number(&mut self, space: &'a Arc<StateSpace<AbstractState>>) -> usize {
        let known = self.spaces.iter().position(|draft| Arc::ptr_eq(draft.space, space));
        known.unwrap_or_else(|| {
            let atoms = self.bound.table.atoms();
            let firmware = self.firmware;
            let labels =
                space.labels(atoms.len(), |state, atom| match atom.index() < firmware.model.context.atoms.len() {
                    true => firmware.label(state, atom),
                    false => firmware.model.context.truth(state, &atoms[atom.index()]),
                });
            self.spaces.push(DraftSpace {
                machine: firmware.model.context.machine,
                space,
                atoms,
                labels,
                visited: vec![false; space.states.len()],
                all_successors: vec![false; space.states.len()],
                chosen: BTreeMap::new(),
            });
            self.spaces.len() - 1
        })
    }
}

impl DraftSpace<'_> {
    /// Visits all positions that come up when the winner of a decided problem follows the solution; gives the strategy.
    fn follow(
        &mut self,
        graph: &HyperGraph,
        formula: &NormalForm,
        solution: &Solution,
        observes_hazards: bool,
    ) -> Strategy {
        let mut strategy: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
        let states = graph.state_count();
        let mut seen = vec![false; states * formula.node_count()];
        let mut waiting = vec![(graph.initial(), formula.root())];
        while let Some((state, node)) = waiting.pop() {
            if std::mem::replace(&mut seen[node.index() * states + state.index()], true) {
                continue;
            }
            self.visited[state.index()] = true;
            let stays = match self.space.states[state.index()] {
                AbstractState::Hazard { hazard, pc } => observes_hazards || self.machine.ends_path(hazard.kind, pc),
                _ => false,
            };
            let choice = solution.choice(&Problem { graph, labels: &self.labels, formula }, state, node);
            let children = formula.node(node).children();
            match (formula.node(node), choice) {
                (Node::Modal(_, next), _) if stays => waiting.push((state, next)),
                (Node::Modal(_, next), Some(Choice::Edge(edge))) => {
                    let members = graph.edge(state, edge);
                    let choice = self.choose(state, members);
                    strategy.entry(node.0).or_default().push((state.0, choice));
                    waiting.extend(members.iter().map(|member| (*member, next)));
                }
                (Node::Modal(_, next), _) => waiting.extend(self.all(graph, state, next)),
                (_, Some(Choice::Child(child))) => {
                    let second = children.first() != Some(&child);
                    strategy.entry(node.0).or_default().push((state.0, second.into()));
                    waiting.push((state, child));
                }
                _ => waiting.extend(children.iter().map(|child| (state, *child))),
            }
        }
        strategy.values_mut().for_each(|states| states.sort_unstable());
        Strategy { choices: strategy.into_iter().collect() }
    }

    /// The number of a hyper-edge that is chosen among those of its state.
    fn choose(&mut self, state: StateId, members: &[StateId]) -> u32 {
        let members = in_order(members.iter().map(|member| member.0));
        let chosen = self.chosen.entry(state.0).or_default();
        let known = chosen.iter().position(|known| *known == members);
        known.unwrap_or_else(|| {
            chosen.push(members);
            chosen.len() - 1
        }) as u32
    }

    /// All that may come after a state.
    fn all<'g>(
        &mut self,
        graph: &'g HyperGraph,
        state: StateId,
        next: NodeId,
    ) -> impl Iterator<Item = (StateId, NodeId)> + use<'g> {
        let itself = graph.is_sink(state).then_some(state);
        if itself.is_none() {
            self.all_successors[state.index()] = true;
        }
        graph.may(state).iter().copied().chain(itself).map(move |state| (state, next))
    }

    /// The space as certificates have it.
    fn finish(&self, stored: &mut Stored<'_, '_>) -> (Space, Numbers) {
        let mut numbers = vec![u32::MAX; self.visited.len()];
        let visited = || (0..).zip(&self.visited).filter(|(_, is_visited)| **is_visited).map(|(state, _)| state);
        visited().zip(0..).for_each(|(state, number): (u32, u32)| numbers[state as usize] = number);
        let atoms = self.atoms.len();
        let (mut edges, mut labels, mut states) = (Edges::new(), Labels::new(atoms), Vec::new());
        for old in visited() {
            let state = &self.space.states[old as usize];
            // Nothing is known of what comes after a state that was not expanded, and its labels count for nothing.
            let is_left_open = matches!(state, AbstractState::Running(_)) && !self.space.is_expanded(old as usize);
            states.push(if is_left_open { State::Anything } else { stored.state(state) });
            let label = |atom| if is_left_open { Truth::Unknown } else { self.labels.get(AtomId(atom), StateId(old)) };
            labels.add((0..atoms as u32).map(label));
            for members in self.edges(old) {
                edges.add(members.iter().map(|member| numbers[*member as usize]));
            }
            edges.finish_state();
        }
        (Space { states, edges, labels }, numbers)
    }

    /// The hyper-edges of a state that are kept: those that are chosen, and as many more as it takes to have all successors.
    fn edges(&self, state: u32) -> Vec<Vec<u32>> {
        let mut kept = self.chosen.get(&state).cloned().unwrap_or_default();
        if self.all_successors[state as usize] {
            let mut there: Vec<u32> = in_order(kept.iter().flatten().copied());
            for members in self.space.edges(state as usize) {
                if members.iter().any(|member| there.binary_search(member).is_err()) {
                    there = in_order(there.iter().chain(members).copied());
                    kept.push(in_order(members.iter().copied()));
                }
            }
        }
        kept
    }
}

/// The members of a hyper-edge by rising number, each once.
fn in_order(members: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut members: Vec<u32> = members.collect();
    members.sort_unstable();
    members.dedup();
    members
}
