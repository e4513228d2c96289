//! The terms of an analysis, and the values of their predicates in a state.

mod asked;
mod clauses;

use crate::chain::chain;
use crate::clause::{Clause, Literal, MOST_CLAUSES, literal};
use crate::faults::{Fault, is_on};
use crate::number::NumberSet;
use crate::order::{
    EQUAL, GREATER, LESS, PredicateOrder, SIGNED_GREATER, SIGNED_LESS, SWAPPED, compare, predicate, telling, told,
};
use crate::precondition::precondition;
use crate::same::{is_same_number, is_sum};
use crate::term::{Term, constant, values};
use crate::together::Answers;
use crate::told_by::{Told, ToldBy, add};
use avr_isa::{DataAddress, Register};
use avr_machine::{Comparison, Copies, DataSpace, Number, Operand, PAGE_CELLS, Relation};
use avr_properties::{Atom, AtomKind};
use std::collections::{BTreeMap, HashMap};
use three_valued::{ByteDomain, Truth, TvByte};

/// The most terms.
pub const MOST_TERMS: usize = 64;

/// The terms of one analysis. They are numbered in their order, and keep their numbers.
#[derive(Clone, Debug)]
pub struct Predicates {
    terms: Vec<Term>,
    /// The terms that speak of each cell, by index.
    by_cell: BTreeMap<DataAddress, Vec<usize>>,
    /// The cell of the first term.
    first: DataAddress,
    /// The atoms that compare the numbers of a term.
    atoms: HashMap<AtomKind, Literal>,
    /// Disjunctions of two predicates.
    clauses: Vec<Clause>,
    /// The terms whose predicates are always unknown.
    dropped: Vec<Term>,
    /// What several terms told together.
    answers: Answers,
}

impl Predicates {
    /// No terms, for states whose own cells end before an address.
    #[must_use]
    pub fn new(first: DataAddress) -> Self {
        let (terms, by_cell, atoms, dropped) = (Vec::new(), BTreeMap::new(), HashMap::new(), Vec::new());
        Self { terms, by_cell, first, atoms, clauses: Vec::new(), dropped, answers: Answers::default() }
    }

    /// The number of cells that predicates take behind those of the machine.
    #[must_use]
    pub fn cells() -> usize {
        (MOST_TERMS + MOST_CLAUSES).next_multiple_of(PAGE_CELLS)
    }

    /// The number of terms.
    #[must_use]
    pub fn count(&self) -> usize {
        self.terms.len()
    }

    /// The terms, each with the cell of its predicates.
    pub fn terms(&self) -> impl Iterator<Item = (DataAddress, &Term)> {
        self.terms.iter().enumerate().map(|(index, term)| (self.cell(index), term))
    }

    /// The term with an index.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn term(&self, index: usize) -> &Term {
        &self.terms[index]
    }

    /// The cell of the predicates of the term with an index.
    #[must_use]
    pub fn cell(&self, index: usize) -> DataAddress {
        self.first.wrapping_add(index as u16)
    }

    /// The number of a comparison, whose term is added if it is a new one; 0 if there are too many.
    pub fn number(&mut self, comparison: &Comparison) -> u8 {
        let known = self.number_of(comparison);
        if known != 0 || self.terms.len() == MOST_TERMS {
            return known;
        }
        let (term, _) = Term::of(comparison);
        for cell in term.cells() {
            let terms = self.by_cell.entry(cell).or_default();
            if !terms.contains(&self.terms.len()) {
                terms.push(self.terms.len());
            }
        }
        self.terms.push(term);
        self.number_of(comparison)
    }

    /// The number of a comparison; 0 if its term is none of these.
    #[must_use]
    pub fn number_of(&self, comparison: &Comparison) -> u8 {
        let (term, is_swapped) = Term::of(comparison);
        let Some(index) = self.terms.iter().position(|one| *one == term) else { return 0 };
        let number = index as u8 + 1;
        if is_swapped { number | SWAPPED } else { number }
    }

    /// The index of the term of a comparison.
    fn index(number: u8) -> usize {
        usize::from(number & !SWAPPED).saturating_sub(1)
    }

    /// Leaves the predicates of some terms unknown from here on.
    pub fn drop_terms(&mut self, dropped: Vec<Term>) {
        self.dropped = dropped;
    }

    /// Takes note of the atoms that the first terms tell, so many of them.
    pub fn tell_of(&mut self, terms: usize, atoms: &[Atom]) {
        for atom in atoms {
            let Some(compared) = atom.compared_numbers() else { continue };
            if let Some(literal) = literal(&self.terms[..terms.min(self.terms.len())], &compared) {
                self.atoms.insert(atom.kind().clone(), literal);
            }
        }
    }

    /// The truth of an atom in a state of which `byte` gives the cells, as far as predicates tell it.
    pub fn told(&self, atom: &Atom, byte: &dyn Fn(DataAddress) -> TvByte) -> Told {
        self.atoms.get(atom.kind()).map_or_else(Told::unknown, |literal| {
            let told = self.truth(literal.term, literal.predicate, byte);
            if literal.is_negated { Told { truth: !told.truth, ..told } } else { told }
        })
    }

    /// The cells of the predicates that tell an atom.
    #[must_use]
    pub fn cells_of(&self, atom: &Atom) -> Vec<DataAddress> {
        let told = self.atoms.get(atom.kind());
        told.map_or_else(Vec::new, |told| self.cells_looked_at(told.term))
    }

    /// The value of a flag after the comparison of this number in a state, as far as predicates tell it, and the cells that were
    /// looked at.
    pub fn outcome<V: ByteDomain>(&self, number: u8, flag: u8, data: &DataSpace<V>) -> (Told, Vec<DataAddress>) {
        let index = Self::index(number);
        let Some(predicate) = predicate(number, flag).filter(|_| index < self.terms.len()) else {
            return (Told::unknown(), Vec::new());
        };
        let told = self.truth(index, predicate, &|cell| data.get(cell).bits());
        (told, self.cells_looked_at(index))
    }

    /// The cells that may tell predicates of a term.
    fn cells_looked_at(&self, index: usize) -> Vec<DataAddress> {
        let all = self.related(index).chain(self.pairs_with(index));
        let mut cells: Vec<DataAddress> = all.map(|index| self.cell(index)).collect();
        self.add_clause_cells(index, &mut cells);
        cells
    }

    /// The truth of a predicate of a term in a state of which `byte` gives the cells, as far as predicates tell it.
    fn truth(&self, index: usize, predicate: u8, byte: &dyn Fn(DataAddress) -> TvByte) -> Told {
        let told = self.told_by_terms(index, predicate, byte);
        let told = told.or_else(|| self.told_by_clauses(index, predicate, byte));
        told.or_else(|| self.told_together(index, predicate, byte))
    }

    /// The truth of a predicate of a term in a state as far as terms tell it.
    fn told_by_terms(&self, index: usize, predicate: u8, byte: &dyn Fn(DataAddress) -> TvByte) -> Told {
        let right = &self.terms[index].right;
        let own = byte(self.cell(index));
        let is_own = own.known_mask() & predicate != 0;
        // Known outcomes of comparisons with other constants tell it as well.
        let known = match constant(right) {
            Some(_) if !is_own => compare(&self.range(index, byte), &values(right, &|_| TvByte::UNKNOWN)),
            _ => own,
        };
        if known.known_mask() & predicate == 0 {
            let told = self.chained(index, predicate, byte);
            return if told.truth.is_unknown() { self.told_by_equal(index, predicate, byte) } else { told };
        }
        let mut by = ToldBy::new();
        if is_own {
            by.insert(index, predicate);
        } else {
            let related = self.related(index).map(|one| (one, telling(byte(self.cell(one)))));
            by.extend(related.filter(|(_, mask)| *mask != 0));
        }
        Told { truth: Truth::from(known.value() & predicate != 0), by }
    }

    /// The truth of a predicate of a term as far as others tell it together.
    fn chained(&self, index: usize, predicate: u8, byte: &dyn Fn(DataAddress) -> TvByte) -> Told {
        let Term { left, right } = &self.terms[index];
        if constant(right).is_some() && self.pairs_with(index).next().is_none() {
            return Told::unknown();
        }
        let known = |index| byte(self.cell(index));
        let has_sign = predicate & (SIGNED_LESS | SIGNED_GREATER) != 0;
        let up = chain(&self.terms, &known, (left, right), has_sign);
        let down = chain(&self.terms, &known, (right, left), has_sign);
        let (less, greater) = match predicate {
            LESS | SIGNED_LESS => (Truth::True, Truth::False),
            GREATER | SIGNED_GREATER => (Truth::False, Truth::True),
            _ => (Truth::False, Truth::False),
        };
        let (truth, chains) = match (up, down) {
            (Some(up), _) if up.is_strict => (less, vec![up]),
            (_, Some(down)) if down.is_strict => (greater, vec![down]),
            (Some(up), Some(down)) => (Truth::from(predicate == EQUAL), vec![up, down]),
            (Some(up), None) if predicate != EQUAL && greater.is_true() => (Truth::False, vec![up]),
            (None, Some(down)) if predicate != EQUAL && less.is_true() => (Truth::False, vec![down]),
            _ => return Told::unknown(),
        };
        let mut by = ToldBy::new();
        chains.iter().for_each(|chain| add(&mut by, &chain.by));
        Told { truth, by }
    }

    /// The truth of a predicate of a term as far as the bytes of numbers that equal constants tell it.
    fn told_by_equal(&self, index: usize, predicate: u8, byte: &dyn Fn(DataAddress) -> TvByte) -> Told {
        let term = &self.terms[index];
        let is_equal = |other: &usize| {
            let Term { left, right } = &self.terms[*other];
            let known = byte(self.cell(*other));
            let is_known = known.known_mask() & EQUAL != 0;
            is_known
                && (known.value() & EQUAL != 0 || is_on(Fault::UnequalTold))
                && left.plus == 0
                && constant(right).is_some()
        };
        let others = term.cells().filter_map(|cell| self.by_cell.get(&cell)).flatten();
        let equal: Vec<usize> = others.copied().filter(|other| *other != index && is_equal(other)).collect();
        if equal.is_empty() {
            return Told::unknown();
        }
        let exact = |cell: DataAddress| {
            let numbers = equal.iter().map(|other| &self.terms[*other]);
            let bytes = numbers.flat_map(|other| other.left.bytes.iter().zip(&other.right.bytes));
            bytes.fold(byte(cell), |known, (operand, value)| match (operand, value) {
                (Operand::Cell(one), Operand::Constant(value)) if *one == cell => TvByte::constant(*value),
                (Operand::Masked(one, mask), Operand::Constant(value)) if *one == cell && !is_on(Fault::MaskLost) => {
                    TvByte::new(known.value() & !mask | value & mask, known.known_mask() | mask)
                }
                _ => known,
            })
        };
        let told = term.evaluate(&exact);
        if told.known_mask() & predicate == 0 {
            return Told::unknown();
        }
        let by = equal.iter().map(|other| (*other, EQUAL)).collect();
        Told { truth: Truth::from(told.value() & predicate != 0), by }
    }

    /// The terms that compare the first number of a term with another number, not with a constant, where that term compares it with one.
    fn pairs_with(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let term = &self.terms[index];
        let has_constant = constant(&term.right).is_some();
        let is_pair = move |(_, one): &(usize, &Term)| {
            has_constant && constant(&one.right).is_none() && (one.left == term.left || one.right == term.left)
        };
        self.terms.iter().enumerate().filter(is_pair).map(|(index, _)| index)
    }

    /// The terms whose predicates tell those of a term, by index: itself, and those that compare its first number with a constant if it
    /// does.
    fn related(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let term = &self.terms[index];
        let has_constant = constant(&term.right).is_some();
        let is_in_chain = |one: &Term| {
            let sides = || [&one.left, &one.right].into_iter().filter(|side| constant(side).is_none());
            sides().any(|side| *side == term.left || *side == term.right)
        };
        let is_related = move |(number, one): &(usize, &Term)| match has_constant {
            true => *number == index || one.left == term.left && constant(&one.right).is_some(),
            false => is_in_chain(one),
        };
        self.terms.iter().enumerate().filter(is_related).map(|(index, _)| index)
    }

    /// The number of a comparison whose first number is compared with a constant in some term; 0 if there is none.
    #[must_use]
    pub fn difference_of(&self, comparison: &Comparison) -> u8 {
        let number = self.number_of(comparison);
        if number & SWAPPED != 0 || !self.compares_with_constants(&comparison.left) { 0 } else { number }
    }

    /// True if a number is compared with a constant in some term.
    #[must_use]
    pub fn compares_with_constants(&self, number: &Number) -> bool {
        self.terms.iter().any(|term| term.left == *number && constant(&term.right).is_some())
    }

    /// Comparisons of registers, from a first one on, with all constants that the first number of a comparison of this number is compared
    /// with.
    #[must_use]
    pub fn of_difference(&self, number: u8, first: Register) -> Vec<Comparison> {
        let Some(term) = self.terms.get(Self::index(number)) else { return Vec::new() };
        let registers = (0..term.left.bytes.len() as u16).map(|byte| Operand::Cell(first.address().wrapping_add(byte)));
        let left = Number::of(registers.collect());
        let compared = self.terms.iter().filter(|one| one.left == term.left && constant(&one.right).is_some());
        compared.map(|one| Comparison { left: left.clone(), right: one.right.clone() }).collect()
    }

    /// The first number of a comparison of this number without the second one, which is a constant, in a state.
    pub(crate) fn difference<V: ByteDomain>(&self, number: u8, data: &DataSpace<V>) -> Option<NumberSet> {
        let index = Self::index(number);
        let constant = constant(&self.terms.get(index)?.right)?;
        Some(self.range(index, &|cell| data.get(cell).bits()).minus(constant))
    }

    /// Takes note in a state that registers hold one of some numbers.
    pub(crate) fn computed<V: ByteDomain>(&self, first: Register, set: &NumberSet, data: &mut DataSpace<V>) {
        let registers = (0..set.bytes() as u16).map(|byte| Operand::Cell(first.address().wrapping_add(byte)));
        let number = Number::of(registers.collect());
        let is_it = |term: &Term| term.left == number;
        let terms = self.terms.iter().enumerate().filter(|(_, term)| is_it(term) && !self.dropped.contains(term));
        let terms: Vec<usize> = terms.map(|(index, _)| index).collect();
        self.replace(terms.clone(), data, |term, data| {
            let byte = |cell| data.get(cell).bits();
            match constant(&term.right) {
                Some(_) => compare(&values(&term.left, &byte).meet(set), &values(&term.right, &byte)),
                None => term.evaluate(&byte),
            }
        });
        self.evaluate_clauses(&terms, true, data);
    }

    /// The predicates of a term in a state with such copies: what its bytes tell, and what is known of the numbers that they are copies of.
    fn evaluated<V: ByteDomain>(&self, term: &Term, copies: Copies, data: &DataSpace<V>) -> TvByte {
        let byte = |cell| data.get(cell).bits();
        let of_bytes = term.evaluate(&byte);
        let same = |one: &Number, other: &Number| is_same_number(one, other, copies);
        let others = || self.terms.iter().enumerate().filter(|(_, other)| *other != term);
        match constant(&term.right) {
            Some(_) => {
                let copied =
                    others().filter(|(_, other)| constant(&other.right).is_some() && same(&term.left, &other.left));
                // Terms of one number have one range.
                let mut numbers: Vec<&Number> = Vec::new();
                let mut set = values(&term.left, &byte);
                for (index, other) in copied {
                    if !numbers.contains(&&other.left) {
                        numbers.push(&other.left);
                        set = set.meet(&self.range(index, &byte));
                    }
                }
                if set.is_empty() { of_bytes } else { join_known(of_bytes, compare(&set, &values(&term.right, &byte))) }
            }
            None => {
                let copied =
                    others().filter(|(_, other)| same(&term.left, &other.left) && same(&term.right, &other.right));
                let known = copied.fold(of_bytes, |known, (index, _)| join_known(known, byte(self.cell(index))));
                let [left, right] = [&term.left, &term.right];
                let are_equal = same(left, right) || is_sum(left, right, copies) || is_sum(right, left, copies);
                if are_equal { join_known(known, told(TvByte::UNKNOWN, EQUAL, true)) } else { known }
            }
        }
    }

    /// The numbers that the first one of a term may be in a state of which `byte` gives the cells.
    fn range(&self, index: usize, byte: &dyn Fn(DataAddress) -> TvByte) -> NumberSet {
        let mut set = values(&self.terms[index].left, byte);
        for related in self.related(index) {
            let Some(number) = constant(&self.terms[related].right) else { continue };
            let known = byte(self.cell(related));
            for predicate in (0..5).map(|bit| 1u8 << bit).filter(|bit| known.known_mask() & bit != 0) {
                set = set.told(number, predicate, known.value() & predicate != 0);
            }
        }
        set
    }

    /// Takes note in a state with such copies that the comparison of this number gives a flag this value.
    pub fn decided<V: ByteDomain>(&self, number: u8, flag: u8, value: bool, copies: Copies, data: &mut DataSpace<V>) {
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
        let copied = self.copied(index, copies);
        self.evaluate_together(&copied, copies, &|_| false, data);
        self.evaluate_clauses(&copied.into_iter().chain([index]).collect::<Vec<_>>(), true, data);
    }

    /// The other terms that speak of nothing but copies of the cells of a term.
    fn copied(&self, index: usize, copies: Copies) -> Vec<usize> {
        if copies.pairs().is_empty() {
            return Vec::new();
        }
        let same: Vec<DataAddress> = self.terms[index].cells().flat_map(|cell| copies.same_as(cell)).collect();
        let is_copied = |(other, term): &(usize, &Term)| {
            *other != index && term.cells().all(|cell| same.contains(&cell)) && !self.dropped.contains(term)
        };
        self.terms.iter().enumerate().filter(is_copied).map(|(other, _)| other).collect()
    }

    /// Adds to the predicates of some terms what others tell of them in a state with such copies, of which the content of some cells is
    /// not to be used.
    fn evaluate_together<V: ByteDomain>(
        &self,
        terms: &[usize],
        copies: Copies,
        is_hidden: &dyn Fn(DataAddress) -> bool,
        data: &mut DataSpace<V>,
    ) {
        for index in terms {
            let cell = self.cell(*index);
            let before = data.get(cell).bits();
            let byte = |cell| if is_hidden(cell) { TvByte::UNKNOWN } else { data.get(cell).bits() };
            let known = self.evaluated_together(*index, before, copies, &byte);
            if known != before {
                set(data, cell, known);
            }
        }
    }

    /// Adds to the predicates of a state what those tell together that are about to be forgotten, because cells were written.
    ///
    /// SOUND: they speak of these cells as they were, so their content is not used.
    fn keep_what_follows<V: ByteDomain>(&self, forgotten: &[usize], written: &[DataAddress], data: &mut DataSpace<V>) {
        let is_known = |index: usize| self.is_known(index, data);
        let lost: Vec<DataAddress> =
            forgotten.iter().filter(|index| is_known(**index)).flat_map(|index| self.terms[*index].cells()).collect();
        if lost.is_empty() {
            return;
        }
        let is_open = |(index, term): &(usize, &Term)| {
            !forgotten.contains(index)
                && !is_known(*index)
                && !self.dropped.contains(term)
                && term.cells().any(|cell| lost.contains(&cell))
        };
        let open: Vec<usize> = self.terms.iter().enumerate().filter(is_open).map(|(index, _)| index).collect();
        let is_hidden = |cell: DataAddress| written.contains(&cell) && !is_on(Fault::OverwrittenRead);
        self.evaluate_together(&open, Copies::default(), &is_hidden, data);
    }

    /// Evaluates the predicates of a state that speak of cells that were written, or may have been.
    ///
    /// Returns what terms that are unknown then were before.
    ///
    /// SOUND: all of them are forgotten first, and disjunctions of them before terms are asked together, so that nothing is told by what was
    /// true before.
    pub(crate) fn rewritten<V: ByteDomain>(
        &self,
        written: &[DataAddress],
        copies: Copies,
        data: &mut DataSpace<V>,
    ) -> Vec<Comparison> {
        let mut terms: Vec<usize> =
            written.iter().filter_map(|cell| self.by_cell.get(cell)).flatten().copied().collect();
        terms.sort_unstable();
        terms.dedup();
        self.keep_what_follows(&terms, written, data);
        if !is_on(Fault::CopiesOutlived) {
            self.replace(terms.clone(), data, |_, _| TvByte::UNKNOWN);
        }
        let kept: Vec<usize> =
            terms.iter().copied().filter(|index| !self.dropped.contains(&self.terms[*index])).collect();
        self.replace(kept.clone(), data, |term, data| self.evaluated(term, copies, data));
        self.evaluate_clauses(&terms, is_on(Fault::ClauseKept), data);
        let is_written = |cell: DataAddress| written.contains(&cell);
        let before = |index: usize| Some((index, precondition(&self.terms[index], copies, &is_written)?));
        let changed: Vec<(usize, Comparison)> =
            kept.into_iter().filter(|index| !self.is_known(*index, data)).filter_map(before).collect();
        let indices: Vec<usize> = changed.iter().map(|(index, _)| *index).collect();
        self.evaluate_together(&indices, copies, &|_| false, data);
        self.evaluate_clauses(&indices, true, data);
        let unknown = changed.into_iter().filter(|(index, _)| !self.is_known(*index, data));
        unknown.map(|(_, comparison)| comparison).collect()
    }

    /// True if a predicate of a term is known in a state.
    fn is_known<V: ByteDomain>(&self, index: usize, data: &DataSpace<V>) -> bool {
        data.get(self.cell(index)).bits().known_mask() != 0
    }

    /// Forgets the predicates of a state that speak of some cells.
    pub fn forget<V: ByteDomain>(&self, is_lost: impl Fn(DataAddress) -> bool, data: &mut DataSpace<V>) {
        let lost = self.by_cell.iter().filter(|(cell, _)| is_lost(**cell));
        let terms: Vec<usize> = lost.flat_map(|(_, terms)| terms).copied().collect();
        self.replace(terms.clone(), data, |_, _| TvByte::UNKNOWN);
        self.evaluate_clauses(&terms, false, data);
    }

    /// Forgets all predicates of a state.
    pub fn forget_all<V: ByteDomain>(&self, data: &mut DataSpace<V>) {
        let terms: Vec<usize> = (0..self.terms.len()).collect();
        self.replace(terms.clone(), data, |_, _| TvByte::UNKNOWN);
        self.evaluate_clauses(&terms, false, data);
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

    /// The literals that bits are: one for the predicate of a term, two for a disjunction.
    pub fn named(&self, told: &ToldBy) -> Vec<Vec<Literal>> {
        let of = |(index, mask): (&usize, &u8)| match index.checked_sub(MOST_TERMS) {
            Some(number) => vec![self.clauses[number].to_vec()],
            None => {
                let (term, mask) = (*index, *mask);
                let bits = PredicateOrder::ALL.into_iter().map(|(_, bit)| bit).filter(|bit| mask & bit != 0);
                bits.map(|predicate| vec![Literal { term, predicate, is_negated: false }]).collect()
            }
        };
        told.iter().flat_map(of).collect()
    }

    /// True if the predicates of an abstract state, of which `known` gives the cells, are true of the bytes of a concrete one.
    pub fn are_true(&self, known: impl Fn(DataAddress) -> TvByte, byte: &dyn Fn(DataAddress) -> u8) -> bool {
        let byte = |cell| TvByte::constant(byte(cell));
        self.terms().all(|(cell, term)| known(cell).covers(term.evaluate(&byte)))
            && self.are_clauses_true(&known, &byte)
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

/// The predicates of a term that are known from one side or the other; those of the first where both are.
fn join_known(one: TvByte, other: TvByte) -> TvByte {
    let more = other.known_mask() & !one.known_mask();
    let known = (0..5).map(|bit| 1u8 << bit).filter(|bit| more & bit != 0);
    known.fold(one, |all, bit| if all.known_mask() & bit != 0 { all } else { told(all, bit, other.value() & bit != 0) })
}

/// Sets the predicates of a state that a cell holds.
fn set<V: ByteDomain>(data: &mut DataSpace<V>, cell: DataAddress, predicates: TvByte) {
    let unknown = V::constant(0).join(&V::constant(0xff));
    let value = unknown.assume(predicates).unwrap_or(unknown);
    data.set(cell, value);
}
