//! Errors of machines of the environment.

use avr_machine::{MAX_AUTOMATA, MAX_AUTOMATON_STATES};
use thiserror::Error;

/// The kind of error in a machine of the environment.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MachineError {
    /// Too many machines.
    #[error("an environment has at most {MAX_AUTOMATA} machines")]
    TooMany,
    /// Too many states.
    #[error("a machine of the environment has at most {MAX_AUTOMATON_STATES} states")]
    TooManyStates,
    /// A machine that drives nothing.
    #[error("the machine drives nothing")]
    DrivesNothing,
    /// Something driven that is no input which is read anew each time.
    #[error("{0} is no input that a machine can drive")]
    NotAnInput(String),
    /// Two drivers of one bit.
    #[error("{0} is driven twice")]
    DrivenTwice(String),
    /// A bit that is assumed to be constant and driven as well.
    #[error("{0} is driven, and `assume` says that it is constant")]
    Assumed(String),
    /// No move that gives a driven register a value.
    #[error("no move on read({0}) gives {0} a value")]
    NoValue(String),
    /// An event that a machine cannot hear.
    #[error("a machine hears accesses to single registers, and this is another event")]
    NotHeard,
    /// A comparison of more than the value of the event.
    #[error("this compares the value with more than numbers")]
    NotANumber,
    /// A comparison of bits that the machine does not drive.
    #[error("this compares bits of {0} that the machine does not drive")]
    NotDriven(String),
    /// A comparison that no value makes true.
    #[error("no value of the bits that are driven makes this true")]
    NeverTrue,
    /// Data in a state.
    #[error("a state of a machine has no data: it is outside of the firmware")]
    Data,
}

impl MachineError {
    /// Advice to the user, where the message does not give it.
    pub(crate) fn hint(&self) -> Option<String> {
        Some(match self {
            Self::DrivesNothing => "name inputs, as in drives: [\"UDR0\", \"PIND.2\"]",
            Self::NotAnInput(_) => {
                "name pins (`PIND`, `PIND.2`), or the register of received bytes (`UDR0`): what hardware has there anew at each read"
            }
            Self::DrivenTwice(_) => "let one machine drive it",
            Self::Assumed(_) => "leave one of both out",
            Self::NoValue(_) => "add one, as in (on: \"read(UDR0) == 3\", to: \"…\")",
            Self::NotHeard => "write `read(R)` or `write(R)` with a register R, or `tau`",
            Self::NotANumber => "write a comparison with constants, as in \"write(UDR0) & 0xf0 == 0x10\"",
            Self::NotDriven(_) => "mask them, as in \"read(PIND) & 0x04 == 0x04\", or drive them as well",
            Self::NeverTrue => "change the comparison, or leave the move out",
            Self::Data => "leave `data` out; a machine hears of the firmware by events",
            Self::TooMany | Self::TooManyStates => return None,
        }
        .to_owned())
    }
}
