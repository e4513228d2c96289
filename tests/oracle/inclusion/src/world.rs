//! The world of an image: where execution starts, what is given of the first state and of pins, the stacks of tasks, and the application besides
//! the image. But for the stacks, it is read from the property file without the verifier.

use std::collections::BTreeMap;
use std::path::Path;

use avr_image::{FlashByteAddress, Image, LoadOptions};
use avr_machine::StackArea;
use avr_machine::device::Device;
use avr_properties::{ApplicationContent, Assumption, PropertyFile, Setting, StartsAt, application_hex};
use fastrand::Rng;

use crate::subjects::COMMON;

/// The data address of MCUSR.
const CAUSES: u16 = 0x54;
/// The bits of the high fuse byte of the ATmega328P (data sheet, section "Fuse Bits"): BOOTRST, and BOOTSZ with its place.
const BOOTRST: u8 = 0x01;
const BOOTSZ: u8 = 0x06;
/// The beginnings of its boot section as flash byte addresses, by BOOTSZ.
const BOOT_SECTIONS: [u32; 4] = [0x7000, 0x7800, 0x7c00, 0x7e00];
/// The clock of a boot loader in libsimavr: so slow that the watchdog times out in few instructions.
const SLOW: u32 = 1_000;

/// Bits of a byte that are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    /// The address of the byte.
    pub address: u16,
    /// The values of the bits; 0 where nothing is given.
    pub value: u8,
    /// The bits that are given.
    pub mask: u8,
}

/// The content of the application section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Application {
    /// Nothing is said: there is the image, and what is merged with it.
    #[default]
    Unsaid,
    /// Erased flash.
    Absent,
    /// Anything.
    Any,
}

/// The world of an image.
#[derive(Debug, Default)]
pub struct World {
    /// Flash byte address of the first instruction.
    pub start: u32,
    /// Flash byte address of the boot section.
    pub boot: u32,
    /// The content below the boot section, besides what is merged.
    pub application: Application,
    /// The bytes of an application that is merged with the image, by flash byte address.
    pub merged: BTreeMap<u32, u8>,
    /// The stacks of tasks.
    pub stacks: Vec<StackArea>,
    /// Bits of registers and SRAM at the first start.
    pub data: Vec<Bits>,
    /// Bits of the EEPROM at the first start.
    pub eeprom: Vec<Bits>,
    /// Bits of pin registers at all times.
    pub pins: Vec<Bits>,
}

impl World {
    /// The world that a property file describes; none if it speaks of something that libsimavr does not have. `folder` is that of the file, to which the
    /// application that the file names is added.
    ///
    /// # Panics
    /// If the application cannot be read, or the property file contradicts the image.
    pub fn of(device: &'static Device, image: &Image, file: &mut PropertyFile, folder: &Path) -> Option<Self> {
        let is_told =
            file.machines.is_empty() && file.environment.is_empty() && file.start.is_none() && file.eeprom.is_none();
        if !is_told {
            return None;
        }
        let (start, boot) = sections(device, file);
        let mut world = Self { start, boot, ..Self::default() };
        if let Some(path) = file.missing_application().map(|path| folder.join(path)) {
            let bytes = std::fs::read(&path).expect("the application is there");
            file.add_application(application_hex("application", &bytes).expect("it is a program"));
            let options = LoadOptions::new(device.memory.flash_bytes, device.memory.eeprom_bytes.into());
            let application = Image::load(&path, &options).expect("it is an image");
            let at = |address| application.program.byte(FlashByteAddress(address)).map(|byte| (address, byte));
            world.merged = (0..boot).filter_map(at).collect();
        }
        world.application = match file.application.as_ref().map(|application| &application.content) {
            None | Some(ApplicationContent::File { .. }) => Application::Unsaid,
            Some(ApplicationContent::Absent) => Application::Absent,
            Some(ApplicationContent::Any) => Application::Any,
        };
        for assumption in &file.assume {
            let Assumption::Input(text) = assumption else { return None };
            let (name, value, mask) = equation(text)?;
            let register = device.register(&name).filter(|register| register.name.starts_with("PIN"))?;
            world.pins.push(Bits { address: register.address.0, value, mask });
        }
        for condition in &file.initially {
            if condition.at == StartsAt::Reset {
                return None;
            }
            let (name, value, mask) = equation(&condition.text)?;
            match element("eeprom", &name) {
                Some(address) => world.eeprom.push(Bits { address, value, mask }),
                None => {
                    let address = if name == "MCUSR" { CAUSES } else { element("mem", &name)? };
                    world.data.push(Bits { address, value, mask });
                }
            }
        }
        let setting = Setting { image, device, start: None, file, eeprom: &BTreeMap::new() };
        world.stacks.clone_from(&setting.machine().expect("the property file fits").options().stacks);
        Some(world)
    }

    /// True if the property file says nothing but what may be left out of account.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        let Self { start, boot: _, application, merged, stacks, data, eeprom, pins } = self;
        *start == 0
            && *application == Application::Unsaid
            && merged.is_empty()
            && stacks.is_empty()
            && [data, eeprom, pins].iter().all(|bits| bits.is_empty())
    }

    /// True if the run has ended: the program counter is in an application of which nothing is known.
    #[must_use]
    pub fn has_ended(&self, pc: u32) -> bool {
        self.application == Application::Any && pc < self.boot
    }

    /// The byte of the program at a flash byte address; none where nothing is known, or the flash is erased.
    #[must_use]
    pub fn byte(&self, image: &Image, address: u32) -> Option<u8> {
        image.program.byte(FlashByteAddress(address)).or_else(|| self.merged.get(&address).copied())
    }

    /// The flash as one piece. An application of which nothing is known is erased or random, by a seed.
    #[must_use]
    pub fn flash(&self, image: &Image, seed: u64) -> Vec<u8> {
        let end = image.program.ranges().last().map_or(0, |range| range.end.0);
        let mut random = Rng::with_seed(seed);
        let is_random = self.application == Application::Any && !seed.is_multiple_of(3);
        let other = |address: u32, random: u8| if is_random && address < self.boot { random } else { 0xff };
        (0..end).map(|address| self.byte(image, address).unwrap_or_else(|| other(address, random.u8(..)))).collect()
    }

    /// The arguments of the runner that say so.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let mut all = vec!["--start".to_owned(), self.start.to_string()];
        if self.start != 0 {
            all.extend(["--frequency".to_owned(), SLOW.to_string()]);
        }
        for (option, bits) in [("--data", &self.data), ("--eeprom", &self.eeprom), ("--pins", &self.pins)] {
            for Bits { address, value, mask } in bits {
                all.extend([option.to_owned(), format!("{address:x}:{value:x}:{mask:x}")]);
            }
        }
        all
    }
}

/// Flash byte addresses of the first instruction and of the boot section, by the fuses. Other devices than the ATmega328P start at 0.
///
/// # Panics
/// If another device has other fuses than those of the factory.
pub(crate) fn sections(device: &Device, file: &PropertyFile) -> (u32, u32) {
    if device.name != COMMON {
        assert_eq!(
            file.fuses.bytes(device.default_fuses),
            device.default_fuses,
            "the boot sections of the others are not known"
        );
        return (0, device.memory.flash_bytes);
    }
    let fuse = file.fuses.bytes(device.default_fuses).high;
    let boot = BOOT_SECTIONS[usize::from((fuse & BOOTSZ) >> 1)];
    (if fuse & BOOTRST == 0 { boot } else { 0 }, boot)
}

/// The name, the value and the mask of `NAME == NUMBER` or `NAME & NUMBER == NUMBER`.
fn equation(text: &str) -> Option<(String, u8, u8)> {
    let (left, value) = text.split_once("==")?;
    let (name, mask) = match left.split_once('&') {
        Some((name, mask)) => (name, byte(mask)?),
        None => (left, u8::MAX),
    };
    Some((name.trim().to_owned(), byte(value)?, mask))
}

/// The index in `NAME[INDEX]`.
fn element(name: &str, text: &str) -> Option<u16> {
    let index = text.strip_prefix(name)?.strip_prefix('[')?.strip_suffix(']')?;
    number(index)
}

fn byte(text: &str) -> Option<u8> {
    number(text).and_then(|number| number.try_into().ok())
}

fn number(text: &str) -> Option<u16> {
    let text = text.trim();
    text.strip_prefix("0x").map_or_else(|| text.parse().ok(), |digits| u16::from_str_radix(digits, 16).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_are_read() {
        assert_eq!(equation("MCUSR == 2"), Some(("MCUSR".to_owned(), 2, 0xff)));
        assert_eq!(equation("eeprom[0x10] & 0x0f == 5"), Some(("eeprom[0x10]".to_owned(), 5, 0x0f)));
        assert_eq!(equation("MCUSR < 2"), None);
        assert_eq!((element("eeprom", "eeprom[0x10]"), element("mem", "eeprom[1]")), (Some(16), None));
    }
}
