//! Exit codes.

use std::process::ExitCode;

use avr_verify::{Finding, Results, Verdict};

use crate::options::Deny;

/// The outcome of a run, as the exit code tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: every property holds; what a certificate claims is proved.
    Holds,
    /// 1: a property is violated; a certificate is rejected.
    Violated,
    /// 2: the command line or a file is wrong.
    Input,
    /// 3: no property is violated, and one has no answer.
    Unknown,
    /// 4: this program failed, or a check of itself did.
    Internal,
    /// 130: the user interrupted the run.
    Interrupted,
}

impl Exit {
    /// The code that results come to. Of several that apply the first of 4, 130, 1, 3, 0 wins. A property that holds
    /// vacuously counts as violated where that is denied, and so does a finding. A store outside of its object that a run of the
    /// hardware shows counts always.
    #[must_use]
    pub fn of(results: &Results, deny: &[Deny]) -> Self {
        let verdicts = || results.properties.iter().map(|result| &result.verdict);
        if verdicts().any(|verdict| matches!(verdict, Verdict::Unknown(unknown) if unknown.self_check_failed)) {
            Self::Internal
        } else if results.interrupted {
            Self::Interrupted
        } else if verdicts().any(|verdict| *verdict == Verdict::Violated) || is_denied(results, deny) {
            Self::Violated
        } else if verdicts().any(|verdict| matches!(verdict, Verdict::Unknown(_))) {
            Self::Unknown
        } else {
            Self::Holds
        }
    }

    /// The number.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Holds => 0,
            Self::Violated => 1,
            Self::Input => 2,
            Self::Unknown => 3,
            Self::Internal => 4,
            Self::Interrupted => 130,
        }
    }
}

/// True if something counts as violated that is no property.
fn is_denied(results: &Results, deny: &[Deny]) -> bool {
    let is_vacuous = || results.properties.iter().any(|result| result.vacuous.is_some());
    let has_finding = || results.findings.iter().any(|finding| finding.allowed.is_none());
    results.findings.iter().any(Finding::is_fault)
        || deny.contains(&Deny::Vacuous) && is_vacuous()
        || deny.contains(&Deny::Findings) && has_finding()
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

#[cfg(test)]
mod tests {
    use super::{Deny, Exit, Finding};
    use avr_verify::{Basis, PropertyResult, Results, StackBound, Statistics, Unknown, Vacuity, Verdict};

    fn result(verdict: Verdict) -> PropertyResult {
        PropertyResult {
            name: String::new(),
            kind: String::new(),
            formula: String::new(),
            verdict,
            detail: None,
            evidence: None,
            evidence_missing: None,
            vacuous: None,
            explanation: None,
            notes: Vec::new(),
            promises: Vec::new(),
            basis: Basis::Hardware,
            methods: Vec::new(),
            predicates: Vec::new(),
            recheck: None,
            statistics: Statistics::default(),
        }
    }

    fn results(properties: Vec<PropertyResult>, interrupted: bool) -> Results {
        Results {
            properties,
            findings: Vec::new(),
            stack: StackBound::default(),
            stacks: Vec::new(),
            survey: None,
            assumptions: Vec::new(),
            ended_paths: std::collections::BTreeMap::new(),
            interrupted,
            passes: 1,
            last_pass: std::time::Duration::ZERO,
            exploration: None,
            invariants: None,
            contracts: Vec::new(),
        }
    }

    /// `verdicts` has a letter for each property: h, v, u, or f for a failed self-check.
    #[track_caller]
    fn check(verdicts: &str, interrupted: bool, expected: u8) {
        let verdict = |letter| match letter {
            'h' => Verdict::Holds,
            'v' => Verdict::Violated,
            'u' => Verdict::Unknown(Unknown::because("limit")),
            _ => Verdict::Unknown(Unknown::failed_self_check("")),
        };
        let properties = verdicts.chars().map(|letter| result(verdict(letter))).collect();
        let results = results(properties, interrupted);
        assert_eq!(Exit::of(&results, &[]).code(), expected, "{verdicts} {interrupted}");
    }

    #[test]
    fn the_first_of_several_codes_wins() {
        check("", false, 0);
        check("hh", false, 0);
        check("hu", false, 3);
        check("hv", false, 1);
        check("uvh", false, 1);
        check("fv", false, 4);
        check("hh", true, 130);
        check("vu", true, 130);
        check("vf", true, 4);
    }

    #[test]
    fn findings_count_where_they_are_denied_and_stores_that_runs_show_always() {
        use avr_properties::FindingKind;
        use avr_verify::Certainty;
        let check = |kind, certainty, allowed: Option<&str>, expected: [Exit; 2]| {
            let allowed = allowed.map(str::to_owned);
            let finding = Finding { kind, certainty, pc: 0, text: String::new(), evidence: None, allowed };
            let results = Results { findings: vec![finding], ..results(vec![result(Verdict::Holds)], false) };
            assert_eq!([Exit::of(&results, &[]), Exit::of(&results, &[Deny::Findings])], expected);
        };
        let (store, torn) = (FindingKind::OutOfObject, FindingKind::TornAccess);
        check(store, Certainty::Replayed, None, [Exit::Violated, Exit::Violated]);
        check(store, Certainty::Possible, None, [Exit::Holds, Exit::Violated]);
        check(torn, Certainty::Replayed, None, [Exit::Holds, Exit::Violated]);
        check(store, Certainty::Replayed, Some("why"), [Exit::Holds, Exit::Holds]);
        check(torn, Certainty::Possible, Some("why"), [Exit::Holds, Exit::Holds]);
    }

    #[test]
    fn vacuity_counts_where_it_is_denied() {
        let vacuous = Vacuity { subformula: "p".to_owned(), replaced_by: false, part: Some(0) };
        let mut results = results(vec![result(Verdict::Holds)], false);
        assert_eq!(Exit::of(&results, &[Deny::Vacuous]), Exit::Holds);
        results.properties[0].vacuous = Some(vacuous);
        assert_eq!(Exit::of(&results, &[]), Exit::Holds);
        assert_eq!(Exit::of(&results, &[Deny::Vacuous]), Exit::Violated);
    }
}
