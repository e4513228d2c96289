//! Equations behind a step.

use std::collections::BTreeSet;

use avr_isa::{Instruction, LpmMode, Pointer, PointerMode, Register};
use avr_machine::Machine;

use super::carry;
use crate::equalities::{Silence, Value};
use crate::equations::{Equations, Variable};
use crate::faults::{Fault, is_on};
use crate::map::State;
use crate::memory::Store;
use crate::rows::{Place, Row, eliminated};

/// 2^16: times an equation, it holds modulo 65536.
const WORD: u32 = 1 << 16;

/// 2^24: times an equation, it holds modulo 256.
const BYTE: u32 = 1 << 24;

/// A variable of before or behind a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Either {
    Before(Variable),
    Behind(Variable),
}

/// The state that a step begins with.
pub(crate) struct Step<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) state: &'a State,
    pub(crate) silence: Silence,
    pub(crate) store: &'a Store,
    /// True if the carry is as before.
    pub(crate) keeps_carry: bool,
}

/// True if equations are to be found of an instruction: it moves a carry or a shift from one byte to another.
pub(crate) fn counts(instruction: Instruction) -> bool {
    use Instruction as I;
    matches!(
        instruction,
        I::Add { .. }
            | I::Adc { .. }
            | I::Sub { .. }
            | I::Sbc { .. }
            | I::Subi { .. }
            | I::Sbci { .. }
            | I::Adiw { .. }
            | I::Sbiw { .. }
            | I::Inc { .. }
            | I::Dec { .. }
    ) || moved_pointer(instruction).is_some()
}

/// The pointer that an instruction moves, with what is added to it.
fn moved_pointer(instruction: Instruction) -> Option<(Pointer, u32)> {
    use Instruction as I;
    let by = |mode: PointerMode| match mode {
        PointerMode::PostIncrement => Some(1),
        PointerMode::PreDecrement => Some(u32::MAX),
        PointerMode::Displacement(_) => None,
    };
    let (pointer, by, moved) = match instruction {
        I::Ld { rd, pointer, mode } => (pointer, by(mode)?, Some(rd)),
        I::St { pointer, mode, rr } => (pointer, by(mode)?, Some(rr)),
        I::Lpm { rd, mode: LpmMode::PostIncrement } | I::Elpm { rd, mode: LpmMode::PostIncrement } => {
            (Pointer::Z, 1, Some(rd))
        }
        _ => return None,
    };
    // The result is not defined for a pointer that is itself loaded or stored.
    let is_lost = moved.is_some_and(|one| one == pointer.low() || one == pointer.high());
    (!is_lost).then_some((pointer, by))
}

/// True if an outcome of an instruction tells more of its operands.
pub(crate) fn decides(instruction: Instruction) -> bool {
    use Instruction as I;
    matches!(
        instruction,
        I::Cp { .. } | I::Cpc { .. } | I::Cpi { .. } | I::Cpse { .. } | I::And { .. } | I::Brbs { .. } | I::Brbc { .. }
    ) || counts(instruction)
}

impl Step<'_> {
    fn before(&self, register: Register) -> Either {
        Either::Before(Variable::Byte(self.state.canonical(Value::Of(register.address()), self.silence)))
    }

    /// The equation of an instruction.
    ///
    /// SOUND: d' = d + k + c - 256c' for ADC, d' = d - k - c + 256c' for SBC, as in the table of instructions.
    fn of(&self, instruction: Instruction, behind: &State) -> Option<Row<Either>> {
        use Instruction as I;
        let old = Either::Before(Variable::Carry);
        let new = Either::Behind(Variable::Carry);
        let minus = u32::MAX;
        let result = |register: Register| {
            Either::Behind(Variable::Byte(behind.canonical(Value::Of(register.address()), self.silence)))
        };
        let with_carry = if is_on(Fault::EquationsWithoutCarry) { 0 } else { 1 };
        let sum = |rd: Register, rr: Register, carried: u32| {
            let operands = [(self.before(rd), minus), (self.before(rr), minus), (old, carried.wrapping_neg())];
            Row::new([&operands[..], &[(result(rd), 1), (new, 256)]].concat(), 0)
        };
        let difference = |rd: Register, other: Option<Register>, k: u8, carried: u32| {
            let mut terms =
                vec![(self.before(rd), minus), (result(rd), 1), (old, carried), (new, 256_u32.wrapping_neg())];
            terms.extend(other.map(|rr| (self.before(rr), 1)));
            Row::new(terms, u32::from(k).wrapping_neg())
        };
        let pair = |rd: Register, number: u32, carried: u32| {
            let high = rd.next();
            let terms = vec![
                (self.before(rd), minus),
                (self.before(high), 256_u32.wrapping_neg()),
                (result(rd), 1),
                (result(high), 256),
                (new, carried),
            ];
            Row::new(terms, number)
        };
        let count = |rd: Register, number: u32| {
            Row::new(vec![(self.before(rd), BYTE.wrapping_neg()), (result(rd), BYTE)], number.wrapping_mul(BYTE))
        };
        if let Some((pointer, by)) = moved_pointer(instruction) {
            let [low, high] = [pointer.low(), pointer.high()];
            let terms = vec![
                (self.before(low), WORD.wrapping_neg()),
                (self.before(high), BYTE.wrapping_neg()),
                (result(low), WORD),
                (result(high), BYTE),
            ];
            return Some(Row::new(terms, by.wrapping_mul(WORD)));
        }
        Some(match instruction {
            I::Add { rd, rr } => sum(rd, rr, 0),
            I::Adc { rd, rr } => sum(rd, rr, with_carry),
            I::Sub { rd, rr } => difference(rd, Some(rr), 0, 0),
            I::Sbc { rd, rr } => difference(rd, Some(rr), 0, with_carry),
            I::Subi { rd, k } => difference(rd, None, k, 0),
            I::Sbci { rd, k } => difference(rd, None, k, with_carry),
            I::Adiw { rd, k } => pair(rd, k.into(), 0x1_0000),
            I::Sbiw { rd, k } => pair(rd, u32::from(k).wrapping_neg(), 0x1_0000_u32.wrapping_neg()),
            I::Inc { rd } => count(rd, 1),
            I::Dec { rd } => count(rd, minus),
            _ => return None,
        })
    }

    /// The equations behind a step, in which `renamed` tells what cells hold a value of before; none if no concrete state fulfils them.
    pub(crate) fn equations(
        &self,
        executed: Option<Instruction>,
        renamed: &dyn Fn(Value) -> Option<Value>,
        behind: &State,
    ) -> Option<Equations> {
        let (silence, store) = (self.silence, self.store);
        let status = self.machine.status_address();
        let mut rows: Vec<Row<Either>> = Vec::new();
        for row in self.state.rows(silence, store) {
            rows.push(row.map(|variable| Place::Is(Either::Before(variable))));
        }
        rows.extend(executed.and_then(|instruction| self.of(instruction, behind)));
        let old: BTreeSet<Variable> = rows
            .iter()
            .flat_map(|row| row.terms())
            .filter_map(|(variable, _)| match variable {
                Either::Before(variable) => Some(*variable),
                Either::Behind(_) => None,
            })
            .collect();
        let place = |variable: Variable| match variable {
            Variable::Byte(value) => match self.state.byte(value, silence, store).known() {
                Some(known) => Place::Known(known.into()),
                None => renamed(value).map_or(Place::Is(Either::Before(variable)), |now| {
                    Place::Is(Either::Behind(Variable::Byte(behind.canonical(now, silence))))
                }),
            },
            Variable::Carry => match carry(store.cell(&self.state.memory, status)) {
                Some(known) => Place::Known(known),
                None if self.keeps_carry || is_on(Fault::CarryKept) => Place::Is(Either::Behind(variable)),
                None => Place::Is(Either::Before(variable)),
            },
        };
        let places: Vec<(Variable, Place<Either>)> = old.into_iter().map(|one| (one, place(one))).collect();
        let moved = |variable: Either| match variable {
            Either::Behind(_) => Place::Is(variable),
            Either::Before(old) => match places.iter().find(|one| one.0 == old) {
                Some((_, Place::Known(value))) => Place::Known(*value),
                Some((_, Place::Is(now))) => Place::Is(*now),
                None => Place::Is(variable),
            },
        };
        let rows: Vec<Row<Either>> = rows.iter().map(|row| row.map(moved)).collect();
        let left = eliminated(rows, |variable| matches!(variable, Either::Before(_)));
        let own = |variable: Either| {
            let (Either::Before(variable) | Either::Behind(variable)) = variable;
            behind.meaning(variable, silence, store, status)
        };
        Equations::of(left.iter().map(|row| row.map(own)).collect())
    }
}

impl State {
    /// The equations of this state of which all bytes are told by `still` behind something that others do, without the carry if that is changed.
    pub(crate) fn equations_behind(
        &self,
        still: &dyn Fn(Value) -> Option<Value>,
        keeps_carry: bool,
        behind: &Self,
        silence: Silence,
        store: &Store,
    ) -> Equations {
        let name = |variable: Variable| match variable {
            Variable::Byte(value) => still(value).map(Variable::Byte),
            Variable::Carry => keeps_carry.then_some(variable),
        };
        let moved = |variable: Variable| match name(variable) {
            Some(now) => Place::Is(Either::Behind(now)),
            None => Place::Is(Either::Before(variable)),
        };
        let rows = self.rows(silence, store).iter().map(|row| row.map(moved)).collect();
        let left = eliminated(rows, |variable| matches!(variable, Either::Before(_)));
        let own = |variable: Either| {
            let (Either::Before(variable) | Either::Behind(variable)) = variable;
            behind.meaning(variable, silence, store, super::STATUS)
        };
        Equations::of(left.iter().map(|row| row.map(own)).collect()).unwrap_or_default()
    }
}
