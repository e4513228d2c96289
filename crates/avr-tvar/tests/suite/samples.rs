//! The verdicts of the firmware samples, through the library, against `firmware-samples/expected.ron`.
//!
//! Every image is verified with the default strategy under a limit on states, so that the outcome does not depend on
//! the speed of the machine. A sample whose entry has a `limit` may stay unknown; no sample may
//! be answered wrongly.

use crate::sample::{Sample, StateLimit, samples};
use avr_properties::PropertyKind;
use avr_testkit::Size;
use avr_testkit::{Part, side_by_side};
use avr_verify::{Basis, InvariantUse, Pass, PropertyResult, Reductions, Request, Results, Verdict};

/// States that the analysis of a sample may reach that must be decided.
const MAX_STATES: usize = 200_000;
/// States for a sample that may stay unknown: what is answered must be right, and more states take time.
const FEW_STATES: usize = 20_000;

impl Sample {
    fn may_stay_unknown(&self) -> bool {
        self.limit.is_some()
    }

    fn may_rest_on_the_model(&self, property: &str) -> bool {
        self.model.iter().any(|name| name == property)
    }
}

/// The properties of a sample that are verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// All its properties.
    All,
    /// Hazards and the stack, for which interrupts may be reduced.
    Reducible,
    /// All its properties, by invariants of the whole program and random runs only.
    Invariant,
}

fn verify(sample: &Sample, image: &str, properties: &str, scope: Scope) -> Results {
    let mut firmware = sample.load(image, properties);
    let is_reducible = |kind: &PropertyKind| matches!(kind, PropertyKind::Inherent | PropertyKind::Stack(_));
    firmware.file.properties.retain(|property| scope != Scope::Reducible || is_reducible(property.kind()));
    assert_eq!(firmware.file.device.as_ref(), Some(&sample.device), "{properties}");
    let (reductions, invariants) = match scope {
        Scope::All => (Reductions::NONE, InvariantUse::Off),
        Scope::Reducible => (Reductions::ALL, InvariantUse::Off),
        Scope::Invariant => (Reductions::ALL, InvariantUse::Find),
    };
    let states = match scope {
        Scope::Invariant => 0,
        _ if sample.may_stay_unknown() => FEW_STATES,
        _ => MAX_STATES,
    };
    let request = Request { reductions, invariants, watch: &StateLimit(states), ..firmware.request() };
    avr_verify::verify(&request).unwrap_or_else(|error| panic!("{image}: {error}"))
}

/// The differences from the expectations.
fn differences(sample: &Sample, image: &str, results: &Results, scope: Scope) -> Vec<String> {
    let mut found = Vec::new();
    let names: Vec<&str> = results.properties.iter().map(|result| result.name.as_str()).collect();
    let expected: Vec<&str> = sample.verdicts.keys().map(String::as_str).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    if sorted != expected && scope == Scope::All {
        found.push(format!("{image}: properties {sorted:?}, expected {expected:?}"));
    }
    for result in &results.properties {
        let Some(expected) = sample.verdicts.get(&result.name) else { continue };
        let agrees = match &result.verdict {
            Verdict::Holds => expected == "holds",
            Verdict::Violated => expected == "violated",
            Verdict::Unknown(_) => scope == Scope::Invariant || sample.may_stay_unknown(),
        };
        if !agrees {
            found.push(format!("{image}: {}: {:?}, expected {expected:?}", result.name, result.verdict));
        }
        let named = |hazard: &String| result.detail.as_ref().is_some_and(|detail| detail.starts_with(hazard.as_str()));
        let violated = result.kind == "Inherent" && result.verdict == Verdict::Violated;
        if violated && sample.hazard.as_ref().is_some_and(|hazard| !named(hazard)) {
            found.push(format!("{image}: {:?}, expected the hazard {:?}", result.detail, sample.hazard));
        }
        if result.verdict == Verdict::Violated && !result.evidence.as_ref().is_some_and(|run| run.replayed) {
            found.push(format!("{image}: {}: no replayed run: {:?}", result.name, result.evidence_missing));
        }
        // Where state spaces are left out, claims may rest on the model in their place.
        let is_claimed = scope == Scope::Invariant && is_by_claims(result);
        if result.basis == Basis::Model && !is_claimed && !sample.may_rest_on_the_model(&result.name) {
            found.push(format!("{image}: {}: rests on the model, expected the hardware", result.name));
        }
    }
    found.extend(stack_difference(sample, image, results, scope));
    found
}

/// Bounds that contradict the exact one, or that are not exact where no limit explains it.
fn stack_difference(sample: &Sample, image: &str, results: &Results, scope: Scope) -> Option<String> {
    let exact = sample.stack?;
    let stack = results.stack;
    let contradicts = stack.lower.is_some_and(|lower| lower > exact) || stack.upper.is_some_and(|upper| upper < exact);
    let may_be_open = scope == Scope::Invariant || sample.may_stay_unknown();
    let agrees = stack.exact() == Some(exact) || may_be_open && !contradicts;
    (!agrees).then(|| format!("{image}: {stack:?}, expected exactly {exact}"))
}

/// Verifies the samples of some devices and expects no difference. The number of properties that invariants prove.
fn check(devices: &[&str], at_least: u64, scope: Scope) -> usize {
    let samples = samples();
    let chosen = samples.iter().filter(|sample| devices.contains(&sample.device.as_str()));
    let images = chosen.flat_map(|sample| sample.images.iter().map(move |image| (sample, image)));
    let images: Vec<_> = images.filter(|(sample, (image, _))| sample.is_selected(image)).collect();
    assert!(images.len() as u64 >= avr_testkit::cases(at_least / 4, at_least), "only {} images", images.len());
    let images = Part::selected().take(images);
    let verify = |(sample, (image, properties)): &(&Sample, &(String, String))| {
        let results = verify(sample, image, properties, scope);
        let proved = results.properties.iter().filter(|result| result.methods.contains(&Pass::Invariants)).count();
        (differences(sample, image, &results, scope), proved)
    };
    let all: Vec<(Vec<String>, usize)> = side_by_side(&images, verify);
    let found: Vec<&str> = all.iter().flat_map(|one| &one.0).map(String::as_str).collect();
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
    all.iter().map(|one| one.1).sum()
}

/// The devices with all of their registers.
const WHOLE: [&str; 9] = [
    "atmega328p",
    "atmega168p",
    "atmega88p",
    "atmega1284p",
    "atmega2560",
    "atmega32u4",
    "attiny85",
    "attiny84",
    "attiny13",
];

#[test]
fn samples_without_interrupts_have_their_verdicts() {
    check(&["atmega328p-gpio"], 90, Scope::All);
}

#[test]
fn samples_of_the_whole_device_have_their_verdicts() {
    check(&WHOLE, 80, Scope::All);
}

#[test]
fn samples_have_their_verdicts_with_fewer_interrupts() {
    check(&WHOLE, 80, Scope::Reducible);
}

#[test]
fn samples_have_their_verdicts_by_invariants() {
    let proved = check(&[&WHOLE[..], &["atmega328p-gpio"]].concat(), 170, Scope::Invariant);
    assert!(proved >= Part::selected().at_least(40), "invariants prove {proved} properties only");
}

/// True for a result that claims about loops prove, or ranks.
fn is_by_claims(result: &PropertyResult) -> bool {
    result.methods.iter().any(|pass| matches!(pass, Pass::Claims | Pass::Ranks))
}

/// The differences of the properties that claims must prove, without a state space.
fn claim_differences(sample: &Sample, image: &str, properties: &str) -> Vec<String> {
    let results = verify(sample, image, properties, Scope::Invariant);
    let mut found = differences(sample, image, &results, Scope::Invariant);
    for name in &sample.claims {
        let result = results.properties.iter().find(|result| result.name == *name).expect("the file has the property");
        let basis = if sample.may_rest_on_the_model(name) { Basis::Model } else { Basis::Hardware };
        let is_proved = result.verdict == Verdict::Holds && is_by_claims(result);
        if !is_proved || result.basis != basis {
            found.push(format!("{image}: {name}: {:?}, {:?}: {:?}", result.verdict, result.basis, result.notes));
        }
    }
    found
}

#[test]
fn loops_are_left_by_claims() {
    let samples = samples();
    let is_chosen =
        |image: &str| image.ends_with(".Os.elf") || Size::selected() == Size::Long && image.ends_with(".elf");
    let with_claims = samples.iter().filter(|sample| !sample.claims.is_empty());
    let images = with_claims.flat_map(|sample| sample.images.iter().map(move |image| (sample, image)));
    let images: Vec<_> = images.filter(|(_, (image, _))| is_chosen(image)).collect();
    assert!(images.len() as u64 >= avr_testkit::cases(5, 15), "only {} images", images.len());
    let check = |(sample, (image, file)): &(&Sample, &(String, String))| claim_differences(sample, image, file);
    let found: Vec<String> = side_by_side(&images, check).concat();
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}

#[test]
fn receivers_that_keep_their_buffers_are_proved() {
    let of_receivers = |sample: &Sample| ["packet-repaired", "message-repaired"].contains(&sample.sample.as_str());
    let chosen: Vec<Sample> = samples().into_iter().filter(of_receivers).collect();
    assert_eq!(chosen.len(), 3, "the compiler's levels have stack bounds of their own");
    for sample in chosen {
        let sample = Sample { limit: None, ..sample };
        let (image, properties) = sample.images.first().expect("it has images");
        let results = verify(&sample, image, properties, Scope::Reducible);
        assert_eq!(results.properties[0].verdict, Verdict::Holds, "{image}");
        // That less is not enough shows only in the last property, after whose state space nothing bounds the depth any more.
        assert_eq!(results.stack.lower, sample.stack, "{image}");
    }
}

#[test]
fn every_sample_is_checked() {
    let devices: std::collections::BTreeSet<String> = samples().into_iter().map(|sample| sample.device).collect();
    assert!(devices.iter().all(|device| WHOLE.contains(&device.as_str()) || device == "atmega328p-gpio"));
}
