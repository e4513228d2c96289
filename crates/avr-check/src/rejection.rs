//! Reasons why a certificate is rejected.

use std::fmt;

use avr_invariant::Gap;
use avr_machine::Hazard;
use avr_progress::Stuck;
use avr_properties::PropertyError;
use mu_calculus::TranslateError;
use thiserror::Error;
use three_valued::Truth;

/// The reason why a certificate does not prove its claims, with its place.
#[derive(Debug, Error)]
pub struct Rejection {
    /// The reason.
    #[source]
    pub reason: Reason,
    /// The abstract state concerned: its number in its state space, and the flash byte address of its instruction if it has
    /// one.
    pub state: Option<(u32, Option<u32>)>,
    /// The property concerned, by its name.
    pub property: Option<String>,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(property) = &self.property {
            write!(f, "{property}: ")?;
        }
        match self.state {
            Some((number, Some(pc))) => write!(f, "in state {number} at {pc:#06x}, ")?,
            Some((number, None)) => write!(f, "in state {number}, ")?,
            None => {}
        }
        self.reason.fmt(f)
    }
}

/// The reason of a [`Rejection`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Reason {
    /// Another firmware.
    #[error("it is for a firmware file with SHA-256 {certificate}, and this one has {firmware}")]
    OtherFirmware {
        /// The digest in the certificate.
        certificate: String,
        /// The digest of the file.
        firmware: String,
    },
    /// Another device.
    #[error("it is for the device {certificate}, and this is {device}")]
    OtherDevice {
        /// The device in the certificate.
        certificate: String,
        /// The device that was given.
        device: &'static str,
    },
    /// Properties that are none.
    #[error("its properties cannot be read: {0}")]
    Properties(Box<PropertyError>),
    /// A property that has no normal form.
    #[error("the formula cannot be translated: {0}")]
    Translation(TranslateError),
    /// A claim about a property that means nothing.
    #[error("it claims something of a property that cannot be checked: {0}")]
    Unsupported(Box<PropertyError>),
    /// Claims and properties do not correspond.
    #[error("it has {claims} claims for {properties} properties")]
    ClaimCount {
        /// The number of claims.
        claims: usize,
        /// The number of properties.
        properties: usize,
    },
    /// A proof is missing, or there is one too many.
    #[error("the claim has {proofs} proofs, and takes {needed}")]
    ProofCount {
        /// The proofs that are there.
        proofs: usize,
        /// The proofs that are needed.
        needed: usize,
    },
    /// A part of a property that does not matter, which it does not have, or which means nothing as the property is violated.
    #[error("it claims something of a part of the property that is no part of one that holds")]
    NoSuchPart,
    /// A depth of the stack that means nothing.
    #[error("a depth of {0} bytes is none that can be proved")]
    NoSuchDepth(u32),
    /// Labels of other atoms.
    #[error("it has labels for {labels} atoms, and its properties have {atoms}")]
    AtomCount {
        /// The labels.
        labels: usize,
        /// The atoms.
        atoms: usize,
    },
    /// The first state is not the one before the start, or another one is.
    #[error("the state before the start is not the first one, or not the only one")]
    Start,
    /// A proof without a state space of a firmware whose inputs machines drive.
    #[error("it has a proof without a state space, which knows nothing of the machines that drive inputs")]
    MachinesUnknown,
    /// A state that the device cannot have.
    #[error("the state does not fit the device: {0}")]
    Misfit(&'static str),
    /// A label that is not what the state says.
    #[error("'{atom}' is {computed}, and the certificate says that it is {stated}", computed = word(*computed), stated = word(*stated))]
    Label {
        /// The text of the atom.
        atom: String,
        /// The truth value of the atom in the state.
        computed: Truth,
        /// The label in the certificate.
        stated: Truth,
    },
    /// A literal that is not certain.
    #[error("atom {atom} would have to be {wanted}, and is {truth}", wanted = word(*wanted), truth = word(*truth))]
    Literal {
        /// The number of the atom.
        atom: usize,
        /// The truth value of the atom.
        truth: Truth,
        /// The truth value that the proof needs.
        wanted: Truth,
    },
    /// The proof comes to something false.
    #[error("the proof comes to something that is false")]
    False,
    /// The strategy says nothing where it has to choose.
    #[error("the strategy makes no choice for part {node} of the formula")]
    NoChoice {
        /// The node of the normal form.
        node: u32,
    },
    /// The strategy chooses a hyper-edge that does not exist.
    #[error("the strategy takes hyper-edge {edge}, which does not exist")]
    NoSuchEdge {
        /// The number of the hyper-edge.
        edge: u32,
    },
    /// Something has to exist after a state of whose future nothing is known.
    #[error("the proof needs a next state, and nothing is known of what comes next")]
    NoWay,
    /// The proof goes round in circles.
    #[error("the proof goes round in a circle that proves nothing")]
    Cycle,
    /// A successor that is not there.
    #[error("a step leads to a state that no member of its hyper-edges covers")]
    NotCovered,
    /// A hyper-edge that the environment cannot force.
    #[error("no input leads into hyper-edge {edge} for certain")]
    NotForced {
        /// The number of the hyper-edge.
        edge: u32,
    },
    /// A step is relied on that is not known.
    #[error("the proof relies on a step from a state of which nothing is known")]
    NoStep,
    /// A step with too many outcomes.
    #[error("a step has more outcomes than are looked at")]
    TooManyOutcomes,
    /// A claim rests on invariants that are not there.
    #[error("a claim rests on invariants, and there are none")]
    NoMap,
    /// The invariants are not closed.
    #[error("the invariants prove nothing: {0}")]
    Invariants(Box<Gap>),
    /// The invariants do not exclude a hazard, after which they say nothing.
    #[error("the invariants do not exclude {hazard} at {address:#06x}")]
    PossibleHazard {
        /// The hazard.
        hazard: Hazard,
        /// The instruction as a flash byte address.
        address: u32,
    },
    /// The formula is none that invariants prove.
    #[error("invariants prove AG of something about states, on all paths, and nothing else")]
    NoInvariant,
    /// The formula is not true in every state of the map.
    #[error("the invariants do not show it at {address:#06x}")]
    NotShown {
        /// The next instruction as a flash byte address.
        address: u32,
    },
    /// The property has another form than its proof.
    #[error("the proof by symbolic execution is one of another kind of property")]
    OtherForm,
    /// Claims about the heads of loops prove nothing.
    #[error("the claims about loops prove nothing: {0}")]
    Loops(avr_progress::Rejection),
    /// The formula is not shown on all paths between the heads of loops.
    #[error("symbolic execution between the heads of loops does not show it: {0}")]
    Everywhere(Stuck),
    /// A run cannot be followed.
    #[error("its run cannot be followed: {0}")]
    Run(avr_progress::RunError),
    /// A closed set does not refute the property.
    #[error("the run and the closed set behind it do not refute the property")]
    NotConfined,
    /// The product of states and subformulas is too large.
    #[error("states and subformulas are too many to be numbered")]
    TooManyPositions,
}

fn word(truth: Truth) -> &'static str {
    match truth {
        Truth::True => "true",
        Truth::False => "false",
        Truth::Unknown => "unknown",
    }
}

impl Reason {
    /// The reason for a state.
    pub(crate) fn at(self, state: u32) -> Rejection {
        Rejection { reason: self, state: Some((state, None)), property: None }
    }
}

impl From<Reason> for Rejection {
    fn from(reason: Reason) -> Self {
        Self { reason, state: None, property: None }
    }
}

impl From<PropertyError> for Rejection {
    fn from(error: PropertyError) -> Self {
        Reason::Properties(Box::new(error)).into()
    }
}

impl From<TranslateError> for Rejection {
    fn from(error: TranslateError) -> Self {
        Reason::Translation(error).into()
    }
}

impl Rejection {
    /// The rejection with the name of the property.
    pub(crate) fn of(self, property: &str) -> Self {
        Self { property: Some(property.to_owned()), ..self }
    }
}
