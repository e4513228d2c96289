//! Deciding goals: first where what they cannot tell apart is left out, if that is allowed, and where that is not enough with
//! everything.

use crate::asked::Asked;
use crate::certificate::Advised;
use crate::evidence::{Sampler, Search};
use crate::reduction::lets_interrupts_in;
use crate::request::{Reductions, Request};
use crate::sight::Sight;
use crate::system::Firmware;
use avr_machine::Machine;
use avr_properties::Atom;
use tvar::{Decision, Outcome, Strategy, Undecided};

/// How many states are looked at before locations are limited, where states are kept only where something is decided.
const FEW_STATES: usize = 4_000;

/// Decides goals over atoms; with `advised`, what steps depend on is kept for a certificate.
pub(crate) fn decide<'m>(
    request: &Request<'_>,
    machine: &'m Machine,
    (atoms, asked): (&'m [Atom], &'m Asked<'m>),
    advised: bool,
) -> (Firmware<'m>, Outcome<Firmware<'m>>) {
    let decided = |mut firmware: Firmware<'m>, steps: u64| {
        firmware.workspace.state.steps = steps;
        let (atoms, goals, watch) = (atoms.len(), &asked.goals, request.watch);
        let outcome = match firmware.compression {
            Some(_) if !firmware.branches || firmware.reduction.is_some() => {
                tvar::verify_from(&mut firmware, atoms, goals, request.strategy, first_budget(), watch)
            }
            _ => tvar::verify(&mut firmware, atoms, goals, request.strategy, watch),
        };
        (firmware, outcome)
    };
    let mut steps = 0;
    let mut sampler = (request.strategy == Strategy::Default && !advised).then(Sampler::default);
    // A certificate is checked step by step: it needs every order of interrupts.
    if let Some(mut firmware) = reduced(request, machine, atoms, asked).filter(|_| !advised) {
        firmware.sampler = sampler.take();
        let (mut firmware, mut outcome) = decided(firmware, 0);
        let is_shown = use_unfolded(&mut firmware, &mut outcome);
        // What only the order of interrupts can show, or what was left out, is looked for where nothing is left out.
        let is_stuck = |decision: &Decision<_>| matches!(decision.undecided, Some(Undecided::Stuck { .. }));
        if is_shown && !outcome.decisions.iter().any(is_stuck) || request.watch.cancelled() {
            return (firmware, outcome);
        }
        steps = firmware.workspace.state.steps;
        sampler = firmware.sampler.take();
    }
    // Certificates speak of three-valued bits only.
    let mut firmware =
        if advised { Firmware::new(machine, atoms).asked_for(asked) } else { whole(request, machine, (atoms, asked)) };
    firmware.sampler = sampler;
    firmware.advised = advised.then(Advised::default);
    decided(firmware, steps)
}

/// The system in which nothing is left out, with facts from comparisons if they are asked for.
fn whole<'m>(request: &Request<'_>, machine: &'m Machine, (atoms, asked): (&'m [Atom], &'m Asked<'m>)) -> Firmware<'m> {
    let firmware = Firmware::new(machine, atoms).asked_for(asked);
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
    asked: &'m Asked<'m>,
) -> Option<Firmware<'m>> {
    let reductions = request.reductions;
    let sight = Sight::of(asked, atoms, machine).filter(|_| allows_reduction(request))?;
    if sight.branches && !lets_interrupts_in(machine) {
        // Where ports are read whole, a cause is sought for too long on ways that are left out (decision 18).
        return None;
    }
    let firmware = whole(request, machine, (atoms, asked)).seen_by(&sight);
    // Where interrupts are left for later, they may come one after the other for ever, which leaves what waits unknown.
    let interrupts = reductions.interrupts && !sight.waits;
    let firmware = if interrupts { firmware.with_reduced_interrupts(&sight) } else { firmware };
    let firmware = if reductions.paths { firmware.with_compressed_paths(&sight) } else { firmware };
    Some(if reductions.handlers { firmware.with_passed_handlers() } else { firmware })
}

/// Puts decisions without states that were left out in the place of those that were shown by them; whether all that is
/// violated was shown.
fn use_unfolded(firmware: &mut Firmware<'_>, outcome: &mut Outcome<Firmware<'_>>) -> bool {
    let mut all_shown = true;
    for (number, (search, unfolded)) in firmware.shown.get_mut() {
        let decision = &mut outcome.decisions[*number];
        all_shown &= !matches!(search, Search::Missing(_));
        if let Some(unfolded) = unfolded.take() {
            *decision = unfolded;
        }
    }
    all_shown
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
