//! The commands `verify-all` and `merge`: many images and properties, in parallel, with a journal.

mod journal;
mod manifest;
mod outcome;
mod pool;
mod report;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::error::{InputError, InputErrorKind};
use crate::exit::Exit;
use crate::output;
use crate::outputs::Outputs;
use journal::{EarlyResults, Journal};
use manifest::{Manifest, Run};
use outcome::{Outcome, Totals};
use pool::{News, Shared};

pub(crate) const HELP: &str = "\
Examples:
  avr-tvar verify-all firmware.ron
  avr-tvar verify-all firmware.ron --journal night.jsonl            and after an interruption:
  avr-tvar verify-all firmware.ron --journal night.jsonl --resume
  avr-tvar verify-all firmware.ron --shard 3/8 --journal 3.jsonl    one of eight parts, on any machine

Exit codes: as those of `verify`, of all runs together; 2 if the input of one is wrong.";

pub(crate) const MERGE_HELP: &str = "\
Example:
  avr-tvar merge firmware.ron 1.jsonl 2.jsonl 3.jsonl

The report and the exit code are those of `avr-tvar verify-all firmware.ron` in one go.";

/// The time between two looks at the display and at interrupts by the user.
const TICK: Duration = Duration::from_millis(100);

/// The arguments of `verify-all`.
#[derive(Clone, Debug, Args)]
pub struct VerifyAll {
    /// The images, property files and limits (RON); paths in it are relative to its folder
    pub manifest: PathBuf,
    /// Add a JSON line for each finished property to this file
    #[arg(long, value_name = "FILE")]
    pub journal: Option<PathBuf>,
    /// Go on with the journal: what it has is not verified again
    #[arg(long, requires = "journal")]
    pub resume: bool,
    /// Verify only part i of n: every n-th run, beginning with the i-th
    #[arg(long, value_name = "i/n", value_parser = shard)]
    pub shard: Option<Shard>,
    /// Accept a manifest or a part without runs, and runs without properties
    #[arg(long)]
    pub allow_empty: bool,
    /// Format of the report
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: BatchFormat,
    /// How many runs at the same time; by default as many as there are processors
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
}

/// The arguments of `merge`.
#[derive(Clone, Debug, Args)]
pub struct Merge {
    /// The manifest of the batch
    pub manifest: PathBuf,
    /// The journals of its parts
    #[arg(required = true)]
    pub journals: Vec<PathBuf>,
    /// Accept a manifest without runs, and what was verified with this option
    #[arg(long)]
    pub allow_empty: bool,
    /// Format of the report
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: BatchFormat,
}

/// Formats of reports of batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum BatchFormat {
    /// A table.
    #[default]
    Text,
    /// One JSON object.
    Json,
}

/// A part of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The number of the part, from 1.
    number: usize,
    /// Of how many.
    of: usize,
}

fn shard(text: &str) -> Result<Shard, String> {
    let parsed = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
    match parsed {
        Some((number, of)) if 1 <= number && number <= of => Ok(Shard { number, of }),
        _ => Err("write it as i/n with i from 1 to n, as in 3/8".to_owned()),
    }
}

/// Verifies all runs of a manifest.
///
/// # Errors
/// If the command line, the manifest or the journal is wrong.
pub(crate) fn verify_all(arguments: &VerifyAll) -> Result<Exit, InputError> {
    let Manifest { runs, inputs } = manifest::read(&arguments.manifest, arguments.allow_empty)?;
    let outputs = Outputs::default().files("the journal", &arguments.journal);
    outputs.check(inputs.iter().map(PathBuf::as_path))?;
    let (known, mut journal) = match (&arguments.journal, arguments.resume) {
        (Some(path), true) => {
            let (known, journal) = Journal::resume(path)?;
            (known, Some(journal))
        }
        (Some(path), false) => (EarlyResults::default(), Some(Journal::create(path)?)),
        (None, _) => (EarlyResults::default(), None),
    };
    let mine = |number: &usize| arguments.shard.is_none_or(|shard| number % shard.of == shard.number - 1);
    let mine: Vec<usize> = (0..runs.len()).filter(mine).collect();
    if let (Some(Shard { number, of }), true) = (arguments.shard, mine.is_empty() && !arguments.allow_empty) {
        let reason = format!("of {} runs, none is in part {number} of {of}", runs.len());
        return Err(InputErrorKind::NothingToVerify { path: arguments.manifest.display().to_string(), reason }.into());
    }
    // A run that failed is tried again.
    let finished = |run: &Run| known.get(run).filter(|outcome| matches!(outcome, Outcome::Reported { .. })).cloned();
    let mut outcomes: Vec<Option<Outcome>> = runs.iter().map(finished).collect();
    let waiting: Vec<usize> = mine.iter().copied().filter(|number| outcomes[*number].is_none()).collect();
    let shared = Arc::new(Shared::default());
    handle_interrupts(&shared);
    let runs = Arc::new(runs);
    let news = start(&runs, &waiting, &shared, arguments.jobs);
    follow(&runs, (mine.len(), waiting.len()), &news, &mut |number, outcome| {
        if let Some(journal) = &mut journal {
            journal.add(&runs[number], &outcome).inspect_err(|_| shared.stop())?;
        }
        outcomes[number] = Some(outcome);
        Ok(())
    })?;
    let finished = mine.iter().filter_map(|number| Some((&runs[*number], outcomes[*number].as_ref()?)));
    print(&finished.collect::<Vec<_>>(), arguments.format, shared.is_stopped())
}

/// Reports what the journals of a batch say together.
///
/// # Errors
/// If the manifest or a journal is wrong, a journal is of another program or batch, or a run is in no journal.
pub(crate) fn merge(arguments: &Merge) -> Result<Exit, InputError> {
    let Manifest { runs, .. } = manifest::read(&arguments.manifest, arguments.allow_empty)?;
    let mut known = EarlyResults::default();
    for path in &arguments.journals {
        let read = journal::read(path)?;
        if !read.is_about(&runs) {
            return Err(InputErrorKind::OtherBatch { path: path.display().to_string() }.into());
        }
        known.extend(path, read)?;
    }
    let missing = runs.iter().filter(|run| known.get(run).is_none()).map(|run| run.name.clone());
    let missing: Vec<String> = missing.collect();
    if !missing.is_empty() {
        return Err(InputErrorKind::MissingRuns { missing }.into());
    }
    let finished: Vec<_> = runs.iter().filter_map(|run| Some((run, known.get(run)?))).collect();
    print(&finished, arguments.format, false)
}

fn print(finished: &[report::Finished<'_>], format: BatchFormat, interrupted: bool) -> Result<Exit, InputError> {
    output::results(&match format {
        BatchFormat::Text => report::text(finished),
        BatchFormat::Json => report::json(finished),
    })?;
    Ok(Totals::of(finished.iter().map(|(_, outcome)| *outcome)).exit(interrupted))
}

/// The first interrupt stops all runs and lets what is finished be reported, the second ends the process.
fn handle_interrupts(shared: &Arc<Shared>) {
    let shared = Arc::clone(shared);
    // Without a handler, which a system may refuse, an interrupt ends the process, and the runs with it.
    let _ = ctrlc::set_handler(move || {
        if shared.is_stopped() {
            std::process::exit(Exit::Interrupted.code().into());
        }
        shared.stop();
    });
}

/// Starts the workers.
fn start(runs: &Arc<Vec<Run>>, waiting: &[usize], shared: &Arc<Shared>, jobs: Option<NonZeroUsize>) -> Receiver<News> {
    let jobs = jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let (sender, receiver) = channel();
    for _ in 0..jobs.min(waiting.len()) {
        let (runs, waiting) = (Arc::clone(runs), waiting.to_vec());
        let (shared, sender) = (Arc::clone(shared), sender.clone());
        thread::spawn(move || pool::work(&runs, &waiting, &shared, &sender));
    }
    receiver
}

/// Waits for all workers, with one display for all.
fn follow(
    runs: &[Run],
    (all, waiting): (usize, usize),
    news: &Receiver<News>,
    finished: &mut dyn FnMut(usize, Outcome) -> Result<(), InputError>,
) -> Result<(), InputError> {
    let bar = ProgressBar::with_draw_target(Some(all as u64), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:24} {pos} of {len} runs, {elapsed}: {wide_msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_position((all - waiting) as u64);
    let mut running: BTreeSet<usize> = BTreeSet::new();
    let result = loop {
        match news.recv_timeout(TICK) {
            Ok(News::Begun(number)) => _ = running.insert(number),
            Ok(News::Ended(number, outcome)) => {
                running.remove(&number);
                bar.inc(u64::from(outcome.is_some()));
                if let Err(error) = outcome.map_or(Ok(()), |outcome| finished(number, outcome)) {
                    break Err(error);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break Ok(()),
        }
        let names: Vec<String> =
            running.iter().map(|number| avr_report::Escaped(&runs[*number].name).to_string()).collect();
        bar.set_message(names.join(", "));
        bar.tick();
    };
    bar.finish_and_clear();
    result
}

#[cfg(test)]
mod tests {
    use super::{Shard, shard};

    #[test]
    fn shards_are_numbered_from_one() {
        assert_eq!(shard("3/8"), Ok(Shard { number: 3, of: 8 }));
        assert_eq!(shard("1/1"), Ok(Shard { number: 1, of: 1 }));
        for wrong in ["0/8", "9/8", "3", "3/", "/8", "a/b", "-1/2", "0/0"] {
            assert!(shard(wrong).is_err(), "{wrong}");
        }
    }
}
