//! Stimuli: the events from outside in a simulated run. `docs/stimulus.md` describes the file.

mod error;
mod read;
mod write;

use avr_isa::{DataAddress, EepromAddress};
use std::collections::BTreeMap;

use crate::device::{Device, ResetCause};
use crate::environment::Happening;
use crate::machine::eeprom_cell;
pub use error::{StimulusError, StimulusErrorKind};
use write::choice_name;

/// The system clock of a part as it leaves the factory, in hertz.
const FACTORY_CLOCK_HERTZ: u32 = 1_000_000;

/// The events from outside in a simulated run.
///
/// Without anything exact, peripherals behave as the data sheet says and the actions come on top of it. With it, the
/// run gets exactly the listed inputs and nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stimulus {
    /// Frequency of the system clock in hertz, for times that do not depend on it.
    pub clock_hertz: u32,
    /// The content of cells before the program starts, by cell as in [`crate::Input::Initial`]; all others are 0.
    pub initial: BTreeMap<DataAddress, u8>,
    /// Actions at cycles, by rising cycle.
    timed: Vec<(u64, Action)>,
    /// Actions before steps, by rising step.
    counted: Vec<(u64, Action)>,
    /// The steps with inputs, by rising number, if the run is exact.
    pub exact: Option<Vec<ExactStep>>,
}

impl Default for Stimulus {
    fn default() -> Self {
        Self {
            clock_hertz: FACTORY_CLOCK_HERTZ,
            initial: BTreeMap::new(),
            timed: Vec::new(),
            counted: Vec::new(),
            exact: None,
        }
    }
}

impl Stimulus {
    /// Exactly these inputs: the content of cells before the program starts, and the inputs of steps by rising number.
    #[must_use]
    pub fn exact(initial: BTreeMap<DataAddress, u8>, steps: Vec<ExactStep>) -> Self {
        Self { initial, exact: Some(steps), ..Self::default() }
    }

    /// Reads the text of a stimulus file for a device; `name` stands for it in errors.
    ///
    /// # Errors
    /// If the text is no RON, has fields or names that do not exist, or values out of range.
    pub fn parse(name: &str, text: &str, device: &'static Device) -> Result<Self, StimulusError> {
        read::stimulus(name, text, device)
    }

    /// The error that the text of an exact stimulus asks for something in a step that does not happen there, with the place
    /// where it does; `name` stands for the file.
    #[must_use]
    pub fn impossible(name: &str, text: &str, device: &'static Device, what: Happening, step: u64) -> StimulusError {
        read::impossible(name, text, device, what, step)
    }

    /// The stimulus as a file that [`Self::parse`] reads. Only exact stimuli can be written.
    #[must_use]
    pub fn exact_to_ron(&self, device: &'static Device) -> String {
        write::exact(self, device)
    }

    /// The causes of the resets that happen, apart from those by the watchdog: a machine must be told that they can.
    #[must_use]
    pub fn resets(&self) -> Vec<ResetCause> {
        let of_action = |(_, action): &(u64, Action)| match action {
            Action::Reset(cause) => Some(*cause),
            _ => None,
        };
        let of_step = |step: &ExactStep| match step.choice {
            Some(Happening::Reset(cause)) => Some(cause),
            _ => None,
        };
        let actions = self.timed.iter().chain(&self.counted).filter_map(of_action);
        let mut causes: Vec<ResetCause> = actions.chain(self.exact.iter().flatten().filter_map(of_step)).collect();
        causes.retain(|cause| *cause != ResetCause::Watchdog);
        causes.sort_unstable();
        causes.dedup();
        causes
    }

    /// The initial content of a byte of the EEPROM, if the stimulus gives it.
    #[must_use]
    pub fn eeprom(&self, address: EepromAddress, device: &Device) -> Option<u8> {
        self.initial.get(&eeprom_cell(device, address)).copied()
    }

    /// The action of this number among those at cycles.
    pub(super) fn timed(&self, index: usize) -> Option<(u64, &Action)> {
        self.timed.get(index).map(|(cycle, action)| (*cycle, action))
    }

    /// The action of this number among those before steps.
    pub(super) fn counted(&self, index: usize) -> Option<(u64, &Action)> {
        self.counted.get(index).map(|(step, action)| (*step, action))
    }
}

/// Something that the world does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Drives the pins in `mask` of the port whose PIN register is at this address.
    Pins { register: DataAddress, mask: u8, level: u8 },
    /// Sends bytes to the USART.
    Uart(Vec<u8>),
    /// Sets what a channel of the converter converts to.
    Adc { channel: u8, value: u16 },
    /// Determines the bits in `mask` of what hardware has in a register, until they are released.
    Input { register: DataAddress, mask: u8, value: u8 },
    /// Gives a register back to the modelled hardware.
    Release(DataAddress),
    /// Requests an interrupt.
    Interrupt(u8),
    /// Resets the processor.
    Reset(ResetCause),
}

/// The inputs of one step of an exact run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExactStep {
    /// The number of the step, from 0.
    pub step: u64,
    /// The input bits of registers, in the order in which the step asks. The last entry of a register serves all
    /// further questions about it.
    pub inputs: Vec<ExactInput>,
    /// The content of cells after a reset in this step, as in [`Stimulus::initial`].
    pub initial: BTreeMap<DataAddress, u8>,
    /// The event of the step, where there is a choice.
    pub choice: Option<Happening>,
}

/// Bits that hardware has in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExactInput {
    /// Data address of the register.
    pub register: DataAddress,
    /// The bits.
    pub mask: u8,
    /// Their values; 0 outside `mask`.
    pub value: u8,
}

/// The names of resets in stimulus files.
const RESETS: [(&str, ResetCause); 3] = [
    ("external_reset", ResetCause::External),
    ("brown_out_reset", ResetCause::BrownOut),
    ("watchdog_reset", ResetCause::Watchdog),
];

/// The name of going on.
const NONE: &str = "none";
/// The name of waking without an interrupt.
const WAKE: &str = "wake";
