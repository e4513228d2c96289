//! The working state of the machine: loaded from and stored to the compact form at a cost in proportion to what changed.

use super::Running;
use super::deferral::Deferral;
use super::interner::{BLOCK_PAGES, Block, CallsId, MemoryId, OccurrencesId, Page, Store};
use avr_isa::FlashWordAddress;
use avr_machine::{MachineState, PAGE_CELLS};
use three_valued::TvByte;

/// A machine state whose pages are known by number, except those that were written since.
#[derive(Debug)]
pub struct WorkingCopy {
    /// The state.
    pub state: MachineState<TvByte>,
    /// The block that each block of the state was loaded from or stored to last.
    blocks: Vec<u32>,
    /// The pages that each block consists of.
    pages: Vec<u32>,
    /// The call string below each frame, and at the end the whole one.
    calls: Vec<CallsId>,
    /// The first instruction (flash word address) of the function or handler that the last step entered.
    pub entered: Option<FlashWordAddress>,
    /// True if an interrupt that was certain was deferred in one of the steps since this was cleared.
    pub defers_certain: bool,
}

impl WorkingCopy {
    /// A working state of `cells` cells.
    pub fn new(cells: usize, store: &mut Store) -> Self {
        let state = MachineState::new(cells, TvByte::UNKNOWN);
        let page = store.pages.intern([TvByte::UNKNOWN; PAGE_CELLS]);
        let pages = vec![page; state.data.pages().next_multiple_of(BLOCK_PAGES)];
        let blocks = pages.as_chunks::<BLOCK_PAGES>().0.iter().map(|block| store.blocks.intern(*block)).collect();
        Self { state, blocks, pages, calls: vec![CallsId(0)], entered: None, defers_certain: false }
    }

    /// Goes to a stored state.
    pub fn load(&mut self, store: &Store, running: &Running) {
        self.undo_writes(store);
        let root = store.roots.get(running.memory.0);
        for (index, block) in root.iter().enumerate() {
            if self.blocks[index] != *block {
                self.load_block(store, index, *block);
            }
        }
        self.load_calls(store, running.calls);
        self.state.calls.select(running.control.stack);
        self.entered = None;
        self.state.control = running.control;
    }

    /// Puts back the pages that were written and not stored.
    fn undo_writes(&mut self, store: &Store) {
        let written: Vec<usize> = self.state.data.changed_pages().collect();
        for page in written {
            self.state.data.load_page(page, store.pages.get(self.pages[page]));
        }
        self.state.data.clear_changed();
    }

    fn load_block(&mut self, store: &Store, index: usize, block: u32) {
        self.blocks[index] = block;
        let wanted: &Block = store.blocks.get(block);
        let first = index * BLOCK_PAGES;
        for (offset, number) in wanted.iter().enumerate() {
            let page = first + offset;
            if page < self.state.data.pages() && self.pages[page] != *number {
                self.state.data.load_page(page, store.pages.get(*number));
            }
            self.pages[page] = *number;
        }
    }

    /// Goes to a call string from the frames that it has in common with the present one.
    fn load_calls(&mut self, store: &Store, calls: CallsId) {
        let stored = self.state.calls.unchanged();
        self.state.calls.truncate(stored);
        self.calls.truncate(stored + 1);
        let mut added = Vec::new();
        let mut common = calls;
        while self.calls.get(store.depth(common)) != Some(&common) {
            let (below, frame) = store.pop_call(common).expect("the empty call string is common to all");
            added.push((common, frame));
            common = below;
        }
        self.state.calls.truncate(store.depth(common));
        self.calls.truncate(store.depth(common) + 1);
        for (id, frame) in added.into_iter().rev() {
            self.state.calls.push(frame);
            self.calls.push(id);
        }
        self.state.calls.mark();
    }

    /// Stores the state as it is now, after a step that did `did`.
    pub fn save(&mut self, store: &mut Store, did: OccurrencesId, deferral: Deferral) -> Running {
        let written: Vec<usize> = self.state.data.changed_pages().collect();
        let mut last_block = None;
        for page in written {
            let cells: &Page = self.state.data.page(page).try_into().expect("a page has its size");
            self.pages[page] = store.pages.intern(*cells);
            let block = page / BLOCK_PAGES;
            if last_block.is_some_and(|last| last != block) {
                self.save_block(store, last_block.expect("just tested"));
            }
            last_block = Some(block);
        }
        if let Some(block) = last_block {
            self.save_block(store, block);
        }
        self.state.data.clear_changed();
        let memory = MemoryId(store.roots.intern(self.blocks.as_slice().into()));
        Running { memory, calls: self.save_calls(store), control: self.state.control, did, deferral }
    }

    fn save_block(&mut self, store: &mut Store, index: usize) {
        let pages = &self.pages[index * BLOCK_PAGES..(index + 1) * BLOCK_PAGES];
        let block: Block = pages.try_into().expect("a block has its size");
        self.blocks[index] = store.blocks.intern(block);
    }

    /// Stores the call string as it is now.
    pub fn save_calls(&mut self, store: &mut Store) -> CallsId {
        let frames = self.state.calls.all();
        self.calls.truncate(self.state.calls.unchanged() + 1);
        for frame in &frames[self.calls.len() - 1..] {
            let below = *self.calls.last().expect("the empty call string is always there");
            self.calls.push(store.push_call(below, *frame));
        }
        if let Some((entry, calls)) = self.entered.take().zip(self.calls.last()) {
            store.note_entry(*calls, entry);
        }
        self.state.calls.mark();
        *self.calls.last().expect("the empty call string is always there")
    }
}
