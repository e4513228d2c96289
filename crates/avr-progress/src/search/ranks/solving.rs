//! The claims about heads at which something is awaited: one head or group after the other gets a rank.

use super::{Claim, Search};
use crate::eventualities::{Awaits, Begins, RankClaim, ends_well, falls_or_is_quiet, is_quiet};
use crate::obligation::served;
use crate::proof::Stuck;
use crate::rounds::{Arrival, arrival};
use crate::search::numbers::{Numbers, Word};
use crate::search::samples::{Outcome, Part, Row, Sample, Table, Transition};
use crate::search::{groups, parts};
use avr_symbolic::{Answer, End, SymbolicBit, SymbolicState, Term, satisfy};
use std::collections::{BTreeMap, BTreeSet};
use three_valued::BitDomain;

impl<'g> Search<'_, 'g> {
    pub(super) fn solve_all(&mut self) -> Result<(), Stuck> {
        loop {
            let is_open = |head: &usize| self.heads[*head].awaited.is_some() && !self.heads[*head].solved;
            let open: Vec<usize> = (0..self.heads.len()).filter(is_open).collect();
            if open.is_empty() {
                return Ok(());
            }
            for head in &open {
                self.take_rounds(*head)?;
            }
            if !self.solve_some(&open)? {
                // The way of the others may lead through this one.
                let leads_to_none = |head: &usize| self.led_to(*head).iter().all(|to| to == head);
                let stuck = open.iter().copied().find(leads_to_none).unwrap_or(open[0]);
                return Err(Stuck::Loop(self.places.heads[stuck].2.byte()));
            }
        }
    }

    /// Solves one open head at least, if that is possible.
    fn solve_some(&mut self, open: &[usize]) -> Result<bool, Stuck> {
        let mut is_better = false;
        for head in open {
            is_better |= self.solve(&[*head])?;
        }
        if is_better {
            return Ok(true);
        }
        for group in groups(open, |from| self.led_to(from)) {
            if self.solve(&group)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The open heads at which rounds from a head end.
    fn led_to(&self, from: usize) -> BTreeSet<usize> {
        let ends = self.heads[from].starts.iter().flat_map(|of| &of.rounds).flat_map(|round| &round.ends);
        let heads = ends.filter_map(|end| match arrival(self.places, end) {
            Arrival::Head(head, _) => Some(head),
            Arrival::Elsewhere => None,
        });
        heads.filter(|head| !self.heads[*head].solved).collect()
    }

    /// Solves heads with a common rank, if that is possible.
    fn solve(&mut self, heads: &[usize]) -> Result<bool, Stuck> {
        if self.is_claim(&Claim { heads, rank: &[], words: &[], fair: None })? {
            return Ok(true);
        }
        if !heads.iter().any(|from| heads.iter().any(|to| self.led_to(*from).contains(to))) {
            return Ok(false);
        }
        let of_heads = heads.iter().flat_map(|head| &self.heads[*head].starts);
        let rounds: Vec<_> = of_heads.map(|of| (&of.start, of.rounds.as_slice())).collect();
        let numbers = Numbers::new(self.machine, self.places, heads, &rounds);
        let parts = parts(&numbers, heads);
        for fair in std::iter::once(None).chain((0..self.eventuality.fair.len()).map(Some)) {
            if fair.is_some() && self.is_claim(&Claim { heads, rank: &[], words: &[], fair })? {
                return Ok(true);
            }
            if self.has_rank(heads, (&parts, &numbers.words), fair)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Solves heads with a rank of these parts, if that is possible.
    fn has_rank(
        &mut self,
        heads: &[usize],
        (parts, words): (&[Part], &[Word]),
        fair: Option<usize>,
    ) -> Result<bool, Stuck> {
        let mut table = Table::new(parts);
        let mut seen = 0;
        for _ in 0..self.limits.guesses {
            let Some(rows) = self.rows(heads, (words, seen), fair) else { return Ok(false) };
            // A query without an answer gives no sample.
            if rows.is_empty() {
                return Ok(false);
            }
            rows.iter().for_each(|(row, may_stay)| table.add_where(row, *may_stay));
            seen = self.queries;
            let rank = table.rank();
            self.looks += std::mem::take(&mut table.looks);
            if self.looks > self.limits.looks {
                return Err(Stuck::Limit);
            }
            let Some(rank) = rank else { return Ok(false) };
            if self.is_claim(&Claim { heads, rank: &rank, words, fair })? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The samples at some heads, of queries after so many, that come to nothing without a rank, each with whether the rank may stay; none
    /// if one leads nowhere.
    fn rows(
        &mut self,
        heads: &[usize],
        (words, seen): (&[Word], usize),
        fair: Option<usize>,
    ) -> Option<Vec<(Row, bool)>> {
        let mut rows = Vec::new();
        for from in heads {
            let solved: Vec<bool> = self.heads.iter().map(|head| head.solved).collect();
            for of in &mut self.heads[*from].starts {
                for sample in of.samples.iter_mut().filter(|sample| sample.query > seen) {
                    let (to, number) = match sample.outcomes(self.places, &of.rounds) {
                        [Outcome::Head(to, number), ..] => (*to, *number),
                        [Outcome::Reached, ..] => continue,
                        _ => return None,
                    };
                    if solved[to] {
                        continue;
                    }
                    let end = &of.rounds[0].ends[number];
                    let Arrival::Head(_, state) = arrival(self.places, end) else { return None };
                    if !heads.contains(&to) {
                        return None;
                    }
                    let may_stay = fair.is_some_and(|fair| sample.values.bit(&is_quiet(end, fair)) == Some(true));
                    let transitions = vec![Some(Transition { to, words: sample.words(state, words) })];
                    let words = sample.words(&of.start.state, words);
                    rows.push((Row { from: *from, words, transitions }, may_stay));
                }
            }
        }
        Some(rows)
    }

    /// True if a claim is proved; the heads are solved then.
    fn is_claim(&mut self, claim: &Claim<'_>) -> Result<bool, Stuck> {
        for head in claim.heads {
            for start in 0..self.heads[*head].starts.len() {
                if !self.is_served(*head, start, claim)? {
                    return Ok(false);
                }
            }
        }
        let group = self.claims.last().map_or(0, |last| last.group + 1);
        for head in claim.heads {
            let of = &mut self.heads[*head];
            let passed = of.passed.get(&Begins::Awaiting).into_iter().flatten();
            self.claims.push(RankClaim {
                head: self.places.location(*head),
                awaits: of.awaited.unwrap_or(Awaits::Any),
                passed: passed.map(|passed| self.places.location(*passed)).collect(),
                group,
                rank: claim.rank_at(*head),
                waits_for: claim.fair.map(|fair| self.eventuality.fair[fair].waits_for()),
            });
            of.solved = true;
        }
        Ok(true)
    }

    /// True if all paths from the states of an entry at a head end well. A state from which one does not is a sample from then on.
    fn is_served(&mut self, head: usize, start: usize, claim: &Claim<'_>) -> Result<bool, Stuck> {
        let of = &self.heads[head].starts[start];
        let ranks: BTreeMap<usize, Vec<Term>> = claim.heads.iter().map(|head| (*head, claim.rank_at(*head))).collect();
        let arrives = |to: usize, end: &End<'g>, after: &SymbolicState<'g>| {
            let leads_on = if self.heads[to].solved {
                SymbolicBit::ONE
            } else {
                let before = (ranks[&head].as_slice(), &of.start.state);
                let falls = |rank: &Vec<Term>| falls_or_is_quiet(before, (rank, after), (claim.fair, end));
                ranks.get(&to).map_or(SymbolicBit::ZERO, falls)
            };
            leads_on.and(&self.may_be_awaited(to, after))
        };
        let at = (self.places, Begins::Awaiting);
        let well = |end: &End<'g>| ends_well(at, end, |to, state| arrives(to, end, state));
        let served = served(&of.rounds[0], well);
        let unserved = self.first(head, &of.start).and(&served.not());
        self.asks()?;
        match satisfy(&unserved, self.limits.query) {
            Answer::Unsatisfiable => Ok(true),
            Answer::Satisfiable(assignment) => {
                let of = &mut self.heads[head].starts[start];
                of.samples.push(Sample::new(&of.start, assignment, self.queries));
                Ok(false)
            }
            Answer::None(_) => Ok(false),
        }
    }
}

impl Claim<'_> {
    /// The numbers of the rank at a head.
    fn rank_at(&self, head: usize) -> Vec<Term> {
        self.rank.iter().map(|part| part.term(head, self.words)).collect()
    }
}
