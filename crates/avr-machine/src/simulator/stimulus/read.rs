//! Reading a stimulus file: RON in which every name keeps its place, so that errors can name it.

use avr_isa::{DataAddress, EepromAddress};
use std::collections::BTreeMap;
use std::fmt;

use ron::extensions::Extensions;
use ron::value::RawValue;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, de};

use super::error::{CHOICE, PIN, StimulusError, StimulusErrorKind, nearest};
use super::{Action, ExactInput, ExactStep, NONE, RESETS, Stimulus, WAKE, choice_name};
use crate::device::{BitKind, Device, ResetCause};
use crate::environment::Happening;
use crate::machine::{eeprom_cell, eeprom_cells, shared_cells};
use crate::ron_text::ron_message;
use crate::simulator::adc::last_channel;

/// The most steps with inputs that a file can have.
const MAX_STEPS: u64 = 10_000_000;

/// The most that a conversion gives.
const MAX_CONVERTED: u64 = 0x3ff;

/// The fields of a file.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Content<'a> {
    clock_hertz: Option<u32>,
    #[serde(borrow)]
    registers: Pairs<'a, u8>,
    #[serde(borrow)]
    memory: Pairs<'a, u8>,
    #[serde(borrow)]
    eeprom: Pairs<'a, u8>,
    shared: Vec<u8>,
    #[serde(borrow)]
    events: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    exact: Option<Vec<&'a RawValue>>,
}

/// An entry of `events`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Event<'a> {
    cycle: Option<u64>,
    step: Option<u64>,
    #[serde(borrow)]
    pins: Pairs<'a, Level>,
    uart: Option<Bytes>,
    #[serde(borrow)]
    adc: Pairs<'a, u64>,
    #[serde(borrow)]
    inputs: Vec<(&'a RawValue, u8, u8)>,
    #[serde(borrow)]
    release: Vec<&'a RawValue>,
    #[serde(borrow)]
    interrupts: Vec<&'a RawValue>,
    #[serde(borrow)]
    reset: Option<&'a RawValue>,
}

/// An entry of `exact`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exact<'a> {
    step: u64,
    every: Option<u64>,
    times: Option<u64>,
    #[serde(borrow, default)]
    inputs: Vec<(&'a RawValue, u8, u8)>,
    #[serde(borrow, default)]
    registers: Pairs<'a, u8>,
    #[serde(default)]
    shared: Vec<u8>,
    #[serde(borrow, default)]
    choice: Option<&'a RawValue>,
}

/// Bytes as a list or as the characters of a text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Bytes {
    List(Vec<u8>),
    Text(String),
}

/// The entries of a map in their order, with raw keys.
struct Pairs<'a, T>(Vec<(&'a RawValue, T)>);

impl<T> Default for Pairs<'_, T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Pairs<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map<T>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Map<T> {
            type Value = Vec<(&'de RawValue, T)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(pairs)
            }
        }

        deserializer.deserialize_map(Map(std::marker::PhantomData)).map(Pairs)
    }
}

/// The level of a pin, written 0 or 1.
struct Level(bool);

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u8::deserialize(deserializer)? {
            0 => Ok(Self(false)),
            1 => Ok(Self(true)),
            other => Err(de::Error::custom(format!("the level of a pin is 0 or 1, not {other}"))),
        }
    }
}

type Result<T, E = StimulusError> = std::result::Result<T, E>;

/// The file that is read, and the device that its names are about.
struct Source<'a> {
    file: &'a str,
    text: &'a str,
    device: &'static Device,
}

/// Reads a file.
pub(super) fn stimulus(file: &str, text: &str, device: &'static Device) -> Result<Stimulus> {
    let source = Source { file, text, device };
    let content: Content<'_> = source.parse(text)?;
    let mut stimulus = Stimulus { initial: source.initial(&content)?, ..Stimulus::default() };
    if let Some(clock) = content.clock_hertz {
        stimulus.clock_hertz = clock;
    }
    if stimulus.clock_hertz == 0 {
        return Err(source.error(text.trim_start(), StimulusErrorKind::NoClock));
    }
    if let Some(steps) = &content.exact {
        if let Some(event) = content.events.iter().flatten().next() {
            return Err(source.error(event.get_ron(), StimulusErrorKind::EventsInExact));
        }
        stimulus.exact = Some(source.exact(steps)?);
    }
    for event in content.events.iter().flatten() {
        source.add_event(event, &mut stimulus)?;
    }
    stimulus.timed.sort_by_key(|(cycle, _)| *cycle);
    stimulus.counted.sort_by_key(|(step, _)| *step);
    Ok(stimulus)
}

/// The error that a choice of a step does not happen, at the place of that choice in an exact file.
pub(super) fn impossible(file: &str, text: &str, device: &'static Device, what: Happening, step: u64) -> StimulusError {
    let source = Source { file, text, device };
    let part = source.choice_of(step).unwrap_or(text.trim_start());
    source.error(part, StimulusErrorKind::Impossible { what: choice_name(what, device), step })
}

impl<'a> Source<'a> {
    /// The choice of a step in the text of an exact file; where the step repeats another one, that of the other one.
    fn choice_of(&self, step: u64) -> Option<&'a str> {
        let content: Content<'_> = self.parse(self.text).ok()?;
        let entries = content.exact.into_iter().flatten();
        let mut exact = entries.filter_map(|raw| self.parse::<Exact<'_>>(trimmed(raw)).ok());
        let entry = exact.find(|entry| {
            let behind = step.checked_sub(entry.step);
            behind.is_some_and(|behind| {
                let (every, times) = (entry.every.unwrap_or(1).max(1), entry.times.unwrap_or(1));
                behind % every == 0 && behind / every < times
            })
        })?;
        entry.choice.map(trimmed)
    }

    /// Parses the whole text or a part of it.
    fn parse<T: Deserialize<'a>>(&self, part: &'a str) -> Result<T> {
        let options = ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME);
        options.from_str(part).map_err(|error| {
            let (line, column) = (error.span.start.line.max(1), error.span.start.col.max(1));
            let start = self.place(part);
            let column = if line == 1 { start.1 + column - 1 } else { column };
            StimulusError { file: self.file.to_owned(), line: start.0 + line - 1, column, kind: ron_kind(&error.code) }
        })
    }

    fn read<T: DeserializeOwned>(&self, raw: &'a RawValue) -> Result<T> {
        self.parse(trimmed(raw))
    }

    /// Line and column of a part of the text.
    fn place(&self, part: &str) -> (usize, usize) {
        let offset = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let before = self.text.get(..offset).unwrap_or("");
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count());
        (1 + before.matches('\n').count(), 1 + column)
    }

    fn error(&self, part: &str, kind: StimulusErrorKind) -> StimulusError {
        let (line, column) = self.place(part);
        StimulusError { file: self.file.to_owned(), line, column, kind }
    }

    fn initial(&self, content: &Content<'a>) -> Result<BTreeMap<DataAddress, u8>> {
        let mut initial = self.registers(&content.registers, &content.shared)?;
        let memory = self.device.memory;
        for (address, value) in &content.memory.0 {
            initial.insert(DataAddress(self.number(address, "data address", memory.sram_end.0.into())? as u16), *value);
        }
        for (address, value) in &content.eeprom.0 {
            let last = u64::from(memory.eeprom_bytes).saturating_sub(1);
            let address = EepromAddress(self.number(address, "EEPROM address", last)? as u16);
            initial.insert(eeprom_cell(self.device, address), *value);
        }
        Ok(initial)
    }

    fn registers(&self, registers: &Pairs<'a, u8>, shared: &[u8]) -> Result<BTreeMap<DataAddress, u8>> {
        let mut cells = BTreeMap::new();
        for (name, value) in &registers.0 {
            cells.insert(self.register(name, true)?, *value);
        }
        cells.extend(
            shared_cells(self.device)
                .until(eeprom_cells(self.device))
                .zip(shared.iter().copied())
                .take(self.device.temp_bytes.into()),
        );
        Ok(cells)
    }

    fn number(&self, raw: &'a RawValue, what: &'static str, last: u64) -> Result<u64> {
        let value: u64 = self.read(raw)?;
        match value <= last {
            true => Ok(value),
            false => Err(self.error(trimmed(raw), StimulusErrorKind::OutOfRange { what, value, last })),
        }
    }

    fn unknown<'b>(
        &self,
        raw: &'a RawValue,
        what: &'static str,
        name: String,
        known: impl IntoIterator<Item = &'b str>,
    ) -> StimulusError {
        let nearest = nearest(&name, known);
        self.error(trimmed(raw), StimulusErrorKind::UnknownName { what, name, nearest })
    }

    /// The data address of a register by its name, or where there is none as in "0x00ff"; `r0` to `r31` only where
    /// they count as registers.
    fn register(&self, raw: &'a RawValue, general: bool) -> Result<DataAddress> {
        let name: String = self.read(raw)?;
        let number = name.strip_prefix('r').and_then(|digits| digits.parse().ok());
        if let Some(register) = number.and_then(avr_isa::Register::new).filter(|_| general) {
            return Ok(register.address());
        }
        if let Some(address) = name.strip_prefix("0x").and_then(|digits| u16::from_str_radix(digits, 16).ok()) {
            return Ok(DataAddress(address));
        }
        match self.device.register(&name) {
            Some(register) => Ok(register.address),
            None => {
                let known = self.device.registers.iter().map(|register| register.name);
                Err(self.unknown(raw, "register", name, known))
            }
        }
    }

    /// The PIN register and the bit of a pin.
    fn pin(&self, raw: &'a RawValue) -> Result<(DataAddress, u8)> {
        let name: String = self.read(raw)?;
        let found = name.strip_prefix('P').and_then(|rest| {
            let bit: u8 = rest.get(1..)?.parse().ok().filter(|bit| *bit < 8)?;
            let register = self.device.register(&format!("PIN{}", rest.get(..1)?))?;
            let exists = register.bits[usize::from(bit)].kind != BitKind::Reserved;
            exists.then_some((register.address, 1 << bit))
        });
        found.ok_or_else(|| {
            let names: Vec<String> = self.device.registers.iter().flat_map(pin_names).collect();
            self.unknown(raw, PIN, name, names.iter().map(String::as_str))
        })
    }

    fn interrupt(&self, raw: &'a RawValue) -> Result<u8> {
        let name: String = self.read(raw)?;
        match self.device.interrupt(&name) {
            Some(interrupt) => Ok(interrupt.number),
            None => {
                let known = self.device.interrupts.iter().map(|interrupt| interrupt.name);
                Err(self.unknown(raw, "interrupt", name, known))
            }
        }
    }

    fn reset(&self, raw: &'a RawValue) -> Result<ResetCause> {
        let name: String = self.read(raw)?;
        let found = RESETS.iter().find(|(known, _)| *known == name).map(|(_, cause)| *cause);
        found.ok_or_else(|| self.unknown(raw, "reset", name, RESETS.iter().map(|(name, _)| *name)))
    }

    fn choice(&self, raw: &'a RawValue) -> Result<Happening> {
        let name: String = self.read(raw)?;
        if name == NONE {
            return Ok(Happening::Continue);
        }
        if name == WAKE {
            return Ok(Happening::Wake);
        }
        if let Some((_, cause)) = RESETS.iter().find(|(known, _)| *known == name) {
            return Ok(Happening::Reset(*cause));
        }
        match self.device.interrupt(&name) {
            Some(interrupt) => Ok(Happening::Interrupt(interrupt.number)),
            None => {
                let known = self.device.interrupts.iter().map(|interrupt| interrupt.name);
                Err(self.unknown(raw, CHOICE, name, known.chain(RESETS.iter().map(|(name, _)| *name))))
            }
        }
    }

    fn inputs(&self, inputs: &[(&'a RawValue, u8, u8)]) -> Result<Vec<ExactInput>> {
        let input = |(name, mask, value): &(&'a RawValue, u8, u8)| {
            if value & !mask != 0 {
                let kind = StimulusErrorKind::OutsideMask { mask: *mask, value: *value };
                return Err(self.error(trimmed(name), kind));
            }
            Ok(ExactInput { register: self.register(name, false)?, mask: *mask, value: *value })
        };
        inputs.iter().map(input).collect()
    }

    fn exact(&self, steps: &[&'a RawValue]) -> Result<Vec<ExactStep>> {
        let mut all: Vec<ExactStep> = Vec::with_capacity(steps.len());
        let mut before = None;
        for raw in steps {
            let part = trimmed(raw);
            let step: Exact<'_> = self.parse(part)?;
            if let Some(before) = before.filter(|before| *before >= step.step) {
                return Err(self.error(part, StimulusErrorKind::OutOfOrder { step: step.step, before }));
            }
            before = Some(step.step);
            let read = ExactStep {
                step: step.step,
                inputs: self.inputs(&step.inputs)?,
                initial: self.registers(&step.registers, &step.shared)?,
                choice: step.choice.map(|choice| self.choice(choice)).transpose()?,
            };
            let repeated = repeat(read, step.every, step.times, MAX_STEPS - all.len() as u64);
            all.extend(repeated.map_err(|kind| self.error(part, kind))?);
        }
        // Entries that are repeated go on behind the beginning of the next ones.
        all.sort_by_key(|step| step.step);
        match all.windows(2).find(|pair| pair[0].step == pair[1].step) {
            Some(pair) => {
                let (step, before) = (pair[1].step, pair[0].step);
                let text = steps.first().map_or("", |raw| trimmed(raw));
                Err(self.error(text, StimulusErrorKind::OutOfOrder { step, before }))
            }
            None => Ok(all),
        }
    }

    fn add_event(&self, raw: &'a RawValue, stimulus: &mut Stimulus) -> Result<()> {
        let part = trimmed(raw);
        let event: Event<'_> = self.parse(part)?;
        let actions = self.actions(&event)?.into_iter();
        match (event.cycle, event.step) {
            (Some(cycle), None) => stimulus.timed.extend(actions.map(|action| (cycle, action))),
            (None, Some(step)) => stimulus.counted.extend(actions.map(|action| (step, action))),
            _ => return Err(self.error(part, StimulusErrorKind::NoMoment)),
        }
        Ok(())
    }

    fn actions(&self, event: &Event<'a>) -> Result<Vec<Action>> {
        let mut actions = Vec::new();
        for (name, level) in &event.pins.0 {
            let (register, mask) = self.pin(name)?;
            actions.push(Action::Pins { register, mask, level: if level.0 { mask } else { 0 } });
        }
        for (channel, value) in &event.adc.0 {
            let number = self.number(channel, "channel", last_channel(self.device).into())? as u8;
            if *value > MAX_CONVERTED {
                let kind = StimulusErrorKind::OutOfRange { what: "result", value: *value, last: MAX_CONVERTED };
                return Err(self.error(trimmed(channel), kind));
            }
            actions.push(Action::Adc { channel: number, value: *value as u16 });
        }
        for name in &event.release {
            actions.push(Action::Release(self.register(name, false)?));
        }
        let input =
            |input: ExactInput| Action::Input { register: input.register, mask: input.mask, value: input.value };
        actions.extend(self.inputs(&event.inputs)?.into_iter().map(input));
        actions.extend(event.uart.as_ref().map(|bytes| Action::Uart(bytes.to_vec())));
        for name in &event.interrupts {
            actions.push(Action::Interrupt(self.interrupt(name)?));
        }
        if let Some(name) = event.reset {
            actions.push(Action::Reset(self.reset(name)?));
        }
        Ok(actions)
    }
}

impl Bytes {
    fn to_vec(&self) -> Vec<u8> {
        match self {
            Self::List(bytes) => bytes.clone(),
            Self::Text(text) => text.as_bytes().to_vec(),
        }
    }
}

/// The names of the pins of a PIN register.
fn pin_names(register: &crate::device::Register) -> Vec<String> {
    let Some(letter) = register.name.strip_prefix("PIN") else { return Vec::new() };
    let exists = |bit: &usize| register.bits[*bit].kind != BitKind::Reserved;
    (0..8).filter(exists).map(|bit| format!("P{letter}{bit}")).collect()
}

/// The part without white space and comments around it.
fn trimmed(raw: &RawValue) -> &str {
    raw.trim().get_ron()
}

/// The same inputs again, every so many steps.
fn repeat(
    first: ExactStep,
    every: Option<u64>,
    times: Option<u64>,
    room: u64,
) -> Result<impl Iterator<Item = ExactStep>, StimulusErrorKind> {
    let (every, times) = match (every, times) {
        (None, None) => (1, 1),
        (Some(every), Some(times)) if every > 0 && times > 0 => (every, times),
        _ => return Err(StimulusErrorKind::Repetition),
    };
    if times > room {
        return Err(StimulusErrorKind::OutOfRange { what: "the number of steps", value: times, last: room });
    }
    let last = every.checked_mul(times - 1).and_then(|distance| first.step.checked_add(distance));
    if last.is_none() {
        return Err(StimulusErrorKind::OutOfRange { what: "the distance", value: every, last: u64::MAX / times });
    }
    Ok((0..times).map(move |number| ExactStep { step: first.step + number * every, ..first.clone() }))
}

fn ron_kind(error: &ron::Error) -> StimulusErrorKind {
    match error {
        ron::Error::NoSuchStructField { expected, found, .. } => StimulusErrorKind::UnknownField {
            found: found.clone(),
            nearest: nearest(found, expected.iter().copied()),
            known: expected,
        },
        other => StimulusErrorKind::Ron(ron_message(other)),
    }
}
