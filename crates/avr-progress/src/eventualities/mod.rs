//! Eventualities: on all paths, whatever comes from outside, something comes.
//!
//! All paths from the states of each head are followed to the next heads, with all inputs and all events. A rank falls on each that does
//! not come to what is awaited (`docs/soundness.md`, "Eventualities by ranks").

mod between;
mod solving;

use crate::faults::{Fault, is_on};
use crate::limits::Limits;
use crate::obligation::served;
use crate::places::Places;
use crate::proof::Stuck;
use crate::rounds::{Arrival, BROKEN, Start, arrival};
use crate::search::numbers::Word;
use crate::search::samples::{Part, Sample};
use crate::target::Target;
use crate::trigger::Trigger;
use avr_invariant::{Entry, Map, Move};
use avr_isa::FlashByteAddress;
use avr_machine::{Frame, Machine};
use avr_symbolic::{
    Answer, End, EndKind, Execution, Executor, Graph, PathCondition, Strategy, SymbolicBit, SymbolicState, Term,
    power_on, satisfy,
};
use between::{Begins, Between};
use std::collections::{BTreeMap, BTreeSet};
use three_valued::BitDomain;

/// The claim that on all paths from the states of the trigger something comes: `A[holds U until]`.
#[derive(Clone, Copy)]
pub struct Eventuality<'a> {
    /// The states from which it is awaited.
    pub trigger: Trigger<'a>,
    /// The states in which paths are until it comes, if they are to be in such.
    pub holds: Option<&'a dyn Target>,
    /// The states that are awaited.
    pub until: &'a dyn Target,
    /// The interrupts of which fairness is assumed.
    pub fair: &'a [FairInterrupt<'a>],
}

/// An interrupt that comes again and again if it is enabled from some time on, and interrupts are let in again and again.
#[derive(Clone, Copy)]
pub struct FairInterrupt<'a> {
    /// The number of its vector.
    pub number: u8,
    /// The states in which it is enabled.
    pub enabled: &'a dyn Target,
}

/// A proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventualityProof {
    /// The claims about the heads at which something is awaited, in the order in which they were proved: they rest on those before them
    /// only, and on those of the same group.
    pub claims: Vec<RankClaim>,
    /// Steps on symbolic bits.
    pub steps: usize,
    /// Queries.
    pub queries: usize,
}

/// A claim about a head: each path from it comes to what is awaited, to a head of an earlier claim, or to a head of the same group with a
/// smaller rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankClaim {
    /// The place of the head.
    pub at: FlashByteAddress,
    /// The return addresses on the stack, the oldest first.
    pub frames: Vec<Frame>,
    /// The number of the group.
    pub group: usize,
    /// The numbers of the rank, in lexicographic order. Places are constants.
    pub rank: Vec<Term>,
    /// The interrupt without which the rank may stay.
    pub waits_for: Option<u8>,
}

/// Proves an eventuality.
///
/// The map must have been accepted for the machine, without marks, and the moves be those of its check. The work ends early where it is over.
///
/// # Errors
/// The reason why no proof was found.
pub fn always_comes(
    machine: &Machine,
    (map, moves): (&Map, &BTreeMap<Move, usize>),
    eventuality: &Eventuality<'_>,
    (limits, is_over): (&Limits, &dyn Fn() -> bool),
) -> Result<EventualityProof, Stuck> {
    let places = Places::new(machine, map, moves).map_err(Stuck::Obstacle)?;
    let count: usize = (0..places.heads.len()).map(|head| places.entries(head).count()).sum();
    if count > limits.entries {
        return Err(Stuck::Limit);
    }
    let graphs: Vec<Graph> = (0..count).map(|_| Graph::new(limits.nodes)).collect();
    let mut graphs = graphs.iter();
    let heads = (0..places.heads.len()).map(|head| Head {
        starts: places
            .entries(head)
            .filter_map(|entry| Some((entry, Start::of(machine, map, entry, graphs.next()?))))
            .map(|(entry, start)| OfStart { entry, start, rounds: Vec::new(), samples: Vec::new() })
            .collect(),
        awaited: None,
        passed: BTreeMap::new(),
        solved: false,
    });
    let heads = heads.collect();
    let executor = Executor::new(machine, limits.execution);
    let mut search = Search {
        machine,
        places: &places,
        eventuality,
        executor,
        limits,
        is_over,
        heads,
        claims: Vec::new(),
        looks: 0,
        steps: 0,
        queries: 0,
    };
    search.await_at_heads()?;
    search.solve_all()?;
    Ok(EventualityProof { claims: search.claims, steps: search.steps, queries: search.queries })
}

/// An entry at a head.
struct OfStart<'a, 'g> {
    entry: &'a Entry,
    start: Start<'g>,
    /// The paths from it while something is awaited, once they are found.
    rounds: Vec<Execution<'g>>,
    /// States that refuted earlier claims.
    samples: Vec<Sample<'g>>,
}

/// The states at a head in which something may be awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    /// Those that trigger it.
    Triggering,
    /// All.
    Any,
}

struct Head<'a, 'g> {
    starts: Vec<OfStart<'a, 'g>>,
    /// The states in which something may be awaited, if there are any.
    awaited: Option<Awaited>,
    /// The heads that rounds pass, by how these begin, once they are found: those of loops that end by themselves.
    passed: BTreeMap<Begins, BTreeSet<usize>>,
    solved: bool,
}

/// A claim that each path from some heads comes to what is awaited, to a head that is solved, or to one of these with a smaller rank.
struct Claim<'c> {
    heads: &'c [usize],
    rank: &'c [Part],
    words: &'c [Word],
    /// The number of the fair interrupt without which the rank may stay.
    fair: Option<usize>,
}

struct Search<'a, 'g> {
    machine: &'a Machine,
    places: &'a Places<'a>,
    eventuality: &'a Eventuality<'a>,
    executor: Executor<'a>,
    limits: &'a Limits,
    is_over: &'a dyn Fn() -> bool,
    heads: Vec<Head<'a, 'g>>,
    claims: Vec<RankClaim>,
    looks: usize,
    steps: usize,
    queries: usize,
}

impl<'g> Search<'_, 'g> {
    /// Finds the heads at which something may be awaited: on paths that begin with nothing awaited, and on those from such heads.
    fn await_at_heads(&mut self) -> Result<(), Stuck> {
        match self.eventuality.trigger {
            Trigger::Start => self.begin(Begins::Awaiting)?,
            Trigger::Everywhere if self.eventuality.holds.is_none() => {
                // SOUND: each path comes to heads.
                self.heads.iter_mut().for_each(|head| head.awaited = Some(Awaited::Any));
                return Ok(());
            }
            Trigger::Everywhere | Trigger::When(_) => {
                self.begin(Begins::Idle)?;
                for head in 0..self.heads.len() {
                    self.begin_at(head)?;
                }
            }
        }
        let mut waiting: Vec<usize> =
            (0..self.heads.len()).filter(|head| self.heads[*head].awaited.is_some()).collect();
        while let Some(head) = waiting.pop() {
            self.take_rounds(head)?;
            for start in 0..self.heads[head].starts.len() {
                let of = &self.heads[head].starts[start];
                let begins = self.first(head, &of.start);
                let arrivals = arrivals(self.places, &of.rounds[0], &begins);
                waiting.extend(self.note(arrivals)?);
            }
        }
        Ok(())
    }

    /// Follows all paths from power-on to the first heads.
    fn begin(&mut self, begins: Begins) -> Result<(), Stuck> {
        let graph = Graph::new(self.limits.nodes);
        let state = power_on(self.machine, &graph);
        let at = state.control.pc.byte();
        let start = Start { graph: &graph, state, condition: PathCondition::new() };
        if is_on(Fault::PowerOnForgotten) {
            return Ok(());
        }
        self.leads_to_heads(&start, at, (begins, &BTreeSet::new()))
    }

    /// Follows all paths from a head at which nothing is awaited.
    fn begin_at(&mut self, head: usize) -> Result<(), Stuck> {
        let at = self.places.location(head).at();
        let passed = self.passed(head, Begins::Idle)?;
        for start in 0..self.heads[head].starts.len() {
            let graph = Graph::new(self.limits.nodes);
            let entry = self.heads[head].starts[start].entry;
            let start = Start::of(self.machine, self.places.map(), entry, &graph);
            self.leads_to_heads(&start, at, (Begins::Idle, &passed))?;
        }
        Ok(())
    }

    /// Takes note of the heads at which something is awaited on paths from a state, and sees to it that all paths come to heads.
    fn leads_to_heads<'h>(
        &mut self,
        start: &Start<'h>,
        at: FlashByteAddress,
        (begins, passed): (Begins, &BTreeSet<usize>),
    ) -> Result<(), Stuck> {
        let round = self.executor.execute(
            start.graph,
            (start.state.clone(), start.condition.clone()),
            &followed(),
            &self.between(begins, passed),
        );
        self.took(round.steps)?;
        _ = self.note(arrivals(self.places, &round, &SymbolicBit::ONE))?;
        let well = |end: &End<'h>| ends_well((self.places, begins), end, |to, state| self.may_be_awaited(to, state));
        let served = served(&round, well);
        let unserved = start.condition.bit().and(&served.not());
        self.asks()?;
        match satisfy(&unserved, self.limits.query) {
            Answer::Unsatisfiable => Ok(()),
            Answer::Satisfiable(_) | Answer::None(_) => Err(Stuck::Loop(at)),
        }
    }

    /// Takes note of heads at which something is awaited in these states; gives those of which that was not known.
    fn note(&mut self, arrivals: Vec<OfArrival<'_>>) -> Result<Vec<usize>, Stuck> {
        let mut more = Vec::new();
        if is_on(Fault::AwaitedForgotten) {
            return Ok(more);
        }
        for OfArrival { head, awaited, state } in arrivals {
            let triggers = self.eventuality.trigger.surely(&state);
            let before = self.heads[head].awaited;
            if before == Some(Awaited::Any) || self.is_never(&awaited)? {
                continue;
            }
            let is_triggering = self.is_never(&awaited.and(&triggers.not()))?;
            let after = if is_triggering { Awaited::Triggering } else { Awaited::Any };
            if before != Some(after) {
                self.heads[head].awaited = Some(after);
                more.push(head);
            }
        }
        Ok(more)
    }

    /// The bit that is 1 if a state at a head is one in which something may be awaited.
    fn may_be_awaited<'h>(&self, head: usize, state: &SymbolicState<'h>) -> SymbolicBit<'h> {
        match self.heads[head].awaited {
            None if is_on(Fault::AwaitedForgotten) => SymbolicBit::ONE,
            None => SymbolicBit::ZERO,
            Some(Awaited::Any) => SymbolicBit::ONE,
            Some(Awaited::Triggering) => self.eventuality.trigger.surely(state),
        }
    }

    /// The bit that is 1 if a state at a head is one that is looked at: something may be awaited in it, and has not come.
    fn first(&self, head: usize, start: &Start<'g>) -> SymbolicBit<'g> {
        let open = self.eventuality.until.bit(&start.state).not();
        let may_trigger = match (self.heads[head].awaited, self.eventuality.trigger) {
            (Some(Awaited::Triggering), Trigger::When(states)) => states.outside(&start.state).not(),
            _ => SymbolicBit::ONE,
        };
        start.condition.bit().and(&open).and(&may_trigger)
    }

    /// True if a bit is never 1.
    fn is_never(&mut self, bit: &SymbolicBit<'_>) -> Result<bool, Stuck> {
        self.asks()?;
        Ok(satisfy(bit, self.limits.query) == Answer::Unsatisfiable)
    }

    fn asks(&mut self) -> Result<(), Stuck> {
        self.queries += 1;
        let is_over = self.queries > self.limits.queries || (self.is_over)();
        if is_over { Err(Stuck::Limit) } else { Ok(()) }
    }

    fn took(&mut self, steps: usize) -> Result<(), Stuck> {
        self.steps += steps;
        let is_over = self.steps > self.limits.steps || (self.is_over)();
        if is_over { Err(Stuck::Limit) } else { Ok(()) }
    }

    fn between<'b>(&'b self, begins: Begins, passed: &'b BTreeSet<usize>) -> Between<'b> {
        let (places, eventuality, is_over) = (self.places, self.eventuality, self.is_over);
        Between { places, eventuality, passed, begins, status: self.machine.status_address(), is_over }
    }

    /// The heads that rounds from a head pass: those whose loops come to an end in few steps.
    fn passed(&mut self, head: usize, begins: Begins) -> Result<BTreeSet<usize>, Stuck> {
        if let Some(passed) = self.heads[head].passed.get(&begins) {
            return Ok(passed.clone());
        }
        let few = Executor::new(self.machine, self.limits.passed);
        let mut passed = BTreeSet::new();
        for inner in self.places.inner(head) {
            passed.insert(inner);
            let (mut ends, mut steps) = (true, 0);
            for of in &self.heads[head].starts {
                // Trials are no part of the graph in which claims are made.
                let graph = Graph::new(self.limits.nodes);
                let start = Start::of(self.machine, self.places.map(), of.entry, &graph);
                let goal = self.between(begins, &passed);
                let round = few.execute(&graph, (start.state, start.condition), &followed(), &goal);
                steps += round.steps;
                ends &= round.ends.iter().all(|end| !matches!(end.kind, EndKind::Cannot(_)));
            }
            if !ends {
                passed.remove(&inner);
            }
            self.took(steps)?;
        }
        self.heads[head].passed.insert(begins, passed.clone());
        Ok(passed)
    }

    /// Takes the rounds of a head.
    fn take_rounds(&mut self, head: usize) -> Result<(), Stuck> {
        let passed = self.passed(head, Begins::Awaiting)?;
        for number in 0..self.heads[head].starts.len() {
            let of = &self.heads[head].starts[number];
            if !of.rounds.is_empty() {
                continue;
            }
            let goal = self.between(Begins::Awaiting, &passed);
            let from = (of.start.state.clone(), of.start.condition.clone());
            let round = self.executor.execute(of.start.graph, from, &followed(), &goal);
            let steps = round.steps;
            self.heads[head].starts[number].rounds.push(round);
            self.took(steps)?;
        }
        Ok(())
    }
}

/// The strategy of paths that follow all that is possible.
fn followed() -> Strategy {
    if is_on(Fault::InterruptsForgotten) { Strategy::entering(&[]) } else { Strategy::anything() }
}

/// The end of paths at a head at which something may be awaited.
struct OfArrival<'g> {
    head: usize,
    /// The bit that is 1 if a path ends there and something is awaited.
    awaited: SymbolicBit<'g>,
    state: SymbolicState<'g>,
}

/// The ends at heads of the paths of a round for which a bit is 1.
fn arrivals<'g>(places: &Places<'_>, round: &Execution<'g>, begins: &SymbolicBit<'g>) -> Vec<OfArrival<'g>> {
    let of_end = |end: &End<'g>| match arrival(places, end) {
        Arrival::Head(head, state) => {
            let awaited = end.condition.bit().and(&end.kept).and(begins);
            Some(OfArrival { head, awaited, state: state.clone() })
        }
        Arrival::Elsewhere => None,
    };
    round.ends.iter().filter_map(of_end).collect()
}

/// The bit that is 1 if an end of paths is a good one: nothing was broken, and nothing is awaited, or an arrival at a head does.
fn ends_well<'g>(
    (places, begins): (&Places<'_>, Begins),
    end: &End<'g>,
    arrives: impl Fn(usize, &SymbolicState<'g>) -> SymbolicBit<'g>,
) -> SymbolicBit<'g> {
    let comes = match arrival(places, end) {
        _ if is_on(Fault::ElsewherePassed) => SymbolicBit::ONE,
        Arrival::Head(to, state) => end.kept.not().or(&arrives(to, state)),
        Arrival::Elsewhere if begins == Begins::Awaiting => end.kept.not(),
        // SOUND: behind such an end something may be awaited that is not yet.
        Arrival::Elsewhere => SymbolicBit::ZERO,
    };
    comes.and(&end.history[BROKEN].not())
}
