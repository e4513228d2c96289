//! Errors of contracts of functions.

use thiserror::Error;

/// The kind of error in a contract.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ContractError {
    /// `enables: true`.
    #[error("a function that enables interrupts has no contract yet")]
    Enables,
    /// Something else in the property file that contracts do not go with.
    #[error("contracts do not go with {0}")]
    NotWith(&'static str),
    /// A name of something else.
    #[error("{0} is no function: no code begins there")]
    NoFunction(String),
    /// The first instruction of the program.
    #[error("the program begins in {0}")]
    Start(String),
    /// A jump to the entry.
    #[error("{function} is entered by a jump at {place:#06x}, not by calls only")]
    Jump {
        /// The function.
        function: String,
        /// The flash byte address of the jump.
        place: u32,
    },
    /// Something that may not be changed by a contract.
    #[error("{0} is no variable in SRAM, and no I/O register that is mere storage")]
    NotWritable(String),
    /// Something in `events` that is no access to I/O registers and no call, or is compared.
    #[error("{0} is no read or write of an I/O register, and no call")]
    NotAnEvent(String),
    /// A condition about something that cannot have changed.
    #[error("this speaks of {0}, which the function does not change")]
    NotChanged(String),
    /// A part of a condition that speaks of no byte.
    #[error("each part of the condition speaks of the content of bytes, and this one does not")]
    NoByte,
    /// A condition that bytes satisfy in too many ways.
    #[error("the contents of {0} that satisfy the condition are too many to list")]
    TooManyContents(String),
    /// A condition that is not about the content of a byte.
    #[error("a condition speaks of the content of registers and variables only")]
    NotContent,
    /// A condition that no content satisfies.
    #[error("no content of {0} satisfies the condition: nothing would be left to verify behind a call")]
    Unsatisfiable(String),
}

impl ContractError {
    /// Advice to the user, where the message does not give it.
    pub(crate) fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Enables => "leave the contract out, so that the body is looked at",
            Self::NotWith(_) | Self::Start(_) => "leave the contracts out",
            Self::NoFunction(_) => "name a function, or the flash byte address of its first instruction, as in \"0x01a2\"",
            Self::Jump { .. } => {
                "leave the contract out, or compile with -fno-optimize-sibling-calls, so that the function is called"
            }
            Self::NotWritable(_) => "leave it out; a function that changes it has no contract yet",
            Self::NotAnEvent(_) => {
                "name events as in \"read(PINB)\", \"write(PORTB)\" and \"call(f)\"; variables belong in `writes`"
            }
            Self::NotChanged(_) => "leave this part out, or name it in `writes`",
            Self::NoByte => "leave this part out",
            Self::TooManyContents(_) => {
                "compare words with constants, as in \"mem16[24] <= 1000\", or join parts about one byte each by &&"
            }
            Self::NotContent => "compare the content of bytes with numbers, as in \"r24 <= 100\"",
            Self::Unsatisfiable(_) => "change the condition, or leave it out",
        }
        .to_owned())
    }
}
