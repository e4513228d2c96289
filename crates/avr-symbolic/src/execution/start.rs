//! Symbolic states in which executions begin.

use super::run::SymbolicState;
use crate::domain::byte::SymbolicByte;
use crate::domain::graph::Graph;
use avr_machine::{Demand, DeterminedBy, Environment, Input, Machine, Question};

/// Supplies a variable for each input bit.
struct Variables<'g>(&'g Graph);

impl<'g> Environment<SymbolicByte<'g>> for Variables<'g> {
    fn input(&mut self, _: Input, mask: u8, _: Demand, _: DeterminedBy) -> SymbolicByte<'g> {
        self.0.byte(mask)
    }

    fn choose(&mut self, _: usize) -> usize {
        0
    }

    fn case(&mut self, _: usize, _: Question<'_, SymbolicByte<'g>>) -> usize {
        0
    }
}

/// The state after power-on, with a variable for each bit that the data sheet leaves open.
#[must_use]
pub fn power_on<'g>(machine: &Machine, graph: &'g Graph) -> SymbolicState<'g> {
    machine.power_on(&mut Variables(graph))
}
