//! The proof obligations, bound as a checker binds them: the properties one after the other, then the depths of the
//! stack.

use avr_properties::{AtomTable, BoundProperty, Property, PropertyKind, StackLimit, bind};
use mu_calculus::{NormalForm, strengthenings};

use crate::request::Request;
use crate::stack_bound::StackBound;

/// The properties of a request and the depths of the stack as formulas.
pub(super) struct Bound {
    /// Their atoms: first those of the verification, with the same numbers.
    pub(super) table: AtomTable,
    /// One for each property; none where it means nothing.
    properties: Vec<Option<BoundProperty>>,
    /// A depth that no run exceeds: the bytes, and the formula that holds.
    pub(super) upper: Option<(u32, NormalForm)>,
    /// A depth that some run reaches: the bytes, and the formula that is violated.
    pub(super) lower: Option<(u32, NormalForm)>,
}

impl Bound {
    pub(super) fn new(request: &Request<'_>, stack: StackBound) -> Self {
        let binding = request.binding();
        let mut table = AtomTable::new();
        let mut formula = |property: &Property| bind(property, &request.file.definitions, &binding, &mut table).ok();
        let properties = request.file.properties.iter().map(&mut formula).collect();
        let mut at_most = |bytes: u32| {
            let property = Property::new("", PropertyKind::Stack(StackLimit::MaxBytes(bytes)));
            let bound = formula(&property)?;
            bound.from_start(&bound.formula).ok()
        };
        let upper = stack.upper.and_then(|bytes| Some((bytes, at_most(bytes)?)));
        // Every run is 0 bytes deep somewhere.
        let lower = stack.lower.filter(|bytes| *bytes > 0).and_then(|bytes| Some((bytes, at_most(bytes - 1)?)));
        Self { table, properties, upper, lower }
    }

    /// The formulas that hold if a part of a property does not matter.
    pub(super) fn strengthened(&self, property: usize, part: usize) -> Option<Vec<NormalForm>> {
        let bound = self.properties.get(property)?.as_ref()?;
        let strengthening = strengthenings(&bound.formula, part + 1).into_iter().nth(part)?;
        let formulas = strengthening.formulas.iter();
        formulas.map(|formula| bound.from_start(formula).ok()).collect()
    }
}
