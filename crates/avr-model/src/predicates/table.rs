//! The terms of an analysis, and the values of their predicates in a state.

use super::number::NumberSet;
use crate::faults::predicates::{Fault, is_on};
use avr_isa::DataAddress;
use avr_machine::{Comparison, DataSpace, Operand, PAGE_CELLS, Relation, flag};
use avr_properties::{Atom, AtomKind, ComparedNumbers, Order};
use std::collections::{BTreeMap, HashMap};
use three_valued::{ByteDomain, Truth, TvByte};

/// The most terms.
const MOST_TERMS: usize = 64;
/// The steps that are taken with predicates before they are given up.
const MOST_STEPS: u64 = 50_000;
/// The bit of the number of a comparison that tells that its operands are those of the term in the other order.
const SWAPPED: u8 = 0x80;

/// The first number is less than the second.
const LESS: u8 = 1 << 0;
/// The numbers are equal.
const EQUAL: u8 = 1 << 1;
/// The first number is greater than the second.
const GREATER: u8 = 1 << 2;
/// The first number is less than the second, both with a sign.
const SIGNED_LESS: u8 = 1 << 3;
/// The first number is greater than the second, both with a sign.
const SIGNED_GREATER: u8 = 1 << 4;

/// The predicates of which exactly one is true.
const ORDERS: [u8; 2] = [LESS | EQUAL | GREATER, SIGNED_LESS | EQUAL | SIGNED_GREATER];

/// Two numbers of as many bytes, the lowest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term {
    /// The first number.
    pub left: Vec<Operand>,
    /// The second number.
    pub right: Vec<Operand>,
}

impl Term {
    /// The term of a comparison, and whether its operands change places: constants come last, and else what has the lower
    /// address comes first.
    fn of(comparison: &Comparison) -> (Self, bool) {
        let (left, right) = (comparison.left.clone(), comparison.right.clone());
        let is_swapped = constant(&left).is_some() || constant(&right).is_none() && right < left;
        if is_swapped { (Self { left: right, right: left }, true) } else { (Self { left, right }, false) }
    }

    /// The cells that the term speaks of.
    pub fn cells(&self) -> impl Iterator<Item = DataAddress> + '_ {
        self.left.iter().chain(&self.right).filter_map(|operand| match operand {
            Operand::Cell(cell) => Some(*cell),
            Operand::Constant(_) => None,
        })
    }

    /// The predicates of two numbers, of which `byte` gives the cells, as far as the bytes tell them.
    fn evaluate(&self, byte: &dyn Fn(DataAddress) -> TvByte) -> TvByte {
        let [left, right] = [&self.left, &self.right].map(|side| bytes(side, byte));
        let differs = left.iter().zip(&right).any(|(one, other)| one.equals(other) == Truth::False);
        let both = compare(&NumberSet::of(&left), &NumberSet::of(&right));
        if differs { told(both, EQUAL, false) } else { both }
    }
}

/// The bytes of a number.
fn bytes(side: &[Operand], byte: &dyn Fn(DataAddress) -> TvByte) -> Vec<TvByte> {
    let value = |operand: &Operand| match operand {
        Operand::Cell(cell) => byte(*cell),
        Operand::Constant(value) => TvByte::constant(*value),
    };
    side.iter().map(value).collect()
}

/// The number that constant bytes are.
fn constant(bytes: &[Operand]) -> Option<i64> {
    bytes.iter().rev().try_fold(0, |number, byte| match byte {
        Operand::Constant(value) => Some(number << 8 | i64::from(*value)),
        Operand::Cell(_) => None,
    })
}

/// The predicates of two numbers that are in two sets.
fn compare(left: &NumberSet, right: &NumberSet) -> TvByte {
    let [unsigned, signed] = left.bounds();
    let [other, other_signed] = right.bounds();
    let mut all = TvByte::UNKNOWN;
    for ((least, most), (other_least, other_most), less, greater) in
        [(unsigned, other, LESS, GREATER), (signed, other_signed, SIGNED_LESS, SIGNED_GREATER)]
    {
        if most < other_least {
            all = told(all, less, true);
        } else if least > other_most {
            all = told(all, greater, true);
        }
        if least >= other_most {
            all = told(all, less, false);
        }
        if most <= other_least {
            all = told(all, greater, false);
        }
    }
    if other.0 == other.1 && left.excludes(other.0) || unsigned.0 == unsigned.1 && right.excludes(unsigned.0) {
        all = told(all, EQUAL, false);
    }
    all
}

/// The predicates of a term where one of them is known as well, and all that follows.
fn told(before: TvByte, predicate: u8, value: bool) -> TvByte {
    let mut known = before.known_mask() | predicate;
    let mut values = before.value() & !predicate | if value { predicate } else { 0 };
    loop {
        let (known_before, values_before) = (known, values);
        for order in ORDERS {
            if values & known & order != 0 {
                known |= order;
            } else if (order & !known).count_ones() == 1 {
                values |= order & !known;
                known |= order;
            }
        }
        if (known, values) == (known_before, values_before) {
            return TvByte::new(values & known, known);
        }
    }
}

/// The bit of the predicate that says most of what is known of a term; none if nothing is known.
fn telling(known: TvByte) -> u8 {
    let bits = || PredicateOrder::ALL.into_iter().map(|(_, bit)| bit & known.known_mask());
    let is_true = bits().find(|bit| known.value() & bit != 0);
    is_true.or_else(|| bits().find(|bit| *bit != 0)).unwrap_or(0)
}

/// The predicate that a flag is after a comparison of this number.
fn predicate(number: u8, flag: u8) -> Option<u8> {
    let is_swapped = number & SWAPPED != 0 && !is_on(Fault::OrderLost);
    match (flag, is_swapped) {
        (flag::C, false) => Some(LESS),
        (flag::C, true) => Some(GREATER),
        (flag::Z, _) => Some(EQUAL),
        (flag::S, false) => Some(SIGNED_LESS),
        (flag::S, true) => Some(SIGNED_GREATER),
        _ => None,
    }
}

/// A predicate that told a flag or an atom.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct UsedPredicate {
    /// The numbers that are compared.
    pub term: Term,
    /// The order of the two numbers that the predicate is.
    pub order: PredicateOrder,
}

/// The order of two numbers that a predicate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PredicateOrder {
    /// The numbers are equal.
    Equal,
    /// The first one is less.
    Less,
    /// The first one is greater.
    Greater,
    /// The first one is less, both with a sign.
    SignedLess,
    /// The first one is greater, both with a sign.
    SignedGreater,
}

impl PredicateOrder {
    /// Each predicate with its bit. What is known to be true of the first ones says most.
    const ALL: [(Self, u8); 5] = [
        (Self::Equal, EQUAL),
        (Self::Less, LESS),
        (Self::Greater, GREATER),
        (Self::SignedLess, SIGNED_LESS),
        (Self::SignedGreater, SIGNED_GREATER),
    ];
}

/// The predicate that an atom is, or is the negation of.
#[derive(Clone, Copy, Debug)]
struct ToldAtom {
    index: usize,
    predicate: u8,
    is_negated: bool,
}

/// The predicates that told something, as bits, by the index of their term.
pub(crate) type PredicateUse = BTreeMap<usize, u8>;

/// Adds predicates to others.
pub(crate) fn add(all: &mut PredicateUse, others: &PredicateUse) {
    others.iter().for_each(|(index, mask)| *all.entry(*index).or_default() |= mask);
}

/// The facts about predicates that the outcome of a step depends on beside the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PredicateBasis {
    are_kept: bool,
    terms: usize,
    drops: u32,
}

/// The terms of one analysis. They are numbered when they are first met, and keep their numbers.
#[derive(Debug)]
pub struct Predicates {
    terms: Vec<Term>,
    /// The terms that speak of each cell, by index.
    by_cell: BTreeMap<DataAddress, Vec<usize>>,
    /// The cell of the first term.
    first: DataAddress,
    /// The number of terms that were there from the start.
    named: usize,
    /// The atoms that compare the numbers of named terms.
    atoms: HashMap<AtomKind, ToldAtom>,
    /// The terms whose predicates are always unknown.
    dropped: Vec<Term>,
    /// The predicates that told something in the present state space, by the index of their term.
    used: PredicateUse,
    /// Those that told something since they were last taken.
    noted: PredicateUse,
    /// The number of times that terms were dropped.
    drops: u32,
    /// The steps that were taken with predicates.
    steps: u64,
    /// True if they are not kept any more.
    are_given_up: bool,
}

impl Predicates {
    /// The terms that are named, as many as there may be, for states whose own cells end before an address.
    #[must_use]
    pub fn new(first: DataAddress, named: &[Comparison]) -> Self {
        let mut predicates = Self {
            terms: Vec::new(),
            by_cell: BTreeMap::new(),
            first,
            named: 0,
            atoms: HashMap::new(),
            dropped: Vec::new(),
            used: PredicateUse::new(),
            noted: PredicateUse::new(),
            drops: 0,
            steps: 0,
            are_given_up: false,
        };
        for comparison in named {
            predicates.number(comparison);
        }
        predicates.named = predicates.terms.len();
        predicates
    }

    /// Takes note of the atoms that named terms tell.
    ///
    /// SOUND: a term that came later could tell an atom of states that were stored before, and what was skipped behind them was
    /// skipped because the atom was unknown.
    pub(crate) fn tell_of(&mut self, atoms: &[Atom]) {
        for atom in atoms {
            let Some(ComparedNumbers { numbers, order, is_negated, is_signed, .. }) = atom.compared_numbers() else {
                continue;
            };
            let (term, is_swapped) = Term::of(&numbers);
            let Some(index) = self.terms[..self.named].iter().position(|one| *one == term) else { continue };
            let is_less = (order == Order::Less) != (is_swapped && !is_on(Fault::OrderLost));
            let predicate = match (order, is_less, is_signed) {
                (Order::Equal, ..) => EQUAL,
                (_, true, false) => LESS,
                (_, false, false) => GREATER,
                (_, true, true) => SIGNED_LESS,
                (_, false, true) => SIGNED_GREATER,
            };
            self.atoms.insert(atom.kind().clone(), ToldAtom { index, predicate, is_negated });
        }
    }

    /// The truth of an atom in a state of which `byte` gives the cells, as far as predicates tell it.
    pub(crate) fn told(&mut self, atom: &Atom, byte: &dyn Fn(DataAddress) -> TvByte) -> Truth {
        let Some(ToldAtom { index, predicate, is_negated }) = self.atoms.get(atom.kind()).copied() else {
            return Truth::Unknown;
        };
        let truth = self.truth(index, predicate, byte);
        if is_negated { !truth } else { truth }
    }

    /// The cells of the predicates that tell an atom.
    pub(crate) fn cells_of(&self, atom: &Atom) -> Vec<DataAddress> {
        let told = self.atoms.get(atom.kind());
        told.map_or_else(Vec::new, |told| self.related(told.index).map(|index| self.cell(index)).collect())
    }

    /// Leaves the predicates of some terms unknown from the next state space on, which may take as many steps as all before.
    pub fn drop_terms(&mut self, dropped: Vec<Term>) {
        self.dropped = dropped;
        self.drops += 1;
        self.steps = 0;
    }

    /// The predicates that told something since the state space was begun.
    #[must_use]
    pub fn used(&self) -> Vec<UsedPredicate> {
        let of = |(index, mask): (&usize, &u8)| {
            let term = self.terms[*index].clone();
            let orders = PredicateOrder::ALL.into_iter().filter(move |(_, bit)| mask & bit != 0);
            orders.map(|(order, _)| UsedPredicate { term: term.clone(), order }).collect::<Vec<_>>()
        };
        let mut all = self.used.clone();
        add(&mut all, &self.noted);
        all.iter().flat_map(of).collect()
    }

    /// The predicates that told something since they were last taken.
    pub(crate) fn take_noted(&mut self) -> PredicateUse {
        std::mem::take(&mut self.noted)
    }

    /// Puts back those that were taken.
    pub(crate) fn put_noted(&mut self, noted: PredicateUse) {
        self.noted = noted;
    }

    /// Takes note of predicates that told something in the present state space.
    pub(crate) fn enter(&mut self, used: &PredicateUse) {
        add(&mut self.used, used);
    }

    /// The facts that the outcome of a step depends on beside the state: whether predicates are kept, and of which terms.
    pub(crate) fn basis(&self) -> PredicateBasis {
        PredicateBasis { are_kept: self.are_kept(), terms: self.terms.len(), drops: self.drops }
    }

    /// True if they are kept in the present state space.
    pub(crate) fn are_kept(&self) -> bool {
        !self.are_given_up
    }

    /// True if the present state space is to be built anew, without predicates: they have not decided what they were to decide.
    pub(crate) fn are_spent(&self) -> bool {
        !self.are_given_up && self.steps > MOST_STEPS
    }

    /// Counts a step with predicates.
    pub(crate) fn count(&mut self) {
        self.steps += 1;
    }

    /// The number of cells that predicates take behind those of the machine.
    #[must_use]
    pub fn cells() -> usize {
        MOST_TERMS.next_multiple_of(PAGE_CELLS)
    }

    /// Begins a state space.
    pub(crate) fn begin(&mut self) {
        self.used.clear();
        self.noted.clear();
        self.are_given_up |= self.are_spent();
    }

    /// True if a predicate decided a flag since the state space was begun.
    #[must_use]
    pub fn are_used(&self) -> bool {
        !self.used.is_empty() || !self.noted.is_empty()
    }

    /// The terms, each with the cell of its predicates.
    pub fn terms(&self) -> impl Iterator<Item = (DataAddress, &Term)> {
        self.terms.iter().enumerate().map(|(index, term)| (self.cell(index), term))
    }

    fn cell(&self, index: usize) -> DataAddress {
        self.first.wrapping_add(index as u16)
    }

    /// The number of a comparison; 0 if there are too many terms.
    pub(crate) fn number(&mut self, comparison: &Comparison) -> u8 {
        let (term, is_swapped) = Term::of(comparison);
        let index = self.terms.iter().position(|one| *one == term).unwrap_or(self.terms.len());
        if index == MOST_TERMS {
            return 0;
        }
        if index == self.terms.len() {
            for cell in term.cells() {
                let terms = self.by_cell.entry(cell).or_default();
                if !terms.contains(&index) {
                    terms.push(index);
                }
            }
            self.terms.push(term);
        }
        let number = index as u8 + 1;
        if is_swapped { number | SWAPPED } else { number }
    }

    /// The index of the term of a comparison.
    fn index(number: u8) -> usize {
        usize::from(number & !SWAPPED).saturating_sub(1)
    }

    /// The value of a flag after the comparison of this number in a state, as far as predicates tell it, and the cells that were
    /// looked at.
    pub(crate) fn outcome<V: ByteDomain>(
        &mut self,
        number: u8,
        flag: u8,
        data: &DataSpace<V>,
    ) -> (Truth, Vec<DataAddress>) {
        let index = Self::index(number);
        let Some(predicate) = predicate(number, flag).filter(|_| index < self.terms.len()) else {
            return (Truth::Unknown, Vec::new());
        };
        let value = self.truth(index, predicate, &|cell| data.get(cell).bits());
        (value, self.related(index).map(|index| self.cell(index)).collect())
    }

    /// The truth of a predicate of a term in a state of which `byte` gives the cells, as far as predicates tell it.
    fn truth(&mut self, index: usize, predicate: u8, byte: &dyn Fn(DataAddress) -> TvByte) -> Truth {
        let right = &self.terms[index].right;
        let own = byte(self.cell(index));
        let is_own = own.known_mask() & predicate != 0;
        // Known outcomes of comparisons with other constants tell it as well.
        let known = match constant(right) {
            Some(_) if !is_own => {
                compare(&self.range(index, byte), &NumberSet::of(&bytes(right, &|_| TvByte::UNKNOWN)))
            }
            _ => own,
        };
        if known.known_mask() & predicate == 0 {
            return Truth::Unknown;
        }
        if is_own {
            *self.used.entry(index).or_default() |= predicate;
        } else {
            let related: Vec<(usize, u8)> =
                self.related(index).map(|one| (one, telling(byte(self.cell(one))))).collect();
            for (one, mask) in related.into_iter().filter(|(_, mask)| *mask != 0) {
                *self.noted.entry(one).or_default() |= mask;
            }
        }
        Truth::from(known.value() & predicate != 0)
    }

    /// The terms whose predicates tell those of a term, by index: itself, and those that compare its first number with a constant if it
    /// does.
    fn related(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let term = &self.terms[index];
        let has_constant = constant(&term.right).is_some();
        let is_related = move |(number, one): &(usize, &Term)| {
            *number == index || has_constant && one.left == term.left && constant(&one.right).is_some()
        };
        self.terms.iter().enumerate().filter(is_related).map(|(index, _)| index)
    }

    /// The numbers that the first one of a term may be in a state of which `byte` gives the cells.
    fn range(&self, index: usize, byte: &dyn Fn(DataAddress) -> TvByte) -> NumberSet {
        let mut set = NumberSet::of(&bytes(&self.terms[index].left, byte));
        for related in self.related(index) {
            let Some(number) = constant(&self.terms[related].right) else { continue };
            let known = byte(self.cell(related));
            for predicate in (0..5).map(|bit| 1u8 << bit).filter(|bit| known.known_mask() & bit != 0) {
                set = set.told(number, predicate, known.value() & predicate != 0);
            }
        }
        set
    }

    /// Takes note in a state that the comparison of this number gives a flag this value.
    pub(crate) fn decided<V: ByteDomain>(&self, number: u8, flag: u8, value: bool, data: &mut DataSpace<V>) {
        let index = Self::index(number);
        let is_kept = self.terms.get(index).is_some_and(|term| !self.dropped.contains(term));
        let Some(predicate) = predicate(number, flag).filter(|_| is_kept) else { return };
        let cell = self.cell(index);
        let before = data.get(cell).bits();
        let is_known = before.known_mask() & predicate != 0;
        if is_known && (before.value() & predicate != 0) == value {
            return;
        }
        // No state has both values: what was known of this one is of no use.
        let before = if is_known { TvByte::UNKNOWN } else { before };
        set(data, cell, told(before, predicate, value));
    }

    /// Evaluates the predicates of a state that speak of cells that were written, or may have been.
    pub(crate) fn rewritten<V: ByteDomain>(&self, written: impl Iterator<Item = DataAddress>, data: &mut DataSpace<V>) {
        let terms: Vec<usize> = written.filter_map(|cell| self.by_cell.get(&cell)).flatten().copied().collect();
        let terms = terms.into_iter().filter(|index| !self.dropped.contains(&self.terms[*index])).collect();
        self.replace(terms, data, |term, data| term.evaluate(&|cell| data.get(cell).bits()));
    }

    /// Forgets the predicates of a state that speak of some cells.
    pub(crate) fn forget<V: ByteDomain>(&self, is_lost: impl Fn(DataAddress) -> bool, data: &mut DataSpace<V>) {
        let lost = self.by_cell.iter().filter(|(cell, _)| is_lost(**cell));
        let terms: Vec<usize> = lost.flat_map(|(_, terms)| terms).copied().collect();
        self.replace(terms, data, |_, _| TvByte::UNKNOWN);
    }

    /// Forgets all predicates of a state.
    pub(crate) fn forget_all<V: ByteDomain>(&self, data: &mut DataSpace<V>) {
        self.replace((0..self.terms.len()).collect(), data, |_, _| TvByte::UNKNOWN);
    }

    /// Gives predicates other values.
    fn replace<V: ByteDomain>(
        &self,
        terms: Vec<usize>,
        data: &mut DataSpace<V>,
        value: impl Fn(&Term, &DataSpace<V>) -> TvByte,
    ) {
        for index in terms {
            let (cell, new) = (self.cell(index), value(&self.terms[index], data));
            if data.get(cell).bits() != new {
                set(data, cell, new);
            }
        }
    }

    /// True if the predicates of an abstract state, of which `known` gives the cells, are true of the bytes of a concrete one.
    pub fn are_true(&self, known: impl Fn(DataAddress) -> TvByte, byte: &dyn Fn(DataAddress) -> u8) -> bool {
        let byte = |cell| TvByte::constant(byte(cell));
        self.terms().all(|(cell, term)| known(cell).covers(term.evaluate(&byte)))
    }

    /// True if the flags of a concrete state, SREG, are what a relation says they are.
    pub fn is_related(&self, relation: Relation, status: u8, byte: &dyn Fn(DataAddress) -> u8) -> bool {
        let Some(term) = self.terms.get(Self::index(relation.number)).filter(|_| relation.number != 0) else {
            return true;
        };
        let actual = term.evaluate(&|cell| TvByte::constant(byte(cell)));
        (0..8).filter(|flag| relation.tells(*flag)).all(|flag| {
            let expected = predicate(relation.number, flag).map(|predicate| actual.value() & predicate != 0);
            expected.is_none_or(|expected| expected == (status >> flag & 1 == 1))
        })
    }
}

impl NumberSet {
    /// Those for which a predicate about a constant has a value.
    fn told(self, number: i64, predicate: u8, value: bool) -> Self {
        let signed = self.with_sign(number);
        let end = i64::from(is_on(Fault::BoundsOffByOne));
        match (predicate, value) {
            (LESS, true) => self.within(i64::MIN, number - 1 - end),
            (LESS, false) => self.within(number, i64::MAX),
            (GREATER, true) => self.within(number + 1, i64::MAX),
            (GREATER, false) => self.within(i64::MIN, number),
            (SIGNED_LESS, true) => self.within_signed(i64::MIN, signed - 1),
            (SIGNED_LESS, false) => self.within_signed(signed, i64::MAX),
            (SIGNED_GREATER, true) => self.within_signed(signed + 1, i64::MAX),
            (SIGNED_GREATER, false) => self.within_signed(i64::MIN, signed),
            (_, true) => self.within(number, number),
            (_, false) => self.without(number),
        }
    }
}

/// Sets the predicates of a state that a cell holds.
fn set<V: ByteDomain>(data: &mut DataSpace<V>, cell: DataAddress, predicates: TvByte) {
    let unknown = V::constant(0).join(&V::constant(0xff));
    let value = unknown.assume(predicates).unwrap_or(unknown);
    data.set(cell, value);
}
