//! The programs in `tests/data-sheet`, each of which a sentence of a data sheet decides.

use std::collections::{BTreeMap, BTreeSet};

use crate::sample::{Firmware, StateLimit, root};
use avr_machine::device::Device;
use avr_properties::{Property, PropertyFile};
use avr_testkit::{Part, Size, side_by_side};
use avr_verify::{Basis, InvariantUse, PropertyResult, Verdict};
use serde::Deserialize;

/// The states that an analysis may reach.
const MAX_STATES: usize = 200_000;
/// The same where no verdict is expected.
const FEW_STATES: usize = 5_000;

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
    #[serde(default)]
    comes: Vec<String>,
    #[serde(default)]
    may_stay_away: Vec<String>,
    #[serde(default)]
    slow: bool,
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

    /// The verdicts that differ from the expected ones.
    fn problems(&self) -> Vec<String> {
        let expected = self.expected();
        let properties: Vec<&str> = expected.iter().map(|(property, ..)| &**property).collect();
        let found = self.judge(&properties, InvariantUse::Off, MAX_STATES);
        let wrong = |((property, verdict, basis), found): (&(String, &str, &str), &String)| {
            (*found != format!("{verdict} by the {basis}")).then(|| {
                format!("{}: {property} is {found}, not {verdict} by the {basis} ({})", self.image, self.sheet)
            })
        };
        expected.iter().zip(&found).filter_map(wrong).collect()
    }

    /// The labels of which it is not shown that every run comes to them though the sheet promises it, and of which it is though the sheet does
    /// not.
    fn broken_promises(&self) -> Vec<String> {
        let is_promised = |label: &String| {
            let property = format!("AF (pc == {label})");
            self.judge(&[&property], InvariantUse::Find, MAX_STATES) == ["holds by the hardware"]
        };
        let (missing, wrong) = (self.comes.iter(), self.may_stay_away.iter());
        let all = missing.filter(|label| !is_promised(label)).chain(wrong.filter(|label| is_promised(label)));
        all.map(|label| format!("{}: {label} ({})", self.image, self.sheet)).collect()
    }

    /// The verdicts that no device of the sheet gives: a run by the hardware to a label that none comes to, and a proof that none comes to a
    /// label that one does.
    fn wrong_verdicts(&self) -> Vec<String> {
        let contrary = |(property, verdict, _): (String, &str, &str)| {
            let found = self.judge(&[&property], InvariantUse::Find, FEW_STATES).concat();
            let wrong = if verdict == "holds" { "violated by the hardware" } else { "holds by the hardware" };
            (found == wrong).then(|| format!("{}: {property} is {found} ({})", self.image, self.sheet))
        };
        self.expected().into_iter().filter_map(contrary).collect()
    }

    /// The properties that invariants prove although the sheet says otherwise, and the number of all that they prove.
    fn proved_wrongly(&self) -> (Vec<String>, usize) {
        let (mut wrong, mut proved) = (Vec::new(), 0);
        let expected = self.expected();
        let properties: Vec<&str> = expected.iter().map(|(property, ..)| &**property).collect();
        for ((property, verdict, _), found) in expected.iter().zip(self.judge(&properties, InvariantUse::Find, 0)) {
            if found.starts_with("holds") {
                proved += 1;
                if *verdict != "holds" {
                    wrong.push(format!("{}: {property} ({})", self.image, self.sheet));
                }
            }
        }
        (wrong, proved)
    }

    /// The verdict of each property and what it rests on.
    fn judge(&self, properties: &[&str], invariants: InvariantUse<'_>, states: usize) -> Vec<String> {
        let path = root().join("tests/data-sheet/images").join(format!("{}.elf", self.image));
        let mut firmware = Firmware::load(&path, &self.device, "inherent.ron");
        firmware.file = PropertyFile::parse("empty.ron", "()").expect("it is valid");
        let parsed = properties.iter().map(|text| Property::from_command_line(text).expect("it is a property"));
        firmware.file.properties.extend(parsed);
        let request = avr_verify::Request { invariants, watch: &StateLimit(states), ..firmware.request() };
        let results = avr_verify::verify(&request).unwrap_or_else(|error| panic!("{}: {error}", self.image));
        let verdict = |result: &PropertyResult| match &result.verdict {
            Verdict::Holds => "holds",
            Verdict::Violated if !result.evidence.as_ref().is_some_and(|run| run.replayed) => "violated without a run",
            Verdict::Violated => "violated",
            Verdict::Unknown(_) => "unknown",
        };
        let basis = |result: &PropertyResult| match result.basis {
            Basis::Hardware => "hardware",
            Basis::Model => "model",
        };
        results.properties.iter().map(|result| format!("{} by the {}", verdict(result), basis(result))).collect()
    }
}

/// The entries of `expected.ron` or of `open.ron`.
fn programs(file: &str) -> Vec<Program> {
    let text = std::fs::read_to_string(root().join("tests/data-sheet").join(file)).expect("the file is there");
    let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    options.from_str(&text).expect("the file has the form that its head describes")
}

#[test]
fn programs_that_the_data_sheet_decides_are_judged_as_it_says() {
    let wanted = std::env::var("PROGRAMS").unwrap_or_default();
    let is_taken =
        |program: &Program| program.image.contains(&wanted) && (!program.slow || Size::selected() == Size::Long);
    let all: Vec<Program> = programs("expected.ron").into_iter().filter(is_taken).collect();
    assert!(all.iter().map(|program| program.expected().len()).sum::<usize>() > 0, "there are no programs");
    let all = if wanted.is_empty() { Part::selected().take(all) } else { all };
    let found: Vec<String> = side_by_side(&all, Program::problems).concat();
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}

#[test]
fn what_the_data_sheet_promises_comes() {
    let all: Vec<Program> = programs("expected.ron")
        .into_iter()
        .filter(|program| !(program.comes.is_empty() && program.may_stay_away.is_empty()))
        .collect();
    assert!(all.len() >= 8);
    let broken: Vec<String> = side_by_side(&all, Program::broken_promises).concat();
    assert!(broken.is_empty(), "{broken:?}");
}

#[test]
fn invariants_are_those_of_the_sheet() {
    let all: Vec<(Vec<String>, usize)> =
        side_by_side(&Part::selected().take(programs("expected.ron")), Program::proved_wrongly);
    let (wrong, proved): (Vec<&String>, usize) =
        (all.iter().flat_map(|one| &one.0).collect(), all.iter().map(|one| one.1).sum());
    assert!(wrong.is_empty(), "{} are proved wrongly: {wrong:?}", wrong.len());
    assert!(proved >= Part::selected().at_least(100), "invariants prove {proved} properties only");
}

#[test]
fn programs_that_are_not_judged_as_the_sheet_says_are_not_judged_to_the_contrary() {
    let found: Vec<String> =
        side_by_side(&Part::selected().take(programs("open.ron")), Program::wrong_verdicts).concat();
    assert!(found.is_empty(), "{} wrong verdicts:\n{}", found.len(), found.join("\n"));
}

/// The names of the files in a folder of `tests/data-sheet` that end so, without the ending.
fn files(folder: &str, ending: &str) -> BTreeSet<String> {
    let files = std::fs::read_dir(root().join("tests/data-sheet").join(folder)).expect("the folder is there");
    let names = files.map(|file| file.expect("it can be read").file_name().into_string().expect("it is text"));
    names.filter_map(|name| name.strip_suffix(ending).map(str::to_owned)).collect()
}

/// The device of every program in `expected.ron` and `open.ron`.
fn devices_of_programs() -> BTreeMap<String, String> {
    let all = programs("expected.ron").into_iter().chain(programs("open.ron"));
    let mut devices = BTreeMap::new();
    for program in all {
        let image = program.image.clone();
        assert_eq!(devices.insert(program.image, program.device), None, "{image} has two entries");
    }
    devices
}

#[test]
fn every_program_has_a_source_an_image_and_one_entry() {
    let listed: BTreeSet<String> = devices_of_programs().into_keys().collect();
    assert_eq!(files("sources", ".S"), listed);
    assert_eq!(files("images", ".elf"), listed);
}

#[test]
fn a_fuse_gives_the_pins_of_jtag_to_the_port() {
    let path = root().join("tests/data-sheet/images/m1284-jtag-pin.elf");
    for (text, basis) in [("()", Basis::Model), ("(fuses: (high: 0xd9))", Basis::Hardware)] {
        let mut firmware = Firmware::load(&path, "atmega1284p", "inherent.ron");
        firmware.file = PropertyFile::parse("fuses.ron", text).expect("it is valid");
        firmware
            .file
            .properties
            .push(Property::from_command_line("Never(check: \"pc == high\")").expect("it is a property"));
        let results = avr_verify::verify(&firmware.request()).expect("it is verified");
        let [result] = &*results.properties else { panic!("there is one property") };
        assert!(matches!(result.verdict, Verdict::Violated), "{text}");
        assert!(result.basis == basis, "{text}");
    }
}

#[test]
fn programs_that_decide_what_device_tables_say_exist_and_are_for_that_device() {
    let devices = devices_of_programs();
    for device in Device::names().map(|name| Device::named(name).expect("a listed device")) {
        assert!(!device.deciding_programs.is_empty());
        for program in &device.deciding_programs {
            // A restriction and a variant have the programs of the device that they are made from, and its data sheet.
            let part = devices.get(*program).map(String::as_str);
            let sheet = part.and_then(|part| Device::named(part).ok()).map(|part| part.data_sheet);
            // The programs of a part that this one is like decide what both tables say alike: `avr-machine` compares them.
            let is_like = part.is_some() && part == device.like;
            assert!(
                is_like || sheet == Some(device.data_sheet),
                "{}: {program} is a program for {part:?}",
                device.name
            );
        }
    }
}
