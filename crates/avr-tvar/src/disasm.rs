//! The command `disasm`.

use avr_isa::FlashByteAddress;
use avr_report::{listing, listing_with_interrupts};

use crate::device::{self, Wishes};
use crate::error::InputError;
use crate::exit::Exit;
use crate::options::Disasm;
use crate::output;

/// Prints the listing of the firmware.
///
/// # Errors
/// If the command line or the file is wrong.
pub(crate) fn run(arguments: &Disasm) -> Result<Exit, InputError> {
    let wishes = Wishes { device: arguments.device.as_deref(), start: arguments.start, file: None };
    let (image, device) = device::load(&arguments.firmware, wishes)?;
    output::image_warnings(&image);
    let text = if arguments.interrupts {
        listing_with_interrupts(&image, device, FlashByteAddress(arguments.start.unwrap_or(0)).word())
    } else {
        listing(&image, device)
    };
    output::results(&text)?;
    Ok(Exit::Holds)
}
