//! The pass that finds maps. Nothing of it need be trusted: [`check`](crate::check()) accepts what it finds, or does not.

mod alarms;
mod analysis;
mod attempts;
mod contexts;
mod fixpoint;
mod hints;
mod join;
mod nesting;
mod numbers;
mod partition;
mod pointers;
mod slice;
mod trace;
mod widening;
mod widening_numbers;
mod work;

use avr_machine::Machine;

use crate::step::Start;
pub use analysis::{Analysis, Options};

use attempts::Attempts;

/// Finds a map of everything that a machine can do, and checks it.
#[must_use]
pub fn analyse(machine: &Machine, options: &Options) -> Analysis {
    analyse_until(machine, options, &|| false)
}

/// The same, until the work is cancelled: the map is open then.
#[must_use]
pub fn analyse_until(machine: &Machine, options: &Options, is_cancelled: &dyn Fn() -> bool) -> Analysis {
    analyse_from(machine, Start::PowerOn, options, is_cancelled)
}

/// The same of everything that a machine can do from a start. A map from a state of a run is a closed set: what is true in none of its
/// states is never true again after that state, whatever happens.
#[must_use]
pub fn analyse_from(
    machine: &Machine,
    start: Start<'_>,
    options: &Options,
    is_cancelled: &dyn Fn() -> bool,
) -> Analysis {
    Attempts::new(machine, start, options, is_cancelled).analysis()
}
