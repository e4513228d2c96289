//! The automaton as a specification file.

use std::collections::BTreeSet;

use crate::automaton::{EventAutomaton, EventMove, Seen};
use crate::extraction::TooLarge;

/// The most states of a specification.
pub const MAX_STATES: usize = 1_000;

/// A state as it is written: its name, and its moves.
struct Written {
    name: String,
    moves: Vec<(String, usize)>,
}

impl EventAutomaton {
    /// The names of the states: what comes last before each.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<Option<String>> = vec![None; self.states.len()];
        let mut used = BTreeSet::new();
        let mut waiting = Vec::new();
        for (count, state) in self.initial.iter().enumerate() {
            let name = if count == 0 { "start".to_owned() } else { format!("start_{}", count + 1) };
            names[*state] = Some(unique(&name, &mut used));
            waiting.push(*state);
        }
        let mut next = 0;
        while next < waiting.len() {
            for it in &self.states[waiting[next]] {
                if names[it.to].is_none() {
                    names[it.to] = Some(unique(&format!("after_{}", self.step_name(&it.step)), &mut used));
                    waiting.push(it.to);
                }
            }
            next += 1;
        }
        names.into_iter().map(Option::unwrap_or_default).collect()
    }

    /// The events of a step as a part of a name.
    fn step_name(&self, step: &[Seen]) -> String {
        let mut name = String::new();
        for sign in step.iter().map(|seen| self.event_text(*seen)).collect::<Vec<_>>().join(" ").chars() {
            match sign {
                sign if sign.is_ascii_alphanumeric() => name.push(sign),
                _ if !name.ends_with('_') => name.push('_'),
                _ => {}
            }
        }
        name.trim_matches('_').to_owned()
    }

    /// The text of the specification file, after some lines of comment.
    ///
    /// # Errors
    /// If there are too many states.
    pub fn specification(&self, comment: &[String]) -> Result<String, TooLarge> {
        let written = self.written()?;
        let mut text: String = comment.iter().map(|line| format!("// {line}\n")).collect();
        let initial: Vec<String> = self.initial.iter().map(|state| format!("{:?}", written[*state].name)).collect();
        text.push_str(&format!("(\n    initial: [{}],\n    states: {{\n", initial.join(", ")));
        for state in &written {
            let moves: Vec<String> =
                state.moves.iter().map(|(on, to)| format!("(on: {on:?}, to: {:?})", written[*to].name)).collect();
            let name = &state.name;
            match moves.as_slice() {
                [] => text.push_str(&format!("        {name:?}: (),\n")),
                [only] => text.push_str(&format!("        {name:?}: (moves: [{only}]),\n")),
                moves => {
                    let lines: String = moves.iter().map(|one| format!("            {one},\n")).collect();
                    text.push_str(&format!("        {name:?}: (moves: [\n{lines}        ]),\n"));
                }
            }
        }
        text.push_str("    },\n)\n");
        Ok(text)
    }

    /// The states as they are written: a step with several events leads over states between them.
    fn written(&self) -> Result<Vec<Written>, TooLarge> {
        let names = self.names();
        let mut used: BTreeSet<String> = names.iter().cloned().collect();
        let mut written: Vec<Written> = names.into_iter().map(|name| Written { name, moves: Vec::new() }).collect();
        for (state, moves) in self.states.iter().enumerate() {
            for EventMove { step, to } in moves {
                let mut from = state;
                for (place, seen) in step.iter().enumerate() {
                    let next = if place + 1 == step.len() {
                        *to
                    } else {
                        let name = format!("within_{}", self.step_name(&step[..=place]));
                        written.push(Written { name: unique(&name, &mut used), moves: Vec::new() });
                        written.len() - 1
                    };
                    let moved = (self.event_text(*seen), next);
                    if !written[from].moves.contains(&moved) {
                        written[from].moves.push(moved);
                    }
                    from = next;
                }
                if written.len() > MAX_STATES {
                    return Err(TooLarge);
                }
            }
        }
        Ok(written)
    }
}

/// A name that no other state has.
fn unique(name: &str, used: &mut BTreeSet<String>) -> String {
    let mut unique = name.to_owned();
    let mut number = 2;
    while !used.insert(unique.clone()) {
        unique = format!("{name}_{number}");
        number += 1;
    }
    unique
}
