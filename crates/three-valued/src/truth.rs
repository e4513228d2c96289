//! Truth values of Kleene's strong three-valued logic.

use std::fmt;
use std::ops::{BitAnd, BitOr, Not};

/// The truth of a statement about an abstract state: certainly false, certainly true, or not known.
///
/// The order `False < Unknown < True` is the truth order, so conjunction is the minimum and disjunction the maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Truth {
    /// False for everything that the abstract object stands for.
    False,
    /// Nothing is claimed.
    #[default]
    Unknown,
    /// True for everything that the abstract object stands for.
    True,
}

impl Truth {
    /// The value if it is decided.
    #[must_use]
    pub fn known(self) -> Option<bool> {
        match self {
            Self::False => Some(false),
            Self::True => Some(true),
            Self::Unknown => None,
        }
    }

    /// True if the value is `True`.
    #[must_use]
    pub fn is_true(self) -> bool {
        self == Self::True
    }

    /// True if the value is `False`.
    #[must_use]
    pub fn is_false(self) -> bool {
        self == Self::False
    }

    /// True if the value is `Unknown`.
    #[must_use]
    pub fn is_unknown(self) -> bool {
        self == Self::Unknown
    }

    /// The least committing value that agrees with both: equal values stay, different ones become `Unknown`.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        if self == other { self } else { Self::Unknown }
    }
}

impl From<bool> for Truth {
    fn from(value: bool) -> Self {
        if value { Self::True } else { Self::False }
    }
}

impl Not for Truth {
    type Output = Self;

    fn not(self) -> Self {
        match self {
            Self::False => Self::True,
            Self::Unknown => Self::Unknown,
            Self::True => Self::False,
        }
    }
}

impl BitAnd for Truth {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        self.min(other)
    }
}

impl BitOr for Truth {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.max(other)
    }
}

impl fmt::Display for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::False => "0",
            Self::Unknown => "X",
            Self::True => "1",
        })
    }
}
