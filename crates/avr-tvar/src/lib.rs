//! The command line of the verifier: arguments, limits, progress and exit codes.
//!
//! A run goes through three stages. [`arguments`] has the command line as it was typed. A configuration is its meaning
//! once files are read and contradictions excluded. Then a command does its work with it. Nothing is verified or
//! rendered here. Results go to the standard output, everything else to the error output.
#![forbid(unsafe_code)]

pub mod arguments;
mod attached;
mod baseline;
mod batch;
mod certificate;
mod check;
mod compare;
mod completions;
mod configuration;
mod confirm;
mod contract;
mod device;
mod disasm;
mod eeprom;
mod error;
mod evidence;
mod exit;
mod explain;
mod files;
mod graph;
mod init;
mod inputs;
mod job;
mod lsp;
mod made;
mod memory;
mod monitor;
mod options;
mod output;
mod outputs;
mod progress;
mod props;
mod reports;
mod run;
mod snippet;
mod sources;
mod specifications;
mod stack;
mod system;
mod values;
mod verify;
mod watch;

use std::ffi::OsString;
use std::panic;

use avr_machine::device::Device;
use clap::{ArgMatches, CommandFactory};

use arguments::{Arguments, Command};
pub use error::{InputError, InputErrorKind};
pub use exit::Exit;
use inputs::Inputs;
pub use options::ReportFile;

/// Runs a command line, the name of the program first, and says how it ended.
pub fn run<I, T>(arguments: I) -> Exit
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    panic::set_hook(Box::new(|panic| output::internal_error(&panic.to_string())));
    let line: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    if arguments::asks_for_devices(&line) {
        let names: String = Device::names().flat_map(|name| [name, "\n"]).collect();
        return end(output::results(&names).map(|()| Exit::Holds));
    }
    let mut inputs = Inputs::default();
    match read(&line, &mut inputs) {
        // The hook has told about a panic already.
        Ok(arguments) => panic::catch_unwind(|| execute(&arguments, inputs, &line)).unwrap_or(Exit::Internal),
        Err(Refusal::Usage(error)) => {
            if let Some(colour) = arguments::wished_colour(&line) {
                output::configure(colour, false);
            }
            // A closed output leaves nobody to tell.
            let _ = error.print();
            if error.use_stderr() { Exit::Input } else { Exit::Holds }
        }
        Err(Refusal::Input(error)) => end(Err(error)),
    }
}

/// A command line that cannot be run.
enum Refusal {
    /// It is none, or asks for help.
    Usage(clap::Error),
    /// The file with defaults is wrong.
    Input(InputError),
}

impl From<clap::Error> for Refusal {
    fn from(error: clap::Error) -> Self {
        Self::Usage(error)
    }
}

/// The arguments of a command line, with the defaults of a file.
fn read(line: &[OsString], inputs: &mut Inputs) -> Result<Arguments, Refusal> {
    let (typed, matches) = Arguments::read_with(line, ArgMatches::clone)?;
    output::configure(typed.color, typed.quiet);
    if typed.no_config {
        return Ok(typed);
    }
    let configuration = configuration::read(inputs, typed.config.as_deref()).map_err(Refusal::Input)?;
    let Some(configuration) = configuration else { return Ok(typed) };
    let completed = Arguments::read(&configuration.complete(line, &matches));
    let mut arguments =
        completed.map_err(|error| configuration.blamed(&error).map_or(Refusal::Usage(error), Refusal::Input))?;
    output::configure(arguments.color, arguments.quiet);
    if let (Command::Explain(explain), Command::Explain(typed)) = (&mut arguments.command, typed.command) {
        explain.typed = Some(Box::new(typed.verify));
    }
    Ok(arguments)
}

fn execute(arguments: &Arguments, inputs: Inputs, line: &[OsString]) -> Exit {
    if let Some(verify) = arguments.watched() {
        let configuration = inputs.paths().next();
        return end(watch::run(verify, configuration, line));
    }
    end(match &arguments.command {
        Command::Verify(arguments) => verify::run(arguments, inputs),
        Command::Check(arguments) => check::run(arguments),
        Command::VerifyAll(arguments) => batch::verify_all(arguments),
        Command::Merge(arguments) => batch::merge(arguments),
        Command::Explain(arguments) => explain::run(arguments, inputs),
        Command::Compare(arguments) => compare::run(arguments, inputs),
        Command::VerifySystem(arguments) => system::run(arguments, inputs),
        Command::Contract(arguments) => contract::run(arguments, inputs),
        Command::Graph(arguments) => graph::run(arguments),
        Command::Init(arguments) => init::run(arguments),
        Command::Props(arguments) => props::run(arguments),
        Command::Completions(arguments) => completions::completions(arguments, Arguments::command()),
        Command::Man(arguments) => completions::man(arguments, Arguments::command()),
        Command::Lsp(arguments) => lsp::run(arguments),
        Command::Disasm(arguments) => disasm::run(arguments),
        Command::Run(arguments) => run::run(arguments),
        Command::Stack(arguments) => stack::run(arguments),
    })
}

/// The end of a command; tells what was wrong.
fn end(result: Result<Exit, InputError>) -> Exit {
    result.unwrap_or_else(|error| {
        output::input_error(&error);
        Exit::Input
    })
}
