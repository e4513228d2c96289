//! The states of the proof as a drawing: functions with their basic blocks, and interrupts beside them.

use std::collections::{BTreeMap, BTreeSet};

use avr_verify::{Routine, Survey, Way};
use maud::{Markup, html};

use super::blocks::{Block, Cluster, clusters, start_of};
use super::{Page, visible};
use crate::place::Source;

const WIDTH: usize = 210;
const HEAD: usize = 30;
const ROW: usize = 24;
/// The room at the sides of blocks for the arrows between them.
const SIDE: usize = 24;
const GAP_X: usize = 36;
const GAP_Y: usize = 44;
const MARGIN: usize = 14;
/// The room for the title above the lane of interrupts.
const TITLE: usize = 28;
/// So many functions stand side by side.
const MAX_COLUMNS: usize = 5;
/// So many blocks of a function are drawn, and fewer if there are many in all.
const MAX_BLOCKS: usize = 24;
const MANY_BLOCKS: usize = 600;
const FEW_BLOCKS: usize = 6;
/// Longer names are cut in the drawing.
const MAX_NAME: usize = 24;

/// The place of a cluster.
#[derive(Clone, Copy)]
struct Place {
    x: usize,
    y: usize,
    height: usize,
}

struct Drawing<'a> {
    page: &'a Page<'a>,
    survey: &'a Survey,
    clusters: Vec<Cluster>,
    /// The blocks of one cluster that are drawn.
    shown: usize,
    places: BTreeMap<u32, Place>,
    width: usize,
    height: usize,
    /// The left side of the lane of interrupts, if there is one.
    lane: Option<usize>,
}

impl Page<'_> {
    pub(super) fn graph(&self, survey: &Survey) -> Markup {
        let clusters = clusters(&self.names, self.machine, survey);
        let blocks: usize = clusters.iter().map(|cluster| cluster.blocks.len()).sum();
        let shown = if blocks > MANY_BLOCKS { FEW_BLOCKS } else { MAX_BLOCKS };
        let places = BTreeMap::new();
        let mut drawing = Drawing { page: self, survey, clusters, shown, places, width: 0, height: 0, lane: None };
        drawing.arrange();
        drawing.section()
    }
}

impl Drawing<'_> {
    fn start(&self, routine: Routine) -> Option<u32> {
        start_of(&self.page.names, self.page.machine, self.survey, routine)
    }

    /// The functions to which each one leads, with the way.
    fn ways(&self) -> BTreeSet<(u32, u32, Way)> {
        let ways = self.survey.ways.keys().filter(|(_, _, way)| matches!(way, Way::Call | Way::Jump));
        let ends = ways.filter_map(|(from, to, way)| Some((self.start(*from)?, self.start(*to)?, *way)));
        let mut all: BTreeSet<(u32, u32, Way)> = ends.filter(|(from, to, _)| from != to).collect();
        let is_handler = |start: &u32| self.clusters.iter().any(|one| one.start == *start && one.vector.is_some());
        for cluster in &self.clusters {
            all.extend(cluster.calls.iter().map(|to| (cluster.start, *to, Way::Call)));
            // Vectors lead to handlers, which stand elsewhere.
            let jumps = cluster.jumps.iter().filter(|to| !is_handler(to));
            all.extend(jumps.map(|to| (cluster.start, *to, Way::Jump)));
        }
        all
    }

    fn arrange(&mut self) {
        let ways = self.ways();
        let all: BTreeSet<u32> = self.clusters.iter().map(|cluster| cluster.start).collect();
        let handlers: BTreeSet<u32> =
            self.clusters.iter().filter(|cluster| cluster.vector.is_some()).map(|cluster| cluster.start).collect();
        let first: BTreeSet<u32> = all.first().copied().into_iter().collect();
        let main = rows(&first, &ways, &handlers);
        let mut seen: BTreeSet<u32> = main.iter().flatten().copied().collect();
        let lane: Vec<Vec<u32>> = rows(&handlers, &ways, &seen);
        seen.extend(lane.iter().flatten());
        let left: Vec<u32> = all.difference(&seen).copied().collect();
        let main: Vec<Vec<u32>> = main.into_iter().chain([left]).collect();
        let (right, bottom) = self.place(&main, MARGIN);
        let (mut width, mut height) = (right, bottom);
        if lane.iter().any(|row| !row.is_empty()) {
            self.lane = Some(right + GAP_X);
            let narrow: Vec<Vec<u32>> = lane.iter().flat_map(|row| row.chunks(2)).map(<[u32]>::to_vec).collect();
            let (lane_right, lane_bottom) = self.place(&narrow, right + GAP_X + MARGIN);
            (width, height) = (lane_right + MARGIN, height.max(lane_bottom));
        }
        (self.width, self.height) = (width + MARGIN, height + MARGIN);
    }

    /// Places rows of clusters and gives their right and bottom ends.
    fn place(&mut self, rows: &[Vec<u32>], left: usize) -> (usize, usize) {
        let heights: BTreeMap<u32, usize> =
            self.clusters.iter().map(|cluster| (cluster.start, self.height_of(cluster))).collect();
        let (mut right, mut y) = (left, MARGIN + TITLE);
        for row in rows.iter().flat_map(|row| row.chunks(MAX_COLUMNS)) {
            let mut tallest = 0;
            for (start, x) in row.iter().zip(0..) {
                let height = heights.get(start).copied().unwrap_or(HEAD);
                let x = left + x * (WIDTH + GAP_X);
                self.places.insert(*start, Place { x, y, height });
                (right, tallest) = (right.max(x + WIDTH), tallest.max(height));
            }
            y += if tallest > 0 { tallest + GAP_Y } else { 0 };
        }
        (right, y.saturating_sub(GAP_Y))
    }

    fn height_of(&self, cluster: &Cluster) -> usize {
        let more = usize::from(cluster.blocks.len() > self.shown);
        HEAD + ROW * (cluster.blocks.len().min(self.shown) + more) + 8
    }

    fn section(&self) -> Markup {
        let view = format!("0 0 {} {}", self.width, self.height);
        html! {
            section #graph {
                h2 { "State graph" }
                p {
                    "The abstract states of the proof, by function and basic block. The number in a block is that of the abstract states at its \
                     busiest instruction."
                }
                p.controls {
                    button type="button" data-zoom="out" aria-label="smaller" { "−" }
                    button type="button" data-zoom="in" aria-label="larger" { "+" }
                    button type="button" data-zoom="fit" { "Fit" }
                    label { "Search " input #seek type="search" placeholder="function, line"; }
                    span #sought.muted aria-live="polite" {}
                    span.key { i.call {} "calls" i.jump {} "jumps" i.inner {} "within a function" }
                }
                div #canvas tabindex="0" role="group" aria-label="state graph, scrolls" {
                    svg viewBox=(view) width=(self.width) height=(self.height) {
                        defs { marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto" {
                            path d="M0 0 L8 4 L0 8 z" {}
                        } }
                        @if let Some(x) = self.lane {
                            rect.lane x=(x) y="4" width=(self.width - x - 4) height=(self.height - 8) rx="8" {}
                            text.title x=(x + MARGIN) y="26" { "Interrupts" }
                        }
                        @for (from, to, way) in self.ways() { (self.arrow(from, to, way)) }
                        @for cluster in &self.clusters { (self.cluster(cluster)) }
                    }
                }
                p #about.muted aria-live="polite" { "Click on a function or a block to read about it." }
            }
        }
    }

    fn cluster(&self, cluster: &Cluster) -> Markup {
        let Some(Place { x, y, height }) = self.places.get(&cluster.start).copied() else { return Markup::default() };
        let name = self.name(cluster);
        let left_out = cluster.blocks.len().saturating_sub(self.shown);
        html! {
            g.cluster data-name=(name) data-about=(self.about(cluster)) {
                rect.box x=(x) y=(y) width=(WIDTH) height=(height) rx="6" {}
                text.name x=(x + 12) y=(y + 20) { (short(&name)) }
                text.count x=(x + WIDTH - 12) y=(y + 20) { (cluster.states) }
                @for (block, row) in cluster.blocks.iter().take(self.shown).zip(0..) {
                    (self.block(block, (x + SIDE, y + HEAD + ROW * row)))
                }
                @if left_out > 0 {
                    text.more x=(x + SIDE) y=(y + HEAD + ROW * self.shown + 15) { (left_out) " more blocks" }
                }
                @for (from, block) in cluster.blocks.iter().take(self.shown).enumerate() {
                    @for to in cluster.blocks.iter().take(self.shown).enumerate().filter(|(_, to)| block.next.contains(&to.first)) {
                        (inner_arrow((x, y), from, to.0))
                    }
                }
            }
        }
    }

    fn block(&self, block: &Block, (x, y): (usize, usize)) -> Markup {
        let most = self.survey.instructions.values().max().copied().unwrap_or(1);
        let heat = 0.06 + 0.24 * ((block.states as f64).ln_1p() / (most as f64).ln_1p());
        let label = self.label(block);
        let states = if block.states == 1 { "state" } else { "states" };
        let about = format!(
            "{label}: {:#06x} to {:#06x}, {} abstract {states} at its busiest instruction",
            block.first, block.last, block.states
        );
        html! {
            g.block data-name=(label) data-about=(about) {
                rect.heat x=(x) y=(y) width=(WIDTH - 2 * SIDE) height=(ROW - 4) rx="3" fill-opacity=(format!("{heat:.2}")) {}
                text x=(x + 6) y=(y + 14) { (short(&label)) }
                text.count x=(x + WIDTH - 2 * SIDE - 6) y=(y + 14) { (block.states) }
            }
        }
    }

    /// The lines of a block, or its addresses.
    fn label(&self, block: &Block) -> String {
        let at = |pc| Source::at(self.page.report.image, pc);
        let lines = |first: u32, last: u32| if first < last { format!("{first}–{last}") } else { first.to_string() };
        match (at(block.first), at(block.last)) {
            (Some(first), Some(last)) => {
                let file = first.file.rsplit('/').next().unwrap_or_default();
                format!("{}:{}", visible(file), lines(first.line, last.line))
            }
            _ => format!("{:#06x}", block.first),
        }
    }

    fn name(&self, cluster: &Cluster) -> String {
        let function = self.page.names.function(cluster.start);
        match cluster.vector {
            Some(number) => self.page.names.interrupt(number).to_owned(),
            None => visible(&function.unwrap_or_else(|| format!("{:#06x}", cluster.start))),
        }
    }

    fn about(&self, cluster: &Cluster) -> String {
        let routine = cluster.vector.map_or(Routine::Function(cluster.start), Routine::Handler);
        let blocks = cluster.blocks.len();
        let first = format!(
            "{}: {} abstract states, {blocks} basic block{}",
            self.name(cluster),
            cluster.states,
            if blocks == 1 { "" } else { "s" }
        );
        let Some(usage) = self.survey.routines.get(&routine) else { return first };
        let callers = self.page.callers(usage.callers.iter().copied());
        let callers = if cluster.vector.is_some() { callers.replacen("called by", "interrupts", 1) } else { callers };
        format!("{first}; {} bytes of stack by itself, {} with what it calls; {callers}", usage.own, usage.total)
    }

    /// An arrow from one function to another.
    fn arrow(&self, from: u32, to: u32, way: Way) -> Markup {
        let (Some(from), Some(to)) = (self.places.get(&from), self.places.get(&to)) else { return Markup::default() };
        let class = if way == Way::Call { "call" } else { "jump" };
        let offset = if way == Way::Call { 0 } else { 14 };
        let path = if from.y + from.height <= to.y {
            let (x1, y1) = (from.x + WIDTH / 2 + offset, from.y + from.height);
            let (x2, y2) = (to.x + WIDTH / 2 + offset, to.y);
            let middle = (y1 + y2) / 2;
            format!("M{x1} {y1} C{x1} {middle} {x2} {middle} {x2} {y2}")
        } else {
            let left = from.x > to.x;
            let (x1, x2) = if left { (from.x, to.x + WIDTH) } else { (from.x + WIDTH, to.x) };
            let (y1, y2) = (from.y + HEAD / 2, to.y + HEAD / 2);
            let middle = (x1 + x2) / 2;
            format!("M{x1} {y1} C{middle} {y1} {middle} {y2} {x2} {y2}")
        };
        html! { path class=(class) d=(path) marker-end="url(#arrow)" {} }
    }
}

/// An arrow between two blocks of a function: back on the left side, forward over others on the right one.
fn inner_arrow((x, y): (usize, usize), from: usize, to: usize) -> Markup {
    let middle = |row: usize| y + HEAD + ROW * row + (ROW - 4) / 2;
    let reach = (6 + 3 * from.abs_diff(to)).min(SIDE - 4);
    let path = if to == from + 1 {
        let x = x + WIDTH / 2;
        format!("M{x} {} L{x} {}", middle(from) + (ROW - 4) / 2, middle(to) - (ROW - 4) / 2)
    } else if to > from {
        let x = x + WIDTH - SIDE;
        format!("M{x} {} C{} {} {} {} {x} {}", middle(from), x + reach, middle(from), x + reach, middle(to), middle(to))
    } else {
        let x = x + SIDE;
        let (start, end) = (middle(from) + 3, middle(to) - 3);
        format!("M{x} {start} C{} {start} {} {end} {x} {end}", x - reach, x - reach)
    };
    html! { path.inner d=(path) marker-end="url(#arrow)" {} }
}

/// Functions by the number of calls from the first ones, without those that stand elsewhere. What they jump to stands beside them.
fn rows(first: &BTreeSet<u32>, ways: &BTreeSet<(u32, u32, Way)>, elsewhere: &BTreeSet<u32>) -> Vec<Vec<u32>> {
    let mut seen = elsewhere.clone();
    let mut rows = Vec::new();
    let mut row: BTreeSet<u32> = first.clone();
    let from = |row: &BTreeSet<u32>, seen: &BTreeSet<u32>, wanted: Way| {
        let ends = ways.iter().filter(|(from, _, way)| row.contains(from) && *way == wanted).map(|(_, to, _)| *to);
        ends.filter(|to| !seen.contains(to)).collect::<BTreeSet<u32>>()
    };
    while !row.is_empty() {
        let mut newest = row.clone();
        while !newest.is_empty() {
            seen.extend(&newest);
            row.extend(&newest);
            newest = from(&newest, &seen, Way::Jump);
        }
        let next = from(&row, &seen, Way::Call);
        rows.push(row.into_iter().collect());
        row = next;
    }
    rows
}

fn short(name: &str) -> String {
    match name.char_indices().nth(MAX_NAME) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}
