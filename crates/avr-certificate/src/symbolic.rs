//! Proofs by symbolic execution between the heads of the loops of a map. They are short: whoever checks them repeats the executions.

use avr_isa::{DataAddress, FlashWordAddress};
use three_valued::TvByte;

/// A proof by symbolic execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbolic {
    /// The proof.
    pub proof: SymbolicProof,
    /// A part of the formula that does not matter, by its number among the strengthenings: these are true in every state of the map.
    pub vacuous: Option<u32>,
}

/// The proof of a property by symbolic execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SymbolicProof {
    /// It is `AG p`, and p is true on all paths between heads.
    Everywhere,
    /// The claims for each formula that must be possible to reach.
    Loops(Vec<Loops>),
    /// Ranks that fall on all paths.
    Ranks(Coming),
}

/// A proof that something comes on all paths, or on those that are fair to interrupts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coming {
    /// One for each part of the property.
    pub parts: Vec<Ranks>,
    /// For each fair interrupt the claims that its handler can be entered again and again.
    pub fair: Vec<Loops>,
}

/// The claims about heads at which something is awaited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranks {
    /// The heads that rounds pass which begin with nothing awaited.
    pub idle: Vec<Passing>,
    /// The claims.
    pub claims: Vec<RankClaim>,
}

/// A head, and others that rounds from it pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passing {
    /// The head.
    pub head: Head,
    /// The others.
    pub passed: Vec<Head>,
}

/// A claim about a head: each path from it, while something is awaited, comes to that, to a head of a group with a smaller number, or to a
/// head of the same group with a smaller rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankClaim {
    /// The head.
    pub head: Head,
    /// True if something may be awaited only in states at the head that trigger it.
    pub is_triggering: bool,
    /// Other heads that rounds pass.
    pub passed: Vec<Head>,
    /// The number of the group.
    pub group: u32,
    /// The numbers of the rank, in lexicographic order.
    pub rank: Vec<Term>,
    /// The event without which the rank may stay.
    pub waits_for: Option<WaitsFor>,
}

/// An event without which a rank may stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    /// An interrupt by the number of its vector, of which fairness is assumed.
    Interrupt(u8),
    /// An event that the data sheet promises, by its place among the promises of the device.
    Promised(u8),
}

/// The claims by which something is possible.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loops {
    /// The strategies that lead from the states of which the formula speaks to heads.
    pub first: Vec<Rounds>,
    /// The claims about heads.
    pub claims: Vec<LoopClaim>,
}

/// A claim about a head: from each state of which it speaks one of the strategies leads to the goal, to a head of a group with a smaller
/// number, or to a head of the same group with a smaller rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopClaim {
    /// The head.
    pub head: Head,
    /// True if it speaks only of states in which the condition of the formula is true.
    pub is_conditional: bool,
    /// Other heads that the strategies pass.
    pub passed: Vec<Head>,
    /// The number of the group.
    pub group: u32,
    /// The numbers of the rank, in lexicographic order.
    pub rank: Vec<Term>,
    /// The strategies.
    pub rounds: Vec<Rounds>,
}

/// The head of a loop of the main program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The program counter.
    pub pc: FlashWordAddress,
    /// The call string, by its number in the map.
    pub calls: u32,
}

/// An unsigned number of a fixed width that is computed from cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// The content of cells, the least significant first.
    Cells(Vec<DataAddress>),
    /// A number and its width in bytes.
    Constant(u64, u8),
    /// The first minus the second.
    Difference(Box<Term>, Box<Term>),
}

/// The choices of the environment and the hardware in some rounds of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// The number of rounds, at least 1.
    pub count: u32,
    /// The interrupts that come, in this order; none if everything that is possible happens.
    pub interrupts: Option<Vec<u8>>,
    /// The levels of inputs that are held, by rising address of their register.
    pub held: Vec<(DataAddress, TvByte)>,
    /// The inputs of the steps that ask for them, one after the other, by rising address of their register.
    pub sequences: Vec<(DataAddress, Vec<u8>)>,
}
