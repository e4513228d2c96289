//! The data space: registers, I/O registers and SRAM under their data addresses.

use avr_isa::DataAddress;
use three_valued::ByteDomain;

/// The number of consecutive cells in a page, the unit in which changes are noted and states are shared.
pub const PAGE_CELLS: usize = 16;

/// The cells from data address 0 to RAMEND, with a note of the pages that were written.
///
/// A machine that is set back to an earlier state, or whose state is stored, looks only at the noted pages: the cost is
/// proportional to what changed.
#[derive(Clone, Debug)]
pub struct DataSpace<V> {
    cells: Vec<V>,
    changed: Vec<u64>,
    /// The cells that were written since [`Self::remember`] with their content before, oldest first.
    overwritten: Option<Vec<(DataAddress, V)>>,
}

impl<V: ByteDomain> DataSpace<V> {
    /// A data space of `length` cells (a multiple of [`PAGE_CELLS`]) that all hold `fill`; no page is noted as changed.
    #[must_use]
    pub fn new(length: usize, fill: V) -> Self {
        assert!(length.is_multiple_of(PAGE_CELLS), "a data space consists of whole pages");
        Self { cells: vec![fill; length], changed: vec![0; (length / PAGE_CELLS).div_ceil(64)], overwritten: None }
    }

    /// The number of cells.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// True if there are no cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The number of pages.
    #[must_use]
    pub fn pages(&self) -> usize {
        self.cells.len() / PAGE_CELLS
    }

    /// The cell at a data address, which must not lie above RAMEND.
    #[inline]
    #[must_use]
    pub fn get(&self, address: DataAddress) -> &V {
        &self.cells[address.index()]
    }

    /// Stores a value at a data address, which must not lie above RAMEND.
    #[inline]
    pub fn set(&mut self, address: DataAddress, value: V) {
        let index = address.index();
        let before = std::mem::replace(&mut self.cells[index], value);
        if let Some(overwritten) = &mut self.overwritten {
            overwritten.push((address, before));
        }
        let page = index / PAGE_CELLS;
        self.changed[page / 64] |= 1 << (page % 64);
    }

    /// Begins to remember what writes overwrite, from now on.
    pub fn remember(&mut self) {
        self.overwritten.get_or_insert_default().clear();
    }

    /// Puts back what was overwritten since [`Self::remember`], and remembers nothing any more. The notes of the pages that
    /// were written stay.
    pub fn put_back(&mut self) {
        for (address, before) in self.overwritten.take().into_iter().flatten().rev() {
            self.cells[address.index()] = before;
        }
    }

    /// Stops to remember what writes overwrite.
    pub fn forget(&mut self) {
        self.overwritten = None;
    }

    /// All cells in ascending order of their addresses.
    #[must_use]
    pub fn cells(&self) -> &[V] {
        &self.cells
    }

    /// The cells of a page.
    #[must_use]
    pub fn page(&self, page: usize) -> &[V] {
        &self.cells[page * PAGE_CELLS..(page + 1) * PAGE_CELLS]
    }

    /// Replaces the cells of a page without noting a change: for going to a stored state.
    ///
    /// # Panics
    /// If `cells` does not hold exactly one page.
    pub fn load_page(&mut self, page: usize, cells: &[V]) {
        self.cells[page * PAGE_CELLS..(page + 1) * PAGE_CELLS].clone_from_slice(cells);
    }

    /// The pages written since the notes were last cleared, in ascending order.
    pub fn changed_pages(&self) -> impl Iterator<Item = usize> + '_ {
        self.changed.iter().enumerate().flat_map(|(index, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros() as usize;
                (rest != 0).then(|| {
                    rest &= rest - 1;
                    index * 64 + bit
                })
            })
        })
    }

    /// Forgets which pages were written.
    pub fn clear_changed(&mut self) {
        self.changed.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_noted_by_page_until_cleared() {
        let mut space: DataSpace<u8> = DataSpace::new(0x900, 0);
        assert_eq!(space.changed_pages().count(), 0);
        for address in [0u16, 15, 0x8ff, 0x400] {
            space.set(DataAddress(address), 7);
        }
        assert_eq!(space.changed_pages().collect::<Vec<_>>(), [0, 0x40, 0x8f]);
        assert_eq!(space.page(0x40)[0], 7);
        space.clear_changed();
        space.load_page(0x40, &[1; PAGE_CELLS]);
        assert_eq!(space.changed_pages().count(), 0);
        assert_eq!(*space.get(DataAddress(0x405)), 1);
    }

    #[test]
    fn what_is_overwritten_can_be_put_back() {
        let mut space: DataSpace<u8> = DataSpace::new(0x100, 0);
        space.set(DataAddress(3), 1);
        space.remember();
        space.set(DataAddress(3), 2);
        space.set(DataAddress(4), 5);
        space.remember();
        for value in 7..10 {
            space.set(DataAddress(4), value);
        }
        space.put_back();
        assert_eq!((*space.get(DataAddress(3)), *space.get(DataAddress(4))), (2, 5));
        space.set(DataAddress(4), 6);
        space.put_back();
        assert_eq!(*space.get(DataAddress(4)), 6, "nothing was to be remembered");
        space.remember();
        space.set(DataAddress(4), 7);
        space.forget();
        space.put_back();
        assert_eq!(*space.get(DataAddress(4)), 7);
    }
}
