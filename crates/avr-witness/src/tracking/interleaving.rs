//! Windows in which a handler may come between two accesses to the bytes of a variable.

use super::{Executed, Observation};
use avr_isa::{DataAddress, FlashWordAddress};
use avr_machine::MachineState;
use std::ops::Range;

/// A variable of several bytes that is read or written in several instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The data addresses of its bytes.
    pub cells: Range<DataAddress>,
    /// The instructions that access them, in order along straight-line code.
    pub accesses: Vec<FlashWordAddress>,
    /// True if they write the variable.
    pub is_write: bool,
    /// The interrupts whose handlers write the variable, and that may come in between.
    pub vectors: Vec<u8>,
}

/// A window that a run is in.
#[derive(Clone, Copy, Debug)]
struct Open {
    window: usize,
    /// The number of return addresses on the stack outside of handlers that come in between.
    depth: usize,
    /// The number of accesses that were executed.
    done: usize,
    /// The interrupt that came in between.
    vector: Option<u8>,
    /// True if its handler wrote the variable.
    is_written: bool,
}

/// The window that a run is in.
#[derive(Clone, Debug, Default)]
pub(super) struct Interleaving {
    open: Option<Open>,
}

impl Interleaving {
    /// The window in which an interrupt would come in between now.
    pub(super) fn open_window(&self, windows: &[Window], state: &MachineState<u8>) -> Option<usize> {
        let open = self.open.filter(|open| open.vector.is_none() && open.depth == state.calls.frames().len())?;
        // An access comes last: nothing else lies between that and the others.
        windows[open.window].accesses.get(open.done).map(|_| open.window)
    }

    /// Follows the entry into a handler with so many return addresses on the stack before it.
    pub(super) fn enter(&mut self, vector: u8, depth: usize) {
        if let Some(open) = self.open.as_mut().filter(|open| open.depth == depth) {
            open.vector = Some(vector);
        }
    }

    /// Follows an instruction.
    pub(super) fn execute(&mut self, windows: &[Window], executed: &Executed<'_>) -> Option<Observation> {
        let depth = executed.before.calls.frames().len();
        if self.open.is_some_and(|open| depth < open.depth) {
            self.open = None;
        }
        if let Some(open) = &mut self.open {
            let window = &windows[open.window];
            let is_write =
                executed.access.is_some_and(|access| access.is_store && window.cells.contains(&access.address));
            if depth > open.depth {
                open.is_written |= is_write && open.vector.is_some();
                return None;
            }
            if window.accesses[open.done] == executed.pc {
                open.done += 1;
                let found = open.vector.filter(|_| open.is_written);
                let number = open.window;
                if open.done == window.accesses.len() || found.is_some() {
                    self.open = None;
                }
                return found.map(|vector| Observation::Torn { pc: executed.pc, window: number, vector });
            }
        }
        if let Some(window) = windows.iter().position(|window| window.accesses.first() == Some(&executed.pc)) {
            self.open = Some(Open { window, depth, done: 1, vector: None, is_written: false });
        }
        None
    }
}
