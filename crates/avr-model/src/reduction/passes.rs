//! The passes that take part in building state spaces, and the state that they work on.

use super::interface::Reduction;
use super::notes::Notes;
use super::partial_order::PartialOrder;
use super::path_compression::PathCompression;
use super::repeated_steps::RepeatedSteps;
use super::skipped_paths::Log;
use super::summary_table::{HandlerSummaries, Made};
use super::visibility::Visibility;
use crate::context::Context;
use crate::faults::repeated_steps::{Fault, is_on};
use crate::pass::Pass;
use crate::predicates::{KeptPredicates, SharedPredicates, UsedPredicate};
use crate::state::deferral::Deferral;
use crate::transfer::interrupt_timing::InterruptTiming;
use avr_isa::{DataAddress, Register};
use avr_machine::{Comparison, Machine, MachineState, Operand};
use avr_predicates::{Predicates, ToldBy};
use avr_properties::NamedPredicates;
use std::mem;
use std::sync::Arc;
use three_valued::TvByte;

/// The most comparisons that are kept from the start; the others are left for those that are executed.
const MOST_NAMED: usize = 32;

/// The state that passes work on, and the passes.
#[derive(Debug)]
pub struct Model<'m> {
    /// The store of states and the working state.
    pub context: Context<'m>,
    /// The passes that take part.
    pub passes: Passes,
    /// The expansions so far.
    pub repeated: RepeatedSteps,
}

impl<'m> Model<'m> {
    /// Path compression, with the context that it looks at.
    ///
    /// # Panics
    /// If paths are not compressed: then they are not followed either.
    pub(crate) fn compression(&mut self) -> (&mut PathCompression, &mut Context<'m>) {
        let compression = self.passes.path_compression.as_mut();
        (compression.expect("paths are followed only where they are compressed"), &mut self.context)
    }
}

/// The passes that take part in building state spaces.
#[derive(Clone, Debug, Default)]
pub struct Passes {
    /// Partial-order reduction of interrupts.
    pub(crate) partial_order: Option<PartialOrder>,
    /// Path compression, with case merging.
    pub(crate) path_compression: Option<PathCompression>,
    /// Handler summaries; only where both of the others take part.
    pub(crate) handler_summaries: Option<HandlerSummaries>,
    /// Facts and ranges from comparisons.
    pub(crate) facts: bool,
    /// Predicates that states keep where few values are kept.
    pub(crate) predicates: Option<SharedPredicates>,
    /// Precision that belongs to states, not to locations.
    pub(crate) precision_per_state: bool,
    /// True if goals see which states can be reached from which, where states are skipped.
    pub(crate) branches: bool,
    /// True if a part of a state space may tell that something holds.
    pub(crate) is_decided_by_parts: bool,
}

impl Passes {
    /// The passes restricted to the visibility of the goals.
    #[must_use]
    pub fn seen_by(mut self, visibility: &Visibility) -> Self {
        (self.branches, self.is_decided_by_parts) = (visibility.branches, visibility.is_decided_by_parts);
        self
    }

    /// The same with partial-order reduction, where that is of use.
    #[must_use]
    pub fn with_partial_order_reduction(mut self, machine: &Machine, visibility: &Visibility) -> Self {
        self.partial_order = PartialOrder::new(machine, visibility.clone());
        self
    }

    /// The same with path compression and case merging.
    #[must_use]
    pub fn with_path_compression(mut self, machine: &Machine, visibility: &Visibility) -> Self {
        self.path_compression = Some(PathCompression::new(machine, visibility.observes_content));
        self
    }

    /// The same with precision per state.
    #[must_use]
    pub fn with_precision_per_state(mut self) -> Self {
        self.precision_per_state = true;
        self
    }

    /// The same with handler summaries: where both of the other reductions are made.
    #[must_use]
    pub fn with_handler_summaries(mut self) -> Self {
        self.handler_summaries = Some(HandlerSummaries::default());
        self
    }

    /// The same with facts and ranges from comparisons.
    #[must_use]
    pub fn with_facts(mut self) -> Self {
        self.facts = true;
        self
    }

    /// The same with predicates, first those that are named.
    ///
    /// SOUND: hardware changes other cells than registers and those of SRAM without an event, so nothing is kept about them.
    #[must_use]
    pub fn with_predicates(mut self, machine: &Machine, mut named: NamedPredicates) -> Self {
        let first = DataAddress::of_index(machine.cells());
        let is_kept = |operand: &Operand| {
            operand.cell().is_none_or(|cell| Register::at(cell).is_some() || machine.sram().contains(&cell))
        };
        let are_kept = |one: &Comparison| one.left.bytes.iter().chain(&one.right.bytes).all(is_kept);
        named.comparisons.retain(are_kept);
        named.comparisons.truncate(MOST_NAMED);
        named.combinations.retain(|parts| parts.iter().all(|part| are_kept(&part.numbers)));
        self.predicates = Some(SharedPredicates::new(KeptPredicates::new(first, &named)));
        self
    }

    /// The number of cells that states have beside those of the machine.
    pub(crate) fn cells(&self) -> usize {
        if self.predicates.is_some() { Predicates::cells() } else { 0 }
    }

    /// The predicates that states may keep.
    #[must_use]
    pub fn predicates(&self) -> Option<&SharedPredicates> {
        self.predicates.as_ref()
    }

    /// The predicates that told something in the present state space.
    #[must_use]
    pub fn used_predicates(&self) -> Vec<UsedPredicate> {
        self.predicates.as_ref().map_or_else(Vec::new, |predicates| predicates.get().used())
    }

    /// The passes that take part but for predicates, in the order of reports.
    #[must_use]
    pub fn list(&self) -> Vec<Pass> {
        let facts: &[Pass] = if self.facts { &[Pass::Ranges, Pass::Facts] } else { &[] };
        let precision: &[Pass] = if self.precision_per_state { &[Pass::PrecisionPerState] } else { &[] };
        let reductions = self.reductions().flat_map(Reduction::passes);
        let mut all: Vec<Pass> = reductions.chain(facts).chain(precision).copied().collect();
        all.sort_unstable();
        all
    }

    /// True if a pass takes part.
    #[must_use]
    pub fn has(&self, pass: Pass) -> bool {
        self.list().contains(&pass)
    }

    /// The skipped paths of the present state space, where paths are compressed.
    #[must_use]
    pub fn skipped_paths(&self) -> Option<&Log> {
        self.path_compression.as_ref().map(PathCompression::passed)
    }

    /// True if interrupts that are possible before a step from a state are deferred, or taken for having come before.
    #[must_use]
    pub fn reorders_interrupts(&self, machine: &Machine, state: &MachineState<TvByte>, deferral: Deferral) -> bool {
        let timing = self.partial_order.as_ref().map(|reduction| reduction.timing(machine, state, deferral));
        matches!(timing, Some(InterruptTiming::Deferred | InterruptTiming::Granted))
    }

    /// The reductions that take part.
    fn reductions(&self) -> impl Iterator<Item = &dyn Reduction> {
        let Self {
            partial_order,
            path_compression,
            handler_summaries,
            facts: _,
            predicates: _,
            precision_per_state: _,
            branches: _,
            is_decided_by_parts: _,
        } = self;
        let all = [
            partial_order.as_ref().map(|one| one as &dyn Reduction),
            path_compression.as_ref().map(|one| one as _),
            handler_summaries.as_ref().map(|one| one as _),
        ];
        all.into_iter().flatten()
    }

    /// Begins a state space.
    pub(crate) fn begin(&mut self, machine: &Machine) {
        let Self {
            partial_order,
            path_compression,
            handler_summaries,
            facts: _,
            predicates,
            precision_per_state: _,
            branches: _,
            is_decided_by_parts: _,
        } = self;
        if let Some(predicates) = predicates {
            predicates.get().begin();
        }
        let all = [
            partial_order.as_mut().map(|one| one as &mut dyn Reduction),
            path_compression.as_mut().map(|one| one as _),
            handler_summaries.as_mut().map(|one| one as _),
        ];
        all.into_iter().flatten().for_each(|one| one.begin(machine));
    }

    /// The notes of the present expansion, and the summaries that it used.
    pub(crate) fn take_notes(&mut self) -> (Notes, Vec<Arc<Made>>) {
        let paths = self.path_compression.as_mut().map(|reduction| mem::take(&mut reduction.noted));
        let accesses = self.partial_order.as_mut().map(|reduction| mem::take(&mut reduction.noted));
        let summaries = self.handler_summaries.as_mut().map(|handlers| mem::take(&mut handlers.used));
        let predicates = self.predicates.as_ref().map_or_else(ToldBy::new, |all| all.get().take_noted());
        let notes = Notes { paths: paths.unwrap_or_default(), accesses: accesses.unwrap_or_default(), predicates };
        (notes, summaries.unwrap_or_default())
    }

    /// Puts back notes that were taken.
    pub(crate) fn put_notes(&mut self, (notes, summaries): (Notes, Vec<Arc<Made>>)) {
        if let Some(reduction) = &mut self.path_compression {
            reduction.noted = notes.paths;
        }
        if let Some(reduction) = &mut self.partial_order {
            reduction.noted = notes.accesses;
        }
        if let Some(handlers) = &mut self.handler_summaries {
            handlers.used = summaries;
        }
        if let Some(predicates) = &self.predicates {
            predicates.get().put_noted(notes.predicates);
        }
    }

    /// Adds notes of states that were looked at in vain.
    pub(crate) fn put_notes_in_vain(&mut self, others: Notes) {
        let (mut notes, summaries) = self.take_notes();
        notes.add_in_vain(others);
        self.put_notes((notes, summaries));
    }

    /// Takes note of an expansion in the present state space.
    pub(crate) fn enter(&mut self, notes: &Notes) {
        if let Some(reduction) = &mut self.path_compression {
            reduction.enter(&notes.paths);
        }
        if let Some(reduction) = &mut self.partial_order {
            reduction.enter(&notes.accesses);
        }
        if let Some(predicates) = &self.predicates {
            predicates.get().enter(&notes.predicates);
        }
    }

    /// Takes note of an earlier expansion, which used these summaries, in the present state space; false if it does not
    /// go with the states that were kept so far.
    pub(crate) fn enter_again(&mut self, notes: &Notes, summaries: &[Arc<Made>]) -> bool {
        let Some(compression) = &mut self.path_compression else { return false };
        let deepest = compression.deepest();
        let Some(after) = notes.paths.deepest_after(deepest) else { return false };
        if let Some(handlers) = &mut self.handler_summaries {
            let may_pass = |made: &Arc<Made>| handlers.may_pass(made.summary.lowest, deepest);
            if !summaries.iter().all(may_pass) {
                return false;
            }
        }
        compression.set_deepest(after);
        for made in summaries {
            let handlers = self.handler_summaries.as_mut().expect("summaries are used where they are made");
            if !handlers.has(made) {
                handlers.add(made);
                self.enter(&made.notes);
            }
        }
        if !is_on(Fault::NotesForgotten) {
            self.enter(notes);
        }
        true
    }

    /// True if reductions noted at least what others noted: the read and write sets, the spots with their depth, and the steps.
    #[cfg(any(test, feature = "faults"))]
    pub(crate) fn noted_all_of(&self, others: &Self) -> bool {
        let seen = |passes: &Self| passes.partial_order.as_ref().map(PartialOrder::seen);
        let (log, other) = (self.skipped_paths().cloned(), others.skipped_paths().cloned());
        seen(self).zip(seen(others)).is_none_or(|(here, there)| here.covers(&there))
            && log.zip(other).is_none_or(|(here, there)| here.covers(&there))
            && others.used_predicates().iter().all(|used| self.used_predicates().contains(used))
    }

    /// True if all assumptions of the present state space are discharged so far.
    pub(crate) fn is_discharged(&self) -> bool {
        let are_spent = self.predicates.as_ref().is_some_and(|predicates| predicates.get().are_spent());
        !are_spent && self.reductions().all(Reduction::is_discharged)
    }
}
