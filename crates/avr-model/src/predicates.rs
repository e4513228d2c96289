//! The predicates that the states of an analysis keep: which terms there are, and which predicates told something.
//!
//! The meaning of predicates, and their values after a step, are in `avr-predicates`.

use crate::faults::predicates::{Fault, is_on};
use avr_isa::{DataAddress, Register};
use avr_machine::{Comparison, DataSpace};
use avr_predicates::{Predicates, Told, ToldBy, add};
use avr_properties::{Atom, NamedPredicates};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use three_valued::{ByteDomain, Truth, TvByte};

pub use avr_predicates::{Literal, PredicateOrder, Term};

/// The steps that are taken with predicates before they are given up.
const MOST_STEPS: u64 = 50_000;

/// The most terms that come from weakest preconditions.
const MOST_PRECONDITIONS: usize = 16;

/// The steps of paths that are followed for refuting them, all together.
const MOST_REFUTING: usize = 20_000;

/// A predicate that told a flag or an atom.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct UsedPredicate {
    /// The numbers that are compared.
    pub term: Term,
    /// The order of the two numbers that the predicate is.
    pub order: PredicateOrder,
    /// True if it is the negation.
    pub is_negated: bool,
    /// The other part of a disjunction.
    pub or: Option<Box<Self>>,
}

impl UsedPredicate {
    /// The terms that it speaks of.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        std::iter::successors(Some(self), |one| one.or.as_deref()).map(|one| &one.term)
    }
}

/// The predicates of an analysis, which all steps share.
#[derive(Clone, Debug)]
pub struct SharedPredicates(Arc<Mutex<KeptPredicates>>);

impl SharedPredicates {
    /// Predicates that steps share.
    #[must_use]
    pub fn new(predicates: KeptPredicates) -> Self {
        Self(Arc::new(Mutex::new(predicates)))
    }

    /// The predicates.
    pub fn get(&self) -> MutexGuard<'_, KeptPredicates> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The facts about predicates that the outcome of a step depends on beside the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PredicateBasis {
    are_kept: bool,
    only_refuting: bool,
    terms: usize,
    drops: u32,
}

/// The predicates that states may keep.
#[derive(Debug)]
pub struct KeptPredicates {
    /// The terms, which are numbered when they are first met.
    all: Predicates,
    /// The number of terms that were there from the start.
    named: usize,
    /// The predicates that told something in the present state space, by the index of their term.
    used: ToldBy,
    /// Those that told something since they were last taken.
    noted: ToldBy,
    /// The number of times that terms were dropped.
    drops: u32,
    /// The steps that were taken with predicates.
    steps: u64,
    /// True if they are not kept any more.
    are_given_up: bool,
    /// The number of terms that came from weakest preconditions.
    preconditions: usize,
    /// True if comparisons that are executed become terms only where they were asked for.
    only_refuting: bool,
    /// The comparisons that were executed since they are listened to.
    heard: Option<Vec<Comparison>>,
    /// The steps of paths that were followed for refuting them.
    refuting: usize,
}

impl KeptPredicates {
    /// The predicates that are named, as many as there may be, for states whose own cells end before an address.
    #[must_use]
    pub fn new(first: DataAddress, named: &NamedPredicates) -> Self {
        let mut all = Predicates::new(first);
        for comparison in &named.comparisons {
            all.number(comparison);
        }
        for combination in &named.combinations {
            all.add_clause(combination);
        }
        let (used, noted) = (ToldBy::new(), ToldBy::new());
        Self {
            named: all.count(),
            all,
            used,
            noted,
            drops: 0,
            steps: 0,
            are_given_up: false,
            preconditions: 0,
            only_refuting: false,
            heard: None,
            refuting: 0,
        }
    }

    /// The terms with the values of their predicates in states.
    #[must_use]
    pub fn all(&self) -> &Predicates {
        &self.all
    }

    /// The number of the first terms, which tell atoms.
    #[must_use]
    pub fn named(&self) -> usize {
        self.named
    }

    /// The number of a comparison; 0 if there are too many terms, or if only those are kept that refute paths and it is none of them.
    pub(crate) fn number(&mut self, comparison: &Comparison) -> u8 {
        if let Some(heard) = &mut self.heard {
            heard.push(comparison.clone());
        }
        if self.only_refuting { self.all.number_of(comparison) } else { self.all.number(comparison) }
    }

    /// Keeps only terms that refute paths beside those that there are, or all comparisons that are executed.
    pub(crate) fn keep_only_refuting(&mut self, only: bool) {
        self.only_refuting = only;
    }

    /// Takes note of the comparisons that are executed from here on.
    pub(crate) fn listen(&mut self) {
        self.heard = Some(Vec::new());
    }

    /// The comparisons that were executed since [`KeptPredicates::listen`], of which no more notes are taken.
    pub(crate) fn heard(&mut self) -> Vec<Comparison> {
        self.heard.take().unwrap_or_default()
    }

    /// The steps of paths that may still be followed for refuting them.
    pub(crate) fn steps_to_refute(&self) -> usize {
        MOST_REFUTING.saturating_sub(self.refuting)
    }

    /// Counts steps of a path that is to be refuted.
    pub(crate) fn count_refuting(&mut self, steps: usize) {
        self.refuting += steps;
    }

    /// Adds comparisons that refute a path; true if some are new.
    pub(crate) fn add_refuting(&mut self, comparisons: &[Comparison]) -> bool {
        let before = self.all.count();
        for comparison in comparisons {
            self.all.number(comparison);
        }
        self.all.count() > before
    }

    /// The number of a comparison whose first number is compared with a constant in some term; 0 if there is none, or if there are too
    /// many terms.
    pub(crate) fn difference(&mut self, comparison: &Comparison) -> u8 {
        if let Some(heard) = &mut self.heard {
            heard.push(comparison.clone());
        }
        if !self.only_refuting && self.all.compares_with_constants(&comparison.left) {
            self.all.number(comparison);
        }
        self.all.difference_of(comparison)
    }

    /// Adds terms that compare registers with all that a number is compared with, whose difference they hold.
    pub(crate) fn relate_difference(&mut self, number: u8, first: Register) {
        for comparison in self.all.of_difference(number, first) {
            self.all.number(&comparison);
        }
    }

    /// Adds the terms of comparisons that would tell others, as many as there may be.
    pub(crate) fn add_preconditions(&mut self, comparisons: &[Comparison]) {
        for comparison in comparisons {
            let is_asked = !is_on(Fault::NoneProposed);
            if is_asked && self.preconditions < MOST_PRECONDITIONS && self.all.number_of(comparison) == 0 {
                self.preconditions += usize::from(self.all.number(comparison) != 0);
            }
        }
    }

    /// Takes note of the atoms that named terms tell.
    ///
    /// SOUND: a term that came later could tell an atom of states that were stored before, and what was skipped behind them was
    /// skipped because the atom was unknown.
    pub(crate) fn tell_of(&mut self, atoms: &[Atom]) {
        self.all.tell_of(self.named, atoms);
    }

    /// The truth of an atom in a state of which `byte` gives the cells, as far as predicates tell it.
    pub(crate) fn told(&mut self, atom: &Atom, byte: &dyn Fn(DataAddress) -> TvByte) -> Truth {
        let told = self.all.told(atom, byte);
        self.note(told)
    }

    /// The value of a flag after the comparison of this number in a state, as far as predicates tell it, and the cells that were
    /// looked at.
    pub(crate) fn outcome<V: ByteDomain>(
        &mut self,
        number: u8,
        flag: u8,
        data: &DataSpace<V>,
    ) -> (Truth, Vec<DataAddress>) {
        let (told, cells) = self.all.outcome(number, flag, data);
        (self.note(told), cells)
    }

    /// Takes note of what told something; what it told.
    fn note(&mut self, told: Told) -> Truth {
        add(&mut self.noted, &told.by);
        told.truth
    }

    /// Leaves the predicates of some terms unknown from the next state space on, which may take as many steps as all before.
    pub fn drop_terms(&mut self, dropped: Vec<Term>) {
        self.all.drop_terms(dropped);
        self.drops += 1;
        self.steps = 0;
    }

    /// The predicates that told something since the state space was begun.
    #[must_use]
    pub fn used(&self) -> Vec<UsedPredicate> {
        let mut all = self.used.clone();
        add(&mut all, &self.noted);
        let of = |literal: Literal, or: Option<UsedPredicate>| UsedPredicate {
            term: self.all.term(literal.term).clone(),
            order: PredicateOrder::of(literal.predicate),
            is_negated: literal.is_negated,
            or: or.map(Box::new),
        };
        let joined =
            |literals: Vec<Literal>| literals.into_iter().rev().fold(None, |rest, literal| Some(of(literal, rest)));
        self.all.named(&all).into_iter().filter_map(joined).collect()
    }

    /// The predicates that told something since they were last taken.
    pub(crate) fn take_noted(&mut self) -> ToldBy {
        std::mem::take(&mut self.noted)
    }

    /// Puts back those that were taken.
    pub(crate) fn put_noted(&mut self, noted: ToldBy) {
        self.noted = noted;
    }

    /// Takes note of predicates that told something in the present state space.
    pub(crate) fn enter(&mut self, used: &ToldBy) {
        add(&mut self.used, used);
    }

    /// The facts that the outcome of a step depends on beside the state: whether predicates are kept, and of which terms.
    pub(crate) fn basis(&self) -> PredicateBasis {
        PredicateBasis {
            are_kept: self.are_kept(),
            only_refuting: self.only_refuting,
            terms: self.all.count(),
            drops: self.drops,
        }
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
}
