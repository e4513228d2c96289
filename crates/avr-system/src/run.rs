//! Runs of all nodes as data.

/// A run of all nodes, side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The moments in which something happened on a wire or an input was read, in their order.
    pub moments: Vec<Moment>,
    /// The steps that each node took, in the order of nodes.
    pub steps: Vec<u64>,
    /// The order of steps: nodes with how many steps they take before the next one goes on.
    pub schedule: Vec<(usize, u64)>,
    /// The places at which the nodes are in the end, in the order of nodes.
    pub last: Vec<Place>,
    /// The part that repeats for ever; none of a run that ends in what it shows.
    pub repeats: Option<Repeats>,
    /// True if it rests on a choice that the model leaves open and the hardware would determine.
    pub rests_on_model: bool,
    /// The states of the specification beside the run, if one was asked for: the first, and those after events.
    pub specification: Vec<SpecificationMoment>,
}

/// The states in which a specification may be beside a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecificationMoment {
    /// The number of moments of the run before.
    pub moments: usize,
    /// The texts of the events that came; none at the beginning.
    pub events: Vec<String>,
    /// The names of the states after them; none where the specification has no answer.
    pub states: Vec<String>,
}

/// The end of a run that repeats for ever: all nodes and lines are in the end as they were at its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeats {
    /// The number of moments before it.
    pub moments: usize,
    /// The number of entries of the schedule before it.
    pub schedule: usize,
    /// The steps of all nodes in one repetition.
    pub steps: u64,
}

/// A place in the program of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The flash byte address.
    pub pc: u32,
    /// The address with the function, as in `at 0x0094 (in main)`.
    pub text: String,
}

/// The kind of something that happened in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MomentKind {
    /// An input that no wire supplies was read.
    Input,
    /// A pin at an end of a wire changed.
    Pin,
    /// A program read or wrote a character.
    Character,
    /// A character came to the end of a line, and arrived or was lost.
    Line {
        /// The number of the sending node.
        from: usize,
        /// The number of the receiving node.
        to: usize,
    },
}

impl MomentKind {
    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Pin => "pin",
            Self::Character => "character",
            Self::Line { .. } => "line",
        }
    }

    /// True if it happened on a wire.
    #[must_use]
    pub fn is_on_wire(self) -> bool {
        self != Self::Input
    }
}

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The kind of it.
    pub kind: MomentKind,
    /// The number of the node that did it; none for a character that came to the end of a line.
    pub node: Option<usize>,
    /// The steps that the node had taken before.
    pub step: u64,
    /// The flash byte address of the instruction, if a node did it.
    pub pc: Option<u32>,
    /// The text of it.
    pub text: String,
}
