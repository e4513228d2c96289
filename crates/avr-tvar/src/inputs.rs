//! Input files. A command reads every file through one list, which keeps its content and its digest: keys, reports,
//! certificates and the protection of inputs are made from the same bytes.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use avr_image::MAX_FILE_BYTES;
use avr_report::InputFile;
use sha2::{Digest, Sha256};

use crate::error::{InputError, InputErrorKind};

/// The version of this program and a digest of its sources: what it answers depends on nothing else but its inputs.
pub(crate) const IDENTITY: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("AVR_TVAR_SOURCES"));

/// The role of a file for a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    System,
    Firmware,
    Properties,
    Specification,
    Application,
    Eeprom,
    Baseline,
    Stimulus,
    Manifest,
    Journal,
    Configuration,
    Source,
}

impl Role {
    /// The name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Firmware => "firmware",
            Self::Properties => "properties",
            Self::Specification => "specification",
            Self::Application => "application",
            Self::Eeprom => "eeprom",
            Self::Baseline => "baseline",
            Self::Stimulus => "stimulus",
            Self::Manifest => "manifest",
            Self::Journal => "journal",
            Self::Configuration => "configuration",
            Self::Source => "source",
        }
    }
}

/// A file that was read.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) role: Role,
    /// The path as it was given.
    pub(crate) path: PathBuf,
    /// The content; of a file that is too large, the first bytes and one more than the limit.
    pub(crate) bytes: Arc<[u8]>,
    /// The digest of the content (SHA-256, hexadecimal).
    pub(crate) sha256: String,
}

impl Input {
    /// The path as messages show it.
    pub(crate) fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The content as text; none if it is not UTF-8.
    pub(crate) fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }

    /// The content as text.
    ///
    /// # Errors
    /// If it is not UTF-8.
    pub(crate) fn required_text(&self) -> Result<&str, InputError> {
        let invalid = || io::Error::new(ErrorKind::InvalidData, "it is not text in UTF-8");
        self.text().ok_or_else(|| InputErrorKind::Read { path: self.name(), error: invalid() }.into())
    }
}

/// The files that a command has read. A file is read at most once, whatever it is used for: a second use finds the same
/// bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inputs {
    files: Vec<(PathBuf, Arc<Input>)>,
}

impl Inputs {
    /// The content of a file, of at most [`MAX_FILE_BYTES`] bytes and one.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn read(&mut self, role: Role, path: &Path) -> Result<Arc<Input>, InputError> {
        // A pipe has no canonical path.
        let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let known = self.files.iter().filter(|(known, _)| *known == place).map(|(_, input)| input);
        let known: Vec<&Arc<Input>> = known.collect();
        if let Some(same) = known.iter().find(|input| input.role == role) {
            return Ok(Arc::clone(same));
        }
        let (bytes, sha256) = match known.first() {
            Some(input) => (Arc::clone(&input.bytes), input.sha256.clone()),
            None => {
                let bytes = content(path);
                let bytes = bytes.map_err(|error| InputErrorKind::Read { path: path.display().to_string(), error })?;
                check_size(role, path, bytes.len() as u64)?;
                let sha256 = hexadecimal(&Sha256::digest(&bytes));
                (bytes.into(), sha256)
            }
        };
        let input = Arc::new(Input { role, path: path.to_owned(), bytes, sha256 });
        self.files.push((place, Arc::clone(&input)));
        Ok(input)
    }

    /// All files, in the order in which they were read.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Input> {
        self.files.iter().map(|(_, input)| &**input)
    }

    /// The paths of all files, as they were given.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.all().map(|input| input.path.as_path())
    }

    /// The files as reports list them, in the order of their roles: those on which an answer can depend.
    pub(crate) fn listed(&self) -> Vec<InputFile> {
        let mut all: Vec<&Input> = self.all().filter(|input| input.role != Role::Source).collect();
        all.sort_by_key(|input| input.role);
        let listed = |input: &Input| InputFile {
            role: input.role.name().to_owned(),
            path: input.name(),
            sha256: input.sha256.clone(),
            bytes: input.bytes.len() as u64,
        };
        all.into_iter().map(listed).collect()
    }
}

/// Images and files with EEPROM content have limits and errors of their own.
fn check_size(role: Role, path: &Path, bytes: u64) -> Result<(), InputError> {
    if bytes <= MAX_FILE_BYTES || matches!(role, Role::Firmware | Role::Eeprom) {
        return Ok(());
    }
    let error = io::Error::new(ErrorKind::FileTooLarge, format!("it is larger than {MAX_FILE_BYTES} bytes"));
    Err(InputErrorKind::Read { path: path.display().to_string(), error }.into())
}

fn content(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more than the limit tells a file that is too large, also where its size is unknown (a pipe).
    File::open(path)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A file that is read piece by piece because it may be large, and of which no report tells.
///
/// # Errors
/// If it cannot be opened.
pub(crate) fn stream(path: &Path) -> io::Result<impl BufRead> {
    File::open(path).map(BufReader::new)
}

/// Bytes as hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{Inputs, Role};
    use std::path::{Path, PathBuf};

    #[test]
    fn a_file_is_read_once() {
        let folder = tempfile::tempdir().expect("there is a directory for temporary files");
        let path = folder.path().join("a");
        std::fs::write(&path, "first").expect("it is written");
        let mut inputs = Inputs::default();
        let first = inputs.read(Role::Firmware, &path).expect("it is there");
        std::fs::write(&path, "second").expect("it is written");
        let spelled = folder.path().join(".").join("a");
        let again = inputs.read(Role::Eeprom, &spelled).expect("it is known");
        assert_eq!((&*first.bytes, &*again.bytes), (&b"first"[..], &b"first"[..]));
        let listed: Vec<String> =
            inputs.listed().into_iter().map(|file| format!("{} {}", file.role, file.bytes)).collect();
        assert_eq!(listed, ["firmware 5", "eeprom 5"]);
    }

    /// Calls that read or write files, each with the modules that may have it.
    const CALLS: &[(&str, &[&str])] = &[
        ("File::open", &["avr-tvar/src/inputs.rs", "avr-image/src/image.rs"]),
        ("fs::read(", &[]),
        ("fs::read_to_string(", &["avr-tvar/src/memory.rs", "avr-machine/src/device/pages.rs"]),
        ("OpenOptions", &["avr-tvar/src/files.rs", "avr-tvar/src/batch/journal.rs"]),
        ("File::options", &[]),
        ("File::create", &[]),
        // These, and `pages`, are modules of tests.
        ("Image::load(", &["avr-verify/src/obligations.rs", "avr-verify/src/published.rs"]),
        ("Mmap", &[]),
    ];

    fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(directory).expect("it is a directory") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }

    /// The part of a module that is no test, without comments.
    fn code(text: &str) -> String {
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn no_file_is_opened_past_the_list() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&crates).expect("it is a directory") {
            let path = entry.expect("it can be read").path();
            if path.join("src").is_dir() && !path.ends_with("avr-testkit") {
                sources(&path.join("src"), &mut found);
            }
        }
        assert!(found.len() > 100, "only {} modules were found", found.len());
        let is_test = |name: &str| name.contains("/tests/") || name.ends_with("/tests.rs");
        let mut wrong = Vec::new();
        for path in found {
            let name = path.strip_prefix(&crates).expect("it is below").display().to_string().replace('\\', "/");
            let code = code(&std::fs::read_to_string(&path).expect("it is text"));
            for (call, allowed) in CALLS.iter().filter(|_| !is_test(&name)) {
                if code.contains(call) && !allowed.contains(&name.as_str()) {
                    wrong.push(format!("{name}: {call}"));
                }
            }
        }
        assert_eq!(wrong, Vec::<String>::new(), "files are read through `Inputs`");
    }
}
