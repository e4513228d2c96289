//! The steps of an attempt to find a map, by program counters: what partitions on demand are found from.

use avr_isa::{DataAddress, FlashWordAddress};
use rustc_hash::{FxHashMap, FxHashSet};

/// Steps and joins of an attempt.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    /// Steps in a thread.
    pub(crate) ways: FxHashSet<(FlashWordAddress, FlashWordAddress)>,
    /// What is interrupted, with the first instruction of the handler and the number of the interrupt.
    pub(crate) begins: FxHashSet<(FlashWordAddress, FlashWordAddress, u8)>,
    /// The returns of the handler of each interrupt.
    pub(crate) ends: FxHashSet<(u8, FlashWordAddress)>,
    /// The registers that hold one of a few values before instructions.
    pub(crate) few: FxHashSet<(FlashWordAddress, DataAddress)>,
    /// The cells with known contents in states that were joined to one in which nobody knows which.
    pub(crate) lost: FxHashMap<FlashWordAddress, FxHashSet<DataAddress>>,
}
