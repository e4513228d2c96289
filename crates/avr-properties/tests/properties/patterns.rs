//! The formulas that kinds of properties stand for.

use avr_properties::{AtomTable, Binding, Definitions, Property, PropertyKind, StackLimit, bind};

use super::support::{bound, device, sensor};

/// The shown text, and that binding it gives the same formula.
#[track_caller]
fn check(entry: &str, expected: &str) {
    let image = sensor();
    let binding = Binding { device: device("atmega328p"), image: &image };
    let mut table = AtomTable::new();
    let mut formula = |text: &str| {
        let property = Property::from_command_line(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let bound = bind(&property, &Definitions::new(), &binding, &mut table);
        bound.unwrap_or_else(|error| panic!("{text}: {error}"))
    };
    let property = formula(entry);
    assert_eq!(property.formula_text, expected);
    assert_eq!(formula(expected).normal_form, property.normal_form, "{entry}");
}

#[test]
fn every_pattern_shows_what_is_checked() {
    check(r#"Recovery(to: "PORTB == 0")"#, "AG EF (PORTB == 0)");
    check(r#"Recovery(to: "sleeping")"#, "AG EF sleeping");
    check(r#"Formula(check: "AF PORTB.5 == 1")"#, "AF PORTB.5 == 1");
    check(r#"Always(check: "PORTB == 0 || PORTC == 0")"#, "AG (PORTB == 0 || PORTC == 0)");
    check(r#"Never(check: "PORTB == 0 || PORTC == 0")"#, "AG !(PORTB == 0 || PORTC == 0)");
    check(r#"Reachable(check: "pc == main")"#, "EF (pc == main)");
    check(r#"Response(after: "PORTB == 1", eventually: "PORTB == 0")"#, "AG ((PORTB == 1) -> AF (PORTB == 0))");
    check(r#"Precedence(first: "PORTB.0", then: "PORTB.1")"#, "A[!(PORTB.1) W (PORTB.0)]");
    check(r#"Until(holds: "PORTB.0", until: "PORTB.1")"#, "A[(PORTB.0) U (PORTB.1)]");
    check(r#"Mutex(between: ["PORTB.0", "PORTB.1"])"#, "AG (!((PORTB.0) && (PORTB.1)))");
    check(
        r#"Mutex(between: ["sleeping", "sp_torn", "in_interrupt"])"#,
        "AG (!(sleeping && sp_torn) && !(sleeping && in_interrupt) && !(sp_torn && in_interrupt))",
    );
    check(r#"StaysAfter(after: "PORTB.0")"#, "AG ((PORTB.0) -> AG (PORTB.0))");
    check(r#"StaysAfter(after: "PORTB.0", stays: "sleeping")"#, "AG ((PORTB.0) -> AG sleeping)");
    check(r#"InfinitelyOften(check: "PORTB.0")"#, "AG AF (PORTB.0)");
    check(r#"EventuallyForever(check: "PORTB.0")"#, "mu X. nu Y. []X || ((PORTB.0) && []Y)");
    check("Stack(max_bytes: 2)", "AG (sp_torn || sp >= 0x8fd)");
    check("Stack(max_bytes: 0)", "AG (sp_torn || sp >= 0x8ff)");
    check("Stack(max_bytes: 100000)", "AG (sp_torn || sp >= 0x0)");
    check("Stack(margin: 16)", "AG (sp_torn || sp >= 0x11f)");
}

#[test]
fn the_inherent_property_has_an_atom_of_its_own() {
    let (property, table) = bound("Inherent()", "atmega328p", &sensor()).expect("it needs no names");
    assert_eq!(property.formula_text, "AG !hazard");
    assert_eq!(*table.atoms()[0].kind(), avr_properties::AtomKind::Hazard);
    assert_eq!((property.kind, property.name.as_str()), ("Inherent", "Inherent()"));
}

#[test]
fn steps_are_counted_by_modalities_only() {
    #[track_caller]
    fn check(text: &str, expected: bool) {
        let (property, _) = bound(text, "atmega328p", &sensor()).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(property.counts_steps, expected, "{text}");
    }
    check("AG EF PORTB == 0", false);
    check("A[PORTB.0 U AF PORTB.1]", false);
    check("AX PORTB.0", true);
    check("AG !EX PORTB.0", true);
    check("nu X. pc != 0x8c && [][]X", true);
    check("AG (sleeping || <>PORTB.0)", true);
    check(r#"EventuallyForever(check: "PORTB.0")"#, false);
    check(r#"EventuallyForever(check: "AX PORTB.0")"#, true);
}

#[test]
fn the_command_line_takes_an_entry_or_a_formula() {
    #[track_caller]
    fn check(text: &str, kind: PropertyKind, name: &str) {
        let property = Property::from_command_line(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((property.kind(), property.name()), (&kind, name));
    }
    let formula = |text: &str| PropertyKind::Formula { check: text.to_owned() };
    check("AG(PORTB == 0)", formula("AG(PORTB == 0)"), "AG(PORTB == 0)");
    check(" EF PORTB.0 ", formula("EF PORTB.0"), "EF PORTB.0");
    check("Inherent()", PropertyKind::Inherent, "Inherent()");
    check("Inherent(name: \"n\")", PropertyKind::Inherent, "n");
    check("Stack( max_bytes: 2 )", PropertyKind::Stack(StackLimit::MaxBytes(2)), "Stack( max_bytes: 2 )");
    check("Recovery(to: \"x == 1\")", PropertyKind::Recovery { to: "x == 1".to_owned() }, "Recovery(to: \"x == 1\")");
}

#[test]
fn what_is_bound_later_says_so() {
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let error = bound(text, "atmega328p", &sensor()).expect_err("it is not supported");
        assert_eq!(error.unsupported().map(ToString::to_string).as_deref(), Some(expected), "{error}");
    }
    check(r#"Ltl(check: "F G PORTB.0")"#, "linear time (`Ltl`) is not supported yet");
    check(
        r#"Always(check: "PORTB.0", under: ["G F sleeping"])"#,
        "the fairness assumption under `under` is not supported yet",
    );
    check("AG !hazard", "the atom `hazard` outside of `Inherent()` is not supported yet");
}
