//! Comparison of a table with that of a part that it is like: the programs for that part decide what both tables say alike. The data
//! sheets are not compared.

use std::collections::BTreeSet;
use std::fmt::Debug;

use super::Device;
use super::facts::{FuseBytes, TimerPin};
use super::library::TABLES;
use super::resolve::parse;
use super::source::{DeviceSource, FileSource, InterruptSource, PeripheralSource, RegisterSource};
use avr_isa::{DataAddress, Feature};

/// The names of registers, bits, conditions and interrupts of a part that are others in the one it is like.
const RENAMED: [(&str, &[(&str, &str)]); 1] = [(
    "atmega1284p",
    &[
        ("USART0_", "USART_"),
        ("USART1_", "USART_"),
        ("USART1 ", "USART "),
        ("PRR0", "PRR"),
        ("PRR1", "PRR"),
        ("PRUSART1", "PRUSART0"),
        ("PRTIM3", "PRTIM1"),
        ("timer 3", "timer 1"),
        ("capture 3", "capture"),
        ("TIMER3", "TIMER1"),
        ("TIFR3", "TIFR1"),
        ("TIMSK3", "TIMSK1"),
        ("TCCR3", "TCCR1"),
        ("TCNT3", "TCNT1"),
        ("ICR3", "ICR1"),
        ("OCR3", "OCR1"),
        ("OCF3", "OCF1"),
        ("ICF3", "ICF1"),
        ("TOV3", "TOV1"),
        ("OCIE3", "OCIE1"),
        ("ICIE3", "ICIE1"),
        ("TOIE3", "TOIE1"),
        ("COM3", "COM1"),
        ("WGM3", "WGM1"),
        ("ICNC3", "ICNC1"),
        ("ICES3", "ICES1"),
        ("CS3", "CS1"),
        ("FOC3", "FOC1"),
        ("UCSR1", "UCSR0"),
        ("UBRR1", "UBRR0"),
        ("UDR1", "UDR0"),
        ("RXC1", "RXC0"),
        ("TXC1", "TXC0"),
        ("UDRE1", "UDRE0"),
        ("FE1", "FE0"),
        ("DOR1", "DOR0"),
        ("UPE1", "UPE0"),
        ("U2X1", "U2X0"),
        ("MPCM1", "MPCM0"),
        ("RXEN1", "RXEN0"),
        ("TXEN1", "TXEN0"),
        ("RXCIE1", "RXCIE0"),
        ("TXCIE1", "TXCIE0"),
        ("UDRIE1", "UDRIE0"),
        ("RXB81", "RXB80"),
        ("TXB81", "TXB80"),
        ("USBS1", "USBS0"),
        ("UCPOL1", "UCPOL0"),
        ("UCSZ1", "UCSZ0"),
        ("UMSEL1", "UMSEL0"),
        ("UPM1", "UPM0"),
        ("EEAR10", "EEAR9"),
        ("EEAR11", "EEAR9"),
    ],
)];

/// The conditions of a part that differ on purpose, because they are about pins.
const OF_PINS: [(&str, &[&str]); 1] = [(
    "atmega1284p",
    &[
        "capture 3 from outside",
        "capture from outside",
        "channel from outside",
        "comparison with outside",
        "multiplexed pin from outside",
        "pin change 0 from outside",
        "pin change 1 from outside",
        "pin change 2 from outside",
    ],
)];

/// Other names that are those of no second unit.
const NOT_SECOND: [&str; 5] = ["USART0_", "PRR0", "PRR1", "EEAR10", "EEAR11"];

/// Registers that contain something else after a reset because the memory is larger.
const OF_MEMORY: [&str; 1] = ["SPH"];

fn source(name: &str) -> Box<DeviceSource> {
    let table = TABLES.iter().find(|table| table.name == name).expect("a built-in table");
    match parse(table.text).expect("it is read in another test") {
        FileSource::Device(source) => source,
        FileSource::Restriction(_) | FileSource::Variant(_) => panic!("{name} has no table of its own"),
    }
}

/// The entry of a part in a list.
fn listed<T: Copy + Default>(list: &[(&str, T)], name: &str) -> T {
    list.iter().find(|entry| entry.0 == name).map_or_else(T::default, |entry| entry.1)
}

/// The bits that a list of names means.
fn bits<'a>(register: &RegisterSource, list: &'a str) -> BTreeSet<&'a str> {
    let all = if list == "*" { register.bits } else { list };
    all.split_whitespace().filter(|bit| *bit != "-").collect()
}

/// The bit after a reset.
fn reset(register: &RegisterSource, bit: &str) -> char {
    let place = register.bits.split_whitespace().position(|name| name == bit);
    let resets = register.reset.unwrap_or_default();
    place.and_then(|place| resets.split_whitespace().flat_map(str::chars).nth(place)).unwrap_or('0')
}

/// The text of a table about a bit.
fn said((peripheral, register): (&PeripheralSource, &RegisterSource), bit: &str) -> String {
    let of = |list: &&str| bits(register, list).contains(bit);
    let clock = std::iter::once(format!("{:?}", peripheral.clocked_while));
    let kinds = register.kinds.iter().filter(|(list, _)| of(list)).map(|(_, kind)| format!("{kind:?}"));
    let rules = register.rules.iter().filter(|(list, _)| of(list)).map(|(_, rule)| format!("{rule:?}"));
    clock.chain(kinds).chain(rules).collect::<Vec<_>>().join("; ")
}

/// The text of a table about an interrupt.
fn said_of(interrupt: &InterruptSource) -> impl Debug + use<'_> {
    let InterruptSource { enable, request, level_while, entry_clears, wakes_from, wakes_if, .. } = interrupt;
    (enable, request, level_while, entry_clears, wakes_from, wakes_if)
}

/// The registers of a table, each with its peripheral.
fn registers(source: &DeviceSource) -> impl Iterator<Item = (&PeripheralSource, &RegisterSource)> {
    source
        .peripherals
        .iter()
        .flat_map(|peripheral| peripheral.registers.iter().map(move |register| (peripheral, register)))
}

/// A name of the other part in a text about what has another name: the second unit of a kind named for the first one.
fn crossed<'a>(names: &[(&str, &'a str)], name: &str, text: &str) -> Option<&'a str> {
    let of_second = || names.iter().filter(|(own, _)| !NOT_SECOND.contains(own));
    let is_second = of_second().any(|(own, _)| name.contains(own));
    of_second().find(|(own, other)| is_second && text.replace(own, "").contains(other)).map(|(_, other)| *other)
}

/// The names of the programs that decide something in a table.
fn programs(source: &DeviceSource) -> BTreeSet<&'static str> {
    let of_bits = registers(source).flat_map(|(_, register)| register.decided_by.values().flatten());
    of_bits.chain(source.interrupts.iter().flat_map(|interrupt| &interrupt.decided_by)).copied().collect()
}

/// The differences between a table and the one that it is like, in spite of programs for the latter.
fn differences(part: &DeviceSource, base: &DeviceSource) -> (usize, Vec<String>) {
    let names = listed(&RENAMED, part.name);
    let renamed = |text: &str| names.iter().fold(text.to_owned(), |text, (old, new)| text.replace(old, new));
    let of_base = programs(base);
    let is_of_base = |programs: &[&str]| !programs.is_empty() && programs.iter().all(|name| of_base.contains(name));
    let (mut compared, mut found) = (0, Vec::new());
    let mut compare = |what: &str, own: &dyn Debug, other: Option<String>| {
        compared += 1;
        let text = format!("{own:?}");
        let own = renamed(&text);
        if other.as_ref() != Some(&own) {
            found.push(format!("{what}: {own}, there {other:?}"));
        }
        found.extend(crossed(names, what, &text).map(|name| format!("{what}: speaks of {name}")));
    };
    for (peripheral, register) in registers(part) {
        for bit in bits(register, "*") {
            let deciding = register.decided_by.iter().filter(|(list, _)| bits(register, list).contains(bit));
            let deciding: Vec<&str> = deciding.flat_map(|(_, programs)| programs).copied().collect();
            if !is_of_base(&deciding) {
                continue;
            }
            let name = renamed(register.name);
            let other = registers(base).find(|(_, other)| other.name == name);
            let other = other.map(|other| said(other, &renamed(bit)));
            let own = said((peripheral, register), bit);
            compare(&format!("{}.{bit}", register.name), &own, other.map(|other| format!("{other:?}")));
        }
    }
    for interrupt in part.interrupts.iter().filter(|interrupt| is_of_base(&interrupt.decided_by)) {
        let mut others = base.interrupts.iter();
        let other = others.find(|other| other.name == renamed(interrupt.name));
        compare(interrupt.name, &said_of(interrupt), other.map(|other| format!("{:?}", said_of(other))));
    }
    for (name, condition) in &part.conditions {
        if !listed(&OF_PINS, part.name).contains(name)
            && let Some(other) = base.conditions.get(&*renamed(name))
        {
            compare(name, condition, Some(format!("{other:?}")));
        }
    }
    for (_, register) in registers(part).filter(|(_, register)| !OF_MEMORY.contains(&register.name)) {
        let name = renamed(register.name);
        let Some((_, other)) = registers(base).find(|(_, other)| other.name == name) else { continue };
        let shared = |bit: &&str| bits(other, "*").contains(&*renamed(bit));
        for bit in bits(register, "*").into_iter().filter(shared) {
            compared += 1;
            let (own, there) = (reset(register, bit), reset(other, &renamed(bit)));
            if own != there {
                found.push(format!("{}.{bit}: {own} after a reset, there {there}", register.name));
            }
        }
    }
    (compared, found)
}

#[test]
fn programs_for_another_part_decide_what_is_said_in_the_same_words() {
    let mut compared = 0;
    for table in &TABLES {
        let Ok(FileSource::Device(part)) = parse(table.text) else { continue };
        if let Some(base) = part.like {
            let (count, found) = differences(&part, &source(base));
            assert!(found.is_empty(), "{}: {} differences:\n{}", part.name, found.len(), found.join("\n"));
            compared += count;
        }
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn other_words_are_found() {
    let text = TABLES.iter().find(|table| table.name == "atmega1284p").expect("it is there").text;
    for (old, new) in [
        ("freedom: RealEveryWhile(80, Not(Named(\"USART1 is SPI\")))", "freedom: Abstracted"),
        ("enable: \"SPCR.SPIE\"", "enable: \"SPCR.SPE\""),
        ("Clear(\"ADCSRA.ADEN\"), Clear(\"PRR0.PRADC\")", "Clear(\"ADCSRA.ADEN\")"),
        ("zero_while: Clear(\"UCSR1B.RXEN1\")", "zero_while: Clear(\"UCSR0B.RXEN0\")"),
        ("clocked_while: Clear(\"PRR1.PRTIM3\")", "clocked_while: Clear(\"PRR0.PRTIM1\")"),
        ("name: \"UCSR1A\", at: 0xc8, reset: \"0010 0000\"", "name: \"UCSR1A\", at: 0xc8"),
    ] {
        assert!(text.contains(old), "{old}");
        let changed: &'static str = Box::leak(text.replacen(old, new, 1).into_boxed_str());
        let Ok(FileSource::Device(part)) = parse(changed) else { panic!("{new} is not read") };
        assert!(!differences(&part, &source("atmega328p")).1.is_empty(), "{new}");
    }
}

#[test]
fn a_part_with_two_serial_ports_has_them_and_its_pins_of_its_own() {
    let part = Device::named("atmega1284p").expect("a built-in device");
    let memory = &part.memory;
    assert_eq!((memory.flash_words(), memory.sram_end, memory.eeprom_bytes), (0x1_0000, DataAddress(0x40ff), 4096));
    assert_eq!((part.interrupts.len(), part.core.vector_words, part.core.pc_bytes), (34, 2, 2));
    assert!(part.core.features.contains(Feature::Elpmx) && !part.core.features.contains(Feature::Eind));
    assert_eq!(part.reset_vector(FuseBytes { high: 0x98, ..part.default_fuses }).byte().0, 0x1_e000);
    let of = |pins: &[TimerPin]| pins.iter().map(|pin| (pin.timer, pin.pin.address.0, pin.pin.bit)).collect::<Vec<_>>();
    assert_eq!(of(&part.pins.clocks), [(0, 0x23, 0), (1, 0x23, 1), (3, 0x29, 0)]);
    assert_eq!(of(&part.pins.captures), [(1, 0x29, 6), (3, 0x23, 5)]);
    let changes: Vec<_> =
        part.pins.changes.iter().map(|change| (change.pins.0, change.mask.0, change.flag.bit)).collect();
    assert_eq!(changes, [(0x20, 0x6b, 0), (0x23, 0x6c, 1), (0x26, 0x6d, 2), (0x29, 0x73, 3)]);
    let external: Vec<_> = part.pins.external.iter().map(|(name, pin)| (*name, pin.address.0, pin.bit)).collect();
    assert_eq!(external, [("INT0", 0x29, 2), ("INT1", 0x29, 3), ("INT2", 0x23, 2)]);
}
