//! Calls of functions with contracts: the body is one state, at the entry, in which it may stay for any number of steps.
//!
//! SOUND: that state covers every state from the entry to the return, apart from the program counter, the registers, the flags and the
//! stack pointer, which are those at the call. Each step gives all cells that the contract names new values, so that it covers the
//! steps of a body that changes them more than once.

use super::Step;
use super::flags::flag;
use crate::automaton::ByteSet;
use crate::contract::{Contract, Returned};
use crate::environment::{Demand, DeterminedBy, Environment, Input, Question};
use crate::hazard::{Limit, Stop};
use crate::state::{Frame, FrameKind, MAX_WINDOWS};
use avr_isa::DataAddress;
use three_valued::fault::{Fault, is_on};
use three_valued::{ByteDomain, TvByte};

impl<'a, V: ByteDomain, E: Environment<V>> Step<'a, V, E> {
    /// The contract of the function at whose entry PC is, where it is followed in place of the body.
    pub(super) fn contract_here(&self) -> Option<&'a Contract> {
        let replaces = !self.machine.contracts().is_empty() && self.environment.replaces_bodies();
        self.machine.contract_at(self.state.control.pc).filter(|_| replaces)
    }

    /// Ends a step. At the entry of a function with a contract a call must have ended, or a step of the function.
    pub(super) fn check_entry(&self) -> Result<(), Stop> {
        match self.contract_here() {
            Some(_) if !self.in_body => {
                Err(Stop::Limit(Limit::Unsupported("a function with a contract that is entered by a jump")))
            }
            _ => Ok(()),
        }
    }

    /// The end of a call of a function with a contract: from here on its body may run.
    pub(super) fn enter_body(&mut self) -> Result<(), Stop> {
        let Some(contract) = self.contract_here() else { return Ok(()) };
        self.check_quiet()?;
        self.check_room(contract)?;
        self.change_written(contract);
        self.in_body = true;
        Ok(())
    }

    /// A step of a function with a contract: it goes on, or returns.
    pub(super) fn step_of_body(&mut self, contract: &Contract) -> Result<(), Stop> {
        let pointer = self.stack_pointer()?;
        let position = pointer.wrapping_add(self.machine.pc_bytes as u16);
        let is_called = |frame: &Frame| frame.kind == FrameKind::Call && frame.position == position;
        if !self.state.calls.top().is_some_and(is_called) {
            return Err(Stop::Limit(Limit::Unsupported("a function with a contract that no call entered")));
        }
        self.cycles = 1;
        self.change_written(contract);
        if self.environment.case(2, Question::Bytes(&[])) == 0 {
            self.in_body = true;
            return Ok(());
        }
        for number in Contract::CALL_USED.into_iter().filter(|_| !is_on(Fault::CallUsedKept)) {
            let cell = DataAddress(number.into());
            let value = self.changed(cell, u8::MAX);
            self.state.data.set(cell, value);
        }
        let status = self.machine.status_address;
        let flags = self.changed(status, !(1 << flag::I));
        self.state.data.set(status, flags);
        for returned in &contract.returns {
            self.narrow_returned(returned)?;
        }
        self.return_from_call()
    }

    /// A body runs only where nothing can come in between, no time is measured, and r1 is 0, as avr-gcc has it.
    fn check_quiet(&mut self) -> Result<(), Stop> {
        let machine = self.machine;
        if machine.interrupts_exist() && !is_on(Fault::BodyInterrupted) {
            let what = "a call of a function with a contract while interrupts may be enabled";
            self.check_clear(machine.status_address, 1 << flag::I, what)?;
        }
        let by_reset = "a call of a function with a contract while a reset may come";
        if let Some(watchdog) = &machine.device.watchdog {
            self.check_clear(watchdog.reset_enable.address, watchdog.reset_enable.mask(), by_reset)?;
        }
        if !machine.options().resets.is_empty() {
            return Err(Stop::Limit(Limit::Unsupported(by_reset)));
        }
        let what = "a call of a function with a contract where r1 may be another number than 0";
        self.check_clear(DataAddress(1), u8::MAX, what)?;
        if self.state.control.windows != [0; MAX_WINDOWS] {
            return Err(Stop::Limit(Limit::Unsupported(
                "a call of a function with a contract in the middle of a timed sequence",
            )));
        }
        Ok(())
    }

    /// Bits of a cell must certainly be 0.
    fn check_clear(&mut self, cell: DataAddress, mask: u8, otherwise: &'static str) -> Result<(), Stop> {
        let bits = self.state.data.get(cell).bits();
        if (bits.value() | bits.unknown_mask()) & mask == 0 {
            return Ok(());
        }
        if bits.unknown_mask() & mask != 0 {
            self.environment.stuck(&[self.state.data.get(cell)]);
        }
        Err(Stop::Limit(Limit::Unsupported(otherwise)))
    }

    /// The stack of a body must lie in the SRAM, not in static data, and not where the contract says that something changes.
    fn check_room(&mut self, contract: &Contract) -> Result<(), Stop> {
        let pointer = self.stack_pointer()?;
        let machine = self.machine;
        let no_room =
            Stop::Limit(Limit::Unsupported("a call of a function with a contract with too little room for its stack"));
        let above = machine.static_data_end.unwrap_or(machine.sram.start).max(machine.sram.start);
        let lowest = u32::from(pointer.0) + 1;
        let lowest = lowest.checked_sub(contract.stack.into()).filter(|lowest| *lowest >= u32::from(above.0));
        let (Some(lowest), true) = (lowest, pointer < machine.sram.end) else { return Err(no_room) };
        let highest = u32::from(pointer.0) + machine.pc_bytes as u32;
        let on_stack = |cell: &DataAddress| (lowest..=highest).contains(&u32::from(cell.0));
        if contract.writes.iter().any(on_stack) { Err(no_room) } else { Ok(()) }
    }

    /// Gives the cells that a body may change while it runs new values: those that the contract names, and its stack.
    fn change_written(&mut self, contract: &Contract) {
        let pointer = self.machine.stack_pointer().value_in(&self.state.data);
        let below =
            pointer.into_iter().flat_map(|pointer| (0..contract.stack).map(move |offset| pointer.wrapping_sub(offset)));
        for cell in below.chain(contract.writes.iter().copied().filter(|_| !is_on(Fault::WrittenKept))) {
            let value = self.changed(cell, u8::MAX);
            self.state.data.set(cell, value);
        }
    }

    /// A value of a cell that a body may have given it: nobody knows which.
    fn changed(&mut self, cell: DataAddress, mask: u8) -> V {
        self.environment.input(Input::Initial(cell), mask, Demand::Stored, DeterminedBy::Undefined)
    }

    /// Gives cells contents that they may have together at the return.
    fn narrow_returned(&mut self, returned: &Returned) -> Result<(), Stop> {
        let number = match returned.products.len() {
            1 => 0,
            count => self.environment.case(count, Question::Bytes(&[])),
        };
        let number = if is_on(Fault::FirstProduct) { 0 } else { number };
        for (cell, values) in returned.cells.iter().zip(&returned.products[number]) {
            self.narrow_cell(*cell, values)?;
        }
        Ok(())
    }

    /// Gives a cell one of the values of a set.
    fn narrow_cell(&mut self, cell: DataAddress, values: &ByteSet) -> Result<(), Stop> {
        let parts = self.parts_of(values);
        let by = DeterminedBy::Undefined;
        let (_, value) = self.environment.input_among(Input::Initial(cell), u8::MAX, &parts, Demand::Stored, by)?;
        self.state.data.set(cell, value);
        Ok(())
    }

    /// Parts of a set of bytes: one range, if it is one and there are ranges.
    fn parts_of(&self, values: &ByteSet) -> Vec<TvByte> {
        let (first, last) = (values.iter().next().unwrap_or(0), values.iter().last().unwrap_or(u8::MAX));
        let is_range = values.iter().count() == usize::from(last - first) + 1;
        let range = TvByte::UNKNOWN.within(first, last).filter(|_| is_range && self.environment.has_ranges());
        range.map_or_else(|| values.parts(u8::MAX), |range| vec![range])
    }
}
