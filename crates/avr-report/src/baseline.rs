//! What changed since an older report.

use std::collections::BTreeSet;

use avr_verify::{Basis, PropertyResult, Results, StackBound};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::json::{SCHEMA, basis_name, reached};
use crate::names::Names;
use crate::report::verdict_name;

/// An older report, as far as it is compared.
#[derive(Clone, Debug, Deserialize)]
pub struct Baseline {
    schema: String,
    firmware: OldFirmware,
    results: Vec<OldResult>,
    stack: OldStack,
    #[serde(default)]
    reached: Option<OldReached>,
}

#[derive(Clone, Debug, Deserialize)]
struct OldFirmware {
    path: String,
    sha256: String,
}

#[derive(Clone, Debug, Deserialize)]
struct OldResult {
    name: String,
    kind: String,
    verdict: String,
    basis: String,
}

#[derive(Clone, Debug, Deserialize)]
struct OldStack {
    lower: Option<u32>,
    upper: Option<u32>,
}

#[derive(Clone, Debug, Deserialize)]
struct OldReached {
    complete: bool,
    routines: Vec<String>,
}

/// Why a file is no older report.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BaselineError {
    /// It is no JSON, or not what a report has; with the place.
    #[error("is no report in JSON: {0}")]
    Form(String),
    /// It is of another kind or version.
    #[error("has the schema '{0}', not '{SCHEMA}'")]
    Schema(String),
}

/// A property whose verdict is another than before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerdictChange {
    /// The name of the property.
    pub name: String,
    /// The verdict in the older report; none if the property is new.
    pub before: Option<String>,
    /// The verdict now; none if the property is gone.
    pub after: Option<String>,
    /// Whether less is proved than before.
    pub regression: bool,
}

/// What changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// The path of the firmware in the older report.
    pub firmware: String,
    /// Whether the firmware is the same, byte by byte.
    pub same_firmware: bool,
    /// Verdicts, in the order of the properties; those of properties that are gone last.
    pub verdicts: Vec<VerdictChange>,
    /// The upper bounds of the stack before and now, where they differ.
    pub stack: Option<(Option<u32>, Option<u32>)>,
    /// Whether no bound is known that is as good as the one before.
    pub stack_regression: bool,
    /// Functions and handlers that are reached now and were not before.
    pub appeared: Vec<String>,
    /// Functions and handlers that were reached before and are not now.
    pub disappeared: Vec<String>,
    /// Whether both reports know all routines that are reached; if not, the lists may be wrong.
    pub reached_known: bool,
}

impl Baseline {
    /// Reads a report that `--format json` wrote.
    ///
    /// # Errors
    /// When it is something else.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let baseline: Self = serde_json::from_str(text).map_err(|error| BaselineError::Form(error.to_string()))?;
        if baseline.schema == SCHEMA { Ok(baseline) } else { Err(BaselineError::Schema(baseline.schema)) }
    }

    /// What is different in the results for an image on a device.
    pub(crate) fn changes(&self, names: &Names<'_>, results: &Results) -> Changes {
        let upper = results.stack.upper;
        let now = reached(names, results.survey.as_ref());
        let (appeared, disappeared, reached_known) = match (&self.reached, &now) {
            (Some(before), Some(now)) => {
                let of = |names: &[String]| names.iter().cloned().collect::<BTreeSet<String>>();
                let (old, new) = (of(&before.routines), of(&now.routines));
                let appeared = new.difference(&old).cloned().collect();
                (appeared, old.difference(&new).cloned().collect(), before.complete && now.complete)
            }
            _ => (Vec::new(), Vec::new(), false),
        };
        Changes {
            firmware: self.firmware.path.clone(),
            same_firmware: self.firmware.sha256 == names.image.sha256,
            verdicts: self.verdicts(&results.properties),
            stack: (upper != self.stack.upper).then_some((self.stack.upper, upper)),
            stack_regression: is_worse(&self.stack, results.stack),
            appeared,
            disappeared,
            reached_known,
        }
    }

    /// What is different in the verdicts. Of properties with the same name and kind the first stands for the first.
    fn verdicts(&self, now: &[PropertyResult]) -> Vec<VerdictChange> {
        let mut old: Vec<Option<&OldResult>> = self.results.iter().map(Some).collect();
        let mut changes = Vec::new();
        for result in now {
            let same = |one: &&mut Option<&OldResult>| {
                one.is_some_and(|one| one.name == result.name && one.kind == result.kind)
            };
            let before = old.iter_mut().find(same).and_then(Option::take);
            changes.extend(change(before, result));
        }
        changes.extend(old.into_iter().flatten().map(|gone| VerdictChange {
            name: gone.name.clone(),
            before: Some(gone.verdict.clone()),
            after: None,
            regression: gone.verdict == "holds",
        }));
        changes
    }
}

/// What is different in one verdict. What holds about the hardware proves more than what holds in the model.
fn change(before: Option<&OldResult>, now: &PropertyResult) -> Option<VerdictChange> {
    let described = |verdict: &str, basis: &str| match (verdict, basis) {
        ("unknown", _) | (_, "hardware") => verdict.to_owned(),
        _ => format!("{verdict} in the model"),
    };
    let after = verdict_name(&now.verdict).0;
    let new = described(after, basis_name(now.basis));
    let Some(before) = before else {
        return Some(VerdictChange { name: now.name.clone(), before: None, after: Some(new), regression: false });
    };
    let old = described(&before.verdict, &before.basis);
    let is_of_hardware = now.basis == Basis::Hardware;
    let regression = rank(after, is_of_hardware) < rank(&before.verdict, before.basis == "hardware");
    (old != new).then(|| VerdictChange { name: now.name.clone(), before: Some(old), after: Some(new), regression })
}

/// How good a verdict is.
fn rank(verdict: &str, is_of_hardware: bool) -> u8 {
    match (verdict, is_of_hardware) {
        ("holds", true) => 3,
        ("holds", false) => 2,
        ("violated", _) => 0,
        _ => 1,
    }
}

fn is_worse(before: &OldStack, now: StackBound) -> bool {
    match (before.upper, now.upper) {
        (Some(before), Some(now)) => now > before,
        (Some(_), None) => true,
        // Without an upper bound before, the depth that some run reaches must not grow.
        (None, _) => before.lower.is_some_and(|before| now.lower.is_some_and(|now| now > before)),
    }
}

impl Changes {
    /// Whether less is proved than before: a verdict got worse, a property that held is gone, or the stack may get deeper.
    #[must_use]
    pub fn has_regressions(&self) -> bool {
        self.stack_regression || self.verdicts.iter().any(|change| change.regression)
    }

    /// All changes as sentences without full stops.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let mut all = Vec::new();
        if self.same_firmware {
            all.push("the firmware is the same".to_owned());
        }
        for VerdictChange { name, before, after, regression } in &self.verdicts {
            let worse = if *regression { "worse: " } else { "" };
            all.push(match (before, after) {
                (Some(before), Some(after)) => format!("{worse}'{name}' was {before} and is {after}"),
                (None, Some(after)) => format!("'{name}' is new: {after}"),
                (Some(before), None) => format!("{worse}'{name}' is gone: it was {before}"),
                (None, None) => continue,
            });
        }
        let bytes = |bytes: Option<u32>| bytes.map_or("not known".to_owned(), |bytes| format!("{bytes} bytes"));
        if let Some((before, after)) = self.stack {
            let worse = if self.stack_regression { "worse: " } else { "" };
            all.push(format!("{worse}the stack was at most {} and is at most {}", bytes(before), bytes(after)));
        } else if self.stack_regression {
            all.push("worse: some run needs more stack than before".to_owned());
        }
        let doubt = if self.reached_known { "" } else { ", as far as is known" };
        all.extend(self.appeared.iter().map(|name| format!("the proof reaches {name}, and did not before{doubt}")));
        all.extend(self.disappeared.iter().map(|name| format!("{name} is not reached any more{doubt}")));
        if all.is_empty() {
            all.push("nothing changed".to_owned());
        }
        all
    }
}
