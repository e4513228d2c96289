//! The order in which paths are followed: those that are behind come first, so that paths meet where they can be merged.
//!
//! A path is behind another one if it is earlier in the weak topological order of the program or, at the same place of a loop, in an
//! earlier round of it (compare "static state merging", Kuznetsov et al., "Efficient state merging in symbolic execution", 2012).
//! Nothing but the number of paths depends on it.

use avr_analysis::iteration_order::IterationOrder;
use avr_isa::FlashWordAddress;

/// The place and the rounds of one function on the call stack.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    pc: FlashWordAddress,
    /// The positions of the heads of the loops around it, the outermost first, each with the number of rounds.
    loops: Vec<(u32, u32)>,
    position: u32,
    /// The number of times that an instruction went on to itself.
    repeats: u32,
}

/// The moment at which a path is: the places of all functions on the call stack, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Moment {
    places: Vec<Place>,
}

/// A sequence that is the smaller the farther a path is behind.
pub(super) type Rank = Vec<u32>;

impl Moment {
    /// The moment of a path that goes on at `pc` with so many frames on its call stack.
    pub(super) fn advanced(&self, order: &IterationOrder, pc: FlashWordAddress, frames: usize, stays: bool) -> Self {
        let mut places = self.places.clone();
        places.truncate(frames + 1);
        let is_return = places.len() < self.places.len();
        if places.len() == frames + 1 {
            if let Some(last) = places.last_mut().filter(|last| !(stays || is_return && last.pc == pc)) {
                *last = last.advanced(order, pc);
            }
        } else {
            // SOUND: what is missing makes the order coarser.
            places.resize(frames, Place::first(order, FlashWordAddress::default()));
            places.push(Place::first(order, pc));
        }
        Self { places }
    }

    /// The rank among the moments of other paths. Of two paths in one place the one that is in a function called from there is behind.
    pub(super) fn rank(&self) -> Rank {
        let mut rank = Vec::new();
        for place in &self.places {
            rank.extend(place.loops.iter().flat_map(|(head, round)| [*head, *round]));
            rank.extend([place.position, place.repeats]);
        }
        rank.push(u32::MAX);
        rank
    }
}

impl Place {
    fn first(order: &IterationOrder, pc: FlashWordAddress) -> Self {
        let loops = order.loops(pc).into_iter().map(|head| (order.position(head), 0)).collect();
        Self { pc, loops, position: order.position(pc), repeats: 0 }
    }

    /// The place after a step to `pc` in the same function.
    fn advanced(&self, order: &IterationOrder, pc: FlashWordAddress) -> Self {
        let mut next = Self::first(order, pc);
        if pc == self.pc {
            return Self { repeats: self.repeats + 1, ..self.clone() };
        }
        for (own, before) in next.loops.iter_mut().zip(&self.loops) {
            if own.0 != before.0 {
                break;
            }
            own.1 = before.1;
            if own.0 == next.position {
                // Back at the head.
                own.1 += 1;
            }
        }
        next
    }
}
