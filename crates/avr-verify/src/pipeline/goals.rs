//! The properties of a request with their goals, and the results that decisions of these goals come to.

use crate::diagnosis::unknown_reason::place;
use crate::early_results::EarlyResults;
use crate::invariants::Invariants;
use crate::pipeline::pass_timer::aside;
use crate::pipeline::specification_states::beside;
use crate::pipeline::startup_remark;
use crate::request::Request;
use crate::results::{Basis, PropertyResult, Statistics, Unknown, Verdict};
use avr_image::Image;
use avr_isa::FlashByteAddress;
use avr_model::Firmware;
use avr_model::pass::Pass;
use avr_model::predicates::UsedPredicate;
use avr_model::state::AbstractState;
use avr_properties::{AtomTable, BoundProperty, Property, PropertyError, bind, formula_text};
use avr_witness::{Evidence, Search};
use mu_calculus::{Choice, Node, NormalForm, Problem};
use std::collections::{BTreeSet, VecDeque};
use three_valued::Truth;
use tvar::{Decision, Goal, System, Undecided};

/// A property that was bound, or the reason why it cannot be checked.
#[derive(Debug)]
pub(crate) enum Bound {
    Checked {
        goals: PropertyGoals,
        bound: Box<BoundProperty>,
    },
    /// Invariants of the whole program prove it.
    Proved {
        bound: Box<BoundProperty>,
    },
    Unsupported {
        formula: String,
        reason: String,
    },
}

/// The properties that are asked of an image, with their goals.
#[derive(Debug)]
pub(crate) struct GoalTable<'a> {
    pub(crate) image: &'a Image,
    pub(crate) properties: Vec<(&'a Property, Bound)>,
    pub(crate) goals: Vec<Goal>,
    /// The early results, told as soon as they are there.
    pub(crate) known: &'a EarlyResults,
}

impl GoalTable<'_> {
    /// The result of a property whose goal has this decision, with what became of the search for a run.
    pub(crate) fn result(
        &self,
        firmware: &Firmware<'_>,
        (property, bound, goal): (&Property, &BoundProperty, usize),
        (decision, verdict): (&Decision<AbstractState>, Verdict),
        (search, predicates): (Search, Vec<UsedPredicate>),
    ) -> PropertyResult {
        let predicates = if decision.solution.is_some() { predicates } else { Vec::new() };
        let result = PropertyResult {
            verdict,
            detail: hazard_shown(firmware, self.image, &self.goals[goal], decision),
            basis: basis(decision),
            methods: methods(firmware, decision, &predicates),
            predicates,
            notes: bound.notes.clone(),
            ..undecided(property, bound.formula_text.clone(), Unknown::because(""), statistics(decision))
        };
        let result = beside(with_evidence(result, search), bound, firmware.model.context.atoms);
        let machine = firmware.model.context.machine;
        let remark = startup_remark::remark((machine, firmware.model.context.atoms), (property, bound), &result);
        let notes = result.notes.iter().cloned().chain(remark).collect();
        let result = PropertyResult { notes, ..result };
        let met = || hazard_met(firmware, self.image, result.evidence.as_ref()?);
        PropertyResult { detail: result.detail.clone().or_else(met), ..result }
    }

    /// Tells the results that the decision of a goal comes to, while other goals are open.
    pub(crate) fn tell(
        &self,
        firmware: &Firmware<'_>,
        number: usize,
        decision: &Decision<AbstractState>,
        search: &Search,
    ) {
        let verdict = match decision.verdict {
            Truth::True => Verdict::Holds,
            Truth::False => Verdict::Violated,
            Truth::Unknown => return,
        };
        self.known.decided(number, decision.verdict);
        for (place, (property, bound)) in self.properties.iter().enumerate() {
            if let Bound::Checked { goals, bound } = bound
                && goals.formula == number
            {
                let decided = (decision, verdict.clone());
                let shown = (search.clone(), firmware.model.passes.used_predicates());
                let result = aside(|| self.result(firmware, (property, bound, number), decided, shown));
                self.known.learn(place, result, goals.conditions(decision.verdict.is_true()).collect());
            }
        }
    }
}

/// A result without an answer.
pub(crate) fn undecided(
    property: &Property,
    formula: String,
    unknown: Unknown,
    statistics: Statistics,
) -> PropertyResult {
    PropertyResult {
        name: property.name().to_owned(),
        kind: property.kind().name().to_owned(),
        formula,
        verdict: Verdict::Unknown(unknown),
        detail: None,
        basis: Basis::Hardware,
        methods: Vec::new(),
        predicates: Vec::new(),
        recheck: None,
        statistics,
        evidence: None,
        evidence_missing: None,
        vacuous: None,
        explanation: None,
        notes: Vec::new(),
        promises: Vec::new(),
    }
}

/// A result with what became of the search for evidence. A run that does not show what it should takes the verdict away.
pub(crate) fn with_evidence(mut result: PropertyResult, search: Search) -> PropertyResult {
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
    goal: &Goal,
    decision: &Decision<AbstractState>,
) -> Option<String> {
    let solution = decision.solution.as_ref()?;
    if !goal.observes_hazards || !decision.verdict.is_false() {
        return None;
    }
    let space = &decision.space;
    let (graph, labels) = (
        space.graph(true),
        space.labels(firmware.model.context.atoms.len(), |state, atom| firmware.label(state, atom)),
    );
    let problem = Problem { graph: &graph, labels: &labels, formula: &goal.formula };
    let mut waiting = VecDeque::from([(graph.initial(), goal.formula.root())]);
    let mut seen = BTreeSet::new();
    while let Some((state, node)) = waiting.pop_front() {
        if !seen.insert((state.index(), node.index())) {
            continue;
        }
        if let found @ AbstractState::Hazard { hazard, .. } = &space.states[state.index()] {
            return Some(format!("{hazard} {}", place(&firmware.model.context, image, found)));
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

/// The hazard that a run ends with, and its place.
pub(crate) fn hazard_met(firmware: &Firmware<'_>, image: &Image, run: &Evidence) -> Option<String> {
    let hazard = run.end.hazard?;
    let state = AbstractState::Hazard { pc: FlashByteAddress(run.end.pc).word(), hazard };
    Some(format!("{hazard} {}", place(&firmware.model.context, image, &state)))
}

/// The passes that took part: those of the system, or a random run where no state space decided.
fn methods(firmware: &Firmware<'_>, decision: &Decision<AbstractState>, predicates: &[UsedPredicate]) -> Vec<Pass> {
    match decision.solution {
        Some(_) => {
            let used = if predicates.is_empty() { None } else { Some(Pass::Predicates) };
            let mut all: Vec<Pass> = firmware.model.passes.list().into_iter().chain(used).collect();
            all.sort_unstable();
            all
        }
        None => vec![Pass::RandomSearch],
    }
}

fn basis(decision: &Decision<AbstractState>) -> Basis {
    if decision.robust { Basis::Hardware } else { Basis::Model }
}

pub(crate) fn statistics(decision: &Decision<AbstractState>) -> Statistics {
    // Where a limit ended the work, the last space may only just have been begun.
    let is_stopped = matches!(decision.undecided, Some(Undecided::Exhausted(_)));
    Statistics {
        refinements: decision.refinements,
        states: if is_stopped { decision.largest.states } else { decision.space.states.len() },
        transitions: decision.space.transitions(),
        time: decision.time,
    }
}

/// The goals of a property, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PropertyGoals {
    /// The goal of its formula.
    pub(crate) formula: usize,
    /// Under fairness, the goal that every state has a fair path.
    pub(crate) stays_fair: Option<usize>,
    /// The goal that some path does not end, where paths may end. A violated property needs no such proof: a path that
    /// violates it never ends.
    pub(crate) something_is_left: Option<usize>,
}

impl PropertyGoals {
    /// The goals that must be true for a verdict to stand, besides that of the formula.
    pub(crate) fn conditions(self, holds: bool) -> impl Iterator<Item = usize> {
        self.stays_fair.into_iter().chain(self.something_is_left.filter(|_| holds))
    }
}

pub(crate) fn bind_property(
    request: &Request<'_>,
    property: &Property,
    (table, invariants): (&mut AtomTable, Option<&Invariants>),
    goals: &mut Vec<Goal>,
) -> Result<Bound, PropertyError> {
    match bind(property, &request.file.definitions, &request.binding(), table) {
        Ok(bound) if invariants.is_some_and(|map| map.prove_property(table.atoms(), &bound)) => {
            Ok(Bound::Proved { bound: Box::new(bound) })
        }
        Ok(bound) => {
            let formula = match bound.from_start(&bound.formula) {
                Ok(formula) => formula,
                Err(error) => return not_checked(request, property, error),
            };
            goals.push(Goal { formula, observes_hazards: bound.observes_hazards });
            let formula = goals.len() - 1;
            let stays_fair = bound.stays_fair().map(|formula| added(goals, formula, false));
            let something_is_left =
                bound.something_is_left().map(|formula| added(goals, formula, bound.observes_hazards));
            let goals = PropertyGoals { formula, stays_fair, something_is_left };
            Ok(Bound::Checked { goals, bound: Box::new(bound) })
        }
        Err(error) => not_checked(request, property, error),
    }
}

/// A property that is understood and is not checked.
///
/// # Errors
/// The error, where the property is wrong.
fn not_checked(request: &Request<'_>, property: &Property, error: PropertyError) -> Result<Bound, PropertyError> {
    match error.undecided() {
        Some(reason) => Ok(Bound::Unsupported {
            formula: formula_text(property, &request.file.definitions, &request.binding()),
            reason,
        }),
        None => Err(error),
    }
}

/// The number of a goal, which is new if there is none like it.
fn added(goals: &mut Vec<Goal>, formula: NormalForm, observes_hazards: bool) -> usize {
    let is_there = |goal: &Goal| goal.observes_hazards == observes_hazards && goal.formula == formula;
    goals.iter().position(is_there).unwrap_or_else(|| {
        goals.push(Goal { formula, observes_hazards });
        goals.len() - 1
    })
}

/// The assumptions of a property on the paths that it speaks of.
pub(crate) fn assumed((property, bound): &(&Property, Bound)) -> Vec<String> {
    let Bound::Checked { bound, .. } = bound else { return Vec::new() };
    crate::assumptions::assumed(property, bound)
}

/// Remarks on the reading of a property's names.
pub(crate) fn notes(bound: &Bound) -> Vec<String> {
    match bound {
        Bound::Checked { bound, .. } | Bound::Proved { bound } => bound.notes.clone(),
        Bound::Unsupported { .. } => Vec::new(),
    }
}
