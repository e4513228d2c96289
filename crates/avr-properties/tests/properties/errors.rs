//! Errors about names, with the formula and the place in it.

use expect_test::{Expect, expect};

use avr_image::Image;
use avr_properties::{AtomTable, Binding, Definitions, Property, bind};

use super::support::{bound, careful, conditions, device, fixture, hex, sensor};

#[track_caller]
fn check_on(text: &str, device: &str, image: &Image, expected: Expect) {
    let error = bound(text, device, image).expect_err("the property is wrong");
    expected.assert_eq(&error.to_string());
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    check_on(text, "atmega328p", &sensor(), expected);
}

#[test]
fn unknown_names() {
    check(
        "AG(PROTB == 0)",
        expect![[r#"
            --property:1:4: nothing is named 'PROTB'; did you mean PORTB or PORTC or PORTD?
              AG(PROTB == 0)
                 ^^^^^"#]],
    );
    check(
        "AG(conter == 0)",
        expect![[r#"
            --property:1:4: nothing is named 'conter'; did you mean counter?
              AG(conter == 0)
                 ^^^^^^"#]],
    );
    check(
        "AG r32 == 0",
        expect![[r#"
            --property:1:4: nothing is named 'r32'; did you mean r12 or r2 or r22?
              AG r32 == 0
                 ^^^"#]],
    );
    check(
        "AG PORTB.8 == 0",
        expect![[r#"
            --property:1:4: PORTB has no bit '8'; did you mean PORTB.0 to PORTB.7?
              AG PORTB.8 == 0
                 ^^^^^^^"#]],
    );
    check(
        "AG PORTB.PORTB8 == 0",
        expect![[r#"
            --property:1:4: PORTB has no bit 'PORTB8'; did you mean PORTB0 or PORTB1 or PORTB2?
              AG PORTB.PORTB8 == 0
                 ^^^^^^^^^^^^"#]],
    );
    check(
        "AG SREG.Q == 0",
        expect![[r#"
            --property:1:4: SREG has no bit 'Q'; did you mean C or Z or N or V or S or H or T or I?
              AG SREG.Q == 0
                 ^^^^^^"#]],
    );
    check(
        "AG counter.8 == 0",
        expect![[r#"
            --property:1:4: counter has no bit '8'; did you mean counter.0 to counter.7?
              AG counter.8 == 0
                 ^^^^^^^^^"#]],
    );
    check(
        "AG slepping",
        expect![[r#"
            --property:1:4: nothing is named 'slepping'; did you mean sleeping?
              AG slepping
                 ^^^^^^^^"#]],
    );
    check(
        "AG enabled(TIMER0_OVFL)",
        expect![[r#"
            --property:1:12: nothing is named 'TIMER0_OVFL'; did you mean TIMER0_OVF or TIMER1_OVF or TIMER2_OVF?
              AG enabled(TIMER0_OVFL)
                         ^^^^^^^^^^^"#]],
    );
    check(
        "AG wrote(PORTB)",
        expect![[r#"
            --property:1:4: nothing is named 'wrote'; did you mean write?
              AG wrote(PORTB)
                 ^^^^^^^^^^^^"#]],
    );
    check(
        "AG pc in mian",
        expect![[r#"
            --property:1:10: nothing is named 'mian'; did you mean main?
              AG pc in mian
                       ^^^^"#]],
    );
    check(
        "AG sensor::Filter::step == pc",
        expect![[r#"
            --property:1:10: `:` has no meaning in a formula
              AG sensor::Filter::step == pc
                       ^"#]],
    );
    check(
        "Recovery(to: \"PROTB == 0\")",
        expect![[r#"
            --property:1:15: nothing is named 'PROTB'; did you mean PORTB or PORTC or PORTD?
              Recovery(to: "PROTB == 0")
                            ^^^^^"#]],
    );
    check(
        "Recovry(to: \"PORTB == 0\")",
        expect![[r#"
        --property:1:1: there is no 'Recovry' here; did you mean Recovery?
          Recovry(to: "PORTB == 0")
          ^^^^^^^"#]],
    );
    check_on(
        "AG(conter == 0)",
        "atmega328p",
        &hex(),
        expect![[r#"
            --property:1:4: nothing is named 'conter'
              AG(conter == 0)
                 ^^^^^^
            hint: this image has no symbols (HEX files never do): use byte addresses, or verify the ELF file"#]],
    );
    check_on(
        "AG(TCNT1 == 0)",
        "atmega328p-gpio",
        &hex(),
        expect![[r#"
            --property:1:4: nothing is named 'TCNT1'
              AG(TCNT1 == 0)
                 ^^^^^
            hint: the device atmega328p has TCNT1"#]],
    );
    check_on(
        "AG enabled(INT0)",
        "atmega328p-gpio",
        &hex(),
        expect![[r#"
            --property:1:12: expected a device with interrupts; this one has none
              AG enabled(INT0)
                         ^^^^"#]],
    );
}

#[test]
fn what_is_no_state() {
    check(
        "AG(PINC == 0)",
        expect![[r#"
            --property:1:4: hardware changes PINC0, PINC1, PINC2, PINC3, PINC4, PINC5, PINC6 of PINC, so no state holds them
              AG(PINC == 0)
                 ^^^^
            hint: the event read(PINC) speaks of what the program reads there"#]],
    );
    check(
        "AG(PINC.1)",
        expect![[r#"
            --property:1:4: hardware changes PINC1 of PINC, so no state holds them
              AG(PINC.1)
                 ^^^^^^
            hint: the event read(PINC) speaks of what the program reads there"#]],
    );
    check(
        "AG(TCNT1 == 0)",
        expect![[r#"
            --property:1:4: hardware changes every bit of TCNT1, so no state holds them
              AG(TCNT1 == 0)
                 ^^^^^
            hint: the event read(TCNT1) speaks of what the program reads there"#]],
    );
    check(
        "AG(ADCSRA == 0)",
        expect![[r#"
            --property:1:4: hardware changes ADIF, ADSC of ADCSRA, so no state holds them
              AG(ADCSRA == 0)
                 ^^^^^^
            hint: the event read(ADCSRA) speaks of what the program reads there; or mask these bits with &"#]],
    );
    check(
        "AG(mem[0x26] == 0)",
        expect![[r#"
            --property:1:4: hardware changes PINC0, PINC1, PINC2, PINC3, PINC4, PINC5, PINC6 of PINC, so no state holds them
              AG(mem[0x26] == 0)
                 ^^^^^^^^^
            hint: the event read(PINC) speaks of what the program reads there"#]],
    );
    check(
        "AG(mem[0x20] == 0)",
        expect![[r#"
            --property:1:4: the device has no register at data address 0x0020
              AG(mem[0x20] == 0)
                 ^^^^^^^^^"#]],
    );
    check(
        "AG(mem[0x900] == 0)",
        expect![[r#"
            --property:1:4: data address 0x0900 is beyond the data memory, which ends at 0x08ff
              AG(mem[0x900] == 0)
                 ^^^^^^^^^^"#]],
    );
    check(
        "AG(mem16[0x8ff] == 0)",
        expect![[r#"
            --property:1:4: data address 0x0900 is beyond the data memory, which ends at 0x08ff
              AG(mem16[0x8ff] == 0)
                 ^^^^^^^^^^^^"#]],
    );
    check(
        "AG(history == 0 && kept == saved)",
        expect![[r#"
            --property:1:28: 'saved' lies in the EEPROM
              AG(history == 0 && kept == saved)
                                         ^^^^^
            hint: 0x0000 is its address in the EEPROM"#]],
    );
    check(
        "AG(history[8] == 0)",
        expect![[r#"
            --property:1:12: 'history' has 4 elements, so there is no element 8
              AG(history[8] == 0)
                         ^"#]],
    );
    check(
        "AG(main[0] == 0)",
        expect![[r#"
            --property:1:4: expected mem, mem16 or the name of a variable in front of `[`
              AG(main[0] == 0)
                 ^^^^^^^"#]],
    );
    check(
        "AG(PORTB[0] == 0)",
        expect![[r#"
            --property:1:4: expected mem, mem16 or the name of a variable in front of `[`
              AG(PORTB[0] == 0)
                 ^^^^^^^^"#]],
    );
}

#[test]
fn what_is_no_condition_or_number() {
    check(
        "AG PORTB",
        expect![[r#"
            --property:1:4: expected a condition; this is a number: compare it, as in `… == 0`
              AG PORTB
                 ^^^^^"#]],
    );
    check(
        "AG mem[0x100]",
        expect![[r#"
            --property:1:4: expected a condition; this is a number: compare it, as in `… == 0`
              AG mem[0x100]
                 ^^^^^^^^^^"#]],
    );
    check(
        "AG(enabled(INT0) == 1)",
        expect![[r#"
            --property:1:4: expected a number; enabled(…) is a condition
              AG(enabled(INT0) == 1)
                 ^^^^^^^^^^^^^"#]],
    );
    check(
        "AG(r16 in main)",
        expect![[r#"
            --property:1:4: expected `pc` in front of `in`
              AG(r16 in main)
                 ^^^"#]],
    );
    check(
        "AG(pc in 5)",
        expect![[r#"
            --property:1:10: expected the name of a function after `in`
              AG(pc in 5)
                       ^"#]],
    );
    check(
        "AG(pc in counter)",
        expect![[r#"
            --property:1:10: 'counter' is no code: it lies at data 0x0101
              AG(pc in counter)
                       ^^^^^^^
            hint: functions and labels in code have an extent"#]],
    );
    check(
        "AG(pc == 0x8d)",
        expect![[r#"
            --property:1:10: the program counter is never 0x8d: instructions have even byte addresses inside of the flash
              AG(pc == 0x8d)
                       ^^^^"#]],
    );
    check(
        "AG(pc != 0x8000)",
        expect![[r#"
            --property:1:10: the program counter is never 0x8000: instructions have even byte addresses inside of the flash
              AG(pc != 0x8000)
                       ^^^^^^"#]],
    );
    check(
        "AG(signed(r16 + 1) < 0)",
        expect![[r#"
            --property:1:11: expected one register, variable or memory cell in signed(…), which has a width of its own
              AG(signed(r16 + 1) < 0)
                        ^^^^^^^"#]],
    );
    check(
        "AG(1 << r16 == 1)",
        expect![[r#"
            --property:1:4: this can reach 120 bits, or shifts by a number that can be negative
              AG(1 << r16 == 1)
                 ^^^^^^^^"#]],
    );
    check(
        "AG(r16 >> (r17 - 1) == 1)",
        expect![[r#"
            --property:1:4: this can reach 120 bits, or shifts by a number that can be negative
              AG(r16 >> (r17 - 1) == 1)
                 ^^^^^^^^^^^^^^^^"#]],
    );
    check(
        "AG(write(mode) == 1)",
        expect![[r#"
            --property:1:4: expected the event of one byte, which has a value: name a register, or a cell as in write(mem[0x100])
              AG(write(mode) == 1)
                 ^^^^^^^^^^^"#]],
    );
    check(
        "AG(write(r16))",
        expect![[r#"
            --property:1:10: expected a register of the device, a variable or mem[…] with a constant address
              AG(write(r16))
                       ^^^"#]],
    );
    check(
        "AG(write(PORTB) == read(PINB))",
        expect![[r#"
            --property:1:20: expected one event in a comparison
              AG(write(PORTB) == read(PINB))
                                 ^^^^^^^^^^"#]],
    );
    check(
        "AG(call(r16))",
        expect![[r#"
            --property:1:9: expected the name or address of a function
              AG(call(r16))
                      ^^^"#]],
    );
    check(
        "AG PORTB = 1",
        expect![[r#"
            --property:1:10: `=` has no meaning in a formula; write `==` to compare
              AG PORTB = 1
                       ^"#]],
    );
}

#[test]
fn ambiguous_names() {
    check_on(
        "AG(state == 0)",
        "atmega328p",
        &fixture("twins.elf"),
        expect![[r#"
            --property:1:4: the name "state" is ambiguous: it may be state at data 0x0100, state at data 0x0102
              AG(state == 0)
                 ^^^^^
            hint: give the full name in quotes, or the address of the one you mean"#]],
    );
    check(
        "AG(pc in \"sensor::Filter::step\")",
        expect![[r#"
            --property:1:10: the name "sensor::Filter::step" is ambiguous: it may be sensor::Filter::step(int) at flash 0xaa, sensor::Filter::step(unsigned char) at flash 0xbe
              AG(pc in "sensor::Filter::step")
                       ^^^^^^^^^^^^^^^^^^^^^^
            hint: give the full name in quotes, or the address of the one you mean"#]],
    );
}

#[test]
fn names_that_need_care() {
    let check = |text: &str, expected: Expect| check_on(text, "atmega328p", &careful(), expected);
    check(
        "AG x == 5",
        expect![[r#"
            --property:1:4: 'x' is both the register pair r27:r26 and the symbol at data 0x0102
              AG x == 5
                 ^
            hint: write "x" in quotes for the symbol, or mem[…] and mem16[…] with an address"#]],
    );
    check(
        "AG label == 5",
        expect![[r#"
            --property:1:4: 'label' has no size in the symbol table, so it is not known to be a variable
              AG label == 5
                 ^^^^^
            hint: mem[label] and mem16[label] are what lies there, 0x0100 is its address"#]],
    );
    check(
        "AG label + 1 == 5",
        expect![[r#"
            --property:1:4: 'label' has no size in the symbol table, so it is not known to be a variable
              AG label + 1 == 5
                 ^^^^^
            hint: mem[label] and mem16[label] are what lies there, 0x0100 is its address"#]],
    );
    check(
        "AG triple == 5",
        expect![[r#"
            --property:1:4: 'triple' has 3 bytes, which is no number
              AG triple == 5
                 ^^^^^^
            hint: triple[i] is its byte i, from 0; 0x0104 is its address"#]],
    );
    check(
        "AG table == 5",
        expect![[r#"
            --property:1:4: 'table' is a constant in flash
              AG table == 5
                 ^^^^^
            hint: 0x68 is its address in bytes of flash"#]],
    );
    check(
        "AG x[0] == 5",
        expect![[r#"
            --property:1:4: 'x' is both the register pair r27:r26 and the symbol at data 0x0102
              AG x[0] == 5
                 ^^^^
            hint: write "x" in quotes for the symbol, or mem[…] and mem16[…] with an address"#]],
    );
}

#[test]
fn definitions() {
    #[track_caller]
    fn check(pairs: &[(&str, &str)], text: &str, expected: Expect) {
        let mut definitions = Definitions::new();
        for (name, formula) in pairs {
            definitions.define(name, formula).expect("it is a formula");
        }
        let image = hex();
        let binding = Binding {
            device: device("atmega328p"),
            image: &image,
            start: 0,
            ends_paths: false,
            stacks: &[],
            boot_start: None,
        };
        let property = Property::from_command_line(text).expect("it is a formula");
        let error = bind(&property, &definitions, &binding, &mut AtomTable::new()).expect_err("it is wrong");
        expected.assert_eq(&error.to_string());
    }
    check(
        &[("idle", "PORTB == 0 && PROTC == 0")],
        "AG EF idle",
        expect![[r#"
            column 15: definition idle: nothing is named 'PROTC'; did you mean PORTC or PORTB or PORTD?
              PORTB == 0 && PROTC == 0
                            ^^^^^"#]],
    );
    check(
        &[("idle", "PORTB == 0")],
        "AG EF idel",
        expect![[r#"
            --property:1:7: nothing is named 'idel'; did you mean idle or ADCL?
              AG EF idel
                    ^^^^"#]],
    );
    check(
        &[("a", "b && PORTB == 0"), ("b", "a")],
        "AG a",
        expect![[r#"
        --property:1:1: the definition uses itself: a -> b -> a
          AG a
          ^^^^"#]],
    );
}

#[test]
fn conditions_that_variables_shadow() {
    let check = |text: &str, expected: Expect| check_on(text, "atmega328p", &conditions(), expected);
    check(
        "AG !sleeping",
        expect![[r#"
            --property:1:5: 'sleeping' is both a condition of the language and the symbol at data 0x0101
              AG !sleeping
                  ^^^^^^^^
            hint: write "sleeping" in quotes for the symbol, or mem[…] and mem16[…] with an address"#]],
    );
    for name in ["hazard", "in_interrupt"] {
        let error = bound(&format!("AG !{name}"), "atmega328p", &conditions()).expect_err("it is shadowed");
        assert!(error.to_string().contains("is both a condition"), "{error}");
    }
    assert!(bound("AG \"sleeping\" == 1", "atmega328p", &conditions()).is_ok());
    assert!(bound("AG !sp_torn", "atmega328p", &conditions()).is_ok());
}

#[test]
fn comparisons_that_are_never_true() {
    check(
        "AG !(counter < -200)",
        expect![[r#"
            --property:1:6: `counter < -200` is never true: the left side is from 0 to 255
              AG !(counter < -200)
                   ^^^^^^^^^^^^^^
            hint: numbers are unsigned unless signed(…) says otherwise, as in `signed(x) < -200`"#]],
    );
    check(
        "EF PORTB.0 == 2",
        expect![[r#"
            --property:1:4: `PORTB.0 == 2` is never true: the left side is from 0 to 1
              EF PORTB.0 == 2
                 ^^^^^^^^^^^^
            hint: write `false` if that is meant"#]],
    );
    check(
        "AG (PORTB & 0xc0 == 0xf0 -> PORTC == 0)",
        expect![[r#"
            --property:1:5: `PORTB & 0xc0 == 0xf0` is never true: the left side has no bits but 0xc0
              AG (PORTB & 0xc0 == 0xf0 -> PORTC == 0)
                  ^^^^^^^^^^^^^^^^^^^^
            hint: write `false` if that is meant"#]],
    );
    for text in ["AG !(256 < PORTB)", "AG write(PORTB) != 1 || write(PORTB) == 256", "AG (signed(r0) < -128)"] {
        let error = bound(text, "atmega328p", &sensor()).expect_err("it is never true");
        assert!(error.to_string().contains("is never true"), "{text}: {error}");
    }
    check(
        "AG PORTB == 010",
        expect![[r#"
            --property:1:13: `010` begins with 0, which C reads as octal; write it without, or in hexadecimal as in 0x0a
              AG PORTB == 010
                          ^^^"#]],
    );
}

/// Notes tell of comparisons that are always true, and of those that are never true in a definition or between numbers.
#[test]
fn comparisons_that_are_told_of() {
    #[track_caller]
    fn check(text: &str, notes: &[&str], always_true: &[&str]) {
        let mut definitions = Definitions::new();
        definitions.define("never", "PORTB == 256").expect("it is a formula");
        definitions.define("always", "PORTB >= 0").expect("it is a formula");
        let image = hex();
        let binding = Binding {
            device: device("atmega328p"),
            image: &image,
            start: 0,
            ends_paths: false,
            stacks: &[],
            boot_start: None,
        };
        let property = Property::from_command_line(text).expect("it is a formula");
        let bound = bind(&property, &definitions, &binding, &mut AtomTable::new()).expect("it can be used");
        assert_eq!(bound.notes, notes, "{text}");
        assert_eq!(bound.always_true, always_true, "{text}");
    }
    check("AG PORTB < 255", &[], &[]);
    check("AG PORTB.0 != 2", &["`PORTB.0 != 2` is always true, whatever the state"], &["PORTB.0 != 2"]);
    check(
        "AG signed(PORTB) >= -128",
        &["`signed(PORTB) >= -128` is always true, whatever the state"],
        &["signed(PORTB) >= -128"],
    );
    check("AG !never", &["`PORTB == 256` (in a definition) is never true, whatever the state"], &[]);
    check("AG always", &["`PORTB >= 0` (in a definition) is always true, whatever the state"], &[]);
    check("AG 1 == 2", &["`1 == 2` is never true, whatever the state"], &[]);
    check("Stack(max_bytes: 70000)", &[], &[]);
}
