//! Drawings: the abstract graph folded to routines, and the stack.

use std::collections::{BTreeMap, BTreeSet};

use avr_verify::{Routine, Survey, Usage, Way};
use maud::{Markup, html};

use crate::escape::Escaped;
use crate::names::{Names, routine_name};

const WIDTH: usize = 190;
const HEIGHT: usize = 34;
const GAP_X: usize = 50;
const GAP_Y: usize = 46;
/// The width of the chart of the stack.
const CHART: usize = 900;
/// Longer names are cut in drawings.
const MAX_NAME: usize = 24;

/// The routines that the proof reaches, and how they lead to each other.
pub(super) fn graph(names: &Names<'_>, survey: &Survey) -> Markup {
    let places = layout(survey);
    let right = places.values().map(|(x, _)| x + WIDTH).max().unwrap_or(0) + 10;
    let bottom = places.values().map(|(_, y)| y + HEIGHT).max().unwrap_or(0) + 10;
    html! {
        h2 #graph { "Graph of the proof, folded to routines" }
        p {
            "A click on a routine tells about it. "
            span style="color:#0969da" { "calls" } ", " span.violated { "interrupts" } ", " span.holds { "jumps" }
            ", returns in grey."
        }
        svg width=(right) height=(bottom) viewBox=(format!("0 0 {right} {bottom}")) role="img" aria-label="routines" {
            defs {
                marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto" {
                    path d="M0 0 L8 4 L0 8 z" {}
                }
            }
            @for (from, to, way) in survey.ways.keys() {
                @if let (Some(from), Some(to)) = (places.get(from), places.get(to)) { (arrow(*from, *to, *way)) }
            }
            @for (routine, usage) in &survey.routines {
                @if let Some((x, y)) = places.get(routine) {
                    g.routine data-about=(about(names, survey, *routine, usage)) {
                        rect.box x=(x) y=(y) width=(WIDTH) height=(HEIGHT) rx="5" {}
                        text x=(x + 8) y=(y + 21) { (short(&routine_name(names, *routine))) }
                    }
                }
            }
        }
        p #routine.mono {}
    }
}

/// The place of each routine in the drawing: rows by the number of steps from the first one.
fn layout(survey: &Survey) -> BTreeMap<Routine, (usize, usize)> {
    let mut rows: Vec<Vec<Routine>> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut row: Vec<Routine> = survey.deepest.first().map(|segment| segment.routine).into_iter().collect();
    // Routines that run first are not called by anything.
    let uncalled = survey.routines.iter().filter(|(_, usage)| usage.callers.is_empty()).map(|(routine, _)| *routine);
    row.extend(uncalled);
    row.sort_unstable();
    row.dedup();
    while !row.is_empty() {
        seen.extend(row.iter().copied());
        let forward = |(from, _, way): &&(Routine, Routine, Way)| *way != Way::Return && row.contains(from);
        let next: BTreeSet<Routine> = survey.ways.keys().filter(forward).map(|(_, to, _)| *to).collect();
        rows.push(row);
        row = next.into_iter().filter(|routine| !seen.contains(routine)).collect();
    }
    let left: Vec<Routine> = survey.routines.keys().filter(|routine| !seen.contains(*routine)).copied().collect();
    rows.push(left);
    let mut places = BTreeMap::new();
    for (row, y) in rows.iter().zip(0..) {
        for (routine, x) in row.iter().zip(0..) {
            places.insert(*routine, (10 + x * (WIDTH + GAP_X), 10 + y * (HEIGHT + GAP_Y)));
        }
    }
    places
}

fn arrow((from_x, from_y): (usize, usize), (to_x, to_y): (usize, usize), way: Way) -> Markup {
    let class = match way {
        Way::Call => "call",
        Way::Interrupt => "interrupt",
        Way::Return => "return",
        Way::Jump => "jump",
    };
    let offset = match way {
        Way::Return => 30,
        _ => 0,
    };
    let (start, end) = if from_y < to_y { (from_y + HEIGHT, to_y) } else { (from_y, to_y + HEIGHT) };
    html! {
        line class=(class) x1=(from_x + WIDTH / 2 + offset) y1=(start) x2=(to_x + WIDTH / 2 + offset) y2=(end)
            marker-end="url(#arrow)" {}
    }
}

fn about(names: &Names<'_>, survey: &Survey, routine: Routine, usage: &Usage) -> String {
    let named = |other: &Routine| routine_name(names, *other);
    let callers: Vec<String> = usage.callers.iter().map(named).collect();
    let calls = survey.ways.keys().filter(|(from, _, way)| *from == routine && *way != Way::Return);
    let called: Vec<String> = calls.map(|(_, to, _)| named(to)).collect();
    let list = |all: &[String]| if all.is_empty() { "nothing".to_owned() } else { all.join(", ") };
    let text = format!(
        "{}: {} abstract states, {} bytes of stack by itself, {} with what it calls; called by {}; leads to {}",
        named(&routine),
        usage.states,
        usage.own,
        usage.total,
        list(&callers),
        list(&called)
    );
    Escaped(&text).to_string()
}

/// The deepest call string as parts of the memory that the stack may use.
pub(super) fn stack_chart(names: &Names<'_>, survey: &Survey, room: u32) -> Markup {
    let total: u32 = survey.deepest.iter().map(|segment| segment.bytes).sum();
    let scale = |bytes: u32| bytes as usize * CHART / room.max(total).max(1) as usize;
    let mut rows = Vec::new();
    let mut depth = 0;
    for segment in &survey.deepest {
        rows.push((scale(depth), scale(segment.bytes).max(1), segment.bytes, routine_name(names, segment.routine)));
        depth += segment.bytes;
    }
    let height = 20 * rows.len() + 24;
    html! {
        svg.stack width="100%" viewBox=(format!("0 0 {} {height}", CHART + 300)) role="img" aria-label="the deepest stack" {
            rect.box x="0" y="0" width=(CHART) height="14" {}
            rect x="0" y="0" width=(scale(depth).max(1)) height="14" fill="#0969da" {}
            text x=(CHART + 8) y="12" { (depth) " of " (room) " bytes" }
            @for ((x, width, bytes, name), row) in rows.iter().zip(0..) {
                rect x=(x) y=(22 + 20 * row) width=(width) height="14" fill="#0969da" opacity="0.6" {}
                text x=(x + width + 6) y=(33 + 20 * row) { (bytes) " " (short(name)) }
            }
        }
    }
}

fn short(name: &str) -> String {
    let name = Escaped(name).to_string();
    match name.char_indices().nth(MAX_NAME) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name,
    }
}
