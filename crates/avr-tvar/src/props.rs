//! The command `props`: whether a property file is right, and with a firmware, what its names mean.

use std::path::PathBuf;

use avr_image::Image;
use avr_machine::device::Device;
use avr_properties::{
    AtomTable, Binding, Property, PropertyError, PropertyFile, Setting, bind, bind_assumptions, bind_contracts,
    bind_machines, bind_predicates, check_syntax, formula_text,
};
use avr_report::Escaped;
use clap::Args;

use crate::device::{self, Wishes};
use crate::eeprom;
use crate::error::InputError;
use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::job::read_properties;
use crate::options;
use crate::output;
use crate::values;

pub(crate) const HELP: &str = "\
Without a firmware the texts are checked: whether they are formulas. With one, also whether their names mean something.
Nothing is verified.

Exit codes: 0 the file can be used, 2 something is wrong.";

/// The arguments of `props`.
#[derive(Clone, Debug, Args)]
pub struct Props {
    /// Property file (RON)
    pub properties: PathBuf,
    /// Firmware as ELF or Intel HEX, to which its names are bound
    pub firmware: Option<PathBuf>,
    /// The device; by default as the property file or the image says, else atmega328p
    #[arg(long, value_name = "NAME", long_help = options::device_help())]
    pub device: Option<String>,
    /// Byte address of the first instruction, for boot loaders
    #[arg(long, value_name = "ADDRESS", value_parser = values::address)]
    pub start: Option<u32>,
}

/// The reference that a property is checked against.
enum Against {
    /// The rules of the language.
    Syntax,
    /// A firmware in a device.
    Firmware { image: Box<Image>, device: &'static Device, start: u32 },
}

/// The result of checking a property.
struct Checked {
    status: &'static str,
    /// The formula that is verified, if it is told.
    formula: Option<String>,
    notes: Vec<String>,
}

/// Checks a property file and tells about every property.
///
/// # Errors
/// If a file cannot be read, or the property file is none.
pub(crate) fn run(arguments: &Props) -> Result<Exit, InputError> {
    let mut inputs = Inputs::default();
    let file = read_properties(&mut inputs, &arguments.properties)?;
    let against = against(&mut inputs, arguments, &file)?;
    let mut text = String::new();
    let mut wrong = 0;
    for property in &file.properties {
        match check(property, &file, &against) {
            Ok(checked) => text.push_str(&lines(property, &checked)),
            Err(error) => {
                wrong += 1;
                text.push_str(&format!("{:<12}{}\n", "wrong", Escaped(property.name())));
                output::input_error(&error.into());
            }
        }
    }
    let count = file.properties.len();
    text.push_str(&format!("{count} propert{}, {wrong} wrong\n", if count == 1 { "y" } else { "ies" }));
    output::results(&text)?;
    Ok(if wrong == 0 { Exit::Holds } else { Exit::Input })
}

/// The firmware, if there is one; everything in the file that is no property is checked with it.
fn against(inputs: &mut Inputs, arguments: &Props, file: &PropertyFile) -> Result<Against, InputError> {
    let Some(firmware) = &arguments.firmware else { return Ok(Against::Syntax) };
    let wishes = Wishes { device: arguments.device.as_deref(), start: arguments.start, file: Some(file) };
    let (image, device) = device::load_from(inputs, firmware, wishes)?;
    let eeprom = eeprom::content(inputs, file, Some(&arguments.properties), device)?;
    let start = file.start_address(device, arguments.start);
    let binding = Binding {
        device,
        image: &image,
        start,
        ends_paths: file.ends_paths(),
        stacks: &file.stacks,
        boot_start: file.boot_start(device),
    };
    bind_assumptions(file, &binding)?;
    bind_predicates(file, &binding)?;
    bind_machines(file, &binding)?;
    let setting = Setting { image: &image, device, start: arguments.start, file, eeprom: &eeprom };
    setting.check_start()?;
    bind_contracts(file, &binding, &setting.machine()?)?;
    Ok(Against::Firmware { image: Box::new(image), device, start })
}

fn check(property: &Property, file: &PropertyFile, against: &Against) -> Result<Checked, PropertyError> {
    let Against::Firmware { image, device, start } = against else {
        check_syntax(property, &file.definitions)?;
        return Ok(Checked { status: "ok", formula: None, notes: Vec::new() });
    };
    let binding = Binding {
        device,
        image,
        start: *start,
        ends_paths: file.ends_paths(),
        stacks: &file.stacks,
        boot_start: file.boot_start(device),
    };
    match bind(property, &file.definitions, &binding, &mut AtomTable::default()) {
        Ok(bound) => Ok(Checked { status: "ok", formula: Some(bound.formula_text), notes: bound.notes }),
        Err(error) => match error.undecided() {
            Some(reason) => Ok(Checked {
                status: if error.unsupported().is_some() { "unsupported" } else { "too large" },
                formula: Some(formula_text(property, &file.definitions, &binding)),
                notes: vec![reason],
            }),
            None => Err(error),
        },
    }
}

fn lines(property: &Property, checked: &Checked) -> String {
    let indent = " ".repeat(12);
    let mut text = format!("{:<12}{}\n", checked.status, Escaped(property.name()));
    if let Some(formula) = checked.formula.as_deref().filter(|formula| *formula != property.name()) {
        text.push_str(&format!("{indent}{}\n", Escaped(formula)));
    }
    for note in &checked.notes {
        text.push_str(&format!("{indent}note: {}\n", Escaped(note)));
    }
    text
}
