//! Errors of specification files.

use thiserror::Error;

use super::MAX_STATES;
use crate::nearest::did_you_mean;

/// The kind of error in a specification, or in a property that names one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SpecificationError {
    /// No state is initial.
    #[error("no state is initial")]
    NoInitial,
    /// Too many states.
    #[error("a specification has at most {MAX_STATES} states")]
    TooManyStates,
    /// A name that no formula can use.
    #[error("a state cannot be named '{0}'; use letters, digits and `_`, and no word that has a meaning")]
    BadName(String),
    /// A state that does not exist.
    #[error("there is no state '{name}'{}", did_you_mean(nearest))]
    UnknownState {
        /// The name.
        name: String,
        /// The nearest names.
        nearest: Vec<String>,
    },
    /// A state that no moves lead to.
    #[error("no moves lead from an initial state to '{0}'")]
    Unreachable(String),
    /// A move that is there twice.
    #[error("this move is there twice")]
    RepeatedMove,
    /// A text that is no event.
    #[error("this is no event")]
    NotAnEvent,
    /// An event that the alphabet does not have.
    #[error("the alphabet does not have the event of this move")]
    NotInAlphabet,
    /// A comparison in the alphabet.
    #[error("an alphabet has events without comparisons")]
    ComparedInAlphabet,
    /// An alphabet without events.
    #[error("the alphabet is empty: every firmware conforms to every specification")]
    EmptyAlphabet,
    /// An event in data.
    #[error("data speaks of the content of a state, not of events")]
    EventInData,
    /// More than a condition in data.
    #[error("data speaks of one state: only comparisons and `! && || -> <->` have a meaning here")]
    NotData,
    /// A relation that does not exist.
    #[error("there is no relation '{0}'")]
    UnknownRelation(String),
    /// A specification that was not read.
    #[error("the specification {0} was not read")]
    NotRead(String),
}

impl SpecificationError {
    /// Advice to the user, where the message does not give it.
    pub(crate) fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoInitial => "name one, as in initial: [\"idle\"]".to_owned(),
            Self::Unreachable(_) => "leave the state out, or add the move that leads to it".to_owned(),
            Self::NotAnEvent => {
                "write an event, as in \"call(reset)\" or \"write(UDR0) == 0x14\", or \"tau\"; data: \"…\" speaks of states"
                    .to_owned()
            }
            Self::NotInAlphabet => "add it to alphabet: […], or leave the alphabet out".to_owned(),
            Self::ComparedInAlphabet => "the moves of the specification compare values".to_owned(),
            Self::EmptyAlphabet => "name events, as in alphabet: [\"write(PORTB)\"]".to_owned(),
            Self::EventInData => "an event belongs to a move: (on: \"…\", to: \"…\")".to_owned(),
            Self::UnknownRelation(_) => "write by: \"simulation\" or by: \"traces\"".to_owned(),
            Self::NotRead(_) => {
                "it is read where a property file names it, or its text is in the field `specifications`".to_owned()
            }
            _ => return None,
        })
    }
}
