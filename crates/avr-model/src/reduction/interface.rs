//! The interface of reductions.

use crate::pass::Pass;
use avr_machine::Machine;
use std::fmt;

/// A reduction, as the building of a state space uses it.
pub(crate) trait Reduction: fmt::Debug {
    /// The passes that it stands for in reports.
    fn passes(&self) -> &'static [Pass];

    /// Begins a state space.
    fn begin(&mut self, machine: &Machine);

    /// True if all that it assumes of the present state space is discharged so far.
    fn is_discharged(&self) -> bool {
        true
    }
}
