//! Disjunctions in the states of an analysis: their values after a step, and the predicates that they tell.

use super::{MOST_TERMS, Predicates, set};
use crate::clause::{Clause, Literal, MOST_CLAUSES, TRUE, literal};
use crate::faults::{Fault, is_on};
use crate::order::{PredicateOrder, told};
use crate::told_by::{Told, ToldBy, add};
use avr_isa::DataAddress;
use avr_machine::DataSpace;
use avr_properties::ComparedNumbers;
use three_valued::{ByteDomain, Truth, TvByte};

impl Predicates {
    /// The disjunctions.
    #[must_use]
    pub fn clauses(&self) -> &[Clause] {
        &self.clauses
    }

    /// The cell of the disjunction with an index.
    fn clause_cell(&self, index: usize) -> DataAddress {
        self.cell(MOST_TERMS + index)
    }

    /// Adds a disjunction of two comparisons, whose terms are added if they are new ones; nothing if there are too many.
    pub fn add_clause(&mut self, compared: &[ComparedNumbers; 2]) {
        for one in compared {
            self.number(&one.numbers);
        }
        let literals = compared.each_ref().map(|one| literal(&self.terms, one));
        if let [Some(one), Some(other)] = literals {
            self.add_literals([one, other]);
        }
    }

    /// The same of literals; false if they are of no term or no predicate, or if there are too many disjunctions.
    pub fn add_literals(&mut self, clause: Clause) -> bool {
        let is_one = |literal: &Literal| literal.term < self.terms.len() && PredicateOrder::has(literal.predicate);
        let fits = self.clauses.len() < MOST_CLAUSES && clause.iter().all(is_one);
        if fits && !self.clauses.contains(&clause) {
            self.clauses.push(clause);
        }
        fits
    }

    /// Adds the cells of the disjunctions that may tell predicates of a term, and of the parts of each, to those that are looked at.
    pub(super) fn add_clause_cells(&self, index: usize, cells: &mut Vec<DataAddress>) {
        let related: Vec<usize> = self.related(index).collect();
        for (number, clause) in self.clauses.iter().enumerate() {
            if clause.iter().any(|literal| related.contains(&literal.term)) {
                cells.push(self.clause_cell(number));
                let parts = clause.iter().map(|literal| self.cell(literal.term));
                let others: Vec<DataAddress> = parts.filter(|cell| !cells.contains(cell)).collect();
                cells.extend(others);
            }
        }
    }

    /// The truth of a predicate of a term as far as a disjunction tells it, with what terms tell.
    pub(super) fn told_by_clauses(&self, index: usize, predicate: u8, byte: &dyn Fn(DataAddress) -> TvByte) -> Told {
        let related: Vec<usize> = self.related(index).collect();
        for (number, clause) in self.clauses.iter().enumerate() {
            let Some(is_true) = clause_truth(byte(self.clause_cell(number))).known() else { continue };
            for (one, other) in [(clause[0], clause[1]), (clause[1], clause[0])] {
                if !related.contains(&one.term) {
                    continue;
                }
                // Of a disjunction that is true one part is; of one that is not none is.
                let mut by = ToldBy::from([(MOST_TERMS + number, TRUE)]);
                if is_true && !is_on(Fault::ClauseIsEnough) {
                    let of_other = self.told_by_terms(other.term, other.predicate, byte);
                    if of_other.truth != Truth::from(other.is_negated) {
                        continue;
                    }
                    add(&mut by, &of_other.by);
                }
                let cell = self.cell(one.term);
                let value = told(byte(cell), one.predicate, is_true != one.is_negated);
                let found = self.told_by_terms(index, predicate, &|at| if at == cell { value } else { byte(at) });
                if found.truth.known().is_some() {
                    let of_terms =
                        found.by.into_iter().filter(|(term, mask)| (*term, *mask) != (one.term, one.predicate));
                    add(&mut by, &of_terms.collect());
                    return Told { truth: found.truth, by };
                }
            }
        }
        Told::unknown()
    }

    /// The truth of a disjunction in a state, as far as its parts tell it.
    fn clause_evaluated(&self, clause: &Clause, byte: &dyn Fn(DataAddress) -> TvByte) -> Truth {
        let of = |literal: &Literal| {
            let is_dropped = self.dropped.contains(&self.terms[literal.term]);
            let truth = if is_dropped {
                Truth::Unknown
            } else {
                self.told_by_terms(literal.term, literal.predicate, byte).truth
            };
            if literal.is_negated { !truth } else { truth }
        };
        of(&clause[0]) | of(&clause[1])
    }

    /// Evaluates the disjunctions of some terms; with `keeps`, those that are not told stay as they were.
    pub(super) fn evaluate_clauses<V: ByteDomain>(&self, terms: &[usize], keeps: bool, data: &mut DataSpace<V>) {
        for (number, clause) in self.clauses.iter().enumerate() {
            if !clause.iter().any(|literal| terms.contains(&literal.term)) {
                continue;
            }
            let truth = self.clause_evaluated(clause, &|cell| data.get(cell).bits());
            let value = truth.known().map_or(TvByte::UNKNOWN, |value| TvByte::new(u8::from(value), TRUE));
            if truth.known().is_some() || !keeps {
                set(data, self.clause_cell(number), value);
            }
        }
    }

    /// True if the disjunctions of an abstract state, of which `known` gives the cells, are true of the bytes of a concrete one.
    pub(super) fn are_clauses_true(
        &self,
        known: &dyn Fn(DataAddress) -> TvByte,
        byte: &dyn Fn(DataAddress) -> TvByte,
    ) -> bool {
        let of = |literal: &Literal| {
            let is_true = self.terms[literal.term].evaluate(byte).value() & literal.predicate != 0;
            is_true != literal.is_negated
        };
        self.clauses.iter().enumerate().all(|(number, clause)| {
            let known = clause_truth(known(self.clause_cell(number))).known();
            known.is_none_or(|known| known == clause.iter().any(of))
        })
    }
}

/// The truth of a disjunction that a cell has.
fn clause_truth(cell: TvByte) -> Truth {
    if cell.known_mask() & TRUE == 0 { Truth::Unknown } else { Truth::from(cell.value() & TRUE != 0) }
}
