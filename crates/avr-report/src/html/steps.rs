//! The steps of a run as data for the page.

use std::collections::{BTreeSet, VecDeque};

use avr_isa::DataAddress;
use avr_machine::Machine;
use avr_verify::{Change, Evidence, Line};
use serde::Serialize;

use crate::escape::Escaped;
use crate::evidence::{Lines, action, chosen};
use crate::names::Names;

/// Of longer runs so many of the last steps are in the page.
const MAX_STEPS: usize = 3_000;

/// A run.
#[derive(Serialize)]
pub(super) struct Run {
    /// The content of data memory before the first of these steps, two hexadecimal digits a byte.
    cells: String,
    /// The number of the first of these steps.
    first: u64,
    /// The text before the first of them.
    start: String,
    steps: Vec<Step>,
    /// Rows of 16 bytes that these steps change.
    rows: BTreeSet<u16>,
    /// The text after the last of them.
    end: String,
    end_pc: u32,
}

#[derive(Serialize)]
struct Step {
    step: u64,
    pc: u32,
    action: String,
    line: Option<String>,
    changes: Vec<(u16, u8)>,
    /// The values read from registers, as the hardware has them.
    reads: Vec<(u16, u8)>,
    inputs: Vec<String>,
}

impl Run {
    /// The last steps of a run.
    pub(super) fn new(evidence: &Evidence, names: &Names<'_>, machine: &Machine) -> Self {
        let mut lines = Lines::new(machine, evidence);
        let data = machine.data_end().index() + 1;
        let mut steps = VecDeque::new();
        let mut first_cells = lines.cells()[..data].to_vec();
        while let Some((line, reads)) = lines.next() {
            if steps.len() == MAX_STEPS {
                let left_out: Option<Step> = steps.pop_front();
                for (address, value) in left_out.iter().flat_map(|step| &step.changes) {
                    first_cells[usize::from(*address)] = *value;
                }
            }
            steps.push_back(Step::new(names, line, reads, data));
        }
        let rows = steps.iter().flat_map(|step| &step.changes).map(|(address, _)| address / 16).collect();
        let first = evidence.steps.saturating_sub(steps.len() as u64);
        Self {
            cells: first_cells.iter().map(|byte| format!("{byte:02x}")).collect(),
            first,
            start: if first == 0 { "power-on".to_owned() } else { format!("{first} steps are left out") },
            steps: steps.into(),
            rows,
            end: visible(&end(evidence)),
            end_pc: evidence.end.pc,
        }
    }
}

fn end(evidence: &Evidence) -> String {
    match evidence.end.hazard {
        Some(hazard) => format!("the hazard {hazard}"),
        None => evidence.claim.clone(),
    }
}

impl Step {
    /// A step, with the changes of so many bytes of data memory.
    fn new(names: &Names<'_>, line: Line, reads: Vec<(DataAddress, u8)>, data: usize) -> Self {
        let inputs = line.chosen.as_ref().map_or(Vec::new(), |one| chosen(names, one));
        let in_data = |change: &&Change| change.address.index() < data;
        Self {
            step: line.step,
            pc: line.pc,
            action: visible(&action(names, &line)),
            line: names.source_line(line.pc).map(|line| visible(&line)),
            changes: line.changes.iter().filter(in_data).map(|change| (change.address.0, change.after)).collect(),
            reads: reads.into_iter().map(|(cell, value)| (cell.0, value)).collect(),
            inputs: inputs.iter().map(|input| visible(input)).collect(),
        }
    }
}

fn visible(text: &str) -> String {
    Escaped(text).to_string()
}
