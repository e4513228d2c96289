//! The columns that nobody needs to run a program: sections of the data sheet, and the programs that decide a line.

use std::collections::BTreeSet;

use super::names::{Layout, Names, TableError};
use super::registers::{numbers, only_named};
use crate::device::source::{DeviceSource, PairAccess, PairSource, PeripheralSource, RegisterSource};

/// The names of all programs that decide something. Every register must have its section, and every bit that is not
/// plain storage a program.
pub(super) fn deciding_programs(source: &DeviceSource, names: &Names) -> Result<BTreeSet<&'static str>, TableError> {
    let mut programs = BTreeSet::new();
    for peripheral in &source.peripherals {
        for register in &peripheral.registers {
            check_section(peripheral, register)?;
            check_bits(register, names.layout(register.name)?)?;
            programs.extend(register.decided_by.values().flatten());
        }
        for pair in &peripheral.pairs {
            programs.extend(pair_programs(pair)?);
        }
    }
    for interrupt in &source.interrupts {
        programs.extend(some(interrupt.name, &interrupt.decided_by)?);
    }
    for (what, section, decided_by) in described_facts(source) {
        if section.is_empty() {
            return Err(TableError::unknown("section of", what));
        }
        programs.extend(some(what, decided_by)?);
    }
    Ok(programs)
}

/// Refuses a register of which neither its own line nor its peripheral names the section.
fn check_section(peripheral: &PeripheralSource, register: &RegisterSource) -> Result<(), TableError> {
    match register.section.or(peripheral.section) {
        Some(section) if !section.is_empty() => Ok(()),
        _ => Err(TableError::register(register.name, "has no section of the data sheet")),
    }
}

/// Refuses a register with a bit that has a kind, has a rule or is hidden, and that no program decides.
fn check_bits(register: &RegisterSource, layout: &Layout) -> Result<(), TableError> {
    let hidden = if register.hidden { layout.mask("*")? } else { 0 };
    let mut special = register.kinds.keys().chain(register.rules.keys());
    let special = special.try_fold(hidden, |mask, list| Ok::<_, TableError>(mask | layout.mask(list)?))?;
    let mut decided = register.decided_by.iter().filter(|(_, programs)| !programs.is_empty());
    let decided =
        decided.try_fold(0, |mask, (list, _)| Ok::<_, TableError>(mask | only_named(register, layout, list)?))?;
    match numbers(special & !decided).filter_map(|bit| layout.bits[usize::from(bit)]).last() {
        Some(bit) => Err(TableError::register(register.name, format!("no program decides '{bit}'"))),
        None => Ok(()),
    }
}

/// The programs that decide how the halves of a pair depend on each other, if they do.
fn pair_programs(pair: &PairSource) -> Result<&[&'static str], TableError> {
    match pair.access {
        PairAccess::Separate => Ok(&pair.decided_by),
        PairAccess::Temp(_) | PairAccess::TempWrite(_) | PairAccess::Locked { .. } => some(pair.name, &pair.decided_by),
    }
}

/// The programs, of which there must be one.
fn some<'source>(what: &'static str, programs: &'source [&'static str]) -> Result<&'source [&'static str], TableError> {
    if programs.is_empty() { Err(TableError::Undecided { what }) } else { Ok(programs) }
}

/// The facts beside registers and interrupts: name, section of the data sheet and deciding programs of each.
pub(in crate::device) fn described_facts(source: &DeviceSource) -> Vec<(&'static str, &'static str, &[&'static str])> {
    let mut facts = Vec::new();
    facts.extend(source.watchdog.as_ref().map(|line| ("watchdog", line.section, &*line.decided_by)));
    facts.extend(source.sleep.as_ref().map(|line| ("sleep", line.section, &*line.decided_by)));
    facts.extend(source.clock_prescaler.as_ref().map(|line| ("clock_prescaler", line.section, &*line.decided_by)));
    facts.extend(source.self_programming.as_ref().map(|line| ("self_programming", line.section, &*line.decided_by)));
    facts.extend(source.eeprom.as_ref().map(|line| ("eeprom", line.section, &*line.decided_by)));
    facts.extend(source.shifter.as_ref().map(|line| ("shifter", line.section, &*line.decided_by)));
    facts.extend(source.promises.iter().map(|line| (line.bit, line.section, &*line.decided_by)));
    facts.extend(source.corruptions.iter().map(|line| ("corruptions", line.section, &*line.decided_by)));
    facts.extend(source.unmodelled.iter().map(|line| (line.what, line.section, &*line.decided_by)));
    facts
}
