//! Entries of functions, and the jumps to them that are calls.

use std::ops::Range;
use std::sync::Arc;

use three_valued::Truth;

/// The first instruction of a function, with the places from which a jump, a branch or a fall-through to it is a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Flash byte address.
    pub address: u32,
    /// Ascending and disjoint, in bytes of flash. From everywhere else a jump is no call.
    sources: Arc<[Source]>,
}

/// Code from which a jump to an entry is a call, or may be one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Source {
    pub(crate) range: Range<u32>,
    /// True where it is known to be another function.
    pub(crate) certain: bool,
}

impl Entry {
    pub(crate) fn new(address: u32, sources: Vec<Source>) -> Self {
        Self { address, sources: sources.into() }
    }

    /// The truth of a jump to the entry from an instruction (flash byte address) being a call: unknown where the image does not tell which
    /// function the instruction belongs to.
    #[must_use]
    pub fn is_called_from(&self, place: u32) -> Truth {
        let next = self.sources.partition_point(|source| source.range.end <= place);
        match self.sources.get(next).filter(|source| source.range.contains(&place)) {
            Some(Source { certain: true, .. }) => Truth::True,
            Some(_) => Truth::Unknown,
            None => Truth::False,
        }
    }
}
