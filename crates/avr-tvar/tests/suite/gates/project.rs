//! A firmware in a folder of its own, with a property file and the results of its last release.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// The property file of the last release.
pub const RELEASED: &str = r#"(
    device: "atmega328p",
    define: { "shown": "PORTD < 3" },
    environment: [reset],
    forbid: ["reserved-bit-write"],
    assume: ["PINB.4 == 0"],
    allow: { "reserved-register": "tried" },
    fuses: (low: 0x62),
    eeprom: "content.bin",
    properties: [
        Inherent(),
        Stack(name: "depth", max_bytes: 4),
        Always(name: "range", check: "PORTD <= 2"),
        Reachable(name: "one", check: "PORTD == 1"),
        InfinitelyOften(name: "lights", check: "shown", under: ["G F PORTC == 0"]),
        Always(name: "answers", check: "shown"),
    ],
)"#;

/// The folder.
pub struct Project {
    folder: TempDir,
}

impl Project {
    /// A project with the firmware `branch` and the property file of the last release.
    pub fn new() -> Self {
        let project = Self { folder: TempDir::new().expect("there is room for temporary files") };
        project.firmware("branch/branch.Og.elf");
        project.write("content.bin", "\0\u{1}\u{2}");
        project.write("firmware.ron", RELEASED);
        project.write("all.ron", r#"(runs: [(name: "all", firmware: "firmware.elf", properties: "firmware.ron")])"#);
        project
    }

    /// The same after the release: `released.json`, `released.cert` and the journal `part.jsonl` are there.
    pub fn released() -> Self {
        let project = Self::new();
        project.release();
        project
    }

    /// Writes the report, the certificate and the journal of a release in which every property holds.
    #[track_caller]
    pub fn release(&self) {
        let verify = ["verify", "firmware.elf", "firmware.ron"];
        let runs = [
            [&verify[..], &["--report", "json=released.json"]],
            [&verify[..], &["--certificate", "released.cert"]],
            [&["verify-all", "all.ron"], &["--journal", "part.jsonl", "--resume"]],
        ];
        for run in runs {
            let release = self.run(&run.concat());
            assert_eq!(release.status.code(), Some(0), "{}", said(&release));
        }
    }

    /// A sample takes the place of the firmware.
    pub fn firmware(&self, sample: &str) {
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../firmware-samples");
        fs::copy(samples.join(sample), self.path("firmware.elf")).expect("the sample is there");
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: &str) {
        fs::write(self.path(name), content).expect("the folder can be written");
    }

    /// Replaces a part of the property file, which is there once.
    #[track_caller]
    pub fn change(&self, part: &str, new: &str) {
        let text = fs::read_to_string(self.path("firmware.ron")).expect("the file is there");
        assert_eq!(text.matches(part).count(), 1, "{part}");
        self.write("firmware.ron", &text.replace(part, new));
    }

    /// Changes the report of the last release.
    pub fn change_report(&self, change: impl FnOnce(&mut Value)) {
        let text = fs::read_to_string(self.path("released.json")).expect("the report is there");
        let mut report = serde_json::from_str(&text).expect("a report is JSON");
        change(&mut report);
        self.write("released.json", &report.to_string());
    }

    /// Runs the program in the folder.
    pub fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
        command.args(arguments).current_dir(self.folder.path()).env_remove("CLICOLOR_FORCE");
        command.output().expect("the program starts")
    }
}

/// Both outputs of a run.
pub fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("output is UTF-8");
    text(&output.stdout) + &text(&output.stderr)
}
