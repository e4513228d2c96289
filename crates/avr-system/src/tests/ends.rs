//! The pins at the ends of wires, on each device: what peripherals take over from ports.

use avr_isa::DataAddress;
use avr_machine::device::{BitRef, Device};
use three_valued::{Truth, TvByte};

use crate::wire::End;

/// True if the port alone decides about a pin in a state in which a register has a value, and all others are 0.
fn is_of_the_port(name: &str, port: (&str, u8), register: (&str, u8)) -> bool {
    let device = Device::named(name).expect("the device exists");
    let address = |name: &str| device.register(name).expect("the register exists").address;
    let at = |kind: &str| BitRef { address: address(&format!("{kind}{}", port.0)), bit: port.1 };
    let end = End { node: 0, pin: at("PIN"), direction: at("DDR"), port: at("PORT") };
    let set = address(register.0);
    let no_jtag = device.bit("Debugging", "NO_JTAG");
    let read = |address: DataAddress| match address {
        _ if address == set => TvByte::constant(register.1),
        _ if no_jtag.is_some_and(|it| it.address == address && register.0 != "Debugging") => TvByte::constant(0xff),
        _ => TvByte::constant(0),
    };
    end.state(device, &read).drives != Truth::Unknown
}

#[test]
fn peripherals_take_pins_over() {
    let all = [
        ("atmega328p", ("D", 0), ("UCSR0B", 0x10)),
        ("atmega328p", ("D", 1), ("UCSR0B", 0x08)),
        ("atmega328p", ("D", 1), ("USART transfer", 0x01)),
        ("atmega328p", ("D", 4), ("UCSR0C", 0x40)),
        ("atmega328p", ("B", 5), ("SPCR", 0x40)),
        ("atmega328p", ("D", 3), ("TCCR2A", 0x20)),
        ("atmega1284p", ("D", 2), ("UCSR1B", 0x10)),
        ("atmega1284p", ("B", 6), ("TCCR3A", 0x80)),
        ("atmega1284p", ("C", 2), ("Debugging", 0)),
        ("atmega2560", ("E", 0), ("UCSR0B", 0x10)),
        ("atmega2560", ("E", 1), ("UCSR0B", 0x08)),
        ("atmega2560", ("D", 3), ("UCSR1B", 0x08)),
        ("atmega2560", ("H", 1), ("UCSR2B", 0x08)),
        ("atmega2560", ("J", 1), ("UCSR3B", 0x08)),
        ("atmega2560", ("B", 7), ("TCCR1A", 0x08)),
        ("atmega2560", ("E", 5), ("TCCR3A", 0x04)),
        ("atmega2560", ("H", 3), ("TCCR4A", 0x80)),
        ("atmega2560", ("L", 3), ("TCCR5A", 0x80)),
        ("atmega2560", ("F", 4), ("Debugging", 0)),
    ];
    for (device, port, register) in all {
        assert!(!is_of_the_port(device, port, register), "{device} {port:?} {register:?}");
    }
}

#[test]
fn ports_keep_their_pins_where_peripherals_are_off() {
    for device in Device::names() {
        assert!(is_of_the_port(device, ("B", 0), ("PORTB", 0)), "{device}");
    }
}
