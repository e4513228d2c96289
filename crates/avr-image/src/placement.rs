//! Sorting loaded bytes by their load address into flash, EEPROM and what is left out.
//!
//! Both file formats meet here, so a HEX file made from an ELF file gives the same memory.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::error::{ImageErrorKind, Position};
use crate::memory::{EepromContent, ProgramMemory};
use crate::warning::{LeftOut, Region, Warning};

/// The linker's offset of the data space, and the end of all flash addresses.
pub(crate) const DATA_OFFSET: u32 = 0x80_0000;
/// The linker's offset of the EEPROM, and the end of the data space.
pub(crate) const EEPROM_OFFSET: u32 = 0x81_0000;
/// The linker's offset of the fuse bytes, and the end of the EEPROM.
pub(crate) const FUSE_OFFSET: u32 = 0x82_0000;

/// The memories while a file is being read.
pub(crate) struct Placement {
    flash: Cells,
    eeprom: Cells,
    left_out: BTreeMap<Region, LeftOut>,
}

/// One memory: each cell with the value and the place in the file that gave it.
struct Cells {
    offset: u32,
    cells: Vec<Option<(u8, Position)>>,
}

impl Cells {
    fn new(offset: u32, size: u32) -> Self {
        Self { offset, cells: vec![None; size as usize] }
    }

    fn cell(&mut self, address: u32) -> Option<&mut Option<(u8, Position)>> {
        let index = address.checked_sub(self.offset)?;
        self.cells.get_mut(index as usize)
    }

    fn values(self) -> Vec<Option<u8>> {
        self.cells.into_iter().map(|cell| cell.map(|(value, _)| value)).collect()
    }
}

impl Placement {
    /// Empty memories; sizes that reach into the next memory's addresses are cut there.
    pub(crate) fn new(flash_bytes: u32, eeprom_bytes: u32) -> Self {
        Self {
            flash: Cells::new(0, flash_bytes.min(DATA_OFFSET)),
            eeprom: Cells::new(EEPROM_OFFSET, eeprom_bytes.min(FUSE_OFFSET - EEPROM_OFFSET)),
            left_out: BTreeMap::new(),
        }
    }

    /// Puts one byte to its load address.
    ///
    /// # Errors
    /// If the cell has another value already.
    pub(crate) fn put(&mut self, address: u32, value: u8, position: Position) -> Result<(), ImageErrorKind> {
        let cell = match self.flash.cell(address) {
            Some(cell) => Some(cell),
            None => self.eeprom.cell(address),
        };
        match cell {
            None => self.leave_out(address, value),
            Some(Some((first_value, first))) if *first_value != value => {
                let (first_value, first) = (*first_value, *first);
                return Err(ImageErrorKind::Overlap {
                    address,
                    first,
                    first_value,
                    second: position,
                    second_value: value,
                });
            }
            Some(Some(_)) => {}
            Some(empty) => *empty = Some((value, position)),
        }
        Ok(())
    }

    fn leave_out(&mut self, address: u32, value: u8) {
        let region = region(address);
        let entry = self.left_out.entry(region);
        let entry = entry.or_insert_with(|| LeftOut { region, ranges: Vec::new(), values: Vec::new(), bytes: 0 });
        entry.bytes += 1;
        if entry.values.len() < LeftOut::MAX_VALUES {
            entry.values.push(value);
        }
        extend(&mut entry.ranges, address);
    }

    /// The finished memories and a warning for each region that was left out.
    pub(crate) fn finish(self) -> (ProgramMemory, Option<EepromContent>, Vec<Warning>) {
        let warnings = self.left_out.into_values().map(Warning::LeftOut).collect();
        (ProgramMemory::new(self.flash.values()), EepromContent::new(self.eeprom.values()), warnings)
    }
}

/// Adds an address to the last range, or begins another one while there is room for it.
fn extend(ranges: &mut Vec<Range<u32>>, address: u32) {
    let end = address.saturating_add(1);
    if let Some(last) = ranges.last_mut().filter(|last| last.end == address) {
        last.end = end;
    } else if ranges.len() < LeftOut::MAX_RANGES {
        ranges.push(address..end);
    }
}

/// The memory of an address that is neither in the device's flash nor in its EEPROM.
fn region(address: u32) -> Region {
    match address {
        0..DATA_OFFSET => Region::BeyondFlash,
        DATA_OFFSET..EEPROM_OFFSET => Region::Data,
        EEPROM_OFFSET..FUSE_OFFSET => Region::BeyondEeprom,
        FUSE_OFFSET..0x83_0000 => Region::Fuses,
        0x83_0000..0x84_0000 => Region::Lock,
        0x84_0000..0x85_0000 => Region::Signature,
        0x85_0000..0x86_0000 => Region::UserSignatures,
        _ => Region::Unassigned,
    }
}
