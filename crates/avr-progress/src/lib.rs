//! Recovery: from every state that is reachable some run comes to a state of a goal.
//!
//! A closed map of invariants (`avr-invariant`) gives the places of the main program with what is known at each. Every run comes to the
//! head of a loop again and again ([`heads`](places)). A proof gives an order to the heads, and to the states of each head a rank: from
//! each state at a head some strategy of the environment and the hardware leads to the goal, or to a head that comes before it in the order,
//! or to one of the same loop with a smaller rank (a ranking function over cut points; `docs/soundness.md`, "Recovery by claims").
//!
//! [`check`] accepts such claims, and [`recovers`] searches for some; [`check_ranks`] accepts ranks that fall on all paths, and
//! [`always_comes`] searches for them. Nothing of the search (`search`) need be trusted.
#![forbid(unsafe_code)]

mod accepted;
mod check;
mod claim;
mod coming;
mod eventualities;
mod everywhere;
mod exits;
pub mod faults;
mod form;
mod limits;
mod obligation;
mod places;
mod possibility;
mod proof;
mod replay;
mod rounds;
mod search;
mod starts;
mod state_formula;
mod target;
#[cfg(test)]
mod tests;
mod trigger;
mod wanted;

pub use accepted::Accepted;
pub use check::{Rejection, check};
pub use claim::{Claims, Location, LoopClaim, Region};
pub use coming::{Coming, ComingProof, InHandler};
pub use eventualities::{
    Awaits, Eventuality, FairInterrupt, Fairness, Passing, RankClaim, Ranks, WaitsFor, check_ranks,
};
pub use everywhere::holds_everywhere;
pub use exits::exit;
pub use form::{Awaited, Form, WithAtoms, awaited};
pub use limits::Limits;
pub use places::Obstacle;
pub use possibility::Possibility;
pub use proof::{Proof, Stuck};
pub use replay::{MOST_STEPS, Replayed, RunError, replayed};
pub use search::{EventualityProof, always_comes, recovers};
pub use state_formula::StateFormula;
pub use target::Target;
pub use trigger::Trigger;
pub use wanted::{Wanted, wanted};
