//! Remarks on verdicts that have to do with the start-up code before `main`.

use crate::results::{PropertyResult, Verdict};
use avr_machine::Machine;
use avr_properties::{Atom, BoundProperty, InvariantStart, Property, PropertyKind, without_always};
use avr_witness::fails_in_startup;
use mu_calculus::{Formula, PathOperator, PathQuantifier};

/// The remark on the result of a property, if there is one to make.
pub(crate) fn remark(
    (machine, atoms): (&Machine, &[Atom]),
    (property, bound): (&Property, &BoundProperty),
    result: &PropertyResult,
) -> Option<String> {
    match (&result.verdict, bound.from) {
        (Verdict::Holds, Some(InvariantStart::Main)) => {
            let Formula::Path(PathQuantifier::All, PathOperator::Always, either) = &bound.formula else { return None };
            let Formula::Or(parts) = &**either else { return None };
            fails_in_startup(machine, atoms, parts.last()?).then(|| {
                "before main is entered it is violated: memory holds anything until the start-up code sets it; \
                 from: \"reset\" counts these states too"
                    .to_owned()
            })
        }
        (Verdict::Violated, _) if result.evidence.as_ref()?.ends_in_startup => {
            if property.stated_start() == Some(InvariantStart::Reset) {
                return None;
            }
            let instead = instead(property, bound)?;
            Some(format!("the run ends before main is entered; to begin there: {instead}"))
        }
        _ => None,
    }
}

/// The entry that says the same from `main` on.
fn instead(property: &Property, bound: &BoundProperty) -> Option<String> {
    Some(match property.kind() {
        PropertyKind::Always { check } => format!("Always(check: {check:?}, from: \"main\")"),
        PropertyKind::Never { check } => format!("Never(check: {check:?}, from: \"main\")"),
        PropertyKind::Mutex { between } => format!("Mutex(between: {between:?}, from: \"main\")"),
        PropertyKind::Formula { check } => match without_always(check) {
            Some(condition) => format!("Always(check: {condition:?}, from: \"main\")"),
            None if bound.formula.is_boolean() => format!("Always(check: {check:?}, from: \"main\")"),
            None => format!("Formula(check: {:?})", format!("A[in_startup W (!in_startup && ({check}))]")),
        },
        _ => return None,
    })
}
