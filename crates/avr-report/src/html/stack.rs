//! The stack: the deepest call string, and what each function and handler takes.

use avr_verify::{Routine, Segment, Survey};
use maud::{Markup, html};

use super::{Page, visible};
use crate::names::routine_name;
use crate::place::Source;
use crate::text;

/// So many routines of a call string are shown at each end.
const MAX_SEGMENTS: usize = 12;

impl Page<'_> {
    /// The bytes that the stack may take.
    fn room(&self) -> u32 {
        let sram = self.machine.sram();
        let start = self.report.image.static_data_end().unwrap_or(sram.start);
        sram.end.offset_from(start).unwrap_or_default().into()
    }

    /// The bound, and what it is a part of.
    pub(super) fn stack_tile(&self) -> (String, String) {
        let bound = self.report.results.stack;
        let value = bound.upper.or(bound.lower).map_or_else(|| "–".to_owned(), |bytes| bytes.to_string());
        let room = self.room();
        let what = match (bound.upper, bound.lower) {
            (Some(_), _) => format!("bytes of stack at most, of {room}"),
            (None, Some(_)) => format!("bytes of stack at least, of {room}"),
            (None, None) => "no bound of the stack".to_owned(),
        };
        (value, what)
    }

    pub(super) fn stack(&self) -> Markup {
        let room = self.room();
        let bound = self.report.results.stack;
        let used = bound.upper.or(bound.lower).unwrap_or(0);
        html! {
            section #stack {
                h2 { "Stack" }
                p { (text::stack(bound)) ", of " (room) " bytes of memory for it." }
                div.bar.wide aria-hidden="true" { span style=(width(used, room)) {} }
                @if let Some(survey) = &self.report.results.survey {
                    @if !survey.deepest.is_empty() { (self.deepest(&survey.deepest)) }
                    @if !survey.routines.is_empty() { (self.routines(survey)) }
                } @else { p.muted { "No proof says what functions and handlers take." } }
            }
        }
    }

    fn deepest(&self, segments: &[Segment]) -> Markup {
        let total: u32 = segments.iter().map(|segment| segment.bytes).sum();
        let mut depth = 0;
        let mut rows = Vec::new();
        for segment in segments {
            rows.push((depth, segment));
            depth += segment.bytes;
        }
        let left_out = rows.len().saturating_sub(2 * MAX_SEGMENTS);
        html! {
            h3 { "Where it is deepest" }
            div.bars {
                @for ((before, segment), index) in rows.iter().zip(0usize..) {
                    @if left_out > 0 && index == MAX_SEGMENTS { p.muted { (left_out) " more calls" } }
                    @if left_out == 0 || !(MAX_SEGMENTS..MAX_SEGMENTS + left_out).contains(&index) {
                        div.row {
                            span.name {
                                (self.routine(segment.routine))
                                @if let Some(source) = Source::at(self.report.image, segment.pc) {
                                    " " small.muted { "line " (source.line) }
                                }
                            }
                            span.bar aria-hidden="true" {
                                span.before style=(width(*before, total)) {} span style=(width(segment.bytes, total)) {}
                            }
                            span.number { (segment.bytes) }
                        }
                    }
                }
            }
        }
    }

    fn routines(&self, survey: &Survey) -> Markup {
        let mut all: Vec<_> = survey.routines.iter().collect();
        all.sort_by_key(|(routine, usage)| (std::cmp::Reverse(usage.total), **routine));
        let most = all.iter().map(|(_, usage)| usage.total).max().unwrap_or(0);
        html! {
            h3 { "Functions and handlers" }
            p.muted {
                "Bytes by itself, return address included, and with all that it calls. Handlers that come on top are not counted."
                @if !survey.complete { " This is of what was explored, which is not all of the program." }
            }
            div.bars {
                div.row.head { span.name { "routine" } span.key { i.own {} "by itself" i.more {} "with calls" } span.number { "own" } span.number { "total" } }
                @for (routine, usage) in all {
                    div.row title=(self.callers(usage.callers.iter().copied())) {
                        span.name { (self.routine(*routine)) }
                        span.bar aria-hidden="true" {
                            span style=(width(usage.own, most)) {}
                            span.more style=(width(usage.total.saturating_sub(usage.own), most)) {}
                        }
                        span.number { (usage.own) } span.number { (usage.total) }
                    }
                }
            }
        }
    }

    /// The routines that call another one, as a sentence.
    pub(super) fn callers(&self, callers: impl Iterator<Item = Routine>) -> String {
        let names: Vec<String> = callers.map(|caller| visible(&routine_name(&self.names, caller))).collect();
        if names.is_empty() { "called by nothing".to_owned() } else { format!("called by {}", names.join(", ")) }
    }

    /// The name of a routine, with a mark at handlers.
    fn routine(&self, routine: Routine) -> Markup {
        html! {
            @match routine {
                Routine::Handler(number) => { span.chip { "interrupt" } " " (self.names.interrupt(number)) },
                Routine::Function(_) => (visible(&routine_name(&self.names, routine))),
            }
        }
    }
}

fn width(part: u32, whole: u32) -> String {
    format!("width:{:.1}%", 100.0 * f64::from(part.min(whole)) / f64::from(whole.max(1)))
}
