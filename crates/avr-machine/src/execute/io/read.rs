//! Reads of I/O registers, with the changes that hardware may have made to their bits by then.

use super::merge;
use crate::device::{Access, BitKind, BitRef, Changes, Condition, Flag, Freedom, KnownBits, Pulse, Register, Told};
use crate::environment::{Demand, DeterminedBy, Environment, Input};
use crate::execute::Step;
use crate::machine::Group;
use avr_isa::DataAddress;
use three_valued::{BitDomain, ByteDomain, TvByte};

/// Bits that hardware may change, and that the register does not store.
enum Moving {
    /// There are none.
    No,
    /// They are 1.
    Ones,
    /// They are to be asked for, and are determined as this says.
    Open(&'static Freedom),
}

impl<V: ByteDomain, E: Environment<V>> Step<'_, V, E> {
    pub(super) fn read_peripheral(&mut self, register: &'static Register, wanted: u8, demand: Demand) -> V {
        if !self.holds(&register.clocked_while) {
            if let Access::LowOfPair { temp, latches: true, .. } = register.access {
                self.lose(self.machine.temp_cell(temp));
            }
            return self.undefined(register.address, demand);
        }
        match register.access {
            Access::HighOfPair { temp, latched: true, .. } => {
                return self.state.data.get(self.machine.temp_cell(temp)).clone();
            }
            Access::LocksPair { high, lock, .. } => {
                // Both bytes are those of one result from now on.
                if let Some(register) = self.machine.device.register_at(high) {
                    self.hold_high_byte(register);
                }
                let value = self.refresh(register, wanted, demand);
                self.set_stored(lock, true);
                return value;
            }
            Access::UnlocksPair { lock } => {
                let value = self.refresh(register, wanted, demand);
                self.set_stored(lock, false);
                return value;
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
    pub(in crate::execute) fn refresh(&mut self, register: &'static Register, wanted: u8, demand: Demand) -> V {
        let mut moving: Option<V> = None;
        let mut moving_mask = 0;
        // With nothing else a value keeps its range.
        let add = |moving: &mut Option<V>, bits: V| {
            *moving = Some(moving.take().map_or(bits.clone(), |others| others.or(&bits)));
        };
        let at_once = self.environment.asks_at_once(register.address);
        let mut later: Vec<(DeterminedBy, u8)> = Vec::new();
        for group in self.machine.groups(register) {
            let mask = group.mask & wanted;
            if mask == 0 {
                continue;
            }
            let freedom = match self.refresh_group(group, mask, demand) {
                Moving::No => continue,
                Moving::Ones => {
                    add(&mut moving, V::constant(mask));
                    moving_mask |= mask;
                    continue;
                }
                Moving::Open(freedom) => freedom,
            };
            let mask = mask & !self.leave_to_automata(register.address, mask, freedom);
            moving_mask |= mask;
            if mask == 0 {
                continue;
            }
            let who = self.who_is_asked(register.address, freedom);
            match later.iter_mut().find(|(other, _)| *other == who) {
                _ if !at_once => add(&mut moving, self.ask_of(who, register.address, mask, demand)),
                Some((_, all)) => *all |= mask,
                None => later.push((who, mask)),
            }
        }
        for (who, mask) in later {
            add(&mut moving, self.ask_of(who, register.address, mask, demand));
        }
        let stored = self.state.data.get(register.address);
        moving.map_or(stored.clone(), |moving| merge(stored, &moving, moving_mask))
    }

    /// Lets hardware change some bits. Bits that it changes in both directions, and that are not latched, have no memory: they
    /// are returned and not stored, because the next read asks again.
    fn refresh_group(&mut self, group: &Group, mask: u8, demand: Demand) -> Moving {
        let address = group.address;
        match &group.bit.kind {
            BitKind::Input(input) => {
                let stood = input.latched_by.is_some_and(|event| {
                    if input.copies.is_some() {
                        self.decide_bit(event);
                    }
                    let stood = self.state.data.get(event.address).bit(event.bit).known() != Some(false);
                    self.refresh_bits(event, demand);
                    stood
                });
                if self.zeroed(address, mask, &input.zero_while) {
                    return Moving::No;
                }
                if self.holds(&input.ones_while) {
                    return Moving::Ones;
                }
                if let Some(source) = input.copies {
                    self.take_copy(group, input, source, stood, demand);
                    return Moving::No;
                }
                let changes = self.holds(&input.changes_while);
                if input.latched_by.is_some() {
                    if changes && !self.is_locked(address) {
                        self.mark_pending(address, group.mask);
                    }
                    self.take_pending(address, group.mask, input, demand);
                    return Moving::No;
                }
                if !changes {
                    return Moving::No;
                }
                if input.changes == Changes::Both {
                    return Moving::Open(&input.freedom);
                }
                self.take_input(address, mask, input.changes, &input.freedom, demand);
            }
            BitKind::Flag(flag) => self.refresh_flag(address, mask, flag, demand),
            BitKind::Pulse(pulse) => self.refresh_pulse(address, mask, pulse, demand),
            BitKind::Plain | BitKind::ReadOnly | BitKind::Reserved | BitKind::Strobe | BitKind::Window(_) => {}
        }
        Moving::No
    }

    /// Makes the bits 0 if the condition holds, and says whether it does.
    pub(super) fn zeroed(&mut self, address: DataAddress, mask: u8, condition: &Condition) -> bool {
        let holds = self.holds(condition);
        if holds {
            self.store(address, mask, &V::constant(0));
        }
        holds
    }

    pub(super) fn refresh_flag(&mut self, address: DataAddress, mask: u8, flag: &Flag, demand: Demand) {
        if self.zeroed(address, mask, &flag.zero_while) {
            return;
        }
        if let Some(pulse) = flag.raised_by {
            self.refresh_operation(pulse);
        }
        if let Some(sent) = self.sent(BitRef { address, bit: mask.trailing_zeros() as u8 }) {
            // That something is on its way need not be told apart.
            if sent.known() != Some(false) {
                self.refresh_event(BitRef { address, bit: mask.trailing_zeros() as u8 }, &flag.freedom, demand);
            }
            return;
        }
        if !self.holds(&flag.raised_while) {
            return;
        }
        let bit = BitRef { address, bit: mask.trailing_zeros() as u8 };
        if self.machine.operations().is_event(bit) {
            return self.refresh_event(bit, &flag.freedom, Demand::Decides);
        }
        self.take_input(address, mask, Changes::Sets, &flag.freedom, demand);
    }

    /// Lets hardware set a flag with which something else changes.
    pub(super) fn refresh_event(&mut self, flag: BitRef, freedom: &Freedom, demand: Demand) {
        self.decide_bit(flag);
        let stored = self.state.data.get(flag.address).bit(flag.bit);
        if stored.known() == Some(true) || !self.is_asked_first(flag) {
            return;
        }
        let mut rises = self.ask(flag.address, flag.mask(), freedom, demand).bit(flag.bit);
        if let Some(sent) = self.sent(flag) {
            rises = rises.and(&sent);
        }
        self.put_stored(flag, &stored.or(&rises));
        self.flag_rises(flag, &stored.not().and(&rises));
    }

    /// The hidden bit of a flag that tells when everything is sent: something is on its way.
    fn sent(&mut self, flag: BitRef) -> Option<V::Bit> {
        let owed = self.machine.operations().owed(flag).filter(|owed| matches!(owed.told, Told::All(_)))?;
        self.decide_bit(owed.one);
        Some(self.state.data.get(owed.one.address).bit(owed.one.bit))
    }

    fn refresh_pulse(&mut self, address: DataAddress, mask: u8, pulse: &Pulse, demand: Demand) {
        if self.zeroed(address, mask, &pulse.zero_while) {
            return;
        }
        if self.holds(&pulse.kept_while) {
            return;
        }
        if self.holds(&pulse.raised_while) {
            self.take_input(address, mask, Changes::Both, &pulse.freedom, demand);
        } else if self.machine.operations().is_event(BitRef { address, bit: mask.trailing_zeros() as u8 }) {
            self.refresh_operation(BitRef { address, bit: mask.trailing_zeros() as u8 });
        } else {
            self.take_input(address, mask, Changes::Clears, &pulse.freedom, demand);
        }
    }

    /// Asks for input bits of a register. Bits that the user assumes to be constant are.
    pub(super) fn ask(&mut self, address: DataAddress, mask: u8, freedom: &Freedom, demand: Demand) -> V {
        self.ask_of(self.who_is_asked(address, freedom), address, mask, demand)
    }

    /// The same where it is known who determines the bits.
    fn ask_of(&mut self, who: DeterminedBy, address: DataAddress, mask: u8, demand: Demand) -> V {
        let assumed = self.machine.options().assumed.get(&address).copied().unwrap_or(TvByte::UNKNOWN);
        let open = mask & assumed.unknown_mask();
        let fixed = V::constant(assumed.value() & mask);
        if open == 0 {
            return fixed;
        }
        let input = self.environment.input(Input::Register(address), open, demand, who);
        if fixed.known() == Some(0) { input } else { input.or(&fixed) }
    }

    /// The player who determines input bits of a register in this step.
    fn who_is_asked(&self, address: DataAddress, freedom: &Freedom) -> DeterminedBy {
        // An input synchroniser still has what the pin was before it became an input (data sheet, "Reading the Pin Value").
        match self.settling && self.machine.is_pin(address) {
            true => DeterminedBy::Hardware,
            false => self.who_determines(freedom, address),
        }
    }

    /// Who determines a bit of the register at an address, or an interrupt that it requests, in this state.
    ///
    /// A pin that is assumed to be constant brings nothing from outside. What rests on such pins alone is left to the
    /// hardware, so that no verdict about the hardware rests on it.
    pub(in crate::execute) fn who_determines(&self, freedom: &Freedom, address: DataAddress) -> DeterminedBy {
        let is_certain = |condition: &Condition| {
            let from_outside = |condition: &Condition, read: &mut dyn FnMut(DataAddress) -> KnownBits| {
                condition.evaluate(&mut |address| {
                    let bits = read(address);
                    KnownBits { known: bits.known & !self.machine.held_inputs(address), ..bits }
                })
            };
            self.evaluate(condition, from_outside).is_true()
        };
        match freedom {
            Freedom::Real | Freedom::RealWhile(_) | Freedom::RealEvery(..) if self.machine.is_held(address) => {
                DeterminedBy::Hardware
            }
            Freedom::Real => DeterminedBy::Environment,
            Freedom::RealWhile(condition) | Freedom::RealOrUndefined(condition) if is_certain(condition) => {
                DeterminedBy::Environment
            }
            Freedom::RealEvery(_, condition) if is_certain(condition) => DeterminedBy::EnvironmentInTime,
            Freedom::AbstractedWhile(condition) if !is_certain(condition) => DeterminedBy::Undefined,
            Freedom::Undefined | Freedom::RealOrUndefined(_) => DeterminedBy::Undefined,
            Freedom::Abstracted | Freedom::AbstractedWhile(_) | Freedom::RealWhile(_) | Freedom::RealEvery(..) => {
                DeterminedBy::Hardware
            }
        }
    }

    /// Combines the stored bits with fresh input and stores the result. Bits that cannot change are not asked for.
    pub(super) fn take_input(
        &mut self,
        address: DataAddress,
        mask: u8,
        changes: Changes,
        freedom: &Freedom,
        demand: Demand,
    ) {
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
}
