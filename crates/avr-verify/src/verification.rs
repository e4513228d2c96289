//! Verifying the properties of one image.

use crate::apart;
use crate::asked::{Asked, Bound, statistics, undecided};
use crate::assumptions::assumptions;
use crate::certificate::{Claimed, PropertyText, certificate};
use crate::compression::Compression;
use crate::culprit::{self, Culprit, Way, culprit};
use crate::decide::{Decided, decide};
use crate::evidence;
use crate::explain::{Effort, explain};
use crate::exploration::{Exploration, Stored};
use crate::fairness;
use crate::hardware::on_hardware;
use crate::known::Known;
use crate::last_pass::PassTimer;
use crate::observer::PropertyObserver;
use crate::reason::reason;
use crate::request::{Reductions, Request};
use crate::result::{PropertyResult, Results, StackBound, Statistics, Unknown, Verdict};
use crate::setup;
use crate::stack;
use crate::state::AbstractState;
use crate::survey::{Seen, Survey};
use crate::system::Firmware;
use crate::vacuity;
use avr_certificate::Certificate;
use avr_machine::HazardKind;
use avr_properties::{AtomTable, BoundProperty, Property, PropertyError, bind, formula_text};
use cpu_time::ThreadTime;
use mu_calculus::NormalForm;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use three_valued::Truth;
use tvar::{Decision, Exhausted, Goal, Outcome, StateSpace, Strategy, Undecided, Watch};

/// Verifies the properties of an image.
///
/// # Errors
/// When a property speaks of something that does not exist; what cannot be decided is no error.
pub fn verify(request: &Request<'_>) -> Result<Results, PropertyError> {
    apart::verify(request)
}

/// Verifies the properties of an image all together.
///
/// # Errors
/// As [`verify`].
pub(crate) fn verified_together(request: &Request<'_>) -> Result<Results, PropertyError> {
    let results = verified(request, (Effort::LITTLE, false), |_, _, results| results)?;
    on_hardware(request, results)
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
        certificate(work.firmware, request, text, (&work.asked.goals, work.outcome), (&claims, stack))
    })
}

/// What is claimed of a property, and the goals that prove it.
fn claimed((goals, result): (&Option<PropertyGoals>, &PropertyResult)) -> Claimed {
    let vacuous = result.vacuous.as_ref().and_then(|vacuity| vacuity.part);
    match (*goals, &result.verdict) {
        (None, _) | (_, Verdict::Unknown(_)) => Claimed::Nothing,
        (Some(goals), verdict) => Claimed::Decided { holds: *verdict == Verdict::Holds, goals, vacuous },
    }
}

/// Adds what is decided with something left out or by runs at random and not without, as far as a limit leaves time for it.
fn add_unproved(request: &Request<'_>, found: &mut Results, claims: &mut [Claimed]) {
    let is_open = |result: &PropertyResult| matches!(result.verdict, Verdict::Unknown(_));
    if request.strategy != Strategy::Default || !found.properties.iter().any(is_open) || request.watch.cancelled() {
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
        let why = &unknown.reason;
        *claim = Claimed::Unproved(match &reduced.evidence {
            Some(_) => format!("a run shows it, and no proof was found, because {why}"),
            None => format!("it was decided with {}, for which {why}", left_out(request.reductions)),
        });
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
    observer: &'a PropertyObserver<'f>,
    pub(crate) request: &'a Request<'a>,
    pub(crate) asked: &'a Asked<'a>,
    pub(crate) outcome: &'a Outcome<Firmware<'f>>,
    /// For each goal the way to what stands in the way of a decision.
    pub(crate) ways: Vec<Option<Way>>,
    effort: Effort,
}

/// The goals of a property, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PropertyGoals {
    /// That of its formula.
    pub(crate) formula: usize,
    /// Under fairness, that every state has a fair path.
    pub(crate) stays_fair: Option<usize>,
    /// Where paths may end, that some path does not. A violated property needs no such proof: a path that violates it never ends.
    pub(crate) something_is_left: Option<usize>,
}

impl PropertyGoals {
    /// The goals that must be true for a verdict to stand, besides that of the formula.
    pub(crate) fn conditions(self, holds: bool) -> impl Iterator<Item = usize> {
        self.stays_fair.into_iter().chain(self.something_is_left.filter(|_| holds))
    }
}

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
    let known = Known::default();
    let known = request.known.unwrap_or(&known);
    let mut asked = Asked { image: request.image, properties: Vec::new(), goals: Vec::new(), known };
    for property in &request.file.properties {
        let bound = bind_property(request, property, &mut table, &mut asked.goals)?;
        asked.properties.push((property, bound));
    }
    let fairness: Vec<String> = asked.properties.iter().flat_map(assumed).collect();
    let atoms = table.atoms();
    let timer = PassTimer::new(request.watch);
    let timed = Request { watch: &timer, ..*request };
    let begun = ThreadTime::now();
    let Decided { mut firmware, mut observer, outcome } = decide(&timed, &machine, (atoms, &asked), advised);
    let last_pass = timer.elapsed();
    let exploration = explored(&firmware, &outcome, begun, request.watch);
    let ways = asked.goals.iter().zip(&outcome.decisions).map(|(goal, decision)| {
        culprit::way(&mut firmware, &observer, goal, decision, &outcome.precision, request.watch)
    });
    let ways = ways.collect();
    let stack = stack_bound((&firmware, &mut observer), &outcome, request);
    let work =
        Work { firmware: &firmware, observer: &observer, request, asked: &asked, outcome: &outcome, ways, effort };
    let properties = asked.properties.iter().enumerate().map(|(number, (property, bound))| {
        let (goals, result) = work.result(property, bound);
        let result = not_denied(known.or_known(number, result), stack);
        (goals, PropertyResult { notes: notes(bound), ..result })
    });
    let properties: Vec<Checked> = properties.collect();
    let goals_of: Vec<Option<PropertyGoals>> = properties.iter().map(|(goals, _)| *goals).collect();
    let results = Results {
        properties: properties.into_iter().map(|(_, result)| result).collect(),
        stack: if stack.is_contradictory() { StackBound::default() } else { stack },
        survey: best_space(&firmware, &outcome)
            .and_then(|seen| Survey::new(&firmware, request.image, seen, request.watch)),
        ended_paths: ended_paths(&outcome),
        assumptions: [assumptions(request.file, request.start, request.device), fairness].concat(),
        interrupted: outcome.decisions.iter().any(was_interrupted),
        passes: outcome.passes,
        last_pass,
        exploration: Some(exploration),
    };
    Ok(extra(&work, &goals_of, results))
}

/// Remarks on the reading of a property's names.
fn notes(bound: &Bound) -> Vec<String> {
    match bound {
        Bound::Checked { bound, .. } => bound.notes.clone(),
        Bound::Unsupported { .. } => Vec::new(),
    }
}

/// Where paths end, by the hazard: flash byte addresses of instructions.
fn ended_paths(outcome: &Outcome<Firmware<'_>>) -> BTreeMap<HazardKind, BTreeSet<u32>> {
    let mut ended: BTreeMap<HazardKind, BTreeSet<u32>> = BTreeMap::new();
    let spaces = outcome.decisions.iter().map(|decision| &decision.space).chain(&outcome.latest);
    for space in spaces {
        for end in space.ends() {
            if let AbstractState::Hazard { hazard, pc } = &space.states[*end as usize] {
                ended.entry(hazard.kind).or_default().insert(pc * 2);
            }
        }
    }
    ended
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
fn assumed((property, bound): &(&Property, Bound)) -> Vec<String> {
    let Bound::Checked { bound, .. } = bound else { return Vec::new() };
    let texts = bound.fairness().into_iter().flat_map(|fairness| &fairness.texts);
    texts.map(|text| format!("fairness, for '{}' only: {text}", property.name())).collect()
}

fn bind_property(
    request: &Request<'_>,
    property: &Property,
    table: &mut AtomTable,
    goals: &mut Vec<Goal>,
) -> Result<Bound, PropertyError> {
    match bind(property, &request.file.definitions, &request.binding(), table) {
        Ok(bound) => {
            let formula = match bound.from_start(&bound.formula) {
                Ok(formula) => formula,
                Err(error) => return not_checked(request, property, error),
            };
            goals.push(Goal { formula, sees_hazards: bound.sees_hazards });
            let formula = goals.len() - 1;
            let stays_fair = bound.stays_fair().map(|formula| added(goals, formula, false));
            let something_is_left = bound.something_is_left().map(|formula| added(goals, formula, bound.sees_hazards));
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
        Some(reason) => {
            Ok(Bound::Unsupported { formula: formula_text(property, request.device, request.image), reason })
        }
        None => Err(error),
    }
}

/// The number of a goal, which is new if there is none like it.
fn added(goals: &mut Vec<Goal>, formula: NormalForm, sees_hazards: bool) -> usize {
    let is_there = |goal: &Goal| goal.sees_hazards == sees_hazards && goal.formula == formula;
    goals.iter().position(is_there).unwrap_or_else(|| {
        goals.push(Goal { formula, sees_hazards });
        goals.len() - 1
    })
}

impl Work<'_, '_> {
    /// The result of a property, with its goals.
    fn result(&self, property: &Property, bound: &Bound) -> Checked {
        match bound {
            Bound::Checked { goals, bound } => (Some(*goals), self.checked(property, *goals, bound)),
            Bound::Unsupported { formula, reason } => {
                let unknown = Unknown::because(reason);
                (None, undecided(property, formula.clone(), unknown, Statistics::default()))
            }
        }
    }

    fn checked(&self, property: &Property, goals: PropertyGoals, bound: &BoundProperty) -> PropertyResult {
        let (firmware, request, goal) = (self.firmware, self.request, goals.formula);
        let decision = &self.outcome.decisions[goal];
        let unfair = goals.stays_fair.and_then(|fair| {
            let reason = fairness::in_doubt(firmware, request, bound, &self.outcome.decisions[fair])?;
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
        let late = || evidence::find(firmware, &self.asked.goals[goal], decision, request.watch);
        let search = self.observer.shown.get(&goal).map_or_else(late, |shown| shown.search.clone());
        let decided = (decision, self.verdict(goal));
        let result = self.asked.result(firmware, (property, bound, goal), decided, search);
        let shown = (result.evidence.as_ref(), self.ways[goal].as_ref());
        let explanation = explain(firmware, bound, decision, shown, (self.effort, request.watch));
        PropertyResult { vacuous: vacuity::find(firmware, request, bound, decision), explanation, ..result }
    }

    /// The reason why a property that is true may be true of nothing: every path ends in a hazard that is allowed, or perhaps does.
    fn nothing_left(&self, decision: &Decision<AbstractState>) -> Option<String> {
        let left_out = "hazards that are allowed and after which nothing is defined, and nothing is left to speak of";
        match (decision.verdict, &decision.undecided) {
            // SOUND: only the certain answer will do.
            (Truth::True, _) => None,
            (Truth::Unknown, Some(undecided)) => {
                let cause = reason(self.firmware, self.request.image, decision, undecided);
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

fn was_interrupted(decision: &Decision<AbstractState>) -> bool {
    decision.undecided == Some(Undecided::Exhausted(Exhausted::Interrupted))
}

/// A result, unless it holds by a state space whose stack bound a run has exceeded.
pub(crate) fn not_denied(result: PropertyResult, stack: StackBound) -> PropertyResult {
    if result.verdict != Verdict::Holds || !stack.is_contradictory() {
        return result;
    }
    let StackBound { lower, upper } = stack;
    let reason =
        format!("a run needs {} bytes of stack and the proof allows {}", lower.unwrap_or(0), upper.unwrap_or(0));
    PropertyResult { verdict: Verdict::Unknown(Unknown::failed_self_check(reason)), ..result }
}

/// The stack bound. Where the space alone does not tell a run that is as deep as any may be, some are tried at random, unless
/// a limit is reached.
fn stack_bound<'f>(
    (firmware, observer): (&Firmware<'f>, &mut PropertyObserver<'f>),
    outcome: &Outcome<Firmware<'f>>,
    request: &Request<'_>,
) -> StackBound {
    let bounds = stack_spaces(outcome).map(|space| stack::bound(firmware, space, request.watch));
    let bound = bounds.reduce(StackBound::and).unwrap_or_default();
    // Runs at random do not know whether their last state is one from which every path ends.
    if bound.lower.is_some() && bound.lower == bound.upper || request.file.ends_paths() {
        return bound;
    }
    let is_limited = |decision: &Decision<_>| matches!(decision.undecided, Some(Undecided::Exhausted(_)));
    let goes_on = !outcome.decisions.iter().any(is_limited);
    bound.and(StackBound { lower: observer.sampled_depth(firmware, bound.upper, goes_on, request.watch), upper: None })
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

#[cfg(test)]
mod tests {
    use super::not_denied;
    use crate::random_programs::{LONG, results};
    use crate::request::Reductions;
    use crate::result::{PropertyResult, Recheck, Results, StackBound, Unknown, Verdict};

    #[test]
    fn a_proof_that_a_run_denies_proves_nothing() {
        // `rjmp .-2` stays where it is.
        let found = results(&[0xcfff], &["Inherent()", "AG (pc != 0)"], Reductions::NONE, LONG);
        assert_eq!(found.properties[0].verdict, Verdict::Holds);
        for result in found.properties {
            let exact = StackBound { lower: Some(4), upper: Some(4) };
            assert_eq!(not_denied(result.clone(), exact), result);
            let denied = not_denied(result.clone(), StackBound { lower: Some(5), upper: Some(4) });
            match (&result.verdict, &denied.verdict) {
                (Verdict::Holds, Verdict::Unknown(unknown)) => assert!(unknown.self_check_failed),
                _ => assert_eq!(denied, result),
            }
        }
    }
    #[test]
    fn results_that_are_decided_again_agree_or_fail() {
        // `nop; rjmp .-4` gets to its second instruction.
        let first = results(&[0x0000, 0xcffe], &["Inherent()", "AG (pc != 2)"], Reductions::NONE, LONG);
        let verdicts =
            |results: &Results| results.properties.iter().map(|result| result.verdict.clone()).collect::<Vec<_>>();
        assert_eq!(verdicts(&first), [Verdict::Holds, Verdict::Violated]);
        let same = first.clone().rechecked(&first);
        assert_eq!(verdicts(&same), verdicts(&first));
        assert!(same.properties.iter().all(|result| result.recheck == Some(Recheck::Agrees)));

        let mut open = first.clone();
        open.properties[0].verdict = Verdict::Unknown(Unknown::because("a limit"));
        for checked in [first.clone().rechecked(&open), open.rechecked(&first)] {
            assert_eq!(checked.properties[0].recheck, Some(Recheck::Undecided));
            assert_eq!(checked.properties[1].recheck, Some(Recheck::Agrees));
        }

        let fails = |result: &PropertyResult| matches!(&result.verdict, Verdict::Unknown(why) if why.self_check_failed);
        let mut swapped = first.clone();
        swapped.properties[0].verdict = Verdict::Violated;
        swapped.properties[1].verdict = Verdict::Holds;
        let checked = first.clone().rechecked(&swapped);
        assert!(checked.properties.iter().all(|result| fails(result) && result.recheck.is_none()));

        let mut deeper = first.clone();
        deeper.stack = StackBound { lower: Some(9), upper: None };
        let checked = first.rechecked(&deeper);
        assert!(fails(&checked.properties[0]) && checked.stack == StackBound::default());
    }
}
