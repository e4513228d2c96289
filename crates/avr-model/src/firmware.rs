//! AVR firmware as a system for abstraction refinement.

use crate::abstraction::difference::{COMPUTED_FLAGS, difference};
use crate::abstraction::expansion_order::order;
use crate::context::Context;
use crate::faults::predicates::{Fault, is_on};
#[cfg(any(test, feature = "faults"))]
use crate::faults::{compares, count_compared};
use crate::reduction::passes::{Model, Passes};
use crate::reduction::precision_reads::Recorder;
use crate::reduction::repeated_steps::{self, RepeatedSteps};
use crate::reduction::{path_expansion, successors};
use crate::refinement::provenance::Tracer;
use crate::refinement::refuted_path::{PathFeasibility, path_feasibility};
use crate::state::cell_variable::variable_of;
use crate::state::{AbstractState, Location, PrecisionLookup};
use crate::transfer::hyper_edges::add_edges;
use crate::transfer::recorded_splits::RecordedSplits;
use avr_analysis::iteration_order::IterationOrder;
use avr_analysis::widening_thresholds::WideningThresholds;
use avr_machine::Machine;
use avr_properties::Atom;
use avr_symbolic::ConcreteRun;
use mu_calculus::AtomId;
use three_valued::Truth;
use tvar::{
    Abstraction, Blame, Candidate, DEFAULT_ENUMERATED, Difference, ExpansionOrder, HyperEdges, LocationPrecision,
    Refuted, StateKind, StepPrecision, System, Variable,
};

/// The steps in which as much is done as when power comes on and all cells get a value.
const POWER_ON_STEPS: u64 = 128;

/// Firmware in a machine, with the atoms that its properties speak of.
#[derive(Debug)]
pub struct Firmware<'m> {
    /// The states and the passes.
    pub model: Model<'m>,
    /// The splits of all steps, if a certificate is wanted.
    pub recorded: Option<RecordedSplits>,
    /// The order in which states are expanded.
    order: IterationOrder,
    /// The bits of a byte in memory that are dropped together.
    thresholds: WideningThresholds,
    /// The number of states that a limited location distinguishes.
    pub enumerated: usize,
    /// The run along the path that was found possible last, until it is taken.
    along_path: Option<Box<ConcreteRun>>,
}

impl<'m> Firmware<'m> {
    /// The system of a machine, without any reduction.
    #[must_use]
    pub fn new(machine: &'m Machine, atoms: &'m [Atom]) -> Self {
        Self::with_passes(machine, atoms, Passes::default())
    }

    /// The system of a machine, with some passes.
    #[must_use]
    pub fn with_passes(machine: &'m Machine, atoms: &'m [Atom], passes: Passes) -> Self {
        Self {
            model: Model {
                context: Context::relating(machine, atoms, passes.predicates.clone()),
                passes,
                repeated: RepeatedSteps::default(),
            },
            recorded: None,
            order: IterationOrder::new(&machine.program),
            thresholds: WideningThresholds::new(&machine.program),
            enumerated: DEFAULT_ENUMERATED,
            along_path: None,
        }
    }

    /// The run along the path that [`Abstraction::refute`] found possible last, once; none if it has none. Whether the machine takes it is to be
    /// confirmed.
    pub fn take_run_along_path(&mut self) -> Option<Box<ConcreteRun>> {
        self.along_path.take()
    }
}

impl Firmware<'_> {
    /// True if a variable is the cell of predicates.
    fn is_of_predicates(&self, variable: Variable) -> bool {
        variable.0 as usize >= self.model.context.machine.cells()
    }

    /// The expanded path: a path with its skipped states. Those that cannot be found again stay skipped.
    #[must_use]
    pub fn expanded(&mut self, path: &[AbstractState], precision: &PrecisionLookup<'_>) -> Vec<AbstractState> {
        path_expansion::expanded(&mut self.model, path, precision)
    }
}

#[cfg(any(test, feature = "faults"))]
impl Firmware<'_> {
    /// Compares the hyper-edges of a state that were used again with new ones, which are made from these passes. Those are
    /// left out where a state is kept because the stack is deepest there: that depends on what was expanded before.
    fn compare(
        &mut self,
        state: &AbstractState,
        precision: &PrecisionLookup<'_>,
        edges: &HyperEdges<AbstractState>,
        before: Passes,
    ) {
        let after = std::mem::replace(&mut self.model.passes, before);
        let here = precision.leaving(state, &self.location(state));
        let mut anew = HyperEdges::default();
        let leaves = successors::leaves_far(&mut self.model, state, precision);
        add_edges(leaves, (here, after.branches), &mut anew);
        let (notes, _) = self.model.passes.take_notes();
        self.model.passes.enter(&notes);
        let made_anew = std::mem::replace(&mut self.model.passes, after);
        if !notes.paths.keeps_deepest() && !self.model.repeated.keeps_deepest(state) {
            count_compared(anew == *edges && self.model.passes.noted_all_of(&made_anew));
        }
    }
}

impl System for Firmware<'_> {
    type State = AbstractState;
    type Location = Location;

    fn initial(&mut self) -> AbstractState {
        self.model.passes.begin(self.model.context.machine);
        self.model.repeated.begin();
        AbstractState::Dummy
    }

    fn location(&self, state: &AbstractState) -> Location {
        self.model.context.location(state)
    }

    fn expand(&mut self, state: &AbstractState, precision: &LocationPrecision, edges: &mut HyperEdges<AbstractState>) {
        if let Some(recorded) = &mut self.recorded {
            recorded.note(state, precision);
        }
        let leaves = successors::leaves(&mut self.model, state, precision);
        add_edges(leaves, (precision, self.model.passes.branches), edges);
        let (notes, _) = self.model.passes.take_notes();
        self.model.passes.enter(&notes);
    }

    fn decay(&mut self, state: AbstractState, precision: &StepPrecision) -> AbstractState {
        self.model.context.decay(state, precision)
    }

    fn covers(&self, coarse: &AbstractState, fine: &AbstractState) -> bool {
        self.model.context.covers(coarse, fine)
    }

    fn label(&self, state: &AbstractState, atom: AtomId) -> Truth {
        self.model.context.label(state, atom)
    }

    fn kind(&self, state: &AbstractState) -> StateKind {
        self.model.context.kind(state)
    }

    fn blame(
        &mut self,
        path: &[AbstractState],
        cause: Blame,
        precision: &PrecisionLookup<'_>,
    ) -> Vec<Candidate<Location>> {
        let expanded = self.expanded(path, precision);
        Tracer::new(&mut self.model, &expanded, precision).blame(cause)
    }
}

impl Firmware<'_> {
    /// The refinements that may remove a cause at the end of a path through a state space that a limit cut short, in which states
    /// may have taken the place of others that they cover; none where they did.
    pub fn blame_in_part(
        &mut self,
        path: &[AbstractState],
        cause: Blame,
        precision: &PrecisionLookup<'_>,
    ) -> Vec<Candidate<Location>> {
        let expanded = self.expanded(path, precision);
        Tracer::new(&mut self.model, &expanded, precision).with_replaced_states().blame(cause)
    }
}

impl Abstraction for Firmware<'_> {
    /// That power comes on counts as the many steps in which its work would be done: all cells get a value. Steps of an
    /// expansion that is used again count as if they were taken, so that budgets do not depend on what was kept.
    fn steps(&self) -> u64 {
        self.model.step_counts().all() + POWER_ON_STEPS * self.model.context.power_ons
    }

    fn advance(
        &mut self,
        state: &AbstractState,
        precision: &PrecisionLookup<'_>,
        edges: &mut HyperEdges<AbstractState>,
    ) {
        let here = precision.leaving(state, &self.location(state));
        if self.model.passes.path_compression.is_none() {
            return self.expand(state, here, edges);
        }
        #[cfg(any(test, feature = "faults"))]
        let before = compares().then(|| self.model.passes.clone());
        if repeated_steps::repeat(&mut self.model, state, precision, edges) {
            #[cfg(any(test, feature = "faults"))]
            if let Some(before) = before {
                self.compare(state, precision, edges, before);
            }
            return;
        }
        let (before, recorder) = (self.steps(), Recorder::new(precision));
        let leaves = successors::leaves_far(&mut self.model, state, &recorder);
        add_edges(leaves, (here, self.model.passes.branches), edges);
        let steps = self.steps() - before;
        repeated_steps::keep(&mut self.model, state, (recorder, steps), edges);
    }

    fn order(&self, state: &AbstractState) -> ExpansionOrder {
        match state {
            AbstractState::Running(running) => {
                order(&self.order, &self.model.context.store, running.calls, running.control.pc)
            }
            AbstractState::Dummy | AbstractState::Hazard { .. } | AbstractState::Limit { .. } => {
                ExpansionOrder::default()
            }
        }
    }

    fn are_neighbours(&self, one: Variable, next: Variable) -> bool {
        // In the SRAM: an array, or a number of several bytes.
        one >= variable_of(self.model.context.machine.sram().start)
            && next.0 == one.0 + 1
            && !self.is_of_predicates(next)
    }

    fn enumerated(&self) -> usize {
        self.enumerated
    }

    fn glances(&self) -> bool {
        self.model.passes.predicates().is_some()
    }

    fn found(&self) -> usize {
        self.model.passes.predicates().map_or(0, |predicates| predicates.get().all().count())
    }

    fn keep_only_refuting(&mut self, only: bool) -> bool {
        self.model.passes.predicates().filter(|_| !is_on(Fault::NoneRefuted)).is_some_and(|predicates| {
            predicates.get().keep_only_refuting(only);
            true
        })
    }

    fn refute(&mut self, path: &[AbstractState], precision: &PrecisionLookup<'_>) -> Refuted {
        let Some(predicates) = self.model.passes.predicates().cloned() else { return Refuted::Open };
        let path = self.expanded(path, precision);
        match path_feasibility(&mut self.model, &path, precision) {
            Some(PathFeasibility::Infeasible(all)) if predicates.get().add_refuting(&all) => Refuted::Newly,
            Some(PathFeasibility::Feasible(run)) => {
                self.along_path = run.filter(|_| !is_on(Fault::RunLeft));
                Refuted::Possible
            }
            Some(PathFeasibility::Infeasible(_)) | None => Refuted::Open,
        }
    }

    fn widened(&self, variable: Variable, bits: u64) -> u64 {
        let is_memory =
            variable >= variable_of(self.model.context.machine.sram().start) && !self.is_of_predicates(variable);
        if is_memory { self.thresholds.widened(bits as u8).into() } else { bits }
    }

    fn differences(&self, one: &AbstractState, other: &AbstractState) -> Vec<Difference> {
        match (one, other) {
            (AbstractState::Running(one), AbstractState::Running(other)) => {
                let cells = self.model.context.store.differing_cells(one.memory, other.memory);
                let status = self.model.context.machine.status_address();
                let difference = |(address, one, other)| {
                    let all = difference(address, one, other);
                    // A comparison that a branch has not looked at yet is worth the few states that it distinguishes.
                    if address == status { Difference { bits: all.bits & !COMPUTED_FLAGS, ..all } } else { all }
                };
                cells.map(difference).collect()
            }
            _ => Vec::new(),
        }
    }

    fn is_discharged(&self) -> bool {
        self.model.passes.is_discharged()
    }

    fn parts_are_discharged(&self) -> bool {
        !self.model.passes.is_decided_by_parts || self.is_discharged()
    }

    fn is_worth_keeping_all(&self) -> bool {
        // If interrupts are deferred, formulas may stay unknown that are known where they come at once.
        !self.model.passes.branches || self.model.passes.partial_order.is_none()
    }

    fn distinguishes_most(&self) -> bool {
        self.model.context.decay_rules.distinguishes_most
    }

    fn learn_more(&mut self) -> bool {
        let rules = &mut self.model.context.decay_rules;
        self.model.passes.facts && !std::mem::replace(&mut rules.learns_all, true)
    }

    fn distinguish_most(&mut self) {
        self.model.context.decay_rules.distinguishes_most = true;
    }
}
