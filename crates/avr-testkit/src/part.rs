//! A part of a long list, so that the tests of one commit take some of it and those of other commits take other parts.

use crate::Size;

/// The environment variable that selects a part of long lists in the short tests, such as `2/4`: the third of four parts. All is taken if it is not set.
pub const PART: &str = "AVR_TVAR_PART";

/// A part of long lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    number: usize,
    of: usize,
}

impl Part {
    /// All of a list.
    const ALL: Self = Self { number: 0, of: 1 };

    /// The part that [`PART`] selects; all in the long tests.
    ///
    /// # Panics
    /// If the value is no part: a misspelt one must not leave anything out.
    #[must_use]
    pub fn selected() -> Self {
        match Size::selected() {
            Size::Short => Self::named(std::env::var(PART).ok().as_deref()),
            Size::Long => Self::ALL,
        }
    }

    fn named(name: Option<&str>) -> Self {
        let Some(name) = name else { return Self::ALL };
        let numbers = name.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((number, of)) if number < of => Self { number, of },
            _ => panic!("{PART} is {name:?} instead of a part such as `2/4`"),
        }
    }

    /// The elements of a list that belong to the part: every fourth of four parts.
    #[must_use]
    pub fn take<T>(self, list: impl IntoIterator<Item = T>) -> Vec<T> {
        list.into_iter().skip(self.number).step_by(self.of).collect()
    }

    /// The number that is to be expected of something that occurs so often in all of a list. Half of an even share, as parts differ.
    #[must_use]
    pub fn at_least(self, in_all: usize) -> usize {
        if self.of == 1 { in_all } else { in_all / self.of / 2 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_up_the_list() {
        assert_eq!(Part::named(None).take(0..5), [0, 1, 2, 3, 4]);
        let parts = ["0/3", "1/3", "2/3"].map(|name| Part::named(Some(name)).take(0..8));
        assert_eq!(parts, [vec![0, 3, 6], vec![1, 4, 7], vec![2, 5]]);
    }

    #[test]
    fn less_is_expected_of_parts() {
        assert_eq!([None, Some("1/4")].map(|name| Part::named(name).at_least(40)), [40, 5]);
    }

    #[test]
    #[should_panic(expected = "AVR_TVAR_PART is \"4/4\"")]
    fn parts_that_do_not_exist_are_refused() {
        Part::named(Some("4/4"));
    }

    #[test]
    #[should_panic(expected = "AVR_TVAR_PART is \"quarter\"")]
    fn misspelt_parts_are_refused() {
        Part::named(Some("quarter"));
    }
}
