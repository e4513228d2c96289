//! Conformance of systems: the sets of states in which a specification may be beside the runs of all nodes.
//!
//! Traces are compared: for each run of the system there is a run of the specification with the same events, and with data that are
//! true. So the specification is followed as the set of all states in which it may be (the subset construction), which a step of the
//! system leads to another one. The system conforms if no run leads to the empty set. Weak simulation is in [`crate::simulation`].

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use avr_properties::{Relation, SpecificationAutomaton};
use mu_calculus::{AtomId, Formula};
use rustc_hash::FxHashMap;
use three_valued::Truth;

use crate::composition::Space;
use crate::edges::Mover;
use crate::faults::{Fault, is_on};

/// The most sets that one step may lead to, where it is not known what the step showed.
const MAX_SETS: usize = 256;
/// The most runs that are sought to what has no answer.
const CANDIDATES: usize = 8;

/// States of a specification, by number.
pub(crate) type States = BTreeSet<usize>;

/// A specification whose events and data are bound to atoms of all nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conformance {
    pub(crate) automaton: SpecificationAutomaton,
    pub(crate) relation: Relation,
    /// The events of the alphabet with their texts, in order.
    pub(crate) letters: Vec<(AtomId, String)>,
    /// By state: the condition that is true as long as the specification is in it.
    pub(crate) data: Vec<Option<Formula<AtomId>>>,
    /// By state: the moves that answer events.
    pub(crate) answers: Vec<Vec<Answer>>,
}

/// A move that answers an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The number of the event in the alphabet.
    pub(crate) letter: usize,
    /// The comparison of its value; none if every value is answered.
    pub(crate) condition: Option<Condition>,
    /// The state that it leads to.
    pub(crate) to: usize,
}

/// A comparison of the value of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    pub(crate) atom: AtomId,
    /// Its truth for each byte that the event may have.
    pub(crate) values: Vec<Truth>,
}

/// A step of the composition: a state, the number of a hyper-edge and of a member.
pub(crate) type Step = (u32, usize, usize);

/// The outcome of following a specification.
pub(crate) enum Followed {
    /// The ways to steps that have no answer: the first few.
    Unanswered(Vec<Vec<Step>>),
    /// Every step has an answer.
    Answered,
    /// It was given up, for this reason.
    GivenUp(String),
}

/// A moment of a run at which events came or the specification moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Beside {
    /// The texts of the events of the step.
    pub(crate) events: Vec<String>,
    /// The names of the states in which the specification may be after it; none where it has no answer.
    pub(crate) states: Vec<String>,
}

/// The truth of atoms in the state that a step enters, and of conditions there.
pub(crate) struct Labels<'a> {
    pub(crate) atom: &'a dyn Fn(u32, AtomId) -> Truth,
    pub(crate) condition: &'a dyn Fn(u32, &Formula<AtomId>) -> Truth,
}

impl Conformance {
    /// Follows the specification along all paths; along those only of which it is known what they show, if that is asked for.
    pub(crate) fn follow(
        &self,
        space: &Space<'_>,
        labels: &Labels<'_>,
        (only_known, limit): (bool, usize),
        is_over: &dyn Fn() -> bool,
    ) -> Followed {
        let given_up = |reason: &str| Followed::GivenUp(reason.to_owned());
        let mut numbers: FxHashMap<(u32, States), usize> = FxHashMap::default();
        let mut found: Vec<(u32, States)> = Vec::new();
        let mut from: Vec<Option<(usize, Step)>> = Vec::new();
        let (mut waiting, mut unanswered) = (VecDeque::new(), Vec::new());
        let Some(first) = self.with_data(vec![(self.automaton.first(), true)], 0, labels) else {
            return given_up("too much is not known of the first state");
        };
        let mut add = |key: (u32, States), before: Option<(usize, Step)>, found: &mut Vec<_>, from: &mut Vec<_>| {
            let count = numbers.len();
            let number = *numbers.entry(key.clone()).or_insert(count);
            if number == count {
                found.push(key);
                from.push(before);
            }
            (number, number == count)
        };
        for (states, _) in first.into_iter().filter(|(_, known)| *known || !only_known) {
            waiting.push_back(add((0, states), None, &mut found, &mut from).0);
        }
        while let Some(number) = waiting.pop_front() {
            let (state, states) = found[number].clone();
            if states.is_empty() {
                unanswered.push(way(number, &from));
                if unanswered.len() == CANDIDATES || !only_known {
                    return Followed::Unanswered(unanswered);
                }
                continue;
            }
            if found.len() > limit || is_over() {
                return given_up("a limit was hit while the specification was followed");
            }
            if let Some((_, reason)) = space.end(state).filter(|_| !only_known) {
                return Followed::GivenUp(format!("a path ends: {reason}"));
            }
            for (edge, taken) in space.edges.of(state).enumerate() {
                for (index, member) in taken.members.iter().enumerate() {
                    // Runs lose the character that is new.
                    if only_known && index > 0 && matches!(taken.mover, Mover::Arrive(_)) {
                        continue;
                    }
                    let Some(after) = self.after(&states, *member, labels) else {
                        if only_known {
                            continue;
                        }
                        return given_up("too much is not known of what a step shows");
                    };
                    for (states, _) in after.into_iter().filter(|(_, known)| *known || !only_known) {
                        let step = Some((number, (state, edge, index)));
                        let (number, is_new) = add((*member, states), step, &mut found, &mut from);
                        if is_new {
                            waiting.push_back(number);
                        }
                    }
                }
            }
        }
        if unanswered.is_empty() { Followed::Answered } else { Followed::Unanswered(unanswered) }
    }

    /// The sets of states in which the specification may be after a step into a state, each with true if that is known; none if they are
    /// too many.
    pub(crate) fn after(&self, states: &States, state: u32, labels: &Labels<'_>) -> Option<Vec<(States, bool)>> {
        self.with_data(self.answered(states, state, labels)?, state, labels)
    }

    /// The same, whatever the data of the states are.
    pub(crate) fn answered(&self, states: &States, state: u32, labels: &Labels<'_>) -> Option<Vec<(States, bool)>> {
        let mut sets = vec![(self.automaton.closure(states), true)];
        for (letter, (atom, _)) in self.letters.iter().enumerate() {
            let mut next = Vec::new();
            for (states, known) in sets {
                let came = (labels.atom)(state, *atom);
                if came != Truth::True {
                    next.push((states.clone(), known && came == Truth::False));
                }
                if came != Truth::False {
                    let moved = self.moved(letter, &states, state, labels)?;
                    next.extend(moved.into_iter().map(|(to, sure)| (to, known && sure && came == Truth::True)));
                }
            }
            sets = next;
            if sets.len() > MAX_SETS {
                return None;
            }
        }
        Some(sets)
    }

    /// The sets of states after an event.
    fn moved(&self, letter: usize, states: &States, state: u32, labels: &Labels<'_>) -> Option<Vec<(States, bool)>> {
        let answers: Vec<&Answer> =
            states.iter().flat_map(|state| &self.answers[*state]).filter(|answer| answer.letter == letter).collect();
        if answers.is_empty() && is_on(Fault::UnansweredPassed) {
            return Some(vec![(states.clone(), true)]);
        }
        let always = answers.iter().filter(|answer| answer.condition.is_none()).map(|answer| answer.to);
        // The bytes that the event may have, with the states that these lead to.
        let mut cases = vec![((0..256).collect::<Vec<usize>>(), always.collect::<States>(), true)];
        let mut conditions: BTreeMap<AtomId, (&Condition, States)> = BTreeMap::new();
        for answer in &answers {
            if let Some(condition) = &answer.condition {
                conditions.entry(condition.atom).or_insert_with(|| (condition, States::new())).1.insert(answer.to);
            }
        }
        for (condition, to) in conditions.into_values() {
            let truth = (labels.atom)(state, condition.atom);
            let mut next = Vec::new();
            for (bytes, states, known) in cases {
                for value in [true, false].into_iter().filter(|value| truth != Truth::from(!*value)) {
                    // SOUND: the value of an event is one byte. A case that no byte is left for is none.
                    let left = |byte: &usize| condition.values[*byte] != Truth::from(!value);
                    let bytes: Vec<usize> = bytes.iter().copied().filter(left).collect();
                    let states = if value { states.union(&to).copied().collect() } else { states.clone() };
                    if !bytes.is_empty() {
                        next.push((bytes, states, known && truth != Truth::Unknown));
                    }
                }
            }
            cases = next;
            if cases.len() > MAX_SETS {
                return None;
            }
        }
        Some(cases.into_iter().map(|(_, states, known)| (self.automaton.closure(&states), known)).collect())
    }

    /// The sets without the states whose data are false.
    fn with_data(&self, sets: Vec<(States, bool)>, state: u32, labels: &Labels<'_>) -> Option<Vec<(States, bool)>> {
        let mut all = Vec::new();
        for (states, known) in sets {
            let mut cases = vec![(States::new(), known)];
            for one in states {
                let truth = self.data[one].as_ref().map_or(Truth::True, |data| (labels.condition)(state, data));
                let mut more = Vec::new();
                for (kept, known) in &mut cases {
                    if truth == Truth::Unknown {
                        *known = false;
                        more.push((kept.clone(), false));
                    }
                    if truth != Truth::False {
                        kept.insert(one);
                    }
                }
                cases.extend(more);
                if cases.len() > MAX_SETS {
                    return None;
                }
            }
            all.extend(cases);
        }
        Some(all)
    }

    /// The moments along a way at which events came or the specification moved, each with the number of steps before; none if something
    /// about them is not known.
    pub(crate) fn along(&self, states: &[u32], labels: &Labels<'_>) -> Option<Vec<(usize, Beside)>> {
        let known = |sets: Option<Vec<(States, bool)>>| match sets?.as_slice() {
            [(states, true)] => Some(states.clone()),
            _ => None,
        };
        let (first, rest) = states.split_first()?;
        let mut now = known(self.with_data(vec![(self.automaton.first(), true)], *first, labels))?;
        let mut all = vec![(0, Beside { events: Vec::new(), states: self.names(&now) })];
        for (step, state) in rest.iter().enumerate() {
            let after = known(self.after(&now, *state, labels))?;
            let came = self.letters.iter().filter(|(atom, _)| (labels.atom)(*state, *atom) == Truth::True);
            let events: Vec<String> = came.map(|(_, text)| text.clone()).collect();
            if !events.is_empty() || after.is_empty() {
                all.push((step + 1, Beside { events, states: self.names(&after) }));
            }
            now = after;
        }
        now.is_empty().then_some(all)
    }

    fn names(&self, states: &States) -> Vec<String> {
        states.iter().map(|state| self.automaton.states[*state].name.clone()).collect()
    }
}

/// The steps that lead to what was found, by the one before each.
fn way(mut number: usize, from: &[Option<(usize, Step)>]) -> Vec<Step> {
    let mut steps = Vec::new();
    while let Some((before, step)) = from[number] {
        steps.push(step);
        number = before;
    }
    steps.reverse();
    steps
}
