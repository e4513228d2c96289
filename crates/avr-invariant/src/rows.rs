//! Algebra of linear equations modulo 2^32.

/// An equation: the sum of coefficients times variables is the constant, modulo 2^32.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Row<V> {
    /// Variables with their coefficients, none of which is 0, by rising variable.
    terms: Vec<(V, u32)>,
    /// The constant.
    pub(crate) constant: u32,
}

impl<V: Ord + Copy> Row<V> {
    /// The equation with these terms; those of one variable are added.
    pub(crate) fn new(mut terms: Vec<(V, u32)>, constant: u32) -> Self {
        if !terms.is_sorted_by(|one, other| one.0 < other.0) {
            terms.sort_unstable_by_key(|term| term.0);
            terms.dedup_by(|later, sum| {
                let is_same = later.0 == sum.0;
                sum.1 = if is_same { sum.1.wrapping_add(later.1) } else { sum.1 };
                is_same
            });
        }
        terms.retain(|term| term.1 != 0);
        Self { terms, constant }
    }

    /// The variables with their coefficients.
    pub(crate) fn terms(&self) -> &[(V, u32)] {
        &self.terms
    }

    /// The coefficient of a variable.
    pub(crate) fn coefficient(&self, variable: V) -> u32 {
        self.terms.binary_search_by_key(&variable, |term| term.0).map_or(0, |index| self.terms[index].1)
    }

    /// The equation times a number.
    pub(crate) fn times(&self, factor: u32) -> Self {
        let terms = self.terms.iter().map(|term| (term.0, term.1.wrapping_mul(factor)));
        Self::new(terms.collect(), self.constant.wrapping_mul(factor))
    }

    /// This equation less another one that is multiplied.
    pub(crate) fn less(&self, factor: u32, other: &Self) -> Self {
        let (mut own, mut others) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        while let Some(next) = [own.peek(), others.peek()].into_iter().flatten().map(|term| term.0).min() {
            let here = own.next_if(|term| term.0 == next).map_or(0, |term| term.1);
            let there = others.next_if(|term| term.0 == next).map_or(0, |term| term.1);
            let coefficient = here.wrapping_sub(there.wrapping_mul(factor));
            if coefficient != 0 {
                terms.push((next, coefficient));
            }
        }
        Self { terms, constant: self.constant.wrapping_sub(other.constant.wrapping_mul(factor)) }
    }

    /// The equation with other variables, or with the values of some.
    pub(crate) fn map<W: Ord + Copy>(&self, variable: impl Fn(V) -> Place<W>) -> Row<W> {
        let mut constant = self.constant;
        let mut terms = Vec::new();
        for (old, coefficient) in &self.terms {
            match variable(*old) {
                Place::Is(new) => terms.push((new, *coefficient)),
                Place::Known(value) => constant = constant.wrapping_sub(coefficient.wrapping_mul(value)),
            }
        }
        Row::new(terms, constant)
    }

    /// The variable whose coefficient has the fewest factors of 2, with their number.
    fn pivot(&self) -> Option<(V, u32)> {
        let valued = self.terms.iter().map(|(variable, coefficient)| (*variable, coefficient.trailing_zeros()));
        valued.min_by_key(|(_, twos)| *twos)
    }

    /// The equation without a variable, as far as another one tells it; as it is otherwise.
    fn without(self, variable: V, pivot: &Self) -> Self {
        let (own, other) = (self.coefficient(variable), pivot.coefficient(variable));
        let twos = other.trailing_zeros();
        if own == 0 || own.trailing_zeros() < twos {
            return self;
        }
        // SOUND: whatever the factor is, the result follows from both.
        self.less((own >> twos).wrapping_mul(inverse(other >> twos)), pivot)
    }
}

/// The meaning of a variable elsewhere.
pub(crate) enum Place<V> {
    /// A variable.
    Is(V),
    /// A number.
    Known(u32),
}

/// The inverse of an odd number modulo 2^32.
pub(crate) fn inverse(odd: u32) -> u32 {
    // Each round doubles the number of bits that are right, of which there are three at first.
    (0..4).fold(odd, |inverse, _| inverse.wrapping_mul(2_u32.wrapping_sub(odd.wrapping_mul(inverse))))
}

/// Consequences of some equations in which no variable is dead; all of them but for what only multiples would tell.
pub(crate) fn eliminated<V: Ord + Copy>(mut rows: Vec<Row<V>>, is_dead: impl Fn(V) -> bool) -> Vec<Row<V>> {
    loop {
        let dead = rows.iter().flat_map(|row| row.terms.iter()).map(|term| term.0).find(|variable| is_dead(*variable));
        let Some(variable) = dead else { return rows };
        let with = rows.iter().enumerate().filter(|(_, row)| row.coefficient(variable) != 0);
        let least = with.min_by_key(|(_, row)| row.coefficient(variable).trailing_zeros());
        let Some((index, _)) = least else { return rows };
        let pivot = rows.remove(index);
        rows = rows.into_iter().map(|row| row.without(variable, &pivot)).collect();
        // The rest of it, modulo a smaller number.
        let twos = pivot.coefficient(variable).trailing_zeros();
        if twos > 0 {
            rows.push(pivot.times(1 << (32 - twos)));
        }
        rows.retain(|row| !row.terms.is_empty() || row.constant != 0);
    }
}

/// Equations of which each but the first ones lacks a variable of those before.
#[derive(Debug)]
pub(crate) struct Echelon<V>(Vec<(V, Row<V>)>);

impl<V: Ord + Copy> Echelon<V> {
    /// Equations that say the same as some others, as far as those do not contradict each other. None if they do.
    pub(crate) fn new(mut rows: Vec<Row<V>>) -> Option<Self> {
        let mut done: Vec<(V, Row<V>)> = Vec::new();
        loop {
            if rows.iter().any(|row| row.terms.is_empty() && row.constant != 0) {
                return None;
            }
            rows.retain(|row| !row.terms.is_empty());
            let pivots = rows.iter().enumerate().filter_map(|(index, row)| Some((index, row.pivot()?)));
            let least = pivots.min_by_key(|(index, (variable, twos))| (*twos, rows[*index].terms.len(), *variable));
            let Some((index, (variable, twos))) = least else { break };
            let row = rows.remove(index);
            let row = row.times(inverse(row.coefficient(variable) >> twos));
            rows = rows.into_iter().map(|other| other.without(variable, &row)).collect();
            done = done.into_iter().map(|(own, other)| (own, other.without(variable, &row))).collect();
            done.push((variable, row));
        }
        Some(Self(done))
    }

    /// An equation that says the same if these are true, with as few variables as can be.
    pub(crate) fn reduced(&self, row: &Row<V>) -> Row<V> {
        self.0.iter().fold(row.clone(), |row, (variable, pivot)| row.without(*variable, pivot))
    }

    /// The equations.
    pub(crate) fn into_rows(self) -> Vec<Row<V>> {
        self.0.into_iter().map(|one| one.1).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avr_testkit::Random;

    /// Random equations that these values fulfil.
    fn rows(values: &[u32], random: &mut Random) -> Vec<Row<u8>> {
        let row = |_| {
            let mut coefficient = || random.pick(&[1, 1, 2, 256, 3, u32::MAX, 0x1_0000, 0x100_0000, 0]);
            let terms: Vec<(u8, u32)> = (0..values.len() as u8).map(|one| (one, coefficient())).collect();
            let sum = terms
                .iter()
                .fold(0_u32, |sum, (one, times)| sum.wrapping_add(times.wrapping_mul(values[usize::from(*one)])));
            Row::new(terms, sum)
        };
        (0..4).map(row).collect()
    }

    fn is_true(row: &Row<u8>, values: &[u32]) -> bool {
        let value = |variable: u8| Place::<u8>::Known(values[usize::from(variable)]);
        row.map(value) == Row::new(Vec::new(), 0)
    }

    #[test]
    fn what_follows_is_true() {
        let mut random = Random::new(11);
        let mut found = 0;
        for _ in 0..20_000 {
            let values: Vec<u32> = (0..5).map(|_| random.below(256) as u32).collect();
            let all = rows(&values, &mut random);
            assert!(all.iter().all(|row| is_true(row, &values)), "{all:?}");
            let left = eliminated(all.clone(), |variable| variable < 2);
            assert!(left.iter().all(|row| is_true(row, &values) && row.terms().iter().all(|term| term.0 >= 2)));
            found += left.len();
            let echelon = Echelon::new(all.clone()).expect("the values fulfil them");
            for row in &all {
                assert_eq!(echelon.reduced(row), Row::new(Vec::new(), 0), "{row:?} of {all:?} in {echelon:?}");
            }
            assert!(echelon.into_rows().iter().all(|row| is_true(row, &values)));
        }
        assert!(found > 20_000, "{found} equations are left");
        assert!((1..10_000).step_by(2).all(|odd| inverse(odd).wrapping_mul(odd) == 1));
    }

    #[test]
    fn equations_that_contradict_each_other_are_found() {
        let row = |constant| Row::new(vec![(1_u8, 1), (2, 256)], constant);
        assert!(Echelon::new(vec![row(3), row(4)]).is_none());
        assert!(Echelon::new(vec![row(3), row(3).times(2)]).is_some());
    }
}
