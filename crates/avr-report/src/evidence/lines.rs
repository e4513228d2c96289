//! A run step by step, with the cells that each step changes.

use std::iter::Peekable;
use std::slice::Iter;

use avr_isa::DataAddress;
use avr_machine::{Frame, Machine, MachineState, PAGE_CELLS};
use avr_verify::{Change, Chosen, Continuation, Evidence, Line};

use super::player::{Moment, Player};

/// A run under way.
pub(crate) struct Lines<'a> {
    player: Player<'a>,
    cells: Vec<u8>,
    cycles: u64,
    chosen: Peekable<Iter<'a, Chosen>>,
}

impl<'a> Lines<'a> {
    /// The run of some evidence, before its first step.
    pub(crate) fn new(machine: &'a Machine, evidence: &'a Evidence) -> Self {
        Self::of(Player::new(machine, evidence), evidence)
    }

    /// The run of a continuation, from the state at the end of the run before it.
    pub(crate) fn behind(machine: &'a Machine, continuation: &'a Continuation, end: &MachineState<u8>) -> Self {
        let mut start = end.clone();
        for (cell, value) in &continuation.cells {
            start.data.set(*cell, *value);
        }
        Self::of(Player::from_state(machine, &continuation.run, start), &continuation.run)
    }

    fn of(player: Player<'a>, evidence: &'a Evidence) -> Self {
        let cells = player.state().data.cells().to_vec();
        Self { player, cells, cycles: 0, chosen: evidence.chosen.iter().peekable() }
    }

    /// The content of all cells after the last step that was taken.
    pub(crate) fn cells(&self) -> &[u8] {
        &self.cells
    }

    /// The state after the last step that was taken.
    pub(crate) fn state(&self) -> &MachineState<u8> {
        self.player.state()
    }

    /// The clock cycles of the steps that were taken.
    pub(crate) fn cycles(&self) -> u64 {
        self.cycles
    }

    /// The return addresses on the stack after the last step that was taken, oldest first.
    pub(crate) fn frames(&self) -> &[Frame] {
        self.player.state().calls.frames()
    }

    /// Takes the next step: it, and what the program read in the I/O area by data address; none at the end.
    pub(crate) fn next(&mut self) -> Option<(Line, Vec<(DataAddress, u8)>)> {
        let moment = self.player.next()?;
        let changes = changes(&mut self.cells, &moment);
        self.cycles = moment.cycles;
        let chosen = self.chosen.next_if(|chosen| chosen.step == moment.step).cloned();
        let Moment { step, pc, happened, asleep, reads, .. } = moment;
        Some((Line { step, pc, happened, asleep, changes, chosen }, reads.to_vec()))
    }
}

/// The changes of the cells in a step. The cells are updated.
fn changes(cells: &mut [u8], moment: &Moment<'_>) -> Vec<Change> {
    let mut changes = Vec::new();
    for page in moment.state.data.changed_pages() {
        for (offset, after) in moment.state.data.page(page).iter().enumerate() {
            let address = page * PAGE_CELLS + offset;
            let before = std::mem::replace(&mut cells[address], *after);
            if before != *after {
                changes.push(Change { address: DataAddress::of_index(address), before, after: *after });
            }
        }
    }
    changes
}
