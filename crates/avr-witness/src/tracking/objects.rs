//! The objects of a program in data memory, and those that an address constant may mean.

use std::ops::Range;

use avr_isa::DataAddress;

/// The reach above a constant in which an object may begin that is meant: `table[c - 'a']` has the base `table - 97`.
const INDEX_BIAS: u16 = 256;

/// Arrays and structures by their data addresses, in ascending order.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    all: Vec<Range<DataAddress>>,
}

impl Objects {
    /// Objects; those of fewer than two bytes are left out, because no pointer moves in them.
    #[must_use]
    pub fn new(all: impl IntoIterator<Item = Range<DataAddress>>) -> Self {
        let mut all: Vec<Range<DataAddress>> =
            all.into_iter().filter(|range| range.end.offset_from(range.start) > Some(1)).collect();
        all.sort_by_key(|range| (range.start, range.end));
        all.dedup();
        Self { all }
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The addresses of an object.
    #[must_use]
    pub fn range(&self, object: usize) -> Range<DataAddress> {
        self.all[object].clone()
    }

    /// The objects that a constant may be an address of; empty where it is no address of one.
    ///
    /// It may also be the end of an object, from which a loop goes down. Inside of an object it may be the base of a later one
    /// whose index does not begin at 0, as in `table[i - 1]`.
    pub(crate) fn meant_by(&self, constant: u16) -> Vec<usize> {
        let constant = DataAddress(constant);
        let all = || self.all.iter().enumerate();
        let contains = |range: &Range<DataAddress>| range.start <= constant && constant <= range.end;
        let mut meant: Vec<usize> = all().filter(|(_, range)| contains(range)).map(|(object, _)| object).collect();
        let begins = |object: &usize| self.all[*object].start == constant;
        if !meant.is_empty() && !meant.iter().any(begins) {
            let behind = constant..=constant.saturating_add(INDEX_BIAS);
            meant.extend(all().filter(|(_, range)| behind.contains(&range.start)).map(|(object, _)| object));
        }
        meant
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_means_what_it_may_be_an_address_of() {
        let objects = Objects::new(
            [0x110..0x118, 0x100..0x110, 0x130..0x131, 0x140..0x142]
                .map(|range| DataAddress(range.start)..DataAddress(range.end)),
        );
        let meant =
            |constant| objects.meant_by(constant).iter().map(|one| objects.range(*one).start.0).collect::<Vec<_>>();
        assert_eq!(meant(0x100), [0x100], "the beginning");
        assert_eq!(meant(0x110), [0x100, 0x110], "the beginning of one and the end of another");
        assert_eq!(meant(0x10f), [0x100, 0x110, 0x140], "the base of an index that begins at 1, perhaps");
        assert_eq!(meant(0x118), [0x110, 0x140], "the end of one");
        assert_eq!(meant(0x130), [0_u16; 0], "a byte is no object");
        assert_eq!(meant(0xff), [0_u16; 0]);
    }
}
