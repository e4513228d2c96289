//! Unsigned numbers of symbolic bits.

use super::arithmetic::full_subtract;
use super::bit::SymbolicBit;
use super::byte::SymbolicByte;
use three_valued::BitDomain;

/// An unsigned number of a fixed width, the least significant bit first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolicWord<'g> {
    bits: Vec<SymbolicBit<'g>>,
}

impl<'g> SymbolicWord<'g> {
    /// The number with these bytes, the least significant first.
    pub fn of_bytes<'a>(bytes: impl IntoIterator<Item = &'a SymbolicByte<'g>>) -> Self
    where
        'g: 'a,
    {
        Self { bits: bytes.into_iter().flat_map(SymbolicByte::to_bits).collect() }
    }

    /// A constant of `width` bits; higher bits of the value are lost.
    #[must_use]
    pub fn constant(value: u64, width: usize) -> Self {
        let bit = |index: usize| SymbolicBit::constant(index < 64 && value >> index & 1 == 1);
        Self { bits: (0..width).map(bit).collect() }
    }

    /// The number of bits.
    #[must_use]
    pub fn width(&self) -> usize {
        self.bits.len()
    }

    /// The bits, the least significant first.
    #[must_use]
    pub fn bits(&self) -> &[SymbolicBit<'g>] {
        &self.bits
    }

    /// The difference modulo the width, which both have.
    ///
    /// # Panics
    /// If they do not.
    #[must_use]
    pub fn wrapping_sub(&self, other: &Self) -> Self {
        self.assert_width(other);
        let mut borrow = SymbolicBit::ZERO;
        let mut difference = |(a, b): (&SymbolicBit<'g>, &SymbolicBit<'g>)| {
            let (bit, next) = full_subtract(a, b, &borrow);
            borrow = next;
            bit
        };
        Self { bits: self.bits.iter().zip(&other.bits).map(&mut difference).collect() }
    }

    /// The bit that is 1 if this number is less than another one of the same width.
    ///
    /// # Panics
    /// If the widths differ.
    #[must_use]
    pub fn is_less(&self, other: &Self) -> SymbolicBit<'g> {
        self.assert_width(other);
        let pairs = self.bits.iter().zip(&other.bits);
        pairs.fold(SymbolicBit::ZERO, |less, (a, b)| a.xor(b).select(b, &less))
    }

    /// The same where both are numbers with a sign, in two's complement.
    ///
    /// # Panics
    /// If the widths differ.
    #[must_use]
    pub fn is_less_signed(&self, other: &Self) -> SymbolicBit<'g> {
        // The order with a sign is the other one where the signs are inverted.
        let inverted = |number: &Self| {
            let mut bits = number.bits.clone();
            if let Some(sign) = bits.last_mut() {
                *sign = sign.not();
            }
            Self { bits }
        };
        inverted(self).is_less(&inverted(other))
    }

    /// The bit that is 1 if the numbers are equal, which have the same width.
    ///
    /// # Panics
    /// If they do not.
    #[must_use]
    pub fn is_equal(&self, other: &Self) -> SymbolicBit<'g> {
        self.assert_width(other);
        let pairs = self.bits.iter().zip(&other.bits);
        pairs.fold(SymbolicBit::ONE, |equal, (a, b)| equal.and(&a.equals(b)))
    }

    fn assert_width(&self, other: &Self) {
        assert_eq!(self.width(), other.width(), "numbers of two widths");
    }
}
