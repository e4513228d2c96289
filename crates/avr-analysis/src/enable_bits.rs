//! The instructions before which the enable bit of an interrupt is 0, in straight-line code behind a store that clears it.
//!
//! The stretch ends with the first instruction that may set the bit, or that is jumped or called to. No handler may set the bit: neither by a
//! store whose value is not known, nor through a pointer whose value is not known.

use avr_isa::{Addressing, ControlFlow, DataAddress, FlashWordAddress, Instruction, MemoryAccess, PointerMode};
use avr_machine::device::BitRef;
use avr_machine::{Machine, Program};
use std::collections::{BTreeMap, BTreeSet};

/// The instructions by the number of the interrupt that is off.
pub(crate) type Cleared = BTreeMap<u8, BTreeSet<FlashWordAddress>>;

/// The effect of an instruction on data memory outside of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// None, or one that is of no matter.
    Nothing,
    /// A byte is stored in which these bits are surely 0.
    Store { address: DataAddress, zeros: u8 },
    /// A bit is set.
    Set(BitRef),
    /// A byte is stored anywhere.
    Anywhere,
}

impl Effect {
    /// True if a bit is surely 0 after it; none if it does not touch the bit.
    fn clears(self, bit: BitRef) -> Option<bool> {
        match self {
            Self::Store { address, zeros } if address == bit.address => Some(zeros & bit.mask() != 0),
            Self::Set(set) if set == bit => Some(false),
            Self::Anywhere => Some(false),
            Self::Nothing | Self::Store { .. } | Self::Set(_) => None,
        }
    }
}

/// The instructions before which enable bits are surely 0.
pub(crate) fn enables_cleared(machine: &Machine) -> Cleared {
    let program = &machine.program;
    let entries = entries(machine);
    let effects = effects(program, &entries);
    let Some(handlers) = handlers(machine) else { return Cleared::new() };
    let mut cleared = Cleared::new();
    for interrupt in &machine.device.interrupts {
        let bit = interrupt.enable;
        let may_set = |at: &FlashWordAddress| effects.get(at).is_none_or(|effect| effect.clears(bit) == Some(false));
        if handlers.iter().any(may_set) {
            continue;
        }
        let mut is_off = false;
        let mut expected = None;
        let own = cleared.entry(interrupt.number).or_default();
        for (at, instruction) in program.instructions().filter(|(at, _)| effects.contains_key(at)) {
            is_off &= expected == Some(at) && !entries.contains(&at);
            if is_off {
                own.insert(at);
            }
            let (next, effect) = (next(program, at, instruction), effects[&at]);
            is_off = next.is_some() && effect.clears(bit).unwrap_or(is_off);
            expected = next;
        }
    }
    cleared
}

/// The instruction that follows in straight-line code.
fn next(program: &Program, at: FlashWordAddress, instruction: Instruction) -> Option<FlashWordAddress> {
    match instruction.control_flow(at, program) {
        ControlFlow::Next { next } => Some(next),
        _ => None,
    }
}

/// The instructions that are jumped or called to, and the vectors.
fn entries(machine: &Machine) -> BTreeSet<FlashWordAddress> {
    let program = &machine.program;
    let vectors = machine.device.interrupts.iter().map(|interrupt| FlashWordAddress(interrupt.vector.into()));
    let mut entries: BTreeSet<FlashWordAddress> = vectors.chain([machine.options().start]).collect();
    for (at, instruction) in program.instructions() {
        match instruction.control_flow(at, program) {
            ControlFlow::Next { .. } | ControlFlow::Return | ControlFlow::InterruptReturn => {}
            ControlFlow::IndirectJump => {}
            ControlFlow::Sleep { next } | ControlFlow::Break { next } | ControlFlow::IndirectCall { next } => {
                entries.insert(next);
            }
            ControlFlow::Skip { next, target }
            | ControlFlow::Branch { next, target }
            | ControlFlow::Call { next, target } => entries.extend([next, target]),
            ControlFlow::Jump { target } => _ = entries.insert(target),
        }
    }
    entries
}

/// The code of all handlers; none if a register says where it goes.
fn handlers(machine: &Machine) -> Option<BTreeSet<FlashWordAddress>> {
    let program = &machine.program;
    let stops = [machine.options().start, FlashWordAddress(0)];
    let vectors = machine.device.interrupts.iter().map(|interrupt| FlashWordAddress(interrupt.vector.into()));
    let (mut waiting, mut seen): (Vec<FlashWordAddress>, BTreeSet<_>) = (vectors.collect(), BTreeSet::new());
    while let Some(at) = waiting.pop() {
        let Some(flow) = program.control_flow(at).filter(|_| !stops.contains(&at) && seen.insert(at)) else { continue };
        match flow {
            ControlFlow::Next { next } | ControlFlow::Sleep { next } | ControlFlow::Break { next } => {
                waiting.push(next)
            }
            ControlFlow::Skip { next, target }
            | ControlFlow::Branch { next, target }
            | ControlFlow::Call { next, target } => waiting.extend([next, target]),
            ControlFlow::Jump { target } => waiting.push(target),
            ControlFlow::IndirectJump | ControlFlow::IndirectCall { .. } => return None,
            ControlFlow::Return | ControlFlow::InterruptReturn => {}
        }
    }
    Some(seen)
}

/// The knowledge of a register in straight-line code.
#[derive(Clone, Copy, Default)]
struct Known {
    /// Bits that are surely 0.
    zeros: u8,
    /// The number, where it is known.
    constant: Option<u8>,
}

impl Known {
    fn constant(value: u8) -> Self {
        Self { zeros: !value, constant: Some(value) }
    }
}

/// The effects of all instructions. Data that are decoded among them count as instructions, and second words as well.
fn effects(program: &Program, entries: &BTreeSet<FlashWordAddress>) -> BTreeMap<FlashWordAddress, Effect> {
    let mut effects = BTreeMap::new();
    let mut registers = [Known::default(); 32];
    let mut expected = None;
    for (at, instruction) in program.instructions() {
        if expected.is_some_and(|expected| at < expected) {
            continue;
        }
        if expected != Some(at) || entries.contains(&at) {
            registers = [Known::default(); 32];
        }
        effects.insert(at, effect(instruction, &registers));
        execute(instruction, &mut registers);
        expected = next(program, at, instruction).or(Some(at.wrapping_add(instruction.words().into())));
        if next(program, at, instruction).is_none() {
            registers = [Known::default(); 32];
        }
    }
    effects
}

fn effect(instruction: Instruction, registers: &[Known; 32]) -> Effect {
    let known = |register: avr_isa::Register| registers[usize::from(register.index())];
    let zeros = match instruction {
        Instruction::St { rr, .. } | Instruction::Sts { rr, .. } | Instruction::Out { rr, .. } => known(rr).zeros,
        _ => 0,
    };
    match instruction.memory_access() {
        MemoryAccess::Store(Addressing::Direct(address)) | MemoryAccess::StoreIo { address } => {
            Effect::Store { address, zeros }
        }
        MemoryAccess::Store(Addressing::Indirect { pointer, mode }) => {
            let halves = known(pointer.low()).constant.zip(known(pointer.low().next()).constant);
            let Some((low, high)) = halves else { return Effect::Anywhere };
            let at = DataAddress::of_bytes(low, high);
            let address = match mode {
                PointerMode::Displacement(by) => at.wrapping_add(by.into()),
                PointerMode::PostIncrement => at,
                PointerMode::PreDecrement => at.wrapping_sub(1),
            };
            Effect::Store { address, zeros }
        }
        MemoryAccess::StoreIoBit { address, bit } => match instruction {
            Instruction::Cbi { .. } => Effect::Store { address, zeros: 1 << bit },
            _ => Effect::Set(BitRef { address, bit }),
        },
        _ => Effect::Nothing,
    }
}

fn execute(instruction: Instruction, registers: &mut [Known; 32]) {
    let before = *registers;
    for register in instruction.registers_written().iter() {
        registers[usize::from(register.index())] = Known::default();
    }
    if let MemoryAccess::Store(Addressing::Direct(address)) = instruction.memory_access()
        && address < DataAddress::IO
    {
        registers[address.index()] = Known::default();
    }
    // A store through a pointer may hit any register.
    match effect(instruction, &before) {
        Effect::Store { address, .. } if address >= DataAddress::IO => {}
        Effect::Anywhere | Effect::Store { .. } => *registers = [Known::default(); 32],
        Effect::Nothing | Effect::Set(_) => {}
    }
    match instruction {
        Instruction::Ldi { rd, k } => registers[usize::from(rd.index())] = Known::constant(k),
        Instruction::Eor { rd, rr } if rd == rr => registers[usize::from(rd.index())] = Known::constant(0),
        Instruction::Mov { rd, rr } => {
            registers[usize::from(rd.index())] = before[usize::from(rr.index())];
        }
        Instruction::Andi { rd, k } => {
            let known = before[usize::from(rd.index())];
            registers[usize::from(rd.index())] =
                Known { zeros: known.zeros | !k, constant: known.constant.map(|constant| constant & k) };
        }
        _ => {}
    }
}
