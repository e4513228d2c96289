//! The checked table as Rust source.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::behaviour::{Access, Flow};
use super::effect::{Cycles, FlagUse, RegisterUse};
use super::operand::{Kind, Mode, Operand};
use super::parse::{Alias, Architecture, FEATURES, Row, Table, number};

/// The source of the static tables. Its names resolve in the module that includes it.
pub fn source(table: &Table) -> String {
    [
        opcodes(&table.rows),
        features(&table.architectures),
        array("ROWS", "Row", table.rows.iter().map(row_literal)),
        array("ALIASES", "Alias", table.aliases.iter().map(|alias| alias_literal(alias, &table.rows))),
        split(&table.rows),
        view("control_flow", "Continuation", &table.rows, continuation),
        view("memory_access", "MemoryAccess", &table.rows, access),
    ]
    .concat()
}

/// For each first word, the index of its row, or 0xff.
pub fn row_of_word(table: &Table) -> Vec<u8> {
    let row = |word| table.rows.iter().position(|row| row.pattern.matches(word));
    (0..=u16::MAX).map(|word| row(word).and_then(|index| u8::try_from(index).ok()).unwrap_or(0xff)).collect()
}

fn opcodes(rows: &[Row]) -> String {
    let mut names: Vec<&Row> = rows.iter().collect();
    names.dedup_by_key(|row| &row.operation);
    let variants: String = names.iter().map(|row| format!("/// {}.\n{},\n", row.section, row.operation)).collect();
    let all: String = names.iter().map(|row| format!("Self::{},\n", row.operation)).collect();
    format!(
        "/// The operation of an instruction, without its operands.\n\
         #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]\n\
         pub enum Opcode {{\n{variants}}}\n\n\
         impl Opcode {{\n\
         /// All operations, in the order of the table.\n\
         pub const ALL: [Self; {}] = [\n{all}];\n}}\n\n",
        names.len()
    )
}

fn features(architectures: &[Architecture]) -> String {
    let variants: String =
        FEATURES.iter().map(|(name, variant)| format!("({name:?}, Feature::{variant}),\n")).collect();
    let mut consts = String::new();
    let mut names = String::new();
    for Architecture { name, features } in architectures {
        let bits: String = features.iter().map(|feature| format!(".with(Feature::{feature})")).collect();
        let upper = name.to_uppercase();
        let _ = writeln!(consts, "/// What the parts of GCC's architecture `{name}` have.");
        let _ = writeln!(consts, "pub const {upper}: Self = Self::EMPTY{bits};");
        let _ = writeln!(names, "({name:?}, FeatureSet::{upper}),");
    }
    format!(
        "static FEATURES: [(&str, Feature); {}] = [\n{variants}];\n\nimpl FeatureSet {{\n{consts}}}\n\n\
         static ARCHITECTURES: [(&str, FeatureSet); {}] = [\n{names}];\n\n",
        FEATURES.len(),
        architectures.len()
    )
}

fn array(name: &str, item: &str, literals: impl Iterator<Item = String>) -> String {
    let literals: Vec<String> = literals.collect();
    format!("pub(crate) static {name}: [{item}; {}] = [\n{},\n];\n\n", literals.len(), literals.join(",\n"))
}

fn row_literal(row: &Row) -> String {
    let operands: Vec<String> = row.operands.iter().map(operand_literal).collect();
    format!(
        "Row {{ opcode: Opcode::{}, mnemonic: {:?}, words: {}, value: {:#x}, operands: &[{}], cycles: {}, flags: {}, \
         writes: {}, reads: {}, feature: {}, section: {:?}, build: |{}| {} }}",
        row.operation,
        row.mnemonic,
        row.pattern.words,
        row.pattern.value,
        operands.join(", "),
        cycles_literal(row.cycles),
        flags_literal(row.flags),
        registers_literal(&row.writes, row),
        registers_literal(&row.reads, row),
        row.feature.map_or("None".to_owned(), |feature| format!("Some(Feature::{feature})")),
        row.section,
        if row.operands.iter().any(|operand| operand.slot.is_some()) { "v" } else { "_" },
        build_expression(row),
    )
}

fn operand_literal(operand: &Operand) -> String {
    let kind = match operand.kind {
        Kind::Register { first, step, .. } => format!("Register {{ first: {first}, step: {step} }}"),
        Kind::FixedRegister(index) => format!("FixedRegister({index})"),
        Kind::Memory { pointer, mode: Mode::Plain | Mode::Displacement } => format!("Displaced({pointer:?})"),
        Kind::Memory { pointer, mode: Mode::PostIncrement } => format!("PostIncrement({pointer:?})"),
        Kind::Memory { pointer, mode: Mode::PreDecrement } => format!("PreDecrement({pointer:?})"),
        Kind::Flash { increment: false } => "FlashPlain".to_owned(),
        Kind::Flash { increment: true } => "PostIncrement('Z')".to_owned(),
        plain => format!("{plain:?}"),
    };
    format!(
        "Operand {{ kind: OperandKind::{kind}, name: {:?}, field: {:#x}, slot: {:?}, implied: {} }}",
        operand.kind.name(),
        operand.field,
        operand.slot,
        operand.implied
    )
}

fn cycles_literal(cycles: Cycles) -> String {
    let Cycles { base, if_taken, per_skipped_word, with_22_bit_pc, varies } = cycles;
    format!(
        "Cycles {{ base: {base}, if_taken: {if_taken}, per_skipped_word: {per_skipped_word}, \
         with_22_bit_pc: {with_22_bit_pc}, varies: {varies} }}"
    )
}

fn flags_literal(flags: FlagUse) -> String {
    let FlagUse { written, set, cleared, operand_written, read, operand_read } = flags;
    format!(
        "FlagUse {{ written: {written:#x}, set: {set:#x}, cleared: {cleared:#x}, \
         operand_written: {operand_written:?}, read: {read:#x}, operand_read: {operand_read} }}"
    )
}

fn registers_literal(registers: &[RegisterUse], row: &Row) -> String {
    let literal = |register: &RegisterUse| match register {
        RegisterUse::Operand(letter) => format!("RegisterUse::Operand({})", slot(row, &letter.to_string())),
        RegisterUse::Pair(letter) => format!("RegisterUse::Pair({})", slot(row, &letter.to_string())),
        RegisterUse::Fixed(bits) => format!("RegisterUse::Fixed({bits:#x})"),
    };
    format!("&[{}]", registers.iter().map(literal).collect::<Vec<_>>().join(", "))
}

/// The slot of an operand that the checks have found to exist.
fn slot(row: &Row, name: &str) -> usize {
    row.slot(name).expect("the checks of the table have looked this operand up")
}

/// The instruction from its values `v`.
fn build_expression(row: &Row) -> String {
    instruction(row, |operand| {
        let Some(slot) = operand.slot else { return String::new() };
        match operand.kind {
            Kind::Register { .. } => format!(": Register::from_low_bits(v[{slot}] as u8)"),
            Kind::Target => format!(": v[{slot}].cast_unsigned()"),
            Kind::Address => format!(": DataAddress(v[{slot}] as u16)"),
            Kind::Memory { .. } => format!("v[{slot}] as u8"),
            _ => format!(": v[{slot}] as _"),
        }
    })
}

/// The pattern that matches the instructions of a row and binds their values.
fn match_pattern(row: &Row) -> String {
    instruction(row, |operand| match operand.kind {
        Kind::Memory { .. } => "q".to_owned(),
        _ => String::new(),
    })
}

/// `Instruction::Name { field.., }`, with `fill` after a field's name or inside the displacement.
fn instruction(row: &Row, fill: impl Fn(&Operand) -> String) -> String {
    let field = |operand: &Operand| match operand.kind {
        Kind::FixedRegister(index) => format!("rd: Register::from_low_bits({index})"),
        Kind::Flash { increment } => {
            format!("mode: LpmMode::{}", if increment { "PostIncrement" } else { "Plain" })
        }
        Kind::Memory { pointer, mode } => {
            let mode = match mode {
                Mode::Plain | Mode::Displacement => format!("Displacement({})", fill(operand)),
                moving => format!("{moving:?}"),
            };
            format!("pointer: Pointer::{pointer}, mode: PointerMode::{mode}")
        }
        kind => format!("{}{}", kind.name(), fill(operand)),
    };
    if row.operands.is_empty() {
        return format!("Instruction::{}", row.operation);
    }
    let fields: Vec<String> = row.operands.iter().map(field).collect();
    format!("Instruction::{} {{ {} }}", row.operation, fields.join(", "))
}

/// The function that finds the row and the values of an instruction. Its match is exhaustive only if the table has a
/// row for every form of every variant.
fn split(rows: &[Row]) -> String {
    let mut arms = String::new();
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| !row.is_decode_only()) {
        let mut values = BTreeMap::from([(0, "0".to_owned()), (1, "0".to_owned())]);
        values.extend(row.operands.iter().filter_map(|operand| Some((operand.slot?, value_expression(operand)))));
        let values: Vec<String> = values.into_values().collect();
        let _ = writeln!(arms, "{} => ({index}, [{}]),", match_pattern(row), values.join(", "));
    }
    format!("fn split(instruction: Instruction) -> (usize, [i32; 2]) {{\nmatch instruction {{\n{arms}}}\n}}\n")
}

/// A function that says something of an instruction by its operation: one arm for each operation, and no other.
fn view(name: &str, result: &str, rows: &[Row], said: impl Fn(&Row) -> (String, String)) -> String {
    let mut arms = BTreeMap::<String, Vec<String>>::new();
    for (index, row) in rows.iter().enumerate() {
        if rows[..index].iter().all(|earlier| earlier.operation != row.operation) {
            let (fields, expression) = said(row);
            let fields = if row.operands.is_empty() { String::new() } else { format!(" {{ {fields}.. }}") };
            arms.entry(expression).or_default().push(format!("Instruction::{}{fields}", row.operation));
        }
    }
    let mut text = String::new();
    for (expression, patterns) in arms {
        let _ = writeln!(text, "{} => {expression},", patterns.join(" | "));
    }
    format!("\npub(crate) fn {name}(instruction: Instruction) -> {result} {{\nmatch instruction {{\n{text}}}\n}}\n")
}

/// The fields of an instruction that its continuation needs, and the continuation.
fn continuation(row: &Row) -> (String, String) {
    let relative = row.operands.iter().any(|operand| operand.kind == Kind::Offset);
    let (field, destination) = match row.flow.has_destination() {
        true if relative => ("offset, ", "(Destination::Relative(offset.into()))"),
        true => ("target, ", "(Destination::Absolute(FlashWordAddress(target)))"),
        false => ("", ""),
    };
    let name = match row.flow {
        Flow::Next => "Next",
        Flow::Skip => "Skip",
        Flow::Branch => "Branch",
        Flow::Jump => "Jump",
        Flow::Call => "Call",
        Flow::IndirectJump => "IndirectJump",
        Flow::IndirectCall => "IndirectCall",
        Flow::Return => "Return",
        Flow::InterruptReturn => "InterruptReturn",
        Flow::Sleep => "Sleep",
        Flow::Break => "Break",
    };
    (field.to_owned(), format!("Continuation::{name}{destination}"))
}

/// The fields of an instruction that its memory access needs, and the access.
fn access(row: &Row) -> (String, String) {
    let direct = row.operands.iter().any(|operand| operand.kind == Kind::Address);
    let (fields, name) = match row.access {
        Access::Load if direct => ("address, ", "Load(Addressing::Direct(address))"),
        Access::Store if direct => ("address, ", "Store(Addressing::Direct(address))"),
        Access::Load => ("pointer, mode, ", "Load(Addressing::Indirect { pointer, mode })"),
        Access::Store => ("pointer, mode, ", "Store(Addressing::Indirect { pointer, mode })"),
        Access::LoadIo => ("io, ", "LoadIo { address: io_address(io) }"),
        Access::StoreIo => ("io, ", "StoreIo { address: io_address(io) }"),
        Access::LoadIoBit => ("io, bit, ", "LoadIoBit { address: io_address(io), bit }"),
        Access::StoreIoBit => ("io, bit, ", "StoreIoBit { address: io_address(io), bit }"),
        Access::None => ("", "None"),
        Access::Push => ("", "Push"),
        Access::Pop => ("", "Pop"),
        Access::PushReturnAddress => ("", "PushReturnAddress"),
        Access::PopReturnAddress => ("", "PopReturnAddress"),
        Access::LoadFlash => ("", "LoadFlash"),
        Access::StoreFlash => ("", "StoreFlash"),
        Access::ResetWatchdog => ("", "ResetWatchdog"),
    };
    (fields.to_owned(), format!("MemoryAccess::{name}"))
}

fn value_expression(operand: &Operand) -> String {
    match operand.kind {
        Kind::Register { .. } => format!("i32::from({}.index())", operand.kind.name()),
        Kind::Target => "target.cast_signed()".to_owned(),
        Kind::Address => "i32::from(address.0)".to_owned(),
        Kind::Memory { .. } => "i32::from(q)".to_owned(),
        kind => format!("i32::from({})", kind.name()),
    }
}

fn alias_literal(alias: &Alias, rows: &[Row]) -> String {
    let row = rows.iter().find(|row| row.operation == alias.operation);
    let row = row.expect("the checks of the table have looked the operation up");
    let condition = alias.condition.as_ref().map(|(operand, value)| {
        let wanted = match number(value) {
            Some(number) => format!("Wanted::Value({number})"),
            None => format!("Wanted::SameAs({})", slot(row, value)),
        };
        format!("({}, {wanted})", slot(row, operand))
    });
    let operand = |name: &String| {
        let bare = name.trim_start_matches('~');
        format!("AliasOperand {{ slot: {}, complement: {} }}", slot(row, bare), bare != name.as_str())
    };
    format!(
        "Alias {{ name: {:?}, opcode: Opcode::{}, operands: &[{}], condition: {}, listed: {}, section: {:?} }}",
        alias.name,
        alias.operation,
        alias.operands.iter().map(operand).collect::<Vec<_>>().join(", "),
        condition.map_or("None".to_owned(), |condition| format!("Some({condition})")),
        alias.listed,
        alias.section
    )
}
