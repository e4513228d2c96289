//! The cells of the stack pointer.

use three_valued::ByteDomain;

use crate::data_space::DataSpace;

/// The stack pointer, by the data addresses of its halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackPointer {
    /// SPL.
    pub low: u16,
    /// SPH, where there is one.
    pub high: Option<u16>,
}

impl StackPointer {
    /// True for the data address of a half.
    #[must_use]
    pub fn contains(self, address: u16) -> bool {
        address == self.low || Some(address) == self.high
    }

    /// The data addresses of the halves.
    pub fn cells(self) -> impl Iterator<Item = u16> {
        [self.low].into_iter().chain(self.high)
    }

    /// The value, given those of the halves; `None` if one of them is not known.
    pub fn value(self, half: impl Fn(u16) -> Option<u8>) -> Option<u16> {
        let high = self.high.map_or(Some(0), &half)?;
        Some(u16::from_le_bytes([half(self.low)?, high]))
    }

    /// The value in a data space, if it is known.
    pub fn value_in<V: ByteDomain>(self, data: &DataSpace<V>) -> Option<u16> {
        self.value(|address| data.get(address).known())
    }

    /// The value in a concrete data space.
    #[must_use]
    pub fn concrete(self, data: &DataSpace<u8>) -> u16 {
        u16::from_le_bytes([*data.get(self.low), self.high.map_or(0, |high| *data.get(high))])
    }
}
