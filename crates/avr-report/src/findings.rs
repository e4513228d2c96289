//! Findings in words.

use avr_verify::{Certainty, Finding};

use crate::names::Names;

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
