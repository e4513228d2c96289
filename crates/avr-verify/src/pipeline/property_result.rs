//! The result of one property.

use super::goals::{Bound, GoalTable, PropertyGoals, hazard_met, statistics, undecided};
use super::observer::PropertyObserver;
use super::pass_timer::aside;
use super::startup_remark;
use crate::diagnosis::root_cause::{Culprit, Way, culprit};
use crate::diagnosis::subformulas::{Effort, explain};
use crate::diagnosis::unknown_reason::reason;
use crate::diagnosis::{fairness, vacuity};
use crate::invariants::Invariants;
use crate::request::Request;
use crate::results::{PropertyResult, Statistics, Unknown, Verdict};
use avr_model::Firmware;
use avr_model::pass::Pass;
use avr_model::state::AbstractState;
use avr_properties::{BoundProperty, Property};
use avr_witness::{Evidence, Sampler, Search};
use three_valued::Truth;
use tvar::{Decision, Outcome};

/// The work that was done for the properties of a request.
pub(crate) struct Work<'a, 'f> {
    pub(crate) firmware: &'a Firmware<'f>,
    pub(crate) observer: &'a PropertyObserver<'f>,
    pub(crate) request: &'a Request<'a>,
    pub(crate) asked: &'a GoalTable<'a>,
    pub(crate) outcome: &'a Outcome<Firmware<'f>>,
    /// The way to what stands in the way of a decision, for each goal.
    pub(crate) ways: Vec<Option<Way>>,
    pub(crate) effort: Effort,
    pub(crate) purpose: Purpose,
    /// The invariants of the whole program, if there are any.
    pub(crate) invariants: Option<&'a Invariants>,
}

/// The purpose of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Results.
    Results,
    /// Results; where one is violated by a run that rests on the model, a run of the hardware is looked for as well.
    HardwareRuns,
    /// A certificate: what steps depend on is kept.
    Certificate,
}

/// The fewest and the most steps of a search for a run of the hardware. Between them it takes as many as the verification took.
const HARDWARE_STEPS: (u64, u64) = (200_000, 400_000);

/// A result, and the goals of its property if it could be checked.
pub(crate) type Checked = (Option<PropertyGoals>, PropertyResult);

/// The result of a property that invariants prove.
pub(crate) fn proved(property: &Property, bound: &BoundProperty, invariants: &Invariants) -> PropertyResult {
    let (states, transitions) = (invariants.states(), invariants.outcomes());
    let statistics = Statistics { refinements: 0, states, transitions, time: invariants.time() };
    PropertyResult {
        verdict: Verdict::Holds,
        methods: vec![Pass::Invariants],
        notes: bound.notes.clone(),
        ..undecided(property, bound.formula_text.clone(), Unknown::because(""), statistics)
    }
}

impl Work<'_, '_> {
    /// The result of a property, with its goals.
    pub(crate) fn result(&self, property: &Property, bound: &Bound) -> Checked {
        match bound {
            Bound::Checked { goals, bound } => (Some(*goals), self.checked(property, *goals, bound)),
            Bound::Proved { bound } => (None, self.proved(property, bound)),
            Bound::Unsupported { formula, reason } => {
                let unknown = Unknown::because(reason);
                (None, undecided(property, formula.clone(), unknown, Statistics::default()))
            }
        }
    }

    fn checked(&self, property: &Property, goals: PropertyGoals, bound: &BoundProperty) -> PropertyResult {
        let (firmware, request, goal) = (self.firmware, self.request, goals.formula);
        let context = &firmware.model.context;
        let decision = &self.outcome.decisions[goal];
        let unfair = goals.stays_fair.and_then(|fair| {
            let reason =
                fairness::in_doubt(context, (request.image, request.watch), bound, &self.outcome.decisions[fair])?;
            Some(Unknown { culprit: self.culprit(fair), ..Unknown::because(reason) })
        });
        let empty = || {
            let left = goals.something_is_left.filter(|_| decision.verdict.is_true())?;
            let reason = self.nothing_left(&self.outcome.decisions[left])?;
            Some(Unknown { culprit: self.culprit(left), ..Unknown::because(reason) })
        };
        if let Some(unknown) = unfair.or_else(empty) {
            return undecided(property, bound.formula_text.clone(), unknown, statistics(decision));
        }
        let late =
            || aside(|| avr_witness::find(&firmware.model.context, &self.asked.goals[goal], decision, request.watch));
        let search = self.observer.shown.get(&goal).map_or_else(late, |shown| shown.search.clone());
        let on_hardware = self.hardware_run(goal, &search);
        let met = on_hardware.as_ref().and_then(|run| hazard_met(firmware, request.image, run));
        let search = on_hardware.map_or(search, |run| Search::Found(Box::new(run)));
        let decided = (decision, self.verdict(goal));
        let predicates = self.observer.predicates.get(&goal).cloned().unwrap_or_default();
        let result = self.asked.result(firmware, (property, bound, goal), decided, (search, predicates));
        let result = PropertyResult { detail: met.or(result.detail), ..result };
        let shown = (result.evidence.as_ref(), self.ways[goal].as_ref());
        let explanation = explain(context, bound, decision, shown, (self.effort, request.watch));
        PropertyResult { vacuous: vacuity::find(context, request.watch, bound, decision), explanation, ..result }
    }

    /// The result that invariants prove, in the place of one that is open.
    pub(crate) fn or_proved(&self, (property, bound): (&Property, &Bound), result: PropertyResult) -> PropertyResult {
        let (Bound::Checked { bound, .. }, Verdict::Unknown(unknown)) = (bound, &result.verdict) else { return result };
        let atoms = self.firmware.model.context.atoms;
        let follows = !unknown.self_check_failed && self.invariants.is_some_and(|map| map.prove_property(atoms, bound));
        if follows { self.proved(property, bound) } else { result }
    }

    /// The result of a property that invariants prove.
    fn proved(&self, property: &Property, bound: &BoundProperty) -> PropertyResult {
        let invariants = self.invariants.expect("they prove it");
        let context = &self.firmware.model.context;
        let vacuous = invariants.vacuity(context.atoms, bound);
        let result = PropertyResult { vacuous, ..proved(property, bound, invariants) };
        let remark = startup_remark::remark((context.machine, context.atoms), (property, bound), &result);
        let notes = result.notes.iter().cloned().chain(remark).collect();
        PropertyResult { notes, ..result }
    }

    /// A run of the hardware that refutes a goal, if the run that shows it rests on the model and such a run is found soon.
    fn hardware_run(&self, goal: usize, search: &Search) -> Option<Evidence> {
        let decision = &self.outcome.decisions[goal];
        let on_model = match search {
            Search::Found(run) if !run.is_of_hardware() => Some(&**run),
            Search::Missing(_) => None,
            Search::Found(_) | Search::NotNeeded | Search::Failed(..) => return None,
        };
        if self.purpose != Purpose::HardwareRuns || !decision.verdict.is_false() || decision.robust {
            return None;
        }
        self.run_of_hardware(goal, on_model)
    }

    /// A run of the hardware that refutes a goal, if one is found soon; inputs of a run that rests on the model are likely ones.
    pub(crate) fn run_of_hardware(&self, goal: usize, on_model: Option<&Evidence>) -> Option<Evidence> {
        let context = &self.firmware.model.context;
        let (fewest, most) = HARDWARE_STEPS;
        let steps = self.firmware.model.step_counts().all().clamp(fewest, most);
        let (goal, watch) = (&self.asked.goals[goal], self.request.watch);
        aside(|| Sampler::default().on_hardware((context, watch), goal, on_model, steps))
    }

    /// The reason why a property that is true may be true of nothing: every path ends in a hazard that is allowed, or perhaps does.
    fn nothing_left(&self, decision: &Decision<AbstractState>) -> Option<String> {
        let left_out = "hazards that are allowed and after which nothing is defined, and nothing is left to speak of";
        match (decision.verdict, &decision.undecided) {
            // SOUND: only the certain answer will do.
            (Truth::True, _) => None,
            (Truth::Unknown, Some(undecided)) => {
                let cause = reason(&self.firmware.model.context, self.request.image, decision, undecided);
                Some(format!("perhaps every path ends in {left_out}: {cause}"))
            }
            _ => Some(format!("every path ends in {left_out}")),
        }
    }

    fn verdict(&self, goal: usize) -> Verdict {
        let decision = &self.outcome.decisions[goal];
        match (decision.verdict, &decision.undecided) {
            (Truth::True, _) => Verdict::Holds,
            (Truth::False, _) => Verdict::Violated,
            (Truth::Unknown, Some(undecided)) => {
                let reason = reason(&self.firmware.model.context, self.request.image, decision, undecided);
                Verdict::Unknown(Unknown { culprit: self.culprit(goal), ..Unknown::because(reason) })
            }
            (Truth::Unknown, None) => unreachable!("an unknown verdict comes with its reason"),
        }
    }

    fn culprit(&self, goal: usize) -> Option<Box<Culprit>> {
        culprit(&self.firmware.model.context, &self.outcome.decisions[goal], self.ways[goal].as_ref()).map(Box::new)
    }
}
