//! Formulas about states as targets.

use crate::target::Target;
use avr_isa::{DataAddress, FlashByteAddress};
use avr_machine::{Frame, FrameKind};
use avr_properties::{Atom, CellsRead, StateView};
use avr_symbolic::{SymbolicBit, SymbolicState};
use mu_calculus::state_formula::truth;
use mu_calculus::{AtomId, Formula, NormalForm};
use std::collections::BTreeMap;
use three_valued::{BitDomain, ByteDomain, Truth, TvByte};

/// The most unknown bits that a formula is evaluated for.
const MOST_BITS: usize = 8;

/// A formula about states, and the cells that it reads.
pub struct StateFormula<'a> {
    atoms: &'a [Atom],
    formula: NormalForm,
    cells: Vec<(DataAddress, u8)>,
}

impl<'a> StateFormula<'a> {
    /// None for a formula that reads a cell which depends on the state.
    #[must_use]
    pub fn new(atoms: &'a [Atom], formula: &Formula<AtomId>) -> Option<Self> {
        let formula = NormalForm::new(formula).ok()?;
        let mut cells: BTreeMap<DataAddress, u8> = BTreeMap::new();
        for atom in formula.atoms() {
            let atom = &atoms[atom.index()];
            let CellsRead::These(read) = atom.cells() else { return None };
            read.into_iter().for_each(|(cell, mask)| *cells.entry(cell).or_default() |= mask);
        }
        Some(Self { atoms, formula, cells: cells.into_iter().collect() })
    }

    /// The texts of its atoms.
    #[must_use]
    pub fn text(&self) -> String {
        let atoms = self.formula.atoms();
        let texts = atoms.iter().map(|atom| format!("'{}'", self.atoms[atom.index()].text()));
        texts.collect::<Vec<_>>().join(", ")
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
        let is_interrupt = |frame: &&Frame| matches!(frame.kind, FrameKind::Interrupt(_));
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
