//! Strategies that are sought for single states.

use super::samples::MOST_STRATEGIES;
use super::strategies::{free, repeating};
use super::{Claim, Head, OfStart, Search};
use crate::claim::Region;
use crate::obligation::served;
use crate::proof::Stuck;
use crate::rounds::{Arrival, AtTriggers, BROKEN, Route, arrival};
use avr_symbolic::{Answer, End, Executor, Rounds, SymbolicBit, Valuation, satisfy};
use three_valued::BitDomain;

impl<'g> Search<'_, 'g> {
    /// Solves a head with strategies that are sought for single states, if that is possible.
    pub(super) fn seeks(&mut self, heads: &[usize], region: Region) -> Result<bool, Stuck> {
        let &[head] = heads else { return Ok(false) };
        for _ in 0..self.limits.sought {
            let Some(found) = self.sought(head) else { return Ok(false) };
            self.heads[head].strategies.push(found);
            self.take_rounds(head, MOST_STRATEGIES)?;
            let allowed = [u64::MAX >> (MOST_STRATEGIES - self.heads[head].strategies.len())];
            if self.is_claim(&Claim { heads, region, allowed: &allowed, rank: &[], words: &[] })? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A strategy that leads from the last sample at a head to the target or to a head that is solved.
    fn sought(&mut self, head: usize) -> Option<Rounds> {
        let free = free(&self.places.interrupts());
        if self.heads[head].strategies.len() >= MOST_STRATEGIES {
            return None;
        }
        self.find_passed(head);
        let samples = self.heads[head].starts.iter().enumerate();
        let samples = samples.flat_map(|(start, of)| (0..of.samples.len()).map(move |sample| (start, sample)));
        let (start, sample) =
            samples.max_by_key(|(start, sample)| self.heads[head].starts[*start].samples[*sample].query)?;
        let Head { starts, passed, .. } = &mut self.heads[head];
        let OfStart { start, samples, .. } = &mut starts[start];
        let single = start.single(&mut samples[sample].values)?;
        let passed = passed.as_ref().expect("they were found");
        let route = Route { head: Some(head), passed, at_triggers: AtTriggers::Never };
        let few = Executor::new(self.machine, self.limits.passed);
        let rounds: Vec<_> = free
            .into_iter()
            .map(|free| (single.round(&few, (route, &free), (self.places, self.possibility), self.is_over), free))
            .collect();
        self.steps += rounds.iter().map(|(round, _)| round.steps).sum::<usize>();
        rounds.into_iter().find_map(|(round, free)| {
            let leads_on = |end: &End<'g>| match arrival(self.places, end) {
                Arrival::Head(to, _) if self.heads[to].solved.is_some() => SymbolicBit::ONE,
                _ => end.kept.not(),
            };
            let any = served(&round, |end| leads_on(end).and(&end.history[BROKEN].not()));
            self.queries += 1;
            let Answer::Satisfiable(assignment) = satisfy(&any, self.limits.query) else { return None };
            let (run, _) = round.concrete(&mut Valuation::new(single.graph, assignment)).ok()?;
            Some(repeating(&free, &run))
        })
    }
}
