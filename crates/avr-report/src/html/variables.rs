//! Variables and registers of the hardware as they are shown: by name, with their types.

use std::collections::{BTreeMap, BTreeSet};

use avr_image::{Scalar, Type};
use avr_isa::{DataAddress, Register};
use serde::{Serialize, Serializer};

use super::visible;
use crate::names::Names;

/// So many bytes of an array are shown.
const MAX_BYTES: u32 = 32;
/// Structures inside of structures are followed so far.
const MAX_DEPTH: u32 = 3;

/// Something with a name and a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Variable {
    name: String,
    /// The address of its first byte.
    #[serde(serialize_with = "number")]
    pub(super) start: DataAddress,
    /// The number of bytes that are shown.
    bytes: u32,
    kind: Kind,
}

/// The reading of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Unsigned,
    Signed,
    Bytes,
    /// A register of the hardware.
    Io,
}

fn number<S: Serializer>(address: &DataAddress, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u16(address.0)
}

/// The variables and registers that some cells belong to, by rising address, without those that begin at a known address.
/// Registers of the processor have a place of their own.
pub(super) fn variables(
    names: &Names<'_>,
    cells: &BTreeSet<DataAddress>,
    known: &BTreeSet<DataAddress>,
) -> Vec<Variable> {
    let mut all: BTreeMap<DataAddress, Variable> = BTreeMap::new();
    for cell in cells {
        if let Some(variable) = variable_at(names, *cell) {
            all.entry(variable.start).or_insert(variable);
        }
    }
    all.into_values().filter(|variable| !known.contains(&variable.start)).collect()
}

fn variable_at(names: &Names<'_>, cell: DataAddress) -> Option<Variable> {
    if Register::at(cell).is_some() {
        return None;
    }
    if let Some(register) = names.device.register_at(cell) {
        let is_of_processor = matches!(register.name, "SREG" | "SPL" | "SPH");
        let io = Variable { name: register.name.to_owned(), start: cell, bytes: 1, kind: Kind::Io };
        return (!is_of_processor).then_some(io);
    }
    let located = names.image.symbols.object_at(cell)?;
    let name = visible(located.symbol.base_name());
    let offset = u16::try_from(located.offset).ok()?;
    let start = DataAddress(cell.0.checked_sub(offset)?);
    let whole = Variable { name, start, bytes: located.symbol.size, kind: Kind::Unsigned };
    match (&located.symbol.of, located.symbol.scalar) {
        (Some(of), _) => Some(part(whole, of, located.offset, 0)),
        (None, Some(scalar)) => Some(of_scalar(whole, scalar)),
        (None, None) => Some(untyped(whole)),
    }
}

/// The part of a variable of a type that has a byte at an offset.
fn part(whole: Variable, of: &Type, offset: u32, depth: u32) -> Variable {
    match of {
        Type::Scalar(scalar) => of_scalar(whole, *scalar),
        Type::Struct(members) if depth < MAX_DEPTH => {
            let Some(member) = members.iter().rev().find(|member| member.offset <= offset) else {
                return untyped(whole);
            };
            let next = members.iter().map(|other| other.offset).filter(|start| *start > member.offset).min();
            let bytes = next.unwrap_or(whole.bytes).saturating_sub(member.offset);
            let name = match member.name.as_str() {
                "" => whole.name.clone(),
                own => format!("{}.{}", whole.name, visible(own)),
            };
            let inside = u16::try_from(member.offset).ok();
            let Some(start) = inside.and_then(|inside| whole.start.checked_add(inside)) else {
                return untyped(whole);
            };
            let inner = Variable { name, start, bytes, kind: Kind::Unsigned };
            part(inner, &member.of, offset - member.offset, depth + 1)
        }
        Type::Struct(_) | Type::Array { .. } | Type::Other => untyped(whole),
    }
}

fn of_scalar(whole: Variable, scalar: Scalar) -> Variable {
    let kind = if scalar.signed == Some(true) { Kind::Signed } else { Kind::Unsigned };
    Variable { bytes: scalar.bytes.into(), kind, ..whole }
}

/// Small things are numbers, large ones bytes.
fn untyped(whole: Variable) -> Variable {
    match whole.bytes {
        0 => Variable { bytes: 1, ..whole },
        1 | 2 => whole,
        bytes => Variable { bytes: bytes.min(MAX_BYTES), kind: Kind::Bytes, ..whole },
    }
}
