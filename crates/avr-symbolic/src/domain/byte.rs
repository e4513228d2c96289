//! Symbolic bytes.

use super::arithmetic;
use super::bit::{SymbolicBit, common};
use super::graph::{Graph, Literal};
use std::fmt;
use three_valued::{BitDomain, ByteDomain, Signedness, Sum, TvByte};

/// A byte of eight symbolic bits.
///
/// All operations are exact but [`ByteDomain::join`]: bits in which the operands differ are open, because there is no condition by
/// which to choose. [`Self::select`] has one.
#[derive(Clone, Copy)]
pub struct SymbolicByte<'g> {
    graph: Option<&'g Graph>,
    bits: [Literal; 8],
}

impl Graph {
    /// A byte with a new variable for each bit in `mask`; the others are 0.
    pub fn byte(&self, mask: u8) -> SymbolicByte<'_> {
        SymbolicByte::of_bits(std::array::from_fn(|index| match mask >> index & 1 {
            1 => self.variable(),
            _ => SymbolicBit::ZERO,
        }))
    }
}

impl<'g> SymbolicByte<'g> {
    /// The byte of these bits, the least significant first.
    #[must_use]
    pub fn of_bits(bits: [SymbolicBit<'g>; 8]) -> Self {
        let graph = bits.iter().fold(None, |graph, bit| common(graph, bit.graph));
        Self { graph, bits: bits.map(|bit| bit.literal) }
    }

    /// The bits, the least significant first.
    #[must_use]
    pub fn to_bits(&self) -> [SymbolicBit<'g>; 8] {
        self.bits.map(|literal| SymbolicBit { graph: self.graph, literal })
    }

    /// `self` where the condition is 1, else `otherwise`.
    #[must_use]
    pub fn select(&self, condition: &SymbolicBit<'g>, otherwise: &Self) -> Self {
        if self == otherwise {
            return *self;
        }
        self.zip(otherwise, |one, other| condition.select(one, other))
    }

    /// True if nothing is known of a bit.
    #[must_use]
    pub fn has_open_bits(&self) -> bool {
        self.bits.contains(&Literal::OPEN)
    }

    fn map(&self, mut each: impl FnMut(&SymbolicBit<'g>) -> SymbolicBit<'g>) -> Self {
        Self::of_bits(self.to_bits().map(|bit| each(&bit)))
    }

    fn zip(&self, other: &Self, mut each: impl FnMut(&SymbolicBit<'g>, &SymbolicBit<'g>) -> SymbolicBit<'g>) -> Self {
        let (a, b) = (self.to_bits(), other.to_bits());
        Self::of_bits(std::array::from_fn(|index| each(&a[index], &b[index])))
    }

    /// The mask of the bits that are `literal`.
    fn mask_of(&self, literal: Literal) -> u8 {
        self.bits.iter().rev().fold(0, |mask, bit| mask << 1 | u8::from(*bit == literal))
    }
}

/// A sum or difference of bytes from its bits.
fn sum<'g>(bits: arithmetic::BitSum<'g>) -> Sum<SymbolicByte<'g>> {
    let (value, carries) = (SymbolicByte::of_bits(bits.value), SymbolicByte::of_bits(bits.carries));
    // The result does not fit where the carries into and out of the sign differ; then its sign is wrong.
    let overflow = carries.bit(6).xor(&carries.bit(7));
    Sum { negative: value.bit(7).xor(&overflow), zero: value.is_zero(), value, carries, overflow }
}

impl PartialEq for SymbolicByte<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.bits == other.bits
    }
}

impl Eq for SymbolicByte<'_> {}

impl fmt::Debug for SymbolicByte<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.known() {
            Some(value) => write!(f, "{value:#04x}"),
            None => f.debug_list().entries(self.bits.iter().rev()).finish(),
        }
    }
}

impl<'g> ByteDomain for SymbolicByte<'g> {
    type Bit = SymbolicBit<'g>;

    fn constant(value: u8) -> Self {
        Self { graph: None, bits: std::array::from_fn(|index| Literal::constant(value >> index & 1 == 1)) }
    }

    fn bits(&self) -> TvByte {
        let (ones, zeros) = (self.mask_of(Literal::TRUE), self.mask_of(Literal::FALSE));
        TvByte::new(ones, ones | zeros)
    }

    fn bit(&self, index: u8) -> SymbolicBit<'g> {
        SymbolicBit { graph: self.graph, literal: self.bits[usize::from(index)] }
    }

    fn with_bit(&self, index: u8, bit: &SymbolicBit<'g>) -> Self {
        let mut changed = Self { graph: common(self.graph, bit.graph), ..*self };
        changed.bits[usize::from(index)] = bit.literal;
        changed
    }

    fn not(&self) -> Self {
        self.map(SymbolicBit::not)
    }

    fn and(&self, other: &Self) -> Self {
        self.zip(other, SymbolicBit::and)
    }

    fn or(&self, other: &Self) -> Self {
        self.zip(other, SymbolicBit::or)
    }

    fn xor(&self, other: &Self) -> Self {
        self.zip(other, SymbolicBit::xor)
    }

    fn add(&self, other: &Self, carry: &SymbolicBit<'g>) -> Sum<Self> {
        sum(arithmetic::add(&self.to_bits(), &other.to_bits(), carry))
    }

    fn subtract(&self, other: &Self, borrow: &SymbolicBit<'g>) -> Sum<Self> {
        sum(arithmetic::subtract(&self.to_bits(), &other.to_bits(), borrow))
    }

    fn multiply(&self, sign: Signedness, other: &Self, other_sign: Signedness) -> (Self, Self) {
        let product = arithmetic::multiply(&self.to_bits(), sign, &other.to_bits(), other_sign);
        let half = |first: usize| Self::of_bits(std::array::from_fn(|index| product[first + index]));
        (half(0), half(8))
    }

    fn shift_right(&self, high: &SymbolicBit<'g>) -> Self {
        let bits = self.to_bits();
        Self::of_bits(std::array::from_fn(|index| if index < 7 { bits[index + 1] } else { *high }))
    }

    fn swap_nibbles(&self) -> Self {
        Self { bits: std::array::from_fn(|index| self.bits[(index + 4) % 8]), ..*self }
    }

    fn is_zero(&self) -> SymbolicBit<'g> {
        self.to_bits().iter().fold(SymbolicBit::ONE, |zero, bit| zero.and(&bit.not()))
    }

    fn equals(&self, other: &Self) -> SymbolicBit<'g> {
        self.xor(other).is_zero()
    }

    fn join(&self, other: &Self) -> Self {
        // SOUND: an open bit stands for either operand.
        self.zip(other, |one, other| if one == other { *one } else { SymbolicBit::OPEN })
    }

    fn assume(&self, fact: TvByte) -> Option<Self> {
        // SOUND: where a bit is open or not constant, the case that the fact comes from is part of the path condition.
        self.bits().meet(fact)?;
        let is_known = |index: u8| fact.known_mask() >> index & 1 == 1;
        let with = |byte: Self, index: u8| match is_known(index) {
            true => byte.with_bit(index, &SymbolicBit::constant(fact.value() >> index & 1 == 1)),
            false => byte,
        };
        Some((0..8).fold(*self, with))
    }
}
