//! Guesses of ranks from samples.

use super::numbers::Word;
use super::samples::{Outcome, Part, Row, Table, Transition};
use super::{Allowed, Claim, Search};
use crate::claim::Region;
use crate::obligation::must_be_served;
use crate::proof::Stuck;
use crate::rounds::{Arrival, arrival};

impl Search<'_, '_> {
    /// Solves heads with a rank of these parts, if that is possible.
    pub(super) fn has_rank(
        &mut self,
        heads: &[usize],
        (region, allowed): (Region, &[Allowed]),
        (parts, words): (&[Part], &[Word]),
    ) -> Result<bool, Stuck> {
        let mut table = Table::new(parts);
        let mut seen = 0;
        for _ in 0..self.limits.guesses {
            let Some(rows) = self.rows(heads, (region, allowed), (words, seen)) else { return Ok(false) };
            // A query without an answer gives no sample.
            if rows.is_empty() {
                return Ok(false);
            }
            rows.iter().for_each(|row| table.add(row));
            seen = self.queries;
            let rank = table.rank();
            self.looks += std::mem::take(&mut table.looks);
            if self.looks > self.limits.looks {
                return Err(Stuck::Limit);
            }
            let Some(rank) = rank else { return Ok(false) };
            if self.is_claim(&Claim { heads, region, allowed, rank: &rank, words })? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The samples at some heads, of queries after so many, that no strategy serves without a rank; none if strategies lead nowhere from one.
    fn rows(
        &mut self,
        heads: &[usize],
        (region, allowed): (Region, &[Allowed]),
        (words, seen): (&[Word], usize),
    ) -> Option<Vec<Row>> {
        let mut rows = Vec::new();
        for (from, allowed) in heads.iter().zip(allowed) {
            let solved: Vec<bool> = self.heads.iter().map(|head| head.solved.is_some()).collect();
            for of in &mut self.heads[*from].starts {
                let states = must_be_served(self.possibility, &of.start, region);
                for sample in of.samples.iter_mut().filter(|sample| sample.query > seen) {
                    if sample.values.bit(&states) == Some(false) {
                        continue;
                    }
                    let outcomes = sample.outcomes(self.places, &of.rounds).to_vec();
                    let is_served = |(number, outcome): (usize, &Outcome)| {
                        let is_good = match outcome {
                            Outcome::Reached => true,
                            Outcome::Head(to, _) => solved[*to],
                            Outcome::Elsewhere => false,
                        };
                        is_good && allowed >> number & 1 == 1
                    };
                    if outcomes.iter().enumerate().any(is_served) {
                        continue;
                    }
                    let mut transition = |number: usize, outcome: &Outcome| match outcome {
                        Outcome::Head(to, end) if allowed >> number & 1 == 1 && heads.contains(to) => {
                            let Arrival::Head(_, state) = arrival(self.places, &of.rounds[number].ends[*end]) else {
                                return None;
                            };
                            Some(Transition { to: *to, words: sample.words(state, words) })
                        }
                        _ => None,
                    };
                    let transitions: Vec<Option<Transition>> =
                        outcomes.iter().enumerate().map(|(number, outcome)| transition(number, outcome)).collect();
                    if transitions.iter().all(Option::is_none) {
                        return None;
                    }
                    rows.push(Row { from: *from, words: sample.words(&of.start.state, words), transitions });
                }
            }
        }
        Some(rows)
    }
}
