//! The claims of a certificate, bound once more.

use avr_certificate::{Certificate, Claim, Proof, Upper, Vacuous, Verdict};
use avr_properties::{AtomTable, Binding, BoundProperty, Property, PropertyFile, PropertyKind, StackLimit, bind};
use mu_calculus::{NormalForm, strengthenings};

/// A formula that must be true or false by a proof.
pub(super) struct Goal<'c> {
    pub(super) name: String,
    pub(super) formula: NormalForm,
    pub(super) observes_hazards: bool,
    /// Its value.
    pub(super) wanted: bool,
    pub(super) proof: &'c Proof,
}

/// All claims of a certificate with their atoms.
pub(super) struct Claims<'c> {
    pub(super) table: AtomTable,
    pub(super) goals: Vec<Goal<'c>>,
}

impl<'c> Claims<'c> {
    /// The claims of a certificate of the properties of a file; none if one of them means nothing.
    pub(super) fn of(file: &PropertyFile, binding: Binding<'_>, certificate: &'c Certificate) -> Option<Self> {
        let mut claims = Self { table: AtomTable::new(), goals: Vec::new() };
        for (property, claim) in file.properties.iter().zip(&certificate.claims) {
            let bound = bind(property, &file.definitions, &binding, &mut claims.table).expect("the property is right");
            claims.property(property, &bound, claim)?;
        }
        let upper = certificate.stack.upper.as_ref().map(|upper| match upper {
            Upper::Space(depth) => depth,
            Upper::Map(_) => panic!("there is no map"),
        });
        let depths = [(upper, 0, true), (certificate.stack.lower.as_ref(), 1, false)];
        for (depth, less, wanted) in depths {
            let Some(depth) = depth else { continue };
            let limit =
                depth.bytes.checked_sub(less).filter(|limit| *limit < binding.device.memory.sram_end.0.into())?;
            let property = Property::new("stack", PropertyKind::Stack(StackLimit::MaxBytes(limit)));
            let bound = bind(&property, &file.definitions, &binding, &mut claims.table).expect("it is right");
            let formula = bound.from_start(&bound.formula).expect("it is right");
            claims.add(&format!("a depth of {}", depth.bytes), formula, wanted, &depth.proof);
        }
        Some(claims)
    }

    fn add(&mut self, name: &str, formula: NormalForm, wanted: bool, proof: &'c Proof) {
        self.goals.push(Goal { name: name.to_owned(), formula, observes_hazards: false, wanted, proof });
    }

    fn property(&mut self, property: &Property, bound: &BoundProperty, claim: &'c Claim) -> Option<()> {
        let Claim::Decided(decided) = claim else { return Some(()) };
        let first = self.goals.len();
        let holds = decided.verdict == Verdict::Holds;
        let formula = bound.from_start(&bound.formula).expect("it is right");
        let conditions = bound.stays_fair().into_iter().chain(bound.something_is_left().filter(|_| holds));
        let formulas = std::iter::once((formula, holds)).chain(conditions.map(|condition| (condition, true)));
        for ((formula, wanted), proof) in formulas.zip(&decided.proofs) {
            self.add(property.name(), formula, wanted, proof);
        }
        if let Some(vacuous) = &decided.vacuous {
            self.vacuous(property, bound, vacuous).filter(|()| holds)?;
        }
        let observes_hazards = *property.kind() == PropertyKind::Inherent;
        self.goals[first..].iter_mut().for_each(|goal| goal.observes_hazards = observes_hazards);
        Some(())
    }

    fn vacuous(&mut self, property: &Property, bound: &BoundProperty, vacuous: &'c Vacuous) -> Option<()> {
        let part = vacuous.part as usize;
        let strengthening = strengthenings(&bound.formula, part.checked_add(1)?).into_iter().nth(part)?;
        for (formula, proof) in strengthening.formulas.iter().zip(&vacuous.proofs) {
            let name = format!("vacuity of {}", property.name());
            self.add(&name, bound.from_start(formula).ok()?, true, proof);
        }
        (strengthening.formulas.len() == vacuous.proofs.len()).then_some(())
    }
}
