//! Conditions of `initially` become fixed bits of the cells in which the program begins.

use std::collections::{BTreeMap, BTreeSet};

use avr_isa::{DataAddress, EepromAddress};
use avr_machine::Starts;
use avr_machine::device::{Device, ResetCause};
use mu_calculus::{BinaryOperator, Comparison, ComparisonKind, ComparisonOperator, ExprKind, Formula, parse_predicate};
use three_valued::TvByte;

use super::assumption::{Contents, compared, satisfies};
use super::{Binder, Binding, Subject};
use crate::atom::{AtomTable, Compare};
use crate::definitions::Definitions;
use crate::error::{PropertyError, PropertyErrorKind};
use crate::expression::Expression;
use crate::file::PropertyFile;
use crate::start::{StartCondition, StartsAt};
use crate::start_error::StartError;

/// The bits that conditions fix, by cell.
type Bits = BTreeMap<DataAddress, TvByte>;

/// Binds the conditions of `initially`; `eeprom` is the content of the EEPROM as far as it is known.
///
/// # Errors
/// If one of them speaks of anything but the SRAM, the EEPROM and the register of reset causes, does not fix bits, or leaves no start;
/// when they contradict each other or the EEPROM.
pub(crate) fn bind_starts(
    file: &PropertyFile,
    binding: &Binding<'_>,
    eeprom: &BTreeMap<EepromAddress, u8>,
) -> Result<Starts, PropertyError> {
    let mut starts = Starts::default();
    for condition in &file.initially {
        let at_condition = |error: StartError| PropertyErrorKind::Start(error).at_place(condition.place.clone());
        let all = match condition.at {
            StartsAt::First | StartsAt::PowerOn => &mut starts.first,
            StartsAt::Reset => &mut starts.later,
        };
        for (cell, bits) in fixed_by(condition, binding)? {
            let name = || cell_name(cell, binding.device);
            let known = eeprom_address(cell, binding.device).and_then(|address| eeprom.get(&address));
            if known.is_some_and(|byte| !bits.contains(*byte)) {
                return Err(at_condition(StartError::Contradiction(name())));
            }
            let possible = possible(cell, condition.at, binding.device).meet(bits);
            let bits = possible.ok_or_else(|| at_condition(StartError::Unsatisfiable(name())))?;
            let before = all.entry(cell).or_insert(TvByte::UNKNOWN);
            *before = before.meet(bits).ok_or_else(|| at_condition(StartError::Contradiction(name())))?;
        }
        if let Some(register) = causes(binding.device)
            && let Some(bits) = all.get(&register)
        {
            check_causes(*bits, condition.at, binding.device).map_err(at_condition)?;
        }
    }
    Ok(starts)
}

/// Data address of the register of reset causes, where the device has one.
fn causes(device: &Device) -> Option<DataAddress> {
    device.reset_effects.first().map(|effect| effect.address)
}

/// Checks that some cause of a reset leaves these bits in the register of causes.
fn check_causes(bits: TvByte, at: StartsAt, device: &Device) -> Result<(), StartError> {
    let name = || causes(device).map_or_else(String::new, |register| cell_name(register, device));
    let leaves = |cause: ResetCause| device.reset_effect(cause).is_some_and(|effect| effect.can_leave(bits));
    match at {
        // SOUND: a register without any cause is no start of the device, and the bits that are fixed must exclude it.
        StartsAt::First if bits.known() == Some(0) => Err(StartError::Unsatisfiable(name())),
        StartsAt::First if bits.value() == 0 => Err(StartError::NoCause(name())),
        StartsAt::Reset
            if ![ResetCause::External, ResetCause::BrownOut, ResetCause::Watchdog].map(leaves).contains(&true) =>
        {
            Err(StartError::Unsatisfiable(name()))
        }
        StartsAt::First | StartsAt::PowerOn | StartsAt::Reset => Ok(()),
    }
}

/// The content that a cell may have before any condition.
fn possible(cell: DataAddress, at: StartsAt, device: &Device) -> TvByte {
    let Some(register) = causes(device).filter(|register| *register == cell) else { return TvByte::UNKNOWN };
    let all = device.reset_effects.iter().fold(0, |all, effect| all | effect.sets);
    match device.register_at(register) {
        Some(register) if at == StartsAt::PowerOn => TvByte::new(register.reset.value, !register.reset.undefined),
        _ => TvByte::new(0, !all),
    }
}

/// The bits that a condition fixes.
fn fixed_by(condition: &StartCondition, binding: &Binding<'_>) -> Result<Bits, PropertyError> {
    let text = &condition.text;
    let of_condition = |error: PropertyError| error.of_property("initially", Some(&condition.place));
    let parsed = parse_predicate(text)
        .map_err(|error| of_condition(PropertyErrorKind::Formula(error.kind).at(error.span, text)))?;
    let (definitions, mut table) = (Definitions::new(), AtomTable::new());
    let mut binder = Binder::new(&definitions, binding, &mut table);
    binder.subject = Subject::Starts;
    let mut all = Bits::new();
    for part in conjuncts(parsed) {
        let bits = binder.bits_of(&part, condition).map_err(of_condition)?;
        for (cell, bits) in bits {
            let error = || StartError::Contradiction(cell_name(cell, binding.device));
            let before = all.entry(cell).or_insert(TvByte::UNKNOWN);
            *before =
                before.meet(bits).ok_or_else(|| PropertyErrorKind::Start(error()).at_place(condition.place.clone()))?;
        }
    }
    Ok(all)
}

/// The parts of a conjunction.
fn conjuncts(formula: Formula<Comparison>) -> Vec<Formula<Comparison>> {
    match formula {
        Formula::And(parts) => parts.into_iter().flat_map(conjuncts).collect(),
        other => vec![other],
    }
}

impl Binder<'_> {
    /// The bits that one part of a condition fixes.
    fn bits_of(&mut self, part: &Formula<Comparison>, condition: &StartCondition) -> Result<Bits, PropertyError> {
        let text = &condition.text;
        let mut cells = BTreeSet::new();
        let predicate = part.try_map_atoms(&mut |comparison| {
            let expected = "a comparison with numbers, as in `MCUSR == 2` or `flag == 0x5a`";
            let other = || PropertyErrorKind::Expected { expected }.at(comparison.span, text);
            if matches!(&comparison.kind, ComparisonKind::Bare(what) if !matches!(what.kind, ExprKind::Field(..))) {
                return Err(other());
            }
            let bound = self.input_comparison(comparison).map_err(|(kind, span)| kind.at(span, text))?;
            compared(&bound, &mut cells).map_err(|()| other())?;
            Ok::<_, PropertyError>(bound)
        })?;
        let cells: Vec<DataAddress> = cells.into_iter().collect();
        if let Some(cell) = cells.iter().find(|cell| !self.holds_at_start(**cell)) {
            let error = StartError::NotAtStart(cell_name(*cell, self.device));
            return Err(PropertyErrorKind::Start(error).error());
        }
        let bits = match &predicate {
            Formula::Atom(compare) if let Some(equation) = equation(compare, self.device) => equation,
            _ => self.tried(&predicate, &cells, condition.at),
        };
        bits.map_err(|error| PropertyErrorKind::Start(error).error())
    }

    /// True for a cell that may be restricted.
    fn holds_at_start(&self, cell: DataAddress) -> bool {
        let memory = &self.device.memory;
        let in_sram = (memory.sram_start..=memory.sram_end).contains(&cell);
        in_sram || eeprom_address(cell, self.device).is_some() || causes(self.device) == Some(cell)
    }

    /// The bits that all contents of one or two cells have in common for which a predicate is true.
    fn tried(&self, predicate: &Formula<Compare>, cells: &[DataAddress], at: StartsAt) -> Result<Bits, StartError> {
        let names = || cells.iter().map(|cell| cell_name(*cell, self.device)).collect::<Vec<_>>().join(" and ");
        let possible: Vec<TvByte> = cells.iter().map(|cell| possible(*cell, at, self.device)).collect();
        let mut contents: Vec<Vec<u8>> = vec![Vec::new()];
        if cells.is_empty() || cells.len() > 2 {
            return Err(StartError::TooManyCells);
        }
        for bits in &possible {
            let longer = |content: &Vec<u8>| {
                let content = content.clone();
                bits.concretisations().map(move |byte| [&content[..], &[byte]].concat())
            };
            contents = contents.iter().flat_map(longer).collect();
        }
        let values = contents.len();
        let is_so = |content: &&Vec<u8>| {
            let content: Vec<(DataAddress, u8)> = cells.iter().copied().zip(content.iter().copied()).collect();
            satisfies(predicate, &Contents(&content))
        };
        let allowed: Vec<&Vec<u8>> = contents.iter().filter(is_so).collect();
        let mut fixed = Bits::new();
        let mut open = 0;
        for (index, cell) in cells.iter().enumerate() {
            let bytes = allowed.iter().map(|content| content[index]);
            let (all, any) = bytes.fold((0xff, 0), |(all, any), byte| (all & byte, any | byte));
            fixed.insert(*cell, TvByte::new(all, !(all ^ any)));
            open += (all ^ any).count_ones();
        }
        match allowed.len() {
            0 => Err(StartError::Unsatisfiable(names())),
            // SOUND: every one of them has the fixed bits, so as many contents with these bits are exactly them.
            allowed if allowed == 1 << open => Ok(fixed),
            allowed => Err(StartError::NotFixedBits { cells: names(), allowed, values }),
        }
    }
}

/// The bits that an equation of cells, or of some bits of cells, with a number fixes; none if a comparison is no such equation.
fn equation(compare: &Compare, device: &Device) -> Option<Result<Bits, StartError>> {
    let (ComparisonOperator::Equal, Expression::Constant(value)) = (compare.operator, &compare.right) else {
        return None;
    };
    let (cells, mask) = match &compare.left {
        Expression::Cells(cells) => (cells, u64::MAX),
        Expression::Binary(BinaryOperator::And, left, right) => match (&**left, &**right) {
            (Expression::Cells(cells), Expression::Constant(mask)) => (cells, u64::try_from(*mask).ok()?),
            _ => return None,
        },
        _ => return None,
    };
    let width = u64::MAX >> (64 - 8 * cells.len().clamp(1, 8));
    let mask = mask & width;
    let Some(value) = u64::try_from(*value).ok().filter(|value| value & !mask == 0) else {
        let name = cells.iter().map(|cell| cell_name(*cell, device)).collect::<Vec<_>>().join(" and ");
        return Some(Err(StartError::Unsatisfiable(name)));
    };
    let bytes = mask.to_le_bytes().into_iter().zip(value.to_le_bytes());
    Some(Ok(cells.iter().copied().zip(bytes).map(|(cell, (mask, value))| (cell, TvByte::new(value, mask))).collect()))
}

/// The address in the EEPROM of a cell of a state.
fn eeprom_address(cell: DataAddress, device: &Device) -> Option<EepromAddress> {
    let offset = cell.0.checked_sub(device.memory.unreached_end().0)?;
    (offset < device.memory.eeprom_bytes).then_some(EepromAddress(offset))
}

/// The name of a cell for people, as conditions name it.
fn cell_name(cell: DataAddress, device: &Device) -> String {
    match (device.register_at(cell), eeprom_address(cell, device)) {
        (Some(register), _) => register.name.to_owned(),
        (None, Some(address)) => format!("eeprom[{:#06x}]", address.0),
        (None, None) => format!("mem[{cell:#06x}]"),
    }
}

/// Texts of what is fixed where the program begins, one for each bit.
pub(crate) fn fixed_bits_of_starts(starts: &Starts, device: &Device) -> BTreeSet<String> {
    let of_starts = |all: &Bits, when: &str| {
        let of_cell = |(cell, bits): (&DataAddress, &TvByte)| {
            let known = (0..8).filter(|bit| bits.known_mask() >> bit & 1 == 1);
            let name = cell_name(*cell, device);
            known.map(|bit| format!("{name}.{bit} == {} {when}", bits.value() >> bit & 1)).collect::<Vec<_>>()
        };
        all.iter().flat_map(of_cell).collect::<Vec<_>>()
    };
    let first = of_starts(&starts.first, "at the first start");
    first.into_iter().chain(of_starts(&starts.later, "after each later reset")).collect()
}
