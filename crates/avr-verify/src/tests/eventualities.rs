//! Eventualities that ranks prove, against state spaces.

use crate::pipeline::machine::machine;
use crate::pipeline::property_groups::with_first_looks;
use crate::pipeline::recoveries::{may_prove, recovered};
use crate::random_programs::{CELLS, Code, LONG, PROGRAMS, Random, Unhurried, program, r, with_handlers, with_request};
use crate::{Basis, InvariantUse, Pass, PropertyResult, Reductions, Request, Verdict, explained, verify};
use avr_isa::Instruction as I;
use std::time::Duration;

/// The time for a program.
const SHORT: Duration = Duration::from_secs(2);

const PROPERTIES: [&str; 13] = [
    "AF (mem[0x100] == 1)",
    "AF (EIMSK == 3)",
    "AG AF (mem[0x100] == 0)",
    "AG AF (mem[0x101] == 1)",
    "AG AF !in_interrupt",
    "InfinitelyOften(check: \"EIMSK == 3\")",
    "Response(after: \"mem[0x100] == 1\", eventually: \"mem[0x101] == 0\")",
    "Until(holds: \"mem[0x100] == 0\", until: \"EIMSK != 0\")",
    "AG (mem[0x100] == 1 || A[mem[0x101] < 0x80 U mem[0x101] == 0])",
    "AG (AF (mem[0x100] == 0) && (mem[0x101] == 1 -> AF (mem[0x101] == 0)))",
    "Formula(check: \"AG AF (mem[0x100] == 1)\", under: [\"G F interrupt(INT0)\"])",
    "Formula(check: \"AF (mem[0x101] == 1)\", under: [\"G F interrupt(INT0)\", \"G F interrupt(INT1)\"])",
    "Response(after: \"mem[0x100] == 1\", eventually: \"mem[0x101] == 1\", under: [\"G F interrupt(INT1)\"])",
];

/// The results that claims prove, whatever state spaces say, or a note.
type Recovered = Result<PropertyResult, Option<String>>;

fn by_claims(request: &Request<'_>) -> Vec<Recovered> {
    let machine = machine(request).expect("there are no assumptions");
    let request = Request { invariants: InvariantUse::Find, watch: &Unhurried, ..*request };
    let found = request.find_invariants(&machine).and_then(|sought| sought.found);
    let by_claims = |property| {
        found.as_ref().map_or(Err(None), |found| {
            recovered(&request, (&machine, found), property).map(|recovered| recovered.result)
        })
    };
    request.file.properties.iter().map(by_claims).collect()
}

/// The number of properties that claims prove, and of those that are true; an error where a state space says something else.
fn proved_alike(words: &[u16]) -> Result<(usize, usize), String> {
    with_request(words, &PROPERTIES, Reductions::ALL, SHORT, |request| {
        let without = verify(&Request { invariants: InvariantUse::Off, ..*request }).expect("the properties are bound");
        let (mut proved, mut are_true) = (0, 0);
        for (one, other) in by_claims(request).iter().zip(&without.properties) {
            are_true += usize::from(other.verdict == Verdict::Holds);
            if let Ok(one) = one {
                if (&one.verdict, &other.verdict) == (&Verdict::Holds, &Verdict::Violated) {
                    return Err(format!("{} is proved by claims", one.name));
                }
                proved += 1;
            }
        }
        Ok((proved, are_true))
    })
}

#[test]
fn state_spaces_say_the_same() {
    let programs = avr_testkit::cases(12, PROGRAMS);
    let (mut proved, mut are_true) = (0, 0);
    for seed in 0..programs {
        let words = program(&mut Random::new(seed));
        let of_one = proved_alike(&words).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        (proved, are_true) = (proved + of_one.0, are_true + of_one.1);
    }
    assert!(proved * 3 > are_true && proved > programs as usize, "claims prove {proved}, {are_true} are true");
}

/// A program that sets the second cell to 1 and to 0 in turns, each time when a word has counted down from 60000, beside handlers that
/// count in the first one, or set the word in the middle of it.
fn delaying(is_set_back: bool) -> Vec<u16> {
    let handler = |code: &mut Code, _| {
        code.add(I::Lds { rd: r(16), address: CELLS[0] });
        code.add(I::Inc { rd: r(16) });
        code.add(I::Sts { address: CELLS[0], rr: r(16) });
        if is_set_back {
            code.add(I::Ldi { rd: r(25), k: 0x80 });
        }
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
        code.jump(start);
    })
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
fn what_few_states_leave_open_is_proved_by_ranks() {
    for property in ["AG AF (mem[0x101] == 1)", "AG (mem[0x101] == 1 -> AF (mem[0x101] == 0))"] {
        verified(&delaying(false), property, |result| {
            assert_eq!((&result.verdict, result.basis), (&Verdict::Holds, Basis::Hardware), "{result:?}");
            assert_eq!(result.methods, [Pass::Invariants, Pass::Ranks]);
            assert!(result.notes.iter().any(|note| note.contains("`r25:r24")), "{:?}", result.notes);
            assert_eq!(result.clone().strict().verdict, Verdict::Holds);
        });
    }
}

#[test]
fn a_handler_that_sets_a_count_back_postpones_its_end() {
    with_request(&delaying(true), &["AG AF (mem[0x101] == 1)"], Reductions::ALL, LONG, |request| {
        let note = by_claims(request).remove(0).expect_err("it is wrong").expect("there is a reason");
        assert!(note.contains("no way out of the loop at 0x"), "{note}");
    });
}

/// A program that waits until handlers have counted to 100 in the first cell, and then sets the second one to 1.
fn waiting() -> Vec<u16> {
    let handler = |code: &mut Code, _| {
        code.add(I::Lds { rd: r(16), address: CELLS[0] });
        code.add(I::Inc { rd: r(16) });
        code.add(I::Sts { address: CELLS[0], rr: r(16) });
    };
    with_handlers(handler, |code| {
        code.add(I::Lds { rd: r(18), address: CELLS[0] });
        code.add(I::Cpi { rd: r(18), k: 100 });
        code.add(I::Brbs { flag: 0, offset: -4 });
        code.add(I::Ldi { rd: r(18), k: 1 });
        code.add(I::Sts { address: CELLS[1], rr: r(18) });
        code.add(I::Rjmp { offset: -1 });
    })
}

#[test]
fn what_waits_for_an_interrupt_comes_under_its_fairness() {
    verified(&waiting(), "AF (mem[0x101] == 1)", |result| {
        assert_ne!(result.verdict, Verdict::Holds, "{result:?}");
        let suggested = "it holds with `under: [\"G F interrupt(INT0)\"]`";
        assert!(result.notes.iter().any(|note| note == suggested), "{:?}", result.notes);
    });
    let fairly = "Formula(check: \"AF (mem[0x101] == 1)\", under: [\"G F interrupt(INT0)\"])";
    verified(&waiting(), fairly, |result| {
        assert_eq!((&result.verdict, result.basis), (&Verdict::Holds, Basis::Model), "{result:?}");
        assert!(result.notes.iter().any(|note| note.ends_with("or stays until INT0 comes")), "{:?}", result.notes);
    });
}

#[test]
fn other_formulas_are_not_taken_for_eventualities() {
    let others = [
        "AF AG (mem[0x100] == 0)",
        "AG AF EF (mem[0x100] == 0) && AF AX (mem[0x100] == 0)",
        "EF AF (mem[0x100] == 0)",
        "AG (AF (mem[0x100] == 0) -> mem[0x101] == 0)",
        "!AF (mem[0x100] == 0)",
        "AG (AF (mem[0x100] == 0) || AF (mem[0x101] == 0))",
        "A[mem[0x100] == 0 W mem[0x101] == 0]",
        "A[AF (mem[0x100] == 0) U mem[0x101] == 0]",
        "mem[0x100] == 0 -> AF (mem[0x101] == 0)",
        "EG AF (mem[0x100] == 0)",
        "AG AX AF (mem[0x100] == 0)",
        "Formula(check: \"AG AF (mem[0x100] == 1)\", under: [\"G F (mem[0x101] == 0)\"])",
        "Formula(check: \"AG AF (mem[0x100] == 1)\", under: [\"F G interrupt(INT0)\"])",
        "Formula(check: \"AG EF (mem[0x100] == 1)\", under: [\"G F interrupt(INT0)\"])",
    ];
    with_request(&delaying(false), &[&PROPERTIES[..], &others].concat(), Reductions::ALL, LONG, |request| {
        for (number, property) in request.file.properties.iter().enumerate() {
            assert_eq!(may_prove(request, property), number < PROPERTIES.len(), "{}", property.name());
        }
    });
}
