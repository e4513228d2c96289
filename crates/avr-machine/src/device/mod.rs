//! Devices: memories, registers and interrupts of a microcontroller, from the tables in `isa-tables/devices/`.
//!
//! A device file is data that a person can check against the data sheet; this module gives it types, resolves names to
//! addresses, refuses contradictions and answers look-ups. It gives no semantics: the machine does what
//! [`register`]'s types say.

pub mod condition;
pub mod facts;
pub mod interrupt;
mod library;
#[cfg(test)]
mod likeness;
#[cfg(test)]
mod pages;
pub mod promise;
pub mod register;
mod resolve;
mod source;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use avr_isa::{DataAddress, FlashWordAddress};

pub use condition::{BitRef, Condition, KnownBits};
pub use facts::{
    BootSection, ClockPrescaler, Core, Corruption, Eeprom, Fuse, FuseByte, FuseBytes, FuseReset, InterruptPolicy,
    Memory, PinChanges, PinFunctions, Policy, ResetCause, ResetEffect, SelfProgramming, Severity, Shifter, SilentWake,
    Sleep, SleepMode, TimerPin, Unmodelled, Watchdog,
};
pub use interrupt::{Interrupt, Request, WakeCondition};
pub(crate) use library::edit_distance;
pub use promise::{Promise, Promised};
pub use register::{
    Access, Bit, BitKind, Changes, ClearedBy, Flag, Freedom, Guard, Input, InputWrite, KindMasks, Owed, Protected,
    Pulse, Register, ResetValue, SetByWrite, Told, Window,
};

/// A microcontroller.
#[derive(Clone, Debug)]
pub struct Device {
    /// Name, as `--device` takes it.
    pub name: &'static str,
    /// Number of the data sheet that the table follows.
    pub data_sheet: &'static str,
    /// The device whose programs in `tests/data-sheet` decide the bits that are as there.
    pub like: Option<&'static str>,
    /// The three signature bytes.
    pub signature: [u8; 3],
    /// The processor core.
    pub core: Core,
    /// The memories.
    pub memory: Memory,
    /// The severity of events: hazard or note.
    pub policy: Policy,
    /// The peripherals.
    pub peripherals: Vec<Peripheral>,
    /// The registers, by rising address.
    pub registers: Vec<Register>,
    /// 16-bit registers by name: name, data address of the low byte, of the high byte.
    pub pairs: Vec<Pair>,
    /// Number of hidden bytes (`TEMP`) that 16-bit registers share; they are undefined after reset.
    pub temp_bytes: u8,
    /// The interrupt sources, by rising number from 1. Empty where the policy forbids interrupts.
    pub interrupts: Vec<Interrupt>,
    /// The promises of the data sheet about events of the hardware.
    pub promises: Vec<Promise>,
    /// Factory values of the fuses.
    pub default_fuses: FuseBytes,
    /// The fuses.
    pub fuses: Vec<Fuse>,
    /// Registers whose reset value depends on a fuse.
    pub fuse_resets: Vec<FuseReset>,
    /// The choices of the boot section; empty where there is none.
    pub boot_sections: Vec<BootSection>,
    /// The content that each cause of reset leaves in the register of causes.
    pub reset_effects: Vec<ResetEffect>,
    /// The watchdog.
    pub watchdog: Option<Watchdog>,
    /// The sleep modes.
    pub sleep: Option<Sleep>,
    /// The clock prescaler.
    pub clock_prescaler: Option<ClockPrescaler>,
    /// Self-programming.
    pub self_programming: Option<SelfProgramming>,
    /// The EEPROM.
    pub eeprom: Option<Eeprom>,
    /// The shift register that strobes clock.
    pub shifter: Option<Shifter>,
    /// Functions of pins.
    pub pins: PinFunctions,
    /// Bits whose change may corrupt registers.
    pub corruptions: Vec<Corruption>,
    /// Bits that switch on what no model follows.
    pub unmodelled: Vec<Unmodelled>,
    /// Other names of bits, each with the bit.
    pub aliases: Vec<(&'static str, BitRef)>,
    /// Names of the programs in `tests/data-sheet` that decide what the table says, in alphabetical order.
    pub deciding_programs: BTreeSet<&'static str>,
    /// Index into `registers` plus one, by data address; 0 where there is no register.
    by_address: Vec<u16>,
}

/// A peripheral: a named group of registers that share a clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peripheral {
    /// Name, in lower case.
    pub name: &'static str,
    /// See [`Register::clocked_while`].
    pub clocked_while: Condition,
    /// The pins by which the outside reaches it whatever their direction is: what it receives rests on all of them.
    pub lines: Vec<BitRef>,
}

/// A 16-bit register made of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Name of the whole, as in the data sheet (`TCNT1`).
    pub name: &'static str,
    /// Data address of the low byte.
    pub low: DataAddress,
    /// Data address of the high byte.
    pub high: DataAddress,
}

/// There is no device of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown device '{name}'; did you mean {}?", .nearest.join(" or "))]
pub struct UnknownDevice {
    /// The name that was asked for.
    pub name: String,
    /// The one to three most similar names that exist, the most similar first.
    pub nearest: Vec<&'static str>,
}

impl Device {
    /// The register at a data address, in constant time.
    #[must_use]
    pub fn register_at(&self, address: DataAddress) -> Option<&Register> {
        let index = *self.by_address.get(address.index())?;
        self.registers.get(usize::from(index.checked_sub(1)?))
    }

    /// The register of this name.
    #[must_use]
    pub fn register(&self, name: &str) -> Option<&Register> {
        self.registers.iter().find(|register| register.name == name)
    }

    /// The 16-bit register of this name.
    #[must_use]
    pub fn pair(&self, name: &str) -> Option<Pair> {
        self.pairs.iter().copied().find(|pair| pair.name == name)
    }

    /// A bit by register name and bit name, other name of the bit, or bit number as text.
    #[must_use]
    pub fn bit(&self, register: &str, bit: &str) -> Option<BitRef> {
        let register = self.register(register)?;
        if let Some(bit) = register.bit_number(bit) {
            return Some(BitRef { address: register.address, bit });
        }
        let alias = self.aliases.iter().find(|(name, place)| *name == bit && place.address == register.address);
        alias.map(|(_, place)| *place)
    }

    /// The kind and rules of a bit; none where there is no register.
    #[must_use]
    pub fn bit_at(&self, bit: BitRef) -> Option<&Bit> {
        self.register_at(bit.address).map(|register| &register.bits[usize::from(bit.bit & 7)])
    }

    /// The name of a bit, `REGISTER.BIT`; its number where it has none.
    #[must_use]
    pub fn bit_name(&self, bit: BitRef) -> String {
        let register = self.register_at(bit.address);
        let name = register.and_then(|register| register.bits[usize::from(bit.bit & 7)].name);
        let name = name.map_or_else(|| bit.bit.to_string(), str::to_owned);
        format!("{}.{name}", register.map_or("?", |register| register.name))
    }

    /// The interrupt of this name.
    #[must_use]
    pub fn interrupt(&self, name: &str) -> Option<&Interrupt> {
        self.interrupts.iter().find(|interrupt| interrupt.name == name)
    }

    /// The fuse of this name.
    #[must_use]
    pub fn fuse(&self, name: &str) -> Option<Fuse> {
        self.fuses.iter().copied().find(|fuse| fuse.name == name)
    }

    /// The boot section that the fuses choose; none on a device without boot sections.
    #[must_use]
    pub fn boot_section(&self, fuses: FuseBytes) -> Option<BootSection> {
        let bootsz = self.fuse("BOOTSZ")?.value(fuses);
        self.boot_sections.iter().copied().find(|section| section.bootsz == bootsz)
    }

    /// The flash word address at which execution starts after a reset: the boot section if the fuse `BOOTRST` is
    /// programmed, else 0 (data sheet, "Boot Loader Support").
    #[must_use]
    pub fn reset_vector(&self, fuses: FuseBytes) -> FlashWordAddress {
        let boots = self.fuse("BOOTRST").is_some_and(|fuse| fuse.is_programmed(fuses));
        let section = self.boot_section(fuses).filter(|_| boots);
        section.map_or(FlashWordAddress(0), |section| FlashWordAddress(section.start_word))
    }

    /// The effect of a reset of this cause on the register of causes.
    #[must_use]
    pub fn reset_effect(&self, cause: ResetCause) -> Option<ResetEffect> {
        self.reset_effects.iter().copied().find(|effect| effect.cause == cause)
    }

    /// True if a data address is in the I/O area, between the register file and the SRAM, where only the addresses of
    /// [`Device::registers`] are implemented.
    #[must_use]
    pub fn is_io_area(&self, address: DataAddress) -> bool {
        (DataAddress::IO..self.memory.sram_start).contains(&address)
    }
}
