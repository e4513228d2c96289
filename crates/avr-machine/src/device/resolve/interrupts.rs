//! The interrupt table.

use super::names::{Names, TableError};
use crate::device::source::{DeviceSource, InterruptSource, RequestSource, WakeConditionSource};
use crate::device::{BitKind, BitRef, Condition, Flag, Freedom, Interrupt, Register, Request, WakeCondition};

/// The interrupt sources whose enable bit is present, after a check that the table has a line for every vector.
pub(super) fn resolve(
    source: &DeviceSource,
    names: &Names,
    registers: &[Register],
) -> Result<Vec<Interrupt>, TableError> {
    let mut interrupts = Vec::new();
    let numbers = (1..).filter(|number| !source.reserved_vectors.contains(number));
    for (number, line) in numbers.zip(&source.interrupts) {
        if line.number != number {
            return Err(TableError::Interrupt { interrupt: line.name, problem: "its number is not the next one" });
        }
        interrupts.extend(interrupt(source, line, names, registers)?);
    }
    Ok(interrupts)
}

/// One interrupt source; none if a register that it needs is absent.
fn interrupt(
    device: &DeviceSource,
    source: &InterruptSource,
    names: &Names,
    registers: &[Register],
) -> Result<Option<Interrupt>, TableError> {
    let Some(enable) = names.bit(source.enable)? else { return Ok(None) };
    let Some((request, raised_while, freedom)) = request(source, names, registers)? else { return Ok(None) };
    check_sleep_modes(device, source)?;
    Ok(Some(Interrupt {
        number: source.number,
        name: source.name,
        vector: u16::from(source.number) * u16::from(device.core.vector_words),
        enable,
        request,
        raised_while,
        level_while: names.condition(&source.level_while, None)?,
        freedom,
        entry_clears: entry_clears(source, names)?,
        wakes_from: source.wakes_from.clone(),
        wakes_if: wakes_if(source, names)?,
    }))
}

/// Refuses a sleep mode that the device does not have.
fn check_sleep_modes(device: &DeviceSource, source: &InterruptSource) -> Result<(), TableError> {
    let modes = device.sleep.as_ref().map_or(&[][..], |sleep| &sleep.modes);
    let conditional = source.wakes_if.iter().flat_map(|(modes, _)| modes);
    match source.wakes_from.iter().chain(conditional).find(|name| !modes.iter().any(|mode| mode.name == **name)) {
        Some(name) => Err(TableError::unknown("sleep mode", name)),
        None => Ok(()),
    }
}

/// The conditions of waking from some modes.
fn wakes_if(source: &InterruptSource, names: &Names) -> Result<Vec<(Vec<&'static str>, WakeCondition)>, TableError> {
    let mut all = Vec::new();
    for (modes, rule) in &source.wakes_if {
        let rule = match rule {
            WakeConditionSource::Only(condition) => WakeCondition::Only(names.condition(condition, None)?),
            WakeConditionSource::Surely(condition) => WakeCondition::Surely(names.condition(condition, None)?),
        };
        all.push((modes.clone(), rule));
    }
    Ok(all)
}

/// The request, when it can be made, and who determines that; a flag says the latter two itself.
fn request(
    source: &InterruptSource,
    names: &Names,
    registers: &[Register],
) -> Result<Option<(Request, Condition, Freedom)>, TableError> {
    let (name, build): (_, fn(BitRef) -> Request) = match &source.request {
        RequestSource::Latched(flag) => (flag, |flag| Request::Latched { flag }),
        RequestSource::Persistent(flag) => (flag, |flag| Request::Persistent { flag }),
        RequestSource::Condition { holds, freedom } => {
            let holds = names.condition(holds, None)?;
            let freedom = names.freedom(freedom, None)?;
            return Ok(Some((Request::Condition { holds: holds.clone() }, holds, freedom)));
        }
    };
    let Some(place) = names.bit(name)? else { return Ok(None) };
    let no_flag = TableError::Interrupt { interrupt: source.name, problem: "its request is not a bit of kind flag" };
    let (register, flag) = flag_at(registers, place).ok_or(no_flag)?;
    Ok(Some((build(place), raised_while(register, flag), flag.freedom.clone())))
}

/// The flag at a place, and its register.
fn flag_at(registers: &[Register], place: BitRef) -> Option<(&Register, &Flag)> {
    let register = registers.iter().find(|register| register.address == place.address)?;
    match &register.bits[usize::from(place.bit)].kind {
        BitKind::Flag(flag) => Some((register, flag)),
        _ => None,
    }
}

/// The condition under which hardware can raise a flag, all conditions together.
fn raised_while(register: &Register, flag: &Flag) -> Condition {
    let may_stay = Condition::Not(Box::new(flag.zero_while.clone()));
    Condition::All(vec![register.clocked_while.clone(), flag.raised_while.clone(), may_stay]).simplified()
}

/// The bits besides the flag that the entry clears.
fn entry_clears(source: &InterruptSource, names: &Names) -> Result<Vec<(BitRef, Condition)>, TableError> {
    let mut clears = Vec::new();
    for (bit, condition) in &source.entry_clears {
        if let Some(bit) = names.bit(bit)? {
            clears.push((bit, names.condition(condition, None)?));
        }
    }
    Ok(clears)
}
