//! Memories that share what they have in common: pages of cells and blocks of pages, each stored once.

use std::hash::{BuildHasherDefault, Hash, Hasher};

use avr_isa::DataAddress;
use avr_machine::PAGE_CELLS;
use indexmap::IndexSet;
use rustc_hash::FxHasher;
use three_valued::TvByte;

/// The number of pages in a block.
pub const BLOCK_PAGES: usize = 16;

/// The cells of a page.
pub type Page = [TvByte; PAGE_CELLS];

/// The pages of a block, by number.
pub type Block = [u32; BLOCK_PAGES];

type Unique<T> = IndexSet<T, BuildHasherDefault<FxHasher>>;

/// A page with a hash of few steps.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hashed(Page);

impl Hash for Hashed {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let number = |byte: TvByte| u32::from_le_bytes([byte.value(), byte.known_mask(), byte.low(), byte.high()]);
        for two in self.0.chunks_exact(2) {
            state.write_u64(u64::from(number(two[0])) << 32 | u64::from(number(two[1])));
        }
    }
}

/// The content of all cells: the blocks, by number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Memory(Box<[u32]>);

impl Memory {
    /// The memory that consists of these blocks.
    #[must_use]
    pub fn new(blocks: Vec<u32>) -> Self {
        Self(blocks.into())
    }

    /// The blocks, by number.
    #[must_use]
    pub fn blocks(&self) -> &[u32] {
        &self.0
    }
}

/// The pages and blocks that memories consist of.
#[derive(Clone, Debug, Default)]
pub struct Store {
    pages: Unique<Hashed>,
    blocks: Unique<Block>,
}

impl Store {
    /// The number of a page, which is stored.
    pub fn page_number(&mut self, page: Page) -> u32 {
        self.pages.insert_full(Hashed(page)).0 as u32
    }

    /// The number of a block, which is stored.
    pub fn block_number(&mut self, block: Block) -> u32 {
        self.blocks.insert_full(block).0 as u32
    }

    /// The page of this number.
    #[must_use]
    pub fn page(&self, number: u32) -> &Page {
        &self.pages[number as usize].0
    }

    /// The block of this number.
    #[must_use]
    pub fn block(&self, number: u32) -> &Block {
        &self.blocks[number as usize]
    }

    /// True if all blocks consist of pages that are there.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.blocks.iter().flatten().all(|page| (*page as usize) < self.pages.len())
    }

    /// The numbers of pages and of blocks.
    #[must_use]
    pub fn sizes(&self) -> [usize; 2] {
        [self.pages.len(), self.blocks.len()]
    }

    /// The number of cells of a memory.
    #[must_use]
    pub fn cells(&self, memory: &Memory) -> usize {
        memory.0.len() * BLOCK_PAGES * PAGE_CELLS
    }

    /// The content of a cell.
    #[must_use]
    pub fn cell(&self, memory: &Memory, cell: DataAddress) -> TvByte {
        let page = cell.index() / PAGE_CELLS;
        let number = self.block(memory.0[page / BLOCK_PAGES])[page % BLOCK_PAGES];
        self.page(number)[cell.index() % PAGE_CELLS]
    }

    /// True if every cell of `coarse` stands for everything that the one of `fine` stands for.
    #[must_use]
    pub fn covers(&self, coarse: &Memory, fine: &Memory) -> bool {
        let is_page_covered = |(coarse, fine): (&u32, &u32)| {
            coarse == fine || self.page(*coarse).iter().zip(self.page(*fine)).all(|(coarse, fine)| coarse.covers(*fine))
        };
        let is_block_covered = |(coarse, fine): (&u32, &u32)| {
            coarse == fine || self.block(*coarse).iter().zip(self.block(*fine)).all(is_page_covered)
        };
        coarse.0.len() == fine.0.len() && coarse.0.iter().zip(&fine.0).all(is_block_covered)
    }

    /// The first cell of `coarse` that does not stand for everything that the one of `fine` stands for.
    #[must_use]
    pub fn first_uncovered(&self, coarse: &Memory, fine: &Memory) -> Option<DataAddress> {
        let blocks = coarse.0.iter().zip(&fine.0).enumerate().filter(|(_, (coarse, fine))| coarse != fine);
        let pages = blocks.flat_map(|(index, (coarse, fine))| {
            let pages = self.block(*coarse).iter().zip(self.block(*fine)).enumerate();
            pages.map(move |(offset, pages)| (index * BLOCK_PAGES + offset, pages))
        });
        let mut cells = pages.filter(|(_, (coarse, fine))| coarse != fine).flat_map(|(page, (coarse, fine))| {
            let cells = self.page(*coarse).iter().zip(self.page(*fine)).enumerate();
            cells.map(move |(offset, cells)| (DataAddress::of_index(page * PAGE_CELLS + offset), cells))
        });
        cells.find(|(_, (coarse, fine))| !coarse.covers(**fine)).map(|(cell, _)| cell)
    }

    /// The memory in which each cell is made of those of two memories, given its address; equal pages stay.
    #[must_use]
    pub fn merge(
        &mut self,
        one: &Memory,
        other: &Memory,
        merged: &mut dyn FnMut(DataAddress, TvByte, TvByte) -> TvByte,
    ) -> Memory {
        let blocks = one.0.iter().zip(&other.0).enumerate().map(|(number, (one, other))| {
            if one == other {
                return *one;
            }
            let (one, other) = (*self.block(*one), *self.block(*other));
            let pages = std::array::from_fn(|index| {
                if one[index] == other[index] {
                    return one[index];
                }
                let (one, other) = (*self.page(one[index]), *self.page(other[index]));
                let first = (number * BLOCK_PAGES + index) * PAGE_CELLS;
                let page =
                    std::array::from_fn(|cell| merged(DataAddress::of_index(first + cell), one[cell], other[cell]));
                self.page_number(page)
            });
            self.block_number(pages)
        });
        let blocks = blocks.collect();
        Memory(blocks)
    }

    /// The memory with other contents in some cells, which are given by rising address.
    #[must_use]
    pub fn overwrite(&mut self, memory: &Memory, cells: &[(DataAddress, TvByte)]) -> Memory {
        let mut blocks = memory.0.clone();
        let block_of = |cell: DataAddress| cell.index() / PAGE_CELLS / BLOCK_PAGES;
        for in_block in cells.chunk_by(|a, b| block_of(a.0) == block_of(b.0)) {
            let number = &mut blocks[block_of(in_block[0].0)];
            let mut block = *self.block(*number);
            for in_page in in_block.chunk_by(|a, b| a.0.index() / PAGE_CELLS == b.0.index() / PAGE_CELLS) {
                let page = &mut block[in_page[0].0.index() / PAGE_CELLS % BLOCK_PAGES];
                let mut content = *self.page(*page);
                in_page.iter().for_each(|(cell, byte)| content[cell.index() % PAGE_CELLS] = *byte);
                if content != *self.page(*page) {
                    *page = self.page_number(content);
                }
            }
            if block != *self.block(*number) {
                *number = self.block_number(block);
            }
        }
        Memory(blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(store: &mut Store, cells: impl Fn(usize) -> u8) -> Memory {
        let blocks = (0..2).map(|block| {
            let pages: Block = std::array::from_fn(|page| {
                let first = (block * BLOCK_PAGES + page) * PAGE_CELLS;
                store.page_number(std::array::from_fn(|cell| TvByte::constant(cells(first + cell))))
            });
            store.block_number(pages)
        });
        let blocks = blocks.collect();
        Memory::new(blocks)
    }

    #[test]
    fn what_is_overwritten_differs_and_nothing_else() {
        let mut store = Store::default();
        let before = memory(&mut store, |cell| (cell / 7) as u8);
        let cells = [3u16, 4, 40, 0x101, 0x1ff].map(|cell| (DataAddress(cell), TvByte::UNKNOWN));
        let after = store.overwrite(&before, &cells);
        for cell in (0..0x200).map(DataAddress) {
            let is_changed = cells.iter().any(|(changed, _)| *changed == cell);
            let expected = if is_changed { TvByte::UNKNOWN } else { store.cell(&before, cell) };
            assert_eq!(store.cell(&after, cell), expected);
        }
        assert!(store.covers(&after, &before) && !store.covers(&before, &after));
        let merged = store.merge(&before, &after, &mut |_, one, other| one.hull(other));
        assert_eq!(merged, after);
    }
}
