//! Printed formulas parse back to the same tree.

use mu_calculus::{
    BinaryOperator, Comparison, ComparisonKind, ComparisonOperator, Expr, ExprKind, Field, Formula, Name, Span,
    UnaryOperator, parse_formula,
};

use crate::random;
use avr_testkit::Random;

fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::default() }
}

fn name(random: &mut Random) -> Name {
    match random.below(5) {
        0 => Name { text: "Foo::bar(int) \\ \"quoted\" AG".to_owned(), quoted: true },
        1 => Name { text: "mu".to_owned(), quoted: true },
        index => Name::plain(["PORTB", "x", "_counter$1"][index as usize - 2]),
    }
}

/// What a dot or a bracket may follow: a member, or an element.
fn part(random: &mut Random, size: u32) -> Box<Expr> {
    let index = random_expr(random, size - 1);
    Box::new(expr(match random.below(3) {
        0 => ExprKind::Field(name(random), Field::Name("level".to_owned())),
        1 => ExprKind::Index(name(random), Box::new(index)),
        _ if size > 1 => ExprKind::Member(part(random, size - 1), Field::Name("high".to_owned())),
        _ => ExprKind::Index(name(random), Box::new(index)),
    }))
}

fn random_expr(random: &mut Random, size: u32) -> Expr {
    if size == 0 {
        return expr(ExprKind::Integer(random.bits() >> random.below(64)));
    }
    let below = |random: &mut Random| Box::new(random_expr(random, size - 1));
    expr(match random.below(11) {
        0 => ExprKind::Name(name(random)),
        1 => ExprKind::Field(name(random), Field::Number(random.below(8))),
        2 => ExprKind::Field(name(random), Field::Name("Z".to_owned())),
        3 => ExprKind::Index(name(random), below(random)),
        4 => {
            let count = random.below(3);
            ExprKind::Call(name(random), (0..count).map(|_| *below(random)).collect())
        }
        5 => ExprKind::Signed(below(random)),
        7 => ExprKind::Member(part(random, size), Field::Name("low".to_owned())),
        8 => ExprKind::Element(part(random, size), below(random)),
        6 => ExprKind::Unary(random.pick(&[UnaryOperator::Negate, UnaryOperator::Complement]), below(random)),
        _ => {
            use BinaryOperator::{Add, And, Or, ShiftLeft, ShiftRight, Subtract, Xor};
            let operator = random.pick(&[Or, Xor, And, ShiftLeft, ShiftRight, Add, Subtract]);
            ExprKind::Binary(operator, below(random), below(random))
        }
    })
}

fn comparison(random: &mut Random) -> Comparison {
    use ComparisonOperator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    let kind = match random.below(5) {
        0 => ComparisonKind::Member(random_expr(random, 2), random_expr(random, 1)),
        1 => ComparisonKind::Bare(expr(ExprKind::Call(name(random), vec![random_expr(random, 2)]))),
        2 => ComparisonKind::Bare(expr(ExprKind::Name(name(random)))),
        _ => {
            let operator = random.pick(&[Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual]);
            ComparisonKind::Compare(operator, random_expr(random, 3), random_expr(random, 3))
        }
    };
    Comparison { kind, span: Span::default() }
}

#[test]
fn printed_formulas_parse_back() {
    for seed in 0..random::cases(100_000) / 10 {
        let mut random = Random::new(seed ^ 0xd15_0000);
        let shape = random::formula(&mut random);
        let formula: Formula<Comparison> =
            shape.try_map_atoms(&mut |_| Ok::<_, ()>(comparison(&mut random))).expect("nothing fails");
        let text = formula.to_string();
        let parsed = parse_formula(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(parsed, formula, "seed {seed}: {text}");
    }
}

/// Both texts parse to the same tree, and it prints as the second.
#[track_caller]
fn check(text: &str, canonical: &str) {
    let parsed = parse_formula(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(parsed.to_string(), canonical);
    assert_eq!(parse_formula(canonical).as_ref(), Ok(&parsed));
}

#[test]
fn precedences() {
    check("PORTB & 1 == 0", "PORTB & 1 == 0");
    check("(PORTB & 1) == 0", "PORTB & 1 == 0");
    check("a | b ^ c & d << e + f == 0", "a | b ^ c & d << e + f == 0");
    check("(((a + b) << d) & c ^ e) | g == 0", "a + b << d & c ^ e | g == 0");
    check("a - (b - c) - d == 0", "a - (b - c) - d == 0");
    check("-(a + b) + ~c == --1", "-(a + b) + ~c == --1");
    check("p || q && r -> s <-> t", "p || q && r -> s <-> t");
    check("p -> q -> r", "p -> q -> r");
    check("(p -> q) -> r", "(p -> q) -> r");
    check("p <-> q <-> r", "p <-> q <-> r");
    check("p && q && r", "p && q && r");
    check("(p && q) && r", "(p && q) && r");
    check("((p))", "p");
    check("AG p && q", "AG p && q");
    check("AG(p && q)", "AG (p && q)");
    check("AG EF PORTC == 0 && q", "AG EF PORTC == 0 && q");
    check("!PORTB == 1", "!PORTB == 1");
    check("[][]X", "[][]X");
    check("[ ] <> p == 1", "[]<>p == 1");
    check("nu X. pc != 0x8c && [][]X", "nu X. pc != 140 && [][]X");
    check("mu X.X || <>X", "mu X. X || <>X");
    check("p && mu X. q || <>X", "p && (mu X. q || <>X)");
    check("A[p U (q && r)]", "A[p U (q && r)]");
    check("A[!!p U [](q && r)]", "A[!!p U [](q && r)]");
    check("A[(AF p) W E[F q]]", "A[(AF p) W EF q]");
    check("E[(p -> q) R !q] && A[p W E[p U q]]", "E[(p -> q) R !q] && A[p W E[p U q]]");
    check("pc in main && \"Foo::bar(int)\" == 3", "pc in main && \"Foo::bar(int)\" == 3");
    check("write(PORTB) & 0x01 == 1", "write(PORTB) & 1 == 1");
    check("signed(mem16[0x1_00]) < 0 - 3", "signed(mem16[256]) < 0 - 3");
    check("SREG.Z && PORTB.3 && interrupt(TIMER0_OVF)", "SREG.Z && PORTB.3 && interrupt(TIMER0_OVF)");
}

/// `x` is a variable where a formula stands, and the register pair in an expression.
#[test]
fn variables_shadow_nothing_in_expressions() {
    let Ok(Formula::Fixed(_, _, body)) = parse_formula("nu x. x == 5 && []x && y") else { panic!("it is a nu") };
    let Formula::And(operands) = *body else { panic!("three operands") };
    assert!(matches!(operands[0], Formula::Atom(_)));
    assert!(matches!(&operands[1], Formula::Modal(_, p) if matches!(**p, Formula::Variable(_))));
    assert!(matches!(operands[2], Formula::Atom(_)));
}
