//! The duration of the last pass: the last time that the state space was built and the properties were evaluated on it.

use cpu_time::ProcessTime;
use std::cell::Cell;
use std::sync::Mutex;
use std::time::Duration;

use tvar::{Exhausted, Progress, Watch};

thread_local! {
    /// The time that was spent in this thread on what is no part of a pass.
    static ASIDE: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Does something in the middle of a pass that is no part of it, such as looking for the run that shows a verdict.
pub(crate) fn aside<T>(work: impl FnOnce() -> T) -> T {
    let started = now();
    let result = work();
    ASIDE.set(ASIDE.get() + now().saturating_sub(started));
    result
}

/// CPU time of all threads: properties are evaluated side by side.
fn now() -> Duration {
    ProcessTime::now().as_duration()
}

/// The time that passes have taken.
fn spent() -> Duration {
    now().saturating_sub(ASIDE.get())
}

/// A watch that takes the time of passes.
pub(crate) struct PassTimer<'a> {
    watch: &'a dyn Watch,
    /// The pass that was seen last, and the time when it began.
    pass: Mutex<(usize, Duration)>,
}

impl<'a> PassTimer<'a> {
    pub(crate) fn new(watch: &'a dyn Watch) -> Self {
        Self { watch, pass: Mutex::new((0, spent())) }
    }

    /// The time since the last pass began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.pass.lock().map_or(Duration::ZERO, |pass| spent().saturating_sub(pass.1))
    }
}

impl Watch for PassTimer<'_> {
    fn check(&self, progress: &Progress) -> Option<Exhausted> {
        if let Ok(mut pass) = self.pass.lock()
            && pass.0 != progress.pass
        {
            *pass = (progress.pass, spent());
        }
        self.watch.check(progress)
    }

    fn cancelled(&self) -> bool {
        self.watch.cancelled()
    }
}
