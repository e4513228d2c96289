//! The verdicts of the firmware samples, through the library, against `firmware-samples/expected.ron`.
//!
//! Every image is verified with the default strategy under a limit on states, so that the outcome does not depend on
//! the speed of the machine. A sample whose entry has a `limit` may stay unknown; no sample may
//! be answered wrongly.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use avr_image::{FlashByteAddress, Image, LoadOptions};
use avr_machine::device::Device;
use avr_properties::{PropertyFile, PropertyKind};
use avr_verify::{Basis, Exhausted, Progress, Request, Results, Strategy, Verdict, Watch};
use rayon::prelude::*;
use serde::Deserialize;

/// States that the analysis of a sample may reach that must be decided.
const MAX_STATES: usize = 200_000;
/// States for a sample that may stay unknown: what is answered must be right, and more states take time.
const FEW_STATES: usize = 20_000;

/// An entry of `expected.ron`; the file explains the fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    sample: String,
    device: String,
    images: Vec<(String, String)>,
    /// `holds` or `violated`.
    verdicts: BTreeMap<String, String>,
    stack: Option<u32>,
    hazard: Option<String>,
    limit: Option<String>,
    #[serde(default)]
    model: Vec<String>,
}

impl Sample {
    fn may_stay_unknown(&self) -> bool {
        self.limit.is_some()
    }

    fn may_rest_on_the_model(&self, property: &str) -> bool {
        self.model.iter().any(|name| name == property)
    }
}

/// A limit on the states that an analysis may reach.
struct StateLimit(usize);

impl Watch for StateLimit {
    fn check(&self, progress: &Progress) -> Option<Exhausted> {
        (progress.states > self.0).then_some(Exhausted::Memory(0))
    }

    fn cancelled(&self) -> bool {
        false
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn samples() -> Vec<Sample> {
    let text = std::fs::read_to_string(root().join("firmware-samples/expected.ron")).expect("the file is there");
    let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    options.from_str(&text).expect("the file has the form that its head describes")
}

/// What is verified of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// All its properties.
    All,
    /// Hazards and the stack, for which interrupts may be looked at only where they can be seen.
    Reducible,
}

fn verify(sample: &Sample, image: &str, properties: &str, scope: Scope) -> Results {
    let device = Device::named(&sample.device).expect("the device exists");
    let path = root().join("properties").join(properties);
    let text = std::fs::read_to_string(&path).expect("the property file is there");
    let mut file = PropertyFile::parse(properties, &text).unwrap_or_else(|error| panic!("{error}"));
    let is_reducible = |kind: &PropertyKind| matches!(kind, PropertyKind::Inherent | PropertyKind::Stack(_));
    file.properties.retain(|property| scope == Scope::All || is_reducible(property.kind()));
    assert_eq!(file.device.as_ref(), Some(&sample.device), "{properties}");
    let mut options = LoadOptions::new(device.memory.flash_bytes, device.memory.eeprom_bytes.into());
    options.start = FlashByteAddress(file.start.unwrap_or(0));
    let path = root().join("firmware-samples").join(&sample.sample).join(image);
    let image = Image::load(path, &options).unwrap_or_else(|error| panic!("{error}"));
    let request = Request {
        image: &image,
        device,
        start: None,
        file: &file,
        eeprom: &BTreeMap::new(),
        strategy: Strategy::Default,
        reduces_interrupts: scope == Scope::Reducible,
        watch: &StateLimit(if sample.may_stay_unknown() { FEW_STATES } else { MAX_STATES }),
    };
    avr_verify::verify(&request).unwrap_or_else(|error| panic!("{}: {error}", image.name))
}

/// What differs from the expectations.
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
            Verdict::Unknown(_) => sample.may_stay_unknown(),
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
        if result.basis == Basis::Model && !sample.may_rest_on_the_model(&result.name) {
            found.push(format!("{image}: {}: rests on the model, expected the hardware", result.name));
        }
    }
    found.extend(stack_difference(sample, image, results));
    found
}

/// Bounds that contradict the exact one, or that are not exact where no limit explains it.
fn stack_difference(sample: &Sample, image: &str, results: &Results) -> Option<String> {
    let exact = sample.stack?;
    let stack = results.stack;
    let contradicts = stack.lower.is_some_and(|lower| lower > exact) || stack.upper.is_some_and(|upper| upper < exact);
    let agrees = stack.exact() == Some(exact) || sample.may_stay_unknown() && !contradicts;
    (!agrees).then(|| format!("{image}: {stack:?}, expected exactly {exact}"))
}

/// Verifies the samples of some devices and expects no difference.
fn check(devices: &[&str], at_least: usize, scope: Scope) {
    let samples = samples();
    let chosen = samples.iter().filter(|sample| devices.contains(&sample.device.as_str()));
    let images: Vec<_> = chosen.flat_map(|sample| sample.images.iter().map(move |image| (sample, image))).collect();
    assert!(images.len() >= at_least, "only {} images", images.len());
    let verify = |(sample, (image, properties)): &(&Sample, &(String, String))| {
        let results = verify(sample, image, properties, scope);
        differences(sample, image, &results, scope)
    };
    let found: Vec<String> = images.par_iter().flat_map_iter(verify).collect();
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}

#[test]
fn samples_without_interrupts_have_their_verdicts() {
    check(&["atmega328p-gpio"], 90, Scope::All);
}

#[test]
fn samples_of_the_whole_device_have_their_verdicts() {
    check(&["atmega328p", "attiny85"], 80, Scope::All);
}

#[test]
fn samples_have_their_verdicts_with_fewer_interrupts() {
    check(&["atmega328p", "attiny85"], 80, Scope::Reducible);
}

#[test]
fn every_sample_is_checked() {
    let devices: std::collections::BTreeSet<String> = samples().into_iter().map(|sample| sample.device).collect();
    assert!(devices.iter().all(|device| ["atmega328p-gpio", "atmega328p", "attiny85"].contains(&device.as_str())));
}
