//! One program after another: what this oracle finds, what the verifier says, and whether the two agree.

use crate::ask::Asker;
use crate::board::Board;
use crate::formula::Property;
use crate::generate;
use crate::graph::Graph;
use crate::machine::{Fault, Machine};
use crate::program::Program;
use crate::solve;
use crate::state::Misstep;
use avr_image::{Image, LoadOptions};
use avr_machine::device::Device;
use avr_properties::PropertyFile;
use avr_testkit::Random;
use avr_verify::{Exhausted, Progress, Reductions, Request, Results, Strategy, Verdict, Watch, verify};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// The most states of a program that is looked at.
const STATES: usize = 2000;
/// The limits of the verifier.
const VERIFIER_STATES: usize = 10_000;
const VERIFIER_TIME: Duration = Duration::from_millis(500);
/// Properties of a program.
const PROPERTIES: usize = 5;

/// A limit on states and time.
struct Limits {
    started: Instant,
}

impl Watch for Limits {
    fn check(&self, progress: &Progress) -> Option<Exhausted> {
        if progress.states > VERIFIER_STATES {
            return Some(Exhausted::Memory(0));
        }
        self.cancelled().then_some(Exhausted::Time(VERIFIER_TIME))
    }

    fn cancelled(&self) -> bool {
        self.started.elapsed() > VERIFIER_TIME
    }
}

/// The strategy and the reductions of a verification.
#[derive(Clone, Copy, Debug)]
enum Manner {
    AsUsual,
    /// With nothing left out and no facts.
    Plainly,
    /// Every input is split.
    Naive,
}

impl Manner {
    /// Most programs are verified as usual.
    fn of(seed: u64) -> Self {
        match seed % 40 {
            0 | 5 | 10 | 15 | 20 | 25 | 30 | 35 => Self::Plainly,
            2 => Self::Naive,
            _ => Self::AsUsual,
        }
    }
}

/// Counts of programs, properties and verdicts.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) programs: u64,
    pub(crate) states: usize,
    pub(crate) properties: u64,
    /// Properties that would have another verdict of a slightly different program.
    pub(crate) sharp: u64,
    pub(crate) holds: u64,
    pub(crate) violated: u64,
    pub(crate) unknown: u64,
    /// The number of verdicts by the reductions and domains that took part.
    pub(crate) methods: BTreeMap<&'static str, u64>,
    /// The reasons why the verifier did not decide, each with its number and an example.
    pub(crate) reasons: BTreeMap<String, (u64, String)>,
    /// Programs that were not looked at, by what is wrong with them.
    pub(crate) left_out: BTreeMap<String, u64>,
    pub(crate) contradictions: Vec<String>,
    /// The time that the verifier took.
    pub(crate) verifying: Duration,
}

/// Compares programs with these seeds.
pub(crate) fn run(seeds: impl IntoIterator<Item = u64>, fault: Option<Fault>, counts: &mut Counts) {
    for seed in seeds {
        if let Err(misstep) = compare(seed, fault, counts) {
            *counts.left_out.entry(format!("{misstep:?}")).or_default() += 1;
        }
    }
}

fn compare(seed: u64, fault: Option<Fault>, counts: &mut Counts) -> Result<(), Misstep> {
    let mut random = Random::new(seed);
    let program = generate::program(&mut random, Board::of(seed));
    // The properties do not depend on the fault.
    let right = Graph::explore(&Machine { program: &program, fault: None }, STATES)?;
    let mut asker = Asker::new(&mut random, &program, &right);
    let (properties, sharp) = asker.properties(&program, &right, PROPERTIES);
    let graph = match fault {
        None => right,
        Some(_) => Graph::explore(&Machine { program: &program, fault }, 2 * STATES)?,
    };
    counts.programs += 1;
    counts.sharp += sharp as u64;
    counts.states += graph.len();
    let manner = Manner::of(seed);
    let started = Instant::now();
    let answer = ask(&program, &properties, manner);
    counts.verifying += started.elapsed();
    let told = match answer {
        Ok(told) => told,
        Err(error) => {
            counts.contradictions.push(format!("seed {seed}: no answer: {error}\n{program}"));
            return Ok(());
        }
    };
    let tell = |what: &str| format!("seed {seed}, verified {manner:?}: {what}\n{program}");
    for (property, result) in properties.iter().zip(&told.properties) {
        counts.properties += 1;
        let holds = solve::holds(&graph, property);
        let says = match &result.verdict {
            Verdict::Holds => true,
            Verdict::Violated => false,
            Verdict::Unknown(unknown) => {
                counts.unknown += 1;
                if unknown.self_check_failed {
                    counts.contradictions.push(tell(&format!("{property}: self-check failed: {}", unknown.reason)));
                }
                let said = unknown.reason.rsplit('\'').next().unwrap_or_default();
                let kind: String = said.trim().split([':', ',']).next().unwrap_or_default().into();
                let example = || (0, format!("seed {seed}, {property}"));
                counts.reasons.entry(kind).or_insert_with(example).0 += 1;
                continue;
            }
        };
        result.methods.iter().for_each(|pass| *counts.methods.entry(pass.name()).or_default() += 1);
        match (holds, says) {
            (true, true) => counts.holds += 1,
            (false, false) => counts.violated += 1,
            _ => {
                let word = |holds| if holds { "holds" } else { "violated" };
                let text = format!("{property}\n  oracle: {}, verifier: {}", word(holds), word(says));
                counts.contradictions.push(tell(&text));
            }
        }
    }
    let deepest = u32::from(graph.deepest());
    if told.stack.lower.is_some_and(|lower| lower > deepest) || told.stack.upper.is_some_and(|upper| upper < deepest) {
        counts.contradictions.push(tell(&format!("the stack has {deepest} bytes, the verifier: {:?}", told.stack)));
    }
    Ok(())
}

/// The results of the verifier.
fn ask(program: &Program, properties: &[Property], manner: Manner) -> Result<Results, String> {
    let device = Device::named(program.board.name).map_err(|error| error.to_string())?;
    let options = LoadOptions::new(device.memory.flash_bytes, device.memory.eeprom_bytes.into());
    let image = Image::parse("program.hex", program.hex().as_bytes(), &options).map_err(|error| error.to_string())?;
    let mut file = PropertyFile::parse("empty.ron", "()").map_err(|error| error.to_string())?;
    for property in properties {
        let text = property.to_string();
        let parsed = avr_properties::Property::from_command_line(&text);
        file.properties.push(parsed.map_err(|error| format!("{text}: {error}"))?);
    }
    let watch = Limits { started: Instant::now() };
    let usual = Request { watch: &watch, ..Request::of(&image, device, &file) };
    let request = match manner {
        Manner::AsUsual => usual,
        Manner::Plainly => Request { reductions: Reductions::NONE, facts: false, ..usual },
        Manner::Naive => Request { strategy: Strategy::Naive, ..usual },
    };
    verify(&request).map_err(|error| {
        let mut text = error.to_string();
        properties.iter().for_each(|property| _ = write!(text, "\n  {property}"));
        text
    })
}
