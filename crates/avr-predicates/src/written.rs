//! The cells that a step writes, after which predicates about them are evaluated.

use crate::faults::{Fault, is_on};
use crate::number::NumberSet;
use crate::table::Predicates;
use avr_isa::{DataAddress, Instruction, Register};
use avr_machine::{Comparison, Copies, DataSpace, Event};
use three_valued::ByteDomain;

/// The cells that a step wrote, or may have written.
///
/// SOUND: registers are written by the instruction that names them and by a reset, all other cells of predicates with an
/// event.
#[derive(Clone, Debug, Default)]
pub struct Written {
    cells: Vec<DataAddress>,
    is_entry: bool,
    /// The first of some registers, and the numbers that they may hold at the end of the step.
    computed: Option<(Register, NumberSet)>,
}

impl Written {
    /// Begins another step.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.is_entry = false;
        self.computed = None;
    }

    /// Takes note of something that happens in the step.
    pub fn note<V>(&mut self, event: &Event<'_, V>) {
        match event {
            Event::Write(cell, _) if !is_on(Fault::KeptAfterWrite) => self.cells.push(*cell),
            Event::PerhapsWrite(cell, _) if !is_on(Fault::KeptAfterWildStore) => self.cells.push(*cell),
            Event::Interrupt(_) => self.is_entry = true,
            _ => {}
        }
    }

    /// Takes note before the instruction of the step that with it registers hold the first number of a comparison without the second one.
    pub fn subtracts<V: ByteDomain>(
        &mut self,
        number: u8,
        first: Register,
        predicates: &Predicates,
        data: &DataSpace<V>,
    ) {
        self.computed = predicates.difference(number, data).map(|set| (first, set));
    }

    /// Leaves in a state what is known of predicates at the end of the step, with the instruction that was executed, if it was one, and
    /// the copies that are known then. Returns what comparisons that are unknown were before the step, as far as copies tell it.
    pub fn end<V: ByteDomain>(
        &self,
        executed: Option<Instruction>,
        copies: Copies,
        predicates: &Predicates,
        data: &mut DataSpace<V>,
    ) -> Vec<Comparison> {
        let is_reset = executed.is_none() && !self.is_entry;
        if is_reset && !is_on(Fault::KeptAfterReset) {
            predicates.forget_all(data);
            return Vec::new();
        }
        let named = executed.map(Instruction::registers_written).unwrap_or_default();
        let named = named.iter().map(Register::address).filter(|_| !is_on(Fault::KeptInRegisters));
        let written: Vec<DataAddress> = self.cells.iter().copied().chain(named).collect();
        let before = predicates.rewritten(&written, copies, data);
        if let Some((first, set)) = &self.computed {
            predicates.computed(*first, set, data);
        }
        before
    }
}
