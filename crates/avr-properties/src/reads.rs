//! Cells that atoms read, and the unknown bits that keep atoms unknown.

use std::collections::BTreeMap;

use avr_isa::DataAddress;
use mu_calculus::BinaryOperator;

use crate::atom::{Atom, AtomKind, Compare};
use crate::expression::{Expression, Scope, cells_at};
use crate::view::StateView;

/// The data memory that an atom may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellsRead {
    /// These cells, by rising data address, each with the mask of the bits that matter.
    These(Vec<(DataAddress, u8)>),
    /// Any cell: the address depends on the state.
    All,
}

/// Masks by data address.
type Masks = BTreeMap<DataAddress, u8>;

impl Atom {
    /// The cells that the atom may read in some state.
    #[must_use]
    pub fn cells(&self) -> CellsRead {
        let mut masks = Masks::new();
        match self.collect(Scope::any_state(), &mut masks) {
            Some(()) => CellsRead::These(masks.into_iter().collect()),
            None => CellsRead::All,
        }
    }

    /// The cells, low byte first, whose content the atom compares with a number, and that number.
    #[must_use]
    pub fn compared_with_constant(&self) -> Option<(Vec<DataAddress>, i128)> {
        match self.kind() {
            AtomKind::CellEquals { address, equals, .. } => Some((vec![*address], (*equals).into())),
            AtomKind::Compare(Compare { left, right, .. }) => match (left, right) {
                (Expression::Cells(cells), Expression::Constant(number))
                | (Expression::Constant(number), Expression::Cells(cells)) => Some((cells.to_vec(), *number)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The unknown bits of the state that may keep the atom unknown, as data addresses with masks; none if it is
    /// decided. An unknown address counts as well as the cells that it may select, if those can be listed.
    #[must_use]
    pub fn unknown_cells(&self, view: &dyn StateView) -> Vec<(DataAddress, u8)> {
        if !self.evaluate(view).is_unknown() {
            return Vec::new();
        }
        let mut masks = Masks::new();
        // If the candidates are too many to list, the bits of the address are what to look at, and they are in.
        let _listed = self.collect(Scope::of(view), &mut masks);
        let unknown = masks.into_iter().map(|(address, mask)| (address, mask & view.cell(address).unknown_mask()));
        unknown.filter(|(_, mask)| *mask != 0).collect()
    }

    /// True if the atom depends on the program counter.
    #[must_use]
    pub fn reads_pc(&self) -> bool {
        match self.kind() {
            AtomKind::PcEquals(_) | AtomKind::PcIn(_) | AtomKind::PcAmong(_) => true,
            AtomKind::Compare(compare) | AtomKind::Event(_, Some(compare)) => {
                let mut found = false;
                compare.for_each(&mut |part| found |= *part == Expression::Pc);
                found
            }
            _ => false,
        }
    }

    /// True if the atom depends on the stack pointer or on whether it is torn.
    #[must_use]
    pub fn reads_sp(&self) -> bool {
        let is_stack_pointer = |(address, _): &(DataAddress, u8)| self.stack_pointer.contains(&Some(*address));
        match (self.kind(), self.cells()) {
            (AtomKind::StackPointerTorn, _) | (_, CellsRead::All) => true,
            (_, CellsRead::These(cells)) => cells.iter().any(is_stack_pointer),
        }
    }

    /// Adds the cells that matter in the states of the scope; `None` where they cannot be listed.
    fn collect(&self, scope: Scope<'_>, masks: &mut Masks) -> Option<()> {
        match self.kind() {
            AtomKind::CellEquals { address, mask, .. } => add(masks, *address, *mask),
            AtomKind::Compare(compare) | AtomKind::Event(_, Some(compare)) => {
                let sides = [&compare.left, &compare.right];
                let listed = sides.map(|side| side.collect(scope, u128::MAX, masks));
                return listed.into_iter().collect();
            }
            _ => {}
        }
        Some(())
    }
}

impl Compare {
    /// True if it reads cells from a data address on, at least one, and nothing else of the state. Memory whose address
    /// the state says counts, wherever it may lie.
    pub(crate) fn reads_only_from(&self, first: DataAddress) -> bool {
        let (mut reads, mut others) = (false, false);
        self.for_each(&mut |part| match part {
            Expression::Cells(addresses) => {
                reads = true;
                others |= addresses.iter().any(|address| *address < first);
            }
            Expression::Bit { address, .. } => {
                reads = true;
                others |= *address < first;
            }
            Expression::Memory { address, bytes, map } => {
                reads = true;
                let fixed = address.evaluate(Scope::any_state());
                let listed = fixed.known().and_then(|_| cells_at(fixed, *bytes, map));
                others |= listed.is_some_and(|cells| cells.iter().any(|cell| *cell < first));
            }
            Expression::Pc | Expression::EventValue => others = true,
            Expression::Constant(_)
            | Expression::Element { .. }
            | Expression::Signed(..)
            | Expression::Negate(_)
            | Expression::Complement(_)
            | Expression::Binary(..) => {}
        });
        reads && !others
    }

    pub(crate) fn for_each(&self, visit: &mut dyn FnMut(&Expression)) {
        self.left.for_each(visit);
        self.right.for_each(visit);
    }
}

fn add(masks: &mut Masks, address: DataAddress, mask: u8) {
    if mask != 0 {
        *masks.entry(address).or_default() |= mask;
    }
}

impl Expression {
    /// Adds the cells of which the `demanded` bits of the expression depend; `None` where they cannot be listed.
    fn collect(&self, scope: Scope<'_>, demanded: u128, masks: &mut Masks) -> Option<()> {
        match self {
            Self::Constant(_) | Self::Pc | Self::EventValue => {}
            Self::Cells(addresses) => {
                for (address, shift) in addresses.iter().zip((0..).step_by(8)) {
                    add(masks, *address, (demanded >> shift) as u8);
                }
            }
            Self::Bit { address, bit } => add(masks, *address, u8::from(demanded & 1 != 0) << bit),
            Self::Memory { address, bytes, map } => {
                address.collect(scope, u128::MAX, masks)?;
                for cell in cells_at(address.evaluate(scope), *bytes, map)? {
                    add(masks, cell, !map.hidden(cell));
                }
            }
            Self::Element { index, value, .. } => {
                index.collect(scope, u128::MAX, masks)?;
                value.collect(scope, u128::MAX, masks)?;
            }
            Self::Signed(operand, _) | Self::Negate(operand) => operand.collect(scope, u128::MAX, masks)?,
            Self::Complement(operand) => operand.collect(scope, demanded, masks)?,
            Self::Binary(operator, left, right) => {
                let (for_left, for_right) = demanded_of(*operator, left, right, demanded, scope);
                let listed = [left.collect(scope, for_left, masks), right.collect(scope, for_right, masks)];
                return listed.into_iter().collect();
            }
        }
        Some(())
    }
}

/// The bits of both operands of which the `demanded` bits of the result depend.
fn demanded_of(
    operator: BinaryOperator,
    left: &Expression,
    right: &Expression,
    demanded: u128,
    scope: Scope<'_>,
) -> (u128, u128) {
    match operator {
        // SOUND: where one operand is certainly 0, the bit of the other does not matter.
        BinaryOperator::And => {
            let possible = |operand: &Expression| operand.evaluate(scope).possible_ones();
            (demanded & possible(right), demanded & possible(left))
        }
        BinaryOperator::Or | BinaryOperator::Xor => (demanded, demanded),
        _ => (u128::MAX, u128::MAX),
    }
}
