//! The portfolio: the systems on which goals are decided, one after the other until one is enough.

use super::goals::GoalTable;
use super::observer::PropertyObserver;
use super::property_class::visibility;
use crate::request::Request;
use avr_analysis::interrupts::lets_interrupts_in;
use avr_machine::Machine;
use avr_model::Firmware;
use avr_model::pass::Pass;
use avr_model::reduction::passes::Passes;
use avr_model::transfer::recorded_splits::RecordedSplits;
use avr_properties::Atom;
use avr_witness::{Sampler, Search};
use tvar::{Decision, Outcome, Strategy, Undecided};

/// The states that are expanded before locations are limited, where paths are compressed.
const FEW_STATES: usize = 4_000;

/// One attempt to decide the goals.
struct Attempt {
    /// The passes that take part.
    passes: Passes,
    /// True if locations are limited after few states.
    limits_soon: bool,
    /// True if the splits of steps are recorded for a certificate.
    records_splits: bool,
}

/// The outcome for the goals of a request.
pub(crate) struct Decided<'m> {
    pub(crate) firmware: Firmware<'m>,
    pub(crate) observer: PropertyObserver<'m>,
    pub(crate) outcome: Outcome<Firmware<'m>>,
}

/// Decides goals over atoms; where it records, what steps depend on is kept for a certificate.
pub(crate) fn decide<'m>(
    request: &Request<'_>,
    machine: &'m Machine,
    (atoms, asked): (&'m [Atom], &'m GoalTable<'m>),
    records_splits: bool,
) -> Decided<'m> {
    let searches = request.strategy == Strategy::Default && !records_splits && may_search();
    let mut sampler = searches.then(Sampler::default);
    let mut steps = 0;
    let mut attempts = portfolio(request, machine, (atoms, asked), records_splits).into_iter().peekable();
    while let Some(attempt) = attempts.next() {
        let observer = PropertyObserver::new(asked, sampler.take());
        let mut decided = attempt.decide(request, (machine, atoms), observer, steps);
        let is_last = attempts.peek().is_none();
        if decided.is_enough(request) || is_last {
            let Decided { firmware, observer, outcome } = &mut decided;
            observer.search_on(firmware, &mut outcome.decisions, request.watch);
            return decided;
        }
        // The work goes on where it was: random runs, and their share of all steps.
        steps = decided.firmware.model.context.working.state.steps;
        sampler = decided.observer.sampler;
    }
    unreachable!("the last attempt is the answer")
}

/// The attempts in their order: first where what goals cannot distinguish is left out, if that is allowed, then with everything.
fn portfolio(
    request: &Request<'_>,
    machine: &Machine,
    (atoms, asked): (&[Atom], &GoalTable<'_>),
    records_splits: bool,
) -> Vec<Attempt> {
    // Certificates speak of three-valued bits only.
    let whole = || if request.facts && !records_splits { Passes::default().with_facts() } else { Passes::default() };
    let all = Attempt { passes: whole(), limits_soon: false, records_splits };
    // A certificate is checked step by step: it needs every order of interrupts.
    let reduced = if records_splits { None } else { reduced(request, machine, (atoms, asked), whole()) };
    reduced.into_iter().chain([all]).collect()
}

/// The attempt in which what goals cannot distinguish is not looked at, as far as the request allows it.
fn reduced(
    request: &Request<'_>,
    machine: &Machine,
    (atoms, asked): (&[Atom], &GoalTable<'_>),
    passes: Passes,
) -> Option<Attempt> {
    let reductions = request.reductions;
    let seen = visibility(asked, atoms, machine).filter(|_| request.allows_reduction())?;
    if seen.branches && !lets_interrupts_in(machine) {
        // A cause is sought for too long on ways that are left out, where ports are read whole (decision 18).
        return None;
    }
    let passes = passes.seen_by(&seen);
    // Deferred interrupts may come one after the other for ever, which leaves eventualities unknown.
    let interrupts = reductions.interrupts && !seen.has_eventualities;
    let passes = if interrupts { passes.with_partial_order_reduction(machine, &seen) } else { passes };
    let passes = if reductions.paths { passes.with_path_compression(machine, &seen) } else { passes };
    let passes = if reductions.handlers { passes.with_handler_summaries() } else { passes };
    let limits_soon = passes.has(Pass::PathCompression) && (!seen.branches || passes.has(Pass::PartialOrderReduction));
    Some(Attempt { passes, limits_soon, records_splits: false })
}

impl Attempt {
    /// Decides the goals of an observer on the system of this attempt, after so many steps in others.
    fn decide<'m>(
        self,
        request: &Request<'_>,
        (machine, atoms): (&'m Machine, &'m [Atom]),
        mut observer: PropertyObserver<'m>,
        steps: u64,
    ) -> Decided<'m> {
        let mut firmware = Firmware::with_passes(machine, atoms, self.passes);
        firmware.recorded = self.records_splits.then(RecordedSplits::default);
        firmware.model.context.working.state.steps = steps;
        let (atoms, goals, strategy, watch) = (atoms.len(), observer.goals(), request.strategy, request.watch);
        let outcome = if self.limits_soon {
            tvar::verify_from(&mut firmware, &mut observer, atoms, goals, strategy, first_budget(), watch)
        } else {
            tvar::verify(&mut firmware, &mut observer, atoms, goals, strategy, watch)
        };
        Decided { firmware, observer, outcome }
    }
}

impl Decided<'_> {
    /// True if no other attempt is needed, or if there is no time for another one. None is needed if all that is
    /// violated was shown and no decision is stuck. A stuck one may need the order of interrupts, or what was left out.
    fn is_enough(&mut self, request: &Request<'_>) -> bool {
        let is_shown = self.use_expanded();
        let is_stuck = |decision: &Decision<_>| matches!(decision.undecided, Some(Undecided::Stuck { .. }));
        is_shown && !self.outcome.decisions.iter().any(is_stuck) || request.watch.cancelled()
    }

    /// Puts decisions without skipped states in the place of those that were shown by them; true if all that is
    /// violated was shown.
    fn use_expanded(&mut self) -> bool {
        let mut all_shown = true;
        for (number, shown) in &mut self.observer.shown {
            all_shown &= !matches!(shown.search, Search::Missing(_));
            if let Some(expanded) = shown.expanded.take() {
                self.outcome.decisions[*number] = expanded;
            }
        }
        all_shown
    }
}

#[cfg(not(test))]
const fn may_search() -> bool {
    true
}

#[cfg(test)]
fn may_search() -> bool {
    !SEARCHES_OFF.get()
}

#[cfg(test)]
thread_local! {
    static SEARCHES_OFF: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Does something without random runs, for tests of what the state spaces alone say.
#[cfg(test)]
pub(crate) fn without_search<T>(work: impl FnOnce() -> T) -> T {
    SEARCHES_OFF.set(true);
    let result = work();
    SEARCHES_OFF.set(false);
    result
}

#[cfg(not(test))]
const fn first_budget() -> usize {
    FEW_STATES
}

#[cfg(test)]
thread_local! {
    /// The number of states, on this thread, beyond which locations are limited.
    static BUDGET: std::cell::Cell<usize> = const { std::cell::Cell::new(FEW_STATES) };
}

#[cfg(test)]
fn first_budget() -> usize {
    BUDGET.get()
}

/// Does something with another number of states beyond which locations are limited.
#[cfg(test)]
pub(crate) fn with_first_budget<T>(states: usize, work: impl FnOnce() -> T) -> T {
    let before = BUDGET.replace(states);
    let result = work();
    BUDGET.set(before);
    result
}
