//! The search for ranks that fall on all paths. Nothing of it need be trusted: what it finds is checked.

mod solving;

use super::numbers::Word;
use super::samples::{Part, Sample};
use crate::eventualities::{
    Awaits, Begins, Between, Eventuality, OfArrival, Passing, RankClaim, Ranks, arrivals, check_ranks, ends_well,
    followed,
};
use crate::faults::{Fault, is_on};
use crate::limits::Limits;
use crate::obligation::served;
use crate::places::Places;
use crate::proof::Stuck;
use crate::rounds::Start;
use crate::trigger::Trigger;
use avr_invariant::{Entry, Map, Move};
use avr_isa::FlashByteAddress;
use avr_machine::Machine;
use avr_symbolic::{
    Answer, End, EndKind, Execution, Executor, Graph, PathCondition, SymbolicBit, SymbolicState, power_on, satisfy,
};
use std::collections::{BTreeMap, BTreeSet};
use three_valued::BitDomain;

/// A proof that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventualityProof {
    /// The claims.
    pub ranks: Ranks,
    /// Steps on symbolic bits, of the search.
    pub steps: usize,
    /// Queries of the search.
    pub queries: usize,
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
    let of = (machine, (map, moves), eventuality);
    // A claim that the solver does not refute soon is mostly true, and the check proves it anyway.
    match search(of, (limits, is_over), Doubt::Trusted) {
        (Err(_), true) => search(of, (limits, is_over), Doubt::Asked).0,
        (result, _) => result,
    }
}

/// The treatment of a claim on which the solver has no early answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Doubt {
    /// The claim is taken for proved.
    Trusted,
    /// The solver goes on up to its limit.
    Asked,
}

/// The eventuality, and what it is one of.
type Of<'a> = (&'a Machine, (&'a Map, &'a BTreeMap<Move, usize>), &'a Eventuality<'a>);

/// A proof, and whether a claim was trusted.
fn search(
    (machine, (map, moves), eventuality): Of<'_>,
    (limits, is_over): (&Limits, &dyn Fn() -> bool),
    doubt: Doubt,
) -> (Result<EventualityProof, Stuck>, bool) {
    let mut is_trusted = false;
    let proof = searched((machine, (map, moves), eventuality), (limits, is_over), (doubt, &mut is_trusted));
    (proof, is_trusted)
}

fn searched(
    (machine, (map, moves), eventuality): Of<'_>,
    (limits, is_over): (&Limits, &dyn Fn() -> bool),
    (doubt, is_trusted): (Doubt, &mut bool),
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
        doubt,
        is_trusted: false,
    };
    let found = search.await_at_heads().and_then(|()| search.solve_all());
    *is_trusted = search.is_trusted;
    found?;
    let idle = search.idle();
    let Search { claims, steps, queries, .. } = search;
    let ranks = Ranks { idle, claims };
    // SOUND: nothing is proved but what the check accepts.
    let accepted = check_ranks(machine, (map, moves), eventuality, &ranks, (limits, is_over));
    accepted.map(|_| EventualityProof { ranks, steps, queries }).map_err(Stuck::Rejected)
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

struct Head<'a, 'g> {
    starts: Vec<OfStart<'a, 'g>>,
    /// The states in which something may be awaited, if there are any.
    awaited: Option<Awaits>,
    /// The heads that rounds pass, by how these begin, once they are found: those of loops that end by themselves.
    passed: BTreeMap<Begins, BTreeSet<usize>>,
    solved: bool,
}

/// A claim that each path from some heads comes to what is awaited, to a head that is solved, or to one of these with a smaller rank.
struct Claim<'c> {
    heads: &'c [usize],
    rank: &'c [Part],
    words: &'c [Word],
    /// The place of the fairness by which the rank may stay.
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
    doubt: Doubt,
    /// True if a claim was taken for proved that is not.
    is_trusted: bool,
}

impl<'g> Search<'_, 'g> {
    /// Finds the heads at which something may be awaited: on paths that begin with nothing awaited, and on those from such heads.
    fn await_at_heads(&mut self) -> Result<(), Stuck> {
        match self.eventuality.trigger {
            Trigger::Start => self.begin(Begins::Awaiting)?,
            Trigger::Everywhere if self.eventuality.holds.is_none() => {
                // SOUND: each path comes to heads.
                self.heads.iter_mut().for_each(|head| head.awaited = Some(Awaits::Any));
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
            if before == Some(Awaits::Any) || self.is_never(&awaited)? {
                continue;
            }
            let is_triggering = self.is_never(&awaited.and(&triggers.not()))?;
            let after = if is_triggering { Awaits::Triggering } else { Awaits::Any };
            if before != Some(after) {
                self.heads[head].awaited = Some(after);
                more.push(head);
            }
        }
        Ok(more)
    }

    /// The bit that is 1 if a state at a head is one in which something may be awaited.
    fn may_be_awaited<'h>(&self, head: usize, state: &SymbolicState<'h>) -> SymbolicBit<'h> {
        self.eventuality.may_be_awaited(self.heads[head].awaited, state)
    }

    /// The bit that is 1 if a state at a head is one that is looked at: something may be awaited in it, and has not come.
    fn first(&self, head: usize, start: &Start<'g>) -> SymbolicBit<'g> {
        self.eventuality.is_open(self.heads[head].awaited.unwrap_or(Awaits::Any), start)
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
        let Self { machine, places, eventuality, is_over, .. } = *self;
        Between { places, eventuality, passed, begins, machine, is_over }
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

    /// The heads that idle rounds pass.
    fn idle(&self) -> Vec<Passing> {
        let passing = |(head, of): (usize, &Head<'_, '_>)| {
            let passed = of.passed.get(&Begins::Idle).filter(|passed| !passed.is_empty())?;
            let passed = passed.iter().map(|head| self.places.location(*head)).collect();
            Some(Passing { head: self.places.location(head), passed })
        };
        self.heads.iter().enumerate().filter_map(passing).collect()
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
