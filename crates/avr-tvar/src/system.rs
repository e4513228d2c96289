//! The command `verify-system`: several nodes joined by wires.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use avr_image::{EepromAddress, Image};
use avr_machine::device::Device;
use avr_properties::{PropertyFile, Setting};
use avr_report::{Escaped, InputFile};
use avr_system::{BindError, Limits, NodeEntry, Results, Run, System, SystemError, SystemFile, Verdict};
use clap::Args;
use serde::Serialize;

use crate::device::{self, Wishes};
use crate::eeprom;
use crate::error::{InputError, InputErrorKind};
use crate::exit::Exit;
use crate::inputs::{Inputs, Role};
use crate::job;
use crate::options::Format;
use crate::output;
use crate::snippet::Marked;

pub(crate) const HELP: &str = "\
Examples:
  avr-tvar verify-system pair.ron
  avr-tvar verify-system pair.ron --format json

A system file names the firmware of each node, the wires between them, and properties of the whole:
  ( nodes: { \"a\": (firmware: \"a.elf\"), \"b\": (firmware: \"b.elf\") },
    wires: [ Uart(from: \"a\", to: \"b\"), Pin(from: \"b.PORTB.0\", to: \"a.PIND.2\") ],
    properties: [ Deadlock(), Never(\"a.PORTB.0 == 1 && b.PORTB.1 == 1\") ] )

Exit codes: 0 every property holds, 1 one is violated by a run of all nodes, 2 wrong usage or input, 3 one is unknown,
4 internal error.";

/// The most moments of a run that the text shows.
const SHOWN: usize = 40;

/// The arguments of `verify-system`.
#[derive(Clone, Debug, Args)]
pub struct VerifySystem {
    /// System file (RON) with nodes, wires and properties; paths in it are relative to it
    pub system: PathBuf,
    /// Format of the report on the standard output
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// Give up a property after so many states of the system
    #[arg(long, value_name = "N", default_value_t = Limits::default().states)]
    pub states: usize,
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
    let system = System::bind(&file, &settings).map_err(|error| match error {
        BindError::System(error) => wrong(error),
        BindError::Node(error) => error.into(),
    })?;
    let results = system.verify(Limits { states: arguments.states, ..Limits::default() }, &|| false);
    let report =
        Report { name: &name, file: &file, loaded: &loaded, assuming: system.assumptions(), results: &results };
    output::results(&match arguments.format {
        Format::Text => report.text(),
        Format::Json => report.json(&inputs.listed()),
    })?;
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

/// The report about a system.
struct Report<'a> {
    name: &'a str,
    file: &'a SystemFile,
    loaded: &'a [Loaded],
    assuming: Vec<String>,
    results: &'a Results,
}

/// The report as data. `docs/schema/system-1.json` describes it.
#[derive(Serialize)]
struct Data<'a> {
    schema: &'static str,
    system: &'a str,
    inputs: &'a [InputFile],
    nodes: Vec<NodeData<'a>>,
    properties: Vec<PropertyData<'a>>,
    assuming: &'a [String],
    steps: u64,
}

#[derive(Serialize)]
struct NodeData<'a> {
    name: &'a str,
    firmware: &'a str,
    device: &'a str,
    states: usize,
}

#[derive(Serialize)]
struct PropertyData<'a> {
    name: &'a str,
    kind: &'a str,
    verdict: &'static str,
    reason: Option<&'a str>,
    states: usize,
    run: Option<RunData<'a>>,
}

#[derive(Serialize)]
struct RunData<'a> {
    moments: Vec<MomentData<'a>>,
    steps: &'a [u64],
    schedule: &'a [(usize, u64)],
    last: &'a [String],
}

#[derive(Serialize)]
struct MomentData<'a> {
    node: Option<&'a str>,
    step: u64,
    pc: Option<u32>,
    text: &'a str,
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Violated(_) => "violated",
        Verdict::Unknown(_) => "unknown",
    }
}

impl Report<'_> {
    fn node(&self, number: usize) -> &str {
        self.file.nodes.get(number).map_or("", |node| &node.name.text)
    }

    fn run_data<'b>(&'b self, run: &'b Run) -> RunData<'b> {
        let moments = run.moments.iter().map(|moment| MomentData {
            node: moment.node.map(|node| self.node(node)),
            step: moment.step,
            pc: moment.pc,
            text: &moment.text,
        });
        RunData { moments: moments.collect(), steps: &run.steps, schedule: &run.schedule, last: &run.last }
    }

    fn json(&self, inputs: &[InputFile]) -> String {
        let nodes = self.file.nodes.iter().zip(self.loaded).zip(&self.results.node_states);
        let nodes = nodes.map(|((node, loaded), states)| NodeData {
            name: &node.name.text,
            firmware: &node.firmware.text,
            device: loaded.device.name,
            states: *states,
        });
        let properties = self.results.properties.iter().map(|result| PropertyData {
            name: &result.name,
            kind: result.kind,
            verdict: word(&result.verdict),
            reason: if let Verdict::Unknown(reason) = &result.verdict { Some(reason) } else { None },
            states: result.states,
            run: if let Verdict::Violated(it) = &result.verdict { Some(self.run_data(it)) } else { None },
        });
        let data = Data {
            schema: "avr-tvar/system/1",
            system: self.name,
            inputs,
            nodes: nodes.collect(),
            properties: properties.collect(),
            assuming: &self.assuming,
            steps: self.results.steps,
        };
        serde_json::to_string_pretty(&data).expect("texts and numbers are JSON") + "\n"
    }

    fn text(&self) -> String {
        let results = &self.results.properties;
        let count = |number: usize, one: &str| format!("{number} {one}{}", if number == 1 { "" } else { "s" });
        let (nodes, wires) = (count(self.file.nodes.len(), "node"), count(self.file.wires.len(), "wire"));
        let mut text = format!("{} ({nodes}, {wires})\n\n", self.name);
        let width = results.iter().map(|result| result.name.chars().count()).max().unwrap_or(0).max("property".len());
        text.push_str(&format!("verdict   {:width$}  {:>9}\n", "property", "states"));
        for result in results {
            let name = Escaped(&result.name).to_string();
            text.push_str(&format!("{:8}  {name:width$}  {:>9}\n", word(&result.verdict), result.states));
            match &result.verdict {
                Verdict::Holds => {}
                Verdict::Unknown(reason) => text.push_str(&format!("          because {}\n", Escaped(reason))),
                Verdict::Violated(run) => text.push_str(&self.run(run)),
            }
        }
        text.push('\n');
        for assumed in &self.assuming {
            text.push_str(&format!("assuming  {assumed}\n"));
        }
        let states = self.file.nodes.iter().zip(&self.results.node_states);
        let states: Vec<String> =
            states.map(|(node, states)| format!("{} has {}", node.name.text, count(*states, "state"))).collect();
        text.push_str(&format!("nodes     {}\n", states.join(", ")));
        let number = |wanted: &str| results.iter().filter(|result| word(&result.verdict) == wanted).count();
        let (holds, violated, unknown) = (number("holds"), number("violated"), number("unknown"));
        text + &format!("summary   {holds} hold, {violated} violated, {unknown} unknown\n")
    }

    fn run(&self, run: &Run) -> String {
        let steps: u64 = run.steps.iter().sum();
        let mut text = format!("          run of all nodes, {steps} steps, replayed:\n");
        let width = self.file.nodes.iter().map(|node| node.name.text.len()).max().unwrap_or(0).max(4);
        for moment in run.moments.iter().take(SHOWN) {
            let who = moment.node.map_or("line", |node| self.node(node));
            let at = moment.pc.map_or_else(String::new, |pc| format!(" at {pc:#06x}"));
            text.push_str(&format!("          {who:width$}{at} {}\n", Escaped(&moment.text)));
        }
        if run.moments.len() > SHOWN {
            text.push_str(&format!("          and {} more; --format json has all\n", run.moments.len() - SHOWN));
        }
        let last = run.last.iter().enumerate().map(|(node, place)| format!("{} is {place}", self.node(node)));
        text + &format!("          in the end {}\n", Escaped(&last.collect::<Vec<_>>().join(", ")))
    }
}
