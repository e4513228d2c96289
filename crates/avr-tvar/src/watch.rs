//! Verification again and again: whenever a file that it reads has another content.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use notify::{EventKind, RecursiveMode, Watcher, recommended_watcher};

use crate::error::{InputError, InputErrorKind};
use crate::exit::Exit;
use crate::inputs::Role;
use crate::job;
use crate::options::Verify;
use crate::output;

/// The time for which files must rest before they are read: a linker writes more than once.
const REST: Duration = Duration::from_millis(150);
/// The time between two looks at the process that verifies.
const TICK: Duration = Duration::from_millis(50);
/// The time that an interrupted verification has to report.
const LAST_MOMENT: Duration = Duration::from_secs(5);

/// An event to react to.
enum News {
    /// Something happened in a folder with a file of interest.
    Changed,
    /// The user interrupted.
    Interrupted,
}

/// The digests of the files, by path; a file that cannot be read is not there.
type Contents = BTreeMap<PathBuf, String>;

/// Verifies now and after each change of the firmware, the property file, or a file that these name, until the user
/// interrupts. Each verification is a process of its own, with the same command line.
///
/// # Errors
/// If the files cannot be watched or the process cannot be started.
pub(crate) fn run(verify: &Verify, configuration: Option<&Path>, line: &[OsString]) -> Result<Exit, InputError> {
    let (sender, news) = channel();
    let interrupted = sender.clone();
    // Without a handler, which a system may refuse, an interrupt ends the process.
    let _ = ctrlc::set_handler(move || {
        let _ = interrupted.send(News::Interrupted);
    });
    let mut watcher = recommended_watcher(move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|event| !matches!(event.kind, EventKind::Access(_))) {
            let _ = sender.send(News::Changed);
        }
    })
    .map_err(cannot_watch)?;
    let mut folders: Vec<PathBuf> = Vec::new();
    loop {
        let contents = contents(verify, configuration);
        for folder in paths(verify, &contents).map(folder_of).filter(|folder| folder.is_dir()) {
            if !folders.contains(&folder) {
                watcher.watch(&folder, RecursiveMode::NonRecursive).map_err(cannot_watch)?;
                folders.push(folder);
            }
        }
        let changed = || self::contents(verify, configuration) != contents;
        let mut process = Process::start(line).map_err(cannot_watch)?;
        if let Next::Interrupted = process.wait(&news, changed)? {
            return Ok(Exit::Interrupted);
        }
        output::note("a file has changed: verifying again");
    }
}

/// The next thing to do.
enum Next {
    /// Verify again.
    Again,
    /// End.
    Interrupted,
}

/// A process that verifies.
struct Process {
    child: Child,
    /// Closing it ends the process.
    stdin: Option<ChildStdin>,
}

impl Process {
    fn start(line: &[OsString]) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        let end = line.iter().position(|word| word == "--").unwrap_or(line.len());
        let (options, files) = line.split_at(end);
        command
            .args(options.iter().skip(1).map(|word| if word == "--watch" { OsStr::new("--attached") } else { word }));
        let mut child = command.args(files).stdin(Stdio::piped()).spawn()?;
        let stdin = child.stdin.take();
        Ok(Self { child, stdin })
    }

    /// Waits for a change, also after the end of the verification; a verification of files that have changed is ended.
    fn wait(&mut self, news: &Receiver<News>, changed: impl Fn() -> bool) -> Result<Next, InputError> {
        let mut has_ended = false;
        loop {
            match news.recv_timeout(TICK) {
                Ok(News::Interrupted) | Err(RecvTimeoutError::Disconnected) => {
                    self.end(LAST_MOMENT)?;
                    return Ok(Next::Interrupted);
                }
                Ok(News::Changed) => {
                    if rest(news) {
                        self.end(LAST_MOMENT)?;
                        return Ok(Next::Interrupted);
                    }
                    if changed() {
                        self.end(Duration::ZERO)?;
                        return Ok(Next::Again);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if !has_ended && self.child.try_wait().map_err(cannot_watch)?.is_some() {
                has_ended = true;
                output::note("waiting for changes of the files; Ctrl-C ends");
            }
        }
    }

    /// Waits for the end of the process, and brings it about when the time is over.
    fn end(&mut self, time: Duration) -> Result<(), InputError> {
        let started = Instant::now();
        while self.child.try_wait().map_err(cannot_watch)?.is_none() && started.elapsed() < time {
            std::thread::sleep(TICK);
        }
        self.stdin = None;
        self.child.wait().map(drop).map_err(cannot_watch)
    }
}

/// Waits until nothing happens any more; true if the user interrupted meanwhile.
fn rest(news: &Receiver<News>) -> bool {
    loop {
        match news.recv_timeout(REST) {
            Ok(News::Changed) => {}
            Ok(News::Interrupted) | Err(RecvTimeoutError::Disconnected) => return true,
            Err(RecvTimeoutError::Timeout) => return false,
        }
    }
}

fn contents(verify: &Verify, configuration: Option<&Path>) -> Contents {
    let properties = verify.properties.as_deref();
    let mut inputs = job::readable(&verify.firmware, properties, verify.baseline.as_deref());
    if let Some(path) = configuration {
        let _ = inputs.read(Role::Configuration, path);
    }
    inputs.all().map(|input| (input.path.clone(), input.sha256.clone())).collect()
}

/// The files to watch: those that were read, and those that must come to be there.
fn paths<'a>(verify: &'a Verify, contents: &'a Contents) -> impl Iterator<Item = &'a Path> {
    let named = [Some(&verify.firmware), verify.properties.as_ref(), verify.baseline.as_ref()];
    named.into_iter().flatten().chain(contents.keys()).map(PathBuf::as_path)
}

fn folder_of(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_owned()
}

fn cannot_watch(error: impl std::fmt::Display) -> InputError {
    InputErrorKind::Watch { reason: error.to_string() }.into()
}
