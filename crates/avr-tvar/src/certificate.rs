//! Writing and reading certificates.

use std::io::{BufWriter, Write};
use std::path::Path;

use avr_certificate::{Certificate, DEFAULT_MEMORY, ReadErrorKind};

use crate::error::{InputError, InputErrorKind};
use crate::files;
use crate::inputs;

/// Writes a certificate as a whole or not at all.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn write(path: &Path, certificate: &Certificate) -> Result<(), InputError> {
    files::save(path, |file| {
        let mut file = BufWriter::new(file);
        certificate.write(&mut file)?;
        file.flush()
    })
}

/// Reads a certificate whose content takes no more memory than allowed.
///
/// # Errors
/// If the file is no certificate.
pub(crate) fn read(path: &Path, memory: Option<usize>) -> Result<Certificate, InputError> {
    let shown = || path.display().to_string();
    let file = inputs::stream(path).map_err(|error| InputErrorKind::Read { path: shown(), error })?;
    let read = Certificate::read(file, memory.unwrap_or(DEFAULT_MEMORY));
    read.map_err(|error| match error.kind {
        ReadErrorKind::Io(error) => InputErrorKind::Read { path: shown(), error }.into(),
        _ => InputErrorKind::Certificate { path: shown(), error }.into(),
    })
}
