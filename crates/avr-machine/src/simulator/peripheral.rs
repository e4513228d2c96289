//! The interface of simulated peripherals, and their view of a step.

use crate::data_space::DataSpace;
use crate::device::{BitRef, Condition, Device, KnownBits, Register};
use avr_isa::DataAddress;
use three_valued::Truth;

/// The cycle of an event that never comes.
pub(super) const NEVER: u64 = u64::MAX;

/// The accesses of the program in a step, and the registers after it.
pub(super) struct View<'a> {
    /// The cells after the step.
    pub cells: &'a DataSpace<u8>,
    /// The registers that the step wrote, with the values, in order.
    pub writes: &'a [(DataAddress, u8)],
    /// The registers that the step read, in order.
    pub reads: &'a [DataAddress],
    /// Clock cycles at the end of the step.
    pub now: u64,
    /// True in the step in which the processor fell asleep.
    pub sleeping: bool,
}

impl View<'_> {
    /// The content of a register.
    pub fn get(&self, address: DataAddress) -> u8 {
        *self.cells.get(address)
    }

    /// True if a bit is 1.
    pub fn is_set(&self, bit: BitRef) -> bool {
        self.get(bit.address) & bit.mask() != 0
    }

    /// The value that the step wrote last to a register, if it did.
    pub fn written(&self, address: DataAddress) -> Option<u8> {
        self.writes.iter().rev().find(|(at, _)| *at == address).map(|(_, value)| *value)
    }

    /// True if the step read a register.
    pub fn was_read(&self, address: DataAddress) -> bool {
        self.reads.contains(&address)
    }

    /// True if a condition on stored bits holds.
    pub fn holds(&self, condition: &Condition) -> bool {
        let mut read = |address: DataAddress| KnownBits::exactly(self.get(address));
        condition.evaluate_refreshed(&mut read) == Truth::True
    }
}

/// The signals from peripherals to the processor.
#[derive(Clone, Debug, Default)]
pub(super) struct Signals {
    /// Flags that hardware raised and the program has not been told of, by data address.
    pub raised: Vec<u8>,
    /// True if the watchdog wants to reset the processor.
    pub watchdog_bites: bool,
    /// Bytes that the first USART sent.
    pub sent: Vec<u8>,
}

impl Signals {
    /// Raises a flag.
    pub fn raise(&mut self, flag: BitRef) {
        self.raised[flag.address.index()] |= flag.mask();
    }

    /// The raised flags of a register among some bits, of which the program is told now.
    pub fn take(&mut self, address: DataAddress, mask: u8) -> u8 {
        let Some(raised) = self.raised.get_mut(address.index()) else { return 0 };
        let told = *raised & mask;
        *raised &= !mask;
        told
    }

    /// True if a flag is raised.
    pub fn is_raised(&self, flag: BitRef) -> bool {
        self.raised[flag.address.index()] & flag.mask() != 0
    }
}

/// A peripheral of a simulated device. It never looks into a step that is under way: between steps it sees what the
/// program wrote and read ([`Self::observe`]), and during a step it answers what its registers contain.
pub(super) trait Peripheral {
    /// The registers whose writing concerns it.
    fn written_registers(&self) -> Vec<DataAddress>;

    /// The registers whose reading has an effect on it.
    fn read_registers(&self) -> Vec<DataAddress> {
        Vec::new()
    }

    /// The registers of which it determines bits.
    fn answered_registers(&self) -> Vec<DataAddress> {
        Vec::new()
    }

    /// The bits of such a register at a cycle not after [`Self::due`].
    fn input(&self, _address: DataAddress, _now: u64) -> u8 {
        0
    }

    /// The bits by register that it determines as the hardware does. Of what no peripheral names here nothing is known.
    fn known_bits(&self) -> Vec<(DataAddress, u8)>;

    /// True if the hardware surely has the same in some bits of a register at a cycle.
    fn is_exact(&self, _address: DataAddress, _mask: u8, _now: u64) -> bool {
        true
    }

    /// The cycle at which something happens by itself next.
    fn due(&self) -> u64 {
        NEVER
    }

    /// Lets happen what is due until `now`.
    fn run(&mut self, _now: u64, _signals: &mut Signals) {}

    /// Takes note of a step that wrote or read one of its registers, and of the state after a reset.
    fn observe(&mut self, view: &View<'_>, signals: &mut Signals);

    /// True if the flag will be raised at some time if the program does nothing.
    fn will_raise(&self, _flag: BitRef) -> bool {
        false
    }
}

/// A bit as an entry of [`Peripheral::known_bits`].
pub(super) fn known(bit: BitRef) -> (DataAddress, u8) {
    (bit.address, bit.mask())
}

/// The data address of a register.
pub(super) fn address(device: &'static Device, name: &str) -> Option<DataAddress> {
    device.register(name).map(|register| register.address)
}

/// A bit by its name alone, which is unique on these parts but for the numbers in TIMSK and TIFR.
pub(super) fn bit(device: &'static Device, name: &str) -> Option<BitRef> {
    let in_register = |register: &Register| {
        let bit = register.bits.iter().position(|bit| bit.name == Some(name))? as u8;
        Some(BitRef { address: register.address, bit })
    };
    device.registers.iter().find_map(in_register)
}
