//! Every error says what was expected and marks the place.

use expect_test::{Expect, expect};
use mu_calculus::{
    Comparison, Formula, MAX_DEPTH, NormalForm, ParseError, ParseErrorKind, parse_formula, parse_linear,
    parse_predicate,
};

#[track_caller]
fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&parse_formula(text).expect_err("the text is wrong").to_string());
}

#[track_caller]
fn check_predicate(text: &str, expected: &Expect) {
    expected.assert_eq(&parse_predicate(text).expect_err("the text is wrong").to_string());
}

#[test]
fn operands() {
    check("", &expect!["column 1: expected a formula, found the end of the formula"]);
    check(
        "AG",
        &expect![[r#"
        column 3: expected a formula after `AG`, found the end of the formula
          AG
            ^"#]],
    );
    check(
        "AG(DDRC == && p)",
        &expect![[r#"
        column 12: expected an operand after `==`, found `&&`
          AG(DDRC == && p)
                     ^^"#]],
    );
    check(
        "PORTB + == 1",
        &expect![[r#"
        column 9: expected an operand after `+`, found `==`
          PORTB + == 1
                  ^^"#]],
    );
    check(
        "p &&",
        &expect![[r#"
        column 5: expected an operand after `&&`, found the end of the formula
          p &&
              ^"#]],
    );
    check(
        "p || )",
        &expect![[r#"
        column 6: expected an operand after `||`, found `)`
          p || )
               ^"#]],
    );
    check(
        "-",
        &expect![[r#"
        column 2: expected a number or a name after `-`, found the end of the formula
          -
           ^"#]],
    );
    check(
        "mem[] == 1",
        &expect![[r#"
        column 5: expected an index after `[`, found `]`
          mem[] == 1
              ^"#]],
    );
    check(
        "in main",
        &expect![[r#"
        column 1: expected a formula or an expression, found `in`
          in main
          ^^"#]],
    );
}

#[test]
fn operators_and_brackets() {
    check(
        "p q",
        &expect![[r#"
        column 3: expected an operator or the end of the formula, found `q`
          p q
            ^"#]],
    );
    check(
        "AG F p",
        &expect![[r#"
            column 4: `F` is an operator of linear time; write A[F …] or E[F …], or state the property with Ltl(check: …)
              AG F p
                 ^"#]],
    );
    check(
        "(p && q",
        &expect![[r#"
        column 8: expected an operator or `)`, found the end of the formula
          (p && q
                 ^"#]],
    );
    check(
        "A[p && q]",
        &expect![[r#"
            column 9: expected an operator of linear time, such as `U`, `R` or `W`, found `]`
              A[p && q]
                      ^"#]],
    );
    check(
        "A[p U q",
        &expect![[r#"
        column 8: expected an operator or `]`, found the end of the formula
          A[p U q
                 ^"#]],
    );
    check(
        "mem[0x100 == 3",
        &expect![[r#"
        column 11: expected an operator or `]`, found `==`
          mem[0x100 == 3
                    ^^"#]],
    );
    check(
        "write(PORTB; 1)",
        &expect![[r#"
        column 12: `;` has no meaning in a formula
          write(PORTB; 1)
                     ^"#]],
    );
    check(
        "write(PORTB 1)",
        &expect![[r#"
        column 13: expected an operator, `,` or `)`, found `1`
          write(PORTB 1)
                      ^"#]],
    );
    check(
        "p)",
        &expect![[r#"
        column 2: expected an operator or the end of the formula, found `)`
          p)
           ^"#]],
    );
}

#[test]
fn kinds() {
    check(
        "AG PORTB + 1",
        &expect![[r#"
        column 4: this is a number, not a formula; compare it, as in `… == 0`
          AG PORTB + 1
             ^^^^^^^^^"#]],
    );
    check(
        "5 && p",
        &expect![[r#"
        column 1: this is a number, not a formula; compare it, as in `… == 0`
          5 && p
          ^"#]],
    );
    check(
        "(p && q) + 1 == 2",
        &expect![[r#"
        column 1: this is a formula, not a number; it cannot be an operand of `+`
          (p && q) + 1 == 2
          ^^^^^^^^"#]],
    );
    check(
        "a < b < c",
        &expect![[r#"
        column 1: comparisons cannot be chained; write `a < b && b < c`
          a < b < c
          ^^^^^"#]],
    );
    check(
        "(a < b) == c",
        &expect![[r#"
        column 1: this is a formula, not a number; it cannot be an operand of `==`
          (a < b) == c
          ^^^^^^^"#]],
    );
    check(
        "mem[p && q] == 1",
        &expect![[r#"
        column 7: expected an operator or `]`, found `&&`
          mem[p && q] == 1
                ^^"#]],
    );
    check(
        "signed(AG p) == 1",
        &expect![[r#"
        column 7: this is a formula, not a number; it cannot be an operand of `signed(…)`
          signed(AG p) == 1
                ^^^^^^"#]],
    );
}

#[test]
fn tokens() {
    check(
        "PORTB = 1",
        &expect![[r#"
        column 7: `=` has no meaning in a formula; write `==` to compare
          PORTB = 1
                ^"#]],
    );
    check(
        "PORTB == 0xfg",
        &expect![[r#"
        column 10: `0xfg` is no number below 2^64; write it as 42, 0x2a or 0b101010
          PORTB == 0xfg
                   ^^^^"#]],
    );
    check(
        "PORTB == 99999999999999999999",
        &expect![[r#"
        column 10: `99999999999999999999` is no number below 2^64; write it as 42, 0x2a or 0b101010
          PORTB == 99999999999999999999
                   ^^^^^^^^^^^^^^^^^^^^"#]],
    );
    check(
        "\"Foo::bar == 1",
        &expect![[r#"
        column 1: the quoted name has no closing `"`
          "Foo::bar == 1
          ^^^^^^^^^^^^^^"#]],
    );
    check(
        "p && ü == @",
        &expect![[r#"
        column 11: `@` has no meaning in a formula
          p && ü == @
                    ^"#]],
    );
    check(
        "SREG. && p",
        &expect![[r#"
        column 7: expected a bit number or the name of a bit after `.`, found `&&`
          SREG. && p
                ^^"#]],
    );
}

#[test]
fn variables() {
    check(
        "mu 5. p",
        &expect![[r#"
        column 4: expected the name of a variable, found `5`
          mu 5. p
             ^"#]],
    );
    check(
        "mu AG. p",
        &expect![[r#"
        column 4: expected the name of a variable, found `AG`
          mu AG. p
             ^^"#]],
    );
    check(
        "mu X p",
        &expect![[r#"
        column 6: expected `.` after the variable, found `p`
          mu X p
               ^"#]],
    );
    check(
        "nu X. p && [](X -> q)",
        &expect![[r#"
        column 15: the fixed-point variable `X` stands under an odd number of negations; negate it twice or not at all (`p -> q` negates `p`, `p <-> q` both)
          nu X. p && [](X -> q)
                        ^"#]],
    );
    check(
        "mu X. nu Y. !(p && <>!Y && X)",
        &expect![[r#"
        column 28: the fixed-point variable `X` stands under an odd number of negations; negate it twice or not at all (`p -> q` negates `p`, `p <-> q` both)
          mu X. nu Y. !(p && <>!Y && X)
                                     ^"#]],
    );
    check(
        "mu X. p <-> X",
        &expect![[r#"
        column 13: the fixed-point variable `X` stands under an odd number of negations; negate it twice or not at all (`p -> q` negates `p`, `p <-> q` both)
          mu X. p <-> X
                      ^"#]],
    );
    check(
        "mu X. p <-> (nu Y. []Y && X)",
        &expect![[r#"
        column 27: the fixed-point variable `X` stands under an odd number of negations; negate it twice or not at all (`p -> q` negates `p`, `p <-> q` both)
          mu X. p <-> (nu Y. []Y && X)
                                    ^"#]],
    );
}

/// Twice negated is not negated; a fixed point below `<->` may use its own variable.
#[test]
fn variables_that_are_not_negated() {
    for text in ["mu X. !(p && []!X)", "mu X. (X -> p) -> q", "p <-> (mu X. q || <>X)", "!nu X. p && []X"] {
        assert!(parse_formula(text).is_ok(), "{text}");
    }
}

#[test]
fn predicates() {
    assert!(parse_predicate("pc == 0x8c && !(PORTC == 0) -> idle").is_ok());
    check_predicate(
        "p && AG q",
        &expect![[r#"
        column 6: `AG` speaks of later states, which has no meaning here; only comparisons and `! && || -> <->` do
          p && AG q
               ^^"#]],
    );
    check_predicate(
        "p && []q",
        &expect![[r#"
        column 6: `[]` speaks of later states, which has no meaning here; only comparisons and `! && || -> <->` do
          p && []q
               ^^"#]],
    );
    check_predicate(
        "mu X. p",
        &expect![[r#"
        column 1: `mu` speaks of later states, which has no meaning here; only comparisons and `! && || -> <->` do
          mu X. p
          ^^"#]],
    );
    check_predicate(
        "E[p U q]",
        &expect![[r#"
        column 1: `E` speaks of later states, which has no meaning here; only comparisons and `! && || -> <->` do
          E[p U q]
          ^"#]],
    );
}

#[test]
fn lines() {
    check(
        "AG (p\n\t&& q ==\n   && r)",
        &expect![[r#"
        column 4 of line 3: expected an operand after `==`, found `&&`
             && r)
             ^^"#]],
    );
    check(
        "AG (p\n\t&& = q)",
        &expect![[r#"
        column 5 of line 2: `=` has no meaning in a formula; write `==` to compare
          	&& = q)
          	   ^"#]],
    );
}

/// Whatever is nested as deeply as allowed goes through all recursions on a megabyte of stack; one level more is
/// refused.
#[test]
fn depth_is_limited() {
    let nested: [fn(usize) -> String; 8] = [
        |depth| format!("{}p", "!".repeat(depth)),
        |depth| format!("{}p", "AG ".repeat(depth)),
        |depth| format!("{}p{}", "(".repeat(depth), ")".repeat(depth)),
        |depth| format!("{}p{}", "A[q U ".repeat(depth), "]".repeat(depth)),
        |depth| format!("{}p", "q -> ".repeat(depth)),
        |depth| format!("p{}", " <-> q".repeat(depth)),
        |depth| format!("a{} == 1", " + a".repeat(depth)),
        |depth| format!("{}0{} == 1", "mem[".repeat(depth), "]".repeat(depth)),
    ];
    for (index, text) in nested.iter().enumerate() {
        let (fits, hostile) = (text(MAX_DEPTH - 3), text(20 * MAX_DEPTH));
        let run = move || {
            let formula = parse_formula(&fits).unwrap_or_else(|error| panic!("{index}: {error}"));
            assert_eq!(parse_formula(&formula.to_string()), Ok(formula.clone()));
            let bound = formula.try_map_atoms(&mut |_| Ok::<_, ()>(mu_calculus::AtomId(0))).expect("nothing fails");
            NormalForm::new(&bound).expect("it is closed");
            let kind = parse_formula(&hostile).expect_err("it is nested too deeply").kind;
            assert_eq!(kind, ParseErrorKind::TooDeep, "{index}");
        };
        let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run).expect("a thread starts");
        thread.join().expect("no overflow and no panic");
    }
}

#[test]
fn length_is_limited() {
    let long = |count| vec!["p"; count].join(" && ");
    assert!(parse_formula(&long(40_000)).is_ok());
    let error = parse_formula(&long(60_000)).expect_err("it is too long");
    assert_eq!(error.kind, ParseErrorKind::TooLong);
}

/// No text makes the parser panic.
#[test]
fn arbitrary_text_is_parsed_or_refused() {
    const PIECES: [&str; 36] = [
        "(", ")", "[", "]", "<>", "[]", "AG ", "A[", "E[", " U ", " R ", "mu X.", "nu X.", "X", "p", "&&", "||", "!",
        "->", "<->", "==", "<", "+", "-", "~", "&", "0x1f", "7", "\"a b\"", "\"", ".", ",", "signed(", "mem[", " in ",
        "é",
    ];
    for seed in 0..20_000 {
        let mut random = avr_testkit::Random::new(seed);
        let length = random.below(20);
        let text: String = (0..length).map(|_| random.pick(&PIECES)).collect();
        match parse_formula(&text) {
            Ok(formula) => assert_eq!(parse_formula(&formula.to_string()), Ok(formula), "{text}"),
            Err(error) => assert!(text.trim().is_empty() || error.to_string().contains('^'), "{text}"),
        }
    }
}

#[test]
fn linear_time() {
    #[track_caller]
    fn path(text: &str, expected: &str) {
        let found = parse_linear(text).map_or_else(|error| error.kind.to_string(), |formula| formula.to_string());
        assert_eq!(found, expected, "{text}");
    }
    path("F G p", "A[F G p]");
    path("G p", "AG p");
    path("p U q", "A[p U q]");
    path("G(p -> (q U r))", "A[G (p -> (q U r))]");
    path("X[X[p]]", "A[X X p]");
    path("(p && q) U r", "A[(p && q) U r]");
    path("!p U F q", "A[!p U F q]");
    path("G (p -> O q)", "A[G (p -> O q)]");
    path("p S q", "A[p S q]");
    path("G E[F G p]", "AG E[F G p]");
    path("F AG p", "AF AG p");
    path("mu X. p || AX X", "mu X. p || AX X");
    path("p && q", "p && q");
    let modality = "has no meaning on a path; write G or F for all or some later states, X for the next, AX or EX for \
                    all or some successors";
    path("[]<>p", &format!("`[]` {modality}"));
    path("<>p", &format!("`<>` {modality}"));
    path(
        "AG F p",
        "`F` is an operator of linear time; write A[F …] or E[F …], or state the property with Ltl(check: …)",
    );
    path("F", "expected a formula after `F`, found the end of the formula");
    path("p U", "expected a formula after `U`, found the end of the formula");
    #[track_caller]
    fn formula(text: &str, expected: &str) {
        let found = parse_formula(text).map_or_else(|error| error.kind.to_string(), |formula| formula.to_string());
        assert_eq!(found, expected, "{text}");
    }
    formula("A[X[X[p]]]", "A[X X p]");
    formula("A[G F p] && E[F (p && X q)]", "A[G F p] && E[F (p && X q)]");
    formula("A[X p]", "AX p");
    formula("mu X. A[X U p]", "mu X. A[X U p]");
    formula(
        "F G p",
        "`F` is an operator of linear time; write A[F …] or E[F …], or state the property with Ltl(check: …)",
    );
    formula(
        "G(p)",
        "`G` is an operator of linear time; write A[G …] or E[G …], or state the property with Ltl(check: …)",
    );
}

/// Texts with two readings are refused, and both readings are formulas.
#[test]
fn two_readings() {
    type Parse = fn(&str) -> Result<Formula<Comparison>, ParseError>;
    #[track_caller]
    fn check(parse: Parse, text: &str, readings: [&str; 2]) {
        let error = parse(text).expect_err("it can be read in two ways");
        let message = error.kind.to_string();
        for reading in readings {
            assert!(message.contains(&format!("`{reading}`")), "{text}: {message}");
        }
        let parsed = readings.map(|reading| parse(reading).unwrap_or_else(|error| panic!("{error}")));
        assert_ne!(parsed[0], parsed[1], "{text}");
    }
    let linear: Parse = parse_linear;
    check(linear, "G p U q", ["(G p) U q", "G (p U q)"]);
    check(linear, "p && q U r", ["(p && q) U r", "p && (q U r)"]);
    check(linear, "p U q || r", ["p U (q || r)", "(p U q) || r"]);
    check(linear, "p -> q W r", ["(p -> q) W r", "p -> (q W r)"]);
    check(linear, "p U q U r", ["(p U q) U r", "p U (q U r)"]);
    check(linear, "p U q R r && s", ["(p U q) R (r && s)", "p U (q R (r && s))"]);
    check(linear, "!O p S q", ["(!O p) S q", "!O (p S q)"]);
    check(linear, "G (p -> q U r)", ["G ((p -> q) U r)", "G (p -> (q U r))"]);
    let formula: Parse = parse_formula;
    check(formula, "A[p -> q U r]", ["A[(p -> q) U r]", "A[p -> (q U r)]"]);
    check(formula, "AG A[F p U q]", ["AG A[(F p) U q]", "AG A[F (p U q)]"]);
    check(formula, "E[X p R q] && r", ["E[(X p) R q] && r", "E[X (p R q)] && r"]);
    check(formula, "A[p U q && r]", ["A[p U (q && r)]", "A[(p U q) && r]"]);
    check(formula, "A[p || G q U r -> s]", ["A[(p || G q) U (r -> s)]", "A[p || G (q U r) -> s]"]);
    check(formula, "A[p && q\n  U F r]", ["A[(p && q) U F r]", "A[p && (q U F r)]"]);
}

/// Nobody reads these otherwise.
#[test]
fn one_reading() {
    for text in [
        "A[!p U q]",
        "A[p == 1 U q]",
        "A[p U G q]",
        "E[A[p U q] R q]",
        "A[p U !q]",
        "A[AG p U q]",
        "A[p + 1 == 2 W []q]",
    ] {
        assert!(parse_formula(text).is_ok(), "{text}");
    }
}
