//! What predicates of several terms tell together, found by a SAT solver: a state whose predicates contradict each other is not made,
//! because a predicate that they tell is never decided otherwise.

use crate::clause::Literal;
use crate::faults::{Fault, is_on};
use crate::order::{EQUAL, GREATER, LESS, PredicateOrder, SIGNED_LESS, told};
use crate::table::{MOST_TERMS, Predicates};
use crate::term::{Term, constant};
use crate::told_by::{Told, ToldBy};
use avr_isa::DataAddress;
use avr_machine::{Copies, Number, Operand, Sum};
use avr_symbolic::{Consequence, Graph, QueryLimits, SymbolicBit, SymbolicByte, SymbolicWord, consequences};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use three_valued::{BitDomain, ByteDomain, Truth, TvByte};

/// The most cells that a question speaks of.
const MOST_CELLS: usize = 24;
/// The limits of a query.
const LIMITS: QueryLimits = QueryLimits { steps: 2_000, nodes: 1 << 14 };
/// The most answers that are kept.
const MOST_ANSWERS: usize = 1 << 14;

/// All that may tell the predicates of a term: what is known of the cells that the term speaks of, of the cells that those are compared with, and
/// so on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Question {
    term: Term,
    /// Known predicates, by the index of their term, and known disjunctions behind them.
    known: Vec<(usize, TvByte)>,
    /// The cells that each of them speaks of.
    groups: Vec<Vec<DataAddress>>,
    /// Known bits of cells.
    bytes: Vec<(DataAddress, TvByte)>,
    /// Copies of the cells.
    copies: Copies,
}

impl Question {
    /// True if one number of the term is a constant, or if known predicates and copies lead from one number to the other.
    fn is_connected(&self) -> bool {
        let cells = |number: &Number| number.bytes.iter().filter_map(Operand::cell).collect::<BTreeSet<DataAddress>>();
        let (left, right) = (cells(&self.term.left), cells(&self.term.right));
        let mut groups = self.groups.clone();
        groups.extend(linked(self.copies));
        right.is_empty() || closure(left, &groups).is_none_or(|all| right.iter().any(|cell| all.contains(cell)))
    }
}

/// What is told of each predicate, in their order.
type Answer = [Told; PredicateOrder::ALL.len()];

/// The answers to questions that were asked. They depend on the questions only.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    all: Mutex<HashMap<Question, Answer>>,
}

impl Clone for Answers {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Answers {
    /// The answer to a question, which is computed if it was not asked before.
    fn get(&self, question: Question, answer: impl FnOnce(&Question) -> Answer) -> Answer {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(told) = all.get(&question) {
            return told.clone();
        }
        let told = answer(&question);
        if all.len() == MOST_ANSWERS {
            all.clear();
        }
        all.insert(question, told.clone());
        told
    }
}

impl Predicates {
    /// The truth of a predicate of a term in a state of which `byte` gives the cells, as far as several terms tell it together.
    pub(crate) fn told_together(&self, index: usize, predicate: u8, byte: &dyn Fn(DataAddress) -> TvByte) -> Told {
        let answer = self.question(index, Copies::default(), byte).map(|question| self.ask(question));
        let told = PredicateOrder::ALL.iter().zip(answer.into_iter().flatten());
        told.into_iter().find(|((_, bit), _)| *bit == predicate).map_or_else(Told::unknown, |(_, told)| told)
    }

    /// The predicates of a term in a state with such copies, of which some are known already.
    pub(crate) fn evaluated_together(
        &self,
        index: usize,
        known: TvByte,
        copies: Copies,
        byte: &dyn Fn(DataAddress) -> TvByte,
    ) -> TvByte {
        let Some(question) = self.question(index, copies, byte).filter(Question::is_connected) else { return known };
        let answer = self.ask(question);
        PredicateOrder::ALL.iter().zip(answer).fold(known, |known, ((_, predicate), is_so)| {
            let more = is_so.truth.known().filter(|_| known.known_mask() & predicate == 0);
            more.map_or(known, |value| told(known, *predicate, value))
        })
    }

    fn ask(&self, question: Question) -> Answer {
        self.answers.get(question, |question| self.answer(question))
    }

    /// The question about the predicates of a term; none if there is nothing more to know than what the term itself tells, or too much.
    fn question(&self, index: usize, copies: Copies, byte: &dyn Fn(DataAddress) -> TvByte) -> Option<Question> {
        let term = self.term(index);
        let of_terms = (0..self.count()).map(|one| (one, self.term(one).cells().collect()));
        let of_clauses = self.clauses().iter().enumerate().map(|(number, clause)| {
            let cells = clause.iter().flat_map(|literal| self.term(literal.term).cells()).collect();
            (MOST_TERMS + number, cells)
        });
        let facts: Vec<(usize, TvByte, Vec<DataAddress>)> = of_terms
            .chain(of_clauses)
            .map(|(one, cells)| (one, byte(self.cell(one)), cells))
            .filter(|(_, known, _)| known.known_mask() != 0)
            .collect();
        let mut groups: Vec<Vec<DataAddress>> = facts.iter().map(|(.., cells)| cells.clone()).collect();
        groups.extend(linked(copies));
        let cells = closure(term.cells().collect(), &groups)?;
        let facts = facts.into_iter().filter(|(.., of)| of.iter().all(|cell| cells.contains(cell)));
        let (known, groups): (Vec<(usize, TvByte)>, Vec<Vec<DataAddress>>) =
            facts.map(|(one, known, of)| ((one, known), of)).unzip();
        let is_range = |one: usize| {
            let other = self.term(one);
            other.left == term.left && constant(&other.right).is_some() && constant(&term.right).is_some()
        };
        let tells_more = |(one, _): &(usize, TvByte)| *one != index && (*one >= MOST_TERMS || !is_range(*one));
        let copies = within(copies, &cells)?;
        let of_cell = cells.into_iter().map(|cell| (cell, byte(cell)));
        let bytes: Vec<(DataAddress, TvByte)> = of_cell.filter(|(_, bits)| *bits != TvByte::UNKNOWN).collect();
        // Of a number and a constant, ranges tell all that bytes do but for few.
        let is_own = !known.is_empty() && !bytes.is_empty() && constant(&term.right).is_none();
        (is_own || known.iter().any(tells_more)).then(|| Question { term: term.clone(), known, groups, bytes, copies })
    }

    /// The answer to a question.
    fn answer(&self, question: &Question) -> Answer {
        let graph = Graph::new(LIMITS.nodes);
        let mut formula = Formula::of(&graph, question);
        for (one, known) in &question.known {
            match one.checked_sub(MOST_TERMS) {
                None => {
                    let bits =
                        PredicateOrder::ALL.iter().map(|(_, bit)| *bit).filter(|bit| known.known_mask() & bit != 0);
                    for predicate in bits {
                        let bit = formula.predicate(self.term(*one), predicate);
                        formula.add(bit, known.value() & predicate != 0, Some((*one, predicate)));
                    }
                }
                Some(number) => {
                    let bit = self.clauses()[number]
                        .iter()
                        .fold(SymbolicBit::ZERO, |any, literal| any.or(&self.literal(&mut formula, literal)));
                    formula.add(bit, known.value() & 1 != 0, Some((*one, 1)));
                }
            }
        }
        let goals = PredicateOrder::ALL.map(|(_, predicate)| formula.predicate(&question.term, predicate));
        formula.told(goals)
    }

    fn literal<'g>(&self, formula: &mut Formula<'g>, literal: &Literal) -> SymbolicBit<'g> {
        let bit = formula.predicate(self.term(literal.term), literal.predicate);
        if literal.is_negated { bit.not() } else { bit }
    }
}

/// Cells that copies relate, in groups.
fn linked(copies: Copies) -> Vec<Vec<DataAddress>> {
    let pairs = copies.pairs().iter().map(|(one, other)| vec![*one, *other]);
    let masked = copies.masked().iter().map(|copy| vec![copy.to(), copy.from]);
    let sum = copies.sum();
    let of_sum = sum.number().map(|_| sum.registers().chain(sum.cells().iter().copied()).collect());
    pairs.chain(masked).chain(of_sum).collect()
}

/// Some cells with all that are in a group with one of them, and so on; none if there are too many.
fn closure(mut cells: BTreeSet<DataAddress>, groups: &[Vec<DataAddress>]) -> Option<BTreeSet<DataAddress>> {
    loop {
        let before = cells.len();
        for group in groups {
            if group.iter().any(|cell| cells.contains(cell)) {
                cells.extend(group);
            }
        }
        if cells.len() > MOST_CELLS {
            return None;
        }
        if cells.len() == before {
            return Some(cells);
        }
    }
}

/// The copies that speak of some cells only.
fn within(copies: Copies, cells: &BTreeSet<DataAddress>) -> Option<Copies> {
    let has = |cell: &DataAddress| cells.contains(cell);
    let pairs: Vec<_> = copies.pairs().iter().copied().filter(|(one, other)| has(one) && has(other)).collect();
    let masked: Vec<_> = copies.masked().iter().copied().filter(|copy| has(&copy.to()) && has(&copy.from)).collect();
    let sum = copies.sum();
    let is_meant = sum.number().is_some() && sum.registers().all(|cell| has(&cell));
    Some(Copies::of(&pairs, &masked)?.with_sum(if is_meant { sum } else { Sum::default() }))
}

/// What is known, as bits that are 1.
struct Formula<'g> {
    graph: &'g Graph,
    cells: BTreeMap<DataAddress, SymbolicByte<'g>>,
    facts: Vec<SymbolicBit<'g>>,
    /// The predicate that says so, of each fact.
    by: Vec<Option<(usize, u8)>>,
}

impl<'g> Formula<'g> {
    /// The formula of what a question knows of bytes and copies.
    fn of(graph: &'g Graph, question: &Question) -> Self {
        let mut formula = Self { graph, cells: BTreeMap::new(), facts: Vec::new(), by: Vec::new() };
        for (cell, known) in &question.bytes {
            let is_known = |index: usize| known.known_mask() >> index & 1 == 1;
            let byte = SymbolicByte::of_bits(std::array::from_fn(|index| match is_known(index) {
                true => SymbolicBit::constant(known.value() >> index & 1 == 1),
                false => graph.variable(),
            }));
            formula.cells.insert(*cell, byte);
            let [least, byte, most] = [SymbolicByte::constant(known.low()), byte, SymbolicByte::constant(known.high())]
                .map(|byte| SymbolicWord::of_bytes([&byte]));
            formula.add(byte.is_less(&least), false, None);
            formula.add(most.is_less(&byte), false, None);
        }
        let copies = question.copies;
        for (one, other) in copies.pairs() {
            let (one, other) = (formula.cell(*one), formula.cell(*other));
            formula.add(one.equals(&other), true, None);
        }
        for copy in copies.masked() {
            let (to, from) = (formula.cell(copy.to()), formula.cell(copy.from));
            formula.add(to.equals(&from.and(&SymbolicByte::constant(copy.mask))), true, None);
        }
        if let Some(number) = copies.sum().number() {
            let registers = Number::of(copies.sum().registers().map(Operand::Cell).collect());
            let (sum, number) = (formula.number(&registers), formula.number(&number));
            formula.add(sum.is_equal(&number), true, None);
        }
        formula
    }

    /// Adds that a bit has a value.
    fn add(&mut self, bit: SymbolicBit<'g>, value: bool, by: Option<(usize, u8)>) {
        self.facts.push(if value { bit } else { bit.not() });
        self.by.push(by);
    }

    /// What is told of some bits.
    fn told(&self, goals: [SymbolicBit<'g>; PredicateOrder::ALL.len()]) -> Answer {
        let mut found = consequences(&self.facts, &goals, LIMITS).into_iter();
        goals.map(|_| match found.next().flatten() {
            Some(Consequence { value, of }) => {
                let mut by = ToldBy::new();
                for (index, mask) in of.into_iter().filter_map(|fact| self.by[fact]) {
                    *by.entry(index).or_default() |= mask;
                }
                Told { truth: Truth::from(value), by }
            }
            None if is_on(Fault::OpenRefuted) => Told { truth: Truth::False, by: ToldBy::new() },
            None => Told::unknown(),
        })
    }

    fn cell(&mut self, cell: DataAddress) -> SymbolicByte<'g> {
        *self.cells.entry(cell).or_insert_with(|| self.graph.byte(0xff))
    }

    fn number(&mut self, number: &Number) -> SymbolicWord<'g> {
        let bytes: Vec<SymbolicByte<'g>> = number
            .bytes
            .iter()
            .map(|operand| match operand {
                Operand::Cell(cell) => self.cell(*cell),
                Operand::Masked(cell, mask) => self.cell(*cell).and(&SymbolicByte::constant(*mask)),
                Operand::Constant(value) => SymbolicByte::constant(*value),
            })
            .collect();
        let word = SymbolicWord::of_bytes(&bytes);
        let minus = SymbolicWord::constant(u64::from(number.plus).wrapping_neg(), word.width());
        word.wrapping_sub(&minus)
    }

    /// The bit that a predicate of a term is.
    fn predicate(&mut self, term: &Term, predicate: u8) -> SymbolicBit<'g> {
        let (left, right) = (self.number(&term.left), self.number(&term.right));
        match predicate {
            EQUAL => left.is_equal(&right),
            LESS => left.is_less(&right),
            GREATER => right.is_less(&left),
            SIGNED_LESS if is_on(Fault::SignsMixed) => left.is_less(&right),
            SIGNED_LESS => left.is_less_signed(&right),
            _ => right.is_less_signed(&left),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::with_fault;
    use avr_machine::Comparison;
    use avr_testkit::Random;

    const CELLS: [DataAddress; 2] = [DataAddress(0x100), DataAddress(0x101)];
    /// The first cell of predicates.
    const FIRST: DataAddress = DataAddress(0x900);

    fn random_number(random: &mut Random, bytes: usize) -> Number {
        let byte = |random: &mut Random| {
            let cell = random.pick(&CELLS);
            match random.below(5) {
                0 => Operand::Constant(random.pick(&[0, 1, 5, 0x7f, 0x80, 0xff])),
                1 => Operand::Cell(cell).masked(random.pick(&[0x0f, 0xf0, 0x81])),
                _ => Operand::Cell(cell),
            }
        };
        let bytes: Vec<Operand> = (0..bytes).map(|_| byte(random)).collect();
        let plus = if bytes.iter().all(|byte| byte.cell().is_none()) { 0 } else { random.pick(&[0, 0, 0, 3, 200]) };
        Number { bytes, plus }
    }

    /// Asks about random predicates, some of which are known of two bytes; how often something was told that has to be so, and what is wrong.
    fn compare_with_all_bytes(seeds: std::ops::Range<u64>) -> Result<usize, String> {
        let mut right = 0;
        for seed in seeds {
            let mut random = Random::new(seed);
            let mut predicates = Predicates::new(FIRST);
            for _ in 0..5 {
                let bytes = random.pick(&[1, 1, 1, 2]);
                let (left, right) = (random_number(&mut random, bytes), random_number(&mut random, bytes));
                if left.constant().is_none() {
                    predicates.number(&Comparison { left, right });
                }
            }
            if predicates.count() < 2 {
                continue;
            }
            let actual: [u8; 2] = [random.pick(&[0, 5, 0x7f, 0xfb]), random.byte()];
            let of = |values: [u8; 2]| move |cell: DataAddress| TvByte::constant(values[usize::from(cell == CELLS[1])]);
            // Copies relate the bytes as well where they are equal.
            let mut copies = Copies::default();
            if actual[0] == actual[1] {
                copies.copy(CELLS[0], CELLS[1]);
            }
            let known: Vec<TvByte> = (0..predicates.count())
                .map(|index| {
                    let mask = if index == 0 { 0 } else { random.byte() & random.byte() & 0x1f };
                    TvByte::new(predicates.term(index).evaluate(&of(actual)).value() & mask, mask)
                })
                .collect();
            let byte = |cell: DataAddress| match cell.0.checked_sub(FIRST.0) {
                Some(index) => known.get(usize::from(index)).copied().unwrap_or(TvByte::UNKNOWN),
                None => TvByte::UNKNOWN,
            };
            let told = predicates.evaluated_together(0, TvByte::UNKNOWN, copies, &byte);
            let mut all = None::<TvByte>;
            for values in
                (0..=u16::MAX).map(u16::to_le_bytes).filter(|values| actual[0] != actual[1] || values[0] == values[1])
            {
                let is_so = |index: usize| known[index].covers(predicates.term(index).evaluate(&of(values)));
                if (1..known.len()).all(is_so) {
                    let here = predicates.term(0).evaluate(&of(values));
                    if !told.covers(here) {
                        return Err(format!("seed {seed}: {values:?} has {here:?}, but {told:?} was told"));
                    }
                    all = Some(all.map_or(here, |all| all.join(&here)));
                }
            }
            right += usize::from(all.is_some_and(|all| all.known_mask() & 0x1f != 0 && told.known_mask() != 0));
        }
        Ok(right)
    }

    #[test]
    fn what_is_told_together_is_so_for_all_bytes() {
        let right =
            compare_with_all_bytes(0..avr_testkit::cases(150, 10_000)).unwrap_or_else(|problem| panic!("{problem}"));
        assert!(right > 25, "{right} were told");
    }

    #[test]
    fn what_is_told_wrongly_is_found() {
        for fault in [Fault::SignsMixed, Fault::OpenRefuted, Fault::MaskLost] {
            assert!(with_fault(fault, || compare_with_all_bytes(0..100)).is_err(), "{fault:?}");
        }
    }
}
