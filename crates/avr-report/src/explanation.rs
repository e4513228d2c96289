//! States in which each subformula holds, fails or is unknown, as a table and as data.

use std::fmt::Write;

use avr_image::{Image, without_detours};
use avr_machine::device::Device;
use serde::{Deserialize, Serialize};

use avr_verify::{Along, Explanation, Stretch};

use crate::escape::Escaped;
use crate::names::Names;

/// So many stretches of a subformula are shown in the text.
const SHOWN_STRETCHES: usize = 12;

/// The object `explanation` of a result. It can be read back and shown without the firmware.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplanationData {
    /// The path that the positions are on: `evidence`, `culprit` or `start`.
    pub along: String,
    /// The number of positions.
    pub positions: u64,
    /// The subformulas, each before its own.
    pub subformulas: Vec<SubformulaData>,
    /// The number of subformulas that are left out.
    pub omitted: usize,
}

/// A subformula.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubformulaData {
    /// Its text.
    pub formula: String,
    /// The nesting depth.
    pub depth: usize,
    /// Its value along the path.
    pub stretches: Vec<StretchData>,
    /// In how many states it has which value.
    pub states: CountData,
}

/// Positions in a row with one value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StretchData {
    /// The first position.
    pub first: u64,
    /// The last position.
    pub last: u64,
    /// `holds`, `fails` or `unknown`.
    pub value: String,
    /// Flash byte address of the next instruction at the first position.
    pub pc: Option<u32>,
    /// The function there.
    pub function: Option<String>,
    /// The source line there.
    pub line: Option<String>,
}

/// Numbers of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountData {
    /// The number of states in which it holds.
    pub holds: usize,
    /// The number of states in which it fails.
    pub fails: usize,
    /// The number of states in which it is unknown.
    pub unknown: usize,
}

impl ExplanationData {
    /// An explanation with the names of an image and a device.
    #[must_use]
    pub fn new(explanation: &Explanation, image: &Image, device: &str) -> Option<Self> {
        let names = Names { image, device: Device::named(device).ok()? };
        let subformulas = explanation.subformulas.iter().map(|one| SubformulaData {
            formula: one.text.clone(),
            depth: one.depth,
            stretches: one.stretches.iter().map(|stretch| StretchData::new(&names, stretch)).collect(),
            states: CountData { holds: one.states.holds, fails: one.states.fails, unknown: one.states.unknown },
        });
        Some(Self {
            along: match explanation.along {
                Along::Evidence => "evidence",
                Along::Culprit => "culprit",
                Along::Start => "start",
            }
            .to_owned(),
            positions: explanation.positions,
            subformulas: subformulas.collect(),
            omitted: explanation.left_out,
        })
    }

    /// The explanation as text, every line with an indent.
    #[must_use]
    pub fn text(&self, indent: &str) -> String {
        let mut text = format!("{indent}{}\n", Escaped(&self.heading()));
        for one in &self.subformulas {
            let CountData { holds, fails, unknown } = one.states;
            let deeper = "  ".repeat(one.depth.min(20));
            put(&mut text, &format!("{indent}  {deeper}{}\n", Escaped(&one.formula)));
            let shown = one.stretches.iter().take(SHOWN_STRETCHES);
            shown.for_each(|stretch| put(&mut text, &format!("{indent}  {deeper}    {}\n", Escaped(&stretch.text()))));
            if one.stretches.len() > SHOWN_STRETCHES {
                let more = one.stretches.len() - SHOWN_STRETCHES;
                put(&mut text, &format!("{indent}  {deeper}    and {more} more stretches\n"));
            }
            let counts = format!("of all states: holds in {holds}, fails in {fails}, unknown in {unknown}");
            put(&mut text, &format!("{indent}  {deeper}    {counts}\n"));
        }
        if self.omitted > 0 {
            put(&mut text, &format!("{indent}  {} more subformulas were not evaluated\n", self.omitted));
        }
        text
    }

    fn heading(&self) -> String {
        let last = self.positions.saturating_sub(1);
        match self.along.as_str() {
            "evidence" => format!("along the run that shows it, from its first state to that after step {last}:"),
            "culprit" => format!("along the path to what stands in the way, {last} steps from the first state:"),
            _ => "in the first state, because there is no run or path to follow:".to_owned(),
        }
    }
}

impl StretchData {
    fn new(names: &Names<'_>, stretch: &Stretch) -> Self {
        Self {
            first: stretch.first,
            last: stretch.last,
            value: match stretch.value.known() {
                Some(true) => "holds",
                Some(false) => "fails",
                None => "unknown",
            }
            .to_owned(),
            pc: stretch.pc,
            function: stretch.pc.and_then(|pc| names.function(pc)),
            line: stretch.pc.and_then(|pc| names.source_line(pc)),
        }
    }

    fn text(&self) -> String {
        let Self { first, last, value, .. } = self;
        let steps = if first == last { format!("{first}") } else { format!("{first} to {last}") };
        let place = [self.function.clone(), self.line.as_deref().map(without_detours)]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(", ");
        let place = match (self.pc, place.is_empty()) {
            (None, _) => String::new(),
            (Some(pc), true) => format!(" from {pc:#06x}"),
            (Some(pc), false) => format!(" from {pc:#06x} ({place})"),
        };
        format!("{value:<7} {steps}{place}")
    }
}

fn put(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = text.write_str(line);
}
