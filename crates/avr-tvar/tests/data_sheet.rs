//! The programs in `tests/data-sheet`, each of which a sentence of a data sheet decides.

mod sample;

use avr_properties::{Property, PropertyFile};
use avr_verify::{Basis, Verdict};
use rayon::prelude::*;
use sample::{Firmware, StateLimit, root};
use serde::Deserialize;

/// The states that an analysis may reach.
const MAX_STATES: usize = 200_000;

/// An entry of `tests/data-sheet/expected.ron`; the file explains the fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    image: String,
    #[serde(default = "usual")]
    device: String,
    sheet: String,
    #[serde(default)]
    never: Vec<String>,
    #[serde(default)]
    real: Vec<String>,
    #[serde(default)]
    open: Vec<String>,
    #[serde(default)]
    hazards: Vec<(String, String, String)>,
}

fn usual() -> String {
    "atmega328p".to_owned()
}

impl Program {
    /// The properties with their verdicts.
    fn expected(&self) -> Vec<(String, &str, &str)> {
        let never = |label: &String| format!("Never(check: \"pc == {label}\")");
        let labels = |labels: &[String]| labels.iter().map(never).collect::<Vec<_>>();
        let mut all = Vec::new();
        all.extend(labels(&self.never).into_iter().map(|property| (property, "holds", "hardware")));
        all.extend(labels(&self.real).into_iter().map(|property| (property, "violated", "hardware")));
        all.extend(labels(&self.open).into_iter().map(|property| (property, "violated", "model")));
        all.extend(self.hazards.iter().map(|(property, verdict, basis)| (property.clone(), &**verdict, &**basis)));
        all
    }

    /// What is wrong with the verdicts.
    fn problems(&self) -> Vec<String> {
        let wrong = |(property, verdict, basis): (String, &str, &str)| {
            let found = self.judge(&property);
            (found != format!("{verdict} by the {basis}")).then(|| {
                format!("{}: {property} is {found}, not {verdict} by the {basis} ({})", self.image, self.sheet)
            })
        };
        self.expected().into_iter().filter_map(wrong).collect()
    }

    fn judge(&self, property: &str) -> String {
        let path = root().join("tests/data-sheet/images").join(format!("{}.elf", self.image));
        let mut firmware = Firmware::load(&path, &self.device, "inherent.ron");
        firmware.file = PropertyFile::parse("empty.ron", "()").expect("it is valid");
        firmware.file.properties.push(Property::from_command_line(property).expect("it is a property"));
        let request = avr_verify::Request { watch: &StateLimit(MAX_STATES), ..firmware.request() };
        let results = avr_verify::verify(&request).unwrap_or_else(|error| panic!("{}: {error}", self.image));
        let result = &results.properties[0];
        let verdict = match &result.verdict {
            Verdict::Holds => "holds",
            Verdict::Violated if !result.evidence.as_ref().is_some_and(|run| run.replayed) => "violated without a run",
            Verdict::Violated => "violated",
            Verdict::Unknown(_) => "unknown",
        };
        format!("{verdict} by the {}", if result.basis == Basis::Hardware { "hardware" } else { "model" })
    }
}

fn programs() -> Vec<Program> {
    let text = std::fs::read_to_string(root().join("tests/data-sheet/expected.ron")).expect("the file is there");
    let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    options.from_str(&text).expect("the file has the form that its head describes")
}

#[test]
fn programs_that_the_data_sheet_decides_are_judged_as_it_says() {
    let wanted = std::env::var("PROGRAMS").unwrap_or_default();
    let all: Vec<Program> = programs().into_iter().filter(|program| program.image.contains(&wanted)).collect();
    assert!(all.iter().map(|program| program.expected().len()).sum::<usize>() > 0, "there are no programs");
    let found: Vec<String> = all.par_iter().flat_map(Program::problems).collect();
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}
