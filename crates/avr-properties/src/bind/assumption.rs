//! Assumptions about inputs become constant bits; those about interrupts become numbers.

use std::collections::{BTreeMap, BTreeSet};

use avr_isa::{DataAddress, FlashByteAddress};
use avr_machine::device::{BitKind, Condition, Register};
use mu_calculus::{Comparison, ComparisonKind, ComparisonOperator, ExprKind, Formula, parse_predicate};
use three_valued::{Truth, TvByte};

use super::operand::Context;
use super::{Binder, Binding, Fault, Subject};
use crate::atom::{AtomTable, Compare};
use crate::definitions::Definitions;
use crate::error::{PropertyError, PropertyErrorKind};
use crate::expression::{Expression, Scope};
use crate::file::{Assumption, PropertyFile};
use crate::nearest::nearest;
use crate::view::StateView;

/// An assumption about a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundAssumption {
    /// Hardware gives some bits of a register always the same value.
    Input {
        /// Data address of the register.
        address: DataAddress,
        /// The bits that are assumed; the others are unknown.
        bits: TvByte,
    },
    /// The interrupt with this vector number is never taken.
    Never(u8),
}

/// The conjunction of all assumptions about a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assumptions {
    /// Bits that hardware always gives the same value, by the data address of their register.
    pub inputs: BTreeMap<DataAddress, TvByte>,
    /// Vector numbers of the interrupts that are never taken.
    pub never: BTreeSet<u8>,
}

/// Binds the assumptions of a property file; those about one register hold together.
///
/// # Errors
/// If one of them cannot be used (see [`bind_assumption`]), or when it contradicts those before it.
pub fn bind_assumptions(file: &PropertyFile, binding: &Binding<'_>) -> Result<Assumptions, PropertyError> {
    let mut all = Assumptions::default();
    for (assumption, place) in file.assume.iter().zip(&file.assume_places) {
        all.add(assumption, binding).map_err(|error| error.of_property(&assumption.to_string(), Some(place)))?;
    }
    Ok(all)
}

impl Assumptions {
    fn add(&mut self, assumption: &Assumption, binding: &Binding<'_>) -> Result<(), PropertyError> {
        match bind_assumption(assumption, binding)? {
            BoundAssumption::Never(number) => {
                self.never.insert(number);
            }
            BoundAssumption::Input { address, bits } => {
                let before = self.inputs.entry(address).or_insert(TvByte::UNKNOWN);
                *before = before.meet(bits).ok_or_else(|| contradiction(assumption, address, binding))?;
            }
        }
        Ok(())
    }
}

fn contradiction(assumption: &Assumption, address: DataAddress, binding: &Binding<'_>) -> PropertyError {
    let register = binding.device.register_at(address).map_or("the register", |register| register.name);
    PropertyErrorKind::Contradiction { register: register.to_owned() }
        .error()
        .of_property(&assumption.to_string(), None)
}

/// Binds one assumption.
///
/// A predicate is tried with all values of its register. The values that satisfy it must be exactly those with some
/// bits fixed, because each read of a bit is an input of its own.
///
/// # Errors
/// If the predicate speaks of anything but one register, or of bits that hardware does not change; when no value or
/// no set of fixed bits satisfies it; when there is no such interrupt.
pub fn bind_assumption(assumption: &Assumption, binding: &Binding<'_>) -> Result<BoundAssumption, PropertyError> {
    let bound = match assumption {
        Assumption::Never(name) => never(name, binding).map_err(PropertyErrorKind::error),
        Assumption::Input(text) => input(text, binding),
    };
    bound.map_err(|error| error.of_property(&assumption.to_string(), None))
}

fn never(name: &str, binding: &Binding<'_>) -> Result<BoundAssumption, PropertyErrorKind> {
    let interrupts = &binding.device.interrupts;
    match binding.device.interrupt(name) {
        Some(interrupt) => Ok(BoundAssumption::Never(interrupt.number)),
        None if interrupts.is_empty() => {
            Err(PropertyErrorKind::Expected { expected: "a device with interrupts; this one has none" })
        }
        None => Err(PropertyErrorKind::UnknownName {
            name: name.to_owned(),
            nearest: nearest(name, interrupts.iter().map(|interrupt| interrupt.name)),
            no_symbols: false,
            elsewhere: None,
        }),
    }
}

fn input(text: &str, binding: &Binding<'_>) -> Result<BoundAssumption, PropertyError> {
    let parsed = parse_predicate(text).map_err(|error| PropertyErrorKind::Formula(error.kind).at(error.span, text))?;
    let (definitions, mut table) = (Definitions::new(), AtomTable::new());
    let mut binder = Binder::new(&definitions, binding, &mut table);
    binder.subject = Subject::Inputs;
    let mut addresses = BTreeSet::new();
    let predicate = parsed.try_map_atoms(&mut |comparison| {
        let bound = binder.input_comparison(comparison).map_err(|(kind, span)| kind.at(span, text))?;
        add_registers(&bound, &mut addresses).map_err(|kind| kind.at(comparison.span, text))?;
        Ok::<_, PropertyError>(bound)
    })?;
    let first = addresses.first().filter(|_| addresses.len() == 1);
    let register = first.and_then(|address| binding.device.register_at(*address));
    let register = register.ok_or_else(|| PropertyErrorKind::NotOneInput.error())?;
    let bits = fixed_bits(&predicate, register).map_err(PropertyErrorKind::error)?;
    Ok(BoundAssumption::Input { address: register.address, bits })
}

impl Binder<'_> {
    /// A comparison of numbers, or a bit.
    pub(super) fn input_comparison(&mut self, comparison: &Comparison) -> Result<Compare, Fault> {
        let mut context = Context::default();
        let mut bind = |e| self.expression(e, u128::MAX, &mut context).map(|operand| operand.expression);
        match &comparison.kind {
            ComparisonKind::Compare(operator, left, right) => {
                Ok(Compare { operator: *operator, left: bind(left)?, right: bind(right)? })
            }
            ComparisonKind::Bare(bit) if matches!(bit.kind, ExprKind::Field(..)) => {
                Ok(Compare { operator: ComparisonOperator::Equal, left: bind(bit)?, right: Expression::Constant(1) })
            }
            ComparisonKind::Bare(_) | ComparisonKind::Member(..) => Err((not_an_input(), comparison.span)),
        }
    }
}

fn not_an_input() -> PropertyErrorKind {
    PropertyErrorKind::Expected { expected: "a comparison of input bits, as in `PINB & 0xf0 == 0` or `PINC.1 == 1`" }
}

/// Adds the registers that a comparison speaks of. Nothing but constants may stand beside them.
fn add_registers(compare: &Compare, addresses: &mut BTreeSet<DataAddress>) -> Result<(), PropertyErrorKind> {
    compared(compare, addresses).map_err(|()| not_an_input())
}

/// Adds the cells that a comparison speaks of; nothing but constants may stand beside them.
pub(super) fn compared(compare: &Compare, addresses: &mut BTreeSet<DataAddress>) -> Result<(), ()> {
    let mut constant = true;
    compare.for_each(&mut |part| match part {
        Expression::Cells(cells) => addresses.extend(cells.iter().copied()),
        Expression::Bit { address, .. } => {
            addresses.insert(*address);
        }
        Expression::Pc | Expression::Memory { .. } | Expression::EventValue => constant = false,
        _ => {}
    });
    if constant { Ok(()) } else { Err(()) }
}

/// The bits of a register that hardware changes and that are read as inputs.
pub(super) fn input_bits(register: &Register) -> u8 {
    mask_of(register, |kind| match kind {
        BitKind::Input(input) => input.changes_while != Condition::Never,
        BitKind::Flag(flag) => flag.raised_while != Condition::Never,
        BitKind::Pulse(_) => true,
        BitKind::Plain | BitKind::ReadOnly | BitKind::Reserved | BitKind::Strobe | BitKind::Window(_) => false,
    })
}

/// The bits of a register that always read 0.
pub(super) fn zero_bits(register: &Register) -> u8 {
    mask_of(register, |kind| matches!(kind, BitKind::Reserved | BitKind::Strobe))
}

fn mask_of(register: &Register, belongs: impl Fn(&BitKind) -> bool) -> u8 {
    let bits = register.bits.iter().zip(0..);
    bits.map(|(bit, number): (_, u8)| u8::from(belongs(&bit.kind)) << number).sum()
}

/// The bits that all values have in common which satisfy a predicate.
fn fixed_bits(predicate: &Formula<Compare>, register: &Register) -> Result<TvByte, PropertyErrorKind> {
    let inputs = input_bits(register);
    let values = TvByte::new(0, !inputs).concretisations();
    let satisfying: Vec<u8> =
        values.filter(|value| satisfies(predicate, &Contents(&[(register.address, *value)]))).collect();
    let (all, any) = satisfying.iter().fold((0xff, 0), |(all, any), value| (all & value, any | value));
    let fixed = TvByte::new(all, inputs & !(all ^ any));
    let name = register.name.to_owned();
    match satisfying.len() {
        0 => Err(PropertyErrorKind::Unsatisfiable { register: name }),
        // SOUND: every one of them has the fixed bits, so as many values with these bits are exactly them.
        allowed if allowed == 1 << (inputs & fixed.unknown_mask()).count_ones() => Ok(fixed),
        allowed => Err(PropertyErrorKind::NotFixedBits {
            register: name,
            allowed,
            values: 1 << inputs.count_ones(),
            implied: (fixed.known_mask() != 0).then(|| (fixed.known_mask(), fixed.value())),
        }),
    }
}

/// True if a state satisfies the predicate, which has Boolean operators only.
pub(super) fn satisfies(predicate: &Formula<Compare>, state: &dyn StateView) -> bool {
    let holds = |part: &Formula<Compare>| satisfies(part, state);
    match predicate {
        Formula::Constant(constant) => *constant,
        // SOUND: values of which this cannot be told are allowed, which assumes less.
        Formula::Atom(compare) => compare.evaluate(Scope::of(state)) != Truth::False,
        Formula::Not(part) => !holds(part),
        Formula::And(parts) => parts.iter().all(holds),
        Formula::Or(parts) => parts.iter().any(holds),
        Formula::Implies(left, right) => !holds(left) || holds(right),
        Formula::Iff(left, right) => holds(left) == holds(right),
        other => unreachable!("a predicate has no temporal operators: {other:?}"),
    }
}

/// A state in which some cells are known.
pub(super) struct Contents<'a>(pub(super) &'a [(DataAddress, u8)]);

impl StateView for Contents<'_> {
    fn cell(&self, address: DataAddress) -> TvByte {
        let known = self.0.iter().find(|(cell, _)| *cell == address);
        known.map_or(TvByte::UNKNOWN, |(_, value)| TvByte::constant(*value))
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
