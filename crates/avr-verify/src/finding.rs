//! A finding: what an analysis or a run tells of a program beside its properties.

use avr_properties::FindingKind;
use avr_witness::Evidence;

/// The certainty of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// A run shows it, and was replayed. A store is shown by the hardware alone; an interrupt may come at a moment of the model's choice.
    Replayed,
    /// The analysis says that it may be, or a run shows it that rests on a choice which the hardware would determine.
    Possible,
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind.
    pub kind: FindingKind,
    /// The certainty.
    pub certainty: Certainty,
    /// Flash byte address of the instruction.
    pub pc: u32,
    /// The finding as a sentence without a full stop.
    pub text: String,
    /// The run that shows it: its last step is the instruction.
    pub evidence: Option<Evidence>,
    /// The reason why it is allowed, where the property file allows it.
    pub allowed: Option<String>,
}

impl Finding {
    /// True if it makes a verification fail without more being asked: a run shows a store outside of an object.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        self.kind == FindingKind::OutOfObject && self.certainty == Certainty::Replayed && self.allowed.is_none()
    }
}
