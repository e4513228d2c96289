//! Tests of systems: known ones, wrong files, and random ones against a composition of concrete states.

mod files;
mod lines;
mod pins;
mod small;

use std::collections::BTreeMap;

use avr_image::Image;
use avr_isa::Instruction;
use avr_machine::device::Device;
use avr_properties::{PropertyFile, Setting};
use avr_testkit::image::{encoded, image};

use crate::{Limits, Results, System, SystemFile, Verdict};

/// The results of a system of programs of a device.
#[track_caller]
pub(super) fn results(text: &str, device: &str, programs: &[Vec<Instruction>]) -> Results {
    let file = SystemFile::parse(text).expect("the file is a system");
    let device = Device::named(device).expect("there is such a device");
    let images: Vec<Image> = programs
        .iter()
        .map(|program| image(&program.iter().flat_map(|instruction| encoded(*instruction)).collect::<Vec<u16>>()))
        .collect();
    let properties = PropertyFile::parse("a.ron", "()").expect("it says nothing");
    let eeprom = BTreeMap::new();
    let settings: Vec<Setting<'_>> =
        images.iter().map(|image| Setting { image, device, start: None, file: &properties, eeprom: &eeprom }).collect();
    let system = System::bind(&file, &settings).expect("it can be bound");
    system.verify(Limits::default(), &|| false)
}

/// The verdicts as letters: h, v or u.
pub(super) fn letters(results: &Results) -> String {
    let letter = |verdict: &Verdict| match verdict {
        Verdict::Holds => 'h',
        Verdict::Violated(_) => 'v',
        Verdict::Unknown(_) => 'u',
    };
    results.properties.iter().map(|result| letter(&result.verdict)).collect()
}
