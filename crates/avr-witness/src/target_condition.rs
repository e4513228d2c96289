//! Runs that show a verdict by their last state alone: whatever the way to a state like it, it shows the same.

use std::ops::Range;

use avr_isa::{DataAddress, FlashByteAddress};
use avr_properties::{Atom, AtomKind, CellsRead, StateView};
use mu_calculus::{NodeId, NormalForm};
use three_valued::{Truth, TvByte};

use crate::concretise::{Ending, Walked};
use mu_calculus::state_formula::{parts, truth};

/// One of the conditions on a state under which any run to it shows the verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The flash byte address of the next instruction is in this range, or outside.
    Pc {
        /// The range.
        range: Range<u32>,
        /// True if it is inside.
        inside: bool,
    },
    /// No half of the stack pointer waits for the other one.
    StackPointerWhole,
    /// The main program was entered since the last reset.
    MainEntered,
    /// The content of one or two cells is allowed.
    Cells {
        /// Data addresses, the low byte first.
        addresses: Vec<DataAddress>,
        /// True if a content is allowed, by content.
        allowed: Vec<bool>,
    },
}

/// The conditions under which a state shows the verdict that a run to its last state shows. None where the way matters,
/// or more than cells, the program counter, a whole stack pointer and the entry of the main program.
pub(crate) fn reached(formula: &NormalForm, atoms: &[Atom], value: bool, walked: &Walked) -> Option<Vec<Condition>> {
    let is_shown_there = walked.ending == Ending::Shown && walked.universal.is_empty() && walked.branches.is_empty();
    let claims = &walked.claims.last().filter(|_| is_shown_there)?.1;
    let parts = parts(formula, value)?;
    let claimed = |atom| {
        let claim = claims.iter().find(|(claimed, _)| *claimed == atom);
        claim.map_or(Truth::Unknown, |(_, value)| Truth::from(*value))
    };
    let decided = |part: &NodeId| truth(formula, *part, &claimed) == Truth::from(value);
    if !parts.iter().any(decided) {
        return None;
    }
    claims.iter().map(|(atom, value)| condition(&atoms[atom.index()], *value)).collect()
}

/// The condition on a state that an atom with a value demands.
fn condition(atom: &Atom, value: bool) -> Option<Condition> {
    match atom.kind() {
        AtomKind::PcEquals(pc) => Some(Condition::Pc { range: *pc..pc + 1, inside: value }),
        AtomKind::PcIn(range) => Some(Condition::Pc { range: range.clone(), inside: value }),
        AtomKind::StackPointerTorn => (!value).then_some(Condition::StackPointerWhole),
        AtomKind::InStartup => (!value).then_some(Condition::MainEntered),
        AtomKind::CellEquals { .. } | AtomKind::Compare(_) if !atom.reads_pc() => {
            let CellsRead::These(cells) = atom.cells() else { return None };
            let addresses: Vec<DataAddress> = cells.iter().map(|(address, _)| *address).collect();
            if !(1..=2).contains(&addresses.len()) {
                return None;
            }
            let contents = 0..1u32 << (8 * addresses.len());
            let allows =
                |content: u32| atom.evaluate(&Content { addresses: &addresses, content }) == Truth::from(value);
            let allowed = contents.map(allows).collect();
            Some(Condition::Cells { addresses, allowed })
        }
        _ => None,
    }
}

/// A state of which only some cells are known.
struct Content<'a> {
    addresses: &'a [DataAddress],
    content: u32,
}

impl StateView for Content<'_> {
    fn cell(&self, address: DataAddress) -> TvByte {
        let place = self.addresses.iter().position(|known| *known == address);
        place.map_or(TvByte::UNKNOWN, |place| TvByte::constant((self.content >> (8 * place)) as u8))
    }

    /// The atoms that are asked do not look at it.
    fn pc(&self) -> FlashByteAddress {
        FlashByteAddress(0)
    }

    fn stack_pointer_torn(&self) -> bool {
        false
    }

    fn stack(&self) -> u8 {
        0
    }

    fn interrupt_depth(&self) -> usize {
        0
    }
}
