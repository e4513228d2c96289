//! Handler summaries against handlers step by step: small random programs with two interrupts, and what each kind of
//! carelessness would miss.

use crate::pipeline::portfolio::{with_first_budget, without_search};
use crate::random_programs::{
    CELLS, Code, EIMSK, HANDLERS, LONG, MAIN, PROGRAMS, Random, SREG, Said, contradict, program, r, results, said,
    with_request_for,
};
use crate::{Reductions, Verdict, verify};
use avr_image::{Image, LoadOptions};
use avr_isa::Instruction;
use avr_model::faults::handler_summaries::{Fault, with_fault};
use avr_model::faults::take_summaries_used;
use std::time::Duration;

/// The time for a program with handler summaries.
const SHORT: Duration = Duration::from_secs(4);

/// The answers with handler summaries: locations are limited from the first states on, because only then there are any.
fn passed(words: &[u16]) -> Said {
    with_first_budget(1, || said(words, Reductions::ALL, SHORT))
}

/// The instructions that are reached, if the inherent property holds.
fn reached(words: &[u16], reductions: Reductions, limit: Duration) -> Option<Vec<u32>> {
    let found = results(words, &["Inherent()"], reductions, limit);
    let holds = found.properties[0].verdict == Verdict::Holds;
    found.survey.filter(|_| holds).map(|survey| survey.instructions.keys().copied().collect())
}

#[test]
fn the_same_instructions_are_reached() {
    let mut hold = 0;
    for seed in 0..PROGRAMS / 2 {
        let words = program(&mut Random::new(seed));
        let found = with_first_budget(1, || reached(&words, Reductions::ALL, SHORT));
        if let Some(found) = found {
            assert_eq!(Some(found), reached(&words, Reductions::NONE, LONG), "seed {seed}");
            hold += 1;
        }
    }
    assert!(hold > PROGRAMS / 20, "{hold} hold");
}

#[test]
fn answers_are_those_of_handlers_step_by_step() {
    let programs = avr_testkit::cases(60, PROGRAMS);
    let (mut hold, mut violated, mut late) = (0, 0, 0);
    for seed in 0..programs {
        let words = program(&mut Random::new(seed));
        let all = said(&words, Reductions::NONE, LONG);
        let found = passed(&words);
        assert!(!contradict(&all, &found), "seed {seed}: {found:?} where it is {all:?}");
        if found.holds == Some(true) {
            assert_eq!(all.stack, found.stack, "seed {seed}");
        }
        late += u64::from(found.holds.is_none());
        hold += u64::from(found.holds == Some(true));
        violated += u64::from(found.holds == Some(false));
    }
    assert!(hold > programs / 10 && violated > programs / 10, "{hold} hold, {violated} are violated");
    assert!(late <= programs / 20, "{late} took too long");
    let used = take_summaries_used();
    assert!(used > 10 * programs as usize, "handler summaries were used {used} times");
}

/// A program whose handler stores what `work` leaves in r16. Its main program sets the cells to 0, lets interrupts
/// come, does something, and traps when the handler has stored this.
fn storing(work: &[Instruction], meanwhile: &[Instruction], trap: u8) -> Vec<u16> {
    let mut code = Code::with_vectors(MAIN, &HANDLERS[..1]);
    code.place(HANDLERS[0]);
    code.add(Instruction::Push { rr: r(16) });
    code.add(Instruction::In { rd: r(16), io: SREG });
    code.add(Instruction::Push { rr: r(16) });
    work.iter().for_each(|instruction| code.add(*instruction));
    code.add(Instruction::Sts { address: CELLS[0], rr: r(16) });
    code.add(Instruction::Pop { rd: r(16) });
    code.add(Instruction::Out { io: SREG, rr: r(16) });
    code.add(Instruction::Pop { rd: r(16) });
    code.add(Instruction::Reti);
    code.place(MAIN);
    code.add(Instruction::Ldi { rd: r(16), k: 0 });
    for address in CELLS {
        code.add(Instruction::Sts { address, rr: r(16) });
    }
    code.add(Instruction::Ldi { rd: r(16), k: 1 });
    code.add(Instruction::Out { io: EIMSK, rr: r(16) });
    code.add(Instruction::Bset { flag: 7 });
    // Interrupts have their chance before each of these, with the same content.
    for _ in 0..4 {
        code.add(Instruction::Lds { rd: r(17), address: CELLS[0] });
    }
    meanwhile.iter().for_each(|instruction| code.add(*instruction));
    let start = code.words.len() as u32;
    code.add(Instruction::Lds { rd: r(17), address: CELLS[0] });
    code.trap(17, trap);
    code.jump(start);
    code.words
}

/// True if the trap, which is found, is not found when handler summaries have the fault.
#[track_caller]
fn is_missed(words: &[u16], fault: Fault) -> bool {
    assert_eq!(passed(words).holds, Some(false), "the trap is not found");
    let found = with_fault(fault, || passed(words));
    found.holds == Some(true)
}

#[test]
fn what_a_handler_does_depends_on_what_it_reads() {
    let copy = [Instruction::Lds { rd: r(16), address: CELLS[1] }];
    let set = [Instruction::Ldi { rd: r(18), k: 3 }, Instruction::Sts { address: CELLS[1], rr: r(18) }];
    assert!(is_missed(&storing(&copy, &set, 3), Fault::NothingCompared));
}

#[test]
fn all_that_a_handler_comes_to_is_followed() {
    /// I/O address of PINB.
    const PINB: u8 = 0x03;
    let choose = [
        Instruction::Ldi { rd: r(16), k: 1 },
        Instruction::Sbic { io: PINB, bit: 0 },
        Instruction::Ldi { rd: r(16), k: 2 },
    ];
    // The first handler is followed step by step, because the stack is deeper there than ever before.
    let clear = [Instruction::Ldi { rd: r(18), k: 0 }, Instruction::Sts { address: CELLS[0], rr: r(18) }];
    let missed = |trap: &u8| is_missed(&storing(&choose, &clear, *trap), Fault::FirstOutcomeOnly);
    assert_eq!([1, 2].iter().filter(|trap| missed(trap)).count(), 1);
}

#[track_caller]
fn check_found(fault: Fault) {
    let wrong = |seed: &u64| {
        let words = program(&mut Random::new(*seed));
        let all = said(&words, Reductions::NONE, LONG);
        let found = with_fault(fault, || passed(&words));
        contradict(&all, &found) || found.holds == Some(true) && all.stack != found.stack
    };
    assert!((0..PROGRAMS).find(wrong).is_some(), "{fault:?} was not noticed");
}

#[test]
fn handlers_that_keep_something_would_be_noticed() {
    check_found(Fault::AllTransparent);
}

#[test]
fn a_deeper_stack_that_is_passed_would_be_noticed() {
    check_found(Fault::DeepestPassed);
}

/// The verdict on an image in `tests/regressions`.
fn verdict_of(image: &str, property: &str) -> Verdict {
    let path = format!("{}/../../tests/regressions/images/{image}.elf", env!("CARGO_MANIFEST_DIR"));
    let image = Image::load(std::path::Path::new(&path), &LoadOptions::new(0x8000, 0x400)).expect("the image is valid");
    let results = with_request_for(&image, &[property], Reductions::ALL, LONG, verify);
    let results = results.expect("the property is bound");
    results.properties.into_iter().next().expect("there is a property").verdict
}

#[test]
fn what_the_entry_into_a_handler_does_would_be_missed() {
    let programs = [
        ("entry-external-flag", "Never(check: \"pc == reached\")"),
        ("entry-external-flag", "Inherent()"),
        ("entry-timer-flag", "Never(check: \"pc == reached\")"),
        ("entry-flag-stack", "Stack(max_bytes: 20)"),
    ];
    for (image, property) in programs {
        assert_eq!(verdict_of(image, property), Verdict::Violated, "{image}");
        // Random runs, which look at no summary, would find the violation.
        let faulty = without_search(|| with_fault(Fault::EntryForgotten, || verdict_of(image, property)));
        assert_eq!(faulty, Verdict::Holds, "{image}: the fault was not noticed");
    }
}
