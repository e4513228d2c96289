//! Running the runs of a batch side by side, each as a process of its own: what one of them takes or breaks does not concern
//! the others.

use std::collections::BTreeMap;
use std::io;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::manifest::Run;
use super::outcome::{Failure, Outcome};

/// A message of a worker.
pub(super) enum News {
    /// The run with this number has begun.
    Begun(usize),
    /// The outcome of the run; none if it was stopped.
    Ended(usize, Option<Outcome>),
}

/// The state that workers share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// The next run, as a position among those that wait.
    next: AtomicUsize,
    stopped: AtomicBool,
    /// The standard input of each process that runs: it ends when that is closed, also because we are gone.
    running: Mutex<BTreeMap<usize, ChildStdin>>,
}

impl Shared {
    /// Stops all runs and begins no other.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.running().clear();
    }

    /// True if it was stopped.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<usize, ChildStdin>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes one of the waiting runs after the other until there are no more.
pub(super) fn work(runs: &[Run], waiting: &[usize], shared: &Arc<Shared>, news: &Sender<News>) {
    while let Some(number) = waiting.get(shared.next.fetch_add(1, Ordering::SeqCst)) {
        if shared.is_stopped() || news.send(News::Begun(*number)).is_err() {
            return;
        }
        let outcome = verify(&runs[*number], *number, shared).unwrap_or_else(|error| {
            let message = format!("the verification cannot be started: {error}");
            Some(Outcome::Failed(Failure { code: 4, message }))
        });
        if news.send(News::Ended(*number, outcome)).is_err() {
            return;
        }
    }
}

/// Verifies; none if it was stopped.
fn verify(run: &Run, number: usize, shared: &Shared) -> io::Result<Option<Outcome>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["verify", "--no-config", "--attached", "--format", "json", "--jobs", "1"]).args(&run.subject.options);
    command.args(&run.files);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(stdin) = child.stdin.take() {
        shared.running().insert(number, stdin);
    }
    // It may have been stopped before its standard input was there to be closed.
    if shared.is_stopped() {
        shared.running().remove(&number);
    }
    let output = child.wait_with_output()?;
    shared.running().remove(&number);
    if shared.is_stopped() {
        return Ok(None);
    }
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok(Some(match (output.status.code(), serde_json::from_slice::<Value>(&output.stdout)) {
        (Some(code @ (0 | 1 | 3 | 4)), Ok(report)) => match run.subject.check(&report) {
            Ok(()) => Outcome::Reported { report, code: code.unsigned_abs() as u8 },
            Err(reason) => Outcome::Failed(Failure { code: 2, message: format!("while it was verified, {reason}") }),
        },
        (Some(2), _) => Outcome::Failed(Failure { code: 2, message }),
        (code, _) => {
            let how = code.map_or_else(|| output.status.to_string(), |code| format!("exit code {code}"));
            Outcome::Failed(Failure { code: 4, message: format!("it ended with {how}: {message}") })
        }
    }))
}
