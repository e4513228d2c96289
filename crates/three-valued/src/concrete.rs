//! The concrete value domain: `bool` and `u8`.

use crate::{BitDomain, ByteDomain, Signedness, Sum, Truth, TvByte};

impl BitDomain for bool {
    #[inline]
    fn constant(value: bool) -> Self {
        value
    }

    #[inline]
    fn truth(&self) -> Truth {
        Truth::from(*self)
    }

    #[inline]
    fn not(&self) -> Self {
        !*self
    }

    #[inline]
    fn and(&self, other: &Self) -> Self {
        *self & *other
    }

    #[inline]
    fn or(&self, other: &Self) -> Self {
        *self | *other
    }

    #[inline]
    fn xor(&self, other: &Self) -> Self {
        *self ^ *other
    }

    #[inline]
    fn known(&self) -> Option<bool> {
        Some(*self)
    }
}

/// Widens a byte to a number according to its sign.
fn widen(byte: u8, sign: Signedness) -> i32 {
    match sign {
        Signedness::Unsigned => i32::from(byte),
        Signedness::Signed => i32::from(byte.cast_signed()),
    }
}

impl ByteDomain for u8 {
    type Bit = bool;

    #[inline]
    fn constant(value: u8) -> Self {
        value
    }

    #[inline]
    fn bits(&self) -> TvByte {
        TvByte::constant(*self)
    }

    #[inline]
    fn bit(&self, index: u8) -> bool {
        self >> index & 1 == 1
    }

    #[inline]
    fn with_bit(&self, index: u8, bit: &bool) -> Self {
        self & !(1 << index) | u8::from(*bit) << index
    }

    #[inline]
    fn not(&self) -> Self {
        !*self
    }

    #[inline]
    fn and(&self, other: &Self) -> Self {
        self & other
    }

    #[inline]
    fn or(&self, other: &Self) -> Self {
        self | other
    }

    #[inline]
    fn xor(&self, other: &Self) -> Self {
        self ^ other
    }

    #[inline]
    fn add(&self, other: &Self, carry: &bool) -> Sum<Self> {
        let wide = u16::from(*self) + u16::from(*other) + u16::from(*carry);
        let value = wide as u8;
        // The carry out of bit i is the carry into bit i + 1.
        let carries = ((u16::from(*self) ^ u16::from(*other) ^ wide) >> 1) as u8;
        let exact = i16::from(self.cast_signed()) + i16::from(other.cast_signed()) + i16::from(*carry);
        sum(value, carries, exact)
    }

    #[inline]
    fn subtract(&self, other: &Self, borrow: &bool) -> Sum<Self> {
        let wide = u16::from(*self).wrapping_sub(u16::from(*other)).wrapping_sub(u16::from(*borrow));
        let value = wide as u8;
        let carries = ((u16::from(*self) ^ u16::from(*other) ^ wide) >> 1) as u8;
        let exact = i16::from(self.cast_signed()) - i16::from(other.cast_signed()) - i16::from(*borrow);
        sum(value, carries, exact)
    }

    #[inline]
    fn multiply(&self, sign: Signedness, other: &Self, other_sign: Signedness) -> (Self, Self) {
        let [low, high, ..] = (widen(*self, sign) * widen(*other, other_sign)).to_le_bytes();
        (low, high)
    }

    #[inline]
    fn shift_right(&self, high: &bool) -> Self {
        self >> 1 | u8::from(*high) << 7
    }

    #[inline]
    fn swap_nibbles(&self) -> Self {
        self.rotate_left(4)
    }

    #[inline]
    fn is_zero(&self) -> bool {
        *self == 0
    }

    #[inline]
    fn equals(&self, other: &Self) -> bool {
        self == other
    }

    #[inline]
    fn join(&self, other: &Self) -> Self {
        debug_assert_eq!(self, other, "a concrete value has no alternatives");
        *self
    }

    fn assume(&self, fact: TvByte) -> Option<Self> {
        fact.contains(*self).then_some(*self)
    }

    #[inline]
    fn known(&self) -> Option<u8> {
        Some(*self)
    }
}

#[inline]
fn sum(value: u8, carries: u8, exact: i16) -> Sum<u8> {
    Sum { value, carries, overflow: exact != i16::from(value.cast_signed()), negative: exact < 0, zero: value == 0 }
}
