//! Operations that hardware does by itself (see [`crate::operations`]): their start, and what changes with their end.

use crate::device::{Access, BitKind, BitRef, Input as InputBit, Register, SetByWrite, Told};
use crate::environment::{Demand, Environment};
use crate::execute::Step;
use crate::machine::Group;
use crate::operations::AdjustedPair;
use avr_isa::DataAddress;
use three_valued::{BitDomain, ByteDomain};

impl<V: ByteDomain, E: Environment<V>> Step<'_, V, E> {
    /// True the first time in this step that hardware is asked for a bit with which something else changes.
    pub(super) fn is_asked_first(&mut self, bit: BitRef) -> bool {
        let is_first = !self.asked.contains(&bit);
        self.asked.push(bit);
        is_first
    }

    /// The pulse of an operation, as hardware has it now. Where that stays unknown, so does what changes with its end. Mostly
    /// the cases are distinguished, because the program waits for the end.
    pub(super) fn refresh_operation(&mut self, pulse: BitRef) {
        if self.may_be_set(pulse) && !self.is_off(pulse) {
            self.ask_operation(pulse);
        }
    }

    /// Asks hardware whether an operation goes on, once in a step.
    pub(super) fn ask_operation(&mut self, pulse: BitRef) {
        let Some(BitKind::Pulse(kind)) = self.machine.device.bit_at(pulse).map(|bit| &bit.kind) else { return };
        self.decide_bit(pulse);
        let stored = self.stored(pulse);
        if stored.known() == Some(false) || !self.is_asked_first(pulse) {
            return;
        }
        let goes_on = self.ask(pulse.address, pulse.mask(), &kind.freedom, Demand::Decides).bit(pulse.bit);
        self.put_stored(pulse, &stored.and(&goes_on));
        self.operation_ended(pulse, &stored.and(&goes_on.not()));
    }

    /// True if no operation ends now, because the peripheral is off. The pulse is 0 then, unless it is kept.
    pub(in crate::execute) fn is_off(&mut self, pulse: BitRef) -> bool {
        let Some(BitKind::Pulse(kind)) = self.machine.device.bit_at(pulse).map(|bit| &bit.kind) else { return false };
        let is_off = self.holds(&kind.zero_while);
        if is_off {
            self.set_stored(pulse, false);
        }
        is_off || self.holds(&kind.kept_while)
    }

    /// An operation is done: its pulse falls, its flag rises, and its results are there.
    pub(in crate::execute) fn operation_ends(&mut self, pulse: BitRef) {
        self.set_stored(pulse, false);
        self.operation_ended(pulse, &V::Bit::constant(true));
    }

    /// Changes the bits that the end of an operation changes, if it ended.
    fn operation_ended(&mut self, pulse: BitRef, ended: &V::Bit) {
        if let Some(flag) = self.machine.operations().raised(pulse) {
            let raised = self.stored(flag).or(ended);
            self.put_stored(flag, &raised);
        }
        self.latch(pulse, ended);
    }

    /// A flag with which something else changes rises, if it does.
    pub(in crate::execute) fn flag_rises(&mut self, flag: BitRef, rises: &V::Bit) {
        if let Some(owed) = self.machine.operations().owed(flag)
            && self.holds(&owed.told_while)
        {
            let (one, more) = (self.stored(owed.one), self.stored(owed.more));
            // Three-valued bits do not know that a choice between two alike gives the same.
            let left = match one.known() == more.known() && !self.environment.is_exact() {
                true => one,
                false => one.and(&rises.not()).or(&more.and(rises)),
            };
            self.put_stored(owed.one, &left);
            if let Told::All(empty) = owed.told {
                let is_empty = self.stored(empty).or(&rises.and(&more.not()));
                self.put_stored(empty, &is_empty);
                self.put_stored(owed.more, &more.and(&rises.not()));
            }
        }
        self.latch(flag, rises);
    }

    /// The inputs that are latched with an event have new values if it happened, unless they are locked. Hardware is asked for them when
    /// they are read: until then nobody can tell.
    fn latch(&mut self, event: BitRef, happened: &V::Bit) {
        let machine = self.machine;
        for group in machine.operations().latched(event) {
            let Some(cell) = machine.operations().pending(group.address) else { continue };
            if let BitKind::Input(InputBit { copies: Some(_), changes_while, .. }) = &group.bit.kind
                && !self.holds(changes_while)
            {
                continue;
            }
            let latched = match self.lock(group.address) {
                Some(lock) => self.stored(lock).not().and(happened),
                None => happened.clone(),
            };
            let mark = mark(group.mask);
            let pending = self.state.data.get(cell).clone();
            let pending = pending.with_bit(mark, &pending.bit(mark).or(&latched));
            self.state.data.set(cell, pending);
        }
    }

    /// A stored bit.
    fn stored(&self, bit: BitRef) -> V::Bit {
        self.state.data.get(bit.address).bit(bit.bit)
    }

    /// Takes note that a group of bits has a new value that nobody has asked for.
    pub(super) fn mark_pending(&mut self, address: DataAddress, group: u8) {
        self.set_pending(address, group, true);
    }

    /// Bits that were written, or asked for, have no other value any more.
    pub(super) fn forget_pending(&mut self, address: DataAddress, group: u8) {
        self.set_pending(address, group, false);
    }

    fn set_pending(&mut self, address: DataAddress, group: u8, value: bool) {
        if let Some(cell) = self.machine.operations().pending(address) {
            self.set_stored(BitRef { address: cell, bit: mark(group) }, value);
        }
    }

    /// Asks hardware for a group of bits if it has a new value.
    pub(super) fn take_pending(&mut self, address: DataAddress, group: u8, input: &InputBit, demand: Demand) {
        let Some(cell) = self.machine.operations().pending(address) else { return };
        if self.decide_stored(BitRef { address: cell, bit: mark(group) }) {
            let value = self.ask(address, group, &input.freedom, demand);
            self.store(address, group, &possible(input, &value));
            self.forget_pending(address, group);
        }
    }

    /// Lets bits take those of another register, as they have by now: for certain with an event of which nobody has asked, and perhaps
    /// where the event `stood` before.
    pub(super) fn take_copy(
        &mut self,
        group: &Group,
        input: &InputBit,
        source: DataAddress,
        stood: bool,
        demand: Demand,
    ) {
        let (address, mask) = (group.address, group.mask);
        let Some(cell) = self.machine.operations().pending(address) else { return };
        self.decide_bit(BitRef { address: cell, bit: mark(mask) });
        let is_new = self.stored(BitRef { address: cell, bit: mark(mask) }).known();
        if is_new == Some(false) && !(stood && self.holds(&input.changes_while)) {
            return;
        }
        self.forget_pending(address, mask);
        if self.source_moves(source) {
            // The source was something else when it was copied.
            let value = self.ask(address, mask, &input.freedom, demand);
            return self.store(address, mask, &value);
        }
        let copy = self.state.data.get(source).clone();
        if is_new == Some(true) {
            return self.store(address, mask, &copy);
        }
        let kept = self.state.data.get(address).clone();
        let differs = kept.xor(&copy).and(&V::constant(mask));
        let open = differs.bits().value() | differs.bits().unknown_mask();
        if open != 0 {
            // Each bit is one of both.
            let changed = self.ask(address, open, &input.freedom, demand).and(&differs);
            self.store(address, mask, &kept.xor(&changed));
        }
    }

    /// True where hardware changes a register by itself now.
    fn source_moves(&mut self, source: DataAddress) -> bool {
        let Some(register) = self.machine.device.register_at(source) else { return false };
        self.machine.groups(register).iter().any(|group| self.moves(group))
    }

    /// Before a register that stands still is written, what takes its bits has them. Hardware is asked for the event without telling its
    /// answers apart.
    pub(super) fn settle_copies(&mut self, source: DataAddress) {
        let machine = self.machine;
        for group in machine.operations().copied(source) {
            let BitKind::Input(input) = &group.bit.kind else { continue };
            if let Some(event) = input.latched_by
                && self.holds(&input.changes_while)
                && !self.source_moves(source)
            {
                let stood = self.may_be_set(event);
                self.refresh_unseen(event);
                self.take_copy(group, input, source, stood, Demand::Stored);
            }
        }
    }

    /// Lets hardware set a flag with which inputs are latched, without telling apart whether it does.
    fn refresh_unseen(&mut self, event: BitRef) {
        if let Some(BitKind::Flag(flag)) = self.machine.device.bit_at(event).map(|bit| &bit.kind)
            && self.holds(&flag.raised_while)
        {
            self.refresh_event(event, &flag.freedom, Demand::Stored);
        }
    }

    /// True for a flag with which bits take those of another register.
    pub(super) fn makes_copies(&self, event: BitRef) -> bool {
        let copies = |group: &Group| matches!(&group.bit.kind, BitKind::Input(input) if input.copies.is_some());
        self.machine.operations().latched(event).iter().any(copies)
    }

    /// Clears a flag of which nobody knows whether hardware set it before: what takes the bits of another register with it may have them.
    pub(super) fn clear_event(&mut self, event: BitRef) {
        let machine = self.machine;
        for group in machine.operations().latched(event) {
            if let BitKind::Input(input) = &group.bit.kind
                && let Some(source) = input.copies
            {
                self.take_copy(group, input, source, true, Demand::Stored);
            }
        }
        self.set_stored(event, false);
    }

    /// The bits that may take those of registers that move.
    pub(super) fn moving_copies(&mut self, moving: &[Group]) -> Vec<(DataAddress, Group)> {
        let machine = self.machine;
        let mut all = Vec::new();
        for source in moving {
            for group in machine.operations().copied(source.address) {
                if self.moves(group) {
                    all.push((source.address, *group));
                }
            }
        }
        all
    }

    /// Bits that took those of a register as long as it moved are anything when it does not any more.
    pub(super) fn freeze_copies(&mut self, copies: &[(DataAddress, Group)]) {
        for (source, group) in copies {
            if !self.source_moves(*source)
                && let BitKind::Input(input) = &group.bit.kind
            {
                input.latched_by.into_iter().for_each(|event| self.refresh_unseen(event));
                self.take_anything(group, input);
            }
        }
    }

    /// Bits that took those of a register have some value.
    pub(super) fn take_anything(&mut self, group: &Group, input: &InputBit) {
        let value = self.ask(group.address, group.mask, &input.freedom, Demand::Stored);
        self.store(group.address, group.mask, &value);
        self.forget_pending(group.address, group.mask);
    }

    /// Asks hardware for everything in a register that has a new value.
    fn take_all_pending(&mut self, address: DataAddress) {
        let Some(register) = self.machine.device.register_at(address) else { return };
        for group in self.machine.groups(register) {
            if let BitKind::Input(input) = &group.bit.kind {
                self.take_pending(address, group.mask, input, Demand::Stored);
            }
        }
    }

    /// The bits of a result of which the low byte is read belong together: those of the high byte that may change at any moment do not
    /// from now on.
    pub(super) fn hold_high_byte(&mut self, register: &'static Register) {
        for group in self.machine.groups(register) {
            if let BitKind::Input(input) = &group.bit.kind
                && !self.is_locked(register.address)
                && self.holds(&input.changes_while)
            {
                self.mark_pending(register.address, group.mask);
            }
        }
    }

    /// True if a byte of a result is locked.
    pub(super) fn is_locked(&mut self, address: DataAddress) -> bool {
        self.lock(address).is_some_and(|lock| self.decide_stored(lock))
    }

    /// The bit that says whether a byte of a result is locked, if it can be.
    fn lock(&self, address: DataAddress) -> Option<BitRef> {
        match self.machine.device.register_at(address).map(|register| register.access) {
            Some(Access::LocksPair { lock, .. } | Access::UnlocksPair { lock }) => Some(lock),
            _ => None,
        }
    }

    /// Bits that a write to a register sets: operations begin, or collide with those that are not done.
    pub(super) fn start_operations(&mut self, register: DataAddress, value: &V, selected: u8) {
        let machine = self.machine;
        for (bit, start) in machine.operations().started(register) {
            if machine.device.bit_at(*bit).is_some_and(|bit| bit.kind == BitKind::Plain) {
                self.note_start(*bit, start, value, selected);
                continue;
            }
            self.refresh_bits(*bit, Demand::Decides);
            if self.decide_stored(*bit) {
                if let Some(flag) = start.collision {
                    self.set_stored(flag, true);
                }
            } else if self.holds(&start.condition) {
                self.set_stored(*bit, true);
            }
        }
    }

    /// Takes note of what a write starts in a bit that hardware does not change by itself, and in another one if it was set before.
    fn note_start(&mut self, bit: BitRef, start: &SetByWrite, value: &V, selected: u8) {
        if !self.holds(&start.condition) {
            return;
        }
        if start.ones != 0 {
            let ones = (0..8).filter(|number| (start.ones & selected) >> number & 1 == 1);
            let noted = ones.fold(self.stored(bit), |noted, number| noted.or(&value.bit(number)));
            self.put_stored(bit, &noted);
            return;
        }
        if let Some(more) = start.collision {
            let any = self.stored(more).or(&self.stored(bit));
            self.put_stored(more, &any);
        }
        self.set_stored(bit, true);
    }

    /// Before a write to a register that adjusts a result, or selects what is converted next, the result is asked for.
    pub(super) fn settle_result(&mut self, pair: AdjustedPair) {
        pair.registers.into_iter().for_each(|address| self.take_all_pending(address));
    }

    /// A write has moved a result of ten bits to the left or to the right, if it changed the bit that says so.
    pub(super) fn adjust(&mut self, pair: AdjustedPair, before: &V) {
        let bit = pair.left_adjusted;
        let after = self.state.data.get(bit.address).bit(bit.bit);
        if !self.decide(&after.xor(&before.bit(bit.bit))) {
            return;
        }
        let is_left = self.decide(&after);
        let (from, to) = if is_left { (0, 6) } else { (6, 0) };
        let [low, high] = pair.registers.map(|address| self.state.data.get(address).clone());
        let at = |place: u8| if place < 8 { low.bit(place) } else { high.bit(place - 8) };
        let mut moved = [V::constant(0), V::constant(0)];
        for number in 0..10 {
            let byte = &mut moved[usize::from((number + to) / 8)];
            *byte = byte.with_bit((number + to) % 8, &at(number + from));
        }
        pair.registers.into_iter().zip(moved).for_each(|(address, byte)| self.state.data.set(address, byte));
    }
}

/// The bit that stands for a group of bits where it is noted which have new values.
fn mark(group: u8) -> u8 {
    group.trailing_zeros() as u8
}

/// The part of a value that an input can have.
pub(super) fn possible<V: ByteDomain>(input: &InputBit, value: &V) -> V {
    let (these, those) = input.excludes;
    match these {
        0 => value.clone(),
        _ => {
            let all = value.not().and(&V::constant(these)).is_zero();
            let kept = (0..8).fold(V::constant(!those), |kept, bit| match those >> bit & 1 {
                1 => kept.with_bit(bit, &all.not()),
                _ => kept,
            });
            value.and(&kept)
        }
    }
}
