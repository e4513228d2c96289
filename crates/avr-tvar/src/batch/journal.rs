//! The journal of a batch: a JSON line for each property that is finished, each written as a whole and brought to the disk
//! before anything else happens, so that nothing is lost when the process ends at any moment.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::outcome::{Failure, Outcome};
use crate::error::{InputError, InputErrorKind};

/// The name and version of the format.
const SCHEMA: &str = "avr-tvar/journal/1";

/// A line.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    schema: String,
    /// The name of the run, for people.
    run: String,
    /// What was verified: see [`super::manifest::Run::key`].
    key: String,
    /// The number of the property, from 0; 0 as well for a run that failed.
    property: usize,
    /// How many properties the run has; 0 if it failed.
    of: usize,
    /// The report without its results.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    report: Value,
    /// The result of the property.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    result: Value,
    /// Why the run failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<Failure>,
}

/// A journal that is being written. While it is open no other process can write it.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    path: String,
}

/// What a journal says: outcomes of runs that are complete, by their keys.
pub(super) type Known = BTreeMap<String, Outcome>;

impl Journal {
    /// Begins a journal.
    ///
    /// # Errors
    /// When there is one already, or it cannot be written.
    pub(super) fn create(path: &Path) -> Result<Self, InputError> {
        let name = path.display().to_string();
        let created = OpenOptions::new().read(true).write(true).create_new(true).open(path);
        match created {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Err(InputErrorKind::JournalExists { path: name }.into())
            }
            Err(error) => Err(InputErrorKind::WriteFile { path: name, error }.into()),
            Ok(file) => Self { file, path: name }.locked(),
        }
    }

    /// Goes on with a journal, or begins one if there is none: what it says, and the journal. A line that was not written
    /// to its end is taken away.
    ///
    /// # Errors
    /// When it cannot be read or written, or is no journal.
    pub(super) fn resume(path: &Path) -> Result<(Known, Self), InputError> {
        if !path.exists() {
            return Ok((Known::new(), Self::create(path)?));
        }
        let name = path.display().to_string();
        let opened = OpenOptions::new().read(true).write(true).open(path);
        let file = opened.map_err(|error| InputErrorKind::WriteFile { path: name.clone(), error })?;
        let mut journal = Self { file, path: name }.locked()?;
        if !journal.file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Err(journal.failed(std::io::Error::other("it is no regular file")));
        }
        let mut text = Vec::new();
        let failed = |error| InputErrorKind::Read { path: path.display().to_string(), error };
        journal.file.read_to_end(&mut text).map_err(failed)?;
        let (known, whole) = parse(&journal.path, &text)?;
        journal.file.set_len(whole as u64).map_err(|error| journal.failed(error))?;
        journal.file.seek(SeekFrom::Start(whole as u64)).map_err(|error| journal.failed(error))?;
        Ok((known, journal))
    }

    fn locked(self) -> Result<Self, InputError> {
        match self.file.try_lock() {
            Ok(()) => Ok(self),
            Err(TryLockError::WouldBlock) => Err(InputErrorKind::JournalInUse { path: self.path }.into()),
            Err(TryLockError::Error(error)) => Err(self.failed(error)),
        }
    }

    fn failed(&self, error: std::io::Error) -> InputError {
        InputErrorKind::WriteFile { path: self.path.clone(), error }.into()
    }

    /// Adds what came of a run.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn add(&mut self, run: &str, key: &str, outcome: &Outcome) -> Result<(), InputError> {
        for line in lines(run, key, outcome) {
            let mut text = serde_json::to_vec(&line).map_err(|error| self.failed(error.into()))?;
            text.push(b'\n');
            self.file.write_all(&text).map_err(|error| self.failed(error))?;
            self.file.sync_data().map_err(|error| self.failed(error))?;
        }
        Ok(())
    }
}

/// Reads a journal that nobody needs to write.
///
/// # Errors
/// When it cannot be read or is none.
pub(super) fn read(path: &Path) -> Result<Known, InputError> {
    let name = path.display().to_string();
    let text = std::fs::read(path).map_err(|error| InputErrorKind::Read { path: name.clone(), error })?;
    Ok(parse(&name, &text)?.0)
}

fn lines(run: &str, key: &str, outcome: &Outcome) -> Vec<Line> {
    let line = |property, of, report, result, failure| Line {
        schema: SCHEMA.to_owned(),
        run: run.to_owned(),
        key: key.to_owned(),
        property,
        of,
        report,
        result,
        failure,
    };
    match outcome {
        Outcome::Failed(failure) => vec![line(0, 0, Value::Null, Value::Null, Some(failure.clone()))],
        Outcome::Reported(report) => {
            let results = report["results"].as_array().cloned().unwrap_or_default();
            let mut head = report.clone();
            head["results"] = Value::Array(Vec::new());
            let of = results.len();
            results
                .into_iter()
                .enumerate()
                .map(|(number, result)| line(number, of, head.clone(), result, None))
                .collect()
        }
    }
}

/// What a journal says, and the length of its whole lines in bytes: only the last line may be torn.
fn parse(name: &str, text: &[u8]) -> Result<(Known, usize), InputError> {
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    let mut found: BTreeMap<String, Vec<Line>> = BTreeMap::new();
    for (number, line) in text[..whole].split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
        let reason = |reason: String| InputErrorKind::Journal { path: name.to_owned(), line: number + 1, reason };
        let line: Line = serde_json::from_slice(line).map_err(|error| reason(error.to_string()))?;
        if line.schema != SCHEMA {
            return Err(reason(format!("its schema is '{}'", line.schema)).into());
        }
        found.entry(line.key.clone()).or_default().push(line);
    }
    let complete = found.into_iter().filter_map(|(key, lines)| Some((key, outcome(lines)?)));
    Ok((complete.collect(), whole))
}

/// What came of a run, if all its lines are there. A run may have been begun several times.
fn outcome(lines: Vec<Line>) -> Option<Outcome> {
    let mut results: BTreeMap<usize, Value> = BTreeMap::new();
    let mut report = Value::Null;
    let mut of = usize::MAX;
    for line in lines {
        if let Some(failure) = line.failure {
            return Some(Outcome::Failed(failure));
        }
        of = line.of;
        report = line.report;
        results.insert(line.property, line.result);
    }
    if !report.is_object() || !results.keys().copied().eq(0..of) {
        return None;
    }
    report["results"] = Value::Array(results.into_values().collect());
    Some(Outcome::Reported(report))
}

#[cfg(test)]
mod tests {
    use super::{Journal, parse};
    use crate::batch::outcome::{Failure, Outcome};
    use serde_json::json;

    fn reported(names: &[&str]) -> Outcome {
        let results: Vec<_> = names.iter().map(|name| json!({ "name": name, "verdict": "holds" })).collect();
        Outcome::Reported(json!({ "schema": "avr-tvar/report/1", "results": results, "stack": { "exact": 2 } }))
    }

    #[test]
    fn whatever_was_torn_the_rest_is_whole() {
        let folder = tempfile::tempdir().expect("there is a directory for temporary files");
        let path = folder.path().join("j.jsonl");
        let failed = Outcome::Failed(Failure { code: 2, message: "no such\nfile".to_owned() });
        let mut journal = Journal::create(&path).expect("it is created");
        journal.add("a", "1", &reported(&["p", "q"])).expect("it is written");
        journal.add("b", "2", &failed).expect("it is written");
        journal.add("c", "3", &reported(&["r", "s"])).expect("it is written");
        drop(journal);
        let text = std::fs::read(&path).expect("it is there");
        let ends: Vec<usize> =
            text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
        assert_eq!(ends.len(), 5);
        for length in 0..=text.len() {
            let (known, whole) = parse("j", &text[..length]).unwrap_or_else(|error| panic!("{length}: {error}"));
            assert_eq!(whole, ends.iter().copied().filter(|end| *end <= length).max().unwrap_or(0));
            assert_eq!(known.get("1"), (length >= ends[1]).then(|| reported(&["p", "q"])).as_ref(), "{length}");
            assert_eq!(known.get("2"), (length >= ends[2]).then_some(&failed), "{length}");
            assert_eq!(known.get("3"), (length >= ends[4]).then(|| reported(&["r", "s"])).as_ref(), "{length}");
        }
        std::fs::write(&path, &text[..ends[3] + 7]).expect("it is torn");
        let (known, mut journal) = Journal::resume(&path).expect("it goes on");
        assert_eq!(known.len(), 2);
        assert!(Journal::resume(&path).is_err_and(|error| error.to_string().contains("in use")));
        journal.add("c", "3", &reported(&["r", "s"])).expect("it is written");
        drop(journal);
        assert_eq!(Journal::resume(&path).expect("it goes on").0.len(), 3);
    }

    #[test]
    fn what_is_no_line_is_named_with_its_number() {
        let check = |text: &str, expected: &str| {
            let error = parse("j", text.as_bytes()).expect_err("it is none").to_string();
            assert!(error.contains(expected), "{error}");
        };
        check("{]\n{}\n", "j: line 1");
        check("\n\nnonsense\n", "j: line 3");
        check("{\"schema\":\"other\",\"run\":\"\",\"key\":\"\",\"property\":0,\"of\":0}\n", "its schema is 'other'");
    }
}
