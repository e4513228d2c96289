//! From the text of a device file to a [`Device`]: reading, resolving names, refusing contradictions.

mod audit;
mod facts;
mod interrupts;
mod names;
mod promises;
mod registers;
#[cfg(test)]
mod tests;

use ron::extensions::Extensions;

use super::source::{DeviceSource, FileSource, RestrictionSource, VariantSource};
use super::{Bit, BitKind, Device, InterruptPolicy, Peripheral, Register};
#[cfg(test)]
pub(super) use audit::described_facts;
use names::Names;
pub(super) use names::TableError;

/// The content of a file.
pub(super) enum Loaded {
    /// A device of its own.
    Device(Box<Device>),
    /// A restriction of a device in another file.
    Restriction(RestrictionSource),
    /// A device of the family of one in another file.
    Variant(Box<VariantSource>),
}

/// Reads a device file.
///
/// # Errors
/// [`TableError`] if the text is no device file or contradicts itself.
pub(super) fn load(text: &'static str) -> Result<Loaded, TableError> {
    match parse(text)? {
        FileSource::Device(source) => Ok(Loaded::Device(Box::new(device(&source, None)?))),
        FileSource::Restriction(restriction) => Ok(Loaded::Restriction(restriction)),
        FileSource::Variant(variant) => Ok(Loaded::Variant(variant)),
    }
}

/// Reads the file of the base device and restricts it.
///
/// # Errors
/// [`TableError`] if the text is no file of a device of its own, or one of the two contradicts itself or the other.
pub(super) fn load_restriction(base: &'static str, restriction: &RestrictionSource) -> Result<Device, TableError> {
    let source = own(base)?;
    device(&source, Some(restriction))
}

/// Reads the file of the base device and makes the variant of it.
///
/// # Errors
/// [`TableError`] if the text is no file of a device of its own, or the variant changes a register that it does not have or contradicts it.
pub(super) fn load_variant(base: &'static str, variant: VariantSource) -> Result<Device, TableError> {
    let mut source = own(base)?;
    variant.apply(&mut source).map_err(|register| TableError::unknown("register", register))?;
    device(&source, None)
}

/// Reads the file of a device of its own.
fn own(text: &'static str) -> Result<Box<DeviceSource>, TableError> {
    let name = match parse(text)? {
        FileSource::Device(source) => return Ok(source),
        FileSource::Restriction(other) => other.name,
        FileSource::Variant(other) => other.name,
    };
    Err(TableError::unknown("device with a table of its own", name))
}

/// Reads the text; an optional field is written without `Some`.
pub(super) fn parse(text: &'static str) -> Result<FileSource, TableError> {
    let options = ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME);
    Ok(options.from_str(text)?)
}

/// Builds the device, restricted if asked.
fn device(source: &DeviceSource, restriction: Option<&RestrictionSource>) -> Result<Device, TableError> {
    let names = Names::new(source, restriction)?;
    let (registers, temp_bytes) = registers::resolve(source, &names)?;
    let by_address = index_by_address(&registers)?;
    check_room(source, &registers)?;
    let policy = restriction.map_or(source.policy, |restriction| restriction.policy);
    let interrupts = match policy.interrupts {
        InterruptPolicy::Modelled => interrupts::resolve(source, &names, &registers)?,
        InterruptPolicy::Forbidden => Vec::new(),
    };
    let promises = promises::resolve(source, &names, (&registers, &interrupts))?;
    Ok(Device {
        name: restriction.map_or(source.name, |restriction| restriction.name),
        data_sheet: source.data_sheet,
        like: source.like,
        signature: source.signature.into(),
        core: facts::core(&source.core)?,
        memory: source.memory,
        policy,
        peripherals: peripherals(source, &names, &registers)?,
        registers,
        pairs: registers::pairs(source, &names)?,
        temp_bytes,
        interrupts,
        promises,
        default_fuses: source.default_fuses,
        fuses: source.fuses.clone(),
        fuse_resets: facts::fuse_resets(source, &names)?,
        boot_sections: source.boot_sections.clone(),
        reset_effects: facts::reset_effects(source, &names)?,
        watchdog: facts::watchdog(source, &names)?,
        sleep: facts::sleep(source, &names)?,
        clock_prescaler: facts::clock_prescaler(source, &names)?,
        self_programming: facts::self_programming(source, &names)?,
        eeprom: facts::eeprom(source, &names)?,
        shifter: facts::shifter(source, &names)?,
        pins: facts::pins(source, &names)?,
        corruptions: facts::corruptions(source, &names)?,
        unmodelled: facts::unmodelled(source, &names)?,
        aliases: facts::aliases(source, &names)?,
        deciding_programs: audit::deciding_programs(source, &names)?,
        by_address,
    })
}

/// Refuses a device whose shared bytes or latched bits do not fit into the cells that a state has for them.
fn check_room(source: &DeviceSource, registers: &[Register]) -> Result<(), TableError> {
    let memory = &source.memory;
    let is_latched = |bit: &Bit| matches!(&bit.kind, BitKind::Input(input) if input.latched_by.is_some());
    let mut latched = registers.iter().filter(|register| register.bits.iter().any(is_latched));
    if let Some(register) = latched.nth(memory.pending_cells().len()) {
        return Err(TableError::register(register.name, "too many registers before it have bits that are latched"));
    }
    let room = memory.hidden_start().offset_from(memory.shared_start()).unwrap_or_default();
    let shares = |register: &&Register| registers::temp_of(register.access).is_some_and(|temp| u16::from(temp) >= room);
    match registers.iter().find(shares) {
        Some(register) => Err(TableError::register(register.name, "there are not so many shared bytes")),
        None => Ok(()),
    }
}

/// The peripherals of which a register is left.
fn peripherals(source: &DeviceSource, names: &Names, registers: &[Register]) -> Result<Vec<Peripheral>, TableError> {
    let present = |name| registers.iter().any(|register| register.peripheral == name);
    let left = source.peripherals.iter().filter(|peripheral| present(peripheral.name));
    left.map(|peripheral| {
        let clocked_while = names.condition(&peripheral.clocked_while, None)?;
        let lines = peripheral.lines.iter().filter_map(|line| names.bit(line).transpose()).collect::<Result<_, _>>()?;
        Ok(Peripheral { name: peripheral.name, clocked_while, lines })
    })
    .collect()
}

/// The index of each register plus one, by address; the registers must be in order.
fn index_by_address(registers: &[Register]) -> Result<Vec<u16>, TableError> {
    let end = registers.last().map_or(0, |register| register.address.index() + 1);
    let mut index = vec![0; end];
    for (number, register) in (1..).zip(registers) {
        let slot = &mut index[register.address.index()];
        if *slot != 0 {
            return Err(TableError::register(register.name, "another register has the same address"));
        }
        *slot = number;
    }
    Ok(index)
}
