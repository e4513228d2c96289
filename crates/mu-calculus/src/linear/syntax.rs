//! Path formulas in positive normal form, every subformula once.

use rustc_hash::FxHashMap;

/// Position in the list of subformulas.
pub(crate) type LinearId = u32;

/// The largest number of letters of a path formula.
const MAX_LETTERS: u32 = 32;
/// The largest number of operators of the past in a path formula.
const MAX_PAST: usize = 32;
/// The largest number of subformulas.
const MAX_NODES: usize = 2_000;

/// An automaton would exceed the limits of this implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// A proposition: a letter, or the truth of an operator of the past, which has a number from [`MAX_LETTERS`] on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Proposition(pub(crate) u32);

impl Proposition {
    /// The proposition as a set with one member.
    pub(crate) fn bit(self) -> u64 {
        1 << self.0
    }

    fn past(index: usize) -> Self {
        Self(MAX_LETTERS + index as u32)
    }
}

/// A path formula.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Linear {
    Constant(bool),
    /// A proposition that is to be true or to be false.
    Literal(Proposition, bool),
    /// Two operands or more, ascending.
    And(Vec<LinearId>),
    /// Two operands or more, ascending.
    Or(Vec<LinearId>),
    Next(LinearId),
    Until(LinearId, LinearId),
    Release(LinearId, LinearId),
}

/// An operator of the past over Boolean combinations of letters and of operators before it in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Past {
    /// `p S q` is `q || p && Y (p S q)`, false before the beginning.
    Since(LinearId, LinearId),
    /// `Y p`, false in the beginning.
    Yesterday(LinearId),
}

/// The subformulas of one path formula.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinearFormula {
    nodes: Vec<Linear>,
    numbers: FxHashMap<Linear, LinearId>,
    letters: u32,
    past: Vec<Past>,
    negations: FxHashMap<LinearId, LinearId>,
}

impl LinearFormula {
    pub(crate) fn get(&self, id: LinearId) -> &Linear {
        &self.nodes[id as usize]
    }

    pub(crate) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The operators of the past, each after those in its operands.
    pub(crate) fn past(&self) -> &[Past] {
        &self.past
    }

    /// A new letter.
    pub(crate) fn letter(&mut self) -> Result<Proposition, TooLarge> {
        let letter = Proposition(self.letters);
        self.letters += 1;
        if letter.0 < MAX_LETTERS { Ok(letter) } else { Err(TooLarge) }
    }

    fn intern(&mut self, node: Linear) -> LinearId {
        let next = self.nodes.len() as LinearId;
        let nodes = &mut self.nodes;
        *self.numbers.entry(node).or_insert_with_key(|node| {
            nodes.push(node.clone());
            next
        })
    }

    /// Fails if the formula has grown too large to go on.
    pub(crate) fn check_size(&self) -> Result<(), TooLarge> {
        if self.nodes.len() > MAX_NODES { Err(TooLarge) } else { Ok(()) }
    }

    pub(crate) fn constant(&mut self, value: bool) -> LinearId {
        self.intern(Linear::Constant(value))
    }

    pub(crate) fn literal(&mut self, proposition: Proposition, value: bool) -> LinearId {
        self.intern(Linear::Literal(proposition, value))
    }

    /// A conjunction or disjunction, flattened, without repetitions and neutral operands.
    pub(crate) fn list(&mut self, conjunction: bool, operands: impl IntoIterator<Item = LinearId>) -> LinearId {
        let mut flat = Vec::new();
        for operand in operands {
            match self.get(operand) {
                Linear::Constant(value) if *value == conjunction => {}
                Linear::Constant(_) => return self.constant(!conjunction),
                Linear::And(inner) if conjunction => flat.extend_from_slice(inner),
                Linear::Or(inner) if !conjunction => flat.extend_from_slice(inner),
                _ => flat.push(operand),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        match flat.as_slice() {
            [] => self.constant(conjunction),
            [single] => *single,
            _ if self.has_complements(&flat) => self.constant(!conjunction),
            _ => self.intern(if conjunction { Linear::And(flat) } else { Linear::Or(flat) }),
        }
    }

    fn has_complements(&self, operands: &[LinearId]) -> bool {
        operands.iter().any(|id| match self.get(*id) {
            Linear::Literal(proposition, value) => {
                let opposite = self.numbers.get(&Linear::Literal(*proposition, !value));
                opposite.is_some_and(|opposite| operands.contains(opposite))
            }
            _ => false,
        })
    }

    pub(crate) fn next(&mut self, p: LinearId) -> LinearId {
        match self.get(p) {
            Linear::Constant(_) => p,
            _ => self.intern(Linear::Next(p)),
        }
    }

    pub(crate) fn until(&mut self, p: LinearId, q: LinearId) -> LinearId {
        match (self.get(p), self.get(q)) {
            (_, Linear::Constant(_)) => q,
            (Linear::Constant(false), _) => q,
            (_, Linear::Until(first, _)) if *first == p => q,
            _ if p == q => q,
            _ => self.intern(Linear::Until(p, q)),
        }
    }

    pub(crate) fn release(&mut self, p: LinearId, q: LinearId) -> LinearId {
        match (self.get(p), self.get(q)) {
            (_, Linear::Constant(_)) => q,
            (Linear::Constant(true), _) => q,
            (_, Linear::Release(first, _)) if *first == p => q,
            _ if p == q => q,
            _ => self.intern(Linear::Release(p, q)),
        }
    }

    /// `p W q` is `q R (p || q)`.
    pub(crate) fn weak_until(&mut self, p: LinearId, q: LinearId) -> LinearId {
        let either = self.list(false, [p, q]);
        self.release(q, either)
    }

    /// The truth of an operator of the past as a literal.
    pub(crate) fn past_literal(&mut self, past: Past, value: bool) -> Result<LinearId, TooLarge> {
        let index = self.past.iter().position(|known| *known == past).unwrap_or_else(|| {
            self.past.push(past);
            self.past.len() - 1
        });
        if index >= MAX_PAST {
            return Err(TooLarge);
        }
        Ok(self.literal(Proposition::past(index), value))
    }

    pub(crate) fn negation(&mut self, id: LinearId) -> LinearId {
        if let Some(known) = self.negations.get(&id) {
            return *known;
        }
        let negated = self.negated(id);
        self.negations.insert(id, negated);
        negated
    }

    fn negated(&mut self, id: LinearId) -> LinearId {
        let negations = |formula: &mut Self, operands: &[LinearId]| -> Vec<LinearId> {
            operands.iter().map(|operand| formula.negation(*operand)).collect()
        };
        match self.get(id).clone() {
            Linear::Constant(value) => self.constant(!value),
            Linear::Literal(proposition, value) => self.literal(proposition, !value),
            Linear::And(operands) => {
                let operands = negations(self, &operands);
                self.list(false, operands)
            }
            Linear::Or(operands) => {
                let operands = negations(self, &operands);
                self.list(true, operands)
            }
            Linear::Next(p) => {
                let p = self.negation(p);
                self.next(p)
            }
            Linear::Until(p, q) => {
                let (p, q) = (self.negation(p), self.negation(q));
                self.release(p, q)
            }
            Linear::Release(p, q) => {
                let (p, q) = (self.negation(p), self.negation(q));
                self.until(p, q)
            }
        }
    }

    /// `a` of `F G a`, if a speaks of single letters.
    pub(crate) fn always_from(&self, id: LinearId) -> Option<LinearId> {
        self.nested(id, |formula, id| formula.eventually(id), |formula, id| formula.always(id))
    }

    /// `b` of `G F b`, if b speaks of single letters.
    pub(crate) fn infinitely_often(&self, id: LinearId) -> Option<LinearId> {
        self.nested(id, |formula, id| formula.always(id), |formula, id| formula.eventually(id))
    }

    fn nested(
        &self,
        id: LinearId,
        outer: impl Fn(&Self, LinearId) -> Option<LinearId>,
        inner: impl Fn(&Self, LinearId) -> Option<LinearId>,
    ) -> Option<LinearId> {
        outer(self, id).and_then(|id| inner(self, id)).filter(|id| self.speaks_of_one_letter(*id))
    }

    fn eventually(&self, id: LinearId) -> Option<LinearId> {
        match self.get(id) {
            Linear::Until(p, q) if *self.get(*p) == Linear::Constant(true) => Some(*q),
            _ => None,
        }
    }

    fn always(&self, id: LinearId) -> Option<LinearId> {
        match self.get(id) {
            Linear::Release(p, q) if *self.get(*p) == Linear::Constant(false) => Some(*q),
            _ => None,
        }
    }

    fn speaks_of_one_letter(&self, id: LinearId) -> bool {
        match self.get(id) {
            Linear::Constant(_) => true,
            Linear::Literal(proposition, _) => proposition.0 < MAX_LETTERS,
            Linear::And(operands) | Linear::Or(operands) => operands.iter().all(|id| self.speaks_of_one_letter(*id)),
            Linear::Next(_) | Linear::Until(..) | Linear::Release(..) => false,
        }
    }

    /// The truth of a Boolean combination of letters of which some are known, or a letter that it depends on.
    pub(crate) fn decide(&self, id: LinearId, known: u64, letters: u64) -> Result<bool, Proposition> {
        match self.get(id) {
            Linear::Constant(value) => Ok(*value),
            Linear::Literal(proposition, _) if known & proposition.bit() == 0 => Err(*proposition),
            Linear::Literal(proposition, value) => Ok((letters & proposition.bit() != 0) == *value),
            Linear::And(operands) => self.decide_list(operands, true, known, letters),
            Linear::Or(operands) => self.decide_list(operands, false, known, letters),
            Linear::Next(_) | Linear::Until(..) | Linear::Release(..) => {
                unreachable!("only combinations of letters are asked for")
            }
        }
    }

    fn decide_list(
        &self,
        operands: &[LinearId],
        conjunction: bool,
        known: u64,
        letters: u64,
    ) -> Result<bool, Proposition> {
        let mut whole = Ok(conjunction);
        for operand in operands {
            match self.decide(*operand, known, letters) {
                Ok(value) if value != conjunction => return Ok(value),
                Ok(_) => {}
                open => whole = open,
            }
        }
        whole
    }

    /// All that can be letters.
    pub(crate) fn letter_mask(&self) -> u64 {
        (1 << MAX_LETTERS) - 1
    }

    /// The letters that the operators of the past depend on.
    pub(crate) fn past_letters(&self) -> u64 {
        let mut pending: Vec<LinearId> = self.past.iter().flat_map(|past| past.operands()).collect();
        let (mut seen, mut letters) = (vec![false; self.nodes.len()], 0);
        while let Some(id) = pending.pop() {
            if std::mem::replace(&mut seen[id as usize], true) {
                continue;
            }
            match self.get(id) {
                Linear::Literal(proposition, _) => letters |= proposition.bit(),
                Linear::And(operands) | Linear::Or(operands) => pending.extend(operands),
                _ => {}
            }
        }
        letters & self.letter_mask()
    }

    /// Reads one letter: from the bits of the past (one per operator) and the true letters, the true propositions and
    /// the next bits.
    pub(crate) fn read(&self, bits: u64, letters: u64) -> (u64, u64) {
        let (mut truths, mut next) = (letters, 0);
        for (index, past) in self.past.iter().enumerate() {
            let before = bits >> index & 1 == 1;
            let is_true = |id: LinearId| self.is_true(id, truths, &mut vec![None; self.nodes.len()]);
            let (now, after) = match *past {
                Past::Since(p, q) => {
                    let value = is_true(q) || before && is_true(p);
                    (value, value)
                }
                Past::Yesterday(p) => (before, is_true(p)),
            };
            truths |= if now { Proposition::past(index).bit() } else { 0 };
            next |= u64::from(after) << index;
        }
        (truths, next)
    }

    /// The truth of a Boolean combination of propositions. `known` remembers what was computed.
    fn is_true(&self, id: LinearId, truths: u64, known: &mut Vec<Option<bool>>) -> bool {
        if let Some(value) = known[id as usize] {
            return value;
        }
        let value = match self.get(id) {
            Linear::Constant(value) => *value,
            Linear::Literal(proposition, value) => (truths & proposition.bit() != 0) == *value,
            Linear::And(operands) => operands.iter().all(|operand| self.is_true(*operand, truths, known)),
            Linear::Or(operands) => operands.iter().any(|operand| self.is_true(*operand, truths, known)),
            Linear::Next(_) | Linear::Until(..) | Linear::Release(..) => {
                unreachable!("operators of the past have no operands that speak of the future")
            }
        };
        known[id as usize] = Some(value);
        value
    }
}

impl Past {
    fn operands(self) -> Vec<LinearId> {
        match self {
            Self::Since(p, q) => vec![p, q],
            Self::Yesterday(p) => vec![p],
        }
    }
}
