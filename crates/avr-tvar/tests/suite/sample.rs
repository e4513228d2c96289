//! The samples in `firmware-samples/`, what is expected of them, and requests about them.

#![allow(dead_code, reason = "each file of tests uses a part")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use avr_image::{FlashByteAddress, Image, LoadOptions};
use avr_machine::device::Device;
use avr_properties::{PropertyFile, SpecificationAutomaton, application_hex};
use avr_verify::{Exhausted, Progress, Request, Watch};
use serde::Deserialize;

/// An entry of `expected.ron`; the file explains the fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    pub sample: String,
    pub device: String,
    pub images: Vec<(String, String)>,
    /// `holds` or `violated`.
    pub verdicts: BTreeMap<String, String>,
    pub stack: Option<u32>,
    pub hazard: Option<String>,
    pub limit: Option<String>,
    #[serde(default)]
    pub model: Vec<String>,
    #[serde(default)]
    pub claims: Vec<String>,
}

/// All entries of `expected.ron`.
pub fn samples() -> Vec<Sample> {
    let text = std::fs::read_to_string(root().join("firmware-samples/expected.ron")).expect("the file is there");
    let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    options.from_str(&text).expect("the file has the form that its head describes")
}

/// The repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

impl Sample {
    /// True if an image belongs to the selected size of tests. The short one has no sample that may stay unknown, and
    /// of the others one image that was built for size, or the only one.
    pub fn is_selected(&self, image: &str) -> bool {
        let is_one_of_several =
            [".Og.elf", ".Og.hex", ".Os.hex", ".O2.elf", ".O2.hex"].iter().any(|ending| image.ends_with(ending));
        avr_testkit::Size::selected() == avr_testkit::Size::Long || self.limit.is_none() && !is_one_of_several
    }

    /// One of its images with a property file.
    pub fn load(&self, image: &str, properties: &str) -> Firmware {
        let path = root().join("firmware-samples").join(&self.sample).join(image);
        Firmware::load(&path, &self.device, properties)
    }
}

/// An image with what is to be verified of it.
pub struct Firmware {
    pub image: Image,
    pub device: &'static Device,
    pub file: PropertyFile,
}

impl Firmware {
    /// Reads an image, and a file in `properties/`.
    pub fn load(image: &Path, device: &str, properties: &str) -> Self {
        let device = Device::named(device).expect("the device exists");
        let text = std::fs::read_to_string(root().join("properties").join(properties)).expect("the file is there");
        let mut file = PropertyFile::parse(properties, &text).unwrap_or_else(|error| panic!("{error}"));
        for name in file.missing_specifications() {
            let text = std::fs::read_to_string(root().join("properties").join(&name)).expect("the file is there");
            let automaton = SpecificationAutomaton::parse(&name, &text).unwrap_or_else(|error| panic!("{error}"));
            file.add_specification(&name, automaton);
        }
        if let Some(name) = file.missing_application().map(str::to_owned) {
            let bytes = std::fs::read(root().join("properties").join(&name)).expect("the file is there");
            file.add_application(application_hex(&name, &bytes).unwrap_or_else(|error| panic!("{error}")));
        }
        let mut options = LoadOptions::new(device.memory.flash_bytes, device.memory.eeprom_bytes.into());
        options.start = FlashByteAddress(file.start_address(device, None));
        let image = Image::load(image, &options).unwrap_or_else(|error| panic!("{error}"));
        Self { image, device, file }
    }

    /// The request to verify it.
    pub fn request(&self) -> Request<'_> {
        Request::of(&self.image, self.device, &self.file)
    }
}

/// A limit on the states that an analysis may reach. Time is no limit, so that outcomes do not depend on the machine.
pub struct StateLimit(pub usize);

impl Watch for StateLimit {
    fn check(&self, progress: &Progress) -> Option<Exhausted> {
        (progress.states > self.0).then_some(Exhausted::Memory(0))
    }

    fn cancelled(&self) -> bool {
        false
    }
}
