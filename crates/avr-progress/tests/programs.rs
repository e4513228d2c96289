//! Recoveries of small programs that are true, and some that are not.

use avr_invariant::{Options as MapOptions, analyse};
use avr_isa::{DataAddress, Instruction as I};
use avr_machine::device::Device;
use avr_machine::{Machine, Options, Program};
use avr_progress::{Limits, Obstacle, Possibility, Proof, Stuck, Target, recovers};
use avr_symbolic::{SymbolicBit, SymbolicState};
use avr_testkit::Random;
use avr_testkit::image::{Code, r};
use three_valued::{BitDomain, ByteDomain};

const PORTB: u8 = 5;
const DDRB: u8 = 4;
const PINB: u8 = 3;
/// Where a handler counts, as a data address.
const TICKS: DataAddress = DataAddress(0x100);
const TIMSK0: DataAddress = DataAddress(0x6e);
const TCCR0B: u8 = 0x25;
const EIMSK: u8 = 0x1d;
const INT0_VECTOR: u32 = 2;
const OVERFLOW_VECTOR: u32 = 0x20;
const MAIN: u32 = 0x40;

/// A bit of a cell with a value.
struct Bit(DataAddress, u8, bool);

impl Target for Bit {
    fn bit<'g>(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        let bit = state.data.get(self.0).bit(self.1);
        if self.2 { bit } else { bit.not() }
    }
}

fn machine(code: &Code) -> Machine {
    let device = Device::named("atmega328p").expect("the device exists");
    let word = |address: u32| code.words.get(address as usize).copied();
    let program = Program::decode(device.memory.flash_words(), device.core.features, word);
    Machine::new(device, program, Options::default())
}

fn recovery(code: &Code, target: &Bit) -> Result<Proof, Stuck> {
    let machine = machine(code);
    let analysis = analyse(&machine, &MapOptions::default());
    let claims = analysis.outcome.expect("the map is closed");
    assert!(claims.has_no_hazard(), "{:?}", claims.marks);
    let possibility = Possibility::everywhere(target);
    recovers(&machine, (&analysis.map, &analysis.moves), &possibility, (&Limits::default(), &|| false))
}

/// A program that begins with the stack pointer at the end of the SRAM, bit 5 of port B an output, and the main part.
fn program(handler: Option<&dyn Fn(&mut Code)>, main: impl FnOnce(&mut Code)) -> Code {
    let mut code = Code::default();
    code.jump(MAIN);
    if let Some(handler) = handler {
        code.place(OVERFLOW_VECTOR);
        handler(&mut code);
    }
    code.place(MAIN);
    code.add(I::Ldi { rd: r(16), k: 8 });
    code.add(I::Out { io: 0x3e, rr: r(16) });
    code.add(I::Ldi { rd: r(16), k: 0xff });
    code.add(I::Out { io: 0x3d, rr: r(16) });
    code.add(I::Sbi { io: DDRB, bit: 5 });
    main(&mut code);
    code
}

/// A loop of three instructions that counts a word down to 0.
fn delay(code: &mut Code, rounds: u16) {
    let [low, high] = rounds.to_le_bytes();
    code.add(I::Ldi { rd: r(24), k: low });
    code.add(I::Ldi { rd: r(25), k: high });
    code.add(I::Sbiw { rd: r(24), k: 1 });
    code.add(I::Brbc { flag: 1, offset: -2 });
}

fn led(value: bool) -> Bit {
    Bit(DataAddress(0x25), 5, value)
}

#[track_caller]
fn proved(code: &Code, target: &Bit) -> Proof {
    recovery(code, target).unwrap_or_else(|stuck| panic!("{stuck}"))
}

/// A program that switches the output on and off for ever, with something in between.
fn blinking(handler: Option<&dyn Fn(&mut Code)>, setup: &dyn Fn(&mut Code), wait: &dyn Fn(&mut Code)) -> Code {
    program(handler, |code| {
        setup(code);
        let start = code.words.len() as u32;
        code.add(I::Sbi { io: PORTB, bit: 5 });
        wait(code);
        code.add(I::Cbi { io: PORTB, bit: 5 });
        wait(code);
        code.jump(start);
    })
}

/// Counts in `TICKS`.
fn tick(code: &mut Code) {
    code.add(I::Push { rr: r(16) });
    code.add(I::In { rd: r(16), io: 0x3f });
    code.add(I::Push { rr: r(16) });
    code.add(I::Lds { rd: r(16), address: TICKS });
    code.add(I::Inc { rd: r(16) });
    code.add(I::Sts { address: TICKS, rr: r(16) });
    code.add(I::Pop { rd: r(16) });
    code.add(I::Out { io: 0x3f, rr: r(16) });
    code.add(I::Pop { rd: r(16) });
    code.add(I::Reti);
}

/// Lets timer 0 count, and its overflow interrupt come if it is `enabled`.
fn start_timer(code: &mut Code, enabled: bool) {
    code.add(I::Ldi { rd: r(16), k: 3 });
    code.add(I::Out { io: TCCR0B, rr: r(16) });
    code.add(I::Ldi { rd: r(16), k: u8::from(enabled) });
    code.add(I::Sts { address: TIMSK0, rr: r(16) });
    code.add(I::Bset { flag: 7 });
}

/// Clears `TICKS` and waits until it is some number.
fn wait_for_ticks(code: &mut Code, count: u8) {
    code.add(I::Eor { rd: r(18), rr: r(18) });
    code.add(I::Sts { address: TICKS, rr: r(18) });
    code.add(I::Lds { rd: r(18), address: TICKS });
    code.add(I::Cpi { rd: r(18), k: count });
    code.add(I::Brbs { flag: 0, offset: -4 });
}

#[test]
fn a_delay_can_be_left() {
    let mut random = Random::new(1);
    for _ in 0..5 {
        let rounds = random.bits() as u16;
        let code = blinking(None, &|_| {}, &|code| delay(code, rounds));
        for value in [false, true] {
            let proof = proved(&code, &led(value));
            assert!(!proof.freedom.events && !proof.freedom.hardware && !proof.freedom.inputs, "{rounds}");
        }
        // Nothing switches the other pins.
        assert!(matches!(recovery(&code, &Bit(DataAddress(0x25), 4, true)), Err(Stuck::Loop(_))));
    }
}

#[test]
fn a_delay_in_a_delay_can_be_left() {
    let wait = |code: &mut Code| {
        code.add(I::Ldi { rd: r(20), k: 200 });
        delay(code, 0x1234);
        code.add(I::Dec { rd: r(20) });
        code.add(I::Brbc { flag: 1, offset: -6 });
    };
    let code = blinking(None, &|_| {}, &wait);
    for value in [false, true] {
        proved(&code, &led(value));
    }
}

#[test]
fn what_ends_in_a_loop_for_ever_does_not_recover() {
    let code = program(None, |code| {
        code.add(I::Sbi { io: PORTB, bit: 5 });
        delay(code, 1_000);
        code.add(I::Cbi { io: PORTB, bit: 5 });
        code.add(I::Rjmp { offset: -1 });
    });
    assert!(matches!(recovery(&code, &led(true)), Err(Stuck::Loop(_))));
    proved(&code, &led(false));
}

#[test]
fn ticks_of_a_handler_are_waited_for() {
    let ticking =
        |enabled| blinking(Some(&tick), &move |code| start_timer(code, enabled), &|code| wait_for_ticks(code, 10));
    for value in [false, true] {
        let proof = proved(&ticking(true), &led(value));
        assert!(proof.freedom.hardware || proof.freedom.events);
    }
    // It is on before the first wait, and never off again.
    assert!(matches!(recovery(&ticking(false), &led(false)), Err(Stuck::Loop(_))));
}

#[test]
fn a_pin_is_waited_for() {
    let wait = |code: &mut Code| {
        code.add(I::Sbis { io: PINB, bit: 0 });
        code.add(I::Rjmp { offset: -2 });
    };
    let code = blinking(None, &|_| {}, &wait);
    let proof = proved(&code, &led(false));
    assert!(proof.freedom.inputs && !proof.freedom.hardware);
    // An output that is 0 does not become 1 by itself.
    let stuck = blinking(None, &|code| code.add(I::Sbi { io: DDRB, bit: 0 }), &wait);
    let proof = recovery(&stuck, &led(false));
    assert!(proof.is_err() || proof.is_ok_and(|proof| proof.freedom.hardware));
}

#[test]
fn a_handler_with_a_loop_proves_nothing() {
    let handler = |code: &mut Code| {
        code.add(I::Sbis { io: PINB, bit: 0 });
        code.add(I::Rjmp { offset: -2 });
        code.add(I::Reti);
    };
    let code = blinking(Some(&handler), &|code| start_timer(code, true), &|code| delay(code, 100));
    assert!(matches!(recovery(&code, &led(true)), Err(Stuck::Obstacle(Obstacle::HandlerLoops(_)))));
}

/// A wait with interrupts off for what only a handler does.
#[test]
fn a_wait_with_interrupts_off_is_not_left() {
    let wait = |code: &mut Code| {
        code.add(I::Bclr { flag: 7 });
        wait_for_ticks(code, 1);
        code.add(I::Bset { flag: 7 });
    };
    let code = blinking(Some(&tick), &|code| start_timer(code, true), &wait);
    assert!(matches!(recovery(&code, &led(false)), Err(Stuck::Loop(_))));
}

/// A light that waits for ticks of INT0, which comes in the handler of the timer as well.
fn nested(inner: &dyn Fn(&mut Code)) -> Code {
    let mut code = Code::default();
    code.jump(MAIN);
    code.place(INT0_VECTOR);
    inner(&mut code);
    let outer = |code: &mut Code| {
        code.add(I::Push { rr: r(16) });
        code.add(I::Ldi { rd: r(16), k: 0 });
        code.add(I::Sts { address: TIMSK0, rr: r(16) });
        code.add(I::Bset { flag: 7 });
        code.add(I::Nop);
        code.add(I::Bclr { flag: 7 });
        code.add(I::Ldi { rd: r(16), k: 1 });
        code.add(I::Sts { address: TIMSK0, rr: r(16) });
        code.add(I::Pop { rd: r(16) });
        code.add(I::Reti);
    };
    let setup = |code: &mut Code| {
        code.add(I::Sbi { io: EIMSK, bit: 0 });
        start_timer(code, true);
    };
    let light = blinking(Some(&outer), &setup, &|code| wait_for_ticks(code, 2));
    code.words.extend(&light.words[code.words.len()..]);
    code
}

#[test]
fn ticks_that_come_in_another_handler_are_waited_for() {
    let code = nested(&tick);
    for value in [false, true] {
        proved(&code, &led(value));
    }
}

#[test]
fn a_loop_in_a_handler_that_interrupts_another_one_proves_nothing() {
    let waits = |code: &mut Code| {
        code.add(I::Sbis { io: PINB, bit: 0 });
        code.add(I::Rjmp { offset: -2 });
        code.add(I::Reti);
    };
    let stuck = recovery(&nested(&waits), &led(true));
    assert!(matches!(stuck, Err(Stuck::Obstacle(Obstacle::HandlerLoops(_)))));
}
