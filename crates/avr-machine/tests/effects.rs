//! What the instruction table says an instruction reads and writes, against what it does: every opcode, from random states.

use avr_isa::Instruction;
use avr_machine::device::Device;
use avr_machine::{
    Demand, DeterminedBy, Environment, Fetched, Input, Machine, MachineState, Options, Program, Question, Stop,
};
use avr_testkit::Random;

/// Data address of SREG.
const SREG: u16 = 0x5f;
/// Random states for each opcode.
const STATES: u64 = 4;

/// A world in which nothing comes in.
struct Silence;

impl Environment<u8> for Silence {
    fn input(&mut self, _: Input, _: u8, _: Demand, _: DeterminedBy) -> u8 {
        0
    }

    fn choose(&mut self, _: usize) -> usize {
        0
    }

    fn case(&mut self, _: usize, _: Question<'_, u8>) -> usize {
        panic!("nothing is open in a concrete state")
    }
}

fn machine(first: u16, second: u16) -> Machine {
    let device = Device::named("atmega328p").expect("a device of the tables");
    let word = |address: u32| Some([first, second, 0, 0][address as usize % 4]);
    Machine::new(device, Program::decode(8, device.core.features, word), Options::default())
}

/// A state with random registers and flags, interrupts off, and a stack.
fn state(machine: &Machine, random: &mut Random) -> MachineState<u8> {
    let mut state = MachineState::new(machine.cells(), 0);
    for register in 0..32 {
        state.data.set(register, random.byte());
    }
    state.data.set(SREG, random.byte() & 0x7f);
    state.data.set(0x5d, 0x80);
    state.data.set(0x5e, 0x04);
    state
}

fn after(machine: &Machine, before: &MachineState<u8>) -> Result<MachineState<u8>, Stop> {
    let mut state = before.clone();
    machine.step(&mut state, &mut Silence).map(|_| state)
}

/// Whether an instruction reaches registers and flags as data, too: what the table says is not all then.
fn may_reach_registers(instruction: Instruction) -> bool {
    use Instruction as I;
    matches!(instruction, I::Ld { .. } | I::St { .. } | I::Lds { .. } | I::Sts { .. } | I::Reti)
        || matches!(instruction, I::In { io, .. } | I::Out { io, .. } if io == 0x3f)
}

fn check(machine: &Machine, instruction: Instruction, before: &MachineState<u8>) {
    let Ok(plain) = after(machine, before) else { return };
    let written = instruction.registers_written();
    for register in avr_isa::Register::all().filter(|register| !written.contains(*register)) {
        let cell = register.index().into();
        assert_eq!(plain.data.get(cell), before.data.get(cell), "{instruction:?} writes r{}", register.index());
    }
    let flags = instruction.flags_written().bits();
    let changed = (plain.data.get(SREG) ^ before.data.get(SREG)) & !flags;
    assert_eq!(changed, 0, "{instruction:?} writes the flags {changed:#04x}");
    for register in avr_isa::Register::all().filter(|register| !instruction.registers_read().contains(*register)) {
        check_unread(machine, instruction, before, &plain, register.index().into(), 0xff);
    }
    for flag in (0..7).filter(|flag| instruction.flags_read().bits() >> flag & 1 == 0) {
        check_unread(machine, instruction, before, &plain, SREG, 1 << flag);
    }
}

/// Changing bits that an instruction does not read changes nothing but these bits.
fn check_unread(
    machine: &Machine,
    instruction: Instruction,
    before: &MachineState<u8>,
    plain: &MachineState<u8>,
    cell: u16,
    mask: u8,
) {
    let mut other = before.clone();
    other.data.set(cell, before.data.get(cell) ^ mask);
    let other = after(machine, &other).unwrap_or_else(|stop| panic!("{instruction:?} depends on {cell:#x}: {stop:?}"));
    assert_eq!(other.control, plain.control, "{instruction:?} goes elsewhere by {cell:#x}");
    let same = |address: u16| {
        let mask = if address == cell { mask } else { 0 };
        (other.data.get(address) ^ plain.data.get(address)) & !mask == 0
    };
    assert!((0..machine.cells() as u16).all(same), "{instruction:?} depends on {mask:#04x} of {cell:#x}");
}

#[test]
fn every_opcode_reads_and_writes_what_the_table_says() {
    let mut checked = 0;
    for first in 0..=u16::MAX {
        let machine = machine(first, 0x0100);
        let Fetched::Instruction { instruction, .. } = machine.program.fetch(0) else { continue };
        if may_reach_registers(instruction) {
            continue;
        }
        // Operands are many; a few states for each of their combinations are enough.
        for seed in 0..STATES.min(1 + u64::from(first % 7 == 0) * 3) {
            check(&machine, instruction, &state(&machine, &mut Random::new(u64::from(first) << 8 | seed)));
        }
        checked += 1;
    }
    assert!(checked > 50_000, "only {checked} opcodes were checked");
}
