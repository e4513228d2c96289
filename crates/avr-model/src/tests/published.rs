//! The counts of the paper's Table 2: its implementation does not give a state the precision of those that cover it, so
//! it makes more refinements than the strategy *paper*. A system that admits no covering shows that nothing else differs.

use crate::Firmware;
use crate::state::{AbstractState, Location, PrecisionLookup};
use avr_image::{FlashWordAddress, Image, LoadOptions};
use avr_machine::device::Device;
use avr_machine::{Machine, Options, Program};
use avr_properties::{AtomTable, Binding, PropertyFile, bind};
use mu_calculus::{AtomId, Formula, Modality, NormalForm};
use std::path::Path;
use three_valued::Truth;
use tvar::{
    Abstraction, Blame, Candidate, Goal, HyperEdges, LocationPrecision, StateKind, StepPrecision, Strategy, System,
    Unlimited, Unobserved,
};

/// Firmware where no state covers another.
struct Apart<'a>(Firmware<'a>);

impl System for Apart<'_> {
    type State = AbstractState;
    type Location = Location;

    fn initial(&mut self) -> AbstractState {
        self.0.initial()
    }

    fn location(&self, state: &AbstractState) -> Location {
        self.0.location(state)
    }

    fn expand(&mut self, state: &AbstractState, precision: &LocationPrecision, edges: &mut HyperEdges<AbstractState>) {
        self.0.expand(state, precision, edges);
    }

    fn decay(&mut self, state: AbstractState, precision: &StepPrecision) -> AbstractState {
        self.0.decay(state, precision)
    }

    fn covers(&self, coarse: &AbstractState, fine: &AbstractState) -> bool {
        coarse == fine
    }

    fn label(&self, state: &AbstractState, atom: AtomId) -> Truth {
        self.0.label(state, atom)
    }

    fn kind(&self, state: &AbstractState) -> StateKind {
        self.0.kind(state)
    }

    fn blame(
        &mut self,
        path: &[AbstractState],
        cause: Blame,
        precision: &PrecisionLookup<'_>,
    ) -> Vec<Candidate<Location>> {
        self.0.blame(path, cause, precision)
    }
}

impl Abstraction for Apart<'_> {}

/// Proves the inherent property of an image; the refinements and states of the strategy *paper*.
#[track_caller]
fn check(image: &str, expected: (usize, usize)) {
    let device = Device::named("atmega328p-gpio").expect("a device of the tables");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks/firmware").join(image);
    let options = LoadOptions::new(device.memory.flash_bytes, device.memory.eeprom_bytes.into());
    let image = Image::load(path, &options).expect("an image of the comparison");
    let word = |address: u32| image.program.word(FlashWordAddress(address));
    let program = Program::decode(device.memory.flash_words(), device.core.features, word);
    let machine = Machine::new(device, program, Options::default());
    let file = PropertyFile::parse("inherent", "(properties: [Inherent()])").expect("a property file");
    let mut table = AtomTable::default();
    let binding = Binding { device, image: &image, start: 0, ends_paths: false, stacks: &[], boot_start: None };
    let bound = bind(&file.properties[0], &file.definitions, &binding, &mut table).expect("nothing is named");
    let after_start = Formula::Modal(Modality::Box, Box::new(bound.formula));
    let formula = NormalForm::new(&after_start).expect("the formula is closed");
    let atoms = table.atoms();
    let goals = [Goal { formula, observes_hazards: true }];
    let mut apart = Apart(Firmware::new(&machine, atoms));
    let outcome = tvar::verify(&mut apart, &mut Unobserved, atoms.len(), &goals, Strategy::Paper, &Unlimited);
    let decision = &outcome.decisions[0];
    assert_eq!(decision.verdict, Truth::True);
    assert_eq!((decision.refinements, decision.space.states.len()), expected);
}

/// Release builds: 45 in the paper. The debug build, with 576 here and there, takes ten seconds more.
#[test]
fn factorial_takes_the_published_number_of_refinements() {
    check("factorial-3-bits.Os.hex", (45, 2_464));
}
