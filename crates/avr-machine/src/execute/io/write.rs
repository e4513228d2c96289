//! What writing an I/O register does to each kind of bit.

use crate::device::{
    Access, Bit, BitKind, BitRef, Changes, ClearedBy, Condition, Flag, Guard, Input as InputBit, InputWrite, Protected,
    Register, Severity, Window,
};
use crate::environment::{Demand, Environment, Input};
use crate::execute::Step;
use crate::hazard::{HazardKind, Stop};
use crate::machine::Group;
use three_valued::fault::{Fault, is_on};
use three_valued::{BitDomain, ByteDomain};

impl<V: ByteDomain, E: Environment<V>> Step<'_, V, E> {
    pub(super) fn write_peripheral(&mut self, register: &'static Register, value: V, selected: u8) -> Result<(), Stop> {
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
        let eeprom = self.machine.device.eeprom.filter(|eeprom| eeprom.program.address == address);
        if let Some(eeprom) = eeprom.filter(|eeprom| selected & eeprom.program.mask() != 0 && !is_on(Fault::BusyStale))
        {
            // Programming that was under way may be done by now, unseen.
            self.refresh_bits(eeprom.program, Demand::Decides);
        }
        let before = self.state.data.get(address).clone();
        self.write_bits(register, &value, selected)?;
        self.clear_by_access(address, true);
        if let Some(eeprom) = eeprom {
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
        // The content before the write decides which bits can be written.
        let (mut windows, mut writable) = (0u8, 0u8);
        for group in self.machine.groups(register) {
            let mask = group.mask & selected;
            if let BitKind::Window(_) = group.bit.kind {
                windows |= mask;
            } else if mask != 0 && self.holds(&group.bit.writable_while) {
                writable |= mask;
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

    fn write_group(&mut self, address: u16, mask: u8, group: &Group, value: &V, before: &V) -> Result<(), Stop> {
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
}
