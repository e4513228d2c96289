//! Runs that symbolic execution found. Nothing rests on it: the machine takes the run, or it is of no use.

use super::aim::Aim;
use crate::concretise::concrete_step::{Answer, Answers, Asked, Stepper, Tried};
use crate::concretise::{Ending, Walked};
use avr_isa::DataAddress;
use avr_machine::Stop;
use avr_model::context::Context;
use avr_symbolic::{ConcreteRun, ConcreteStep};

/// The run up to where it refutes a goal, the step behind it included; none if the machine does not take it, or it does not refute the goal.
pub(super) fn walked(context: &Context<'_>, aim: &Aim<'_>, run: &ConcreteRun) -> Option<Walked> {
    let mut stepper = Stepper::new(context, &|DataAddress(cell)| run.start.data.cells()[usize::from(cell)]);
    for step in run.steps.iter().map(Some).chain([None]) {
        if let Some(claims) = aim.refuted(context, &stepper.view()) {
            return Some(Walked::to_end(stepper, Ending::Shown, claims));
        }
        let tried = attempt(&mut stepper, step)?;
        match tried.result {
            Ok(_) => stepper.accept(tried),
            Err(Stop::Hazard(hazard))
                if aim.is_refuted_by_hazard(context)
                    && !context.machine.ends_path(hazard.kind, stepper.state().control.pc) =>
            {
                stepper.accept(tried);
                return Some(Walked::to_end(stepper, Ending::Hazard(hazard), Vec::new()));
            }
            Err(_) => return None,
        }
    }
    let claims = aim.refuted(context, &stepper.view())?;
    Some(Walked::to_end(stepper, Ending::Shown, claims))
}

/// A step with the answers of a step of the run, or the natural ones; none if the machine asks for something else.
fn attempt(stepper: &mut Stepper<'_>, step: Option<&ConcreteStep>) -> Option<Tried> {
    let mut answers = Answers::new();
    loop {
        let tried = stepper.attempt(&answers, &|_| 0);
        let Some(step) = step else { return Some(tried) };
        let mut used = vec![false; step.inputs.len()];
        let mut differing = None;
        for (place, asked) in tried.asked.iter().enumerate() {
            let wanted = answer(step, asked, &mut used)?;
            if wanted != given(asked) {
                differing = Some((place, wanted));
                break;
            }
        }
        let Some((place, wanted)) = differing else { return Some(tried) };
        stepper.take_back();
        // The machine does not take an answer that it has been given already.
        if answers.insert(place, wanted).is_some() {
            return None;
        }
    }
}

/// The answer that a step of the run has to a question; none if it has none. Each of its inputs is an answer once.
fn answer(step: &ConcreteStep, asked: &Asked, used: &mut [bool]) -> Option<Answer> {
    match asked {
        Asked::Input { source, mask, .. } => {
            let mut inputs = step.inputs.iter().zip(used);
            let (input, used) = inputs.find(|((of, bits, _), used)| !**used && of == source && bits & mask == *mask)?;
            *used = true;
            Some(Answer::Input(input.2 & mask))
        }
        Asked::Choice { .. } => step.happening.map(Answer::Happening),
    }
}

/// The answer that a question was given.
fn given(asked: &Asked) -> Answer {
    match asked {
        Asked::Input { value, .. } => Answer::Input(*value),
        Asked::Choice { chosen, .. } => Answer::Happening(*chosen),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{BRANCH, Case};
    use avr_isa::FlashWordAddress;
    use avr_machine::Machine;
    use avr_model::Firmware;
    use avr_symbolic::{Feasibility, Graph, QueryLimits, Waypoint, feasibility, power_on};

    /// A run of the sample that comes to the branch and then to some places of `main`.
    fn run(machine: &Machine, behind: &[u32]) -> ConcreteRun {
        let graph = Graph::new(100_000);
        let at = |depth: usize| move |pc: u32| Waypoint::Place { pc: FlashWordAddress(pc), depth };
        let way: Vec<Waypoint> = (0x34..=0x3a).map(at(0)).chain((0x40..=0x42).map(at(1))).collect();
        let way: Vec<Waypoint> = way.into_iter().chain(behind.iter().copied().map(at(1))).collect();
        match feasibility(machine, &graph, power_on(machine, &graph), &way, QueryLimits::default()) {
            Some(Feasibility::Feasible(Some(run))) => *run,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_a_run_that_the_machine_takes_refutes() {
        let case = Case::new(BRANCH.0, BRANCH.1, "AG PORTD != 1");
        let firmware = Firmware::new(&case.machine, &case.atoms);
        let context = &firmware.model.context;
        let aim = Aim::new(context, 0, &case.goal).expect("one state refutes it");
        let is_refuted = |run: &ConcreteRun| walked(context, &aim, run).is_some();
        let one = run(&case.machine, &[0x44, 0x45, 0x46]);
        assert!(is_refuted(&one));
        assert!(!is_refuted(&run(&case.machine, &[0x43, 0x47, 0x48, 0x49])));

        let pin = one.steps.iter().rposition(|step| !step.inputs.is_empty()).expect("the pin is asked for");
        let mut other = one.clone();
        other.steps[pin].inputs[0].2 = 0;
        assert!(!is_refuted(&other));
        other.steps[pin].inputs.clear();
        assert!(!is_refuted(&other));
    }
}
