//! Random formulas of the mu-calculus and CTL, as they are written.

use crate::Random;

/// The largest nesting of operators, except for those of a nest of fixed points.
const DEPTH: u32 = 4;

/// A closed formula about some atoms. One in three is a nest of alternating fixed points, of two levels up to so many.
///
/// # Panics
/// If there is no atom, or `levels` is less than 2.
pub fn formula(random: &mut Random, atoms: &[&str], levels: u32) -> String {
    let is_nest = random.chance(33);
    let mut formulas = Formulas { random, atoms, scope: Vec::new(), names: 0, positive: true };
    if is_nest { formulas.nest(levels) } else { formulas.any(DEPTH) }
}

struct Formulas<'a> {
    random: &'a mut Random,
    atoms: &'a [&'a str],
    /// The bound variables and whether they stand under an even number of negations here.
    scope: Vec<(String, bool)>,
    names: u32,
    positive: bool,
}

impl Formulas<'_> {
    /// Fixed points of alternating kinds around a body that can use all of them.
    fn nest(&mut self, levels: u32) -> String {
        let levels = 2 + self.random.below(levels - 1);
        let least_first = self.random.once_in(2);
        let names: Vec<String> = (0..levels).map(|_| self.bind()).collect();
        let mut body = self.any(DEPTH);
        for (level, name) in names.iter().enumerate().rev() {
            if self.random.once_in(4) {
                body = format!("({body} || {})", self.any(2));
            }
            self.scope.pop();
            let kind = if (level % 2 == 0) == least_first { "mu" } else { "nu" };
            body = format!("({kind} {name}. {body})");
        }
        body
    }

    fn bind(&mut self) -> String {
        let name = format!("V{}", self.names);
        self.names += 1;
        self.scope.push((name.clone(), self.positive));
        name
    }

    /// A formula that is an operand of any operator as it stands.
    fn any(&mut self, size: u32) -> String {
        if size == 0 || self.random.chance(8) {
            return self.leaf();
        }
        let size = size - 1;
        match self.random.below(12) {
            0 => format!("!{}", self.negated(size)),
            1 | 2 => self.list(size, " && "),
            3 | 4 => self.list(size, " || "),
            5 => format!("({} -> {})", self.negated(size), self.any(size)),
            6 if self.random.chance(40) => self.equivalence(size),
            7 => {
                let operator = self.random.pick(&["AX", "AF", "AG", "EX", "EF", "EG"]);
                format!("{operator} {}", self.any(size))
            }
            8 => {
                let (quantifier, operator) = (self.random.pick(&["A", "E"]), self.random.pick(&["U", "R", "W"]));
                format!("{quantifier}[({}) {operator} ({})]", self.any(size), self.any(size))
            }
            9 => {
                let name = self.bind();
                let body = self.any(size);
                self.scope.pop();
                format!("({} {name}. {body})", self.random.pick(&["mu", "nu"]))
            }
            _ => format!("{}{}", self.random.pick(&["[]", "<>"]), self.any(size)),
        }
    }

    fn list(&mut self, size: u32, operator: &str) -> String {
        let operands: Vec<String> = (0..2 + self.random.below(2)).map(|_| self.any(size)).collect();
        format!("({})", operands.join(operator))
    }

    /// Without variables, because each operand is also negated.
    fn equivalence(&mut self, size: u32) -> String {
        let scope = std::mem::take(&mut self.scope);
        let formula = format!("({} <-> {})", self.any(size), self.any(size));
        self.scope = scope;
        formula
    }

    fn negated(&mut self, size: u32) -> String {
        self.positive = !self.positive;
        let formula = self.any(size);
        self.positive = !self.positive;
        formula
    }

    fn leaf(&mut self) -> String {
        let usable = self.scope.iter().filter(|(_, sign)| *sign == self.positive).map(|(name, _)| name.clone());
        let usable: Vec<String> = usable.collect();
        if !usable.is_empty() && self.random.chance(60) {
            return self.random.pick(&usable);
        }
        match self.random.below(12) {
            0 => "true".to_owned(),
            1 => "false".to_owned(),
            _ => self.random.pick(self.atoms).to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_formula() {
        let made = |seed| formula(&mut Random::new(seed), &["p", "q"], 4);
        assert!((0..100).all(|seed| made(seed) == made(seed)));
        assert_ne!((0..100).map(made).collect::<Vec<_>>(), (100..200).map(made).collect::<Vec<_>>());
    }

    #[test]
    fn every_operator_occurs() {
        let all: String = (0..300).map(|seed| formula(&mut Random::new(seed), &["p", "q"], 4) + "\n").collect();
        let binary = ["&&", "||", "->", "<->", " U ", " R ", " W "];
        let unary = ["!", "[]", "<>", "AX", "AF", "AG", "EX", "EF", "EG", "A[", "E["];
        let others = ["mu V0.", "nu V0.", "V3", "true", "false", "p", "q"];
        let missing = |text: &&&str| !all.contains(**text);
        let missing: Vec<&&str> = binary.iter().chain(&unary).chain(&others).filter(missing).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn two_levels_are_no_more() {
        let most = |levels| {
            let nested =
                |seed| formula(&mut Random::new(seed), &["p"], levels).starts_with("(mu V0. (nu V1. (mu V2. (nu V3.");
            (0..300).any(nested)
        };
        assert!(most(4) && !most(2));
    }
}
