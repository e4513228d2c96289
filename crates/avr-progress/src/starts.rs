//! The states from which something is to be possible: strategies lead from each of them to a head about which there is a claim.
//!
//! All paths from power-on, and from the states of each head to the next heads, come by all states. From each of them that may be one of the
//! trigger, rounds begin of their own (`docs/soundness.md`, "Recovery by claims").

use crate::accepted::Accepted;
use crate::claim::Region;
use crate::faults::{Fault, is_on};
use crate::limits::Limits;
use crate::obligation::{ends_well, unserved};
use crate::places::Places;
use crate::possibility::Possibility;
use crate::rounds::{Arrival, AtTriggers, BROKEN, Route, Start, arrival};
use crate::trigger::Trigger;
use avr_isa::{DataAddress, FlashByteAddress};
use avr_machine::{Input, Machine};
use avr_symbolic::{
    Answer, End, EndKind, Execution, Executor, Goal, Graph, PathCondition, Rounds, Strategy, SymbolicBit,
    SymbolicState, power_on, satisfy,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use three_valued::BitDomain;

/// The reason why it is not shown.
pub(crate) enum Unshown {
    /// For a state behind this place.
    Behind(FlashByteAddress),
    /// A limit is reached.
    Limit,
}

/// What there is to show it with.
pub(crate) struct Starts<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) places: &'a Places<'a>,
    pub(crate) possibility: &'a Possibility<'a>,
    pub(crate) executor: &'a Executor<'a>,
    /// The heads about which there are claims.
    pub(crate) regions: &'a BTreeMap<usize, Region>,
    pub(crate) limits: &'a Limits,
    pub(crate) is_over: &'a dyn Fn() -> bool,
}

/// The work that was done.
#[derive(Default)]
pub(crate) struct Done {
    pub(crate) accepted: Accepted,
    /// The registers whose inputs the strategies left open.
    pub(crate) asked: BTreeSet<DataAddress>,
    /// Rounds that began between heads.
    pub(crate) starts: usize,
}

impl Starts<'_> {
    /// Shows that from each state of the trigger one of the strategies leads to what is to be reached, to the region of a head, or after one
    /// step at least to a state of the trigger, through states in which holds what is to hold.
    ///
    /// SOUND: each run comes to heads, so that states of the trigger follow each other for so long at most. A state is one on the paths from
    /// power-on, or from the head to which a run to it came last; that head itself is the end of such paths.
    pub(crate) fn show(&self, first: &[Rounds], done: &mut Done) -> Result<(), Unshown> {
        let graph = Graph::new(self.limits.nodes);
        let start = Start { graph: &graph, state: power_on(self.machine, &graph), condition: PathCondition::new() };
        if !is_on(Fault::PowerOnForgotten) {
            self.show_behind(&start, (None, first), done)?;
        }
        if matches!(self.possibility.trigger, Trigger::Start) {
            return Ok(());
        }
        let heads = 0..self.places.heads.len();
        heads.flat_map(|head| self.places.entries(head).map(move |entry| (head, entry))).try_for_each(
            |(head, entry)| {
                let graph = Graph::new(self.limits.nodes);
                let start = Start::of(self.machine, self.places.map(), entry, &graph);
                self.show_behind(&start, (Some(head), first), done)
            },
        )
    }

    /// Shows it for the states from a state on up to the next heads.
    fn show_behind<'g>(
        &self,
        start: &Start<'g>,
        (head, first): (Option<usize>, &[Rounds]),
        done: &mut Done,
    ) -> Result<(), Unshown> {
        let found = RefCell::new(Found { unserved: SymbolicBit::ZERO, done: std::mem::take(done), is_cut: false });
        let between = Between { starts: self, graph: start.graph, first, is_of_head: head.is_some(), found: &found };
        if matches!(self.possibility.trigger, Trigger::Start) {
            between.begin(&start.state, &start.condition, SymbolicBit::ONE);
        } else {
            let from = (start.state.clone(), start.condition.clone());
            let round = self.executor.execute(start.graph, from, &Strategy::anything(), &between);
            let mut found = found.borrow_mut();
            found.done.accepted.steps += round.steps;
            found.unserved = round.ends.iter().fold(found.unserved, |any, end| any.or(&self.unserved_at(end)));
        }
        let Found { unserved, done: all, is_cut } = found.into_inner();
        *done = all;
        done.accepted.queries += 1;
        if is_cut || done.accepted.steps > self.limits.steps || (self.is_over)() {
            return Err(Unshown::Limit);
        }
        match satisfy(&unserved, self.limits.query) {
            Answer::Unsatisfiable => Ok(()),
            Answer::None(_) if is_on(Fault::UnansweredPassed) => Ok(()),
            Answer::Satisfiable(_) | Answer::None(_) => Err(Unshown::Behind(start.state.control.pc.byte())),
        }
    }

    /// The bit that is 1 if paths end elsewhere than at a head, or in a state of the trigger that no claim serves.
    fn unserved_at<'g>(&self, end: &End<'g>) -> SymbolicBit<'g> {
        let fails = match arrival(self.places, end) {
            Arrival::Head(..) if is_on(Fault::TriggerAtHeadsForgotten) => SymbolicBit::ZERO,
            Arrival::Head(head, state) => {
                let serves = self.serves(head, state).and(&self.possibility.surely_holds(state));
                let open = self.possibility.is_open(state).and(&self.possibility.trigger.possibly(state));
                open.and(&serves.not())
            }
            Arrival::Elsewhere if is_on(Fault::ElsewherePassed) => SymbolicBit::ZERO,
            Arrival::Elsewhere => SymbolicBit::ONE,
        };
        end.condition.bit().and(&fails)
    }

    /// The bit that is 1 if the claim about a head speaks of a state, in which holds what is to hold.
    fn serves<'g>(&self, head: usize, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        self.regions.get(&head).map_or(SymbolicBit::ZERO, |region| self.possibility.surely_in(*region, state))
    }
}

/// What was found on paths.
struct Found<'g> {
    /// The bit that is 1 if a state of the trigger is not served.
    unserved: SymbolicBit<'g>,
    done: Done,
    is_cut: bool,
}

impl Found<'_> {
    /// Takes note of a round from a state of the trigger.
    fn note(&mut self, round: &Execution<'_>) {
        let Done { accepted, asked, starts } = &mut self.done;
        *starts += 1;
        accepted.steps += round.steps;
        accepted.freedom = accepted.freedom.union(round.freedom());
        asked.extend(round.inputs().filter_map(|asked| match asked.source {
            Input::Register(register) => Some(register),
            _ => None,
        }));
    }
}

/// Paths end at heads; from the states of the trigger on the way rounds begin.
struct Between<'a, 'g> {
    starts: &'a Starts<'a>,
    graph: &'g Graph,
    first: &'a [Rounds],
    /// True if paths begin at a head, whose states are those at the end of others.
    is_of_head: bool,
    found: &'a RefCell<Found<'g>>,
}

impl<'g> Between<'_, 'g> {
    fn is_at_head(&self, state: &SymbolicState<'g>) -> bool {
        self.starts.places.head_at(state.calls.frames(), state.control.pc).is_some()
    }

    /// Lets rounds begin in a state where a bit is 1.
    fn begin(&self, state: &SymbolicState<'g>, condition: &PathCondition<'g>, triggers: SymbolicBit<'g>) {
        let Starts { places, possibility, executor, limits, is_over, .. } = self.starts;
        let mut condition = condition.clone();
        condition.assume(triggers.and(&possibility.is_open(state)));
        let states = condition.bit();
        if states.known() == Some(false) || self.found.borrow().is_cut {
            return;
        }
        let start = Start { graph: self.graph, state: state.clone(), condition };
        let mut left = states;
        // Most states are followed by one of the trigger.
        let all: &[AtTriggers] = match possibility.trigger {
            Trigger::Start => &[AtTriggers::Never],
            Trigger::Everywhere | Trigger::When(_) => &[AtTriggers::Possibly, AtTriggers::Surely],
        };
        for at_triggers in all.iter().copied() {
            let route = Route { head: None, passed: &BTreeSet::new(), at_triggers };
            for rounds in self.first {
                let round = start.round(executor, (route, rounds), (places, possibility), *is_over);
                left = unserved(left, std::iter::once(&round), &|end| self.well(end));
                let mut found = self.found.borrow_mut();
                found.note(&round);
                found.is_cut |= found.done.accepted.steps > limits.steps || found.done.starts > limits.starts;
                if found.is_cut || left.known() == Some(false) {
                    return;
                }
                found.done.accepted.queries += 1;
                if satisfy(&left, limits.query) == Answer::Unsatisfiable {
                    return;
                }
            }
        }
        let mut found = self.found.borrow_mut();
        found.unserved = found.unserved.or(&left);
    }

    /// The bit that is 1 if a round from a state of the trigger ends well, if its condition is.
    fn well(&self, end: &End<'g>) -> SymbolicBit<'g> {
        let Starts { places, possibility: Possibility { trigger, .. }, .. } = self.starts;
        let well = ends_well(places, end, &|head, state| self.starts.serves(head, state));
        let leads_on = match &end.kind {
            EndKind::Goal(_) if is_on(Fault::PossibleTriggerPassed) => SymbolicBit::ONE,
            EndKind::Goal(state) if !self.is_at_head(state) => trigger.surely(state),
            _ => SymbolicBit::ZERO,
        };
        let well = well.or(&leads_on.and(&end.history[BROKEN].not()));
        end.condition.value(&well).map_or(well, SymbolicBit::constant)
    }
}

impl<'g> Goal<'g> for Between<'_, 'g> {
    fn is_over(&self) -> bool {
        (self.starts.is_over)() || self.found.borrow().is_cut
    }

    fn is_end(&self, state: &SymbolicState<'g>, _: usize) -> bool {
        self.is_at_head(state)
    }

    fn passes(&self, state: &SymbolicState<'g>, condition: &PathCondition<'g>) {
        if is_on(Fault::BetweenForgotten) || self.is_of_head && self.is_at_head(state) {
            return;
        }
        self.begin(state, condition, self.starts.possibility.trigger.possibly(state));
    }

    fn sleeps_on(&self) -> bool {
        true
    }
}
