//! Predicates where interrupts are reduced: what each kind of carelessness would miss.

use crate::Reductions;
use crate::pipeline::portfolio::{with_first_budget, without_search};
use crate::random_programs::{CELLS, Code, EIMSK, HANDLERS, MAIN, PROGRAMS, Random, SREG, Said, contradict, r, said};
use avr_isa::{DataAddress, Instruction as I};
use avr_model::faults::predicates::{Fault, with_fault};
use avr_testkit::programs::varied::program;
use std::time::Duration;

/// The time for a program.
const SHORT: Duration = Duration::from_secs(4);
/// I/O address of the pins of port D.
const PIND: u8 = 0x09;
/// Where the first byte that the main program pushes goes.
const TOP: DataAddress = DataAddress(0x8ff);

/// The answers with predicates: locations are limited from the first states on.
fn limited(words: &[u16]) -> Said {
    with_first_budget(1, || said(words, Reductions::ALL, SHORT))
}

/// A program with a handler, and a main program that goes on with interrupts.
fn beside(handler: &[I], main: impl Fn(&mut Code)) -> Vec<u16> {
    let mut code = Code::with_vectors(MAIN, &HANDLERS[..1]);
    code.place(HANDLERS[0]);
    code.add(I::Push { rr: r(16) });
    code.add(I::In { rd: r(16), io: SREG });
    code.add(I::Push { rr: r(16) });
    handler.iter().for_each(|instruction| code.add(*instruction));
    code.add(I::Pop { rd: r(16) });
    code.add(I::Out { io: SREG, rr: r(16) });
    code.add(I::Pop { rd: r(16) });
    code.add(I::Reti);
    code.place(MAIN);
    code.add(I::Ldi { rd: r(16), k: 1 });
    code.add(I::Out { io: EIMSK, rr: r(16) });
    code.add(I::Bset { flag: 7 });
    let start = code.words.len() as u32;
    main(&mut code);
    code.jump(start);
    code.words
}

/// Traps unless a cell is 5.
fn compare(code: &mut Code, address: DataAddress) {
    code.add(I::Lds { rd: r(18), address });
    code.add(I::Cpi { rd: r(18), k: 5 });
    code.add(I::Brbs { flag: 1, offset: 1 });
    code.words.push(0xffff);
}

/// Passes over some words unless a cell is 5.
fn if_equal(code: &mut Code, address: DataAddress, words: i8) {
    code.add(I::Lds { rd: r(18), address });
    code.add(I::Cpi { rd: r(18), k: 5 });
    code.add(I::Brbc { flag: 1, offset: words });
}

/// A program that traps if a cell is not 5 where it was 5 before, and a handler that puts what it reads there.
fn stores_input() -> Vec<u16> {
    let handler = [I::In { rd: r(16), io: PIND }, I::Sts { address: CELLS[0], rr: r(16) }];
    beside(&handler, |code| {
        if_equal(code, CELLS[0], 5);
        compare(code, CELLS[0]);
    })
}

/// A program that pops a 5, below which handlers have their part of the stack, and traps if the cell holds another number then.
fn compares_garbage() -> Vec<u16> {
    beside(&[], |code| {
        code.add(I::In { rd: r(17), io: PIND });
        code.add(I::Push { rr: r(17) });
        if_equal(code, TOP, 6);
        code.add(I::Pop { rd: r(17) });
        compare(code, TOP);
        code.add(I::Push { rr: r(17) });
        code.add(I::Pop { rd: r(17) });
    })
}

#[test]
fn predicates_that_handlers_keep_would_be_noticed() {
    let words = stores_input();
    assert_eq!(limited(&words).holds, Some(false));
    let wrong = without_search(|| with_fault(Fault::KeptAfterWrite, || limited(&words)));
    assert_eq!(wrong.holds, Some(true));
}

#[test]
fn predicates_are_not_kept_where_handlers_have_their_stack() {
    let words = compares_garbage();
    assert_eq!(limited(&words).holds, Some(false));
    let wrong = without_search(|| with_fault(Fault::KeptBelowPointer, || limited(&words)));
    assert_eq!(wrong.holds, Some(true));
}

#[test]
fn a_predicate_that_nothing_changes_decides_the_second_branch() {
    let handler = [I::In { rd: r(16), io: PIND }, I::Sts { address: CELLS[1], rr: r(16) }];
    let words = beside(&handler, |code| {
        if_equal(code, CELLS[0], 5);
        compare(code, CELLS[0]);
    });
    assert_eq!(limited(&words).holds, Some(true));
}

#[test]
fn answers_with_predicates_are_those_without_anything() {
    let programs = avr_testkit::cases(30, PROGRAMS);
    for seed in 1000..1000 + programs {
        let words = program(&mut Random::new(seed));
        let (all, found) = (said(&words, Reductions::NONE, SHORT), limited(&words));
        assert!(!contradict(&all, &found), "seed {seed}: {found:?} where it is {all:?}");
    }
}
