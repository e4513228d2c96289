//! Abstract states in compact form: every page of memory, every memory and every call string is stored once.
//!
//! A memory is a *root*: the numbers of its *blocks*; a block is the numbers of its pages. Two states with the same
//! memory have the same root number, so comparing and hashing states never looks at cells.

use super::events::{self, Occurrences};
use avr_isa::{DataAddress, FlashWordAddress};
use avr_machine::{Frame, PAGE_CELLS};
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::{BuildHasher, Hash};
use three_valued::TvByte;
use three_valued::fault::{Fault, is_on};

/// The cells of a page.
pub type Page = [TvByte; PAGE_CELLS];

/// The number of pages that share a block.
pub const BLOCK_PAGES: usize = avr_certificate::BLOCK_PAGES;

/// The numbers of the pages of a block; places behind the last page are 0.
pub type Block = [u32; BLOCK_PAGES];

/// Values that are stored once and known by number.
#[derive(Debug)]
pub struct Interner<T> {
    values: Vec<T>,
    index: HashTable<u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { values: Vec::new(), index: HashTable::new() }
    }
}

impl<T: Eq + Hash> Interner<T> {
    /// The number of a value.
    pub fn intern(&mut self, value: T) -> u32 {
        let hash = FxBuildHasher.hash_one(&value);
        let values = &mut self.values;
        if let Some(number) = self.index.find(hash, |number| values[*number as usize] == value) {
            return *number;
        }
        let number = values.len() as u32;
        values.push(value);
        self.index.insert_unique(hash, number, |number| FxBuildHasher.hash_one(&values[*number as usize]));
        number
    }

    /// The value of a number that [`Self::intern`] gave.
    pub fn get(&self, number: u32) -> &T {
        &self.values[number as usize]
    }
}

/// A call string by number: the empty one is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallsId(pub u32);

/// The events of a step, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OccurrencesId(pub u32);

/// The content of a memory by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemoryId(pub u32);

/// A call string: the one below, and its youngest frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Link {
    below: CallsId,
    frame: Frame,
    depth: u32,
}

/// All pages, memories and call strings of one run.
#[derive(Debug, Default)]
pub struct Store {
    /// The pages.
    pub pages: Interner<Page>,
    /// The blocks, as the numbers of their pages.
    pub blocks: Interner<Block>,
    /// The memories, as the numbers of their blocks.
    pub roots: Interner<Box<[u32]>>,
    calls: Interner<Link>,
    /// The beginning of the function or handler that was entered last, by call string; none if that is not always the
    /// same.
    entries: FxHashMap<CallsId, Option<FlashWordAddress>>,
    /// The events of steps.
    pub occurrences: Interner<Occurrences>,
}

impl Store {
    /// The number of the events of a step.
    pub fn intern_occurrences(&mut self, occurrences: Occurrences) -> OccurrencesId {
        OccurrencesId(self.occurrences.intern(occurrences))
    }

    /// The call string with one more frame.
    pub fn push_call(&mut self, below: CallsId, frame: Frame) -> CallsId {
        let depth = self.depth(below) as u32 + 1;
        CallsId(self.calls.intern(Link { below, frame, depth }) + 1)
    }

    /// The number of frames of a call string.
    pub fn depth(&self, calls: CallsId) -> usize {
        calls.0.checked_sub(1).map_or(0, |number| self.calls.get(number).depth as usize)
    }

    /// The youngest frame and the call string below it; none when there are no calls.
    pub fn pop_call(&self, calls: CallsId) -> Option<(CallsId, Frame)> {
        calls.0.checked_sub(1).map(|number| {
            let link = self.calls.get(number);
            (link.below, link.frame)
        })
    }

    /// The frames of a call string, youngest first.
    pub fn frames(&self, calls: CallsId) -> impl Iterator<Item = Frame> + '_ {
        let mut rest = calls;
        std::iter::from_fn(move || {
            let (below, frame) = self.pop_call(rest)?;
            rest = below;
            Some(frame)
        })
    }

    /// The same with the first instruction of each function or handler (flash word address), where it is always the same.
    pub fn entered(&self, calls: CallsId) -> impl Iterator<Item = (Frame, Option<FlashWordAddress>)> + '_ {
        let mut rest = calls;
        std::iter::from_fn(move || {
            let (below, frame) = self.pop_call(rest)?;
            let entry = self.entries.get(&rest).copied().flatten();
            rest = below;
            Some((frame, entry))
        })
    }

    /// Takes note of the first instruction of the function or handler of the youngest frame.
    pub fn note_entry(&mut self, calls: CallsId, entry: FlashWordAddress) {
        let known = self.entries.entry(calls).or_insert(Some(entry));
        if *known != Some(entry) {
            *known = None;
        }
    }

    /// The page of a memory.
    pub fn page(&self, memory: MemoryId, page: usize) -> &Page {
        let block = self.roots.get(memory.0)[page / BLOCK_PAGES];
        self.pages.get(self.blocks.get(block)[page % BLOCK_PAGES])
    }

    /// The numbers of some pages of a memory: those of whole blocks as the numbers of the blocks.
    pub fn pages(&self, memory: MemoryId, is_wanted: impl Fn(usize) -> bool) -> Vec<u32> {
        let mut numbers = Vec::new();
        for (block, number) in self.roots.get(memory.0).iter().enumerate() {
            let pages = block * BLOCK_PAGES..(block + 1) * BLOCK_PAGES;
            match pages.clone().filter(|page| is_wanted(*page)).count() {
                0 => {}
                BLOCK_PAGES => numbers.push(*number),
                _ => {
                    let all = self.blocks.get(*number).iter().zip(pages);
                    numbers.extend(all.filter(|(_, page)| is_wanted(*page)).map(|(number, _)| *number));
                }
            }
        }
        numbers
    }

    /// The cells that two memories have different: data address and both values, in ascending order.
    pub fn differing_cells(
        &self,
        one: MemoryId,
        other: MemoryId,
    ) -> impl Iterator<Item = (DataAddress, TvByte, TvByte)> + '_ {
        let blocks = differing(self.roots.get(one.0), self.roots.get(other.0));
        let pages = blocks.flat_map(move |(block, one, other)| {
            let pages = differing(self.blocks.get(one), self.blocks.get(other));
            pages.map(move |(page, one, other)| (block * BLOCK_PAGES + page, one, other))
        });
        pages.flat_map(move |(page, one, other)| {
            let cells = self.pages.get(one).iter().zip(self.pages.get(other)).zip(page * PAGE_CELLS..);
            let different = cells.filter(|((one, other), _)| one != other);
            different.map(|((one, other), address)| (DataAddress::of_index(address), *one, *other))
        })
    }

    /// True if every content that `fine` stands for is one that `coarse` stands for.
    pub fn memory_covers(&self, coarse: MemoryId, fine: MemoryId) -> bool {
        let pairs = |coarse: &[u32], fine: &[u32]| -> Vec<(u32, u32)> {
            coarse.iter().copied().zip(fine.iter().copied()).filter(|(coarse, fine)| coarse != fine).collect()
        };
        let pages = pairs(self.roots.get(coarse.0), self.roots.get(fine.0))
            .into_iter()
            .flat_map(|(coarse, fine)| pairs(self.blocks.get(coarse), self.blocks.get(fine)));
        let mut cells = pages.flat_map(|(coarse, fine)| self.pages.get(coarse).iter().zip(self.pages.get(fine)));
        is_on(Fault::CoversBlindly) || cells.all(|(coarse, fine)| coarse.covers(*fine))
    }

    /// True if the events known of one step cover those known of another.
    pub fn occurrences_cover(&self, coarse: OccurrencesId, fine: OccurrencesId) -> bool {
        coarse == fine || events::covers(self.occurrences.get(coarse.0), self.occurrences.get(fine.0))
    }

    /// A cell of a memory.
    pub fn cell(&self, memory: MemoryId, address: DataAddress) -> TvByte {
        let index = address.index();
        self.page(memory, index / PAGE_CELLS)[index % PAGE_CELLS]
    }
}

/// The positions at which two lists of numbers differ, with both numbers.
fn differing<'a>(one: &'a [u32], other: &'a [u32]) -> impl Iterator<Item = (usize, u32, u32)> + 'a {
    let pairs = one.iter().zip(other).enumerate();
    pairs.filter(|(_, (one, other))| one != other).map(|(index, (one, other))| (index, *one, *other))
}
