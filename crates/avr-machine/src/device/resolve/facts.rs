//! Watchdog, sleep, fuses and the like; a fact about an absent register is left out.

use avr_isa::{Feature, FeatureSet};

use super::names::{Names, TableError};
use crate::device::source::{
    ConditionSource, CoreSource, DeviceSource, FuseResetSource, ResetEffectSource, UnmodelledSource,
};
use crate::device::{
    BitRef, ClockPrescaler, Core, Corruption, Eeprom, FuseReset, PinChanges, PinFunctions, ResetEffect,
    SelfProgramming, Shifter, Sleep, TimerPin, Unmodelled, Watchdog,
};

/// The core; what follows from its architecture comes from the instruction table.
pub(super) fn core(source: &CoreSource) -> Result<Core, TableError> {
    let CoreSource { architecture, vector_words } = *source;
    let features = FeatureSet::architecture(architecture);
    let features = features.ok_or_else(|| TableError::unknown("architecture", architecture))?;
    let pc_bytes = if features.contains(Feature::Pc22) { 3 } else { 2 };
    Ok(Core { architecture, features, pc_bytes, vector_words })
}

/// The registers whose reset value depends on a fuse.
pub(super) fn fuse_resets(source: &DeviceSource, names: &Names) -> Result<Vec<FuseReset>, TableError> {
    let lines = source.fuse_resets.iter().map(|line| fuse_reset(source, line, names));
    lines.filter_map(Result::transpose).collect()
}

/// One of them.
fn fuse_reset(source: &DeviceSource, line: &FuseResetSource, names: &Names) -> Result<Option<FuseReset>, TableError> {
    if !source.fuses.iter().any(|fuse| fuse.name == line.fuse) {
        return Err(TableError::unknown("fuse", line.fuse));
    }
    let mask = names.mask(line.register, &line.bits)?;
    if (line.programmed | line.unprogrammed) & !mask != 0 {
        return Err(TableError::register(line.register, "a fuse sets bits that it does not determine"));
    }
    Ok(names.address(line.register)?.map(|address| FuseReset {
        fuse: line.fuse,
        address,
        mask,
        programmed: line.programmed,
        unprogrammed: line.unprogrammed,
        locked_when_programmed: line.locked_when_programmed,
    }))
}

/// The effects of the reset causes.
pub(super) fn reset_effects(source: &DeviceSource, names: &Names) -> Result<Vec<ResetEffect>, TableError> {
    let lines = source.reset_effects.iter().map(|line| reset_effect(line, names));
    lines.filter_map(Result::transpose).collect()
}

/// The effect of one reset cause.
fn reset_effect(line: &ResetEffectSource, names: &Names) -> Result<Option<ResetEffect>, TableError> {
    let mask = |bits: &[&str]| names.mask(line.register, bits);
    let (sets, keeps, undefined) = (mask(&line.sets)?, mask(&line.keeps)?, mask(&line.undefined)?);
    let address = names.address(line.register)?;
    Ok(address.map(|address| ResetEffect { cause: line.cause, address, sets, keeps, undefined }))
}

/// The watchdog.
pub(super) fn watchdog(source: &DeviceSource, names: &Names) -> Result<Option<Watchdog>, TableError> {
    let Some(source) = &source.watchdog else { return Ok(None) };
    let reset_enable = names.bit(source.reset_enable)?;
    let interrupt_enable = names.bit(source.interrupt_enable)?;
    let (reset_flag, prescaler) = (names.bit(source.reset_flag)?, names.bits(&source.prescaler)?);
    Ok((|| {
        Some(Watchdog {
            reset_enable: reset_enable?,
            interrupt_enable: interrupt_enable?,
            reset_flag: reset_flag?,
            prescaler: prescaler?,
            timeout_cycles: source.timeout_cycles.clone(),
            oscillator_hertz: source.oscillator_hertz,
        })
    })())
}

/// The sleep modes.
pub(super) fn sleep(source: &DeviceSource, names: &Names) -> Result<Option<Sleep>, TableError> {
    let Some(source) = &source.sleep else { return Ok(None) };
    let mode_mask = names.mask(source.register, &source.mode_bits)?;
    let place = names.bit(source.enable)?.zip(names.address(source.register)?);
    let mut starts = Vec::new();
    for (bit, condition, modes) in &source.starts {
        if let Some(bit) = names.bit(bit)? {
            starts.push((bit, names.condition(condition, None)?, modes.clone()));
        }
    }
    let modes = source.modes.clone();
    Ok(place.map(|(enable, mode_address)| Sleep { enable, mode_address, mode_mask, modes, starts }))
}

/// The clock prescaler.
pub(super) fn clock_prescaler(source: &DeviceSource, names: &Names) -> Result<Option<ClockPrescaler>, TableError> {
    let Some(source) = &source.clock_prescaler else { return Ok(None) };
    let mask = names.mask(source.register, &source.bits)?;
    let address = names.address(source.register)?;
    Ok(address.map(|address| ClockPrescaler { address, mask, divisions: source.divisions.clone() }))
}

/// Self-programming.
pub(super) fn self_programming(source: &DeviceSource, names: &Names) -> Result<Option<SelfProgramming>, TableError> {
    let Some(source) = &source.self_programming else { return Ok(None) };
    let mut operations = Vec::new();
    for (operation, bit) in &source.operations {
        operations.extend(names.bit(bit)?.map(|bit| (*operation, bit)));
    }
    let places = names.bit(source.enable)?.zip(names.bits(&source.redirects_lpm)?);
    let signature = source.signature.map_or(Ok(None), |name| names.bit(name))?;
    Ok(places.map(|(enable, redirects_lpm)| SelfProgramming {
        enable,
        operations,
        redirects_lpm,
        signature,
        only_from_boot_section: source.only_from_boot_section,
    }))
}

/// The bits whose change may corrupt registers.
pub(super) fn corruptions(source: &DeviceSource, names: &Names) -> Result<Vec<Corruption>, TableError> {
    let mut corruptions = Vec::new();
    for line in &source.corruptions {
        if let Some(when_changed) = names.bit(line.when_changed)? {
            let mut registers = Vec::new();
            for register in &line.registers {
                registers.extend(names.address(register)?);
            }
            corruptions.push(Corruption { when_changed, registers });
        }
    }
    Ok(corruptions)
}

/// The bits that switch on what no model follows.
pub(super) fn unmodelled(source: &DeviceSource, names: &Names) -> Result<Vec<Unmodelled>, TableError> {
    let bit = |line: &UnmodelledSource| {
        Ok(names.bit(line.when_set)?.map(|when_set| Unmodelled { when_set, what: line.what }))
    };
    source.unmodelled.iter().filter_map(|line| bit(line).transpose()).collect()
}

/// The functions of pins.
pub(super) fn pins(source: &DeviceSource, names: &Names) -> Result<PinFunctions, TableError> {
    let reset = source.pins.reset.map_or(Ok(None), |name| names.bit(name))?;
    let mut external = Vec::new();
    for (interrupt, pin) in &source.pins.external {
        if !source.interrupts.iter().any(|line| line.name == *interrupt) {
            return Err(TableError::unknown("interrupt", interrupt));
        }
        external.extend(names.bit(pin)?.map(|pin| (*interrupt, pin)));
    }
    let mut changes = Vec::new();
    for (pins, mask, flag) in &source.pins.changes {
        if let Some(((pins, mask), flag)) = names.address(pins)?.zip(names.address(mask)?).zip(names.bit(flag)?) {
            changes.push(PinChanges { pins, of: 0xff, mask, shift: 0, flag });
        }
    }
    for (pins, of, mask, shift, flag) in &source.pins.shifted_changes {
        if let Some(((pins, mask), flag)) = names.address(pins)?.zip(names.address(mask)?).zip(names.bit(flag)?) {
            changes.push(PinChanges { pins, of: *of, mask, shift: *shift, flag });
        }
    }
    let clocks = timer_pins(&source.pins.clocks, names)?;
    let captures = timer_pins(&source.pins.captures, names)?;
    Ok(PinFunctions { reset, external, changes, clocks, captures })
}

/// Pins at whose edges timers look.
fn timer_pins(lines: &[(u8, &'static str, ConditionSource)], names: &Names) -> Result<Vec<TimerPin>, TableError> {
    let mut pins = Vec::new();
    for (timer, pin, condition) in lines {
        if names.address(&format!("TCCR{timer}B"))?.is_none() {
            continue;
        }
        if let Some(pin) = names.bit(pin)? {
            pins.push(TimerPin { timer: *timer, pin, driven_while: names.condition(condition, None)? });
        }
    }
    Ok(pins)
}

/// The EEPROM.
pub(super) fn eeprom(source: &DeviceSource, names: &Names) -> Result<Option<Eeprom>, TableError> {
    let Some(source) = &source.eeprom else { return Ok(None) };
    let Some((read, program)) = names.bit(source.read)?.zip(names.bit(source.program)?) else { return Ok(None) };
    let Some((data, address_low)) = names.address(source.data)?.zip(names.address(source.address_low)?) else {
        return Ok(None);
    };
    let address_high = source.address_high.map_or(Ok(None), |name| names.address(name))?;
    let register = source.program.split('.').next().unwrap_or_default();
    let mode_mask = names.mask(register, &source.mode_bits)?;
    Ok(Some(Eeprom { read, program, mode_mask, data, address_low, address_high }))
}

/// The shift register that strobes clock.
pub(super) fn shifter(source: &DeviceSource, names: &Names) -> Result<Option<Shifter>, TableError> {
    let Some(source) = &source.shifter else { return Ok(None) };
    let (register, counted) = &source.counter;
    let counted = counted.iter().rev().map(|bit| Ok(names.mask(register, &[bit])?.trailing_zeros() as u8));
    let counted: Vec<u8> = counted.collect::<Result<_, TableError>>()?;
    let (toggling, toggled, toggles_while) = &source.toggles;
    let bits = names.bits(&[source.strobe, source.overflow, source.input, toggling, toggled])?;
    let registers = names.address(register)?.zip(names.address(source.data)?).zip(names.address(source.buffer)?);
    let (port, driven) = &source.drives;
    let drives = names.address(port)?.zip(Some(names.mask(port, driven)?));
    let strobed_while = names.condition(&source.strobed_while, None)?;
    let toggles_while = names.condition(toggles_while, None)?;
    Ok(bits.zip(registers).zip(drives).map(|((bits, ((counter, data), buffer)), drives)| Shifter {
        strobe: bits[0],
        strobed_while,
        counter: (counter, counted),
        overflow: bits[1],
        data,
        input: bits[2],
        buffer,
        toggles: (bits[3], bits[4], toggles_while),
        drives,
    }))
}

/// The other names of bits.
pub(super) fn aliases(source: &DeviceSource, names: &Names) -> Result<Vec<(&'static str, BitRef)>, TableError> {
    let mut aliases = Vec::new();
    for (alias, bit) in &source.aliases {
        aliases.extend(names.bit(bit)?.map(|bit| (*alias, bit)));
    }
    Ok(aliases)
}
