//! The places that runs go on from, and the inputs that are to be tried next.

use super::comparison::Comparison;
use super::distances::{Distances, Nearness};
use super::script::Change;
use super::shadow::Kept;
use crate::concretise::concrete_step::{ChosenStep, Stepper};
use avr_isa::{DataAddress, FlashWordAddress};
use fastrand::Rng;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};
use std::rc::{Rc, Weak};

/// The most places of one class: those that were found last.
const MAX_OF_CODE: usize = 128;
const MAX_OF_CLASS: usize = 6;
/// The most classes beside that of the code.
const MAX_CLASSES: usize = 64;
/// The most places that runs go on from at once, the number of runs from each, and the number of places of a class after which
/// they are half as many: what has had many values will have many more.
const MAX_FRESH: usize = 32;
const RUNS_FROM_FRESH: u32 = 8;
const PLACES_PER_HALVING: u32 = 4;
/// The most tasks; of more those are forgotten that aim at what was aimed at most often.
const MAX_TASKS: usize = 512;
/// Tasks with fewer steps are as good as each other.
const SHORT_TASK: u64 = 512;
/// The most states that are kept because they are near to where runs are directed at.
const MAX_NEAR: usize = 16;
/// The most repairs that wait.
const MAX_REPAIRS: usize = 32;
/// The most places on the way to one that it knows.
const MAX_ANCESTORS: usize = 8;
/// The most features that are remembered.
const MAX_FEATURES: usize = 1 << 20;

/// The kind of feature that a place was the first to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Class {
    /// An instruction in its surroundings.
    Code,
    /// The number that the instruction at a flash word address compares.
    Compared(u32),
    /// The content that the program gave to the cell at a data address.
    Written(DataAddress),
    /// The content of a cell that a goal speaks of.
    Goal(DataAddress),
    /// A state nearer to where runs are directed at than any before.
    Nearer,
}

impl Class {
    /// True if it is the nearness that is new.
    pub(super) fn is_nearer(self) -> bool {
        self == Self::Nearer
    }
}

/// A state of a run, from which others go on.
pub(super) struct Place<'m> {
    pub(super) number: u64,
    pub(super) stepper: Stepper<'m>,
    pub(super) shadow: Option<Kept>,
    /// The places that its run went on from, oldest first.
    pub(super) ancestors: Vec<Weak<Place<'m>>>,
    /// The number of times that numbers which decide had made progress.
    pub(super) progress: u32,
}

/// A run that is to be tried: another one with some inputs changed.
pub(super) struct Task<'m> {
    /// The place that it begins at; the start of the program if there is none any more.
    pub(super) from: Option<Rc<Place<'m>>>,
    /// The content of cells at the start, where it is not 0.
    pub(super) initial: Rc<BTreeMap<DataAddress, u8>>,
    /// The choices of the other run.
    pub(super) chosen: Rc<[ChosenStep]>,
    /// The number of those that are made again.
    pub(super) count: usize,
    /// The inputs that change.
    pub(super) changes: Vec<Change>,
    /// The number of repairs before it.
    pub(super) depth: u32,
    /// The flash word addresses of comparisons whose operands are to be the same as they were.
    pub(super) kept: Rc<[FlashWordAddress]>,
    /// The distance that it is to come to, where runs are directed.
    pub(super) nearer: Option<u32>,
}

/// Places and tasks of runs with one property: only the environment determines them, or not.
#[derive(Default)]
struct Shelf<'m> {
    code: VecDeque<Rc<Place<'m>>>,
    classes: BTreeMap<Class, VecDeque<Rc<Place<'m>>>>,
    fresh: Vec<(Rc<Place<'m>>, u32)>,
    /// The number of places that each class has had.
    had: FxHashMap<Class, u32>,
    /// By the number of times that the same was aimed at before and the steps of the run (the logarithms), then
    /// those that were found last.
    tasks: BTreeMap<(u32, u32, Reverse<u64>), Task<'m>>,
    /// Tasks whose aim leads nearer to where runs are directed at: by the number of times, then by the distance, then as the others.
    directed: BTreeMap<(u32, u32, u32, Reverse<u64>), Task<'m>>,
    /// The nearest places, the nearest first.
    near: Vec<(Nearness, Rc<Place<'m>>)>,
    /// The least nearness of a run's state.
    nearest: Option<Nearness>,
    /// The least difference of numbers at comparisons that lead away and do not depend on inputs.
    differences: FxHashMap<FlashWordAddress, u32>,
    /// The number of times that one got less.
    progress: u32,
}

/// Everything that is kept of earlier runs.
#[derive(Default)]
pub(super) struct Corpus<'m> {
    /// By whether a run rests on the model.
    shelves: [Shelf<'m>; 2],
    features: FxHashSet<u64>,
    planned: FxHashSet<u64>,
    /// The number of tasks by what they aim at.
    aimed_at: FxHashMap<u64, u32>,
    count: u64,
    /// Tasks that repair comparisons which came out otherwise because other inputs were changed; the next one last.
    repairs: VecDeque<Task<'m>>,
}

impl<'m> Corpus<'m> {
    /// The number of places.
    pub(super) fn places(&self) -> usize {
        let of = |shelf: &Shelf<'_>| shelf.code.len() + shelf.classes.values().map(VecDeque::len).sum::<usize>();
        self.shelves.iter().map(of).sum()
    }

    /// True if nothing had a feature before.
    pub(super) fn is_new(&mut self, class: Class, value: impl Hash) -> bool {
        self.features.len() < MAX_FEATURES && self.features.insert(hash((class, value)))
    }

    /// True if something is to be tried for the first time.
    pub(super) fn is_to_be_tried(&mut self, what: impl Hash) -> bool {
        if self.planned.len() >= MAX_FEATURES {
            self.planned.clear();
        }
        self.planned.insert(hash(what))
    }

    /// Forgets how near places are, and rates them anew if runs are directed.
    pub(super) fn rate(&mut self, distances: Option<&Distances>) {
        for shelf in &mut self.shelves {
            (shelf.near, shelf.nearest) = (Vec::new(), None);
            shelf.differences.clear();
            let Some(distances) = distances else { continue };
            let all: Vec<Rc<Place<'m>>> = shelf.code.iter().chain(shelf.classes.values().flatten()).cloned().collect();
            for place in all {
                let rated = distances.rated(place.stepper.state());
                let pointer = place.stepper.view().stack_pointer();
                let nearness = rated.map(|rated| (Reverse(place.progress), rated.distance, pointer));
                nearness.into_iter().for_each(|nearness| shelf.add_near(nearness, &place));
            }
            shelf.nearest = shelf.near.first().map(|(nearness, _)| *nearness);
        }
    }

    /// True if a state was where nothing has to be decided any more.
    pub(super) fn is_there(&self) -> bool {
        self.shelves.iter().any(|shelf| shelf.nearest.is_some_and(|(_, distance, _)| distance == 0))
    }

    /// True if no state was as near before.
    pub(super) fn is_nearest(&mut self, nearness: Nearness, rests_on_model: bool) -> bool {
        let nearest = &mut self.shelves[usize::from(rests_on_model)].nearest;
        let is_nearer = nearest.is_none_or(|nearest| nearness < nearest);
        if is_nearer {
            *nearest = Some(nearness);
        }
        is_nearer
    }

    /// True if no state was at a smaller distance with as much progress.
    pub(super) fn is_near(&self, (progress, distance, _): Nearness, rests_on_model: bool) -> bool {
        let nearest = self.shelves[usize::from(rests_on_model)].nearest;
        nearest.is_none_or(|nearest| (progress, distance) <= (nearest.0, nearest.1))
    }

    /// The number of the progress that a comparison which leads away shows, if its numbers differ less than ever before.
    pub(super) fn progress(&mut self, comparison: &Comparison, rests_on_model: bool) -> Option<u32> {
        let shelf = &mut self.shelves[usize::from(rests_on_model)];
        let least = shelf.differences.entry(comparison.pc).or_insert(u32::MAX);
        if comparison.difference() >= *least {
            return None;
        }
        *least = comparison.difference();
        shelf.progress += 1;
        Some(shelf.progress)
    }

    /// Adds a place that is near to where runs are directed at.
    pub(super) fn add_near(
        &mut self,
        nearness: Nearness,
        (stepper, shadow): (Stepper<'m>, Option<Kept>),
        from: Option<&Rc<Place<'m>>>,
    ) -> Rc<Place<'m>> {
        let rests_on_model = stepper.run.abstracted.is_some();
        let place = self.place((stepper, shadow), from, nearness.0.0);
        self.shelves[usize::from(rests_on_model)].add_near(nearness, &place);
        place
    }

    /// A new place.
    fn place(
        &mut self,
        (stepper, shadow): (Stepper<'m>, Option<Kept>),
        from: Option<&Rc<Place<'m>>>,
        progress: u32,
    ) -> Rc<Place<'m>> {
        self.count += 1;
        let before = from.into_iter().flat_map(|from| from.ancestors.iter().cloned().chain([Rc::downgrade(from)]));
        let mut ancestors: Vec<Weak<Place<'m>>> = before.collect();
        ancestors.drain(..ancestors.len().saturating_sub(MAX_ANCESTORS));
        Rc::new(Place { number: self.count, stepper, shadow, ancestors, progress })
    }

    /// Adds the place that a run has come to.
    pub(super) fn add(
        &mut self,
        (class, nearness): (Class, Option<Nearness>),
        (stepper, shadow): (Stepper<'m>, Option<Kept>),
        from: Option<&Rc<Place<'m>>>,
        random: &mut Rng,
    ) {
        let rests_on_model = stepper.run.abstracted.is_some();
        let before = from.map_or(0, |from| from.progress);
        let place = self.place((stepper, shadow), from, nearness.map_or(before, |nearness| nearness.0.0));
        let shelf = &mut self.shelves[usize::from(rests_on_model)];
        if let Some(nearness) = nearness {
            shelf.add_near(nearness, &place);
        }
        if class == Class::Code {
            if shelf.code.len() == MAX_OF_CODE {
                shelf.code.remove(random.usize(..MAX_OF_CODE / 2));
            }
            shelf.code.push_back(Rc::clone(&place));
        } else if !class.is_nearer() && shelf.classes.len() < MAX_CLASSES || shelf.classes.contains_key(&class) {
            let places = shelf.classes.entry(class).or_default();
            if places.len() == MAX_OF_CLASS {
                places.pop_front();
            }
            places.push_back(Rc::clone(&place));
        }
        let had = shelf.had.entry(class).or_default();
        *had += 1;
        let runs = RUNS_FROM_FRESH >> (*had / PLACES_PER_HALVING).min(31);
        if runs > 0 {
            if shelf.fresh.len() == MAX_FRESH {
                shelf.fresh.remove(0);
            }
            shelf.fresh.push((place, runs));
        }
    }

    /// Adds a task that aims at something and takes so many steps.
    pub(super) fn plan(
        &mut self,
        task: Task<'m>,
        (aim, steps, nearer): (impl Hash, u64, Option<u32>),
        rests_on_model: bool,
    ) {
        if self.aimed_at.len() >= MAX_FEATURES {
            self.aimed_at.clear();
        }
        let times = self.aimed_at.entry(hash(aim)).or_default();
        *times += 1;
        self.count += 1;
        let shelf = &mut self.shelves[usize::from(rests_on_model)];
        let (times, steps) = (times.ilog2(), (steps / SHORT_TASK).checked_ilog2().unwrap_or(0));
        if let Some(distance) = nearer {
            shelf.directed.insert((times, distance, steps, Reverse(self.count)), task);
            if shelf.directed.len() > MAX_TASKS {
                shelf.directed.pop_last();
            }
            return;
        }
        shelf.tasks.insert((times, steps, Reverse(self.count)), task);
        if shelf.tasks.len() > MAX_TASKS {
            shelf.tasks.pop_last();
        }
    }

    /// Adds a repair.
    pub(super) fn plan_repair(&mut self, task: Task<'m>) {
        if self.repairs.len() == MAX_REPAIRS {
            self.repairs.pop_front();
        }
        self.repairs.push_back(task);
    }

    /// The task that is to be tried next, if it is time for one. Repairs come soon after what made them necessary.
    pub(super) fn next_task(&mut self, rests_on_model: bool, random: &mut Rng) -> Option<Task<'m>> {
        let chance = random.u8(..8);
        if !self.repairs.is_empty() && chance < 6 {
            return self.repairs.pop_back();
        }
        let shelf = &mut self.shelves[usize::from(rests_on_model)];
        if chance < 4 && !shelf.directed.is_empty() {
            return shelf.directed.pop_first().map(|(_, task)| task);
        }
        if chance.is_multiple_of(2) { shelf.tasks.pop_first().map(|(_, task)| task) } else { None }
    }

    /// The place where the next run begins, if it is no task: one that was found just now, or any place, those found lately more
    /// often. The start of the program if there is none, and now and then.
    pub(super) fn next_place(&mut self, rests_on_model: bool, random: &mut Rng) -> Option<Rc<Place<'m>>> {
        let shelf = &mut self.shelves[usize::from(rests_on_model)];
        if shelf.nearest.is_some() && random.u8(..4) == 0 {
            // Behind the last one is the start of the program.
            let chance = random.f64();
            let index = (chance * chance * (shelf.near.len() + 1) as f64) as usize;
            return shelf.near.get(index).map(|(_, place)| Rc::clone(place));
        }
        match random.u8(..8) {
            0..3 => {
                if let Some((place, left)) = shelf.fresh.last_mut() {
                    let place = Rc::clone(place);
                    *left -= 1;
                    if *left == 0 {
                        shelf.fresh.pop();
                    }
                    return Some(place);
                }
            }
            3 => {
                let classes = shelf.classes.len();
                let class = if classes == 0 { None } else { shelf.classes.values().nth(random.usize(..classes)) };
                if let Some(places) = class {
                    return late(places, random);
                }
            }
            _ => {}
        }
        late(&shelf.code, random)
    }
}

impl<'m> Shelf<'m> {
    /// Keeps a place if there are not enough that are nearer; of those that are as near, the ones that were found last.
    fn add_near(&mut self, nearness: Nearness, place: &Rc<Place<'m>>) {
        let index = self.near.partition_point(|(other, _)| *other < nearness);
        self.near.insert(index, (nearness, Rc::clone(place)));
        self.near.truncate(MAX_NEAR);
    }
}

/// A place of some, one of those at the end more often; none now and then.
fn late<'m>(places: &VecDeque<Rc<Place<'m>>>, random: &mut Rng) -> Option<Rc<Place<'m>>> {
    let chance = random.f64();
    let back = (chance * chance * places.len() as f64) as usize;
    places.len().checked_sub(1 + back).map(|index| Rc::clone(&places[index]))
}

fn hash(what: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    what.hash(&mut hasher);
    hasher.finish()
}
