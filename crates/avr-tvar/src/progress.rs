//! What is shown while work goes on: a line on the error output, if that is a terminal.

use std::time::{Duration, Instant};

use avr_verify::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shorter work shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);
const INTERVAL: Duration = Duration::from_millis(100);

/// A line about the progress of a run.
#[derive(Debug)]
pub(crate) struct Display {
    bar: ProgressBar,
    shown: Option<Instant>,
    pass: Pass,
}

/// When the present pass began.
#[derive(Clone, Copy, Debug)]
struct Pass {
    number: usize,
    started: Instant,
}

impl Display {
    /// A display that shows nothing yet.
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{spinner} {elapsed} {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        Self { bar, shown: None, pass: Pass { number: 0, started: Instant::now() } }
    }

    /// Shows how far the work is, `elapsed` after its start.
    pub(crate) fn show(&mut self, progress: &Progress, elapsed: Duration) {
        if progress.pass != self.pass.number {
            self.pass = Pass { number: progress.pass, started: Instant::now() };
        }
        if elapsed < PATIENCE || self.shown.is_some_and(|shown| shown.elapsed() < INTERVAL) {
            return;
        }
        if self.shown.is_none() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.shown = Some(Instant::now());
        self.bar.set_message(message(progress, self.pass.started.elapsed()));
        self.bar.tick();
    }

    /// Removes the line.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// The message, `elapsed` after the start of the pass.
fn message(progress: &Progress, elapsed: Duration) -> String {
    let Progress { phase, pass, states, refinements } = progress;
    let rate = *states as f64 / elapsed.as_secs_f64().max(0.001);
    format!("{phase} (pass {pass}): {states} states, {rate:.0} states/s, {refinements} refinements")
}

#[cfg(test)]
mod tests {
    use super::message;
    use avr_verify::{Phase, Progress};
    use std::time::Duration;

    #[test]
    fn the_message_has_all_figures() {
        let progress = Progress { phase: Phase::Exploring, pass: 2, states: 5000, refinements: 3 };
        let expected = "exploring (pass 2): 5000 states, 2500 states/s, 3 refinements";
        assert_eq!(message(&progress, Duration::from_secs(2)), expected);
    }
}
