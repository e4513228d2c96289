//! One run of a program: how long it took, how much memory it needed, and how it ended.

use std::io::Read;
use std::process::{ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;
use wait4::Wait4;

use crate::error::Error;

/// What one run cost, from its start to its end, as the system counted it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// Time that passed.
    pub seconds: f64,
    /// Time that processors worked for it, in all threads.
    pub cpu_seconds: f64,
    /// The largest amount of memory that was resident at one time.
    pub peak_memory_bytes: u64,
}

/// A run that has ended.
#[derive(Clone, Debug)]
pub struct Run {
    /// What it cost.
    pub cost: Cost,
    /// The exit code; none when a signal ended it.
    pub exit_code: Option<i32>,
    /// The time limit was over.
    pub timed_out: bool,
    /// What it wrote to its standard output.
    pub output: String,
}

/// Runs `command` to its end, or kills it when `limit` is over.
///
/// # Errors
/// [`Error::Start`] when it cannot be started or waited for.
pub fn run(mut command: Command, limit: Duration) -> Result<Run, Error> {
    let program = command.get_program().into();
    run_unnamed(&mut command, limit).map_err(|source| Error::Start { program, source })
}

/// Runs `command` to its end, or interrupts it when processors have worked for it as long as `limit`, so that it reports what
/// is known by then. Other work at the same time does not shorten what it may do.
///
/// # Errors
/// [`Error::Start`] when it cannot be started or waited for.
pub fn run_for_cpu_time(mut command: Command, limit: Duration) -> Result<Run, Error> {
    let program = command.get_program().into();
    let watch = |process| Watchdog::of_cpu_time(process, limit);
    run_watched(&mut command, watch).map_err(|source| Error::Start { program, source })
}

fn run_unnamed(command: &mut Command, limit: Duration) -> std::io::Result<Run> {
    run_watched(command, |process| Watchdog::new(process, limit))
}

fn run_watched(command: &mut Command, watch: impl FnOnce(Pid) -> Watchdog) -> std::io::Result<Run> {
    let start = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let output = child.stdout.take().map(read_in_background);
    let watchdog = watch(Pid::from_child(&child));
    let used = child.wait4()?;
    let seconds = start.elapsed().as_secs_f64();
    let timed_out = watchdog.stop();
    let cpu_seconds = (used.rusage.utime + used.rusage.stime).as_secs_f64();
    Ok(Run {
        cost: Cost { seconds, cpu_seconds, peak_memory_bytes: used.rusage.maxrss },
        exit_code: used.status.code(),
        timed_out,
        output: output.and_then(|reader| reader.join().ok()).unwrap_or_default(),
    })
}

/// A pipe that nobody reads would stop the program.
fn read_in_background(mut pipe: ChildStdout) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // A program that is killed while it writes leaves a part of its output, which is as good as none.
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// How often the CPU time of a process is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// The CPU time of all threads of a process so far; none when it has ended.
fn cpu_time(process: Pid) -> Option<Duration> {
    let status = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
    // The name of the program, in parentheses, may have anything in it; user and system time are fields 14 and 15.
    let (_, fields) = status.rsplit_once(')')?;
    let ticks: u64 = fields.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Some(Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64))
}

/// Ends a process after a time, unless it is stopped before.
struct Watchdog {
    ended: mpsc::Sender<()>,
    thread: thread::JoinHandle<bool>,
}

impl Watchdog {
    fn new(process: Pid, limit: Duration) -> Self {
        let (ended, end) = mpsc::channel();
        let thread = thread::spawn(move || {
            let over = end.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout);
            // It may have ended in this very moment; then there is nothing to kill.
            over && kill_process(process, Signal::KILL).is_ok()
        });
        Self { ended, thread }
    }

    /// Interrupts a process when processors have worked for it this long.
    fn of_cpu_time(process: Pid, limit: Duration) -> Self {
        let (ended, end) = mpsc::channel();
        let thread = thread::spawn(move || {
            while end.recv_timeout(LOOK) == Err(mpsc::RecvTimeoutError::Timeout) {
                if cpu_time(process).is_some_and(|time| time >= limit) {
                    return kill_process(process, Signal::INT).is_ok();
                }
            }
            false
        });
        Self { ended, thread }
    }

    /// Whether the process was ended.
    fn stop(self) -> bool {
        drop(self.ended);
        self.thread.join().unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::{Run, run, run_for_cpu_time};
    use std::process::Command;
    use std::time::Duration;

    fn shell(script: &str, limit: Duration) -> Run {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, limit).unwrap()
    }

    #[test]
    fn a_run_that_ends_has_its_exit_code_and_output() {
        let run = shell("echo out; exit 3", Duration::from_secs(60));
        assert_eq!((run.exit_code, run.timed_out, run.output.as_str()), (Some(3), false, "out\n"));
        assert!(run.cost.seconds > 0.0 && run.cost.peak_memory_bytes > 0, "{:?}", run.cost);
    }

    #[test]
    fn a_run_over_its_limit_is_killed() {
        let run = shell("exec sleep 60", Duration::from_millis(50));
        assert_eq!((run.exit_code, run.timed_out), (None, true));
        assert!((0.05..30.0).contains(&run.cost.seconds), "{:?}", run.cost);
    }

    #[test]
    fn a_run_that_works_too_long_is_interrupted_and_one_that_waits_is_not() {
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            run_for_cpu_time(command, Duration::from_millis(200)).unwrap()
        };
        let busy = shell("trap 'echo interrupted; exit 130' INT; while :; do :; done");
        assert_eq!((busy.exit_code, busy.timed_out, busy.output.as_str()), (Some(130), true, "interrupted\n"));
        assert!(busy.cost.cpu_seconds >= 0.15, "{:?}", busy.cost);
        let idle = shell("sleep 0.5; exit 3");
        assert_eq!((idle.exit_code, idle.timed_out), (Some(3), false));
    }

    #[test]
    fn a_program_that_does_not_exist_is_named() {
        let error = run(Command::new("no/such/program"), Duration::ZERO).unwrap_err();
        assert!(error.to_string().starts_with("cannot run no/such/program: "), "{error}");
    }
}
