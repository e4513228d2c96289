//! Verifying the properties of one image.

use crate::assumptions::assumptions;
use crate::certificate::{Claimed, PropertyText, certificate};
use crate::compression::Compression;
use crate::culprit::{self, Culprit, Way, culprit};
use crate::decide::{allows_reduction, decide};
use crate::evidence::{self, Search};
use crate::explain::{Effort, explain};
use crate::exploration::{Exploration, Stored};
use crate::fairness;
use crate::last_pass::PassTimer;
use crate::reason::{place, reason};
use crate::request::{Reductions, Request};
use crate::result::{Basis, PropertyResult, Results, StackBound, Statistics, Unknown, Verdict};
use crate::setup;
use crate::stack;
use crate::state::AbstractState;
use crate::survey::{Seen, Survey};
use crate::system::Firmware;
use crate::vacuity;
use avr_certificate::Certificate;
use avr_image::Image;
use avr_properties::{AtomTable, Binding, BoundProperty, Property, PropertyError, PropertyKind, bind, formula_text};
use cpu_time::ThreadTime;
use mu_calculus::{AtomId, Choice, Formula, Modality, Node, NormalForm, Problem, TranslateError};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use three_valued::Truth;
use tvar::{Decision, Exhausted, Goal, Outcome, StateSpace, System, Undecided, Watch};

/// A property that was bound, or the reason why it cannot be checked.
enum Bound {
    Checked { goal: usize, bound: Box<BoundProperty>, goes_on: Option<usize> },
    Unsupported { formula: String, reason: String },
}

/// Verifies the properties of an image.
///
/// # Errors
/// When a property speaks of something that does not exist; what cannot be decided is no error.
pub fn verify(request: &Request<'_>) -> Result<Results, PropertyError> {
    verified(request, (Effort::LITTLE, false), |_, _, results| results)
}

/// Verifies the properties of an image, hands the results over, and writes down the proofs of those that are decided, which
/// takes time of its own. The text must be what the properties of the request were read from.
///
/// # Errors
/// As [`verify`].
pub fn certify(
    request: &Request<'_>,
    text: &PropertyText,
    results: impl FnOnce(Results),
) -> Result<Certificate, PropertyError> {
    verified(request, (Effort::LITTLE, true), |work, goals, mut found| {
        let mut claims: Vec<Claimed> = goals.iter().zip(&found.properties).map(claimed).collect();
        let stack = found.stack;
        add_unproved(request, &mut found, &mut claims);
        results(found);
        certificate(work.firmware, request, text, (work.goals, work.outcome), (&claims, stack))
    })
}

/// What is claimed of a property, and the goals that prove it.
fn claimed((goals, result): (&Option<PropertyGoals>, &PropertyResult)) -> Claimed {
    let vacuous = result.vacuous.as_ref().map(|vacuity| vacuity.part);
    match (*goals, &result.verdict) {
        (None, _) | (_, Verdict::Unknown(_)) => Claimed::Nothing,
        (Some((goal, goes_on)), verdict) => {
            Claimed::Decided { holds: *verdict == Verdict::Holds, goal, goes_on, vacuous }
        }
    }
}

/// Adds what is decided with something left out and not without, as far as a limit leaves time for it.
fn add_unproved(request: &Request<'_>, found: &mut Results, claims: &mut [Claimed]) {
    let is_open = |result: &PropertyResult| matches!(result.verdict, Verdict::Unknown(_));
    if !allows_reduction(request) || !found.properties.iter().any(is_open) || request.watch.cancelled() {
        return;
    }
    let Ok(reduced) = verify(request) else { return };
    let pairs = found.properties.iter_mut().zip(reduced.properties).zip(claims);
    for ((result, reduced), claim) in pairs {
        let (Verdict::Unknown(unknown), Verdict::Holds | Verdict::Violated) = (&result.verdict, &reduced.verdict)
        else {
            continue;
        };
        if unknown.self_check_failed {
            continue;
        }
        let (left_out, why) = (left_out(request.reductions), &unknown.reason);
        *claim = Claimed::Unproved(format!("it was decided with {left_out}, for which {why}"));
        *result = reduced;
    }
    found.stack = found.stack.and(reduced.stack);
    found.survey = found.survey.take().or(reduced.survey);
}

/// What was looked at instead of all that a proof needs, and what that is.
fn left_out(reductions: Reductions) -> &'static str {
    match (reductions.interrupts, reductions.paths) {
        (true, true) => {
            "interrupts only where they can be seen and states only where something is decided, and a proof needs all of both"
        }
        (true, false) => "interrupts only where they can be seen, and a proof needs them wherever they can come",
        (false, _) => "states only where something is decided, and a proof needs all of them",
    }
}

/// The same as [`verify`], with explanations of all verdicts, whatever the work.
///
/// # Errors
/// As [`verify`].
pub fn explained(request: &Request<'_>) -> Result<Results, PropertyError> {
    verified(&request.with_all_states(), (Effort::ALL, false), |_, _, results| results)
}

/// What was done for the properties of a request.
pub(crate) struct Work<'a, 'f> {
    pub(crate) firmware: &'a Firmware<'f>,
    pub(crate) request: &'a Request<'a>,
    pub(crate) goals: &'a [Goal],
    pub(crate) outcome: &'a Outcome<Firmware<'f>>,
    /// For each goal the way to what stands in the way of a decision.
    pub(crate) ways: Vec<Option<Way>>,
    effort: Effort,
}

/// The goals of a property: that of its formula and, under fairness, that every state has a fair path.
pub(crate) type PropertyGoals = (usize, Option<usize>);

/// A result, and the goals of its property if it could be checked.
pub(crate) type Checked = (Option<PropertyGoals>, PropertyResult);

/// What `extra` makes of the work on a request, the goals of each property, and the results. With `advised`, what steps
/// depend on is kept for a certificate.
pub(crate) fn verified<T>(
    request: &Request<'_>,
    (effort, advised): (Effort, bool),
    extra: impl FnOnce(&Work<'_, '_>, &[Option<PropertyGoals>], Results) -> T,
) -> Result<T, PropertyError> {
    let machine = setup::machine(request)?;
    let mut table = AtomTable::default();
    let mut goals = Vec::new();
    let mut bound = Vec::new();
    for property in &request.file.properties {
        bound.push(bind_property(request, property, &mut table, &mut goals)?);
    }
    let fairness: Vec<String> = bound.iter().zip(&request.file.properties).flat_map(assumed).collect();
    let atoms = table.atoms();
    let timer = PassTimer::new(request.watch);
    let timed = Request { watch: &timer, ..*request };
    let begun = ThreadTime::now();
    let (mut firmware, outcome) = decide(&timed, &machine, (atoms, &goals), advised);
    let last_pass = timer.elapsed();
    let exploration = explored(&firmware, &outcome, begun, request.watch);
    let ways = goals
        .iter()
        .zip(&outcome.decisions)
        .map(|(goal, decision)| culprit::way(&mut firmware, goal, decision, &outcome.precision, request.watch));
    let ways = ways.collect();
    let work = Work { firmware: &firmware, request, goals: &goals, outcome: &outcome, ways, effort };
    let properties = request.file.properties.iter().zip(bound);
    let properties: Vec<Checked> = properties.map(|(property, bound)| work.result(property, bound)).collect();
    let goals_of: Vec<Option<PropertyGoals>> = properties.iter().map(|(goals, _)| *goals).collect();
    let results = Results {
        properties: properties.into_iter().map(|(_, result)| result).collect(),
        stack: stack_bound(&firmware, &outcome, request.watch),
        survey: best_space(&firmware, &outcome)
            .and_then(|seen| Survey::new(&firmware, request.image, seen, request.watch)),
        assumptions: [assumptions(request.file, request.start, request.device), fairness].concat(),
        interrupted: outcome.decisions.iter().any(was_interrupted),
        passes: outcome.passes,
        last_pass,
        exploration: Some(exploration),
    };
    Ok(extra(&work, &goals_of, results))
}

/// What it took to explore, which began then.
fn explored(
    firmware: &Firmware<'_>,
    outcome: &Outcome<Firmware<'_>>,
    begun: ThreadTime,
    watch: &dyn Watch,
) -> Exploration {
    let time = begun.elapsed();
    let latest = outcome.latest.as_ref().filter(|_| !watch.cancelled());
    let stored = latest.map(|space| Stored::of(space, &firmware.store));
    Exploration { steps: firmware.workspace.state.steps, time, stored }
}

/// What a property assumes of the paths that it speaks of.
fn assumed((bound, property): (&Bound, &Property)) -> Vec<String> {
    let Bound::Checked { bound, .. } = bound else { return Vec::new() };
    let texts = bound.fairness.iter().flat_map(|fairness| &fairness.texts);
    texts.map(|text| format!("fairness, for '{}' only: {text}", property.name())).collect()
}

fn bind_property(
    request: &Request<'_>,
    property: &Property,
    table: &mut AtomTable,
    goals: &mut Vec<Goal>,
) -> Result<Bound, PropertyError> {
    let binding = Binding { device: request.device, image: request.image };
    match bind(property, &request.file.definitions, &binding, table) {
        Ok(bound) => {
            let checked = bound.restricted(&bound.formula)?;
            goals.push(goal(property, &checked));
            let goal = goals.len() - 1;
            let goes_on = bound.fairness.as_ref().map(|fairness| fairness::goal(fairness, goals));
            Ok(Bound::Checked { goal, bound: Box::new(bound), goes_on })
        }
        Err(error) => match error.unsupported() {
            Some(unsupported) => {
                Ok(Bound::Unsupported { formula: formula_text(property, &binding), reason: unsupported.to_string() })
            }
            None => Err(error),
        },
    }
}

/// The goal of a property: its formula after the first step, in which the initial content is chosen. A property holds
/// if it holds for every initial content.
fn goal(property: &Property, checked: &Formula<AtomId>) -> Goal {
    let formula = after_start(checked).expect("a bound formula translates, and so does []p");
    Goal { formula, sees_hazards: *property.kind() == PropertyKind::Inherent }
}

/// A formula about what comes after the first step.
pub(crate) fn after_start(formula: &Formula<AtomId>) -> Result<NormalForm, TranslateError> {
    NormalForm::new(&Formula::Modal(Modality::Box, Box::new(formula.clone())))
}

impl Work<'_, '_> {
    /// The result of a property, with its goals.
    fn result(&self, property: &Property, bound: Bound) -> Checked {
        match bound {
            Bound::Checked { goal, bound, goes_on } => {
                (Some((goal, goes_on)), self.checked(property, goal, &bound, goes_on))
            }
            Bound::Unsupported { formula, reason } => {
                (None, undecided(property, formula, Unknown::because(reason), Statistics::default()))
            }
        }
    }

    fn checked(
        &self,
        property: &Property,
        goal: usize,
        bound: &BoundProperty,
        goes_on: Option<usize>,
    ) -> PropertyResult {
        let (firmware, request, goals) = (self.firmware, self.request, self.goals);
        let decision = &self.outcome.decisions[goal];
        let unfair = goes_on.and_then(|fair| {
            let reason = fairness::in_doubt(firmware, request, bound, &self.outcome.decisions[fair])?;
            Some(Unknown { culprit: self.culprit(fair), ..Unknown::because(reason) })
        });
        if let Some(unknown) = unfair {
            return undecided(property, bound.formula_text.clone(), unknown, statistics(decision));
        }
        let result = PropertyResult {
            name: property.name().to_owned(),
            kind: property.kind().name().to_owned(),
            formula: bound.formula_text.clone(),
            verdict: self.verdict(goal),
            vacuous: vacuity::find(firmware, request, bound, decision),
            detail: hazard_shown(firmware, request.image, goals, goal, decision),
            basis: basis(decision),
            statistics: statistics(decision),
            evidence: None,
            evidence_missing: None,
            explanation: None,
        };
        let search = firmware.shown.borrow_mut().remove(&goal);
        let late = || evidence::find(firmware, &goals[goal], decision, request.watch);
        let result = with_evidence(result, search.map_or_else(late, |(search, _)| search));
        let shown = (result.evidence.as_ref(), self.ways[goal].as_ref());
        let explanation = explain(firmware, bound, decision, shown, (self.effort, request.watch));
        PropertyResult { explanation, ..result }
    }

    fn verdict(&self, goal: usize) -> Verdict {
        let decision = &self.outcome.decisions[goal];
        match (decision.verdict, &decision.undecided) {
            (Truth::True, _) => Verdict::Holds,
            (Truth::False, _) => Verdict::Violated,
            (Truth::Unknown, Some(undecided)) => {
                let reason = reason(self.firmware, self.request.image, decision, undecided);
                Verdict::Unknown(Unknown { culprit: self.culprit(goal), ..Unknown::because(reason) })
            }
            (Truth::Unknown, None) => unreachable!("an unknown verdict comes with its reason"),
        }
    }

    fn culprit(&self, goal: usize) -> Option<Box<Culprit>> {
        culprit(self.firmware, &self.outcome.decisions[goal], self.ways[goal].as_ref()).map(Box::new)
    }
}

/// A result without an answer.
fn undecided(property: &Property, formula: String, unknown: Unknown, statistics: Statistics) -> PropertyResult {
    PropertyResult {
        name: property.name().to_owned(),
        kind: property.kind().name().to_owned(),
        formula,
        verdict: Verdict::Unknown(unknown),
        detail: None,
        basis: Basis::Hardware,
        statistics,
        evidence: None,
        evidence_missing: None,
        vacuous: None,
        explanation: None,
    }
}

/// A result with what became of the search for evidence. A run that does not show what it should takes the verdict away.
fn with_evidence(mut result: PropertyResult, search: Search) -> PropertyResult {
    match search {
        Search::NotNeeded => {}
        Search::Found(evidence) => {
            if evidence.is_of_hardware() {
                result.basis = Basis::Hardware;
            }
            result.evidence = Some(*evidence);
        }
        Search::Missing(reason) => result.evidence_missing = Some(reason),
        Search::Failed(reason, case) => {
            let reason = format!("the verdict failed its replay: {reason}");
            result.verdict = Verdict::Unknown(Unknown::failed_self_check(reason));
            result.detail = None;
            result.evidence = case.map(|case| *case);
        }
    }
    result
}

/// The hazard that a violated inherent property certainly runs into, and its place: the nearest one on the moves that
/// refute the property.
fn hazard_shown(
    firmware: &Firmware<'_>,
    image: &Image,
    goals: &[Goal],
    goal: usize,
    decision: &Decision<AbstractState>,
) -> Option<String> {
    let (goal, solution) = (&goals[goal], decision.solution.as_ref()?);
    if !goal.sees_hazards || !decision.verdict.is_false() {
        return None;
    }
    let space = &decision.space;
    let (graph, labels) =
        (space.graph(true), space.labels(firmware.atoms.len(), |state, atom| firmware.label(state, atom)));
    let problem = Problem { graph: &graph, labels: &labels, formula: &goal.formula };
    let mut waiting = VecDeque::from([(graph.initial(), goal.formula.root())]);
    let mut seen = BTreeSet::new();
    while let Some((state, node)) = waiting.pop_front() {
        if !seen.insert((state.index(), node.index())) {
            continue;
        }
        if let found @ AbstractState::Hazard { hazard, .. } = &space.states[state.index()] {
            return Some(format!("{hazard} {}", place(firmware, image, found)));
        }
        match (goal.formula.node(node), solution.choice(&problem, state, node)) {
            (Node::Modal(_, next), Some(Choice::Edge(edge))) => {
                waiting.extend(graph.edge(state, edge).iter().map(|member| (*member, next)));
            }
            (Node::Modal(_, next), _) => waiting.extend(graph.may(state).iter().map(|member| (*member, next))),
            (_, Some(Choice::Child(child))) => waiting.push_back((state, child)),
            (other, _) => waiting.extend(other.children().iter().map(|child| (state, *child))),
        }
    }
    None
}

fn basis(decision: &Decision<AbstractState>) -> Basis {
    if decision.robust { Basis::Hardware } else { Basis::Model }
}

fn statistics(decision: &Decision<AbstractState>) -> Statistics {
    Statistics {
        refinements: decision.refinements,
        states: decision.space.states.len(),
        transitions: decision.space.transitions(),
        time: decision.time,
    }
}

fn was_interrupted(decision: &Decision<AbstractState>) -> bool {
    decision.undecided == Some(Undecided::Exhausted(Exhausted::Interrupted))
}

/// The stack bound.
fn stack_bound(firmware: &Firmware<'_>, outcome: &Outcome<Firmware<'_>>, watch: &dyn Watch) -> StackBound {
    let bounds = stack_spaces(outcome).map(|space| stack::bound(firmware, space, watch));
    bounds.reduce(StackBound::and).unwrap_or_default()
}

/// Where the stack bound comes from: the most refined state space that decided something and the one that was built last.
pub(crate) fn stack_spaces<'a>(
    outcome: &'a Outcome<Firmware<'_>>,
) -> impl Iterator<Item = &'a Arc<StateSpace<AbstractState>>> {
    let refined = outcome.decisions.iter().max_by_key(|decision| decision.refinements).map(|decision| &decision.space);
    let latest = outcome.latest.as_ref().filter(|latest| refined.is_none_or(|refined| !Arc::ptr_eq(latest, refined)));
    refined.into_iter().chain(latest)
}

/// The state space that tells most of the program: a complete one if there is one, else the most refined.
fn best_space<'a>(firmware: &'a Firmware<'_>, outcome: &'a Outcome<Firmware<'_>>) -> Option<Seen<'a>> {
    let followed = |space: &StateSpace<AbstractState>| space.is_complete() && space.hazards().is_empty();
    let latest = outcome.latest.iter().map(|space| (space, usize::MAX));
    // Of older spaces it is not known any more what was passed between their states.
    let decided = outcome.decisions.iter().map(|decision| (&decision.space, decision.refinements));
    let decided = decided.filter(|_| firmware.compression.is_none());
    let (space, _) = decided.chain(latest).max_by_key(|(space, refinements)| (followed(space), *refinements))?;
    Some(Seen { space, log: firmware.compression.as_ref().map(Compression::passed) })
}
