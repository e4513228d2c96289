//! The command `init`: a property file to begin with, with what a firmware tells of itself and what holds of it at present.

mod library;
mod spec;
mod stacks;
mod text;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use avr_image::{FlashByteAddress, FlashWordAddress, Image};
use avr_machine::device::Device;
use avr_machine::{Program, Survey};
use avr_verify::Results;
use clap::Args;

use crate::error::{InputError, InputErrorKind};
use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::job::{self, Ended, Job};
use crate::options::{self, Verify};
use crate::output;
use crate::values::{self, TimeLimit};
use library::is_library;

pub(crate) const HELP: &str = "\
Examples:
  avr-tvar init firmware.elf > firmware.ron
  avr-tvar init firmware.hex --device attiny85 --output firmware.ron
  avr-tvar init firmware.elf --spec --alphabet 'call(lock)' 'call(unlock)' > lock.spec.ron

The file asks for no hazard, whether that holds at present or not, and has what holds at present, proved: the stack bound, and
that the program can get back to its loops. What does not hold, or was not decided in time, is in it as a comment. Where the
program sets the stack pointer into a variable, that is in it as the stack of a task.

With --spec it is a specification file for `Conforms`: the sequences of these events that the firmware can show at present. A comment
says whether that is proved.";

/// The largest number of loops that get a property.
const MAX_LOOPS: usize = 4;

/// The arguments of `init`.
#[derive(Clone, Debug, Args)]
pub struct Init {
    /// Firmware as ELF or Intel HEX; the content decides which
    pub firmware: PathBuf,
    /// Write a specification file: the automaton of what the firmware does with the events of --alphabet
    #[arg(long, requires = "alphabet")]
    pub spec: bool,
    /// The events of the specification, as in 'write(PORTB)'; a mask chooses bits of the value, as in 'read(PINB) & 0x04'
    #[arg(long, value_name = "EVENT", num_args = 1.., requires = "spec")]
    pub alphabet: Vec<String>,
    /// Write into this file, which must not be there yet; else to the standard output
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The device; by default as the image says, else atmega328p
    #[arg(long, value_name = "NAME", long_help = options::device_help())]
    pub device: Option<String>,
    /// Byte address of the first instruction, for boot loaders
    #[arg(long, value_name = "ADDRESS", value_parser = values::address)]
    pub start: Option<u32>,
    /// How long to try to prove what is written: 500ms, 10s, 2m; a number alone counts seconds
    #[arg(long, value_name = "DURATION", value_parser = values::duration, default_value = "20s")]
    pub timeout: Duration,
    /// Number of threads; by default as many as there are processors
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
}

/// A loop of the program.
struct Loop {
    /// The name of its definition.
    name: String,
    /// Flash byte address of its first instruction.
    head: u32,
}

/// The facts that the file is made of.
struct Findings<'a> {
    arguments: &'a Init,
    image: &'a Image,
    device: &'static Device,
    survey: Survey,
    loops: Vec<Loop>,
    /// The stacks of tasks, as the property file names them.
    stacks: Vec<String>,
    /// The results of the inherent property and of getting back to each loop.
    results: &'a Results,
}

/// Looks at a firmware, proves what it can, and writes a property file.
///
/// # Errors
/// If the command line or a file is wrong.
pub(crate) fn run(arguments: &Init) -> Result<Exit, InputError> {
    if let Some(path) = arguments.output.as_ref().filter(|path| path.exists()) {
        return Err(InputErrorKind::Exists { path: path.display().to_string() }.into());
    }
    let verification = Verify {
        device: arguments.device.clone(),
        start: arguments.start,
        timeout: Some(TimeLimit::After(arguments.timeout)),
        jobs: arguments.jobs,
        ..Verify::of(arguments.firmware.clone(), None)
    };
    if arguments.spec {
        return spec::run(arguments, &verification);
    }
    let prepared = |job: &mut Job| {
        let loops = loops(&job.image, &survey(&job.image, job.device));
        let recoveries = loops.iter().map(|one| format!("Recovery(to: \"pc == {:#06x}\")", one.head));
        // The inherent property is there, because nothing else is.
        recoveries.map(|text| job.add_property(&text)).collect::<Result<Vec<()>, _>>().map(|_| ())
    };
    let found = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&found);
    let work = move |job: &Job, sender: &Sender<_>| {
        let note = |stack: &str| noted.lock().unwrap_or_else(PoisonError::into_inner).push(stack.to_owned());
        // Nobody listens any more when the last moment has passed.
        let _ = sender.send(stacks::verified(job, &note));
    };
    let (job, ended) = job::perform_with(&verification, Inputs::default(), prepared, work)?;
    let results = match ended {
        Ended::Done(work) => work?,
        Ended::GivenUp(limit) => job.given_up(limit),
        Ended::Failed => return Ok(Exit::Internal),
    };
    if results.interrupted {
        return Ok(Exit::Interrupted);
    }
    let survey = survey(&job.image, job.device);
    let loops = loops(&job.image, &survey);
    let stacks = found.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let findings =
        Findings { arguments, image: &job.image, device: job.device, survey, loops, stacks, results: &results };
    write(arguments, &findings.text())?;
    Ok(Exit::Holds)
}

/// Writes the text where it is to go.
fn write(arguments: &Init, text: &str) -> Result<(), InputError> {
    match &arguments.output {
        Some(path) => crate::files::save(path, |file| file.write_all(text.as_bytes())),
        None => output::results(text),
    }
}

fn survey(image: &Image, device: &Device) -> Survey {
    let word = |address: u32| image.program.word(FlashWordAddress(address));
    Survey::of(&Program::decode(device.memory.flash_words(), device.core.features, word))
}

/// The loops without a condition, those in `main` and `loop` first; code of libraries has none that matter. Copies of an
/// inlined loop are one: the first of each source line.
fn loops(image: &Image, survey: &Survey) -> Vec<Loop> {
    let function = |head: u32| {
        let located = image.symbols.function_at(FlashByteAddress(head));
        located.map(|located| located.symbol.base_name().to_owned())
    };
    let endless = survey.loop_heads.iter().filter(|(_, endless)| **endless).map(|(head, _)| head.byte().0);
    let named = endless.map(|head| (function(head), head));
    let is_own = |name: &Option<String>, head| {
        name.as_ref().is_none_or(|name| !name.starts_with(['_', '.'])) && !is_library(image, FlashByteAddress(head))
    };
    let own = named.filter(|(name, head)| is_own(name, *head));
    let mut all: Vec<(bool, u32, Option<String>)> = own
        .map(|(name, head)| (!name.as_deref().is_some_and(|name| matches!(name, "main" | "loop")), head, name))
        .collect();
    all.sort();
    let plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let mut lines = BTreeSet::new();
    let line = |head: u32| image.source_line(FlashByteAddress(head)).map(|line| (line.file.to_owned(), line.line));
    all.retain(|(_, head, _)| line(*head).is_none_or(|line| lines.insert(line)));
    let mut loops: Vec<Loop> = Vec::new();
    for (_, head, function) in all.into_iter().take(MAX_LOOPS) {
        let function = function.filter(|name| plain(name)).unwrap_or_else(|| "code".to_owned());
        loops.push(Loop { name: format!("loop_in_{function}_at_{head:04x}"), head });
    }
    loops
}
