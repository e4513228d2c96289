//! Assumptions about inputs and interrupts.

use std::collections::BTreeMap;

use super::bench::{Bench, NOP, address, device, input, lds};
use avr_isa::Instruction;
use avr_machine::Options;
use three_valued::TvByte;

/// A bench on which some bits of a register are assumed: value and mask.
fn assuming(program: &[Instruction], name: &str, value: u8, mask: u8) -> Bench {
    let assumed = BTreeMap::from([(address(name), TvByte::new(value, mask))]);
    Bench::with(program, Options { assumed, ..Options::default() })
}

#[test]
fn assumed_input_bits_are_constant_and_the_others_free() {
    let mut bench = assuming(&[input(16, "PINB"), input(17, "PINB")], "PINB", 0x50, 0xf0);
    bench.supply("PINB", 0xff);
    bench.run(1);
    bench.supply("PINB", 0x00);
    bench.run(1);
    assert_eq!((bench.register(16), bench.register(17)), (0x5f, 0x50));
}

#[test]
fn assumptions_are_about_hardware_not_about_what_is_stored() {
    // The timer stands: its counter is what the program wrote.
    let mut bench = assuming(&[input(16, "TCNT0"), input(17, "TCNT0")], "TCNT0", 0x11, 0xff);
    bench.set(&["TCNT0.5"]);
    bench.run(1);
    bench.set(&["TCCR0B.CS00"]);
    bench.run(1);
    assert_eq!((bench.register(16), bench.register(17)), (0x20, 0x11));
}

#[test]
fn a_flag_that_is_assumed_clear_is_never_raised() {
    let program = [lds(16, "UCSR0A"), NOP];
    let mut bench = assuming(&program, "UCSR0A", 0x00, 0x80);
    bench.set(&["UCSR0B.RXEN0", "UCSR0B.RXCIE0", "SREG.I"]);
    bench.supply("UCSR0A", 0xff);
    assert_eq!(bench.offers(), "go");
    bench.run(1);
    assert_eq!(bench.register(16) & 0x80, 0);
    // The assumption of another bit of the register changes nothing.
    let mut bench = assuming(&program, "UCSR0A", 0x00, 0x10);
    bench.set(&["UCSR0B.RXEN0", "UCSR0B.RXCIE0", "SREG.I"]);
    assert_eq!(bench.offers(), "go USART_RX");
}

#[test]
fn a_flag_that_is_assumed_clear_keeps_a_request_that_stands() {
    let mut bench = assuming(&[NOP], "TIFR0", 0x00, 0x01);
    bench.set(&["TIMSK0.TOIE0", "TCCR0B.CS00", "SREG.I"]);
    assert_eq!(bench.offers(), "go");
    bench.set(&["TIFR0.TOV0"]);
    assert_eq!(bench.offers(), "TIMER0_OVF");
}

#[test]
fn an_interrupt_that_never_comes_leaves_the_others() {
    let never = |name: &str| device().interrupt(name).expect("it exists").number;
    let mut bench = Bench::with(&[NOP], Options { never: [never("TIMER0_OVF")].into(), ..Options::default() });
    bench.set(&["TIMSK0.TOIE0", "TCCR0B.CS00", "ADCSRA.ADIE", "ADCSRA.ADEN", "ADCSRA.ADSC", "SREG.I"]);
    assert_eq!(bench.offers(), "go ADC");
    bench.set(&["TIFR0.TOV0"]);
    assert_eq!(bench.offers(), "go ADC", "its standing request holds up nobody");
}
