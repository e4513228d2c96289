//! Findings in words.

use avr_image::Image;
use avr_isa::{DataAddress, FlashByteAddress, FlashWordAddress, Register};
use avr_machine::{FrameKind, Machine};
use avr_witness::{Evidence, Observation, Subjects, Window};

/// An observation as a sentence without a full stop.
pub(super) fn observed(image: &Image, machine: &Machine, subjects: &Subjects, observation: &Observation) -> String {
    match observation {
        Observation::OutOfObject { object, address, .. } => {
            let range = subjects.objects.range(*object);
            let name = variable(image, range.start).unwrap_or_else(|| "an object".to_owned());
            let there = there(image, machine, *address);
            format!(
                "a store through a pointer into {name} ({} bytes at {:#06x}) hits {address:#06x}, {there}",
                range.end.offset_from(range.start).unwrap_or_default(),
                range.start
            )
        }
        Observation::ReturnAddress { address, returns_to, .. } => {
            let whose = function(image, *returns_to).map_or_else(String::new, |name| format!(" to {name}"));
            format!("a store through a pointer hits {address:#06x} on the stack: a return address{whose}")
        }
        Observation::SavedRegister { address, register, pushed_at, .. } => {
            let who = function(image, *pushed_at).unwrap_or_else(|| "a function".to_owned());
            format!(
                "a store through a pointer hits {address:#06x} on the stack: the r{register} that {who} keeps for its caller"
            )
        }
        Observation::Torn { window: number, vector, .. } => {
            window(image, machine, &subjects.windows[*number], Some(*vector))
        }
    }
}

/// The finding of a window; `came` is the interrupt that came in a run.
pub(super) fn window(image: &Image, machine: &Machine, window: &Window, came: Option<u8>) -> String {
    let start = window.cells.start;
    let name = variable(image, start).unwrap_or_else(|| "a variable".to_owned());
    let read = if window.is_write { "written" } else { "read" };
    let interrupts: Vec<&str> = window.vectors.iter().map(|vector| interrupt(machine, *vector)).collect();
    let tail = match came {
        Some(vector) => format!("{} comes in between and writes it", interrupt(machine, vector)),
        None => format!("{} may come in between and write it", interrupts.join(" or ")),
    };
    let (bytes, instructions) = (window.cells.end.offset_from(start).unwrap_or_default(), window.accesses.len());
    format!("{name} ({bytes} bytes at {start:#06x}) is {read} in {instructions} instructions, and {tail}")
}

/// The flash byte address of the call that the last function of a run was entered by, if it was called.
pub(super) fn caller(image: &Image, evidence: &Evidence) -> Option<FlashByteAddress> {
    let frame = evidence.calls.last().filter(|frame| frame.kind == FrameKind::Call)?;
    // The word before the return address is the call, or the second half of it.
    let call = FlashWordAddress(frame.return_address.0.checked_sub(1)?).byte();
    image.source_line(call).map(|_| call)
}

/// A finding of a function with the place that calls it.
pub(super) fn called(image: &Image, text: &str, call: FlashByteAddress) -> String {
    let line = image.source_line(call).map_or_else(String::new, |line| format!(", {}", line.shown()));
    let name = function(image, call.word()).unwrap_or_else(|| "another function".to_owned());
    format!("{text}; called by {name}{line}")
}

fn interrupt(machine: &Machine, vector: u8) -> &'static str {
    let found = machine.device.interrupts.iter().find(|interrupt| interrupt.number == vector);
    found.map_or("an interrupt", |interrupt| interrupt.name)
}

/// The variable at a data address, with the distance from its beginning.
fn variable(image: &Image, address: DataAddress) -> Option<String> {
    let located = image.symbols.object_at(address)?;
    let name = located.symbol.display_name();
    Some(if located.offset == 0 { name.to_owned() } else { format!("{name}+{}", located.offset) })
}

fn function(image: &Image, address: FlashWordAddress) -> Option<String> {
    let address: FlashByteAddress = address.byte();
    Some(image.symbols.function_at(address)?.symbol.display_name().to_owned())
}

/// The place that is hit.
fn there(image: &Image, machine: &Machine, address: DataAddress) -> String {
    if let Some(name) = variable(image, address) {
        return format!("in {name}");
    }
    if let Some(register) = machine.device.register_at(address) {
        return format!("the register {}", register.name);
    }
    match Register::at(address) {
        Some(general) => format!("the register {general}"),
        None if address > machine.data_end() => "behind the data memory".to_owned(),
        None => "where no variable is".to_owned(),
    }
}
