//! Functions from bits to bits, evaluated in three-valued logic: circuits bit by bit, tables as precisely as possible.

use crate::word::{Word, bits};
use three_valued::Truth;

/// A gate; its operands are gates before it.
#[derive(Clone, Copy, Debug)]
pub enum Gate {
    /// The bit of the argument with this index.
    Leaf(usize),
    Constant(bool),
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
    Xor(usize, usize),
}

#[derive(Clone, Debug)]
pub enum Function {
    /// The gates, and those of them that give the bits of the result. Its three-valued value can be less precise than
    /// the bits allow, as that of programs is.
    Circuit { gates: Vec<Gate>, outputs: Vec<usize> },
    /// The results by argument. The three-valued value is the join of all results.
    Table(Vec<u64>),
}

impl Function {
    pub fn at(&self, argument: u64) -> u64 {
        match self {
            Self::Circuit { .. } => self.evaluate(Word::exact(argument)).value(),
            Self::Table(results) => results[argument as usize],
        }
    }

    /// A result that covers the results of all that the argument covers.
    pub fn evaluate(&self, argument: Word) -> Word {
        match self {
            Self::Circuit { gates, outputs } => {
                let truths = truths(gates, argument);
                let results = outputs.iter().enumerate();
                results.fold(Word::exact(0), |word, (index, gate)| word.with(index, truths[*gate]))
            }
            Self::Table(results) => {
                let covered = argument.concretisations().map(|argument| Word::exact(results[argument as usize]));
                covered.reduce(Word::join).expect("a word covers something")
            }
        }
    }

    /// The unknown bits of the argument on which the unknown ones of the chosen bits of the result depend.
    pub fn cone(&self, argument: Word, chosen: u64) -> u64 {
        match self {
            Self::Circuit { gates, outputs } => {
                let outputs = bits(chosen).filter_map(|index| outputs.get(index).copied());
                circuit_cone(gates, &truths(gates, argument), outputs.collect())
            }
            Self::Table(results) => {
                let matters = |leaf: &usize| {
                    let changes = |at: u64| (results[at as usize] ^ results[(at ^ 1 << leaf) as usize]) & chosen != 0;
                    argument.concretisations().any(changes)
                };
                bits(argument.unknown()).filter(matters).fold(0, |cone, leaf| cone | 1 << leaf)
            }
        }
    }
}

fn truths(gates: &[Gate], argument: Word) -> Vec<Truth> {
    let mut truths = Vec::with_capacity(gates.len());
    for gate in gates {
        let at = |gate: usize| -> Truth { truths[gate] };
        truths.push(match *gate {
            Gate::Leaf(leaf) => argument.get(leaf),
            Gate::Constant(value) => Truth::from(value),
            Gate::Not(a) => !at(a),
            Gate::And(a, b) => at(a) & at(b),
            Gate::Or(a, b) => at(a) | at(b),
            Gate::Xor(a, b) => (at(a) & !at(b)) | (!at(a) & at(b)),
        });
    }
    truths
}

fn circuit_cone(gates: &[Gate], truths: &[Truth], mut pending: Vec<usize>) -> u64 {
    let mut seen = vec![false; gates.len()];
    let mut cone = 0;
    while let Some(gate) = pending.pop() {
        if !truths[gate].is_unknown() || std::mem::replace(&mut seen[gate], true) {
            continue;
        }
        match gates[gate] {
            Gate::Leaf(leaf) => cone |= 1 << leaf,
            Gate::Constant(_) => {}
            Gate::Not(a) => pending.push(a),
            Gate::And(a, b) | Gate::Or(a, b) | Gate::Xor(a, b) => pending.extend([a, b]),
        }
    }
    cone
}

/// Builds circuits.
#[derive(Debug, Default)]
pub struct Builder(Vec<Gate>);

impl Builder {
    pub fn gate(&mut self, gate: Gate) -> usize {
        self.0.push(gate);
        self.0.len() - 1
    }

    pub fn leaves(&mut self, first: usize, count: usize) -> Vec<usize> {
        (first..first + count).map(|leaf| self.gate(Gate::Leaf(leaf))).collect()
    }

    /// `then` where the condition holds, and `other` elsewhere.
    pub fn select(&mut self, condition: usize, then: &[usize], other: &[usize]) -> Vec<usize> {
        let not = self.gate(Gate::Not(condition));
        let mut bit = |then: usize, other: usize| {
            let (then, other) = (self.gate(Gate::And(condition, then)), self.gate(Gate::And(not, other)));
            self.gate(Gate::Or(then, other))
        };
        then.iter().zip(other).map(|(then, other)| bit(*then, *other)).collect()
    }

    /// True if a number is less than another; least significant bits first.
    pub fn less(&mut self, a: &[usize], b: &[usize]) -> usize {
        let mut less = self.gate(Gate::Constant(false));
        for (&a, &b) in a.iter().zip(b) {
            let differ = self.gate(Gate::Xor(a, b));
            less = self.select(differ, &[b], &[less])[0];
        }
        less
    }

    /// A number plus one, modulo its width.
    pub fn increment(&mut self, number: &[usize]) -> Vec<usize> {
        let mut carry = self.gate(Gate::Constant(true));
        let mut sum = Vec::new();
        for &bit in number {
            sum.push(self.gate(Gate::Xor(bit, carry)));
            carry = self.gate(Gate::And(bit, carry));
        }
        sum
    }

    /// True if all bits are 1.
    pub fn all(&mut self, number: &[usize]) -> usize {
        let start = self.gate(Gate::Constant(true));
        number.iter().fold(start, |all, &bit| self.gate(Gate::And(all, bit)))
    }

    pub fn finish(self, outputs: Vec<usize>) -> Function {
        Function::Circuit { gates: self.0, outputs }
    }
}

/// The function that selects bits of its argument.
pub fn selection(leaves: &[usize]) -> Function {
    Function::Circuit {
        gates: leaves.iter().map(|leaf| Gate::Leaf(*leaf)).collect(),
        outputs: (0..leaves.len()).collect(),
    }
}
