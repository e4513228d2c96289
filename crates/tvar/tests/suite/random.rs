//! Random systems, precisions and formulas, the same for the same seed.

use crate::function::{Builder, Function, Gate};
use crate::toy::{ATOMS, CONTENT, INPUT, Location, Locations, STORED, Start, Toy};
use crate::word::Word;
use mu_calculus::{
    AtomId, FixedPoint, Formula, Modality, NormalForm, PathOperator, PathPairOperator, PathQuantifier, Variable,
};
use std::thread;
use tvar::{Goal, Knob, Precision, Strategy};

/// SplitMix64 (Steele, Lea & Flood, 2014).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// True `percent` times in a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A number of `width` bits.
    pub fn number(&mut self, width: u32) -> u64 {
        self.next() & ((1 << width) - 1)
    }
}

/// How many random cases to run where `default` is the normal number: `TVAR_CASES` in place of 20,000.
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
    let (width, inputs) = (1 + random.below(4) as u32, 1 + random.below(3) as u32);
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
    Goal { formula, sees_hazards: false }
}

/// A closed formula about a system: of alternation depth 2 or less, and, where the system starts in a dummy state,
/// about what comes after it.
pub fn formula(random: &mut Random, toy: &Toy) -> Formula<AtomId> {
    let mut formulas = Formulas { random, scope: Vec::new(), positive: true };
    let formula = if formulas.random.chance(30) { formulas.alternation() } else { formulas.any(4) };
    if goal(&formula).formula.alternation_depth() > 2 {
        return self::formula(random, toy);
    }
    match toy.start {
        Start::State(_) => formula,
        Start::Content { .. } => Formula::Modal(random.pick(&MODALITIES), Box::new(formula)),
    }
}

const MODALITIES: [Modality; 2] = [Modality::Box, Modality::Diamond];
const QUANTIFIERS: [PathQuantifier; 2] = [PathQuantifier::All, PathQuantifier::Exists];
const KINDS: [FixedPoint; 2] = [FixedPoint::Least, FixedPoint::Greatest];
const OPERATORS: [PathOperator; 3] = [PathOperator::Next, PathOperator::Eventually, PathOperator::Always];
const PAIRS: [PathPairOperator; 3] = [PathPairOperator::Until, PathPairOperator::Release, PathPairOperator::WeakUntil];
const NAMES: [&str; 4] = ["W", "X", "Y", "Z"];

struct Formulas<'r> {
    random: &'r mut Random,
    /// The bound variables and whether they stand under an even number of negations here.
    scope: Vec<(&'static str, bool)>,
    positive: bool,
}

impl Formulas<'_> {
    /// Two fixed points of different kinds around a body that can use both.
    fn alternation(&mut self) -> Formula<AtomId> {
        let outer = self.random.below(2);
        self.scope.extend([(NAMES[0], true), (NAMES[1], true)]);
        let body = self.any(4);
        self.scope.clear();
        let inner = Formula::Fixed(KINDS[1 - outer], Variable::new(NAMES[1]), Box::new(body));
        Formula::Fixed(KINDS[outer], Variable::new(NAMES[0]), Box::new(inner))
    }

    fn any(&mut self, size: u32) -> Formula<AtomId> {
        if size == 0 || self.random.chance(8) {
            return self.leaf();
        }
        let size = size - 1;
        match self.random.below(12) {
            0 => Formula::Not(self.negated(size)),
            1 | 2 => Formula::And(vec![self.any(size), self.any(size)]),
            3 | 4 => Formula::Or(vec![self.any(size), self.any(size)]),
            5 => Formula::Implies(self.negated(size), Box::new(self.any(size))),
            6 => self.equivalence(size),
            7 | 8 => {
                let (quantifier, operator) = (self.random.pick(&QUANTIFIERS), self.random.pick(&OPERATORS));
                Formula::Path(quantifier, operator, Box::new(self.any(size)))
            }
            9 => {
                let (quantifier, operator) = (self.random.pick(&QUANTIFIERS), self.random.pick(&PAIRS));
                Formula::PathPair(quantifier, operator, Box::new(self.any(size)), Box::new(self.any(size)))
            }
            10 if self.scope.len() < NAMES.len() => self.fixed_point(size),
            _ => Formula::Modal(self.random.pick(&MODALITIES), Box::new(self.any(size))),
        }
    }

    fn fixed_point(&mut self, size: u32) -> Formula<AtomId> {
        let name = NAMES[self.scope.len()];
        self.scope.push((name, self.positive));
        let body = Box::new(self.any(size));
        self.scope.pop();
        Formula::Fixed(self.random.pick(&KINDS), Variable::new(name), body)
    }

    /// Without variables, because each operand is also negated.
    fn equivalence(&mut self, size: u32) -> Formula<AtomId> {
        let scope = std::mem::take(&mut self.scope);
        let formula = Formula::Iff(Box::new(self.any(size)), Box::new(self.any(size)));
        self.scope = scope;
        formula
    }

    fn negated(&mut self, size: u32) -> Box<Formula<AtomId>> {
        self.positive = !self.positive;
        let formula = Box::new(self.any(size));
        self.positive = !self.positive;
        formula
    }

    fn leaf(&mut self) -> Formula<AtomId> {
        let positive = self.positive;
        let usable: Vec<&str> =
            self.scope.iter().filter(|(_, sign)| *sign == positive).map(|(name, _)| *name).collect();
        if !usable.is_empty() && self.random.chance(60) {
            return Formula::Variable(Variable::new(self.random.pick(&usable)));
        }
        match self.random.below(12) {
            0 => Formula::Constant(self.random.chance(50)),
            _ => Formula::Atom(AtomId(self.random.below(ATOMS as usize) as u32)),
        }
    }
}
