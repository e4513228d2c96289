//! Changes since an older report.

mod difference;

use std::collections::BTreeSet;

use avr_properties::{Specification, StackLimit};
use avr_verify::{Basis, PropertyResult, Results, StackBound};
pub use difference::{Difference, Effect};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::fields::{SCHEMA, basis_name, reached, verdict_name};
use crate::names::Names;
use crate::specification::{PropertyData, SpecificationData};

/// An older report, as far as it is compared.
#[derive(Clone, Debug, Deserialize)]
pub struct Baseline {
    schema: String,
    firmware: OldFirmware,
    results: Vec<OldResult>,
    stack: OldStack,
    #[serde(default)]
    reached: Option<OldReached>,
    #[serde(default)]
    specification: Option<SpecificationData>,
    /// The names of regressions that are accepted.
    #[serde(skip)]
    accepted: BTreeSet<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct OldFirmware {
    path: String,
    sha256: String,
    #[serde(default)]
    device: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct OldResult {
    name: String,
    kind: String,
    #[serde(default)]
    formula: Option<String>,
    verdict: String,
    basis: String,
    /// None if the report does not say, null if it says that nothing was found.
    #[serde(default, deserialize_with = "present")]
    vacuous: Option<Value>,
}

/// A value that is there, also where it is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
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

/// The reason why a file is no older report.
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
    /// True if less is proved than before.
    pub regression: bool,
    /// True if the regression is accepted.
    pub accepted: bool,
}

/// The changes since an older report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// The path of the firmware in the older report.
    pub firmware: String,
    /// True if the firmware is the same, byte by byte.
    pub same_firmware: bool,
    /// Verdicts, in the order of the properties; those of properties that are gone last.
    pub verdicts: Vec<VerdictChange>,
    /// The upper bounds of the stack before and now, where they differ.
    pub stack: Option<(Option<u32>, Option<u32>)>,
    /// True if no bound is known that is as good as the one before.
    pub stack_regression: bool,
    /// True if the regression of the stack is accepted.
    pub stack_accepted: bool,
    /// Differences of what is asked and of what the answers rest on.
    pub differences: Vec<Difference>,
    /// Functions and handlers that are reached now and were not before.
    pub appeared: Vec<String>,
    /// Functions and handlers that were reached before and are not now.
    pub disappeared: Vec<String>,
    /// True if both reports know all routines that are reached; if not, the lists may be wrong.
    pub reached_known: bool,
}

impl Baseline {
    /// Reads a report that `--format json` wrote.
    ///
    /// # Errors
    /// If it is something else.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let baseline: Self = serde_json::from_str(text).map_err(|error| BaselineError::Form(error.to_string()))?;
        if baseline.schema == SCHEMA { Ok(baseline) } else { Err(BaselineError::Schema(baseline.schema)) }
    }

    /// The same report with the names of regressions that are accepted: of properties, and of conditions as
    /// [`Difference::name`] has them, where no property has the name.
    #[must_use]
    pub fn accepting(self, names: impl IntoIterator<Item = String>) -> Self {
        Self { accepted: names.into_iter().collect(), ..self }
    }

    /// The differences of the results for an image on a device, and of the specification that they answer.
    pub(crate) fn changes(
        &self,
        names: &Names<'_>,
        results: &Results,
        specification: Option<&Specification>,
    ) -> Changes {
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
        let specification = specification.map(SpecificationData::of).unwrap_or_default();
        let same_firmware = self.firmware.sha256 == names.image.sha256;
        let mut changes = Changes {
            firmware: self.firmware.path.clone(),
            same_firmware,
            verdicts: Vec::new(),
            stack: (upper != self.stack.upper).then_some((self.stack.upper, upper)),
            // A deeper run of the same firmware was possible before as well.
            stack_regression: is_worse(&self.stack, results.stack) && !(same_firmware && self.stack.upper.is_none()),
            stack_accepted: false,
            differences: Vec::new(),
            appeared,
            disappeared,
            reached_known,
        };
        self.add_properties(&mut changes, &results.properties, &specification);
        let device = (self.firmware.device.as_deref(), self.specification());
        changes.differences.extend(difference::of_conditions(device, (names.device.name, &specification)));
        self.accept(&mut changes, results);
        changes
    }

    /// The specification as far as the report has it.
    fn specification(&self) -> &SpecificationData {
        static NOTHING: SpecificationData = SpecificationData::NOTHING;
        self.specification.as_ref().unwrap_or(&NOTHING)
    }

    /// Adds the differences of each property from the one of the same name. Of several with one name those with the
    /// same formula stand for each other, then each for the next one. A limit of the stack, which is part of its name
    /// if it has no other, stands for a larger one.
    fn add_properties(&self, changes: &mut Changes, now: &[PropertyResult], specification: &SpecificationData) {
        let old = self.results.iter().enumerate();
        let mut old: Vec<_> =
            old.map(|(number, result)| Some((result, self.specification().property(number, &result.name)))).collect();
        let new: Vec<_> = now
            .iter()
            .enumerate()
            .map(|(number, result)| (result, specification.property(number, &result.name)))
            .collect();
        let mut before: Vec<Option<Before<'_>>> = vec![None; new.len()];
        for is_same in [is_same_property, has_same_name, has_no_larger_limit] {
            for (place, now) in before.iter_mut().zip(&new).filter(|(place, _)| place.is_none()) {
                let same = |one: &&mut Option<Before<'_>>| one.is_some_and(|one| is_same(one, *now));
                *place = old.iter_mut().find(same).and_then(Option::take);
            }
        }
        for (before, now) in before.into_iter().zip(new) {
            changes.verdicts.extend(change(before.map(|(result, _)| result), now.0));
            changes.differences.extend(before.into_iter().flat_map(|before| difference::of_property(before, now)));
        }
        changes.verdicts.extend(old.into_iter().flatten().map(|(gone, _)| VerdictChange {
            name: gone.name.clone(),
            before: Some(gone.verdict.clone()),
            after: None,
            // SOUND: what is not asked any more can be violated without being seen.
            regression: true,
            accepted: false,
        }));
    }

    /// Marks what is accepted. A name means the property that has it, and a condition only if there is none.
    fn accept(&self, changes: &mut Changes, results: &Results) {
        let is_property = |name: &str| {
            results.properties.iter().any(|now| now.name == name) || self.results.iter().any(|old| old.name == name)
        };
        let is_accepted =
            |name: &str, of_property: bool| self.accepted.contains(name) && (of_property || !is_property(name));
        for change in &mut changes.verdicts {
            change.accepted = change.regression && is_accepted(&change.name, true);
        }
        for difference in &mut changes.differences {
            let counts = difference.effect != Effect::None;
            difference.accepted = counts && is_accepted(&difference.name, difference.is_of_property);
        }
        changes.stack_accepted = changes.stack_regression && is_accepted(STACK, false);
    }
}

/// A property of the older report.
type Before<'a> = (&'a OldResult, Option<&'a PropertyData>);
/// A property of this one.
type Now<'a> = (&'a PropertyResult, Option<&'a PropertyData>);

/// The name by which a regression of the stack bound is accepted.
const STACK: &str = "stack";

fn is_same_property(before: Before<'_>, now: Now<'_>) -> bool {
    let bound = |data: Option<&PropertyData>| data.and_then(|data| data.bound.clone());
    let formula = |formula: Option<&str>| formula == Some(now.0.formula.as_str());
    let is_same_formula = match (bound(before.1), bound(now.1)) {
        (Some(before), Some(now)) => before == now,
        _ => formula(before.0.formula.as_deref()),
    };
    has_same_name(before, now) && before.0.kind == now.0.kind && is_same_formula
}

fn has_same_name(before: Before<'_>, now: Now<'_>) -> bool {
    before.0.name == now.0.name
}

fn has_no_larger_limit(before: Before<'_>, now: Now<'_>) -> bool {
    let limit = |data: Option<&PropertyData>| data.and_then(|data| data.stack_limit).map(StackLimit::from);
    limit(before.1).zip(limit(now.1)).is_some_and(|(before, now)| now.implies(before))
}

/// The change of one verdict. A verdict about the hardware proves more than one that holds in the model.
fn change(before: Option<&OldResult>, now: &PropertyResult) -> Option<VerdictChange> {
    let described = |verdict: &str, basis: &str| match (verdict, basis) {
        ("unknown", _) | (_, "hardware") => verdict.to_owned(),
        _ => format!("{verdict} in the model"),
    };
    let after = verdict_name(&now.verdict).0;
    let new = described(after, basis_name(now.basis));
    let Some(before) = before else {
        let name = now.name.clone();
        return Some(VerdictChange { name, before: None, after: Some(new), regression: false, accepted: false });
    };
    let old = described(&before.verdict, &before.basis);
    let is_of_hardware = now.basis == Basis::Hardware;
    let regression = rank(after, is_of_hardware) < rank(&before.verdict, before.basis == "hardware");
    (old != new).then(|| VerdictChange {
        name: now.name.clone(),
        before: Some(old),
        after: Some(new),
        regression,
        accepted: false,
    })
}

/// The rank of a verdict: a higher one proves more.
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
    /// The names of what makes less proved than before and is not accepted, each once: a verdict got worse, or a
    /// property is gone, is stated otherwise or has become vacuous; the stack may get deeper; more is assumed or
    /// allowed, or less may happen or is forbidden; device, start, fuses or EEPROM are others.
    #[must_use]
    pub fn regressions(&self) -> Vec<&str> {
        let verdicts = self.verdicts.iter().filter(|change| change.regression && !change.accepted);
        let stack = (self.stack_regression && !self.stack_accepted).then_some(STACK);
        let names = verdicts.map(|change| change.name.as_str()).chain(self.differing(Effect::Regression)).chain(stack);
        each_once(names)
    }

    /// The names of what cannot be compared, because the older report does not say it, and is not accepted, each once.
    #[must_use]
    pub fn incomparable(&self) -> Vec<&str> {
        each_once(self.differing(Effect::Incomparable))
    }

    fn differing(&self, effect: Effect) -> impl Iterator<Item = &str> {
        let counted = self.differences.iter().filter(move |one| one.effect == effect && !one.accepted);
        counted.map(|one| one.name.as_str())
    }

    /// True if something that counts has the name and is accepted.
    #[must_use]
    pub fn accepts(&self, name: &str) -> bool {
        self.verdicts.iter().any(|change| change.accepted && change.name == name)
            || self.differences.iter().any(|difference| difference.accepted && difference.name == name)
            || self.stack_accepted && name == STACK
    }

    /// All changes as sentences without full stops.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let mut all = Vec::new();
        if self.same_firmware {
            all.push("the firmware is the same".to_owned());
        }
        let worse = |regression: bool, accepted: bool| match (regression, accepted) {
            (false, _) => "",
            (true, false) => "worse: ",
            (true, true) => "worse, and accepted: ",
        };
        for VerdictChange { name, before, after, regression, accepted } in &self.verdicts {
            let worse = worse(*regression, *accepted);
            all.push(match (before, after) {
                (Some(before), Some(after)) => format!("{worse}'{name}' was {before} and is {after}"),
                (None, Some(after)) => format!("'{name}' is new: {after}"),
                (Some(before), None) => format!("{worse}'{name}' is gone: it was {before}"),
                (None, None) => continue,
            });
        }
        let bytes = |bytes: Option<u32>| bytes.map_or("not known".to_owned(), |bytes| format!("{bytes} bytes"));
        let of_stack = worse(self.stack_regression, self.stack_accepted);
        if let Some((before, after)) = self.stack {
            let worse = of_stack;
            all.push(format!("{worse}the stack was at most {} and is at most {}", bytes(before), bytes(after)));
        } else if self.stack_regression {
            all.push(format!("{of_stack}some run needs more stack than before"));
        }
        all.extend(self.differences.iter().map(|Difference { what, effect, accepted, .. }| match (effect, accepted) {
            (Effect::Incomparable, false) => format!("not comparable: {what}"),
            (Effect::Incomparable, true) => format!("not comparable, and accepted: {what}"),
            (Effect::Regression | Effect::None, _) => {
                format!("{}{what}", worse(*effect == Effect::Regression, *accepted))
            }
        }));
        let doubt = if self.reached_known { "" } else { ", as far as is known" };
        all.extend(self.appeared.iter().map(|name| format!("the proof reaches {name}, and did not before{doubt}")));
        all.extend(self.disappeared.iter().map(|name| format!("{name} is not reached any more{doubt}")));
        if all.is_empty() {
            all.push("nothing changed".to_owned());
        }
        all
    }
}

/// The names in their order, without repetitions.
fn each_once<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    names.filter(|name| seen.insert(*name)).collect()
}
