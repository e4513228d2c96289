//! Manifests: lists of firmware images with their properties and limits.

use std::path::{Path, PathBuf};

use avr_machine::{ron_message, ron_offset};
use avr_report::InputFile;
use clap::ValueEnum;
use ron::extensions::Extensions;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::error::{InputError, InputErrorKind, MANIFEST_FORM as FORM};
use crate::inputs::{IDENTITY, Inputs, Role, hexadecimal};
use crate::job::readable;
use crate::options::Deny;
use crate::snippet::Marked;
use crate::values;

/// A manifest as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    #[serde(default)]
    timeout: Option<String>,
    #[serde(default)]
    memory: Option<String>,
    #[serde(default)]
    strategy: Option<String>,
    #[serde(default)]
    strict: bool,
    #[serde(default)]
    deny: Vec<String>,
    runs: Vec<RunContent>,
}

/// An entry of `runs`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunContent {
    firmware: PathBuf,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    properties: Option<PathBuf>,
    #[serde(default)]
    property: Vec<String>,
    #[serde(default)]
    inherent: bool,
    #[serde(default)]
    device: Option<String>,
    #[serde(default)]
    start: Option<u32>,
    #[serde(default)]
    strategy: Option<String>,
    #[serde(default)]
    timeout: Option<String>,
    #[serde(default)]
    memory: Option<String>,
    #[serde(default)]
    strict: Option<bool>,
    #[serde(default)]
    deny: Option<Vec<String>>,
    #[serde(default)]
    baseline: Option<PathBuf>,
}

/// A verification of one image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// The name in reports: by default the firmware as the manifest names it.
    pub(super) name: String,
    /// The arguments that name files: the older report, the firmware and the property file.
    pub(super) files: Vec<String>,
    /// All that a verdict depends on.
    pub(super) subject: Subject,
}

/// All that the verdicts of a run depend on, and the place of the run: what a key stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Subject {
    /// The program: see [`IDENTITY`].
    pub(super) tool: String,
    /// The number of the run in the manifest, from 0.
    pub(super) position: usize,
    /// The options for `avr-tvar verify`.
    pub(super) options: Vec<String>,
    /// The files that are read. One that cannot be read is not listed: the run tells why.
    pub(super) inputs: Vec<InputFile>,
}

impl Subject {
    /// A digest of the whole, without the paths and sizes of the files: the same if the same is verified.
    pub(super) fn key(&self) -> String {
        let mut digest = Sha256::new();
        let mut add = |part: &str| {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        };
        add(&self.tool);
        add(&self.position.to_string());
        add(&self.options.len().to_string());
        self.options.iter().for_each(|option| add(option));
        for input in &self.inputs {
            add(&input.role);
            add(&input.sha256);
        }
        hexadecimal(&digest.finalize())
    }
}

impl Subject {
    /// Checks that a report is about this.
    ///
    /// # Errors
    /// A sentence that says what differs.
    pub(super) fn check(&self, report: &Value) -> Result<(), String> {
        if report["tool"] != self.tool.as_str() {
            return Err("the report is of another version of avr-tvar".to_owned());
        }
        let digests = |files: &[InputFile]| -> Vec<(String, String)> {
            files.iter().map(|file| (file.role.clone(), file.sha256.clone())).collect()
        };
        let read: Vec<InputFile> = serde_json::from_value(report["inputs"].clone()).unwrap_or_default();
        let known = |file: &InputFile| digests(&self.inputs).contains(&digests(std::slice::from_ref(file))[0]);
        if let Some(other) = read.iter().find(|file| !known(file)) {
            return Err(format!("the report is of another content of {}", other.path));
        }
        let firmware = self.inputs.iter().find(|file| file.role == Role::Firmware.name());
        let is_same = firmware.is_some_and(|file| report["firmware"]["sha256"] == file.sha256.as_str());
        if digests(&read) != digests(&self.inputs) || !is_same {
            return Err("the report is of another firmware or of other files".to_owned());
        }
        Ok(())
    }
}

/// A manifest that was read.
#[derive(Debug)]
pub(super) struct Manifest {
    /// The runs.
    pub(super) runs: Vec<Run>,
    /// The manifest and the files of all runs.
    pub(super) inputs: Vec<PathBuf>,
}

/// Reads a manifest and the files that it names. Paths in it are relative to its folder.
///
/// # Errors
/// If it cannot be read or is none.
pub(super) fn read(path: &Path, allow_empty: bool) -> Result<Manifest, InputError> {
    let mut inputs = Inputs::default();
    let input = inputs.read(Role::Manifest, path)?;
    let name = input.name();
    let options = ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME);
    let text = input.required_text()?;
    let content: Content = options.from_str(text).map_err(|error| not_ron(&name, text, &error))?;
    if content.runs.is_empty() && !allow_empty {
        let reason = "its list of runs is empty".to_owned();
        return Err(InputErrorKind::NothingToVerify { path: name, reason }.into());
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut manifest = Manifest { runs: Vec::new(), inputs: vec![path.to_owned()] };
    for (position, run) in content.runs.iter().enumerate() {
        let run = of_content((position, run), &content, folder, allow_empty).map_err(|reason| wrong(&name, reason))?;
        manifest.inputs.extend(run.subject.inputs.iter().map(|input| PathBuf::from(&input.path)));
        manifest.runs.push(run);
    }
    Ok(manifest)
}

/// That a manifest is no RON, or has another form.
fn not_ron(name: &str, text: &str, error: &ron::error::SpannedError) -> InputError {
    let [start, end] = [error.span.start, error.span.end].map(|position| ron_offset(text, position));
    let marked = Marked { file: Some(name.to_owned()), text: text.to_owned(), span: start..end.max(start) };
    let problem = format!("cannot be used as a manifest: {}", ron_message(&error.code));
    InputErrorKind::InFile { marked, problem, hint: FORM }.into()
}

fn wrong(path: &str, reason: String) -> InputError {
    InputErrorKind::Manifest { path: path.to_owned(), reason }.into()
}

fn of_content(
    (position, run): (usize, &RunContent),
    content: &Content,
    folder: &Path,
    allow_empty: bool,
) -> Result<Run, String> {
    let firmware = folder.join(&run.firmware);
    let properties = run.properties.as_ref().map(|path| folder.join(path));
    let text = |path: &Path| path.to_str().map(str::to_owned).ok_or_else(|| format!("{} is not text", path.display()));
    let name = run.name.clone().unwrap_or_else(|| run.firmware.display().to_string());
    let mut options = options(run, content).map_err(|why| format!("{name}: {why}"))?;
    if allow_empty {
        options.push("--allow-empty".to_owned());
    }
    let baseline = run.baseline.as_ref().map(|path| folder.join(path));
    let mut files = Vec::new();
    if let Some(path) = &baseline {
        files.push(format!("--baseline={}", text(path)?));
    }
    // Behind `--`, no path is taken for an option.
    files.push("--".to_owned());
    for path in [Some(&firmware), properties.as_ref()].into_iter().flatten() {
        files.push(text(path)?);
    }
    let inputs = readable(&firmware, properties.as_deref(), baseline.as_deref()).listed();
    let subject = Subject { tool: IDENTITY.to_owned(), position, options, inputs };
    Ok(Run { name, files, subject })
}

/// The options for `avr-tvar verify`, those for the whole manifest included.
fn options(run: &RunContent, content: &Content) -> Result<Vec<String>, String> {
    let mut options: Vec<String> = Vec::new();
    let mut add = |option: &str, value: &Option<String>| {
        options.extend(value.iter().flat_map(|value| [option.to_owned(), value.clone()]));
    };
    let timeout = run.timeout.clone().or_else(|| content.timeout.clone());
    let memory = run.memory.clone().or_else(|| content.memory.clone());
    timeout.iter().try_for_each(|text| values::time_limit(text).map(|_| ()))?;
    memory.iter().try_for_each(|text| values::size(text).map(|_| ()))?;
    // A batch has no limit that it does not name.
    add("--timeout", &timeout.or_else(|| Some("none".to_owned())));
    add("--memory", &memory);
    add("--strategy", &run.strategy.clone().or_else(|| content.strategy.clone()));
    add("--device", &run.device);
    add("--start", &run.start.map(|start| format!("{start:#x}")));
    run.property.iter().for_each(|property| add("--property", &Some(property.clone())));
    for what in run.deny.as_ref().unwrap_or(&content.deny) {
        let names = Deny::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let names: Vec<String> = names.map(|value| value.get_name().to_owned()).collect();
        if !names.contains(what) {
            return Err(format!("'{what}' cannot be denied; what can is {}", names.join(", ")));
        }
        add("--deny", &Some(what.clone()));
    }
    let switches = [("--inherent", run.inherent), ("--strict", run.strict.unwrap_or(content.strict))];
    options.extend(switches.into_iter().filter(|(_, is_on)| *is_on).map(|(option, _)| option.to_owned()));
    Ok(options)
}
