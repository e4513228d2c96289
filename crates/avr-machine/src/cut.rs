//! Cutting stored unknown bits into cases before a step.
//!
//! SOUND: whatever is cut, every stored value falls into one of the cases.

use crate::environment::{Environment, Question};
use crate::machine::Machine;
use crate::program::Fetched;
use crate::state::MachineState;
use avr_isa::{Addressing, DataAddress, Instruction, MemoryAccess, Pointer, PointerMode};
use three_valued::{BitDomain, ByteDomain, TvByte};

/// Cuts the unknown bits of a cell in `mask`. The address must be one of the cells of the state.
pub fn cut_cell<V: ByteDomain, E: Environment<V>>(
    state: &mut MachineState<V>,
    address: DataAddress,
    mask: u8,
    environment: &mut E,
) {
    for bit in (0..8).filter(|bit| mask >> bit & 1 == 1) {
        let cell = state.data.get(address).clone();
        if cell.bit(bit).known().is_some() {
            continue;
        }
        let with = |value: bool| cell.assume(TvByte::new(u8::from(value) << bit, 1 << bit));
        // A range may exclude the one or the other.
        let cases: Vec<V> = [false, true].into_iter().filter_map(with).collect();
        let chosen = match cases.len() {
            2 => environment.case(2, Question::Bit(&cell.bit(bit))),
            _ => 0,
        };
        if let Some(cut) = cases.into_iter().nth(chosen) {
            state.data.set(address, cut);
        }
    }
}

/// Cuts all unknown bits that the next instruction reads.
pub fn cut_what_is_read<V: ByteDomain, E: Environment<V>>(
    machine: &Machine,
    state: &mut MachineState<V>,
    environment: &mut E,
) {
    let Fetched::Instruction { instruction, .. } = machine.program.fetch(state.control.pc) else { return };
    for register in instruction.registers_read().iter() {
        cut_cell(state, register.address(), 0xff, environment);
    }
    cut_cell(state, machine.status_address(), instruction.flags_read().bits(), environment);
    for cell in cells_read(machine, state, instruction).into_iter().chain(machine.extension_read(instruction)) {
        // Bits that hardware supplies are not stored.
        let io = machine.device.is_io_area(cell);
        let mask = machine.device.register_at(cell).map_or(0xff, |register| {
            register.kinds.plain | register.kinds.read_only | register.kinds.flag | register.kinds.pulse
        });
        if cell <= machine.data_end() && (!io || machine.device.register_at(cell).is_some()) {
            cut_cell(state, cell, mask, environment);
        }
    }
}

/// The data addresses that the next instruction loads from, as far as they are known.
#[must_use]
pub fn cells_loaded<V: ByteDomain>(machine: &Machine, state: &MachineState<V>) -> Vec<DataAddress> {
    match machine.program.fetch(state.control.pc) {
        Fetched::Instruction { instruction, .. } => {
            cells_read(machine, state, instruction).into_iter().filter(|cell| *cell <= machine.data_end()).collect()
        }
        Fetched::Reserved | Fetched::Outside => Vec::new(),
    }
}

/// The data addresses that an instruction loads from, once the registers that it reads are known.
fn cells_read<V: ByteDomain>(machine: &Machine, state: &MachineState<V>, instruction: Instruction) -> Vec<DataAddress> {
    match instruction.memory_access() {
        MemoryAccess::Load(Addressing::Indirect { pointer, mode }) => {
            pointed(state, pointer, mode).into_iter().collect()
        }
        MemoryAccess::Load(Addressing::Direct(address))
        | MemoryAccess::LoadIo { address }
        | MemoryAccess::LoadIoBit { address, .. } => vec![address],
        MemoryAccess::Pop => stack(machine, state, 1),
        MemoryAccess::PopReturnAddress => stack(machine, state, machine.device.core.pc_bytes.into()),
        MemoryAccess::None
        | MemoryAccess::Store(_)
        | MemoryAccess::StoreIo { .. }
        | MemoryAccess::StoreIoBit { .. }
        | MemoryAccess::Push
        | MemoryAccess::PushReturnAddress
        | MemoryAccess::LoadFlash
        | MemoryAccess::StoreFlash
        | MemoryAccess::ResetWatchdog => Vec::new(),
    }
}

fn pair<V: ByteDomain>(state: &MachineState<V>, low: DataAddress, high: DataAddress) -> Option<DataAddress> {
    Some(DataAddress::of_bytes(state.data.get(low).known()?, state.data.get(high).known()?))
}

fn pointed<V: ByteDomain>(state: &MachineState<V>, pointer: Pointer, mode: PointerMode) -> Option<DataAddress> {
    let value = pair(state, pointer.low().address(), pointer.high().address())?;
    Some(match mode {
        PointerMode::Displacement(q) => value.wrapping_add(q.into()),
        PointerMode::PostIncrement => value,
        PointerMode::PreDecrement => value.wrapping_sub(1),
    })
}

/// The bytes that a pop of this many reads.
fn stack<V: ByteDomain>(machine: &Machine, state: &MachineState<V>, bytes: u16) -> Vec<DataAddress> {
    let pointer = machine.stack_pointer().value_in(&state.data);
    pointer.map_or(Vec::new(), |pointer| (1..=bytes).map(|offset| pointer.wrapping_add(offset)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::{Demand, DeterminedBy, Input};

    const CELL: DataAddress = DataAddress(24);

    /// Answers with the bits of a number, the lowest first, and counts the questions.
    struct Answers(u32, u32);

    impl Environment<TvByte> for Answers {
        fn input(&mut self, _: Input, _: u8, _: Demand, _: DeterminedBy) -> TvByte {
            TvByte::UNKNOWN
        }

        fn choose(&mut self, _: usize) -> usize {
            0
        }

        fn case(&mut self, _: usize, _: Question<'_, TvByte>) -> usize {
            self.1 += 1;
            (self.0 >> (self.1 - 1) & 1) as usize
        }
    }

    /// The cases that a cell is cut into.
    fn cut(cell: TvByte, mask: u8) -> Vec<TvByte> {
        let all = (0..256).map(|answers| {
            let mut state = MachineState::new(32, TvByte::ZERO);
            state.data.set(CELL, cell);
            cut_cell(&mut state, CELL, mask, &mut Answers(answers, 0));
            *state.data.get(CELL)
        });
        all.collect()
    }

    #[test]
    fn cases_of_a_range_are_what_is_in_it() {
        for (low, high) in [(0, 255), (0, 23), (3, 4), (100, 160), (127, 129)] {
            let cell = TvByte::UNKNOWN.within(low, high).expect("the range is not empty");
            for mask in [0xff, 0x80, 0x1f, 0x55] {
                let cases = cut(cell, mask);
                assert!(
                    cases.iter().all(|case| cell.covers(*case) && case.unknown_mask() & mask == 0),
                    "{cell} {mask:#x}"
                );
                let is_covered = |value: u8| cases.iter().any(|case| case.contains(value));
                assert!(cell.concretisations().all(is_covered), "{cell} {mask:#x}");
            }
        }
    }
}
