//! Reads `cargo metadata` and fails when a dependency between crates of the workspace points up or sideways.
//!
//! Dependencies and build dependencies go strictly down the floors, and the two wings do not know each other.
//! Dependencies of tests may go anywhere below their own floor, wings included: a test may bring the two together.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::{Value, json};

/// The floors from the ground up; see `docs/architecture.md`.
const FLOORS: &[&[&str]] = &[
    &["three-valued", "avr-isa"],
    &["avr-image"],
    &["avr-testkit"],
    &["mu-calculus", "avr-machine"],
    &["tvar", "avr-properties", "avr-certificate", "avr-analysis"],
    &["avr-symbolic", "avr-events"],
    &["avr-predicates"],
    &["avr-model", "avr-invariant"],
    &["avr-witness", "avr-progress", "avr-system"],
    &["avr-verify", "avr-check"],
    &["avr-report"],
    &["avr-tvar"],
    &["architecture-tests", "avr-tvar-fuzz", "explicit-oracle", "inclusion-oracle", "logic-oracle", "simavr-oracle"],
];

/// Crates that know model checking and must not know that AVR exists.
const LOGIC: &[&str] = &["mu-calculus", "tvar"];
/// Crates that know AVR and must not know model checking.
const MACHINE: &[&str] = &["avr-isa", "avr-image", "avr-machine", "avr-analysis", "avr-invariant", "avr-symbolic"];
/// All that the checker of certificates may use: what it uses has to be trusted.
const TRUSTED: &[&str] = &[
    "three-valued",
    "mu-calculus",
    "avr-isa",
    "avr-image",
    "avr-machine",
    "avr-properties",
    "avr-certificate",
    "avr-predicates",
    "avr-invariant",
    "avr-symbolic",
    "avr-progress",
];

fn floor(name: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&name))
}

/// The rule that one dependency breaks.
fn problem(from: &str, to: &str, of_tests: bool) -> Option<String> {
    let (Some(start), Some(end)) = (floor(from), floor(to)) else {
        return Some(format!("{from} -> {to}: give both a floor in this test and in docs/architecture.md"));
    };
    let crosses = LOGIC.contains(&from) && MACHINE.contains(&to) || MACHINE.contains(&from) && LOGIC.contains(&to);
    if end >= start {
        Some(format!("{from} -> {to} points {}", if end == start { "sideways" } else { "up" }))
    } else if !of_tests && from == "avr-check" && !TRUSTED.contains(&to) {
        Some(format!("{from} -> {to}: the checker must not use {to}"))
    } else if !of_tests && crosses {
        Some(format!("{from} -> {to}: {from} must not know {to}"))
    } else {
        None
    }
}

/// All problems in the output of `cargo metadata`.
fn problems(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().expect("there are packages");
    let names: Vec<&str> = packages.iter().map(|package| text(&package["name"])).collect();
    let mut found: Vec<String> =
        names.iter().filter(|name| floor(name).is_none()).map(|name| format!("{name} has no floor")).collect();
    for package in packages {
        let dependencies = package["dependencies"].as_array().expect("there is a list of dependencies");
        let inner = dependencies.iter().filter(|dependency| names.contains(&text(&dependency["name"])));
        let problem_of = |dependency: &Value| {
            problem(text(&package["name"]), text(&dependency["name"]), dependency["kind"] == "dev")
        };
        found.extend(inner.filter_map(problem_of));
    }
    found
}

fn text(value: &Value) -> &str {
    value.as_str().expect("names are strings")
}

fn metadata() -> Value {
    let arguments = ["metadata", "--format-version", "1", "--no-deps", "--offline"];
    let output = Command::new(env!("CARGO")).args(arguments).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo writes JSON")
}

#[test]
fn dependencies_point_down() {
    assert_eq!(problems(&metadata()), Vec::<String>::new());
}

#[test]
fn every_floor_is_built() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("there are packages");
    let names: Vec<&str> = packages.iter().map(|package| text(&package["name"])).collect();
    let products = FLOORS[..FLOORS.len() - 1].iter().copied().flatten();
    let missing: Vec<&&str> = products.filter(|name| !names.contains(*name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The problem of a workspace in which `from` depends on `to`.
#[track_caller]
fn check(from: &str, to: &str, kind: Option<&str>, expected: Option<&str>) {
    let packages: BTreeMap<&str, Value> = BTreeMap::from([
        (to, json!({ "name": to, "dependencies": [] })),
        (
            from,
            json!({ "name": from, "dependencies": [{ "name": to, "kind": kind }, { "name": "serde", "kind": null }] }),
        ),
    ]);
    let metadata = json!({ "packages": packages.into_values().collect::<Vec<_>>() });
    assert_eq!(problems(&metadata), expected.into_iter().collect::<Vec<_>>());
}

#[test]
fn wrong_arrows_are_found() {
    check("avr-tvar", "avr-verify", None, None);
    check("avr-machine", "avr-isa", Some("build"), None);
    check("three-valued", "mu-calculus", None, Some("three-valued -> mu-calculus points up"));
    check("three-valued", "avr-isa", None, Some("three-valued -> avr-isa points sideways"));
    check("avr-verify", "avr-tvar", Some("build"), Some("avr-verify -> avr-tvar points up"));
    check("tvar", "avr-isa", None, Some("tvar -> avr-isa: tvar must not know avr-isa"));
    check("tvar", "avr-isa", Some("dev"), None);
    check("tvar", "avr-verify", Some("dev"), Some("tvar -> avr-verify points up"));
    check("avr-check", "avr-machine", None, None);
    check("avr-check", "tvar", None, Some("avr-check -> tvar: the checker must not use tvar"));
    check("avr-check", "tvar", Some("dev"), None);
    check("avr-check", "avr-verify", None, Some("avr-check -> avr-verify points sideways"));
    check("avr-properties", "tvar", None, Some("avr-properties -> tvar points sideways"));
    check("avr-report", "architecture-tests", None, Some("avr-report -> architecture-tests points up"));
}

#[test]
fn a_new_crate_needs_a_floor() {
    let metadata = json!({ "packages": [{ "name": "new", "dependencies": [] }] });
    assert_eq!(problems(&metadata), ["new has no floor"]);
}
