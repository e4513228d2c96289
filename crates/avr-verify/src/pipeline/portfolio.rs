//! The portfolio: the systems on which goals are decided, one after the other until one is enough; and beside them, where no interrupt
//! comes, precision per state ([`race`](super::race)).

use super::goals::GoalTable;
use super::observer::PropertyObserver;
use super::property_class::visibility;
use super::race::{End, EndsAnyway, Race, Runner, RunnerWatch};
use crate::diagnosis::refinement_counts::RefinementCounts;
use crate::request::{InvariantUse, Request};
use avr_analysis::interrupts::lets_interrupts_in;
use avr_machine::Machine;
use avr_model::Firmware;
use avr_model::pass::Pass;
use avr_model::reduction::passes::Passes;
use avr_model::reduction::repeated_steps::StepCounts;
use avr_model::transfer::recorded_splits::RecordedSplits;
use avr_properties::{Atom, bind_predicates};
use avr_witness::{Sampler, Search};
use std::thread;
use tvar::{Decision, Exhausted, Outcome, Strategy, Undecided, Watch};

/// The stack of the thread of the second strategy, in bytes: that of other threads that verify.
const STACK_BYTES: usize = 64 << 20;

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
    // Precision per state follows every order of interrupts, and comes nowhere with them.
    let races = request.strategy == Strategy::Default && !records_splits && may_race() && !lets_interrupts_in(machine);
    if !races {
        return decide_in_order(request, machine, (atoms, asked), records_splits);
    }
    let race = Race::new(rayon::current_num_threads() < 2 || rayon::current_thread_index().is_none());
    thread::scope(|scope| {
        let second = || {
            let _end = EndsAnyway(&race, Runner::Second);
            let watch = RunnerWatch::new(&race, Runner::Second, request.watch);
            let decided = || race.may_begin().then(|| decide_per_state(machine, (atoms, asked), &watch))?;
            let decided = on_this_thread(decided).flatten();
            race.end(Runner::Second, if decided.is_some() { End::Decided } else { End::Stuck });
            decided
        };
        let second = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, second);
        let mut first = {
            let _end = EndsAnyway(&race, Runner::First);
            if second.is_err() {
                // Without a second thread there is no race.
                race.end(Runner::Second, End::Stuck);
            }
            let watch = RunnerWatch::new(&race, Runner::First, request.watch);
            let watched = Request { watch: &watch, ..*request };
            let first = decide_in_order(&watched, machine, (atoms, asked), records_splits);
            race.end(Runner::First, first.end(request.watch));
            first
        };
        let second = second.ok().and_then(|second| match second.join() {
            Ok(second) => second,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        match second {
            Some((firmware, refined, outcome)) if race.winner() == Runner::Second => {
                let sampler = first.observer.sampler.take();
                let mut observer = PropertyObserver::new(asked, sampler);
                observer.refined = refined;
                Decided { firmware, observer, outcome }
            }
            _ => first,
        }
    })
}

/// The result of some work, with this thread as the only one of a pool, so that nothing in it takes others.
fn on_this_thread<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    pool.ok().map(|pool| pool.install(work))
}

/// The outcome of a second strategy.
type PerState<'m> = (Firmware<'m>, RefinementCounts, Outcome<Firmware<'m>>);

/// Decides goals with precision per state; nothing if one stays open.
fn decide_per_state<'m>(
    machine: &'m Machine,
    (atoms, asked): (&'m [Atom], &'m GoalTable<'m>),
    watch: &dyn Watch,
) -> Option<PerState<'m>> {
    let mut firmware = Firmware::with_passes(machine, atoms, Passes::default().with_precision_per_state());
    let mut observer = PropertyObserver::new(asked, None);
    let goals = observer.goals();
    let outcome = tvar::verify(&mut firmware, &mut observer, atoms.len(), goals, Strategy::Paper, watch);
    let is_decided = outcome.decisions.iter().all(|decision| !decision.verdict.is_unknown());
    is_decided.then_some((firmware, observer.refined, outcome))
}

/// Decides goals with the strategy of the request, on one system after the other.
fn decide_in_order<'m>(
    request: &Request<'_>,
    machine: &'m Machine,
    (atoms, asked): (&'m [Atom], &'m GoalTable<'m>),
    records_splits: bool,
) -> Decided<'m> {
    let searches = request.strategy == Strategy::Default && !records_splits && may_search();
    let alarms = match request.invariants {
        InvariantUse::Open(alarms) => alarms.distances.clone(),
        InvariantUse::Given(_) | InvariantUse::Find | InvariantUse::Off => None,
    };
    let mut sampler = searches.then(|| Sampler::directed_at(alarms));
    let mut steps = StepCounts::default();
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
        steps = decided.firmware.model.step_counts();
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
    let passes = || match request.strategy.is_per_state() {
        true => Passes::default().with_precision_per_state(),
        false => Passes::default(),
    };
    let whole = || if request.facts && !records_splits { passes().with_facts() } else { passes() };
    let relating = |passes| relating(passes, request, machine, (atoms, asked));
    let all = Attempt { passes: relating(whole()), limits_soon: false, records_splits };
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
    let reductions = request.sound_reductions();
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
    let passes = relating(passes, request, machine, (atoms, asked));
    Some(Attempt { passes, limits_soon, records_splits: false })
}

/// The passes with predicates, as far as the request and its goals allow them.
fn relating(
    passes: Passes,
    request: &Request<'_>,
    machine: &Machine,
    (atoms, asked): (&[Atom], &GoalTable<'_>),
) -> Passes {
    // The abilities of single runs are shown by small state spaces, which have no predicates.
    let is_about_all_runs = || visibility(asked, atoms, machine).is_some_and(|seen| !seen.branches);
    if !request.facts || !request.predicates || !is_about_all_runs() {
        return passes;
    }
    // A predicate that cannot be bound was refused when the machine was made.
    let mut named = bind_predicates(request.file, &request.binding()).unwrap_or_default();
    named.comparisons.extend(atoms.iter().filter_map(Atom::compared_numbers).map(|compared| compared.numbers));
    let passes = passes.with_predicates(machine, named);
    drop_terms(&passes);
    passes
}

impl Attempt {
    /// Decides the goals of an observer on the system of this attempt, after so many steps in others.
    fn decide<'m>(
        self,
        request: &Request<'_>,
        (machine, atoms): (&'m Machine, &'m [Atom]),
        mut observer: PropertyObserver<'m>,
        steps: StepCounts,
    ) -> Decided<'m> {
        let mut firmware = Firmware::with_passes(machine, atoms, self.passes);
        firmware.enumerated = request.enumerated.get();
        firmware.recorded = self.records_splits.then(RecordedSplits::default);
        firmware.model.count_from(steps);
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
    /// The end that this is of a runner.
    fn end(&self, watch: &dyn Watch) -> End {
        let exhausted = |decision: &Decision<_>| match decision.undecided {
            Some(Undecided::Exhausted(limit)) => Some(limit),
            Some(Undecided::Stuck { .. }) | None => None,
        };
        let limits: Vec<Exhausted> = self.outcome.decisions.iter().filter_map(exhausted).collect();
        let is_stop = |limit: &Exhausted| matches!(limit, Exhausted::Time(_) | Exhausted::Memory(_));
        if watch.cancelled() || limits.iter().any(is_stop) {
            End::Stopped
        } else if !limits.is_empty() {
            End::Limited
        } else if self.outcome.decisions.iter().any(|decision| decision.verdict.is_unknown()) {
            End::Stuck
        } else {
            End::Decided
        }
    }

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
const fn may_race() -> bool {
    true
}

#[cfg(test)]
fn may_race() -> bool {
    !RACES_OFF.get()
}

#[cfg(test)]
thread_local! {
    static RACES_OFF: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Does something with the strategy of the request alone, for tests of what it says.
#[cfg(test)]
pub(crate) fn without_race<T>(work: impl FnOnce() -> T) -> T {
    RACES_OFF.set(true);
    let result = work();
    RACES_OFF.set(false);
    result
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

#[cfg(not(test))]
const fn drop_terms(_: &Passes) {}

#[cfg(test)]
fn drop_terms(passes: &Passes) {
    if let Some(predicates) = passes.predicates() {
        predicates.get().drop_terms(DROPPED.with_borrow(Clone::clone));
    }
}

#[cfg(test)]
thread_local! {
    static DROPPED: std::cell::RefCell<Vec<avr_model::predicates::Term>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Does something where the predicates of some terms are never kept, in the first state spaces that are built.
#[cfg(test)]
pub(crate) fn with_dropped<T>(terms: &[avr_model::predicates::Term], work: impl FnOnce() -> T) -> T {
    DROPPED.set(terms.to_vec());
    let result = work();
    DROPPED.take();
    result
}
