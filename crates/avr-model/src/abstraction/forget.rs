//! Decay of a state when it arrives at its location, and the values by which locations are distinguished.

use crate::state::Running;
use crate::state::cell_variable::{cell_of, variable_of};
use crate::state::interner::{CallsId, Store};
use avr_analysis::liveness::Liveness;
use avr_analysis::refinable_values::RefinableValues;
use avr_analysis::register_effects::Cells;
use avr_isa::{DataAddress, FlashWordAddress, Register, RegisterSet};
use avr_machine::{DataSpace, Frame, Machine, MachineState, StackPointer};
use avr_properties::{Atom, CellsRead};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::hash::Hasher;
use std::ops::Range;
use std::sync::Arc;
use three_valued::TvByte;
use tvar::StepPrecision;

/// Registers and flags that never seem dead: the I flag decides over interrupts.
const ALWAYS_LIVE: Cells = 1 << 39;
/// Popped bytes that are looked at below the stack pointer.
const MAX_POPPED: u16 = 64;

/// Decides what is forgotten.
#[derive(Debug)]
pub struct DecayRules {
    liveness: Liveness,
    /// Registers and flags that properties speak of.
    named: Cells,
    stack_pointer: StackPointer,
    status: DataAddress,
    sram: Range<DataAddress>,
    /// True if locations are distinguished by all registers that count the rounds of loops.
    pub distinguishes_most: bool,
    /// True if every comparison narrows its operands.
    pub learns_all: bool,
    /// The registers and flags that are live after the return from the youngest frame of each call string.
    after: RefCell<FxHashMap<CallsId, Cells>>,
    /// The registers that distinguish rounds in the callers and in interrupted code of each call string, with and without most of them.
    told_by_callers: RefCell<FxHashMap<(CallsId, bool), u32>>,
    /// The cells of the return addresses of each call string, as indices of data addresses.
    return_cells: RefCell<FxHashMap<CallsId, Arc<FixedBitSet>>>,
}

impl DecayRules {
    /// The decay rules of firmware when these atoms are to be evaluated.
    pub fn new(machine: &Machine, atoms: &[Atom]) -> Self {
        // A call of a function with a contract depends on r1.
        let by_contracts = if machine.contracts().is_empty() { 0 } else { 1 << 1 };
        Self {
            liveness: Liveness::observing(machine, &observed(atoms)),
            named: atoms.iter().fold(ALWAYS_LIVE | by_contracts, |all, atom| all | named(machine, atom)),
            stack_pointer: machine.stack_pointer(),
            status: machine.status_address(),
            sram: machine.sram(),
            distinguishes_most: false,
            learns_all: false,
            after: RefCell::default(),
            told_by_callers: RefCell::default(),
            return_cells: RefCell::default(),
        }
    }

    /// The bits of every cell of which a state loses what it knows at its location, under the step precision there.
    pub fn lost_bits(
        &self,
        machine: &Machine,
        store: &Store,
        running: &Running,
        precision: &StepPrecision,
    ) -> Vec<(DataAddress, u8)> {
        let mut lost = Vec::new();
        if precision.forgets_dead {
            self.dead(store, running, precision, &mut lost);
            self.popped(store, running, precision, &mut lost);
        }
        match precision.decays {
            true => self.decayed(machine, store, running, precision, &mut lost),
            false => lost.extend(precision.exceptions.iter().filter_map(|(variable, bits)| {
                let address = cell_of(variable);
                let mask = store.cell(running.memory, address).informed_mask() & bits as u8;
                (mask != 0 && !self.lasts(machine, store, running, address)).then_some((address, mask))
            })),
        }
        lost
    }

    /// The known bits of registers and flags that nothing reads any more.
    fn dead(&self, store: &Store, running: &Running, precision: &StepPrecision, lost: &mut Vec<(DataAddress, u8)>) {
        let after = self.live_after(store, running.calls);
        let live = self.liveness.live(running.control.pc, after) | self.named;
        let pinned = |address: DataAddress| precision.pinned.get(variable_of(address)) as u8;
        for page in 0..2 {
            for (register, cell) in store.page(running.memory, page).iter().enumerate() {
                let register = page * avr_machine::PAGE_CELLS + register;
                let address = DataAddress::of_index(register);
                let mask = cell.informed_mask() & !pinned(address);
                if mask != 0 && live >> register & 1 == 0 {
                    lost.push((address, mask));
                }
            }
        }
        let flags =
            store.cell(running.memory, self.status).informed_mask() & !((live >> 32) as u8) & !pinned(self.status);
        if flags != 0 {
            lost.push((self.status, flags));
        }
    }

    /// The registers and flags of the working state that may be read again.
    pub fn live_values(&self, store: &Store, state: &MachineState<TvByte>, calls: CallsId) -> Vec<TvByte> {
        let live = self.liveness.live(state.control.pc, self.live_after(store, calls)) | self.named;
        let registers = RegisterSet::from_bits(live as u32).iter().map(|register| *state.data.get(register.address()));
        registers.chain([state.data.get(self.status).forget(!((live >> 32) as u8))]).collect()
    }

    /// Known bytes just below the stack, which were popped.
    fn popped(&self, store: &Store, running: &Running, precision: &StepPrecision, lost: &mut Vec<(DataAddress, u8)>) {
        if running.control.torn {
            return;
        }
        let Some(pointer) = self.pointer(store, running) else { return };
        let lowest = self.sram.start.max(pointer.saturating_sub(MAX_POPPED));
        for address in lowest.through(pointer.min(self.sram.end.saturating_sub(1))).rev() {
            let known = store.cell(running.memory, address).informed_mask();
            if known == 0 {
                break;
            }
            let mask = known & !(precision.pinned.get(variable_of(address)) as u8);
            if mask != 0 {
                lost.push((address, mask));
            }
        }
    }

    /// Everything that is known and not kept, where everything decays.
    fn decayed(
        &self,
        machine: &Machine,
        store: &Store,
        running: &Running,
        precision: &StepPrecision,
        lost: &mut Vec<(DataAddress, u8)>,
    ) {
        for address in machine.addresses() {
            let known = store.cell(running.memory, address).informed_mask();
            let mask = known & !(precision.kept(variable_of(address)) as u8);
            if mask != 0 && !self.lasts(machine, store, running, address) {
                lost.push((address, mask));
            }
        }
    }

    /// True if a cell never decays: SP, and the return addresses on the stack.
    fn lasts(&self, machine: &Machine, store: &Store, running: &Running, address: DataAddress) -> bool {
        self.stack_pointer.contains(address)
            || self.return_cells(machine, store, running.calls).contains(address.index())
    }

    /// The cells of the return addresses of a call string, as indices of data addresses.
    fn return_cells(&self, machine: &Machine, store: &Store, calls: CallsId) -> Arc<FixedBitSet> {
        if let Some(known) = self.return_cells.borrow().get(&calls) {
            return Arc::clone(known);
        }
        let cells = store.pop_call(calls).map(|(below, frame)| {
            let mut cells = FixedBitSet::clone(&self.return_cells(machine, store, below));
            let bytes = 0..u16::from(machine.device.core.pc_bytes);
            bytes.for_each(|byte| cells.grow_and_insert(frame.position.wrapping_sub(byte).index()));
            cells
        });
        let cells = Arc::new(cells.unwrap_or_default());
        self.return_cells.borrow_mut().insert(calls, Arc::clone(&cells));
        cells
    }

    /// The registers and flags that are live when the function of the youngest frame has returned.
    fn live_after(&self, store: &Store, calls: CallsId) -> Cells {
        if let Some(known) = self.after.borrow().get(&calls) {
            return *known;
        }
        let live = match store.pop_call(calls) {
            None => 0,
            Some((below, frame)) => {
                let after = self.live_after(store, below);
                self.liveness.live(frame.return_address, after)
            }
        };
        self.after.borrow_mut().insert(calls, live);
        live
    }

    /// A number for the known values of the registers that may end in an address or count the rounds of loops; 0 where
    /// there are none. Those of the callers and of interrupted code count as well, wherever they are saved.
    pub fn round(&self, machine: &Machine, store: &Store, running: &Running) -> u64 {
        let pointer = self.pointer(store, running).filter(|_| !running.control.torn);
        let cell = |address| store.cell(running.memory, address);
        self.told(machine, store, (running.control.pc, pointer, running.calls), &cell)
    }

    /// The same for the working state.
    pub fn round_at_work(&self, machine: &Machine, store: &Store, state: &MachineState<TvByte>, calls: CallsId) -> u64 {
        let cell = |address| *state.data.get(address);
        self.told(machine, store, (state.control.pc, self.whole_pointer(state), calls), &cell)
    }

    /// A number for the known values of the registers that distinguish rounds at an instruction, at its call sites and
    /// in interrupted code.
    fn told(
        &self,
        machine: &Machine,
        store: &Store,
        (pc, pointer, calls): (FlashWordAddress, Option<DataAddress>, CallsId),
        cell: &dyn Fn(DataAddress) -> TvByte,
    ) -> u64 {
        let wanted = |address| self.liveness.telling(address, self.distinguishes_most);
        let mut key = Key::default();
        let mut places: [DataAddress; 32] = std::array::from_fn(DataAddress::of_index);
        key.add(cell, wanted(pc), &places);
        if let Some(mut pointer) = pointer.filter(|_| self.told_by_callers(store, calls) != 0) {
            for (frame, entry) in store.entered(calls) {
                self.find_saved(machine, (&frame, entry), pointer, &mut places);
                key.add(cell, wanted(frame.return_address), &places);
                // The bytes that the caller or the interrupted code has pushed until then end where this frame begins.
                pointer = frame.position;
            }
        }
        key.finish()
    }

    /// The registers that distinguish rounds in the callers and in interrupted code of a call string.
    fn told_by_callers(&self, store: &Store, calls: CallsId) -> u32 {
        let key = (calls, self.distinguishes_most);
        if let Some(known) = self.told_by_callers.borrow().get(&key) {
            return *known;
        }
        let told = store.pop_call(calls).map_or(0, |(below, frame)| {
            self.liveness.telling(frame.return_address, self.distinguishes_most) | self.told_by_callers(store, below)
        });
        self.told_by_callers.borrow_mut().insert(key, told);
        told
    }

    /// The places of the registers that the function or handler of a frame has saved: on the stack, if it has not
    /// popped them again.
    fn find_saved(
        &self,
        machine: &Machine,
        (frame, entry): (&Frame, Option<FlashWordAddress>),
        pointer: DataAddress,
        places: &mut [DataAddress; 32],
    ) {
        let Some(entry) = entry else { return };
        let first = frame.position.wrapping_sub(machine.device.core.pc_bytes.into());
        let mut seen = 0u32;
        for (register, offset) in self.liveness.saved_by(&machine.program, entry).iter().zip(0u16..) {
            let place = first.wrapping_sub(offset);
            // A second push of a register saves something else, such as SREG.
            if seen >> register & 1 == 0 && place > pointer {
                places[usize::from(*register)] = place;
            }
            seen |= 1 << register;
        }
    }

    /// The registers at an instruction (flash word address) whose values may end in an address.
    pub fn addressing(&self, address: FlashWordAddress) -> u32 {
        self.liveness.addressing(address)
    }

    /// The values that comparisons narrow.
    pub fn refinable(&self) -> RefinableValues {
        let refinable = self.liveness.refinable().clone();
        if self.learns_all { refinable.everything() } else { refinable }
    }

    /// The stack pointer, as far as it is known and not torn.
    pub fn whole_pointer(&self, state: &MachineState<TvByte>) -> Option<DataAddress> {
        self.pointer_in(&state.data).filter(|_| !state.control.torn)
    }

    /// The stack pointer, as far as it is known.
    pub fn pointer_in(&self, data: &DataSpace<TvByte>) -> Option<DataAddress> {
        self.stack_pointer.value_in(data)
    }

    fn pointer(&self, store: &Store, running: &Running) -> Option<DataAddress> {
        self.stack_pointer.value(|address| store.cell(running.memory, address).known())
    }
}

/// A number made of register values.
#[derive(Default)]
struct Key {
    hasher: rustc_hash::FxHasher,
    any: bool,
}

impl Key {
    /// Adds the values of some registers, each at its place, as far as they are known.
    fn add(&mut self, cell: &dyn Fn(DataAddress) -> TvByte, registers: u32, places: &[DataAddress; 32]) {
        for (register, place) in places.iter().enumerate().filter(|(register, _)| registers >> register & 1 == 1) {
            if let Some(value) = cell(*place).known() {
                self.hasher.write_u32((register as u32) << 8 | u32::from(value));
                self.any = true;
            }
        }
        self.hasher.write_u8(0xff);
    }

    fn finish(self) -> u64 {
        if self.any { self.hasher.finish() | 1 } else { 0 }
    }
}

/// The cells that atoms speak of, where they do not speak of all.
fn observed(atoms: &[Atom]) -> Vec<DataAddress> {
    let named = atoms.iter().filter_map(|atom| match atom.cells() {
        CellsRead::All => None,
        CellsRead::These(cells) => Some(cells.into_iter().map(|(cell, _)| cell)),
    });
    named.flatten().collect()
}

/// The registers and flags that an atom speaks of.
fn named(machine: &Machine, atom: &Atom) -> Cells {
    match atom.cells() {
        CellsRead::All => Cells::MAX,
        CellsRead::These(cells) => cells.into_iter().fold(0, |all, (address, mask)| match Register::at(address) {
            Some(register) => all | 1 << register.index(),
            None if address == machine.status_address() => all | Cells::from(mask) << 32,
            None => all,
        }),
    }
}
