//! Formulas with fairness, `(F G a && G F b) || … || psi`, without a determinisation of the whole.
//!
//! Every operand of the form `F G a && G F b` with a and b about single letters is a Rabin pair that needs no memory
//! ("a fails finitely often, b holds infinitely often"). The parity automaton of psi is one pair for each even
//! priority. A record of the order in which the pairs last failed turns a disjunction of pairs into priorities (index
//! appearance records, Löding 1999): n pairs cost a factor of n! at most.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::linear::parity::{Parity, Tree, TreeId, Trees};
use crate::linear::syntax::{Linear, LinearFormula, LinearId, Proposition};
use crate::linear::{TooLarge, deterministic};

/// The largest number of pairs.
const MAX_PAIRS: usize = 6;
/// The largest number of successors that are computed.
const MAX_STEPS: usize = 60_000;

/// Accepts the words in which `never` fails finitely often, that is `a` of `F G a`, and `often` holds infinitely often.
#[derive(Clone, Copy, Debug)]
struct Pair {
    always: LinearId,
    often: LinearId,
}

/// The automaton of a disjunction some operands of which are pairs; none if there are no such operands.
pub(super) fn with_pairs(formula: &mut LinearFormula, root: LinearId) -> Option<Result<Parity, TooLarge>> {
    let Linear::Or(operands) = formula.get(root).clone() else { return None };
    let (mut pairs, mut rest) = (Vec::new(), Vec::new());
    for operand in operands {
        match pair(formula, operand) {
            Some(pair) => pairs.push(pair),
            None => rest.push(operand),
        }
    }
    if pairs.is_empty() {
        return None;
    }
    let rest = formula.list(false, rest);
    Some(deterministic(formula, rest).and_then(|rest| joined(formula, &pairs, &rest)))
}

/// `F G a && G F b`, or one of the two alone.
fn pair(formula: &mut LinearFormula, id: LinearId) -> Option<Pair> {
    let anything = formula.constant(true);
    let operands = match formula.get(id) {
        Linear::And(operands) => operands.clone(),
        _ => vec![id],
    };
    let mut pair = Pair { always: anything, often: anything };
    for operand in operands {
        match (formula.always_from(operand), formula.infinitely_often(operand)) {
            // `F G a && F G b` is `F G (a && b)`.
            (Some(always), _) => pair.always = formula.list(true, [pair.always, always]),
            (_, Some(often)) if pair.often == anything => pair.often = often,
            _ => return None,
        }
    }
    Some(pair)
}

/// A state: that of the rest (none if it can no longer accept), and the pairs, those that failed last first.
type State = (Option<u32>, Vec<u8>);

struct Search<'a> {
    formula: &'a LinearFormula,
    pairs: &'a [Pair],
    rest: &'a Parity,
    /// The even priorities of the rest, each a pair.
    priorities: Vec<u32>,
    numbers: FxHashMap<State, u32>,
    waiting: Vec<State>,
    trees: Trees,
    steps: usize,
}

fn joined(formula: &LinearFormula, pairs: &[Pair], rest: &Parity) -> Result<Parity, TooLarge> {
    let mut priorities: Vec<u32> = rest.edges().into_iter().map(|edge| rest.priority(edge)).collect();
    priorities.retain(|priority| priority.is_multiple_of(2));
    priorities.sort_unstable();
    priorities.dedup();
    let count = pairs.len() + priorities.len();
    if count > MAX_PAIRS {
        return Err(TooLarge);
    }
    let initial = (Some(0), (0..count as u8).collect());
    let mut search = Search {
        formula,
        pairs,
        rest,
        priorities,
        numbers: FxHashMap::from_iter([(Clone::clone(&initial), 0)]),
        waiting: vec![initial],
        trees: Trees::default(),
        steps: 0,
    };
    let mut states = Vec::new();
    while let Some(state) = search.waiting.get(states.len()).cloned() {
        states.push(search.tree(&state, 0, 0)?);
    }
    Parity { states, trees: search.trees }.reduced()
}

/// The step of the rest, or a letter that must be known for it.
enum Step {
    Open(Proposition),
    /// The rest accepts whatever comes.
    Accepts,
    /// The next state of the rest with the priority of the step; none if it cannot accept any more.
    Goes(Option<(u32, u32)>),
}

impl Search<'_> {
    fn tree(&mut self, state: &State, known: u64, letters: u64) -> Result<TreeId, TooLarge> {
        let letter = match self.rest_step(state.0, known, letters) {
            Step::Accepts => return Ok(self.trees.intern(Tree::Constant(true))),
            Step::Open(letter) => Some(letter),
            Step::Goes(step) => match self.open_letter(known, letters) {
                None => return self.leaf(state, step, letters),
                open => open,
            },
        };
        let letter = letter.expect("a step that is not determined has an open letter");
        let low = self.tree(state, known | letter.bit(), letters)?;
        let high = self.tree(state, known | letter.bit(), letters | letter.bit())?;
        Ok(self.trees.branch(letter.0, high, low))
    }

    fn rest_step(&self, state: Option<u32>, known: u64, letters: u64) -> Step {
        let Some(state) = state else { return Step::Goes(None) };
        let mut tree = self.rest.states[state as usize];
        loop {
            match self.rest.trees.get(tree) {
                Tree::Constant(true) => return Step::Accepts,
                Tree::Constant(false) => return Step::Goes(None),
                Tree::Leaf { priority, target } => return Step::Goes(Some((target, priority))),
                Tree::Branch { letter, .. } if known >> letter & 1 == 0 => return Step::Open(Proposition(letter)),
                Tree::Branch { letter, high, low } => tree = if letters >> letter & 1 == 1 { high } else { low },
            }
        }
    }

    /// A letter of a pair that is not known yet.
    fn open_letter(&self, known: u64, letters: u64) -> Option<Proposition> {
        let operands = self.pairs.iter().flat_map(|pair| [pair.always, pair.often]);
        operands.filter_map(|operand| self.formula.decide(operand, known, letters).err()).next()
    }

    fn leaf(&mut self, state: &State, step: Option<(u32, u32)>, letters: u64) -> Result<TreeId, TooLarge> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return Err(TooLarge);
        }
        let (failed, good) = self.events(step, letters);
        let last = |of: &[bool]| state.1.iter().rposition(|pair| of[usize::from(*pair)]).map_or(0, |index| index + 1);
        let (bad, best) = (last(&failed) as u32, last(&good) as u32);
        let priority = if best > bad { 2 * best } else { 2 * bad + 1 };
        let (front, back): (Vec<u8>, Vec<u8>) = state.1.iter().partition(|pair| failed[usize::from(**pair)]);
        let next = (step.map(|(target, _)| target), [front, back].concat());
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

    /// For each pair whether it failed in the step, and whether what must come infinitely often came.
    fn events(&self, step: Option<(u32, u32)>, letters: u64) -> (Vec<bool>, Vec<bool>) {
        let holds = |operand: LinearId| self.formula.decide(operand, u64::MAX, letters) == Ok(true);
        let of_pairs = self.pairs.iter().map(|pair| (!holds(pair.always), holds(pair.often)));
        let of_rest = self.priorities.iter().map(|even| match step {
            Some((_, priority)) => (priority > *even, priority == *even),
            None => (true, false),
        });
        of_pairs.chain(of_rest).unzip()
    }
}
