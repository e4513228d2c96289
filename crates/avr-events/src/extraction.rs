//! The events that can be seen in a state space, without its silent steps.

use std::collections::BTreeSet;
use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};
use three_valued::Truth;

use crate::alphabet::{Alphabet, Letter};
use crate::automaton::Occurred;
use crate::faults::{Fault, is_on};

/// The most sequences of events that one step may show.
const MAX_STEPS: usize = 1_024;
/// The most steps that are followed while silent ones are left out.
const MAX_WORK: usize = 20_000_000;

/// A state space: the states that each state may lead to, and what is known of the events of the step that led to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventGraph {
    /// The states; the first is the one before the start, of which nothing is seen.
    pub nodes: Vec<EventNode>,
}

/// A state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventNode {
    /// The labels of the atoms of the alphabet ([`Alphabet::atoms`]).
    pub labels: Vec<Truth>,
    /// The numbers of the states that may follow.
    pub next: Vec<usize>,
}

/// The reason why there is no automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("its events come in too many ways; name fewer events, or fewer bits of their values")
    }
}

/// The events of a step in the order of the alphabet.
pub(crate) type Step = Vec<Occurred>;

/// A graph whose moves show events; a silent one shows none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Labelled {
    pub(crate) initial: Vec<usize>,
    pub(crate) moves: Vec<BTreeSet<(Step, usize)>>,
}

impl EventGraph {
    /// The graph with the events on its moves. A state that only a single silent move leaves is the one that it leads to.
    pub(crate) fn labelled(&self, alphabet: &Alphabet) -> Result<Labelled, TooLarge> {
        let steps = self.nodes.iter().map(|node| steps(node, alphabet)).collect::<Result<Vec<_>, _>>()?;
        let only_silent = |node: usize| match self.nodes[node].next.as_slice() {
            [next] => Some(*next).filter(|next| steps[*next].as_slice() == [Step::new()]),
            _ => None,
        };
        let mut stands_for: Vec<Option<usize>> = vec![None; self.nodes.len()];
        for start in 0..self.nodes.len() {
            let (mut path, mut at) = (FxHashSet::from_iter([start]), start);
            while let Some(next) = only_silent(at).filter(|_| stands_for[at].is_none()) {
                if !path.insert(next) {
                    break;
                }
                at = next;
            }
            let end = stands_for[at].unwrap_or(at);
            path.into_iter().for_each(|node| stands_for[node] = Some(end));
        }
        let stands_for: Vec<usize> = stands_for.into_iter().enumerate().map(|(own, end)| end.unwrap_or(own)).collect();
        let first: &[usize] = self.nodes.first().map_or(&[], |start| &start.next);
        let mut initial: Vec<usize> = first.iter().map(|node| stands_for[*node]).collect();
        initial.sort_unstable();
        initial.dedup();
        let moves = self.nodes.iter().enumerate().map(|(from, node)| {
            let leads =
                node.next.iter().flat_map(|next| steps[*next].iter().map(|step| (step.clone(), stands_for[*next])));
            leads.filter(|(step, to)| !step.is_empty() || *to != from).collect()
        });
        Ok(Labelled { initial, moves: moves.collect() }.reachable())
    }
}

impl Labelled {
    /// The part that can be reached, in the order in which it is.
    pub(crate) fn reachable(&self) -> Self {
        let mut order: Vec<usize> = Vec::new();
        let mut numbers: FxHashMap<usize, usize> = FxHashMap::default();
        let mut reach = |state: usize, order: &mut Vec<usize>| {
            let next = numbers.len();
            *numbers.entry(state).or_insert_with(|| {
                order.push(state);
                next
            })
        };
        let initial = self.initial.iter().map(|state| reach(*state, &mut order)).collect();
        let mut moves = Vec::new();
        while moves.len() < order.len() {
            let own = &self.moves[order[moves.len()]];
            moves.push(own.iter().map(|(step, to)| (step.clone(), reach(*to, &mut order))).collect());
        }
        Self { initial, moves }
    }

    /// The graph without silent moves.
    pub(crate) fn visible(&self) -> Result<Self, TooLarge> {
        let mut moves: Vec<BTreeSet<(Step, usize)>> = Vec::with_capacity(self.moves.len());
        let mut work = 0;
        for state in 0..self.moves.len() {
            let mut own = BTreeSet::new();
            let (mut seen, mut silent) = (FxHashSet::from_iter([state]), vec![state]);
            while let Some(at) = silent.pop() {
                work += self.moves[at].len();
                for (step, to) in &self.moves[at] {
                    if !step.is_empty() {
                        own.insert((step.clone(), *to));
                    } else if seen.insert(*to) {
                        silent.push(*to);
                    }
                }
            }
            if work > MAX_WORK {
                return Err(TooLarge);
            }
            if is_on(Fault::MoveForgotten) || is_on(Fault::ConformanceAssumed) {
                own.pop_last();
            }
            moves.push(own);
        }
        Ok(Self { initial: self.initial.clone(), moves }.reachable())
    }
}

/// The events that the step into a state may have had.
fn steps(node: &EventNode, alphabet: &Alphabet) -> Result<Vec<Step>, TooLarge> {
    let mut all: Vec<Step> = vec![Vec::new()];
    let mut labels = node.labels.iter().copied();
    for (number, letter) in alphabet.letters.iter().enumerate() {
        let came = labels.next().unwrap_or(Truth::Unknown);
        let bits: Vec<(u8, Truth)> = letter.bits().map(|bit| (bit, labels.next().unwrap_or(Truth::Unknown))).collect();
        if came == Truth::False {
            continue;
        }
        let with: Vec<Step> = values(letter, &bits)
            .into_iter()
            .flat_map(|value| {
                let occurred = Occurred { letter: number, value };
                all.iter().map(move |step| step.iter().copied().chain([occurred]).collect::<Step>())
            })
            .collect();
        if came == Truth::True {
            all = with;
        } else {
            all.extend(with);
        }
        if all.len() > MAX_STEPS {
            return Err(TooLarge);
        }
    }
    Ok(all)
}

/// The values that a letter may have.
fn values(letter: &Letter, bits: &[(u8, Truth)]) -> Vec<u8> {
    let mask = letter.mask.unwrap_or(0);
    let fits = |value: &u8| {
        value & !mask == 0 && bits.iter().all(|(bit, truth)| truth.known().is_none_or(|set| (value & bit != 0) == set))
    };
    (0..=u8::MAX).filter(fits).collect()
}
