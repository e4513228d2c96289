//! The I/O registers: what reading, writing and the hardware do to each kind of bit.
//!
//! The meaning of the kinds is stated at [`BitKind`]; the device table says which bit is of which kind.

mod automata;
mod operation;
mod read;
mod shift;
mod write;
mod zeros;

use super::Step;
use super::flags::flag;
use crate::automaton::Signal;
use crate::device::{BitKind, BitRef, Changes, ClearedBy, Condition, KnownBits, Severity};
use crate::environment::{Demand, DeterminedBy, Environment, Event, Input, Question};
use crate::hazard::{HazardKind, Stop};
use crate::machine::Group;
use avr_isa::DataAddress;
use three_valued::fault::{Fault, is_on};
use three_valued::{BitDomain, ByteDomain, Truth, TvByte};

impl<V: ByteDomain, E: Environment<V>> Step<'_, V, E> {
    /// Reads a register as the program does. Only the bits in `wanted` matter; hardware is asked only for those.
    pub(super) fn read_io(&mut self, address: DataAddress, wanted: u8, demand: Demand) -> Result<V, Stop> {
        let machine = self.machine;
        let Some(register) = machine.device.register_at(address) else {
            self.reserved_register(address)?;
            return Ok(self.undefined(address, demand));
        };
        let value = if machine.is_storage(register) {
            self.state.data.get(address).clone()
        } else {
            let driven = self.begin_driving(address);
            let value = self.read_peripheral(register, wanted | driven, demand);
            self.drive(address, value, demand)?
        };
        self.environment.event(Event::Read(address, &value));
        self.hear(Signal::Read(address), &value)?;
        if !machine.is_storage(register) {
            self.state.control.fresh_request |= self.has_requests(address);
            match self.holds(&register.clocked_while) {
                true => self.clear_by_access(address, false),
                false => self.clear_perhaps(address, false),
            }
        }
        Ok(value)
    }

    /// True if the flag of an interrupt that may be enabled is in a register.
    fn has_requests(&mut self, address: DataAddress) -> bool {
        let machine = self.machine;
        let mut all = machine.device.interrupts.iter();
        self.may_be_set(machine.status_bit(flag::I))
            && all.any(|one| one.flag().is_some_and(|flag| flag.address == address) && self.may_be_set(one.enable))
    }

    /// A byte of which the data sheet says nothing, at a data address.
    pub(super) fn undefined(&mut self, address: DataAddress, demand: Demand) -> V {
        self.environment.input(Input::Register(address), 0xff, demand, DeterminedBy::Undefined)
    }

    /// Writes a register as the program does.
    pub(super) fn write_io(&mut self, address: DataAddress, value: V) -> Result<(), Stop> {
        self.write_io_bits(address, value, 0xff)
    }

    /// SBI, CBI: change one bit and leave the other seven alone (also the data sheet on flag registers).
    pub(super) fn write_io_bit(&mut self, address: DataAddress, bit: u8, value: bool) -> Result<(), Stop> {
        self.write_io_bits(address, V::constant(u8::from(value) << bit), 1 << bit)
    }

    /// Writes the bits in `selected`; the others are not touched.
    fn write_io_bits(&mut self, address: DataAddress, value: V, selected: u8) -> Result<(), Stop> {
        let machine = self.machine;
        let told = self.told_byte(address, &value, selected);
        self.environment.event(Event::Write(address, &told));
        self.hear(Signal::Write(address), &told)?;
        if address == machine.status_address {
            let status = merge(self.status(), &value, selected);
            return self.write_status(status);
        }
        let Some(register) = machine.device.register_at(address) else {
            return self.reserved_register(address);
        };
        let direction = machine.makes_inputs(address).then(|| self.state.data.get(address).clone());
        if machine.is_storage(register) {
            let merged = merge(self.state.data.get(address), &value, selected);
            self.state.data.set(address, merged);
        } else {
            self.write_peripheral(register, value, selected)?;
        }
        if let Some(before) = direction {
            self.unsettle_pins(&before, address);
        }
        match address {
            _ if address == machine.stack_low && is_on(Fault::LowByteUncounted) => self.state.control.torn = true,
            _ if address == machine.stack_low => return self.stack_pointer_moved(),
            _ if Some(address) == machine.stack_high => self.state.control.torn = true,
            _ => {}
        }
        Ok(())
    }

    /// The byte of a write that events tell of. Stored bits that SBI and CBI do not touch are as they were; flags and strobes that they do
    /// not touch are 0, because a 1 would act.
    fn told_byte(&self, address: DataAddress, value: &V, selected: u8) -> V {
        let stored = match self.machine.device.register_at(address) {
            Some(register) if selected != 0xff => register.kinds.plain,
            _ => 0,
        };
        let kept = self.state.data.get(address).and(&V::constant(stored & !selected));
        kept.or(&value.and(&V::constant(selected)))
    }

    /// Pins that become inputs, because a bit goes from 1 to 0, have not settled when the next instruction reads them.
    fn unsettle_pins(&mut self, before: &V, address: DataAddress) {
        let becomes_input = before.and(&self.state.data.get(address).not());
        let any = (0..8).fold(V::Bit::constant(false), |any, bit| any.or(&becomes_input.bit(bit)));
        self.state.control.settling = self.decide(&any);
    }

    /// An access to an address in the I/O area at which there is no register.
    fn reserved_register(&self, address: DataAddress) -> Result<(), Stop> {
        match self.machine.device.policy.reserved_register {
            Severity::Note if !self.machine.forbids(HazardKind::ReservedRegister) => Ok(()),
            _ => self.hazard(HazardKind::ReservedRegister, Some(u32::from(address.0))),
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
        self.state.control.interrupt_delay = rises && !is_on(Fault::NoDelayAfterSei);
        Ok(())
    }

    fn write_status_without_interrupts(&mut self, status: V, wanted: &V::Bit) -> Result<(), Stop> {
        if self.decide(wanted) {
            return Err(Stop::hazard(HazardKind::InterruptsUnavailable, None));
        }
        self.state.data.set(self.machine.status_address, status.with_bit(flag::I, &V::Bit::constant(false)));
        Ok(())
    }

    /// True if a condition holds now. Hardware is asked for the bits that it may have changed; what stored bits leave
    /// open is cut into cases.
    pub(super) fn holds(&mut self, condition: &Condition) -> bool {
        match condition {
            Condition::Always => return true,
            Condition::Never => return false,
            _ => {}
        }
        // SOUND: what hardware may have changed counts as unknown here.
        if let Some(holds) = self.evaluate_exactly(condition, Condition::evaluate).known() {
            return holds;
        }
        let mut moving = Vec::new();
        condition.for_each_moving(&mut |bit| moving.push(bit));
        moving.into_iter().for_each(|bit| self.refresh_bits(bit, Demand::Decides));
        match self.evaluate_exactly(condition, Condition::evaluate_refreshed) {
            Truth::True => true,
            Truth::False => false,
            Truth::Unknown => self.settle(condition),
        }
    }

    /// The truth of a condition by the stored bits.
    pub(super) fn evaluate(
        &self,
        condition: &Condition,
        by: impl Fn(&Condition, &mut dyn FnMut(DataAddress) -> KnownBits) -> Truth,
    ) -> Truth {
        by(condition, &mut |address| {
            let bits = self.state.data.get(address).bits();
            KnownBits { known: bits.known_mask(), value: bits.value() }
        })
    }

    /// Cuts a condition into its cases and notes what is learned about single bits.
    pub(super) fn settle(&mut self, condition: &Condition) -> bool {
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

    /// Stores the bits in `mask` and leaves the others.
    fn store(&mut self, address: DataAddress, mask: u8, value: &V) {
        let merged = merge(self.state.data.get(address), value, mask);
        self.state.data.set(address, merged);
    }

    /// A stored bit that decided a skip is known afterwards.
    pub(super) fn assume_stored_bit(&mut self, address: DataAddress, bit: u8, value: bool) {
        let stored = self.state.data.get(address);
        if stored.bit(bit).known().is_none() {
            let known = stored.with_bit(bit, &V::Bit::constant(value));
            self.state.data.set(address, known);
        }
    }

    /// Clears the flags that an access to a register clears.
    fn clear_by_access(&mut self, address: DataAddress, write: bool) {
        let machine = self.machine;
        for (bit, cleared_by) in machine.cleared_by_access(address) {
            let mask = bit.mask();
            match **cleared_by {
                ClearedBy::Read(at) if !write && at == address => self.store(bit.address, mask, &V::constant(0)),
                ClearedBy::Write(at) if write && at == address => self.store(bit.address, mask, &V::constant(0)),
                ClearedBy::ReadThenAccess { then, seen, .. } if then == address => {
                    let kept = self.state.data.get(seen.address).bit(seen.bit).not();
                    let flag = self.state.data.get(bit.address).bit(bit.bit).and(&kept);
                    self.put_stored(*bit, &flag);
                    self.set_stored(seen, false);
                }
                ClearedBy::ReadThenAccess { first, seen, .. } if first == address && !write => {
                    let flag = self.state.data.get(bit.address).bit(bit.bit);
                    self.put_stored(seen, &flag);
                }
                _ => {}
            }
        }
    }

    /// Clears the flags that an access clears, or does not: the register has no clock.
    pub(super) fn clear_perhaps(&mut self, address: DataAddress, write: bool) {
        let concerns = |cleared_by: &ClearedBy| match *cleared_by {
            ClearedBy::Read(at) => !write && at == address,
            ClearedBy::Write(at) => write && at == address,
            ClearedBy::ReadThenAccess { first, then, .. } => then == address || first == address && !write,
            ClearedBy::WriteOne | ClearedBy::WriteZero | ClearedBy::InterruptEntry => false,
        };
        let machine = self.machine;
        for (bit, cleared_by) in machine.cleared_by_access(address).iter().filter(|(_, by)| concerns(by)) {
            let any = self.undefined_bits(bit.address, bit.mask()).bit(bit.bit);
            let kept = self.state.data.get(bit.address).bit(bit.bit).and(&any);
            self.put_stored(*bit, &kept);
            if let ClearedBy::ReadThenAccess { seen, .. } = **cleared_by {
                let any = self.undefined_bits(seen.address, seen.mask()).bit(seen.bit);
                self.put_stored(seen, &any);
            }
        }
    }

    /// Sets a stored bit.
    pub(super) fn set_stored(&mut self, bit: BitRef, value: bool) {
        self.put_stored(bit, &V::Bit::constant(value));
    }

    /// Gives a stored bit a value.
    pub(super) fn put_stored(&mut self, bit: BitRef, value: &V::Bit) {
        let stored = self.state.data.get(bit.address).with_bit(bit.bit, value);
        self.state.data.set(bit.address, stored);
    }

    /// The dependents of a register whose bits hardware may change now.
    fn moving_dependents(&mut self, address: DataAddress) -> Vec<Group> {
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
    /// Flags among the bits that a write to a register selects were asked for before they were written.
    fn freeze(&mut self, moving: &[Group], written: DataAddress, selected: u8) {
        for group in moving {
            let was_asked =
                group.address == written && group.mask & !selected == 0 && matches!(group.bit.kind, BitKind::Flag(_));
            if was_asked || self.moves(group) {
                continue;
            }
            let (changes, freedom) = match &group.bit.kind {
                BitKind::Input(input) if input.copies.is_some() => {
                    self.take_anything(group, input);
                    continue;
                }
                BitKind::Input(input) if input.latched_by.is_some() => {
                    if !self.is_locked(group.address) {
                        self.mark_pending(group.address, group.mask);
                    }
                    continue;
                }
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
