//! Defaults of options in a file `avr-tvar.toml`.
//!
//! The file is looked for in the working directory and then in the folders above it; the first one counts. An option of
//! the command line wins over the file. What belongs to a question, such as the device, is no default: it stands in the
//! property file.

use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use toml::de::{DeTable, DeValue};

use crate::error::{InputError, InputErrorKind};
use crate::inputs::{Inputs, Role};
use crate::snippet::Marked;

/// The name of the file.
const NAME: &str = "avr-tvar.toml";

/// The form of the value of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// `true` or `false`.
    Switch,
    /// A text, or a number where that says the same.
    Text,
    /// A list of texts.
    Texts,
}

/// The keys, each with the option of its name. Those marked `true` are for every command, the others for the commands
/// that verify.
const KEYS: [(&str, Form, bool); 10] = [
    ("color", Form::Text, true),
    ("quiet", Form::Switch, true),
    ("verbose", Form::Switch, false),
    ("strategy", Form::Text, false),
    ("timeout", Form::Text, false),
    ("memory", Form::Text, false),
    ("jobs", Form::Text, false),
    ("strict", Form::Switch, false),
    ("deny", Form::Texts, false),
    ("clock", Form::Text, false),
];

/// The commands that verify. A batch takes nothing from here: its manifest has defaults of its own, and its journal goes
/// from machine to machine.
const COMMANDS: [&str; 4] = ["verify", "explain", "graph", "stack"];

const HINT: &str = "write for example `timeout = \"10m\"`; the options of the command line win";

/// A file with defaults.
#[derive(Debug)]
pub(crate) struct Configuration {
    name: String,
    text: String,
    settings: Vec<Setting>,
}

/// A key with its value, as options of the command line.
#[derive(Debug)]
struct Setting {
    key: &'static str,
    is_for_all: bool,
    options: Vec<OsString>,
    span: Range<usize>,
}

/// The configuration that is named, or else the one that is found; none if there is none.
///
/// # Errors
/// If the file cannot be read, is no TOML, or has a key or a value that does not exist.
pub(crate) fn read(inputs: &mut Inputs, named: Option<&Path>) -> Result<Option<Configuration>, InputError> {
    let Some(path) = named.map(Path::to_owned).or_else(found) else { return Ok(None) };
    let input = inputs.read(Role::Configuration, &path)?;
    Configuration::parse(input.name(), input.required_text()?.to_owned()).map(Some)
}

/// The file in the working directory, or in the nearest folder above it that has one.
fn found() -> Option<PathBuf> {
    let directory = std::env::current_dir().ok()?;
    let levels = directory.ancestors().enumerate().find(|(_, folder)| folder.join(NAME).is_file())?.0;
    Some(std::iter::repeat_n("..", levels).chain([NAME]).collect())
}

impl Configuration {
    fn parse(name: String, text: String) -> Result<Self, InputError> {
        let wrong = |span: Range<usize>, problem: String| wrong(&name, &text, span, problem);
        let table = DeTable::parse(&text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            wrong(span, error.message().to_owned())
        })?;
        let mut settings = Vec::new();
        for (key, value) in table.get_ref() {
            let Some((known, form, is_for_all)) = KEYS.into_iter().find(|(known, ..)| *known == key.get_ref()) else {
                let known = KEYS.map(|(known, ..)| known).join(", ");
                return Err(wrong(
                    key.span(),
                    format!("there is no key '{}' here; the keys are {known}", key.get_ref()),
                ));
            };
            let options = options(known, form, value.get_ref()).map_err(|problem| wrong(value.span(), problem))?;
            settings.push(Setting { key: known, is_for_all, options, span: value.span() });
        }
        drop(table);
        Ok(Self { name, text, settings })
    }

    /// The command line with the defaults of the options that it has not got, behind the name of its command.
    pub(crate) fn complete(&self, line: &[OsString], matches: &ArgMatches) -> Vec<OsString> {
        let Some((command, given)) = matches.subcommand() else { return line.to_vec() };
        let is_given = |key: &str| given.value_source(key) == Some(ValueSource::CommandLine);
        // The clock means nothing without evidence, which is never a default.
        let is_open = |key: &str| {
            given.try_contains_id(key).is_ok() && !is_given(key) && (key != "clock" || is_given("evidence"))
        };
        let counts = |setting: &&Setting| setting.is_for_all || COMMANDS.contains(&command);
        let settings = self.settings.iter().filter(counts).filter(|setting| is_open(setting.key));
        let at = position(line, command);
        let (before, after) = line.split_at(at);
        before.iter().chain(settings.flat_map(|setting| &setting.options)).chain(after).cloned().collect()
    }

    /// The place of the default that made a command line wrong; none if it was another argument.
    pub(crate) fn blamed(&self, error: &clap::Error) -> Option<InputError> {
        let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else { return None };
        let option = argument.trim_start_matches('-').split([' ', '=']).next()?;
        let setting = self.settings.iter().find(|setting| setting.key == option)?;
        let message = error.to_string();
        let message = message.lines().next().unwrap_or_default();
        let message = message.strip_prefix("error: ").unwrap_or(message);
        Some(wrong(&self.name, &self.text, setting.span.clone(), message.to_owned()))
    }
}

/// The place behind the name of the command. Only options of every command stand before it.
fn position(line: &[OsString], command: &str) -> usize {
    let takes_value = |option: &OsString| ["--color", "--config"].iter().any(|name| option == OsStr::new(name));
    let is_command = |at: &usize| line[*at] == command && !takes_value(&line[at - 1]);
    (1..line.len()).find(is_command).map_or(line.len(), |at| at + 1)
}

/// The options that a value stands for.
fn options(key: &str, form: Form, value: &DeValue<'_>) -> Result<Vec<OsString>, String> {
    let option = |value: &str| OsString::from(format!("--{key}={value}"));
    match (form, value) {
        (Form::Switch, DeValue::Boolean(true)) => Ok(vec![format!("--{key}").into()]),
        (Form::Switch, DeValue::Boolean(false)) => Ok(Vec::new()),
        (Form::Switch, _) => Err(format!("'{key}' is true or false")),
        (Form::Text, DeValue::String(text)) => Ok(vec![option(text)]),
        (Form::Text, DeValue::Integer(number)) => Ok(vec![option(number.as_str())]),
        (Form::Text, _) => Err(format!("'{key}' is a text")),
        (Form::Texts, DeValue::Array(texts)) => {
            let text = |value: &DeValue<'_>| value.as_str().map(option).ok_or(format!("'{key}' is a list of texts"));
            texts.iter().map(|value| text(value.get_ref())).collect()
        }
        (Form::Texts, _) => Err(format!("'{key}' is a list of texts")),
    }
}

fn wrong(name: &str, text: &str, span: Range<usize>, problem: String) -> InputError {
    let marked = Marked { file: Some(name.to_owned()), text: text.to_owned(), span };
    InputErrorKind::InFile { marked, problem, hint: HINT }.into()
}

#[cfg(test)]
mod tests {
    use super::{COMMANDS, Configuration, KEYS};
    use crate::arguments::Arguments;
    use clap::CommandFactory;
    use std::ffi::OsString;

    fn completed(text: &str, line: &str) -> String {
        let line: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let matches = Arguments::command().try_get_matches_from(&line).expect("it is a command line");
        let configuration = Configuration::parse("avr-tvar.toml".to_owned(), text.to_owned()).expect("it is right");
        let line = configuration.complete(&line, &matches);
        line.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    fn refused(text: &str) -> String {
        let error = Configuration::parse("c.toml".to_owned(), text.to_owned()).expect_err("it is wrong");
        let marked = error.marked().expect("it has a place");
        format!("{} <{}>", error.title(), &marked.text[marked.span])
    }

    #[test]
    fn every_key_is_an_option() {
        let program = Arguments::command();
        for (key, _, is_for_all) in KEYS {
            let has =
                |command: &clap::Command| command.get_arguments().any(|argument| argument.get_long() == Some(key));
            let found = if is_for_all { has(&program) } else { program.get_subcommands().any(has) };
            assert!(found, "{key}");
        }
        assert!(COMMANDS.iter().all(|name| program.find_subcommand(name).is_some()));
    }

    #[test]
    fn the_command_line_wins() {
        let file = "timeout = \"10m\"\njobs = 2\nstrict = true\nquiet = false\ndeny = [\"vacuous\", \"findings\"]\n";
        assert_eq!(
            completed(file, "avr-tvar --color never verify a.elf --jobs 1 -- verify"),
            "avr-tvar --color never verify --deny=vacuous --deny=findings --strict --timeout=10m a.elf --jobs 1 -- verify"
        );
        assert_eq!(
            completed(file, "avr-tvar verify a.elf --deny regressions --strict --timeout 1s"),
            "avr-tvar verify --jobs=2 a.elf --deny regressions --strict --timeout 1s"
        );
    }

    #[test]
    fn commands_take_what_they_have() {
        let file = "timeout = 5\nstrict = true\ncolor = \"never\"\n";
        assert_eq!(completed(file, "avr-tvar graph a.elf"), "avr-tvar graph --color=never --timeout=5 a.elf");
        assert_eq!(completed("clock = \"8MHz\"", "avr-tvar verify a.elf"), "avr-tvar verify a.elf");
        assert_eq!(
            completed("clock = \"8MHz\"", "avr-tvar verify a.elf --evidence d"),
            "avr-tvar verify --clock=8MHz a.elf --evidence d"
        );
        assert_eq!(completed(file, "avr-tvar check a.cert a.elf"), "avr-tvar check --color=never a.cert a.elf");
        assert_eq!(completed(file, "avr-tvar verify-all m.ron"), "avr-tvar verify-all --color=never m.ron");
    }

    #[test]
    fn what_does_not_exist_is_refused_with_its_place() {
        assert!(refused("timeot = 5").starts_with("there is no key 'timeot' here; the keys are color, quiet"));
        assert!(refused("timeot = 5").ends_with("<timeot>"));
        assert_eq!(refused("quiet = \"yes\""), "'quiet' is true or false <\"yes\">");
        assert_eq!(refused("deny = [5]"), "'deny' is a list of texts <[5]>");
        assert_eq!(refused("timeout = [1]"), "'timeout' is a text <[1]>");
        assert!(refused("timeout = \n").contains("value"), "{}", refused("timeout = \n"));
        assert!(refused("[verify]\ntimeout = 5").starts_with("there is no key 'verify'"));
    }
}
