//! The form in which a device file is written: names instead of addresses, bits as the data sheet prints them.
//!
//! Bits are named `REGISTER.BIT`; a `#` for the bit means the bit with the same number as the one described.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::facts::{BootSection, Fuse, FuseBytes, Memory, Policy, ResetCause, SleepMode};
use super::register::{Changes, Protected};

/// A device file.
#[derive(Debug, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub(super) enum FileSource {
    /// A device of its own.
    Device(Box<DeviceSource>),
    /// Another device with fewer registers.
    Restriction(RestrictionSource),
    /// Another device with other memories.
    Variant(Box<VariantSource>),
}

/// A device of the same family as another: the same peripherals and interrupts, and what the data sheet that both share tells apart.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VariantSource {
    /// Name of the device.
    pub(super) name: &'static str,
    /// Name of the device that has everything else.
    pub(super) base: &'static str,
    pub(super) signature: (u8, u8, u8),
    pub(super) core: CoreSource,
    pub(super) memory: Memory,
    /// Bits and reset values of registers of the other device.
    pub(super) registers: Vec<VariantRegisterSource>,
    pub(super) default_fuses: FuseBytes,
    pub(super) fuses: Vec<Fuse>,
    pub(super) boot_sections: Vec<BootSection>,
}

/// The bits of a register where they are others than those of the other device.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VariantRegisterSource {
    pub(super) name: &'static str,
    pub(super) bits: &'static str,
    pub(super) reset: &'static str,
}

impl VariantSource {
    /// Makes the other device into this one; the name of the first register that the other one does not have, if there is any.
    pub(super) fn apply(self, device: &mut DeviceSource) -> Result<(), &'static str> {
        device.name = self.name;
        device.signature = self.signature;
        device.core = self.core;
        device.memory = self.memory;
        device.default_fuses = self.default_fuses;
        device.fuses = self.fuses;
        device.boot_sections = self.boot_sections;
        for changed in self.registers {
            let mut registers = device.peripherals.iter_mut().flat_map(|peripheral| &mut peripheral.registers);
            let register = registers.find(|register| register.name == changed.name).ok_or(changed.name)?;
            register.bits = changed.bits;
            register.reset = Some(changed.reset);
        }
        Ok(())
    }
}

/// A device that has only some registers of another.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RestrictionSource {
    /// Name of the device.
    pub(super) name: &'static str,
    /// Name of the device that it restricts.
    pub(super) base: &'static str,
    /// The registers that remain; all others are as if they did not exist, and conditions see their reset values.
    #[serde(default)]
    pub(super) only: Vec<&'static str>,
    /// Peripherals whose registers do not exist.
    #[serde(default)]
    pub(super) absent: Vec<&'static str>,
    /// Replaces the policy of the other device.
    pub(super) policy: Policy,
}

/// A device.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeviceSource {
    pub(super) name: &'static str,
    pub(super) data_sheet: &'static str,
    /// The device whose programs decide the bits that are as there.
    #[serde(default)]
    pub(super) like: Option<&'static str>,
    pub(super) signature: (u8, u8, u8),
    pub(super) core: CoreSource,
    pub(super) memory: Memory,
    pub(super) policy: Policy,
    pub(super) conditions: BTreeMap<&'static str, ConditionSource>,
    pub(super) peripherals: Vec<PeripheralSource>,
    /// Numbers of vectors without an interrupt.
    #[serde(default)]
    pub(super) reserved_vectors: Vec<u8>,
    pub(super) interrupts: Vec<InterruptSource>,
    #[serde(default)]
    pub(super) promises: Vec<PromiseSource>,
    pub(super) default_fuses: FuseBytes,
    pub(super) fuses: Vec<Fuse>,
    pub(super) fuse_resets: Vec<FuseResetSource>,
    pub(super) boot_sections: Vec<BootSection>,
    pub(super) reset_effects: Vec<ResetEffectSource>,
    pub(super) watchdog: Option<WatchdogSource>,
    pub(super) sleep: Option<SleepSource>,
    pub(super) clock_prescaler: Option<ClockPrescalerSource>,
    pub(super) self_programming: Option<SelfProgrammingSource>,
    pub(super) eeprom: Option<EepromSource>,
    #[serde(default)]
    pub(super) shifter: Option<ShifterSource>,
    #[serde(default)]
    pub(super) pins: PinsSource,
    #[serde(default)]
    pub(super) corruptions: Vec<CorruptionSource>,
    #[serde(default)]
    pub(super) unmodelled: Vec<UnmodelledSource>,
    #[serde(default)]
    pub(super) aliases: Vec<(&'static str, &'static str)>,
}

/// See [`super::PinFunctions`].
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PinsSource {
    /// The reset pin, a bit of PINx.
    #[serde(default)]
    pub(super) reset: Option<&'static str>,
    /// External interrupts, each with its pin.
    #[serde(default)]
    pub(super) external: Vec<(&'static str, &'static str)>,
    /// Ports with pin-change requests: PINx, the mask register and the flag.
    #[serde(default)]
    pub(super) changes: Vec<(&'static str, &'static str, &'static str)>,
    /// Ports of which some pins request: PINx, those pins, the mask register, the number of bits by which a pin is higher there, and the
    /// flag.
    #[serde(default)]
    pub(super) shifted_changes: Vec<(&'static str, u8, &'static str, u8, &'static str)>,
    /// The pins of the clocks of timers from outside: the number of the timer, the pin, and the condition under which only its port
    /// drives it.
    #[serde(default)]
    pub(super) clocks: Vec<(u8, &'static str, ConditionSource)>,
    /// The pins of captures, likewise.
    #[serde(default)]
    pub(super) captures: Vec<(u8, &'static str, ConditionSource)>,
}

/// See [`super::Core`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CoreSource {
    pub(super) architecture: &'static str,
    pub(super) vector_words: u8,
}

/// A condition on named bits.
#[derive(Debug, Default, Deserialize)]
pub(super) enum ConditionSource {
    /// True.
    #[default]
    Always,
    /// False.
    Never,
    /// Every part.
    All(Vec<ConditionSource>),
    /// At least one part.
    Any(Vec<ConditionSource>),
    /// The contrary.
    Not(Box<ConditionSource>),
    /// `REGISTER.BIT` is 1.
    Set(&'static str),
    /// `REGISTER.BIT` is 0.
    Clear(&'static str),
    /// `REGISTER.BIT` is stored as 1. What stands beside it must say that hardware cannot change it.
    Stored(&'static str),
    /// These bits of the register, the most significant first, spell this number.
    Equals(&'static str, Vec<&'static str>, u8),
    /// At least one of these bits of the register is 1.
    NonZero(&'static str, Vec<&'static str>),
    /// The condition of this name in the list of conditions.
    Named(&'static str),
}

/// Condition that is false where a file says nothing.
pub(super) fn never() -> ConditionSource {
    ConditionSource::Never
}

/// A peripheral with its registers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PeripheralSource {
    pub(super) name: &'static str,
    /// Section of the data sheet that describes the registers that name none themselves.
    #[serde(default)]
    pub(super) section: Option<&'static str>,
    #[serde(default)]
    pub(super) clocked_while: ConditionSource,
    /// See [`super::Peripheral::lines`].
    #[serde(default)]
    pub(super) lines: Vec<&'static str>,
    pub(super) registers: Vec<RegisterSource>,
    #[serde(default)]
    pub(super) pairs: Vec<PairSource>,
}

/// A register.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RegisterSource {
    pub(super) name: &'static str,
    /// Data address; of a hidden register its place among those.
    pub(super) at: u16,
    #[serde(default)]
    pub(super) hidden: bool,
    /// Section of the data sheet; that of the peripheral if missing.
    #[serde(default)]
    pub(super) section: Option<&'static str>,
    /// Eight names, bit 7 first, `-` for a reserved bit.
    pub(super) bits: &'static str,
    /// Eight of `0`, `1` and `x` (undefined), bit 7 first, spaces between them as one likes; all 0 if missing.
    #[serde(default)]
    pub(super) reset: Option<&'static str>,
    /// Kinds by the names of the bits, separated by spaces; `*` for all named bits. The others are plain.
    #[serde(default)]
    pub(super) kinds: BTreeMap<&'static str, KindSource>,
    /// Rules by the names of bits, likewise.
    #[serde(default)]
    pub(super) rules: BTreeMap<&'static str, RuleSource>,
    /// The programs that decide what bits do, by the names of the bits, likewise; lists that name the same bit add up.
    #[serde(default)]
    pub(super) decided_by: BTreeMap<&'static str, Vec<&'static str>>,
}

/// The behaviour of a bit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) enum KindSource {
    /// Stored, only set by reset and the like.
    ReadOnly,
    /// Acts when 1 is written, reads 0.
    Strobe,
    /// See [`super::Input`].
    Input {
        #[serde(default)]
        changes_while: ConditionSource,
        #[serde(default)]
        latched_by: Option<&'static str>,
        /// See [`super::Input::copies`].
        #[serde(default)]
        copies: Option<&'static str>,
        #[serde(default = "both")]
        changes: Changes,
        #[serde(default = "never")]
        zero_while: ConditionSource,
        #[serde(default = "never")]
        ones_while: ConditionSource,
        /// See [`super::Input::excludes`].
        #[serde(default)]
        excludes: (Vec<&'static str>, Vec<&'static str>),
        on_write: InputWriteSource,
        freedom: FreedomSource,
    },
    /// See [`super::Flag`].
    Flag {
        #[serde(default)]
        raised_while: ConditionSource,
        #[serde(default)]
        raised_by: Option<&'static str>,
        #[serde(default)]
        owed: Option<OwedSource>,
        #[serde(default = "never")]
        zero_while: ConditionSource,
        cleared_by: Vec<ClearedBySource>,
        freedom: FreedomSource,
    },
    /// See [`super::Pulse`].
    Pulse {
        #[serde(default = "never")]
        raised_while: ConditionSource,
        #[serde(default = "never")]
        zero_while: ConditionSource,
        #[serde(default = "never")]
        kept_while: ConditionSource,
        #[serde(default = "never")]
        lost_while: ConditionSource,
        /// See [`super::Pulse::within`].
        #[serde(default)]
        within: Option<u8>,
        freedom: FreedomSource,
    },
    /// See [`super::Window`].
    Window {
        cycles: u8,
        ones: Vec<&'static str>,
        #[serde(default)]
        zeros: Vec<&'static str>,
        #[serde(default)]
        doubtful_ones: Vec<&'static str>,
        #[serde(default)]
        clears: Vec<&'static str>,
        #[serde(default)]
        closed_by_write: bool,
        #[serde(default)]
        holds_interrupts_off: bool,
    },
}

/// See [`super::Owed`]: the hidden bits for one and for more than one.
#[derive(Debug, Deserialize)]
pub(super) enum OwedSource {
    /// The flag tells that all are gone, and the third bit is 1 then.
    All(&'static str, &'static str, &'static str),
    /// The flag tells that one is complete, while a condition is true.
    One(&'static str, &'static str, ConditionSource),
}

/// The direction in which hardware changes a bit where a file says nothing.
fn both() -> Changes {
    Changes::Both
}

/// The effect of a write to an input bit.
#[derive(Debug, Deserialize)]
pub(super) enum InputWriteSource {
    /// It is stored.
    Stored,
    /// It is lost.
    Discarded,
    /// It toggles the bit of the named register.
    Toggles(&'static str),
}

/// A way to clear a flag.
#[derive(Debug, Deserialize)]
pub(super) enum ClearedBySource {
    /// Writing 1.
    WriteOne,
    /// Writing 0.
    WriteZero,
    /// Entering the interrupt.
    InterruptEntry,
    /// Reading the named register.
    Read(&'static str),
    /// Writing the named register.
    Write(&'static str),
    /// Reading the first and then accessing the second; the hidden bit that remembers the first.
    ReadThenAccess(&'static str, &'static str, &'static str),
}

/// Who determines.
#[derive(Debug, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub(super) enum FreedomSource {
    /// The environment.
    Real,
    /// The hardware.
    Abstracted,
    /// The environment while the condition holds.
    RealWhile(ConditionSource),
    /// The environment while the condition holds, else undefined.
    RealOrUndefined(ConditionSource),
    /// The environment, if so many clock cycles have passed.
    RealEvery(u16),
    /// The same while the condition holds.
    RealEveryWhile(u16, ConditionSource),
    /// Not known: the data sheet does not say.
    Undefined,
    /// The hardware while the condition holds, else undefined.
    AbstractedWhile(ConditionSource),
}

/// Rules on writing a bit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleSource {
    #[serde(default)]
    pub(super) writable_while: ConditionSource,
    #[serde(default = "never")]
    pub(super) perhaps_writable_while: ConditionSource,
    #[serde(default)]
    pub(super) refusal: Option<&'static str>,
    /// Register, condition, and the flag that a collision sets.
    #[serde(default)]
    pub(super) set_by_write: Option<(&'static str, ConditionSource, Option<&'static str>)>,
    /// Bits of that register of which the write must set one; every write counts if there are none.
    #[serde(default)]
    pub(super) set_by_ones: Vec<&'static str>,
    /// The window bit of the same register that must be open, and for what changes.
    #[serde(default)]
    pub(super) guard: Option<(&'static str, Protected)>,
    #[serde(default = "never")]
    pub(super) forced_one_while: ConditionSource,
}

/// A 16-bit register.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PairSource {
    pub(super) name: &'static str,
    pub(super) low: &'static str,
    pub(super) high: &'static str,
    #[serde(default)]
    pub(super) access: PairAccess,
    /// The programs that decide how the halves depend on each other.
    #[serde(default)]
    pub(super) decided_by: Vec<&'static str>,
}

/// The dependency between the two halves of a 16-bit register.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) enum PairAccess {
    /// Not at all.
    #[default]
    Separate,
    /// Through the shared byte of this number when written and read.
    Temp(u8),
    /// Through the shared byte of this number when written, directly when read.
    TempWrite(u8),
    /// Reading the low byte locks the result, which the hidden bit `lock` remembers, until the high byte is read; it is left adjusted
    /// while `left_adjusted` is 1.
    Locked { lock: &'static str, left_adjusted: &'static str },
}

/// An interrupt source.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InterruptSource {
    pub(super) number: u8,
    pub(super) name: &'static str,
    pub(super) enable: &'static str,
    pub(super) request: RequestSource,
    #[serde(default = "never")]
    pub(super) level_while: ConditionSource,
    #[serde(default)]
    pub(super) entry_clears: Vec<(&'static str, ConditionSource)>,
    pub(super) wakes_from: Vec<&'static str>,
    /// Conditions of waking from some of those modes.
    #[serde(default)]
    pub(super) wakes_if: Vec<(Vec<&'static str>, WakeConditionSource)>,
    /// The programs that decide when it is taken and what its entry does.
    pub(super) decided_by: Vec<&'static str>,
}

/// See [`super::WakeCondition`].
#[derive(Debug, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub(super) enum WakeConditionSource {
    Only(ConditionSource),
    Surely(ConditionSource),
}

/// The source of a request.
#[derive(Debug, Deserialize)]
pub(super) enum RequestSource {
    /// The flag, cleared by the entry.
    Latched(&'static str),
    /// The flag, cleared by software alone.
    Persistent(&'static str),
    /// The condition.
    Condition { holds: ConditionSource, freedom: FreedomSource },
}

/// See [`super::Promise`]: hardware changes a flag or a pulse, and makes the request of which it is the flag.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PromiseSource {
    /// `REGISTER.BIT`.
    pub(super) bit: &'static str,
    /// The condition under which it comes, beside that the bit has not changed.
    pub(super) holds: ConditionSource,
    /// The registers that nothing may write meanwhile, beside that of the bit.
    pub(super) untouched: Vec<&'static str>,
    pub(super) section: &'static str,
    pub(super) decided_by: Vec<&'static str>,
}

/// See [`super::FuseReset`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FuseResetSource {
    pub(super) fuse: &'static str,
    pub(super) register: &'static str,
    pub(super) bits: Vec<&'static str>,
    pub(super) programmed: u8,
    pub(super) unprogrammed: u8,
    #[serde(default)]
    pub(super) locked_when_programmed: bool,
}

/// See [`super::ResetEffect`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResetEffectSource {
    pub(super) cause: ResetCause,
    pub(super) register: &'static str,
    pub(super) sets: Vec<&'static str>,
    #[serde(default)]
    pub(super) keeps: Vec<&'static str>,
    #[serde(default)]
    pub(super) undefined: Vec<&'static str>,
}

/// See [`super::Watchdog`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WatchdogSource {
    pub(super) reset_enable: &'static str,
    pub(super) interrupt_enable: &'static str,
    pub(super) reset_flag: &'static str,
    pub(super) prescaler: Vec<&'static str>,
    pub(super) timeout_cycles: Vec<u32>,
    pub(super) oscillator_hertz: u32,
    pub(super) section: &'static str,
    pub(super) decided_by: Vec<&'static str>,
}

/// See [`super::Sleep`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SleepSource {
    pub(super) enable: &'static str,
    pub(super) register: &'static str,
    pub(super) mode_bits: Vec<&'static str>,
    pub(super) modes: Vec<SleepMode>,
    /// Bit, condition, modes: see [`super::Sleep::starts`].
    #[serde(default)]
    pub(super) starts: Vec<(&'static str, ConditionSource, Vec<&'static str>)>,
    pub(super) section: &'static str,
    pub(super) decided_by: Vec<&'static str>,
}

/// See [`super::ClockPrescaler`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClockPrescalerSource {
    pub(super) register: &'static str,
    pub(super) bits: Vec<&'static str>,
    pub(super) divisions: Vec<u16>,
    pub(super) section: &'static str,
    pub(super) decided_by: Vec<&'static str>,
}

/// See [`super::SelfProgramming`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SelfProgrammingSource {
    pub(super) enable: &'static str,
    pub(super) operations: Vec<(&'static str, &'static str)>,
    pub(super) redirects_lpm: Vec<&'static str>,
    #[serde(default)]
    pub(super) signature: Option<&'static str>,
    pub(super) only_from_boot_section: bool,
    pub(super) section: &'static str,
    pub(super) decided_by: Vec<&'static str>,
}

/// See [`super::Eeprom`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EepromSource {
    pub(super) read: &'static str,
    pub(super) program: &'static str,
    #[serde(default)]
    pub(super) mode_bits: Vec<&'static str>,
    pub(super) data: &'static str,
    pub(super) address_low: &'static str,
    #[serde(default)]
    pub(super) address_high: Option<&'static str>,
    pub(super) section: &'static str,
    pub(super) decided_by: Vec<&'static str>,
}

/// See [`super::Shifter`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShifterSource {
    pub(super) strobe: &'static str,
    pub(super) strobed_while: ConditionSource,
    pub(super) counter: (&'static str, Vec<&'static str>),
    pub(super) overflow: &'static str,
    pub(super) data: &'static str,
    pub(super) input: &'static str,
    pub(super) buffer: &'static str,
    /// Strobe, bit, condition.
    pub(super) toggles: (&'static str, &'static str, ConditionSource),
    /// PINx and its bits.
    pub(super) drives: (&'static str, Vec<&'static str>),
    pub(super) section: &'static str,
    pub(super) decided_by: Vec<&'static str>,
}

/// See [`super::Unmodelled`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UnmodelledSource {
    pub(super) when_set: &'static str,
    pub(super) what: &'static str,
    pub(super) section: &'static str,
    pub(super) decided_by: Vec<&'static str>,
}

/// See [`super::Corruption`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CorruptionSource {
    pub(super) when_changed: &'static str,
    pub(super) registers: Vec<&'static str>,
    pub(super) section: &'static str,
    pub(super) decided_by: Vec<&'static str>,
}
