//! Random programs of one instruction, random three-valued states for them, and what they stand for.

use super::random::Random;
use avr_isa::{FeatureSet, Instruction, Opcode, Pointer, decode};
use avr_machine::device::{BitKind, Device};
use avr_machine::{Control, Frame, FrameKind, Machine, MachineState, Program, StackPointerHalf};
use std::collections::BTreeMap;
use three_valued::{ByteDomain, Origins, TracedByte, TvByte};

/// Words between two instructions in flash; behind each stand random words to skip over.
const DISTANCE: usize = 4;

/// A flash with instructions of every kind, and where they stand.
pub struct Subjects {
    /// The flash.
    pub program: Program,
    /// Word addresses with the instructions there.
    pub places: Vec<(u32, Instruction)>,
}

/// About `each` encodings of every operation of the device.
pub fn subjects(device: &Device, features: FeatureSet, each: usize, random: &mut Random) -> Subjects {
    let mut kinds: BTreeMap<String, Vec<u16>> = BTreeMap::new();
    for word in 0..=u16::MAX {
        if let Ok(instruction) = decode(word, Some(0), features) {
            let opcode: Opcode = instruction.opcode();
            kinds.entry(format!("{opcode:?}")).or_default().push(word);
        }
    }
    let size = device.memory.flash_words() as usize;
    let mut words: Vec<u16> = (0..size).map(|_| random.bits() as u16).collect();
    let mut places = Vec::new();
    for word in kinds.values().flat_map(|words| std::iter::repeat_n(words, each)) {
        let (place, first) = (places.len() * DISTANCE, word[random.below(word.len())]);
        words[place] = first;
        words[place + 1] = second_word(first, random);
        let instruction = decode(first, Some(words[place + 1]), features).expect("the kinds decode");
        places.push((place as u32, instruction));
    }
    let program = Program::decode(size as u32, features, |address| words.get(address as usize).copied());
    Subjects { program, places }
}

/// An address in data memory most of the time, for LDS and STS.
fn second_word(first: u16, random: &mut Random) -> u16 {
    let transfer = first & 0xfc0f == 0x9000;
    match random.below(4) {
        0 if transfer => random.below(0x100) as u16,
        1 | 2 if transfer => random.below(0x900) as u16,
        _ => random.bits() as u16,
    }
}

/// A random abstract state before the instruction at a place.
pub fn state(machine: &Machine, place: u32, random: &mut Random) -> MachineState<TvByte> {
    let mut state = MachineState::new(machine.cells(), TvByte::ZERO);
    for address in (0..machine.cells() as u16).filter(|address| !machine.device.is_io_area(*address)) {
        state.data.set(address, random.three_valued());
    }
    for register in &machine.device.registers {
        let value = if random.once_in(3) { random.three_valued() } else { TvByte::constant(random.byte()) };
        let windows = register.bits.iter().zip(0..8).filter(|(bit, _)| matches!(bit.kind, BitKind::Window(_)));
        let closed = windows.fold(value, |value, (_, bit)| value.with_bit(bit, &three_valued::Truth::False));
        state.data.set(register.address, closed);
    }
    state.control = Control { pc: place, ..Control::default() };
    set_pointers(&mut state, random);
    set_interrupts(machine, &mut state, random);
    set_stack(machine, &mut state, random);
    state
}

/// Pointers that hit something definite or nearly so, now and then anything.
fn set_pointers(state: &mut MachineState<TvByte>, random: &mut Random) {
    for pointer in [Pointer::X, Pointer::Y, Pointer::Z] {
        let address = match random.below(8) {
            0 => random.bits() as u16,
            1 => random.below(0x20) as u16,
            2 => random.below(0x100) as u16,
            _ => random.below(0x900) as u16,
        };
        let ([low, high], vague) = (address.to_le_bytes(), random.below(16));
        let low = if vague == 0 { TvByte::UNKNOWN } else { random.near(low, vague % 4) };
        let high = if vague == 1 { TvByte::UNKNOWN } else { random.near(high, usize::from(vague == 2)) };
        state.data.set(pointer.low().index().into(), low);
        state.data.set(pointer.high().index().into(), high);
    }
}

/// Mostly I is 0. Otherwise few interrupts are enabled, because each unknown enable bit doubles the paths.
fn set_interrupts(machine: &Machine, state: &mut MachineState<TvByte>, random: &mut Random) {
    let status = machine.status_address();
    let flags = random.three_valued();
    if !random.once_in(6) {
        return state.data.set(status, flags.with_bit(7, &three_valued::Truth::False));
    }
    state.data.set(status, flags);
    for interrupt in &machine.device.interrupts {
        let address = interrupt.enable.address;
        let sparse = state.data.get(address).and(&TvByte::constant(random.byte() & random.byte() & random.byte()));
        state.data.set(address, sparse);
    }
    state.control.interrupt_delay = random.once_in(4);
    state.control.peripheral_written = random.once_in(4);
}

/// A stack pointer in SRAM, mostly known, and mostly a return address above it that some call pushed there.
fn set_stack(machine: &Machine, state: &mut MachineState<TvByte>, random: &mut Random) {
    let pointer = if random.once_in(10) { random.bits() as u16 } else { (0x100 + random.below(0x7f8)) as u16 };
    let [low, high] = pointer.to_le_bytes();
    let (low_address, high_address) = machine.stack_pointer_addresses();
    let vague = if random.once_in(8) { 2 } else { 0 };
    state.data.set(low_address, random.near(low, vague));
    if let Some(address) = high_address {
        state.data.set(address, TvByte::constant(high));
    }
    state.control.torn = match random.below(10) {
        0 => Some(StackPointerHalf::Low),
        1 => Some(StackPointerHalf::High),
        _ => None,
    };
    if (0x100..0x8fd).contains(&pointer) && !random.once_in(5) {
        push_frame(state, pointer, random);
    }
}

fn push_frame(state: &mut MachineState<TvByte>, pointer: u16, random: &mut Random) {
    let return_address = random.below(0x4000) as u32;
    let [low, high, ..] = return_address.to_le_bytes();
    let vague = if random.once_in(3) { 2 } else { 0 };
    let (above, below) = (random.near(high, vague), random.near(low, vague));
    state.data.set(pointer + 1, above);
    state.data.set(pointer + 2, below);
    let kind = if random.once_in(4) { FrameKind::Interrupt(1) } else { FrameKind::Call };
    state.calls.push(Frame { position: pointer + 2, return_address, kind });
}

/// The same state in another domain.
fn map<V: ByteDomain>(state: &MachineState<TvByte>, mut value: impl FnMut(TvByte) -> V) -> MachineState<V> {
    let mut mapped = MachineState::new(state.data.len(), V::constant(0));
    for (address, cell) in (0..).zip(state.data.cells()) {
        mapped.data.set(address, value(*cell));
    }
    mapped.control = state.control;
    mapped.calls = state.calls.clone();
    mapped
}

/// A concrete state that an abstract one stands for.
pub fn concretise(state: &MachineState<TvByte>, random: &mut Random) -> MachineState<u8> {
    map(state, |cell| random.concrete(cell))
}

/// The state with an origin for each unknown bit.
pub fn trace(state: &MachineState<TvByte>) -> MachineState<TracedByte> {
    let mut id = 1;
    map(state, |cell| {
        TracedByte::new(cell, |_| {
            id += 1;
            Origins::of(id)
        })
    })
}

/// Whether the abstract state stands for the concrete one.
pub fn covers(state: &MachineState<TvByte>, concrete: &MachineState<u8>) -> bool {
    let mut cells = state.data.cells().iter().zip(concrete.data.cells());
    state.control == concrete.control
        && state.calls.frames() == concrete.calls.frames()
        && cells.all(|(cell, value)| cell.contains(*value))
}
