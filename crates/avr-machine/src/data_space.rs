//! The data space: registers, I/O registers and SRAM under their data addresses.

use three_valued::ByteDomain;

/// How many consecutive cells share a page; a page is the unit in which changes are noted and states are shared.
pub const PAGE_CELLS: usize = 16;

/// The cells from data address 0 to RAMEND, with a note of the pages that were written.
///
/// A machine that is set back to an earlier state, or whose state is stored, looks only at the noted pages: the cost is
/// proportional to what changed.
#[derive(Clone, Debug)]
pub struct DataSpace<V> {
    cells: Vec<V>,
    changed: Vec<u64>,
}

impl<V: ByteDomain> DataSpace<V> {
    /// A data space of `length` cells (a multiple of [`PAGE_CELLS`]) that all hold `fill`; no page is noted as changed.
    #[must_use]
    pub fn new(length: usize, fill: V) -> Self {
        assert!(length.is_multiple_of(PAGE_CELLS), "a data space consists of whole pages");
        Self { cells: vec![fill; length], changed: vec![0; (length / PAGE_CELLS).div_ceil(64)] }
    }

    /// The number of cells.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there are no cells.
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
    pub fn get(&self, address: u16) -> &V {
        &self.cells[usize::from(address)]
    }

    /// Stores a value at a data address, which must not lie above RAMEND.
    #[inline]
    pub fn set(&mut self, address: u16, value: V) {
        let index = usize::from(address);
        self.cells[index] = value;
        let page = index / PAGE_CELLS;
        self.changed[page / 64] |= 1 << (page % 64);
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
    /// When `cells` does not hold exactly one page.
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
            space.set(address, 7);
        }
        assert_eq!(space.changed_pages().collect::<Vec<_>>(), [0, 0x40, 0x8f]);
        assert_eq!(space.page(0x40)[0], 7);
        space.clear_changed();
        space.load_page(0x40, &[1; PAGE_CELLS]);
        assert_eq!(space.changed_pages().count(), 0);
        assert_eq!(*space.get(0x405), 1);
    }
}
