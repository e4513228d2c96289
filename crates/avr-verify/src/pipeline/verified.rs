//! The decision of the properties of a request, all together.

use super::confined::{confined, may_be_confined, seeks_closed_sets};
use super::goals::PropertyGoals;
use super::goals::{Bound, GoalTable, assumed, bind_property, notes};
use super::machine::machine;
use super::needed_predicates::keep_needed;
use super::observer::PropertyObserver;
use super::pass_timer::PassTimer;
use super::portfolio::{Decided, decide};
use super::property_groups::FewLooks;
use super::property_result::{Checked, Purpose, Work, proved};
use super::recoveries::{fairness_for, recovered};
use crate::assumptions::assumptions;
use crate::call_graph::{Seen, Survey};
use crate::cost::{Exploration, Stored};
use crate::diagnosis::root_cause;
use crate::diagnosis::subformulas::Effort;
use crate::early_results::EarlyResults;
use crate::invariants::Invariants;
use crate::request::{InvariantUse, Request};
use crate::results::{PropertyResult, Results, Verdict, not_denied};
use crate::stack_bound::StackBound;
use crate::stack_bound::{self, stack_spaces};
use avr_machine::HazardKind;
use avr_model::Firmware;
use avr_model::pass::Pass;
use avr_model::reduction::repeated_steps::StepCounts;
use avr_model::state::AbstractState;
use avr_properties::{AtomTable, Property, PropertyError, PropertyKind, StackLimit};
use cpu_time::ThreadTime;
use std::collections::{BTreeMap, BTreeSet};
use tvar::{Decision, Exhausted, Outcome, StateSpace, Undecided, Watch};

/// The same as [`crate::verify`], with explanations of all verdicts, whatever the work.
///
/// # Errors
/// As [`crate::verify`].
pub fn explained(request: &Request<'_>) -> Result<Results, PropertyError> {
    let request = request.with_all_states();
    let machine = machine(&request)?;
    let seeks_closed_sets = seeks_closed_sets(&request);
    let found = request.find_invariants(&machine);
    let request = request.with_invariants(found.as_ref());
    let properties = &request.file.properties;
    let mut recovered: Vec<Option<PropertyResult>> = match request.invariants {
        InvariantUse::Given(invariants) => {
            let recovered = |property| Some(recovered(&request, (&machine, invariants), property).ok()?.result);
            properties.iter().map(recovered).collect()
        }
        InvariantUse::Find | InvariantUse::Open(_) | InvariantUse::Off => properties.iter().map(|_| None).collect(),
    };
    let is_sought = |(property, found): (&Property, &Option<PropertyResult>)| {
        seeks_closed_sets && found.is_none() && may_be_confined(&request, property)
    };
    if properties.iter().zip(&recovered).any(is_sought) {
        let few = FewLooks::before_claims(request.watch);
        let short = Request { watch: &few, ..request };
        let short = verified(&short, (Effort::LITTLE, Purpose::Results), |_, _, results| results)?;
        for ((property, result), found) in properties.iter().zip(&short.properties).zip(&mut recovered) {
            if result.is_open() && is_sought((property, found)) {
                *found = confined(&request, &machine, property);
            }
        }
    }
    let few = FewLooks::before_claims(request.watch);
    let is_enough = |found: &Option<PropertyResult>| {
        found.as_ref().is_some_and(|found| !(request.strict && found.rests_on_choices()))
    };
    let is_known = !recovered.is_empty() && recovered.iter().all(is_enough);
    let request = if is_known { Request { watch: &few, ..request } } else { request };
    let mut results = verified(&request, (Effort::ALL, Purpose::Results), |_, _, results| results)?;
    for (result, recovered) in results.properties.iter_mut().zip(recovered) {
        if let Some(recovered) = recovered.filter(|recovered| result.is_open() || recovered.outweighs(result)) {
            *result = recovered;
        }
    }
    if let InvariantUse::Given(invariants) = request.invariants {
        let all = results.properties.iter_mut().zip(&request.file.properties);
        for (result, property) in all.filter(|(result, _)| result.verdict != Verdict::Holds) {
            result.notes.extend(fairness_for(&request, (&machine, invariants), property));
        }
    }
    Ok(results.after(found.as_ref()).checked())
}

/// The value that `extra` makes of the work on a request, the goals of each property, and the results.
pub(crate) fn verified<T>(
    request: &Request<'_>,
    (effort, purpose): (Effort, Purpose),
    extra: impl FnOnce(&Work<'_, '_>, &[Option<PropertyGoals>], Results) -> T,
) -> Result<T, PropertyError> {
    verified_while((request, request.watch), (effort, purpose), extra)
}

/// The same with a watch for the decisions alone.
pub(crate) fn verified_while<T>(
    (request, deciding): (&Request<'_>, &dyn Watch),
    (effort, purpose): (Effort, Purpose),
    extra: impl FnOnce(&Work<'_, '_>, &[Option<PropertyGoals>], Results) -> T,
) -> Result<T, PropertyError> {
    let machine = machine(request)?;
    let mut table = AtomTable::default();
    let known = EarlyResults::default();
    let known = &request.known.unwrap_or(&known).with_own_goals();
    let found = request.find_invariants(&machine);
    let used = request.with_invariants(found.as_ref()).invariants;
    let invariants = match used {
        InvariantUse::Given(invariants) => Some(invariants),
        InvariantUse::Find | InvariantUse::Open(_) | InvariantUse::Off => None,
    };
    let begun = ThreadTime::now();
    let mut asked = GoalTable { image: request.image, properties: Vec::new(), goals: Vec::new(), known };
    for property in &request.file.properties {
        // Where verdicts are to be explained, state spaces come first.
        let proving = invariants.filter(|_| effort != Effort::ALL);
        let bound = bind_property(request, property, (&mut table, proving), &mut asked.goals)?;
        if let (Bound::Proved { bound }, Some(invariants)) = (&bound, invariants) {
            let result = proved(property, bound, invariants);
            known.learn(asked.properties.len(), result, Vec::new());
        }
        asked.properties.push((property, bound));
    }
    let fairness: Vec<String> = asked.properties.iter().flat_map(assumed).collect();
    let atoms = table.atoms();
    let timer = PassTimer::new(deciding);
    let timed = Request { watch: &timer, invariants: used, ..*request };
    let Decided { mut firmware, mut observer, outcome } =
        decide(&timed, &machine, (atoms, &asked), purpose == Purpose::Certificate);
    let last_pass = timer.elapsed();
    let exploration = explored(&firmware, &outcome, begun, request.watch);
    let ways = asked.goals.iter().zip(&outcome.decisions).map(|(goal, decision)| {
        root_cause::way(&mut firmware, &observer.refined, goal, decision, &outcome.precision, request.watch)
    });
    let ways = ways.collect();
    let stack = bound((&firmware, &mut observer), (&outcome, invariants), request);
    let stacks =
        stack_bound::of_tasks(&firmware.model.context, &request.file.stacks, stack_spaces(&outcome), request.watch);
    let survey = survey(&mut firmware, (&outcome, invariants), request);
    keep_needed(&mut firmware, &mut observer, &outcome, request.watch);
    let work = Work {
        firmware: &firmware,
        observer: &observer,
        request,
        asked: &asked,
        outcome: &outcome,
        ways,
        effort,
        purpose,
        invariants,
    };
    let properties = asked.properties.iter().enumerate().map(|(number, (property, bound))| {
        let (goals, result) = work.result(property, bound);
        let result = work.or_proved((property, bound), result);
        let result = not_denied(known.or_known(number, result), stack);
        let notes = if result.notes.is_empty() { notes(bound) } else { result.notes.clone() };
        (goals, PropertyResult { notes, ..result })
    });
    let properties: Vec<Checked> = properties.collect();
    let goals_of: Vec<Option<PropertyGoals>> = properties.iter().map(|(goals, _)| *goals).collect();
    // The proof of a certificate is one of its own.
    let stack = match purpose {
        Purpose::Certificate => stack,
        Purpose::Results | Purpose::HardwareRuns => {
            stack.and(proved_bound(request, properties.iter().map(|(_, result)| result)))
        }
    };
    let results = Results {
        properties: properties.into_iter().map(|(_, result)| result).collect(),
        findings: known.findings(),
        stack,
        stacks,
        survey,
        ended_paths: ended_paths(&outcome),
        assumptions: [assumptions(request.file, request.start, request.device), fairness].concat(),
        interrupted: outcome.decisions.iter().any(was_interrupted),
        passes: outcome.passes,
        last_pass,
        exploration: Some(exploration),
        invariants: None,
        contracts: Vec::new(),
    };
    Ok(extra(&work, &goals_of, results.after(found.as_ref()).checked()))
}

/// The ends of paths, by the hazard: flash byte addresses of instructions.
fn ended_paths(outcome: &Outcome<Firmware<'_>>) -> BTreeMap<HazardKind, BTreeSet<u32>> {
    let mut ended: BTreeMap<HazardKind, BTreeSet<u32>> = BTreeMap::new();
    let spaces = outcome.decisions.iter().map(|decision| &decision.space).chain(&outcome.latest);
    for space in spaces {
        for end in space.ends() {
            if let AbstractState::Hazard { hazard, pc } = &space.states[*end as usize] {
                ended.entry(hazard.kind).or_default().insert(pc.byte().0);
            }
        }
    }
    ended
}

/// The cost of the exploration, which began then.
fn explored(
    firmware: &Firmware<'_>,
    outcome: &Outcome<Firmware<'_>>,
    begun: ThreadTime,
    watch: &dyn Watch,
) -> Exploration {
    let time = begun.elapsed();
    let latest = outcome.latest.as_ref().filter(|_| !watch.cancelled());
    let stored = latest.map(|space| Stored::of(space, &firmware.model.context.store));
    let StepCounts { taken, repeated, reused } = firmware.model.step_counts();
    Exploration { steps: taken, repeated, reused, time, stored }
}

fn was_interrupted(decision: &Decision<AbstractState>) -> bool {
    decision.undecided == Some(Undecided::Exhausted(Exhausted::Interrupted))
}

/// The stack bound. If the space alone does not tell a run as deep as any may be, random ones are tried, unless a limit
/// is reached.
fn bound<'f>(
    (firmware, observer): (&Firmware<'f>, &mut PropertyObserver<'f>),
    (outcome, invariants): (&Outcome<Firmware<'f>>, Option<&Invariants>),
    request: &Request<'_>,
) -> StackBound {
    let bounds = stack_spaces(outcome).map(|space| stack_bound::bound(&firmware.model.context, space, request.watch));
    let of_map = invariants.map(Invariants::stack_bound);
    let bound = bounds.chain(of_map).reduce(StackBound::and).unwrap_or_default();
    // Random runs do not know whether their last state is one from which every path ends.
    if bound.lower.is_some() && bound.lower == bound.upper || request.file.ends_paths() {
        return bound;
    }
    let is_limited = |decision: &Decision<_>| matches!(decision.undecided, Some(Undecided::Exhausted(_)));
    let goes_on = !outcome.decisions.iter().any(is_limited);
    let target = bound.upper.filter(|_| goes_on);
    bound.and(StackBound { lower: observer.sampled_depth(firmware, target, invariants, request.watch), upper: None })
}

/// The stack bound that properties which hold have proved, whatever became of the state spaces that others needed.
fn proved_bound<'a>(request: &Request<'_>, results: impl Iterator<Item = &'a PropertyResult>) -> StackBound {
    let proved = |(property, result): (&Property, &PropertyResult)| match property.kind() {
        // SOUND: on the paths that end, or that are not fair, nothing was proved.
        PropertyKind::Stack(StackLimit::MaxBytes(bytes)) if result.verdict == Verdict::Holds => {
            (property.under().is_empty() && !request.file.ends_paths()).then_some(*bytes)
        }
        _ => None,
    };
    // A limit beyond the data memory says nothing.
    let highest = u32::from(request.device.memory.sram_end.0);
    let proved = request.file.properties.iter().zip(results).filter_map(proved).min();
    StackBound { lower: None, upper: proved.filter(|bytes| *bytes < highest) }
}

/// The survey of the program: by a state space where one followed every path, else by invariants, else by the best state space.
fn survey(
    firmware: &mut Firmware<'_>,
    (outcome, invariants): (&Outcome<Firmware<'_>>, Option<&Invariants>),
    request: &Request<'_>,
) -> Option<Survey> {
    let seen = best_space(firmware, outcome);
    let survey = seen.and_then(|seen| Survey::new(&firmware.model.context, request.image, seen, request.watch));
    let Some(invariants) = invariants.filter(|_| !survey.as_ref().is_some_and(|survey| survey.complete)) else {
        return survey;
    };
    invariants.survey(&mut firmware.model.context, request.image, request.watch).or(survey)
}

/// The state space that tells most of the program: a complete one if there is one, else the most refined.
fn best_space<'a>(firmware: &'a Firmware<'_>, outcome: &'a Outcome<Firmware<'_>>) -> Option<Seen<'a>> {
    let followed = |space: &StateSpace<AbstractState>| space.is_complete() && space.hazards().is_empty();
    let latest = outcome.latest.iter().map(|space| (space, usize::MAX));
    // Of older spaces it is not known any more what was passed between their states.
    let decided = outcome.decisions.iter().map(|decision| (&decision.space, decision.refinements));
    let decided = decided.filter(|_| !firmware.model.passes.has(Pass::PathCompression));
    let (space, _) = decided.chain(latest).max_by_key(|(space, refinements)| (followed(space), *refinements))?;
    Some(Seen { space: Some(space), log: firmware.model.passes.skipped_paths() })
}
