//! The command line and the date of a report.

use std::time::{SystemTime, UNIX_EPOCH};

use chrono::DateTime;

/// The variable with the date that reports have instead of the present one, in seconds since 1970, as
/// <https://reproducible-builds.org/specs/source-date-epoch/> defines it.
const DATE: &str = "SOURCE_DATE_EPOCH";

/// The making of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Made {
    /// The command line as a shell reads it.
    pub(crate) command: String,
    /// The date and the time of day (UTC).
    pub(crate) date: String,
}

impl Made {
    /// The circumstances of a report that this process makes now.
    pub(crate) fn now() -> Self {
        let arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
        let words: Vec<String> = std::iter::once("avr-tvar".to_owned()).chain(arguments).collect();
        let given = std::env::var(DATE).ok().and_then(|text| text.parse().ok());
        let present = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Self { command: command(&words), date: date(given.unwrap_or_else(present)) }
    }
}

/// Words as a line that a shell reads as these words.
fn command(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

/// The date and the time so many seconds after 1970; nothing where there is no such date.
fn date(seconds: u64) -> String {
    let date = i64::try_from(seconds).ok().and_then(|seconds| DateTime::from_timestamp(seconds, 0));
    date.map_or_else(String::new, |date| date.format("%Y-%m-%d %H:%M UTC").to_string())
}

#[cfg(test)]
mod tests {
    use super::{command, date};

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(1_709_210_096), "2024-02-29 12:34 UTC");
        assert_eq!(date(u64::MAX), "");
    }

    #[test]
    fn a_shell_reads_the_command() {
        let words = ["avr-tvar", "verify", "a b.elf", "--property", "AG (PORTB == 0)"].map(str::to_owned);
        assert_eq!(command(&words), "avr-tvar verify 'a b.elf' --property 'AG (PORTB == 0)'");
    }
}
