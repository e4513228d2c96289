//! Functions and variables (DWARF 4 standard, sections 3.3, 4.1 and 5).

use gimli::{AttributeValue, DwAt, DwTag, EntriesRaw, Operation, UnitOffset, constants as dw};

use super::{DebugFunction, DebugInfo, Dwarf, Problem, Slice, Unit};
use crate::placement::DATA_OFFSET;
use crate::symbols::Scalar;

/// Entries with more attributes than any compiler writes would make reading quadratic.
const MAX_ATTRIBUTES: usize = 256;
/// Names longer than this are not used.
const MAX_NAME_BYTES: usize = 1024;
const MAX_FUNCTIONS: usize = 1 << 16;
/// `typedef`, `const`, `volatile` and references between entries; real types stay below 10.
const MAX_REFERENCES: usize = 32;

type Value<'a> = AttributeValue<Slice<'a>>;

/// One entry with its attributes.
struct Die<'a> {
    tag: DwTag,
    attributes: Vec<gimli::Attribute<Slice<'a>>>,
}

impl<'a> Die<'a> {
    fn value(&self, name: DwAt) -> Option<Value<'a>> {
        self.attributes.iter().find(|attribute| attribute.name() == name).map(gimli::Attribute::value)
    }

    fn reference(&self, name: DwAt) -> Option<UnitOffset> {
        match self.value(name)? {
            AttributeValue::UnitRef(offset) => Some(offset),
            _ => None,
        }
    }

    /// Another entry with the attributes that this one leaves out.
    fn origin(&self) -> Option<UnitOffset> {
        self.reference(dw::DW_AT_specification).or_else(|| self.reference(dw::DW_AT_abstract_origin))
    }
}

/// Reads the functions and variables of one unit.
pub(super) fn read<'a>(
    dwarf: &Dwarf<'a>,
    unit: &Unit<'a>,
    info: &mut DebugInfo,
    zero_is_taken: bool,
) -> Result<(), Problem> {
    let mut entries = unit.entries_raw(None)?;
    while !entries.is_empty() {
        let Some(die) = next(&mut entries)? else { continue };
        match die.tag {
            dw::DW_TAG_subprogram => {
                let function = function(dwarf, unit, &die)?;
                info.functions.extend(function.filter(|function| function.start > 0 || !zero_is_taken));
            }
            dw::DW_TAG_variable => info.scalars.extend(variable(unit, &die)?),
            _ => {}
        }
        if info.functions.len() > MAX_FUNCTIONS {
            return Err(Problem::Limit("too many functions"));
        }
    }
    Ok(())
}

/// The next entry; `None` for the mark that ends a list of children.
fn next<'a>(entries: &mut EntriesRaw<'_, Slice<'a>>) -> Result<Option<Die<'a>>, Problem> {
    let Some(abbreviation) = entries.read_abbreviation()? else { return Ok(None) };
    if abbreviation.attributes().len() > MAX_ATTRIBUTES {
        return Err(Problem::Limit("an entry has too many attributes"));
    }
    let mut attributes = Vec::new();
    entries.read_attributes(abbreviation.attributes(), &mut attributes)?;
    Ok(Some(Die { tag: abbreviation.tag(), attributes }))
}

fn entry<'a>(unit: &Unit<'a>, offset: UnitOffset) -> Result<Option<Die<'a>>, Problem> {
    next(&mut unit.entries_raw(Some(offset))?)
}

/// An attribute of an entry or of those that it completes.
fn inherited<'a>(unit: &Unit<'a>, die: &Die<'a>, names: &[DwAt]) -> Result<Option<Value<'a>>, Problem> {
    let found = |die: &Die<'a>| names.iter().find_map(|&name| die.value(name));
    if let Some(value) = found(die) {
        return Ok(Some(value));
    }
    let mut origin = die.origin();
    for _ in 0..MAX_REFERENCES {
        let Some(offset) = origin else { break };
        let Some(die) = entry(unit, offset)? else { break };
        if let Some(value) = found(&die) {
            return Ok(Some(value));
        }
        origin = die.origin();
    }
    Ok(None)
}

fn function<'a>(dwarf: &Dwarf<'a>, unit: &Unit<'a>, die: &Die<'a>) -> Result<Option<DebugFunction>, Problem> {
    let (Some(low), Some(high)) = (die.value(dw::DW_AT_low_pc), die.value(dw::DW_AT_high_pc)) else {
        return Ok(None);
    };
    let Some((start, size)) = reach(low, high) else { return Ok(None) };
    let names = [dw::DW_AT_linkage_name, dw::DW_AT_MIPS_linkage_name, dw::DW_AT_name];
    let Some(name) = inherited(unit, die, &names)? else { return Ok(None) };
    let name = dwarf.attr_string(unit, name)?;
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        return Ok(None);
    }
    Ok(Some(DebugFunction { name: name.to_string_lossy().into_owned(), start, size }))
}

/// First byte and size of a function in flash; the end is given as an address or as a distance.
fn reach(low: Value<'_>, high: Value<'_>) -> Option<(u32, u32)> {
    let AttributeValue::Addr(start) = low else { return None };
    let size = match high {
        AttributeValue::Addr(end) => end.checked_sub(start)?,
        other => other.udata_value()?,
    };
    let end = start.checked_add(size)?;
    let in_flash = size > 0 && end <= u64::from(DATA_OFFSET);
    in_flash.then_some((start as u32, size as u32))
}

/// The linker's address and the type of a scalar variable that lies at a fixed address.
fn variable<'a>(unit: &Unit<'a>, die: &Die<'a>) -> Result<Option<(u32, Scalar)>, Problem> {
    let Some(AttributeValue::Exprloc(expression)) = die.value(dw::DW_AT_location) else { return Ok(None) };
    let mut operations = expression.operations(unit.encoding());
    let (Some(Operation::Address { address }), None) = (operations.next()?, operations.next()?) else {
        return Ok(None);
    };
    let Ok(address) = u32::try_from(address) else { return Ok(None) };
    let Some(AttributeValue::UnitRef(of)) = inherited(unit, die, &[dw::DW_AT_type])? else { return Ok(None) };
    Ok(scalar(unit, of)?.map(|scalar| (address, scalar)))
}

/// The scalar that a type is, behind its names and qualifiers.
fn scalar(unit: &Unit<'_>, mut offset: UnitOffset) -> Result<Option<Scalar>, Problem> {
    for _ in 0..MAX_REFERENCES {
        let Some(die) = entry(unit, offset)? else { return Ok(None) };
        let signed = match die.tag {
            dw::DW_TAG_typedef | dw::DW_TAG_const_type | dw::DW_TAG_volatile_type | dw::DW_TAG_atomic_type => {
                let Some(next) = die.reference(dw::DW_AT_type) else { return Ok(None) };
                offset = next;
                continue;
            }
            dw::DW_TAG_pointer_type => Some(false),
            dw::DW_TAG_enumeration_type => None,
            dw::DW_TAG_base_type => match signedness(&die) {
                Some(signed) => Some(signed),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        return Ok(size(&die).map(|bytes| Scalar { bytes, signed }));
    }
    Ok(None)
}

fn size(die: &Die<'_>) -> Option<u8> {
    let bytes = die.value(dw::DW_AT_byte_size)?.udata_value()?;
    u8::try_from(bytes).ok().filter(|bytes| (1..=8).contains(bytes))
}

/// The signedness of a base type; `None` for types that are no integers.
fn signedness(die: &Die<'_>) -> Option<bool> {
    let AttributeValue::Encoding(encoding) = die.value(dw::DW_AT_encoding)? else { return None };
    match encoding {
        dw::DW_ATE_signed | dw::DW_ATE_signed_char => Some(true),
        dw::DW_ATE_unsigned | dw::DW_ATE_unsigned_char | dw::DW_ATE_boolean | dw::DW_ATE_UTF => Some(false),
        _ => None,
    }
}
