//! The command `check`.

use std::thread;

use avr_certificate::Certificate;
use avr_check::{Rejection, property_file};
use avr_report::CheckReport;

use crate::arguments::{Check, Format};
use crate::certificate;
use crate::device::{self, Wishes};
use crate::error::InputError;
use crate::exit::Exit;
use crate::output;
use crate::verify::STACK_BYTES;

/// Checks a certificate and says what it proves.
///
/// # Errors
/// When the command line or a file is wrong. A certificate that does not prove what it claims is no error.
pub(crate) fn run(arguments: &Check) -> Result<Exit, InputError> {
    let certificate = certificate::read(&arguments.certificate, arguments.memory)?;
    // Formulas are trees of limited depth, which take more stack than the main thread has.
    thread::scope(|scope| {
        let checker = thread::Builder::new().stack_size(STACK_BYTES);
        let work = checker.spawn_scoped(scope, || check(arguments, &certificate));
        let work = work.map_err(|error| crate::InputErrorKind::Threads { jobs: 1, reason: error.to_string() })?;
        // The hook has told about a panic already.
        work.join().unwrap_or(Ok(Exit::Internal))
    })
}

fn check(arguments: &Check, certificate: &Certificate) -> Result<Exit, InputError> {
    let header = &certificate.header;
    let file = match property_file(header) {
        Ok(file) => file,
        Err(error) => return rejected(arguments, &error.into()),
    };
    let wishes = Wishes { device: Some(&header.device), start: header.start, file: Some(&file) };
    let (image, device) = device::load(&arguments.firmware, wishes)?;
    match avr_check::check(certificate, &image, device) {
        Ok(checked) => {
            let assumptions = avr_verify::assumptions(&checked.file, header.start, device);
            let report =
                CheckReport { image: &image, device: device.name, checked: &checked, assumptions: &assumptions };
            output::results(&match arguments.format {
                Format::Text => report.text(output::colour()),
                Format::Json => report.json(),
            })?;
            Ok(Exit::Holds)
        }
        Err(rejection) => rejected(arguments, &rejection),
    }
}

fn rejected(arguments: &Check, rejection: &Rejection) -> Result<Exit, InputError> {
    output::results(&match arguments.format {
        Format::Text => avr_report::rejected_text(rejection, output::colour()),
        Format::Json => avr_report::rejected_json(rejection),
    })?;
    Ok(Exit::Violated)
}
