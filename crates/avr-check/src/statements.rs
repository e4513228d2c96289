//! The claims of a certificate, as sentences that its proofs must prove.

use std::convert::Infallible;

use avr_certificate::{
    Basis, Certificate, Claim, ClosedSet, Decided, Depth, Proof, Stack, Symbolic, SymbolicProof, Upper, Vacuous,
    Verdict,
};
use avr_properties::{
    AtomTable, Binding, BoundProperty, Property, PropertyError, PropertyFile, PropertyKind, StackLimit, bind,
    formula_text,
};
use mu_calculus::{AtomId, Formula, Strengthening, strengthenings};

use crate::rejection::{Reason, Rejection};
use crate::sentence::Sentence;
use crate::{Checked, Proved, ProvedStack, ProvedVacuity};

/// The name of what is claimed of the stack.
pub(crate) const STACK: &str = "the stack bound";

/// The sentences that a certificate claims under one name.
pub(crate) struct Statement<'a> {
    pub(crate) name: String,
    pub(crate) proofs: Vec<(Sentence, &'a Proof)>,
    pub(crate) observes_hazards: bool,
}

/// Formulas that are claimed to follow from the invariants of the whole program, under one name.
pub(crate) struct Always {
    pub(crate) name: String,
    pub(crate) bound: BoundProperty,
    pub(crate) formulas: Vec<Formula<AtomId>>,
}

/// A property that is claimed to follow from symbolic execution.
pub(crate) struct ByExecution<'a> {
    pub(crate) name: String,
    /// The number of the property.
    pub(crate) property: usize,
    pub(crate) bound: BoundProperty,
    pub(crate) proof: &'a SymbolicProof,
}

/// A property that is claimed to be violated by a run into a closed set.
pub(crate) struct Confined<'a> {
    pub(crate) name: String,
    /// The number of the property.
    pub(crate) property: usize,
    pub(crate) bound: BoundProperty,
    pub(crate) closed: &'a ClosedSet,
}

/// All that a certificate claims, while it is bound.
pub(crate) struct Statements<'a, 'b> {
    pub(crate) binding: Binding<'b>,
    pub(crate) file: &'b PropertyFile,
    /// The atoms of what was bound so far.
    pub(crate) table: AtomTable,
    pub(crate) all: Vec<Statement<'a>>,
    pub(crate) always: Vec<Always>,
    pub(crate) by_execution: Vec<ByExecution<'a>>,
    pub(crate) confined: Vec<Confined<'a>>,
}

impl<'a> Statements<'a, '_> {
    /// Binds every property and says what its proofs have to prove.
    pub(crate) fn properties(&mut self, certificate: &'a Certificate) -> Result<Vec<Checked>, Rejection> {
        let (claims, properties) = (certificate.claims.len(), self.file.properties.len());
        if claims != properties {
            return Err(Reason::ClaimCount { claims, properties }.into());
        }
        let file = self.file;
        let all = file.properties.iter().zip(&certificate.claims).enumerate();
        all.map(|(number, (property, claim))| {
            self.property((number, property), claim).map_err(|reason| reason.of(property.name()))
        })
        .collect()
    }

    fn property(&mut self, (number, property): (usize, &Property), claim: &'a Claim) -> Result<Checked, Rejection> {
        let bound = self.bind(property);
        let mut checked = Checked {
            name: property.name().to_owned(),
            kind: property.kind().name(),
            formula: formula_text(property, &self.file.definitions, &self.binding),
            under: property.under().to_vec(),
            proved: match claim {
                Claim::Undecided => Proved::Nothing,
                Claim::Uncertified(reason) => Proved::Uncertified(reason.clone()),
                Claim::Decided(decided) => Proved::Decided(decided.verdict, basis(&decided.proofs)),
                Claim::Invariant(_) => Proved::Decided(Verdict::Holds, Basis::Hardware),
                // Their basis comes out when the proof is repeated.
                Claim::Symbolic(_) | Claim::Confined(_) => Proved::Nothing,
            },
            with_sat: matches!(claim, Claim::Symbolic(_)),
            vacuous: None,
        };
        let bound = bound.map_err(|error| Rejection::from(Reason::Unsupported(Box::new(error))));
        let decided = match claim {
            Claim::Undecided | Claim::Uncertified(_) => return Ok(checked),
            Claim::Invariant(part) => {
                let bound = bound?;
                let mut formulas = vec![bound.formula.clone()];
                formulas.extend(self.strengthened(&bound, *part, &mut checked)?);
                self.always.push(Always { name: checked.name.clone(), bound, formulas });
                return Ok(checked);
            }
            Claim::Symbolic(Symbolic { proof, vacuous }) => {
                let bound = bound?;
                let formulas = self.strengthened(&bound, *vacuous, &mut checked)?;
                let name = checked.name.clone();
                if !formulas.is_empty() {
                    self.always.push(Always { name: name.clone(), bound: bound.clone(), formulas });
                }
                self.by_execution.push(ByExecution { name, property: number, bound, proof });
                return Ok(checked);
            }
            Claim::Confined(closed) => {
                let name = checked.name.clone();
                self.confined.push(Confined { name, property: number, bound: bound?, closed });
                return Ok(checked);
            }
            Claim::Decided(decided) => decided,
        };
        let bound = bound?;
        let mut proofs = sentences(&bound, decided)?;
        if let Some(vacuous) = &decided.vacuous {
            let vacuity = self.vacuous(&bound, decided.verdict, vacuous, &mut proofs)?;
            checked.vacuous = Some(vacuity);
        }
        self.all.push(Statement { name: checked.name.clone(), proofs, observes_hazards: bound.observes_hazards });
        Ok(checked)
    }

    /// The formulas that are true in every state of the map if a part of a property does not matter, which is noted.
    fn strengthened(
        &self,
        bound: &BoundProperty,
        part: Option<u32>,
        checked: &mut Checked,
    ) -> Result<Vec<Formula<AtomId>>, Rejection> {
        let Some(part) = part else { return Ok(Vec::new()) };
        let strengthening = strengthening(bound, part)?;
        checked.vacuous = Some(self.vacuity(&strengthening, Basis::Hardware));
        Ok(strengthening.formulas)
    }

    fn bind(&mut self, property: &Property) -> Result<BoundProperty, PropertyError> {
        bind(property, &self.file.definitions, &self.binding, &mut self.table)
    }

    /// Adds what must be proved for a part of a property not to matter.
    fn vacuous(
        &self,
        bound: &BoundProperty,
        verdict: Verdict,
        vacuous: &'a Vacuous,
        proofs: &mut Vec<(Sentence, &'a Proof)>,
    ) -> Result<ProvedVacuity, Rejection> {
        let strengthening = strengthening(bound, vacuous.part)?;
        if verdict != Verdict::Holds {
            return Err(Reason::NoSuchPart.into());
        }
        let (given, needed) = (vacuous.proofs.len(), strengthening.formulas.len());
        if given != needed {
            return Err(Reason::ProofCount { proofs: given, needed }.into());
        }
        for (formula, proof) in strengthening.formulas.iter().zip(&vacuous.proofs) {
            proofs.push((Sentence::new(&bound.from_start(formula)?), proof));
        }
        Ok(self.vacuity(&strengthening, basis(&vacuous.proofs)))
    }

    fn vacuity(&self, strengthening: &Strengthening<AtomId>, basis: Basis) -> ProvedVacuity {
        let text = |atom: &AtomId| Ok::<_, Infallible>(self.table.atoms()[atom.index()].to_string());
        let subformula = match strengthening.subformula.try_map_atoms(&mut |atom| text(atom)) {
            Ok(named) => named.to_string(),
            Err(never) => match never {},
        };
        ProvedVacuity { subformula, replaced_by: strengthening.replaced_by, basis }
    }

    /// Binds what is claimed of the stack.
    pub(crate) fn stack(&mut self, stack: &'a Stack) -> Result<ProvedStack, Rejection> {
        let mut proved = ProvedStack::default();
        match &stack.upper {
            None => {}
            Some(Upper::Map(bytes)) => proved.upper = Some(*bytes),
            Some(Upper::Space(upper)) => {
                self.depth(upper, Some(upper.bytes), Verdict::Holds).map_err(|rejection| rejection.of(STACK))?;
                proved.upper = Some(upper.bytes);
            }
        }
        if let Some(lower) = &stack.lower {
            self.depth(lower, lower.bytes.checked_sub(1), Verdict::Violated)
                .map_err(|rejection| rejection.of(STACK))?;
            proved.lower = Some((lower.bytes, lower.proof.basis));
        }
        Ok(proved)
    }

    /// Adds that a limit of the stack is kept, or that it is not.
    fn depth(&mut self, depth: &'a Depth, limit: Option<u32>, verdict: Verdict) -> Result<(), Rejection> {
        let limit = limit.filter(|limit| *limit < u32::from(self.binding.device.memory.sram_end.0));
        let limit = limit.ok_or(Reason::NoSuchDepth(depth.bytes))?;
        let property = Property::new(STACK, PropertyKind::Stack(StackLimit::MaxBytes(limit)));
        let bound = self.bind(&property)?;
        let stated = Sentence::new(&bound.from_start(&bound.formula)?);
        let proofs = vec![(said(stated, verdict), &depth.proof)];
        self.all.push(Statement { name: STACK.to_owned(), proofs, observes_hazards: false });
        Ok(())
    }
}

/// A part of a property that may be replaced, by its number.
fn strengthening(bound: &BoundProperty, part: u32) -> Result<Strengthening<AtomId>, Reason> {
    let strengthenings = strengthenings(&bound.formula, (part as usize).saturating_add(1));
    strengthenings.into_iter().nth(part as usize).ok_or(Reason::NoSuchPart)
}

/// A claim rests on what the weakest of its proofs rests on.
fn basis(proofs: &[Proof]) -> Basis {
    let is_model = proofs.iter().any(|proof| proof.basis == Basis::Model);
    if is_model { Basis::Model } else { Basis::Hardware }
}

/// A sentence or its negation.
fn said(sentence: Sentence, verdict: Verdict) -> Sentence {
    match verdict {
        Verdict::Holds => sentence,
        Verdict::Violated => sentence.negated(),
    }
}

/// The sentences that must be proved for a claim. The first is the formula or its negation after the first step, in
/// which the initial content is chosen. Under fairness, a fair path must start in every reachable state. If paths may
/// end, a property that holds must speak of some path.
fn sentences<'a>(bound: &BoundProperty, decided: &'a Decided) -> Result<Vec<(Sentence, &'a Proof)>, Rejection> {
    let stated = Sentence::new(&bound.from_start(&bound.formula)?);
    let stays_fair = bound.stays_fair();
    let left = bound.something_is_left().filter(|_| decided.verdict == Verdict::Holds);
    let conditions = stays_fair.iter().chain(&left).map(Sentence::new);
    let all: Vec<Sentence> = std::iter::once(said(stated, decided.verdict)).chain(conditions).collect();
    let (proofs, needed) = (decided.proofs.len(), all.len());
    if proofs != needed {
        return Err(Reason::ProofCount { proofs, needed }.into());
    }
    Ok(all.into_iter().zip(&decided.proofs).collect())
}
