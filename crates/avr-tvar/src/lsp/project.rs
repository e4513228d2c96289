//! The firmware and the device that the names of property files are about.

use std::path::PathBuf;
use std::sync::Arc;

use avr_image::Image;
use avr_machine::device::Device;
use avr_properties::PropertyFile;

use crate::device::{self, DEFAULT, Wishes};
use crate::error::InputError;
use crate::inputs::{Inputs, Role};

/// The names that the editor or the command line gives.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    pub(super) firmware: Option<PathBuf>,
    pub(super) device: Option<String>,
}

/// The firmware, read again when its content changes.
#[derive(Debug)]
pub(super) struct Project {
    settings: Settings,
    known: Option<(Key, Arc<Target>)>,
}

/// The causes of a change of a target: the digest of the firmware, the device and the start of the property file.
type Key = (Option<String>, Option<String>, Option<u32>);

/// An image in a device.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) device: &'static Device,
    /// The image; none without a firmware.
    pub(super) image: Option<Image>,
}

impl Project {
    pub(super) fn new(settings: Settings) -> Self {
        Self { settings, known: None }
    }

    /// The target of a property file.
    ///
    /// # Errors
    /// If the firmware cannot be read, or the device does not exist.
    pub(super) fn target(&mut self, file: Option<&PropertyFile>) -> Result<Arc<Target>, InputError> {
        let mut inputs = Inputs::default();
        let read = |path: &PathBuf| inputs.read(Role::Firmware, path).ok().map(|input| input.sha256.clone());
        let digest = self.settings.firmware.as_ref().and_then(read);
        let key = (digest, file.and_then(|file| file.device.clone()), file.and_then(|file| file.start));
        if let Some((_, target)) = self.known.as_ref().filter(|(known, _)| *known == key) {
            return Ok(Arc::clone(target));
        }
        // The property file wins over the settings of an editor, which are for many files.
        let of_settings = self.settings.device.as_deref().filter(|_| file.is_none_or(|file| file.device.is_none()));
        let wishes = Wishes { device: of_settings, start: None, file };
        let target = match &self.settings.firmware {
            Some(path) => {
                let (image, device) = device::load_from(&mut inputs, path, wishes)?;
                Target { device, image: Some(image) }
            }
            None => Target { device: wishes.device_or(DEFAULT)?, image: None },
        };
        let target = Arc::new(target);
        self.known = Some((key, Arc::clone(&target)));
        Ok(target)
    }
}
