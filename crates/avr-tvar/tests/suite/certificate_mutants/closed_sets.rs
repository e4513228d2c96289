//! Certificates with runs into closed sets that were altered: none passes of firmware that has the property.
//!
//! Two samples differ in that one of them hangs in a mode that an input selects, and the other does not.

use avr_certificate::{Basis, Certificate, Claim, ClosedSet, Header, Stack, Verdict};
use avr_check::Proved;
use avr_image::{Image, LoadOptions};
use avr_machine::device::Device;
use avr_properties::PropertyFile;
use avr_testkit::Random;
use avr_verify::{InvariantUse, PropertyText, Request};
use std::collections::BTreeMap;
use std::path::Path;
use three_valued::TvByte;

/// Bytes that the image of a sample has.
struct Firmware {
    image: Image,
    device: &'static Device,
}

fn firmware(sample: &str) -> Firmware {
    let device = Device::named("atmega328p").expect("it exists");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let options = LoadOptions::new(device.memory.flash_bytes, device.memory.eeprom_bytes.into());
    let path = root.join("firmware-samples").join(sample).join(format!("{sample}.Os.elf"));
    Firmware { image: Image::load(path, &options).unwrap_or_else(|error| panic!("{error}")), device }
}

/// One property of each kind that closed sets refute.
const REFUTED: &str = "NoHang(), Recovery(name: \"off\", to: \"PORTB.5 == 0\")";

/// The text of a property file.
fn property_text(properties: &str) -> String {
    format!("(device: \"atmega328p\", properties: [{properties}])")
}

impl Firmware {
    fn certificate(&self, properties: &str) -> Certificate {
        let text = property_text(properties);
        let file = PropertyFile::parse("waits", &text).unwrap_or_else(|error| panic!("{error}"));
        let request = Request { invariants: InvariantUse::Find, ..Request::of(&self.image, self.device, &file) };
        let text = PropertyText { file: text, ..PropertyText::default() };
        let certificate = avr_verify::certify(&request, &text, |_| {}, |_| {});
        let certificate = certificate.unwrap_or_else(|error| panic!("{error}"));
        // The stack takes state spaces.
        Certificate { spaces: Vec::new(), stack: Stack::default(), ..certificate }
    }

    fn check(&self, certificate: &Certificate) -> Result<avr_check::Report, String> {
        avr_check::check(certificate, &self.image, self.device).map_err(|rejection| rejection.to_string())
    }
}

/// The closed set of a claim.
fn closed(certificate: &mut Certificate, number: usize) -> &mut ClosedSet {
    match &mut certificate.claims[number] {
        Claim::Confined(closed) => closed,
        other => panic!("there is no closed set: {other:?}"),
    }
}

/// A random change of a closed set, and its name.
fn alter(ClosedSet { stimulus, steps, map }: &mut ClosedSet, random: &mut Random) -> &'static str {
    if map.entries.is_empty() {
        return "nothing";
    }
    let (entry, other) = (random.below(map.entries.len()), random.below(map.entries.len()));
    match random.below(9) {
        0 => {
            *steps = random.below(*steps as usize + 1) as u64;
            "the run is shorter"
        }
        1 => {
            *steps += 1 + random.below(5u64);
            "the run is longer"
        }
        2 => {
            *stimulus = "(exact: [])".to_owned();
            "the run has no inputs"
        }
        3 => {
            map.entries.remove(entry);
            "a state is dropped"
        }
        4 => {
            map.entries[entry].invariant = map.entries[other].invariant.clone();
            "a state is another one"
        }
        5 => {
            let (page, cell) = (random.below(map.pages.len()), random.below(map.pages[0].len()));
            map.pages[page][cell] = TvByte::constant(random.byte());
            "a cell is known"
        }
        6 => {
            map.entries.clear();
            "there are no states"
        }
        7 => {
            map.entries[entry].control.pc = map.entries[other].control.pc;
            "a state is elsewhere"
        }
        _ => {
            map.exits.clear();
            "no handler returns"
        }
    }
}

#[test]
fn no_closed_set_refutes_what_is_true() {
    let (hangs, works) = (firmware("blink-modes-hang"), firmware("blink-modes"));
    let certificate = hangs.certificate(REFUTED);
    let report = hangs.check(&certificate).unwrap_or_else(|rejection| panic!("{rejection}"));
    for checked in &report.properties {
        assert!(matches!(checked.proved, Proved::Decided(Verdict::Violated, _)) && !checked.with_sat, "{checked:?}");
    }
    assert!(report.states > 0 && report.queries == 0);
    let sha256 = std::array::from_fn(|index| {
        let digits = works.image.sha256.get(2 * index..2 * index + 2).expect("a digest has 64 digits");
        u8::from_str_radix(digits, 16).expect("they are hexadecimal")
    });
    let header = Header { sha256, ..certificate.header.clone() };
    let of_other = Certificate { header, ..certificate.clone() };
    assert!(works.check(&of_other).is_err());
    let mut kinds: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let mut random = Random::new(1);
    for _ in 0..avr_testkit::cases(60, 1_000) {
        let number = random.below(2usize);
        let mut mutant = of_other.clone();
        mutant.claims[1 - number] = Claim::Undecided;
        let what = (0..=random.below(2)).map(|_| alter(closed(&mut mutant, number), &mut random)).last();
        assert!(works.check(&mutant).is_err(), "{what:?}");
        // The twin hangs, whatever the certificate says of it.
        let mut mutant = certificate.clone();
        let what = alter(closed(&mut mutant, number), &mut random);
        let kind = kinds.entry(what).or_default();
        *(if hangs.check(&mutant).is_ok() { &mut kind.0 } else { &mut kind.1 }) += 1;
    }
    let always = ["there are no states", "no handler returns"];
    assert!(always.iter().all(|kind| kinds.get(kind).is_none_or(|(accepted, _)| *accepted == 0)), "{kinds:?}");
    // A cell may be what it is made, and a state may be covered by another one.
    let mostly = ["a state is dropped", "a cell is known"];
    assert!(
        mostly.iter().all(|kind| kinds.get(kind).is_none_or(|(accepted, refused)| refused > accepted)),
        "{kinds:?}"
    );
}

/// The invariants of all runs are a closed set behind power-on, in which the light is off at first and on later.
#[test]
fn nothing_of_a_closed_set_is_reached() {
    let works = firmware("blink-modes");
    let certificate = works.certificate("Inherent()");
    let map = certificate.map.clone().expect("invariants prove it");
    let header = |properties: &str| Header { properties: property_text(properties), ..certificate.header.clone() };
    let closed = ClosedSet { stimulus: "(exact: [])".to_owned(), steps: 0, map };
    let about = |formula: &str| {
        let claims = vec![Claim::Confined(Box::new(closed.clone()))];
        let header = header(&format!("Formula(check: \"{formula}\")"));
        works.check(&Certificate { header, claims, map: None, ..certificate.clone() })
    };
    let refused = about("AG EF (PORTB.5 == 1)").expect_err("the light goes on");
    assert!(refused.contains("do not refute the property"), "{refused}");
    // No instruction writes to another port.
    let report = about("AG EF (PORTC == 1)").unwrap_or_else(|rejection| panic!("{rejection}"));
    assert_eq!(report.properties[0].proved, Proved::Decided(Verdict::Violated, Basis::Hardware));
    assert!(about("AG EF (PORTC == 0)").is_err());
}

#[test]
fn a_closed_set_is_one_of_its_formula_alone() {
    let hangs = firmware("blink-modes-hang");
    let certificate = hangs.certificate(REFUTED);
    let about = |formula: &str| {
        let properties = property_text(&format!("NoHang(), Formula(check: \"{formula}\")"));
        Certificate { header: Header { properties, ..certificate.header.clone() }, ..certificate.clone() }
    };
    assert!(hangs.check(&about("AG EF (PORTB.5 == 0)")).is_ok());
    assert!(hangs.check(&about("AG EF (PORTB.5 == 0) && AG (PORTB.5 == 1)")).is_ok());
    let refuses = |formula: &str| hangs.check(&about(formula)).expect_err("it is not refuted");
    // The light stays on.
    for formula in [
        "AG EF (PORTB.5 == 1)",
        "AG (PORTB.5 == 0 -> EF (PORTB.5 == 0))",
        "AG EF (PORTB.5 == 0) || AG (PORTB.5 == 1)",
        "AG (EF (PORTB.5 == 0) || PORTB.5 == 1)",
        "EF (PORTB.5 == 0)",
        "EG (PORTB.5 == 1)",
        "AG AF (PORTB.5 == 0)",
        "E[true U PORTB.5 == 0]",
    ] {
        assert!(refuses(formula).contains("do not refute the property"), "{formula}: {}", refuses(formula));
    }
    let mut long = certificate.clone();
    closed(&mut long, 0).steps = u64::MAX;
    assert!(hangs.check(&long).is_err_and(|rejection| rejection.contains("are followed at most")));
    let mut unreadable = certificate.clone();
    closed(&mut unreadable, 0).stimulus = "(exact: [(step: 0, choice: \"reset\")])".to_owned();
    assert!(hangs.check(&unreadable).is_err_and(|rejection| rejection.contains("its run cannot be followed")));
}
