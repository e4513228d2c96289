//! The steps of a run as data for the page.

use std::collections::BTreeSet;

use avr_isa::DataAddress;
use avr_machine::{Frame, FrameKind, Happening, Machine};
use avr_verify::{AtomChanges, Evidence, EvidenceKind, Line};
use serde::Serialize;
use serde_json::{Value, json};

use super::fold::{Part, parts};
use super::visible;
use crate::evidence::{Lines, chosen, happening, left_at};
use crate::names::Names;
use crate::variables::{Variable, variables};

/// Of one run, and of all runs together, so many steps are in the page.
const MAX_STEPS: u64 = 3_000;
const MAX_STEPS_OF_ALL: u64 = 20_000;
/// So many cells of a state are named.
const MAX_CELLS: usize = 8;
/// So many steps a run has in any case.
const MIN_STEPS: u64 = 200;

/// A run.
#[derive(Serialize)]
pub(super) struct Run {
    /// The name among the runs of a result, and where the run begins if not at power-on.
    name: String,
    begins: Option<String>,
    /// The content of data memory before the first step, two hexadecimal digits a byte.
    cells: String,
    /// The steps, each as [`step`] writes it.
    steps: Vec<Value>,
    /// The number of steps of the run.
    all: u64,
    /// The claim that the run shows.
    claim: String,
    kind: &'static str,
    /// The hazard in the step after the last one, and the inputs of that step.
    hazard: Option<String>,
    hazard_inputs: Vec<String>,
    end_pc: u32,
    loop_start: Option<u64>,
    /// The atoms of the property: text, and the numbers of steps after which the value changes.
    atoms: Vec<(String, AtomChanges)>,
    /// The variables that the property speaks of.
    watch: Vec<Variable>,
    /// The others that change.
    others: Vec<Variable>,
    #[serde(skip)]
    places: BTreeSet<u32>,
}

/// The number of steps of each run, if there are so many.
pub(super) fn limit(runs: usize) -> u64 {
    (MAX_STEPS_OF_ALL / (runs.max(1) as u64)).clamp(MIN_STEPS, MAX_STEPS)
}

/// The number of runs of some evidence: itself, those that show claims about other continuations, and those behind claims.
pub(super) fn count(evidence: &Evidence) -> usize {
    let behind = evidence.continuation.as_ref().map_or(0, |continuation| count(&continuation.run));
    1 + evidence.branches.iter().map(count).sum::<usize>() + behind
}

impl Run {
    /// The runs of some evidence with at most so many steps each, [`count`] of them; it is the first.
    pub(super) fn all(evidence: &Evidence, names: &Names<'_>, machine: &Machine, limit: u64) -> Vec<Self> {
        let mut all = Vec::new();
        let main = ("the run".to_owned(), None);
        add(&mut all, (evidence, Lines::new(machine, evidence)), main, (names, machine, limit));
        all
    }

    /// A run with at most so many steps. The lines are at its end then.
    fn new(
        evidence: &Evidence,
        lines: &mut Lines<'_>,
        (name, begins): (String, Option<String>),
        (names, machine, limit): (&Names<'_>, &Machine, u64),
    ) -> Self {
        let data = machine.data_end().index() + 1;
        let cells = hex(&lines.cells()[..data]);
        let mut writer = Writer { names, data, frames: Vec::new(), cycles: 0, places: BTreeSet::new() };
        let mut changed = BTreeSet::new();
        let mut steps = Vec::new();
        for part in parts(&evidence.narrative.items, evidence.steps, limit) {
            match part {
                Part::Kept(count) => {
                    for _ in 0..count {
                        let Some((line, reads)) = lines.next() else { break };
                        changed.extend(line.changes.iter().map(|change| change.address));
                        steps.push(writer.step(&line, &reads, lines));
                    }
                }
                Part::Folded(count, text) => {
                    let before = lines.cells().to_vec();
                    let mut passed = 0;
                    let mut pc = None;
                    while passed < count
                        && let Some((line, _)) = lines.next()
                    {
                        passed += 1;
                        pc.get_or_insert(line.pc);
                    }
                    if let Some(pc) = pc {
                        let after = writer.changes(&before, lines.cells());
                        changed.extend(after.iter().map(|(address, _)| *address));
                        steps.push(writer.folded(pc, (passed, &text), &after, lines));
                    }
                }
            }
        }
        writer.places.insert(evidence.end.pc);
        let asked: BTreeSet<DataAddress> = evidence.cells.iter().copied().collect();
        let watch = variables(names, &asked, &BTreeSet::new());
        let others = variables(names, &changed, &watch.iter().map(|variable| variable.start).collect());
        Self {
            name,
            begins,
            cells,
            steps,
            all: evidence.steps,
            claim: visible(&evidence.claim),
            kind: kind(evidence.kind),
            hazard: evidence.end.hazard.map(|hazard| visible(&hazard.to_string())),
            hazard_inputs: hazard_inputs(names, evidence),
            end_pc: evidence.end.pc,
            loop_start: evidence.loop_start,
            atoms: atoms(evidence),
            watch,
            others,
            places: writer.places,
        }
    }

    /// The flash byte addresses that the run shows.
    pub(super) fn places(&self) -> &BTreeSet<u32> {
        &self.places
    }
}

/// Adds a run, and behind it those that it leaves to show: other continuations from power-on, and the one behind a claim from
/// its end.
fn add(
    all: &mut Vec<Run>,
    (evidence, mut lines): (&Evidence, Lines<'_>),
    named: (String, Option<String>),
    context: (&Names<'_>, &Machine, u64),
) {
    let (names, machine, _) = context;
    all.push(Run::new(evidence, &mut lines, named, context));
    for (branch, number) in evidence.branches.iter().zip(1..) {
        let named = (format!("other continuation {number}"), None);
        add(all, (branch, Lines::new(machine, branch)), named, context);
    }
    if let Some(continuation) = &evidence.continuation {
        let lines = Lines::behind(machine, continuation, lines.state());
        let cells = continuation.cells.iter().take(MAX_CELLS);
        let cells: Vec<String> = cells.map(|(cell, value)| format!("{} = {value:#04x}", names.cell(*cell))).collect();
        let more = if continuation.cells.len() > MAX_CELLS { ", …" } else { "" };
        let begins =
            format!("from a state in which the loop is left, such as this one with {}{more}", cells.join(", "));
        add(all, (&continuation.run, lines), ("behind the loop".to_owned(), Some(visible(&begins))), context);
    }
}

fn kind(kind: EvidenceKind) -> &'static str {
    match kind {
        EvidenceKind::Path => "path",
        EvidenceKind::Hazard => "hazard",
        EvidenceKind::Lasso => "lasso",
        EvidenceKind::Unending => "unending",
    }
}

/// The values of the atoms; at the end only, where nothing else is known.
fn atoms(evidence: &Evidence) -> Vec<(String, AtomChanges)> {
    if evidence.traces.is_empty() {
        let known = evidence.atoms.iter();
        return known.map(|(text, value)| (visible(text), vec![(evidence.steps, Some(*value))])).collect();
    }
    evidence.traces.iter().map(|trace| (visible(&trace.text), trace.changes.clone())).collect()
}

fn hazard_inputs(names: &Names<'_>, evidence: &Evidence) -> Vec<String> {
    let in_the_end = evidence.chosen.iter().filter(|one| one.step == evidence.steps);
    in_the_end.flat_map(|one| chosen(names, one)).map(|input| visible(&input)).collect()
}

/// Writes steps as lists: the flash byte address, clock cycles, changes, values read from registers, the event instead of an
/// instruction, inputs, calls, the number of steps and the text of a fold. What is 0 at the end is left out.
struct Writer<'a> {
    names: &'a Names<'a>,
    /// The bytes of data memory that are shown.
    data: usize,
    frames: Vec<Frame>,
    cycles: u64,
    places: BTreeSet<u32>,
}

impl Writer<'_> {
    fn step(&mut self, line: &Line, reads: &[(DataAddress, u8)], lines: &Lines<'_>) -> Value {
        let changes = line.changes.iter().map(|change| (change.address, change.after));
        let event = match line.happened {
            Happening::Continue if line.asleep => json!("asleep"),
            Happening::Continue => json!(0),
            other => json!(visible(&happening(self.names, other))),
        };
        let inputs = line.chosen.as_ref().map_or(Vec::new(), |one| chosen(self.names, one));
        let inputs: Vec<String> = inputs.iter().map(|input| visible(input)).collect();
        let changes = self.pairs(changes);
        let reads = self.pairs(reads.iter().copied());
        self.write(line.pc, (changes, reads), (event, list(inputs)), None, lines)
    }

    /// Steps that are passed over, as one.
    fn folded(
        &mut self,
        pc: u32,
        (steps, text): (u64, &str),
        changes: &[(DataAddress, u8)],
        lines: &Lines<'_>,
    ) -> Value {
        let changes = self.pairs(changes.iter().copied());
        self.write(pc, (changes, json!(0)), (json!(0), json!(0)), Some((steps, text)), lines)
    }

    fn write(
        &mut self,
        pc: u32,
        (changes, reads): (Value, Value),
        (event, inputs): (Value, Value),
        fold: Option<(u64, &str)>,
        lines: &Lines<'_>,
    ) -> Value {
        self.places.insert(pc);
        let cycles = lines.cycles() - self.cycles;
        self.cycles = lines.cycles();
        let calls = self.calls(lines.frames());
        let (steps, text) = fold.map_or((json!(0), json!(0)), |(steps, text)| (json!(steps), json!(text)));
        let mut all = vec![json!(pc), json!(cycles), changes, reads, event, inputs, calls, steps, text];
        while all.last() == Some(&json!(0)) {
            all.pop();
        }
        Value::Array(all)
    }

    /// The return addresses that stay, and those that are new: where it returns to, the vector number, the position.
    fn calls(&mut self, frames: &[Frame]) -> Value {
        let same = self.frames.iter().zip(frames).take_while(|(one, other)| one == other).count();
        if same == self.frames.len() && same == frames.len() {
            return json!(0);
        }
        let mut all = vec![json!(same)];
        for frame in &frames[same..] {
            let left = left_at(self.names, frame);
            self.places.insert(left);
            let vector = match frame.kind {
                FrameKind::Interrupt(number) => json!(self.names.interrupt(number)),
                FrameKind::Call => json!(0),
            };
            all.push(json!([left, vector, frame.position.0]));
        }
        self.frames = frames.to_vec();
        Value::Array(all)
    }

    /// Addresses and values one behind the other, of what is in data memory.
    fn pairs(&self, pairs: impl Iterator<Item = (DataAddress, u8)>) -> Value {
        let inside = pairs.filter(|(address, _)| address.index() < self.data);
        list(inside.flat_map(|(address, value)| [address.0, value.into()]).collect())
    }

    /// The cells with another content.
    fn changes(&self, before: &[u8], after: &[u8]) -> Vec<(DataAddress, u8)> {
        let both = before.iter().zip(after).take(self.data).enumerate();
        let differ = both.filter(|(_, (before, after))| before != after);
        differ.map(|(index, (_, after))| (DataAddress::of_index(index), *after)).collect()
    }
}

/// A list, or 0 for none.
fn list<T: Serialize>(all: Vec<T>) -> Value {
    if all.is_empty() { json!(0) } else { json!(all) }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
