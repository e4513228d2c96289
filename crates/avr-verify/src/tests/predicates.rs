//! Predicates where interrupts are reduced: what each kind of carelessness would miss.

use crate::pipeline::portfolio::{with_dropped, with_first_budget, without_race, without_search};
use crate::random_programs::{
    CELLS, Code, EIMSK, HANDLERS, LONG, MAIN, PROGRAMS, Random, SREG, Said, contradict, r, results, said, with_request,
};
use crate::{PropertyResult, Reductions, Request, UsedPredicate, Verdict, verify};
use avr_isa::{DataAddress, Instruction as I};
use avr_machine::{Number, Operand};

use avr_model::faults::predicates::{Fault as Reading, with_fault as with_reading};
use avr_model::predicates::Term;
use avr_predicates::MOST_TERMS;
use avr_predicates::faults::{Fault, with_fault};
use avr_properties::PropertyFile;
use avr_testkit::programs::varied::program;
use avr_testkit::programs::{correlated, stored_outcome};
use std::num::NonZeroUsize;
use std::time::Duration;

/// The time for a program.
const SHORT: Duration = Duration::from_secs(4);
/// The same for one of many.
const BRIEF: Duration = Duration::from_secs(3);
/// I/O address of the pins of port D.
const PIND: u8 = 0x09;
/// I/O address of port C.
const PORTC: u8 = 0x08;
/// The cell of the first byte that the main program pushes.
const TOP: DataAddress = DataAddress(0x8ff);

/// The cell in which a handler that comes after eight pushes saves a register.
const DEEP: DataAddress = DataAddress(0x8f5);

/// The answers with predicates: locations are limited from the first states on.
fn limited(words: &[u16]) -> Said {
    limited_within(words, SHORT)
}

/// The same within some time.
fn limited_within(words: &[u16], limit: Duration) -> Said {
    with_first_budget(1, || said(words, Reductions::ALL, limit))
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

/// A program that compares a cell to which handlers come only between its pushes and pops, which no handler looks at.
fn compares_deep_garbage() -> Vec<u16> {
    beside(&[], |code| {
        if_equal(code, DEEP, 21);
        (0..8).for_each(|_| code.add(I::Push { rr: r(20) }));
        (0..8).for_each(|_| code.add(I::Pop { rd: r(20) }));
        compare(code, DEEP);
    })
}

#[test]
fn predicates_that_handlers_keep_would_be_noticed() {
    let words = stores_input();
    assert_eq!(limited_within(&words, LONG).holds, Some(false));
    let wrong = without_search(|| with_fault(Fault::KeptAfterWrite, || limited_within(&words, LONG)));
    assert_eq!(wrong.holds, Some(true));
}

#[test]
fn predicates_are_not_kept_where_handlers_have_their_stack() {
    assert_eq!(limited_within(&compares_garbage(), LONG).holds, Some(false));
    let words = compares_deep_garbage();
    assert_eq!(said(&words, Reductions::NONE, LONG).holds, Some(false));
    assert_eq!(limited_within(&words, LONG).holds, Some(false));
}

#[test]
fn a_predicate_that_nothing_changes_decides_the_second_branch() {
    let handler = [I::In { rd: r(16), io: PIND }, I::Sts { address: CELLS[1], rr: r(16) }];
    let words = beside(&handler, |code| {
        if_equal(code, CELLS[0], 5);
        compare(code, CELLS[0]);
    });
    assert_eq!(limited_within(&words, LONG).holds, Some(true));
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

#[test]
fn correlated_comparisons_are_answered_as_without_predicates() {
    let programs = avr_testkit::cases(40, PROGRAMS);
    let (mut used, mut hold, mut violated) = (0, 0, 0);
    for seed in 0..programs {
        let words = correlated::program(&mut Random::new(seed));
        let all = said(&words, Reductions::NONE, BRIEF);
        let found = with_first_budget(1, || results(&words, &["Inherent()"], Reductions::ALL, BRIEF));
        used += u64::from(!found.properties[0].predicates.is_empty());
        let found = Said::of(&found);
        assert!(!contradict(&all, &found), "seed {seed}: {found:?} where it is {all:?}");
        hold += u64::from(found.holds == Some(true));
        violated += u64::from(found.holds == Some(false));
    }
    assert!(used > programs / 20 && hold > programs / 8 && violated > programs / 8, "{used}, {hold}, {violated}");
}

#[test]
fn predicates_that_are_kept_wrongly_change_answers_about_correlated_comparisons() {
    for fault in [Fault::KeptAfterWrite, Fault::KeptAfterWildStore, Fault::OrderLost] {
        let contradicts = |seed| {
            let words = correlated::program(&mut Random::new(seed));
            let brief = || with_first_budget(1, || said(&words, Reductions::ALL, BRIEF));
            let faulty = || without_search(|| with_fault(fault, brief));
            // Few comparisons refute a path, so all of them are kept where others are to tell what is wrong.
            let wrong = if fault == Fault::OrderLost { with_reading(Reading::NoneRefuted, faulty) } else { faulty() };
            wrong.holds == Some(true) && said(&words, Reductions::NONE, BRIEF).holds == Some(false)
        };
        assert!((0..120).any(contradicts), "{fault:?}");
    }
}

/// A program that compares a word twice, with a loop in between, and two other bytes, whose comparison does not matter.
fn compares_words() -> Vec<u16> {
    let word = |code: &mut Code| {
        code.add(I::Lds { rd: r(24), address: CELLS[0] });
        code.add(I::Lds { rd: r(25), address: CELLS[1] });
        code.add(I::Ldi { rd: r(18), k: 0x12 });
        code.add(I::Cpi { rd: r(24), k: 0x34 });
        code.add(I::Cpc { rd: r(25), rr: r(18) });
    };
    let mut code = Code::with_vectors(MAIN, &[]);
    code.place(MAIN);
    word(&mut code);
    code.unless(1, false, |code| {
        code.add(I::In { rd: r(20), io: PIND });
        code.add(I::Out { io: PORTC, rr: r(20) });
        code.add(I::Dec { rd: r(20) });
        code.add(I::Brbc { flag: 1, offset: -3 });
        code.add(I::Lds { rd: r(21), address: CELLS[2] });
        code.add(I::Cpi { rd: r(21), k: 7 });
        code.unless(1, true, |code| {
            code.add(I::Lds { rd: r(21), address: CELLS[2] });
            code.add(I::Cpi { rd: r(21), k: 7 });
            code.unless(1, false, |code| code.add(I::Out { io: PORTC, rr: r(21) }));
        });
        word(code);
        code.unless(1, true, |code| code.words.push(0xffff));
    });
    code.add(I::In { rd: r(16), io: PIND });
    code.add(I::Cpi { rd: r(16), k: 7 });
    code.unless(1, false, |code| {
        code.add(I::Lds { rd: r(24), address: CELLS[0] });
        code.add(I::Lds { rd: r(25), address: CELLS[1] });
        code.add(I::Adiw { rd: r(24), k: 1 });
        code.add(I::Sts { address: CELLS[1], rr: r(25) });
        code.add(I::Sts { address: CELLS[0], rr: r(24) });
    });
    code.jump(MAIN);
    code.words
}

/// The result of the inherent property where the predicates of some terms are never kept.
fn without_terms(words: &[u16], terms: &[Term]) -> PropertyResult {
    let found = || with_first_budget(1, || results(words, &["Inherent()"], Reductions::ALL, SHORT));
    without_race(|| without_search(|| with_dropped(terms, found))).properties.remove(0)
}

#[test]
fn each_predicate_that_stays_is_needed() {
    let words = compares_words();
    let found = without_terms(&words, &[]);
    assert_eq!(found.verdict, Verdict::Holds);
    let terms: Vec<Term> = found.predicates.iter().map(|used| used.term.clone()).collect();
    let cell = Operand::Cell;
    let word = Term {
        left: Number::of(vec![cell(CELLS[0]), cell(CELLS[1])]),
        right: Number::of(vec![Operand::Constant(0x34), Operand::Constant(0x12)]),
    };
    assert_eq!(terms, [word]);
    for term in terms {
        let without = without_terms(&words, std::slice::from_ref(&term));
        assert!(matches!(without.verdict, Verdict::Unknown(_)), "{term:?}: {:?}", without.verdict);
    }
}

/// A program that puts two words in order, waits for a pin, and traps if they are not in order then. It adds 3 to the first one if another
/// pin says so, and begins again.
fn puts_in_order() -> Vec<u16> {
    let (first, second) = ((24, CELLS[0]), (18, CELLS[2]));
    let load = |code: &mut Code, (register, cell): (u8, DataAddress)| {
        code.add(I::Lds { rd: r(register), address: cell });
        code.add(I::Lds { rd: r(register + 1), address: cell.wrapping_add(1) });
    };
    let store = |code: &mut Code, register: u8, cell: DataAddress| {
        code.add(I::Sts { address: cell.wrapping_add(1), rr: r(register + 1) });
        code.add(I::Sts { address: cell, rr: r(register) });
    };
    let compare = |code: &mut Code| {
        load(code, first);
        load(code, second);
        code.add(I::Cp { rd: r(18), rr: r(24) });
        code.add(I::Cpc { rd: r(19), rr: r(25) });
    };
    let mut code = Code::with_vectors(MAIN, &[]);
    code.place(MAIN);
    compare(&mut code);
    code.unless(0, false, |code| {
        store(code, 18, first.1);
        store(code, 24, second.1);
    });
    code.add(I::Sbis { io: PIND, bit: 0 });
    code.add(I::Rjmp { offset: -2 });
    compare(&mut code);
    code.unless(0, false, |code| code.words.push(0xffff));
    code.add(I::Sbis { io: PIND, bit: 1 });
    code.jump(MAIN);
    load(&mut code, first);
    code.add(I::Adiw { rd: r(24), k: 3 });
    store(&mut code, 24, first.1);
    code.jump(MAIN);
    code.words
}

#[test]
fn what_was_stored_is_compared_by_its_precondition() {
    let words = puts_in_order();
    let found = without_terms(&words, &[]);
    assert_eq!(found.verdict, Verdict::Holds);
    // The words; that of the registers that they were stored from told no flag.
    let cells = |used: &UsedPredicate| used.term.left.bytes[0].cell();
    assert_eq!(found.predicates.iter().filter_map(cells).collect::<Vec<_>>(), [CELLS[0]]);
    let without = with_reading(Reading::NoneProposed, || without_terms(&words, &[]));
    assert!(matches!(without.verdict, Verdict::Unknown(_)), "{:?}", without.verdict);
}

/// A program that compares a word with more constants than there may be terms, and then another word twice, which is changed if a pin says so; it
/// traps if that one is 1 where it was not. If `between`, it may be changed between the two as well.
fn compares_with_many(between: bool) -> Vec<u16> {
    let compare = |code: &mut Code, cell: DataAddress, [low, high]: [u8; 2]| {
        code.add(I::Lds { rd: r(24), address: cell });
        code.add(I::Lds { rd: r(25), address: cell.wrapping_add(1) });
        code.add(I::Ldi { rd: r(18), k: high });
        code.add(I::Cpi { rd: r(24), k: low });
        code.add(I::Cpc { rd: r(25), rr: r(18) });
    };
    let mut code = Code::with_vectors(MAIN, &[]);
    code.place(MAIN);
    for number in 0..MOST_TERMS as u8 + 6 {
        compare(&mut code, CELLS[2], [number, 0x12]);
        code.unless(1, false, |code| code.add(I::Out { io: PORTC, rr: r(24) }));
    }
    compare(&mut code, CELLS[0], [1, 0]);
    code.unless(1, true, |code| {
        code.add(I::Sbis { io: PIND, bit: 0 });
        code.add(I::Rjmp { offset: -2 });
        if between {
            code.add(I::In { rd: r(16), io: PIND });
            code.add(I::Sbic { io: PIND, bit: 2 });
            code.add(I::Sts { address: CELLS[0], rr: r(16) });
        }
        compare(code, CELLS[0], [1, 0]);
        code.unless(1, false, |code| code.words.push(0xffff));
    });
    code.add(I::Sbis { io: PIND, bit: 1 });
    code.jump(MAIN);
    code.add(I::Lds { rd: r(24), address: CELLS[0] });
    code.add(I::Inc { rd: r(24) });
    code.add(I::Sts { address: CELLS[0], rr: r(24) });
    code.jump(MAIN);
    code.words
}

#[test]
fn comparisons_that_refute_a_path_are_kept_among_many() {
    let words = compares_with_many(false);
    let found = without_terms(&words, &[]);
    assert_eq!(found.verdict, Verdict::Holds);
    let cells = |used: &UsedPredicate| used.term.left.bytes[0].cell();
    assert_eq!(found.predicates.iter().filter_map(cells).collect::<Vec<_>>(), [CELLS[0]]);
    let without = with_reading(Reading::NoneRefuted, || without_terms(&words, &[]));
    assert!(matches!(without.verdict, Verdict::Unknown(_)), "{:?}", without.verdict);
}

#[test]
fn a_run_along_a_possible_path_comes_before_refinements() {
    let words = compares_with_many(true);
    let found = || with_first_budget(1, || results(&words, &["Inherent()"], Reductions::ALL, SHORT));
    let early = || {
        let found = without_race(found).properties.remove(0);
        found.verdict == Verdict::Violated
            && found.evidence.is_some_and(|run| run.replayed)
            && found.statistics.refinements == 0
    };
    assert!(early());
    assert!(!with_reading(Reading::RunLeft, early));
}

/// The result for a program that relies on a stored outcome, where some predicates are named and few values are kept.
fn with_named(named: &[&str]) -> PropertyResult {
    let text = format!("(predicates: {named:?}, properties: [Always(check: \"PORTB != 0x2a\")])");
    let file = PropertyFile::parse("p.ron", &text).expect("it is valid");
    let verified = |request: &Request<'_>| {
        let request = Request { file: &file, enumerated: NonZeroUsize::MIN, ..*request };
        with_first_budget(1, || verify(&request)).expect("it is bound")
    };
    let found = || with_request(&stored_outcome::program(), &[], Reductions::ALL, SHORT, verified);
    without_race(|| without_search(found)).properties.remove(0)
}

#[test]
fn a_disjunction_is_known_where_its_parts_are_not() {
    let [flag, word] = ["mem[0x102] == 0", "mem16[0x100] == 0x1234"];
    assert!(matches!(with_named(&[flag, word]).verdict, Verdict::Unknown(_)));
    let found = with_named(&[&format!("{flag} || {word}")]);
    assert_eq!(found.verdict, Verdict::Holds);
    assert!(found.predicates.iter().any(|used| used.or.is_some()), "{found:?}");
}

#[test]
fn the_test_would_notice_predicates_that_are_not_needed() {
    let text = "(predicates: [\"mem[0x102] == 7\"], properties: [Inherent()])";
    let file = PropertyFile::parse("p.ron", text).expect("it is valid");
    let verified = |request: &Request<'_>| verify(&Request { file: &file, ..*request }).expect("it is bound");
    let words = compares_words();
    let found = || with_first_budget(1, || with_request(&words, &[], Reductions::ALL, SHORT, verified));
    let of_byte = |used: &UsedPredicate| used.term.left.bytes == [Operand::Cell(CELLS[2])];
    let is_told = || without_race(|| without_search(found)).properties.remove(0).predicates.iter().any(of_byte);
    assert!(!is_told());
    assert!(with_reading(Reading::AllAreNeeded, is_told));
}

#[test]
fn atoms_that_predicates_tell_change_no_answer() {
    let properties = [
        "AG (mem[0x100] < 3 || mem16[0x101] != 0x0101)",
        "AG (mem[0x100] == 2 -> mem[0x101] <= mem[0x102])",
        "AG (r18 != r19 || mem16[0x100] > 0x0100)",
        "AG (mem[0x101] < 4)",
    ];
    let programs = avr_testkit::cases(8, PROGRAMS);
    let (mut told, mut decided) = (0, 0);
    for seed in 0..programs {
        let words = correlated::program(&mut Random::new(seed));
        // One of them: those that stay unknown take the time of the others.
        let property = &[properties[(seed as usize + 3) % properties.len()]];
        let all = results(&words, property, Reductions::NONE, BRIEF);
        let found = with_first_budget(1, || results(&words, property, Reductions::ALL, BRIEF));
        for (one, other) in all.properties.iter().zip(&found.properties) {
            let is_open = |result: &PropertyResult| matches!(result.verdict, Verdict::Unknown(_));
            assert!(is_open(one) || is_open(other) || one.verdict == other.verdict, "seed {seed}: {}", one.name);
            told += usize::from(!other.predicates.is_empty());
            decided += usize::from(!is_open(one) && !is_open(other));
        }
    }
    assert!(told > 0 && decided > 0, "{told} verdicts need predicates, {decided} are decided");
}
