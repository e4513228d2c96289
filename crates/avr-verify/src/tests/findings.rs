//! Findings in samples: each has a twin in which nothing may be found.

use crate::findings::{Certainty, Finding, findings};
use crate::request::Request;
use avr_image::{Image, LoadOptions};
use avr_machine::device::Device;
use avr_properties::{FindingKind, PropertyFile};
use std::path::Path;

const STORE: FindingKind = FindingKind::OutOfObject;
const TORN: FindingKind = FindingKind::TornAccess;

fn found(sample: &str, build: &str, file: &str) -> Vec<Finding> {
    let device = Device::named("atmega328p").expect("a device of the tables");
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../firmware-samples");
    let options = LoadOptions::new(device.memory.flash_bytes, device.memory.eeprom_bytes.into());
    let image = Image::load(samples.join(sample).join(format!("{sample}.{build}")), &options).expect("a sample");
    let file = PropertyFile::parse("p.ron", file).unwrap_or_else(|error| panic!("{error}"));
    let found = findings(&Request::of(&image, device, &file)).unwrap_or_else(|error| panic!("{error}"));
    let is_shown = |finding: &Finding| finding.evidence.as_ref().is_some_and(|run| run.replayed);
    assert!(found.iter().all(|finding| is_shown(finding) || finding.certainty == Certainty::Possible));
    found
}

/// Expects these kinds of findings, all replayed, and texts that contain these.
#[track_caller]
fn check(sample: &str, expected: &[(FindingKind, &str)]) {
    for build in ["Os.elf", "Og.elf"] {
        let found = found(sample, build, "()");
        let shown = found.iter().filter(|finding| finding.certainty == Certainty::Replayed);
        let shown: Vec<(FindingKind, &str)> = shown.map(|finding| (finding.kind, finding.text.as_str())).collect();
        let fits = shown.len() == expected.len()
            && shown.iter().zip(expected).all(|((kind, text), (wanted, part))| kind == wanted && text.contains(part));
        assert!(fits, "{sample}.{build}: {shown:#?}");
    }
}
