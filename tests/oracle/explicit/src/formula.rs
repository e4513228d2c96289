//! Formulas and properties: what they are, how they are written, and what an atom says of a state.

use crate::board::Interrupt;
use crate::state::State;
use std::fmt;

/// Something with a byte in every state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Portb,
    Gpior0,
    /// EIMSK or GIMSK, by name.
    Enables(&'static str),
    Register(u8),
    /// A cell, by its data addresses on the ATmega328P and on the device.
    Cell(u16, u16),
}

impl Source {
    pub(crate) fn value(self, state: &State) -> u8 {
        match self {
            Self::Portb => state.portb,
            Self::Gpior0 => state.gpior0,
            Self::Enables(_) => state.eimsk,
            Self::Register(register) => state.register(register),
            Self::Cell(address, _) => state.cell(address),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Portb => f.write_str("PORTB"),
            Self::Gpior0 => f.write_str("GPIOR0"),
            Self::Enables(name) => f.write_str(name),
            Self::Register(register) => write!(f, "r{register}"),
            Self::Cell(_, address) => write!(f, "mem[{address:#x}]"),
        }
    }
}

/// An atom: a statement about a single state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atom {
    Equals(Source, u8),
    AtMost(Source, u8),
    Bit(Source, u8),
    /// Two sources hold the same.
    Same(Source, Source),
    /// The byte address of the next instruction.
    Pc(u16),
    InInterrupt,
    Flag(u8),
    /// At least so many bytes are on the stack, whose top is there.
    Deep(u8, u16),
    /// An interrupt is enabled by its own bit.
    Enabled(Interrupt),
    /// The step before was the entry into the handler of an interrupt: nothing else leads to its vector.
    Entered(Interrupt),
}

impl Atom {
    pub(crate) fn holds(self, state: &State) -> bool {
        match self {
            Self::Equals(source, k) => source.value(state) == k,
            Self::AtMost(source, k) => source.value(state) <= k,
            Self::Bit(source, bit) => source.value(state) >> bit & 1 == 1,
            Self::Same(a, b) => a.value(state) == b.value(state),
            Self::Pc(address) => 2 * state.pc == address,
            Self::InInterrupt => state.handlers > 0,
            Self::Flag(flag) => state.flag(flag),
            Self::Deep(bytes, _) => state.depth >= bytes,
            Self::Enabled(interrupt) => state.enables(interrupt),
            Self::Entered(interrupt) => state.pc == interrupt.vector,
        }
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Equals(source, k) => write!(f, "{source} == {k}"),
            Self::AtMost(source, k) => write!(f, "{source} <= {k}"),
            Self::Bit(source, bit) => write!(f, "{source} & {} != 0", 1 << bit),
            Self::Same(a, b) => write!(f, "{a} == {b}"),
            Self::Pc(address) => write!(f, "pc == {address:#x}"),
            Self::InInterrupt => f.write_str("in_interrupt"),
            Self::Flag(flag) => write!(f, "SREG.{}", ["C", "Z", "N", "V", "S", "H", "T", "I"][usize::from(flag)]),
            Self::Deep(bytes, top) => write!(f, "sp <= {:#x}", top - u16::from(bytes)),
            Self::Enabled(interrupt) => write!(f, "enabled({})", interrupt.name),
            Self::Entered(interrupt) => write!(f, "interrupt({})", interrupt.name),
        }
    }
}

/// All runs or some run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runs {
    All,
    Some,
}

/// An operator of time on one formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Next,
    Eventually,
    Always,
}

/// An operator of time on two formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Until,
    Weak,
    Release,
}

/// An operator of logic on two formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logic {
    And,
    Or,
    Implies,
    Same,
}

impl Logic {
    pub(crate) fn of(self, a: bool, b: bool) -> bool {
        match self {
            Self::And => a && b,
            Self::Or => a || b,
            Self::Implies => !a || b,
            Self::Same => a == b,
        }
    }
}

/// A formula about states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Formula {
    Atom(Atom),
    Not(Box<Formula>),
    Logic(Logic, Box<Formula>, Box<Formula>),
    Unary(Runs, Unary, Box<Formula>),
    Binary(Runs, Binary, Box<Formula>, Box<Formula>),
    /// Linear time within brackets.
    Path(Runs, Box<Path>),
    /// The least or the greatest set X, whose number says how many fixed points are around it.
    Fixed {
        greatest: bool,
        variable: usize,
        body: Box<Formula>,
    },
    Variable(usize),
}

/// A formula about runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    State(Formula),
    Not(Box<Path>),
    Logic(Logic, Box<Path>, Box<Path>),
    Unary(Unary, Box<Path>),
    Binary(Binary, Box<Path>, Box<Path>),
}

/// A property of a program.
#[derive(Clone, Debug)]
pub(crate) enum Property {
    Formula(Formula),
    Ltl(Path),
    /// An entry of a property file that is short for a formula, with the text of the entry.
    Entry(String, Formula),
    Inherent,
    /// At most so many bytes on the stack.
    Stack(u8),
}

impl fmt::Display for Runs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::All { "A" } else { "E" })
    }
}

impl fmt::Display for Unary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Next => "X",
            Self::Eventually => "F",
            Self::Always => "G",
        })
    }
}

impl fmt::Display for Binary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Until => "U",
            Self::Weak => "W",
            Self::Release => "R",
        })
    }
}

impl fmt::Display for Logic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::And => "&&",
            Self::Or => "||",
            Self::Implies => "->",
            Self::Same => "<->",
        })
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Atom(atom) => write!(f, "{atom}"),
            Self::Not(p) => write!(f, "!({p})"),
            Self::Logic(logic, p, q) => write!(f, "({p}) {logic} ({q})"),
            Self::Unary(runs, unary, p) => write!(f, "{runs}{unary} ({p})"),
            Self::Binary(runs, binary, p, q) => write!(f, "{runs}[({p}) {binary} ({q})]"),
            Self::Path(runs, path) => write!(f, "{runs}[{path}]"),
            Self::Fixed { greatest, variable, body } => {
                write!(f, "{} X{variable}. ({body})", if *greatest { "nu" } else { "mu" })
            }
            Self::Variable(variable) => write!(f, "X{variable}"),
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::State(p) => write!(f, "({p})"),
            Self::Not(p) => write!(f, "!({p})"),
            Self::Logic(logic, p, q) => write!(f, "({p}) {logic} ({q})"),
            Self::Unary(unary, p) => write!(f, "{unary} ({p})"),
            Self::Binary(binary, p, q) => write!(f, "({p}) {binary} ({q})"),
        }
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Formula(formula) => write!(f, "{formula}"),
            Self::Ltl(path) => write!(f, "Ltl(check: \"{path}\")"),
            Self::Entry(text, _) => f.write_str(text),
            Self::Inherent => f.write_str("Inherent()"),
            Self::Stack(bytes) => write!(f, "Stack(max_bytes: {bytes})"),
        }
    }
}

impl Property {
    /// True if it has a fixed point of its own.
    pub(crate) fn has_fixed_points(&self) -> bool {
        matches!(self, Self::Formula(Formula::Fixed { .. }))
    }
}
