//! Integer expressions over a state, bound to addresses, and their evaluation.

use std::sync::Arc;

use avr_isa::{DataAddress, FlashByteAddress};
use mu_calculus::BinaryOperator;
use three_valued::TvByte;

use crate::value::Value;
use crate::view::StateView;

/// An unknown address with more candidates than this reads an unknown value.
const MAX_CANDIDATES: i128 = 256;

/// An integer expression. No operand reaches [`Value::LIMIT`]; the binding sees to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Expression {
    Constant(i128),
    /// The program counter in flash bytes.
    Pc,
    /// Data memory cells in little-endian order, one to eight.
    Cells(Box<[DataAddress]>),
    /// One bit of a cell.
    Bit {
        address: DataAddress,
        bit: u8,
    },
    /// `bytes` consecutive cells, little-endian, from an address that depends on the state.
    Memory {
        address: Box<Expression>,
        bytes: u8,
        map: Arc<MemoryMap>,
    },
    /// An element of an array with this many elements: the value where the index is one of them, and unknown elsewhere.
    Element {
        index: Box<Expression>,
        count: u32,
        value: Box<Expression>,
    },
    /// The byte that the event of the atom reads or writes.
    EventValue,
    /// The operand, which has this many bits, as a two's complement number.
    Signed(Box<Expression>, u32),
    Negate(Box<Expression>),
    Complement(Box<Expression>),
    Binary(BinaryOperator, Box<Expression>, Box<Expression>),
}

/// The cells that hold state, for addresses that are only known when the expression is evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MemoryMap {
    /// The last address of the data memory.
    pub(crate) end: DataAddress,
    /// The bits that are no state (hardware changes them, or there is no register), for addresses from 0.
    pub(crate) hidden: Box<[u8]>,
}

impl MemoryMap {
    /// The byte at an address; unknown where there is no memory.
    fn read(&self, view: &dyn StateView, address: i128) -> TvByte {
        match self.address(address) {
            Some(address) => view.cell(address).forget(self.hidden(address)),
            None => TvByte::UNKNOWN,
        }
    }

    fn address(&self, address: i128) -> Option<DataAddress> {
        u16::try_from(address).ok().map(DataAddress).filter(|address| *address <= self.end)
    }

    pub(crate) fn hidden(&self, address: DataAddress) -> u8 {
        self.hidden.get(address.index()).copied().unwrap_or(0)
    }
}

/// A state as expressions see it.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) view: &'a dyn StateView,
    pc: Value,
    /// The value of the event that the atom speaks of.
    event: TvByte,
}

impl<'a> Scope<'a> {
    pub(crate) fn of(view: &'a dyn StateView) -> Self {
        Self { view, pc: Value::constant(view.pc().0.into()), event: TvByte::UNKNOWN }
    }

    pub(crate) fn with_event(self, event: TvByte) -> Self {
        Self { event, ..self }
    }
}

impl Scope<'static> {
    /// The state of which nothing is known: what an expression is here it may be in any state.
    pub(crate) fn any_state() -> Self {
        let pc = Value::constant(0).join(Value::constant(u32::MAX.into()));
        Self { view: &AnyState, pc, event: TvByte::UNKNOWN }
    }
}

/// Unknown cells. Expressions read the other parts only through the [`Scope`].
struct AnyState;

impl StateView for AnyState {
    fn cell(&self, _address: DataAddress) -> TvByte {
        TvByte::UNKNOWN
    }

    fn pc(&self) -> FlashByteAddress {
        FlashByteAddress(0)
    }

    fn stack_pointer_torn(&self) -> bool {
        false
    }

    fn stack(&self) -> u8 {
        0
    }

    fn interrupt_depth(&self) -> usize {
        0
    }
}

impl Expression {
    /// The possible values of the expression in the states that the view stands for.
    pub(crate) fn evaluate(&self, scope: Scope<'_>) -> Value {
        match self {
            Self::Constant(value) => Value::constant(*value),
            Self::Pc => scope.pc,
            Self::Cells(addresses) => Value::from_bytes(addresses.iter().map(|address| scope.view.cell(*address))),
            Self::Bit { address, bit } => Value::from_bit(scope.view.cell(*address), *bit),
            Self::Memory { address, bytes, map } => read_memory(address.evaluate(scope), *bytes, map, scope.view),
            Self::Element { index, count, value } => {
                let (first, last) = index.evaluate(scope).range();
                // SOUND: an index that may lie outside of the array reads anything.
                let is_inside = first >= 0 && last < i128::from(*count);
                value.evaluate(if is_inside { scope } else { Scope::any_state() })
            }
            Self::EventValue => Value::from_bytes(std::iter::once(scope.event)),
            Self::Signed(operand, width) => operand.evaluate(scope).sign_extended(*width),
            Self::Negate(operand) => operand.evaluate(scope).negate(),
            Self::Complement(operand) => operand.evaluate(scope).complement(),
            Self::Binary(operator, left, right) => apply(*operator, left.evaluate(scope), right.evaluate(scope)),
        }
    }

    /// Calls `visit` with every subexpression, this one first.
    pub(crate) fn for_each(&self, visit: &mut dyn FnMut(&Self)) {
        visit(self);
        match self {
            Self::Memory { address: operand, .. }
            | Self::Signed(operand, _)
            | Self::Negate(operand)
            | Self::Complement(operand) => operand.for_each(visit),
            Self::Element { index, value, .. } => {
                index.for_each(visit);
                value.for_each(visit);
            }
            Self::Binary(_, left, right) => {
                left.for_each(visit);
                right.for_each(visit);
            }
            Self::Constant(_) | Self::Pc | Self::Cells(_) | Self::Bit { .. } | Self::EventValue => {}
        }
    }

    /// The width in bits of an operand that `signed` can read.
    pub(crate) fn width(&self) -> Option<u32> {
        match self {
            Self::Cells(addresses) => u32::try_from(8 * addresses.len()).ok(),
            Self::Bit { .. } => Some(1),
            Self::Memory { bytes, .. } => Some(8 * u32::from(*bytes)),
            Self::Element { value, .. } => value.width(),
            Self::Signed(_, width) => Some(*width),
            Self::EventValue => Some(8),
            _ => None,
        }
    }
}

pub(crate) fn apply(operator: BinaryOperator, left: Value, right: Value) -> Value {
    match operator {
        BinaryOperator::Or => left.or(right),
        BinaryOperator::Xor => left.xor(right),
        BinaryOperator::And => left.and(right),
        BinaryOperator::ShiftLeft => left.shift_left(right),
        BinaryOperator::ShiftRight => left.shift_right(right),
        BinaryOperator::Add => left.add(right),
        BinaryOperator::Subtract => left.subtract(right),
    }
}

/// The join over all addresses that are possible, or anything where they are too many.
fn read_memory(address: Value, bytes: u8, map: &MemoryMap, view: &dyn StateView) -> Value {
    let at = |address: i128| Value::from_bytes((0..bytes).map(|offset| map.read(view, address + i128::from(offset))));
    let anything = Value::from_bytes((0..bytes).map(|_| TvByte::UNKNOWN));
    let Some(candidates) = address.candidates(MAX_CANDIDATES) else { return anything };
    candidates.map(at).reduce(Value::join).unwrap_or(anything)
}

/// The cells that a read from `address` may hit; `None` where they are too many to list.
pub(crate) fn cells_at(address: Value, bytes: u8, map: &MemoryMap) -> Option<Vec<DataAddress>> {
    let cells = |address: i128| (0..bytes).filter_map(move |offset| map.address(address + i128::from(offset)));
    Some(address.candidates(MAX_CANDIDATES)?.flat_map(cells).collect())
}
