//! Copies: cells that hold the same because the instructions before copied one to the other.

use avr_isa::DataAddress;

/// The most pairs that are kept; the oldest are forgotten first.
const MOST: usize = 8;
/// The same where comparisons are not [related](crate::Environment::relates) to what they compare.
const FEW: usize = 4;

/// Pairs of data addresses, registers among them, whose cells hold the same.
///
/// It is a ghost like the [`CallString`](crate::CallString): it follows from the run. Environments that do not
/// [learn](crate::Environment::learns) from comparisons keep none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Copies {
    /// The copy and what it was copied from, oldest first; behind them places that are not used, which are the same in all.
    pairs: [(DataAddress, DataAddress); MOST],
    count: u8,
    /// The comparison whose outcome the flags are.
    relation: Relation,
    /// The difference that is being computed.
    difference: Difference,
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

    /// True if there are no pairs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
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

    /// Takes note that cells may have been overwritten.
    pub fn forget(&mut self, is_lost: impl Fn(DataAddress) -> bool) {
        if !self.is_empty() {
            self.retain(0, |(to, from)| !is_lost(to) && !is_lost(from));
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
        let mut kept = Self { relation: self.relation, difference: self.difference, ..Self::default() };
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
    fn the_oldest_pairs_are_forgotten_first() {
        let mut copies = Copies::default();
        (0..5).for_each(|cell| copies.copy(DataAddress(cell), DataAddress(0x100 + cell)));
        assert_eq!(copies.pairs(), [1, 2, 3, 4].map(|cell| (DataAddress(cell), DataAddress(0x100 + cell))));
    }
}
