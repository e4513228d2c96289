//! Formulas of branching time on small random programs with two interrupts. The verdicts with something left out are
//! compared with those where nothing is, and with what each kind of carelessness would say.

use crate::pipeline::portfolio::with_first_budget;
use crate::random_programs::{
    CELLS, Code, EIMSK, HANDLERS, MAIN, Random, program, r, results, with_handlers, with_handlers_behind,
};
use crate::{Reductions, Verdict};
use avr_isa::{DataAddress, Instruction, Pointer, PointerMode, Register};
use avr_model::faults::{handler_summaries, partial_order, path_compression};
use std::time::Duration;

/// I/O address of the flags.
const SREG: u8 = 0x3f;
/// I/O address of the levels at port D.
const PIND: u8 = 0x09;
/// The number of programs that are looked at.
const PROGRAMS: u64 = 120;
/// The time for a program.
const BRIEF: Duration = Duration::from_secs(1);

const PATHS: Reductions = Reductions { interrupts: false, paths: true, handlers: false };
const INTERRUPTS: Reductions = Reductions { interrupts: true, ..Reductions::NONE };

/// The reductions, and whether few states per location are kept.
const WAYS: [(Reductions, bool); 4] =
    [(PATHS, false), (INTERRUPTS, false), (Reductions::ALL, false), (Reductions::ALL, true)];

/// A comparison that programs make true and false.
fn atom(random: &mut Random) -> String {
    let value = random.below(4);
    match random.below(10) {
        9 => format!("mem[{:#x}] + mem[{:#x}] == {value}", random.pick(&CELLS), random.pick(&CELLS)),
        0..5 => format!("mem[{:#x}] == {value}", random.pick(&CELLS)),
        5 | 6 => format!("r{} == {value}", 17 + random.below(4)),
        7 => format!("pc == {:#x}", 2 * u64::from(MAIN) + 20 + 2 * random.below(16)),
        _ => match random.below(3) {
            0 => "in_interrupt".to_owned(),
            1 => format!("pc >= {:#x}", 2 * HANDLERS[1]),
            _ => "sp < 0x8fd".to_owned(),
        },
    }
}

/// A formula without next steps, and without eventualities unless they are wanted.
fn formula(random: &mut Random, depth: u32, waits: bool) -> String {
    if depth == 0 {
        return atom(random);
    }
    let mut part = || formula(random, depth - 1, waits);
    let (one, other) = (part(), part());
    match random.below(if waits { 14 } else { 10 }) {
        0 | 1 => format!("EF ({one})"),
        2 | 3 => format!("AG ({one})"),
        4 => format!("AG (({one}) || EF ({other}))"),
        5 => format!("E[({one}) U ({other})]"),
        6 => format!("(({one}) && !({other}))"),
        7 => format!("A[({one}) W ({other})]"),
        8 => format!("AG (({one}) -> AG ({other}))"),
        9 => format!("AG ({one} || A[({one}) W ({other})])"),
        10 => format!("AF ({one})"),
        11 => format!("EG ({one})"),
        12 => format!("A[({one}) U ({other})]"),
        _ => format!("AG (({one}) -> AF ({other}))"),
    }
}

/// A program and a formula about it.
fn asked(seed: u64) -> (Vec<u16>, String) {
    let mut random = Random::new(seed);
    let words = program(&mut random);
    let (depth, waits) = (1 + random.below(3), random.below(3) == 0);
    (words, formula(&mut random, depth, waits))
}

/// The verdict on a formula; with `few`, few states per location are kept from the beginning.
fn verdict(words: &[u16], formula: &str, reductions: Reductions, few: bool) -> Verdict {
    let ask = || results(words, &[formula], reductions, BRIEF);
    let mut results = if few { with_first_budget(1, ask) } else { ask() };
    results.properties.remove(0).verdict
}

/// The same, where it is known; no replay fails.
fn said(words: &[u16], formula: &str, reductions: Reductions, few: bool) -> Option<bool> {
    match verdict(words, formula, reductions, few) {
        Verdict::Holds => Some(true),
        Verdict::Violated => Some(false),
        Verdict::Unknown(unknown) => {
            assert!(!unknown.self_check_failed, "{formula} with {reductions:?}: {}", unknown.reason);
            None
        }
    }
}

#[test]
fn what_is_said_of_formulas_is_what_all_states_say() {
    let programs = avr_testkit::cases(24, PROGRAMS);
    let (mut hold, mut violated, mut open) = (0, 0, 0);
    for seed in 0..programs {
        let (words, formula) = asked(seed);
        let all = said(&words, &formula, Reductions::NONE, false);
        for (reductions, few) in WAYS {
            let reduced = said(&words, &formula, reductions, few);
            let pair = all.zip(reduced);
            assert!(
                pair.is_none_or(|(all, reduced)| all == reduced),
                "seed {seed}: {formula} is {reduced:?}, not {all:?}"
            );
            open += u64::from(all.is_some() && reduced.is_none());
        }
        hold += u64::from(all == Some(true));
        violated += u64::from(all == Some(false));
    }
    assert!(hold > programs / 10 && violated > programs / 3, "{hold} hold, {violated} are violated");
    assert!(open <= programs / 10, "{open} are open");
}

/// Checks that a carelessness makes the answer on a program wrong, or fail its replay, where it was right.
#[track_caller]
fn check_noticed((words, formula, holds): (Vec<u16>, &str, bool), careless: impl Fn(&dyn Fn() -> Verdict) -> Verdict) {
    assert_eq!(said(&words, formula, Reductions::NONE, false), Some(holds));
    let ways = WAYS.map(|(reductions, few)| {
        let careful = said(&words, formula, reductions, few);
        (careful, careless(&|| verdict(&words, formula, reductions, few)))
    });
    assert!(ways.iter().all(|(careful, _)| *careful == Some(holds)), "{ways:?}");
    let is_wrong = |careless: &Verdict| match careless {
        Verdict::Unknown(unknown) => unknown.self_check_failed,
        decided => holds != (*decided == Verdict::Holds),
    };
    assert!(ways.iter().any(|(_, careless)| is_wrong(careless)), "it was not noticed: {ways:?}");
}

/// A program that goes one of two ways for ever, by what it reads, and says so one instruction later.
fn two_ways() -> Vec<u16> {
    let mut code = Code { words: Vec::new() };
    code.add(Instruction::Ldi { rd: r(16), k: 1 });
    code.add(Instruction::Ldi { rd: r(17), k: 0 });
    CELLS.iter().for_each(|cell| code.add(Instruction::Sts { address: *cell, rr: r(17) }));
    code.add(Instruction::Sbic { io: PIND, bit: 0 });
    code.add(Instruction::Rjmp { offset: 4 });
    for cell in &CELLS[..2] {
        code.add(Instruction::Nop);
        code.add(Instruction::Sts { address: *cell, rr: r(16) });
        code.jump(code.words.len() as u32);
    }
    // It is never reached, and looks as if interrupts could come.
    code.add(Instruction::Bset { flag: 7 });
    code.words
}

const TWO_WAYS: &str = "AG (EF (mem[0x100] == 1) || mem[0x101] == 1)";

#[test]
fn changes_that_are_seen_and_left_out_would_be_noticed() {
    check_noticed((two_ways(), TWO_WAYS, false), |said| {
        path_compression::with_fault(path_compression::Fault::LabelsUnseen, said)
    });
}

#[test]
fn states_before_changes_that_are_left_out_would_be_noticed() {
    check_noticed((two_ways(), TWO_WAYS, false), |said| {
        path_compression::with_fault(path_compression::Fault::LastLeftOut, said)
    });
}

/// A handler that sets the first cell, and a main program that sets the second one.
fn both_set() -> Vec<u16> {
    with_handlers(sets_first_cell, |code| code.add(Instruction::Sts { address: CELLS[1], rr: r(16) }))
}

fn sets_first_cell(code: &mut Code, _: usize) {
    code.add(Instruction::Ldi { rd: r(16), k: 1 });
    code.add(Instruction::Sts { address: CELLS[0], rr: r(16) });
}

#[test]
fn instructions_that_are_seen_and_passed_would_be_noticed() {
    let asked = (both_set(), "EF (mem[0x100] == 1 && mem[0x101] == 0)", true);
    check_noticed(asked, |said| partial_order::with_fault(partial_order::Fault::NothingSeen, said));
}

/// A main program that stores a register through a pointer that it moves, which is undefined. A handler that sets the
/// first cell may come before.
fn undefined_store() -> Vec<u16> {
    with_handlers(sets_first_cell, |code| {
        code.add(Instruction::Ldi { rd: r(26), k: 0x50 });
        code.add(Instruction::Ldi { rd: r(27), k: 1 });
        code.add(Instruction::St { pointer: Pointer::X, mode: PointerMode::PostIncrement, rr: r(26) });
    })
}

#[test]
fn interrupts_left_for_after_a_hazard_would_be_noticed() {
    let asked = (undefined_store(), "AG (EIMSK == 3 -> mem[0x100] == 0 || hazard)", false);
    check_noticed(asked, |said| partial_order::with_fault(partial_order::Fault::HazardsUnseen, said));
}

/// A program that goes one of two ways, by what it reads. One leads into a reserved opcode, the other to where it sets
/// the second cell, in each case one instruction later.
fn hazard_or_not() -> Vec<u16> {
    let mut code = Code { words: Vec::new() };
    code.add(Instruction::Ldi { rd: r(16), k: 1 });
    code.add(Instruction::Ldi { rd: r(17), k: 0 });
    CELLS.iter().for_each(|cell| code.add(Instruction::Sts { address: *cell, rr: r(17) }));
    code.add(Instruction::Sbic { io: PIND, bit: 0 });
    code.add(Instruction::Rjmp { offset: 2 });
    code.add(Instruction::Nop);
    code.words.push(0xffff);
    code.add(Instruction::Nop);
    code.add(Instruction::Sts { address: CELLS[1], rr: r(16) });
    code.jump(code.words.len() as u32);
    // It is never reached, and looks as if interrupts could come.
    code.add(Instruction::Bset { flag: 7 });
    code.words
}

#[test]
fn states_before_a_hazard_that_are_left_out_would_be_noticed() {
    let asked = (hazard_or_not(), "AG (hazard || EF (mem[0x101] == 1 && !hazard))", false);
    check_noticed(asked, |said| partial_order::with_fault(partial_order::Fault::HazardsUnseen, said));
}

/// A main program that loads, once, what a handler sets, with the flash byte address where it ends. The load is
/// directly behind an instruction that the handler may come before as well.
fn loaded_once() -> (Vec<u16>, usize) {
    let words = with_handlers(sets_first_cell, |code| {
        code.add(Instruction::Ldi { rd: r(18), k: 0 });
        code.add(Instruction::Push { rr: r(16) });
        code.add(Instruction::Pop { rd: r(20) });
        code.add(Instruction::Lds { rd: r(18), address: CELLS[0] });
    });
    let end = 2 * (words.len() - 1);
    (words, end)
}

#[test]
fn interrupts_that_came_before_would_be_noticed() {
    let (words, end) = loaded_once();
    let formula = format!("AG (EF (r18 == 1) || pc == {end:#x} || in_interrupt)");
    check_noticed((words, &formula, true), |said| partial_order::with_fault(partial_order::Fault::GrantedBefore, said));
}

/// Makes the stack so deep that nothing is new about that of a handler.
fn deep(code: &mut Code) {
    (0..8).for_each(|_| code.add(Instruction::Push { rr: r(17) }));
    (0..8).for_each(|_| code.add(Instruction::Pop { rd: r(17) }));
}

/// A handler that comes once and sets the first cell to 1 or 2, by what it reads. The main program says in other cells
/// which of them it was, or that it did not come.
fn told_later() -> Vec<u16> {
    let handler = |code: &mut Code, _| {
        code.add(Instruction::Ldi { rd: r(16), k: 0 });
        code.add(Instruction::Out { io: EIMSK, rr: r(16) });
        code.add(Instruction::Ldi { rd: r(16), k: 1 });
        code.add(Instruction::Sbic { io: PIND, bit: 0 });
        code.add(Instruction::Ldi { rd: r(16), k: 2 });
        code.add(Instruction::Sts { address: CELLS[0], rr: r(16) });
    };
    with_handlers_behind(handler, deep, |code| {
        code.add(Instruction::Bclr { flag: 7 });
        code.add(Instruction::Lds { rd: r(20), address: CELLS[0] });
        for value in 0..3 {
            code.add(Instruction::Cpi { rd: r(20), k: value });
            code.add(Instruction::Brbc { flag: 1, offset: 3 });
            code.add(Instruction::Ldi { rd: r(18), k: value + 1 });
            code.add(Instruction::Sts { address: CELLS[1], rr: r(18) });
        }
    })
}

#[test]
fn handlers_with_several_ends_would_be_noticed() {
    let formula = "AG (EF (mem[0x101] == 1) || AG (mem[0x101] != 2) || AG (mem[0x101] != 3))";
    check_noticed((told_later(), formula, false), |said| {
        handler_summaries::with_fault(handler_summaries::Fault::ManyEnds, said)
    });
}

/// A handler that changes the first cell for a moment, first beside one content of the second cell and then beside another one.
fn changed_for_a_moment() -> Vec<u16> {
    let handler = |code: &mut Code, _| {
        code.add(Instruction::Lds { rd: r(16), address: CELLS[0] });
        code.add(Instruction::Inc { rd: r(16) });
        code.add(Instruction::Sts { address: CELLS[0], rr: r(16) });
        code.add(Instruction::Dec { rd: r(16) });
        code.add(Instruction::Sts { address: CELLS[0], rr: r(16) });
    };
    let set = |code: &mut Code, cell: DataAddress, value: u8| {
        code.add(Instruction::Ldi { rd: r(18), k: value });
        code.add(Instruction::Sts { address: cell, rr: r(18) });
    };
    let before = |code: &mut Code| {
        deep(code);
        set(code, CELLS[0], 1);
        set(code, CELLS[1], 7);
    };
    with_handlers_behind(handler, before, |code| {
        code.add(Instruction::Lds { rd: r(19), address: CELLS[0] });
        set(code, CELLS[1], 1);
        code.add(Instruction::Lds { rd: r(19), address: CELLS[0] });
    })
}

#[test]
fn what_is_seen_and_not_compared_would_be_noticed() {
    let asked = (changed_for_a_moment(), "AG (EIMSK == 3 -> mem[0x100] + mem[0x101] != 3)", false);
    check_noticed(asked, |said| handler_summaries::with_fault(handler_summaries::Fault::NothingSeen, said));
}

/// Start-up code that lets interrupts in, of which a handler sets the first cell, and a main program that sets the second one.
fn interrupted_startup() -> Vec<u16> {
    let before = |code: &mut Code| {
        deep(code);
        code.add(Instruction::Eor { rd: Register::R1, rr: Register::R1 });
        code.add(Instruction::Out { io: SREG, rr: Register::R1 });
    };
    with_handlers_behind(sets_first_cell, before, |code| {
        // It goes to the main program by a branch that no handler minds; the call tells where that is.
        code.add(Instruction::Cp { rd: Register::R1, rr: Register::R1 });
        code.add(Instruction::Brbs { flag: 1, offset: 4 });
        code.add(Instruction::Rcall { offset: 3 });
        code.add(Instruction::Rjmp { offset: 0 });
        code.add(Instruction::Bclr { flag: 7 });
        code.jump(code.words.len() as u32);
        code.add(Instruction::Nop);
        code.add(Instruction::Sts { address: CELLS[1], rr: r(16) });
    })
}

#[test]
fn the_end_of_the_startup_is_seen_with_all_reductions() {
    let words = interrupted_startup();
    for (formula, holds) in [
        ("EF (in_startup && mem[0x100] == 1)", true),
        ("EF (!in_startup && mem[0x100] == 0)", true),
        ("EF (in_startup && mem[0x101] == 1)", false),
        ("AG (!in_startup -> AG !in_startup)", true),
        ("AG (in_startup || mem[0x100] == 1)", false),
        ("AG (in_startup || in_interrupt || pc >= 0x60)", true),
        ("EF (in_startup && in_interrupt)", true),
        ("EF (!in_startup && in_interrupt)", true),
        ("AF !in_startup", true),
    ] {
        assert_eq!(said(&words, formula, Reductions::NONE, false), Some(holds), "{formula}");
        for (reductions, few) in WAYS {
            let reduced = said(&words, formula, reductions, few);
            assert!(reduced.is_none_or(|reduced| reduced == holds), "{formula} with {reductions:?}: {reduced:?}");
        }
    }
}
