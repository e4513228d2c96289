//! Arithmetic and logic instructions, shifts, and instructions on single bits of registers and flags.
//!
//! The mnemonics name the sections of the AVR Instruction Set Manual (DS40002198), chapter "Instruction Description".

use super::Step;
use super::flags::{ZeroFlag, flag};
use crate::environment::Environment;
use avr_isa::Register;
use three_valued::fault::{Fault, is_on};
use three_valued::{BitDomain, ByteDomain, Signedness, Sum};

impl<V: ByteDomain, E: Environment<V>> Step<'_, V, E> {
    /// ADD, ADC, and with twice the same register LSL and ROL.
    pub(super) fn add(&mut self, rd: Register, rr: Register, carry: &V::Bit) {
        let sum = match rd == rr {
            true => double(self.register(rd), carry),
            false => self.register(rd).add(self.register(rr), carry),
        };
        self.set_sum_flags(&sum, &sum.zero.clone());
        self.set_register(rd, sum.value);
    }

    /// SUB, SBC, CP, CPC of two registers.
    pub(super) fn subtract_register(&mut self, rd: Register, rr: Register, borrow: &V::Bit, zero: ZeroFlag) -> V {
        if rd == rr {
            return self.finish_subtraction(difference_with_itself(borrow), zero);
        }
        let other = self.register(rr).clone();
        self.subtract(rd, &other, borrow, zero)
    }

    /// SUB, SUBI, SBC, SBCI, and CP, CPI, CPC, which drop the result.
    pub(super) fn subtract(&mut self, rd: Register, other: &V, borrow: &V::Bit, zero: ZeroFlag) -> V {
        let sum = self.register(rd).subtract(other, borrow);
        self.finish_subtraction(sum, zero)
    }

    fn finish_subtraction(&mut self, sum: Sum<V>, zero: ZeroFlag) -> V {
        let zero = self.zero_after(&sum, zero);
        self.set_sum_flags(&sum, &zero);
        sum.value
    }

    /// The carry flag as the carry or borrow into an operation.
    pub(super) fn carry(&self) -> V::Bit {
        self.flag(flag::C)
    }

    /// ADIW.
    pub(super) fn add_immediate_to_word(&mut self, rd: Register, k: u8) {
        let low = self.register(rd).add(&V::constant(k), &V::Bit::constant(false));
        let high = self.register(rd.next()).add(&V::constant(0), &into_high_byte(&low));
        self.set_word_flags(&low, &high);
        self.set_register(rd, low.value);
        self.set_register(rd.next(), high.value);
    }

    /// SBIW.
    pub(super) fn subtract_immediate_from_word(&mut self, rd: Register, k: u8) {
        let low = self.register(rd).subtract(&V::constant(k), &V::Bit::constant(false));
        let high = self.register(rd.next()).subtract(&V::constant(0), &into_high_byte(&low));
        self.set_word_flags(&low, &high);
        self.set_register(rd, low.value);
        self.set_register(rd.next(), high.value);
    }

    /// AND, ANDI, OR, ORI, EOR.
    pub(super) fn logic(&mut self, rd: Register, result: V) {
        self.set_logic_flags(&result);
        self.set_register(rd, result);
    }

    /// EOR: a register with itself is 0 whatever it holds, which is how programs clear it (CLR).
    pub(super) fn exclusive_or(&mut self, rd: Register, rr: Register) {
        let result = if rd == rr { V::constant(0) } else { self.register(rd).xor(self.register(rr)) };
        self.logic(rd, result);
    }

    /// COM: C is set.
    pub(super) fn complement(&mut self, rd: Register) {
        let result = self.register(rd).not();
        self.logic(rd, result);
        self.set_flags(&[(flag::C, &V::Bit::constant(true))]);
    }

    /// NEG is 0 − Rd with the flags of that subtraction.
    pub(super) fn negate(&mut self, rd: Register) {
        let sum = V::constant(0).subtract(self.register(rd), &V::Bit::constant(false));
        self.set_sum_flags(&sum, &sum.zero.clone());
        self.set_register(rd, sum.value);
    }

    /// INC.
    pub(super) fn increment(&mut self, rd: Register) {
        let sum = self.register(rd).add(&V::constant(1), &V::Bit::constant(false));
        self.set_step_flags(&sum);
        self.set_register(rd, sum.value);
    }

    /// DEC.
    pub(super) fn decrement(&mut self, rd: Register) {
        let sum = self.register(rd).subtract(&V::constant(1), &V::Bit::constant(false));
        self.set_step_flags(&sum);
        self.set_register(rd, sum.value);
    }

    /// MUL, MULS, MULSU.
    pub(super) fn multiply(&mut self, rd: (Register, Signedness), rr: (Register, Signedness)) {
        let (low, high) = self.register(rd.0).multiply(rd.1, self.register(rr.0), rr.1);
        self.set_product_flags(&low, &high, &high.bit(7));
        self.set_product(low, high);
    }

    /// FMUL, FMULS, FMULSU: the product is shifted left by one.
    pub(super) fn multiply_fractional(&mut self, rd: (Register, Signedness), rr: (Register, Signedness)) {
        let (low, high) = self.register(rd.0).multiply(rd.1, self.register(rr.0), rr.1);
        let carry = high.bit(7);
        let shifted_low = shift_left(&low, &V::Bit::constant(false));
        let shifted_high = shift_left(&high, &low.bit(7));
        self.set_product_flags(&shifted_low, &shifted_high, &carry);
        self.set_product(shifted_low, shifted_high);
    }

    fn set_product(&mut self, low: V, high: V) {
        self.set_register(Register::R0, low);
        self.set_register(Register::R1, high);
    }

    /// LSR, ROR, ASR: `high` comes in at bit 7.
    pub(super) fn shift_right(&mut self, rd: Register, high: &V::Bit) {
        let shifted_out = self.register(rd).bit(0);
        let result = self.register(rd).shift_right(high);
        self.set_shift_flags(&result, &shifted_out);
        self.set_register(rd, result);
    }

    /// BST.
    pub(super) fn store_bit_in_t(&mut self, rd: Register, bit: u8) {
        let bit = self.register(rd).bit(bit);
        self.set_flags(&[(flag::T, &bit)]);
    }

    /// BLD.
    pub(super) fn load_bit_from_t(&mut self, rd: Register, bit: u8) {
        let result = self.register(rd).with_bit(bit, &self.flag(flag::T));
        self.set_register(rd, result);
    }
}

/// The byte moved one place up, `low` coming in at bit 0.
fn shift_left<V: ByteDomain>(byte: &V, low: &V::Bit) -> V {
    (1..8).fold(byte.with_bit(0, low), |shifted, index| shifted.with_bit(index, &byte.bit(index - 1)))
}

/// `byte + byte + carry`: operands that are the same value are not independent, so this is sharper than their sum.
/// Each bit of the operand is the carry out of its own place and the result is the operand shifted left.
fn double<V: ByteDomain>(byte: &V, carry: &V::Bit) -> Sum<V> {
    let value = shift_left(byte, carry);
    let (overflow, negative, zero) = (byte.bit(7).xor(&byte.bit(6)), byte.bit(7), value.is_zero());
    Sum { value, carries: byte.clone(), overflow, negative, zero }
}

/// `byte - byte - borrow` is 0 or −1 whatever the byte is.
fn difference_with_itself<V: ByteDomain>(borrow: &V::Bit) -> Sum<V> {
    let all = (0..8).fold(V::constant(0), |byte, index| byte.with_bit(index, borrow));
    Sum {
        value: all.clone(),
        carries: all,
        overflow: V::Bit::constant(false),
        negative: borrow.clone(),
        zero: borrow.not(),
    }
}

/// The carry or borrow into the high byte of a word.
fn into_high_byte<V: ByteDomain>(low: &Sum<V>) -> V::Bit {
    if is_on(Fault::WordCarryLost) { V::Bit::constant(false) } else { low.carries.bit(7) }
}

#[cfg(test)]
mod tests {
    use crate::device::Device;
    use crate::environment::{Demand, DeterminedBy, Environment, Input, Question};
    use crate::machine::{Machine, Options};
    use crate::program::Program;
    use crate::state::MachineState;
    use avr_isa::{DataAddress, Instruction, Register};
    use three_valued::TvByte;

    /// Wants ranges or does not.
    struct Wanting(bool);

    impl Environment<TvByte> for Wanting {
        fn input(&mut self, _: Input, mask: u8, _: Demand, _: DeterminedBy) -> TvByte {
            TvByte::new(0, !mask)
        }

        fn choose(&mut self, _: usize) -> usize {
            0
        }

        fn case(&mut self, _: usize, _: Question<'_, TvByte>) -> usize {
            0
        }

        fn has_ranges(&self) -> bool {
            self.0
        }
    }

    #[test]
    fn results_have_ranges_only_where_they_are_wanted() {
        let rd = Register::new(16).expect("there are 32 registers");
        let subtract = Instruction::Subi { rd, k: 253 }.encode().expect("it has a code");
        let device = Device::named("atmega328p").expect("a device of the tables");
        let word = |_: u32| Some(subtract.first);
        let program = Program::decode(device.memory.flash_words(), device.core.features, word);
        let machine = Machine::new(device, program, Options::default());
        let after = |wanted: bool| {
            let mut state = MachineState::new(machine.cells(), TvByte::ZERO);
            state.data.set(DataAddress(16), TvByte::new(0x00, 0xf0));
            machine.step(&mut state, &mut Wanting(wanted)).expect("it goes on");
            *state.data.get(DataAddress(16))
        };
        assert_eq!(after(true), TvByte::new(0x00, 0xe0).within(3, 18).expect("the range is not empty"));
        assert_eq!(after(false), TvByte::new(0x00, 0xe0));
    }
}
