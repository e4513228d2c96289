//! The parts of states as certificates store them: each once, numbered in the order in which they are needed.

use avr_certificate::{Advice, Link, Running, Seen, State, Store};
use rustc_hash::FxHashMap;
use std::hash::Hash;

use avr_model::Firmware;
use avr_model::state::interner::{CallsId, OccurrencesId};
use avr_model::state::{AbstractState, Running as OwnRunning};

/// New numbers for values, by the old ones.
#[derive(Debug)]
struct Renumbering<K>(FxHashMap<K, u32>);

impl<K> Default for Renumbering<K> {
    fn default() -> Self {
        Self(FxHashMap::default())
    }
}

impl<K: Eq + Hash> Renumbering<K> {
    fn get(&self, key: &K) -> Option<u32> {
        self.0.get(key).copied()
    }

    fn add<T>(&mut self, key: K, list: &mut Vec<T>, value: T) -> u32 {
        let number = list.len() as u32;
        list.push(value);
        self.0.insert(key, number);
        number
    }
}

/// The store of a certificate while it is filled.
pub(super) struct Stored<'a, 'f> {
    firmware: &'a Firmware<'f>,
    pub(super) store: Store,
    pages: Renumbering<u32>,
    blocks: Renumbering<u32>,
    memories: FxHashMap<u32, u32>,
    calls: FxHashMap<CallsId, u32>,
    did: Renumbering<OccurrencesId>,
    advice: Renumbering<Advice>,
}

impl<'a, 'f> Stored<'a, 'f> {
    pub(super) fn new(firmware: &'a Firmware<'f>) -> Self {
        let cells = firmware.model.context.working.state.data.len();
        let memory_blocks = cells.div_ceil(avr_machine::PAGE_CELLS * avr_certificate::BLOCK_PAGES);
        Self {
            firmware,
            store: Store { memory_blocks, ..Store::default() },
            pages: Renumbering::default(),
            blocks: Renumbering::default(),
            memories: FxHashMap::default(),
            calls: FxHashMap::default(),
            did: Renumbering::default(),
            advice: Renumbering::default(),
        }
    }

    /// A state as certificates have it.
    pub(super) fn state(&mut self, state: &AbstractState) -> State {
        match state {
            AbstractState::Dummy => State::Start { advice: self.advice(state) },
            AbstractState::Running(running) => State::Running(Running {
                memory: self.memory(running),
                calls: self.calls(running.calls),
                control: running.control,
                did: self.did(running.did),
                advice: self.advice(state),
            }),
            AbstractState::Hazard { hazard, pc } => State::Hazard { hazard: *hazard, pc: *pc },
            AbstractState::Limit { .. } => State::Anything,
        }
    }

    fn advice(&mut self, state: &AbstractState) -> u32 {
        let advice = self.firmware.recorded.as_ref().map(|advised| advised.of(state)).unwrap_or_default();
        let known = self.advice.get(&advice);
        known.unwrap_or_else(|| self.advice.add(advice.clone(), &mut self.store.advice, advice))
    }

    fn memory(&mut self, running: &OwnRunning) -> u32 {
        if let Some(known) = self.memories.get(&running.memory.0) {
            return *known;
        }
        let number = self.store.memory_count() as u32;
        for block in self.firmware.model.context.store.roots.get(running.memory.0) {
            let block = self.block(*block);
            self.store.memories.push(block);
        }
        self.memories.insert(running.memory.0, number);
        number
    }

    fn block(&mut self, old: u32) -> u32 {
        if let Some(known) = self.blocks.get(&old) {
            return known;
        }
        let pages = self.firmware.model.context.store.blocks.get(old).map(|page| self.page(page));
        self.blocks.add(old, &mut self.store.blocks, pages)
    }

    fn page(&mut self, old: u32) -> u32 {
        let page = self.firmware.model.context.store.pages.get(old);
        self.pages.get(&old).unwrap_or_else(|| self.pages.add(old, &mut self.store.pages, *page))
    }

    fn calls(&mut self, calls: CallsId) -> u32 {
        let mut new = Vec::new();
        let mut rest = calls;
        let mut below = loop {
            if let Some(known) = self.calls.get(&rest) {
                break *known;
            }
            let Some((next, frame)) = self.firmware.model.context.store.pop_call(rest) else { break 0 };
            new.push((rest, frame));
            rest = next;
        };
        for (own, frame) in new.into_iter().rev() {
            self.store.calls.push(Link { below, frame });
            below = self.store.calls.len() as u32;
            self.calls.insert(own, below);
        }
        below
    }

    fn did(&mut self, did: OccurrencesId) -> u32 {
        let seen = self.firmware.model.context.store.occurrences.get(did.0).iter();
        let seen = seen.map(|one| Seen { event: one.event as u32, certain: one.certain, value: one.value });
        let known = self.did.get(&did);
        known.unwrap_or_else(|| self.did.add(did, &mut self.store.did, seen.collect()))
    }
}
