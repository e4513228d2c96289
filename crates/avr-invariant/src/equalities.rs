//! The cells of an abstract state that hold the same value, as another one or as when the thread began.

use avr_isa::DataAddress;

/// A value that a cell is known to hold, or will hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// The content of this register when the division that the thread is at comes to its return, if nothing interrupts it. No cell is said to hold it.
    Result(DataAddress),
    /// The content of this cell when the handler began.
    Entry(DataAddress),
    /// The content of this cell, the lowest one of those that hold the same.
    Of(DataAddress),
}

/// The value of a cell of which nothing is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Silence {
    /// In the main program, any.
    Nothing,
    /// In a handler, what it was when the handler began.
    Unchanged,
}

/// Tells whether two cells are known to hold the same because of what is known of each.
pub type AreSame<'a> = dyn Fn(DataAddress, DataAddress) -> bool + 'a;

/// Equalities of cells: *rigid* ones with what a cell held when the handler began, and others between two cells.
///
/// A list of the cells of which something else is said than the [`Silence`] of the thread says, by rising address. `Of` the cell itself
/// means that nothing is known of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Equalities(Box<[(DataAddress, Value)]>);

impl Equalities {
    /// Equalities by rising address of their cells.
    #[must_use]
    pub fn new(list: Vec<(DataAddress, Value)>) -> Self {
        Self(list.into())
    }

    /// The list.
    #[must_use]
    pub fn list(&self) -> &[(DataAddress, Value)] {
        &self.0
    }

    /// True if the list is one that the states of a machine with so many cells can have in a thread.
    #[must_use]
    pub fn are_well_formed(&self, silence: Silence, cells: usize) -> bool {
        let is_one = |(cell, value): &(DataAddress, Value)| match value {
            Value::Entry(entry) => silence == Silence::Unchanged && entry.index() < cells && entry != cell,
            Value::Of(other) if other == cell => silence == Silence::Unchanged,
            // Lower cells only, so that following them comes to an end.
            Value::Of(other) => other < cell,
            Value::Result(_) => false,
        };
        self.0.windows(2).all(|two| two[0].0 < two[1].0)
            && self.0.iter().all(|one| one.0.index() < cells && is_one(one))
    }

    fn listed(&self, cell: DataAddress) -> Option<Value> {
        self.0.binary_search_by_key(&cell, |one| one.0).ok().map(|index| self.0[index].1)
    }

    /// The value of a cell: equal ones for cells that are known to hold the same.
    #[must_use]
    pub fn value(&self, cell: DataAddress, silence: Silence) -> Value {
        let mut cell = cell;
        loop {
            match (self.listed(cell), silence) {
                (None, Silence::Nothing) => return Value::Of(cell),
                (None, Silence::Unchanged) => return Value::Entry(cell),
                (Some(Value::Of(other)), _) if other != cell => cell = other,
                (Some(value), _) => return value,
            }
        }
    }

    /// The value of a cell of which the list says this.
    fn resolved(&self, cell: DataAddress, said: Option<Value>, silence: Silence) -> Value {
        match said {
            None => unsaid(cell, silence),
            Some(Value::Of(other)) if other != cell => self.value(other, silence),
            Some(value) => value,
        }
    }

    /// The cells of the list with their values, by rising address.
    pub(crate) fn values(&self, silence: Silence) -> impl Iterator<Item = (DataAddress, Value)> + '_ {
        self.0.iter().map(move |(cell, said)| (*cell, self.resolved(*cell, Some(*said), silence)))
    }

    /// The cells of which this list or another one says something, by rising address, with what each says.
    fn both<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (DataAddress, [Option<Value>; 2])> + 'a {
        let (mut one, mut another) = (self.0.iter().peekable(), other.0.iter().peekable());
        std::iter::from_fn(move || {
            let next = [one.peek(), another.peek()].into_iter().flatten().map(|said| said.0).min()?;
            let of = |said: &(DataAddress, Value)| said.1;
            Some((next, [one.next_if(|said| said.0 == next).map(of), another.next_if(|said| said.0 == next).map(of)]))
        })
    }

    /// The equalities with what cells held when the handler began.
    pub(crate) fn rigid(&self) -> Self {
        Self(self.0.iter().filter(|one| matches!(one.1, Value::Entry(_))).copied().collect())
    }

    /// True if everything that this says is said by `fine` as well, where some cells are known to hold the same besides.
    #[must_use]
    pub fn cover(&self, fine: &Self, silence: Silence, are_same: &AreSame<'_>) -> bool {
        if self == fine {
            return true;
        }
        // Consequences of several equalities follow from each of them.
        self.both(fine).all(|(cell, [own, said])| match own.unwrap_or(unsaid(cell, silence)) {
            Value::Of(other) if other == cell => true,
            Value::Of(other) => {
                fine.resolved(cell, said, silence) == fine.value(other, silence) || are_same(cell, other)
            }
            other @ (Value::Entry(_) | Value::Result(_)) => fine.resolved(cell, said, silence) == other,
        })
    }

    /// The equalities that both say, where some cells are known to hold the same besides: in the states of this list, and in those of the other one.
    #[must_use]
    pub fn join(&self, other: &Self, silence: Silence, [here, there]: [&AreSame<'_>; 2]) -> Self {
        if self == other {
            return self.clone();
        }
        let kept = |cell: DataAddress, [own, said]: [Option<Value>; 2]| {
            let (one, another) = (self.resolved(cell, own, silence), other.resolved(cell, said, silence));
            match (one, another) {
                _ if one == another => one,
                (Value::Of(lower), _) if lower != cell && there(lower, cell) => one,
                (_, Value::Of(lower)) if lower != cell && here(lower, cell) => another,
                (Value::Of(lower), _) if other.value(lower, silence) == another => one,
                (_, Value::Of(lower)) if self.value(lower, silence) == one => another,
                _ => Value::Of(cell),
            }
        };
        let all = self.both(other).map(|(cell, said)| (cell, kept(cell, said)));
        Self(all.filter(|(cell, value)| *value != unsaid(*cell, silence)).collect())
    }

    /// The cells that are no longer known to hold what they held when the handler began, and those that hold what another one held.
    pub fn changed(&self) -> impl Iterator<Item = DataAddress> + '_ {
        self.0.iter().map(|one| one.0)
    }

    /// The equalities after these cells, given by rising address, were overwritten with values of which nothing is known.
    #[must_use]
    pub fn overwrite(&self, cells: &[DataAddress], silence: Silence) -> Self {
        let is_overwritten = |cell: DataAddress| cells.binary_search(&cell).is_ok();
        let mut holders: Vec<(Value, DataAddress)> = Vec::new();
        for (cell, value) in self.values(silence).filter(|one| !is_overwritten(one.0)) {
            holders.push((value, cell));
            if let Value::Of(lowest) = value
                && lowest != cell
                && !is_overwritten(lowest)
            {
                holders.push((value, lowest));
            }
        }
        let mut list = rename(holders, silence);
        if silence == Silence::Unchanged {
            list.extend(cells.iter().map(|cell| (*cell, Value::Of(*cell))));
            list.sort_unstable();
        }
        Self::new(list)
    }
}

/// The value of a cell that is not in the list.
fn unsaid(cell: DataAddress, silence: Silence) -> Value {
    match silence {
        Silence::Nothing => Value::Of(cell),
        Silence::Unchanged => Value::Entry(cell),
    }
}

/// The list for cells with what they hold, in which equal values may have the names of cells that hold them no longer. Every cell that
/// holds an old value of another one, and every one that holds the same as it, must be among them.
pub(crate) fn rename(mut holders: Vec<(Value, DataAddress)>, silence: Silence) -> Vec<(DataAddress, Value)> {
    sort(&mut holders);
    holders.dedup();
    let mut list = Vec::with_capacity(holders.len());
    for same in holders.chunk_by(|a, b| a.0 == b.0) {
        let lowest = same[0].1;
        for (value, cell) in same {
            let value = match value {
                Value::Entry(_) | Value::Result(_) => *value,
                Value::Of(_) => Value::Of(lowest),
            };
            if value != unsaid(*cell, silence) {
                list.push((*cell, value));
            }
        }
    }
    list.sort_unstable_by_key(|one| one.0);
    list
}

/// Sorts values with the cells that hold them by rising value, and those with the same one by rising cell.
pub(crate) fn sort(holders: &mut [(Value, DataAddress)]) {
    holders.sort_unstable_by_key(|(value, cell)| {
        let (kind, own) = match value {
            Value::Result(own) => (0, own),
            Value::Entry(own) => (1, own),
            Value::Of(own) => (2_u64, own),
        };
        kind << 32 | u64::from(own.0) << 16 | u64::from(cell.0)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use Silence::{Nothing, Unchanged};
    use Value::{Entry, Of};
    use avr_testkit::Random;

    const fn at(cell: u16) -> DataAddress {
        DataAddress(cell)
    }

    /// Equalities that contents have, of which the first six cells are as at the beginning where they are equal to `entry`.
    fn of(content: &[u8], entry: &[u8], silence: Silence, random: &mut Random) -> Equalities {
        let cells = |bytes: &[u8]| DataAddress(0).until(DataAddress::of_index(bytes.len()));
        let all = cells(content).filter_map(|cell| {
            let here = content[cell.index()];
            let same = cells(content).filter(|other| content[other.index()] == here);
            let entries = cells(entry).filter(|other| entry[other.index()] == here).map(Entry);
            let mut values: Vec<Value> = same.filter(|other| *other <= cell).map(Of).collect();
            if silence == Unchanged {
                values.extend(entries);
            }
            let value = values[random.below(values.len() as u64) as usize];
            (value != unsaid(cell, silence)).then_some((cell, value))
        });
        let list: Vec<(DataAddress, Value)> = all.collect();
        Equalities::new(list)
    }

    /// True if contents have what is said of them.
    fn is_true(said: &Equalities, content: &[u8], entry: &[u8], silence: Silence) -> bool {
        (0..).map(DataAddress).zip(content).all(|(cell, byte)| match said.value(cell, silence) {
            Of(other) => content[other.index()] == *byte,
            Entry(other) => entry[other.index()] == *byte,
            Value::Result(_) => false,
        })
    }

    #[test]
    fn joins_covers_and_overwritten_cells_say_what_is_true() {
        let mut random = Random::new(1);
        for round in 0..20_000 {
            let silence = if round % 2 == 0 { Nothing } else { Unchanged };
            let mut bytes = || -> Vec<u8> { (0..6).map(|_| random.below(3) as u8).collect() };
            let (content, entry, other, other_entry) = (bytes(), bytes(), bytes(), bytes());
            let one = of(&content, &entry, silence, &mut random);
            let another = of(&other, &other_entry, silence, &mut random);
            assert!(one.are_well_formed(silence, 6) && is_true(&one, &content, &entry, silence));
            // Now and then it is known what cells hold.
            let is_known: Vec<bool> = (0..6).map(|_| random.below(2) == 0).collect();
            let known = |content: &[u8], a: DataAddress, b: DataAddress| {
                is_known[a.index()] && is_known[b.index()] && content[a.index()] == content[b.index()]
            };
            let here = |a, b| known(&content, a, b);
            let there = |a, b| known(&other, a, b);
            let join = one.join(&another, silence, [&here, &there]);
            assert!(join.are_well_formed(silence, 6), "{one:?} {another:?} {join:?}");
            let is_covered = join.cover(&one, silence, &here) && join.cover(&another, silence, &there);
            assert!(is_covered, "{one:?} {another:?} {join:?}");
            assert!(is_true(&join, &content, &entry, silence) && is_true(&join, &other, &other_entry, silence));
            if one.cover(&another, silence, &there) {
                assert!(is_true(&one, &other, &other_entry, silence), "{one:?} {another:?}");
            }
            let mut changed = content.clone();
            let cells: Vec<DataAddress> = (0..6).map(DataAddress).filter(|_| random.below(3) == 0).collect();
            cells.iter().for_each(|cell| changed[cell.index()] = random.below(256) as u8);
            let overwritten = one.overwrite(&cells, silence);
            assert!(overwritten.are_well_formed(silence, 6), "{one:?} {cells:?} {overwritten:?}");
            assert!(is_true(&overwritten, &changed, &entry, silence), "{one:?} {cells:?} {overwritten:?}");
        }
    }

    #[test]
    fn copies_stay_known_when_what_they_were_copied_from_is_overwritten() {
        let same = Equalities::new(vec![(at(4), Of(at(2))), (at(7), Of(at(2)))]);
        assert_eq!(same.overwrite(&[at(2)], Nothing), Equalities::new(vec![(at(7), Of(at(4)))]));
        assert_eq!(same.overwrite(&[at(2), at(4)], Nothing), Equalities::default());
        let rigid = Equalities::new(vec![(at(9), Entry(at(5)))]);
        assert_eq!(
            rigid.overwrite(&[at(5)], Unchanged),
            Equalities::new(vec![(at(5), Of(at(5))), (at(9), Entry(at(5)))])
        );
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (list, silence) in [
            (vec![(at(4), Of(at(5)))], Nothing),
            (vec![(at(4), Of(at(4)))], Nothing),
            (vec![(at(4), Entry(at(5)))], Nothing),
            (vec![(at(4), Entry(at(4)))], Unchanged),
            (vec![(at(4), Of(at(3))), (at(4), Of(at(2)))], Nothing),
            (vec![(at(4), Entry(at(6)))], Unchanged),
            (vec![(at(6), Of(at(3)))], Nothing),
        ] {
            assert!(!Equalities::new(list.clone()).are_well_formed(silence, 6), "{list:?}");
        }
    }
}
