//! The comparison of one image: runs of libsimavr against the space that was built for it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use avr_isa::DataAddress;
use avr_machine::HazardKind;
use avr_machine::device::{BitKind, Condition, Device};
use avr_verify::{Exhausted, Explored, Fits, Progress, Request, Shown, Strategy, Watch, explored};
use three_valued::{ByteDomain, TvByte};

use crate::hazards::Watcher;
use crate::runs::{Manner, State, run};
use crate::subjects::{Selection, Subject};

/// The extent of the comparison of each image.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The most states of a space.
    pub states: usize,
    /// Runs, each with a seed of its own.
    pub runs: u64,
    /// States of each run; it goes on until it comes to a covered one.
    pub steps: u32,
}

impl Effort {
    /// About a minute for all regressions and a third of the samples.
    pub const SHORT: Self = Self { states: 20_000, runs: 3, steps: 1_500 };
    /// The same for generated programs, which are small.
    pub const GENERATED: Self = Self { states: 20_000, runs: 2, steps: 3_000 };
    /// The long comparison.
    pub const FULL: Self = Self { states: 30_000, runs: 3, steps: 3_000 };
}

/// After so many states that are left out a run must have come to a covered one. A handler that samples a byte of a software serial port runs for
/// 7,000 instructions.
const MOST_LEFT_OUT: u32 = 10_000;

/// The result of a comparison.
pub struct Report {
    /// The image.
    pub name: String,
    /// The reductions of its space.
    pub selection: Selection,
    /// True if its space was finished, so that it says anything.
    pub is_finished: bool,
    /// States that are covered.
    pub literal: usize,
    /// Path compression, on the way to covered ones.
    pub on_the_way: usize,
    /// States that are neither.
    pub lost: usize,
    /// The ends of runs that consist of them: for each how many, and the first difference.
    pub ends: Vec<String>,
    /// The errors, one for each run at most.
    pub problems: Vec<String>,
}

/// A limit on states.
struct StateLimit(usize);

impl Watch for StateLimit {
    fn check(&self, progress: &Progress) -> Option<Exhausted> {
        (progress.states > self.0).then_some(Exhausted::Interrupted)
    }

    fn cancelled(&self) -> bool {
        false
    }
}

/// Compares runs with the space of an image.
///
/// # Panics
/// If the verifier refuses the image, or files cannot be written.
#[must_use]
pub fn compare(runner: &Path, subject: &Subject, selection: Selection, effort: Effort) -> Report {
    let selection = selection.made_for(subject);
    let mut report = Report {
        name: subject.name.clone(),
        selection,
        is_finished: false,
        literal: 0,
        on_the_way: 0,
        lost: 0,
        ends: Vec::new(),
        problems: Vec::new(),
    };
    let device = subject.device;
    let watch = StateLimit(effort.states);
    let Selection { reductions, facts, naive } = selection;
    let strategy = if naive { Strategy::Naive } else { Strategy::default() };
    let usual = Request::of(&subject.image, device, &subject.file);
    let request = Request { reductions, facts, strategy, watch: &watch, ..usual };
    let looked = explored(&request, |space, results| {
        let Some(space) = space else { return };
        report.is_finished = true;
        for seed in 1..=effort.runs {
            // An interrupt between the halves of SP is rare, so kernels are interrupted often.
            let often = if subject.world.stacks.is_empty() { [0, 40, 9] } else { [0, 9, 2] };
            let every = often[seed as usize % 3];
            let manner = Manner { seed, every, steps: effort.steps + MOST_LEFT_OUT };
            let tasks = results.stacks.iter().map(|task| task.bound.upper);
            let uppers = std::iter::once(results.stack.upper).chain(tasks).collect();
            let mut one = OneRun::new(space, subject, &mut report, (uppers, effort.steps), device);
            run(runner, subject, manner, |state| one.look(state));
            one.end(manner);
        }
    });
    looked.unwrap_or_else(|error| panic!("{}: {error}", subject.name));
    report
}

/// One run that is looked at.
struct OneRun<'a, 'b> {
    space: &'a Explored<'a>,
    report: &'a mut Report,
    device: &'static Device,
    subject: &'b Subject,
    watcher: Watcher<'b>,
    hazards: BTreeSet<HazardKind>,
    /// The bounds of the stacks, of the main one first.
    uppers: Vec<Option<u32>>,
    /// True if some path of the space touches memory through SP where that is a hazard.
    may_overflow: bool,
    /// The number of states that are still to be looked at.
    to_go: u32,
    /// The number of states that were looked at.
    looked: u32,
    /// The states of the space that covered states of the run, each with the number of the latest such state.
    latest: BTreeMap<u32, u32>,
    /// States since the last covered one.
    left_out: usize,
    /// The first difference in them.
    first: String,
    problem: Option<String>,
    is_over: bool,
    /// The place of the state before.
    before: u32,
}

impl<'a, 'b> OneRun<'a, 'b> {
    fn new(
        space: &'a Explored<'a>,
        subject: &'b Subject,
        report: &'a mut Report,
        (uppers, to_go): (Vec<Option<u32>>, u32),
        device: &'static Device,
    ) -> Self {
        let watcher = Watcher::new(subject);
        let hazards = space.hazards();
        let may_overflow =
            [HazardKind::StackOutsideSram, HazardKind::StackIntoData].iter().any(|kind| hazards.contains(kind));
        Self {
            space,
            report,
            device,
            subject,
            watcher,
            hazards,
            uppers,
            may_overflow,
            to_go,
            looked: 0,
            latest: BTreeMap::new(),
            left_out: 0,
            first: String::new(),
            problem: None,
            is_over: false,
            before: 0,
        }
    }

    /// Looks at a state; whether the run goes on.
    fn look(&mut self, state: &State) -> bool {
        let committed = self.watcher.look(state);
        let is_there = |kind: &HazardKind| match self.report.selection.is_literal() {
            true => [self.before, state.pc].iter().any(|at| self.space.has_hazard(*kind, *at)),
            false => self.hazards.contains(kind),
        };
        if let Some(missing) = committed.iter().find(|kind| !is_there(kind)) {
            self.problem =
                Some(format!("(c) a run commits {missing} before {:#06x}, which the space does not have", state.pc));
            return false;
        }
        if !committed.is_empty() {
            // Nothing is promised from here on.
            self.is_over = true;
            return false;
        }
        let depths = self.watcher.deepest.iter().zip(&self.uppers).enumerate();
        let exceeded = depths.filter_map(|(stack, (deepest, upper))| upper.map(|upper| (stack, *deepest, upper)));
        if let Some((stack, deepest, upper)) = { exceeded }.find(|(_, deepest, upper)| upper < deepest) {
            self.problem = Some(format!("(b) stack {stack} is {deepest} bytes deep, and the bound is {upper}"));
            return false;
        }
        let device = self.device;
        let fits: Fits<'_> = &|address, cell, byte| fits(device, address.0, cell, byte);
        let calls = self.watcher.calls(state).into_iter().map(|(position, at)| (DataAddress(position), at));
        let calls: Vec<_> = calls.collect();
        let shown = Shown {
            pc: state.pc,
            data: &state.data,
            eeprom: &state.eeprom,
            sleeping: state.sleeping,
            handlers: self.watcher.handlers(state),
            stack: self.watcher.stack(),
            calls: &calls,
        };
        let before = std::mem::replace(&mut self.before, state.pc);
        self.to_go = self.to_go.saturating_sub(1);
        if self.is_followed(&shown, fits) {
            self.report.literal += 1;
            self.report.on_the_way += self.left_out;
            self.left_out = 0;
            return self.to_go > 0 && !self.subject.world.has_ended(state.pc);
        }
        if UNSEEN.iter().any(|kind| self.space.has_hazard(*kind, before)) {
            self.is_over = true;
            return false;
        }
        let is_judged = self.report.selection.leaves_interrupts_only() && !self.may_overflow && state.handlers == 0;
        if is_judged && self.space.must_cover(&shown) {
            let difference = self.space.difference(&shown, fits);
            self.problem = Some(format!(
                "(a) no state covers one where interrupts are looked at: at {:#06x}: {difference}",
                state.pc
            ));
            return false;
        }
        if self.left_out == 0 {
            self.first = format!("at {:#06x}: {}", state.pc, self.space.difference(&shown, fits));
        }
        self.left_out += 1;
        // In an application of which nothing is known the run stays where it is, so it does not come to another state.
        let is_last = self.subject.world.has_ended(state.pc);
        if self.report.selection.is_literal() || is_last || self.left_out > MOST_LEFT_OUT as usize {
            self.problem = Some(format!("(a) a state is not covered {}", self.first));
            return false;
        }
        true
    }

    /// True if some state covers the present one. Unless interrupts are deferred (partial-order reduction), a
    /// transition must lead to it from one that covered an earlier state: the one before, or one from which the states
    /// since then are skipped.
    fn is_followed(&mut self, shown: &Shown<'_>, fits: Fits<'_>) -> bool {
        let covering = self.space.covering(shown, fits);
        if self.report.selection.reductions.interrupts {
            return !covering.is_empty();
        }
        let most = if self.report.selection.is_literal() { 1 } else { MOST_LEFT_OUT };
        self.looked += 1;
        let followed: Vec<u32> = match self.looked {
            1 => covering,
            _ => {
                self.latest.retain(|_, at| self.looked - *at <= most);
                let successors: BTreeSet<u32> =
                    self.latest.keys().flat_map(|state| self.space.successors(*state)).collect();
                covering.into_iter().filter(|state| successors.contains(state)).collect()
            }
        };
        self.latest.extend(followed.iter().map(|state| (*state, self.looked)));
        !followed.is_empty()
    }

    /// Notes what came of the run.
    fn end(self, manner: Manner) {
        if self.is_over {
            // The states that are left out before a hazard lead to its sink.
            self.report.on_the_way += self.left_out;
        } else {
            // A run that libsimavr gives up has not come back either.
            self.report.lost += self.left_out;
            if self.left_out > 0 {
                let Manner { seed, every, .. } = manner;
                let end = format!("seed {seed} every {every}: {} states at the end, {}", self.left_out, self.first);
                self.report.ends.push(end);
            }
        }
        if let Some(problem) = self.problem {
            self.report.problems.push(format!("seed {} every {}: {problem}", manner.seed, manner.every));
        }
    }
}

/// The I/O registers that libsimavr has otherwise than the data sheet, or of which it knows nothing: name, and why.
const SIMAVR: [(&str, &str); 2] = [
    ("WDTCSR", "the change-enable bit and WDE are kept otherwise (section \"Watchdog Timer\")"),
    ("WDTCR", "likewise, where it has this name"),
];

/// Hazards that a run in libsimavr does not show: it goes on as if nothing was. Where the space has such a sink at the instruction before, the
/// run is not looked at any further.
pub(crate) const UNSEEN: [HazardKind; 10] = [
    HazardKind::ReservedOpcode,
    HazardKind::OutsideMemory,
    HazardKind::ReservedRegister,
    HazardKind::ReservedBitWrite,
    HazardKind::UndefinedPointerUse,
    HazardKind::SelfProgramming,
    HazardKind::InterruptsUnavailable,
    HazardKind::BadInterrupt,
    HazardKind::SleepForEver,
    HazardKind::WatchdogSequence,
];

/// True for registers, SP, SREG and SRAM, which software alone changes.
pub(crate) fn is_exact(device: &Device, address: u16) -> bool {
    let cell = DataAddress(address);
    !device.is_io_area(cell) || (0x5d..=0x5f).contains(&address) && device.register_at(cell).is_some()
}

/// True if a byte of libsimavr is one that a cell may stand for. Of I/O registers only what software alone changes is
/// exact: hardware may have set a flag since, or ended a pulse, and the model does not say so before software looks.
pub(crate) fn fits(device: &Device, address: u16, cell: TvByte, byte: u8) -> bool {
    if is_exact(device, address) {
        return cell.contains(byte);
    }
    let Some(register) = device.register_at(DataAddress(address)) else { return true };
    let is_ignored = SIMAVR.iter().any(|(name, _)| *name == register.name);
    let bits = cell.bits();
    (0..8).zip(&register.bits).all(|(bit, what)| {
        let (known, value, shown) =
            (bits.known_mask() >> bit & 1 == 1, bits.value() >> bit & 1 == 1, byte >> bit & 1 == 1);
        if !known || value == shown || is_ignored {
            return true;
        }
        match &what.kind {
            BitKind::Plain => false,
            BitKind::Flag(flag) => !value && flag.raised_while != Condition::Never,
            BitKind::Pulse(pulse) => value || pulse.raised_while != Condition::Never,
            BitKind::ReadOnly | BitKind::Reserved | BitKind::Input(_) | BitKind::Strobe | BitKind::Window(_) => true,
        }
    })
}
