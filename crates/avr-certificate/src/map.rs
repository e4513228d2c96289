//! Maps of invariants: abstract states of places, which together cover everything that a machine can do.
//!
//! A map is a proof by itself: one step from each of its states must be covered by the others.

use avr_isa::DataAddress;
use avr_machine::{Control, Frame};

use crate::content::Page;

/// The number of pages in a block of a map.
pub const MAP_BLOCK_PAGES: usize = 16;

/// A map. Its parts are stored once and known by number; no two pages, blocks or call strings are the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Map {
    /// Pages of memory, whose cells may have ranges.
    pub pages: Vec<Page>,
    /// Blocks of pages.
    pub blocks: Vec<[u32; MAP_BLOCK_PAGES]>,
    /// Call strings, oldest frame first.
    pub calls: Vec<Vec<Frame>>,
    /// The states of places.
    pub entries: Vec<Entry>,
    /// The states in which handlers return.
    pub exits: Vec<Exit>,
}

/// A handler: the interrupt, and the stack pointer before its return address was pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handler {
    /// The number of the interrupt.
    pub interrupt: u8,
    /// The stack pointer.
    pub pointer: DataAddress,
}

/// An abstract state at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The handler; none in the main program.
    pub handler: Option<Handler>,
    /// The part of a state that is always known.
    pub control: Control,
    /// The call string, by number.
    pub calls: u32,
    /// The content.
    pub invariant: Invariant,
}

/// The return of a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The handler.
    pub handler: Handler,
    /// The part of a state that is always known, with 0 for the program counter.
    pub control: Control,
    /// The content.
    pub invariant: Invariant,
}

/// The content of an abstract state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invariant {
    /// The blocks of the memory, by number.
    pub memory: Vec<u32>,
    /// Cells that hold the same as another one, by rising address.
    pub equalities: Vec<(DataAddress, Equal)>,
    /// The ranges of numbers of several bytes.
    pub ranges: Vec<NumberRange>,
    /// Linear equations between bytes.
    pub equations: Vec<LinearEquation>,
}

/// An equation: the sum of coefficients times bytes, and of the carry with its coefficient, is the constant, modulo 2^32.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinearEquation {
    /// The bytes with their coefficients.
    pub bytes: Vec<(Equal, u32)>,
    /// The coefficient of the carry.
    pub carry: u32,
    /// The constant.
    pub constant: u32,
}

/// The range of a number for each value of the carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberRange {
    /// The bytes, the lowest one first.
    pub bytes: Vec<Equal>,
    /// The ends of the range where the carry is 0, and where it is 1; none if it is empty.
    pub when: [Option<(u32, u32)>; 2],
}

/// The value that a cell is known to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equal {
    /// The content of this cell when the handler began.
    Entry(DataAddress),
    /// The content of this cell now.
    Of(DataAddress),
    /// The content of this register before the return of the division that the program is at.
    Result(DataAddress),
}

/// A run, and the invariants of all runs from its last state, in none of which something comes that must be possible.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClosedSet {
    /// The inputs of the run, as an exact stimulus in the format of stimulus files.
    pub stimulus: String,
    /// The number of its steps.
    pub steps: u64,
    /// The invariants.
    pub map: Map,
}
