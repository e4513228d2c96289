//! Errors in `initially` and `application`: what is said of the start and of the flash below the boot section.

use thiserror::Error;

/// The problem.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StartError {
    /// Something that no start may be restricted in.
    #[error("{0} cannot be restricted: `initially` speaks of the SRAM, the EEPROM and MCUSR")]
    NotAtStart(String),
    /// No content of these cells is as the text says.
    #[error("no start has {0} so: nothing would be left to verify")]
    Unsatisfiable(String),
    /// The text contradicts one before it, or the file with the content of the EEPROM.
    #[error("this contradicts what is said of {0} before")]
    Contradiction(String),
    /// The text says more than that some bits are fixed.
    #[error("{allowed} of {values} values of {cells} are so; they are not all those with some bits fixed")]
    NotFixedBits {
        /// The cells.
        cells: String,
        /// The number of values that satisfy the text.
        allowed: usize,
        /// The number of values that there are.
        values: usize,
    },
    /// More cells than can be tried.
    #[error("this speaks of more than two bytes, and is no comparison with a number by ==")]
    TooManyCells,
    /// A register of reset causes in which no cause need stand.
    #[error("no cause of the first reset is said to stand in {0}")]
    NoCause(String),
    /// A device without a boot section.
    #[error("the device has no boot section, so no application besides the image")]
    NoBootSection,
    /// The image has bytes where there is to be no application, or any.
    #[error("the image has code at {address:#06x}, below the boot section at {boot:#06x}")]
    ImageInApplication {
        /// Flash byte address of the first such word.
        address: u32,
        /// Flash byte address of the boot section.
        boot: u32,
    },
    /// Execution starts in the application.
    #[error("execution starts at {start:#06x}, below the boot section at {boot:#06x}")]
    StartsInApplication {
        /// Flash byte address of the first instruction.
        start: u32,
        /// Flash byte address of the boot section.
        boot: u32,
    },
    /// The application and the image both have a byte.
    #[error("the application {path} and the image both have code at {address:#06x}")]
    Overlap {
        /// The path of the application.
        path: String,
        /// Flash byte address.
        address: u32,
    },
    /// The application reaches into the boot section.
    #[error("the application {path} has code at {address:#06x}, in the boot section, which begins at {boot:#06x}")]
    InBootSection {
        /// The path of the application.
        path: String,
        /// Flash byte address.
        address: u32,
        /// Flash byte address of the boot section.
        boot: u32,
    },
    /// The application was not read.
    #[error("the application {0} was not read")]
    NotRead(String),
    /// The application is no image.
    #[error("the application {path}: {problem}")]
    NoImage {
        /// The path of the application.
        path: String,
        /// The problem.
        problem: String,
    },
}

impl StartError {
    /// Advice to the user, where the message does not give it.
    pub(crate) fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NotAtStart(_) => {
                "assume speaks of inputs; all other registers are at the start as the data sheet says".to_owned()
            }
            Self::NotFixedBits { .. } | Self::TooManyCells => {
                "fix bits, as in `MCUSR & 0x0f == 2`, `flag == 0x5a` or `eeprom[0] & 0x80 == 0`".to_owned()
            }
            Self::NoCause(register) => {
                format!("say which one, as in `{register} & 0x0f == 2`, or write initially: (power_on: […])")
            }
            Self::ImageInApplication { .. } => "leave `application` out: the image has one".to_owned(),
            Self::StartsInApplication { .. } => {
                "program the fuse BOOTRST, as in fuses: (high: 0xd8), or give `start`".to_owned()
            }
            _ => return None,
        })
    }
}
