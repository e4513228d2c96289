//! The automata against the meaning of formulas on ultimately periodic words, evaluated position by position.

use crate::linear::buchi::Buchi;
use crate::linear::determinised;
use crate::linear::deterministic;
use crate::linear::parity::{Parity, Tree};
use crate::linear::syntax::{LinearFormula, LinearId, Past, Proposition};
use avr_testkit::Random;

const LETTERS: u32 = 2;

/// A path formula as it is written, for its own evaluation.
#[derive(Clone, Debug)]
enum Written {
    Letter(u32),
    Not(Box<Self>),
    And(Box<Self>, Box<Self>),
    Next(Box<Self>),
    Until(Box<Self>, Box<Self>),
    Weak(Box<Self>, Box<Self>),
    Since(Box<Self>, Box<Self>),
    Yesterday(Box<Self>),
}

/// A word: a beginning and what repeats after it, each letter as a set of true propositions.
#[derive(Clone, Debug)]
struct Word {
    letters: Vec<u64>,
    /// The start of the repetition.
    back: usize,
}

/// A path formula, `size` operators deep.
fn formula(random: &mut Random, size: u32, past: bool) -> Written {
    if size == 0 {
        return letter(random);
    }
    let kind = random.below(10);
    let mut next = |past| Box::new(formula(random, size - 1, past));
    match kind {
        0 => Written::Not(next(past)),
        1 | 2 => Written::And(next(past), next(past)),
        3 => Written::Not(Box::new(Written::And(next(past), next(past)))),
        4 => Written::Since(next(true), next(true)),
        5 if past => Written::Yesterday(next(true)),
        5 | 6 if !past => Written::Next(next(false)),
        7 if !past => Written::Until(next(false), next(false)),
        8 if !past => Written::Weak(next(false), next(false)),
        _ => letter(random),
    }
}

fn letter(random: &mut Random) -> Written {
    Written::Letter(random.below(LETTERS))
}

fn word(random: &mut Random) -> Word {
    let length = 1 + random.below(6);
    let letters = (0..length).map(|_| random.number(LETTERS)).collect();
    Word { letters, back: random.below(length) }
}

impl Written {
    fn linear(&self, formula: &mut LinearFormula) -> LinearId {
        let mut pair = |p: &Self, q: &Self| (p.linear(formula), q.linear(formula));
        match self {
            Self::Letter(letter) => formula.literal(Proposition(*letter), true),
            Self::Not(p) => {
                let p = p.linear(formula);
                formula.negation(p)
            }
            Self::And(p, q) => {
                let (p, q) = pair(p, q);
                formula.list(true, [p, q])
            }
            Self::Next(p) => {
                let p = p.linear(formula);
                formula.next(p)
            }
            Self::Until(p, q) => {
                let (p, q) = pair(p, q);
                formula.until(p, q)
            }
            Self::Weak(p, q) => {
                let (p, q) = pair(p, q);
                formula.weak_until(p, q)
            }
            Self::Since(p, q) => {
                let (p, q) = pair(p, q);
                formula.past_literal(Past::Since(p, q), true).expect("there are few")
            }
            Self::Yesterday(p) => {
                let p = p.linear(formula);
                formula.past_literal(Past::Yesterday(p), true).expect("there are few")
            }
        }
    }

    fn depth(&self) -> u32 {
        match self {
            Self::Letter(_) => 0,
            Self::Not(p) | Self::Next(p) | Self::Yesterday(p) => 1 + p.depth(),
            Self::And(p, q) | Self::Until(p, q) | Self::Weak(p, q) | Self::Since(p, q) => 1 + p.depth().max(q.depth()),
        }
    }

    /// The truth at every position of a word, by the definition.
    fn truths(&self, word: &Word) -> Vec<bool> {
        let positions = 0..word.letters.len();
        let pair = |p: &Self, q: &Self| (p.truths(word), q.truths(word));
        match self {
            Self::Letter(letter) => word.letters.iter().map(|truths| truths >> letter & 1 == 1).collect(),
            Self::Not(p) => p.truths(word).into_iter().map(|truth| !truth).collect(),
            Self::And(p, q) => {
                let (p, q) = pair(p, q);
                positions.map(|position| p[position] && q[position]).collect()
            }
            Self::Next(p) => {
                let p = p.truths(word);
                positions.map(|position| p[word.after(position)]).collect()
            }
            Self::Until(p, q) | Self::Weak(p, q) => {
                let (p, q) = pair(p, q);
                let weak = matches!(self, Self::Weak(..));
                let from = |position: usize| {
                    let ahead = std::iter::successors(Some(position), |position| Some(word.after(*position)));
                    let mut ahead = ahead.take(2 * word.letters.len());
                    ahead.find(|position| q[*position] || !p[*position]).map_or(weak, |position| q[position])
                };
                positions.map(from).collect()
            }
            Self::Since(p, q) => {
                let (p, q) = pair(p, q);
                let back = |position| (0..=position).rev().find(|position| q[*position] || !p[*position]);
                positions.map(|position| back(position).is_some_and(|position| q[position])).collect()
            }
            Self::Yesterday(p) => {
                let p = p.truths(word);
                positions.map(|position| position > 0 && p[position - 1]).collect()
            }
        }
    }
}

impl Word {
    fn at(&self, position: usize) -> u64 {
        self.letters[if position < self.letters.len() { position } else { self.phase(position) }]
    }

    fn after(&self, position: usize) -> usize {
        if position + 1 < self.letters.len() { position + 1 } else { self.back }
    }

    /// The position in the first round for one from the repetition.
    fn phase(&self, position: usize) -> usize {
        self.back + (position - self.back) % (self.letters.len() - self.back)
    }

    /// The same word with the repetition written out: what was once lies far behind when it starts.
    fn unrolled(&self) -> Self {
        let rounds = 8 * (self.letters.len() - self.back);
        let letters: Vec<u64> = (0..self.letters.len() + rounds).map(|position| self.at(position)).collect();
        Self { back: self.back + rounds, letters }
    }
}

/// True if a deterministic automaton accepts a word.
fn accepts(automaton: &Parity, word: &Word) -> bool {
    let mut state = 0;
    let mut seen = Vec::new();
    let mut priorities = Vec::new();
    for position in 0.. {
        if position >= word.back {
            let phase = word.phase(position);
            if let Some(start) = seen.iter().position(|(known, before, _)| (*known, *before) == (state, phase)) {
                let (_, _, from): (u32, usize, usize) = seen[start];
                return priorities[from..].iter().max().expect("a cycle has a transition") % 2 == 0;
            }
            seen.push((state, phase, priorities.len()));
        }
        let mut tree = automaton.states[state as usize];
        loop {
            match automaton.trees.get(tree) {
                Tree::Constant(value) => return value,
                Tree::Leaf { priority, target } => {
                    priorities.push(priority);
                    state = target;
                    break;
                }
                Tree::Branch { letter, high, low } => {
                    tree = if word.at(position) >> letter & 1 == 1 { high } else { low }
                }
            }
        }
    }
    unreachable!("there are finitely many states")
}

fn letters() -> LinearFormula {
    let mut formula = LinearFormula::default();
    for _ in 0..LETTERS {
        formula.letter().expect("there are few");
    }
    formula
}

#[test]
fn automata_accept_the_words_that_satisfy_the_formula() {
    let (mut decided, mut sizes) = (0, Vec::new());
    for seed in 0..1_500 {
        let mut random = Random::new(seed);
        let size = 1 + random.below(4);
        let written = formula(&mut random, size, false);
        let written = if seed % 3 == 0 { under_fairness(&mut random, written) } else { written };
        let mut linear = letters();
        let root = written.linear(&mut linear);
        let Ok(automaton) = deterministic(&mut linear, root) else { continue };
        let own = determinised(&linear, root);
        decided += 1;
        sizes.push(automaton.size());
        for _ in 0..12 {
            let word = word(&mut random);
            let expected = written.truths(&word.unrolled())[0];
            assert_eq!(accepts(&automaton, &word), expected, "seed {seed}: {written:?} on {word:?}");
            if let Ok(own) = &own {
                assert_eq!(accepts(own, &word), expected, "seed {seed}, not complemented: {written:?} on {word:?}");
            }
        }
    }
    sizes.sort_unstable();
    assert!(decided > 1_450, "only {decided} of 1500 formulas have an automaton");
    assert!(sizes[sizes.len() / 2] <= 12, "half of the automata have more than {} trees", sizes[sizes.len() / 2]);
}

/// The formula under one or two fairness assumptions of the form `(F G m && G F r) -> G F i`.
fn under_fairness(random: &mut Random, written: Written) -> Written {
    let not = |p: Written| Written::Not(Box::new(p));
    let and = |p: Written, q: Written| Written::And(Box::new(p), Box::new(q));
    let always = |p: Written| not(Written::Until(Box::new(not(and(p.clone(), not(p.clone())))), Box::new(not(p))));
    let finally = |p: Written| not(always(not(p)));
    let mut unfair = || and(finally(always(letter(random))), always(finally(letter(random))));
    let one = and(not(unfair()), not(written));
    not(if one.depth() % 2 == 0 { one } else { and(one, not(unfair())) })
}

/// The states of the automata of formulas that people write.
#[test]
fn common_formulas_have_small_automata() {
    #[track_caller]
    fn check(build: impl Fn(&mut LinearFormula, LinearId, LinearId) -> LinearId, states: usize) {
        let mut formula = letters();
        let (p, q) = (formula.literal(Proposition(0), true), formula.literal(Proposition(1), true));
        let root = build(&mut formula, p, q);
        let automaton = deterministic(&mut formula, root).expect("it is small");
        assert_eq!(automaton.states.len(), states, "{automaton:?}");
    }
    fn finally(f: &mut LinearFormula, p: LinearId) -> LinearId {
        let top = f.constant(true);
        f.until(top, p)
    }
    fn globally(f: &mut LinearFormula, p: LinearId) -> LinearId {
        let bottom = f.constant(false);
        f.release(bottom, p)
    }
    fn infinitely(f: &mut LinearFormula, p: LinearId) -> LinearId {
        let p = finally(f, p);
        globally(f, p)
    }
    check(|f, p, _| finally(f, p), 1);
    check(|f, p, _| infinitely(f, p), 1);
    check(
        |f, p, _| {
            let p = globally(f, p);
            finally(f, p)
        },
        1,
    );
    // Response, and response under fairness: is something owed?
    check(
        |f, p, q| {
            let (not_p, q) = (f.negation(p), finally(f, q));
            let implied = f.list(false, [not_p, q]);
            globally(f, implied)
        },
        2,
    );
    check(
        |f, p, q| {
            let (p, q) = (infinitely(f, p), infinitely(f, q));
            let not_p = f.negation(p);
            f.list(false, [not_p, q])
        },
        1,
    );
    // Two fairness assumptions with letters of their own.
    check(
        |f, p, q| {
            let unfair = |f: &mut LinearFormula| {
                let letter = f.letter().expect("there are few");
                let letter = f.literal(letter, true);
                let always = globally(f, letter);
                (finally(f, always), infinitely(f, p))
            };
            let (one, other) = (unfair(f), unfair(f));
            let one = f.list(true, [one.0, one.1]);
            let other = f.list(true, [other.0, other.1]);
            let goal = finally(f, q);
            f.list(false, [one, other, goal])
        },
        2,
    );
}

#[test]
fn an_automaton_without_words_is_a_constant() {
    let mut formula = letters();
    let p = formula.literal(Proposition(0), true);
    let next = formula.next(p);
    let not_next = formula.negation(next);
    let root = formula.list(true, [next, not_next]);
    let automaton = deterministic(&mut formula, root).expect("it is small");
    assert_eq!(automaton.trees.get(automaton.states[0]), Tree::Constant(false));
    assert!(Buchi::new(&formula, root).expect("it is small").states[0].is_empty());
}
