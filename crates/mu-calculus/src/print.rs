//! Prints formulas and expressions so that parsing the text gives the same tree again.

use std::fmt::{self, Display, Formatter};

use crate::atom::{
    BinaryOperator, Comparison, ComparisonKind, ComparisonOperator, Expr, ExprKind, Field, Name, UnaryOperator,
};
use crate::formula::{
    FixedPoint, Formula, LinearOperator, LinearPairOperator, Modality, PathOperator, PathPairOperator, PathQuantifier,
    Variable,
};

/// The binding strength of the operators of formulas; a looser one than its place allows needs parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Pair,
    Fixed,
    Iff,
    Implies,
    Or,
    And,
    Prefix,
    Closed,
}

impl<A> Formula<A> {
    fn binding(&self) -> Binding {
        match self {
            Self::Fixed(..) | Self::Equations(..) | Self::Choice(..) => Binding::Fixed,
            Self::Iff(..) => Binding::Iff,
            Self::Implies(..) => Binding::Implies,
            Self::Or(_) => Binding::Or,
            Self::And(_) => Binding::And,
            Self::Not(_) | Self::Modal(..) | Self::Path(..) | Self::Linear(..) => Binding::Prefix,
            Self::LinearPair(..) => Binding::Pair,
            Self::Constant(_) | Self::Atom(_) | Self::Variable(_) | Self::PathPair(..) | Self::Quantified(..) => {
                Binding::Closed
            }
        }
    }
}

impl<A: Display> Formula<A> {
    /// Prints it where at least `tightest` is needed to stand without parentheses.
    fn print(&self, f: &mut Formatter<'_>, tightest: Binding) -> fmt::Result {
        if self.binding() >= tightest {
            return write!(f, "{self}");
        }
        write!(f, "({self})")
    }

    /// An operator with operands that cannot be read otherwise: `!p U F q`, but `(F p) U q`.
    fn print_pair(p: &Self, operator: &dyn Display, q: &Self, f: &mut Formatter<'_>) -> fmt::Result {
        p.print(f, if p.is_negated_closed() { Binding::Prefix } else { Binding::Closed })?;
        write!(f, " {operator} ")?;
        q.print(f, Binding::Prefix)
    }

    /// True where nothing but negations stands in front of what needs no parentheses anywhere.
    fn is_negated_closed(&self) -> bool {
        match self {
            Self::Not(p) => p.is_negated_closed(),
            other => other.binding() == Binding::Closed,
        }
    }

    fn print_list(operands: &[Self], f: &mut Formatter<'_>, operator: &str, tightest: Binding) -> fmt::Result {
        for (index, operand) in operands.iter().enumerate() {
            if index > 0 {
                write!(f, " {operator} ")?;
            }
            operand.print(f, tightest)?;
        }
        Ok(())
    }
}

impl<A: Display> Display for Formula<A> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(value) => write!(f, "{value}"),
            Self::Atom(atom) => write!(f, "{atom}"),
            Self::Variable(variable) => write!(f, "{variable}"),
            Self::Not(p) => {
                f.write_str("!")?;
                p.print(f, Binding::Prefix)
            }
            Self::And(operands) => Self::print_list(operands, f, "&&", Binding::Prefix),
            Self::Or(operands) => Self::print_list(operands, f, "||", Binding::And),
            Self::Implies(p, q) => {
                p.print(f, Binding::Or)?;
                f.write_str(" -> ")?;
                q.print(f, Binding::Implies)
            }
            Self::Iff(p, q) => {
                p.print(f, Binding::Iff)?;
                f.write_str(" <-> ")?;
                q.print(f, Binding::Implies)
            }
            Self::Modal(modality, p) => {
                write!(f, "{modality}")?;
                p.print(f, Binding::Prefix)
            }
            Self::Path(quantifier, operator, p) => {
                write!(f, "{quantifier}{operator} ")?;
                p.print(f, Binding::Prefix)
            }
            Self::PathPair(quantifier, operator, p, q) => {
                write!(f, "{quantifier}[")?;
                Self::print_pair(p, operator, q, f)?;
                f.write_str("]")
            }
            Self::Fixed(kind, variable, p) => write!(f, "{kind} {variable}. {p}"),
            Self::Equations(kind, equations, result) => {
                write!(f, "{kind} {{ ")?;
                for (index, (variable, body)) in equations.iter().enumerate() {
                    let separator = if index > 0 { ", " } else { "" };
                    write!(f, "{separator}{variable}. {body}")?;
                }
                write!(f, " }} in {result}")
            }
            Self::Choice(condition, p, q) => write!(f, "if {condition} then {p} else {q}"),
            Self::Quantified(quantifier, psi) => write!(f, "{quantifier}[{psi}]"),
            Self::Linear(operator, p) => {
                write!(f, "{operator} ")?;
                p.print(f, Binding::Prefix)
            }
            Self::LinearPair(operator, p, q) => Self::print_pair(p, operator, q, f),
        }
    }
}

impl Display for Variable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Display for Modality {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Box => "[]",
            Self::Diamond => "<>",
        })
    }
}

impl Display for PathQuantifier {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::All => "A",
            Self::Exists => "E",
        })
    }
}

impl Display for PathOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Next => "X",
            Self::Eventually => "F",
            Self::Always => "G",
        })
    }
}

impl Display for PathPairOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Until => "U",
            Self::Release => "R",
            Self::WeakUntil => "W",
        })
    }
}

impl Display for LinearOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Next => "X",
            Self::Eventually => "F",
            Self::Always => "G",
            Self::Yesterday => "Y",
            Self::Once => "O",
            Self::Historically => "H",
        })
    }
}

impl Display for LinearPairOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Until => "U",
            Self::Release => "R",
            Self::WeakUntil => "W",
            Self::Since => "S",
        })
    }
}

impl Display for FixedPoint {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Least => "mu",
            Self::Greatest => "nu",
        })
    }
}

impl Display for Comparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ComparisonKind::Compare(operator, left, right) => write!(f, "{left} {operator} {right}"),
            ComparisonKind::Member(element, set) => write!(f, "{element} in {set}"),
            ComparisonKind::Bare(expr) => write!(f, "{expr}"),
        }
    }
}

impl Display for ComparisonOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        })
    }
}

/// The binding strength of prefix operators of expressions, and of expressions without operators.
const UNARY: u8 = 5;

impl Expr {
    fn binding(&self) -> u8 {
        match &self.kind {
            ExprKind::Binary(operator, ..) => operator.binding(),
            ExprKind::Unary(..) => UNARY,
            _ => UNARY + 1,
        }
    }

    fn print(&self, f: &mut Formatter<'_>, tightest: u8) -> fmt::Result {
        if self.binding() >= tightest { write!(f, "{self}") } else { write!(f, "({self})") }
    }
}

impl BinaryOperator {
    fn binding(self) -> u8 {
        match self {
            Self::Or => 0,
            Self::Xor => 1,
            Self::And => 2,
            Self::ShiftLeft | Self::ShiftRight => 3,
            Self::Add | Self::Subtract => 4,
        }
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Integer(value) => write!(f, "{value}"),
            ExprKind::Name(name) => write!(f, "{name}"),
            ExprKind::Field(name, Field::Number(number)) => write!(f, "{name}.{number}"),
            ExprKind::Field(name, Field::Name(field)) => write!(f, "{name}.{field}"),
            ExprKind::Index(name, index) => write!(f, "{name}[{index}]"),
            ExprKind::Member(place, Field::Number(number)) => write!(f, "{place}.{number}"),
            ExprKind::Member(place, Field::Name(field)) => write!(f, "{place}.{field}"),
            ExprKind::Element(place, index) => write!(f, "{place}[{index}]"),
            ExprKind::Call(name, arguments) => {
                write!(f, "{name}(")?;
                for (index, argument) in arguments.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { ", " })?;
                    write!(f, "{argument}")?;
                }
                f.write_str(")")
            }
            ExprKind::Signed(operand) => write!(f, "signed({operand})"),
            ExprKind::Unary(operator, operand) => {
                f.write_str(match operator {
                    UnaryOperator::Negate => "-",
                    UnaryOperator::Complement => "~",
                })?;
                operand.print(f, UNARY)
            }
            ExprKind::Binary(operator, left, right) => {
                left.print(f, operator.binding())?;
                write!(f, " {operator} ")?;
                right.print(f, operator.binding() + 1)
            }
        }
    }
}

impl Display for BinaryOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Or => "|",
            Self::Xor => "^",
            Self::And => "&",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::Add => "+",
            Self::Subtract => "-",
        })
    }
}

impl Display for Name {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if !self.quoted {
            return f.write_str(&self.text);
        }
        write!(f, "\"{}\"", self.text.replace('\\', "\\\\").replace('"', "\\\""))
    }
}
