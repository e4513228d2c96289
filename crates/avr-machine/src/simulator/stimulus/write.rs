//! Writing an exact stimulus as a file.

use avr_isa::DataAddress;
use std::collections::{BTreeMap, btree_map};
use std::fmt::Write;

use super::{ExactStep, NONE, RESETS, Stimulus, WAKE};
use crate::device::Device;
use crate::environment::Happening;
use crate::machine::{eeprom_cells, shared_cells};

/// The file.
pub(super) fn exact(stimulus: &Stimulus, device: &'static Device) -> String {
    let mut text = String::from("(\n");
    cells(&mut text, "    ", "\n", &stimulus.initial, device);
    text.push_str("    exact: [\n");
    for repeated in folded(stimulus.exact.as_deref().unwrap_or_default()) {
        exact_step(&mut text, &repeated, device);
    }
    text.push_str("    ],\n)\n");
    text
}

/// Steps with the same inputs and the same distance to each other, as polling makes them.
struct Repeated<'a> {
    first: &'a ExactStep,
    every: u64,
    times: u64,
}

/// Fewer steps are written one by one.
const MIN_TIMES: u64 = 3;
/// A step is compared with so many that follow it: the loop of a program asks for no more in a round.
const MAX_BETWEEN: usize = 8;

/// The steps with those joined that repeat an earlier one at a constant distance, by their first step.
fn folded(steps: &[ExactStep]) -> Vec<Repeated<'_>> {
    let is_same = |one: &ExactStep, other: &ExactStep| {
        one.inputs == other.inputs && one.initial == other.initial && one.choice == other.choice
    };
    let mut is_told = vec![false; steps.len()];
    let mut all = Vec::new();
    for (index, first) in steps.iter().enumerate() {
        if is_told[index] {
            continue;
        }
        let free = |at: usize, is_told: &[bool]| !is_told[at] && is_same(first, &steps[at]);
        let following = (index + 1..steps.len()).take(MAX_BETWEEN).find(|at| free(*at, &is_told));
        let every = following.map_or(0, |at| steps[at].step - first.step);
        let mut repeats: Vec<usize> = Vec::new();
        let (mut from, mut next) = (index + 1, first.step.checked_add(every).filter(|_| every > 0));
        while let Some(step) = next {
            let Ok(found) = steps[from..].binary_search_by_key(&step, |it| it.step) else { break };
            let at = from + found;
            if !free(at, &is_told) {
                break;
            }
            repeats.push(at);
            (from, next) = (at + 1, step.checked_add(every));
        }
        let times = 1 + repeats.len() as u64;
        if times < MIN_TIMES {
            all.push(Repeated { first, every: 1, times: 1 });
            continue;
        }
        repeats.iter().for_each(|at| is_told[*at] = true);
        all.push(Repeated { first, every, times });
    }
    all
}

fn exact_step(text: &mut String, repeated: &Repeated<'_>, device: &'static Device) {
    let Repeated { first: step, every, times } = *repeated;
    line(text, format_args!("        (step: {}", step.step));
    if times > 1 {
        line(text, format_args!(", every: {every}, times: {times}"));
    }
    if !step.inputs.is_empty() {
        let input = |input: &super::ExactInput| {
            format!("({}, {:#04x}, {:#04x})", register(input.register, device), input.mask, input.value)
        };
        let inputs: Vec<String> = step.inputs.iter().map(input).collect();
        line(text, format_args!(", inputs: [{}]", inputs.join(", ")));
    }
    if !step.initial.is_empty() {
        text.push_str(", ");
        cells(text, "", "", &step.initial, device);
    }
    if let Some(choice) = step.choice {
        line(text, format_args!(", choice: \"{}\"", choice_name(choice, device)));
    }
    text.push_str("),\n");
}

/// The fields that give cells their content.
fn cells(text: &mut String, before: &str, after: &str, cells: &BTreeMap<DataAddress, u8>, device: &'static Device) {
    let (sram, shared, eeprom) = (device.memory.sram_start, shared_cells(device), eeprom_cells(device));
    let pairs = |cells: btree_map::Range<'_, DataAddress, u8>, name: &dyn Fn(DataAddress) -> String| -> Vec<String> {
        cells.map(|(cell, value)| format!("{}: {value:#04x}", name(*cell))).collect()
    };
    let maps = [
        ("registers", pairs(cells.range(..sram), &|cell| register(cell, device))),
        ("memory", pairs(cells.range(sram..shared), &|cell| format!("{cell:#06x}"))),
        (
            "eeprom",
            pairs(cells.range(eeprom..), &|cell| format!("{:#06x}", cell.offset_from(eeprom).unwrap_or_default())),
        ),
    ];
    let mut fields: Vec<String> = Vec::new();
    for (name, pairs) in maps.iter().filter(|(_, pairs)| !pairs.is_empty()) {
        fields.push(format!("{name}: {{{}}}", pairs.join(", ")));
    }
    let last_shared = cells.range(shared..eeprom).next_back().map(|(cell, _)| *cell);
    if let Some(last) = last_shared {
        let bytes =
            shared.until(last.wrapping_add(1)).map(|cell| format!("{:#04x}", cells.get(&cell).copied().unwrap_or(0)));
        fields.push(format!("shared: [{}]", bytes.collect::<Vec<_>>().join(", ")));
    }
    let comma = if after.is_empty() { "" } else { "," };
    let fields = fields.iter().map(|field| format!("{before}{field}{comma}{after}")).collect::<Vec<_>>();
    text.push_str(&fields.join(if after.is_empty() { ", " } else { "" }));
}

/// The quoted name of a register by its data address.
fn register(address: DataAddress, device: &'static Device) -> String {
    match device.register_at(address) {
        Some(register) => format!("\"{}\"", register.name),
        None => match avr_isa::Register::at(address) {
            Some(general) => format!("\"{general}\""),
            None => format!("\"{address:#06x}\""),
        },
    }
}

/// The name of what may happen in a step, as stimulus files write it: an interrupt, a reset, or `none`.
pub(super) fn choice_name(choice: Happening, device: &'static Device) -> &'static str {
    match choice {
        Happening::Continue => NONE,
        Happening::Wake => WAKE,
        Happening::Reset(cause) => RESETS.iter().find(|(_, known)| *known == cause).map_or(NONE, |(name, _)| name),
        Happening::Interrupt(number) => {
            let mut all = device.interrupts.iter();
            all.find(|interrupt| interrupt.number == number).map_or(NONE, |interrupt| interrupt.name)
        }
    }
}

fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = text.write_fmt(arguments);
}
