//! Stores outside of their objects as a hazard of the inherent property (`forbid: ["out-of-object"]`).
//!
//! The static analysis of [`avr_analysis::store_provenance`] says which object the pointer of each store means. That the address lies in
//! it in every state is proved as a property of its own, with all that the analysis rests on. A run that refutes this proof obligation is no
//! violation: the analysis may not know what is meant. A finding that a run shows is one.

use super::subjects::all_variables;
use super::with_findings;
use crate::diagnosis::unknown_reason::place_at;
use crate::early_results::EarlyResults;
use crate::finding::{Certainty, Finding};
use crate::pipeline;
use crate::pipeline::machine::machine;
use crate::request::Request;
use crate::results::{Basis, PropertyResult, Results, Unknown, Verdict};
use avr_analysis::store_provenance::{Obstacle, StoreProvenance, Sum, indirect_store, store_provenance};
use avr_isa::{DataAddress, FlashByteAddress, FlashWordAddress, PointerMode, Register};
use avr_machine::{HazardKind, Machine};
use avr_properties::{FindingKind, Property, PropertyError, PropertyKind};
use std::collections::BTreeMap;
use std::ops::Range;

/// The start-up code of avr-libc that clears and copies sections, by its symbols.
const SECTION_CODE: [&str; 8] = [
    "__do_copy_data",
    "__do_clear_bss",
    ".L__do_copy_data_loop",
    ".L__do_copy_data_start",
    ".do_copy_data_loop",
    ".do_copy_data_start",
    ".do_clear_bss_loop",
    ".do_clear_bss_start",
];

/// The hazards without which returns go where calls came from, and the stack stays out of the registers.
const RELIED_ON: [HazardKind; 3] =
    [HazardKind::ReturnToNonCall, HazardKind::CallStackUnderflow, HazardKind::StackOutsideSram];

/// Verifies the properties of an image: in groups, or all together if they are of one group.
///
/// # Errors
/// A property that speaks of something that does not exist; what cannot be decided is no error.
pub fn verify(request: &Request<'_>) -> Result<Results, PropertyError> {
    with_forbidden(request, pipeline::verify)
}

/// The same as [`verify`], with explanations of all verdicts, whatever the work.
///
/// # Errors
/// As [`verify`].
pub fn explained(request: &Request<'_>) -> Result<Results, PropertyError> {
    with_forbidden(request, pipeline::verified::explained)
}

fn with_forbidden(
    request: &Request<'_>,
    decide: impl Fn(&Request<'_>) -> Result<Results, PropertyError> + Send + Sync,
) -> Result<Results, PropertyError> {
    let is_inherent = |property: &Property| *property.kind() == PropertyKind::Inherent;
    let is_forbidden = request.file.forbid_findings.contains(&FindingKind::OutOfObject);
    if !is_forbidden || !request.file.properties.iter().any(is_inherent) {
        return with_findings(request, || decide(request));
    }
    // SOUND: what is known early of the inherent property is not known of stores, so nobody hears of it.
    let known = EarlyResults::default();
    let machine = machine(request)?;
    let (mut file, obligation) = (request.file.clone(), Obligation::new(request, &machine)?);
    if let Obligation::Formula { check, .. } = &obligation {
        file.properties
            .push(Property::new("stores stay in their objects", PropertyKind::Formula { check: check.clone() }));
    }
    let mut results = with_findings(request, || decide(&Request { file: &file, known: Some(&known), ..*request }))?;
    let proof = match obligation {
        Obligation::Nothing => Ok(Basis::Hardware),
        Obligation::Missing(reason) => Err(reason),
        Obligation::Formula { reasons, .. } => {
            let proof = results.properties.pop().expect("it was added");
            match &proof.verdict {
                Verdict::Holds => Ok(proof.basis),
                Verdict::Violated => Err(refuted(request, &proof, &reasons)),
                Verdict::Unknown(unknown) => Err(format!("stores through pointers: {}", unknown.reason)),
            }
        }
    };
    let shown = shown(&results.findings).cloned();
    for result in results.properties.iter_mut().filter(|result| result.kind == PropertyKind::Inherent.name()) {
        combine(request, result, &proof, shown.as_ref());
    }
    Ok(results)
}

/// The store outside of its object that a run shows, one of the hardware if there is one.
fn shown(findings: &[Finding]) -> Option<&Finding> {
    let is_shown = |finding: &&Finding| {
        finding.kind == FindingKind::OutOfObject && finding.evidence.is_some() && finding.allowed.is_none()
    };
    findings.iter().find(|finding| finding.is_fault()).or_else(|| findings.iter().find(is_shown))
}

/// Makes the result of the inherent property one about stores as well.
fn combine(request: &Request<'_>, result: &mut PropertyResult, proof: &Result<Basis, String>, shown: Option<&Finding>) {
    result.formula = format!("{} && no store through a pointer leaves its object", result.formula);
    let is_self_check = matches!(&result.verdict, Verdict::Unknown(unknown) if unknown.self_check_failed);
    if result.verdict == Verdict::Violated || is_self_check {
        return;
    }
    if let Some(finding) = shown {
        result.verdict = Verdict::Violated;
        result.basis = match finding.certainty {
            Certainty::Replayed => Basis::Hardware,
            Certainty::Possible => Basis::Model,
        };
        result.detail = Some(format!("{} {}", finding.kind, place_at(request.image, finding.pc)));
        result.evidence.clone_from(&finding.evidence);
        result.evidence_missing = None;
        result.explanation = None;
        return;
    }
    match proof {
        _ if result.verdict != Verdict::Holds => {}
        Ok(Basis::Model) => result.basis = Basis::Model,
        Ok(Basis::Hardware) => {}
        Err(reason) => {
            result.verdict = Verdict::Unknown(Unknown::because(reason));
            result.vacuous = None;
        }
    }
}

/// The reason why the obligation does not hold where a run came to.
fn refuted(request: &Request<'_>, proof: &PropertyResult, reasons: &BTreeMap<FlashByteAddress, String>) -> String {
    let place = proof.evidence.as_ref().map(|evidence| FlashByteAddress(evidence.end.pc));
    match place.and_then(|at| Some((at, reasons.get(&at)?))) {
        Some((at, reason)) => format!("{reason}, {}", place_at(request.image, at.0)),
        None => "interrupts come where the analysis of pointers expects none".to_owned(),
    }
}

/// The proof obligation about stores.
enum Obligation {
    /// Nothing: no store goes through a pointer.
    Nothing,
    /// Something that cannot be said, for a reason.
    Missing(String),
    /// A formula, with the reasons why it may fail at places.
    Formula { check: String, reasons: BTreeMap<FlashByteAddress, String> },
}

impl Obligation {
    fn new(request: &Request<'_>, machine: &Machine) -> Result<Self, PropertyError> {
        let stores: Vec<(FlashWordAddress, Register, PointerMode)> = machine
            .program
            .instructions()
            .filter_map(|(at, instruction)| indirect_store(instruction).map(|(low, mode)| (at, low, mode)))
            .collect();
        if stores.is_empty() {
            return Ok(Self::Nothing);
        }
        let options = machine.options();
        let is_allowed = |kind: &HazardKind| options.allowed.contains(kind) || options.allowed_at.contains_key(kind);
        if let Some(kind) = RELIED_ON.into_iter().find(is_allowed) {
            return Ok(Self::Missing(format!(
                "stores through pointers are not followed where the hazard {kind} is allowed"
            )));
        }
        let objects = all_variables(request.image, machine);
        let found = match store_provenance(machine, &objects, !is_allowed(&HazardKind::BadInterrupt)) {
            Ok(found) => found,
            Err(obstacle) => return Ok(Self::Missing(obstacle_text(request, machine, obstacle))),
        };
        let mut formula = FormulaText { request, machine, found: &found, parts: Vec::new(), reasons: BTreeMap::new() };
        formula.add_conditions();
        for (at, low, mode) in stores {
            formula.add_store(at, low, mode)?;
        }
        found.sums.iter().for_each(|sum| formula.add_sum(*sum));
        let FormulaText { parts, reasons, .. } = formula;
        Ok(Self::Formula { check: format!("AG ({})", parts.join(" && ")), reasons })
    }
}

fn obstacle_text(request: &Request<'_>, machine: &Machine, obstacle: Obstacle) -> String {
    match obstacle {
        Obstacle::IndirectFlow(at) => {
            let place = place_at(request.image, at.byte().0);
            format!("pointers are not followed through the indirect jump or call {place}")
        }
        Obstacle::Handler(number) => {
            let interrupt = machine.device.interrupts.iter().find(|interrupt| interrupt.number == number);
            let name = interrupt.map_or("an interrupt", |interrupt| interrupt.name);
            format!("the handler of {name} may not give back the registers, so pointers are not followed")
        }
    }
}

/// The formula that is to be proved, part by part.
struct FormulaText<'a> {
    request: &'a Request<'a>,
    machine: &'a Machine,
    found: &'a StoreProvenance,
    parts: Vec<String>,
    reasons: BTreeMap<FlashByteAddress, String>,
}

impl FormulaText<'_> {
    /// Adds what the analysis assumes of interrupts.
    fn add_conditions(&mut self) {
        if self.found.has_no_interrupts {
            self.parts.push(format!("mem[{:#x}] & 0x80 == 0", self.machine.status_address()));
        } else if let Some(moved) = self.machine.vectors_moved_by() {
            self.parts.push(format!("mem[{:#x}] & {:#x} == 0", moved.address, moved.mask()));
        }
    }

    /// Adds that a condition holds before an instruction is executed.
    fn add(&mut self, at: FlashWordAddress, condition: Option<String>, reason: String) {
        let pc = at.byte();
        let condition = condition.map_or_else(String::new, |condition| format!(" || {condition}"));
        self.parts.push(format!("(pc != {:#x}{condition})", pc.0));
        self.reasons.insert(pc, reason);
    }

    fn add_store(&mut self, at: FlashWordAddress, low: Register, mode: PointerMode) -> Result<(), PropertyError> {
        let object = self.found.stores.get(&at).cloned().flatten();
        // No store may hit a register.
        let memory = DataAddress::IO..DataAddress(u16::MAX);
        if self.is_allowed(at, object.as_ref())? {
            let reason = "a store that is allowed may hit a register".to_owned();
            self.add(at, Some(inside(low, mode, &memory)), reason);
        } else if self.is_section_code(at) {
            let reason = "a store of the start-up code may hit a register or come later".to_owned();
            self.add(at, Some(format!("in_startup && {}", inside(low, mode, &memory))), reason);
        } else if let Some(object) = object {
            let reason = format!("a store through a pointer into {} may leave it", self.name(&object));
            self.add(at, Some(inside(low, mode, &object)), reason);
        } else {
            self.add(at, None, "the object is not known that the pointer of a store means".to_owned());
        }
        Ok(())
    }

    /// Adds that the number in a sum is no address of a variable.
    fn add_sum(&mut self, sum: Sum) {
        let [low, high] = sum.number;
        let number = format!("mem[{low}] + (mem[{high}] << 8)");
        let (start, end) = (self.machine.sram().start, self.machine.data_end());
        let condition = format!("{number} < {start:#x} || {number} > {end:#x}");
        self.add(sum.at, Some(condition), "two addresses may be added".to_owned());
    }

    /// True if the property file allows that a store leaves its object.
    fn is_allowed(&self, at: FlashWordAddress, object: Option<&Range<DataAddress>>) -> Result<bool, PropertyError> {
        let objects: Vec<DataAddress> = object.map(|object| object.start).into_iter().collect();
        let image = self.request.image;
        for allowed in &self.request.file.allow_findings {
            if allowed.allows(image, FindingKind::OutOfObject, at.byte(), &objects)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_section_code(&self, at: FlashWordAddress) -> bool {
        let symbol = self.request.image.symbols.function_at(at.byte());
        let is_known = symbol.is_some_and(|located| SECTION_CODE.contains(&located.symbol.name.as_str()));
        is_known && self.machine.options().main.is_some()
    }

    fn name(&self, object: &Range<DataAddress>) -> String {
        let symbol = self.request.image.symbols.object_at(object.start);
        symbol.map_or_else(|| "the I/O area".to_owned(), |located| located.symbol.display_name().to_owned())
    }
}

/// The condition that the address of a store lies in a range, about the content of its pointer.
fn inside(low: Register, mode: PointerMode, range: &Range<DataAddress>) -> String {
    let pointer = format!("mem16[{}]", low.index());
    let (start, end) = (u32::from(range.start.0), u32::from(range.end.0));
    // The address is the pointer with `by` added, and one less before a decrement.
    let (first, end) = match mode {
        PointerMode::Displacement(by) => (start.saturating_sub(by.into()), end.saturating_sub(by.into())),
        PointerMode::PostIncrement => (start, end),
        PointerMode::PreDecrement => (start + 1, end + 1),
    };
    format!("{pointer} >= {first:#x} && {pointer} < {end:#x}")
}
