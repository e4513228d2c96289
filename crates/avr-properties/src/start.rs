//! The conditions of `initially`: what is assumed of the states in which the program begins.

use std::fmt;

use crate::place::Place;

/// The starts that a condition speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StartsAt {
    /// The first start, after a reset of any cause.
    First,
    /// The first start, after power-on.
    PowerOn,
    /// Every later start.
    Reset,
}

impl fmt::Display for StartsAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "at the first start",
            Self::PowerOn => "after power-on",
            Self::Reset => "after each later reset",
        })
    }
}

/// A predicate about the SRAM, the EEPROM or the register of reset causes that holds where the program begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartCondition {
    /// The starts.
    pub at: StartsAt,
    /// The text of the predicate.
    pub text: String,
    /// The place in the property file.
    pub(crate) place: Place,
}

impl fmt::Display for StartCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.text)
    }
}
