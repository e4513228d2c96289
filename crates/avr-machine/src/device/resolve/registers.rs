//! Registers and their bits.

use super::names::{Layout, Names, TableError};
use crate::device::source::{
    ClearedBySource, DeviceSource, InputWriteSource, KindSource, OwedSource, PairAccess, PairSource, PeripheralSource,
    RegisterSource, RuleSource,
};
use crate::device::{
    Access, Bit, BitKind, BitRef, ClearedBy, Condition, Flag, Guard, Input, InputWrite, KindMasks, Owed, Pair, Pulse,
    Register, SetByWrite, Told, Window,
};

/// The registers of the device by rising address, and how many shared bytes their pairs use.
pub(super) fn resolve(source: &DeviceSource, names: &Names) -> Result<(Vec<Register>, u8), TableError> {
    let mut registers = Vec::new();
    for peripheral in &source.peripherals {
        for register in &peripheral.registers {
            if names.layout(register.name)?.is_present {
                registers.push(self::register(peripheral, register, names)?);
            }
        }
    }
    registers.sort_by_key(|register| register.address);
    let protected = protected_bits(&registers);
    registers.iter_mut().for_each(|register| attach_protected(register, &protected));
    let temp_bytes = registers.iter().filter_map(|register| temp_of(register.access)).max();
    Ok((registers, temp_bytes.map_or(0, |highest| highest + 1)))
}

/// The 16-bit registers of which both halves are present.
pub(super) fn pairs(source: &DeviceSource, names: &Names) -> Result<Vec<Pair>, TableError> {
    let mut pairs = Vec::new();
    for pair in source.peripherals.iter().flat_map(|peripheral| &peripheral.pairs) {
        if let (Some(low), Some(high)) = (names.address(pair.low)?, names.address(pair.high)?) {
            pairs.push(Pair { name: pair.name, low, high });
        }
    }
    Ok(pairs)
}

/// One register.
fn register(peripheral: &PeripheralSource, source: &RegisterSource, names: &Names) -> Result<Register, TableError> {
    let layout = names.layout(source.name)?;
    let bits = bits(source, layout, names)?;
    Ok(Register {
        name: source.name,
        address: layout.address,
        peripheral: peripheral.name,
        reset: layout.reset,
        kinds: kind_masks(&bits),
        bits,
        access: access(peripheral, source.name, names)?,
        is_hidden: source.hidden,
        clocked_while: names.condition(&peripheral.clocked_while, None)?,
    })
}

/// The eight bits of a register, bit 0 first.
fn bits(source: &RegisterSource, layout: &Layout, names: &Names) -> Result<[Bit; 8], TableError> {
    let mut bits = layout.bits.map(plain_bit);
    let mut described = 0;
    for (list, kind) in &source.kinds {
        let mask = only_named(source, layout, list)?;
        if described & mask != 0 {
            return Err(TableError::register(source.name, format!("a bit of '{list}' has two kinds")));
        }
        described |= mask;
        for bit in numbers(mask) {
            bits[usize::from(bit)].kind = self::kind(kind, layout, bit, names)?;
        }
    }
    for (list, rule) in &source.rules {
        for bit in numbers(only_named(source, layout, list)?) {
            apply_rule(&mut bits[usize::from(bit)], rule, layout, bit, names)?;
        }
    }
    Ok(bits)
}

/// A bit about which nothing is said but its name.
fn plain_bit(name: Option<&'static str>) -> Bit {
    Bit {
        name,
        kind: if name.is_some() { BitKind::Plain } else { BitKind::Reserved },
        writable_while: Condition::Always,
        perhaps_writable_while: Condition::Never,
        refusal: None,
        set_by_write: None,
        guard: None,
        forced_one_while: Condition::Never,
    }
}

/// The mask of a list of bits, none of which may be reserved.
pub(super) fn only_named(source: &RegisterSource, layout: &Layout, list: &str) -> Result<u8, TableError> {
    let mask = layout.mask(list)?;
    if mask & !layout.mask("*")? == 0 {
        Ok(mask)
    } else {
        Err(TableError::register(source.name, format!("a bit of '{list}' is reserved")))
    }
}

/// The numbers of the bits in a mask.
pub(super) fn numbers(mask: u8) -> impl Iterator<Item = u8> {
    (0..8).filter(move |bit| mask >> bit & 1 == 1)
}

/// Adds the rules on writing to a bit.
fn apply_rule(bit: &mut Bit, rule: &RuleSource, layout: &Layout, number: u8, names: &Names) -> Result<(), TableError> {
    bit.writable_while = names.condition(&rule.writable_while, Some(number))?;
    bit.perhaps_writable_while = names.condition(&rule.perhaps_writable_while, Some(number))?;
    bit.refusal = optional_bit(rule.refusal, names)?;
    if let Some((name, condition, collision)) = &rule.set_by_write
        && let Some(register) = names.address(name)?
    {
        let (condition, collision) = (names.condition(condition, Some(number))?, optional_bit(*collision, names)?);
        bit.set_by_write =
            Some(SetByWrite { register, condition, ones: names.mask(name, &rule.set_by_ones)?, collision });
    }
    bit.forced_one_while = names.condition(&rule.forced_one_while, Some(number))?;
    if let Some((window, protects)) = rule.guard {
        let mask = layout.mask(window)?;
        let window = BitRef { address: layout.address, bit: mask.trailing_zeros() as u8 };
        bit.guard = Some(Guard { window, protects });
    }
    Ok(())
}

/// A bit that may be left out; none if its register is absent.
fn optional_bit(name: Option<&str>, names: &Names) -> Result<Option<BitRef>, TableError> {
    name.map_or(Ok(None), |name| names.bit(name))
}

/// The behaviour of the bit of this number.
fn kind(source: &KindSource, layout: &Layout, bit: u8, names: &Names) -> Result<BitKind, TableError> {
    let condition = |source| names.condition(source, Some(bit));
    Ok(match source {
        KindSource::ReadOnly => BitKind::ReadOnly,
        KindSource::Strobe => BitKind::Strobe,
        KindSource::Input {
            changes_while,
            latched_by,
            copies,
            changes,
            zero_while,
            ones_while,
            excludes,
            on_write,
            freedom,
        } => BitKind::Input(Input {
            changes_while: condition(changes_while)?,
            latched_by: optional_bit(*latched_by, names)?,
            copies: copies.map_or(Ok(None), |register| names.address(register))?,
            changes: *changes,
            zero_while: condition(zero_while)?,
            ones_while: condition(ones_while)?,
            excludes: (names.mask(layout.name, &excludes.0)?, names.mask(layout.name, &excludes.1)?),
            on_write: input_write(on_write, names)?,
            freedom: names.freedom(freedom, Some(bit))?,
        }),
        KindSource::Flag { raised_while, raised_by, owed, zero_while, cleared_by, freedom } => BitKind::Flag(Flag {
            raised_while: condition(raised_while)?,
            raised_by: optional_bit(*raised_by, names)?,
            owed: owed.as_ref().map_or(Ok(None), |owed| self::owed(owed, names))?,
            zero_while: condition(zero_while)?,
            cleared_by: self::cleared_by(cleared_by, names)?,
            freedom: names.freedom(freedom, Some(bit))?,
        }),
        KindSource::Pulse { raised_while, zero_while, kept_while, lost_while, within, freedom } => {
            BitKind::Pulse(Pulse {
                raised_while: condition(raised_while)?,
                zero_while: condition(zero_while)?,
                kept_while: condition(kept_while)?,
                lost_while: condition(lost_while)?,
                within: *within,
                freedom: names.freedom(freedom, Some(bit))?,
            })
        }
        KindSource::Window { cycles, ones, zeros, doubtful_ones, clears, closed_by_write, holds_interrupts_off } => {
            BitKind::Window(Window {
                cycles: *cycles,
                opened_with_ones: names.mask(layout.name, ones)?,
                opened_with_zeros: names.mask(layout.name, zeros)?,
                doubtful_with_ones: names.mask(layout.name, doubtful_ones)?,
                clears: names.mask(layout.name, clears)?,
                closed_by_write: *closed_by_write,
                holds_interrupts_off: *holds_interrupts_off,
                protects: Vec::new(),
            })
        }
    })
}

/// The characters on their way that a flag tells of; none if registers are absent.
fn owed(source: &OwedSource, names: &Names) -> Result<Option<Owed>, TableError> {
    let (one, more, told, told_while) = match source {
        OwedSource::All(one, more, empty) => (one, more, names.bit(empty)?.map(Told::All), Condition::Always),
        OwedSource::One(one, more, condition) => (one, more, Some(Told::One), names.condition(condition, None)?),
    };
    let bits = names.bit(one)?.zip(names.bit(more)?).zip(told);
    Ok(bits.map(|((one, more), told)| Owed { one, more, told_while, told }))
}

/// The effect of a write to an input bit.
fn input_write(source: &InputWriteSource, names: &Names) -> Result<InputWrite, TableError> {
    Ok(match source {
        InputWriteSource::Stored => InputWrite::Stored,
        InputWriteSource::Discarded => InputWrite::Discarded,
        InputWriteSource::Toggles(register) => {
            let address = names.address(register)?;
            InputWrite::Toggles(address.ok_or_else(|| TableError::unknown("register", register))?)
        }
    })
}

/// The ways to clear a flag, without those that go through absent registers.
fn cleared_by(sources: &[ClearedBySource], names: &Names) -> Result<Vec<ClearedBy>, TableError> {
    let mut ways = Vec::new();
    for source in sources {
        ways.extend(match source {
            ClearedBySource::WriteOne => Some(ClearedBy::WriteOne),
            ClearedBySource::WriteZero => Some(ClearedBy::WriteZero),
            ClearedBySource::InterruptEntry => Some(ClearedBy::InterruptEntry),
            ClearedBySource::Read(register) => names.address(register)?.map(ClearedBy::Read),
            ClearedBySource::Write(register) => names.address(register)?.map(ClearedBy::Write),
            ClearedBySource::ReadThenAccess(first, then, seen) => {
                let registers = names.address(first)?.zip(names.address(then)?).zip(names.bit(seen)?);
                registers.map(|((first, then), seen)| ClearedBy::ReadThenAccess { first, then, seen })
            }
        });
    }
    Ok(ways)
}

/// The bits of a register by kind.
fn kind_masks(bits: &[Bit; 8]) -> KindMasks {
    let mut masks = KindMasks::default();
    for (number, bit) in bits.iter().enumerate() {
        let mask = match bit.kind {
            BitKind::Plain => &mut masks.plain,
            BitKind::ReadOnly => &mut masks.read_only,
            BitKind::Reserved => &mut masks.reserved,
            BitKind::Input(_) => &mut masks.input,
            BitKind::Flag(_) => &mut masks.flag,
            BitKind::Pulse(_) => &mut masks.pulse,
            BitKind::Strobe => &mut masks.strobe,
            BitKind::Window(_) => &mut masks.window,
        };
        *mask |= 1 << number;
    }
    masks
}

/// The decoding of the address of a register, by the pair that it belongs to.
fn access(peripheral: &PeripheralSource, register: &str, names: &Names) -> Result<Access, TableError> {
    let pair = peripheral.pairs.iter().find(|pair| pair.low == register || pair.high == register);
    pair.map_or(Ok(Access::Direct), |pair| pair_access(pair, register, names))
}

/// The decoding of the address of one half of a pair.
fn pair_access(pair: &PairSource, register: &str, names: &Names) -> Result<Access, TableError> {
    let (low, high) = (names.layout(pair.low)?.address, names.layout(pair.high)?.address);
    let (temp, latches) = match pair.access {
        PairAccess::Separate => return Ok(Access::Direct),
        PairAccess::Locked { lock, left_adjusted } => {
            let bit = |name| names.bit(name)?.ok_or_else(|| TableError::unknown("bit", name));
            let (lock, left_adjusted) = (bit(lock)?, bit(left_adjusted)?);
            return Ok(match register == pair.low {
                true => Access::LocksPair { high, lock, left_adjusted },
                false => Access::UnlocksPair { lock },
            });
        }
        PairAccess::Temp(temp) => (temp, true),
        PairAccess::TempWrite(temp) => (temp, false),
    };
    Ok(if register == pair.low {
        Access::LowOfPair { temp, high, latches }
    } else {
        Access::HighOfPair { temp, low, latched: latches }
    })
}

/// The shared byte that a register uses.
pub(super) fn temp_of(access: Access) -> Option<u8> {
    match access {
        Access::LowOfPair { temp, .. } | Access::HighOfPair { temp, .. } => Some(temp),
        Access::Direct | Access::LocksPair { .. } | Access::UnlocksPair { .. } => None,
    }
}

/// Every guarded bit with its window: (window, bit).
fn protected_bits(registers: &[Register]) -> Vec<(BitRef, BitRef)> {
    let mut protected = Vec::new();
    for register in registers {
        for (number, bit) in (0..).zip(&register.bits) {
            protected.extend(bit.guard.map(|guard| (guard.window, BitRef { address: register.address, bit: number })));
        }
    }
    protected
}

/// Tells the windows of a register which bits they protect.
fn attach_protected(register: &mut Register, protected: &[(BitRef, BitRef)]) {
    let address = register.address;
    for (number, bit) in (0..).zip(&mut register.bits) {
        if let BitKind::Window(window) = &mut bit.kind {
            let this = BitRef { address, bit: number };
            window.protects = protected.iter().filter(|(by, _)| *by == this).map(|(_, bit)| *bit).collect();
        }
    }
}
