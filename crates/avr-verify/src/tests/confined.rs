//! Runs into closed sets, against state spaces.

use super::recoveries::delaying;
use crate::pipeline::confined::{confined_within, may_be_confined};
use crate::pipeline::machine::machine;
use crate::pipeline::property_groups::with_first_looks;
use crate::random_programs::{CELLS, Code, LONG, PROGRAMS, Random, Unhurried, program, r, with_request};
use crate::{Basis, InvariantUse, Pass, Reductions, Request, Verdict, explained, verify};
use avr_invariant::faults::{Fault, with_fault};
use avr_isa::Instruction as I;
use std::time::Duration;

/// The time for the state space of a program.
const SHORT: Duration = Duration::from_secs(2);

/// The same where it has to be finished, on a busy machine too.
const LONGER: Duration = Duration::from_secs(30);

/// The steps of random runs of a program.
const STEPS: u64 = 10_000;

const PROPERTIES: [&str; 7] = [
    "AG EF (mem[0x100] == 0)",
    "AG EF (mem[0x100] == 1)",
    "AG (mem[0x100] == 1 -> EF (mem[0x101] == 0))",
    "AG (EF (mem[0x100] == 0) && EF (mem[0x101] == 1))",
    "AG (mem[0x101] == 0 -> in_interrupt -> EF (EIMSK == 3))",
    "AG EF sleeping && AG EF (mem[0x100] < mem[0x101])",
    "AG EF in_interrupt",
];

/// The number of properties that runs into closed sets violate; an error where a state space says something else.
fn violated_alike(words: &[u16], limit: Duration) -> Result<usize, String> {
    with_request(words, &PROPERTIES, Reductions::ALL, limit, |request| {
        let machine = machine(request).expect("there are no assumptions");
        let unhurried = Request { watch: &Unhurried, ..*request };
        let found = request.file.properties.iter().map(|one| confined_within(&unhurried, &machine, one, STEPS));
        let found: Vec<_> = found.collect();
        let count = found.iter().flatten().count();
        if count == 0 {
            return Ok(0);
        }
        let without = verify(&Request { invariants: InvariantUse::Off, ..*request }).expect("the properties are bound");
        for (one, other) in
            found.iter().zip(&without.properties).filter_map(|(one, other)| Some((one.as_ref()?, other)))
        {
            if one.verdict != Verdict::Violated || other.verdict == Verdict::Holds {
                return Err(format!("{}: {:?}, and {:?}", one.name, one.verdict, other.verdict));
            }
        }
        Ok(count)
    })
}

#[test]
fn state_spaces_say_the_same() {
    let programs = avr_testkit::cases(16, PROGRAMS);
    let mut violated = 0;
    for seed in 0..programs {
        let words = program(&mut Random::new(seed));
        violated += violated_alike(&words, SHORT).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
    assert!(violated > programs as usize / 4, "{violated} properties of {programs} programs are violated");
}

#[test]
fn state_spaces_find_faults() {
    for fault in [Fault::InterferenceForgotten, Fault::ClosedAtJumps, Fault::StartForgotten] {
        let is_found = |seed: u64| {
            let words = program(&mut Random::new(seed));
            with_fault(fault, || violated_alike(&words, LONGER)).is_err()
        };
        assert!((92..96).any(is_found), "{fault:?} is not found");
    }
}

#[test]
fn a_run_into_a_closed_set_violates() {
    for property in ["AG EF (mem[0x101] == 1)", "AG (mem[0x101] == 0 -> EF (mem[0x101] == 1))"] {
        with_request(&delaying(true), &[property], Reductions::ALL, LONG, |request| {
            let request = Request { invariants: InvariantUse::Find, ..*request };
            let few = |verify: fn(&Request<'_>) -> _| with_first_looks(10, || verify(&request));
            for results in [few(verify), few(explained)] {
                let result = results.expect("the property is bound").properties.remove(0);
                assert_eq!(result.verdict, Verdict::Violated, "{property}: {result:?}");
                let basis = (result.basis, &result.methods[..]);
                assert_eq!(basis, (Basis::Hardware, &[Pass::RandomSearch, Pass::Invariants][..]));
                let evidence = result.evidence.expect("there is a run");
                assert!(evidence.replayed && evidence.proved[0].contains("EF (mem[0x101] == 1)"), "{evidence:?}");
                assert!(result.notes.iter().any(|note| note.contains("are a closed set")), "{:?}", result.notes);
            }
        });
    }
}

#[test]
fn what_can_be_left_is_not_violated() {
    with_request(&delaying(false), &["AG EF (mem[0x101] == 1)"], Reductions::ALL, LONG, |request| {
        let machine = machine(request).expect("there are no assumptions");
        assert!(confined_within(request, &machine, &request.file.properties[0], 100_000).is_none());
    });
}

#[test]
fn what_is_unknown_in_a_closed_set_may_be_reached() {
    // Two inputs are stored again and again; random runs do not hit the two values.
    let mut code = Code::default();
    for (cell, io) in [(CELLS[0], 3), (CELLS[1], 9)] {
        code.add(I::In { rd: r(18), io });
        code.add(I::Sts { address: cell, rr: r(18) });
    }
    code.jump(0);
    let property = "AG EF (mem[0x100] == 0x5a && mem[0x101] == 0xc3)";
    with_request(&code.words, &[property], Reductions::ALL, LONG, |request| {
        let machine = machine(request).expect("there are no assumptions");
        assert!(confined_within(request, &machine, &request.file.properties[0], STEPS).is_none());
    });
}

#[test]
fn other_formulas_are_not_looked_at() {
    let others = [
        "EF (mem[0x100] == 1)",
        "EF (mem[0x100] == 1) && EF (mem[0x100] == 0)",
        "EF AG (mem[0x100] == 0)",
        "AG EF AG (mem[0x100] == 0)",
        "AG AF (mem[0x100] == 0)",
        "AG (EF (mem[0x100] == 0) -> mem[0x101] == 0)",
        "AG (EF (mem[0x100] == 0) || mem[0x101] == 0)",
        "EG EF (mem[0x100] == 0)",
        "!EF (mem[0x100] == 0)",
        "Inherent()",
    ];
    with_request(&delaying(false), &[&PROPERTIES[..], &others].concat(), Reductions::ALL, LONG, |request| {
        for (number, property) in request.file.properties.iter().enumerate() {
            assert_eq!(may_be_confined(request, property), number < PROPERTIES.len(), "{}", property.name());
        }
    });
}
