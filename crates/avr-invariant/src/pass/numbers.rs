//! The values that are computed from numbers in the code alone: states of a machine, counters, and pointers, but no inputs.

use std::collections::{BTreeMap, BTreeSet};

use avr_isa::{DataAddress, FlashWordAddress, Instruction};
use avr_machine::{Fetched, Machine};

use super::slice::{Touched, Way, Ways, is_load};

/// The most cells of one load or store that are looked at.
const MOST_CELLS: u16 = 16;

/// The place of the first flag in a set of registers and flags.
const FLAGS: u32 = 32;

/// The arithmetic by which numbers are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    /// None: numbers are loaded as they are.
    None,
    /// Any.
    Any,
}

/// Tells which registers and cells hold something else.
pub(crate) struct Numbers<'a> {
    machine: &'a Machine,
    touched: &'a Touched,
    arithmetic: Arithmetic,
    /// The registers and flags with something else before each instruction.
    others: BTreeMap<FlashWordAddress, u64>,
    /// The cells of memory with something else.
    cells: BTreeSet<DataAddress>,
}

impl<'a> Numbers<'a> {
    /// What holds numbers that are loaded as they are, or what is computed from such; some cells hold something else before instructions.
    pub(crate) fn new(
        machine: &'a Machine,
        (touched, before): (&'a Touched, &Ways),
        arithmetic: Arithmetic,
        others: &[(FlashWordAddress, DataAddress)],
    ) -> Self {
        let mut all = Self { machine, touched, arithmetic, others: BTreeMap::new(), cells: BTreeSet::new() };
        for (pc, cell) in others {
            match cell.0 {
                0..32 => *all.others.entry(*pc).or_default() |= 1 << cell.0,
                _ => _ = all.cells.insert(*cell),
            }
        }
        let mut behind: BTreeMap<FlashWordAddress, Vec<FlashWordAddress>> = BTreeMap::new();
        for (to, ways) in before {
            for way in ways {
                if let Way::Executes(from) = way {
                    behind.entry(*from).or_default().push(*to);
                }
            }
        }
        let mut waiting: BTreeSet<FlashWordAddress> = behind.keys().copied().collect();
        while let Some(pc) = waiting.pop_first() {
            let (others, cells) = all.after(pc);
            if let Some((first, last)) = cells {
                let before = all.cells.len();
                all.cells.extend(first.through(last));
                if all.cells.len() > before {
                    waiting.extend(touched.keys());
                }
            }
            for to in behind.get(&pc).into_iter().flatten() {
                let there = all.others.entry(*to).or_default();
                if *there | others != *there {
                    *there |= others;
                    waiting.insert(*to);
                }
            }
        }
        all
    }

    /// True if a cell holds something that is computed from numbers before an instruction.
    pub(crate) fn has(&self, pc: FlashWordAddress, cell: DataAddress) -> bool {
        if cell.0 < 32 {
            return self.before(pc) >> cell.0 & 1 == 0;
        }
        self.is_memory(cell) && !self.cells.contains(&cell)
    }

    fn before(&self, pc: FlashWordAddress) -> u64 {
        self.others.get(&pc).copied().unwrap_or_default()
    }

    /// True for cells that hold what is stored there, and nothing else.
    fn is_memory(&self, cell: DataAddress) -> bool {
        self.machine.sram().contains(&cell) || self.machine.stack_pointer().contains(cell)
    }

    /// The registers and flags with something else behind an instruction, and the cells that it writes if that is something else.
    fn after(&self, pc: FlashWordAddress) -> (u64, Option<(DataAddress, DataAddress)>) {
        let before = self.before(pc);
        let Fetched::Instruction { instruction, .. } = self.machine.program.fetch(pc) else { return (before, None) };
        let registers = u64::from(instruction.registers_written().bits());
        let flags = u64::from(instruction.flags_written().bits()) << FLAGS;
        let written = registers | flags;
        match instruction {
            Instruction::Movw { rd, rr } => {
                let moved = before >> rr.index() & 3;
                return (before & !registers | moved << rd.index(), None);
            }
            Instruction::Mov { rd, rr } => {
                return (before & !registers | (before >> rr.index() & 1) << rd.index(), None);
            }
            Instruction::Eor { rd, rr } if rd == rr => return (before & !written, None),
            _ => {}
        }
        let access = instruction.memory_access();
        let read = u64::from(instruction.registers_read().bits()) | u64::from(instruction.flags_read().bits()) << FLAGS;
        // A store of which too little is known may write other cells than it does once states are told apart.
        let is_told = |cells: &(DataAddress, DataAddress)| cells.1.0.saturating_sub(cells.0.0) < MOST_CELLS;
        let touched = self.touched.get(&pc).copied().filter(is_told);
        let is_other = match instruction {
            Instruction::Ldi { .. } => false,
            Instruction::Lds { .. } | Instruction::Ld { .. } | Instruction::Pop { .. } | Instruction::In { .. } => {
                touched.is_none_or(|(first, last)| {
                    first.through(last).any(|cell| !self.is_memory(cell) || self.cells.contains(&cell))
                })
            }
            Instruction::St { rr, .. } | Instruction::Sts { rr, .. } | Instruction::Push { rr } => {
                let is_other = before >> rr.index() & 1 == 1;
                return (before, touched.filter(|_| is_other));
            }
            _ => self.arithmetic == Arithmetic::None || before & read != 0,
        };
        let stored = touched.filter(|_| is_other && !is_load(access));
        (before & !written | if is_other { written } else { 0 }, stored)
    }
}
