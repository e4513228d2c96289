//! The promises of the data sheet.

use super::names::{Names, TableError};
use crate::device::source::{DeviceSource, PromiseSource};
use crate::device::{BitKind, BitRef, Condition, Interrupt, Promise, Promised, Register, Request};

/// The promises about registers that are present: for each bit that it changes, and each interrupt that the bit requests.
pub(super) fn resolve(
    source: &DeviceSource,
    names: &Names,
    (registers, interrupts): (&[Register], &[Interrupt]),
) -> Result<Vec<Promise>, TableError> {
    let mut promises = Vec::new();
    for line in &source.promises {
        let Some(bit) = names.bit(line.bit)? else { continue };
        let lasts = lasts(source, line, names)?;
        let mut untouched = vec![bit.address];
        for register in &line.untouched {
            untouched.extend(names.address(register)?);
        }
        untouched.sort_unstable();
        untouched.dedup();
        // SOUND: the entry of an interrupt clears its flag, before the program sees it.
        let clears = |interrupt: &&Interrupt| matches!(interrupt.request, Request::Latched { flag } if flag == bit);
        let disabled = interrupts.iter().filter(clears).map(|interrupt| not(Condition::Bit(interrupt.enable)));
        let parts = disabled.chain([lasts.clone(), unchanged(line, bit, registers)?]).collect();
        let still = Condition::All(parts).simplified();
        let section = line.section;
        let event = Promised::Change(bit);
        promises.push(Promise { event, lasts: still, untouched: untouched.clone(), section });
        for (place, interrupt) in interrupts.iter().enumerate() {
            let (Request::Latched { flag } | Request::Persistent { flag }) = interrupt.request else { continue };
            if flag != bit {
                continue;
            }
            // SOUND: those with a smaller number go before it, and may come again and again.
            let before = interrupts[..place].iter().map(|other| not(Condition::Bit(other.enable)));
            let parts = before.chain([lasts.clone(), Condition::Bit(interrupt.enable)]).collect();
            let (event, untouched) = (Promised::Interrupt(interrupt.number), untouched.clone());
            promises.push(Promise { event, lasts: Condition::All(parts).simplified(), untouched, section });
        }
    }
    Ok(promises)
}

fn not(condition: Condition) -> Condition {
    Condition::Not(Box::new(condition))
}

/// The condition of a line, in the first sleep mode, in which all clocks run but that of the processor.
fn lasts(source: &DeviceSource, line: &PromiseSource, names: &Names) -> Result<Condition, TableError> {
    let holds = names.condition(&line.holds, None)?;
    let mut moving = false;
    holds.for_each_moving(&mut |_| moving = true);
    if moving {
        return Err(TableError::unknown("bit that software alone changes, in the promise about", line.bit));
    }
    let mut parts = vec![holds];
    if let Some(sleep) = &source.sleep
        && let Some(address) = names.address(sleep.register)?
    {
        let mask = names.mask(sleep.register, &sleep.mode_bits)?;
        let idle = sleep.modes.iter().find(|mode| mode.name == "idle");
        let idle = idle.ok_or_else(|| TableError::unknown("sleep mode", "idle"))?;
        parts.push(Condition::Field { address, mask, equals: idle.value });
    }
    Ok(Condition::All(parts).simplified())
}

/// The condition that a bit has not changed: a flag is 0, a pulse 1.
fn unchanged(line: &PromiseSource, bit: BitRef, registers: &[Register]) -> Result<Condition, TableError> {
    let register = registers.iter().find(|register| register.address == bit.address);
    match register.map(|register| &register.bits[usize::from(bit.bit & 7)].kind) {
        Some(BitKind::Flag(_)) => Ok(not(Condition::Bit(bit))),
        Some(BitKind::Pulse(_)) => Ok(Condition::Bit(bit)),
        _ => Err(TableError::unknown("flag or pulse", line.bit)),
    }
}
