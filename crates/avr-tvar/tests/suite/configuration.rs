//! Defaults in `avr-tvar.toml`, colours and quiet runs.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::{TempDir, tempdir};

/// Stays where it is: `rjmp .-2`.
const FIRMWARE: &str = ":02000000FFCF30\n:00000001FF\n";
const EMPTY: &str = "(device: \"atmega328p\", properties: [])";

fn run_in(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    command.args(arguments).current_dir(folder).env_remove("NO_COLOR").output().expect("the program starts")
}

fn folder(configuration: &str) -> TempDir {
    let folder = tempdir().expect("there is a directory for temporary files");
    let write = |name: &str, content: &str| fs::write(folder.path().join(name), content).expect("it is written");
    write("f.hex", FIRMWARE);
    write("p.ron", EMPTY);
    write("avr-tvar.toml", configuration);
    fs::create_dir_all(folder.path().join("a/b")).expect("it is made");
    folder
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_nearest_file_above_counts() {
    let folder = folder("timeout = \"never\"\n");
    let below = folder.path().join("a/b");
    let wrong = run_in(&below, &["verify", "../../f.hex"]);
    assert_eq!(wrong.status.code(), Some(2));
    let message = errors(&wrong);
    assert!(message.starts_with("error: invalid value 'never' for '--timeout <DURATION>'"), "{message}");
    assert!(message.contains("--> ../../avr-tvar.toml:1:11\n"), "{message}");
    assert!(message.contains("1 | timeout = \"never\"\n  |           ^^^^^^^\n"), "{message}");
    fs::write(folder.path().join("a/avr-tvar.toml"), "timeout = \"9s\"\n").expect("it is written");
    let right = run_in(&below, &["verify", "../../f.hex", "--device", "atmega328p", "--format", "json"]);
    assert_eq!(right.status.code(), Some(0), "{}", errors(&right));
    let report: Value = serde_json::from_slice(&right.stdout).expect("it is JSON");
    let roles: Vec<&str> =
        report["inputs"].as_array().expect("it is a list").iter().filter_map(|it| it["role"].as_str()).collect();
    assert_eq!(roles, ["firmware", "configuration"]);
    assert_eq!(avr_testkit::schema::problems(&report, avr_testkit::schema::REPORT), Vec::<String>::new());
}

#[test]
fn a_file_can_be_named_or_left_out() {
    let folder = folder("nonsense = 1\n");
    let message = errors(&run_in(folder.path(), &["verify", "f.hex"]));
    assert!(message.starts_with("error: there is no key 'nonsense' here; the keys are color, quiet"), "{message}");
    assert!(message.contains("--> avr-tvar.toml:1:1\n") && message.contains("\nhint: "), "{message}");
    let without = ["verify", "f.hex", "--device", "atmega328p", "--no-config"];
    assert_eq!(run_in(folder.path(), &without).status.code(), Some(0));
    fs::write(folder.path().join("other.toml"), "quiet = true\n").expect("it is written");
    let named = run_in(folder.path(), &["verify", "f.hex", "--config", "other.toml"]);
    assert_eq!((named.status.code(), errors(&named)), (Some(0), String::new()));
    let missing = run_in(folder.path(), &["verify", "f.hex", "--config", "nowhere.toml"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(errors(&missing).contains("nowhere.toml: cannot be read"), "{}", errors(&missing));
    let both = run_in(folder.path(), &["verify", "f.hex", "--config", "other.toml", "--no-config"]);
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn defaults_are_as_good_as_options() {
    let folder = folder("deny = [\"vacuous\"]\n");
    let vacuous = ["verify", "f.hex", "--device", "atmega328p", "--property", "AG (PORTB == 300 - 300 -> true)"];
    assert_eq!(run_in(folder.path(), &vacuous).status.code(), Some(1));
    let other = [&vacuous[..], &["--deny", "findings"]].concat();
    assert_eq!(run_in(folder.path(), &other).status.code(), Some(0));
    // A report is explained as it is, whatever the defaults are.
    let report = run_in(folder.path(), &["verify", "f.hex", "--format", "json"]).stdout;
    fs::write(folder.path().join("r.json"), report).expect("it is written");
    let explained = run_in(folder.path(), &["explain", "r.json"]);
    assert_eq!(explained.status.code(), Some(0), "{}", errors(&explained));
    assert_eq!(run_in(folder.path(), &["explain", "r.json", "--strict"]).status.code(), Some(2));
}

#[test]
fn batches_take_no_defaults() {
    let folder = folder("strict = \"no\"\n");
    fs::write(folder.path().join("m.ron"), "(runs: [(firmware: \"f.hex\", device: \"atmega328p\")])")
        .expect("it is written");
    assert_eq!(run_in(folder.path(), &["verify-all", "m.ron", "--no-config"]).status.code(), Some(0));
    fs::write(folder.path().join("avr-tvar.toml"), "timeout = \"none\"\nmemory = \"1\"\n").expect("it is written");
    assert_eq!(run_in(folder.path(), &["verify-all", "m.ron"]).status.code(), Some(0));
}

#[test]
fn colours_are_as_wanted() {
    let folder = folder("color = \"always\"\n");
    let coloured = |arguments: &[&str]| {
        let output = run_in(folder.path(), arguments);
        (output.stdout.contains(&0x1b), output.stderr.contains(&0x1b))
    };
    let wrong = ["verify", "f.hex", "--property", "AG PORTX == 0"];
    assert_eq!(coloured(&wrong), (false, true));
    assert_eq!(coloured(&[&wrong[..], &["--color", "never"]].concat()), (false, false));
    assert_eq!(coloured(&["verify", "f.hex"]), (true, false));
    assert_eq!(coloured(&["--color=never", "verify", "f.hex"]), (false, false));
    assert_eq!(coloured(&["verify", "f.hex", "--no-config"]), (false, false));
    assert_eq!(coloured(&["verify", "f.hex", "--format", "json"]), (false, false));
}

#[test]
fn quiet_runs_tell_errors_only() {
    let folder = folder("");
    let told = |arguments: &[&str]| errors(&run_in(folder.path(), arguments));
    assert!(told(&["verify", "f.hex"]).contains("note: no device is named"));
    assert_eq!(told(&["verify", "f.hex", "-q"]), "");
    assert_eq!(told(&["-q", "verify", "f.hex"]), "");
    assert!(told(&["verify", "g.hex", "--quiet"]).contains("g.hex: cannot be read"));
}

#[test]
fn switches_of_the_analysis_have_a_heading_of_their_own() {
    let folder = folder("");
    let help = String::from_utf8(run_in(folder.path(), &["verify", "--help"]).stdout).expect("it is text");
    let (_, expert) = help.split_once("Expert options").expect("there is a heading");
    let (expert, _) = expert.split_once("Options of every command:").expect("there is another one");
    for option in [
        "--strategy",
        "--all-interrupts",
        "--all-states",
        "--all-handlers",
        "--no-facts",
        "--no-invariants",
        "--recheck",
    ] {
        assert!(expert.contains(option), "{option}: {help}");
    }
    assert!(!expert.contains("--timeout"), "{expert}");
}
