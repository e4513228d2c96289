//! Findings: stores that leave their object, and accesses that a handler may tear apart. They come from static analysis and from
//! concrete runs, and are no part of any formula.

mod forbidden;
mod subjects;
mod text;

use crate::finding::{Certainty, Finding};
use crate::pipeline::machine::machine;
use crate::request::Request;
use crate::results::Results;
use avr_isa::{DataAddress, FlashByteAddress, FlashWordAddress};
use avr_machine::Machine;
use avr_model::context::Context;
use avr_properties::{FindingKind, PropertyError};
use avr_witness::{Evidence, Observation, Seen, Subjects};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::rc::Rc;

pub use forbidden::{explained, verify};

/// The steps of random runs in which interleavings are looked for, and those for all others.
const STEPS: (u64, u64) = (400_000, 1_000_000);

/// The findings about an image, by their kinds and places; none where no symbols tell what its objects are.
///
/// # Errors
/// A place of an allowed finding that does not exist, or an assumption that cannot be used.
pub fn findings(request: &Request<'_>) -> Result<Vec<Finding>, PropertyError> {
    let machine = machine(request)?;
    let subjects = Rc::new(subjects::subjects(request.image, &machine));
    let context = Context::new(&machine, &[]);
    let seen = avr_witness::look(&context, &subjects, STEPS, request.watch);
    Finder { request, machine: &machine, subjects: &subjects }.findings(seen)
}

/// The results of some work on a request, with its findings, if they are looked for: beside the work, where there are threads for both.
/// Neither knows of the other, so that results are the same for any number of threads.
fn with_findings(
    request: &Request<'_>,
    work: impl FnOnce() -> Result<Results, PropertyError> + Send,
) -> Result<Results, PropertyError> {
    let Some(watch) = request.findings else { return work() };
    let search = || {
        let found = findings(&Request { watch, ..*request })?;
        if let Some(known) = request.known {
            known.learn_findings(found.clone());
        }
        Ok(found)
    };
    let (found, results) = match rayon::current_thread_index() {
        Some(_) => {
            let (results, found) = rayon::join(work, search);
            (found, results)
        }
        None => (search(), work()),
    };
    Ok(Results { findings: found?, ..results? })
}

/// Two findings with the same key are one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// The store.
    Store(FlashWordAddress),
    /// The variable, and the function that accesses it.
    Torn(DataAddress, FlashByteAddress),
}

/// Makes findings of what is seen in runs and told by the analysis.
struct Finder<'a> {
    request: &'a Request<'a>,
    machine: &'a Machine,
    subjects: &'a Subjects,
}

impl Finder<'_> {
    fn findings(&self, seen: Vec<Seen>) -> Result<Vec<Finding>, PropertyError> {
        let mut found: BTreeMap<Key, Finding> = BTreeMap::new();
        for seen in seen {
            let key = match &seen.observation {
                Observation::Torn { window, .. } => self.torn_key(*window),
                other => Key::Store(other.pc()),
            };
            let finding = self.seen(seen)?;
            found.entry(key).or_insert(finding);
        }
        for window in 0..self.subjects.windows.len() {
            if let Entry::Vacant(open) = found.entry(self.torn_key(window)) {
                open.insert(self.possible(window)?);
            }
        }
        let mut found: Vec<Finding> = found.into_values().collect();
        found.sort_by_key(|finding| (finding.kind, finding.pc));
        Ok(found)
    }

    fn torn_key(&self, window: usize) -> Key {
        let window = &self.subjects.windows[window];
        let pc = window.accesses[0].byte();
        let function = self.request.image.symbols.function_at(pc);
        let start = function.and_then(|located| located.symbol.place.flash());
        Key::Torn(window.cells.start, start.unwrap_or(pc))
    }

    /// The finding that a run shows.
    fn seen(&self, seen: Seen) -> Result<Finding, PropertyError> {
        let Seen { observation, evidence } = seen;
        let pc = observation.pc().byte();
        let image = self.request.image;
        // A function of a library has no lines: the one that calls it has.
        let caller = text::caller(image, &evidence).filter(|_| image.source_line(pc).is_none());
        let said = text::observed(image, self.machine, self.subjects, &observation);
        let text = caller.map_or(said.clone(), |caller| text::called(image, &said, caller));
        let (kind, objects) = match &observation {
            Observation::OutOfObject { object, .. } => {
                (FindingKind::OutOfObject, vec![self.subjects.objects.range(*object).start])
            }
            Observation::Torn { window, .. } => {
                (FindingKind::TornAccess, vec![self.subjects.windows[*window].cells.start])
            }
            Observation::ReturnAddress { .. } | Observation::SavedRegister { .. } => {
                (FindingKind::OutOfObject, Vec::new())
            }
        };
        let is_shown = kind == FindingKind::TornAccess || evidence.is_of_hardware();
        let certainty = if is_shown { Certainty::Replayed } else { Certainty::Possible };
        let steps = evidence.steps;
        let claim = format!("step {steps}: {text}");
        let evidence = Some(Evidence { claim, ..*evidence });
        let places = [Some(pc), caller];
        self.allowed(Finding { kind, certainty, pc: pc.0, text, evidence, allowed: None }, places, &objects)
    }

    /// The finding that the analysis tells of a window.
    fn possible(&self, number: usize) -> Result<Finding, PropertyError> {
        let window = &self.subjects.windows[number];
        let text = text::window(self.request.image, self.machine, window, None);
        let (kind, certainty) = (FindingKind::TornAccess, Certainty::Possible);
        let pc = window.accesses[1].byte();
        let finding = Finding { kind, certainty, pc: pc.0, text, evidence: None, allowed: None };
        self.allowed(finding, [Some(pc), None], &[window.cells.start])
    }

    /// A finding with the reason for which the property file allows it, if it does.
    fn allowed(
        &self,
        finding: Finding,
        places: [Option<FlashByteAddress>; 2],
        objects: &[DataAddress],
    ) -> Result<Finding, PropertyError> {
        for allowed in &self.request.file.allow_findings {
            for place in places.into_iter().flatten() {
                if allowed.allows(self.request.image, finding.kind, place, objects)? {
                    return Ok(Finding { allowed: Some(allowed.reason.clone()), ..finding });
                }
            }
        }
        Ok(finding)
    }
}
