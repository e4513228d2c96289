//! Limits on time and memory, interrupts, and how far the work is.
//!
//! Three lines of defence, because an answer within the limits is worth more than the last bit of work:
//!
//! 1. At a limit, exploration stops ([`Watch::check`]), and the properties are evaluated on what was explored.
//! 2. A grace later, evaluation stops as well ([`Watch::cancelled`]).
//! 3. If the work has still not come to an end, [`Monitor::must_end`] tells the command to report what it told before.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use avr_report::StoppedBy;
use avr_verify::{Exhausted, Progress, Watch};

use crate::memory;
use crate::values::{DEFAULT_TIME, TimeLimit};

/// The time that evaluation may go on after exploration was stopped.
const GRACE: Duration = Duration::from_millis(400);
/// The delay after which the report is made without the work's results. The process must end within a second of its
/// limit.
const LAST_MOMENT: Duration = Duration::from_millis(700);

/// The user's limits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    /// Time from the start of the process.
    pub(crate) time: Option<Duration>,
    /// True if the user said nothing of the time.
    pub(crate) is_default_time: bool,
    /// Bytes.
    pub(crate) memory: Option<usize>,
}

impl Limits {
    /// The limits of a command: where the user says nothing of the time, there is a default.
    pub(crate) fn chosen(time: Option<TimeLimit>, memory: Option<usize>) -> Self {
        let is_default_time = time.is_none();
        let time = match time.unwrap_or(TimeLimit::After(DEFAULT_TIME)) {
            TimeLimit::Never => None,
            TimeLimit::After(time) => Some(time),
        };
        Self { time, is_default_time, memory }
    }
}

/// Watches over a run. The work asks it; the command tells it what the system says.
#[derive(Debug)]
pub(crate) struct Monitor {
    started: Instant,
    limits: Limits,
    /// The largest delay of the work's results.
    last_moment: Duration,
    progress: Mutex<Progress>,
    /// Bytes that the process takes, beyond what is allocated.
    overhead: AtomicUsize,
    /// Microseconds from the start to the first interrupt; `NEVER` without one.
    interrupted: AtomicU64,
    /// The limit that stopped the work, as soon as it did.
    stopped_by: Mutex<Option<Exhausted>>,
}

/// The share of the memory limit that exploration may take: evaluation needs memory as well.
const EXPLORING: Share = Share(40);
/// The share that evaluation may take.
const EVALUATING: Share = Share(95);
/// The share at which the work must be given up.
const AT_ALL: Share = Share(105);

/// One part out of so many of the time limit that the search for findings may take.
const SEARCHING: u32 = 4;

/// A share in percent.
#[derive(Clone, Copy, Debug)]
struct Share(usize);

const NEVER: u64 = u64::MAX;

impl Monitor {
    /// A monitor of a run that started then.
    pub(crate) fn new(started: Instant, limits: Limits) -> Self {
        Self {
            started,
            limits,
            last_moment: LAST_MOMENT,
            progress: Mutex::default(),
            overhead: AtomicUsize::new(0),
            interrupted: AtomicU64::new(NEVER),
            stopped_by: Mutex::default(),
        }
    }

    /// Waits this long for the work's results after a limit, where nothing is worth having without them.
    pub(crate) fn wait_for_results(&mut self, last_moment: Duration) {
        self.last_moment = last_moment;
    }

    /// Takes note that the user interrupts; whether it is not the first time.
    pub(crate) fn interrupt(&self) -> bool {
        let now = self.started.elapsed().as_micros() as u64;
        self.interrupted.compare_exchange(NEVER, now, Ordering::Relaxed, Ordering::Relaxed).is_err()
    }

    /// True if the user interrupted.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed) != NEVER
    }

    /// The limit that stopped the work, if one did.
    pub(crate) fn stopped_by(&self) -> Option<StoppedBy> {
        let limit = self.stopped_by.lock().ok().and_then(|stopped| *stopped)?;
        Some(StoppedBy { limit, is_default: self.limits.is_default_time && matches!(limit, Exhausted::Time(_)) })
    }

    /// True if the search for findings has had its share of the time: a short limit leaves most of it to exploration.
    pub(crate) fn ends_search(&self) -> bool {
        let is_over = |limit: Duration| self.started.elapsed() > limit / SEARCHING;
        self.limits.time.is_some_and(is_over)
    }

    /// The progress of the work.
    pub(crate) fn progress(&self) -> Progress {
        self.progress.lock().map(|progress| progress.clone()).unwrap_or_default()
    }

    /// Time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Asks the system how much memory is taken. Call it every few milliseconds.
    pub(crate) fn measure(&self) {
        if self.limits.memory.is_some() {
            let overhead = memory::taken().saturating_sub(memory::allocated());
            self.overhead.store(overhead, Ordering::Relaxed);
        }
    }

    /// The limit that was passed so far that the run must end without the work's results.
    pub(crate) fn must_end(&self) -> Option<Exhausted> {
        self.exhausted(self.last_moment, AT_ALL)
    }

    /// The limit that is passed, if time may exceed its limit by `late` and memory must stay below a share of its own.
    fn exhausted(&self, late: Duration, share: Share) -> Option<Exhausted> {
        let taken = memory::allocated() + self.overhead.load(Ordering::Relaxed);
        let limit = self.exhausted_with(taken, late, share)?;
        if let Ok(mut stopped) = self.stopped_by.lock() {
            stopped.get_or_insert(limit);
        }
        Some(limit)
    }

    /// The same for a number of bytes that the process takes.
    fn exhausted_with(&self, taken: usize, late: Duration, share: Share) -> Option<Exhausted> {
        let now = self.started.elapsed();
        let interrupted = self.interrupted.load(Ordering::Relaxed);
        if interrupted != NEVER && now >= Duration::from_micros(interrupted).saturating_add(late) {
            return Some(Exhausted::Interrupted);
        }
        if let Some(limit) = self.limits.time.filter(|limit| now >= limit.saturating_add(late)) {
            return Some(Exhausted::Time(limit));
        }
        let limit = self.limits.memory.filter(|limit| taken >= limit / 100 * share.0)?;
        Some(Exhausted::Memory(limit))
    }
}

impl Watch for Monitor {
    fn check(&self, progress: &Progress) -> Option<Exhausted> {
        if let Ok(mut latest) = self.progress.try_lock() {
            latest.clone_from(progress);
        }
        self.exhausted(Duration::ZERO, EXPLORING)
    }

    fn cancelled(&self) -> bool {
        self.exhausted(GRACE, EVALUATING).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::{AT_ALL, EVALUATING, EXPLORING, Limits, Monitor, TimeLimit};
    use avr_verify::{Exhausted, Progress, Watch};
    use std::time::{Duration, Instant};

    /// A monitor of a run that started some time ago.
    fn monitor(milliseconds_ago: u64, limits: Limits) -> Monitor {
        Monitor::new(Instant::now() - Duration::from_millis(milliseconds_ago), limits)
    }

    #[track_caller]
    fn check(monitor: &Monitor, expected: (Option<Exhausted>, bool, Option<Exhausted>)) {
        let observed = (monitor.check(&Progress::default()), monitor.cancelled(), monitor.must_end());
        assert_eq!(observed, expected);
    }

    #[test]
    fn exploration_ends_first_and_evaluation_later() {
        let limits = Limits { time: Some(Duration::from_secs(10)), ..Limits::default() };
        let time = Exhausted::Time(Duration::from_secs(10));
        check(&monitor(9_000, limits), (None, false, None));
        check(&monitor(10_100, limits), (Some(time), false, None));
        check(&monitor(10_500, limits), (Some(time), true, None));
        check(&monitor(10_800, limits), (Some(time), true, Some(time)));
    }

    #[test]
    fn there_is_a_limit_on_time_unless_the_user_chose_another_one_or_none() {
        let limits = |time| Limits::chosen(time, None).time;
        assert_eq!(limits(None), Some(Duration::from_secs(60)));
        assert_eq!(limits(Some(TimeLimit::Never)), None);
        assert_eq!(limits(Some(TimeLimit::After(Duration::from_secs(5)))), Some(Duration::from_secs(5)));
        let stopped = |time| {
            let monitor = monitor(120_000, Limits::chosen(time, None));
            assert_eq!(monitor.stopped_by(), None);
            monitor.check(&Progress::default()).and_then(|_| monitor.stopped_by()).map(|stopped| stopped.is_default)
        };
        assert_eq!(stopped(None), Some(true));
        assert_eq!(stopped(Some(TimeLimit::Never)), None);
        assert_eq!(stopped(Some(TimeLimit::After(Duration::from_secs(60)))), Some(false));
    }

    #[test]
    fn memory_ends_work_before_it_is_used_up() {
        let limit = 100 << 20;
        let monitor = monitor(0, Limits { memory: Some(limit), ..Limits::default() });
        let check = |taken: usize, share, expected: bool| {
            let observed = monitor.exhausted_with(taken << 20, Duration::ZERO, share);
            assert_eq!(observed, expected.then_some(Exhausted::Memory(limit)), "{taken} MiB");
        };
        check(39, EXPLORING, false);
        check(41, EXPLORING, true);
        check(94, EVALUATING, false);
        check(96, EVALUATING, true);
        check(104, AT_ALL, false);
        check(106, AT_ALL, true);
    }

    #[test]
    fn the_second_interrupt_is_another() {
        let monitor = monitor(0, Limits::default());
        check(&monitor, (None, false, None));
        assert!(!monitor.interrupt());
        check(&monitor, (Some(Exhausted::Interrupted), false, None));
        assert!(monitor.interrupt());
    }
}
