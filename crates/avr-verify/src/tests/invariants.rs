//! Invariants of the whole program against state spaces, on random programs with two interrupts.

use crate::pipeline::machine::machine;
use crate::random_programs::{CELLS, Code, LONG, PROGRAMS, Random, program, r, with_handlers, with_request};
use crate::{
    EarlyResults, InvariantUse, Pass, PropertyResult, Reductions, Request, Results, Verdict, explained, verify,
};
use avr_invariant::faults::{Fault, with_fault};
use avr_isa::Instruction;
use std::time::Duration;

/// The time for a program.
const SHORT: Duration = Duration::from_secs(2);

/// Invariants that hold in some programs, and one that no invariant proves.
const PROPERTIES: [&str; 8] = [
    "Inherent()",
    "Stack(max_bytes: 4)",
    "Stack(max_bytes: 9)",
    "AG (mem[0x100] < 0x80)",
    "AG (mem[0x100] == mem[0x101] || in_interrupt)",
    "AG (EIMSK == 0 || EIMSK == 3)",
    "AG ((in_interrupt -> SREG.7 == 0) && (sleeping -> EIMSK != 7))",
    "EF (mem[0x100] == 1)",
];

fn with(request: &Request<'_>, invariants: InvariantUse<'_>) -> Results {
    let request = Request { invariants, ..*request };
    verify(&request).expect("the properties are bound")
}

fn is_proved(result: &PropertyResult) -> bool {
    result.methods.contains(&Pass::Invariants)
}

/// The number of properties that invariants prove; an error where a state space says something else.
fn proved_alike(words: &[u16]) -> Result<usize, String> {
    with_request(words, &PROPERTIES, Reductions::ALL, SHORT, |request| {
        let (with_them, without) = (with(request, InvariantUse::Find), with(request, InvariantUse::Off));
        let mut proved = 0;
        for (one, other) in with_them.properties.iter().zip(&without.properties) {
            if is_proved(one) && one.verdict != Verdict::Holds || is_proved(other) {
                return Err(format!("{one:?}"));
            }
            if one.verdict != other.verdict && !matches!(other.verdict, Verdict::Unknown(_)) {
                return Err(format!("{}: {:?}, and {:?} without invariants", one.name, one.verdict, other.verdict));
            }
            proved += usize::from(is_proved(one));
        }
        let (upper, lower) = (with_them.stack.upper, without.stack.lower);
        if upper.is_some_and(|upper| lower > Some(upper)) {
            return Err(format!("at most {upper:?} bytes, and {lower:?} in some run"));
        }
        let (here, there) = (with_them.survey, without.survey);
        if let (Some(here), Some(there)) = (here, there.filter(|survey| survey.complete))
            && !there.instructions.keys().all(|address| here.instructions.contains_key(address))
        {
            return Err(format!("{:?} instead of {:?}", here.instructions, there.instructions));
        }
        Ok(proved)
    })
}

#[test]
fn state_spaces_say_the_same() {
    let programs = avr_testkit::cases(24, PROGRAMS);
    let mut proved = 0;
    for seed in 0..programs {
        let words = program(&mut Random::new(seed));
        proved += proved_alike(&words).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
    assert!(proved > programs as usize, "invariants prove {proved} properties of {programs} programs");
}

/// A program whose handlers count in the first cell, and whose main program copies it to the second one.
fn copying() -> Vec<u16> {
    let handler = |code: &mut Code, _| {
        code.add(Instruction::Lds { rd: r(16), address: CELLS[0] });
        code.add(Instruction::Inc { rd: r(16) });
        code.add(Instruction::Sts { address: CELLS[0], rr: r(16) });
    };
    with_handlers(handler, |code| {
        let start = code.words.len() as u32;
        code.add(Instruction::Lds { rd: r(18), address: CELLS[0] });
        code.add(Instruction::Sts { address: CELLS[1], rr: r(18) });
        code.jump(start);
    })
}

#[test]
fn forgotten_interference_is_found() {
    let proved = |fault: Option<Fault>| {
        with_request(&copying(), &["AG (EIMSK == 3 -> mem[0x101] == 0)"], Reductions::ALL, LONG, |request| {
            let verify = || is_proved(&with(request, InvariantUse::Find).properties[0]);
            fault.map_or_else(verify, |fault| with_fault(fault, verify))
        })
    };
    assert!(!proved(None) && proved(Some(Fault::InterferenceForgotten)));
}

#[test]
fn explanations_come_from_state_spaces() {
    // `nop; rjmp .-4`
    with_request(&[0x0000, 0xcffe], &["AG (pc < 4)"], Reductions::ALL, LONG, |request| {
        let request = Request { invariants: InvariantUse::Find, ..*request };
        assert!(is_proved(&with(&request, InvariantUse::Find).properties[0]));
        let explained = explained(&request).expect("the property is bound");
        assert!(explained.properties[0].explanation.is_some() && !is_proved(&explained.properties[0]));
    });
}

#[test]
fn a_part_that_does_not_matter_is_named() {
    with_request(&[0x0000, 0xcffe], &["AG (pc < 4 || sleeping)"], Reductions::ALL, LONG, |request| {
        let vacuous = |invariants| with(request, invariants).properties.remove(0).vacuous;
        assert_eq!(vacuous(InvariantUse::Find), vacuous(InvariantUse::Off));
        assert!(vacuous(InvariantUse::Find).is_some());
    });
}

#[test]
fn a_stack_bound_is_known_when_it_is_found() {
    let told = (0..10).filter(|seed| {
        let words = program(&mut Random::new(*seed));
        with_request(&words, &["Inherent()"], Reductions::ALL, SHORT, |request| {
            let known = EarlyResults::default();
            let request = Request { known: Some(&known), invariants: InvariantUse::Find, ..*request };
            let machine = machine(&request).expect("there are no assumptions");
            let found = request.find_invariants(&machine).and_then(|sought| sought.found);
            let upper = found.and_then(|found| found.stack_bound().upper);
            assert_eq!(known.stack().upper, upper, "seed {seed}");
            upper.is_some()
        })
    });
    assert!(told.count() > 0);
}
