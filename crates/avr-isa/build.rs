//! Compiles `isa-tables/instructions.txt` into the static tables of this crate.

#[path = "build/mod.rs"]
mod table;

use std::path::Path;
use std::{env, fs, process};

/// The instruction table, relative to this crate: a link in the repository, a copy in a package.
const TABLE: &str = "isa-tables/instructions.txt";

fn main() {
    println!("cargo::rerun-if-changed={TABLE}");
    println!("cargo::rerun-if-changed=build");
    if let Err(error) = run() {
        println!("cargo::error={error}");
        process::exit(1);
    }
}

fn run() -> Result<(), String> {
    let text = fs::read_to_string(TABLE).map_err(|error| format!("cannot read {TABLE}: {error}"))?;
    let compiled = table::compile(&text).map_err(|error| format!("{TABLE}:{}: {}", error.line, error.message))?;
    let directory = env::var("OUT_DIR").map_err(|error| format!("OUT_DIR: {error}"))?;
    write(&directory, "table.rs", compiled.source.as_bytes())?;
    write(&directory, "row_of_word.bin", &compiled.row_of_word)
}

fn write(directory: &str, name: &str, content: &[u8]) -> Result<(), String> {
    let path = Path::new(directory).join(name);
    fs::write(&path, content).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
