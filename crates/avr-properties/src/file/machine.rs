//! The field `environment`: events that may come at any moment, and machines that drive inputs.

use std::fmt;
use std::sync::Arc;

use ron::value::RawValue;

use super::content::{EnvironmentEntry, EnvironmentEvent};
use super::{Origin, options, read, ron_error, trimmed};
use crate::conformance::{PlacedText, SpecificationAutomaton, TAU};
use crate::error::PropertyError;
use crate::place::Place;

/// A machine outside of the device that drives some of its inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentMachine {
    /// The path of the specification file, as the property file has it.
    pub spec: String,
    /// The registers and bits that it drives.
    pub drives: Vec<PlacedText>,
    pub(crate) place: Place,
    pub(crate) automaton: Option<Arc<SpecificationAutomaton>>,
}

impl EnvironmentMachine {
    /// The machine with all of its moves, in one line.
    pub(crate) fn whole_text(&self) -> String {
        let Some(automaton) = &self.automaton else { return self.to_string() };
        let name = |state: usize| automaton.states[state].name.as_str();
        let initial: Vec<&str> = automaton.initial.iter().map(|state| name(*state)).collect();
        let mut parts = vec![format!("{self} (initial {})", initial.join(", "))];
        for state in &automaton.states {
            for it in &state.moves {
                let on = it.on.as_ref().map_or(TAU, |on| on.text.trim());
                parts.push(format!("{} to {} on {on}", state.name, name(it.to)));
            }
        }
        parts.join("; ")
    }
}

impl fmt::Display for EnvironmentMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let drives: Vec<&str> = self.drives.iter().map(|driven| driven.text.as_str()).collect();
        write!(f, "the machine {} drives {}", self.spec, drives.join(", "))
    }
}

/// The events and the machines among the entries.
pub(super) fn environment(
    entries: &[&RawValue],
    origin: &Origin<'_>,
) -> Result<(Vec<EnvironmentEvent>, Vec<EnvironmentMachine>), PropertyError> {
    let (mut events, mut machines) = (Vec::new(), Vec::new());
    for raw in entries {
        let part = raw.get_ron();
        let entry: EnvironmentEntry<'_> = options().from_str(part).map_err(|error| ron_error(&error, origin, part))?;
        match entry {
            EnvironmentEntry::Reset => events.push(EnvironmentEvent::Reset),
            EnvironmentEntry::BrownOut => events.push(EnvironmentEvent::BrownOut),
            EnvironmentEntry::Machine { spec, drives } => {
                let place_of = |raw: &RawValue| origin.place_of(trimmed(raw.get_ron()));
                let driven =
                    |raw: &&RawValue| Ok(PlacedText { text: read(raw.get_ron(), origin)?, place: place_of(raw) });
                machines.push(EnvironmentMachine {
                    spec: read(spec.get_ron(), origin)?,
                    drives: drives.iter().map(driven).collect::<Result<_, PropertyError>>()?,
                    place: place_of(spec),
                    automaton: None,
                });
            }
        }
    }
    Ok((events, machines))
}
