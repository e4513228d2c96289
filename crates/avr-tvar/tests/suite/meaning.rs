//! Formulas say what they mean, or say that they do not: calls without a call instruction, notes, what has two readings or none,
//! and what an assumption on a pin keeps from happening.

use std::path::Path;
use std::process::{Command, Output};

use avr_certificate::Certificate;
use avr_image::{Image, LoadOptions};
use avr_machine::device::Device;
use avr_testkit::schema;
use serde_json::Value;
use tempfile::TempDir;

const IMAGES: &str = "tests/regressions/images";
const BRANCH: &str = "firmware-samples/branch/branch.Og.elf";

/// Runs the program in the root of the repository.
fn avr_tvar(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    command.args(arguments).current_dir(root).env_remove("CLICOLOR_FORCE").output().expect("the program starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("output is UTF-8")
}

fn image(name: &str) -> String {
    format!("{IMAGES}/{name}.elf")
}

/// The report on some properties, and the exit code.
#[track_caller]
fn report(arguments: &[&str]) -> (Value, Option<i32>) {
    let output = avr_tvar(&[&["verify", "--format", "json"], arguments].concat());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let problems = schema::problems(&report, schema::REPORT);
    assert!(problems.is_empty(), "{problems:?}");
    (report, output.status.code())
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("there is room for a folder")
}

/// The verifier, its replay and the checker agree on what is a call and a return.
#[test]
fn the_checker_agrees_on_calls_and_returns() {
    let folder = folder();
    let certificate = folder.path().join("c");
    let certificate = certificate.to_str().expect("the path is UTF-8");
    #[track_caller]
    fn check(name: &str, certificate: &str, properties: &[&str]) {
        let image = image(name);
        let given: Vec<&str> = properties.iter().flat_map(|property| ["--property", property]).collect();
        let arguments = [&["verify", &image, "--certificate", certificate], &given[..]].concat();
        let output = avr_tvar(&arguments);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{}", text(&output.stdout));
        let checked = avr_tvar(&["check", certificate, &image]);
        assert_eq!(checked.status.code(), Some(0), "{}{}", text(&checked.stdout), text(&checked.stderr));
        let proved =
            text(&checked.stdout).matches("\nholds").count() + text(&checked.stdout).matches("\nviolated").count();
        assert!(proved >= properties.len(), "{}", text(&checked.stdout));
    }
    check(
        "tail-call",
        certificate,
        &[
            "Never(check: \"call(danger) && PORTC != 2\")",
            "Never(check: \"return(outer)\")",
            "AG(call(outer) -> AF return(outer))",
            "AG(return(outer) -> return(middle) && return(danger))",
        ],
    );
    check(
        "tail-frame",
        certificate,
        &["Never(check: \"return(first) && PORTB.0\")", "Never(check: \"return(vector_1)\")"],
    );
    check("tail-branch", certificate, &["Never(check: \"call(unused)\")", "Never(check: \"call(skipped)\")"]);
}

/// A jump may be a call where symbols do not tell functions, and a note says so in every report.
#[test]
fn what_symbols_do_not_tell_is_noted() {
    let image = image("unsized-call");
    let property = "Never(check: \"call(danger)\")";
    let (report, code) = report(&[&image, "--property", property]);
    assert_eq!(code, Some(3));
    assert_eq!(report["results"][0]["verdict"], "unknown");
    let notes = report["results"][0]["notes"].to_string();
    assert!(notes.contains("does not state the size of the function at 0x8"), "{notes}");
    assert!(notes.contains("does not tell which function leads to 0x8 at 0x6"), "{notes}");
    let output = avr_tvar(&["verify", &image, "--property", property]);
    assert!(text(&output.stdout).contains("note: the image does not state the size"), "{}", text(&output.stdout));
    // A call by a call instruction is one wherever it comes from.
    assert_eq!(avr_tvar(&["verify", &image, "--property", "Never(check: \"call(middle)\")"]).status.code(), Some(1));
}

#[test]
fn a_hex_file_does_not_tell_functions() {
    let folder = folder();
    let path = folder.path().join("jump.hex");
    // rcall .+2; rjmp .-2; rjmp .+0; ret
    std::fs::write(&path, ":0800000001D0FFCF00C00895FC\n:00000001FF\n").expect("it can be written");
    let path = path.to_str().expect("the path is UTF-8");
    let (report, code) = report(&[path, "--property", "Never(check: \"call(0x6)\")"]);
    assert_eq!((report["results"][0]["verdict"].as_str(), code), (Some("unknown"), Some(3)));
    let notes = report["results"][0]["notes"].to_string();
    assert!(notes.contains("names nothing at 0x6") && notes.contains("leads to 0x6 at 0x4"), "{notes}");
    // A jump to itself is none from another function, and what the code falls through to is hardly a function.
    let (report, code) = self::report(&[path, "--property", "Never(check: \"call(0x2)\")"]);
    assert_eq!((report["results"][0]["verdict"].as_str(), code), (Some("holds"), Some(0)));
    assert!(report["results"][0]["notes"].to_string().contains("falls through"), "{report}");
}

/// The note that `props` prints, in text and JSON.
#[test]
fn a_guessed_extent_is_noted_everywhere() {
    let image = image("unsized-call");
    let note = "the image does not state the size of 'middle'; it is taken to reach from 0x4 to the next symbol at 0x8";
    let (report, _) = report(&[&image, "--property", "Reachable(check: \"pc in middle\")"]);
    assert_eq!(report["results"][0]["notes"][0], note);
    let output = avr_tvar(&["verify", &image, "--property", "Reachable(check: \"pc in middle\")"]);
    assert!(text(&output.stdout).contains(&format!("note: {note}")), "{}", text(&output.stdout));
    let (report, _) = self::report(&[&self::image("tail-call"), "--property", "Reachable(check: \"pc in middle\")"]);
    assert_eq!(report["results"][0]["notes"].as_array().map(Vec::len), Some(0));
}

#[test]
fn what_has_two_readings_is_refused_with_both() {
    #[track_caller]
    fn check(property: &str, readings: [&str; 2]) {
        let output = avr_tvar(&["verify", BRANCH, "--device", "atmega328p-gpio", "--property", property]);
        assert_eq!(output.status.code(), Some(2));
        for reading in readings {
            assert!(text(&output.stderr).contains(&format!("`{reading}`")), "{}", text(&output.stderr));
        }
    }
    check(
        "A[PORTB == 0 -> PORTC == 0 U PORTD == 1]",
        ["A[(PORTB == 0 -> PORTC == 0) U PORTD == 1]", "A[PORTB == 0 -> (PORTC == 0 U PORTD == 1)]"],
    );
    check("A[F PORTC == 0 U PORTD == 1]", ["A[(F PORTC == 0) U PORTD == 1]", "A[F (PORTC == 0 U PORTD == 1)]"]);
    check("Ltl(check: \"G PORTC == 0 U PORTD == 1\")", ["(G PORTC == 0) U PORTD == 1", "G (PORTC == 0 U PORTD == 1)"]);
}

/// The other properties are decided.
#[test]
fn a_formula_that_grows_too_large_leaves_its_own_property_unknown() {
    let operands = (0..20).map(|cell| format!("(G F mem[{}] == 0 && F G mem[{}] == 1)", 0x100 + cell, 0x200 + cell));
    let large = format!("Ltl(check: \"G ({})\")", operands.collect::<Vec<_>>().join(" || "));
    let properties = ["--property", &large, "--property", "Inherent()"];
    let (report, code) = report(&[&[BRANCH, "--device", "atmega328p-gpio"], &properties[..]].concat());
    assert_eq!(code, Some(3));
    assert_eq!(report["results"][0]["verdict"], "unknown");
    assert!(report["results"][0]["reason"].as_str().is_some_and(|reason| reason.contains("grows too large")));
    assert_eq!(report["results"][1]["verdict"], "holds");
}

#[test]
fn comparisons_without_a_choice_are_refused_or_make_a_property_vacuous() {
    let verify = |property: &str| report(&[BRANCH, "--device", "atmega328p-gpio", "--property", property]);
    let refused = avr_tvar(&["verify", BRANCH, "--property", "Never(check: \"PORTB < -200\")"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("signed(…)"), "{}", text(&refused.stderr));
    let (report, code) = verify("Always(check: \"PORTB.0 != 2\")");
    assert_eq!(code, Some(0));
    let vacuous = &report["results"][0]["vacuous"];
    assert_eq!((vacuous["subformula"].as_str(), vacuous["replaced_by"].as_str()), (Some("PORTB.0 != 2"), Some("true")));
    assert_eq!(report["results"][0]["notes"][0], "`PORTB.0 != 2` is always true, whatever the state");
    let denied = ["verify", BRANCH, "--deny", "vacuous", "--property", "Always(check: \"PORTB.0 != 2\")"];
    assert_eq!(avr_tvar(&denied).status.code(), Some(1));
    let (report, _) = verify("Always(check: \"PORTB != 200\")");
    assert!(report["results"][0]["vacuous"].is_null(), "{report}");
}

/// An event that only a pin could bring which is assumed to be constant is in the model.
#[test]
fn an_assumption_on_a_pin_holds_for_its_interrupts_and_flags() {
    let folder = folder();
    let path = folder.path().join("pin.ron");
    let check = |assume: &str, expected: [&str; 3]| {
        let properties = (0..3).map(|bit| format!("Never(check: \"PORTB.{bit} == 1\")")).collect::<Vec<_>>().join(", ");
        let file = format!("(device: \"atmega328p\", assume: [{assume}], properties: [{properties}])");
        std::fs::write(&path, file).expect("it can be written");
        let (report, _) = report(&[&image("held-pin"), path.to_str().expect("the path is UTF-8")]);
        let found = [0, 1, 2].map(|number| {
            let result = &report["results"][number];
            assert_eq!(result["verdict"], "violated");
            result["basis"].as_str().expect("it is text").to_owned()
        });
        assert_eq!(found, expected, "{assume}");
    };
    check("", ["hardware", "hardware", "hardware"]);
    check("\"PIND.2 == 1\"", ["model", "hardware", "hardware"]);
    check("\"PIND & 0x0c == 0x08\"", ["model", "model", "hardware"]);
    check("\"PIND.0 == 1\"", ["hardware", "hardware", "model"]);
    check("\"PINB == 0\"", ["hardware", "hardware", "hardware"]);
}

/// The past begins anew where `A[…]` is judged; in `Ltl` it begins with the run.
#[test]
fn the_past_begins_where_the_path_quantifier_stands() {
    let verify = |property: &str| avr_tvar(&["verify", &image("tail-call"), "--property", property]).status.code();
    assert_eq!(verify("Ltl(check: \"G O pc == 0\")"), Some(0));
    assert_eq!(verify("AG A[O pc == 0]"), Some(1));
    assert_eq!(verify("A[G O pc == 0]"), Some(0));
}

/// The checker looks at what a frame carries.
#[test]
fn a_certificate_that_forgets_what_was_left_is_rejected() {
    let folder = folder();
    let path = folder.path().join("c");
    let (firmware, given) = (image("tail-call"), path.to_str().expect("the path is UTF-8"));
    let property = ["--property", "AG(call(outer) -> AF return(outer))"];
    let verified = avr_tvar(&[&["verify", &firmware, "--certificate", given], &property[..]].concat());
    assert_eq!(verified.status.code(), Some(0), "{}", text(&verified.stdout));
    let device = Device::named("atmega328p").expect("it exists");
    let options = LoadOptions::new(device.memory.flash_bytes, device.memory.eeprom_bytes.into());
    let elf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(&firmware);
    let loaded = Image::load(elf, &options).expect("it is valid");
    let bytes = std::fs::read(&path).expect("it was written");
    let mut certificate = Certificate::read(&bytes[..], 1 << 30).expect("it is one");
    assert!(avr_check::check(&certificate, &loaded, device).is_ok());
    let carries: Vec<usize> =
        (0..certificate.store.calls.len()).filter(|number| certificate.store.calls[*number].frame.left != 0).collect();
    assert!(!carries.is_empty(), "a frame carries that `outer` was left");
    for number in carries {
        let left = std::mem::take(&mut certificate.store.calls[number].frame.left);
        assert!(avr_check::check(&certificate, &loaded, device).is_err(), "frame {number}");
        certificate.store.calls[number].frame.left = left;
    }
    certificate.store.calls.iter_mut().for_each(|link| link.frame.left = 1);
    assert!(avr_check::check(&certificate, &loaded, device).is_err());
}
