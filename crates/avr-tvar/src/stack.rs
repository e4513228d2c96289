//! The command `stack`.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use avr_properties::PropertyFile;
use avr_report::{Report, StackReport};
use avr_verify::{
    DEFAULT_ENUMERATED, EarlyResults, Exhausted, Fit, Reductions, Results, Strategy, WorstCase, worst_case,
};
use clap::Args;

use crate::device::{self, Wishes};
use crate::eeprom;
use crate::error::InputError;
use crate::evidence;
use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::job::{self, Ended, Job};
use crate::memory;
use crate::monitor::{Limits, Monitor};
use crate::options::{Format, device_help};
use crate::output;
use crate::outputs::Outputs;
use crate::values::{self, TimeLimit};

/// The text below the help.
pub(crate) const HELP: &str = "\
The last line sums it up: stack: fits, lower 35, upper 35, room 2039, free 2004
Some run needs `lower` bytes, none needs more than `upper`; a hyphen stands for what is not known.

Exit codes: 0 fits, 1 overflows, 2 wrong usage or input, 3 unknown, 4 internal error or failed self-check,
130 interrupted.";

/// The arguments of `stack`.
#[derive(Clone, Debug, Args)]
pub struct Stack {
    /// Firmware as ELF or Intel HEX; the content decides which
    pub firmware: PathBuf,
    /// Property file (RON) with assumptions, fuses and the like; its properties do not matter here
    pub properties: Option<PathBuf>,
    /// How many bytes must stay free between the stack and static data
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub margin: u32,
    /// The device; by default as the property file or the image says, else atmega328p
    #[arg(long, value_name = "NAME", long_help = device_help())]
    pub device: Option<String>,
    /// Byte address of the first instruction, for boot loaders
    #[arg(long, value_name = "ADDRESS", value_parser = values::address)]
    pub start: Option<u32>,
    /// Format of the report
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// Accept only runs that the hardware can take: what rests on the model alone shows nothing
    #[arg(long)]
    pub strict: bool,
    /// Write the run into this directory, to be replayed by this tool or by simavr
    #[arg(long, value_name = "DIR")]
    pub evidence: Option<PathBuf>,
    /// The system clock, for the times in the files of --evidence: 16MHz, 8M, 32.768kHz [default: 16MHz]
    #[arg(long, value_name = "FREQUENCY", value_parser = values::frequency, requires = "evidence")]
    pub clock: Option<NonZeroU32>,
    /// Give up after this time: 500ms, 10s, 2m; a number alone counts seconds; none for no limit [default: 60s]
    #[arg(long, value_name = "DURATION", value_parser = values::time_limit)]
    pub timeout: Option<TimeLimit>,
    /// Give up before more memory than this is taken: 512M, 2G
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub memory: Option<usize>,
    /// Number of threads; by default as many as there are processors
    #[arg(long, value_name = "N")]
    pub jobs: Option<std::num::NonZeroUsize>,
}

/// Finds the worst-case stack of the firmware and reports it.
///
/// # Errors
/// If the command line or a file is wrong.
pub(crate) fn run(arguments: &Stack) -> Result<Exit, InputError> {
    let job = Arc::new(configure(arguments, Instant::now())?);
    output::image_warnings(&job.image);
    job::handle_interrupts(&job);
    let margin = arguments.margin;
    let latest = Arc::new(Mutex::new(None));
    let learned = Arc::clone(&latest);
    let work = job::start(&job, arguments.jobs, move |job, sender| {
        let found = worst_case(&job.request(), margin, &|found: &WorstCase| {
            if let Ok(mut latest) = learned.lock() {
                *latest = Some(found.clone());
            }
        });
        // Nobody listens any more when the last moment has passed.
        let _ = sender.send(found);
    })?;
    let mut found = match job::watch(&job, &work) {
        Ended::Done(found) => found?,
        Ended::GivenUp(limit) => {
            let latest = latest.lock().ok().and_then(|mut latest| latest.take());
            given_up(&job, margin, latest, limit)
        }
        Ended::Failed => return Ok(Exit::Internal),
    };
    found.interrupted |= job.monitor.is_interrupted();
    if arguments.strict {
        found = found.strict();
    }
    report(&job, &found, arguments)?;
    Ok(exit(&found))
}

fn report(job: &Job, found: &WorstCase, arguments: &Stack) -> Result<(), InputError> {
    let peak_memory_bytes = memory::peak() as u64;
    let stopped_by = job.monitor.stopped_by();
    let machine = avr_verify::machine(&job.request())?;
    let report = StackReport {
        image: &job.image,
        device: job.device,
        machine: Some(&machine),
        worst_case: found,
        stopped_by,
        peak_memory_bytes,
    };
    output::results(&match arguments.format {
        Format::Text => report.text(),
        Format::Json => report.json(),
    })?;
    match &arguments.evidence {
        Some(directory) => write_evidence(job, found, directory, arguments.clock),
        None => Ok(()),
    }
}

/// Writes the run as that of the property that it violates.
fn write_evidence(job: &Job, found: &WorstCase, directory: &Path, clock: Option<NonZeroU32>) -> Result<(), InputError> {
    let Some(violation) = found.violation(&job.request())? else {
        output::note("no run is known that could be written as evidence");
        return Ok(());
    };
    let results = Results {
        properties: vec![violation],
        findings: Vec::new(),
        stack: found.bound,
        stacks: Vec::new(),
        survey: None,
        assumptions: found.assumptions.clone(),
        ended_paths: std::collections::BTreeMap::new(),
        interrupted: found.interrupted,
        passes: 0,
        last_pass: Duration::ZERO,
        exploration: None,
        invariants: None,
        contracts: Vec::new(),
    };
    let inputs = job.inputs.listed();
    let machine = avr_verify::machine(&job.request())?;
    let report = Report {
        image: &job.image,
        device: job.device.name,
        results: &results,
        specification: None,
        stopped_by: job.monitor.stopped_by(),
        peak_memory_bytes: memory::peak() as u64,
        machine: Some(&machine),
        baseline: None,
        origin: job.origin(&inputs),
    };
    evidence::write(directory, &report, &machine, clock)
}

fn configure(arguments: &Stack, started: Instant) -> Result<Job, InputError> {
    let mut inputs = Inputs::default();
    let properties = arguments.properties.as_deref();
    let named = properties.map(|path| job::read_properties(&mut inputs, path)).transpose()?;
    let wishes = Wishes { device: arguments.device.as_deref(), start: arguments.start, file: named.as_ref() };
    let (image, device) = device::load_from(&mut inputs, &arguments.firmware, wishes)?;
    let file = named.map_or_else(|| PropertyFile::parse("command line", "()"), Ok)?;
    let eeprom = eeprom::content(&mut inputs, &file, properties, device)?;
    Outputs::default().evidence(arguments.evidence.as_ref()).check(inputs.paths())?;
    Ok(Job {
        eeprom,
        inputs,
        sources: Vec::new(),
        image,
        device,
        file,
        start: arguments.start,
        strategy: Strategy::default(),
        reductions: Reductions::ALL,
        facts: true,
        predicates: true,
        enumerated: DEFAULT_ENUMERATED,
        invariants: true,
        strict: arguments.strict,
        text: None,
        baseline: None,
        monitor: Monitor::new(started, Limits::chosen(arguments.timeout, arguments.memory)),
        known: EarlyResults::default(),
        finds: false,
    })
}

/// The result when the work went on beyond a limit.
fn given_up(job: &Job, margin: u32, latest: Option<WorstCase>, limit: Exhausted) -> WorstCase {
    let reason = job.reason(limit);
    let is_interrupted = limit == Exhausted::Interrupted;
    match latest {
        Some(latest) => WorstCase { reasons: vec![reason], interrupted: is_interrupted, ..latest },
        None => WorstCase::given_up(&job.request(), margin, reason, is_interrupted),
    }
}

fn exit(found: &WorstCase) -> Exit {
    match found.fit {
        _ if found.self_check_failed => Exit::Internal,
        _ if found.interrupted => Exit::Interrupted,
        Fit::Overflows => Exit::Violated,
        Fit::Unknown => Exit::Unknown,
        Fit::Fits => Exit::Holds,
    }
}
