//! The images that are looked at, and what is left out when their spaces are built.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use avr_image::{FlashByteAddress, Image, LoadOptions};
use avr_machine::device::Device;
use avr_properties::{Property, PropertyFile};
use avr_verify::Reductions;
use serde::Deserialize;

use crate::world::{World, sections};

/// An image with what is assumed of its inputs.
pub struct Subject {
    /// Its file name.
    pub name: String,
    /// Its device.
    pub device: &'static Device,
    /// The image that was loaded.
    pub image: Image,
    /// The inherent property.
    pub file: PropertyFile,
    /// The rest of the property file.
    pub world: World,
}

impl Subject {
    /// An image of which nothing is said.
    ///
    /// # Panics
    /// Never: nothing is contradicted.
    #[must_use]
    pub fn plain(name: &str, device: &'static Device, image: Image) -> Self {
        Self::with(name, device, image, ("()", Path::new(""))).expect("nothing is said")
    }

    /// An image with a property file, by the text and the folder of that. None if it assumes something of which libsimavr knows nothing.
    ///
    /// # Panics
    /// If it is no property file, or contradicts the image.
    pub(crate) fn with(
        name: &str,
        device: &'static Device,
        image: Image,
        (text, folder): (&str, &Path),
    ) -> Option<Self> {
        let mut file = PropertyFile::parse("properties", text).expect("it is a property file");
        let world = World::of(device, &image, &mut file, folder)?;
        file.properties = vec![Property::inherent()];
        Some(Self { name: name.to_owned(), device, image, file, world })
    }
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

    /// The same without what is not done for a subject: nothing is reduced where tasks have stacks of their own, and the spaces of kernels and boot
    /// loaders with all inputs split are not finished within a limit on states.
    #[must_use]
    pub fn made_for(self, subject: &Subject) -> Self {
        let reductions = if subject.world.stacks.is_empty() { self.reductions } else { Reductions::NONE };
        Self { reductions, naive: self.naive && subject.world.is_plain(), ..self }
    }

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

/// The device of most subjects.
pub const COMMON: &str = "atmega328p";

/// The other devices that libsimavr has.
pub const OTHERS: [&str; 8] =
    ["atmega2560", "attiny85", "atmega88p", "attiny13", "atmega1284p", "attiny84", "atmega32u4", "atmega168p"];

fn is_simulated(name: &str) -> bool {
    name == COMMON || OTHERS.contains(&name)
}

/// A device of these.
///
/// # Panics
/// If there is no table of it.
#[must_use]
pub fn device(name: &str) -> &'static Device {
    Device::named(name).expect("the device exists")
}

/// The repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// The regressions, and samples: those with these names, or all of devices that libsimavr has. Of each sample the ELF image that was built for size, or in
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
    let mut paths: Vec<(PathBuf, PathBuf, &'static Device)> = Vec::new();
    let is_wanted = |sample: &&Sample| {
        is_simulated(&sample.device) && names.is_none_or(|names| names.contains(sample.sample.as_str()))
    };
    for sample in samples.iter().filter(is_wanted) {
        let device = device(&sample.device);
        for (image, properties) in &sample.images {
            if full || !(image.ends_with(".hex") || image.ends_with(".Og.elf")) {
                let folder = root.join("firmware-samples").join(&sample.sample);
                paths.push((folder.join(image), root.join("properties").join(properties), device));
            }
        }
    }
    paths.sort_by(|one, other| one.0.cmp(&other.0));
    let samples = paths.into_iter().filter_map(|(path, properties, device)| subject(&path, device, &properties));
    let is_wanted = |sample: &str| names.is_none_or(|names| names.contains(sample));
    let others = OTHER_WORLDS.iter().filter(|other| is_wanted(other.0)).map(other_world);
    samples.chain(others).chain(regressions()).collect()
}

/// Boot loaders with what no property file says of them: the sample, the image, the name, and the text of a property file.
const OTHER_WORLDS: [(&str, &str, &str, &str); 3] = [
    // It reads the first word of the application.
    ("boot-serial", "boot-serial.Os.elf", "any application", "(fuses: (high: 0xd8), application: any)"),
    (
        "boot-flag",
        "boot-flag.Os.elf",
        "half a mark",
        "(fuses: (high: 0xd8), application: any, initially: [\"MCUSR & 0x02 == 2\", \"eeprom[0] & 0x0f == 5\"])",
    ),
    ("boot-flag", "boot-flag.Os.elf", "no application", "(fuses: (high: 0xd8), application: absent)"),
];

fn other_world((sample, image, name, text): &(&str, &str, &str, &str)) -> Subject {
    let path = root().join("firmware-samples").join(sample).join(image);
    let device = device(COMMON);
    let image = load(&path, device, start_in(device, text));
    Subject::with(&format!("{sample} with {name}"), device, image, (text, Path::new("")))
        .expect("libsimavr knows all of it")
}

/// The images in `tests/regressions`.
///
/// # Panics
/// If one is missing or wrong.
#[must_use]
pub fn regressions() -> Vec<Subject> {
    let folder = std::fs::read_dir(root().join("tests/regressions/images")).expect("the folder is there");
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.expect("it can be listed").path()).collect();
    paths.sort();
    let device_of = |path: &Path| device(if path.ends_with("tiny-part.elf") { "attiny85" } else { COMMON });
    paths.iter().filter_map(|path| subject(path, device_of(path), Path::new(""))).collect()
}

/// A subject, unless its property file assumes something of which libsimavr knows nothing. One whose property file says something of its world is
/// named by both.
pub(crate) fn subject(path: &Path, device: &'static Device, properties: &Path) -> Option<Subject> {
    let text = std::fs::read_to_string(properties).unwrap_or_else(|_| "()".to_owned());
    let folder = properties.parent().unwrap_or(Path::new(""));
    let name = path.file_name().expect("it has a name").to_string_lossy();
    let mut subject = Subject::with(&name, device, load(path, device, start_in(device, &text)), (&text, folder))?;
    if !subject.world.is_plain() {
        let properties = properties.file_stem().expect("it has a name").to_string_lossy();
        subject.name = format!("{name} with {properties}");
    }
    Some(subject)
}

/// The image of a file, whose first instruction is at a flash byte address.
pub(crate) fn load(path: &Path, device: &Device, start: u32) -> Image {
    let mut options = LoadOptions::new(device.memory.flash_bytes, device.memory.eeprom_bytes.into());
    options.start = FlashByteAddress(start);
    Image::load(path, &options).expect("the image loads")
}

/// Flash byte address of the first instruction by the fuses of a property file.
fn start_in(device: &Device, text: &str) -> u32 {
    sections(device, &PropertyFile::parse("properties", text).expect("it is a property file")).0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `atmega328p-gpio` is no microcontroller that libsimavr could be.
    #[test]
    fn all_devices_are_compared() {
        let missing: Vec<&str> =
            Device::names().filter(|name| !is_simulated(name) && *name != "atmega328p-gpio").collect();
        assert_eq!(missing, Vec::<&str>::new());
    }
}
