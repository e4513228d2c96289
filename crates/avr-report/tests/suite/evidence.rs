//! Evidence as users see it: as text, as JSON, as waves and as a program.

use avr_machine::Machine;
use avr_report::{Colour, Report};
use avr_testkit::schema;
use avr_verify::PropertyResult;
use expect_test::expect;
use serde_json::Value;

const PROPERTIES: &str = r#"(properties: [
    Recovery(name: "gets back", to: "PORTD == 0"),
    Formula(name: "shows 1", check: "AF PORTD == 1"),
])"#;

/// Renders what verification answers about a sample.
fn with_report<T>(render: impl FnOnce(&Report<'_>, &Machine) -> T) -> T {
    crate::branch::with_report(("branch.Og.elf", "branch.elf"), PROPERTIES, |_| {}, render)
}

fn first<'a>(report: &Report<'a>) -> &'a PropertyResult {
    &report.results.properties[0]
}

#[test]
fn text_reads_like_a_debugger() {
    let expected = expect![[r#"
        branch.elf (elf for atmega328p-gpio)

        verdict   property   states  refinements     time
        violated  gets back      20            0  0.00 ms
                  run of 13 steps, 19 cycles, replayed: after 13 steps 'EF (PORTD == 0)' does not hold
                  by proof: 'EF (PORTD == 0)' does not hold at the end, whatever comes after it
                  input at step 10: PINB.0 = 1
                  startup code, 8 steps: __vectors, __ctors_end
                  main at branch/main.c:8
                       8  0x0080  ldi r24, 0xFF                   r24 0x00->0xff
                       9  0x0082  out 0x0a, r24 <DDRD>            DDRD 0x00->0xff
                  main at branch/main.c:9
                      10  0x0084  sbis 0x03, 0 <PINB>               <- PINB.0 = 1
                  main at branch/main.c:10
                      11  0x0088  ldi r24, 0x01                   r24 0xff->0x01
                      12  0x008a  out 0x0b, r24 <PORTD>           PORTD 0x00->0x01
        violated  shows 1        20            0  0.00 ms
                  run of 15 steps, 22 cycles, replayed: from step 14 on the same 1 step repeat for ever, and 'PORTD == 1' stays false
                  startup code, 8 steps: __vectors, __ctors_end
                  main at branch/main.c:8
                       8  0x0080  ldi r24, 0xFF                   r24 0x00->0xff
                       9  0x0082  out 0x0a, r24 <DDRD>            DDRD 0x00->0xff
                  main at branch/main.c:9
                      10  0x0084  sbis 0x03, 0 <PINB>
                      11  0x0086  rjmp .+6 <main+0xe>
                  main at branch/main.c:12
                      12  0x008e  ldi r24, 0x02                   r24 0xff->0x02
                      13  0x0090  out 0x0b, r24 <PORTD>           PORTD 0x00->0x02
                      14  0x0092  rjmp .-2 <main+0x12>

        stack     2 bytes at most, and some run needs them
        summary   0 hold, 2 violated, 0 unknown
        memory    0.0 MiB at most
    "#]];
    expected.assert_eq(&with_report(|report, _| report.text(Colour::Never)));
}

#[test]
fn reports_and_traces_fit_their_schemas() {
    let (report, trace) = with_report(|report, machine| (report.json(), report.trace_json(first(report), machine)));
    let report: Value = serde_json::from_str(&report).expect("the report is JSON");
    assert_eq!(schema::problems(&report, schema::REPORT), Vec::<String>::new());
    assert_eq!(report["results"][0]["evidence"]["kind"], "path");
    assert_eq!(report["results"][1]["evidence"]["kind"], "lasso");
    let trace: Value = serde_json::from_str(&trace.expect("there is a run")).expect("the trace is JSON");
    assert_eq!(schema::problems(&trace, schema::TRACE), Vec::<String>::new());
    assert_eq!(
        trace["steps"].as_array().map(Vec::len),
        trace["evidence"]["steps"].as_u64().map(|steps| steps as usize)
    );
    let mut other = trace.clone();
    other["evidence"]["kind"] = "guess".into();
    let problems = schema::problems(&other, schema::TRACE);
    assert!(problems.len() == 1 && problems[0].starts_with("/evidence/kind: "), "{problems:?}");
}

#[test]
fn waves_show_the_ports() {
    let text = waves(16_000_000);
    for name in ["PC", "SP", "interrupt_level", "SREG", "PORTD", "DDRD", "PB0"] {
        assert!(text.contains(&format!(" {name} $end")), "{name}");
    }
    assert!(text.contains("$timescale 1 ps $end"), "{text}");
    // PORTD becomes 1 in the 13th step, which ends after 19 cycles of 62.5 ns.
    assert_eq!(changes(&text, "PORTD"), [(0, 0), (1_187_500, 1)]);
    assert_eq!(changes(&waves(1_000_000), "PORTD"), [(0, 0), (19_000_000, 1)]);
    assert_eq!(changes(&waves(32_768), "PORTD"), [(0, 0), (579_833_984, 1)]);
}

/// The times at which a wave changes, with its values.
fn changes(text: &str, name: &str) -> Vec<(u64, u64)> {
    let mut parser = vcd::Parser::new(text.as_bytes());
    let header = parser.parse_header().expect("the header is one");
    let wanted = header.find_var(&["firmware", name]).expect("the wave is there").code;
    let (mut time, mut all) = (0, Vec::new());
    for command in parser {
        match command.expect("the changes are right") {
            vcd::Command::Timestamp(now) => time = now,
            vcd::Command::ChangeVector(code, bits) if code == wanted => {
                let value = bits.iter().fold(0, |value, bit| value << 1 | u64::from(bit == vcd::Value::V1));
                all.push((time, value));
            }
            _ => {}
        }
    }
    all
}

#[test]
fn waves_name_the_function_and_the_line() {
    let text = waves(16_000_000);
    let mut parser = vcd::Parser::new(text.as_bytes());
    let header = parser.parse_header().expect("the header is one");
    let id = |name: &str| header.find_var(&["firmware", name]).expect("the wave is there").code;
    let (function, line) = (id("function"), id("line"));
    let changes: Vec<vcd::Command> = parser.collect::<Result<_, _>>().expect("the changes are right");
    let said = |wanted: vcd::IdCode| -> Vec<String> {
        let change = |command: &vcd::Command| match command {
            vcd::Command::ChangeString(code, text) if *code == wanted => Some(text.clone()),
            _ => None,
        };
        changes.iter().filter_map(change).collect()
    };
    assert_eq!(said(function).last().map(String::as_str), Some("main"), "{text}");
    assert!(said(line).iter().any(|line| line.ends_with("main.c:10")), "{text}");
    let is_word = |text: &String| !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic());
    assert!(said(function).iter().chain(&said(line)).all(is_word), "{text}");
}

fn waves(clock: u32) -> String {
    let clock = std::num::NonZeroU32::new(clock).expect("it is not 0");
    let waves = with_report(|report, machine| report.vcd(first(report), machine, clock));
    let waves = waves.expect("it is written to memory").expect("there is a run");
    String::from_utf8(waves).expect("the format is text")
}

#[test]
fn the_program_for_simavr_has_what_comes_from_outside() {
    let program = with_report(|report, machine| report.replay_program(first(report), machine)).expect("there is a run");
    // The pin is high when the instruction at step 10 reads it.
    assert!(program.contains("    {10, POKE, 0x23, 0x1},"), "{program}");
    assert!(program.contains("#define STEPS 13ull"));
    assert!(program.contains("avr_make_mcu_by_name(MCU)"));
}
