//! Contracts of functions: what is wrong is told with its place and a hint; what is right becomes sets of cells and bytes.

use std::collections::BTreeMap;

use avr_image::Image;
use avr_isa::DataAddress;
use avr_machine::Contract;
use avr_properties::{Binding, PropertyError, PropertyFile, Setting, bind_contracts};

use super::support::{device, options};

/// An image with a function that reads a level, and a variable: see `firmware-samples/level-limit`.
fn image() -> Image {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../firmware-samples/level-limit/level-limit.Og.elf");
    Image::load(path, &options()).expect("the sample is there")
}

fn bound(contracts: &str, more: &str) -> Result<Vec<Contract>, Box<PropertyError>> {
    let file = PropertyFile::parse("p.ron", &format!("(contracts: {{{contracts}}}, {more})"))?;
    let (image, device, eeprom) = (image(), device("atmega328p"), BTreeMap::new());
    let machine = Setting { image: &image, device, start: None, file: &file, eeprom: &eeprom }.machine()?;
    let binding = Binding {
        device,
        image: &image,
        start: 0,
        ends_paths: file.ends_paths(),
        stacks: &file.stacks,
        boot_start: None,
    };
    Ok(bind_contracts(&file, &binding, &machine)?)
}

/// Checks that a file is refused with a place, a message that begins so, and a hint if one is expected.
#[track_caller]
fn check_in(contracts: &str, more: &str, message: &str, hint: Option<&str>) {
    let error = bound(contracts, more).expect_err("it is wrong").to_string();
    assert!(error.starts_with("p.ron:1:") && error.contains(message), "{error}");
    assert!(hint.is_none_or(|hint| error.contains(&format!("hint: {hint}"))), "{error}");
}

#[track_caller]
fn check(contracts: &str, message: &str, hint: Option<&str>) {
    check_in(contracts, "", message, hint);
}

/// A contract of the function with these fields.
#[track_caller]
fn check_fields(fields: &str, message: &str, hint: Option<&str>) {
    check(&format!("\"read_level\": ({fields})"), message, hint);
}

#[test]
fn functions() {
    check("\"read_levle\": (stack: 2)", "read_levle", None);
    check("\"clipped\": (stack: 2)", "clipped is no function", Some("name a function"));
    check("\"0x7ffe\": (stack: 2)", "0x7ffe is no function", Some("name a function"));
    check("\"0x0000\": (stack: 2)", "the program begins in 0x0000", Some("leave the contracts out"));
    check("\"read_level\": (stack: 2), \"read_level\": (stack: 3)", "'read_level' is given twice", None);
    // The start-up code jumps over it to the end of the program.
    check("\"_exit\": (stack: 2)", "is entered by a jump", Some("leave the contract out, or compile with"));
}

#[test]
fn fields() {
    check_fields("writes: []", "the field 'stack' is missing", None);
    check_fields("stack: 2, enables: true", "enables interrupts has no contract yet", Some("leave the contract out"));
    check_fields("stack: 2, event: []", "there is no field 'event' here", None);
    check_fields("stack: 2, writes: [\"clippde\"]", "clippde", None);
    check_fields("stack: 2, writes: [\"DDRB\"]", "DDRB is no variable in SRAM", Some("leave it out"));
    check_fields("stack: 2, writes: [\"read_level\"]", "read_level", None);
    check_fields("stack: 2, writes: [\"SREG\"]", "SREG is no variable", Some("leave it out"));
}

#[test]
fn conditions() {
    let returns = |text: &str| format!("stack: 2, writes: [\"clipped\"], returns: \"{text}\"");
    check_fields(&returns("r24 <= "), "expected", None);
    check_fields(&returns("r24 < 5 && r24 > 6"), "no content of r24 satisfies", Some("change the condition"));
    check_fields(&returns("r24 + r25 == 7"), "each part of the condition speaks of one byte", Some("join parts"));
    check_fields(&returns("x == 300"), "each part of the condition speaks of one byte", Some("join parts"));
    check_fields(
        &returns("r16 == 1"),
        "this speaks of r16, which the function does not change",
        Some("leave this part"),
    );
    check_fields(&returns("pc == 0x80"), "the content of registers and variables only", Some("compare the content"));
    check_fields(&returns("AG (r24 == 1)"), "", None);
}

#[test]
fn other_settings() {
    let contract = "\"read_level\": (stack: 2)";
    check_in(contract, "environment: [reset]", "contracts do not go with resets", Some("leave the contracts out"));
    check_in(contract, "allow: {\"reserved-opcode\": \"why\"}", "do not go with hazards that are allowed", None);
    check_in(contract, "forbid: [\"out-of-object\"]", "do not go with findings that are forbidden", None);
}

#[test]
fn contracts_are_bound() {
    let text = "\"read_level\": (returns: \"r24 <= 100 && (clipped == 1 || clipped == 0)\", writes: [\"clipped\", \"PORTB\"], stack: 2)";
    let all = bound(text, "").unwrap_or_else(|error| panic!("{error}"));
    let [contract] = all.as_slice() else { panic!("there is one contract") };
    let clipped = image().symbols.find("clipped").expect("it is there").place.data().expect("it is a variable");
    assert_eq!((contract.name.as_str(), contract.stack), ("read_level", 2));
    assert_eq!(contract.writes, [DataAddress(0x25), clipped]);
    let values = |cell| contract.returned(cell).expect("it is told");
    assert!(values(DataAddress(24)).contains(100) && !values(DataAddress(24)).contains(101));
    assert!(values(clipped).contains(1) && !values(clipped).contains(2));
    assert_eq!(bound("", "").unwrap_or_else(|error| panic!("{error}")), []);
}
