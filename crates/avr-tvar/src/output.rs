//! Output streams: results go to the standard output, everything else to the error output.

use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::{AutoStream, ColorChoice};
use avr_image::Image;
use avr_report::{Colour, Escaped, warnings};
use console::Term;

use crate::error::{InputError, InputErrorKind};
use crate::options::When;
use crate::snippet::{self, ERROR, HINT};

/// True if nothing but errors goes to the error output.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Sets the use of colours and the amount of what is told, for the whole process.
pub(crate) fn configure(colour: When, quiet: bool) {
    match colour {
        When::Auto => ColorChoice::Auto,
        When::Always => ColorChoice::Always,
        When::Never => ColorChoice::Never,
    }
    .write_global();
    QUIET.store(quiet, Ordering::Relaxed);
}

/// True if nothing but errors is told.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// The use of colours in results: as `--color` says, by default only on a terminal and not with `NO_COLOR`.
pub(crate) fn colour() -> Colour {
    match AutoStream::choice(&io::stdout()) {
        ColorChoice::Never => Colour::Never,
        ColorChoice::Always | ColorChoice::AlwaysAnsi | ColorChoice::Auto => Colour::Always,
    }
}

/// The width of the terminal that the standard output is; none where it is no terminal.
pub(crate) fn width() -> Option<usize> {
    let (_, columns) = Term::stdout().size_checked()?;
    Some(columns.into())
}

/// Writes results. A reader that went away wants no more of them, which is no error.
///
/// # Errors
/// If the system refuses, for example because the disk is full.
pub(crate) fn results(text: &str) -> Result<(), InputError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(InputErrorKind::Write(error).into()),
        _ => Ok(()),
    }
}

/// Tells something that is no result, in one line: names in it come from files, and none can begin a line of its own or
/// repaint one.
pub(crate) fn note(text: &str) {
    if !is_quiet() {
        tell(&format!("note: {}\n", Escaped(text)));
    }
}

/// Tells what the loader noticed about an image.
pub(crate) fn image_warnings(image: &Image) {
    if !is_quiet() {
        tell(&warnings(image));
    }
}

/// Writes to the error output. If nobody can be told, nobody is.
fn tell(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

/// Tells what is wrong with the input, and what to do.
pub(crate) fn input_error(error: &InputError) {
    let mut text = snippet::error(&error.title(), error.marked().as_ref());
    if let Some(hint) = error.hint() {
        text.push_str(&format!("{HINT}hint:{HINT:#} {}\n", escaped_lines(&hint)));
    }
    tell(&text);
}

/// Tells that this program is wrong.
pub(crate) fn internal_error(what: &str) {
    tell(&format!(
        "{ERROR}internal error:{ERROR:#} {}\n{HINT}hint:{HINT:#} this is a mistake in avr-tvar, not in the firmware: \
         please report it with the command line and the files\n",
        escaped_lines(what)
    ));
}

/// The text without harmful characters; its lines and tabs stay, because marked formulas have them.
fn escaped_lines(text: &str) -> String {
    let line = |line: &str| {
        let escaped = line.split('\t').map(|part| Escaped(part).to_string()).collect::<Vec<_>>().join("\t");
        without_command(&escaped)
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A line that a build server does not take for a command, as those of GitHub and Azure take `::error::` and `##[error]`.
fn without_command(line: &str) -> String {
    let start = line.len() - line.trim_start().len();
    match line.get(start..start + 2) {
        Some("::" | "##") => {
            format!("{}{}{}", &line[..start], line[start..=start].escape_unicode(), &line[start + 1..])
        }
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::escaped_lines;

    #[test]
    fn messages_keep_their_lines() {
        assert_eq!(escaped_lines("a\n  ::error::b"), "a\n  \\u{3a}:error::b");
        assert_eq!(escaped_lines("a\n\tb\x1b[1m\n  ^"), "a\n\tb\\u{1b}[1m\n  ^");
    }
}
