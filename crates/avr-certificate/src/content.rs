//! The content of a certificate.

use avr_isa::{DataAddress, EepromAddress, FlashWordAddress};
use avr_machine::{Comparison, Control, Frame, Hazard, PAGE_CELLS};
use three_valued::{Truth, TvByte};

use crate::map::{ClosedSet, Map};
use crate::symbolic::Symbolic;

/// The number of pages in a block.
pub const BLOCK_PAGES: usize = 12;

/// The cells of a page of memory.
pub type Page = [TvByte; PAGE_CELLS];

/// The numbers of the pages of a block; places behind the last page of a memory are 0.
pub type Block = [u32; BLOCK_PAGES];

/// A certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The firmware, the model and the properties that the claims are about.
    pub header: Header,
    /// The numbers whose predicates states have; none if no state has predicates.
    pub predicates: Option<PredicateTerms>,
    /// The parts of states that the spaces refer to.
    pub store: Store,
    /// The state spaces of the proofs.
    pub spaces: Vec<Space>,
    /// The invariants of the whole program, if a claim rests on them.
    pub map: Option<Map>,
    /// One claim for each property, in the order of [`Header::properties`] with those of the command line.
    pub claims: Vec<Claim>,
    /// The bounds of the stack depth.
    pub stack: Stack,
}

/// The pairs of numbers about which states have predicates, in cells behind those of the machine, one for each pair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PredicateTerms {
    /// The pairs, in the order of their cells.
    pub compared: Vec<Comparison>,
    /// The number of the first of them, which tell atoms.
    pub telling: u32,
    /// Disjunctions of two predicates, in cells behind those of the pairs.
    pub clauses: Vec<[PredicateLiteral; 2]>,
}

/// A predicate of a pair of numbers, or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredicateLiteral {
    /// The number of the pair.
    pub pair: u32,
    /// The bit of the predicate.
    pub predicate: u8,
    /// True if it is the negation.
    pub is_negated: bool,
}

/// Bounds of the stack depth, in bytes below RAMEND.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stack {
    /// No run gets deeper: `Stack(max_bytes: n)` holds.
    pub upper: Option<Upper>,
    /// Some run gets that deep, which is more than 0: `Stack(max_bytes: n - 1)` is violated.
    pub lower: Option<Depth>,
}

/// A depth of the stack that no run exceeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Upper {
    /// So many bytes below RAMEND, by the map of the certificate.
    Map(u32),
    /// By a state space.
    Space(Depth),
}

/// A depth of the stack with its proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Depth {
    /// Bytes below RAMEND.
    pub bytes: u32,
    /// The proof.
    pub proof: Proof,
}

/// The firmware and everything that the user said: the subject of a certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// SHA-256 of the firmware file.
    pub sha256: [u8; 32],
    /// The name of the device.
    pub device: String,
    /// Flash byte address of the first instruction, if the command line gave one.
    pub start: Option<u32>,
    /// The text of the property file.
    pub properties: String,
    /// Properties of the command line.
    pub more_properties: Vec<String>,
    /// True if the command line asked for the inherent property.
    pub inherent: bool,
    /// The content of the EEPROM as far as it is known: address and byte, by rising address.
    pub eeprom: Vec<(EepromAddress, u8)>,
}

/// Parts of states, each stored once and known by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Store {
    /// Pages of memory.
    pub pages: Vec<Page>,
    /// Blocks of pages.
    pub blocks: Vec<Block>,
    /// The number of blocks in each memory.
    pub memory_blocks: usize,
    /// The blocks of all memories, one memory after the other.
    pub memories: Vec<u32>,
    /// Call strings. Number 0 is the empty one; this list begins with number 1.
    pub calls: Vec<Link>,
    /// The events of steps: for each step those that happened or may have, by rising event.
    pub did: Vec<Vec<Seen>>,
    /// The unknown bits that steps split and cut into cases.
    pub advice: Vec<Advice>,
}

impl Store {
    /// The blocks of a memory.
    ///
    /// # Panics
    /// If there is no such memory.
    #[must_use]
    pub fn memory(&self, number: u32) -> &[u32] {
        let first = number as usize * self.memory_blocks;
        &self.memories[first..first + self.memory_blocks]
    }

    /// The number of memories.
    #[must_use]
    pub fn memory_count(&self) -> usize {
        self.memories.len().checked_div(self.memory_blocks).unwrap_or(0)
    }

    /// The frames of a call string, youngest first.
    ///
    /// # Panics
    /// If there is no such call string.
    pub fn frames(&self, calls: u32) -> impl Iterator<Item = &Frame> {
        let mut rest = calls;
        std::iter::from_fn(move || {
            let link = &self.calls[rest.checked_sub(1)? as usize];
            rest = link.below;
            Some(&link.frame)
        })
    }
}

/// A call string: the one below, by number, and its youngest frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Link {
    /// The call string below.
    pub below: u32,
    /// The youngest frame.
    pub frame: Frame,
}

/// An event that happened in a step, or may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seen {
    /// The number of the event among those that the properties speak of.
    pub event: u32,
    /// True if it happened for certain.
    pub certain: bool,
    /// The value that was read or written.
    pub value: TvByte,
}

/// The unknown bits that were distinguished in a step. This is advice only: any choice of bits covers the step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Advice {
    /// Bits of registers that were split when they were read: data address and mask.
    pub inputs: Vec<(DataAddress, u8)>,
    /// Bits of the initial content that were split: cell and mask.
    pub initial: Vec<(DataAddress, u8)>,
    /// Bits of cells that were cut into cases before the step: cell and mask.
    pub cases: Vec<(DataAddress, u8)>,
    /// True if all that is read was split and cut.
    pub all: bool,
}

/// Abstract states with their hyper-edges and labels. State 0 is the one before the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// The states.
    pub states: Vec<State>,
    /// Their hyper-edges, as far as the proofs need them.
    pub edges: Edges,
    /// Their labels.
    pub labels: Labels,
}

/// An abstract state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// The state before the start, in which nothing is chosen.
    Start {
        /// The bits split in the first step.
        advice: u32,
    },
    /// The machine runs.
    Running(Running),
    /// The end of a run into a hazard.
    Hazard {
        /// The hazard.
        hazard: Hazard,
        /// The instruction as a flash word address.
        pc: FlashWordAddress,
    },
    /// Any state whatever, of whose future nothing is known: what was not followed further.
    Anything,
}

/// A state of the running machine. Its parts are numbers in the [`Store`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Running {
    /// The content of the memory.
    pub memory: u32,
    /// The call string.
    pub calls: u32,
    /// The part of a state that is always known.
    pub control: Control,
    /// The events of the step into this state.
    pub did: u32,
    /// The bits split and cut in the step from this state.
    pub advice: u32,
}

/// The hyper-edges of states that are numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edges {
    /// The end of the hyper-edges of each state in `ends`.
    state_ends: Vec<u32>,
    /// The end of each hyper-edge in `members`.
    ends: Vec<u32>,
    members: Vec<u32>,
}

impl Default for Edges {
    fn default() -> Self {
        Self::new()
    }
}

impl Edges {
    /// No states.
    #[must_use]
    pub const fn new() -> Self {
        Self { state_ends: Vec::new(), ends: Vec::new(), members: Vec::new() }
    }

    /// Adds a hyper-edge of the state that [`Self::finish_state`] will finish next.
    pub fn add(&mut self, members: impl IntoIterator<Item = u32>) {
        self.members.extend(members);
        self.ends.push(self.members.len() as u32);
    }

    /// Finishes a state.
    pub fn finish_state(&mut self) {
        self.state_ends.push(self.ends.len() as u32);
    }

    /// The number of states.
    #[must_use]
    pub fn states(&self) -> usize {
        self.state_ends.len()
    }

    /// The hyper-edges of a state, each as its members.
    ///
    /// # Panics
    /// If there is no such state.
    pub fn of(&self, state: u32) -> impl ExactSizeIterator<Item = &[u32]> {
        let range = self.range(state);
        range.map(|edge| self.members_of(edge))
    }

    /// The hyper-edge of a state with this number among its own; none if it has fewer.
    ///
    /// # Panics
    /// If there is no such state.
    #[must_use]
    pub fn edge(&self, state: u32, number: u32) -> Option<&[u32]> {
        let range = self.range(state);
        let edge = range.start.checked_add(number as usize).filter(|edge| *edge < range.end)?;
        Some(self.members_of(edge))
    }

    /// The members of all hyper-edges of a state, with repetitions.
    ///
    /// # Panics
    /// If there is no such state.
    #[must_use]
    pub fn all_members(&self, state: u32) -> &[u32] {
        let range = self.range(state);
        if range.is_empty() {
            return &[];
        }
        &self.members[self.start(range.start)..self.ends[range.end - 1] as usize]
    }

    fn range(&self, state: u32) -> std::ops::Range<usize> {
        let state = state as usize;
        let start = if state == 0 { 0 } else { self.state_ends[state - 1] as usize };
        start..self.state_ends[state] as usize
    }

    fn start(&self, edge: usize) -> usize {
        if edge == 0 { 0 } else { self.ends[edge - 1] as usize }
    }

    fn members_of(&self, edge: usize) -> &[u32] {
        &self.members[self.start(edge)..self.ends[edge] as usize]
    }
}

/// The truth of each atom in each state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    atoms: usize,
    /// Two bits for each atom and state, the atoms of a state side by side, each state from a byte of its own.
    packed: Vec<u8>,
}

impl Labels {
    /// Labels of no states.
    #[must_use]
    pub fn new(atoms: usize) -> Self {
        Self { atoms, packed: Vec::new() }
    }

    pub(crate) fn from_packed(atoms: usize, packed: Vec<u8>) -> Self {
        Self { atoms, packed }
    }

    pub(crate) fn packed(&self) -> &[u8] {
        &self.packed
    }

    /// The number of bytes of the labels of one state.
    pub(crate) fn stride(atoms: usize) -> usize {
        atoms.div_ceil(4)
    }

    /// The number of atoms.
    #[must_use]
    pub fn atoms(&self) -> usize {
        self.atoms
    }

    /// Adds the next state with the truth of each atom.
    pub fn add(&mut self, truths: impl IntoIterator<Item = Truth>) {
        let first = self.packed.len();
        self.packed.resize(first + Self::stride(self.atoms), 0);
        for (atom, truth) in truths.into_iter().enumerate().take(self.atoms) {
            self.packed[first + atom / 4] |= code(truth) << (atom % 4 * 2);
        }
    }

    /// The truth of an atom in a state.
    ///
    /// # Panics
    /// If there is no such atom or state.
    #[must_use]
    pub fn get(&self, state: u32, atom: usize) -> Truth {
        assert!(atom < self.atoms, "there are {} atoms", self.atoms);
        let byte = self.packed[state as usize * Self::stride(self.atoms) + atom / 4];
        match byte >> (atom % 4 * 2) & 3 {
            1 => Truth::False,
            2 => Truth::True,
            _ => Truth::Unknown,
        }
    }
}

fn code(truth: Truth) -> u8 {
    match truth {
        Truth::Unknown => 0,
        Truth::False => 1,
        Truth::True => 2,
    }
}

/// The claim of a certificate about one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Nothing: the property is undecided.
    Undecided,
    /// It is decided, and there is a proof.
    Decided(Decided),
    /// It is `AG p`, and p is certainly true in every state of the map. With a part of its formula that does not matter, by its number
    /// among the strengthenings: these are true there as well.
    Invariant(Option<u32>),
    /// It holds by symbolic execution between the heads of the loops of the map.
    Symbolic(Symbolic),
    /// It is violated by a run into a closed set.
    Confined(Box<ClosedSet>),
    /// It is decided, and there is no proof, for this reason.
    Uncertified(String),
}

/// A verdict with its proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The verdict.
    pub verdict: Verdict,
    /// The proof of the verdict and, under fairness, the proof that every state has a fair path.
    pub proofs: Vec<Proof>,
    /// A part of the formula that does not matter.
    pub vacuous: Option<Vacuous>,
}

/// A part of a formula that does not matter: the property holds as well with a constant in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vacuous {
    /// Its number among the strengthenings of the formula (`strengthenings` of `mu-calculus`).
    pub part: u32,
    /// The proof of each formula of that strengthening.
    pub proofs: Vec<Proof>,
}

/// A verdict that can be proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The property holds.
    Holds,
    /// Its negation holds.
    Violated,
}

/// The assumption about hardware under which a proof is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The formula is true whatever the hardware does where the model leaves a choice to it.
    Hardware,
    /// It is about the model, in which such choices are free.
    Model,
}

/// The proof of one formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The state space, by number.
    pub space: u32,
    /// The assumption about hardware under which the proof is valid.
    pub basis: Basis,
    /// The winning strategy of the player who wants the formula true.
    pub strategy: Strategy,
}

/// A positional strategy: choices by node of the normal form and state. A choice is 0 or 1 for the first or second part of a
/// disjunction, or the number of a hyper-edge among those of the state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strategy {
    /// For each node with choices, by rising node: states with choices, by rising state.
    pub choices: Vec<(u32, Vec<(u32, u32)>)>,
}

impl Strategy {
    /// The choice at a node in a state, if there is one.
    #[must_use]
    pub fn choice(&self, node: u32, state: u32) -> Option<u32> {
        let index = self.choices.binary_search_by_key(&node, |(node, _)| *node).ok()?;
        let states = &self.choices[index].1;
        let index = states.binary_search_by_key(&state, |(state, _)| *state).ok()?;
        Some(states[index].1)
    }
}
