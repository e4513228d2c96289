//! Inputs to begin with.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

/// The files of a folder, in the order of their names, and the words in them.
#[derive(Clone, Debug)]
pub struct Corpus {
    inputs: Vec<Vec<u8>>,
    /// The words of all inputs that are text, put in at random places.
    words: Vec<Vec<u8>>,
}

impl Corpus {
    /// Reads all files of a folder.
    ///
    /// # Errors
    /// If there are none, or they cannot be read.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        paths.sort();
        let inputs = paths.iter().map(fs::read).collect::<io::Result<Vec<_>>>()?;
        if inputs.is_empty() {
            return Err(io::Error::other(format!("{} is empty", folder.display())));
        }
        let texts = inputs.iter().filter_map(|input| std::str::from_utf8(input).ok());
        let words = texts.flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_'));
        let signs = [
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            "\"",
            ",",
            ":",
            "->",
            "!",
            "&&",
            "||",
            "==",
            "\n",
            "\0",
            "9".repeat(40).as_str(),
        ]
        .map(str::to_owned);
        let words: BTreeSet<String> = words.filter(|word| !word.is_empty()).map(str::to_owned).chain(signs).collect();
        Ok(Self { inputs, words: words.into_iter().map(String::into_bytes).collect() })
    }

    /// The inputs as they are.
    #[must_use]
    pub fn inputs(&self) -> &[Vec<u8>] {
        &self.inputs
    }

    /// The words.
    pub(crate) fn words(&self) -> &[Vec<u8>] {
        &self.words
    }
}
