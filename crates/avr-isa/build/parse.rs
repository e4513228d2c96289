//! The text of the table into rows.

use super::TableError;
use super::behaviour::{Access, Flow};
use super::effect::{Cycles, FlagUse, RegisterUse};
use super::operand::{Kind, Operand};
use super::pattern::Pattern;

const ROW_HEADER: [&str; 13] = [
    "operation",
    "syntax",
    "pattern",
    "words",
    "cycles",
    "ITHSVNZC",
    "in",
    "writes",
    "reads",
    "flow",
    "memory",
    "feature",
    "manual",
];
const ALIAS_HEADER: [&str; 5] = ["alias", "operation", "when", "listed", "manual"];

/// Names of features, in the order of `Feature`.
pub const FEATURES: [(&str, &str); 10] = [
    ("mul", "Mul"),
    ("jmp-call", "JmpCall"),
    ("movw", "Movw"),
    ("lpmx", "Lpmx"),
    ("spm", "Spm"),
    ("break", "Break"),
    ("elpm", "Elpm"),
    ("elpmx", "Elpmx"),
    ("eind", "Eind"),
    ("pc22", "Pc22"),
];

/// The whole table.
#[derive(Debug, Default)]
pub struct Table {
    pub rows: Vec<Row>,
    pub aliases: Vec<Alias>,
    pub architectures: Vec<Architecture>,
}

/// One encoding.
#[derive(Debug)]
pub struct Row {
    pub line: usize,
    pub operation: String,
    pub mnemonic: String,
    pub operands: Vec<Operand>,
    pub pattern: Pattern,
    pub cycles: Cycles,
    pub flags: FlagUse,
    pub writes: Vec<RegisterUse>,
    pub reads: Vec<RegisterUse>,
    pub flow: Flow,
    pub access: Access,
    pub feature: Option<&'static str>,
    pub section: String,
}

impl Row {
    /// True if the row only decodes: it has implied operands.
    pub fn is_decode_only(&self) -> bool {
        self.operands.iter().any(|operand| operand.implied)
    }
}

/// Another name for an operation.
#[derive(Debug)]
pub struct Alias {
    pub line: usize,
    pub name: String,
    pub operation: String,
    /// Operand names, `~` in front of those that are complemented.
    pub operands: Vec<String>,
    /// Operand name and what it must equal: another operand name or a number.
    pub condition: Option<(String, String)>,
    pub listed: bool,
    pub section: String,
}

/// A named set of features.
#[derive(Debug)]
pub struct Architecture {
    pub name: String,
    pub features: Vec<&'static str>,
}

/// Reads the table.
pub fn parse(text: &str) -> Result<Table, TableError> {
    let mut table = Table::default();
    let mut in_aliases = false;
    for (index, text) in text.lines().enumerate() {
        let line = index + 1;
        let cells: Vec<&str> = text.split('|').map(str::trim).collect();
        let result = if text.is_empty() || text.starts_with(['#', '-']) || cells == ROW_HEADER {
            Ok(())
        } else if cells == ALIAS_HEADER {
            in_aliases = true;
            Ok(())
        } else if let Some(rest) = text.strip_prefix("architecture ") {
            parse_architecture(rest).map(|architecture| table.architectures.push(architecture))
        } else if in_aliases {
            parse_alias(line, &cells).map(|alias| table.aliases.push(alias))
        } else {
            parse_row(line, &cells).map(|row| table.rows.push(row))
        };
        result.map_err(|message| TableError { line, message })?;
    }
    Ok(table)
}

fn parse_row(line: usize, cells: &[&str]) -> Result<Row, String> {
    let &[operation, syntax, pattern, words, cycles, output, input, writes, reads, flow, memory, feature, section] =
        cells
    else {
        return Err(format!("{} columns, not the {} of an instruction", cells.len(), ROW_HEADER.len()));
    };
    let pattern = Pattern::parse(pattern)?;
    if words != pattern.words.to_string() {
        return Err(format!("{words} words, but the pattern has {}", pattern.words));
    }
    let (mnemonic, operands) = parse_syntax(syntax, &pattern)?;
    Ok(Row {
        line,
        operation: operation.to_owned(),
        mnemonic,
        operands,
        pattern,
        cycles: Cycles::parse(cycles)?,
        flags: FlagUse::parse(output, input)?,
        writes: RegisterUse::parse_all(writes)?,
        reads: RegisterUse::parse_all(reads)?,
        flow: Flow::parse(flow)?,
        access: Access::parse(memory)?,
        feature: if feature == "-" { None } else { Some(feature_variant(feature)?) },
        section: section.to_owned(),
    })
}

fn parse_syntax(syntax: &str, pattern: &Pattern) -> Result<(String, Vec<Operand>), String> {
    let (mnemonic, rest) = syntax.split_once(' ').unwrap_or((syntax, ""));
    let mut operands: Vec<Operand> = Vec::new();
    for text in rest.split(", ").filter(|text| !text.is_empty()) {
        let slot = operands.iter().filter(|operand| operand.slot.is_some()).count();
        operands.push(Operand::parse(text, pattern, slot)?);
    }
    Ok((mnemonic.to_owned(), operands))
}

fn parse_alias(line: usize, cells: &[&str]) -> Result<Alias, String> {
    let &[alias, operation, condition, listed, section] = cells else {
        return Err(format!("{} columns, not the {} of an alias", cells.len(), ALIAS_HEADER.len()));
    };
    let (name, operands) = alias.split_once(' ').unwrap_or((alias, ""));
    let condition = match condition.split_once(" = ") {
        Some((operand, value)) => Some((operand.to_owned(), value.to_owned())),
        None if condition == "-" => None,
        None => return Err(format!("condition `{condition}` is neither `operand = value` nor -")),
    };
    Ok(Alias {
        line,
        name: name.to_owned(),
        operation: operation.to_owned(),
        operands: operands.split(", ").filter(|text| !text.is_empty()).map(str::to_owned).collect(),
        condition,
        listed: listed == "yes",
        section: section.to_owned(),
    })
}

fn parse_architecture(text: &str) -> Result<Architecture, String> {
    let (name, features) = text.split_once(':').ok_or("an architecture needs a colon after its name")?;
    let features = features.split_whitespace().map(feature_variant).collect::<Result<_, _>>()?;
    Ok(Architecture { name: name.to_owned(), features })
}

/// The variant of `Feature` with this name in the table.
fn feature_variant(name: &str) -> Result<&'static str, String> {
    let known = FEATURES.iter().find(|(feature, _)| *feature == name);
    known.map(|(_, variant)| *variant).ok_or_else(|| format!("feature `{name}` is not one that the head explains"))
}

impl Row {
    /// The place among the values of the operand with this name in the `alias` and `when` columns.
    pub fn slot(&self, name: &str) -> Option<usize> {
        let named = |operand: &&Operand| match name {
            "offset" => operand.kind == Kind::Offset,
            _ => operand.kind.letter().is_some_and(|letter| name.trim_start_matches('R') == letter.to_string()),
        };
        self.operands.iter().find(named).and_then(|operand| operand.slot)
    }
}

/// A decimal or hexadecimal number.
pub fn number(text: &str) -> Option<i32> {
    match text.strip_prefix("0x") {
        Some(digits) => i32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
