//! Linear equations between bytes, modulo 2^32, as states have them.

mod bounds;
mod join;
mod rows;
mod step;

use crate::equalities::{Silence, Value};
use crate::faults::{Fault, is_on};
use crate::map::State;
use crate::memory::Store;
use avr_isa::DataAddress;
use avr_machine::flag;
use rows::{Echelon, Place, Row};
use three_valued::{ByteDomain, TvByte};

pub(crate) use join::Differing;
pub(crate) use step::{Step, counts, decides};

/// The most equations of a state.
const MOST_EQUATIONS: usize = 10;

/// The most variables of an equation.
const MOST_TERMS: usize = 8;

/// A variable of an equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variable {
    /// What a cell holds, or held when the handler began.
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

    fn row(&self) -> Row<Variable> {
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
    fn of(rows: Vec<Row<Variable>>) -> Option<Self> {
        let mut rows = Echelon::new(rows)?.into_rows();
        rows.retain(|row| (2..=MOST_TERMS).contains(&row.terms().len()));
        rows.sort_unstable_by(|one, other| (one.terms().len(), one).cmp(&(other.terms().len(), other)));
        rows.truncate(MOST_EQUATIONS);
        rows.sort_unstable();
        let equation = |row: Row<Variable>| Equation { terms: row.terms().into(), constant: row.constant };
        Some(Self(rows.into_iter().map(equation).collect()))
    }
}

impl State {
    /// The meaning of a variable in this state: the same for all bytes that are known to be the same.
    fn meaning(&self, variable: Variable, silence: Silence, store: &Store, status: DataAddress) -> Place<Variable> {
        let known = match variable {
            Variable::Byte(value) => self.byte(value, silence, store).known().map(u32::from),
            Variable::Carry => carry(store.cell(&self.memory, status)),
        };
        match (known, variable) {
            (Some(number), _) => Place::Known(number),
            (None, Variable::Byte(value)) => Place::Is(Variable::Byte(self.canonical(value, silence))),
            (None, Variable::Carry) => Place::Is(variable),
        }
    }

    /// The equations in the names of this state.
    fn rows(&self, silence: Silence, store: &Store) -> Vec<Row<Variable>> {
        let meaning = |variable| self.meaning(variable, silence, store, STATUS);
        self.equations.list().iter().map(|equation| equation.row().map(meaning)).collect()
    }

    /// True if each equation of this state follows from those of `fine`, and from what is known and equal there.
    pub(crate) fn covers_equations(&self, fine: &Self, silence: Silence, store: &Store) -> bool {
        if self.equations.list().is_empty() || is_on(Fault::EquationsUnchecked) {
            return true;
        }
        let nothing = Row::new(Vec::new(), 0);
        let meaning = |variable| fine.meaning(variable, silence, store, STATUS);
        let own = self.equations.list().iter().map(|equation| equation.row().map(meaning));
        let mut open: Vec<Row<Variable>> = own.filter(|row| *row != nothing).collect();
        if open.is_empty() {
            return true;
        }
        let Some(echelon) = Echelon::new(fine.rows(silence, store)) else { return false };
        open.retain(|row| echelon.reduced(row) != nothing);
        open.is_empty()
    }
}

/// SREG, which is at the same address in all cores.
const STATUS: DataAddress = avr_isa::io_address(0x3f);

/// The carry, if it is known.
fn carry(status: TvByte) -> Option<u32> {
    status.bit(flag::C).known().map(u32::from)
}
