//! The parts of a release that every crate and the change log must have, also while nobody releases.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// The version of the workspace in a manifest.
fn version(manifest: &str) -> Option<&str> {
    let package = manifest.split("[workspace.package]\n").nth(1)?;
    package.lines().find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'))
}

/// The headings of the second level in a change log, with whether anything is under them.
fn sections(log: &str) -> Vec<(&str, bool)> {
    let mut all = Vec::new();
    for line in log.lines() {
        match line.strip_prefix("## ") {
            Some(heading) => all.push((heading, false)),
            None => all.iter_mut().last().into_iter().for_each(|last| last.1 |= line.starts_with("* ")),
        }
    }
    all
}

/// The defects of a change log, where the workspace has a version.
fn defects(log: &str, version: &str) -> Vec<String> {
    let all = sections(log);
    let mut wrong = Vec::new();
    if all.first().map(|section| section.0) != Some("Unreleased") {
        wrong.push("the first section is not 'Unreleased'".to_owned());
    }
    let of_version = |heading: &str| heading.split(' ').next() == Some(version);
    if !all.iter().any(|(heading, is_filled)| of_version(heading) && *is_filled) {
        wrong.push(format!("there is nothing under '## {version}'"));
    }
    wrong
}

/// A package has only what is below its folder: each has the licences there, as links to those of the repository.
#[test]
fn crates_that_are_published_carry_the_licences() {
    let crates = std::fs::read_dir(root().join("crates")).expect("the folder is there");
    let mut published = 0;
    for folder in crates.map(|entry| entry.expect("it can be listed").path()) {
        let manifest = text(&folder.join("Cargo.toml")).expect("a crate has a manifest");
        if manifest.lines().any(|line| line == "publish = false") {
            continue;
        }
        published += 1;
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let expected = text(&root().join(licence)).expect("the repository has its licences");
            assert_eq!(text(&folder.join(licence)), Some(expected), "{licence} in {}", folder.display());
        }
    }
    assert!(published > 10, "only {published} crates are published");
}

#[test]
fn the_change_log_has_the_version_of_the_workspace() {
    let manifest = text(&root().join("Cargo.toml")).expect("the workspace has a manifest");
    let log = text(&root().join("CHANGELOG.md")).expect("the change log is text");
    let version = version(&manifest).expect("the workspace has a version");
    assert_eq!(defects(&log, version), Vec::<String>::new());
}

#[test]
fn a_change_log_without_the_version_is_found() {
    let fine = "# Changes\n\n## Unreleased\n\n## 1.2.0 - 2026-01-01\n\n### Added\n\n* A\n\n## 1.1.0\n\n* B\n";
    assert_eq!(defects(fine, "1.2.0"), Vec::<String>::new());
    assert_eq!(defects(fine, "1.2"), ["there is nothing under '## 1.2'"]);
    assert_eq!(defects(&fine.replace("* A", ""), "1.2.0"), ["there is nothing under '## 1.2.0'"]);
    assert_eq!(defects(&fine.replace("## Unreleased", ""), "1.2.0"), ["the first section is not 'Unreleased'"]);
}
