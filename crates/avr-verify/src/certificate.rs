//! Writing proofs down: from decisions to a certificate.
//!
//! Of a state space only what a proof visits is kept: the positions that come up when the winner follows the strategy and the
//! opponent does anything. A state at which the opponent chooses keeps members for all of its successors, the others keep only
//! the hyper-edges that are chosen.

mod advised;
mod stored;

pub(crate) use advised::Advised;

use avr_certificate::{
    Basis, Certificate, Claim, Decided, Edges, Header, Labels, Proof, Space, State, Strategy, Verdict,
};
use mu_calculus::{AtomId, Choice, HyperGraph, Node, NodeId, NormalForm, Problem, Solution, StateId};
use std::collections::BTreeMap;
use std::sync::Arc;
use three_valued::Truth;
use tvar::{Goal, Outcome, StateSpace, System};

use crate::state::AbstractState;
use crate::system::Firmware;
use crate::verification::Request;
use stored::Stored;

/// The properties as they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PropertyText {
    /// The text of the property file.
    pub file: String,
    /// Properties of the command line.
    pub more: Vec<String>,
    /// Whether the command line asked for the inherent property.
    pub inherent: bool,
}

/// What is claimed of a property that is decided: whether it holds, the goal of its formula and, under fairness, the goal that
/// every state has a fair path.
pub(crate) type Claimed = Option<(bool, usize, Option<usize>)>;

/// The certificate of a run: one claim for each property.
pub(crate) fn certificate<'f>(
    firmware: &Firmware<'f>,
    request: &Request<'_>,
    text: &PropertyText,
    (goals, outcome): (&[Goal], &Outcome<Firmware<'f>>),
    claimed: &[Claimed],
) -> Certificate {
    let mut draft = Draft { firmware, goals, outcome, spaces: Vec::new() };
    let claims = claimed.iter().map(|claimed| draft.claim(*claimed)).collect();
    let mut stored = Stored::new(firmware);
    let drafts = draft.spaces.iter();
    let (spaces, numbers): (Vec<Space>, Vec<Numbers>) = drafts.map(|space| space.finish(firmware, &mut stored)).unzip();
    Certificate {
        header: header(request, text),
        store: stored.store,
        spaces,
        claims: claims_in_numbers(claims, &numbers),
    }
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

/// Renumbers the states of all strategies.
fn claims_in_numbers(mut claims: Vec<Claim>, numbers: &[Numbers]) -> Vec<Claim> {
    for claim in &mut claims {
        let Claim::Decided(decided) = claim else { continue };
        for proof in &mut decided.proofs {
            let numbers = &numbers[proof.space as usize];
            let choices = proof.strategy.choices.iter_mut().flat_map(|(_, states)| states);
            choices.for_each(|(state, _)| *state = numbers[*state as usize]);
        }
    }
    claims
}

/// A certificate in the making.
struct Draft<'a, 'f> {
    firmware: &'a Firmware<'f>,
    goals: &'a [Goal],
    outcome: &'a Outcome<Firmware<'f>>,
    spaces: Vec<DraftSpace<'a>>,
}

/// What proofs need of a state space.
struct DraftSpace<'a> {
    space: &'a Arc<StateSpace<AbstractState>>,
    labels: mu_calculus::Labels,
    /// The states that are visited.
    visited: Vec<bool>,
    /// The states all of whose successors are needed.
    all_successors: Vec<bool>,
    /// The hyper-edges of each state that are chosen.
    chosen: BTreeMap<u32, Vec<Vec<u32>>>,
}

impl<'a> Draft<'a, '_> {
    fn claim(&mut self, claimed: Claimed) -> Claim {
        let Some((holds, goal, goes_on)) = claimed else { return Claim::Undecided };
        let goals = [Some(goal), goes_on].into_iter().flatten();
        let proofs: Option<Vec<Proof>> = goals.map(|goal| self.proof(goal)).collect();
        let verdict = if holds { Verdict::Holds } else { Verdict::Violated };
        match proofs {
            Some(proofs) => Claim::Decided(Decided { verdict, proofs }),
            None => Claim::Uncertified("no strategy for it was found again".to_owned()),
        }
    }

    /// The proof of a goal or of its negation.
    fn proof(&mut self, goal: usize) -> Option<Proof> {
        let (decision, goal) = (&self.outcome.decisions[goal], &self.goals[goal]);
        let number = self.space_number(&decision.space);
        let draft = &mut self.spaces[number];
        // What stands whatever the hardware does is proved with its choices left open.
        let open = decision.robust && decision.space.has_abstracted_choices();
        let graph = match open {
            true => decision.space.open_graph(goal.sees_hazards),
            false => decision.space.graph(goal.sees_hazards),
        };
        let solved = match open {
            true => {
                Some(Problem { graph: &graph, labels: &draft.labels, formula: &goal.formula }.solve(&|| false).ok()?)
            }
            false => None,
        };
        let solution = solved.as_ref().or(decision.solution.as_ref())?;
        if solution.verdict().is_unknown() || solution.verdict() != decision.verdict {
            return None;
        }
        let strategy = draft.follow(&graph, &goal.formula, solution, goal.sees_hazards);
        let basis = if decision.robust { Basis::Hardware } else { Basis::Model };
        Some(Proof { space: number as u32, basis, strategy })
    }

    fn space_number(&mut self, space: &'a Arc<StateSpace<AbstractState>>) -> usize {
        let known = self.spaces.iter().position(|draft| Arc::ptr_eq(draft.space, space));
        known.unwrap_or_else(|| {
            let labels = space.labels(self.firmware.atoms.len(), |state, atom| self.firmware.label(state, atom));
            self.spaces.push(DraftSpace {
                space,
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
        sees_hazards: bool,
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
            let stays = sees_hazards && matches!(self.space.states[state.index()], AbstractState::Hazard { .. });
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
    fn finish(&self, firmware: &Firmware<'_>, stored: &mut Stored<'_, '_>) -> (Space, Numbers) {
        let mut numbers = vec![u32::MAX; self.visited.len()];
        let visited = || (0..).zip(&self.visited).filter(|(_, is_visited)| **is_visited).map(|(state, _)| state);
        visited().zip(0..).for_each(|(state, number): (u32, u32)| numbers[state as usize] = number);
        let atoms = firmware.atoms.len();
        let (mut edges, mut labels, mut states) = (Edges::new(), Labels::new(atoms), Vec::new());
        for old in visited() {
            let state = &self.space.states[old as usize];
            // Of what comes after a state that was not expanded nothing is known, and its labels count for nothing.
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
