//! Invariants of the whole program, found before any state space: properties that they prove, the stack bound, and a survey.
//!
//! `avr-invariant` finds a map and accepts it by its closing check. What it proves holds in every run (`docs/soundness.md`,
//! "Thread-modular invariants").

mod alarms;
mod closed_set;
mod distances;
mod eventuality;
mod guide;
mod moves;
mod recovery;
pub(crate) mod text;

use avr_image::{FlashByteAddress, Image};
use avr_invariant::{Analysis, Claims, Entry, Map, Move, Options, analyse_until};
use avr_isa::DataAddress;
use avr_machine::{FrameKind, Machine};
use avr_model::context::Context;
use avr_model::state::stack_depth;
use avr_properties::{Atom, BoundProperty, StateView};
use cpu_time::ThreadTime;
use mu_calculus::state_formula::{parts, truth};
use mu_calculus::{AtomId, NormalForm, strengthenings};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use three_valued::{Truth, TvByte};
use tvar::{Progress, Watch};

pub(crate) use alarms::Trial;
pub use alarms::{Alarm, AlarmKind, AlarmLine, Alarms, Dependence, DependenceKind};
pub(crate) use closed_set::{OnMachine, wanted};
pub(crate) use eventuality::Comes;
pub(crate) use guide::Claimed;
pub(crate) use recovery::{Recovery, SymbolicProof, may_be_proved};

use crate::call_graph::Survey;
use crate::diagnosis::vacuity::{self, MAX_TRIED, Vacuity, speaks_of_states_only};
use crate::stack_bound::StackBound;

/// The limits of the pass. They are in abstract steps, so that the answer does not depend on the machine that it is sought on.
const LIMITS: Options = Options { steps: 500_000, ..Options::DEFAULT };

/// The outcome of looking for invariants of the whole program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvariantsOutcome {
    /// The number of states of the map, if it is closed.
    pub states: Option<usize>,
    /// The number of abstract states from which steps were taken, with repetitions.
    pub steps: usize,
    /// The reasons why nothing follows, each with its place; none if something does. The first are named if there are many.
    pub open: Vec<String>,
    /// The alarms: the same reasons, as far as they have to do with the program, with what they depend on.
    pub alarms: Vec<Alarm>,
}

impl InvariantsOutcome {
    /// The reason why something is unknown, with the first alarm.
    #[must_use]
    pub fn with_alarm(&self, reason: &str) -> String {
        match self.alarms.as_slice() {
            [] => reason.to_owned(),
            [only] => format!("{reason}; an alarm keeps invariants from proving anything: {}", only.text),
            [first, rest @ ..] => {
                let count = rest.len();
                let more = if count == 1 { "one more".to_owned() } else { format!("{count} more") };
                format!("{reason}; alarms keep invariants from proving anything: {}, and {more}", first.text)
            }
        }
    }
}

/// The most reasons that are named.
const MOST_REASONS: usize = 4;

/// The result of looking for invariants.
#[derive(Debug)]
pub(crate) struct Sought {
    /// They, if something follows from them.
    pub(crate) found: Option<Invariants>,
    /// The alarms, if the map is open or has marks.
    pub(crate) alarms: Option<Alarms>,
    /// The outcome for reports.
    pub(crate) outcome: InvariantsOutcome,
    /// The CPU time that it took.
    pub(crate) cpu_time: Duration,
}

/// A closed map of a machine without a mark, with what follows from it.
#[derive(Debug)]
pub struct Invariants {
    map: Map,
    claims: Claims,
    moves: BTreeMap<Move, usize>,
    /// The time that it took to find them.
    time: Duration,
}

impl Sought {
    /// Looks for the invariants of a machine. There are none if no map of it is closed, a hazard is not excluded, or a limit is reached.
    pub(crate) fn look(machine: &Machine, image: &Image, watch: &dyn Watch) -> Self {
        let (started, begun) = (Instant::now(), ThreadTime::now());
        let is_over = || watch.cancelled() || watch.check(&Progress::default()).is_some();
        if is_over() {
            let open = vec!["a limit was reached before they were looked for".to_owned()];
            let outcome = InvariantsOutcome { states: None, steps: 0, open, alarms: Vec::new() };
            return Self { found: None, alarms: None, outcome, cpu_time: Duration::ZERO };
        }
        let Analysis { map, outcome, steps, moves, .. } = analyse_until(machine, &LIMITS, &is_over);
        let states = outcome.as_ref().ok().map(|claims| claims.states);
        let open = match &outcome {
            Ok(claims) => claims.marks.iter().map(|mark| text::mark(machine, image, mark)).take(MOST_REASONS).collect(),
            Err(gap) => vec![text::gap(machine, image, gap)],
        };
        let has_alarms = !outcome.as_ref().is_ok_and(Claims::has_no_hazard);
        let alarms = has_alarms.then(|| Alarms::new((machine, image), &map, &outcome));
        let claims = outcome.ok().filter(Claims::has_no_hazard);
        let found = claims.map(|claims| Invariants { map, claims, moves, time: started.elapsed() });
        let list = alarms.as_ref().map(|alarms| alarms.list.clone()).unwrap_or_default();
        let outcome = InvariantsOutcome { states, steps, open, alarms: list };
        Self { found, alarms, outcome, cpu_time: begun.elapsed() }
    }

    /// Looks for lines of the property file that remove alarms.
    pub(crate) fn find_lines(&mut self, trial: &Trial<'_>) {
        let begun = ThreadTime::now();
        if let Some(alarms) = &mut self.alarms {
            alarms.find_lines(trial, self.outcome.steps);
            self.outcome.alarms = alarms.list.clone();
        }
        self.cpu_time += begun.elapsed();
    }
}

impl Invariants {
    /// The time that it took to find them.
    pub(crate) fn time(&self) -> Duration {
        self.time
    }

    /// The map.
    pub(crate) fn map(&self) -> &Map {
        &self.map
    }

    /// The number of states.
    pub(crate) fn states(&self) -> usize {
        self.claims.states
    }

    /// The number of outcomes of the steps from them.
    pub(crate) fn outcomes(&self) -> usize {
        self.claims.outcomes
    }

    /// The depth that the stack exceeds in no run.
    pub(crate) fn stack_bound(&self) -> StackBound {
        StackBound { lower: None, upper: self.claims.stack_bound() }
    }

    /// True if a formula is `AG p`, and p is certainly true in every state of the map.
    pub(crate) fn prove(&self, atoms: &[Atom], formula: &NormalForm) -> bool {
        let Some(parts) = parts(formula, false) else { return false };
        self.map.entries.iter().all(|entry| {
            let view = View { map: &self.map, entry };
            let label = |atom: AtomId| atoms[atom.index()].evaluate(&view);
            parts.iter().all(|part| truth(formula, *part, &label).is_true())
        })
    }

    /// True if a property follows.
    pub(crate) fn prove_property(&self, atoms: &[Atom], bound: &BoundProperty) -> bool {
        // Under fairness or where paths may end, other formulas must be true as well.
        let has_conditions = bound.fairness().is_some() || bound.something_is_left().is_some();
        !has_conditions && bound.from_start(&bound.formula).is_ok_and(|formula| self.prove(atoms, &formula))
    }

    /// The largest part of a property that follows which may be replaced by what makes it say more.
    pub(crate) fn vacuity(&self, atoms: &[Atom], bound: &BoundProperty) -> Option<Vacuity> {
        let strengthened = || {
            if speaks_of_states_only(bound) || bound.observes_hazards {
                return None;
            }
            let candidates = strengthenings(&bound.formula, MAX_TRIED);
            let follows = |formula| bound.from_start(formula).is_ok_and(|formula| self.prove(atoms, &formula));
            let part = candidates.iter().position(|candidate| candidate.formulas.iter().all(follows))?;
            let found = &candidates[part];
            let subformula = vacuity::text(atoms, &found.subformula);
            Some(Vacuity { subformula, replaced_by: found.replaced_by, part: Some(part) })
        };
        strengthened().or_else(|| vacuity::always_true(bound))
    }

    /// The survey of the program.
    pub(crate) fn survey(&self, context: &mut Context<'_>, image: &Image, watch: &dyn Watch) -> Option<Survey> {
        let machine = context.machine;
        let depth = |entry: &Entry| stack_depth::depth(machine, &View { map: &self.map, entry });
        let log = moves::log((&self.map, &self.moves), image, &mut context.store, &depth);
        Survey::of_log(context, image, &log, watch)
    }
}

/// A state of a map as atoms see it.
struct View<'a> {
    map: &'a Map,
    entry: &'a Entry,
}

impl StateView for View<'_> {
    fn cell(&self, address: DataAddress) -> TvByte {
        self.map.store.cell(&self.entry.state.memory, address)
    }

    fn pc(&self) -> FlashByteAddress {
        self.entry.place.address()
    }

    fn stack_pointer_torn(&self) -> bool {
        self.entry.place.control.torn
    }

    fn stack(&self) -> u8 {
        self.entry.place.control.stack
    }

    fn interrupt_depth(&self) -> usize {
        // SOUND: the frames of what a handler interrupts are left out, so that there may be more; whether there are any is all that is asked.
        let frames = self.map.calls.frames(self.entry.place.calls).iter();
        frames.filter(|frame| matches!(frame.kind, FrameKind::Interrupt(_))).count()
    }

    fn sleeping(&self) -> Truth {
        Truth::from(self.entry.place.control.sleeping)
    }

    fn in_startup(&self) -> Truth {
        Truth::from(self.entry.place.control.in_startup)
    }

    fn hazard(&self) -> Truth {
        Truth::False
    }
}
