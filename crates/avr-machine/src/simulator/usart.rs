//! The USARTs: bytes take the time of their frames (data sheet, section "USART0"). Frames never have errors; a byte that
//! finds the receive buffer full is lost and sets DOR.

use std::collections::VecDeque;

use avr_isa::DataAddress;

use super::peripheral::{NEVER, Peripheral, Signals, View, address, bit, known};
use crate::device::{BitRef, Device};

/// Bytes that the receiver keeps for the program.
const RECEIVE_BUFFER: usize = 2;

const DATA_OVERRUN: u8 = 1 << 3;
const EMPTY: u8 = 1 << 5;
const RECEIVED: u8 = 1 << 7;

/// A USART.
#[derive(Clone, Debug)]
pub(super) struct Usart {
    /// Its number: what the first one sends is shown.
    number: u8,
    data: DataAddress,
    status: DataAddress,
    control_b: DataAddress,
    control_c: DataAddress,
    rate: [DataAddress; 2],
    receive_enable: BitRef,
    transmit_enable: BitRef,
    sent_flag: BitRef,
    empty_flag: BitRef,
    received_flag: BitRef,
    overrun_flag: BitRef,
    /// Cycles of a frame.
    frame: u64,
    /// The cycle in which the byte in the shift register has left; [`NEVER`] while none is there.
    shifted: u64,
    /// True if another byte waits in the transmit buffer.
    waiting: bool,
    /// Bytes on their way, with the cycle at which they are complete.
    arriving: VecDeque<(u64, u8)>,
    buffer: VecDeque<u8>,
    receiver_on: bool,
    overrun: bool,
    /// Whether it is the master of a serial peripheral interface, on a bus with nobody else: each character brings a 0.
    is_spi: bool,
}

impl Usart {
    /// The USARTs of a device.
    pub fn all(device: &'static Device) -> impl Iterator<Item = Self> {
        (0..4).filter_map(move |number| Self::new(device, number))
    }

    fn new(device: &'static Device, number: u8) -> Option<Self> {
        let address = |before: &str, after: &str| address(device, &format!("{before}{number}{after}"));
        let bit = |name: &str| bit(device, &format!("{name}{number}"));
        Some(Self {
            number,
            data: address("UDR", "")?,
            status: address("UCSR", "A")?,
            control_b: address("UCSR", "B")?,
            control_c: address("UCSR", "C")?,
            rate: [address("UBRR", "L")?, address("UBRR", "H")?],
            receive_enable: bit("RXEN")?,
            transmit_enable: bit("TXEN")?,
            sent_flag: bit("TXC")?,
            empty_flag: bit("UDRE")?,
            received_flag: bit("RXC")?,
            overrun_flag: bit("DOR")?,
            frame: 0,
            shifted: NEVER,
            waiting: false,
            arriving: VecDeque::new(),
            buffer: VecDeque::new(),
            receiver_on: false,
            overrun: false,
            is_spi: false,
        })
    }

    /// True for the one of which stimulus files and the output speak.
    pub fn is_first(&self) -> bool {
        self.number == 0
    }

    /// Bytes begin to arrive now, one after the other; the first is complete at once.
    pub fn receive(&mut self, bytes: &[u8], now: u64) {
        let first = self.arriving.back().map_or(now, |(cycle, _)| cycle + self.frame).max(now);
        let frame = self.frame;
        self.arriving.extend((0..).zip(bytes).map(|(index, byte)| (first + index * frame, *byte)));
    }

    /// Cycles of a frame: start, data, parity and stop bits.
    fn frame_cycles(&self, view: &View<'_>) -> u64 {
        let (a, b, c) = (view.get(self.status), view.get(self.control_b), view.get(self.control_c));
        let rate = u64::from(u16::from_le_bytes(self.rate.map(|address| view.get(address))) & 0xfff) + 1;
        if is_spi(c) {
            return 16 * rate;
        }
        let per_bit = match (c >> 6, a >> 1 & 1) {
            (0, 0) => 16,
            (0, _) => 8,
            _ => 2,
        };
        let data_bits = if b & 4 != 0 { 9 } else { 5 + u64::from(c >> 1 & 3) };
        let parity = u64::from(c >> 5 & 1);
        let stop = 1 + u64::from(c >> 3 & 1);
        (1 + data_bits + parity + stop) * per_bit * rate
    }

    /// A byte written to the transmit buffer; while the transmitter is off it goes nowhere.
    fn send(&mut self, byte: u8, view: &View<'_>, signals: &mut Signals) {
        if !view.is_set(self.transmit_enable) {
            return;
        }
        if self.is_first() {
            signals.sent.push(byte);
        }
        if self.shifted == NEVER {
            self.shifted = view.now + self.frame;
        } else {
            self.waiting = true;
        }
    }

    fn arrive(&mut self, byte: u8) {
        match self.receiver_on {
            true if self.buffer.len() < RECEIVE_BUFFER => self.buffer.push_back(byte),
            true => self.overrun = true,
            false => {}
        }
    }
}

/// Whether UCSR0C selects the mode of a master of a serial peripheral interface.
fn is_spi(control_c: u8) -> bool {
    control_c >> 6 == 3
}

impl Peripheral for Usart {
    fn written_registers(&self) -> Vec<DataAddress> {
        vec![self.data, self.status, self.control_b, self.control_c, self.rate[0], self.rate[1]]
    }

    fn read_registers(&self) -> Vec<DataAddress> {
        vec![self.data]
    }

    fn answered_registers(&self) -> Vec<DataAddress> {
        vec![self.data, self.status]
    }

    fn known_bits(&self) -> Vec<(DataAddress, u8)> {
        let flags = [self.sent_flag, self.empty_flag, self.received_flag, self.overrun_flag];
        flags.map(known).to_vec()
    }

    /// Of its own accord it receives only as a master.
    fn is_exact(&self, address: DataAddress, mask: u8, _now: u64) -> bool {
        address != self.status || mask & self.received_flag.mask() == 0 || self.is_spi
    }

    fn input(&self, address: DataAddress, _now: u64) -> u8 {
        if address == self.data {
            return self.buffer.front().copied().unwrap_or(0);
        }
        let received = if self.buffer.is_empty() { 0 } else { RECEIVED };
        let empty = if self.waiting { 0 } else { EMPTY };
        received | empty | if self.overrun { DATA_OVERRUN } else { 0 }
    }

    fn due(&self) -> u64 {
        self.shifted.min(self.arriving.front().map_or(NEVER, |(cycle, _)| *cycle))
    }

    fn run(&mut self, now: u64, signals: &mut Signals) {
        while let Some((_, byte)) = self.arriving.front().copied().filter(|(cycle, _)| *cycle <= now) {
            self.arriving.pop_front();
            self.arrive(byte);
        }
        while self.shifted <= now {
            if self.is_spi {
                self.arrive(0);
            }
            if self.waiting {
                self.waiting = false;
                self.shifted += self.frame;
            } else {
                self.shifted = NEVER;
                signals.raise(self.sent_flag);
            }
        }
    }

    fn observe(&mut self, view: &View<'_>, signals: &mut Signals) {
        self.frame = self.frame_cycles(view);
        self.is_spi = is_spi(view.get(self.control_c));
        self.receiver_on = view.is_set(self.receive_enable);
        if !self.receiver_on {
            self.buffer.clear();
            self.overrun = false;
        }
        if view.was_read(self.data) && self.buffer.pop_front().is_some() {
            self.overrun = false;
        }
        if let Some(byte) = view.written(self.data) {
            self.send(byte, view, signals);
        }
    }

    fn will_raise(&self, flag: BitRef) -> bool {
        (flag == self.received_flag && self.receiver_on && !self.arriving.is_empty())
            || (flag == self.sent_flag || flag == self.empty_flag) && self.shifted != NEVER
    }
}
