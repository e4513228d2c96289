//! Verdicts about conformance.

use avr_properties::Relation;
use mu_calculus::{AtomId, Formula};
use three_valued::Truth;

use super::{CONTENTS, Verdict};
use crate::binding::System;
use crate::composition::Space;
use crate::conformance::{Beside, Conformance, Followed, Labels, Step};
use crate::faults::{Fault, is_on};
use crate::replay::Replay;
use crate::run::{Run, SpecificationMoment};
use crate::simulation::{Lost, Simulated, What};

impl System<'_> {
    /// The verdict about the events that a specification allows.
    pub(super) fn conforms(
        &self,
        space: &mut Space<'_>,
        conformance: &Conformance,
        (is_complete, limit): (bool, usize),
        is_over: &(dyn Fn() -> bool + Sync),
    ) -> Verdict {
        let followed = |space: &Space<'_>, only_known: bool| {
            let atom = |state: u32, atom: AtomId| self.label(space, state, atom);
            let condition = |state: u32, formula: &Formula<AtomId>| self.truth(space, state, formula);
            let labels = Labels { atom: &atom, condition: &condition };
            conformance.follow(space, &labels, (only_known, limit), &|| is_over())
        };
        if let Followed::Unanswered(ways) = followed(space, true) {
            for way in &ways {
                let run = (0..CONTENTS).find_map(|content| self.unanswered(space, conformance, (way, content)));
                if let Some(run) = run {
                    return Verdict::Violated(Box::new(run));
                }
            }
            let reason = "a step has no answer, and no concrete run of all nodes to it was found";
            return Verdict::Unknown(reason.to_owned());
        }
        if !is_complete {
            return Verdict::Unknown(format!("a limit was hit after {} states of the system", space.states.len()));
        }
        let lost = match conformance.relation {
            Relation::Simulation if !is_on(Fault::SimulationOfSets) => {
                match self.simulated(space, conformance, limit, is_over) {
                    Simulated::Yes => return Verdict::Holds,
                    Simulated::GivenUp(reason) => return Verdict::Unknown(reason),
                    Simulated::No(lost) => Some(lost),
                }
            }
            _ => None,
        };
        match followed(space, false) {
            Followed::Answered => {
                lost.map_or(Verdict::Holds, |lost| Verdict::Unknown(self.lost(space, conformance, lost)))
            }
            Followed::Unanswered(_) => {
                Verdict::Unknown("it depends on what is not known of the events if each has an answer".to_owned())
            }
            Followed::GivenUp(reason) => Verdict::Unknown(reason),
        }
    }

    /// The outcome of a search for a weak simulation.
    fn simulated(
        &self,
        space: &Space<'_>,
        conformance: &Conformance,
        limit: usize,
        is_over: &(dyn Fn() -> bool + Sync),
    ) -> Simulated {
        let atom = |state: u32, atom: AtomId| self.label(space, state, atom);
        let condition = |state: u32, formula: &Formula<AtomId>| self.truth(space, state, formula);
        conformance.simulate(space, &Labels { atom: &atom, condition: &condition }, limit, &|| is_over())
    }

    /// The place at which no simulation was found, though each run has an answer.
    fn lost(&self, space: &Space<'_>, conformance: &Conformance, Lost { state, specified, what }: Lost) -> String {
        let (name, place) = (&conformance.automaton.states[specified].name, self.described(space, state));
        let came = conformance.letters.iter().filter(|(atom, _)| self.label(space, state, *atom) == Truth::True);
        let events: Vec<&str> = came.map(|(_, text)| text.as_str()).collect();
        let wrong = match what {
            What::Step => format!("in state {name} it has no answer to {} {place}", events.join(" and ")),
            What::Data => format!("the data of state {name} are not true {place}"),
            What::End | What::Unknown => {
                return format!("it depends on what is not known {place} if state {name} has an answer");
            }
        };
        format!("each run has an answer, but the specification would have to know what comes: {wrong}")
    }

    /// A concrete run along a way that ends in what a specification does not answer.
    fn unanswered(
        &self,
        space: &mut Space<'_>,
        conformance: &Conformance,
        (way, content): (&[Step], u8),
    ) -> Option<Run> {
        let mut replay = Replay::begin(space, content, 0)?;
        let (mut states, mut moments) = (vec![0], vec![0]);
        for (state, edge, member) in way {
            replay.take(space, (*state, *edge, *member))?;
            states.push(*space.edges.get(*state, *edge)?.members.get(*member)?);
            moments.push(replay.moments());
        }
        let atom = |state: u32, atom: AtomId| self.label(space, state, atom);
        let condition = |state: u32, formula: &Formula<AtomId>| self.truth(space, state, formula);
        let beside = conformance.along(&states, &Labels { atom: &atom, condition: &condition })?;
        let specification = beside.into_iter().map(|(step, Beside { events, states })| SpecificationMoment {
            moments: moments[step],
            events,
            states,
        });
        let specification = specification.collect();
        Some(Run { specification, ..replay.ended(space, None) })
    }
}
