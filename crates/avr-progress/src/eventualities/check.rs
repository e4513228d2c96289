//! The check of ranks: it repeats the executions and the queries of a proof, and searches for nothing.
//!
//! Of a proof nothing is trusted but what is proved again (`docs/soundness.md`, "The check of ranks").

use super::between::{Begins, Between};
use super::obligation::{ends_well, falls_or_is_quiet, followed};
use super::{Awaits, Eventuality, RankClaim, Ranks, WaitsFor};
use crate::accepted::Accepted;
use crate::check::{Rejection, head, widths};
use crate::claim::Location;
use crate::faults::{Fault, is_on};
use crate::limits::Limits;
use crate::obligation::served;
use crate::places::Places;
use crate::rounds::Start;
use crate::trigger::Trigger;
use avr_invariant::{Entry, Map, Move};
use avr_isa::FlashByteAddress;
use avr_machine::Machine;
use avr_symbolic::{Answer, End, Executor, Graph, PathCondition, SymbolicBit, SymbolicState, power_on, satisfy};
use std::collections::{BTreeMap, BTreeSet};
use three_valued::BitDomain;

/// Accepts ranks if they prove an eventuality.
///
/// The map must have been accepted for the machine, without marks, and the moves be those of its check. The work ends early where it is over.
///
/// # Errors
/// The first reason why they do not.
pub fn check_ranks(
    machine: &Machine,
    (map, moves): (&Map, &BTreeMap<Move, usize>),
    eventuality: &Eventuality<'_>,
    ranks: &Ranks,
    (limits, is_over): (&Limits, &dyn Fn() -> bool),
) -> Result<Accepted, Rejection> {
    let places = Places::new(machine, map, moves).map_err(Rejection::Obstacle)?;
    let entries: usize = (0..places.heads.len()).map(|head| places.entries(head).count()).sum();
    if entries > limits.entries {
        return Err(Rejection::Limit);
    }
    let claims = claims(machine, (&places, eventuality), &ranks.claims)?;
    let mut idle = BTreeMap::new();
    for passing in &ranks.idle {
        let at = head(&places, &passing.head)?;
        if idle.insert(at, heads(&places, &passing.passed)?).is_some() {
            return Err(Rejection::Twice(passing.head.at()));
        }
    }
    let executor = Executor::new(machine, limits.execution);
    let done = Accepted::default();
    let mut work = Work { machine, places: &places, eventuality, executor, claims, idle, limits, is_over, done };
    work.idle_rounds()?;
    let heads: Vec<usize> = work.claims.keys().copied().collect();
    heads.into_iter().try_for_each(|head| work.waiting_rounds(head))?;
    Ok(work.done)
}

/// A claim about a head.
struct Claim<'a> {
    claim: &'a RankClaim,
    passed: BTreeSet<usize>,
    /// The place of the fairness by which the rank may stay.
    fair: Option<usize>,
}

/// Claims by the numbers of their heads.
///
/// SOUND: ranks of a group are tuples of as many numbers, of the same widths, so that their order is well-founded. All of its claims wait
/// for the same event, or rounds in which one of two stays away could follow each other for ever though both come.
fn claims<'a>(
    machine: &Machine,
    (places, eventuality): (&Places<'_>, &Eventuality<'_>),
    claims: &'a [RankClaim],
) -> Result<BTreeMap<usize, Claim<'a>>, Rejection> {
    let mut of_heads = BTreeMap::new();
    let mut groups: BTreeMap<usize, (Vec<usize>, Option<WaitsFor>)> = BTreeMap::new();
    for claim in claims {
        let at = claim.head.at();
        let widths = widths(machine, &claim.rank).ok_or(Rejection::Rank(at))?;
        let (of_group, waits_for) = groups.entry(claim.group).or_insert_with(|| (widths.clone(), claim.waits_for));
        if *of_group != widths {
            return Err(Rejection::Rank(at));
        }
        let place = |event| eventuality.fair.iter().position(|fair| fair.waits_for() == event);
        let fair = claim.waits_for.map(|event| place(event).ok_or(Rejection::Waits(at))).transpose()?;
        if *waits_for != claim.waits_for && !is_on(Fault::WaitsForgotten) {
            return Err(Rejection::Waits(at));
        }
        let passed = heads(places, &claim.passed)?;
        if of_heads.insert(head(places, &claim.head)?, Claim { claim, passed, fair }).is_some() {
            return Err(Rejection::Twice(at));
        }
    }
    Ok(of_heads)
}

/// The numbers of heads.
fn heads(places: &Places<'_>, all: &[Location]) -> Result<BTreeSet<usize>, Rejection> {
    all.iter().map(|one| head(places, one)).collect()
}

/// A check.
struct Work<'a> {
    machine: &'a Machine,
    places: &'a Places<'a>,
    eventuality: &'a Eventuality<'a>,
    executor: Executor<'a>,
    claims: BTreeMap<usize, Claim<'a>>,
    /// The heads that idle rounds from each head pass.
    idle: BTreeMap<usize, BTreeSet<usize>>,
    limits: &'a Limits,
    is_over: &'a dyn Fn() -> bool,
    done: Accepted,
}

impl Work<'_> {
    /// Shows that something is awaited at no heads but those with claims, and in no states but those that they say, and that nothing was
    /// broken before.
    fn idle_rounds(&mut self) -> Result<(), Rejection> {
        let none = BTreeSet::new();
        match self.eventuality.trigger {
            Trigger::Start => return self.begin(Begins::Awaiting),
            Trigger::Everywhere if self.eventuality.holds.is_none() => {
                // SOUND: each run comes to heads, and something is awaited at all of them.
                let missing = (0..self.places.heads.len()).find(|head| !self.claims.contains_key(head));
                let missing = missing.filter(|_| !is_on(Fault::ClaimForgotten));
                return missing.map_or(Ok(()), |head| Err(Rejection::Missing(self.places.location(head).at())));
            }
            Trigger::Everywhere | Trigger::When(_) => {}
        }
        self.begin(Begins::Idle)?;
        let heads = if is_on(Fault::IdleForgotten) { 0 } else { self.places.heads.len() };
        for head in 0..heads {
            let at = self.places.location(head).at();
            let passed = self.idle.get(&head).unwrap_or(&none).clone();
            for entry in self.places.entries(head) {
                let graph = Graph::new(self.limits.nodes);
                self.leads_to_claims(&self.start(entry, &graph), at, (Begins::Idle, &passed))?;
            }
        }
        Ok(())
    }

    /// All paths from power-on to the first heads.
    fn begin(&mut self, begins: Begins) -> Result<(), Rejection> {
        if is_on(Fault::PowerOnForgotten) {
            return Ok(());
        }
        let graph = Graph::new(self.limits.nodes);
        let state = power_on(self.machine, &graph);
        let at = state.control.pc.byte();
        let start = Start { graph: &graph, state, condition: PathCondition::new() };
        self.leads_to_claims(&start, at, (begins, &BTreeSet::new()))
    }

    fn start<'g>(&self, entry: &Entry, graph: &'g Graph) -> Start<'g> {
        Start::of(self.machine, self.places.map(), entry, graph)
    }

    /// Shows that all paths come to heads, to those with claims where something is awaited.
    fn leads_to_claims<'g>(
        &mut self,
        start: &Start<'g>,
        at: FlashByteAddress,
        (begins, passed): (Begins, &BTreeSet<usize>),
    ) -> Result<(), Rejection> {
        let arrives = |to: usize, _: &End<'g>, state: &SymbolicState<'g>| self.may_be_awaited(to, state);
        let unserved = self.unserved(start, (begins, passed), arrives);
        let unserved = self.took(unserved)?;
        self.never(&start.condition.bit().and(&unserved), Rejection::NotAwaited(at))
    }

    /// Shows that all paths from a head at which something is awaited come to that, or make a rank fall.
    fn waiting_rounds(&mut self, number: usize) -> Result<(), Rejection> {
        let places = self.places;
        for entry in places.entries(number) {
            let graph = Graph::new(self.limits.nodes);
            let start = self.start(entry, &graph);
            let of = &self.claims[&number];
            let (at, open) = (of.claim.head.at(), self.eventuality.is_open(of.claim.awaits, &start));
            let unserved = self.waiting_round(of, &start);
            let unserved = self.took(unserved)?;
            self.never(&open.and(&unserved), Rejection::NotShown(at))?;
        }
        Ok(())
    }

    fn waiting_round<'g>(
        &self,
        Claim { claim, passed, fair }: &Claim<'_>,
        start: &Start<'g>,
    ) -> (SymbolicBit<'g>, usize) {
        let arrives = |to: usize, end: &End<'g>, after: &SymbolicState<'g>| {
            let leads_on = match self.claims.get(&to).map(|other| other.claim) {
                Some(other) if other.group < claim.group || is_on(Fault::GroupForgotten) => SymbolicBit::ONE,
                Some(other) if other.group == claim.group => {
                    falls_or_is_quiet((&claim.rank, &start.state), (&other.rank, after), (*fair, end))
                }
                _ => SymbolicBit::ZERO,
            };
            leads_on.and(&self.may_be_awaited(to, after))
        };
        self.unserved(start, (Begins::Awaiting, passed), arrives)
    }

    /// The bit that is 1 if a state at a head is one that a claim says something of.
    fn may_be_awaited<'g>(&self, head: usize, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        let awaits: Option<Awaits> = self.claims.get(&head).map(|of| of.claim.awaits);
        self.eventuality.may_be_awaited(awaits, state)
    }

    /// The bit that is 1 if a path from a start ends otherwise than well, and the steps that it takes to find that.
    fn unserved<'g>(
        &self,
        start: &Start<'g>,
        (begins, passed): (Begins, &BTreeSet<usize>),
        arrives: impl Fn(usize, &End<'g>, &SymbolicState<'g>) -> SymbolicBit<'g>,
    ) -> (SymbolicBit<'g>, usize) {
        let Self { places, eventuality, is_over, .. } = *self;
        let goal = Between { places, eventuality, passed, begins, machine: self.machine, is_over };
        let from = (start.state.clone(), start.condition.clone());
        let round = self.executor.execute(start.graph, from, &followed(), &goal);
        let well = |end: &End<'g>| ends_well((places, begins), end, |to, state| arrives(to, end, state));
        (served(&round, well).not(), round.steps)
    }

    /// Takes note of steps.
    fn took<'g>(&mut self, (bit, steps): (SymbolicBit<'g>, usize)) -> Result<SymbolicBit<'g>, Rejection> {
        self.done.steps += steps;
        let is_over = self.done.steps > self.limits.steps || (self.is_over)();
        if is_over { Err(Rejection::Limit) } else { Ok(bit) }
    }

    /// Shows that a bit is never 1.
    fn never(&mut self, bit: &SymbolicBit<'_>, rejection: Rejection) -> Result<(), Rejection> {
        self.done.queries += 1;
        if self.done.queries > self.limits.queries || (self.is_over)() {
            return Err(Rejection::Limit);
        }
        match satisfy(bit, self.limits.query) {
            Answer::Unsatisfiable => Ok(()),
            Answer::None(_) if is_on(Fault::UnansweredPassed) => Ok(()),
            _ if is_on(Fault::HeadPassed) => Ok(()),
            Answer::Satisfiable(_) | Answer::None(_) => Err(rejection),
        }
    }
}
