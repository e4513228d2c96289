//! Path formulas as subformulas of the normal form: the automaton is played on the graph.
//!
//! A state of a deterministic parity automaton becomes a formula that mentions itself: it asks for the letters that
//! matter. Then it takes a step (`[]` for all paths, `<>` for some path) into the formula of the next state, below a
//! fixed point with the priority of the transition. A question for the letter `a` with the answers P and Q is
//!
//! > `(!a || P) && (a || Q) && (P || Q)`
//!
//! SOUND: where `a` is unknown, the first two say that P and Q are certain, and the last that one of them is possible:
//! whoever stands for the unknown chooses the value. Without the last conjunct this would be "possible" although both
//! P and Q are impossible. The formula is its own dual, so that `E[psi]` is treated alike.
//!
//! A deterministic automaton may grow too large. Then conjunctions below `A` and disjunctions below `E` are taken
//! apart, and in the end a nondeterministic automaton is used: `A[psi]` as "no run of the automaton of `!psi` is
//! accepting".
//! SOUND: that needs literals that are certain, which is sound and decides less.

use std::mem;

use rustc_hash::{FxHashMap, FxHashSet};

use super::error::TranslateError;
use super::terms::TermId;
use super::translation::Translation;
use super::tying::Tying;
use crate::formula::{Formula, LinearOperator, LinearPairOperator, MAX_DEPTH, Modality, Variable};
use crate::labels::AtomId;
use crate::linear::buchi::Buchi;
use crate::linear::parity::{Parity, Tree, TreeId};
use crate::linear::syntax::{Linear, LinearFormula, LinearId, Past, Proposition};
use crate::linear::{TooLarge, deterministic};
use crate::node::{Node, NodeId};

/// A letter as subformulas: itself, and its negation.
type Letter = (TermId, TermId);

/// The largest number of transitions of a nondeterministic automaton that is used as it is.
const MAX_TRANSITIONS: usize = 300;

/// The automaton of a path formula that is played on the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Automaton {
    modality: Modality,
    letters: Vec<Letter>,
    control: Control,
}

/// The control of the game: the automaton that is played.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Control {
    /// The trees of the states, by number; state 0 is the initial one.
    Deterministic { states: Vec<TreeId>, trees: Vec<Tree> },
    /// For `[]` the opponent picks the transitions of an automaton of the negation, for `<>` the proponent those of an
    /// automaton of the formula.
    Nondeterministic(Vec<Vec<crate::linear::buchi::Transition>>),
}

impl From<TooLarge> for TranslateError {
    fn from(_: TooLarge) -> Self {
        Self::TooLarge
    }
}

/// A path formula while it is being read.
#[derive(Default)]
struct Reading<'f> {
    /// Boolean combinations that are one letter.
    composite: FxHashSet<&'f Formula<AtomId>>,
    formula: LinearFormula,
    letters: Vec<Letter>,
    /// True if this is below an operator of the past.
    past: bool,
}

impl<'f> Translation<'f> {
    /// `A[psi]` (`[]`) or `E[psi]` (`<>`) for psi as it is written or negated.
    pub(crate) fn quantified(
        &mut self,
        modality: Modality,
        psi: &'f Formula<AtomId>,
        positive: bool,
        depth: usize,
    ) -> Result<TermId, TranslateError> {
        let mut reading = Reading { composite: composite_letters(psi), ..Reading::default() };
        let root = self.linear(&mut reading, psi, positive, depth)?;
        self.played(modality, &mut reading, root)
    }

    /// The term of a path formula below `A` or `E`.
    fn played(
        &mut self,
        modality: Modality,
        reading: &mut Reading<'f>,
        root: LinearId,
    ) -> Result<TermId, TranslateError> {
        match deterministic(&mut reading.formula, root) {
            Ok(parity) => Ok(self.deterministic(modality, &reading.letters, &parity)),
            Err(TooLarge) => self.apart(modality, reading, root),
        }
    }

    fn deterministic(&mut self, modality: Modality, letters: &[Letter], parity: &Parity) -> TermId {
        if let Tree::Constant(value) = parity.trees.get(parity.states[0]) {
            return self.terms.constant(value);
        }
        let trees = parity.trees.all().to_vec();
        let control = Control::Deterministic { states: parity.states.clone(), trees };
        self.automaton(Automaton { modality, letters: letters.to_vec(), control })
    }

    fn automaton(&mut self, automaton: Automaton) -> TermId {
        let number = self.automata.iter().position(|known| *known == automaton).unwrap_or_else(|| {
            self.automata.push(automaton);
            self.automata.len() - 1
        });
        self.terms.automaton(number as u32)
    }

    /// `A[p && q]` as `A[p] && A[q]`, `E[p || q]` likewise, and else with a nondeterministic automaton.
    fn apart(
        &mut self,
        modality: Modality,
        reading: &mut Reading<'f>,
        root: LinearId,
    ) -> Result<TermId, TranslateError> {
        let conjunction = modality == Modality::Box;
        let operands = match reading.formula.get(root) {
            Linear::And(operands) if conjunction => operands.clone(),
            Linear::Or(operands) if !conjunction => operands.clone(),
            _ => return self.nondeterministic(modality, reading, root),
        };
        let mut whole = self.terms.constant(conjunction);
        for operand in operands {
            let part = self.played(modality, reading, operand)?;
            whole = self.terms.binary(conjunction, whole, part);
        }
        Ok(whole)
    }

    fn nondeterministic(
        &mut self,
        modality: Modality,
        reading: &mut Reading<'f>,
        root: LinearId,
    ) -> Result<TermId, TranslateError> {
        if !reading.formula.past().is_empty() {
            return Err(TranslateError::TooLarge);
        }
        let read = if modality == Modality::Box { reading.formula.negation(root) } else { root };
        let states = Buchi::new(&reading.formula, read)?.states;
        if states.iter().map(Vec::len).sum::<usize>() > MAX_TRANSITIONS {
            return Err(TranslateError::TooLarge);
        }
        let control = Control::Nondeterministic(states);
        Ok(self.automaton(Automaton { modality, letters: reading.letters.clone(), control }))
    }

    /// A path formula, as it is written or negated, in the form that automata are made from.
    fn linear(
        &mut self,
        reading: &mut Reading<'f>,
        psi: &'f Formula<AtomId>,
        positive: bool,
        depth: usize,
    ) -> Result<LinearId, TranslateError> {
        if depth > 2 * MAX_DEPTH {
            return Err(TranslateError::TooDeep);
        }
        let depth = depth + 1;
        reading.formula.check_size()?;
        match psi {
            _ if reading.composite.contains(psi) => self.letter(reading, psi, positive, depth),
            Formula::Constant(value) => Ok(reading.formula.constant(*value == positive)),
            Formula::Not(p) => self.linear(reading, p, !positive, depth),
            Formula::And(operands) => self.linear_list(reading, operands, positive, positive, depth),
            Formula::Or(operands) => self.linear_list(reading, operands, !positive, positive, depth),
            Formula::Implies(p, q) => {
                let (p, q) = (self.linear(reading, p, !positive, depth)?, self.linear(reading, q, positive, depth)?);
                Ok(reading.formula.list(!positive, [p, q]))
            }
            Formula::Iff(p, q) => {
                let (p, q) = (self.linear(reading, p, true, depth)?, self.linear(reading, q, positive, depth)?);
                let (not_p, not_q) = (reading.formula.negation(p), reading.formula.negation(q));
                let (both, neither) = (reading.formula.list(true, [p, q]), reading.formula.list(true, [not_p, not_q]));
                Ok(reading.formula.list(false, [both, neither]))
            }
            Formula::Linear(operator, p) => self.linear_operator(reading, *operator, p, positive, depth),
            Formula::LinearPair(operator, p, q) => self.linear_pair(reading, *operator, [p, q], positive, depth),
            _ => self.letter(reading, psi, positive, depth),
        }
    }

    fn linear_list(
        &mut self,
        reading: &mut Reading<'f>,
        operands: &'f [Formula<AtomId>],
        conjunction: bool,
        positive: bool,
        depth: usize,
    ) -> Result<LinearId, TranslateError> {
        let operands: Result<Vec<LinearId>, _> =
            operands.iter().map(|operand| self.linear(reading, operand, positive, depth)).collect();
        Ok(reading.formula.list(conjunction, operands?))
    }

    fn linear_operator(
        &mut self,
        reading: &mut Reading<'f>,
        operator: LinearOperator,
        p: &'f Formula<AtomId>,
        positive: bool,
        depth: usize,
    ) -> Result<LinearId, TranslateError> {
        if operator.is_past() {
            let before = mem::replace(&mut reading.past, true);
            // `H p` is `!O !p`, and the negation of `O p` is the negated literal of it.
            let p = self.linear(reading, p, operator != LinearOperator::Historically, depth);
            reading.past = before;
            let past = match operator {
                LinearOperator::Yesterday => Past::Yesterday(p?),
                _ => Past::Since(reading.formula.constant(true), p?),
            };
            let value = positive == (operator != LinearOperator::Historically);
            return Ok(reading.formula.past_literal(past, value)?);
        }
        reading.refuse_future(operator)?;
        let p = self.linear(reading, p, positive, depth)?;
        let formula = &mut reading.formula;
        Ok(match operator {
            LinearOperator::Next => formula.next(p),
            _ if (operator == LinearOperator::Eventually) == positive => {
                let anything = formula.constant(true);
                formula.until(anything, p)
            }
            _ => {
                let nothing = formula.constant(false);
                formula.release(nothing, p)
            }
        })
    }

    fn linear_pair(
        &mut self,
        reading: &mut Reading<'f>,
        operator: LinearPairOperator,
        operands: [&'f Formula<AtomId>; 2],
        positive: bool,
        depth: usize,
    ) -> Result<LinearId, TranslateError> {
        if operator == LinearPairOperator::Since {
            let before = mem::replace(&mut reading.past, true);
            let p = self.linear(reading, operands[0], true, depth);
            let q = self.linear(reading, operands[1], true, depth);
            reading.past = before;
            return Ok(reading.formula.past_literal(Past::Since(p?, q?), positive)?);
        }
        reading.refuse_future(operator)?;
        let p = self.linear(reading, operands[0], true, depth)?;
        let q = self.linear(reading, operands[1], true, depth)?;
        let formula = &mut reading.formula;
        let whole = match operator {
            LinearPairOperator::Until => formula.until(p, q),
            LinearPairOperator::Release => formula.release(p, q),
            LinearPairOperator::WeakUntil | LinearPairOperator::Since => formula.weak_until(p, q),
        };
        Ok(if positive { whole } else { formula.negation(whole) })
    }

    /// A formula about states as a letter.
    fn letter(
        &mut self,
        reading: &mut Reading<'f>,
        state: &'f Formula<AtomId>,
        positive: bool,
        depth: usize,
    ) -> Result<LinearId, TranslateError> {
        let own = self.term(state, true, depth)?;
        let other = self.term(state, false, depth)?;
        if !self.terms.is_closed(own) {
            let variable = first_variable(state).expect("an open formula has a variable");
            return Err(TranslateError::PathVariable { variable: variable.clone() });
        }
        if let Some(value) = self.terms.as_constant(own) {
            return Ok(reading.formula.constant(value == positive));
        }
        let known = reading.letters.iter().position(|(known, negation)| *known == own || *negation == own);
        let number = match known {
            Some(number) => number,
            None => {
                reading.formula.letter()?;
                reading.letters.push((own, other));
                reading.letters.len() - 1
            }
        };
        let value = (reading.letters[number].0 == own) == positive;
        Ok(reading.formula.literal(Proposition(number as u32), value))
    }
}

/// The Boolean combinations of formulas about states that can be letters as they are: none of their operands occurs
/// twice, in the combination or in others. SOUND: then the three-valued combination is unknown only if it may be either,
/// whatever values the unknown operands have; and even otherwise a letter only claims less than its operands.
fn composite_letters(psi: &Formula<AtomId>) -> FxHashSet<&Formula<AtomId>> {
    let mut combinations = FxHashSet::default();
    find_combinations(psi, &mut combinations);
    let mut uses: FxHashMap<&Formula<AtomId>, usize> = FxHashMap::default();
    for combination in &combinations {
        operands(combination, &mut |operand| *uses.entry(operand).or_default() += 1);
    }
    let once = |combination: &&Formula<AtomId>| {
        let mut once = true;
        operands(combination, &mut |operand| once &= uses[operand] == 1);
        once
    };
    combinations.into_iter().filter(once).collect()
}

/// The maximal parts of a path formula that speak of states.
fn find_combinations<'f>(psi: &'f Formula<AtomId>, found: &mut FxHashSet<&'f Formula<AtomId>>) {
    if psi.is_path_formula() {
        psi.children().into_iter().for_each(|child| find_combinations(child, found));
    } else {
        found.insert(psi);
    }
}

/// Calls `visit` with what a Boolean combination combines.
fn operands<'f>(combination: &'f Formula<AtomId>, visit: &mut impl FnMut(&'f Formula<AtomId>)) {
    match combination {
        Formula::Not(_) | Formula::And(_) | Formula::Or(_) | Formula::Implies(..) | Formula::Iff(..) => {
            combination.children().into_iter().for_each(|child| operands(child, visit));
        }
        _ => visit(combination),
    }
}

fn first_variable(formula: &Formula<AtomId>) -> Option<&Variable> {
    match formula {
        Formula::Variable(variable) => Some(variable),
        _ => formula.children().into_iter().find_map(first_variable),
    }
}

impl Reading<'_> {
    fn refuse_future(&self, operator: impl ToString) -> Result<(), TranslateError> {
        if self.past { Err(TranslateError::FutureInPast { operator: operator.to_string() }) } else { Ok(()) }
    }
}

impl Automaton {
    /// Adds the nodes of the automaton; returns that of its initial state.
    pub(crate) fn tied(&self, graph: &mut Tying<'_>) -> NodeId {
        let letters = self.letters.iter().map(|(own, other)| (graph.closed(*own), graph.closed(*other))).collect();
        let mut play = Play { automaton: self, letters, steps: FxHashMap::default(), trees: FxHashMap::default() };
        match &self.control {
            Control::Deterministic { states, trees } => play.deterministic(graph, states, trees),
            Control::Nondeterministic(states) => play.nondeterministic(graph, states),
        }
    }
}

/// The nodes of an automaton while they are being made.
struct Play<'a> {
    automaton: &'a Automaton,
    letters: Vec<(NodeId, NodeId)>,
    /// The step into a state with a priority: the modality, and the fixed point below it.
    steps: FxHashMap<(u32, u32), (NodeId, NodeId)>,
    trees: FxHashMap<TreeId, NodeId>,
}

impl Play<'_> {
    /// The step into a state, whose fixed point gets its body later.
    fn step(&mut self, graph: &mut Tying<'_>, priority: u32, target: u32) -> NodeId {
        let modality = self.automaton.modality;
        let (step, _) = *self.steps.entry((target, priority)).or_insert_with(|| {
            let fixed = graph.push_fixed(priority);
            (graph.push(Node::Modal(modality, fixed)), fixed)
        });
        step
    }

    /// Ties every fixed point to the formula of its state.
    fn tie(&self, graph: &mut Tying<'_>, states: &[NodeId]) {
        for ((target, _), (_, fixed)) in &self.steps {
            graph.tie(*fixed, states[*target as usize]);
        }
    }

    fn deterministic(&mut self, graph: &mut Tying<'_>, states: &[TreeId], trees: &[Tree]) -> NodeId {
        let nodes: Vec<NodeId> = states.iter().map(|state| self.tree(graph, trees, *state)).collect();
        self.tie(graph, &nodes);
        nodes[0]
    }

    fn tree(&mut self, graph: &mut Tying<'_>, trees: &[Tree], id: TreeId) -> NodeId {
        if let Some(known) = self.trees.get(&id) {
            return *known;
        }
        let node = match trees[id as usize] {
            Tree::Constant(value) => graph.push(Node::Constant(value)),
            Tree::Leaf { priority, target } => self.step(graph, priority, target),
            Tree::Branch { letter, high, low } => self.branch(graph, trees, letter, [high, low]),
        };
        self.trees.insert(id, node);
        node
    }

    fn branch(&mut self, graph: &mut Tying<'_>, trees: &[Tree], letter: u32, answers: [TreeId; 2]) -> NodeId {
        let (holds, fails) = self.letters[letter as usize];
        let [high, low] = answers.map(|answer| trees[answer as usize]);
        match (high, low) {
            (Tree::Constant(true), Tree::Constant(_)) => holds,
            (Tree::Constant(false), Tree::Constant(_)) => fails,
            (Tree::Constant(value), _) => {
                let low = self.tree(graph, trees, answers[1]);
                graph.push(if value { Node::Or(holds, low) } else { Node::And(fails, low) })
            }
            (_, Tree::Constant(value)) => {
                let high = self.tree(graph, trees, answers[0]);
                graph.push(if value { Node::Or(fails, high) } else { Node::And(holds, high) })
            }
            _ => {
                let [high, low] = answers.map(|answer| self.tree(graph, trees, answer));
                graph.push_choice([holds, fails], [high, low])
            }
        }
    }

    /// Literals must be certain for a transition to count for the one who picks it.
    fn nondeterministic(&mut self, graph: &mut Tying<'_>, states: &[Vec<crate::linear::buchi::Transition>]) -> NodeId {
        let universal = self.automaton.modality == Modality::Box;
        let mut nodes = Vec::new();
        for state in states {
            let mut whole = graph.push(Node::Constant(universal));
            for transition in state {
                // Infinitely many accepting transitions are what `<>` wants and `[]` forbids.
                let priority =
                    if universal { u32::from(transition.accepting) } else { 1 + u32::from(transition.accepting) };
                let mut part = self.step(graph, priority, transition.target);
                for (letter, (holds, fails)) in self.letters.clone().into_iter().enumerate() {
                    let bit = Proposition(letter as u32).bit();
                    let asked = [(transition.positive, holds, fails), (transition.negative, fails, holds)];
                    for (_, wanted, unwanted) in asked.into_iter().filter(|(set, ..)| set & bit != 0) {
                        part = graph.push(if universal { Node::Or(unwanted, part) } else { Node::And(wanted, part) });
                    }
                }
                whole = graph.push(if universal { Node::And(whole, part) } else { Node::Or(whole, part) });
            }
            nodes.push(whole);
        }
        self.tie(graph, &nodes);
        nodes[0]
    }
}

impl Tying<'_> {
    /// If-then-else in three values: `(!a || p) && (a || q) && (p || q)`.
    fn push_choice(&mut self, [holds, fails]: [NodeId; 2], [high, low]: [NodeId; 2]) -> NodeId {
        let (if_so, if_not) = (self.push(Node::Or(fails, high)), self.push(Node::Or(holds, low)));
        let certain = self.push(Node::And(if_so, if_not));
        let possible = self.push(Node::Or(high, low));
        self.push(Node::And(certain, possible))
    }
}
