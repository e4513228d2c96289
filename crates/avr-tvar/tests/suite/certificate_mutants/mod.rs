//! Altered certificates of firmware: of thousands of them none passes that concrete runs refute.
//!
//! The judge is no part of the checker: it runs the machine from concrete states that the abstract ones stand for, and
//! strikes out what such a run refutes. The solver then evaluates the formulas on the rest. Of the states of samples
//! some are tried; of small random programs all are, with all inputs, and formulas are evaluated by iteration
//! ([`exhaustive`]).

mod claims;
mod closed_sets;
mod exhaustive;
mod judge;
mod loops;
mod maps;
mod mutants;
mod predicates;
mod ranks;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;

use avr_certificate::{Certificate, Claim, ReadError, ReadErrorKind, Verdict};
use avr_image::{Image, LoadOptions};
use avr_isa::DataAddress;
use avr_machine::device::Device;
use avr_machine::{Comparison, Number, Operand};
use avr_predicates::faults::{Fault, with_fault};
use avr_properties::PropertyFile;
use avr_testkit::Random;
use avr_testkit::image::image;
use avr_testkit::programs::stored_outcome;
use avr_verify::{InvariantUse, PropertyText, Request};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use judge::Judge;

/// Firmware with its certificate.
struct Sample {
    image: Image,
    device: &'static Device,
    certificate: Certificate,
}

fn sample(image: &str, properties: &str) -> Sample {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("properties").join(properties)).expect("the file is there");
    let file = PropertyFile::parse(properties, &text).unwrap_or_else(|error| panic!("{error}"));
    let device = Device::named(file.device.as_deref().expect("it names one")).expect("it exists");
    let options = LoadOptions::new(device.memory.flash_bytes, device.memory.eeprom_bytes.into());
    let folder = image.split('.').next().expect("an image has a name");
    let path = root.join("firmware-samples").join(folder).join(image);
    let image = Image::load(path, &options).unwrap_or_else(|error| panic!("{error}"));
    let certificate = certified(&image, device, &file, text);
    Sample { image, device, certificate }
}

/// The certificate of an image with the properties of a file, whose text it is.
fn certified(image: &Image, device: &'static Device, file: &PropertyFile, text: String) -> Certificate {
    // It is about state spaces; `maps` has the certificates of invariants.
    let request = Request { invariants: InvariantUse::Off, ..Request::of(image, device, file) };
    let text = PropertyText { file: text, ..PropertyText::default() };
    avr_verify::certify(&request, &text, |_| {}, |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

/// Formulas for small programs.
const FORMULAS: [&str; 8] = [
    "AG EF PORTB == 0",
    "EF PORTB.1 == 1",
    "AG PORTD.0 == 0",
    "AF PORTC != 0",
    "A[PORTD == 0 U PORTB != 0]",
    "nu X. mu Y. <>X && PORTB.0 == 0 || <>Y",
    "AG (r16 == 3 -> AF r16 != 3)",
    "E[G F (PORTD.1 == 1)]",
];

/// The number of small programs, and of mutants of the certificate of each.
const PROGRAMS: u64 = 40;
const MUTANTS: u64 = 60;

#[test]
fn all_that_passes_of_small_programs_is_proved_when_everything_is_looked_at() {
    let programs = avr_testkit::cases(6, PROGRAMS);
    let device = Device::named("atmega328p-gpio").expect("it exists");
    let (mut rejected, mut justly, mut harmless) = (0u64, 0u64, 0u64);
    for seed in 0..programs {
        let mut random = Random::new(seed);
        let image = exhaustive::program(&mut random);
        let formulas = [FORMULAS[random.below(8)], FORMULAS[random.below(8)]];
        let entries = formulas.map(|formula| format!("Formula(check: \"{formula}\")")).join(", ");
        let text = format!("(properties: [Inherent(), {entries}])");
        let file = PropertyFile::parse("small", &text).unwrap_or_else(|error| panic!("{error}"));
        let certificate = certified(&image, device, &file, text);
        let judge = Judge::new(&image, device, &certificate);
        let passes = |certificate: &Certificate| avr_check::check(certificate, &image, device).is_ok();
        assert!(passes(&certificate), "seed {seed}");
        assert!(judge.proves(&certificate), "seed {seed}: the certificate itself");
        for number in 0..MUTANTS {
            let (what, mutant) = mutants::mutant(&certificate, &mut random);
            if passes(&mutant) {
                assert!(judge.proves(&mutant), "seed {seed}, mutant {number} ({what}) passes and proves nothing");
                harmless += 1;
            } else {
                rejected += 1;
                // Not all of them: this only shows that the judge judges.
                justly += u64::from(number % 16 == 0 && !judge.proves(&mutant));
            }
        }
    }
    assert!(
        rejected > 17 * programs && harmless > 8 * programs && justly >= programs,
        "{rejected} rejected, {justly} justly, {harmless} harmless"
    );
}

/// Alters the certificate of a sample again and again.
#[track_caller]
fn check(image: &str, properties: &str, mutants: usize) {
    check_sample(&sample(image, properties), mutants);
}

/// Alters the certificate of firmware again and again.
#[track_caller]
fn check_sample(Sample { image, device, certificate }: &Sample, mutants: usize) {
    let mutants = avr_testkit::cases(mutants as u64 / 3, mutants as u64) as usize;
    let mut judge = Judge::new(image, device, certificate);
    let passes = |certificate: &Certificate| avr_check::check(certificate, image, device).is_ok();
    assert!(passes(certificate));
    assert_eq!(judge.refutes(certificate), None, "the certificate itself");
    let (mut rejected, mut justly, mut passed) = (0, 0, BTreeMap::new());
    for seed in 0..mutants as u64 {
        let mut random = Random::new(seed);
        let (what, mutant) = mutants::mutant(certificate, &mut random);
        if !passes(&mutant) {
            rejected += 1;
            // Not all of them: this only shows that the judge judges.
            justly += usize::from(seed % 4 == 0 && judge.refutes(&mutant).is_some());
            continue;
        }
        if let Some(reason) = judge.refutes(&mutant) {
            panic!("mutant {seed} ({what}) passes although {reason}");
        }
        *passed.entry(what).or_insert(0) += 1;
    }
    assert!(
        rejected >= mutants / 4 && justly >= mutants / 40,
        "{rejected} rejected, {justly} justly, passed: {passed:?}"
    );
    assert!(!passed.contains_key("digest"));
}

/// The bytes of a certificate before they are compressed, and what stands in front of them.
fn uncompressed(certificate: &Certificate) -> (Vec<u8>, Vec<u8>) {
    let mut bytes = Vec::new();
    certificate.write(&mut bytes).expect("a list takes everything");
    let end = 1 + bytes.iter().position(|byte| *byte == b'\n').expect("it begins with a line") + 1;
    let mut content = Vec::new();
    ZlibDecoder::new(&bytes[end..]).read_to_end(&mut content).expect("it is whole");
    (bytes[..end].to_vec(), content)
}

/// The certificate with such a start and content.
fn read(start: &[u8], content: &[u8]) -> Result<Certificate, ReadError> {
    let mut encoder = ZlibEncoder::new(start.to_vec(), Compression::fast());
    encoder.write_all(content).expect("a list takes everything");
    let bytes = encoder.finish().expect("a list takes everything");
    Certificate::read(bytes.as_slice(), 64 << 20)
}

/// Alters the bytes of a certificate: the number of those that can be read, and of those that are valid.
fn alter_bytes(image: &Image, certificate: &Certificate, cases: u64) -> (u32, u32) {
    let device = Device::named(&certificate.header.device).expect("it exists");
    let (start, content) = uncompressed(certificate);
    let read = |content: &[u8]| read(&start, content);
    assert_eq!(read(&content).expect("it is unaltered"), *certificate);
    let mut whole = Vec::new();
    certificate.write(&mut whole).expect("a list takes everything");
    let too_small = Certificate::read(whole.as_slice(), 1000).expect_err("it needs more");
    assert!(matches!(too_small.kind, ReadErrorKind::TooLarge { limit: 1000 }), "{too_small}");
    let (mut readable, mut valid) = (0, 0);
    for seed in 0..cases {
        let mut random = Random::new(seed);
        let mut altered = content.clone();
        for _ in 0..=random.below(3) {
            let place = random.below(altered.len());
            match random.below(4) {
                0 => altered[place] = random.byte(),
                1 => altered[place] ^= 1 << random.below(8),
                2 => altered.truncate(place.max(1)),
                _ => altered.insert(place, random.byte()),
            }
        }
        if let Ok(altered) = read(&altered) {
            readable += 1;
            valid += u32::from(avr_check::check(&altered, image, device).is_ok());
        }
    }
    (readable, valid)
}

#[test]
fn altered_bytes_are_read_or_refused() {
    let Sample { image, certificate, .. } = sample("watchdog.Og.elf", "watchdog.ron");
    let (readable, valid) = alter_bytes(&image, &certificate, 3000);
    // Most of what can still be read proves nothing any more; a name of a property may be altered at will.
    assert!(readable > 100 && valid < readable / 2, "{valid} of {readable}");
}

#[test]
fn a_branch_on_an_input() {
    check("branch.Og.elf", "branch.ron", 2000);
}

#[test]
fn a_hazard_by_an_input() {
    check("hazard-reserved-bit-write-by-input.elf", "inherent-gpio.ron", 1000);
}

#[test]
fn a_watchdog() {
    check("watchdog.Og.elf", "watchdog.ron", 500);
}

/// A program that compares a number twice.
fn compared_twice(changes: bool) -> Sample {
    without_error(predicates::program(changes))
}

/// A program that never says that there is an error.
fn without_error(image: Image) -> Sample {
    let text = "(properties: [Always(name: \"never\", check: \"PORTB != 0x2a\")])";
    let file = PropertyFile::parse("twice", text).unwrap_or_else(|error| panic!("{error}"));
    let device = Device::named("atmega328p-gpio").expect("it exists");
    let certificate = certified(&image, device, &file, text.to_owned());
    Sample { image, device, certificate }
}

#[test]
fn a_number_that_is_compared_twice() {
    let sample = compared_twice(false);
    assert!(sample.certificate.predicates.as_ref().is_some_and(|kept| !kept.compared.is_empty()));
    check_sample(&sample, 300);
}

/// A program that stores the outcome of a comparison, and compares the number again.
fn compared_with_flag() -> Sample {
    let never = "properties: [Always(name: \"never\", check: \"PORTB != 0x2a\")]";
    let text = format!("(predicates: [\"mem[0x102] == 0 || mem16[0x100] == 0x1234\"], {never})");
    let file = PropertyFile::parse("flag", &text).unwrap_or_else(|error| panic!("{error}"));
    let (image, device) = (image(&stored_outcome::program()), Device::named("atmega328p-gpio").expect("it exists"));
    let certificate = certified(&image, device, &file, text);
    Sample { image, device, certificate }
}

#[test]
fn a_disjunction_of_two_predicates() {
    let sample = compared_with_flag();
    assert!(sample.certificate.predicates.as_ref().is_some_and(|kept| kept.clauses.len() == 1));
    check_sample(&sample, 300);
}

#[test]
fn numbers_that_are_masked_and_sums() {
    let sample = without_error(predicates::program_with_expressions());
    let compared = sample.certificate.predicates.iter().flat_map(|kept| &kept.compared);
    let numbers: Vec<&Number> = compared.flat_map(|one| [&one.left, &one.right]).collect();
    assert!(numbers.iter().any(|number| number.plus == 5), "{numbers:?}");
    let is_masked = |number: &&&Number| number.bytes.iter().any(|byte| matches!(byte, Operand::Masked(..)));
    assert!(numbers.iter().any(|number| is_masked(&number)), "{numbers:?}");
    check_sample(&sample, 300);
}

#[test]
fn a_predicate_that_the_verifier_keeps_wrongly_is_not_accepted() {
    let Sample { image, device, certificate } = with_fault(Fault::KeptAfterWrite, || compared_twice(true));
    let claims_to_hold = |claim: &Claim| matches!(claim, Claim::Decided(decided) if decided.verdict == Verdict::Holds);
    assert!(certificate.claims.iter().all(claims_to_hold), "{:?}", certificate.claims);
    let check = || avr_check::check(&certificate, &image, device);
    assert!(with_fault(Fault::KeptAfterWrite, check).is_ok(), "a checker with the same fault accepts it");
    assert!(check().is_err());
}

#[test]
fn predicates_about_hardware_and_pairs_that_stand_twice_are_refused() {
    let Sample { image, device, certificate } = compared_twice(false);
    let refused = |alter: fn(&mut Vec<Comparison>)| {
        let mut altered = certificate.clone();
        alter(&mut altered.predicates.as_mut().expect("there are some").compared);
        avr_check::check(&altered, &image, device).expect_err("it is refused").to_string()
    };
    let of_pins = |compared: &mut Vec<Comparison>| compared[0].left.bytes[0] = Operand::Cell(DataAddress(0x23));
    let of_pins = refused(of_pins);
    assert!(of_pins.contains("what hardware changes"), "{of_pins}");
    let twice = refused(|compared| compared.push(compared[0].clone()));
    assert!(twice.contains("compared twice"), "{twice}");
}

#[test]
fn a_converter_that_is_polled() {
    check("adc-poll.Og.elf", "adc-poll.ron", 120);
}

#[test]
fn sleep_and_interrupts() {
    check("sleep-wake.Og.elf", "sleep-wake.ron", 100);
}
