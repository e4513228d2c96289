//! The book in `docs/`: its commands do what it says, its links lead somewhere, and its summary has every page.
//!
//! A block marked `console` has commands after `$ `, going on in lines after `> `, and what they print. Each page is run in an
//! empty folder of its own with the samples beside it. `? 1` in the line after a command is its exit code, if that is not 0.
//! `...` stands for any lines and `[..]` for any text; times, sizes of memory, and counts of states are not compared.
//! A comment `<!-- $ COMMAND -->` is a command that runs before those of its page and is not shown.
//! With `SNAPSHOTS=overwrite` the book gets what the commands print now.
#![cfg(unix)]

mod console;
mod inline;
mod page;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use avr_machine::HazardKind;
use page::{Block, Page};
use rayon::prelude::*;

/// Programs that only `tests/oracle` may run; a block with commands of theirs says which oracle runs it.
const ORACLES: &str = "tests/oracle";
/// The beginnings of lines that a reader might type.
const COMMANDS: [&str; 3] = ["$ ", "avr-tvar ", "cargo "];

fn root() -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    path.canonicalize().expect("the repository is there")
}

fn pages_below(folder: &Path, pages: &mut Vec<Page>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            pages_below(&path, pages);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(Page::read(path));
        }
    }
}

fn pages() -> Vec<Page> {
    let mut pages = Vec::new();
    pages_below(&root().join("docs"), &mut pages);
    pages.sort_by(|one, other| one.path.cmp(&other.path));
    pages
}

#[test]
fn every_hazard_is_described() {
    let text = fs::read_to_string(root().join("docs/hazards.md")).expect("the page is there");
    let row = |kind: &HazardKind| format!("| `{kind}` | {} | {} |", kind.meaning(), kind.when_allowed());
    let missing: Vec<String> = HazardKind::ALL.iter().map(row).filter(|row| !text.contains(row)).collect();
    expect_nothing(&missing);
}

/// Fails with everything that was found.
#[track_caller]
fn expect_nothing(found: &[String]) {
    assert!(found.is_empty(), "{} problems:\n{}", found.len(), found.join("\n"));
}

#[test]
fn commands_do_what_the_book_says() {
    let root = root();
    let overwrite = std::env::var("SNAPSHOTS").is_ok_and(|action| action == "overwrite");
    let pages = pages();
    let commands: usize = pages.iter().map(|page| console::commands(page).len()).sum();
    assert!(commands >= 40, "only {commands} commands");
    let found: Vec<String> = pages.par_iter().flat_map(|page| console::run(page, &root, overwrite)).collect();
    expect_nothing(&found);
}

/// Nobody can run a command of a block that is not marked as one.
#[test]
fn what_looks_like_a_command_is_run() {
    let mut found = Vec::new();
    for page in pages() {
        for Block { info, text, line } in page.blocks() {
            let is_command = text.lines().any(|line| COMMANDS.iter().any(|start| line.starts_with(start)));
            let mut words = info.split(',');
            let problem = match words.next().unwrap_or_default() {
                "console" => None,
                "sh" | "py" => {
                    oracle_problem(&page, words.next().unwrap_or_default(), words.next().unwrap_or_default())
                }
                _ => is_command.then(|| "commands, and neither `console` nor `sh,ORACLE,NAME`".to_owned()),
            };
            found.extend(problem.map(|problem| format!("{}:{line}: {problem}", page.path.display())));
        }
    }
    expect_nothing(&found);
}

/// The error in a block that `tests/oracle/ORACLE` is to run: it must take it from the page by this name.
fn oracle_problem(page: &Page, oracle: &str, name: &str) -> Option<String> {
    let folder = root().join(ORACLES).join(oracle);
    let texts = ["run", "run.py"].map(|file| fs::read_to_string(folder.join(file)).unwrap_or_default());
    let document = page.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_taken = |text: &String| text.contains(&format!("docs/{document} {name}"));
    let is_named = !oracle.is_empty() && !name.is_empty();
    (!is_named || !texts.iter().any(is_taken)).then(|| format!("no oracle '{oracle}' takes a block '{name}' from here"))
}

/// Pages that are not in the book.
const OTHER_PAGES: [&str; 4] = ["README.md", "CHANGELOG.md", "benchmarks/README.md", "firmware-samples/README.md"];

#[test]
fn commands_and_options_in_running_text_exist() {
    let others =
        OTHER_PAGES.map(|path| inline::problems(&Page::read(root().join(path)), path.starts_with("benchmarks")));
    let book = pages();
    let checked: Vec<_> = book.iter().map(|page| inline::problems(page, false)).chain(others).collect();
    let count: usize = checked.iter().map(|(count, _)| count).sum();
    assert!(count >= 60, "only {count} commands and options");
    expect_nothing(&checked.into_iter().flat_map(|(_, found)| found).collect::<Vec<_>>());
}

/// The lines of the README that say how the commands are used: `avr-tvar NAME ARGUMENT [ARGUMENT]`, and what for.
#[test]
fn the_commands_that_the_readme_lists_exist() {
    let text = fs::read_to_string(root().join("README.md")).expect("the page is there");
    let used: Vec<String> = text
        .lines()
        .filter_map(|line| Some(line.strip_prefix("    avr-tvar ")?.split("  ").next()?.replace(['[', ']'], "")))
        .collect();
    assert!(used.len() >= 10, "{used:?}");
    let problem = |usage: &String| inline::command_problem(&format!("avr-tvar {usage}"));
    expect_nothing(&used.iter().filter_map(problem).collect::<Vec<_>>());
}

#[test]
fn links_lead_somewhere() {
    let mut found = Vec::new();
    for page in pages() {
        for link in page.links() {
            found.extend(page.link_problem(&link).map(|problem| format!("{}: {problem}", page.path.display())));
        }
    }
    expect_nothing(&found);
}

#[test]
fn the_summary_has_every_page_once() {
    let summary = Page::read(root().join("docs/SUMMARY.md"));
    let listed: Vec<String> = summary.links();
    let all: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(listed.len(), all.len(), "a page is listed twice");
    let docs = root().join("docs");
    let name = |page: &Page| page.path.strip_prefix(&docs).expect("it is below").display().to_string();
    let missing: Vec<String> =
        pages().iter().map(name).filter(|name| name != "SUMMARY.md" && !all.contains(name)).collect();
    assert_eq!(missing, Vec::<String>::new(), "not in the summary");
}
