//! Reduced against unreduced: small random programs with two interrupts, and what each kind of carelessness would miss.

use crate::pipeline::portfolio::with_first_budget;
use crate::random_programs::{
    CELLS, Code, EIMSK, LONG, MAIN, PROGRAMS, Random, Said, contradict, program, r, results, said, with_handlers,
};
use crate::{Reductions, Verdict};
use avr_isa::{DataAddress, Instruction, Pointer, PointerMode};
use avr_model::faults::partial_order::{Fault, with_fault};
use std::time::Duration;

/// I/O address of PORTB, and the words of the flash of the ATmega328P.
const PORTB: u8 = 0x05;
const FLASH_WORDS: u32 = 0x4000;

/// The answers where interrupts are reduced by partial order, or come everywhere.
fn said_reduced(words: &[u16], interrupts: bool) -> Said {
    said(words, Reductions { interrupts, paths: false, handlers: false }, LONG)
}

#[test]
fn reduced_answers_are_those_of_all_interrupts() {
    let programs = avr_testkit::cases(60, PROGRAMS);
    let (mut hold, mut violated, mut fewer) = (0, 0, 0);
    for seed in 0..programs {
        let words = program(&mut Random::new(seed));
        let (all, reduced) = (said_reduced(&words, false), said_reduced(&words, true));
        assert!(!contradict(&all, &reduced), "seed {seed}: {reduced:?} where it is {all:?}");
        assert_eq!(all.holds, reduced.holds, "seed {seed}");
        if all.holds == Some(true) {
            assert_eq!(all.stack, reduced.stack, "seed {seed}");
        }
        hold += u64::from(all.holds == Some(true));
        violated += u64::from(all.holds == Some(false));
        fewer += u64::from(reduced.states < all.states);
    }
    assert!(hold > programs / 10 && violated > programs / 10, "{hold} hold, {violated} are violated");
    assert!(fewer > programs / 4, "{fewer} of {programs} have fewer states");
}

/// The first program whose answer a fault makes wrong.
#[track_caller]
fn check_found(fault: Fault) {
    let wrong = |seed: &u64| {
        let words = program(&mut Random::new(*seed));
        let all = said_reduced(&words, false);
        let reduced = with_fault(fault, || said_reduced(&words, true));
        contradict(&all, &reduced) || all.holds == Some(true) && all.stack != reduced.stack
    };
    assert!((0..4 * PROGRAMS).find(wrong).is_some(), "{fault:?} was not noticed");
}

#[test]
fn handlers_that_disturb_would_be_noticed() {
    check_found(Fault::AllTransparent);
}

#[test]
fn instructions_that_conflict_would_be_noticed() {
    check_found(Fault::NoConflicts);
}

/// A trap that is sprung when the first handler runs before an instruction that nothing depends on, and the second
/// behind it. The first sets a cell, and the second stores one more than it elsewhere.
fn two_in_a_row() -> Vec<u16> {
    let handler = |code: &mut Code, number: usize| {
        if number == 0 {
            code.add(Instruction::Ldi { rd: r(16), k: 1 });
        } else {
            code.add(Instruction::Lds { rd: r(16), address: CELLS[0] });
            code.add(Instruction::Inc { rd: r(16) });
        }
        code.add(Instruction::Sts { address: CELLS[number], rr: r(16) });
    };
    with_handlers(handler, |code| {
        code.add(Instruction::Nop);
        code.add(Instruction::Lds { rd: r(18), address: CELLS[1] });
        code.add(Instruction::Bclr { flag: 7 });
        code.trap(18, 2);
    })
}

/// A trap that is sprung when a handler, which sets a cell, runs between two instructions that read it.
fn read_twice() -> Vec<u16> {
    let handler = |code: &mut Code, _| {
        code.add(Instruction::Ldi { rd: r(16), k: 1 });
        code.add(Instruction::Sts { address: CELLS[0], rr: r(16) });
    };
    with_handlers(handler, |code| {
        code.add(Instruction::Lds { rd: r(19), address: CELLS[0] });
        code.add(Instruction::Lds { rd: r(18), address: CELLS[0] });
        code.add(Instruction::Bclr { flag: 7 });
        code.add(Instruction::Sub { rd: r(18), rr: r(19) });
        code.trap(18, 1);
    })
}

/// Checks that a fault makes a violated program hold.
#[track_caller]
fn check_hidden(words: &[u16], fault: Fault) {
    assert_eq!(said_reduced(words, false).holds, Some(false));
    assert_eq!(said_reduced(words, true).holds, Some(false));
    assert_eq!(with_fault(fault, || said_reduced(words, true)).holds, Some(true));
}

#[test]
fn a_footprint_that_is_not_noted_would_be_noticed() {
    check_hidden(&read_twice(), Fault::NothingNoted);
}

#[test]
fn interrupts_that_do_not_catch_up_would_be_noticed() {
    check_hidden(&two_in_a_row(), Fault::NothingPending);
}

#[test]
fn a_stack_that_is_deeper_before_would_be_noticed() {
    check_found(Fault::ShallowerLater);
}

#[test]
fn a_stack_that_gets_deeper_would_be_noticed() {
    check_found(Fault::GrantedShallower);
}

/// The time for a program of a few instructions.
const SHORT: Duration = Duration::from_secs(20);

/// A handler that lets another one in, which is possible nowhere else and changes r20. The main program traps when r20
/// changes in the middle of straight code.
fn letting_in() -> Vec<u16> {
    use crate::random_programs::{Code, EIMSK, HANDLERS, MAIN, r};
    use avr_isa::Instruction as I;
    let mut code = Code::with_vectors(MAIN, &HANDLERS);
    code.place(HANDLERS[0]);
    // Not itself, or the nesting would have no end.
    code.add(I::Cbi { io: EIMSK, bit: 0 });
    code.add(I::Sbi { io: EIMSK, bit: 1 });
    code.add(I::Bset { flag: 7 });
    code.add(I::Nop);
    code.add(I::Nop);
    code.add(I::Bclr { flag: 7 });
    code.add(I::Cbi { io: EIMSK, bit: 1 });
    code.add(I::Sbi { io: EIMSK, bit: 0 });
    code.add(I::Reti);
    code.place(HANDLERS[1]);
    code.add(I::Ldi { rd: r(20), k: 1 });
    code.add(I::Reti);
    code.place(MAIN);
    code.add(I::Sbi { io: EIMSK, bit: 0 });
    code.add(I::Bset { flag: 7 });
    let start = code.words.len() as u32;
    code.add(I::Ldi { rd: r(20), k: 0 });
    code.add(I::Nop);
    code.add(I::Nop);
    code.trap(20, 1);
    code.jump(start);
    code.words
}

#[test]
fn a_handler_that_lets_in_one_that_disturbs_does_so_itself() {
    let words = letting_in();
    assert_eq!(said(&words, Reductions::NONE, SHORT).holds, Some(false));
    let interrupts = Reductions { interrupts: true, ..Reductions::NONE };
    for reductions in [interrupts, Reductions::ALL] {
        assert_eq!(said(&words, reductions, SHORT).holds, Some(false));
    }
}

/// The cell below the stack pointer, where it is when the device starts: handlers keep their return address there.
const BELOW: DataAddress = DataAddress(0x8ff);

/// Data address of the register that says whether interrupts are requested by levels or edges, and the I/O address of requests.
const EICRA: DataAddress = DataAddress(0x69);
const EIFR: u8 = 0x1c;

/// A main program that runs for ever with an interrupt whose handler does nothing.
fn beside_a_handler(main: impl FnOnce(&mut Code)) -> Vec<u16> {
    let mut code = Code { words: Vec::new() };
    code.jump(MAIN);
    code.place(2);
    code.add(Instruction::Reti);
    code.place(MAIN);
    code.add(Instruction::Sbi { io: EIMSK, bit: 0 });
    code.add(Instruction::Bset { flag: 7 });
    code.add(Instruction::Nop);
    let start = code.words.len() as u32;
    main(&mut code);
    code.jump(start);
    code.words
}

/// A trap that is sprung when a handler runs after a comparison of what was loaded from below the stack pointer. The
/// handler must come before it is loaded again.
fn compared_garbage() -> Vec<u16> {
    beside_a_handler(|code| {
        code.add(Instruction::Lds { rd: r(24), address: BELOW });
        code.add(Instruction::Cpi { rd: r(24), k: 4 });
        code.add(Instruction::Brbs { flag: 0, offset: 1 });
        code.jump(MAIN);
        code.add(Instruction::Lds { rd: r(30), address: BELOW });
        code.add(Instruction::Cpi { rd: r(30), k: 4 });
        code.add(Instruction::Brbs { flag: 0, offset: 1 });
        code.words.push(0xffff);
        // An address, so that it is of use to know what the comparison tells.
        code.add(Instruction::Ldi { rd: r(31), k: 1 });
        code.add(Instruction::Ld { rd: r(0), pointer: Pointer::Z, mode: PointerMode::Displacement(0) });
    })
}

/// A trap that is sprung when a handler runs between two instructions that load the same cell below the stack pointer.
/// The first of them is cut into cases. It is sprung once, when the cell still holds what it held when the device
/// started, or again and again.
fn cut_garbage(again: bool) -> Vec<u16> {
    beside_a_handler(|code| {
        code.add(Instruction::Lds { rd: r(30), address: BELOW });
        code.add(Instruction::Lds { rd: r(24), address: BELOW });
        code.add(Instruction::Eor { rd: r(24), rr: r(30) });
        code.add(Instruction::Sbrc { rr: r(24), bit: 0 });
        code.words.push(0xffff);
        if !again {
            code.jump(code.words.len() as u32);
        }
    })
}

#[test]
fn what_is_loaded_from_below_the_stack_pointer_twice_may_differ() {
    let interrupts = Reductions { interrupts: true, ..Reductions::NONE };
    for words in [compared_garbage(), cut_garbage(true), cut_garbage(false)] {
        for reductions in [Reductions::NONE, interrupts, Reductions::ALL] {
            assert_eq!(said(&words, reductions, SHORT).holds, Some(false), "{words:x?} {reductions:?}");
        }
    }
}

/// A handler sets a port bit while the program waits in a loop. The jump of the loop leads back round the end of the
/// flash: the bits of its target that PC does not have are lost.
#[test]
fn a_jump_round_the_end_of_the_flash_leads_back() {
    let handler = |code: &mut Code, _| code.add(Instruction::Sbi { io: PORTB, bit: 0 });
    let words = with_handlers(handler, |code| {
        let place = code.words.len() as u32;
        code.add(Instruction::Jmp { target: place + FLASH_WORDS });
    });
    let interrupts = Reductions { interrupts: true, ..Reductions::NONE };
    for reductions in [Reductions::NONE, interrupts, Reductions::ALL] {
        let results = results(&words, &["AG (PORTB == 0)"], reductions, SHORT);
        assert_eq!(results.properties[0].verdict, Verdict::Violated, "{reductions:?}");
    }
}

#[test]
fn copies_of_garbage_would_be_noticed() {
    check_hidden(&compared_garbage(), Fault::CopiesOfGarbage);
}

/// A main program that loads a cell below the stack pointer into few registers again and again, copies and compares
/// them. It traps if one is not below a bound or differs from another one, before it uses it as an address.
fn garbage_program(random: &mut Random) -> Vec<u16> {
    beside_a_handler(|code| {
        if random.below(2) == 0 {
            // Else the cell holds what it held when the device started.
            code.add(Instruction::Ldi { rd: r(16), k: 0 });
            code.add(Instruction::Sts { address: BELOW, rr: r(16) });
        }
        for _ in 0..3 + random.below(4) {
            let (one, other) = (r(17 + random.below(2)), r(17 + random.below(2)));
            match random.below(6) {
                0..3 => code.add(Instruction::Lds { rd: one, address: BELOW }),
                3 => code.add(Instruction::Mov { rd: one, rr: other }),
                4 => {
                    code.add(Instruction::Cpi { rd: one, k: 4 });
                    code.add(Instruction::Brbs { flag: 0, offset: 1 });
                    code.jump(MAIN);
                }
                _ => {
                    code.add(Instruction::Andi { rd: one, k: 3 });
                }
            }
        }
        if random.below(2) == 0 {
            code.add(Instruction::Cpi { rd: r(17), k: 4 });
            code.add(Instruction::Brbs { flag: 0, offset: 1 });
        } else {
            code.add(Instruction::Mov { rd: r(24), rr: r(17) });
            code.add(Instruction::Eor { rd: r(24), rr: r(18) });
            code.add(Instruction::Sbrc { rr: r(24), bit: 0 });
        }
        code.words.push(0xffff);
        code.add(Instruction::Mov { rd: r(30), rr: r(17) });
        code.add(Instruction::Ldi { rd: r(31), k: 1 });
        code.add(Instruction::Ld { rd: r(0), pointer: Pointer::Z, mode: PointerMode::Displacement(0) });
        if random.below(2) == 0 {
            code.jump(code.words.len() as u32);
        }
    })
}

#[test]
fn programs_that_look_below_the_stack_pointer_have_the_answers_of_all_interrupts() {
    let programs = avr_testkit::cases(45, PROGRAMS);
    let (mut hold, mut violated) = (0, 0);
    for seed in 0..programs {
        let words = garbage_program(&mut Random::new(seed));
        let brief = Duration::from_millis(150);
        let all = said(&words, Reductions::NONE, brief);
        for reductions in [Reductions { interrupts: true, ..Reductions::NONE }, Reductions::ALL] {
            let reduced = said(&words, reductions, brief);
            assert!(!contradict(&all, &reduced), "seed {seed}: {reduced:?} where it is {all:?}");
        }
        hold += u64::from(all.holds == Some(true));
        violated += u64::from(all.holds == Some(false));
    }
    assert!(hold >= 3 && violated >= 3, "{hold} hold, {violated} are violated");
}

/// A program that needs more of the stack behind a request that was seen. The handler comes before that, and does not
/// come to an end.
fn requested_for_certain() -> Vec<u16> {
    let mut code = Code::with_vectors(MAIN, &[2]);
    code.place(MAIN);
    code.add(Instruction::Ldi { rd: r(16), k: 3 });
    code.add(Instruction::Sts { address: EICRA, rr: r(16) });
    code.add(Instruction::Sbi { io: EIMSK, bit: 0 });
    let start = code.words.len() as u32;
    code.add(Instruction::Sbis { io: EIFR, bit: 0 });
    code.jump(start);
    code.add(Instruction::Bset { flag: 7 });
    code.add(Instruction::Nop);
    (0..4).for_each(|_| code.add(Instruction::Push { rr: r(16) }));
    code.jump(code.words.len() as u32);
    code.words
}

/// The verdict on a stack of three bytes where locations are limited from the beginning.
fn said_of_three_bytes(reductions: Reductions) -> Verdict {
    let words = requested_for_certain();
    let results = with_first_budget(1, || results(&words, &["Stack(max_bytes: 3)"], reductions, SHORT));
    results.properties.into_iter().next().expect("there is a property").verdict
}

#[test]
fn an_interrupt_that_is_certain_comes_although_it_is_left_for_later() {
    assert_eq!(said_of_three_bytes(Reductions::NONE), Verdict::Holds);
    assert_eq!(said_of_three_bytes(Reductions::ALL), Verdict::Holds);
}

#[test]
fn an_interrupt_that_is_certain_and_does_not_come_would_be_noticed() {
    let said = with_fault(Fault::DeferredIsSure, || said_of_three_bytes(Reductions::ALL));
    assert!(matches!(&said, Verdict::Unknown(unknown) if unknown.self_check_failed), "{said:?}");
}
