//! Determinisation (Safra's construction with Piterman's names, for accepting transitions).
//!
//! A state of the result holds the states that the nondeterministic automaton may be in, each in a *nest*: nests form a
//! tree, ordered by age. A step through an accepting transition opens a younger nest inside. Of several nests for one
//! state the oldest wins, and of two inside of each other the inner one. A nest all of whose states have gone to inner
//! nests has seen an accepting transition on every run since the last time: that is good, and the inner nests are
//! dissolved. A nest without states is bad. A word is accepted if some nest is good infinitely often and from some time
//! on never bad; since older nests are closer to the beginning of the list, the first one that is good or bad decides.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::linear::TooLarge;
use crate::linear::buchi::Buchi;
use crate::linear::parity::{Parity, Tree, TreeId, Trees};
use crate::linear::syntax::{LinearFormula, Proposition};

/// The largest number of states before reduction.
const MAX_STATES: usize = 4_000;
/// The largest number of successors that are computed.
const MAX_STEPS: usize = 60_000;

/// The outermost nest has no parent.
const ROOT: u32 = u32::MAX;

/// A state of the deterministic automaton.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Macro {
    /// The states with the index of the innermost nest around each, ascending.
    states: Vec<(u32, u32)>,
    /// The parent of each nest, oldest nests first.
    nests: Vec<u32>,
    /// The bits of the past.
    bits: u64,
}

/// The deterministic automaton of `buchi`, with the operators of the past in `formula` determined.
pub(super) fn determinise(formula: &LinearFormula, buchi: &Buchi) -> Result<Parity, TooLarge> {
    let initial = Macro { states: vec![(0, 0)], nests: vec![ROOT], bits: 0 };
    let mut search = Search {
        formula,
        buchi,
        past_letters: formula.past_letters(),
        numbers: FxHashMap::default(),
        waiting: vec![initial.clone()],
        trees: Trees::default(),
        steps: 0,
    };
    search.numbers.insert(initial, 0);
    let mut states = Vec::new();
    while let Some(state) = search.waiting.get(states.len()).cloned() {
        states.push(search.tree(&state, 0, 0)?);
        if search.waiting.len() > MAX_STATES {
            return Err(TooLarge);
        }
    }
    Ok(Parity { states, trees: search.trees })
}

struct Search<'a> {
    formula: &'a LinearFormula,
    buchi: &'a Buchi,
    /// The letters that the operators of the past depend on.
    past_letters: u64,
    numbers: FxHashMap<Macro, u32>,
    waiting: Vec<Macro>,
    trees: Trees,
    steps: usize,
}

impl Search<'_> {
    /// The decisions on letters and what they lead to, where the letters of `known` have the values in `letters`.
    fn tree(&mut self, state: &Macro, known: u64, letters: u64) -> Result<TreeId, TooLarge> {
        let Some(letter) = self.open_letter(state, known, letters) else { return self.leaf(state, letters) };
        let bit = letter.bit();
        let low = self.tree(state, known | bit, letters)?;
        let high = self.tree(state, known | bit, letters | bit)?;
        Ok(self.trees.branch(letter.0, high, low))
    }

    /// A letter that matters in the state and has no value yet: first those that the past depends on.
    fn open_letter(&self, state: &Macro, known: u64, letters: u64) -> Option<Proposition> {
        let first = |open: u64| (open != 0).then(|| Proposition(open.trailing_zeros()));
        let past = self.past_letters & !known;
        if past != 0 {
            return first(past);
        }
        let (truths, _) = self.formula.read(state.bits, letters);
        let decided = known | !self.formula.letter_mask();
        let mut open = 0;
        for (source, _) in &state.states {
            for transition in &self.buchi.states[*source as usize] {
                let contradicted = (transition.positive & !truths | transition.negative & truths) & decided;
                if contradicted == 0 {
                    open |= (transition.positive | transition.negative) & !decided;
                }
            }
        }
        first(open)
    }

    fn leaf(&mut self, state: &Macro, letters: u64) -> Result<TreeId, TooLarge> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return Err(TooLarge);
        }
        let (truths, bits) = self.formula.read(state.bits, letters);
        let Some((next, priority)) = self.step(state, truths, bits) else {
            return Ok(self.trees.intern(Tree::Constant(false)));
        };
        let fresh = self.waiting.len() as u32;
        let target = match self.numbers.entry(next) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(place) => {
                self.waiting.push(place.key().clone());
                *place.insert(fresh)
            }
        };
        Ok(self.trees.intern(Tree::Leaf { priority, target }))
    }

    /// The next state and the priority of the step; none if no run goes on.
    fn step(&self, state: &Macro, truths: u64, bits: u64) -> Option<(Macro, u32)> {
        let mut forest = Forest { nests: state.nests.clone(), states: BTreeMap::new() };
        let mut opened: FxHashMap<u32, u32> = FxHashMap::default();
        for &(source, nest) in &state.states {
            for transition in &self.buchi.states[source as usize] {
                if transition.positive & !truths | transition.negative & truths != 0 {
                    continue;
                }
                let nest = match transition.accepting {
                    true => *opened.entry(nest).or_insert_with(|| forest.open(nest)),
                    false => nest,
                };
                forest.place(transition.target, nest);
            }
        }
        if forest.states.is_empty() {
            return None;
        }
        let event = forest.settle(state.nests.len());
        let highest = self.buchi.states.len() as u32 + 1;
        let priority = match event {
            // The older the nest, the larger the priority; a bad nest outweighs what it might have been good for.
            Some((nest, true)) => 2 * (highest - nest),
            Some((nest, false)) => 2 * (highest - nest) + 1,
            None => 1,
        };
        let states = forest.states.into_iter().collect();
        Some((Macro { states, nests: forest.nests, bits }, priority))
    }
}

/// Nests with their states during a step.
struct Forest {
    nests: Vec<u32>,
    states: BTreeMap<u32, u32>,
}

impl Forest {
    /// Opens a nest inside of another one.
    fn open(&mut self, parent: u32) -> u32 {
        self.nests.push(parent);
        self.nests.len() as u32 - 1
    }

    /// Puts a state into a nest, unless it is in a better one already.
    fn place(&mut self, state: u32, nest: u32) {
        let better = self.states.get(&state).is_none_or(|other| self.is_better(nest, *other));
        if better {
            self.states.insert(state, nest);
        }
    }

    /// The nests around, from the outermost to the nest itself.
    fn path(&self, nest: u32) -> Vec<u32> {
        let mut path: Vec<u32> = self.around(nest).collect();
        path.reverse();
        path
    }

    /// The nest itself and those around it, outwards.
    fn around(&self, nest: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(nest), |nest| Some(self.nests[*nest as usize]).filter(|parent| *parent != ROOT))
    }

    /// True if the first nest is older where the two part, or inside of the other.
    fn is_better(&self, one: u32, other: u32) -> bool {
        let (one, other) = (self.path(one), self.path(other));
        match one.iter().zip(&other).find(|(a, b)| a != b) {
            Some((a, b)) => a < b,
            None => one.len() > other.len(),
        }
    }

    /// Dissolves nests that are good, removes those that are empty, and numbers the rest anew. Returns the oldest nest
    /// among the first `old` that was good (true) or bad (false).
    fn settle(&mut self, old: usize) -> Option<(u32, bool)> {
        let count = self.nests.len();
        let (mut direct, mut inside) = (vec![false; count], vec![false; count]);
        for nest in self.states.values() {
            direct[*nest as usize] = true;
            self.around(*nest).for_each(|around| inside[around as usize] = true);
        }
        let good = |nest: usize| inside[nest] && !direct[nest];
        let event = (0..old).find(|nest| good(*nest) || !inside[*nest]).map(|nest| (nest as u32, good(nest)));
        // The new nest of the states of each nest: the outermost good nest around, or the same one.
        let home: Vec<u32> = (0..count as u32)
            .map(|nest| self.path(nest).into_iter().find(|around| good(*around as usize)).unwrap_or(nest))
            .collect();
        let stays = |nest: usize| inside[nest] && home[nest] == nest as u32;
        let mut number = vec![ROOT; count];
        let mut nests = Vec::new();
        for nest in (0..count).filter(|nest| stays(*nest)) {
            number[nest] = nests.len() as u32;
            let parent = self.nests[nest];
            nests.push(if parent == ROOT { ROOT } else { number[parent as usize] });
        }
        for nest in self.states.values_mut() {
            *nest = number[home[*nest as usize] as usize];
        }
        self.nests = nests;
        event
    }
}
