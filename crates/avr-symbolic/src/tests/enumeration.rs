//! Random claims about random small loops, against enumeration of all states and inputs on concrete steps.

use super::loops::{at, exit, machine, register};
use crate::{CheckLimits, Checked, Claim, ExecutionLimits, Executor, Rank, Rounds, Strategy, Term};
use avr_isa::{DataAddress, Instruction as I};
use avr_machine::{Demand, DeterminedBy, Environment, Input, Machine, MachineState, Question, Stop};
use avr_testkit::image::{Code, r};
use avr_testkit::{Random, cases};
use std::collections::{BTreeMap, BTreeSet};
use three_valued::TvByte;

/// Pins that decide, one bit of each, and the registers that they are read to.
const PINS: [(DataAddress, u8, u8); 2] = [(DataAddress(0x23), 3, 18), (DataAddress(0x29), 9, 19)];
/// The registers that make them inputs.
const DIRECTIONS: [DataAddress; 2] = [DataAddress(0x24), DataAddress(0x2a)];
/// Registers that count, with the values that they have in a region at most.
const COUNTERS: [(u8, u8); 2] = [(16, 7), (17, 3)];

/// An instruction or two of a loop. What is read from pins decides about nothing but skips.
fn piece(code: &mut Code, random: &mut Random) {
    let (counter, mask) = random.pick(&COUNTERS);
    let other = COUNTERS[random.below(2)].0;
    let (_, io, pin) = random.pick(&PINS);
    match random.below(12) {
        0 | 1 => code.add(I::Dec { rd: r(counter) }),
        2 => code.add(I::Inc { rd: r(counter) }),
        3 | 4 => code.add(I::Andi { rd: r(counter), k: mask }),
        5 => code.add(I::Subi { rd: r(counter), k: random.below(3) }),
        6 => code.add(I::Mov { rd: r(counter), rr: r(other) }),
        7 | 8 => code.add(I::In { rd: r(pin), io }),
        9 | 10 => {
            code.add(I::In { rd: r(pin), io });
            code.add(I::Sbrc { rr: r(pin), bit: 0 });
            code.add(I::Dec { rd: r(counter) });
        }
        _ => {
            code.add(I::Sbrs { rr: r(pin), bit: 0 });
            if random.once_in(8) {
                code.words.push(0xffff);
            } else {
                code.add(I::Andi { rd: r(counter), k: mask >> 1 });
            }
        }
    }
}

/// A loop from 0 on, and the address behind it.
fn random_loop(random: &mut Random) -> (Code, u32) {
    let mut code = Code::default();
    (0..1 + random.below(4)).for_each(|_| piece(&mut code, random));
    let counter = COUNTERS[random.below(2)].0;
    for (counter, mask) in COUNTERS {
        if random.once_in(2) {
            code.add(I::Andi { rd: r(counter), k: mask });
        }
    }
    code.add(I::Cpi { rd: r(counter), k: random.below(3) });
    let offset = -(code.words.len() as i8) - 1;
    // Equal, not equal, below, or not below.
    code.add(match random.below(4) {
        0 => I::Brbs { flag: 1, offset },
        1 | 2 => I::Brbc { flag: 1, offset },
        _ => I::Brbc { flag: 0, offset },
    });
    let end = code.words.len() as u32;
    code.add(I::Nop);
    (code, end)
}

fn random_claim(end: u32, random: &mut Random) -> Claim {
    let mut cells: Vec<(DataAddress, TvByte)> = DIRECTIONS.iter().map(|one| (*one, TvByte::ZERO)).collect();
    for (counter, mask) in COUNTERS {
        let low = if random.once_in(2) { 0 } else { random.below(2) };
        let known = TvByte::new(0, !mask).within(low, mask).expect("it is not empty");
        cells.push((register(counter), known));
    }
    let counter = |random: &mut Random| Term::Cells(vec![register(COUNTERS[random.below(2)].0)]);
    let term = |random: &mut Random| match random.below(4) {
        0 => counter(random).minus(Term::Constant(1, 1)),
        1 => Term::Constant(random.below(8_u64), 1).minus(counter(random)),
        _ => counter(random),
    };
    let rank = Rank((0..1 + random.below(2)).map(|_| term(random)).collect());
    let number = 1 + random.below(3);
    let mut one = || {
        let pin = PINS[random.below(2)].0;
        let held = BTreeMap::from([(pin, TvByte::new(random.below(2), 1))]);
        let held = if random.once_in(3) { BTreeMap::new() } else { held };
        let mut sequences = BTreeMap::new();
        if random.once_in(3) {
            let levels = (0..1 + random.below(3)).map(|_| random.byte()).collect();
            sequences.insert(PINS[random.below(2)].0, levels);
        }
        Rounds { strategy: Strategy { held, sequences, ..Strategy::entering(&[]) }, count: 1 + random.below(2) }
    };
    let rounds = (0..number).map(|_| one()).collect();
    let mut exits = vec![exit(end)];
    if random.once_in(3) {
        exits[0].cells.insert(register(16), TvByte::new(random.below(4), random.byte() & 3));
    }
    if random.once_in(4) {
        exits.push(at(0, &[(register(17), TvByte::constant(random.below(4)))]));
    }
    Claim { region: at(0, &cells), rank, rounds, exits }
}

/// Supplies the bits of pins: those of sequences, those that are held, and those of a number.
struct Pins<'a> {
    strategy: &'a Strategy,
    /// The numbers of steps that asked for pins, without this one.
    steps: BTreeMap<DataAddress, usize>,
    now: BTreeSet<DataAddress>,
    others: u64,
    asked: u32,
}

impl Environment<u8> for Pins<'_> {
    fn input(&mut self, source: Input, mask: u8, _: Demand, _: DeterminedBy) -> u8 {
        let Input::Register(address) = source else { panic!("{source:?}") };
        self.now.insert(address);
        let step = self.steps.get(&address).copied().unwrap_or(0);
        if let Some(level) = self.strategy.sequences.get(&address).and_then(|levels| levels.get(step)) {
            return level & mask;
        }
        if let Some(held) = self.strategy.held.get(&address) {
            return held.value() & mask;
        }
        if mask & 1 == 0 {
            // Each bit is asked for alone, and the others decide about nothing.
            return 0;
        }
        self.asked += 1;
        (self.others >> (self.asked - 1) & 1) as u8 & mask
    }

    fn choose(&mut self, _: usize) -> usize {
        panic!("nothing is to choose")
    }

    fn case(&mut self, _: usize, _: Question<'_, u8>) -> usize {
        panic!("nothing is open")
    }
}

/// True if a run from a state with these bits of pins ends well, and the number of bits that it used.
fn ends_well(machine: &Machine, claim: &Claim, start: &MachineState<u8>, rounds: &Rounds, others: u64) -> (bool, u32) {
    let strategy = &rounds.strategy;
    let mut pins = Pins { strategy, steps: BTreeMap::new(), now: BTreeSet::new(), others, asked: 0 };
    let mut state = start.clone();
    let mut left = rounds.count;
    loop {
        match machine.step(&mut state, &mut pins) {
            Ok(_) => {}
            Err(Stop::Hazard(_)) => return (false, pins.asked),
            Err(stop) => panic!("{stop:?}"),
        }
        for register in std::mem::take(&mut pins.now) {
            *pins.steps.entry(register).or_default() += 1;
        }
        left -= usize::from(claim.region.is_at(&state));
        let is_exit = claim.exits.iter().any(|exit| exit.contains(&state));
        if is_exit || left == 0 || claim.exits.iter().any(|exit| exit.is_at(&state)) {
            let falls = claim.region.contains(&state) && claim.rank.is_less(start, &state);
            return (is_exit || falls, pins.asked);
        }
    }
}

/// True if all runs under a strategy end well.
fn serves(machine: &Machine, claim: &Claim, start: &MachineState<u8>, rounds: &Rounds) -> bool {
    let mut others = 0;
    loop {
        let (is_good, used) = ends_well(machine, claim, start, rounds, others);
        if !is_good {
            return false;
        }
        // The next number that differs in what was used.
        let high = others.reverse_bits() >> (64 - used.max(1));
        if used == 0 || high + 1 == 1 << used {
            return true;
        }
        others = (high + 1) << (64 - used);
        others = others.reverse_bits();
    }
}

/// The truth of a claim.
fn is_true(machine: &Machine, claim: &Claim) -> bool {
    let values = |number: u8| claim.region.cells.get(&register(number)).expect("it is there").concretisations();
    let all = values(16).flat_map(|one| values(17).map(move |other| (one, other)));
    all.flat_map(|pair| (0..4u8).map(move |pins| (pair, pins))).all(|((one, other), pins)| {
        let mut state: MachineState<u8> = MachineState::new(machine.cells(), 0);
        state.control = claim.region.control;
        for (address, known) in &claim.region.cells {
            state.data.set(*address, known.value());
        }
        state.data.set(register(16), one);
        state.data.set(register(17), other);
        state.data.set(register(18), pins & 1);
        state.data.set(register(19), pins >> 1);
        claim.rounds.iter().any(|rounds| serves(machine, claim, &state, rounds))
    })
}

#[test]
fn random_claims_are_proved_if_they_are_true() {
    let mut random = Random::new(31);
    let mut counts = [0, 0];
    for number in 0..cases(600, 100_000) {
        let (code, end) = random_loop(&mut random);
        let machine = machine(&code);
        let claim = random_claim(end, &mut random);
        let expected = is_true(&machine, &claim);
        let found = match claim.check(&Executor::new(&machine, ExecutionLimits::default()), CheckLimits::default()) {
            Checked::Proved(_) => true,
            Checked::Refuted(_) => false,
            Checked::Undecided(reason) => panic!("claim {number}: {reason}, {claim:?}, {:x?}", code.words),
        };
        assert_eq!(found, expected, "claim {number}: {claim:?}, {:x?}", code.words);
        counts[usize::from(found)] += 1;
    }
    assert!(counts.iter().all(|count| *count > 30), "{counts:?} are false and true");
}
