//! Samples: single states at heads with what strategies lead to from them. Ranks are guessed from them before a query is asked.

use super::numbers::{Number, Word};
use crate::places::Places;
use crate::rounds::{Arrival, BROKEN, Start, arrival};
use avr_symbolic::{Assignment, End, Execution, SymbolicState, Term, Valuation};
use rustc_hash::{FxHashSet, FxHasher};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// The most strategies of a head.
pub(crate) const MOST_STRATEGIES: usize = 64;

/// The end of a round from a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The target was reached.
    Reached,
    /// A head, by its number; and the number of the end.
    Head(usize, usize),
    /// Something of no use.
    Elsewhere,
}

/// A state at a head, and inputs and events for each strategy that the strategy does not choose.
#[derive(Debug)]
pub(crate) struct Sample<'g> {
    pub(crate) values: Valuation<'g>,
    /// The outcome of each strategy.
    outcomes: Vec<Outcome>,
    /// The number of the query that found it.
    pub(crate) query: usize,
}

impl<'g> Sample<'g> {
    pub(crate) fn new(start: &Start<'g>, assignment: Assignment, query: usize) -> Self {
        Self { values: Valuation::new(start.graph, assignment), outcomes: Vec::new(), query }
    }

    /// The outcome of each of these rounds.
    pub(crate) fn outcomes(&mut self, places: &Places<'_>, rounds: &[Execution<'g>]) -> &[Outcome] {
        for round in &rounds[self.outcomes.len()..] {
            let outcome = self.outcome(places, round);
            self.outcomes.push(outcome);
        }
        &self.outcomes
    }

    fn outcome(&mut self, places: &Places<'_>, round: &Execution<'g>) -> Outcome {
        let is_taken =
            |(_, end): &(usize, &End<'g>), values: &mut Valuation<'g>| values.bit(&end.condition.bit()) == Some(true);
        let Some((number, end)) = round.ends.iter().enumerate().find(|end| is_taken(end, &mut self.values)) else {
            return Outcome::Elsewhere;
        };
        if self.values.bit(&end.history[BROKEN]) != Some(false) {
            return Outcome::Elsewhere;
        }
        match (self.values.bit(&end.kept), arrival(places, end)) {
            (Some(false), _) => Outcome::Reached,
            (Some(true), Arrival::Head(head, _)) => Outcome::Head(head, number),
            _ => Outcome::Elsewhere,
        }
    }

    /// The values of words in a state; an open bit is 0.
    pub(crate) fn words(&mut self, state: &SymbolicState<'g>, words: &[Word]) -> Vec<u64> {
        let values = &mut self.values;
        let mut byte = |cell| values.byte(state.data.get(cell)).unwrap_or(0);
        words.iter().map(|word| word.iter().rev().fold(0, |value, cell| value << 8 | u64::from(byte(*cell)))).collect()
    }
}

/// A part of the rank of a group of heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// A number.
    Number(Number),
    /// 1 at this head and 0 at the others, or the reverse.
    Place(usize, bool),
}

/// A round from a sample: the head and the words at its end.
#[derive(Clone, Debug)]
pub(crate) struct Transition {
    pub(crate) to: usize,
    pub(crate) words: Vec<u64>,
}

/// A sample that no strategy serves without a rank, with its successors: for each strategy the head of the group to which it
/// leads, if it does.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) from: usize,
    pub(crate) words: Vec<u64>,
    pub(crate) transitions: Vec<Option<Transition>>,
}

impl Part {
    /// The part as a number at a head.
    pub(crate) fn term(&self, head: usize, words: &[Word]) -> Term {
        match self {
            Self::Number(number) => number.term(words),
            Self::Place(one, is_high) => Term::Constant(u64::from((*one == head) == *is_high), 1),
        }
    }

    /// The value at a head with these words.
    fn value(&self, head: usize, words: &[u64]) -> u64 {
        match self {
            Self::Number(number) => number.value(words),
            Self::Place(one, is_high) => u64::from((*one == head) == *is_high),
        }
    }
}

/// The strategies under which a part falls, and those under which it stays, as sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Effect {
    falls: u64,
    stays: u64,
}

impl Effect {
    fn within(self, allowed: u64) -> Self {
        Self { falls: self.falls & allowed, stays: self.stays & allowed }
    }
}

impl Row {
    fn effect(&self, part: &Part) -> Effect {
        let before = part.value(self.from, &self.words);
        let (mut falls, mut stays) = (0, 0);
        for (strategy, transition) in self.transitions.iter().enumerate().take(MOST_STRATEGIES) {
            let Some(transition) = transition else { continue };
            match part.value(transition.to, &transition.words).cmp(&before) {
                Ordering::Less => falls |= 1 << strategy,
                Ordering::Equal => stays |= 1 << strategy,
                Ordering::Greater => {}
            }
        }
        Effect { falls, stays }
    }
}

/// The most parts of a rank.
const MOST_PARTS: usize = 3;

/// The most parts that are tried at a place of a rank, by the number of parts behind it.
const MOST_TRIED: [usize; MOST_PARTS] = [1, 100, 40];

/// The effects of parts on rows.
pub(crate) struct Table<'p> {
    parts: &'p [Part],
    /// For each part and row.
    effects: Vec<Vec<Effect>>,
    /// For each row whether the rank may stay.
    may_stay: Vec<bool>,
    /// For each row the strategies under which some part falls.
    any_falls: Vec<u64>,
    /// The number of effects that were looked at.
    pub(crate) looks: usize,
}

impl<'p> Table<'p> {
    pub(crate) fn new(parts: &'p [Part]) -> Self {
        Self { parts, effects: vec![Vec::new(); parts.len()], may_stay: Vec::new(), any_falls: Vec::new(), looks: 0 }
    }

    pub(crate) fn add(&mut self, row: &Row) {
        self.add_where(row, false);
    }

    /// Adds a row on which the rank may stay, or not.
    pub(crate) fn add_where(&mut self, row: &Row, may_stay: bool) {
        let mut any_falls = 0;
        for (part, effects) in self.parts.iter().zip(&mut self.effects) {
            let effect = row.effect(part);
            any_falls |= effect.falls;
            effects.push(effect);
        }
        self.may_stay.push(may_stay);
        self.any_falls.push(any_falls);
    }

    /// A rank that falls on all rows under some strategy, in lexicographic order: the shortest, if one is found.
    pub(crate) fn rank(&mut self) -> Option<Vec<Part>> {
        // A strategy under which no part falls leaves a row open, whatever the other parts are.
        let allowed = |row: usize| if self.may_stay[row] { u64::MAX } else { self.any_falls[row] };
        let open: Vec<(usize, u64)> = (0..self.may_stay.len()).map(|row| (row, allowed(row))).collect();
        (0..MOST_PARTS).find_map(|behind| self.extend(&open, behind))
    }

    /// Parts that fall on some rows under a strategy of a set for each, one part and at most so many behind it.
    fn extend(&mut self, open: &[(usize, u64)], behind: usize) -> Option<Vec<Part>> {
        let (looks, may_stay) = (&mut self.looks, &self.may_stay);
        if behind == 0 {
            let mut falls = |effects: &Vec<Effect>| {
                open.iter().all(|(row, allowed)| {
                    *looks += 1;
                    let effect = effects[*row].within(*allowed);
                    effect.falls != 0 || may_stay[*row] && effect.stays != 0
                })
            };
            let part = self.effects.iter().position(&mut falls)?;
            return Some(vec![self.parts[part]]);
        }
        // The parts by the number of rows on which they fall; of those with the same effects the first one.
        let mut useful: Vec<(usize, usize)> = Vec::new();
        let mut seen: FxHashSet<u64> = FxHashSet::default();
        for (part, all) in self.effects.iter().enumerate() {
            let (mut score, mut hasher) = (0, FxHasher::default());
            let is_open = |(row, allowed): &(usize, u64)| {
                *looks += 1;
                let effect = all[*row].within(*allowed);
                effect.hash(&mut hasher);
                score += usize::from(effect.falls != 0);
                effect.falls | effect.stays != 0
            };
            if open.iter().all(is_open) && score > 0 && seen.insert(hasher.finish()) {
                useful.push((score, part));
            }
        }
        useful.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        useful.into_iter().take(MOST_TRIED[behind]).find_map(|(_, part)| {
            let effects = open.iter().map(|(row, allowed)| (*row, self.effects[part][*row].within(*allowed)));
            let rest = effects.filter(|(_, effect)| effect.falls == 0).map(|(row, effect)| (row, effect.stays));
            let rest: Vec<(usize, u64)> = rest.collect();
            Some([vec![self.parts[part]], self.extend(&rest, behind - 1)?].concat())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words that are counted down, one in each row, and a last one that falls only where all the others begin anew. In each row the first strategy
    /// changes nothing.
    fn rows(counted: usize) -> Vec<Row> {
        let row = |changed: &dyn Fn(usize) -> (u64, u64)| {
            let (words, next): (Vec<u64>, Vec<u64>) = (0..=counted).map(changed).unzip();
            let to = |words: &[u64]| Some(Transition { to: 0, words: words.to_vec() });
            Row { from: 0, transitions: vec![to(&words), to(&next)], words }
        };
        let falling =
            |number: usize| row(&|word| if word == counted { (5, 5) } else { (9, 9 - u64::from(word >= number)) });
        let begun = row(&|word| if word == counted { (5, 4) } else { (0, 60) });
        (0..counted).map(falling).chain([begun]).collect()
    }

    #[test]
    fn a_part_that_falls_seldom_is_found_among_many_that_rise_there() {
        let counted = 150;
        let number = |plus| Part::Number(Number { constant: 0, plus: Some(plus), minus: None, width: 1 });
        let parts: Vec<Part> = (0..=counted).map(number).collect();
        let mut table = Table::new(&parts);
        rows(counted).iter().for_each(|row| table.add(row));
        assert_eq!(table.rank(), Some(vec![number(counted), number(counted - 1)]));
    }
}
