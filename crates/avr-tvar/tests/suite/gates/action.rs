//! The step of `action.yml` that verifies, run with bash as a runner does.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::project::{Project, said};

/// The script of the step that verifies, without its indentation.
fn script() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../action.yml");
    let text = fs::read_to_string(path).expect("the action is there");
    let (_, script) = text.rsplit_once("      run: |\n").expect("the step has a script");
    script.lines().map_while(|line| line.strip_prefix("        ")).map(|line| line.to_owned() + "\n").collect()
}

/// Expects the exit code of the action for a firmware whose property is decided in the model.
#[track_caller]
fn check(options: &str, code: i32) {
    let project = Project::new();
    project.firmware("timer-blink/timer-blink.Os.elf");
    project.write("firmware.ron", r#"(properties: [Recovery(to: "PORTB.5 == 1")])"#);
    fs::create_dir(project.path("bin")).expect("there is room");
    let tool = project.path("bin").join("avr-tvar");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_avr-tvar"), tool).expect("links are possible");
    let path = format!("{}:{}", project.path("bin").display(), std::env::var("PATH").expect("there is a path"));
    let mut bash = Command::new("bash");
    bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script()]).current_dir(project.path(""));
    bash.env("PATH", path).env("RUNNER_TEMP", project.path("")).env("GITHUB_OUTPUT", project.path("outputs"));
    bash.env("GITHUB_STEP_SUMMARY", project.path("summary")).env("OPTIONS", options);
    bash.env("FIRMWARE", "firmware.elf").env("PROPERTIES", "firmware.ron");
    let output = bash.output().expect("bash starts");
    assert_eq!(output.status.code(), Some(code), "{options:?}: {}", said(&output));
}

#[test]
fn every_line_of_the_options_counts() {
    check("--timeout 60s", 0);
    check("--timeout 60s --strict", 3);
    check("--timeout 60s\n--strict\n", 3);
    check("--timeout\r\n  60s\r\n\r\n\t--strict\r\n", 3);
    check("--strict\n--no-such-option\n", 2);
    check("", 0);
    check("\n", 0);
}
