//! Tests of systems: known ones, wrong files, and random ones against a composition of concrete states.

mod basis;
mod branching;
mod choices;
mod conformance;
mod ends;
mod files;
mod lines;
mod merged;
mod moments;
mod pins;
mod requested;
mod requests;
mod simulation;
mod small;
mod wires;

use std::collections::{BTreeMap, BTreeSet};

use avr_image::Image;
use avr_isa::Instruction;
use avr_machine::device::Device;
use avr_properties::{PropertyFile, Setting, SpecificationAutomaton};
use avr_testkit::image::{encoded, image};

use crate::{Limits, Results, System, SystemFile, Verdict};

/// The results of a system of programs of a device.
#[track_caller]
pub(super) fn results(text: &str, device: &str, programs: &[Vec<Instruction>]) -> Results {
    results_of(text, device, programs, &BTreeMap::new())
}

/// The same within limits.
#[track_caller]
pub(super) fn results_within(limits: Limits, text: &str, device: &str, programs: &[Vec<Instruction>]) -> Results {
    results_with((text, &BTreeMap::new()), device, programs, limits)
}

/// The same with specifications.
#[track_caller]
pub(super) fn results_of(
    text: &str,
    device: &str,
    programs: &[Vec<Instruction>],
    specifications: &BTreeMap<String, SpecificationAutomaton>,
) -> Results {
    results_with((text, specifications), device, programs, Limits::default())
}

#[track_caller]
fn results_with(
    (text, specifications): (&str, &BTreeMap<String, SpecificationAutomaton>),
    device: &str,
    programs: &[Vec<Instruction>],
    limits: Limits,
) -> Results {
    let file = SystemFile::parse(text).expect("the file is a system");
    let device = Device::named(device).expect("there is such a device");
    let images: Vec<Image> = programs
        .iter()
        .map(|program| image(&program.iter().flat_map(|instruction| encoded(*instruction)).collect::<Vec<u16>>()))
        .collect();
    let properties = PropertyFile::parse("a.ron", "()").expect("it says nothing");
    let eeprom = BTreeMap::new();
    let settings: Vec<Setting<'_>> =
        images.iter().map(|image| Setting { image, device, start: None, file: &properties, eeprom: &eeprom }).collect();
    let system = System::bind(&file, &settings, specifications).expect("it can be bound");
    system.verify(limits, &|| false)
}

/// The verdicts as letters: h, v or u.
pub(super) fn letters(results: &Results) -> String {
    let letter = |verdict: &Verdict| match verdict {
        Verdict::Holds => 'h',
        Verdict::Violated(_) => 'v',
        Verdict::Unknown(_) => 'u',
    };
    results.properties.iter().map(|result| letter(&result.verdict)).collect()
}

/// The strongly connected components (Kosaraju).
pub(super) fn components(states: &BTreeSet<usize>, next: &dyn Fn(usize) -> Vec<usize>) -> Vec<BTreeSet<usize>> {
    let (mut order, mut seen) = (Vec::new(), BTreeSet::new());
    let mut backwards: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for start in states {
        let mut path = if seen.insert(*start) { vec![(*start, next(*start))] } else { Vec::new() };
        while let Some((state, left)) = path.last_mut() {
            match left.pop() {
                Some(to) => {
                    backwards.entry(to).or_default().push(*state);
                    if seen.insert(to) {
                        path.push((to, next(to)));
                    }
                }
                None => {
                    order.push(*state);
                    path.pop();
                }
            }
        }
    }
    let (mut parts, mut placed) = (Vec::new(), BTreeSet::new());
    for start in order.into_iter().rev() {
        if !placed.insert(start) {
            continue;
        }
        let (mut part, mut waiting) = (BTreeSet::from([start]), vec![start]);
        while let Some(state) = waiting.pop() {
            for before in backwards.get(&state).into_iter().flatten() {
                if placed.insert(*before) {
                    part.insert(*before);
                    waiting.push(*before);
                }
            }
        }
        parts.push(part);
    }
    parts
}
