//! Values of variables of several bytes before and after a step, which the changed bytes alone do not tell.

use std::collections::BTreeMap;

use avr_isa::DataAddress;
use avr_machine::Machine;
use avr_verify::{Evidence, Item, Line};

use super::lines::Lines;
use crate::names::Names;
use crate::variables::{Variable, number_at};

/// A variable of several bytes that a step changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) variable: Variable,
    /// The value in memory before the step, and after it. Where a step stores one byte of two, it is that of both bytes then.
    pub(super) before: u64,
    pub(super) after: u64,
}

/// The numbers that the told steps of a run change, by step.
#[derive(Debug, Default)]
pub(super) struct Numbers(BTreeMap<u64, Vec<Number>>);

impl Numbers {
    /// The numbers of a run that begins at power-on, which is repeated as far as it is needed.
    pub(super) fn of(evidence: &Evidence, names: &Names<'_>, machine: &Machine) -> Self {
        let mut wanted: BTreeMap<u64, (&Line, Vec<Variable>)> = BTreeMap::new();
        for line in evidence.narrative.items.iter().flat_map(lines_of).chain(&evidence.narrative.last) {
            let variables = line.changes.iter().filter_map(|change| number_at(names, change.address));
            let mut variables: Vec<Variable> = variables.filter(|variable| variable.bytes > 1).collect();
            variables.dedup_by_key(|variable| variable.start);
            if !variables.is_empty() {
                wanted.insert(line.step, (line, variables));
            }
        }
        let mut numbers = Self::default();
        let Some(last) = wanted.keys().next_back().copied() else { return numbers };
        let mut run = Lines::new(machine, evidence);
        for step in 0..=last {
            let Some((told, variables)) = wanted.remove(&step) else {
                run.next();
                continue;
            };
            let before: Vec<u64> = variables.iter().map(|variable| value(run.cells(), variable)).collect();
            let Some((line, _)) = run.next() else { break };
            // A run that was not confirmed may take another way.
            if told.changes == line.changes {
                let all = variables.into_iter().zip(before);
                let number = |(variable, before)| Number { after: value(run.cells(), &variable), variable, before };
                numbers.0.insert(step, all.map(number).collect());
            }
        }
        numbers
    }

    /// The numbers that a step changes.
    pub(super) fn at(&self, step: u64) -> &[Number] {
        self.0.get(&step).map_or(&[], Vec::as_slice)
    }
}

/// The steps of an item that are told.
pub(super) fn lines_of(item: &Item) -> Vec<&Line> {
    match item {
        Item::Line(line) => vec![line],
        Item::Loop { body, .. } => body.iter().flat_map(lines_of).collect(),
        Item::Omitted(_) => Vec::new(),
    }
}

/// The value of a variable, whose lowest byte comes first.
fn value(cells: &[u8], variable: &Variable) -> u64 {
    let byte = |address: DataAddress| cells.get(address.index()).copied().unwrap_or_default();
    let bytes = (0..variable.bytes).rev().filter_map(|at| variable.start.checked_add(u16::try_from(at).ok()?));
    bytes.fold(0, |value, address| value << 8 | u64::from(byte(address)))
}
