//! Refinable values, which comparisons are worth learning from: those that may end in an address, and those that loops
//! and indices are compared with. They decide over precision only; whatever is found, narrowing is sound.

use crate::loop_counters::branch_comparisons;
use crate::register_effects::{Cells, Effect, REGISTERS};
use avr_isa::{DataAddress, FlashWordAddress, Instruction, Register};
use avr_machine::{Fetched, Machine, Program};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The number of instructions before a comparison that are looked at for what loaded its operands.
const MAX_BEFORE: u32 = 8;

/// The registers and the cells of the SRAM that comparisons narrow: registers by the flash word address of the
/// instruction that comes next.
#[derive(Clone, Debug, Default)]
pub struct RefinableValues {
    registers: Arc<[u32]>,
    cells: Arc<BTreeSet<DataAddress>>,
    /// True if every comparison narrows its operands.
    all: bool,
}

impl RefinableValues {
    /// Finds the refinable values, with a function that gives the registers that feed the pointers of the effects. The cells of
    /// the SRAM that properties observe are among them.
    pub(crate) fn new(
        machine: &Machine,
        observed: &[DataAddress],
        mut effects: Vec<Option<Effect>>,
        feeding: impl Fn(&[Option<Effect>]) -> Vec<u32>,
    ) -> Self {
        let program = &machine.program;
        let comparisons = branch_comparisons(program, &effects);
        for (address, registers) in comparisons.iter().filter(|one| one.leaves_loop).flat_map(|one| &one.compared) {
            want(&mut effects, *address, *registers);
        }
        let mut cells: BTreeSet<DataAddress> =
            observed.iter().copied().filter(|cell| machine.sram().contains(cell)).collect();
        let mut before = None;
        loop {
            let registers = feeding(&effects);
            for address in program.addresses() {
                match program.fetch(address) {
                    Fetched::Instruction { instruction: Instruction::Lds { rd, address: cell }, words, .. }
                        if machine.sram().contains(&cell) =>
                    {
                        let next = address.wrapping_add(words.into()).index();
                        if registers.get(next).is_some_and(|registers| registers >> rd.index() & 1 == 1) {
                            cells.insert(cell);
                        }
                    }
                    _ => {}
                }
            }
            for (address, registers) in comparisons.iter().flat_map(|one| &one.compared) {
                let loaded = loaded_before(program, *address, *registers);
                if loaded.iter().any(|cell| cells.contains(cell)) {
                    cells.extend(loaded.into_iter().filter(|cell| machine.sram().contains(cell)));
                    want(&mut effects, *address, *registers);
                }
            }
            if before == Some(cells.len()) {
                return Self { registers: registers.into(), cells: Arc::new(cells), all: false };
            }
            before = Some(cells.len());
            for address in program.addresses() {
                if let Fetched::Instruction { instruction: Instruction::Sts { address: cell, rr }, .. } =
                    program.fetch(address)
                    && cells.contains(&cell)
                {
                    want(&mut effects, address, 1 << rr.index());
                }
            }
        }
    }

    /// The same where every comparison narrows its operands.
    #[must_use]
    pub fn everything(self) -> Self {
        Self { all: true, ..self }
    }

    /// True if every comparison narrows its operands.
    pub fn is_everything(&self) -> bool {
        self.all
    }

    /// True if more is to be known about a register where the instruction at a flash word address comes next.
    pub fn has_register(&self, register: Register, next: FlashWordAddress) -> bool {
        self.all || self.registers.get(next.index()).is_some_and(|registers| registers >> register.index() & 1 == 1)
    }

    /// True if more is to be known about a cell.
    pub fn has_cell(&self, address: DataAddress) -> bool {
        self.all || self.cells.contains(&address)
    }
}

fn want(effects: &mut [Option<Effect>], address: FlashWordAddress, registers: u32) {
    if let Some(effect) = &mut effects[address.index()] {
        effect.pointers |= Cells::from(registers) & REGISTERS;
    }
}

/// The cells that registers were loaded from just before a comparison.
fn loaded_before(program: &Program, comparison: FlashWordAddress, mut registers: u32) -> Vec<DataAddress> {
    let mut cells = Vec::new();
    let mut address = comparison;
    for _ in 0..MAX_BEFORE {
        let Some(before) = instruction_before(program, address) else { break };
        let Fetched::Instruction { instruction, .. } = program.fetch(before) else { break };
        let written = instruction.registers_written().bits() & registers;
        match instruction {
            Instruction::Lds { address: cell, .. } if written != 0 => cells.push(cell),
            _ => {}
        }
        registers &= !written;
        if registers == 0 {
            break;
        }
        address = before;
    }
    cells
}

/// The instruction that ends where another one begins: of two words if there is one.
fn instruction_before(program: &Program, address: FlashWordAddress) -> Option<FlashWordAddress> {
    let ends_here = |words: u32| {
        let first = address.checked_sub(words)?;
        let ends =
            matches!(program.fetch(first), Fetched::Instruction { words: length, .. } if u32::from(length) == words);
        ends.then_some(first)
    };
    ends_here(2).or_else(|| ends_here(1))
}
