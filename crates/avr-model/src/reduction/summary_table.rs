//! The table of handler summaries.

use super::interface::Reduction;
use super::notes::Notes;
use super::precision_reads::Reads;
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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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

/// A summary with what it depends on, and with the notes that were taken while it was made.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) entry: Entry,
    pub(crate) cells: Vec<DataAddress>,
    /// The contents of these cells at the entry.
    pub(crate) values: Vec<TvByte>,
    pub(crate) summary: Summary,
    /// The number of changes of the precision until then.
    pub(crate) changes: usize,
    pub(crate) reads: Reads,
    pub(crate) notes: Notes,
}

/// The summaries of handlers that touched the same cells, by the contents of these.
#[derive(Clone, Debug)]
pub(crate) struct SummariesByAccess {
    pub(crate) cells: Vec<DataAddress>,
    pub(crate) passed: FxHashMap<Vec<TvByte>, Arc<Made>>,
}

/// The handlers that were summarised in the present state space.
#[derive(Clone, Debug, Default)]
pub(crate) struct HandlerSummaries {
    pub(crate) known: FxHashMap<Entry, Vec<SummariesByAccess>>,
    /// The number of times that a handler could not be summarised, by the number of its interrupt.
    pub(crate) failures: FxHashMap<u8, u32>,
    /// The least value of the stack pointer in handlers that were not summarised because the stack is deeper there than
    /// ever before. They are to be followed step by step in the same state space.
    pub(crate) promised: Option<DataAddress>,
    /// The read and write sets of the steps that are being taken.
    pub(crate) access: Option<SummaryAccess>,
    /// The summaries that the present expansion used.
    pub(crate) used: Vec<Arc<Made>>,
}

impl HandlerSummaries {
    /// The summary of the same handler with the same content, if there is one.
    fn same(&self, made: &Made) -> Option<&Arc<Made>> {
        let alike = self.known.get(&made.entry)?.iter().find(|touching| touching.cells == made.cells)?;
        alike.passed.get(&made.values)
    }

    /// True if a summary is in the table.
    pub(crate) fn has(&self, made: &Arc<Made>) -> bool {
        self.same(made).is_some_and(|known| Arc::ptr_eq(known, made))
    }

    /// Puts a summary into the table unless there is one.
    pub(crate) fn add(&mut self, made: &Arc<Made>) {
        let alike = self.known.entry(made.entry.clone()).or_default();
        let place = alike.iter().position(|touching| touching.cells == made.cells).unwrap_or_else(|| {
            alike.push(SummariesByAccess { cells: made.cells.clone(), passed: FxHashMap::default() });
            alike.len() - 1
        });
        alike[place].passed.entry(made.values.clone()).or_insert_with(|| Arc::clone(made));
    }

    /// True if a handler that goes down to this stack pointer may be taken in one step where the stack was so deep.
    pub(crate) fn may_pass(&self, lowest: DataAddress, deepest: DataAddress) -> bool {
        lowest >= deepest || self.promised.is_some_and(|promised| lowest >= promised)
    }
}

impl Reduction for HandlerSummaries {
    fn passes(&self) -> &'static [Pass] {
        &[Pass::HandlerSummaries]
    }

    fn begin(&mut self, _: &Machine) {
        *self = Self::default();
    }
}
