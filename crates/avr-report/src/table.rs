//! Tables with aligned columns.

use crate::escape::Escaped;

/// Longer texts in the column that wraps go on in the next line.
const MAX_WRAPPED_WIDTH: usize = 60;

/// The alignment of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    /// To the left.
    Left,
    /// To the left, and long texts take several lines.
    Wrapped,
    /// To the right, as numbers are.
    Right,
}

/// Rows under a head, their columns aligned; all cells are escaped.
pub(crate) struct Table<const N: usize> {
    alignment: [Align; N],
    rows: Vec<[String; N]>,
    /// The widest that the column that wraps may be.
    widest: usize,
}

impl<const N: usize> Table<N> {
    /// A table with a head.
    pub(crate) fn new(head: [(&str, Align); N]) -> Self {
        let rows = vec![head.map(|(title, _)| title.to_owned())];
        Self { alignment: head.map(|(_, align)| align), rows, widest: MAX_WRAPPED_WIDTH }
    }

    /// The same with a column that wraps at so many characters.
    pub(crate) fn with_widest(self, widest: usize) -> Self {
        Self { widest, ..self }
    }

    /// Adds a row.
    pub(crate) fn add(&mut self, row: [String; N]) {
        self.rows.push(row.map(|cell| Escaped(&cell).to_string()));
    }

    /// Each row, the head first, as one or more lines without line ends.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Vec<String>> + '_ {
        let widths = self.widths();
        self.rows.iter().map(move |row| self.lines(row, &widths))
    }

    fn widths(&self) -> [usize; N] {
        std::array::from_fn(|column| {
            let widest = self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
            if self.alignment[column] == Align::Wrapped { widest.min(self.widest) } else { widest }
        })
    }

    fn lines(&self, row: &[String; N], widths: &[usize; N]) -> Vec<String> {
        let cells: [Vec<String>; N] = std::array::from_fn(|column| wrap(&row[column], widths[column]));
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        (0..height).map(|line| self.line(&cells, widths, line)).collect()
    }

    fn line(&self, cells: &[Vec<String>; N], widths: &[usize; N], line: usize) -> String {
        let part = |column: usize| {
            let text = cells[column].get(line).map_or("", String::as_str);
            let width = widths[column];
            match self.alignment[column] {
                Align::Right => format!("{text:>width$}"),
                Align::Left | Align::Wrapped => format!("{text:<width$}"),
            }
        };
        let parts: [String; N] = std::array::from_fn(part);
        parts.join("  ").trim_end().to_owned()
    }
}

/// Cuts a text into pieces of at most `width` characters, at a space where there is one in the second half.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let mut rest = characters.as_slice();
    let mut lines = Vec::new();
    while rest.len() > width {
        let space = rest[..=width].iter().rposition(|character| *character == ' ').filter(|space| *space > width / 2);
        let end = space.unwrap_or(width);
        lines.push(rest[..end].iter().collect());
        rest = &rest[end + usize::from(space.is_some())..];
    }
    lines.push(rest.iter().collect());
    lines
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[track_caller]
    fn check(text: &str, width: usize, expected: &[&str]) {
        assert_eq!(wrap(text, width), expected);
    }

    #[test]
    fn long_texts_are_cut_at_spaces() {
        check("", 5, &[""]);
        check("short", 5, &["short"]);
        check("two words", 5, &["two", "words"]);
        check("two words", 8, &["two word", "s"]);
        check("a longword", 6, &["a long", "word"]);
        check("unbroken", 3, &["unb", "rok", "en"]);
        check("größe ß", 5, &["größe", "ß"]);
    }
}
