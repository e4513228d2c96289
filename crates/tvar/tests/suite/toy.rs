//! Small systems of stored and input bits, with every kind of precision, as implementations of [`System`].

use crate::function::Function;
use crate::trace::Trace;
use crate::word::Word;
use mu_calculus::AtomId;
use std::collections::BTreeMap;
use three_valued::Truth;
use tvar::{
    Abstraction, Blame, Candidate, Difference, ExpansionOrder, HyperEdges, LocationPrecision, LookupOf, Place,
    StateKind, StepPrecision, System, Variable,
};

/// The stored bits.
pub const STORED: Variable = Variable(0);
/// The input bits of a step.
pub const INPUT: Variable = Variable(1);
/// The initial content, which is the input of the first step.
pub const CONTENT: Variable = Variable(2);

/// A generating automaton over bits.
#[derive(Clone, Debug)]
pub struct Toy {
    /// The number of bits that are stored.
    pub width: u32,
    /// The number of bits that come in with each step.
    pub inputs: u32,
    /// The step function: the stored bits, then the input bits, to the stored bits.
    pub step: Function,
    /// The atoms by the stored bits.
    pub atoms: Function,
    /// The hazard by the stored bits, as bit 0: it must not be reached, and the path ends there.
    pub hazard: Option<Function>,
    pub start: Start,
    pub locations: Locations,
    /// The input bits that stand for what the hardware decides, not the environment.
    pub abstracted: u64,
    /// True if blame offers to cut stored bits into cases.
    pub offers_cases: bool,
    /// True if small state spaces with limited locations are looked at first.
    pub glances: bool,
    pub mutation: Option<Mutation>,
}

/// The start of a system.
#[derive(Clone, Copy, Debug)]
pub enum Start {
    /// In a state with these bits.
    State(u64),
    /// In a dummy state, which the first step leaves; the content is `reset`, but `open` bits come from outside.
    Content { reset: u64, open: u64 },
}

/// The locations, to which precision is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locations {
    /// These stored bits, which are always known: whatever they depend on is split before each step.
    Bits(u64),
    /// The same, but only what they really depend on in the state at hand is split (see `monotone`).
    BitsOnDemand(u64),
    /// The whole abstract state: the precision per state of Onderka & Ratschan, without their covering states.
    States,
}

/// Deliberate faults, to see that the tests find them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// Stored bits are split as if they were chosen now.
    StoredChosenNow,
    /// Only one of the cases of stored bits is looked at.
    CaseForgotten,
    /// Only one value of split inputs is looked at.
    InputForgotten,
    /// Bits become 0 when they decay.
    DecaysToZero,
    /// Unknown labels are called false.
    UnknownIsFalse,
    /// Hazards are followed as if nothing were wrong.
    HazardFollowed,
    /// Sinks have labels.
    SinkLabelled,
    /// Sinks have labels and a step back to themselves.
    SinkStays,
    /// The open bits of the initial content are taken for 0.
    ContentIsZero,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    Dummy,
    Hazard,
    /// The stored bits.
    Cover(Word),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Location {
    Dummy,
    Hazard,
    /// The known bits, and the round: the lowest stored bit, where it is known to be 1.
    Bits(u64, u64),
    State(Word),
}

/// One case of a step: what is known of the argument of the step function, and the result.
#[derive(Clone, Copy, Debug)]
pub struct Leap {
    pub argument: Word,
    pub result: Word,
}

impl Toy {
    pub fn stored_mask(&self) -> u64 {
        mask(self.width)
    }

    pub fn input_mask(&self) -> u64 {
        mask(self.inputs) << self.width
    }

    /// The stored bits that are always known.
    pub fn location_bits(&self) -> u64 {
        match self.locations {
            Locations::Bits(mask) | Locations::BitsOnDemand(mask) => mask,
            Locations::States => 0,
        }
    }

    /// The hyper-edges of a state, each as its cases, before anything decays.
    pub fn leaps(&self, state: &State, precision: &LocationPrecision) -> Vec<Vec<Leap>> {
        match (*state, self.start) {
            (State::Cover(word), _) => self.leaps_from(word, precision),
            (State::Dummy, Start::Content { reset, open }) => self.first_leaps(reset, open, precision),
            (State::Dummy | State::Hazard, _) => Vec::new(),
        }
    }

    fn first_leaps(&self, reset: u64, open: u64, precision: &LocationPrecision) -> Vec<Vec<Leap>> {
        let open = if self.mutation == Some(Mutation::ContentIsZero) { 0 } else { open };
        let split = chosen(precision, CONTENT) | self.location_bits();
        let contents = Word::exact(reset & !open).forget(open).cut(split);
        contents.map(|content| vec![Leap { argument: content, result: content }]).collect()
    }

    fn leaps_from(&self, word: Word, precision: &LocationPrecision) -> Vec<Vec<Leap>> {
        let argument = word.combine(Word::exact(0).forget(self.input_mask()));
        let (split, cut) = self.divided(argument, precision);
        let leap = |argument: Word| Leap { argument, result: self.step.evaluate(argument) };
        if self.mutation == Some(Mutation::StoredChosenNow) {
            return argument.cut(split | cut).map(|argument| vec![leap(argument)]).collect();
        }
        let inputs = if self.mutation == Some(Mutation::InputForgotten) { 1 } else { usize::MAX };
        let cases = if self.mutation == Some(Mutation::CaseForgotten) { 1 } else { usize::MAX };
        argument.cut(split).take(inputs).map(|input| input.cut(cut).take(cases).map(leap).collect()).collect()
    }

    /// The input bits that are split and the stored bits that are cut into cases before a step.
    fn divided(&self, argument: Word, precision: &LocationPrecision) -> (u64, u64) {
        let asked = chosen(precision, INPUT) << self.width & self.input_mask();
        let cases = if precision.splits_all { !0 } else { precision.cases.get(STORED) };
        let mut divided = asked | (cases & self.stored_mask());
        match self.locations {
            Locations::Bits(mask) => {
                divided |= self.step.cone(Word::exact(0).forget(self.stored_mask() | self.input_mask()), mask);
            }
            Locations::BitsOnDemand(mask) => {
                while let Some(leaf) = self.needed(argument, divided, mask) {
                    divided |= leaf;
                }
            }
            Locations::States => {}
        }
        (divided & self.input_mask(), divided & self.stored_mask())
    }

    /// A bit that has to be known before the bits of the location are.
    fn needed(&self, argument: Word, divided: u64, location: u64) -> Option<u64> {
        let needed = argument.cut(divided).map(|argument| self.step.cone(argument, location));
        needed.reduce(|a, b| a | b).filter(|cone| *cone != 0).map(|cone| 1 << cone.trailing_zeros())
    }

    /// The states that a case of a step leads to.
    pub fn members(&self, leap: Leap) -> impl Iterator<Item = State> {
        let hazard = match &self.hazard {
            Some(hazard) if self.mutation != Some(Mutation::HazardFollowed) => hazard.evaluate(leap.result).get(0),
            _ => Truth::False,
        };
        let sink = (!hazard.is_false()).then_some(State::Hazard);
        sink.into_iter().chain((!hazard.is_true()).then_some(State::Cover(leap.result)))
    }

    fn decayed(&self, state: State, precision: &StepPrecision) -> State {
        let State::Cover(word) = state else { return state };
        let lost = !precision.kept(STORED) & self.stored_mask() & !self.location_bits();
        if self.mutation == Some(Mutation::DecaysToZero) {
            return State::Cover(Word::exact(word.value() & !lost).forget(word.unknown() & !lost));
        }
        State::Cover(word.forget(lost))
    }

    /// The state as which a member arrives one step after a state, and its location.
    pub fn arrived(&self, from: &State, member: State, precision: &LookupOf<'_, Self>) -> (State, Location) {
        let location = self.location(&member);
        (self.decayed(member, precision.arriving(from, &location)), location)
    }

    /// The atom that says that a hazard was reached; the last one.
    pub fn hazard_atom(&self) -> AtomId {
        AtomId(ATOMS)
    }
}

/// The number of atoms that the stored bits can decide; one more is for hazards.
pub const ATOMS: u32 = 2;

fn mask(width: u32) -> u64 {
    (1 << width) - 1
}

fn chosen(precision: &LocationPrecision, variable: Variable) -> u64 {
    if precision.splits_all { !0 } else { precision.inputs.get(variable) }
}

impl Place for Location {
    fn general(self) -> Self {
        self.in_any_round()
    }

    fn in_any_round(self) -> Self {
        match self {
            Self::Bits(known, _) => Self::Bits(known, 0),
            Self::Dummy | Self::Hazard | Self::State(_) => self,
        }
    }
}

impl System for Toy {
    type State = State;
    type Location = Location;

    fn initial(&mut self) -> State {
        match self.start {
            Start::State(bits) => State::Cover(Word::exact(bits)),
            Start::Content { .. } => State::Dummy,
        }
    }

    fn location(&self, state: &State) -> Location {
        match (*state, self.locations) {
            (State::Dummy, _) => Location::Dummy,
            (State::Hazard, _) => Location::Hazard,
            (State::Cover(word), Locations::States) => Location::State(word),
            (State::Cover(word), Locations::Bits(mask) | Locations::BitsOnDemand(mask)) => {
                assert_eq!(word.unknown() & mask, 0, "the bits of a location are known");
                Location::Bits(word.value() & mask, word.value() & 1)
            }
        }
    }

    fn expand(&mut self, state: &State, precision: &LocationPrecision, edges: &mut HyperEdges<State>) {
        if *state == State::Hazard && self.mutation == Some(Mutation::SinkStays) {
            edges.add([State::Hazard]);
        }
        let mut open: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        let mut count = 0;
        for cases in self.leaps(state, precision) {
            let real = cases[0].argument.value() & self.input_mask() & !(self.abstracted << self.width);
            let members: Vec<State> = cases.into_iter().flat_map(|leap| self.members(leap)).collect();
            open.entry(real).or_default().extend(count..count + members.len());
            count += members.len();
            edges.add(members);
        }
        if *state != State::Dummy && open.len() < edges.len() {
            edges.set_open(open.into_values().collect());
        }
    }

    fn decay(&mut self, state: State, precision: &StepPrecision) -> State {
        self.decayed(state, precision)
    }

    fn covers(&self, coarse: &State, fine: &State) -> bool {
        match (coarse, fine) {
            (State::Cover(coarse), State::Cover(fine)) => coarse.covers(*fine),
            _ => coarse == fine,
        }
    }

    fn label(&self, state: &State, atom: AtomId) -> Truth {
        let truth = match state {
            _ if atom == self.hazard_atom() => return Truth::from(*state == State::Hazard),
            State::Cover(word) => self.atoms.evaluate(*word).get(atom.index()),
            State::Dummy | State::Hazard => Truth::Unknown,
        };
        let claimed = match self.mutation {
            Some(Mutation::UnknownIsFalse) => truth.is_unknown(),
            Some(Mutation::SinkLabelled | Mutation::SinkStays) => *state == State::Hazard,
            _ => false,
        };
        if claimed { Truth::False } else { truth }
    }

    fn kind(&self, state: &State) -> StateKind {
        if *state == State::Hazard { StateKind::Hazard } else { StateKind::Ordinary }
    }

    fn blame(&mut self, path: &[State], cause: Blame, precision: &LookupOf<'_, Self>) -> Vec<Candidate<Location>> {
        Trace::new(self, path, precision).candidates(cause)
    }
}

impl Abstraction for Toy {
    fn glances(&self) -> bool {
        self.glances
    }

    fn order(&self, state: &State) -> ExpansionOrder {
        let mut order = ExpansionOrder::default();
        if let State::Cover(word) = state {
            order[0] = (word.value() % 3) as u32;
        }
        order
    }

    fn widened(&self, _: Variable, bits: u64) -> u64 {
        (bits | bits << 1) & self.stored_mask()
    }

    fn differences(&self, one: &State, other: &State) -> Vec<Difference> {
        match (one, other) {
            (State::Cover(one), State::Cover(other)) => {
                let bits = one.join(*other).unknown() & !(one.unknown() & other.unknown());
                vec![Difference { variable: STORED, bits, other: other.value() << 32 | other.unknown() & 0xffff_ffff }]
            }
            _ => Vec::new(),
        }
    }
}
