//! Instructions as assembler text, in the syntax of avr-objdump.

use std::fmt;

use crate::Instruction;
use crate::table::{self, ALIASES, Alias, Operand, OperandKind, Row, Wanted};

/// The offset of data memory in the addresses that avr-gcc and avr-objdump give to symbols.
const DATA_SPACE: u32 = 0x80_0000;

/// One instruction as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Disassembly {
    /// Mnemonic, in lower case; an alias such as `breq` where avr-objdump uses one.
    pub mnemonic: &'static str,
    /// Operands, separated by `, `; empty if there are none.
    pub operands: String,
    /// The comment that avr-objdump puts behind the semicolon: constants in decimal, targets as byte addresses with
    /// their symbols, `undefined` where the result is.
    pub comment: Option<String>,
}

impl fmt::Display for Disassembly {
    /// `mnemonic operands ; comment` with tabs between them, as avr-objdump has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.mnemonic)?;
        if !self.operands.is_empty() {
            write!(f, "\t{}", self.operands)?;
        }
        match &self.comment {
            Some(comment) => write!(f, "\t; {comment}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Instruction {
    /// Mnemonic and operands, without a comment; jumps are relative.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (row, values) = table::row(*self);
        let (mnemonic, operands) = text(row, &values);
        f.write_str(mnemonic)?;
        if operands.is_empty() { Ok(()) } else { write!(f, " {operands}") }
    }
}

impl Instruction {
    /// The text of the instruction at byte address `pc` of flash.
    ///
    /// `symbols` names an address; it is asked for the byte addresses of jump targets and, at 0x800000 + address (where
    /// avr-gcc puts data memory), of variables. Relative targets are computed without the wrap of a small flash.
    pub fn disassemble(self, pc: u32, symbols: &dyn Fn(u32) -> Option<String>) -> Disassembly {
        let (row, values) = table::row(self);
        let (mnemonic, operands) = text(row, &values);
        let comment = match self.has_undefined_result() {
            true => Some("undefined".to_owned()),
            false => row.operands.iter().find_map(|operand| comment(operand, &values, pc, symbols)),
        };
        Disassembly { mnemonic, operands, comment }
    }

    /// All other names that the manual has for the instruction with these operands, each with the title of its section:
    /// `lsl r4` for `add r4, r4`.
    pub fn aliases(self) -> Vec<(String, &'static str)> {
        let (row, values) = table::row(self);
        let names = ALIASES.iter().filter(|alias| alias.applies(row, &values));
        names.map(|alias| (alias.text(row, &values), alias.section)).collect()
    }
}

/// Mnemonic and operands as listings show them.
fn text(row: &Row, values: &[i32; 2]) -> (&'static str, String) {
    match ALIASES.iter().find(|alias| alias.listed && alias.applies(row, values)) {
        Some(alias) => (alias.name, alias.operands(row, values)),
        None => {
            let written = row.operands.iter().filter(|operand| !operand.implied);
            let texts: Vec<String> = written.map(|operand| operand.text(operand.value_in(values))).collect();
            (mnemonic(row, values), texts.join(", "))
        }
    }
}

/// The mnemonic; `ld(d)` is `ldd` if there is a displacement and `ld` if not.
fn mnemonic(row: &Row, values: &[i32; 2]) -> &'static str {
    let is_displaced =
        |operand: &Operand| matches!(operand.kind, OperandKind::Displaced(_)) && operand.value_in(values) != 0;
    match (row.mnemonic, row.operands.iter().any(is_displaced)) {
        ("ld(d)", true) => "ldd",
        ("ld(d)", false) => "ld",
        ("st(d)", true) => "std",
        ("st(d)", false) => "st",
        (mnemonic, _) => mnemonic,
    }
}

impl Alias {
    fn applies(&self, row: &Row, values: &[i32; 2]) -> bool {
        let holds = match self.condition {
            None => true,
            Some((slot, Wanted::Value(value))) => values[slot] == value,
            Some((slot, Wanted::SameAs(other))) => values[slot] == values[other],
        };
        self.opcode == row.opcode && holds
    }

    fn operands(&self, row: &Row, values: &[i32; 2]) -> String {
        let text = |alias: &table::AliasOperand| {
            let operand = row.operands.iter().find(|operand| operand.slot == Some(alias.slot));
            let value = values[alias.slot];
            operand.map_or(String::new(), |operand| operand.text(if alias.complement { !value & 0xff } else { value }))
        };
        self.operands.iter().map(text).collect::<Vec<_>>().join(", ")
    }

    fn text(&self, row: &Row, values: &[i32; 2]) -> String {
        let operands = self.operands(row, values);
        if operands.is_empty() { self.name.to_owned() } else { format!("{} {operands}", self.name) }
    }
}

impl Operand {
    fn value_in(&self, values: &[i32; 2]) -> i32 {
        self.slot.map_or(0, |slot| values[slot])
    }

    /// The operand with this value; upper and lower case as avr-objdump has them.
    fn text(&self, value: i32) -> String {
        match self.kind {
            OperandKind::Register { .. } => format!("r{value}"),
            OperandKind::FixedRegister(index) => format!("r{index}"),
            OperandKind::Constant if self.field.count_ones() == 8 => format!("{value:#04X}").replacen('X', "x", 1),
            OperandKind::Constant | OperandKind::IoAddress => format!("{value:#04x}"),
            OperandKind::Bit | OperandKind::Flag => value.to_string(),
            OperandKind::Offset => format!(".{:+}", 2 * value),
            OperandKind::Target if value == 0 => "0".to_owned(),
            OperandKind::Target => format!("{:#x}", byte_address(value)),
            OperandKind::Address => format!("0x{value:04X}"),
            OperandKind::Displaced(pointer) if value == 0 => pointer.to_string(),
            OperandKind::Displaced(pointer) => format!("{pointer}+{value}"),
            OperandKind::PostIncrement(pointer) => format!("{pointer}+"),
            OperandKind::PreDecrement(pointer) => format!("-{pointer}"),
            OperandKind::FlashPlain => "Z".to_owned(),
        }
    }
}

/// The comment of avr-objdump on an operand.
fn comment(operand: &Operand, values: &[i32; 2], pc: u32, symbols: &dyn Fn(u32) -> Option<String>) -> Option<String> {
    let value = operand.value_in(values);
    let named = |address: u32| match symbols(address) {
        Some(symbol) => format!("{address:#x} <{symbol}>"),
        None => format!("{address:#x}"),
    };
    match operand.kind {
        OperandKind::Constant | OperandKind::IoAddress => Some(value.to_string()),
        OperandKind::Offset => Some(named(pc.wrapping_add(2).wrapping_add(byte_address(value)))),
        OperandKind::Target => Some(named(byte_address(value))),
        OperandKind::Address => Some(named(DATA_SPACE + value.cast_unsigned())),
        OperandKind::Displaced(_) if value != 0 => Some(format!("{value:#04x}")),
        _ => None,
    }
}

/// Two's complement of twice the number of words.
fn byte_address(words: i32) -> u32 {
    words.cast_unsigned().wrapping_mul(2)
}
