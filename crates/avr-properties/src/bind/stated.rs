//! Properties as texts in which every definition is replaced by its formula, so that two of them can be compared.

use std::convert::Infallible;

use mu_calculus::{AtomId, Formula, Modality, PathOperator, PathQuantifier, parse_path};

use super::pattern::{margin_text, task_stack_text};
use super::{Binder, Binding};
use crate::atom::{AtomKind, AtomTable};
use crate::definitions::Definitions;
use crate::error::PropertyError;
use crate::property::{InvariantStart, Property, PropertyKind, StackLimit};

/// A property as it is stated, independent of names that the property file defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stated {
    /// The formula with all definitions expanded. Symbols of the image keep their names.
    pub(crate) formula: String,
    /// The first states that it speaks of, if it is an invariant.
    pub(crate) from: Option<InvariantStart>,
    /// The formulas that versions before this one read in the same text, as `formula` is written.
    pub(crate) earlier_readings: Vec<String>,
    /// The fairness that is assumed, with all definitions expanded.
    pub(crate) under: Vec<String>,
    /// True if it holds of some of the runs wherever it holds of all: it is universal, speaks of hazards only as the
    /// inherent property does, and assumes no fairness.
    pub(crate) is_monotone: bool,
}

/// States a property.
///
/// # Errors
/// As [`bind`](super::bind), except that a formula which grows too large in normal form is none.
pub(crate) fn stated(
    property: &Property,
    definitions: &Definitions,
    binding: &Binding<'_>,
) -> Result<Stated, PropertyError> {
    let mut table = AtomTable::new();
    let stated = Binder::new(definitions, binding, &mut table).stated(property);
    stated.map_err(|error| error.of_property(property.name(), property.place()))
}

/// True if a property, or what it assumes, speaks of the start-up code; false if it cannot be bound.
pub(crate) fn observes_startup(property: &Property, definitions: &Definitions, binding: &Binding<'_>) -> bool {
    let mut table = AtomTable::new();
    let stated = Binder::new(definitions, binding, &mut table).stated(property);
    stated.is_ok() && table.atoms().iter().any(|atom| *atom.kind() == AtomKind::InStartup)
}

impl Binder<'_> {
    fn stated(&mut self, property: &Property) -> Result<Stated, PropertyError> {
        let (formula, _) = self.pattern(property)?;
        let observes_hazards = formula.atoms().iter().any(|atom| *self.table.get(**atom).kind() == AtomKind::Hazard);
        let knows_hazards = !observes_hazards || property.kind == PropertyKind::Inherent;
        let under = property.under.iter().map(|text| {
            let text = text.trim();
            self.bound(text, parse_path(text)).map(|condition| self.expanded(&condition))
        });
        let under = under.collect::<Result<Vec<String>, _>>()?;
        let earlier = self.earlier_readings(property, &formula);
        Ok(Stated {
            from: self.from,
            earlier_readings: earlier.iter().map(|formula| self.expanded(formula)).collect(),
            is_monotone: is_universal(&formula, true) && knows_hazards && under.is_empty(),
            formula: match property.kind {
                // The address depends on the image, the limit does not.
                PropertyKind::Stack(StackLimit::Margin(bytes)) => margin_text(bytes),
                PropertyKind::StackOf { ref of, limit } => task_stack_text(of, limit),
                _ => self.expanded(&formula),
            },
            under,
        })
    }

    /// The formulas that an invariant was before some invariants began with `main`, and a condition without temporal
    /// operators before it was an invariant.
    fn earlier_readings(&self, property: &Property, formula: &Formula<AtomId>) -> Vec<Formula<AtomId>> {
        let Formula::Path(PathQuantifier::All, PathOperator::Always, checked) = formula else { return Vec::new() };
        let is_by_default = property.from.is_none() && self.from == Some(InvariantStart::Main);
        let everywhere = match &**checked {
            Formula::Or(parts) if is_by_default && parts.len() == 2 => &parts[1],
            checked => checked,
        };
        let always = Formula::Path(PathQuantifier::All, PathOperator::Always, Box::new(everywhere.clone()));
        let always = is_by_default.then_some(always);
        always.into_iter().chain(property.was_condition.then(|| everywhere.clone())).collect()
    }

    /// The text of a formula over atoms; white space in atoms does not distinguish them.
    pub(super) fn expanded(&self, formula: &Formula<AtomId>) -> String {
        let text = |atom: &AtomId| self.table.get(*atom).text().split_whitespace().collect::<Vec<_>>().join(" ");
        match formula.try_map_atoms(&mut |atom| Ok::<_, Infallible>(text(atom))) {
            Ok(named) => named.to_string(),
            Err(never) => match never {},
        }
    }
}

/// True if a formula, or its negation where `positive` is false, speaks of all runs and never of the existence of one.
fn is_universal<A>(formula: &Formula<A>, positive: bool) -> bool {
    let here = match formula {
        Formula::Modal(modality, _) => (*modality == Modality::Box) == positive,
        Formula::Path(quantifier, ..) | Formula::PathPair(quantifier, ..) | Formula::Quantified(quantifier, _) => {
            (*quantifier == PathQuantifier::All) == positive
        }
        _ => true,
    };
    here && match formula {
        Formula::Not(p) => is_universal(p, !positive),
        Formula::Implies(p, q) => is_universal(p, !positive) && is_universal(q, positive),
        Formula::Choice(condition, p, q) => {
            let is_of_state = is_universal(condition, true) && is_universal(condition, false);
            is_of_state && is_universal(p, positive) && is_universal(q, positive)
        }
        Formula::Iff(..) => {
            formula.children().into_iter().all(|child| is_universal(child, true) && is_universal(child, false))
        }
        _ => formula.children().into_iter().all(|child| is_universal(child, positive)),
    }
}

#[cfg(test)]
mod tests {
    use super::is_universal;
    use mu_calculus::parse_formula;

    #[track_caller]
    fn check(text: &str, expected: bool) {
        let formula = parse_formula(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(is_universal(&formula, true), expected, "{text}");
        assert_eq!(is_universal(&formula, false), !expected, "{text}");
    }

    #[test]
    fn formulas_about_all_runs_are_told_from_those_about_some() {
        check("AG (p == 1)", true);
        check("!EF (p == 1)", true);
        check("A[p == 1 U q == 1]", true);
        check("A[G F (p == 1)]", true);
        check("nu X. p == 1 && []X", true);
        check("AF (p == 1) -> q == 1", false);
        check("EF (p == 1) -> q == 1", true);
        check("EF (p == 1)", false);
        check("E[F G (p == 1)]", false);
        check("mu X. p == 1 || <>X", false);
    }

    #[test]
    fn formulas_about_all_and_some_runs_are_about_neither_alone() {
        for text in ["AG EF (p == 1)", "AG (p == 1) <-> q == 1", "AG (p == 1) && EF (q == 1)", "[](<>(p == 1))"] {
            let formula = parse_formula(text).expect("it is a formula");
            assert!(!is_universal(&formula, true) && !is_universal(&formula, false), "{text}");
        }
        let boolean = parse_formula("p == 1 <-> q == 1").expect("it is a formula");
        assert!(is_universal(&boolean, true) && is_universal(&boolean, false));
    }
}
