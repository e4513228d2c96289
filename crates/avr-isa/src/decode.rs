//! Machine words into instructions.

use thiserror::Error;

use crate::{Feature, FeatureSet, Instruction, Opcode, table};

/// A word that is no instruction on the part.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Error)]
#[error("{word:#06x} {kind}")]
pub struct DecodeError {
    /// The first word.
    pub word: u16,
    /// The kind of error.
    pub kind: DecodeErrorKind,
}

/// The kind of a [`DecodeError`].
#[derive(Copy, Clone, PartialEq, Eq, Debug, Error)]
pub enum DecodeErrorKind {
    /// The instruction set assigns no meaning to it.
    #[error("is a reserved opcode; data in flash is no code: check that the program cannot run into it")]
    Reserved,
    /// The operation exists, but this part lacks it.
    #[error("is {opcode:?}, which this part lacks (it needs `{feature}`); check the device that the program is for")]
    NotOnThisDevice {
        /// The operation.
        opcode: Opcode,
        /// The feature that the part would need.
        feature: Feature,
    },
    /// The instruction has two words and the second is not there.
    #[error("is the first of the two words of {opcode:?}, but no word follows; check that the image is complete")]
    MissingSecondWord {
        /// The operation.
        opcode: Opcode,
    },
}

/// Decodes the instruction that starts with `first`. `second` is the flash word after it, or `None` where there is
/// none; instructions of one word ignore it.
///
/// # Errors
/// The word is reserved, the part lacks the operation, or the second word is needed and missing.
pub fn decode(first: u16, second: Option<u16>, features: FeatureSet) -> Result<Instruction, DecodeError> {
    let error = |kind| DecodeError { word: first, kind };
    let row = table::row_of_word(first).ok_or(error(DecodeErrorKind::Reserved))?;
    let opcode = row.opcode;
    if let Some(feature) = row.feature.filter(|feature| !features.contains(*feature)) {
        return Err(error(DecodeErrorKind::NotOnThisDevice { opcode, feature }));
    }
    let second = match second {
        _ if row.words == 1 => 0,
        Some(second) => second,
        None => return Err(error(DecodeErrorKind::MissingSecondWord { opcode })),
    };
    Ok((row.build)(row.values(u32::from(first) << 16 | u32::from(second))))
}

/// True if the instruction that starts with this word has two words, so that a skip passes over both. This is the same
/// on every part, also where the part lacks the operation; reserved words count as one.
pub fn is_two_words(first: u16) -> bool {
    table::row_of_word(first).is_some_and(|row| row.words == 2)
}
