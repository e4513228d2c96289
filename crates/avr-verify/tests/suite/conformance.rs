//! Conformance of random programs to random specifications, against a composition of concrete states that is written anew
//! here: no formula, no abstraction.

use std::collections::BTreeSet;

use avr_machine::device::Device;
use avr_properties::conformance::faults::{Fault, with_fault};
use avr_properties::{PropertyFile, SpecificationAutomaton};
use avr_testkit::image::image;
use avr_testkit::{Random, cases};
use avr_verify::{Request, Verdict, verify};

use crate::blocks::{Action, Block, Concrete, LETTERS, Label, Letter, edges, program, text_of, words};

/// A comparison with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Test {
    operator: &'static str,
    number: u8,
}

impl Test {
    fn random(random: &mut Random) -> Self {
        let operator = random.pick(&["==", "!=", "<"]);
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

#[derive(Clone, Debug, Default)]
struct State {
    data: Option<Test>,
    moves: Vec<Move>,
    may_stop: bool,
}

#[derive(Clone, Debug)]
struct Specification {
    initial: Vec<usize>,
    states: Vec<State>,
    alphabet: Vec<Letter>,
}

impl Specification {
    /// Any specification.
    fn random(random: &mut Random) -> Self {
        let count = 1 + random.below(4_usize);
        let mut states = vec![State::default(); count];
        for state in &mut states {
            if random.chance(20) {
                state.data = Some(Test::random(random));
            }
            state.may_stop = random.chance(30);
            for _ in 0..random.below(5) {
                let moved = Self::any_move(random, count);
                state.moves.push(moved);
            }
        }
        let initial = if random.chance(30) { vec![0, random.below(count)] } else { vec![0] };
        Self { initial, states, alphabet: Vec::new() }.finished(random)
    }

    fn any_move(random: &mut Random, count: usize) -> Move {
        let letter = random.pick(&[Letter::WriteB, Letter::WriteB, Letter::WriteC, Letter::ReadB]);
        let test = (letter != Letter::WriteC && random.chance(60)).then(|| Test::random(random));
        Move { on: (!random.chance(20)).then_some((letter, test)), to: random.below(count) }
    }

    /// The program itself, block by block, with something changed or not.
    fn of(blocks: &[Block], random: &mut Random) -> Self {
        let state = |block: &Block| {
            let ons = match block.action {
                Action::WriteB(value) => vec![Some((Letter::WriteB, Some(Test { operator: "==", number: value })))],
                Action::WriteC(_) => vec![Some((Letter::WriteC, None))],
                Action::Read => vec![Some((Letter::ReadB, None))],
                Action::Show => vec![Some((Letter::WriteB, None))],
                Action::Nothing => vec![None],
            };
            let targets = if block.bit.is_some() { block.next.to_vec() } else { vec![block.next[0]] };
            let moves = ons.iter().flat_map(|on| targets.iter().map(|to| Move { on: *on, to: *to })).collect();
            State { data: None, moves, may_stop: false }
        };
        let mut made = Self { initial: vec![0], states: blocks.iter().map(state).collect(), alphabet: Vec::new() };
        let (count, which) = (made.states.len(), random.below(blocks.len()));
        match random.below(9) {
            0 => {
                made.states[which].moves.pop();
            }
            1 => made.states[which].moves.push(Self::any_move(random, count)),
            2 => made.states[which].data = Some(Test::random(random)),
            3 => {
                let moved = Self::any_move(random, count);
                if let Some(last) = made.states[which].moves.last_mut() {
                    *last = moved;
                }
            }
            4 => {}
            _ => made.guess(random),
        }
        made.finished(random)
    }

    /// A state with several moves becomes two with some of them each: the specification guesses in advance which it will make.
    fn guess(&mut self, random: &mut Random) {
        let several: Vec<usize> = (0..self.states.len()).filter(|it| self.states[*it].moves.len() > 1).collect();
        if several.is_empty() {
            return;
        }
        let (which, added) = (random.pick(&several), self.states.len());
        let half = self.states[which].moves.len() / 2;
        let moves = self.states[which].moves.split_off(half);
        self.states.push(State { moves, ..self.states[which].clone() });
        for state in &mut self.states {
            let more: Vec<Move> =
                state.moves.iter().filter(|it| it.to == which).map(|it| Move { to: added, ..it.clone() }).collect();
            state.moves.extend(more);
        }
        if self.initial.contains(&which) {
            self.initial.push(added);
        }
    }

    /// Without states that are not reached and moves that are there twice, and with an alphabet.
    fn finished(mut self, random: &mut Random) -> Self {
        let mut reached: Vec<usize> = self.initial.clone();
        let mut next = 0;
        while next < reached.len() {
            for moved in &self.states[reached[next]].moves {
                if !reached.contains(&moved.to) {
                    reached.push(moved.to);
                }
            }
            next += 1;
        }
        let mut kept: Vec<usize> = reached;
        kept.sort_unstable();
        kept.dedup();
        let number = |state: usize| kept.iter().position(|old| *old == state).expect("it is reached");
        self.initial = self.initial.iter().map(|state| number(*state)).collect();
        let states: Vec<State> = kept.iter().map(|old| self.states[*old].clone()).collect();
        self.states = states;
        for state in &mut self.states {
            let mut moves: Vec<Move> = Vec::new();
            for moved in &state.moves {
                let moved = Move { to: number(moved.to), ..moved.clone() };
                if !moves.contains(&moved) {
                    moves.push(moved);
                }
            }
            state.moves = moves;
        }
        let is_used = |letter: Letter| {
            let moves = self.states.iter().flat_map(|state| &state.moves);
            moves.filter_map(|moved| moved.on).any(|(used, _)| used == letter)
        };
        self.alphabet =
            LETTERS.iter().map(|(letter, _)| *letter).filter(|it| is_used(*it) || random.chance(50)).collect();
        if self.alphabet.is_empty() {
            self.alphabet.push(Letter::WriteB);
        }
        self
    }

    fn text(&self) -> String {
        let state = |(number, state): (usize, &State)| {
            let data =
                state.data.map_or_else(String::new, |it| format!("data: \"PORTB {} {}\", ", it.operator, it.number));
            let one = |moved: &Move| {
                let on = match moved.on {
                    None => "tau".to_owned(),
                    Some((letter, None)) => text_of(letter).to_owned(),
                    Some((Letter::ReadB, Some(test))) => format!("read(PINB) & 3 {} {}", test.operator, test.number),
                    Some((letter, Some(test))) => format!("{} {} {}", text_of(letter), test.operator, test.number),
                };
                format!("(on: \"{on}\", to: \"s{}\")", moved.to)
            };
            let moves: Vec<String> = state.moves.iter().map(one).collect();
            format!("\"s{number}\": ({data}moves: [{}], may_stop: {})", moves.join(", "), state.may_stop)
        };
        let states: Vec<String> = self.states.iter().enumerate().map(state).collect();
        let initial: Vec<String> = self.initial.iter().map(|number| format!("\"s{number}\"")).collect();
        format!("(initial: [{}], states: {{{}}})", initial.join(", "), states.join(", "))
    }

    fn silently(&self, from: usize) -> BTreeSet<usize> {
        let mut all = BTreeSet::from([from]);
        loop {
            let more: Vec<usize> = all
                .iter()
                .flat_map(|state| &self.states[*state].moves)
                .filter(|moved| moved.on.is_none())
                .map(|moved| moved.to)
                .collect();
            let before = all.len();
            all.extend(more);
            if all.len() == before {
                return all;
            }
        }
    }

    /// The states in which the specification may be after an event, or after a step without one.
    fn answers(&self, from: usize, event: Label) -> BTreeSet<usize> {
        let Some((letter, value)) = event.filter(|(letter, _)| self.alphabet.contains(letter)) else {
            return self.silently(from);
        };
        let mut all = BTreeSet::new();
        for state in self.silently(from) {
            for moved in &self.states[state].moves {
                if let Some((on, test)) = moved.on
                    && on == letter
                    && test.is_none_or(|test| test.passes(value))
                {
                    all.extend(self.silently(moved.to));
                }
            }
        }
        all
    }

    fn first(&self) -> BTreeSet<usize> {
        self.initial.iter().flat_map(|state| self.silently(*state)).collect()
    }

    fn fits(&self, state: usize, concrete: Concrete) -> bool {
        self.states[state].data.is_none_or(|test| test.passes(concrete.port))
    }
}

/// The composition of a program and a specification.
struct Composition<'a> {
    blocks: &'a [Block],
    specification: &'a Specification,
    deadlock: bool,
}

impl Composition<'_> {
    fn first(&self) -> Vec<Concrete> {
        (0..4).map(|register| Concrete { block: 0, register, port: 0 }).collect()
    }

    fn all(&self) -> Vec<Concrete> {
        let mut all = Vec::new();
        for block in 0..self.blocks.len() {
            for register in 0..4 {
                all.extend((0..4).map(|port| Concrete { block, register, port }));
            }
        }
        all
    }

    fn event_can_come(&self, from: Concrete) -> bool {
        let (mut seen, mut waiting) = (BTreeSet::from([from]), vec![from]);
        while let Some(state) = waiting.pop() {
            for (event, next) in edges(self.blocks, state) {
                if event.is_some_and(|(letter, _)| self.specification.alphabet.contains(&letter)) {
                    return true;
                }
                if seen.insert(next) {
                    waiting.push(next);
                }
            }
        }
        false
    }

    fn is_simulated(&self) -> bool {
        let specification = self.specification;
        let allowed = |concrete: Concrete, state: usize| {
            let may_stop = specification.states[state].may_stop;
            specification.fits(state, concrete) && (!self.deadlock || may_stop || self.event_can_come(concrete))
        };
        let mut related: BTreeSet<(Concrete, usize)> = BTreeSet::new();
        for concrete in self.all() {
            related
                .extend((0..specification.states.len()).filter(|it| allowed(concrete, *it)).map(|it| (concrete, it)));
        }
        loop {
            let answers = |(concrete, state): &(Concrete, usize)| {
                edges(self.blocks, *concrete).into_iter().all(|(event, next)| {
                    specification.answers(*state, event).into_iter().any(|answer| related.contains(&(next, answer)))
                })
            };
            let kept: BTreeSet<(Concrete, usize)> = related.iter().copied().filter(|pair| answers(pair)).collect();
            if kept.len() == related.len() {
                break;
            }
            related = kept;
        }
        let begins = |concrete: Concrete| specification.first().into_iter().any(|it| related.contains(&(concrete, it)));
        self.first().into_iter().all(begins)
    }

    fn has_its_traces(&self) -> bool {
        let specification = self.specification;
        let fitting = |states: BTreeSet<usize>, concrete: Concrete| -> BTreeSet<usize> {
            states.into_iter().filter(|state| specification.fits(*state, concrete)).collect()
        };
        let mut waiting: Vec<(Concrete, BTreeSet<usize>)> =
            self.first().into_iter().map(|concrete| (concrete, fitting(specification.first(), concrete))).collect();
        let mut seen = BTreeSet::new();
        while let Some((concrete, states)) = waiting.pop() {
            let may_stop = states.iter().any(|state| specification.states[*state].may_stop);
            if states.is_empty() || self.deadlock && !may_stop && !self.event_can_come(concrete) {
                return false;
            }
            if !seen.insert((concrete, states.clone())) {
                continue;
            }
            for (event, next) in edges(self.blocks, concrete) {
                let answers = states.iter().flat_map(|state| specification.answers(*state, event)).collect();
                waiting.push((next, fitting(answers, next)));
            }
        }
        true
    }
}

/// The answers about one random case.
#[derive(Debug, Default)]
struct Count {
    holds: u64,
    violated: u64,
    unknown: u64,
    /// Cases in which the traces are included without simulation.
    differ: u64,
}

/// Compares a case; an error says where the verifier is wrong.
fn compare(seed: u64, count: &mut Count) -> Result<(), String> {
    let mut random = Random::new(seed);
    let blocks = program(&mut random);
    let specification =
        if random.chance(60) { Specification::of(&blocks, &mut random) } else { Specification::random(&mut random) };
    let deadlock = random.chance(30);
    let alphabet: Vec<String> = specification.alphabet.iter().map(|it| format!("\"{}\"", text_of(*it))).collect();
    let entry = |by: &str| {
        format!("Conforms(to: \"s\", alphabet: [{}], by: \"{by}\", deadlock: {deadlock})", alphabet.join(", "))
    };
    let text = specification.text();
    let file = format!("(properties: [{}, {}])", entry("simulation"), entry("traces"));
    let mut file = PropertyFile::parse("p.ron", &file).expect("the property file is right");
    let automaton = SpecificationAutomaton::parse("s", &text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    file.add_specification("s", automaton);
    let device = Device::named("atmega328p-gpio").expect("it exists");
    let image = image(&words(&blocks));
    let results = verify(&Request::of(&image, device, &file)).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    let composition = Composition { blocks: &blocks, specification: &specification, deadlock };
    let expected = [composition.is_simulated(), composition.has_its_traces()];
    count.differ += u64::from(expected[0] != expected[1]);
    for (result, expected) in results.properties.iter().zip(expected) {
        let is_right = match &result.verdict {
            Verdict::Holds => {
                count.holds += 1;
                expected
            }
            Verdict::Violated => {
                count.violated += 1;
                let run = result.evidence.as_ref();
                !expected && run.is_none_or(|run| run.replayed)
            }
            Verdict::Unknown(unknown) => {
                count.unknown += 1;
                !unknown.self_check_failed
            }
        };
        if !is_right {
            return Err(format!(
                "seed {seed}: {} is {:?}, and should be {expected}: {blocks:?}\n{text}",
                result.name, result.verdict
            ));
        }
    }
    Ok(())
}

#[test]
fn conformance_is_that_of_concrete_states() {
    let (mut count, cases) = (Count::default(), cases(1_000, 10_000));
    for seed in 0..cases {
        compare(seed, &mut count).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
    assert!(count.holds * 5 > cases && count.violated * 5 > cases, "{count:?}");
    assert!(count.unknown * 20 < cases && count.differ > 0, "{count:?}");
    for fault in Fault::ALL {
        let found = with_fault(*fault, || (0..cases).find(|seed| compare(*seed, &mut Count::default()).is_err()));
        assert!(found.is_some(), "{fault:?} is not found");
    }
}
