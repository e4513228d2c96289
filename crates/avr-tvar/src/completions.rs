//! The commands `completions` and `man`: what shells and `man` know of this program.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::error::{InputError, InputErrorKind};
use crate::exit::Exit;
use crate::output;

pub(crate) const HELP: &str = "\
Examples:
  avr-tvar completions bash > ~/.local/share/bash-completion/completions/avr-tvar
  avr-tvar completions zsh > \"${fpath[1]}/_avr-tvar\"";

/// The arguments of `completions`.
#[derive(Clone, Debug, Args)]
pub struct Completions {
    /// The shell
    pub shell: Shell,
}

/// The arguments of `man`.
#[derive(Clone, Debug, Args)]
pub struct Man {
    /// Write a page for each command into this directory; else the page of the program goes to the standard output
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

/// Prints the completions of a shell for the program.
///
/// # Errors
/// If they cannot be written.
pub(crate) fn completions(arguments: &Completions, mut program: Command) -> Result<Exit, InputError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, "avr-tvar", &mut script);
    output::results(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Holds)
}

/// Writes the man pages of the program.
///
/// # Errors
/// If they cannot be written.
pub(crate) fn man(arguments: &Man, mut command: Command) -> Result<Exit, InputError> {
    command.build();
    let Some(directory) = &arguments.output else {
        output::results(&page(&command)?)?;
        return Ok(Exit::Holds);
    };
    let failed = |error| InputErrorKind::WriteFile { path: directory.display().to_string(), error };
    std::fs::create_dir_all(directory).map_err(failed)?;
    let commands = command.get_subcommands().filter(|command| command.get_name() != "help");
    for command in std::iter::once(&command).chain(commands) {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let page = page(command)?;
        crate::files::save(&directory.join(format!("{name}.1")), |file| file.write_all(page.as_bytes()))?;
    }
    Ok(Exit::Holds)
}

fn page(command: &Command) -> Result<String, InputError> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page).map_err(InputErrorKind::Write)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
