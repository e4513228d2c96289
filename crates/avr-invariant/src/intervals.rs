//! Ranges of numbers as states have them: intervals of numbers of up to four bytes, for each value of the carry.

use avr_isa::DataAddress;
use three_valued::TvByte;

use crate::equalities::{Silence, Value};

/// The most bytes of a number.
pub(crate) const MOST_BYTES: usize = 4;

/// The most ranges of a state.
const MOST_RANGES: usize = 24;

/// A range of a number with its ends; none if it is empty.
pub type Interval = Option<(u32, u32)>;

/// The range of a number that consists of what some cells hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Range {
    /// The bytes, the lowest one first.
    pub bytes: Box<[Value]>,
    /// The range where the carry is 0, and where it is 1.
    pub when: [Interval; 2],
}

impl Range {
    /// True if the range is one that the states of a machine with so many cells can have in a thread.
    #[must_use]
    pub fn is_well_formed(&self, silence: Silence, cells: usize) -> bool {
        let is_byte = |value: &Value| match value {
            Value::Of(cell) => cell.index() < cells,
            Value::Entry(cell) => silence == Silence::Unchanged && cell.index() < cells,
            Value::Result(cell) => *cell < DataAddress::IO,
        };
        let fits = |(low, high): (u32, u32)| low <= high && high <= greatest(self.bytes.len());
        (1..=MOST_BYTES).contains(&self.bytes.len())
            && self.bytes.iter().all(is_byte)
            && self.when.iter().flatten().all(|range| fits(*range))
    }

    /// The range that it has whatever the carry is.
    pub(crate) fn without_carry(&self) -> Self {
        Self { bytes: self.bytes.clone(), when: [hull(self.when[0], self.when[1]); 2] }
    }

    /// True if it is not the same for both values of the carry.
    pub(crate) fn is_conditional(&self) -> bool {
        self.when[0] != self.when[1]
    }
}

/// The ranges that both are part of.
pub(crate) fn hull(one: Interval, other: Interval) -> Interval {
    match (one, other) {
        (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
        (one, other) => one.or(other),
    }
}

/// The part that two ranges have in common.
pub(crate) fn meet(one: Interval, other: Interval) -> Interval {
    let (one, other) = (one?, other?);
    Some((one.0.max(other.0), one.1.min(other.1))).filter(|both| both.0 <= both.1)
}

/// True if a range lies in another one.
pub(crate) fn is_within(fine: Interval, coarse: Interval) -> bool {
    hull(fine, coarse) == coarse
}

/// The greatest number of so many bytes.
pub(crate) fn greatest(bytes: usize) -> u32 {
    u32::MAX >> (32 - 8 * bytes as u32)
}

/// The range of a number that follows from those of its bytes.
pub(crate) fn of_bytes(bytes: impl DoubleEndedIterator<Item = TvByte>) -> (u32, u32) {
    bytes.rev().fold((0, 0), |(low, high), byte| (low << 8 | u32::from(byte.low()), high << 8 | u32::from(byte.high())))
}

/// The ranges of a state: no two of the same bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ranges(Box<[Range]>);

impl Ranges {
    /// These ranges.
    #[must_use]
    pub fn new(list: Vec<Range>) -> Self {
        Self(list.into())
    }

    /// The list.
    #[must_use]
    pub fn list(&self) -> &[Range] {
        &self.0
    }

    /// Those of a list that has one for each number, in a fixed order.
    pub(crate) fn of(mut list: Vec<Range>) -> Self {
        list.sort_unstable_by(|one, other| one.bytes.cmp(&other.bytes));
        list.truncate(MOST_RANGES);
        Self(list.into())
    }
}

/// Adds a range to a list: both of one number are true.
pub(crate) fn add(list: &mut Vec<Range>, range: Range) {
    match list.iter_mut().find(|one| one.bytes == range.bytes) {
        Some(one) => one.when = [0, 1].map(|carry| meet(one.when[carry], range.when[carry])),
        None => list.push(range),
    }
}

/// True if a concrete content has a number in its range.
#[must_use]
pub fn is_in_range(range: &Range, carry: bool, content: &dyn Fn(Value) -> u8) -> bool {
    let number = range.bytes.iter().rev().fold(0, |number, value| number << 8 | u32::from(content(*value)));
    range.when[usize::from(carry)].is_some_and(|(low, high)| (low..=high).contains(&number))
}
