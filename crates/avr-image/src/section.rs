//! The sections that take room in the device's memories.

use std::ops::Range;

use avr_isa::{DataAddress, FlashByteAddress};

use crate::placement::{DATA_OFFSET, EEPROM_OFFSET, FUSE_OFFSET};

/// A section of an ELF file that takes room in a memory of the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its name, such as `.data`.
    pub name: String,
    /// The memory and the address at run time (`.data` in SRAM, although it is loaded from flash).
    pub place: SectionPlace,
    /// Its size in bytes, not 0.
    pub size: u32,
    /// True if the file has content for it (`.text`, `.data`), or only its size (`.bss`, `.noinit`).
    pub initialised: bool,
}

/// The memory and the address of a section at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionPlace {
    /// In flash.
    Flash(FlashByteAddress),
    /// In the data space.
    Data(DataAddress),
    /// In another memory; the linker's address.
    Other(u32),
}

impl SectionPlace {
    pub(crate) fn new(address: u32) -> Self {
        match address {
            0..DATA_OFFSET => Self::Flash(FlashByteAddress(address)),
            DATA_OFFSET..EEPROM_OFFSET => Self::Data(DataAddress((address - DATA_OFFSET) as u16)),
            _ => Self::Other(address),
        }
    }
}

impl Section {
    /// First address and end in the data space, for a section that lies there.
    ///
    /// The end is a plain number because a section may end at 0x10000, where the data space does; one that claims
    /// to go on behind it is cut there.
    #[must_use]
    pub fn data_range(&self) -> Option<Range<u32>> {
        let SectionPlace::Data(start) = self.place else { return None };
        let start = u32::from(start.0);
        Some(start..start.saturating_add(self.size).min(0x1_0000))
    }

    /// First address and end in flash, for a section that lies there.
    #[must_use]
    pub fn flash_range(&self) -> Option<Range<u32>> {
        let SectionPlace::Flash(start) = self.place else { return None };
        Some(start.0..start.0.saturating_add(self.size))
    }
}

/// The linker's addresses of EEPROM symbols.
pub(crate) const EEPROM: Range<u32> = EEPROM_OFFSET..FUSE_OFFSET;
