//! Generators and checks for the tests of several crates; a dependency of tests only.
//!
//! Tests that enumerate have two sizes: `cargo test` takes the short one, and `tests/oracle/all.sh --full` the long one, by
//! setting [`SIZE`] to `long`. Of long lists, such as all samples, the short tests of a commit may take a part, which [`PART`] selects.
#![forbid(unsafe_code)]

mod fault;
pub mod formulas;
pub mod image;
mod part;
pub mod programs;
mod random;
#[cfg(feature = "schema")]
pub mod schema;
mod side_by_side;

pub use part::{PART, Part};
pub use random::Random;
pub use side_by_side::side_by_side;

/// The environment variable that selects the size of tests: `short` (also if it is not set) or `long`.
pub const SIZE: &str = "AVR_TVAR_TESTS";

/// The size of tests that enumerate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// As many cases as fit into a run of all tests of some minutes.
    Short,
    /// As many cases as are worth a run before an issue is closed.
    Long,
}

impl Size {
    /// The size that [`SIZE`] selects.
    ///
    /// # Panics
    /// If its value is neither `short` nor `long`: a misspelt one must not pass for the long tests.
    #[must_use]
    pub fn selected() -> Self {
        Self::named(std::env::var(SIZE).ok().as_deref())
    }

    fn named(name: Option<&str>) -> Self {
        match name {
            None | Some("short") => Self::Short,
            Some("long") => Self::Long,
            Some(other) => panic!("{SIZE} is {other:?} instead of `short` or `long`"),
        }
    }

    /// One of two numbers of cases.
    #[must_use]
    pub fn cases(self, short: u64, long: u64) -> u64 {
        match self {
            Self::Short => short,
            Self::Long => long,
        }
    }
}

/// The number of cases for the selected size.
#[must_use]
pub fn cases(short: u64, long: u64) -> u64 {
    Size::selected().cases(short, long)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_names() {
        assert_eq!(Size::named(None).cases(1, 2), 1);
        assert_eq!(Size::named(Some("short")).cases(1, 2), 1);
        assert_eq!(Size::named(Some("long")).cases(1, 2), 2);
    }

    #[test]
    #[should_panic(expected = "AVR_TVAR_TESTS is \"lang\"")]
    fn misspelt_sizes_are_refused() {
        Size::named(Some("lang"));
    }
}
