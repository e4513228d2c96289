//! What a report consists of.

use avr_image::Image;
use avr_verify::{Results, Verdict};

/// The results for one image, ready to be rendered.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The image.
    pub image: &'a Image,
    /// The name of the device that it was verified for.
    pub device: &'a str,
    /// The answers.
    pub results: &'a Results,
    /// The most memory in use at any time, in bytes.
    pub peak_memory_bytes: u64,
}

/// How many properties have which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Properties that hold.
    pub holds: usize,
    /// Properties that are violated.
    pub violated: usize,
    /// Properties without an answer.
    pub unknown: usize,
}

impl Summary {
    /// Counts the verdicts.
    #[must_use]
    pub fn of(results: &Results) -> Self {
        let mut summary = Self::default();
        for result in &results.properties {
            match result.verdict {
                Verdict::Holds => summary.holds += 1,
                Verdict::Violated => summary.violated += 1,
                Verdict::Unknown(_) => summary.unknown += 1,
            }
        }
        summary
    }
}

/// The verdict in reports, and the reason where there is none.
pub(crate) fn verdict_name(verdict: &Verdict) -> (&'static str, Option<&str>) {
    match verdict {
        Verdict::Holds => ("holds", None),
        Verdict::Violated => ("violated", None),
        Verdict::Unknown(unknown) => ("unknown", Some(&unknown.reason)),
    }
}
