//! Concrete states of another simulator in a finished state space: the oracles look them up without any property.

use crate::diagnosis::subformulas::Effort;
use crate::pipeline::property_result::Purpose;
use crate::pipeline::verified::verified;
use crate::request::{InvariantUse, Request};
use crate::results::Results;
use avr_isa::{DataAddress, EepromAddress};
use avr_machine::{Frame, FrameKind, HazardKind, Machine, MachineState};
use avr_model::Firmware;
use avr_model::state::{AbstractState, Running};
use avr_properties::PropertyError;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use three_valued::TvByte;
use tvar::StateSpace;

/// A state as another simulator shows it.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// The program counter as a flash byte address.
    pub pc: u32,
    /// The data memory by data address.
    pub data: &'a [u8],
    /// The content of the EEPROM, by address.
    pub eeprom: &'a [u8],
    /// True if the processor sleeps.
    pub sleeping: bool,
    /// The number of interrupt handlers that were entered and not left.
    pub handlers: usize,
    /// The number of the stack in use: 0 for the main one, else that of a task, from 1.
    pub stack: usize,
    /// The stack pointers before the pushes of the return addresses that are on the stacks, and those as flash byte addresses, oldest first. Those on the
    /// stack in use come last, after the others by the number of their stack.
    pub calls: &'a [(DataAddress, u32)],
}

/// True if a byte of another simulator is one that a cell at a data address may have.
pub type Fits<'a> = &'a dyn Fn(DataAddress, TvByte, u8) -> bool;

/// A state space that was built last for a request, with its states by their places.
#[derive(Debug)]
pub struct Explored<'a> {
    firmware: &'a Firmware<'a>,
    space: &'a StateSpace<AbstractState>,
    /// The numbers of the states by the flash byte address of the next instruction.
    places: FxHashMap<u32, Vec<u32>>,
}

/// Verifies a request and hands over the state space that was built last. None if there is none, or if a part of it was
/// not explored.
///
/// # Errors
/// As [`crate::verify`].
pub fn explored<T>(
    request: &Request<'_>,
    look: impl FnOnce(Option<&Explored<'_>>, Results) -> T,
) -> Result<T, PropertyError> {
    let request = Request { invariants: InvariantUse::Off, ..*request };
    verified(&request, (Effort::LITTLE, Purpose::Results), |work, _, results| {
        let latest = work.outcome.latest.as_deref().filter(|space| space.is_complete());
        let explored = latest.map(|space| Explored::new(work.firmware, space));
        look(explored.as_ref(), results)
    })
}

impl<'a> Explored<'a> {
    fn new(firmware: &'a Firmware<'a>, space: &'a StateSpace<AbstractState>) -> Self {
        let mut places: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (number, state) in (0..).zip(&space.states) {
            if let AbstractState::Running(running) = state {
                places.entry(running.control.pc.byte().0).or_default().push(number);
            }
        }
        Self { firmware, space, places }
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        self.firmware.model.context.machine
    }

    /// The number of states there are.
    #[must_use]
    pub fn states(&self) -> usize {
        self.space.states.len()
    }

    /// The hazards that some path may run into.
    #[must_use]
    pub fn hazards(&self) -> BTreeSet<HazardKind> {
        let hazard = |state: &AbstractState| match state {
            AbstractState::Hazard { hazard, .. } => Some(hazard.kind),
            _ => None,
        };
        self.space.states.iter().filter_map(hazard).collect()
    }

    /// True if the instruction at a flash byte address may run into a hazard.
    #[must_use]
    pub fn has_hazard(&self, kind: HazardKind, at: u32) -> bool {
        let is_it = |state: &AbstractState| matches!(state, AbstractState::Hazard { hazard, pc } if hazard.kind == kind && pc.byte().0 == at);
        self.space.states.iter().any(is_it)
    }

    /// The numbers of the states that cover one of another simulator, in ascending order: a sink covers nothing.
    #[must_use]
    pub fn covering(&self, shown: &Shown<'_>, fits: Fits<'_>) -> Vec<u32> {
        let covers = |number: &u32| self.misfits(self.running(*number), shown, fits, 1).is_empty();
        self.at(shown.pc).iter().copied().filter(covers).collect()
    }

    /// True if a state of another simulator in which no handler is active must be covered where nothing but interrupts
    /// is deferred. That is so if no state with its program counter, stack pointer and return addresses defers them, or
    /// takes them for having come before.
    #[must_use]
    pub fn must_cover(&self, shown: &Shown<'_>) -> bool {
        let model = &self.firmware.model;
        let leaves_interrupts = |number: &u32| {
            let running = self.running(*number);
            let state = self.machine_state(running);
            self.firmware.model.context.decay_rules.pointer_in(&state.data) == Some(stack_pointer(shown))
                && self.calls_misfit(running, shown).is_none()
                && model.passes.reorders_interrupts(model.context.machine, &state, running.deferral)
        };
        !self.at(shown.pc).iter().any(leaves_interrupts)
    }

    /// The states to which a transition leads from one, in ascending order.
    #[must_use]
    pub fn successors(&self, state: u32) -> Vec<u32> {
        let mut all: Vec<u32> = self.space.edges(state as usize).flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The misfits that keep the states at the place of another simulator's state from covering it. They are those of
    /// the state with the fewest, up to eight cells.
    #[must_use]
    pub fn difference(&self, shown: &Shown<'_>, fits: Fits<'_>) -> String {
        let all = self.at(shown.pc).iter().map(|number| self.misfits(self.running(*number), shown, fits, 8));
        match all.min_by_key(Vec::len) {
            None => "no state is there".to_owned(),
            Some(misfits) if misfits.is_empty() => "no transition leads there".to_owned(),
            Some(misfits) => misfits.join(", "),
        }
    }

    fn at(&self, pc: u32) -> &[u32] {
        self.places.get(&pc).map_or(&[], Vec::as_slice)
    }

    fn running(&self, number: u32) -> &Running {
        match &self.space.states[number as usize] {
            AbstractState::Running(running) => running,
            other => unreachable!("only states with a place are numbered, not {other:?}"),
        }
    }

    /// A state as the machine has it, without its call string.
    fn machine_state(&self, running: &Running) -> MachineState<TvByte> {
        let mut state = MachineState::new(self.firmware.model.context.machine.cells(), TvByte::UNKNOWN);
        for page in 0..state.data.pages() {
            state.data.load_page(page, self.firmware.model.context.store.page(running.memory, page));
        }
        state.control = running.control;
        state
    }

    /// The misfit of the handlers that are active, or of the return addresses on the stack.
    fn calls_misfit(&self, running: &Running, shown: &Shown<'_>) -> Option<String> {
        let frames: Vec<Frame> = self.firmware.model.context.store.frames(running.calls).collect();
        let handlers = frames.iter().filter(|frame| matches!(frame.kind, FrameKind::Interrupt(_))).count();
        if handlers != shown.handlers {
            return Some(format!("{handlers} handlers instead of {}", shown.handlers));
        }
        // A return address whose bytes POP took may stay in the call string.
        let return_bytes = self.machine().device.core.pc_bytes.into();
        let (stack, end) = (running.control.stack, stack_pointer(shown).saturating_add(return_bytes));
        if usize::from(stack) != shown.stack {
            return Some(format!("the stack in use is {stack} instead of {}", shown.stack));
        }
        let is_there = |frame: &&Frame| frame.stack != stack || frame.position >= end;
        let frames = frames.iter().rev().filter(is_there);
        let calls: Vec<(DataAddress, u32)> =
            frames.map(|frame| (frame.position, frame.return_address.byte().0)).collect();
        let numbers = |calls: &[(DataAddress, u32)]| calls.iter().map(|(at, to)| (at.0, *to)).collect::<Vec<_>>();
        (calls != shown.calls)
            .then(|| format!("the calls are {:x?} instead of {:x?}", numbers(&calls), numbers(shown.calls)))
    }

    /// Up to so many parts of a state that do not fit.
    fn misfits(&self, running: &Running, shown: &Shown<'_>, fits: Fits<'_>, most: usize) -> Vec<String> {
        let mut found = Vec::new();
        if running.control.sleeping != shown.sleeping {
            found.push(format!("sleeping is {}", running.control.sleeping));
        }
        let store = &self.firmware.model.context.store;
        found.extend(self.calls_misfit(running, shown));
        for (address, byte) in (0..).map(DataAddress).zip(shown.data) {
            if found.len() >= most {
                break;
            }
            let cell = store.cell(running.memory, address);
            if !fits(address, cell, *byte) {
                found.push(format!("{address:#06x} is {cell:?} instead of {byte:#04x}"));
            }
        }
        if let Some(predicates) = self.firmware.model.passes.predicates().filter(|_| found.len() < most) {
            let byte = |cell: DataAddress| shown.data[cell.index()];
            if !predicates.get().all().are_true(|cell| store.cell(running.memory, cell), &byte) {
                found.push("a predicate is not true".to_owned());
            }
        }
        for (address, byte) in (0u16..).zip(shown.eeprom) {
            if found.len() >= most {
                break;
            }
            let cell =
                store.cell(running.memory, self.firmware.model.context.machine.eeprom_cell(EepromAddress(address)));
            if !cell.contains(*byte) {
                found.push(format!("byte {address:#06x} of the EEPROM is {cell:?} instead of {byte:#04x}"));
            }
        }
        found
    }
}

/// The stack pointer that another simulator shows.
fn stack_pointer(shown: &Shown<'_>) -> DataAddress {
    DataAddress::of_bytes(shown.data[0x5d], shown.data[0x5e])
}
