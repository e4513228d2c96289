//! The two-wire interface as a master on a bus with nobody else: every address and every byte is left without
//! acknowledgement (data sheet, section "2-wire Serial Interface", tables of status codes).

use super::peripheral::{NEVER, Peripheral, Signals, View, address, bit, known};
use crate::device::{BitRef, Device};
use avr_isa::DataAddress;

/// Status codes.
const STARTED: u8 = 0x08;
const STARTED_AGAIN: u8 = 0x10;
const ADDRESS_TO_WRITE_REFUSED: u8 = 0x20;
const BYTE_REFUSED: u8 = 0x30;
const ADDRESS_TO_READ_REFUSED: u8 = 0x48;
const NOTHING: u8 = 0xf8;

const INTERRUPT: u8 = 1 << 7;
const START: u8 = 1 << 5;
const STOP: u8 = 1 << 4;
const ENABLE: u8 = 1 << 2;

/// The two-wire interface.
#[derive(Clone, Debug)]
pub(super) struct Twi {
    control: DataAddress,
    status: DataAddress,
    data: DataAddress,
    bit_rate: DataAddress,
    done_flag: BitRef,
    /// The present status code, and the one that the operation under way will leave.
    code: u8,
    next: u8,
    byte: u8,
    done: u64,
}

impl Twi {
    /// The interface of a device, if it has one.
    pub fn new(device: &'static Device) -> Option<Self> {
        Some(Self {
            control: address(device, "TWCR")?,
            status: address(device, "TWSR")?,
            data: address(device, "TWDR")?,
            bit_rate: address(device, "TWBR")?,
            done_flag: bit(device, "TWINT")?,
            code: NOTHING,
            next: NOTHING,
            byte: 0xff,
            done: NEVER,
        })
    }

    /// Cycles of a bit: 16 + 2 TWBR 4^TWPS.
    fn bit_cycles(&self, view: &View<'_>) -> u64 {
        16 + 2 * u64::from(view.get(self.bit_rate)) * 4u64.pow(u32::from(view.get(self.status) & 3))
    }

    /// The program cleared TWINT: the interface goes on.
    fn command(&mut self, control: u8, view: &View<'_>) {
        if control & STOP != 0 {
            self.code = NOTHING;
            self.done = NEVER;
        }
        let bits = match (control & (START | STOP), self.code) {
            (STOP, _) => return,
            (0, NOTHING) => return,
            (0, _) => 9,
            _ => 2,
        };
        self.next = match self.code {
            NOTHING => STARTED,
            _ if control & START != 0 => STARTED_AGAIN,
            STARTED | STARTED_AGAIN if self.byte & 1 == 1 => ADDRESS_TO_READ_REFUSED,
            STARTED | STARTED_AGAIN => ADDRESS_TO_WRITE_REFUSED,
            _ => BYTE_REFUSED,
        };
        self.done = view.now + bits * self.bit_cycles(view);
    }
}

impl Peripheral for Twi {
    fn written_registers(&self) -> Vec<DataAddress> {
        vec![self.control, self.data]
    }

    fn answered_registers(&self) -> Vec<DataAddress> {
        vec![self.status, self.data]
    }

    /// The moment at which a stop condition is done is not known.
    fn known_bits(&self) -> Vec<(DataAddress, u8)> {
        vec![known(self.done_flag)]
    }

    fn input(&self, address: DataAddress, _now: u64) -> u8 {
        if address == self.status { self.code } else { self.byte }
    }

    fn due(&self) -> u64 {
        self.done
    }

    fn run(&mut self, now: u64, signals: &mut Signals) {
        if self.done <= now {
            self.done = NEVER;
            self.code = self.next;
            signals.raise(self.done_flag);
        }
    }

    fn observe(&mut self, view: &View<'_>, _signals: &mut Signals) {
        if let Some(byte) = view.written(self.data) {
            self.byte = byte;
        }
        match view.written(self.control) {
            Some(control) if control & ENABLE == 0 => (self.code, self.done) = (NOTHING, NEVER),
            Some(control) if control & INTERRUPT != 0 => self.command(control, view),
            _ => {}
        }
    }

    fn will_raise(&self, flag: BitRef) -> bool {
        flag == self.done_flag && self.done != NEVER
    }
}
