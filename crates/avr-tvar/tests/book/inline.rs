//! Commands and options in running text: each is one that the program takes.

use std::collections::BTreeSet;

use avr_tvar::arguments::Arguments;
use clap::CommandFactory;
use clap::error::ErrorKind;

use crate::page::Page;

/// Names that stand for a value which is not any text.
const VALUES: [(&str, &str); 4] = [("N", "1"), ("DURATION", "1s"), ("SIZE", "1M"), ("FORMAT=FILE", "json=report.json")];

/// Options of other programs that the book speaks of.
const OTHER_OPTIONS: [&str; 1] = ["--dependency"];

/// The errors in the commands and options of the running text of a page, and the number of commands and options.
/// With `has_other_options`, options are those of other programs.
pub fn problems(page: &Page, has_other_options: bool) -> (usize, Vec<String>) {
    let options = options();
    let mut count = 0;
    let mut found = Vec::new();
    for (line, code) in page.inline_code() {
        let problem = if code.starts_with("avr-tvar ") {
            command_problem(&code)
        } else if code.starts_with("--") && !has_other_options {
            option_problem(&code, &options)
        } else {
            continue;
        };
        count += 1;
        found.extend(problem.map(|problem| format!("{}:{line}: `{code}`: {problem}", page.path.display())));
    }
    (count, found)
}

/// The error in a command. Arguments may be missing, because a sentence that speaks of a command need not give
/// all that it takes.
pub fn command_problem(command: &str) -> Option<String> {
    let Some(words) = shlex::split(command) else { return Some("a quote without its end".to_owned()) };
    let value = |word: String| {
        let known = VALUES.iter().find(|(name, _)| *name == word);
        known.map_or(word, |(_, value)| (*value).to_owned())
    };
    let error = Arguments::command().try_get_matches_from(words.into_iter().map(value)).err()?;
    let is_short = matches!(
        error.kind(),
        ErrorKind::MissingRequiredArgument
            | ErrorKind::MissingSubcommand
            | ErrorKind::DisplayHelp
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
            | ErrorKind::DisplayVersion
    );
    (!is_short).then(|| error.to_string())
}

/// The names of all options of all commands, as they are typed.
fn options() -> BTreeSet<String> {
    let mut command = Arguments::command();
    command.build();
    let of = |command: &clap::Command| -> Vec<String> {
        let arguments = command.get_arguments();
        arguments.filter_map(|argument| argument.get_long().map(|long| format!("--{long}"))).collect()
    };
    command.get_subcommands().chain([&command]).flat_map(of).collect()
}

/// The error in an option that is given alone, with or without its value.
fn option_problem(option: &str, options: &BTreeSet<String>) -> Option<String> {
    let name = option.split(['=', ' ']).next().unwrap_or_default();
    let is_known = options.contains(name) || OTHER_OPTIONS.contains(&name);
    (!is_known).then(|| "no command has this option".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{command_problem, option_problem, options};

    #[test]
    fn wrong_commands_are_noticed() {
        for right in ["avr-tvar merge", "avr-tvar verify F --steps-of-nothing", "avr-tvar run F --steps N"] {
            assert_eq!(command_problem(right).is_some(), right.contains("nothing"), "{right}");
        }
        for wrong in ["avr-tvar verfy F", "avr-tvar verify F --timeout soon", "avr-tvar verify F 'open"] {
            assert!(command_problem(wrong).is_some(), "{wrong}");
        }
        assert_eq!(option_problem("--timeout 10s", &options()), None);
        assert!(option_problem("--time-out 10s", &options()).is_some());
    }
}
