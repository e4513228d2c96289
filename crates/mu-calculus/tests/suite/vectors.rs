//! Vectorial fixed points and choices: against the naive evaluator, against nested fixed points, and as texts.

use avr_testkit::Random;
use mu_calculus::{AtomId, Formula, NormalForm, Problem, TranslateError, parse_formula};

use crate::{naive, random};

/// A body over some variables in which every variable stands below a modality or not, as it comes.
fn body(random: &mut Random, variables: &[String], size: u32) -> String {
    if size == 0 {
        let leaf = random.below(variables.len() + 2);
        return variables.get(leaf).cloned().unwrap_or_else(|| random.pick(&["p", "q", "true", "!q"]).to_owned());
    }
    let below = |random: &mut Random| body(random, variables, size - 1);
    match random.below(7) {
        0 => format!("({} && {})", below(random), below(random)),
        1 => format!("({} || {})", below(random), below(random)),
        2 => format!("[]{}", below(random)),
        3 => format!("<>{}", below(random)),
        _ => {
            let condition = random.pick(&["p", "q", "p && !q", "!p"]);
            format!("(if {condition} then {} else {})", below(random), below(random))
        }
    }
}

/// A closed formula of two nested vectors of different kinds, the inner of which may use the variables of the outer one.
fn formula(random: &mut Random) -> String {
    let kinds = random.pick(&[["nu", "mu"], ["mu", "nu"], ["nu", "nu"]]);
    let outer: Vec<String> = (0..1 + random.below(3)).map(|number| format!("X{number}")).collect();
    let inner: Vec<String> = (0..1 + random.below(2)).map(|number| format!("Y{number}")).collect();
    let all = [outer.clone(), inner.clone()].concat();
    let inside: Vec<String> = inner.iter().map(|name| format!("{name}. {}", body(random, &all, 2))).collect();
    let nested = format!("({} {{ {} }} in {})", kinds[1], inside.join(", "), body(random, &all, 1));
    let mut equations: Vec<String> = outer.iter().map(|name| format!("{name}. {}", body(random, &outer, 2))).collect();
    equations[0] = format!("{} || {nested}", equations[0]);
    format!("{} {{ {} }} in {}", kinds[0], equations.join(", "), body(random, &outer, 1))
}

fn bound(text: &str) -> Formula<AtomId> {
    let formula = parse_formula(text).unwrap_or_else(|error| panic!("{error}"));
    let number = |name: Option<&str>| ["p", "q"].iter().position(|known| name == Some(known)).ok_or(());
    let bound = formula.try_map_atoms(&mut |atom| number(atom.bare_name()).map(|number| AtomId(number as u32)));
    bound.expect("all atoms have numbers")
}

#[test]
fn solver_agrees_on_vectors() {
    for seed in 0..random::cases(100_000) / 5 {
        let mut random = Random::new(seed ^ 0x7ec_0000);
        let states = 1 + random.below(6);
        let edges = random::edges(&mut random, states);
        let (graph, labels) = (random::graph(&edges), random::labels(&mut random, states));
        let text = formula(&mut random);
        let formula = bound(&text);
        let normal_form = random::normal_form(&formula);
        let solution = random::solve(&Problem { graph: &graph, labels: &labels, formula: &normal_form });
        let expected = naive::evaluate(&graph, &labels, &formula);
        let found: Vec<_> = graph.states().map(|state| solution.truth(state, normal_form.root())).collect();
        assert_eq!(found, expected, "seed {seed}: `{text}` on {edges:?}");
        let printed = parse_formula(&text).expect("it was parsed").to_string();
        assert_eq!(bound(&printed), formula, "seed {seed}: `{text}` prints as `{printed}`");
    }
}

/// Bekić's principle: a vector of two is two nested fixed points.
#[test]
fn vectors_are_nested_fixed_points() {
    let vector = bound("nu { X. p && []Y, Y. q || <>X } in X");
    let nested = bound("nu X. p && [](nu Y. q || <>X)");
    for seed in 0..2_000 {
        let mut random = Random::new(seed);
        let states = 1 + random.below(7);
        let (edges, labels) = (random::edges(&mut random, states), random::labels(&mut random, states));
        let graph = random::graph(&edges);
        assert_eq!(naive::evaluate(&graph, &labels, &vector), naive::evaluate(&graph, &labels, &nested));
    }
}

#[test]
fn vectors_print_as_they_are_written() {
    for text in [
        "nu { X. p == 1 && []Y, Y. if write(PORTB) then X else []Y } in X",
        "AG (nu { X. []X } in X || p == 1)",
        "(if p then q else r) && s",
        "if p then if q then r else s else nu X. []X",
    ] {
        let formula = parse_formula(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(formula.to_string(), text);
    }
}

/// `then`, `else` and `if` stay names where they are no words of a choice.
#[test]
fn words_of_choices_are_names_elsewhere() {
    for text in ["then == 1 && else == 2", "if == 1"] {
        let formula = parse_formula(text).unwrap_or_else(|error| panic!("{error}"));
        assert!(formula.is_boolean(), "{text}");
    }
}

#[test]
fn wrong_vectors_are_refused() {
    let message = |text: &str| parse_formula(text).map_err(|error| error.kind.to_string());
    for (text, expected) in [
        ("nu { X. p, X. q } in X", "the variable `X` has two equations"),
        ("nu { X. p", "expected an operator, `,` or `}`, found the end of the formula"),
        ("nu { X. p } X", "expected `in` and the formula that the equations are for, found `X`"),
        ("nu { } in X", "expected the name of a variable, found `}`"),
        ("if p then q", "expected an operator or `else`, found the end of the formula"),
        (
            "if AG p then q else r",
            "the condition of `if` speaks of one state: only comparisons and `! && || -> <->` have a meaning here",
        ),
        (
            "nu { X. !Y, Y. X } in Y",
            "the fixed-point variable `Y` stands under an odd number of negations; negate it twice or not at all (`p -> q` negates `p`, `p <-> q` both)",
        ),
    ] {
        assert_eq!(message(text), Err(expected.to_owned()), "{text}");
    }
    let unbound = Formula::<AtomId>::Variable(mu_calculus::Variable::new("Z"));
    assert!(matches!(NormalForm::new(&unbound), Err(TranslateError::UnboundVariable { .. })));
}
