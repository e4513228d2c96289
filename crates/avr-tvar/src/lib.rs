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
mod completions;
mod confirm;
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
mod sources;
mod stack;
mod values;
mod verify;

use std::ffi::OsString;
use std::panic;

use clap::CommandFactory;

use arguments::{Arguments, Command};
pub use error::{InputError, InputErrorKind};
pub use exit::Exit;
pub use options::ReportFile;

/// Runs a command line, the name of the program first, and says how it ended.
pub fn run<I, T>(arguments: I) -> Exit
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    panic::set_hook(Box::new(|panic| output::internal_error(&panic.to_string())));
    let arguments = match Arguments::read(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // A closed output leaves nobody to tell.
            let _ = error.print();
            return if error.use_stderr() { Exit::Input } else { Exit::Holds };
        }
    };
    // The hook has told about a panic already.
    panic::catch_unwind(|| execute(&arguments)).unwrap_or(Exit::Internal)
}

fn execute(arguments: &Arguments) -> Exit {
    let result = match &arguments.command {
        Command::Verify(arguments) => verify::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::VerifyAll(arguments) => batch::verify_all(arguments),
        Command::Merge(arguments) => batch::merge(arguments),
        Command::Explain(arguments) => explain::run(arguments),
        Command::Graph(arguments) => graph::run(arguments),
        Command::Init(arguments) => init::run(arguments),
        Command::Props(arguments) => props::run(arguments),
        Command::Completions(arguments) => completions::completions(arguments, Arguments::command()),
        Command::Man(arguments) => completions::man(arguments, Arguments::command()),
        Command::Disasm(arguments) => disasm::run(arguments),
        Command::Run(arguments) => run::run(arguments),
        Command::Stack(arguments) => stack::run(arguments),
    };
    result.unwrap_or_else(|error| {
        output::input_error(&error);
        Exit::Input
    })
}
