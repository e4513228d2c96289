//! Random runs that are directed at the deepest stack or at an alarm come there where others do not, and say nothing else.

use crate::invariants::{Alarm, AlarmKind, Sought};
use crate::machine;
use crate::pipeline::observer::SAMPLED_FOR_ALARM;
use crate::random_programs::{Code, EIMSK, LONG, Random, r, with_request};
use crate::request::{Reductions, Request};
use avr_isa::{DataAddress, Instruction as I, Pointer, PointerMode};
use avr_model::context::Context;
use avr_properties::{AtomTable, Definitions, Property, bind};
use avr_testkit::programs::SREG;
use avr_witness::{Sampler, Search};
use mu_calculus::{Formula, Modality, NormalForm};
use tvar::{Goal, Unlimited};

/// The number of programs of a kind, each with constants of its own.
const PROGRAMS: u64 = 10;
/// The most steps until a run is as deep as the bound.
const STEPS: u64 = 1_000_000;

/// The I/O addresses of the pins, all of which are inputs.
const PINS: [u8; 3] = [0x03, 0x06, 0x09];
/// Flash word addresses of the parts of programs.
const HANDLERS: [u32; 2] = [0x40, 0x80];
const LEAF: u32 = 0xc0;
const CHAIN: u32 = 0x100;
const PER_FUNCTION: u32 = 0x20;
const MAIN: u32 = 0x200;
const OTHER: u32 = 0x240;
/// The cells of the other code, and the number of them.
const CELLS: DataAddress = DataAddress(0x140);
const COUNT: u16 = 48;
const ZERO: u8 = 1;
const INTERRUPTS: u8 = 7;

/// A function that mixes pins into cells and compares them: it comes to something new nearly every time.
fn other(code: &mut Code, random: &mut Random) {
    for index in 0..COUNT {
        let cell = CELLS.wrapping_add(index);
        code.add(I::In { rd: r(20), io: random.pick(&PINS) });
        code.add(I::Lds { rd: r(21), address: cell });
        code.add(I::Add { rd: r(21), rr: r(20) });
        code.add(I::Swap { rd: r(21) });
        code.add(I::Sts { address: cell, rr: r(21) });
        code.add(I::In { rd: r(20), io: random.pick(&PINS) });
        code.add(I::Cp { rd: r(20), rr: r(21) });
        code.unless(ZERO, false, |code| {
            code.add(I::Lds { rd: r(22), address: CELLS.wrapping_add((index + 1) % COUNT) });
            code.add(I::Inc { rd: r(22) });
            code.add(I::Sts { address: CELLS.wrapping_add((index + 1) % COUNT), rr: r(22) });
        });
    }
    code.add(I::Ret);
}

/// Goes on with `inner` if a pin register, changed a little, holds some number.
fn if_pins(code: &mut Code, random: &mut Random, inner: impl FnOnce(&mut Code, &mut Random)) {
    code.add(I::In { rd: r(24), io: random.pick(&PINS) });
    match random.below(3) {
        0 => code.add(I::Subi { rd: r(24), k: random.byte() }),
        1 => code.add(I::Swap { rd: r(24) }),
        _ => {}
    }
    code.add(I::Cpi { rd: r(24), k: random.byte() });
    code.unless(ZERO, false, |code| inner(code, random));
}

/// The number of registers that are pushed where the stack is deepest.
fn pushes(random: &mut Random) -> u8 {
    random.within(2..6)
}

fn pushed(code: &mut Code, count: u8, inner: impl FnOnce(&mut Code)) {
    (0..count).for_each(|number| code.add(I::Push { rr: r(number) }));
    inner(code);
    (0..count).rev().for_each(|number| code.add(I::Pop { rd: r(number) }));
}

/// A program that calls the other code and then, for some numbers on the pins, the first function of a chain. Each of them calls the
/// next one for some numbers, the last one `LEAF`.
fn program(random: &mut Random, handlers: bool, leaf: impl FnOnce(&mut Code, &mut Random)) -> Vec<u16> {
    let mut code = Code::with_vectors(MAIN, &HANDLERS);
    for entry in HANDLERS {
        code.place(entry);
        code.add(I::Push { rr: r(16) });
        code.add(I::In { rd: r(16), io: SREG });
        code.add(I::Push { rr: r(16) });
        pushed(&mut code, pushes(random), |_| {});
        code.add(I::Pop { rd: r(16) });
        code.add(I::Out { io: SREG, rr: r(16) });
        code.add(I::Pop { rd: r(16) });
        code.add(I::Reti);
    }
    code.place(LEAF);
    leaf(&mut code, random);
    code.add(I::Ret);
    let functions = random.within(3..5);
    for number in 0..functions {
        code.place(CHAIN + number * PER_FUNCTION);
        let next = if number + 1 == functions { LEAF } else { CHAIN + (number + 1) * PER_FUNCTION };
        if_pins(&mut code, random, |code, _| code.call(next));
        code.add(I::Ret);
    }
    code.place(MAIN);
    if handlers {
        code.add(I::Ldi { rd: r(16), k: 3 });
        code.add(I::Out { io: EIMSK, rr: r(16) });
        code.add(I::Bset { flag: INTERRUPTS });
    }
    let start = code.words.len() as u32;
    code.call(OTHER);
    if_pins(&mut code, random, |code, _| code.call(CHAIN));
    code.jump(start);
    code.place(OTHER);
    other(&mut code, random);
    code.words
}

/// A chain whose last function pushes registers.
fn deep_chain(random: &mut Random) -> Vec<u16> {
    program(random, false, |code, random| pushed(code, pushes(random), |_| {}))
}

/// A chain whose last function lets interrupts come while it has pushed registers, for one instruction.
fn interrupted_leaf(random: &mut Random) -> Vec<u16> {
    program(random, true, |code, random| pushed(code, pushes(random), |code| code.add(I::Nop)))
}

/// The deepest stack of runs, directed or not, and the bound.
fn deepest(words: &[u16], is_directed: bool, steps: u64) -> (Option<u32>, u32) {
    with_request(words, &[], Reductions::ALL, LONG, |request: &Request<'_>| {
        let machine = machine(request).expect("there are no assumptions");
        let sought = Sought::look(&machine, request.image, &Unlimited);
        let invariants = sought.found.unwrap_or_else(|| panic!("{:?}", sought.outcome));
        let bound = invariants.stack_bound().upper.expect("a map without marks has a bound");
        let context = Context::new(&machine, &[]);
        let distances = invariants.distances(&machine, bound).filter(|_| is_directed);
        (Sampler::default().deepest(&context, (Some(bound), distances), steps, &Unlimited), bound)
    })
}

/// The programs of a kind in which no run is as deep as the bound.
fn missed(kind: fn(&mut Random) -> Vec<u16>, is_directed: bool, steps: u64) -> Vec<u64> {
    let is_missed = |seed: &u64| {
        let (deepest, bound) = deepest(&kind(&mut Random::new(*seed)), is_directed, steps);
        assert!(deepest <= Some(bound), "seed {seed}");
        deepest < Some(bound)
    };
    (0..PROGRAMS).filter(is_missed).collect()
}

/// A chain whose last function stores beyond the memory.
fn alarming_chain(random: &mut Random) -> Vec<u16> {
    program(random, false, |code, _| {
        code.add(I::Ldi { rd: r(31), k: 9 });
        code.add(I::In { rd: r(30), io: PINS[0] });
        code.add(I::St { pointer: Pointer::Z, mode: PointerMode::Displacement(0), rr: r(24) });
    })
}

/// True if a run comes to the hazard of a program within the steps that alarms are searched for; none if there is no alarm.
fn comes_to_hazard(words: &[u16], is_directed: bool) -> Option<bool> {
    with_request(words, &[], Reductions::ALL, LONG, |request: &Request<'_>| {
        let machine = machine(request).expect("there are no assumptions");
        let sought = Sought::look(&machine, request.image, &Unlimited);
        let alarms = sought.alarms?;
        assert!(matches!(alarms.list.as_slice(), [Alarm { kind: AlarmKind::Hazard(_), .. }]), "{alarms:?}");
        let mut table = AtomTable::default();
        let bound = bind(&Property::inherent(), &Definitions::default(), &request.binding(), &mut table);
        let formula = Formula::Modal(Modality::Box, Box::new(bound.expect("it binds").formula));
        let goal = Goal { formula: NormalForm::new(&formula).expect("it translates"), observes_hazards: true };
        let atoms = table.atoms();
        let context = Context::new(&machine, atoms);
        let distances = alarms.distances.filter(|_| is_directed);
        let steps = if is_directed { (0, SAMPLED_FOR_ALARM) } else { (SAMPLED_FOR_ALARM, 0) };
        let found = Sampler::directed_at(distances).refute(&context, &[(0, &goal)], steps, &Unlimited);
        Some(found.into_iter().any(|(_, search)| match search {
            Search::Found(run) => run.replayed && run.end.hazard.is_some(),
            other => panic!("{other:?}"),
        }))
    })
}

#[test]
fn an_alarm_behind_branches_is_found() {
    // Some numbers are never on the pins, so that there is no alarm.
    let came = |is_directed: bool| {
        let came = (0..)
            .filter_map(|seed| Some((seed, comes_to_hazard(&alarming_chain(&mut Random::new(seed)), is_directed)?)));
        came.take(PROGRAMS as usize).collect::<Vec<(u64, bool)>>()
    };
    let missed = |is_directed: bool| came(is_directed).into_iter().filter(|(_, came)| !came).collect::<Vec<_>>();
    let (directed, others) = (missed(true), missed(false));
    assert!(directed.len() + 3 < others.len(), "{directed:?} and {others:?}");
    assert!(directed.iter().all(|missed| others.contains(missed)), "{directed:?} and {others:?}");
}

#[test]
fn a_chain_behind_branches_is_found() {
    let (directed, others) = (missed(deep_chain, true, STEPS), missed(deep_chain, false, STEPS));
    assert!(
        directed.len() * 10 < PROGRAMS as usize && directed.len() + 2 < others.len(),
        "{directed:?} and {others:?}"
    );
}

#[test]
fn an_interrupt_in_a_leaf_is_found() {
    let (directed, others) = (missed(interrupted_leaf, true, STEPS), missed(interrupted_leaf, false, STEPS));
    assert!(
        directed.len() * 5 <= PROGRAMS as usize && directed.len() + 2 < others.len(),
        "{directed:?} and {others:?}"
    );
}
