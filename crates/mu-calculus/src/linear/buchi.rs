//! Nondeterministic Büchi automata with accepting transitions, from path formulas.
//!
//! A state is a set of obligations. One letter takes it to the obligations that remain, in as many ways as there are
//! choices; a way *postpones* `p U q` if it leaves q for later. An infinite run is accepting if it postpones no `U`
//! for ever, which a counter over the `U`s turns into infinitely many accepting transitions.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::cancel::Ticker;
use crate::components::{Successor, Successors, Tarjan};
use crate::linear::TooLarge;
use crate::linear::syntax::{Linear, LinearFormula, LinearId};

/// The largest number of states.
const MAX_STATES: usize = 2_000;
/// The largest number of ways of one set of obligations.
const MAX_WAYS: usize = 2_000;
/// The largest number of transitions.
const MAX_TRANSITIONS: usize = 50_000;

/// A transition that reads any letter which has all propositions of `positive` and none of `negative`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Transition {
    pub(crate) positive: u64,
    pub(crate) negative: u64,
    pub(crate) target: u32,
    pub(crate) accepting: bool,
}

/// A Büchi automaton; state 0 is the initial one. A word is accepted if some run on it has infinitely many accepting
/// transitions. Every state accepts some word, except that the initial one may have no transition.
#[derive(Clone, Debug)]
pub(crate) struct Buchi {
    pub(crate) states: Vec<Vec<Transition>>,
}

impl Buchi {
    /// The automaton of the words that satisfy `root`.
    pub(crate) fn new(formula: &LinearFormula, root: LinearId) -> Result<Self, TooLarge> {
        let mut tableau = Tableau::new(formula)?;
        let automaton = tableau.automaton(root)?;
        Ok(automaton.trimmed().quotient())
    }

    /// The component of each state; components are numbered so that every one comes after those that it can reach.
    fn components(&self) -> Vec<u32> {
        let edges = self.states.iter().map(|state| state.iter().map(|transition| transition.target).collect());
        components(&edges.collect::<Vec<Vec<u32>>>())
    }

    /// Without transitions into states that accept nothing, and with accepting transitions only inside of components.
    fn trimmed(mut self) -> Self {
        let component = self.components();
        let count = component.iter().max().map_or(0, |last| last + 1);
        let mut live = vec![false; count as usize];
        let mut order: Vec<usize> = (0..self.states.len()).collect();
        order.sort_by_key(|state| component[*state]);
        for &state in &order {
            for transition in &mut self.states[state] {
                transition.accepting &= component[transition.target as usize] == component[state];
                live[component[state] as usize] |= transition.accepting;
            }
        }
        for &state in &order {
            let reaches = self.states[state].iter().any(|next| live[component[next.target as usize] as usize]);
            live[component[state] as usize] |= reaches;
        }
        for state in &mut self.states {
            state.retain(|transition| live[component[transition.target as usize] as usize]);
        }
        self
    }

    /// Bisimilar states merged, and of several equal transitions the accepting one kept; unreachable states left out.
    fn quotient(&self) -> Self {
        let mut class = vec![0_u32; self.states.len()];
        let mut count = 1;
        loop {
            let mut numbers: BTreeMap<Vec<Transition>, u32> = BTreeMap::new();
            let signatures = self.states.iter().map(|state| merged(state, &class));
            let next: Vec<u32> = signatures
                .map(|signature| {
                    let fresh = numbers.len() as u32;
                    *numbers.entry(signature).or_insert(fresh)
                })
                .collect();
            let stable = numbers.len() == count;
            count = numbers.len();
            class = next;
            if stable {
                break;
            }
        }
        let mut states = vec![Vec::new(); count];
        for (state, class_of) in self.states.iter().zip(&class) {
            states[*class_of as usize] = merged(state, &class);
        }
        Self { states }.reachable(class[0])
    }

    /// The states that can be reached from `initial`, which becomes the first.
    fn reachable(&self, initial: u32) -> Self {
        let (mut number, mut order) = (BTreeMap::from([(initial, 0)]), vec![initial]);
        let mut next = 0;
        while let Some(&state) = order.get(next) {
            next += 1;
            for transition in &self.states[state as usize] {
                let fresh = number.len() as u32;
                number.entry(transition.target).or_insert_with(|| {
                    order.push(transition.target);
                    fresh
                });
            }
        }
        let renumbered = |transition: &Transition| Transition { target: number[&transition.target], ..*transition };
        Self {
            states: order.iter().map(|state| self.states[*state as usize].iter().map(renumbered).collect()).collect(),
        }
    }
}

/// The transitions with classes for targets, without those that another one makes superfluous.
fn merged(state: &[Transition], class: &[u32]) -> Vec<Transition> {
    let classed = |transition: &Transition| Transition { target: class[transition.target as usize], ..*transition };
    let all: Vec<Transition> = state.iter().map(classed).collect();
    let covers = |one: &Transition, other: &Transition| {
        one.target == other.target
            && one.accepting >= other.accepting
            && one.positive & !other.positive == 0
            && one.negative & !other.negative == 0
    };
    let mut kept: Vec<Transition> =
        all.iter().filter(|one| !all.iter().any(|other| other != *one && covers(other, one))).copied().collect();
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// A graph given by its edges.
struct Edges<'a>(&'a [Vec<u32>]);

impl Successors for Edges<'_> {
    fn successor(&self, vertex: u32, position: u32) -> Successor {
        self.0[vertex as usize].get(position as usize).map_or(Successor::End, |next| Successor::To(*next))
    }
}

/// The strongly connected component of each vertex; every component has a larger number than those that it can reach.
pub(crate) fn components(edges: &[Vec<u32>]) -> Vec<u32> {
    let vertices: Vec<u32> = (0..edges.len() as u32).collect();
    let never = || false;
    let found = Tarjan::new(edges.len())
        .decompose(&Edges(edges), &vertices, &mut Ticker::new(&never))
        .expect("a decomposition that is never cancelled succeeds");
    let mut component = vec![0; edges.len()];
    for (number, members) in found.iter().enumerate() {
        members.iter().for_each(|member| component[*member as usize] = number as u32);
    }
    component
}

/// One way to satisfy a formula with the next letter.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Way {
    positive: u64,
    negative: u64,
    /// The obligations that remain, ascending.
    next: Vec<LinearId>,
    /// The `U`s that are deferred, by number.
    postponed: u64,
}

impl Way {
    const FREE: Self = Self { positive: 0, negative: 0, next: Vec::new(), postponed: 0 };

    /// Both at once, if the literals agree.
    fn and(&self, other: &Self) -> Option<Self> {
        let (positive, negative) = (self.positive | other.positive, self.negative | other.negative);
        let mut next = [self.next.as_slice(), other.next.as_slice()].concat();
        next.sort_unstable();
        next.dedup();
        let postponed = self.postponed | other.postponed;
        (positive & negative == 0).then_some(Self { positive, negative, next, postponed })
    }

    /// True if this way asks for no more than another one.
    fn is_easier(&self, other: &Self) -> bool {
        self.positive & !other.positive == 0
            && self.negative & !other.negative == 0
            && self.postponed & !other.postponed == 0
            && self.next.iter().all(|obligation| other.next.binary_search(obligation).is_ok())
    }
}

/// The ways without those that ask for more than another one.
fn pruned(ways: Vec<Way>) -> Result<Vec<Way>, TooLarge> {
    let mut kept: Vec<Way> = Vec::new();
    for way in ways {
        if kept.iter().any(|other| other.is_easier(&way)) {
            continue;
        }
        kept.retain(|other| !way.is_easier(other));
        kept.push(way);
    }
    if kept.len() > MAX_WAYS { Err(TooLarge) } else { Ok(kept) }
}

struct Tableau<'f> {
    formula: &'f LinearFormula,
    /// The number of each `U`.
    untils: BTreeMap<LinearId, u32>,
    ways: Vec<Option<Vec<Way>>>,
}

impl<'f> Tableau<'f> {
    fn new(formula: &'f LinearFormula) -> Result<Self, TooLarge> {
        let ids = 0..formula.node_count() as LinearId;
        let untils = ids.filter(|id| matches!(formula.get(*id), Linear::Until(..)));
        Ok(Self { formula, untils: untils.zip(0..).collect(), ways: vec![None; formula.node_count()] })
    }

    fn ways(&mut self, id: LinearId) -> Result<Vec<Way>, TooLarge> {
        if let Some(known) = &self.ways[id as usize] {
            return Ok(known.clone());
        }
        let ways = pruned(self.new_ways(id)?)?;
        self.ways[id as usize] = Some(ways.clone());
        Ok(ways)
    }

    fn new_ways(&mut self, id: LinearId) -> Result<Vec<Way>, TooLarge> {
        let formula = self.formula;
        Ok(match formula.get(id) {
            Linear::Constant(true) => vec![Way::FREE],
            Linear::Constant(false) => Vec::new(),
            Linear::Literal(proposition, true) => vec![Way { positive: proposition.bit(), ..Way::FREE }],
            Linear::Literal(proposition, false) => vec![Way { negative: proposition.bit(), ..Way::FREE }],
            Linear::And(operands) => self.conjunction(operands)?,
            Linear::Or(operands) => {
                let all: Result<Vec<Vec<Way>>, TooLarge> = operands.iter().map(|operand| self.ways(*operand)).collect();
                all?.concat()
            }
            Linear::Next(p) => vec![Way { next: self.obligations(*p), ..Way::FREE }],
            Linear::Until(p, q) => {
                let later = Way { next: vec![id], postponed: 1 << self.number(id)?, ..Way::FREE };
                let (now, wait) = (self.ways(*q)?, self.ways(*p)?);
                now.into_iter().chain(wait.iter().filter_map(|way| way.and(&later))).collect()
            }
            Linear::Release(p, q) => {
                let later = Way { next: vec![id], ..Way::FREE };
                let (keep, end) = (self.ways(*q)?, self.ways(*p)?);
                let released = keep.iter().flat_map(|way| end.iter().filter_map(|end| way.and(end)));
                released.chain(keep.iter().filter_map(|way| way.and(&later))).collect()
            }
        })
    }

    /// The number of a `U`; a set of them has 64 bits.
    fn number(&self, id: LinearId) -> Result<u32, TooLarge> {
        self.untils.get(&id).copied().filter(|number| *number < u64::BITS).ok_or(TooLarge)
    }

    fn conjunction(&mut self, operands: &[LinearId]) -> Result<Vec<Way>, TooLarge> {
        let mut all = vec![Way::FREE];
        for operand in operands {
            let ways = self.ways(*operand)?;
            if all.len() * ways.len() > 100 * MAX_WAYS {
                return Err(TooLarge);
            }
            all = pruned(all.iter().flat_map(|one| ways.iter().filter_map(|other| one.and(other))).collect())?;
        }
        Ok(all)
    }

    /// A formula as a set of obligations.
    fn obligations(&self, id: LinearId) -> Vec<LinearId> {
        match self.formula.get(id) {
            Linear::And(operands) => operands.clone(),
            Linear::Constant(true) => Vec::new(),
            _ => vec![id],
        }
    }

    /// The automaton over (obligations, counter): the counter says which `U` must be satisfied or absent next.
    fn automaton(&mut self, root: LinearId) -> Result<Buchi, TooLarge> {
        let mut numbers: FxHashMap<(Vec<LinearId>, u32), u32> = FxHashMap::default();
        let first = (self.obligations(root), 0);
        let mut waiting = vec![first.clone()];
        numbers.insert(first, 0);
        let (mut states, mut next, mut transitions) = (Vec::new(), 0, 0);
        while let Some((obligations, counter)) = waiting.get(next).cloned() {
            next += 1;
            let ways = self.conjunction(&obligations)?;
            transitions += ways.len();
            let mut state = Vec::with_capacity(ways.len());
            for way in ways {
                let (counter, accepting) = self.count(counter, way.postponed)?;
                let fresh = numbers.len() as u32;
                let target = match numbers.entry((way.next, counter)) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(place) => {
                        waiting.push(place.key().clone());
                        *place.insert(fresh)
                    }
                };
                state.push(Transition { positive: way.positive, negative: way.negative, target, accepting });
            }
            states.push(state);
            if numbers.len() > MAX_STATES || transitions > MAX_TRANSITIONS {
                return Err(TooLarge);
            }
        }
        Ok(Buchi { states })
    }

    /// Counts on past all `U`s that are not postponed; past the last one the transition is accepting.
    fn count(&self, counter: u32, postponed: u64) -> Result<(u32, bool), TooLarge> {
        let count = self.untils.len() as u32;
        if count > u64::BITS {
            return Err(TooLarge);
        }
        let mut next = counter;
        while next < count && postponed >> next & 1 == 0 {
            next += 1;
        }
        Ok(if next == count { (0, true) } else { (next, false) })
    }
}
