//! The strengthenings of formulas, as texts.

use mu_calculus::{parse_formula, parse_linear, strengthenings};

/// Every strengthening as `subformula := constant => formulas`.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let formula = parse_formula(text).or_else(|_| parse_linear(text)).unwrap_or_else(|error| panic!("{error}"));
    let found: Vec<String> = strengthenings(&formula, 20)
        .iter()
        .map(|one| {
            let formulas: Vec<String> = one.formulas.iter().map(ToString::to_string).collect();
            format!("{} := {} => {}", one.subformula, one.replaced_by, formulas.join(" and "))
        })
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn subformulas_are_replaced_against_the_property() {
    check(
        "AG (p -> AF q)",
        &[
            "p -> AF q := false => AG false",
            "AF q := false => AG (p -> false)",
            "p := true => AG (true -> AF q)",
            "q := false => AG (p -> AF false)",
        ],
    );
    check("!EF p", &["EF p := true => !true", "p := true => !EF true"]);
    check("p <-> q", &["p := false => true <-> q and false <-> q", "q := false => p <-> true and p <-> false"]);
    check("AG p", &["p := false => AG false"]);
    check("true", &[]);
}

#[test]
fn subformulas_with_variables_of_the_context_stay() {
    check(
        "nu X. p && [](X || AG q)",
        &[
            "AG q := false => nu X. p && [](X || false)",
            "p := false => nu X. false && [](X || AG q)",
            "q := false => nu X. p && [](X || AG false)",
        ],
    );
}

#[test]
fn there_are_no_more_than_asked_for() {
    let formula = parse_formula(&vec!["p"; 20_000].join(" && ")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(strengthenings(&formula, 3).len(), 3);
}

#[test]
fn path_formulas_have_strengthenings_too() {
    check(
        "G (p -> X F q)",
        &[
            "G (p -> X F q) := false => false",
            "p -> X F q := false => AG false",
            "X F q := false => AG (p -> false)",
            "F q := false => A[G (p -> X false)]",
            "p := true => A[G (true -> X F q)]",
            "q := false => A[G (p -> X F false)]",
        ],
    );
}
