//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::batch::{self, Merge, VerifyAll};
use crate::compare::{self, Compare};
use crate::completions::{self, Completions, Man};
use crate::contract::{self, Contract};
use crate::explain::{self, Explain};
use crate::graph::{self, By, Graph};
use crate::init::{self, Init};
use crate::lsp::{self, Lsp};
use crate::options::{Check, Disasm, GENERAL, Verify, When};
use crate::props::{self, Props};
use crate::run::{self, Run};
use crate::stack::{self, Stack};
use crate::system::{self, VerifySystem};

/// Formal verification of AVR machine code.
///
/// Decides whether the firmware in an ELF or Intel HEX file has the properties its authors rely on, for every input,
/// every content of uninitialised memory and every interrupt timing.
#[derive(Clone, Debug, Parser)]
#[command(version, propagate_version = true, arg_required_else_help = true)]
pub struct Arguments {
    /// The command that is run.
    #[command(subcommand)]
    pub command: Command,
    /// Print the names of the devices
    #[arg(long, exclusive = true, help_heading = GENERAL)]
    pub list_devices: bool,
    /// The use of colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = GENERAL)]
    pub color: When,
    /// Tell nothing but results and errors: no notes, no warnings, no progress
    #[arg(long, short, global = true, help_heading = GENERAL)]
    pub quiet: bool,
    /// The file with defaults of options, instead of the nearest `avr-tvar.toml`
    #[arg(long, global = true, value_name = "FILE", help_heading = GENERAL)]
    pub config: Option<PathBuf>,
    /// Take no defaults from a file
    #[arg(long, global = true, conflicts_with = "config", help_heading = GENERAL)]
    pub no_config: bool,
}

impl Arguments {
    /// Reads a command line, the name of the program first.
    ///
    /// # Errors
    /// When it is not one of this program, when options contradict each other, and when one makes another meaningless.
    pub fn read(line: &[OsString]) -> Result<Self, clap::Error> {
        Self::read_with(line, |_| ()).map(|(arguments, ())| arguments)
    }

    /// The same, with something that is found out from what was typed.
    ///
    /// # Errors
    /// As those of [`Arguments::read`].
    pub(crate) fn read_with<T>(
        line: &[OsString],
        find_out: impl FnOnce(&ArgMatches) -> T,
    ) -> Result<(Self, T), clap::Error> {
        let mut program = Self::command();
        let mut matches = program.try_get_matches_from_mut(line)?;
        if matches.get_flag("list_devices") {
            let message = "the argument '--list-devices' cannot be used with a command";
            return Err(program.error(ErrorKind::ArgumentConflict, message));
        }
        if let Some((name, options)) = matches.subcommand()
            && let Some(message) = meaningless(name, options)
        {
            let command = program.find_subcommand_mut(name).expect("the command was read");
            return Err(command.error(ErrorKind::ArgumentConflict, message));
        }
        let found = find_out(&matches);
        let arguments = Self::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut program))?;
        Ok((arguments, found))
    }

    /// The verification that is repeated whenever a file changes, if one is.
    pub(crate) fn watched(&self) -> Option<&Verify> {
        match &self.command {
            Command::Verify(verify) | Command::Explain(Explain { verify, .. }) if verify.watch => Some(verify),
            _ => None,
        }
    }
}

/// True for a command line that asks for the names of the devices, which needs no command, like `--version`.
pub(crate) fn asks_for_devices(line: &[OsString]) -> bool {
    line.iter().skip(1).eq(["--list-devices"])
}

/// The colours that a command line asks for, which is no right one.
pub(crate) fn wished_colour(line: &[OsString]) -> Option<When> {
    let words: Vec<&str> = line.iter().skip(1).map_while(|word| word.to_str().filter(|word| *word != "--")).collect();
    let values = words.iter().enumerate().filter_map(|(place, word)| match word.strip_prefix("--color")? {
        "" => words.get(place + 1).copied(),
        value => value.strip_prefix('='),
    });
    values.filter_map(|value| When::from_str(value, false).ok()).next_back()
}

/// The error of options of which some make another meaningless, where that depends on their values or on several of them.
fn meaningless(command: &str, options: &ArgMatches) -> Option<&'static str> {
    let is_folded = || options.get_one::<By>("fold").is_some_and(|by| *by != By::Auto);
    let everything_is_off = || {
        ["all_interrupts", "all_states", "all_handlers", "no_facts", "no_invariants"]
            .iter()
            .all(|name| options.get_flag(name))
    };
    match command {
        "graph" if options.value_source("nodes") == Some(ValueSource::CommandLine) && is_folded() => {
            Some("the argument '--nodes <N>' can only be used with '--fold auto'")
        }
        "verify" | "explain" if options.get_flag("recheck") && everything_is_off() => Some(
            "the argument '--recheck' cannot be used with all of '--all-interrupts', '--all-states', '--all-handlers', \
             '--no-facts' and '--no-invariants': everything would be decided in the same way again",
        ),
        _ => None,
    }
}

/// The commands.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Verify properties of a firmware image
    #[command(after_help = VERIFY_HELP)]
    Verify(Verify),
    /// Check the certificate of a verification without verifying again
    #[command(after_help = CHECK_HELP)]
    Check(Check),
    /// Verify many images with their properties
    #[command(after_help = batch::HELP)]
    VerifyAll(VerifyAll),
    /// Put the journals of the parts of a batch together
    #[command(after_help = batch::MERGE_HELP)]
    Merge(Merge),
    /// Show where each subformula of a property holds, fails or is unknown
    #[command(after_help = explain::HELP)]
    Explain(Explain),
    /// Compare a firmware image with an older one: whether it shows anything new
    #[command(after_help = compare::HELP)]
    Compare(Compare),
    /// Verify several nodes that wires join
    #[command(after_help = system::HELP)]
    VerifySystem(VerifySystem),
    /// Prove that functions keep the contracts of a property file
    #[command(after_help = contract::HELP)]
    Contract(Contract),
    /// Write the abstract state space as a graph for Graphviz
    #[command(after_help = graph::HELP)]
    Graph(Graph),
    /// Write a property file to begin with
    #[command(after_help = init::HELP)]
    Init(Init),
    /// Check a property file
    #[command(after_help = props::HELP)]
    Props(Props),
    /// Serve an editor of property files
    #[command(after_help = lsp::HELP)]
    Lsp(Lsp),
    /// List the machine code of a firmware image
    Disasm(Disasm),
    /// Simulate a firmware image with concrete values
    #[command(after_help = run::HELP)]
    Run(Run),
    /// Find the worst-case stack of a firmware image, interrupts included
    #[command(after_help = stack::HELP)]
    Stack(Stack),
    /// Print the completions of a shell
    #[command(after_help = completions::HELP)]
    Completions(Completions),
    /// Write the man pages
    Man(Man),
}

const VERIFY_HELP: &str = "\
Examples:
  avr-tvar verify firmware.elf                       no hazard happens, and how deep the stack gets
  avr-tvar verify firmware.hex firmware.ron          the properties of a file
  avr-tvar verify firmware.elf --property 'AG EF (pc == main)'

Exit codes: 0 every property holds, 1 one is violated, 2 wrong usage or input, 3 none is violated but one is unknown,
4 internal error or failed self-check, 130 interrupted.";

const CHECK_HELP: &str = "\
Example:
  avr-tvar verify firmware.elf firmware.ron --certificate firmware.cert
  avr-tvar check firmware.cert firmware.elf
  avr-tvar check firmware.cert firmware.elf --expect holds --properties firmware.ron     as a gate

Exit codes: 0 every claim of the certificate is proved, 1 the certificate is rejected, 2 wrong usage, or the files cannot be
read, 4 internal error. A certificate may claim nothing, or that a property is violated: read what is proved, or expect it.
With --expect holds: 0 every property is proved to hold as asked for, 1 the certificate is rejected or a property is proved
to be violated, 3 a property is not proved as asked for.";

#[cfg(test)]
mod tests {
    use super::Arguments;
    use clap::CommandFactory;

    #[test]
    fn the_declaration_is_consistent() {
        Arguments::command().debug_assert();
    }
}
