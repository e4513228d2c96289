//! Sharing, duality and priorities of the normal form.

use expect_test::{Expect, expect};
use mu_calculus::{AtomId, FixedPoint, Formula, Node, NodeId, NormalForm, TranslateError, Variable, parse_formula};

/// Atoms `p`, `q`, … become 0, 1, …
fn normal_form(text: &str) -> Result<NormalForm, TranslateError> {
    let formula = parse_formula(text).expect("the formula parses");
    let bound = formula.try_map_atoms(&mut |atom| {
        let letter = atom.bare_name().and_then(|name| name.bytes().next()).ok_or(())?;
        Ok::<_, ()>(AtomId(u32::from(letter - b'p')))
    });
    NormalForm::new(&bound.expect("atoms are letters from p on"))
}

fn show(form: &NormalForm) -> String {
    let node = |id: NodeId| match form.node(id) {
        Node::Constant(value) => value.to_string(),
        Node::Atom(atom) => format!("p{}", atom.0),
        Node::NegatedAtom(atom) => format!("!p{}", atom.0),
        Node::And(p, q) => format!("{} && {}", p.0, q.0),
        Node::Or(p, q) => format!("{} || {}", p.0, q.0),
        Node::Modal(modality, p) => format!("{modality}{}", p.0),
        Node::Fixed(kind, p) => format!("{kind} {} (priority {:?})", p.0, form.priority(id).unwrap_or(99)),
    };
    let lines = (0..form.node_count() as u32).map(|id| format!("{id}: {}", node(NodeId(id))));
    lines.collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&show(&normal_form(text).expect("it has a normal form")));
}

#[test]
fn ctl_becomes_fixed_points() {
    check(
        "AG p",
        &expect![[r#"
        0: nu 1 (priority 0)
        1: 2 && 3
        2: p0
        3: []0"#]],
    );
    check(
        "!E[p U q]",
        &expect![[r#"
        0: nu 1 (priority 0)
        1: 2 && 3
        2: !p1
        3: 4 || 5
        4: !p0
        5: []0"#]],
    );
    check(
        "E[!p R !q]",
        &expect![[r#"
        0: nu 1 (priority 0)
        1: 2 && 3
        2: !p1
        3: 4 || 5
        4: !p0
        5: <>0"#]],
    );
    check(
        "A[p W q]",
        &expect![[r#"
        0: nu 1 (priority 0)
        1: 2 || 3
        2: p1
        3: 4 && 5
        4: p0
        5: []0"#]],
    );
}

#[test]
fn equal_subformulas_are_shared() {
    check(
        "EF p && AX EF p && !AG !p",
        &expect![[r#"
        0: 1 && 5
        1: mu 2 (priority 1)
        2: 3 || 4
        3: p0
        4: <>1
        5: 6 && 1
        6: []1"#]],
    );
    check("true && p || false", &expect!["0: p0"]);
}

/// `<->` doubles nothing: each level adds a constant number of nodes.
#[test]
fn equivalences_stay_small() {
    let size = |levels: usize| {
        let text = format!("p{}", " <-> q".repeat(levels));
        normal_form(&text).expect("it has a normal form").node_count()
    };
    assert!(size(100) - size(50) <= 6 * 50);
}

#[track_caller]
fn check_depth(text: &str, depth: u32) {
    assert_eq!(normal_form(text).expect("it has a normal form").alternation_depth(), depth, "{text}");
}

#[test]
fn alternation_depth_is_by_dependency() {
    check_depth("p && <>q", 0);
    check_depth("mu X. p", 0);
    check_depth("AG EF AF EG p", 1);
    check_depth("nu X. []X && mu Y. p || <>Y", 1);
    check_depth("mu X. mu Y. p || <>X || []Y", 1);
    check_depth("mu X. nu Y. []X || (p && []Y)", 2);
    check_depth("nu X. mu Y. <>(p && X || Y)", 2);
    check_depth("AG mu X. nu Y. []X || (p && []Y)", 2);
    check_depth("nu X. mu Y. nu Z. [](p && X || q && Z || Y)", 3);
    // The innermost does not use the outermost, the middle one not the innermost's neighbour.
    check_depth("nu X. mu Y. nu Z. [](q && Z || Y)", 2);
    check_depth("nu X. []X && mu Y. nu Z. <>(Y || q && Z)", 2);
    check_depth("mu X. AG (p || <>X)", 2);
}

#[test]
fn open_and_negated_formulas_are_refused() {
    let variable = || Formula::Variable(Variable::new("X"));
    let unbound = NormalForm::new(&variable()).expect_err("it is open");
    assert_eq!(unbound.to_string(), "the variable `X` is not bound; put `mu X.` or `nu X.` in front");
    let negated = Formula::Fixed(FixedPoint::Least, Variable::new("X"), Box::new(Formula::Not(Box::new(variable()))));
    let error = NormalForm::new(&negated).expect_err("it is negated once");
    assert_eq!(
        error.to_string(),
        "the variable `X` stands under an odd number of negations; negate it twice or not at all"
    );
}

#[test]
fn trees_that_are_too_deep_are_refused() {
    let deep = (0..1000).fold(Formula::Atom(AtomId(0)), |p, _| Formula::Not(Box::new(p)));
    assert_eq!(NormalForm::new(&deep), Err(TranslateError::TooDeep));
}
