//! Conditions between the columns of a row and between rows.

use super::TableError;
use super::behaviour::{Access, Flow};
use super::effect::RegisterUse;
use super::operand::{Kind, Mode, Operand};
use super::parse::{Alias, Row, Table};

/// Bits of SREG.
const N_OR_V: u8 = 0b0000_1100;
const S: u8 = 0b0001_0000;

/// Refuses a table that contradicts itself.
pub fn check(table: &Table) -> Result<(), TableError> {
    if table.rows.is_empty() || table.rows.len() > 255 {
        return Err(TableError { line: 1, message: format!("{} rows, not 1 to 255", table.rows.len()) });
    }
    for (index, row) in table.rows.iter().enumerate() {
        let earlier = &table.rows[..index];
        let message =
            check_row(row).and_then(|()| check_overlap(row, earlier)).and_then(|()| check_forms(row, earlier));
        message.map_err(|message| TableError { line: row.line, message })?;
    }
    for alias in &table.aliases {
        check_alias(alias, &table.rows).map_err(|message| TableError { line: alias.line, message })?;
    }
    Ok(())
}

fn check_overlap(row: &Row, earlier: &[Row]) -> Result<(), String> {
    match earlier.iter().find(|other| row.pattern.overlaps(&other.pattern)) {
        Some(other) => Err(format!("`{}` overlaps `{}` in line {}", row.mnemonic, other.mnemonic, other.line)),
        None => Ok(()),
    }
}

/// The forms of an operation differ in their operands only.
fn check_forms(row: &Row, earlier: &[Row]) -> Result<(), String> {
    let differs =
        |other: &&Row| other.operation == row.operation && (other.flow, other.access) != (row.flow, row.access);
    match earlier.iter().find(differs) {
        Some(other) => Err(format!("flow or memory is not that of the same operation in line {}", other.line)),
        None => Ok(()),
    }
}

fn check_row(row: &Row) -> Result<(), String> {
    for (letter, _) in &row.pattern.fields {
        let uses = row.operands.iter().filter(|operand| operand.kind.letter() == Some(*letter)).count();
        if uses != 1 {
            return Err(format!("`{letter}` is in the pattern but belongs to {uses} operands"));
        }
    }
    if row.operands.iter().filter(|operand| operand.slot.is_some()).count() > 2 {
        return Err("more than two operands with a value".to_owned());
    }
    check_flags(row)?;
    check_registers(row)?;
    check_flow(row)?;
    check_access(row)
}

/// The destination is an operand, the pointer of indirect jumps is read, and cycles say what is taken or skipped.
fn check_flow(row: &Row) -> Result<(), String> {
    let destinations =
        row.operands.iter().filter(|operand| matches!(operand.kind, Kind::Offset | Kind::Target)).count();
    if destinations != usize::from(row.flow.has_destination()) {
        return Err("the flow column and the operands disagree on the destination".to_owned());
    }
    let indirect = matches!(row.flow, Flow::IndirectJump | Flow::IndirectCall);
    if indirect && row.reads != [RegisterUse::pointer('Z')] {
        return Err("the flow goes to Z, which is not what is read".to_owned());
    }
    let taken = row.cycles.if_taken != 0;
    let skipped = row.cycles.per_skipped_word != 0;
    if taken != (row.flow == Flow::Branch) || skipped != (row.flow == Flow::Skip) {
        return Err("the flow column and the cycles disagree".to_owned());
    }
    let pushes = matches!(row.flow, Flow::Call | Flow::IndirectCall);
    let pops = matches!(row.flow, Flow::Return | Flow::InterruptReturn);
    if pushes != (row.access == Access::PushReturnAddress) || pops != (row.access == Access::PopReturnAddress) {
        return Err("the flow and memory columns disagree on the return address".to_owned());
    }
    Ok(())
}

/// The operand of an access is there, and no other operand names memory.
fn check_access(row: &Row) -> Result<(), String> {
    let names_memory = |operand: &&Operand| {
        let names = |access: Access| access.goes_to(operand);
        [Access::Load, Access::LoadIo, Access::LoadFlash].into_iter().any(names)
    };
    let mut places = row.operands.iter().filter(names_memory);
    let agrees = match (places.next(), places.next()) {
        (None, _) => !row.access.needs_operand(),
        (Some(place), None) => row.access.goes_to(place),
        (Some(_), Some(_)) => false,
    };
    if !agrees {
        return Err("the memory column and the operands disagree".to_owned());
    }
    let bit = row.operands.iter().any(|operand| operand.kind == Kind::Bit);
    match row.access {
        Access::LoadIoBit | Access::StoreIoBit if !bit => Err("a bit is accessed, but no operand is one".to_owned()),
        Access::LoadIo | Access::StoreIo if bit => Err("a register is accessed, but an operand is a bit".to_owned()),
        _ => Ok(()),
    }
}

/// S is N xor V, so it changes with them; the operand s must exist where a column names it.
fn check_flags(row: &Row) -> Result<(), String> {
    if row.flags.written & N_OR_V != 0 && row.flags.written & S == 0 {
        return Err("writes N or V but not S, which is N xor V".to_owned());
    }
    let named = row.flags.operand_read || row.flags.operand_written.is_some();
    let exists = row.operands.iter().any(|operand| operand.kind == Kind::Flag);
    if named != exists { Err("the flag columns and the operands disagree on s".to_owned()) } else { Ok(()) }
}

/// Registers in the columns must be operands, operands must be in the columns, and so must pointers.
fn check_registers(row: &Row) -> Result<(), String> {
    let has_operand = |letter| row.operands.iter().any(|operand| operand.kind.letter() == Some(letter));
    for register in row.writes.iter().chain(&row.reads) {
        if let RegisterUse::Operand(letter) | RegisterUse::Pair(letter) = register
            && !has_operand(*letter)
        {
            return Err(format!("R{letter} is read or written but is no operand"));
        }
    }
    for operand in &row.operands {
        match operand.kind {
            Kind::Register { letter, .. } => require_register(row, letter)?,
            Kind::Memory { pointer, mode } => {
                let moves = matches!(mode, Mode::PostIncrement | Mode::PreDecrement);
                require_pointer(row, pointer, moves)?;
            }
            Kind::Flash { increment } => require_pointer(row, 'Z', increment)?,
            _ => {}
        }
    }
    Ok(())
}

fn require_register(row: &Row, letter: char) -> Result<(), String> {
    let is_it =
        |register: &RegisterUse| *register == RegisterUse::Operand(letter) || *register == RegisterUse::Pair(letter);
    if row.writes.iter().chain(&row.reads).any(is_it) {
        Ok(())
    } else {
        Err(format!("R{letter} is neither read nor written"))
    }
}

fn require_pointer(row: &Row, pointer: char, moves: bool) -> Result<(), String> {
    let registers = RegisterUse::pointer(pointer);
    if !row.reads.contains(&registers) || row.writes.contains(&registers) != moves {
        return Err(format!("the register columns disagree with the operands on {pointer}"));
    }
    Ok(())
}

fn check_alias(alias: &Alias, rows: &[Row]) -> Result<(), String> {
    let mut matching = rows.iter().filter(|row| row.operation == alias.operation);
    let (Some(row), None) = (matching.next(), matching.next()) else {
        return Err(format!("`{}` must be an operation with exactly one row", alias.operation));
    };
    let condition = alias.condition.iter().map(|(operand, _)| operand);
    for name in alias.operands.iter().chain(condition) {
        if row.slot(name.trim_start_matches('~')).is_none() {
            return Err(format!("`{name}` is no operand of `{}`", row.mnemonic));
        }
    }
    match &alias.condition {
        Some((_, value)) if row.slot(value).is_none() && super::parse::number(value).is_none() => {
            Err(format!("`{value}` is neither an operand of `{}` nor a number", row.mnemonic))
        }
        _ => Ok(()),
    }
}
