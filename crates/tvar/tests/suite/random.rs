//! Random systems, precisions and formulas, the same for the same seed.

use crate::function::{Builder, Function, Gate};
use crate::toy::{ATOMS, CONTENT, INPUT, Location, Locations, STORED, Start, Toy};
use crate::word::Word;
use avr_testkit::Random;
use mu_calculus::{AtomId, Comparison, Formula, Modality, NormalForm, parse_formula};
use std::thread;
use tvar::{Goal, Knob, Precision, Strategy};

/// The number of random cases to run where `default` is the normal number: `TVAR_CASES` in place of 20,000.
pub fn cases(default: u64) -> u64 {
    let asked = std::env::var("TVAR_CASES").ok().and_then(|text| text.parse::<u64>().ok());
    asked.map_or(default, |asked| (asked * default / 20_000).max(1))
}

/// Runs the cases on all processors and adds up the counts that they give.
pub fn run<const N: usize>(cases: u64, case: impl Fn(u64) -> [u64; N] + Sync) -> [u64; N] {
    let threads = thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let share = |first| (first..cases).step_by(threads as usize).map(&case).fold([0; N], sum);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|first| scope.spawn(move || share(first))).collect();
        let ended = workers.into_iter().map(|worker| worker.join());
        ended.map(|share| share.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).fold([0; N], sum)
    })
}

fn sum<const N: usize>(a: [u64; N], b: [u64; N]) -> [u64; N] {
    std::array::from_fn(|index| a[index] + b[index])
}

/// A system without hazards.
pub fn toy(random: &mut Random) -> Toy {
    let (width, inputs) = (1 + random.below(4), 1 + random.below(3));
    let location = if random.chance(50) { 0 } else { random.number(width) };
    let start = if random.chance(50) {
        Start::State(random.number(width))
    } else {
        Start::Content { reset: random.number(width), open: random.number(width) }
    };
    let locations = match random.below(10) {
        0..7 => Locations::Bits(location),
        7 | 8 => Locations::BitsOnDemand(location),
        _ => Locations::States,
    };
    Toy {
        width,
        inputs,
        step: function(random, width + inputs, width as usize),
        atoms: function(random, width, ATOMS as usize),
        hazard: None,
        start,
        locations,
        abstracted: 0,
        offers_cases: random.chance(50),
        glances: false,
        mutation: None,
    }
}

/// A system with hazards, but not in the beginning.
pub fn toy_with_hazards(random: &mut Random) -> Toy {
    let toy = toy(random);
    let hazard = function(random, toy.width, 1);
    let harmless = match toy.start {
        Start::State(bits) => hazard.at(bits) & 1 == 0,
        Start::Content { .. } => true,
    };
    if harmless { Toy { hazard: Some(hazard), ..toy } } else { toy_with_hazards(random) }
}

fn function(random: &mut Random, leaves: u32, outputs: usize) -> Function {
    if random.chance(30) {
        return Function::Table((0..1 << leaves).map(|_| random.number(outputs as u32)).collect());
    }
    let mut builder = Builder::default();
    let mut gates = builder.leaves(0, leaves as usize);
    gates.push(builder.gate(Gate::Constant(random.chance(50))));
    for _ in 0..leaves as usize + 2 * outputs {
        let (a, b) = (random.pick(&gates), random.pick(&gates));
        let gate = random.pick(&[Gate::Not(a), Gate::And(a, b), Gate::And(a, b), Gate::Or(a, b), Gate::Xor(a, b)]);
        gates.push(builder.gate(gate));
    }
    // Some bits of the result are bits of the argument, others are computed late.
    let outputs = (0..outputs).map(|_| if random.chance(30) { random.pick(&gates) } else { late(random, &gates) });
    let outputs = outputs.collect();
    builder.finish(outputs)
}

fn late(random: &mut Random, gates: &[usize]) -> usize {
    random.pick(&gates[gates.len() / 2..])
}

/// A precision that refines that of a strategy here and there, and has dropped bits at some locations.
pub fn precision(random: &mut Random, toy: &Toy, strategy: Strategy) -> Precision<Location> {
    let mut precision = Precision::new(strategy);
    refine(random, toy, &mut precision);
    let drops = if random.chance(30) { random.below(6) } else { 0 };
    for _ in 0..drops {
        precision.drop_bits(location(random, toy), STORED, random.number(toy.width));
    }
    precision
}

/// Adds a few bits of precision at a few locations.
pub fn refine(random: &mut Random, toy: &Toy, precision: &mut Precision<Location>) {
    for _ in 0..random.below(12) {
        let location = match random.below(8) {
            0 => Location::Dummy,
            _ => location(random, toy),
        };
        let knob = match random.below(20) {
            19 => Knob::Everywhere(STORED, random.number(toy.width)),
            0..5 => Knob::Input(INPUT, random.number(toy.inputs)),
            5..10 => Knob::Input(CONTENT, random.number(toy.width)),
            10..15 => Knob::Case(STORED, random.number(toy.width)),
            _ => Knob::Step(STORED, random.number(toy.width)),
        };
        precision.refine(location, knob);
    }
}

fn location(random: &mut Random, toy: &Toy) -> Location {
    let value = random.number(toy.width);
    match toy.locations {
        Locations::States => Location::State(Word::exact(value).forget(random.number(toy.width))),
        Locations::Bits(mask) | Locations::BitsOnDemand(mask) => Location::Bits(value & mask, value & 1),
    }
}

pub fn goal(formula: &Formula<AtomId>) -> Goal {
    let formula = NormalForm::new(formula).expect("the formula is closed and has no negated variable");
    Goal { formula, observes_hazards: false }
}

/// A closed formula about a system: of alternation depth 2 or less, and, where the system starts in a dummy state,
/// about what comes after it.
pub fn formula(random: &mut Random, toy: &Toy) -> Formula<AtomId> {
    let formula = bound(&avr_testkit::formulas::formula(random, &NAMES, 2));
    if goal(&formula).formula.alternation_depth() > 2 {
        return self::formula(random, toy);
    }
    match toy.start {
        Start::State(_) => formula,
        Start::Content { .. } => Formula::Modal(random.pick(&[Modality::Box, Modality::Diamond]), Box::new(formula)),
    }
}

const NAMES: [&str; ATOMS as usize] = ["p", "q"];

fn bound(text: &str) -> Formula<AtomId> {
    let formula = parse_formula(text).unwrap_or_else(|error| panic!("{error}"));
    let number = |atom: &Comparison| NAMES.iter().position(|name| atom.bare_name() == Some(name));
    let bound = formula.try_map_atoms(&mut |atom| number(atom).map(|number| AtomId(number as u32)).ok_or(()));
    bound.expect("all atoms have numbers")
}
