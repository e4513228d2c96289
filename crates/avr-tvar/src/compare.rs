//! The command `compare`: whether a firmware shows nothing that an older one does not show.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use avr_properties::PropertyError;
use avr_report::Detail;
use avr_verify::{
    Alphabet, Compared, Comparison, Culprit, Exhausted, Request, Results, Unknown, compare, conformance, events,
};
use clap::Args;

use crate::error::InputError;
use crate::exit::Exit;
use crate::inputs::{Inputs, Role};
use crate::job::{self, Ended, Job};
use crate::options::{self, ReportFile, ReportFormat, Verify};
use crate::output;
use crate::values::{self, DEFAULT_TIME, TimeLimit};
use crate::verify;

pub(crate) const HELP: &str = "\
Examples:
  avr-tvar compare old.elf new.elf --alphabet 'write(PORTB)'
  avr-tvar compare old.elf new.elf --alphabet 'read(PINB) & 0x04' 'write(PORTB)' 'write(PORTD)'
  avr-tvar compare old.elf new.elf firmware.ron --alphabet 'call(lock)' 'call(unlock)'

Every sequence of these events that the new firmware can show must be one that the old firmware can show. Inputs are free unless
reads of them are events. The other direction is a comparison of its own.

Exit codes: 0 nothing new can be shown, 1 something new is shown by a run, 2 wrong usage or input, 3 neither was proved,
4 internal error or failed self-check, 130 interrupted.";

/// The arguments of `compare`.
#[derive(Clone, Debug, Args)]
pub struct Compare {
    /// Firmware that is the specification, as ELF or Intel HEX
    pub old: PathBuf,
    /// Firmware that is to show nothing else, as ELF or Intel HEX
    pub new: PathBuf,
    /// Property file (RON) whose settings count for both: device, assumptions, environment, fuses; its properties are not checked
    pub properties: Option<PathBuf>,
    /// The events that are seen, as in 'write(PORTB)'; a mask chooses bits of the value, as in 'read(PINB) & 0x04'
    #[arg(long, value_name = "EVENT", required = true, num_args = 1..)]
    pub alphabet: Vec<String>,
    /// The device; by default as the property file or the image says, else atmega328p
    #[arg(long, value_name = "NAME", long_help = options::device_help())]
    pub device: Option<String>,
    /// Accept only verdicts about the hardware: those that rest on the model alone are unknown
    #[arg(long)]
    pub strict: bool,
    /// Format of the report on the standard output
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ReportFormat,
    /// Also write the report into a file in a format of its own, as in `json=report.json`; can be repeated
    #[arg(long, value_name = "FORMAT=FILE", value_parser = options::report_file)]
    pub report: Vec<ReportFile>,
    /// The clock of the processor, as in 16MHz: reports show times instead of clock cycles
    #[arg(long, value_name = "FREQUENCY", value_parser = values::frequency)]
    pub clock: Option<NonZeroU32>,
    /// Look for the sources of the new firmware here, for reports that show them; can be repeated
    #[arg(long, value_name = "DIR")]
    pub source: Vec<PathBuf>,
    /// Write the run that shows a difference into this directory, to be replayed by this tool or by simavr
    #[arg(long, value_name = "DIR")]
    pub evidence: Option<PathBuf>,
    /// Give up after this time: 500ms, 10s, 2m; a number alone counts seconds; none for no limit [default: 60s]
    #[arg(long, value_name = "DURATION", value_parser = values::time_limit)]
    pub timeout: Option<TimeLimit>,
    /// Give up before more memory than this is taken: 512M, 2G
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub memory: Option<usize>,
    /// Number of threads; by default as many as there are processors
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
}

impl Compare {
    /// The verification of the new firmware.
    fn of_new(&self) -> Verify {
        Verify {
            strict: self.strict,
            format: self.format,
            report: self.report.clone(),
            clock: self.clock,
            source: self.source.clone(),
            evidence: self.evidence.clone(),
            ..self.of(self.new.clone())
        }
    }

    fn of(&self, firmware: PathBuf) -> Verify {
        Verify {
            allow_empty: true,
            device: self.device.clone(),
            timeout: self.timeout,
            memory: self.memory,
            jobs: self.jobs,
            ..Verify::of(firmware, self.properties.clone())
        }
    }

    /// The time that all of it may take, a little less than that after which it is given up.
    fn time(&self) -> Option<Duration> {
        match self.timeout {
            Some(TimeLimit::Never) => None,
            Some(TimeLimit::After(time)) => Some(time * 9 / 10),
            None => Some(DEFAULT_TIME * 9 / 10),
        }
    }
}

/// Compares two images and reports about the new one.
///
/// # Errors
/// If the command line or a file is wrong.
pub(crate) fn run(arguments: &Compare, mut inputs: Inputs) -> Result<Exit, InputError> {
    let started = Instant::now();
    let name = arguments.old.display().to_string();
    inputs.read(Role::Specification, &arguments.old)?;
    let (of_old, of_new) = (arguments.of(arguments.old.clone()), arguments.of_new());
    let mut job = job::configure(&of_new, inputs.clone(), started)?;
    let old = job::configure(&of_old, inputs, started)?;
    let alphabet = events(&arguments.alphabet, &[&old.request(), &job.request()])?;
    job.file.properties = vec![conformance(&name, &alphabet, None)];
    job.finds = false;
    let job = Arc::new(job);
    [&old, &job].into_iter().for_each(|job| output::image_warnings(&job.image));
    job::handle_interrupts(&job);
    let (time, title, seen) = (arguments.time(), name.clone(), alphabet.clone());
    let work = job::start(&job, arguments.jobs, move |job, sender: &Sender<Result<Compared, PropertyError>>| {
        // Nobody listens any more when the last moment has passed.
        let _ = sender.send(compared((&old, job), &title, &seen, time));
    })?;
    let (mut results, specification) = match job::watch(&job, &work) {
        Ended::Done(compared) => match compared? {
            Compared::Results(results, automaton) => {
                let property = conformance(&name, &alphabet, Some(automaton));
                (*results, Some(job.specification_of(vec![property])?))
            }
            Compared::Nothing(reason) => (job.undecided(Unknown::because(reason)), None),
        },
        Ended::GivenUp(limit) => (given_up(&job, limit, &name), None),
        Ended::Failed => return Ok(Exit::Internal),
    };
    results.interrupted |= job.monitor.is_interrupted();
    if arguments.strict {
        results = results.strict();
    }
    verify::report_about(&job, specification.as_ref(), &results, (&of_new, Detail::Verdicts))?;
    Ok(Exit::of(&results, &[]))
}

/// The outcome of the comparison, within the limits of the new job.
fn compared(
    (old, new): (&Job, &Job),
    name: &str,
    alphabet: &Alphabet,
    time: Option<Duration>,
) -> Result<Compared, PropertyError> {
    let old = Request { watch: &new.monitor, known: None, ..old.request() };
    let new = Request { known: None, ..new.request() };
    compare(&Comparison { old, new, name, alphabet, time })
}

/// The results when the work did not come to an end in time.
fn given_up(job: &Job, limit: Exhausted, name: &str) -> Results {
    let reason = format!("{limit} while it was compared with {name}");
    let culprit = Culprit::of_limit(limit, "the work was given up".to_owned(), job.monitor.progress().refinements);
    let unknown = Unknown { culprit: Some(Box::new(culprit)), ..Unknown::because(reason) };
    Results { interrupted: limit == Exhausted::Interrupted, ..job.undecided(unknown) }
}
