//! From a request to a machine.

use avr_machine::Machine;
use avr_properties::{PropertyError, Setting};

use crate::request::Request;

/// The machine that runs the image of a request as its property file says.
///
/// # Errors
/// An assumption of the property file that cannot be used.
pub fn machine(request: &Request<'_>) -> Result<Machine, PropertyError> {
    let Request { image, device, start, file, eeprom, .. } = *request;
    let machine = Setting { image, device, start, file, eeprom }.machine()?;
    Ok(machine.with_contracts(request.contracts.to_vec()))
}
