//! Stores outside of their objects as a hazard: what is proved, and what must not be.

use crate::early_results::EarlyResults;
use crate::findings::verify;
use crate::request::Request;
use crate::results::{Basis, PropertyResult, Verdict};
use avr_image::{Image, LoadOptions};
use avr_machine::device::Device;
use avr_properties::PropertyFile;
use std::path::Path;
use tvar::{Unlimited, Watch};

/// The result of the inherent property for an image of `stores.c`, with a property file; findings are looked for if `finds`.
fn inherent(case: u32, file: &str, finds: bool) -> PropertyResult {
    let device = Device::named("atmega328p").expect("a device of the tables");
    let path = format!("../../tests/findings/images/stores-{case}.elf");
    let options = LoadOptions::new(device.memory.flash_bytes, device.memory.eeprom_bytes.into());
    let image = Image::load(Path::new(env!("CARGO_MANIFEST_DIR")).join(path), &options).expect("an image");
    let mut file = PropertyFile::parse("p.ron", file).unwrap_or_else(|error| panic!("{error}"));
    file.add(&[], true).expect("the inherent property");
    let known = EarlyResults::default();
    let limits = finds.then_some(&Unlimited as &dyn Watch);
    let request = Request { known: Some(&known), findings: limits, ..Request::of(&image, device, &file) };
    let mut results = verify(&request).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(results.properties.len(), 1, "what is proved beside it is no result");
    assert!(
        known.result(0).is_none() || request.file.forbid_findings.is_empty(),
        "nobody hears of a part of the proof"
    );
    results.properties.remove(0)
}

const FORBID: &str = r#"(forbid: ["out-of-object"])"#;

#[track_caller]
fn holds(case: u32) {
    let result = inherent(case, FORBID, true);
    assert_eq!(result.verdict, Verdict::Holds, "case {case}");
    assert_eq!(result.formula, "AG !hazard && no store through a pointer leaves its object");
}

#[track_caller]
fn is_unknown(case: u32, part: &str) {
    // Without findings nothing but the proof speaks.
    let result = inherent(case, FORBID, false);
    let Verdict::Unknown(unknown) = &result.verdict else { panic!("case {case}: {:?}", result.verdict) };
    assert!(unknown.reason.contains(part) && !unknown.self_check_failed, "case {case}: {}", unknown.reason);
    assert_eq!(inherent(case, "()", false).verdict, Verdict::Holds, "case {case} has no other hazard");
}

#[test]
fn stores_that_stay_in_their_objects_are_proved() {
    holds(1);
    holds(6);
    holds(8);
    holds(12);
}

#[test]
fn an_index_that_is_too_high_by_one_is_not_proved() {
    is_unknown(2, "a store through a pointer into first may leave it, at 0x");
    is_unknown(9, "a store through a pointer into first may leave it, at 0x");
    is_unknown(14, "a store through a pointer into first may leave it, at 0x");
}

#[test]
fn a_pointer_whose_object_is_not_known_is_not_proved() {
    let unknown = "the object is not known that the pointer of a store means, at 0x";
    is_unknown(3, unknown);
    is_unknown(4, unknown);
    is_unknown(5, unknown);
    is_unknown(7, unknown);
    is_unknown(13, unknown);
    is_unknown(10, unknown);
    is_unknown(11, "pointers are not followed through the indirect jump or call at 0x");
}

#[test]
fn a_run_that_shows_it_is_a_violation() {
    let result = inherent(9, FORBID, true);
    assert_eq!(result.verdict, Verdict::Violated);
    assert!(result.evidence.is_some_and(|evidence| evidence.replayed));
    assert!(result.detail.is_some_and(|detail| detail.starts_with("out-of-object at 0x")));
    let result = inherent(2, FORBID, true);
    assert_eq!((result.verdict, result.basis), (Verdict::Violated, Basis::Model), "PB4 to PB7 are outputs");
}

#[test]
fn what_is_allowed_is_not_to_be_proved() {
    let allowing = |place: &str| {
        let file = format!(r#"(forbid: ["out-of-object"], allow: {{"out-of-object{place}": "why"}})"#);
        inherent(9, &file, true).verdict
    };
    assert_eq!(allowing(" at first"), Verdict::Holds);
    assert_eq!(allowing(" at __vector_16"), Verdict::Holds);
    assert_eq!(allowing(""), Verdict::Holds);
    assert_eq!(allowing(" at second"), Verdict::Violated);
}

#[test]
fn what_the_proof_rests_on_may_not_be_allowed() {
    let file = r#"(forbid: ["out-of-object"], allow: {"return-to-non-call at main": "why"})"#;
    let Verdict::Unknown(unknown) = inherent(1, file, false).verdict else { panic!("it is not proved") };
    assert!(unknown.reason.contains("where the hazard return-to-non-call is allowed"), "{}", unknown.reason);
    let file = r#"(forbid: ["out-of-object"], allow: {"bad-interrupt": "why"})"#;
    let Verdict::Unknown(unknown) = inherent(8, file, false).verdict else { panic!("it is not proved") };
    assert!(unknown.reason.contains("may not give back the registers"), "{}", unknown.reason);
}
