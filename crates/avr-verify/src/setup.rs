//! From an image, a device and a property file to a machine.

use avr_image::{FlashWordAddress, Image};
use avr_machine::device::ResetCause;
use avr_machine::{Machine, Options, Program};
use avr_properties::{Binding, EnvironmentEvent, PropertyError, bind_assumptions};

use crate::verification::Request;

/// The machine that runs the image of a request as its property file says.
///
/// # Errors
/// When an assumption of the property file cannot be used.
pub fn machine(request: &Request<'_>) -> Result<Machine, PropertyError> {
    let (image, device) = (request.image, request.device);
    let word = |address: u32| image.program.word(FlashWordAddress(address));
    let program = Program::decode(device.memory.flash_words(), device.core.features, word);
    Ok(Machine::new(device, program, options(request)?))
}

fn options(request: &Request<'_>) -> Result<Options, PropertyError> {
    let Request { image, device, file, start, eeprom, .. } = *request;
    let fuses = file.fuses.bytes(device.default_fuses);
    let start = start.or(file.start).map_or_else(|| device.reset_vector(fuses), |byte| byte / 2);
    let assumptions = bind_assumptions(file, &Binding { device, image })?;
    Ok(Options {
        allowed: file.allow.iter().map(|(kind, _)| *kind).collect(),
        forbidden: file.forbid.iter().copied().collect(),
        start,
        static_data_end: image.static_data_end().map(|address| address.0),
        default_handler: default_handler(image),
        assumed: assumptions.inputs,
        never: assumptions.never,
        resets: file.environment.iter().map(reset_cause).collect(),
        fuses: Some(fuses),
        eeprom: eeprom.clone(),
    })
}

fn reset_cause(event: &EnvironmentEvent) -> ResetCause {
    match event {
        EnvironmentEvent::Reset => ResetCause::External,
        EnvironmentEvent::BrownOut => ResetCause::BrownOut,
    }
}

/// Where avr-libc's start-up code sends interrupts that have no handler.
fn default_handler(image: &Image) -> Option<u32> {
    let symbol = image.symbols.find("__bad_interrupt").ok()?;
    symbol.place.flash().map(|address| address.0 / 2)
}
