//! A run under way, with what it learns from comparisons.

use super::aim::Aim;
use super::answers::Manner;
use super::comparison::{Comparison, Suggestion};
use super::corpus::{Class, Corpus, Place, Task};
use super::distances::{Nearness, Rated};
use super::script::{Change, Script};
use super::shadow::{Observed, Origin, Shadow};
use crate::concretise::concrete_step::{ChosenStep, Stepper, Tried};
use avr_isa::{DataAddress, FlashWordAddress};
use avr_machine::Input;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::rc::Rc;
use three_valued::TracedByte;

/// The most comparisons of a run that inputs are looked for.
const MAX_COMPARED: usize = 64;
/// The most repairs one after the other.
const MAX_DEPTH: u32 = 12;
/// The most comparisons of a run that are remembered because their operands were the same.
const MAX_KEPT: usize = 64;
/// The most cells of a goal whose content guides runs.
const MAX_CELLS: usize = 32;

/// A run under way.
pub(super) struct Running<'m> {
    pub(super) stepper: Stepper<'m>,
    pub(super) shadow: Option<Shadow>,
    pub(super) script: Script,
    /// The place that it began at.
    pub(super) from: Option<Rc<Place<'m>>>,
    /// Something new that was seen since the last place.
    pub(super) news: Option<Class>,
    /// Changes of inputs that comparisons ask for.
    pub(super) wanted: Vec<Wanted>,
    /// The same of a comparison that came out otherwise because other inputs were changed.
    pub(super) repair: Option<Wanted>,
    /// The comparisons of inputs whose operands were the same, with the step.
    pub(super) kept: Vec<(u64, FlashWordAddress)>,
    /// The task that it is.
    pub(super) task: Option<Attempt>,
    /// The content of the cells that goals speak of.
    pub(super) cells: Vec<(DataAddress, u8)>,
    /// The distance of its state, where runs are directed.
    pub(super) rated: Option<Rated>,
    /// The number of times that numbers which decide have made progress, in runs before it as well.
    pub(super) progress: u32,
    /// The place before the last decision.
    pub(super) before_decision: Option<Rc<Place<'m>>>,
}

/// A task under way.
pub(super) struct Attempt {
    /// The number of repairs before it.
    pub(super) depth: u32,
    /// The first step that may differ from the other run.
    pub(super) first: u64,
    /// The comparisons whose operands are to be the same.
    pub(super) kept: Rc<[FlashWordAddress]>,
    /// The distance that it is to come to, where runs are directed.
    pub(super) nearer: Option<u32>,
}

/// Changes of inputs that a comparison asks for.
#[derive(Clone)]
pub(super) struct Wanted {
    /// The instruction that compares, and the value that is aimed at if that is no input as well.
    pub(super) aim: (FlashWordAddress, Option<u32>),
    pub(super) changes: Vec<Change>,
    /// True if the operands of the comparison would differ by one.
    pub(super) is_beside: bool,
    /// The distance of the way that was not taken, if it leads nearer to where runs are directed at.
    pub(super) nearer: Option<u32>,
    /// The number of choices that were made before, and of steps.
    pub(super) chosen: usize,
    pub(super) steps: u64,
}

impl<'m> Running<'m> {
    pub(super) fn new(
        stepper: Stepper<'m>,
        shadow: Option<Shadow>,
        script: Script,
        from: Option<Rc<Place<'m>>>,
    ) -> Self {
        Self {
            stepper,
            shadow,
            script,
            from,
            news: None,
            wanted: Vec::new(),
            repair: None,
            kept: Vec::new(),
            task: None,
            cells: Vec::new(),
            rated: None,
            progress: 0,
            before_decision: None,
        }
    }

    /// A run from the start of the program.
    pub(super) fn at_start(stepper: Stepper<'m>, script: Script, manner: Manner) -> Self {
        let shadow = manner.is_shadowed.then(|| Shadow::new(&stepper));
        Self::new(stepper, shadow, script, None)
    }

    /// A run from a place.
    pub(super) fn at(place: Rc<Place<'m>>, script: Script, manner: Manner) -> Self {
        let stepper = place.stepper.clone();
        let shadow = place.shadow.as_ref().filter(|_| manner.is_shadowed).map(|kept| Shadow::from(&stepper, kept));
        let progress = place.progress;
        Self { progress, ..Self::new(stepper, shadow, script, Some(place)) }
    }

    /// Takes note of the changes of inputs that a comparison asks for. If it leads away from where runs are directed at, the distance of
    /// the other way is known.
    pub(super) fn want(&mut self, comparison: &Comparison, nearer: Option<u32>, corpus: &mut Corpus<'m>) {
        let step = self.stepper.run.steps;
        if comparison.is_equal() {
            let is_known = self.kept.iter().any(|(_, pc)| *pc == comparison.pc);
            if !is_known && self.kept.len() < MAX_KEPT {
                self.kept.push((step, comparison.pc));
            }
        }
        let is_broken = |attempt: &Attempt| {
            let depends = attempt.depth < MAX_DEPTH && step > attempt.first && attempt.kept.contains(&comparison.pc);
            depends && !comparison.is_equal()
        };
        let is_broken = self.repair.is_none() && self.task.as_ref().is_some_and(is_broken);
        if !is_broken && nearer.is_none() && self.wanted.len() >= MAX_COMPARED {
            return;
        }
        let all = self.asked_for(comparison, nearer);
        if is_broken {
            self.repair = all.iter().find(|wanted| !wanted.is_beside).cloned();
        }
        let (place, on_model) =
            (self.from.as_ref().map_or(0, |from| from.number), self.stepper.run.abstracted.is_some());
        for wanted in all {
            let place = if wanted.is_beside { 0 } else { place };
            let changes: Vec<(Input, u8)> = wanted.changes.iter().map(|one| (one.source, one.value)).collect();
            if corpus.is_to_be_tried((place, wanted.aim, changes, on_model)) {
                self.wanted.push(wanted);
            }
        }
    }

    /// The task to make changes that are wanted, with the number of its steps; `chosen` and `initial` are those of this run.
    pub(super) fn task_of(
        &self,
        wanted: &Wanted,
        (chosen, initial): (&Rc<[ChosenStep]>, &Rc<BTreeMap<DataAddress, u8>>),
        is_repair: bool,
    ) -> (Task<'m>, u64) {
        let (mut content, mut changes) = (Rc::clone(initial), Vec::new());
        for change in &wanted.changes {
            match change.source {
                Input::Initial(cell) => _ = Rc::make_mut(&mut content).insert(cell, change.value),
                Input::Register(_) => changes.push(*change),
            }
        }
        let first = changes.iter().map(|change| change.step).min();
        let from = first.filter(|_| Rc::ptr_eq(&content, initial)).and_then(|first| self.place_before(first));
        let begun = from.as_ref().map_or(0, |place| place.stepper.run.steps);
        let chosen = Rc::clone(chosen);
        let first = first.unwrap_or(0);
        let here = self.kept.iter().filter(|(step, _)| (first..wanted.steps).contains(step)).map(|(_, pc)| *pc);
        let attempt = self.task.as_ref().filter(|_| is_repair);
        let kept = here.chain(attempt.into_iter().flat_map(|attempt| attempt.kept.iter().copied())).collect();
        let depth = attempt.map_or(0, |attempt| attempt.depth + 1);
        let (count, nearer) = (wanted.chosen, wanted.nearer);
        (Task { from, initial: content, chosen, count, changes, depth, kept, nearer }, wanted.steps - begun)
    }

    /// The last place before a step that the run went on from, if it is still known.
    pub(super) fn place_before(&self, step: u64) -> Option<Rc<Place<'m>>> {
        let from = self.from.iter();
        let earlier = from.clone().flat_map(|from| from.ancestors.iter().rev().filter_map(std::rc::Weak::upgrade));
        let mut all = self.before_decision.iter().chain(from).cloned().chain(earlier);
        all.find(|place| place.stepper.run.steps <= step)
    }

    /// Changes of inputs that a comparison asks for.
    pub(super) fn asked_for(&self, comparison: &Comparison, nearer: Option<u32>) -> Vec<Wanted> {
        let run = &self.stepper.run;
        let initial = |cell: DataAddress| run.initial.get(&cell).copied().unwrap_or(0);
        let origin = |input: u32| self.shadow.as_ref()?.origin(input, initial);
        let change = |(input, value): &(u32, u8)| {
            let Origin { step, source, .. } = origin(*input)?;
            Some(Change { step, source, value: *value })
        };
        // Inputs that are compared with each other have no value that is worth more than others.
        let target = |value: u32| (!comparison.is_among_inputs()).then_some(value);
        let wanted = |suggestion: Suggestion| {
            Some(Wanted {
                aim: (comparison.pc, target(suggestion.target)),
                changes: suggestion.changes.iter().map(change).collect::<Option<Vec<_>>>()?,
                is_beside: suggestion.is_beside,
                nearer,
                chosen: run.chosen.len(),
                steps: run.steps,
            })
        };
        comparison.suggestions(&|input| Some(origin(input)?.value)).into_iter().filter_map(wanted).collect()
    }

    /// The nearness of its state, where runs are directed at something that may come behind it.
    pub(super) fn nearness(&self) -> Option<Nearness> {
        self.rated.map(|rated| (Reverse(self.progress), rated.distance, self.stepper.view().stack_pointer()))
    }

    /// True if it is a task that is to come nearer to where runs are directed at.
    pub(super) fn is_to_be_nearer(&self) -> bool {
        self.task.as_ref().is_some_and(|task| task.nearer.is_some())
    }

    /// True if it is such a task and has come there just now.
    pub(super) fn comes_nearer(&mut self) -> bool {
        let Some(Attempt { nearer, .. }) = &mut self.task else { return false };
        let is_there = nearer.is_some_and(|wanted| self.rated.is_some_and(|rated| rated.distance <= wanted));
        is_there && nearer.take().is_some()
    }

    /// True if a byte is an input as it came.
    pub(super) fn is_copy(&self, byte: TracedByte) -> bool {
        let initial = |cell: DataAddress| self.stepper.run.initial.get(&cell).copied().unwrap_or(0);
        match (byte.sources.as_slice(), &self.shadow) {
            ([input], Some(shadow)) => shadow.origin(*input, initial).is_none_or(|origin| origin.value == byte.value),
            _ => false,
        }
    }

    /// Takes note of the cells that goals speak of.
    pub(super) fn watch(&mut self, aims: &[Aim<'_>]) {
        let mut cells: Vec<DataAddress> = aims.iter().flat_map(|aim| aim.cells.iter().copied()).collect();
        cells.sort_unstable();
        cells.dedup();
        cells.truncate(MAX_CELLS);
        self.cells = cells.into_iter().map(|cell| (cell, *self.stepper.state().data.get(cell))).collect();
    }

    /// Makes a step that was tried a step of the run.
    pub(super) fn accept(&mut self, tried: Tried, observed: &mut Observed) {
        if let Some(shadow) = &mut self.shadow {
            shadow.step(self.stepper.machine, self.stepper.run.steps, &tried.asked, observed);
        }
        self.stepper.accept(tried);
    }
}
