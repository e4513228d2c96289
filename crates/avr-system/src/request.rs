//! Interrupt requests of wired pins: the changes that set their flags, and what is known of a flag of which a node has not heard.
//!
//! Data sheet, section "External Interrupts". A change on a wire sets a flag of the node that looks at the pin. The composition keeps
//! that until the node takes its next step, and then stores the flag in the node's state, where the machine finds it.

use avr_isa::DataAddress;
use avr_machine::Machine;
use avr_machine::device::{BitRef, Device, Interrupt, PinChanges};
use three_valued::{Truth, TvByte};

use crate::faults::{Fault, is_on};
use crate::wire::{End, Level};

/// The most steps of a node between a change of a pin and its flag: an input is synchronised for up to two clock cycles, and compared in the
/// next one, while an instruction takes one at least (data sheet, "Pin Change Interrupt Timing").
const LATE: u8 = 3;

/// The knowledge about a flag that wires set, beside what the state of its node stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Request {
    /// Nothing has set it.
    #[default]
    None,
    /// A change sets it, before the node takes so many more steps.
    Made {
        /// The steps that may come first.
        steps: u8,
        /// Another change followed, and may set it once more.
        again: bool,
    },
    /// A change of settings may have set it: the data sheet does not say.
    Open {
        /// The steps in which it may still come.
        steps: u8,
    },
    /// The level of a pin is not known, and neither is the flag.
    Unknown {
        /// The steps in which it may still come once the level is known.
        steps: u8,
    },
}

/// The effect of a step on a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Nothing,
    Sets,
    /// It may set the flag, at once or within three steps.
    Open {
        is_late: bool,
    },
    Unknown,
}

impl Request {
    /// The same after a step with this effect.
    fn with(self, effect: Effect) -> Self {
        match (self, effect) {
            (_, Effect::Nothing) => self,
            (Self::Unknown { .. }, Effect::Open { .. }) | (_, Effect::Unknown) => Self::Unknown { steps: LATE },
            (Self::Made { steps, .. }, _) => Self::Made { steps, again: true },
            (_, Effect::Sets) => Self::Made { steps: LATE, again: self != Self::None },
            (Self::Open { steps }, Effect::Open { is_late: false }) => Self::Open { steps },
            (_, Effect::Open { is_late }) => Self::Open { steps: if is_late { LATE } else { 0 } },
        }
    }
}

/// A flag that changes of wired pins set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// The number of the node.
    pub(crate) node: usize,
    /// The number of the interrupt.
    pub(crate) number: u8,
    /// The name of the interrupt.
    pub(crate) name: &'static str,
    pub(crate) flag: BitRef,
    kind: Kind,
}

/// The changes at which a flag is set.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// Those of a pin that the two sense control bits from this one on select.
    Edge(End, BitRef),
    /// Those of pins that the mask of their port lets through; each port with the ends of wires there.
    Changes(Vec<(PinChanges, Vec<End>)>),
}

/// The settings of a source in a state of its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trigger {
    /// The sense control bits, shifted down, or the masks of ports.
    settings: Vec<TvByte>,
    /// True unless the clock may stand that edges need.
    is_awake: bool,
}

impl Request {
    /// True if the node may take more steps before its flag is set.
    pub(crate) fn may_be_late(self) -> bool {
        matches!(self, Self::Made { steps: 1.., .. })
    }

    /// The same after so many steps of the node, in which the flag was not set.
    pub(crate) fn later(self, taken: u64) -> Self {
        let taken = u8::try_from(taken).unwrap_or(u8::MAX);
        match self {
            Self::None => self,
            Self::Made { steps, again } => Self::Made { steps: steps.saturating_sub(taken), again },
            Self::Open { steps } => Self::Open { steps: steps.saturating_sub(taken) },
            Self::Unknown { steps } => Self::Unknown { steps: steps.saturating_sub(taken) },
        }
    }

    /// The same after the program cleared the flag, or its handler was entered. What may come late may still come.
    pub(crate) fn cleared(self) -> Self {
        match self {
            Self::Open { steps: 0 } | Self::Unknown { steps: 0 } => Self::None,
            other => other,
        }
    }

    /// True if it is not known if the flag is set.
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Self::Open { .. } | Self::Unknown { .. })
    }

    /// The same after the flag was set.
    pub(crate) fn told(self) -> Self {
        match self {
            Self::Made { again: true, .. } => Self::Open { steps: LATE },
            Self::Made { .. } => Self::None,
            other => other,
        }
    }
}

impl Source {
    /// The flags of a node that changes of pins at the ends of wires set.
    pub(crate) fn all(node: usize, device: &'static Device, ends: &[End]) -> Vec<Self> {
        let made = |interrupt: &Interrupt| {
            let flag = interrupt.flag()?;
            let external = device.pins.external.iter().find(|(name, _)| *name == interrupt.name);
            let kind = match external {
                Some((name, pin)) => {
                    let end = ends.iter().find(|end| end.pin == *pin)?;
                    Kind::Edge(*end, sense(device, name)?)
                }
                None => {
                    let ports = device.pins.changes.iter().filter(|changes| changes.flag == flag);
                    let here = |changes: &PinChanges| {
                        let is_of = |end: &&End| end.pin.address == changes.pins && end.pin.mask() & changes.of != 0;
                        ends.iter().filter(is_of).copied().collect::<Vec<_>>()
                    };
                    let ports: Vec<(PinChanges, Vec<End>)> = ports.map(|changes| (*changes, here(changes))).collect();
                    if ports.iter().all(|(_, ends)| ends.is_empty()) {
                        return None;
                    }
                    Kind::Changes(ports)
                }
            };
            Some(Self { node, number: interrupt.number, name: interrupt.name, flag, kind })
        };
        device.interrupts.iter().filter_map(made).collect()
    }

    /// True if an interrupt of pins is one of which it is known which pins request it.
    pub(crate) fn is_told(device: &Device, interrupt: &Interrupt) -> bool {
        let external =
            device.pins.external.iter().any(|(name, _)| *name == interrupt.name && sense(device, name).is_some());
        external || device.pins.changes.iter().any(|changes| Some(changes.flag) == interrupt.flag())
    }

    /// The settings in a state of the node, of which `read` gives the cells.
    pub(crate) fn trigger(&self, machine: &Machine, read: &dyn Fn(DataAddress) -> TvByte, is_asleep: bool) -> Trigger {
        let settings = match &self.kind {
            Kind::Edge(_, sense) => vec![sense_of(*sense, read)],
            Kind::Changes(ports) => ports.iter().map(|(changes, _)| read(changes.mask)).collect(),
        };
        let is_idle = machine.device.sleep.as_ref().is_some_and(|sleep| {
            let mode = read(sleep.mode_address);
            let idle = sleep.modes.iter().find(|mode| mode.name == "idle");
            let is_known = mode.known_mask() & sleep.mode_mask == sleep.mode_mask;
            idle.is_some_and(|idle| is_known && mode.value() & sleep.mode_mask == idle.value)
        });
        // Pin changes need no clock.
        let is_awake = !is_asleep || is_idle || matches!(self.kind, Kind::Changes(_));
        Trigger { settings, is_awake }
    }

    /// True if a level may request the interrupt, without the flag.
    pub(crate) fn may_be_level(&self, read: &dyn Fn(DataAddress) -> TvByte) -> bool {
        matches!(&self.kind, Kind::Edge(_, sense) if sense_of(*sense, read).contains(0))
    }

    /// The flag after a step in which it was this before, between states of all nodes with these levels of pins and these settings.
    pub(crate) fn after(
        &self,
        before: Request,
        levels: [&dyn Fn(&End) -> Level; 2],
        [old, new]: [&Trigger; 2],
    ) -> Request {
        let is_off = |trigger: &Trigger| trigger.settings.iter().all(|setting| setting.known() == Some(0));
        if is_off(old) && is_off(new) || is_on(Fault::EdgesIgnored) {
            return before;
        }
        let settings = old.settings.iter().zip(&new.settings);
        match &self.kind {
            Kind::Edge(end, _) => settings.fold(before, |so_far, (old_sense, sense)| {
                let changed = if old_sense == sense { Effect::Nothing } else { Effect::Open { is_late: false } };
                let is_awake = old.is_awake && new.is_awake;
                so_far.with(changed).with(of_edge(levels.map(|level| level(end)), *sense, is_awake))
            }),
            Kind::Changes(ports) => {
                let pins = ports.iter().zip(settings).flat_map(|((changes, ends), (old_mask, mask))| {
                    let pins = (0..8).filter(|bit| changes.of >> bit & 1 == 1);
                    pins.map(move |bit| {
                        let end = ends.iter().find(|end| end.pin.bit == bit);
                        let enables = |mask: &TvByte| match mask.known_mask() >> (bit + changes.shift) & 1 {
                            0 => Truth::Unknown,
                            _ => Truth::from(mask.value() >> (bit + changes.shift) & 1 == 1),
                        };
                        (end, [enables(old_mask), enables(mask)])
                    })
                });
                pins.fold(before, |so_far, (end, enabled)| {
                    so_far.with(match end {
                        _ if enabled == [Truth::False; 2] => Effect::Nothing,
                        // A pin without a wire changes at any time.
                        None => Effect::Unknown,
                        Some(end) => of_change(levels.map(|level| level(end)), enabled),
                    })
                })
            }
        }
    }
}

/// The first of the two sense control bits of an external interrupt.
fn sense(device: &Device, name: &str) -> Option<BitRef> {
    let bit = format!("ISC{}0", name.strip_prefix("INT")?);
    device.registers.iter().find_map(|register| device.bit(register.name, &bit))
}

/// The sense control bits from this one on, shifted down.
fn sense_of(sense: BitRef, read: &dyn Fn(DataAddress) -> TvByte) -> TvByte {
    let byte = read(sense.address);
    let down = |bits: u8| bits >> sense.bit & 3;
    TvByte::new(down(byte.value()), down(byte.known_mask()) | !3)
}

/// The effect of a change between these levels where edges are sensed in this way: 1 both, 2 the falling ones, 3 the rising ones.
fn of_edge(levels: [Level; 2], sense: TvByte, is_awake: bool) -> Effect {
    let Some(sense) = sense.known() else { return Effect::Unknown };
    match levels {
        _ if sense == 0 => Effect::Nothing,
        [Level::Of(old), Level::Of(new)] if old != Truth::Unknown && new != Truth::Unknown => {
            let is_wanted = sense == 1 || (sense == 3) == new.is_true();
            match old != new && (is_wanted || is_on(Fault::EdgeOfAnyKind)) {
                true if is_awake => Effect::Sets,
                true => Effect::Open { is_late: true },
                false => Effect::Nothing,
            }
        }
        _ => Effect::Unknown,
    }
}

/// The effect of a change between these levels of a pin that its mask lets through as this says, before and after.
///
/// The masked levels are compared, so that a mask that changes may set the flag while the pin is high (data sheet, "Pin Change Interrupt
/// Timing").
fn of_change(levels: [Level; 2], enabled: [Truth; 2]) -> Effect {
    let known = levels.map(|level| match level {
        Level::Of(level) => level.known(),
        Level::Floating => None,
    });
    match (known, enabled) {
        ([Some(old), Some(new)], [Truth::True, Truth::True]) if old != new => Effect::Sets,
        ([Some(old), Some(new)], [before, after])
            if old == new && (before == after && before != Truth::Unknown || !new) =>
        {
            Effect::Nothing
        }
        ([Some(_), Some(_)], [Truth::True | Truth::False, Truth::True | Truth::False]) => {
            Effect::Open { is_late: true }
        }
        _ => Effect::Unknown,
    }
}
