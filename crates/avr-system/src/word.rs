//! Formulas of linear time over words that end in a loop.
//!
//! A subformula has a value at each position, which later positions determine for operators of the future and earlier ones for operators
//! of the past (Markey & Schnoebelen, 2003). Values are three-valued: where one is known, it is right whatever the unknown letters are.

use mu_calculus::{AtomId, Formula, LinearOperator, LinearPairOperator};
use three_valued::Truth;

/// The letters of a word by position; behind the last one the word goes on at `back`.
pub(crate) struct Word<'a> {
    /// The truth of an atom at a position.
    pub(crate) letter: &'a dyn Fn(usize, AtomId) -> Truth,
    /// The number of positions.
    pub(crate) length: usize,
    /// The position behind the last one.
    pub(crate) back: usize,
}

impl Word<'_> {
    /// The value of a formula at the first position. Formulas count no steps: it is unknown for operators that do.
    pub(crate) fn value(&self, formula: &Formula<AtomId>) -> Truth {
        // The past makes a difference for the first rounds only: one for each of its operators.
        let rounds = pasts(formula);
        let longer = Longer { word: self, length: self.length + rounds * (self.length - self.back) };
        longer.values(formula).first().copied().unwrap_or(Truth::Unknown)
    }
}

/// The number of operators of the past.
fn pasts(formula: &Formula<AtomId>) -> usize {
    let here = match formula {
        Formula::Linear(operator, _) => operator.is_past(),
        Formula::LinearPair(operator, ..) => *operator == LinearPairOperator::Since,
        _ => false,
    };
    usize::from(here) + formula.children().into_iter().map(pasts).sum::<usize>()
}

/// A word with more rounds of its loop.
struct Longer<'a> {
    word: &'a Word<'a>,
    length: usize,
}

impl Longer<'_> {
    fn letter(&self, position: usize, atom: AtomId) -> Truth {
        let Word { letter, length, back } = self.word;
        let position = if position < *length { position } else { back + (position - back) % (length - back) };
        letter(position, atom)
    }

    /// The position behind one.
    fn next(&self, position: usize) -> usize {
        if position + 1 < self.length { position + 1 } else { self.length - (self.word.length - self.word.back) }
    }

    fn values(&self, formula: &Formula<AtomId>) -> Vec<Truth> {
        let all = |value: Truth| vec![value; self.length];
        let pair = |p: &Formula<AtomId>, q: &Formula<AtomId>, of: &dyn Fn(Truth, Truth) -> Truth| {
            self.values(p).into_iter().zip(self.values(q)).map(|(p, q)| of(p, q)).collect()
        };
        let fold = |parts: &[Formula<AtomId>], start: Truth, of: &dyn Fn(Truth, Truth) -> Truth| {
            parts.iter().fold(all(start), |so_far, part| {
                so_far.into_iter().zip(self.values(part)).map(|(so_far, value)| of(so_far, value)).collect()
            })
        };
        match formula {
            Formula::Constant(value) => all(Truth::from(*value)),
            Formula::Atom(atom) => (0..self.length).map(|position| self.letter(position, *atom)).collect(),
            Formula::Not(p) => self.values(p).into_iter().map(|value| !value).collect(),
            Formula::And(parts) => fold(parts, Truth::True, &|p, q| p & q),
            Formula::Or(parts) => fold(parts, Truth::False, &|p, q| p | q),
            Formula::Implies(p, q) => pair(p, q, &|p, q| !p | q),
            Formula::Iff(p, q) => pair(p, q, &|p, q| (p & q) | (!p & !q)),
            Formula::Choice(a, p, q) => {
                let chosen = self.values(a).into_iter().zip(self.values(p).into_iter().zip(self.values(q)));
                chosen
                    .map(|(a, (p, q))| match a {
                        Truth::True => p,
                        Truth::False => q,
                        Truth::Unknown => p.join(q),
                    })
                    .collect()
            }
            Formula::Linear(operator, p) => self.linear(*operator, self.values(p)),
            Formula::LinearPair(operator, p, q) => self.linear_pair(*operator, &self.values(p), &self.values(q)),
            _ => all(Truth::Unknown),
        }
    }

    fn linear(&self, operator: LinearOperator, p: Vec<Truth>) -> Vec<Truth> {
        let [always, never] = [Truth::True, Truth::False].map(|value| vec![value; self.length]);
        match operator {
            LinearOperator::Eventually => self.linear_pair(LinearPairOperator::Until, &always, &p),
            LinearOperator::Always => self.linear_pair(LinearPairOperator::Release, &never, &p),
            LinearOperator::Once => self.linear_pair(LinearPairOperator::Since, &always, &p),
            LinearOperator::Historically => {
                let missed: Vec<Truth> = p.into_iter().map(|value| !value).collect();
                let once = self.linear_pair(LinearPairOperator::Since, &always, &missed);
                once.into_iter().map(|value| !value).collect()
            }
            LinearOperator::Next | LinearOperator::Yesterday => vec![Truth::Unknown; self.length],
        }
    }

    fn linear_pair(&self, operator: LinearPairOperator, p: &[Truth], q: &[Truth]) -> Vec<Truth> {
        // A least fixed point where something has to come, else a greatest one.
        let (start, step): (Truth, fn(Truth, Truth, Truth) -> Truth) = match operator {
            LinearPairOperator::Until => (Truth::False, |p, q, next| q | (p & next)),
            LinearPairOperator::WeakUntil => (Truth::True, |p, q, next| q | (p & next)),
            LinearPairOperator::Release => (Truth::True, |p, q, next| q & (p | next)),
            LinearPairOperator::Since => {
                let mut before = Truth::False;
                let since = p.iter().zip(q).map(|(p, q)| {
                    before = *q | (*p & before);
                    before
                });
                return since.collect();
            }
        };
        let mut values = vec![start; self.length];
        // The second round knows what the first one found at the beginning of the loop.
        for _ in 0..2 {
            for position in (0..self.length).rev() {
                values[position] = step(p[position], q[position], values[self.next(position)]);
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::Word;
    use mu_calculus::{AtomId, Formula, parse_path};
    use three_valued::Truth;

    /// The value of a formula over `a` and `b` on a word such as `a b | ab -`: letters, and behind the bar those that repeat.
    fn value(formula: &str, word: &str) -> Truth {
        let parsed = parse_path(formula).expect("it is a formula");
        let atoms = parsed.try_map_atoms(&mut |comparison| {
            let text = &formula[comparison.span.range()];
            Ok::<AtomId, ()>(AtomId(u32::from(text.trim().starts_with('b'))))
        });
        let bound: Formula<AtomId> = atoms.expect("each is bound");
        let (before, repeated) = word.split_once('|').expect("something repeats");
        let letters: Vec<&str> = before.split_whitespace().chain(repeated.split_whitespace()).collect();
        let letter = |position: usize, atom: AtomId| {
            let name = ["a", "b"][atom.index()];
            if letters[position].contains('?') { Truth::Unknown } else { Truth::from(letters[position].contains(name)) }
        };
        let back = before.split_whitespace().count();
        Word { letter: &letter, length: letters.len(), back }.value(&bound)
    }

    #[track_caller]
    fn check(formula: &str, word: &str, expected: Truth) {
        assert_eq!(value(formula, word), expected, "{formula} on {word}");
    }

    #[test]
    fn values_are_those_of_the_operators() {
        let (yes, no) = (Truth::True, Truth::False);
        check("G F (a == 1)", "a a | -", no);
        check("G F (a == 1)", "- | - a -", yes);
        check("F G (a == 1)", "- | a a", yes);
        check("F G (a == 1)", "a | a -", no);
        check("G (a == 1 -> F (b == 1))", "a b | a -", no);
        check("G (a == 1 -> F (b == 1))", "a | b a", yes);
        check("(a == 1) U (b == 1)", "a a | b", yes);
        check("(a == 1) U (b == 1)", "a | a", no);
        check("(a == 1) W (b == 1)", "a | a", yes);
        check("(a == 1) W (b == 1)", "a - | b", no);
        check("(b == 1) R (a == 1)", "a ab | -", yes);
        check("(b == 1) R (a == 1)", "a b | -", no);
    }

    #[test]
    fn the_past_of_later_rounds_counts() {
        let (yes, no) = (Truth::True, Truth::False);
        // In the first round nothing was before.
        check("G F (b == 1 && O (a == 1))", "| b a", yes);
        check("F G (O (a == 1))", "| - - a", yes);
        check("G (O (a == 1))", "| - a", no);
        check("F (b == 1 && H (a == 1))", "ab | b", yes);
        check("F G (b == 1 && H (a == 1))", "ab | b", no);
        check("G F (b == 1 && O (a == 1 && O (b == 1)))", "| b - a", yes);
        check("G ((a == 1) S (b == 1))", "b | a", yes);
        check("G ((a == 1) S (b == 1))", "b a | a -", no);
    }

    #[test]
    fn what_is_not_known_matters_where_it_does() {
        check("G F (a == 1)", "? | a", Truth::True);
        check("G F (a == 1)", "a | ?", Truth::Unknown);
        check("F (a == 1)", "a | ?", Truth::True);
        check("G (a == 1)", "- | ?", Truth::False);
    }
}
