//! Equations of joins: the affine hull of two states (Karr, "Affine relationships among variables of a program").

use std::collections::BTreeSet;

use avr_isa::{DataAddress, Register};

use crate::equalities::{Silence, Value};
use crate::equations::{Differing, Equations, Variable};
use crate::map::State;
use crate::memory::Store;
use crate::rows::{Echelon, Place, Row, eliminated};

/// The most that a byte differs by that is taken for a count.
const MOST_COUNTED: u32 = 8;

/// A variable while the forms that two lists of equations share are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Half {
    First(Variable),
    Second(Variable),
}

/// Left sides that both lists of equations have among their consequences (Zassenhaus).
fn intersection(one: &[Row<Variable>], other: &[Row<Variable>]) -> Vec<Row<Variable>> {
    let first = |row: &Row<Variable>| row.map(|variable| Place::Is(Half::First(variable)));
    let mut rows: Vec<Row<Half>> = other.iter().map(first).collect();
    for row in one {
        let terms = row.terms().iter();
        let both =
            terms.flat_map(|(variable, times)| [(Half::First(*variable), *times), (Half::Second(*variable), *times)]);
        rows.push(Row::new(both.collect(), 0));
    }
    let left = eliminated(rows, |half| matches!(half, Half::First(_)));
    let variable = |half: Half| {
        let (Half::First(variable) | Half::Second(variable)) = half;
        Place::Is(variable)
    };
    left.iter().map(|row| row.map(variable)).filter(|row| !row.terms().is_empty()).collect()
}

/// The sum of terms that a form is, with its value in each of two states.
struct Form {
    row: Row<Variable>,
    difference: u32,
}

impl State {
    /// The constant that the left side of an equation is in this state, if there is one.
    fn constant_of(
        &self,
        form: &Row<Variable>,
        echelon: &Echelon<Variable>,
        (silence, store): (Silence, &Store),
    ) -> Option<u32> {
        let meaning = |variable| self.meaning(variable, silence, store, super::STATUS);
        let left = Row::new(form.terms().to_vec(), 0).map(meaning);
        let left = echelon.reduced(&left);
        left.terms().is_empty().then_some(left.constant.wrapping_neg())
    }

    /// The equations that are true in this state and in another one, where `all` is their join but for equations.
    pub(crate) fn joined_equations(
        &self,
        other: &Self,
        all: &Self,
        differing: Differing,
        (silence, store): (Silence, &Store),
    ) -> Equations {
        let is_without = self.equations.list().is_empty() && other.equations.list().is_empty();
        if is_without && differing == Differing::None {
            return Equations::default();
        }
        let [own, others] = [self, other].map(|state| state.rows(silence, store));
        let (Some(here), Some(there)) = (Echelon::new(own.clone()), Echelon::new(others.clone())) else {
            return Equations::default();
        };
        let mut rows: Vec<Row<Variable>> = own.iter().chain(&others).cloned().collect();
        if differing == Differing::Registers {
            let counted = Register::all().map(Register::address).filter(|cell| self.counts_to(other, *cell, store));
            rows.extend(counted.map(|cell| Row::new(vec![(Variable::Byte(Value::Of(cell)), 1)], 0)));
        }
        let form = |row: &Row<Variable>| {
            let a = self.constant_of(row, &here, (silence, store))?;
            let b = other.constant_of(row, &there, (silence, store))?;
            Some(Form { row: Row::new(row.terms().to_vec(), a), difference: a.wrapping_sub(b) })
        };
        let mut forms: Vec<Form> = rows.iter().filter_map(form).collect();
        if forms.len() < rows.len() {
            let variables: BTreeSet<Variable> = rows.iter().flat_map(|row| row.terms()).map(|term| term.0).collect();
            let told = |state: &Self, rows: &[Row<Variable>]| state.told(rows, &variables, (silence, store));
            let common = intersection(&told(self, &own), &told(other, &others));
            forms = common.iter().filter_map(form).collect();
        }
        // All others are combined with one of which the difference divides theirs.
        let differing = forms.iter().enumerate().filter(|(_, form)| form.difference != 0);
        let pivot = differing.min_by_key(|(index, form)| (form.difference.trailing_zeros(), *index));
        let pivot = pivot.map(|(index, _)| index).map(|index| forms.remove(index));
        let mut common = Vec::new();
        for form in forms {
            if form.difference == 0 {
                common.push(form.row);
            } else if let Some(pivot) = &pivot {
                let twos = pivot.difference.trailing_zeros();
                let factor = (form.difference >> twos).wrapping_mul(crate::rows::inverse(pivot.difference >> twos));
                common.push(form.row.less(factor, &pivot.row));
            }
        }
        let meaning = |variable| match all.meaning(variable, silence, store, super::STATUS) {
            Place::Is(variable) => Place::Is(variable),
            known @ Place::Known(_) => known,
        };
        Equations::of(common.iter().map(|row| row.map(meaning)).collect()).unwrap_or_default()
    }

    /// The equations of a state with those that tell what some variables are, and which are the same.
    fn told(
        &self,
        rows: &[Row<Variable>],
        variables: &BTreeSet<Variable>,
        (silence, store): (Silence, &Store),
    ) -> Vec<Row<Variable>> {
        let known = variables.iter().filter_map(|variable| {
            let own = Row::new(vec![(*variable, 1)], 0);
            match self.meaning(*variable, silence, store, super::STATUS) {
                Place::Known(value) => Some(Row::new(vec![(*variable, 1)], value)),
                Place::Is(same) => (same != *variable).then(|| own.less(1, &Row::new(vec![(same, 1)], 0))),
            }
        });
        rows.iter().cloned().chain(known).collect()
    }

    /// True if a cell has a known content here and another one, near it, there.
    fn counts_to(&self, other: &Self, cell: DataAddress, store: &Store) -> bool {
        let [Some(one), Some(other)] = [self, other].map(|state| store.cell(&state.memory, cell).known()) else {
            return false;
        };
        let apart = u32::from(one.abs_diff(other));
        apart > 0 && apart.min(256 - apart) <= MOST_COUNTED
    }
}
