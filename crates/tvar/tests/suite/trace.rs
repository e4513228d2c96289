//! Blame by cone of influence: which bits of precision an unknown value at the end of a path depends on.

use crate::toy::{CONTENT, INPUT, Leap, Location, STORED, State, Toy};
use crate::word::bits;
use mu_calculus::AtomId;
use tvar::{Blame, Candidate, Knob, LookupOf, System};

pub struct Trace<'a> {
    toy: &'a Toy,
    path: &'a [State],
    precision: &'a LookupOf<'a, Toy>,
    found: Vec<Candidate<Location>>,
}

impl<'a> Trace<'a> {
    pub fn new(toy: &'a Toy, path: &'a [State], precision: &'a LookupOf<'a, Toy>) -> Self {
        Self { toy, path, precision, found: Vec::new() }
    }

    pub fn candidates(mut self, cause: Blame) -> Vec<Candidate<Location>> {
        let last = self.path.len() - 1;
        let (end, mut marked) = match cause {
            Blame::Atom(atom) => (last, self.atom(atom)),
            Blame::Edge(edge) => (last, self.edge(last, edge)),
            Blame::Sink if self.path[last] == State::Hazard => (last - 1, self.sink(last - 1)),
            Blame::Sink => return self.found,
        };
        for index in (1..=end).rev() {
            marked = self.back(index, marked);
        }
        self.found
    }

    /// The unknown stored bits that make a label unknown.
    fn atom(&self, atom: AtomId) -> u64 {
        match self.path[self.path.len() - 1] {
            State::Cover(word) if atom != self.toy.hazard_atom() => self.toy.atoms.cone(word, 1 << atom.0),
            _ => 0,
        }
    }

    /// The stored bits that decide which member of a hyper-edge is taken.
    fn edge(&mut self, index: usize, edge: usize) -> u64 {
        let cases = self.leaps(index).swap_remove(edge);
        let known = |leap: &Leap| !leap.argument.unknown();
        let cut = cases.iter().fold(0, |mask, leap| mask | known(leap)) & self.unknown(index);
        cases.into_iter().fold(cut, |marked, leap| marked | self.hazard(index, leap))
    }

    /// The stored bits that decide whether the path ends in a hazard.
    fn sink(&mut self, index: usize) -> u64 {
        let cases = self.leaps(index).concat();
        let leading = cases.into_iter().filter(|leap| self.toy.members(*leap).any(|state| state == State::Hazard));
        leading.collect::<Vec<_>>().into_iter().fold(0, |marked, leap| marked | self.hazard(index, leap))
    }

    fn hazard(&mut self, index: usize, leap: Leap) -> u64 {
        let Some(hazard) = &self.toy.hazard else { return 0 };
        self.through(index, leap, hazard.cone(leap.result, 1))
    }

    /// From unknown bits of a state on the path to those of the state before it.
    fn back(&mut self, index: usize, marked: u64) -> u64 {
        let (leap, location) = self.leap_to(index);
        let decayed = marked & !leap.result.unknown();
        for bit in bits(decayed) {
            self.add(index, location, Knob::Step(STORED, 1 << bit));
        }
        self.through(index - 1, leap, marked & leap.result.unknown())
    }

    /// From unknown bits of the result of a step to those of the state where it starts.
    fn through(&mut self, index: usize, leap: Leap, result: u64) -> u64 {
        let location = self.toy.location(&self.path[index]);
        if self.path[index] == State::Dummy {
            for bit in bits(result) {
                self.add(index, location, Knob::Input(CONTENT, 1 << bit));
            }
            return 0;
        }
        let cone = self.toy.step.cone(leap.argument, result);
        for bit in bits((cone & self.toy.input_mask()) >> self.toy.width) {
            self.add(index, location, Knob::Input(INPUT, 1 << bit));
        }
        let stored = cone & self.toy.stored_mask();
        if self.toy.offers_cases {
            for bit in bits(stored) {
                self.add(index, location, Knob::Case(STORED, 1 << bit));
            }
        }
        stored
    }

    /// A step that leads from the state before to this state of the path, and where it arrives.
    fn leap_to(&self, index: usize) -> (Leap, Location) {
        let (from, to) = (&self.path[index - 1], &self.path[index]);
        let leaps = self.leaps(index - 1).concat();
        let leading = |is_there: &dyn Fn(&State) -> bool| {
            leaps.iter().find_map(|leap| {
                let mut places = self.toy.members(*leap).map(|member| self.toy.arrived(from, member, self.precision));
                places.find(|(state, _)| is_there(state)).map(|(_, location)| (*leap, location))
            })
        };
        // A location may have dropped more since: then what was stored covers what arrives.
        let leading = leading(&|state| state == to).or_else(|| {
            leaps.iter().find_map(|leap| {
                let mut members = self.toy.members(*leap);
                members.find(|state| self.toy.covers(to, state)).map(|state| (*leap, self.toy.location(&state)))
            })
        });
        leading.expect("the states of a path follow each other")
    }

    fn leaps(&self, index: usize) -> Vec<Vec<Leap>> {
        let state = &self.path[index];
        self.toy.leaps(state, self.precision.leaving(state, &self.toy.location(state)))
    }

    fn unknown(&self, index: usize) -> u64 {
        match self.path[index] {
            State::Cover(word) => word.unknown(),
            State::Dummy | State::Hazard => 0,
        }
    }

    fn add(&mut self, step: usize, location: Location, knob: Knob) {
        self.found.push(Candidate { location, knob, step, indirection: 0, direct: true, joint: false });
    }
}
