//! The machine on which the comparison ran, as the report describes it.

use std::fs::read_to_string;
use std::process::Command;

use serde::{Deserialize, Serialize};

/// What matters for the times. What cannot be found out is "unknown".
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Machine {
    /// Name of the processor.
    pub processor: String,
    /// Processors that are online.
    pub cores: usize,
    /// Memory in MiB.
    pub memory_mebibytes: u64,
    /// Operating system and kernel.
    pub system: String,
    /// The compiler that built both tools.
    pub rustc: String,
}

impl Machine {
    /// The machine that this program runs on.
    #[must_use]
    pub fn this() -> Self {
        Self {
            processor: value_in("/proc/cpuinfo", "model name", ':').unwrap_or_else(unknown),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            memory_mebibytes: memory_kibibytes().unwrap_or(0) / 1024,
            system: format!("{}, Linux {}", distribution().unwrap_or_else(unknown), kernel().unwrap_or_else(unknown)),
            rustc: compiler().unwrap_or_else(unknown),
        }
    }
}

fn unknown() -> String {
    "unknown".into()
}

/// The value of the first line of a file whose key is `key`.
fn value_in(file: &str, key: &str, separator: char) -> Option<String> {
    value_of(&read_to_string(file).ok()?, key, separator)
}

fn value_of(text: &str, key: &str, separator: char) -> Option<String> {
    let (_, value) = text.lines().filter_map(|line| line.split_once(separator)).find(|(name, _)| name.trim() == key)?;
    Some(value.trim().trim_matches('"').to_owned())
}

fn memory_kibibytes() -> Option<u64> {
    value_in("/proc/meminfo", "MemTotal", ':')?.trim_end_matches(" kB").parse().ok()
}

fn distribution() -> Option<String> {
    value_in("/etc/os-release", "PRETTY_NAME", '=')
}

/// The version, without what a distributor appends to it.
fn kernel() -> Option<String> {
    let release = read_to_string("/proc/sys/kernel/osrelease").ok()?;
    release.trim().split('-').next().map(ToOwned::to_owned)
}

fn compiler() -> Option<String> {
    let output = Command::new("rustc").arg("--version").output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// How many processes want a processor, on the average of the last minute.
#[must_use]
pub fn load() -> f64 {
    let text = read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::value_of;

    #[track_caller]
    fn check(text: &str, key: &str, separator: char, value: Option<&str>) {
        assert_eq!(value_of(text, key, separator).as_deref(), value);
    }

    #[test]
    fn values_are_found_by_their_key() {
        check("cpu\t: 1\nmodel name\t: A: b\n", "model name", ':', Some("A: b"));
        check("NAME=x\nPRETTY_NAME=\"A B\"\n", "PRETTY_NAME", '=', Some("A B"));
        check("NAME=x\n", "PRETTY_NAME", '=', None);
    }
}
