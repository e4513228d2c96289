//! Differences between what is asked now and what an older report says was asked, and between what the answers rest on.

use std::collections::BTreeSet;

use avr_properties::StackLimit;
use avr_verify::{PropertyResult, Verdict};
use serde::Serialize;

use super::OldResult;
use crate::specification::{PropertyData, SpecificationData};

/// Something that is asked, or that an answer rests on, and that is not as before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The name by which it can be accepted: that of a property, or of a condition such as `fuses` or
    /// `assume PINB.4 == 0`.
    pub name: String,
    /// The difference, as a sentence without a full stop.
    pub what: String,
    /// The consequence for what is proved.
    pub effect: Effect,
    /// True if it is accepted.
    pub accepted: bool,
    /// True if it is one of the property that has the name.
    #[serde(skip)]
    pub(super) is_of_property: bool,
}

/// Consequence of a difference for what is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Less is asked, or something else.
    Regression,
    /// The older report does not say what it was.
    Incomparable,
    /// More is asked.
    None,
}

/// Differences of the conditions under which all properties are judged.
pub(super) fn of_conditions(
    (device, before): (Option<&str>, &SpecificationData),
    (new_device, now): (&str, &SpecificationData),
) -> Vec<Difference> {
    let mut all = Vec::new();
    let mut add = |name: &str, what: String, effect| all.push(condition(name, what, effect));
    let mut compare = |name: &str, said: &str, before: Option<String>, now: Option<String>| match (before, now) {
        (Some(before), Some(now)) if before == now => {}
        (Some(before), Some(now)) => add(name, format!("{said} was {before} and is {now}"), Effect::Regression),
        _ => add(name, format!("{said}: the older report does not say it"), Effect::Incomparable),
    };
    let address = |address: u32| format!("{address:#06x}");
    let fuses = |data: &SpecificationData| {
        let fuses = data.fuses?;
        Some(format!("{:#04x} {:#04x} {:#04x}", fuses.low, fuses.high, fuses.extended))
    };
    let eeprom = |data: &SpecificationData| {
        let eeprom = data.eeprom.as_ref()?;
        let known = || format!("known ({} bytes, SHA-256 {})", eeprom.bytes, eeprom.sha256);
        Some(if eeprom.bytes == 0 { "unknown".to_owned() } else { known() })
    };
    compare("device", "the device", device.map(str::to_owned), Some(new_device.to_owned()));
    compare("start", "the start of execution", before.start.map(address), now.start.map(address));
    compare("fuses", "the fuse bytes (low high extended)", fuses(before), fuses(now));
    compare("eeprom", "the content of the EEPROM", eeprom(before), eeprom(now));
    let application =
        |data: &SpecificationData| Some(data.application.clone().unwrap_or_else(|| "not said".to_owned()));
    compare("application", "the application", application(before), application(now));
    all.extend(of_sets("assume", "is assumed", (&before.assume, &now.assume), More::IsWorse));
    all.extend(of_sets("allow", "is allowed", (&before.allow, &now.allow), More::IsWorse));
    all.extend(of_sets("environment", "may happen", (&before.environment, &now.environment), More::IsBetter));
    let stacks = (&Some(before.stacks.clone()), &Some(now.stacks.clone()));
    all.extend(of_sets("stacks", "is the stack of a task", stacks, More::IsWorse));
    all.extend(of_sets("forbid", "is forbidden", (&before.forbid, &now.forbid), More::IsBetter));
    all
}

/// Meaning of a set that has more members than before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum More {
    IsWorse,
    IsBetter,
}

fn of_sets(
    field: &str,
    verb: &str,
    (before, now): (&Option<Vec<String>>, &Option<Vec<String>>),
    more: More,
) -> Vec<Difference> {
    let (Some(before), Some(now)) = (before, now) else {
        return vec![condition(field, format!("{field}: the older report does not say it"), Effect::Incomparable)];
    };
    let (before, now): (BTreeSet<&String>, BTreeSet<&String>) = (before.iter().collect(), now.iter().collect());
    let effect = |is_worse| if is_worse { Effect::Regression } else { Effect::None };
    let one = |member: &String, what: &str, is_worse| {
        condition(&format!("{field} {member}"), format!("{member} {verb} {what}"), effect(is_worse))
    };
    // A hazard that was allowed everywhere was allowed at each place.
    let was_there = |member: &str| {
        let kind = member.split_once(" at ").map(|(kind, _)| kind);
        field == "allow" && kind.is_some_and(|kind| before.iter().any(|known| *known == kind))
    };
    let added = now
        .difference(&before)
        .map(|member| one(member, "now, and was not before", more == More::IsWorse && !was_there(member)));
    let gone = before.difference(&now).map(|member| one(member, "no more", more == More::IsBetter));
    added.chain(gone).collect()
}

fn condition(name: &str, what: String, effect: Effect) -> Difference {
    Difference { name: name.to_owned(), what, effect, accepted: false, is_of_property: false }
}

/// True if an older version, which had no choice of the first states, read the same text as this formula.
fn is_by_version(before: &str, old: Option<&PropertyData>, new: Option<&PropertyData>) -> bool {
    let had_no_choice = old.is_some_and(|old| old.from.is_none());
    had_no_choice && new.is_some_and(|new| new.earlier_readings.iter().any(|reading| reading == before))
}

/// Differences of one property beside its verdict.
pub(super) fn of_property(
    (before, old): (&OldResult, Option<&PropertyData>),
    (now, new): (&PropertyResult, Option<&PropertyData>),
) -> Vec<Difference> {
    let name = &now.name;
    let mut all = Vec::new();
    let mut add = |what: String, effect| {
        all.push(Difference { name: name.clone(), what, effect, accepted: false, is_of_property: true });
    };
    let was_and_is = |what: &str, before: &str, now: &str| format!("the {what} of '{name}' was {before} and is {now}");
    let bound = |data: Option<&PropertyData>| data.and_then(|data| data.bound.clone());
    match (bound(old), bound(new)) {
        (Some(before), Some(now)) if before == now => {}
        (Some(before), Some(now)) if is_by_version(&before, old, new) => {
            add(format!("changed by version: {}", was_and_is("formula", &before, &now)), Effect::None);
        }
        (Some(before), Some(now)) => {
            let limit = |data: Option<&PropertyData>| data.and_then(|data| data.stack_limit).map(StackLimit::from);
            let is_tighter = limit(old).zip(limit(new)).is_some_and(|(old, new)| new.implies(old));
            add(was_and_is("formula", &before, &now), if is_tighter { Effect::None } else { Effect::Regression });
        }
        _ if before.formula.as_deref().is_some_and(|before| before != now.formula) => {
            let before = before.formula.as_deref().unwrap_or_default();
            add(was_and_is("formula", before, &now.formula), Effect::Regression);
        }
        _ => add(
            format!("the definitions in the formula of '{name}': the older report does not say them"),
            Effect::Incomparable,
        ),
    }
    let fairness = |under: &[String]| if under.is_empty() { "none".to_owned() } else { under.join(", ") };
    match (old.and_then(|old| old.under.as_deref()), new.and_then(|new| new.under.as_deref())) {
        (Some(before), Some(now)) if before == now => {}
        (Some(before), Some(now)) => {
            add(was_and_is("fairness", &fairness(before), &fairness(now)), Effect::Regression);
        }
        _ => add(format!("the fairness of '{name}': the older report does not say it"), Effect::Incomparable),
    }
    if now.verdict == Verdict::Holds && before.verdict == "holds" && now.vacuous.is_some() {
        match &before.vacuous {
            Some(serde_json::Value::Null) => {
                add(format!("'{name}' holds vacuously, and did not before"), Effect::Regression);
            }
            Some(_) => {}
            None => {
                let what = format!("whether '{name}' held vacuously: the older report does not say it");
                add(what, Effect::Incomparable);
            }
        }
    }
    all
}
