//! The SPI as a master on a bus with nobody else: a transfer takes its time and receives 0 (data sheet, section "SPI").
//!
//! A transfer during which the SPI is switched off, or made a slave, goes on: the data sheet leaves open what becomes of it.

use super::peripheral::{NEVER, Peripheral, Signals, View, address, bit, known};
use crate::device::{BitRef, Device};
use avr_isa::DataAddress;

/// Cycles of a bit by SPR1:0, without SPI2X.
const DIVISIONS: [u64; 4] = [4, 16, 64, 128];

/// The SPI.
#[derive(Clone, Debug)]
pub(super) struct Spi {
    control: DataAddress,
    data: DataAddress,
    busy: BitRef,
    enable: BitRef,
    master: BitRef,
    double_speed: BitRef,
    done_flag: BitRef,
    collision_flag: BitRef,
    done: u64,
}

impl Spi {
    /// The SPI of a device, if it has one.
    pub fn new(device: &'static Device) -> Option<Self> {
        Some(Self {
            control: address(device, "SPCR")?,
            data: address(device, "SPDR")?,
            busy: bit(device, "BUSY")?,
            enable: bit(device, "SPE")?,
            master: bit(device, "MSTR")?,
            double_speed: bit(device, "SPI2X")?,
            done_flag: bit(device, "SPIF")?,
            collision_flag: bit(device, "WCOL")?,
            done: NEVER,
        })
    }

    fn transfer_cycles(&self, view: &View<'_>) -> u64 {
        let division = DIVISIONS[usize::from(view.get(self.control) & 3)];
        8 * if view.is_set(self.double_speed) { division / 2 } else { division }
    }
}

impl Peripheral for Spi {
    fn written_registers(&self) -> Vec<DataAddress> {
        vec![self.control, self.data]
    }

    /// SPI master mode is only left by a low level at SS, which nobody drives.
    fn answered_registers(&self) -> Vec<DataAddress> {
        vec![self.control, self.busy.address]
    }

    /// A slave's write collides or not, depending on the moment at which its master begins.
    fn known_bits(&self) -> Vec<(DataAddress, u8)> {
        vec![known(self.busy), known(self.done_flag), known(self.collision_flag)]
    }

    fn input(&self, address: DataAddress, _now: u64) -> u8 {
        match address {
            _ if address == self.control => self.master.mask(),
            _ if self.done == NEVER => 0,
            _ => self.busy.mask(),
        }
    }

    fn due(&self) -> u64 {
        self.done
    }

    fn run(&mut self, now: u64, signals: &mut Signals) {
        if self.done <= now {
            self.done = NEVER;
            signals.raise(self.done_flag);
        }
    }

    fn observe(&mut self, view: &View<'_>, _signals: &mut Signals) {
        let is_master = view.is_set(self.enable) && view.is_set(self.master);
        if is_master && view.written(self.data).is_some() && self.done == NEVER {
            self.done = view.now + self.transfer_cycles(view);
        }
    }

    fn will_raise(&self, flag: BitRef) -> bool {
        flag == self.done_flag && self.done != NEVER
    }
}
