//! The order in which states are expanded.

use crate::state::interner::{CallsId, Store};
use avr_analysis::iteration_order::IterationOrder;
use avr_isa::FlashWordAddress;
use avr_machine::FrameKind;
use tvar::ExpansionOrder;

/// The position of a location in the order: the places of its frames, oldest first, as many as a position holds, and
/// then its own place.
pub(crate) fn order(iteration: &IterationOrder, store: &Store, calls: CallsId, pc: FlashWordAddress) -> ExpansionOrder {
    let depth = store.depth(calls);
    let mut position = ExpansionOrder::default();
    if let Some(place) = position.get_mut(depth) {
        *place = 2 * iteration.position(pc);
    }
    for (frame, place) in store.frames(calls).zip((0..depth).rev()) {
        if let Some(place) = position.get_mut(place) {
            // Just before what the call returns to, and behind what is interrupted.
            let called = u32::from(!matches!(frame.kind, FrameKind::Interrupt(_)));
            *place = (2 * iteration.position(frame.return_address)).saturating_sub(called);
        }
    }
    position
}

#[cfg(test)]
mod tests {
    use super::*;
    use avr_isa::{DataAddress, Instruction};
    use avr_machine::device::Device;
    use avr_machine::{Frame, Program};
    fn iteration(code: &[Instruction]) -> IterationOrder {
        let words: Vec<u16> = code.iter().map(|one| one.encode().expect("it has a code").first).collect();
        let device = Device::named("atmega328p").expect("a device of the tables");
        let word = |address: u32| words.get(address as usize).copied();
        IterationOrder::new(&Program::decode(device.memory.flash_words(), device.core.features, word))
    }

    #[test]
    fn what_is_called_or_interrupts_comes_before_what_follows() {
        let nop = Instruction::Nop;
        let iteration = iteration(&[nop, nop, nop, Instruction::Rjmp { offset: -1 }]);
        let mut store = Store::default();
        let nowhere = CallsId(0);
        let mut inside = |kind, return_address, below| {
            store.push_call(
                below,
                Frame {
                    kind,
                    return_address: FlashWordAddress(return_address),
                    position: DataAddress(0x8ff),
                    stack: 0,
                    left: 0,
                },
            )
        };
        let called = inside(FrameKind::Call, 2, nowhere);
        let interrupting = inside(FrameKind::Interrupt(1), 1, nowhere);
        let nested = inside(FrameKind::Interrupt(1), 0, called);
        let position = |calls, pc| order(&iteration, &store, calls, FlashWordAddress(pc));
        // The call at 1, the function at 3, and what the call returns to.
        assert!(position(nowhere, 1) < position(called, 3) && position(called, 3) < position(nowhere, 2));
        assert!(position(nowhere, 1) < position(interrupting, 3) && position(interrupting, 3) < position(nowhere, 2));
        assert!(position(called, 0) < position(nested, 3) && position(nested, 3) < position(called, 1));
    }
}
