//! The steps of a map as those of a whole program: handlers on top of what they interrupt.

use avr_image::Image;
use avr_invariant::{Entry, Map, Move, Place, Thread};
use avr_isa::FlashWordAddress;
use avr_machine::Frame;
use avr_model::reduction::skipped_paths::{Log, Spot};
use avr_model::state::interner::{CallsId, Store};
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
                    let to = Spot { pc: to.control.pc, calls: threads.calls(to, base, store) };
                    log.note_moves(from, to, *times);
                }
            }
            Move::Begins(from, to) => {
                let calls = push(store, CallsId(0), map.calls.frames(from.calls));
                let from = Spot { pc: from.control.pc, calls };
                let to = Spot { pc: to.control.pc, calls: threads.calls(to, Some(Base { pc: from.pc, calls }), store) };
                log.note_moves(from, to, *times);
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

fn bases(map: &Map, moves: &BTreeMap<Move, usize>, image: &Image, store: &mut Store) -> BTreeMap<Thread, Vec<Base>> {
    let mut first: BTreeMap<(Thread, u32, Option<u32>), FlashWordAddress> = BTreeMap::new();
    for one in moves.keys() {
        if let Move::Begins(from, to) = one {
            let located = image.symbols.function_at(from.address());
            let function = located.map(|located| from.address().0 - located.offset);
            first.entry((to.thread, from.calls, function)).or_insert(from.control.pc);
        }
    }
    let mut bases: BTreeMap<Thread, Vec<Base>> = BTreeMap::new();
    for ((thread, calls, _), pc) in first {
        let calls = push(store, CallsId(0), map.calls.frames(calls));
        bases.entry(thread).or_default().push(Base { pc, calls });
    }
    bases
}

impl Threads<'_> {
    /// The spots of a place: one for each place that its handler interrupts.
    fn spots(&self, place: &Place, store: &mut Store) -> Vec<(Spot, Option<Base>)> {
        let spot = |base| (Spot { pc: place.control.pc, calls: self.calls(place, base, store) }, base);
        match place.thread {
            Thread::Main => [None].map(spot).to_vec(),
            Thread::Handler { .. } => {
                self.bases.get(&place.thread).into_iter().flatten().copied().map(Some).map(spot).collect()
            }
        }
    }

    /// The whole call string of a place.
    fn calls(&self, place: &Place, base: Option<Base>, store: &mut Store) -> CallsId {
        let frames = self.map.calls.frames(place.calls);
        match (place.thread, base, frames) {
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
