//! Proofs by symbolic execution between the heads of loops, for a program with invariants: `AG EF q` by claims, `AG p`, and eventualities.

use super::Invariants;
use super::eventuality::{Comes, awaited};
use avr_image::FlashByteAddress;
use avr_isa::DataAddress;
use avr_machine::{FrameKind, Machine};
use avr_progress::{Limits, Proof, Stuck, Target, holds_everywhere, recovers};
use avr_properties::{Atom, BoundProperty, CellsRead, StateView};
use avr_symbolic::{SymbolicBit, SymbolicState};
use mu_calculus::state_formula::truth;
use mu_calculus::{AtomId, Formula, NormalForm, PathOperator, PathQuantifier};
use std::collections::BTreeMap;
use three_valued::{BitDomain, ByteDomain, Truth, TvByte};

/// The most steps on symbolic bits for a formula that is to be true everywhere.
const STEPS_EVERYWHERE: usize = 50_000;

/// The most unknown bits that a formula is evaluated for.
const MOST_BITS: usize = 8;

/// The result of looking for a proof by symbolic execution.
pub(crate) enum Recovery {
    /// A proof for each formula that must be reached.
    Proved(Vec<Proof>),
    /// What is awaited comes.
    Comes(Comes),
    /// A formula is true on all paths between heads.
    Everywhere,
    /// No proof was found.
    Stuck(Stuck),
    /// The property is of another form.
    OtherForm,
}

/// True if a property has a form that claims or symbolic execution may prove.
pub(crate) fn may_be_proved(bound: &BoundProperty) -> bool {
    let has_form = || match bound.fairness() {
        None => everywhere(&bound.formula).is_some() || reached(&bound.formula).is_some() || may_come(bound),
        Some(_) => may_come(bound),
    };
    bound.something_is_left().is_none() && !bound.observes_hazards && has_form()
}

/// True if a property says that something comes, on all runs or on those that are fair to some interrupts.
fn may_come(bound: &BoundProperty) -> bool {
    bound.fairness().is_none_or(|fairness| fairness.interrupts.is_some()) && awaited(&bound.formula).is_some()
}

/// p of `AG p`, if p speaks of states.
pub(crate) fn everywhere(formula: &Formula<AtomId>) -> Option<&Formula<AtomId>> {
    match formula {
        Formula::Path(PathQuantifier::All, PathOperator::Always, inner) => speaks_of_states(inner).then_some(&**inner),
        _ => None,
    }
}

impl Invariants {
    /// Looks for claims about loops that prove a property, or proves it on all paths between heads.
    pub(crate) fn prove_symbolically(
        &self,
        machine: &Machine,
        (atoms, bound): (&[Atom], &BoundProperty),
        is_over: &dyn Fn() -> bool,
    ) -> Recovery {
        if !may_be_proved(bound) {
            return Recovery::OtherForm;
        }
        let map = (&self.map, &self.moves);
        if let Some(awaited) = awaited(&bound.formula) {
            let fair = bound.fairness().and_then(|fairness| fairness.interrupts.clone()).unwrap_or_default();
            let limits = (&Limits::default(), is_over);
            return match self.prove_eventualities(machine, (atoms, &awaited), &fair, limits) {
                Ok(comes) => Recovery::Comes(comes),
                Err(stuck) => stuck.map_or(Recovery::OtherForm, Recovery::Stuck),
            };
        }
        if let Some(formula) = everywhere(&bound.formula) {
            let Some(target) = StateFormula::new(atoms, formula) else { return Recovery::OtherForm };
            let few = Limits { steps: STEPS_EVERYWHERE, ..Limits::default() };
            return match holds_everywhere(machine, map, &target, (&few, is_over)) {
                Ok(()) => Recovery::Everywhere,
                Err(_) => Recovery::OtherForm,
            };
        }
        let Some(reached) = reached(&bound.formula) else { return Recovery::OtherForm };
        let mut proofs = Vec::new();
        for formula in reached {
            let Some(target) = StateFormula::new(atoms, formula) else { return Recovery::OtherForm };
            match recovers(machine, map, &target, (&Limits::default(), is_over)) {
                Ok(proof) => proofs.push(proof),
                Err(stuck) => return Recovery::Stuck(stuck),
            }
        }
        Recovery::Proved(proofs)
    }
}

/// Formulas about states such that a formula is true if from every state each of them can be reached. What can be reached from the first
/// state is to be shown by a run, which no claim gives.
fn reached(formula: &Formula<AtomId>) -> Option<Vec<&Formula<AtomId>>> {
    match formula {
        Formula::And(parts) => Some(parts.iter().map(reached).collect::<Option<Vec<_>>>()?.concat()),
        Formula::Path(PathQuantifier::All, PathOperator::Always, inner) => reached_everywhere(inner),
        _ => None,
    }
}

/// The same for a formula that is to be true in every state.
///
/// SOUND: in `p -> EF q` and its like all operators around `EF` are monotone, and `EF q` is true in every state.
fn reached_everywhere(formula: &Formula<AtomId>) -> Option<Vec<&Formula<AtomId>>> {
    match formula {
        Formula::And(parts) => Some(parts.iter().map(reached_everywhere).collect::<Option<Vec<_>>>()?.concat()),
        Formula::Or(parts) => parts.iter().find_map(reached_everywhere),
        Formula::Implies(_, then) => reached_everywhere(then),
        Formula::Path(PathQuantifier::All, PathOperator::Always, inner) => reached_everywhere(inner),
        Formula::Path(PathQuantifier::Exists, PathOperator::Eventually, inner) => {
            speaks_of_states(inner).then(|| vec![&**inner])
        }
        _ => None,
    }
}

/// True if each state decides a formula.
pub(super) fn speaks_of_states(formula: &Formula<AtomId>) -> bool {
    match formula {
        Formula::Constant(_) | Formula::Atom(_) => true,
        Formula::Not(inner) => speaks_of_states(inner),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().all(speaks_of_states),
        Formula::Implies(one, other) | Formula::Iff(one, other) => speaks_of_states(one) && speaks_of_states(other),
        _ => false,
    }
}

/// A formula about states, and the cells that it reads.
pub(super) struct StateFormula<'a> {
    atoms: &'a [Atom],
    formula: NormalForm,
    cells: Vec<(DataAddress, u8)>,
}

impl<'a> StateFormula<'a> {
    /// None for a formula that reads a cell which depends on the state.
    pub(super) fn new(atoms: &'a [Atom], formula: &Formula<AtomId>) -> Option<Self> {
        let formula = NormalForm::new(formula).ok()?;
        let mut cells: BTreeMap<DataAddress, u8> = BTreeMap::new();
        for atom in formula.atoms() {
            let atom = &atoms[atom.index()];
            let CellsRead::These(read) = atom.cells() else { return None };
            read.into_iter().for_each(|(cell, mask)| *cells.entry(cell).or_default() |= mask);
        }
        Some(Self { atoms, formula, cells: cells.into_iter().collect() })
    }

    fn truth(&self, view: &View<'_, '_>) -> Truth {
        let label = |atom: AtomId| self.atoms[atom.index()].evaluate(view);
        truth(&self.formula, self.formula.root(), &label)
    }
}

impl Target for StateFormula<'_> {
    fn bit<'g>(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        self.surely(state, true)
    }

    fn outside<'g>(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        self.surely(state, false)
    }
}

impl StateFormula<'_> {
    /// A bit that is 1 only if the formula has a value in a state.
    fn surely<'g>(&self, state: &SymbolicState<'g>, value: bool) -> SymbolicBit<'g> {
        let mut view = View { state, given: BTreeMap::new() };
        let mut open: Vec<(DataAddress, u8, SymbolicBit<'g>)> = Vec::new();
        for (cell, mask) in &self.cells {
            let byte = state.data.get(*cell);
            let unknown = byte.bits().unknown_mask() & mask;
            open.extend((0..8).filter(|bit| unknown >> bit & 1 == 1).map(|bit| (*cell, bit, byte.bit(bit))));
        }
        match self.truth(&view).known() {
            Some(known) => return SymbolicBit::constant(known == value),
            None if open.len() > MOST_BITS => return SymbolicBit::ZERO,
            None => {}
        }
        let mut any = SymbolicBit::ZERO;
        for values in 0u32..1 << open.len() {
            view.given.clear();
            let mut all = SymbolicBit::ONE;
            for (index, (cell, bit, unknown)) in open.iter().enumerate() {
                let is_set = values >> index & 1 == 1;
                let known = view.given.entry(*cell).or_insert_with(|| state.data.get(*cell).bits());
                *known = known.with_bit(*bit, &Truth::from(is_set));
                all = all.and(&if is_set { *unknown } else { unknown.not() });
            }
            if self.truth(&view).known() == Some(value) {
                any = any.or(&all);
            }
        }
        any
    }
}

/// A symbolic state as atoms see it, with some cells given.
struct View<'s, 'g> {
    state: &'s SymbolicState<'g>,
    given: BTreeMap<DataAddress, TvByte>,
}

impl StateView for View<'_, '_> {
    fn cell(&self, address: DataAddress) -> TvByte {
        self.given.get(&address).copied().unwrap_or_else(|| self.state.data.get(address).bits())
    }

    fn pc(&self) -> FlashByteAddress {
        self.state.control.pc.byte()
    }

    fn stack_pointer_torn(&self) -> bool {
        self.state.control.torn
    }

    fn interrupt_depth(&self) -> usize {
        let is_interrupt = |frame: &&avr_machine::Frame| matches!(frame.kind, FrameKind::Interrupt(_));
        self.state.calls.frames().iter().filter(is_interrupt).count()
    }

    fn sleeping(&self) -> Truth {
        Truth::from(self.state.control.sleeping)
    }

    fn in_startup(&self) -> Truth {
        Truth::from(self.state.control.in_startup)
    }

    fn hazard(&self) -> Truth {
        Truth::False
    }
}
