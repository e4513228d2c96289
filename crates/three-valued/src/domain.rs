//! The interface of value domains.
//!
//! Every operation is *sound*: for all concrete values that the operands stand for, the concrete result is one that the
//! result stands for. Where the documentation says *optimal*, the result is the most precise that the domain can express.

use crate::{Truth, TvByte};
use std::fmt::Debug;

/// A bit of a value domain.
pub trait BitDomain: Clone + Debug + PartialEq {
    /// The bit that is certainly `value`.
    fn constant(value: bool) -> Self;
    /// The truth value of the bit.
    fn truth(&self) -> Truth;
    /// Negation (optimal).
    #[must_use]
    fn not(&self) -> Self;
    /// Conjunction (optimal for independent operands).
    #[must_use]
    fn and(&self, other: &Self) -> Self;
    /// Disjunction (optimal for independent operands).
    #[must_use]
    fn or(&self, other: &Self) -> Self;
    /// Exclusive disjunction (optimal for independent operands).
    #[must_use]
    fn xor(&self, other: &Self) -> Self;

    /// The value if it is certain.
    fn known(&self) -> Option<bool> {
        self.truth().known()
    }
}

/// The reading of a byte as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signedness {
    /// 0 to 255.
    Unsigned,
    /// −128 to 127, two's complement.
    Signed,
}

/// The result of an addition or a subtraction of two bytes, with everything that flags are made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Sum<B: ByteDomain> {
    /// The result modulo 256 (optimal).
    pub value: B,
    /// Bit `i` is the carry (or borrow) out of bit `i` (each bit optimal).
    pub carries: B,
    /// Set if the result does not fit a signed byte.
    pub overflow: B::Bit,
    /// Set if the exact signed result is negative (optimal).
    pub negative: B::Bit,
    /// Set if the result modulo 256 is zero.
    pub zero: B::Bit,
}

/// A byte of a value domain.
pub trait ByteDomain: Clone + Debug + PartialEq {
    /// The domain's bit.
    type Bit: BitDomain;

    /// The byte that is certainly `value`.
    fn constant(value: u8) -> Self;
    /// The known bits and their values.
    fn bits(&self) -> TvByte;
    /// Bit `index` (0 is the least significant). Indices above 7 are a caller's error.
    fn bit(&self, index: u8) -> Self::Bit;
    /// The byte with bit `index` replaced.
    #[must_use]
    fn with_bit(&self, index: u8, bit: &Self::Bit) -> Self;
    /// Bitwise complement (optimal).
    #[must_use]
    fn not(&self) -> Self;
    /// Bitwise conjunction (optimal).
    #[must_use]
    fn and(&self, other: &Self) -> Self;
    /// Bitwise disjunction (optimal).
    #[must_use]
    fn or(&self, other: &Self) -> Self;
    /// Bitwise exclusive disjunction (optimal).
    #[must_use]
    fn xor(&self, other: &Self) -> Self;
    /// `self + other + carry`.
    #[must_use]
    fn add(&self, other: &Self, carry: &Self::Bit) -> Sum<Self>;
    /// `self - other - borrow`.
    #[must_use]
    fn subtract(&self, other: &Self, borrow: &Self::Bit) -> Sum<Self>;
    /// The 16-bit product as (low byte, high byte).
    #[must_use]
    fn multiply(&self, sign: Signedness, other: &Self, other_sign: Signedness) -> (Self, Self);
    /// All bits moved one place down, `high` coming in at bit 7.
    #[must_use]
    fn shift_right(&self, high: &Self::Bit) -> Self;
    /// The nibbles exchanged.
    #[must_use]
    fn swap_nibbles(&self) -> Self;
    /// The bit that is 1 if all bits are 0 (optimal).
    fn is_zero(&self) -> Self::Bit;
    /// The bit that is 1 if the two bytes are equal (optimal for independent operands).
    fn equals(&self, other: &Self) -> Self::Bit;
    /// A byte that stands for everything that either operand stands for (optimal).
    ///
    /// Concrete values are joined only with their equals: a concrete machine never has two candidates for one value.
    #[must_use]
    fn join(&self, other: &Self) -> Self;
    /// The byte narrowed to what agrees with `fact`; none when nothing does.
    fn assume(&self, fact: TvByte) -> Option<Self>;

    /// The value if it is certain.
    fn known(&self) -> Option<u8> {
        self.bits().known()
    }

    /// The byte without the range that it has besides its bits; domains without ranges give it as it is.
    #[must_use]
    fn without_range(self) -> Self {
        self
    }

    /// The byte as fetched from an address with these bytes: domains that trace origins note the indirection.
    #[must_use]
    fn indexed_by(self, _address: &[&Self]) -> Self {
        self
    }
}
