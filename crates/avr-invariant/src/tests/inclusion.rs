//! Runs of the samples stay inside of their maps.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use avr_image::{Image, LoadOptions};
use avr_machine::Machine;
use avr_machine::device::Device;
use avr_properties::{PropertyFile, Setting};
use avr_testkit::{Part, cases};

use super::runs::compare;
use crate::faults::{Fault, with_fault};
use crate::pass::{Analysis, Options, analyse};

/// The images of the samples that were built for size, or by hand.
fn samples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../firmware-samples");
    let list = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        entries.map(|entry| entry.expect("it can be listed").path()).collect()
    };
    let mut images: Vec<PathBuf> = list(&folder).iter().flat_map(|sample| list(sample)).collect();
    let is_wanted = |path: &PathBuf| {
        let name = path.to_string_lossy();
        // Boot loaders do not begin at 0.
        let begins_elsewhere = name.contains("/boot-flag") || name.contains("/boot-serial");
        name.ends_with(".elf") && !name.ends_with(".Og.elf") && !name.contains("recursion") && !begins_elsewhere
    };
    images.retain(is_wanted);
    images.sort();
    images
}

fn machine(path: &Path) -> Machine {
    let device = Device::named("atmega328p").expect("the device exists");
    let options = LoadOptions::new(device.memory.flash_bytes, device.memory.eeprom_bytes.into());
    let image = Image::load(path, &options).expect("it is an image");
    let file = PropertyFile::parse("properties", "()").expect("it is a property file");
    let setting = Setting { image: &image, device, start: None, file: &file, eeprom: &BTreeMap::new() };
    setting.machine().expect("nothing is assumed")
}

/// The first contradiction between runs of an image and its map; none if the map is open.
fn contradiction(machine: &Machine, runs: u64, steps: usize) -> Option<String> {
    let Analysis { map, outcome, .. } = analyse(machine, &Options::default());
    let claims = outcome.ok()?;
    (0..runs).find_map(|seed| {
        let compared = compare(machine, &map, &claims, seed, [1, 3, 20, 200][seed as usize % 4], steps);
        compared.err().map(|problem| format!("seed {seed}: {problem}"))
    })
}

#[test]
fn runs_of_samples_stay_inside_of_their_maps() {
    let (runs, steps) = (cases(3, 40), cases(1_500, 30_000) as usize);
    for path in Part::selected().take(samples()) {
        let problem = contradiction(&machine(&path), runs, steps);
        assert_eq!(problem, None, "{}", path.display());
    }
}

/// Faults that runs of samples contradict.
const CONTRADICTED: [(Fault, &str); 4] = [
    (Fault::InterferenceForgotten, "timer-blink"),
    (Fault::ClosedAtJumps, "usart-echo"),
    (Fault::EntryForgotten, "usart-echo"),
    (Fault::NothingRenamed, "usart-echo"),
];

#[test]
fn runs_of_samples_find_faults() {
    for (fault, sample) in CONTRADICTED {
        let image = format!("../../firmware-samples/{sample}/{sample}.Os.elf");
        let machine = machine(&Path::new(env!("CARGO_MANIFEST_DIR")).join(image));
        assert_eq!(contradiction(&machine, 8, 4_000), None, "{sample} without a fault");
        let problem = with_fault(fault, || contradiction(&machine, 8, 4_000));
        assert!(problem.is_some(), "{fault:?} is not found in {sample}");
    }
}
