//! Promises of the data sheet: events of the hardware that come in finite time, unless the program prevents them.
//!
//! The model leaves open when a timer overflows or a conversion ends, and so has runs on which they never do. A promise says of such a run
//! that the hardware has none of it.

use avr_isa::DataAddress;

use super::condition::{BitRef, Condition};

/// An event that comes in finite time. No run of the hardware stays for ever in states in which `lasts` is true, does not write any register
/// that is to be `untouched`, and shows again and again that the event has not come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    /// The event.
    pub event: Promised,
    /// The condition, over stored bits.
    pub lasts: Condition,
    /// Data addresses of the registers that nothing may write meanwhile, in rising order.
    pub untouched: Vec<DataAddress>,
    /// Section of the data sheet.
    pub section: &'static str,
}

/// An event that is promised, with what shows that it has not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promised {
    /// Hardware changes a bit. A state shows that it has not if its instruction reads the register.
    Change(BitRef),
    /// An interrupt is taken. A state shows that it is not if interrupts are let in there. The handler of the interrupt is in no state.
    Interrupt(u8),
}

impl Promise {
    /// True if nothing may write a register meanwhile.
    #[must_use]
    pub fn is_untouched(&self, address: DataAddress) -> bool {
        self.untouched.binary_search(&address).is_ok()
    }
}
