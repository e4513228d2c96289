//! Events: what a step did, as far as properties speak of it.
//!
//! An event labels the state that its step enters. Events that no property names leave no mark, so they tell no states
//! apart.
//!
//! `return(f)` must be told although `f` was left by a jump (a tail call): the frame carries it until it goes.

use avr_isa::{FlashByteAddress, FlashWordAddress};
use avr_machine::Event as Did;
use three_valued::{ByteDomain, Truth, TvByte};

use crate::atom::{Atom, AtomKind};
use crate::view::{Event, Occurrence};

/// So many functions whose return is watched can be told of a frame.
const CARRIED: usize = u64::BITS as usize;

/// The watched events that one step showed; empty if none happened.
pub type Occurrences = Box<[Occurred]>;

/// An event that happened, or may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Occurred {
    /// Index among the watched events.
    pub event: usize,
    /// True if it happened for certain.
    pub certain: bool,
    /// The value that was read or written.
    pub value: TvByte,
}

/// The events that atoms speak of, each once.
#[must_use]
pub fn watched_events(atoms: &[Atom]) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    for atom in atoms {
        if let AtomKind::Event(event, _) = atom.kind()
            && !events.contains(event)
        {
            events.push(event.clone());
        }
    }
    events
}

/// Takes note of the watched events of one step.
#[derive(Debug)]
pub struct EventRecorder<'a> {
    watched: &'a [Event],
    /// The address of the instruction.
    pc: FlashByteAddress,
    seen: Vec<Occurred>,
}

impl<'a> EventRecorder<'a> {
    /// A recorder for the step at an address.
    #[must_use]
    pub fn new(watched: &'a [Event], pc: FlashByteAddress) -> Self {
        Self { watched, pc, seen: Vec::new() }
    }

    /// Forgets what was seen.
    pub fn clear(&mut self) {
        self.seen.clear();
    }

    /// The events that were seen, in the order of the watched events.
    pub fn occurrences(&mut self) -> Occurrences {
        self.seen.sort_by_key(|one| one.event);
        std::mem::take(&mut self.seen).into_boxed_slice()
    }

    /// Notes what the machine did.
    pub fn note(&mut self, did: Did<'_, TvByte>) {
        let mut returns = 0;
        for event in 0..self.watched.len() {
            if let Some((certain, value)) = self.matches(&self.watched[event], returns, did) {
                self.add(Occurred { event, certain, value });
            }
            returns += usize::from(matches!(self.watched[event], Event::Return(_)));
        }
    }

    /// Notes a jump, a branch or a fall-through between two flash word addresses. The watched functions that it leaves, as bits for
    /// the youngest frame.
    pub fn moves(&mut self, from: FlashWordAddress, to: FlashWordAddress) -> u64 {
        let (from, to) = (from.byte().0, to.byte().0);
        let (mut returns, mut left) = (0, 0);
        for (event, watched) in self.watched.iter().enumerate() {
            match watched {
                Event::Call(function) if function.address == to => match function.is_called_from(from) {
                    Truth::False => {}
                    called => self.add(Occurred { event, certain: called == Truth::True, value: TvByte::UNKNOWN }),
                },
                Event::Return(function) => {
                    if function.contains(&from) && !function.contains(&to) {
                        left |= bit(returns);
                    }
                    returns += 1;
                }
                Event::Call(_) | Event::Read(_) | Event::Write(_) | Event::Interrupt(_) => {}
            }
        }
        left
    }

    /// The certainty and the value of the event, if what the machine did is one; `returns` of the events before it are returns.
    fn matches(&self, event: &Event, returns: usize, did: Did<'_, TvByte>) -> Option<(bool, TvByte)> {
        let (happened, certain, value) = match (event, did) {
            (Event::Read(cells), Did::Read(cell, value)) => (cells.contains(&cell), true, *value),
            (Event::Read(cells), Did::PerhapsRead(cell, value)) => (cells.contains(&cell), false, *value),
            (Event::Write(cells), Did::Write(cell, value)) => (cells.contains(&cell), true, *value),
            (Event::Write(cells), Did::PerhapsWrite(cell, value)) => (cells.contains(&cell), false, *value),
            (Event::Call(function), Did::Call(target)) => (target.byte().0 == function.address, true, TvByte::UNKNOWN),
            (Event::Return(function), Did::Return(_, left)) => {
                let certain = function.contains(&self.pc.0) || left & bit(returns) != 0;
                // SOUND: those beyond the bits of a frame may have been left.
                (certain || returns >= CARRIED, certain, TvByte::UNKNOWN)
            }
            (Event::Interrupt(number), Did::Interrupt(entered)) => (entered == *number, true, TvByte::UNKNOWN),
            _ => return None,
        };
        happened.then_some((certain, value))
    }

    /// An event that happens twice in a step, in different cells of a variable, has either value.
    fn add(&mut self, new: Occurred) {
        match self.seen.iter_mut().find(|one| one.event == new.event) {
            Some(one) => {
                one.certain |= new.certain;
                one.value = one.value.join(&new.value);
            }
            None => self.seen.push(new),
        }
    }
}

/// The bit of a frame for the return with this number; none beyond those that a frame carries.
fn bit(returns: usize) -> u64 {
    if returns < CARRIED { 1 << returns } else { 0 }
}

/// True if all that is known of a step of which `coarse` was seen is true of one of which `fine` was seen.
#[must_use]
pub fn occurrences_cover(coarse: &[Occurred], fine: &[Occurred]) -> bool {
    let of = |seen: &[Occurred], event: usize| seen.iter().find(|one| one.event == event).copied();
    let is_covered = |one: &Occurred| of(coarse, one.event).is_some_and(|other| other.value.covers(one.value));
    let stays_certain = |one: &Occurred| !one.certain || of(fine, one.event).is_some_and(|other| other.certain);
    fine.iter().all(is_covered) && coarse.iter().all(stays_certain)
}

/// The knowledge of an event, given the events of a step.
#[must_use]
pub fn occurrence(watched: &[Event], seen: &[Occurred], event: &Event) -> Occurrence {
    let Some(index) = watched.iter().position(|one| one == event) else { return Occurrence::UNKNOWN };
    match seen.iter().find(|one| one.event == index) {
        Some(one) if one.certain => Occurrence { happened: Truth::True, value: one.value },
        Some(one) => Occurrence { happened: Truth::Unknown, value: one.value },
        None => Occurrence { happened: Truth::False, value: TvByte::UNKNOWN },
    }
}
