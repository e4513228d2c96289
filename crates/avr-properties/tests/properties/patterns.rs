//! The formulas that kinds of properties stand for.

use avr_properties::{
    AtomTable, Binding, Definitions, InvariantStart, Property, PropertyErrorKind, PropertyKind, StackLimit, bind,
    main_entry,
};

use super::support::{bound, device, sensor};

/// The shown text, and that binding it gives the same formula.
#[track_caller]
fn check(entry: &str, expected: &str) {
    let image = sensor();
    let binding = Binding {
        device: device("atmega328p"),
        image: &image,
        start: 0,
        ends_paths: false,
        stacks: &[],
        boot_start: None,
    };
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
    check(r#"Ltl(check: "F G (pc in main)")"#, "A[F G (pc in main)]");
    check(r#"Ltl(check: "G (PORTB.0 -> (PORTB.1 U PORTB.2))")"#, "A[G (PORTB.0 -> (PORTB.1 U PORTB.2))]");
    check(r#"Ltl(check: "G PORTB.0")"#, "A[G PORTB.0]");
    check(r#"Ltl(check: "PORTB.0")"#, "PORTB.0");
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
        assert_eq!(property.is_stutter_sensitive, expected, "{text}");
    }
    check("AG EF PORTB == 0", false);
    check("A[PORTB.0 U AF PORTB.1]", false);
    check("AX PORTB.0", true);
    check("AG !EX PORTB.0", true);
    check("nu X. pc != 0x8c && [][]X", true);
    check("AG (sleeping || <>PORTB.0)", true);
    check(r#"EventuallyForever(check: "PORTB.0")"#, false);
    check(r#"EventuallyForever(check: "AX PORTB.0")"#, true);
    check("A[F X PORTB.0]", true);
    check("A[F G PORTB.0]", false);
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

/// The formula that is checked under fairness, as the formula of a property without.
#[test]
fn fairness_restricts_the_paths() {
    const INT0: &str = "((F G enabled(INT0) && G F SREG.I) -> G F interrupt(INT0))";
    #[track_caller]
    fn check(entry: &str, expected: &str) {
        let image = sensor();
        let binding = Binding {
            device: device("atmega328p"),
            image: &image,
            start: 0,
            ends_paths: false,
            stacks: &[],
            boot_start: None,
        };
        let mut table = AtomTable::new();
        let mut bound = |text: &str| {
            let property = Property::from_command_line(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            bind(&property, &Definitions::new(), &binding, &mut table).unwrap_or_else(|error| panic!("{text}: {error}"))
        };
        let fair = bound(entry);
        assert!(fair.fairness().is_some());
        assert_eq!(fair.normal_form, bound(expected).normal_form, "{entry}");
    }
    let interrupt = r#"under: ["G F interrupt(INT0)"]"#;
    check(&format!(r#"InfinitelyOften(check: "PORTB.0", {interrupt})"#), &format!("AG A[{INT0} -> F PORTB.0]"));
    check(&format!(r#"Always(check: "PORTB.0", {interrupt})"#), "AG PORTB.0");
    check(&format!(r#"Recovery(to: "PORTB.0", {interrupt})"#), "AG EF PORTB.0");
    check(&format!(r#"Ltl(check: "F G PORTB.0", {interrupt})"#), &format!("A[{INT0} -> F G PORTB.0]"));
    check(&format!(r#"EventuallyForever(check: "PORTB.0", {interrupt})"#), &format!("A[{INT0} -> F G PORTB.0]"));
    check(
        r#"Formula(check: "EG PORTB.0 || A[PORTB.1 U PORTB.2]", under: ["G F sleeping", "F G PORTC.0"])"#,
        "E[(G F sleeping && F G PORTC.0) && G PORTB.0] || A[(G F sleeping && F G PORTC.0) -> (PORTB.1 U PORTB.2)]",
    );
    check(
        r#"Formula(check: "E[PORTB.1 R PORTB.2] && E[PORTB.1 W PORTB.2]", under: ["G F sleeping"])"#,
        "E[G F sleeping && (PORTB.1 R PORTB.2)] && E[G F sleeping && (PORTB.1 W PORTB.2)]",
    );
    check(
        r#"Formula(check: "AX EX E[PORTB.1 U PORTB.2] && A[PORTB.1 W PORTB.2]", under: ["G F sleeping"])"#,
        "AX EX E[PORTB.1 U PORTB.2] && A[PORTB.1 W PORTB.2]",
    );
}

#[test]
fn assumptions_of_fairness_say_what_they_are_read_as() {
    #[track_caller]
    fn check(condition: &str, expected: &str) {
        let entry = format!(r#"Ltl(check: "F sleeping", under: ["{condition}"])"#);
        let (property, _) = bound(&entry, "atmega328p", &sensor()).unwrap_or_else(|error| panic!("{entry}: {error}"));
        assert_eq!(property.fairness().expect("it assumes fairness").texts, [expected]);
    }
    check(
        "G F interrupt(TIMER0_OVF)",
        "G F interrupt(TIMER0_OVF), read as (F G enabled(TIMER0_OVF) && G F SREG.I) -> G F interrupt(TIMER0_OVF)",
    );
    check("G F (pc == main)", "G F (pc == main)");
    check("G F sleeping -> F G PORTB.0", "G F sleeping -> F G PORTB.0");
}

#[test]
fn what_is_no_fairness_is_refused() {
    #[track_caller]
    fn check(entry: &str, expected: &str) {
        let error = bound(entry, "atmega328p", &sensor()).expect_err("it is refused");
        assert!(error.to_string().contains(expected), "{entry}: {error}");
    }
    check(r#"Always(check: "PORTB.0", under: ["G sleeping"])"#, "`G sleeping` is no assumption of fairness");
    check(r#"Always(check: "PORTB.0", under: ["sleeping"])"#, "hint: write what recurs or stays");
    check(r#"Always(check: "PORTB.0", under: ["G F F sleeping"])"#, "no assumption of fairness");
    check(r#"Always(check: "PORTB.0", under: ["G F interrupt(INT9)"])"#, "INT9");
    check(r#"Formula(check: "nu X. PORTB.0 && []X", under: ["G F sleeping"])"#, "a fixed point speaks of no paths");
    check(r#"Inherent(under: ["G F sleeping"])"#, "Inherent does not depend on fairness");
    check(r#"Stack(max_bytes: 2, under: ["G F sleeping"])"#, "leave `under` out");
}

#[test]
fn what_is_bound_later_says_so() {
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let error = bound(text, "atmega328p", &sensor()).expect_err("it is not supported");
        assert_eq!(error.unsupported().map(ToString::to_string).as_deref(), Some(expected), "{error}");
    }
    check(
        r#"Response(after: "PORTB.0 == 1", eventually: "hazard", under: ["G F sleeping"])"#,
        "the atom `hazard` together with `under` is not supported yet",
    );
}

/// A formula that grows too large is not wrong: its property is undecided.
#[test]
fn what_grows_too_large_is_undecided() {
    let operands = (0..20).map(|bit| format!("(G F mem[{}] == 0 && F G mem[{}] == 1)", 0x100 + bit, 0x200 + bit));
    let text = format!("Ltl(check: \"G ({})\")", operands.collect::<Vec<_>>().join(" || "));
    let error = bound(&text, "atmega328p", &sensor()).expect_err("it grows too large");
    let reason = error.undecided().unwrap_or_else(|| panic!("{error}"));
    assert!(reason.contains("grows too large"), "{reason}");
    assert!(error.unsupported().is_none());
}

#[test]
fn invariants_over_memory_begin_with_main() {
    check(r#"Always(check: "mode <= 12")"#, "AG (in_startup || (mode <= 12))");
    check(r#"Never(check: "mode == 12")"#, "AG (in_startup || !(mode == 12))");
    check(
        r#"Mutex(between: ["level == 1", "counter == 2"])"#,
        "AG (in_startup || (!((level == 1) && (counter == 2))))",
    );
    check(
        r#"Always(check: "mem[0x200] == mem16[counter + 0x100]")"#,
        "AG (in_startup || (mem[0x200] == mem16[counter + 0x100]))",
    );
    check(
        r#"Always(check: "mode <= 12 || history[level] == 0")"#,
        "AG (in_startup || (mode <= 12 || history[level] == 0))",
    );
    check(r#"Always(check: "PORTB == 0", from: "main")"#, "AG (in_startup || (PORTB == 0))");
    check(r#"Always(check: "mode <= 12", from: "reset")"#, "AG (mode <= 12)");
}

/// The start-up code sets registers, memory behind the I/O registers and the stack pointer too, but they are no variables.
#[test]
fn other_invariants_begin_with_the_reset() {
    for text in [
        "PORTB == 0 || mode == 1",
        "pc in main -> mode == 1",
        "r24 == mode",
        "mem[0x25] == 0 && mode == 1",
        "history[r24] == 0",
        "write(mode) -> mode == 1",
        "sp > mode",
        "in_interrupt || mode == 1",
        "in_startup -> mode == 1",
        "hazard || mode == 1",
        "true",
    ] {
        check(&format!("Always(check: \"{text}\")"), &format!("AG {}", closed(text)));
    }
}

fn closed(text: &str) -> String {
    if text == "true" { text.to_owned() } else { format!("({text})") }
}

#[test]
fn without_main_everything_begins_with_the_reset() {
    let image = super::support::hex();
    let binding = Binding {
        device: device("atmega328p"),
        image: &image,
        start: 0,
        ends_paths: false,
        stacks: &[],
        boot_start: None,
    };
    let bind = |text: &str| {
        let property = Property::from_command_line(text).expect("it is an entry");
        bind(&property, &Definitions::new(), &binding, &mut AtomTable::new())
    };
    let plain = bind(r#"Always(check: "mem[0x100] == 1")"#).expect("it is bound");
    assert_eq!((plain.from, plain.formula_text.as_str()), (Some(InvariantStart::Reset), "AG (mem[0x100] == 1)"));
    assert!(plain.notes[0].contains("does not tell where main begins"), "{:?}", plain.notes);
    for text in [r#"Always(check: "mem[0x100] == 1", from: "main")"#, r#"AG (in_startup || PORTB == 0)"#] {
        let error = bind(text).expect_err("there is no main");
        assert_eq!(*error.kind(), PropertyErrorKind::NoMain, "{text}");
    }
}

#[test]
fn only_invariants_have_a_beginning() {
    for text in [r#"Recovery(to: "mode == 1", from: "main")"#, r#"Stack(max_bytes: 2, from: "main")"#] {
        assert!(Property::from_command_line(text).is_err(), "{text}");
    }
    let error = Property::from_command_line(r#"Always(check: "mode == 1", from: "init")"#).expect_err("no such start");
    assert!(error.to_string().contains("from: \"main\" or from: \"reset\""), "{error}");
}

/// Of the samples the ELF files say where main is; the HEX files have the same code and no symbols.
#[test]
fn the_startup_code_tells_where_main_is() {
    let mut found = 0;
    for sample in ["timer-blink/timer-blink.Os", "parser-repaired/parser-repaired.Os", "sketch-print/sketch-print.Os"] {
        let device = device("atmega328p");
        let entry = |extension: &str| {
            let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../firmware-samples");
            let image = avr_image::Image::load(format!("{root}/{sample}.{extension}"), &super::support::options());
            main_entry(&image.expect("it is an image"), device)
        };
        let named = entry("elf").expect("it has a symbol main");
        assert_eq!(entry("hex"), Some(named), "{sample}");
        found += 1;
    }
    assert_eq!(found, 3);
    assert_eq!(main_entry(&super::support::hex(), device("atmega328p")), None);
}

#[test]
fn no_hang_speaks_of_each_wait_and_names_them() {
    let (property, table) = bound("NoHang()", "atmega328p", &sensor()).expect("it needs no names");
    let waits = table.atoms().len();
    let text = &property.formula_text;
    assert!(waits > 1 && text.matches("-> EF !(pc in wait@").count() == waits, "{text}");
    assert!(property.notes[0].starts_with(&format!("{waits} waits: 0x")), "{:?}", property.notes);
    let (fewer, table) =
        bound("NoHang(except: {\"__do_clear_bss\": \"why\"})", "atmega328p", &sensor()).expect("it is a loop");
    assert!(table.atoms().len() < waits, "{}", fewer.formula_text);
    assert_eq!(fewer.notes[0], "waits of __do_clear_bss are not looked at: why");
    let error = |text: &str| bound(text, "atmega328p", &sensor()).expect_err("no such wait").to_string();
    assert!(error("NoHang(except: {\"nowhere\": \"why\"})").contains("nothing is named 'nowhere'"));
    assert!(error("NoHang(except: {\"__vectors\": \"why\"})").contains("has no wait"));
    assert!(error("NoHang(except: {\"__do_clear_bss\": \"why\", \"__do_clear_bss\": \"why\"})").contains("twice"));
}
