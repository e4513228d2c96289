//! What a batch verifies: a list of firmware images with their properties and limits.

use std::path::{Path, PathBuf};

use ron::extensions::Extensions;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::error::{InputError, InputErrorKind};
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
}

/// A verification of one image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// The name in reports: by default the firmware as the manifest names it.
    pub(super) name: String,
    /// What `avr-tvar verify` is told.
    pub(super) arguments: Vec<String>,
    /// A digest of the firmware, the property file, and what is told: the same if the same is verified.
    pub(super) key: String,
}

/// Reads a manifest. Paths in it are relative to its folder.
///
/// # Errors
/// When it cannot be read or is none.
pub(super) fn read(path: &Path) -> Result<Vec<Run>, InputError> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| InputErrorKind::Read { path: name.clone(), error })?;
    let options = ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME);
    let content: Content = options.from_str(&text).map_err(|error| wrong(&name, error.to_string()))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    content.runs.iter().map(|run| of_content(run, &content, folder).map_err(|reason| wrong(&name, reason))).collect()
}

fn wrong(path: &str, reason: String) -> InputError {
    InputErrorKind::Manifest { path: path.to_owned(), reason }.into()
}

fn of_content(run: &RunContent, content: &Content, folder: &Path) -> Result<Run, String> {
    let firmware = folder.join(&run.firmware);
    let properties = run.properties.as_ref().map(|path| folder.join(path));
    let text = |path: &Path| path.to_str().map(str::to_owned).ok_or_else(|| format!("{} is not text", path.display()));
    let named = run.name.clone().unwrap_or_else(|| run.firmware.display().to_string());
    let mut options: Vec<String> = Vec::new();
    let mut add = |option: &str, value: &Option<String>| {
        options.extend(value.iter().flat_map(|value| [option.to_owned(), value.clone()]));
    };
    let timeout = run.timeout.clone().or_else(|| content.timeout.clone());
    let memory = run.memory.clone().or_else(|| content.memory.clone());
    timeout.iter().try_for_each(|text| values::duration(text).map(|_| ())).map_err(|why| format!("{named}: {why}"))?;
    memory.iter().try_for_each(|text| values::size(text).map(|_| ())).map_err(|why| format!("{named}: {why}"))?;
    add("--timeout", &timeout);
    add("--memory", &memory);
    add("--strategy", &run.strategy.clone().or_else(|| content.strategy.clone()));
    add("--device", &run.device);
    add("--start", &run.start.map(|start| format!("{start:#x}")));
    run.property.iter().for_each(|property| add("--property", &Some(property.clone())));
    if run.inherent {
        options.push("--inherent".to_owned());
    }
    let key = key(&firmware, properties.as_deref(), &options);
    // Behind `--`, no path is taken for an option.
    let paths = [Some(&firmware), properties.as_ref()].into_iter().flatten();
    let paths = paths.map(|path| text(path)).collect::<Result<Vec<_>, _>>()?;
    let arguments = options.into_iter().chain(["--".to_owned()]).chain(paths).collect();
    Ok(Run { name: named, arguments, key })
}

/// A digest of all that a verdict depends on. Files that cannot be read have none of their own: the run tells why.
fn key(firmware: &Path, properties: Option<&Path>, options: &[String]) -> String {
    let mut digest = Sha256::new();
    let mut add = |part: &[u8]| {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    };
    for path in [Some(firmware), properties].into_iter().flatten() {
        add(&std::fs::read(path).unwrap_or_default());
    }
    add(env!("CARGO_PKG_VERSION").as_bytes());
    options.iter().for_each(|option| add(option.as_bytes()));
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
