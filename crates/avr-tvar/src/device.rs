//! The firmware and its device: each may tell about the other.

use std::path::Path;

use avr_image::{FlashByteAddress, Image, LoadOptions, known_part};
use avr_machine::device::Device;
use avr_properties::PropertyFile;

use crate::error::{InputError, InputErrorKind};
use crate::inputs::{Input, Inputs, Role};
use crate::output;

/// The device where nothing names one.
pub(crate) const DEFAULT: &str = "atmega328p";

/// The sources that name the device and the start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wishes<'a> {
    /// The command line's device.
    pub(crate) device: Option<&'a str>,
    /// The command line's start address in bytes.
    pub(crate) start: Option<u32>,
    /// The property file.
    pub(crate) file: Option<&'a PropertyFile>,
}

/// Loads an image where nothing else depends on its bytes: see [`load_from`].
///
/// # Errors
/// As those of [`load_from`].
pub(crate) fn load(path: &Path, wishes: Wishes<'_>) -> Result<(Image, &'static Device), InputError> {
    load_from(&mut Inputs::default(), path, wishes)
}

/// Loads an image for the device that is wished for, else the one that the image names, else the default.
///
/// # Errors
/// If the image is refused, a device does not exist, or the command line, the property file and the image contradict
/// each other.
pub(crate) fn load_from(
    inputs: &mut Inputs,
    path: &Path,
    wishes: Wishes<'_>,
) -> Result<(Image, &'static Device), InputError> {
    let wished = wishes.wished_device()?;
    let file = inputs.read(Role::Firmware, path)?;
    if let Some(device) = wished {
        return Ok((load_for(&file, device, wishes)?, device));
    }
    if let Some(name) = Image::named_device(&file.name(), &file.bytes)? {
        let device = Device::named(&name.to_ascii_lowercase());
        let device = device.map_err(|_| unsupported(file.name(), &name))?;
        return Ok((load_for(&file, device, wishes)?, device));
    }
    let default = named(DEFAULT, "the default")?;
    let image = load_for(&file, default, wishes)?;
    output::note(&format!("no device is named, so {DEFAULT} is assumed; --device names another"));
    Ok((image, default))
}

impl Wishes<'_> {
    /// The device that is wished for, else the one of a name.
    ///
    /// # Errors
    /// If a device does not exist, or the command line and the property file name different ones.
    pub(crate) fn device_or(&self, default: &str) -> Result<&'static Device, InputError> {
        self.wished_device()?.map_or_else(|| named(default, "the default"), Ok)
    }

    /// The device of the command line, or else of the property file.
    fn wished_device(&self) -> Result<Option<&'static Device>, InputError> {
        let of_file = self.file.and_then(|file| Some((file, file.device.as_deref()?)));
        if let (Some(asked), Some((file, of_file))) = (self.device, of_file) {
            check_same_part(asked, file, of_file)?;
        }
        match (self.device, of_file) {
            (Some(asked), _) => named(asked, "--device").map(Some),
            (None, Some((file, name))) => named(name, &file.name).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// The flash byte address of the first instruction.
    fn start(&self, device: &'static Device) -> u32 {
        let wished = self.start.or_else(|| self.file.and_then(|file| file.start));
        let fuses = self.file.map_or(device.default_fuses, |file| file.fuses.bytes(device.default_fuses));
        wished.unwrap_or_else(|| device.reset_vector(fuses).byte().0)
    }
}

fn load_for(file: &Input, device: &'static Device, wishes: Wishes<'_>) -> Result<Image, InputError> {
    let mut options = LoadOptions::new(device.memory.flash_bytes, device.memory.eeprom_bytes.into());
    options.start = FlashByteAddress(wishes.start(device));
    let image = Image::parse(&file.name(), &file.bytes, &options)?;
    check_supported(&image)?;
    if wishes.wished_device()?.is_some() {
        image.check_device(device.name)?;
    }
    if let Some(number) = architecture_number(device) {
        image.check_architecture(number)?;
    }
    Ok(image)
}

/// That the part that the image is for, or at least one of its family, is a known device.
fn check_supported(image: &Image) -> Result<(), InputError> {
    if let Some(name) = image.device.as_deref().filter(|name| Device::named(&name.to_ascii_lowercase()).is_err()) {
        return Err(unsupported(image.name.clone(), name));
    }
    let architecture = |name| Device::named(name).ok().and_then(architecture_number);
    match image.architecture {
        Some(number) if !Device::names().any(|name| architecture(name) == Some(number)) => {
            let part = known_part(number).unwrap_or("an unknown part");
            let part = format!("family of the {part}");
            Err(InputErrorKind::UnsupportedPart { path: image.name.clone(), part }.into())
        }
        _ => Ok(()),
    }
}

/// The number that ELF files have for the architecture of a device.
fn architecture_number(device: &Device) -> Option<u8> {
    device.core.architecture.strip_prefix("avr").and_then(|number| number.parse().ok())
}

/// That a part is none of the devices.
fn unsupported(path: String, name: &str) -> InputError {
    InputErrorKind::UnsupportedPart { path, part: part_name(name) }.into()
}

/// The name of a part as data sheets spell it: `ATmega2560` for `atmega2560`.
fn part_name(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let series = ["mega", "tiny", "xmega"].iter().find(|series| lower.starts_with(&format!("at{series}")));
    match series {
        Some(series) => format!("AT{series}{}", lower[2 + series.len()..].to_ascii_uppercase()),
        None => name.to_ascii_uppercase(),
    }
}

/// The device of a name; upper and lower case do not matter.
fn named(name: &str, origin: &str) -> Result<&'static Device, InputError> {
    let lower = name.to_ascii_lowercase();
    Device::named(&lower).map_err(|error| {
        if is_other_part(&lower) {
            return unsupported(origin.to_owned(), name);
        }
        InputErrorKind::Device { origin: origin.to_owned(), error }.into()
    })
}

/// True for the name of a part whose number is none of a device, also with the digits in another order: it is no slip.
fn is_other_part(name: &str) -> bool {
    let digits = |name: &str| {
        let mut digits: Vec<char> = name.chars().filter(char::is_ascii_digit).collect();
        digits.sort_unstable();
        digits
    };
    let is_part = ["atmega", "attiny", "atxmega", "at90"].iter().any(|series| name.starts_with(series));
    is_part && !digits(name).is_empty() && !Device::names().any(|device| digits(device) == digits(name))
}

/// That two names mean the same part: `atmega328p-gpio` is an `atmega328p` of which less is used.
fn check_same_part(asked: &str, file: &PropertyFile, of_file: &str) -> Result<(), InputError> {
    let part = |name: &str| name.split('-').next().unwrap_or_default().to_ascii_lowercase();
    if part(asked) == part(of_file) {
        return Ok(());
    }
    let (path, of_file, asked) = (file.name.clone(), of_file.to_owned(), asked.to_owned());
    Err(InputErrorKind::DifferentDevices { path, of_file, asked }.into())
}

#[cfg(test)]
mod tests {
    use super::{is_other_part, part_name};

    #[test]
    fn parts_are_spelled_as_in_data_sheets() {
        assert_eq!(part_name("atmega2560"), "ATmega2560");
        assert_eq!(part_name("attiny1614"), "ATtiny1614");
        assert_eq!(part_name("atxmega32a4"), "ATxmega32A4");
        assert_eq!(part_name("at90usb82"), "AT90USB82");
    }

    #[test]
    fn slips_are_no_other_parts() {
        assert!(is_other_part("atmega1281") && is_other_part("attiny2313") && is_other_part("at90usb82"));
        assert!(!is_other_part("atmega382p") && !is_other_part("atmega328") && !is_other_part("uno"));
    }
}
