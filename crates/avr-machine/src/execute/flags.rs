//! The small family of helpers that every flag in SREG comes from (Instruction Set Manual, section "Status Register").

use super::Step;
use crate::environment::Environment;
use three_valued::fault::{Fault, is_on};
use three_valued::{BitDomain, ByteDomain, Sum};

/// Bit numbers in SREG.
pub mod flag {
    /// Carry.
    pub const C: u8 = 0;
    /// Zero.
    pub const Z: u8 = 1;
    /// Negative.
    pub const N: u8 = 2;
    /// Two's complement overflow.
    pub const V: u8 = 3;
    /// Sign: N xor V.
    pub const S: u8 = 4;
    /// Half carry.
    pub const H: u8 = 5;
    /// Bit copy storage.
    pub const T: u8 = 6;
    /// Global interrupt enable.
    pub const I: u8 = 7;
}

/// The way in which a subtraction sets Z.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ZeroFlag {
    /// From the result.
    Fresh,
    /// SBC, SBCI, CPC: a zero result leaves Z as it was, so that Z speaks of a multi-byte result.
    Chained,
}

impl<V: ByteDomain, E: Environment<V>> Step<'_, V, E> {
    /// SREG.
    pub(super) fn status(&self) -> &V {
        self.state.data.get(self.machine.status_address)
    }

    /// A flag.
    pub(super) fn flag(&self, flag: u8) -> V::Bit {
        self.status().bit(flag)
    }

    /// Sets flags other than I.
    pub(super) fn set_flags(&mut self, flags: &[(u8, &V::Bit)]) {
        let status = flags.iter().fold(self.status().clone(), |status, (flag, bit)| status.with_bit(*flag, bit));
        self.state.data.set(self.machine.status_address, status);
    }

    /// H, S, V, N, C of an addition or subtraction, and `zero`.
    pub(super) fn set_sum_flags(&mut self, sum: &Sum<V>, zero: &V::Bit) {
        let half = sum.carries.bit(3);
        let half = if is_on(Fault::HalfCarryInverted) { half.not() } else { half };
        let sign = if is_on(Fault::SignWithoutOverflow) { sum.value.bit(7) } else { sum.negative.clone() };
        self.set_flags(&[
            (flag::H, &half),
            (flag::S, &sign),
            (flag::V, &sum.overflow),
            (flag::N, &sum.value.bit(7)),
            (flag::Z, zero),
            (flag::C, &sum.carries.bit(7)),
        ]);
    }

    /// Z after a subtraction.
    pub(super) fn zero_after(&self, sum: &Sum<V>, zero: ZeroFlag) -> V::Bit {
        match zero {
            ZeroFlag::Fresh => sum.zero.clone(),
            ZeroFlag::Chained if is_on(Fault::ZeroNotChained) => sum.zero.clone(),
            ZeroFlag::Chained => sum.zero.and(&self.flag(flag::Z)),
        }
    }

    /// S, V, N, Z of INC and DEC, which leave C and H alone.
    pub(super) fn set_step_flags(&mut self, sum: &Sum<V>) {
        self.set_flags(&[
            (flag::S, &sum.negative),
            (flag::V, &sum.overflow),
            (flag::N, &sum.value.bit(7)),
            (flag::Z, &sum.zero),
        ]);
    }

    /// S, V, N, Z of the bitwise operations: V is 0, so S is N.
    pub(super) fn set_logic_flags(&mut self, result: &V) {
        let negative = result.bit(7);
        self.set_flags(&[
            (flag::S, &negative),
            (flag::V, &V::Bit::constant(false)),
            (flag::N, &negative),
            (flag::Z, &result.is_zero()),
        ]);
    }

    /// S, V, N, Z, C of the right shifts: C is the bit shifted out, V = N xor C, so S = N xor V is C.
    pub(super) fn set_shift_flags(&mut self, result: &V, shifted_out: &V::Bit) {
        let negative = result.bit(7);
        self.set_flags(&[
            (flag::S, shifted_out),
            (flag::V, &negative.xor(shifted_out)),
            (flag::N, &negative),
            (flag::Z, &result.is_zero()),
            (flag::C, shifted_out),
        ]);
    }

    /// S, V, N, Z, C of ADIW and SBIW, from the operation on the high byte.
    pub(super) fn set_word_flags(&mut self, low: &Sum<V>, high: &Sum<V>) {
        self.set_flags(&[
            (flag::S, &high.negative),
            (flag::V, &high.overflow),
            (flag::N, &high.value.bit(7)),
            (flag::Z, &low.zero.and(&high.zero)),
            (flag::C, &high.carries.bit(7)),
        ]);
    }

    /// Z and C of the multiplications; C is bit 15 of the product before a fractional shift.
    pub(super) fn set_product_flags(&mut self, low: &V, high: &V, carry: &V::Bit) {
        self.set_flags(&[(flag::Z, &low.is_zero().and(&high.is_zero())), (flag::C, carry)]);
    }
}
