//! A page of the book: blocks of code, links, headings.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// A page.
pub struct Page {
    /// The file.
    pub path: PathBuf,
    /// The content.
    pub text: String,
}

/// A block of code.
pub struct Block {
    /// The words after the fence; nothing if the block is only indented.
    pub info: String,
    /// The content.
    pub text: String,
    /// The line where its text begins, from 1.
    pub line: usize,
}

impl Page {
    /// Reads a page.
    pub fn read(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).expect("the page can be read");
        Self { path, text }
    }

    fn events(&self) -> impl Iterator<Item = (Event<'_>, std::ops::Range<usize>)> {
        Parser::new_ext(&self.text, Options::ENABLE_TABLES).into_offset_iter()
    }

    /// All blocks of code in their order.
    pub fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let (mut is_inside, mut is_new) = (false, false);
        for (event, range) in self.events() {
            match event {
                Event::Start(Tag::CodeBlock(kind)) => {
                    let info = match kind {
                        CodeBlockKind::Fenced(info) => info.to_string(),
                        CodeBlockKind::Indented => String::new(),
                    };
                    blocks.push(Block { info, text: String::new(), line: 0 });
                    (is_inside, is_new) = (true, true);
                }
                Event::End(TagEnd::CodeBlock) => is_inside = false,
                Event::Text(text) if is_inside => {
                    let block = blocks.last_mut().expect("text is inside of a block");
                    if std::mem::take(&mut is_new) {
                        block.line = 1 + self.text[..range.start].matches('\n').count();
                    }
                    block.text.push_str(&text);
                }
                _ => {}
            }
        }
        blocks
    }

    /// The code in running text, each with its line from 1.
    pub fn inline_code(&self) -> Vec<(usize, String)> {
        let code = |(event, range): (Event<'_>, std::ops::Range<usize>)| match event {
            Event::Code(code) => Some((1 + self.text[..range.start].matches('\n').count(), code.to_string())),
            _ => None,
        };
        self.events().filter_map(code).collect()
    }

    /// The targets of the links of the page.
    pub fn links(&self) -> Vec<String> {
        let target = |event| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some(dest_url.to_string()),
            _ => None,
        };
        self.events().filter_map(|(event, _)| target(event)).collect()
    }

    /// The error in a link: no such file, or no such heading in it. Other places of the net are not looked at.
    pub fn link_problem(&self, link: &str) -> Option<String> {
        if link.contains("://") {
            return None;
        }
        let (file, heading) = link.split_once('#').unwrap_or((link, ""));
        let folder = self.path.parent().expect("a page is in a folder");
        let path = if file.is_empty() { self.path.clone() } else { folder.join(file) };
        if !path.is_file() {
            return Some(format!("'{link}' leads to no file"));
        }
        (!heading.is_empty() && !Self::read(path).anchors().contains(heading))
            .then(|| format!("'{link}' leads to no heading"))
    }

    /// The names of the headings as the book forms them.
    fn anchors(&self) -> BTreeSet<String> {
        let mut anchors = BTreeSet::new();
        let mut heading: Option<String> = None;
        for (event, _) in self.events() {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => anchors.extend(heading.take().map(|text| anchor(&text))),
                Event::Text(text) | Event::Code(text) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&text);
                    }
                }
                _ => {}
            }
        }
        anchors
    }
}

/// Letters and digits in small letters, hyphens for spaces, nothing else.
fn anchor(heading: &str) -> String {
    let letter = |c: char| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
        _ => None,
    };
    heading.chars().filter_map(letter).collect()
}
