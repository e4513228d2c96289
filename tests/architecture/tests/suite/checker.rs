//! The checker of certificates uses formulas of `mu-calculus` and nothing else of it: no solver, no graph, no solution.
//! The trusted base includes these items, so the test names them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// All that the checker may use of `mu-calculus`.
const FORMULAS: &[&str] = &[
    "AtomId",
    "FixedPoint",
    "Formula",
    "Modality",
    "Node",
    "NodeId",
    "NormalForm",
    "PathOperator",
    "PathQuantifier",
    "Strengthening",
    "TranslateError",
    "strengthenings",
];

/// The Rust files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it can be listed").path());
    let below = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    paths.flat_map(below).filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// The names that follow `mu_calculus::` in a source, also those in braces.
fn used(source: &str) -> BTreeSet<String> {
    let names = |rest: &str| -> Vec<String> {
        let list = rest.strip_prefix('{').and_then(|rest| rest.split('}').next());
        let list = list.unwrap_or_else(|| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(""));
        list.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
    };
    source.split("mu_calculus::").skip(1).flat_map(names).collect()
}

#[test]
fn the_checker_uses_only_formulas_of_the_logic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/avr-check/src");
    let files = sources(&folder);
    assert!(files.len() > 5, "{files:?}");
    let mut all = BTreeSet::new();
    // Its tests compare it with the solver.
    let is_test = |file: &&PathBuf| {
        let inside = file.strip_prefix(&folder).expect("it is inside");
        inside.iter().any(|part| part == "tests" || part == "tests.rs")
    };
    for file in files.iter().filter(|file| !is_test(file)) {
        let source = std::fs::read_to_string(file).expect("a source is text");
        all.extend(used(source.split("#[cfg(test)]\nmod tests {").next().expect("there is a first part")));
    }
    let foreign: Vec<&String> = all.iter().filter(|name| !FORMULAS.contains(&name.as_str())).collect();
    assert!(foreign.is_empty(), "the checker uses {foreign:?}");
    assert!(all.contains("NormalForm"), "nothing was found: {all:?}");
}

#[test]
fn names_are_found() {
    let expected = ["A", "B", "Problem"].map(str::to_owned).into();
    assert_eq!(used("use mu_calculus::{A, B};\nlet x = mu_calculus::Problem::solve;"), expected);
}
