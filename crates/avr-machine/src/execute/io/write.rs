//! Writes of I/O registers, by the kind of each bit.

use crate::device::{
    Access, Bit, BitKind, BitRef, Changes, ClearedBy, Condition, Flag, Guard, Input as InputBit, InputWrite, Protected,
    Register, Severity, Window,
};
use crate::environment::{Demand, DeterminedBy, Environment, Input};
use crate::execute::Step;
use crate::hazard::{HazardKind, Limit, Stop};
use crate::machine::Group;
use avr_isa::DataAddress;
use three_valued::fault::{Fault, is_on};
use three_valued::{BitDomain, ByteDomain};

impl<V: ByteDomain, E: Environment<V>> Step<'_, V, E> {
    pub(super) fn write_peripheral(&mut self, register: &'static Register, value: V, selected: u8) -> Result<(), Stop> {
        let address = register.address;
        self.state.control.fresh_request = true;
        if !self.holds(&register.clocked_while) {
            return self.write_without_clock(register);
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
            Access::Direct | Access::LocksPair { .. } | Access::UnlocksPair { .. } => {}
        }
        let eeprom = self.machine.device.eeprom.filter(|eeprom| eeprom.program.address == address);
        if let Some(eeprom) = eeprom.filter(|eeprom| selected & eeprom.program.mask() != 0 && !is_on(Fault::BusyStale))
        {
            // Programming that was under way may be done by now, unseen.
            self.refresh_bits(eeprom.program, Demand::Decides);
        }
        if let Some(pair) = self.machine.operations().adjusted(address) {
            self.settle_result(pair);
        }
        let machine = self.machine;
        let shifter = machine.device.shifter.as_ref().filter(|shifter| shifter.strobe.address == address);
        let was_strobed = shifter.is_some_and(|shifter| self.holds(&shifter.strobed_while));
        let before = self.state.data.get(address).clone();
        self.start_operations(address, &value, selected);
        self.write_bits(register, &value, selected)?;
        if let Some(shifter) = shifter {
            self.shift_command(shifter, &value, selected, was_strobed);
        }
        self.clear_by_access(address, true);
        if let Some(pair) = self.machine.operations().adjusted(address) {
            self.adjust(pair, &before);
        }
        if let Some(eeprom) = eeprom {
            self.eeprom_command(&eeprom, &before, &value, selected);
        }
        self.corrupt(address, &before);
        self.refuse_unmodelled(address)
    }

    /// A write of which it is unknown whether it is stored, and whether it does what else it would do.
    fn write_without_clock(&mut self, register: &'static Register) -> Result<(), Stop> {
        let machine = self.machine;
        let address = register.address;
        let held = self.held_at_zero(address);
        self.lose(address);
        match register.access {
            Access::HighOfPair { temp, .. } => self.lose(machine.temp_cell(temp)),
            Access::LowOfPair { high, .. } => self.lose(high),
            Access::Direct | Access::LocksPair { .. } | Access::UnlocksPair { .. } => {}
        }
        self.settle_zeros(address, 0, &[], &held);
        for (bit, start) in machine.operations().started(address) {
            for perhaps in [Some(*bit), start.collision].into_iter().flatten() {
                let any = self.undefined_bits(perhaps.address, perhaps.mask()).bit(perhaps.bit);
                let stored = self.state.data.get(perhaps.address).bit(perhaps.bit);
                self.put_stored(perhaps, &stored.or(&any));
            }
        }
        self.clear_perhaps(address, true);
        self.refuse_unmodelled(address)
    }

    /// Makes the content of a register undefined.
    pub(super) fn lose(&mut self, address: DataAddress) {
        let input = self.undefined(address, Demand::Stored);
        self.state.data.set(address, input);
    }

    /// Stops where a bit of a register that was written switches on what no model follows.
    fn refuse_unmodelled(&mut self, address: DataAddress) -> Result<(), Stop> {
        let machine = self.machine;
        for one in machine.device.unmodelled.iter().filter(|one| one.when_set.address == address) {
            let is_set = self.state.data.get(address).bit(one.when_set.bit);
            if self.decide(&is_set) {
                return Err(Stop::Limit(Limit::Unsupported(one.what)));
            }
        }
        Ok(())
    }

    /// Registers that a change of a bit may corrupt are unknown afterwards.
    fn corrupt(&mut self, address: DataAddress, before: &V) {
        let machine = self.machine;
        for corruption in machine.device.corruptions.iter().filter(|one| one.when_changed.address == address) {
            let bit = corruption.when_changed.bit;
            let changed = self.state.data.get(address).bit(bit).xor(&before.bit(bit));
            if self.decide(&changed) {
                for register in &corruption.registers {
                    self.lose(*register);
                }
            }
        }
    }

    /// Writes the bits by kind, then lets what depends on them follow.
    fn write_bits(&mut self, register: &'static Register, value: &V, selected: u8) -> Result<(), Stop> {
        let address = register.address;
        self.settle_copies(address);
        let moving = self.moving_dependents(address);
        let copies = self.moving_copies(&moving);
        let held = self.held_at_zero(address);
        // The content before the write decides which bits can be written.
        let (mut windows, mut writable) = (0u8, 0u8);
        for group in self.machine.groups(register) {
            let mask = group.mask & selected;
            if let BitKind::Window(_) = group.bit.kind {
                windows |= mask;
            } else if mask != 0 && self.is_writable(address, mask, group.bit) {
                writable |= mask;
            }
        }
        for group in self.machine.groups(register) {
            if group.mask & writable != 0 {
                self.ask_before_write(address, group.mask & writable, group.bit);
            }
        }
        let before = self.state.data.get(address).clone();
        for group in self.machine.groups(register) {
            let mask = group.mask & writable;
            if mask == 0 {
                continue;
            }
            self.write_group(address, mask, group, value, &before)?;
        }
        self.write_windows(register, windows, value)?;
        self.keep_pulses(register, writable, value);
        self.time_pulses(register, writable, value);
        self.keep_locked_bits(address);
        self.freeze(&moving, address, selected);
        self.freeze_copies(&copies);
        self.settle_zeros(address, selected, &moving, &held);
        Ok(())
    }

    /// True if a write may change bits, before it does; where it is refused that is noted.
    fn is_writable(&mut self, address: DataAddress, mask: u8, bit: &Bit) -> bool {
        let writable = self.holds(&bit.writable_while)
            || self.holds(&bit.perhaps_writable_while)
                && self.undefined_case(BitRef { address, bit: mask.trailing_zeros() as u8 });
        if let Some(refusal) = bit.refusal {
            self.set_stored(refusal, !writable);
        }
        writable
    }

    /// Pulses that hardware leaves as they are written from now on.
    fn keep_pulses(&mut self, register: &'static Register, written: u8, value: &V) {
        for group in self.machine.groups(register) {
            if let BitKind::Pulse(pulse) = &group.bit.kind
                && group.mask & written != 0
                && self.holds(&pulse.kept_while)
            {
                self.store(register.address, group.mask & written, value);
            }
        }
    }

    /// Pulses that surely end some cycles after they were set, or are kept no longer.
    fn time_pulses(&mut self, register: &'static Register, written: u8, value: &V) {
        for group in self.machine.groups(register) {
            let BitKind::Pulse(pulse) = &group.bit.kind else { continue };
            let Some(cycles) = pulse.within else { continue };
            let bit = BitRef { address: register.address, bit: group.mask.trailing_zeros() as u8 };
            let index = self.machine.window_index(bit);
            let stored = self.state.data.get(bit.address).bit(bit.bit);
            let is_one = self.decide(&stored);
            self.set_stored(bit, is_one);
            if !is_one || self.holds(&pulse.kept_while) {
                self.state.control.close_window(index);
            } else if self.state.control.windows[index] == 0
                || group.mask & written != 0 && self.decide(&value.bit(bit.bit))
            {
                self.state.control.open_window(index, cycles);
            }
        }
    }

    /// Bits that a programmed fuse keeps at a value have it after every write (data sheet, "Watchdog Timer", `WDTON`).
    fn keep_locked_bits(&mut self, address: DataAddress) {
        let machine = self.machine;
        for rule in machine.locked().iter().filter(|rule| rule.address == address) {
            self.store(address, rule.mask, &V::constant(rule.programmed));
        }
    }

    /// Bits that are 1 while a condition holds, whatever is written, are so after a reset as well (`WDE` while `WDRF`).
    pub(in crate::execute) fn force_bits_after_reset(&mut self) {
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

    /// Asks hardware for flags and operations that a write selects.
    ///
    /// SOUND: hardware may have raised the flag or ended the operation before the write, unseen. So nothing of the register is written yet
    /// that would rule it out.
    fn ask_before_write(&mut self, address: DataAddress, mask: u8, bit: &Bit) {
        let place = BitRef { address, bit: mask.trailing_zeros() as u8 };
        match &bit.kind {
            BitKind::Flag(flag) if !self.clears_event(place, flag) => {
                self.refresh_flag(address, mask, flag, Demand::Stored);
            }
            BitKind::Pulse(_) if self.machine.operations().is_event(place) => {
                self.refresh_bits(place, Demand::Decides);
            }
            _ => {}
        }
    }

    /// True for a flag that a 1 clears and with which bits take those of another register. It is asked for only where it is not cleared.
    fn clears_event(&self, place: BitRef, flag: &Flag) -> bool {
        self.makes_copies(place) && flag.cleared_by.contains(&ClearedBy::WriteOne)
    }

    fn write_group(
        &mut self,
        address: DataAddress,
        mask: u8,
        group: &Group,
        value: &V,
        before: &V,
    ) -> Result<(), Stop> {
        let bit = group.bit;
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

    fn write_plain_bits(
        &mut self,
        address: DataAddress,
        mask: u8,
        bit: &Bit,
        value: &V,
        before: &V,
    ) -> Result<(), Stop> {
        let value = self.through_guard(mask, bit, value, before)?;
        self.store(address, mask, &value);
        Ok(())
    }

    /// The part of a value written to bits that a guard lets through.
    fn through_guard(&mut self, mask: u8, bit: &Bit, value: &V, before: &V) -> Result<V, Stop> {
        let Some(guard) = bit.guard else { return Ok(value.clone()) };
        if !self.window_open(guard) {
            return self.guarded(mask, guard, value, before);
        }
        let asks_again = self.machine.window(guard.window).is_some_and(|window| window.closed_by_write)
            && self.decide(&value.bit(guard.window.bit));
        if !asks_again {
            return Ok(value.clone());
        }
        let changed = self.undefined_bits(guard.window.address, mask);
        Ok(before.xor(&before.xor(value).and(&changed)))
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
                self.hazard(HazardKind::WatchdogSequence, Some(u32::from(guard.window.address.0)))?;
            }
        }
        Ok(kept)
    }

    fn window_open(&mut self, guard: Guard) -> bool {
        let bit = self.state.data.get(guard.window.address).bit(guard.window.bit);
        self.decide(&bit)
    }

    /// Reserved bits read 0; writing 1 is a hazard or, where the device says so, only a remark.
    fn write_reserved(&mut self, address: DataAddress, mask: u8, value: &V) -> Result<(), Stop> {
        let harmless = self.machine.device.policy.reserved_bit == Severity::Note
            && !self.machine.forbids(HazardKind::ReservedBitWrite);
        if harmless {
            return Ok(());
        }
        let ones = value.and(&V::constant(mask)).is_zero().not();
        if self.decide(&ones) {
            self.hazard(HazardKind::ReservedBitWrite, Some(u32::from(address.0)))?;
        }
        Ok(())
    }

    fn write_input(&mut self, address: DataAddress, mask: u8, input: &InputBit, value: &V) {
        match input.on_write {
            // While hardware changes the bits, what was written is gone before it can be seen for certain.
            InputWrite::Stored if input.changes == Changes::Both && self.holds(&input.changes_while) => {}
            InputWrite::Stored => {
                self.store(address, mask, value);
                self.forget_pending(address, mask);
            }
            InputWrite::Discarded => {}
            InputWrite::Toggles(port) => {
                let toggled = self.state.data.get(port).xor(&value.and(&V::constant(mask)));
                self.state.data.set(port, toggled);
            }
        }
    }

    fn write_flag(&mut self, address: DataAddress, mask: u8, flag: &Flag, value: &V) {
        let place = BitRef { address, bit: mask.trailing_zeros() as u8 };
        if self.clears_event(place, flag) {
            match self.decide(&value.bit(place.bit)) {
                true => self.clear_event(place),
                false => self.refresh_flag(address, mask, flag, Demand::Stored),
            }
            return;
        }
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

    fn write_pulse(&mut self, address: DataAddress, mask: u8, bit: &Bit, value: &V, before: &V) -> Result<(), Stop> {
        let allowed = self.through_guard(mask, bit, value, before)?;
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

    /// The bit that is 1 if writing a value opens a window.
    fn opens(&self, window: BitRef, value: &V) -> V::Bit {
        let Some(kind) = self.machine.window(window) else { return V::Bit::constant(false) };
        let ones = value.not().and(&V::constant(kind.opened_with_ones)).is_zero();
        let zeros = value.and(&V::constant(kind.opened_with_zeros)).is_zero();
        ones.and(&zeros)
    }

    fn write_window(&mut self, bit: BitRef, window: &Window, value: &V) {
        let index = self.machine.window_index(bit);
        let is_open = self.state.control.windows[index] > 0;
        let closes = is_open && window.closed_by_write;
        let opens = self.opens(bit, value);
        let opens = self.decide(&opens);
        // The data sheet leaves open two cases: the bit is still 1 where it is to be 0, or another one is.
        let doubtful = match closes {
            true => value.bit(bit.bit),
            false => value.and(&V::constant(window.doubtful_with_ones)).is_zero().not(),
        };
        let doubtful = (opens || closes) && self.decide(&doubtful);
        if doubtful && self.undefined_case(bit) {
            return;
        }
        if opens && !(doubtful && closes && self.undefined_case(bit)) {
            self.store(bit.address, bit.mask(), &V::constant(0xff));
            self.state.control.open_window(index, window.cycles);
        } else if closes {
            self.clear_window(index);
            self.state.control.interrupt_delay |= window.holds_interrupts_off;
        }
    }

    /// One of two cases between which the data sheet does not decide.
    pub(super) fn undefined_case(&mut self, bit: BitRef) -> bool {
        let case = self.undefined_bits(bit.address, bit.mask()).bit(bit.bit);
        self.decide(&case)
    }

    /// Bits of which the data sheet says nothing; the others are 0.
    pub(super) fn undefined_bits(&mut self, address: DataAddress, mask: u8) -> V {
        self.environment.input(Input::Register(address), mask, Demand::Stored, DeterminedBy::Undefined)
    }
}
