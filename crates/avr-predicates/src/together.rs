//! What predicates of several terms tell together, found by a SAT solver within limits. A predicate that they tell is not decided otherwise, so
//! that no state is made whose predicates contradict each other.

use crate::faults::{Fault, is_on};
use crate::order::{EQUAL, GREATER, LESS, PredicateOrder, SIGNED_LESS};
use crate::term::{Term, constant};
use crate::told_by::{Told, ToldBy};
use avr_isa::DataAddress;
use avr_machine::{Copies, Number, Operand, Sum};
use avr_symbolic::{Consequence, Graph, QueryLimits, SymbolicBit, SymbolicByte, SymbolicWord, consequences};
use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use three_valued::{BitDomain, ByteDomain, Truth, TvByte};

/// The most cells that a question speaks of.
const MOST_CELLS: usize = 24;
/// The limits of a query.
const LIMITS: QueryLimits = QueryLimits { steps: 2_000, nodes: 1 << 14 };
/// The most answers that are kept.
const MOST_ANSWERS: usize = 1 << 14;

/// Known predicates of a term, or a known disjunction. `T` is a term or a reference to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Known<T> {
    /// The number by which what tells something is named.
    pub(crate) index: usize,
    /// The known bits.
    pub(crate) bits: TvByte,
    pub(crate) of: Of<T>,
}

/// What is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Of<T> {
    /// The predicates of a term.
    Term(T),
    /// A disjunction, whose truth is bit 0: predicates of terms, each with whether it is negated.
    Either([(T, u8, bool); 2]),
}

impl<T: Borrow<Term>> Known<T> {
    fn cells(&self) -> impl Iterator<Item = DataAddress> + '_ {
        let (one, other) = match &self.of {
            Of::Term(term) => (term, None),
            Of::Either([(one, ..), (other, ..)]) => (one, Some(other)),
        };
        one.borrow().cells().chain(other.into_iter().flat_map(|other| other.borrow().cells()))
    }

    fn owned(&self) -> Known<Term> {
        let of = match &self.of {
            Of::Term(term) => Of::Term(term.borrow().clone()),
            Of::Either(parts) => Of::Either(
                parts.each_ref().map(|(term, predicate, is_negated)| (term.borrow().clone(), *predicate, *is_negated)),
            ),
        };
        Known { index: self.index, bits: self.bits, of }
    }
}

/// All that may tell the predicates of a term: what is known of the cells that the term speaks of, of the cells that those are compared with, and
/// so on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Question {
    term: Term,
    known: Vec<Known<Term>>,
    /// Known bits of cells.
    bytes: Vec<(DataAddress, TvByte)>,
    /// Copies of the cells.
    copies: Copies,
}

impl Question {
    /// The question about the predicates of a term in a state with such copies, of which `byte` gives the cells; none if there is nothing more to
    /// know than what the term itself tells, or too much.
    pub(crate) fn new(
        term: &Term,
        known: &[Known<&Term>],
        copies: Copies,
        byte: &dyn Fn(DataAddress) -> TvByte,
    ) -> Option<Self> {
        let cells = closure(term.cells().collect(), known, &linked(copies))?;
        let inside = || known.iter().filter(|one| one.cells().all(|cell| cells.contains(&cell)));
        let tells_more = |known: &Known<&Term>| match known.of {
            Of::Term(other) => {
                let is_range = other.left == term.left && constant(&other.right).is_some();
                other != term && !(is_range && constant(&term.right).is_some())
            }
            Of::Either(_) => true,
        };
        let copies = within(copies, &cells)?;
        let of_cell = cells.iter().map(|cell| (*cell, byte(*cell)));
        let bytes: Vec<(DataAddress, TvByte)> = of_cell.filter(|(_, bits)| *bits != TvByte::UNKNOWN).collect();
        // Of a number and a constant, ranges tell all that bytes do but for few.
        let is_own = !bytes.is_empty() && constant(&term.right).is_none() && inside().next().is_some();
        (is_own || inside().any(tells_more)).then(|| Self {
            term: term.clone(),
            known: inside().map(Known::owned).collect(),
            bytes,
            copies,
        })
    }

    /// True if one number of the term is a constant, or if known predicates and copies lead from one number to the other.
    pub(crate) fn is_connected(&self) -> bool {
        let cells = |number: &Number| number.bytes.iter().filter_map(Operand::cell).collect::<BTreeSet<DataAddress>>();
        let (left, right) = (cells(&self.term.left), cells(&self.term.right));
        let all = || closure(left, &self.known, &linked(self.copies));
        right.is_empty() || all().is_none_or(|all| right.iter().any(|cell| all.contains(cell)))
    }

    fn answer(&self) -> Answer {
        let graph = Graph::new(LIMITS.nodes);
        let mut formula = Formula::of(&graph, self);
        let goals = PredicateOrder::ALL.map(|(_, predicate)| formula.predicate(&self.term, predicate));
        formula.told(goals)
    }
}

/// What is told of each predicate, in their order.
pub(crate) type Answer = [Told; PredicateOrder::ALL.len()];

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
    pub(crate) fn ask(&self, question: Question) -> Answer {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(told) = all.get(&question) {
            return told.clone();
        }
        let told = question.answer();
        if all.len() == MOST_ANSWERS {
            all.clear();
        }
        all.insert(question, told.clone());
        told
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

/// Some cells with all that known predicates or a group tell together with one of them, and so on; none if there are too many.
fn closure<T: Borrow<Term>>(
    mut cells: BTreeSet<DataAddress>,
    known: &[Known<T>],
    groups: &[Vec<DataAddress>],
) -> Option<BTreeSet<DataAddress>> {
    loop {
        let before = cells.len();
        for one in known {
            if one.cells().any(|cell| cells.contains(&cell)) {
                cells.extend(one.cells());
            }
        }
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
    /// The formula of what a question knows.
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
        question.known.iter().for_each(|known| formula.add_known(known));
        formula
    }

    /// Adds known predicates.
    fn add_known(&mut self, known: &Known<Term>) {
        match &known.of {
            Of::Term(term) => {
                let bits = PredicateOrder::ALL.iter().map(|(_, bit)| *bit);
                for predicate in bits.filter(|bit| known.bits.known_mask() & bit != 0) {
                    let bit = self.predicate(term, predicate);
                    self.add(bit, known.bits.value() & predicate != 0, Some((known.index, predicate)));
                }
            }
            Of::Either(parts) => {
                let any = parts.iter().fold(SymbolicBit::ZERO, |any, (term, predicate, is_negated)| {
                    let bit = self.predicate(term, *predicate);
                    any.or(&if *is_negated { bit.not() } else { bit })
                });
                self.add(any, known.bits.value() & 1 != 0, Some((known.index, 1)));
            }
        }
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
