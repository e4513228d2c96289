//! The property files of the firmware samples bind to the images that they were written for.

use std::path::PathBuf;

use avr_image::{Image, LoadOptions};
use avr_properties::{AtomTable, Binding, PropertyFile, bind};
use serde::Deserialize;

use super::support::device;

#[derive(Deserialize)]
struct Sample {
    sample: String,
    images: Vec<(String, String)>,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &PathBuf) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_sample_binds() {
    let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    let samples: Vec<Sample> =
        options.from_str(&read(&root().join("firmware-samples/expected.ron"))).expect("it is RON");
    let mut bound = 0;
    for sample in &samples {
        for (image, properties) in &sample.images {
            bound += check(&format!("firmware-samples/{}/{image}", sample.sample), properties);
        }
    }
    assert!(bound > 100, "only {bound} properties");
}

/// Binds all properties. Returns their number.
fn check(image: &str, properties: &str) -> usize {
    let file = PropertyFile::parse(properties, &read(&root().join("properties").join(properties)));
    let file = file.unwrap_or_else(|error| panic!("{error}"));
    let device = device(file.device.as_deref().unwrap_or("atmega328p"));
    let mut options = LoadOptions::new(device.memory.flash_bytes, device.memory.eeprom_bytes.into());
    options.start.0 = file.start_address(device, None);
    let image = Image::load(root().join(image), &options).unwrap_or_else(|error| panic!("{error}"));
    let mut table = AtomTable::new();
    for property in &file.properties {
        let bound = bind(
            property,
            &file.definitions,
            &Binding {
                device,
                image: &image,
                start: 0,
                ends_paths: false,
                stacks: &file.stacks,
                boot_start: file.boot_start(device),
            },
            &mut table,
        );
        bound.unwrap_or_else(|error| panic!("{}: {error}", image.name));
    }
    file.properties.len()
}
