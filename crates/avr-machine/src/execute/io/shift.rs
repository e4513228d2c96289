//! A shift register with a counter that a strobe clocks (data sheet, section "USI - Universal Serial Interface").

use crate::device::{BitRef, Shifter};
use crate::environment::{Demand, Environment};
use crate::execute::Step;
use avr_isa::DataAddress;
use three_valued::{BitDomain, ByteDomain};

impl<V: ByteDomain, E: Environment<V>> Step<'_, V, E> {
    /// The effect of a write to the register with the strobes, after its bits were stored; `was_strobed` says whether the strobe clocked
    /// before.
    pub(super) fn shift_command(&mut self, shifter: &Shifter, value: &V, selected: u8, was_strobed: bool) {
        let written = value.and(&V::constant(selected));
        let strobes = written.bit(shifter.strobe.bit);
        if self.decide(&strobes) {
            let is_strobed = self.holds(&shifter.strobed_while);
            let is_open = is_strobed != was_strobed;
            if is_strobed && was_strobed || is_open && self.undefined_case(shifter.strobe) {
                self.clock_shifter(shifter);
            }
        }
        let (toggling, toggled, condition) = &shifter.toggles;
        let toggles = written.bit(toggling.bit);
        if self.decide(&toggles) && (self.holds(condition) || self.undefined_case(*toggling)) {
            let port = self.state.data.get(toggled.address).bit(toggled.bit).not();
            self.put_stored(*toggled, &port);
        }
    }

    /// The data moves up by a bit, and the counter counts.
    fn clock_shifter(&mut self, shifter: &Shifter) {
        let input = self.present(shifter.input.address, shifter.input.mask()).bit(shifter.input.bit);
        let data = self.present(shifter.data, 0xff);
        let shifted = (1..8).fold(V::constant(0), |byte, bit| byte.with_bit(bit, &data.bit(bit - 1)));
        let shifted = shifted.with_bit(0, &input);
        self.state.data.set(shifter.data, shifted.clone());
        let (register, bits) = &shifter.counter;
        let count = self.present(*register, bits.iter().fold(0, |mask, bit| mask | 1 << bit));
        let mut carry = V::Bit::constant(true);
        for bit in bits {
            let place = BitRef { address: *register, bit: *bit };
            self.put_stored(place, &count.bit(*bit).xor(&carry));
            carry = carry.and(&count.bit(*bit));
        }
        if self.decide(&carry) {
            self.set_stored(shifter.overflow, true);
            self.state.data.set(shifter.buffer, shifted);
        }
    }

    /// The present content of bits of a register, with what hardware may have done to them.
    fn present(&mut self, address: DataAddress, mask: u8) -> V {
        match self.machine.device.register_at(address) {
            Some(register) => self.refresh(register, mask, Demand::Stored),
            None => V::constant(0),
        }
    }
}
