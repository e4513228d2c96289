//! Evidence as a debugger would show it: what was chosen, and the steps with what they change.

use std::collections::BTreeMap;

use avr_isa::{DataAddress, Register};
use avr_machine::device::Device;
use avr_machine::{Happening, Machine};
use avr_verify::{Change, Evidence, Item, Line};

use super::calls::{CallData, allow_line};
use super::numbers::{Numbers, lines_of};
use super::{received, specification, step};
use crate::escape::Escaped;
use crate::names::Names;
use crate::place::{Source, source_paths};
use crate::report::{SourceFile, Subject};

/// Runs of at most so many steps are shown in full.
const SHORT_RUN: usize = 32;
/// Of longer runs so many of the last steps are.
const LAST_STEPS: usize = 20;
/// And so many lines of what comes before, with repetitions folded.
const MAX_LINES_BEFORE: usize = 40;
/// So many steps with inputs are listed.
const MAX_CHOSEN: usize = 20;
/// The startup code before the main program is folded if it has so many steps at least.
const LONG_STARTUP: u64 = 4;
/// A loop of at most so many steps that changes nothing but registers waits.
const MAX_WAIT: usize = 8;
/// Fewer iterations among the last steps are not folded.
const MIN_WAITS: usize = 3;
/// Widths of the columns, which longer content exceeds.
const INSTRUCTION_WIDTH: usize = 30;

/// Adds the evidence of a property; every line begins with `indent`.
pub(crate) fn add_evidence(text: &mut String, indent: &str, evidence: &Evidence, subject: Subject<'_>) {
    let Subject { image, device, machine, sources } = subject;
    let Ok(device) = Device::named(device) else { return };
    let has_places = !source_paths(image).is_empty();
    let (names, numbers) = (Names { image, device }, Numbers::default());
    let place = String::new();
    let mut lines = Lines { names, machine, sources, numbers, has_places, text, indent, place, left: usize::MAX };
    lines.evidence(evidence);
}

struct Lines<'a> {
    names: Names<'a>,
    /// The machine that repeats runs; none for one that does not begin at power-on.
    machine: Option<&'a Machine>,
    sources: &'a [SourceFile],
    /// The values of variables in the run that is told.
    numbers: Numbers,
    /// True if debug information tells places in sources.
    has_places: bool,
    text: &'a mut String,
    indent: &'a str,
    /// The function and source line that was shown last.
    place: String,
    /// The number of lines that may still be shown.
    left: usize,
}

impl Lines<'_> {
    fn push(&mut self, line: &str) {
        if self.left > 0 {
            self.left -= 1;
            self.push_anyway(line);
        }
    }

    /// Adds a line even where no more may be shown.
    fn push_anyway(&mut self, line: &str) {
        self.text.push_str(&format!("{}{}\n", self.indent, Escaped(line)));
    }

    fn evidence(&mut self, evidence: &Evidence) {
        self.numbers =
            self.machine.map_or_else(Numbers::default, |machine| Numbers::of(evidence, &self.names, machine));
        let counted = |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let (steps, cycles) = (counted(evidence.steps, "step"), counted(evidence.cycles, "cycle"));
        let checked = if evidence.replayed { "replayed" } else { "NOT CONFIRMED by the replay" };
        self.push(&format!("run of {steps}, {cycles}, {checked}: {}", evidence.claim));
        for proved in &evidence.proved {
            self.push(&format!("by proof: {proved}"));
        }
        specification::lines(&evidence.specification).iter().for_each(|line| self.push(line));
        self.calls(evidence);
        self.initial(evidence);
        self.chosen(evidence);
        self.steps(evidence);
        for branch in &evidence.branches {
            self.push("");
            self.evidence(branch);
        }
        if let Some(continuation) = &evidence.continuation {
            self.push("");
            let cells = self.cells(&continuation.cells);
            self.push(&format!("from a state in which the loop is left, such as this one with {cells}:"));
            self.place.clear();
            let machine = self.machine.take();
            self.evidence(&continuation.run);
            self.machine = machine;
        }
    }

    /// The functions that are under way where a hazard happens, and the entry of the property file that allows it.
    fn calls(&mut self, evidence: &Evidence) {
        let Some(hazard) = evidence.end.hazard else { return };
        let all = CallData::all(evidence, &self.names);
        for (index, call) in all.iter().enumerate() {
            let how = index.checked_sub(1).map_or("it happens at", |younger| all[younger].entered());
            self.push(&format!("{how} {}", call.text()));
        }
        self.push(&format!("to accept it: {}", allow_line(hazard.kind, &evidence.end, &self.names)));
    }

    fn initial(&mut self, evidence: &Evidence) {
        let cells = &evidence.stimulus.initial;
        if !cells.is_empty() {
            self.push(&format!("initial content: {}, everything else 0", self.cells(cells)));
        }
    }

    /// The content of cells.
    fn cells(&self, cells: &BTreeMap<DataAddress, u8>) -> String {
        let shown = cells.iter().take(MAX_CHOSEN);
        let all: Vec<String> =
            shown.map(|(cell, value)| format!("{} = {value:#04x}", self.names.cell(*cell))).collect();
        let more = if cells.len() > MAX_CHOSEN { ", ..." } else { "" };
        format!("{}{more}", all.join(", "))
    }

    fn chosen(&mut self, evidence: &Evidence) {
        for chosen in evidence.chosen.iter().take(MAX_CHOSEN) {
            let what = step::chosen(&self.names, chosen).join(", ");
            self.push(&format!("input at step {}: {what}", chosen.step));
        }
        if evidence.chosen.len() > MAX_CHOSEN {
            self.push(&format!("and inputs at {} more steps", evidence.chosen.len() - MAX_CHOSEN));
        }
        received::lines(evidence, self.names.device).iter().for_each(|line| self.push(line));
    }

    fn steps(&mut self, evidence: &Evidence) {
        let last = &evidence.narrative.last;
        let all: u64 = evidence.narrative.items.iter().map(Item::steps).sum();
        let in_full = if all <= SHORT_RUN as u64 { last.len() } else { LAST_STEPS.min(last.len()) };
        let items = evidence.narrative.items.as_slice();
        let (startup, begun) = self.startup(items);
        if all > in_full as u64 {
            self.before(&items[startup..], begun, all - in_full as u64);
            self.push(&format!("... the last {in_full} steps:"));
            self.place.clear();
        }
        let after_startup = last[last.len() - in_full..].iter().filter(|line| line.step >= begun);
        self.last(&after_startup.collect::<Vec<_>>());
    }

    /// Adds the last steps. Of what waits, iterations before the last one are folded.
    fn last(&mut self, lines: &[&Line]) {
        let mut rest = lines;
        while let Some((first, others)) = rest.split_first() {
            let Some((length, times)) = self.waiting(rest) else {
                self.line(first, 0);
                rest = others;
                continue;
            };
            let (folded, after) = rest.split_at(length * (times - 1));
            let (iteration, after) = after.split_at(length);
            self.wait(&folded[..length], times as u64 - 1, "");
            iteration.iter().for_each(|line| self.line(line, 0));
            rest = after;
        }
    }

    /// The number of steps and of iterations of a loop that waits, if the steps begin with several of it.
    fn waiting(&self, lines: &[&Line]) -> Option<(usize, usize)> {
        (1..=MAX_WAIT.min(lines.len())).find_map(|length| {
            let body = &lines[..length];
            let is_same = |other: &&[&Line]| other.iter().zip(body).all(|(one, other)| one.pc == other.pc);
            let is_iteration = |other: &&[&Line]| is_same(other) && self.is_wait(other);
            let times = lines.chunks_exact(length).take_while(is_iteration).count();
            (times >= MIN_WAITS).then_some((length, times))
        })
    }

    /// Tells the startup code in a line if something comes after it, and gives its number of items and of steps.
    fn startup(&mut self, items: &[Item]) -> (usize, u64) {
        let count = items.iter().take_while(|item| self.is_startup(item)).count();
        let steps: u64 = items[..count].iter().map(Item::steps).sum();
        if !self.has_places || count == items.len() || steps < LONG_STARTUP {
            return (0, 0);
        }
        let mut functions: Vec<String> = Vec::new();
        for function in items[..count].iter().flat_map(lines_of).filter_map(|line| self.names.function(line.pc)) {
            if !functions.contains(&function) {
                functions.push(function);
            }
        }
        self.push(&format!("startup code, {steps} steps: {}", functions.join(", ")));
        (count, steps)
    }

    /// True for steps without a place in a source, and without anything from outside.
    fn is_startup(&self, item: &Item) -> bool {
        let is_startup = |line: &Line| {
            let is_plain = line.happened == Happening::Continue && line.chosen.is_none();
            is_plain && self.names.source_line(line.pc).is_none()
        };
        match item {
            Item::Line(line) => is_startup(line),
            Item::Loop { body, .. } => body.iter().all(|item| self.is_startup(item)),
            Item::Omitted(_) => false,
        }
    }

    /// Adds the steps before the last ones, folded.
    fn before(&mut self, items: &[Item], begun: u64, steps: u64) {
        self.left = MAX_LINES_BEFORE;
        let mut shown = begun;
        for item in items {
            if shown >= steps || self.left == 0 {
                break;
            }
            shown += item.steps();
            self.item(item, 0);
        }
        let is_cut = self.left == 0 && shown < steps;
        self.left = usize::MAX;
        if is_cut {
            self.push(&format!("... {} steps are left out here", steps - shown));
        }
    }

    fn item(&mut self, item: &Item, depth: usize) {
        match item {
            Item::Line(line) => self.line(line, depth),
            Item::Omitted(steps) => self.push(&format!("{}... {steps} steps", "  ".repeat(depth))),
            Item::Loop { body, times } if self.waits(body) => {
                let lines: Vec<&Line> = body.iter().flat_map(lines_of).collect();
                self.wait(&lines, *times, &"  ".repeat(depth));
            }
            Item::Loop { body, times } => {
                let inset = "  ".repeat(depth + 1);
                body.iter().for_each(|item| self.item(item, depth + 1));
                if self.left == 0 {
                    self.push_anyway(&format!("{inset}..."));
                }
                self.push_anyway(&format!("{inset}× {times} iterations"));
            }
        }
    }

    /// Tells a loop that waits in a line.
    fn wait(&mut self, body: &[&Line], times: u64, inset: &str) {
        let Some(first) = body.first() else { return };
        self.at(first, inset);
        let mut asked: Vec<String> = body.iter().filter_map(|line| self.register_read(line.pc)).collect();
        asked.dedup();
        let asked = if asked.is_empty() { String::new() } else { format!(" for {}", asked.join(", ")) };
        self.push(&format!("{inset}{:>6}  {:#06x}  waits{asked}, {times} times", first.step, first.pc));
    }

    /// True if the body of a loop is steps that wait.
    fn waits(&self, body: &[Item]) -> bool {
        let lines: Vec<&Line> = body.iter().flat_map(lines_of).collect();
        body.iter().all(|item| matches!(item, Item::Line(_))) && lines.len() <= MAX_WAIT && self.is_wait(&lines)
    }

    /// True if some steps change nothing but registers of the processor, and nothing comes from outside but what they read.
    fn is_wait(&self, lines: &[&Line]) -> bool {
        let status = self.names.device.register("SREG").map(|register| register.address);
        let is_register = |change: &Change| Register::at(change.address).is_some() || Some(change.address) == status;
        let is_idle = |line: &&Line| line.happened == Happening::Continue && line.changes.iter().all(is_register);
        lines.iter().all(is_idle) && lines.iter().any(|line| !line.asleep && self.register_read(line.pc).is_some())
    }

    /// The register of the hardware that the instruction at a flash byte address reads.
    fn register_read(&self, pc: u32) -> Option<String> {
        let text = self.names.instruction(pc)?;
        let reads = ["in ", "lds ", "sbis ", "sbic "].iter().any(|mnemonic| text.starts_with(mnemonic));
        let name = text.split_once('<')?.1.strip_suffix('>')?;
        (reads && self.names.device.register(name).is_some()).then(|| name.to_owned())
    }

    /// Tells the function and the line of the source, if it is another one than before.
    fn at(&mut self, line: &Line, inset: &str) {
        let place = [self.names.function(line.pc), self.names.shown_line(line.pc)];
        let place = place.into_iter().flatten().collect::<Vec<_>>().join(" at ");
        if place != self.place && !place.is_empty() {
            let code = self.source(line.pc).map_or_else(String::new, |code| format!(":  {code}"));
            self.push(&format!("{inset}{place}{code}"));
        }
        self.place = place;
    }

    /// The line of the source, if the source is there.
    fn source(&self, pc: u32) -> Option<String> {
        let place = Source::at(self.names.image, pc)?;
        let file = self.sources.iter().find(|source| source.path == place.file)?;
        let line = file.text.lines().nth(place.line as usize - 1)?.trim();
        (!line.is_empty()).then(|| line.replace('\t', " "))
    }

    fn line(&mut self, line: &Line, depth: usize) {
        let inset = "  ".repeat(depth);
        self.at(line, &inset);
        let action = step::action(&self.names, line);
        let changes = step::changes(&self.names, &line.changes, self.numbers.at(line.step)).join(", ");
        let chosen = line.chosen.as_ref().map(|chosen| step::chosen(&self.names, chosen).join(", "));
        let chosen = chosen.map_or(String::new(), |chosen| format!("  <- {chosen}"));
        let row = format!("{inset}{:>6}  {:#06x}  {action:<INSTRUCTION_WIDTH$}  {changes}{chosen}", line.step, line.pc);
        self.push(row.trim_end());
    }
}
