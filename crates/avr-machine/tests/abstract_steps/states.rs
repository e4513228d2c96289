//! Random programs of one instruction, random three-valued states for them, and what they stand for.

use super::random::{Random, ThreeValued};
use avr_isa::{DataAddress, FeatureSet, FlashWordAddress, Instruction, Opcode, Pointer, decode};
use avr_machine::device::{BitKind, Device};
use avr_machine::{Control, Frame, FrameKind, Machine, MachineState, Program};
use std::collections::BTreeMap;
use three_valued::{ByteDomain, Provenance, ProvenanceByte, TvByte};

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
        if random.once_in(2) && !is_transfer(first) {
            follow_up(&mut words[place + 1..place + DISTANCE], random);
        }
        let instruction = decode(first, Some(words[place + 1]), features).expect("the kinds decode");
        places.push((place as u32, instruction));
    }
    let program = Program::decode(size as u32, features, |address| words.get(address as usize).copied());
    Subjects { program, places }
}

/// Branches behind an instruction, and the rest of a comparison before it now and then.
fn follow_up(words: &mut [u16], random: &mut Random) {
    let rest = if random.once_in(3) { 1 } else { 0 };
    words[..rest].iter_mut().for_each(|word| *word = 0x0400 | random.bits() as u16 & 0x3ff);
    words[rest] = 0xf000 | random.bits() as u16 & 0x07fb;
}

/// True if an instruction is LDS or STS.
fn is_transfer(first: u16) -> bool {
    first & 0xfc0f == 0x9000
}

/// An address in data memory most of the time, for LDS and STS.
fn second_word(first: u16, random: &mut Random) -> u16 {
    let transfer = is_transfer(first);
    match random.below(4) {
        0 if transfer => random.below(0x100),
        1 | 2 if transfer => random.below(0x900),
        _ => random.bits() as u16,
    }
}

/// A random abstract state before the instruction at a place; with `copies`, some cells hold the same as others.
pub fn state(machine: &Machine, place: u32, copies: bool, random: &mut Random) -> MachineState<TvByte> {
    let mut state = MachineState::new(machine.cells(), TvByte::ZERO);
    for address in machine.addresses().filter(|address| !machine.device.is_io_area(*address)) {
        state.data.set(address, random.three_valued());
    }
    for register in &machine.device.registers {
        let value = if random.once_in(3) { random.three_valued() } else { TvByte::constant(random.byte()) };
        let windows = register.bits.iter().zip(0..8).filter(|(bit, _)| matches!(bit.kind, BitKind::Window(_)));
        let closed = windows.fold(value, |value, (_, bit)| value.with_bit(bit, &three_valued::Truth::False));
        state.data.set(register.address, closed);
    }
    state.control = Control { pc: FlashWordAddress(place), ..Control::default() };
    if random.once_in(2) {
        // Comparisons go either way where operands are nearly the same.
        let value = random.byte();
        (0..26).for_each(|register| state.data.set(DataAddress(register), random.near(value, 3)));
    }
    set_pointers(&mut state, random);
    set_interrupts(machine, &mut state, random);
    set_stack(machine, &mut state, random);
    if copies {
        (0..random.below(6)).for_each(|_| copy(&mut state, random));
    }
    state
}

/// Copies a register or a cell of the SRAM to another one, of which not as much is known.
fn copy(state: &mut MachineState<TvByte>, random: &mut Random) {
    // The target of a pointer is likely to be read or written in the step.
    let pointed = |random: &mut Random| {
        let low = DataAddress(26 + 2 * random.below(3));
        let high = low.wrapping_add(1);
        let address = DataAddress::of_bytes(state.data.get(low).known()?, state.data.get(high).known()?);
        (DataAddress(0x100)..DataAddress(0x900)).contains(&address).then_some(address)
    };
    let cell = |random: &mut Random| match random.below(3) {
        0 => pointed(random).unwrap_or(DataAddress(0x100)),
        _ => DataAddress(random.below(32)),
    };
    let (from, to) = (cell(random), cell(random));
    if from == to {
        return;
    }
    let known = *state.data.get(from);
    state.data.set(to, known.forget(random.byte() & random.byte()));
    state.control.copies.copy(to, from);
}

/// Pointers that hit something definite or nearly so, now and then anything.
fn set_pointers(state: &mut MachineState<TvByte>, random: &mut Random) {
    for pointer in [Pointer::X, Pointer::Y, Pointer::Z] {
        let address = match random.below(8) {
            0 => random.bits() as u16,
            1 => random.below(0x20),
            2 => random.below(0x100),
            _ => random.below(0x900),
        };
        let ([low, high], vague) = (address.to_le_bytes(), random.below(16));
        let low = if vague == 0 { TvByte::UNKNOWN } else { random.near(low, vague % 4) };
        let high = if vague == 1 { TvByte::UNKNOWN } else { random.near(high, usize::from(vague == 2)) };
        state.data.set(pointer.low().address(), low);
        state.data.set(pointer.high().address(), high);
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
    state.control.fresh_request = random.once_in(4);
}

/// A stack pointer in SRAM, mostly known, and mostly a return address above it that some call pushed there.
fn set_stack(machine: &Machine, state: &mut MachineState<TvByte>, random: &mut Random) {
    let pointer = if random.once_in(10) { random.bits() as u16 } else { 0x100 + random.below(0x7f8) };
    let [low, high] = pointer.to_le_bytes();
    let cells = machine.stack_pointer();
    let vague = if random.once_in(8) { 2 } else { 0 };
    state.data.set(cells.low, random.near(low, vague));
    if let Some(address) = cells.high {
        state.data.set(address, TvByte::constant(high));
    }
    state.control.torn = random.once_in(5);
    if (0x100..0x8fd).contains(&pointer) && !random.once_in(5) {
        push_frame(state, pointer, random);
    }
}

fn push_frame(state: &mut MachineState<TvByte>, pointer: u16, random: &mut Random) {
    let return_address = random.below(0x4000_u32);
    let [low, high, ..] = return_address.to_le_bytes();
    let vague = if random.once_in(3) { 2 } else { 0 };
    let (above, below) = (random.near(high, vague), random.near(low, vague));
    let position = DataAddress(pointer + 2);
    state.data.set(position.wrapping_sub(1), above);
    state.data.set(position, below);
    let kind = if random.once_in(4) { FrameKind::Interrupt(1) } else { FrameKind::Call };
    state.calls.push(Frame { position, return_address: FlashWordAddress(return_address), kind, stack: 0, left: 0 });
}

/// The same state in another domain.
fn map<V: ByteDomain>(state: &MachineState<TvByte>, mut value: impl FnMut(TvByte) -> V) -> MachineState<V> {
    let mut mapped = MachineState::new(state.data.len(), V::constant(0));
    for (address, cell) in (0..).map(DataAddress).zip(state.data.cells()) {
        mapped.data.set(address, value(*cell));
    }
    mapped.control = state.control;
    mapped.calls = state.calls.clone();
    mapped
}

/// A concrete state that an abstract one stands for.
pub fn concretise(state: &MachineState<TvByte>, random: &mut Random) -> MachineState<u8> {
    let mut concrete = map(state, |cell| random.concrete(cell));
    concrete.control = state.control.of_hardware();
    for (to, from) in state.control.copies.pairs() {
        let value = *concrete.data.get(*from);
        concrete.data.set(*to, value);
    }
    concrete
}

/// The state with an origin for each unknown bit.
pub fn trace(state: &MachineState<TvByte>) -> MachineState<ProvenanceByte> {
    let mut id = 1;
    map(state, |cell| {
        ProvenanceByte::new(cell, |_| {
            id += 1;
            Provenance::of(id)
        })
    })
}

/// True if the abstract state stands for the concrete one.
pub fn covers(state: &MachineState<TvByte>, concrete: &MachineState<u8>) -> bool {
    let mut cells = state.data.cells().iter().zip(concrete.data.cells());
    let data = &concrete.data;
    state.control.of_hardware() == concrete.control
        && state.control.copies.are_true(|cell| *data.get(cell))
        && state.calls.frames() == concrete.calls.frames()
        && cells.all(|(cell, value)| cell.contains(*value))
}
