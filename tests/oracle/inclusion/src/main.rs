//! Looks every state of runs in libsimavr up in finished state spaces of the verifier. No property is involved.
//!
//!     inclusion-oracle RUNNER [--full] [--maps | --steps | --spaces] [--samples NAME,NAME...] [--part N] [--only TEXT] [--first-seed N] [--seeds N]
//!
//! `--part` takes three selections of reductions for each image, from the one with this number plus that of the image on; without it, all.
//! `--maps`, `--steps` and `--spaces` make one of the comparisons below. `--only` takes the images whose names contain a text, and is for those who look for the cause of a difference.
//!
//! For each image and each selection of reductions, the space that was built last must be complete. Then, for runs with random content,
//! inputs and events:
//!
//! * (a) every state is covered by some state of the space at its place, and no sink covers anything. Where nothing is left out, each by itself;
//!   with reductions a state may be one of those that are left out, if the run comes to covered ones again soon; where nothing but
//!   interrupts is deferred, it must be covered where these are looked at;
//! * (b) the stack is never deeper than the bound;
//! * (c) a hazard that the run commits is in the space, and where the space has no state any more the run has committed one.
//!
//! The same states are looked up in the maps of invariants, each by itself, and programs that wrong maps would accept are run.
//!
//! Besides, states of the entries of these maps are drawn and set in libsimavr, and single steps are taken from them: see `sampled.rs`. Each
//! interrupt is forced at each place where a map lets it in. What is left out of that is printed with its reasons.
//!
//! Exit code 1: something is not so.

#![allow(clippy::print_stdout, reason = "the report is what the program is for")]

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rayon::prelude::*;

use inclusion_oracle::compare::{Effort, Report, compare};
use inclusion_oracle::subjects::{Selection, Subject, subjects};
use inclusion_oracle::{generated, invariants, kernels, sampled};

/// The part of all compared states that may be neither covered nor on the way to covered ones.
const MOST_LOST: f64 = 0.001;

const USAGE: &str = "RUNNER [--full] [--maps | --steps | --spaces] [--samples NAME,NAME...] [--part N] [--only TEXT] [--first-seed N] [--seeds N]";

/// Selections that `--part` takes for each image.
const SELECTIONS: usize = 3;

/// Generated programs, in short and in full.
const GENERATED: u64 = 40;
const GENERATED_FULL: u64 = 200;
/// Generated kernels, in short and in full.
const KERNELS: u64 = 15;
const KERNELS_FULL: u64 = 200;

/// The arguments.
#[derive(Default)]
struct Options {
    runner: PathBuf,
    full: bool,
    /// The comparisons that are made: of maps, of single steps, and of state spaces.
    parts: Parts,
    samples: Option<String>,
    part: Option<usize>,
    only: Option<String>,
    first: Option<u64>,
    number: Option<u64>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Parts {
    #[default]
    All,
    Maps,
    Steps,
    Spaces,
}

impl Options {
    /// Reads arguments; the one that is none.
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let runner = arguments.next().ok_or("the runner is missing")?.into();
        let mut options = Self { runner, ..Self::default() };
        while let Some(argument) = arguments.next() {
            let mut number = || arguments.next().and_then(|number| number.parse().ok());
            match argument.as_str() {
                "--full" => options.full = true,
                "--maps" => options.parts = Parts::Maps,
                "--steps" => options.parts = Parts::Steps,
                "--spaces" => options.parts = Parts::Spaces,
                "--samples" => options.samples = arguments.next(),
                "--part" => options.part = number().map(|part: u64| part as usize),
                "--only" => options.only = arguments.next(),
                "--first-seed" => options.first = number(),
                "--seeds" => options.number = number(),
                other => return Err(format!("{other} is no option")),
            }
        }
        Ok(options)
    }

    /// The seeds of generated programs, of which so many are taken in short or in full.
    fn seeds(&self, short: u64, full: u64) -> Range<u64> {
        let first = self.first.unwrap_or(1);
        first..first + self.number.unwrap_or(if self.full { full } else { short })
    }
}

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("{problem}\nusage: inclusion-oracle {USAGE}");
            return ExitCode::from(2);
        }
    };
    let samples = options.samples.as_ref().map(|names| names.split(',').collect());
    let mut subjects = subjects(options.full, samples.as_ref());
    subjects.retain(|subject| options.only.as_ref().is_none_or(|text| subject.name.contains(text)));
    let (runner, full, is_part) = (&options.runner, options.full, options.only.is_some());
    let seeds = options.seeds(GENERATED, GENERATED_FULL);
    let has = |part| options.parts == Parts::All || options.parts == part;
    let mut is_right = true;
    if has(Parts::Steps) {
        is_right &= are_steps_right(runner, &subjects, seeds.clone(), full, is_part);
    }
    if has(Parts::Maps) {
        is_right &= are_invariants_right(runner, &subjects, seeds, full, is_part);
    }
    if has(Parts::Spaces) {
        is_right &= are_spaces_right(&options, &subjects);
    }
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Compares runs with state spaces; whether all is well.
fn are_spaces_right(options: &Options, subjects: &[Subject]) -> bool {
    let Options { runner, full, part, only, .. } = options;
    let effort = if *full { Effort::FULL } else { Effort::SHORT };
    let mut all: Vec<Report> = subjects
        .par_iter()
        .enumerate()
        .flat_map_iter(|(number, subject)| {
            let taken = selections(part.map(|part| part + number), subject);
            taken.into_iter().map(move |selection| compare(runner, subject, selection, effort))
        })
        .collect();
    // Of each generated program one selection is looked at.
    let effort = if *full { effort } else { Effort::GENERATED };
    let generated = |subject: &Subject, selection: u64, source: fn(u64) -> String, seed: u64| {
        let report = compare(runner, subject, Selection::ALL[selection as usize], effort);
        if !report.problems.is_empty() {
            println!("the program with seed {seed}:\n{}", source(seed));
        }
        report
    };
    all.par_extend(
        options.seeds(GENERATED, GENERATED_FULL).into_par_iter().map(|seed| {
            generated(&generated::subject(seed), seed % Selection::ALL.len() as u64, generated::source, seed)
        }),
    );
    // Kernels are not reduced: facts are told, or they are not.
    all.par_extend(
        options
            .seeds(KERNELS, KERNELS_FULL)
            .into_par_iter()
            .map(|seed| generated(&kernels::subject(seed), 1 + seed % 2, kernels::source, seed)),
    );
    let (mut ok, mut literal, mut on_the_way, mut lost) = (true, 0, 0, 0);
    let mut spaces = 0;
    for report in &all {
        for problem in &report.problems {
            println!("WRONG {} ({}): {problem}", report.name, report.selection.name());
            ok = false;
        }
        for end in &report.ends {
            println!("neither in {} ({}): {end}", report.name, report.selection.name());
        }
        spaces += usize::from(report.is_finished);
        literal += report.literal;
        on_the_way += report.on_the_way;
        lost += report.lost;
    }
    let compared = literal + on_the_way + lost;
    println!(
        "{spaces} finished spaces of {} were compared with {compared} states of libsimavr: {literal} are covered, {on_the_way} are left out and lead to covered ones, {lost} neither",
        all.len()
    );
    let is_enough = spaces >= 40 && literal > 10_000 || only.is_some();
    if !is_enough {
        println!("that is too little to say anything");
    }
    let is_little_lost = lost as f64 <= compared as f64 * MOST_LOST;
    ok && is_enough && is_little_lost
}

/// The selections from the one with this number on that the short run takes; all without a number. Each is taken once.
fn selections(first: Option<usize>, subject: &Subject) -> Vec<Selection> {
    let number = if first.is_some() { SELECTIONS } else { Selection::ALL.len() };
    let first = first.unwrap_or(0) % Selection::ALL.len();
    let mut taken: Vec<Selection> = Vec::new();
    for selection in Selection::ALL.into_iter().cycle().skip(first).take(number) {
        let selection = selection.made_for(subject);
        if !taken.contains(&selection) {
            taken.push(selection);
        }
    }
    taken
}

/// Compares maps of invariants with runs, and shows that programs that wrong maps would accept go wrong; whether all is well.
fn are_invariants_right(runner: &Path, subjects: &[Subject], seeds: Range<u64>, full: bool, is_part: bool) -> bool {
    let (runs, steps) = if full { (4, 4_000) } else { (2, 3_000) };
    let mut all: Vec<invariants::Report> =
        subjects.par_iter().map(|subject| invariants::compare(runner, subject, runs, steps)).collect();
    all.par_extend(seeds.into_par_iter().map(|seed| {
        let report = invariants::compare(runner, &generated::subject(seed), runs, steps);
        if !report.problems.is_empty() {
            println!("the program with seed {seed}:\n{}", generated::source(seed));
        }
        report
    }));
    let programs = invariants::programs();
    all.par_extend(programs.par_iter().map(|one| invariants::compare(runner, &one.subject, 2 * runs, 600)));
    let mut ok = true;
    for report in &all {
        for problem in &report.problems {
            println!("WRONG {} (invariants): {problem}", report.name);
            ok = false;
        }
    }
    for program in &programs {
        let invariants::Trapped { subject, traps, is_reached } = program;
        if invariants::comes_to(runner, subject, traps, 200) != *is_reached {
            println!("WRONG {}: {} run comes to its trap", subject.name, if *is_reached { "no" } else { "a" });
            ok = false;
        }
    }
    let closed = all.iter().filter(|report| report.is_closed).count();
    let covered: usize = all.iter().map(|report| report.covered).sum();
    println!("{closed} of {} maps are closed, and cover {covered} states of libsimavr", all.len());
    ok && (is_part || closed >= 40 && covered > 100_000)
}

/// Samples steps of maps of invariants; whether all is well.
fn are_steps_right(runner: &Path, subjects: &[Subject], seeds: Range<u64>, full: bool, is_part: bool) -> bool {
    let effort = if full { sampled::Effort::FULL } else { sampled::Effort::SHORT };
    let mut all: Vec<sampled::Report> =
        subjects.par_iter().map(|subject| sampled::compare(runner, subject, effort, 1)).collect();
    all.par_extend(seeds.into_par_iter().map(|seed| sampled::compare(runner, &generated::subject(seed), effort, seed)));
    all.par_extend(invariants::programs().par_iter().map(|one| sampled::compare(runner, &one.subject, effort, 1)));
    let mut skipped: BTreeMap<&str, usize> = BTreeMap::new();
    let mut left_out = 0;
    for report in &all {
        for problem in &report.problems {
            println!("WRONG {} (sampled steps): {problem}", report.name);
        }
        for (reason, number) in &report.skipped {
            *skipped.entry(reason).or_default() += number;
        }
        for ((interrupt, name, reason), (number, address)) in &report.unforced {
            if *reason == sampled::LEFT_OUT {
                left_out += number;
                continue;
            }
            println!(
                "{}: interrupt {interrupt} ({name}) is not forced at {number} places such as {address:#06x}: {reason}",
                report.name
            );
        }
    }
    let sum = |number: fn(&sampled::Report) -> usize| all.iter().map(number).sum::<usize>();
    let (entries, sampled, covered) = (sum(|one| one.entries), sum(|one| one.sampled), sum(|one| one.covered));
    println!(
        "of {entries} entries of maps {sampled} are sampled: {covered} steps to covered states, {} into marked hazards",
        sum(|one| one.ended)
    );
    for (reason, number) in skipped {
        println!("  {number} are not: {reason}");
    }
    let (pairs, forced, returns) = (sum(|one| one.pairs), sum(|one| one.forced), sum(|one| one.returns));
    println!(
        "of {pairs} pairs of a place and an interrupt {forced} are forced, with {returns} returns of handlers; {left_out} are left out in the short run"
    );
    println!("no return was drawn for {} handlers that were entered", sum(|one| one.unreturned));
    all.iter().all(sampled::Report::is_right) && (is_part || covered > 5_000 && forced > 500 && returns > 500)
}
