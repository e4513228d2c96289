//! Symbols of addresses, also where symbols overlap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The reach of one symbol, half open; empty ones are ignored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
    /// Symbols of a lower class hide those of a higher one.
    pub(super) class: u8,
    /// Of spans of one class the one that starts last wins, then the one with the lowest index.
    pub(super) index: usize,
}

/// Disjoint pieces in ascending order, each with the symbol that wins there.
#[derive(Clone, Debug, Default)]
pub(super) struct Extents {
    pieces: Vec<Piece>,
    /// Start and end of each symbol without a stated size, ascending.
    guessed: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    start: u32,
    end: u32,
    index: usize,
}

/// The class of symbols whose size is not stated.
const GUESSED: u8 = 2;

impl Extents {
    /// Sweeps over the starts and ends of all spans, with the spans that are open in a heap: n log n for n spans,
    /// however they overlap.
    pub(super) fn new(mut spans: Vec<Span>) -> Self {
        spans.retain(|span| span.start < span.end);
        spans.sort_by_key(|span| (span.start, span.index));
        let guessed = spans.iter().filter(|span| span.class == GUESSED).map(|span| (span.start, span.end)).collect();
        let mut borders: Vec<u32> = spans.iter().flat_map(|span| [span.start, span.end]).collect();
        borders.sort_unstable();
        borders.dedup();
        Self { pieces: sweep(&spans, &borders), guessed }
    }

    /// The index of the symbol that wins at an address.
    pub(super) fn at(&self, address: u32) -> Option<usize> {
        let after = self.pieces.partition_point(|piece| piece.start <= address);
        let piece = self.pieces[..after].last()?;
        (address < piece.end).then_some(piece.index)
    }

    /// The end of a symbol without a stated size.
    pub(super) fn guessed_end(&self, start: u32) -> Option<u32> {
        let index = self.guessed.binary_search_by_key(&start, |&(start, _)| start).ok()?;
        Some(self.guessed[index].1)
    }
}

fn sweep(spans: &[Span], borders: &[u32]) -> Vec<Piece> {
    let mut waiting = spans.iter().peekable();
    let mut open = BinaryHeap::new();
    let mut pieces = Vec::new();
    for pair in borders.windows(2) {
        let (start, end) = (pair[0], pair[1]);
        while let Some(span) = waiting.next_if(|span| span.start <= start) {
            open.push((Reverse(span.class), span.start, Reverse(span.index), span.end));
        }
        while open.peek().is_some_and(|&(.., span_end)| span_end <= start) {
            open.pop();
        }
        if let Some(&(_, _, Reverse(index), _)) = open.peek() {
            pieces.push(Piece { start, end, index });
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spans as (start, end, class); the answer for each address from 0 on, `.` for none.
    #[track_caller]
    fn check(spans: &[(u32, u32, u8)], expected: &str) {
        let span = |(index, &(start, end, class))| Span { start, end, class, index };
        let extents = Extents::new(spans.iter().enumerate().map(span).collect());
        let found: String = (0..expected.len() as u32)
            .map(|address| extents.at(address).map_or('.', |index| char::from(b'a' + index as u8)))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_better_class_wins_then_the_inner_one() {
        check(&[], "...");
        check(&[(2, 4, 0)], "..aa..");
        check(&[(1, 1, 0), (0, 2, 2)], "bb.");
        check(&[(0, 6, 0), (2, 4, 0)], "aabbaa.");
        check(&[(0, 6, 0), (2, 4, 1)], "aaaaaa.");
        check(&[(0, 6, 1), (2, 8, 0)], "aabbbbbb.");
        check(&[(2, 4, 0), (2, 4, 0)], "..aa.");
        check(&[(0, 2, 2), (2, 4, 2), (1, 3, 0)], "accb.");
    }
}
