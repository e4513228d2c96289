//! The stacks of tasks in property files: what they are, and what is said of those that are none.

use std::collections::BTreeMap;

use avr_image::Image;
use avr_isa::DataAddress;
use avr_machine::StackArea;
use avr_properties::{AtomTable, Binding, PropertyError, PropertyFile, Setting, bind};
use three_valued::{Truth, TvByte};

use super::support::{State, device, hex, options, typed};

/// A kernel with two stacks of 48 bytes.
fn kernel() -> Image {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../firmware-samples/kernel-turns/kernel-turns.Os.elf");
    Image::load(path, &options()).expect("it is valid")
}

fn file(text: &str) -> PropertyFile {
    PropertyFile::parse("stacks.ron", text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The areas that a machine with these stacks has.
fn areas(stacks: &str, image: &Image) -> Result<Vec<StackArea>, PropertyError> {
    let file = PropertyFile::parse("stacks.ron", &format!("(stacks: [{stacks}])"))?;
    let (device, eeprom) = (device("atmega328p"), BTreeMap::new());
    let machine = Setting { image, device, start: None, file: &file, eeprom: &eeprom }.machine()?;
    Ok(machine.options().stacks.clone())
}

fn area(lowest: u16, bytes: u16) -> StackArea {
    StackArea { lowest: DataAddress(lowest), highest: DataAddress(lowest + bytes - 1) }
}

#[test]
fn a_stack_is_a_variable_or_a_place() {
    let of_lights = kernel().symbols.find("stack_of_lights").expect("it is there").place.data().expect("it is in SRAM");
    let found = areas(r#"(symbol: "stack_of_lights"), (symbol: "mine", at: 0x300, bytes: 20)"#, &kernel());
    assert_eq!(found, Ok(vec![area(of_lights.0, 48), area(0x300, 20)]));
    assert_eq!(areas(r#"(symbol: "mine", at: 0x300, bytes: 20)"#, &hex()), Ok(vec![area(0x300, 20)]));
}

#[test]
fn what_is_no_stack_is_refused_with_its_place() {
    #[track_caller]
    fn check(stacks: &str, expected: &str) {
        let error = areas(stacks, &kernel()).expect_err(stacks).to_string();
        assert!(error.starts_with("stacks.ron:1:") && error.contains(expected), "{stacks}: {error}");
    }
    check(r#"(symbol: "stack_of_light")"#, "nothing is named 'stack_of_light'; did you mean stack_of_lights?");
    check(r#"(symbol: "running")"#, "expected a variable in SRAM that is larger than a return address");
    check(r#"(symbol: "main")"#, "expected the name of a variable");
    check(r#"(symbol: "yield")"#, "expected a variable in SRAM");
    check(r#"(symbol: "1 +")"#, "expected the name of a variable");
    check(r#"(symbol: "s", at: 0x8f0, bytes: 32)"#, "expected a variable in SRAM");
    check(r#"(symbol: "s", at: 0xfff0, bytes: 32)"#, "expected a variable in SRAM");
    check(r#"(symbol: "s", at: 0x300)"#, "the field 'bytes' is missing");
    check(r#"(symbol: "s", bytes: 3)"#, "the field 'at' is missing");
    check(r#"(symbol: "s", at: 0x300, bytes: 20), (symbol: "t", at: 0x313, bytes: 20)"#, "'t' is given twice");
    check(r#"(name: "s")"#, "there is no field 'name' here");
}

#[test]
fn parts_of_variables_are_stacks() {
    let image = typed();
    let table = |name: &str| image.symbols.find(name).expect("it is there").place.data().expect("it is in SRAM").0;
    let found = areas(r#"(symbol: "line"), (symbol: "cfg.table[1]")"#, &image);
    // `level` and `mode` take three bytes, the two halves two more, the points nine, a row of the table four.
    assert_eq!(found, Ok(vec![area(table("line"), 8), area(table("cfg") + 18, 4)]));
    let refused = areas(r#"(symbol: "cfg.table[2]")"#, &image).expect_err("there are two rows").to_string();
    assert!(refused.contains("table"), "{refused}");
    assert!(areas(r#"(symbol: "cfg.table[place]")"#, &image).is_err(), "the place depends on the state");
}

#[test]
fn limits_and_atoms_speak_of_one_stack() {
    let image = kernel();
    let text = r#"(
        stacks: [(symbol: "s", at: 0x300, bytes: 20), (symbol: "t", at: 0x400, bytes: 20)],
        properties: [
            Stack(max_bytes: 10),
            Stack(of: "t", max_bytes: 4),
            Stack(of: "s", margin: 6),
            Formula(check: "on_stack(t)"),
            Formula(check: "on_stack(main)"),
        ],
    )"#;
    let file = file(text);
    let binding = Binding {
        device: device("atmega328p"),
        image: &image,
        start: 0,
        ends_paths: false,
        stacks: &file.stacks,
        boot_start: None,
    };
    let mut table = AtomTable::new();
    let texts: Vec<String> = file
        .properties
        .iter()
        .map(|property| bind(property, &file.definitions, &binding, &mut table).expect("it binds").formula_text)
        .collect();
    assert_eq!(
        texts,
        [
            "AG (sp_torn || !on_stack(main) || sp >= 0x8f5)",
            "AG (sp_torn || !on_stack(t) || sp >= 0x40f)",
            "AG (sp_torn || !on_stack(s) || sp >= 0x305)",
            "on_stack(t)",
            "on_stack(main)",
        ]
    );
    let on = |name: &str, stack| {
        let atom = table.atoms().iter().find(|atom| atom.text() == name).expect("it is there");
        atom.evaluate(&State { stack, ..State::zero().with(&[(0x5d, TvByte::ZERO)]) })
    };
    assert_eq!(
        [on("on_stack(t)", 2), on("on_stack(t)", 1), on("on_stack(main)", 0)],
        [Truth::True, Truth::False, Truth::True]
    );
}

#[test]
fn a_limit_of_no_stack_is_refused() {
    let image = kernel();
    let file = file(
        r#"(stacks: [(symbol: "task", at: 0x300, bytes: 20)], properties: [Stack(of: "tusk", margin: 1), Formula(check: "on_stack(tusk)")])"#,
    );
    let binding = Binding {
        device: device("atmega328p"),
        image: &image,
        start: 0,
        ends_paths: false,
        stacks: &file.stacks,
        boot_start: None,
    };
    for property in &file.properties {
        let error =
            bind(property, &file.definitions, &binding, &mut AtomTable::new()).expect_err("there is no such stack");
        assert!(error.to_string().contains("there is no stack 'tusk'; did you mean task?"), "{error}");
    }
}
