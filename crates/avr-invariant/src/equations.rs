//! Linear equations between bytes, as states have them.

use crate::equalities::{Silence, Value};
use crate::rows::{Echelon, Row};

/// The most equations of a state.
const MOST_EQUATIONS: usize = 10;

/// The most variables of an equation.
const MOST_TERMS: usize = 8;

/// A variable of an equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variable {
    /// The content of a cell, now or at the beginning of the handler.
    Byte(Value),
    /// The carry, 0 or 1.
    Carry,
}

/// An equation: the sum of coefficients times variables is the constant, modulo 2^32.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Equation {
    /// The variables with their coefficients.
    pub terms: Box<[(Variable, u32)]>,
    /// The constant.
    pub constant: u32,
}

impl Equation {
    /// True if the equation is one that the states of a machine with so many cells can have in a thread.
    #[must_use]
    pub fn is_well_formed(&self, silence: Silence, cells: usize) -> bool {
        self.terms.iter().all(|(variable, _)| match variable {
            Variable::Byte(Value::Of(cell)) => cell.index() < cells,
            Variable::Byte(Value::Entry(cell)) => silence == Silence::Unchanged && cell.index() < cells,
            Variable::Byte(Value::Result(_)) => false,
            Variable::Carry => true,
        })
    }

    /// True of concrete contents.
    #[must_use]
    pub fn is_true(&self, carry: bool, content: &dyn Fn(Value) -> u8) -> bool {
        let value = |variable: &Variable| match variable {
            Variable::Byte(value) => content(*value).into(),
            Variable::Carry => u32::from(carry),
        };
        let sum = self
            .terms
            .iter()
            .fold(0_u32, |sum, (variable, coefficient)| sum.wrapping_add(coefficient.wrapping_mul(value(variable))));
        sum == self.constant
    }

    /// The equation as a row.
    pub(crate) fn row(&self) -> Row<Variable> {
        Row::new(self.terms.to_vec(), self.constant)
    }
}

/// The equations of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Equations(Box<[Equation]>);

impl Equations {
    /// These equations.
    #[must_use]
    pub fn new(list: Vec<Equation>) -> Self {
        Self(list.into())
    }

    /// The list.
    #[must_use]
    pub fn list(&self) -> &[Equation] {
        &self.0
    }

    /// Some of the equations of a list that do not contradict each other; none if they do.
    pub(crate) fn of(rows: Vec<Row<Variable>>) -> Option<Self> {
        let mut rows = Echelon::new(rows)?.into_rows();
        rows.retain(|row| (1..=MOST_TERMS).contains(&row.terms().len()));
        rows.sort_unstable_by(|one, other| (one.terms().len(), one).cmp(&(other.terms().len(), other)));
        rows.truncate(MOST_EQUATIONS);
        rows.sort_unstable();
        let equation = |row: Row<Variable>| Equation { terms: row.terms().into(), constant: row.constant };
        Some(Self(rows.into_iter().map(equation).collect()))
    }
}

/// The known bytes that count as variables where states are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Differing {
    /// None.
    None,
    /// Registers that differ by a little: numbers that a loop counts.
    Registers,
}
