//! The cells of the stack pointer.

use avr_isa::DataAddress;
use three_valued::ByteDomain;

use crate::data_space::DataSpace;

/// The stack pointer, by the data addresses of its halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackPointer {
    /// SPL.
    pub low: DataAddress,
    /// SPH, where there is one.
    pub high: Option<DataAddress>,
}

impl StackPointer {
    /// True for the data address of a half.
    #[must_use]
    pub fn contains(self, address: DataAddress) -> bool {
        address == self.low || Some(address) == self.high
    }

    /// The data addresses of the halves.
    pub fn cells(self) -> impl Iterator<Item = DataAddress> {
        [self.low].into_iter().chain(self.high)
    }

    /// The value, given those of the halves; `None` if one of them is not known.
    pub fn value(self, half: impl Fn(DataAddress) -> Option<u8>) -> Option<DataAddress> {
        let high = self.high.map_or(Some(0), &half)?;
        Some(DataAddress::of_bytes(half(self.low)?, high))
    }

    /// The value in a data space, if it is known.
    pub fn value_in<V: ByteDomain>(self, data: &DataSpace<V>) -> Option<DataAddress> {
        self.value(|address| data.get(address).known())
    }

    /// The value in a concrete data space.
    #[must_use]
    pub fn concrete(self, data: &DataSpace<u8>) -> DataAddress {
        DataAddress::of_bytes(*data.get(self.low), self.high.map_or(0, |high| *data.get(high)))
    }
}
