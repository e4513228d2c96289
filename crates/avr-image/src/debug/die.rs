//! Functions, variables and enumerators (DWARF 4 standard, sections 3.3, 4.1 and 5).

use std::sync::Arc;

use gimli::{AttributeValue, DwAt, DwTag, EntriesRaw, Operation, UnitOffset, constants as dw};

use super::{DebugFunction, DebugInfo, Dwarf, Problem, Slice, Unit};
use crate::placement::DATA_OFFSET;
use crate::types::{Member, Scalar, Type};

/// Entries with more attributes than any compiler writes would make reading quadratic.
const MAX_ATTRIBUTES: usize = 256;
/// Names longer than this are not used.
const MAX_NAME_BYTES: usize = 1024;
const MAX_FUNCTIONS: usize = 1 << 16;
const MAX_NAMES: usize = 1 << 18;
/// The most entries that are read for the type of one variable.
const MAX_TYPE_ENTRIES: usize = 4096;
/// The most entries that are read for the types of all variables: each may have a name.
const MAX_ALL_TYPE_ENTRIES: usize = 1 << 18;
/// The most structures and arrays around each other.
const MAX_NESTED_TYPES: usize = 16;
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
    // The functions that enclose an entry, with their depths.
    let mut scopes: Vec<(isize, String)> = Vec::new();
    while !entries.is_empty() {
        let depth = entries.next_depth();
        let Some(die) = next(&mut entries)? else { continue };
        while scopes.last().is_some_and(|(outer, _)| *outer >= depth) {
            scopes.pop();
        }
        match die.tag {
            dw::DW_TAG_subprogram => {
                let function = function(dwarf, unit, &die)?;
                info.functions.extend(function.filter(|function| function.start > 0 || !zero_is_taken));
                scopes.extend(name_of(dwarf, unit, &die)?.map(|name| (depth, name)));
            }
            dw::DW_TAG_inlined_subroutine => {
                scopes.extend(name_of(dwarf, unit, &die)?.map(|name| (depth, name)));
            }
            dw::DW_TAG_variable => {
                let left = MAX_TYPE_ENTRIES.min(MAX_ALL_TYPE_ENTRIES - info.type_entries);
                let mut unread = left;
                let found = variable(dwarf, unit, &die, &mut unread);
                info.type_entries += left - unread;
                if let Some((address, of)) = found? {
                    let scope = scopes.last().map(|(_, function)| function);
                    if let (Some(function), Some(name)) = (scope, name_of(dwarf, unit, &die)?) {
                        info.locals.push((format!("{function}::{name}"), address));
                    }
                    info.types.insert(address, of);
                }
            }
            dw::DW_TAG_enumerator => {
                if let (Some(name), Some(value)) = (name_of(dwarf, unit, &die)?, constant(&die, dw::DW_AT_const_value))
                {
                    info.enumerators.entry(name).or_default().insert(value);
                }
            }
            _ => {}
        }
        if info.functions.len() > MAX_FUNCTIONS {
            return Err(Problem::Limit("too many functions"));
        }
        if info.locals.len() + info.enumerators.len() > MAX_NAMES {
            return Err(Problem::Limit("too many names of variables and enumerators"));
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

/// The linker's address and the type of a variable that lies at a fixed address.
/// `left` entries may be read.
fn variable<'a>(
    dwarf: &Dwarf<'a>,
    unit: &Unit<'a>,
    die: &Die<'a>,
    left: &mut usize,
) -> Result<Option<(u32, Type)>, Problem> {
    let Some(AttributeValue::Exprloc(expression)) = die.value(dw::DW_AT_location) else { return Ok(None) };
    let mut operations = expression.operations(unit.encoding());
    let (Some(Operation::Address { address }), None) = (operations.next()?, operations.next()?) else {
        return Ok(None);
    };
    let Ok(address) = u32::try_from(address) else { return Ok(None) };
    let Some(AttributeValue::UnitRef(of)) = inherited(unit, die, &[dw::DW_AT_type])? else { return Ok(None) };
    Ok(Some((address, type_at(dwarf, unit, of, 0, left)?.0)))
}

/// A type and its size in bytes, behind its names and qualifiers; 0 where the size is not known. `left` entries may be read.
fn type_at<'a>(
    dwarf: &Dwarf<'a>,
    unit: &Unit<'a>,
    mut offset: UnitOffset,
    depth: usize,
    left: &mut usize,
) -> Result<(Type, u32), Problem> {
    for _ in 0..MAX_REFERENCES {
        *left = left.saturating_sub(1);
        if depth > MAX_NESTED_TYPES || *left == 0 {
            return Ok((Type::Other, 0));
        }
        let Some(die) = entry(unit, offset)? else { return Ok((Type::Other, 0)) };
        let bytes = constant(&die, dw::DW_AT_byte_size).and_then(|bytes| u32::try_from(bytes).ok()).unwrap_or(0);
        let signed = match die.tag {
            dw::DW_TAG_typedef | dw::DW_TAG_const_type | dw::DW_TAG_volatile_type | dw::DW_TAG_atomic_type => {
                let Some(next) = die.reference(dw::DW_AT_type) else { return Ok((Type::Other, 0)) };
                offset = next;
                continue;
            }
            dw::DW_TAG_pointer_type => Some(false),
            dw::DW_TAG_enumeration_type => has_negative(unit, offset, left)?.then_some(true),
            dw::DW_TAG_base_type => match signedness(&die) {
                Some(signed) => Some(signed),
                None => return Ok((Type::Other, bytes)),
            },
            dw::DW_TAG_array_type => return array(dwarf, unit, (&die, offset), depth, left),
            dw::DW_TAG_structure_type | dw::DW_TAG_union_type | dw::DW_TAG_class_type => {
                let members = members(dwarf, unit, offset, depth, left)?;
                return Ok((Type::Struct(members.into()), bytes));
            }
            _ => return Ok((Type::Other, bytes)),
        };
        let scalar = size(&die).map(|bytes| Type::Scalar(Scalar { bytes, signed }));
        return Ok((scalar.unwrap_or(Type::Other), bytes));
    }
    Ok((Type::Other, 0))
}

/// An array with one dimension after the other.
fn array<'a>(
    dwarf: &Dwarf<'a>,
    unit: &Unit<'a>,
    (die, offset): (&Die<'a>, UnitOffset),
    depth: usize,
    left: &mut usize,
) -> Result<(Type, u32), Problem> {
    let Some(of) = die.reference(dw::DW_AT_type) else { return Ok((Type::Other, 0)) };
    let (mut element, mut bytes) = type_at(dwarf, unit, of, depth + 1, left)?;
    let mut counts = Vec::new();
    children(unit, offset, left, &mut |child, _| {
        if child.tag == dw::DW_TAG_subrange_type {
            let last = constant(child, dw::DW_AT_upper_bound).map(|last| last + 1);
            let count = constant(child, dw::DW_AT_count).or(last);
            counts.push(count.and_then(|count| u32::try_from(count).ok()));
        }
        Ok(())
    })?;
    if bytes == 0 {
        return Ok((Type::Other, 0));
    }
    for count in counts.into_iter().rev() {
        element = Type::Array { element: Arc::new(element), stride: bytes, count };
        bytes = bytes.saturating_mul(count.unwrap_or(0));
    }
    Ok((element, bytes))
}

/// The members of a structure or a union, in their order.
fn members<'a>(
    dwarf: &Dwarf<'a>,
    unit: &Unit<'a>,
    offset: UnitOffset,
    depth: usize,
    left: &mut usize,
) -> Result<Vec<Member>, Problem> {
    let mut found = Vec::new();
    children(unit, offset, left, &mut |child, _| {
        if child.tag == dw::DW_TAG_member
            && let Some(of) = child.reference(dw::DW_AT_type)
        {
            let place = match child.value(dw::DW_AT_data_member_location) {
                None => Some(0),
                Some(_) => constant(child, dw::DW_AT_data_member_location),
            };
            let is_bits = child.value(dw::DW_AT_bit_size).is_some();
            let name = child.value(dw::DW_AT_name).map(|name| dwarf.attr_string(unit, name)).transpose()?;
            let name = name.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            found.push((name, place.and_then(|place| u32::try_from(place).ok()), of, is_bits));
        }
        Ok(())
    })?;
    let mut members = Vec::new();
    for (name, place, of, is_bits) in found {
        let Some(offset) = place.filter(|_| name.len() <= MAX_NAME_BYTES) else { continue };
        let of = if is_bits { Type::Other } else { type_at(dwarf, unit, of, depth + 1, left)?.0 };
        members.push(Member { name, offset, of });
    }
    Ok(members)
}

/// Calls `visit` with the direct children of an entry.
fn children<'a>(
    unit: &Unit<'a>,
    offset: UnitOffset,
    left: &mut usize,
    visit: &mut dyn FnMut(&Die<'a>, isize) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let mut entries = unit.entries_raw(Some(offset))?;
    let own = entries.next_depth();
    next(&mut entries)?;
    while !entries.is_empty() && *left > 0 {
        let depth = entries.next_depth();
        if depth <= own {
            break;
        }
        *left -= 1;
        if let Some(child) = next(&mut entries)?
            && depth == own + 1
        {
            visit(&child, depth)?;
        }
    }
    Ok(())
}

/// True for an enumeration with a negative value.
fn has_negative(unit: &Unit<'_>, offset: UnitOffset, left: &mut usize) -> Result<bool, Problem> {
    let mut found = false;
    children(unit, offset, left, &mut |child, _| {
        found |= constant(child, dw::DW_AT_const_value).is_some_and(|value| value < 0);
        Ok(())
    })?;
    Ok(found)
}

/// The name of an entry or of the one that it completes, as the source has it.
fn name_of<'a>(dwarf: &Dwarf<'a>, unit: &Unit<'a>, die: &Die<'a>) -> Result<Option<String>, Problem> {
    let Some(name) = inherited(unit, die, &[dw::DW_AT_name])? else { return Ok(None) };
    let name = dwarf.attr_string(unit, name)?;
    let is_usable = !name.is_empty() && name.len() <= MAX_NAME_BYTES;
    Ok(is_usable.then(|| name.to_string_lossy().into_owned()))
}

/// A constant attribute.
fn constant(die: &Die<'_>, name: DwAt) -> Option<i64> {
    match die.value(name)? {
        AttributeValue::Data1(value) => Some(value.into()),
        AttributeValue::Data2(value) => Some(value.into()),
        AttributeValue::Data4(value) => Some(value.into()),
        AttributeValue::Data8(value) => i64::try_from(value).ok(),
        AttributeValue::Sdata(value) => Some(value),
        AttributeValue::Udata(value) => i64::try_from(value).ok(),
        _ => None,
    }
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
