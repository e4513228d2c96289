//! The timer/counters 0 to 5, cycle by cycle.
//!
//! Data sheet, sections "8-bit Timer/Counter0 with PWM", "16-bit Timer/Counter1 with PWM", "8-bit Timer/Counter2 with
//! PWM and Asynchronous Operation" and "Timer/Counter0 and Timer/Counter1 Prescalers". At the pins that clock a counter and trigger a
//! capture there are the edges that the program drives. Not modelled: edges from outside, the 32 kHz crystal (timer 2 counts the
//! system clock) and the output pins.

use super::peripheral::{NEVER, Peripheral, Signals, View, address, bit, known};
use crate::device::{Access, BitRef, Condition, Device, TimerPin};
use crate::machine::Machine;
use avr_isa::DataAddress;

/// Divisions of the clock by the three clock-select bits; 0 stops the counter.
const SYNCHRONOUS: [u64; 8] = [0, 1, 8, 64, 256, 1024, 0, 0];
/// The same for timer 2, which has a prescaler of its own.
const ASYNCHRONOUS: [u64; 8] = [0, 1, 8, 32, 64, 128, 256, 1024];
/// Clock cycles from an edge at a pin to the count and to the capture (data sheet: 2.5 to 3.5 for the synchroniser), and so many later at the
/// latest.
const EDGE_CYCLES: u64 = 3;
const EDGE_LATEST: u64 = 5;
/// The delay of the noise canceler of captures, in clock cycles.
const NOISE_CYCLES: u64 = 4;
/// The clock-select value of falling edges at the pin; the next one is that of rising edges.
const FALLING: u8 = 6;
/// ICNC1 and ICES1 in the second control register.
const NOISE_CANCELER: u8 = 1 << 7;
const RISING_EDGE: u8 = 1 << 6;
/// Ticks for which a count is not that of the hardware for sure after the counter was started or written.
const INEXACT_TICKS: u64 = 3;

/// The addresses of a value of one or two bytes.
#[derive(Clone, Copy, Debug)]
struct Word {
    low: DataAddress,
    high: Option<DataAddress>,
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

    fn addresses(self) -> impl Iterator<Item = DataAddress> {
        std::iter::once(self.low).chain(self.high)
    }
}

/// A pin with the registers that make it an output.
#[derive(Clone, Copy, Debug)]
struct Pin {
    direction: DataAddress,
    output: DataAddress,
    mask: u8,
    /// The condition under which only its port drives it.
    driven_while: &'static Condition,
}

impl Pin {
    /// The pin of a bit of PINx: DDRx and PORTx follow it.
    fn of(pin: &'static TimerPin) -> Self {
        let TimerPin { pin, driven_while, .. } = pin;
        let [direction, output] = [1, 2].map(|offset| pin.address.wrapping_add(offset));
        Self { direction, output, mask: pin.mask(), driven_while }
    }

    /// The level that the program drives, if the pin is an output that only its port drives.
    fn driven(self, view: &View<'_>) -> Option<bool> {
        let is_driven = view.get(self.direction) & self.mask != 0 && view.holds(self.driven_while);
        is_driven.then(|| view.get(self.output) & self.mask != 0)
    }
}

/// A pin whose edges a timer looks at.
#[derive(Clone, Copy, Debug, Default)]
struct Edges {
    /// The level that the program drives, if it does.
    driven: Option<bool>,
    /// The last cycles at which there may have been a falling edge and a rising one.
    last: [u64; 2],
    /// The cycle at which an edge has its effect.
    due: Option<u64>,
    /// Whether edges that nobody knows may have had an effect.
    is_unsure: bool,
    /// The cycle from which on the effect is that of the hardware.
    exact_from: u64,
}

impl Edges {
    /// The edge that the program drove in a step, if it did: whether it rises.
    fn observe(&mut self, driven: Option<bool>, now: u64) -> Option<bool> {
        let before = std::mem::replace(&mut self.driven, driven);
        match (before, driven) {
            (Some(before), Some(level)) if before != level => {
                self.last[usize::from(level)] = now;
                Some(level)
            }
            (None, Some(level)) => {
                self.last[usize::from(level)] = now;
                None
            }
            (_, None) => {
                self.last = [now; 2];
                None
            }
            _ => None,
        }
    }

    /// True where an edge may still be on its way.
    fn is_recent(&self, rising: bool, now: u64, cycles: u64) -> bool {
        self.driven.is_none() || self.last[usize::from(rising)] != 0 && now < self.last[usize::from(rising)] + cycles
    }

    /// An edge has its effect some cycles from now.
    fn schedule(&mut self, now: u64, more: u64) {
        self.is_unsure |= self.due.is_some();
        self.due = Some(now + EDGE_CYCLES + more);
        self.exact_from = now + EDGE_LATEST + more;
    }

    /// True once when the effect of an edge is due.
    fn take_due(&mut self, now: u64) -> bool {
        self.due.take_if(|due| *due <= now).is_some()
    }
}

/// The registers of a timer.
#[derive(Clone, Copy, Debug)]
struct Places {
    control: [DataAddress; 2],
    counter: Word,
    /// The cell with the byte that is written to the high half together with the low one.
    shared: Option<DataAddress>,
    /// Those of the units A, B and C. A timer without unit C has unit B twice.
    compare: [Word; 3],
    capture: Option<Word>,
    /// GTCCR and the bit in it that resets the prescaler.
    prescaler_reset: Option<BitRef>,
    clocked_while: &'static Condition,
    overflow: BitRef,
    matches: [BitRef; 3],
    captured: Option<BitRef>,
    /// The pins of the clock from outside and of the capture, where edges that the program drives are followed.
    clock_pin: Option<Pin>,
    capture_pin: Option<Pin>,
    /// The bit that lets the comparator trigger captures.
    comparator: Option<BitRef>,
    divisions: &'static [u64; 8],
}

/// The value that the counter counts to.
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
    /// True if it counts down again after the top (phase correct PWM).
    double: bool,
    /// True if a PWM mode: compare values are taken over at the turn, and reaching the top is an overflow.
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
    compare: [u16; 3],
    /// The compare values as written.
    written: [u16; 3],
    capture: u16,
    /// The cycle up to which was counted.
    since: u64,
    /// True if something else than the prescaled system clock may clock the counter.
    is_foreign: bool,
    /// True if the prescaler is held in reset.
    is_held: bool,
    /// The cycle from which on the count is that of the hardware, and the same for its flags.
    exact_from: u64,
    flags_exact_from: u64,
    /// The cycle at which the prescaler started.
    prescaler_start: u64,
    /// Clock select and edge select so far.
    select: u8,
    clock: Edges,
    captures: Edges,
    /// The cycle at which something of the capture unit last changed but a level that is driven.
    capture_changed: u64,
}

impl Timer {
    /// The timers that a device has.
    pub fn all(machine: &Machine) -> impl Iterator<Item = Self> + '_ {
        (0..6).filter_map(|number| Self::new(machine, number))
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
        let pin = |pins: &'static [TimerPin]| pins.iter().find(|pin| pin.timer == number).map(Pin::of);
        let captured = bit(device, &format!("ICF{number}"));
        let compare_b = word(format!("OCR{number}B"))?;
        let matches = |unit: char| bit(device, &format!("OCF{number}{unit}"));
        let places = Places {
            control: [address(device, &format!("TCCR{number}A"))?, address(device, &format!("TCCR{number}B"))?],
            counter,
            shared,
            compare: [word(format!("OCR{number}A"))?, compare_b, word(format!("OCR{number}C")).unwrap_or(compare_b)],
            capture: word(format!("ICR{number}")),
            prescaler_reset: bit(device, if asynchronous { "PSRASY" } else { "PSRSYNC" })
                .or(bit(device, "PSR0"))
                .or(bit(device, "PSR10")),
            clocked_while: &register.clocked_while,
            overflow: bit(device, &format!("TOV{number}"))?,
            matches: [matches('A')?, matches('B')?, matches('C').or(matches('B'))?],
            captured,
            clock_pin: pin(&device.pins.clocks),
            capture_pin: pin(&device.pins.captures),
            comparator: bit(device, "ACIC").filter(|_| number == 1),
            divisions: if asynchronous { &ASYNCHRONOUS } else { &SYNCHRONOUS },
        };
        Some(Self {
            mode: mode(&places, 0, 0),
            places,
            division: 0,
            count: 0,
            down: false,
            compare: [0; 3],
            written: [0; 3],
            capture: 0,
            since: 0,
            is_foreign: false,
            is_held: false,
            exact_from: 0,
            flags_exact_from: 0,
            prescaler_start: 0,
            select: 0,
            clock: Edges::default(),
            captures: Edges::default(),
            capture_changed: 0,
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
        let select = usize::from(self.select & 7);
        let has_pin_clock = select != 0 && self.places.divisions[select] == 0;
        if self.division == 0 && !has_pin_clock {
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

    /// Follows the edges that the program drives at the pin that clocks the counter.
    fn observe_clock(&mut self, view: &View<'_>, control: u8) {
        let before = self.select & 7;
        self.select = control;
        let Some(pin) = self.places.clock_pin else {
            self.clock.is_unsure = true;
            return;
        };
        let edge = self.clock.observe(pin.driven(view), view.now);
        let Some(rising) = (control & 7).checked_sub(FALLING).map(|rising| rising == 1) else {
            self.clock = Edges { due: None, is_unsure: false, ..self.clock };
            return;
        };
        let is_new = before != control & 7;
        self.clock.is_unsure |=
            self.clock.driven.is_none() || is_new && self.clock.is_recent(rising, view.now, EDGE_LATEST);
        if edge == Some(rising) && !is_new {
            self.clock.schedule(view.now, 0);
        }
    }

    /// Follows the edges that the program drives at the pin that triggers captures. What else may have set the flag is over once the
    /// program clears it.
    fn observe_captures(&mut self, view: &View<'_>, control: u8) {
        let (Some(pin), Some(flag)) = (self.places.capture_pin, self.places.captured) else { return };
        let was_driven = self.captures.driven.is_some();
        let edge = self.captures.observe(pin.driven(view), view.now);
        let changes = self.places.control.into_iter().chain(self.places.comparator.map(|bit| bit.address));
        let by_comparator = self.places.comparator.is_some_and(|bit| view.is_set(bit));
        let is_changed = changes.into_iter().any(|at| view.written(at).is_some());
        if is_changed || by_comparator || was_driven != self.captures.driven.is_some() {
            self.captures.is_unsure = true;
            self.capture_changed = view.now;
        }
        let more = if control & NOISE_CANCELER == 0 { 0 } else { NOISE_CYCLES };
        if edge == Some(control & RISING_EDGE != 0) && self.mode.top != Top::Capture {
            self.captures.schedule(view.now, more);
        }
        let is_cleared = view.written(flag.address).is_some_and(|value| value & flag.mask() != 0);
        let is_settled = view.now >= self.capture_changed + EDGE_LATEST + NOISE_CYCLES;
        if is_cleared && is_settled && !by_comparator && self.captures.due.is_none() {
            self.captures.is_unsure = false;
        }
    }

    /// True if the prescalers are held by GTCCR.TSM.
    fn holds_prescaler(&self, view: &View<'_>) -> bool {
        self.places.prescaler_reset.is_some_and(|bit| view.get(bit.address) & 0x80 != 0 && view.is_set(bit))
    }
}

impl Peripheral for Timer {
    fn written_registers(&self) -> Vec<DataAddress> {
        let Places { control, counter, compare, capture, prescaler_reset, clocked_while, .. } = self.places;
        let words = [counter].into_iter().chain(compare).chain(capture);
        let mut all: Vec<DataAddress> = words.flat_map(Word::addresses).chain(control).collect();
        all.extend(prescaler_reset.map(|bit| bit.address));
        let pins = [self.places.clock_pin, self.places.capture_pin].into_iter().flatten();
        // A write to a PIN register toggles the port: it is the first of the three.
        all.extend(pins.clone().flat_map(|pin| [pin.direction.wrapping_sub(1), pin.direction, pin.output]));
        if let Some(flag) = self.places.captured {
            all.extend([flag.address].into_iter().chain(self.places.comparator.map(|bit| bit.address)));
        }
        for condition in pins.map(|pin| pin.driven_while).chain([clocked_while]) {
            condition.for_each_register(&mut |address, _| all.push(address));
        }
        all
    }

    fn answered_registers(&self) -> Vec<DataAddress> {
        self.places.counter.addresses().chain(self.places.capture.into_iter().flat_map(Word::addresses)).collect()
    }

    fn input(&self, address: DataAddress, now: u64) -> u8 {
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

    fn known_bits(&self) -> Vec<(DataAddress, u8)> {
        let places = &self.places;
        let flags = places.matches.into_iter().chain([places.overflow]).chain(places.captured);
        let flags = flags.chain(places.prescaler_reset).map(known);
        places.counter.addresses().map(|address| (address, 0xff)).chain(flags).collect()
    }

    /// True once the count is known exactly. After a start or a write, the delay of a counter depends on the phase of
    /// the prescaler, and the data sheet does not give it. Captured values and clocks from outside are not known at
    /// all.
    fn is_exact(&self, address: DataAddress, mask: u8, now: u64) -> bool {
        let places = &self.places;
        let is_one = |flag: BitRef| flag.address == address && flag.mask() & mask != 0;
        if places.captured.is_some_and(is_one) && self.mode.top != Top::Capture {
            let edges = &self.captures;
            return edges.driven.is_some() && !edges.is_unsure && now >= edges.exact_from;
        }
        let is_counter = places.counter.addresses().any(|at| at == address);
        let is_flag = places.matches.into_iter().chain([places.overflow]).any(is_one);
        let from = if is_counter { self.exact_from } else { self.flags_exact_from };
        !(is_counter || is_flag) || !self.is_foreign && now >= from.max(self.clock.exact_from)
    }

    fn due(&self) -> u64 {
        let start = self.prescaler_start;
        let edge = self.clock.due.into_iter().chain(self.captures.due).min().unwrap_or(NEVER);
        edge.min(match self.since.saturating_sub(start).checked_div(self.division) {
            Some(ticks) => (ticks + self.distance()).saturating_mul(self.division).saturating_add(start),
            None => NEVER,
        })
    }

    fn run(&mut self, now: u64, signals: &mut Signals) {
        self.catch_up(now, signals);
        if self.clock.take_due(now) {
            self.leave(signals);
        }
        if self.captures.take_due(now)
            && let Some(flag) = self.places.captured
        {
            signals.raise(flag);
        }
    }

    fn observe(&mut self, view: &View<'_>, signals: &mut Signals) {
        self.catch_up(view.now, signals);
        let was_near = self.division != 0 && self.distance() <= INEXACT_TICKS + 1;
        self.reload(view);
        self.restart_prescaler(view);
        let [control_a, control_b] = self.places.control.map(|address| view.get(address));
        self.mode = mode(&self.places, control_a, control_b);
        let is_clocked = view.holds(self.places.clocked_while);
        let division = self.places.divisions[usize::from(control_b & 7)];
        let is_held = self.holds_prescaler(view);
        let was_held = std::mem::replace(&mut self.is_held, is_held);
        if was_held && !self.is_held {
            self.prescaler_start = view.now;
        }
        self.observe_clock(view, control_b);
        self.observe_captures(view, control_b);
        // What the prescaler does not divide may go on while it is held.
        let is_from_outside = division == 0 && self.clock.is_unsure;
        self.is_foreign = is_clocked && control_b & 7 != 0 && (is_from_outside || self.is_held && division == 1);
        self.division = if is_clocked && !self.is_held { division } else { 0 };
        self.written = self.places.compare.map(|word| word.get(view));
        self.capture = self.places.capture.map_or(0, |word| word.get(view));
        if !self.mode.pwm {
            self.compare = self.written;
        }
        self.down &= self.mode.double;
        let places = &self.places;
        let started = places.counter.addresses().chain(places.control).any(|at| view.written(at).is_some());
        if started || was_held && !self.is_held {
            self.exact_from = view.now + INEXACT_TICKS * self.division.max(1);
            // A counter that is late sets no flag before this one does.
            if was_near || self.distance() <= INEXACT_TICKS + 1 || view.now < self.flags_exact_from {
                self.flags_exact_from = self.exact_from;
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Options;
    use crate::program::Program;
    use crate::state::MachineState;
    use avr_testkit::Random;

    /// A timer with some registers set, at cycle 0.
    struct Bench {
        timer: Timer,
        signals: Signals,
        state: MachineState<u8>,
        device: &'static Device,
    }

    impl Bench {
        fn new(number: usize, registers: &[(&str, u8)]) -> Self {
            Self::on("atmega328p", number, registers)
        }

        fn on(name: &str, number: usize, registers: &[(&str, u8)]) -> Self {
            let device = Device::named(name).expect("the device exists");
            let program = Program::decode(device.memory.flash_words(), device.core.features, |_| None);
            let machine = Machine::new(device, program, Options::default());
            let timer = Timer::all(&machine).nth(number).expect("the device has three timers");
            let signals = Signals { raised: vec![0; 0x100], ..Signals::default() };
            let mut bench = Self { timer, signals, state: MachineState::new(machine.cells(), 0), device };
            bench.write(0, registers);
            bench
        }

        fn write(&mut self, now: u64, registers: &[(&str, u8)]) {
            let address = |name: &str| address(self.device, name).expect("the register exists");
            let writes: Vec<(DataAddress, u8)> =
                registers.iter().map(|(name, value)| (address(name), *value)).collect();
            writes.iter().for_each(|(address, value)| self.state.data.set(*address, *value));
            let view = View { cells: &self.state.data, writes: &writes, reads: &[], now, sleeping: false };
            self.timer.observe(&view, &mut self.signals);
        }

        /// The cycles, up to a limit, at which a flag is raised.
        fn raised(&mut self, flag: &str, limit: u64) -> Vec<u64> {
            let flag = bit(self.device, flag).expect("the flag exists");
            let mut cycles = Vec::new();
            while self.timer.due() <= limit {
                let now = self.timer.due();
                self.timer.run(now, &mut self.signals);
                if self.signals.is_raised(flag) {
                    cycles.push(now);
                }
                self.signals.raised.fill(0);
            }
            cycles
        }
    }

    #[track_caller]
    fn check(number: usize, registers: &[(&str, u8)], flag: &str, expected: [u64; 3]) {
        let found = Bench::new(number, registers).raised(flag, expected[2]);
        assert_eq!(found, expected, "{registers:?} {flag}");
    }

    #[test]
    fn flags_are_raised_when_the_data_sheet_says() {
        // Normal mode; the flag comes with the tick after the match.
        check(0, &[("TCCR0B", 1)], "TOV0", [256, 512, 768]);
        check(0, &[("TCCR0B", 3)], "TOV0", [0x4000, 0x8000, 0xc000]);
        check(0, &[("TCCR0B", 1), ("OCR0A", 9)], "OCF0A", [10, 266, 522]);
        check(2, &[("TCCR2B", 4)], "TOV2", [0x4000, 0x8000, 0xc000]);
        check(1, &[("TCCR1B", 1)], "TOV1", [0x1_0000, 0x2_0000, 0x3_0000]);
        check(1, &[("TCCR1B", 2), ("TCNT1H", 0xff), ("TCNT1L", 0xf0)], "TOV1", [0x80, 0x8_0080, 0x10_0080]);
        // Clear timer on compare match.
        check(0, &[("TCCR0A", 2), ("OCR0A", 99), ("TCCR0B", 2)], "OCF0A", [800, 1600, 2400]);
        check(1, &[("OCR1AH", 1), ("OCR1AL", 0xff), ("TCCR1B", 0x09)], "OCF1A", [512, 1024, 1536]);
        check(1, &[("ICR1H", 1), ("ICR1L", 0xff), ("TCCR1B", 0x19)], "ICF1", [512, 1024, 1536]);
        // Fast PWM and phase correct PWM.
        check(0, &[("TCCR0A", 3), ("OCR0A", 9), ("TCCR0B", 9)], "TOV0", [1, 11, 21]);
        check(0, &[("TCCR0A", 3), ("TCCR0B", 3)], "TOV0", [0x4000, 0x8000, 0xc000]);
        check(0, &[("TCCR0A", 1), ("TCCR0B", 1)], "TOV0", [511, 1021, 1531]);
        check(1, &[("TCCR1A", 2), ("TCCR1B", 0x09)], "TOV1", [512, 1024, 1536]);
        check(1, &[("TCCR1A", 1), ("TCCR1B", 0x01)], "TOV1", [511, 1021, 1531]);
    }

    #[test]
    fn an_overflow_passes_unnoticed_when_the_timer_is_cleared_before() {
        assert_eq!(
            Bench::new(0, &[("TCCR0A", 2), ("OCR0A", 99), ("TCCR0B", 2)]).raised("TOV0", 1_000_000),
            Vec::<u64>::new()
        );
        assert_eq!(Bench::new(0, &[("TCCR0B", 0)]).raised("TOV0", 1_000_000), Vec::<u64>::new());
        assert_eq!(Bench::new(0, &[("PRR", 0x20), ("TCCR0B", 1)]).raised("TOV0", 1_000_000), Vec::<u64>::new());
        assert_eq!(Bench::new(0, &[("GTCCR", 0x81), ("TCCR0B", 1)]).raised("TOV0", 1_000_000), Vec::<u64>::new());
    }

    #[test]
    fn looking_often_or_rarely_makes_no_difference() {
        let mut random = Random::new(1);
        for _ in 0..300 {
            let (a, b) = (random.below(4), 8 * random.below(2) + 1 + random.below(3));
            let compare = [("OCR0A", random.byte()), ("OCR0B", random.below(20))];
            let registers = [("TCCR0A", a), compare[0], compare[1], ("TCNT0", random.byte()), ("TCCR0B", b)];
            let mut often = Bench::new(0, &registers);
            let mut rarely = Bench::new(0, &registers);
            let end = 1 + random.below(5_000);
            (1..=end).for_each(|now| often.timer.run(now, &mut often.signals));
            rarely.timer.run(end, &mut rarely.signals);
            let observed = |bench: &Bench| (bench.timer.count, bench.timer.down, bench.signals.raised.clone());
            assert_eq!(observed(&often), observed(&rarely), "{registers:?} for {end} cycles");
        }
    }

    #[test]
    fn edges_that_the_program_drives_count() {
        let mut bench = Bench::new(0, &[("DDRD", 0x10), ("TCCR0B", 7)]);
        bench.write(10, &[("PORTD", 0x10)]);
        bench.timer.run(12, &mut bench.signals);
        assert_eq!(bench.timer.input(DataAddress(0x46), 12), 0);
        bench.timer.run(13, &mut bench.signals);
        assert_eq!(bench.timer.input(DataAddress(0x46), 13), 1);
        assert!(
            !bench.timer.is_exact(DataAddress(0x46), 0xff, 14) && bench.timer.is_exact(DataAddress(0x46), 0xff, 15)
        );
        bench.write(20, &[("PORTD", 0)]);
        bench.timer.run(40, &mut bench.signals);
        assert_eq!(bench.timer.input(DataAddress(0x46), 40), 1, "a falling edge does not count");
        bench.write(50, &[("DDRD", 0)]);
        assert!(!bench.timer.is_exact(DataAddress(0x46), 0xff, 90), "edges from outside are not known");
    }

    #[test]
    fn edges_that_the_program_drives_trigger_captures() {
        let captured = BitRef { address: DataAddress(0x36), bit: 5 };
        let mut bench = Bench::new(1, &[("DDRB", 1), ("TCCR1B", RISING_EDGE | NOISE_CANCELER)]);
        assert!(!bench.timer.is_exact(DataAddress(0x36), 0x20, 15), "the choice of the edge may have set the flag");
        bench.write(20, &[("TIFR1", 0x20)]);
        assert!(bench.timer.is_exact(DataAddress(0x36), 0x20, 29));
        bench.write(30, &[("PORTB", 1)]);
        bench.timer.run(36, &mut bench.signals);
        assert!(!bench.signals.is_raised(captured) && !bench.timer.is_exact(DataAddress(0x36), 0x20, 38));
        bench.timer.run(37, &mut bench.signals);
        assert!(bench.signals.is_raised(captured) && bench.timer.is_exact(DataAddress(0x36), 0x20, 39));
    }

    #[test]
    fn another_unit_at_the_capture_pin_makes_its_edges_unknown() {
        let flag = bit(Device::named("attiny84").expect("the device exists"), "ICF1").expect("the flag exists");
        let rising = [("DDRA", 0x80), ("TCCR1B", RISING_EDGE)];
        let mut bench = Bench::on("attiny84", 1, &rising);
        bench.write(20, &[("TIFR1", 0x20)]);
        bench.write(30, &[("PORTA", 0x80)]);
        bench.timer.run(40, &mut bench.signals);
        assert!(bench.signals.is_raised(flag) && bench.timer.is_exact(flag.address, flag.mask(), 40));
        for other in [("TCCR0A", 0x20), ("DIDR0", 0x80)] {
            let mut bench = Bench::on("attiny84", 1, &rising);
            bench.write(10, &[other]);
            bench.write(20, &[("TIFR1", 0x20)]);
            bench.write(30, &[("PORTA", 0x80)]);
            assert!(!bench.timer.is_exact(flag.address, flag.mask(), 60), "{other:?}");
        }
    }

    #[test]
    fn another_unit_at_the_clock_pin_makes_its_edges_unknown() {
        let outputs = [("DDRD", 0xff), ("DDRB", 0xff)];
        for (name, number, clocked, counter, other) in [
            ("atmega328p", 0, "TCCR0B", "TCNT0", ("UCSR0C", 0x40)),
            ("atmega328p", 1, "TCCR1B", "TCNT1L", ("TCCR0A", 0x20)),
            ("atmega1284p", 0, "TCCR0B", "TCNT0", ("UCSR0C", 0x40)),
            ("atmega1284p", 3, "TCCR3B", "TCNT3L", ("UCSR0B", 0x10)),
        ] {
            let mut bench = Bench::on(name, number, &outputs);
            let counter = address(bench.device, counter).expect("the register exists");
            bench.write(10, &[(clocked, 7)]);
            assert!(bench.timer.is_exact(counter, 0xff, 60), "{name} {number}");
            bench.write(70, &[other]);
            bench.write(80, &[("PORTD", 0xff), ("PORTB", 0xff)]);
            assert!(!bench.timer.is_exact(counter, 0xff, 120), "{name} {number}");
        }
    }

    #[test]
    fn the_third_timer_with_16_bits_has_registers_and_pins_of_its_own() {
        let on = |registers: &[(&str, u8)]| Bench::on("atmega1284p", 3, registers);
        assert_eq!(on(&[("OCR3AH", 1), ("OCR3AL", 0xff), ("TCCR3B", 0x09)]).raised("OCF3A", 1536), [512, 1024, 1536]);
        assert_eq!(on(&[("OCR3BL", 9), ("TCCR3B", 1)]).raised("OCF3B", 10), [10]);
        assert_eq!(on(&[("PRR1", 1), ("TCCR3B", 1)]).raised("TOV3", 1_000_000), Vec::<u64>::new());
        assert_eq!(on(&[("PRR0", 8), ("TCCR3B", 1)]).raised("TOV3", 0x1_0000), [0x1_0000]);
        let mut bench = on(&[("DDRD", 1), ("TCCR3B", 7)]);
        bench.write(20, &[("PORTD", 1)]);
        bench.timer.run(23, &mut bench.signals);
        assert_eq!(bench.timer.input(DataAddress(0x94), 23), 1);
        let flag = bit(bench.device, "ICF3").expect("the flag exists");
        for (other, is_exact) in [(("ACSR", 4), true), (("SPCR", 0x40), false)] {
            let mut bench = on(&[("DDRB", 0x20), ("TCCR3B", RISING_EDGE)]);
            bench.write(10, &[other]);
            bench.write(20, &[("TIFR3", 0x20)]);
            bench.write(30, &[("PORTB", 0x20)]);
            bench.timer.run(40, &mut bench.signals);
            assert_eq!(bench.timer.is_exact(flag.address, flag.mask(), 40), is_exact, "{other:?}");
            assert_eq!(bench.signals.is_raised(flag), is_exact, "{other:?}");
        }
    }

    #[test]
    fn a_timer_goes_on_when_its_prescaler_is_released() {
        let mut bench = Bench::new(0, &[("GTCCR", 0x81), ("TCCR0B", 2)]);
        assert_eq!(bench.timer.input(DataAddress(0x46), 100), 0);
        assert!(bench.timer.is_exact(DataAddress(0x46), 0xff, 100));
        bench.write(101, &[("GTCCR", 0)]);
        assert_eq!((bench.timer.input(DataAddress(0x46), 108), bench.timer.input(DataAddress(0x46), 109)), (0, 1));
        assert!(
            !bench.timer.is_exact(DataAddress(0x46), 0xff, 109) && bench.timer.is_exact(DataAddress(0x46), 0xff, 125)
        );
        let bench = Bench::new(0, &[("GTCCR", 0x81), ("TCCR0B", 1)]);
        assert!(!bench.timer.is_exact(DataAddress(0x46), 0xff, 100), "the sheet does not say that it stands");
    }

    #[test]
    fn the_counter_reads_as_written_plus_the_ticks_since() {
        let mut bench = Bench::new(0, &[("TCCR0B", 2)]);
        assert_eq!(bench.timer.input(DataAddress(0x46), 80), 10);
        bench.write(84, &[("TCNT0", 100)]);
        assert_eq!(bench.timer.input(DataAddress(0x46), 87), 100);
        assert_eq!(bench.timer.input(DataAddress(0x46), 88), 101);
        bench.write(90, &[("GTCCR", 1)]);
        assert_eq!(bench.timer.input(DataAddress(0x46), 97), 101);
        assert_eq!(bench.timer.input(DataAddress(0x46), 98), 102);
    }
}
