//! Static analysis that finds nothing out.

use avr_isa::FlashWordAddress;
use avr_machine::Program;

/// The facts before each instruction: none.
#[derive(Debug)]
pub struct NoOpAnalysis {
    known: Vec<bool>,
}

impl NoOpAnalysis {
    /// Analyses a program.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        Self { known: vec![false; program.words() as usize] }
    }

    /// True if something is known before the instruction at a flash word address.
    #[must_use]
    pub fn is_known(&self, pc: FlashWordAddress) -> bool {
        self.known.get(pc.0 as usize).copied().unwrap_or(false)
    }
}
