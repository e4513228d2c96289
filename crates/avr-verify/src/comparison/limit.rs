//! A limit on the time of one of several questions.

use std::time::{Duration, Instant};
use tvar::{Exhausted, Progress, Watch};

/// A watch that ends the work at some time as well.
pub(super) struct Until<'a> {
    watch: &'a dyn Watch,
    time: Option<Duration>,
    started: Instant,
}

impl<'a> Until<'a> {
    pub(super) fn new(watch: &'a dyn Watch, time: Option<Duration>) -> Self {
        Self { watch, time, started: Instant::now() }
    }
}

impl Watch for Until<'_> {
    fn check(&self, progress: &Progress) -> Option<Exhausted> {
        let own = self.time.filter(|time| self.started.elapsed() >= *time).map(Exhausted::Time);
        self.watch.check(progress).or(own)
    }

    fn cancelled(&self) -> bool {
        // Model checking of what was explored in time may take half as long again.
        self.watch.cancelled() || self.time.is_some_and(|time| self.started.elapsed() >= time * 3 / 2)
    }
}
