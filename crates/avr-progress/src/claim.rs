//! Claims about the heads of loops.

use avr_isa::{FlashByteAddress, FlashWordAddress};
use avr_machine::Frame;
use avr_symbolic::{Rounds, Term};

/// A claim about a head: from each of its states one of the strategies leads to the target, to a head of a group with a smaller number, or
/// to a head of the same group with a smaller rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopClaim {
    /// The head.
    pub head: Location,
    /// Other heads that rounds pass: those of loops that end by themselves.
    pub passed: Vec<Location>,
    /// The number of the group.
    pub group: usize,
    /// The numbers of the rank, in lexicographic order. Places are constants.
    pub rank: Vec<Term>,
    /// The strategies.
    pub rounds: Vec<Rounds>,
}

/// A place of the main program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The program counter.
    pub pc: FlashWordAddress,
    /// The return addresses on the stack, the oldest first.
    pub frames: Vec<Frame>,
}

impl Location {
    /// The program counter as a byte address.
    #[must_use]
    pub fn at(&self) -> FlashByteAddress {
        self.pc.byte()
    }
}
