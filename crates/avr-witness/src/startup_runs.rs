//! Runs of the start-up code with random memory: do conditions hold before the main program is entered?

use crate::concretise::view::ConcreteView;
use avr_machine::{Demand, DeterminedBy, Environment, Input, Machine, MachineState, Question};
use avr_properties::Atom;
use fastrand::Rng;
use mu_calculus::{AtomId, Formula};
use three_valued::Truth;

/// The number of runs.
const RUNS: u64 = 4;
/// The most steps of a run.
const MOST_STEPS: u32 = 20_000;

/// True if a condition is false in some state before the main program, in one of some runs. No interrupt comes in them
/// that need not come. False also where the condition is none: has temporal operators, or events.
#[must_use]
pub fn fails_in_startup(machine: &Machine, atoms: &[Atom], condition: &Formula<AtomId>) -> bool {
    (0..RUNS).any(|seed| run_fails(machine, atoms, condition, seed))
}

fn run_fails(machine: &Machine, atoms: &[Atom], condition: &Formula<AtomId>, seed: u64) -> bool {
    let mut world = Initial(Rng::with_seed(seed));
    let mut state: MachineState<u8> = machine.power_on(&mut world);
    for _ in 0..MOST_STEPS {
        if !state.control.in_startup {
            return false;
        }
        let view = ConcreteView { machine, state: &state, watched: &[], did: &[] };
        if truth(condition, &|atom| view.label(atoms, atom)).is_false() {
            return true;
        }
        if machine.step(&mut state, &mut world).is_err() {
            return false;
        }
    }
    false
}

/// The truth of a formula in one state; unknown with temporal operators.
fn truth(formula: &Formula<AtomId>, label: &impl Fn(AtomId) -> Truth) -> Truth {
    let of = |part: &Formula<AtomId>| truth(part, label);
    match formula {
        Formula::Constant(value) => Truth::from(*value),
        Formula::Atom(atom) => label(*atom),
        Formula::Not(part) => !of(part),
        Formula::And(parts) => parts.iter().map(of).fold(Truth::True, |all, part| all & part),
        Formula::Or(parts) => parts.iter().map(of).fold(Truth::False, |all, part| all | part),
        Formula::Implies(one, other) => !of(one) | of(other),
        _ => Truth::Unknown,
    }
}

/// A world in which memory holds anything at the start.
struct Initial(Rng);

impl Environment<u8> for Initial {
    fn input(&mut self, _source: Input, mask: u8, _demand: Demand, _by: DeterminedBy) -> u8 {
        self.0.u8(..) & mask
    }

    fn choose(&mut self, _count: usize) -> usize {
        0
    }

    fn case(&mut self, _count: usize, _about: Question<'_, u8>) -> usize {
        0
    }
}
