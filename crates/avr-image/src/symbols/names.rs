//! Looking symbols up by name, and what to say when that fails.

use std::collections::{BTreeSet, HashMap};

use thiserror::Error;

use super::Symbol;

/// The largest number of names that an error suggests.
const MAX_SUGGESTIONS: usize = 3;
/// The largest number of candidates that an error lists.
const MAX_CANDIDATES: usize = 8;
/// Longer names take no part in the search for near ones.
const MAX_NEAR_BYTES: usize = 128;

/// A name that does not name exactly one symbol.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SymbolError {
    /// No symbol has this name.
    #[error("no symbol is named {name:?}{}", suggest(.suggestions))]
    Unknown {
        /// The name that was looked for.
        name: String,
        /// The nearest names, the nearest first.
        suggestions: Vec<String>,
    },
    /// Symbols at several places have this name.
    #[error("the name {name:?} is ambiguous: it may be {}", candidates.join(", "))]
    Ambiguous {
        /// The name that was looked for.
        name: String,
        /// Each with its full name and place, in order of place.
        candidates: Vec<String>,
    },
}

impl SymbolError {
    pub(super) fn unknown(name: &str, suggestions: Vec<String>) -> Self {
        Self::Unknown { name: name.to_owned(), suggestions }
    }

    pub(super) fn ambiguous(name: &str, found: &[&Symbol]) -> Self {
        let describe = |symbol: &&Symbol| format!("{} at {}", symbol.display_name(), symbol.place);
        let candidates = found.iter().take(MAX_CANDIDATES).map(describe).collect();
        Self::Ambiguous { name: name.to_owned(), candidates }
    }
}

fn suggest(suggestions: &[String]) -> String {
    match suggestions {
        [] => String::new(),
        names => format!("; did you mean {}?", names.join(" or ")),
    }
}

/// From every name of every symbol to its indices, ascending.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(HashMap<String, Vec<usize>>);

impl Names {
    pub(super) fn new(all: &[Symbol]) -> Self {
        let mut names: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, symbol) in all.iter().enumerate() {
            for name in spellings(symbol) {
                names.entry(normal(name)).or_default().push(index);
            }
        }
        Self(names)
    }

    /// Adds a name of the symbol with an index.
    pub(super) fn add(&mut self, name: &str, index: usize) {
        let all = self.0.entry(normal(name)).or_default();
        if !all.contains(&index) {
            all.push(index);
            all.sort_unstable();
        }
    }

    pub(super) fn get(&self, name: &str) -> &[usize] {
        self.0.get(&normal(name)).map_or(&[], Vec::as_slice)
    }
}

/// The different names of one symbol.
fn spellings(symbol: &Symbol) -> BTreeSet<&str> {
    BTreeSet::from([symbol.name.as_str(), symbol.display_name(), symbol.base_name()])
}

/// A name without the white space that does not separate two words: `f(unsigned char, int)` and
/// `f( unsigned char,int )` are the same.
fn normal(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for word in name.split_ascii_whitespace() {
        let separate = out.ends_with(is_word) && word.starts_with(is_word);
        if separate {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The names nearest to `name` among symbols that suit: a few edits away, or the same name with a suffix that the
/// compiler added to a copy (`step.constprop.0`).
pub(super) fn nearest(all: &[Symbol], name: &str, suits: impl Fn(&Symbol) -> bool) -> Vec<String> {
    if name.is_empty() || name.len() > MAX_NEAR_BYTES {
        return Vec::new();
    }
    let mut near: BTreeSet<(usize, &str)> = BTreeSet::new();
    for symbol in all.iter().filter(|symbol| suits(symbol)) {
        let distance = spellings(symbol).into_iter().filter_map(|spelling| distance(name, spelling)).min();
        if let Some(distance) = distance {
            near.insert((distance, symbol.display_name()));
        }
    }
    near.into_iter().take(MAX_SUGGESTIONS).map(|(_, name)| name.to_owned()).collect()
}

/// The edit distance of two names; `None` when too far to be worth a suggestion.
fn distance(wanted: &str, spelling: &str) -> Option<usize> {
    if spelling.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('.')) {
        return Some(0);
    }
    let limit = 1 + wanted.len() / 4;
    if spelling.len() > MAX_NEAR_BYTES || wanted.len().abs_diff(spelling.len()) > limit {
        return None;
    }
    let edits = strsim::osa_distance(&wanted.to_lowercase(), &spelling.to_lowercase());
    (edits <= limit).then_some(edits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(a: &str, b: &str, expected: Option<usize>) {
        assert_eq!(distance(a, b), expected, "{a} {b}");
    }

    #[test]
    fn near_names() {
        check("conter", "counter", Some(1));
        check("Counter", "counter", Some(0));
        check("step", "step.constprop.0", Some(0));
        check("step", "stop_motor", None);
        check("ab", "xy", None);
    }

    #[test]
    fn white_space_between_words_only() {
        assert_eq!(normal(" f( unsigned  char,int )"), "f(unsigned char,int)");
        assert_eq!(normal("operator new"), "operator new");
    }
}
