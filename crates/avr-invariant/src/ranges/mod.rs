//! Ranges of numbers of up to four bytes, which may depend on the carry.

mod arithmetic;
mod step;

use avr_isa::DataAddress;
use three_valued::TvByte;

use crate::equalities::{Silence, Value};
use crate::faults::{Fault, is_on};
use crate::intervals::{Interval, Range, Ranges, add, greatest, hull, is_within, meet, of_bytes};
use crate::map::State;
use crate::memory::Store;

pub(crate) use step::Before;

impl State {
    /// The number that a value has in this state: equal ones for values that are known to be the same.
    pub(crate) fn canonical(&self, value: Value, silence: Silence) -> Value {
        match value {
            Value::Of(cell) => self.equalities.value(cell, silence),
            Value::Entry(_) | Value::Result(_) => value,
        }
    }

    /// The knowledge of a value.
    pub(crate) fn byte(&self, value: Value, silence: Silence, store: &Store) -> TvByte {
        match value {
            Value::Of(cell) => store.cell(&self.memory, cell),
            Value::Result(_) => TvByte::UNKNOWN,
            Value::Entry(cell) if is_on(Fault::EntryTakenForNow) => store.cell(&self.memory, cell),
            // SOUND: each cell that holds it has it as its content.
            Value::Entry(_) => {
                holders(self, value, silence).next().map_or(TvByte::UNKNOWN, |cell| store.cell(&self.memory, cell))
            }
        }
    }

    /// True if two values are known to be the same.
    fn is_one_value(&self, one: Value, other: Value, silence: Silence, store: &Store) -> bool {
        let known = |value| self.byte(value, silence, store).known();
        self.canonical(one, silence) == self.canonical(other, silence)
            || known(one).is_some_and(|byte| known(other) == Some(byte))
    }

    /// The range of a number that follows from what is known of each byte.
    fn range_of_bytes(&self, bytes: &[Value], silence: Silence, store: &Store) -> (u32, u32) {
        of_bytes(bytes.iter().map(|value| self.byte(*value, silence, store)))
    }

    /// The range of a number, for each value of the carry.
    pub(crate) fn range(&self, bytes: &[Value], silence: Silence, store: &Store) -> [Interval; 2] {
        let is_it = |range: &&Range| {
            let mut both = range.bytes.iter().zip(bytes);
            range.bytes.len() <= bytes.len() && both.all(|(one, other)| self.is_one_value(*one, *other, silence, store))
        };
        let plain = Some(self.range_of_bytes(bytes, silence, store));
        // SOUND: all that is said is true, of the lower bytes of a number as well.
        self.ranges.list().iter().filter(is_it).fold([plain; 2], |all, range| {
            let size = range.bytes.len();
            let rest = Some(self.range_of_bytes(&bytes[size..], silence, store));
            let whole = |when: Interval| if size == bytes.len() { when } else { arithmetic::above(when, rest, size) };
            [meet(all[0], whole(range.when[0])), meet(all[1], whole(range.when[1]))]
        })
    }

    /// True if each range of this state is one that `fine` has as well.
    pub(crate) fn covers_ranges(&self, fine: &Self, silence: Silence, store: &Store) -> bool {
        self.ranges.list().iter().all(|range| {
            let found = fine.range(&range.bytes, silence, store);
            (0..2).all(|carry| is_within(found[carry], range.when[carry]))
        })
    }

    /// Of some ranges those that say more than the bytes of the state, without highest bytes that are known.
    pub(crate) fn own_ranges(&self, found: Vec<Range>, silence: Silence, store: &Store) -> Ranges {
        let mut list = Vec::new();
        for range in found {
            let range = self.without_known(range, silence, store);
            let plain = Some(self.range_of_bytes(&range.bytes, silence, store));
            if !range.when.iter().all(|one| is_within(plain, *one)) {
                add(&mut list, range);
            }
        }
        Ranges::of(list)
    }

    /// The same range of the number without its highest bytes, as far as they are known.
    fn without_known(&self, range: Range, silence: Silence, store: &Store) -> Range {
        let Range { mut bytes, mut when } = range;
        while let [rest @ .., highest] = &*bytes
            && !rest.is_empty()
            && let Some(known) = self.byte(*highest, silence, store).known()
        {
            let first = u32::from(known) << (8 * rest.len());
            let all = Some((first, first + greatest(rest.len())));
            when = when.map(|one| meet(one, all).map(|(low, high)| (low - first, high - first)));
            bytes = rest.into();
        }
        Range { bytes, when }
    }

    /// The numbers of which the state has ranges, by other cells too that hold them one behind the other.
    fn numbers(&self, silence: Silence, store: &Store) -> Vec<Box<[Value]>> {
        let mut all = Vec::new();
        for Range { bytes, .. } in self.ranges.list() {
            all.push(bytes.clone());
            let Some((first, rest)) = bytes.split_first() else { continue };
            let copies = holders(self, *first, silence).filter(|cell| {
                let behind = |offset: u16| Value::Of(cell.wrapping_add(offset));
                usize::from(cell.0) + bytes.len() <= store.cells(&self.memory)
                    && (1..).zip(rest).all(|(offset, value)| self.is_one_value(behind(offset), *value, silence, store))
            });
            all.extend(copies.map(|cell| (0..bytes.len() as u16).map(|at| Value::Of(cell.wrapping_add(at))).collect()));
        }
        all
    }

    /// The ranges that a state has which stands for this one and another one, where it has all else already.
    pub(crate) fn joined_ranges(&self, other: &Self, all: &Self, silence: Silence, store: &Store) -> Ranges {
        let mut found = Vec::new();
        for bytes in self.numbers(silence, store).into_iter().chain(other.numbers(silence, store)) {
            let [here, there] = [self, other].map(|state| state.range(&bytes, silence, store));
            let bytes = bytes.iter().map(|value| all.canonical(*value, silence)).collect();
            found.push(Range { bytes, when: [hull(here[0], there[0]), hull(here[1], there[1])] });
        }
        all.own_ranges(found, silence, store)
    }
}

/// The cells that hold a value in a state, as far as a list of equalities tells.
pub(crate) fn holders(state: &State, value: Value, silence: Silence) -> impl Iterator<Item = DataAddress> + '_ {
    let (Value::Of(own) | Value::Entry(own) | Value::Result(own)) = value;
    let listed = state.equalities.values(silence);
    let all = std::iter::once_with(move || (own, state.equalities.value(own, silence))).chain(listed);
    all.filter(move |one| one.1 == value).map(|one| one.0)
}
