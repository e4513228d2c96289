//! The demands of a contract on each state inside the body of its function.

use avr_isa::{Addressing, DataAddress, Instruction, MemoryAccess, PointerMode};
use avr_machine::{Contract, Fetched, Machine, MachineState, Returned, flag};
use avr_symbolic::{Goal, PathCondition, SymbolicState};
use std::cell::RefCell;
use three_valued::fault::{Fault, is_on};
use three_valued::{BitDomain, ByteDomain};

/// The places of a call in data memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Places {
    /// The stack pointer before the call.
    pub(super) before: DataAddress,
    /// The stack pointer at the entry of the function.
    pub(super) entry: DataAddress,
}

impl Places {
    /// The places of a call with nothing else on the stack.
    pub(super) fn of(machine: &Machine) -> Self {
        let before = machine.data_end();
        Self { before, entry: before.wrapping_sub(machine.device.core.pc_bytes.into()) }
    }

    /// True for the cells that the function may take on the stack.
    pub(super) fn is_own_stack(self, contract: &Contract, cell: DataAddress) -> bool {
        let depth = self.entry.offset_from(cell);
        depth.is_some_and(|depth| depth < contract.stack)
    }
}

/// True for a cell that a body must leave as it is, in each of its states.
pub(super) fn is_kept(machine: &Machine, contract: &Contract, places: Places, cell: DataAddress) -> bool {
    let is_own = cell < DataAddress::IO
        || cell == machine.status_address()
        || machine.stack_pointer().contains(cell)
        || places.is_own_stack(contract, cell);
    !is_own && contract.writes.binary_search(&cell).is_err()
}

/// The instruction at the program counter of a state.
fn instruction<V: ByteDomain>(machine: &Machine, state: &MachineState<V>) -> Option<Instruction> {
    match machine.program.fetch(state.control.pc) {
        Fetched::Instruction { instruction, .. } => Some(instruction),
        Fetched::Reserved | Fetched::Outside => None,
    }
}

/// The states of a body as symbolic execution follows them, with the first thing that keeps the contract from being proved.
pub(super) struct Body<'a, 'g> {
    pub(super) machine: &'a Machine,
    pub(super) contract: &'a Contract,
    pub(super) places: Places,
    pub(super) first: &'a SymbolicState<'g>,
    /// The reason why nothing is proved, if there is one.
    pub(super) obstacle: RefCell<Option<String>>,
    /// True if the work is to end.
    pub(super) is_over: &'a dyn Fn() -> bool,
}

impl<'g> Goal<'g> for Body<'_, 'g> {
    fn is_end(&self, state: &SymbolicState<'g>, _: usize) -> bool {
        state.calls.frames().is_empty()
    }

    fn passes(&self, state: &SymbolicState<'g>, _: &PathCondition<'g>) {
        if self.obstacle.borrow().is_none() {
            let found = self.stack(state).or_else(|| self.cells(state)).or_else(|| self.access(state));
            let found = found.or_else(|| self.events(state).filter(|_| !is_on(Fault::BodyUnheard)));
            *self.obstacle.borrow_mut() = found;
        }
    }

    fn is_over(&self) -> bool {
        (self.is_over)() || self.obstacle.borrow().is_some()
    }
}

impl<'g> Body<'_, 'g> {
    /// An obstacle in the stack pointer, or in interrupts.
    fn stack(&self, state: &SymbolicState<'g>) -> Option<String> {
        let at = state.control.pc.byte();
        let lowest = u32::from(self.places.entry.0).saturating_sub(self.contract.stack.into());
        let pointer = self.machine.stack_pointer().value_in(&state.data);
        let Some(pointer) = pointer else { return Some(format!("the stack pointer is not known at {at}")) };
        if u32::from(pointer.0) < lowest || pointer > self.places.entry {
            return Some(format!("it may use other bytes of the stack than the contract says, at {at}"));
        }
        let enabled = state.data.get(self.machine.status_address()).bit(flag::I);
        if enabled.known() != Some(false) {
            return Some(format!("it may enable interrupts, before {at}"));
        }
        state.control.sleeping.then(|| format!("it may sleep, before {at}"))
    }

    /// An obstacle in a cell that has changed.
    fn cells(&self, state: &SymbolicState<'g>) -> Option<String> {
        let all = self.machine.addresses().zip(state.data.cells().iter().zip(self.first.data.cells()));
        let mut changed = all.filter(|(_, (now, first))| now != first || now.has_open_bits());
        let kept = |cell: DataAddress| is_kept(self.machine, self.contract, self.places, cell);
        let (cell, _) = changed.find(|(cell, _)| kept(*cell))?;
        Some(format!("it may change {}, before {}", name(self.machine, cell), state.control.pc.byte()))
    }

    /// An obstacle in the addresses that the next instruction accesses.
    ///
    /// SOUND: the proof is for one stack pointer, and is meant for all. So a body may access the stack by stack instructions only, and
    /// memory only where no stack is at a call: at registers, in static data, and where the contract says that it writes.
    fn access(&self, state: &SymbolicState<'g>) -> Option<String> {
        let at = state.control.pc.byte();
        let address = match self.accessed(state)? {
            Accessed::Cell { address, .. } => address,
            Accessed::NotKnown => return Some(format!("it accesses an address that is not known, at {at}")),
        };
        if self.machine.stack_pointer().contains(address) {
            return Some(format!("it accesses the stack pointer by its address, at {at}"));
        }
        let sram = self.machine.sram();
        let is_static = self.machine.options().static_data_end.is_some_and(|end| address < end);
        let is_written = self.contract.writes.binary_search(&address).is_ok();
        (address >= sram.start && !is_static && !is_written)
            .then(|| format!("it accesses {}, where a stack may be, at {at}", name(self.machine, address)))
    }

    /// An obstacle in the events that the next instruction causes, or that led to it.
    fn events(&self, state: &SymbolicState<'g>) -> Option<String> {
        let events = self.contract.events.as_ref()?;
        let pc = state.control.pc;
        // SOUND: a jump to a function may be a call of it.
        if !state.calls.frames().is_empty() && events.excludes_call(pc) {
            return Some(format!("it comes to the function at {}, which is no event of the contract", pc.byte()));
        }
        let Some(Accessed::Cell { address, stores }) = self.accessed(state) else { return None };
        let (cells, sram_start) = (address..address.wrapping_add(1), self.machine.sram().start);
        let (may, verb) = match stores {
            true => (events.may_write(&cells, sram_start), "writes"),
            false => (events.may_read(&cells, sram_start), "reads"),
        };
        let told =
            || format!("it {verb} {}, which is no event of the contract, at {}", self.name_of(address), pc.byte());
        (!may).then(told)
    }

    fn name_of(&self, address: DataAddress) -> String {
        name(self.machine, address)
    }

    /// The access of the next instruction to data memory, other than by SP.
    fn accessed(&self, state: &SymbolicState<'g>) -> Option<Accessed> {
        let pair = |low: DataAddress, high: DataAddress| {
            Some(DataAddress::of_bytes(state.data.get(low).known()?, state.data.get(high).known()?))
        };
        let target = |addressing: Addressing| match addressing {
            Addressing::Direct(address) => Some(address),
            Addressing::Indirect { pointer, mode } => {
                let value = pair(pointer.low().address(), pointer.high().address());
                value.map(|value| match mode {
                    PointerMode::Displacement(by) => value.wrapping_add(by.into()),
                    PointerMode::PostIncrement => value,
                    PointerMode::PreDecrement => value.wrapping_sub(1),
                })
            }
        };
        let (address, stores) = match instruction(self.machine, state)?.memory_access() {
            MemoryAccess::Load(addressing) => (target(addressing), false),
            MemoryAccess::Store(addressing) => (target(addressing), true),
            MemoryAccess::LoadIo { address } | MemoryAccess::LoadIoBit { address, .. } => (Some(address), false),
            MemoryAccess::StoreIo { address } | MemoryAccess::StoreIoBit { address, .. } => (Some(address), true),
            MemoryAccess::None
            | MemoryAccess::Push
            | MemoryAccess::Pop
            | MemoryAccess::PushReturnAddress
            | MemoryAccess::PopReturnAddress
            | MemoryAccess::LoadFlash
            | MemoryAccess::StoreFlash
            | MemoryAccess::ResetWatchdog => return None,
        };
        Some(address.map_or(Accessed::NotKnown, |address| Accessed::Cell { address, stores }))
    }
}

/// An access of an instruction to data memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Accessed {
    /// The cell at a data address is read or written.
    Cell {
        /// The data address.
        address: DataAddress,
        /// True if it is written.
        stores: bool,
    },
    /// A cell at an address that is not known.
    NotKnown,
}

/// The name of a cell in messages.
pub(super) fn name(machine: &Machine, cell: DataAddress) -> String {
    if cell < DataAddress::IO {
        return format!("r{}", cell.0);
    }
    let register = machine.device.register_at(cell).map(|register| register.name.to_owned());
    register.unwrap_or_else(|| format!("mem[{cell:#06x}]"))
}

/// The names of cells that a contract joins, in messages.
pub(super) fn names(machine: &Machine, returned: &Returned) -> String {
    returned.cells.iter().map(|cell| name(machine, *cell)).collect::<Vec<_>>().join(":")
}
