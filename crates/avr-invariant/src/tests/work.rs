//! Limits of the pass that count the work of steps.

use avr_isa::{Instruction as I, Pointer, PointerMode};
use avr_testkit::image::{Code, r};

use super::linear::machine;
use crate::gap::Reason;
use crate::pass::{Analysis, Options, analyse};

/// PINB in the I/O space, the first of the registers of ports.
const PINB: u8 = 0x03;
const MAIN: u32 = 0x80;

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
