//! Results of checked certificates, as text and as JSON.

use anstyle::AnsiColor;
use serde::Serialize;

use avr_certificate::{Basis, Verdict};
use avr_check::{Checked, Proved, ProvedStack, ProvedVacuity, Rejection};
use avr_image::Image;
use avr_verify::StackBound;

use crate::escape::{Escaped, json_text};
use crate::expectation::{Answer, Expectation, Expected};
use crate::fields::{Firmware, firmware};
use crate::table::{Align, Table};
use crate::text::{Colour, INDENT, heading, line, stack};

/// The name and version of the JSON format.
const SCHEMA: &str = "avr-tvar/check/1";

/// A certificate that was checked and proves what it claims.
#[derive(Clone, Copy, Debug)]
pub struct CheckReport<'a> {
    /// The image.
    pub image: &'a Image,
    /// The name of the device.
    pub device: &'a str,
    /// The results that the certificate proves.
    pub checked: &'a avr_check::Report,
    /// The assumptions of the proofs beside the firmware and the device.
    pub assumptions: &'a [String],
    /// The expectation and how far it is met; none if nothing was expected.
    pub expectation: Option<&'a Expectation>,
}

#[derive(Serialize)]
struct JsonCheck<'a> {
    schema: &'static str,
    valid: bool,
    /// The reason why the certificate is rejected.
    reason: Option<String>,
    firmware: Option<Firmware<'a>>,
    results: Vec<JsonChecked<'a>>,
    stack: JsonProvedStack,
    assumptions: &'a [String],
    states: usize,
    outcomes: usize,
    /// Queries to the SAT solver.
    queries: usize,
    /// The answers to what was expected.
    expectation: Option<JsonExpectation<'a>>,
}

#[derive(Serialize)]
struct JsonExpectation<'a> {
    met: bool,
    properties: Vec<JsonExpected<'a>>,
}

#[derive(Serialize)]
struct JsonExpected<'a> {
    name: &'a str,
    answer: &'static str,
    /// The reason for which nothing is proved of it as it was asked for.
    reason: Option<&'a str>,
}

#[derive(Default, Serialize)]
struct JsonProvedStack {
    lower: Option<u32>,
    upper: Option<u32>,
    exact: Option<u32>,
    /// The basis of the proof of the lower bound.
    lower_basis: Option<&'static str>,
}

#[derive(Serialize)]
struct JsonChecked<'a> {
    name: &'a str,
    kind: &'a str,
    formula: &'a str,
    under: &'a [String],
    /// The proved verdict; null if nothing is proved.
    verdict: Option<&'static str>,
    basis: Option<&'static str>,
    /// The reason why nothing is proved.
    reason: Option<&'a str>,
    vacuous: Option<JsonProvedVacuity<'a>>,
    /// True if symbolic execution and a SAT solver prove it.
    with_sat: bool,
}

#[derive(Serialize)]
struct JsonProvedVacuity<'a> {
    subformula: &'a str,
    replaced_by: &'static str,
    basis: &'static str,
}

impl CheckReport<'_> {
    /// A table with a line for each property.
    #[must_use]
    pub fn text(&self, colour: Colour) -> String {
        let mut text = heading(self.image, self.device) + "\n";
        let mut table = Table::new([("proved", Align::Left), ("property", Align::Wrapped)]);
        for checked in &self.checked.properties {
            // Wide enough that every table has the same columns.
            table.add([format!("{:<8}", verdict_name(&checked.proved).unwrap_or("nothing")), checked.name.clone()]);
        }
        let mut rows = table.rows();
        text.push_str(&(rows.next().unwrap_or_default().join("\n") + "\n"));
        for (lines, checked) in rows.zip(&self.checked.properties) {
            lines.iter().for_each(|line| text.push_str(&format!("{line}\n")));
            add_notes(&mut text, checked);
        }
        text.push('\n');
        add_stack(&mut text, self.checked.stack);
        for assumption in self.assumptions {
            line(&mut text, "assuming", &Escaped(assumption).to_string());
        }
        let valid = coloured("valid", AnsiColor::Green, colour);
        let avr_check::Report { states, outcomes, queries, properties, stack, .. } = self.checked;
        let is_decided = |checked: &Checked| matches!(checked.proved, Proved::Decided(..));
        let is_empty = !properties.iter().any(is_decided) && *stack == ProvedStack::default();
        line(
            &mut text,
            &valid,
            &match is_empty {
                true => "nothing is claimed, so nothing is proved".to_owned(),
                false if *queries > 0 => {
                    format!("every claim is proved ({states} states, {outcomes} outcomes of steps, {queries} queries)")
                }
                false => format!("every claim is proved ({states} states, {outcomes} outcomes of steps)"),
            },
        );
        if let Some(expectation) = self.expectation {
            add_expectation(&mut text, expectation, colour);
        }
        text
    }

    /// One JSON object over several lines, with a line end.
    #[must_use]
    pub fn json(&self) -> String {
        to_json(&JsonCheck {
            schema: SCHEMA,
            valid: true,
            reason: None,
            firmware: Some(firmware(self.image, self.device)),
            results: self.checked.properties.iter().map(JsonChecked::from).collect(),
            stack: JsonProvedStack::from(self.checked.stack),
            assumptions: self.assumptions,
            states: self.checked.states,
            outcomes: self.checked.outcomes,
            queries: self.checked.queries,
            expectation: self.expectation.map(JsonExpectation::from),
        })
    }
}

/// That a certificate is rejected, as text.
#[must_use]
pub fn rejected_text(rejection: &Rejection, colour: Colour) -> String {
    let rejected = coloured("rejected", AnsiColor::Red, colour);
    format!("{rejected}  {}\n", Escaped(&rejection.to_string()))
}

/// That a certificate is rejected, as JSON.
#[must_use]
pub fn rejected_json(rejection: &Rejection) -> String {
    to_json(&JsonCheck {
        schema: SCHEMA,
        valid: false,
        reason: Some(rejection.to_string()),
        firmware: None,
        results: Vec::new(),
        stack: JsonProvedStack::default(),
        assumptions: &[],
        states: 0,
        outcomes: 0,
        queries: 0,
        expectation: None,
    })
}

fn to_json(check: &JsonCheck<'_>) -> String {
    json_text(check)
}

/// A word in the first column, in a colour.
fn coloured(word: &str, colour: AnsiColor, wanted: Colour) -> String {
    let style = colour.on_default().bold();
    match wanted {
        Colour::Never => word.to_owned(),
        Colour::Always => {
            format!("{style}{word}{style:#}{:width$}", "", width = INDENT.len().saturating_sub(word.len()))
        }
    }
}

fn add_notes(text: &mut String, checked: &Checked) {
    match &checked.proved {
        Proved::Nothing => text.push_str(&format!("{INDENT}the property was not decided\n")),
        Proved::Uncertified(reason) => {
            text.push_str(&format!("{INDENT}it was decided, but there is no proof: {}\n", Escaped(reason)));
        }
        Proved::Decided(_, Basis::Model) => {
            text.push_str(&format!("{INDENT}in the model: it rests on a choice that the hardware would determine\n"));
        }
        Proved::Decided(_, Basis::Hardware) => {}
    }
    if checked.with_sat {
        text.push_str(&format!("{INDENT}proved with SAT: symbolic execution between the heads of loops\n"));
    }
    if let Some(ProvedVacuity { subformula, replaced_by, .. }) = &checked.vacuous {
        let subformula = Escaped(subformula);
        text.push_str(&format!("{INDENT}vacuous: it holds as well with '{subformula}' replaced by {replaced_by}\n"));
    }
    for assumed in &checked.under {
        text.push_str(&format!("{INDENT}on fair paths only: {}\n", Escaped(assumed)));
    }
}

/// A line for each property that is not proved to hold, and one for all of them.
fn add_expectation(text: &mut String, expectation: &Expectation, colour: Colour) {
    for Expected { name, answer } in &expectation.properties {
        let name = Escaped(name);
        match answer {
            Answer::Holds => {}
            Answer::Violated => line(text, &coloured("violated", AnsiColor::Red, colour), &name.to_string()),
            Answer::Open(reason) => {
                let reason = Escaped(reason);
                line(text, &coloured("open", AnsiColor::Yellow, colour), &format!("{name}: {reason}"));
            }
        }
    }
    let all = expectation.properties.len();
    let holding = expectation.properties.iter().filter(|property| property.answer == Answer::Holds).count();
    line(text, "expected", &format!("{holding} of {all} properties are proved to hold as asked for"));
}

fn add_stack(text: &mut String, proved: ProvedStack) {
    let bound = bound(proved);
    if bound != StackBound::default() {
        let in_the_model = matches!(proved.lower, Some((_, Basis::Model)));
        let suffix = if in_the_model { " (in the model)" } else { "" };
        line(text, "stack", &format!("{}{suffix}", stack(bound)));
    }
}

/// A bound as reports have it: where nothing gets deeper than 0 bytes, some run gets that deep.
fn bound(proved: ProvedStack) -> StackBound {
    let lower = proved.lower.map(|(bytes, _)| bytes);
    StackBound { upper: proved.upper, lower: lower.or(proved.upper.filter(|upper| *upper == 0)) }
}

impl From<ProvedStack> for JsonProvedStack {
    fn from(proved: ProvedStack) -> Self {
        let bound = bound(proved);
        let lower_basis = proved.lower.map(|(_, basis)| basis_name(basis));
        Self { lower: bound.lower, upper: bound.upper, exact: bound.exact(), lower_basis }
    }
}

fn basis_name(basis: Basis) -> &'static str {
    match basis {
        Basis::Hardware => "hardware",
        Basis::Model => "model",
    }
}

/// The proved verdict as reports have it; none if nothing is proved.
fn verdict_name(proved: &Proved) -> Option<&'static str> {
    match proved {
        Proved::Decided(Verdict::Holds, _) => Some("holds"),
        Proved::Decided(Verdict::Violated, _) => Some("violated"),
        Proved::Nothing | Proved::Uncertified(_) => None,
    }
}

impl<'a> From<&'a Expectation> for JsonExpectation<'a> {
    fn from(expectation: &'a Expectation) -> Self {
        Self { met: expectation.is_met(), properties: expectation.properties.iter().map(JsonExpected::from).collect() }
    }
}

impl<'a> From<&'a Expected> for JsonExpected<'a> {
    fn from(Expected { name, answer }: &'a Expected) -> Self {
        let (answer, reason) = match answer {
            Answer::Holds => ("holds", None),
            Answer::Violated => ("violated", None),
            Answer::Open(reason) => ("open", Some(reason.as_str())),
        };
        Self { name, answer, reason }
    }
}

impl<'a> From<&'a Checked> for JsonChecked<'a> {
    fn from(checked: &'a Checked) -> Self {
        let basis = match &checked.proved {
            Proved::Decided(_, basis) => Some(basis_name(*basis)),
            Proved::Nothing | Proved::Uncertified(_) => None,
        };
        let reason = match &checked.proved {
            Proved::Decided(..) => None,
            Proved::Nothing => Some("the property was not decided"),
            Proved::Uncertified(reason) => Some(reason.as_str()),
        };
        let Checked { name, kind, formula, under, proved, with_sat, vacuous } = checked;
        let vacuous = vacuous.as_ref().map(|vacuous| JsonProvedVacuity {
            subformula: &vacuous.subformula,
            replaced_by: if vacuous.replaced_by { "true" } else { "false" },
            basis: basis_name(vacuous.basis),
        });
        let verdict = verdict_name(proved);
        Self { name, kind, formula, under, verdict, basis, reason, vacuous, with_sat: *with_sat }
    }
}
