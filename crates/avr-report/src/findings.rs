//! Findings in reports.

use avr_verify::{Certainty, Finding};
use serde::Serialize;

use crate::evidence::JsonEvidence;
use crate::names::Names;

/// A finding as data.
#[derive(Serialize)]
pub(crate) struct JsonFinding<'a> {
    name: &'static str,
    certainty: &'static str,
    place: JsonPlace,
    /// The finding in words.
    text: &'a str,
    evidence: Option<JsonEvidence>,
    /// The reason why it is allowed.
    allowed: Option<&'a str>,
}

#[derive(Serialize)]
struct JsonPlace {
    pc: u32,
    function: Option<String>,
    line: Option<String>,
}

impl<'a> JsonFinding<'a> {
    pub(crate) fn new(finding: &'a Finding, names: &Names<'_>) -> Self {
        let pc = finding.pc;
        let evidence = finding.evidence.as_ref();
        Self {
            name: finding.kind.name(),
            certainty: certainty_name(finding.certainty),
            place: JsonPlace { pc, function: names.function(pc), line: names.source_line(pc) },
            text: &finding.text,
            evidence: evidence.and_then(|evidence| JsonEvidence::new(evidence, names.image, names.device.name)),
            allowed: finding.allowed.as_deref(),
        }
    }
}

/// The certainty in reports.
pub(crate) fn certainty_name(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Replayed => "replayed",
        Certainty::Possible => "possible",
    }
}

/// The kind and the place of a finding: `out-of-object at 0x0166 in parse, main.c:12`.
pub(crate) fn heading(finding: &Finding, names: &Names<'_>) -> String {
    let pc = finding.pc;
    let function = names.function(pc).map_or_else(String::new, |function| format!(" in {function}"));
    let line = names.source_line(pc).map_or_else(String::new, |line| format!(", {line}"));
    format!("{} at {pc:#06x}{function}{line}", finding.kind)
}

/// A finding as lines of text without line ends.
pub(crate) fn lines(finding: &Finding, names: &Names<'_>) -> Vec<String> {
    let said = if finding.allowed.is_some() { "allowed" } else { certainty_name(finding.certainty) };
    let mut lines = vec![format!("{said} {}", heading(finding, names)), finding.text.clone()];
    if let Some(evidence) = &finding.evidence {
        let model = match finding.certainty {
            Certainty::Possible => ", in the model: it rests on a choice that the hardware would determine",
            Certainty::Replayed => "",
        };
        lines.push(format!("run of {} steps, replayed{model}", evidence.steps));
    }
    lines.push(match &finding.allowed {
        Some(reason) => format!("because {reason}"),
        None => format!("where it is meant: {}", allow_line(finding, names)),
    });
    lines
}

/// The line of a property file that allows a finding.
fn allow_line(finding: &Finding, names: &Names<'_>) -> String {
    let at = names.function(finding.pc).map_or_else(String::new, |function| format!(" at {function}"));
    format!("allow: {{\"{}{at}\": \"why\"}}", finding.kind)
}
