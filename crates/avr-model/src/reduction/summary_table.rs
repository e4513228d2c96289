//! The table of handler summaries.

use super::interface::Reduction;
use super::summary_access::SummaryAccess;
use crate::pass::Pass;
use crate::state::deferral::Deferral;
use avr_isa::DataAddress;
use avr_machine::{Control, Machine};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use three_valued::{Truth, TvByte};

/// The key of a summary: the values that must be the same for a handler to do the same, beside the cells in SRAM that
/// it touches.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Entry {
    pub(crate) number: u8,
    pub(crate) control: Control,
    /// The stack pointer before the handler was entered.
    pub(crate) pointer: DataAddress,
    pub(crate) deferral: Deferral,
    pub(crate) labels: Vec<Truth>,
    /// All cells outside of SRAM without registers, SREG and SP: numbers of pages and, in those that were written just now, cells.
    pub(crate) others: Vec<u32>,
}

/// The outcome of a handler.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) control: Control,
    pub(crate) deferral: Deferral,
    /// The contents that it left in the cells that it touched.
    pub(crate) cells: Vec<(DataAddress, TvByte)>,
}

/// The summary of a handler that was followed to its end from one content of the cells that it touched.
#[derive(Debug)]
pub(crate) struct Summary {
    pub(crate) outcomes: Vec<Outcome>,
    /// The least value of the stack pointer.
    pub(crate) lowest: DataAddress,
}

/// The summaries of handlers that touched the same cells, by the contents of these.
#[derive(Debug)]
pub(crate) struct SummariesByAccess {
    pub(crate) cells: Vec<DataAddress>,
    pub(crate) passed: FxHashMap<Vec<TvByte>, Arc<Summary>>,
}

/// The handlers that were summarised in the present state space.
#[derive(Debug, Default)]
pub(crate) struct HandlerSummaries {
    pub(crate) known: FxHashMap<Entry, Vec<SummariesByAccess>>,
    /// The number of times that a handler could not be summarised, by the number of its interrupt.
    pub(crate) failures: FxHashMap<u8, u32>,
    /// The least value of the stack pointer in handlers that were not summarised because the stack is deeper there than
    /// ever before. They are to be followed step by step in the same state space.
    pub(crate) promised: Option<DataAddress>,
    /// The read and write sets of the steps that are being taken.
    pub(crate) access: Option<SummaryAccess>,
}

impl Reduction for HandlerSummaries {
    fn passes(&self) -> &'static [Pass] {
        &[Pass::HandlerSummaries]
    }

    fn begin(&mut self, _: &Machine) {
        *self = Self::default();
    }
}
