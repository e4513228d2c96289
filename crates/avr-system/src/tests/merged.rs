//! Formulas that tell moments from each other which a state may stand for together: behind events, of values that are not known, and in the past.

use avr_isa::Instruction as I;
use avr_testkit::image::r;

use super::pins::PORTB;
use super::{letters, results};
use crate::Results;
use crate::faults::{Fault, with_fault};

const RESTS: I = I::Rjmp { offset: -1 };

const fn sets(bit: u8) -> I {
    I::Sbi { io: PORTB, bit }
}

fn verified(properties: &[&str], programs: &[&[I]]) -> Results {
    let nodes = ["a", "b"].iter().zip(programs).map(|(node, _)| format!("\"{node}\": (firmware: \"x\")"));
    let text = format!(
        "(nodes: {{ {} }}, wires: [], properties: [{}])",
        nodes.collect::<Vec<_>>().join(", "),
        properties.join(", ")
    );
    let programs: Vec<Vec<I>> = programs.iter().map(|program| program.to_vec()).collect();
    results(&text, "atmega328p-gpio", &programs)
}

/// The verdicts, and those with a fault.
#[track_caller]
fn check(properties: &[&str], programs: &[&[I]], expected: &str, (fault, wrong): (Fault, &str)) {
    let found = verified(properties, programs);
    assert_eq!(letters(&found), expected, "{found:?}");
    let found = with_fault(fault, || verified(properties, programs));
    assert_eq!(letters(&found), wrong, "{fault:?}: {found:?}");
}

#[test]
fn an_event_is_over_before_another_node_is_seen_to_do_something() {
    // After the write of `a` the first step of `b` concerns nobody else, and its second one does.
    let programs: [&[I]; 2] = [&[sets(1), I::Nop, RESTS], &[I::Nop, sets(0), RESTS]];
    let properties = [
        r#"Always("a.pc == 2 -> (a.write(PORTB) || b.PORTB.0 == 1)")"#,
        r#"Ltl("G (a.write(PORTB) -> (a.write(PORTB) W (a.pc == 4 || b.PORTB.0 == 1)))")"#,
        r#"Formula("AG (a.write(PORTB) -> A[a.write(PORTB) W (a.pc == 4 || b.PORTB.0 == 1)])")"#,
        r#"Formula("EF (a.pc == 2 && !a.write(PORTB) && b.PORTB.0 == 0)")"#,
    ];
    check(&properties, &programs, "vvvh", (Fault::EventsOverAtOnce, "hhhv"));
}

#[test]
fn a_value_that_is_not_known_may_change_in_a_step_that_concerns_nobody_else() {
    let changes = [I::Com { rd: r(5) }, I::Ldi { rd: r(16), k: 1 }, I::Mov { rd: r(5), rr: r(16) }, RESTS];
    let alone = [
        r#"Ltl("G (a.r5 == 1 -> G a.r5 == 1)")"#,
        r#"Formula("AG (a.r5 == 1 -> AG a.r5 == 1)")"#,
        r#"Formula("EF a.r5 == 1 && A[G (a.r5 == 1 -> G a.r5 == 1)]")"#,
        r#"Formula("!E[F (a.r5 == 1 && F a.r5 != 1)] && EF a.r5 == 1")"#,
    ];
    check(&alone, &[&changes], "uuuu", (Fault::UnknownStays, "hhhh"));
    let beside = [
        r#"Ltl("a.r5 == 1 -> ((a.r5 == 1) W (b.PORTB.0 == 1))")"#,
        r#"Formula("a.r5 == 1 -> A[a.r5 == 1 W b.PORTB.0 == 1]")"#,
    ];
    check(&beside, &[&changes, &[sets(0), RESTS]], "uu", (Fault::UnknownStays, "hh"));
}

#[test]
fn the_past_begins_in_the_state_from_which_runs_are_looked_at() {
    let once: [I; 4] = [sets(1), I::Cbi { io: PORTB, bit: 1 }, sets(0), RESTS];
    let later = [r#"Formula("AG A[F (a.PORTB.0 == 1 && O a.PORTB.1 == 1)]")"#];
    check(&later, &[&once], "u", (Fault::PastGoesOn, "h"));
    let ready = [r#"Formula("AG (a.PORTB.2 == 1 -> A[G (a.PORTB.0 == 1 -> H a.PORTB.1 == 1)])")"#];
    check(&ready, &[&[sets(1), sets(2), sets(0), RESTS]], "h", (Fault::PastGoesOn, "v"));
}
