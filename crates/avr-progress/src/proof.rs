//! The proof that from every state some run comes to the target.
//!
//! Heads are solved one after the other: those from each of whose states some strategy leads to the target or to heads that are solved, or
//! to the same head with a smaller rank; then groups of heads with a common rank, such as an inner and an outer loop. A rank is guessed from
//! samples and proved by a query, whose counterexample is the next sample (Solar-Lezama et al., "Combinatorial sketching for finite
//! programs", 2006).

use crate::faults::{Fault, is_on};
use crate::numbers::{Numbers, Word};
use crate::places::{Obstacle, Places};
use crate::rounds::{Arrival, Route, Start, Target, arrival};
use crate::samples::{MOST_STRATEGIES, Outcome, Part, Row, Sample, Table, Transition};
use crate::strategies::{free, holding, repeating};
use avr_invariant::{Entry, Map, Move};
use avr_isa::{DataAddress, FlashByteAddress};
use avr_machine::{Frame, Input, Machine};
use avr_symbolic::{
    Answer, End, EndKind, Execution, ExecutionLimits, Executor, Freedom, Graph, QueryLimits, Rounds, Strategy,
    SymbolicBit, SymbolicState, SymbolicWord, Term, Valuation, satisfy,
};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;
use three_valued::BitDomain;

/// Limits of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps on symbolic bits, of all executions together.
    pub steps: usize,
    /// Entries of the map at heads.
    pub entries: usize,
    /// Queries.
    pub queries: usize,
    /// Ranks that are guessed for a group of loops with the same numbers.
    pub guesses: usize,
    /// Strategies that are sought for single states of a head.
    pub sought: usize,
    /// Effects of numbers on samples that are looked at for ranks.
    pub looks: usize,
    /// Nodes of each graph.
    pub nodes: usize,
    /// Limits of an execution.
    pub execution: ExecutionLimits,
    /// Limits of an execution that passes inner loops which end by themselves.
    pub passed: ExecutionLimits,
    /// Limits of a query.
    pub query: QueryLimits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 200_000,
            entries: 200,
            queries: 2_000,
            guesses: 300,
            sought: 16,
            looks: 100_000_000,
            nodes: 1_000_000,
            execution: ExecutionLimits { steps: 20_000, paths: 300, ..ExecutionLimits::default() },
            passed: ExecutionLimits { steps: 1_000, paths: 100, ..ExecutionLimits::default() },
            query: QueryLimits::default(),
        }
    }
}

/// A proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The claims about the heads, in the order in which they were proved: they rest on those before them only, and on those of the same
    /// group.
    pub claims: Vec<LoopClaim>,
    /// The freedom that strategies use.
    pub freedom: Freedom,
    /// Steps on symbolic bits.
    pub steps: usize,
    /// Queries.
    pub queries: usize,
}

/// A claim about a head: from each of its states one of the strategies leads to the target, to a head of an earlier claim, or to a head of
/// the same group with a smaller rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopClaim {
    /// The place of the head.
    pub at: FlashByteAddress,
    /// The return addresses on the stack, the oldest first.
    pub frames: Vec<Frame>,
    /// The number of the group.
    pub group: usize,
    /// The numbers of the rank, in lexicographic order. Places are constants.
    pub rank: Vec<Term>,
    /// The strategies.
    pub rounds: Vec<Rounds>,
    /// The freedom that the strategies use.
    pub freedom: Freedom,
}

/// The reason why there is no proof. It says nothing of the property.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Stuck {
    /// The map does not say enough.
    #[error("{0}")]
    Obstacle(Obstacle),
    /// For a loop no claim was found.
    #[error("no way out of the loop at {0} was found")]
    Loop(FlashByteAddress),
    /// A limit is reached.
    #[error("a limit on claims is reached")]
    Limit,
}

/// Proves that from every reachable state some run comes to a state of the target.
///
/// The map must have been accepted for the machine, without marks, and the moves be those of its check. The work ends early where it is over.
///
/// # Errors
/// The reason why no proof was found.
pub fn recovers(
    machine: &Machine,
    (map, moves): (&Map, &BTreeMap<Move, usize>),
    target: &dyn Target,
    (limits, is_over): (&Limits, &dyn Fn() -> bool),
) -> Result<Proof, Stuck> {
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
        strategies: free(&places.interrupts()),
        held: false,
        passed: None,
        solved: false,
    });
    let heads = heads.collect();
    let executor = Executor::new(machine, limits.execution);
    let mut search = Search {
        machine,
        places: &places,
        target,
        executor,
        limits,
        is_over,
        heads,
        claims: Vec::new(),
        looks: 0,
        steps: 0,
        queries: 0,
    };
    search.run()?;
    let freedom = search.claims.iter().fold(Freedom::default(), |all, claim| all.union(claim.freedom));
    Ok(Proof { claims: search.claims, freedom, steps: search.steps, queries: search.queries })
}

/// An entry at a head.
struct OfStart<'a, 'g> {
    entry: &'a Entry,
    start: Start<'g>,
    /// A round for each strategy that was tried.
    rounds: Vec<Execution<'g>>,
    /// States that refuted earlier claims.
    samples: Vec<Sample<'g>>,
}

struct Head<'a, 'g> {
    starts: Vec<OfStart<'a, 'g>>,
    strategies: Vec<Rounds>,
    /// True if the strategies that hold inputs are among them.
    held: bool,
    /// The heads that rounds pass, once they are found: those of loops that end by themselves.
    passed: Option<BTreeSet<usize>>,
    solved: bool,
}

/// The strategies of a head that a claim may use, as a set.
type Allowed = u64;

/// A claim that from each state at some heads one of the strategies leads to the target, to a head that is solved, or to one of these with
/// a smaller rank.
struct Claim<'c> {
    heads: &'c [usize],
    /// For each of the heads.
    allowed: &'c [Allowed],
    rank: &'c [Part],
    words: &'c [Word],
}

/// The strategies that are tried together, fewer and freer ones first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effort {
    /// Nothing happens that need not, whatever the inputs.
    Quiet,
    /// The environment holds inputs; nothing else is chosen.
    Environment,
    /// All that leave inputs free.
    Free,
    /// All.
    All,
    /// All, and those that are sought for single states.
    Sought,
}

struct Search<'a, 'g> {
    machine: &'a Machine,
    places: &'a Places<'a>,
    target: &'a dyn Target,
    executor: Executor<'a>,
    limits: &'a Limits,
    is_over: &'a dyn Fn() -> bool,
    heads: Vec<Head<'a, 'g>>,
    claims: Vec<LoopClaim>,
    looks: usize,
    steps: usize,
    queries: usize,
}

impl<'g> Search<'_, 'g> {
    fn run(&mut self) -> Result<(), Stuck> {
        loop {
            let open: Vec<usize> = (0..self.heads.len()).filter(|head| !self.heads[*head].solved).collect();
            if open.is_empty() {
                return Ok(());
            }
            if !self.solve_some(&open)? {
                // The way out of the others may lead through this one.
                let leads_to_none = |head: &usize| self.led_to(*head).iter().all(|to| to == head);
                let stuck = open.iter().copied().find(leads_to_none).unwrap_or(open[0]);
                return Err(Stuck::Loop(self.places.heads[stuck].2.byte()));
            }
        }
    }

    /// Solves one open head at least, if that is possible.
    fn solve_some(&mut self, open: &[usize]) -> Result<bool, Stuck> {
        for effort in [Effort::Quiet, Effort::Environment, Effort::Free, Effort::All, Effort::Sought] {
            let mut is_better = false;
            for head in open {
                is_better |= self.solve(&[*head], effort)?;
            }
            if is_better {
                return Ok(true);
            }
            for group in self.groups(open) {
                if self.solve(&group, effort)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Groups of heads from each of which rounds lead to the others: pairs, then all that there are.
    fn groups(&self, open: &[usize]) -> Vec<Vec<usize>> {
        let leads: BTreeSet<(usize, usize)> =
            open.iter().flat_map(|from| self.led_to(*from).into_iter().map(|to| (*from, to))).collect();
        let is_mutual = |one: usize, other: usize| leads.contains(&(one, other)) && leads.contains(&(other, one));
        let pairs = open.iter().flat_map(|one| open.iter().map(move |other| [*one, *other]));
        let pairs = pairs.filter(|[one, other]| one < other && is_mutual(*one, *other)).map(|pair| pair.to_vec());
        let mut groups: Vec<Vec<usize>> = pairs.collect();
        for one in open {
            let mut group: Vec<usize> = open.iter().copied().filter(|other| reaches(&leads, *one, *other)).collect();
            group.retain(|other| reaches(&leads, *other, *one));
            if group.len() > 2 && !groups.contains(&group) {
                groups.push(group);
            }
        }
        groups
    }

    /// The open heads at which rounds from a head end.
    fn led_to(&self, from: usize) -> BTreeSet<usize> {
        let ends = self.heads[from].starts.iter().flat_map(|of| &of.rounds).flat_map(|round| &round.ends);
        let heads = ends.filter_map(|end| match arrival(self.places, end) {
            Arrival::Head(head, _) => Some(head),
            Arrival::Elsewhere => None,
        });
        heads.filter(|head| !self.heads[*head].solved).collect()
    }

    /// Solves heads with a common rank, if that is possible.
    fn solve(&mut self, heads: &[usize], effort: Effort) -> Result<bool, Stuck> {
        let allowed = heads.iter().map(|head| self.allowed(*head, effort));
        let allowed: Vec<Allowed> = allowed.collect::<Result<_, _>>()?;
        let is_quiet = allowed.iter().all(|allowed| *allowed <= 1);
        if is_quiet && effort != Effort::Quiet {
            return Ok(false);
        }
        let claim = Claim { heads, allowed: &allowed, rank: &[], words: &[] };
        if self.is_claim(&claim)? {
            return Ok(true);
        }
        if effort == Effort::Sought {
            return self.seeks(heads);
        }
        if !heads.iter().any(|from| heads.iter().any(|to| self.led_to(*from).contains(to))) {
            return Ok(false);
        }
        let of_heads = heads.iter().flat_map(|head| &self.heads[*head].starts);
        let rounds: Vec<_> = of_heads.map(|of| (&of.start, of.rounds.as_slice())).collect();
        let numbers = Numbers::new(self.machine, self.places, heads, &rounds);
        let mut parts: Vec<Part> = numbers.simple.into_iter().map(Part::Number).collect();
        if heads.len() > 1 {
            parts.extend(heads.iter().flat_map(|head| [Part::Place(*head, true), Part::Place(*head, false)]));
        }
        parts.extend(numbers.differences.into_iter().map(Part::Number));
        self.has_rank(heads, &allowed, (&parts, &numbers.words))
    }

    /// Solves a head with strategies that are sought for single states, if that is possible.
    fn seeks(&mut self, heads: &[usize]) -> Result<bool, Stuck> {
        let &[head] = heads else { return Ok(false) };
        for _ in 0..self.limits.sought {
            let Some(found) = self.sought(head) else { return Ok(false) };
            self.heads[head].strategies.push(found);
            self.take_rounds(head, MOST_STRATEGIES)?;
            let allowed = [u64::MAX >> (MOST_STRATEGIES - self.heads[head].strategies.len())];
            if self.is_claim(&Claim { heads, allowed: &allowed, rank: &[], words: &[] })? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A strategy that leads from the last sample at a head to the target or to a head that is solved.
    fn sought(&mut self, head: usize) -> Option<Rounds> {
        let free = free(&self.places.interrupts());
        if self.heads[head].strategies.len() >= MOST_STRATEGIES {
            return None;
        }
        self.find_passed(head);
        let samples = self.heads[head].starts.iter().enumerate();
        let samples = samples.flat_map(|(start, of)| (0..of.samples.len()).map(move |sample| (start, sample)));
        let (start, sample) =
            samples.max_by_key(|(start, sample)| self.heads[head].starts[*start].samples[*sample].query)?;
        let Head { starts, passed, .. } = &mut self.heads[head];
        let OfStart { start, samples, .. } = &mut starts[start];
        let single = start.single(&mut samples[sample].values)?;
        let route = Route { head, passed: passed.as_ref().expect("they were found") };
        let few = Executor::new(self.machine, self.limits.passed);
        let rounds: Vec<_> = free
            .into_iter()
            .map(|free| (single.round(&few, (route, &free), (self.places, self.target), self.is_over), free))
            .collect();
        self.steps += rounds.iter().map(|(round, _)| round.steps).sum::<usize>();
        rounds.into_iter().find_map(|(round, free)| {
            let leads_on = |end: &End<'g>| match arrival(self.places, end) {
                Arrival::Head(to, _) if self.heads[to].solved => end.condition.bit(),
                _ => end.condition.bit().and(&end.kept.not()),
            };
            let any = round.ends.iter().fold(SymbolicBit::ZERO, |any, end| any.or(&leads_on(end)));
            self.queries += 1;
            let Answer::Satisfiable(assignment) = satisfy(&any, self.limits.query) else { return None };
            let run = round.concrete(&mut Valuation::new(single.graph, assignment)).ok()?;
            Some(repeating(&free, &run))
        })
    }

    /// Solves heads with a rank of these parts, if that is possible.
    fn has_rank(
        &mut self,
        heads: &[usize],
        allowed: &[Allowed],
        (parts, words): (&[Part], &[Word]),
    ) -> Result<bool, Stuck> {
        let mut table = Table::new(parts);
        let mut seen = 0;
        for _ in 0..self.limits.guesses {
            let Some(rows) = self.rows(heads, allowed, (words, seen)) else { return Ok(false) };
            // A query without an answer gives no sample.
            if rows.is_empty() {
                return Ok(false);
            }
            rows.iter().for_each(|row| table.add(row));
            seen = self.queries;
            let rank = table.rank();
            self.looks += std::mem::take(&mut table.looks);
            if self.looks > self.limits.looks {
                return Err(Stuck::Limit);
            }
            let Some(rank) = rank else { return Ok(false) };
            if self.is_claim(&Claim { heads, allowed, rank: &rank, words })? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The samples at some heads, of queries after so many, that no strategy serves without a rank; none if strategies lead nowhere from one.
    fn rows(&mut self, heads: &[usize], allowed: &[Allowed], (words, seen): (&[Word], usize)) -> Option<Vec<Row>> {
        let mut rows = Vec::new();
        for (from, allowed) in heads.iter().zip(allowed) {
            let solved: Vec<bool> = self.heads.iter().map(|head| head.solved).collect();
            for of in &mut self.heads[*from].starts {
                for sample in of.samples.iter_mut().filter(|sample| sample.query > seen) {
                    let outcomes = sample.outcomes(self.places, &of.rounds).to_vec();
                    let is_served = |(number, outcome): (usize, &Outcome)| {
                        let is_good = match outcome {
                            Outcome::Reached => true,
                            Outcome::Head(to, _) => solved[*to],
                            Outcome::Elsewhere => false,
                        };
                        is_good && allowed >> number & 1 == 1
                    };
                    if outcomes.iter().enumerate().any(is_served) {
                        continue;
                    }
                    let mut transition = |number: usize, outcome: &Outcome| match outcome {
                        Outcome::Head(to, end) if allowed >> number & 1 == 1 && heads.contains(to) => {
                            let Arrival::Head(_, state) = arrival(self.places, &of.rounds[number].ends[*end]) else {
                                return None;
                            };
                            Some(Transition { to: *to, words: sample.words(state, words) })
                        }
                        _ => None,
                    };
                    let transitions: Vec<Option<Transition>> =
                        outcomes.iter().enumerate().map(|(number, outcome)| transition(number, outcome)).collect();
                    if transitions.iter().all(Option::is_none) {
                        return None;
                    }
                    rows.push(Row { from: *from, words: sample.words(&of.start.state, words), transitions });
                }
            }
        }
        Some(rows)
    }

    /// The strategies of a head that an effort allows, once their rounds are there.
    fn allowed(&mut self, head: usize, effort: Effort) -> Result<Allowed, Stuck> {
        let of_interrupts = free(&self.places.interrupts()).len();
        match effort {
            Effort::Quiet => self.take_rounds(head, 1)?,
            Effort::Free => self.take_rounds(head, of_interrupts)?,
            Effort::Environment | Effort::All | Effort::Sought => {
                if !self.heads[head].held {
                    self.take_rounds(head, of_interrupts)?;
                    let registers = self.asked(head);
                    let Head { strategies, held, .. } = &mut self.heads[head];
                    let more: Vec<Rounds> = strategies.iter().flat_map(|free| holding(free, &registers)).collect();
                    strategies.extend(more);
                    strategies.truncate(MOST_STRATEGIES);
                    *held = true;
                }
                self.take_rounds(head, MOST_STRATEGIES)?;
            }
        }
        let Head { starts, strategies, .. } = &self.heads[head];
        let is_allowed = |number: usize| match effort {
            Effort::Quiet => number == 0,
            Effort::Free => number < of_interrupts,
            Effort::All | Effort::Sought => true,
            Effort::Environment => starts.iter().all(|of| {
                let freedom = of.rounds[number].freedom();
                !freedom.events && !freedom.hardware
            }),
        };
        Ok((0..strategies.len()).filter(|number| is_allowed(*number)).fold(0, |all, number| all | 1 << number))
    }

    /// The registers whose inputs rounds from a head ask for.
    fn asked(&self, head: usize) -> BTreeSet<DataAddress> {
        let rounds = self.heads[head].starts.iter().flat_map(|of| &of.rounds);
        let registers = rounds.flat_map(Execution::inputs).filter_map(|asked| match asked.source {
            Input::Register(address) => Some(address),
            _ => None,
        });
        registers.collect()
    }

    /// Finds the heads that rounds from a head pass: those whose loops come to an end in few steps.
    fn find_passed(&mut self, head: usize) {
        if self.heads[head].passed.is_some() {
            return;
        }
        let few = Executor::new(self.machine, self.limits.passed);
        let quiet = Rounds::one(Strategy::entering(&[]));
        let mut passed = BTreeSet::new();
        for inner in self.places.inner(head) {
            passed.insert(inner);
            let route = Route { head, passed: &passed };
            let ends = self.heads[head].starts.iter().all(|of| {
                // Trials are no part of the graph in which claims are made.
                let graph = Graph::new(self.limits.nodes);
                let start = Start::of(self.machine, self.places.map(), of.entry, &graph);
                let round = start.round(&few, (route, &quiet), (self.places, self.target), self.is_over);
                self.steps += round.steps;
                round.ends.iter().all(|end| !matches!(end.kind, EndKind::Cannot(_)))
            });
            if !ends {
                passed.remove(&inner);
            }
        }
        self.heads[head].passed = Some(passed);
    }

    /// Takes the rounds of the first strategies of a head.
    fn take_rounds(&mut self, head: usize, most: usize) -> Result<(), Stuck> {
        self.find_passed(head);
        let Self { heads, executor, places, target, steps, limits, is_over, .. } = self;
        let Head { starts, strategies, passed, .. } = &mut heads[head];
        let route = Route { head, passed: passed.as_ref().expect("they were found") };
        for of in starts {
            for rounds in strategies.iter().take(most).skip(of.rounds.len()) {
                let round = of.start.round(executor, (route, rounds), (places, *target), *is_over);
                *steps += round.steps;
                of.rounds.push(round);
                if *steps > limits.steps || is_over() {
                    return Err(Stuck::Limit);
                }
            }
        }
        Ok(())
    }

    /// True if a claim is proved; the heads are solved then, with as few strategies as are found to do.
    fn is_claim(&mut self, claim: &Claim<'_>) -> Result<bool, Stuck> {
        for (head, allowed) in claim.heads.iter().zip(claim.allowed) {
            if !is_on(Fault::HeadPassed) && !self.is_served_everywhere((*head, *allowed), claim)? {
                return Ok(false);
            }
        }
        let group = self.claims.last().map_or(0, |last| last.group + 1);
        let mut claims = Vec::new();
        for (head, allowed) in claim.heads.iter().zip(claim.allowed) {
            let allowed = self.least((*head, *allowed), claim);
            claims.push(self.loop_claim((*head, allowed), claim, group));
        }
        self.claims.extend(claims);
        claim.heads.iter().for_each(|head| self.heads[*head].solved = true);
        Ok(true)
    }

    /// Some of the strategies that serve a head, of which none can be left out by itself.
    fn least(&mut self, (head, all): (usize, Allowed), claim: &Claim<'_>) -> Allowed {
        (0..MOST_STRATEGIES).rev().fold(all, |allowed, number| {
            let fewer = allowed & !(1 << number);
            let is_enough =
                fewer != allowed && fewer != 0 && self.is_served_everywhere((head, fewer), claim).unwrap_or(false);
            if is_enough { fewer } else { allowed }
        })
    }

    fn loop_claim(&self, (head, allowed): (usize, Allowed), claim: &Claim<'_>, group: usize) -> LoopClaim {
        let (frames, at) = self.places.location(head);
        let Head { starts, strategies, .. } = &self.heads[head];
        let is_used = |number: &usize| allowed >> number & 1 == 1;
        let used = starts.iter().flat_map(|of| (0..).zip(&of.rounds)).filter(|(number, _)| is_used(number));
        LoopClaim {
            at,
            frames,
            group,
            rank: claim.rank.iter().map(|part| part.term(head, claim.words)).collect(),
            rounds: (0..)
                .zip(strategies)
                .filter(|(number, _)| is_used(number))
                .map(|(_, rounds)| rounds.clone())
                .collect(),
            freedom: used.fold(Freedom::default(), |all, (_, round)| all.union(round.freedom())),
        }
    }

    fn is_served_everywhere(&mut self, head: (usize, Allowed), claim: &Claim<'_>) -> Result<bool, Stuck> {
        for start in 0..self.heads[head.0].starts.len() {
            if !self.is_served(head, start, claim)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// True if some strategy serves each state of an entry at a head. A state that none serves is a sample from then on.
    fn is_served(&mut self, (head, allowed): (usize, Allowed), start: usize, claim: &Claim<'_>) -> Result<bool, Stuck> {
        let of = &self.heads[head].starts[start];
        let reached = self.target.bit(&of.start.state);
        let mut unserved = of.start.condition.bit().and(&reached.not());
        for (_, round) in of.rounds.iter().enumerate().filter(|(number, _)| allowed >> number & 1 == 1) {
            let well = |end: &End<'g>| end.condition.bit().and(&self.ends_well((head, &of.start.state), end, claim));
            let served = round.ends.iter().fold(SymbolicBit::ZERO, |any, end| any.or(&well(end)));
            unserved = unserved.and(&served.not());
        }
        self.queries += 1;
        if self.queries > self.limits.queries || (self.is_over)() {
            return Err(Stuck::Limit);
        }
        match satisfy(&unserved, self.limits.query) {
            Answer::Unsatisfiable => Ok(true),
            Answer::Satisfiable(assignment) => {
                let of = &mut self.heads[head].starts[start];
                of.samples.push(Sample::new(&of.start, assignment, self.queries));
                Ok(false)
            }
            Answer::None(_) => Ok(is_on(Fault::UnansweredPassed)),
        }
    }

    /// The bit that is 1 if an end of paths from a state at a head is a good one.
    fn ends_well(
        &self,
        (head, before): (usize, &SymbolicState<'g>),
        end: &End<'g>,
        claim: &Claim<'_>,
    ) -> SymbolicBit<'g> {
        let was_reached = end.kept.not();
        let Arrival::Head(to, after) = arrival(self.places, end) else {
            return if is_on(Fault::ElsewherePassed) { SymbolicBit::ONE } else { was_reached };
        };
        let arrives = if self.heads[to].solved {
            SymbolicBit::ONE
        } else if claim.heads.contains(&to) {
            falls(claim, (head, before), (to, after))
        } else {
            SymbolicBit::ZERO
        };
        was_reached.or(&arrives)
    }
}

/// True if some ways lead from one to another, or they are the same.
pub(crate) fn reaches(ways: &BTreeSet<(usize, usize)>, from: usize, to: usize) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut waiting = vec![from];
    while let Some(one) = waiting.pop() {
        let next = ways.range((one, 0)..=(one, usize::MAX)).map(|(_, to)| *to);
        waiting.extend(next.filter(|next| seen.insert(*next)));
    }
    seen.contains(&to)
}

/// The bit that is 1 if the rank of a claim, at the second head in its state, is less than at the first.
fn falls<'g>(
    claim: &Claim<'_>,
    (from, before): (usize, &SymbolicState<'g>),
    (to, after): (usize, &SymbolicState<'g>),
) -> SymbolicBit<'g> {
    let value = |part: &Part, head: usize, state| -> SymbolicWord<'g> { part.term(head, claim.words).symbolic(state) };
    claim.rank.iter().rev().fold(SymbolicBit::ZERO, |falls, part| {
        let (old, new) = (value(part, from, before), value(part, to, after));
        if is_on(Fault::RankStays) {
            return old.is_less(&new).not();
        }
        new.is_less(&old).or(&new.is_equal(&old).and(&falls))
    })
}
