//! Findings in samples: each has a twin in which nothing may be found.

use crate::finding::{Certainty, Finding};
use crate::findings::findings;
use crate::request::Request;
use avr_image::{Image, LoadOptions};
use avr_machine::device::Device;
use avr_properties::{FindingKind, PropertyFile};
use std::path::Path;

const STORE: FindingKind = FindingKind::OutOfObject;
const TORN: FindingKind = FindingKind::TornAccess;

fn found(sample: &str, build: &str, file: &str) -> Vec<Finding> {
    found_in(&format!("firmware-samples/{sample}/{sample}.{build}"), "atmega328p", file)
}

fn found_in(path: &str, device: &str, file: &str) -> Vec<Finding> {
    let device = Device::named(device).expect("a device of the tables");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    let options = LoadOptions::new(device.memory.flash_bytes, device.memory.eeprom_bytes.into());
    let image = Image::load(path, &options).expect("a sample");
    let file = PropertyFile::parse("p.ron", file).unwrap_or_else(|error| panic!("{error}"));
    let found = findings(&Request::of(&image, device, &file)).unwrap_or_else(|error| panic!("{error}"));
    let is_shown = |finding: &Finding| finding.evidence.as_ref().is_some_and(|run| run.replayed);
    assert!(found.iter().all(|finding| is_shown(finding) || finding.certainty == Certainty::Possible));
    found
}

/// Expects these kinds of findings, all replayed, and texts that contain these.
#[track_caller]
fn check(sample: &str, expected: &[(FindingKind, &str)]) {
    let builds = ["Os.elf", "Og.elf"];
    for build in &builds[..avr_testkit::cases(1, 2) as usize] {
        let found = found(sample, build, "()");
        let shown = found.iter().filter(|finding| finding.certainty == Certainty::Replayed);
        let shown: Vec<(FindingKind, &str)> = shown.map(|finding| (finding.kind, finding.text.as_str())).collect();
        let fits = shown.len() == expected.len()
            && shown.iter().zip(expected).all(|((kind, text), (wanted, part))| kind == wanted && text.contains(part));
        assert!(fits, "{sample}.{build}: {shown:#?}");
    }
}

#[test]
fn stores_outside_of_objects_are_found_and_no_others() {
    check("message-overflow", &[(STORE, "on the stack")]);
    check("message-repaired", &[]);
    check("packet-overflow", &[(STORE, "a pointer into packet (26 bytes at 0x0100) hits 0x011a, in complete")]);
    check("packet-repaired", &[]);
    check("parser-overflow", &[(STORE, "a pointer into message (18 bytes at 0x0100) hits 0x0112")]);
    check("parser-repaired", &[]);
    check("stack-smash", &[(STORE, "the r29 that collect keeps for its caller")]);
    check("stack-smash-repaired", &[]);
    check("usart-echo", &[]);
}

#[test]
fn torn_accesses_are_found_and_no_others() {
    check(
        "shared-counter-torn",
        &[(TORN, "counter (2 bytes at 0x0102) is read in 2 instructions, and TIMER0_OVF comes in between")],
    );
    check("shared-counter-protected", &[]);
    assert_eq!(found("shared-counter-protected", "Os.elf", "()"), []);
    assert_eq!(found("sketch-cooperative", "Os.elf", "()"), [], "the flag is saved, cleared and restored");
    assert_eq!(found("sketch-tone", "Os.elf", "()"), [], "the interrupt is turned off by its own enable bit");
}

#[test]
fn the_lamp_has_its_two_findings() {
    let store = (STORE, "a pointer into line (8 bytes at 0x010e) hits 0x0116, in ticks");
    check("lamp-buggy", &[store, (TORN, "ticks (2 bytes at 0x0116) is read in 2 instructions")]);
    check("lamp", &[]);
    assert_eq!(found("lamp", "Os.elf", "()"), []);
}

#[test]
fn idioms_that_stay_in_their_objects_are_not_found() {
    let builds = ["Os", "no-types", "Og", "O2", "O3", "O0", "prologues"];
    for build in &builds[..avr_testkit::cases(2, builds.len() as u64) as usize] {
        assert_eq!(found_in(&format!("tests/findings/images/idioms.{build}.elf"), "atmega328p", "()"), [], "{build}");
    }
    assert_eq!(found_in("tests/findings/images/idioms.tiny.elf", "attiny85", "()"), []);
}

#[test]
fn idioms_that_go_too_far_are_found() {
    let texts = [
        "a pointer into seen (10 bytes",
        "the r29 that frame keeps for its caller; called by frame, sources/idioms.c:",
        "the r29 that variable_length keeps for its caller; called by variable_length, sources/idioms.c:",
        "a pointer into matrix (24 bytes",
        "a pointer into ring (8 bytes",
        "a pointer into ring (8 bytes",
    ];
    // Random runs look for the stores: one of these may be missed, and none is told as another one.
    let mut missed = Vec::new();
    for (text, fault) in texts.iter().zip(1..) {
        let found = found_in(&format!("tests/findings/images/fault-{fault}.elf"), "atmega328p", "()");
        let is_it = |finding: &Finding| finding.is_fault() && finding.text.contains(text);
        assert!(found.len() <= 1 && found.iter().all(is_it), "fault {fault}: {found:#?}");
        if found.is_empty() {
            missed.push(fault);
        }
    }
    assert!(missed.len() <= 1, "faults {missed:?} are missed");
}

#[test]
fn a_file_without_symbols_has_no_findings() {
    assert_eq!(found("packet-overflow", "Os.hex", "()"), []);
}

#[test]
fn findings_are_allowed_by_name_and_place() {
    let allowed = |file: &str| {
        let found = found("lamp-buggy", "Os.elf", file);
        found.into_iter().map(|finding| finding.allowed.is_some()).collect::<Vec<_>>()
    };
    assert_eq!(allowed(r#"(allow: {"out-of-object": "why", "torn-access at line": "x"})"#), [true, false]);
    assert_eq!(allowed(r#"(allow: {"out-of-object at main": "x", "torn-access at ticks": "why"})"#), [false, true]);
    assert_eq!(allowed(r#"(allow: {"out-of-object at line": "why", "torn-access at lamp.h:57": "x"})"#), [true, false]);
    assert_eq!(
        allowed(r#"(allow: {"out-of-object at lamp.h:57": "why", "torn-access at main": "why"})"#),
        [true, true]
    );
}
