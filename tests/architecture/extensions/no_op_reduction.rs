//! Reduction that leaves out nothing.

use super::interface::Reduction;
use crate::pass::Pass;
use crate::transfer::Leaf;
use avr_machine::Machine;

/// A reduction that counts the outcomes of steps and keeps them all.
#[derive(Clone, Debug, Default)]
pub(crate) struct NoOpReduction {
    kept: usize,
}

impl NoOpReduction {
    /// The outcomes of a step that are kept.
    pub(crate) fn reduced(&mut self, leaves: Vec<Leaf>) -> Vec<Leaf> {
        self.kept += leaves.len();
        leaves
    }
}

impl Reduction for NoOpReduction {
    fn passes(&self) -> &'static [Pass] {
        &[Pass::NoOp]
    }

    fn begin(&mut self, _: &Machine) {
        self.kept = 0;
    }
}
