//! Copies: cells that hold the same because the instructions before copied one to the other.

use crate::comparison::{Number, Operand};
use avr_isa::DataAddress;

/// The most pairs that are kept; the oldest are forgotten first.
const MOST: usize = 8;
/// The same where comparisons are not [related](crate::Environment::relates) to what they compare.
const FEW: usize = 4;
/// The most registers that hold some bits of another cell.
const MOST_MASKED: usize = 4;
/// The most bytes of a number.
const MOST_BYTES: usize = 4;

/// Pairs of data addresses, registers among them, whose cells hold the same.
///
/// It is a ghost like the [`CallString`](crate::CallString): it follows from the run. Environments that do not
/// [learn](crate::Environment::learns) from comparisons keep none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Copies {
    /// The copy and what it was copied from, oldest first; behind them places that are not used, which are the same in all.
    pairs: [(DataAddress, DataAddress); MOST],
    count: u8,
    /// Registers that hold some bits of another cell, oldest first.
    masked: [MaskedCopy; MOST_MASKED],
    masked_count: u8,
    /// The sum that some registers hold.
    sum: Sum,
    /// The comparison whose outcome the flags are.
    relation: Relation,
    /// The difference that is being computed.
    difference: Difference,
}

/// A register that holds some bits of another cell; its other bits are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MaskedCopy {
    /// The number of the register.
    pub register: u8,
    /// The bits.
    pub mask: u8,
    /// The cell.
    pub from: DataAddress,
}

impl MaskedCopy {
    /// The address of the register.
    #[must_use]
    pub fn to(&self) -> DataAddress {
        DataAddress(self.register.into())
    }
}

/// Registers in a row that hold the sum of a number in other cells and a constant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sum {
    /// The number of bytes; 0 without a sum.
    pub bytes: u8,
    /// The number of the register that has the lowest byte of the sum.
    pub first: u8,
    /// The instructions of the row that computes it that are left: there is no sum before.
    pub left: u8,
    /// The constant.
    pub plus: u32,
    /// The cells of the number, the lowest byte first; behind them places that are not used, which are 0.
    pub cells: [DataAddress; MOST_BYTES],
}

impl Sum {
    /// The registers that hold it.
    pub fn registers(&self) -> impl Iterator<Item = DataAddress> + use<> {
        let first = u16::from(self.first);
        (first..first + u16::from(self.bytes)).map(DataAddress)
    }

    /// The cells of the number.
    #[must_use]
    pub fn cells(&self) -> &[DataAddress] {
        &self.cells[..usize::from(self.bytes)]
    }

    /// The sum as a number; none if there is none yet.
    #[must_use]
    pub fn number(&self) -> Option<Number> {
        let bytes = self.cells().iter().map(|cell| Operand::Cell(*cell)).collect();
        (self.bytes > 0 && self.left == 0).then_some(Number { bytes, plus: self.plus })
    }
}

/// A row of instructions that subtracts a constant from a number, byte by byte: a ghost that ends with the row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Difference {
    /// The number of the comparison of the number with the constant, as the environment gives it; 0 without one.
    pub number: u8,
    /// The number of the register that has the lowest byte of the difference.
    pub first: u8,
    /// The instructions of the row that are left.
    pub left: u8,
}

/// The comparison whose outcome flags are: a ghost that ends with the instructions that belong to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Relation {
    /// The number of the comparison, as the environment gives it; 0 without one.
    pub number: u8,
    /// The flags that tell the outcome.
    pub flags: u8,
    /// True if all bytes were compared.
    pub is_complete: bool,
}

impl Relation {
    /// True if a flag is an outcome of the comparison, all bytes of which were compared.
    #[must_use]
    pub fn tells(&self, flag: u8) -> bool {
        self.number != 0 && self.is_complete && self.flags >> flag & 1 == 1
    }
}

impl Copies {
    /// These copies, oldest first; none if there are too many.
    #[must_use]
    pub fn of(pairs: &[(DataAddress, DataAddress)], masked: &[MaskedCopy]) -> Option<Self> {
        let mut copies = Self { count: pairs.len() as u8, masked_count: masked.len() as u8, ..Self::default() };
        copies.pairs.get_mut(..pairs.len())?.copy_from_slice(pairs);
        copies.masked.get_mut(..masked.len())?.copy_from_slice(masked);
        Some(copies)
    }

    /// True if all copies are true of a state of which `byte` gives the cells.
    pub fn are_true(&self, byte: impl Fn(DataAddress) -> u8) -> bool {
        self.pairs().iter().all(|(one, other)| byte(*one) == byte(*other))
            && self.masked().iter().all(|copy| byte(copy.to()) == byte(copy.from) & copy.mask)
            && self.is_sum_true(&byte)
    }

    fn is_sum_true(&self, byte: &impl Fn(DataAddress) -> u8) -> bool {
        let number = |cells: &mut dyn Iterator<Item = DataAddress>| {
            let mut bytes = [0; MOST_BYTES];
            bytes.iter_mut().zip(cells).for_each(|(one, cell)| *one = byte(cell));
            u32::from_le_bytes(bytes)
        };
        let unused = 32 - 8 * u32::from(self.sum.bytes);
        let [sum, of] = [
            number(&mut self.sum.registers()),
            number(&mut self.sum.cells().iter().copied()).wrapping_add(self.sum.plus),
        ];
        self.sum.left > 0 || self.sum.bytes == 0 || sum << unused == of << unused
    }

    /// The comparison whose outcome the flags are.
    #[must_use]
    pub fn relation(&self) -> Relation {
        self.relation
    }

    /// The same copies where the flags are the outcome of a comparison.
    #[must_use]
    pub fn with_relation(self, relation: Relation) -> Self {
        Self { relation, ..self }
    }

    /// The sum that some registers hold, or will hold behind a row of instructions.
    #[must_use]
    pub fn sum(&self) -> Sum {
        self.sum
    }

    /// The same copies where registers hold a sum.
    #[must_use]
    pub fn with_sum(self, sum: Sum) -> Self {
        Self { sum, ..self }
    }

    /// The difference that is being computed.
    #[must_use]
    pub fn difference(&self) -> Difference {
        self.difference
    }

    /// The same copies where a difference is being computed.
    #[must_use]
    pub fn with_difference(self, difference: Difference) -> Self {
        Self { difference, ..self }
    }

    /// True if nothing is known of cells that hold what others hold, some bits of it, or a sum.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0 && self.masked_count == 0 && self.sum == Sum::default()
    }

    /// The registers that hold some bits of other cells, oldest first.
    #[must_use]
    pub fn masked(&self) -> &[MaskedCopy] {
        &self.masked[..usize::from(self.masked_count)]
    }

    /// Takes note that a register was just overwritten with some bits of another cell.
    pub fn mask(&mut self, copy: MaskedCopy) {
        self.overwrite(copy.to());
        if copy.to() == copy.from {
            return;
        }
        if usize::from(self.masked_count) == MOST_MASKED {
            self.masked.rotate_left(1);
            self.masked_count -= 1;
        }
        self.masked[usize::from(self.masked_count)] = copy;
        self.masked_count += 1;
    }

    /// The cell of which this one holds some bits, and these bits.
    #[must_use]
    pub fn masked_as(&self, cell: DataAddress) -> Option<(DataAddress, u8)> {
        let same = self.same_as(cell);
        self.masked().iter().find(|copy| same.contains(&copy.to())).map(|copy| (copy.from, copy.mask))
    }

    /// The pairs, oldest first.
    #[must_use]
    pub fn pairs(&self) -> &[(DataAddress, DataAddress)] {
        &self.pairs[..usize::from(self.count)]
    }

    /// Takes note that a cell was just overwritten with the content of another one.
    pub fn copy(&mut self, to: DataAddress, from: DataAddress) {
        self.copy_of(to, from, FEW);
    }

    /// The same where comparisons are related to what they compare, so that more pairs are of use.
    pub fn copy_related(&mut self, to: DataAddress, from: DataAddress) {
        self.copy_of(to, from, MOST);
    }

    fn copy_of(&mut self, to: DataAddress, from: DataAddress, most: usize) {
        if to == from {
            return;
        }
        self.overwrite(to);
        if usize::from(self.count) >= most {
            self.retain(1, |_| true);
        }
        self.pairs[usize::from(self.count)] = (to, from);
        self.count += 1;
    }

    /// Takes note that a cell was overwritten.
    pub fn overwrite(&mut self, cell: DataAddress) {
        self.forget(|one| one == cell);
    }

    /// Takes note that cells may have been overwritten. The registers of a sum may be while its row is not at its end.
    pub fn forget(&mut self, is_lost: impl Fn(DataAddress) -> bool) {
        if !self.is_empty() {
            self.retain(0, |(to, from)| !is_lost(to) && !is_lost(from));
            let masked = self.masked;
            let kept = masked[..usize::from(self.masked_count)].iter();
            (self.masked, self.masked_count) = ([MaskedCopy::default(); MOST_MASKED], 0);
            for copy in kept.filter(|copy| !is_lost(copy.to()) && !is_lost(copy.from)) {
                self.masked[usize::from(self.masked_count)] = *copy;
                self.masked_count += 1;
            }
            let sum = self.sum;
            let are_lost = sum.left == 0 && sum.registers().any(&is_lost);
            if are_lost || sum.cells().iter().any(|cell| is_lost(*cell)) {
                self.sum = Sum::default();
            }
        }
    }

    /// The cells that hold the same as this one, itself first.
    #[must_use]
    pub fn same_as(&self, cell: DataAddress) -> Vec<DataAddress> {
        let mut same = vec![cell];
        let mut seen = 0;
        while let Some(one) = same.get(seen).copied() {
            for (to, from) in self.pairs() {
                for (mine, other) in [(to, from), (from, to)] {
                    if *mine == one && !same.contains(other) {
                        same.push(*other);
                    }
                }
            }
            seen += 1;
        }
        same
    }

    /// Keeps those of the pairs from `first` on that are as wanted.
    fn retain(&mut self, first: usize, is_wanted: impl Fn((DataAddress, DataAddress)) -> bool) {
        let mut kept = Self { pairs: Default::default(), count: 0, ..*self };
        for pair in self.pairs()[first..].iter().filter(|pair| is_wanted(**pair)) {
            kept.pairs[usize::from(kept.count)] = *pair;
            kept.count += 1;
        }
        *self = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_copied_holds_the_same_until_it_is_overwritten() {
        let mut copies = Copies::default();
        copies.copy(DataAddress(24), DataAddress(0x100));
        copies.copy(DataAddress(17), DataAddress(24));
        assert_eq!(copies.same_as(DataAddress(0x100)), [0x100, 24, 17].map(DataAddress));
        copies.overwrite(DataAddress(24));
        assert_eq!(copies.same_as(DataAddress(0x100)), [DataAddress(0x100)]);
        assert_eq!(copies, Copies::default(), "what is forgotten leaves nothing behind");
        copies.copy(DataAddress(3), DataAddress(3));
        assert!(copies.is_empty());
    }

    #[test]
    fn a_sum_is_forgotten_with_any_of_its_cells() {
        let sum = Sum { bytes: 2, first: 24, left: 0, plus: 5, cells: [0x100, 0x101, 0, 0].map(DataAddress) };
        let after = |cell: u16, sum: Sum| {
            let mut copies = Copies::default().with_sum(sum);
            copies.overwrite(DataAddress(cell));
            copies.sum()
        };
        assert_eq!(after(0x102, sum), sum);
        assert_eq!([0x100, 0x101, 24, 25].map(|cell| after(cell, sum)), [Sum::default(); 4]);
        let within = Sum { left: 1, ..sum };
        assert_eq!([24, 0x101].map(|cell| after(cell, within)), [within, Sum::default()]);
        assert_eq!(within.number(), None);
        let holds = |high: u8| {
            let byte = |cell| match cell {
                DataAddress(24) => 0x03,
                DataAddress(25) => high,
                _ => 0xfe,
            };
            Copies::default().with_sum(sum).are_true(byte)
        };
        assert_eq!([0xfe, 0xff].map(holds), [false, true]);
    }

    #[test]
    fn registers_with_some_bits_are_forgotten_with_either_cell() {
        let masked = MaskedCopy { register: 24, mask: 0x0f, from: DataAddress(0x100) };
        let some = |cell: u16| {
            let mut copies = Copies::default();
            copies.mask(masked);
            copies.copy(DataAddress(0x110), DataAddress(24));
            copies.overwrite(DataAddress(cell));
            copies.masked_as(DataAddress(0x110))
        };
        assert_eq!(some(0x120), Some((DataAddress(0x100), 0x0f)));
        assert_eq!([some(0x100), some(24), some(0x110)], [None; 3]);
        let mut copies = Copies::default();
        copies.mask(MaskedCopy { from: DataAddress(24), ..masked });
        assert!(copies.is_empty(), "no cell is told by itself");
        (0..5).for_each(|register| copies.mask(MaskedCopy { register, ..masked }));
        assert_eq!(copies.masked().iter().map(|copy| copy.register).collect::<Vec<_>>(), [1, 2, 3, 4]);
        copies.forget(|cell| cell == DataAddress(0x100));
        assert_eq!(copies, Copies::default(), "what is forgotten leaves nothing behind");
    }

    #[test]
    fn the_oldest_pairs_are_forgotten_first() {
        let mut copies = Copies::default();
        (0..5).for_each(|cell| copies.copy(DataAddress(cell), DataAddress(0x100 + cell)));
        assert_eq!(copies.pairs(), [1, 2, 3, 4].map(|cell| (DataAddress(cell), DataAddress(0x100 + cell))));
    }
}
