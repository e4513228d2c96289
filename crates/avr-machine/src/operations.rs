//! Operations of the hardware: what a program or the environment starts, and what changes when it is done (a conversion, a transfer).
//!
//! An operation is done when hardware clears its pulse or sets its flag. At that moment inputs are latched, and the flag of a pulse
//! is set.

use std::collections::{BTreeMap, BTreeSet};

use avr_isa::DataAddress;

use crate::device::{Access, BitKind, BitRef, Device, Owed, SetByWrite};
use crate::machine::Group;

/// The operations of a device.
#[derive(Debug, Default)]
pub(crate) struct Operations {
    latched: BTreeMap<BitRef, Vec<Group>>,
    raised: BTreeMap<BitRef, BitRef>,
    owed: BTreeMap<BitRef, &'static Owed>,
    started: BTreeMap<DataAddress, Vec<(BitRef, &'static SetByWrite)>>,
    adjusted: BTreeMap<DataAddress, AdjustedPair>,
    /// The groups of bits that take those of a register.
    copied: BTreeMap<DataAddress, Vec<Group>>,
    /// Registers with latched inputs, and the cells that say which of their bits have a new value that nobody has asked for.
    pending: BTreeMap<DataAddress, DataAddress>,
}

/// A result of ten bits that a bit adjusts to the left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AdjustedPair {
    /// Data addresses of the low and the high byte.
    pub registers: [DataAddress; 2],
    /// The bit that adjusts it.
    pub left_adjusted: BitRef,
}

impl Operations {
    /// The operations of a device whose bits are grouped.
    pub(crate) fn new(device: &'static Device, groups: &BTreeMap<DataAddress, Vec<Group>>) -> Self {
        let mut all = Self::default();
        for group in groups.values().flatten() {
            if let BitKind::Input(input) = &group.bit.kind
                && let Some(event) = input.latched_by
            {
                all.latched.entry(event).or_default().push(*group);
                if let Some(source) = input.copies {
                    all.copied.entry(source).or_default().push(*group);
                }
            }
        }
        for register in &device.registers {
            if let Access::LocksPair { high, left_adjusted, .. } = register.access {
                let registers = [register.address, high];
                all.adjusted.insert(left_adjusted.address, AdjustedPair { registers, left_adjusted });
            }
            for (bit, number) in register.bits.iter().zip(0..) {
                let place = BitRef { address: register.address, bit: number };
                if let BitKind::Flag(flag) = &bit.kind {
                    all.raised.extend(flag.raised_by.map(|pulse| (pulse, place)));
                    all.owed.extend(flag.owed.as_ref().map(|owed| (place, owed)));
                }
                if let Some(start) = &bit.set_by_write {
                    all.started.entry(start.register).or_default().push((place, start));
                }
            }
        }
        let registers: BTreeSet<DataAddress> = all.latched.values().flatten().map(|group| group.address).collect();
        all.pending = registers.into_iter().zip(device.memory.pending_cells()).collect();
        all
    }

    /// The cell that says which bits of a register have a new value that nobody has asked for yet, where inputs are latched.
    pub(crate) fn pending(&self, register: DataAddress) -> Option<DataAddress> {
        self.pending.get(&register).copied()
    }

    /// All such cells.
    pub(crate) fn pending_cells(&self) -> impl Iterator<Item = DataAddress> {
        self.pending.values().copied()
    }

    /// The inputs that are latched when hardware changes a bit.
    pub(crate) fn latched(&self, event: BitRef) -> &[Group] {
        self.latched.get(&event).map_or(&[], Vec::as_slice)
    }

    /// The inputs that take the bits of a register.
    pub(crate) fn copied(&self, register: DataAddress) -> &[Group] {
        self.copied.get(&register).map_or(&[], Vec::as_slice)
    }

    /// The flag that is set when hardware clears a pulse.
    pub(crate) fn raised(&self, pulse: BitRef) -> Option<BitRef> {
        self.raised.get(&pulse).copied()
    }

    /// The characters on their way of which a flag tells the end.
    pub(crate) fn owed(&self, flag: BitRef) -> Option<&'static Owed> {
        self.owed.get(&flag).copied()
    }

    /// True for a bit with which something else changes.
    pub(crate) fn is_event(&self, bit: BitRef) -> bool {
        self.latched.contains_key(&bit) || self.raised.contains_key(&bit) || self.owed.contains_key(&bit)
    }

    /// The bits that a write to a register sets.
    pub(crate) fn started(&self, register: DataAddress) -> &[(BitRef, &'static SetByWrite)] {
        self.started.get(&register).map_or(&[], Vec::as_slice)
    }

    /// The result that a bit of a register adjusts.
    pub(crate) fn adjusted(&self, register: DataAddress) -> Option<AdjustedPair> {
        self.adjusted.get(&register).copied()
    }
}
