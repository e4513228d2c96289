//! The content of a report.

use avr_image::Image;
use avr_machine::Machine;
use avr_machine::device::Device;
use avr_properties::Specification;
use avr_verify::{Basis, Exhausted, PropertyResult, Results, Vacuity, Verdict};
use serde::{Deserialize, Serialize};

use crate::baseline::{Baseline, Changes};
use crate::fields::verdict_name;
use crate::findings;
use crate::names::Names;

/// A file that the results were made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// The role of the file: `firmware`, `properties`, `eeprom`, `baseline`.
    pub role: String,
    /// The path as it was given.
    pub path: String,
    /// SHA-256 of the content in hexadecimal digits.
    pub sha256: String,
    /// Length of the content in bytes.
    pub bytes: u64,
}

/// The text of a source file of the firmware.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The path as the compiler recorded it, without detours, as [`source_paths`](crate::source_paths) gives it.
    pub path: String,
    /// The content.
    pub text: String,
}

/// The inputs and the tool that made the results. What is empty is left out of reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReportOrigin<'a> {
    /// The version of the program and a digest of its sources.
    pub tool: &'a str,
    /// The files that were read.
    pub inputs: &'a [InputFile],
    /// The command line.
    pub command: &'a str,
    /// The date and the time. Reports read no clock: the same date gives the same bytes.
    pub date: &'a str,
    /// The content of the property file.
    pub properties: &'a str,
    /// The sources of the firmware that were found.
    pub sources: &'a [SourceFile],
    /// The clock of the processor in hertz.
    pub clock_hz: Option<u64>,
}

/// A limit that stopped the work before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoppedBy {
    /// The limit.
    pub limit: Exhausted,
    /// True if the user did not choose it.
    pub is_default: bool,
}

impl StoppedBy {
    /// The name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self.limit {
            Exhausted::Time(_) if self.is_default => "default-time",
            Exhausted::Time(_) => "time",
            Exhausted::Memory(_) => "memory",
            Exhausted::Interrupted => "interrupted",
        }
    }

    /// A line about what is open, with what to do about it; none where the user chose the limit.
    pub(crate) fn told(self, open: &str) -> Option<String> {
        let Exhausted::Time(limit) = self.limit else { return None };
        let seconds = limit.as_secs_f64();
        let told = format!(
            "stopped after {seconds} s, which is the default: {open}; `--timeout 10m` allows more, `--timeout none` any time"
        );
        self.is_default.then_some(told)
    }
}

/// The results for one image, ready to be rendered.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The image.
    pub image: &'a Image,
    /// The name of the device that it was verified for.
    pub device: &'a str,
    /// The answers.
    pub results: &'a Results,
    /// The question; none where the report is about something else than a specification.
    pub specification: Option<&'a Specification>,
    /// The limit that stopped the work, if one did.
    pub stopped_by: Option<StoppedBy>,
    /// The most memory in use at any time, in bytes.
    pub peak_memory_bytes: u64,
    /// The machine that was verified: texts repeat runs on it, for the values of variables of several bytes. Without it, they tell
    /// such variables byte by byte.
    pub machine: Option<&'a Machine>,
    /// An older report to compare with.
    pub baseline: Option<&'a Baseline>,
    /// The program and the files that the answers come from.
    pub origin: ReportOrigin<'a>,
}

/// The firmware that runs are about.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) image: &'a Image,
    /// The name of the device.
    pub(crate) device: &'a str,
    /// The machine that was verified; without it, variables of several bytes are told byte by byte.
    pub(crate) machine: Option<&'a Machine>,
    pub(crate) sources: &'a [SourceFile],
}

impl<'a> Report<'a> {
    /// The names of what is in the report; none for a device that does not exist.
    pub(crate) fn names(&self) -> Option<Names<'a>> {
        let device = Device::named(self.device).ok()?;
        Some(Names { image: self.image, device })
    }

    /// The firmware that the runs in texts are about.
    pub(crate) fn subject(&self) -> Subject<'a> {
        let Self { image, device, machine, .. } = *self;
        Subject { image, device, machine, sources: self.origin.sources }
    }

    /// The findings as lines of text without line ends.
    pub(crate) fn finding_lines(&self) -> Vec<Vec<String>> {
        let Some(names) = self.names() else { return Vec::new() };
        self.results.findings.iter().map(|finding| findings::lines(finding, &names)).collect()
    }

    /// The line about a limit that the user did not choose and that left something unknown.
    pub(crate) fn told_stop(&self) -> Option<String> {
        let unknown = Summary::of(self.results).unknown;
        let open =
            if unknown == 1 { "1 property is unknown".to_owned() } else { format!("{unknown} properties are unknown") };
        self.stopped_by.filter(|_| unknown > 0)?.told(&open)
    }

    /// The changes since the older report; none without one.
    #[must_use]
    pub fn changes(&self) -> Option<Changes> {
        Some(self.baseline?.changes(&self.names()?, self.results, self.specification))
    }

    /// The older report's firmware and what changed, as sentences without full stops.
    pub(crate) fn told_changes(&self) -> Option<(String, Vec<String>)> {
        self.changes().map(|changes| (changes.firmware.clone(), changes.sentences()))
    }
}

/// The number of properties by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Properties that hold.
    pub holds: usize,
    /// Properties that are violated.
    pub violated: usize,
    /// Properties without an answer.
    pub unknown: usize,
}

impl Summary {
    /// Counts the verdicts.
    #[must_use]
    pub fn of(results: &Results) -> Self {
        let mut summary = Self::default();
        for result in &results.properties {
            match result.verdict {
                Verdict::Holds => summary.holds += 1,
                Verdict::Violated => summary.violated += 1,
                Verdict::Unknown(_) => summary.unknown += 1,
            }
        }
        summary
    }
}

/// The verdict as a sentence without a full stop.
pub(crate) fn statement(result: &PropertyResult) -> String {
    let name = &result.name;
    match result.verdict {
        Verdict::Holds => format!("'{name}' holds"),
        Verdict::Violated => format!("'{name}' is violated"),
        Verdict::Unknown(_) => format!("'{name}' is unknown"),
    }
}

/// The remarks on a result beside its verdict, as sentences without full stops. The name is no part of them.
pub(crate) fn remarks(result: &PropertyResult) -> Vec<String> {
    let mut remarks = remarks_without_run(result);
    if let Some(evidence) = &result.evidence {
        let (_, reason) = verdict_name(&result.verdict);
        let place = usize::from(reason.or(result.detail.as_deref()).is_some());
        remarks.insert(place, format!("run of {} steps: {}", evidence.steps, evidence.claim));
    }
    remarks
}

/// The same without a word about the run.
pub(crate) fn remarks_without_run(result: &PropertyResult) -> Vec<String> {
    let (_, reason) = verdict_name(&result.verdict);
    let mut remarks: Vec<String> = reason.or(result.detail.as_deref()).map(str::to_owned).into_iter().collect();
    if let Some(missing) = &result.evidence_missing {
        remarks.push(format!("by proof, without a run that shows it: {missing}"));
    }
    if let Some(Vacuity { subformula, replaced_by, .. }) = &result.vacuous {
        remarks.push(format!("vacuous: it holds as well with '{subformula}' replaced by {replaced_by}"));
    }
    remarks.extend(result.promises.iter().map(|promise| format!("promised: {promise}")));
    if rests_on_model(result) {
        remarks.push("in the model: it rests on a choice that the hardware would determine".to_owned());
    }
    remarks
}

/// True if the verdict rests on the model alone. An unknown verdict rests on nothing.
pub(crate) fn rests_on_model(result: &PropertyResult) -> bool {
    result.basis == Basis::Model && !matches!(result.verdict, Verdict::Unknown(_))
}
