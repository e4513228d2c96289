//! `initially` and `application` in property files: what they mean, and what is said of wrong ones.

use std::collections::BTreeMap;

use avr_image::Image;
use avr_isa::{DataAddress, EepromAddress, FlashWordAddress};
use avr_machine::{Application, Fetched, Machine, Starts};
use avr_properties::{PropertyError, PropertyFile, Setting, StartsAt, application_hex};
use expect_test::{Expect, expect};
use three_valued::{Truth, TvByte};

use super::support::{State, device, fixture, hex, options, typed};

const MCUSR: DataAddress = DataAddress(0x54);

fn machine(text: &str, image: &Image) -> Result<Machine, PropertyError> {
    of_file(&PropertyFile::parse("p.ron", text)?, image)
}

fn of_file(file: &PropertyFile, image: &Image) -> Result<Machine, PropertyError> {
    let eeprom = BTreeMap::from([(EepromAddress(7), 0x5a)]);
    Setting { image, device: device("atmega328p"), start: None, file, eeprom: &eeprom }.machine()
}

/// Cells with what is fixed of them: value and mask.
fn starts(first: &[(DataAddress, u8, u8)], later: &[(DataAddress, u8, u8)]) -> Starts {
    let all = |cells: &[(DataAddress, u8, u8)]| {
        cells.iter().map(|(cell, value, mask)| (*cell, TvByte::new(*value, *mask))).collect()
    };
    Starts { first: all(first), later: all(later) }
}

#[track_caller]
fn check(initially: &str, expected: &Starts) {
    let machine = machine(&format!("(initially: {initially})"), &hex()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(machine.options().starts, *expected, "{initially}");
}

#[test]
fn conditions_fix_bits_of_cells() {
    let cell = DataAddress(0x100);
    check("[]", &Starts::default());
    check(r#"["mem[0x100] == 0x5a"]"#, &starts(&[(cell, 0x5a, 0xff)], &[]));
    check(r#"["mem[0x100] & 0x0f == 3 && mem[0x100] & 0x80 == 0x80"]"#, &starts(&[(cell, 0x83, 0x8f)], &[]));
    check(r#"["mem[0x100] & 0x0f == 3", "mem[0x100] >= 0x80"]"#, &starts(&[(cell, 0x83, 0x8f)], &[]));
    check(r#"["mem[0x100] < 4"]"#, &starts(&[(cell, 0, 0xfc)], &[]));
    check(r#"["!(mem[0x100] >= 4)"]"#, &starts(&[(cell, 0, 0xfc)], &[]));
    let next = DataAddress(0x101);
    check(r#"["mem16[0x100] == 0x1234"]"#, &starts(&[(cell, 0x34, 0xff), (next, 0x12, 0xff)], &[]));
    check(r#"["mem16[0x100] < 0x0200"]"#, &starts(&[(cell, 0, 0), (next, 0, 0xfe)], &[]));
    check(
        r#"["mem[0x100] == mem[0x101] && false || mem16[0x100] == 0"]"#,
        &starts(&[(cell, 0, 0xff), (next, 0, 0xff)], &[]),
    );
    let of_eeprom = device("atmega328p").memory.unreached_end();
    check(r#"["eeprom[0] == 0xa5"]"#, &starts(&[(of_eeprom, 0xa5, 0xff)], &[]));
    check(r#"["eeprom[7] & 0xf0 == 0x50"]"#, &starts(&[(of_eeprom.wrapping_add(7), 0x50, 0xf0)], &[]));
    check(r#"(reset: ["mem[0x100] == 1"])"#, &starts(&[], &[(cell, 1, 0xff)]));
    check(
        r#"(power_on: ["mem[0x100] == 2"], reset: ["mem[0x100] == 1"])"#,
        &starts(&[(cell, 2, 0xff)], &[(cell, 1, 0xff)]),
    );
}

#[test]
fn causes_of_resets_are_those_of_the_device() {
    check(r#"["MCUSR == 2"]"#, &starts(&[(MCUSR, 2, 0xff)], &[]));
    check(r#"["MCUSR & 2 == 2"]"#, &starts(&[(MCUSR, 2, 0xf2)], &[]));
    check(r#"["MCUSR.WDRF == 1 && MCUSR.PORF == 0"]"#, &starts(&[(MCUSR, 8, 0xf9)], &[]));
    check(r#"(power_on: ["MCUSR.BORF == 0"])"#, &starts(&[(MCUSR, 1, 0xfd)], &[]));
    check(r#"(power_on: ["MCUSR.WDRF == 0"])"#, &starts(&[(MCUSR, 1, 0xf9)], &[]));
    check(r#"(reset: ["MCUSR == 2"])"#, &starts(&[], &[(MCUSR, 2, 0xff)]));
    check(r#"(reset: ["MCUSR.PORF == 0"])"#, &starts(&[], &[(MCUSR, 0, 0xf1)]));
}

#[test]
fn conditions_speak_of_their_starts() {
    let file = PropertyFile::parse("p.ron", r#"(initially: (power_on: ["MCUSR == 1"], reset: ["mem[0x100] == 1"]))"#);
    let file = file.expect("it is right");
    let said: Vec<(StartsAt, String)> = file.initially.iter().map(|one| (one.at, one.to_string())).collect();
    assert_eq!(
        said,
        [
            (StartsAt::PowerOn, "after power-on: MCUSR == 1".to_owned()),
            (StartsAt::Reset, "after each later reset: mem[0x100] == 1".to_owned())
        ]
    );
    let file = PropertyFile::parse("p.ron", r#"(initially: ["MCUSR == 1"])"#).expect("it is right");
    assert_eq!(file.initially[0].to_string(), "at the first start: MCUSR == 1");
}

#[test]
fn variables_have_their_names() {
    let image = typed();
    let symbol =
        image.symbols.all().iter().find(|symbol| {
            symbol.place.data().is_some() && symbol.size == 1 && image.symbols.find(&symbol.name).is_ok()
        });
    let symbol = symbol.expect("there is a variable of one byte");
    let machine = machine(&format!(r#"(initially: ["\"{}\" == 3"])"#, symbol.name), &image).expect("it is right");
    let cell = symbol.place.data().expect("it is in the SRAM");
    assert_eq!(machine.options().starts, starts(&[(cell, 3, 0xff)], &[]));
    let image = fixture("sensor.elf");
    let symbol = image.symbols.eeprom().find(|symbol| matches!(symbol.size, 1 | 2)).expect("it is in the EEPROM");
    let machine = of_file(
        &PropertyFile::parse("p.ron", &format!(r#"(initially: ["\"{}\" == 3"])"#, symbol.name)).expect("it is right"),
        &image,
    );
    let cells = machine.expect("it is right").options().starts.first.len();
    assert_eq!(cells, symbol.size as usize);
}

#[track_caller]
fn check_refused(text: &str, expected: Expect) {
    expected.assert_eq(&machine(text, &hex()).err().map_or_else(|| "accepted".to_owned(), |error| error.to_string()));
}

#[test]
fn what_no_start_has_is_refused_with_its_place() {
    check_refused(
        r#"(initially: ["PORTB == 1"])"#,
        expect![[r#"
        p.ron:1:14: initially: PORTB cannot be restricted: `initially` speaks of the SRAM, the EEPROM and MCUSR
          (initially: ["PORTB == 1"])
                       ^^^^^^^^^^^^
        hint: assume speaks of inputs; all other registers are at the start as the data sheet says"#]],
    );
    check_refused(
        r#"(initially: ["r16 == 1"])"#,
        expect![[r#"
        p.ron:1:14: initially: mem[0x0010] cannot be restricted: `initially` speaks of the SRAM, the EEPROM and MCUSR
          (initially: ["r16 == 1"])
                       ^^^^^^^^^^
        hint: assume speaks of inputs; all other registers are at the start as the data sheet says"#]],
    );
    check_refused(
        r#"(initially: ["MCUSR == 0"])"#,
        expect![[r#"
        p.ron:1:14: no start has MCUSR so: nothing would be left to verify
          (initially: ["MCUSR == 0"])
                       ^^^^^^^^^^^^"#]],
    );
    check_refused(
        r#"(initially: ["MCUSR == 0x12"])"#,
        expect![[r#"
        p.ron:1:14: no start has MCUSR so: nothing would be left to verify
          (initially: ["MCUSR == 0x12"])
                       ^^^^^^^^^^^^^^^"#]],
    );
    check_refused(
        r#"(initially: ["MCUSR.WDRF == 0"])"#,
        expect![[r#"
        p.ron:1:14: no cause of the first reset is said to stand in MCUSR
          (initially: ["MCUSR.WDRF == 0"])
                       ^^^^^^^^^^^^^^^^^
        hint: say which one, as in `MCUSR & 0x0f == 2`, or write initially: (power_on: […])"#]],
    );
    check_refused(
        r#"(initially: ["MCUSR == 2", "MCUSR == 4"])"#,
        expect![[r#"
        p.ron:1:28: this contradicts what is said of MCUSR before
          (initially: ["MCUSR == 2", "MCUSR == 4"])
                                     ^^^^^^^^^^^^"#]],
    );
    check_refused(
        r#"(initially: ["mem[0x100] == 1 && mem[0x100] == 2"])"#,
        expect![[r#"
        p.ron:1:14: this contradicts what is said of mem[0x0100] before
          (initially: ["mem[0x100] == 1 && mem[0x100] == 2"])
                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"#]],
    );
    check_refused(
        r#"(initially: (power_on: ["MCUSR == 2"]))"#,
        expect![[r#"
        p.ron:1:25: no start has MCUSR so: nothing would be left to verify
          (initially: (power_on: ["MCUSR == 2"]))
                                  ^^^^^^^^^^^^"#]],
    );
    check_refused(
        r#"(initially: (reset: ["MCUSR == 1"]))"#,
        expect![[r#"
        p.ron:1:22: no start has MCUSR so: nothing would be left to verify
          (initially: (reset: ["MCUSR == 1"]))
                               ^^^^^^^^^^^^"#]],
    );
    check_refused(
        r#"(initially: ["mem[0x100] == 1 || mem[0x100] == 2"])"#,
        expect![[r#"
        p.ron:1:14: initially: 2 of 256 values of mem[0x0100] are so; they are not all those with some bits fixed
          (initially: ["mem[0x100] == 1 || mem[0x100] == 2"])
                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        hint: fix bits, as in `MCUSR & 0x0f == 2`, `flag == 0x5a` or `eeprom[0] & 0x80 == 0`"#]],
    );
    check_refused(
        r#"(initially: ["mem[0x100] == 300"])"#,
        expect![[r#"
            p.ron:1:14: initially: no start has mem[0x0100] so: nothing would be left to verify
              (initially: ["mem[0x100] == 300"])
                           ^^^^^^^^^^^^^^^^^^^"#]],
    );
    check_refused(
        r#"(initially: ["mem[0x100] == mem[0x101] + mem[0x102]"])"#,
        expect![[r#"
        p.ron:1:14: initially: this speaks of more than two bytes, and is no comparison with a number by ==
          (initially: ["mem[0x100] == mem[0x101] + mem[0x102]"])
                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        hint: fix bits, as in `MCUSR & 0x0f == 2`, `flag == 0x5a` or `eeprom[0] & 0x80 == 0`"#]],
    );
    check_refused(
        r#"(initially: ["eeprom[7] == 0"])"#,
        expect![[r#"
        p.ron:1:14: this contradicts what is said of eeprom[0x0007] before
          (initially: ["eeprom[7] == 0"])
                       ^^^^^^^^^^^^^^^^"#]],
    );
    check_refused(
        r#"(initially: ["eeprom[0x400] == 0"])"#,
        expect![[r#"
        p.ron:1:22: initially: 'eeprom' has 1024 bytes, so there is no byte 1024
          (initially: ["eeprom[0x400] == 0"])
                               ^^^^^"#]],
    );
    check_refused(
        r#"(initially: ["MCUSR = 2"])"#,
        expect![[r#"
        p.ron:1:21: initially: `=` has no meaning in a formula; write `==` to compare
          (initially: ["MCUSR = 2"])
                              ^"#]],
    );
    check_refused(
        r#"(initially: (power: ["MCUSR == 2"]))"#,
        expect![[r#"
        p.ron:1:14: there is no field 'power' here
          (initially: (power: ["MCUSR == 2"]))
                       ^^^^^
        hint: known here: power_on, reset"#]],
    );
    check_refused(
        r#"(initially: ["sleeping"])"#,
        expect![[r#"
            p.ron:1:15: initially: expected a comparison with numbers, as in `MCUSR == 2` or `flag == 0x5a`
              (initially: ["sleeping"])
                            ^^^^^^^^"#]],
    );
}

/// A boot loader of one jump to itself in the boot section.
fn loader() -> Image {
    let mut options = options();
    options.start = avr_isa::FlashByteAddress(0x7000);
    Image::parse("loader.hex", b":02700000FFCFC0\n:00000001FF\n", &options).expect("the image is valid")
}

#[test]
fn an_application_is_absent_or_any_or_that_of_a_file() {
    let of = |application: &str| machine(&format!("(fuses: (high: 0xd8), application: {application})"), &loader());
    assert_eq!(of("absent").map(|machine| machine.options().application), Ok(Application::Absent));
    assert_eq!(of("any").map(|machine| machine.options().application), Ok(Application::Any));
    let mut file =
        PropertyFile::parse("p.ron", r#"(fuses: (high: 0xd8), application: file("app.hex"))"#).expect("right");
    assert_eq!(file.missing_application(), Some("app.hex"));
    assert!(of_file(&file, &loader()).is_err_and(|error| error.to_string().contains("app.hex was not read")));
    file.add_application(application_hex("app.hex", b":020000000000FE\n:00000001FF\n").expect("it is an image"));
    assert_eq!(file.missing_application(), None);
    let machine = of_file(&file, &loader()).expect("they fit");
    assert!(matches!(machine.program.fetch(FlashWordAddress(0)), Fetched::Instruction { .. }));
    assert_eq!(machine.program.fetch(FlashWordAddress(1)), Fetched::Outside);
    assert!(matches!(machine.program.fetch(FlashWordAddress(0x3800)), Fetched::Instruction { .. }));
    let text = r#"( fuses: (high: 0xd8), application: file("app.hex"), )"#;
    let mut file = PropertyFile::parse("p.ron", text).expect("it is right");
    file.add_application(application_hex("app.hex", b":020000000000FE\n:00000001FF\n").expect("it is an image"));
    let whole = file.with_texts_of_specifications(text).expect("it can be carried");
    let read = PropertyFile::parse("p.ron", &whole).unwrap_or_else(|error| panic!("{whole}: {error}"));
    assert_eq!(read.missing_application(), None);
    assert_eq!(
        read.application.as_ref().map(|one| one.content.clone()),
        file.application.as_ref().map(|one| one.content.clone())
    );
}

#[test]
fn an_application_that_does_not_fit_is_refused_with_its_place() {
    #[track_caller]
    fn check(text: &str, image: &Image, application: &[u8], expected: Expect) {
        let mut file = PropertyFile::parse("p.ron", text).expect("it is right");
        if file.missing_application().is_some() {
            file.add_application(application_hex("app.hex", application).expect("it is an image"));
        }
        let refused = of_file(&file, image).err();
        expected.assert_eq(&refused.map_or_else(|| "accepted".to_owned(), |error| error.to_string()));
    }
    check(
        "(fuses: (high: 0xd8), application: absent)",
        &hex(),
        b"",
        expect![[r#"
        p.ron:1:36: the image has code at 0x0000, below the boot section at 0x7000
          (fuses: (high: 0xd8), application: absent)
                                             ^^^^^^
        hint: leave `application` out: the image has one"#]],
    );
    check(
        "(start: 0, application: any)",
        &loader(),
        b"",
        expect![[r#"
        p.ron:1:25: execution starts at 0x0000, below the boot section at 0x7000
          (start: 0, application: any)
                                  ^^^
        hint: program the fuse BOOTRST, as in fuses: (high: 0xd8), or give `start`"#]],
    );
    let text = r#"(fuses: (high: 0xd8), application: file("app.hex"))"#;
    check(
        text,
        &hex(),
        b":020000000000FE\n:00000001FF\n",
        expect![[r#"
        p.ron:1:36: the application app.hex and the image both have code at 0x0000
          (fuses: (high: 0xd8), application: file("app.hex"))
                                             ^^^^"#]],
    );
    check(
        text,
        &loader(),
        b":0270000000008E\n:00000001FF\n",
        expect![[r#"
        p.ron:1:36: the application app.hex has code at 0x7000, in the boot section, which begins at 0x7000
          (fuses: (high: 0xd8), application: file("app.hex"))
                                             ^^^^"#]],
    );
    let error = application_hex("app.hex", b"nothing").expect_err("it is no image").to_string();
    assert!(error.contains("app.hex"), "{error}");
}

#[test]
fn in_application_is_below_the_boot_section() {
    let image = loader();
    let file = PropertyFile::parse("p.ron", "(fuses: (high: 0xd8))").expect("it is right");
    assert_eq!(file.boot_start(device("atmega328p")), Some(0x7000));
    assert_eq!(file.boot_start(device("attiny85")), None);
    let property = avr_properties::Property::from_command_line("in_application").expect("it is one");
    let mut table = avr_properties::AtomTable::new();
    let boot_start = Some(0x7000);
    let (device, definitions) = (device("atmega328p"), avr_properties::Definitions::new());
    let binding =
        avr_properties::Binding { device, image: &image, start: 0x7000, ends_paths: false, stacks: &[], boot_start };
    avr_properties::bind(&property, &definitions, &binding, &mut table).expect("it is bound");
    let truth = |pc: u32| table.atoms()[0].evaluate(&State { pc, ..State::zero() });
    assert_eq!([0, 0x6ffe, 0x7000].map(truth), [Truth::True, Truth::True, Truth::False]);
    let without = avr_properties::Binding { boot_start: None, ..binding };
    let error = avr_properties::bind(&property, &definitions, &without, &mut table).expect_err("there is none");
    assert!(error.to_string().contains("the device has no boot section"), "{error}");
}
