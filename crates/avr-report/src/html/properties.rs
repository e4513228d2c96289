//! The properties, each with its verdict, what is said about it, and the run that shows it.

use avr_verify::{PropertyResult, Verdict};
use maud::{Markup, html};

use super::{Page, run, visible};
use crate::culprit;
use crate::evidence::specification_lines;
use crate::fields::{recheck_name, verdict_name};
use crate::report::remarks_without_run;
use crate::text;

impl Page<'_> {
    pub(super) fn properties(&self) -> Markup {
        let results = self.report.results;
        let said = self.report.finding_lines();
        let alarms = self.report.alarm_lines();
        html! {
            section #properties {
                h2 { "Properties" }
                div.split {
                    div.list {
                        p.controls {
                            label.hidden for="search" { "Search properties" }
                            input #search type="search" placeholder="Search properties";
                            button #all type="button" data-filter="" hidden { "Show all" }
                        }
                        ol {
                            @for (result, number) in results.properties.iter().zip(0usize..) {
                                (entry(result, verdict_name(&result.verdict).0, number))
                            }
                            @for (result, number) in self.findings.iter().zip(results.properties.len()..) {
                                (entry(result, "finding", number))
                            }
                        }
                        p #nothing.muted hidden { "Nothing matches." }
                    }
                    div.detail {
                        @for (result, number) in results.properties.iter().zip(0usize..) { (self.property(result, number)) }
                        @for (result, number) in self.findings.iter().zip(results.properties.len()..) {
                            (self.property(result, number))
                        }
                        @if !self.shown.is_empty() { (stepper()) }
                    }
                }
                @if !alarms.is_empty() {
                    h3 #alarms { "Alarms" }
                    p { "These steps keep invariants of the whole program from proving anything. What state spaces say stands." }
                    @for alarm in &alarms {
                        p.finding { @for (line, index) in alarm.iter().zip(0..) {
                            @if index == 0 { b { (visible(line)) } } @else { br; (visible(line)) }
                        } }
                    }
                }
                @if !said.is_empty() {
                    h3 #findings { "Findings" }
                    @for finding in &said {
                        p.finding { @for (line, index) in finding.iter().zip(0..) {
                            @if index == 0 { b { (visible(line)) } } @else { br; (visible(line)) }
                        } }
                    }
                }
            }
        }
    }

    fn property(&self, result: &PropertyResult, number: usize) -> Markup {
        let verdict = verdict_name(&result.verdict).0;
        let count = |result: &PropertyResult| result.evidence.as_ref().map_or(0, run::count);
        let place = self.shown.iter().position(|shown| std::ptr::eq(*shown, result));
        let run = place.map(|place| self.shown[..place].iter().map(|shown| count(shown)).sum::<usize>());
        let statistics = &result.statistics;
        html! {
            article id=(format!("property-{number}")) class=(verdict) data-run=[run] data-runs=[run.map(|_| count(result))] {
                h3 { (visible(&result.name)) }
                @if result.formula != result.name { p { code.formula { (visible(&result.formula)) } } }
                p.verdict-line {
                    span class=(format!("verdict {verdict}")) { (verdict) }
                    " " span.muted { (statistics.states) " states, " (statistics.refinements) " refinements, " (text::duration(statistics.time)) }
                }
                (self.said(result))
            }
        }
    }

    /// All that is said beside the verdict.
    fn said(&self, result: &PropertyResult) -> Markup {
        let culprit = match &result.verdict {
            Verdict::Unknown(unknown) => unknown.culprit.as_ref(),
            Verdict::Holds | Verdict::Violated => None,
        };
        let culprit = culprit.map(|culprit| culprit::lines(culprit, self.report.image, self.report.device));
        html! {
            ul.said {
                @for remark in remarks_without_run(result) { li { (visible(&remark)) } }
                @for line in culprit.iter().flatten() { li { (visible(line)) } }
                @if let Some(evidence) = &result.evidence {
                    li {
                        "shown by a run of " (evidence.steps) " steps, " (evidence.cycles) " clock cycles, "
                        @if evidence.replayed { "replayed" } @else { span.bad { "NOT CONFIRMED by the replay" } }
                        span.claim { ": " (visible(&evidence.claim)) }
                    }
                    @for line in specification_lines(&evidence.specification) { li { (visible(&line)) } }
                    @for proved in &evidence.proved { li { "by proof: " (visible(proved)) } }
                    @for branch in &evidence.branches { li { "another continuation: " (visible(&branch.claim)) } }
                    @if let Some(next) = &evidence.continuation {
                        li { "from a state in which the loop is left: " (visible(&next.run.claim)) }
                    }
                    @if let Some(cycle) = evidence.confirmed {
                        li { "confirmed: simavr comes to it by itself, after " (cycle) " cycles" }
                    }
                }
                @if let Some(recheck) = result.recheck { li { "decided again with nothing left out: " (recheck_name(recheck)) } }
                @for promise in &result.promises { li { "promised: " (visible(promise)) } }
                @for note in &result.notes { li { "note: " (visible(note)) } }
            }
        }
    }
}

/// An entry of the list.
fn entry(result: &PropertyResult, verdict: &str, number: usize) -> Markup {
    html! {
        li data-verdict=(verdict) {
            a href=(format!("#property-{number}")) {
                span class=(format!("verdict {verdict}")) { (verdict) } " " span.title { (visible(&result.name)) }
            }
        }
    }
}

/// The stepper, which the script fills with the run of the chosen property.
fn stepper() -> Markup {
    html! {
        div #run hidden tabindex="-1" {
            div #ways.buttons hidden role="group" aria-label="runs" {}
            p #begins.muted {}
            div.bar-top {
                div.buttons role="group" aria-label="steps" {
                    button type="button" data-move="first" title="first step (Home)" { "|◀" }
                    button type="button" data-move="line-back" title="back one line (Shift ←)" { "◀◀" }
                    button type="button" data-move="back" title="back one step (←)" { "◀" }
                    button type="button" data-move="next" title="one step on (→)" { "▶" }
                    button type="button" data-move="line-next" title="one line on (Shift →)" { "▶▶" }
                    button type="button" data-move="last" title="last step (End)" { "▶|" }
                }
                input #slider type="range" min="0" value="0" aria-label="step";
                span #position.number {}
            }
            p #happens aria-live="polite" {}
            div #inputs {}
            p #received.muted {}
            div.panes {
                div.pane.wide {
                    h4 #where { "Source" }
                    div #source.source tabindex="0" role="group" aria-label="source" {}
                }
                div.pane.wide {
                    h4 {
                        "Steps "
                        select #steps-filter aria-label="steps that are listed" {
                            option value="all" { "all" } option value="inputs" { "with inputs" }
                            option value="interrupts" { "interrupts" } option value="watch" { "that change the watch" }
                        }
                    }
                    div #steps tabindex="0" role="group" aria-label="steps" {}
                }
                div.pane.side {
                    h4 { "Call stack" }
                    ol #calls {}
                    h4 { "Watch" }
                    div #watch {}
                }
            }
            h4 {
                "Timing"
                span.buttons role="group" aria-label="zoom of the timing diagram" {
                    button type="button" data-time="out" aria-label="less detail" { "−" }
                    button type="button" data-time="in" aria-label="more detail" { "+" }
                    button type="button" data-time="fit" { "Fit" }
                }
            }
            div #timing tabindex="0" role="group" aria-label="timing diagram, scrolls" {}
            details #machine { summary { "Registers and memory" } div #registers.mono {} div #memory.mono {} }
        }
    }
}
