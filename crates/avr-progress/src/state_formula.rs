//! Formulas about states as targets.

use crate::target::Target;
use avr_isa::{DataAddress, FlashByteAddress};
use avr_machine::{Frame, FrameKind};
use avr_properties::{Atom, CellsRead, StateView};
use avr_symbolic::{SymbolicBit, SymbolicState};
use mu_calculus::state_formula::truth;
use mu_calculus::{AtomId, Formula, Node, NodeId, NormalForm};
use std::collections::BTreeMap;
use three_valued::{BitDomain, ByteDomain, Truth, TvByte};

/// The most unknown bits by whose cases formulas are evaluated that are no atoms.
const MOST_BITS: usize = 8;
/// The most cases of an atom.
const MOST_CASES: usize = 600;

/// A formula about states, and the cells that its atoms read.
pub struct StateFormula<'a> {
    atoms: &'a [Atom],
    formula: NormalForm,
    cells: BTreeMap<AtomId, Vec<(DataAddress, u8)>>,
}

impl<'a> StateFormula<'a> {
    /// None for a formula that reads a cell which depends on the state.
    #[must_use]
    pub fn new(atoms: &'a [Atom], formula: &Formula<AtomId>) -> Option<Self> {
        let formula = NormalForm::new(formula).ok()?;
        let cells = formula.atoms().into_iter().map(|atom| match atoms[atom.index()].cells() {
            CellsRead::These(cells) => Some((atom, cells)),
            CellsRead::All => None,
        });
        let cells = cells.collect::<Option<_>>()?;
        Some(Self { atoms, formula, cells })
    }

    /// The texts of its atoms.
    #[must_use]
    pub fn text(&self) -> String {
        let atoms = self.formula.atoms();
        let texts = atoms.iter().map(|atom| format!("'{}'", self.atoms[atom.index()].text()));
        texts.collect::<Vec<_>>().join(", ")
    }

    fn truth(&self, node: NodeId, view: &View<'_, '_>) -> Truth {
        let label = |atom: AtomId| self.atoms[atom.index()].evaluate(view);
        truth(&self.formula, node, &label)
    }
}

impl Target for StateFormula<'_> {
    fn bit<'g>(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        self.surely(self.formula.root(), state, true)
    }

    fn outside<'g>(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        self.surely(self.formula.root(), state, false)
    }
}

/// A bit of a cell that is not known, by its place.
type OpenBit<'g> = (DataAddress, u8, SymbolicBit<'g>);

impl StateFormula<'_> {
    /// A bit that is 1 only if a part of the formula has a value in a state.
    ///
    /// SOUND: a conjunction is true where both parts surely are, and false where one of them surely is.
    fn surely<'g>(&self, node: NodeId, state: &SymbolicState<'g>, value: bool) -> SymbolicBit<'g> {
        let mut view = View { state, given: BTreeMap::new() };
        if let Some(known) = self.truth(node, &view).known() {
            return SymbolicBit::constant(known == value);
        }
        let open = self.open(node, state);
        match self.formula.node(node) {
            Node::And(p, q) | Node::Or(p, q) if open.len() > MOST_BITS => {
                let (p, q) = (self.surely(p, state, value), self.surely(q, state, value));
                let needs_both = matches!(self.formula.node(node), Node::And(..)) == value;
                if needs_both { p.and(&q) } else { p.or(&q) }
            }
            _ => self.decided((node, value), &mut view, &open, &mut MOST_CASES.clone()),
        }
    }

    /// The bits that a part of the formula reads and that are not known. The highest byte of a number comes first: it decides most
    /// comparisons.
    fn open<'g>(&self, node: NodeId, state: &SymbolicState<'g>) -> Vec<OpenBit<'g>> {
        let mut cells: BTreeMap<DataAddress, u8> = BTreeMap::new();
        self.add_cells(node, &mut cells);
        let open = cells.into_iter().rev().flat_map(|(cell, mask)| {
            let byte = state.data.get(cell);
            let unknown = byte.bits().unknown_mask() & mask;
            let bits = (0..8).rev().filter(move |bit| unknown >> bit & 1 == 1);
            bits.map(move |bit| (cell, bit, byte.bit(bit)))
        });
        open.collect()
    }

    fn add_cells(&self, node: NodeId, cells: &mut BTreeMap<DataAddress, u8>) {
        match self.formula.node(node) {
            Node::Atom(atom) | Node::NegatedAtom(atom) => {
                self.cells[&atom].iter().for_each(|(cell, mask)| *cells.entry(*cell).or_default() |= mask);
            }
            other => other.children().iter().for_each(|child| self.add_cells(*child, cells)),
        }
    }

    /// The same as [`Self::surely`] where some bits are given: by cases of the others, one after the other, until the value is known.
    ///
    /// SOUND: a case without a value counts as the other one.
    fn decided<'g>(
        &self,
        (node, value): (NodeId, bool),
        view: &mut View<'_, 'g>,
        open: &[OpenBit<'g>],
        left: &mut usize,
    ) -> SymbolicBit<'g> {
        if *left == 0 {
            return SymbolicBit::ZERO;
        }
        *left -= 1;
        if let Some(known) = self.truth(node, view).known() {
            return SymbolicBit::constant(known == value);
        }
        let Some(((cell, bit, unknown), others)) = open.split_first() else { return SymbolicBit::ZERO };
        let before = view.cell(*cell);
        let mut case = |is_set: bool| {
            view.given.insert(*cell, before.with_bit(*bit, &Truth::from(is_set)));
            self.decided((node, value), view, others, left)
        };
        let (zero, one) = (case(false), case(true));
        view.given.insert(*cell, before);
        unknown.not().and(&zero).or(&unknown.and(&one))
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

    fn stack(&self) -> u8 {
        self.state.control.stack
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
