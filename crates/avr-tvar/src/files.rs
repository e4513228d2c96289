//! Files that are written as a whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::error::{InputError, InputErrorKind};

/// Writes a file as a whole or not at all: a file of the same name stays until the new content is complete. What is no
/// ordinary file, such as a pipe, is written to.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn save(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), InputError> {
    let written = match destination(path) {
        Ok(Destination::Special) => OpenOptions::new().write(true).open(path).and_then(|mut file| write(&mut file)),
        Ok(Destination::Ordinary(target)) => replace(&target, write),
        Err(error) => Err(error),
    };
    written.map_err(|error| failed(path, error))
}

/// Finds out before the work, as far as possible, whether a file can be written after it. Nothing of that stays.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn check(path: &Path) -> Result<(), InputError> {
    let possible = match destination(path) {
        Ok(Destination::Special) => OpenOptions::new().write(true).open(path).map(drop),
        Ok(Destination::Ordinary(target)) => temporary(&target).map(drop),
        Err(error) => Err(error),
    };
    possible.map_err(|error| failed(path, error))
}

/// The destination of content.
enum Destination {
    /// An ordinary file, with links followed, that may not exist yet.
    Ordinary(PathBuf),
    /// Something that already exists and cannot be replaced.
    Special,
}

fn destination(path: &Path) -> io::Result<Destination> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::Error::from(ErrorKind::IsADirectory)),
        Ok(found) if found.is_file() => Ok(Destination::Ordinary(path.canonicalize()?)),
        Ok(_) => Ok(Destination::Special),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Destination::Ordinary(path.to_owned())),
        Err(error) => Err(error),
    }
}

fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let file = temporary(path)?;
    write(&mut file.as_file())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// A file in the folder of the one that it will replace.
fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = readable(&mut Builder::new()).tempfile_in(folder)?;
    keep_permissions(path, file.as_file())?;
    Ok(file)
}

/// Temporary files are for their owner alone; these may be read by whom the user lets read new files.
#[cfg(unix)]
fn readable<'a, 'b>(builder: &'a mut Builder<'b, 'b>) -> &'a mut Builder<'b, 'b> {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn readable<'a, 'b>(builder: &'a mut Builder<'b, 'b>) -> &'a mut Builder<'b, 'b> {
    builder
}

/// A file that is replaced keeps who may read it. One that may not be written to is not replaced.
fn keep_permissions(path: &Path, file: &File) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if found.permissions().readonly() => Err(io::Error::from(ErrorKind::PermissionDenied)),
        Ok(found) => file.set_permissions(found.permissions()),
        Err(_) => Ok(()),
    }
}

/// That a file or a folder could not be written.
pub(crate) fn failed(path: &Path, error: io::Error) -> InputError {
    InputErrorKind::WriteFile { path: path.display().to_string(), error }.into()
}
