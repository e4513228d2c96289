//! The specification: what is asked of a firmware, and under which conditions. Two of them can be compared.

use std::collections::{BTreeMap, BTreeSet};

use avr_isa::EepromAddress;
use avr_machine::device::{Device, FuseBytes};

use crate::allowed_finding::AllowedFinding;
use crate::allowed_hazard::AllowedHazard;
use crate::application::ApplicationSetting;
use crate::bind::{Assumptions, Binding, bind_assumptions, bind_machines, bind_starts, fixed_bits_of_starts, stated};
use crate::error::PropertyError;
use crate::file::{EnvironmentEvent, EnvironmentMachine, PropertyFile};
use crate::property::{InvariantStart, Property, PropertyKind, StackLimit};
use crate::setting::Setting;

/// A question about a firmware, and the conditions under which it is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Specification {
    /// The name of the device.
    pub device: &'static str,
    /// Flash byte address of the first instruction.
    pub start: u32,
    /// The fuse bytes.
    pub fuses: FuseBytes,
    /// The content of the EEPROM as far as it is known, by address.
    pub eeprom: BTreeMap<EepromAddress, u8>,
    /// Assumptions: a text for each bit that hardware always gives the same value, such as `PINB.4 == 0`, and for each
    /// interrupt that never comes, such as `never(INT1)`; a text for each machine that drives inputs, with all of its moves; a text for
    /// each bit that is fixed where the program begins. More of them leave out more runs.
    pub assume: BTreeSet<String>,
    /// The application besides the image, in words; none where the property file says nothing.
    pub application: Option<String>,
    /// The hazards that are allowed, by name.
    pub allow: BTreeSet<&'static str>,
    /// The hazards that are allowed at one place, as property files have them.
    pub allow_at: BTreeSet<String>,
    /// The findings that are allowed, as property files have them. No verdict depends on them.
    pub allow_findings: BTreeSet<String>,
    /// The remarks that are hazards, by name.
    pub forbid: BTreeSet<&'static str>,
    /// The events beside those of the device, as property files name them.
    pub environment: BTreeSet<&'static str>,
    /// The stacks of tasks, as property files name them: hazards are not judged there as they are elsewhere in static data.
    pub stacks: BTreeSet<String>,
    /// True if paths may end in an allowed hazard after which nothing is defined.
    pub ends_paths: bool,
    /// The properties, in the order of the file.
    pub properties: Vec<SpecifiedProperty>,
}

/// A property of a specification.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpecifiedProperty {
    /// The name.
    pub name: String,
    /// The kind, as property files name it.
    pub kind: &'static str,
    /// The formula with all definitions expanded and symbols by their names; none if it is not supported.
    pub bound: Option<String>,
    /// The first states that it speaks of, if it is an invariant.
    pub from: Option<InvariantStart>,
    /// The formulas that versions before this one read in the same text, as `bound` is written.
    pub earlier_readings: Vec<String>,
    /// The fairness that is assumed, with all definitions expanded.
    pub under: Vec<String>,
    /// The limit, if it is one of the stack.
    pub stack_limit: Option<StackLimit>,
    /// True if it holds of some of the runs wherever it holds of all.
    pub is_monotone: bool,
}

impl Setting<'_> {
    /// The specification.
    ///
    /// # Errors
    /// If a property or an assumption cannot be bound.
    pub fn specification(&self) -> Result<Specification, PropertyError> {
        let Self { device, file, eeprom, .. } = *self;
        let binding = self.binding();
        Ok(Specification {
            device: device.name,
            start: self.start_address(),
            fuses: file.fuses.bytes(device.default_fuses),
            eeprom: eeprom.clone(),
            assume: {
                bind_machines(file, &binding)?;
                let assumed = assumed(&bind_assumptions(file, &binding)?, device);
                let starts = fixed_bits_of_starts(&bind_starts(file, &binding, eeprom)?, device);
                let machines = file.machines.iter().map(EnvironmentMachine::whole_text);
                assumed.into_iter().chain(starts).chain(machines).collect()
            },
            application: file.application.as_ref().map(ApplicationSetting::whole_text),
            allow: file.allow.iter().map(|(kind, _)| kind.name()).collect(),
            allow_at: file.allow_at.iter().map(AllowedHazard::text).collect(),
            allow_findings: file.allow_findings.iter().map(AllowedFinding::text).collect(),
            forbid: forbidden_names(file).collect(),
            environment: file.environment.iter().map(|event| event_name(*event)).collect(),
            stacks: file.stacks.iter().map(|stack| stack.name.clone()).collect(),
            ends_paths: file.ends_paths(),
            properties: file
                .properties
                .iter()
                .map(|property| self.specified(property, &binding))
                .collect::<Result<_, _>>()?,
        })
    }

    fn specified(&self, property: &Property, binding: &Binding<'_>) -> Result<SpecifiedProperty, PropertyError> {
        let stated = match stated(property, &self.file.definitions, binding) {
            Ok(stated) => Some(stated),
            Err(error) if error.unsupported().is_some() => None,
            Err(error) => return Err(error),
        };
        let is_monotone = stated.as_ref().is_some_and(|stated| stated.is_monotone);
        let (from, earlier_readings) =
            stated.as_ref().map_or_else(Default::default, |it| (it.from, it.earlier_readings.clone()));
        let (bound, under) =
            stated.map_or_else(|| (None, property.under().to_vec()), |it| (Some(it.formula), it.under));
        let stack_limit = match property.kind() {
            PropertyKind::Stack(limit) | PropertyKind::StackOf { limit, .. } => Some(*limit),
            _ => None,
        };
        let (name, kind) = (property.name().to_owned(), property.kind().name());
        Ok(SpecifiedProperty { name, kind, bound, from, earlier_readings, under, stack_limit, is_monotone })
    }
}

impl StackLimit {
    /// True if every run that keeps this limit keeps the other one.
    #[must_use]
    pub fn implies(self, other: Self) -> bool {
        match (self, other) {
            (Self::MaxBytes(bytes), Self::MaxBytes(other)) => bytes <= other,
            (Self::Margin(bytes), Self::Margin(other)) => bytes >= other,
            (Self::MaxBytes(_), Self::Margin(_)) | (Self::Margin(_), Self::MaxBytes(_)) => false,
        }
    }
}

/// Texts of assumptions, one for each bit and each interrupt.
fn assumed(assumptions: &Assumptions, device: &Device) -> BTreeSet<String> {
    let mut texts = BTreeSet::new();
    for (address, bits) in &assumptions.inputs {
        let register = device.register_at(*address).map_or_else(|| format!("{address:#06x}"), |it| it.name.to_owned());
        let known = (0..8).filter(|bit| bits.known_mask() >> bit & 1 == 1);
        texts.extend(known.map(|bit| format!("{register}.{bit} == {}", bits.value() >> bit & 1)));
    }
    for number in &assumptions.never {
        let interrupt = device.interrupts.iter().find(|interrupt| interrupt.number == *number);
        texts.insert(format!("never({})", interrupt.map_or_else(|| number.to_string(), |it| it.name.to_owned())));
    }
    texts
}

/// The names of what is forbidden.
fn forbidden_names(file: &PropertyFile) -> impl Iterator<Item = &'static str> {
    let hazards = file.forbid.iter().map(|kind| kind.name());
    hazards.chain(file.forbid_findings.iter().map(|kind| kind.name()))
}

fn event_name(event: EnvironmentEvent) -> &'static str {
    match event {
        EnvironmentEvent::Reset => "reset",
        EnvironmentEvent::BrownOut => "brown_out",
    }
}

impl Specification {
    /// The conditions that leave out runs which `other` does not leave out, or that describe another machine, as
    /// sentences without full stops.
    #[must_use]
    pub fn conditions_beyond(&self, other: &Self) -> Vec<String> {
        let mut all = Vec::new();
        let mut differ = |what: &str, own: String, others: String| {
            if own != others {
                all.push(format!("{what} is {own}, not {others}"));
            }
        };
        let fuses = |FuseBytes { low, high, extended }: FuseBytes| format!("{low:#04x} {high:#04x} {extended:#04x}");
        differ("the device", self.device.to_owned(), other.device.to_owned());
        differ("the start", format!("{:#06x}", self.start), format!("{:#06x}", other.start));
        differ("the fuse setting (low high extended)", fuses(self.fuses), fuses(other.fuses));
        let application = |one: &Self| one.application.clone().unwrap_or_else(|| "not said".to_owned());
        differ("the application", application(self), application(other));
        all.extend(self.assume.difference(&other.assume).map(|assumed| format!("{assumed} is assumed")));
        all.extend(self.allow.difference(&other.allow).map(|hazard| format!("{hazard} is allowed")));
        let is_everywhere = |text: &&String| {
            let kind = text.split_once(" at ").map_or(text.as_str(), |(kind, _)| kind);
            other.allow.contains(kind)
        };
        let at_places = self.allow_at.difference(&other.allow_at).filter(|text| !is_everywhere(text));
        all.extend(at_places.map(|text| format!("{text} is allowed")));
        all.extend(other.forbid.difference(&self.forbid).map(|hazard| format!("{hazard} is not forbidden")));
        all.extend(other.environment.difference(&self.environment).map(|event| format!("{event} never happens")));
        all.extend(self.stacks.difference(&other.stacks).map(|stack| format!("{stack} is the stack of a task")));
        if self.eeprom.iter().any(|(address, byte)| other.eeprom.get(address) != Some(byte)) {
            all.push("the EEPROM has a content that is not asked for".to_owned());
        }
        all
    }

    /// True if both describe the same machine under the same conditions.
    #[must_use]
    pub fn has_conditions_of(&self, other: &Self) -> bool {
        let conditions = |one: &Self| Self { properties: Vec::new(), allow_findings: BTreeSet::new(), ..one.clone() };
        conditions(self) == conditions(other)
    }
}
