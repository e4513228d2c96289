//! The stacks of tasks: which one is in use, what lies on it, and what leaves it.

use avr_isa::{DataAddress, FlashWordAddress, Instruction, Register};
use avr_machine::{HazardKind, Limit, Options, StackArea, Stop};

use avr_testkit::image::r;

use crate::bench::{Bench, START};

/// Two stacks of eight bytes, one directly above the other.
const LOWER: StackArea = StackArea { lowest: DataAddress(0x200), highest: DataAddress(0x207) };
const UPPER: StackArea = StackArea { lowest: DataAddress(0x208), highest: DataAddress(0x20f) };

const RET: Instruction = Instruction::Ret;
const PUSH: Instruction = Instruction::Push { rr: Register::R0 };
const POP: Instruction = Instruction::Pop { rd: Register::R0 };
const NOP: Instruction = Instruction::Nop;
/// The I/O addresses of the halves of SP.
const SPL: u8 = 0x3d;
const SPH: u8 = 0x3e;

fn ldi(rd: Register, k: u8) -> Instruction {
    Instruction::Ldi { rd, k }
}

fn out(io: u8, rr: Register) -> Instruction {
    Instruction::Out { io, rr }
}

/// Sets SP, the high half first.
fn set_pointer(pointer: u16) -> [Instruction; 4] {
    let [low, high] = pointer.to_le_bytes();
    [ldi(r(16), low), ldi(r(17), high), out(SPH, r(17)), out(SPL, r(16))]
}

/// A bench with both stacks, where all below the upper one is static data.
fn bench(program: &[Instruction]) -> Bench {
    let static_data_end = Some(DataAddress(0x300));
    Bench::with(program, Options { stacks: vec![LOWER, UPPER], static_data_end, ..Options::default() })
}

/// The hazard that comes after a number of steps.
#[track_caller]
fn check_hazard(program: &[Instruction], steps: usize, kind: HazardKind, address: u32) {
    let mut bench = bench(program);
    bench.run(steps);
    match bench.try_step() {
        Err(Stop::Hazard(hazard)) => assert_eq!((hazard.kind, hazard.address), (kind, Some(address))),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_task_has_the_bytes_of_its_stack_and_no_more() {
    let pushes = [&set_pointer(0x20f)[..], &[PUSH; 9]].concat();
    let mut bench = bench(&pushes);
    bench.run(12);
    assert_eq!((bench.state.control.stack, bench.stack_pointer()), (2, 0x207));
    check_hazard(&pushes, 12, HazardKind::StackIntoData, 0x207);
    check_hazard(&[&set_pointer(0x20f)[..], &[POP]].concat(), 4, HazardKind::StackIntoData, 0x210);
    // Elsewhere in static data there is no stack.
    let elsewhere = set_pointer(0x220);
    check_hazard(&elsewhere, 3, HazardKind::StackIntoData, 0x221);
}

#[test]
fn a_call_on_one_stack_is_returned_from_on_this_one() {
    // The main program calls the switch, which goes to the lower stack, on which the address of a task was stored.
    let task = START + 10;
    let switch = [&[Instruction::Rcall { offset: 0 }][..], &set_pointer(0x205), &[RET]].concat();
    let back = [&[NOP; 4][..], &set_pointer(0x8fd), &[RET]].concat();
    let mut bench = bench(&[switch, back].concat());
    bench.state.data.set(DataAddress(0x207), task as u8);
    bench.state.data.set(DataAddress(0x206), 0);
    bench.run(5);
    assert_eq!(bench.state.calls.frames(), &[], "the frame of the main program is parked");
    assert_eq!(bench.state.calls.all().len(), 1);
    bench.run(1);
    assert_eq!((bench.pc(), bench.stack_pointer(), bench.state.control.stack), (task, 0x207, 1));
    // The task goes on with the main program where that called the switch.
    bench.run(4);
    assert_eq!((bench.state.control.stack, bench.state.calls.frames().len()), (0, 1));
    bench.run(1);
    assert_eq!((bench.pc(), bench.state.calls.all().len()), (START + 1, 0));
}

#[test]
fn what_was_saved_must_be_there_still() {
    let program = [&[Instruction::Rcall { offset: 0 }][..], &set_pointer(0x8fd), &[RET]].concat();
    let mut bench = bench(&program);
    bench.run(5);
    bench.state.data.set(DataAddress(0x8ff), 0xff);
    let Err(Stop::Hazard(hazard)) = bench.try_step() else { panic!("the address was overwritten") };
    assert_eq!(hazard.kind, HazardKind::ReturnToNonCall);
}

/// The main program goes to the lower stack, calls there at `START + 4`, and comes back with the stack pointer of that call; then the rest is executed.
fn waiting_task(rest: &[Instruction]) -> Bench {
    let call = [Instruction::Rcall { offset: 0 }];
    bench(&[&set_pointer(0x207)[..], &call, &set_pointer(0x8ff), rest].concat())
}

#[test]
fn what_a_waiting_task_has_on_its_stack_may_be_overwritten() {
    let store = Instruction::Sts { rr: r(16), address: DataAddress(0x207) };
    let mut bench = waiting_task(&[&[store][..], &set_pointer(0x205), &[RET]].concat());
    bench.run(9);
    assert_eq!((bench.state.control.stack, bench.state.calls.all().len()), (0, 1));
    bench.run(1);
    assert_eq!(bench.cell(DataAddress(0x207)), 0xff);
    bench.run(4);
    assert_eq!((bench.state.control.stack, bench.state.calls.frames().len()), (1, 1));
    let Err(Stop::Hazard(hazard)) = bench.try_step() else { panic!("the address was overwritten") };
    assert_eq!(hazard.kind, HazardKind::ReturnToNonCall);
}

#[test]
fn a_task_pops_what_lies_on_its_stack() {
    let mut bench = bench(&[&set_pointer(0x205)[..], &[POP]].concat());
    bench.state.data.set(DataAddress(0x206), 0x5a);
    bench.run(5);
    assert_eq!((bench.cell(DataAddress(0)), bench.stack_pointer()), (0x5a, 0x206));
}

#[test]
fn nothing_is_returned_to_behind_the_end_of_a_stack() {
    let program = [&set_pointer(0x207)[..], &[RET]].concat();
    let mut bench = bench(&program);
    bench.run(4);
    let Err(Stop::Hazard(hazard)) = bench.try_step() else { panic!("nothing is on the stack") };
    assert_eq!(hazard.kind, HazardKind::CallStackUnderflow);
}

#[test]
fn a_full_stack_above_an_empty_one_is_not_told_from_it() {
    let full = [&set_pointer(0x20f)[..], &set_pointer(0x207)].concat();
    let mut bench = bench(&full);
    bench.run(7);
    assert!(matches!(bench.try_step(), Err(Stop::Limit(Limit::Unsupported(_)))));
    // From anywhere else it is the empty one.
    let mut empty = self::bench(&set_pointer(0x207));
    empty.run(4);
    assert_eq!(empty.state.control.stack, 1);
}

#[test]
fn the_low_half_may_be_written_first() {
    let low_first = [ldi(r(16), 0x0f), ldi(r(17), 2), out(SPL, r(16)), NOP, out(SPH, r(17)), PUSH];
    let mut bench = bench(&low_first);
    bench.run(4);
    assert!(bench.state.control.torn);
    bench.run(2);
    assert_eq!((bench.state.control.stack, bench.stack_pointer()), (2, 0x20e));
    // An instruction that uses SP in between takes it as it stands.
    let [a, b, c, ..] = low_first;
    let mut used = self::bench(&[a, b, c, PUSH]);
    used.run(4);
    assert_eq!((used.state.control.stack, used.stack_pointer()), (0, 0x80e));
}

#[test]
fn a_reset_goes_back_to_the_main_stack() {
    let mut bench = Bench::with(
        &set_pointer(0x20f),
        Options {
            stacks: vec![UPPER],
            resets: vec![avr_machine::device::ResetCause::External],
            start: FlashWordAddress(START),
            ..Options::default()
        },
    );
    bench.run(4);
    assert_eq!(bench.state.control.stack, 1);
    bench.reset(avr_machine::device::ResetCause::External);
    assert_eq!((bench.state.control.stack, bench.state.calls.all().len()), (0, 0));
}
