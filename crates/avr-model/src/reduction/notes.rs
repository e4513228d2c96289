//! The notes that reductions take while a state is expanded. They are read after the expansion, and again where the same
//! steps are used in another state space.

use super::skipped_paths::{Log, Spot};
use avr_isa::DataAddress;
use avr_predicates::{ToldBy, add};

/// Skipped states at instructions in a row.
#[derive(Clone, Copy, Debug)]
struct Row {
    first: Spot,
    count: u32,
    /// The depth of the stack in each, in bytes below RAMEND.
    depth: Option<u32>,
}

impl Row {
    fn spot(&self, number: u32) -> Spot {
        Spot { pc: self.first.pc.wrapping_add(number), calls: self.first.calls }
    }
}

/// The notes of path compression.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathNotes {
    rows: Vec<Row>,
    moves: Vec<(Spot, Spot)>,
    lengths: Vec<(Spot, Spot, u32)>,
    /// The least stack pointer of a state that was skipped, because the stack had been as deep before.
    skipped: Option<DataAddress>,
    /// The least stack pointer of a state that was kept, because the stack was deeper than ever before.
    kept: Option<DataAddress>,
}

impl PathNotes {
    /// Takes note of a skipped state, with the depth of its stack.
    pub(crate) fn spot(&mut self, spot: Spot, depth: Option<u32>) {
        if let Some(row) = self.rows.last_mut()
            && row.depth == depth
            && row.spot(row.count) == spot
        {
            row.count += 1;
            return;
        }
        self.rows.push(Row { first: spot, count: 1, depth });
    }

    /// Takes note of a step.
    pub(crate) fn step(&mut self, from: Spot, to: Spot) {
        if Log::is_move(from, to) {
            self.moves.push((from, to));
        }
    }

    /// Takes note of the number of steps from a state that is kept to the next one.
    pub(crate) fn length(&mut self, from: Spot, to: Spot, steps: u32) {
        self.lengths.push((from, to, steps));
    }

    /// Takes note of the stack pointer of a state that is skipped.
    pub(crate) fn skip(&mut self, pointer: Option<DataAddress>) {
        self.skipped = self.skipped.into_iter().chain(pointer).min();
    }

    /// Takes note of the stack pointer of a state that is kept because the stack is deeper than ever before.
    pub(crate) fn keep(&mut self, pointer: DataAddress) {
        self.kept = self.kept.into_iter().chain([pointer]).min();
    }

    /// The least stack pointer that the states of a space have then, which was this one before; none if a state is
    /// skipped where the stack is deeper than that.
    pub(crate) fn deepest_after(&self, deepest: DataAddress) -> Option<DataAddress> {
        let after = self.kept.map_or(deepest, |kept| kept.min(deepest));
        self.skipped.is_none_or(|skipped| after <= skipped).then_some(after)
    }

    /// True if a state is kept because the stack is deeper than ever before.
    #[cfg(any(test, feature = "faults"))]
    pub(crate) fn keeps_deepest(&self) -> bool {
        self.kept.is_some()
    }

    /// Adds the notes to a log.
    pub(crate) fn enter(&self, log: &mut Log) {
        for row in &self.rows {
            (0..row.count).for_each(|number| log.note_spot(row.spot(number), row.depth));
        }
        self.moves.iter().for_each(|(from, to)| log.note_move(*from, *to));
        self.lengths.iter().for_each(|(from, to, steps)| log.note_length(*from, *to, *steps));
    }

    fn size(&self) -> usize {
        self.rows.len() + self.moves.len() + self.lengths.len()
    }
}

/// The notes of partial-order reduction: what handlers touched, and the depth of the stack.
#[derive(Clone, Debug, Default)]
pub(crate) struct AccessNotes {
    pub(crate) read: Vec<DataAddress>,
    pub(crate) written: Vec<DataAddress>,
    /// The least value of the stack pointer, in handlers and elsewhere.
    pub(crate) deepest: Option<DataAddress>,
    /// Interrupts whose handlers may not give everything back, by number.
    pub(crate) disturbing: u128,
}

impl AccessNotes {
    fn add(&mut self, other: &Self) {
        self.read.extend(&other.read);
        self.written.extend(&other.written);
        self.deepest = self.deepest.into_iter().chain(other.deepest).min();
        self.disturbing |= other.disturbing;
    }
}

/// The notes of an expansion.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    pub(crate) paths: PathNotes,
    pub(crate) accesses: AccessNotes,
    /// The predicates that told something.
    pub(crate) predicates: ToldBy,
}

impl Notes {
    /// Adds notes of states that are not in the state space: those that were looked at for a summary in vain.
    pub(crate) fn add_in_vain(&mut self, other: Self) {
        let PathNotes { rows, moves, lengths, skipped: _, kept: _ } = other.paths;
        self.paths.rows.extend(rows);
        self.paths.moves.extend(moves);
        self.paths.lengths.extend(lengths);
        self.accesses.add(&other.accesses);
        add(&mut self.predicates, &other.predicates);
    }

    /// The notes with each cell once, in the least memory.
    pub(crate) fn packed(mut self) -> Self {
        for cells in [&mut self.accesses.read, &mut self.accesses.written] {
            cells.sort_unstable();
            cells.dedup();
            cells.shrink_to_fit();
        }
        let PathNotes { rows, moves, lengths, skipped: _, kept: _ } = &mut self.paths;
        rows.shrink_to_fit();
        moves.shrink_to_fit();
        lengths.shrink_to_fit();
        self
    }

    /// The number of notes.
    pub(crate) fn size(&self) -> usize {
        self.paths.size() + self.accesses.read.len() + self.accesses.written.len() + self.predicates.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least stack pointer after an expansion that skipped a state at one address and kept one, because it was the
    /// deepest, at another.
    fn deepest_after(before: u16, skipped: Option<u16>, kept: Option<u16>) -> Option<u16> {
        let mut notes = PathNotes::default();
        notes.skip(Some(DataAddress(0x8fe)));
        notes.skip(skipped.map(DataAddress));
        kept.into_iter().for_each(|pointer| notes.keep(DataAddress(pointer)));
        notes.deepest_after(DataAddress(before)).map(|pointer| pointer.0)
    }

    #[test]
    fn no_state_is_skipped_that_is_deeper_than_those_that_are_kept() {
        assert_eq!(deepest_after(0x8f0, Some(0x8f0), None), Some(0x8f0));
        assert_eq!(deepest_after(0x8f1, Some(0x8f0), None), None);
        assert_eq!(deepest_after(0x8ff, None, None), None);
        assert_eq!(deepest_after(0x8f1, Some(0x8f0), Some(0x8f0)), Some(0x8f0));
        assert_eq!(deepest_after(0x8f1, Some(0x8f0), Some(0x8f1)), None);
        assert_eq!(deepest_after(0x8e0, Some(0x8f0), Some(0x8f0)), Some(0x8e0));
    }
}
