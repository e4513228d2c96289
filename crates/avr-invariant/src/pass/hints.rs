//! Partitions on demand: the cells by whose known contents the states of an instruction are told apart.

use avr_isa::{DataAddress, FlashWordAddress};
use three_valued::TvByte;

use std::collections::{BTreeMap, BTreeSet};

/// The most cells of one instruction.
const MOST_CELLS: usize = 16;

/// The cells by whose contents the states of each instruction are told apart, where they are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hints(BTreeMap<FlashWordAddress, BTreeSet<DataAddress>>);

impl Hints {
    /// Adds cells of an instruction. If there are too many, those with the lowest addresses stay.
    pub(crate) fn add(&mut self, pc: FlashWordAddress, cells: impl Iterator<Item = DataAddress>) {
        let all = self.0.entry(pc).or_default();
        all.extend(cells);
        while all.len() > MOST_CELLS {
            all.pop_last();
        }
        if all.is_empty() {
            self.0.remove(&pc);
        }
    }

    /// These hints and others.
    pub(crate) fn with(&self, others: &Self) -> Self {
        let mut all = self.clone();
        others.0.iter().for_each(|(pc, cells)| all.add(*pc, cells.iter().copied()));
        all
    }

    /// These hints without some cells.
    pub(crate) fn without(&self, cells: &BTreeSet<(FlashWordAddress, DataAddress)>) -> Self {
        let kept = |pc: FlashWordAddress, all: &BTreeSet<DataAddress>| {
            let all: BTreeSet<DataAddress> = all.iter().copied().filter(|cell| !cells.contains(&(pc, *cell))).collect();
            (!all.is_empty()).then_some((pc, all))
        };
        Self(self.0.iter().filter_map(|(pc, all)| kept(*pc, all)).collect())
    }

    /// The cells of an instruction.
    pub(crate) fn cells(&self, pc: FlashWordAddress) -> impl Iterator<Item = DataAddress> + '_ {
        self.0.get(&pc).into_iter().flatten().copied()
    }

    /// The known contents of the cells of an instruction.
    pub(crate) fn told(&self, pc: FlashWordAddress, cell: impl Fn(DataAddress) -> TvByte) -> Vec<(DataAddress, u8)> {
        self.cells(pc).filter_map(|address| Some((address, cell(address).known()?))).collect()
    }
}
