//! The application of a boot loader: what lies in the flash below the boot section.

use avr_isa::{FlashWordAddress, Instruction};
use three_valued::fault::{Fault, is_on};

use crate::conditions::Application;
use crate::hazard::HazardKind;
use crate::machine::Machine;
use crate::program::{Fetched, Program};

/// `RJMP .-2`: stays where it is.
const STAY: Instruction = Instruction::Rjmp { offset: -1 };
/// Clock cycles of an instruction that stays where it is.
const STAY_CYCLES: u8 = 2;

impl Program {
    /// The program with instructions that stay where they are below a flash word address. LPM does not see them.
    pub(crate) fn ending_below(mut self, end: FlashWordAddress) -> Self {
        let stay = Fetched::Instruction { instruction: STAY, words: 1, cycles: STAY_CYCLES };
        (0..end.0).for_each(|address| self.put(FlashWordAddress(address), stay));
        self
    }
}

impl Application {
    /// True if runs end where it is entered.
    pub(crate) fn ends_runs(self) -> bool {
        self == Self::Any || self == Self::Absent && is_on(Fault::AbsentEntered)
    }
}

impl Machine {
    /// True if the device has a boot section.
    fn has_boot_section(&self) -> bool {
        self.boot_start.0 < self.device.memory.flash_words()
    }

    /// True for a flash word address in the application section: below the boot section of a device that has one.
    #[must_use]
    pub fn is_in_application(&self, address: FlashWordAddress) -> bool {
        self.has_boot_section() && address < self.boot_start
    }

    /// The hazard of execution at a flash word address where nothing is.
    pub(crate) fn outside(&self, address: FlashWordAddress) -> HazardKind {
        match self.options().application {
            Application::Absent if self.is_in_application(address) => HazardKind::AbsentApplication,
            _ => HazardKind::OutsideImage,
        }
    }

    /// The word of flash at an address as a simulator executes it: one that stays where it is where the run has ended, and ones
    /// only where flash is erased.
    #[must_use]
    pub fn executed_word(&self, address: FlashWordAddress) -> u16 {
        let stay = STAY.encode().ok().filter(|_| self.has_ended(address));
        let byte = |offset| self.program.byte(address.byte().0 + offset);
        stay.map_or_else(|| u16::from_le_bytes([byte(0), byte(1)]), |code| code.first)
    }

    /// True where execution is in an application of which nothing is known, so that the run has ended.
    #[must_use]
    pub fn has_ended(&self, pc: FlashWordAddress) -> bool {
        self.options().application.ends_runs() && self.is_in_application(pc)
    }
}
