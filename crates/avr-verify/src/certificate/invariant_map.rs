//! Maps of invariants as certificates store them: only what is used, numbered in the order in which it is needed.

use avr_certificate::{
    Entry, Equal, Exit, Handler, Invariant, LinearEquation, MAP_BLOCK_PAGES, Map as Written, NumberRange,
};
use avr_invariant::{Map, State, Thread, Value, Variable};
use rustc_hash::FxHashMap;

/// The parts of a map while they are written down.
struct Parts<'a> {
    map: &'a Map,
    written: Written,
    pages: FxHashMap<u32, u32>,
    blocks: FxHashMap<u32, u32>,
    calls: FxHashMap<u32, u32>,
}

/// A map as certificates have it.
pub(super) fn written(map: &Map) -> Written {
    let mut parts = Parts {
        map,
        written: Written::default(),
        pages: FxHashMap::default(),
        blocks: FxHashMap::default(),
        calls: FxHashMap::default(),
    };
    for entry in &map.entries {
        let (handler, calls) = (handler(entry.place.thread), parts.calls(entry.place.calls));
        let invariant = parts.invariant(&entry.state);
        parts.written.entries.push(Entry { handler, control: entry.place.control, calls, invariant });
    }
    for exit in &map.exits {
        let invariant = parts.invariant(&exit.state);
        let handler = handler(exit.thread).expect("only handlers return");
        parts.written.exits.push(Exit { handler, control: exit.control, invariant });
    }
    parts.written
}

fn handler(thread: Thread) -> Option<Handler> {
    match thread {
        Thread::Main => None,
        Thread::Handler { interrupt, pointer } => Some(Handler { interrupt, pointer }),
    }
}

impl Parts<'_> {
    fn invariant(&mut self, state: &State) -> Invariant {
        let memory = state.memory.blocks().iter().map(|block| self.block(*block)).collect();
        let equal = |value: &Value| match value {
            Value::Of(cell) => Equal::Of(*cell),
            Value::Entry(cell) => Equal::Entry(*cell),
            Value::Result(register) => Equal::Result(*register),
        };
        let equalities = state.equalities.list().iter().map(|(cell, value)| (*cell, equal(value))).collect();
        let ranges = state
            .ranges
            .list()
            .iter()
            .map(|range| NumberRange { bytes: range.bytes.iter().map(equal).collect(), when: range.when });
        let equations = state.equations.list().iter().map(|equation| {
            let mut written = LinearEquation { bytes: Vec::new(), carry: 0, constant: equation.constant };
            for (variable, coefficient) in &equation.terms {
                match variable {
                    Variable::Byte(value) => written.bytes.push((equal(value), *coefficient)),
                    Variable::Carry => written.carry = written.carry.wrapping_add(*coefficient),
                }
            }
            written
        });
        Invariant { memory, equalities, ranges: ranges.collect(), equations: equations.collect() }
    }

    fn block(&mut self, old: u32) -> u32 {
        if let Some(known) = self.blocks.get(&old) {
            return *known;
        }
        let pages: [u32; MAP_BLOCK_PAGES] = self.map.store.block(old).map(|page| self.page(page));
        self.written.blocks.push(pages);
        let number = self.written.blocks.len() as u32 - 1;
        self.blocks.insert(old, number);
        number
    }

    fn page(&mut self, old: u32) -> u32 {
        *self.pages.entry(old).or_insert_with(|| {
            self.written.pages.push(*self.map.store.page(old));
            self.written.pages.len() as u32 - 1
        })
    }

    fn calls(&mut self, old: u32) -> u32 {
        *self.calls.entry(old).or_insert_with(|| {
            self.written.calls.push(self.map.calls.frames(old).to_vec());
            self.written.calls.len() as u32 - 1
        })
    }
}
