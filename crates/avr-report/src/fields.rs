//! Fields that several kinds of reports have.

use std::collections::BTreeSet;

use avr_image::Image;
use avr_verify::{Basis, Pass, PropertyResult, Recheck, Survey, Verdict};
use serde::Serialize;

use crate::names::{Names, routine_name};

/// The name and version of the format.
pub const SCHEMA: &str = "avr-tvar/report/1";

#[derive(Serialize)]
pub(crate) struct Firmware<'a> {
    path: &'a str,
    sha256: &'a str,
    format: &'static str,
    device: &'a str,
}

/// The code that the proof reaches.
#[derive(Serialize)]
pub(crate) struct JsonReached {
    /// True if nothing else is reached in any run.
    pub(crate) complete: bool,
    /// The number of instructions that are.
    pub(crate) instructions: usize,
    /// The functions and interrupt handlers, by name.
    pub(crate) routines: Vec<String>,
}

/// The verdict in reports, and the reason where there is none.
pub(crate) fn verdict_name(verdict: &Verdict) -> (&'static str, Option<&str>) {
    match verdict {
        Verdict::Holds => ("holds", None),
        Verdict::Violated => ("violated", None),
        Verdict::Unknown(unknown) => ("unknown", Some(&unknown.reason)),
    }
}

/// The code that is reached, as a survey says.
pub(crate) fn reached(names: &Names<'_>, survey: Option<&Survey>) -> Option<JsonReached> {
    let survey = survey?;
    let routines: BTreeSet<String> = survey.routines.keys().map(|routine| routine_name(names, *routine)).collect();
    let instructions = survey.instructions.len();
    Some(JsonReached { complete: survey.complete, instructions, routines: routines.into_iter().collect() })
}

pub(crate) fn firmware<'a>(image: &'a Image, device: &'a str) -> Firmware<'a> {
    Firmware { path: &image.name, sha256: &image.sha256, format: image.format.name(), device }
}

/// The reductions and domains that took part in a verdict; none where there is none.
pub(crate) fn rests_on(result: &PropertyResult) -> Vec<&'static str> {
    match result.verdict {
        Verdict::Unknown(_) => Vec::new(),
        Verdict::Holds | Verdict::Violated => result.methods.iter().map(|pass| pass.name()).collect(),
    }
}

/// False for a verdict that rests on reductions and facts of state spaces, which no certificate has, and that no run shows; none where
/// there is no verdict.
pub(crate) fn certified(result: &PropertyResult) -> Option<bool> {
    match result.verdict {
        Verdict::Unknown(_) => None,
        Verdict::Holds | Verdict::Violated => {
            let has_proof = |pass: &Pass| {
                matches!(
                    pass,
                    Pass::Invariants | Pass::Claims | Pass::Ranks | Pass::SymbolicExecution | Pass::Predicates
                )
            };
            Some(result.evidence.is_some() || result.methods.iter().all(has_proof))
        }
    }
}

/// The outcome of deciding a property again, as reports have it.
pub(crate) fn recheck_name(recheck: Recheck) -> &'static str {
    match recheck {
        Recheck::Agrees => "agrees",
        Recheck::Undecided => "undecided",
    }
}

/// The name of a basis in reports.
pub(crate) fn basis_name(basis: Basis) -> &'static str {
    match basis {
        Basis::Hardware => "hardware",
        Basis::Model => "model",
    }
}
