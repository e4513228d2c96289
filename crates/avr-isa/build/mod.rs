//! The compiler of the instruction table: text in, Rust source and the first-word index out.

mod behaviour;
mod check;
mod effect;
mod generate;
mod operand;
mod parse;
mod pattern;

/// The output of the build script, which the crate includes.
pub struct Compiled {
    /// Rust source of the static tables.
    pub source: String,
    /// For each first word, the index of its row, or 0xff when no row matches.
    pub row_of_word: Vec<u8>,
}

/// A mistake in the table.
#[derive(Debug)]
pub struct TableError {
    /// Line of the table, from 1.
    pub line: usize,
    /// The error on that line.
    pub message: String,
}

/// Compiles the text of the table.
///
/// # Errors
/// The first row that cannot be read, contradicts itself or overlaps another.
pub fn compile(text: &str) -> Result<Compiled, TableError> {
    let table = parse::parse(text)?;
    check::check(&table)?;
    Ok(Compiled { source: generate::source(&table), row_of_word: generate::row_of_word(&table) })
}
