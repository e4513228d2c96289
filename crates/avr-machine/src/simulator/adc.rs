//! The analogue-to-digital converter (data sheet, section "Analog-to-Digital Converter"). Of the automatic triggers only
//! free running is modelled.

use super::peripheral::{NEVER, Peripheral, Signals, View, address, bit, known};
use crate::device::{BitRef, Device};
use avr_isa::DataAddress;

/// Clocks of the converter for a conversion, and for the first one after it was switched on.
const CONVERSION_CLOCKS: u64 = 13;
const FIRST_CONVERSION_CLOCKS: u64 = 25;

const ENABLE: u8 = 1 << 7;
const BUSY: u8 = 1 << 6;
const AUTOMATIC: u8 = 1 << 5;

/// Channels that the widest multiplexer tells apart.
const CHANNELS: usize = 64;

/// The bits MUX0, MUX1 and so on, of which the number of a channel consists: the lowest ones of ADMUX, and MUX5 where a part has it elsewhere.
fn selection(device: &'static Device) -> impl Iterator<Item = BitRef> {
    (0..CHANNELS.ilog2()).map_while(move |number| bit(device, &format!("MUX{number}")))
}

/// The largest number of a channel that the multiplexer of a device selects.
pub(super) fn last_channel(device: &'static Device) -> u8 {
    selection(device).fold(0, |last, _| last << 1 | 1)
}

/// The converter.
#[derive(Clone, Debug)]
pub(super) struct Adc {
    control: DataAddress,
    trigger: DataAddress,
    /// The bits that select the channel, the lowest first.
    selection: Vec<BitRef>,
    result: [DataAddress; 2],
    left_adjusted: BitRef,
    done_flag: BitRef,
    /// The result of a conversion of each channel, 0 to 1023.
    levels: [u16; CHANNELS],
    value: u16,
    adjusted: bool,
    /// True if the program read the low byte and not yet the high one: the result is locked.
    locked: bool,
    enabled: bool,
    first: bool,
    /// True if something else starts conversions.
    is_triggered: bool,
    /// The cycles from one conversion to the next, if one follows the other.
    running_free: Option<u64>,
    channel: usize,
    next_channel: usize,
    done: u64,
}

impl Adc {
    /// The converter of a device, if it has one.
    pub fn new(device: &'static Device) -> Option<Self> {
        Some(Self {
            control: address(device, "ADCSRA")?,
            trigger: address(device, "ADCSRB")?,
            selection: selection(device).collect(),
            result: [address(device, "ADCL")?, address(device, "ADCH")?],
            left_adjusted: bit(device, "ADLAR")?,
            done_flag: bit(device, "ADIF")?,
            levels: [0; CHANNELS],
            value: 0,
            adjusted: false,
            locked: false,
            enabled: false,
            first: true,
            is_triggered: false,
            running_free: None,
            channel: 0,
            next_channel: 0,
            done: NEVER,
        })
    }

    /// From now on a channel converts to a value.
    pub fn set_level(&mut self, channel: usize, value: u16) {
        self.levels[channel] = value;
    }

    /// Cycles of a clock of the converter.
    fn division(control: u8) -> u64 {
        1 << (control & 7).max(1)
    }

    fn start(&mut self, control: u8, now: u64) {
        let clocks = if self.first { FIRST_CONVERSION_CLOCKS } else { CONVERSION_CLOCKS };
        self.first = false;
        self.channel = self.next_channel;
        self.done = now + clocks * Self::division(control);
    }

    fn finish(&mut self, signals: &mut Signals) {
        if !self.locked {
            self.value = self.levels[self.channel];
        }
        signals.raise(self.done_flag);
        self.channel = self.next_channel;
        self.done = self.running_free.map_or(NEVER, |cycles| self.done + cycles);
    }
}

impl Peripheral for Adc {
    fn written_registers(&self) -> Vec<DataAddress> {
        [self.control, self.trigger].into_iter().chain(self.selection.iter().map(|bit| bit.address)).collect()
    }

    fn read_registers(&self) -> Vec<DataAddress> {
        self.result.to_vec()
    }

    fn answered_registers(&self) -> Vec<DataAddress> {
        vec![self.control, self.result[0], self.result[1]]
    }

    fn known_bits(&self) -> Vec<(DataAddress, u8)> {
        vec![(self.control, BUSY), known(self.done_flag)]
    }

    /// Triggers other than the end of the conversion before are not known.
    fn is_exact(&self, address: DataAddress, _mask: u8, _now: u64) -> bool {
        address != self.control || !self.is_triggered
    }

    fn input(&self, address: DataAddress, _now: u64) -> u8 {
        if address == self.control {
            return if self.done == NEVER { 0 } else { BUSY };
        }
        let [low, high] = if self.adjusted { self.value << 6 } else { self.value }.to_le_bytes();
        if address == self.result[0] { low } else { high }
    }

    fn due(&self) -> u64 {
        self.done
    }

    fn run(&mut self, now: u64, signals: &mut Signals) {
        while self.done <= now {
            self.finish(signals);
        }
    }

    fn observe(&mut self, view: &View<'_>, _signals: &mut Signals) {
        let control = view.get(self.control);
        self.adjusted = view.is_set(self.left_adjusted);
        let bits = self.selection.iter().rev();
        self.next_channel = bits.fold(0, |channel, bit| channel << 1 | usize::from(view.is_set(*bit)));
        self.locked = (self.locked || view.was_read(self.result[0])) && !view.was_read(self.result[1]);
        let enabled = control & ENABLE != 0;
        self.first |= enabled && !self.enabled;
        self.enabled = enabled;
        self.is_triggered = enabled && control & AUTOMATIC != 0 && view.get(self.trigger) & 7 != 0;
        let free = enabled && control & AUTOMATIC != 0 && view.get(self.trigger) & 7 == 0;
        self.running_free = free.then(|| CONVERSION_CLOCKS * Self::division(control));
        let started =
            view.sleeping && control & BUSY != 0 || view.written(self.control).is_some_and(|value| value & BUSY != 0);
        if !enabled {
            self.done = NEVER;
        } else if started && self.done == NEVER {
            self.start(control, view.now);
        }
    }

    fn will_raise(&self, flag: BitRef) -> bool {
        flag == self.done_flag && self.done != NEVER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_those_of_the_multiplexer() {
        let last = |name: &str| last_channel(Device::named(name).expect("the device exists"));
        assert_eq!(["atmega328p", "attiny85", "attiny13", "attiny84"].map(last), [15, 15, 3, 63]);
    }
}
