//! Linear equations between bytes, modulo 2^32, as states have them.

mod bounds;
mod join;
mod step;

use crate::equalities::Silence;
use crate::equations::Variable;
use crate::faults::{Fault, is_on};
use crate::map::State;
use crate::memory::Store;
use crate::rows::{Echelon, Place, Row};
use avr_isa::DataAddress;
use avr_machine::flag;
use three_valued::{ByteDomain, TvByte};

pub(crate) use step::{Step, counts, decides};

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
