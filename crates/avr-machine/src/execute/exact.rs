//! Steps that lose nothing of what values say of each other ([`Environment::is_exact`]).
//!
//! In other environments the executor may go on with what is not known, in a way that covers every case. Here each stored bit that a
//! step depends on is decided before. Nothing in this module has an effect unless the environment is exact.

use super::Step;
use crate::cut::cut_cell;
use crate::device::{BitRef, Condition, KnownBits};
use crate::environment::Environment;
use avr_isa::{DataAddress, Pointer};
use three_valued::{BitDomain, ByteDomain, Truth};

impl<V: ByteDomain, E: Environment<V>> Step<'_, V, E> {
    /// Decides the open bits of a cell in `mask`, one by one.
    pub(super) fn decide_bits(&mut self, address: DataAddress, mask: u8) {
        if self.environment.is_exact() {
            cut_cell(self.state, address, mask, self.environment);
        }
    }

    /// Decides a stored bit.
    pub(super) fn decide_bit(&mut self, bit: BitRef) {
        self.decide_bits(bit.address, bit.mask());
    }

    /// Decides the open bits of a pointer.
    pub(super) fn decide_pointer(&mut self, pointer: Pointer) {
        self.decide_bits(pointer.low().address(), 0xff);
        self.decide_bits(pointer.high().address(), 0xff);
    }

    /// True unless a stored bit is 0.
    pub(super) fn may_be_set(&mut self, bit: BitRef) -> bool {
        self.decide_bit(bit);
        self.state.data.get(bit.address).bit(bit.bit).known() != Some(false)
    }

    /// The truth of a condition by the stored bits, of which as many are decided as it takes.
    pub(super) fn evaluate_exactly(
        &mut self,
        condition: &Condition,
        by: fn(&Condition, &mut dyn FnMut(DataAddress) -> KnownBits) -> Truth,
    ) -> Truth {
        let mut truth = self.evaluate(condition, by);
        while truth.is_unknown() && self.environment.is_exact() {
            let Some(open) = self.open_bit(condition) else { break };
            self.decide_bit(open);
            truth = self.evaluate(condition, by);
        }
        truth
    }

    /// The first stored bit that a condition depends on and that is not known.
    fn open_bit(&self, condition: &Condition) -> Option<BitRef> {
        let mut first = None;
        condition.for_each_register(&mut |address, mask| {
            let open = self.state.data.get(address).bits().unknown_mask() & mask;
            if first.is_none() && open != 0 {
                first = Some(BitRef { address, bit: open.trailing_zeros() as u8 });
            }
        });
        first
    }
}
