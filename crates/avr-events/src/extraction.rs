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
/// The most states in which an event has just come.
const MAX_VISIBLE: usize = 20_000;

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

/// A graph without silent steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Visible {
    pub(crate) initial: Vec<usize>,
    pub(crate) moves: Vec<BTreeSet<(Step, usize)>>,
}

impl EventGraph {
    /// The graph without silent steps.
    pub(crate) fn visible(&self, alphabet: &Alphabet) -> Result<Visible, TooLarge> {
        let steps = self.nodes.iter().map(|node| steps(node, alphabet)).collect::<Result<Vec<_>, _>>()?;
        let mut numbers = FxHashMap::default();
        let mut waiting = Vec::new();
        let mut number = |node: usize, waiting: &mut Vec<usize>| {
            let next = numbers.len();
            *numbers.entry(node).or_insert_with(|| {
                waiting.push(node);
                next
            })
        };
        let first: Vec<usize> = self.nodes.first().map(|start| start.next.clone()).unwrap_or_default();
        let mut visible = Visible::default();
        for node in first {
            let state = number(node, &mut waiting);
            if !visible.initial.contains(&state) {
                visible.initial.push(state);
            }
        }
        let (mut done, mut work) = (0, 0);
        while done < waiting.len() {
            let node = waiting[done];
            done += 1;
            let mut moves = BTreeSet::new();
            let (mut seen, mut silent) = (FxHashSet::from_iter([node]), vec![node]);
            while let Some(at) = silent.pop() {
                for next in &self.nodes[at].next {
                    work += steps[*next].len();
                    for step in &steps[*next] {
                        if !step.is_empty() {
                            moves.insert((step.clone(), number(*next, &mut waiting)));
                        } else if seen.insert(*next) {
                            silent.push(*next);
                        }
                    }
                }
            }
            if work > MAX_WORK || waiting.len() > MAX_VISIBLE {
                return Err(TooLarge);
            }
            if is_on(Fault::MoveForgotten) {
                moves.pop_last();
            }
            visible.moves.push(moves);
        }
        Ok(visible)
    }
}

/// The events that the step into a state may have had.
fn steps(node: &EventNode, alphabet: &Alphabet) -> Result<Vec<Step>, TooLarge> {
    let mut all: Vec<Step> = vec![Vec::new()];
    let mut labels = node.labels.iter().copied();
    for (number, letter) in alphabet.letters.iter().enumerate() {
        let came = labels.next().unwrap_or(Truth::Unknown);
        let bits: Vec<(u8, Truth)> =
            letter.bits().map(|bit| (bit, labels.next().unwrap_or(Truth::Unknown))).collect();
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
