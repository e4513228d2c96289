//! Reads the pages of `docs/` and fails where one names a Rust source that does not exist. A page may leave out the beginning of a path.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files in a folder and below with this extension, without build products, as paths from the root.
fn files(folder: &str, extension: &str) -> Vec<String> {
    let entries = std::fs::read_dir(root().join(folder)).expect("the folder is there");
    let entries = entries.map(|entry| entry.expect("it can be listed"));
    let mut all = Vec::new();
    for entry in entries {
        let name = entry.file_name().into_string().expect("names of sources are text");
        let path = format!("{folder}/{name}");
        if entry.path().is_dir() && name != "target" {
            all.extend(files(&path, extension));
        } else if name.ends_with(extension) {
            all.push(path);
        }
    }
    all
}

/// The Rust sources that a page names in code spans, without those in blocks of code, and that are no file.
fn missing(page: &str, sources: &[String]) -> Vec<String> {
    let exists = |name: &str| sources.iter().any(|source| source == name || source.ends_with(&format!("/{name}")));
    let is_path = |span: &str| span.ends_with(".rs") && !span.contains(char::is_whitespace);
    let prose: String = page.split("```").step_by(2).collect();
    prose.split('`').skip(1).step_by(2).filter(|span| is_path(span) && !exists(span)).map(str::to_owned).collect()
}

#[test]
fn the_sources_that_pages_name_exist() {
    let sources = [files("crates", ".rs"), files("tests", ".rs")].concat();
    let mut found = Vec::new();
    let mut named = 0;
    for page in files("docs", ".md") {
        let text = std::fs::read_to_string(root().join(&page)).expect("a page is text");
        named += missing(&text, &[]).len();
        found.extend(missing(&text, &sources).iter().map(|name| format!("{page}: there is no {name}")));
    }
    assert!(named > 50, "only {named} names of sources were found");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_path_may_begin_in_the_middle_and_ends_at_the_end() {
    let sources = ["crates/a/src/one.rs".to_owned(), "crates/a/src/two/mod.rs".to_owned()];
    let page =
        "`one.rs` and `src/one.rs`, `two/mod.rs`; `ne.rs`, `src/three.rs`\n```\n$ cargo run `four.rs`\n```\n`two`";
    assert_eq!(missing(page, &sources), ["ne.rs", "src/three.rs"]);
}
