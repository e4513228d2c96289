//! The depth of the stack in a state.

use avr_machine::Machine;
use avr_properties::StateView;

/// The depth of the main stack in a state as properties see it, in bytes below RAMEND; none where the pointer is torn, not known, or on
/// the stack of a task.
pub fn depth(machine: &Machine, view: &impl StateView) -> Option<u32> {
    depth_of(machine, view, 0)
}

/// The depth of the stack of this number ([`avr_machine::Control::stack`]) in a state as properties see it, in bytes; none where the
/// pointer is torn, not known, or on another stack.
pub fn depth_of(machine: &Machine, view: &impl StateView, stack: u8) -> Option<u32> {
    if view.stack_pointer_torn() || view.stack() != stack {
        return None;
    }
    let pointer = machine.stack_pointer().value(|address| view.cell(address).known())?;
    Some(machine.stack_end(stack).offset_from(pointer).unwrap_or_default().into())
}
