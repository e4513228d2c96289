//! Facts from comparisons: verdicts with and without facts against running small programs with every input.

use avr_isa::{DataAddress, Instruction};
use avr_machine::device::Device;
use avr_machine::{Demand, DeterminedBy, Environment, Input, Machine, MachineState, Question, Stop};
use avr_properties::{Property, PropertyFile};
use avr_testkit::Random;
use avr_testkit::image::{encoded, image, r};
use avr_verify::{InvariantUse, Reductions, Request, Verdict, machine, verify};

const PROGRAMS: u64 = 60;
/// No program takes more steps until it waits.
const STEPS: usize = 60;
const REDUCTIONS: [Reductions; 2] = [Reductions::ALL, Reductions::NONE];
const PINB: u8 = 0x03;
const PIND: u8 = 0x09;
/// The pins of each port that are read where two ports are.
const PINS: u8 = 0x0f;
const CELL: u16 = 0x100;

/// A program that reads an input, compares it with constants and branches, and traps for some values on some ways.
fn words(seed: u64) -> Vec<u16> {
    use Instruction as I;
    let mut random = Random::new(seed);
    let near = random.byte();
    let constant = |random: &mut Random| match random.below(3) {
        0 => random.byte(),
        _ => near.wrapping_add(random.below(5)),
    };
    let mut code = vec![I::Ldi { rd: r(20), k: 0 }, I::In { rd: r(24), io: PINB }];
    let kept = random.below(4);
    match kept {
        0 => code.push(I::Mov { rd: r(17), rr: r(24) }),
        1 => code.push(I::Sts { address: DataAddress(CELL), rr: r(24) }),
        2 => code.push(I::Movw { rd: r(16), rr: r(24) }),
        _ => {}
    }
    for bit in 0..1 + random.below(3) {
        let k = constant(&mut random);
        if random.below(4) == 0 && kept == 1 {
            code.push(I::Lds { rd: r(24), address: DataAddress(CELL) });
        }
        match random.below(5) {
            0 => code.extend([I::Ldi { rd: r(18), k }, I::Cp { rd: r(18), rr: r(24) }]),
            1 => code.extend([I::Ldi { rd: r(18), k }, I::Cp { rd: r(24), rr: r(18) }]),
            2 => {
                code.extend([I::Ldi { rd: r(18), k }, I::Cp { rd: r(24), rr: r(18) }, I::Cpc { rd: r(24), rr: r(18) }])
            }
            3 => code.push(I::And { rd: r(24), rr: r(24) }),
            _ => code.push(I::Cpi { rd: r(24), k }),
        }
        let flag = random.below(5);
        code.push(if random.below(2) == 0 { I::Brbs { flag, offset: 1 } } else { I::Brbc { flag, offset: 1 } });
        code.push(I::Subi { rd: r(20), k: 1 << bit });
    }
    match kept {
        0 => code.push(I::Mov { rd: r(24), rr: r(17) }),
        1 => code.push(I::Lds { rd: r(24), address: DataAddress(CELL) }),
        2 => code.push(I::Mov { rd: r(24), rr: r(16) }),
        _ => {}
    }
    code.extend([I::Cpi { rd: r(20), k: 0u8.wrapping_sub(random.below(8)) }, I::Brbc { flag: 1, offset: 3 }]);
    code.extend([I::Cpi { rd: r(24), k: constant(&mut random) }, I::Brbc { flag: 1, offset: 1 }]);
    let mut words: Vec<u16> = code.into_iter().flat_map(encoded).collect();
    words.push(0xffff);
    // The value ends in an address, which makes it worth knowing.
    let end = [I::Mov { rd: r(30), rr: r(24) }, I::Ldi { rd: r(31), k: 1 }];
    words.extend(end.into_iter().flat_map(encoded));
    words.push(0x8000);
    words.push(0xcfff);
    words
}

/// A program that reads two inputs, compares them with each other and with constants, steps them, and traps for some values on
/// some ways.
fn words_of_two(seed: u64) -> Vec<u16> {
    use Instruction as I;
    let mut random = Random::new(seed);
    let operands = |random: &mut Random| match random.below(2) {
        0 => (r(24), r(25)),
        _ => (r(25), r(24)),
    };
    let mut code = Vec::new();
    for (rd, io) in [(24, PINB), (25, PIND)] {
        code.extend([I::In { rd: r(rd), io }, I::Andi { rd: r(rd), k: PINS }]);
    }
    for _ in 0..2 + random.below(3) {
        let (rd, rr) = operands(&mut random);
        match random.below(6) {
            0 => code.push(I::Inc { rd }),
            1 => code.push(I::Subi { rd, k: random.below(6) }),
            2 => {
                code.extend([I::Sts { address: DataAddress(CELL), rr: rd }, I::Lds { rd, address: DataAddress(CELL) }])
            }
            _ => {}
        }
        match random.below(4) {
            0 => code.push(I::Cpi { rd, k: random.below(18) }),
            1 => code.extend([I::Bset { flag: 0 }, I::Cpc { rd, rr }]),
            _ => code.push(I::Cp { rd, rr }),
        }
        // The way that is not taken comes to an end.
        let flag = if random.below(4) == 0 { random.below(5) } else { 0 };
        code.push(if random.below(2) == 0 { I::Brbs { flag, offset: 1 } } else { I::Brbc { flag, offset: 1 } });
        code.push(I::Rjmp { offset: -1 });
    }
    let (rd, rr) = operands(&mut random);
    code.push(match random.below(2) {
        0 => I::Cpi { rd, k: random.below(18) },
        _ => I::Cp { rd, rr },
    });
    code.push(if random.below(2) == 0 { I::Brbs { flag: 0, offset: 1 } } else { I::Brbc { flag: 0, offset: 1 } });
    let mut words: Vec<u16> = code.into_iter().flat_map(encoded).collect();
    words.push(0xffff);
    // Both end in an address, which makes them worth knowing.
    for register in [24, 25] {
        let end = [I::Mov { rd: r(30), rr: r(register) }, I::Ldi { rd: r(31), k: 1 }];
        words.extend(end.into_iter().flat_map(encoded));
        words.push(0x8000);
    }
    words.push(0xcfff);
    words
}

/// The values at the pins of ports B and D.
struct Pins(u8, u8);

impl Environment<u8> for Pins {
    fn input(&mut self, source: Input, mask: u8, _: Demand, _: DeterminedBy) -> u8 {
        let at = |io: u8| source == Input::Register(DataAddress(u16::from(io) + 0x20));
        match (at(PINB), at(PIND)) {
            (true, _) => self.0 & mask,
            (_, true) => self.1 & mask,
            _ => 0,
        }
    }

    fn choose(&mut self, _: usize) -> usize {
        0
    }

    fn case(&mut self, _: usize, about: Question<'_, u8>) -> usize {
        panic!("a concrete machine asks {about:?}")
    }
}

/// True if some of these inputs lead into the trap.
fn traps(machine: &Machine, inputs: impl IntoIterator<Item = (u8, u8)>) -> bool {
    inputs.into_iter().any(|(one, other)| {
        let mut pins = Pins(one, other);
        let mut state: MachineState<u8> = machine.power_on(&mut pins);
        (0..STEPS).any(|_| matches!(machine.step(&mut state, &mut pins), Err(Stop::Hazard(_))))
    })
}

/// Checks that verdicts are those of running the programs with all these inputs, with and without facts.
fn check_verdicts(words: impl Fn(u64) -> Vec<u16>, inputs: &[(u8, u8)]) {
    let device = Device::named("atmega328p").expect("the device exists");
    let mut file = PropertyFile::parse("empty.ron", "()").expect("it is valid");
    file.properties.push(Property::from_command_line("Inherent()").expect("it is a property"));
    let (mut trapped, mut shorter) = (0, 0);
    let programs = avr_testkit::cases(15, PROGRAMS);
    for seed in 0..programs {
        let program = image(&words(seed));
        // Invariants would leave nothing to the state space.
        let request = Request { invariants: InvariantUse::Off, ..Request::of(&program, device, &file) };
        let expected = traps(&machine(&request).expect("the program fits"), inputs.iter().copied());
        trapped += u64::from(expected);
        let mut refined = [0, 0];
        for (facts, reductions) in [true, false].into_iter().flat_map(|facts| REDUCTIONS.map(|one| (facts, one))) {
            let results = verify(&Request { facts, reductions, ..request }).unwrap_or_else(|error| panic!("{error}"));
            let property = &results.properties[0];
            let verdict = if expected { Verdict::Violated } else { Verdict::Holds };
            assert_eq!(property.verdict, verdict, "program {seed}, facts {facts}, {reductions:?}");
            refined[usize::from(facts)] += property.statistics.refinements;
        }
        shorter += u64::from(refined[1] < refined[0]);
    }
    assert!(trapped > programs / 20 && trapped < programs * 7 / 8, "{trapped} programs trap");
    assert!(shorter > 0, "facts spare no program of {programs} a refinement");
}

#[test]
fn facts_change_no_verdict() {
    let inputs: Vec<(u8, u8)> = (0..=255).map(|value| (value, 0)).collect();
    check_verdicts(words, &inputs);
}

#[test]
fn facts_of_two_operands_change_no_verdict() {
    let inputs: Vec<(u8, u8)> = (0..=PINS).flat_map(|one| (0..=PINS).map(move |other| (one, other))).collect();
    check_verdicts(words_of_two, &inputs);
}
