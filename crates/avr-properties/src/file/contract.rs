//! The field `contracts`: what functions may do, in place of their bodies.

use std::fmt;

use ron::value::RawValue;

use super::content::{ContractEntry, Pairs};
use super::{Origin, read, trimmed};
use crate::conformance::PlacedText;
use crate::contract_error::ContractError;
use crate::error::{PropertyError, PropertyErrorKind};

/// The contract of a function, as a property file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionContract {
    /// The function: its name, or the flash byte address of its entry.
    pub function: PlacedText,
    /// A condition about bytes after the return.
    pub returns: Option<PlacedText>,
    /// The variables and I/O registers that may have changed.
    pub writes: Vec<PlacedText>,
    /// The most bytes that the function takes on the stack, below its return address.
    pub stack: u16,
    /// The accesses to I/O registers and the calls that the function may make; any where it is left out.
    pub events: Option<Vec<PlacedText>>,
}

impl fmt::Display for FunctionContract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { function, returns, writes, stack, events } = self;
        write!(f, "the function {} returns", function.text)?;
        if let Some(returns) = returns {
            write!(f, " with {}", returns.text)?;
        }
        let listed = |texts: &[PlacedText], none: &str| {
            let texts: Vec<&str> = texts.iter().map(|it| it.text.as_str()).collect();
            if texts.is_empty() { none.to_owned() } else { texts.join(", ") }
        };
        write!(f, ", writes {}, takes at most {stack} bytes of stack", listed(writes, "nothing"))?;
        if let Some(events) = events {
            write!(f, ", causes {}", listed(events, "no events"))?;
        }
        f.write_str(", has no hazard and enables no interrupts")
    }
}

/// The contracts among the pairs of the field.
pub(super) fn contracts(pairs: &Pairs<'_>, origin: &Origin<'_>) -> Result<Vec<FunctionContract>, PropertyError> {
    let mut all: Vec<FunctionContract> = Vec::new();
    let placed = |raw: &RawValue| -> Result<PlacedText, PropertyError> {
        let part = trimmed(raw.get_ron());
        Ok(PlacedText { text: read(part, origin)?, place: origin.place_of(part) })
    };
    for (key, value) in &pairs.0 {
        let function = placed(key)?;
        let part = trimmed(value.get_ron());
        let entry: ContractEntry<'_> =
            super::options().from_str(part).map_err(|error| super::ron_error(&error, origin, part))?;
        let at_function = |kind: PropertyErrorKind| kind.at_place(function.place.clone());
        if all.iter().any(|other| other.function.text == function.text) {
            return Err(at_function(PropertyErrorKind::Duplicate(function.text.clone())));
        }
        if entry.enables == Some(true) {
            return Err(at_function(PropertyErrorKind::Contract(ContractError::Enables)));
        }
        let stack = entry.stack.ok_or_else(|| at_function(PropertyErrorKind::MissingField("stack")))?;
        all.push(FunctionContract {
            returns: entry.returns.map(placed).transpose()?,
            writes: entry.writes.into_iter().map(placed).collect::<Result<_, _>>()?,
            stack,
            events: entry.events.map(|events| events.into_iter().map(placed).collect::<Result<_, _>>()).transpose()?,
            function,
        });
    }
    Ok(all)
}
