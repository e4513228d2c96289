//! Kinds of findings: what C programmers mean by a fault although no manual calls it one. They are no hazards and no part of formulas.

use std::fmt;

/// The kind of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    /// `out-of-object`: a store through a pointer that came from an object's address hits another address. So does a store through a
    /// pointer that hits a return address, or a register that a function keeps for its caller.
    OutOfObject,
    /// `torn-access`: a handler may write a variable between two accesses to its bytes.
    TornAccess,
}

impl FindingKind {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::OutOfObject, Self::TornAccess];

    /// The name in reports and property files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OutOfObject => "out-of-object",
            Self::TornAccess => "torn-access",
        }
    }

    /// The kind with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
