//! Facts about a device that are neither registers nor interrupts: memories, core, fuses, sleep, watchdog.

use avr_isa::{DataAddress, FeatureSet, FlashByteAddress};
use serde::{Deserialize, Deserializer};

use crate::data_space::PAGE_CELLS;

use super::condition::{BitRef, Condition};
use super::register::ResetValue;

/// The memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Size of the flash in bytes.
    pub flash_bytes: u32,
    /// Size of a flash page (the unit of self-programming) in bytes.
    pub flash_page_bytes: u16,
    /// First data address of the internal SRAM.
    #[serde(deserialize_with = "data_address")]
    pub sram_start: DataAddress,
    /// Last data address of the internal SRAM (`RAMEND`).
    #[serde(deserialize_with = "data_address")]
    pub sram_end: DataAddress,
    /// Size of the EEPROM in bytes.
    pub eeprom_bytes: u16,
}

/// A data address from the number in a table.
fn data_address<'de, D: Deserializer<'de>>(source: D) -> Result<DataAddress, D::Error> {
    u16::deserialize(source).map(DataAddress)
}

impl Memory {
    /// Data address of the first cell behind the SRAM that no program reaches: bytes that registers share unseen. Hidden registers follow
    /// in the second half of the same page, and the cells of latched bits in the next one. A part with more I/O registers has a page more
    /// of each.
    #[must_use]
    pub const fn shared_start(&self) -> DataAddress {
        DataAddress::of_index((self.sram_end.index() + 1).next_multiple_of(PAGE_CELLS))
    }

    /// The number of pages for the cells of latched bits, and half of all pages: 2 where the I/O registers end above data address 0xff, else 1.
    const fn pages(&self) -> u16 {
        if self.sram_start.0 > 0x100 { 2 } else { 1 }
    }

    /// The number of hidden registers for which the state has room.
    pub(crate) const fn hidden_room(&self) -> u16 {
        self.pages() * PAGE_CELLS as u16 - PAGE_CELLS as u16 / 2
    }

    /// Data addresses behind the hidden registers: one for each register with bits that are latched.
    pub(crate) fn pending_cells(&self) -> impl ExactSizeIterator<Item = DataAddress> + use<> {
        self.hidden_start().wrapping_add(self.hidden_room()).until(self.unreached_end())
    }

    /// Data address behind the last cell that no program reaches.
    #[must_use]
    pub const fn unreached_end(&self) -> DataAddress {
        self.shared_start().wrapping_add(2 * self.pages() * PAGE_CELLS as u16)
    }

    /// Data address of the first hidden register.
    #[must_use]
    pub(crate) const fn hidden_start(&self) -> DataAddress {
        self.shared_start().wrapping_add(PAGE_CELLS as u16 / 2)
    }

    /// Size of the flash in words.
    #[must_use]
    pub const fn flash_words(&self) -> u32 {
        FlashByteAddress(self.flash_bytes).word().0
    }
}

/// The processor core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Core {
    /// Architecture as binutils and GCC name it (`avr5`).
    pub architecture: &'static str,
    /// The features of its instruction set.
    pub features: FeatureSet,
    /// Bytes of a return address on the stack: 2, or 3 beyond 128 KiB of flash.
    pub pc_bytes: u8,
    /// Words of an interrupt vector: 2, or 1 on parts without JMP.
    pub vector_words: u8,
}

/// One choice of the boot section by the `BOOTSZ` fuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BootSection {
    /// Value of the fuse field `BOOTSZ` (bits as in the fuse byte: 1 is unprogrammed).
    pub bootsz: u8,
    /// First word address of the section; it reaches to the end of the flash.
    pub start_word: u32,
}

/// One of the fuse bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub enum FuseByte {
    /// The low fuse byte.
    Low,
    /// The high fuse byte.
    High,
    /// The extended fuse byte.
    Extended,
}

/// The three fuse bytes; a programmed fuse is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FuseBytes {
    /// The low fuse byte.
    pub low: u8,
    /// The high fuse byte.
    pub high: u8,
    /// The extended fuse byte.
    pub extended: u8,
}

/// A fuse, or a field of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fuse {
    /// Name in the data sheet.
    pub name: &'static str,
    /// The byte in which it is.
    pub byte: FuseByte,
    /// Its bits in that byte.
    pub mask: u8,
}

impl Fuse {
    /// The bits of the fuse, shifted down.
    #[must_use]
    pub fn value(&self, bytes: FuseBytes) -> u8 {
        let byte = match self.byte {
            FuseByte::Low => bytes.low,
            FuseByte::High => bytes.high,
            FuseByte::Extended => bytes.extended,
        };
        (byte & self.mask).checked_shr(self.mask.trailing_zeros()).unwrap_or(0)
    }

    /// True if a single fuse is programmed, which is the value 0.
    #[must_use]
    pub fn is_programmed(&self, bytes: FuseBytes) -> bool {
        self.value(bytes) == 0
    }
}

/// A register whose content after reset depends on a fuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FuseReset {
    /// Name of the fuse.
    pub fuse: &'static str,
    /// Data address of the register.
    pub address: DataAddress,
    /// The bits that the fuse determines.
    pub mask: u8,
    /// Their value while the fuse is programmed (0), in place.
    pub programmed: u8,
    /// Their value while it is unprogrammed (1), in place.
    pub unprogrammed: u8,
    /// True if the bits keep that value for ever while the fuse is programmed (`WDTON`).
    pub locked_when_programmed: bool,
}

/// A cause of reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
pub enum ResetCause {
    /// The supply came up.
    PowerOn,
    /// The reset pin was low.
    External,
    /// The supply fell below the brown-out level.
    BrownOut,
    /// The watchdog timed out in system reset mode.
    Watchdog,
}

/// The effect of a reset on the register of reset causes. Every other register gets its reset value, and the SRAM is
/// kept except at power-on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetEffect {
    /// The cause.
    pub cause: ResetCause,
    /// Data address of the register of causes (`MCUSR`).
    pub address: DataAddress,
    /// Bits that are 1 afterwards.
    pub sets: u8,
    /// Bits that keep their value.
    pub keeps: u8,
    /// Bits that are undefined afterwards. All others are 0.
    pub undefined: u8,
}

impl ResetEffect {
    /// The content after a reset, where nothing but power-on makes the kept bits meaningless.
    #[must_use]
    pub const fn from(&self, before: ResetValue) -> ResetValue {
        ResetValue {
            value: self.sets | before.value & self.keeps & !self.undefined,
            undefined: (self.undefined | before.undefined & self.keeps) & !self.sets,
        }
    }
}

/// The watchdog. The change window is a [`super::BitKind::Window`] of its register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watchdog {
    /// System reset mode is on while this bit is 1 (`WDE`).
    pub reset_enable: BitRef,
    /// Interrupt mode is on while this bit is 1 (`WDIE`); with both on, an interrupt comes first and then the reset.
    pub interrupt_enable: BitRef,
    /// The reset cause that keeps `reset_enable` at 1 (`WDRF`).
    pub reset_flag: BitRef,
    /// The prescaler bits, least significant first (`WDP0` to `WDP3`).
    pub prescaler: Vec<BitRef>,
    /// Cycles of its own oscillator until it times out, by value of the prescaler bits; other values are reserved.
    pub timeout_cycles: Vec<u32>,
    /// Nominal frequency of its oscillator in hertz.
    pub oscillator_hertz: u32,
}

/// Sleep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sleep {
    /// `SLEEP` puts the processor to sleep while this bit is 1 (`SE`); else it does nothing.
    pub enable: BitRef,
    /// Data address of the register that selects the mode.
    pub mode_address: DataAddress,
    /// The bits that select the mode.
    pub mode_mask: u8,
    /// The modes; other values of the bits are reserved.
    pub modes: Vec<SleepMode>,
    /// Bits that are set where the condition holds when one of these modes is entered (`ADSC`: a conversion begins).
    pub starts: Vec<(BitRef, Condition, Vec<&'static str>)>,
}

/// A sleep mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SleepMode {
    /// Name: the data sheet's in lower case with underscores.
    pub name: &'static str,
    /// Value of the mode bits, in place.
    pub value: u8,
    /// The effect of a level that requests an interrupt and goes away before the end of the start-up time.
    #[serde(default)]
    pub silent_wake: SilentWake,
}

/// The effect of a level that requests an interrupt and goes away before the end of the start-up time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum SilentWake {
    /// There is no start-up time.
    #[default]
    Never,
    /// It wakes the processor, and no handler is entered (data sheet, "Low Level Interrupt").
    Wakes,
    /// The data sheet does not say.
    Undefined,
}

/// The prescaler of the system clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockPrescaler {
    /// Data address of the register (`CLKPR`).
    pub address: DataAddress,
    /// The field that selects the division.
    pub mask: u8,
    /// Division by value of the field; other values are reserved.
    pub divisions: Vec<u16>,
}

/// Self-programming by `SPM`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfProgramming {
    /// The bit that arms `SPM`, and `LPM` for reading fuses, lock bits and the signature (`SPMEN`): a [`super::BitKind::Window`].
    pub enable: BitRef,
    /// The bits that select the operation; with none of them, `SPM` fills the page buffer.
    pub operations: Vec<(&'static str, BitRef)>,
    /// Bits that turn the next `LPM` into a read of fuses and lock bits.
    pub redirects_lpm: Vec<BitRef>,
    /// The bit that turns it into a read of the signature row, which has the bytes of [`super::Device::signature`] at 0, 2 and 4. None where
    /// programs cannot read it.
    pub signature: Option<BitRef>,
    /// True if `SPM` works only from the boot section.
    pub only_from_boot_section: bool,
}

/// Functions of pins that the simulator needs to know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PinFunctions {
    /// The reset pin, as the bit of PINx that it has where the fuse RSTDISBL makes it a port.
    pub reset: Option<BitRef>,
    /// External interrupts by name, each with the bit of PINx that it looks at.
    pub external: Vec<(&'static str, BitRef)>,
    /// Ports with pin-change requests.
    pub changes: Vec<PinChanges>,
    /// The pins whose edges clock timers.
    pub clocks: Vec<TimerPin>,
    /// The pins whose edges trigger captures.
    pub captures: Vec<TimerPin>,
}

/// A pin at whose edges a timer looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimerPin {
    /// The number of the timer.
    pub timer: u8,
    /// The bit of PINx.
    pub pin: BitRef,
    /// The condition under which nothing but PORTx and DDRx determines what the program drives there.
    pub driven_while: Condition,
}

/// The pin-change requests of pins of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinChanges {
    /// Data address of PINx.
    pub pins: DataAddress,
    /// The pins.
    pub of: u8,
    /// Data address of the register that lets them request.
    pub mask: DataAddress,
    /// The number of bits by which the bit of a pin in that register is above the one in PINx.
    pub shift: u8,
    /// The flag of the request.
    pub flag: BitRef,
}

/// The registers of the EEPROM; its size is in [`Memory`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eeprom {
    /// The strobe that reads the addressed byte into the data register (`EERE`); it has no effect while `program` is 1.
    pub read: BitRef,
    /// The pulse that programs the addressed byte (`EEPE`), 1 until it is done.
    pub program: BitRef,
    /// The mode bits in the same register, 0 where there are none; their value shifted down is 0: erase and write,
    /// 1: erase only (the byte becomes 0xff), 2: write only (the byte becomes the conjunction), 3: reserved.
    pub mode_mask: u8,
    /// Data address of the data register.
    pub data: DataAddress,
    /// Data address of the low byte of the address register.
    pub address_low: DataAddress,
    /// Data address of its high byte, where there is one.
    pub address_high: Option<DataAddress>,
}

/// A shift register with a counter that strobes clock (data sheet, "USI").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shifter {
    /// Writing 1 to this bit clocks both (`USICLK`).
    pub strobe: BitRef,
    /// It does so while this is true, before the write and after it; where only one of both holds the data sheet does not say.
    pub strobed_while: Condition,
    /// Data address of the register with the counter, and its bits, the lowest first.
    pub counter: (DataAddress, Vec<u8>),
    /// The flag that is set when the counter goes from its largest number to 0.
    pub overflow: BitRef,
    /// Data address of the shift register, whose bits move up.
    pub data: DataAddress,
    /// The bit from which it takes its lowest one.
    pub input: BitRef,
    /// Data address of the register that takes the data with the overflow.
    pub buffer: DataAddress,
    /// Writing 1 to the first bit toggles the second (`USITC`) while the condition is true after the write; else the data sheet leaves
    /// it open.
    pub toggles: (BitRef, BitRef, Condition),
    /// Data address of PINx of the port whose pins it may drive, and those pins.
    pub drives: (DataAddress, u8),
}

/// A bit that switches on what no model follows: a step that sets it is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unmodelled {
    /// The bit.
    pub when_set: BitRef,
    /// The words for it in a report.
    pub what: &'static str,
}

/// Registers whose content is unknown after a write changed a bit (data sheet, `ASSR`). Reserved bits stay 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corruption {
    /// The bit.
    pub when_changed: BitRef,
    /// Data addresses of the registers.
    pub registers: Vec<DataAddress>,
}

/// The severity of things that real programs sometimes do harmlessly, and the presence of interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Writing 1 to a reserved bit.
    pub reserved_bit: Severity,
    /// Reading or writing an address in the I/O area at which there is no register.
    pub reserved_register: Severity,
    /// The meaning of setting the I flag and executing `RETI`.
    pub interrupts: InterruptPolicy,
}

/// The severity of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Severity {
    /// A remark in the report; the path goes on.
    Note,
    /// A hazard; the path ends.
    Hazard,
}

/// The presence of interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum InterruptPolicy {
    /// They exist as the interrupt table says.
    Modelled,
    /// They do not: setting the I flag and executing `RETI` are hazards.
    Forbidden,
}
