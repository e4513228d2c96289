//! Random numbers that are the same for the same seed, so that failures repeat.

use std::ops::Range;

use fastrand::Rng;

/// A generator of random numbers.
#[derive(Clone, Debug)]
pub struct Random(Rng);

impl Random {
    /// The generator of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.u64(..)
    }

    /// A number of `width` bits, at most 63.
    pub fn number(&mut self, width: u32) -> u64 {
        self.0.u64(..1 << width)
    }

    /// A byte.
    pub fn byte(&mut self) -> u8 {
        self.0.u8(..)
    }

    /// A number from 0 on and below a limit.
    ///
    /// # Panics
    /// If the limit is not positive.
    pub fn below<N: TryInto<u64> + TryFrom<u64>>(&mut self, limit: N) -> N {
        let limit = limit.try_into().ok().expect("a limit is not negative");
        N::try_from(self.0.u64(..limit)).ok().expect("what is below a limit is of its type")
    }

    /// A number of a range.
    ///
    /// # Panics
    /// If there is none, or one is negative.
    pub fn within<N: TryInto<u64> + TryFrom<u64>>(&mut self, range: Range<N>) -> N {
        let [start, end] = [range.start, range.end].map(|end| end.try_into().ok().expect("no end is negative"));
        N::try_from(self.0.u64(start..end)).ok().expect("what is in a range is of its type")
    }

    /// True once in so many times.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// True so many times in a hundred.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    ///
    /// # Panics
    /// If there are none.
    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.0.usize(..from.len())].clone()
    }

    /// Puts elements in a random order.
    pub fn shuffle<T>(&mut self, elements: &mut [T]) {
        self.0.shuffle(elements);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            [(); 8].map(|()| random.bits())
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
    }

    #[test]
    fn every_number_below_a_limit_comes_up() {
        let mut random = Random::new(1);
        let mut seen = [0; 5];
        for _ in 0..1000 {
            seen[random.below(5_usize)] += 1;
        }
        assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
        assert_eq!(random.below(1_u8), 0);
        assert!((0..1000).all(|_| random.number(3) < 8 && (5..7).contains(&random.within(5..7))));
    }

    #[test]
    fn chances_are_as_said() {
        let mut random = Random::new(1);
        let thirds = (0..10_000).filter(|_| random.once_in(3)).count();
        let tenths = (0..10_000).filter(|_| random.chance(10)).count();
        assert!((3_000..3_700).contains(&thirds) && (850..1_150).contains(&tenths), "{thirds}, {tenths}");
    }

    #[test]
    #[should_panic(expected = "empty range")]
    fn nothing_is_below_zero() {
        Random::new(1).below(0);
    }
}
