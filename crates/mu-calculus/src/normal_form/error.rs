//! Formulas without a normal form.

use thiserror::Error;

use crate::formula::{MAX_DEPTH, Variable};

/// The reason why a formula has no normal form.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TranslateError {
    /// A variable without a fixed point around it.
    #[error("the variable `{}` is not bound; put `mu {0}.` or `nu {0}.` in front", variable.name)]
    UnboundVariable {
        /// The variable.
        variable: Variable,
    },
    /// A variable under an odd number of negations: no fixed point need exist.
    #[error("the variable `{}` stands under an odd number of negations; negate it twice or not at all", variable.name)]
    NegatedVariable {
        /// The variable.
        variable: Variable,
    },
    /// Nested too deeply.
    #[error("the formula is nested more than {MAX_DEPTH} levels deep; split it into several properties")]
    TooDeep,
    /// An operator of linear time outside of `A[…]` and `E[…]`.
    #[error("`{operator}` speaks of a path; put the formula into A[…] or E[…]")]
    PathFormula {
        /// The operator as it is written.
        operator: String,
    },
    /// A fixed-point variable inside of a path formula, whose automaton has no place for it.
    #[error("the variable `{}` stands in a path formula; only single operators such as A[p U X] may contain one", variable.name)]
    PathVariable {
        /// The variable.
        variable: Variable,
    },
    /// An operator of the past over one of the future.
    #[error("`{operator}` stands below an operator of the past; only operators of the past may")]
    FutureInPast {
        /// The operator of the future as it is written.
        operator: String,
    },
    /// An automaton beyond the limits.
    #[error("the automaton of `A[…]`, `E[…]` or `Ltl` grows too large; split it into several properties")]
    TooLarge,
}
