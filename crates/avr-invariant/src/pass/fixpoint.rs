//! Iteration to a map that is closed: chaotic, with widening, and then one narrowing round.

use avr_isa::{DataAddress, Register};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use avr_machine::Machine;
use rustc_hash::FxHashMap;
use three_valued::TvByte;

use super::Options;
use super::nesting::Nesting;
use super::partition::{Part, Partition};
use super::widening::Thresholds;
use crate::faults::{Fault, is_on};
use crate::gap::{Gap, Reason};
use crate::handler::Interrupt;
use crate::map::{CallStrings, Entry, Exit, Map, Place, State, Thread};
use crate::memory::Store;
use crate::step::{Outcome, Start, Stepper};

/// A state at the head of a loop, or with which a handler begins, is widened from so many changes on, and any other from so many.
const WIDENED_FROM: [u32; 2] = [3, 30];

/// The cells below the stack pointer that are forgotten where a handler begins, if it is not known where data lie.
const BELOW: u16 = 0x20;

/// The steps between two looks at limits.
const STEPS_PER_LOOK: usize = 1 << 8;

/// A state that is growing.
struct Node {
    place: Place,
    state: State,
    changes: u32,
    /// The times that cells were widened.
    widened: FxHashMap<DataAddress, u8>,
    is_queued: bool,
}

/// The growing returns of handlers.
#[derive(Default)]
struct Exits {
    list: Vec<Exit>,
    of: FxHashMap<Thread, Vec<u32>>,
}

impl Exits {
    /// Those of one handler.
    fn of(&self, thread: Thread) -> impl Iterator<Item = &Exit> {
        self.of.get(&thread).into_iter().flatten().map(|number| &self.list[*number as usize])
    }
}

/// The order in which states are stepped: the main program first, deep calls before what is behind them, and along the code.
type Turn = Reverse<(bool, Reverse<usize>, u32, u32)>;

/// The work.
pub(crate) struct Fixpoint<'a> {
    machine: &'a Machine,
    start: Start<'a>,
    options: Options,
    thresholds: Thresholds,
    partition: Partition<'a>,
    stepper: Stepper<'a>,
    store: Store,
    calls: CallStrings,
    nodes: Vec<Node>,
    index: FxHashMap<(Place, Part), u32>,
    exits: Exits,
    nesting: Nesting,
    /// The states from which each handler begins.
    interrupted: FxHashMap<Thread, BTreeSet<u32>>,
    /// The handlers that return in more ways than what they interrupted was told.
    grown: BTreeSet<Thread>,
    queue: BinaryHeap<Turn>,
    is_widened: bool,
    steps: usize,
    is_cancelled: &'a dyn Fn() -> bool,
}

impl<'a> Fixpoint<'a> {
    pub(crate) fn new(
        machine: &'a Machine,
        start: Start<'a>,
        options: Options,
        is_cancelled: &'a dyn Fn() -> bool,
    ) -> Self {
        Self {
            machine,
            start,
            options,
            thresholds: Thresholds::new(&machine.program),
            partition: Partition::new(machine, options),
            stepper: Stepper::new(machine),
            store: Store::default(),
            calls: CallStrings::default(),
            nodes: Vec::new(),
            index: FxHashMap::default(),
            exits: Exits::default(),
            nesting: Nesting::default(),
            interrupted: FxHashMap::default(),
            grown: BTreeSet::new(),
            queue: BinaryHeap::new(),
            is_widened: false,
            steps: 0,
            is_cancelled,
        }
    }

    /// The map as far as it was made.
    pub(crate) fn into_map(self) -> Map {
        let entries = self.nodes.into_iter().map(|node| Entry { place: node.place, state: node.state }).collect();
        Map { store: self.store, calls: self.calls, entries, exits: self.exits.list }
    }

    /// The number of states from which all steps were taken, counting repetitions.
    pub(crate) fn steps(&self) -> usize {
        self.steps
    }

    /// Follows everything from the start.
    pub(crate) fn run(&mut self) -> Result<(), Gap> {
        self.begin()?;
        self.close()
    }

    fn begin(&mut self) -> Result<(), Gap> {
        for outcome in self.stepper.start(self.start, &mut self.store, &mut self.calls) {
            match outcome {
                Outcome::To(place, state) => self.reach(place, state, false)?,
                Outcome::Gap(reason) => return Err(Gap::whole(reason)),
                Outcome::Interrupt(_) | Outcome::Return(_) | Outcome::Mark(_) => {}
            }
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), Gap> {
        loop {
            while let Some(Reverse((.., number))) = self.queue.pop() {
                self.nodes[number as usize].is_queued = false;
                self.follow(number)?;
            }
            // What is interrupted goes on with all that handlers are found to leave behind.
            let grown = std::mem::take(&mut self.grown);
            if grown.is_empty() {
                return Ok(());
            }
            for thread in grown {
                let interrupted = self.interrupted.get(&thread).cloned().unwrap_or_default();
                interrupted.into_iter().for_each(|number| self.enqueue(number));
            }
        }
    }

    /// Replaces each state by the join of what leads to it, and closes the map again: widening goes too far.
    pub(crate) fn narrow(&mut self) -> Result<(), Gap> {
        if !self.is_widened {
            return Ok(());
        }
        let nodes = std::mem::take(&mut self.nodes);
        let exits = std::mem::take(&mut self.exits);
        self.index.clear();
        self.interrupted.clear();
        self.partition.clear();
        self.begin()?;
        for node in nodes {
            self.follow_from(node.place, node.state, None, Some(&exits))?;
        }
        self.close()
    }

    /// Takes all steps from a state.
    fn follow(&mut self, number: u32) -> Result<(), Gap> {
        let Node { place, state, .. } = &self.nodes[number as usize];
        let (place, state) = (*place, state.clone());
        self.follow_from(place, state, Some(number), None)
    }

    /// Takes all steps from a state. Handlers return as they are found to do, or as they were found to do before.
    fn follow_from(&mut self, place: Place, state: State, number: Option<u32>, old: Option<&Exits>) -> Result<(), Gap> {
        self.steps += 1;
        if self.steps > self.options.steps {
            return Err(Gap::at(&place, Reason::TooManySteps(self.options.steps)));
        }
        if self.steps.is_multiple_of(STEPS_PER_LOOK) && (self.is_cancelled)() {
            return Err(Gap::whole(Reason::Cancelled));
        }
        let outcomes = self.stepper.outcomes(&place, &state, &mut self.store, &mut self.calls);
        for outcome in outcomes {
            match outcome {
                Outcome::To(to, after) => {
                    let is_back = to.calls == place.calls && to.control.pc <= place.control.pc;
                    self.reach(to, after, is_back)?;
                }
                Outcome::Interrupt(interrupt) => {
                    let thread = interrupt.place.thread;
                    let is_new = !self.interrupted.contains_key(&thread);
                    self.nesting.note(place.thread, thread).map_err(|cycle| Gap::at(&place, Reason::Nested(cycle)))?;
                    let from = self.interrupted.entry(thread).or_default();
                    from.extend(number);
                    if is_new || !is_on(Fault::FirstMemoryOnly) {
                        let beginning = self.forgetting(&interrupt);
                        self.reach(interrupt.place, beginning, true)?;
                    }
                    let exits: Vec<Exit> = old.unwrap_or(&self.exits).of(thread).cloned().collect();
                    for exit in exits {
                        let (to, after) = interrupt.resumed(self.machine, (&place, &state), &exit, &mut self.store);
                        self.reach(to, after, false)?;
                    }
                }
                Outcome::Return(exit) => self.returns(exit),
                Outcome::Mark(_) => {}
                Outcome::Gap(_) if is_on(Fault::GapsForgotten) => {}
                Outcome::Gap(reason) => return Err(Gap::at(&place, reason)),
            }
        }
        Ok(())
    }

    /// The beginning of a handler without what handlers do not look at.
    fn forgetting(&mut self, interrupt: &Interrupt) -> State {
        let State { memory, equalities } = interrupt.beginning();
        let Thread::Handler { pointer, .. } = interrupt.place.thread else { return State { memory, equalities } };
        let status = self.machine.status_address();
        let lowest = self.machine.options().static_data_end.unwrap_or(pointer.saturating_sub(BELOW));
        let stack = lowest.max(self.machine.sram().start)..self.machine.sram().end;
        let registers = Register::all().map(|register| (register.address(), TvByte::UNKNOWN));
        let flags = (status, TvByte::new(0, 0x80).meet(self.store.cell(&memory, status)));
        let kept = flags.1.map(|_| (status, TvByte::new(0, 0x80)));
        let cells: Vec<(DataAddress, TvByte)> =
            registers.chain(kept).chain(stack.start.until(stack.end).map(|cell| (cell, TvByte::UNKNOWN))).collect();
        State { memory: self.store.overwrite(&memory, &cells), equalities }
    }

    /// Adds a state to those of a place.
    fn reach(&mut self, place: Place, state: State, is_head: bool) -> Result<(), Gap> {
        let key = (place, self.partition.part(&place, &state, &self.store));
        let silence = place.thread.silence();
        let Some(number) = self.index.get(&key).copied() else {
            if self.nodes.len() >= self.options.states {
                return Err(Gap::at(&place, Reason::TooManyStates(self.options.states)));
            }
            if self.calls.frames(place.calls).len() > self.options.calls {
                return Err(Gap::at(&place, Reason::TooManyCalls(self.options.calls)));
            }
            let number = self.nodes.len() as u32;
            self.nodes.push(Node { place, state, changes: 0, widened: FxHashMap::default(), is_queued: false });
            self.index.insert(key, number);
            self.partition.add(&place);
            self.enqueue(number);
            return Ok(());
        };
        let node = &mut self.nodes[number as usize];
        if node.state.covers(&state, silence, &self.store) {
            return Ok(());
        }
        let joined = node.state.join(&state, silence, &mut self.store);
        // What comes together before the next step from the state is no growth.
        node.changes += u32::from(!node.is_queued);
        let is_widened = !node.is_queued && node.changes >= WIDENED_FROM[usize::from(!is_head)];
        self.is_widened |= is_widened;
        let (thresholds, widened, status) = (&self.thresholds, &mut node.widened, self.machine.status_address());
        let mut grown = |cell: DataAddress, old: TvByte, new: TvByte| {
            if old == new {
                return new;
            }
            if cell == status {
                // Flags are no number: what the range of one tells of I would be lost with the range.
                return TvByte::new(new.value(), new.known_mask());
            }
            let times = widened.entry(cell).or_default();
            *times = times.saturating_add(1);
            thresholds.widened(*times, old, new)
        };
        node.state = match is_widened {
            true => State {
                memory: self.store.merge(&node.state.memory, &joined.memory, &mut grown),
                equalities: joined.equalities,
            },
            false => joined,
        };
        self.enqueue(number);
        Ok(())
    }

    /// Adds a return to those of a handler.
    fn returns(&mut self, exit: Exit) {
        let thread = exit.thread;
        let silence = thread.silence();
        let Exits { list, of } = &mut self.exits;
        let numbers = of.entry(thread).or_default();
        match numbers.iter().copied().find(|one| list[*one as usize].control == exit.control) {
            None => {
                numbers.push(list.len() as u32);
                list.push(exit);
            }
            Some(number) => {
                let before = &mut list[number as usize];
                if before.state.covers(&exit.state, silence, &self.store) {
                    return;
                }
                before.state = before.state.join(&exit.state, silence, &mut self.store);
            }
        }
        self.grown.insert(thread);
    }

    fn enqueue(&mut self, number: u32) {
        let node = &mut self.nodes[number as usize];
        if !std::mem::replace(&mut node.is_queued, true) {
            let depth = self.calls.frames(node.place.calls).len();
            let is_handler = node.place.thread != Thread::Main;
            self.queue.push(Reverse((is_handler, Reverse(depth), node.place.control.pc.0, number)));
        }
    }
}
