//! Deliberate faults, and programs that show them.

use super::enumeration::{Known, limits, random_case};
use super::eventualities;
use super::explorer::Goal;
use super::generator::Generated;
use super::possibilities;
use super::promises;
use super::rank_mutants;
use crate::Limits;
use crate::faults::{Fault, with_fault};
use avr_isa::{DataAddress, Instruction as I};
use avr_symbolic::{ExecutionLimits, QueryLimits};
use avr_testkit::image::{Code, r};

/// The faults that random programs show soon.
pub(super) const SHOWN_BY_RANDOM: [Fault; 9] = [
    Fault::HeadLeftOut,
    Fault::BehindForgotten,
    Fault::PossibleReached,
    Fault::KeptInverted,
    Fault::UnknownIsZero,
    Fault::RankStays,
    Fault::HeadPassed,
    Fault::UnansweredPassed,
    Fault::ElsewherePassed,
];

/// The faults that programs show which are written for them.
const WRITTEN: [Fault; 4] =
    [Fault::NoDelayPassed, Fault::HandlerLoopsPassed, Fault::FirstEntryOnly, Fault::FramesForgotten];

/// The faults of what holds everywhere, which have tests of their own.
const OF_EVERYWHERE: [Fault; 2] = [Fault::StartForgotten, Fault::CannotPassed];

/// The faults of the check of claims, which have tests of their own.
const OF_CHECK: [Fault; 2] = [Fault::ClaimForgotten, Fault::GroupForgotten];

pub(super) const MAIN: u32 = 0x40;
pub(super) const PORTB: u8 = 5;
pub(super) const PINB: u8 = 3;
pub(super) const TCCR0B: u8 = 0x25;
pub(super) const TIMSK0: DataAddress = DataAddress(0x6e);
pub(super) const OVERFLOW_VECTOR: u32 = 0x20;

/// The target of a program: bit 0 of port B is 1.
pub(super) const ON: Goal = Goal::Bit(DataAddress(0x25), 0, true);

/// A program with a handler at a vector, which begins with bit 0 of port B at 0.
pub(super) fn program(vector: u32, handler: &[I], main: impl FnOnce(&mut Code)) -> Generated {
    let mut code = Code::default();
    code.jump(MAIN);
    code.place(vector);
    handler.iter().for_each(|instruction| code.add(*instruction));
    code.place(MAIN);
    code.add(I::Ldi { rd: r(16), k: 1 });
    main(&mut code);
    Generated { code, pins: 3, unwritten: Vec::new() }
}

/// A handler does not end.
fn stuck_in_a_handler() -> Generated {
    program(OVERFLOW_VECTOR, &[I::Rjmp { offset: -1 }], |code| {
        code.add(I::Out { io: TCCR0B, rr: r(16) });
        code.add(I::Sts { address: TIMSK0, rr: r(16) });
        code.add(I::Bset { flag: 7 });
        code.add(I::Sbi { io: PORTB, bit: 0 });
        code.add(I::Cbi { io: PORTB, bit: 0 });
        code.add(I::Rjmp { offset: -3 });
    })
}

/// A loop comes to its head with a delay of interrupts and the output off, but for the first time.
fn stuck_in_one_entry() -> Generated {
    program(OVERFLOW_VECTOR, &[I::Reti], |code| {
        code.add(I::Sbi { io: PORTB, bit: 0 });
        code.add(I::Rjmp { offset: 3 });
        code.add(I::Cbi { io: PORTB, bit: 0 });
        code.add(I::Bclr { flag: 7 });
        code.add(I::Bset { flag: 7 });
        code.add(I::Nop);
        code.add(I::Rjmp { offset: -5 });
    })
}

/// A function waits for ever where it is called the second time.
fn stuck_in_one_call() -> Generated {
    program(OVERFLOW_VECTOR, &[I::Reti], |code| {
        let function = MAIN + 0x20;
        let start = code.words.len() as u32;
        code.add(I::Ldi { rd: r(18), k: 4 });
        code.add(I::Ldi { rd: r(19), k: 1 });
        code.call(function);
        code.add(I::Sbi { io: PORTB, bit: 0 });
        code.add(I::Cbi { io: PORTB, bit: 0 });
        code.add(I::Sbis { io: PINB, bit: 0 });
        code.jump(start);
        code.add(I::Ldi { rd: r(18), k: 3 });
        code.add(I::Ldi { rd: r(19), k: 2 });
        code.call(function);
        code.jump(start);
        code.place(function);
        code.add(I::Sub { rd: r(18), rr: r(19) });
        code.add(I::Andi { rd: r(18), k: 7 });
        code.add(I::Brbc { flag: 1, offset: -3 });
        code.add(I::Ret);
    })
}

/// The limits under which a fault makes a difference.
pub(super) fn limits_of(fault: Fault) -> Limits {
    match fault {
        Fault::UnansweredPassed => Limits { query: QueryLimits { steps: 0, nodes: 0 }, ..limits() },
        Fault::ElsewherePassed => Limits { execution: ExecutionLimits { steps: 5, ..limits().execution }, ..limits() },
        _ => limits(),
    }
}

#[test]
fn each_fault_has_a_test() {
    let of_eventualities =
        [&eventualities::WRITTEN[..], &eventualities::SHOWN_BY_RANDOM, &rank_mutants::OF_CHECK].concat();
    let of_possibilities = [&possibilities::WRITTEN[..], &possibilities::SHOWN_BY_RANDOM].concat();
    let others = [&of_eventualities[..], &of_possibilities, &promises::WRITTEN].concat();
    let all: Vec<Fault> = [&WRITTEN[..], &SHOWN_BY_RANDOM, &OF_EVERYWHERE, &OF_CHECK, &others].concat();
    assert_eq!(all.len(), Fault::ALL.len());
    assert!(Fault::ALL.iter().all(|fault| all.contains(fault)), "{all:?}");
}

#[test]
fn written_programs_show_faults() {
    let programs = [
        (Fault::HandlerLoopsPassed, stuck_in_a_handler()),
        (Fault::FirstEntryOnly, stuck_in_one_entry()),
        (Fault::FramesForgotten, stuck_in_one_call()),
    ];
    for (fault, generated) in &programs {
        let mut known = Known::of(generated).unwrap_or_else(|_| panic!("{fault:?}: there is a map"));
        assert!(known.stuck(ON).is_some() && !known.is_proved(ON, &limits()), "{fault:?}");
        assert!(with_fault(*fault, || known.is_proved(ON, &limits())), "{fault:?}");
    }
}

/// A formula that is true from the first head on is not true everywhere.
#[test]
fn the_states_before_the_first_head_count() {
    let generated = program(OVERFLOW_VECTOR, &[I::Reti], |code| {
        code.add(I::Sbi { io: PORTB, bit: 0 });
        code.add(I::Rjmp { offset: -1 });
    });
    let mut known = Known::of(&generated).unwrap_or_else(|_| panic!("there is a map"));
    assert!(!known.are_all(ON) && !known.is_everywhere(ON, &limits()));
    assert!(with_fault(Fault::StartForgotten, || known.is_everywhere(ON, &limits())));
}

#[test]
fn paths_that_are_not_followed_count() {
    let generated = program(OVERFLOW_VECTOR, &[I::Reti], |code| {
        (0..4).for_each(|_| code.add(I::Nop));
        code.add(I::Sbi { io: PORTB, bit: 0 });
        code.add(I::Cbi { io: PORTB, bit: 0 });
        code.add(I::Rjmp { offset: -7 });
    });
    let off = Goal::Bit(DataAddress(0x25), 0, false);
    let few = Limits { execution: ExecutionLimits { steps: 3, ..limits().execution }, ..limits() };
    let mut known = Known::of(&generated).unwrap_or_else(|_| panic!("there is a map"));
    assert!(!known.are_all(off) && !known.is_everywhere(off, &limits()) && !known.is_everywhere(off, &few));
    assert!(with_fault(Fault::CannotPassed, || known.is_everywhere(off, &few)));
}

/// No handler of a map returns without a delay: the map is made to say so.
#[test]
fn returns_without_a_delay_are_an_obstacle() {
    let generated = program(OVERFLOW_VECTOR, &[I::Reti], |code| {
        code.add(I::Out { io: TCCR0B, rr: r(16) });
        code.add(I::Sts { address: TIMSK0, rr: r(16) });
        code.add(I::Bset { flag: 7 });
        code.add(I::Sbi { io: PORTB, bit: 0 });
        code.add(I::Rjmp { offset: -1 });
    });
    let Ok(mut known) = Known::of(&generated) else { panic!("there is a map") };
    assert!(known.is_proved(ON, &limits()));
    assert!(!known.analysis.map.exits.is_empty());
    known.analysis.map.exits.iter_mut().for_each(|exit| exit.control.interrupt_delay = false);
    assert!(!known.is_proved(ON, &limits()));
    assert!(with_fault(Fault::NoDelayPassed, || known.is_proved(ON, &limits())));
}

#[test]
fn random_programs_show_faults() {
    let mut left: Vec<Fault> = SHOWN_BY_RANDOM.to_vec();
    for seed in 0..100 {
        let (generated, goals) = random_case(seed);
        let Ok(mut known) = Known::of(&generated) else { continue };
        for goal in goals {
            if known.stuck(goal).is_some() {
                left.retain(|fault| !with_fault(*fault, || known.is_proved(goal, &limits_of(*fault))));
            }
        }
        if left.is_empty() {
            return;
        }
    }
    panic!("{left:?} are not shown");
}
