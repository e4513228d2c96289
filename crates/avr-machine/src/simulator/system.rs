//! EEPROM and watchdog, whose times are those of oscillators of their own.

use super::peripheral::{NEVER, Peripheral, Signals, View, known};
use crate::device::{BitRef, Device, Watchdog};
use avr_isa::DataAddress;

/// Programming a byte takes 3.3 ms (data sheet, table "EEPROM Programming Time").
const PROGRAMMING_MICROSECONDS: u64 = 3_300;

/// The EEPROM's control register.
#[derive(Clone, Debug)]
pub(super) struct EepromTimer {
    program: BitRef,
    cycles: u64,
    done: u64,
}

impl EepromTimer {
    /// The EEPROM of a device, if it has one, on a system clock of so many hertz.
    pub fn new(device: &'static Device, clock: u32) -> Option<Self> {
        let cycles = PROGRAMMING_MICROSECONDS * u64::from(clock) / 1_000_000;
        device.eeprom.map(|eeprom| Self { program: eeprom.program, cycles, done: 0 })
    }
}

impl Peripheral for EepromTimer {
    fn written_registers(&self) -> Vec<DataAddress> {
        vec![self.program.address]
    }

    fn answered_registers(&self) -> Vec<DataAddress> {
        vec![self.program.address]
    }

    fn known_bits(&self) -> Vec<(DataAddress, u8)> {
        vec![known(self.program)]
    }

    fn input(&self, _address: DataAddress, now: u64) -> u8 {
        if now < self.done { self.program.mask() } else { 0 }
    }

    fn observe(&mut self, view: &View<'_>, _signals: &mut Signals) {
        // The stored bit stays 1 after programming until somebody asks, so it must have been written just now.
        let is_written = view.written(self.program.address).is_some_and(|value| value & self.program.mask() != 0);
        if is_written && view.is_set(self.program) && view.now >= self.done {
            self.done = view.now + self.cycles;
        }
    }
}

/// The watchdog.
#[derive(Clone, Debug)]
pub(super) struct WatchdogTimer {
    watchdog: &'static Watchdog,
    flag: Option<BitRef>,
    clock: u64,
    /// Interrupt mode, reset mode, prescaler.
    mode: (bool, bool, usize),
    period: u64,
    due: u64,
}

impl WatchdogTimer {
    /// The watchdog of a device, if it has one, beside a system clock of so many hertz.
    pub fn new(device: &'static Device, clock: u32) -> Option<Self> {
        let watchdog = device.watchdog.as_ref()?;
        let flag = device.interrupt("WDT").and_then(|interrupt| interrupt.flag());
        Some(Self { watchdog, flag, clock: clock.into(), mode: (false, false, 0), period: NEVER, due: NEVER })
    }

    /// WDR.
    pub fn restart(&mut self, now: u64) {
        self.due = now.saturating_add(self.period);
    }

    fn mode(&self, view: &View<'_>) -> (bool, bool, usize) {
        let prescaler = self.watchdog.prescaler.iter().rev();
        let prescaler = prescaler.fold(0, |value, bit| value << 1 | usize::from(view.is_set(*bit)));
        (view.is_set(self.watchdog.interrupt_enable), view.is_set(self.watchdog.reset_enable), prescaler)
    }

    /// Cycles of the system clock until it times out; reserved prescaler values count as the longest time.
    fn period(&self, prescaler: usize) -> u64 {
        let timeouts = &self.watchdog.timeout_cycles;
        let timeout = timeouts.get(prescaler).or(timeouts.last()).copied().unwrap_or(u32::MAX);
        u64::from(timeout) * self.clock / u64::from(self.watchdog.oscillator_hertz.max(1))
    }
}

impl Peripheral for WatchdogTimer {
    fn written_registers(&self) -> Vec<DataAddress> {
        vec![self.watchdog.reset_enable.address, self.watchdog.reset_flag.address]
    }

    fn known_bits(&self) -> Vec<(DataAddress, u8)> {
        self.flag.map(known).into_iter().collect()
    }

    fn due(&self) -> u64 {
        self.due
    }

    fn run(&mut self, now: u64, signals: &mut Signals) {
        if self.due > now {
            return;
        }
        self.due = self.due.saturating_add(self.period.max(1));
        match (self.mode, self.flag) {
            ((true, resets, _), Some(flag)) => {
                signals.watchdog_bites |= resets && signals.is_raised(flag);
                signals.raise(flag);
            }
            _ => signals.watchdog_bites = true,
        }
    }

    fn observe(&mut self, view: &View<'_>, _signals: &mut Signals) {
        let mode = self.mode(view);
        if mode == self.mode {
            return;
        }
        let was_off = !self.mode.0 && !self.mode.1;
        let restarts = was_off || mode.2 != self.mode.2;
        self.mode = mode;
        if !mode.0 && !mode.1 {
            (self.period, self.due) = (NEVER, NEVER);
        } else if restarts {
            self.period = self.period(mode.2);
            self.restart(view.now);
        }
    }

    fn will_raise(&self, flag: BitRef) -> bool {
        self.flag == Some(flag) && self.due != NEVER
    }
}
