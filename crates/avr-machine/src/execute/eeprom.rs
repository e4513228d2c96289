//! The EEPROM behind its registers (data sheet, section "EEPROM Data Memory").

use super::Step;
use super::memory::Candidates;
use crate::device::Eeprom;
use crate::environment::{Demand, Environment};
use avr_isa::{DataAddress, EepromAddress};
use three_valued::{BitDomain, ByteDomain, TvByte};

/// Clock cycles for which the processor is halted after a read, and after the start of a write.
const READ_HALTS: u32 = 4;
const WRITE_HALTS: u32 = 2;

impl<V: ByteDomain, E: Environment<V>> Step<'_, V, E> {
    /// Starts the operation that a write to the control register asks for, after its bits were stored. `before` is its
    /// content before.
    pub(super) fn eeprom_command(&mut self, eeprom: &Eeprom, before: &V, value: &V, selected: u8) {
        let after = self.state.data.get(eeprom.program.address);
        let starts = after.bit(eeprom.program.bit).and(&before.bit(eeprom.program.bit).not());
        if self.decide(&starts) {
            self.program_eeprom(eeprom);
            self.cycles += WRITE_HALTS;
        }
        let reads = value.and(&V::constant(selected)).bit(eeprom.read.bit);
        if self.decide(&reads) {
            self.refresh_bits(eeprom.program, Demand::Stored);
            let busy = self.state.data.get(eeprom.program.address).bit(eeprom.program.bit);
            if !self.decide(&busy) {
                let value = self.eeprom_byte(eeprom);
                self.state.data.set(eeprom.data, value);
                self.cycles += READ_HALTS;
            }
        }
    }

    /// The cells that the address register may mean, and the bytes of the register.
    fn eeprom_cells(&mut self, eeprom: &Eeprom) -> (Vec<DataAddress>, [V; 2]) {
        [Some(eeprom.address_low), eeprom.address_high]
            .into_iter()
            .flatten()
            .for_each(|half| self.decide_bits(half, 0xff));
        let low = self.state.data.get(eeprom.address_low).clone();
        let high = eeprom.address_high.map_or(V::constant(0), |address| self.state.data.get(address).clone());
        let size = self.machine.device.memory.eeprom_bytes;
        let mut cells: Vec<EepromAddress> = Candidates::of(low.bits(), high.bits())
            .iter()
            .map(|address| EepromAddress(address % size.max(1)))
            .collect();
        cells.sort_unstable();
        cells.dedup();
        (cells.into_iter().map(|byte| self.machine.eeprom_cell(byte)).collect(), [low, high])
    }

    /// The byte that the address register means.
    fn eeprom_byte(&mut self, eeprom: &Eeprom) -> V {
        let (cells, address) = self.eeprom_cells(eeprom);
        let bytes = cells.iter().map(|cell| self.state.data.get(*cell).clone());
        let joined = bytes.reduce(|all, byte| all.join(&byte)).unwrap_or_else(|| V::constant(0xff));
        if cells.len() == 1 { joined } else { joined.indexed_by(&[&address[0], &address[1]]) }
    }

    /// Erases, writes or both; the content is the new one at once, because it cannot be read before it is done.
    fn program_eeprom(&mut self, eeprom: &Eeprom) {
        let value = self.state.data.get(eeprom.data).clone();
        self.decide_bits(eeprom.program.address, eeprom.mode_mask);
        let mode = self.state.data.get(eeprom.program.address).and(&V::constant(eeprom.mode_mask));
        let (cells, address) = self.eeprom_cells(eeprom);
        for cell in &cells {
            let old = self.state.data.get(*cell).clone();
            let written = programmed(eeprom, &mode, &old, &value);
            let stored = match cells.len() {
                1 => written,
                _ => old.join(&written).indexed_by(&[&address[0], &address[1]]),
            };
            self.state.data.set(*cell, stored);
        }
    }
}

/// A byte after programming in a mode: the join of what the possible modes do.
fn programmed<V: ByteDomain>(eeprom: &Eeprom, mode: &V, old: &V, value: &V) -> V {
    let place = eeprom.mode_mask.trailing_zeros();
    let in_mode = |number: u8| {
        let bits = number.checked_shl(place).unwrap_or(0) & eeprom.mode_mask;
        mode.assume(TvByte::constant(bits)).map(|_| match number {
            1 => V::constant(0xff),
            2 => old.and(value),
            _ => value.clone(),
        })
    };
    let last = eeprom.mode_mask.checked_shr(place).unwrap_or(0);
    let possible = (0..=last).filter_map(in_mode);
    let joined = possible.reduce(|all, one| all.join(&one)).unwrap_or_else(|| value.clone());
    joined.indexed_by(&[mode])
}
