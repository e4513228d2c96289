//! From an image, a device and a property file to a machine.

use std::collections::{BTreeMap, BTreeSet};

use avr_image::{FlashWordAddress, Image};
use avr_isa::{EepromAddress, FlashByteAddress};
use avr_machine::device::{Device, ResetCause};
use avr_machine::{Application, HazardKind, Machine, Options, Program};

use crate::application::{ApplicationContent, ApplicationSetting};
use crate::bind::{
    Binding, bind_assumptions, bind_machines, bind_predicates, bind_stacks, bind_starts, observes_startup,
};
use crate::error::PropertyError;
use crate::file::{EnvironmentEvent, PropertyFile};
use crate::main_entry::main_entry;
use crate::property::Property;

/// Everything that determines which machine is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The firmware.
    pub image: &'a Image,
    /// The device that it runs on.
    pub device: &'static Device,
    /// Flash byte address of the first instruction, if it is not what the property file or the fuses say.
    pub start: Option<u32>,
    /// The property file with its hazards, assumptions, environment and fuses.
    pub file: &'a PropertyFile,
    /// The content of the EEPROM as far as it is known, by address.
    pub eeprom: &'a BTreeMap<EepromAddress, u8>,
}

impl Setting<'_> {
    /// The machine.
    ///
    /// # Errors
    /// If an assumption, a predicate or a machine of the property file cannot be used.
    pub fn machine(&self) -> Result<Machine, PropertyError> {
        let (image, device) = (self.image, self.device);
        let merged: BTreeMap<FlashWordAddress, u16> = self.application_words()?.into_iter().collect();
        let word = |address: u32| {
            let address = FlashWordAddress(address);
            image.program.word(address).or_else(|| merged.get(&address).copied())
        };
        let program = Program::decode(device.memory.flash_words(), device.core.features, word);
        Ok(Machine::new(device, program, self.options()?))
    }

    /// Checks what the property file says of the start and of the application.
    ///
    /// # Errors
    /// If one of them cannot be used.
    pub fn check_start(&self) -> Result<(), PropertyError> {
        self.application_words()?;
        bind_starts(self.file, &self.binding(), self.eeprom).map(drop)
    }

    /// The binding of names.
    pub(crate) fn binding(&self) -> Binding<'_> {
        Binding {
            device: self.device,
            image: self.image,
            start: self.start_address(),
            ends_paths: self.file.ends_paths(),
            stacks: &self.file.stacks,
            boot_start: self.file.boot_start(self.device),
        }
    }

    /// The words that an application file adds to the image.
    fn application_words(&self) -> Result<Vec<(FlashWordAddress, u16)>, PropertyError> {
        let Some(application) = &self.file.application else { return Ok(Vec::new()) };
        application.words(self.image, (self.start_address(), self.file.boot_start(self.device)))
    }

    /// True if the data of another program than the image's may be in the SRAM.
    fn has_application_file(&self) -> bool {
        let content = self.file.application.as_ref().map(|application| &application.content);
        matches!(content, Some(ApplicationContent::File { .. }))
    }

    /// Flash byte address of the first instruction.
    pub(crate) fn start_address(&self) -> u32 {
        self.file.start_address(self.device, self.start)
    }

    /// True if a property speaks of the start-up code.
    fn observes_startup(&self) -> bool {
        let file = self.file;
        let binding = self.binding();
        let observes = |property: &Property| observes_startup(property, &file.definitions, &binding);
        file.properties.iter().any(observes)
    }

    fn options(&self) -> Result<Options, PropertyError> {
        let Self { image, device, file, eeprom, .. } = *self;
        let fuses = file.fuses.bytes(device.default_fuses);
        let start = FlashByteAddress(self.start_address()).word();
        file.allow_findings.iter().try_for_each(|allowed| allowed.check(image))?;
        let binding = self.binding();
        let assumptions = bind_assumptions(file, &binding)?;
        bind_predicates(file, &binding)?;
        let automata = bind_machines(file, &binding)?;
        Ok(Options {
            allowed: file.allow.iter().map(|(kind, _)| *kind).collect(),
            allowed_at: self.allowed_at()?,
            forbidden: file.forbid.iter().copied().collect(),
            start,
            main: main_entry(image, device).map(FlashByteAddress::word),
            observes_startup: self.observes_startup(),
            static_data_end: image.static_data_end().filter(|_| !self.has_application_file()),
            stacks: bind_stacks(file, &binding)?,
            default_handler: default_handler(image),
            assumed: assumptions.inputs,
            automata,
            never: assumptions.never,
            resets: file.environment.iter().map(reset_cause).collect(),
            fuses: Some(fuses),
            eeprom: eeprom.clone(),
            starts: bind_starts(file, &binding, eeprom)?,
            application: file.application.as_ref().map_or(Application::Unsaid, ApplicationSetting::of_machine),
        })
    }
}

impl Setting<'_> {
    /// The instructions at which hazards are allowed that are not allowed everywhere.
    fn allowed_at(&self) -> Result<BTreeMap<HazardKind, BTreeSet<FlashWordAddress>>, PropertyError> {
        let mut all: BTreeMap<HazardKind, BTreeSet<FlashWordAddress>> = BTreeMap::new();
        for allowed in &self.file.allow_at {
            all.entry(allowed.kind).or_default().extend(allowed.instructions(self.image)?);
        }
        Ok(all)
    }
}

fn reset_cause(event: &EnvironmentEvent) -> ResetCause {
    match event {
        EnvironmentEvent::Reset => ResetCause::External,
        EnvironmentEvent::BrownOut => ResetCause::BrownOut,
    }
}

/// The target of interrupts without a handler in avr-libc's start-up code.
fn default_handler(image: &Image) -> Option<FlashWordAddress> {
    let symbol = image.symbols.find("__bad_interrupt").ok()?;
    symbol.place.flash().map(FlashByteAddress::word)
}
