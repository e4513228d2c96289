//! The code that the proof reaches as basic blocks in functions.

use std::collections::{BTreeMap, BTreeSet};

use avr_analysis::control_flow::Flow;
use avr_image::FlashByteAddress;
use avr_isa::FlashWordAddress;
use avr_machine::{Fetched, Machine};
use avr_verify::{Routine, Survey};

use crate::names::Names;

/// Instructions that are executed one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Flash byte addresses of the first and the last instruction.
    pub(super) first: u32,
    pub(super) last: u32,
    /// The most abstract states that one of its instructions has.
    pub(super) states: usize,
    /// The first instructions of the blocks of the same function that come next.
    pub(super) next: BTreeSet<u32>,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cluster {
    pub(super) start: u32,
    /// The vector number, for a handler.
    pub(super) vector: Option<u8>,
    /// Its abstract states.
    pub(super) states: usize,
    pub(super) blocks: Vec<Block>,
    /// The functions that it calls, and those that it jumps to or runs into.
    pub(super) calls: BTreeSet<u32>,
    pub(super) jumps: BTreeSet<u32>,
}

/// The functions that are reached, by rising address.
pub(super) fn clusters(names: &Names<'_>, machine: &Machine, survey: &Survey) -> Vec<Cluster> {
    let code = Code { names, machine, survey };
    let mut functions: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for pc in survey.instructions.keys() {
        functions.entry(code.start(*pc)).or_default().push(*pc);
    }
    let handlers = code.handlers();
    let cluster = |(start, places): (u32, Vec<u32>)| Cluster {
        start,
        vector: handlers.get(&start).copied(),
        states: places.iter().map(|pc| survey.instructions[pc]).sum(),
        blocks: code.blocks(&places),
        calls: code.calls(&places, start),
        jumps: code.jumps(&places, start),
    };
    functions.into_iter().map(cluster).collect()
}

/// The beginning of the function of a routine.
pub(super) fn start_of(names: &Names<'_>, machine: &Machine, survey: &Survey, routine: Routine) -> Option<u32> {
    match routine {
        Routine::Function(address) => Some(address),
        Routine::Handler(number) => {
            let handlers = Code { names, machine, survey }.handlers();
            handlers.into_iter().find(|(_, vector)| *vector == number).map(|(start, _)| start)
        }
    }
}

struct Code<'a> {
    names: &'a Names<'a>,
    machine: &'a Machine,
    survey: &'a Survey,
}

impl Code<'_> {
    /// The beginning of the function at an address: as symbols say, else the nearest entry before it.
    fn start(&self, pc: u32) -> u32 {
        match self.names.image.symbols.function_at(FlashByteAddress(pc)) {
            Some(located) => pc - located.offset,
            None => self.survey.entries.range(..=pc).next_back().copied().unwrap_or(0),
        }
    }

    /// The handlers that are reached, with the lowest vector number that leads to each.
    fn handlers(&self) -> BTreeMap<u32, u8> {
        let mut all = BTreeMap::new();
        for interrupt in self.machine.device.interrupts.iter() {
            if !self.survey.routines.contains_key(&Routine::Handler(interrupt.number)) {
                continue;
            }
            let table = self.machine.options().start;
            let vector = FlashWordAddress(table.0 + u32::from(interrupt.vector)).byte().0;
            let target = self.next(vector).first().copied().unwrap_or(vector);
            all.entry(self.start(target)).or_insert(interrupt.number);
        }
        all
    }

    /// The places that come after an instruction in the same function or by a jump.
    fn next(&self, pc: u32) -> Vec<u32> {
        let address = FlashByteAddress(pc).word();
        let Fetched::Instruction { instruction, .. } = self.machine.program.fetch(address) else { return Vec::new() };
        let next = match Flow::of(&self.machine.program, instruction, address) {
            Flow::Next(next) => next,
            Flow::Call { next, .. } | Flow::IndirectCall { next } => vec![next],
            Flow::Return | Flow::Unknown => Vec::new(),
        };
        next.into_iter().map(|address| address.byte().0).collect()
    }

    /// The functions that are called at some places of another one.
    fn calls(&self, places: &[u32], start: u32) -> BTreeSet<u32> {
        let called = |pc: &u32| {
            let address = FlashByteAddress(*pc).word();
            let Fetched::Instruction { instruction, .. } = self.machine.program.fetch(address) else { return None };
            match Flow::of(&self.machine.program, instruction, address) {
                Flow::Call { function, .. } => Some(function.byte().0),
                _ => None,
            }
        };
        self.others(places.iter().filter_map(called), start)
    }

    /// The functions to which some places of another one jump or run.
    fn jumps(&self, places: &[u32], start: u32) -> BTreeSet<u32> {
        self.others(places.iter().flat_map(|pc| self.next(*pc)), start)
    }

    /// The functions of places that are reached, without one.
    fn others(&self, places: impl Iterator<Item = u32>, start: u32) -> BTreeSet<u32> {
        let reached = places.filter(|pc| self.survey.instructions.contains_key(pc));
        reached.map(|pc| self.start(pc)).filter(|other| *other != start).collect()
    }

    /// The address behind an instruction.
    fn behind(&self, pc: u32) -> u32 {
        match self.machine.program.fetch(FlashByteAddress(pc).word()) {
            Fetched::Instruction { words, .. } => pc + 2 * u32::from(words),
            Fetched::Reserved | Fetched::Outside => pc + 2,
        }
    }

    /// The basic blocks of a function whose reached instructions are at these addresses.
    fn blocks(&self, places: &[u32]) -> Vec<Block> {
        let mut leaders = BTreeSet::new();
        let mut before: Option<u32> = None;
        for pc in places {
            let runs_on = before.is_some_and(|last| self.next(last) == [*pc] && self.behind(last) == *pc);
            if !runs_on {
                leaders.insert(*pc);
            }
            let jumps = self.next(*pc).into_iter().filter(|target| *target != self.behind(*pc));
            leaders.extend(jumps.filter(|target| places.binary_search(target).is_ok()));
            before = Some(*pc);
        }
        let mut blocks: Vec<Block> = Vec::new();
        for pc in places {
            let states = self.survey.instructions[pc];
            match blocks.last_mut().filter(|_| !leaders.contains(pc)) {
                Some(block) => {
                    block.last = *pc;
                    block.states = block.states.max(states);
                }
                None => blocks.push(Block { first: *pc, last: *pc, states, next: BTreeSet::new() }),
            }
        }
        for block in &mut blocks {
            let next = self.next(block.last).into_iter();
            block.next = next.filter(|target| leaders.contains(target)).collect();
        }
        blocks
    }
}
