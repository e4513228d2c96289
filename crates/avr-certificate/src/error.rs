//! Errors of bytes that are no certificate.

use thiserror::Error;

/// Bytes that are no certificate, or none that this version can read.
#[derive(Debug, Error)]
#[error("{kind}")]
pub struct ReadError {
    /// The kind of error.
    pub kind: ReadErrorKind,
}

/// The kind of a [`ReadError`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The file does not begin as certificates do.
    #[error("this is no certificate of avr-tvar")]
    NotACertificate,
    /// Another version of the format.
    #[error("the certificate has format {found}, and this version of avr-tvar reads format {known}")]
    Version {
        /// The version of the file.
        found: u8,
        /// The version that is known.
        known: u8,
    },
    /// The content ends too early or is damaged.
    #[error("the certificate is damaged: {0}")]
    Damaged(String),
    /// It needs more memory than allowed.
    #[error("the certificate needs more than {limit} bytes of memory")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The system could not read it.
    #[error("the certificate cannot be read: {0}")]
    Io(std::io::Error),
}

impl From<ReadErrorKind> for ReadError {
    fn from(kind: ReadErrorKind) -> Self {
        Self { kind }
    }
}

impl ReadError {
    /// Advice to the user.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self.kind {
            ReadErrorKind::NotACertificate => "give the file that `avr-tvar verify --certificate FILE` wrote",
            ReadErrorKind::Version { .. } => "use the version of avr-tvar that wrote it, or write it anew",
            ReadErrorKind::Damaged(_) => "copy it again, or write it anew",
            ReadErrorKind::TooLarge { .. } => "allow more with --memory",
            ReadErrorKind::Io(_) => "check the path and its permissions",
        }
    }
}
