//! Tests of what the loader refuses.

use super::{Device, Loaded, RestrictionSource, load, load_restriction, load_variant};
use crate::device::library::TABLES;

/// Changes the table of the whole chip at its first `from` and expects a refusal with this message.
#[track_caller]
fn refused(from: &str, to: &str, message: &str) {
    let text = TABLES[0].text;
    assert!(text.contains(from), "the table no longer contains {from}");
    let changed: &'static str = text.replacen(from, to, 1).leak();
    match load(changed) {
        Ok(Loaded::Device(_) | Loaded::Restriction(_) | Loaded::Variant(_)) => panic!("accepted: {to}"),
        Err(error) => assert!(error.to_string().contains(message), "{error}"),
    }
}

#[test]
fn contradictions_are_refused() {
    refused(r#""PORTB", at: 0x25"#, r#""PORTB", at: 0x24"#, "PORTB: another register has the same address");
    refused(r#"name: "DDRB""#, r#"name: "PORTB""#, "PORTB: described twice");
    refused("PORTB7 PORTB6", "PORTB6", "PORTB: 7 bits instead of eight");
    refused("PORTB7 PORTB6", "PORTB8 PORTB7 PORTB6", "PORTB: more than eight bits");
    refused("reset: \"0000 0xx1\"", "reset: \"0000 0xx\"", "MCUSR: reset value is not of eight bits");
    refused("reset: \"0000 0xx1\"", "reset: \"0000 02x1\"", "MCUSR: '2' in the reset value");
    refused(r#"Toggles("PORTB")"#, r#"Toggles("PORTE")"#, "register 'PORTE' does not exist");
    refused(r#"{"FOC0A FOC0B": Strobe}"#, r#"{"FOC0A FOC0C": Strobe}"#, "TCCR0B: has no bit 'FOC0C'");
    refused(r#"{"FOC0A FOC0B": Strobe}"#, r#"{"FOC0A 5": Strobe}"#, "TCCR0B: a bit of 'FOC0A 5' is reserved");
    refused(r#"{"FOC0A FOC0B": Strobe}"#, r#"{"FOC0A": Strobe, "7": Strobe}"#, "has two kinds");
    refused(r#"Named("timer 0 runs")"#, r#"Named("timer 9 runs")"#, "condition 'timer 9 runs' does not exist");
    refused(
        r#""ICR1 is top": All([Set("TCCR1B.WGM13"), Clear("TCCR1A.WGM10")])"#,
        r#""ICR1 is top": Named("ICR1 is top")"#,
        "condition 'ICR1 is top' does not exist",
    );
    refused(
        r#"Equals("EICRA", ["ISC01", "ISC00"], 0)"#,
        r#"Equals("EIFR", ["INTF1", "INTF0"], 0)"#,
        "EIFR: hardware changes 'INTF0'",
    );
    refused(r#"enable: "EIMSK.INT0""#, r#"enable: "EIMSK""#, "bit 'EIMSK' does not exist");
    refused("number: 2, name", "number: 3, name", "INT1: its number is not the next one");
    refused(r#"Latched("EIFR.INTF0")"#, r#"Latched("EIMSK.INT0")"#, "INT0: its request is not a bit of kind flag");
    refused(r#"wakes_from: ["idle""#, r#"wakes_from: ["idling""#, "sleep mode 'idling' does not exist");
    refused(r#"fuse: "WDTON""#, r#"fuse: "WDTOFF""#, "fuse 'WDTOFF' does not exist");
    refused("programmed: 0x03", "programmed: 0x13", "CLKPR: a fuse sets bits that it does not determine");
    refused("avr5", "avr55", "architecture 'avr55' does not exist");
    refused("data_sheet", "data_shed", "not a device file");
}

#[test]
fn restrictions_must_name_what_exists() {
    #[track_caller]
    fn check(only: &[&'static str], absent: &[&'static str], expected: Result<usize, &str>) {
        let policy = Device::named("atmega328p").expect("a built-in device").policy;
        let restriction = RestrictionSource {
            name: "test",
            base: "atmega328p",
            only: only.to_vec(),
            absent: absent.to_vec(),
            policy,
        };
        let result = load_restriction(TABLES[0].text, &restriction);
        assert_eq!(
            result.map(|device| device.interrupts.len()).map_err(|error| error.to_string()),
            expected.map_err(str::to_owned)
        );
    }
    check(&["SREG"], &[], Ok(0));
    check(&[], &["usart0"], Ok(22));
    check(&[], &["eeprom", "twi"], Ok(23));
    check(&["PORTX"], &[], Err("register 'PORTX' does not exist"));
    check(&[], &["usart7"], Err("peripheral 'usart7' does not exist"));
    check(&[], &["portb"], Ok(25));
}

#[test]
fn variants_must_change_what_exists_in_a_device_with_a_table_of_its_own() {
    #[track_caller]
    fn check(base: &'static str, from: &str, to: &str, expected: &str) {
        let variant = TABLES.iter().find(|table| table.name == "atmega88p").expect("a built-in table").text;
        assert!(variant.contains(from), "the table no longer contains {from}");
        let Ok(Loaded::Variant(variant)) = load(variant.replacen(from, to, 1).leak()) else { panic!("not a variant") };
        let error = load_variant(base, *variant).err().map(|error| error.to_string());
        assert!(error.as_ref().is_some_and(|error| error.contains(expected)), "{to}: {error:?}");
    }
    let whole = TABLES[0].text;
    check(whole, r#"name: "EEARH""#, r#"name: "EEARX""#, "register 'EEARX' does not exist");
    check(whole, "- - - - - - - EEAR8", "- - - - - - EEAR8", "EEARH: 7 bits instead of eight");
    check(whole, "0000 000x", "0000 002x", "EEARH: '2' in the reset value");
    check(whole, "avr4", "avr44", "architecture 'avr44' does not exist");
    check(TABLES[1].text, "avr4", "avr4", "device with a table of its own 'atmega328p-gpio' does not exist");
}

/// Removes the first line of the table of the whole chip that contains this text, and expects a refusal with this message.
#[track_caller]
fn refused_without(text: &str, message: &str) {
    let line = TABLES[0].text.lines().find(|line| line.contains(text)).expect("the table has the line");
    refused(line, "", message);
}

#[test]
fn a_bit_that_is_not_plain_storage_needs_a_program_that_decides_it() {
    refused(r#""RXC0": ["#, r#""U2X0": ["#, "UCSR0A: no program decides 'RXC0'");
    refused(r#""RWWSB": ["self-programming-busy"]"#, r#""RWWSB": []"#, "SPMCSR: no program decides 'RWWSB'");
    refused(r#"decided_by: {"*": ["timer1-force"]}"#, "decided_by: {}", "TCCR1C: no program decides 'FOC1A'");
    refused(r#""EEPM1 EEPM0": ["#, r#""EERIE": ["#, "EECR: no program decides 'EEPM1'");
    refused(
        r#"decided_by: {"*": ["adc-lock", "adc-lock-pair"]}"#,
        "decided_by: {}",
        "ADC result: no program decides 'LOCKED'",
    );
    refused(r#""RWWSB": ["self"#, r#""RWWSC": ["self"#, "SPMCSR: has no bit 'RWWSC'");
    refused(r#""OCF1B OCF1A": ["timer1-force"]"#, r#""3": ["timer1-force"]"#, "TIFR1: a bit of '3' is reserved");
}

#[test]
fn what_is_not_a_bit_needs_a_program_that_decides_it() {
    refused_without(r#"decided_by: ["timer1-capture-top", "timer1-captured"]"#, "ICR1: no program decides it");
    refused(r#"decided_by: ["int1-level"]"#, "decided_by: []", "INT1: no program decides it");
    refused(r#"decided_by: ["clock-once"]"#, "decided_by: []", "clock_prescaler: no program decides it");
    refused(r#"decided_by: ["timer2-switched"]"#, "decided_by: []", "corruptions: no program decides it");
}

#[test]
fn every_register_names_its_section_or_its_peripheral_does() {
    refused_without(r#"section: "External Interrupts""#, "PCIFR: has no section of the data sheet");
    refused(r#"section: "External Interrupts""#, r#"section: """#, "PCIFR: has no section of the data sheet");
    refused_without(r#"section: "Interrupts""#, "MCUCR: has no section of the data sheet");
    let prescaler = "clock_prescaler: (\n        register: \"CLKPR\",\n        bits: [\"CLKPS3\", \"CLKPS2\", \"CLKPS1\", \"CLKPS0\"],
        divisions: [1, 2, 4, 8, 16, 32, 64, 128, 256],\n        section: \"";
    refused(prescaler, &format!("{prescaler}\", // "), "section of 'clock_prescaler' does not exist");
}

#[test]
fn more_than_a_state_has_room_for_is_refused() {
    refused(r#""ADC result", at: 2"#, r#""ADC result", at: 8"#, "ADC result: there are not so many hidden registers");
    refused("access: Temp(0)", "access: Temp(8)", "TCNT1L: there are not so many shared bytes");
    let mut text = TABLES.iter().find(|table| table.name == "atmega1284p").expect("it is there").text.to_owned();
    for writes in ["on_write: Stored, freedom: Abstracted", "on_write: Toggles("] {
        text = text.replace(writes, &format!("latched_by: \"ADCSRA.ADSC\", {writes}"));
    }
    let problem = load(text.leak()).err().map(|error| error.to_string());
    let expected = "register TCNT2: too many registers before it have bits that are latched";
    assert_eq!(problem.as_deref(), Some(expected));
}
