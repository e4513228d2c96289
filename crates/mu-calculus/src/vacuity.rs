//! Vacuity: formulas that say more than a property, and hold if a part of it does not matter (Beer, Ben-David, Eisner &
//! Rodeh, 1997; Kupferman & Vardi, 2003).
//!
//! A subformula that stands under an even number of negations is replaced by `false`, one under an odd number by `true`.
//! Below `<->` it counts both ways and both replacements must hold. A property that holds and still does after the
//! replacement says nothing about that subformula: a response whose trigger never comes, a disjunct that is never needed.

use crate::formula::Formula;

/// A property with one subformula replaced by a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strengthening<A> {
    /// The subformula.
    pub subformula: Formula<A>,
    /// The constant that replaces it; the last of `formulas` has this constant.
    pub replaced_by: bool,
    /// The formulas that must hold for the subformula not to matter: one, or two where it counts both ways.
    pub formulas: Vec<Formula<A>>,
}

/// The first `limit` strengthenings of a formula, one for each occurrence of a subformula without variables of its
/// context, the larger subformulas first. Constants and the formula itself are left out.
#[must_use]
pub fn strengthenings<A: Clone>(formula: &Formula<A>, limit: usize) -> Vec<Strengthening<A>> {
    let mut search = Search { found: Vec::new() };
    search.visit(formula, &mut Vec::new(), Sign::Positive);
    let mut found = search.found;
    // A stable sort: of equally large ones the first in the text comes first.
    found.sort_by_key(|occurrence| std::cmp::Reverse(size(occurrence.subformula)));
    found.iter().take(limit).map(|occurrence| occurrence.strengthening(formula)).collect()
}

/// The largest number of occurrences that are tried: a formula of a hundred thousand parts has as many.
const MAX_OCCURRENCES: usize = 1_000;

/// The polarity of a subformula in the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Positive,
    Negative,
    Both,
}

impl Sign {
    fn negated(self) -> Self {
        match self {
            Self::Positive => Self::Negative,
            Self::Negative => Self::Positive,
            Self::Both => Self::Both,
        }
    }
}

/// A place in a formula: the positions among the operands that lead to it.
struct Occurrence<'f, A> {
    subformula: &'f Formula<A>,
    path: Vec<usize>,
    sign: Sign,
}

impl<A: Clone> Occurrence<'_, A> {
    fn strengthening(&self, whole: &Formula<A>) -> Strengthening<A> {
        let constants: &[bool] = match self.sign {
            Sign::Positive => &[false],
            Sign::Negative => &[true],
            Sign::Both => &[true, false],
        };
        Strengthening {
            subformula: self.subformula.clone(),
            replaced_by: self.sign == Sign::Negative,
            formulas: constants.iter().map(|constant| with(whole, &self.path, *constant)).collect(),
        }
    }
}

struct Search<'f, A> {
    found: Vec<Occurrence<'f, A>>,
}

impl<'f, A> Search<'f, A> {
    fn visit(&mut self, here: &'f Formula<A>, path: &mut Vec<usize>, sign: Sign) {
        if self.found.len() == MAX_OCCURRENCES {
            return;
        }
        if !path.is_empty() && !matches!(here, Formula::Constant(_) | Formula::Variable(_)) && is_closed(here) {
            self.found.push(Occurrence { subformula: here, path: path.clone(), sign });
        }
        for (position, child) in here.children().into_iter().enumerate() {
            let sign = match here {
                Formula::Not(_) => sign.negated(),
                Formula::Implies(..) if position == 0 => sign.negated(),
                Formula::Iff(..) => Sign::Both,
                Formula::Choice(..) if position == 0 => Sign::Both,
                _ => sign,
            };
            path.push(position);
            self.visit(child, path, sign);
            path.pop();
        }
    }
}

fn size<A>(formula: &Formula<A>) -> usize {
    1 + formula.children().into_iter().map(size).sum::<usize>()
}

/// True if every variable is bound inside.
fn is_closed<A>(formula: &Formula<A>) -> bool {
    fn closed<'f, A>(formula: &'f Formula<A>, bound: &mut Vec<&'f str>) -> bool {
        match formula {
            Formula::Variable(variable) => bound.contains(&variable.name.as_str()),
            Formula::Fixed(_, variable, body) => {
                bound.push(&variable.name);
                let is_closed = closed(body, bound);
                bound.pop();
                is_closed
            }
            Formula::Equations(_, equations, _) => {
                let outside = bound.len();
                bound.extend(equations.iter().map(|(variable, _)| variable.name.as_str()));
                let is_closed = formula.children().into_iter().all(|child| closed(child, bound));
                bound.truncate(outside);
                is_closed
            }
            _ => formula.children().into_iter().all(|child| closed(child, bound)),
        }
    }
    closed(formula, &mut Vec::new())
}

/// The formula with a constant at the place that a path leads to. A path formula that became one about states stays
/// below its quantifier only where it still speaks of a path.
fn with<A: Clone>(formula: &Formula<A>, path: &[usize], constant: bool) -> Formula<A> {
    let Some((first, rest)) = path.split_first() else { return Formula::Constant(constant) };
    let mut position = 0;
    let changed = formula.try_map_children(&mut |child| {
        position += 1;
        let here = position - 1 == *first;
        Ok::<_, std::convert::Infallible>(if here { with(child, rest, constant) } else { child.clone() })
    });
    match changed {
        Ok(Formula::Quantified(quantifier, psi)) => Formula::quantified(quantifier, *psi),
        Ok(formula) => formula,
        Err(never) => match never {},
    }
}
