//! Iteration to a map that is closed: chaotic, with widening, and then one narrowing round.

use avr_isa::{Addressing, ControlFlow, DataAddress, FlashWordAddress, MemoryAccess, Register};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use avr_machine::{Fetched, FrameKind, Limit, Machine};
use rustc_hash::{FxHashMap, FxHashSet};
use three_valued::TvByte;

use super::analysis::Options;
use super::contexts::{Context, Contexts};
use super::hints::Hints;
use super::join::{Kept, joined};
use super::nesting::{MOST_ACTIVE, Nesting};
use super::partition::{Part, Partition, Told};
use super::slice::{Touched, accessed};
use super::trace::Trace;
use super::widening::Thresholds;
use super::widening_numbers::{Numbers, widened_ranges};
use super::work::Work;
use crate::check::MOST_CASES;
use crate::equalities::Value;
use crate::equations::{Differing, Equations};
use crate::faults::{Fault, is_on};
use crate::gap::{Gap, Reason};
use crate::handler::Interrupt;
use crate::intervals::{Range, Ranges};
use crate::map::{CallStrings, Entry, Exit, Map, Place, State, Thread};
use crate::memory::Store;
use crate::step::{Outcome, Start, Stepper};

/// A state at the head of a loop, or with which a handler begins, is widened from so many changes on, and any other from so many.
const WIDENED_FROM: [u32; 2] = [3, 30];

/// The cells below the stack pointer that are forgotten where a handler begins, if it is not known where data lie.
const BELOW: u16 = 0x20;

/// So many steps count as eight growths of each byte: counters of several bytes grow one byte after the other, and every growth lets handlers and what
/// they interrupt take their steps again.
const STEPS_PER_STAGE: usize = 5_000;

/// The most growths that steps count as in further attempts: bytes go on stopping at bounds, so that an index which grows once in a long round of
/// the main loop stays below what it is compared with.
const MOST_HASTE: u8 = 12;

/// The steps between two looks at limits.
const STEPS_PER_LOOK: usize = 1 << 8;

/// The least steps that are taken behind the first state that cannot be followed.
const STEPS_BEHIND_GAPS: usize = 2_000;

/// The most targets of a jump that are followed where partitions are looked for.
const MOST_TRUSTED: usize = 16;

/// The way on which a state comes to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    /// Along the code, or behind a handler.
    On,
    /// To an instruction that is not behind the one that it comes from.
    Back,
    /// By a call or a return.
    Call,
    /// Into a handler.
    Handler,
}

/// A state that is growing.
struct Node {
    place: Place,
    context: Context,
    state: State,
    changes: u32,
    /// The times that cells were widened.
    widened: FxHashMap<DataAddress, u8>,
    /// The times that ranges of numbers were.
    grown: FxHashMap<Box<[Value]>, u8>,
    is_queued: bool,
}

/// The growing returns of handlers.
#[derive(Default)]
struct Exits {
    list: Vec<Exit>,
    /// What tells each one apart.
    told: Vec<Told>,
    of: FxHashMap<Thread, Vec<u32>>,
}

impl Exits {
    /// Those of one handler.
    fn of(&self, thread: Thread) -> impl Iterator<Item = &Exit> {
        self.of.get(&thread).into_iter().flatten().map(|number| &self.list[*number as usize])
    }
}

/// The order in which states are stepped: handlers or the main program first, deep calls before what is behind them, and along the code.
type Turn = Reverse<(bool, Reverse<usize>, u32, u32)>;

/// The work.
pub(crate) struct Fixpoint<'a> {
    machine: &'a Machine,
    start: Start<'a>,
    options: Options,
    thresholds: Thresholds,
    numbers: Numbers,
    partition: Partition<'a>,
    stepper: Stepper<'a>,
    store: Store,
    calls: CallStrings,
    contexts: Contexts,
    nodes: Vec<Node>,
    index: FxHashMap<(Place, Part), u32>,
    exits: Exits,
    nesting: Nesting,
    /// The states from which each handler begins.
    interrupted: FxHashMap<Thread, BTreeSet<u32>>,
    /// The handlers that return in more ways than what they interrupted was told.
    grown: BTreeSet<Thread>,
    queue: BinaryHeap<Turn>,
    trace: Trace,
    /// The cells that numbers with ranges consist of.
    ranged: FxHashSet<DataAddress>,
    /// True if handlers are followed before what they interrupt: while few states are interrupted, few take their steps again with what handlers leave behind.
    are_handlers_first: bool,
    /// True if a jump to too many addresses is not followed.
    is_strict: bool,
    /// The first state that cannot be followed, and the steps until which the others are.
    gap: Option<(Gap, usize)>,
    is_widened: bool,
    work: Work,
    is_cancelled: &'a dyn Fn() -> bool,
}

impl<'a> Fixpoint<'a> {
    pub(crate) fn new(
        machine: &'a Machine,
        start: Start<'a>,
        (options, hints): (Options, &'a Hints),
        is_cancelled: &'a dyn Fn() -> bool,
    ) -> Self {
        Self {
            machine,
            start,
            options,
            thresholds: Thresholds::new(&machine.program),
            numbers: Numbers::new(&machine.program),
            partition: Partition::new(machine, (options, hints)),
            stepper: Stepper::new(machine),
            store: Store::default(),
            calls: CallStrings::default(),
            contexts: Contexts::default(),
            nodes: Vec::new(),
            index: FxHashMap::default(),
            exits: Exits::default(),
            nesting: Nesting::default(),
            interrupted: FxHashMap::default(),
            grown: BTreeSet::new(),
            queue: BinaryHeap::new(),
            trace: Trace::default(),
            ranged: FxHashSet::default(),
            are_handlers_first: *hints == Hints::default(),
            is_strict: false,
            gap: None,
            is_widened: false,
            work: Work::default(),
            is_cancelled,
        }
    }

    /// The map as far as it was made.
    pub(crate) fn into_map(self) -> Map {
        let entries = self.nodes.into_iter().map(|node| Entry { place: node.place, state: node.state }).collect();
        Map { store: self.store, calls: self.calls, entries, exits: self.exits.list }
    }

    /// The steps and joins so far.
    pub(crate) fn take_trace(&mut self) -> Trace {
        std::mem::take(&mut self.trace)
    }

    /// The states so far.
    pub(crate) fn states(&self) -> impl Iterator<Item = (&Place, &State)> {
        self.nodes.iter().map(|node| (&node.place, &node.state))
    }

    /// The content of a cell in a state.
    pub(crate) fn cell(&self, state: &State, cell: DataAddress) -> TvByte {
        self.store.cell(&state.memory, cell)
    }

    /// The cells that instructions read or write in memory.
    pub(crate) fn touched(&self) -> Touched {
        let mut touched = Touched::new();
        for Node { place, state, .. } in &self.nodes {
            let pc = place.control.pc;
            let Fetched::Instruction { instruction, .. } = self.machine.program.fetch(pc) else { continue };
            let access = instruction.memory_access();
            let of = |low: DataAddress, high: DataAddress| {
                let [low, high] = [self.cell(state, low), self.cell(state, high)];
                let word = |low: u8, high: u8| DataAddress(u16::from_le_bytes([low, high]));
                Some((accessed(access, word(low.low(), high.low())), accessed(access, word(low.high(), high.high()))))
            };
            let cells = match access {
                MemoryAccess::Load(Addressing::Direct(cell)) | MemoryAccess::Store(Addressing::Direct(cell)) => {
                    Some((cell, cell))
                }
                MemoryAccess::Load(Addressing::Indirect { pointer, .. })
                | MemoryAccess::Store(Addressing::Indirect { pointer, .. }) => {
                    of(pointer.low().address(), pointer.high().address())
                }
                MemoryAccess::LoadIo { address }
                | MemoryAccess::StoreIo { address }
                | MemoryAccess::LoadIoBit { address, .. }
                | MemoryAccess::StoreIoBit { address, .. } => Some((address, address)),
                MemoryAccess::Push | MemoryAccess::Pop | MemoryAccess::PopReturnAddress => {
                    let low = |cell: DataAddress| Some(self.cell(state, cell).low());
                    let pointer = self.machine.stack_pointer().value(low).map(|pointer| accessed(access, pointer));
                    pointer.map(|cell| (cell, cell))
                }
                _ => None,
            };
            let Some((first, last)) = cells else { continue };
            let all = touched.entry(pc).or_insert((first, last));
            *all = (all.0.min(first), all.1.max(last));
        }
        touched
    }

    /// Takes note of the registers that hold one of a few values.
    pub(crate) fn note_few(&mut self) {
        for node in &self.nodes {
            let few = Register::all().map(Register::address).filter(|cell| {
                let byte = self.store.cell(&node.state.memory, *cell);
                byte.known().is_none() && byte.count() <= MOST_CASES
            });
            let pc = node.place.control.pc;
            self.trace.few.extend(few.map(|cell| (pc, cell)));
        }
    }

    /// The cells before instructions that have too many contents to be told apart.
    pub(crate) fn abounding(&self) -> BTreeSet<(FlashWordAddress, DataAddress)> {
        self.partition.abounding().collect()
    }

    /// Ends a path at a jump to too many addresses.
    pub(crate) fn mistrust(&mut self) {
        self.is_strict = true;
    }

    /// The work so far. Its steps are the states from which all steps were taken, counting repetitions.
    pub(crate) fn work(&self) -> &Work {
        &self.work
    }

    /// Follows everything from the start.
    pub(crate) fn run(&mut self) -> Result<(), Gap> {
        self.begin()?;
        self.close()?;
        self.gap.take().map_or(Ok(()), |(gap, _)| Err(gap))
    }

    fn begin(&mut self) -> Result<(), Gap> {
        for outcome in self.stepper.start(self.start, &mut self.store, &mut self.calls) {
            match outcome {
                Outcome::To(place, state) => self.reach((place, Context::NONE), state, Arrival::On)?,
                Outcome::Gap(reason) => return Err(Gap::whole(reason)),
                Outcome::Interrupt(_) | Outcome::Return(_) | Outcome::Mark(_) => {}
            }
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), Gap> {
        loop {
            // Handlers with many returns make each step of what they interrupt a long one.
            let is_turn = self.queue.peek().is_none_or(|Reverse((is_last, ..))| *is_last && self.are_handlers_first);
            if is_turn && !self.grown.is_empty() {
                // Interrupted states go on with all that handlers are found to leave behind.
                for thread in std::mem::take(&mut self.grown) {
                    let interrupted = self.interrupted.get(&thread).cloned().unwrap_or_default();
                    interrupted.into_iter().for_each(|number| self.enqueue(number));
                }
            }
            let Some(Reverse((.., number))) = self.queue.pop() else { return Ok(()) };
            self.nodes[number as usize].is_queued = false;
            self.follow(number)?;
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
            self.follow_from((node.place, node.context), node.state, None, Some(&exits))?;
        }
        self.close()
    }

    /// Takes all steps from a state.
    fn follow(&mut self, number: u32) -> Result<(), Gap> {
        let Node { place, context, state, .. } = &self.nodes[number as usize];
        let (begin, state) = ((*place, *context), state.clone());
        self.follow_from(begin, state, Some(number), None)
    }

    /// Takes all steps from a state. Handlers return as they are found to do, or as they were found to do before.
    fn follow_from(
        &mut self,
        (place, context): (Place, Context),
        state: State,
        number: Option<u32>,
        old: Option<&Exits>,
    ) -> Result<(), Gap> {
        self.work.step();
        if self.work.is_too_much(&self.options) {
            return Err(Gap::at(&place, Reason::TooManySteps(self.options.steps)));
        }
        if self.work.steps().is_multiple_of(STEPS_PER_LOOK) && (self.is_cancelled)() {
            return Err(Gap::whole(Reason::Cancelled));
        }
        let outcomes = self.stepper.outcomes(&place, &state, &mut self.store, &mut self.calls);
        self.work.follow(self.stepper.cases(), state.equations.list().len());
        if self.is_strict && self.is_wild(&place, &outcomes) {
            return self.fail(Gap::at(&place, Reason::Limit(Limit::UnknownTarget)));
        }
        for outcome in outcomes {
            match outcome {
                Outcome::To(to, after) => {
                    self.trace.ways.insert((place.control.pc, to.control.pc));
                    let arrival = match to.calls == place.calls {
                        false => Arrival::Call,
                        true if to.control.pc <= place.control.pc => Arrival::Back,
                        true => Arrival::On,
                    };
                    let context = self.context_behind((&place, context), (&to, &after));
                    self.reach((to, context), after, arrival)?;
                }
                Outcome::Interrupt(interrupt) => {
                    let thread = interrupt.place.thread;
                    if let Thread::Handler { interrupt: number, .. } = thread {
                        self.trace.begins.insert((place.control.pc, interrupt.place.control.pc, number));
                    }
                    let is_new = !self.interrupted.contains_key(&thread);
                    self.nesting
                        .note(place.thread, thread)
                        .map_err(|cycle| Gap::at(&place, Reason::Nested(cycle, MOST_ACTIVE)))?;
                    let from = self.interrupted.entry(thread).or_default();
                    from.extend(number);
                    if is_new || !is_on(Fault::FirstMemoryOnly) {
                        let beginning = self.forgetting(&interrupt);
                        self.reach((interrupt.place, Context::NONE), beginning, Arrival::Handler)?;
                    }
                    let exits: Vec<Exit> = old.unwrap_or(&self.exits).of(thread).cloned().collect();
                    for exit in exits {
                        let resumed = interrupt.resumed(self.machine, (&place, &state), &exit, &mut self.store);
                        resumed.map_or(Ok(()), |(to, after)| self.reach((to, context), after, Arrival::On))?;
                    }
                }
                Outcome::Return(exit) => self.returns(&place, exit),
                Outcome::Mark(_) => {}
                Outcome::Gap(_) if is_on(Fault::GapsForgotten) => {}
                Outcome::Gap(Reason::LeftFrame) => self.fail(self.left_frame(&place))?,
                Outcome::Gap(reason) => self.fail(Gap::at(&place, reason))?,
            }
        }
        Ok(())
    }

    /// The context behind a step.
    fn context_behind(&mut self, (from, context): (&Place, Context), (to, after): (&Place, &State)) -> Context {
        if from.calls == to.calls {
            return context;
        }
        let [before, frames] = [from, to].map(|place| self.calls.frames(place.calls));
        if frames.len() > before.len() {
            let known = self.partition.known_pointers(frames, to.control.pc, after, &self.store);
            return self.contexts.called(context, to.control.pc, known);
        }
        self.contexts.returned(context, before.len() - frames.len())
    }

    /// The gap where a handler leaves its return address: the call of the start-up code, if that is how it came there.
    fn left_frame(&self, place: &Place) -> Gap {
        let last = self.calls.frames(place.calls).last().filter(|frame| frame.kind == FrameKind::Call);
        let call = last.map(|frame| frame.return_address.wrapping_sub(1)).filter(|call| {
            let flow = self.machine.program.control_flow(*call);
            matches!(flow, Some(ControlFlow::IndirectCall { .. }))
                && self.trace.ways.contains(&(*call, FlashWordAddress(0)))
        });
        call.map_or(Gap::at(place, Reason::LeftFrame), |call| Gap {
            at: Some((place.thread, call.byte())),
            reason: Reason::NullCall,
        })
    }

    /// Takes note of a state that cannot be followed. The others are, for a while, if partitions are to be found from them.
    fn fail(&mut self, gap: Gap) -> Result<(), Gap> {
        if !self.is_strict {
            return Err(gap);
        }
        let steps = self.work.steps();
        let until = steps + steps.max(STEPS_BEHIND_GAPS);
        let (first, until) = self.gap.get_or_insert((gap, until));
        if steps < *until { Ok(()) } else { Err(first.clone()) }
    }

    /// True if a jump goes to many addresses.
    fn is_wild(&self, place: &Place, outcomes: &[Outcome]) -> bool {
        let flow = self.machine.program.control_flow(place.control.pc);
        let is_indirect = matches!(flow, Some(ControlFlow::IndirectJump | ControlFlow::IndirectCall { .. }));
        is_indirect && outcomes.iter().filter(|outcome| matches!(outcome, Outcome::To(..))).count() > MOST_TRUSTED
    }

    /// The beginning of a handler without what handlers do not look at.
    fn forgetting(&mut self, interrupt: &Interrupt) -> State {
        let begun = interrupt.beginning();
        let Thread::Handler { pointer, .. } = interrupt.place.thread else { return begun };
        let status = self.machine.status_address();
        let lowest = self.machine.options().static_data_end.unwrap_or(pointer.saturating_sub(BELOW));
        let stack = lowest.max(self.machine.sram().start)..self.machine.sram().end;
        let registers = Register::all().map(|register| (register.address(), TvByte::UNKNOWN));
        let flags = (status, TvByte::new(0, 0x80).meet(self.store.cell(&begun.memory, status)));
        let kept = flags.1.map(|_| (status, TvByte::new(0, 0x80)));
        let cells: Vec<(DataAddress, TvByte)> =
            registers.chain(kept).chain(stack.start.until(stack.end).map(|cell| (cell, TvByte::UNKNOWN))).collect();
        let is_kept = |value: &Value| match value {
            Value::Of(cell) | Value::Entry(cell) => cells.iter().all(|(forgotten, _)| forgotten != cell),
            Value::Result(_) => false,
        };
        let ranges = begun.ranges.list().iter().filter(|range| range.bytes.iter().all(is_kept));
        let ranges = Ranges::new(ranges.map(Range::without_carry).collect());
        State { memory: self.store.overwrite(&begun.memory, &cells), ranges, ..begun }
    }

    /// Adds a state to those of a place, in as many cases as some cells have values.
    fn reach(&mut self, (place, context): (Place, Context), state: State, arrival: Arrival) -> Result<(), Gap> {
        let mut cases = vec![state];
        for (cell, byte) in self.partition.few(place.control.pc, &cases[0], &self.store) {
            let store = &mut self.store;
            let split = cases.iter().flat_map(|state| byte.concretisations().map(move |value| (state, value)));
            cases = split.map(|(state, value)| state.with(cell, TvByte::constant(value), store)).collect();
        }
        cases.into_iter().try_for_each(|state| self.reach_case((place, context), state, arrival))
    }

    /// Adds a state to those of a place.
    fn reach_case(&mut self, (place, context): (Place, Context), state: State, arrival: Arrival) -> Result<(), Gap> {
        self.work.reach();
        let has_equations = self.is_strict || self.options.equations_at_once;
        let state = if has_equations { state } else { State { equations: Equations::default(), ..state } };
        let frames = self.calls.frames(place.calls);
        let key = (place, self.partition.part(&place, (frames, context), &state, &self.store));
        let Some(number) = self.index.get(&key).copied() else {
            if self.nodes.len() >= self.options.states {
                return Err(Gap::at(&place, Reason::TooManyStates(self.options.states)));
            }
            if self.calls.frames(place.calls).len() > self.options.calls {
                return Err(Gap::at(&place, Reason::TooManyCalls(self.options.calls)));
            }
            let number = self.nodes.len() as u32;
            self.nodes.push(Node {
                place,
                context,
                state,
                changes: 0,
                widened: FxHashMap::default(),
                grown: FxHashMap::default(),
                is_queued: false,
            });
            self.index.insert(key, number);
            self.partition.add(&place);
            self.enqueue(number);
            return Ok(());
        };
        self.grow(number, &place, &state, (arrival, has_equations));
        Ok(())
    }

    /// Lets a state grow until it stands for another one of its place as well.
    fn grow(&mut self, number: u32, place: &Place, state: &State, (arrival, has_equations): (Arrival, bool)) {
        let silence = place.thread.silence();
        self.note_numbers(state);
        let kept = if self.is_strict { Kept::All } else { Kept::Of(&self.ranged) };
        let haste = u8::try_from(self.work.steps() / STEPS_PER_STAGE * 8).unwrap_or(u8::MAX);
        let haste = if self.is_strict { haste.min(MOST_HASTE) } else { haste };
        let node = &mut self.nodes[number as usize];
        if node.state.covers(state, silence, &self.store) {
            return;
        }
        let mut lost = Vec::new();
        let is_head = matches!(arrival, Arrival::Back | Arrival::Handler);
        // Numbers that are counted together differ where the rounds of a loop come together, or the calls in them.
        let differing = match arrival {
            Arrival::Back | Arrival::Call if has_equations => Differing::Registers,
            _ => Differing::None,
        };
        let joined = joined((&node.state, state), (kept, differing), silence, (&mut self.store, &mut lost));
        if !lost.is_empty() {
            self.trace.lost.entry(place.control.pc).or_default().extend(lost);
        }
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
            thresholds.widened(times.saturating_add(haste), old, new)
        };
        node.state = match is_widened {
            true => {
                let memory = self.store.merge(&node.state.memory, &joined.memory, &mut grown);
                let numbers = (&self.numbers, &mut node.grown, haste / 2);
                let ranges = widened_ranges(&node.state, &joined, numbers, silence, &self.store);
                State { memory, ranges, ..joined }
            }
            false => joined,
        };
        self.enqueue(number);
    }

    /// Adds a return to those of a handler.
    fn returns(&mut self, from: &Place, exit: Exit) {
        let thread = exit.thread;
        let silence = thread.silence();
        let pc = from.control.pc;
        if let Thread::Handler { interrupt, .. } = thread {
            self.trace.ends.insert((interrupt, pc));
        }
        let kept = if self.is_strict { Kept::All } else { Kept::Of(&self.ranged) };
        let told = self.partition.told(pc, |cell| self.store.cell(&exit.state.memory, cell));
        let Exits { list, told: all, of } = &mut self.exits;
        let numbers = of.entry(thread).or_default();
        let is_same = |one: &&u32| list[**one as usize].control == exit.control && all[**one as usize] == told;
        match numbers.iter().find(is_same).copied() {
            None => {
                numbers.push(list.len() as u32);
                list.push(exit);
                all.push(told);
            }
            Some(number) => {
                let before = &mut list[number as usize];
                if before.state.covers(&exit.state, silence, &self.store) {
                    return;
                }
                let mut lost = Vec::new();
                before.state = joined(
                    (&before.state, &exit.state),
                    (kept, Differing::None),
                    silence,
                    (&mut self.store, &mut lost),
                );
                self.trace.lost.entry(pc).or_default().extend(lost);
            }
        }
        self.grown.insert(thread);
    }

    /// Takes note of the cells that numbers with ranges consist of. In the first attempt, equalities of known contents are kept of these cells
    /// only: more of them are more for others to look at.
    fn note_numbers(&mut self, state: &State) {
        for Range { bytes, .. } in state.ranges.list() {
            let cells = bytes.iter().filter_map(|value| match value {
                Value::Of(cell) | Value::Entry(cell) => Some(*cell),
                Value::Result(_) => None,
            });
            // Higher bytes that are known are not among them.
            let above =
                cells.clone().next_back().into_iter().flat_map(|last| (1..4).map(move |more| last.wrapping_add(more)));
            self.ranged.extend(cells.chain(above));
        }
    }

    fn enqueue(&mut self, number: u32) {
        let node = &mut self.nodes[number as usize];
        if !std::mem::replace(&mut node.is_queued, true) {
            let depth = self.calls.frames(node.place.calls).len();
            let is_last = (node.place.thread == Thread::Main) == self.are_handlers_first;
            self.queue.push(Reverse((is_last, Reverse(depth), node.place.control.pc.0, number)));
        }
    }
}
