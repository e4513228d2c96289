//! Writing evidence into a directory: a folder for each property that has a run.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use avr_machine::Machine;
use avr_report::{Escaped, Report};
use avr_verify::{Basis, Evidence, PropertyResult};

use crate::error::InputError;
use crate::files::{self, failed};
use crate::output;
use crate::values::DEFAULT_CLOCK;

/// The longest name of a folder, in bytes.
const MAX_NAME_BYTES: usize = 60;

/// The files that a folder can have.
pub(crate) const FILES: &[&str] = &["stimulus.ron", "trace.json", "trace.vcd", "replay-cycles.c", "replay.c"];

/// Writes the runs of all results and findings: `trace.json`, `stimulus.ron`, `trace.vcd`, `replay.c` and, where the verdict rests on the
/// model, `replay-cycles.c`.
///
/// # Errors
/// If a file cannot be written.
pub(crate) fn write(
    directory: &Path,
    report: &Report<'_>,
    machine: &Machine,
    clock: Option<NonZeroU32>,
) -> Result<(), InputError> {
    let machine = (machine, clock.unwrap_or(DEFAULT_CLOCK));
    let found = report.finding_runs();
    let mut used: BTreeSet<String> = found.iter().map(|(folder, _)| folder.clone()).collect();
    for (folder, result) in &found {
        if let Some(evidence) = &result.evidence {
            write_one(&directory.join(folder), report, machine, (result, evidence))?;
        }
    }
    for result in &report.results.properties {
        if let Some(evidence) = &result.evidence {
            let folder = directory.join(folder_name(&result.name, &mut used));
            write_one(&folder, report, machine, (result, evidence))?;
        }
    }
    Ok(())
}

fn write_one(
    folder: &Path,
    report: &Report<'_>,
    (machine, clock): (&Machine, NonZeroU32),
    (result, evidence): (&PropertyResult, &Evidence),
) -> Result<(), InputError> {
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let save = |name: &str, content: &[u8]| {
        debug_assert!(FILES.contains(&name), "no output replaces {name}");
        files::save(&folder.join(name), |file| file.write_all(content))
    };
    save("stimulus.ron", stimulus(evidence, machine).as_bytes())?;
    if let Some(trace) = report.trace_json(result, machine) {
        save("trace.json", trace.as_bytes())?;
    }
    if let Some(waves) = report.vcd(result, machine, clock).map_err(|error| failed(folder, error))? {
        save("trace.vcd", &waves)?;
    }
    if result.basis == Basis::Model || evidence.confirmed.is_some() {
        match report.cycles_program(result, machine) {
            Ok(program) => save("replay-cycles.c", program.as_bytes())?,
            Err(reason) => {
                output::note(&format!("there is no replay-cycles.c in {}: {reason}", folder.display()));
            }
        }
    }
    match report.replay_program(result, machine) {
        Ok(program) => save("replay.c", program.as_bytes()),
        Err(reason) => {
            output::note(&format!("there is no program for simavr in {}: {reason}", folder.display()));
            Ok(())
        }
    }
}

/// The stimulus file with a comment that says how to use it.
fn stimulus(evidence: &Evidence, machine: &Machine) -> String {
    let claim = Escaped(&evidence.claim).to_string();
    // A hazard comes in the step after the last one.
    let steps = evidence.steps + u64::from(evidence.end.hazard.is_some());
    let file = evidence.stimulus.exact_to_ron(machine.device);
    format!("// {claim}\n// avr-tvar run FIRMWARE --stimulus stimulus.ron --steps {steps}\n{file}")
}

/// A name for the folder of a property, of letters, digits and hyphens, that no other property has.
fn folder_name(name: &str, used: &mut BTreeSet<String>) -> PathBuf {
    let mut short = String::new();
    for character in name.chars() {
        match character {
            _ if short.len() >= MAX_NAME_BYTES => break,
            'a'..='z' | '0'..='9' => short.push(character),
            'A'..='Z' => short.push(character.to_ascii_lowercase()),
            _ if short.ends_with('-') || short.is_empty() => {}
            _ => short.push('-'),
        }
    }
    let short = match short.trim_end_matches('-') {
        "" => "property",
        short => short,
    };
    let numbered = (2..).map(|number| format!("{short}-{number}"));
    let mut candidates = std::iter::once(short.to_owned()).chain(numbered);
    let free = candidates.find(|candidate| used.insert(candidate.clone()));
    free.expect("there are more numbers than properties").into()
}

#[cfg(test)]
mod tests {
    use super::folder_name;
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    #[test]
    fn folders_have_harmless_names_of_their_own() {
        let mut used = BTreeSet::new();
        let mut check = |name: &str, expected: &str| assert_eq!(folder_name(name, &mut used), PathBuf::from(expected));
        check("gets back to idle", "gets-back-to-idle");
        check("Gets back, to idle!", "gets-back-to-idle-2");
        check("../../etc/passwd", "etc-passwd");
        check("..", "property");
        check("ü\x1b[2J/", "2j");
        check("/", "property-2");
        check(&"a".repeat(200), &"a".repeat(60));
    }
}
