//! Predicates that property files name, and the numbers that atoms compare.

use avr_isa::DataAddress;
use avr_machine::{Number, Operand};
use avr_properties::{Binding, ComparedNumbers, NamedPredicates, Order, PropertyFile, bind_predicates};
use expect_test::{Expect, expect};
use three_valued::{Truth, TvByte};

use super::support::{State, atom, device, hex};

fn bound(predicates: &str) -> Result<NamedPredicates, String> {
    let file = PropertyFile::parse("p.ron", &format!("(predicates: [{predicates}])")).map_err(|it| it.to_string())?;
    let image = hex();
    let binding = Binding {
        device: device("atmega328p"),
        image: &image,
        start: 0,
        ends_paths: false,
        stacks: &[],
        boot_start: None,
    };
    bind_predicates(&file, &binding).map_err(|error| error.to_string())
}

/// The bytes of a number as text: `r24` is a register, `@100` a cell of memory, `12` a constant, all in hexadecimal.
fn shown(side: &Number) -> String {
    let byte = |operand: &Operand| match operand {
        Operand::Cell(DataAddress(cell @ 0..32)) => format!("r{cell}"),
        Operand::Cell(cell) => format!("@{:x}", cell.0),
        Operand::Masked(cell, mask) => format!("@{:x}&{mask:x}", cell.0),
        Operand::Constant(value) => format!("{value:x}"),
    };
    side.bytes.iter().map(byte).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let bound = bound(&format!("{text:?}")).unwrap_or_else(|error| panic!("{error}"));
    let shown: Vec<String> =
        bound.comparisons.iter().map(|it| format!("{}, {}", shown(&it.left), shown(&it.right))).collect();
    assert_eq!(shown, expected, "{text}");
}

/// Compares the disjunction that a combination is, or the negation of.
#[track_caller]
fn check_combination(text: &str, expected: &[&str]) {
    let bound = bound(&format!("{text:?}")).unwrap_or_else(|error| panic!("{error}"));
    let literal = |part: &ComparedNumbers| {
        let (left, right) = (shown(&part.numbers.left), shown(&part.numbers.right));
        let negated = if part.is_negated { "!" } else { "" };
        format!("{negated}{:?} {left}, {right}", part.order)
    };
    let shown: Vec<String> = bound.combinations.iter().flatten().map(literal).collect();
    assert_eq!(shown, expected, "{text}");
}

#[test]
fn some_bits_of_a_number_are_a_number() {
    check("(mem16[0x100] & 0x0ff0) == 0x120", &["@100&f0 @101&f, 20 1"]);
    check("0xff00 & mem16[0x100] < mem16[0x102]", &["0 @101, @102 @103"]);
    check("(mem[0x100] & -2) == r24", &["@100&fe, r24"]);
}

#[test]
fn a_combination_of_two_comparisons_is_a_disjunction() {
    let either = ["Equal @100, 1", "!Less r24, 2"];
    check_combination("mem[0x100] == 1 || r24 >= 2", &either);
    check_combination("mem[0x100] != 1 -> !(r24 < 2)", &either);
    check_combination("!(mem[0x100] != 1 && r24 < 2)", &either);
    check_combination("mem[0x100] != 1 && r24 < 2", &either);
    let equivalence = ["!Equal r24, 1", "Equal r25, 2", "Equal r24, 1", "!Equal r25, 2"];
    check_combination("r24 == 1 <-> r25 == 2", &equivalence);
    check_combination("!!(r24 == 1 <-> r25 == 2)", &equivalence);
    check_combination("!(r24 != 1 <-> r25 == 2)", &equivalence);
    check_combination("!(r24 == 1 <-> r25 == 2)", &["Equal r24, 1", "Equal r25, 2", "!Equal r24, 1", "!Equal r25, 2"]);
    for text in [
        "mem[0x100] == 1",
        "r24 == 1 || r25 == 1 || r26 == 1",
        "(r24 == 1 && r25 == 1) <-> r26 == 1",
        "r24 == 1 || (r25 == 1 && r26 == 1)",
    ] {
        check_combination(text, &[]);
    }
}

#[track_caller]
fn check_refused(text: &str, expected: Expect) {
    expected.assert_eq(&bound(&format!("{text:?}")).expect_err("it is no predicate"));
}

#[test]
fn a_predicate_compares_two_numbers() {
    check("mem16[0x100] == 0x1234", &["@100 @101, 34 12"]);
    check("5 < r24", &["5, r24"]);
    check("signed(mem16[0x100]) >= -2", &["@100 @101, fe ff"]);
    check("x != mem[0x200]", &["r26 r27, @200 0"]);
    check("mem[0x100] == 1 && !(mem[0x101] > 2)", &["@100, 1", "@101, 2"]);
}

#[test]
fn what_is_no_number_of_the_program_is_refused_at_its_place() {
    check_refused(
        "PORTB == 1",
        expect![[r#"
            p.ron:1:16: predicates: expected a constant, or a number of up to four bytes in registers or SRAM, or bits of one as in `(rx_word & 0x0ff0)`
              (predicates: ["PORTB == 1"])
                             ^^^^^"#]],
    );
    check_refused(
        "r24 + 1 == r25",
        expect![[r#"
            p.ron:1:16: predicates: expected a constant, or a number of up to four bytes in registers or SRAM, or bits of one as in `(rx_word & 0x0ff0)`
              (predicates: ["r24 + 1 == r25"])
                             ^^^^^^^"#]],
    );
    check_refused(
        "signed(r24) < r25",
        expect![[r#"
            p.ron:1:16: predicates: expected two numbers that can be equal, not two constants; `signed` of both or none, then of as many bytes
              (predicates: ["signed(r24) < r25"])
                             ^^^^^^^^^^^^^^^^^"#]],
    );
    check_refused(
        "r24 == 256",
        expect![[r#"
            p.ron:1:16: predicates: expected two numbers that can be equal, not two constants; `signed` of both or none, then of as many bytes
              (predicates: ["r24 == 256"])
                             ^^^^^^^^^^"#]],
    );
    check_refused(
        "sleeping",
        expect![[r#"
            p.ron:1:16: predicates: expected a comparison of two numbers, as in `rx_word == 0x1234`
              (predicates: ["sleeping"])
                             ^^^^^^^^"#]],
    );
    check_refused(
        "r24 ==",
        expect![[r#"
        p.ron:1:22: predicates: expected an operand after `==`, found the end of the formula
          (predicates: ["r24 =="])
                               ^"#]],
    );
    check_refused(
        "r99 == 1",
        expect![[r#"
        p.ron:1:16: predicates: nothing is named 'r99'; did you mean r19 or r29 or r9?
          (predicates: ["r99 == 1"])
                         ^^^"#]],
    );
    check_refused(
        "AG (r24 == 1)",
        expect![[r#"
        p.ron:1:16: predicates: `AG` speaks of later states, which has no meaning here; only comparisons and `! && || -> <->` do
          (predicates: ["AG (r24 == 1)"])
                         ^^"#]],
    );
}

#[test]
fn predicates_are_not_too_many() {
    let all = |count: usize| vec!["\"r24 == 1\""; count].join(",");
    assert!(bound(&all(32)).is_ok());
    assert!(bound(&all(33)).is_err_and(|error| error.contains("at most 32 comparisons")));
}

/// A number of which the lowest byte comes first.
fn value(side: &Number, state: &State, is_signed: bool) -> i64 {
    let byte = |operand: &Operand| match operand {
        Operand::Cell(cell) => state.cells[cell.index()].value(),
        Operand::Masked(cell, mask) => state.cells[cell.index()].value() & mask,
        Operand::Constant(value) => *value,
    };
    let number = side.bytes.iter().rev().fold(0, |all, operand| all << 8 | i64::from(byte(operand)));
    let count = 1i64 << (8 * side.bytes.len());
    if is_signed && number >= count / 2 { number - count } else { number }
}

#[test]
fn atoms_are_the_comparisons_of_their_numbers() {
    let image = hex();
    let bytes = [0, 1, 2, 0x7f, 0x80, 0x81, 0xfe, 0xff];
    let texts = [
        "r24 == 2",
        "r24 != 0x80",
        "128 <= r24",
        "r24 > r25",
        "x < y",
        "x >= 0x0100",
        "signed(r24) < -1",
        "signed(r24) <= signed(r25)",
        "signed(r24) == -2",
        "-127 > signed(r24)",
        "signed(x) > signed(y)",
        "r24 == x",
        "x > r24",
    ];
    for text in texts {
        let (atom, _) = atom(text, &image);
        let compared = atom.compared_numbers().unwrap_or_else(|| panic!("{text} compares numbers"));
        for one in bytes {
            for other in bytes {
                let byte = TvByte::constant;
                let cells = [(24, one), (25, other), (26, one), (27, other), (28, other), (29, one)];
                let state = State::zero().with(&cells.map(|(cell, value)| (cell, byte(value))));
                let [left, right] = [&compared.numbers.left, &compared.numbers.right]
                    .map(|side| value(side, &state, compared.is_signed));
                let is_so = match compared.order {
                    Order::Less => left < right,
                    Order::Equal => left == right,
                    Order::Greater => left > right,
                };
                assert_eq!(atom.evaluate(&state), Truth::from(is_so != compared.is_negated), "{text} with {cells:?}");
            }
        }
    }
    for text in ["PORTB & 1 == 1", "r24.1", "r24 + 1 == 3", "pc == 0", "mem[r24] == 1"] {
        assert_eq!(atom(text, &image).0.compared_numbers(), None, "{text}");
    }
}
