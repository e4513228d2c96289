//! The formula that a firmware can do all that an automaton does: the automaton is simulated by the firmware.
//!
//! A state Q of the automaton says: each of its moves can be shown, after some silent steps, such that the state that the move
//! leads to is true then. `Q = <>(…)` for each move, as a greatest fixed point over all states; the silent steps are a least one.
//! SOUND: where it is true of some initial content, each word of the automaton is one of the firmware.

use std::collections::BTreeSet;

use crate::automaton::{EventAutomaton, EventMove, Seen};
use crate::faults::{Fault, is_on};

/// So many values are asked for one by one.
const FEW_VALUES: usize = 4;

impl EventAutomaton {
    /// The formula that the firmware can show each sequence of events that the automaton has, whatever its initial content.
    #[must_use]
    pub fn ability(&self) -> String {
        self.ability_from(&self.initial)
    }

    /// The formulas of the same for the sequences from each of the initial states.
    #[must_use]
    pub fn abilities(&self) -> Vec<String> {
        self.initial.iter().map(|state| self.ability_from(&[*state])).collect()
    }

    /// The formula that is decided only where it is known which initial content has which ability. It is true of every firmware.
    #[must_use]
    pub fn known_abilities(&self) -> String {
        let all = if self.initial.len() > FEW_VALUES { vec![self.ability()] } else { self.abilities() };
        let parts: Vec<String> = all.iter().map(|ability| format!("(({ability}) || !({ability}))")).collect();
        parts.join(" && ")
    }

    fn ability_from(&self, states: &[usize]) -> String {
        let equations: Vec<String> =
            (0..self.states.len()).map(|state| format!("Q{state}. {}", self.of_state(state))).collect();
        let first: Vec<String> = states.iter().map(|state| format!("Q{state}")).collect();
        format!("nu {{ {} }} in ({})", equations.join(", "), first.join(" && "))
    }

    fn of_state(&self, state: usize) -> String {
        let parts: BTreeSet<String> = self.states[state].iter().map(|it| self.of_move(it)).collect();
        if parts.is_empty() {
            return "true".to_owned();
        }
        format!("({})", parts.into_iter().collect::<Vec<_>>().join(" && "))
    }

    /// The formula that a move can be shown, with each of the values that its events may have. Where reads may have many values, there
    /// is one place at which each of them is possible.
    fn of_move(&self, it: &EventMove) -> String {
        let target = if is_on(Fault::OneEventOnly) { "true".to_owned() } else { format!("Q{}", it.to) };
        let steps: Vec<String> = self.exact(&it.step).into_iter().map(|step| format!("({step} && {target})")).collect();
        let silent = self.silent();
        let is_read = |seen: &Seen| self.letter(*seen).event.starts_with("read(");
        if steps.len() > FEW_VALUES && it.step.iter().all(is_read) {
            let all: Vec<String> = steps.iter().map(|step| format!("<>{step}")).collect();
            return format!("(mu W. (({}) || <>({silent} && W)))", all.join(" && "));
        }
        let each: Vec<String> = steps.iter().map(|step| format!("(mu W. <>({step} || ({silent} && W)))")).collect();
        each.join(" && ")
    }

    /// The conditions that a step has just these events, one for each combination of their values.
    fn exact(&self, step: &[Seen]) -> Vec<String> {
        let mut all = vec![String::new()];
        for (number, letter) in self.alphabet.letters.iter().enumerate() {
            let parts: Vec<String> = match step.iter().find(|seen| seen.letter == number) {
                None => vec![format!("!{}", letter.event)],
                Some(seen) => match letter.mask.filter(|_| !is_on(Fault::ValuesIgnored)) {
                    None => vec![letter.event.clone()],
                    Some(mask) => {
                        let exactly = |value| crate::Cube { mask, value }.comparison(&letter.event);
                        seen.cube.values(mask).map(exactly).collect()
                    }
                },
            };
            let with = |before: &String, part: &String| match before.as_str() {
                "" => part.clone(),
                before => format!("{before} && {part}"),
            };
            all = all.iter().flat_map(|before| parts.iter().map(move |part| with(before, part))).collect();
        }
        all
    }

    fn silent(&self) -> String {
        let none: Vec<String> = self.alphabet.letters.iter().map(|letter| format!("!{}", letter.event)).collect();
        none.join(" && ")
    }
}
