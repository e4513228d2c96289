//! Beginnings of formulas and expressions: names, numbers, operators before their operand, parentheses.

use super::path::linear_operator;
use super::{Item, Level, Open, Operand, Parsed, Parser, Speaks, is_keyword};
use crate::atom::{Comparison, Expr, ExprKind, Field, Name, Span, UnaryOperator};
use crate::formula::{FixedPoint, Formula, Modality, PathOperator, PathQuantifier, Variable};
use crate::parse::error::ParseErrorKind;
use crate::parse::lexer::TokenKind;

impl Parser<'_> {
    pub(super) fn prefix(&mut self, expected: &str) -> Parsed<Operand> {
        let span = self.span();
        match self.peek().clone() {
            TokenKind::Number(value) => {
                self.advance();
                Ok(Operand::leaf(Item::Expr(Expr { kind: ExprKind::Integer(value), span }), span))
            }
            TokenKind::Name(name) => self.named(name),
            TokenKind::Symbol("(") => self.parenthesised(),
            TokenKind::Symbol("!") => {
                self.advance();
                self.prefixed(span, |p| Formula::Not(Box::new(p)))
            }
            TokenKind::Symbol("<>") => {
                self.modality(span)?;
                self.advance();
                self.prefixed(span, |p| Formula::Modal(Modality::Diamond, Box::new(p)))
            }
            TokenKind::Symbol("[") if self.symbol_at(self.next + 1) == Some("]") => {
                self.modality(span.to(self.tokens[self.next + 1].span))?;
                self.advance();
                self.advance();
                self.prefixed(span, |p| Formula::Modal(Modality::Box, Box::new(p)))
            }
            TokenKind::Symbol("[") if self.speaks == Speaks::Paths => self.bracketed(),
            TokenKind::Symbol("-") => self.unary(UnaryOperator::Negate, "-"),
            TokenKind::Symbol("~") => self.unary(UnaryOperator::Complement, "~"),
            _ => Err(self.unexpected(expected)),
        }
    }

    fn parenthesised(&mut self) -> Parsed<Operand> {
        let start = self.span();
        self.advance();
        let inner = self.whole("a formula or an expression after `(`")?;
        let end = self.span();
        self.expect(")", "an operator or `)`")?;
        Ok(Operand { span: start.to(end), parenthesised: true, open: None, ..inner })
    }

    /// The operand of a prefix operator of formulas, which binds tighter than `&&` but looser than comparisons.
    fn prefixed(
        &mut self,
        start: Span,
        build: impl FnOnce(Formula<Comparison>) -> Formula<Comparison>,
    ) -> Parsed<Operand> {
        let operator = self.text[start.start..self.tokens[self.next - 1].span.end].to_owned();
        let operand = self.operand(Level::Compare, &format!("a formula after `{operator}`"))?;
        let span = start.to(operand.span);
        // Everybody reads `!p U q` as `(!p) U q`, and `AG` takes nothing that speaks of paths; of other operators tools differ.
        let is_closed = operator == "!" && operand.open.is_none() || path_operator(&operator).is_some();
        let open = Some(Open { last: operand.last(), first: None }).filter(|_| !is_closed);
        let (formula, depth) = self.formula(operand)?;
        self.checked(Operand {
            item: Item::Formula(build(formula)),
            span,
            depth: depth + 1,
            parenthesised: false,
            open,
        })
    }

    fn unary(&mut self, operator: UnaryOperator, symbol: &'static str) -> Parsed<Operand> {
        let start = self.span();
        self.advance();
        let operand = self.operand(Level::Prefix, &format!("a number or a name after `{symbol}`"))?;
        let (span, depth) = (start.to(operand.span), operand.depth + 1);
        let kind = ExprKind::Unary(operator, Box::new(self.expr(operand, symbol)?));
        self.checked(Operand { item: Item::Expr(Expr { kind, span }), span, depth, parenthesised: false, open: None })
    }

    /// Refuses a temporal operator in a predicate.
    pub(super) fn temporal(&self, span: Span) -> Parsed<()> {
        if self.speaks != Speaks::OneState {
            return Ok(());
        }
        Err(self.error(ParseErrorKind::Temporal(self.text[span.range()].to_owned()), span))
    }

    /// A keyword, a CTL operator, or a name with what follows it.
    fn named(&mut self, name: Name) -> Parsed<Operand> {
        let span = self.span();
        let followed_by = self.symbol_at(self.next + 1);
        let keyword = if name.quoted { "" } else { name.text.as_str() };
        match (keyword, followed_by) {
            ("true" | "false", _) => {
                self.advance();
                Ok(Operand::leaf(Item::Formula(Formula::Constant(keyword == "true")), span))
            }
            ("mu", _) => self.fixed(FixedPoint::Least),
            ("nu", _) => self.fixed(FixedPoint::Greatest),
            ("if", _) if self.is_operand(self.next + 1) => self.choice(),
            ("in", _) => Err(self.unexpected("a formula or an expression")),
            ("A", Some("[")) => self.quantified(PathQuantifier::All),
            ("E", Some("[")) => self.quantified(PathQuantifier::Exists),
            ("signed", Some("(")) => self.signed(),
            _ => match path_operator(keyword) {
                Some((quantifier, operator)) => {
                    self.temporal(span)?;
                    self.advance();
                    self.about_states(|parser| {
                        parser.prefixed(span, |p| Formula::Path(quantifier, operator, Box::new(p)))
                    })
                }
                None => match linear_operator(keyword).filter(|_| !self.scope.contains(&name.text)) {
                    Some(operator) if self.speaks == Speaks::Paths => {
                        self.advance();
                        self.prefixed(span, |p| Formula::Linear(operator, Box::new(p)))
                    }
                    Some(_) if self.speaks == Speaks::States && self.is_operand(self.next + 1) => {
                        Err(self.error(ParseErrorKind::LinearTime(name.text), span))
                    }
                    _ => self.reference(name),
                },
            },
        }
    }

    fn fixed(&mut self, kind: FixedPoint) -> Parsed<Operand> {
        let start = self.span();
        self.temporal(start)?;
        self.advance();
        if self.take("{") {
            return self.equations(kind, start);
        }
        let Variable { name, span } = self.variable()?;
        self.scope.push(name.clone());
        let body = self.about_states(|parser| parser.operand(Level::Iff, "a formula after `.`"))?;
        let whole = start.to(body.span);
        let open = Some(Open { last: body.last(), first: None });
        let (formula, depth) = self.formula(body)?;
        self.scope.pop();
        let item = Item::Formula(Formula::Fixed(kind, Variable { name, span }, Box::new(formula)));
        self.checked(Operand { item, span: whole, depth: depth + 1, parenthesised: false, open })
    }

    /// The variable that a fixed point binds, and the point after it.
    fn variable(&mut self) -> Parsed<Variable> {
        let span = self.span();
        let name = match self.peek() {
            TokenKind::Name(Name { text, quoted: false }) if !is_keyword(text) => text.clone(),
            _ => return Err(self.unexpected("the name of a variable")),
        };
        self.advance();
        self.expect(".", "`.` after the variable")?;
        Ok(Variable { name, span })
    }

    /// The equations of a vectorial fixed point, and its result.
    fn equations(&mut self, kind: FixedPoint, start: Span) -> Parsed<Operand> {
        let outside = self.scope.len();
        let bound = self.bound_ahead();
        self.scope.extend(bound);
        let (mut equations, mut depth) = (Vec::<(Variable, Formula<Comparison>)>::new(), 0);
        loop {
            let variable = self.variable()?;
            if equations.iter().any(|(known, _)| *known == variable) {
                return Err(self.error(ParseErrorKind::RepeatedVariable(variable.name), variable.span));
            }
            let body = self.about_states(|parser| parser.operand(Level::Iff, "a formula after `.`"))?;
            let (body, body_depth) = self.formula(body)?;
            depth = depth.max(body_depth);
            equations.push((variable, body));
            if self.take("}") {
                break;
            }
            self.expect(",", "an operator, `,` or `}`")?;
        }
        self.expect_word("in", "`in` and the formula that the equations are for")?;
        let result = self.about_states(|parser| parser.operand(Level::Iff, "a formula after `in`"))?;
        let (whole, open) = (start.to(result.span), Some(Open { last: result.last(), first: None }));
        let (result, result_depth) = self.formula(result)?;
        self.scope.truncate(outside);
        let item = Item::Formula(Formula::Equations(kind, equations, Box::new(result)));
        let depth = 1 + depth.max(result_depth);
        self.checked(Operand { item, span: whole, depth, parenthesised: false, open })
    }

    /// The variables of the equations up to the closing brace: each stands behind `{` or `,`, in front of `.`.
    fn bound_ahead(&self) -> Vec<String> {
        let (mut found, mut nesting, mut begins) = (Vec::new(), 0_usize, true);
        for token in &self.tokens[self.next..] {
            match &token.kind {
                TokenKind::Symbol("(" | "[" | "{") => nesting += 1,
                TokenKind::Symbol("}") if nesting == 0 => break,
                TokenKind::Symbol(")" | "]" | "}") => nesting = nesting.saturating_sub(1),
                TokenKind::Name(Name { text, quoted: false }) if begins => found.push(text.clone()),
                _ => {}
            }
            begins = nesting == 0 && token.kind == TokenKind::Symbol(",");
        }
        found
    }

    /// `if a then p else q`.
    fn choice(&mut self) -> Parsed<Operand> {
        let start = self.span();
        self.advance();
        let condition = self.operand(Level::Iff, "a condition after `if`")?;
        let (condition_span, (condition, depth)) = (condition.span, self.formula(condition)?);
        if !condition.is_boolean() {
            return Err(self.error(ParseErrorKind::NotAState, condition_span));
        }
        self.expect_word("then", "an operator or `then`")?;
        let p = self.about_states(|parser| parser.operand(Level::Iff, "a formula after `then`"))?;
        let (p, p_depth) = self.formula(p)?;
        self.expect_word("else", "an operator or `else`")?;
        let q = self.about_states(|parser| parser.operand(Level::Iff, "a formula after `else`"))?;
        let (whole, open) = (start.to(q.span), Some(Open { last: q.last(), first: None }));
        let (q, q_depth) = self.formula(q)?;
        let item = Item::Formula(Formula::Choice(Box::new(condition), Box::new(p), Box::new(q)));
        let depth = 1 + depth.max(p_depth).max(q_depth);
        self.checked(Operand { item, span: whole, depth, parenthesised: false, open })
    }

    fn signed(&mut self) -> Parsed<Operand> {
        let start = self.span();
        self.advance();
        let operand = self.parenthesised()?;
        let (span, depth) = (start.to(operand.span), operand.depth + 1);
        let kind = ExprKind::Signed(Box::new(self.expr(operand, "signed(…)")?));
        self.checked(Operand { item: Item::Expr(Expr { kind, span }), span, depth, parenthesised: false, open: None })
    }

    /// A name, and after it arguments, or fields and indices.
    fn reference(&mut self, name: Name) -> Parsed<Operand> {
        let start = self.span();
        self.advance();
        let (kind, mut depth) = if self.take(".") {
            (ExprKind::Field(name, self.field()?), 1)
        } else if self.take("[") {
            let (index, depth) = self.index()?;
            (ExprKind::Index(name, index), depth)
        } else if self.take("(") {
            let (arguments, depth) = self.arguments()?;
            (ExprKind::Call(name, arguments), depth)
        } else {
            (ExprKind::Name(name), 1)
        };
        let is_place = matches!(kind, ExprKind::Field(_, Field::Name(_)) | ExprKind::Index(..));
        let mut place = Expr { kind, span: start.to(self.tokens[self.next - 1].span) };
        loop {
            let kind = if is_place && self.take(".") {
                ExprKind::Member(Box::new(place), self.field()?)
            } else if is_place && self.take("[") {
                let (index, index_depth) = self.index()?;
                depth = depth.max(index_depth);
                ExprKind::Element(Box::new(place), index)
            } else {
                break;
            };
            depth += 1;
            place = Expr { kind, span: start.to(self.tokens[self.next - 1].span) };
        }
        let span = place.span;
        self.checked(Operand { item: Item::Expr(place), span, depth, parenthesised: false, open: None })
    }

    /// What stands between `[` and `]`, with its depth.
    fn index(&mut self) -> Parsed<(Box<Expr>, usize)> {
        let index = self.operand(Level::BitOr, "an index after `[`")?;
        let depth = index.depth + 1;
        let index = self.expr(index, "[…]")?;
        self.expect("]", "an operator or `]`")?;
        Ok((Box::new(index), depth))
    }

    fn field(&mut self) -> Parsed<Field> {
        let field = match self.peek() {
            TokenKind::Number(number) => Field::Number(*number),
            TokenKind::Name(Name { text, quoted: false }) => Field::Name(text.clone()),
            _ => return Err(self.unexpected("a bit number or the name of a bit after `.`")),
        };
        self.advance();
        Ok(field)
    }

    fn arguments(&mut self) -> Parsed<(Vec<Expr>, usize)> {
        let (mut arguments, mut depth) = (Vec::new(), 1);
        if self.take(")") {
            return Ok((arguments, depth));
        }
        loop {
            let argument = self.operand(Level::BitOr, "an argument or `)`")?;
            depth = depth.max(argument.depth + 1);
            arguments.push(self.expr(argument, "(…)")?);
            if self.take(")") {
                return Ok((arguments, depth));
            }
            self.expect(",", "an operator, `,` or `)`")?;
        }
    }
}

pub(super) fn path_operator(keyword: &str) -> Option<(PathQuantifier, PathOperator)> {
    let (quantifier, operator) = (keyword.get(..1)?, keyword.get(1..)?);
    let quantifier = match quantifier {
        "A" => PathQuantifier::All,
        "E" => PathQuantifier::Exists,
        _ => return None,
    };
    let operator = match operator {
        "X" => PathOperator::Next,
        "F" => PathOperator::Eventually,
        "G" => PathOperator::Always,
        _ => return None,
    };
    Some((quantifier, operator))
}
