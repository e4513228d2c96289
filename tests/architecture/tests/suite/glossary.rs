//! Reads `docs/glossary.md` and fails where the engine uses a word or a phrase that is no longer used: words in names of modules, types,
//! functions and fields, phrases of several words in comments. Tests do not count.
//!
//! A second test limits the comment lines of each crate, tests included, that open with a question word instead of a term.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{
    Attribute, Field, Ident, ImplItemFn, ItemEnum, ItemFn, ItemMod, ItemStruct, ItemTrait, ItemType, TraitItemFn,
};

/// The crates whose names are checked.
const ENGINE: &[&str] = &["tvar", "avr-analysis", "avr-model", "avr-witness", "avr-verify"];

/// The folders whose subfolders have sources with comments.
const COMMENTED: &[&str] = &["crates", "tests"];

/// The words that a comment line should not open with.
const QUESTION_WORDS: [&str; 7] = ["What", "Whether", "How", "Where", "Which", "When", "Why"];

/// The largest share of comment lines of a crate that open with a question word, in percent.
const MOST_QUESTIONS: usize = 8;

/// The words and the phrases of the last column of the glossary.
fn retired(glossary: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let rows = glossary.lines().filter(|line| line.starts_with("| ")).skip(1);
    let cells = rows.filter_map(|row| row.trim_end_matches('|').rsplit('|').next()).flat_map(|cell| cell.split(';'));
    let all = cells.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    all.partition(|text| !text.contains(' '))
}

/// The names that a source declares.
#[derive(Default)]
struct Names(Vec<String>);

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test") || attribute.path().is_ident("cfg") && quoted(attribute).contains("test")
    })
}

fn quoted(attribute: &Attribute) -> String {
    let mut text = String::new();
    let _ = attribute.parse_nested_meta(|meta| {
        text.extend(meta.path.get_ident().map(Ident::to_string));
        Ok(())
    });
    text
}

macro_rules! declared {
    ($($visit:ident $item:ty, $name:expr, $recurse:path;)*) => {
        impl<'ast> Visit<'ast> for Names {
            $(fn $visit(&mut self, item: &'ast $item) {
                if !is_test(&item.attrs) {
                    let name: fn(&$item) -> Option<&Ident> = $name;
                    self.0.extend(name(item).map(Ident::to_string));
                    $recurse(self, item);
                }
            })*
        }
    };
}

declared! {
    visit_item_fn ItemFn, |item| Some(&item.sig.ident), visit::visit_item_fn;
    visit_impl_item_fn ImplItemFn, |item| Some(&item.sig.ident), visit::visit_impl_item_fn;
    visit_trait_item_fn TraitItemFn, |item| Some(&item.sig.ident), visit::visit_trait_item_fn;
    visit_item_struct ItemStruct, |item| Some(&item.ident), visit::visit_item_struct;
    visit_item_enum ItemEnum, |item| Some(&item.ident), visit::visit_item_enum;
    visit_item_trait ItemTrait, |item| Some(&item.ident), visit::visit_item_trait;
    visit_item_type ItemType, |item| Some(&item.ident), visit::visit_item_type;
    visit_item_mod ItemMod, |item| Some(&item.ident), visit::visit_item_mod;
    visit_field Field, |item| item.ident.as_ref(), visit::visit_field;
}

/// The words of a name in snake case or camel case, in lower case.
fn words(name: &str) -> BTreeSet<String> {
    let mut spaced = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() {
            spaced.push('_');
        }
        spaced.extend(letter.to_lowercase());
    }
    spaced.split('_').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The lines of a source that are comments, without the slashes that begin them.
fn comment_lines(source: &str) -> impl Iterator<Item = &str> {
    let lines = source.lines().filter_map(|line| line.trim_start().strip_prefix("//"));
    lines.map(|line| line.trim_start_matches(['/', '!']).trim())
}

/// The comments of a source in one line, in lower case.
fn comments(source: &str) -> String {
    comment_lines(source).collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The number of comment lines of a source that open with a question word, and of all its comment lines.
fn questions(source: &str) -> (usize, usize) {
    let first_word = |line: &str| line.split(|letter: char| !letter.is_alphabetic()).next().unwrap_or("").to_owned();
    let opens = |line: &&str| QUESTION_WORDS.contains(&first_word(line).as_str());
    (comment_lines(source).filter(opens).count(), comment_lines(source).count())
}

/// The names and phrases of a source that are no longer used.
fn problems(source: &str, (retired_words, phrases): &(BTreeSet<String>, BTreeSet<String>)) -> Vec<String> {
    let parsed = syn::parse_file(source).expect("a source can be parsed");
    let mut names = Names::default();
    names.visit_file(&parsed);
    let names = names.0.into_iter().filter(|name| !words(name).is_disjoint(retired_words));
    let text = comments(source.split("#[cfg(test)]\nmod tests {").next().unwrap_or(source));
    names.chain(phrases.iter().filter(|phrase| text.contains(*phrase)).cloned()).collect()
}

/// The sources in a folder and below, through files and folders that are wanted.
fn sources_where(folder: &Path, is_wanted: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it can be listed").path()).filter(|path| is_wanted(path));
    let below = |path: PathBuf| if path.is_dir() { sources_where(&path, is_wanted) } else { vec![path] };
    paths.flat_map(below).filter(|path| path.extension().is_some_and(|one| one == "rs")).collect()
}

/// The sources in a folder and below, without those of tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    sources_where(folder, &|path| path.file_stem().is_some_and(|stem| !stem.to_string_lossy().contains("tests")))
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).expect("a source is text")
}

fn glossary() -> (BTreeSet<String>, BTreeSet<String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/glossary.md");
    retired(&std::fs::read_to_string(path).expect("there is a glossary"))
}

#[test]
fn the_engine_uses_the_terms_of_the_glossary() {
    let glossary = glossary();
    assert!(glossary.0.contains("footing") && glossary.1.contains("machine at work"), "{glossary:?}");
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
    let mut found = Vec::new();
    for name in ENGINE {
        for file in sources(&crates.join(name).join("src")) {
            let source = read(&file);
            let place = file.strip_prefix(&crates).expect("it is inside").display().to_string();
            found.extend(problems(&source, &glossary).into_iter().map(|problem| format!("{place}: {problem}")));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn few_comment_lines_open_with_a_question_word() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut all, mut found) = (0, Vec::new());
    for folder in COMMENTED.iter().map(|folder| root.join(folder)) {
        for entry in std::fs::read_dir(&folder).expect("the folder is there") {
            let path = entry.expect("it can be listed").path();
            if !path.is_dir() {
                continue;
            }
            let files = sources_where(&path, &|path| !path.ends_with("target"));
            let counts = files.iter().map(|file| questions(&read(file)));
            let (questions, lines) = counts.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            all += lines;
            if questions * 100 > lines * MOST_QUESTIONS {
                let place = path.strip_prefix(&root).expect("it is inside").display();
                found.push(format!("{place}: {questions} of {lines} comment lines"));
            }
        }
    }
    assert!(all > 5_000, "only {all} comment lines were found");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn question_words_count_at_the_beginning_of_comment_lines() {
    let check = |source: &str, expected: (usize, usize)| assert_eq!(questions(source), expected, "{source}");
    check("//! What is here.\nfn what() {}\n    /// Whether.\n// Whose? When\n", (2, 3));
    check("/// `What` is a name.\n/// Whatever it is.\nlet why = 1; // Why\n", (0, 2));
    check("/// Names,\n/// How many.\n///\n", (1, 3));
}

#[test]
fn words_count_in_names_and_phrases_in_comments() {
    let retired =
        retired("| Term | Definition | Source | No longer |\n|---|---|---|---|\n| x | y | z | story; at work |\n");
    let check = |source: &str| problems(source, &retired);
    assert_eq!(check("struct Story;"), ["Story"]);
    assert_eq!(
        check("struct A { the_story: u8 }\nfn tell_story() {}"),
        ["tell_story", "the_story"].map(str::to_owned).into_iter().rev().collect::<Vec<_>>()
    );
    assert_eq!(check("/// The machine at\n/// work.\nfn history() {}"), ["at work"]);
    assert_eq!(check("/// A story.\nfn storyteller() {}\n#[test]\nfn story() {}"), Vec::<String>::new());
}
