//! Precision: what is split and what is forgotten, per location.

use crate::history::{History, Scope};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::hash::Hash;

use rustc_hash::{FxHashMap, FxHashSet};

/// A stored cell or an input source, as the system numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variable(pub u32);

/// Bits of variables: the masks that are not 0, in the order of their variables. They are read far more often than changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BitMasks(Vec<(Variable, u64)>);

impl BitMasks {
    /// The mask of a variable; 0 when nothing was added for it.
    #[must_use]
    pub fn get(&self, variable: Variable) -> u64 {
        self.position(variable).map_or(0, |index| self.0[index].1)
    }

    /// Adds bits; whether any of them is new.
    pub fn add(&mut self, variable: Variable, bits: u64) -> bool {
        match self.position(variable) {
            Ok(index) => {
                let mask = &mut self.0[index].1;
                let new = bits & !*mask != 0;
                *mask |= bits;
                new
            }
            Err(index) => {
                if bits != 0 {
                    self.0.insert(index, (variable, bits));
                }
                bits != 0
            }
        }
    }

    /// Removes bits; whether any of them was there.
    pub fn remove(&mut self, variable: Variable, bits: u64) -> bool {
        let Ok(index) = self.position(variable) else { return false };
        let mask = &mut self.0[index].1;
        let there = *mask & bits != 0;
        *mask &= !bits;
        if *mask == 0 {
            self.0.remove(index);
        }
        there
    }

    /// The position of a variable, or the one at which it would be.
    fn position(&self, variable: Variable) -> Result<usize, usize> {
        self.0.binary_search_by_key(&variable, |(variable, _)| *variable)
    }

    /// Removes all bits.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The variables with their masks, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (Variable, u64)> + '_ {
        self.0.iter().copied()
    }

    /// True if there are no bits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The bits that a state keeps when it arrives at a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepPrecision {
    /// True if bits decay that are not named in `exceptions`; else they are kept.
    pub decays: bool,
    /// The bits for which the opposite is true.
    pub exceptions: BitMasks,
    /// True if what no run reads again is forgotten, which loses nothing.
    pub forgets_dead: bool,
    /// Bits that refinement brought back: neither a limit on states nor seeming dead takes them again.
    pub pinned: BitMasks,
}

impl StepPrecision {
    /// True if a state passes unchanged.
    #[must_use]
    pub fn keeps_all(&self) -> bool {
        !self.decays && !self.forgets_dead && self.exceptions.is_empty()
    }

    /// The bits of a variable that were dropped, where bits are kept unless it is said otherwise.
    #[must_use]
    pub fn dropped(&self, variable: Variable) -> u64 {
        if self.decays { 0 } else { self.exceptions.get(variable) }
    }

    /// Drops bits unless they are pinned; whether any of them was kept until now.
    pub fn drop_bits(&mut self, variable: Variable, bits: u64) -> bool {
        let bits = bits & !self.pinned.get(variable);
        !self.decays && bits != 0 && self.exceptions.add(variable, bits)
    }

    /// Brings bits back for good; whether that changes anything.
    fn pin(&mut self, variable: Variable, bits: u64) -> bool {
        match self.decays {
            true => self.exceptions.add(variable, bits),
            false => self.exceptions.remove(variable, bits) | self.pinned.add(variable, bits),
        }
    }

    fn is_new(&self, variable: Variable, bits: u64) -> bool {
        let sure = if self.decays { &self.exceptions } else { &self.pinned };
        sure.get(variable) & bits != bits
    }

    /// The bits of a variable that are kept.
    #[must_use]
    pub fn kept(&self, variable: Variable) -> u64 {
        let named = self.exceptions.get(variable);
        if self.decays { named } else { !named }
    }
}

/// The knobs at one location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationPrecision {
    /// True if every input bit is split and every stored cell cut when it is first read (strategy *naive*).
    pub splits_all: bool,
    /// Input bits that are split when they are read.
    pub inputs: BitMasks,
    /// Values of inputs that are split from all others when they are read, in ascending order.
    pub values: BTreeSet<(Variable, u64)>,
    /// Bits that are kept when a state arrives.
    pub step: StepPrecision,
    /// Stored bits that are cut into cases before the step.
    pub cases: BitMasks,
    /// True if only what is named here is split and cut (strategies *paper*): a step whose way depends on other unknown
    /// bits is not followed, and ends in a sink.
    pub stops_at_cases: bool,
    /// True if few states matter more than deciding what some run can do. A step that would make very much unknown at
    /// once is not followed and ends in a sink. Fewer combinations of independent choices are distinguished.
    pub coarse: bool,
}

impl LocationPrecision {
    /// True if a refinement would change anything.
    #[must_use]
    pub fn is_new(&self, knob: Knob) -> bool {
        match knob {
            Knob::Step(variable, bits) | Knob::Everywhere(variable, bits) => self.step.is_new(variable, bits),
            Knob::Case(variable, bits) => self.cases.get(variable) & bits != bits,
            Knob::Input(variable, bits) => !self.splits_all && self.inputs.get(variable) & bits != bits,
            Knob::Value(variable, value) => !self.splits_all && !self.values.contains(&(variable, value)),
        }
    }

    /// Refines; whether anything changed. Precision is only ever added.
    pub fn refine(&mut self, knob: Knob) -> bool {
        if !self.is_new(knob) {
            return false;
        }
        match knob {
            Knob::Step(variable, bits) | Knob::Everywhere(variable, bits) => self.step.pin(variable, bits),
            Knob::Case(variable, bits) => self.cases.add(variable, bits),
            Knob::Input(variable, bits) => self.inputs.add(variable, bits),
            Knob::Value(variable, value) => self.values.insert((variable, value)),
        }
    }

    /// The values of an input that are split from all others, in ascending order.
    pub fn values_of(&self, variable: Variable) -> impl Iterator<Item = u64> + '_ {
        self.values.range((variable, 0)..=(variable, u64::MAX)).map(|(_, value)| *value)
    }
}

/// The number of values of a byte.
const BYTE_VALUES: u64 = 256;

/// The most outcomes that the inputs of a step have by splits of bits and values, if each input is a byte.
fn outcomes(bits: &BitMasks, values: &BTreeSet<(Variable, u64)>) -> u64 {
    let split = bits.iter().map(|(variable, _)| variable).chain(values.iter().map(|(variable, _)| *variable));
    let of_one = |variable: Variable| {
        let parts = 2 * values.iter().filter(|(of, _)| *of == variable).count() as u64 + 1;
        (parts << bits.get(variable).count_ones().min(8)).min(BYTE_VALUES)
    };
    split.collect::<BTreeSet<Variable>>().into_iter().map(of_one).fold(1, u64::saturating_mul)
}

/// A refinement at a location: bits of a variable, or a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Knob {
    /// Keep bits that decayed.
    Step(Variable, u64),
    /// Keep bits that decayed, at every location.
    Everywhere(Variable, u64),
    /// Cut stored bits into cases before the step.
    Case(Variable, u64),
    /// Split input bits when they are read.
    Input(Variable, u64),
    /// Split a value of an input from all others when it is read: there is one outcome for the value, and one for each
    /// range between two such values.
    Value(Variable, u64),
}

/// The strategy of an analysis: its initial precision and the order of its refinements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Inputs are not split, nothing decays.
    #[default]
    Default,
    /// Every input bit is split.
    Naive,
    /// Inputs are not split, everything decays.
    Decay,
    /// As published by Onderka & Ratschan, section 4: precision per abstract state, one refinement at a time. Inputs are
    /// not split, not even those that decide where execution goes; nothing decays.
    Paper,
    /// The same, but everything decays.
    PaperDecay,
}

impl Strategy {
    /// All strategies.
    pub const ALL: [Self; 5] = [Self::Default, Self::Naive, Self::Decay, Self::Paper, Self::PaperDecay];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Naive => "naive",
            Self::Decay => "decay",
            Self::Paper => "paper",
            Self::PaperDecay => "paper-decay",
        }
    }

    /// A description of the strategy in a few words.
    #[must_use]
    pub fn summary(self) -> &'static str {
        match self {
            Self::Default => "split inputs and cut stored values where a property needs it",
            Self::Naive => "split every input, and cut stored values when they are first read",
            Self::Decay => "forget everything first, and bring back what a property needs",
            Self::Paper => "refine state by state, one refinement at a time, as Onderka & Ratschan published it",
            Self::PaperDecay => "the same, with everything forgotten first",
        }
    }

    /// True if precision is kept per abstract state and not per location.
    #[must_use]
    pub fn is_per_state(self) -> bool {
        matches!(self, Self::Paper | Self::PaperDecay)
    }

    /// The precision that everything has in the beginning.
    pub(crate) fn start(self) -> LocationPrecision {
        let decays = matches!(self, Self::Decay | Self::PaperDecay);
        LocationPrecision {
            splits_all: self == Self::Naive,
            inputs: BitMasks::default(),
            values: BTreeSet::new(),
            step: StepPrecision {
                decays,
                exceptions: BitMasks::default(),
                forgets_dead: matches!(self, Self::Default | Self::Decay),
                pinned: BitMasks::default(),
            },
            cases: BitMasks::default(),
            stops_at_cases: self.is_per_state(),
            coarse: false,
        }
    }
}

/// A location, to which precision is attached.
pub trait Place: Copy + Eq + Ord + Hash + Debug {
    /// The part of this location that is common to all that differ from it only in how they were reached, such as
    /// rounds.
    #[must_use]
    fn general(self) -> Self {
        self
    }

    /// The part of this location that it shares with all that differ from it only in the round of a loop: refinements
    /// are made there.
    #[must_use]
    fn in_any_round(self) -> Self {
        self
    }

    /// A number for reports of progress, such as an address.
    fn number(self) -> Option<u32> {
        None
    }
}

/// The precision of all locations.
#[derive(Clone, Debug)]
pub struct Precision<L> {
    start: LocationPrecision,
    locations: FxHashMap<L, LocationPrecision>,
    /// The precision that was refined for all locations that share the same part.
    general: FxHashMap<L, LocationPrecision>,
    /// The parts that the locations with a precision of their own share with others.
    diverse: FxHashSet<L>,
    /// The locations of which some rounds have a precision of their own.
    has_rounds: FxHashSet<L>,
    history: History<L>,
}

impl<L: Place> Precision<L> {
    /// The precision that a strategy starts with.
    #[must_use]
    pub fn new(strategy: Strategy) -> Self {
        Self {
            start: strategy.start(),
            locations: FxHashMap::default(),
            general: FxHashMap::default(),
            diverse: FxHashSet::default(),
            has_rounds: FxHashSet::default(),
            history: History::default(),
        }
    }

    /// The changes so far, except for bits that were dropped.
    #[must_use]
    pub fn history(&self) -> &History<L> {
        &self.history
    }

    /// Takes the content of another precision, such as a copy that was made earlier.
    pub(crate) fn go_back(&mut self, earlier: Self) {
        let history = std::mem::take(&mut self.history);
        *self = Self { history, ..earlier };
        self.history.all_changed();
    }

    /// The precision at a location.
    #[must_use]
    pub fn at(&self, location: &L) -> &LocationPrecision {
        let own = self.locations.get(location);
        let own = own.or_else(|| {
            let any = location.in_any_round();
            if any == *location { None } else { self.locations.get(&any) }
        });
        own.or_else(|| self.general.get(&location.general())).unwrap_or(&self.start)
    }

    /// The precision at all locations that share this part; none if some of them have a precision of their own.
    #[must_use]
    pub fn common_at(&self, general: &L) -> Option<&LocationPrecision> {
        let common = || self.general.get(general).unwrap_or(&self.start);
        (!self.diverse.contains(general)).then(common)
    }

    /// The number of locations that have a precision of their own.
    #[must_use]
    pub fn locations(&self) -> usize {
        self.locations.len()
    }

    /// The number of bits that these locations forget, where bits are kept unless it is said otherwise.
    #[must_use]
    pub fn forgotten_bits(&self) -> u64 {
        let steps = self.locations.values().map(|local| &local.step).filter(|step| !step.decays);
        let bits = steps.flat_map(|step| step.exceptions.iter());
        bits.map(|(_, bits)| u64::from(bits.count_ones())).sum()
    }

    /// The most outcomes that inputs have at a location, with those of other refinements there.
    #[must_use]
    pub fn input_outcomes(&self, location: &L, more: &[Knob]) -> u64 {
        let local = self.at(location);
        let (mut inputs, mut values) = (local.inputs.clone(), local.values.clone());
        for knob in more {
            match *knob {
                Knob::Input(variable, bits) => _ = inputs.add(variable, bits),
                Knob::Value(variable, value) => _ = values.insert((variable, value)),
                Knob::Step(..) | Knob::Everywhere(..) | Knob::Case(..) => {}
            }
        }
        outcomes(&inputs, &values)
    }

    /// True if a refinement would change anything.
    #[must_use]
    pub fn is_new(&self, location: &L, knob: Knob) -> bool {
        match knob {
            Knob::Everywhere(..) => self.start.is_new(knob),
            _ => self.at(location).is_new(knob),
        }
    }

    /// Refines a location; whether anything changed. Precision is only ever added.
    pub fn refine(&mut self, location: L, knob: Knob) -> bool {
        if !self.is_new(&location, knob) {
            return false;
        }
        if matches!(knob, Knob::Everywhere(..)) {
            let all = self.locations.values_mut().chain(self.general.values_mut());
            all.for_each(|local| _ = local.refine(knob));
            self.history.refined(Scope::All, knob);
            return self.start.refine(knob);
        }
        let any = location.in_any_round();
        self.history.refined(Scope::One(any), knob);
        if self.has_rounds.contains(&any) {
            let rounds = self.locations.iter_mut().filter(|(other, _)| other.in_any_round() == any);
            rounds.for_each(|(_, local)| _ = local.refine(knob));
        }
        self.own(any).refine(knob);
        true
    }

    /// Refines all locations that share their part with this one; whether anything changed here.
    pub fn refine_generally(&mut self, location: L, knob: Knob) -> bool {
        if matches!(knob, Knob::Everywhere(..)) || !self.is_new(&location, knob) {
            return self.refine(location, knob);
        }
        let general = location.general();
        self.history.refined(Scope::Alike(general), knob);
        let alike = self.locations.iter_mut().filter(|(other, _)| other.general() == general);
        alike.for_each(|(_, local)| _ = local.refine(knob));
        self.general.entry(general).or_insert_with(|| self.start.clone()).refine(knob)
    }

    /// Sets whether few states matter more than deciding what some run can do.
    pub fn be_coarse(&mut self, coarse: bool) {
        let all = self.locations.values_mut().chain(self.general.values_mut()).chain([&mut self.start]);
        all.for_each(|local| local.coarse = coarse);
        self.history.all_changed();
    }

    /// Drops bits at a location unless refinement brought them back; whether any of them was kept until now.
    pub fn drop_bits(&mut self, location: L, variable: Variable, bits: u64) -> bool {
        self.own(location).step.drop_bits(variable, bits)
    }

    /// Keeps again whatever was dropped.
    pub fn forget_drops(&mut self) {
        let steps = self.locations.values_mut().map(|local| &mut local.step);
        steps.filter(|step| !step.decays).for_each(|step| step.exceptions.clear());
    }

    /// The precision that a location, which may be one round or any, has for itself: at first as until now.
    fn own(&mut self, location: L) -> &mut LocationPrecision {
        if !self.locations.contains_key(&location) {
            let like = self.at(&location).clone();
            let any = location.in_any_round();
            if any != location {
                self.has_rounds.insert(any);
            }
            self.diverse.insert(location.general());
            self.locations.insert(location, like);
        }
        self.locations.get_mut(&location).expect("it was just inserted")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Change, Part};

    const CELL: Variable = Variable(7);
    const BITS: u64 = 0b11;

    /// A place, and the round of the loop that it is in; 0 where that does not matter.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    struct InLoop(u8, u8);

    impl Place for InLoop {
        fn general(self) -> Self {
            self.in_any_round()
        }

        fn in_any_round(self) -> Self {
            Self(self.0, 0)
        }
    }

    fn kept(precision: &Precision<InLoop>, round: u8) -> u64 {
        precision.at(&InLoop(1, round)).step.kept(CELL) & BITS
    }

    #[test]
    fn what_is_refined_in_one_round_is_refined_in_all() {
        let mut precision = Precision::new(Strategy::Default);
        precision.drop_bits(InLoop(1, 1), CELL, BITS);
        precision.drop_bits(InLoop(1, 2), CELL, BITS);
        assert!(precision.refine(InLoop(1, 1), Knob::Step(CELL, 1)));
        assert_eq!((kept(&precision, 1), kept(&precision, 2)), (1, 1));
        // A round that comes later keeps it as well, whatever it is to drop.
        precision.drop_bits(InLoop(1, 3), CELL, BITS);
        assert_eq!(kept(&precision, 3), 1);
    }

    /// The changes since a number of them.
    fn changes_since(precision: &Precision<InLoop>, number: usize) -> Vec<Change<InLoop>> {
        precision.history().changes()[number..].to_vec()
    }

    #[test]
    fn every_refinement_is_a_change_of_its_part() {
        let mut precision = Precision::new(Strategy::Default);
        precision.refine(InLoop(1, 3), Knob::Step(CELL, 1));
        precision.refine_generally(InLoop(2, 3), Knob::Case(CELL, 1));
        precision.refine(InLoop(2, 3), Knob::Everywhere(CELL, 2));
        let one = Change { scope: Scope::One(InLoop(1, 0)), part: Part::Kept };
        let alike = Change { scope: Scope::Alike(InLoop(2, 0)), part: Part::Steps };
        let all = [Part::Steps, Part::Kept].map(|part| Change { scope: Scope::All, part });
        assert_eq!(changes_since(&precision, 0), [one, alike, all[1]]);
        // Nothing changes.
        precision.refine(InLoop(1, 1), Knob::Step(CELL, 1));
        precision.drop_bits(InLoop(1, 1), CELL, 4);
        precision.forget_drops();
        assert_eq!(changes_since(&precision, 3), []);
        precision.be_coarse(true);
        assert_eq!(changes_since(&precision, 3), all);
    }

    #[test]
    fn a_copy_has_a_history_of_its_own_and_going_back_changes_all() {
        let mut precision = Precision::new(Strategy::Default);
        let copy = precision.clone();
        assert!(precision.history().lineage() == precision.history().lineage());
        assert!(precision.history().lineage() != copy.history().lineage());
        precision.refine(InLoop(1, 0), Knob::Step(CELL, 1));
        let lineage = precision.history().lineage().clone();
        precision.go_back(copy);
        assert!(*precision.history().lineage() == lineage);
        let all = [Part::Steps, Part::Kept].map(|part| Change { scope: Scope::All, part });
        assert_eq!(changes_since(&precision, 1), all);
        assert!(precision.is_new(&InLoop(1, 0), Knob::Step(CELL, 1)));
    }

    #[test]
    fn what_is_dropped_in_one_round_is_kept_in_the_others() {
        let mut precision = Precision::new(Strategy::Default);
        assert!(precision.drop_bits(InLoop(1, 1), CELL, BITS));
        assert_eq!((kept(&precision, 1), kept(&precision, 2)), (0, BITS));
        assert_eq!(precision.at(&InLoop(2, 1)).step.kept(CELL) & BITS, BITS);
    }

    #[test]
    fn what_is_dropped_in_any_round_is_dropped_where_no_round_has_a_precision_of_its_own() {
        let mut precision = Precision::new(Strategy::Default);
        precision.drop_bits(InLoop(1, 1), CELL, 0b01);
        precision.drop_bits(InLoop(1, 0), CELL, 0b10);
        assert_eq!((precision.locations(), precision.forgotten_bits()), (2, 2));
        assert_eq!((kept(&precision, 1), kept(&precision, 2)), (0b10, 0b01));
    }
}
