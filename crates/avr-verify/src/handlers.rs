//! Handlers that are passed in one step: `docs/soundness.md`, section "Handlers that are passed".
//!
//! What a neutral handler does depends on what it reads of the memory, and it changes nothing but what it writes there and
//! what is below the stack pointer. So its states are looked at once, and what it came to is used wherever it interrupts
//! something with the same content of all cells that it touched.

mod footing;
#[cfg(test)]
mod tests;

use crate::compression::{Passage, Spot};
use crate::events::Occurrences;
use crate::reduction::{Postponed, Reduction};
use crate::state::{AbstractState, Running};
use crate::system::{Firmware, content};
use avr_machine::{Control, FrameKind, PAGE_CELLS};
pub(crate) use footing::Footing;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::rc::Rc;
use three_valued::fault::{self, is_on};
use three_valued::{ByteDomain, Truth, TvByte};
use tvar::{Lookup, System};

/// The most states of one handler that are looked at.
const MAX_STATES: usize = 256;
/// The most states of a handler that are looked at step by step.
const MAX_STEPS: usize = 16_384;
/// How often a handler that could not be passed is tried again.
const MAX_FAILURES: u32 = 64;

/// Deliberate faults, to see that the tests find them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// What handlers read is not compared.
    NothingCompared,
    /// Of what a handler comes to one is followed.
    FirstOutcomeOnly,
    /// Handlers that are not neutral are passed.
    AllNeutral,
    /// Handlers that make the stack deeper than ever are passed.
    DeepestPassed,
    /// Handlers with several ends are passed although it matters which can be reached from where.
    ManyEnds,
    /// What goals see is not compared.
    NothingSeen,
    /// What the entry into a handler does to flags and enable bits is not done.
    EntryForgotten,
}

#[cfg(not(test))]
pub(crate) const fn faulty(_: Fault) -> bool {
    false
}

#[cfg(test)]
avr_testkit::thread_faults!(Fault);

/// What must be the same for a handler to do the same, beside what it touches in SRAM.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Entry {
    number: u8,
    control: Control,
    /// The stack pointer before the handler was entered.
    pointer: u16,
    postponed: Postponed,
    labels: Vec<Truth>,
    /// All cells outside of SRAM without registers, SREG and SP: numbers of pages and, in those that were written just now, cells.
    others: Vec<u32>,
}

/// What a handler came to.
#[derive(Debug)]
struct Outcome {
    control: Control,
    postponed: Postponed,
    /// What it left in the cells that it touched.
    cells: Vec<(u16, TvByte)>,
}

/// What a handler came to, that was followed to its end from one content of the cells that it touched.
#[derive(Debug)]
struct Passed {
    outcomes: Vec<Outcome>,
    /// The least value of the stack pointer.
    lowest: u16,
}

/// What handlers came to that touched the same cells, by what was in them.
#[derive(Debug)]
struct Touching {
    cells: Vec<u16>,
    passed: FxHashMap<Vec<TvByte>, Rc<Passed>>,
}

/// The handlers that were passed in the present state space.
#[derive(Debug, Default)]
pub(crate) struct Handlers {
    known: FxHashMap<Entry, Vec<Touching>>,
    /// How often a handler could not be passed, by the number of its interrupt.
    failures: FxHashMap<u8, u32>,
    /// The least value of the stack pointer in handlers that were not passed because the stack is deeper there than ever before:
    /// they are to be followed step by step in the same state space.
    promised: Option<u16>,
    /// What the steps touch that are being taken.
    pub(crate) footing: Option<Footing>,
}

impl Handlers {
    /// Begins a state space.
    pub(crate) fn begin(&mut self) {
        *self = Self::default();
    }
}

/// The handler that was just entered: the number of its interrupt, and the stack pointer before.
#[derive(Clone, Copy)]
struct Entered {
    number: u8,
    position: u16,
}

impl<'f> Firmware<'f> {
    /// The states in which the code that a handler interrupted has gone on, if the machine at work has just entered the handler
    /// from a state; none if it is to be followed step by step. Then the machine at work is where it was.
    pub(crate) fn behind_handler(
        &mut self,
        from: &Running,
        postponed: Postponed,
        passage: &Passage<'_>,
        precision: &dyn Lookup<Self>,
    ) -> Option<Vec<AbstractState>> {
        let (first, passed) = self.handled(from, postponed, passage, precision)?;
        Some(self.returned((from, &first), &passed, passage, precision))
    }

    /// The first state of the handler that the machine at work has just entered from a state, and what comes of it.
    fn handled(
        &mut self,
        from: &Running,
        postponed: Postponed,
        passage: &Passage<'_>,
        precision: &dyn Lookup<Self>,
    ) -> Option<(Running, Rc<Passed>)> {
        let entered = self.passable(from)?;
        let entry = self.entry(from, entered, postponed, passage.labels());
        let content = &self.workspace.state.data;
        let known = self.handlers.as_ref()?.known.get(&entry).and_then(|all| {
            all.iter().find_map(|touching| {
                let values: Vec<TvByte> = touching.cells.iter().map(|cell| *content.get(*cell)).collect();
                let any = touching.passed.values().next().filter(|_| faulty(Fault::NothingCompared));
                any.or_else(|| touching.passed.get(&values)).map(Rc::clone)
            })
        });
        if known.is_some() {
            self.note_passed(from);
        }
        let AbstractState::Running(first) = self.arrived(Occurrences::default(), postponed) else { return None };
        if let Some(passed) = known {
            #[cfg(test)]
            tests::PASSED.set(tests::PASSED.get() + 1);
            return Some((first, passed));
        }
        let followed = self.followed_through(from, first, (entered, passage.labels()), precision);
        let handlers = self.handlers.as_mut()?;
        let Some((cells, passed)) = followed else {
            *handlers.failures.entry(entered.number).or_default() += 1;
            self.workspace.load(&self.store, &first);
            return None;
        };
        let values = cells.iter().map(|cell| self.store.cell(first.memory, *cell)).collect();
        let alike = handlers.known.entry(entry).or_default();
        let place = alike.iter().position(|touching| touching.cells == cells).unwrap_or_else(|| {
            alike.push(Touching { cells, passed: FxHashMap::default() });
            alike.len() - 1
        });
        let passed = Rc::new(passed);
        alike[place].passed.insert(values, Rc::clone(&passed));
        Some((first, passed))
    }

    /// The handler that was just entered from a state, if it is one that may be passed.
    fn passable(&self, from: &Running) -> Option<Entered> {
        let (handlers, reduction) = (self.handlers.as_ref()?, self.reduction.as_ref()?);
        let frame = self.workspace.state.calls.frames().last()?;
        let FrameKind::Interrupt(number) = frame.kind else { return None };
        let vector = self.machine.device.interrupts.iter().find(|interrupt| interrupt.number == number)?.vector;
        let is_enabled = self.store.cell(from.memory, self.machine.status_address()).bit(7) == Truth::True;
        let is_usual = self.workspace.state.control.pc == u32::from(vector)
            && frame.return_address == from.control.pc
            && is_enabled
            && !from.control.sleeping
            && !from.control.torn;
        let is_tried = handlers.footing.is_none()
            && handlers.failures.get(&number).is_none_or(|failures| *failures < MAX_FAILURES);
        let is_neutral = reduction.is_neutral(number) || faulty(Fault::AllNeutral);
        // SOUND: what goals see is compared where what a handler came to is used again.
        let is_comparable = reduction.seen_cells().is_some();
        let is_passable = is_usual && is_tried && is_neutral && is_comparable;
        is_passable.then_some(Entered { number, position: frame.position })
    }

    fn entry(&self, from: &Running, entered: Entered, postponed: Postponed, labels: &[Truth]) -> Entry {
        let state = &self.workspace.state;
        let sram = self.machine.sram();
        let is_outside = |page: usize| {
            let first = page * PAGE_CELLS;
            first >= 32 && !(usize::from(sram.start)..sram.end.into()).contains(&first)
        };
        let page_of = |cell: u16| usize::from(cell) / PAGE_CELLS;
        let mut single: BTreeSet<usize> = state.data.changed_pages().filter(|page| is_outside(*page)).collect();
        single.extend(self.processor().into_iter().flatten().map(page_of));
        let mut others = self.store.pages(from.memory, |page| is_outside(page) && !single.contains(&page));
        for cell in single.iter().flat_map(|page| page * PAGE_CELLS..(page + 1) * PAGE_CELLS).map(|cell| cell as u16) {
            if !self.is_given_back(cell) {
                let value = state.data.get(cell);
                others.extend([cell.into(), u32::from_le_bytes(content(*value))]);
            }
        }
        let seen = self.reduction.as_ref().and_then(Reduction::seen_cells).filter(|_| !faulty(Fault::NothingSeen));
        for cell in seen.into_iter().flatten() {
            others.extend([cell.into(), u32::from_le_bytes(content(*state.data.get(cell)))]);
        }
        let (number, pointer) = (entered.number, entered.position);
        Entry { number, control: state.control, pointer, postponed, labels: labels.to_vec(), others }
    }

    /// Follows a handler from its first state through all its states to its end; none if that is not to be done in one step.
    fn followed_through(
        &mut self,
        from: &Running,
        first: Running,
        (entered, labels): (Entered, &[Truth]),
        precision: &dyn Lookup<Self>,
    ) -> Option<(Vec<u16>, Passed)> {
        let deepest = self.compression.as_ref()?.deepest();
        self.handlers.as_mut()?.footing = Some(Footing::new(entered.position));
        let ends = self.ends((from, labels), first, precision);
        let footing = self.handlers.as_mut()?.footing.take()?;
        self.compression.as_mut()?.set_deepest(deepest);
        let ends = ends?;
        let handlers = self.handlers.as_mut()?;
        let is_deeper = footing.lowest < deepest && handlers.promised.is_none_or(|promised| footing.lowest < promised);
        if is_deeper && !faulty(Fault::DeepestPassed) {
            // A state is kept where the stack is deeper than ever before.
            handlers.promised = Some(footing.lowest);
            return None;
        }
        let cells: Vec<u16> = footing.cells.iter().copied().filter(|cell| !self.is_given_back(*cell)).collect();
        let own = footing.lowest + 1..=entered.position;
        // I/O registers, and what hardware keeps beside them, change with what is read and written.
        let is_register = |cell: &u16| self.machine.is_of_hardware(*cell) && !self.is_given_back(*cell);
        let changed = |end: &Running| self.store.differing_cells(first.memory, end.memory).map(|(cell, ..)| cell);
        let registers: BTreeSet<u16> = ends.iter().flat_map(changed).filter(is_register).collect();
        let mut outcomes = Vec::new();
        for end in ends {
            let changed = self.store.differing_cells(first.memory, end.memory);
            let mut elsewhere =
                changed.filter(|(cell, ..)| !cells.contains(cell) && !own.contains(cell) && !registers.contains(cell));
            if !elsewhere.all(|(cell, before, after)| after.covers(before) || self.is_given_back(cell)) {
                return None;
            }
            let left = cells.iter().filter(|cell| !own.contains(cell));
            let left = left.copied().chain(registers.iter().copied());
            let cells = left.map(|cell| (cell, self.store.cell(end.memory, cell))).collect();
            outcomes.push(Outcome { control: end.control, postponed: end.postponed, cells });
        }
        Some((cells, Passed { outcomes, lowest: footing.lowest }))
    }

    /// The states in which a handler ends; none if it does not always end, or has states that are to be looked at.
    fn ends(
        &mut self,
        (from, labels): (&Running, &[Truth]),
        first: Running,
        precision: &dyn Lookup<Self>,
    ) -> Option<Vec<Running>> {
        let start = AbstractState::Running(first);
        let floor = self.store.depth(first.calls);
        let (mut states, mut numbers) = (vec![start], FxHashMap::from_iter([(start, 0usize)]));
        let (mut ends, mut edges) = (Vec::new(), Vec::new());
        while let Some(AbstractState::Running(running)) = states.get(edges.len()).copied() {
            let state = AbstractState::Running(running);
            let status = self.store.cell(running.memory, self.machine.status_address());
            if status.bit(7) != Truth::False || states.len() > MAX_STATES || self.labels(&state) != labels {
                return None;
            }
            let spot = Spot { pc: running.control.pc, calls: running.calls };
            self.note_kept(spot, &state);
            let passage = Passage::new(labels, spot).until_return(floor);
            let here = precision.leaving(&state, &self.location(&state));
            let mut targets = Vec::new();
            for leaf in self.all_leaves(&state, here, Some((&passage, precision))) {
                let AbstractState::Running(next) = leaf.state else { return None };
                if self.store.depth(next.calls) < floor {
                    if next.calls != from.calls || next.control.pc != from.control.pc {
                        return None;
                    }
                    if !ends.contains(&next) {
                        ends.push(next);
                    }
                    continue;
                }
                let arriving = precision.arriving(&state, &self.location(&leaf.state));
                let next = self.decay(leaf.state, arriving);
                let number = *numbers.entry(next).or_insert_with(|| {
                    states.push(next);
                    states.len() - 1
                });
                targets.push(number);
            }
            edges.push(targets);
        }
        // SOUND: from inside a handler with several ends not all of them need be reached.
        let is_told_apart = self.branches && ends.len() > 1 && !faulty(Fault::ManyEnds);
        (!ends.is_empty() && ends_always(&edges) && !is_told_apart).then_some(ends)
    }

    /// The states in which the interrupted code has gone on, after what a handler came to that was entered from one state by
    /// way of another one.
    fn returned(
        &mut self,
        (from, first): (&Running, &Running),
        passed: &Passed,
        passage: &Passage<'_>,
        precision: &dyn Lookup<Self>,
    ) -> Vec<AbstractState> {
        let outcomes = if faulty(Fault::FirstOutcomeOnly) { &passed.outcomes[..1] } else { &passed.outcomes[..] };
        let mut states = Vec::new();
        for outcome in outcomes {
            // SOUND: what the entry itself did stays: flags that it acknowledged or set, and enable bits that it cleared.
            let entered = if faulty(Fault::EntryForgotten) || is_on(fault::Fault::EntryForgotten) {
                *from
            } else {
                Running { calls: from.calls, ..*first }
            };
            self.workspace.load(&self.store, &entered);
            for cell in self.processor().into_iter().flatten() {
                self.workspace.state.data.set(cell, self.store.cell(from.memory, cell));
            }
            let pointer = self.forgetting.whole_pointer(&self.workspace.state).unwrap_or(passed.lowest);
            let data = &mut self.workspace.state.data;
            let garbage = (passed.lowest + 1..=pointer).filter(|cell| self.machine.sram().contains(cell));
            let changes = outcome.cells.iter().copied().chain(garbage.map(|cell| (cell, TvByte::UNKNOWN)));
            for (cell, value) in changes {
                if *data.get(cell) != value {
                    data.set(cell, value);
                }
            }
            self.workspace.state.control = Control { pc: from.control.pc, ..outcome.control };
            let state = self.pass(outcome.postponed, passage.clone(), precision);
            states.extend(state.filter(|state| !states.contains(state)));
        }
        states
    }

    /// Whether a neutral handler gives a cell back as it was: a register, SREG, or SP.
    fn is_given_back(&self, cell: u16) -> bool {
        cell < 32 || self.processor().contains(&Some(cell))
    }

    /// The data addresses of SP and SREG.
    fn processor(&self) -> [Option<u16>; 3] {
        let (low, high) = self.machine.stack_pointer_addresses();
        [Some(low), high, Some(self.machine.status_address())]
    }

    /// Whether a step from one state entered the handler in which another is.
    pub(crate) fn has_entered(&self, from: &AbstractState, to: &AbstractState) -> bool {
        let (AbstractState::Running(from), AbstractState::Running(to)) = (from, to) else { return false };
        let youngest = self.store.pop_call(to.calls);
        youngest.is_some_and(|(below, frame)| below == from.calls && matches!(frame.kind, FrameKind::Interrupt(_)))
    }

    /// The ways through a handler, step by step, from its first state to states that another one covers.
    pub(crate) fn ways_through(
        &mut self,
        first: AbstractState,
        to: &AbstractState,
        precision: &dyn Lookup<Self>,
    ) -> Vec<(Vec<AbstractState>, AbstractState)> {
        let ways = self.ways_forgetting(first, to, precision, true);
        // Its locations may have dropped more since the handler was passed.
        if ways.is_empty() { self.ways_forgetting(first, to, precision, false) } else { ways }
    }

    /// The same where states forget on the way what their locations drop, or nothing.
    fn ways_forgetting(
        &mut self,
        first: AbstractState,
        to: &AbstractState,
        precision: &dyn Lookup<Self>,
        forgets: bool,
    ) -> Vec<(Vec<AbstractState>, AbstractState)> {
        let AbstractState::Running(running) = first else { return Vec::new() };
        let floor = self.store.depth(running.calls);
        let (mut before, mut waiting) = (FxHashMap::default(), vec![first]);
        let (mut ways, mut seen) = (Vec::new(), FxHashSet::from_iter([first]));
        while let Some(state) = waiting.pop() {
            for leaf in self.leaves(&state, precision.leaving(&state, &self.location(&state))) {
                let AbstractState::Running(next) = leaf.state else { continue };
                let arriving = precision.arriving(&state, &self.location(&leaf.state));
                let is_end = self.store.depth(next.calls) < floor;
                let next = if is_end || !forgets { leaf.state } else { self.decay(leaf.state, arriving) };
                if seen.len() > MAX_STEPS || !seen.insert(next) {
                    continue;
                }
                before.insert(next, state);
                if !is_end {
                    waiting.push(next);
                } else if let Some((rest, last)) = self.way(next, to, precision) {
                    let back = std::iter::successors(Some(state), |state| before.get(state).copied());
                    let mut way: Vec<_> = back.collect();
                    way.reverse();
                    way.extend(rest);
                    ways.push((way, last));
                }
            }
        }
        ways
    }
}

/// Whether every path ends.
fn ends_always(edges: &[Vec<usize>]) -> bool {
    let mut leading = vec![0usize; edges.len()];
    edges.iter().flatten().for_each(|target| leading[*target] += 1);
    let mut free: Vec<usize> = (0..edges.len()).filter(|state| leading[*state] == 0).collect();
    let mut ended = 0;
    while let Some(state) = free.pop() {
        ended += 1;
        for target in &edges[state] {
            leading[*target] -= 1;
            if leading[*target] == 0 {
                free.push(*target);
            }
        }
    }
    ended == edges.len()
}
