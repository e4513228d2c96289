//! Linear time, fairness and vacuity on the command line: what is printed, and the exit codes.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

const TIMER: &str = "timer-blink/timer-blink.Os.elf";

/// Verifies a property of a sample; the exit code and the report.
fn verify(sample: &str, property: &str, more: &[&str]) -> (Option<i32>, Value) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../firmware-samples");
    let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    command.arg("verify").arg(folder.join(sample)).args(["--property", property, "--format", "json"]).args(more);
    let output = command.output().expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or(Value::String(errors)))
}

#[track_caller]
fn check(property: &str, more: &[&str], code: i32, field: &str, expected: impl Into<Value>) {
    let (found, report) = verify(TIMER, property, more);
    assert_eq!(found, Some(code), "{property}: {report}");
    assert_eq!(report.pointer(field), Some(&expected.into()), "{property}: {report}");
}

#[test]
fn linear_time_is_a_kind_of_its_own() {
    check("Ltl(check: \"F G (DDRB == 0x20)\")", &[], 0, "/results/0/formula", "A[F G (DDRB == 0x20)]");
    check("Ltl(check: \"F G (DDRB == 0x20)\")", &[], 0, "/results/0/kind", "Ltl");
    check("Ltl(check: \"G F write(overflows)\")", &[], 1, "/results/0/verdict", "violated");
    check("A[G (write(PORTB) -> O write(DDRB))]", &[], 0, "/results/0/verdict", "holds");
}

#[test]
fn fairness_is_named_in_the_report() {
    let property = "Ltl(name: \"n\", check: \"G F write(overflows)\", under: [\"G F interrupt(TIMER0_OVF)\"])";
    let expected = "fairness, for 'n' only: G F interrupt(TIMER0_OVF), read as (F G enabled(TIMER0_OVF) && G F SREG.I) -> \
                    G F interrupt(TIMER0_OVF)";
    check(property, &[], 0, "/assumptions/0", expected);
}

#[test]
fn vacuity_is_reported_and_can_be_denied() {
    let never = "Response(after: \"write(PORTC)\", eventually: \"PORTB == 3\")";
    check(never, &[], 0, "/results/0/vacuous/subformula", "AF PORTB == 3");
    check(never, &[], 0, "/results/0/vacuous/replaced_by", "false");
    check(never, &["--deny", "vacuous"], 1, "/results/0/verdict", "holds");
    let said = "Response(after: \"interrupt(TIMER0_OVF)\", eventually: \"write(overflows)\")";
    check(said, &["--deny", "vacuous"], 0, "/results/0/vacuous", Value::Null);
}

#[test]
fn what_is_no_formula_says_what_to_write() {
    #[track_caller]
    fn check(property: &str, expected: &str) {
        let (code, errors) = verify(TIMER, property, &[]);
        assert_eq!(code, Some(2), "{property}: {errors}");
        assert!(errors.as_str().is_some_and(|errors| errors.contains(expected)), "{property}: {errors}");
    }
    check("F G (PORTB == 0)", "write A[F …] or E[F …], or state the property with Ltl(check: …)");
    check("Ltl(check: \"[]<>(PORTB == 0)\")", "write G or F for all or some later states");
    check(
        "Ltl(check: \"G (PORTB == 0 -> PORTB == 0 U PORTB == 1)\")",
        "or `G (PORTB == 0 -> (PORTB == 0 U PORTB == 1))`",
    );
    check("A[O F (PORTB == 0)]", "stands below an operator of the past");
    check("mu X. A[F G X]", "stands in a path formula");
    check("Formula(check: \"mu X. AX X\", under: [\"G F sleeping\"])", "or with Ltl(check: …)");
}
