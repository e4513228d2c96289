//! The comparison of runs with maps of invariants, and programs that wrong maps would accept.
//!
//! A map must cover each state of a run by itself. The call string, and the state behind the entry into the handler that is active, are kept
//! here.

use std::collections::BTreeMap;
use std::path::Path;

use avr_image::{EepromAddress, Image, LoadOptions};
use avr_invariant::{
    Analysis, Claims, Divisions, Equation, Map, Options, Range, State as Invariant, Thread, Value, Variable, analyse,
    is_in_range,
};
use avr_machine::device::Device;
use avr_machine::{Frame, HazardKind, Machine};
use avr_properties::{PropertyFile, Setting};
use avr_testkit::image::{Code, bytes as flash_bytes, hex, r};

use crate::compare::{UNSEEN, fits, is_exact};
use crate::hazards::Watcher;
use crate::runs::{Led, Manner, State, data_bytes, run};
use crate::subjects::{COMMON, Subject, device};

include!("../../../../crates/avr-invariant/fault-programs.rs");

/// The result of a comparison.
#[derive(Debug, Default)]
pub struct Report {
    /// The image.
    pub name: String,
    /// True if its map is closed, so that it says anything.
    pub is_closed: bool,
    /// States that are covered.
    pub covered: usize,
    /// The errors, one for each run at most.
    pub problems: Vec<String>,
}

/// The opcode of RETI.
const RETI: u16 = 0x9518;

/// A map that is closed.
pub(crate) struct Closed {
    pub(crate) machine: Machine,
    pub(crate) map: Map,
    pub(crate) divisions: Divisions,
    claims: Claims,
    by_address: BTreeMap<u32, Vec<u32>>,
}

impl Closed {
    /// The map of an image, if it is closed. Maps know nothing of the stacks of tasks.
    pub(crate) fn of(subject: &Subject) -> Option<Self> {
        if !subject.world.stacks.is_empty() {
            return None;
        }
        let machine = machine(&subject.image, &subject.file, subject.device);
        let Analysis { map, outcome, .. } = analyse(&machine, &Options::default());
        let claims = outcome.ok()?;
        let mut by_address: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (number, entry) in (0..).zip(&map.entries) {
            by_address.entry(entry.place.address().0).or_default().push(number);
        }
        let divisions = Divisions::new(&machine.program);
        Some(Self { machine, map, divisions, claims, by_address })
    }
}

/// A handler that is active.
pub(crate) struct Active {
    /// The stack pointer before its return address was pushed.
    pub(crate) pointer: u16,
    pub(crate) number: u8,
    /// The state behind its entry.
    pub(crate) entry: State,
}

/// One run that is looked at.
pub(crate) struct OneRun<'a> {
    closed: &'a Closed,
    watcher: Watcher<'a>,
    /// The bytes of an interrupt vector.
    vector_bytes: u32,
    active: Vec<Active>,
    before: u32,
    /// True if the state before was one of sleep.
    slept: bool,
    /// I in the state before, if there is one.
    was_enabled: Option<bool>,
    /// True if one more instruction runs before an interrupt can be taken; unknown in the first state.
    is_delayed: Option<bool>,
    pub(crate) covered: usize,
    pub(crate) problem: Option<String>,
}

impl<'a> OneRun<'a> {
    /// Before the first state that is looked at, in which these handlers are active.
    pub(crate) fn new(closed: &'a Closed, watcher: Watcher<'a>, active: Vec<Active>) -> Self {
        Self {
            closed,
            watcher,
            vector_bytes: 2 * u32::from(closed.machine.device.core.vector_words),
            active,
            before: 0,
            slept: false,
            was_enabled: None,
            is_delayed: None,
            covered: 0,
            problem: None,
        }
    }

    /// Looks at a state; whether the run goes on.
    pub(crate) fn look(&mut self, state: &State) -> bool {
        let before = std::mem::replace(&mut self.before, state.pc);
        let is_enabled = state.data[0x5f] & 0x80 != 0;
        self.is_delayed = self.was_enabled.replace(is_enabled).map(|was| match state.led {
            Led::Instruction(RETI) => true,
            Led::Instruction(_) => is_enabled && !was,
            Led::Entry | Led::Reset => false,
        });
        // libsimavr does not sleep while a request stands that is not enabled. Hardware does (section "Sleep Modes": an enabled interrupt
        // wakes it, and is executed first).
        if std::mem::replace(&mut self.slept, state.sleeping) && matches!(state.led, Led::Instruction(_)) {
            return false;
        }
        let pointer_before = self.active.last().map_or(0, |active| active.pointer);
        let committed = self.watcher.look(state);
        let marks = &self.closed.claims.marks;
        let is_marked = |kind: HazardKind| marks.iter().any(|mark| mark.hazard.kind == kind);
        // A hazard that a run in libsimavr does not show may have been the step before.
        let is_unseen =
            |kind: &HazardKind| marks.iter().any(|mark| mark.hazard.kind == *kind && mark.address.0 == before);
        let may_be_over = UNSEEN.iter().any(is_unseen);
        if may_be_over && !committed.is_empty() {
            return false;
        }
        if let Some(missing) = committed.iter().find(|kind| !is_marked(**kind)) {
            self.problem = Some(format!("a run commits {missing} at {:#06x}, which is not marked", state.pc));
            return false;
        }
        if !committed.is_empty() {
            return false;
        }
        let calls = self.watcher.calls(state);
        if state.led == Led::Entry {
            let pointer = calls.last().map_or(pointer_before, |frame| frame.0);
            self.active.push(Active { pointer, number: (state.pc / self.vector_bytes) as u8, entry: state.clone() });
        }
        self.active.truncate(state.handlers);
        match self.difference(state, &calls) {
            None => self.covered += 1,
            Some(_) if may_be_over => return false,
            Some(difference) => {
                self.problem = Some(format!("no state covers one at {:#06x}: {difference}", state.pc));
                return false;
            }
        }
        let deepest = self.watcher.deepest[0];
        match self.closed.claims.stack_bound().filter(|bound| *bound < deepest) {
            Some(bound) => {
                self.problem = Some(format!("the stack is {deepest} bytes deep, and the bound is {bound}"));
                false
            }
            None => true,
        }
    }

    /// The difference between a state and the last one of the map at its place; none if one covers it.
    fn difference(&self, state: &State, calls: &[(u16, u32)]) -> Option<String> {
        let handler = self.active.last();
        let thread = handler.map_or(Thread::Main, |active| Thread::Handler {
            interrupt: active.number,
            pointer: DataAddress(active.pointer),
        });
        let own: Vec<(u16, u32)> = match handler {
            // The first frame is that of the return, whose address is not told.
            Some(active) => calls.iter().copied().filter(|frame| frame.0 < active.pointer).collect(),
            None => calls.to_vec(),
        };
        let is_there = |frames: &[Frame]| {
            let frames = &frames[usize::from(handler.is_some()).min(frames.len())..];
            let pushed: Vec<(u16, u32)> =
                frames.iter().map(|frame| (frame.position.0, frame.return_address.byte().0)).collect();
            // A return address that was popped may be kept.
            pushed.starts_with(&own)
        };
        let map = &self.closed.map;
        let mut difference = "there is no such place".to_owned();
        for number in self.closed.by_address.get(&state.pc).into_iter().flatten() {
            let entry = &map.entries[*number as usize];
            let place = &entry.place;
            if place.thread != thread
                || place.control.sleeping != state.sleeping
                || self.is_delayed.is_some_and(|is_delayed| is_delayed != place.control.interrupt_delay)
                || !is_there(map.calls.frames(place.calls))
            {
                continue;
            }
            difference = self.in_state(&entry.state, thread, state, handler)?;
        }
        Some(difference)
    }

    /// The first cell in which a state is not as an abstract one says.
    fn in_state(
        &self,
        invariant: &Invariant,
        thread: Thread,
        state: &State,
        handler: Option<&Active>,
    ) -> Option<String> {
        let Closed { map: Map { store, .. }, machine, .. } = self.closed;
        for (address, value) in (0_u16..).zip(&state.data) {
            let byte = store.cell(&invariant.memory, DataAddress(address));
            if !fits(machine.device, address, byte, *value) {
                return Some(format!("cell {address:#06x} is {value:#04x} and not {byte}"));
            }
        }
        for (address, value) in (0_u16..).zip(&state.eeprom) {
            let byte = store.cell(&invariant.memory, machine.eeprom_cell(EepromAddress(address)));
            if !byte.contains(*value) {
                return Some(format!("byte {address:#06x} of the EEPROM is {value:#04x} and not {byte}"));
            }
        }
        let silence = thread.silence();
        let is_exact = |cell: u16| is_exact(machine.device, cell) && usize::from(cell) < data_bytes(machine.device);
        for cell in (0..=machine.device.memory.sram_end.0).filter(|cell| is_exact(*cell)) {
            let same = match invariant.equalities.value(DataAddress(cell), silence) {
                Value::Of(other) | Value::Entry(other) if !is_exact(other.0) => continue,
                Value::Result(_) => return Some(format!("cell {cell:#06x} is said to hold a result")),
                Value::Of(other) => state.data[other.index()],
                Value::Entry(other) => {
                    handler.map_or(state.data[other.index()], |active| active.entry.data[other.index()])
                }
            };
            let value = state.data[usize::from(cell)];
            if value != same {
                return Some(format!("cell {cell:#06x} is {value:#04x} and not the same as {same:#04x}"));
            }
        }
        let carry = state.data[machine.status_address().index()] & 1 == 1;
        let pc = avr_isa::FlashByteAddress(state.pc).word();
        let status = state.data[machine.status_address().index()];
        let results = self.closed.divisions.results(&machine.program, pc, &state.data, status);
        let content = |value: Value| match value {
            Value::Of(cell) => state.data[cell.index()],
            Value::Entry(cell) => handler.map_or(state.data[cell.index()], |active| active.entry.data[cell.index()]),
            Value::Result(cell) => results.map_or(0, |results| results[cell.index()]),
        };
        let is_seen = |range: &&Range| {
            let mut cells = range.bytes.iter().map(|value| match value {
                Value::Of(cell) | Value::Entry(cell) | Value::Result(cell) => cell.0,
            });
            cells.all(&is_exact)
        };
        let mut ranges = invariant.ranges.list().iter().filter(is_seen);
        if let Some(outside) = ranges.find(|range| !is_in_range(range, carry, &content)) {
            return Some(format!("with carry {carry} a number is not in {outside:x?}"));
        }
        let is_of_seen = |equation: &&Equation| {
            equation.terms.iter().all(|(variable, _)| match variable {
                Variable::Byte(Value::Of(cell) | Value::Entry(cell) | Value::Result(cell)) => is_exact(cell.0),
                Variable::Carry => true,
            })
        };
        let mut equations = invariant.equations.list().iter().filter(is_of_seen);
        let untrue = equations.find(|equation| !equation.is_true(carry, &content))?;
        Some(format!("with carry {carry}, {untrue:x?} is not true"))
    }
}

/// Compares runs with the map of an image.
///
/// # Panics
/// If files cannot be written.
#[must_use]
pub fn compare(runner: &Path, subject: &Subject, runs: u64, steps: u32) -> Report {
    let mut report = Report { name: subject.name.clone(), ..Report::default() };
    let Some(closed) = Closed::of(subject) else { return report };
    report.is_closed = true;
    for seed in 1..=runs {
        let manner = Manner { seed, every: [0, 40, 9, 1][seed as usize % 4], steps };
        let mut one = OneRun::new(&closed, Watcher::new(subject), Vec::new());
        run(runner, subject, manner, |state| one.look(state) && !subject.world.has_ended(state.pc));
        report.covered += one.covered;
        if let Some(problem) = one.problem {
            report.problems.push(format!("seed {seed} every {}: {problem}", manner.every));
        }
    }
    report
}

fn machine(image: &Image, file: &PropertyFile, device: &'static Device) -> Machine {
    let setting = Setting { image, device, start: None, file, eeprom: &BTreeMap::new() };
    setting.machine().expect("nothing is assumed")
}

/// A program with the addresses of its traps.
pub struct Trapped {
    /// The image.
    pub subject: Subject,
    /// Where the traps are, as flash byte addresses.
    pub traps: Vec<u32>,
    /// True if some run comes to one.
    pub is_reached: bool,
}

/// The programs that wrong maps would accept, and some that a map accepts for good reasons.
///
/// # Panics
/// If one is no image.
#[must_use]
pub fn programs() -> Vec<Trapped> {
    let trapped = |(name, code): (&str, Code), is_reached: bool| {
        let options = LoadOptions::new(0x8000, 0x400);
        let text = hex(&flash_bytes(&code.words));
        let image = Image::parse("program.hex", text.as_bytes(), &options).expect("the image is valid");
        let traps = (0_u32..).zip(&code.words).filter(|(_, word)| **word == 0xffff).map(|(address, _)| 2 * address);
        Trapped { subject: Subject::plain(name, device(COMMON), image), traps: traps.collect(), is_reached }
    };
    let harmless = harmless().into_iter().map(|program| trapped(program, false));
    all().into_iter().map(|program| trapped(program, true)).chain(harmless).collect()
}

/// True if some run comes to one of these addresses.
#[must_use]
pub fn comes_to(runner: &Path, subject: &Subject, traps: &[u32], runs: u64) -> bool {
    (1..=runs).any(|seed| {
        let mut came = false;
        run(runner, subject, Manner { seed, every: 1, steps: 600 }, |state| {
            came |= traps.contains(&state.pc);
            !came
        });
        came
    })
}
