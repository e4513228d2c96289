//! Evidence is found for what the samples violate, and a wrong proof is noticed: the faults are injected here.

use crate::concretise::Walker;
use crate::evidence::{EvidenceKind, Search};
use crate::find::{Game, find};
use crate::minimise::Minimiser;
use crate::replay::confirm;
use avr_image::{DataAddress, FlashWordAddress, Image, LoadOptions};
use avr_machine::device::Device;
use avr_machine::{Machine, Options, Program};
use avr_model::Firmware;
use avr_model::state::AbstractState;
use avr_properties::{Atom, AtomTable, Binding, Definitions, Property, bind};
use mu_calculus::{Formula, Modality, NormalForm};
use std::path::Path;
use std::sync::Arc;
use three_valued::Truth;
use tvar::{Decision, Goal, Strategy, Unlimited, Unobserved};

/// An image with a property on it.
pub(crate) struct Case {
    pub(crate) machine: Machine,
    pub(crate) atoms: Vec<Atom>,
    pub(crate) goal: Goal,
}

impl Case {
    pub(crate) fn new(image: &str, device: &str, formula: &str) -> Self {
        let device = Device::named(device).expect("a device of the tables");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../firmware-samples").join(image);
        let options = LoadOptions::new(device.memory.flash_bytes, device.memory.eeprom_bytes.into());
        let image = Image::load(path, &options).expect("a sample");
        let property = Property::from_command_line(formula).expect("a property");
        let mut table = AtomTable::default();
        let bound = bind(
            &property,
            &Definitions::default(),
            &Binding { device, image: &image, start: 0, ends_paths: false, stacks: &[], boot_start: None },
            &mut table,
        );
        let formula = Formula::Modal(Modality::Box, Box::new(bound.expect("it binds").formula));
        let goal = Goal { formula: NormalForm::new(&formula).expect("it translates"), observes_hazards: false };
        let word = |address: u32| image.program.word(FlashWordAddress(address));
        let program = Program::decode(device.memory.flash_words(), device.core.features, word);
        Self { machine: Machine::new(device, program, Options::default()), atoms: table.atoms().to_vec(), goal }
    }

    /// Decides the property, lets `tamper` change what came of it, and looks for evidence.
    fn find<'a>(&'a self, tamper: impl FnOnce(&mut Firmware<'a>, &mut Decision<AbstractState>)) -> Search {
        let mut firmware = Firmware::new(&self.machine, &self.atoms);
        let goals = std::slice::from_ref(&self.goal);
        let mut outcome =
            tvar::verify(&mut firmware, &mut Unobserved, self.atoms.len(), goals, Strategy::Default, &Unlimited);
        let mut decision = outcome.decisions.remove(0);
        tamper(&mut firmware, &mut decision);
        find(&firmware.model.context, &self.goal, &decision, &Unlimited)
    }
}

pub(crate) const BRANCH: (&str, &str) = ("branch/branch.Og.elf", "atmega328p-gpio");
const BLINK: (&str, &str) = ("blink/blink.Og.elf", "atmega328p-gpio");

/// Expects a run of this kind that claims this.
#[track_caller]
fn check((image, device): (&str, &str), formula: &str, kind: EvidenceKind, claim: &str) {
    let case = Case::new(image, device, formula);
    match case.find(|_, _| {}) {
        Search::Found(evidence) => {
            assert!(evidence.replayed);
            assert_eq!((evidence.kind, evidence.claim.as_str()), (kind, claim));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn violations_and_what_exists_have_runs() {
    use EvidenceKind::{Lasso, Path};
    check(BRANCH, "AG PORTD == 0", Path, "after 13 steps 'PORTD == 0' is false");
    check(BRANCH, "EF PORTD == 1", Path, "after 13 steps 'PORTD == 1' is true");
    check(
        BRANCH,
        "AF PORTD == 1",
        Lasso,
        "from step 14 on the same 1 step repeat for ever, and 'PORTD == 1' stays false",
    );
    check(BRANCH, "AG EF PORTD == 0", Path, "after 13 steps 'EF (PORTD == 0)' does not hold");
    check(BRANCH, "EF AG PORTD == 2", Path, "after 14 steps 'AG (PORTD == 2)' holds");
    check(BRANCH, "E[PORTD == 0 U PORTD == 1]", Path, "after 13 steps 'PORTD == 1' is true");
    check(BRANCH, "AX AX AX false", Path, "after 3 steps the claim is shown");
    check(BRANCH, "PORTD == 1", Path, "in the first state 'PORTD == 1' is false");
    check(BRANCH, "EF PORTD == 3", Path, "in the first state 'EF (PORTD == 3)' does not hold");
}

#[test]
fn nested_fixed_points_end_in_a_loop_that_shows_them() {
    let case = Case::new(BLINK.0, BLINK.1, "mu X. nu Y. []X || (PORTB == 0x20 && []Y)");
    let Search::Found(evidence) = case.find(|_, _| {}) else { panic!("no run") };
    assert_eq!(evidence.kind, EvidenceKind::Lasso);
    assert!(evidence.proved.is_empty(), "{:?}", evidence.proved);
}

#[test]
fn what_a_run_does_not_need_is_left_out() {
    let case = Case::new(BRANCH.0, BRANCH.1, "EF PORTD == 1");
    let mut firmware = Firmware::new(&case.machine, &case.atoms);
    let goals = std::slice::from_ref(&case.goal);
    let outcome = tvar::verify(&mut firmware, &mut Unobserved, case.atoms.len(), goals, Strategy::Default, &Unlimited);
    let decision = &outcome.decisions[0];
    let game = Game::free(&case.goal, decision, decision.solution.as_ref().expect("it was solved"));
    let strategy = super::strategy::Strategy::new(game.problem(&case.goal), &game.solution);
    let states = &decision.space.states;
    let context = &firmware.model.context;
    let walker = Walker { context, states, strategy: &strategy, watch: &Unlimited };
    let start = walker.start().expect("it starts");
    let Ok(mut walked) = walker.walk(start) else { panic!("there is no run") };
    // The content of r5 and of a cell do not matter; the pin at step 10 does.
    walked.run.initial.extend([(DataAddress(5), 9), (DataAddress(0x123), 1)]);
    walked.last = None;
    let formula = &case.goal.formula;
    let confirmed = confirm(context, formula, true, &walked, &Unlimited).expect("the run shows it");
    let minimiser = Minimiser { context, formula, value: true, watch: &Unlimited };
    let (smaller, confirmed) = minimiser.minimise(walked, confirmed);
    assert!(confirmed.alone && smaller.run.initial.is_empty(), "{:?}", smaller.run.initial);
    assert_eq!(smaller.run.chosen.iter().map(|(step, _)| *step).collect::<Vec<_>>(), [10]);
}

#[test]
fn what_holds_on_all_paths_has_no_run() {
    for formula in ["AG PORTD != 3", "AF PORTD != 0", "AG EF true"] {
        let case = Case::new(BRANCH.0, BRANCH.1, formula);
        assert!(matches!(case.find(|_, _| {}), Search::NotNeeded), "{formula}");
    }
}

/// Expects that a fault is noticed.
#[track_caller]
fn check_fault<'a>(case: &'a Case, tamper: impl FnOnce(&mut Firmware<'a>, &mut Decision<AbstractState>), told: &str) {
    match case.find(tamper) {
        Search::Failed(reason, _) => assert!(reason.contains(told), "{reason}"),
        other => panic!("the fault was not noticed: {other:?}"),
    }
}

#[test]
fn wrong_labels_are_noticed() {
    let case = Case::new(BRANCH.0, BRANCH.1, "AG PORTD == 0");
    let wrong = Case::new(BRANCH.0, BRANCH.1, "AG PORTD < 200");
    // The proof was made with other labels than those of the concrete states.
    check_fault(&case, |firmware, _| firmware.model.context.atoms = &wrong.atoms, "the proof says that");
    let lasso = Case::new(BRANCH.0, BRANCH.1, "AF PORTD == 1");
    let always = Case::new(BRANCH.0, BRANCH.1, "AF PORTD < 200");
    check_fault(&lasso, |firmware, _| firmware.model.context.atoms = &always.atoms, "the proof says that");
}

#[test]
fn states_that_do_not_cover_the_run_are_noticed() {
    let case = Case::new(BRANCH.0, BRANCH.1, "AG PORTD == 0");
    let exchange = |decision: &mut Decision<AbstractState>, one: usize, other: usize| {
        Arc::make_mut(&mut decision.space).states.swap(one, other);
    };
    check_fault(&case, |_, decision| exchange(decision, 3, 4), "no inputs take the concrete run");
    check_fault(&case, |_, decision| exchange(decision, 1, 2), "no initial content");
}

#[test]
fn a_verdict_that_is_turned_round_is_noticed() {
    let case = Case::new(BRANCH.0, BRANCH.1, "EF PORTD == 1");
    check_fault(&case, |_, decision| decision.verdict = Truth::False, "on the run, and not false");
}
