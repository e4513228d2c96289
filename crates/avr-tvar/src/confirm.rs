//! Confirming verdicts about the model: simavr runs the firmware by clock cycles, with nothing but inputs from outside.

use std::path::Path;
use std::process::{Command, Output};

use avr_machine::Machine;
use avr_report::Report;
use avr_verify::{Basis, PropertyResult, Results, Verdict};

use crate::error::InputError;
use crate::files::failed;
use crate::job::Job;
use crate::memory;
use crate::output;

/// The output of the program before and after the number of cycles.
const SHOWN: [&str; 2] = ["simavr shows it after ", " cycles"];

/// Has simavr look for states that show the verdicts which rest on the model. What it shows is about the hardware; everything
/// else stays as it is, with a note that says why.
///
/// # Errors
/// If there is no room for the programs.
pub(crate) fn confirm(job: &Job, results: &mut Results) -> Result<(), InputError> {
    let is_open =
        |result: &PropertyResult| result.basis == Basis::Model && !matches!(result.verdict, Verdict::Unknown(_));
    if !results.properties.iter().any(is_open) {
        return Ok(());
    }
    let folder = tempfile::tempdir().map_err(|error| failed(&std::env::temp_dir(), error))?;
    let machine = avr_verify::machine(&job.request())?;
    for number in 0..results.properties.len() {
        let result = &results.properties[number];
        if !is_open(result) {
            continue;
        }
        match shown(job, results, result, (&machine, folder.path())) {
            Ok(cycle) => {
                let result = &mut results.properties[number];
                result.basis = Basis::Hardware;
                result.evidence.iter_mut().for_each(|evidence| evidence.confirmed = Some(cycle));
            }
            Err(reason) => output::note(&format!("{} is not confirmed: {reason}", result.name)),
        }
    }
    Ok(())
}

/// The cycle at which simavr shows the verdict of a result; or why it does not.
fn shown(
    job: &Job,
    results: &Results,
    result: &PropertyResult,
    (machine, folder): (&Machine, &Path),
) -> Result<u64, String> {
    let inputs = job.inputs.listed();
    let report = Report {
        image: &job.image,
        device: job.device.name,
        results,
        specification: None,
        stopped_by: None,
        peak_memory_bytes: memory::peak() as u64,
        machine: Some(machine),
        baseline: None,
        origin: job.origin(&inputs),
    };
    let (source, program) = (folder.join("replay-cycles.c"), folder.join("replay-cycles"));
    std::fs::write(&source, report.cycles_program(result, machine)?).map_err(|error| error.to_string())?;
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let compiled =
        executed(Command::new(&compiler).arg("-O2").arg("-o").args([&program, &source]).args(["-lsimavr", "-lelf"]))?;
    if !compiled.status.success() {
        let reason = String::from_utf8_lossy(&compiled.stderr).lines().last().unwrap_or_default().to_owned();
        return Err(format!("{compiler} does not compile a program against libsimavr: {reason}"));
    }
    let ended = executed(&mut Command::new(&program))?;
    let text = String::from_utf8_lossy(&ended.stdout);
    let last = text.lines().last().unwrap_or_default();
    let cycle = last.strip_prefix(SHOWN[0]).and_then(|rest| rest.strip_suffix(SHOWN[1]));
    match cycle.filter(|_| ended.status.success()).map(str::parse) {
        Some(Ok(cycle)) => Ok(cycle),
        _ if last.is_empty() => Err(format!("simavr ended with {}", ended.status)),
        _ => Err(last.to_owned()),
    }
}

fn executed(command: &mut Command) -> Result<Output, String> {
    let output = command.output();
    output.map_err(|error| format!("{} cannot be started: {error}", command.get_program().to_string_lossy()))
}
