//! The states in which the program begins: after power-on, and after later resets.
//!
//! Data sheet, section "System Control and Reset".

use avr_isa::{DataAddress, EepromAddress};
use three_valued::fault::{Fault, is_on};
use three_valued::{BitDomain, ByteDomain, TvByte};

use crate::device::{Condition, ResetCause, ResetEffect};
use crate::environment::{Demand, DeterminedBy, Environment, Input};
use crate::machine::Machine;
use crate::state::{Control, MachineState};

impl Machine {
    /// The state at the start: registers as the data sheet says after power-on, everything else as it happens to be, and both
    /// as far as [`Starts::first`](crate::Starts::first) leaves them open.
    pub fn power_on<V: ByteDomain>(&self, environment: &mut impl Environment<V>) -> MachineState<V> {
        let mut state = MachineState::new(self.cells(), V::constant(0));
        for address in self.sram.start.until(self.sram.end) {
            state.data.set(address, self.first_content(environment, address));
        }
        for byte in (0..self.device.memory.eeprom_bytes).map(EepromAddress) {
            let cell = self.eeprom_cell(byte);
            let value = match self.options().eeprom.get(&byte) {
                Some(value) => V::constant(*value),
                None => self.first_content(environment, cell),
            };
            state.data.set(cell, value);
        }
        let causes = self.restricted_causes();
        self.reset_registers(&mut state, causes, environment);
        if let Some(register) = causes {
            let value = self.first_content(environment, register);
            state.data.set(register, value);
            self.force_bits_at_start(&mut state);
        }
        state
    }

    /// The content of a cell that holds anything at the first start but for what [`Starts`](crate::Starts) says.
    fn first_content<V: ByteDomain>(&self, environment: &mut impl Environment<V>, cell: DataAddress) -> V {
        let of = if is_on(Fault::StartOfNextCell) { cell.wrapping_sub(1) } else { cell };
        let said = self.options().starts.first.get(&of).filter(|_| !is_on(Fault::StartUnrestricted));
        let bits = said.copied().unwrap_or(TvByte::UNKNOWN);
        restricted(environment, cell, bits.unknown_mask(), V::constant(bits.value()))
    }

    /// Data address of the register of reset causes, if [`Starts::first`](crate::Starts::first) speaks of it.
    fn restricted_causes(&self) -> Option<DataAddress> {
        let register = self.device.reset_effects.first()?.address;
        self.options().starts.first.contains_key(&register).then_some(register)
    }

    /// Bits that are 1 while a cause of resets stands (`WDE` while `WDRF`) are so at the first start as well.
    fn force_bits_at_start<V: ByteDomain>(&self, state: &mut MachineState<V>) {
        let registers = self.device.registers.iter().filter(|_| !is_on(Fault::WatchdogUnforced));
        for register in registers {
            for (number, bit) in (0..).zip(&register.bits) {
                let Condition::Bit(cause) = bit.forced_one_while else { continue };
                let stored = state.data.get(register.address);
                let forced = stored.bit(number).or(&state.data.get(cause.address).bit(cause.bit));
                let value = stored.with_bit(number, &forced);
                state.data.set(register.address, value);
            }
        }
    }

    /// The state after a reset that came in `before`: SRAM and EEPROM are kept, the cause is noted.
    pub(crate) fn after_reset<V: ByteDomain>(
        &self,
        before: &MachineState<V>,
        cause: ResetCause,
        environment: &mut impl Environment<V>,
    ) -> MachineState<V> {
        let mut state = before.clone();
        state.calls.clear();
        // Everything outside goes on.
        state.control = Control { automata: before.control.automata, ..Control::default() };
        self.reset_registers(&mut state, None, environment);
        if let Some(effect) = self.device.reset_effect(cause) {
            let said = self.options().starts.later.get(&effect.address).copied().unwrap_or(TvByte::UNKNOWN);
            let open = effect.undefined & said.unknown_mask();
            let fixed = effect.sets | said.value() & effect.undefined;
            let kept = before.data.get(effect.address).and(&V::constant(effect.keeps & !effect.undefined));
            let value = restricted(environment, effect.address, open, kept.or(&V::constant(fixed)));
            state.data.set(effect.address, value);
        }
        state
    }

    /// The stored bits that a reset of a cause keeps and that must have certain values for it to come, by cell; none if it cannot come in any
    /// state.
    pub(crate) fn kept_by_reset(&self, cause: ResetCause) -> Option<Vec<(DataAddress, TvByte)>> {
        let effect = self.device.reset_effect(cause);
        let mut kept = Vec::new();
        if is_on(Fault::ResetUnrestricted) {
            return Some(kept);
        }
        for (cell, bits) in &self.options().starts.later {
            match effect.filter(|effect| effect.address == *cell) {
                Some(effect) => {
                    let demanded = effect.demanded(*bits)?.filter(|_| !is_on(Fault::KeptCausesUnheeded));
                    kept.extend(demanded.map(|bits| (*cell, bits)));
                }
                None => kept.push((*cell, *bits)),
            }
        }
        Some(kept)
    }

    /// Gives every register but `other` its value after reset and goes to the start. The general-purpose registers and what the
    /// data sheet leaves undefined hold anything.
    fn reset_registers<V: ByteDomain>(
        &self,
        state: &mut MachineState<V>,
        other: Option<DataAddress>,
        environment: &mut impl Environment<V>,
    ) {
        let shared = (0..self.device.temp_bytes).map(|index| self.temp_cell(index));
        for address in avr_isa::Register::all().map(avr_isa::Register::address).chain(shared) {
            state.data.set(address, initial(environment, address, 0xff));
        }
        for register in self.device.registers.iter().filter(|register| Some(register.address) != other) {
            let value = match register.reset.undefined {
                0 => V::constant(register.reset.value),
                mask => {
                    let input = initial(environment, register.address, mask);
                    input.and(&V::constant(mask)).or(&V::constant(register.reset.value))
                }
            };
            state.data.set(register.address, value);
        }
        self.operations().pending_cells().for_each(|cell| state.data.set(cell, V::constant(0)));
        let fuses = self.options().fuses.unwrap_or(self.device.default_fuses);
        for rule in &self.device.fuse_resets {
            let programmed = self.device.fuse(rule.fuse).is_some_and(|fuse| fuse.is_programmed(fuses));
            let bits = if programmed { rule.programmed } else { rule.unprogrammed };
            let others = state.data.get(rule.address).and(&V::constant(!rule.mask));
            state.data.set(rule.address, others.or(&V::constant(bits & rule.mask)));
        }
        state.control.pc = self.options().start;
        state.control.in_startup = self.startup_end().is_some_and(|end| end != self.options().start);
    }
}

impl ResetEffect {
    /// True if the reset can leave these bits in the register of causes.
    #[must_use]
    pub fn can_leave(self, bits: TvByte) -> bool {
        self.demanded(bits).is_some()
    }

    /// The bits of the register of causes that must have certain values before the reset, so that they are those of `bits` afterwards:
    /// none where it cannot leave them.
    fn demanded(self, bits: TvByte) -> Option<Option<TvByte>> {
        let (known, value) = (bits.known_mask(), bits.value());
        let kept = self.keeps & !self.undefined & !self.sets;
        let cleared = !(self.sets | self.undefined | kept);
        let contradicts = known & self.sets & !value | known & cleared & value;
        let demanded = known & kept;
        (contradicts == 0).then(|| (demanded != 0).then(|| TvByte::new(value & demanded, demanded)))
    }
}

/// Bits of a cell as they happen to be before the program starts, besides those that are fixed.
fn restricted<V: ByteDomain>(environment: &mut impl Environment<V>, cell: DataAddress, open: u8, fixed: V) -> V {
    match open {
        0 => fixed,
        _ if fixed.known() == Some(0) => initial(environment, cell, open),
        _ => initial(environment, cell, open).or(&fixed),
    }
}

/// Bits of a cell as they happen to be before the program starts.
fn initial<V: ByteDomain>(environment: &mut impl Environment<V>, cell: DataAddress, mask: u8) -> V {
    environment.input(Input::Initial(cell), mask, Demand::Stored, DeterminedBy::Environment)
}
