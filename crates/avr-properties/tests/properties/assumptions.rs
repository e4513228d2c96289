//! Assumptions about inputs and interrupts.

use avr_isa::DataAddress;
use avr_properties::{
    Assumption, Assumptions, Binding, BoundAssumption, PropertyFile, bind_assumption, bind_assumptions,
};
use expect_test::{Expect, expect};
use three_valued::TvByte;

use super::support::{device, hex, sensor};

fn input(text: &str) -> Assumption {
    Assumption::Input(text.to_owned())
}

/// A property file with these assumptions.
fn assuming(assumptions: &str) -> PropertyFile {
    PropertyFile::parse("p.ron", &format!("(assume: [{assumptions}])")).unwrap_or_else(|error| panic!("{error}"))
}

/// Expects that the assumption fixes the bits in `known`, with these values.
#[track_caller]
fn check(text: &str, address: u16, value: u8, known: u8) {
    let image = hex();
    let binding = Binding {
        device: device("atmega328p"),
        image: &image,
        start: 0,
        ends_paths: false,
        stacks: &[],
        boot_start: None,
    };
    let bound = bind_assumption(&input(text), &binding).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(
        bound,
        BoundAssumption::Input { address: DataAddress(address), bits: TvByte::new(value, known) },
        "{text}"
    );
}

#[track_caller]
fn check_refused_on(name: &str, assumptions: &str, expected: Expect) {
    let image = sensor();
    let binding =
        Binding { device: device(name), image: &image, start: 0, ends_paths: false, stacks: &[], boot_start: None };
    let error = bind_assumptions(&assuming(assumptions), &binding).expect_err("it cannot be assumed");
    expected.assert_eq(&error.to_string());
}

#[track_caller]
fn check_refused(text: &str, expected: Expect) {
    check_refused_on("atmega328p", &format!("{text:?}"), expected);
}

#[test]
fn predicates_fix_bits() {
    check("PINB & 0xf0 == 0", 0x23, 0x00, 0xf0);
    check("PINB & 0xf0 == 0x50", 0x23, 0x50, 0xf0);
    check("PINC.1 == 1", 0x26, 0x02, 0x02);
    check("PINC.1", 0x26, 0x02, 0x02);
    check("!PINC.PINC1", 0x26, 0x00, 0x02);
    check("PINC.1 != 1", 0x26, 0x00, 0x02);
    check("ADCH <= 3", 0x79, 0x00, 0xfc);
    check("ADCH < 4 && ADCH.0 == ADCH.1 && ADCH.0 == 1", 0x79, 0x03, 0xff);
    check("PINB == 0x5a", 0x23, 0x5a, 0xff);
    check("PINB >= 0xc0", 0x23, 0xc0, 0xc0);
    check("PINB >> 4 == 3", 0x23, 0x30, 0xf0);
    check("(PINB ^ 0xff) & 1 == 0", 0x23, 0x01, 0x01);
    check("signed(PINB) < 0", 0x23, 0x80, 0x80);
    check("PINB.0 || PINB.0", 0x23, 0x01, 0x01);
    check("PINB.0 -> PINB.7 <-> PINB.0", 0x23, 0x81, 0x81);
    check("mem[0x23] == 7", 0x23, 0x07, 0xff);
}

#[test]
fn what_is_always_true_fixes_nothing() {
    check("PINB <= 255", 0x23, 0, 0);
    check("PINB.0 || !PINB.0", 0x23, 0, 0);
}

#[test]
fn reserved_bits_read_zero() {
    // PINC has no bit 7.
    check("PINC == 0", 0x26, 0x00, 0x7f);
    check("PINC <= 0x7f", 0x26, 0x00, 0x00);
    check_refused(
        "PINC == 0x80",
        expect![[r#"
            p.ron:1:11: no value of PINC satisfies this: nothing would be left to verify
              (assume: ["PINC == 0x80"])
                        ^^^^^^^^^^^^^^"#]],
    );
}

#[test]
fn flags_and_pulses_are_inputs_where_hardware_changes_them() {
    check("UCSR0A.RXC0 == 0", 0xc0, 0x00, 0x80);
    check("UCSR0A & 0x1c == 0", 0xc0, 0x00, 0x1c);
    check("TIFR0.TOV0 == 0", 0x35, 0x00, 0x01);
    check("ADCSRA.ADSC == 0", 0x7a, 0x00, 0x40);
    check("SPCR.MSTR", 0x4c, 0x10, 0x10);
    check_refused(
        "MCUSR.WDRF == 0",
        expect![[r#"
            p.ron:1:12: an assumption speaks of inputs, but WDRF of MCUSR is state
              (assume: ["MCUSR.WDRF == 0"])
                         ^^^^^^^^^^
            hint: assume speaks of what comes from outside, as in PINB, PINC.1 or ADCH; initially speaks of the SRAM, the EEPROM and MCUSR where the program begins"#]],
    );
}

#[test]
fn state_cannot_be_assumed() {
    check_refused(
        "PORTB == 0",
        expect![[r#"
            p.ron:1:12: an assumption speaks of inputs, but every bit of PORTB is state
              (assume: ["PORTB == 0"])
                         ^^^^^
            hint: assume speaks of what comes from outside, as in PINB, PINC.1 or ADCH; initially speaks of the SRAM, the EEPROM and MCUSR where the program begins"#]],
    );
    check_refused(
        "UCSR0A == 0x20",
        expect![[r#"
            p.ron:1:12: an assumption speaks of inputs, but MPCM0, U2X0 of UCSR0A is state
              (assume: ["UCSR0A == 0x20"])
                         ^^^^^^
            hint: assume speaks of what comes from outside, as in PINB, PINC.1 or ADCH; initially speaks of the SRAM, the EEPROM and MCUSR where the program begins"#]],
    );
    check_refused(
        "WDTCSR.WDCE",
        expect![[r#"
            p.ron:1:12: an assumption speaks of inputs, but WDCE of WDTCSR is state
              (assume: ["WDTCSR.WDCE"])
                         ^^^^^^^^^^^
            hint: assume speaks of what comes from outside, as in PINB, PINC.1 or ADCH; initially speaks of the SRAM, the EEPROM and MCUSR where the program begins"#]],
    );
    check_refused(
        "r5 == 0",
        expect![[r#"
            p.ron:1:12: an assumption speaks of inputs, but every bit of r5 is state
              (assume: ["r5 == 0"])
                         ^^
            hint: assume speaks of what comes from outside, as in PINB, PINC.1 or ADCH; initially speaks of the SRAM, the EEPROM and MCUSR where the program begins"#]],
    );
    check_refused(
        "mem[0x100] == 0",
        expect![[r#"
            p.ron:1:12: an assumption speaks of inputs, but every bit of mem is state
              (assume: ["mem[0x100] == 0"])
                         ^^^^^^^^^^
            hint: assume speaks of what comes from outside, as in PINB, PINC.1 or ADCH; initially speaks of the SRAM, the EEPROM and MCUSR where the program begins"#]],
    );
    check_refused(
        "counter == 0",
        expect![[r#"
            p.ron:1:12: an assumption speaks of inputs, but every bit of counter is state
              (assume: ["counter == 0"])
                         ^^^^^^^
            hint: assume speaks of what comes from outside, as in PINB, PINC.1 or ADCH; initially speaks of the SRAM, the EEPROM and MCUSR where the program begins"#]],
    );
    check_refused(
        "SREG.I",
        expect![[r#"
            p.ron:1:12: an assumption speaks of inputs, but I of SREG is state
              (assume: ["SREG.I"])
                         ^^^^^^
            hint: assume speaks of what comes from outside, as in PINB, PINC.1 or ADCH; initially speaks of the SRAM, the EEPROM and MCUSR where the program begins"#]],
    );
    check_refused(
        "pc == 0x8c",
        expect![[r#"
            p.ron:1:12: expected a comparison of input bits, as in `PINB & 0xf0 == 0` or `PINC.1 == 1`
              (assume: ["pc == 0x8c"])
                         ^^^^^^^^^^"#]],
    );
    check_refused(
        "in_interrupt",
        expect![[r#"
            p.ron:1:12: expected a comparison of input bits, as in `PINB & 0xf0 == 0` or `PINC.1 == 1`
              (assume: ["in_interrupt"])
                         ^^^^^^^^^^^^"#]],
    );
    check_refused(
        "enabled(INT0)",
        expect![[r#"
            p.ron:1:12: expected a comparison of input bits, as in `PINB & 0xf0 == 0` or `PINC.1 == 1`
              (assume: ["enabled(INT0)"])
                         ^^^^^^^^^^^^^"#]],
    );
    check_refused(
        "read(PINB) == 0",
        expect![[r#"
            p.ron:1:12: expected a comparison of input bits, as in `PINB & 0xf0 == 0` or `PINC.1 == 1`
              (assume: ["read(PINB) == 0"])
                         ^^^^^^^^^^^^^^^"#]],
    );
    check_refused(
        "mem[PINB] == 0",
        expect![[r#"
            p.ron:1:12: expected a comparison of input bits, as in `PINB & 0xf0 == 0` or `PINC.1 == 1`
              (assume: ["mem[PINB] == 0"])
                         ^^^^^^^^^^^^^^"#]],
    );
}

#[test]
fn unknown_names_suggest_the_nearest() {
    check_refused(
        "PNIB == 0",
        expect![[r#"
            p.ron:1:12: nothing is named 'PNIB'; did you mean PINB or PINC or PIND?
              (assume: ["PNIB == 0"])
                         ^^^^"#]],
    );
    check_refused(
        "PINB.8 == 0",
        expect![[r#"
            p.ron:1:12: PINB has no bit '8'; did you mean PINB.0 to PINB.7?
              (assume: ["PINB.8 == 0"])
                         ^^^^^^"#]],
    );
    check_refused_on(
        "atmega328p",
        "never(INT2)",
        expect![[r#"
            p.ron:1:11: nothing is named 'INT2'; did you mean INT0 or INT1 or PCINT2?
              (assume: [never(INT2)])
                        ^^^^^"#]],
    );
    check_refused_on(
        "atmega328p-gpio",
        "never(INT0)",
        expect![[r#"
            p.ron:1:11: expected a device with interrupts; this one has none
              (assume: [never(INT0)])
                        ^^^^^"#]],
    );
    check_refused_on(
        "atmega328p-gpio",
        "\"ADCH == 0\"",
        expect![[r#"
            p.ron:1:12: nothing is named 'ADCH'
              (assume: ["ADCH == 0"])
                         ^^^^
            hint: the device atmega328p has ADCH"#]],
    );
}

#[test]
fn what_is_no_product_of_bits_is_refused() {
    check_refused(
        "PINB == 1 || PINB == 2",
        expect![[r#"
            p.ron:1:11: 2 of 256 values of PINB satisfy this; they are not all those with some bits fixed
              (assume: ["PINB == 1 || PINB == 2"])
                        ^^^^^^^^^^^^^^^^^^^^^^^^
            hint: what it says of single bits can be assumed: `PINB & 0xfc == 0x00`"#]],
    );
    check_refused(
        "PINB < 3",
        expect![[r#"
            p.ron:1:11: 3 of 256 values of PINB satisfy this; they are not all those with some bits fixed
              (assume: ["PINB < 3"])
                        ^^^^^^^^^^
            hint: what it says of single bits can be assumed: `PINB & 0xfc == 0x00`"#]],
    );
    check_refused(
        "PINB != 3",
        expect![[r#"
            p.ron:1:11: 255 of 256 values of PINB satisfy this; they are not all those with some bits fixed
              (assume: ["PINB != 3"])
                        ^^^^^^^^^^^
            hint: an assumption can fix bits, as in `PINB & 0xf0 == 0` or `PINC.1 == 1`"#]],
    );
    check_refused(
        "PINB == 0x100",
        expect![[r#"
            p.ron:1:11: no value of PINB satisfies this: nothing would be left to verify
              (assume: ["PINB == 0x100"])
                        ^^^^^^^^^^^^^^^"#]],
    );
}

#[test]
fn one_assumption_speaks_of_one_register() {
    check_refused(
        "PINB.0 == PINC.0",
        expect![[r#"
            p.ron:1:11: an assumption speaks of the bits of one register
              (assume: ["PINB.0 == PINC.0"])
                        ^^^^^^^^^^^^^^^^^^
            hint: write one assumption for each register, as in `PINB & 0xf0 == 0`"#]],
    );
    check_refused(
        "ADC < 4",
        expect![[r#"
            p.ron:1:11: an assumption speaks of the bits of one register
              (assume: ["ADC < 4"])
                        ^^^^^^^^^
            hint: write one assumption for each register, as in `PINB & 0xf0 == 0`"#]],
    );
    check_refused(
        "1 == 1",
        expect![[r#"
            p.ron:1:11: an assumption speaks of the bits of one register
              (assume: ["1 == 1"])
                        ^^^^^^^^
            hint: write one assumption for each register, as in `PINB & 0xf0 == 0`"#]],
    );
    check_refused(
        "true",
        expect![[r#"
            p.ron:1:11: an assumption speaks of the bits of one register
              (assume: ["true"])
                        ^^^^^^
            hint: write one assumption for each register, as in `PINB & 0xf0 == 0`"#]],
    );
}

#[test]
fn assumptions_combine() {
    let image = hex();
    let binding = Binding {
        device: device("atmega328p"),
        image: &image,
        start: 0,
        ends_paths: false,
        stacks: &[],
        boot_start: None,
    };
    let all = r#""PINB & 0xf0 == 0", never(INT1), "PINB.0", "PIND == 1", never(TIMER0_OVF)"#;
    let bound = bind_assumptions(&assuming(all), &binding).unwrap_or_else(|error| panic!("{error}"));
    let expected = Assumptions {
        inputs: [(DataAddress(0x23), TvByte::new(0x01, 0xf1)), (DataAddress(0x29), TvByte::constant(1))].into(),
        never: [2, 16].into(),
    };
    assert_eq!(bound, expected);
    check_refused_on(
        "atmega328p",
        r#""PINB.0", "PINB & 0x0f == 0""#,
        expect![[r#"
            p.ron:1:21: this contradicts what is assumed of PINB before
              (assume: ["PINB.0", "PINB & 0x0f == 0"])
                                  ^^^^^^^^^^^^^^^^^^"#]],
    );
}
