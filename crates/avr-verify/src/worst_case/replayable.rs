//! The evidence of a worst case: the property that its run violates, and what is left for those who trust no model.

use avr_properties::{Property, PropertyError, formula_text};

use super::{Fit, WorstCase, overflow};
use crate::request::Request;
use crate::results::{Basis, PropertyResult, Statistics, Verdict};
use avr_witness::Evidence;

impl WorstCase {
    /// The answer for those who accept only runs that the hardware can take: one that rests on the model shows nothing. The
    /// upper bound speaks of all runs and stays.
    #[must_use]
    pub fn strict(mut self) -> Self {
        let shown = self.run_depth().filter(|_| self.basis == Basis::Hardware);
        let Some(lower) = self.bound.lower.filter(|lower| shown < Some(*lower)) else {
            return self.without_run_in_model();
        };
        self.reasons.push(format!(
            "that some run needs {lower} bytes rests on a choice which the hardware would determine, and strictness was asked for"
        ));
        self.bound.lower = shown;
        self.without_run_in_model()
    }

    fn without_run_in_model(mut self) -> Self {
        if self.basis == Basis::Model && self.run.take().is_some() {
            self.cycles_shown.clear();
            self.chain.clone_from(&self.survey.deepest);
            if self.fit == Fit::Overflows {
                self.fit = Fit::Unknown;
            }
        }
        self
    }

    /// The run as what shows that a property is violated: that less stack is enough, or that no hazard happens.
    ///
    /// # Errors
    /// Never, as long as the text of a stack property is one.
    pub fn violation(&self, request: &Request<'_>) -> Result<Option<PropertyResult>, PropertyError> {
        let Some(run) = &self.run else { return Ok(None) };
        let property = match (overflow(run), self.run_depth()) {
            (None, Some(depth @ 1..)) => Property::from_command_line(&format!("Stack(max_bytes: {})", depth - 1))?,
            _ => Property::inherent(),
        };
        Ok(Some(self.violated(&property, run, request)))
    }

    fn violated(&self, property: &Property, run: &Evidence, request: &Request<'_>) -> PropertyResult {
        PropertyResult {
            name: property.name().to_owned(),
            kind: property.kind().name().to_owned(),
            formula: formula_text(property, &request.file.definitions, &request.binding()),
            verdict: Verdict::Violated,
            detail: None,
            basis: self.basis,
            predicates: Vec::new(),
            methods: Vec::new(),
            recheck: None,
            statistics: Statistics::default(),
            evidence: Some(run.clone()),
            evidence_missing: None,
            vacuous: None,
            explanation: None,
            notes: Vec::new(),
            promises: Vec::new(),
        }
    }
}
