//! The file format of certificates.
//!
//! A certificate holds what a proof about firmware consists of: the firmware, device and properties that it speaks of,
//! and abstract states with their hyper-edges and labels. For each decided property it has the strategy of the player
//! who wins its game, says that a map of invariants of the whole program shows it, has claims about the loops
//! of the map, or has a run into a closed set with a map of its own. [`Certificate::write`] and [`Certificate::read`] are streams: compressed, the same bytes for the
//! same content.
//!
//! [`read`](Certificate::read) takes any bytes. It gives a certificate in which every number refers to something, or an
//! error, and takes no more memory than allowed. Whether the certificate proves what it claims is the business of a checker.
#![forbid(unsafe_code)]

mod content;
mod error;
mod map;
mod read;
mod source;
mod symbolic;
#[cfg(test)]
mod tests;
mod write;

pub use content::{
    Advice, BLOCK_PAGES, Basis, Block, Certificate, Claim, Decided, Depth, Edges, Header, Labels, Link, Page,
    PredicateLiteral, PredicateTerms, Proof, Running, Seen, Space, Stack, State, Store, Strategy, Upper, Vacuous,
    Verdict,
};
pub use error::{ReadError, ReadErrorKind};
pub use map::{ClosedSet, Entry, Equal, Exit, Handler, Invariant, LinearEquation, MAP_BLOCK_PAGES, Map, NumberRange};
pub use read::DEFAULT_MEMORY;
pub use symbolic::{
    Coming, Head, LoopClaim, Loops, Passing, RankClaim, Ranks, Rounds, Symbolic, SymbolicProof, Term, WaitsFor,
};
