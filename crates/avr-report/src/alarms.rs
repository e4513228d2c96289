//! Alarms of the invariants of the whole program, in words and as data.

use avr_machine::Limit;
use avr_verify::{Alarm, AlarmKind, Dependence, DependenceKind, Verdict};
use serde::Serialize;

use crate::culprit::{JsonPlace, bound_text, place};
use crate::names::Names;
use crate::report::Report;

/// An alarm as data.
#[derive(Serialize)]
pub(crate) struct JsonAlarm {
    text: String,
    kind: &'static str,
    interrupt: Option<&'static str>,
    #[serde(flatten)]
    place: JsonPlace,
    operands: Vec<String>,
    least: Option<u16>,
    greatest: Option<u16>,
    depends_on: Vec<JsonDependence>,
    depends_on_omitted: usize,
    help: Vec<String>,
    paste: Option<String>,
    paste_closes: Option<bool>,
}

#[derive(Serialize)]
struct JsonDependence {
    kind: &'static str,
    cell: String,
    cells_omitted: usize,
    mask: u8,
    #[serde(flatten)]
    place: JsonPlace,
    r#loop: Option<JsonPlace>,
}

impl JsonAlarm {
    pub(crate) fn new(alarm: &Alarm, names: &Names<'_>) -> Self {
        let dependence = |one: &Dependence| JsonDependence {
            kind: one.kind.name(),
            cell: names.cell(one.cell),
            cells_omitted: one.more_cells,
            mask: one.mask,
            place: JsonPlace::new(names, one.pc),
            r#loop: one.in_loop.map(|head| JsonPlace::new(names, Some(head))),
        };
        Self {
            text: alarm.text.clone(),
            kind: alarm.kind.name(),
            interrupt: alarm.interrupt.map(|number| names.interrupt(number)),
            place: JsonPlace::new(names, alarm.pc),
            operands: alarm.operands.iter().map(|cell| names.cell(*cell)).collect(),
            least: alarm.range.map(|(least, _)| least),
            greatest: alarm.range.map(|(_, greatest)| greatest),
            depends_on: alarm.dependences.iter().map(dependence).collect(),
            depends_on_omitted: alarm.more_dependences,
            help: help(alarm).into_iter().map(str::to_owned).collect(),
            paste: alarm.line.as_ref().map(|line| line.text.clone()),
            paste_closes: alarm.line.as_ref().map(|line| line.closes),
        }
    }
}

impl Report<'_> {
    /// The alarms as data.
    pub(crate) fn json_alarms(&self) -> Vec<JsonAlarm> {
        let Some(names) = self.names() else { return Vec::new() };
        let alarms = self.results.invariants.iter().flat_map(|outcome| &outcome.alarms);
        alarms.map(|alarm| JsonAlarm::new(alarm, &names)).collect()
    }

    /// The lines about each alarm, the first of which names it.
    pub(crate) fn alarm_lines(&self) -> Vec<Vec<String>> {
        let Some(names) = self.names() else { return Vec::new() };
        let alarms = self.results.invariants.iter().flat_map(|outcome| &outcome.alarms);
        alarms.map(|alarm| lines(alarm, &names)).collect()
    }

    /// True if the answer to some property is not known, so that alarms say why.
    pub(crate) fn has_unknown(&self) -> bool {
        self.results.properties.iter().any(|result| matches!(result.verdict, Verdict::Unknown(_)))
    }
}

fn lines(alarm: &Alarm, names: &Names<'_>) -> Vec<String> {
    let mut lines = vec![alarm.text.clone()];
    if !alarm.operands.is_empty() {
        let operands: Vec<String> = alarm.operands.iter().rev().map(|cell| names.cell(*cell)).collect();
        let range = match alarm.range {
            Some((least, greatest)) if least == greatest => format!(", which is {least:#06x}"),
            Some((least, greatest)) => format!(", from {least:#06x} to {greatest:#06x}"),
            None => String::new(),
        };
        lines.push(format!("it depends on {}{range}", operands.join(":")));
    }
    lines.extend(alarm.dependences.iter().map(|one| dependence(one, names)));
    if alarm.more_dependences > 0 {
        lines.push(format!("and on {} more", alarm.more_dependences));
    }
    if let Some(line) = &alarm.line {
        let effect = if line.closes { "no alarm is left" } else { "this alarm is gone" };
        lines.push(format!("what would help, if it is right: `{}`; with it {effect}", line.text));
    }
    lines.extend(help(alarm).into_iter().map(|help| format!("what would help: {help}")));
    lines
}

fn dependence(one: &Dependence, names: &Names<'_>) -> String {
    let cell = match (one.mask, names.cell(one.cell)) {
        (u8::MAX, cell) => cell,
        (mask, cell) => format!("the bits {mask:#04x} of {cell}"),
    };
    let cell = match one.more_cells {
        0 => cell,
        1 => format!("{cell} and another cell"),
        more => format!("{cell} and {more} other cells"),
    };
    let place = place(names, one.pc);
    match (one.kind, one.in_loop) {
        (DependenceKind::Input, _) => format!("on {cell}, read {place}"),
        (DependenceKind::Initial, _) => format!("on the initial content of {cell}"),
        (DependenceKind::Stored, _) => format!("on the store {place}, which may hit {cell}"),
        (DependenceKind::Variable, _) => format!("on {cell}, loaded {place}"),
        (DependenceKind::Changed, Some(head)) => {
            format!("on {cell}, changed {place} in the loop {}", self::place(names, Some(head)))
        }
        (DependenceKind::Changed, None) => format!("on {cell}, changed {place} over and over"),
        (DependenceKind::Constant, _) => format!("on {cell}, set {place}, one of several values"),
        (DependenceKind::Unfollowed, _) => format!("on {cell}, loaded {place} from where is not known"),
    }
}

/// The advice about an alarm.
fn help(alarm: &Alarm) -> Vec<&'static str> {
    match alarm.kind {
        AlarmKind::Hazard(_) => vec!["to repair what leads to the hazard"],
        AlarmKind::Limit(Limit::UnknownTarget) if is_return(alarm) => {
            vec!["to check the index of the store that may hit the return address"]
        }
        AlarmKind::Limit(limit) => vec![bound_text(limit)],
        AlarmKind::Other => alarm.help.into_iter().collect(),
    }
}

/// True if the target is taken from the stack.
fn is_return(alarm: &Alarm) -> bool {
    alarm.range.is_none()
}
