//! Promises of the data sheet: what is proved by them, and the faults that programs show.

use super::enumeration::{Known, limits, machine, promised};
use super::eventualities::{
    AWAITED, INTERRUPTS, ON, PORTB, PROMISED_FLAG, PROMISED_OVERFLOW, TIMSK0, setting, start_timer, ticking,
    waiting_for_ticks, with_handler,
};
use super::explorer::{Awaited, Fair, On};
use super::generator::{GO, Generated, TICKS};
use crate::faults::{Fault, with_fault};
use crate::{Eventuality, EventualityProof, Stuck, Trigger, always_comes};
use avr_invariant::{Options as MapOptions, analyse};
use avr_isa::{DataAddress, Instruction as I};
use avr_machine::device::{BitRef, Promised};
use avr_testkit::image::{Code, r};

const EECR: u8 = 0x1f;
const EIMSK: u8 = 0x1d;
const TIFR0: u8 = 0x15;
const GTCCR: u8 = 0x23;
const TCCR0A: u8 = 0x24;
const TCCR0B: u8 = 0x25;
const TCNT0: u8 = 0x26;
const SMCR: u8 = 0x33;
const PRR: DataAddress = DataAddress(0x64);
const PROMISED_WRITE: Fair = Fair::Promised(Promised::Change(BitRef { address: DataAddress(0x3f), bit: 1 }));

/// The faults that these programs show.
pub(super) const WRITTEN: [Fault; 4] =
    [Fault::LastsForgotten, Fault::TouchedForgotten, Fault::DelayForgotten, Fault::OtherBitsRead];

/// The output goes on at last.
const AT_LAST: Awaited = Awaited { trigger: On::Start, ..AWAITED };

/// A program that begins in some way, and waits in a loop until a handler has set `GO` back.
fn waiting(begin: impl FnOnce(&mut Code), body: &[I]) -> Generated {
    with_handler(&setting(GO, 0), |code| {
        begin(code);
        let start = code.words.len() as u32;
        body.iter().for_each(|instruction| code.add(*instruction));
        code.add(I::Lds { rd: r(18), address: GO });
        code.add(I::Sbrc { rr: r(18), bit: 0 });
        code.jump(start);
        code.add(I::Sbi { io: PORTB, bit: 0 });
        code.add(I::Rjmp { offset: -1 });
    })
}

/// A program that begins in some way, and waits until a bit of a register has a value.
fn polling(begin: &[I], body: &[I], (io, bit, value): (u8, u8, bool)) -> Generated {
    with_handler(&[I::Reti], |code| {
        begin.iter().for_each(|instruction| code.add(*instruction));
        let start = code.words.len() as u32;
        body.iter().for_each(|instruction| code.add(*instruction));
        code.add(if value { I::Sbis { io, bit } } else { I::Sbic { io, bit } });
        code.jump(start);
        code.add(I::Sbi { io: PORTB, bit: 0 });
        code.add(I::Rjmp { offset: -1 });
    })
}

/// Two instructions that write a value to an I/O register.
fn write(io: u8, value: u8) -> [I; 2] {
    [I::Ldi { rd: r(19), k: value }, I::Out { io, rr: r(19) }]
}

#[track_caller]
fn check(generated: &Generated, fair: Fair, is_true: bool) {
    let awaited = Awaited { fair: Some(fair), ..AT_LAST };
    let mut known = Known::of(generated).unwrap_or_else(|why| panic!("{why:?}: {:04x?}", generated.code.words));
    assert_eq!(known.waits_in_vain(&awaited).is_none(), is_true);
    let proof = known.always_comes(&awaited, &limits());
    assert_eq!(proof.is_ok(), is_true, "{proof:?}");
}

#[track_caller]
fn shows(fault: Fault, generated: &Generated, fair: Fair) {
    check(generated, fair, false);
    refuses(fault, generated, fair);
}

/// The proof that the output goes on, by a promise, with a fault in the search and the check.
fn always_comes_by(generated: &Generated, fair: Fair, fault: Option<Fault>) -> Result<EventualityProof, Stuck> {
    let machine = machine(&generated.code);
    let analysis = analyse(&machine, &MapOptions::default());
    assert!(analysis.outcome.as_ref().is_ok_and(|claims| claims.has_no_hazard()));
    let fair = [promised(&machine, fair.event())];
    let eventuality = Eventuality { trigger: Trigger::Start, holds: None, until: &ON, fair: &fair };
    let limits = limits();
    let comes = || always_comes(&machine, (&analysis.map, &analysis.moves), &eventuality, (&limits, &|| false));
    match fault {
        Some(fault) => with_fault(fault, comes),
        None => comes(),
    }
}

/// The same of programs with too many states, or with undefined bits.
#[track_caller]
fn refuses(fault: Fault, generated: &Generated, fair: Fair) {
    assert!(always_comes_by(generated, fair, None).is_err());
    let proof = always_comes_by(generated, fair, Some(fault));
    assert!(proof.is_ok(), "{fault:?} is not shown: {proof:?}");
}

#[test]
fn a_timer_that_runs_overflows_again_and_again() {
    check(&waiting_for_ticks(true, true), PROMISED_OVERFLOW, true);
    check(&waiting(start_timer, &[]), PROMISED_OVERFLOW, true);
    // Not enabled, and not let in.
    check(&waiting_for_ticks(false, true), PROMISED_OVERFLOW, false);
    check(&waiting_for_ticks(true, false), PROMISED_OVERFLOW, false);
    // Interrupts are let in for a moment.
    check(&waiting(start_timer, &[I::Bset { flag: 7 }, I::Nop, I::Bclr { flag: 7 }]), PROMISED_OVERFLOW, true);
}

#[test]
fn no_instruction_lets_interrupts_in_behind_sei_and_cli() {
    let never = waiting(start_timer, &[I::Bset { flag: INTERRUPTS }, I::Bclr { flag: INTERRUPTS }]);
    // The first round begins with interrupts let in.
    let never_from_the_start = waiting(
        |code| {
            code.add(I::Out { io: TCCR0B, rr: r(16) });
            code.add(I::Sts { address: TIMSK0, rr: r(16) });
        },
        &[I::Bset { flag: INTERRUPTS }, I::Bclr { flag: INTERRUPTS }],
    );
    check(&never, PROMISED_OVERFLOW, false);
    shows(Fault::DelayForgotten, &never_from_the_start, PROMISED_OVERFLOW);
}

#[test]
fn a_timer_that_does_not_run_promises_nothing() {
    let with = |instructions: Vec<I>| {
        let begin = move |code: &mut Code| {
            start_timer(code);
            instructions.iter().for_each(|instruction| code.add(*instruction));
        };
        waiting(begin, &[])
    };
    check(&with(Vec::new()), PROMISED_OVERFLOW, true);
    check(&with(write(TCCR0A, 3).to_vec()), PROMISED_OVERFLOW, true);
    // No clock, a clock from outside, a comparison as the top, a prescaler that is halted, and an interrupt that goes before.
    let stopped = [write(TCCR0B, 0), write(TCCR0B, 6), write(TCCR0B, 9), write(TCCR0A, 2)];
    for instructions in stopped {
        refuses(Fault::LastsForgotten, &with(instructions.to_vec()), PROMISED_OVERFLOW);
    }
    refuses(Fault::LastsForgotten, &with(write(GTCCR, 0x81).to_vec()), PROMISED_OVERFLOW);
    let mut preceded = with(vec![I::Sbi { io: EIMSK, bit: 0 }]);
    preceded.code.words.splice(2..3, avr_testkit::image::encoded(I::Reti));
    refuses(Fault::LastsForgotten, &preceded, PROMISED_OVERFLOW);
    let off = [I::Ldi { rd: r(19), k: 0x20 }, I::Sts { address: PRR, rr: r(19) }];
    refuses(Fault::LastsForgotten, &with(off.to_vec()), PROMISED_OVERFLOW);
    // Asleep in another mode than idle.
    refuses(Fault::LastsForgotten, &with(write(SMCR, 2).to_vec()), PROMISED_OVERFLOW);
}

#[test]
fn a_register_that_is_written_again_and_again_promises_nothing() {
    for (io, value) in [(TCNT0, 0), (TIFR0, 1), (TCCR0B, 1), (GTCCR, 1)] {
        shows(Fault::TouchedForgotten, &waiting(start_timer, &write(io, value)), PROMISED_OVERFLOW);
    }
    let by_pointer = |address: u8| {
        let body = [
            I::Ldi { rd: r(26), k: address },
            I::Ldi { rd: r(27), k: 0 },
            I::St { pointer: avr_isa::Pointer::X, mode: avr_isa::PointerMode::Displacement(0), rr: r(1) },
        ];
        waiting(start_timer, &body)
    };
    check(&by_pointer(0x47), PROMISED_OVERFLOW, true);
    let known = Known::of(&by_pointer(0x46)).unwrap_or_else(|_| panic!("there is a map"));
    assert!(known.always_comes(&Awaited { fair: Some(PROMISED_OVERFLOW), ..AT_LAST }, &limits()).is_err());
}

#[test]
fn a_flag_that_is_asked_rises() {
    let start = write(TCCR0B, 1);
    check(&polling(&start, &[], (TIFR0, 0, true)), PROMISED_FLAG, true);
    check(&polling(&[], &[], (TIFR0, 0, true)), PROMISED_FLAG, false);
    // The handler clears it.
    let mut handled = start.to_vec();
    handled.extend([I::Ldi { rd: r(19), k: 1 }, I::Sts { address: TIMSK0, rr: r(19) }, I::Bset { flag: INTERRUPTS }]);
    shows(Fault::LastsForgotten, &polling(&handled, &[], (TIFR0, 0, true)), PROMISED_FLAG);
    // It is not asked: the program waits for something else.
    shows(Fault::LetInForgotten, &polling(&start, &[], (3, 0, true)), PROMISED_FLAG);
    shows(Fault::TouchedForgotten, &polling(&start, &write(TCNT0, 0), (TIFR0, 0, true)), PROMISED_FLAG);
    // Another flag is asked, which need not rise when this one does.
    shows(Fault::OtherBitsRead, &polling(&start, &[], (TIFR0, 2, true)), PROMISED_FLAG);
}

#[test]
fn a_write_of_the_eeprom_ends() {
    check(&polling(&[], &[], (EECR, 1, false)), PROMISED_WRITE, true);
    // The address may be written once no other write is under way.
    let mut start = vec![I::Sbic { io: EECR, bit: 1 }, I::Rjmp { offset: -2 }];
    start.extend([0x20, 0x21, 0x22].into_iter().flat_map(|io| write(io, 0)));
    start.extend([I::Sbi { io: EECR, bit: 2 }, I::Sbi { io: EECR, bit: 1 }]);
    let written = polling(&start, &[], (EECR, 1, false));
    assert!(always_comes_by(&written, PROMISED_WRITE, None).is_ok());
}

#[test]
fn what_a_handler_counts_comes_with_its_interrupt() {
    let mut clearing = ticking();
    clearing[5] = I::Andi { rd: r(16), k: 1 };
    let never = with_handler(&clearing, |code| {
        start_timer(code);
        code.add(I::Lds { rd: r(18), address: TICKS });
        code.add(I::Cpi { rd: r(18), k: 3 });
        code.add(I::Brbs { flag: 0, offset: -4 });
        code.add(I::Sbi { io: PORTB, bit: 0 });
        code.add(I::Rjmp { offset: -1 });
    });
    shows(Fault::FiringForgotten, &never, PROMISED_OVERFLOW);
}
