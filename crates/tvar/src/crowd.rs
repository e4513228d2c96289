//! The limit on the states of one location.
//!
//! A location that collects more than a few states drops the bits in which they differ: the limited enumeration of
//! Bajkai & Hajdu's explicit/predicate product, bit by bit. What is dropped at a location stays dropped there until
//! refinement brings it back, and that for good.

use crate::precision::{Place, Precision};
use crate::system::System;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Different contents of one variable that a location keeps apart.
const MAX_CONTENTS: usize = 2;
/// States that a location keeps apart.
const MAX_STATES: usize = 4;
/// Crowds that a location keeps apart.
const MAX_CROWDS: u32 = 4096;

/// States of one location that are limited together.
#[derive(Debug)]
struct Crowd<T> {
    states: Vec<T>,
    /// How often the location had dropped bits when the states were last looked at.
    drops: u32,
}

/// What happened at a location so far.
#[derive(Clone, Copy, Debug, Default)]
struct Occupancy {
    /// How often it dropped bits.
    drops: u32,
    /// How many crowds it has.
    crowds: u32,
    /// How many new states arrived.
    arrivals: u32,
}

/// The states that each location has.
#[derive(Debug)]
pub(crate) struct Crowds<S: System + ?Sized> {
    crowds: FxHashMap<(S::Location, u64), Crowd<S::State>>,
    locations: FxHashMap<S::Location, Occupancy>,
}

impl<S: System> Default for Crowds<S> {
    fn default() -> Self {
        Self { crowds: FxHashMap::default(), locations: FxHashMap::default() }
    }
}

impl<S: System> Crowds<S> {
    /// Admits a state, which has decayed, to its location, and gives what becomes of it: itself, or what remains of it
    /// when its location drops bits; and how many states its location had until then, a new one included.
    pub(crate) fn admit(
        &mut self,
        system: &mut S,
        precision: &mut Precision<S::Location>,
        location: S::Location,
        mut state: S::State,
    ) -> (S::State, u32) {
        let any = location.in_any_round();
        let all = self.locations.entry(any).or_default();
        let key = system.crowd(&state);
        let has_room = all.crowds < MAX_CROWDS || self.crowds.contains_key(&(location, key));
        let (location, key) = if has_room { (location, key) } else { (any, 0) };
        if !self.crowds.contains_key(&(location, key)) {
            all.crowds += 1;
        }
        let occupancy = self.locations.entry(location).or_default();
        let crowd =
            self.crowds.entry((location, key)).or_insert_with(|| Crowd { states: Vec::new(), drops: occupancy.drops });
        loop {
            if crowd.drops != occupancy.drops {
                crowd.decay(system, precision, location);
                crowd.drops = occupancy.drops;
            }
            if crowd.states.contains(&state) {
                return (state, occupancy.arrivals);
            }
            if !drop_what_differs(system, precision, location, &crowd.states, &state) {
                crowd.states.push(state.clone());
                occupancy.arrivals += 1;
                return (state, occupancy.arrivals);
            }
            occupancy.drops += 1;
            state = system.decay(state, &precision.at(&location).step);
        }
    }
}

impl<T: Clone + PartialEq> Crowd<T> {
    /// Forgets what the location has dropped since.
    fn decay<S: System<State = T>>(
        &mut self,
        system: &mut S,
        precision: &Precision<S::Location>,
        location: S::Location,
    ) {
        let step = &precision.at(&location).step;
        let mut rest: Vec<T> = Vec::new();
        for state in self.states.drain(..) {
            let state = system.decay(state, step);
            if !rest.contains(&state) {
                rest.push(state);
            }
        }
        self.states = rest;
    }
}

/// Drops what a new state has different from the others, if it is too much; whether anything was dropped.
fn drop_what_differs<S: System>(
    system: &S,
    precision: &mut Precision<S::Location>,
    location: S::Location,
    crowd: &[S::State],
    state: &S::State,
) -> bool {
    let mut variables = BTreeMap::<_, (u64, Vec<u64>)>::new();
    for other in crowd {
        for difference in system.differences(state, other) {
            let (bits, contents) = variables.entry(difference.variable).or_default();
            *bits |= difference.bits;
            if !contents.contains(&difference.other) {
                contents.push(difference.other);
            }
        }
    }
    let full = crowd.len() >= MAX_STATES;
    let mut dropped = false;
    for (variable, (bits, others)) in variables {
        if full || others.len() >= MAX_CONTENTS {
            dropped |= precision.drop_bits(location, variable, bits);
        }
    }
    dropped
}
