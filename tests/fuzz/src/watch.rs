//! The input that is being taken, and a thread that ends the process when that takes too long or too much memory.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The input that is being taken.
#[derive(Clone, Debug, Default)]
pub struct Current(Arc<Mutex<Option<Taken>>>);

/// Since when an input is being taken, and which.
pub type Taken = (Instant, Vec<u8>);

impl Current {
    /// An input is about to be taken.
    pub fn begin(&self, input: &[u8]) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), input.to_vec()));
    }

    /// No input is being taken any more.
    pub fn end(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Since when an input is being taken, and which.
    #[must_use]
    pub fn get(&self) -> Option<Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn elapsed(&self) -> Duration {
        let current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        current.as_ref().map_or(Duration::ZERO, |(begun, _)| begun.elapsed())
    }
}

/// Limits of time and memory for one input.
#[derive(Clone, Copy, Debug)]
pub struct Watchdog {
    /// The longest time.
    pub time: Duration,
    /// The most memory, in bytes.
    pub memory: usize,
}

impl Watchdog {
    /// Watches: an input that takes too much is saved in this file, and `end` is called with what is wrong.
    pub fn watch(
        self,
        current: Current,
        allocated: impl Fn() -> usize + Send + 'static,
        case: PathBuf,
        end: impl Fn(&str) + Send + 'static,
    ) {
        thread::spawn(move || {
            loop {
                thread::sleep(Duration::from_millis(5));
                let long = current.elapsed() > self.time;
                let much = allocated() > self.memory;
                if (long || much) && current.get().is_some_and(|(_, input)| std::fs::write(&case, input).is_ok()) {
                    end(if long { "takes too long" } else { "takes too much memory" });
                }
            }
        });
    }
}
