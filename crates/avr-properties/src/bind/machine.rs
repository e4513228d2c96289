//! Machines of the environment: specification automata that drive inputs become automata over accesses to registers.

use std::collections::BTreeMap;

use avr_isa::DataAddress;
use avr_machine::{
    AutomatonMove, AutomatonState, ByteSet, EnvironmentAutomaton, MAX_AUTOMATA, MAX_AUTOMATON_STATES, Signal,
    drivable_bits,
};
use three_valued::Truth;

use super::{Assumptions, Binder, Binding, bind_assumptions};
use crate::atom::AtomTable;
use crate::conformance::{PlacedText, SpecificationError, SpecificationState};
use crate::definitions::Definitions;
use crate::error::{PropertyError, PropertyErrorKind};
use crate::file::{EnvironmentMachine, PropertyFile};
use crate::machine_error::MachineError;
use crate::nearest::nearest;
use crate::view::Event;

/// Binds the machines of a property file.
///
/// # Errors
/// If one of them was not read, drives what is no input or what another one drives, or moves on what it cannot hear.
pub fn bind_machines(file: &PropertyFile, binding: &Binding<'_>) -> Result<Vec<EnvironmentAutomaton>, PropertyError> {
    let Some(last) = file.machines.last() else { return Ok(Vec::new()) };
    if file.machines.len() > MAX_AUTOMATA {
        return Err(PropertyErrorKind::Machine(MachineError::TooMany).at_place(last.place.clone()));
    }
    let mut driven = Driven { by_all: BTreeMap::new(), assumptions: bind_assumptions(file, binding)? };
    file.machines.iter().map(|machine| automaton(machine, &mut driven, binding)).collect()
}

/// The bits that machines drive so far.
struct Driven {
    by_all: BTreeMap<DataAddress, u8>,
    assumptions: Assumptions,
}

fn automaton(
    machine: &EnvironmentMachine,
    driven: &mut Driven,
    binding: &Binding<'_>,
) -> Result<EnvironmentAutomaton, PropertyError> {
    let at_machine = |error| PropertyErrorKind::Machine(error).at_place(machine.place.clone());
    let mut drives: BTreeMap<DataAddress, u8> = BTreeMap::new();
    for text in &machine.drives {
        let (address, mask) = driven.add(text, binding)?;
        *drives.entry(address).or_default() |= mask;
    }
    if drives.is_empty() {
        return Err(at_machine(MachineError::DrivesNothing));
    }
    let Some(specification) = &machine.automaton else {
        let kind = SpecificationError::NotRead(machine.spec.clone());
        return Err(PropertyErrorKind::Specification(kind).at_place(machine.place.clone()));
    };
    if specification.states.len() > MAX_AUTOMATON_STATES {
        return Err(at_machine(MachineError::TooManyStates));
    }
    let states = specification.states.iter().map(|it| state(it, &drives, binding));
    let states = states.collect::<Result<Vec<AutomatonState>, _>>()?;
    let gives = |one: &AutomatonMove, address| matches!(one.on, Some((Signal::Read(read), _)) if read == address);
    for address in drives.keys() {
        if !states.iter().flat_map(|state| &state.moves).any(|one| gives(one, *address)) {
            return Err(at_machine(MachineError::NoValue(register_name(*address, binding))));
        }
    }
    let initial = specification.initial.clone();
    Ok(EnvironmentAutomaton { name: machine.spec.clone(), drives, initial, states })
}

fn register_name(address: DataAddress, binding: &Binding<'_>) -> String {
    binding.device.register_at(address).map_or_else(|| format!("{address:#06x}"), |register| register.name.to_owned())
}

impl Driven {
    /// Adds the register or bit that a text names.
    fn add(&mut self, text: &PlacedText, binding: &Binding<'_>) -> Result<(DataAddress, u8), PropertyError> {
        let error = |error| PropertyErrorKind::Machine(error).at_place(text.place.clone());
        let (address, mask) = named(&text.text, binding).map_err(|kind| kind.at_place(text.place.clone()))?;
        let drivable = drivable_bits(binding.device, address);
        let is_whole = mask == u8::MAX;
        let mask = if is_whole { drivable } else { mask };
        if mask == 0 || mask & !drivable != 0 {
            return Err(error(MachineError::NotAnInput(text.text.clone())));
        }
        let known = self.by_all.entry(address).or_default();
        if *known & mask != 0 {
            return Err(error(MachineError::DrivenTwice(text.text.clone())));
        }
        *known |= mask;
        if self.assumptions.inputs.get(&address).is_some_and(|bits| bits.known_mask() & mask != 0) {
            return Err(error(MachineError::Assumed(text.text.clone())));
        }
        Ok((address, mask))
    }
}

/// The register that a text names, with all of its bits or the one that it names.
fn named(text: &str, binding: &Binding<'_>) -> Result<(DataAddress, u8), PropertyErrorKind> {
    let device = binding.device;
    let (name, bit) = text.split_once('.').map_or((text, None), |(name, bit)| (name, Some(bit)));
    let unknown = |name: &str, known: Vec<&str>| PropertyErrorKind::UnknownName {
        name: name.to_owned(),
        nearest: nearest(name, known),
        no_symbols: false,
        elsewhere: None,
    };
    let registers = || device.registers.iter().filter(|it| !it.is_hidden).map(|it| it.name).collect();
    let register = device.register(name).filter(|it| !it.is_hidden).ok_or_else(|| unknown(name, registers()))?;
    let Some(bit) = bit else { return Ok((register.address, u8::MAX)) };
    let number = bit.parse::<u8>().ok().filter(|number| *number < 8);
    let number = number.or_else(|| device.bit(name, bit).map(|it| it.bit));
    let names = || register.bits.iter().filter_map(|it| it.name).collect();
    let number = number.ok_or_else(|| unknown(bit, names()))?;
    Ok((register.address, 1 << number))
}

fn state(
    state: &SpecificationState,
    drives: &BTreeMap<DataAddress, u8>,
    binding: &Binding<'_>,
) -> Result<AutomatonState, PropertyError> {
    let title = format!("state {}", state.name);
    let error = |kind: MachineError, text: &PlacedText| {
        PropertyErrorKind::Machine(kind).at_place(text.place.clone()).of_property(&title, None)
    };
    if let Some(data) = &state.data {
        return Err(error(MachineError::Data, data));
    }
    let mut moves = Vec::new();
    for it in &state.moves {
        let Some(text) = &it.on else {
            moves.push(AutomatonMove { on: None, to: it.to });
            continue;
        };
        let (definitions, mut table) = (Definitions::new(), AtomTable::new());
        let mut binder = Binder::new(&definitions, binding, &mut table);
        let (event, atom, compares) = binder.event_of(text, &state.name)?;
        let signal = signal(&event, binding).ok_or_else(|| error(MachineError::NotHeard, text))?;
        let truths = if compares { binder.values(atom) } else { vec![Truth::True; 256] };
        if truths.contains(&Truth::Unknown) {
            return Err(error(MachineError::NotANumber, text));
        }
        let values = ByteSet::of(|byte| truths[usize::from(byte)] == Truth::True);
        if let Signal::Read(address) = signal
            && let Some(mask) = drives.get(&address)
        {
            // Bits that do not exist read 0.
            let exists = existing_bits(address, binding);
            let same = |byte: u8| values.contains(byte & exists) == values.contains(byte & mask);
            if !(0..=u8::MAX).all(same) {
                return Err(error(MachineError::NotDriven(register_name(address, binding)), text));
            }
            if !(0..=u8::MAX).any(|byte| values.contains(byte & mask)) {
                return Err(error(MachineError::NeverTrue, text));
            }
            let values = ByteSet::of(|byte| byte & !mask == 0 && values.contains(byte));
            moves.push(AutomatonMove { on: Some((signal, values)), to: it.to });
            continue;
        }
        moves.push(AutomatonMove { on: Some((signal, values)), to: it.to });
    }
    Ok(AutomatonState { name: state.name.clone(), moves })
}

/// The bits of a register that are not reserved.
fn existing_bits(address: DataAddress, binding: &Binding<'_>) -> u8 {
    let register = binding.device.register_at(address);
    register.map_or(u8::MAX, |register| !super::assumption::zero_bits(register))
}

/// The access that an event is, if it is one to a single register.
fn signal(event: &Event, binding: &Binding<'_>) -> Option<Signal> {
    let single = |cells: &std::ops::Range<DataAddress>| {
        let is_register = binding.device.register_at(cells.start).is_some_and(|register| !register.is_hidden);
        (cells.end.offset_from(cells.start) == Some(1) && is_register).then_some(cells.start)
    };
    match event {
        Event::Read(cells) => single(cells).map(Signal::Read),
        Event::Write(cells) => single(cells).map(Signal::Write),
        Event::Call(_) | Event::Return(_) | Event::Interrupt(_) => None,
    }
}
