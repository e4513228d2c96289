//! Findings in words.

use avr_verify::{Basis, Certainty, Finding, PropertyResult, Statistics, Verdict};

use crate::names::Names;
use crate::report::Report;

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
    let line = names.shown_line(pc).map_or_else(String::new, |line| format!(", {line}"));
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

/// The name of a folder for the run of the finding with this number, if it has one; no two findings have the same.
pub(crate) fn folder(findings: &[Finding], number: usize) -> Option<String> {
    let finding = &findings[number];
    finding.evidence.as_ref()?;
    let is_same = |other: &&Finding| (other.kind, other.pc) == (finding.kind, finding.pc) && other.evidence.is_some();
    let name = format!("{}-{:#06x}", finding.kind, finding.pc);
    Some(match findings[..number].iter().filter(is_same).count() {
        0 => name,
        before => format!("{name}-{}", before + 1),
    })
}

impl Report<'_> {
    /// The runs of findings as results, each with the name of the folder that the JSON report gives for it.
    #[must_use]
    pub fn finding_runs(&self) -> Vec<(String, PropertyResult)> {
        let findings = &self.results.findings;
        let run = |(number, finding): (usize, &Finding)| Some((folder(findings, number)?, as_result(finding)));
        findings.iter().enumerate().filter_map(run).collect()
    }
}

/// The finding as the violation of what it says.
fn as_result(finding: &Finding) -> PropertyResult {
    let basis = match finding.certainty {
        Certainty::Replayed => Basis::Hardware,
        Certainty::Possible => Basis::Model,
    };
    PropertyResult {
        name: format!("{} at {:#06x}", finding.kind, finding.pc),
        kind: "finding".to_owned(),
        formula: format!("no {}", finding.kind),
        verdict: Verdict::Violated,
        detail: None,
        basis,
        methods: Vec::new(),
        predicates: Vec::new(),
        recheck: None,
        statistics: Statistics::default(),
        evidence: finding.evidence.clone(),
        evidence_missing: None,
        vacuous: None,
        explanation: None,
        notes: Vec::new(),
        promises: Vec::new(),
    }
}
