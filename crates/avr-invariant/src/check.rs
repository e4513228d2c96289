//! The closing check: a finite map is accepted if one step from each of its states is covered by the map.
//!
//! `docs/soundness.md`, section "Thread-modular invariants", says why what it claims is true then.

use std::collections::BTreeMap;

use avr_isa::{DataAddress, FlashByteAddress};
use avr_machine::{Frame, Hazard, Machine};
use rustc_hash::FxHashMap;
use three_valued::TvByte;

use crate::equalities::Silence;
use crate::faults::{Fault, is_on};
use crate::gap::{Gap, Reason};
use crate::handler::Interrupt;
use crate::map::{Entry, Map, Place, State, Thread};
use crate::memory::{BLOCK_PAGES, Store};
use crate::step::{Outcome, RETURNED, Start, Stepper};

/// The most values of a cell that are looked at one by one.
pub(crate) const MOST_CASES: usize = 8;

/// The most cells of a state whose values are looked at one by one.
pub(crate) const MOST_SPLITS: usize = 3;

/// A hazard that a step of the map runs into: what happens after it is not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The thread.
    pub thread: Thread,
    /// The address of the instruction.
    pub address: FlashByteAddress,
    /// The hazard.
    pub hazard: Hazard,
}

/// The deepest that the stack is in a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Depth {
    /// Bytes below RAMEND.
    pub bytes: u32,
    /// The address of the next instruction there.
    pub address: FlashByteAddress,
    /// The thread.
    pub thread: Thread,
    /// The return addresses that the thread has on the stack, oldest first.
    pub calls: Vec<Frame>,
}

/// The claims that follow from a map that was accepted, of every run of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claims {
    /// The hazards that a run may come to; no run comes to another one. All else that is claimed is of runs up to their first hazard.
    pub marks: Vec<Mark>,
    /// The deepest stack of the main program alone, and of each interrupt's handler with what it interrupts. SP is never lower where it
    /// is not torn.
    pub depths: BTreeMap<Option<u8>, Depth>,
    /// The number of states.
    pub states: usize,
    /// The number of outcomes of steps that were looked at.
    pub outcomes: usize,
}

impl Claims {
    /// True if no run comes to a hazard.
    #[must_use]
    pub fn has_no_hazard(&self) -> bool {
        self.marks.is_empty()
    }

    /// A depth in bytes below RAMEND that the stack exceeds in no run. None if some run may come to a hazard, after which nothing is known.
    #[must_use]
    pub fn stack_bound(&self) -> Option<u32> {
        let deepest = self.depths.values().map(|depth| depth.bytes).max();
        deepest.filter(|_| self.has_no_hazard())
    }
}

/// A step from one place of a map to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Move {
    /// A thread goes on, or a reset begins the main program.
    To(Place, Place),
    /// A handler begins, at the second place.
    Begins(Place, Place),
    /// A handler executes RETI.
    Returns(Place),
}

/// Accepts a map if each step from its states is covered by it, and tells what follows.
///
/// # Errors
/// The first reason why nothing follows.
pub fn check(machine: &Machine, map: &mut Map) -> Result<Claims, Gap> {
    check_with(machine, map, &mut |_| {})
}

/// The same, and all steps between places are told; those of a map that is rejected are only some.
///
/// # Errors
/// As [`check`].
pub fn check_with(machine: &Machine, map: &mut Map, tell: &mut dyn FnMut(Move)) -> Result<Claims, Gap> {
    check_from(machine, Start::PowerOn, map, tell)
}

/// The same of all runs from a start.
///
/// # Errors
/// As [`check`].
pub fn check_from(
    machine: &Machine,
    start: Start<'_>,
    map: &mut Map,
    tell: &mut dyn FnMut(Move),
) -> Result<Claims, Gap> {
    let work = Work::new(machine, map, tell)?;
    work.check(start)
}

/// The places of a map.
struct Index {
    entries: FxHashMap<Place, Vec<u32>>,
    exits: FxHashMap<Thread, Vec<u32>>,
}

/// A check.
struct Work<'a> {
    machine: &'a Machine,
    map: &'a mut Map,
    index: Index,
    claims: Claims,
    tell: &'a mut dyn FnMut(Move),
}

impl<'a> Work<'a> {
    fn new(machine: &'a Machine, map: &'a mut Map, tell: &'a mut dyn FnMut(Move)) -> Result<Self, Gap> {
        // SOUND: a handler returns to 0 here instead of where it was called. The start-up code is over where it ends, so that no handler returns
        // there while it goes on; at 0 it must not seem to end.
        if machine.startup_end() == Some(RETURNED) {
            return Err(Gap::whole(Reason::StartupEndsAtZero));
        }
        check_form(machine, map)?;
        let mut entries: FxHashMap<Place, Vec<u32>> = FxHashMap::default();
        for (number, entry) in (0..).zip(&map.entries) {
            entries.entry(entry.place).or_default().push(number);
        }
        let mut exits: FxHashMap<Thread, Vec<u32>> = FxHashMap::default();
        for (number, exit) in (0..).zip(&map.exits) {
            exits.entry(exit.thread).or_default().push(number);
        }
        let states = map.entries.len();
        let claims = Claims { marks: Vec::new(), depths: BTreeMap::new(), states, outcomes: 0 };
        Ok(Self { machine, map, index: Index { entries, exits }, claims, tell })
    }

    fn check(mut self, start: Start<'_>) -> Result<Claims, Gap> {
        let mut stepper = Stepper::new(self.machine);
        // Obligation 1: the initial state is covered.
        for outcome in stepper.start(start, &mut self.map.store, &mut self.map.calls) {
            match outcome {
                Outcome::To(place, state) => self.must_cover(None, &place, &state, "the initial state")?,
                Outcome::Gap(reason) => return Err(Gap::whole(reason)),
                Outcome::Interrupt(_) | Outcome::Return(_) | Outcome::Mark(_) => {}
            }
        }
        for number in 0..self.map.entries.len() {
            let Entry { place, state } = self.map.entries[number].clone();
            self.note_depth(&place, &state);
            let outcomes = stepper.outcomes(&place, &state, &mut self.map.store, &mut self.map.calls);
            self.claims.outcomes += outcomes.len();
            for outcome in outcomes {
                self.judge(&place, &state, outcome)?;
            }
        }
        self.claims
            .marks
            .sort_unstable_by_key(|mark| (mark.thread, mark.address, mark.hazard.kind, mark.hazard.address));
        self.claims.marks.dedup();
        Ok(self.claims)
    }

    /// Checks that an outcome of a step is covered.
    fn judge(&mut self, from: &Place, before: &State, outcome: Outcome) -> Result<(), Gap> {
        match outcome {
            Outcome::To(place, state) => {
                (self.tell)(Move::To(*from, place));
                self.must_cover(Some(from), &place, &state, "a successor")
            }
            Outcome::Interrupt(interrupt) => self.judge_interrupt((from, before), &interrupt),
            Outcome::Return(exit) => {
                (self.tell)(Move::Returns(*from));
                let exits = self.index.exits.get(&exit.thread).into_iter().flatten();
                let mut such = exits.map(|number| &self.map.exits[*number as usize]);
                let covers = |coarse: &crate::map::Exit| {
                    coarse.control == exit.control
                        && coarse.state.covers(&exit.state, Silence::Unchanged, &self.map.store)
                };
                match such.any(covers) {
                    true => Ok(()),
                    false => Err(Gap::at(from, Reason::NotCovered("the return of a handler"))),
                }
            }
            Outcome::Mark(_) if is_on(Fault::MarksForgotten) => Ok(()),
            Outcome::Mark(hazard) => {
                self.claims.marks.push(Mark { thread: from.thread, address: from.address(), hazard });
                Ok(())
            }
            Outcome::Gap(_) if is_on(Fault::GapsForgotten) => Ok(()),
            Outcome::Gap(reason) => Err(Gap::at(from, reason)),
        }
    }

    /// Checks that the beginning of a handler is covered, and what it leaves behind.
    fn judge_interrupt(&mut self, from: (&Place, &State), interrupt: &Interrupt) -> Result<(), Gap> {
        (self.tell)(Move::Begins(*from.0, interrupt.place));
        if !is_on(Fault::FirstMemoryOnly) {
            self.must_cover(Some(from.0), &interrupt.place, &interrupt.beginning(), "the beginning of a handler")?;
        }
        let exits = self.index.exits.get(&interrupt.place.thread).cloned().unwrap_or_default();
        for number in exits {
            let exit = self.map.exits[number as usize].clone();
            let resumed = interrupt.resumed(self.machine, from, &exit, &mut self.map.store);
            let Some((place, state)) = resumed else { continue };
            self.must_cover(Some(from.0), &place, &state, "what a handler leaves behind")?;
        }
        Ok(())
    }

    fn must_cover(
        &mut self,
        from: Option<&Place>,
        place: &Place,
        state: &State,
        what: &'static str,
    ) -> Result<(), Gap> {
        if self.is_covered(place, state, MOST_SPLITS) {
            return Ok(());
        }
        let reason = Reason::NotCovered(what);
        Err(from.map_or(Gap::whole(reason.clone()), |from| Gap::at(from, reason)))
    }

    /// True if an entry covers a state, or one covers each of the cases in which a cell has this or that value.
    ///
    /// SOUND: each concrete state is one of some case.
    fn is_covered(&mut self, place: &Place, state: &State, splits: usize) -> bool {
        let there = self.index.entries.get(place).into_iter().flatten();
        let states = there.map(|number| &self.map.entries[*number as usize].state);
        let mut split = None;
        for coarse in states {
            if coarse.covers(state, place.thread.silence(), &self.map.store) {
                return true;
            }
            if splits > 0 && split.is_none() {
                split = self.case(coarse, state);
            }
        }
        let Some((cell, byte)) = split else { return false };
        let most = if is_on(Fault::CasesForgotten) { 1 } else { MOST_CASES };
        byte.concretisations().take(most).all(|value| {
            let case = state.with(cell, TvByte::constant(value), &mut self.map.store);
            self.is_covered(place, &case, splits - 1)
        })
    }

    /// A cell that has one of a few values in a state, and a certain one in an entry that covers all that comes before it.
    fn case(&self, coarse: &State, fine: &State) -> Option<(DataAddress, TvByte)> {
        let store = &self.map.store;
        let cell = store.first_uncovered(&coarse.memory, &fine.memory)?;
        let byte = store.cell(&fine.memory, cell);
        let is_one = store.cell(&coarse.memory, cell).known().is_some();
        (is_one && byte.known().is_none() && byte.count() <= MOST_CASES).then_some((cell, byte))
    }

    fn note_depth(&mut self, place: &Place, state: &State) {
        if place.control.torn {
            return;
        }
        let pointer = self.machine.stack_pointer();
        let low = |cell: DataAddress| Some(lowest(&self.map.store, state, cell));
        let lowest = pointer.value(low).unwrap_or_default();
        let bytes = self.machine.data_end().offset_from(lowest).unwrap_or_default().into();
        let owner = match place.thread {
            Thread::Main => None,
            Thread::Handler { interrupt, .. } => Some(interrupt),
        };
        if self.claims.depths.get(&owner).is_none_or(|depth| depth.bytes < bytes) {
            let calls = self.map.calls.frames(place.calls).to_vec();
            let depth = Depth { bytes, address: place.address(), thread: place.thread, calls };
            self.claims.depths.insert(owner, depth);
        }
    }
}

/// The least value of a cell.
fn lowest(store: &Store, state: &State, cell: DataAddress) -> u8 {
    let byte: TvByte = store.cell(&state.memory, cell);
    byte.low()
}

/// Checks that a map has the form of maps of a machine, so that a step can be taken from every state.
fn check_form(machine: &Machine, map: &Map) -> Result<(), Gap> {
    let misfit = |what| Err(Gap::whole(Reason::Misfit(what)));
    let cells = machine.cells();
    let blocks = cells.div_ceil(avr_machine::PAGE_CELLS * BLOCK_PAGES);
    let words = machine.device.memory.flash_words();
    let [_, stored] = map.store.sizes();
    if !map.store.is_whole() {
        return misfit("a block has pages that are not there");
    }
    let states = map.entries.iter().map(|entry| (entry.place.thread, &entry.place.control, &entry.state));
    let exits = map.exits.iter().map(|exit| (exit.thread, &exit.control, &exit.state));
    for (thread, control, state) in states.chain(exits) {
        let memory = state.memory.blocks();
        if memory.len() != blocks || memory.iter().any(|block| *block as usize >= stored) {
            return misfit("a memory has another size");
        }
        if !state.equalities.are_well_formed(thread.silence(), cells) {
            return misfit("cells are equal to something that is none");
        }
        if !state.ranges.list().iter().all(|range| range.is_well_formed(thread.silence(), cells)) {
            return misfit("a number has a range that it cannot have");
        }
        if !state.equations.list().iter().all(|one| one.is_well_formed(thread.silence(), cells)) {
            return misfit("an equation is of cells that are none");
        }
        if control.pc.0 >= words {
            return misfit("it executes outside of the flash");
        }
    }
    if map.exits.iter().any(|exit| exit.thread == Thread::Main) {
        return misfit("the main program returns");
    }
    if map.entries.iter().any(|entry| entry.place.calls as usize >= map.calls.len()) {
        return misfit("there is no such call string");
    }
    Ok(())
}
