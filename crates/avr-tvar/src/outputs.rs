//! Output files: none may replace an input or another output, however the paths are spelled.

use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::error::{InputError, InputErrorKind};
use crate::evidence;
use crate::files::{self, failed};

/// The files that a command will write.
#[derive(Debug, Default)]
pub(crate) struct Outputs<'a> {
    files: Vec<(&'static str, &'a Path)>,
    evidence: Option<&'a Path>,
}

impl<'a> Outputs<'a> {
    /// Adds files of a kind, such as `the report`.
    pub(crate) fn files(mut self, what: &'static str, paths: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        self.files.extend(paths.into_iter().map(|path| (what, path.as_path())));
        self
    }

    /// Adds a directory with evidence.
    pub(crate) fn evidence(mut self, directory: Option<&'a PathBuf>) -> Self {
        self.evidence = directory.map(PathBuf::as_path);
        self
    }

    /// Makes sure before the work that all files can be written, that they are different, and that none is an input.
    ///
    /// # Errors
    /// If a file cannot be written, or would replace another one.
    pub(crate) fn check<'i>(&self, inputs: impl IntoIterator<Item = &'i Path>) -> Result<(), InputError> {
        let mut taken: Vec<Taken<'_>> = inputs.into_iter().map(|path| Taken::of(None, path)).collect();
        for (what, path) in &self.files {
            let place = Place::of(path);
            refuse(what, path, &place, &taken)?;
            files::check(path)?;
            taken.push(Taken { what: Some(what), path, place });
        }
        self.evidence.map_or(Ok(()), |directory| check_evidence(directory, &taken))
    }
}

/// A file that must stay as it is.
struct Taken<'a> {
    /// The kind of the output; none for an input.
    what: Option<&'static str>,
    path: &'a Path,
    place: Place,
}

impl<'a> Taken<'a> {
    fn of(what: Option<&'static str>, path: &'a Path) -> Self {
        Self { what, path, place: Place::of(path) }
    }
}

const EVIDENCE: &str = "the evidence";

/// The folders of the properties are known after the work only, so the files of all folders that are there are compared; a
/// new folder has no file yet.
fn check_evidence(directory: &Path, taken: &[Taken<'_>]) -> Result<(), InputError> {
    refuse(EVIDENCE, directory, &Place::of(directory), taken)?;
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(failed(directory, error)),
    };
    for folder in entries.iter().filter(|path| path.is_dir()) {
        for path in evidence::FILES.iter().map(|name| folder.join(name)) {
            refuse(EVIDENCE, &path, &Place::of(&path), taken)?;
        }
    }
    Ok(())
}

fn refuse(what: &'static str, path: &Path, place: &Place, taken: &[Taken<'_>]) -> Result<(), InputError> {
    let Some(other) = taken.iter().find(|other| other.place.is(place)) else { return Ok(()) };
    let path = path.display().to_string();
    Err(match other.what {
        Some(first) => InputErrorKind::SameOutput { path, first, second: what }.into(),
        None => InputErrorKind::OutputOverInput { path, what, input: other.path.display().to_string() }.into(),
    })
}

/// The identity of a file, whatever path leads to it.
#[derive(Debug)]
struct Place {
    /// Without links, as far as it exists.
    path: PathBuf,
    /// The device and inode, which hard links of one file have in common; none where the system does not tell them.
    file: Option<(u64, u64)>,
    /// True if writing to it replaces nothing, as with `/dev/null`.
    is_device: bool,
}

impl Place {
    fn of(path: &Path) -> Self {
        let resolved = path.canonicalize().or_else(|_| in_resolved_folder(path));
        let metadata = fs::metadata(path).ok();
        Self {
            path: resolved.unwrap_or_else(|_| path.to_owned()),
            file: metadata.as_ref().and_then(file_number),
            is_device: metadata.as_ref().is_some_and(is_device),
        }
    }

    fn is(&self, other: &Self) -> bool {
        let is_same_file = self.file.is_some() && self.file == other.file;
        !self.is_device && (self.path == other.path || is_same_file)
    }
}

/// A path that does not exist, in its folder without links.
fn in_resolved_folder(path: &Path) -> io::Result<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
    Ok(folder.canonicalize()?.join(name))
}

#[cfg(unix)]
fn file_number(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(unix)]
fn is_device(metadata: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    metadata.file_type().is_char_device()
}

#[cfg(not(unix))]
fn file_number(_: &Metadata) -> Option<(u64, u64)> {
    None
}

#[cfg(not(unix))]
fn is_device(_: &Metadata) -> bool {
    false
}
