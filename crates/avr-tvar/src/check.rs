//! The command `check`.

use std::path::Path;
use std::thread;

use avr_certificate::Certificate;
use avr_check::{Rejection, property_file};
use avr_properties::{Setting, Specification};
use avr_report::{CheckReport, Expectation};

use crate::certificate;
use crate::device::{self, Wishes};
use crate::eeprom;
use crate::error::InputError;
use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::job::{self, STACK_BYTES};
use crate::options::{Check, Expect, Format};
use crate::output;

/// Checks a certificate and says what it proves.
///
/// # Errors
/// If the command line or a file is wrong. A certificate that does not prove what it claims is no error.
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
    let asked = arguments.properties.as_deref().map(|path| asked(path, &arguments.firmware)).transpose()?;
    match avr_check::check(certificate, &image, device) {
        Ok(checked) => {
            let expectation = arguments.expect.map(|Expect::Holds| {
                let eeprom = header.eeprom.iter().copied().collect();
                let setting =
                    Setting { image: &image, device, start: header.start, file: &checked.file, eeprom: &eeprom };
                let claims = setting.specification()?;
                let asked = asked.as_ref().unwrap_or(&claims);
                Ok::<_, InputError>(Expectation::of(asked, &claims, &checked.properties, arguments.strict))
            });
            let expectation = expectation.transpose()?;
            let assumptions = avr_verify::assumptions(&checked.file, header.start, device);
            let report = CheckReport {
                image: &image,
                device: device.name,
                checked: &checked,
                assumptions: &assumptions,
                expectation: expectation.as_ref(),
            };
            output::results(&match arguments.format {
                Format::Text => report.text(output::colour()),
                Format::Json => report.json(),
            })?;
            Ok(expectation.map_or(Exit::Holds, |expectation| exit(&expectation)))
        }
        Err(rejection) => rejected(arguments, &rejection),
    }
}

/// The specification of a property file, read as `verify` does.
fn asked(path: &Path, firmware: &Path) -> Result<Specification, InputError> {
    let mut inputs = Inputs::default();
    let mut file = job::read_properties(&mut inputs, path)?;
    file.add(&[], false)?;
    let (image, device) =
        device::load_from(&mut inputs, firmware, Wishes { device: None, start: None, file: Some(&file) })?;
    let eeprom = eeprom::content(&mut inputs, &file, Some(path), device)?;
    Ok(Setting { image: &image, device, start: None, file: &file, eeprom: &eeprom }.specification()?)
}

fn exit(expectation: &Expectation) -> Exit {
    if expectation.is_violated() {
        Exit::Violated
    } else if expectation.is_met() {
        Exit::Holds
    } else {
        Exit::Unknown
    }
}

fn rejected(arguments: &Check, rejection: &Rejection) -> Result<Exit, InputError> {
    output::results(&match arguments.format {
        Format::Text => avr_report::rejected_text(rejection, output::colour()),
        Format::Json => avr_report::rejected_json(rejection),
    })?;
    Ok(Exit::Violated)
}
