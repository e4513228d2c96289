//! The timer/counters 0, 1 and 2, cycle by cycle.
//!
//! Data sheet, sections "8-bit Timer/Counter0 with PWM", "16-bit Timer/Counter1 with PWM", "8-bit Timer/Counter2 with
//! PWM and Asynchronous Operation" and "Timer/Counter0 and Timer/Counter1 Prescalers". Not modelled: clocks from outside
//! (the counter stands), the 32 kHz crystal (timer 2 counts the system clock) and the output pins.

use super::peripheral::{NEVER, Peripheral, Signals, View, address, bit};
use crate::device::{Access, BitRef, Condition, Device};
use crate::machine::Machine;

/// Divisions of the clock by the three clock-select bits; 0 stops the counter.
const SYNCHRONOUS: [u64; 8] = [0, 1, 8, 64, 256, 1024, 0, 0];
/// The same for timer 2, which has a prescaler of its own.
const ASYNCHRONOUS: [u64; 8] = [0, 1, 8, 32, 64, 128, 256, 1024];

/// The addresses of a value of one or two bytes.
#[derive(Clone, Copy, Debug)]
struct Word {
    low: u16,
    high: Option<u16>,
}

impl Word {
    fn named(device: &'static Device, name: &str) -> Option<Self> {
        match device.pair(name) {
            Some(pair) => Some(Self { low: pair.low, high: Some(pair.high) }),
            None => Some(Self { low: address(device, name)?, high: None }),
        }
    }

    fn get(self, view: &View<'_>) -> u16 {
        u16::from_le_bytes([view.get(self.low), self.high.map_or(0, |high| view.get(high))])
    }

    fn addresses(self) -> impl Iterator<Item = u16> {
        std::iter::once(self.low).chain(self.high)
    }
}

/// The registers of a timer.
#[derive(Clone, Copy, Debug)]
struct Places {
    control: [u16; 2],
    counter: Word,
    /// The cell with the byte that is written to the high half together with the low one.
    shared: Option<u16>,
    compare: [Word; 2],
    capture: Option<Word>,
    /// GTCCR and the bit in it that resets the prescaler.
    prescaler_reset: Option<BitRef>,
    clocked_while: &'static Condition,
    overflow: BitRef,
    matches: [BitRef; 2],
    captured: Option<BitRef>,
    divisions: &'static [u64; 8],
}

/// What the counter counts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Top {
    Fixed(u16),
    CompareA,
    Capture,
}

/// The waveform generation mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mode {
    top: Top,
    /// Whether it counts down again after the top (phase correct PWM).
    double: bool,
    /// Whether a PWM mode: compare values are taken over at the turn, and reaching the top is an overflow.
    pwm: bool,
}

/// A timer/counter.
#[derive(Clone, Debug)]
pub(super) struct Timer {
    places: Places,
    mode: Mode,
    /// Cycles per count; 0 while it stands.
    division: u64,
    count: u16,
    down: bool,
    /// The compare values in force.
    compare: [u16; 2],
    /// The compare values as written.
    written: [u16; 2],
    capture: u16,
    /// The cycle up to which was counted.
    since: u64,
    /// The cycle at which the prescaler started.
    prescaler_start: u64,
}

impl Timer {
    /// The timers that a device has.
    pub fn all(machine: &Machine) -> impl Iterator<Item = Self> + '_ {
        (0..3).filter_map(|number| Self::new(machine, number))
    }

    fn new(machine: &Machine, number: u8) -> Option<Self> {
        let device = machine.device;
        let word = |name: String| Word::named(device, &name);
        let counter = word(format!("TCNT{number}"))?;
        let register = device.register_at(counter.low)?;
        let shared = match register.access {
            Access::LowOfPair { temp, .. } => Some(machine.temp_cell(temp)),
            _ => None,
        };
        let asynchronous = number == 2;
        let places = Places {
            control: [address(device, &format!("TCCR{number}A"))?, address(device, &format!("TCCR{number}B"))?],
            counter,
            shared,
            compare: [word(format!("OCR{number}A"))?, word(format!("OCR{number}B"))?],
            capture: word(format!("ICR{number}")),
            prescaler_reset: bit(device, if asynchronous { "PSRASY" } else { "PSRSYNC" }).or(bit(device, "PSR0")),
            clocked_while: &register.clocked_while,
            overflow: bit(device, &format!("TOV{number}"))?,
            matches: [bit(device, &format!("OCF{number}A"))?, bit(device, &format!("OCF{number}B"))?],
            captured: bit(device, &format!("ICF{number}")),
            divisions: if asynchronous { &ASYNCHRONOUS } else { &SYNCHRONOUS },
        };
        Some(Self {
            mode: mode(&places, 0, 0),
            places,
            division: 0,
            count: 0,
            down: false,
            compare: [0; 2],
            written: [0; 2],
            capture: 0,
            since: 0,
            prescaler_start: 0,
        })
    }

    /// The largest number that the counter holds.
    fn max(&self) -> u16 {
        if self.places.counter.high.is_some() { u16::MAX } else { 0xff }
    }

    fn top(&self) -> u16 {
        match self.mode.top {
            Top::Fixed(top) => top,
            Top::CompareA => self.compare[0],
            Top::Capture => self.capture,
        }
    }

    /// Clock ticks of the counter from `since` until `now`.
    fn ticks(&self, now: u64) -> u64 {
        let ticks = |cycle: u64| cycle.saturating_sub(self.prescaler_start).checked_div(self.division).unwrap_or(0);
        ticks(now).saturating_sub(ticks(self.since))
    }

    /// Ticks until one that leaves a count at which something happens.
    fn distance(&self) -> u64 {
        let notable = if self.down { [0, 0] } else { [self.top(), self.max()] };
        let ahead = |value: u16| if self.down { self.count.checked_sub(value) } else { value.checked_sub(self.count) };
        let nearest = notable.into_iter().chain(self.compare).filter_map(ahead).min();
        1 + u64::from(nearest.unwrap_or(0))
    }

    /// Ticks at which nothing happens.
    fn glide(&mut self, ticks: u64) {
        self.count = self.after_gliding(ticks);
    }

    fn after_gliding(&self, ticks: u64) -> u16 {
        let ticks = ticks as u16;
        if self.down { self.count.wrapping_sub(ticks) } else { self.count.wrapping_add(ticks) }
    }

    /// Counts until `now`.
    fn catch_up(&mut self, now: u64, signals: &mut Signals) {
        let mut ticks = self.ticks(now);
        while ticks > 0 {
            let distance = self.distance();
            if distance > ticks {
                self.glide(ticks);
                break;
            }
            self.glide(distance - 1);
            self.leave(signals);
            ticks -= distance;
        }
        self.since = now;
    }

    /// A tick at which something may happen: flags are set with the tick that follows the match.
    fn leave(&mut self, signals: &mut Signals) {
        let matching = self.compare.into_iter().zip(self.places.matches);
        matching.filter(|(value, _)| *value == self.count).for_each(|(_, flag)| signals.raise(flag));
        match (self.mode.double, self.down) {
            (true, true) => self.fall(signals),
            (true, false) if self.count >= self.top() => self.turn(signals),
            (false, _) if self.count == self.top() || self.count == self.max() => self.wrap(signals),
            _ => self.count += 1,
        }
    }

    /// A tick downwards.
    fn fall(&mut self, signals: &mut Signals) {
        if self.count == 0 {
            signals.raise(self.places.overflow);
            self.down = false;
            self.count = self.top().min(1);
        } else {
            self.count -= 1;
        }
    }

    /// From the top downwards.
    fn turn(&mut self, signals: &mut Signals) {
        self.top_reached(signals);
        self.compare = self.written;
        self.down = true;
        self.count = self.count.saturating_sub(1);
    }

    /// From the top, or from the largest number, to 0.
    fn wrap(&mut self, signals: &mut Signals) {
        if self.mode.pwm || self.count == self.max() {
            signals.raise(self.places.overflow);
        }
        self.top_reached(signals);
        self.compare = self.written;
        self.count = 0;
    }

    fn top_reached(&self, signals: &mut Signals) {
        if self.mode.top == Top::Capture
            && let Some(flag) = self.places.captured
        {
            signals.raise(flag);
        }
    }

    /// The count that the program wrote in the step, or that stands in the register while the counter does not run.
    fn reload(&mut self, view: &View<'_>) {
        let counter = self.places.counter;
        if self.division == 0 {
            self.count = counter.get(view);
        } else if let Some(low) = view.written(counter.low) {
            let high = self.places.shared.map_or(0, |cell| view.get(cell));
            self.count = u16::from_le_bytes([low, high]);
        } else {
            return;
        }
        self.down = false;
    }

    /// Restarts the prescaler if the program did.
    fn restart_prescaler(&mut self, view: &View<'_>) {
        let reset = self.places.prescaler_reset;
        if reset.is_some_and(|bit| view.written(bit.address).is_some_and(|value| value & bit.mask() != 0)) {
            self.prescaler_start = view.now;
        }
    }

    /// Whether the prescalers are held by GTCCR.TSM.
    fn is_held(&self, view: &View<'_>) -> bool {
        self.places.prescaler_reset.is_some_and(|bit| view.get(bit.address) & 0x80 != 0 && view.is_set(bit))
    }
}

impl Peripheral for Timer {
    fn written_registers(&self) -> Vec<u16> {
        let Places { control, counter, compare, capture, prescaler_reset, clocked_while, .. } = self.places;
        let words = [counter, compare[0], compare[1]].into_iter().chain(capture);
        let mut all: Vec<u16> = words.flat_map(Word::addresses).chain(control).collect();
        all.extend(prescaler_reset.map(|bit| bit.address));
        clocked_while.for_each_register(&mut |address, _| all.push(address));
        all
    }

    fn answered_registers(&self) -> Vec<u16> {
        self.places.counter.addresses().chain(self.places.capture.into_iter().flat_map(Word::addresses)).collect()
    }

    fn input(&self, address: u16, now: u64) -> u8 {
        let counter = self.places.counter;
        let value = match counter.addresses().any(|at| at == address) {
            true => self.after_gliding(self.ticks(now)),
            false => self.capture,
        };
        let [low, high] = value.to_le_bytes();
        let is_high =
            counter.high == Some(address) || self.places.capture.is_some_and(|word| word.high == Some(address));
        if is_high { high } else { low }
    }

    fn due(&self) -> u64 {
        let start = self.prescaler_start;
        match self.since.saturating_sub(start).checked_div(self.division) {
            Some(ticks) => (ticks + self.distance()).saturating_mul(self.division).saturating_add(start),
            None => NEVER,
        }
    }

    fn run(&mut self, now: u64, signals: &mut Signals) {
        self.catch_up(now, signals);
    }

    fn observe(&mut self, view: &View<'_>, signals: &mut Signals) {
        self.catch_up(view.now, signals);
        self.reload(view);
        self.restart_prescaler(view);
        let [control_a, control_b] = self.places.control.map(|address| view.get(address));
        self.mode = mode(&self.places, control_a, control_b);
        let runs = view.holds(self.places.clocked_while) && !self.is_held(view);
        self.division = if runs { self.places.divisions[usize::from(control_b & 7)] } else { 0 };
        self.written = self.places.compare.map(|word| word.get(view));
        self.capture = self.places.capture.map_or(0, |word| word.get(view));
        if !self.mode.pwm {
            self.compare = self.written;
        }
        self.down &= self.mode.double;
    }

    fn will_raise(&self, flag: BitRef) -> bool {
        self.division != 0 && (flag == self.places.overflow || self.places.matches.contains(&flag))
    }
}

/// The waveform generation mode by the WGM bits; reserved ones count as normal mode.
fn mode(places: &Places, control_a: u8, control_b: u8) -> Mode {
    let low = control_a & 3;
    let single = |top, pwm| Mode { top, double: false, pwm };
    let double = |top| Mode { top, double: true, pwm: true };
    let bits = |count: u8| Top::Fixed((1 << count) - 1);
    if places.counter.high.is_none() {
        return match low | control_b >> 1 & 4 {
            1 => double(bits(8)),
            2 => single(Top::CompareA, false),
            3 => single(bits(8), true),
            5 => double(Top::CompareA),
            7 => single(Top::CompareA, true),
            _ => single(bits(8), false),
        };
    }
    match low | control_b >> 1 & 12 {
        number @ 1..=3 => double(bits(7 + number)),
        4 => single(Top::CompareA, false),
        number @ 5..=7 => single(bits(3 + number), true),
        8 | 10 => double(Top::Capture),
        9 | 11 => double(Top::CompareA),
        12 => single(Top::Capture, false),
        14 => single(Top::Capture, true),
        15 => single(Top::CompareA, true),
        _ => single(Top::Fixed(u16::MAX), false),
    }
}
