//! The parser of formulas: `lexer` cuts the text into tokens, `grammar` builds the tree.
//!
//! The grammar is one table of infix operators over both formulas and expressions, parsed by precedence climbing
//! (Pratt). So `(a + b) == 1` and `(p && q)` need no backtracking, and every error names what was expected at the very
//! token that is wrong. In a path formula (`Ltl`, or inside of `A[…]` and `E[…]`) `X F G` and `Y O H` are prefix
//! operators; `U W R S` take operands that are closed, because tools differ in how tightly these bind.
//!
//! From loosest to tightest: `mu X.`, `nu X.`, `nu { X. p, Y. q } in r` and `if a then p else q` (to the end), `<->`, `->` (right-associative), `||`, `&&`, the prefix
//! operators of formulas (`!`, `[]`, `<>`, `AG` and the like), comparisons and `in`, then `|`, `^`, `&`, `<< >>`, `+ -`,
//! and the prefix operators of expressions (`-`, `~`).

mod error;
mod grammar;
mod lexer;

pub use error::{ParseError, ParseErrorKind};
pub use grammar::{parse_formula, parse_linear, parse_path, parse_predicate};
