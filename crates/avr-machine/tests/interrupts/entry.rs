//! The moment from which I allows interrupts: after SEI, after writing SREG, after RETI.

use super::bench::{Bench, CLI, NOP, RETI, SEI, START, World, out, sts};
use avr_isa::{DataAddress, FlashWordAddress, Instruction};
use avr_machine::device::Device;
use avr_machine::{Frame, FrameKind, Hazard, HazardKind, Machine, Options, Program, Stop};

/// A bench on which the overflow of timer 0 is enabled and stands.
fn requested(program: &[Instruction]) -> Bench {
    let mut bench = Bench::new(program);
    bench.set(&["TIMSK0.TOIE0", "TIFR0.TOV0"]);
    bench
}

/// Expects what is possible before each instruction of the program in turn.
#[track_caller]
fn check(program: &[Instruction], set: &[&str], r16: u8, expected: &[&str]) {
    let mut bench = requested(program);
    bench.set(set);
    bench.state.data.set(DataAddress(16), r16);
    for (index, offers) in expected.iter().enumerate() {
        assert_eq!(bench.offers(), *offers, "before instruction {index} of {program:?}");
        if *offers == "go" {
            bench.run(1);
        }
    }
}

#[test]
fn exactly_one_instruction_runs_after_i_rises() {
    check(&[SEI, NOP, NOP], &[], 0, &["go", "go", "TIMER0_OVF"]);
    check(&[out("SREG", 16), NOP, NOP], &[], 0x80, &["go", "go", "TIMER0_OVF"]);
    check(&[sts("SREG", 16), NOP, NOP], &[], 0xff, &["go", "go", "TIMER0_OVF"]);
}

#[test]
fn clearing_i_wins_over_a_request() {
    check(&[SEI, CLI, NOP, NOP], &[], 0, &["go", "go", "go", "go"]);
    check(&[SEI, out("SREG", 16), NOP], &[], 0, &["go", "go", "go"]);
    check(&[CLI, NOP], &["SREG.I"], 0, &["TIMER0_OVF"]);
    check(&[out("SREG", 16), NOP], &[], 0x7f, &["go", "go", "go"]);
    check(&[SEI, CLI, SEI, NOP, NOP], &[], 0, &["go", "go", "go", "go", "TIMER0_OVF"]);
}

#[test]
fn the_frame_of_avr_gcc_is_not_torn_apart() {
    // in r0,SREG; cli; out SPH,r29; out SREG,r0; out SPL,r28, here with SREG in r16.
    let program = [CLI, out("SPH", 17), out("SREG", 16), out("SPL", 18), NOP];
    let mut bench = Bench::new(&program);
    bench.set(&["TIMSK0.TOIE0", "SREG.I"]);
    for (register, value) in [(16, 0x80), (17, 0x08), (18, 0x80)] {
        bench.state.data.set(DataAddress(register), value);
    }
    bench.run(1);
    bench.set(&["TIFR0.TOV0"]);
    for _ in 0..3 {
        assert_eq!(bench.offers(), "go");
        bench.run(1);
    }
    assert_eq!(bench.offers(), "TIMER0_OVF");
    assert_eq!(bench.stack_pointer(), 0x0880);
}

/// Word address of the vector of the overflow of timer 0.
const VECTOR: u32 = 0x20;

/// A bench in the handler of the overflow, which begins with the given code; NOPs were interrupted.
fn in_handler(handler: &[Instruction]) -> Bench {
    let mut bench = Bench::at(VECTOR, handler, Options { start: FlashWordAddress(START), ..Options::default() });
    bench.set(&["SREG.I", "TIMSK0.TOIE0", "TIFR0.TOV0"]);
    bench.interrupt("TIMER0_OVF");
    bench.set(&["TIFR0.TOV0"]);
    bench
}

#[test]
fn one_instruction_runs_after_reti() {
    let mut bench = in_handler(&[RETI]);
    assert_eq!(bench.try_step(), Ok(4));
    assert_eq!((bench.pc(), bench.get("SREG.I")), (START, 1));
    assert_eq!(bench.offers(), "go");
    bench.run(1);
    assert_eq!(bench.offers(), "TIMER0_OVF");
}

#[test]
fn one_instruction_runs_after_reti_also_where_the_handler_set_i() {
    let mut bench = in_handler(&[SEI, RETI]);
    bench.run(2);
    assert_eq!((bench.pc(), bench.get("SREG.I"), bench.offers().as_str()), (START, 1, "go"));
    bench.run(1);
    assert_eq!(bench.offers(), "TIMER0_OVF");
}

#[test]
fn an_entry_is_a_frame_of_the_call_string() {
    let mut bench = in_handler(&[RETI]);
    let frames = [Frame {
        position: DataAddress(0x8ff),
        return_address: FlashWordAddress(START),
        kind: FrameKind::Interrupt(16),
        stack: 0,
        left: 0,
    }];
    assert_eq!(bench.state.calls.frames(), frames);
    bench.run(1);
    assert_eq!((bench.stack_pointer(), bench.state.calls.frames()), (0x8ff, &[][..]));
}

#[test]
fn handlers_nest_only_where_they_set_i() {
    let mut bench = in_handler(&[NOP, SEI, NOP]);
    for _ in 0..3 {
        assert_eq!(bench.offers(), "go");
        bench.run(1);
    }
    bench.interrupt("TIMER0_OVF");
    assert_eq!((bench.state.calls.frames().len(), bench.stack_pointer()), (2, 0x8fb));
}

#[test]
fn an_interrupt_that_leads_to_the_default_handler_is_a_hazard() {
    #[track_caller]
    fn check(vector: Instruction, default_handler: Option<u32>, expected: Option<HazardKind>) {
        let handler = default_handler.map(FlashWordAddress);
        let mut bench = Bench::at(
            VECTOR,
            &[vector],
            Options { default_handler: handler, start: FlashWordAddress(START), ..Options::default() },
        );
        bench.set(&["SREG.I", "TIMSK0.TOIE0", "TIFR0.TOV0"]);
        let found = match bench.try_step() {
            Err(Stop::Hazard(Hazard { kind, address: Some(0x40) })) => Some(kind),
            other => other.map(|_| None).unwrap_or_else(|stop| panic!("{stop:?}")),
        };
        assert_eq!(found, expected, "{vector:?} {default_handler:?}");
    }
    check(Instruction::Jmp { target: 0x80 }, Some(0x80), Some(HazardKind::BadInterrupt));
    check(Instruction::Rjmp { offset: 0x5f }, Some(0x80), Some(HazardKind::BadInterrupt));
    check(Instruction::Jmp { target: 0x82 }, Some(0x80), None);
    check(Instruction::Jmp { target: 0x80 }, None, None);
    check(NOP, Some(0x80), None);
}

/// INT0 is enabled and stands: the data addresses and contents of its registers.
const INT0_OF_MEGA: [(u16, u8); 2] = [(0x3d, 0x01), (0x3c, 0x01)];
const INT0_OF_TINY: [(u16, u8); 2] = [(0x5b, 0x40), (0x5a, 0x40)];

#[test]
fn vectors_have_one_word_where_there_is_no_jmp() {
    let all = [("atmega168p", INT0_OF_MEGA, 2), ("atmega88p", INT0_OF_MEGA, 1), ("attiny85", INT0_OF_TINY, 1)];
    for (name, cells, vector) in all {
        let device = Device::named(name).expect("a device of the tables");
        let program = Program::decode(device.memory.flash_words(), device.core.features, |_| Some(0));
        let machine = Machine::new(device, program, Options { start: FlashWordAddress(START), ..Options::default() });
        let mut world = World::default();
        let mut state = machine.power_on(&mut world);
        for (cell, content) in cells.into_iter().chain([(0x5f, 0x80)]) {
            state.data.set(DataAddress(cell), content);
        }
        // It is interrupt 1 of all of them.
        world.wish_interrupt("INT0");
        machine.step(&mut state, &mut world).expect("the handler is entered");
        assert_eq!(state.control.pc, FlashWordAddress(vector), "{name}");
    }
}
