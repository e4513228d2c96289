//! Limits of the pass that count the work of steps.

use avr_isa::{DataAddress, Instruction as I, Pointer, PointerMode};
use avr_machine::flag;
use avr_testkit::image::{Code, r};

use super::linear::machine;
use crate::gap::Reason;
use crate::pass::{Analysis, Options, analyse};

/// PINB in the I/O space, the first of the registers of ports.
const PINB: u8 = 0x03;
const MAIN: u32 = 0x80;
/// An index in SRAM, an array of ten bytes, and a pointer behind it.
const INDEX: DataAddress = DataAddress(0x100);
const ARRAY: u16 = 0x110;
const POINTER: DataAddress = DataAddress(ARRAY + 10);

/// The map of a loop that loads again and again through Z, which is the address of one of so many registers of ports.
fn found(registers: u8, steps: usize) -> Analysis {
    let mut code = Code::with_vectors(MAIN, &[]);
    code.place(MAIN);
    code.add(I::In { rd: r(30), io: PINB });
    code.add(I::Andi { rd: r(30), k: registers - 1 });
    code.add(I::Subi { rd: r(30), k: (PINB + 0x20).wrapping_neg() });
    code.add(I::Ldi { rd: r(31), k: 0 });
    (0..40).for_each(|_| code.add(I::Ld { rd: r(24), pointer: Pointer::Z, mode: PointerMode::Displacement(0) }));
    code.jump(MAIN);
    analyse(&machine(&code), &Options { steps, further: 0, ..Options::default() })
}

#[test]
fn steps_with_many_cases_come_to_a_limit_sooner() {
    let [short, long] = [1, 8].map(|registers| found(registers, 10_000));
    assert!(short.outcome.is_ok() && short.work == short.steps, "{} {}", short.work, short.steps);
    assert!(long.outcome.is_ok() && long.work > long.steps, "{} {}", long.work, long.steps);
    assert!(found(1, short.steps).outcome.is_ok());
    // As many steps as the map takes are too few, since each of them is a long one.
    let open = found(8, long.steps);
    let reason = open.outcome.map_err(|gap| gap.reason).map(|_| ());
    assert_eq!(reason, Err(Reason::TooManySteps(long.steps)));
    assert!(open.steps < long.steps && found(8, long.work).outcome.is_ok());
}

/// A loop that calls a function of so many instructions so often, which stores at an index and through a pointer, and then
/// counts the index up to 9.
fn long_rounds(instructions: u32, calls: usize) -> Code {
    let mut code = Code::with_vectors(MAIN, &[]);
    code.place(MAIN);
    code.add(I::Ldi { rd: r(24), k: 0 });
    code.add(I::Sts { address: INDEX, rr: r(24) });
    code.add(I::Ldi { rd: r(25), k: 1 });
    code.add(I::Sts { address: POINTER, rr: r(24) });
    code.add(I::Sts { address: POINTER.wrapping_add(1), rr: r(25) });
    let (head, function) = (MAIN + 0x10, MAIN + 0x100);
    code.jump(head);
    code.place(head);
    (0..calls).for_each(|_| code.call(function));
    code.add(I::Lds { rd: r(24), address: INDEX });
    code.add(I::Inc { rd: r(24) });
    code.add(I::Cpi { rd: r(24), k: 10 });
    code.unless(flag::C, true, |code| code.add(I::Ldi { rd: r(24), k: 0 }));
    code.add(I::Sts { address: INDEX, rr: r(24) });
    code.jump(head);
    code.place(function);
    let [low, high] = ARRAY.to_le_bytes();
    code.add(I::Ldi { rd: r(30), k: low });
    code.add(I::Ldi { rd: r(31), k: high });
    code.add(I::Lds { rd: r(25), address: INDEX });
    code.add(I::Add { rd: r(30), rr: r(25) });
    code.add(I::St { pointer: Pointer::Z, mode: PointerMode::Displacement(0), rr: r(25) });
    code.add(I::Lds { rd: r(26), address: POINTER });
    code.add(I::Lds { rd: r(27), address: POINTER.wrapping_add(1) });
    code.add(I::St { pointer: Pointer::X, mode: PointerMode::Displacement(0), rr: r(25) });
    (0..instructions).for_each(|_| code.add(I::Nop));
    code.add(I::Ret);
    code
}

#[test]
fn an_index_that_grows_in_long_rounds_is_bounded_in_a_further_attempt() {
    let machine = machine(&long_rounds(1_800, 12));
    let only_first = analyse(&machine, &Options { further: 0, ..Options::default() });
    assert!(only_first.outcome.is_err(), "the first attempt widens slowly, so that this says nothing of others");
    let found = analyse(&machine, &Options { further: 20_000, ..Options::default() });
    let claims = found.outcome.expect("the index is bounded");
    assert_eq!(claims.stack_bound(), Some(2));
}
