//! Claims that are true are proved, the others are refuted by a counterexample that the machine confirms.

use super::loops::{Case, all};
use crate::faults::{Fault, with_fault};
use crate::{CheckLimits, Checked, ExecutionLimits, Executor, QueryLimits, Unanswered, Undecided};

/// The verdict of a check.
fn verdict(case: &Case) -> Result<bool, Undecided> {
    let limits = ExecutionLimits { outcomes: 300, steps: 5_000, ..ExecutionLimits::default() };
    match case.claim.check(&Executor::new(&case.machine, limits), CheckLimits::default()) {
        Checked::Proved(_) => Ok(true),
        Checked::Refuted(_) => Ok(false),
        Checked::Undecided(reason) => Err(reason),
    }
}

#[test]
fn claims_are_proved_if_they_are_true() {
    let wrong: Vec<String> = all()
        .iter()
        .map(|case| (case, verdict(case)))
        .filter(|(case, found)| found.clone().ok() != case.is_true)
        .map(|(case, found)| format!("{}: {found:?}", case.name))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_fault_is_found() {
    let cases = all();
    for fault in Fault::ALL {
        let finds = |case: &&Case| with_fault(*fault, || verdict(case).ok() != case.is_true);
        assert!(cases.iter().any(|case| finds(&case)), "{fault:?}");
    }
}

#[test]
fn claims_are_undecided_at_limits() {
    let case = all().into_iter().find(|case| case.name == "ticks").expect("it is there");
    let check = |limits, execution| case.claim.check(&Executor::new(&case.machine, execution), limits);
    let limits = CheckLimits::default();
    for few in [
        CheckLimits { nodes: 3_000, ..limits },
        CheckLimits { query: QueryLimits { steps: 1, ..limits.query }, ..limits },
        CheckLimits { query: QueryLimits { nodes: 50, ..limits.query }, ..limits },
    ] {
        assert!(matches!(check(few, ExecutionLimits::default()), Checked::Undecided(_)), "{few:?}");
    }
    for few in [
        ExecutionLimits { steps: 5, ..ExecutionLimits::default() },
        ExecutionLimits { outcomes: 0, ..ExecutionLimits::default() },
    ] {
        assert!(matches!(check(limits, few), Checked::Undecided(_)), "{few:?}");
    }
}

#[test]
fn proofs_tell_the_freedom_that_they_use() {
    let proof = |name: &str| {
        let case = all().into_iter().find(|case| case.name == name).expect("it is there");
        match case.claim.check(&Executor::new(&case.machine, ExecutionLimits::default()), CheckLimits::default()) {
            Checked::Proved(proof) => proof.freedom,
            Checked::Refuted(_) => panic!("{name} is refuted"),
            Checked::Undecided(reason) => panic!("{name}: {reason}"),
        }
    };
    let freedom = proof("a counter");
    assert!(!freedom.inputs && !freedom.events && !freedom.hardware);
    let freedom = proof("a pin that is held");
    assert!(freedom.inputs && !freedom.events && !freedom.hardware);
    let freedom = proof("ticks");
    assert!(!freedom.inputs && freedom.hardware);
}

#[test]
fn claims_without_meaning_are_undecided() {
    let case = all().remove(0);
    let executor = Executor::new(&case.machine, ExecutionLimits::default());
    let check = |change: &dyn Fn(&mut crate::Claim)| {
        let mut claim = case.claim.clone();
        change(&mut claim);
        match claim.check(&executor, CheckLimits::default()) {
            Checked::Undecided(reason) => reason,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(check(&|claim| claim.rank.0.clear()), Undecided::Malformed);
    assert_eq!(check(&|claim| claim.rounds.clear()), Undecided::Malformed);
    assert_eq!(check(&|claim| claim.rounds[0].count = 0), Undecided::Malformed);
    let narrow =
        |claim: &mut crate::Claim| claim.rank.0 = vec![crate::Term::Constant(1, 1).minus(crate::Term::Constant(1, 2))];
    assert_eq!(check(&narrow), Undecided::Malformed);
    let none = CheckLimits { query: QueryLimits { steps: 1, nodes: 1 }, ..CheckLimits::default() };
    match case.claim.check(&executor, none) {
        Checked::Undecided(Undecided::Unanswered(Unanswered::Nodes | Unanswered::Steps)) => {}
        other => panic!("{other:?}"),
    }
}
