//! Conditions on register bits, with resolved addresses, and their three-valued evaluation.

use avr_isa::DataAddress;
use three_valued::Truth;

use super::register::Changes;

/// One bit of one register, by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BitRef {
    /// Data address of the register.
    pub address: DataAddress,
    /// Bit number, 0 to 7.
    pub bit: u8,
}

impl BitRef {
    /// The byte in which only this bit is 1.
    #[must_use]
    pub const fn mask(self) -> u8 {
        1 << (self.bit & 7)
    }
}

/// The known bits of a register: bits outside `known` have no meaning in `value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownBits {
    /// 1 where the bit is known.
    pub known: u8,
    /// The bit where it is known.
    pub value: u8,
}

impl KnownBits {
    /// A register whose bits are all known.
    #[must_use]
    pub const fn exactly(value: u8) -> Self {
        Self { known: 0xff, value }
    }

    /// A register of which nothing is known.
    pub const NOTHING: Self = Self { known: 0, value: 0 };
}

/// A statement about the stored bits of registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// True in every state.
    Always,
    /// False in every state.
    Never,
    /// Every part is true.
    All(Vec<Condition>),
    /// At least one part is true.
    Any(Vec<Condition>),
    /// The part is false.
    Not(Box<Condition>),
    /// The bit is 1. Software alone changes it, so the stored bit is the truth.
    Bit(BitRef),
    /// The bit is 1, but hardware changes it by itself: the stored bit is what software last saw. A value from which
    /// hardware could have moved on is `Unknown` (the pulse `EEPE`: a stored 0 is 0, a stored 1 may have become 0).
    Moving {
        /// The bit.
        bit: BitRef,
        /// The way in which hardware changes it.
        changes: Changes,
    },
    /// The bits under `mask` have the value `equals` (which is 0 outside `mask`).
    Field {
        /// Data address of the register.
        address: DataAddress,
        /// The bits that are compared.
        mask: u8,
        /// The value that they are compared with, in place (not shifted down).
        equals: u8,
    },
}

impl Condition {
    /// The truth of the condition where `read` tells what is known of the register at a data address.
    pub fn evaluate(&self, read: &mut dyn FnMut(DataAddress) -> KnownBits) -> Truth {
        match self {
            Self::Always => Truth::True,
            Self::Never => Truth::False,
            Self::All(parts) => parts.iter().fold(Truth::True, |all, part| all & part.evaluate(read)),
            Self::Any(parts) => parts.iter().fold(Truth::False, |any, part| any | part.evaluate(read)),
            Self::Not(part) => !part.evaluate(read),
            Self::Bit(bit) => compare(read(bit.address), bit.mask(), bit.mask()),
            Self::Moving { bit, changes } => moved(compare(read(bit.address), bit.mask(), bit.mask()), *changes),
            Self::Field { address, mask, equals } => compare(read(*address), *mask, *equals),
        }
    }

    /// The same, where the stored bits are the truth because hardware was just asked for those of [`Self::Moving`].
    pub fn evaluate_refreshed(&self, read: &mut dyn FnMut(DataAddress) -> KnownBits) -> Truth {
        match self {
            Self::All(parts) => parts.iter().fold(Truth::True, |all, part| all & part.evaluate_refreshed(read)),
            Self::Any(parts) => parts.iter().fold(Truth::False, |any, part| any | part.evaluate_refreshed(read)),
            Self::Not(part) => !part.evaluate_refreshed(read),
            Self::Moving { bit, .. } => compare(read(bit.address), bit.mask(), bit.mask()),
            Self::Always | Self::Never | Self::Bit(_) | Self::Field { .. } => self.evaluate(read),
        }
    }

    /// Calls `visit` with every bit that hardware changes by itself.
    pub fn for_each_moving(&self, visit: &mut impl FnMut(BitRef)) {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.for_each_moving(visit)),
            Self::Not(part) => part.for_each_moving(visit),
            Self::Moving { bit, .. } => visit(*bit),
            Self::Always | Self::Never | Self::Bit(_) | Self::Field { .. } => {}
        }
    }

    /// Calls `visit` with every register that the condition reads and the mask of the bits it depends on.
    pub fn for_each_register(&self, visit: &mut impl FnMut(DataAddress, u8)) {
        match self {
            Self::Always | Self::Never => {}
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.for_each_register(visit)),
            Self::Not(part) => part.for_each_register(visit),
            Self::Bit(bit) | Self::Moving { bit, .. } => visit(bit.address, bit.mask()),
            Self::Field { address, mask, .. } => visit(*address, *mask),
        }
    }

    /// True if the condition depends on any of the bits `mask` of the register at `address`.
    #[must_use]
    pub fn depends_on(&self, address: DataAddress, mask: u8) -> bool {
        let mut found = false;
        self.for_each_register(&mut |at, bits| found |= at == address && bits & mask != 0);
        found
    }

    /// The same condition with constants folded away: `Always` and `Never` remain only at the top.
    #[must_use]
    pub fn simplified(self) -> Self {
        match self {
            Self::All(parts) => fold(parts, Self::Never, Self::Always, Self::All),
            Self::Any(parts) => fold(parts, Self::Always, Self::Never, Self::Any),
            Self::Not(part) => match part.simplified() {
                Self::Always => Self::Never,
                Self::Never => Self::Always,
                other => Self::Not(Box::new(other)),
            },
            other => other,
        }
    }
}

/// Folds a list of parts in which `dominant` decides alone and `neutral` says nothing.
fn fold(
    parts: Vec<Condition>,
    dominant: Condition,
    neutral: Condition,
    build: impl Fn(Vec<Condition>) -> Condition,
) -> Condition {
    let mut parts: Vec<_> = parts.into_iter().map(Condition::simplified).filter(|part| *part != neutral).collect();
    if parts.contains(&dominant) {
        return dominant;
    }
    match parts.len() {
        0 => neutral,
        1 => parts.remove(0),
        _ => build(parts),
    }
}

/// The truth of "the bits under `mask` equal `equals`": one known difference makes it false, and it is true if all are
/// known and equal.
fn compare(register: KnownBits, mask: u8, equals: u8) -> Truth {
    if (register.value ^ equals) & mask & register.known != 0 {
        Truth::False
    } else if mask & !register.known == 0 {
        Truth::True
    } else {
        Truth::Unknown
    }
}

/// The present value of a bit that hardware may have changed since it was stored.
fn moved(stored: Truth, changes: Changes) -> Truth {
    match (stored, changes) {
        (Truth::True, Changes::Sets) => Truth::True,
        // SOUND: hardware never sets such a bit, so a 0 that software saw or wrote stays.
        (Truth::False, Changes::Clears) => Truth::False,
        _ => Truth::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_unknown_only_where_bits_that_matter_are() {
        #[track_caller]
        fn check(condition: &Condition, known: u8, value: u8, expected: Truth) {
            assert_eq!(condition.evaluate(&mut |_| KnownBits { known, value }), expected, "{condition:?}");
        }
        let bit = |bit| Condition::Bit(BitRef { address: DataAddress(0x45), bit });
        let field = Condition::Field { address: DataAddress(0x45), mask: 0x07, equals: 0x03 };
        check(&bit(3), 0x08, 0x08, Truth::True);
        check(&bit(3), 0xf7, 0xf7, Truth::Unknown);
        check(&field, 0x07, 0x03, Truth::True);
        check(&field, 0x04, 0x04, Truth::False);
        check(&field, 0x05, 0x01, Truth::Unknown);
        check(&Condition::Not(Box::new(field.clone())), 0x04, 0x04, Truth::True);
        check(&Condition::All(vec![bit(0), bit(1)]), 0x01, 0x00, Truth::False);
        check(&Condition::All(vec![bit(0), bit(1)]), 0x01, 0x01, Truth::Unknown);
        check(&Condition::Any(vec![bit(0), bit(1)]), 0x01, 0x01, Truth::True);
        check(&Condition::Any(vec![bit(0), bit(1)]), 0x01, 0x00, Truth::Unknown);
        check(&Condition::All(vec![]), 0, 0, Truth::True);
        check(&Condition::Any(vec![]), 0, 0, Truth::False);
    }

    #[test]
    fn conditions_fold_constants_away() {
        #[track_caller]
        fn check(condition: Condition, expected: Condition) {
            assert_eq!(condition.simplified(), expected);
        }
        let bit = || Condition::Bit(BitRef { address: DataAddress(0x45), bit: 0 });
        check(Condition::All(vec![Condition::Always, bit()]), bit());
        check(Condition::All(vec![Condition::Never, bit()]), Condition::Never);
        check(Condition::Any(vec![Condition::Never, bit()]), bit());
        check(Condition::Any(vec![Condition::Always, bit()]), Condition::Always);
        check(Condition::Not(Box::new(Condition::All(vec![]))), Condition::Never);
        check(Condition::All(vec![bit(), bit()]), Condition::All(vec![bit(), bit()]));
    }
}
