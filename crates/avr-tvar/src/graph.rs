//! The command `graph`: the abstract state space as DOT.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use avr_image::{FlashByteAddress, FlashWordAddress, Image};
use avr_properties::code_at;
use avr_report::{DotStyle, Fold, dot, specification_dot};
use avr_verify::Strategy;
use clap::{Args, ValueEnum};

use crate::error::{InputError, InputErrorKind};
use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::job::{self, Ended, Job};
use crate::options::{self, Verify};
use crate::output;
use crate::specifications;
use crate::values::{self, TimeLimit};

/// The time to wait for the graph after a limit has ended the exploration.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const HELP: &str = "\
Examples:
  avr-tvar graph firmware.elf --property 'AG (PORTB < 4)' | dot -Tsvg > states.svg
  avr-tvar graph firmware.elf firmware.ron --fold functions
  avr-tvar graph firmware.elf firmware.ron --around main.c:12
  avr-tvar graph protocol.spec.ron | dot -Tsvg > protocol.svg

The graph is that of the first property without an answer, or else of the first property.
Exit codes: 0 a graph was written, 2 wrong usage or input, 3 there is no graph, 4 internal error, 130 interrupted.";

/// The arguments of `graph`.
#[derive(Clone, Debug, Args)]
pub struct Graph {
    /// Firmware as ELF or Intel HEX, the content decides which; or a specification file (`.ron`)
    pub firmware: PathBuf,
    /// Property file (RON); without any property, the inherent one is checked
    pub properties: Option<PathBuf>,
    /// A property more: an entry as in a property file, or a formula; can be repeated
    #[arg(long = "property", value_name = "TEXT")]
    pub property: Vec<String>,
    /// Accept a property file whose list of properties is empty: then there is no graph
    #[arg(long)]
    pub allow_empty: bool,
    /// What a node of the graph stands for
    #[arg(long, value_name = "WHAT", default_value = "auto")]
    pub fold: By,
    /// How many nodes a graph has at most before it is folded
    #[arg(long, value_name = "N", default_value = "150")]
    pub nodes: NonZeroUsize,
    /// Draw only what is at this place and next to it: a function, a label, a line as in main.c:12, or a byte address
    #[arg(long, value_name = "LOCATION")]
    pub around: Option<String>,
    /// The device; by default as the property file or the image says, else atmega328p
    #[arg(long, value_name = "NAME", long_help = options::device_help())]
    pub device: Option<String>,
    /// Byte address of the first instruction, for boot loaders
    #[arg(long, value_name = "ADDRESS", value_parser = values::address)]
    pub start: Option<u32>,
    /// How the analysis starts
    #[arg(
        long,
        value_name = "NAME",
        default_value = Strategy::default().name(),
        value_parser = options::strategies(),
        help_heading = options::EXPERT
    )]
    pub strategy: Strategy,
    /// Draw what there is after this time: 500ms, 10s, 2m; a number alone counts seconds; none for no limit [default: 60s]
    #[arg(long, value_name = "DURATION", value_parser = values::time_limit)]
    pub timeout: Option<TimeLimit>,
    /// Draw what there is before more memory than this is taken: 512M, 2G
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub memory: Option<usize>,
    /// Number of threads; by default as many as there are processors
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
}

/// The unit that a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// States, or basic blocks if there are too many, or functions.
    Auto,
    /// A state.
    States,
    /// A basic block.
    Blocks,
    /// A function.
    Functions,
}

impl From<By> for Fold {
    fn from(by: By) -> Self {
        match by {
            By::Auto => Self::Auto,
            By::States => Self::States,
            By::Blocks => Self::Blocks,
            By::Functions => Self::Functions,
        }
    }
}

impl Graph {
    /// The verification whose state space is drawn.
    fn verification(&self) -> Verify {
        Verify {
            property: self.property.clone(),
            allow_empty: self.allow_empty,
            device: self.device.clone(),
            start: self.start,
            strategy: self.strategy,
            timeout: self.timeout,
            memory: self.memory,
            jobs: self.jobs,
            ..Verify::of(self.firmware.clone(), self.properties.clone())
        }
    }
}

/// The code at a place that the command line names.
fn place(image: &Image, at: &str) -> Result<BTreeSet<FlashWordAddress>, InputError> {
    let address = values::address(at).ok().filter(|_| at.starts_with(|first: char| first.is_ascii_digit()));
    let places = address.map_or_else(|| code_at(image, at), |byte| BTreeSet::from([FlashByteAddress(byte).word()]));
    if places.is_empty() {
        return Err(InputErrorKind::NoCode { place: at.to_owned(), nearest: image.symbols.nearest(at) }.into());
    }
    Ok(places)
}

/// Prints a specification.
fn specification(arguments: &Graph) -> Result<Exit, InputError> {
    if arguments.properties.is_some() || !arguments.property.is_empty() || arguments.around.is_some() {
        return Err(InputErrorKind::GraphOfSpecification { path: arguments.firmware.display().to_string() }.into());
    }
    let automaton = specifications::read(&mut Inputs::default(), &arguments.firmware)?;
    output::results(&specification_dot(&automaton))?;
    Ok(Exit::Holds)
}

/// Verifies and prints the state space.
///
/// # Errors
/// If the command line or a file is wrong.
pub(crate) fn run(arguments: &Graph) -> Result<Exit, InputError> {
    if arguments.firmware.extension().is_some_and(|extension| extension == "ron") {
        return specification(arguments);
    }
    let patient = |job: &mut Job| {
        job.wait_for_results(PATIENCE);
        Ok(())
    };
    let (job, ended) = job::perform_with(&arguments.verification(), Inputs::default(), patient, |job, sender| {
        // Nobody listens any more when the last moment has passed.
        let _ = sender.send(avr_verify::graph(&job.request()));
    })?;
    let (results, graph) = match ended {
        Ended::Done(work) => work?,
        Ended::GivenUp(limit) => return Err(InputErrorKind::NoGraph { reason: limit.to_string() }.into()),
        Ended::Failed => return Ok(Exit::Internal),
    };
    let Some(graph) = graph else {
        output::note("no property could be checked, so there is no graph");
        return Ok(Exit::Unknown);
    };
    let result = &results.properties[graph.property];
    let around = arguments.around.as_deref().map(|at| place(&job.image, at)).transpose()?;
    let has_code = |places: &BTreeSet<FlashWordAddress>| {
        graph.nodes.iter().filter_map(|node| node.pc).any(|pc| places.contains(&FlashByteAddress(pc).word()))
    };
    if let Some(at) = arguments.around.as_ref().filter(|_| around.as_ref().is_some_and(|places| !has_code(places))) {
        output::note(&format!("no state of the graph is at {at}"));
    }
    let style = DotStyle { fold: arguments.fold.into(), most: arguments.nodes.get(), around };
    output::results(&dot(&graph, result, (&job.image, job.device), &style))?;
    Ok(if job.is_interrupted() { Exit::Interrupted } else { Exit::Holds })
}
