//! The places of a map as a graph, also of a map that is open: what comes before what, and what is known there.

use avr_analysis::control_flow::Flow;
use avr_invariant::{Map, Thread};
use avr_isa::{ControlFlow, DataAddress, FlashWordAddress, Instruction, Pointer};
use avr_machine::{Fetched, FrameKind, Machine, flag};
use avr_witness::{Distances, Interrupt, Spot, Way};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use three_valued::TvByte;

/// The number of a place in a graph.
pub(super) type PlaceId = u32;

/// A place: an instruction with the calls on the stack, whatever else differs.
struct Node {
    calls: u32,
    pc: FlashWordAddress,
    /// The entries of the map there.
    entries: Vec<u32>,
}

/// The places of a map with the steps between them.
///
/// Returns lead to where calls came from. The destinations of indirect jumps are those places of their function that no other step leads
/// to. The graph guides runs and names causes; nothing is proved by it.
pub(super) struct PlaceGraph<'a> {
    machine: &'a Machine,
    map: &'a Map,
    nodes: Vec<Node>,
    numbers: FxHashMap<(u32, FlashWordAddress), PlaceId>,
    /// The call string of the start-up code, if that calls `main`.
    startup: Option<u32>,
    /// The call string without its last frame, by call string.
    outer: FxHashMap<u32, u32>,
    before: Vec<Vec<PlaceId>>,
}

impl<'a> PlaceGraph<'a> {
    /// The graph of a map.
    pub(super) fn new(machine: &'a Machine, map: &'a Map) -> Self {
        let (mut nodes, mut numbers): (Vec<Node>, FxHashMap<_, PlaceId>) = (Vec::new(), FxHashMap::default());
        for (entry, number) in map.entries.iter().zip(0..) {
            let (calls, pc) = (entry.place.calls, entry.place.control.pc);
            let node = *numbers.entry((calls, pc)).or_insert_with(|| {
                nodes.push(Node { calls, pc, entries: Vec::new() });
                nodes.len() as PlaceId - 1
            });
            nodes[node as usize].entries.push(number);
        }
        let mut outer = FxHashMap::default();
        for number in 0..map.calls.len() as u32 {
            if let Some((last, rest)) = map.calls.frames(number).split_last()
                && last.kind == FrameKind::Call
                && let Some(rest) = map.calls.find(rest)
            {
                outer.insert(number, rest);
            }
        }
        let before = vec![Vec::new(); nodes.len()];
        let is_called = |calls: &u32| machine.options().main.is_some_and(|main| !numbers.contains_key(&(*calls, main)));
        let startup = map.calls.find(&[]).filter(is_called);
        let mut graph = Self { machine, map, nodes, numbers, startup, outer, before };
        graph.connect();
        graph
    }

    fn connect(&mut self) {
        let mut inner: FxHashMap<(u32, FlashWordAddress), Vec<u32>> = FxHashMap::default();
        let mut rows: Vec<(u32, u32)> = self.outer.iter().map(|(inner, outer)| (*inner, *outer)).collect();
        rows.sort_unstable();
        for (called, outer) in rows {
            let frames = self.map.calls.frames(called);
            let returns_to = frames.last().map(|frame| frame.return_address).unwrap_or_default();
            inner.entry((outer, returns_to)).or_default().push(called);
        }
        let mut through_registers = Vec::new();
        for number in 0..self.nodes.len() as PlaceId {
            let (calls, pc) = (self.nodes[number as usize].calls, self.nodes[number as usize].pc);
            let Some(instruction) = self.instruction(number) else { continue };
            match Flow::of(&self.machine.program, instruction, pc) {
                Flow::Next(targets) => targets.into_iter().for_each(|target| self.add(number, (calls, target))),
                Flow::Call { function, next } => {
                    for called in inner.get(&(calls, next)).into_iter().flatten() {
                        self.add(number, (*called, function));
                    }
                }
                Flow::IndirectCall { next } => {
                    let called = inner.get(&(calls, next)).into_iter().flatten();
                    through_registers.extend(called.map(|called| (number, *called)));
                }
                Flow::Return => {
                    let last = self.map.calls.frames(calls).last().map(|frame| frame.return_address);
                    if let (Some(outer), Some(target)) = (self.outer.get(&calls).copied(), last) {
                        self.add(number, (outer, target));
                    }
                }
                Flow::Unknown => through_registers.push((number, calls)),
            }
        }
        let entered: FxHashSet<u32> = through_registers.iter().map(|(_, calls)| *calls).collect();
        let mut roots: FxHashMap<u32, Vec<FlashWordAddress>> = FxHashMap::default();
        for (node, before) in self.nodes.iter().zip(&self.before) {
            if before.is_empty() && entered.contains(&node.calls) {
                roots.entry(node.calls).or_default().push(node.pc);
            }
        }
        for (from, calls) in through_registers {
            roots.get(&calls).cloned().into_iter().flatten().for_each(|root| self.add(from, (calls, root)));
        }
    }

    fn add(&mut self, from: PlaceId, to: (u32, FlashWordAddress)) {
        if let Some(to) = self.numbers.get(&to) {
            self.before[*to as usize].push(from);
        }
    }

    /// The places from which one step leads to a place.
    pub(super) fn before(&self, place: PlaceId) -> &[PlaceId] {
        &self.before[place as usize]
    }

    /// The places of an instruction in a thread.
    pub(super) fn at(&self, thread: Thread, pc: FlashWordAddress) -> Vec<PlaceId> {
        let is_there = |node: &Node| {
            node.pc == pc && node.entries.iter().any(|entry| self.map.entries[*entry as usize].place.thread == thread)
        };
        self.all().filter(|place| is_there(&self.nodes[*place as usize])).collect()
    }

    /// All places.
    pub(super) fn all(&self) -> impl Iterator<Item = PlaceId> + use<> {
        0..self.nodes.len() as PlaceId
    }

    /// The flash word address of a place.
    pub(super) fn pc(&self, place: PlaceId) -> FlashWordAddress {
        self.nodes[place as usize].pc
    }

    /// The instruction of a place.
    pub(super) fn instruction(&self, place: PlaceId) -> Option<Instruction> {
        match self.machine.program.fetch(self.pc(place)) {
            Fetched::Instruction { instruction, .. } => Some(instruction),
            Fetched::Reserved | Fetched::Outside => None,
        }
    }

    /// True if a place is in the start-up code, which copies constants, clears variables and calls `main`.
    pub(super) fn is_in_startup(&self, place: PlaceId) -> bool {
        self.startup == Some(self.nodes[place as usize].calls)
    }

    /// True if the instruction of a place returns.
    pub(super) fn returns(&self, place: PlaceId) -> bool {
        let flow = self.machine.program.control_flow(self.pc(place));
        matches!(flow, Some(ControlFlow::Return | ControlFlow::InterruptReturn))
    }

    /// The contents of a cell in the states of a place.
    fn contents(&self, place: PlaceId, cell: DataAddress) -> impl Iterator<Item = TvByte> + '_ {
        let entries = self.nodes[place as usize].entries.iter();
        entries.map(move |entry| self.map.store.cell(&self.map.entries[*entry as usize].state.memory, cell))
    }

    /// True if a cell is known, and the same in all states of a place.
    pub(super) fn is_known(&self, place: PlaceId, cell: DataAddress) -> bool {
        let mut contents = self.contents(place, cell).map(TvByte::known);
        let first = contents.next().flatten();
        first.is_some() && contents.all(|content| content == first)
    }

    /// The least and the greatest value of a pair of registers at a place.
    pub(super) fn range(&self, place: PlaceId, pointer: Pointer) -> Option<(u16, u16)> {
        let [low, high] = [pointer.low().address(), pointer.low().next().address()];
        let pairs = self.contents(place, low).zip(self.contents(place, high));
        let ranges = pairs.map(|(low, high)| {
            (u16::from_le_bytes([low.low(), high.low()]), u16::from_le_bytes([low.high(), high.high()]))
        });
        ranges.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    /// The lowest stack pointer of each state of a place.
    pub(super) fn stack_pointers(&self, place: PlaceId) -> BTreeSet<DataAddress> {
        let entries = self.nodes[place as usize].entries.iter().map(|entry| &self.map.entries[*entry as usize].state);
        let pointer = self.machine.stack_pointer();
        let lowest =
            entries.filter_map(|state| pointer.value(|half| Some(self.map.store.cell(&state.memory, half).low())));
        lowest.collect()
    }

    /// True if an interrupt may come in a state of a place, as far as the status register tells.
    fn may_be_interrupted(&self, place: PlaceId) -> bool {
        self.contents(place, self.machine.status_address()).any(|status| status.high() >> flag::I & 1 == 1)
    }

    /// The distances of all places from some.
    pub(super) fn distances(&self, targets: &BTreeSet<PlaceId>) -> Distances {
        let spot = |node: &Node| Spot { frames: self.map.calls.frames(node.calls), pc: node.pc };
        let spots: Vec<Spot<'_>> = self.nodes.iter().map(spot).collect();
        let mut ways = Vec::new();
        for (to, before) in self.before.iter().enumerate() {
            ways.extend(before.iter().map(|from| Way { from: *from as usize, to, interrupt: None }));
        }
        let begins: Vec<(usize, Interrupt)> = self.all().filter_map(|place| self.begins(place)).collect();
        for from in self.all().filter(|from| !begins.is_empty() && self.may_be_interrupted(*from)) {
            let entry = self.nodes[from as usize].entries.first().map(|entry| &self.map.entries[*entry as usize]);
            if entry.is_none_or(|entry| entry.place.thread != Thread::Main) {
                continue;
            }
            let pointers = self.stack_pointers(from);
            let here = begins.iter().filter(|(_, interrupt)| pointers.contains(&interrupt.pointer));
            ways.extend(here.map(|(to, one)| Way { from: from as usize, to: *to, interrupt: Some(*one) }));
        }
        let targets = targets.iter().map(|place| *place as usize).collect();
        Distances::new(&spots, ways, &targets)
    }

    /// The interrupt whose handler begins at a place.
    fn begins(&self, place: PlaceId) -> Option<(usize, Interrupt)> {
        let node = &self.nodes[place as usize];
        let [frame] = self.map.calls.frames(node.calls) else { return None };
        let FrameKind::Interrupt(number) = frame.kind else { return None };
        let is_vector =
            self.machine.device.interrupts.iter().any(|one| one.number == number && u32::from(one.vector) == node.pc.0);
        is_vector.then_some((place as usize, Interrupt { number, pointer: frame.position }))
    }

    /// The machine.
    pub(super) fn machine(&self) -> &'a Machine {
        self.machine
    }
}
