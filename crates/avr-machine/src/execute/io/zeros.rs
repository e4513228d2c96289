//! Bits that a write makes 0, or may make 0, for longer than what it wrote stands.

use crate::device::{BitKind, BitRef, Flag, Pulse};
use crate::environment::Environment;
use crate::execute::Step;
use crate::machine::Group;
use avr_isa::DataAddress;
use three_valued::ByteDomain;

impl<V: ByteDomain, E: Environment<V>> Step<'_, V, E> {
    /// The latched bits that are 0 under a condition on a register before it is written, while the flag may stand with which they were
    /// latched.
    pub(super) fn held_at_zero(&mut self, written: DataAddress) -> Vec<Group> {
        let machine = self.machine;
        let mut all = Vec::new();
        for group in machine.zeroed_by(written) {
            if let BitKind::Input(input) = &group.bit.kind
                && input.latched_by.is_some_and(|event| self.may_be_set(event))
                && self.holds(&input.zero_while)
            {
                all.push(*group);
            }
        }
        all
    }

    /// Changes the bits that are 0, or have been until now, by a write to a register. `moving` are those that hardware changed by itself
    /// before, and `held` are those of [`Self::held_at_zero`].
    pub(super) fn settle_zeros(&mut self, written: DataAddress, selected: u8, moving: &[Group], held: &[Group]) {
        let machine = self.machine;
        for group in machine.zeroed_by(written) {
            match &group.bit.kind {
                BitKind::Flag(flag) => self.zero_flags(group, flag),
                BitKind::Pulse(pulse) => {
                    // Operations of the written register itself were asked for before, and the write may have set their bits.
                    let was_asked = group.address == written && group.mask & selected != 0
                        || moving.iter().any(|one| one.address == group.address && one.mask == group.mask);
                    for bit in (0..8).filter(|bit| group.mask >> bit & 1 != 0) {
                        self.cut_off(BitRef { address: group.address, bit }, pulse, was_asked);
                    }
                }
                _ => {}
            }
        }
        for group in held {
            if let BitKind::Input(input) = &group.bit.kind
                && !self.holds(&input.zero_while)
            {
                let value = self.undefined_bits(group.address, group.mask);
                self.store(group.address, group.mask, &value);
                self.forget_pending(group.address, group.mask);
            }
        }
    }

    /// Clears flags that are 0 from now on. They stay so when that ends, unless hardware sets them again.
    fn zero_flags(&mut self, group: &Group, flag: &Flag) {
        let stored = self.state.data.get(group.address).bits();
        let is_zero = stored.known_mask() & !stored.value() & group.mask == group.mask;
        if !is_zero {
            self.zeroed(group.address, group.mask, &flag.zero_while);
        }
    }

    /// Ends an operation that a write cuts off, or may cut off, after hardware was asked for it.
    fn cut_off(&mut self, place: BitRef, pulse: &Pulse, was_asked: bool) {
        if !self.may_be_set(place) {
            return;
        }
        let ends = self.holds(&pulse.zero_while);
        if !ends && !self.holds(&pulse.lost_while) {
            return;
        }
        if !was_asked {
            // SOUND: it may be done before the write, unseen, and then its flag is set.
            self.ask_operation(place);
        }
        if ends || self.may_be_set(place) && !self.undefined_case(place) {
            self.set_stored(place, false);
        }
    }
}
