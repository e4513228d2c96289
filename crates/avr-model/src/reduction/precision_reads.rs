//! The precision that an expansion depends on.

use crate::state::{AbstractState, Location, PrecisionLookup};
use std::cell::RefCell;
use tvar::{Change, History, LocationPrecision, Lookup, Part, Scope, StepPrecision};

/// Instructions in a row are those with at most so many words between the beginnings of two.
const WORDS: u32 = 2;

/// The number that stands for every call string.
const ALL_CALLS: u32 = u32::MAX;

/// The locations at an instruction: those with one call string, or with any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    is_kept: bool,
    calls: u32,
    /// Flash word address; numbers behind the flash stand for locations without an instruction.
    pc: u32,
}

impl Place {
    fn of(location: &Location, part: Part) -> Self {
        let (calls, pc) = match location {
            Location::Running { control, calls, .. } => (*calls, control.pc.0),
            Location::Dummy => (ALL_CALLS, u32::MAX),
            Location::Sink => (ALL_CALLS, u32::MAX - 2 * WORDS),
        };
        Self { is_kept: part == Part::Kept, calls, pc }
    }
}

/// Places of which the precision was read, at instructions in a row, from the first to the last.
#[derive(Clone, Copy, Debug)]
struct Row {
    first: Place,
    last: u32,
}

/// The places of which the precision was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reads(Box<[Row]>);

impl Reads {
    /// True if some precision was read that a change is one of.
    pub(crate) fn are_hit_by(&self, change: &Change<Location>) -> bool {
        let is_hit = |location: &Location, in_all: bool| {
            let place = Place::of(location, change.part);
            self.of(change.part).any(|row| {
                let is_called_so = in_all || [ALL_CALLS, place.calls].contains(&row.first.calls);
                is_called_so && (row.first.pc..=row.last).contains(&place.pc)
            })
        };
        match &change.scope {
            Scope::One(location) => is_hit(location, false),
            Scope::Alike(location) => is_hit(location, true),
            Scope::All => self.of(change.part).next().is_some(),
        }
    }

    fn of(&self, part: Part) -> impl Iterator<Item = &Row> {
        self.0.iter().filter(move |row| row.first.is_kept == (part == Part::Kept))
    }

    /// The number of rows.
    pub(crate) fn size(&self) -> usize {
        self.0.len()
    }
}

/// A precision that takes note of what is read of it.
pub(crate) struct Recorder<'a> {
    of: &'a PrecisionLookup<'a>,
    read: RefCell<Vec<Place>>,
}

impl<'a> Recorder<'a> {
    /// A precision of which nothing was read.
    pub(crate) fn new(of: &'a PrecisionLookup<'a>) -> Self {
        Self { of, read: RefCell::default() }
    }

    /// The number of changes of the precision; none where it is kept per state.
    pub(crate) fn changes(&self) -> Option<usize> {
        self.of.history().map(|history| history.changes().len())
    }

    /// The places that were read.
    pub(crate) fn reads(self) -> Reads {
        let mut places = self.read.into_inner();
        places.sort_unstable();
        let mut rows: Vec<Row> = Vec::new();
        for place in places {
            match rows.last_mut() {
                Some(row)
                    if (row.first.is_kept, row.first.calls) == (place.is_kept, place.calls)
                        && place.pc - row.last <= WORDS =>
                {
                    row.last = place.pc;
                }
                _ => rows.push(Row { first: place, last: place.pc }),
            }
        }
        Reads(rows.into_boxed_slice())
    }

    fn note(&self, place: Place) {
        let mut read = self.read.borrow_mut();
        if read.last() != Some(&place) {
            read.push(place);
        }
    }
}

impl Lookup<AbstractState, Location> for Recorder<'_> {
    fn leaving(&self, state: &AbstractState, location: &Location) -> &LocationPrecision {
        self.note(Place::of(location, Part::Steps));
        self.of.leaving(state, location)
    }

    fn arriving(&self, from: &AbstractState, location: &Location) -> &StepPrecision {
        self.note(Place::of(location, Part::Kept));
        self.of.arriving(from, location)
    }

    fn common(&self, general: &Location) -> Option<&LocationPrecision> {
        let common = self.of.common(general);
        if common.is_some() {
            // SOUND: as soon as one of them has another precision, this is not asked for all of them any more.
            self.note(Place { calls: ALL_CALLS, ..Place::of(general, Part::Steps) });
        }
        common
    }

    fn at(&self, location: &Location) -> Option<&LocationPrecision> {
        self.note(Place::of(location, Part::Steps));
        self.of.at(location)
    }

    fn step_at(&self, location: &Location) -> Option<&StepPrecision> {
        self.note(Place::of(location, Part::Kept));
        self.of.step_at(location)
    }

    fn history(&self) -> Option<&History<Location>> {
        self.of.history()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avr_isa::FlashWordAddress;
    use avr_machine::Control;
    use tvar::{Knob, Precision, Strategy, Variable};

    const BIT: (Variable, u64) = (Variable(7), 1);

    fn at(pc: u32, calls: u32) -> Location {
        let control = Control { pc: FlashWordAddress(pc), ..Control::default() };
        Location::Running { control, stack_pointer: None, calls, round: 0 }
    }

    /// True if a refinement at a place hits what was read at instructions 3, 4 and 6 with call string 2, at 9 with any, of
    /// what is kept at 5 with call string 2, and before the start.
    fn is_hit(location: Location, general: bool, knob: fn(Variable, u64) -> Knob) -> bool {
        let mut precision = Precision::<Location>::new(Strategy::Default);
        let lookup: &PrecisionLookup<'_> = &precision;
        let recorder = Recorder::new(lookup);
        for pc in [3, 4, 6] {
            recorder.leaving(&AbstractState::Dummy, &at(pc, 2));
        }
        recorder.common(&at(9, 0));
        recorder.step_at(&at(5, 2));
        recorder.at(&Location::Dummy);
        let reads = recorder.reads();
        let knob = knob(BIT.0, BIT.1);
        if general {
            precision.refine_generally(location, knob)
        } else {
            precision.refine(location, knob)
        };
        let changes = precision.history().changes();
        assert_eq!(changes.len(), 1);
        reads.are_hit_by(&changes[0])
    }

    #[test]
    fn changes_hit_what_was_read() {
        for (pc, calls, is_read) in [(3, 2, true), (6, 2, true), (7, 2, false), (3, 1, false), (9, 1, true)] {
            assert_eq!(is_hit(at(pc, calls), false, Knob::Case), is_read, "{pc} {calls}");
            assert_eq!(is_hit(at(pc, calls), true, Knob::Input), is_read || pc == 3, "{pc} {calls}");
            assert!(!is_hit(at(pc, calls), false, Knob::Step), "{pc} {calls}");
        }
        assert!(is_hit(at(5, 2), false, Knob::Step) && !is_hit(at(5, 1), false, Knob::Step));
        assert!(is_hit(at(1, 1), false, Knob::Everywhere));
        assert!(is_hit(Location::Dummy, false, Knob::Input) && !is_hit(Location::Sink, false, Knob::Input));
    }
}
