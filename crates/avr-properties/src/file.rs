//! Property files: RON in which every value keeps its place, so that errors can name it.

mod command_line;
mod content;
mod contract;
mod entry;
mod machine;
mod specification;
mod start;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use avr_isa::FlashWordAddress;
use avr_machine::device::{Device, FuseBytes};
use avr_machine::{HazardKind, ron_message, ron_offset};
use mu_calculus::parse_predicate;
use ron::extensions::Extensions;
use ron::value::RawValue;
use serde::de::DeserializeOwned;

use crate::allowed_finding::AllowedFinding;
use crate::allowed_hazard::AllowedHazard;
use crate::application::{ApplicationContent, ApplicationSetting};
use crate::conformance::SpecificationAutomaton;
use crate::definitions::Definitions;
use crate::error::{PropertyError, PropertyErrorKind};
use crate::finding_kind::FindingKind;
use crate::nearest::nearest;
use crate::place::{Place, Source, line_and_column};
use crate::property::{Property, PropertyKind};
use crate::start::StartCondition;
use crate::task_stack::TaskStack;
use content::{Content, Never, StackEntry};
pub use content::{EnvironmentEvent, FILE_FIELDS, Fuses};
pub use contract::FunctionContract;
use entry::{Entry, is_entry};
pub use entry::{entry_fields, entry_kinds};
pub use machine::EnvironmentMachine;

/// A property file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PropertyFile {
    /// The name of the file, for reports.
    pub name: String,
    /// The device, as `--device` takes it.
    pub device: Option<String>,
    /// The flash byte address of the first instruction, where it is not the reset vector.
    pub start: Option<u32>,
    /// Formulas with names.
    pub definitions: Definitions,
    /// The properties, in the order of the file.
    pub properties: Vec<Property>,
    /// True if the file has the field `properties`, which may be empty. A file of settings leaves it out.
    pub lists_properties: bool,
    /// Hazards that are allowed everywhere, each with the reason.
    pub allow: Vec<(HazardKind, String)>,
    /// Hazards that are allowed at one place.
    pub allow_at: Vec<AllowedHazard>,
    /// Findings that are allowed.
    pub allow_findings: Vec<AllowedFinding>,
    /// Hazards that the device treats as a remark and the file wants to see as hazards.
    pub forbid: Vec<HazardKind>,
    /// Findings that are hazards.
    pub forbid_findings: Vec<FindingKind>,
    /// Events that may happen beside those of the device.
    pub environment: Vec<EnvironmentEvent>,
    /// The machines that drive inputs.
    pub machines: Vec<EnvironmentMachine>,
    /// The assumptions about inputs.
    pub assume: Vec<Assumption>,
    /// The place of each of the assumptions.
    pub(crate) assume_places: Vec<Place>,
    /// The predicates that states are to keep, each with its place. No verdict of a property depends on them but whether there is one.
    pub predicates: Vec<(String, Place)>,
    /// The stacks of tasks; their numbers begin with 1.
    pub stacks: Vec<TaskStack>,
    /// The conditions of the states in which the program begins.
    pub initially: Vec<StartCondition>,
    /// What lies in the flash below the boot section, besides the image.
    pub application: Option<ApplicationSetting>,
    /// The contracts of functions, in the order of the file.
    pub contracts: Vec<FunctionContract>,
    /// Fuse bytes; the factory values where the file does not say.
    pub fuses: Fuses,
    /// Path of a file with the content of the EEPROM, as the file gives it.
    pub eeprom: Option<String>,
    /// The specifications that are known, by the paths that properties name.
    specifications: Vec<(String, Arc<SpecificationAutomaton>)>,
    /// True if the file itself has the texts of all specifications that are known.
    carries_specifications: bool,
}

/// An assumption about the inputs of the device. A verdict says nothing about runs in which it is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// A predicate about the bits of one register that hardware changes, such as `PINB & 0xf0 == 0`: whenever hardware
    /// supplies them, they have the values that it fixes. A flag that is assumed 0 is never raised, and its interrupt
    /// comes only where the flag stands already.
    Input(String),
    /// The interrupt of this name never fires, even where its request stands.
    Never(String),
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(text) => f.write_str(text),
            Self::Never(name) => write!(f, "never({name})"),
        }
    }
}

impl PropertyFile {
    /// Reads the text of a property file; `name` stands for it in errors.
    ///
    /// # Errors
    /// If the text is no RON, has fields or names that do not exist, or lacks some.
    pub fn parse(name: &str, text: &str) -> Result<Self, PropertyError> {
        let origin = Origin::new(name, text);
        let content: Content<'_> = options().from_str(text).map_err(|error| ron_error(&error, &origin, text))?;
        let allow_at = allowed_at_places(&content.allow.0, &origin)?;
        let specifications = specifications(&content.specifications.0, &origin)?;
        let read_property = |raw: &&RawValue| Ok(property(raw.get_ron(), &origin)?.except(&allow_at));
        let (environment, machines) = machine::environment(&content.environment, &origin)?;
        let mut file = Self {
            name: name.to_owned(),
            device: content.device,
            start: content.start,
            definitions: definitions(&content.define.0, &origin)?,
            lists_properties: content.properties.is_some(),
            properties: content.properties.iter().flatten().map(read_property).collect::<Result<_, _>>()?,
            allow: allowed(&content.allow.0, &origin)?,
            allow_at,
            allow_findings: allowed_findings(&content.allow.0, &origin)?,
            forbid: forbidden(&content.forbid, &origin)?,
            forbid_findings: forbidden_findings(&content.forbid, &origin)?,
            environment,
            machines,
            assume: content.assume.iter().map(|raw| assumption(raw, &origin)).collect::<Result<_, _>>()?,
            assume_places: content.assume.iter().map(|raw| origin.place_of(trimmed(raw.get_ron()))).collect(),
            predicates: content.predicates.iter().map(|raw| predicate(raw, &origin)).collect::<Result<_, _>>()?,
            stacks: content.stacks.iter().map(|raw| task_stack(raw, &origin)).collect::<Result<_, _>>()?,
            initially: start::conditions(content.initially, &origin)?,
            application: start::application(content.application, &origin)?,
            contracts: contract::contracts(&content.contracts, &origin)?,
            fuses: content.fuses,
            eeprom: content.eeprom,
            carries_specifications: true,
            specifications,
        };
        file.resolve();
        Ok(file)
    }

    /// The paths of the specification files that properties or machines name and that were not given yet.
    #[must_use]
    pub fn missing_specifications(&self) -> Vec<String> {
        let missing = |property: &Property| match &property.kind {
            PropertyKind::Conforms { to, specification: None, .. } => Some(to.clone()),
            _ => None,
        };
        let of_machines = self.machines.iter().filter(|machine| machine.automaton.is_none());
        let of_machines = of_machines.map(|machine| machine.spec.clone());
        self.properties.iter().filter_map(missing).chain(of_machines).collect()
    }

    /// Gives the specification to all properties and machines that name this path.
    pub fn add_specification(&mut self, path: &str, automaton: SpecificationAutomaton) {
        self.carries_specifications = false;
        self.specifications.push((path.to_owned(), Arc::new(automaton)));
        self.resolve();
    }

    /// Gives the properties and machines the specifications that they name.
    fn resolve(&mut self) {
        for property in &mut self.properties {
            if let PropertyKind::Conforms { to, specification, .. } = &mut property.kind {
                let known = self.specifications.iter().find(|(path, _)| path == to);
                *specification = known.map(|(_, automaton)| Arc::clone(automaton));
            }
        }
        for machine in &mut self.machines {
            let known = self.specifications.iter().find(|(path, _)| *path == machine.spec);
            machine.automaton = known.map(|(_, automaton)| Arc::clone(automaton));
        }
    }

    /// The path of the application that the file names and that was not given yet.
    #[must_use]
    pub fn missing_application(&self) -> Option<&str> {
        match &self.application.as_ref()?.content {
            ApplicationContent::File { path, hex: None } => Some(path),
            _ => None,
        }
    }

    /// Gives the application that the file names, as Intel HEX.
    pub fn add_application(&mut self, text: String) {
        if let Some(ApplicationSetting { content: ApplicationContent::File { hex, .. }, .. }) = &mut self.application {
            *hex = Some(text.into());
        }
    }

    /// The same text with the application in place of its path.
    fn with_application<'t>(&self, text: &'t str) -> Option<Cow<'t, str>> {
        let Some(ApplicationSetting { content: ApplicationContent::File { path, hex: Some(hex) }, place }) =
            &self.application
        else {
            return Some(Cow::Borrowed(text));
        };
        let carried = format!("hex({}, {})", quoted(path)?, quoted(hex)?);
        let (before, after) = (text.get(..place.span.start)?, text.get(place.span.end..)?);
        Some(Cow::Owned([before, &carried, after].concat()))
    }

    /// A text of this file that carries the specifications that it names, so that it can be read without them; none if that
    /// cannot be written.
    #[must_use]
    pub fn with_texts_of_specifications(&self, text: &str) -> Option<String> {
        let texts = self.specifications.iter().map(|(path, automaton)| (path.as_str(), automaton.text.as_str()));
        let texts: BTreeMap<&str, &str> = texts.collect();
        let text = &*self.with_application(text)?;
        if self.carries_specifications {
            return Some(text.to_owned());
        }
        let begin = text.find(trimmed(text)).filter(|begin| text[*begin..].starts_with('('))? + 1;
        let pairs = texts.iter().map(|(path, text)| Some(format!("{}: {}", quoted(path)?, quoted(text)?)));
        let field = format!("specifications: {{{}}},", pairs.collect::<Option<Vec<_>>>()?.join(", "));
        let whole = [&text[..begin], &field, &text[begin..]].concat();
        Self::parse(&self.name, &whole).ok().map(|_| whole)
    }
}

/// A text as RON writes it.
fn quoted(text: &str) -> Option<String> {
    ron::to_string(text).ok()
}

/// The specifications whose texts the file carries, by their paths.
fn specifications(
    pairs: &[(&RawValue, &RawValue)],
    origin: &Origin<'_>,
) -> Result<Vec<(String, Arc<SpecificationAutomaton>)>, PropertyError> {
    let read_pair = |(key, value): &(&RawValue, &RawValue)| {
        let (path, text): (String, String) = (read(key.get_ron(), origin)?, read(value.get_ron(), origin)?);
        let automaton = SpecificationAutomaton::parse(&path, &text)?;
        Ok((path, Arc::new(automaton)))
    };
    pairs.iter().map(read_pair).collect()
}

impl PropertyFile {
    /// Adds what another file assumes of inputs, and the hazards that it allows everywhere.
    pub fn add_assumptions(&mut self, other: Self) {
        self.allow.extend(other.allow);
        self.assume.extend(other.assume);
        self.assume_places.extend(other.assume_places);
    }

    /// True if the file allows a hazard after which nothing is defined, so that a path may end.
    #[must_use]
    pub fn ends_paths(&self) -> bool {
        let kinds = self.allow.iter().map(|(kind, _)| kind).chain(self.allow_at.iter().map(|allowed| &allowed.kind));
        kinds.into_iter().any(|kind| kind.ends_path())
    }

    /// Flash byte address of the first instruction: as it is given, else as the file says, else as the fuses do.
    #[must_use]
    pub fn start_address(&self, device: &Device, given: Option<u32>) -> u32 {
        let vector = || device.reset_vector(self.fuses.bytes(device.default_fuses)).byte().0;
        given.or(self.start).unwrap_or_else(vector)
    }

    /// Flash byte address of the boot section that the fuses choose; none on a device without one.
    #[must_use]
    pub fn boot_start(&self, device: &Device) -> Option<u32> {
        let section = device.boot_section(self.fuses.bytes(device.default_fuses))?;
        Some(FlashWordAddress(section.start_word).byte().0)
    }

    /// Checks that certificates can carry the proofs: they know of hazards, not of findings.
    ///
    /// # Errors
    /// If a finding is forbidden.
    pub fn check_certifiable(&self) -> Result<(), PropertyError> {
        match self.forbid_findings.first() {
            Some(finding) => Err(PropertyErrorKind::NotCertified(finding.name()).error()),
            None => Ok(()),
        }
    }

    /// Adds properties as the command line gives them. The inherent one is put in front if it is asked for, or if the
    /// file leaves `properties` out and there would be none. A file whose list is empty stays without.
    ///
    /// # Errors
    /// If a text is no property.
    pub fn add(&mut self, texts: &[String], inherent: bool) -> Result<(), PropertyError> {
        for text in texts {
            let property = Property::from_command_line(text)?.into_invariant(&self.definitions);
            self.properties.push(property.except(&self.allow_at));
        }
        let has_inherent = self.properties.iter().any(|property| *property.kind() == PropertyKind::Inherent);
        let is_of_settings = self.properties.is_empty() && !self.lists_properties;
        if is_of_settings || inherent && !has_inherent {
            self.properties.insert(0, Property::inherent().except(&self.allow_at));
        }
        self.resolve();
        Ok(())
    }
}

impl Fuses {
    /// The fuse bytes, with those of the device where the file does not say.
    #[must_use]
    pub fn bytes(self, default: FuseBytes) -> FuseBytes {
        FuseBytes {
            low: self.low.unwrap_or(default.low),
            high: self.high.unwrap_or(default.high),
            extended: self.extended.unwrap_or(default.extended),
        }
    }
}

/// A text that comes from a file: parts of it know their place.
pub(crate) struct Origin<'a> {
    file: &'a str,
    text: &'a str,
    source: Source,
}

impl<'a> Origin<'a> {
    pub(crate) fn new(file: &'a str, text: &'a str) -> Self {
        Self { file, text, source: Source(text.into()) }
    }

    /// The place of a part of the text.
    fn place_of(&self, part: &str) -> Place {
        let start = self.offset_of(part);
        self.place(start..start + part.len())
    }

    /// The byte at which a part of the text begins.
    fn offset_of(&self, part: &str) -> usize {
        let offset = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        if offset <= self.text.len() { offset } else { 0 }
    }

    /// The place of the whole text.
    pub(crate) fn whole(&self) -> Place {
        self.place(0..self.text.len())
    }

    /// The place of some bytes of the text.
    fn place(&self, span: Range<usize>) -> Place {
        let (line, column) = line_and_column(self.text, span.start);
        Place { file: self.file.to_owned(), line, column, source: self.source.clone(), span }
    }
}

fn options() -> ron::Options {
    ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME)
}

/// The part without white space and comments around it.
fn trimmed(part: &str) -> &str {
    RawValue::from_ron(part).map_or(part.trim(), |raw| raw.trim().get_ron())
}

/// Reads a part of a file.
fn read<T: DeserializeOwned>(part: &str, origin: &Origin<'_>) -> Result<T, PropertyError> {
    options().from_str(part).map_err(|error| ron_error(&error, origin, part))
}

/// Reads an entry of `properties`.
pub(crate) fn property(part: &str, origin: &Origin<'_>) -> Result<Property, PropertyError> {
    let text = trimmed(part);
    let entry: Entry = read(text, origin)?;
    let place = origin.place_of(text);
    entry.property(text, &place).map_err(|kind| kind.at_place(place))
}

fn definitions(pairs: &[(&RawValue, &RawValue)], origin: &Origin<'_>) -> Result<Definitions, PropertyError> {
    let mut definitions = Definitions::new();
    for (key, value) in pairs {
        let name: String = read(key.get_ron(), origin)?;
        let text: String = read(value.get_ron(), origin)?;
        let place = origin.place_of(trimmed(value.get_ron()));
        definitions.define_at(&name, &text, place)?;
    }
    Ok(definitions)
}

/// The hazards among the entries of `allow` that name no place.
fn allowed(pairs: &[(&RawValue, &RawValue)], origin: &Origin<'_>) -> Result<Vec<(HazardKind, String)>, PropertyError> {
    let mut all: Vec<(HazardKind, String)> = Vec::new();
    for (key, value) in pairs {
        let name: String = read(key.get_ron(), origin)?;
        let (name, at) = split_place(&name);
        if at.is_some() || FindingKind::named(name).is_some() {
            continue;
        }
        let kind = named_hazard(name, key, origin)?;
        if all.iter().any(|(known, _)| *known == kind) {
            let place = origin.place_of(trimmed(key.get_ron()));
            return Err(PropertyErrorKind::Duplicate(kind.name().to_owned()).at_place(place));
        }
        all.push((kind, read(value.get_ron(), origin)?));
    }
    Ok(all)
}

/// The hazards among the entries of `allow` that name a place.
fn allowed_at_places(
    pairs: &[(&RawValue, &RawValue)],
    origin: &Origin<'_>,
) -> Result<Vec<AllowedHazard>, PropertyError> {
    let mut all: Vec<AllowedHazard> = Vec::new();
    for (key, value) in pairs {
        let name: String = read(key.get_ron(), origin)?;
        let (name, Some(at)) = split_place(&name) else { continue };
        if FindingKind::named(name).is_some() {
            continue;
        }
        let place = origin.place_of(trimmed(key.get_ron()));
        let kind = named_hazard(name, key, origin)?;
        if !kind.has_place() {
            return Err(PropertyErrorKind::HazardAtPlace(kind.name()).at_place(place));
        }
        let allowed = AllowedHazard { kind, at: at.to_owned(), reason: read(value.get_ron(), origin)?, place };
        if all.iter().any(|known| known.text() == allowed.text()) {
            return Err(PropertyErrorKind::Duplicate(allowed.text()).at_place(allowed.place));
        }
        all.push(allowed);
    }
    Ok(all)
}

/// The findings among the entries of `allow`.
fn allowed_findings(
    pairs: &[(&RawValue, &RawValue)],
    origin: &Origin<'_>,
) -> Result<Vec<AllowedFinding>, PropertyError> {
    let mut all: Vec<AllowedFinding> = Vec::new();
    for (key, value) in pairs {
        let name: String = read(key.get_ron(), origin)?;
        let (name, at) = split_place(&name);
        let Some(kind) = FindingKind::named(name) else { continue };
        let place = origin.place_of(trimmed(key.get_ron()));
        let reason = read(value.get_ron(), origin)?;
        let allowed = AllowedFinding { kind, at: at.map(str::to_owned), reason, place };
        if all.iter().any(|known| known.text() == allowed.text()) {
            return Err(PropertyErrorKind::Duplicate(allowed.text()).at_place(allowed.place));
        }
        all.push(allowed);
    }
    Ok(all)
}

/// A name and the place behind it, as in `out-of-object at parse_line`.
fn split_place(name: &str) -> (&str, Option<&str>) {
    name.split_once(" at ").map_or((name, None), |(name, at)| (name.trim_end(), Some(at.trim())))
}

/// The hazards among the entries of `forbid`.
fn forbidden(entries: &[&RawValue], origin: &Origin<'_>) -> Result<Vec<HazardKind>, PropertyError> {
    let mut all = Vec::new();
    for raw in entries {
        let name: String = read(raw.get_ron(), origin)?;
        if FindingKind::named(&name).is_none() {
            all.push(named_hazard(&name, raw, origin)?);
        }
    }
    Ok(all)
}

/// The findings among the entries of `forbid`.
fn forbidden_findings(entries: &[&RawValue], origin: &Origin<'_>) -> Result<Vec<FindingKind>, PropertyError> {
    let mut all = Vec::new();
    for raw in entries {
        let name: String = read(raw.get_ron(), origin)?;
        match FindingKind::named(&name) {
            Some(FindingKind::TornAccess) => {
                let place = origin.place_of(trimmed(raw.get_ron()));
                return Err(PropertyErrorKind::ForbiddenFinding(FindingKind::TornAccess.name()).at_place(place));
            }
            found => all.extend(found),
        }
    }
    Ok(all)
}

fn named_hazard(name: &str, raw: &RawValue, origin: &Origin<'_>) -> Result<HazardKind, PropertyError> {
    HazardKind::named(name).ok_or_else(|| {
        let names = HazardKind::ALL.iter().map(|kind| kind.name()).chain(FindingKind::ALL.map(FindingKind::name));
        let nearest = nearest(name, names);
        let place = origin.place_of(trimmed(raw.get_ron()));
        PropertyErrorKind::UnknownHazard { name: name.to_owned(), nearest }.at_place(place)
    })
}

fn assumption(raw: &RawValue, origin: &Origin<'_>) -> Result<Assumption, PropertyError> {
    let part = trimmed(raw.get_ron());
    if !part.starts_with(['"', 'r']) {
        let Never::Never(name) = read(part, origin)?;
        return Ok(Assumption::Never(name.0));
    }
    let text: String = read(part, origin)?;
    match parse_predicate(&text) {
        Ok(_) => Ok(Assumption::Input(text)),
        Err(error) => {
            let place = origin.place_of(part);
            Err(PropertyErrorKind::Formula(error.kind).at(error.span, &text).of_property("assume", Some(&place)))
        }
    }
}

fn predicate(raw: &RawValue, origin: &Origin<'_>) -> Result<(String, Place), PropertyError> {
    let part = trimmed(raw.get_ron());
    let (text, place): (String, Place) = (read(part, origin)?, origin.place_of(part));
    match parse_predicate(&text) {
        Ok(_) => Ok((text, place)),
        Err(error) => {
            Err(PropertyErrorKind::Formula(error.kind).at(error.span, &text).of_property("predicates", Some(&place)))
        }
    }
}

fn task_stack(raw: &RawValue, origin: &Origin<'_>) -> Result<TaskStack, PropertyError> {
    let part = trimmed(raw.get_ron());
    let StackEntry { symbol, at, bytes } = read(part, origin)?;
    TaskStack::parse(&symbol, (at, bytes), origin.place_of(part))
}

/// An error of RON in `part`, which may be a part of the text of `origin`.
fn ron_error(error: &ron::error::SpannedError, origin: &Origin<'_>, part: &str) -> PropertyError {
    let base = origin.offset_of(part);
    let [start, end] = [error.span.start, error.span.end].map(|position| base + ron_offset(part, position));
    // A sign that is missing between two values is missing behind the first one, and is noticed in front of the second.
    let is_between = matches!(
        error.code,
        ron::Error::ExpectedComma
            | ron::Error::ExpectedArrayEnd
            | ron::Error::ExpectedMapEnd
            | ron::Error::ExpectedStructLikeEnd
            | ron::Error::TrailingCharacters
    );
    let start = if is_between { end } else { start };
    let rest = origin.text.get(start..).unwrap_or_default();
    let start = start + rest.len() - rest.trim_start().len();
    ron_kind(&error.code).at_place(origin.place(start..end.max(start)))
}

/// The name of the form of a whole file, as RON has it.
const CONTENT: &str = "Content";
/// The name of the form of a specification file, as RON has it.
const SPECIFICATION: &str = "SpecificationContent";

fn ron_kind(error: &ron::Error) -> PropertyErrorKind {
    match error {
        ron::Error::NoSuchStructField { expected, found, .. } => PropertyErrorKind::UnknownField {
            found: found.clone(),
            nearest: nearest(found, expected.iter().copied()),
            known: expected,
        },
        ron::Error::NoSuchEnumVariant { expected, found, .. } => PropertyErrorKind::UnknownVariant {
            found: found.clone(),
            nearest: nearest(found, expected.iter().copied()),
            known: expected,
        },
        ron::Error::MissingStructField { field, .. } => PropertyErrorKind::MissingField(field),
        ron::Error::DuplicateStructField { field, .. } => PropertyErrorKind::Duplicate((*field).to_owned()),
        ron::Error::ExpectedNamedStructLike(CONTENT) => {
            PropertyErrorKind::Ron("expected `(`; a property file is ( device: \"…\", properties: […] )".to_owned())
        }
        ron::Error::ExpectedNamedStructLike(SPECIFICATION) => PropertyErrorKind::Ron(
            "expected `(`; a specification file is ( initial: [\"…\"], states: {\"…\": ( … )} )".to_owned(),
        ),
        other => PropertyErrorKind::Ron(ron_message(other)),
    }
}
