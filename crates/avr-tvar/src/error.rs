//! Errors in the command line or in a file that it names.

use avr_certificate::ReadError;
use avr_image::ImageError;
use avr_machine::device::{Device, UnknownDevice};
use avr_machine::ron_offset;
use avr_machine::simulator::StimulusError;
use avr_properties::{Excerpt, PropertyError};
use avr_report::BaselineError;
use avr_verify::EventsError;
use ron::error::Position;
use thiserror::Error;

use crate::snippet::{Marked, first_word};

/// Advice on the form of a manifest.
pub(crate) const MANIFEST_FORM: &str =
    "it is RON, as in ( timeout: \"60s\", runs: [(firmware: \"a.elf\", properties: \"a.ron\")] )";

/// The input cannot be used. `Display` says what is wrong and where; [`InputError::hint`] says what to do.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct InputError {
    /// The kind of error.
    #[from]
    pub kind: InputErrorKind,
}

/// The kind of an [`InputError`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InputErrorKind {
    /// The firmware was refused.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// A property cannot be used.
    #[error(transparent)]
    Property(Box<PropertyError>),
    /// Something at a place of a file is wrong.
    #[error("{}: {problem}", marked.file.as_deref().unwrap_or("a file"))]
    InFile {
        /// The place.
        marked: Marked,
        /// The problem.
        problem: String,
        /// Advice.
        hint: &'static str,
    },
    /// An event cannot be seen.
    #[error("{reason}")]
    Event {
        /// The message.
        reason: String,
    },
    /// There is no automaton of a firmware.
    #[error("{path}: no specification can be written: {reason}")]
    NoSpecification {
        /// The firmware.
        path: String,
        /// The reason.
        reason: String,
    },
    /// An editor does not speak the language server protocol.
    #[error("the language server protocol broke off: {reason}")]
    Protocol {
        /// The reason.
        reason: String,
    },
    /// Files cannot be watched.
    #[error("the files cannot be watched: {reason}")]
    Watch {
        /// The message of the system.
        reason: String,
    },
    /// A file could not be read.
    #[error("{path}: cannot be read: {error}")]
    Read {
        /// The path.
        path: String,
        /// The error of the system.
        error: std::io::Error,
    },
    /// A property file is no text.
    #[error("{path}: is not a property file: it is not text")]
    NotText {
        /// The path.
        path: String,
    },
    /// The device that was asked for does not exist.
    #[error("{origin}: {error}")]
    Device {
        /// Who asks for it.
        origin: String,
        /// The name and the nearest ones.
        error: UnknownDevice,
    },
    /// A part that is no device of this program.
    #[error("{path}: the {part} is not supported yet")]
    UnsupportedPart {
        /// The image, or who asks for the part.
        path: String,
        /// The part.
        part: String,
    },
    /// The command line and the property file name different devices.
    #[error("{path} is about {of_file}, but --device names {asked}")]
    DifferentDevices {
        /// The property file.
        path: String,
        /// Its device.
        of_file: String,
        /// The device on the command line.
        asked: String,
    },
    /// A file with EEPROM content has bytes that do not belong there.
    #[error("{path}: has content outside of the EEPROM of {size} bytes")]
    BeyondEeprom {
        /// The file.
        path: String,
        /// Size of the EEPROM in bytes.
        size: u16,
    },
    /// A file with EEPROM content is too large to be one.
    #[error("{path}: is larger than {limit} bytes, which no file with EEPROM content is")]
    LargeEeprom {
        /// The file.
        path: String,
        /// The largest accepted size in bytes.
        limit: u64,
    },
    /// A file with EEPROM content is text, but no Intel HEX.
    #[error("{path}: is neither Intel HEX nor ELF, and rather text than the raw content of an EEPROM")]
    EepromFormat {
        /// The file.
        path: String,
    },
    /// The threads could not be started.
    #[error("cannot start {jobs} threads: {reason}")]
    Threads {
        /// The number of threads that were wanted.
        jobs: usize,
        /// The message of the system.
        reason: String,
    },
    /// A stimulus cannot be used.
    #[error("{error}")]
    Stimulus {
        /// The problem and its place.
        error: Box<StimulusError>,
        /// The text of the file.
        text: String,
    },
    /// A certificate could not be read.
    #[error("{path}: {error}")]
    Certificate {
        /// The path.
        path: String,
        /// The error in it.
        error: ReadError,
    },
    /// A file could not be written.
    #[error("{path}: cannot be written: {error}")]
    WriteFile {
        /// The path.
        path: String,
        /// The error of the system.
        error: std::io::Error,
    },
    /// An older report cannot be used.
    #[error("{path}: {error}")]
    Baseline {
        /// The path.
        path: String,
        /// The reason why not.
        error: BaselineError,
    },
    /// Regressions are denied, and there is nothing to compare with.
    #[error("--deny {what}: there is no older report to compare with")]
    NoBaseline {
        /// The argument of `--deny`.
        what: &'static str,
    },
    /// There is nothing to verify.
    #[error("{path}: nothing would be verified: {reason}")]
    NothingToVerify {
        /// The file that could say what to verify.
        path: String,
        /// The reason why it does not.
        reason: String,
    },
    /// An output would go where another one goes.
    #[error("{path}: two outputs would go there, {first} and {second}")]
    SameOutput {
        /// The path.
        path: String,
        /// The kind of the first.
        first: &'static str,
        /// The kind of the second.
        second: &'static str,
    },
    /// An output would replace what was read.
    #[error("{path}: {what} would replace {input}, which is an input")]
    OutputOverInput {
        /// The path of the output.
        path: String,
        /// The kind of the output.
        what: &'static str,
        /// The path of the input.
        input: String,
    },
    /// A file that begins as JSON is no report.
    #[error("{path}: is no report of this program: {reason}")]
    NoReport {
        /// The path.
        path: String,
        /// The error in it.
        reason: String,
    },
    /// A report is explained, and options are given that are about verification.
    #[error("{path}: a report is explained as it is, and nothing but --allow-empty can be given with it")]
    ReportWithOptions {
        /// The path.
        path: String,
    },
    /// A specification that is to be drawn, with what is for firmware.
    #[error("{path}: a specification is drawn as it is, without properties and --around")]
    GraphOfSpecification {
        /// The path.
        path: String,
    },
    /// The work was given up before there was a graph.
    #[error("there is no graph: {reason}")]
    NoGraph {
        /// The limit.
        reason: String,
    },
    /// A place on the command line that is no code.
    #[error("--around {place}: the image has no code of this name{}", did_you_mean(nearest))]
    NoCode {
        /// The place.
        place: String,
        /// The nearest names.
        nearest: Vec<String>,
    },
    /// A file that must not be written over.
    #[error("{path}: is there already")]
    Exists {
        /// The path.
        path: String,
    },
    /// A manifest cannot be used.
    #[error("{path}: cannot be used as a manifest: {reason}")]
    Manifest {
        /// The manifest.
        path: String,
        /// The error in it.
        reason: String,
    },
    /// There is a journal already.
    #[error("{path}: is there already")]
    JournalExists {
        /// The journal.
        path: String,
    },
    /// Another process writes the journal.
    #[error("{path}: is in use by another process")]
    JournalInUse {
        /// The journal.
        path: String,
    },
    /// A line of a journal is none.
    #[error("{path}: line {line} is no entry of a journal: {reason}")]
    Journal {
        /// The journal.
        path: String,
        /// The number of the line, from 1.
        line: usize,
        /// The error in it.
        reason: String,
    },
    /// A journal is of another version of the program or of the format.
    #[error("{path}: is of {foreign}")]
    ForeignJournal {
        /// The journal.
        path: String,
        /// The program or the format.
        foreign: String,
    },
    /// A journal has other verdicts of a run than another journal, or than itself.
    #[error("{path}: has other verdicts of {run} than were read before")]
    ConflictingJournal {
        /// The journal.
        path: String,
        /// The name of the run.
        run: String,
    },
    /// A journal has nothing of a manifest.
    #[error("{path}: has no run of this manifest with the files as they are now")]
    OtherBatch {
        /// The journal.
        path: String,
    },
    /// Runs of a manifest are in no journal.
    #[error("no journal has what came of {}", missing.join(", "))]
    MissingRuns {
        /// The names of the runs.
        missing: Vec<String>,
    },
    /// The results could not be written.
    #[error("cannot write to the standard output: {0}")]
    Write(std::io::Error),
}

impl InputError {
    /// Advice to the user, where the message does not give it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        self.kind.hint()
    }
}

impl InputError {
    /// The message without a place that [`InputError::marked`] has.
    #[must_use]
    pub fn title(&self) -> String {
        match &self.kind {
            InputErrorKind::Property(error) => error.title(),
            InputErrorKind::InFile { problem, .. } => problem.clone(),
            InputErrorKind::Stimulus { error, .. } => error.kind.to_string(),
            other => other.to_string(),
        }
    }

    /// The text that is wrong, with the place in it, where it is known.
    #[must_use]
    pub fn marked(&self) -> Option<Marked> {
        match &self.kind {
            InputErrorKind::Property(error) => {
                let Excerpt { file, text, span } = error.excerpt()?;
                Some(Marked { file: file.map(str::to_owned), text: text.to_owned(), span })
            }
            InputErrorKind::InFile { marked, .. } => Some(marked.clone()),
            InputErrorKind::Stimulus { error, text } => {
                let start = ron_offset(text, Position { line: error.line, col: error.column });
                let span = start..start + first_word(&text[start..]);
                Some(Marked { file: Some(error.file.clone()), text: text.clone(), span })
            }
            _ => None,
        }
    }
}

impl InputErrorKind {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Image(error) => error.hint(),
            Self::Property(error) => return error.hint(),
            Self::InFile { hint, .. } => (*hint).to_owned(),
            Self::NoSpecification { .. } => {
                "raise --timeout, or name fewer events or fewer bits of their values".to_owned()
            }
            Self::Event { .. } => "see `avr-tvar compare --help` for examples".to_owned(),
            Self::Protocol { .. } => {
                "let an editor start it; `integrations/vscode` is an extension that does".to_owned()
            }
            Self::Watch { .. } => "leave --watch out, and verify again by hand".to_owned(),
            Self::Read { .. } => "check the path and its permissions".to_owned(),
            Self::NotText { .. } => {
                "verify one firmware at a time; a property file is RON, as in `properties/`".to_owned()
            }
            Self::Device { .. } | Self::UnsupportedPart { .. } => {
                format!("the devices are {}", Device::names().collect::<Vec<_>>().join(", "))
            }
            Self::DifferentDevices { .. } => "leave out --device, or use a property file for that device".to_owned(),
            Self::BeyondEeprom { .. } => {
                "write it with `avr-objcopy -O ihex -j .eeprom --change-section-lma .eeprom=0`".to_owned()
            }
            Self::LargeEeprom { .. } => "give the file with the content of the EEPROM, such as FIRMWARE.eep".to_owned(),
            Self::EepromFormat { .. } => "give raw content the extension .bin or .raw".to_owned(),
            Self::Threads { .. } => "give a smaller number with --jobs".to_owned(),
            Self::Stimulus { error, .. } => return error.hint(),
            Self::Certificate { error, .. } => error.hint().to_owned(),
            Self::WriteFile { error, .. } if error.kind() == std::io::ErrorKind::StorageFull => {
                "make room on the device that it goes to".to_owned()
            }
            Self::WriteFile { .. } => "check the path and its permissions".to_owned(),
            Self::Baseline { .. } => "give a file that `--report json=FILE` wrote".to_owned(),
            Self::NoBaseline { .. } => "name one with --baseline".to_owned(),
            Self::NothingToVerify { .. } => {
                "say what to verify, such as Inherent(); --allow-empty accepts that nothing is".to_owned()
            }
            Self::SameOutput { .. } | Self::OutputOverInput { .. } => "give each output a file of its own".to_owned(),
            Self::NoReport { .. } => "give what `avr-tvar verify --format json` wrote, or a firmware image".to_owned(),
            Self::ReportWithOptions { .. } => "leave the other arguments out, or give the firmware image".to_owned(),
            Self::NoCode { .. } => "name a function, a label, a line as in main.c:12, or a byte address".to_owned(),
            Self::Exists { .. } => "give another name, or remove the file".to_owned(),
            Self::Manifest { .. } => MANIFEST_FORM.to_owned(),
            Self::JournalExists { .. } => "go on with it: `--resume`; or give another name".to_owned(),
            Self::JournalInUse { .. } => "wait for it, or give each part a journal of its own".to_owned(),
            Self::Journal { .. } => "give a file that `avr-tvar verify-all --journal` wrote".to_owned(),
            Self::ForeignJournal { .. } => {
                "verify its part again with this version: `avr-tvar verify-all --journal FILE --resume`".to_owned()
            }
            Self::ConflictingJournal { .. } => "remove the journal that is wrong, and verify its part again".to_owned(),
            Self::MissingRuns { .. } | Self::OtherBatch { .. } => {
                "give the journals of all parts, written for the manifest and the files as they are now".to_owned()
            }
            Self::GraphOfSpecification { .. } => "leave them out, or name the firmware first".to_owned(),
            Self::NoGraph { .. } => "raise the limit, or draw a property that needs fewer states".to_owned(),
            Self::Write(_) => "check the space on the device that it goes to".to_owned(),
        })
    }
}

impl From<ImageError> for InputError {
    fn from(error: ImageError) -> Self {
        InputErrorKind::Image(error).into()
    }
}

impl From<PropertyError> for InputError {
    fn from(error: PropertyError) -> Self {
        InputErrorKind::Property(Box::new(error)).into()
    }
}

impl From<EventsError> for InputError {
    fn from(error: EventsError) -> Self {
        match error {
            EventsError::Property(error) => error.into(),
            EventsError::Letter(error) => InputErrorKind::Event { reason: error.to_string() }.into(),
        }
    }
}

fn did_you_mean(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; did you mean {}?", names.join(" or ")) }
}
