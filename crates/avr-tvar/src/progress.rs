//! Progress of the work, as a line on the error output if that is a terminal.

use std::time::{Duration, Instant};

use avr_image::Image;
use avr_report::Escaped;
use avr_verify::{Progress, place_at};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output;

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

/// The number of the present pass and its beginning.
#[derive(Clone, Copy, Debug)]
struct Pass {
    number: usize,
    started: Instant,
}

impl Display {
    /// A display that shows nothing yet.
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        Self { bar, shown: None, pass: Pass { number: 0, started: Instant::now() } }
    }

    /// Shows how far the work is, `elapsed` after its start.
    pub(crate) fn show(&mut self, image: &Image, progress: &Progress, elapsed: Duration) {
        if progress.pass != self.pass.number {
            self.pass = Pass { number: progress.pass, started: Instant::now() };
        }
        if output::is_quiet() || elapsed < PATIENCE || self.shown.is_some_and(|shown| shown.elapsed() < INTERVAL) {
            return;
        }
        if self.shown.is_none() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.shown = Some(Instant::now());
        self.bar.set_message(message(image, progress, self.pass.started.elapsed()));
        self.bar.tick();
    }

    /// Removes the line.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// The message, `elapsed` after the start of the pass.
fn message(image: &Image, progress: &Progress, elapsed: Duration) -> String {
    let Progress { phase, pass, states, refinements, refined_at, locations, forgotten_bits, .. } = progress;
    let rate = *states as f64 / elapsed.as_secs_f64().max(0.001);
    let last = refined_at.map(|address| place_at(image, address));
    let last = last.map_or_else(String::new, |place| format!(", the last {}", Escaped(&place)));
    format!(
        "{phase} (pass {pass}): {states} states, {rate:.0} states/s, {forgotten_bits} bits forgotten at {locations} \
         locations, {refinements} refinements{last}"
    )
}

#[cfg(test)]
mod tests {
    use super::message;
    use avr_image::{Image, LoadOptions};
    use avr_machine::device::Device;
    use avr_verify::{Phase, Progress, SpaceSize};
    use std::time::Duration;

    fn sample() -> Image {
        let device = Device::named("atmega328p").expect("the device exists");
        let options = LoadOptions::new(device.memory.flash_bytes, device.memory.eeprom_bytes.into());
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../firmware-samples/branch/branch.Og.elf");
        Image::load(path, &options).expect("a sample")
    }

    #[test]
    fn the_message_has_all_figures() {
        let image = sample();
        let before = Progress {
            phase: Phase::Exploring,
            pass: 2,
            states: 5000,
            largest: SpaceSize::default(),
            refinements: 0,
            refined_at: None,
            fullest: None,
            locations: 7,
            forgotten_bits: 40,
            steps: 0,
        };
        let figures = "exploring (pass 2): 5000 states, 2500 states/s, 40 bits forgotten at 7 locations";
        assert_eq!(message(&image, &before, Duration::from_secs(2)), format!("{figures}, 0 refinements"));
        let main = image.symbols.find("main").expect("it has symbols").place.flash().expect("code is in flash").0;
        let refined = Progress { refinements: 3, refined_at: Some(main), ..before };
        let told = message(&image, &refined, Duration::from_secs(2));
        let expected = format!("{figures}, 3 refinements, the last at {main:#06x} (in main, ");
        assert!(told.starts_with(&expected), "{told}");
        assert!(told.contains("branch/main.c:"), "{told}");
    }
}
