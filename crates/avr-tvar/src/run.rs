//! The command `run`: the concrete simulator.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use avr_image::{EepromAddress, Image};
use avr_isa::DataAddress;
use avr_machine::device::{Device, ResetCause};
use avr_machine::simulator::{End, Limits, Simulator, Stimulus, StimulusError};
use avr_machine::{Hazard, Machine};
use avr_properties::{EnvironmentEvent, PropertyFile};
use avr_verify::Request;
use clap::Args;

use crate::device::{self, Wishes};
use crate::error::{InputError, InputErrorKind};
use crate::exit::Exit;
use crate::files;
use crate::inputs::{Inputs, Role};
use crate::job::read_properties;
use crate::options::{Format, device_help};
use crate::output;
use crate::outputs::Outputs;
use crate::values;

/// The trace is written in pieces of about so many bytes.
const PIECE_BYTES: usize = 1 << 16;

/// The text below the help.
pub(crate) const HELP: &str = "\
Without a stimulus, uninitialised memory is 0, pins are low and peripherals behave as the data sheet says.
Without --steps and --cycles, the run ends after 1,000,000 steps; a step is an instruction, the entry into an
interrupt handler, a reset or a cycle of sleep. It ends earlier before BREAK, before a hazard, and in a sleep that
nothing ends.

Examples:
  avr-tvar run firmware.elf --cycles 16000000         a second at 16 MHz
  avr-tvar run firmware.hex --stimulus buttons.ron --trace --steps 1000 --format json

Exit codes: 0 the run took place, 2 wrong usage or input, 4 internal error.";

/// The arguments of `run`.
#[derive(Clone, Debug, Args)]
pub struct Run {
    /// Firmware as ELF or Intel HEX; the content decides which
    pub firmware: PathBuf,
    /// The device; by default as the image says, else atmega328p
    #[arg(long, value_name = "NAME", long_help = device_help())]
    pub device: Option<String>,
    /// Byte address of the first instruction, for boot loaders
    #[arg(long, value_name = "ADDRESS", value_parser = values::address)]
    pub start: Option<u32>,
    /// End after this many steps
    #[arg(long, value_name = "N", conflicts_with = "cycles")]
    pub steps: Option<u64>,
    /// End at the first state that this many clock cycles have led to
    #[arg(long, value_name = "N")]
    pub cycles: Option<u64>,
    /// What comes from outside (RON): pin levels, received bytes, conversions, interrupts
    #[arg(long, value_name = "FILE")]
    pub stimulus: Option<PathBuf>,
    /// Property file whose fuses, assumptions, allowed and forbidden hazards count for this run as well
    #[arg(long, value_name = "FILE")]
    pub properties: Option<PathBuf>,
    /// Write all inputs of the run to a file that --stimulus takes, to repeat the run exactly
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Print a line of JSON for every step
    #[arg(long)]
    pub trace: bool,
    /// Format of the final state
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
}

/// Runs the firmware and prints the final state.
///
/// # Errors
/// If the command line or a file is wrong, or an exact stimulus asks for what is not possible.
pub(crate) fn run(arguments: &Run) -> Result<Exit, InputError> {
    let mut inputs = Inputs::default();
    let properties = arguments.properties.as_deref();
    let file = properties.map(|path| read_properties(&mut inputs, path)).transpose()?;
    let wishes = Wishes { device: arguments.device.as_deref(), start: arguments.start, file: file.as_ref() };
    let (image, device) = device::load_from(&mut inputs, &arguments.firmware, wishes)?;
    output::image_warnings(&image);
    let stimulus = arguments.stimulus.as_deref().map(|path| read_stimulus(&mut inputs, path, device)).transpose()?;
    let stimulus = stimulus.unwrap_or_default();
    Outputs::default().files("the record", &arguments.record).check(inputs.paths())?;
    let file = file.map_or_else(|| PropertyFile::parse("command line", "()"), Ok)?;
    let machine = machine(&image, device, (arguments.start, file), &stimulus)?;
    let mut simulator = Simulator::new(&machine, stimulus);
    if arguments.record.is_some() {
        simulator.record();
    }
    let end = simulate(&mut simulator, arguments)?;
    if let Some(path) = &arguments.record {
        record(&simulator, device, path)?;
    }
    if let (End::Impossible(happening), Some(path)) = (end, arguments.stimulus.as_deref()) {
        let input = inputs.read(Role::Stimulus, path)?;
        let text = input.required_text()?;
        let error = Stimulus::impossible(&input.name(), text, device, happening, simulator.steps());
        return Err(refused(error, text));
    }
    if let End::Limit(limit) = end {
        output::note(&format!("the run ends at what the simulator cannot do: {limit}"));
    }
    output::results(&match arguments.format {
        Format::Text => text(&simulator, end),
        Format::Json => json(&simulator, end) + "\n",
    })?;
    Ok(Exit::Holds)
}

fn read_stimulus(inputs: &mut Inputs, path: &Path, device: &'static Device) -> Result<Stimulus, InputError> {
    let input = inputs.read(Role::Stimulus, path)?;
    let text = input.required_text()?;
    Stimulus::parse(&input.name(), text, device).map_err(|error| refused(error, text))
}

/// The error of a stimulus file with this text.
fn refused(error: StimulusError, text: &str) -> InputError {
    InputErrorKind::Stimulus { error: Box::new(error), text: text.to_owned() }.into()
}

/// The machine that verification is about, with the resets that happen in the run.
fn machine(
    image: &Image,
    device: &'static Device,
    (start, mut file): (Option<u32>, PropertyFile),
    stimulus: &Stimulus,
) -> Result<Machine, InputError> {
    file.environment.extend(stimulus.resets().into_iter().filter_map(|cause| match cause {
        ResetCause::External => Some(EnvironmentEvent::Reset),
        ResetCause::BrownOut => Some(EnvironmentEvent::BrownOut),
        ResetCause::PowerOn | ResetCause::Watchdog => None,
    }));
    // The inputs are those of the stimulus, whatever a machine would do.
    file.machines.clear();
    let eeprom = eeprom(image, device, stimulus);
    let request = Request { start, eeprom: &eeprom, ..Request::of(image, device, &file) };
    Ok(avr_verify::machine(&request)?)
}

/// The content of the EEPROM that the image brings, where the stimulus does not say otherwise.
fn eeprom(image: &Image, device: &'static Device, stimulus: &Stimulus) -> BTreeMap<EepromAddress, u8> {
    let byte = |address: EepromAddress| {
        let value = image.eeprom.as_ref()?.byte(address)?;
        stimulus.eeprom(address, device).is_none().then_some((address, value))
    };
    (0..device.memory.eeprom_bytes).map(EepromAddress).filter_map(byte).collect()
}

fn record(simulator: &Simulator<'_>, device: &'static Device, path: &Path) -> Result<(), InputError> {
    let text = simulator.recorded().unwrap_or_default().exact_to_ron(device);
    files::save(path, |file| file.write_all(text.as_bytes()))
}

fn simulate(simulator: &mut Simulator<'_>, arguments: &Run) -> Result<End, InputError> {
    let limits = match (arguments.steps, arguments.cycles) {
        (None, None) => Limits::default(),
        (steps, cycles) => Limits { steps: steps.unwrap_or(u64::MAX), cycles: cycles.unwrap_or(u64::MAX) },
    };
    if arguments.trace { trace(simulator, limits) } else { Ok(simulator.run(limits)) }
}

/// Runs and prints every step.
fn trace(simulator: &mut Simulator<'_>, limits: Limits) -> Result<End, InputError> {
    let mut piece = String::new();
    let end = loop {
        if let Some(end) = simulator.reached(limits) {
            break end;
        }
        if let Err(end) = simulator.step() {
            break end;
        }
        add_step(&mut piece, simulator);
        if piece.len() >= PIECE_BYTES {
            output::results(&piece)?;
            piece.clear();
        }
    };
    output::results(&piece)?;
    Ok(end)
}

/// Adds the line of the last step: the state after it, and the cells that it changed. SP and SREG are not repeated
/// among the cells.
fn add_step(text: &mut String, simulator: &Simulator<'_>) {
    let state = State::of(simulator);
    put(text, format_args!("{{\"step\":{},\"cycle\":{},", simulator.steps(), simulator.cycles()));
    put(text, format_args!("\"pc\":{},\"sp\":{},\"sreg\":{},\"registers\":{{", state.pc, state.sp, state.sreg));
    let changes = simulator.changes();
    let (registers, memory): (Vec<_>, Vec<_>) =
        changes.into_iter().partition(|(address, _)| *address < DataAddress::IO);
    put_list(text, registers.iter().map(|(address, value)| format!("\"r{}\":{value}", address.0)));
    text.push_str("},\"memory\":{");
    let shown = |(address, _): &&(DataAddress, u8)| !state.elsewhere.contains(address);
    put_list(text, memory.iter().filter(shown).map(|(address, value)| format!("\"{address:#06x}\":{value}")));
    text.push_str("}}\n");
}

/// The parts of a state that have names of their own.
struct State {
    /// Flash byte address.
    pc: u32,
    sp: u16,
    sreg: u8,
    /// The places of SP and SREG among the cells.
    elsewhere: Vec<DataAddress>,
}

impl State {
    fn of(simulator: &Simulator<'_>) -> Self {
        let (machine, state) = (simulator.machine(), simulator.state());
        let stack_pointer = machine.stack_pointer();
        let status = machine.status_address();
        Self {
            pc: state.control.pc.byte().0,
            sp: stack_pointer.concrete(&state.data).0,
            sreg: *state.data.get(status),
            elsewhere: stack_pointer.cells().chain([status]).collect(),
        }
    }
}

/// The name of the reason why the run ended.
fn stopped(end: End) -> &'static str {
    match end {
        End::Steps => "steps",
        End::Cycles => "cycles",
        End::Break => "break",
        End::Asleep => "sleep",
        End::Hazard(_) => "hazard",
        End::Limit(_) | End::Impossible(_) => "limit",
    }
}

/// The final state as one JSON object without line breaks. Only numbers and names of our own are in it.
fn json(simulator: &Simulator<'_>, end: End) -> String {
    let state = State::of(simulator);
    let data = &simulator.state().data.cells()[..=simulator.machine().data_end().index()];
    let mut text = format!("{{\"steps\":{},\"cycles\":{},", simulator.steps(), simulator.cycles());
    put(&mut text, format_args!("\"pc\":{},\"sp\":{},\"sreg\":{},\"registers\":[", state.pc, state.sp, state.sreg));
    put_list(&mut text, data[..0x20].iter().map(u8::to_string));
    text.push_str("],\"data\":\"");
    data.iter().for_each(|byte| put(&mut text, format_args!("{byte:02x}")));
    put(&mut text, format_args!("\",\"stopped\":\"{}\",\"hazard\":", stopped(end)));
    match end {
        End::Hazard(hazard) => put_hazard(&mut text, hazard, state.pc),
        _ => text.push_str("null"),
    }
    text.push('}');
    text
}

fn put_hazard(text: &mut String, hazard: Hazard, pc: u32) {
    let address = hazard.address.map_or("null".to_owned(), |address| address.to_string());
    let (name, meaning) = (hazard.kind.name(), hazard.kind.meaning());
    let fields = format!("\"name\":\"{name}\",\"pc\":{pc},\"address\":{address},\"meaning\":\"{meaning}\"");
    put(text, format_args!("{{{fields}}}"));
}

/// The final state for people.
fn text(simulator: &Simulator<'_>, end: End) -> String {
    let state = State::of(simulator);
    let why = match end {
        End::Steps => "the limit of steps".to_owned(),
        End::Cycles => "the limit of cycles".to_owned(),
        End::Break => "BREAK".to_owned(),
        End::Asleep => "a sleep that nothing ends".to_owned(),
        End::Hazard(hazard) => format!("a hazard: {hazard}"),
        End::Limit(_) | End::Impossible(_) => "a limit of the simulator".to_owned(),
    };
    let mut text = format!("{} steps, {} cycles, until {why}\n", simulator.steps(), simulator.cycles());
    let flags = "ITHSVNZC".chars().zip((0..8).rev());
    let flags: String = flags.map(|(name, bit)| if state.sreg >> bit & 1 == 1 { name } else { '-' }).collect();
    put(&mut text, format_args!("PC {:#06x}   SP {:#06x}   SREG {flags}\n", state.pc, state.sp));
    for (row, registers) in simulator.state().data.cells()[..0x20].chunks(8).enumerate() {
        let bytes: Vec<String> = registers.iter().map(|byte| format!("{byte:02x}")).collect();
        put(&mut text, format_args!("r{:<2} {}\n", 8 * row, bytes.join(" ")));
    }
    let sent = simulator.sent();
    if !sent.is_empty() {
        put(&mut text, format_args!("USART sent {} bytes: \"{}\"\n", sent.len(), sent.escape_ascii()));
    }
    text
}

fn put(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = text.write_fmt(arguments);
}

fn put_list(text: &mut String, items: impl Iterator<Item = String>) {
    for (index, item) in items.enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(&item);
    }
}
