//! Definitions: names that stand for formulas.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::atom::Comparison;
use crate::formula::{Formula, MAX_DEPTH, MAX_SIZE, Variable};

/// Formulas by name. In a formula, the name alone (unquoted) stands for the whole formula, as if in parentheses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definitions {
    formulas: BTreeMap<String, Formula<Comparison>>,
}

impl Definitions {
    /// No definitions.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives a formula a name; returns the formula that had the name before.
    pub fn define(&mut self, name: &str, formula: Formula<Comparison>) -> Option<Formula<Comparison>> {
        self.formulas.insert(name.to_owned(), formula)
    }

    /// The formula with this name, as it was defined.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Formula<Comparison>> {
        self.formulas.get(name)
    }

    /// All names, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.formulas.keys().map(String::as_str)
    }

    /// Replaces every defined name in `formula`, and in what replaces it.
    ///
    /// # Errors
    /// If a definition uses itself, a variable has the name of a definition, or the result is too deep or too large.
    pub fn expand(&self, formula: &Formula<Comparison>) -> Result<Formula<Comparison>, ExpandError> {
        Expansion { definitions: self, active: Vec::new(), size: 0 }.expand(formula, 0)
    }
}

/// The reason why a formula could not be expanded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ExpandError {
    /// A definition that needs itself.
    #[error("the definition uses itself: {}", path.join(" -> "))]
    Recursive {
        /// The names from the first use to the repeated one.
        path: Vec<String>,
    },
    /// A variable that hides a definition.
    #[error("the fixed-point variable `{name}` has the name of a definition; rename one of them")]
    Shadowed {
        /// The name.
        name: String,
    },
    /// Nested too deeply.
    #[error("with its definitions the formula is nested more than {MAX_DEPTH} levels deep; split it")]
    TooDeep,
    /// Too large.
    #[error("with its definitions the formula has more than {MAX_SIZE} parts; split it")]
    TooLarge,
}

struct Expansion<'d> {
    definitions: &'d Definitions,
    /// The definitions being expanded, outermost first.
    active: Vec<&'d str>,
    size: usize,
}

impl<'d> Expansion<'d> {
    fn expand(&mut self, formula: &Formula<Comparison>, depth: usize) -> Result<Formula<Comparison>, ExpandError> {
        self.check(formula, depth)?;
        let mut below = |child: &Formula<Comparison>| self.expand(child, depth + 1);
        if let Formula::Atom(atom) = formula {
            return match atom.bare_name().and_then(|name| self.definitions.formulas.get_key_value(name)) {
                Some((name, definition)) => self.unfold(name, definition, depth),
                None => Ok(formula.clone()),
            };
        }
        formula.try_map_children(&mut below)
    }

    fn check(&mut self, formula: &Formula<Comparison>, depth: usize) -> Result<(), ExpandError> {
        self.size += 1;
        if self.size > MAX_SIZE {
            return Err(ExpandError::TooLarge);
        }
        if depth > MAX_DEPTH {
            return Err(ExpandError::TooDeep);
        }
        match formula {
            Formula::Fixed(_, variable, _) => self.check_variable(variable),
            Formula::Equations(_, equations, _) => {
                equations.iter().try_for_each(|(variable, _)| self.check_variable(variable))
            }
            _ => Ok(()),
        }
    }

    fn check_variable(&self, variable: &Variable) -> Result<(), ExpandError> {
        match self.definitions.formulas.contains_key(&variable.name) {
            true => Err(ExpandError::Shadowed { name: variable.name.clone() }),
            false => Ok(()),
        }
    }

    fn unfold(
        &mut self,
        name: &'d str,
        definition: &Formula<Comparison>,
        depth: usize,
    ) -> Result<Formula<Comparison>, ExpandError> {
        if let Some(start) = self.active.iter().position(|active| *active == name) {
            let path = self.active[start..].iter().chain([&name]).map(|&name| name.to_owned()).collect();
            return Err(ExpandError::Recursive { path });
        }
        self.active.push(name);
        let expanded = self.expand(definition, depth + 1);
        self.active.pop();
        expanded
    }
}
