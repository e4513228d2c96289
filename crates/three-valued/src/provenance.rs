//! The provenance domain: three-valued bits with the origins of their unknown part.
//!
//! A computation in it goes through the same semantics as the three-valued one and always agrees with it in what is
//! known; beside each unknown bit it carries the [`Provenance`] that may have made it unknown. Refinement picks from them.

use crate::{BitDomain, ByteDomain, Signedness, Sum, Truth, TvByte};
use std::rc::Rc;

/// A reason why a bit is unknown: a number whose meaning the source of the unknown bit knows, and the number of
/// addresses that the unknown went through on its way (the *indirection* of the paper's refinement heuristic).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// Later origins have greater numbers.
    pub id: u32,
    /// The number of times that the unknown bit decided an address.
    pub indirection: u8,
}

/// A set of origins; larger sets are shared between the bits that have the same.
///
/// At most [`Provenance::LIMIT`] are kept; the earliest are forgotten first, because refinement prefers the latest.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Provenance(Set);

#[derive(Clone, Debug, PartialEq, Eq, Default)]
enum Set {
    #[default]
    Empty,
    One(Origin),
    Many(Rc<[Origin]>),
}

impl Provenance {
    /// The most origins that a set keeps.
    pub const LIMIT: usize = 32;

    /// The set of one origin, not indirect.
    #[must_use]
    pub fn of(id: u32) -> Self {
        Self(Set::One(Origin { id, indirection: 0 }))
    }

    /// The origins in ascending order of their numbers.
    #[must_use]
    pub fn as_slice(&self) -> &[Origin] {
        match &self.0 {
            Set::Empty => &[],
            Set::One(origin) => std::slice::from_ref(origin),
            Set::Many(origins) => origins,
        }
    }

    /// True if an origin with this number is in the set.
    #[must_use]
    pub fn contains(&self, id: u32) -> bool {
        self.as_slice().binary_search_by_key(&id, |origin| origin.id).is_ok()
    }

    /// The union of two sets; an origin that is in both keeps its higher indirection.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (_, Set::Empty) => self.clone(),
            (Set::Empty, _) => other.clone(),
            (Set::Many(a), Set::Many(b)) if Rc::ptr_eq(a, b) => self.clone(),
            _ if self.as_slice() == other.as_slice() => self.clone(),
            _ => Self::merged(self.as_slice(), other.as_slice()),
        }
    }

    fn merged(a: &[Origin], b: &[Origin]) -> Self {
        let mut all: Vec<Origin> = a.iter().chain(b).copied().collect();
        all.sort_unstable_by_key(|origin| std::cmp::Reverse((origin.id, origin.indirection)));
        all.dedup_by_key(|origin| origin.id);
        all.truncate(Self::LIMIT);
        all.reverse();
        Self::from_sorted(&all)
    }

    fn from_sorted(origins: &[Origin]) -> Self {
        match origins {
            [] => Self(Set::Empty),
            [only] => Self(Set::One(*only)),
            _ => Self(Set::Many(Rc::from(origins))),
        }
    }

    /// The set with every indirection one higher.
    #[must_use]
    pub fn indirect(&self) -> Self {
        let raise = |origin: &Origin| Origin { id: origin.id, indirection: origin.indirection.saturating_add(1) };
        let raised: Vec<Origin> = self.as_slice().iter().map(raise).collect();
        Self::from_sorted(&raised)
    }
}

/// A three-valued bit with the origins of its being unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct ProvenanceBit {
    truth: Truth,
    origins: Provenance,
}

impl ProvenanceBit {
    /// A bit that is unknown because of these origins.
    #[must_use]
    pub fn unknown(origins: Provenance) -> Self {
        Self { truth: Truth::Unknown, origins }
    }

    /// The origins of the bit; empty when it is known.
    #[must_use]
    pub fn origins(&self) -> &Provenance {
        &self.origins
    }

    /// Provenance matter only to unknown bits.
    fn new(truth: Truth, origins: impl FnOnce() -> Provenance) -> Self {
        let origins = if truth.is_unknown() { origins() } else { Provenance::default() };
        Self { truth, origins }
    }

    fn combine(&self, other: &Self, truth: Truth) -> Self {
        Self::new(truth, || self.origins.union(&other.origins))
    }
}

impl BitDomain for ProvenanceBit {
    fn constant(value: bool) -> Self {
        Self { truth: Truth::from(value), origins: Provenance::default() }
    }

    fn truth(&self) -> Truth {
        self.truth
    }

    fn not(&self) -> Self {
        Self { truth: !self.truth, origins: self.origins.clone() }
    }

    fn and(&self, other: &Self) -> Self {
        self.combine(other, self.truth & other.truth)
    }

    fn or(&self, other: &Self) -> Self {
        self.combine(other, self.truth | other.truth)
    }

    fn xor(&self, other: &Self) -> Self {
        self.combine(other, self.truth.xor(&other.truth))
    }
}

/// A three-valued byte with the origins of each unknown bit.
#[derive(Clone, Debug)]
pub struct ProvenanceByte {
    bits: TvByte,
    sources: Sources,
}

impl PartialEq for ProvenanceByte {
    fn eq(&self, other: &Self) -> bool {
        self.bits == other.bits && (0..8).all(|index| self.origins(index) == other.origins(index))
    }
}

/// The origins of the unknown bits of a byte.
#[derive(Clone, Debug)]
enum Sources {
    /// Bit n has the origin with this number plus n.
    From(u32),
    /// Each bit has a set of its own.
    Each(Rc<[Provenance; 8]>),
}

impl ProvenanceByte {
    /// A byte with `bits`, whose unknown bits have the origin that `origin` gives for their index.
    #[must_use]
    pub fn new(bits: TvByte, origin: impl FnMut(u8) -> Provenance) -> Self {
        Self::build(bits, origin)
    }

    /// A byte with `bits`, whose unknown bit n has the origin with the number `first` + n.
    #[must_use]
    pub fn numbered(bits: TvByte, first: u32) -> Self {
        Self { bits, sources: Sources::From(first) }
    }

    fn build(bits: TvByte, mut origin: impl FnMut(u8) -> Provenance) -> Self {
        let unknown = bits.unknown_mask();
        if unknown == 0 {
            return Self { bits, sources: Sources::From(0) };
        }
        let each = |index| if unknown >> index & 1 == 1 { origin(index as u8) } else { Provenance::default() };
        Self { bits, sources: Sources::Each(Rc::new(std::array::from_fn(each))) }
    }

    /// The byte with the bits in `mask` and its range forgotten; `origin` says why, by bit.
    #[must_use]
    pub fn forget(&self, mask: u8, mut origin: impl FnMut(u8) -> Provenance) -> Self {
        let lost = mask & self.bits.informed_mask();
        Self::build(self.bits.forget(mask), |index| match lost >> index & 1 {
            1 => origin(index).union(&self.origins(index)),
            _ => self.origins(index),
        })
    }

    /// The origins of bit `index`; empty when it is known.
    #[must_use]
    pub fn origins(&self, index: u8) -> Provenance {
        match &self.sources {
            _ if self.bits.unknown_mask() >> index & 1 == 0 => Provenance::default(),
            Sources::From(first) => Provenance::of(first + u32::from(index)),
            Sources::Each(each) => each[usize::from(index)].clone(),
        }
    }

    /// Everything that made any bit unknown.
    #[must_use]
    pub fn all_origins(&self) -> Provenance {
        self.origins_below(8)
    }

    /// The origins of the bits below `limit`.
    fn origins_below(&self, limit: u8) -> Provenance {
        (0..limit).fold(Provenance::default(), |all, index| all.union(&self.origins(index)))
    }

    fn with_origins_of(bits: TvByte, sources: &[&Provenance]) -> Self {
        let all = sources.iter().fold(Provenance::default(), |all, one| all.union(one));
        Self::build(bits, |_| all.clone())
    }

    fn bitwise(&self, other: &Self, bits: TvByte) -> Self {
        Self::build(bits, |index| self.origins(index).union(&other.origins(index)))
    }

    /// Wraps the three-valued sum: bit i and the carry out of it depend on the operand bits up to i.
    fn sum(&self, other: &Self, carry: &ProvenanceBit, sum: &Sum<TvByte>) -> Sum<Self> {
        let upto = |index: u8| {
            let limit = index + 1;
            self.origins_below(limit).union(&other.origins_below(limit)).union(&carry.origins)
        };
        let all = upto(7);
        let bit = |truth: Truth| ProvenanceBit::new(truth, || all.clone());
        Sum {
            value: Self::build(sum.value, upto),
            carries: Self::build(sum.carries, upto),
            overflow: bit(sum.overflow),
            negative: bit(sum.negative),
            zero: bit(sum.zero),
        }
    }
}

impl ByteDomain for ProvenanceByte {
    type Bit = ProvenanceBit;

    fn constant(value: u8) -> Self {
        Self { bits: TvByte::constant(value), sources: Sources::From(0) }
    }

    fn bits(&self) -> TvByte {
        self.bits
    }

    fn bit(&self, index: u8) -> ProvenanceBit {
        ProvenanceBit { truth: self.bits.bit(index), origins: self.origins(index) }
    }

    fn with_bit(&self, index: u8, bit: &ProvenanceBit) -> Self {
        let bits = self.bits.with_bit(index, &bit.truth);
        Self::build(bits, |other| if other == index { bit.origins.clone() } else { self.origins(other) })
    }

    fn not(&self) -> Self {
        Self { bits: self.bits.not(), sources: self.sources.clone() }
    }

    fn and(&self, other: &Self) -> Self {
        self.bitwise(other, self.bits.and(&other.bits))
    }

    fn or(&self, other: &Self) -> Self {
        self.bitwise(other, self.bits.or(&other.bits))
    }

    fn xor(&self, other: &Self) -> Self {
        self.bitwise(other, self.bits.xor(&other.bits))
    }

    fn add(&self, other: &Self, carry: &ProvenanceBit) -> Sum<Self> {
        self.sum(other, carry, &self.bits.add(&other.bits, &carry.truth))
    }

    fn subtract(&self, other: &Self, borrow: &ProvenanceBit) -> Sum<Self> {
        self.sum(other, borrow, &self.bits.subtract(&other.bits, &borrow.truth))
    }

    fn multiply(&self, sign: Signedness, other: &Self, other_sign: Signedness) -> (Self, Self) {
        let (low, high) = self.bits.multiply(sign, &other.bits, other_sign);
        let sources = [&self.all_origins(), &other.all_origins()];
        (Self::with_origins_of(low, &sources), Self::with_origins_of(high, &sources))
    }

    fn shift_right(&self, high: &ProvenanceBit) -> Self {
        Self::build(self.bits.shift_right(&high.truth), |index| match index {
            7 => high.origins.clone(),
            _ => self.origins(index + 1),
        })
    }

    fn swap_nibbles(&self) -> Self {
        Self::build(self.bits.swap_nibbles(), |index| self.origins((index + 4) % 8))
    }

    fn is_zero(&self) -> ProvenanceBit {
        ProvenanceBit::new(self.bits.is_zero(), || self.all_origins())
    }

    fn equals(&self, other: &Self) -> ProvenanceBit {
        ProvenanceBit::new(self.bits.equals(&other.bits), || self.all_origins().union(&other.all_origins()))
    }

    fn join(&self, other: &Self) -> Self {
        self.bitwise(other, self.bits.join(&other.bits))
    }

    fn assume(&self, fact: TvByte) -> Option<Self> {
        Some(Self::build(self.bits.meet(fact)?, |index| self.origins(index)))
    }

    fn without_range(mut self) -> Self {
        self.bits = self.bits.without_range();
        self
    }

    fn indexed_by(self, address: &[&Self]) -> Self {
        let indirect =
            address.iter().fold(Provenance::default(), |all, byte| all.union(&byte.all_origins())).indirect();
        Self::build(self.bits, |index| self.origins(index).union(&indirect))
    }
}
