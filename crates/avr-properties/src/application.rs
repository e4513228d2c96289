//! The field `application`: the content of the flash below the boot section, besides the image.

use std::fmt;
use std::sync::Arc;

use avr_image::{FlashWordAddress, Image, ImageError, ImageErrorKind, LoadOptions};
use avr_machine::Application;

use crate::error::{PropertyError, PropertyErrorKind};
use crate::place::Place;
use crate::start_error::StartError;

/// The largest flash and EEPROM of an AVR, in bytes.
const MOST_FLASH_BYTES: u32 = 1 << 18;
const MOST_EEPROM_BYTES: u32 = 1 << 12;

/// The application of a property file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicationSetting {
    /// The content of the application section.
    pub content: ApplicationContent,
    /// The place in the property file.
    pub(crate) place: Place,
}

/// The content of the application section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApplicationContent {
    /// Erased flash.
    Absent,
    /// Any application: runs end where it is entered.
    Any,
    /// The application of a file.
    File {
        /// The path, as the property file has it.
        path: String,
        /// The application as Intel HEX; none until it was read.
        hex: Option<Arc<str>>,
    },
}

impl fmt::Display for ApplicationSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.content {
            ApplicationContent::Absent => f.write_str("no application is there"),
            ApplicationContent::Any => f.write_str("any application may be there, and runs end where it is entered"),
            ApplicationContent::File { path, .. } => write!(f, "the application {path} is there"),
        }
    }
}

impl ApplicationSetting {
    /// The same in words that tell one application from every other.
    pub(crate) fn whole_text(&self) -> String {
        match &self.content {
            ApplicationContent::File { hex: Some(hex), .. } => {
                let program = parse("", hex.as_bytes());
                program.map_or_else(|_| self.to_string(), |image| format!("{self} (SHA-256 {})", image.sha256))
            }
            _ => self.to_string(),
        }
    }

    /// What a machine has to know of it.
    pub(crate) fn of_machine(&self) -> Application {
        match self.content {
            ApplicationContent::Absent => Application::Absent,
            ApplicationContent::Any => Application::Any,
            ApplicationContent::File { .. } => Application::Unsaid,
        }
    }

    /// The words of the application of a file that fit to an image, by flash word address: none of another kind of application.
    ///
    /// # Errors
    /// If the device has no boot section; where application and image overlap, or execution starts where nothing is known. `start` and
    /// `boot` are flash byte addresses.
    pub(crate) fn words(
        &self,
        image: &Image,
        (start, boot): (u32, Option<u32>),
    ) -> Result<Vec<(FlashWordAddress, u16)>, PropertyError> {
        let wrong = |error: StartError| PropertyErrorKind::Start(error).at_place(self.place.clone());
        let boot = boot.ok_or_else(|| wrong(StartError::NoBootSection))?;
        if let ApplicationContent::File { path, hex } = &self.content {
            let hex = hex.as_deref().ok_or_else(|| wrong(StartError::NotRead(path.clone())))?;
            return of_file((path, hex), image, boot).map_err(wrong);
        }
        let lowest = image.program.words().map(|(word, _)| word.byte().0).next();
        if let Some(address) = lowest.filter(|address| *address < boot) {
            return Err(wrong(StartError::ImageInApplication { address, boot }));
        }
        if start < boot {
            return Err(wrong(StartError::StartsInApplication { start, boot }));
        }
        Ok(Vec::new())
    }
}

/// The words of an application.
fn of_file((path, hex): (&str, &str), image: &Image, boot: u32) -> Result<Vec<(FlashWordAddress, u16)>, StartError> {
    let path = path.to_owned();
    let application = parse(&path, hex.as_bytes())
        .map_err(|error| StartError::NoImage { path: path.clone(), problem: error.to_string() })?;
    let mut words = Vec::new();
    for (word, content) in application.program.words() {
        let address = word.byte().0;
        if address >= boot {
            return Err(StartError::InBootSection { path, address, boot });
        }
        // SOUND: an image with which the application was merged before has the same words.
        if image.program.word(word).is_some_and(|own| own != content) {
            return Err(StartError::Overlap { path, address });
        }
        words.push((word, content));
    }
    Ok(words)
}

/// Reads an application, which begins anywhere.
fn parse(path: &str, bytes: &[u8]) -> Result<Image, ImageError> {
    let mut options = LoadOptions::new(MOST_FLASH_BYTES, MOST_EEPROM_BYTES);
    let image = Image::parse(path, bytes, &options);
    if let Err(ImageErrorKind::NoCodeAtStart { suggestion, .. }) = image.as_ref().map_err(|error| &error.kind) {
        options.start = *suggestion;
        return Image::parse(path, bytes, &options);
    }
    image
}

/// The program of an application file, Intel HEX or ELF, as Intel HEX.
///
/// # Errors
/// If the file is none of them.
pub fn application_hex(path: &str, bytes: &[u8]) -> Result<String, ImageError> {
    let image = parse(path, bytes)?;
    let mut text = String::new();
    for (word, content) in image.program.words() {
        let address = word.byte().0;
        if address & 0xffff == 0 || text.is_empty() {
            text.push_str(&record(0, 4, &((address >> 16) as u16).to_be_bytes()));
        }
        text.push_str(&record(address as u16, 0, &content.to_le_bytes()));
    }
    text.push_str(&record(0, 1, &[]));
    Ok(text)
}

/// A record of Intel HEX.
fn record(offset: u16, kind: u8, data: &[u8]) -> String {
    let [high, low] = offset.to_be_bytes();
    let mut bytes = vec![data.len() as u8, high, low, kind];
    bytes.extend_from_slice(data);
    bytes.push(bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)).wrapping_neg());
    let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    format!(":{digits}\n")
}
