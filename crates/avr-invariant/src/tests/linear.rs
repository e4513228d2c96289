//! Linear equations between bytes: runs of random programs fulfil them, faults are found, and loops that count two numbers are closed.

use avr_isa::{DataAddress, Instruction as I, LpmMode, Pointer, PointerMode};
use avr_machine::device::Device;
use avr_machine::{Machine, Options as MachineOptions, Program, flag};
use avr_testkit::image::{Code, r};
use avr_testkit::{Random, cases};

use super::runs::compare;
use crate::faults::{Fault, with_fault};
use crate::pass::{Analysis, Options, analyse};

const HANDLER: u32 = 0x20;
const MAIN: u32 = 0x80;
const X: DataAddress = DataAddress(0x100);
const BUFFER: u16 = 0x140;
const PIND: u8 = 0x09;
const STATUS: u8 = 0x3f;

pub(crate) fn machine(code: &Code) -> Machine {
    let device = Device::named("atmega328p").expect("the device exists");
    let word = |address: u32| code.words.get(address as usize).copied();
    let program = Program::decode(device.memory.flash_words(), device.core.features, word);
    Machine::new(device, program, MachineOptions::default())
}

/// An instruction or two that count, add, copy, or get in the way.
fn instructions(random: &mut Random) -> Vec<I> {
    let any = |random: &mut Random| r(random.pick(&[16_u8, 17, 18, 24, 25, 26, 28]));
    let (rd, rr) = (any(random), any(random));
    let k = random.pick(&[1_u8, 2, 0x10, 0xff, 0xf0]);
    let variable = X.wrapping_add(random.below(3));
    let pointer = Pointer::X;
    let k = k & 0x3f;
    match random.below(21) {
        0 => vec![I::Add { rd, rr }, I::Adc { rd: rr, rr: rd }],
        1 => vec![I::Sub { rd, rr }, I::Sbc { rd: rr, rr }],
        2 => vec![I::Subi { rd, k }, I::Sbci { rd: r(17), k: 0xff }],
        3 => vec![I::Adiw { rd: r(24), k: 1 }],
        4 => vec![I::Sbiw { rd: r(24), k: 2 }],
        5 => vec![I::Inc { rd }],
        6 => vec![I::Dec { rd }],
        7 => vec![I::Mov { rd, rr }, I::Dec { rd }],
        8 => vec![I::Movw { rd: r(18), rr: r(24) }, I::Adiw { rd: r(24), k }],
        9 => vec![I::Lds { rd, address: variable }, I::Inc { rd }],
        10 => vec![
            I::Sts { address: variable, rr: r(24) },
            I::Subi { rd: r(24), k },
            I::Nop,
            I::Lds { rd, address: variable },
        ],
        11 => vec![I::In { rd, io: PIND }],
        12 => vec![I::Ldi { rd: r(27), k: 1 }, I::St { pointer, mode: PointerMode::PostIncrement, rr }],
        13 => vec![I::Ldi { rd: r(27), k: 1 }, I::Ld { rd: r(16), pointer, mode: PointerMode::PreDecrement }],
        14 => vec![I::Lpm { rd: r(18), mode: LpmMode::PostIncrement }],
        15 => vec![I::Cp { rd, rr }, I::Brbs { flag: flag::C, offset: 0 }],
        16 => vec![I::Cpi { rd, k }, I::Brbc { flag: flag::C, offset: 1 }, I::Inc { rd }],
        17 => vec![I::Bset { flag: flag::C }],
        18 => vec![I::In { rd: r(19), io: STATUS }, I::Add { rd, rr }, I::Out { io: STATUS, rr: r(19) }],
        19 => vec![I::Push { rr: rd }, I::Pop { rd: rr }],
        _ => vec![I::Adc { rd, rr }],
    }
}

/// A program that calculates in its main loop and in a handler, which gives back what it changes but for variables.
fn program(seed: u64) -> Code {
    let random = &mut Random::new(seed);
    let mut code = Code::with_vectors(MAIN, &[HANDLER]);
    code.place(HANDLER);
    let saved = [16, 24];
    saved.iter().for_each(|register| code.add(I::Push { rr: r(*register) }));
    code.add(I::In { rd: r(16), io: STATUS });
    code.add(I::Push { rr: r(16) });
    code.add(I::Lds { rd: r(24), address: X });
    code.add(I::Subi { rd: r(24), k: 0xff });
    code.add(I::Sts { address: X.wrapping_add(random.below(3)), rr: r(24) });
    code.add(I::Pop { rd: r(16) });
    if random.chance(80) {
        code.add(I::Out { io: STATUS, rr: r(16) });
    }
    saved.iter().rev().for_each(|register| code.add(I::Pop { rd: r(*register) }));
    code.add(I::Reti);
    code.place(MAIN);
    for at in 0..4 {
        code.add(I::Sts { address: X.wrapping_add(at), rr: r(1) });
    }
    code.add(I::Ldi { rd: r(24), k: 5 });
    code.add(I::Sts { address: DataAddress(0x69), rr: r(24) });
    code.add(I::Ldi { rd: r(24), k: u8::from(random.chance(60)) });
    code.add(I::Out { io: 0x1d, rr: r(24) });
    code.add(I::In { rd: r(24), io: PIND });
    code.add(I::Bset { flag: flag::I });
    let start = code.words.len() as u32;
    for _ in 0..3 + random.below(7) {
        instructions(random).into_iter().for_each(|one| code.add(one));
    }
    code.jump(start);
    code
}

/// The first contradiction between runs of a program and its map, with the number of equations; none if it is open.
fn contradiction(seed: u64) -> (Option<usize>, Option<String>) {
    let machine = machine(&program(seed));
    let limits = Options { states: 5_000, steps: 10_000, further: 0, equations_at_once: true, ..Options::default() };
    let Analysis { map, outcome, .. } = analyse(&machine, &limits);
    let Ok(claims) = outcome else { return (None, None) };
    let equations = map.entries.iter().map(|entry| entry.state.equations.list().len()).sum();
    let problem = (0..4).find_map(|run| {
        let compared = compare(&machine, &map, &claims, run, [20, 5, 60, 2][run as usize % 4], 600);
        compared.err().map(|problem| format!("run {run}: {problem}"))
    });
    (Some(equations), problem)
}

#[test]
fn runs_of_programs_that_calculate_fulfil_equations() {
    let (mut closed, mut equations) = (0, 0);
    let programs = cases(150, 4_000);
    for seed in 0..programs {
        let (found, problem) = contradiction(seed);
        assert_eq!(problem, None, "seed {seed}");
        closed += u64::from(found.is_some());
        equations += found.unwrap_or_default();
    }
    assert!(closed * 2 > programs && equations > 1_000, "{closed} maps are closed, with {equations} equations");
}

#[test]
fn runs_of_programs_that_calculate_find_faults() {
    for fault in [Fault::EquationsWithoutCarry, Fault::EquationsUnchecked] {
        let is_found = |seed: u64| with_fault(fault, || contradiction(seed)).1.is_some();
        assert!((0..400).any(is_found), "{fault:?} is not found");
    }
}

/// The map of a main program behind the start-up code.
fn found(main: &[I]) -> Analysis {
    let mut code = Code::with_vectors(MAIN, &[]);
    code.place(MAIN);
    code.add(I::Eor { rd: r(1), rr: r(1) });
    main.iter().for_each(|one| code.add(*one));
    code.add(I::Rjmp { offset: -1 });
    analyse(&machine(&code), &Options { further: 0, of_place: [0, 0], equations_at_once: true, ..Options::default() })
}

/// Stores through X while a number of two bytes, which begins with an input of at most so much, is counted down.
fn counted_down(most: u8) -> Vec<I> {
    vec![
        I::In { rd: r(24), io: PIND },
        I::Andi { rd: r(24), k: most },
        I::Ldi { rd: r(25), k: 0 },
        I::Ldi { rd: r(26), k: BUFFER as u8 },
        I::Ldi { rd: r(27), k: (BUFFER >> 8) as u8 },
        I::Add { rd: r(26), rr: r(24) },
        I::Adc { rd: r(27), rr: r(25) },
        I::Rjmp { offset: 1 },
        I::St { pointer: Pointer::X, mode: PointerMode::PreDecrement, rr: r(1) },
        I::Subi { rd: r(24), k: 1 },
        I::Sbci { rd: r(25), k: 0 },
        I::Brbc { flag: flag::C, offset: -4 },
    ]
}

/// Stores at a place that was compared less a number: is it in the buffer?
fn compared_less(k: u8, limit: u8) -> Vec<I> {
    vec![
        I::In { rd: r(24), io: PIND },
        I::Mov { rd: r(18), rr: r(24) },
        I::Subi { rd: r(18), k },
        I::Cpi { rd: r(18), k: limit },
        I::Brbc { flag: flag::C, offset: 5 },
        I::Mov { rd: r(30), rr: r(24) },
        I::Ldi { rd: r(31), k: 0 },
        I::Subi { rd: r(30), k: (BUFFER as u8).wrapping_neg() },
        I::Sbci { rd: r(31), k: ((BUFFER.wrapping_neg()) >> 8) as u8 },
        I::St { pointer: Pointer::Z, mode: PointerMode::Displacement(0), rr: r(1) },
    ]
}

/// Stores at a place with a distance that was compared for equality.
fn compared_equal(k: u8) -> Vec<I> {
    vec![
        I::In { rd: r(24), io: PIND },
        I::Andi { rd: r(24), k: 0x3f },
        I::Ldi { rd: r(26), k: BUFFER as u8 },
        I::Ldi { rd: r(27), k: (BUFFER >> 8) as u8 },
        I::Add { rd: r(26), rr: r(24) },
        I::Cpi { rd: r(24), k },
        I::Brbc { flag: flag::Z, offset: 1 },
        I::St { pointer: Pointer::X, mode: PointerMode::Displacement(0), rr: r(1) },
    ]
}

/// Stores at a place with a distance that was compared as a signed number of two bytes with a limit: with it, or it with the number.
fn compared_signed(limit: u8, is_first: bool) -> Vec<I> {
    let (compare, upper) = match is_first {
        true => (I::Cp { rd: r(24), rr: r(18) }, I::Cpc { rd: r(25), rr: r(19) }),
        false => (I::Cp { rd: r(18), rr: r(24) }, I::Cpc { rd: r(19), rr: r(25) }),
    };
    // BRGE and BRLT leave the store out.
    let leave = match is_first {
        true => I::Brbc { flag: flag::S, offset: 5 },
        false => I::Brbs { flag: flag::S, offset: 5 },
    };
    vec![
        I::In { rd: r(24), io: PIND },
        I::Andi { rd: r(24), k: 0x3f },
        I::Ldi { rd: r(25), k: 0 },
        I::Ldi { rd: r(18), k: limit },
        I::Ldi { rd: r(19), k: 0 },
        compare,
        upper,
        leave,
        I::Mov { rd: r(30), rr: r(24) },
        I::Ldi { rd: r(31), k: 0 },
        I::Subi { rd: r(30), k: (BUFFER as u8).wrapping_neg() },
        I::Sbci { rd: r(31), k: ((BUFFER.wrapping_neg()) >> 8) as u8 },
        I::St { pointer: Pointer::Z, mode: PointerMode::Displacement(0), rr: r(1) },
    ]
}

/// The cells that a map says may be 0 behind the program, where they are not at first: those that are stored to.
fn stored(found: &Analysis) -> Vec<u16> {
    let store = &found.map.store;
    let last = found.map.entries.iter().max_by_key(|entry| entry.place.control.pc).expect("there are states");
    let cells = (0x100..0x300).map(DataAddress);
    cells.filter(|cell| store.cell(&last.state.memory, *cell).known() != Some(0x55)).map(|cell| cell.0).collect()
}

/// A main program behind one that fills the SRAM up to 0x300 with 0x55.
fn filled(main: &[I]) -> Vec<I> {
    let mut all = vec![I::Ldi { rd: r(20), k: 0x55 }];
    all.extend((0x100..0x300).map(|cell| I::Sts { address: DataAddress(cell), rr: r(20) }));
    all.extend(main);
    all
}

#[test]
fn pointers_are_bounded_by_what_is_counted_with_them() {
    let found = found(&filled(&counted_down(0x3f)));
    assert!(found.outcome.is_ok(), "{:?}", found.outcome);
    let stored = stored(&found);
    assert!(stored.iter().all(|cell| (BUFFER..BUFFER + 0x3f).contains(cell)), "{stored:x?}");
    assert!(stored.len() == 0x3f, "{stored:x?}");
}

#[test]
fn numbers_are_bounded_by_what_was_compared_less_a_number() {
    for (k, limit) in [(2, 18), (0x30, 10), (0x60, 0x40)] {
        let found = found(&filled(&compared_less(k, limit)));
        assert!(found.outcome.is_ok(), "{:?}", found.outcome);
        let expected: Vec<u16> = (u16::from(k)..u16::from(k) + u16::from(limit)).map(|index| BUFFER + index).collect();
        assert_eq!(stored(&found), expected);
    }
}

#[test]
fn pointers_are_known_where_what_was_added_is() {
    for k in [0, 5, 0x3f] {
        let found = found(&filled(&compared_equal(k)));
        assert!(found.outcome.is_ok(), "{:?}", found.outcome);
        assert_eq!(stored(&found), [BUFFER + u16::from(k)]);
    }
}

#[test]
fn numbers_are_bounded_by_comparisons_of_signed_numbers() {
    for limit in [1, 10, 0x30] {
        for (is_first, last) in [(true, limit - 1), (false, limit)] {
            let found = found(&filled(&compared_signed(limit, is_first)));
            assert!(found.outcome.is_ok(), "{:?}", found.outcome);
            let expected: Vec<u16> = (0..=u16::from(last)).map(|index| BUFFER + index).collect();
            assert_eq!(stored(&found), expected, "{limit} {is_first}");
        }
    }
}
