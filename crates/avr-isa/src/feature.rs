//! Features that some parts have and others lack.

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

/// The features of a part.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct FeatureSet(u16);

impl FeatureSet {
    /// None of the features.
    pub const EMPTY: Self = Self(0);

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
