//! The content of the EEPROM, from the file that the property file names.

use std::collections::BTreeMap;
use std::path::Path;

use avr_image::{EepromAddress, FlashByteAddress, Image, ImageErrorKind, LoadOptions, Warning};
use avr_machine::device::Device;
use avr_properties::PropertyFile;

use crate::error::{InputError, InputErrorKind};

/// The bytes that are known, by address: none without a file.
///
/// The file is Intel HEX, as `avr-objcopy` writes it (`.eep`): its addresses begin at 0. The section `.eeprom` of an ELF
/// file counts as well.
///
/// # Errors
/// When the file is refused or has content outside of the EEPROM.
pub(crate) fn content(file: &PropertyFile, device: &Device) -> Result<BTreeMap<u16, u8>, InputError> {
    let Some(name) = &file.eeprom else { return Ok(BTreeMap::new()) };
    let path = Path::new(&file.name).parent().unwrap_or(Path::new("")).join(name);
    let size = device.memory.eeprom_bytes;
    let image = load(&path, size)?;
    if image.warnings.iter().any(|warning| matches!(warning, Warning::LeftOut(_))) && image.eeprom.is_none() {
        return Err(InputErrorKind::BeyondEeprom { path: image.name, size }.into());
    }
    let byte = |address: u16| match &image.eeprom {
        Some(content) => content.byte(EepromAddress(address)),
        None => image.program.byte(FlashByteAddress(address.into())),
    };
    Ok((0..size).filter_map(|address| Some((address, byte(address)?))).collect())
}

/// Reads the file as an image whose flash is as large as the EEPROM. It need not begin at address 0.
fn load(path: &Path, size: u16) -> Result<Image, InputError> {
    let mut options = LoadOptions::new(size.into(), size.into());
    let image = Image::load(path, &options);
    match image.as_ref().map_err(|error| &error.kind) {
        Err(ImageErrorKind::NoCodeAtStart { suggestion, .. }) => {
            options.start = *suggestion;
            Ok(Image::load(path, &options)?)
        }
        Err(ImageErrorKind::NoProgram) => {
            Err(InputErrorKind::BeyondEeprom { path: path.display().to_string(), size }.into())
        }
        _ => Ok(image?),
    }
}
