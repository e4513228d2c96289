//! Ranges of numbers of several bytes: runs of random programs stay inside of them, and faults are found.

use avr_isa::{DataAddress, Instruction as I};
use avr_machine::device::Device;
use avr_machine::{Machine, Options as MachineOptions, Program, flag};
use avr_testkit::image::{Code, r};
use avr_testkit::{Random, cases};

use super::runs::compare;
use crate::equalities::Silence;
use crate::faults::{Fault, with_fault};
use crate::map::Thread;
use crate::pass::{Analysis, Options, analyse};
use crate::{State, Value};

const HANDLER: u32 = 0x20;
const MAIN: u32 = 0x60;
/// A number that the main program counts, and one that the handler counts as well.
const X: DataAddress = DataAddress(0x100);
const SHARED: DataAddress = DataAddress(0x108);
const STATUS: u8 = 0x3f;
const PIND: u8 = 0x09;

fn machine(code: &Code) -> Machine {
    let device = Device::named("atmega328p").expect("the device exists");
    let word = |address: u32| code.words.get(address as usize).copied();
    let program = Program::decode(device.memory.flash_words(), device.core.features, word);
    Machine::new(device, program, MachineOptions::default())
}

/// The bytes of a constant.
fn byte(number: u32, index: usize) -> u8 {
    number.to_le_bytes()[index]
}

/// Loads a number into registers.
fn load(registers: &[u8], variable: DataAddress) -> Vec<I> {
    let load = |(at, register): (u16, &u8)| I::Lds { rd: r(*register), address: variable.wrapping_add(at) };
    (0..).zip(registers).map(load).collect()
}

/// Stores a number, the highest byte first.
fn store(registers: &[u8], variable: DataAddress) -> Vec<I> {
    let store = |(at, register): (u16, &u8)| I::Sts { address: variable.wrapping_add(at), rr: r(*register) };
    (0..registers.len() as u16).zip(registers).map(store).rev().collect()
}

/// Compares a number in registers with a constant, in one of the ways of compilers.
fn compare_with(registers: &[u8], limit: u32, random: &mut Random) -> Vec<I> {
    let mut all = Vec::new();
    let is_swapped = random.chance(25);
    let is_kept = random.chance(70);
    for (index, register) in registers.iter().enumerate() {
        let (rd, k) = (r(*register), byte(limit, index));
        let rr = r(18);
        all.push(I::Ldi { rd: rr, k });
        all.push(match (index, is_swapped, is_kept) {
            (0, true, _) => I::Cp { rd: rr, rr: rd },
            (_, true, _) => I::Cpc { rd: rr, rr: rd },
            (0, false, true) => I::Cpi { rd, k },
            (_, false, true) => I::Cpc { rd, rr },
            (0, false, false) => I::Subi { rd, k },
            (_, false, false) => I::Sbci { rd, k },
        });
    }
    all
}

/// Adds a number to one in registers, or subtracts it.
fn add_to(registers: &[u8], addend: u32, random: &mut Random) -> Vec<I> {
    let rd = |index: usize| r(registers[index]);
    match random.below(4) {
        0 if registers.len() == 2 => vec![I::Adiw { rd: rd(0), k: (addend & 0x3f) as u8 }],
        1 if registers.len() == 2 => vec![I::Sbiw { rd: rd(0), k: (addend & 0x3f) as u8 }],
        2 => (0..registers.len())
            .map(|index| match index {
                0 => I::Subi { rd: rd(0), k: byte(addend, 0) },
                _ => I::Sbci { rd: rd(index), k: byte(addend, index) },
            })
            .collect(),
        _ => (0..registers.len())
            .flat_map(|index| {
                let rr = r(19);
                let sum = if index == 0 { I::Add { rd: rd(0), rr } } else { I::Adc { rd: rd(index), rr } };
                [I::Ldi { rd: rr, k: byte(addend, index) }, sum]
            })
            .collect(),
    }
}

/// An instruction or two that get in the way.
fn disturbance(registers: &[u8], random: &mut Random) -> Vec<I> {
    let register = r(random.pick(registers));
    match random.below(9) {
        0 => vec![I::Push { rr: register }, I::Pop { rd: r(20) }],
        1 => vec![I::Bset { flag: flag::C }],
        2 => vec![I::Bclr { flag: flag::C }],
        3 => vec![I::In { rd: r(21), io: STATUS }, I::Cpi { rd: r(22), k: 7 }, I::Out { io: STATUS, rr: r(21) }],
        4 => vec![I::In { rd: register, io: PIND }],
        5 => vec![I::Mov { rd: r(20), rr: register }],
        6 => vec![I::Sts { address: X.wrapping_add(1), rr: r(20) }],
        7 => vec![I::In { rd: r(21), io: PIND }, I::Bst { rd: r(21), bit: 0 }, I::Bld { rd: register, bit: 1 }],
        _ => vec![I::Nop],
    }
}

/// A few rounds of: load, compare, branch over a change and a store.
fn counting(variable: DataAddress, rounds: u64, random: &mut Random) -> Vec<I> {
    let bytes = random.pick(&[2, 2, 3, 4]);
    let registers = &[24_u8, 25, 26, 27][..bytes];
    let mut all = Vec::new();
    for _ in 0..rounds {
        let limit = random.pick(&[3_u32, 0x100, 0x1ff, 300, 1000, 0x1_0005]);
        all.extend(load(registers, variable));
        all.extend(compare_with(registers, limit, random));
        if random.chance(30) {
            all.extend(disturbance(registers, random));
        }
        let mut inner = if random.chance(50) { load(registers, variable) } else { Vec::new() };
        let addend = random.pick(&[1, 2, 60, 60, 0x101, 0x101, 0xffff, 0xffff_ffff]);
        inner.extend(add_to(registers, addend, random));
        if random.chance(30) {
            inner.extend(disturbance(registers, random));
        }
        inner.extend(store(registers, variable));
        let words: usize = inner.iter().map(|one| avr_testkit::image::encoded(*one).count()).sum();
        let offset = words as i8;
        all.push(if random.chance(50) { I::Brbc { flag: flag::C, offset } } else { I::Brbs { flag: flag::C, offset } });
        all.extend(inner);
    }
    all
}

/// A program that counts in its main loop and in a handler.
fn program(seed: u64) -> Code {
    let random = &mut Random::new(seed);
    let mut code = Code::with_vectors(MAIN + 0x100, &[HANDLER]);
    code.place(HANDLER);
    let saved = [18, 19, 20, 21, 22, 24, 25, 26, 27];
    saved.iter().for_each(|register| code.add(I::Push { rr: r(*register) }));
    let is_restored = random.chance(80);
    code.add(I::In { rd: r(23), io: STATUS });
    if is_restored {
        code.add(I::Push { rr: r(23) });
    }
    counting(SHARED, 1, random).into_iter().for_each(|one| code.add(one));
    if is_restored {
        code.add(I::Pop { rd: r(23) });
        code.add(I::Out { io: STATUS, rr: r(23) });
    }
    saved.iter().rev().for_each(|register| code.add(I::Pop { rd: r(*register) }));
    code.add(I::Reti);
    code.place(MAIN + 0x100);
    code.add(I::Ldi { rd: r(24), k: 0 });
    for at in 0..16 {
        code.add(I::Sts { address: X.wrapping_add(at), rr: r(24) });
    }
    code.add(I::Ldi { rd: r(24), k: 5 });
    code.add(I::Sts { address: DataAddress(0x69), rr: r(24) });
    code.add(I::Ldi { rd: r(24), k: u8::from(random.chance(70)) });
    code.add(I::Out { io: 0x1d, rr: r(24) });
    code.add(I::Bset { flag: flag::I });
    let start = code.words.len() as u32;
    counting(X, 2, random).into_iter().for_each(|one| code.add(one));
    if random.chance(50) {
        counting(SHARED, 1, random).into_iter().for_each(|one| code.add(one));
    }
    code.jump(start);
    code
}

/// The first contradiction between runs of a program and its map, with the number of ranges; none if it is open.
fn contradiction(seed: u64) -> (Option<usize>, Option<String>) {
    let machine = machine(&program(seed));
    let limits = Options { states: 10_000, steps: 30_000, further: 0, ..Options::default() };
    let Analysis { map, outcome, .. } = analyse(&machine, &limits);
    let Ok(claims) = outcome else { return (None, None) };
    let ranges = map.entries.iter().map(|entry| entry.state.ranges.list().len()).sum();
    let problem = (0..6).find_map(|run| {
        let compared = compare(&machine, &map, &claims, run, [20, 5, 60, 2][run as usize % 4], 1_500);
        compared.err().map(|problem| format!("run {run}: {problem}"))
    });
    (Some(ranges), problem)
}

#[test]
fn runs_of_programs_that_count_stay_inside() {
    let (mut closed, mut ranges) = (0, 0);
    let programs = cases(150, 3_000);
    for seed in 0..programs {
        let (found, problem) = contradiction(seed);
        assert_eq!(problem, None, "seed {seed}");
        closed += u64::from(found.is_some());
        ranges += found.unwrap_or_default();
    }
    assert!(closed * 2 > programs && ranges > 3_000, "{closed} maps are closed, with {ranges} ranges");
}

#[test]
fn runs_of_programs_that_count_find_faults() {
    for fault in [Fault::RangesKept, Fault::CarryKept, Fault::CarryDropped] {
        let is_found = |seed: u64| with_fault(fault, || contradiction(seed)).1.is_some();
        assert!((0..400).any(is_found), "{fault:?} is not found");
    }
}

/// The main loop of a program that adds 1 to a number of so many bytes while it is below a limit.
fn guarded(bytes: usize, limit: u32) -> (Machine, u32) {
    let registers = &[24_u8, 25, 26, 27][..bytes];
    let mut code = Code::with_vectors(MAIN, &[]);
    code.place(MAIN);
    code.add(I::Eor { rd: r(1), rr: r(1) });
    for at in 0..4 {
        code.add(I::Sts { address: X.wrapping_add(at), rr: r(1) });
    }
    let start = code.words.len() as u32;
    load(registers, X).into_iter().for_each(|one| code.add(one));
    code.add(I::Cpi { rd: r(24), k: byte(limit, 0) });
    for (index, register) in registers.iter().enumerate().skip(1) {
        code.add(I::Ldi { rd: r(18), k: byte(limit, index) });
        code.add(I::Cpc { rd: r(*register), rr: r(18) });
    }
    let mut inner = vec![I::Adiw { rd: r(24), k: 1 }];
    inner.extend(registers.iter().skip(2).map(|register| I::Adc { rd: r(*register), rr: r(1) }));
    inner.extend(store(registers, X));
    let words: usize = inner.iter().map(|one| avr_testkit::image::encoded(*one).count()).sum();
    code.add(I::Brbc { flag: flag::C, offset: words as i8 });
    inner.into_iter().for_each(|one| code.add(one));
    code.jump(start);
    (machine(&code), start)
}

/// The greatest value of a number of so many bytes at an address in the main program.
fn greatest(found: &Analysis, bytes: u16, pc: u32) -> u32 {
    let store = &found.map.store;
    let number: Vec<Value> = (0..bytes).map(|at| Value::Of(X.wrapping_add(at))).collect();
    let here =
        found.map.entries.iter().filter(|entry| entry.place.thread == Thread::Main && entry.place.control.pc.0 == pc);
    let high = |state: &State| {
        let when = state.range(&number, Silence::Nothing, store);
        when.into_iter().flatten().map(|(_, high)| high).max().unwrap_or_default()
    };
    here.map(|entry| high(&entry.state)).max().expect("the loop is reached")
}

#[test]
fn guarded_numbers_are_at_most_their_limits() {
    for (bytes, limit) in [(2, 1_000), (2, 300), (2, 0x200), (3, 300), (4, 1_000)] {
        let (machine, start) = guarded(bytes, limit);
        let found = analyse(&machine, &Options::default());
        assert!(found.outcome.is_ok(), "{:?}", found.outcome);
        assert_eq!(greatest(&found, bytes as u16, start), limit, "{bytes} bytes");
    }
}
