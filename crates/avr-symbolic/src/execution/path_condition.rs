//! Path conditions, and their merging.

use crate::domain::bit::SymbolicBit;
use crate::domain::facts::Facts;
use crate::faults::{Fault, is_on};
use three_valued::BitDomain;

/// A conjunction of bits that are 1 on a path, in the order in which they were decided.
///
/// The conditions of two paths that part have a decision in one that is the complement of one in the other; they are never 1 together.
#[derive(Clone, Debug, Default)]
pub struct PathCondition<'g> {
    decisions: Vec<SymbolicBit<'g>>,
    facts: Facts,
}

impl<'g> PathCondition<'g> {
    /// The condition that is always 1.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a bit that is 1.
    pub fn assume(&mut self, bit: SymbolicBit<'g>) {
        if bit == SymbolicBit::ONE {
            return;
        }
        if let Some(graph) = bit.graph {
            self.facts.add(graph, bit.literal);
        }
        self.decisions.push(bit);
    }

    /// The bits that are 1.
    #[must_use]
    pub fn decisions(&self) -> &[SymbolicBit<'g>] {
        &self.decisions
    }

    /// The condition as a bit.
    #[must_use]
    pub fn bit(&self) -> SymbolicBit<'g> {
        conjunction(&self.decisions)
    }

    /// The value of a bit as far as it follows from the condition without search.
    #[must_use]
    pub fn value(&self, bit: &SymbolicBit<'g>) -> Option<bool> {
        match bit.graph {
            Some(graph) => self.facts.value(graph, bit.literal),
            None => bit.known(),
        }
    }

    /// The condition of two paths that parted together, and a bit that is 1 on this path and 0 on the other.
    #[must_use]
    pub fn merge(&self, other: &Self) -> (Self, SymbolicBit<'g>) {
        let shared = self.decisions.iter().zip(&other.decisions).take_while(|(one, other)| one == other).count();
        let (own, others) = (&self.decisions[shared..], &other.decisions[shared..]);
        let selector = conjunction(own);
        let mut merged = Self::new();
        self.decisions[..shared].iter().for_each(|bit| merged.assume(*bit));
        let others = if is_on(Fault::ConditionForgotten) { SymbolicBit::ZERO } else { conjunction(others) };
        merged.assume(selector.or(&others));
        (merged, selector)
    }
}

fn conjunction<'g>(bits: &[SymbolicBit<'g>]) -> SymbolicBit<'g> {
    bits.iter().rev().fold(SymbolicBit::ONE, |all, bit| bit.and(&all))
}
