//! The explosion of a state space: the instruction that has the most states, and the cells in which these differ.

use super::root_cause::address;
use avr_isa::DataAddress;
use avr_model::context::Context;
use avr_model::state::AbstractState;
use avr_model::state::interner::MemoryId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use three_valued::TvByte;
use tvar::StateSpace;

/// The fewest states of one instruction that are an explosion.
const FEWEST: usize = 32;
/// The most states that are compared.
const MOST_COMPARED: usize = 2_000;
/// The most cells that are named.
const MAX_CELLS: usize = 4;

/// The states of the instruction that has the most.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Explosion {
    /// Flash byte address of the instruction.
    pub pc: u32,
    /// The number of its states.
    pub states: usize,
    /// The cells in which they differ, those with the most contents first.
    pub cells: Vec<VaryingCell>,
    /// The number of other cells in which they differ.
    pub more_cells: usize,
}

/// A cell in which states differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VaryingCell {
    /// The data address.
    pub cell: DataAddress,
    /// The number of its abstract contents among the states that were compared.
    pub contents: usize,
}

/// The explosion of a state space; none where no instruction has many states.
pub(crate) fn explosion(context: &Context<'_>, space: &StateSpace<AbstractState>) -> Option<Explosion> {
    let mut counts: FxHashMap<u32, usize> = FxHashMap::default();
    for state in running(space) {
        *counts.entry(state.0.control.pc.byte().0).or_default() += 1;
    }
    let (pc, states) = counts.into_iter().max_by_key(|(pc, states)| (*states, Reverse(*pc)))?;
    if states < FEWEST {
        return None;
    }
    let here = running(space).filter(|(_, state)| address(context, state) == Some(pc));
    let memories: FxHashSet<MemoryId> = here.map(|(running, _)| running.memory).take(MOST_COMPARED).collect();
    let mut memories: Vec<MemoryId> = memories.into_iter().collect();
    memories.sort_by_key(|memory| memory.0);
    let mut cells = varying(context, &memories);
    let more_cells = cells.len().saturating_sub(MAX_CELLS);
    cells.truncate(MAX_CELLS);
    Some(Explosion { pc, states, cells, more_cells })
}

/// The running states of a space.
fn running(
    space: &StateSpace<AbstractState>,
) -> impl Iterator<Item = (&avr_model::state::Running, &AbstractState)> + '_ {
    space.states.iter().filter_map(|state| match state {
        AbstractState::Running(running) => Some((running, state)),
        AbstractState::Dummy | AbstractState::Hazard { .. } | AbstractState::Limit { .. } => None,
    })
}

/// The cells in which memories differ, those with the most contents first.
fn varying(context: &Context<'_>, memories: &[MemoryId]) -> Vec<VaryingCell> {
    let Some((first, others)) = memories.split_first() else { return Vec::new() };
    let mut contents: FxHashMap<DataAddress, FxHashSet<TvByte>> = FxHashMap::default();
    for other in others {
        let differing = context.store.differing_cells(*first, *other);
        // Predicates have no names.
        for (cell, one, other) in differing.filter(|(cell, ..)| cell.index() < context.machine.cells()) {
            contents.entry(cell).or_insert_with(|| FxHashSet::from_iter([one])).insert(other);
        }
    }
    let counted = contents.into_iter().map(|(cell, contents)| VaryingCell { cell, contents: contents.len() });
    let mut cells: Vec<VaryingCell> = counted.collect();
    cells.sort_by_key(|one| (Reverse(one.contents), one.cell));
    cells
}
