//! Names that stand for formulas.

use expect_test::{Expect, expect};
use mu_calculus::{Definitions, ExpandError, parse_formula};

fn definitions(pairs: &[(&str, &str)]) -> Definitions {
    let mut definitions = Definitions::new();
    for (name, text) in pairs {
        assert_eq!(definitions.define(name, parse_formula(text).expect("the formula parses")), None);
    }
    definitions
}

fn expand(pairs: &[(&str, &str)], text: &str) -> Result<String, ExpandError> {
    definitions(pairs).expand(&parse_formula(text).expect("the formula parses")).map(|formula| formula.to_string())
}

#[track_caller]
fn check(pairs: &[(&str, &str)], text: &str, expected: &str) {
    assert_eq!(expand(pairs, text).as_deref(), Ok(expected));
}

#[track_caller]
fn check_error(pairs: &[(&str, &str)], text: &str, expected: &Expect) {
    expected.assert_eq(&expand(pairs, text).expect_err("the definitions are wrong").to_string());
}

#[test]
fn names_are_replaced_as_if_in_parentheses() {
    let pairs = [("idle", "pc == 4 && PORTB == 0"), ("quiet", "idle || sleeping")];
    check(&pairs, "AG EF idle", "AG EF (pc == 4 && PORTB == 0)");
    check(&pairs, "idle && quiet", "(pc == 4 && PORTB == 0) && (pc == 4 && PORTB == 0 || sleeping)");
    check(&pairs, "\"idle\" && idle == 3 && idle.2", "\"idle\" && idle == 3 && idle.2");
    check(&pairs, "mu X. idle || <>X", "mu X. pc == 4 && PORTB == 0 || <>X");
}

#[test]
fn recursion_is_refused() {
    check_error(&[("a", "b && c"), ("b", "p || a")], "AG a", &expect!["the definition uses itself: a -> b -> a"]);
    check_error(&[("a", "!a")], "p && a", &expect!["the definition uses itself: a -> a"]);
    assert!(expand(&[("a", "!a")], "p").is_ok(), "a definition that is not used does no harm");
}

#[test]
fn names_of_variables_are_refused() {
    check_error(
        &[("X", "p == 1")],
        "mu X. q || <>X",
        &expect!["the fixed-point variable `X` has the name of a definition; rename one of them"],
    );
}

/// Twenty definitions that each use the next one twice would have a million parts.
#[test]
fn growth_is_limited() {
    let names: Vec<(String, String)> =
        (0..20).map(|n| (format!("d{n}"), format!("EX d{} && AX d{}", n + 1, n + 1))).collect();
    let pairs: Vec<(&str, &str)> = names.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    check_error(&pairs, "d0", &expect!["with its definitions the formula has more than 100000 parts; split it"]);
}

#[test]
fn depth_is_limited() {
    let names: Vec<(String, String)> = (0..300).map(|n| (format!("d{n}"), format!("!d{}", n + 1))).collect();
    let pairs: Vec<(&str, &str)> = names.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    check_error(
        &pairs,
        "d0",
        &expect!["with its definitions the formula is nested more than 200 levels deep; split it"],
    );
}

#[test]
fn definitions_can_be_listed() {
    let definitions = definitions(&[("b", "p"), ("a", "q")]);
    assert_eq!(definitions.names().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(definitions.get("a").map(ToString::to_string).as_deref(), Some("q"));
}
