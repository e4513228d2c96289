//! Findings as data. `docs/schema/report-1.json` describes them.

use avr_verify::Finding;
use serde::Serialize;

use crate::evidence::JsonEvidence;
use crate::findings::{certainty_name, folder};
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
    /// The folder of the run below that of `--evidence`.
    folder: Option<String>,
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
    /// The finding with this number.
    pub(crate) fn new(findings: &'a [Finding], number: usize, names: &Names<'_>) -> Self {
        let finding = &findings[number];
        let pc = finding.pc;
        let evidence = finding.evidence.as_ref();
        Self {
            name: finding.kind.name(),
            certainty: certainty_name(finding.certainty),
            place: JsonPlace { pc, function: names.function(pc), line: names.source_line(pc) },
            text: &finding.text,
            evidence: evidence.and_then(|evidence| JsonEvidence::new(evidence, names.image, names.device.name)),
            folder: folder(findings, number),
            allowed: finding.allowed.as_deref(),
        }
    }
}
