//! The search for a proof. Nothing of it need be trusted: what it finds is checked.
//!
//! Heads are solved one after the other: those from each of whose states some strategy leads to the target or to heads that are solved, or
//! to the same head with a smaller rank; then groups of heads with a common rank, such as an inner and an outer loop. A rank is guessed from
//! samples and proved by a query, whose counterexample is the next sample (Solar-Lezama et al., "Combinatorial sketching for finite
//! programs", 2006).

mod guesses;
mod numbers;
mod ranks;
mod samples;
mod service;
mod setting_out;
mod sought;
mod strategies;
mod trials;

use crate::check::check;
use crate::claim::{Claims, LoopClaim, Region};
use crate::limits::Limits;
use crate::places::Places;
use crate::possibility::Possibility;
use crate::proof::{Proof, Stuck};
use crate::rounds::{Arrival, Start, arrival};
use crate::trigger::Trigger;
use avr_invariant::{Entry, Map, Move};
use avr_machine::Machine;
use avr_symbolic::{Execution, Executor, Graph, Rounds};
use numbers::{Numbers, Word};
pub use ranks::{EventualityProof, always_comes};
use samples::{Part, Sample};
use std::collections::{BTreeMap, BTreeSet};
use strategies::free;

/// Proves that what is said to be possible is.
///
/// The map must have been accepted for the machine, without marks, and the moves be those of its check. The work ends early where it is over.
///
/// # Errors
/// The reason why no proof was found.
pub fn recovers(
    machine: &Machine,
    (map, moves): (&Map, &BTreeMap<Move, usize>),
    possibility: &Possibility<'_>,
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
        solved: None,
    });
    let heads = heads.collect();
    let executor = Executor::new(machine, limits.execution);
    let mut search = Search {
        machine,
        places: &places,
        possibility,
        executor,
        limits,
        is_over,
        heads,
        claims: Vec::new(),
        tried: None,
        looks: 0,
        steps: 0,
        queries: 0,
    };
    let first = search.run()?;
    let Search { claims: loops, steps, queries, .. } = search;
    // SOUND: nothing is proved but what the check accepts.
    let claims = Claims { first, loops };
    let accepted = check(machine, (map, moves), possibility, &claims, (limits, is_over));
    accepted.map(|accepted| Proof { claims, freedom: accepted.freedom, steps, queries }).map_err(Stuck::Rejected)
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
    /// The states from which there is a claim, if there is one.
    solved: Option<Region>,
}

/// The strategies of a head that a claim may use, as a set.
type Allowed = u64;

/// A claim that from each state of a region at some heads one of the strategies leads to the target, to a head that is solved, or to one of these with
/// a smaller rank.
struct Claim<'c> {
    heads: &'c [usize],
    region: Region,
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

/// The result of an attempt to solve heads.
enum Progress {
    /// Some were solved.
    Solved,
    /// No more are needed: these strategies lead to those that are solved.
    Enough(Vec<Rounds>),
    /// None was solved.
    None,
}

struct Search<'a, 'g> {
    machine: &'a Machine,
    places: &'a Places<'a>,
    possibility: &'a Possibility<'a>,
    executor: Executor<'a>,
    limits: &'a Limits,
    is_over: &'a dyn Fn() -> bool,
    heads: Vec<Head<'a, 'g>>,
    claims: Vec<LoopClaim>,
    /// The number of claims that were not enough to lead from the states of the trigger to them.
    tried: Option<usize>,
    looks: usize,
    steps: usize,
    queries: usize,
}

impl<'g> Search<'_, 'g> {
    /// Solves heads until claims about them are enough. Gives the strategies that lead to them.
    fn run(&mut self) -> Result<Vec<Rounds>, Stuck> {
        loop {
            let open: Vec<usize> = (0..self.heads.len()).filter(|head| self.heads[*head].solved.is_none()).collect();
            if open.is_empty() && self.are_of_all() {
                return Ok(Vec::new());
            }
            let progress = match self.solve_some(&open) {
                // The heads that are solved may be enough.
                Err(Stuck::Limit) if self.may_be_enough() && !(self.is_over)() => Ok(Progress::None),
                progress => progress,
            };
            match progress? {
                Progress::Solved => {}
                Progress::Enough(first) => return Ok(first),
                Progress::None => {
                    return match self.sets_out()? {
                        Some(first) => Ok(first),
                        // The way out of the others may lead through this one.
                        None => {
                            let leads_to_none = |head: &usize| self.led_to(*head).iter().all(|to| to == head);
                            let stuck = open.iter().copied().find(leads_to_none).or(open.first().copied());
                            Err(match stuck {
                                Some(stuck) => Stuck::Loop(self.places.location(stuck).at()),
                                None => Stuck::Between,
                            })
                        }
                    };
                }
            }
        }
    }

    /// True if claims about some heads may be enough.
    fn may_be_enough(&self) -> bool {
        !matches!((self.possibility.trigger, self.possibility.holds), (Trigger::Everywhere, None))
    }

    /// True if there are claims about all states of all heads, and that is enough.
    fn are_of_all(&self) -> bool {
        self.possibility.holds.is_none() && self.heads.iter().all(|head| head.solved == Some(Region::All))
    }

    /// Solves one open head at least, if that is possible.
    fn solve_some(&mut self, open: &[usize]) -> Result<Progress, Stuck> {
        for effort in [Effort::Quiet, Effort::Environment, Effort::Free, Effort::All, Effort::Sought] {
            let mut is_better = false;
            for head in open {
                is_better |= self.solve(&[*head], effort)?;
            }
            if is_better {
                return Ok(Progress::Solved);
            }
            for group in groups(open, |from| self.led_to(from)) {
                if self.solve(&group, effort)? {
                    return Ok(Progress::Solved);
                }
            }
            if let Some(first) = self.sets_out()? {
                return Ok(Progress::Enough(first));
            }
        }
        Ok(Progress::None)
    }

    /// The open heads at which rounds from a head end.
    fn led_to(&self, from: usize) -> BTreeSet<usize> {
        let ends = self.heads[from].starts.iter().flat_map(|of| &of.rounds).flat_map(|round| &round.ends);
        let heads = ends.filter_map(|end| match arrival(self.places, end) {
            Arrival::Head(head, _) => Some(head),
            Arrival::Elsewhere => None,
        });
        heads.filter(|head| self.heads[*head].solved.is_none()).collect()
    }

    /// Solves heads with a common rank, if that is possible: in all of their states, or else in those of the trigger.
    fn solve(&mut self, heads: &[usize], effort: Effort) -> Result<bool, Stuck> {
        let allowed = heads.iter().map(|head| self.allowed(*head, effort));
        let allowed: Vec<Allowed> = allowed.collect::<Result<_, _>>()?;
        let is_quiet = allowed.iter().all(|allowed| *allowed <= 1);
        if is_quiet && effort != Effort::Quiet {
            return Ok(false);
        }
        let in_some = matches!(self.possibility.trigger, Trigger::When(_)).then_some(Region::Triggering);
        for region in [Region::All].into_iter().chain(in_some) {
            if self.solve_in(heads, (region, &allowed), effort)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn solve_in(
        &mut self,
        heads: &[usize],
        (region, allowed): (Region, &[Allowed]),
        effort: Effort,
    ) -> Result<bool, Stuck> {
        let claim = Claim { heads, region, allowed, rank: &[], words: &[] };
        if self.is_claim(&claim)? {
            return Ok(true);
        }
        if effort == Effort::Sought {
            return self.seeks(heads, region);
        }
        if !heads.iter().any(|from| heads.iter().any(|to| self.led_to(*from).contains(to))) {
            return Ok(false);
        }
        let of_heads = heads.iter().flat_map(|head| &self.heads[*head].starts);
        let rounds: Vec<_> = of_heads.map(|of| (&of.start, of.rounds.as_slice())).collect();
        let numbers = Numbers::new(self.machine, self.places, heads, &rounds);
        let parts = parts(&numbers, heads);
        self.has_rank(heads, (region, allowed), (&parts, &numbers.words))
    }
}

/// Groups of open heads from each of which rounds lead to the others: pairs, then all that there are.
fn groups(open: &[usize], led_to: impl Fn(usize) -> BTreeSet<usize>) -> Vec<Vec<usize>> {
    let leads: BTreeSet<(usize, usize)> =
        open.iter().flat_map(|from| led_to(*from).into_iter().map(|to| (*from, to))).collect();
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

/// The parts of which ranks of some heads are made, simple ones first.
fn parts(numbers: &Numbers, heads: &[usize]) -> Vec<Part> {
    let mut parts: Vec<Part> = numbers.simple.iter().cloned().map(Part::Number).collect();
    if heads.len() > 1 {
        parts.extend(heads.iter().flat_map(|head| [Part::Place(*head, true), Part::Place(*head, false)]));
    }
    parts.extend(numbers.differences.iter().cloned().map(Part::Number));
    parts
}

/// True if some ways lead from one to another, or they are the same.
fn reaches(ways: &BTreeSet<(usize, usize)>, from: usize, to: usize) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut waiting = vec![from];
    while let Some(one) = waiting.pop() {
        let next = ways.range((one, 0)..=(one, usize::MAX)).map(|(_, to)| *to);
        waiting.extend(next.filter(|next| seen.insert(*next)));
    }
    seen.contains(&to)
}
