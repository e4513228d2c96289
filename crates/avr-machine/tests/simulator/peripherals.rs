//! The modelled peripherals, as programs see them.

use crate::code::{
    BREAK, NOP, SEI, WDR, inc, input, ldi, lds, out, program, rjmp, skip_if_clear, skip_if_set, sts, with_handlers,
};
use crate::{machine, machine_with, stimulus};
use avr_isa::DataAddress;
use avr_machine::Options;
use avr_machine::simulator::{End, Limits, Simulator, Stimulus};

/// Runs a program to its BREAK and gives what was sent, the cycles and the data memory.
#[track_caller]
fn run(code: &[u16], stimulus: Stimulus) -> (Vec<u8>, u64, Vec<u8>) {
    let options = Options { resets: stimulus.resets(), ..Options::default() };
    let machine = machine_with(code, options);
    let mut simulator = Simulator::new(&machine, stimulus);
    let end = simulator.run(Limits::default());
    assert_eq!(end, End::Break, "after {} steps", simulator.steps());
    (simulator.sent().to_vec(), simulator.cycles(), simulator.state().data.cells()[..0x900].to_vec())
}

/// Waits until a bit of a register beyond the reach of IN is as wanted.
fn wait(address: u16, bit: u16, set: bool) -> Vec<u16> {
    let skip = if set { skip_if_set(17, bit) } else { skip_if_clear(17, bit) };
    program(&[&lds(17, address), &[skip, rjmp(-4)]])
}

/// Writes a constant.
fn set(address: u16, value: u8) -> Vec<u16> {
    program(&[&[ldi(16, value)], &sts(address, 16)])
}

const UCSR0A: u16 = 0xc0;
const UCSR0B: u16 = 0xc1;
const UDR0: u16 = 0xc6;

#[test]
fn the_usart_sends_byte_after_byte() {
    let send = |byte| program(&[&wait(UCSR0A, 5, true), &set(UDR0, byte)]);
    let code = program(&[&set(UCSR0B, 0x08), &send(b'a'), &send(b'v'), &send(b'r'), &wait(UCSR0A, 6, true), &[BREAK]]);
    let (sent, cycles, _) = run(&code, Stimulus::default());
    assert_eq!(sent, b"avr");
    // Three frames of 10 bits at 16 cycles each.
    assert!((480..520).contains(&cycles), "{cycles}");
}

#[test]
fn the_usart_receives_what_the_stimulus_sends() {
    let receive = |register| program(&[&wait(UCSR0A, 7, true), &lds(register, UDR0)]);
    let code = program(&[&set(UCSR0B, 0x10), &receive(20), &receive(21), &receive(22), &[BREAK]]);
    let (_, cycles, data) = run(&code, stimulus("(events: [(cycle: 1000, uart: \"xy\"), (cycle: 2000, uart: [7])])"));
    assert_eq!(data[20..23], *b"xy\x07");
    assert!((2000..2020).contains(&cycles), "{cycles}");
}

#[test]
fn a_byte_that_finds_the_receive_buffer_full_is_lost() {
    let pause = program(&[&[ldi(18, 200)], &[0x952a, 0xf7f1]]);
    let receive = |register| program(&[&wait(UCSR0A, 7, true), &lds(register, UDR0)]);
    let pauses = [pause.as_slice(), &pause].concat();
    let code = program(&[&set(UCSR0B, 0x10), &pauses, &lds(23, UCSR0A), &receive(20), &receive(21), &[BREAK]]);
    let (_, _, data) = run(&code, stimulus("(events: [(cycle: 10, uart: \"abcd\")])"));
    assert_eq!(data[20..22], *b"ab");
    assert_eq!(data[23] & 0x88, 0x88, "received, and overrun");
}

#[test]
fn conversions_give_the_level_of_the_channel() {
    let code = |selection: u8| {
        let convert = program(&[&set(0x7c, selection), &set(0x7a, 0xc7), &wait(0x7a, 6, false)]);
        program(&[&convert, &lds(20, 0x78), &lds(21, 0x79), &[BREAK]])
    };
    let levels = "(events: [(cycle: 0, adc: {0: 0x155, 3: 0x3ff})])";
    let converted = |selection| {
        let (_, cycles, data) = run(&code(selection), stimulus(levels));
        assert!((25 * 128..25 * 128 + 30).contains(&cycles), "{cycles}");
        u16::from_le_bytes([data[20], data[21]])
    };
    assert_eq!(converted(0x40), 0x155);
    assert_eq!(converted(0x43), 0x3ff);
    assert_eq!(converted(0x44), 0);
    assert_eq!(converted(0x60), 0x155 << 6);
}

#[test]
fn programming_the_eeprom_takes_its_time() {
    let start = [ldi(16, 0x5a), out(0x40, 16), ldi(16, 7), out(0x41, 16), ldi(16, 4), ldi(17, 2)];
    let program_it = [out(0x3f, 16), 0x9af9, NOP];
    let wait = [input(18, 0x3f), skip_if_clear(18, 1), rjmp(-3)];
    let read = [ldi(16, 0), out(0x40, 16), 0x9af8, input(20, 0x40), BREAK];
    let code = program(&[&start, &program_it, &wait, &read]);
    let (_, cycles, data) = run(&code, Stimulus::default());
    assert_eq!(data[20], 0x5a);
    assert!((3_300..3_330).contains(&cycles), "{cycles}");
    let (_, cycles, _) = run(&code, stimulus("(clock_hertz: 16_000_000)"));
    assert!((52_800..52_830).contains(&cycles), "{cycles}");
}

#[test]
fn the_eeprom_is_programmed_again_although_nobody_saw_the_end() {
    let write = |value: u8| [ldi(16, value), out(0x40, 16), 0x9afa, 0x9af9];
    // DEC R18, BRNE back to it, DEC R19, BRNE back to the first: 197,000 cycles.
    let delay = [0x952a, 0xf7f1, 0x953a, 0xf7e1];
    let read = [ldi(16, 0), out(0x40, 16), 0x9af8, input(20, 0x40), BREAK];
    let code = program(&[&write(0x11), &delay, &write(0x22), &delay, &read]);
    let (_, _, data) = run(&code, Stimulus::default());
    assert_eq!(data[20], 0x22);
}

#[test]
fn a_transfer_of_the_spi_sets_its_flag() {
    let wait = [input(18, 0x4d), skip_if_set(18, 7), rjmp(-3), input(19, 0x4e), input(20, 0x4d), BREAK];
    let code = program(&[&[ldi(16, 0x50), out(0x4c, 16), out(0x4e, 16)], &wait]);
    let (_, cycles, data) = run(&code, Stimulus::default());
    assert_eq!((data[19], data[20]), (0, 0), "reading status and data cleared the flag");
    assert!((32..50).contains(&cycles), "{cycles}");
}

#[test]
fn nobody_answers_on_the_two_wire_bus() {
    let (control, status, byte) = (0xbc, 0xb9, 0xbb);
    let done = wait(control, 7, true);
    let begin = program(&[&set(control, 0xa4), &done, &lds(20, status)]);
    let address = program(&[&set(byte, 0x50), &set(control, 0x84), &done, &lds(21, status)]);
    let stop = program(&[&set(control, 0x94), &wait(control, 4, false), &lds(22, status), &[BREAK]]);
    let (_, _, data) = run(&program(&[&begin, &address, &stop]), Stimulus::default());
    assert_eq!(data[20..23], [0x08, 0x20, 0xf8]);
}

#[test]
fn pins_read_what_drives_them() {
    let code = [ldi(16, 0xf0), out(0x24, 16), ldi(16, 0xa5), out(0x25, 16), NOP, input(20, 0x23), BREAK];
    let (_, _, data) = run(&code, Stimulus::default());
    assert_eq!(data[20], 0xa0);
    let (_, _, data) = run(&code, stimulus("(events: [(cycle: 0, pins: {\"PB0\": 1, \"PB6\": 1})])"));
    assert_eq!(data[20], 0xa1);
    let (_, _, data) = run(&code, stimulus("(events: [(step: 2, inputs: [(\"PINB\", 0xff, 0x3c)])])"));
    assert_eq!(data[20], 0x3c);
    let released = "(events: [(step: 2, inputs: [(\"PINB\", 0xff, 0x3c)]), (step: 4, release: [\"PINB\"])])";
    let (_, _, data) = run(&code, stimulus(released));
    assert_eq!(data[20], 0xa0);
}

/// Counts in r20 how often an interrupt is taken within a thousand steps.
#[track_caller]
fn interrupts(vector: usize, enable: &[u16], events: &str, expected: u8) {
    let code = with_handlers(&[(vector, inc(20))], &program(&[enable, &[SEI, rjmp(-1)]]));
    let machine = machine(&code);
    let mut simulator = Simulator::new(&machine, stimulus(&format!("(events: [{events}])")));
    assert_eq!(simulator.run(Limits { steps: 1_000, ..Limits::default() }), End::Steps);
    assert_eq!(*simulator.state().data.get(DataAddress(20)), expected, "{events}");
}

#[test]
fn edges_at_pins_request_interrupts() {
    let edges = "(cycle: 100, pins: {\"PD2\": 1}), (cycle: 200, pins: {\"PD2\": 0}), (cycle: 300, pins: {\"PD2\": 1})";
    let external = |sense: u8| program(&[&set(0x69, sense), &[ldi(16, 1), out(0x3d, 16)]]);
    interrupts(1, &external(1), edges, 3);
    interrupts(1, &external(2), edges, 1);
    interrupts(1, &external(3), edges, 2);
    interrupts(1, &external(3), "", 0);
    let change = |mask: u8| program(&[&set(0x6d, mask), &set(0x68, 4)]);
    interrupts(5, &change(4), edges, 3);
    interrupts(5, &change(8), edges, 0);
    // A low level requests again and again, one instruction of the main program in between.
    let code = with_handlers(&[(1, inc(20))], &program(&[&external(0), &[SEI, rjmp(-1)]]));
    let machine = machine(&code);
    let levels = stimulus("(events: [(cycle: 100, pins: {\"PD2\": 0}), (cycle: 200, pins: {\"PD2\": 1})])");
    let mut simulator = Simulator::new(&machine, levels);
    simulator.run(Limits { steps: 1_000, ..Limits::default() });
    assert!(
        (5..12).contains(simulator.state().data.get(DataAddress(20))),
        "{}",
        simulator.state().data.get(DataAddress(20))
    );
}

#[test]
fn a_stimulus_can_request_any_interrupt() {
    interrupts(23, &[ldi(16, 8), out(0x50, 16)], "(step: 50, interrupts: [\"ANALOG_COMP\"])", 1);
    interrupts(1, &program(&[&set(0x69, 3), &[ldi(16, 1), out(0x3d, 16)]]), "(step: 50, interrupts: [\"INT0\"])", 1);
    interrupts(1, &[], "(step: 50, interrupts: [\"INT0\"])", 0);
}

#[test]
fn timer_interrupts_come_with_the_cycles() {
    // About 2000 cycles: the timer overflows every 256 cycles.
    interrupts(16, &program(&[&[ldi(16, 1), out(0x45, 16)], &set(0x6e, 1)]), "", 7);
}

#[test]
fn the_watchdog_bites_unless_it_is_served() {
    // WDE with the shortest time, 2048 cycles of 128 kHz: 16000 cycles at 1 MHz.
    let arm = program(&[&[ldi(16, 0x18), ldi(17, 0x08)], &sts(0x60, 16), &sts(0x60, 17)]);
    let look = [input(20, 0x54), 0xfd43];
    let starved = program(&[&look, &[BREAK], &arm, &[rjmp(-1)]]);
    let (_, cycles, data) = run(&starved, Stimulus::default());
    assert_eq!(data[20] & 0x08, 0x08);
    assert!((16_000..16_030).contains(&cycles), "{cycles}");
    let served = machine(&program(&[&look, &[BREAK], &arm, &[WDR, rjmp(-2)]]));
    let mut simulator = Simulator::new(&served, Stimulus::default());
    assert_eq!(simulator.run(Limits::default()), End::Steps);
}

#[test]
fn an_external_reset_begins_anew() {
    let code = [input(20, 0x54), 0xfd41, BREAK, ldi(16, 0), out(0x54, 16), rjmp(-1)];
    let (_, cycles, data) = run(&code, stimulus("(events: [(cycle: 5000, reset: \"external_reset\")])"));
    assert_eq!(data[20], 0x02);
    assert!((5000..5010).contains(&cycles), "{cycles}");
}
