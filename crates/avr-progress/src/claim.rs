//! Claims about the heads of loops.

use avr_isa::{FlashByteAddress, FlashWordAddress};
use avr_machine::Frame;
use avr_symbolic::{Rounds, Term};

/// The claims by which a possibility is proved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// The strategies that lead from the states of the trigger to heads. None are needed where each head has a claim about all of its states.
    pub first: Vec<Rounds>,
    /// The claims about heads.
    pub loops: Vec<LoopClaim>,
}

/// A claim about a head: from each state of a region one of the strategies leads to what is to be reached, to the region of a head of a group
/// with a smaller number, or to that of a head of the same group with a smaller rank; through states in which holds what is to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopClaim {
    /// The head.
    pub head: Location,
    /// The states of which it speaks.
    pub region: Region,
    /// Other heads that rounds pass: those of loops that end by themselves.
    pub passed: Vec<Location>,
    /// The number of the group.
    pub group: usize,
    /// The numbers of the rank, in lexicographic order. Places are constants.
    pub rank: Vec<Term>,
    /// The strategies.
    pub rounds: Vec<Rounds>,
}

/// The states of a head of which a claim speaks: those in which holds what is to hold until then, or some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// All of them.
    All,
    /// Those of the trigger.
    Triggering,
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
