//! Recoveries that claims about loops prove, against state spaces.

use crate::pipeline::machine::machine;
use crate::pipeline::property_groups::with_first_looks;
use crate::pipeline::recoveries::{may_prove, recovered};
use crate::random_programs::{CELLS, Code, LONG, PROGRAMS, Random, Unhurried, program, r, with_handlers, with_request};
use crate::{Basis, Continuation, InvariantUse, Pass, PropertyResult, Reductions, Request, Verdict, explained, verify};
use avr_isa::{DataAddress, Instruction as I};
use std::time::Duration;

/// The time for a program.
const SHORT: Duration = Duration::from_secs(2);

const PROPERTIES: [&str; 19] = [
    "EF (mem[0x101] == 1)",
    "EF (mem[0x100] == 1) && AG EF (mem[0x101] == 0)",
    "AG (mem[0x100] == 0)",
    "AG (mem[0x100] < 0x80 || mem[0x101] < 0x80)",
    "AG (EIMSK == 3 -> mem[0x100] == mem[0x101])",
    "AG EF (mem[0x100] == 0)",
    "AG EF (mem[0x100] == 1)",
    "AG (mem[0x100] == 1 -> EF (mem[0x101] == 0))",
    "AG (EF (mem[0x100] == 0) && EF (mem[0x101] == 1))",
    "AG (in_interrupt || EF (EIMSK == 3))",
    "AG EF (mem[0x100] == 1 && mem[0x101] == 1)",
    "AG EF sleeping",
    "AG EF in_interrupt",
    "E[mem[0x100] == 0 U mem[0x101] == 1]",
    "E[!in_interrupt U mem[0x101] == 0] && EF (mem[0x100] == 0)",
    "AG E[mem[0x100] < 0x80 U mem[0x101] == 0]",
    "AG (mem[0x101] == 1 -> E[mem[0x101] == 1 U mem[0x100] == 0])",
    "AG (in_interrupt || !E[false U false] || E[!in_interrupt U mem[0x101] == 0])",
    "AG (mem[0x100] != 0 -> mem[0x101] == 0 || E[mem[0x101] == 1 U EIMSK == 3])",
];

/// The results that claims prove, whatever state spaces say, or a note.
type Recovered = Result<PropertyResult, Option<String>>;

fn by_claims(request: &Request<'_>) -> Vec<Recovered> {
    let machine = machine(request).expect("there are no assumptions");
    let request = Request { invariants: InvariantUse::Find, watch: &Unhurried, ..*request };
    let found = request.find_invariants(&machine).and_then(|sought| sought.found);
    let by_claims = |property| {
        found.as_ref().map_or(Err(None), |found| recovered(&request, (&machine, found), property).map(|one| one.result))
    };
    request.file.properties.iter().map(by_claims).collect()
}

/// The number of properties that claims prove; an error where a state space says something else.
fn proved_alike(words: &[u16]) -> Result<usize, String> {
    with_request(words, &PROPERTIES, Reductions::ALL, SHORT, |request| {
        let without = verify(&Request { invariants: InvariantUse::Off, ..*request }).expect("the properties are bound");
        let mut proved = 0;
        for (one, other) in by_claims(request).iter().zip(&without.properties) {
            if let Ok(one) = one {
                if (&one.verdict, &other.verdict) == (&Verdict::Holds, &Verdict::Violated) {
                    return Err(format!("{} is proved by claims", one.name));
                }
                proved += 1;
            }
        }
        Ok(proved)
    })
}

#[test]
fn state_spaces_say_the_same() {
    let programs = avr_testkit::cases(12, PROGRAMS);
    let mut proved = 0;
    for seed in 0..programs {
        let words = program(&mut Random::new(seed));
        proved += proved_alike(&words).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
    assert!(proved > programs as usize / 2, "claims prove {proved} properties of {programs} programs");
}

/// A program that sets the second cell to 1 and to 0 in turns, each time when a word has counted down from 60000, beside handlers that
/// count in the first one. Or it ends in a loop.
pub(super) fn delaying(is_stuck: bool) -> Vec<u16> {
    let handler = |code: &mut Code, _| {
        code.add(I::Lds { rd: r(16), address: CELLS[0] });
        code.add(I::Inc { rd: r(16) });
        code.add(I::Sts { address: CELLS[0], rr: r(16) });
    };
    with_handlers(handler, |code| {
        let start = code.words.len() as u32;
        for value in [1, 0] {
            code.add(I::Ldi { rd: r(18), k: value });
            code.add(I::Sts { address: CELLS[1], rr: r(18) });
            code.add(I::Ldi { rd: r(24), k: 0x60 });
            code.add(I::Ldi { rd: r(25), k: 0xea });
            code.add(I::Sbiw { rd: r(24), k: 1 });
            code.add(I::Brbc { flag: 1, offset: -2 });
        }
        if is_stuck {
            code.add(I::Rjmp { offset: -1 });
        }
        code.jump(start);
    })
}

/// The result of a property by claims alone.
fn claimed(words: &[u16], property: &str) -> PropertyResult {
    with_request(words, &[property], Reductions::ALL, LONG, |request| {
        by_claims(request).remove(0).expect("it is proved")
    })
}

/// The wait of a program until its handlers have counted so far in the first cell, which is 0 at the start. Then it goes on.
fn awaiting(count: u8, then: fn(&mut Code)) -> Vec<u16> {
    let handler = |code: &mut Code, _| {
        code.add(I::Lds { rd: r(16), address: CELLS[0] });
        code.add(I::Inc { rd: r(16) });
        code.add(I::Sts { address: CELLS[0], rr: r(16) });
    };
    with_handlers(handler, |code| {
        code.add(I::Lds { rd: r(18), address: CELLS[0] });
        code.add(I::Cpi { rd: r(18), k: count });
        code.add(I::Brbs { flag: 0, offset: -4 });
        then(code);
    })
}

/// Sets port B to 1 and ends.
fn set(code: &mut Code) {
    code.add(I::Ldi { rd: r(18), k: 1 });
    code.add(I::Out { io: 5, rr: r(18) });
    code.add(I::Rjmp { offset: -1 });
}

/// Counts down a number of three bytes from its highest value, and then sets port B to 1.
fn counting(code: &mut Code) {
    for register in 24..27 {
        code.add(I::Ldi { rd: r(register), k: 0xff });
    }
    code.add(I::Subi { rd: r(24), k: 1 });
    code.add(I::Sbci { rd: r(25), k: 0 });
    code.add(I::Sbci { rd: r(26), k: 0 });
    code.add(I::Brbc { flag: 1, offset: -4 });
    set(code);
}

#[test]
fn a_run_does_what_claims_say() {
    let result = claimed(&awaiting(100, set), "EF (PORTB == 1)");
    let evidence = result.evidence.expect("there is a run");
    assert!(evidence.replayed && evidence.proved.is_empty());
    assert_eq!((evidence.chosen.len(), evidence.atoms), (100, vec![("PORTB == 1".to_owned(), true)]));
    assert_eq!((result.verdict, result.basis), (Verdict::Holds, Basis::Hardware));
}

#[test]
fn a_long_run_ends_at_the_loop_and_rests_on_its_claim() {
    let mut code = Code::default();
    counting(&mut code);
    for (words, steps, basis) in [(code.words, 3, Basis::Hardware), (awaiting(3, counting), 54, Basis::Model)] {
        let result = claimed(&words, "EF (PORTB == 1)");
        let evidence = result.evidence.expect("there is a run");
        assert_eq!((evidence.steps, evidence.replayed, evidence.is_of_hardware()), (steps, true, true));
        let proved = &evidence.proved[0];
        assert!(proved.starts_with("'EF (PORTB == 1)' holds at the end: the loop at 0x0"), "{proved}");
        assert!(proved.contains("`r26:r24 - 1` falls less than 2^24 times until then"), "{proved}");
        assert_eq!((evidence.reached, evidence.atoms), (None, vec![("PORTB == 1".to_owned(), false)]));
        let Continuation { cells, run } = *evidence.continuation.expect("there is a run from where the loop is left");
        let counter: Vec<(DataAddress, u8)> = [24, 25, 26].map(DataAddress).into_iter().zip([1, 0, 0]).collect();
        assert_eq!(cells.into_iter().collect::<Vec<_>>(), counter);
        assert_eq!((run.steps, run.replayed, run.continuation.is_none()), (6, true, true));
        assert_eq!((run.proved.is_empty(), run.atoms), (true, vec![("PORTB == 1".to_owned(), true)]));
        assert_eq!((result.verdict, result.basis), (Verdict::Holds, basis));
    }
}

/// Counts down and sets port B if pin 0 of port B is high at the start, and ends otherwise. Inputs are low by themselves.
fn choosing() -> Vec<u16> {
    let mut code = Code::default();
    code.add(I::Sbis { io: 3, bit: 0 });
    code.add(I::Rjmp { offset: -1 });
    for register in [24, 25] {
        code.add(I::Ldi { rd: r(register), k: 0x20 });
    }
    code.add(I::Sbiw { rd: r(24), k: 1 });
    code.add(I::Brbc { flag: 1, offset: -2 });
    set(&mut code);
    code.words
}

#[test]
fn a_run_begins_with_the_first_strategies() {
    let result = claimed(&choosing(), "EF (PORTB == 1)");
    let evidence = result.evidence.expect("there is a run");
    assert!(evidence.replayed && evidence.proved.is_empty());
    assert_eq!((result.verdict, evidence.atoms), (Verdict::Holds, vec![("PORTB == 1".to_owned(), true)]));
}

#[test]
fn no_run_is_looked_for_where_something_is_to_hold_until_then() {
    let result = claimed(&choosing(), "E[PORTB == 0 U PORTB == 1]");
    assert_eq!((result.verdict, result.evidence), (Verdict::Holds, None));
    assert_eq!(result.evidence_missing.as_deref(), Some("claims about loops prove it, and no run was looked for"));
}

fn verified(words: &[u16], property: &str, check: impl Fn(&PropertyResult)) {
    with_request(words, &[property], Reductions::ALL, LONG, |request| {
        let request = Request { invariants: InvariantUse::Find, ..*request };
        let few = |verify: fn(&Request<'_>) -> _| with_first_looks(10, || verify(&request));
        for results in [few(verify), few(explained)] {
            check(&results.expect("the property is bound").properties[0]);
        }
    });
}

#[test]
fn what_few_states_leave_open_is_proved_by_claims() {
    for property in ["AG EF (mem[0x101] == 1)", "AG (EF (mem[0x101] == 0) && EF (mem[0x101] == 1))"] {
        verified(&delaying(false), property, |result| {
            assert_eq!((&result.verdict, result.basis), (&Verdict::Holds, Basis::Model), "{result:?}");
            assert_eq!(result.methods, [Pass::Invariants, Pass::Claims]);
            assert!(result.notes.iter().any(|note| note.contains("`r25:r24")), "{:?}", result.notes);
            assert!(matches!(result.clone().strict().verdict, Verdict::Unknown(_)));
        });
    }
}

#[test]
fn what_does_not_recover_is_not_proved() {
    with_request(&delaying(true), &["AG EF (mem[0x101] == 1)"], Reductions::ALL, LONG, |request| {
        let note = by_claims(request).remove(0).expect_err("it is wrong").expect("there is a reason");
        assert!(note.contains("no way out of the loop at 0x"), "{note}");
    });
}

#[test]
fn other_formulas_are_not_taken_for_recoveries() {
    let others = [
        "EF (mem[0x100] == 1) && AG AF EX (mem[0x100] == 0)",
        "EF AG (mem[0x100] == 0)",
        "AG EF AG (mem[0x100] == 0)",
        "AG EF AX (mem[0x100] == 0)",
        "AG AX AF (mem[0x100] == 0)",
        "AG (EF (mem[0x100] == 0) -> mem[0x101] == 0)",
        "!EF (mem[0x100] == 0)",
        "AG (EF (mem[0x100] == 0) <-> mem[0x101] == 0)",
        "AG (EF (mem[0x100] == 0) && mem[0x101] == 0)",
        "EG EF (mem[0x100] == 0)",
        "nu X. (EF (mem[0x100] == 0) && []X)",
        "Inherent()",
        "E[EF (mem[0x100] == 0) U mem[0x101] == 0]",
        "E[mem[0x100] == 0 U EX (mem[0x101] == 0)]",
        "AG !E[mem[0x100] == 0 U mem[0x101] == 0]",
        "AG (E[mem[0x100] == 0 U mem[0x101] == 0] -> mem[0x101] == 0)",
        "E[mem[0x100] == 0 W mem[0x101] == 0]",
        "E[mem[0x100] == 0 R mem[0x101] == 0]",
        "mu X. (mem[0x101] == 0 || mem[0x100] == 0 && <>X)",
    ];
    with_request(&delaying(false), &[&PROPERTIES[..], &others].concat(), Reductions::ALL, LONG, |request| {
        for (number, property) in request.file.properties.iter().enumerate() {
            assert_eq!(may_prove(request, property), number < PROPERTIES.len(), "{}", property.name());
        }
    });
}

/// A program that reads two words of inputs again and again, and sets port B to 1 if the first is less than the second, and, if it is to
/// contradict itself, is not less.
fn comparing(contradicts: bool) -> Vec<u16> {
    let mut code = Code::default();
    for (register, io) in [(24, 3), (25, 9), (22, 3), (23, 9)] {
        code.add(I::In { rd: r(register), io });
    }
    code.add(I::Ldi { rd: r(18), k: 0 });
    code.add(I::Cp { rd: r(24), rr: r(22) });
    code.add(I::Cpc { rd: r(25), rr: r(23) });
    code.add(I::Brbc { flag: 0, offset: if contradicts { 4 } else { 1 } });
    if contradicts {
        code.add(I::Cp { rd: r(24), rr: r(22) });
        code.add(I::Cpc { rd: r(25), rr: r(23) });
        code.add(I::Brbs { flag: 0, offset: 1 });
    }
    code.add(I::Ldi { rd: r(18), k: 1 });
    code.add(I::Out { io: 5, rr: r(18) });
    code.jump(0);
    code.words
}

#[test]
fn words_that_are_compared_with_each_other_are_decided() {
    let check = |contradicts: bool, property: &str, expected: &Verdict, by: Option<Pass>| {
        with_request(&comparing(contradicts), &[property], Reductions::ALL, LONG, |request| {
            let request = Request { invariants: InvariantUse::Find, ..*request };
            let result = verify(&request).expect("the property is bound").properties.remove(0);
            assert_eq!((&result.verdict, result.basis), (expected, Basis::Hardware), "{property}: {result:?}");
            assert!(by.is_none_or(|by| result.methods.contains(&by)), "{property}: {:?}", result.methods);
        });
    };
    check(true, "AG (PORTB != 1)", &Verdict::Holds, Some(Pass::SymbolicExecution));
    check(false, "AG (PORTB != 1)", &Verdict::Violated, None);
    check(false, "AG EF (PORTB == 1)", &Verdict::Holds, Some(Pass::Claims));
    check(false, "AG EF (PORTB == 0)", &Verdict::Holds, None);
}
