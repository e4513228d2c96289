//! The command `verify-system`: several nodes joined by wires.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use avr_image::{EepromAddress, Image};
use avr_machine::device::Device;
use avr_properties::{PropertyFile, Setting};
use avr_report::{Escaped, ReportOrigin, SystemNode, SystemReport};
use avr_system::{BindError, Limits, NodeEntry, Results, System, SystemError, SystemFile, Verdict};
use clap::Args;

use crate::device::{self, Wishes};
use crate::eeprom;
use crate::error::{InputError, InputErrorKind};
use crate::exit::Exit;
use crate::inputs::{IDENTITY, Inputs, Role};
use crate::job;
use crate::made::Made;
use crate::options::{ReportFile, ReportFormat, report_file};
use crate::output;
use crate::outputs::Outputs;
use crate::reports;
use crate::snippet::Marked;
use crate::specifications;

pub(crate) const HELP: &str = "\
Examples:
  avr-tvar verify-system pair.ron
  avr-tvar verify-system pair.ron --report html=pair.html --report junit=pair.xml

A system file names the firmware of each node, the wires between them, and properties of the whole:
  ( nodes: { \"a\": (firmware: \"a.elf\"), \"b\": (firmware: \"b.elf\") },
    wires: [ Uart(from: \"a\", to: \"b\"), Pin(from: \"b.PORTB.0\", to: \"a.PIND.2\") ],
    properties: [ Deadlock(), Never(\"a.PORTB.0 == 1 && b.PORTB.1 == 1\") ] )

Exit codes: 0 every property holds, 1 one is violated by a run of all nodes, 2 wrong usage or input, 3 one is unknown,
4 internal error.";

/// The arguments of `verify-system`.
#[derive(Clone, Debug, Args)]
pub struct VerifySystem {
    /// System file (RON) with nodes, wires and properties; paths in it are relative to it
    pub system: PathBuf,
    /// Format of the report on the standard output
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ReportFormat,
    /// Also write the report into a file in a format of its own, as in `html=report.html`; can be repeated
    #[arg(long, value_name = "FORMAT=FILE", value_parser = report_file)]
    pub report: Vec<ReportFile>,
    /// Give up a property after so many states of the system
    #[arg(long, value_name = "N", default_value_t = Limits::default().states)]
    pub states: usize,
    /// Take every step of a node by itself: local steps are not passed at once
    #[arg(long)]
    pub single_steps: bool,
}

/// A node with everything that was read for it.
struct Loaded {
    image: Image,
    device: &'static Device,
    file: PropertyFile,
    eeprom: BTreeMap<EepromAddress, u8>,
}

impl Loaded {
    fn setting(&self) -> Setting<'_> {
        let Self { image, device, file, eeprom } = self;
        Setting { image, device, start: None, file, eeprom }
    }
}

/// Verifies a system and reports about it.
///
/// # Errors
/// If a file cannot be read or is wrong.
pub(crate) fn run(arguments: &VerifySystem, mut inputs: Inputs) -> Result<Exit, InputError> {
    let input = inputs.read(Role::System, &arguments.system)?;
    let text = input.required_text()?;
    let name = Escaped(&input.name()).to_string();
    let wrong = |error: SystemError| -> InputError {
        let SystemError { problem, span, hint } = error;
        let marked = Marked { file: Some(name.clone()), text: text.to_owned(), span };
        InputErrorKind::InFile { marked, problem, hint }.into()
    };
    let file = SystemFile::parse(text).map_err(wrong)?;
    let folder = arguments.system.parent().unwrap_or(Path::new(""));
    let loaded = file.nodes.iter().map(|node| load(&mut inputs, folder, node)).collect::<Result<Vec<_>, _>>()?;
    let settings: Vec<Setting<'_>> = loaded.iter().map(Loaded::setting).collect();
    let specifications = file.specifications().map(|to| {
        let automaton = specifications::read(&mut inputs, &folder.join(&to.text))?;
        Ok((to.text.clone(), automaton))
    });
    let specifications = specifications.collect::<Result<BTreeMap<_, _>, InputError>>()?;
    let system = System::bind(&file, &settings, &specifications).map_err(|error| match error {
        BindError::System(error) => wrong(error),
        BindError::Node(error) => error.into(),
    })?;
    let outputs = Outputs::default().files("the report", arguments.report.iter().map(|report| &report.path));
    outputs.check(inputs.paths())?;
    let limits = Limits { states: arguments.states, single_steps: arguments.single_steps, ..Limits::default() };
    let results = system.verify(limits, &|| false);
    let nodes: Vec<SystemNode<'_>> =
        loaded.iter().map(|it| SystemNode { image: &it.image, device: it.device }).collect();
    let (made, listed) = (Made::now(), inputs.listed());
    let report = SystemReport {
        path: &input.name(),
        text,
        file: &file,
        nodes: &nodes,
        assumptions: &system.assumptions(),
        results: &results,
        origin: ReportOrigin {
            tool: IDENTITY,
            inputs: &listed,
            command: &made.command,
            date: &made.date,
            ..ReportOrigin::default()
        },
    };
    reports::write_system(&report, arguments.format, &arguments.report)?;
    Ok(exit(&results))
}

fn load(inputs: &mut Inputs, folder: &Path, node: &NodeEntry) -> Result<Loaded, InputError> {
    let properties = node.properties.as_ref().map(|path| folder.join(&path.text));
    let named = properties.as_deref().map(|path| job::read_properties(inputs, path)).transpose()?;
    let wished = node.device.as_ref().map(|device| device.text.as_str());
    let wishes = Wishes { device: wished, start: None, file: named.as_ref() };
    let (image, device) = device::load_from(inputs, &folder.join(&node.firmware.text), wishes)?;
    output::image_warnings(&image);
    let file = match named {
        Some(file) => file,
        None => PropertyFile::parse(&node.name.text, "()")?,
    };
    let eeprom = eeprom::content(inputs, &file, properties.as_deref(), device)?;
    Ok(Loaded { image, device, file, eeprom })
}

fn exit(results: &Results) -> Exit {
    let verdicts = || results.properties.iter().map(|result| &result.verdict);
    if verdicts().any(|verdict| matches!(verdict, Verdict::Violated(_))) {
        Exit::Violated
    } else if verdicts().any(|verdict| matches!(verdict, Verdict::Unknown(_))) {
        Exit::Unknown
    } else {
        Exit::Holds
    }
}
