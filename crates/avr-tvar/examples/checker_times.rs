//! Times of the checker against the last pass of the proof, as tables for `docs/certificates.md`.
//!
//!     cargo run --release -p avr-tvar --example checker_times [SAMPLE…]
//!
//! The last pass builds the state space once more and evaluates the properties on it; the checker reads the certificate,
//! binds the properties and follows the proofs. Both in CPU time of the process, each the least of three, over the images
//! of all samples (or of those named) that are decided within ten seconds.

#![allow(clippy::print_stdout, reason = "the tables are what it is for")]

#[path = "../tests/suite/sample.rs"]
mod sample;

use std::cmp::Reverse;
use std::error::Error;
use std::fs;
use std::time::Duration;

use avr_certificate::{Certificate, DEFAULT_MEMORY};
use avr_verify::{Exhausted, InvariantUse, Progress, PropertyText, Reductions, Request, Verdict, Watch};
use cpu_time::ProcessTime;
use sample::{Sample, root, samples};

/// The number of measurements of each.
const TIMES: usize = 3;
/// The CPU time limit of a verification.
const LIMIT: Duration = Duration::from_secs(10);
/// Images with a shorter last pass have no row of their own.
const SHORT: Duration = Duration::from_millis(10);

struct Deadline(ProcessTime);

impl Watch for Deadline {
    fn check(&self, _: &Progress) -> Option<Exhausted> {
        self.cancelled().then_some(Exhausted::Time(LIMIT))
    }

    fn cancelled(&self) -> bool {
        self.0.elapsed() > LIMIT
    }
}

/// The measurements of an image.
struct Row {
    image: String,
    passes: usize,
    /// The states that proofs visit.
    states: usize,
    pass: Duration,
    check: Duration,
}

impl Row {
    fn ratio(&self) -> f64 {
        self.check.as_secs_f64() / self.pass.as_secs_f64()
    }
}

/// Measures an image; none if something stays undecided.
fn row(sample: &Sample, image: &str, properties: &str) -> Result<Option<Row>, Box<dyn Error>> {
    let firmware = sample.load(image, properties);
    let file = fs::read_to_string(root().join("properties").join(properties))?;
    let text = PropertyText { file, ..PropertyText::default() };
    let mut row = Row { image: image.to_owned(), passes: 0, states: 0, pass: Duration::MAX, check: Duration::MAX };
    for _ in 0..TIMES {
        let watch = Deadline(ProcessTime::now());
        let invariants = InvariantUse::Off;
        let request = Request { reductions: Reductions::NONE, invariants, watch: &watch, ..firmware.request() };
        let mut is_open = false;
        let certificate = avr_verify::certify(
            &request,
            &text,
            |_| {},
            |results| {
                row.pass = row.pass.min(results.last_pass);
                row.passes = results.passes;
                is_open = results.properties.iter().any(|result| matches!(result.verdict, Verdict::Unknown(_)));
            },
        )?;
        if is_open {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        certificate.write(&mut bytes)?;
        let started = ProcessTime::now();
        let certificate = Certificate::read(bytes.as_slice(), DEFAULT_MEMORY)?;
        let report = avr_check::check(&certificate, &firmware.image, firmware.device)?;
        row.check = row.check.min(started.elapsed());
        row.states = report.states;
    }
    Ok(Some(row))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The images of one class together.
fn print_together(class: &str, rows: &[&Row]) {
    let sum = |part: fn(&Row) -> Duration| milliseconds(rows.iter().map(|row| part(row)).sum());
    let slower = rows.iter().filter(|row| row.ratio() > 1.0).count();
    let largest = rows.iter().map(|row| row.ratio()).fold(0.0, f64::max);
    let (pass, check) = (sum(|row| row.pass), sum(|row| row.check));
    let ratio = check / pass;
    println!("| {class} | {} | {pass:.1} | {check:.1} | {ratio:.2} | {largest:.2} | {slower} |", rows.len());
}

fn main() -> Result<(), Box<dyn Error>> {
    let named: Vec<String> = std::env::args().skip(1).collect();
    let (mut rows, mut open) = (Vec::new(), Vec::new());
    for sample in samples().iter().filter(|sample| named.is_empty() || named.contains(&sample.sample)) {
        for (image, properties) in sample.images.iter().filter(|(image, _)| image.ends_with(".elf")) {
            match row(sample, image, properties)? {
                Some(row) => rows.push(row),
                None => open.push(image.clone()),
            }
        }
    }
    rows.sort_by_key(|row| Reverse(row.pass));
    let (long, short): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.pass >= SHORT);
    println!("| last pass | images | passes, ms | checks, ms | ratio | largest ratio | slower |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
    print_together("10 ms and more", &long);
    print_together("less", &short);
    println!("\n| image | passes | states of the proofs | last pass, ms | check, ms | ratio |");
    println!("|---|--:|--:|--:|--:|--:|");
    for row in &rows {
        let (pass, check) = (milliseconds(row.pass), milliseconds(row.check));
        let Row { image, passes, states, .. } = row;
        println!("| {image} | {passes} | {states} | {pass:.1} | {check:.1} | {:.2} |", row.ratio());
    }
    println!("\nnot decided: {}", open.join(", "));
    Ok(())
}
