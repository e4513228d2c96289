//! The depth of the stack in a state.

use avr_machine::Machine;
use avr_properties::StateView;

/// The depth of the stack in a state as properties see it, in bytes below RAMEND; none where the pointer is torn or not known.
pub fn depth(machine: &Machine, view: &impl StateView) -> Option<u32> {
    if view.stack_pointer_torn() {
        return None;
    }
    let pointer = machine.stack_pointer().value(|address| view.cell(address).known())?;
    Some(machine.data_end().offset_from(pointer).unwrap_or_default().into())
}
