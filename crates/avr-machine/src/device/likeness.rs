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

/// A part with units that are others of the part it is like.
struct Likeness {
    name: &'static str,
    /// Timers of 16 bits that are as timer 1.
    timers: &'static [u8],
    /// USARTs that are as USART0.
    usarts: &'static [u8],
    /// Other names of registers, bits, conditions and interrupts, each with the one there.
    others: &'static [(&'static str, &'static str)],
    /// The conditions that differ on purpose, because they are about pins.
    of_pins: &'static [&'static str],
}

const LIKE: [Likeness; 3] = [
    Likeness {
        name: "atmega1284p",
        timers: &[3],
        usarts: &[1],
        others: &[("USART0_", "USART_"), ("PRR0", "PRR"), ("PRR1", "PRR"), ("EEAR10", "EEAR9"), ("EEAR11", "EEAR9")],
        of_pins: &[
            "capture 3 from outside",
            "capture from outside",
            "channel from outside",
            "comparison with outside",
            "multiplexed pin from outside",
            "pin change 0 from outside",
            "pin change 1 from outside",
            "pin change 2 from outside",
        ],
    },
    Likeness {
        name: "atmega2560",
        timers: &[3, 4, 5],
        usarts: &[1, 2, 3],
        others: &[
            ("USART0_", "USART_"),
            ("PRR0", "PRR"),
            ("PRR1", "PRR"),
            ("EEAR10", "EEAR9"),
            ("EEAR11", "EEAR9"),
            ("OCF1C", "OCF1B"),
            ("OCIE1C", "OCIE1B"),
            ("OCR1C", "OCR1B"),
            ("FOC1C", "FOC1B"),
            ("TIMER1_COMPC", "TIMER1_COMPB"),
        ],
        of_pins: &[
            "capture 3 from outside",
            "capture 4 from outside",
            "capture 5 from outside",
            "capture from outside",
            "channel from outside",
            "comparison with outside",
            "multiplexed pin from outside",
            "pin change 0 from outside",
            "pin change 1 from outside",
            "pin change 2 from outside",
        ],
    },
    Likeness {
        name: "atmega32u4",
        timers: &[3],
        usarts: &[1],
        others: &[
            ("PRR0", "PRR"),
            ("PRR1", "PRR"),
            ("EEAR10", "EEAR9"),
            ("EEAR11", "EEAR9"),
            ("OCF1C", "OCF1B"),
            ("OCIE1C", "OCIE1B"),
            ("OCR1C", "OCR1B"),
            ("FOC1C", "FOC1B"),
            ("TIMER1_COMPC", "TIMER1_COMPB"),
        ],
        of_pins: &[
            "capture 3 from outside",
            "capture from outside",
            "channel from outside",
            "comparison with outside",
            "pin change 0 from outside",
        ],
    },
];

/// The beginnings of the names of a timer of 16 bits, before its number.
const OF_TIMERS: [&str; 22] = [
    "PRTIM", "timer ", "capture ", "TIMER", "TIFR", "TIMSK", "TCCR", "TCNT", "ICR", "OCR", "OCF", "ICF", "TOV", "OCIE",
    "ICIE", "TOIE", "COM", "WGM", "ICNC", "ICES", "CS", "FOC",
];

/// The same of a USART.
const OF_USARTS: [&str; 24] = [
    "PRUSART", "UCSR", "UBRR", "UDR", "RXC", "TXC", "UDRE", "FE", "DOR", "UPE", "U2X", "MPCM", "RXEN", "TXEN", "RXCIE",
    "TXCIE", "UDRIE", "RXB8", "TXB8", "USBS", "UCPOL", "UCSZ", "UMSEL", "UPM",
];

/// The names of a part with those there, in the order in which they are replaced.
fn names(part: &str) -> Vec<(String, String)> {
    let Some(like) = LIKE.iter().find(|like| like.name == part) else { return Vec::new() };
    let mut all = Vec::new();
    for timer in like.timers {
        all.extend(OF_TIMERS.map(|name| (format!("{name}{timer}"), format!("{name}1"))));
    }
    for usart in like.usarts {
        all.extend(["_", " "].map(|end| (format!("USART{usart}{end}"), format!("USART{end}"))));
        all.extend(OF_USARTS.map(|name| (format!("{name}{usart}"), format!("{name}0"))));
    }
    all.extend(like.others.iter().map(|(own, there)| ((*own).to_owned(), (*there).to_owned())));
    all
}

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

/// A name in a text about what has another name: of another unit of the kind, or of the first one as the other part names it.
fn crossed<'a>(names: &'a [(String, String)], name: &str, text: &str) -> Option<&'a str> {
    let of_second = || names.iter().filter(|(own, _)| !NOT_SECOND.contains(&own.as_str()));
    let units: BTreeSet<char> =
        of_second().filter(|(own, _)| name.contains(own)).filter_map(|(own, _)| unit(own)).collect();
    let is_other = |own: &str| unit(own).is_some_and(|unit| !units.contains(&unit));
    let of_other = of_second().find(|(own, _)| is_other(own) && text.contains(own)).map(|(own, _)| own);
    let is_own = |own: &str| unit(own).is_some_and(|unit| units.contains(&unit));
    let mut of_unit = of_second().filter(|(own, _)| is_own(own));
    let of_first = of_unit.find(|(own, other)| text.replace(own, "").contains(other)).map(|(_, other)| other);
    of_other.or(of_first).filter(|_| !units.is_empty()).map(String::as_str)
}

/// The last character of a name: the number of a timer or USART, or the letter of a compare unit.
fn unit(name: &str) -> Option<char> {
    name.trim_end_matches(['_', ' ']).chars().next_back()
}

/// The names of the programs that decide something in a table.
fn programs(source: &DeviceSource) -> BTreeSet<&'static str> {
    let of_bits = registers(source).flat_map(|(_, register)| register.decided_by.values().flatten());
    of_bits.chain(source.interrupts.iter().flat_map(|interrupt| &interrupt.decided_by)).copied().collect()
}

/// The differences between a table and the one that it is like, in spite of programs for the latter.
fn differences(part: &DeviceSource, base: &DeviceSource) -> (usize, Vec<String>) {
    let names = names(part.name);
    let of_pins = LIKE.iter().find(|like| like.name == part.name).map_or(&[][..], |like| like.of_pins);
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
        found.extend(crossed(&names, what, &text).map(|name| format!("{what}: speaks of {name}")));
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
        if !of_pins.contains(name)
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
    assert!(compared > 600, "{compared}");
}

/// Checks that changes of the table of a part are found.
#[track_caller]
fn check_found(name: &str, changes: &[(&str, &str)]) {
    let text = TABLES.iter().find(|table| table.name == name).expect("it is there").text;
    for (old, new) in changes {
        assert!(text.contains(old), "{old}");
        let changed: &'static str = Box::leak(text.replacen(old, new, 1).into_boxed_str());
        let Ok(FileSource::Device(part)) = parse(changed) else { panic!("{new} is not read") };
        assert!(!differences(&part, &source("atmega328p")).1.is_empty(), "{new}");
    }
}

#[test]
fn other_words_are_found() {
    check_found(
        "atmega1284p",
        &[
            ("freedom: RealEveryWhile(80, Not(Named(\"USART1 is SPI\")))", "freedom: Abstracted"),
            ("enable: \"SPCR.SPIE\"", "enable: \"SPCR.SPE\""),
            ("Clear(\"ADCSRA.ADEN\"), Clear(\"PRR0.PRADC\")", "Clear(\"ADCSRA.ADEN\")"),
            ("zero_while: Clear(\"UCSR1B.RXEN1\")", "zero_while: Clear(\"UCSR0B.RXEN0\")"),
            ("clocked_while: Clear(\"PRR1.PRTIM3\")", "clocked_while: Clear(\"PRR0.PRTIM1\")"),
            ("name: \"UCSR1A\", at: 0xc8, reset: \"0010 0000\"", "name: \"UCSR1A\", at: 0xc8"),
        ],
    );
    check_found(
        "atmega2560",
        &[
            (
                "rules: {\"*\": (writable_while: Named(\"ICR4 is top\"))}",
                "rules: {\"*\": (writable_while: Named(\"ICR3 is top\"))}",
            ),
            (
                "\"OCF5C OCF5B OCF5A TOV5\": Flag(\n                            raised_while: Named(\"timer 5 runs\")",
                "\"OCF5C OCF5B OCF5A TOV5\": Flag(\n                            raised_while: Named(\"timer 4 runs\")",
            ),
            ("clocked_while: Clear(\"PRR1.PRUSART3\")", "clocked_while: Clear(\"PRR1.PRUSART2\")"),
            ("cleared_by: [Read(\"UDR2\")]", "cleared_by: [Read(\"UDR1\")]"),
            ("enable: \"TIMSK1.OCIE1C\"", "enable: \"TIMSK1.OCIE1B\""),
            ("Equals(\"TCCR5B\", [\"CS52\", \"CS51\"], 1)", "Equals(\"TCCR4B\", [\"CS42\", \"CS41\"], 1)"),
        ],
    );
    check_found(
        "atmega32u4",
        &[
            ("clocked_while: Clear(\"PRR1.PRTIM3\")", "clocked_while: Clear(\"PRR0.PRTIM1\")"),
            ("clocked_while: Clear(\"PRR1.PRUSART1\")", "clocked_while: Clear(\"PRR1.PRTIM3\")"),
            ("cleared_by: [Read(\"UDR1\")]", "cleared_by: [Write(\"UDR1\")]"),
            ("enable: \"TIMSK1.OCIE1C\"", "enable: \"TIMSK1.OCIE1B\""),
            ("holds: Clear(\"EECR.EEPE\")", "holds: Set(\"EECR.EEPE\")"),
        ],
    );
}

#[test]
fn a_part_with_a_wide_program_counter_has_its_memories_and_pins() {
    let part = Device::named("atmega2560").expect("a built-in device");
    let memory = &part.memory;
    assert_eq!((memory.flash_words(), memory.eeprom_bytes), (0x2_0000, 4096));
    assert_eq!((memory.sram_start, memory.sram_end), (DataAddress(0x0200), DataAddress(0x21ff)));
    assert_eq!((part.interrupts.len(), part.core.vector_words, part.core.pc_bytes), (56, 2, 3));
    assert!(part.core.features.contains(Feature::Elpmx) && part.core.features.contains(Feature::Eind));
    let starts =
        [0x98, 0x9a, 0x9c, 0x9e].map(|high| part.reset_vector(FuseBytes { high, ..part.default_fuses }).byte().0);
    assert_eq!(starts, [0x3_e000, 0x3_f000, 0x3_f800, 0x3_fc00]);
    let of = |pins: &[TimerPin]| pins.iter().map(|pin| (pin.timer, pin.pin.address.0, pin.pin.bit)).collect::<Vec<_>>();
    assert_eq!(of(&part.pins.clocks), [(0, 0x29, 7), (1, 0x29, 6), (3, 0x2c, 6), (4, 0x100, 7), (5, 0x109, 2)]);
    assert_eq!(of(&part.pins.captures), [(1, 0x29, 4), (3, 0x2c, 7), (4, 0x109, 0), (5, 0x109, 1)]);
    let changes: Vec<_> =
        part.pins.changes.iter().map(|change| (change.pins.0, change.of, change.mask.0, change.shift)).collect();
    assert_eq!(changes, [(0x23, 0xff, 0x6b, 0), (0x106, 0xff, 0x6d, 0), (0x2c, 1, 0x6c, 0), (0x103, 0x7f, 0x6c, 1)]);
    let external: Vec<_> = part.pins.external.iter().map(|(_, pin)| (pin.address.0, pin.bit)).collect();
    assert_eq!(external, [(0x29, 0), (0x29, 1), (0x29, 2), (0x29, 3), (0x2c, 4), (0x2c, 5), (0x2c, 6), (0x2c, 7)]);
}

#[test]
fn a_part_with_a_serial_bus_has_its_memories_vectors_and_pins() {
    let part = Device::named("atmega32u4").expect("a built-in device");
    let memory = &part.memory;
    assert_eq!((memory.flash_words(), memory.eeprom_bytes), (0x4000, 1024));
    assert_eq!((memory.sram_start, memory.sram_end), (DataAddress(0x0100), DataAddress(0x0aff)));
    assert_eq!((part.core.vector_words, part.core.pc_bytes), (2, 2));
    assert!(!part.core.features.contains(Feature::Elpmx) && !part.core.features.contains(Feature::Eind));
    let starts =
        [0x98, 0x9a, 0x9c, 0x9e].map(|high| part.reset_vector(FuseBytes { high, ..part.default_fuses }).byte().0);
    assert_eq!(starts, [0x7000, 0x7800, 0x7c00, 0x7e00]);
    let numbers: Vec<_> = part.interrupts.iter().map(|interrupt| interrupt.number).collect();
    let reserved = [5, 6, 8, 13, 14, 15];
    assert_eq!(numbers, (1..=42).filter(|number| !reserved.contains(number)).collect::<Vec<_>>());
    let vectors = ["INT6", "USB_GEN", "USART1_RX", "TIMER4_FPF"]
        .map(|name| part.interrupt(name).map(|interrupt| (interrupt.number, interrupt.vector)));
    assert_eq!(vectors, [Some((7, 14)), Some((10, 20)), Some((25, 50)), Some((42, 84))]);
    let of = |pins: &[TimerPin]| pins.iter().map(|pin| (pin.timer, pin.pin.address.0, pin.pin.bit)).collect::<Vec<_>>();
    assert_eq!(of(&part.pins.clocks), [(0, 0x29, 7), (1, 0x29, 6)]);
    assert_eq!(of(&part.pins.captures), [(1, 0x29, 4), (3, 0x26, 7)]);
    let external: Vec<_> = part.pins.external.iter().map(|(_, pin)| (pin.address.0, pin.bit)).collect();
    assert_eq!(external, [(0x29, 0), (0x29, 1), (0x29, 2), (0x29, 3), (0x2c, 6)]);
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
