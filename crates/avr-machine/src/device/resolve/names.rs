//! Names of registers, bits and conditions, and what they stand for.

use std::collections::BTreeMap;

use avr_isa::DataAddress;

use crate::device::source::{
    ConditionSource, DeviceSource, FreedomSource, KindSource, PeripheralSource, RegisterSource, RestrictionSource,
};
use crate::device::{BitRef, Changes, Condition, Freedom, Memory, ResetValue};

/// The largest nesting of named conditions; a deeper one means that one refers to itself.
const MAX_CONDITION_DEPTH: u8 = 8;

/// The reason why a device file is not accepted.
#[derive(Debug, thiserror::Error)]
pub(in crate::device) enum TableError {
    /// The text does not have the form of a device file.
    #[error("not a device file: {0}")]
    Syntax(#[from] ron::error::SpannedError),
    /// A name stands for nothing.
    #[error("{what} '{name}' does not exist")]
    Unknown {
        /// The kind of thing that was expected.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A register is described in a way that makes no sense.
    #[error("register {register}: {problem}")]
    Register {
        /// Its name.
        register: &'static str,
        /// The error.
        problem: String,
    },
    /// Something is described without the program that decides it.
    #[error("{what}: no program decides it")]
    Undecided {
        /// Its name.
        what: &'static str,
    },
    /// The interrupt table is described in a way that makes no sense.
    #[error("interrupt {interrupt}: {problem}")]
    Interrupt {
        /// Its name.
        interrupt: &'static str,
        /// The error.
        problem: &'static str,
    },
}

impl TableError {
    /// The error for a name that stands for nothing.
    pub(in crate::device) fn unknown(what: &'static str, name: &str) -> Self {
        Self::Unknown { what, name: name.to_owned() }
    }

    /// The error for a register.
    pub(super) fn register(register: &'static str, problem: impl Into<String>) -> Self {
        Self::Register { register, problem: problem.into() }
    }
}

/// The layout of a register: its address, the names of its bits, and its presence on the device.
pub(super) struct Layout {
    pub(super) name: &'static str,
    pub(super) address: DataAddress,
    /// Bit 0 first; none for reserved bits.
    pub(super) bits: [Option<&'static str>; 8],
    pub(super) reset: ResetValue,
    /// The direction in which hardware changes the bits, bit 0 first; none where it does not.
    moving: [Option<Changes>; 8],
    /// True if a restriction left it.
    pub(super) is_present: bool,
}

impl Layout {
    /// Reads name, bits and reset value.
    fn new(source: &RegisterSource, is_present: bool, memory: &Memory) -> Result<Self, TableError> {
        let mut bits = [None; 8];
        let mut count = 0;
        for (place, name) in source.bits.split_whitespace().enumerate() {
            let slot = 7usize.checked_sub(place).map(|bit| &mut bits[bit]);
            *slot.ok_or_else(|| TableError::register(source.name, "more than eight bits"))? =
                (name != "-").then_some(name);
            count += 1;
        }
        if count != 8 {
            return Err(TableError::register(source.name, format!("{count} bits instead of eight")));
        }
        let reset = reset_value(source.name, source.reset.unwrap_or("00000000"))?;
        if source.hidden && source.at >= memory.hidden_room() {
            return Err(TableError::register(source.name, "there are not so many hidden registers"));
        }
        let address =
            if source.hidden { memory.hidden_start().wrapping_add(source.at) } else { DataAddress(source.at) };
        let mut layout = Self { name: source.name, address, bits, reset, moving: [None; 8], is_present };
        for (list, kind) in &source.kinds {
            let mask = layout.mask(list)?;
            let places = (0..8).filter(|bit| mask >> bit & 1 == 1);
            places.for_each(|bit| layout.moving[bit] = changes_of(kind));
        }
        Ok(layout)
    }

    /// The number of a bit by its name or its number as text.
    fn bit_number(&self, name: &str) -> Option<u8> {
        let by_name = self.bits.iter().position(|bit| *bit == Some(name)).map(|bit| bit as u8);
        by_name.or_else(|| name.parse().ok().filter(|bit| *bit < 8))
    }

    /// The mask of named bits; `*` is all that have a name.
    pub(super) fn mask(&self, names: &str) -> Result<u8, TableError> {
        if names == "*" {
            return Ok((0..8).filter(|bit| self.bits[*bit].is_some()).fold(0, |mask, bit| mask | 1 << bit));
        }
        names.split_whitespace().try_fold(0, |mask, name| {
            let bit = self.bit_number(name).ok_or_else(|| self.unknown_bit(name))?;
            Ok(mask | 1 << bit)
        })
    }

    /// The error for a bit that the register does not have.
    fn unknown_bit(&self, name: &str) -> TableError {
        TableError::register(self.name, format!("has no bit '{name}'"))
    }
}

/// The direction in which hardware changes bits of a kind.
fn changes_of(kind: &KindSource) -> Option<Changes> {
    let never = |condition: &ConditionSource| matches!(condition, ConditionSource::Never);
    match kind {
        KindSource::ReadOnly | KindSource::Strobe => None,
        KindSource::Input { changes_while, changes, latched_by, .. } => {
            (!never(changes_while) || latched_by.is_some()).then_some(*changes)
        }
        KindSource::Flag { raised_while, raised_by, .. } => {
            (!never(raised_while) || raised_by.is_some()).then_some(Changes::Sets)
        }
        KindSource::Pulse { raised_while, .. } if never(raised_while) => Some(Changes::Clears),
        KindSource::Pulse { .. } => Some(Changes::Both),
        KindSource::Window { .. } => Some(Changes::Clears),
    }
}

/// Reads a reset value such as `0001 xx00`.
fn reset_value(register: &'static str, text: &str) -> Result<ResetValue, TableError> {
    let mut reset = ResetValue { value: 0, undefined: 0 };
    let digits = text.chars().filter(|digit| !digit.is_whitespace());
    let mut count = 0;
    for digit in digits {
        let (value, undefined) = match digit {
            '0' => (0, 0),
            '1' => (1, 0),
            'x' => (0, 1),
            _ => return Err(TableError::register(register, format!("'{digit}' in the reset value"))),
        };
        reset = ResetValue { value: reset.value << 1 | value, undefined: reset.undefined << 1 | undefined };
        count += 1;
    }
    if count == 8 { Ok(reset) } else { Err(TableError::register(register, "reset value is not of eight bits")) }
}

/// All names of a device.
pub(super) struct Names<'source> {
    layouts: BTreeMap<&'static str, Layout>,
    conditions: &'source BTreeMap<&'static str, ConditionSource>,
}

impl<'source> Names<'source> {
    /// Collects the names of the device and marks what a restriction leaves.
    pub(super) fn new(
        source: &'source DeviceSource,
        restriction: Option<&RestrictionSource>,
    ) -> Result<Self, TableError> {
        let mut layouts = BTreeMap::new();
        for peripheral in &source.peripherals {
            for register in &peripheral.registers {
                let is_present = restriction.is_none_or(|restriction| leaves(restriction, peripheral, register));
                if layouts.insert(register.name, Layout::new(register, is_present, &source.memory)?).is_some() {
                    return Err(TableError::register(register.name, "described twice"));
                }
            }
        }
        let names = Self { layouts, conditions: &source.conditions };
        restriction.map_or(Ok(()), |restriction| names.check_restriction(source, restriction))?;
        Ok(names)
    }

    /// Refuses a restriction that names what is not there.
    fn check_restriction(&self, source: &DeviceSource, restriction: &RestrictionSource) -> Result<(), TableError> {
        for register in &restriction.only {
            self.layout(register)?;
        }
        let known = |name| source.peripherals.iter().any(|peripheral| peripheral.name == name);
        match restriction.absent.iter().find(|name| !known(**name)) {
            Some(name) => Err(TableError::unknown("peripheral", name)),
            None => Ok(()),
        }
    }

    /// The layout of a register, present or not.
    pub(super) fn layout(&self, register: &str) -> Result<&Layout, TableError> {
        self.layouts.get(register).ok_or_else(|| TableError::unknown("register", register))
    }

    /// The address of a register if it is present.
    pub(super) fn address(&self, register: &str) -> Result<Option<DataAddress>, TableError> {
        let layout = self.layout(register)?;
        Ok(layout.is_present.then_some(layout.address))
    }

    /// The mask of a list of bits of a register.
    pub(super) fn mask(&self, register: &str, bits: &[&str]) -> Result<u8, TableError> {
        let layout = self.layout(register)?;
        bits.iter().try_fold(0, |mask, bit| Ok(mask | layout.mask(bit)?))
    }

    /// The layout of the register and the number of the bit in `REGISTER.BIT`, where the bit `#` is `this_bit`.
    fn place(&self, name: &str, this_bit: Option<u8>) -> Result<(&Layout, u8), TableError> {
        let (register, bit) = name.split_once('.').ok_or_else(|| TableError::unknown("bit", name))?;
        let layout = self.layout(register)?;
        let number = if bit == "#" { this_bit } else { layout.bit_number(bit) };
        Ok((layout, number.ok_or_else(|| TableError::unknown("bit", name))?))
    }

    /// The bit `REGISTER.BIT` if its register is present.
    pub(super) fn bit(&self, name: &str) -> Result<Option<BitRef>, TableError> {
        let (layout, bit) = self.place(name, None)?;
        Ok(layout.is_present.then_some(BitRef { address: layout.address, bit }))
    }

    /// All bits of a list, or none if the register of any is absent.
    pub(super) fn bits(&self, names: &[&str]) -> Result<Option<Vec<BitRef>>, TableError> {
        names.iter().map(|name| self.bit(name)).collect()
    }

    /// Resolves and simplifies a condition; `this_bit` is the bit that it is about, for `#`.
    pub(super) fn condition(&self, source: &ConditionSource, this_bit: Option<u8>) -> Result<Condition, TableError> {
        Ok(self.resolve(source, this_bit, MAX_CONDITION_DEPTH)?.simplified())
    }

    /// Resolves a condition; named ones may refer to others `depth` times.
    fn resolve(&self, source: &ConditionSource, this_bit: Option<u8>, depth: u8) -> Result<Condition, TableError> {
        let resolve = |part: &ConditionSource| self.resolve(part, this_bit, depth);
        Ok(match source {
            ConditionSource::Always => Condition::Always,
            ConditionSource::Never => Condition::Never,
            ConditionSource::All(parts) => Condition::All(parts.iter().map(resolve).collect::<Result<_, _>>()?),
            ConditionSource::Any(parts) => Condition::Any(parts.iter().map(resolve).collect::<Result<_, _>>()?),
            ConditionSource::Not(part) => Condition::Not(Box::new(resolve(part)?)),
            ConditionSource::Set(bit) => self.is_set(bit, this_bit)?,
            ConditionSource::Clear(bit) => Condition::Not(Box::new(self.is_set(bit, this_bit)?)),
            ConditionSource::Stored(bit) => self.is_stored(bit, this_bit)?,
            ConditionSource::Equals(register, bits, number) => self.equals(register, bits, *number)?,
            ConditionSource::NonZero(register, bits) => Condition::Not(Box::new(self.equals(register, bits, 0)?)),
            ConditionSource::Named(name) => {
                let named = self.conditions.get(name).filter(|_| depth > 0);
                let named = named.ok_or_else(|| TableError::unknown("condition", name))?;
                self.resolve(named, this_bit, depth - 1)?
            }
        })
    }

    /// The condition that a bit is 1.
    fn is_set(&self, name: &str, this_bit: Option<u8>) -> Result<Condition, TableError> {
        let (layout, bit) = self.place(name, this_bit)?;
        let moving = layout.moving[usize::from(bit)];
        let bit = BitRef { address: layout.address, bit };
        let condition = moving.map_or(Condition::Bit(bit), |changes| Condition::Moving { bit, changes });
        constant_if_absent(layout, condition, bit.mask(), bit.mask())
    }

    /// The condition that a bit is stored as 1.
    fn is_stored(&self, name: &str, this_bit: Option<u8>) -> Result<Condition, TableError> {
        let (layout, bit) = self.place(name, this_bit)?;
        let bit = BitRef { address: layout.address, bit };
        constant_if_absent(layout, Condition::Bit(bit), bit.mask(), bit.mask())
    }

    /// The condition that bits, most significant first, spell a number.
    fn equals(&self, register: &str, bits: &[&str], number: u8) -> Result<Condition, TableError> {
        let layout = self.layout(register)?;
        let (mut mask, mut equals) = (0, 0);
        for (place, name) in bits.iter().rev().enumerate() {
            let bit = layout.mask(name)?;
            if layout.moving[bit.trailing_zeros() as usize & 7].is_some() {
                return Err(TableError::register(
                    layout.name,
                    format!("hardware changes '{name}': name it by Set or Clear"),
                ));
            }
            mask |= bit;
            equals |= if number >> place & 1 == 1 { bit } else { 0 };
        }
        let condition = Condition::Field { address: layout.address, mask, equals };
        constant_if_absent(layout, condition, mask, equals)
    }

    /// Resolves who determines something.
    pub(super) fn freedom(&self, source: &FreedomSource, this_bit: Option<u8>) -> Result<Freedom, TableError> {
        Ok(match source {
            FreedomSource::Real => Freedom::Real,
            FreedomSource::Abstracted => Freedom::Abstracted,
            FreedomSource::Undefined => Freedom::Undefined,
            FreedomSource::AbstractedWhile(condition) => match self.condition(condition, this_bit)? {
                Condition::Always => Freedom::Abstracted,
                Condition::Never => Freedom::Undefined,
                condition => Freedom::AbstractedWhile(condition),
            },
            FreedomSource::RealWhile(condition) => match self.condition(condition, this_bit)? {
                Condition::Always => Freedom::Real,
                Condition::Never => Freedom::Abstracted,
                condition => Freedom::RealWhile(condition),
            },
            FreedomSource::RealOrUndefined(condition) => match self.condition(condition, this_bit)? {
                Condition::Always => Freedom::Real,
                Condition::Never => Freedom::Undefined,
                condition => Freedom::RealOrUndefined(condition),
            },
            FreedomSource::RealEvery(cycles) => Freedom::RealEvery(*cycles, Condition::Always),
            FreedomSource::RealEveryWhile(cycles, condition) => match self.condition(condition, this_bit)? {
                Condition::Never => Freedom::Abstracted,
                condition => Freedom::RealEvery(*cycles, condition),
            },
        })
    }
}

/// True if a restriction leaves a register.
fn leaves(restriction: &RestrictionSource, peripheral: &PeripheralSource, register: &RegisterSource) -> bool {
    let listed = restriction.only.is_empty() || restriction.only.contains(&register.name);
    listed && !restriction.absent.contains(&peripheral.name)
}

/// A comparison of bits of a register; a constant when the register is absent, as it has its reset value for ever.
fn constant_if_absent(layout: &Layout, condition: Condition, mask: u8, equals: u8) -> Result<Condition, TableError> {
    if layout.is_present {
        return Ok(condition);
    }
    if layout.reset.undefined & mask != 0 {
        return Err(TableError::register(
            layout.name,
            "absent, but a condition needs bits that reset leaves undefined",
        ));
    }
    Ok(if layout.reset.value & mask == equals { Condition::Always } else { Condition::Never })
}
