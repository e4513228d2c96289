//! Features that some parts have and others lack.

use std::fmt;

use crate::table;

/// Something that not every AVR part has and that instructions need.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Feature {
    /// The hardware multiplier.
    Mul,
    /// JMP and CALL (parts with more than 8 KiB of flash).
    JmpCall,
    /// MOVW.
    Movw,
    /// LPM with operands.
    Lpmx,
    /// SPM.
    Spm,
    /// BREAK.
    Break,
    /// RAMPZ and ELPM without operands (parts with more than 64 KiB of flash).
    Elpm,
    /// ELPM with operands.
    Elpmx,
    /// EIND with EIJMP and EICALL (parts with more than 128 KiB of flash).
    Eind,
    /// A program counter of 22 bits, which takes three bytes on the stack and more cycles to push and pop.
    Pc22,
}

impl Feature {
    /// The feature with this name in the tables, such as `jmp-call`.
    pub fn from_name(name: &str) -> Option<Self> {
        table::features().iter().find(|(known, _)| *known == name).map(|(_, feature)| *feature)
    }

    /// Its name in the tables.
    pub fn name(self) -> &'static str {
        table::features().iter().find(|(_, feature)| *feature == self).map_or("", |(name, _)| name)
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The features of a part.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct FeatureSet(u16);

impl FeatureSet {
    /// None of the features.
    pub const EMPTY: Self = Self(0);

    /// The features of the parts of a GCC architecture, such as `avr5` for the ATmega328P; `None` if the instruction
    /// table does not name it.
    pub fn architecture(name: &str) -> Option<Self> {
        table::architectures().iter().find(|(known, _)| *known == name).map(|(_, features)| *features)
    }

    /// True if the part has the feature.
    pub const fn contains(self, feature: Feature) -> bool {
        self.0 >> feature as u16 & 1 == 1
    }

    /// The set with the feature added.
    pub const fn with(self, feature: Feature) -> Self {
        Self(self.0 | 1 << feature as u16)
    }

    /// The set without the feature.
    pub const fn without(self, feature: Feature) -> Self {
        Self(self.0 & !(1 << feature as u16))
    }
}
