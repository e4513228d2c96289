//! The table of handler summaries.

use super::interface::Reduction;
use super::summary_access::SummaryAccess;
use crate::pass::Pass;
use crate::state::deferral::Deferral;
use avr_machine::{Control, Machine};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use three_valued::{Truth, TvByte};

/// What must be the same for a handler to do the same, beside what it touches in SRAM.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Entry {
    pub(crate) number: u8,
    pub(crate) control: Control,
    /// The stack pointer before the handler was entered.
    pub(crate) pointer: u16,
    pub(crate) postponed: Deferral,
    pub(crate) labels: Vec<Truth>,
    /// All cells outside of SRAM without registers, SREG and SP: numbers of pages and, in those that were written just now, cells.
    pub(crate) others: Vec<u32>,
}

/// What a handler came to.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) control: Control,
    pub(crate) postponed: Deferral,
    /// What it left in the cells that it touched.
    pub(crate) cells: Vec<(u16, TvByte)>,
}

/// What a handler came to, that was followed to its end from one content of the cells that it touched.
#[derive(Debug)]
pub(crate) struct Summary {
    pub(crate) outcomes: Vec<Outcome>,
    /// The least value of the stack pointer.
    pub(crate) lowest: u16,
}

/// What handlers came to that touched the same cells, by what was in them.
#[derive(Debug)]
pub(crate) struct SummariesByAccess {
    pub(crate) cells: Vec<u16>,
    pub(crate) passed: FxHashMap<Vec<TvByte>, Rc<Summary>>,
}

/// The handlers that were passed in the present state space.
#[derive(Debug, Default)]
pub(crate) struct HandlerSummaries {
    pub(crate) known: FxHashMap<Entry, Vec<SummariesByAccess>>,
    /// The number of times that a handler could not be passed, by the number of its interrupt.
    pub(crate) failures: FxHashMap<u8, u32>,
    /// The least value of the stack pointer in handlers that were not passed because the stack is deeper there than ever before:
    /// they are to be followed step by step in the same state space.
    pub(crate) promised: Option<u16>,
    /// What the steps touch that are being taken.
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
