//! Linear time, fairness, events, patterns and vacuity, from the text of a property to the verdict on machine code.

use avr_machine::device::Device;
use avr_properties::{Property, PropertyFile};
use avr_verify::{PropertyResult, Request, Results, Verdict, verify};

/// Starts timer 0, enables its overflow interrupt and loops for ever:
/// `ldi r16,1; out TCCR0B,r16; sts TIMSK0,r16; sei; rjmp .-2`.
const TIMER: &[u16] = &[0xe001, 0xbd05, 0x9300, 0x006e, 0x9478, 0xcfff];
/// The same without starting the timer.
const STOPPED: &[u16] = &[0xe001, 0x9300, 0x006e, 0x9478, 0xcfff];
/// The same with a loop that lets interrupts in for a moment only: `1: cli; nop; sei; nop; rjmp 1b`.
const CRITICAL: &[u16] = &[0xe001, 0xbd05, 0x9300, 0x006e, 0x94f8, 0x0000, 0x9478, 0x0000, 0xcffb];
/// The same without interrupts: `cli; rjmp .-2`.
const CLI: &[u16] = &[0xe001, 0xbd05, 0x9300, 0x006e, 0x94f8, 0xcfff];
/// The same with a loop that sets the I flag and lets no interrupt in: `1: sei; cli; rjmp 1b`.
const BLOCKED: &[u16] = &[0xe001, 0xbd05, 0x9300, 0x006e, 0x9478, 0x94f8, 0xcffd];
/// A handler that toggles PORTB.0: `sbi PINB,0; reti`.
const TOGGLE: &[u16] = &[0x9a18, 0x9518];
/// A handler that disables its own interrupt: `ldi r17,0; sts TIMSK0,r17; reti`.
const DISABLE: &[u16] = &[0xe010, 0x9310, 0x006e, 0x9518];

/// `ldi r16,3; out PORTB,r16; in r17,PINC; rcall f; sbrc r17,0; out PORTB,r17; rjmp .-2; f: ret`, with f at 0x0e.
const EVENTS: &[u16] = &[0xe003, 0xb905, 0xb116, 0xd003, 0xfd10, 0xb915, 0xcfff, 0x9508];
/// Stores through a pointer with the values 0x24 and 0x25: `ldi r27,0; ori r26,0x24; andi r26,0x25; st X,r16; rjmp .-2`.
const SOMEWHERE_LOW: &[u16] = &[0xe0b0, 0x62a4, 0x72a5, 0x930c, 0xcfff];
/// Stores through a pointer with the values 0x100 to 0x1ff: `ldi r27,1; st X,r16; rjmp .-2`.
const SOMEWHERE_IN_RAM: &[u16] = &[0xe0b1, 0x930c, 0xcfff];

/// A program with a handler for the overflow of timer 0.
fn with_handler(handler: &[u16], main: &[u16]) -> Vec<u16> {
    let start = 0x20 + handler.len();
    let mut words = vec![0xc000 | (start as u16 - 1)];
    words.resize(0x20, 0);
    [words.as_slice(), handler, main].concat()
}

fn results(words: &[u16], property: &str) -> Results {
    let mut file = PropertyFile::parse("empty.ron", "()").expect("it is valid");
    file.properties.push(Property::from_command_line(property).unwrap_or_else(|error| panic!("{property}: {error}")));
    let (image, device) = (avr_testkit::image::image(words), Device::named("atmega328p").expect("the device exists"));
    verify(&Request::of(&image, device, &file)).unwrap_or_else(|error| panic!("{property}: {error}"))
}

fn result(words: &[u16], property: &str) -> PropertyResult {
    results(words, property).properties.remove(0)
}

/// `expected` is a verdict, or the beginning of the reason why there is none.
#[track_caller]
fn check(words: &[u16], property: &str, expected: &str) {
    let found = match result(words, property).verdict {
        Verdict::Holds => "holds".to_owned(),
        Verdict::Violated => "violated".to_owned(),
        Verdict::Unknown(unknown) => unknown.reason,
    };
    assert!(found.starts_with(expected), "{property}: {found}");
}

/// A formula of linear time, under fairness of the timer's overflow or of nothing.
fn linear(check: &str, fair: bool) -> String {
    let under = if fair { "under: [\"G F interrupt(TIMER0_OVF)\"]" } else { "" };
    format!("Ltl(check: {check:?}, {under})")
}

#[test]
fn a_timer_that_is_let_in_fires_again_and_again_where_that_is_assumed() {
    for main in [TIMER, CRITICAL] {
        let program = with_handler(TOGGLE, main);
        check(&program, &linear("G F interrupt(TIMER0_OVF)", false), "violated");
        check(&program, &linear("G F interrupt(TIMER0_OVF)", true), "holds");
        check(&program, &linear("G F (PORTB.0 == 1) && G F (PORTB.0 == 0)", true), "holds");
        check(&program, &linear("F G (PORTB.0 == 1)", true), "violated");
        check(&program, "InfinitelyOften(check: \"write(PINB)\", under: [\"G F interrupt(TIMER0_OVF)\"])", "holds");
        check(&program, "InfinitelyOften(check: \"write(PINB)\")", "violated");
        check(&program, "Formula(check: \"AF write(PINB)\", under: [\"G F interrupt(TIMER0_OVF)\"])", "holds");
        check(&program, "Formula(check: \"EG !write(PINB)\", under: [\"G F interrupt(TIMER0_OVF)\"])", "violated");
        check(&program, "EG !write(PINB)", "holds");
        check(&program, "Formula(check: \"AG EF write(PINB)\", under: [\"G F interrupt(TIMER0_OVF)\"])", "holds");
    }
}

#[test]
fn fairness_proves_nothing_where_interrupts_are_off() {
    let program = with_handler(TOGGLE, CLI);
    check(&program, &linear("F interrupt(TIMER0_OVF)", true), "violated");
    check(&program, &linear("F write(PINB)", true), "violated");
    check(&program, &linear("G !write(PINB)", true), "holds");
    check(&program, "Formula(check: \"AF write(PINB)\", under: [\"G F interrupt(TIMER0_OVF)\"])", "violated");
}

#[test]
fn fairness_that_cannot_be_is_no_proof() {
    let program = with_handler(TOGGLE, BLOCKED);
    check(&program, &linear("F (PORTB == 0x55)", true), "no run is fair at 0x004e, which would prove anything there");
    let timer = with_handler(TOGGLE, TIMER);
    check(&timer, "Ltl(check: \"F (PORTB == 0x55)\", under: [\"G F (PORTB == 0x55)\"])", "no run is fair at 0x004e");
    // Some initial contents of a register have no fair run.
    check(&timer, "Ltl(check: \"F (PORTB == 0x55)\", under: [\"F G (r5 == 3)\"])", "no run is fair at 0x004e");
    let stopped = with_handler(TOGGLE, STOPPED);
    check(&stopped, &linear("F (PORTB == 0x55)", true), "no run is fair at 0x004c");
    check(&timer, "Ltl(check: \"F (PORTB == 0x55)\", under: [\"G F (PORTD == 1) -> G F (PORTB == 1)\"])", "violated");
}

#[test]
fn an_interrupt_that_disables_itself_fires_once() {
    let program = with_handler(DISABLE, TIMER);
    check(&program, &linear("F interrupt(TIMER0_OVF)", true), "holds");
    check(&program, &linear("F interrupt(TIMER0_OVF)", false), "violated");
    check(&program, &linear("G F interrupt(TIMER0_OVF)", true), "violated");
    check(&program, &linear("F G !interrupt(TIMER0_OVF)", true), "holds");
}

#[test]
fn reports_name_the_fairness_that_is_assumed() {
    let program = with_handler(TOGGLE, TIMER);
    let property = "Ltl(name: \"ticks\", check: \"F write(PINB)\", under: [\"G F interrupt(TIMER0_OVF)\"])";
    let expected = "fairness, for 'ticks' only: G F interrupt(TIMER0_OVF), read as (F G enabled(TIMER0_OVF) && \
                    G F SREG.I) -> G F interrupt(TIMER0_OVF)";
    assert_eq!(results(&program, property).assumptions, [expected]);
}

#[test]
fn events_are_seen_with_their_values() {
    check(EVENTS, "AF write(PORTB)", "holds");
    check(EVENTS, "AF (write(PORTB) & 0x01 == 1)", "holds");
    check(EVENTS, "EF (write(PORTB) == 4)", "violated");
    check(EVENTS, "EF (write(PORTB) == 5)", "holds");
    check(EVENTS, "AG (write(PORTB) -> write(PORTB) & 0x01 == 1)", "holds");
    check(EVENTS, "AG !write(PORTC)", "holds");
    check(EVENTS, "AF read(PINC)", "holds");
    check(EVENTS, "EF (read(PINC) == 0x41)", "holds");
    check(EVENTS, "AG (read(PINC) -> read(PINC) & 0x80 == 0)", "holds");
    check(EVENTS, "AG !read(PINB)", "holds");
    check(EVENTS, "AF call(0x0e)", "holds");
    check(EVENTS, "AG !call(0x0c)", "holds");
    check(EVENTS, "Ltl(check: \"G (call(0x0e) -> O read(PINC))\")", "holds");
    check(EVENTS, "Ltl(check: \"X X X X call(0x0e)\")", "holds");
    check(EVENTS, "Ltl(check: \"X X X call(0x0e)\")", "violated");
    check(EVENTS, "Ltl(check: \"!call(0x0e) U read(PINC)\")", "holds");
    check(EVENTS, "Ltl(check: \"G F write(PORTB)\")", "violated");
}

#[test]
fn events_at_unknown_addresses_are_not_excluded() {
    let excluded =
        |words: &[u16], event: &str| matches!(result(words, &format!("AG !{event}")).verdict, Verdict::Holds);
    assert!(!excluded(SOMEWHERE_LOW, "write(PORTB)"));
    assert!(!excluded(SOMEWHERE_LOW, "write(DDRB)"));
    assert!(excluded(SOMEWHERE_LOW, "write(PORTC)"));
    assert!(excluded(SOMEWHERE_IN_RAM, "write(PORTB)"));
    assert!(!excluded(SOMEWHERE_IN_RAM, "write(mem[0x100])"));
    assert!(!excluded(SOMEWHERE_IN_RAM, "write(mem[0x1ff])"));
    assert!(excluded(SOMEWHERE_IN_RAM, "write(mem[0x200])"));
}

#[test]
fn every_pattern_works() {
    let timer = &with_handler(TOGGLE, TIMER);
    check(EVENTS, "Always(check: \"DDRB == 0\")", "holds");
    check(EVENTS, "Never(check: \"DDRB == 1\")", "holds");
    check(EVENTS, "Reachable(check: \"PORTB == 5\")", "holds");
    check(timer, "Recovery(to: \"PORTB == 0\")", "holds");
    check(EVENTS, "Recovery(to: \"PORTB == 0\")", "violated");
    check(EVENTS, "Response(after: \"read(PINC)\", eventually: \"call(0x0e)\")", "holds");
    check(EVENTS, "Response(after: \"read(PINC)\", eventually: \"PORTB == 5\")", "violated");
    check(EVENTS, "Precedence(first: \"read(PINC)\", then: \"call(0x0e)\")", "holds");
    check(EVENTS, "Precedence(first: \"call(0x0e)\", then: \"read(PINC)\")", "violated");
    check(EVENTS, "Until(holds: \"PORTB == 0\", until: \"write(PORTB)\")", "holds");
    check(EVENTS, "Mutex(between: [\"read(PINC)\", \"write(PORTB)\", \"call(0x0e)\"])", "holds");
    check(EVENTS, "StaysAfter(after: \"PORTB.0 == 1\")", "holds");
    check(timer, "StaysAfter(after: \"PORTB.0 == 1\")", "violated");
    check(timer, "InfinitelyOften(check: \"!in_interrupt\")", "holds");
    check(EVENTS, "EventuallyForever(check: \"pc == 0x0c\")", "holds");
    check(timer, "EventuallyForever(check: \"pc == 0x4c\")", "violated");
    check(EVENTS, "Ltl(check: \"F G (pc == 0x0c)\")", "holds");
    check(EVENTS, "Formula(check: \"A[F G (pc == 0x0c)] && E[F (PORTB == 5 && X PORTB == 5)]\")", "holds");
}

#[track_caller]
fn check_vacuity(words: &[u16], property: &str, expected: Option<(&str, bool)>) {
    let result = result(words, property);
    assert_eq!(result.verdict, Verdict::Holds, "{property}");
    let found = result.vacuous.as_ref().map(|vacuity| (vacuity.subformula.as_str(), vacuity.replaced_by));
    assert_eq!(found, expected, "{property}");
}

#[test]
fn what_says_nothing_is_vacuous() {
    check_vacuity(EVENTS, "Always(check: \"DDRB == 0\")", None);
    check_vacuity(EVENTS, "Inherent()", None);
    check_vacuity(EVENTS, "Stack(max_bytes: 2)", None);
    check_vacuity(EVENTS, "Response(after: \"read(PINC)\", eventually: \"call(0x0e)\")", None);
    check_vacuity(
        EVENTS,
        "Response(after: \"write(PORTC)\", eventually: \"call(0x0e)\")",
        Some(("AF call(0x0e)", false)),
    );
    check_vacuity(EVENTS, "Ltl(check: \"G (write(PORTC) -> F call(0x0e))\")", Some(("F call(0x0e)", false)));
    check_vacuity(EVENTS, "AG (PORTB == 0 || DDRB == 0)", Some(("PORTB == 0", false)));
    check_vacuity(EVENTS, "AG (PORTB == 0x80 -> DDRB == 1)", Some(("DDRB == 1", false)));
    check_vacuity(EVENTS, "AG (PORTB == 3 -> DDRB == 0)", Some(("PORTB == 3", true)));
    check_vacuity(EVENTS, "AG (PORTB == 3 <-> PORTB == 3)", None);
    check_vacuity(EVENTS, "AG (DDRB == 0 || (PORTB == 3 <-> PORTB == 5))", Some(("PORTB == 3 <-> PORTB == 5", false)));
    let timer = with_handler(TOGGLE, TIMER);
    check_vacuity(
        &timer,
        &linear("G (PORTB == 9 -> F interrupt(TIMER0_OVF))", true),
        Some(("F interrupt(TIMER0_OVF)", false)),
    );
    check_vacuity(&timer, &linear("F interrupt(TIMER0_OVF)", true), None);
}
