//! The worst-case stack of a whole program, with a run that reaches it.
//!
//! 1. A first verification is limited to some states. If that is not all of the program, another one asks for several
//!    depths at once. So something is known early of programs whose stack grows without end. Then one without that
//!    limit follows, unless the bounds meet and a run reaches them.
//! 2. Then a property is asked that the upper bound contradicts if it is the exact one: its violation comes with a run,
//!    which is replayed. If the property holds instead, the bound becomes smaller, and so on.

mod replayable;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use avr_isa::DataAddress;
use avr_machine::{Hazard, HazardKind};
use avr_properties::{Property, PropertyError};
use tvar::{Exhausted, Progress, Watch};

use crate::assumptions;
use crate::call_graph::{Cycle, Places, Segment, Survey, chain, cycles};
use crate::pipeline::machine::machine;
use crate::pipeline::verify;
use crate::request::Request;
use crate::results::{Basis, Results, Unknown, Verdict};
use crate::stack_bound::{StackBound, TaskStackBound};
use avr_witness::Evidence;

/// The number of times that the upper bound is made smaller.
const MAX_ROUNDS: usize = 8;
/// The number of states the first look takes.
const FIRST_STATES: usize = 200_000;
/// The smallest depth that is asked for where the first look is not enough, in bytes.
const FIRST_DEPTH: u32 = 16;

/// The caller's limits, and one on the states.
struct FirstLook<'a> {
    watch: &'a dyn Watch,
    is_cut: AtomicBool,
}

impl Watch for FirstLook<'_> {
    fn check(&self, progress: &Progress) -> Option<Exhausted> {
        let limit = self.watch.check(progress);
        if limit.is_some() || progress.states <= FIRST_STATES {
            return limit;
        }
        self.is_cut.store(true, Ordering::Relaxed);
        Some(Exhausted::Interrupted)
    }

    fn cancelled(&self) -> bool {
        self.watch.cancelled()
    }
}

/// The fit of the stack: it has enough room, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// The stack has enough room in every run.
    Fits,
    /// The stack has not enough room in some run.
    Overflows,
    /// The bounds do not tell whether the stack has enough room.
    Unknown,
}

/// The memory that the stack may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The first data address behind static data, or of the SRAM if the image does not tell where they end.
    pub start: DataAddress,
    /// The last data address, where the stack begins: RAMEND.
    pub end: DataAddress,
    /// True if the image tells where static data end.
    pub is_known: bool,
}

impl Room {
    /// Its size in bytes.
    #[must_use]
    pub fn bytes(self) -> u32 {
        self.end.offset_from(self.start).map_or(0, |last| u32::from(last) + 1)
    }
}

/// The worst-case stack of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorstCase {
    /// True if the stack has enough room, with the margin.
    pub fit: Fit,
    /// The depth in bytes below RAMEND.
    pub bound: StackBound,
    /// The bounds of the stacks of tasks, in the order of the property file; empty where there are none, or no time for them.
    pub stacks: Vec<TaskStackBound>,
    /// The memory that it may use.
    pub room: Room,
    /// The number of bytes that must stay free.
    pub margin: u32,
    /// A run that reaches the lower bound, or that overflows.
    pub run: Option<Evidence>,
    /// The basis of the run.
    pub basis: Basis,
    /// The routines on the stack at the end of the run; without a run, where the state space is deepest.
    pub chain: Vec<Segment>,
    /// Recursion and nesting in that call string, where a run shows it.
    pub cycles_shown: BTreeMap<Cycle, usize>,
    /// The survey of the program by the state space.
    pub survey: Survey,
    /// The reasons why the bound is not exact, or not shown by a run: sentences without full stops.
    pub reasons: Vec<String>,
    /// True if our own code failed a check of itself.
    pub self_check_failed: bool,
    /// The assumptions of the bound beside firmware and device.
    pub assumptions: Vec<String>,
    /// True if the user interrupted the work.
    pub interrupted: bool,
}

impl WorstCase {
    /// The bytes that stay free in every run; none if no upper bound is known.
    #[must_use]
    pub fn free(&self) -> Option<u32> {
        self.bound.upper.and_then(|upper| self.room.bytes().checked_sub(upper))
    }

    /// The worst case as far as it is known when the work was given up for this reason.
    #[must_use]
    pub fn given_up(request: &Request<'_>, margin: u32, reason: String, interrupted: bool) -> Self {
        Self {
            fit: Fit::Unknown,
            bound: StackBound::default(),
            stacks: Vec::new(),
            room: room(request),
            margin,
            run: None,
            basis: Basis::Hardware,
            chain: Vec::new(),
            cycles_shown: BTreeMap::new(),
            survey: Survey::default(),
            reasons: vec![reason],
            self_check_failed: false,
            assumptions: assumptions(request.file, request.start, request.device),
            interrupted,
        }
    }
}

/// Finds the worst-case stack of an image. The properties of the request do not matter, everything else in its property
/// file does. `learned` is told what is known so far whenever that is more than before.
///
/// # Errors
/// An assumption of the property file that cannot be used.
pub fn worst_case(
    request: &Request<'_>,
    margin: u32,
    learned: &dyn Fn(&WorstCase),
) -> Result<WorstCase, PropertyError> {
    let mut found = WorstCase::given_up(request, margin, String::new(), false);
    let invariants = request.find_invariants(&machine(request)?);
    let request = &request.with_invariants(invariants.as_ref());
    let look = FirstLook { watch: request.watch, is_cut: AtomicBool::new(false) };
    let short = Request { watch: &look, ..*request };
    let mut first = ask(&short, &[])?;
    let was_cut = look.is_cut.load(Ordering::Relaxed);
    first.interrupted &= !was_cut;
    found.learn(request, &first, &[])?;
    if was_cut {
        // Something is to be known before the long way is taken.
        let depths = depths_below(found.room.bytes());
        found.learn(request, &ask(&short, &depths)?, &depths)?;
        found.show_lower(&short)?;
        found.interrupted = false;
    }
    learned(&found);
    if was_cut && !found.is_decided() {
        let all = ask(request, &[])?;
        found.learn(request, &all, &[])?;
        learned(&found);
    }
    if !found.is_decided() {
        found.close_in(request)?;
    }
    found.conclude(request)?;
    Ok(found)
}

/// The depths in bytes that are asked for at once, all below another one.
fn depths_below(depth: u32) -> Vec<u32> {
    let doubled = std::iter::successors(Some(FIRST_DEPTH), |depth| depth.checked_mul(2));
    doubled.take_while(|one| *one < depth).collect()
}

/// The memory that the stack of an image may use.
fn room(request: &Request<'_>) -> Room {
    let memory = request.device.memory;
    let end = request.image.static_data_end();
    let start = end.map_or(memory.sram_start, |end| end.max(memory.sram_start));
    Room { start, end: memory.sram_end, is_known: end.is_some() }
}

/// Verifies that no hazard happens, and that the stack never takes more than each of these numbers of bytes.
fn ask(request: &Request<'_>, most: &[u32]) -> Result<Results, PropertyError> {
    let limit = |bytes: &u32| Property::from_command_line(&format!("Stack(max_bytes: {bytes})"));
    let mut file = request.file.clone();
    file.properties = vec![Property::inherent()];
    file.properties.extend(most.iter().map(limit).collect::<Result<Vec<_>, _>>()?);
    verify(&Request { file: &file, known: None, ..*request })
}

/// The hazard that a run ends with, if it is that the stack left its room.
fn overflow(run: &Evidence) -> Option<Hazard> {
    run.end.hazard.filter(|hazard| matches!(hazard.kind, HazardKind::StackIntoData | HazardKind::StackOutsideSram))
}

impl WorstCase {
    /// Takes note of what a verification that asked for some depths found.
    fn learn(&mut self, request: &Request<'_>, results: &Results, depths: &[u32]) -> Result<(), PropertyError> {
        self.bound = self.bound.and(results.stack);
        self.learn_tasks(results);
        self.interrupted |= results.interrupted;
        self.assumptions.clone_from(&results.assumptions);
        self.look_at(results.survey.as_ref());
        self.reasons.clear();
        for (depth, limit) in depths.iter().zip(&results.properties[1..]) {
            self.bound = match limit.verdict {
                Verdict::Holds => self.bound.and(StackBound { lower: None, upper: Some(*depth) }),
                Verdict::Violated => self.bound.and(StackBound { lower: Some(depth + 1), upper: None }),
                Verdict::Unknown(_) => continue,
            };
            if let Some(run) = limit.evidence.as_ref().filter(|_| limit.verdict == Verdict::Violated) {
                self.run = Some(run.clone());
                self.basis = limit.basis;
            }
        }
        self.note_overflow(results);
        self.conclude(request)
    }

    /// Takes note of the bounds of the stacks of tasks.
    fn learn_tasks(&mut self, results: &Results) {
        self.stacks = TaskStackBound::and(std::mem::take(&mut self.stacks), results.stacks.clone());
    }

    /// Takes note of an overflow, and of what else keeps the inherent property from holding.
    fn note_overflow(&mut self, results: &Results) {
        let inherent = &results.properties[0];
        if let Some(run) = inherent.evidence.as_ref().filter(|run| overflow(run).is_some()) {
            self.run = Some(run.clone());
            self.basis = inherent.basis;
        }
        match &inherent.verdict {
            Verdict::Holds => {}
            Verdict::Violated => {
                let what = inherent.detail.as_deref().unwrap_or("a hazard");
                self.reasons.push(format!("some run ends in {what}, after which nothing is promised"));
            }
            Verdict::Unknown(unknown) => self.note_unknown("whether a hazard happens", unknown),
        }
    }

    fn note_unknown(&mut self, what: &str, unknown: &Unknown) {
        self.reasons.push(format!("{what} is not known: {}", unknown.reason));
        self.self_check_failed |= unknown.self_check_failed;
    }

    /// True if nothing more can be learned: the run overflows, or it reaches the upper bound.
    fn is_decided(&self) -> bool {
        let is_reached = self.bound.exact().is_some_and(|exact| self.run_depth() == Some(exact));
        is_reached || self.run.as_ref().and_then(overflow).is_some()
    }

    /// The depth at the end of the run.
    #[must_use]
    pub fn run_depth(&self) -> Option<u32> {
        let run = self.run.as_ref()?;
        Some(self.room.end.offset_from(run.end.stack_pointer).unwrap_or_default().into())
    }

    /// Looks for a run that reaches the lower bound.
    fn show_lower(&mut self, request: &Request<'_>) -> Result<(), PropertyError> {
        let Some(target) = self.bound.lower.filter(|lower| self.run_depth() < Some(*lower)) else { return Ok(()) };
        let results = ask(request, &[target - 1])?;
        self.learn_tasks(&results);
        let limit = &results.properties[1];
        if let Some(run) = limit.evidence.as_ref().filter(|_| limit.verdict == Verdict::Violated) {
            self.run = Some(run.clone());
            self.basis = limit.basis;
        }
        self.conclude(request)
    }

    /// Asks for a run that reaches the upper bound, or else the lower one, until the bounds agree or nothing helps.
    fn close_in(&mut self, request: &Request<'_>) -> Result<(), PropertyError> {
        for _ in 0..MAX_ROUNDS {
            let Some(target) = self.bound.upper.or(self.bound.lower).filter(|target| *target > 0) else { break };
            if self.interrupted || self.is_decided() || request.watch.cancelled() {
                break;
            }
            let most = target - 1;
            let results = ask(request, &[most])?;
            self.interrupted |= results.interrupted;
            self.learn_tasks(&results);
            let limit = &results.properties[1];
            match &limit.verdict {
                Verdict::Violated => {
                    self.run.clone_from(&limit.evidence);
                    self.basis = limit.basis;
                    self.bound.lower = self.bound.lower.max(Some(target));
                    if let Some(missing) = &limit.evidence_missing {
                        self.reasons.push(format!("no run shows the bound: {missing}"));
                    }
                    break;
                }
                Verdict::Holds => self.lower_to(most, &results),
                Verdict::Unknown(unknown) => {
                    let what = format!("whether some run needs more than {most} bytes");
                    self.note_unknown(&what, unknown);
                    break;
                }
            }
        }
        Ok(())
    }

    /// No run needs more than this.
    fn lower_to(&mut self, most: u32, results: &Results) {
        let upper = results.stack.upper.map_or(most, |upper| upper.min(most));
        self.bound.upper = Some(upper);
        self.bound.lower = self.bound.lower.max(results.stack.lower);
        if self.bound.lower > self.bound.upper {
            let reason = format!("a run was to need {:?} bytes, and none needs more than {upper}", self.bound.lower);
            self.note_unknown("the bound", &Unknown::failed_self_check(reason));
            self.bound = StackBound::default();
        }
        self.look_at(results.survey.as_ref());
    }

    /// Takes a survey for the present one, unless a limit let it see less.
    fn look_at(&mut self, survey: Option<&Survey>) {
        let sees_less = |survey: &Survey| !survey.complete && survey.routines.len() < self.survey.routines.len();
        if let Some(survey) = survey.filter(|survey| !sees_less(survey)) {
            self.survey = survey.clone();
        }
    }

    /// Judges by the bounds, and finds the routines on the stack.
    fn conclude(&mut self, request: &Request<'_>) -> Result<(), PropertyError> {
        self.fit = self.judge();
        self.trace(request)
    }

    fn judge(&self) -> Fit {
        if self.run.as_ref().and_then(overflow).is_some() {
            return Fit::Overflows;
        }
        let room = u64::from(self.room.bytes());
        let needs = |bytes: u32| u64::from(bytes) + u64::from(self.margin);
        match self.bound {
            StackBound { upper: Some(upper), .. } if needs(upper) <= room => Fit::Fits,
            StackBound { lower: Some(lower), .. } if needs(lower) > room => Fit::Overflows,
            StackBound { .. } => Fit::Unknown,
        }
    }

    /// Finds the routines on the stack at the end of the run.
    fn trace(&mut self, request: &Request<'_>) -> Result<(), PropertyError> {
        self.chain = match &self.run {
            Some(run) => {
                let machine = machine(request)?;
                let places = Places::new(&machine, request.image, self.survey.entries.clone());
                let depth = self.run_depth().unwrap_or(0);
                chain(&places, &run.calls, run.end.pc, depth)
            }
            None => self.survey.deepest.clone(),
        };
        self.cycles_shown = if self.run.is_some() { cycles(&self.chain) } else { BTreeMap::new() };
        Ok(())
    }
}
