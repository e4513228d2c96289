//! What a checked certificate proves, as text and as JSON.

use anstyle::AnsiColor;
use serde::Serialize;

use avr_certificate::{Basis, Verdict};
use avr_check::{Checked, Proved, Rejection};
use avr_image::Image;

use crate::escape::Escaped;
use crate::json::{Firmware, firmware};
use crate::table::{Align, Table};
use crate::text::{Colour, INDENT, heading, line};

/// The name and version of the JSON format.
const SCHEMA: &str = "avr-tvar/check/1";

/// A certificate that was checked and proves what it claims.
#[derive(Clone, Copy, Debug)]
pub struct CheckReport<'a> {
    /// The image.
    pub image: &'a Image,
    /// The name of the device.
    pub device: &'a str,
    /// What the certificate proves.
    pub checked: &'a avr_check::Report,
    /// What it rests on beside the firmware and the device.
    pub assumptions: &'a [String],
}

#[derive(Serialize)]
struct JsonCheck<'a> {
    schema: &'static str,
    valid: bool,
    /// Why the certificate is rejected.
    reason: Option<String>,
    firmware: Option<Firmware<'a>>,
    results: Vec<JsonChecked<'a>>,
    assumptions: &'a [String],
    states: usize,
    outcomes: usize,
}

#[derive(Serialize)]
struct JsonChecked<'a> {
    name: &'a str,
    kind: &'a str,
    formula: &'a str,
    under: &'a [String],
    /// What is proved; null if nothing is.
    verdict: Option<&'static str>,
    basis: Option<&'static str>,
    /// Why nothing is proved.
    reason: Option<&'a str>,
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
        for assumption in self.assumptions {
            line(&mut text, "assuming", &Escaped(assumption).to_string());
        }
        let valid = coloured("valid", AnsiColor::Green, colour);
        let avr_check::Report { states, outcomes, properties, .. } = self.checked;
        let is_empty = !properties.iter().any(|checked| matches!(checked.proved, Proved::Decided(..)));
        line(
            &mut text,
            &valid,
            &match is_empty {
                true => "nothing is claimed, so nothing is proved".to_owned(),
                false => format!("every claim is proved ({states} states, {outcomes} outcomes of steps)"),
            },
        );
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
            assumptions: self.assumptions,
            states: self.checked.states,
            outcomes: self.checked.outcomes,
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
        assumptions: &[],
        states: 0,
        outcomes: 0,
    })
}

fn to_json(check: &JsonCheck<'_>) -> String {
    serde_json::to_string_pretty(check).expect("strings, numbers and lists can be written") + "\n"
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
    for assumed in &checked.under {
        text.push_str(&format!("{INDENT}on fair paths only: {}\n", Escaped(assumed)));
    }
}

/// What is proved in reports; none if nothing is.
fn verdict_name(proved: &Proved) -> Option<&'static str> {
    match proved {
        Proved::Decided(Verdict::Holds, _) => Some("holds"),
        Proved::Decided(Verdict::Violated, _) => Some("violated"),
        Proved::Nothing | Proved::Uncertified(_) => None,
    }
}

impl<'a> From<&'a Checked> for JsonChecked<'a> {
    fn from(checked: &'a Checked) -> Self {
        let basis = match &checked.proved {
            Proved::Decided(_, Basis::Hardware) => Some("hardware"),
            Proved::Decided(_, Basis::Model) => Some("model"),
            Proved::Nothing | Proved::Uncertified(_) => None,
        };
        let reason = match &checked.proved {
            Proved::Decided(..) => None,
            Proved::Nothing => Some("the property was not decided"),
            Proved::Uncertified(reason) => Some(reason.as_str()),
        };
        let Checked { name, kind, formula, under, proved } = checked;
        Self { name, kind, formula, under, verdict: verdict_name(proved), basis, reason }
    }
}
