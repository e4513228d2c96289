//! Variables and registers of the hardware as reports show them: by name, with their types.

use std::collections::{BTreeMap, BTreeSet};

use avr_image::{Located, Scalar, Type};
use avr_isa::{DataAddress, Register};
use serde::{Serialize, Serializer};

use crate::escape::Escaped;
use crate::names::Names;

/// So many bytes of an array are shown.
const MAX_BYTES: u32 = 32;
/// Structures inside of structures are followed so far.
const MAX_DEPTH: u32 = 3;

/// Something with a name and a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// The address of its first byte.
    #[serde(serialize_with = "number")]
    pub(crate) start: DataAddress,
    /// The number of bytes that are shown.
    pub(crate) bytes: u32,
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
pub(crate) fn variables(
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

/// The number that has a byte in a cell: a variable, a member or an element. None for a variable of one byte, and where the types
/// tell of no number.
pub(crate) fn number_at(names: &Names<'_>, cell: DataAddress) -> Option<Variable> {
    if Register::at(cell).is_some() || names.device.register_at(cell).is_some() {
        return None;
    }
    let (whole, located) = whole_at(names, cell)?;
    let end = u32::from(whole.start.0) + whole.bytes;
    let is_part = matches!(located.symbol.of, Some(Type::Struct(_) | Type::Array { .. }));
    let found = typed(whole, &located, Arrays::Elements);
    let is_number = matches!(found.kind, Kind::Unsigned | Kind::Signed);
    let has_cell = (found.start.0..).take(found.bytes as usize).any(|byte| byte == cell.0);
    let fits = u32::from(found.start.0) + found.bytes <= end && found.bytes <= u64::BITS / 8;
    (is_number && has_cell && fits && (is_part || found.bytes > 1)).then_some(found)
}

/// The parts of arrays that are told apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arrays {
    Whole,
    Elements,
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
    let (whole, located) = whole_at(names, cell)?;
    Some(typed(whole, &located, Arrays::Whole))
}

/// The variable that a cell belongs to, as if it had no type.
fn whole_at<'a>(names: &Names<'a>, cell: DataAddress) -> Option<(Variable, Located<'a>)> {
    let located = names.image.symbols.object_at(cell)?;
    let name = visible(located.symbol.base_name());
    let offset = u16::try_from(located.offset).ok()?;
    let start = DataAddress(cell.0.checked_sub(offset)?);
    Some((Variable { name, start, bytes: located.symbol.size, kind: Kind::Unsigned }, located))
}

/// The variable, or the part of it that has the cell, with its type.
fn typed(whole: Variable, located: &Located<'_>, arrays: Arrays) -> Variable {
    match (&located.symbol.of, located.symbol.scalar) {
        (Some(of), _) => part(whole, of, located.offset, (arrays, 0)),
        (None, Some(scalar)) => of_scalar(whole, scalar),
        (None, None) => untyped(whole),
    }
}

/// The part of a variable of a type that has a byte at an offset.
fn part(whole: Variable, of: &Type, offset: u32, (arrays, depth): (Arrays, u32)) -> Variable {
    match of {
        Type::Scalar(scalar) => of_scalar(whole, *scalar),
        Type::Struct(members) if depth < MAX_DEPTH => {
            let Some(member) = members.iter().rev().find(|member| member.offset <= offset) else {
                return untyped(whole);
            };
            // Members of a union, or fields of bits.
            if members.iter().filter(|other| other.offset == member.offset).count() > 1 {
                return untyped(whole);
            }
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
            part(inner, &member.of, offset - member.offset, (arrays, depth + 1))
        }
        Type::Array { element, stride, .. } if arrays == Arrays::Elements && depth < MAX_DEPTH => {
            let (Some(index), Some(inside)) = (offset.checked_div(*stride), offset.checked_rem(*stride)) else {
                return untyped(whole);
            };
            let start = u16::try_from(offset - inside).ok().and_then(|before| whole.start.checked_add(before));
            let Some(start) = start else { return untyped(whole) };
            let inner =
                Variable { name: format!("{}[{index}]", whole.name), start, bytes: *stride, kind: Kind::Unsigned };
            part(inner, element, inside, (arrays, depth + 1))
        }
        // A floating-point number, or a byte of which a field of bits has a part.
        Type::Other => Variable { bytes: whole.bytes.clamp(1, MAX_BYTES), kind: Kind::Bytes, ..whole },
        Type::Struct(_) | Type::Array { .. } => untyped(whole),
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

fn visible(text: &str) -> String {
    Escaped(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::number_at;
    use crate::names::Names;
    use avr_image::{DataAddress, Image, LoadOptions, SymbolPlace};
    use avr_machine::device::Device;
    use std::path::Path;

    fn image(name: &str) -> Image {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../firmware-samples").join(name);
        Image::load(path, &LoadOptions::new(0x8000, 0x400)).expect("a sample")
    }

    /// Expects the number at an offset from a symbol: its name, its offset from the symbol, and its bytes.
    #[track_caller]
    fn check(image: &Image, (symbol, offset): (&str, u16), expected: Option<(&str, u16, u32)>) {
        let names = Names { image, device: Device::named("atmega328p").expect("it exists") };
        let place = image.symbols.all().iter().find(|one| one.name == symbol).expect("the symbol is there").place;
        let SymbolPlace::Data(start) = place else { panic!("{symbol} is at {place:?}") };
        let found = number_at(&names, DataAddress(start.0 + offset));
        let found = found.as_ref().map(|found| (found.name.as_str(), found.start.0 - start.0, found.bytes));
        assert_eq!(found, expected, "{symbol}+{offset}");
    }

    #[test]
    fn members_elements_and_numbers_of_several_bytes_have_names() {
        let lamp = image("lamp/lamp.Og.elf");
        check(&lamp, ("ticks", 0), Some(("ticks", 0, 2)));
        check(&lamp, ("ticks", 1), Some(("ticks", 0, 2)));
        check(&lamp, ("cfg", 0), Some(("cfg.magic", 0, 1)));
        check(&lamp, ("cfg", 1), Some(("cfg.level", 1, 1)));
        check(&lamp, ("line", 3), Some(("line[3]", 3, 1)));
        // Its name says it all.
        check(&lamp, ("power", 0), None);
        let tasks = image("sketch-cooperative/sketch-cooperative.Og.elf");
        check(&tasks, ("tasks", 0), Some(("tasks[0].started", 0, 2)));
        check(&tasks, ("tasks", 3), Some(("tasks[0].period", 2, 2)));
        check(&tasks, ("tasks", 7), Some(("tasks[1].started", 6, 2)));
    }
}
