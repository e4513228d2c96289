//! Verifying the properties of one image.

use crate::assumptions::assumptions;
use crate::certificate::{Advised, Claimed, PropertyText, certificate};
use crate::culprit::{self, Culprit, Way, culprit};
use crate::evidence::{self, Search};
use crate::explain::{Effort, explain};
use crate::fairness;
use crate::result::{Basis, PropertyResult, Results, StackBound, Statistics, Unknown, Verdict};
use crate::setup;
use crate::stack;
use crate::state::AbstractState;
use crate::survey::Survey;
use crate::system::Firmware;
use crate::vacuity;
use avr_certificate::Certificate;
use avr_image::Image;
use avr_machine::Machine;
use avr_machine::device::Device;
use avr_properties::{
    Atom, AtomTable, Binding, BoundProperty, Property, PropertyError, PropertyFile, PropertyKind, bind, formula_text,
};
use mu_calculus::{AtomId, Choice, Formula, Modality, Node, NormalForm, Problem, TranslateError};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use three_valued::Truth;
use tvar::{Blame, Decision, Exhausted, Goal, Outcome, StateSpace, Strategy, System, Undecided, Watch};

/// What is to be verified.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The firmware.
    pub image: &'a Image,
    /// The device that it runs on.
    pub device: &'static Device,
    /// Flash byte address of the first instruction, if it is not what the property file or the fuses say.
    pub start: Option<u32>,
    /// The properties and everything else that the property file says.
    pub file: &'a PropertyFile,
    /// The content of the EEPROM as far as it is known, by address.
    pub eeprom: &'a BTreeMap<u16, u8>,
    /// How to begin.
    pub strategy: Strategy,
    /// Whether interrupts may be looked at only where they can be seen, for properties that allow it.
    pub reduces_interrupts: bool,
    /// Limits and progress.
    pub watch: &'a dyn Watch,
}

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
    verified(request, (Effort::LITTLE, true), |work, goals, found| {
        let claims: Vec<Claimed> = goals.iter().zip(&found.properties).map(claimed).collect();
        results(found);
        certificate(work.firmware, request, text, (work.goals, work.outcome), &claims)
    })
}

/// What is claimed of a property, and the goals that prove it.
fn claimed((goals, result): (&Option<PropertyGoals>, &PropertyResult)) -> Claimed {
    let (goal, goes_on) = (*goals)?;
    match &result.verdict {
        Verdict::Unknown(_) => None,
        verdict => Some((*verdict == Verdict::Holds, goal, goes_on)),
    }
}

/// The same as [`verify`], with explanations of all verdicts, whatever the work.
///
/// # Errors
/// As [`verify`].
pub fn explained(request: &Request<'_>) -> Result<Results, PropertyError> {
    verified(request, (Effort::ALL, false), |_, _, results| results)
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
    let (mut firmware, outcome) = decide(request, &machine, (atoms, &goals), advised);
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
        survey: best_space(&outcome).and_then(|space| Survey::new(&firmware, request.image, space, request.watch)),
        assumptions: [assumptions(request.file, request.start, request.device), fairness].concat(),
        interrupted: outcome.decisions.iter().any(was_interrupted),
        passes: outcome.passes,
    };
    Ok(extra(&work, &goals_of, results))
}

/// Decides goals over atoms; with `advised`, what steps depend on is kept for a certificate.
fn decide<'m>(
    request: &Request<'_>,
    machine: &'m Machine,
    (atoms, goals): (&'m [Atom], &[Goal]),
    advised: bool,
) -> (Firmware<'m>, Outcome<Firmware<'m>>) {
    let decided = |mut firmware: Firmware<'m>| {
        let outcome = tvar::verify(&mut firmware, atoms.len(), goals, request.strategy, request.watch);
        (firmware, outcome)
    };
    // A certificate is checked step by step: it needs every order of interrupts.
    if !advised && allows_reduction(request) {
        let (firmware, outcome) = decided(Firmware::new(machine, atoms).with_reduced_interrupts());
        // What only the order of interrupts can show is looked for where every order is.
        let is_stuck = |decision: &Decision<_>| matches!(decision.undecided, Some(Undecided::Stuck { .. }));
        if !outcome.decisions.iter().any(is_stuck) || request.watch.cancelled() {
            return (firmware, outcome);
        }
    }
    let mut firmware = Firmware::new(machine, atoms);
    firmware.advised = advised.then(Advised::default);
    decided(firmware)
}

/// Whether the properties speak of nothing but hazards and how deep the stack gets.
fn allows_reduction(request: &Request<'_>) -> bool {
    let speaks_of_more = |property: &Property| {
        !matches!(property.kind(), PropertyKind::Inherent | PropertyKind::Stack(_)) || !property.under().is_empty()
    };
    request.reduces_interrupts
        && request.strategy == Strategy::Default
        && !request.file.properties.iter().any(speaks_of_more)
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
        let result = with_evidence(result, search.unwrap_or_else(late));
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

/// What stood in the way, and how far it got.
pub(crate) fn reason(
    firmware: &Firmware<'_>,
    image: &Image,
    decision: &Decision<AbstractState>,
    undecided: &Undecided<AbstractState>,
) -> String {
    match undecided {
        Undecided::Exhausted(limit) => format!(
            "{limit}, with {} states reached, {} of them expanded, after {} refinements",
            decision.space.states.len(),
            decision.space.expanded,
            decision.refinements
        ),
        Undecided::Stuck { path, blame, .. } => {
            let last = path.last().expect("a path has a state");
            format!("{} {}, and no refinement removes it", cause(firmware, last, *blame), place(firmware, image, last))
        }
    }
}

pub(crate) fn cause(firmware: &Firmware<'_>, state: &AbstractState, blame: Blame) -> String {
    match (blame, state) {
        (_, AbstractState::Hazard { hazard, .. }) => format!("what comes after the hazard {hazard} is not defined"),
        (_, AbstractState::Limit { limit, .. }) => limit.to_string(),
        (Blame::Atom(atom), _) => format!("'{}' is unknown", firmware.atoms[atom.index()]),
        (Blame::Edge(_), _) => "the next state depends on an unknown stored value".to_owned(),
        (Blame::Sink, _) => "the path was not followed further".to_owned(),
    }
}

/// Where a state is, as the engineer knows it.
pub(crate) fn place(firmware: &Firmware<'_>, image: &Image, state: &AbstractState) -> String {
    let pc = match state {
        AbstractState::Hazard { pc, .. } | AbstractState::Limit { pc, .. } => Some(*pc),
        AbstractState::Running(_) | AbstractState::Dummy => firmware.location(state).pc(),
    };
    let Some(pc) = pc else { return "before the start".to_owned() };
    let address = avr_image::FlashByteAddress(pc * 2);
    let function = image.symbols.function_at(address).map(|located| located.symbol.display_name().to_owned());
    let line = image.source_line(address).map(|line| format!("{}:{}", line.file, line.line));
    let named = [function.map(|name| format!("in {name}")), line].into_iter().flatten();
    let detail: Vec<String> = named.collect();
    match detail.is_empty() {
        true => format!("at {:#06x}", pc * 2),
        false => format!("at {:#06x} ({})", pc * 2, detail.join(", ")),
    }
}

/// The stack bound, from the most refined state space that decided something and from the one that was built last.
fn stack_bound(firmware: &Firmware<'_>, outcome: &Outcome<Firmware<'_>>, watch: &dyn Watch) -> StackBound {
    let refined = outcome.decisions.iter().max_by_key(|decision| decision.refinements).map(|decision| &decision.space);
    let latest = outcome.latest.as_ref().filter(|latest| refined.is_none_or(|refined| !Arc::ptr_eq(latest, refined)));
    let bounds = refined.into_iter().chain(latest).map(|space| stack::bound(firmware, space, watch));
    bounds.reduce(StackBound::and).unwrap_or_default()
}

/// The state space that tells most of the program: a complete one if there is one, else the most refined.
fn best_space<'a>(outcome: &'a Outcome<Firmware<'_>>) -> Option<&'a StateSpace<AbstractState>> {
    let followed = |space: &StateSpace<AbstractState>| space.is_complete() && space.hazards().is_empty();
    let decided = outcome.decisions.iter().map(|decision| (&decision.space, decision.refinements));
    let latest = outcome.latest.iter().map(|space| (space, usize::MAX));
    let best = decided.chain(latest).max_by_key(|(space, refinements)| (followed(space), *refinements));
    best.map(|(space, _)| &**space)
}
