//! The steps of a map as those of a whole program: handlers on top of what they interrupt.

use avr_image::Image;
use avr_invariant::{Entry, Map, Move, Place, Thread};
use avr_isa::{DataAddress, FlashWordAddress};
use avr_machine::Frame;
use avr_model::reduction::skipped_paths::{Log, Spot};
use avr_model::state::interner::{CallsId, Store};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A place that a handler interrupts.
#[derive(Clone, Copy)]
struct Base {
    pc: FlashWordAddress,
    calls: CallsId,
}

/// The map with the places that each handler interrupts: one for each call string and function.
struct Threads<'a> {
    map: &'a Map,
    bases: BTreeMap<Thread, Vec<Base>>,
}

/// All places and steps of a map, with the depth of the stack in each of its states.
pub(super) fn log(
    (map, moves): (&Map, &BTreeMap<Move, usize>),
    image: &Image,
    store: &mut Store,
    depth: &dyn Fn(&Entry) -> Option<u32>,
) -> Log {
    let threads = Threads { map, bases: bases(map, moves, image, store) };
    let mut log = Log::default();
    for entry in &map.entries {
        let depth = depth(entry);
        threads.spots(&entry.place, store).into_iter().for_each(|(spot, _)| log.note_spot(spot, depth));
    }
    for (one, times) in moves {
        match one {
            Move::To(from, to) => {
                for (from, base) in threads.spots(from, store) {
                    let to = Spot { pc: to.control.pc, calls: threads.calls(to.thread, to.calls, base, store) };
                    log.note_moves(from, to, *times);
                }
            }
            Move::Begins(from, to) => {
                for calls in threads.whole(from.thread, from.calls, store) {
                    let from = Spot { pc: from.control.pc, calls };
                    let base = Some(Base { pc: from.pc, calls });
                    let to = Spot { pc: to.control.pc, calls: threads.calls(to.thread, to.calls, base, store) };
                    log.note_moves(from, to, *times);
                }
            }
            Move::Returns(from) => {
                for (from, base) in threads.spots(from, store) {
                    let Some(base) = base else { continue };
                    log.note_moves(from, Spot { pc: base.pc, calls: base.calls }, *times);
                }
            }
        }
    }
    log
}

/// The most places that are told of one handler.
const MOST_BASES: usize = 256;

fn bases(map: &Map, moves: &BTreeMap<Move, usize>, image: &Image, store: &mut Store) -> BTreeMap<Thread, Vec<Base>> {
    let mut first: BTreeMap<(Thread, Thread, u32, Option<u32>), FlashWordAddress> = BTreeMap::new();
    for one in moves.keys() {
        if let Move::Begins(from, to) = one {
            let located = image.symbols.function_at(from.address());
            let function = located.map(|located| from.address().0 - located.offset);
            first.entry((to.thread, from.thread, from.calls, function)).or_insert(from.control.pc);
        }
    }
    // What a handler interrupts has a higher stack pointer, so that its own bases are there before.
    let mut first: Vec<_> = first.into_iter().collect();
    first.sort_by_key(|((thread, ..), _)| Reverse(pointer(*thread)));
    let mut threads = Threads { map, bases: BTreeMap::new() };
    for ((thread, from, calls, _), pc) in first {
        for calls in threads.whole(from, calls, store) {
            let of_thread = threads.bases.entry(thread).or_default();
            if of_thread.len() < MOST_BASES {
                of_thread.push(Base { pc, calls });
            }
        }
    }
    threads.bases
}

/// The stack pointer at which a handler begins.
fn pointer(thread: Thread) -> Option<DataAddress> {
    match thread {
        Thread::Main => None,
        Thread::Handler { pointer, .. } => Some(pointer),
    }
}

impl Threads<'_> {
    /// The whole call strings of a call string of a thread.
    fn whole(&self, thread: Thread, calls: u32, store: &mut Store) -> Vec<CallsId> {
        match thread {
            Thread::Main => vec![self.calls(thread, calls, None, store)],
            Thread::Handler { .. } => {
                let bases = self.bases.get(&thread).into_iter().flatten();
                bases.map(|base| self.calls(thread, calls, Some(*base), store)).collect()
            }
        }
    }

    /// The spots of a place: one for each place that its handler interrupts.
    fn spots(&self, place: &Place, store: &mut Store) -> Vec<(Spot, Option<Base>)> {
        let spot =
            |base| (Spot { pc: place.control.pc, calls: self.calls(place.thread, place.calls, base, store) }, base);
        match place.thread {
            Thread::Main => [None].map(spot).to_vec(),
            Thread::Handler { .. } => {
                self.bases.get(&place.thread).into_iter().flatten().copied().map(Some).map(spot).collect()
            }
        }
    }

    /// The whole call string of one of a thread on top of a place.
    fn calls(&self, thread: Thread, calls: u32, base: Option<Base>, store: &mut Store) -> CallsId {
        let frames = self.map.calls.frames(calls);
        match (thread, base, frames) {
            (Thread::Handler { .. }, Some(base), [own, rest @ ..]) => {
                let own = store.push_call(base.calls, Frame { return_address: base.pc, ..*own });
                push(store, own, rest)
            }
            _ => push(store, CallsId(0), frames),
        }
    }
}

fn push(store: &mut Store, below: CallsId, frames: &[Frame]) -> CallsId {
    frames.iter().fold(below, |calls, frame| store.push_call(calls, *frame))
}
