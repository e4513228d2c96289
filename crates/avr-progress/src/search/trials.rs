//! Rounds with the strategies that are tried.

use super::samples::MOST_STRATEGIES;
use super::strategies::{free, holding};
use super::{Allowed, Effort, Head, Search};
use crate::proof::Stuck;
use crate::rounds::{AtTriggers, Route, Start};
use avr_isa::DataAddress;
use avr_machine::Input;
use avr_symbolic::{EndKind, Execution, Executor, Graph, Rounds, Strategy};
use std::collections::BTreeSet;

impl Search<'_, '_> {
    /// The strategies of a head that an effort allows, once their rounds are there.
    pub(super) fn allowed(&mut self, head: usize, effort: Effort) -> Result<Allowed, Stuck> {
        let of_interrupts = free(&self.places.interrupts()).len();
        match effort {
            Effort::Quiet => self.take_rounds(head, 1)?,
            Effort::Free => self.take_rounds(head, of_interrupts)?,
            Effort::Environment | Effort::All | Effort::Sought => {
                if !self.heads[head].held {
                    self.take_rounds(head, of_interrupts)?;
                    let registers = self.asked(head);
                    let Head { strategies, held, .. } = &mut self.heads[head];
                    let more: Vec<Rounds> = strategies.iter().flat_map(|free| holding(free, &registers)).collect();
                    strategies.extend(more);
                    strategies.truncate(MOST_STRATEGIES);
                    *held = true;
                }
                self.take_rounds(head, MOST_STRATEGIES)?;
            }
        }
        let Head { starts, strategies, .. } = &self.heads[head];
        let is_allowed = |number: usize| match effort {
            Effort::Quiet => number == 0,
            Effort::Free => number < of_interrupts,
            Effort::All | Effort::Sought => true,
            Effort::Environment => starts.iter().all(|of| {
                let freedom = of.rounds[number].freedom();
                !freedom.events && !freedom.hardware
            }),
        };
        Ok((0..strategies.len()).filter(|number| is_allowed(*number)).fold(0, |all, number| all | 1 << number))
    }

    /// The registers whose inputs rounds from a head ask for.
    fn asked(&self, head: usize) -> BTreeSet<DataAddress> {
        let rounds = self.heads[head].starts.iter().flat_map(|of| &of.rounds);
        let registers = rounds.flat_map(Execution::inputs).filter_map(|asked| match asked.source {
            Input::Register(address) => Some(address),
            _ => None,
        });
        registers.collect()
    }

    /// Finds the heads that rounds from a head pass: those whose loops come to an end in few steps.
    pub(super) fn find_passed(&mut self, head: usize) {
        if self.heads[head].passed.is_some() {
            return;
        }
        let few = Executor::new(self.machine, self.limits.passed);
        let quiet = Rounds::one(Strategy::entering(&[]));
        let mut passed = BTreeSet::new();
        for inner in self.places.inner(head) {
            passed.insert(inner);
            let route = Route { head: Some(head), passed: &passed, at_triggers: AtTriggers::Never };
            let ends = self.heads[head].starts.iter().all(|of| {
                // Trials are no part of the graph in which claims are made.
                let graph = Graph::new(self.limits.nodes);
                let start = Start::of(self.machine, self.places.map(), of.entry, &graph);
                let round = start.round(&few, (route, &quiet), (self.places, self.possibility), self.is_over);
                self.steps += round.steps;
                round.ends.iter().all(|end| !matches!(end.kind, EndKind::Cannot(_)))
            });
            if !ends {
                passed.remove(&inner);
            }
        }
        self.heads[head].passed = Some(passed);
    }

    /// Takes the rounds of the first strategies of a head.
    pub(super) fn take_rounds(&mut self, head: usize, most: usize) -> Result<(), Stuck> {
        self.find_passed(head);
        let Self { heads, executor, places, possibility, steps, limits, is_over, .. } = self;
        let Head { starts, strategies, passed, .. } = &mut heads[head];
        let passed = passed.as_ref().expect("they were found");
        let route = Route { head: Some(head), passed, at_triggers: AtTriggers::Never };
        for of in starts {
            for rounds in strategies.iter().take(most).skip(of.rounds.len()) {
                let round = of.start.round(executor, (route, rounds), (places, *possibility), *is_over);
                *steps += round.steps;
                of.rounds.push(round);
                if *steps > limits.steps || is_over() {
                    return Err(Stuck::Limit);
                }
            }
        }
        Ok(())
    }
}
