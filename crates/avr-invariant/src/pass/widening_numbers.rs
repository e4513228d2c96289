//! Widening with thresholds for ranges of numbers that go on growing.

use avr_isa::{Instruction, Register};
use avr_machine::Program;
use rustc_hash::FxHashMap;

use crate::equalities::{Silence, Value};
use crate::intervals::{Interval, Range, Ranges};
use crate::map::State;
use crate::memory::Store;

/// So many times a range grows to the next threshold.
const MOST_TIMES: u8 = 32;

/// The numbers at which growing ranges stop: those that a program compares with, adds or loads, and their neighbours.
#[derive(Debug)]
pub(super) struct Numbers(Vec<u32>);

/// The numbers in code, read as if it had no jumps.
#[derive(Default)]
struct Reader {
    loaded: [Option<u8>; 32],
    /// The register up to which a number was read, with the number and its bits.
    open: Option<(Register, u32, u32)>,
    found: Vec<u32>,
}

impl Reader {
    fn begin(&mut self, rd: Register, k: Option<u8>) {
        self.open = k.map(|k| (rd, u32::from(k), 8));
    }

    fn go_on(&mut self, rd: Register, k: Option<u8>) {
        let Some((last, number, bits)) = self.open.take() else { return };
        if let (Some(k), true) = (k, last.next() == rd && bits < 32) {
            let number = number | u32::from(k) << bits;
            let bits = bits + 8;
            self.found.extend([number, number.wrapping_neg() & u32::MAX >> (32 - bits)]);
            self.open = Some((rd, number, bits));
        }
    }

    fn read(&mut self, instruction: Instruction) {
        let loaded = |register: Register| match register.index() {
            1 => Some(0),
            index => self.loaded[usize::from(index)],
        };
        match instruction {
            Instruction::Ldi { rd, k } => {
                let below = rd.index().checked_sub(1).and_then(|below| self.loaded[usize::from(below)]);
                self.found.extend(below.map(|low| u32::from(u16::from_le_bytes([low, k]))));
                self.loaded[usize::from(rd.index())] = Some(k);
            }
            Instruction::Cpi { rd, k } | Instruction::Subi { rd, k } => self.begin(rd, Some(k)),
            Instruction::Cp { rd, rr } => self.begin(rd, loaded(rr)),
            Instruction::Sbci { rd, k } => self.go_on(rd, Some(k)),
            Instruction::Cpc { rd, rr } => self.go_on(rd, loaded(rr)),
            _ => {}
        }
    }
}

impl Numbers {
    /// Those of a program.
    pub(super) fn new(program: &Program) -> Self {
        let mut reader = Reader::default();
        program.instructions().for_each(|(_, instruction)| reader.read(instruction));
        Self::of(reader.found)
    }

    fn of(found: Vec<u32>) -> Self {
        let near = |number: u32| [number.saturating_sub(1), number, number.saturating_add(1)];
        let mut all: Vec<u32> = found.into_iter().flat_map(near).chain([0]).collect();
        all.sort_unstable();
        all.dedup();
        Self(all)
    }

    /// A range that `new` is part of, where `old`, which is part of it, has grown for so many times; none if nothing is known any more.
    fn widened(&self, times: u8, old: Interval, new: Interval) -> Option<Interval> {
        let (Some(old), Some(new)) = (old, new) else { return Some(new) };
        if old == new {
            return Some(Some(new));
        }
        if times > MOST_TIMES {
            return None;
        }
        let low = match new.0 < old.0 {
            true => self.0[self.0.partition_point(|one| *one <= new.0) - 1],
            false => new.0,
        };
        let high = match new.1 > old.1 {
            true => *self.0.get(self.0.partition_point(|one| *one < new.1))?,
            false => new.1,
        };
        Some(Some((low, high)))
    }
}

/// The ranges of a join with a state that goes on growing; `haste` counts as growths of each.
pub(super) fn widened_ranges(
    old: &State,
    joined: &State,
    (numbers, grown, haste): (&Numbers, &mut FxHashMap<Box<[Value]>, u8>, u8),
    silence: Silence,
    store: &Store,
) -> Ranges {
    let widened = |range: &Range| {
        let before = old.range(&range.bytes, silence, store);
        if before == range.when {
            return Some(range.clone());
        }
        let times = grown.entry(range.bytes.clone()).or_default();
        *times = times.saturating_add(1);
        let most = crate::intervals::greatest(range.bytes.len());
        let wide = |carry: usize| {
            let range = numbers.widened(times.saturating_add(haste), before[carry], range.when[carry])?;
            Some(range.map(|(low, high)| (low, high.min(most))))
        };
        Some(Range { bytes: range.bytes.clone(), when: [wide(0)?, wide(1)?] })
    };
    Ranges::new(joined.ranges.list().iter().filter_map(widened).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_grow_to_numbers_of_the_program_and_come_to_an_end() {
        let mut reader = Reader::default();
        let r = Register::from_low_bits;
        for instruction in [
            Instruction::Cpi { rd: r(24), k: 0xe8 },
            Instruction::Ldi { rd: r(18), k: 3 },
            Instruction::Cpc { rd: r(25), rr: r(18) },
        ] {
            reader.read(instruction);
        }
        let numbers = Numbers::of(reader.found);
        assert!(numbers.0.contains(&999) && numbers.0.contains(&1001), "{numbers:?}");
        assert_eq!(numbers.widened(1, Some((5, 7)), Some((4, 8))), Some(Some((0, 999))));
        assert_eq!(numbers.widened(1, Some((5, 999)), Some((5, 1000))), Some(Some((5, 1000))));
        assert_eq!(numbers.widened(MOST_TIMES + 1, Some((5, 999)), Some((5, 1000))), None);
        assert_eq!(numbers.widened(1, Some((5, 999)), Some((5, 70_000))), None);
    }
}
