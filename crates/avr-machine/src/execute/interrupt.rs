//! Interrupts, sleep and resets: what may happen instead of the next instruction.
//!
//! Data sheet, sections "Reset and Interrupt Handling", "Interrupts" and "Power Management and Sleep Modes".

use super::Step;
use super::flags::flag;
use crate::device::{
    BitKind, BitRef, ClearedBy, Condition, Interrupt, Request, ResetCause, SilentWake, Sleep, SleepMode, WakeCondition,
};
use crate::environment::{Demand, DeterminedBy, Environment, Event, Happening, Possibilities};
use crate::hazard::{HazardKind, Stop};
use crate::state::FrameKind;
use avr_isa::{ControlFlow, FlashWordAddress};
use three_valued::fault::{Fault, is_on};
use three_valued::{BitDomain, ByteDomain, Truth};

/// Clock cycles of an interrupt entry, and of waking up, besides those that store the return address, one for each byte (data sheets,
/// "Interrupt Response Time").
const RESPONSE_CYCLES: u32 = 2;

/// The certainty with which an interrupt is taken now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Demanded {
    /// No request, not enabled, or it cannot end this sleep.
    No,
    /// Not known: the data sheet leaves it open.
    Undefined,
    /// The hardware may request it just now.
    Possible,
    /// The request is certain: the interrupt is taken unless one of higher priority is.
    Certain,
}

/// The ability of an interrupt to end a sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wakes {
    Surely,
    /// The data sheet does not say, or its versions differ.
    Perhaps,
    Not,
}

impl<V: ByteDomain, E: Environment<V>> Step<'_, V, E> {
    /// Takes an interrupt, a reset, or another moment of sleep; whether that was the step.
    pub(super) fn interrupted(&mut self) -> Result<bool, Stop> {
        if self.environment.is_quiet() && !self.state.control.sleeping {
            return Ok(false);
        }
        let mut possible = Possibilities::default();
        let is_certain = self.add_requests(&mut possible);
        if !is_certain || self.environment.catches_up() {
            possible.allow_continuing();
        }
        self.add_resets(&mut possible);
        let catches_up = self.environment.catches_up() && !is_certain && possible.are_only_interrupts();
        if catches_up && self.environment.leaves_catching_up(&possible) {
            possible.remove_interrupts();
        }
        // A reset comes now or never.
        let comes_later = possible.are_only_interrupts()
            && match is_certain {
                true => self.environment.defers(),
                false => self.environment.postpones(),
            };
        if comes_later {
            possible.allow_continuing();
            possible.remove_interrupts();
        }
        if possible.is_quiet() {
            return self.undisturbed();
        }
        let chosen = match possible.count() {
            1 => 0,
            _ => self.environment.choose_among(&possible),
        };
        match possible.iter().nth(chosen).unwrap_or(Happening::Continue) {
            Happening::Interrupt(number) => {
                let interrupt = self.interrupt(number);
                if self.is_open(interrupt) && self.demanded(interrupt) == Demanded::No {
                    return Err(Stop::Infeasible);
                }
                self.enter(interrupt)?;
            }
            Happening::Reset(cause) => self.reset(cause),
            Happening::Wake => self.wake(),
            Happening::Continue if self.state.control.sleeping && possible.are_all_doubtful() => {
                return self.undisturbed();
            }
            Happening::Continue if self.state.control.sleeping => self.cycles = 1,
            Happening::Continue => return Ok(false),
        }
        Ok(true)
    }

    /// Nothing can happen but the next instruction or, in sleep, nothing for ever.
    fn undisturbed(&mut self) -> Result<bool, Stop> {
        let sleeping = self.state.control.sleeping;
        if sleeping {
            if !self.woken_later() {
                self.hazard(HazardKind::SleepForEver, Some(self.state.control.pc.byte().0))?;
            }
            self.cycles = 1;
        }
        Ok(sleeping)
    }

    /// True if an enabled interrupt waits for something that the hardware ends by itself (EE_READY for EEPE).
    fn woken_later(&mut self) -> bool {
        let waits = |interrupt: &Interrupt| match &interrupt.request {
            Request::Condition { holds } => {
                let mut moving = false;
                holds.for_each_moving(&mut |_| moving = true);
                moving
            }
            Request::Latched { .. } | Request::Persistent { .. } => false,
        };
        let machine = self.machine;
        let mut all = machine.device.interrupts.iter();
        self.may_be_set(machine.status_bit(flag::I))
            && all.any(|one| waits(one) && self.may_be_set(one.enable) && self.wakes(one) == Wakes::Surely)
    }

    /// Adds the interrupts that may be taken now, and says whether one of them certainly is. Priority only removes what
    /// is certain: those below a certain request.
    fn add_requests(&mut self, possible: &mut Possibilities) -> bool {
        let enabled = self.flag(flag::I);
        if enabled.known() == Some(false)
            || self.state.control.interrupt_delay && !self.environment.catches_up()
            || self.machine.windows_hold_interrupts(&self.state.control)
            || !self.decide_stored(self.machine.status_bit(flag::I))
        {
            return false;
        }
        let machine = self.machine;
        let groups = machine.interrupt_groups();
        for index in 0..groups.len() {
            let group = &groups[if is_on(Fault::LowestPriorityFirst) { groups.len() - 1 - index } else { index }];
            let enable = self.state.data.get(group.address).bits();
            if (enable.value() | enable.unknown_mask()) & group.mask == 0 {
                continue;
            }
            for interrupt in group.interrupts {
                if machine.options().never.contains(&interrupt.number) {
                    continue;
                }
                let demanded = if self.is_open(interrupt) { Demanded::Possible } else { self.demanded(interrupt) };
                if demanded == Demanded::No {
                    continue;
                }
                let by = match demanded {
                    Demanded::Undefined => DeterminedBy::Undefined,
                    _ => self.determines(interrupt),
                };
                possible.add_interrupt(interrupt.number, by);
                if demanded == Demanded::Undefined {
                    possible.doubt_interrupt(interrupt.number);
                }
                self.add_silent_wake(interrupt, possible);
                if demanded == Demanded::Certain {
                    return true;
                }
            }
        }
        false
    }

    /// True if an interrupt counts as possible before it is settled: its enable bit or its flag is not known.
    ///
    /// SOUND: one more interrupt is possible then, and none is less; one that is not requested is given up where it is chosen.
    fn is_open(&self, interrupt: &Interrupt) -> bool {
        let stored = |bit: BitRef| self.state.data.get(bit.address).bit(bit.bit).known();
        let is_unknown = |bit: BitRef| stored(bit).is_none();
        let is_late = self.environment.settles_late() && !self.state.control.sleeping;
        is_late
            && stored(interrupt.enable) != Some(false)
            && (is_unknown(interrupt.enable) || interrupt.flag().is_some_and(is_unknown))
    }

    /// The interrupt with a number that is among the possible ones.
    fn interrupt(&self, number: u8) -> &'static Interrupt {
        let mut all = self.machine.device.interrupts.iter();
        all.find(|interrupt| interrupt.number == number).expect("only interrupts of the device are offered")
    }

    /// Who determines when an interrupt comes.
    fn determines(&self, interrupt: &Interrupt) -> DeterminedBy {
        let address = interrupt.flag().map_or(interrupt.enable.address, |flag| flag.address);
        self.who_determines(&interrupt.freedom, address)
    }

    /// Settles a stored bit.
    pub(super) fn decide_stored(&mut self, bit: BitRef) -> bool {
        let stored = self.state.data.get(bit.address).bit(bit.bit);
        stored.known().unwrap_or_else(|| self.holds(&Condition::Bit(bit)))
    }

    fn demanded(&mut self, interrupt: &'static Interrupt) -> Demanded {
        if !self.decide_stored(interrupt.enable) {
            return Demanded::No;
        }
        match self.wakes(interrupt) {
            // The data sheet does not say if a request that stood when sleep began ends it.
            Wakes::Not if self.stood_before(interrupt) => Demanded::Undefined,
            Wakes::Not => Demanded::No,
            Wakes::Perhaps if self.requested(interrupt) == Demanded::No => Demanded::No,
            Wakes::Perhaps => Demanded::Undefined,
            Wakes::Surely => self.requested(interrupt),
        }
    }

    /// The request for an interrupt that is enabled.
    fn requested(&mut self, interrupt: &'static Interrupt) -> Demanded {
        if self.holds(&interrupt.level_while) {
            return Demanded::Possible;
        }
        match &interrupt.request {
            Request::Latched { flag } | Request::Persistent { flag } => self.demanded_by_flag(interrupt, *flag),
            Request::Condition { holds } if self.holds(holds) => self.standing(),
            Request::Condition { .. } => Demanded::No,
        }
    }

    /// True if a request was there when sleep began that cannot come later.
    fn stood_before(&mut self, interrupt: &'static Interrupt) -> bool {
        match &interrupt.request {
            Request::Latched { flag } | Request::Persistent { flag } => {
                !self.holds(&interrupt.level_while) && self.decide_stored(*flag)
            }
            Request::Condition { holds } => match self.evaluate_exactly(holds, Condition::evaluate_refreshed) {
                Truth::True => true,
                Truth::False => false,
                Truth::Unknown => self.settle(holds),
            },
        }
    }

    /// A level that requests an interrupt and goes away too soon may wake the processor without it.
    fn add_silent_wake(&mut self, interrupt: &'static Interrupt, possible: &mut Possibilities) {
        if !self.state.control.sleeping || !self.holds(&interrupt.level_while) {
            return;
        }
        match self.sleep_mode().map_or(SilentWake::Never, |mode| mode.silent_wake) {
            SilentWake::Never => {}
            SilentWake::Wakes => possible.allow_waking(self.determines(interrupt)),
            SilentWake::Undefined => possible.allow_waking(DeterminedBy::Undefined),
        }
    }

    fn demanded_by_flag(&mut self, interrupt: &'static Interrupt, flag: BitRef) -> Demanded {
        if let Some(BitKind::Flag(kind)) = self.machine.device.bit_at(flag).map(|bit| &bit.kind)
            && self.holds(&kind.zero_while)
        {
            return Demanded::No;
        }
        if self.decide_stored(flag) {
            self.standing()
        } else if self.is_assumed_clear(flag) {
            Demanded::No
        } else if self.is_under_way(flag) || self.holds(&interrupt.raised_while) {
            Demanded::Possible
        } else {
            Demanded::No
        }
    }

    /// True if an operation is under way that may be done now and set a flag.
    fn is_under_way(&mut self, flag: BitRef) -> bool {
        self.operation_of(flag).is_some_and(|pulse| self.decide_stored(pulse) && !self.is_off(pulse))
    }

    /// The pulse of the operation that sets a flag, if one does.
    fn operation_of(&self, flag: BitRef) -> Option<BitRef> {
        match self.machine.device.bit_at(flag).map(|bit| &bit.kind) {
            Some(BitKind::Flag(flag)) => flag.raised_by,
            _ => None,
        }
    }

    /// Records what the entry into the handler of a flag tells: hardware has set the flag.
    fn flag_was_set(&mut self, flag: BitRef) {
        if self.decide_stored(flag) {
            return;
        }
        match self.operation_of(flag) {
            Some(pulse) if self.is_under_way(flag) => self.operation_ends(pulse),
            Some(_) => {}
            None => self.flag_rises(flag, &V::Bit::constant(true)),
        }
    }

    /// True if the user assumes that hardware never sets the flag.
    fn is_assumed_clear(&self, flag: BitRef) -> bool {
        let assumed = self.machine.options().assumed.get(&flag.address);
        assumed.is_some_and(|bits| bits.known_mask() & !bits.value() & flag.mask() != 0)
    }

    /// A request that stands is certain to be taken, unless the instruction just before wrote to a peripheral or read its flag: then the
    /// request may be so fresh that one more instruction runs.
    fn standing(&self) -> Demanded {
        if self.state.control.fresh_request { Demanded::Possible } else { Demanded::Certain }
    }

    /// The mode in which the processor sleeps; none if the value is reserved.
    fn sleep_mode(&mut self) -> Option<&'static SleepMode> {
        let sleep = self.machine.device.sleep.as_ref()?;
        let in_mode =
            |value: u8| Condition::Field { address: sleep.mode_address, mask: sleep.mode_mask, equals: value };
        sleep.modes.iter().find(|mode| self.holds(&in_mode(mode.value)))
    }

    /// The ability of an interrupt to end the present sleep, if there is one.
    fn wakes(&mut self, interrupt: &'static Interrupt) -> Wakes {
        if !self.state.control.sleeping {
            return Wakes::Surely;
        }
        let Some(mode) = self.sleep_mode() else { return Wakes::Perhaps };
        if !interrupt.wakes_from.contains(&mode.name) {
            return Wakes::Not;
        }
        let rule = interrupt.wakes_if.iter().find(|(modes, _)| modes.contains(&mode.name));
        match rule.map(|(_, rule)| rule) {
            Some(WakeCondition::Only(condition)) if !self.holds(condition) => Wakes::Not,
            Some(WakeCondition::Surely(condition)) if !self.holds(condition) => Wakes::Perhaps,
            _ => Wakes::Surely,
        }
    }

    /// Adds the resets that may come now.
    fn add_resets(&mut self, possible: &mut Possibilities) {
        let machine = self.machine;
        for cause in &machine.options().resets {
            if self.may_leave(*cause) {
                possible.add_reset(*cause);
            }
        }
        if let Some(watchdog) = &machine.device.watchdog
            && self.decide_stored(watchdog.reset_enable)
            && (!self.decide_stored(watchdog.interrupt_enable) || !self.decide_stored(self.machine.status_bit(flag::I)))
            && self.may_leave(ResetCause::Watchdog)
        {
            // With both modes on the interrupt comes first, unless it is kept out until the second time-out.
            possible.add_reset(ResetCause::Watchdog);
        }
    }

    /// True if a reset of a cause leaves a state as [`Starts::later`](crate::Starts::later) says; others do not come.
    fn may_leave(&mut self, cause: ResetCause) -> bool {
        let Some(kept) = self.machine.kept_by_reset(cause) else { return false };
        kept.into_iter().all(|(cell, bits)| {
            let mut known = (0..8).filter(|bit| bits.known_mask() >> bit & 1 == 1);
            known.all(|bit| self.decide_stored(BitRef { address: cell, bit }) == (bits.value() >> bit & 1 == 1))
        })
    }

    /// Enters the handler of an interrupt.
    fn enter(&mut self, interrupt: &'static Interrupt) -> Result<(), Stop> {
        // SOUND: reductions move interrupts from one instruction to another, so what is allowed at one says nothing of entries.
        self.place = None;
        let response = self.response_cycles();
        self.cycles = response + if self.state.control.sleeping { response } else { 0 };
        self.state.control.sleeping = false;
        self.state.control.fresh_request = false;
        self.acknowledge(interrupt);
        self.push_return_address(FrameKind::Interrupt(interrupt.number))?;
        self.set_flags(&[(flag::I, &V::Bit::constant(is_on(Fault::EntryKeepsI)))]);
        let base = self.vector_base();
        let vector = if is_on(Fault::VectorsOfTwoWords) { 2 * u16::from(interrupt.number) } else { interrupt.vector };
        self.jump(base.wrapping_add(vector.into()));
        self.environment.event(Event::Interrupt(interrupt.number));
        match self.machine.options().default_handler {
            Some(handler) if self.leads_to(self.state.control.pc) == Some(handler) => {
                self.hazard(HazardKind::BadInterrupt, Some(FlashWordAddress(interrupt.vector.into()).byte().0))
            }
            _ => Ok(()),
        }
    }

    /// Changes flags and enable bits as the entry into a handler does.
    fn acknowledge(&mut self, interrupt: &'static Interrupt) {
        let level = self.holds(&interrupt.level_while);
        if let Some(flag) = interrupt.flag().filter(|_| !level) {
            self.flag_was_set(flag);
        }
        match &interrupt.request {
            Request::Latched { .. } if is_on(Fault::FlagStays) => {}
            Request::Latched { flag } if !level => self.clear_flag(*flag),
            Request::Persistent { flag } => self.set_stored(*flag, true),
            Request::Latched { .. } | Request::Condition { .. } => {}
        }
        for (bit, condition) in &interrupt.entry_clears {
            if self.holds(condition) {
                self.set_stored(*bit, false);
            }
        }
    }

    /// Clears a flag, and what was seen of it.
    fn clear_flag(&mut self, flag: BitRef) {
        self.set_stored(flag, false);
        let Some(BitKind::Flag(kind)) = self.machine.device.bit_at(flag).map(|bit| &bit.kind) else { return };
        for way in &kind.cleared_by {
            if let ClearedBy::ReadThenAccess { seen, .. } = way {
                self.set_stored(*seen, false);
            }
        }
    }

    /// The start of the vector table: MCUCR.IVSEL moves it to the boot section.
    fn vector_base(&mut self) -> FlashWordAddress {
        let moved_by = self.machine.vectors_moved_by;
        let moved = moved_by.filter(|(bit, _)| self.decide_stored(*bit));
        moved.map_or(FlashWordAddress::default(), |(_, base)| base)
    }

    /// The target of the jump at a flash word address, if there is one.
    fn leads_to(&self, address: FlashWordAddress) -> Option<FlashWordAddress> {
        match self.machine.program.control_flow(address)? {
            ControlFlow::Jump { target } => Some(target),
            _ => None,
        }
    }

    /// SLEEP: sleeps if it is enabled.
    pub(super) fn sleep(&mut self) -> Result<(), Stop> {
        let machine = self.machine;
        match &machine.device.sleep {
            Some(sleep) => {
                if self.decide_stored(sleep.enable) {
                    self.fall_asleep(sleep);
                }
                Ok(())
            }
            None => self.hazard(HazardKind::SleepForEver, Some(self.here())),
        }
    }

    /// Sleep begins: some modes start a conversion, and what cannot come later is decided.
    fn fall_asleep(&mut self, sleep: &'static Sleep) {
        self.state.control.sleeping = true;
        let mode = self.sleep_mode().map(|mode| mode.name);
        for (bit, condition, modes) in &sleep.starts {
            if mode.is_some_and(|mode| modes.contains(&mode)) && self.holds(condition) {
                self.refresh_bits(*bit, Demand::Decides);
                self.set_stored(*bit, true);
            }
        }
        for interrupt in &self.machine.device.interrupts {
            if !self.decide_stored(interrupt.enable) || self.wakes(interrupt) != Wakes::Not {
                continue;
            }
            match &interrupt.request {
                Request::Latched { flag } | Request::Persistent { flag } => self.refresh_bits(*flag, Demand::Decides),
                Request::Condition { holds } => _ = self.holds(holds),
            }
        }
    }

    /// Clock cycles of an interrupt entry, and what waking up adds.
    fn response_cycles(&self) -> u32 {
        RESPONSE_CYCLES + u32::from(self.machine.device.core.pc_bytes)
    }

    /// The processor wakes, and enters no handler.
    fn wake(&mut self) {
        self.cycles = self.response_cycles();
        self.state.control.sleeping = false;
        self.state.control.fresh_request = false;
    }

    /// WDR restarts the watchdog's time, of which the model says nothing but that it may be over at any moment.
    pub(super) fn watchdog_reset(&mut self) {
        self.environment.event(Event::WatchdogRestart);
    }

    /// SPM: filling the page buffer has no effect that can be seen; changing the flash is not modelled; outside the boot
    /// section SPM does nothing.
    pub(super) fn store_program(&mut self) -> Result<(), Stop> {
        let machine = self.machine;
        let address = self.here();
        let Some(programming) = &machine.device.self_programming else {
            return self.hazard(HazardKind::SelfProgramming, Some(address));
        };
        if programming.only_from_boot_section && address < machine.boot_start.byte().0 {
            return self.hazard(HazardKind::SelfProgramming, Some(address));
        }
        let changes_flash = programming.operations.iter().any(|(_, bit)| self.decide_stored(*bit));
        if changes_flash && self.decide_stored(programming.enable) {
            return Err(Stop::Limit(crate::hazard::Limit::Unsupported("changing the flash with SPM")));
        }
        // Filling the page buffer changes nothing that can be read back.
        self.clear_window(machine.window_index(programming.enable));
        Ok(())
    }

    /// The byte that LPM reads at an address (low byte, high byte) if it does not read the flash: fuses, lock bits or
    /// the signature row (data sheet, "Reading the Signature Row from Software"). The read ends that state.
    pub(super) fn redirected_load(&mut self, address: &(V, V)) -> Option<V> {
        let machine = self.machine;
        let programming = machine.device.self_programming.as_ref()?;
        let window = machine.window_index(programming.enable);
        let undefined = machine.status_address;
        if self.lapsed >> window & 1 == 1 {
            // It begins in time and ends too late.
            return Some(self.undefined(undefined, Demand::Stored));
        }
        if !self.decide_stored(programming.enable) {
            return None;
        }
        let signature = programming.signature.is_some_and(|bit| self.decide_stored(bit));
        if !signature && !programming.redirects_lpm.iter().any(|bit| self.decide_stored(*bit)) {
            return None;
        }
        self.clear_window(window);
        let address = address.0.known().zip(address.1.known());
        let byte = match address {
            Some((place, 0)) if signature && place % 2 == 0 => machine.device.signature.get(usize::from(place / 2)),
            _ => None,
        };
        Some(byte.map_or_else(|| self.undefined(undefined, Demand::Stored), |byte| V::constant(*byte)))
    }

    /// The byte address of the instruction in execution, which has one word.
    fn here(&self) -> u32 {
        self.state.control.pc.wrapping_sub(1).masked(self.machine.pc_mask).byte().0
    }

    /// A reset: registers as the data sheet says, SRAM kept, the cause in the register of causes.
    fn reset(&mut self, cause: ResetCause) {
        self.cycles = 1;
        let before = self.state.clone();
        *self.state = self.machine.after_reset(&before, cause, self.environment);
        self.force_bits_after_reset();
    }

    /// Asks hardware for the present value of one bit.
    pub(super) fn refresh_bits(&mut self, bit: BitRef, demand: Demand) {
        if let Some(register) = self.machine.device.register_at(bit.address) {
            self.refresh(register, bit.mask(), demand);
        }
    }
}
