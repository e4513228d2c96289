//! The content of the EEPROM, from the file that the property file names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use avr_image::{EepromAddress, FlashByteAddress, Image, ImageError, ImageErrorKind, LoadOptions, Region, Warning};
use avr_machine::device::Device;
use avr_properties::PropertyFile;

use crate::error::{InputError, InputErrorKind};
use crate::inputs::{Inputs, Role};

/// Larger files are refused; an ELF file has the program and its debug information beside the EEPROM.
const MAX_FILE_BYTES: u64 = 1 << 24;

/// The bytes that are known, by address: none without a file.
///
/// The file is Intel HEX, as `avr-objcopy` writes it (`.eep`), with addresses from 0; an ELF file, of which the section
/// `.eeprom` counts; or the raw content from address 0, as programmers read it out. Its path is relative to the property
/// file.
///
/// # Errors
/// If the file cannot be read, is damaged or has content outside of the EEPROM.
pub(crate) fn content(
    inputs: &mut Inputs,
    file: &PropertyFile,
    properties: Option<&Path>,
    device: &Device,
) -> Result<BTreeMap<EepromAddress, u8>, InputError> {
    let Some(path) = path(file, properties) else { return Ok(BTreeMap::new()) };
    let input = inputs.read(Role::Eeprom, &path)?;
    if input.bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(InputErrorKind::LargeEeprom { path: input.name(), limit: MAX_FILE_BYTES }.into());
    }
    match kind(&path, &input.bytes)? {
        Kind::Raw => raw(&path, &input.bytes, device.memory.eeprom_bytes),
        Kind::Image => of_image(&path, &input.bytes, device),
    }
}

/// The file that a property file names, which is read from this path.
pub(crate) fn path(file: &PropertyFile, properties: Option<&Path>) -> Option<PathBuf> {
    let folder = properties.and_then(Path::parent).unwrap_or(Path::new(""));
    file.eeprom.as_ref().map(|name| folder.join(name))
}

/// The format of the file.
enum Kind {
    /// Byte for byte.
    Raw,
    /// Intel HEX or ELF.
    Image,
}

/// The name `.bin` or `.raw`, or bytes that no text has, tell raw content. Text that is no Intel HEX is refused: it is
/// rather another file than content.
fn kind(path: &Path, bytes: &[u8]) -> Result<Kind, InputError> {
    let named_raw =
        path.extension().is_some_and(|name| ["bin", "raw"].iter().any(|raw| name.eq_ignore_ascii_case(raw)));
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let is_text = text.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
    match text.trim_ascii_start().first() {
        _ if named_raw => Ok(Kind::Raw),
        _ if bytes.starts_with(b"\x7fELF") => Ok(Kind::Image),
        Some(b':') if is_text => Ok(Kind::Image),
        _ if is_text => Err(InputErrorKind::EepromFormat { path: path.display().to_string() }.into()),
        _ => Ok(Kind::Raw),
    }
}

fn raw(path: &Path, bytes: &[u8], size: u16) -> Result<BTreeMap<EepromAddress, u8>, InputError> {
    if bytes.len() > usize::from(size) {
        return Err(beyond(path, size));
    }
    Ok((0..size).map(EepromAddress).zip(bytes.iter().copied()).collect())
}

fn beyond(path: &Path, size: u16) -> InputError {
    InputErrorKind::BeyondEeprom { path: path.display().to_string(), size }.into()
}

fn of_image(path: &Path, bytes: &[u8], device: &Device) -> Result<BTreeMap<EepromAddress, u8>, InputError> {
    let size = device.memory.eeprom_bytes;
    let is_elf = bytes.starts_with(b"\x7fELF");
    // The addresses of a HEX file begin at 0, as if it were for a flash as large as the EEPROM.
    let flash = if is_elf { device.memory.flash_bytes } else { size.into() };
    let image = match parse(path, bytes, LoadOptions::new(flash, size.into())) {
        Err(error) if matches!(error.kind, ImageErrorKind::NoProgram) => return Err(beyond(path, size)),
        other => other?,
    };
    let left_out = image.warnings.iter().any(|warning| match warning {
        Warning::LeftOut(left_out) => image.eeprom.is_none() || left_out.region == Region::BeyondEeprom,
        _ => false,
    });
    if left_out || is_elf && image.eeprom.is_none() {
        return Err(beyond(path, size));
    }
    let byte = |address: EepromAddress| match &image.eeprom {
        Some(content) => content.byte(address),
        None => image.program.byte(FlashByteAddress(address.0.into())),
    };
    Ok((0..size).map(EepromAddress).filter_map(|address| Some((address, byte(address)?))).collect())
}

/// Reads an image that need not begin at address 0.
fn parse(path: &Path, bytes: &[u8], mut options: LoadOptions) -> Result<Image, ImageError> {
    let name = path.display().to_string();
    let image = Image::parse(&name, bytes, &options);
    if let Err(ImageErrorKind::NoCodeAtStart { suggestion, .. }) = image.as_ref().map_err(|error| &error.kind) {
        options.start = *suggestion;
        return Image::parse(&name, bytes, &options);
    }
    image
}
