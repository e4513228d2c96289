//! The journal of a batch: a JSON line for each property that is finished. Each line is written as a whole and brought
//! to the disk before anything else happens, so that nothing is lost at any moment.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::manifest::{Run, Subject};
use super::outcome::{Failure, Outcome};
use crate::error::{InputError, InputErrorKind};
use crate::inputs::{IDENTITY, Inputs, Role};
use crate::output;

/// The name and version of the format.
const SCHEMA: &str = "avr-tvar/journal/2";
/// The beginning of the names of all versions.
const FAMILY: &str = "avr-tvar/journal/";

/// A line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    schema: String,
    /// The name of the run, for people.
    run: String,
    /// The key of the subject: see [`Subject::key`].
    key: String,
    /// The subject of the verification.
    subject: Subject,
    /// The number of the property, from 0; 0 as well for a run without properties and for one that failed.
    property: usize,
    /// The number of properties of the run; 0 if it failed.
    of: usize,
    /// The exit code of the run.
    code: u8,
    /// The report without its results.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    report: Value,
    /// The result of the property.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    result: Value,
    /// The reason why the run failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<Failure>,
}

/// A journal that is being written. While it is open no other process can write it.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    path: String,
}

/// The outcomes of the runs that are complete in a journal, by their keys.
#[derive(Debug, Default)]
pub(super) struct EarlyResults {
    outcomes: BTreeMap<String, Told>,
}

/// The outcome of a run, and its name.
#[derive(Debug, PartialEq)]
struct Told {
    run: String,
    outcome: Outcome,
}

impl EarlyResults {
    /// The outcome of a run.
    pub(super) fn get(&self, run: &Run) -> Option<&Outcome> {
        Some(&self.outcomes.get(&run.subject.key())?.outcome)
    }

    /// True if it has something of one of these runs, or nothing at all.
    pub(super) fn is_about(&self, runs: &[Run]) -> bool {
        self.outcomes.is_empty() || runs.iter().any(|run| self.get(run).is_some())
    }

    /// Adds what came of a run. A report replaces a failure, because a run that failed is tried again.
    fn add(&mut self, key: String, told: Told) -> Result<(), Conflict> {
        match (self.outcomes.get(&key).map(|known| &known.outcome), &told.outcome) {
            (Some(Outcome::Reported { .. }), Outcome::Failed(_)) => Ok(()),
            (Some(before), Outcome::Reported { .. }) if before.contradicts(&told.outcome) => {
                Err(Conflict { run: told.run })
            }
            _ => {
                self.outcomes.insert(key, told);
                Ok(())
            }
        }
    }

    /// Adds what another journal says.
    ///
    /// # Errors
    /// If both have different verdicts of one run.
    pub(super) fn extend(&mut self, path: &Path, other: Self) -> Result<(), InputError> {
        for (key, told) in other.outcomes {
            self.add(key, told).map_err(|conflict| conflict.of(&path.display().to_string()))?;
        }
        Ok(())
    }
}

/// That there are different verdicts of one run.
#[derive(Debug)]
struct Conflict {
    run: String,
}

impl Conflict {
    fn of(self, path: &str) -> InputError {
        InputErrorKind::ConflictingJournal { path: path.to_owned(), run: self.run }.into()
    }
}

/// A journal that was read.
#[derive(Debug)]
struct Content {
    known: EarlyResults,
    /// The length of its whole lines in bytes.
    whole: usize,
    /// The schema and the program, if they are others than those of this program. Then nothing of it is known.
    foreign: Option<String>,
}

impl Journal {
    /// Begins a journal.
    ///
    /// # Errors
    /// If there is one already, or it cannot be written.
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

    /// Goes on with a journal, or begins one if there is none: what it says, and the journal. A line that was not
    /// written to its end is taken away. So is everything in a journal of another version of the program or the format.
    ///
    /// # Errors
    /// If it cannot be read or written, or is no journal.
    pub(super) fn resume(path: &Path) -> Result<(EarlyResults, Self), InputError> {
        if !path.exists() {
            return Ok((EarlyResults::default(), Self::create(path)?));
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
        let Content { known, mut whole, foreign } = parse(&journal.path, &text)?;
        if let Some(foreign) = foreign {
            output::note(&format!("{} is of {foreign}: everything is verified anew", journal.path));
            whole = 0;
        }
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
    /// If it cannot be written.
    pub(super) fn add(&mut self, run: &Run, outcome: &Outcome) -> Result<(), InputError> {
        for line in lines(run, outcome) {
            let mut text = serde_json::to_vec(&line).map_err(|error| self.failed(error.into()))?;
            text.push(b'\n');
            self.file.write_all(&text).map_err(|error| self.failed(error))?;
            self.file.sync_data().map_err(|error| self.failed(error))?;
        }
        Ok(())
    }
}

/// Reads a journal of this program that nobody needs to write.
///
/// # Errors
/// If it cannot be read, is none, or is of another version of the program or the format.
pub(super) fn read(path: &Path) -> Result<EarlyResults, InputError> {
    let input = Inputs::default().read(Role::Journal, path)?;
    match parse(&input.name(), &input.bytes)? {
        Content { foreign: Some(foreign), .. } => {
            Err(InputErrorKind::ForeignJournal { path: input.name(), foreign }.into())
        }
        Content { known, .. } => Ok(known),
    }
}

fn lines(run: &Run, outcome: &Outcome) -> Vec<Line> {
    let line = |property, of, report, result, failure| Line {
        schema: SCHEMA.to_owned(),
        run: run.name.clone(),
        key: run.subject.key(),
        subject: run.subject.clone(),
        property,
        of,
        code: outcome.code(),
        report,
        result,
        failure,
    };
    match outcome {
        Outcome::Failed(failure) => vec![line(0, 0, Value::Null, Value::Null, Some(failure.clone()))],
        Outcome::Reported { report, .. } => {
            let results = outcome.results().to_vec();
            let mut head = report.clone();
            head["results"] = Value::Array(Vec::new());
            let of = results.len();
            if of == 0 {
                return vec![line(0, 0, head, Value::Null, None)];
            }
            let results = results.into_iter().enumerate();
            results.map(|(number, result)| line(number, of, head.clone(), result, None)).collect()
        }
    }
}

/// The name of a line's schema and of the program that wrote it.
fn origin(line: &Value) -> (&str, &str) {
    (line["schema"].as_str().unwrap_or_default(), line["subject"]["tool"].as_str().unwrap_or_default())
}

/// Reads the content of a journal, of which only the last line may be torn.
fn parse(name: &str, text: &[u8]) -> Result<Content, InputError> {
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    let lines = text[..whole].split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
    let wrong = |number: usize, reason: String| -> InputError {
        InputErrorKind::Journal { path: name.to_owned(), line: number + 1, reason }.into()
    };
    let mut parsed: Vec<(usize, Value)> = Vec::new();
    for (number, line) in lines {
        let line: Value = serde_json::from_slice(line).map_err(|error| wrong(number, error.to_string()))?;
        if !origin(&line).0.starts_with(FAMILY) {
            return Err(wrong(number, format!("its schema is '{}'", origin(&line).0)));
        }
        if parsed.first().is_some_and(|(_, first)| origin(first) != origin(&line)) {
            return Err(wrong(number, "it is of another version of avr-tvar than the first line".to_owned()));
        }
        parsed.push((number, line));
    }
    let foreign = parsed.first().map(|(_, first)| origin(first)).filter(|found| *found != (SCHEMA, IDENTITY));
    if let Some((schema, tool)) = foreign {
        let foreign = Some(if schema == SCHEMA { format!("avr-tvar {tool}") } else { format!("the format {schema}") });
        return Ok(Content { known: EarlyResults::default(), whole, foreign });
    }
    let mut known = EarlyResults::default();
    let mut attempt = Vec::new();
    for (number, line) in parsed {
        let line: Line = serde_json::from_value(line).map_err(|error| wrong(number, error.to_string()))?;
        check(&line, &attempt).map_err(|reason| wrong(number, reason))?;
        if line.property == 0 {
            attempt.clear();
        }
        attempt.push(line);
        if let Some((key, told)) = complete(&attempt) {
            attempt.clear();
            known.add(key, told).map_err(|conflict| conflict.of(name))?;
        }
    }
    Ok(Content { known, whole, foreign: None })
}

/// Checks a line against its key, and against the lines of the same run before it. These are written one after the other by
/// one process: the end of an attempt may be missing, but nothing between its lines.
fn check(line: &Line, attempt: &[Line]) -> Result<(), String> {
    if line.key != line.subject.key() {
        return Err("its key is not that of what was verified".to_owned());
    }
    if line.report.is_object() == line.failure.is_some() {
        return Err("it has neither a result nor a failure".to_owned());
    }
    if line.failure.is_none() {
        line.subject.check(&line.report)?;
    }
    let follows = attempt.len() == line.property
        && attempt.iter().all(|before| {
            (&before.key, before.of, before.code, &before.report) == (&line.key, line.of, line.code, &line.report)
        });
    if line.property > 0 && !follows || line.property > line.of.saturating_sub(1) {
        return Err("it does not follow the lines of the same run".to_owned());
    }
    Ok(())
}

/// The outcome of a run, if all its lines are there.
fn complete(attempt: &[Line]) -> Option<(String, Told)> {
    let first = attempt.first()?;
    let outcome = match &first.failure {
        Some(failure) => Outcome::Failed(failure.clone()),
        None if attempt.len() < first.of => return None,
        None => {
            let mut report = first.report.clone();
            let results = attempt.iter().map(|line| line.result.clone()).filter(|result| !result.is_null());
            report["results"] = Value::Array(results.collect());
            Outcome::Reported { report, code: first.code }
        }
    };
    Some((first.key.clone(), Told { run: first.run.clone(), outcome }))
}

#[cfg(test)]
mod tests {
    use super::{Journal, Run, Subject, parse};
    use crate::batch::outcome::{Failure, Outcome};
    use crate::inputs::IDENTITY;
    use avr_report::InputFile;
    use serde_json::{Value, json};

    /// A run of a firmware with this digest.
    fn run(position: usize, sha256: &str) -> Run {
        let firmware =
            InputFile { role: "firmware".to_owned(), path: "a.elf".to_owned(), sha256: sha256.to_owned(), bytes: 1 };
        let subject = Subject { tool: IDENTITY.to_owned(), position, options: Vec::new(), inputs: vec![firmware] };
        Run { name: format!("run {position}"), files: Vec::new(), subject }
    }

    /// The outcome that a worker reports of a run; names and verdicts of the properties.
    fn reported(run: &Run, results: &[(&str, &str)]) -> Outcome {
        let result = |(name, verdict): &(&str, &str)| json!({ "name": name, "verdict": verdict });
        let results: Vec<_> = results.iter().map(result).collect();
        let report = json!({
            "tool": IDENTITY,
            "firmware": { "sha256": run.subject.inputs[0].sha256 },
            "inputs": run.subject.inputs,
            "results": results,
        });
        Outcome::Reported { report, code: 0 }
    }

    fn failed(code: u8) -> Outcome {
        Outcome::Failed(Failure { code, message: "no such\nfile".to_owned() })
    }

    /// The text of a journal to which these were added.
    fn text(added: &[(&Run, Outcome)]) -> String {
        let folder = tempfile::tempdir().expect("there is a directory for temporary files");
        let path = folder.path().join("j.jsonl");
        let mut journal = Journal::create(&path).expect("it is created");
        added.iter().for_each(|(run, outcome)| journal.add(run, outcome).expect("it is written"));
        std::fs::read_to_string(&path).expect("it is there")
    }

    #[test]
    fn whatever_was_torn_the_rest_is_whole() {
        let (a, b, c) = (run(0, "aa"), run(1, "bb"), run(2, "cc"));
        let both = [("p", "holds"), ("q", "violated")];
        let text = text(&[(&a, reported(&a, &both)), (&b, failed(2)), (&c, reported(&c, &both))]).into_bytes();
        let ends: Vec<usize> =
            text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
        assert_eq!(ends.len(), 5);
        for length in 0..=text.len() {
            let content = parse("j", &text[..length]).unwrap_or_else(|error| panic!("{length}: {error}"));
            assert_eq!(content.whole, ends.iter().copied().filter(|end| *end <= length).max().unwrap_or(0));
            let known = |run| content.known.get(run).cloned();
            assert_eq!(known(&a), (length >= ends[1]).then(|| reported(&a, &both)), "{length}");
            assert_eq!(known(&b), (length >= ends[2]).then(|| failed(2)), "{length}");
            assert_eq!(known(&c), (length >= ends[4]).then(|| reported(&c, &both)), "{length}");
        }
        let folder = tempfile::tempdir().expect("there is a directory for temporary files");
        let path = folder.path().join("j.jsonl");
        std::fs::write(&path, &text[..ends[3] + 7]).expect("it is torn");
        let (known, mut journal) = Journal::resume(&path).expect("it goes on");
        assert!(known.get(&b).is_some() && known.get(&c).is_none());
        assert!(Journal::resume(&path).is_err_and(|error| error.to_string().contains("in use")));
        // The first attempt was not complete, and came to something else.
        journal.add(&c, &reported(&c, &[("p", "unknown"), ("q", "violated")])).expect("it is written");
        drop(journal);
        assert!(Journal::resume(&path).expect("it goes on").0.get(&c).is_some());
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

    /// The journal of a run with two properties whose lines are altered.
    #[track_caller]
    fn check_altered(alter: impl Fn(&mut Vec<Value>), expected: Option<&str>) {
        let a = run(0, "aa");
        let text = text(&[(&a, reported(&a, &[("p", "holds"), ("q", "holds")]))]);
        let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
        alter(&mut lines);
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let error = parse("j", text.as_bytes()).err().map(|error| error.to_string());
        match expected {
            Some(expected) => assert!(error.as_ref().is_some_and(|error| error.contains(expected)), "{error:?}"),
            None => assert_eq!(error, None),
        }
    }

    #[test]
    fn lines_are_verified_against_their_keys() {
        check_altered(|_| {}, None);
        let key = Some("its key is not that of what was verified");
        check_altered(|lines| lines[0]["subject"]["position"] = 1.into(), key);
        check_altered(|lines| lines[1]["subject"]["options"] = json!(["--strict"]), key);
        check_altered(|lines| lines[0]["subject"]["inputs"][0]["sha256"] = "bb".into(), key);
        check_altered(|lines| lines[0]["key"] = "00".into(), key);
        let of_others = Some("the report is of another");
        check_altered(|lines| lines[0]["report"]["firmware"]["sha256"] = "bb".into(), of_others);
        check_altered(|lines| lines[0]["report"]["inputs"][0]["sha256"] = "bb".into(), of_others);
        check_altered(|lines| lines[0]["report"]["tool"] = "other".into(), of_others);
    }

    #[test]
    fn lines_of_several_origins_are_not_mixed() {
        let order = Some("it does not follow the lines of the same run");
        check_altered(|lines| _ = lines.remove(0), order);
        check_altered(|lines| lines.push(lines[1].clone()), order);
        check_altered(|lines| lines[1]["report"]["peak_memory_bytes"] = 1.into(), order);
        check_altered(|lines| lines[0]["property"] = 2.into(), order);
        let other = Some("it is of another version of avr-tvar than the first line");
        check_altered(|lines| lines[1]["subject"]["tool"] = "0.0.1".into(), other);
        check_altered(|lines| lines[1]["schema"] = "avr-tvar/journal/1".into(), other);
    }

    #[test]
    fn verdicts_that_differ_are_a_conflict() {
        let a = run(0, "aa");
        let with = |verdict: &str| (&a, reported(&a, &[("p", verdict)]));
        let parsed = |added: &[(&Run, Outcome)]| parse("j", text(added).as_bytes());
        let error = parsed(&[with("holds"), with("violated")]).expect_err("they differ").to_string();
        assert_eq!(error, "j: has other verdicts of run 0 than were read before");
        for same in
            [&[with("holds"), with("holds")][..], &[(&a, failed(4)), with("holds")], &[with("holds"), (&a, failed(4))]]
        {
            let known = parsed(same).expect("they agree").known;
            assert_eq!(known.get(&a), Some(&with("holds").1));
        }
        assert_eq!(parsed(&[(&a, failed(2)), (&a, failed(4))]).expect("both failed").known.get(&a), Some(&failed(4)));
    }
}
