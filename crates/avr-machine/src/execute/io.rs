//! The I/O registers: what reading, writing and the hardware do to each kind of bit.
//!
//! The meaning of the kinds is stated at [`BitKind`]; the device table says which bit is of which kind.

use super::Step;
use super::flags::flag;
use crate::device::{
    Access, Bit, BitKind, BitRef, Changes, ClearedBy, Condition, Flag, Freedom, Guard, Input as InputBit, InputWrite,
    KnownBits, Protected, Pulse, Register, Severity, Window,
};
use crate::environment::{Demand, DeterminedBy, Environment, Event, Input, Question};
use crate::hazard::{HazardKind, Stop};
use crate::machine::Group;
use crate::state::StackPointerHalf;
use three_valued::{BitDomain, ByteDomain, Truth, TvByte};

impl<V: ByteDomain, E: Environment<V>> Step<'_, V, E> {
    /// Reads a register as the program does. Only the bits in `wanted` matter; hardware is asked only for those.
    pub(super) fn read_io(&mut self, address: u16, wanted: u8, demand: Demand) -> Result<V, Stop> {
        let machine = self.machine;
        let Some(register) = machine.device.register_at(address) else {
            self.reserved_register(address)?;
            return Ok(self.environment.input(Input::Register(address), 0xff, demand));
        };
        let value = if machine.is_storage(register) {
            self.state.data.get(address).clone()
        } else {
            self.read_peripheral(register, wanted, demand)
        };
        self.environment.event(Event::Read(address, &value));
        if !machine.is_storage(register) {
            self.clear_by_access(address, false);
        }
        Ok(value)
    }

    /// Writes a register as the program does.
    pub(super) fn write_io(&mut self, address: u16, value: V) -> Result<(), Stop> {
        self.write_io_bits(address, value, 0xff)
    }

    /// SBI, CBI: change one bit and leave the other seven alone (also the data sheet on flag registers).
    pub(super) fn write_io_bit(&mut self, address: u16, bit: u8, value: bool) -> Result<(), Stop> {
        self.write_io_bits(address, V::constant(u8::from(value) << bit), 1 << bit)
    }

    /// Writes the bits in `selected`; the others are not touched.
    fn write_io_bits(&mut self, address: u16, value: V, selected: u8) -> Result<(), Stop> {
        let machine = self.machine;
        self.environment.event(Event::Write(address, &value));
        if address == machine.status_address {
            let status = merge(self.status(), &value, selected);
            return self.write_status(status);
        }
        let Some(register) = machine.device.register_at(address) else {
            return self.reserved_register(address);
        };
        if machine.is_storage(register) {
            let merged = merge(self.state.data.get(address), &value, selected);
            self.state.data.set(address, merged);
        } else {
            self.write_peripheral(register, value, selected)?;
        }
        match address {
            _ if address == machine.stack_low => self.stack_half_written(StackPointerHalf::Low),
            _ if Some(address) == machine.stack_high => self.stack_half_written(StackPointerHalf::High),
            _ => Ok(()),
        }
    }

    /// An access to an address in the I/O area at which there is no register.
    fn reserved_register(&self, address: u16) -> Result<(), Stop> {
        match self.machine.device.policy.reserved_register {
            Severity::Note if !self.machine.forbids(HazardKind::ReservedRegister) => Ok(()),
            _ => self.hazard(HazardKind::ReservedRegister, Some(u32::from(address))),
        }
    }

    /// Writes SREG. One more instruction runs before an interrupt when I goes from 0 to 1.
    pub(super) fn write_status(&mut self, status: V) -> Result<(), Stop> {
        let wanted = status.bit(flag::I);
        if !self.machine.interrupts_exist() {
            return self.write_status_without_interrupts(status, &wanted);
        }
        let before = self.flag(flag::I);
        let rises = wanted.and(&before.not());
        let rises = self.decide(&rises);
        self.state.data.set(self.machine.status_address, status);
        if rises {
            self.assume_cell(self.machine.status_address, TvByte::new(0x80, 0x80))?;
        }
        self.state.control.interrupt_delay = rises;
        Ok(())
    }

    fn write_status_without_interrupts(&mut self, status: V, wanted: &V::Bit) -> Result<(), Stop> {
        if self.decide(wanted) {
            return Err(Stop::hazard(HazardKind::InterruptsUnavailable, None));
        }
        self.state.data.set(self.machine.status_address, status.with_bit(flag::I, &V::Bit::constant(false)));
        Ok(())
    }

    /// Whether a condition holds now. Hardware is asked for the bits that it may have changed; what stored bits leave
    /// open is cut into cases.
    pub(super) fn holds(&mut self, condition: &Condition) -> bool {
        match condition {
            Condition::Always => return true,
            Condition::Never => return false,
            _ => {}
        }
        let mut moving = Vec::new();
        condition.for_each_moving(&mut |bit| moving.push(bit));
        moving.into_iter().for_each(|bit| self.refresh_bits(bit, Demand::Decides));
        match self.evaluate(condition, Condition::evaluate_refreshed) {
            Truth::True => true,
            Truth::False => false,
            Truth::Unknown => self.settle(condition),
        }
    }

    /// What the stored bits say about a condition.
    fn evaluate(
        &self,
        condition: &Condition,
        by: impl Fn(&Condition, &mut dyn FnMut(u16) -> KnownBits) -> Truth,
    ) -> Truth {
        by(condition, &mut |address| {
            let bits = self.state.data.get(address).bits();
            KnownBits { known: bits.known_mask(), value: bits.value() }
        })
    }

    /// Cuts a condition into its cases and notes what is learned about single bits.
    fn settle(&mut self, condition: &Condition) -> bool {
        let mut addresses = Vec::new();
        condition.for_each_register(&mut |address, _| addresses.push(address));
        let bytes: Vec<&V> = addresses.iter().map(|address| self.state.data.get(*address)).collect();
        let holds = self.environment.case(2, Question::Bytes(&bytes)) == 1;
        let (address, fact) = match (condition, holds) {
            (Condition::Bit(bit), _) => (bit.address, TvByte::new(if holds { bit.mask() } else { 0 }, bit.mask())),
            (Condition::Field { address, mask, equals }, true) => (*address, TvByte::new(*equals, *mask)),
            _ => return holds,
        };
        // The condition was unknown, so some concrete state has the bits as assumed.
        if let Some(narrowed) = self.state.data.get(address).assume(fact) {
            self.state.data.set(address, narrowed);
        }
        holds
    }

    fn read_peripheral(&mut self, register: &'static Register, wanted: u8, demand: Demand) -> V {
        if !self.holds(&register.clocked_while) {
            return self.environment.input(Input::Register(register.address), 0xff, demand);
        }
        match register.access {
            Access::HighOfPair { temp, latched: true, .. } => {
                return self.state.data.get(self.machine.temp_cell(temp)).clone();
            }
            Access::LowOfPair { temp, high, latches: true } => {
                if let Some(register) = self.machine.device.register_at(high) {
                    let value = self.refresh(register, 0xff, demand);
                    self.state.data.set(self.machine.temp_cell(temp), value);
                }
            }
            _ => {}
        }
        self.refresh(register, wanted, demand)
    }

    /// Lets hardware change the bits in `wanted` and gives the content of the register.
    pub(super) fn refresh(&mut self, register: &'static Register, wanted: u8, demand: Demand) -> V {
        let mut moving = V::constant(0);
        let mut moving_mask = 0;
        for group in self.machine.groups(register) {
            let mask = group.mask & wanted;
            if mask == 0 {
                continue;
            }
            if let Some(input) = self.refresh_group(register.address, mask, group.bit, demand) {
                moving = moving.or(&input);
                moving_mask |= mask;
            }
        }
        merge(self.state.data.get(register.address), &moving, moving_mask)
    }

    /// Lets hardware change some bits. Bits that it changes in both directions have no memory: their value is returned
    /// and not stored, because the next read asks again.
    fn refresh_group(&mut self, address: u16, mask: u8, bit: &Bit, demand: Demand) -> Option<V> {
        match &bit.kind {
            BitKind::Input(input) => {
                if self.zeroed(address, mask, &input.zero_while) || !self.holds(&input.changes_while) {
                    return None;
                }
                if input.changes == Changes::Both {
                    return Some(self.ask(address, mask, &input.freedom, demand));
                }
                self.take_input(address, mask, input.changes, &input.freedom, demand);
            }
            BitKind::Flag(flag) => self.refresh_flag(address, mask, flag, demand),
            BitKind::Pulse(pulse) => self.refresh_pulse(address, mask, pulse, demand),
            BitKind::Plain | BitKind::ReadOnly | BitKind::Reserved | BitKind::Strobe | BitKind::Window(_) => {}
        }
        None
    }

    /// Makes the bits 0 if the condition holds, and says whether it does.
    fn zeroed(&mut self, address: u16, mask: u8, condition: &Condition) -> bool {
        let holds = self.holds(condition);
        if holds {
            self.store(address, mask, &V::constant(0));
        }
        holds
    }

    fn refresh_flag(&mut self, address: u16, mask: u8, flag: &Flag, demand: Demand) {
        if self.zeroed(address, mask, &flag.zero_while) || !self.holds(&flag.raised_while) {
            return;
        }
        self.take_input(address, mask, Changes::Sets, &flag.freedom, demand);
    }

    fn refresh_pulse(&mut self, address: u16, mask: u8, pulse: &Pulse, demand: Demand) {
        if self.zeroed(address, mask, &pulse.zero_while) {
            return;
        }
        if self.holds(&pulse.raised_while) {
            self.take_input(address, mask, Changes::Both, &pulse.freedom, demand);
        } else {
            self.take_input(address, mask, Changes::Clears, &pulse.freedom, demand);
        }
    }

    /// Asks for input bits of a register. Bits that the user assumes to be constant are.
    fn ask(&mut self, address: u16, mask: u8, freedom: &Freedom, demand: Demand) -> V {
        let assumed = self.machine.options().assumed.get(&address).copied().unwrap_or(TvByte::UNKNOWN);
        let open = mask & assumed.unknown_mask();
        let fixed = V::constant(assumed.value() & mask);
        if open == 0 {
            return fixed;
        }
        let who = self.who_determines(freedom);
        self.environment.determined_by(who);
        self.environment.input(Input::Register(address), open, demand).or(&fixed)
    }

    /// Who determines a bit or an interrupt in this state.
    pub(super) fn who_determines(&self, freedom: &Freedom) -> DeterminedBy {
        let certain = match freedom {
            Freedom::Real => true,
            Freedom::Abstracted => false,
            Freedom::RealWhile(condition) => self.evaluate(condition, Condition::evaluate).is_true(),
        };
        if certain { DeterminedBy::Environment } else { DeterminedBy::Hardware }
    }

    /// Combines the stored bits with fresh input and stores the result. Bits that cannot change are not asked for.
    fn take_input(&mut self, address: u16, mask: u8, changes: Changes, freedom: &Freedom, demand: Demand) {
        let stored = self.state.data.get(address).clone();
        let settled = match changes {
            Changes::Both => 0,
            Changes::Sets => stored.bits().value(),
            Changes::Clears => stored.bits().known_mask() & !stored.bits().value(),
        };
        let mask = mask & !settled;
        if mask == 0 {
            return;
        }
        let input = self.ask(address, mask, freedom, demand);
        let value = match changes {
            Changes::Both => input,
            Changes::Sets => stored.or(&input),
            Changes::Clears => stored.and(&input),
        };
        self.store(address, mask, &value);
    }

    /// Stores the bits in `mask` and leaves the others.
    fn store(&mut self, address: u16, mask: u8, value: &V) {
        let merged = merge(self.state.data.get(address), value, mask);
        self.state.data.set(address, merged);
    }

    /// A stored bit that decided a skip is known afterwards.
    pub(super) fn assume_stored_bit(&mut self, address: u16, bit: u8, value: bool) {
        let stored = self.state.data.get(address);
        if stored.bit(bit).known().is_none() {
            let known = stored.with_bit(bit, &V::Bit::constant(value));
            self.state.data.set(address, known);
        }
    }

    fn write_peripheral(&mut self, register: &'static Register, value: V, selected: u8) -> Result<(), Stop> {
        let address = register.address;
        self.state.control.peripheral_written = true;
        if !self.holds(&register.clocked_while) {
            // It is unknown whether the write is stored.
            let input = self.environment.input(Input::Register(address), 0xff, Demand::Stored);
            self.state.data.set(address, input);
            return Ok(());
        }
        match register.access {
            Access::HighOfPair { temp, .. } => {
                self.state.data.set(self.machine.temp_cell(temp), value);
                return Ok(());
            }
            Access::LowOfPair { temp, high, .. } => {
                let shared = self.state.data.get(self.machine.temp_cell(temp)).clone();
                if let Some(high) = self.machine.device.register_at(high) {
                    self.write_bits(high, &shared, 0xff)?;
                }
            }
            Access::Direct | Access::LocksPair { .. } => {}
        }
        let before = self.state.data.get(address).clone();
        self.write_bits(register, &value, selected)?;
        self.clear_by_access(address, true);
        if let Some(eeprom) = self.machine.device.eeprom.filter(|eeprom| eeprom.program.address == address) {
            self.eeprom_command(&eeprom, &before, &value, selected);
        }
        self.corrupt(address, &before);
        Ok(())
    }

    /// Registers that a change of a bit may corrupt are unknown afterwards.
    fn corrupt(&mut self, address: u16, before: &V) {
        let machine = self.machine;
        for corruption in machine.device.corruptions.iter().filter(|one| one.when_changed.address == address) {
            let bit = corruption.when_changed.bit;
            let changed = self.state.data.get(address).bit(bit).xor(&before.bit(bit));
            if self.decide(&changed) {
                for register in &corruption.registers {
                    let input = self.environment.input(Input::Register(*register), 0xff, Demand::Stored);
                    self.state.data.set(*register, input);
                }
            }
        }
    }

    /// Writes the bits by kind, then lets what depends on them follow.
    fn write_bits(&mut self, register: &'static Register, value: &V, selected: u8) -> Result<(), Stop> {
        let address = register.address;
        let moving = self.moving_dependents(address);
        let before = self.state.data.get(address).clone();
        let mut windows = 0u8;
        for group in self.machine.groups(register) {
            let mask = group.mask & selected;
            if mask == 0 {
                continue;
            }
            if let BitKind::Window(_) = group.bit.kind {
                windows |= mask;
                continue;
            }
            self.write_group(address, mask, group, value, &before)?;
        }
        self.write_windows(register, windows, value)?;
        self.keep_locked_bits(address);
        self.freeze(&moving);
        Ok(())
    }

    /// Bits that a programmed fuse keeps at a value have it after every write (data sheet, "Watchdog Timer", `WDTON`).
    fn keep_locked_bits(&mut self, address: u16) {
        let machine = self.machine;
        for rule in machine.locked().iter().filter(|rule| rule.address == address) {
            self.store(address, rule.mask, &V::constant(rule.programmed));
        }
    }

    /// Bits that are 1 while a condition holds, whatever is written, are so after a reset as well (`WDE` while `WDRF`).
    pub(super) fn force_bits_after_reset(&mut self) {
        let machine = self.machine;
        for register in &machine.device.registers {
            for group in machine.groups(register) {
                let forced = &group.bit.forced_one_while;
                if *forced != Condition::Never && self.holds(forced) {
                    self.store(register.address, group.mask, &V::constant(0xff));
                }
            }
        }
    }

    fn write_group(&mut self, address: u16, mask: u8, group: &Group, value: &V, before: &V) -> Result<(), Stop> {
        let bit = group.bit;
        if !self.holds(&bit.writable_while) {
            return Ok(());
        }
        match &bit.kind {
            BitKind::Plain => self.write_plain_bits(address, mask, bit, value, before)?,
            BitKind::Reserved => return self.write_reserved(address, mask, value),
            BitKind::Input(input) => self.write_input(address, mask, input, value),
            BitKind::Flag(flag) => self.write_flag(address, mask, flag, value),
            BitKind::Pulse(_) => self.write_pulse(address, mask, bit, value, before)?,
            BitKind::ReadOnly | BitKind::Strobe | BitKind::Window(_) => {}
        }
        if bit.forced_one_while != Condition::Never && self.holds(&bit.forced_one_while) {
            self.store(address, mask, &V::constant(0xff));
        }
        Ok(())
    }

    fn write_plain_bits(&mut self, address: u16, mask: u8, bit: &Bit, value: &V, before: &V) -> Result<(), Stop> {
        match bit.guard {
            Some(guard) if !self.window_open(guard) => {
                let kept = self.guarded(mask, guard, value, before)?;
                self.store(address, mask, &kept);
            }
            _ => self.store(address, mask, value),
        }
        Ok(())
    }

    /// A write outside the window: protected changes do not happen, and trying one on the watchdog is a hazard.
    fn guarded(&mut self, mask: u8, guard: Guard, value: &V, before: &V) -> Result<V, Stop> {
        let (kept, attempt) = match guard.protects {
            Protected::AnyChange => (before.clone(), value.xor(before)),
            Protected::Clearing => (before.or(value), before.and(&value.not())),
            Protected::Setting => (before.and(value), value.and(&before.not())),
        };
        if self.machine.device.watchdog.as_ref().is_some_and(|dog| dog.reset_enable.address == guard.window.address) {
            // The write that opens the window may carry any value for the protected bits.
            let opens = self.opens(guard.window, value);
            let attempted = attempt.and(&V::constant(mask)).is_zero().not().and(&opens.not());
            if self.decide(&attempted) {
                self.hazard(HazardKind::WatchdogSequence, Some(u32::from(guard.window.address)))?;
            }
        }
        Ok(kept)
    }

    fn window_open(&mut self, guard: Guard) -> bool {
        let bit = self.state.data.get(guard.window.address).bit(guard.window.bit);
        self.decide(&bit)
    }

    /// Reserved bits read 0; writing 1 is a hazard or, where the device says so, only a remark.
    fn write_reserved(&mut self, address: u16, mask: u8, value: &V) -> Result<(), Stop> {
        let harmless = self.machine.device.policy.reserved_bit == Severity::Note
            && !self.machine.forbids(HazardKind::ReservedBitWrite);
        if harmless {
            return Ok(());
        }
        let ones = value.and(&V::constant(mask)).is_zero().not();
        if self.decide(&ones) {
            self.hazard(HazardKind::ReservedBitWrite, Some(u32::from(address)))?;
        }
        Ok(())
    }

    fn write_input(&mut self, address: u16, mask: u8, input: &InputBit, value: &V) {
        match input.on_write {
            // While hardware changes the bits, what was written is gone before it can be seen for certain.
            InputWrite::Stored if input.changes == Changes::Both && self.holds(&input.changes_while) => {}
            InputWrite::Stored => self.store(address, mask, value),
            InputWrite::Discarded => {}
            InputWrite::Toggles(port) => {
                let toggled = self.state.data.get(port).xor(&value.and(&V::constant(mask)));
                self.state.data.set(port, toggled);
            }
        }
    }

    fn write_flag(&mut self, address: u16, mask: u8, flag: &Flag, value: &V) {
        // The hardware may have raised the flag unseen before this write; what is not cleared stays so.
        self.refresh_flag(address, mask, flag, Demand::Stored);
        let stored = self.state.data.get(address);
        let cleared = if flag.cleared_by.contains(&ClearedBy::WriteOne) {
            stored.and(&value.not())
        } else if flag.cleared_by.contains(&ClearedBy::WriteZero) {
            stored.and(value)
        } else {
            return;
        };
        self.store(address, mask, &cleared);
    }

    fn write_pulse(&mut self, address: u16, mask: u8, bit: &Bit, value: &V, before: &V) -> Result<(), Stop> {
        let allowed = match bit.guard {
            Some(guard) if !self.window_open(guard) => self.guarded(mask, guard, value, before)?,
            _ => value.clone(),
        };
        let started = self.state.data.get(address).or(&allowed);
        self.store(address, mask, &started);
        Ok(())
    }

    /// Opens and closes the windows of a register.
    fn write_windows(&mut self, register: &'static Register, mask: u8, value: &V) -> Result<(), Stop> {
        for group in self.machine.groups(register) {
            let BitKind::Window(window) = &group.bit.kind else { continue };
            let bit = BitRef { address: register.address, bit: group.mask.trailing_zeros() as u8 };
            if mask & group.mask != 0 {
                self.write_window(bit, window, value);
            }
        }
        Ok(())
    }

    /// Whether writing a value opens a window.
    fn opens(&self, window: BitRef, value: &V) -> V::Bit {
        let Some(BitKind::Window(kind)) = self.machine.device.bit_at(window).map(|bit| &bit.kind) else {
            return V::Bit::constant(false);
        };
        let ones = value.not().and(&V::constant(kind.opened_with_ones)).is_zero();
        let zeros = value.and(&V::constant(kind.opened_with_zeros)).is_zero();
        ones.and(&zeros)
    }

    fn write_window(&mut self, bit: BitRef, window: &Window, value: &V) {
        let opens = self.opens(bit, value);
        if self.decide(&opens) {
            self.store(bit.address, bit.mask(), &V::constant(0xff));
            self.state.control.open_window(self.machine.window_index(bit), window.cycles);
        } else if window.closed_by_write {
            self.store(bit.address, bit.mask(), &V::constant(0));
            self.state.control.close_window(self.machine.window_index(bit));
        }
    }

    /// Clears the flags that an access to a register clears.
    fn clear_by_access(&mut self, address: u16, write: bool) {
        let machine = self.machine;
        for (bit, cleared_by) in machine.cleared_by_access(address) {
            let mask = bit.mask();
            match **cleared_by {
                ClearedBy::Read(at) if !write && at == address => self.store(bit.address, mask, &V::constant(0)),
                ClearedBy::Write(at) if write && at == address => self.store(bit.address, mask, &V::constant(0)),
                ClearedBy::ReadThenAccess { then, .. } if then == address => {
                    // Whether the two accesses belong together follows from the run, which the model does not record.
                    self.take_input(bit.address, mask, Changes::Clears, &Freedom::Abstracted, Demand::Stored);
                }
                _ => {}
            }
        }
    }

    /// The dependents of a register whose bits hardware may change now.
    fn moving_dependents(&mut self, address: u16) -> Vec<Group> {
        let machine = self.machine;
        machine.dependents(address).iter().copied().filter(|group| self.moves(group)).collect()
    }

    fn moves(&mut self, group: &Group) -> bool {
        let clocked = self.machine.device.register_at(group.address).map(|register| &register.clocked_while);
        if clocked.is_some_and(|clocked| !self.holds(clocked)) {
            return false;
        }
        match &group.bit.kind {
            BitKind::Input(input) => self.holds(&input.changes_while),
            BitKind::Flag(flag) => self.holds(&flag.raised_while),
            BitKind::Pulse(pulse) => self.holds(&pulse.raised_while),
            _ => false,
        }
    }

    /// Bits that hardware no longer changes keep the last value that it gave them.
    fn freeze(&mut self, moving: &[Group]) {
        for group in moving {
            if self.moves(group) {
                continue;
            }
            let (changes, freedom) = match &group.bit.kind {
                BitKind::Input(input) => (input.changes, &input.freedom),
                BitKind::Flag(flag) => (Changes::Sets, &flag.freedom),
                BitKind::Pulse(pulse) => (Changes::Sets, &pulse.freedom),
                _ => continue,
            };
            self.take_input(group.address, group.mask, changes, freedom, Demand::Stored);
        }
    }
}

/// The bits of `new` in `mask`, the others of `old`.
fn merge<V: ByteDomain>(old: &V, new: &V, mask: u8) -> V {
    match mask {
        0xff => new.clone(),
        _ => old.and(&V::constant(!mask)).or(&new.and(&V::constant(mask))),
    }
}
