//! Certificates of small systems: made with the solver, checked with the core of the checker.

use avr_certificate::{Edges, Strategy, Verdict};
use mu_calculus::{
    AtomId, Choice, FixedPoint, Formula, GraphBuilder, HyperGraph, Labels, Modality, Node, NormalForm, Problem,
    Solution, StateId, Variable,
};
use std::collections::BTreeMap;
use three_valued::Truth;

use super::system::{ATOMS, Abstract, Advice, System, came};
use crate::outcomes::{self, Came};
use crate::play::{Foundation, Future, Ground, Relied, play};
use crate::rejection::{Reason, Rejection};
use crate::sentence::Sentence;
use crate::vigilance::{Check, does};
use avr_testkit::Random;

/// The most states of a certificate.
const MAX_STATES: usize = 40;

/// A certificate of a small system.
#[derive(Clone, Debug)]
pub(super) struct Certificate {
    pub(super) digest: usize,
    pub(super) states: Vec<Abstract>,
    pub(super) advice: Vec<Advice>,
    pub(super) edges: Edges,
    pub(super) labels: Vec<[Truth; ATOMS]>,
    pub(super) formula: Formula<AtomId>,
    pub(super) verdict: Verdict,
    pub(super) foundation: Foundation,
    pub(super) strategy: Strategy,
}

/// The certificate as the game sees it.
struct Land<'a> {
    system: &'a System,
    certificate: &'a Certificate,
}

impl Ground for Land<'_> {
    fn edges(&self) -> &Edges {
        &self.certificate.edges
    }

    fn label(&self, state: u32, atom: usize) -> Result<Truth, Rejection> {
        let stated = self.certificate.labels[state as usize][atom];
        let computed = self.system.label(self.certificate.states[state as usize], atom);
        if stated == computed || !does(Check::Labels) {
            return Ok(stated);
        }
        Err(Reason::Label { atom: atom.to_string(), computed, stated }.at(state))
    }

    fn future(&self, state: u32) -> Future {
        match self.certificate.states[state as usize] {
            Abstract::Hazard if self.system.observes_hazards => Future::End,
            Abstract::Hazard | Abstract::Anything => Future::Open,
            Abstract::Start | Abstract::Bits { .. } => Future::Step,
        }
    }
}

/// A formula about what comes after the first step.
fn after_start(formula: &Formula<AtomId>) -> NormalForm {
    let formula = Formula::Modal(Modality::Box, Box::new(formula.clone()));
    NormalForm::new(&formula).expect("random formulas are closed")
}

impl Certificate {
    /// Checks the certificate as that of firmware is checked.
    pub(super) fn check(&self, system: &System) -> Result<(), Rejection> {
        let is_start = |state: &Abstract| *state == Abstract::Start;
        if self.digest != system.digest || self.states.iter().position(is_start) != Some(0) {
            return Err(Reason::Start.into());
        }
        let stated = Sentence::new(&after_start(&self.formula));
        let sentence = if self.verdict == Verdict::Holds { stated } else { stated.negated() };
        let mut relied = Relied::default();
        let land = Land { system, certificate: self };
        play(&sentence, &land, &self.strategy, self.foundation, &mut relied)?;
        let duties = relied.duties();
        let concerned = (0..self.states.len() as u32).filter(|state| duties.concerns(*state));
        for state in concerned {
            let members = self.edges.all_members(state).to_vec();
            let (from, advice) = (self.states[state as usize], self.advice[state as usize]);
            let all = outcomes::outcomes(state, |script| {
                came(&system.outcome(from, advice, script), &self.states, &members)
            })?;
            outcomes::check(state, &all, &self.edges, &duties)?;
        }
        Ok(())
    }

    /// A certificate of a random formula; none if it is undecided or the abstraction is too large.
    pub(super) fn random(system: &System, random: &mut Random) -> Option<Self> {
        let foundation = if random.once_in(3) { Foundation::Hardware } else { Foundation::Model };
        let (states, advice, edges) = explore(system, foundation, random)?;
        let labels: Vec<[Truth; ATOMS]> =
            states.iter().map(|state| std::array::from_fn(|atom| system.label(*state, atom))).collect();
        // Of several formulas the first that is decided.
        (0..6).find_map(|_| {
            let formula = formula(random, 4, &mut Vec::new());
            let (verdict, strategy) = solve(system, &states, &edges, &labels, &formula)?;
            let (states, advice, edges, labels) = (states.clone(), advice.clone(), edges.clone(), labels.clone());
            let digest = system.digest;
            Some(Self { digest, states, advice, edges, labels, formula, verdict, foundation, strategy })
        })
    }
}

/// Explores with random bits distinguished and dropped in each state.
fn explore(
    system: &System,
    foundation: Foundation,
    random: &mut Random,
) -> Option<(Vec<Abstract>, Vec<Advice>, Edges)> {
    let (mut states, mut all_advice, mut edges) = (vec![Abstract::Start], Vec::new(), Edges::new());
    let forgotten = random.byte() & random.byte() & random.byte();
    let mut state = 0;
    while state < states.len() {
        let advice = Advice { split: random.byte() | random.byte(), cut: random.byte() | random.byte() };
        all_advice.push(advice);
        if !matches!(states[state], Abstract::Hazard | Abstract::Anything) {
            let mut arrived = Vec::new();
            let from = states[state];
            let outcomes = outcomes::outcomes(0, |script| {
                let next = Abstract::join(&system.outcome(from, advice, script)).forget(forgotten);
                let number = states.iter().position(|known| *known == next).unwrap_or_else(|| {
                    states.push(next);
                    states.len() - 1
                });
                arrived.push(number as u32);
                Came::CoveredBy(vec![number as u32])
            });
            let outcomes = outcomes.ok()?;
            for edge in outcomes::all_forced(&outcomes, 0, foundation) {
                edges.add(edge);
            }
        }
        edges.finish_state();
        if states.len() > MAX_STATES {
            return None;
        }
        state += 1;
    }
    Some((states, all_advice, edges))
}

/// The verdict of the solver on a formula after the first step, with the strategy of the winner.
fn solve(
    system: &System,
    states: &[Abstract],
    edges: &Edges,
    stated: &[[Truth; ATOMS]],
    formula: &Formula<AtomId>,
) -> Option<(Verdict, Strategy)> {
    let graph = graph(system, states, edges);
    let mut labels = Labels::new(ATOMS, states.len());
    for (truths, state) in stated.iter().zip(0..) {
        for (truth, atom) in truths.iter().zip(0..) {
            labels.set(AtomId(atom), StateId(state), *truth);
        }
    }
    let formula = after_start(formula);
    let problem = Problem { graph: &graph, labels: &labels, formula: &formula };
    let solution = problem.solve(&|| false).expect("it is small");
    let verdict = match solution.verdict() {
        Truth::True => Verdict::Holds,
        Truth::False => Verdict::Violated,
        Truth::Unknown => return None,
    };
    Some((verdict, strategy(&problem, &solution)))
}

fn graph(system: &System, states: &[Abstract], edges: &Edges) -> HyperGraph {
    let mut builder = GraphBuilder::new();
    for (state, number) in states.iter().zip(0..) {
        let id = builder.state();
        if *state == Abstract::Hazard && system.observes_hazards {
            builder.edge([id]);
        }
        for members in edges.of(number) {
            builder.edge(members.iter().map(|member| StateId(*member)));
        }
    }
    builder.finish(StateId(0)).expect("members are states")
}

/// The choices of the winner wherever there is one.
fn strategy(problem: &Problem<'_>, solution: &Solution) -> Strategy {
    let mut choices: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
    for (node, id) in problem.formula.nodes().iter().zip(0..) {
        for state in problem.graph.states() {
            let choice = match solution.choice(problem, state, mu_calculus::NodeId(id)) {
                Some(Choice::Edge(edge)) => edge as u32,
                Some(Choice::Child(child)) => u32::from(node.children().first() != Some(&child)),
                None => continue,
            };
            if matches!(node, Node::And(..) | Node::Or(..) | Node::Modal(..)) {
                choices.entry(id).or_default().push((state.0, choice));
            }
        }
    }
    Strategy { choices: choices.into_iter().collect() }
}

/// A random closed formula; `scope` has the variables that may occur.
fn formula(random: &mut Random, depth: usize, scope: &mut Vec<String>) -> Formula<AtomId> {
    let atom = |random: &mut Random| Formula::Atom(AtomId(random.below(ATOMS as u32)));
    if depth == 0 {
        return match random.below(4) {
            0 => Formula::Not(Box::new(atom(random))),
            1 | 2 if !scope.is_empty() => {
                let name = scope[random.below(scope.len())].clone();
                Formula::Modal(modality(random), Box::new(Formula::Variable(Variable::new(&name))))
            }
            _ => atom(random),
        };
    }
    let next = |random: &mut Random, scope: &mut Vec<String>| formula(random, depth - 1, scope);
    match random.below(6) {
        0 => Formula::And(vec![next(random, scope), next(random, scope)]),
        1 => Formula::Or(vec![next(random, scope), next(random, scope)]),
        2 => Formula::Modal(modality(random), Box::new(next(random, scope))),
        _ => {
            let name = format!("X{depth}");
            let kind = if random.once_in(2) { FixedPoint::Least } else { FixedPoint::Greatest };
            scope.push(name.clone());
            let here = next(random, scope);
            let again = Formula::Variable(Variable::new(&name));
            let step = Formula::Modal(modality(random), Box::new(again));
            scope.pop();
            let both = vec![here, step];
            let body = if random.once_in(2) { Formula::And(both) } else { Formula::Or(both) };
            Formula::Fixed(kind, Variable::new(&name), Box::new(body))
        }
    }
}

fn modality(random: &mut Random) -> Modality {
    if random.once_in(2) { Modality::Box } else { Modality::Diamond }
}
