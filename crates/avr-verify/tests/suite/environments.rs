//! Random programs whose inputs a random machine drives, against a composition of concrete states that is written anew here.

use std::collections::{BTreeMap, BTreeSet};

use avr_isa::Instruction;
use avr_machine::device::Device;
use avr_properties::{PropertyFile, SpecificationAutomaton};
use avr_testkit::image::{Code, image, r};
use avr_testkit::{Random, cases};
use avr_verify::{Request, Results, Verdict, verify};
use three_valued::fault::{Fault, put_in};

/// An access that the machine may move at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Letter {
    WriteB,
    ReadB,
}

/// The action of a block.
#[derive(Clone, Copy, Debug)]
enum Action {
    WriteB(u8),
    /// Register 16 becomes two bits of what port B reads.
    Read,
    /// Register 16 is written to port B.
    Show,
    /// One bit of port B is skipped on: bit 0 of register 16 becomes it, the other one is cleared.
    Skip(u8),
    /// Two pins of port B become inputs or outputs by register 16.
    Direction,
}

/// A block: an action, and the next block by a bit of register 16 or without condition.
#[derive(Clone, Copy, Debug)]
struct Block {
    action: Action,
    bit: Option<u8>,
    next: [usize; 2],
}

/// A concrete state before the action of a block: register 16, port B, its outputs, and the state of the machine, if it has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Concrete {
    block: usize,
    register: u8,
    port: u8,
    outputs: u8,
    machine: Option<usize>,
}

fn program(random: &mut Random) -> Vec<Block> {
    let count = 2 + random.below(4_usize);
    let turns = random.chance(30);
    (0..count)
        .map(|_| {
            let action = match random.below(8) {
                0 => Action::WriteB(random.below(4) as u8),
                1..=3 => Action::Read,
                4 if turns => Action::Direction,
                4 => Action::Read,
                5 => Action::Skip(random.below(2) as u8),
                _ => Action::Show,
            };
            let bit = random.chance(60).then(|| random.below(2) as u8);
            Block { action, bit, next: [random.below(count), random.below(count)] }
        })
        .collect()
}

fn words(blocks: &[Block]) -> Vec<u16> {
    let length = |block: &Block| {
        let action = match block.action {
            Action::WriteB(_) | Action::Read => 2,
            Action::Skip(_) => 3,
            Action::Show | Action::Direction => 1,
        };
        action + if block.bit.is_some() { 3 } else { 1 }
    };
    // SRAM and registers hold any two bits at the start.
    let prologue = 1;
    let start = |number: usize| (prologue + blocks[..number].iter().map(length).sum::<usize>()) as u32;
    let mut code = Code::default();
    code.add(Instruction::Andi { rd: r(16), k: 3 });
    for block in blocks {
        match block.action {
            Action::WriteB(value) => {
                code.add(Instruction::Ldi { rd: r(18), k: value });
                code.add(Instruction::Out { io: 0x05, rr: r(18) });
            }
            Action::Read => {
                code.add(Instruction::In { rd: r(16), io: 0x03 });
                code.add(Instruction::Andi { rd: r(16), k: 3 });
            }
            Action::Show => code.add(Instruction::Out { io: 0x05, rr: r(16) }),
            Action::Skip(bit) => {
                code.add(Instruction::Ldi { rd: r(16), k: 0 });
                code.add(Instruction::Sbic { io: 0x03, bit });
                code.add(Instruction::Ldi { rd: r(16), k: 1 });
            }
            Action::Direction => code.add(Instruction::Out { io: 0x04, rr: r(16) }),
        }
        if let Some(bit) = block.bit {
            code.add(Instruction::Sbrc { rr: r(16), bit });
            code.jump(start(block.next[1]));
        }
        code.jump(start(block.next[0]));
    }
    code.words
}

/// A comparison with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Test {
    operator: &'static str,
    number: u8,
}

impl Test {
    fn random(random: &mut Random) -> Self {
        let operator = random.pick(&["==", "==", "==", "!=", "<"]);
        Self { operator, number: if operator == "<" { 1 + random.below(3) as u8 } else { random.below(4) as u8 } }
    }

    fn passes(self, value: u8) -> bool {
        match self.operator {
            "==" => value == self.number,
            "!=" => value != self.number,
            _ => value < self.number,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Move {
    on: Option<(Letter, Option<Test>)>,
    to: usize,
}

/// A machine that drives the two lowest bits of port B.
#[derive(Clone, Debug)]
struct Machine {
    initial: Vec<usize>,
    states: Vec<Vec<Move>>,
}

impl Machine {
    fn random(random: &mut Random) -> Self {
        let count = 1 + random.below(4_usize);
        let any = |random: &mut Random| {
            let letter = random.pick(&[Letter::ReadB, Letter::ReadB, Letter::ReadB, Letter::WriteB]);
            let test = random.chance(93).then(|| Test::random(random));
            Move { on: (!random.chance(8)).then_some((letter, test)), to: random.below(count) }
        };
        let mut states: Vec<Vec<Move>> = Vec::new();
        for _ in 0..count {
            let number = 1 + random.below(2_usize);
            let mut moves: Vec<Move> = (0..number).map(|_| any(random)).collect();
            if random.chance(40) {
                moves.push(Move { on: Some((Letter::ReadB, Some(Test::random(random)))), to: random.below(count) });
            }
            states.push(moves);
        }
        // Each state is reached.
        for state in 1..count {
            let from = random.below(state);
            states[from].push(Move { on: Some((Letter::ReadB, Some(Test::random(random)))), to: state });
        }
        if !states.iter().flatten().any(|one| matches!(one.on, Some((Letter::ReadB, _)))) {
            states[0].push(Move { on: Some((Letter::ReadB, None)), to: 0 });
        }
        for moves in &mut states {
            let mut kept: Vec<Move> = Vec::new();
            moves.iter().for_each(|one| {
                if !kept.contains(one) {
                    kept.push(one.clone());
                }
            });
            *moves = kept;
        }
        let initial = if count > 1 && random.chance(25) { vec![0, 1 + random.below(count - 1)] } else { vec![0] };
        Self { initial, states }
    }

    fn text(&self) -> String {
        let one = |moved: &Move| {
            let on = match moved.on {
                None => "tau".to_owned(),
                Some((Letter::ReadB, None)) => "read(PINB)".to_owned(),
                Some((Letter::ReadB, Some(test))) => format!("read(PINB) & 3 {} {}", test.operator, test.number),
                Some((Letter::WriteB, None)) => "write(PORTB)".to_owned(),
                Some((Letter::WriteB, Some(test))) => format!("write(PORTB) {} {}", test.operator, test.number),
            };
            format!("(on: \"{on}\", to: \"s{}\")", moved.to)
        };
        let state = |(number, moves): (usize, &Vec<Move>)| {
            let moves: Vec<String> = moves.iter().map(one).collect();
            format!("\"s{number}\": (moves: [{}])", moves.join(", "))
        };
        let states: Vec<String> = self.states.iter().enumerate().map(state).collect();
        let initial: Vec<String> = self.initial.iter().map(|number| format!("\"s{number}\"")).collect();
        format!("(initial: [{}], states: {{{}}})", initial.join(", "), states.join(", "))
    }

    /// The states after silent moves.
    fn silently(&self, from: Option<usize>) -> BTreeSet<usize> {
        let mut all: BTreeSet<usize> = from.map_or_else(|| self.initial.iter().copied().collect(), |it| [it].into());
        loop {
            let moves = all.iter().flat_map(|state| &self.states[*state]);
            let more: Vec<usize> = moves.filter(|moved| moved.on.is_none()).map(|moved| moved.to).collect();
            let before = all.len();
            all.extend(more);
            if all.len() == before {
                return all;
            }
        }
    }

    /// The targets of the moves of one state with a letter and a value.
    fn targets(&self, state: usize, letter: Letter, value: u8) -> Vec<usize> {
        let answers = |moved: &&Move| {
            moved.on.is_some_and(|(on, test)| on == letter && test.is_none_or(|test| test.passes(value)))
        };
        self.states[state].iter().filter(answers).map(|moved| moved.to).collect()
    }

    fn heard(&self, from: Option<usize>, value: u8) -> Vec<Option<usize>> {
        let hears = self.states.iter().flatten().any(|one| matches!(one.on, Some((Letter::WriteB, _))));
        if !hears {
            return vec![from];
        }
        let mut all = BTreeSet::new();
        for state in self.silently(from) {
            let targets = self.targets(state, Letter::WriteB, value);
            all.extend(if targets.is_empty() { vec![state] } else { targets });
        }
        all.into_iter().map(Some).collect()
    }

    /// The values that a read may give where some pins are outputs, with the state after it.
    fn driven(&self, from: Option<usize>, outputs: u8) -> Vec<(u8, Option<usize>)> {
        let mut all = BTreeSet::new();
        for state in self.silently(from) {
            for value in 0..4 {
                let targets = self.targets(state, Letter::ReadB, value);
                let values = (0..4).filter(|other| (value ^ other) & !outputs == 0);
                all.extend(values.flat_map(|other| targets.iter().map(move |to| (other, Some(*to)))));
            }
        }
        all.into_iter().collect()
    }
}

/// The successors of a state; none where the machine has no value.
fn edges(blocks: &[Block], machine: &Machine, from: Concrete) -> Vec<Concrete> {
    let block = blocks[from.block];
    let written = |value: u8, state: Concrete| -> Vec<Concrete> {
        let after = Concrete { port: value, ..state };
        machine.heard(from.machine, value).into_iter().map(|to| Concrete { machine: to, ..after }).collect()
    };
    let read = || -> Vec<(u8, Option<usize>)> {
        // A pin that is an output brings nothing from outside.
        match from.outputs {
            3 => (0..4).map(|value| (value, from.machine)).collect(),
            outputs => machine.driven(from.machine, outputs),
        }
    };
    let results: Vec<Concrete> = match block.action {
        Action::WriteB(value) => written(value, from),
        Action::Show => written(from.register, from),
        Action::Read => {
            read().into_iter().map(|(value, to)| Concrete { register: value, machine: to, ..from }).collect()
        }
        Action::Skip(bit) => {
            let skipped =
                |(value, to): (u8, Option<usize>)| Concrete { register: value >> bit & 1, machine: to, ..from };
            read().into_iter().map(skipped).collect()
        }
        Action::Direction => vec![Concrete { outputs: from.register, ..from }],
    };
    let after = |state: Concrete| {
        let taken = block.bit.map_or(0, |bit| usize::from(state.register >> bit & 1));
        Concrete { block: block.next[taken], ..state }
    };
    results.into_iter().map(after).collect()
}

/// A formula in which negation stands at comparisons only.
#[derive(Clone, Debug)]
enum Formula {
    Port(Test),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    /// Two letters of CTL.
    Path(&'static str, Box<Self>),
}

impl Formula {
    fn random(random: &mut Random, depth: usize) -> Self {
        let sub = |random: &mut Random| Box::new(Self::random(random, depth - 1));
        match if depth == 0 { 0 } else { random.below(7) } {
            0 => Self::Port(Test::random(random)),
            1 => Self::And(sub(random), sub(random)),
            2 => Self::Or(sub(random), sub(random)),
            _ => Self::Path(random.pick(&["AG", "EF", "AF", "EG"]), sub(random)),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Port(test) => format!("PORTB {} {}", test.operator, test.number),
            Self::And(one, other) => format!("({} && {})", one.text(), other.text()),
            Self::Or(one, other) => format!("({} || {})", one.text(), other.text()),
            Self::Path(letters, part) => format!("{letters}({})", part.text()),
        }
    }
}

/// The reachable states with their successors.
struct Composition {
    states: Vec<Concrete>,
    next: Vec<Vec<usize>>,
    first: Vec<usize>,
}

impl Composition {
    fn new(blocks: &[Block], machine: &Machine) -> Self {
        let begin = |register| Concrete { block: 0, register, port: 0, outputs: 0, machine: None };
        let mut states: Vec<Concrete> = (0..4).map(begin).collect();
        let mut numbers: BTreeMap<Concrete, usize> = states.iter().copied().zip(0..).collect();
        let mut next: Vec<Vec<usize>> = Vec::new();
        while next.len() < states.len() {
            let successors = edges(blocks, machine, states[next.len()]);
            let of_one = successors.into_iter().map(|to| {
                *numbers.entry(to).or_insert_with(|| {
                    states.push(to);
                    states.len() - 1
                })
            });
            let of_one = of_one.collect();
            next.push(of_one);
        }
        Self { states, next, first: (0..4).collect() }
    }

    fn is_dead(&self) -> bool {
        self.next.iter().any(Vec::is_empty)
    }

    /// The states in which a formula is true, if everything is `beyond` where the machine has no value.
    fn truth(&self, formula: &Formula, beyond: bool) -> Vec<bool> {
        let all = || 0..self.states.len();
        match formula {
            Formula::Port(test) => all().map(|state| test.passes(self.states[state].port)).collect(),
            Formula::And(one, other) => {
                let (one, other) = (self.truth(one, beyond), self.truth(other, beyond));
                all().map(|state| one[state] && other[state]).collect()
            }
            Formula::Or(one, other) => {
                let (one, other) = (self.truth(one, beyond), self.truth(other, beyond));
                all().map(|state| one[state] || other[state]).collect()
            }
            Formula::Path(letters, part) => {
                let part = self.truth(part, beyond);
                let (is_all, is_always) = (letters.starts_with('A'), letters.ends_with('G'));
                let mut truth = vec![is_always; self.states.len()];
                loop {
                    let after = |state: usize| match (self.next[state].as_slice(), is_all) {
                        ([], _) => beyond,
                        (next, true) => next.iter().all(|to| truth[*to]),
                        (next, false) => next.iter().any(|to| truth[*to]),
                    };
                    let new: Vec<bool> = all()
                        .map(|state| if is_always { part[state] && after(state) } else { part[state] || after(state) })
                        .collect();
                    if new == truth {
                        return truth;
                    }
                    truth = new;
                }
            }
        }
    }

    /// The verdict about a formula; none where it is unknown.
    fn verdict(&self, formula: &Formula) -> Option<bool> {
        let [lower, upper] = [false, true].map(|beyond| {
            let truth = self.truth(formula, beyond);
            self.first.iter().all(|state| truth[*state])
        });
        (lower == upper).then_some(lower)
    }
}

/// The answers about random cases.
#[derive(Debug, Default)]
struct Count {
    holds: u64,
    violated: u64,
    unknown: u64,
    dead: u64,
    /// Formulas that are decided otherwise where inputs are free.
    differ: u64,
}

fn results(blocks: &[Block], texts: &[String], machine: Option<&Machine>) -> Results {
    let environment = machine.map_or("", |_| "environment: [machine(spec: \"m\", drives: [\"PINB.0\", \"PINB.1\"])],");
    let formulas: Vec<String> = texts.iter().map(|text| format!("Formula(check: \"{text}\")")).collect();
    let file = format!("({environment} properties: [Inherent(), {}])", formulas.join(", "));
    let mut file = PropertyFile::parse("p.ron", &file).expect("the property file is right");
    if let Some(machine) = machine {
        let automaton = SpecificationAutomaton::parse("m", &machine.text()).expect("the machine is right");
        file.add_specification("m", automaton);
    }
    let device = Device::named("atmega328p-gpio").expect("it exists");
    let image = image(&words(blocks));
    verify(&Request::of(&image, device, &file)).unwrap_or_else(|error| panic!("{error}"))
}

/// Compares a case; an error says where the verifier is wrong.
fn compare(seed: u64, count: &mut Count) -> Result<(), String> {
    let mut random = Random::new(seed);
    let blocks = program(&mut random);
    let machine = Machine::random(&mut random);
    let mut formulas: Vec<Formula> = (0..3).map(|_| Formula::random(&mut random, 3)).collect();
    let goal = Formula::Port(Test::random(&mut random));
    formulas.push(Formula::Path("AG", Box::new(Formula::Path("EF", Box::new(goal)))));
    let texts: Vec<String> = formulas.iter().map(Formula::text).collect();
    let composition = Composition::new(&blocks, &machine);
    let results = results(&blocks, &texts, Some(&machine));
    let free = Machine { initial: vec![0], states: vec![vec![Move { on: Some((Letter::ReadB, None)), to: 0 }]] };
    let free = Composition::new(&blocks, &free);
    let dead = composition.is_dead();
    count.dead += u64::from(dead);
    let expected = std::iter::once(Some(!dead)).chain(formulas.iter().map(|formula| composition.verdict(formula)));
    let of_free = std::iter::once(Some(true)).chain(formulas.iter().map(|formula| free.verdict(formula)));
    for ((result, expected), of_free) in results.properties.iter().zip(expected).zip(of_free) {
        count.differ += u64::from(expected != of_free);
        let is_right = match &result.verdict {
            Verdict::Holds => {
                count.holds += 1;
                expected == Some(true)
            }
            Verdict::Violated => {
                count.violated += 1;
                expected == Some(false) && result.evidence.as_ref().is_none_or(|run| run.replayed)
            }
            Verdict::Unknown(unknown) => {
                count.unknown += u64::from(expected.is_some());
                !unknown.self_check_failed
            }
        };
        if !is_right {
            let text = machine.text();
            return Err(format!(
                "seed {seed}: {} is {:?}, and should be {expected:?}: {blocks:?}\n{text}",
                result.name, result.verdict
            ));
        }
    }
    Ok(())
}

#[test]
fn driven_inputs_are_those_of_concrete_states() {
    let (mut count, cases) = (Count::default(), cases(250, 10_000));
    for seed in 0..cases {
        compare(seed, &mut count).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
    assert!(count.holds > cases && count.violated > cases && count.differ > cases / 6, "{count:?}");
    assert!(count.unknown * 50 < cases && count.dead * 20 > cases, "{count:?}");
    let faults = [
        Fault::AutomatonStays,
        Fault::AutomatonUnheeded,
        Fault::AutomatonUnsplit,
        Fault::AutomatonFirstCase,
        Fault::AutomatonNoChoice,
        Fault::DeadIsFree,
    ];
    let _alone = crate::FAULTS.lock();
    for fault in faults {
        put_in(Some(fault));
        let found = (0..cases.max(500)).find(|seed| compare(*seed, &mut Count::default()).is_err());
        put_in(None);
        assert!(found.is_some(), "{fault:?} is not found");
    }
}
