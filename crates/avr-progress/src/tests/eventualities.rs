//! Eventualities that are proved, in random programs and in programs that are written for it, against an enumeration of all states.

use super::enumeration::{Known, goal, limits};
use super::explorer::{Awaited, Fair, Goal, On, Source};
use super::generator::{GO, Generated, LEFT, TICKS, program};
use crate::faults::{Fault, with_fault};
use crate::{Limits, Obstacle, Stuck};
use avr_isa::{DataAddress, Instruction as I};
use avr_machine::device::{BitRef, Promised};
use avr_symbolic::ExecutionLimits;
use avr_testkit::Random;
use avr_testkit::image::{Code, r};

pub(super) const MAIN: u32 = 0x40;
pub(super) const PORTB: u8 = 5;
pub(super) const PINB: u8 = 3;
const TCCR0B: u8 = 0x25;
const SREG: u8 = 0x3f;
const SMCR: u8 = 0x33;
pub(super) const TIMSK0: DataAddress = DataAddress(0x6e);
const WDTCSR: DataAddress = DataAddress(0x60);
const OVERFLOW_VECTOR: u32 = 0x20;
const ZERO: u8 = 1;
pub(super) const INTERRUPTS: u8 = 7;

/// Bit 0 of port B is 1, and 0.
pub(super) const ON: Goal = Goal::Bit(DataAddress(0x25), 0, true);
pub(super) const OFF: Goal = Goal::Bit(DataAddress(0x25), 0, false);

/// The interrupts of programs: INT0, TIMER0_OVF and EE_READY.
pub(super) const SOURCES: [Source; 3] = [
    Source { number: 1, enabled: (DataAddress(0x3d), 0) },
    OVERFLOW,
    Source { number: 22, enabled: (DataAddress(0x3f), 3) },
];
/// Fairness in random programs.
const FAIR: [Fair; 8] = [
    Fair::Assumed(SOURCES[0]),
    Fair::Assumed(OVERFLOW),
    Fair::Assumed(OVERFLOW),
    Fair::Assumed(SOURCES[2]),
    PROMISED_OVERFLOW,
    PROMISED_OVERFLOW,
    PROMISED_OVERFLOW,
    PROMISED_FLAG,
];
pub(super) const PROMISED_OVERFLOW: Fair = Fair::Promised(Promised::Interrupt(16));
pub(super) const PROMISED_FLAG: Fair = Fair::Promised(Promised::Change(BitRef { address: DataAddress(0x35), bit: 0 }));
pub(super) const OVERFLOW: Source = Source { number: 16, enabled: (TIMSK0, 0) };

/// A random program with what is awaited in it.
pub(super) fn random_case(seed: u64) -> (Generated, Vec<Awaited>) {
    let mut random = Random::new(seed ^ 0xe7e7);
    let generated = program(&mut random);
    let mut one = |is_fair: bool| {
        let trigger = match random.below(4) {
            0 => On::Start,
            1 | 2 => On::Everywhere,
            _ => On::When(goal(&mut random)),
        };
        let until = goal(&mut random);
        let holds = (!is_fair && random.once_in(4)).then(|| goal(&mut random));
        let fair = is_fair.then(|| random.pick(&FAIR));
        Awaited { trigger, holds, until, fair }
    };
    let all = [false, false, false, true, true].map(&mut one);
    (generated, all.to_vec())
}

/// The numbers of what was compared.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    is_true: u64,
    proved: u64,
    is_false: u64,
}

#[test]
fn what_is_proved_to_come_always_comes() {
    let [mut plain, mut fairly] = [Tally::default(); 2];
    let mut kinds = [0; 4];
    for seed in 0..avr_testkit::cases(45, 3_000) {
        let (generated, all) = random_case(seed);
        let Ok(mut known) = Known::of(&generated) else { continue };
        for awaited in &all {
            let in_vain = known.waits_in_vain(awaited);
            let proof = known.always_comes(awaited, &limits());
            let words = || format!("seed {seed}: {awaited:?}, {:04x?}", generated.code.words);
            assert!(proof.is_err() || in_vain.is_none(), "{in_vain:?}, {}", words());
            let tally = if awaited.fair.is_some() { &mut fairly } else { &mut plain };
            tally.is_false += u64::from(in_vain.is_some());
            tally.is_true += u64::from(in_vain.is_none());
            tally.proved += u64::from(proof.is_ok());
            let kind = match (awaited.trigger, awaited.holds) {
                (_, Some(_)) => 0,
                (On::Start, _) => 1,
                (On::Everywhere, _) => 2,
                (On::When(_), _) => 3,
            };
            kinds[kind] += u64::from(proof.is_ok());
        }
    }
    for tally in [plain, fairly] {
        assert!(tally.is_false * 8 > tally.is_true && tally.proved * 2 > tally.is_true, "{tally:?}");
    }
    assert!(kinds.iter().all(|proved| *proved > 0), "{kinds:?}");
}

/// A program with a handler of the overflow of timer 0, which begins with bit 0 of port B at 0 and 1 in r16.
pub(super) fn with_handler(handler: &[I], main: impl FnOnce(&mut Code)) -> Generated {
    let mut code = Code::default();
    code.jump(MAIN);
    code.place(OVERFLOW_VECTOR);
    handler.iter().for_each(|instruction| code.add(*instruction));
    code.place(MAIN);
    for cell in [TICKS, GO, LEFT] {
        code.add(I::Ldi { rd: r(16), k: u8::from(cell == GO) });
        code.add(I::Sts { address: cell, rr: r(16) });
    }
    code.add(I::Ldi { rd: r(16), k: 1 });
    main(&mut code);
    Generated { code, pins: 3, unwritten: Vec::new() }
}

/// Lets timer 0 count and its interrupt come.
pub(super) fn start_timer(code: &mut Code) {
    code.add(I::Out { io: TCCR0B, rr: r(16) });
    code.add(I::Sts { address: TIMSK0, rr: r(16) });
    code.add(I::Bset { flag: INTERRUPTS });
}

/// A program that waits with the output off, and then switches it on and off, again and again.
pub(super) fn pulsing(handler: &[I], is_started: bool, wait: impl FnOnce(&mut Code)) -> Generated {
    with_handler(handler, |code| {
        if is_started {
            start_timer(code);
        }
        let start = code.words.len() as u32;
        wait(code);
        code.add(I::Sbi { io: PORTB, bit: 0 });
        code.add(I::Cbi { io: PORTB, bit: 0 });
        code.jump(start);
    })
}

/// `n = 3; while (n) { n--; }` with n in memory.
pub(super) fn count_down(code: &mut Code) {
    code.add(I::Ldi { rd: r(18), k: 3 });
    code.add(I::Sts { address: LEFT, rr: r(18) });
    code.add(I::Lds { rd: r(18), address: LEFT });
    code.add(I::And { rd: r(18), rr: r(18) });
    code.add(I::Brbs { flag: ZERO, offset: 4 });
    code.add(I::Dec { rd: r(18) });
    code.add(I::Sts { address: LEFT, rr: r(18) });
    code.add(I::Rjmp { offset: -8 });
}

/// A handler that gives a cell a value.
pub(super) fn setting(cell: DataAddress, value: u8) -> Vec<I> {
    vec![
        I::Push { rr: r(16) },
        I::Ldi { rd: r(16), k: value },
        I::Sts { address: cell, rr: r(16) },
        I::Pop { rd: r(16) },
        I::Reti,
    ]
}

/// A handler that counts in `TICKS`, modulo 8.
pub(super) fn ticking() -> Vec<I> {
    vec![
        I::Push { rr: r(16) },
        I::In { rd: r(16), io: SREG },
        I::Push { rr: r(16) },
        I::Lds { rd: r(16), address: TICKS },
        I::Inc { rd: r(16) },
        I::Andi { rd: r(16), k: 7 },
        I::Sts { address: TICKS, rr: r(16) },
        I::Pop { rd: r(16) },
        I::Out { io: SREG, rr: r(16) },
        I::Pop { rd: r(16) },
        I::Reti,
    ]
}

pub(super) const AWAITED: Awaited = Awaited { trigger: On::Everywhere, holds: None, until: ON, fair: None };
pub(super) const FAIRLY: Awaited = Awaited { fair: Some(Fair::Assumed(OVERFLOW)), ..AWAITED };

#[track_caller]
fn check(generated: &Generated, awaited: &Awaited, is_true: bool) -> Option<Stuck> {
    let mut known = Known::of(generated).unwrap_or_else(|_| panic!("there is a map"));
    assert_eq!(known.waits_in_vain(awaited).is_none(), is_true, "{awaited:?}");
    let proof = known.always_comes(awaited, &limits());
    assert_eq!(proof.is_ok(), is_true, "{awaited:?}: {proof:?}");
    proof.err()
}

#[test]
fn a_count_down_ends_whatever_interrupts_it() {
    check(&pulsing(&ticking(), true, count_down), &AWAITED, true);
    check(&pulsing(&setting(GO, 0), true, count_down), &AWAITED, true);
    // It need not be set while it is counted down, but it may be.
    check(&pulsing(&setting(LEFT, 3), true, count_down), &AWAITED, false);
    check(&pulsing(&setting(LEFT, 3), true, count_down), &FAIRLY, false);
    check(&pulsing(&setting(LEFT, 3), false, count_down), &AWAITED, true);
    check(&pulsing(&setting(LEFT, 0), true, count_down), &AWAITED, true);
}

/// `n = 3; while (n) { if (condition) n--; }`
fn count_down_if(code: &mut Code, condition: &[I]) {
    code.add(I::Ldi { rd: r(18), k: 3 });
    let start = code.words.len() as u32;
    condition.iter().for_each(|instruction| code.add(*instruction));
    code.add(I::Dec { rd: r(18) });
    code.add(I::And { rd: r(18), rr: r(18) });
    let offset = (i64::from(start) - code.words.len() as i64 - 1) as i8;
    code.add(I::Brbc { flag: ZERO, offset });
}

#[test]
fn a_rank_falls_on_all_paths() {
    let while_going = |code: &mut Code| {
        count_down_if(code, &[I::Lds { rd: r(19), address: GO }, I::Sbrc { rr: r(19), bit: 0 }]);
    };
    check(&pulsing(&ticking(), true, while_going), &AWAITED, true);
    check(&pulsing(&setting(GO, 1), true, while_going), &AWAITED, true);
    check(&pulsing(&setting(GO, 0), true, while_going), &AWAITED, false);
    let by_pin = |code: &mut Code| count_down_if(code, &[I::Sbic { io: PINB, bit: 0 }]);
    check(&pulsing(&ticking(), true, by_pin), &AWAITED, false);
}

#[test]
fn a_wait_with_a_limit_ends() {
    let wait = |code: &mut Code| {
        code.add(I::Ldi { rd: r(18), k: 5 });
        code.add(I::Sbic { io: PINB, bit: 0 });
        code.add(I::Rjmp { offset: 2 });
        code.add(I::Dec { rd: r(18) });
        code.add(I::Brbc { flag: ZERO, offset: -4 });
    };
    check(&pulsing(&ticking(), true, wait), &AWAITED, true);
}

#[test]
fn what_only_the_environment_ends_is_waited_for_in_vain() {
    let for_pin = |code: &mut Code| {
        code.add(I::Sbis { io: PINB, bit: 0 });
        code.add(I::Rjmp { offset: -2 });
    };
    check(&pulsing(&ticking(), true, for_pin), &AWAITED, false);
    check(&pulsing(&ticking(), true, for_pin), &FAIRLY, false);
    let asleep = |code: &mut Code| {
        code.add(I::Out { io: SMCR, rr: r(16) });
        code.add(I::Sleep);
    };
    check(&pulsing(&ticking(), true, asleep), &AWAITED, false);
    check(&pulsing(&ticking(), true, asleep), &FAIRLY, true);
}

#[test]
fn a_handler_without_an_end_proves_nothing() {
    let generated = pulsing(&[I::Rjmp { offset: -1 }], true, count_down);
    let stuck = check(&generated, &AWAITED, false);
    assert!(matches!(stuck, Some(Stuck::Obstacle(Obstacle::HandlerLoops(_)))), "{stuck:?}");
}

#[test]
fn a_reset_begins_anew() {
    // The watchdog resets, and may do so for ever.
    let reset = |is_armed: bool| {
        with_handler(&[I::Reti], |code| {
            if is_armed {
                code.add(I::Ldi { rd: r(18), k: 0x18 });
                code.add(I::Sts { address: WDTCSR, rr: r(18) });
                code.add(I::Ldi { rd: r(18), k: 0x08 });
                code.add(I::Sts { address: WDTCSR, rr: r(18) });
            }
            count_down(code);
            code.add(I::Sbi { io: PORTB, bit: 0 });
            code.add(I::Rjmp { offset: -1 });
        })
    };
    let at_start = Awaited { trigger: On::Start, ..AWAITED };
    check(&reset(false), &at_start, true);
    check(&reset(true), &at_start, false);
}

/// A program that waits until a handler has counted to 3.
pub(super) fn waiting_for_ticks(is_enabled: bool, is_let_in: bool) -> Generated {
    with_handler(&ticking(), |code| {
        code.add(I::Out { io: TCCR0B, rr: r(16) });
        if is_enabled {
            code.add(I::Sts { address: TIMSK0, rr: r(16) });
        }
        if is_let_in {
            code.add(I::Bset { flag: INTERRUPTS });
        }
        code.add(I::Lds { rd: r(18), address: TICKS });
        code.add(I::Cpi { rd: r(18), k: 3 });
        code.add(I::Brbs { flag: 0, offset: -4 });
        code.add(I::Sbi { io: PORTB, bit: 0 });
        code.add(I::Rjmp { offset: -1 });
    })
}

#[test]
fn what_a_handler_counts_comes_if_its_interrupt_does() {
    let at_start = Awaited { trigger: On::Start, ..FAIRLY };
    check(&waiting_for_ticks(true, true), &at_start, true);
    check(&waiting_for_ticks(true, true), &Awaited { fair: None, ..at_start }, false);
    check(&waiting_for_ticks(true, true), &Awaited { fair: Some(Fair::Assumed(SOURCES[0])), ..at_start }, false);
    check(&waiting_for_ticks(false, true), &at_start, false);
    check(&waiting_for_ticks(true, false), &at_start, false);
}

/// A program that looks whether `GO` is 1, and if so, clears it after a while and gives a pulse. A handler sets it.
pub(super) fn responding(is_honest: bool) -> Generated {
    with_handler(&setting(GO, 1), |code| {
        start_timer(code);
        let start = code.words.len() as u32;
        code.add(I::Lds { rd: r(18), address: GO });
        code.add(I::Sbrs { rr: r(18), bit: 0 });
        code.jump(start);
        code.add(I::Ldi { rd: r(18), k: 3 });
        code.add(I::Dec { rd: r(18) });
        code.add(I::Brbc { flag: ZERO, offset: -2 });
        if !is_honest {
            code.add(I::Sbic { io: PINB, bit: 0 });
        }
        code.add(I::Sbi { io: PORTB, bit: 0 });
        code.add(I::Ldi { rd: r(18), k: 0 });
        code.add(I::Sts { address: GO, rr: r(18) });
        code.add(I::Cbi { io: PORTB, bit: 0 });
        code.jump(start);
    })
}

#[test]
fn what_is_asked_for_is_answered() {
    let trigger = On::When(Goal::Cell(GO, 1));
    check(&responding(true), &Awaited { trigger, ..AWAITED }, true);
    check(&responding(true), &AWAITED, false);
    check(&responding(false), &Awaited { trigger, ..AWAITED }, false);
    // Until then it is as it was.
    let holds = Some(Goal::Cell(GO, 1));
    check(&responding(true), &Awaited { trigger, holds, ..AWAITED }, true);
    check(&responding(true), &Awaited { trigger, holds: Some(Goal::Cell(TICKS, 1)), ..AWAITED }, false);
}

/// The faults of eventualities that random programs show.
pub(super) const SHOWN_BY_RANDOM: [Fault; 5] = [
    Fault::InterruptsForgotten,
    Fault::TriggerForgotten,
    Fault::HoldsForgotten,
    Fault::PowerOnForgotten,
    Fault::AwaitedForgotten,
];

/// Those that programs show which are written for them.
pub(super) const WRITTEN: [Fault; 3] = [Fault::FiringForgotten, Fault::EnabledForgotten, Fault::LetInForgotten];

/// Other faults that eventualities must show as well.
pub(super) const SHARED: [Fault; 5] =
    [Fault::HeadLeftOut, Fault::BehindForgotten, Fault::UnknownIsZero, Fault::RankStays, Fault::ElsewherePassed];

#[test]
fn random_programs_show_faults() {
    let mut left: Vec<Fault> = SHOWN_BY_RANDOM.into_iter().chain(SHARED).collect();
    let few = Limits { execution: ExecutionLimits { steps: 5, ..limits().execution }, ..limits() };
    for seed in 0..400 {
        let (generated, all) = random_case(seed);
        let Ok(mut known) = Known::of(&generated) else { continue };
        for awaited in &all {
            if known.waits_in_vain(awaited).is_some() {
                let limits = |fault| if fault == Fault::ElsewherePassed { few } else { limits() };
                let is_shown = |fault| with_fault(fault, || known.always_comes(awaited, &limits(fault)).is_ok());
                left.retain(|fault| !is_shown(*fault));
            }
        }
        if left.is_empty() {
            return;
        }
    }
    panic!("{left:?} are not shown");
}

#[test]
fn written_programs_show_faults() {
    let at_start = Awaited { trigger: On::Start, ..FAIRLY };
    // The handler counts anew again and again.
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
    let programs = [
        (Fault::FiringForgotten, never),
        (Fault::EnabledForgotten, waiting_for_ticks(false, true)),
        (Fault::LetInForgotten, waiting_for_ticks(true, false)),
    ];
    for (fault, generated) in &programs {
        let mut known = Known::of(generated).unwrap_or_else(|_| panic!("{fault:?}: there is a map"));
        assert!(known.waits_in_vain(&at_start).is_some(), "{fault:?}");
        assert!(known.always_comes(&at_start, &limits()).is_err(), "{fault:?}");
        assert!(with_fault(*fault, || known.always_comes(&at_start, &limits()).is_ok()), "{fault:?}");
    }
}

#[test]
fn the_output_is_off_at_the_start() {
    // Nothing is awaited where it is there already.
    let at_start = Awaited { trigger: On::Start, until: OFF, ..AWAITED };
    check(&pulsing(&ticking(), true, count_down), &at_start, true);
}
