//! The comparison of two images: each sequence of events of a new one is one of an old one.
//!
//! An automaton A is read off the abstract state space of the old image. Nothing of that is trusted: the new image conforms to A
//! (`Conforms`, by traces), and the old image can do all that A does (a formula). Both together prove that the sequences are
//! included. If the old image conforms to A as well, a run of the new image that A does not have is a difference. Where one of the
//! two is missing, the state space is refined, and A is read off again (`docs/decisions/0035-comparison.md`).

mod claim;
mod events;
mod limit;

use crate::assumptions::assumptions;
use crate::findings::verify;
use crate::request::{Reductions, Request};
use crate::results::{Basis, PropertyResult, Results, Unknown, Verdict};
use crate::state_graph::{GraphNode, NodeKind, StateGraph, graph};
use avr_events::faults::{Fault, is_on};
use avr_events::{Alphabet, EventAutomaton, EventGraph, EventNode};
use avr_properties::{Property, PropertyError, PropertyFile, PropertyKind, Relation, SpecificationAutomaton};
use limit::Until;
use std::sync::Arc;
use std::time::{Duration, Instant};
use three_valued::Truth;

pub use events::{EventsError, events};

/// The number of automata that are read off, one after the other.
const MAX_ROUNDS: usize = 6;

/// The question whether all that an image shows is shown by another one.
#[derive(Clone, Copy)]
pub struct Comparison<'a> {
    /// The image that is the specification.
    pub old: Request<'a>,
    /// The image that is to show nothing else.
    pub new: Request<'a>,
    /// The name of the old image, for reports.
    pub name: &'a str,
    /// The events that are seen.
    pub alphabet: &'a Alphabet,
    /// The time for all of it, if it is limited.
    pub time: Option<Duration>,
}

/// The outcome of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    /// The results for the new image, with the automaton that it was compared with.
    Results(Box<Results>, Arc<SpecificationAutomaton>),
    /// The reason why there is no automaton to compare with.
    Nothing(String),
}

/// An automaton of an image, and what is proved of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extracted {
    /// The automaton.
    pub automaton: EventAutomaton,
    /// True if the image was proved to do no more.
    pub has_all: bool,
    /// True if the image was proved to do no less.
    pub has_only: bool,
}

/// The property that a firmware conforms to an automaton of another. Its name has the bits that are seen.
#[must_use]
pub fn conformance(name: &str, alphabet: &Alphabet, automaton: Option<Arc<SpecificationAutomaton>>) -> Property {
    let events: Vec<String> = alphabet.letters.iter().map(|letter| format!("{:?}", letter.to_string())).collect();
    let text = format!("Conforms(to: {name:?}, alphabet: [{}], by: \"traces\")", events.join(", "));
    let kind = PropertyKind::Conforms {
        to: name.to_owned(),
        alphabet: Some(alphabet.events()),
        relation: Relation::Traces,
        deadlock: false,
        specification: automaton,
    };
    Property::new(&text, kind)
}

/// Compares two images.
///
/// # Errors
/// If an event is none, or something else of the requests cannot be used.
pub fn compare(comparison: &Comparison<'_>) -> Result<Compared, PropertyError> {
    let Comparison { old, new, name, alphabet, time } = *comparison;
    let side = Side { request: old, name, alphabet, clock: Clock::new(time) };
    let mut automaton = match side.read_off(&alphabet.known())? {
        Ok(automaton) => automaton,
        Err(reason) => return Ok(Compared::Nothing(format!("{name}: {reason}"))),
    };
    for round in 1.. {
        let specification = match side.specification(&automaton) {
            Ok(specification) => specification,
            Err(reason) => return Ok(Compared::Nothing(format!("{name}: {reason}"))),
        };
        let mut results = side.conforms(&new, &specification)?;
        let [result] = results.properties.as_mut_slice() else {
            return Ok(Compared::Nothing("the property was not checked".to_owned()));
        };
        let proof = match result.verdict {
            Verdict::Holds => side.can_do(&automaton),
            Verdict::Violated => side.does_no_more(&specification)?,
            Verdict::Unknown(_) => return Ok(Compared::Results(Box::new(results), specification)),
        };
        if proof.is_some() || result.verdict == Verdict::Violated || round == MAX_ROUNDS || side.clock.is_over() {
            *result = finished(result.clone(), proof, &specification);
            let both = results.assumptions.clone();
            let own = assumptions(old.file, old.start, old.device);
            results.assumptions.extend(own.into_iter().filter(|text| !both.contains(text)));
            return Ok(Compared::Results(Box::new(results), specification));
        }
        match side.read_off(&format!("{} && {}", automaton.known_abilities(), alphabet.known())) {
            Ok(Ok(finer)) if finer != automaton => automaton = finer,
            _ => {
                *result = finished(result.clone(), None, &specification);
                return Ok(Compared::Results(Box::new(results), specification));
            }
        }
    }
    unreachable!("the last round returns")
}

/// The automaton of an image, as exact as the time allows; or the reason why there is none.
///
/// # Errors
/// If an event is none, or something else of the request cannot be used.
pub fn event_automaton(
    (request, name): (&Request<'_>, &str),
    alphabet: &Alphabet,
    time: Option<Duration>,
) -> Result<Result<Extracted, String>, PropertyError> {
    let side = Side { request: *request, name, alphabet, clock: Clock::new(time) };
    let mut automaton = match side.read_off(&alphabet.known())? {
        Ok(automaton) => automaton,
        Err(reason) => return Ok(Err(reason)),
    };
    for _ in 0..MAX_ROUNDS {
        if side.can_do(&automaton).is_some() || side.clock.is_over() {
            break;
        }
        match side.read_off(&format!("{} && {}", automaton.known_abilities(), alphabet.known())) {
            Ok(Ok(finer)) if finer != automaton => automaton = finer,
            _ => break,
        }
    }
    let specification = match side.specification(&automaton) {
        Ok(specification) => specification,
        Err(reason) => return Ok(Err(reason)),
    };
    let has_all = side.does_no_more(&specification)?.is_some();
    let has_only = side.can_do(&automaton).is_some();
    Ok(Ok(Extracted { automaton, has_all, has_only }))
}

/// The time of a comparison.
#[derive(Clone, Copy)]
struct Clock {
    started: Instant,
    time: Option<Duration>,
}

impl Clock {
    fn new(time: Option<Duration>) -> Self {
        Self { started: Instant::now(), time }
    }

    /// Half of the time that is left, in tenths of a second, for one of the questions.
    fn share(&self) -> Option<Duration> {
        let tenths =
            |left: Duration| Duration::from_millis(u64::try_from(left.as_millis() / 200).unwrap_or(u64::MAX) * 100);
        self.time.map(|time| tenths(time.saturating_sub(self.started.elapsed())))
    }

    fn is_over(&self) -> bool {
        self.share().is_some_and(|left| left.is_zero())
    }
}

/// The image that is the specification.
struct Side<'a> {
    request: Request<'a>,
    name: &'a str,
    alphabet: &'a Alphabet,
    clock: Clock,
}

/// The proof of a part: the result that it comes from.
type Proof = PropertyResult;

impl Side<'_> {
    /// The automaton of the state space in which a formula is decided, or is not.
    fn read_off(&self, formula: &str) -> Result<Result<EventAutomaton, String>, PropertyError> {
        let check = formula.to_owned();
        let file = with_property(self.request.file, Property::new("events", PropertyKind::Formula { check }));
        let watch = Until::new(self.request.watch, self.clock.share());
        let reductions = Reductions::NONE;
        let request = Request { file: &file, watch: &watch, reductions, known: None, findings: None, ..self.request };
        let (results, graph) = graph(&request)?;
        let explored = graph.filter(|graph| graph.nodes.first().is_some_and(|start| !start.edges.is_empty()));
        let Some(graph) = explored else {
            let open = results.properties.first().map(|result| result.verdict.clone());
            let reason = if let Some(Verdict::Unknown(unknown)) = open { unknown.reason } else { String::new() };
            return Ok(Err(format!("its events could not be followed; {reason}")));
        };
        Ok(EventAutomaton::of(&event_graph(&graph, self.alphabet), self.alphabet).map_err(|error| error.to_string()))
    }

    fn specification(&self, automaton: &EventAutomaton) -> Result<Arc<SpecificationAutomaton>, String> {
        let text = automaton.specification(&[]).map_err(|error| error.to_string())?;
        SpecificationAutomaton::parse(self.name, &text).map(Arc::new).map_err(|error| error.to_string())
    }

    /// The results of the question whether an image conforms to an automaton of this one.
    fn conforms(
        &self,
        request: &Request<'_>,
        specification: &Arc<SpecificationAutomaton>,
    ) -> Result<Results, PropertyError> {
        let property = conformance(self.name, self.alphabet, Some(Arc::clone(specification)));
        let file = with_property(request.file, property);
        let watch = Until::new(request.watch, self.clock.share());
        verify(&Request { file: &file, watch: &watch, known: None, findings: None, ..*request })
    }

    /// The proof that this image does no more than an automaton.
    fn does_no_more(&self, specification: &Arc<SpecificationAutomaton>) -> Result<Option<Proof>, PropertyError> {
        Ok(proof(self.conforms(&self.request, specification)?))
    }

    /// The proof that this image does no less than an automaton.
    ///
    /// SOUND: a sequence of events needs one initial content from which it can be shown, which may be another for each initial
    /// state of the automaton. That one has no ability is violated if some content has it.
    fn can_do(&self, automaton: &EventAutomaton) -> Option<Proof> {
        let all = self.decided(&[automaton.ability()])?;
        if all.iter().all(|result| result.verdict == Verdict::Holds) || is_on(Fault::AbilityAssumed) {
            return all.into_iter().next();
        }
        let without: Vec<String> = automaton.abilities().iter().map(|ability| format!("!({ability})")).collect();
        let denied = self.decided(&without)?;
        let is_shown = denied.iter().all(|result| result.verdict == Verdict::Violated);
        let model = denied.iter().position(|result| result.basis == Basis::Model).unwrap_or(0);
        denied.into_iter().nth(model).filter(|_| is_shown)
    }

    /// The results of formulas about this image; none if they cannot be asked, because they grow too large.
    fn decided(&self, formulas: &[String]) -> Option<Vec<PropertyResult>> {
        let property = |check: &String| Property::new("events", PropertyKind::Formula { check: check.clone() });
        let mut file = self.request.file.clone();
        file.properties = formulas.iter().map(property).collect();
        let watch = Until::new(self.request.watch, self.clock.share());
        let request = Request { file: &file, watch: &watch, known: None, findings: None, ..self.request };
        verify(&request).ok().map(|results| results.properties)
    }
}

/// The result, if it holds.
fn proof(results: Results) -> Option<Proof> {
    let result = results.properties.into_iter().next()?;
    (result.verdict == Verdict::Holds || is_on(Fault::ConformanceAssumed)).then_some(result)
}

/// The file with one property, which is asked for alone.
fn with_property(file: &PropertyFile, property: Property) -> PropertyFile {
    let mut file = file.clone();
    file.properties = vec![property];
    file
}

/// The result of the new image with the proof about the old one; without it, nothing is decided.
fn finished(
    mut result: PropertyResult,
    proof: Option<Proof>,
    specification: &SpecificationAutomaton,
) -> PropertyResult {
    match proof {
        Some(proof) => {
            if proof.basis == Basis::Model {
                result.basis = Basis::Model;
            }
            let more: Vec<_> = proof.methods.into_iter().filter(|method| !result.methods.contains(method)).collect();
            result.methods.extend(more);
            result.promises.extend(proof.promises);
            if let Some(evidence) = &mut result.evidence {
                claim::with_moves(evidence, specification);
            }
        }
        None => {
            let name = &specification.name;
            let reason = match result.verdict {
                Verdict::Violated => format!(
                    "a run of it has events that the automaton of {name} does not have, but it is not proved that {name} has no such run"
                ),
                _ => format!(
                    "it conforms to an automaton that allows all that {name} does, but it is not proved that {name} does all that the \
                     automaton allows"
                ),
            };
            result.verdict = Verdict::Unknown(Unknown::because(reason));
            result.evidence = None;
            result.evidence_missing = None;
            result.explanation = None;
            result.vacuous = None;
        }
    }
    result
}

/// The state space as far as the alphabet sees it.
fn event_graph(graph: &StateGraph, alphabet: &Alphabet) -> EventGraph {
    let places: Vec<Option<usize>> =
        alphabet.atoms().iter().map(|atom| graph.atoms.iter().position(|known| known == atom)).collect();
    // Sinks show nothing, and end what is known.
    let label = |node: &GraphNode, place: &Option<usize>| match node.kind {
        NodeKind::Running | NodeKind::Waiting => place.map_or(Truth::Unknown, |place| node.labels[place]),
        NodeKind::Start | NodeKind::Hazard(_) | NodeKind::Limit(_) => Truth::False,
    };
    let node = |node: &GraphNode| EventNode {
        labels: places.iter().map(|place| label(node, place)).collect(),
        next: node.edges.iter().flatten().map(|member| *member as usize).collect(),
    };
    EventGraph { nodes: graph.nodes.iter().map(node).collect() }
}
