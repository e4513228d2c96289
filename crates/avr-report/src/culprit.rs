//! Causes of unknown verdicts, in words and as data.

use avr_image::Image;
use avr_machine::Limit;
use avr_machine::device::Device;
use avr_verify::{Culprit, Explosion, Help, Origin, Unknown, UnknownBits};
use serde::Serialize;

use crate::names::Names;

/// So many of the last instructions of a path are named in the text.
const SHOWN_PATH: usize = 6;

/// The object `unknown` of a result without an answer.
#[derive(Serialize)]
pub(crate) struct JsonUnknown {
    limit: &'static str,
    cause: Option<String>,
    steps: usize,
    path: Vec<JsonPlace>,
    bits: Vec<JsonBits>,
    bits_omitted: usize,
    refinements: usize,
    help: Vec<String>,
    explodes: Option<JsonExplosion>,
}

/// The instruction with the most states, and the cells in which they differ.
#[derive(Serialize)]
struct JsonExplosion {
    #[serde(flatten)]
    place: JsonPlace,
    states: usize,
    cells: Vec<JsonVaryingCell>,
    cells_omitted: usize,
}

/// A cell in which states differ.
#[derive(Serialize)]
struct JsonVaryingCell {
    cell: String,
    contents: usize,
}

/// A place in the program.
#[derive(Serialize)]
pub(crate) struct JsonPlace {
    pub(crate) pc: Option<u32>,
    pub(crate) function: Option<String>,
    pub(crate) line: Option<String>,
}

#[derive(Serialize)]
struct JsonBits {
    cell: String,
    mask: u8,
    origin: &'static str,
    step: usize,
    #[serde(flatten)]
    place: JsonPlace,
}

impl JsonPlace {
    pub(crate) fn new(names: &Names<'_>, pc: Option<u32>) -> Self {
        Self { pc, function: pc.and_then(|pc| names.function(pc)), line: pc.and_then(|pc| names.source_line(pc)) }
    }
}

impl JsonUnknown {
    /// The cause of an unknown verdict, with the names of an image and a device.
    pub(crate) fn new(unknown: &Unknown, image: &Image, device: &str) -> Option<Self> {
        let device = Device::named(device).ok()?;
        let names = Names { image, device };
        let Some(culprit) = &unknown.culprit else { return Some(Self::of_limit(without_culprit(unknown))) };
        Some(Self {
            cause: Some(culprit.cause.clone()),
            steps: culprit.steps,
            path: culprit.path.iter().map(|pc| JsonPlace::new(&names, Some(*pc))).collect(),
            bits: culprit.bits.iter().map(|bits| JsonBits::new(&names, bits)).collect(),
            bits_omitted: culprit.more_bits,
            refinements: culprit.refinements,
            help: culprit.help.iter().map(|help| help_text(&names, *help)).collect(),
            explodes: culprit.explosion.as_ref().map(|explosion| JsonExplosion::new(&names, explosion)),
            ..Self::of_limit(culprit.obstacle.name())
        })
    }

    fn of_limit(limit: &'static str) -> Self {
        let (path, bits, help) = (Vec::new(), Vec::new(), Vec::new());
        Self { limit, cause: None, steps: 0, path, bits, bits_omitted: 0, refinements: 0, help, explodes: None }
    }
}

impl JsonBits {
    fn new(names: &Names<'_>, bits: &UnknownBits) -> Self {
        Self {
            cell: names.cell(bits.cell),
            mask: bits.mask,
            origin: bits.origin.name(),
            step: bits.step,
            place: JsonPlace::new(names, bits.pc),
        }
    }
}

impl JsonExplosion {
    fn new(names: &Names<'_>, explosion: &Explosion) -> Self {
        let cells = explosion.cells.iter();
        Self {
            place: JsonPlace::new(names, Some(explosion.pc)),
            states: explosion.states,
            cells: cells.map(|one| JsonVaryingCell { cell: names.cell(one.cell), contents: one.contents }).collect(),
            cells_omitted: explosion.more_cells,
        }
    }
}

/// The kind of limit for a verdict without a cause: an internal error, or the property as it is stated.
fn without_culprit(unknown: &Unknown) -> &'static str {
    if unknown.self_check_failed { "self-check" } else { "property" }
}

/// The lines about what stands in the way, without an indent.
pub(crate) fn lines(culprit: &Culprit, image: &Image, device: &str) -> Vec<String> {
    let Ok(device) = Device::named(device) else { return Vec::new() };
    let names = Names { image, device };
    let mut lines: Vec<String> = culprit.explosion.iter().map(|explosion| explosion_text(&names, explosion)).collect();
    let steps = if culprit.steps == 1 { "1 step".to_owned() } else { format!("{} steps", culprit.steps) };
    if let Some(last) = culprit.path.last() {
        lines.push(format!("in the way: {}, after {steps}, {}", culprit.cause, place(&names, Some(*last))));
        lines.extend(path(&names, culprit));
    }
    for bits in &culprit.bits {
        let (what, place) = (bits_text(&names, bits), place(&names, bits.pc));
        lines.push(format!("it depends on {what} {place}, step {}", bits.step));
    }
    if culprit.more_bits > 0 {
        lines.push(format!("and on {} more", culprit.more_bits));
    }
    lines.push(format!("refinements spent on it: {}", culprit.refinements));
    lines.extend(culprit.help.iter().map(|help| format!("what would help: {}", help_text(&names, *help))));
    lines
}

/// The explosion in words, such as `r28 (200 contents) times PINB (16 contents)`.
fn explosion_text(names: &Names<'_>, explosion: &Explosion) -> String {
    let cells = explosion.cells.iter().map(|one| format!("{} ({} contents)", names.cell(one.cell), one.contents));
    let cells: Vec<String> = cells.collect();
    let more = match explosion.more_cells {
        0 => String::new(),
        more => format!(", and {more} other cells"),
    };
    let varying = if cells.is_empty() { "what is beside the memory".to_owned() } else { cells.join(" times ") };
    let place = place(names, Some(explosion.pc));
    format!("the states explode {place}: {} of them, which differ in {varying}{more}", explosion.states)
}

/// The end of the path, with instructions in a row of one function and line named once.
fn path(names: &Names<'_>, culprit: &Culprit) -> Option<String> {
    let mut shown: Vec<String> = Vec::new();
    let mut previous = None;
    for pc in &culprit.path {
        let here = (names.function(*pc), names.shown_line(*pc));
        if previous.as_ref() != Some(&here) || here == (None, None) {
            shown.push(match &here {
                (None, None) => format!("{pc:#06x}"),
                (function, line) => {
                    let named = [function.clone(), line.clone()].into_iter().flatten();
                    named.collect::<Vec<_>>().join(" ")
                }
            });
        }
        previous = Some(here);
    }
    let more = if shown.len() > SHOWN_PATH || culprit.path.len() < culprit.steps { "... -> " } else { "" };
    let last = &shown[shown.len().saturating_sub(SHOWN_PATH)..];
    (shown.len() > 1).then(|| format!("path: {more}{}", last.join(" -> ")))
}

/// A place in words.
pub(crate) fn place(names: &Names<'_>, pc: Option<u32>) -> String {
    let Some(pc) = pc else { return "before the start".to_owned() };
    let function = names.function(pc).map(|function| format!("in {function}"));
    let detail: Vec<String> = [function, names.shown_line(pc)].into_iter().flatten().collect();
    match detail.is_empty() {
        true => format!("at {pc:#06x}"),
        false => format!("at {pc:#06x} ({})", detail.join(", ")),
    }
}

/// The unknown bits and the reason why they are unknown.
fn bits_text(names: &Names<'_>, bits: &UnknownBits) -> String {
    let cell = names.cell(bits.cell);
    let of = |cell: &str| match (bits.mask, bits.mask.count_ones()) {
        (0xff, _) => cell.to_owned(),
        (mask, 1) => format!("{cell}.{}", mask.trailing_zeros()),
        (mask, _) => format!("the bits {mask:#04x} of {cell}"),
    };
    match bits.origin {
        Origin::Input => format!("{}, read as input", of(&cell)),
        Origin::Initial => format!("the initial content of {}, open", of(&cell)),
        Origin::Decay => format!("{}, forgotten by the abstraction", of(&cell)),
        Origin::CaseSplit => format!("{}, stored and unknown, not split into cases", of(&cell)),
    }
}

fn help_text(names: &Names<'_>, help: Help) -> String {
    match help {
        Help::RaiseTime(limit) => {
            format!("more time, such as `--timeout {}s`", (2.0 * limit.as_secs_f64()).ceil().max(1.0))
        }
        Help::RaiseMemory(limit) => format!("more memory, such as `--memory {}M`", (limit >> 20).max(1) * 2),
        Help::Resume => "to let it run to its end".to_owned(),
        Help::Assume(register, mask) => {
            let register = names.cell(register);
            let masked = if mask == 0xff { register } else { format!("{register} & {mask:#04x}") };
            format!("an assumption in the property file, if one is right, such as `assume: [\"{masked} == 0\"]`")
        }
        Help::Name(cell) => {
            format!("to name {} in a property or to bound it, so that its values are distinguished", names.cell(cell))
        }
        Help::Initialise(cell) => format!("to give {} a value before it is used", names.cell(cell)),
        Help::Hazard(kind) => {
            let name = kind.name();
            format!("to repair what leads to the hazard, or to allow it: `allow: {{\"{name}\": \"why\"}}`")
        }
        Help::Bound(limit) => bound_text(limit).to_owned(),
    }
}

pub(crate) fn bound_text(limit: Limit) -> &'static str {
    match limit {
        Limit::UnknownPointer => "to check the pointer or index against its bounds right before the access",
        Limit::UnknownTarget => "to check the index right before the indirect jump or call",
        Limit::UnknownStackPointer => "to load the stack pointer from a value that is known",
        Limit::TooManyCases => "to narrow what the step depends on: an assumption, or fewer values at once",
        Limit::Unsupported(_) => "to keep the program from what is not modelled, or to choose another device",
    }
}
