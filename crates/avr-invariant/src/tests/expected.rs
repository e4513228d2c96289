//! Maps against the verdicts that are known of samples and regressions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use avr_image::{Image, LoadOptions};
use avr_machine::Machine;
use avr_machine::device::Device;
use avr_properties::{PropertyFile, Setting, application_hex};
use avr_testkit::Part;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::check::check;
use crate::faults::{Fault, with_fault};
use crate::gap::{Cycle, Reason};
use crate::pass::{Analysis, Options, analyse};

/// An entry of `firmware-samples/expected.ron`, as far as it matters here.
#[derive(Deserialize)]
struct Sample {
    sample: String,
    device: String,
    images: Vec<(String, String)>,
    #[serde(default)]
    verdicts: BTreeMap<String, String>,
    stack: Option<u32>,
}

/// An entry of `tests/regressions/expected.ron`, as far as it matters here.
#[derive(Deserialize)]
struct Regression {
    image: String,
    property: String,
    verdict: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn entries<T: DeserializeOwned>(file: &str) -> Vec<T> {
    let text = std::fs::read_to_string(root().join(file)).expect("the file is there");
    let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    options.from_str(&text).expect("the file has the form that its head describes")
}

/// An image and the machine that executes it, with the text of a property file.
fn machine(path: &Path, properties: &str, device: &str) -> (Image, Machine) {
    let device = Device::named(device).expect("the device exists");
    let mut options = LoadOptions::new(device.memory.flash_bytes, device.memory.eeprom_bytes.into());
    let mut file = PropertyFile::parse("properties", properties).expect("it is a property file");
    options.start.0 = file.start_address(device, None);
    let image = Image::load(path, &options).expect("it is an image");
    if let Some(name) = file.missing_application().map(str::to_owned) {
        let bytes = std::fs::read(root().join("properties").join(&name)).expect("it is there");
        file.add_application(application_hex(&name, &bytes).expect("it is an application"));
    }
    let setting = Setting { image: &image, device, start: None, file: &file, eeprom: &BTreeMap::new() };
    let machine = setting.machine().expect("the property file fits the image");
    (image, machine)
}

/// What is found of an image with the text of a property file.
fn analysed(path: &Path, properties: &str, device: &str) -> (Image, Analysis) {
    let (image, machine) = machine(path, properties, device);
    let found = analyse(&machine, &Options::default());
    (image, found)
}

#[test]
fn maps_of_samples_contradict_no_verdict() {
    let (mut agreed, mut exact) = (0, 0);
    let part = Part::selected();
    for Sample { sample, device, images, verdicts, stack } in
        part.take(entries::<Sample>("firmware-samples/expected.ron"))
    {
        for (image, properties) in images.iter().filter(|(image, _)| !image.contains(".Og.")) {
            let properties = std::fs::read_to_string(root().join("properties").join(properties)).expect("it is there");
            let file = PropertyFile::parse("properties", &properties).expect("it is a property file");
            if !file.machines.is_empty() || !file.stacks.is_empty() {
                // Maps know neither machines that drive inputs nor the stacks of tasks.
                continue;
            }
            let path = root().join("firmware-samples").join(&sample).join(image);
            let (_, found) = analysed(&path, &properties, &device);
            let Ok(claims) = found.outcome else { continue };
            let bound = claims.stack_bound();
            assert!(bound.is_none_or(|bound| stack.is_none_or(|deepest| deepest <= bound)), "{image}: {bound:?}");
            if let Some(inherent) = verdicts.get("inherent") {
                assert!(inherent == "holds" || !claims.has_no_hazard(), "{image} is violated");
                agreed += usize::from(inherent == "holds" && claims.has_no_hazard());
            }
            exact += usize::from(stack.is_some() && bound == stack);
        }
    }
    let least = part.at_least(60);
    assert!(agreed >= least && exact >= least, "only {agreed} verdicts and {exact} bounds are found");
}

/// The map of a sample within some steps for further attempts.
fn of_sample(sample: &str, further: usize) -> (Machine, Analysis) {
    let path = root().join(format!("firmware-samples/{sample}/{sample}.Os.elf"));
    let (_, machine) = machine(&path, "()", "atmega328p");
    let found = analyse(&machine, &Options { further, ..Options::default() });
    (machine, found)
}

#[test]
fn maps_with_nested_handlers_are_closed() {
    for (sample, bound) in [("nested-bounded", 14), ("sketch-software-serial", 15)] {
        let claims = of_sample(sample, 0).1.outcome.unwrap_or_else(|gap| panic!("{sample}: {gap}"));
        assert_eq!(claims.stack_bound(), Some(bound), "{sample}");
    }
    let gap = of_sample("nested-unbounded", 100_000).1.outcome.expect_err("it has no bound");
    assert_eq!(gap.reason, Reason::Nested(Cycle(vec![1]), 8));
}

#[test]
fn partitions_on_demand_close_maps() {
    for (sample, bound) in [("sketch-print", 9), ("packet-repaired", 13), ("copy-text", 4), ("pin-table", 4)] {
        let (_, without) = of_sample(sample, 0);
        assert!(without.outcome.is_err(), "{sample} needs no partitions");
        let claims = of_sample(sample, 100_000).1.outcome.unwrap_or_else(|gap| panic!("{sample}: {gap}"));
        assert!(claims.has_no_hazard(), "{sample}: {:?}", claims.marks);
        assert_eq!(claims.stack_bound(), Some(bound), "{sample}");
    }
}

#[test]
fn what_partitions_do_not_help_is_named_as_before() {
    let [before, after] = [0, 100_000].map(|further| of_sample("packet-overflow", further).1);
    assert_eq!(before.outcome.expect_err("it is violated"), after.outcome.expect_err("it is violated"));
    assert!(after.steps > before.steps && after.steps <= before.steps + 110_000, "{} steps", after.steps);
}

#[test]
fn each_case_of_a_state_that_is_split_must_be_covered() {
    let (machine, found) = of_sample("pin-table", 100_000);
    let accepted = |number: usize| {
        let mut map = found.map.clone();
        map.entries.remove(number);
        check(&machine, &mut map).is_ok()
    };
    let mut all = 0..found.map.entries.len();
    assert!(!all.clone().any(accepted), "a map is accepted without one of its states");
    assert!(all.any(|number| with_fault(Fault::CasesForgotten, || accepted(number))), "the fault is not found");
}

#[test]
fn maps_of_regressions_contradict_no_verdict() {
    let mut agreed = 0;
    for Regression { image, property, verdict } in entries::<Regression>("tests/regressions/expected.ron") {
        if image == "tiny-part" {
            continue;
        }
        let path = root().join("tests/regressions/images").join(format!("{image}.elf"));
        let (loaded, found) = analysed(&path, "()", "atmega328p");
        let Ok(claims) = found.outcome else { continue };
        let is_proved = match property.as_str() {
            "Inherent()" => claims.has_no_hazard(),
            "Never(check: \"pc == reached\")" => {
                let symbol = loaded.symbols.find("reached").expect("the label exists");
                let address = symbol.place.flash().expect("it is in the flash");
                !found.map.entries.iter().any(|entry| entry.place.address() == address)
            }
            other => match other.strip_prefix("Stack(max_bytes: ").and_then(|rest| rest.strip_suffix(')')) {
                Some(bytes) => claims.stack_bound() <= bytes.parse().ok() && claims.stack_bound().is_some(),
                None => continue,
            },
        };
        assert!(!is_proved || verdict == "holds", "{image}: {property} is violated");
        agreed += usize::from(is_proved);
    }
    assert!(agreed >= 8, "only {agreed} verdicts are found");
}
