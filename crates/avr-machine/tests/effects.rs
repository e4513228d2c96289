//! The effects of instructions by the table (reads, writes, continuation) against those of the executor: every opcode,
//! from random states.

use avr_isa::{
    Addressing, CodeSpace, ControlFlow, DataAddress, FlashWordAddress, Instruction, MemoryAccess, Opcode, Pointer,
    PointerMode,
};
use avr_machine::device::Device;
use avr_machine::{
    Demand, DeterminedBy, Environment, Fetched, Frame, FrameKind, Input, Machine, MachineState, Options, Program,
    Question, Stop,
};
use avr_testkit::Random;
use std::collections::BTreeSet;

/// Data addresses of SPL, SPH and SREG.
const STACK_POINTER: [DataAddress; 2] = [DataAddress(0x5d), DataAddress(0x5e)];
const SREG: DataAddress = DataAddress(0x5f);
/// Data addresses of the I/O registers and of the SRAM of the ATmega328P.
const IO: std::ops::Range<DataAddress> = DataAddress(0x20)..DataAddress(0x100);
const SRAM: std::ops::Range<DataAddress> = DataAddress(0x100)..DataAddress(0x900);
/// The stack pointer before the instruction.
const STACK: DataAddress = DataAddress(0x480);
/// The address that the frame on the stack returns to.
const RETURN_ADDRESS: u32 = 3;
/// The words of the flash.
const WORDS: u32 = 0x4000;
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

/// The flash of which the tests decode a part.
struct Flash<'a>(&'a Program);

impl CodeSpace for Flash<'_> {
    fn pc_mask(&self) -> u32 {
        WORDS - 1
    }

    fn words_at(&self, address: FlashWordAddress) -> u32 {
        self.0.words_at(address)
    }
}

/// A state with random memory, interrupts off, and the return address of a call on the stack.
fn memory(cells: usize, random: &mut Random) -> MachineState<u8> {
    let mut state = MachineState::new(cells, 0);
    SRAM.start.until(SRAM.end).for_each(|cell| state.data.set(cell, random.byte()));
    for (cell, half) in STACK_POINTER.into_iter().zip([STACK.low(), STACK.high()]) {
        state.data.set(cell, half);
    }
    state.data.set(STACK.wrapping_add(2), RETURN_ADDRESS as u8);
    state.data.set(STACK.wrapping_add(1), 0);
    state.calls.push(Frame {
        position: STACK.wrapping_add(2),
        return_address: FlashWordAddress(RETURN_ADDRESS),
        kind: FrameKind::Call,
        stack: 0,
        left: 0,
    });
    state
}

/// The same with random flags and registers, of which the pointers mostly lead to memory.
fn state(memory: &MachineState<u8>, random: &mut Random) -> MachineState<u8> {
    let mut state = memory.clone();
    (0..32).for_each(|cell| state.data.set(DataAddress(cell), random.byte()));
    for high in [Pointer::X, Pointer::Y, Pointer::Z].map(Pointer::high) {
        state.data.set(high.address(), random.byte() & 7);
    }
    state.data.set(SREG, random.byte() & 0x7f);
    state
}

fn after(machine: &Machine, before: &MachineState<u8>) -> Result<MachineState<u8>, Stop> {
    let mut state = before.clone();
    machine.step(&mut state, &mut Silence).map(|_| state)
}

/// The bits of data memory that an instruction reads and writes, by data address.
struct Bits {
    read: Vec<u8>,
    written: Vec<u8>,
}

impl Bits {
    /// The effects of an instruction in a state, by the table.
    fn said(machine: &Machine, instruction: Instruction, state: &MachineState<u8>) -> Self {
        let cells = machine.cells();
        let mut bits = Self { read: vec![0; cells], written: vec![0; cells] };
        for register in instruction.registers_read().iter() {
            bits.read[usize::from(register.index())] = 0xff;
        }
        for register in instruction.registers_written().iter() {
            bits.written[usize::from(register.index())] = 0xff;
        }
        bits.read[SREG.index()] = instruction.flags_read().bits();
        bits.written[SREG.index()] = instruction.flags_written().bits();
        bits.add_memory(instruction.memory_access(), state);
        bits
    }

    fn add_memory(&mut self, access: MemoryAccess, state: &MachineState<u8>) {
        match access {
            MemoryAccess::None | MemoryAccess::ResetWatchdog => {}
            MemoryAccess::Load(place) => self.add_read([address(place, state)]),
            MemoryAccess::Store(place) => self.add_written([address(place, state)]),
            MemoryAccess::LoadIo { address } => self.add_read([address]),
            MemoryAccess::StoreIo { address } => self.add_written([address]),
            MemoryAccess::LoadIoBit { address, bit } => {
                self.add_read([address]);
                assert!(bit < 8);
            }
            MemoryAccess::StoreIoBit { address, bit } => {
                self.add_written([address]);
                assert!(bit < 8);
            }
            MemoryAccess::Push => self.add_written([STACK]),
            MemoryAccess::Pop => self.add_read([STACK.wrapping_add(1)]),
            MemoryAccess::PushReturnAddress => self.add_written(STACK.wrapping_sub(1).through(STACK)),
            MemoryAccess::PopReturnAddress => self.add_read(STACK.wrapping_add(1).through(STACK.wrapping_add(2))),
            // The registers of the peripheral that programs the flash.
            MemoryAccess::LoadFlash | MemoryAccess::StoreFlash => self.add_peripheral(IO.start),
        }
        if access.uses_stack() {
            self.add_written(STACK_POINTER);
        }
    }

    fn add_read(&mut self, cells: impl IntoIterator<Item = DataAddress>) {
        for cell in cells {
            self.read[cell.index()] = 0xff;
            self.add_peripheral(cell);
        }
    }

    fn add_written(&mut self, cells: impl IntoIterator<Item = DataAddress>) {
        for cell in cells {
            self.written[cell.index()] = 0xff;
            self.add_peripheral(cell);
        }
    }

    /// An access to a register of a peripheral changes what the peripheral makes of it: I/O registers, and cells behind
    /// the data memory that stand for buffers.
    fn add_peripheral(&mut self, cell: DataAddress) {
        if IO.contains(&cell) && !STACK_POINTER.contains(&cell) && cell != SREG {
            let all = IO
                .start
                .until(IO.end)
                .filter(|cell| !STACK_POINTER.contains(cell) && *cell != SREG)
                .map(DataAddress::index);
            let hidden = SRAM.end.index()..self.written.len();
            all.chain(hidden).for_each(|cell| self.written[cell] = 0xff);
        }
    }
}

/// The data address of a load or store.
fn address(place: Addressing, state: &MachineState<u8>) -> DataAddress {
    match place {
        Addressing::Direct(address) => address,
        Addressing::Indirect { pointer, mode } => {
            let value = pair(pointer, state);
            match mode {
                PointerMode::Displacement(q) => value.wrapping_add(q.into()),
                PointerMode::PostIncrement => value,
                PointerMode::PreDecrement => value.wrapping_sub(1),
            }
        }
    }
}

fn pair(pointer: Pointer, state: &MachineState<u8>) -> DataAddress {
    let half = |register: avr_isa::Register| *state.data.get(register.address());
    DataAddress::of_bytes(half(pointer.low()), half(pointer.high()))
}

/// Checks a step from a state, if there is one.
fn check(machine: &Machine, instruction: Instruction, before: &MachineState<u8>, random: &mut Random) -> bool {
    let Ok(plain) = after(machine, before) else { return false };
    check_control_flow(machine, instruction, before, &plain);
    let said = Bits::said(machine, instruction, before);
    let cells = machine.addresses().zip(said.read.iter().zip(&said.written));
    let mut other = before.clone();
    for (cell, (read, written)) in cells.clone() {
        let changed = (plain.data.get(cell) ^ before.data.get(cell)) & !written;
        assert_eq!(changed, 0, "{instruction:?} writes {changed:#04x} of {cell:#x}");
        let free = match cell {
            SREG => 0x7f,
            cell if cell < IO.start || SRAM.contains(&cell) => 0xff,
            _ => 0,
        };
        other.data.set(cell, before.data.get(cell) ^ random.byte() & free & !read);
    }
    // Bits that the instruction does not read change neither what it writes nor where it goes.
    let result = after(machine, &other).unwrap_or_else(|stop| panic!("{instruction:?} reads more: {stop:?}"));
    assert_eq!(result.control, plain.control, "{instruction:?} reads more to decide where it goes");
    for (cell, (_, written)) in cells {
        let same = (result.data.get(cell) ^ plain.data.get(cell)) & written;
        let kept = (result.data.get(cell) ^ other.data.get(cell)) & !written;
        assert_eq!((same, kept), (0, 0), "{instruction:?} reads more to write {cell:#x}");
    }
    true
}

/// The program counter after a step is what the table says.
fn check_control_flow(
    machine: &Machine,
    instruction: Instruction,
    before: &MachineState<u8>,
    after: &MachineState<u8>,
) {
    let flow = instruction.control_flow(before.control.pc, &Flash(&machine.program));
    let possible = match flow {
        ControlFlow::IndirectJump | ControlFlow::IndirectCall { .. } => {
            let target = u32::from((pair(Pointer::Z, before)).0) & (WORDS - 1);
            [FlashWordAddress(target); 2]
        }
        ControlFlow::Return | ControlFlow::InterruptReturn => [FlashWordAddress(RETURN_ADDRESS); 2],
        ControlFlow::Next { .. }
        | ControlFlow::Skip { .. }
        | ControlFlow::Branch { .. }
        | ControlFlow::Jump { .. }
        | ControlFlow::Call { .. }
        | ControlFlow::Sleep { .. }
        | ControlFlow::Break { .. } => flow.destinations().expect("the instruction says where it goes"),
    };
    assert!(possible.contains(&after.control.pc), "{instruction:?} goes to {}, not {flow:?}", after.control.pc);
    let pushed = after.calls.frames().get(1).map(|frame| frame.return_address);
    let expected = match flow {
        ControlFlow::Call { next, .. } | ControlFlow::IndirectCall { next } => Some(next),
        _ => None,
    };
    assert_eq!(pushed, expected, "{instruction:?} pushes another return address");
}

#[test]
fn every_opcode_reads_and_writes_and_goes_on_as_the_table_says() {
    let memory = memory(machine(0, 0).cells(), &mut Random::new(0));
    let (mut steps, mut checked) = (0, BTreeSet::new());
    for first in 0..=u16::MAX {
        let machine = machine(first, 0x0100);
        let Fetched::Instruction { instruction, .. } = machine.program.fetch(FlashWordAddress(0)) else { continue };
        // Operands are many; a few states for each of their combinations are enough.
        let seeds = STATES.min(1 + u64::from(first % 64 == 0) * 3);
        let mut random = Random::new(u64::from(first) << 8);
        for _ in 0..seeds {
            let before = state(&memory, &mut random);
            if check(&machine, instruction, &before, &mut random) {
                steps += 1;
                checked.insert(instruction.opcode());
            }
        }
    }
    assert!(steps > 50_000, "only {steps} steps were checked");
    let unchecked: Vec<Opcode> = Opcode::ALL.into_iter().filter(|opcode| !checked.contains(opcode)).collect();
    // The device lacks three of them; SPM stops where no command was given just before.
    assert_eq!(unchecked, [Opcode::Eijmp, Opcode::Eicall, Opcode::Elpm, Opcode::Spm]);
}
