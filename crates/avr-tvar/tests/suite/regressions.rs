//! The programs in `tests/regressions`, which were judged wrongly once.

use crate::sample::{Firmware, StateLimit, root};
use avr_machine::simulator::{Simulator, Stimulus};
use avr_properties::{Property, PropertyFile};
use avr_testkit::side_by_side;
use avr_verify::{Basis, InvariantUse, Verdict};
use serde::Deserialize;

/// The states that an analysis may reach.
const MAX_STATES: usize = 200_000;
/// The steps that the simulator takes at most.
const MAX_STEPS: u32 = 3_000_000;

/// An entry of `tests/regressions/expected.ron`; the file explains the fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Regression {
    image: String,
    property: String,
    verdict: String,
    basis: Option<String>,
    #[allow(dead_code, reason = "for libsimavr")]
    observe: Option<Vec<String>>,
    #[allow(dead_code, reason = "for libsimavr")]
    deepest: Option<u32>,
    #[serde(default)]
    simulated: bool,
}

/// The difference between the verdict of a program and the expected one.
fn problem(regression: &Regression) -> Option<String> {
    let found = judge(regression, InvariantUse::Off, MAX_STATES);
    let is_right = regression.basis.as_deref().map_or_else(
        || found.starts_with(&format!("{} by", regression.verdict)),
        |basis| found == format!("{} by the {basis}", regression.verdict),
    );
    (!is_right).then(|| format!("{}: {} is {found}", regression.image, regression.property))
}

/// The verdict on a program within a limit on states.
fn judge(regression: &Regression, invariants: InvariantUse<'_>, states: usize) -> String {
    let path = root().join("tests/regressions/images").join(format!("{}.elf", regression.image));
    let mut firmware = Firmware::load(&path, "atmega328p", "inherent.ron");
    firmware.file = PropertyFile::parse("empty.ron", "()").expect("it is valid");
    firmware.file.properties.push(Property::from_command_line(&regression.property).expect("it is a property"));
    let request = avr_verify::Request { invariants, watch: &StateLimit(states), ..firmware.request() };
    let results = avr_verify::verify(&request).unwrap_or_else(|error| panic!("{}: {error}", regression.image));
    let result = &results.properties[0];
    let found = match &result.verdict {
        Verdict::Holds => "holds",
        Verdict::Violated if !result.evidence.as_ref().is_some_and(|run| run.replayed) => "violated without a run",
        Verdict::Violated => "violated",
        Verdict::Unknown(_) => "unknown",
    };
    let basis = if result.basis == Basis::Hardware { "hardware" } else { "model" };
    format!("{found} by the {basis}")
}

fn regressions() -> Vec<Regression> {
    let text = std::fs::read_to_string(root().join("tests/regressions/expected.ron")).expect("the file is there");
    let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    options.from_str(&text).expect("the file has the form that its head describes")
}

#[test]
fn programs_that_were_judged_wrongly_are_judged_rightly() {
    let all = regressions();
    assert!(all.len() >= 20, "only {} programs", all.len());
    let found: Vec<String> = side_by_side(&all, problem).into_iter().flatten().collect();
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}

#[test]
fn invariants_hold_where_the_properties_do() {
    let all = regressions();
    let is_proved = side_by_side(&all, |one| judge(one, InvariantUse::Find, 0).starts_with("holds"));
    let proved: Vec<&Regression> =
        all.iter().zip(is_proved).filter(|(_, proved)| *proved).map(|(one, _)| one).collect();
    let wrong: Vec<&&Regression> = proved.iter().filter(|one| one.verdict != "holds").collect();
    assert!(wrong.is_empty() && proved.len() >= 10, "{} are proved, {wrong:?} wrongly", proved.len());
}

/// True if our own simulator comes to the label `reached` with no input.
fn is_reached(image: &str) -> bool {
    let path = root().join("tests/regressions/images").join(format!("{image}.elf"));
    let mut firmware = Firmware::load(&path, "atmega328p", "inherent.ron");
    firmware.file = PropertyFile::parse("empty.ron", "()").expect("it is valid");
    let label =
        firmware.image.symbols.find("reached").expect("there is a label").place.flash().expect("it is in flash");
    let request = firmware.request();
    let machine = avr_verify::machine(&request).expect("it is a machine");
    let mut simulator = Simulator::new(&machine, Stimulus::default());
    for _ in 0..MAX_STEPS {
        if simulator.state().control.pc.byte().0 == label.0 {
            return true;
        }
        if simulator.step().is_err() {
            return false;
        }
    }
    false
}

#[test]
fn the_simulator_comes_where_simavr_does() {
    let simulated: Vec<Regression> = regressions().into_iter().filter(|one| one.simulated).collect();
    assert!(simulated.len() >= 2, "only {} programs", simulated.len());
    for regression in simulated {
        assert!(is_reached(&regression.image), "{}", regression.image);
    }
}
