//! Concrete states looked up in a map: for comparisons with runs.

use avr_isa::{DataAddress, FlashWordAddress};
use avr_machine::{Control, Copies, Frame, FrameKind, MachineState, flag};
use rustc_hash::FxHashMap;

use crate::equalities::{Silence, Value};
use crate::intervals::is_in_range;
use crate::map::{Map, Place, State, Thread};

/// A map in which places are found.
#[derive(Debug)]
pub struct Lookup<'a> {
    map: &'a Map,
    places: FxHashMap<Place, Vec<u32>>,
}

/// A concrete content of all cells, with that at the beginning of the handler that is active.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// The cells now.
    pub now: &'a [u8],
    /// The cells behind the entry into the handler; those of now in the main program.
    pub entry: &'a [u8],
    /// The registers before the return of the division that the program is at ([`Divisions::results`](crate::Divisions::results)).
    pub results: Option<[u8; 32]>,
}

impl Contents<'_> {
    /// The content that is a value; 0 for the result of a division outside of one, where nothing can be said of it.
    fn of(&self, value: Value) -> u8 {
        match value {
            Value::Of(cell) => self.now[cell.index()],
            Value::Entry(cell) => self.entry[cell.index()],
            Value::Result(cell) => self.results.map_or(0, |results| results[cell.index()]),
        }
    }
}

impl<'a> Lookup<'a> {
    /// The places of a map.
    #[must_use]
    pub fn new(map: &'a Map) -> Self {
        let mut places: FxHashMap<Place, Vec<u32>> = FxHashMap::default();
        for (number, entry) in (0..).zip(&map.entries) {
            places.entry(entry.place).or_default().push(number);
        }
        Self { map, places }
    }

    /// The place of a concrete state; none if no state of the map has its call string.
    #[must_use]
    pub fn place(&self, state: &MachineState<u8>) -> Option<Place> {
        self.place_above(state, 0)
    }

    /// The same where the oldest frames are those of the state that the map begins in: none of them begins a thread.
    #[must_use]
    pub fn place_above(&self, state: &MachineState<u8>, oldest: usize) -> Option<Place> {
        let frames = state.calls.frames();
        let control = Control { copies: Copies::default(), ..state.control };
        let last = frames.iter().rposition(|frame| matches!(frame.kind, FrameKind::Interrupt(_)));
        let (thread, own): (Thread, Vec<Frame>) = match last.filter(|last| *last >= oldest).map(|last| &frames[last..])
        {
            Some([frame @ Frame { kind: FrameKind::Interrupt(interrupt), .. }, rest @ ..]) => {
                let thread = Thread::Handler { interrupt: *interrupt, pointer: frame.position };
                let first = Frame { return_address: FlashWordAddress(0), ..*frame };
                (thread, [&[first], rest].concat())
            }
            _ => (Thread::Main, frames.to_vec()),
        };
        Some(Place { thread, control, calls: self.map.calls.find(&own)? })
    }

    /// The states of a place.
    pub fn states(&self, place: &Place) -> impl Iterator<Item = &'a State> {
        let map = self.map;
        let numbers = self.places.get(place).cloned().unwrap_or_default();
        numbers.into_iter().map(move |number| &map.entries[number as usize].state)
    }

    /// The difference between a concrete state and the last state of the map at its place; none if one covers it.
    #[must_use]
    pub fn difference(&self, state: &MachineState<u8>, contents: Contents<'_>) -> Option<String> {
        self.difference_above(state, contents, 0)
    }

    /// The same where the oldest frames are those of the state that the map begins in.
    #[must_use]
    pub fn difference_above(&self, state: &MachineState<u8>, contents: Contents<'_>, oldest: usize) -> Option<String> {
        let Some(place) = self.place_above(state, oldest) else {
            return Some("there is no such call string".to_owned());
        };
        let silence = place.thread.silence();
        let mut difference = "there is no such place".to_owned();
        for state in self.states(&place) {
            let found = self.in_values(state, contents).or_else(|| in_equalities(state, silence, contents));
            match found.or_else(|| in_ranges(state, contents)).or_else(|| in_equations(state, contents)) {
                Some(found) => difference = found,
                None => return None,
            }
        }
        Some(difference)
    }

    /// The first cell with a value that the state does not allow.
    fn in_values(&self, state: &State, contents: Contents<'_>) -> Option<String> {
        let store = &self.map.store;
        let pages = state.memory.blocks().iter().flat_map(|block| store.block(*block));
        let mut bytes = pages.flat_map(|page| store.page(*page)).zip(contents.now).zip(0_u16..);
        let ((byte, value), cell) = bytes.find(|((byte, value), _)| !byte.contains(**value))?;
        Some(format!("cell {cell:#06x} is {value:#04x} and not {byte}"))
    }
}

/// SREG, which is at the same address in all cores.
const STATUS: DataAddress = avr_isa::io_address(0x3f);

/// The first equation that is not true.
fn in_equations(state: &State, contents: Contents<'_>) -> Option<String> {
    let carry = contents.now[STATUS.index()] >> flag::C & 1 == 1;
    let content = |value: Value| contents.of(value);
    let equation = state.equations.list().iter().find(|equation| !equation.is_true(carry, &content))?;
    Some(format!("with carry {carry}, {equation:x?} is not true"))
}

/// The first number that is not in its range.
fn in_ranges(state: &State, contents: Contents<'_>) -> Option<String> {
    let carry = contents.now[STATUS.index()] >> flag::C & 1 == 1;
    let content = |value: Value| contents.of(value);
    let range = state.ranges.list().iter().find(|range| !is_in_range(range, carry, &content))?;
    let bytes: Vec<String> = range.bytes.iter().map(|value| format!("{:02x}", content(*value))).collect();
    Some(format!("with carry {carry} the bytes {} are not in {range:x?}", bytes.join(" ")))
}

/// The first cell that does not hold what it should be equal to.
fn in_equalities(state: &State, silence: Silence, contents: Contents<'_>) -> Option<String> {
    let same = |cell: DataAddress| contents.of(state.equalities.value(cell, silence));
    let differs = |cell: &DataAddress| contents.now[cell.index()] != same(*cell);
    let all: Vec<DataAddress> = match silence {
        Silence::Nothing => state.equalities.changed().collect(),
        Silence::Unchanged => DataAddress(0).until(DataAddress::of_index(contents.now.len())).collect(),
    };
    let cell = all.into_iter().find(differs)?;
    Some(format!("cell {cell:#06x} is {:#04x} and not the same as {:#04x}", contents.now[cell.index()], same(cell)))
}
