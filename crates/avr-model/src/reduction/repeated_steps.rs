//! Expansions that are used again where a refinement changed nothing that they depend on.
//!
//! An expansion depends on the state, on the precision at the places that it came through, and on what the reductions assume of
//! the state space. While nothing of that changed, its hyper-edges are those that it would have again. What the
//! reductions noted meanwhile is noted again. See `docs/soundness.md`, section "Expansions that are used again".

use super::notes::Notes;
use super::passes::{Model, Passes};
use super::precision_reads::{Reads, Recorder};
use super::summary_table::Made;
use crate::context::Context;
use crate::faults::repeated_steps::{Fault, is_on};
use crate::predicates::PredicateBasis;
use crate::state::{AbstractState, PrecisionLookup};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use tvar::{HyperEdges, Lineage};

/// The most that is kept: members of hyper-edges, notes and rows of places, about 32 bytes each.
const MOST_KEPT: usize = 4_000_000;

/// The parts of an expansion beside these, counted in the same unit.
const PARTS: usize = 8;

/// The assumptions that all expansions rest on.
#[derive(Clone, Debug, PartialEq)]
struct Basis {
    lineage: Lineage,
    assumptions: u32,
    distinguishes_most: bool,
    learns_all: bool,
    predicates: Option<PredicateBasis>,
}

/// An expansion.
#[derive(Debug)]
struct Expansion {
    edges: HyperEdges<AbstractState>,
    /// The steps that it took.
    steps: u64,
    /// The number of the state space that it was used in last.
    space: u32,
    /// All that it depends on; none if that changed.
    support: Option<Box<Support>>,
}

/// The facts that an expansion depends on, and its notes.
#[derive(Debug)]
struct Support {
    /// The number of changes of the precision until then.
    changes: usize,
    reads: Reads,
    notes: Notes,
    /// The summaries that it used.
    summaries: Vec<Arc<Made>>,
}

impl Expansion {
    fn size(&self) -> usize {
        let members: usize = self.edges.iter().map(<[_]>::len).sum();
        let support = self.support.as_ref().map_or(0, |support| support.reads.size() + support.notes.size());
        PARTS + members + support
    }
}

/// The expansions so far.
#[derive(Debug, Default)]
pub struct RepeatedSteps {
    basis: Option<Basis>,
    known: FxHashMap<AbstractState, Expansion>,
    kept: usize,
    /// The number of the state space.
    space: u32,
    /// Steps that expansions took which were used again.
    reused: u64,
    /// Steps that were taken again, with the same outcome as before.
    repeated: u64,
}

/// The numbers of steps, in several firmwares one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepCounts {
    /// Steps that were taken.
    pub taken: u64,
    /// Those of them that led to the same states as in an earlier state space, as far as expansions were kept.
    pub repeated: u64,
    /// Steps that were not taken because the outcome was known.
    pub reused: u64,
}

impl StepCounts {
    /// The steps that budgets count.
    #[must_use]
    pub fn all(self) -> u64 {
        self.taken + self.reused
    }
}

impl Model<'_> {
    /// The numbers of steps so far.
    #[must_use]
    pub fn step_counts(&self) -> StepCounts {
        let Self { context, repeated: RepeatedSteps { repeated, reused, .. }, .. } = self;
        StepCounts { taken: context.working.state.steps, repeated: *repeated, reused: *reused }
    }

    /// Goes on counting from these numbers.
    pub fn count_from(&mut self, counts: StepCounts) {
        let StepCounts { taken, repeated, reused } = counts;
        self.context.working.state.steps = taken;
        (self.repeated.repeated, self.repeated.reused) = (repeated, reused);
    }
}

impl RepeatedSteps {
    /// True if an expansion that can be used keeps a state because the stack is deeper than ever before.
    #[cfg(any(test, feature = "faults"))]
    pub(crate) fn keeps_deepest(&self, state: &AbstractState) -> bool {
        let support = self.known.get(state).and_then(|expansion| expansion.support.as_ref());
        support.is_some_and(|support| support.notes.paths.keeps_deepest())
    }

    /// Begins a state space. Where much is kept, the expansions that the last two did not use are dropped.
    pub(crate) fn begin(&mut self) {
        self.space += 1;
        if self.kept > MOST_KEPT / 2 {
            let space = self.space;
            self.known.retain(|_, expansion| expansion.space + 2 >= space);
            self.kept = self.known.values().map(Expansion::size).sum();
        }
    }

    /// Drops what expansions depend on where they rest on something else than now.
    fn rest_on(&mut self, basis: Basis) {
        if self.basis.as_ref() != Some(&basis) {
            self.basis = Some(basis);
            self.known.values_mut().for_each(|expansion| expansion.support = None);
            self.kept = self.known.values().map(Expansion::size).sum();
        }
    }
}

/// The assumptions now; none where precision is kept per state.
fn basis(context: &Context<'_>, passes: &Passes, precision: &PrecisionLookup<'_>) -> Option<Basis> {
    let rules = &context.decay_rules;
    Some(Basis {
        lineage: precision.history()?.lineage().clone(),
        assumptions: passes.partial_order.as_ref().map_or(0, |reduction| reduction.assumptions()),
        distinguishes_most: rules.distinguishes_most,
        learns_all: rules.learns_all,
        predicates: passes.predicates.as_ref().map(|predicates| predicates.get().basis()),
    })
}

/// Adds the hyper-edges of a state from an earlier expansion of it; false if there is none that can be used.
pub(crate) fn repeat(
    model: &mut Model<'_>,
    state: &AbstractState,
    precision: &PrecisionLookup<'_>,
    edges: &mut HyperEdges<AbstractState>,
) -> bool {
    let Model { context, passes, repeated } = model;
    let Some(mut basis) = basis(context, passes, precision) else { return false };
    if is_on(Fault::NothingRepeated) {
        return false;
    }
    if is_on(Fault::AssumptionsUnseen) {
        basis.assumptions = 0;
    }
    repeated.rest_on(basis);
    let Some(expansion) = repeated.known.get_mut(state) else { return false };
    let Some(support) = &mut expansion.support else { return false };
    let changes = precision.history().map_or(&[][..], |history| history.changes());
    let since = &changes[support.changes..];
    let are_hit = |reads: &Reads| since.iter().any(|change| reads.are_hit_by(change));
    let is_hit = are_hit(&support.reads)
        || support
            .summaries
            .iter()
            .any(|made| changes[made.changes..].iter().any(|change| made.reads.are_hit_by(change)));
    if is_hit && !is_on(Fault::ChangesUnseen) {
        repeated.kept -= expansion.size();
        expansion.support = None;
        repeated.kept += expansion.size();
        return false;
    }
    support.changes = changes.len();
    if !passes.enter_again(&support.notes, &support.summaries) {
        return false;
    }
    edges.clone_from(&expansion.edges);
    expansion.space = repeated.space;
    repeated.reused += expansion.steps;
    true
}

/// Keeps an expansion of a state that took so many steps, with what was read of the precision.
pub(crate) fn keep(
    model: &mut Model<'_>,
    state: &AbstractState,
    (recorder, steps): (Recorder<'_>, u64),
    edges: &HyperEdges<AbstractState>,
) {
    let changes = recorder.changes();
    let (notes, summaries) = model.passes.take_notes();
    model.passes.enter(&notes);
    let Model { repeated, .. } = model;
    if let Some(before) = repeated.known.get(state) {
        repeated.repeated += if before.edges == *edges { steps } else { 0 };
        repeated.kept -= before.size();
    }
    let (Some(changes), true) = (changes, repeated.kept < MOST_KEPT) else {
        repeated.known.remove(state);
        return;
    };
    let support = Support { changes, reads: recorder.reads(), notes: notes.packed(), summaries };
    let expansion = Expansion { edges: edges.clone(), steps, space: repeated.space, support: Some(Box::new(support)) };
    repeated.kept += expansion.size();
    repeated.known.insert(*state, expansion);
}
