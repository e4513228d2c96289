//! Every source: what it takes for the interrupt to come, and what its entry does to the request.

use super::bench::{Bench, NOP, START, device, sts};
use avr_isa::DataAddress;

/// The effect of an entry on the flag of the request.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// It is cleared.
    Latched,
    /// It stays until software removes the cause.
    Persistent,
}
use Kind::{Latched, Persistent};

/// A source with a flag, after the data sheet: name, enable bit, flag, kind.
const FLAGS: [(&str, &str, &str, Kind); 23] = [
    ("INT0", "EIMSK.INT0", "EIFR.INTF0", Latched),
    ("INT1", "EIMSK.INT1", "EIFR.INTF1", Latched),
    ("PCINT0", "PCICR.PCIE0", "PCIFR.PCIF0", Latched),
    ("PCINT1", "PCICR.PCIE1", "PCIFR.PCIF1", Latched),
    ("PCINT2", "PCICR.PCIE2", "PCIFR.PCIF2", Latched),
    ("WDT", "WDTCSR.WDIE", "WDTCSR.WDIF", Latched),
    ("TIMER2_COMPA", "TIMSK2.OCIE2A", "TIFR2.OCF2A", Latched),
    ("TIMER2_COMPB", "TIMSK2.OCIE2B", "TIFR2.OCF2B", Latched),
    ("TIMER2_OVF", "TIMSK2.TOIE2", "TIFR2.TOV2", Latched),
    ("TIMER1_CAPT", "TIMSK1.ICIE1", "TIFR1.ICF1", Latched),
    ("TIMER1_COMPA", "TIMSK1.OCIE1A", "TIFR1.OCF1A", Latched),
    ("TIMER1_COMPB", "TIMSK1.OCIE1B", "TIFR1.OCF1B", Latched),
    ("TIMER1_OVF", "TIMSK1.TOIE1", "TIFR1.TOV1", Latched),
    ("TIMER0_COMPA", "TIMSK0.OCIE0A", "TIFR0.OCF0A", Latched),
    ("TIMER0_COMPB", "TIMSK0.OCIE0B", "TIFR0.OCF0B", Latched),
    ("TIMER0_OVF", "TIMSK0.TOIE0", "TIFR0.TOV0", Latched),
    ("SPI_STC", "SPCR.SPIE", "SPSR.SPIF", Latched),
    ("USART_RX", "UCSR0B.RXCIE0", "UCSR0A.RXC0", Persistent),
    ("USART_UDRE", "UCSR0B.UDRIE0", "UCSR0A.UDRE0", Persistent),
    ("USART_TX", "UCSR0B.TXCIE0", "UCSR0A.TXC0", Latched),
    ("ADC", "ADCSRA.ADIE", "ADCSRA.ADIF", Latched),
    ("ANALOG_COMP", "ACSR.ACIE", "ACSR.ACI", Latched),
    ("TWI", "TWCR.TWIE", "TWCR.TWINT", Persistent),
];

/// The two sources whose request is that a bit is 0: name, enable bit, bit.
const CONDITIONS: [(&str, &str, &str); 2] =
    [("EE_READY", "EECR.EERIE", "EECR.EEPE"), ("SPM_READY", "SPMCSR.SPMIE", "SPMCSR.SPMEN")];

/// The settings that let each peripheral raise its flags.
const RUNNING: [&str; 14] = [
    "TCCR0B.CS00",
    "TCCR1B.CS10",
    "TCCR2B.CS20",
    "SPCR.SPE",
    "UCSR0B.RXEN0",
    "USART transfer.SENT",
    "ADCSRA.ADEN",
    "ADCSRA.ADATE",
    "TWCR.TWEN",
    "TWCR.TWEA",
    "EICRA.ISC01",
    "Pin changes.MASK0_WRITTEN",
    "Pin changes.MASK1_WRITTEN",
    "Pin changes.MASK2_WRITTEN",
];

/// A bench on which every peripheral runs, nothing is enabled but I, and the request of UDRE is not there.
fn running() -> Bench {
    let mut bench = Bench::new(&[NOP; 8]);
    bench.set(&RUNNING);
    bench.set(&["EICRA.ISC11", "SREG.I"]);
    bench.clear("UCSR0A.UDRE0");
    bench
}

#[test]
fn all_sources_of_the_device_are_tested() {
    let tested = FLAGS.iter().map(|flag| flag.0).chain(CONDITIONS.iter().map(|condition| condition.0));
    let mut tested: Vec<&str> = tested.collect();
    tested.sort_unstable();
    let mut all: Vec<&str> = device().interrupts.iter().map(|interrupt| interrupt.name).collect();
    all.sort_unstable();
    assert_eq!(tested, all);
    assert_eq!(all.len(), 25);
}

#[test]
fn a_running_peripheral_may_request_at_any_moment() {
    for (name, enable, _, _) in FLAGS {
        let mut bench = running();
        assert_eq!(bench.offers(), "go", "{name} without its enable bit");
        bench.set(&[enable]);
        assert_eq!(bench.offers(), format!("go {name}"));
        bench.clear("SREG.I");
        assert_eq!(bench.offers(), "go", "{name} without I");
    }
}

#[test]
fn a_standing_request_is_certain_if_it_is_enabled() {
    for (name, enable, flag, _) in FLAGS {
        let mut bench = running();
        bench.set(&[flag]);
        assert_eq!(bench.offers(), "go", "{name} without its enable bit");
        bench.set(&[enable]);
        assert_eq!(bench.offers(), name);
        bench.clear("SREG.I");
        assert_eq!(bench.offers(), "go", "{name} without I");
    }
}

#[test]
fn a_condition_requests_as_long_as_it_holds() {
    for (name, enable, busy) in CONDITIONS {
        let mut bench = running();
        assert_eq!(bench.offers(), "go", "{name} without its enable bit");
        bench.set(&[enable]);
        assert_eq!(bench.offers(), name);
        bench.interrupt(name);
        bench.set(&["SREG.I"]);
        assert_eq!(bench.offers(), name, "the entry removes no condition");
        // Hardware says that it is still busy.
        let (register, _) = busy.split_once('.').expect("a bit");
        bench.set(&[busy]);
        bench.supply(register, 0xff);
        assert_eq!(bench.offers(), "go", "{name} while {busy}");
        bench.supply(register, 0);
        // SPMEN is cleared after four cycles, EEPE at any moment.
        assert_eq!(bench.offers(), if busy == "SPMCSR.SPMEN" { "go" } else { name });
    }
}

/// Expects no request while the peripheral stands still, whatever its flags are told to be.
#[track_caller]
fn check_silent(runs_while: &[&str], name: &str) {
    let (_, enable, flag, _) = FLAGS.into_iter().find(|row| row.0 == name).expect("a row");
    let mut bench = running();
    bench.set(&[enable]);
    runs_while.iter().for_each(|bit| bench.clear(bit));
    let (register, _) = flag.split_once('.').expect("a bit");
    bench.supply(register, 0xff);
    assert_eq!(bench.offers(), "go", "{name} without {runs_while:?}");
}

#[test]
fn a_peripheral_that_stands_still_requests_nothing() {
    for name in ["TIMER0_COMPA", "TIMER0_COMPB", "TIMER0_OVF"] {
        check_silent(&["TCCR0B.CS00"], name);
    }
    for name in ["TIMER1_COMPA", "TIMER1_COMPB", "TIMER1_OVF"] {
        check_silent(&["TCCR1B.CS10"], name);
    }
    for name in ["TIMER2_COMPA", "TIMER2_COMPB", "TIMER2_OVF"] {
        check_silent(&["TCCR2B.CS20"], name);
    }
    check_silent(&["SPCR.SPE"], "SPI_STC");
    check_silent(&["UCSR0B.RXEN0"], "USART_RX");
    check_silent(&["ADCSRA.ADEN"], "ADC");
    check_silent(&["TWCR.TWEN"], "TWI");
}

#[test]
fn a_receiver_that_is_off_has_lost_its_byte() {
    let mut bench = running();
    bench.set(&["UCSR0B.RXCIE0", "UCSR0A.RXC0"]);
    bench.clear("UCSR0B.RXEN0");
    assert_eq!(bench.offers(), "go");
}

#[test]
fn the_low_level_of_an_external_interrupt_needs_no_flag() {
    for (name, enable, mode) in [("INT0", "EIMSK.INT0", "EICRA.ISC01"), ("INT1", "EIMSK.INT1", "EICRA.ISC11")] {
        let mut bench = running();
        bench.set(&[enable]);
        bench.clear(mode);
        assert_eq!(bench.offers(), format!("go {name}"));
        bench.interrupt(name);
        bench.set(&["SREG.I"]);
        assert_eq!(bench.offers(), format!("go {name}"), "the level may still be there");
        assert_eq!(bench.get("EIFR"), 0);
    }
}

#[test]
fn an_entry_clears_latched_flags_only() {
    for (name, enable, flag, kind) in FLAGS {
        for stands in [false, true] {
            let mut bench = running();
            bench.set(&[enable]);
            if stands {
                bench.set(&[flag]);
            }
            bench.interrupt(name);
            assert_eq!(bench.get(flag) == 1, kind == Persistent, "{flag}, standing before: {stands}");
        }
    }
}

#[test]
fn an_entry_goes_to_the_vector() {
    for interrupt in &device().interrupts {
        let mut bench = running();
        let rows = FLAGS.iter().map(|row| (row.0, row.1)).chain(CONDITIONS.iter().map(|row| (row.0, row.1)));
        let enable = rows.into_iter().find(|row| row.0 == interrupt.name).expect("a row").1;
        bench.set(&[enable]);
        let cycles = bench.interrupt(interrupt.name);
        assert_eq!((bench.pc(), cycles), (2 * u32::from(interrupt.number), 4), "{}", interrupt.name);
        assert_eq!(bench.get("SREG.I"), 0);
        assert_eq!(
            (bench.cell(DataAddress(0x8ff)), bench.cell(DataAddress(0x8fe))),
            (START as u8, 0),
            "the return address"
        );
        assert_eq!(bench.stack_pointer(), 0x8fd);
    }
}

#[test]
fn the_watchdog_interrupt_switches_itself_off_before_a_reset() {
    let mut bench = running();
    bench.set(&["WDTCSR.WDIE", "WDTCSR.WDE"]);
    bench.interrupt("WDT");
    assert_eq!((bench.get("WDTCSR.WDIE"), bench.get("WDTCSR.WDE")), (0, 1));
    let mut bench = running();
    bench.set(&["WDTCSR.WDIE"]);
    bench.interrupt("WDT");
    assert_eq!(bench.get("WDTCSR.WDIE"), 1, "without a reset to come it stays on");
}

#[test]
fn priority_removes_only_what_is_certain() {
    let mut bench = running();
    bench.set(&["EIMSK.INT0", "TIMSK1.TOIE1", "TIMSK0.TOIE0", "ADCSRA.ADIE"]);
    assert_eq!(bench.offers(), "go INT0 TIMER1_OVF TIMER0_OVF ADC");
    bench.set(&["TIFR0.TOV0"]);
    assert_eq!(bench.offers(), "INT0 TIMER1_OVF TIMER0_OVF");
    bench.set(&["TIFR1.TOV1"]);
    assert_eq!(bench.offers(), "INT0 TIMER1_OVF");
    bench.set(&["EIFR.INTF0"]);
    assert_eq!(bench.offers(), "INT0");
    // The certain ones wait until those before them are served.
    bench.interrupt("INT0");
    bench.set(&["SREG.I"]);
    assert_eq!(bench.offers(), "INT0 TIMER1_OVF");
}

#[test]
fn priority_follows_the_numbers() {
    let mut bench = running();
    for (_, enable, flag, _) in FLAGS {
        bench.set(&[enable, flag]);
    }
    for (name, enable, _, _) in FLAGS {
        assert_eq!(bench.offers(), name);
        bench.clear(enable);
    }
    assert_eq!(bench.offers(), "go");
}

#[test]
fn a_request_right_behind_a_write_to_a_peripheral_may_be_one_instruction_late() {
    let mut bench = Bench::new(&[sts("TIMSK0", 16), NOP, NOP]);
    bench.set(&["SREG.I", "TIFR0.TOV0", "TCCR0B.CS00"]);
    bench.state.data.set(DataAddress(16), 1);
    bench.run(1);
    assert_eq!(bench.offers(), "go TIMER0_OVF");
    bench.run(1);
    assert_eq!(bench.offers(), "TIMER0_OVF");
}
