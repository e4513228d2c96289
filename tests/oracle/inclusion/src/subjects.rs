//! The images that are looked at, and what is left out when their spaces are built.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use avr_image::{Image, LoadOptions};
use avr_machine::device::Device;
use avr_properties::{Property, PropertyFile};
use avr_verify::Reductions;
use serde::Deserialize;

/// An image with what is assumed of its inputs.
pub struct Subject {
    /// Its file name.
    pub name: String,
    /// The image that was loaded.
    pub image: Image,
    /// The inherent property.
    pub file: PropertyFile,
}

/// The reductions and domains of a state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The reductions.
    pub reductions: Reductions,
    /// True if comparisons narrow what they compare, and bytes have ranges.
    pub facts: bool,
    /// True if every input is split, instead of those that the property needs: cells are known more often.
    pub naive: bool,
}

impl Selection {
    /// Everything, nothing, and all but one thing.
    pub const ALL: [Self; 7] = [
        Self::EVERYTHING,
        Self { reductions: Reductions::NONE, facts: false, ..Self::EVERYTHING },
        Self { reductions: Reductions::NONE, ..Self::EVERYTHING },
        Self { reductions: Reductions { interrupts: false, ..Reductions::ALL }, ..Self::EVERYTHING },
        Self { reductions: Reductions { paths: false, ..Reductions::ALL }, ..Self::EVERYTHING },
        Self { reductions: Reductions { handlers: false, ..Reductions::ALL }, facts: false, naive: false },
        Self { reductions: Reductions::NONE, facts: true, naive: true },
    ];

    const EVERYTHING: Self = Self { reductions: Reductions::ALL, facts: true, naive: false };

    /// True if every state must be covered by itself.
    #[must_use]
    pub fn is_literal(self) -> bool {
        self.reductions == Reductions::NONE
    }

    /// True if interrupts are deferred, and nothing else is left out.
    #[must_use]
    pub fn leaves_interrupts_only(self) -> bool {
        self.reductions.interrupts && !self.reductions.paths
    }

    /// A name for people.
    #[must_use]
    pub fn name(self) -> String {
        let Reductions { interrupts, paths, handlers } = self.reductions;
        let parts = [
            (interrupts, "partial-order-reduction"),
            (paths, "path-compression"),
            (handlers && interrupts && paths, "handler-summaries"),
            (self.facts, "facts"),
            (self.naive, "all inputs split"),
        ];
        let names: Vec<&str> = parts.into_iter().filter_map(|(is_on, name)| is_on.then_some(name)).collect();
        if names.is_empty() { "nothing left out".to_owned() } else { names.join(", ") }
    }
}

/// The part of an entry of `firmware-samples/expected.ron` that matters here.
#[derive(Deserialize)]
struct Sample {
    sample: String,
    device: String,
    images: Vec<(String, String)>,
}

/// The repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// The regressions, and samples of the ATmega328P: those with these names, or all. Of each sample the ELF image that was built for size, or in
/// the full run all images.
///
/// # Panics
/// If a file of the repository is missing or wrong.
#[must_use]
pub fn subjects(full: bool, samples: Option<&BTreeSet<&str>>) -> Vec<Subject> {
    let root = root();
    let names = samples;
    let text = std::fs::read_to_string(root.join("firmware-samples/expected.ron")).expect("the file is there");
    let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    let samples: Vec<Sample> = options.from_str(&text).expect("the file has the form that its head describes");
    let mut paths: Vec<(PathBuf, PathBuf)> = Vec::new();
    let is_wanted = |sample: &&Sample| {
        sample.device == "atmega328p" && names.is_none_or(|names| names.contains(sample.sample.as_str()))
    };
    for sample in samples.iter().filter(is_wanted) {
        for (image, properties) in &sample.images {
            if full || !(image.ends_with(".hex") || image.ends_with(".Og.elf")) {
                let folder = root.join("firmware-samples").join(&sample.sample);
                paths.push((folder.join(image), root.join("properties").join(properties)));
            }
        }
    }
    paths.sort();
    let samples = paths.into_iter().filter_map(|(path, properties)| subject(&path, &properties));
    samples.chain(regressions()).collect()
}

/// The images in `tests/regressions`, but for that of another device.
///
/// # Panics
/// If one is missing or wrong.
#[must_use]
pub fn regressions() -> Vec<Subject> {
    let folder = std::fs::read_dir(root().join("tests/regressions/images")).expect("the folder is there");
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.expect("it can be listed").path()).collect();
    paths.retain(|path| !path.ends_with("tiny-part.elf"));
    paths.sort();
    paths.iter().filter_map(|path| subject(path, Path::new(""))).collect()
}

/// A subject, unless its property file assumes something of which libsimavr knows nothing.
pub(crate) fn subject(path: &Path, properties: &Path) -> Option<Subject> {
    let text = std::fs::read_to_string(properties).unwrap_or_else(|_| "()".to_owned());
    let mut file = PropertyFile::parse("properties", &text).expect("it is a property file");
    if !(file.assume.is_empty()
        && file.machines.is_empty()
        && file.stacks.is_empty()
        && file.environment.is_empty()
        && file.start.is_none()
        && file.initially.is_empty()
        && file.application.is_none()
        && file.eeprom.is_none())
    {
        return None;
    }
    file.properties = vec![Property::inherent()];
    let device = Device::named("atmega328p").expect("the device exists");
    let options = LoadOptions::new(device.memory.flash_bytes, device.memory.eeprom_bytes.into());
    let image = Image::load(path, &options).expect("the image loads");
    let name = path.file_name().expect("it has a name").to_string_lossy().into_owned();
    Some(Subject { name, image, file })
}
