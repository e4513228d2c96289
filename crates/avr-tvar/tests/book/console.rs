//! Running the commands of a page and comparing what they print.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use regex::Regex;
use snapbox::{Assert, IntoData};
use tempfile::{TempDir, tempdir};

use crate::page::Page;

/// The entries beside the folder that commands are run in.
const BESIDE: [&str; 3] = ["firmware-samples", "properties", "integrations"];
/// Longest time for a command, in seconds: it ends what hangs. Most take less than a second, recursion on a slow machine minutes.
const LIMIT: &str = "600";

/// A command and what it should print.
pub struct Session {
    command: String,
    code: i32,
    output: String,
    /// The lines of the output in the page, from 0.
    lines: std::ops::Range<usize>,
}

/// The commands that a page runs before all others and does not show: comments `<!-- $ COMMAND -->`, each a line of its own.
fn preparations(page: &Page) -> Vec<&str> {
    page.text.lines().filter_map(|line| line.strip_prefix("<!-- $ ")?.strip_suffix(" -->")).collect()
}

/// All commands of a page.
pub fn commands(page: &Page) -> Vec<Session> {
    let mut all = Vec::new();
    for block in page.blocks().into_iter().filter(|block| block.info == "console") {
        let first = all.len();
        for (number, text) in block.text.lines().enumerate() {
            let line = block.line - 1 + number;
            match (text.strip_prefix("$ "), all[first..].last_mut()) {
                (Some(command), _) => {
                    let command = command.to_owned();
                    all.push(Session { command, code: 0, output: String::new(), lines: line + 1..line + 1 });
                }
                (None, Some(session)) => session.add(text, line),
                (None, None) => panic!("{}:{}: no command before '{text}'", page.path.display(), line + 1),
            }
        }
    }
    all
}

impl Session {
    fn add(&mut self, text: &str, line: usize) {
        let code = text.strip_prefix("? ").and_then(|code| code.parse().ok());
        match (text.strip_prefix("> "), code) {
            (Some(more), _) if self.output.is_empty() => self.command.push_str(&format!("\n{more}")),
            (_, Some(code)) if self.output.is_empty() => self.code = code,
            _ => {
                self.output.push_str(&format!("{text}\n"));
                self.lines.end = line + 1;
                return;
            }
        }
        self.lines = line + 1..line + 1;
    }
}

/// Runs the commands of a page and tells what differs, or writes into the page what they print.
pub fn run(page: &Page, root: &Path, overwrite: bool) -> Vec<String> {
    let sessions = commands(page);
    if sessions.is_empty() {
        return Vec::new();
    }
    let folder = tempdir().expect("there is a directory for temporary files");
    for name in BESIDE {
        symlink(root.join(name), folder.path().join(name)).expect("the folder is new");
    }
    for command in preparations(page) {
        let (code, printed) = execute(command, &folder);
        assert!(code == 0, "{}: {command}: exit code {code}:\n{printed}", page.path.display());
    }
    let mut problems = Vec::new();
    let mut changes = Vec::new();
    for session in &sessions {
        let (code, printed) = execute(&session.command, &folder);
        if let Some(problem) = difference(session, code, &printed) {
            let place = format!("{}:{}", page.path.display(), session.lines.start);
            problems.push(format!("{place}: $ {}\n{problem}", session.command));
            changes.push((session, code, printed));
        }
    }
    if !overwrite {
        return problems;
    }
    write(page, &changes);
    Vec::new()
}

/// The exit code of a command, and what it prints on both outputs.
fn execute(command: &str, folder: &TempDir) -> (i32, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_avr-tvar"));
    let folder_of_program = program.parent().expect("it is in a folder").display();
    let path = format!("{folder_of_program}:{}", std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("timeout");
    shell.args([LIMIT, "bash", "-c", &format!("exec 2>&1\n{command}")]).env("PATH", path).env("NO_COLOR", "1");
    let output = shell.env("LC_ALL", "C").current_dir(folder.path()).stdin(Stdio::null()).output();
    let output = output.expect("there is a shell");
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned())
}

fn difference(session: &Session, code: i32, printed: &str) -> Option<String> {
    if code != session.code {
        return Some(format!("exit code {code} instead of {}:\n{printed}", session.code));
    }
    let (actual, expected) = (comparable(printed), comparable(&session.output));
    let compared = Assert::new().try_eq(None, actual.into_data(), expected.into_data());
    compared.err().map(|error| error.to_string())
}

/// The text without what differs from run to run, or whenever the engine is improved.
fn comparable(text: &str) -> String {
    let pattern = |text: &str| Regex::new(text).expect("the pattern is one");
    let counts = pattern(r"(\s+\d+){2}\s+\d+(\.\d+)?\s(ms|s)\b");
    let unit = pattern(r"\d+(\.\d+)?\s(ms|s|min|MiB|KiB)\b");
    let work = pattern(r"\d+ (steps/s|bytes/state|more used again)|\d+ steps( \(\d+ repeated\))?, ");
    let space = pattern(" +");
    let line = |line: &str| {
        let line = counts.replace_all(line.trim_end(), " N N N");
        let line = unit.replace_all(&line, "N").into_owned();
        let line = if line.starts_with("work ") { work.replace_all(&line, "N").into_owned() } else { line };
        space.replace_all(&line, " ").into_owned() + "\n"
    };
    text.lines().map(line).collect()
}

/// Writes what commands printed into the page, from the last one to the first, so that lines keep their numbers.
fn write(page: &Page, changes: &[(&Session, i32, String)]) {
    let mut lines: Vec<String> = page.text.lines().map(str::to_owned).collect();
    for (session, code, printed) in changes.iter().rev() {
        let mut start = session.lines.start;
        let mut new: Vec<String> = printed.lines().map(|line| line.trim_end().to_owned()).collect();
        if session.code != *code {
            start -= usize::from(session.code != 0);
            new.splice(0..0, (*code != 0).then(|| format!("? {code}")));
        }
        lines.splice(start..session.lines.end, new);
    }
    fs::write(&page.path, lines.join("\n") + "\n").expect("the page can be written");
}
