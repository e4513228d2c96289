//! Concrete random runs, for what a large state space does not show soon: a state that refutes a goal, and a deep stack.
//!
//! Runs go on from where earlier ones came to something new, as greybox fuzzers do (`corpus`): an instruction with another stack
//! pointer or in another nesting of interrupts, another content of a cell that does not merely keep an input, another number that is
//! compared. A second run in the tracing domain (`shadow`) tells the inputs that comparisons depend on (`comparison`); a run
//! is tried again with those with which the comparison comes out otherwise (`script`). Other inputs and happenings are the natural ones,
//! those that comparisons asked for, those that the program knows (`dictionary`), or any that are possible; of some
//! runs only what the environment determines is chosen. Everything is the same in every run of the
//! tool: the random numbers are, and work is counted in steps.
//!
//! Runs are directed at the places with the deepest stack, if these are known (`distances`): they go on from the nearest
//! states more often, and comparisons that lead away from there are tried otherwise first.

mod aim;
mod along;
mod answers;
mod comparison;
mod confined;
mod corpus;
mod dictionary;
mod distances;
mod running;
mod script;
mod shadow;

use crate::concretise::concrete_step::{Run, Stepper, Tracking};
use crate::concretise::{Ending, Walked};
use crate::confirmation::Confirmation;
use crate::evidence::{Evidence, Search};
use aim::Aim;
use answers::Manner;
use avr_isa::{DataAddress, FlashByteAddress};
use avr_machine::device::BitRef;
use avr_machine::{Input, Stop};
use avr_model::context::Context;
use avr_model::state::stack_depth;
use avr_properties::StateView;
use avr_symbolic::ConcreteRun;
use comparison::Comparison;
use corpus::{Class, Corpus, Task};
use dictionary::Dictionary;
use fastrand::Rng;
use running::{Attempt, Running};
use script::Script;
use shadow::{Observed, Shadow};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use three_valued::TracedByte;
use tvar::{Goal, Watch};

pub use confined::Lost;
pub use distances::{Distances, Interrupt, Spot, Way};

/// The steps of a run from where it begins, and from the end of its script; one of so many is longer, for waiting loops.
const RUN_STEPS: [u64; 5] = [128, 256, 512, 1_024, 4_096];
const STEPS_AFTER_SCRIPT: [u64; 3] = [64, 256, 1_024];
const LONG_RUN_STEPS: u64 = 65_536;
const RUNS_PER_LONG: u32 = 32;
/// The steps that the beginning of a run counts for: there may be nothing else to it.
const STEPS_OF_BEGINNING: u64 = 16;
/// The most steps of a run.
const MOST_STEPS: u64 = 200_000;
/// So many steps lie between two places of a run at least.
const PLACE_STEPS: u64 = 8;
/// Runs with more inputs are not gone on with, because each place keeps them.
const MAX_INPUTS: usize = 500;
/// The same where runs are directed and the place is near.
const MAX_INPUTS_NEAR: usize = 2_000;
/// A directed task is given up if it is not nearer so many steps after its script.
const STEPS_TO_DECISION: u64 = 32;
/// A run of the hardware that stays at an instruction for so many steps without waiting for anything is given up.
const STEPS_AT_END: u64 = 256;
/// After a run so many steps are taken to find a better one.
const STEPS_FOR_BETTER: u64 = 400_000;
/// So many of these are taken to find choices that the run does not need.
const STEPS_FOR_SHORTER: u64 = 100_000;
/// So many runs are directed at alarms after one came there.
const RUNS_AT_ALARM: u32 = 64;
/// A run with a shadow takes as long as so many others.
const STEPS_OF_SHADOW: u64 = 2;

/// Random runs of one firmware.
pub struct Sampler<'m> {
    random: Rng,
    corpus: Corpus<'m>,
    dictionary: Option<Dictionary>,
    steps: u64,
    /// The deepest that the stack was, in bytes below RAMEND.
    deepest: Option<u32>,
    /// Inputs that are tried more often than others, by data address.
    likely: BTreeMap<DataAddress, VecDeque<u8>>,
    /// The string that the next inputs are.
    string: VecDeque<u8>,
    rounds: u64,
    /// The tracking of all runs, where findings are looked for.
    tracking: Option<Tracking>,
    /// The distances from where runs are directed at.
    distances: Option<Arc<Distances>>,
    /// The distances from alarms, at which runs are directed where a hazard is looked for, until enough have come there.
    alarms: Option<Arc<Distances>>,
    /// The number of runs since one came to an alarm.
    runs_at_alarm: u32,
}

impl fmt::Debug for Sampler<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sampler")
            .field("places", &self.corpus.places())
            .field("steps", &self.steps)
            .finish_non_exhaustive()
    }
}

impl Default for Sampler<'_> {
    fn default() -> Self {
        Self {
            random: Rng::with_seed(0),
            corpus: Corpus::default(),
            dictionary: None,
            steps: 0,
            deepest: None,
            likely: BTreeMap::new(),
            string: VecDeque::new(),
            rounds: 0,
            tracking: None,
            distances: None,
            alarms: None,
            runs_at_alarm: 0,
        }
    }
}

impl<'m> Sampler<'m> {
    /// A sampler whose runs are tracked.
    pub(crate) fn tracking(tracking: Tracking) -> Self {
        Self { tracking: Some(tracking), ..Self::default() }
    }

    /// A sampler whose runs are directed at alarms where a hazard is looked for, if there are distances from some.
    #[must_use]
    pub fn directed_at(alarms: Option<Arc<Distances>>) -> Self {
        Self { alarms, ..Self::default() }
    }

    /// Counts the runs since one came to an alarm. After enough of them it is not the way there that is to be found.
    fn count_run_at_alarm(&mut self) {
        if self.distances.is_some() && self.corpus.is_there() {
            self.runs_at_alarm += 1;
            if self.runs_at_alarm > RUNS_AT_ALARM {
                self.alarms = None;
                self.direct(None);
            }
        }
    }

    /// Directs runs, or directs them no more.
    fn direct(&mut self, distances: Option<Arc<Distances>>) {
        let is_same = match (&self.distances, &distances) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        if !is_same {
            self.corpus.rate(distances.as_deref());
            self.distances = distances;
        }
    }

    /// Counts the times that runs may be tried, and gives their number.
    pub fn count_round(&mut self) -> u64 {
        self.rounds += 1;
        self.rounds
    }

    /// Looks for runs that refute goals, each with its number, until so many steps were taken in all; more where a hazard is looked for and
    /// there is an alarm that no run has come to.
    pub fn refute(
        &mut self,
        context: &Context<'m>,
        open: &[(usize, &Goal)],
        (steps, steps_to_alarm): (u64, u64),
        watch: &dyn Watch,
    ) -> Vec<(usize, Search)> {
        let looks_for_hazard = open.iter().any(|(_, goal)| goal.observes_hazards);
        let most =
            |alarms: &Option<_>| if alarms.is_some() && looks_for_hazard { steps.max(steps_to_alarm) } else { steps };
        if self.steps >= most(&self.alarms) {
            return Vec::new();
        }
        let mut aims: Vec<Aim<'_>> =
            open.iter().filter_map(|(number, goal)| Aim::new(context, *number, goal)).collect();
        self.direct(self.alarms.clone().filter(|_| looks_for_hazard));
        let mut found = Vec::new();
        while !aims.is_empty() && self.steps < most(&self.alarms) && !watch.cancelled() {
            self.count_run_at_alarm();
            let manner = self.manner();
            let Some((index, walked)) = self.run(context, manner, &aims, u64::MAX) else { continue };
            let aim = aims.swap_remove(index);
            let confirmation = Confirmation { context, goal: aim.goal, value: false, watch };
            found.push((aim.number, confirmation.search(self.better(context, &aim, walked, watch))));
        }
        found
    }

    /// Takes a run that symbolic execution found; none if it does not refute a goal, or rests on the model: others may rest on the hardware.
    pub fn refute_along(
        &mut self,
        context: &Context<'m>,
        (number, goal): (usize, &Goal),
        run: &ConcreteRun,
        watch: &dyn Watch,
    ) -> Option<Search> {
        let aim = Aim::new(context, number, goal)?;
        let mut walked = along::walked(context, &aim, run)?;
        if walked.run.abstracted.is_some() {
            walked = self.in_time(context, &aim, &walked)?;
        }
        if walked.run.abstracted.is_some() {
            return None;
        }
        if walked.run.steps <= STEPS_FOR_BETTER / 8 {
            walked = self.shortened(context, &aim, walked, watch);
        }
        Some(Confirmation { context, goal, value: false, watch }.search(walked))
    }

    /// Looks for a run that refutes a goal and rests on no more than the hardware, until so many steps were taken in all. Inputs of a
    /// run that rests on the model are likely ones.
    pub fn on_hardware(
        &mut self,
        (context, watch): (&Context<'m>, &dyn Watch),
        goal: &Goal,
        on_model: Option<&Evidence>,
        steps: u64,
    ) -> Option<Evidence> {
        for step in on_model.and_then(|run| run.stimulus.exact.as_ref()).into_iter().flatten() {
            step.inputs.iter().for_each(|input| self.expect(input.register, input.value));
        }
        let aim = Aim::new(context, 0, goal)?;
        while self.steps < steps && !watch.cancelled() {
            let manner = self.manner_of_hardware();
            let Some((_, walked)) = self.run(context, manner, std::slice::from_ref(&aim), u64::MAX) else { continue };
            match (Confirmation { context, goal, value: false, watch }).search(walked) {
                Search::Found(evidence) if evidence.is_of_hardware() => return Some(*evidence),
                _ => {}
            }
        }
        None
    }

    /// Takes runs that rest on no more than the hardware until nothing is left to be shown, or so many steps were taken. First come
    /// runs that rest on the model, with enough time for what the environment does; their inputs are likely ones.
    pub(crate) fn track_on_hardware<'r>(
        &mut self,
        (context, watch): (&Context<'m>, &dyn Watch),
        on_model: impl IntoIterator<Item = &'r Run>,
        steps: u64,
        is_done: &dyn Fn() -> bool,
    ) {
        for run in on_model {
            for input in run.inputs.iter().flat_map(|step| &step.inputs) {
                self.expect(input.register, input.value);
            }
            let stepper = Stepper::new(context, &|cell| run.initial.get(&cell).copied().unwrap_or(0));
            let manner = Manner { happenings: 0, inputs: 0, is_shadowed: false, ..self.manner_of_hardware() };
            let running = Running::new(self.tracked(stepper), None, Script::in_time(run), None);
            self.go_on(context, running, manner, &[], (u64::MAX, RUN_STEPS[1]));
        }
        let last = self.steps + steps;
        while self.steps < last && !watch.cancelled() && !is_done() {
            let manner = self.manner_of_hardware();
            self.run(context, manner, &[], u64::MAX);
        }
    }

    /// A run before its first step, with the tracking of all runs.
    fn tracked(&self, stepper: Stepper<'m>) -> Stepper<'m> {
        stepper.tracked(self.tracking.clone())
    }

    /// A run that refutes a goal and is better than another one, if one is found soon. A run that only the environment
    /// determines is better, and then a shorter one.
    fn better(&mut self, context: &Context<'m>, aim: &Aim<'_>, mut best: Walked, watch: &dyn Watch) -> Walked {
        let last = self.steps + STEPS_FOR_BETTER;
        if best.run.steps <= STEPS_FOR_BETTER / 8 {
            best = self.shortened(context, aim, best, watch);
        }
        if best.run.abstracted.is_some() {
            best = self.in_time(context, aim, &best).unwrap_or(best);
        }
        while self.steps < last && !watch.cancelled() {
            let on_model = best.run.abstracted.is_some();
            let manner =
                Manner { only_environment: true, only_hardware: !on_model, is_shadowed: false, ..self.manner() };
            let longest = if on_model { u64::MAX } else { best.run.steps };
            best = self.run(context, manner, std::slice::from_ref(aim), longest).map_or(best, |(_, walked)| walked);
        }
        best
    }

    /// The same run without choices that it does not need, tried one by one and two by two: the byte that an interrupt announces goes with
    /// that.
    fn shortened(&mut self, context: &Context<'m>, aim: &Aim<'_>, mut best: Walked, watch: &dyn Watch) -> Walked {
        let last = self.steps + STEPS_FOR_SHORTER;
        for count in [2, 1] {
            let mut index = best.run.chosen.len();
            while index > 0 && self.steps < last && !watch.cancelled() {
                index = (index - 1).min(best.run.chosen.len());
                if index + count > best.run.chosen.len() {
                    continue;
                }
                let mut chosen = best.run.chosen.clone();
                chosen.drain(index..index + count);
                let script = Script::changed(&chosen, 0, &[]);
                if let Some(walked) = self.again(context, aim, &best.run.initial, (script, false)) {
                    let is_better = walked.run.chosen.len() < best.run.chosen.len()
                        && (walked.run.abstracted.is_none() || best.run.abstracted.is_some());
                    best = if is_better { walked } else { best };
                }
            }
        }
        best
    }

    /// The same run where the environment waits until it has had time for what it does, if that refutes the goal as well.
    fn in_time(&mut self, context: &Context<'m>, aim: &Aim<'_>, walked: &Walked) -> Option<Walked> {
        self.again(context, aim, &walked.run.initial, (Script::in_time(&walked.run), true))
    }

    /// The run with some content at the start and some answers, if it refutes a goal.
    fn again(
        &mut self,
        context: &Context<'m>,
        aim: &Aim<'_>,
        initial: &BTreeMap<DataAddress, u8>,
        (script, only_hardware): (Script, bool),
    ) -> Option<Walked> {
        let stepper = Stepper::new(context, &|cell| initial.get(&cell).copied().unwrap_or(0));
        let quiet = Manner { happenings: 0, inputs: 0, only_environment: true, only_hardware, is_shadowed: false };
        let running = Running::new(stepper, None, script, None);
        let (found, _) = self.go_on(context, running, quiet, std::slice::from_ref(aim), (u64::MAX, RUN_STEPS[1]));
        found.map(|(_, walked)| walked)
    }

    /// The deepest that the stack was in runs, in bytes below RAMEND. More runs are tried until it is as deep as
    /// `target`, or so many steps were taken in all; one is tried in any case. They are directed at the places from which there are
    /// distances.
    pub fn deepest(
        &mut self,
        context: &Context<'m>,
        (target, distances): (Option<u32>, Option<Distances>),
        steps: u64,
        watch: &dyn Watch,
    ) -> Option<u32> {
        let is_deep = |deepest: Option<u32>| target.is_some_and(|target| deepest >= Some(target));
        if self.deepest.is_some() && self.steps >= steps {
            return self.deepest;
        }
        self.direct(distances.map(Arc::new));
        while self.deepest.is_none() || !is_deep(self.deepest) && self.steps < steps && !watch.cancelled() {
            let before = self.deepest;
            let manner = self.manner();
            self.run(context, manner, &[], u64::MAX);
            if before.is_none() && self.deepest.is_none() && (self.steps >= steps || watch.cancelled()) {
                break;
            }
        }
        self.deepest
    }

    /// One run, until it refutes a goal: the index of that, and the run if it has fewer steps than `longest`. What it showed
    /// is kept.
    fn run(
        &mut self,
        context: &Context<'m>,
        manner: Manner,
        aims: &[Aim<'_>],
        longest: u64,
    ) -> Option<(usize, Walked)> {
        self.run_on(context, manner, aims, longest).0
    }

    /// The same, with the run that refutes nothing.
    fn run_on(
        &mut self,
        context: &Context<'m>,
        manner: Manner,
        aims: &[Aim<'_>],
        longest: u64,
    ) -> (Option<(usize, Walked)>, Option<Running<'m>>) {
        self.steps += STEPS_OF_BEGINNING;
        let running = self.begin(context, manner);
        let steps = match self.is_time(RUNS_PER_LONG) {
            true => LONG_RUN_STEPS,
            false if running.script.is_over() => self.random.choice(RUN_STEPS).unwrap_or(0),
            false => self.random.choice(STEPS_AFTER_SCRIPT).unwrap_or(0),
        };
        self.string.clear();
        if self.is_time(16) {
            let dictionary = self.dictionary.get_or_insert_with(|| Dictionary::new(&context.machine.program));
            self.string.extend(dictionary.string(&mut self.random).into_iter().flatten());
        }
        let (found, running) = self.go_on(context, running, manner, aims, (longest, steps));
        if let Some(running) = &running {
            self.plan(running);
        }
        (found, running)
    }

    /// Goes on with a run until it refutes a goal, or for so many steps beyond its script. Gives the run that does, and the run that
    /// does not.
    fn go_on(
        &mut self,
        context: &Context<'m>,
        mut running: Running<'m>,
        manner: Manner,
        aims: &[Aim<'_>],
        (longest, steps): (u64, u64),
    ) -> (Option<(usize, Walked)>, Option<Running<'m>>) {
        let mut observed = Observed::default();
        running.watch(aims);
        running.rated = self.rated(&running.stepper);
        let (mut since_place, mut at_end, mut left) = (0, 0, steps);
        if running.is_to_be_nearer() {
            left = STEPS_TO_DECISION;
        }
        for _ in 0..MOST_STEPS {
            if left == 0 {
                break;
            }
            left -= u64::from(running.script.is_over());
            self.steps += if running.shadow.is_some() { STEPS_OF_SHADOW } else { 1 };
            let before = standing_at(&running.stepper);
            if running.stepper.run.steps + 1 >= longest {
                return (None, Some(running));
            }
            let tried = self.step(&mut running, manner);
            match tried.result {
                Ok(_) => running.accept(tried, &mut observed),
                Err(Stop::Hazard(hazard))
                    if !context.machine.ends_path(hazard.kind, running.stepper.state().control.pc) =>
                {
                    let Some(index) = aims.iter().position(|aim| aim.is_refuted_by_hazard(context)) else {
                        running.stepper.take_back();
                        return (None, Some(running));
                    };
                    running.stepper.accept(tried);
                    if manner.only_hardware && running.stepper.run.abstracted.is_some() {
                        return (None, None);
                    }
                    return (Some((index, Walked::to_end(running.stepper, Ending::Hazard(hazard), Vec::new()))), None);
                }
                Err(_) => {
                    running.stepper.take_back();
                    return (None, Some(running));
                }
            }
            if manner.only_hardware && running.stepper.run.abstracted.is_some() {
                return (None, None);
            }
            at_end = if before.is_some() && standing_at(&running.stepper) == before { at_end + 1 } else { 0 };
            if at_end > STEPS_AT_END && (manner.only_hardware || running.script.is_over()) {
                return (None, Some(running));
            }
            let view = running.stepper.view();
            self.deepest = self.deepest.max(stack_depth::depth(context.machine, &view));
            let refuted = aims.iter().enumerate().find_map(|(index, aim)| Some((index, aim.refuted(context, &view)?)));
            if let Some((index, claims)) = refuted {
                return (Some((index, Walked::to_end(running.stepper, Ending::Shown, claims))), None);
            }
            self.look(&mut running, aims, &observed);
            if running.comes_nearer() {
                left = steps;
            }
            since_place += 1;
            let Some(class) = running.news else { continue };
            let run = &running.stepper.run;
            let is_time = since_place >= PLACE_STEPS || class.is_nearer();
            let most = if class.is_nearer() { MAX_INPUTS_NEAR } else { MAX_INPUTS };
            if at_end == 0 && is_time && run.inputs.len() < most {
                let kept = running.shadow.as_ref().map(Shadow::kept);
                let (from, nearness) = (running.from.as_ref(), running.nearness());
                self.corpus.add((class, nearness), (running.stepper.clone(), kept), from, &mut self.random);
                (since_place, running.news) = (0, None);
            }
        }
        (None, Some(running))
    }

    /// Looks at what a step showed.
    fn look(&mut self, running: &mut Running<'m>, aims: &[Aim<'_>], observed: &Observed) {
        let mut news = running.news;
        let before = std::mem::replace(&mut running.rated, self.rated(&running.stepper));
        let nearness = running.nearness();
        // A decision did not come out right: another way was nearer.
        let nearer = before.filter(|before| before.leads_away(running.rated)).map(|before| before.distance - 1);
        if let Some(nearness) = nearness
            && running.rated.is_some_and(|rated| rated.comes_before_decision(before))
            && running.stepper.run.inputs.len() < MAX_INPUTS_NEAR
            && self.corpus.is_near(nearness, running.stepper.run.abstracted.is_some())
        {
            let kept = running.shadow.as_ref().map(Shadow::kept);
            running.before_decision =
                Some(self.corpus.add_near(nearness, (running.stepper.clone(), kept), running.from.as_ref()));
        }
        let mut note = |class: Class, is_new: bool| {
            if is_new {
                news = news.max(Some(class));
            }
        };
        let corpus = &mut self.corpus;
        let on_model = running.stepper.run.abstracted.is_some();
        let view = running.stepper.view();
        let pointer = view.stack_pointer();
        note(Class::Nearer, nearness.is_some_and(|nearness| corpus.is_nearest(nearness, on_model)));
        note(Class::Code, corpus.is_new(Class::Code, (view.pc(), pointer, view.interrupt_depth(), on_model)));
        for (cell, last) in &mut running.cells {
            let now = *running.stepper.state().data.get(*cell);
            if now != *last {
                *last = now;
                let class = Class::Goal(*cell);
                note(class, corpus.is_new(class, (now, on_model)));
            }
        }
        for (cell, value) in &observed.written {
            // What lies on the stack is no variable, and a copy of an input is as good as that.
            if *cell <= pointer && !running.is_copy(*value) {
                let class = Class::Written(*cell);
                note(class, corpus.is_new(class, (value.value, on_model)));
            }
        }
        let pc = running.stepper.state().control.pc;
        let is_written = |cells: &[DataAddress]| observed.written.iter().any(|(cell, _)| cells.contains(cell));
        let compared = aims.iter().flat_map(|aim| &aim.compared).filter(|(cells, _)| is_written(cells));
        let of_goals = compared.filter_map(|(cells, constant)| {
            let shadow = running.shadow.as_ref()?;
            let number: Vec<TracedByte> = cells.iter().map(|cell| shadow.cell(*cell)).collect();
            Comparison::with_constant(pc, &number, *constant).filter(Comparison::depends_on_inputs)
        });
        let of_goals: Vec<Comparison> = of_goals.collect();
        for comparison in observed.comparisons.iter().chain(&of_goals) {
            if !comparison.depends_on_inputs() {
                let class = Class::Compared(comparison.pc.0);
                note(class, corpus.is_new(class, (comparison.lowest(), on_model)));
                if nearer.is_some()
                    && let Some(progress) = corpus.progress(comparison, on_model)
                {
                    running.progress = progress;
                    note(Class::Nearer, true);
                }
            } else {
                running.want(comparison, nearer, corpus);
            }
        }
        running.news = news;
    }

    /// Plans runs with the inputs that comparisons of a run ask for.
    fn plan(&mut self, running: &Running<'m>) {
        let state = running.stepper.state();
        debug_assert!(running.shadow.as_ref().is_none_or(|shadow| shadow.agrees(state)), "a shadow goes the same way");
        if running.wanted.is_empty() && running.repair.is_none() {
            return;
        }
        let run = &running.stepper.run;
        let chosen: Rc<[_]> = run.chosen.as_slice().into();
        let initial = Rc::new(run.initial.clone());
        let on_model = run.abstracted.is_some();
        for wanted in running.wanted.iter().rev() {
            for change in &wanted.changes {
                if let Input::Register(register) = change.source {
                    self.expect(register, change.value);
                }
            }
            let (task, steps) = running.task_of(wanted, (&chosen, &initial), false);
            self.corpus.plan(task, (wanted.aim, steps, wanted.nearer), on_model);
        }
        if let Some(wanted) = &running.repair {
            self.corpus.plan_repair(running.task_of(wanted, (&chosen, &initial), true).0);
        }
    }

    /// The beginning of a run.
    fn begin(&mut self, context: &Context<'m>, manner: Manner) -> Running<'m> {
        let rests_on_model = !manner.only_environment && self.random.bool();
        let task = match manner.is_shadowed {
            true => self.corpus.next_task(rests_on_model, &mut self.random),
            false => None,
        };
        if let Some(Task { from, initial, chosen, count, changes, depth, kept, nearer }) = task {
            let steps = from.as_ref().map_or(0, |place| place.stepper.run.steps);
            let script = Script::changed(&chosen[..count], steps, &changes);
            let content = |cell: DataAddress| initial.get(&cell).copied().unwrap_or(0);
            let running = match from {
                Some(place) => Running::at(place, script, manner),
                None => Running::at_start(self.tracked(Stepper::new(context, &content)), script, manner),
            };
            let first = changes.iter().map(|change| change.step).min().unwrap_or(0);
            return Running { task: Some(Attempt { depth, first, kept, nearer }), ..running };
        }
        match self.corpus.next_place(rests_on_model, &mut self.random) {
            Some(place) => Running::at(place, Script::default(), manner),
            None => Running::at_start(self.tracked(Stepper::new(context, &|_| 0)), Script::default(), manner),
        }
    }
}

/// The instruction and the stack pointer, where neither an interrupt nor the watchdog can take a run away from an instruction that jumps
/// to itself.
fn standing_at(stepper: &Stepper<'_>) -> Option<(FlashByteAddress, DataAddress)> {
    let (machine, state) = (stepper.machine, stepper.state());
    let is_set = |bit: BitRef| state.data.get(bit.address) & bit.mask() != 0;
    let interrupts = state.data.get(machine.status_address()) >> 7 & 1 == 1;
    let watchdog = machine.device.watchdog.as_ref().is_some_and(|watchdog| is_set(watchdog.reset_enable));
    let view = stepper.view();
    (!interrupts && !watchdog && !state.control.sleeping).then(|| (view.pc(), view.stack_pointer()))
}
