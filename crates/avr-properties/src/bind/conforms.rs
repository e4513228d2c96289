//! Conformance as a formula: a greatest fixed point with a variable for each state of the specification, or for each set of
//! states where traces are compared (`docs/soundness.md`, "Conformance").
//!
//! A state X of the specification says that its data are true, and that the specification can answer whatever step comes:
//! `X = data && [](the answers)`. The answers are a tree of questions about the events of the step, in the order of the
//! alphabet; each event that came makes the specification move. At the end of the tree stand the states in which it may be
//! then: some of them (simulation), or the set of all of them (traces).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use mu_calculus::{
    AtomId, FixedPoint, Formula, MAX_SIZE, Modality, PathOperator, PathQuantifier, Variable, parse_predicate,
};
use three_valued::Truth;

use super::{Binder, Bound};
use crate::atom::AtomKind;
use crate::conformance::faults::{Fault, is_on};
use crate::conformance::{Answer, Monitor, PlacedText, Relation, SpecificationAutomaton, SpecificationError};
use crate::error::{PropertyError, PropertyErrorKind};
use crate::view::Event;

/// Names of sets of states that are longer become numbers.
const MAX_NAME: usize = 60;

/// States of a specification, by number.
type States = BTreeSet<usize>;

/// An event of the alphabet.
struct Letter {
    event: Event,
    atom: AtomId,
}

impl Binder<'_> {
    /// The formula that the firmware conforms to a specification.
    pub(super) fn conforms(
        &mut self,
        automaton: &SpecificationAutomaton,
        alphabet: Option<&[String]>,
        relation: Relation,
        deadlock: bool,
    ) -> Result<Bound, PropertyError> {
        let letters = self.letters(automaton, alphabet)?;
        let (mut data, mut answers) = (Vec::new(), Vec::new());
        for state in &automaton.states {
            let own = state.data.as_ref().map(|text| self.data(text, &state.name)).transpose()?;
            data.push(own.filter(|_| !is_on(Fault::DataIgnored)));
            let mut own = Vec::new();
            for it in &state.moves {
                let Some(on) = &it.on else { continue };
                let (event, atom, compares) = self.event_of(on, &state.name)?;
                let letter = letters.iter().position(|letter| letter.event == event);
                let letter = letter.ok_or_else(|| at(SpecificationError::NotInAlphabet, on, &state.name))?;
                let to = automaton.closure(&States::from([it.to]));
                own.push(Answer { letter, condition: compares.then_some(atom), to });
            }
            answers.push(own);
        }
        let goes_on = deadlock.then(|| some_event(&letters));
        let conditions = answers.iter().flatten().filter_map(|answer| answer.condition);
        let values: BTreeMap<AtomId, Vec<Truth>> =
            conditions.map(|condition| (condition, self.values(condition))).collect();
        let equations = Equations {
            automaton,
            relation: if is_on(Fault::SetsForStates) { Relation::Traces } else { relation },
            letters: &letters,
            data: &data,
            answers: &answers,
            goes_on,
            values: &values,
            variables: BTreeMap::new(),
            names: BTreeSet::new(),
            waiting: VecDeque::new(),
            size: 0,
        };
        let formula = equations.formula()?;
        self.own_text = Some(self.expanded(&formula));
        let text = |letter: &Letter| (letter.atom, self.table.get(letter.atom).text().to_owned());
        let letters = letters.iter().map(text).collect();
        self.monitor = Some(Arc::new(Monitor { automaton: automaton.clone(), letters, data, answers, values }));
        Ok(formula)
    }

    /// The events of the alphabet, or those of the specification, each once.
    fn letters(
        &mut self,
        automaton: &SpecificationAutomaton,
        alphabet: Option<&[String]>,
    ) -> Result<Vec<Letter>, PropertyError> {
        let mut letters: Vec<Letter> = Vec::new();
        let mut add = |event: Event, atom: AtomId| {
            let is_new = letters.iter().all(|known| known.event != event);
            if is_new {
                letters.push(Letter { event, atom });
            }
            is_new
        };
        match alphabet {
            Some(texts) => {
                for text in texts {
                    let parsed = parse_predicate(text);
                    let bound = self.bound(text, parsed)?;
                    let kind = |kind| PropertyErrorKind::Specification(kind).at(whole(text), text);
                    let (event, atom, compares) =
                        self.as_event(&bound).ok_or_else(|| kind(SpecificationError::NotAnEvent))?;
                    if compares {
                        return Err(kind(SpecificationError::ComparedInAlphabet));
                    }
                    if !add(event, atom) {
                        return Err(PropertyErrorKind::Duplicate(text.clone()).at(whole(text), text));
                    }
                }
            }
            None => {
                for (state, text) in automaton.events() {
                    let (event, ..) = self.event_of(text, state)?;
                    let shown = event_text(&text.text);
                    let atom = self.atom(&shown, AtomKind::Event(event.clone(), None));
                    add(event, atom);
                }
            }
        }
        match letters.is_empty() {
            true => Err(PropertyErrorKind::Specification(SpecificationError::EmptyAlphabet).error()),
            false => Ok(letters),
        }
    }

    /// The event of a move, its atom, and whether its value is compared.
    pub(super) fn event_of(&mut self, text: &PlacedText, state: &str) -> Result<(Event, AtomId, bool), PropertyError> {
        let title = format!("state {state}");
        let bound = self.bound(&text.text, parse_predicate(&text.text));
        let bound = bound.map_err(|error| error.of_property(&title, Some(&text.place)))?;
        self.as_event(&bound).ok_or_else(|| at(SpecificationError::NotAnEvent, text, state))
    }

    /// The event that a formula is, its atom, and whether its value is compared.
    fn as_event(&self, formula: &Bound) -> Option<(Event, AtomId, bool)> {
        let Formula::Atom(atom) = formula else { return None };
        match self.table.get(*atom).kind() {
            AtomKind::Event(event, condition) => Some((event.clone(), *atom, condition.is_some())),
            _ => None,
        }
    }

    /// The data of a state.
    fn data(&mut self, text: &PlacedText, state: &str) -> Result<Bound, PropertyError> {
        let title = format!("state {state}");
        let bound = self.bound(&text.text, parse_predicate(&text.text));
        let bound = bound.map_err(|error| error.of_property(&title, Some(&text.place)))?;
        let names_event = |atom: &&AtomId| matches!(self.table.get(**atom).kind(), AtomKind::Event(..));
        if bound.atoms().iter().any(names_event) {
            return Err(at(SpecificationError::EventInData, text, state));
        }
        if !bound.is_boolean() {
            return Err(at(SpecificationError::NotData, text, state));
        }
        Ok(bound)
    }

    /// The truth of the comparison of an event for each byte that it may have.
    pub(super) fn values(&self, atom: AtomId) -> Vec<Truth> {
        self.table.get(atom).truths_of_values()
    }
}

/// An error at a text of the specification.
fn at(kind: SpecificationError, text: &PlacedText, state: &str) -> PropertyError {
    PropertyErrorKind::Specification(kind).at_place(text.place.clone()).of_property(&format!("state {state}"), None)
}

fn whole(text: &str) -> mu_calculus::Span {
    mu_calculus::Span::new(0, text.len())
}

/// The event in the text of its comparison, as in `write(UDR0) & 0xf0 == 0x10`.
fn event_text(text: &str) -> String {
    let begin = ["write", "read", "call", "return", "interrupt"].iter().filter_map(|name| text.find(name)).min();
    let rest = &text[begin.unwrap_or(0)..];
    let mut nesting = 0_usize;
    for (position, sign) in rest.char_indices() {
        match sign {
            '(' => nesting += 1,
            ')' if nesting == 1 => return rest[..=position].to_owned(),
            ')' => nesting = nesting.saturating_sub(1),
            _ => {}
        }
    }
    text.to_owned()
}

/// `<>EF (some event of the alphabet)`: an event can still come.
fn some_event(letters: &[Letter]) -> Bound {
    let mut atoms: Vec<Bound> = letters.iter().map(|letter| Formula::Atom(letter.atom)).collect();
    let any = if atoms.len() == 1 { atoms.remove(0) } else { Formula::Or(atoms) };
    let eventually = Formula::Path(PathQuantifier::Exists, PathOperator::Eventually, Box::new(any));
    Formula::Modal(Modality::Diamond, Box::new(eventually))
}

/// The equations of a specification while they are being made.
struct Equations<'a> {
    automaton: &'a SpecificationAutomaton,
    relation: Relation,
    letters: &'a [Letter],
    data: &'a [Option<Bound>],
    answers: &'a [Vec<Answer>],
    /// The formula that an event can still come, if deadlocks are looked for.
    goes_on: Option<Bound>,
    values: &'a BTreeMap<AtomId, Vec<Truth>>,
    /// The variable of each set of states, of which the events before a position of the alphabet are answered.
    variables: BTreeMap<(Option<usize>, States), Variable>,
    names: BTreeSet<String>,
    waiting: VecDeque<(Option<usize>, States)>,
    /// The parts of the formula so far.
    size: usize,
}

impl Equations<'_> {
    fn formula(mut self) -> Result<Bound, PropertyError> {
        let first = self.end(&self.automaton.first())?;
        let mut equations = Vec::new();
        while let Some(key) = self.waiting.pop_front() {
            let variable = self.variables[&key].clone();
            let body = match key {
                (None, states) => self.state(&states)?,
                (Some(letter), states) => self.answered(letter, &states)?,
            };
            equations.push((variable, body));
        }
        Ok(Formula::Equations(FixedPoint::Greatest, equations, Box::new(first)))
    }

    /// The formula of a state, or of a set of states whose data are told by the way to it.
    fn state(&mut self, states: &States) -> Result<Bound, PropertyError> {
        let mut parts = Vec::new();
        if self.relation == Relation::Simulation {
            parts.extend(states.iter().filter_map(|state| self.data[*state].clone()));
        }
        let may_stop = states.iter().any(|state| self.automaton.states[*state].may_stop) || is_on(Fault::StopsAnywhere);
        parts.extend(self.goes_on.clone().filter(|_| !may_stop));
        let answers = self.answered(0, &self.automaton.closure(states))?;
        parts.push(Formula::Modal(Modality::Box, Box::new(answers)));
        Ok(if parts.len() == 1 { parts.remove(0) } else { Formula::And(parts) })
    }

    /// The answers to the events from a position of the alphabet on.
    fn answered(&mut self, letter: usize, states: &States) -> Result<Bound, PropertyError> {
        self.count()?;
        let Some(asked) = self.letters.get(letter) else { return self.end(states) };
        let atom = asked.atom;
        let came = self.moved(letter, states)?;
        let stayed = self.answered(letter + 1, states)?;
        Ok(choice(Formula::Atom(atom), came, stayed))
    }

    /// The answers where an event came.
    fn moved(&mut self, letter: usize, states: &States) -> Result<Bound, PropertyError> {
        let answers: &[Vec<Answer>] = self.answers;
        let own = states.iter().flat_map(|state| &answers[*state]).filter(|answer| answer.letter == letter);
        let (mut to, mut conditional) = (States::new(), BTreeMap::<AtomId, States>::new());
        for answer in own {
            let target = match answer.condition.filter(|_| !is_on(Fault::ValuesIgnored)) {
                Some(condition) => conditional.entry(condition).or_default(),
                None => &mut to,
            };
            target.extend(&answer.to);
        }
        if to.is_empty() && conditional.is_empty() && is_on(Fault::UnansweredPassed) {
            to.extend(states);
        }
        let conditional: Vec<(AtomId, States)> = conditional.into_iter().collect();
        self.compared(letter, &conditional, to, &(0..=u8::MAX).collect::<Vec<_>>())
    }

    /// The answers to an event by its value, which may be one of these.
    ///
    /// SOUND: the value of an event is one byte. A comparison that no byte left makes true, or none makes false, is not asked.
    fn compared(
        &mut self,
        letter: usize,
        conditional: &[(AtomId, States)],
        to: States,
        bytes: &[u8],
    ) -> Result<Bound, PropertyError> {
        self.count()?;
        let Some(((condition, more), rest)) = conditional.split_first() else { return self.after(letter + 1, &to) };
        let truths = &self.values[condition];
        let left = |excluded: Truth| -> Vec<u8> {
            bytes.iter().copied().filter(|byte| truths[usize::from(*byte)] != excluded).collect()
        };
        let (when, unless) = (left(Truth::False), left(Truth::True));
        let moved: States = to.union(more).copied().collect();
        if unless.is_empty() {
            return self.compared(letter, rest, moved, &when);
        }
        if when.is_empty() {
            return self.compared(letter, rest, to, &unless);
        }
        let p = self.compared(letter, rest, moved, &when)?;
        let q = self.compared(letter, rest, to, &unless)?;
        Ok(choice(Formula::Atom(*condition), p, q))
    }

    /// The answers to what follows in the same step, after a move.
    fn after(&mut self, letter: usize, states: &States) -> Result<Bound, PropertyError> {
        if states.is_empty() {
            return Ok(Formula::Constant(false));
        }
        if letter == self.letters.len() {
            return self.end(states);
        }
        Ok(self.variable(Some(letter), states))
    }

    /// The states in which the specification may be after a step.
    fn end(&mut self, states: &States) -> Result<Bound, PropertyError> {
        match self.relation {
            Relation::Simulation => {
                let mut some: Vec<Bound> =
                    states.iter().map(|state| self.variable(None, &States::from([*state]))).collect();
                Ok(match some.len() {
                    0 => Formula::Constant(false),
                    1 => some.remove(0),
                    _ => Formula::Or(some),
                })
            }
            Relation::Traces => {
                let with_data: Vec<usize> = states.iter().copied().filter(|it| self.data[*it].is_some()).collect();
                self.filtered(&with_data, states)
            }
        }
    }

    /// The set of those states whose data are true.
    fn filtered(&mut self, asked: &[usize], states: &States) -> Result<Bound, PropertyError> {
        self.count()?;
        let Some((state, rest)) = asked.split_first() else {
            return Ok(if states.is_empty() { Formula::Constant(false) } else { self.variable(None, states) });
        };
        let Some(data) = self.data[*state].clone() else { return self.filtered(rest, states) };
        let without: States = states.iter().copied().filter(|other| other != state).collect();
        let (p, q) = (self.filtered(rest, states)?, self.filtered(rest, &without)?);
        Ok(choice(data, p, q))
    }

    /// The variable of a set of states.
    fn variable(&mut self, letter: Option<usize>, states: &States) -> Bound {
        let key = (letter, states.clone());
        if let Some(known) = self.variables.get(&key) {
            return Formula::Variable(known.clone());
        }
        let names: Vec<&str> = states.iter().map(|state| self.automaton.states[*state].name.as_str()).collect();
        let mut name = names.join("_or_");
        if name.len() > MAX_NAME {
            name = format!("set_of_{}", states.len());
        }
        if letter.is_some() {
            name = format!("moved_to_{name}");
        }
        let mut unique = name.clone();
        let mut number = 2;
        while !self.names.insert(unique.clone()) {
            unique = format!("{name}_{number}");
            number += 1;
        }
        let variable = Variable::new(&unique);
        self.variables.insert(key.clone(), variable.clone());
        self.waiting.push_back(key);
        Formula::Variable(variable)
    }

    /// Counts a part of the formula.
    fn count(&mut self) -> Result<(), PropertyError> {
        self.size += 1;
        if self.size > MAX_SIZE / 4 {
            let reason = format!("the formula of {} grows too large: it compares too many values", self.automaton.name);
            return Err(PropertyErrorKind::GrowsTooLarge(reason).error());
        }
        Ok(())
    }
}

/// `if a then p else q`, or p where both are the same.
fn choice(condition: Bound, p: Bound, q: Bound) -> Bound {
    if p == q { p } else { Formula::Choice(Box::new(condition), Box::new(p), Box::new(q)) }
}
