//! Verification whenever a file changes.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use tempfile::tempdir;

/// Stays where it is: `rjmp .-2`.
const FIRMWARE: &str = ":02000000FFCF30\n:00000001FF\n";

/// A process that watches, with the lines of its output.
struct Watching {
    process: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn new(folder: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
        command.args(["verify", "f.hex", "p.ron", "--watch"]).current_dir(folder);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let (sender, lines) = channel();
        let outputs: [Box<dyn std::io::Read + Send>; 2] = [
            Box::new(process.stdout.take().expect("it is piped")),
            Box::new(process.stderr.take().expect("it is piped")),
        ];
        for output in outputs {
            let sender = sender.clone();
            thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    let _ = sender.send(line);
                }
            });
        }
        Self { process, lines }
    }

    /// Waits for a line.
    #[track_caller]
    fn expect(&self, wanted: &str) {
        let mut before = Vec::new();
        loop {
            match self.lines.recv_timeout(Duration::from_secs(60)) {
                Ok(line) if line.contains(wanted) => return,
                Ok(line) => before.push(line),
                Err(_) => panic!("'{wanted}' did not come: {before:#?}"),
            }
        }
    }

    /// Expects that nothing is verified for a while.
    #[track_caller]
    fn expect_silence(&self) {
        let line = self.lines.recv_timeout(Duration::from_secs(1));
        assert!(line.is_err(), "{line:?}");
    }

    #[track_caller]
    fn interrupt(mut self) {
        let signalled = Command::new("kill").args(["-INT", &self.process.id().to_string()]).status();
        assert!(signalled.expect("the command is there").success());
        assert_eq!(self.process.wait().expect("it ends").code(), Some(130));
    }
}

const WAITING: &str = "waiting for changes";

#[test]
fn a_change_of_a_file_is_verified() {
    let folder = tempdir().expect("there is a directory for temporary files");
    let write = |name: &str, content: &str| fs::write(folder.path().join(name), content).expect("it is written");
    write("f.hex", FIRMWARE);
    write("p.ron", "(device: \"atmega328p\", properties: [Reachable(check: \"pc == 0\")])");
    let watching = Watching::new(folder.path());
    watching.expect("1 holds, 0 violated");
    watching.expect(WAITING);
    // What is not read does not count, and neither does the same content again.
    write("other", "x");
    write("f.hex", FIRMWARE);
    watching.expect_silence();
    write("p.ron", "(device: \"atmega328p\", properties: [Reachable(check: \"pc == 2\")])");
    watching.expect("0 hold, 1 violated");
    watching.expect(WAITING);
    write("p.ron", "(device: \"atmega328p\", properties: [");
    watching.expect("error: ");
    watching.expect("p.ron:1:");
    watching.expect(WAITING);
    // An editor puts another file in place of the old one.
    write("new", "(device: \"atmega328p\", properties: [Never(check: \"pc == 2\")])");
    fs::rename(folder.path().join("new"), folder.path().join("p.ron")).expect("it is renamed");
    watching.expect("1 holds, 0 violated");
    watching.expect(WAITING);
    // A build removes the firmware first.
    fs::remove_file(folder.path().join("f.hex")).expect("it is removed");
    write("f.hex", ":040000000000FECF2F\n:00000001FF\n");
    watching.expect("0 hold, 1 violated");
    watching.expect(WAITING);
    watching.interrupt();
}
