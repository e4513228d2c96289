//! Concrete runs that show verdicts, and what became of the search for one.

use crate::failure::Failure;
use crate::narrative::events::{Chosen, Told};
use crate::target_condition::Condition;
use avr_isa::DataAddress;
use avr_machine::simulator::Stimulus;
use avr_machine::{Frame, Hazard};
use avr_properties::Moment;
use std::collections::BTreeMap;

/// The most claims about other continuations that get runs of their own.
pub(crate) const MAX_BRANCHES: usize = 3;

/// The reason why a run does not show what it should, with the evidence that there is.
pub(crate) type Unshown = Box<(Failure, Option<Evidence>)>;

/// The kind of a run, by what it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvidenceKind {
    /// The way to a state.
    Path,
    /// The way to a hazard: the step after the last state is one.
    Hazard,
    /// The way into a loop that repeats for ever.
    Lasso,
    /// The beginning of a run that goes on for ever without repeating itself exactly, some rounds of it.
    Unending,
}

/// The state after the last step of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastState {
    /// Flash byte address of the next instruction.
    pub pc: u32,
    /// The stack pointer.
    pub stack_pointer: DataAddress,
    /// The highest data address of the stack in use.
    pub stack_end: DataAddress,
    /// SREG.
    pub status: u8,
    /// The hazard that the next step is.
    pub hazard: Option<Hazard>,
}

/// A concrete run that shows a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The kind of the run, by what it shows.
    pub kind: EvidenceKind,
    /// The number of its steps: instructions, entries into interrupt handlers, resets, cycles of sleep. A hazard is not
    /// counted.
    pub steps: u64,
    /// Clock cycles of these steps.
    pub cycles: u64,
    /// The step after which the state is that at the end; for a lasso.
    pub loop_start: Option<u64>,
    /// All inputs of the run, for repeating it exactly.
    pub stimulus: Stimulus,
    /// The inputs that differ from what comes by itself.
    pub chosen: Vec<Chosen>,
    /// The first step that rests on a choice which the hardware would determine and does not make in a simulation cycle
    /// by cycle.
    pub abstracted: Option<u64>,
    /// The last step in which the hardware would determine something.
    pub left_to_hardware: Option<u64>,
    /// True if the environment has time enough for what repeats for ever; true where nothing does.
    pub is_repeated_in_time: bool,
    /// The claim that the run shows, as a sentence without a full stop.
    pub claim: String,
    /// The claims that the run alone cannot show and that rest on the proof, as sentences without full stops.
    pub proved: Vec<String>,
    /// True if a replay confirmed the run.
    pub replayed: bool,
    /// The state at the end.
    pub end: LastState,
    /// True if it ends before the main program is entered for the first time, where the image tells where that begins.
    pub ends_in_startup: bool,
    /// The return addresses on the stack at the end, oldest first.
    pub calls: Vec<Frame>,
    /// The atoms of the property with their values at the end, where they are known.
    pub atoms: Vec<(String, bool)>,
    /// The values of the same atoms along the run; of a long run, in its last states.
    pub traces: Vec<AtomTrace>,
    /// The data addresses of the cells that the property speaks of, by rising address.
    pub cells: Vec<DataAddress>,
    /// The narrative of the run.
    pub narrative: Told,
    /// The conditions under which a state shows the verdict whatever the way to it; none where the way matters or the
    /// state cannot be described.
    pub reached: Option<Vec<Condition>>,
    /// The clock cycle at which another simulator showed the verdict by itself.
    pub confirmed: Option<u64>,
    /// The states of the specification beside the run, if the property names one and they are known.
    pub specification: Vec<Moment>,
    /// Runs that show claims about other continuations.
    pub branches: Vec<Evidence>,
    /// The run behind the claim that it rests on.
    pub continuation: Option<Box<Continuation>>,
}

/// Numbers of steps after which an atom has another value than before, with the value; none where it is not known.
pub type AtomChanges = Vec<(u64, Option<bool>)>;

/// The values of an atom along a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtomTrace {
    /// The text of the atom.
    pub text: String,
    /// Its changes. The first entry is the first state that was looked at.
    pub changes: AtomChanges,
}

/// A run from a state in which a loop is left. No run is known that comes there: a claim about the loop says that there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Continuation {
    /// The cells with another content than at the end of the run before it.
    pub cells: BTreeMap<DataAddress, u8>,
    /// The run.
    pub run: Evidence,
}

/// The outcome of the search for evidence.
#[derive(Clone, Debug)]
pub enum Search {
    /// No single run can show the verdict.
    NotNeeded,
    /// A run that was replayed.
    Found(Box<Evidence>),
    /// A limit was reached.
    Missing(String),
    /// The run does not show what the proof claims: our own code is wrong somewhere.
    Failed(String, Option<Box<Evidence>>),
}

impl Search {
    pub(crate) fn failed((failure, partial): (Failure, Option<Evidence>)) -> Self {
        match failure {
            Failure::Fault(reason) => Self::Failed(reason, partial.map(Box::new)),
            Failure::Limit(reason) => Self::Missing(reason),
        }
    }
}

impl Evidence {
    /// True if a run uses only what the environment can do at any time, or what the hardware does by itself.
    pub fn is_of_hardware(&self) -> bool {
        // The behaviour of the peripherals is known as far as the run was replayed, not for what repeats for ever.
        let is_known = match self.kind {
            EvidenceKind::Path | EvidenceKind::Hazard => true,
            EvidenceKind::Lasso => self.left_to_hardware.is_none_or(|last| Some(last) < self.loop_start),
            EvidenceKind::Unending => self.left_to_hardware.is_none(),
        };
        is_known
            && self.is_repeated_in_time
            && self.abstracted.is_none()
            && self.branches.iter().all(Self::is_of_hardware)
    }
}
