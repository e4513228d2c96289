//! The place of the cursor in a property file that may not be complete.

use avr_properties::{Literal, literals};

/// An open bracket around the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) bracket: char,
    /// The word in front of the bracket: the kind of an entry.
    pub(super) name: String,
    /// The key whose value the cursor is in; empty where a key can be written.
    pub(super) key: String,
}

/// The place of the cursor.
#[derive(Clone, Debug)]
pub(super) struct Context {
    /// The open brackets, the outermost first.
    pub(super) frames: Vec<Frame>,
    /// The text in quotes that the cursor is in, with the byte of its value.
    pub(super) literal: Option<(Literal, usize)>,
}

impl Context {
    pub(super) fn at(text: &str, offset: usize) -> Self {
        let all = literals(text);
        let literal = all.iter().find_map(|literal| Some((literal.clone(), literal.index_of(offset)?)));
        let end = literal.as_ref().map_or(offset, |(literal, _)| literal.range.start);
        let mut frames: Vec<Frame> = Vec::new();
        let (mut at, mut word) = (0, String::new());
        while at < end {
            if let Some(literal) = all.iter().find(|literal| literal.range.start == at) {
                at = literal.range.end;
                word.clear();
                continue;
            }
            let rest = &text[at..end];
            if rest.starts_with("//") {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            let Some(character) = rest.chars().next() else { break };
            at += character.len_utf8();
            step(&mut frames, &mut word, character);
        }
        Self { frames, literal }
    }

    /// The innermost bracket, and the key that it is the value of.
    pub(super) fn innermost(&self) -> Option<(&Frame, &str)> {
        let (last, outer) = self.frames.split_last()?;
        Some((last, outer.last().map_or("", |frame| frame.key.as_str())))
    }

    /// The key whose value the cursor is in, through lists and maps.
    pub(super) fn key(&self) -> &str {
        self.frames.iter().rev().find(|frame| frame.bracket == '(').map_or("", |frame| frame.key.as_str())
    }

    /// True in the outermost brackets: those of the file.
    pub(super) fn is_in_file(&self) -> bool {
        self.frames.iter().filter(|frame| frame.bracket == '(').count() == 1
    }
}

fn step(frames: &mut Vec<Frame>, word: &mut String, character: char) {
    match character {
        '(' | '[' | '{' => frames.push(Frame { bracket: character, name: std::mem::take(word), key: String::new() }),
        ')' | ']' | '}' => drop(frames.pop()),
        ':' => {
            if let Some(frame) = frames.last_mut() {
                frame.key = std::mem::take(word);
                // A map has texts for keys.
                if frame.key.is_empty() {
                    frame.key.push('"');
                }
            }
        }
        ',' => {
            if let Some(frame) = frames.last_mut() {
                frame.key.clear();
            }
        }
        c if c == '_' || c.is_alphanumeric() => {
            word.push(c);
            return;
        }
        c if c.is_whitespace() => return,
        _ => {}
    }
    word.clear();
}
