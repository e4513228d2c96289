//! The states in which a specification may be along a run.

use std::collections::{BTreeMap, BTreeSet};

use mu_calculus::{AtomId, Formula};
use three_valued::Truth;

use super::SpecificationAutomaton;

/// A specification with its events and data bound to atoms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Monitor {
    pub(crate) automaton: SpecificationAutomaton,
    /// The events of the alphabet with their texts, in order.
    pub(crate) letters: Vec<(AtomId, String)>,
    /// The data of each state.
    pub(crate) data: Vec<Option<Formula<AtomId>>>,
    /// The moves of each state that answer events.
    pub(crate) answers: Vec<Vec<Answer>>,
    /// The truth of each comparison for each byte that an event may have.
    pub(crate) values: BTreeMap<AtomId, Vec<Truth>>,
}

/// A move that answers an event: the letter, the comparison of its value, and the states that it leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) letter: usize,
    pub(crate) condition: Option<AtomId>,
    pub(crate) to: BTreeSet<usize>,
}

/// A step of a run in which the specification is beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The number of steps before.
    pub step: u64,
    /// The events of the alphabet in the step.
    pub events: Vec<String>,
    /// The names of the states in which the specification may be after it; none where it has no answer.
    pub states: Vec<String>,
}

impl Monitor {
    /// The moments of a run of so many steps at which an event came or the states of the specification changed, with the
    /// values of atoms in the state after so many steps. None where a value is not known.
    ///
    /// Atoms that the formula does not have are not asked for: events that it does not have change nothing.
    #[must_use]
    pub fn along(
        &self,
        steps: u64,
        formula: &[AtomId],
        value: &dyn Fn(AtomId, u64) -> Option<bool>,
    ) -> Option<Vec<Moment>> {
        let mut states = self.with_data(self.automaton.first(), &|atom| value(atom, 0))?;
        let mut moments = vec![self.moment(0, Vec::new(), &states)];
        for step in 1..=steps {
            if states.is_empty() {
                break;
            }
            let label = |atom| value(atom, step);
            let mut after = self.automaton.closure(&states);
            let mut events = Vec::new();
            for (letter, (atom, text)) in self.letters.iter().enumerate() {
                if formula.contains(atom) && label(*atom)? {
                    events.push(text.clone());
                    after = self.moved(&after, letter, &|atom| self.compared(atom, formula, &label))?;
                }
            }
            let after = self.with_data(after, &label)?;
            if !events.is_empty() || after != states {
                moments.push(self.moment(step, events, &after));
            }
            states = after;
        }
        Some(moments)
    }

    /// The value of a comparison of an event that came. Where the formula does not have it, other comparisons of the event tell it.
    fn compared(&self, atom: AtomId, formula: &[AtomId], label: &dyn Fn(AtomId) -> Option<bool>) -> Option<bool> {
        if formula.contains(&atom) {
            return label(atom);
        }
        let letter = self.answers.iter().flatten().find(|answer| answer.condition == Some(atom))?.letter;
        let all = self.answers.iter().flatten().filter(|answer| answer.letter == letter);
        let mut bytes: Vec<usize> = (0..256).collect();
        for other in all.filter_map(|answer| answer.condition).filter(|other| formula.contains(other)) {
            let excluded = Truth::from(!label(other)?);
            bytes.retain(|byte| self.values[&other][*byte] != excluded);
        }
        let mut truths = bytes.iter().map(|byte| self.values[&atom][*byte].known());
        let first = truths.next().flatten()?;
        truths.all(|truth| truth == Some(first)).then_some(first)
    }

    /// The states after an event.
    fn moved(
        &self,
        states: &BTreeSet<usize>,
        letter: usize,
        label: &dyn Fn(AtomId) -> Option<bool>,
    ) -> Option<BTreeSet<usize>> {
        let mut after = BTreeSet::new();
        for answer in states.iter().flat_map(|state| &self.answers[*state]).filter(|answer| answer.letter == letter) {
            if answer.condition.map_or(Some(true), label)? {
                after.extend(&answer.to);
            }
        }
        Some(after)
    }

    /// The states whose data are true.
    fn with_data(&self, states: BTreeSet<usize>, label: &dyn Fn(AtomId) -> Option<bool>) -> Option<BTreeSet<usize>> {
        let mut kept = BTreeSet::new();
        for state in states {
            if self.data[state].as_ref().map_or(Some(true), |data| truth(data, label))? {
                kept.insert(state);
            }
        }
        Some(kept)
    }

    fn moment(&self, step: u64, events: Vec<String>, states: &BTreeSet<usize>) -> Moment {
        let states = states.iter().map(|state| self.automaton.states[*state].name.clone()).collect();
        Moment { step, events, states }
    }
}

/// The claim that a run shows by its last moment: the specification has no answer. None if it has one.
#[must_use]
pub fn unanswered(moments: &[Moment]) -> Option<String> {
    let (last, before) = moments.split_last().filter(|(last, _)| last.states.is_empty())?;
    let when = match last.step {
        0 => "in the first state".to_owned(),
        1 => "after 1 step".to_owned(),
        steps => format!("after {steps} steps"),
    };
    let Some(before) = before.last() else {
        return Some(format!("{when} the data of no initial state of the specification are true"));
    };
    let states = before.states.join(" or ");
    Some(match last.events.as_slice() {
        [] => format!("{when} the data of the specification's state {states} are not true"),
        events => format!("{when} the specification in state {states} cannot answer {}", events.join(" and ")),
    })
}

/// The value of a formula about one state.
fn truth(formula: &Formula<AtomId>, label: &dyn Fn(AtomId) -> Option<bool>) -> Option<bool> {
    Some(match formula {
        Formula::Constant(value) => *value,
        Formula::Atom(atom) => label(*atom)?,
        Formula::Not(p) => !truth(p, label)?,
        Formula::And(parts) => all(parts, label)?.into_iter().all(|part| part),
        Formula::Or(parts) => all(parts, label)?.into_iter().any(|part| part),
        Formula::Implies(p, q) => !truth(p, label)? || truth(q, label)?,
        Formula::Iff(p, q) => truth(p, label)? == truth(q, label)?,
        Formula::Choice(condition, p, q) => truth(if truth(condition, label)? { p } else { q }, label)?,
        _ => return None,
    })
}

fn all(parts: &[Formula<AtomId>], label: &dyn Fn(AtomId) -> Option<bool>) -> Option<Vec<bool>> {
    parts.iter().map(|part| truth(part, label)).collect()
}
