//! The contents of flash and EEPROM: which bytes the image gives, and their values.

use std::ops::Range;

use avr_isa::{EepromAddress, FlashByteAddress, FlashWordAddress};

/// Flash as the image leaves it. Look-ups take constant time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramMemory {
    cells: Box<[Option<u8>]>,
}

impl ProgramMemory {
    pub(crate) fn new(cells: Vec<Option<u8>>) -> Self {
        Self { cells: cells.into_boxed_slice() }
    }

    /// Size of the device's flash in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> u32 {
        // The cells are allocated from a `u32` size.
        self.cells.len() as u32
    }

    /// The byte that the image puts there; `None` where the flash stays erased (the device reads 0xff) or ends.
    #[must_use]
    pub fn byte(&self, address: FlashByteAddress) -> Option<u8> {
        self.cells.get(address.0 as usize).copied().flatten()
    }

    /// The little-endian word that the image puts there; `None` where both bytes are erased or the flash ends.
    ///
    /// If the image gives one byte only, the other one is 0xff, as on the device.
    #[must_use]
    pub fn word(&self, address: FlashWordAddress) -> Option<u16> {
        let low = address.byte();
        let bytes = [self.byte(low), self.byte(FlashByteAddress(low.0.checked_add(1)?))];
        if bytes == [None, None] {
            return None;
        }
        Some(u16::from_le_bytes(bytes.map(|byte| byte.unwrap_or(0xff))))
    }

    /// The maximal ranges of bytes that the image gives, in ascending order.
    pub fn ranges(&self) -> impl Iterator<Item = Range<FlashByteAddress>> + '_ {
        let mut next = 0;
        std::iter::from_fn(move || {
            let start = next + self.cells[next..].iter().position(Option::is_some)?;
            let length = self.cells[start..].iter().take_while(|cell| cell.is_some()).count();
            next = start + length;
            Some(FlashByteAddress(start as u32)..FlashByteAddress(next as u32))
        })
    }

    /// The words of which the image gives at least one byte, in ascending order.
    pub fn words(&self) -> impl Iterator<Item = (FlashWordAddress, u16)> + '_ {
        let count = self.size_bytes().div_ceil(2);
        (0..count).filter_map(|index| {
            let address = FlashWordAddress(index);
            self.word(address).map(|word| (address, word))
        })
    }

    /// The number of bytes that the image gives.
    #[must_use]
    pub fn used_bytes(&self) -> u32 {
        self.cells.iter().filter(|cell| cell.is_some()).count() as u32
    }
}

/// EEPROM content that travels with the image (section `.eeprom`, load addresses from 0x810000).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EepromContent {
    cells: Box<[Option<u8>]>,
}

impl EepromContent {
    pub(crate) fn new(cells: Vec<Option<u8>>) -> Option<Self> {
        cells.iter().any(Option::is_some).then(|| Self { cells: cells.into_boxed_slice() })
    }

    /// The byte that the image puts there; `None` where it gives none or the EEPROM ends.
    #[must_use]
    pub fn byte(&self, address: EepromAddress) -> Option<u8> {
        self.cells.get(usize::from(address.0)).copied().flatten()
    }
}
