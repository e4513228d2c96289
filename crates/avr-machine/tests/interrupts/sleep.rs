//! SLEEP, BREAK and WDR.

use super::bench::{Bench, NOP, SEI, SLEEP, START, device};
use avr_isa::{DataAddress, Instruction};
use avr_machine::{Hazard, HazardKind, Options, Stop};

/// A bench that sleeps in a mode (bits SM2:0), with some bits set.
fn asleep(mode: &[&str], set: &[&str]) -> Bench {
    let mut bench = Bench::new(&[SEI, SLEEP, NOP]);
    bench.set(&["SMCR.SE"]);
    bench.set(mode);
    bench.set(set);
    bench.run(2);
    assert!(bench.state.control.sleeping);
    bench
}

const POWER_DOWN: [&str; 1] = ["SMCR.SM1"];
const TIMER_0: [&str; 2] = ["TIMSK0.TOIE0", "TCCR0B.CS00"];

#[test]
fn an_enabled_interrupt_wakes() {
    let mut bench = asleep(&[], &TIMER_0);
    assert_eq!(bench.offers(), "go TIMER0_OVF");
    assert_eq!(bench.try_step(), Ok(1), "another moment of sleep");
    assert!(bench.state.control.sleeping);
    assert_eq!(bench.interrupt("TIMER0_OVF"), 8, "an entry from sleep takes four cycles more");
    assert!(!bench.state.control.sleeping);
    assert_eq!(bench.cell(DataAddress(0x8ff)), START as u8 + 2, "it returns behind SLEEP");
}

#[test]
fn a_standing_request_wakes_at_once() {
    let bench = asleep(&[], &["TIMSK0.TOIE0", "TIFR0.TOV0"]);
    assert_eq!(bench.offers(), "TIMER0_OVF");
}

#[test]
fn sleep_does_nothing_unless_it_is_enabled() {
    let mut bench = Bench::new(&[SLEEP, NOP]);
    assert_eq!(bench.try_step(), Ok(1));
    assert!(!bench.state.control.sleeping);
    assert_eq!(bench.pc(), START + 1);
}

/// Expects what can happen in the sleep mode.
#[track_caller]
fn check(mode: &[&str], enabled: &[&str], expected: &str) {
    assert_eq!(asleep(mode, enabled).offers(), expected, "{mode:?} {enabled:?}");
}

#[test]
fn only_some_interrupts_wake_from_deep_sleep() {
    let for_ever = "Hazard(Hazard { kind: SleepForEver, address: Some(132) })";
    check(&POWER_DOWN, &TIMER_0, for_ever);
    check(&POWER_DOWN, &["UCSR0B.RXCIE0", "UCSR0B.RXEN0"], for_ever);
    check(&POWER_DOWN, &["TIMSK2.TOIE2", "TCCR2B.CS20"], for_ever);
    check(&POWER_DOWN, &["EIMSK.INT0"], "go INT0 wake");
    // Versions of the data sheet differ on waking by an edge: it may, and sleep may last for ever.
    check(&POWER_DOWN, &["EIMSK.INT0", "EICRA.ISC00"], for_ever);
    asleep(&POWER_DOWN, &["EIMSK.INT0", "EICRA.ISC00"]).interrupt("INT0");
    check(&[], &["EIMSK.INT0"], "go INT0");
    check(&POWER_DOWN, &["PCICR.PCIE1", "PCMSK1.PCINT8", "Pin changes.MASK1_WRITTEN"], "go PCINT1");
    // Without an enabled pin only a change just before can wake, if one was enabled then.
    check(&POWER_DOWN, &["PCICR.PCIE1"], for_ever);
    check(&POWER_DOWN, &["PCICR.PCIE1", "Pin changes.MASK1_WRITTEN"], for_ever);
    asleep(&POWER_DOWN, &["PCICR.PCIE1", "Pin changes.MASK1_WRITTEN"]).interrupt("PCINT1");
    check(&POWER_DOWN, &["WDTCSR.WDIE"], "go WDT");
    check(&POWER_DOWN, &["TWCR.TWIE", "TWCR.TWEN", "TWCR.TWEA"], "go TWI");
    check(&POWER_DOWN, &["TWCR.TWIE", "TWCR.TWEN"], for_ever);
    check(&POWER_DOWN, &["EECR.EERIE", "EECR.EEPE"], for_ever);
    // Power-save keeps timer 2, ADC noise reduction the converter and the EEPROM.
    check(&["SMCR.SM1", "SMCR.SM0"], &["TIMSK2.TOIE2", "TCCR2B.CS20"], "go TIMER2_OVF");
    check(&["SMCR.SM1", "SMCR.SM0"], &["ADCSRA.ADIE", "ADCSRA.ADEN"], for_ever);
    check(&["SMCR.SM0"], &["ADCSRA.ADIE", "ADCSRA.ADEN"], "go ADC");
    check(&["SMCR.SM0"], &["EECR.EERIE"], "EE_READY");
    check(&["SMCR.SM0"], &TIMER_0, for_ever);
    check(&["SMCR.SM0"], &["TIMSK2.TOIE2", "TCCR2B.CS20"], for_ever);
    check(&["SMCR.SM0"], &["TIMSK2.TOIE2", "TCCR2B.CS20", "ASSR.AS2"], "go TIMER2_OVF");
    // Standby and extended standby.
    check(&["SMCR.SM2", "SMCR.SM1"], &["EIMSK.INT1"], "go INT1 wake");
    check(&["SMCR.SM2", "SMCR.SM1"], &["TIMSK2.TOIE2", "TCCR2B.CS20"], for_ever);
    check(&["SMCR.SM2", "SMCR.SM1", "SMCR.SM0"], &["TIMSK2.TOIE2", "TCCR2B.CS20"], "go TIMER2_OVF");
}

#[test]
fn sleeping_for_ever_is_reported() {
    let hazard = Hazard { kind: HazardKind::SleepForEver, address: Some(2 * (START + 2)) };
    assert_eq!(asleep(&[], &[]).try_step(), Err(Stop::Hazard(hazard)));
    assert_eq!(asleep(&[], &["TCCR0B.CS00"]).try_step(), Err(Stop::Hazard(hazard)), "a timer without its enable bit");
    let mut bench = asleep(&[], &TIMER_0);
    bench.clear("SREG.I");
    assert_eq!(bench.try_step(), Err(Stop::Hazard(hazard)), "I is 0");
}

#[test]
fn a_reset_ends_sleep() {
    assert_eq!(asleep(&POWER_DOWN, &["WDTCSR.WDE"]).offers(), "go Watchdog");
}

#[test]
fn sleeping_for_ever_goes_on_where_it_is_allowed() {
    let options = Options { allowed: [HazardKind::SleepForEver].into(), ..Options::default() };
    let mut bench = Bench::with(&[SLEEP, NOP], options);
    bench.set(&["SMCR.SE"]);
    bench.run(1);
    assert_eq!(bench.try_step(), Ok(1));
    assert_eq!((bench.pc(), bench.state.control.sleeping), (START + 1, true));
}

#[test]
fn an_assumption_can_keep_all_from_waking() {
    let number = device().interrupt("TIMER0_OVF").expect("it exists").number;
    let mut bench = Bench::with(&[SEI, SLEEP, NOP], Options { never: [number].into(), ..Options::default() });
    bench.set(&["SMCR.SE", "TIMSK0.TOIE0", "TIFR0.TOV0"]);
    bench.run(2);
    assert!(matches!(bench.try_step(), Err(Stop::Hazard(Hazard { kind: HazardKind::SleepForEver, .. }))));
}

#[test]
fn break_and_wdr_go_on() {
    let mut bench = Bench::new(&[Instruction::Break, Instruction::Wdr, NOP]);
    assert_eq!(bench.try_step(), Ok(1));
    assert_eq!((bench.world.watchdog_restarts, bench.pc()), (0, START + 1));
    assert_eq!(bench.try_step(), Ok(1));
    assert_eq!((bench.world.watchdog_restarts, bench.pc()), (1, START + 2));
}
