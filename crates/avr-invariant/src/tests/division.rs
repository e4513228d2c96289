//! The division routines of libgcc: what they leave behind is quotient and remainder, and they are told by all of their instructions.

use avr_isa::{FlashWordAddress, Instruction as I, Register};
use avr_machine::Program;
use avr_machine::device::Device;
use avr_testkit::image::{Code, r};
use avr_testkit::{Random, cases};

use super::runs::{Chaos, run_from};
use crate::division::{Division, Divisions, divisions};
use avr_machine::{Machine, MachineState, Options};

const ROUTINE: u32 = 0x100;

/// A machine with a routine of these instructions.
fn machine(routine: &[I]) -> Machine {
    let mut code = Code::with_vectors(0x80, &[]);
    code.place(0x80);
    code.jump(0x80);
    code.place(ROUTINE);
    routine.iter().for_each(|one| code.add(*one));
    let device = Device::named("atmega328p").expect("the device exists");
    let word = |address: u32| code.words.get(address as usize).copied();
    let program = Program::decode(device.memory.flash_words(), device.core.features, word);
    Machine::new(device, program, Options::default())
}

fn put(registers: &mut [u8], first: Register, bytes: usize, number: u32) {
    let first = usize::from(first.index());
    registers[first..first + bytes].copy_from_slice(&number.to_le_bytes()[..bytes]);
}

fn get(registers: &[u8], first: Register, bytes: usize) -> u32 {
    let first = usize::from(first.index());
    registers[first..first + bytes].iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Numbers of some bytes among which there are many near powers of 2.
fn number(bytes: usize, random: &mut Random) -> u32 {
    let most = u32::MAX >> (32 - 8 * bytes as u32);
    let power = 1_u32.checked_shl(random.below(33) as u32).unwrap_or(0);
    let near = power.wrapping_add(random.below(3) as u32).wrapping_sub(1);
    let any = random.bits() as u32 >> random.below(32);
    random.pick(&[near, any]) & most
}

/// Divides by the results that are told at the first instruction.
fn told(
    kind: &Division,
    divisions: &Divisions,
    program: &Program,
    [dividend, divisor]: [u32; 2],
    noise: u8,
) -> [u32; 2] {
    let mut registers = [noise; 32];
    put(&mut registers, kind.dividend, kind.bytes, dividend);
    put(&mut registers, kind.divisor, kind.bytes, divisor);
    let results = divisions.results(program, FlashWordAddress(ROUTINE), &registers, noise).expect("it is a division");
    [kind.quotient, kind.remainder].map(|first| get(&results, first, kind.bytes))
}

#[test]
fn results_are_quotients_and_remainders() {
    let mut random = Random::new(7);
    for kind in divisions() {
        let machine = machine(&kind.code);
        let divisions = Divisions::new(&machine.program);
        let check = |dividend: u32, divisor: u32, noise: u8| {
            let found = told(&kind, &divisions, &machine.program, [dividend, divisor], noise);
            assert_eq!(found, [dividend / divisor, dividend % divisor], "{dividend:#x} / {divisor:#x}");
        };
        if kind.bytes == 1 {
            (0..=255).for_each(|dividend| (1..=255).for_each(|divisor| check(dividend, divisor, dividend as u8)));
        }
        for _ in 0..cases(3_000, 2_000_000) {
            let (dividend, divisor) = (number(kind.bytes, &mut random), number(kind.bytes, &mut random));
            check(dividend, divisor.max(1), random.byte());
        }
    }
}

#[test]
fn the_executor_leaves_what_results_say_from_each_instruction_on() {
    let mut random = Random::new(11);
    for kind in divisions() {
        let machine = machine(&kind.code);
        let divisions = Divisions::new(&machine.program);
        for _ in 0..cases(8, 2_000) {
            let world = &mut Chaos::new(1, u64::MAX);
            let mut state: MachineState<u8> = machine.power_on(world);
            (0..32).map(avr_isa::DataAddress).for_each(|cell| state.data.set(cell, random.byte()));
            state.control.pc = FlashWordAddress(ROUTINE);
            let mut all = Vec::new();
            let look = |state: &MachineState<u8>, contents: crate::lookup::Contents<'_>| {
                let is_over = matches!(
                    machine.program.fetch(state.control.pc),
                    avr_machine::Fetched::Instruction { instruction: I::Ret, .. }
                );
                all.push(contents.results);
                let registers: [u8; 32] = *contents.now.first_chunk().expect("there are registers");
                if is_over { Err(format!("{registers:?}")) } else { Ok(()) }
            };
            let left = run_from(&machine, (state, world), 2_000, look).expect_err("it comes to its end");
            assert!(all.len() > 40 && all.iter().all(|one| one.is_some_and(|one| format!("{one:?}") == left)));
        }
        let outside = divisions.results(&machine.program, FlashWordAddress(0x80), &[0; 32], 0);
        assert_eq!(outside, None);
    }
}

#[test]
fn routines_with_another_instruction_are_no_divisions() {
    for kind in divisions() {
        assert!(Divisions::new(&machine(&kind.code).program).first(FlashWordAddress(ROUTINE)).is_some());
        for changed in 0..kind.code.len() {
            let mut code = kind.code.clone();
            code[changed] = match code[changed] {
                I::Rjmp { offset } => I::Rjmp { offset: offset - 1 },
                I::Brbc { flag, offset } => I::Brbc { flag, offset: offset + 1 },
                I::Ret => I::Reti,
                _ => I::Mov { rd: r(2), rr: r(3) },
            };
            let found = Divisions::new(&machine(&code).program);
            assert!(found.first(FlashWordAddress(ROUTINE)).is_none(), "instruction {changed} is changed");
        }
    }
}
