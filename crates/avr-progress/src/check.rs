//! The check of claims: it repeats the executions and the queries of a proof, and searches for nothing.
//!
//! Of a proof nothing is trusted but what is proved again (`docs/soundness.md`, "Recovery by claims").

use crate::accepted::Accepted;
use crate::claim::{Claims, Location, LoopClaim, Region};
use crate::faults::{Fault, is_on};
use crate::limits::Limits;
use crate::obligation::{ends_well, falls, must_be_served, unserved};
use crate::places::{Obstacle, Places};
use crate::possibility::Possibility;
use crate::rounds::{AtTriggers, Route, Start};
use crate::starts::{Done, Starts, Unshown};
use crate::trigger::Trigger;
use avr_invariant::{Map, Move};
use avr_isa::{DataAddress, FlashByteAddress};
use avr_machine::Machine;
use avr_symbolic::{Answer, Execution, Executor, Graph, Rounds, SymbolicBit, SymbolicState, Term, satisfy};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;
use three_valued::BitDomain;

/// The reason why claims are not accepted. It says nothing of the property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Rejection {
    /// The map does not say enough.
    #[error("{0}")]
    Obstacle(Obstacle),
    /// A claim speaks of a place that is no head.
    #[error("there is no head of a loop at {0}")]
    NoHead(FlashByteAddress),
    /// There are two claims about a head.
    #[error("there are two claims about the loop at {0}")]
    Twice(FlashByteAddress),
    /// There is no claim about a head.
    #[error("there is no claim about the loop at {0}")]
    Missing(FlashByteAddress),
    /// A rank is none, or another one than that of its group.
    #[error("the rank of the loop at {0} is not one of its group")]
    Rank(FlashByteAddress),
    /// The query of a claim has a model, or no answer.
    #[error("it is not shown that the loop at {0} is left")]
    NotShown(FlashByteAddress),
    /// From some state behind this place no strategy is shown to lead on.
    #[error("it is not shown that all states behind {0} lead to a claim")]
    NotLed(FlashByteAddress),
    /// The loops of a group wait for different interrupts, or for one of which no fairness is assumed.
    #[error(
        "the interrupt that the loop at {0} waits for is not that of its group, or none of which fairness is assumed"
    )]
    Waits(FlashByteAddress),
    /// Something may be awaited at a head without a claim, or in a state that its claim leaves out, or paths to it are not as they are to be.
    #[error("it is not shown that paths from {0} lead to loops with claims")]
    NotAwaited(FlashByteAddress),
    /// The proof has not as many parts as the property.
    #[error("there are not as many proofs as the property has parts")]
    Parts,
    /// A limit is reached.
    #[error("a limit on claims is reached")]
    Limit,
}

/// The most numbers of a rank.
const MOST_NUMBERS: usize = 16;

/// Accepts claims if they prove that what is said to be possible is.
///
/// The map must have been accepted for the machine, without marks, and the moves be those of its check. The work ends early where it is over.
///
/// # Errors
/// The first reason why they do not.
pub fn check(
    machine: &Machine,
    (map, moves): (&Map, &BTreeMap<Move, usize>),
    possibility: &Possibility<'_>,
    claims: &Claims,
    (limits, is_over): (&Limits, &dyn Fn() -> bool),
) -> Result<Accepted, Rejection> {
    let places = Places::new(machine, map, moves).map_err(Rejection::Obstacle)?;
    let first = &claims.first;
    let claims = OfHeads::new(machine, &places, possibility, &claims.loops)?;
    let heads = 0..places.heads.len();
    if heads.map(|head| places.entries(head).count()).sum::<usize>() > limits.entries {
        return Err(Rejection::Limit);
    }
    let executor = Executor::new(machine, limits.execution);
    let mut work =
        Work { machine, places: &places, possibility, executor, claims, limits, is_over, done: Accepted::default() };
    let heads: Vec<usize> = work.claims.of_heads.keys().copied().collect();
    heads.into_iter().try_for_each(|head| work.check(head))?;
    if !work.claims.are_of_all(&places, possibility) {
        work.check_starts(first)?;
    }
    Ok(work.done)
}

/// Claims by the numbers of their heads.
struct OfHeads<'a> {
    of_heads: BTreeMap<usize, &'a LoopClaim>,
}

impl<'a> OfHeads<'a> {
    /// One claim about each head at most.
    fn new(
        machine: &Machine,
        places: &Places<'_>,
        possibility: &Possibility<'_>,
        claims: &'a [LoopClaim],
    ) -> Result<Self, Rejection> {
        let mut of_heads = BTreeMap::new();
        for claim in claims {
            let head = head(places, &claim.head)?;
            if of_heads.insert(head, claim).is_some() {
                return Err(Rejection::Twice(claim.head.at()));
            }
        }
        // SOUND: a run from any state may come to any head.
        let is_of_all = matches!((possibility.trigger, possibility.holds), (Trigger::Everywhere, None));
        let missing = (0..places.heads.len()).find(|head| is_of_all && !of_heads.contains_key(head));
        if let Some(missing) = missing.filter(|_| !is_on(Fault::ClaimForgotten)) {
            return Err(Rejection::Missing(places.location(missing).at()));
        }
        let claims = Self { of_heads };
        claims.check_ranks(machine)?;
        Ok(claims)
    }

    /// True if there is a claim about all states of each head: then it does not matter where a run begins.
    ///
    /// SOUND: a run comes to a head from every state. If something is to hold until then, it must be looked at on the way.
    fn are_of_all(&self, places: &Places<'_>, possibility: &Possibility<'_>) -> bool {
        let is_of_all = |head: usize| {
            let claim = self.of_heads.get(&head);
            claim.is_some_and(|claim| claim.region == Region::All) || is_on(Fault::ClaimForgotten)
        };
        possibility.holds.is_none() && (0..places.heads.len()).all(is_of_all)
    }

    /// Checks that the ranks of a group are tuples of as many numbers, of the same widths.
    ///
    /// SOUND: the order of such tuples is well-founded.
    fn check_ranks(&self, machine: &Machine) -> Result<(), Rejection> {
        let mut widths: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for claim in self.of_heads.values() {
            let rank = || Rejection::Rank(claim.head.at());
            let own = self::widths(machine, &claim.rank).ok_or_else(rank)?;
            if *widths.entry(claim.group).or_insert_with(|| own.clone()) != own {
                return Err(rank());
            }
        }
        Ok(())
    }
}

/// The widths of the numbers of a rank, if it is one.
pub(crate) fn widths(machine: &Machine, rank: &[Term]) -> Option<Vec<usize>> {
    let exists = |cell: &DataAddress| cell.index() < machine.cells();
    let is_rank = rank.len() <= MOST_NUMBERS && rank.iter().all(|term| term.cells().iter().all(exists));
    if is_rank { rank.iter().map(Term::width).collect() } else { None }
}

/// The number of the head at a place.
pub(crate) fn head(places: &Places<'_>, at: &Location) -> Result<usize, Rejection> {
    places.head(at).ok_or(Rejection::NoHead(at.at()))
}

/// A check.
struct Work<'a> {
    machine: &'a Machine,
    places: &'a Places<'a>,
    possibility: &'a Possibility<'a>,
    executor: Executor<'a>,
    claims: OfHeads<'a>,
    limits: &'a Limits,
    is_over: &'a dyn Fn() -> bool,
    done: Accepted,
}

impl Work<'_> {
    /// Checks the claim about a head for each entry of the map.
    fn check(&mut self, number: usize) -> Result<(), Rejection> {
        let claim = self.claims.of_heads[&number];
        let passed: Result<BTreeSet<usize>, Rejection> =
            claim.passed.iter().map(|passed| head(self.places, passed)).collect();
        let passed = passed?;
        let places = self.places;
        places.entries(number).try_for_each(|entry| {
            let graph = Graph::new(self.limits.nodes);
            let start = Start::of(self.machine, places.map(), entry, &graph);
            let rounds = self.rounds(
                claim,
                &start,
                Route { head: Some(number), passed: &passed, at_triggers: AtTriggers::Never },
            )?;
            self.show(claim, &start, &rounds)
        })
    }

    /// A round for each strategy of a claim.
    fn rounds<'g>(
        &mut self,
        claim: &LoopClaim,
        start: &Start<'g>,
        route: Route<'_>,
    ) -> Result<Vec<Execution<'g>>, Rejection> {
        let mut all = Vec::new();
        for rounds in &claim.rounds {
            let round = start.round(&self.executor, (route, rounds), (self.places, self.possibility), self.is_over);
            self.done.steps += round.steps;
            self.done.freedom = self.done.freedom.union(round.freedom());
            if self.done.steps > self.limits.steps || (self.is_over)() {
                return Err(Rejection::Limit);
            }
            all.push(round);
        }
        Ok(all)
    }

    /// Shows that one of the rounds of a claim serves each state of a start.
    fn show<'g>(&mut self, claim: &LoopClaim, start: &Start<'g>, rounds: &[Execution<'g>]) -> Result<(), Rejection> {
        let serves = |to: usize, after: &SymbolicState<'g>| {
            let Some(other) = self.claims.of_heads.get(&to) else { return SymbolicBit::ZERO };
            let is_smaller = match () {
                () if other.group < claim.group || is_on(Fault::GroupForgotten) => SymbolicBit::ONE,
                () if other.group == claim.group => falls((&claim.rank, &start.state), (&other.rank, after)),
                () => SymbolicBit::ZERO,
            };
            is_smaller.and(&self.possibility.surely_in(other.region, after))
        };
        let states = must_be_served(self.possibility, start, claim.region);
        let unserved = unserved(states, rounds.iter(), &|end| ends_well(self.places, end, &serves));
        self.done.queries += 1;
        if self.done.queries > self.limits.queries || (self.is_over)() {
            return Err(Rejection::Limit);
        }
        match satisfy(&unserved, self.limits.query) {
            Answer::Unsatisfiable => Ok(()),
            Answer::None(_) if is_on(Fault::UnansweredPassed) => Ok(()),
            _ if is_on(Fault::HeadPassed) => Ok(()),
            Answer::Satisfiable(_) | Answer::None(_) => Err(Rejection::NotShown(claim.head.at())),
        }
    }

    /// Checks that the first strategies lead from the states of the trigger to claims.
    fn check_starts(&mut self, first: &[Rounds]) -> Result<(), Rejection> {
        let regions = self.claims.of_heads.iter().map(|(head, claim)| (*head, claim.region)).collect();
        let Self { machine, places, possibility, executor, limits, is_over, .. } = self;
        let starts = Starts { machine, places, possibility, executor, regions: &regions, limits, is_over };
        let mut done = Done { accepted: self.done, ..Done::default() };
        let shown = starts.show(first, &mut done);
        self.done = done.accepted;
        shown.map_err(|unshown| match unshown {
            Unshown::Behind(at) => Rejection::NotLed(at),
            Unshown::Limit => Rejection::Limit,
        })
    }
}
