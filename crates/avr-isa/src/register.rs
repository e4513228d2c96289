//! The 32 general-purpose registers, and sets of them.

use crate::DataAddress;
use std::fmt;

/// A general-purpose register, r0 to r31.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register(u8);

impl Register {
    /// r0, low byte of a product and source or destination of the forms of LPM and SPM without operands.
    pub const R0: Self = Self(0);
    /// r1, high byte of a product.
    pub const R1: Self = Self(1);

    /// The register with this index, or `None` when the index is above 31.
    pub const fn new(index: u8) -> Option<Self> {
        if index < 32 { Some(Self(index)) } else { None }
    }

    /// The register whose index is the low five bits of `bits`.
    pub const fn from_low_bits(bits: u8) -> Self {
        Self(bits & 31)
    }

    /// The index, 0 to 31.
    pub const fn index(self) -> u8 {
        self.0
    }

    /// The address of the register in data memory, which is its index.
    #[inline]
    pub const fn address(self) -> DataAddress {
        DataAddress(self.0 as u16)
    }

    /// The register at an address in data memory.
    #[inline]
    pub const fn at(address: DataAddress) -> Option<Self> {
        if address.0 < 32 { Some(Self(address.0 as u8)) } else { None }
    }

    /// The register with the next index: the high byte of a pair of which this is the low byte; r0 after r31.
    pub const fn next(self) -> Self {
        Self((self.0 + 1) & 31)
    }

    /// All registers, r0 first.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..32).map(Self)
    }
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

impl fmt::Debug for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A set of general-purpose registers; bit n stands for rn.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct RegisterSet(u32);

impl RegisterSet {
    /// No register.
    pub const EMPTY: Self = Self(0);

    /// The set whose bit n says whether rn belongs to it.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Bit n says whether rn belongs to the set.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// True if the register belongs to the set.
    pub const fn contains(self, register: Register) -> bool {
        self.0 >> register.0 & 1 == 1
    }

    /// The set with the register added.
    pub const fn with(self, register: Register) -> Self {
        Self(self.0 | 1 << register.0)
    }

    /// The registers that belong to either set.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// True if no register belongs to both sets.
    pub const fn is_disjoint(self, other: Self) -> bool {
        self.0 & other.0 == 0
    }

    /// The members, r0 first.
    pub fn iter(self) -> impl Iterator<Item = Register> {
        Register::all().filter(move |register| self.contains(*register))
    }
}
