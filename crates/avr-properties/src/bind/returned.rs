//! Conditions about the contents of cells after a return as products of sets of bytes.

use std::collections::BTreeSet;

use avr_isa::{DataAddress, FlashByteAddress};
use avr_machine::{ByteSet, Returned};
use mu_calculus::Formula;
use three_valued::{Truth, TvByte};

use crate::atom::{Atom, AtomKind};
use crate::contract_error::ContractError;
use crate::reads::CellsRead;
use crate::view::StateView;

/// The most contents of cells that one condition is looked at with: all of two bytes, and some.
const MOST_CONTENTS: usize = 1 << 17;

/// The most products of sets of one condition. Each is a case of its own at each return.
const MOST_PRODUCTS: usize = 64;

/// Some cells with the parts of a condition that speak of them.
pub(super) type OfCells<'a> = (BTreeSet<DataAddress>, Vec<&'a Formula<usize>>);

/// The parts of a condition by the cells that they speak of, each cell in one of them.
///
/// # Errors
/// If a part speaks of something else than the content of cells.
pub(super) fn joined<'a>(condition: &'a Formula<usize>, atoms: &[Atom]) -> Result<Vec<OfCells<'a>>, ContractError> {
    let mut all: Vec<OfCells<'_>> = Vec::new();
    for part in conjuncts(condition) {
        let mut one = (cells_of(part, atoms)?, vec![part]);
        // Parts about the same cell are one.
        let (same, others) = all.into_iter().partition(|(cells, _)| !cells.is_disjoint(&one.0));
        all = others;
        for (cells, parts) in same {
            one.0.extend(cells);
            one.1.extend(parts);
        }
        all.push(one);
    }
    all.sort_by(|left, right| left.0.cmp(&right.0));
    Ok(all)
}

/// The contents of cells of which all parts of a condition are true; none if they are too many to list.
pub(super) fn contents(cells: &BTreeSet<DataAddress>, parts: &[&Formula<usize>], atoms: &[Atom]) -> Option<Returned> {
    let cells: Vec<DataAddress> = cells.iter().rev().copied().collect();
    let mut search = Search { cells: &cells, parts, atoms, left: MOST_CONTENTS };
    let found = search.below(&mut Vec::new())?;
    let mut products = Vec::new();
    found.add_products(cells.len(), &mut Vec::new(), &mut products);
    (products.len() <= MOST_PRODUCTS).then_some(Returned { cells, products })
}

/// The contents of the cells that are left, behind some that are fixed.
#[derive(Clone, PartialEq, Eq)]
enum Contents {
    None,
    All,
    /// Disjoint sets of contents of the first cell, each with the contents of the others. There is at least one.
    Split(Vec<(ByteSet, Contents)>),
}

impl Contents {
    /// Adds the products of sets, each behind the sets of the cells before.
    fn add_products(&self, cells: usize, before: &mut Vec<ByteSet>, products: &mut Vec<Vec<ByteSet>>) {
        match self {
            Self::None => {}
            Self::All => {
                let rest = std::iter::repeat_n(ByteSet::of(|_| true), cells - before.len());
                products.push(before.iter().copied().chain(rest).collect());
            }
            Self::Split(parts) => {
                for (set, rest) in parts {
                    before.push(*set);
                    rest.add_products(cells, before, products);
                    before.pop();
                }
            }
        }
    }
}

/// The search for the contents of which a condition is true.
struct Search<'a> {
    cells: &'a [DataAddress],
    parts: &'a [&'a Formula<usize>],
    atoms: &'a [Atom],
    /// The number of contents that may still be looked at.
    left: usize,
}

impl Search<'_> {
    /// The contents of the cells behind the first ones, which have these bytes; none if too many are to be looked at.
    fn below(&mut self, fixed: &mut Vec<u8>) -> Option<Contents> {
        self.left = self.left.checked_sub(1)?;
        match self.truth(fixed) {
            Truth::False => return Some(Contents::None),
            Truth::True => return Some(Contents::All),
            // SOUND: a content of which the condition says nothing may be returned.
            Truth::Unknown if fixed.len() == self.cells.len() => return Some(Contents::All),
            Truth::Unknown => {}
        }
        let mut sets: Vec<(ByteSet, Contents)> = Vec::new();
        for byte in 0..=u8::MAX {
            fixed.push(byte);
            let rest = self.below(fixed);
            fixed.pop();
            let rest = rest?;
            match sets.iter_mut().find(|(_, other)| *other == rest) {
                Some((set, _)) => set.insert(byte),
                None => sets.push((ByteSet::of(|it| it == byte), rest)),
            }
        }
        sets.retain(|(_, rest)| *rest != Contents::None);
        Some(match sets.as_slice() {
            [] => Contents::None,
            [(set, Contents::All)] if ByteSet::of(|_| true) == *set => Contents::All,
            _ => Contents::Split(sets),
        })
    }

    fn truth(&self, fixed: &[u8]) -> Truth {
        let state = SomeCells { cells: self.cells, bytes: fixed };
        let truth = |number: usize| self.atoms[number].evaluate(&state);
        self.parts.iter().fold(Truth::True, |all, part| all & truth_of(part, &truth))
    }
}

/// The cells that a part of a condition speaks of, at least one.
fn cells_of(part: &Formula<usize>, atoms: &[Atom]) -> Result<BTreeSet<DataAddress>, ContractError> {
    let mut cells = BTreeSet::new();
    for number in part.atoms() {
        let atom = &atoms[*number];
        let is_content = matches!(atom.kind(), AtomKind::CellEquals { .. } | AtomKind::Compare(_));
        match atom.cells() {
            CellsRead::These(read) if is_content && !atom.reads_pc() => {
                cells.extend(read.into_iter().map(|(cell, _)| cell));
            }
            _ => return Err(ContractError::NotContent),
        }
    }
    if cells.is_empty() { Err(ContractError::NoByte) } else { Ok(cells) }
}

/// The parts that a condition joins by `&&`.
fn conjuncts(condition: &Formula<usize>) -> Vec<&Formula<usize>> {
    match condition {
        Formula::And(parts) => parts.iter().flat_map(conjuncts).collect(),
        part => vec![part],
    }
}

/// The truth of a condition, which has Boolean operators only.
fn truth_of(condition: &Formula<usize>, truth: &dyn Fn(usize) -> Truth) -> Truth {
    let of = |part: &Formula<usize>| truth_of(part, truth);
    match condition {
        Formula::Constant(constant) => Truth::from(*constant),
        Formula::Atom(number) => truth(*number),
        Formula::Not(part) => !of(part),
        Formula::And(parts) => parts.iter().fold(Truth::True, |all, part| all & of(part)),
        Formula::Or(parts) => parts.iter().fold(Truth::False, |any, part| any | of(part)),
        Formula::Implies(left, right) => !of(left) | of(right),
        Formula::Iff(left, right) => {
            let (left, right) = (of(left), of(right));
            (left & right) | (!left & !right)
        }
        other => unreachable!("a condition has no temporal operators: {other:?}"),
    }
}

/// A state of which the contents of the first of some cells are known.
struct SomeCells<'a> {
    cells: &'a [DataAddress],
    bytes: &'a [u8],
}

impl StateView for SomeCells<'_> {
    fn cell(&self, address: DataAddress) -> TvByte {
        let known = self.cells.iter().zip(self.bytes).find(|(cell, _)| **cell == address);
        known.map_or(TvByte::UNKNOWN, |(_, byte)| TvByte::constant(*byte))
    }

    fn pc(&self) -> FlashByteAddress {
        FlashByteAddress(0)
    }

    fn stack_pointer_torn(&self) -> bool {
        false
    }

    fn interrupt_depth(&self) -> usize {
        0
    }

    fn stack(&self) -> u8 {
        0
    }
}
