//! Queries whether strategies serve the states of heads.

use super::samples::{MOST_STRATEGIES, Sample};
use super::{Allowed, Claim, Head, Search};
use crate::claim::LoopClaim;
use crate::faults::{Fault, is_on};
use crate::obligation::{ends_well, falls, must_be_served, unserved};
use crate::proof::Stuck;
use avr_symbolic::{Answer, SymbolicBit, SymbolicState, Term, satisfy};
use three_valued::BitDomain;

impl<'g> Search<'_, 'g> {
    /// True if a claim is proved; the heads are solved then, with as few strategies as are found to do.
    pub(super) fn is_claim(&mut self, claim: &Claim<'_>) -> Result<bool, Stuck> {
        for (head, allowed) in claim.heads.iter().zip(claim.allowed) {
            if !is_on(Fault::HeadPassed) && !self.is_served_everywhere((*head, *allowed), claim)? {
                return Ok(false);
            }
        }
        let group = self.claims.last().map_or(0, |last| last.group + 1);
        let mut claims = Vec::new();
        for (head, allowed) in claim.heads.iter().zip(claim.allowed) {
            let allowed = self.least((*head, *allowed), claim);
            claims.push(self.loop_claim((*head, allowed), claim, group));
        }
        self.claims.extend(claims);
        claim.heads.iter().for_each(|head| self.heads[*head].solved = Some(claim.region));
        Ok(true)
    }

    /// Some of the strategies that serve a head, of which none can be left out by itself.
    fn least(&mut self, (head, all): (usize, Allowed), claim: &Claim<'_>) -> Allowed {
        (0..MOST_STRATEGIES).rev().fold(all, |allowed, number| {
            let fewer = allowed & !(1 << number);
            let is_enough =
                fewer != allowed && fewer != 0 && self.is_served_everywhere((head, fewer), claim).unwrap_or(false);
            if is_enough { fewer } else { allowed }
        })
    }

    fn loop_claim(&self, (head, allowed): (usize, Allowed), claim: &Claim<'_>, group: usize) -> LoopClaim {
        let Head { strategies, passed, .. } = &self.heads[head];
        let used = (0..).zip(strategies).filter(|(number, _)| allowed >> number & 1 == 1);
        LoopClaim {
            head: self.places.location(head),
            region: claim.region,
            passed: passed.iter().flatten().map(|passed| self.places.location(*passed)).collect(),
            group,
            rank: claim.rank(head),
            rounds: used.map(|(_, rounds)| rounds.clone()).collect(),
        }
    }

    fn is_served_everywhere(&mut self, head: (usize, Allowed), claim: &Claim<'_>) -> Result<bool, Stuck> {
        for start in 0..self.heads[head.0].starts.len() {
            if !self.is_served(head, start, claim)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// True if some strategy serves each state of an entry at a head. A state that none serves is a sample from then on.
    fn is_served(&mut self, (head, allowed): (usize, Allowed), start: usize, claim: &Claim<'_>) -> Result<bool, Stuck> {
        let of = &self.heads[head].starts[start];
        let own = claim.rank(head);
        let serves = |to: usize, after: &SymbolicState<'g>| {
            let (region, is_smaller) = match self.heads[to].solved {
                Some(region) => (region, SymbolicBit::ONE),
                None if claim.heads.contains(&to) => {
                    (claim.region, falls((&own, &of.start.state), (&claim.rank(to), after)))
                }
                None => return SymbolicBit::ZERO,
            };
            is_smaller.and(&self.possibility.surely_in(region, after))
        };
        let rounds = (0..).zip(&of.rounds).filter(|(number, _)| allowed >> number & 1 == 1).map(|(_, round)| round);
        let states = must_be_served(self.possibility, &of.start, claim.region);
        let unserved = unserved(states, rounds, &|end| ends_well(self.places, end, &serves));
        self.queries += 1;
        if self.queries > self.limits.queries || (self.is_over)() {
            return Err(Stuck::Limit);
        }
        match satisfy(&unserved, self.limits.query) {
            Answer::Unsatisfiable => Ok(true),
            Answer::Satisfiable(assignment) => {
                let of = &mut self.heads[head].starts[start];
                of.samples.push(Sample::new(&of.start, assignment, self.queries));
                Ok(false)
            }
            Answer::None(_) => Ok(is_on(Fault::UnansweredPassed)),
        }
    }
}

impl Claim<'_> {
    /// The rank at a head.
    fn rank(&self, head: usize) -> Vec<Term> {
        self.rank.iter().map(|part| part.term(head, self.words)).collect()
    }
}
