//! Sampled steps: concrete states of the entries of a map are set in libsimavr, one step is taken from each, and some entry must cover the state
//! behind it.
//!
//! Runs show what the program comes to from power-on in a few thousand instructions. Sampled steps look at each entry, however it is reached, and
//! force each interrupt that the map lets in. From a state behind the entry into a handler, a return of the handler is drawn as well: its
//! cells hold what the map says of the return, or what they held at the entry. It must lead to something that is covered in the interrupted
//! thread. Where an entry stands for concrete states that no run comes to, their steps must be covered all the same: that is what the closing
//! check demands.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use avr_image::EepromAddress;
use avr_invariant::{Entry, Move, Place, Silence, Thread, Value, check_with, is_in_range};
use avr_isa::{DataAddress, Instruction};
use avr_machine::device::{Bit, BitKind, BitRef, Condition, Device, Interrupt, Request as DeviceRequest};
use avr_machine::{Fetched, Frame, flag};
use fastrand::Rng;
use three_valued::TvByte;

use crate::compare::is_exact;
use crate::hazards::Watcher;
use crate::invariants::{Active, Closed, OneRun};
use crate::runs::{Happens, Led, Request, State, data_bytes, steps};
use crate::subjects::Subject;

/// The extent of the sampling of each map.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The most entries that are sampled; others are left out at random.
    pub entries: usize,
    /// States that are drawn of each, and entries in which an interrupt is forced at a place.
    pub states: usize,
    /// The most pairs of a place and an interrupt that are forced.
    pub pairs: usize,
    /// The most returns that are drawn for each handler that is entered, each from another entry.
    pub returns: usize,
}

impl Effort {
    /// A few seconds for all maps.
    pub const SHORT: Self = Self { entries: 150, states: 2, pairs: 60, returns: 1 };
    /// All entries and all pairs.
    pub const FULL: Self = Self { entries: usize::MAX, states: 6, pairs: usize::MAX, returns: 4 };
}

/// The requests that are sent to libsimavr at once.
const BATCH: usize = 1_000;

/// Attempts to draw a state in which an interrupt can come.
const TRIES: usize = 8;

/// The reason for leaving something out that says nothing of it.
pub const LEFT_OUT: &str = "left out in the short run";
/// The reason where libsimavr ends.
const GIVES_UP: &str = "libsimavr gives up";

/// The most errors that are told of a map.
const MOST_PROBLEMS: usize = 5;

/// The result of sampling a map.
#[derive(Debug, Default)]
pub struct Report {
    /// The image.
    pub name: String,
    /// Entries of the map, if it is closed.
    pub entries: usize,
    /// Entries from which a step was looked at.
    pub sampled: usize,
    /// Entries from which none was, by reason.
    pub skipped: BTreeMap<&'static str, usize>,
    /// Steps to covered states.
    pub covered: usize,
    /// Steps into marked hazards.
    pub ended: usize,
    /// Pairs of a place and an interrupt that the map lets in there.
    pub pairs: usize,
    /// Those that were forced.
    pub forced: usize,
    /// Those that were not, by the number and the name of the interrupt and the reason: how many, and the flash byte address of one.
    pub unforced: BTreeMap<(u8, &'static str, &'static str), (usize, u32)>,
    /// Returns of handlers to covered states.
    pub returns: usize,
    /// Handlers that were entered and for which no return was drawn: none has this entry, or the handler does not return.
    pub unreturned: usize,
    /// The errors, a few at most.
    pub problems: Vec<String>,
}

impl Report {
    /// True if everything that was looked at is as it must be.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.problems.is_empty()
    }
}

/// A concrete state of an entry.
struct Drawn {
    /// The number of the entry.
    entry: usize,
    state: State,
    /// The content of all cells, with those that libsimavr does not have.
    cells: Vec<u8>,
    thread: Thread,
    /// The return addresses on the stack, each with the stack pointer before its push.
    pushed: Vec<(u16, u32)>,
    is_torn: bool,
    /// The state behind the entry into the handler that is active.
    at_entry: Option<State>,
    /// The handler that this one interrupts, with the state behind its entry.
    below: Option<(Thread, State)>,
}

/// What comes of a step.
enum Outcome {
    Covered,
    Ended,
}

/// The sampling of one map.
struct Sampler<'a> {
    subject: &'a Subject,
    closed: &'a Closed,
    runner: &'a Path,
    random: Rng,
    report: Report,
}

/// Samples the map of an image.
///
/// # Panics
/// If files cannot be written.
#[must_use]
pub fn compare(runner: &Path, subject: &Subject, effort: Effort, seed: u64) -> Report {
    let report = Report { name: subject.name.clone(), ..Report::default() };
    let Some(mut closed) = Closed::of(subject) else { return report };
    let mut pairs: BTreeSet<(Place, u8)> = BTreeSet::new();
    let mut note = |step: Move| {
        if let Move::Begins(from, Place { thread: Thread::Handler { interrupt, .. }, .. }) = step {
            pairs.insert((from, interrupt));
        }
    };
    check_with(&closed.machine, &mut closed.map, &mut note).expect("it was accepted");
    let random = Rng::with_seed(seed);
    let mut sampler = Sampler { subject, closed: &closed, runner, random, report };
    sampler.instructions(effort);
    sampler.interrupts(pairs, effort);
    sampler.report
}

impl<'a> Sampler<'a> {
    /// Executes the next instruction in states of entries.
    fn instructions(&mut self, effort: Effort) {
        let mut numbers: Vec<usize> = (0..self.closed.map.entries.len()).collect();
        self.report.entries = numbers.len();
        if numbers.len() > effort.entries {
            self.random.shuffle(&mut numbers);
            let rest = numbers.split_off(effort.entries);
            self.report.skipped.insert(LEFT_OUT, rest.len());
        }
        for numbers in numbers.chunks(BATCH.div_ceil(effort.states)) {
            let (mut all, mut skipped) = (Vec::new(), BTreeMap::new());
            for number in numbers {
                for _ in 0..effort.states {
                    match self.draw(*number, Happens::Instruction, None) {
                        Ok(drawn) => all.push(drawn),
                        Err(reason) => {
                            skipped.insert(*number, reason);
                        }
                    }
                }
            }
            let answers = self.step(&all, |_| Happens::Instruction);
            let mut sampled = BTreeSet::new();
            for (drawn, answer) in all.iter().zip(answers) {
                match answer {
                    Some(answer) => {
                        sampled.insert(drawn.entry);
                        match self.judge(drawn, &answer) {
                            Some(Outcome::Covered) => self.report.covered += 1,
                            Some(Outcome::Ended) => self.report.ended += 1,
                            None => {}
                        }
                    }
                    None => {
                        skipped.insert(drawn.entry, GIVES_UP);
                    }
                }
            }
            self.report.sampled += sampled.len();
            for (_, reason) in skipped.into_iter().filter(|(number, _)| !sampled.contains(number)) {
                *self.report.skipped.entry(reason).or_default() += 1;
            }
        }
    }

    /// Forces interrupts, and returns of their handlers. Besides those that the map lets in, others are tried: a drawn state says if hardware can
    /// request them.
    fn interrupts(&mut self, let_in: BTreeSet<(Place, u8)>, effort: Effort) {
        let closed = self.closed;
        let mut by_place: BTreeMap<Place, Vec<usize>> = BTreeMap::new();
        for (number, entry) in closed.map.entries.iter().enumerate().filter(|(_, entry)| is_interruptible(&entry.place))
        {
            by_place.entry(entry.place).or_default().push(number);
        }
        let all = closed.machine.device.interrupts.iter().map(|interrupt| interrupt.number);
        let others = by_place
            .keys()
            .filter(|place| !place.control.sleeping)
            .flat_map(|place| all.clone().map(|number| (*place, number)));
        let mut pairs: Vec<(Place, u8, bool)> = others
            .filter(|pair| !let_in.contains(pair))
            .map(|(place, interrupt)| (place, interrupt, false))
            .chain(let_in.iter().map(|(place, interrupt)| (*place, *interrupt, true)))
            .collect();
        self.report.pairs = let_in.len();
        self.random.shuffle(&mut pairs);
        let (mut taken, mut tried) = (0, 0);
        pairs.retain(|(place, interrupt, is_let_in)| {
            let number = if *is_let_in { &mut taken } else { &mut tried };
            *number += 1;
            if *number > effort.pairs && *is_let_in {
                self.leave_out(place, *interrupt, LEFT_OUT);
            }
            *number <= effort.pairs
        });
        for pairs in pairs.chunks(BATCH.div_ceil(effort.states)) {
            let mut all = Vec::new();
            let mut reasons: BTreeMap<(Place, u8), &'static str> = BTreeMap::new();
            for (place, interrupt, is_let_in) in pairs {
                let mut numbers = by_place.get(place).cloned().unwrap_or_default();
                self.random.shuffle(&mut numbers);
                for number in numbers.into_iter().take(effort.states) {
                    let mut tries = (0..TRIES).map(|_| self.draw_interrupted(number, *interrupt));
                    match tries.find(Result::is_ok).unwrap_or_else(|| self.draw_interrupted(number, *interrupt)) {
                        Ok(drawn) => all.push((drawn, (*place, *interrupt))),
                        Err(reason) if *is_let_in => {
                            reasons.insert((*place, *interrupt), reason);
                        }
                        Err(_) => {}
                    }
                }
            }
            let (states, raised): (Vec<Drawn>, Vec<(Place, u8)>) = all.into_iter().unzip();
            let answers = self.step(&states, |index| Happens::Interrupt(raised[index].1));
            let (mut entered, mut forced) = (Vec::new(), BTreeSet::new());
            for ((drawn, pair), answer) in states.into_iter().zip(&raised).zip(answers) {
                match answer {
                    Some(answer) if answer.handlers > drawn.state.handlers => {
                        forced.insert(*pair);
                        if let Some(Outcome::Covered) = self.judge(&drawn, &answer) {
                            entered.push((drawn, pair.1, answer));
                        }
                    }
                    Some(_) => {
                        reasons.insert(*pair, "libsimavr does not raise it");
                    }
                    None => {
                        reasons.insert(*pair, GIVES_UP);
                    }
                }
            }
            for (place, interrupt, _) in pairs.iter().filter(|(.., is_let_in)| *is_let_in) {
                if forced.contains(&(*place, *interrupt)) {
                    self.report.forced += 1;
                } else {
                    let reason = reasons.get(&(*place, *interrupt)).copied();
                    self.leave_out(place, *interrupt, reason.unwrap_or("there is no entry"));
                }
            }
            self.returns(&entered, effort);
        }
    }

    /// Draws a state of an entry in which an interrupt can come.
    fn draw_interrupted(&mut self, number: usize, interrupt: u8) -> Result<Drawn, &'static str> {
        let mut drawn = self.draw(number, Happens::Interrupt(interrupt), None)?;
        let device: &Device = self.closed.machine.device;
        let mut all = device.interrupts.iter();
        let interrupt = all.find(|one| one.number == interrupt).ok_or("there is no such interrupt")?;
        if let DeviceRequest::Condition { holds } = &interrupt.request {
            // What hardware ends by itself has ended (EEPE, SELFPRGEN).
            holds.for_each_moving(&mut |bit| {
                drawn.cells[bit.address.index()] &= !bit.mask();
                drawn.state.data[bit.address.index()] &= !bit.mask();
            });
        }
        match can_be_requested(device, interrupt, &drawn.cells) {
            true => Ok(drawn),
            false => Err("no state with a request is drawn"),
        }
    }

    /// Draws returns of handlers that were entered.
    fn returns(&mut self, entered: &[(Drawn, u8, State)], effort: Effort) {
        let closed = self.closed;
        let mut ends: BTreeMap<Thread, Vec<usize>> = BTreeMap::new();
        for (number, Entry { place, .. }) in closed.map.entries.iter().enumerate() {
            if self.returns_from_handler(place) {
                ends.entry(place.thread).or_default().push(number);
            }
        }
        let mut all = Vec::new();
        for (interrupted, interrupt, entry) in entered {
            let pointer = DataAddress(interrupted.state.stack_pointer());
            let mut ends = ends.get(&Thread::Handler { interrupt: *interrupt, pointer }).cloned().unwrap_or_default();
            self.random.shuffle(&mut ends);
            let before = all.len();
            for number in ends.into_iter().take(effort.returns) {
                if let Ok(mut drawn) = self.draw(number, Happens::Instruction, Some(entry)) {
                    drawn.pushed = interrupted.pushed.clone();
                    drawn.pushed.push((pointer.0, interrupted.state.pc));
                    drawn.below = interrupted.at_entry.clone().map(|entry| (interrupted.thread, entry));
                    all.push(drawn);
                }
            }
            self.report.unreturned += usize::from(all.len() == before);
        }
        // The rest of the handler is not executed: what it may have done is what the map says of its end.
        let answers = self.step(&all, |_| Happens::Instruction);
        for (drawn, answer) in all.iter().zip(answers) {
            let Some(answer) = answer else { continue };
            if self.judge(drawn, &answer).is_some() {
                self.report.returns += 1;
            }
        }
    }

    fn leave_out(&mut self, place: &Place, interrupt: u8, reason: &'static str) {
        let mut all = self.subject.device.interrupts.iter();
        let name = all.find(|one| one.number == interrupt).map_or("without a name", |one| one.name);
        self.report.unforced.entry((interrupt, name, reason)).or_insert((0, place.address().0)).0 += 1;
    }

    /// Takes steps in libsimavr.
    fn step(&mut self, all: &[Drawn], happens: impl Fn(usize) -> Happens) -> Vec<Option<State>> {
        let request = |(index, drawn)| {
            let Drawn { state, thread, .. }: &Drawn = drawn;
            let handler = match thread {
                Thread::Main => None,
                Thread::Handler { interrupt, .. } => Some(*interrupt),
            };
            Request { state, handler, happens: happens(index) }
        };
        let requests: Vec<Request<'_>> = all.iter().enumerate().map(request).collect();
        steps(self.runner, self.subject, self.random.u64(..), &requests)
    }

    /// Looks at a state and what it led to, as in a run. None if something is wrong.
    fn judge(&mut self, drawn: &Drawn, answer: &State) -> Option<Outcome> {
        let watcher = Watcher::amid(self.subject, &drawn.pushed, drawn.is_torn);
        let below = drawn.below.iter().map(|(thread, entry)| (*thread, entry));
        let handlers = below.chain(drawn.at_entry.iter().map(|entry| (drawn.thread, entry)));
        let active = handlers.filter_map(|(thread, entry)| match thread {
            Thread::Main => None,
            Thread::Handler { interrupt, pointer } => {
                Some(Active { pointer: pointer.0, number: interrupt, entry: entry.clone() })
            }
        });
        let mut one = OneRun::new(self.closed, watcher, active.collect());
        // libsimavr is told of the youngest handler only.
        let untold = usize::from(drawn.below.is_some());
        let counted = |state: &State| State { handlers: state.handlers + untold, ..state.clone() };
        let goes_on = one.look(&counted(&drawn.state)) && one.look(&counted(answer));
        let (covered, problem) = (one.covered, one.problem);
        match problem {
            None if goes_on => Some(Outcome::Covered),
            None => Some(Outcome::Ended),
            Some(problem) => {
                let what = if covered == 0 { "the drawn state" } else { "the step" };
                if self.report.problems.len() < MOST_PROBLEMS {
                    let text = format!(
                        "{what} from {:#06x} in {} (entry {}, SREG {:#04x}): {problem}",
                        drawn.state.pc, drawn.thread, drawn.entry, drawn.state.data[0x5f]
                    );
                    self.report.problems.push(text);
                }
                None
            }
        }
    }

    /// Draws a state of an entry, in a handler with the state behind its entry, unless that is given. The reason where there is none.
    fn draw(&mut self, number: usize, happens: Happens, given: Option<&State>) -> Result<Drawn, &'static str> {
        let closed = self.closed;
        let Entry { place, state } = &closed.map.entries[number];
        let control = &place.control;
        if self.subject.world.has_ended(place.address().0) {
            return Err("the run has ended in an application of which nothing is known");
        }
        if control.sleeping && happens == Happens::Instruction {
            return Err("it sleeps");
        }
        if given.is_none() && self.returns_from_handler(place) {
            return Err("it returns from a handler, which is sampled with what it interrupts");
        }
        let store = &closed.map.store;
        let pages = state.memory.blocks().iter().flat_map(|block| store.block(*block));
        let mut cells: Vec<TvByte> = pages.flat_map(|page| store.page(*page)).copied().collect();
        self.hold_requests(&mut cells, happens, control.interrupt_delay || control.fresh_request)?;
        let frames: Vec<Frame> = match place.thread {
            Thread::Main => closed.map.calls.frames(place.calls).to_vec(),
            Thread::Handler { .. } => closed.map.calls.frames(place.calls).iter().skip(1).copied().collect(),
        };
        let mut wishes: BTreeMap<usize, u8> = BTreeMap::new();
        for frame in &frames {
            // Now and then, where the map allows it, something else lies there.
            if self.random.u8(..8) == 0 {
                continue;
            }
            let bytes = frame.return_address.0.to_le_bytes();
            for (offset, byte) in bytes.into_iter().take(self.subject.device.core.pc_bytes.into()).enumerate() {
                wishes.insert(frame.position.index().saturating_sub(offset), byte);
            }
        }
        let mut random = self.random.fork();
        let given_at = |cell: usize| given.and_then(|given| self.cell_of(given, cell));
        let silence = place.thread.silence();
        let mut groups: BTreeMap<Value, BTreeSet<usize>> = BTreeMap::new();
        for (cell, _) in state.equalities.list() {
            let value = state.equalities.value(*cell, silence);
            let group = groups.entry(value).or_default();
            group.insert(cell.index());
            let (Value::Of(first) | Value::Entry(first) | Value::Result(first)) = value;
            if state.equalities.value(first, silence) == value {
                group.insert(first.index());
            }
        }
        let mut content: Vec<Option<u8>> = vec![None; cells.len()];
        let mut at_entry: BTreeMap<usize, u8> = BTreeMap::new();
        let mut value_of = |first: Option<usize>, byte: TvByte, wish: Option<u8>| match first.and_then(given_at) {
            Some(given) if byte.contains(given) => Some(given),
            Some(_) if first.is_some_and(|cell| is_kept(closed.machine.device, cell)) => None,
            // libsimavr has bits of I/O registers otherwise (see `fits`): those that are known are as the map says.
            Some(given) => pick(byte, Some(given & byte.unknown_mask() | byte.value()), &mut random),
            None => pick(byte, wish, &mut random),
        };
        for (value, group) in &groups {
            let mut byte = TvByte::UNKNOWN;
            for cell in group {
                byte = byte.meet(cells[*cell]).ok_or("no concrete state")?;
            }
            let first = match value {
                Value::Entry(first) => Some(first.index()),
                Value::Of(_) | Value::Result(_) => None,
            };
            let wish = group.iter().find_map(|cell| wishes.get(cell).copied());
            let value = value_of(first, byte, wish).ok_or("no concrete state")?;
            group.iter().for_each(|cell| content[*cell] = Some(value));
            if let Some(first) = first {
                at_entry.insert(first, value);
            }
        }
        let is_handler = place.thread != Thread::Main;
        let mut values = Vec::with_capacity(cells.len());
        for (cell, (content, byte)) in content.into_iter().zip(&cells).enumerate() {
            values.push(match content {
                Some(value) => value,
                None => {
                    let wish = wishes.get(&cell).copied();
                    value_of(is_handler.then_some(cell), *byte, wish).ok_or("no concrete state")?
                }
            });
        }
        let cells_of = |value: Value| {
            groups.get(&value).cloned().unwrap_or_else(|| {
                let (Value::Of(cell) | Value::Entry(cell) | Value::Result(cell)) = value;
                BTreeSet::from([cell.index()])
            })
        };
        let allows = |cell: usize, value: u8| cells[cell].contains(value);
        let program = &closed.machine.program;
        let results = |values: &[u8]| closed.divisions.results(program, control.pc, values, values[SREG]);
        let told =
            (&cells_of as &dyn Fn(Value) -> BTreeSet<usize>, &allows as &dyn Fn(usize, u8) -> bool, &results as _);
        fit_ranges(state, silence, (&mut values, &mut at_entry), told, given.is_none(), &mut random)?;
        clear_unread(closed.machine.device, &mut values, &allows);
        let (now, cells) = (self.state_of(place, &values), values.clone());
        let mut pushed: Vec<(u16, u32)> =
            frames.iter().map(|frame| (frame.position.0, frame.return_address.byte().0)).collect();
        let mut entry = None;
        if let Thread::Handler { pointer, .. } = place.thread {
            for (cell, _) in state.equalities.list() {
                values[cell.index()] = random.u8(..);
            }
            at_entry.into_iter().for_each(|(cell, value)| values[cell] = value);
            let behind = given.cloned().unwrap_or_else(|| self.state_of(place, &values));
            let byte = |cell: u16| u32::from(behind.data.get(usize::from(cell)).copied().unwrap_or(0));
            let bytes = u16::from(self.subject.device.core.pc_bytes);
            let returns =
                (0..bytes).map(|offset| byte(pointer.0.wrapping_sub(offset)) << (8 * offset)).sum::<u32>() * 2;
            pushed.insert(0, (pointer.0, returns));
            entry = Some(behind);
        }
        Ok(Drawn {
            entry: number,
            state: now,
            cells,
            thread: place.thread,
            pushed,
            is_torn: control.torn,
            at_entry: entry,
            below: None,
        })
    }

    /// Chooses I, and sees to it that no interrupt must be taken instead of what happens, unless it may wait.
    fn hold_requests(&mut self, cells: &mut [TvByte], happens: Happens, may_wait: bool) -> Result<(), &'static str> {
        let device: &Device = self.closed.machine.device;
        let status = self.closed.machine.status_address();
        let forced = match happens {
            Happens::Interrupt(number) => device.interrupts.iter().find(|interrupt| interrupt.number == number),
            Happens::Instruction => None,
        };
        let is_on = forced.is_some() || self.random.bool();
        let mut set = |address: DataAddress, mask: u8, is_one: bool| {
            let bits = TvByte::new(if is_one { mask } else { 0 }, mask);
            let narrower = cells[address.index()].meet(bits);
            narrower.inspect(|byte| cells[address.index()] = *byte).is_some()
        };
        let is_on = if set(status, 1 << flag::I, is_on) { is_on } else { !is_on };
        if let Some(forced) = forced {
            if !is_on {
                return Err("I is 0");
            }
            if !set(forced.enable.address, forced.enable.mask(), true) {
                return Err("it is not enabled");
            }
        }
        if !is_on || may_wait {
            return Ok(());
        }
        let is_first = |interrupt: &&Interrupt| forced.is_none_or(|forced| interrupt.number < forced.number);
        for interrupt in device.interrupts.iter().filter(is_first) {
            let is_free = interrupt.flag().is_some_and(|flag| set(flag.address, flag.mask(), false))
                || set(interrupt.enable.address, interrupt.enable.mask(), false);
            if !is_free {
                return Err("another interrupt is certain");
            }
        }
        Ok(())
    }

    /// True if a handler ends with the next instruction.
    fn returns_from_handler(&self, place: &Place) -> bool {
        let next = self.closed.machine.program.fetch(place.control.pc);
        let is_return = matches!(next, Fetched::Instruction { instruction: Instruction::Reti, .. });
        is_return && place.thread != Thread::Main && self.closed.map.calls.frames(place.calls).len() == 1
    }

    /// The content of a cell in a state of libsimavr; none of those that it does not have.
    fn cell_of(&self, state: &State, cell: usize) -> Option<u8> {
        let eeprom = self.closed.machine.eeprom_cell(EepromAddress(0)).index();
        state.data.get(cell).or_else(|| state.eeprom.get(cell.checked_sub(eeprom)?)).copied()
    }

    fn state_of(&self, place: &Place, values: &[u8]) -> State {
        let device = self.subject.device;
        let eeprom = self.closed.machine.eeprom_cell(EepromAddress(0)).index();
        State {
            pc: place.address().0,
            led: Led::Instruction(0),
            sleeping: place.control.sleeping,
            handlers: usize::from(place.thread != Thread::Main),
            data: values[..data_bytes(device)].to_vec(),
            eeprom: values[eeprom..eeprom + usize::from(device.memory.eeprom_bytes)].to_vec(),
        }
    }
}

/// True for places at which an interrupt may come, if it is enabled and requested.
fn is_interruptible(place: &Place) -> bool {
    let control = &place.control;
    !control.interrupt_delay && !control.torn
}

/// True if a request of an interrupt stands, or hardware can make one.
fn can_be_requested(device: &Device, interrupt: &Interrupt, cells: &[u8]) -> bool {
    let is_one = |bit: BitRef| cells[bit.address.index()] & bit.mask() != 0;
    let is_held = |flag: BitRef| match device.bit_at(flag).map(|bit| &bit.kind) {
        Some(BitKind::Flag(kind)) => holds(&kind.zero_while, cells),
        _ => false,
    };
    holds(&interrupt.level_while, cells)
        || match &interrupt.request {
            DeviceRequest::Latched { flag } | DeviceRequest::Persistent { flag } => {
                !is_held(*flag) && (is_one(*flag) || holds(&interrupt.raised_while, cells))
            }
            DeviceRequest::Condition { holds: condition } => holds(condition, cells),
        }
}

/// True if a condition holds in the stored bits.
fn holds(condition: &Condition, cells: &[u8]) -> bool {
    match condition {
        Condition::Always => true,
        Condition::Never => false,
        Condition::All(parts) => parts.iter().all(|part| holds(part, cells)),
        Condition::Any(parts) => parts.iter().any(|part| holds(part, cells)),
        Condition::Not(part) => !holds(part, cells),
        Condition::Bit(bit) | Condition::Moving { bit, .. } => cells[bit.address.index()] & bit.mask() != 0,
        Condition::Field { address, mask, equals } => cells[address.index()] & mask == *equals,
    }
}

/// Clears bits that hardware reads as 0 (of the result of the converter those that its adjustment leaves out): libsimavr reads what is stored.
fn clear_unread(device: &Device, values: &mut [u8], allows: &dyn Fn(usize, u8) -> bool) {
    for register in &device.registers {
        let cell = register.address.index();
        let is_unread = |bit: &Bit| matches!(&bit.kind, BitKind::Input(input) if holds(&input.zero_while, values));
        let bits = register.bits.iter().zip(0..8);
        let mask = bits.filter(|(bit, _)| is_unread(bit)).fold(0, |mask, (_, index)| mask | 1u8 << index);
        if allows(cell, values[cell] & !mask) {
            values[cell] &= !mask;
        }
    }
}

/// True for cells that hardware does not change behind the program's back.
fn is_kept(device: &Device, cell: usize) -> bool {
    cell >= data_bytes(device) || is_exact(device, cell as u16)
}

/// The cells that hold a value, the test of a cell's content, and the results of a division that some contents have.
type Cells<'a> =
    (&'a dyn Fn(Value) -> BTreeSet<usize>, &'a dyn Fn(usize, u8) -> bool, &'a dyn Fn(&[u8]) -> Option<[u8; 32]>);

/// The times that numbers are put into their ranges.
const TRIES_FOR_NUMBERS: usize = 16;

/// The times that registers are chosen for the result of a division.
const TRIES_FOR_RESULTS: usize = 400;

/// Sees to it that numbers are in the ranges of a state. The reason where that does not succeed.
fn fit_ranges(
    state: &avr_invariant::State,
    silence: Silence,
    (values, at_entry): (&mut [u8], &mut BTreeMap<usize, u8>),
    (cells_of, allows, results): Cells<'_>,
    is_free: bool,
    random: &mut Rng,
) -> Result<(), &'static str> {
    const REASON: &str = "no concrete state is found that fits the ranges of numbers";
    let is_result = |value: &Value| matches!(value, Value::Result(_));
    let has_results = state.ranges.list().iter().any(|range| range.bytes.iter().any(is_result));
    for _ in 0..if has_results { TRIES_FOR_RESULTS } else { TRIES_FOR_NUMBERS } {
        let told = results(values);
        let carry = values[SREG] & 1 == 1;
        let content = |value: Value| match value {
            Value::Of(cell) => values[cell.index()],
            Value::Entry(cell) => at_entry.get(&cell.index()).copied().unwrap_or(values[cell.index()]),
            Value::Result(cell) => told.map_or(0, |told| told[cell.index()]),
        };
        // The former content of a cell that has changed since is chosen later.
        let is_open = |value: &Value| match value {
            Value::Of(_) | Value::Result(_) => false,
            Value::Entry(cell) => {
                state.equalities.value(*cell, silence) != *value && !at_entry.contains_key(&cell.index())
            }
        };
        let list = state.ranges.list();
        if list.iter().any(|range| range.bytes.iter().any(is_open)) {
            return Err(REASON);
        }
        let Some(outside) = list.iter().find(|range| !is_in_range(range, carry, &content)) else {
            // Equations are not solved: only what fulfils them is taken.
            let are_true = state.equations.list().iter().all(|equation| equation.is_true(carry, &content));
            return if are_true { Ok(()) } else { Err(REASON) };
        };
        if outside.bytes.iter().any(is_result) {
            if !is_free {
                return Err(REASON);
            }
            for cell in (0..32).map(DataAddress) {
                let byte = [0, u8::MAX, random.u8(..)][random.usize(..3)];
                let all = cells_of(state.equalities.value(cell, silence));
                if all.iter().all(|cell| *cell < 32 && allows(*cell, byte)) {
                    all.iter().for_each(|cell| values[*cell] = byte);
                }
            }
            continue;
        }
        let (low, high) = outside.when[usize::from(carry)].ok_or(REASON)?;
        let number = random.u32(low..=high).to_le_bytes();
        for (value, byte) in outside.bytes.iter().zip(number) {
            let all = cells_of(*value);
            let is_chosen = is_free || matches!(value, Value::Of(_));
            if is_chosen && all.iter().all(|cell| allows(*cell, byte)) {
                all.iter().for_each(|cell| values[*cell] = byte);
                if let Value::Entry(cell) = value {
                    at_entry.entry(cell.index()).and_modify(|held| *held = byte);
                }
            }
        }
    }
    Err(REASON)
}

/// The cell of SREG.
const SREG: usize = 0x5f;

/// A value of a byte: the one that is wished, or at random, now and then the least or the greatest.
fn pick(byte: TvByte, wish: Option<u8>, random: &mut Rng) -> Option<u8> {
    let is_allowed = |value: &u8| byte.contains(*value);
    if let Some(known) = byte.known() {
        return Some(known);
    }
    let chosen = match random.u8(..8) {
        0 => Some(byte.low()),
        1 => Some(byte.high()),
        _ => None,
    };
    let drawn = || {
        let first = random.u8(..);
        (0..=u8::MAX).map(|offset| first.wrapping_add(offset) & byte.unknown_mask() | byte.value()).find(is_allowed)
    };
    wish.filter(is_allowed).or(chosen.filter(is_allowed)).or_else(drawn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_picked_are_allowed() {
        let mut random = Rng::with_seed(1);
        for (value, known) in [(0, 0), (0x80, 0xc0), (0x55, 0xff), (0x01, 0x0f)] {
            let bits = TvByte::new(value, known);
            let ranges = [(0, 255), (3, 0x91), (0x55, 0x55)];
            for byte in ranges.into_iter().filter_map(|(low, high)| bits.within(low, high)) {
                let all: BTreeSet<u8> = (0..5_000).filter_map(|_| pick(byte, None, &mut random)).collect();
                assert_eq!(all, byte.concretisations().collect(), "{byte}");
                let wished = byte.high();
                assert_eq!(pick(byte, Some(wished), &mut random), Some(wished));
            }
        }
    }

    #[test]
    fn requests_stand_by_flags_and_come_while_hardware_can_make_them() {
        let device = Device::named("atmega328p").expect("the device exists");
        let interrupt = |name: &str| device.interrupts.iter().find(|one| one.name == name).expect("it has one");
        let can = |name: &str, cells: &[(usize, u8)]| {
            let mut all = vec![0; 0x1000];
            cells.iter().for_each(|(cell, byte)| all[*cell] = *byte);
            can_be_requested(device, interrupt(name), &all)
        };
        // TIFR0 and TCCR0B.
        assert!(!can("TIMER0_OVF", &[]));
        assert!(can("TIMER0_OVF", &[(0x35, 1)]));
        assert!(can("TIMER0_OVF", &[(0x45, 1)]));
        // EECR: while EEPE is 0.
        assert!(can("EE_READY", &[]));
        assert!(!can("EE_READY", &[(0x3f, 2)]));
    }
}
