//! Deciding goals: first where what they cannot tell apart is left out, if that is allowed, and where that is not enough with
//! everything.

use crate::asked::Asked;
use crate::certificate::Advised;
use crate::evidence::{Sampler, Search};
use crate::observer::PropertyObserver;
use crate::reduction::lets_interrupts_in;
use crate::request::{Reductions, Request};
use crate::sight::Sight;
use crate::system::Firmware;
use avr_machine::Machine;
use avr_properties::Atom;
use tvar::{Decision, Outcome, Strategy, Undecided};

/// How many states are looked at before locations are limited, where states are kept only where something is decided.
const FEW_STATES: usize = 4_000;

/// What became of the goals of a request.
pub(crate) struct Decided<'m> {
    pub(crate) firmware: Firmware<'m>,
    pub(crate) observer: PropertyObserver<'m>,
    pub(crate) outcome: Outcome<Firmware<'m>>,
}

/// Decides goals over atoms; with `advised`, what steps depend on is kept for a certificate.
pub(crate) fn decide<'m>(
    request: &Request<'_>,
    machine: &'m Machine,
    (atoms, asked): (&'m [Atom], &'m Asked<'m>),
    advised: bool,
) -> Decided<'m> {
    let decided = |mut firmware: Firmware<'m>, mut observer: PropertyObserver<'m>, steps: u64| {
        firmware.workspace.state.steps = steps;
        let (atoms, goals, strategy, watch) = (atoms.len(), &asked.goals, request.strategy, request.watch);
        let outcome = match firmware.compression {
            Some(_) if !firmware.branches || firmware.reduction.is_some() => {
                tvar::verify_from(&mut firmware, &mut observer, atoms, goals, strategy, first_budget(), watch)
            }
            _ => tvar::verify(&mut firmware, &mut observer, atoms, goals, strategy, watch),
        };
        Decided { firmware, observer, outcome }
    };
    let mut steps = 0;
    let mut sampler = (request.strategy == Strategy::Default && !advised).then(Sampler::default);
    // A certificate is checked step by step: it needs every order of interrupts.
    if let Some(firmware) = reduced(request, machine, atoms, asked).filter(|_| !advised) {
        let mut found = decided(firmware, PropertyObserver::new(asked, sampler.take()), 0);
        let is_shown = found.use_unfolded();
        // What only the order of interrupts can show, or what was left out, is looked for where nothing is left out.
        let is_stuck = |decision: &Decision<_>| matches!(decision.undecided, Some(Undecided::Stuck { .. }));
        if is_shown && !found.outcome.decisions.iter().any(is_stuck) || request.watch.cancelled() {
            return found;
        }
        steps = found.firmware.workspace.state.steps;
        sampler = found.observer.sampler;
    }
    // Certificates speak of three-valued bits only.
    let mut firmware = if advised { Firmware::new(machine, atoms) } else { whole(request, machine, atoms) };
    firmware.advised = advised.then(Advised::default);
    decided(firmware, PropertyObserver::new(asked, sampler), steps)
}

/// The system in which nothing is left out, with facts from comparisons if they are asked for.
fn whole<'m>(request: &Request<'_>, machine: &'m Machine, atoms: &'m [Atom]) -> Firmware<'m> {
    let firmware = Firmware::new(machine, atoms);
    if request.facts { firmware.with_facts() } else { firmware }
}

/// Whether something may be left out for properties that cannot tell: it was not turned off. A certificate needs it all the same.
#[must_use]
pub fn allows_reduction(request: &Request<'_>) -> bool {
    // SOUND: where paths end, what comes before their end is never looked at afterwards, so nothing may be left for later.
    let is_allowed = request.strategy == Strategy::Default && !request.file.ends_paths();
    is_allowed && request.reductions != Reductions::NONE
}

/// The system in which what goals cannot tell apart is not looked at, as far as the request allows it.
fn reduced<'m>(
    request: &Request<'_>,
    machine: &'m Machine,
    atoms: &'m [Atom],
    asked: &Asked<'_>,
) -> Option<Firmware<'m>> {
    let reductions = request.reductions;
    let sight = Sight::of(asked, atoms, machine).filter(|_| allows_reduction(request))?;
    if sight.branches && !lets_interrupts_in(machine) {
        // Where ports are read whole, a cause is sought for too long on ways that are left out (decision 18).
        return None;
    }
    let firmware = whole(request, machine, atoms).seen_by(&sight);
    // Where interrupts are left for later, they may come one after the other for ever, which leaves what waits unknown.
    let interrupts = reductions.interrupts && !sight.waits;
    let firmware = if interrupts { firmware.with_reduced_interrupts(&sight) } else { firmware };
    let firmware = if reductions.paths { firmware.with_compressed_paths(&sight) } else { firmware };
    Some(if reductions.handlers { firmware.with_passed_handlers() } else { firmware })
}

impl Decided<'_> {
    /// Puts decisions without states that were left out in the place of those that were shown by them; whether all that is
    /// violated was shown.
    fn use_unfolded(&mut self) -> bool {
        let mut all_shown = true;
        for (number, shown) in &mut self.observer.shown {
            all_shown &= !matches!(shown.search, Search::Missing(_));
            if let Some(unfolded) = shown.unfolded.take() {
                self.outcome.decisions[*number] = unfolded;
            }
        }
        all_shown
    }
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
