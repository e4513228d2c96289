//! The reasons why nothing follows from a map, in words.

use avr_image::Image;
use avr_invariant::{Gap, Mark, Thread};
use avr_machine::Machine;

use crate::diagnosis::unknown_reason::place_at;

/// A hazard that is not excluded.
pub(super) fn mark(machine: &Machine, image: &Image, mark: &Mark) -> String {
    let Mark { thread, address, hazard } = mark;
    format!("{hazard} {}{} is not excluded", place_at(image, address.0), in_handler(machine, *thread))
}

/// The reason why a map is open.
pub(super) fn gap(machine: &Machine, image: &Image, gap: &Gap) -> String {
    match gap.at {
        None => gap.reason.to_string(),
        Some((thread, address)) => {
            format!("{} {}{}", gap.reason, place_at(image, address.0), in_handler(machine, thread))
        }
    }
}

/// The handler of a thread, by the name of its interrupt.
fn in_handler(machine: &Machine, thread: Thread) -> String {
    match thread {
        Thread::Main => String::new(),
        Thread::Handler { interrupt, .. } => {
            let named = machine.device.interrupts.iter().find(|one| one.number == interrupt);
            let name = named.map_or_else(|| interrupt.to_string(), |one| one.name.to_owned());
            format!(" in the handler of {name}")
        }
    }
}
