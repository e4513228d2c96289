//! Tests of the built-in tables, of the look-ups, and of what the loader refuses.

use avr_isa::{DataAddress, Feature};
use three_valued::Truth;

use super::library::{TABLES, read};
use super::*;

/// The whole chip.
fn whole() -> &'static Device {
    Device::named("atmega328p").expect("a built-in device")
}

/// Its ports alone.
fn ports() -> &'static Device {
    Device::named("atmega328p-gpio").expect("a built-in device")
}

/// All devices.
fn devices() -> impl Iterator<Item = &'static Device> {
    Device::names().map(|name| Device::named(name).expect("a listed device"))
}

/// Every bit of every register of a device, with its place.
fn all_bits(device: &Device) -> impl Iterator<Item = (BitRef, &Bit)> {
    device.registers.iter().flat_map(|register| {
        (0..).zip(&register.bits).map(|(bit, content)| (BitRef { address: register.address, bit }, content))
    })
}

/// A bit `REGISTER.BIT` of the whole chip.
#[track_caller]
fn place(name: &str) -> BitRef {
    let (register, bit) = name.split_once('.').expect("REGISTER.BIT");
    whole().bit(register, bit).unwrap_or_else(|| panic!("no bit {name}"))
}

#[test]
fn every_table_is_accepted_and_has_its_name() {
    for table in &TABLES {
        match read(table) {
            Ok(device) => assert_eq!(device.name, table.name),
            Err(error) => panic!("{}: {error}", table.name),
        }
    }
}

#[test]
fn an_unknown_device_is_refused_with_the_nearest_name_first() {
    let error = Device::named("atmega328-gpio").expect_err("no such device");
    assert_eq!((error.nearest[0], error.nearest.len()), ("atmega328p-gpio", 3));
    assert!(error.to_string().starts_with("unknown device 'atmega328-gpio'; did you mean atmega328p-gpio or "));
    assert_eq!(Device::named("ATMega328P").expect_err("names are lower case").nearest[0], "atmega328p");
}

#[test]
fn registers_are_found_by_address_and_by_name() {
    #[track_caller]
    fn check(name: &str, address: DataAddress, io_address: Option<u8>, reset: u8, undefined: u8) {
        let register = whole().register_at(address).unwrap_or_else(|| panic!("nothing at {address:#x}"));
        assert_eq!(register.name, name);
        assert_eq!(register.io_address(), io_address);
        assert_eq!(register.reset, ResetValue { value: reset, undefined });
        assert_eq!(whole().register(name), Some(register));
    }
    check("PINB", DataAddress(0x23), Some(0x03), 0, 0xff);
    check("PINC", DataAddress(0x26), Some(0x06), 0, 0x7f);
    check("TIFR0", DataAddress(0x35), Some(0x15), 0, 0);
    check("EECR", DataAddress(0x3f), Some(0x1f), 0, 0x32);
    check("EEARH", DataAddress(0x42), Some(0x22), 0, 0x03);
    check("SPDR", DataAddress(0x4e), Some(0x2e), 0, 0xff);
    check("MCUSR", DataAddress(0x54), Some(0x34), 0x01, 0x06);
    check("SPL", DataAddress(0x5d), Some(0x3d), 0xff, 0);
    check("SPH", DataAddress(0x5e), Some(0x3e), 0x08, 0);
    check("SREG", DataAddress(0x5f), Some(0x3f), 0, 0);
    check("WDTCSR", DataAddress(0x60), None, 0, 0);
    check("OSCCAL", DataAddress(0x66), None, 0, 0xff);
    check("TWSR", DataAddress(0xb9), None, 0xf8, 0);
    check("TWAR", DataAddress(0xba), None, 0xfe, 0);
    check("TWDR", DataAddress(0xbb), None, 0xff, 0);
    check("UCSR0A", DataAddress(0xc0), None, 0x20, 0);
    check("UCSR0C", DataAddress(0xc2), None, 0x06, 0);
    check("UDR0", DataAddress(0xc6), None, 0, 0);
}

#[test]
fn addresses_without_a_register_have_none() {
    for address in
        [0, 0x1f, 0x20, 0x22, 0x2c, 0x49, 0x4f, 0x58, 0x5c, 0x62, 0x6a, 0x83, 0xaf, 0xc3, 0xc7, 0x100, 0xffff]
    {
        assert_eq!(whole().register_at(DataAddress(address)), None, "{address:#x}");
    }
    let visible = whole().registers.iter().filter(|register| !register.is_hidden);
    assert_eq!(visible.count(), 87, "as many as avr-libc names");
    assert!(whole().is_io_area(DataAddress(0x20)) && whole().is_io_area(DataAddress(0xff)));
    assert!(!whole().is_io_area(DataAddress(0x1f)) && !whole().is_io_area(DataAddress(0x100)));
}

#[test]
fn bits_are_found_by_name_number_and_other_name() {
    #[track_caller]
    fn check(register: &str, bit: &str, expected: Option<(DataAddress, u8)>) {
        let found = whole().bit(register, bit).map(|bit| (bit.address, bit.bit));
        assert_eq!(found, expected, "{register}.{bit}");
    }
    check("PORTB", "PORTB3", Some((DataAddress(0x25), 3)));
    check("PORTB", "3", Some((DataAddress(0x25), 3)));
    check("SREG", "I", Some((DataAddress(0x5f), 7)));
    check("SPMCSR", "SPMEN", Some((DataAddress(0x57), 0)));
    check("SPMCSR", "SELFPRGEN", Some((DataAddress(0x57), 0)));
    check("UCSR0C", "UDORD0", Some((DataAddress(0xc2), 2)));
    check("SPMCSR", "UDORD0", None);
    check("PORTB", "8", None);
    check("PORTB", "PORTC3", None);
    check("PORTQ", "0", None);
}

#[test]
fn bits_have_the_kind_of_the_data_sheet() {
    #[track_caller]
    fn check(register: &str, expected: KindMasks) {
        assert_eq!(whole().register(register).expect("a register").kinds, expected, "{register}");
    }
    let none = KindMasks::default();
    check("PORTB", KindMasks { plain: 0xff, ..none });
    check("PORTC", KindMasks { plain: 0x7f, reserved: 0x80, ..none });
    check("PINC", KindMasks { input: 0x7f, reserved: 0x80, ..none });
    check("TIFR1", KindMasks { flag: 0x27, reserved: 0xd8, ..none });
    check("EECR", KindMasks { plain: 0x38, window: 0x04, pulse: 0x02, strobe: 0x01, reserved: 0xc0, ..none });
    check("TCCR0B", KindMasks { plain: 0x0f, strobe: 0xc0, reserved: 0x30, ..none });
    check("ADCSRA", KindMasks { plain: 0xaf, pulse: 0x40, flag: 0x10, ..none });
    check("UCSR0A", KindMasks { plain: 0x03, flag: 0xe8, input: 0x14, ..none });
    check("WDTCSR", KindMasks { plain: 0x6f, flag: 0x80, window: 0x10, ..none });
    check("TWCR", KindMasks { plain: 0x65, flag: 0x80, pulse: 0x10, read_only: 0x08, reserved: 0x02, ..none });
}

#[test]
fn kinds_cover_every_bit_once_and_reserved_bits_are_just_the_unnamed() {
    for device in devices() {
        for register in &device.registers {
            let KindMasks { plain, read_only, reserved, input, flag, pulse, strobe, window } = register.kinds;
            let masks = [plain, read_only, reserved, input, flag, pulse, strobe, window];
            let sum: u32 = masks.iter().map(|mask| u32::from(*mask)).sum();
            assert_eq!(sum, 0xff, "{}", register.name);
            let unnamed = (0..8).filter(|bit| register.bits[*bit].name.is_none()).fold(0, |mask, bit| mask | 1 << bit);
            assert_eq!(reserved, unnamed, "{}", register.name);
            assert_eq!((register.reset.value | register.reset.undefined) & reserved, 0, "{}", register.name);
            assert_eq!(register.reset.value & register.reset.undefined, 0, "{}", register.name);
        }
    }
}

#[test]
fn writing_a_pin_register_toggles_the_same_port() {
    for device in devices() {
        for register in device.registers.iter().filter(|register| register.name.starts_with("PIN")) {
            let port = device.register(&register.name.replace("PIN", "PORT")).expect("the port of the pins");
            for bit in register.bits.iter().filter(|bit| bit.name.is_some()) {
                let BitKind::Input(input) = &bit.kind else { panic!("{:?} is no input", bit.name) };
                assert_eq!(input.on_write, InputWrite::Toggles(port.address));
                assert_eq!((&input.changes_while, input.changes), (&Condition::Always, Changes::Both));
            }
            assert_eq!(register.kinds.reserved, port.kinds.reserved);
        }
    }
}

#[test]
fn sixteen_bit_registers_share_the_byte_temp() {
    #[track_caller]
    fn check(name: &str, low: Access, high: Access) {
        let pair = whole().pair(name).expect("a pair");
        assert_eq!(whole().register_at(pair.low).expect("its low byte").access, low);
        assert_eq!(whole().register_at(pair.high).expect("its high byte").access, high);
    }
    check(
        "TCNT1",
        Access::LowOfPair { temp: 0, high: DataAddress(0x85), latches: true },
        Access::HighOfPair { temp: 0, low: DataAddress(0x84), latched: true },
    );
    check(
        "OCR1A",
        Access::LowOfPair { temp: 0, high: DataAddress(0x89), latches: false },
        Access::HighOfPair { temp: 0, low: DataAddress(0x88), latched: false },
    );
    let (lock, left_adjusted) = (place("ADC result.LOCKED"), place("ADMUX.ADLAR"));
    check("ADC", Access::LocksPair { high: DataAddress(0x79), lock, left_adjusted }, Access::UnlocksPair { lock });
    check("UBRR0", Access::Direct, Access::Direct);
    assert_eq!((whole().temp_bytes, ports().temp_bytes), (1, 0));
    for pair in devices().flat_map(|device| &device.pairs) {
        assert_eq!(pair.high, pair.low.wrapping_add(1), "{}", pair.name);
    }
}

#[test]
fn windows_know_what_they_protect_and_guards_point_to_windows() {
    #[track_caller]
    fn check(window: &str, opened_with: (u8, u8), protects: &[&str]) {
        let BitKind::Window(content) = &whole().bit_at(place(window)).expect("a bit").kind else {
            panic!("{window} is no window")
        };
        assert_eq!((content.opened_with_ones, content.opened_with_zeros), opened_with);
        let expected: Vec<_> = protects.iter().map(|name| place(name)).collect();
        assert_eq!(content.protects, expected, "{window}");
        assert_eq!(content.cycles, 4);
    }
    check("EECR.EEMPE", (0x04, 0), &["EECR.EEPE"]);
    check("WDTCSR.WDCE", (0x18, 0), &["WDTCSR.0", "WDTCSR.1", "WDTCSR.2", "WDTCSR.WDE", "WDTCSR.WDP3"]);
    check("CLKPR.CLKPCE", (0x80, 0x0f), &["CLKPR.0", "CLKPR.1", "CLKPR.2", "CLKPR.3"]);
    check("MCUCR.IVCE", (0x01, 0), &["MCUCR.IVSEL"]);
    check("MCUCR.BODSE", (0x60, 0), &["MCUCR.BODS"]);
    for device in devices() {
        for guard in all_bits(device).filter_map(|(_, bit)| bit.guard) {
            let window = device.bit_at(guard.window).expect("the window exists");
            assert!(matches!(window.kind, BitKind::Window(_)), "{:?}", window.name);
        }
    }
}

#[test]
fn interrupts_have_their_vectors_and_priorities() {
    #[track_caller]
    fn check(number: u8, name: &str, vector: u16) {
        let interrupt = whole().interrupt(name).unwrap_or_else(|| panic!("no interrupt {name}"));
        assert_eq!((interrupt.number, interrupt.vector), (number, vector));
        assert_eq!(interrupt.handler_symbol(), format!("__vector_{number}"));
    }
    check(1, "INT0", 2);
    check(6, "WDT", 0x0c);
    check(16, "TIMER0_OVF", 0x20);
    check(18, "USART_RX", 0x24);
    check(22, "EE_READY", 0x2c);
    check(25, "SPM_READY", 0x32);
    let numbers: Vec<_> = whole().interrupts.iter().map(|interrupt| interrupt.number).collect();
    assert_eq!(numbers, (1..=25).collect::<Vec<_>>());
    assert!(ports().interrupts.is_empty());
}

#[test]
fn enable_bits_are_storage_and_flags_are_cleared_as_their_kind_says() {
    for device in devices() {
        for interrupt in &device.interrupts {
            let enable = device.bit_at(interrupt.enable).expect("the enable bit exists");
            assert_eq!(enable.kind, BitKind::Plain, "{}", interrupt.name);
            let Some(place) = interrupt.flag() else { continue };
            let BitKind::Flag(flag) = &device.bit_at(place).expect("the flag exists").kind else {
                panic!("{}: no flag", interrupt.name)
            };
            let by_entry = flag.cleared_by.contains(&ClearedBy::InterruptEntry);
            assert_eq!(by_entry, matches!(interrupt.request, Request::Latched { .. }), "{}", interrupt.name);
            assert_eq!(flag.freedom, interrupt.freedom);
        }
    }
}

#[test]
fn no_two_interrupts_share_an_enable_bit_or_a_flag() {
    for device in devices() {
        // The three pin changes and the like have one of each; a copied line would show up here.
        let mut enables: Vec<_> = device.interrupts.iter().map(|interrupt| interrupt.enable).collect();
        let mut flags: Vec<_> = device.interrupts.iter().filter_map(Interrupt::flag).collect();
        let counts = (enables.len(), flags.len());
        enables.sort();
        enables.dedup();
        flags.sort();
        flags.dedup();
        assert_eq!((enables.len(), flags.len()), counts, "{}", device.name);
    }
}

#[test]
fn requests_depend_on_the_clock_and_the_configuration() {
    #[track_caller]
    fn check(name: &str, set: &[(&str, u8)], expected: (Truth, Truth)) {
        let interrupt = whole().interrupt(name).expect("an interrupt");
        let mut read = |address| {
            let known =
                set.iter().find(|(register, _)| whole().register(register).expect("a register").address == address);
            KnownBits::exactly(known.map_or(0, |(_, value)| *value))
        };
        let found = (interrupt.raised_while.evaluate(&mut read), interrupt.level_while.evaluate(&mut read));
        assert_eq!(found, expected, "{name}");
    }
    let (yes, no) = (Truth::True, Truth::False);
    check("TIMER0_OVF", &[], (no, no));
    check("TIMER0_OVF", &[("TCCR0B", 0x03)], (yes, no));
    check("TIMER0_OVF", &[("TCCR0B", 0x03), ("PRR", 0x20)], (no, no));
    check("TIMER0_OVF", &[("TCCR0B", 0xc8)], (no, no));
    check("TIMER1_CAPT", &[], (yes, no));
    check("TIMER2_OVF", &[("PRR", 0x40), ("TCCR2B", 1)], (no, no));
    check("TIMER2_OVF", &[("PRR", 0x40), ("TCCR2B", 1), ("ASSR", 0x20)], (yes, no));
    check("INT0", &[], (no, yes));
    check("INT0", &[("EICRA", 0x02)], (yes, no));
    check("INT1", &[("EICRA", 0x02)], (no, yes));
    check("USART_RX", &[("UCSR0B", 0x80)], (no, no));
    check("USART_RX", &[("UCSR0B", 0x90)], (yes, no));
    check("EE_READY", &[], (yes, no));
    check("EE_READY", &[("EECR", 0x02)], (Truth::Unknown, no));
    check("TWI", &[("TWCR", 0x04)], (no, no));
    check("TWI", &[("TWCR", 0x44)], (yes, no));
    check("TWI", &[("TWCR", 0x24)], (yes, no));
    check("TWI", &[("TWCR", 0x04), ("Two-wire transfer", 1)], (yes, no));
    check("PCINT1", &[("PCMSK1", 1)], (no, no));
    check("PCINT1", &[("Pin changes", 2)], (yes, no));
    check("ADC", &[("ADCSRA", 0x80)], (no, no));
    check("ADC", &[("ADCSRA", 0xa0)], (yes, no));
}

/// The conditions that decide whether hardware changes a bit.
fn hardware_conditions(bit: &Bit) -> Vec<&Condition> {
    match &bit.kind {
        BitKind::Input(input) => vec![&input.changes_while, &input.zero_while],
        BitKind::Flag(flag) => vec![&flag.raised_while, &flag.zero_while],
        BitKind::Pulse(pulse) => vec![&pulse.raised_while, &pulse.zero_while, &pulse.kept_while, &pulse.lost_while],
        _ => Vec::new(),
    }
}

#[test]
fn a_flag_that_tells_when_everything_is_sent_rises_only_for_what_was_sent() {
    let mut tell = 0;
    for (_, bit) in devices().flat_map(all_bits) {
        if let BitKind::Flag(Flag { owed: Some(owed), raised_while, .. }) = &bit.kind
            && let Told::All(_) = owed.told
        {
            assert_eq!(*raised_while, Condition::Bit(owed.one), "{:?}", bit.name);
            tell += 1;
        }
    }
    assert!(tell > 0);
}

#[test]
fn what_hardware_keeps_unseen_has_a_cell_of_its_own() {
    for device in devices() {
        let memory = &device.memory;
        let hidden = device.registers.iter().filter(|register| register.is_hidden);
        let places = memory.hidden_start()..memory.pending_cells().next().expect("there are some");
        assert!(hidden.clone().all(|register| places.contains(&register.address)), "{}", device.name);
        assert!(
            u16::from(device.temp_bytes)
                <= memory.hidden_start().offset_from(memory.shared_start()).expect("it follows"),
            "{}",
            device.name
        );
        let is_latched = |bit: &Bit| matches!(&bit.kind, BitKind::Input(input) if input.latched_by.is_some());
        let latched = device.registers.iter().filter(|register| register.bits.iter().any(is_latched));
        assert!(latched.count() <= memory.pending_cells().len(), "{}", device.name);
    }
}

#[test]
fn whether_hardware_changes_a_bit_is_for_software_alone_to_decide() {
    #[track_caller]
    fn check(device: &Device, condition: &Condition, latched_by: Option<BitRef>) {
        for (at, bit) in all_bits(device).filter(|(_, bit)| bit.kind.is_changed_by_hardware()) {
            // Hardware leaves master mode, which only lets more change; what it latches has its last value; and where the reset of a prescaler
            // decides something it is kept.
            let is_kept = matches!(&bit.kind, BitKind::Pulse(pulse) if pulse.kept_while != Condition::Never);
            let is_harmless = bit.name == Some("MSTR") || latched_by == Some(at) || is_kept;
            let depends = condition.depends_on(at.address, at.mask());
            assert!(is_harmless || !depends, "{}: {condition:?} reads {:?}", device.name, bit.name);
        }
    }
    for device in devices() {
        device.registers.iter().for_each(|register| check(device, &register.clocked_while, None));
        for (_, bit) in all_bits(device) {
            let latched_by = match &bit.kind {
                BitKind::Input(input) => input.latched_by,
                _ => None,
            };
            hardware_conditions(bit).into_iter().for_each(|condition| check(device, condition, latched_by));
        }
    }
}

#[test]
fn a_stored_bit_that_hardware_may_have_changed_is_unknown() {
    #[track_caller]
    fn check(condition: &Condition, stored: u8, expected: Truth) {
        assert_eq!(condition.evaluate(&mut |_| KnownBits::exactly(stored)), expected, "{condition:?} of {stored:#x}");
    }
    let Request::Condition { holds } = &whole().interrupt("EE_READY").expect("an interrupt").request else {
        panic!("EE_READY has no flag")
    };
    check(holds, 0x00, Truth::True);
    check(holds, 0x02, Truth::Unknown);
    let writable = &whole().bit_at(place("EEARL.0")).expect("a bit").writable_while;
    check(writable, 0x00, Truth::True);
    check(writable, 0x02, Truth::Unknown);
    let BitKind::Input(data) = &whole().bit_at(place("UDR0.0")).expect("a bit").kind else { panic!("UDR0 is input") };
    let Freedom::RealWhile(received) = &data.freedom else { panic!("a received byte is real") };
    check(received, 0x90, Truth::True);
    check(received, 0x10, Truth::Unknown);
    check(received, 0x80, Truth::False);
    let moving = Condition::Moving { bit: place("TCNT0.0"), changes: Changes::Both };
    check(&moving, 0, Truth::Unknown);
    check(&moving, 1, Truth::Unknown);
}

#[test]
fn the_restricted_device_has_the_ports_and_nothing_else() {
    let names: Vec<_> = ports().registers.iter().map(|register| register.name).collect();
    let expected = "PINB DDRB PORTB PINC DDRC PORTC PIND DDRD PORTD GPIOR0 GPIOR1 GPIOR2 SPL SPH SREG";
    assert_eq!(names.join(" "), expected);
    assert_eq!(ports().policy.reserved_bit, Severity::Hazard);
    assert_eq!(ports().policy.interrupts, InterruptPolicy::Forbidden);
    assert_eq!(whole().policy.reserved_bit, Severity::Note);
    assert_eq!(ports().memory, whole().memory);
    assert!(ports().watchdog.is_none() && ports().sleep.is_none() && ports().self_programming.is_none());
    assert!(ports().eeprom.is_none() && ports().clock_prescaler.is_none() && ports().corruptions.is_empty());
    assert!(ports().reset_effects.is_empty() && ports().fuse_resets.is_empty() && ports().aliases.is_empty());
}

#[test]
fn conditions_on_absent_registers_take_their_reset_values() {
    // On the chip a pin of port C is free while it is an input and DIDR0 leaves it on; there is no DIDR0 here.
    let bit = ports().bit_at(ports().bit("PINC", "2").expect("a bit")).expect("a bit");
    let BitKind::Input(input) = &bit.kind else { panic!("a pin is an input") };
    let output = Condition::Bit(BitRef { address: DataAddress(0x27), bit: 2 });
    assert_eq!(input.freedom, Freedom::RealWhile(Condition::Not(Box::new(output))));
}

#[test]
fn the_core_has_the_instructions_of_its_architecture() {
    let core = whole().core;
    assert_eq!((core.architecture, core.pc_bytes, core.vector_words), ("avr5", 2, 2));
    assert!(core.features.contains(Feature::Mul) && core.features.contains(Feature::JmpCall));
    assert!(!core.features.contains(Feature::Elpm) && !core.features.contains(Feature::Eind));
}

#[test]
fn a_second_part_comes_from_its_table_alone() {
    let tiny = Device::named("attiny85").expect("a built-in device");
    assert_eq!((tiny.core.pc_bytes, tiny.core.vector_words), (2, 1));
    assert!(!tiny.core.features.contains(Feature::Mul) && !tiny.core.features.contains(Feature::JmpCall));
    assert_eq!((tiny.memory.flash_words(), tiny.memory.sram_end), (0x1000, DataAddress(0x025f)));
    assert_eq!(tiny.interrupt("USI_OVF").map(|interrupt| interrupt.vector), Some(14));
    assert_eq!(tiny.register_at(DataAddress(0x38)).map(|register| register.name), Some("PORTB"));
    assert!(tiny.is_io_area(DataAddress(0x5f)) && !tiny.is_io_area(DataAddress(0x60)));
    assert_eq!(tiny.boot_section(tiny.default_fuses), None);
    let reset: Vec<_> = ["SPL", "SPH"].map(|name| tiny.register(name).expect("a register").reset.value).into();
    assert_eq!(reset, [tiny.memory.sram_end.low(), tiny.memory.sram_end.high()]);
}

#[test]
fn the_smallest_part_has_a_stack_pointer_of_one_byte() {
    let tiny = Device::named("attiny13").expect("a built-in device");
    assert_eq!((tiny.memory.flash_words(), tiny.memory.sram_end), (0x200, DataAddress(0x9f)));
    assert_eq!(tiny.register("SPL").map(|register| register.reset.value), Some(0x9f));
    assert!(tiny.register("SPH").is_none() && tiny.register("EEARH").is_none() && tiny.register("PRR").is_none());
    assert_eq!(tiny.self_programming.as_ref().and_then(|programming| programming.signature), None);
    let pins = |name| &Device::named(name).expect("a built-in device").pins;
    let external = |name| pins(name).external.iter().map(|(interrupt, pin)| (*interrupt, pin.bit)).collect::<Vec<_>>();
    assert_eq!(external("attiny13"), [("INT0", 1)]);
    assert_eq!(external("attiny85"), [("INT0", 2)]);
    assert_eq!(external("atmega88p"), [("INT0", 2), ("INT1", 3)]);
    assert_eq!(pins("atmega328p").changes.len(), 3);
}

#[test]
fn a_tiny_part_has_the_16_bit_timer_and_its_serial_interface_at_port_a() {
    let tiny = Device::named("attiny84").expect("a built-in device");
    assert_eq!((tiny.memory.flash_words(), tiny.memory.sram_end), (0x1000, DataAddress(0x025f)));
    assert_eq!(tiny.interrupts.len(), 16);
    assert_eq!(tiny.pair("TCNT1").map(|pair| (pair.low, pair.high)), Some((DataAddress(0x4c), DataAddress(0x4d))));
    let [TimerPin { timer: 1, pin, driven_while: only_by_port }] = &*tiny.pins.captures else {
        panic!("one pin triggers captures");
    };
    assert_eq!(Some(*pin), tiny.bit("PINA", "PINA7"));
    let with = |at: DataAddress, content: u8| {
        only_by_port.evaluate(&mut |address| KnownBits::exactly(if address == at { content } else { 0 })).is_true()
    };
    assert!(with(DataAddress(0x50), 0x80) && !with(DataAddress(0x50), 0x20) && !with(DataAddress(0x21), 0x80));
    let changes: Vec<_> = tiny.pins.changes.iter().map(|change| (change.pins, change.mask, change.flag.bit)).collect();
    assert_eq!(changes, [(DataAddress(0x39), DataAddress(0x32), 4), (DataAddress(0x36), DataAddress(0x40), 5)]);
    let shifter = tiny.shifter.as_ref().expect("a serial interface");
    assert_eq!(
        (Some(shifter.input), Some(shifter.toggles.1)),
        (tiny.bit("PINA", "PINA6"), tiny.bit("PORTA", "PORTA4"))
    );
    assert_eq!(shifter.drives, (DataAddress(0x39), 0x70));
}

#[test]
fn parts_of_a_family_differ_in_memories_vectors_and_fuses() {
    #[track_caller]
    fn check(name: &str, flash: u32, vector_words: u8, has_jmp: bool, boot: [u32; 4]) {
        let device = Device::named(name).expect("a built-in device");
        assert_eq!((device.memory.flash_bytes, device.memory.eeprom_bytes), (flash, 512));
        assert_eq!(device.memory.sram_end, DataAddress(0x04ff));
        assert_eq!(device.core.vector_words, vector_words);
        assert_eq!(device.core.features.contains(Feature::JmpCall), has_jmp);
        assert!(device.core.features.contains(Feature::Mul));
        let stack: Vec<_> = ["SPL", "SPH"].map(|name| device.register(name).expect("a register").reset.value).into();
        assert_eq!(stack, [device.memory.sram_end.low(), device.memory.sram_end.high()]);
        assert_eq!(device.bit("EEARH", "EEAR9"), None);
        assert!(device.bit("EEARH", "EEAR8").is_some());
        let sections = [0xff, 0xfd, 0xfb, 0xf9].map(|extended| {
            let section = device.boot_section(FuseBytes { extended, ..device.default_fuses });
            section.expect("the part has a boot section").start_word
        });
        assert_eq!(sections, boot);
        let reset = |extended| device.reset_vector(FuseBytes { extended, ..device.default_fuses }).byte().0;
        assert_eq!([reset(0xf9), reset(0xf8)], [0, 2 * boot[3]]);
        let names = |device: &Device| device.registers.iter().map(|register| register.name).collect::<Vec<_>>();
        assert_eq!(names(device), names(whole()));
        let vectors = |device: &Device| device.interrupts.iter().map(|one| one.name).collect::<Vec<_>>();
        assert_eq!(vectors(device), vectors(whole()));
    }
    check("atmega168p", 0x4000, 2, true, [0x1f80, 0x1f00, 0x1e00, 0x1c00]);
    check("atmega88p", 0x2000, 1, false, [0x0f80, 0x0f00, 0x0e00, 0x0c00]);
}

#[test]
fn fuses_choose_boot_section_and_reset_values() {
    let factory = whole().default_fuses;
    assert_eq!(factory, FuseBytes { low: 0x62, high: 0xd9, extended: 0xff });
    #[track_caller]
    fn check(high: u8, start_word: u32) {
        let section = whole().boot_section(FuseBytes { high, ..whole().default_fuses });
        assert_eq!(section.map(|section| section.start_word), Some(start_word), "{high:#x}");
    }
    check(0xd9, 0x3800);
    check(0xde, 0x3f00);
    check(0xdc, 0x3e00);
    check(0xda, 0x3c00);
    let is_programmed = |name| whole().fuse(name).expect("a fuse").is_programmed(factory);
    assert!(is_programmed("CKDIV8") && is_programmed("SPIEN"));
    assert!(!is_programmed("WDTON") && !is_programmed("BOOTRST"));
    let clkpr = whole().fuse_resets.iter().find(|reset| reset.fuse == "CKDIV8").expect("a line");
    assert_eq!((clkpr.address, clkpr.mask, clkpr.programmed, clkpr.unprogrammed), (DataAddress(0x61), 0x0f, 3, 0));
}

#[test]
fn reset_causes_are_remembered_as_the_data_sheet_says() {
    #[track_caller]
    fn check(cause: ResetCause, before: (u8, u8), after: (u8, u8)) {
        let effect = whole().reset_effect(cause).expect("an effect");
        let result = effect.from(ResetValue { value: before.0, undefined: before.1 });
        assert_eq!((result.value, result.undefined), after, "{cause:?}");
    }
    check(ResetCause::PowerOn, (0x08, 0), (0x01, 0x06));
    check(ResetCause::External, (0x01, 0), (0x03, 0));
    check(ResetCause::External, (0x01, 0x06), (0x03, 0x04));
    check(ResetCause::BrownOut, (0x00, 0), (0x04, 0));
    check(ResetCause::Watchdog, (0x01, 0), (0x09, 0));
}

#[test]
fn facts_about_watchdog_sleep_and_prescaler_have_their_places() {
    let watchdog = whole().watchdog.as_ref().expect("a watchdog");
    assert_eq!(watchdog.reset_enable, place("WDTCSR.WDE"));
    assert_eq!(watchdog.prescaler[3], place("WDTCSR.5"));
    assert_eq!(watchdog.timeout_cycles[9], 1024 * 1024);
    let sleep = whole().sleep.as_ref().expect("sleep modes");
    assert_eq!((sleep.mode_address, sleep.mode_mask, sleep.modes.len()), (DataAddress(0x53), 0x0e, 6));
    assert!(sleep.modes.iter().all(|mode| mode.value & !sleep.mode_mask == 0));
    let prescaler = whole().clock_prescaler.as_ref().expect("a prescaler");
    assert_eq!((prescaler.mask, prescaler.divisions.len()), (0x0f, 9));
    let eeprom = whole().eeprom.expect("an EEPROM");
    assert_eq!(
        (eeprom.mode_mask, eeprom.data, eeprom.address_low, eeprom.address_high),
        (0x30, DataAddress(0x40), DataAddress(0x41), Some(DataAddress(0x42)))
    );
}

#[test]
fn only_the_deep_sleepers_wake_from_power_down() {
    let wakers = whole().interrupts.iter().filter(|interrupt| interrupt.wakes_from.contains(&"power_down"));
    let names: Vec<_> = wakers.map(|interrupt| interrupt.name).collect();
    assert_eq!(names, ["INT0", "INT1", "PCINT0", "PCINT1", "PCINT2", "WDT", "TWI"]);
    assert!(whole().interrupts.iter().all(|interrupt| interrupt.wakes_from.contains(&"idle")));
}

/// The condition of the promise that an event comes, with these contents of registers and 0 elsewhere.
fn lasts(event: Promised, contents: &[(&str, u8)]) -> bool {
    let promise = whole().promises.iter().find(|promise| promise.event == event).expect("it is promised");
    let address = |name: &str| whole().register(name).expect("a register").address;
    let contents: Vec<_> = contents.iter().map(|(name, content)| (address(name), *content)).collect();
    let content = |at| contents.iter().find(|(address, _)| *address == at).map_or(0, |(_, content)| *content);
    promise.lasts.evaluate(&mut |at| KnownBits::exactly(content(at))).is_true()
}

/// Sections "ADC Noise Canceler" and "Interrupts": sleep starts conversions, the entry of an interrupt clears its flag, and one with a smaller
/// number goes before it.
#[test]
fn promises_have_the_conditions_of_the_data_sheet() {
    let conversion = Promised::Change(place("ADCSRA.ADSC"));
    assert!(lasts(conversion, &[("ADCSRA", 0xc0)]));
    for other in [("SMCR", 1), ("SMCR", 2), ("PRR", 1)] {
        assert!(!lasts(conversion, &[("ADCSRA", 0xc0), other]), "{other:?}");
    }
    assert!(!lasts(conversion, &[("ADCSRA", 0xe0)]) && !lasts(conversion, &[("ADCSRA", 0x80)]));
    let overflow = Promised::Change(place("TIFR0.TOV0"));
    assert!(lasts(overflow, &[("TCCR0B", 1)]) && !lasts(overflow, &[("TCCR0B", 1), ("TIMSK0", 1)]));
    let taken = Promised::Interrupt(16);
    assert!(lasts(taken, &[("TCCR0B", 1), ("TIMSK0", 1)]) && !lasts(taken, &[("TCCR0B", 1)]));
    for before in [("EIMSK", 1), ("PCICR", 4), ("TIMSK0", 3), ("TIMSK2", 1), ("WDTCSR", 0x40)] {
        assert!(!lasts(taken, &[before, ("TCCR0B", 1), ("TIMSK0", 1)]), "{before:?}");
    }
}
