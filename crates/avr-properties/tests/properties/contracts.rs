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
    check_fields("stack: 2, events: [\"read(PIMB)\"]", "PIMB", None);
    let no_event = |event: &str| {
        let message = format!("{event} is no read or write of an I/O register, and no call");
        check_fields(&format!("stack: 2, events: [\"{event}\"]"), &message, Some("name events as in"));
    };
    for event in ["PORTB == 1", "write(PORTB) == 1", "read(clipped)", "return(main)", "!write(PORTB)"] {
        no_event(event);
    }
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
    check_fields(&returns("x > 300 && x < 302 && mem[26] == 0"), "no content of r27, r26 satisfies", Some("change"));
    check_fields(&returns("mem16[24] == 5 && r24 == 6"), "no content of r25, r24 satisfies", Some("change"));
    check_fields(&returns("mem16[24] == x"), "that satisfy the condition are too many", Some("compare words"));
    check_fields(&returns("true"), "each part of the condition speaks of the content", Some("leave this part"));
    check_fields(&returns("mem16[16] == 1"), "this speaks of r16, which the function does not change", None);
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
    assert!(values(DataAddress(24)).contains(|_| 100) && !values(DataAddress(24)).contains(|_| 101));
    assert!(values(clipped).contains(|_| 1) && !values(clipped).contains(|_| 2));
    assert_eq!(bound("", "").unwrap_or_else(|error| panic!("{error}")), []);
}

/// Events become registers, and functions that are not called.
#[test]
fn events_are_bound() {
    let text = "\"read_level\": (stack: 2, events: [\"read(PINB)\", \"write(TCNT1)\", \"call(main)\"])";
    let all = bound(text, "").unwrap_or_else(|error| panic!("{error}"));
    let events = all[0].events.as_ref().expect("they are said");
    let (cell, sram) = (|address: u16| DataAddress(address)..DataAddress(address + 1), DataAddress(0x100));
    assert!(events.may_read(&cell(0x23), sram) && !events.may_read(&cell(0x24), sram));
    assert!(!events.may_write(&cell(0x23), sram) && events.may_write(&cell(0x84), sram));
    assert!(events.may_write(&cell(0x85), sram) && !events.may_write(&cell(0x86), sram));
    // Of memory nothing is said.
    assert!(events.may_read(&cell(0x100), sram) && events.may_write(&(DataAddress(0xff)..DataAddress(0x101)), sram));
    let image = image();
    let entry = |name: &str| image.symbols.find(name).expect("it is there").place.flash().expect("it is code").word();
    assert!(!events.excludes_call(entry("main")) && !events.excludes_call(entry("read_level")));
    let without = bound("\"read_level\": (stack: 2, events: [])", "").unwrap_or_else(|error| panic!("{error}"));
    assert!(without[0].events.as_ref().is_some_and(|events| events.excludes_call(entry("main"))));
}

/// A condition about a word, and the words of which it is true.
type OfWord = (&'static str, fn(u16) -> bool);

/// Conditions about words are true of the same contents as the products of sets that they become.
#[test]
fn words_become_products_of_sets() {
    let parts = |returns: &str| {
        let all = bound(&format!("\"read_level\": (returns: \"{returns}\", stack: 2)"), "");
        let mut all = all.unwrap_or_else(|error| panic!("{returns}: {error}"));
        all.remove(0).returns
    };
    let two: [OfWord; 7] = [
        ("mem16[24] <= 1000", |word| word <= 1000),
        ("mem16[24] == 300 || mem16[24] > 0xfff0", |word| word == 300 || word > 0xfff0),
        ("mem16[24] != 0x1234 && r24 != 7", |word| word != 0x1234 && word & 0xff != 7),
        ("!(mem16[24] < 513)", |word| word >= 513),
        ("r24 + r25 == 7", |word| (word >> 8) + (word & 0xff) == 7),
        ("r25 == 0 || (mem16[24] & 0x0103) == 1", |word| word < 256 || word & 0x0103 == 1),
        ("signed(mem16[24]) >= -5", |word| word as i16 >= -5),
    ];
    for (condition, expected) in two {
        let all = parts(condition);
        let [returned] = all.as_slice() else { panic!("{condition} is one part") };
        assert_eq!(returned.cells, [DataAddress(25), DataAddress(24)]);
        for word in 0..=u16::MAX {
            let is_in = returned.contains(|cell| word.to_le_bytes()[usize::from(cell.0 - 24)]);
            assert_eq!(is_in, expected(word), "{condition}: {word}");
        }
        for product in &returned.products {
            assert!(!product.iter().any(|set| set.is_empty()), "{condition}");
        }
    }
    // A number of four bytes: at its bounds.
    let four = "(mem16[24] << 16 | mem16[22]) <= 100000";
    let all = parts(four);
    let [returned] = all.as_slice() else { panic!("it is one part") };
    for number in [0, 1, 99_999, 100_000, 100_001, 65_536, 1 << 24, u32::MAX] {
        let is_in = returned.contains(|cell| number.to_le_bytes()[usize::from(cell.0 - 22)]);
        assert_eq!(is_in, number <= 100_000, "{number}");
    }
    // Parts about different bytes stay apart.
    assert_eq!(parts("r24 <= 3 && mem16[22] <= 1000").len(), 2);
}
