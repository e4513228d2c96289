//! The parts of a program that findings are about, as far as symbols and debug information tell.

use avr_analysis::torn_access::torn_accesses;
use avr_image::{Image, Symbol, SymbolKind, Type};
use avr_isa::{Addressing, DataAddress, FlashWordAddress, MemoryAccess};
use avr_machine::Machine;
use avr_witness::{Objects, Subjects, Window};
use std::collections::BTreeSet;
use std::ops::Range;

/// The subjects of an image. Without stores through pointers there are no objects.
pub(super) fn subjects(image: &Image, machine: &Machine) -> Subjects {
    let variables = variables(image, machine);
    let torn = torn_accesses(machine, machine.options().start, &variables);
    let window = |torn: avr_analysis::torn_access::TornAccess| Window {
        cells: variables[torn.variable].clone(),
        accesses: torn.accesses,
        is_write: torn.is_write,
        vectors: torn.vectors,
    };
    let section_code = section_code(image);
    let windows = torn.into_iter().map(window).collect();
    if !stores_through_pointers(machine, &section_code) {
        return Subjects { windows, ..Subjects::default() };
    }
    let functions: Vec<Range<u32>> = functions(image).collect();
    let objects = Objects::new(image.symbols.data().filter_map(|symbol| object(symbol, machine)));
    Subjects { has_stack_cells: !functions.is_empty(), objects, functions, section_code, windows }
}

/// The data addresses of all variables that the symbol table gives a size.
pub(super) fn all_variables(image: &Image, machine: &Machine) -> Vec<Range<DataAddress>> {
    image.symbols.data().filter_map(|symbol| cells(symbol, machine)).collect()
}

/// The data addresses of a variable that the symbol table gives a size.
fn cells(symbol: &Symbol, machine: &Machine) -> Option<Range<DataAddress>> {
    let start = symbol.place.data()?;
    let end = start.checked_add(u16::try_from(symbol.size).ok()?)?;
    let is_in_sram = machine.sram().contains(&start) && symbol.size > 0;
    (symbol.kind == SymbolKind::Object && is_in_sram).then_some(start..end)
}

/// An array or a structure. Where no type is known, a variable of two, four or eight bytes is taken for a number.
fn object(symbol: &Symbol, machine: &Machine) -> Option<Range<DataAddress>> {
    let is_aggregate = match &symbol.of {
        Some(of) => matches!(of, Type::Array { .. } | Type::Struct(_)),
        None => symbol.scalar.is_none() && !matches!(symbol.size, 2 | 4 | 8),
    };
    cells(symbol, machine).filter(|_| is_aggregate)
}

/// Numbers of two, four or eight bytes: variables, and members of structures. Without types, variables of two or four bytes.
fn variables(image: &Image, machine: &Machine) -> Vec<Range<DataAddress>> {
    let mut found = BTreeSet::new();
    for symbol in image.symbols.data() {
        let Some(cells) = cells(symbol, machine) else { continue };
        match &symbol.of {
            Some(of) => add_scalars(of, cells.start, &mut found),
            None if matches!(cells.end.offset_from(cells.start), Some(2 | 4)) => {
                _ = found.insert((cells.start, cells.end))
            }
            None => {}
        }
    }
    found.into_iter().map(|(start, end)| start..end).collect()
}

fn add_scalars(of: &Type, start: DataAddress, found: &mut BTreeSet<(DataAddress, DataAddress)>) {
    match of {
        Type::Scalar(scalar) if matches!(scalar.bytes, 2 | 4 | 8) => {
            found.extend(start.checked_add(scalar.bytes.into()).map(|end| (start, end)));
        }
        Type::Struct(members) => {
            for member in members.iter() {
                let offset = u16::try_from(member.offset).ok().and_then(|offset| start.checked_add(offset));
                offset.into_iter().for_each(|start| add_scalars(&member.of, start, found));
            }
        }
        Type::Scalar(_) | Type::Array { .. } | Type::Other => {}
    }
}

/// The flash word addresses of the functions whose sizes the file states.
fn functions(image: &Image) -> impl Iterator<Item = Range<u32>> + '_ {
    let functions = image.symbols.code().filter(|symbol| symbol.kind == SymbolKind::Function && symbol.size > 0);
    functions.filter_map(|symbol| words(image, symbol))
}

fn words(image: &Image, symbol: &Symbol) -> Option<Range<u32>> {
    let range = image.symbols.extent(symbol)?.range;
    Some(range.start.word().0..range.end.word().0)
}

/// The code of the start-up that clears and copies sections.
fn section_code(image: &Image) -> Vec<Range<u32>> {
    let is_section_code = |symbol: &&Symbol| symbol.name.trim_start_matches(['_', '.', 'L']).starts_with("do_");
    image.symbols.code().filter(is_section_code).filter_map(|symbol| words(image, symbol)).collect()
}

/// True if some store goes through a pointer outside of the code for sections.
fn stores_through_pointers(machine: &Machine, section_code: &[Range<u32>]) -> bool {
    let is_section_code = |address: FlashWordAddress| section_code.iter().any(|range| range.contains(&address.0));
    let mut stores = machine.program.instructions().filter(|(_, instruction)| {
        matches!(instruction.memory_access(), MemoryAccess::Store(Addressing::Indirect { .. }))
    });
    stores.any(|(address, _)| !is_section_code(address))
}
