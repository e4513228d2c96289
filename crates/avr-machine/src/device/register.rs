//! Registers and what each of their bits does: the vocabulary in which a device file describes the hardware.
//!
//! The meaning of a bit kind is stated here for a machine with *stored* bits and *inputs*. Where a condition is unknown
//! in a state, whoever applies it must allow both outcomes. Conditions read stored bits; for a bit that hardware itself
//! changes (kinds input, flag, pulse, window) the stored bit only says what software last saw, and
//! [`Condition::Moving`] takes care of that. The conditions under which hardware changes a bit (`changes_while`,
//! `raised_while`, `zero_while`, `clocked_while`) depend only on bits that software alone changes. Such a condition
//! changes its value only by a write; apart from `MSTR`, which hardware clears and after which more can change, and
//! from bits that are latched by the bit that the condition names.

use super::condition::{BitRef, Condition};
use avr_isa::DataAddress;

/// One register: eight bits at one data address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Name in the data sheet.
    pub name: &'static str,
    /// Data address. Addresses 0x20 to 0x5f are also reached by `IN` and `OUT` at the address less 0x20.
    pub address: DataAddress,
    /// Name of the [`super::Peripheral`] that it belongs to.
    pub peripheral: &'static str,
    /// Content after reset.
    pub reset: ResetValue,
    /// The bits, bit 0 first.
    pub bits: [Bit; 8],
    /// The bits by kind, for byte-wide work.
    pub kinds: KindMasks,
    /// The decoding of the address.
    pub access: Access,
    /// True for a state of the hardware that no register shows and no program reaches.
    pub is_hidden: bool,
    /// While this is false the clock of the peripheral is stopped by the power reduction register: the hardware
    /// changes nothing, reads give unknown values and it is unknown whether a write is stored (data sheet, "Power
    /// Reduction Register": the registers cannot be read or written).
    pub clocked_while: Condition,
}

impl Register {
    /// The address for `IN`, `OUT`, `SBI` and their like, if it has one.
    #[must_use]
    pub fn io_address(&self) -> Option<u8> {
        let io = self.address.offset_from(DataAddress::IO)?;
        (io < 0x40).then_some(io as u8)
    }

    /// The number of the bit that has this name, or this number as text (`"3"`).
    #[must_use]
    pub fn bit_number(&self, name: &str) -> Option<u8> {
        if let Some(number) = self.bits.iter().position(|bit| bit.name == Some(name)) {
            return Some(number as u8);
        }
        name.parse().ok().filter(|number| *number < 8)
    }
}

/// Content of a register after reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetValue {
    /// The defined bits; undefined ones are 0 here.
    pub value: u8,
    /// 1 where the data sheet leaves the bit undefined, or makes it depend on what happened before or outside.
    pub undefined: u8,
}

/// The bits of a register by kind; every bit is in exactly one of the masks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindMasks {
    /// Bits of [`BitKind::Plain`].
    pub plain: u8,
    /// Bits of [`BitKind::ReadOnly`].
    pub read_only: u8,
    /// Bits of [`BitKind::Reserved`].
    pub reserved: u8,
    /// Bits of [`BitKind::Input`].
    pub input: u8,
    /// Bits of [`BitKind::Flag`].
    pub flag: u8,
    /// Bits of [`BitKind::Pulse`].
    pub pulse: u8,
    /// Bits of [`BitKind::Strobe`].
    pub strobe: u8,
    /// Bits of [`BitKind::Window`].
    pub window: u8,
}

/// One bit of a register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bit {
    /// Name in the data sheet; none for reserved bits.
    pub name: Option<&'static str>,
    /// The behaviour of the bit under reads, writes and the hardware.
    pub kind: BitKind,
    /// While this is false a write leaves the bit as it is (`ICR1` outside the modes that use it as the top value).
    /// It is judged on the state before the write.
    pub writable_while: Condition,
    /// While this is true and the other is false, the data sheet does not say whether a write changes the bit.
    pub perhaps_writable_while: Condition,
    /// The bit that a write sets if it leaves this one as it is for that reason, and clears otherwise (`TWWC` for `TWDR`).
    pub refusal: Option<BitRef>,
    /// The write that sets the bit.
    pub set_by_write: Option<SetByWrite>,
    /// The window that must be open for a write to change the bit.
    pub guard: Option<Guard>,
    /// While this is true the bit is 1 whatever is written (`WDE` while `WDRF`). It is judged after the write.
    pub forced_one_while: Condition,
}

impl Bit {
    /// True if every write to the register stores the bit and nothing else changes it. The decoding of the address and
    /// actions of the machine do not count (an interrupt entry that clears an enable bit, a read of the EEPROM).
    #[must_use]
    pub fn is_storage(&self) -> bool {
        let Self {
            name: _,
            kind,
            writable_while,
            perhaps_writable_while,
            refusal,
            set_by_write,
            guard,
            forced_one_while,
        } = self;
        *kind == BitKind::Plain
            && *writable_while == Condition::Always
            && *perhaps_writable_while == Condition::Never
            && *forced_one_while == Condition::Never
            && refusal.is_none()
            && set_by_write.is_none()
            && guard.is_none()
    }
}

/// A write to another register that sets a bit: the start of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetByWrite {
    /// Data address of the register that is written.
    pub register: DataAddress,
    /// The condition under which the write does so.
    pub condition: Condition,
    /// The bits of which the write must set one, all 0 where every write does so. They are for bits that hardware does not change.
    pub ones: u8,
    /// The flag that the write sets instead where the bit is still 1 (`WCOL`).
    pub collision: Option<BitRef>,
}

/// A window that protects a bit: outside it, a write that would change the bit in the given direction does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The bit of kind [`BitKind::Window`]; open while it is 1.
    pub window: BitRef,
    /// The changes that need the window.
    pub protects: Protected,
}

/// The changes of a bit that need an open window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
pub enum Protected {
    /// Changes in either direction.
    AnyChange,
    /// Changes from 1 to 0 (`WDE`).
    Clearing,
    /// Changes from 0 to 1 (`EEPE`).
    Setting,
}

/// The behaviour of a bit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BitKind {
    /// Storage that only software changes.
    Plain,
    /// Reads what reset or another action of the machine stored; writes do nothing and are no hazard.
    ReadOnly,
    /// No such bit: reads 0; writing 1 is the hazard or note "reserved bit written" (see [`super::Policy`]).
    Reserved,
    /// Hardware may change the bit at any moment.
    Input(Input),
    /// Hardware sets the bit, software or an interrupt entry clears it.
    Flag(Flag),
    /// Software sets the bit, hardware clears it when it is done.
    Pulse(Pulse),
    /// Writing 1 acts at once; always reads 0.
    Strobe,
    /// Writing a pattern opens a time window in which protected bits may be changed.
    Window(Window),
}

impl BitKind {
    /// True if hardware may change the bit by itself, so that the stored bit alone does not say what a read gives.
    #[must_use]
    pub fn is_changed_by_hardware(&self) -> bool {
        match self {
            Self::Plain | Self::ReadOnly | Self::Reserved | Self::Strobe => false,
            Self::Input(input) => input.changes_while != Condition::Never || input.latched_by.is_some(),
            Self::Flag(flag) => flag.raised_while != Condition::Never || flag.raised_by.is_some(),
            Self::Pulse(_) | Self::Window(_) => true,
        }
    }
}

/// A bit that hardware changes: pins, counters, converted and received values.
///
/// Read: 0 while `zero_while`, 1 while `ones_while`; else a fresh input while `changes_while` (combined with the stored bit as `changes`
/// says) and the result is stored; else the stored bit. A write may make `changes_while` or the clock of the register's
/// peripheral go from true to false. Then the stored bit takes one last input in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The condition under which hardware may change the bit at any moment.
    pub changes_while: Condition,
    /// The flag or pulse with which it changes besides: it takes a value when hardware sets the flag or clears the pulse, and keeps it
    /// until the next time.
    pub latched_by: Option<BitRef>,
    /// The register whose bits it takes with that event, while `changes_while` (`ICR1` those of `TCNT1`). With the event already set it
    /// may take them once more, unseen.
    pub copies: Option<DataAddress>,
    /// In which direction.
    pub changes: Changes,
    /// While this is true the bit is 0. When a write ends it a latched bit is not known until it is latched again, if the flag stands with
    /// which it was latched; others stay 0. (A result of which a bit says how it is adjusted is only moved.)
    pub zero_while: Condition,
    /// While this is true the bit reads 1 (the status code of `TWSR` while `TWINT` is 0).
    pub ones_while: Condition,
    /// Bits of the register that are 0 where all of these are 1: (these, those). No value is without them (status codes end at 0xc8).
    pub excludes: (u8, u8),
    /// The effect of a write.
    pub on_write: InputWrite,
    /// Who determines the value.
    pub freedom: Freedom,
}

/// The direction in which hardware changes a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
pub enum Changes {
    /// Both: a read gives the input alone.
    Both,
    /// From 0 to 1 only: a read gives stored | input.
    Sets,
    /// From 1 to 0 only: a read gives stored & input.
    Clears,
}

/// The effect of a write to a bit of kind input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputWrite {
    /// The bit is stored, as in plain storage, until hardware changes it (`TCNT0`).
    Stored,
    /// The written bit does not come back (`UDR0`: it goes to the transmitter; `ADCL`: no effect).
    Discarded,
    /// A written 1 toggles the same bit of the register at this data address (`PINB` toggles `PORTB`); a 0 does not.
    Toggles(DataAddress),
}

/// A sticky flag.
///
/// Read: 0 while `zero_while`; else stored | input while `raised_while`, and the result is stored; else the stored bit.
/// If a write makes `raised_while` go from true to false, the flag takes one last input in the same way: it may have
/// been raised unseen. `clears_by` says how it gets 0; a written value never sets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// The condition under which hardware may set the flag at any moment.
    pub raised_while: Condition,
    /// The pulse with whose end hardware sets it besides: the operation is done.
    pub raised_by: Option<BitRef>,
    /// The work that was started and that the flag has not told of yet, where `raised_while` asks for it.
    pub owed: Option<Owed>,
    /// While this is true the flag is 0 and stays so when the condition ends.
    pub zero_while: Condition,
    /// The ways to clear it; every line is one way of its own.
    pub cleared_by: Vec<ClearedBy>,
    /// Who determines the moment.
    pub freedom: Freedom,
}

/// Characters on their way of which a flag tells the end. Writes set the hidden bits, and hardware clears them when it sets the flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owed {
    /// 1 while the flag is to be set.
    pub one: BitRef,
    /// 1 where a character was written while another one may have been on its way.
    pub more: BitRef,
    /// The flag tells of them while this is true.
    pub told_while: Condition,
    /// The flag's meaning.
    pub told: Told,
}

/// The characters on their way that the rise of a flag tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// That all are gone that were written before (`TXC0`). If no other was written meanwhile this flag is 1 as well (`UDRE0`); else the
    /// flag can be set once more.
    All(BitRef),
    /// That one is complete (`RXC0` of a master); of more than one it is not known how many are left.
    One,
}

/// A way to clear a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClearedBy {
    /// Writing 1 to it. (`SBI` on the register clears only the addressed flag.)
    WriteOne,
    /// Writing 0 to it (the reset causes in `MCUSR`).
    WriteZero,
    /// Entering an interrupt that has it as its latched flag.
    InterruptEntry,
    /// Reading the register at this data address.
    Read(DataAddress),
    /// Writing the register at this data address.
    Write(DataAddress),
    /// Reading the register `first` with the flag set and then reading or writing the register `then`.
    ReadThenAccess {
        /// Data address of the register to be read first.
        first: DataAddress,
        /// Data address of the register to be accessed afterwards.
        then: DataAddress,
        /// The hidden bit that is 1 when the first was read with the flag set.
        seen: BitRef,
    },
}

/// A bit that software sets and hardware clears: an operation is under way. With its end a flag rises ([`Flag::raised_by`]) and inputs
/// are latched ([`Input::latched_by`]).
///
/// Write: stored | written (a written 0 does not stop what was started). Read: 0 while `zero_while`; else the input
/// while `raised_while`; else stored & input; and the result is stored. When a write makes `raised_while` go from true
/// to false the bit takes one last input: it may have been raised unseen. While `kept_while` it is plain storage. Where it was set and is
/// not kept it is 0 after `within` clock cycles. A write that makes `zero_while` true ends the operation without its flag, unless it was
/// done before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pulse {
    /// The condition under which hardware may also set the bit (`ADSC` with automatic triggers).
    pub raised_while: Condition,
    /// While this is true the bit is 0 and stays so when the condition ends (`ADSC` with the converter off).
    pub zero_while: Condition,
    /// While this is true hardware leaves the bit as it is, or as a write to the register made it (`PSRSYNC` with `TSM`).
    pub kept_while: Condition,
    /// After a write that leaves this true the data sheet does not say whether the operation goes on (a transfer of a master that is made
    /// a slave). If it does not, it ends without its flag.
    pub lost_while: Condition,
    /// Clock cycles after which hardware has cleared it for certain (`BODS`).
    pub within: Option<u8>,
    /// Who determines when hardware changes it.
    pub freedom: Freedom,
}

/// A bit that opens a time window when a pattern is written, and that hardware clears when the window closes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Clock cycles after which hardware closes it.
    pub cycles: u8,
    /// Bits of the register that must be written 1 (the bit itself included) to open it.
    pub opened_with_ones: u8,
    /// Bits of the register that must be written 0 to open it.
    pub opened_with_zeros: u8,
    /// Bits of the register that are to be written 0 when it is opened: with any of them 1 the data sheet does not say whether it
    /// opens (`EEPE` for `EEMPE`).
    pub doubtful_with_ones: u8,
    /// True if writing the register without the opening pattern closes it at once (the protected bits written in that
    /// same instruction are still changed). The bit itself is to be written 0 there; if it is 1, the data sheet does not say whether
    /// the protected bits change, nor whether the window is opened anew.
    pub closed_by_write: bool,
    /// True if no interrupt is taken while it is open, nor before the instruction after the one that closes it by a
    /// write (`IVCE`).
    pub holds_interrupts_off: bool,
    /// Other bits of the register that hardware clears when it closes (`SIGRD` with `SPMEN`).
    pub clears: u8,
    /// The bits that it protects, in the order of the device file.
    pub protects: Vec<BitRef>,
}

/// Who determines what the hardware does: see the design on the basis of verdicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Freedom {
    /// The environment: pins, received bytes, converted values, external requests.
    Real,
    /// The hardware, in a way that the model leaves open: timer phase, the end of a transmission.
    Abstracted,
    /// Not known: see [`DeterminedBy::Undefined`](crate::DeterminedBy::Undefined).
    Undefined,
    /// The hardware while the condition is certain, else as [`Freedom::Undefined`].
    AbstractedWhile(Condition),
    /// The environment while the condition is certain, else as [`Freedom::Abstracted`] (a pin that may be an output).
    RealWhile(Condition),
    /// The environment while the condition is certain, else as [`Freedom::Undefined`] (the pin of a transmitter that is on).
    RealOrUndefined(Condition),
    /// The environment while the condition is certain, if so many clock cycles have passed since hardware last set the
    /// flag and since it first could (a byte takes its time); else as [`Freedom::Abstracted`].
    RealEvery(u16, Condition),
}

/// The decoding of the address of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A register of its own.
    Direct,
    /// The low byte of a 16-bit register: a write stores it together with the shared byte as the high byte; a read
    /// gives it and, if `latches`, copies the high byte to the shared byte.
    LowOfPair {
        /// Index of the shared byte (`TEMP`) among [`super::Device::temp_bytes`].
        temp: u8,
        /// Data address of the high byte.
        high: DataAddress,
        /// True if a read copies the high byte to the shared byte.
        latches: bool,
    },
    /// The high byte of a 16-bit register: a write only goes to the shared byte; a read gives the shared byte if
    /// `latched`, else the high byte itself.
    HighOfPair {
        /// Index of the shared byte (`TEMP`) among [`super::Device::temp_bytes`].
        temp: u8,
        /// Data address of the low byte.
        low: DataAddress,
        /// True if a read gives the shared byte.
        latched: bool,
    },
    /// The low byte of a result that is locked when it is read until the high byte is read (`ADCL`).
    LocksPair {
        /// Data address of the high byte.
        high: DataAddress,
        /// The hidden bit that is 1 while the result is locked.
        lock: BitRef,
        /// While this bit is 1 the ten bits of the result begin at the highest bit, else they end at the lowest.
        left_adjusted: BitRef,
    },
    /// The high byte of such a result, whose read releases the lock.
    UnlocksPair {
        /// The hidden bit that is 1 while the result is locked.
        lock: BitRef,
    },
}
