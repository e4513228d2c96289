//! Linear time: path formulas as deterministic parity automata.
//!
//! A path formula over *letters* (formulas about states) becomes an automaton that reads a path letter by letter. The
//! game on a graph goes on in the state of the automaton after the path so far:
//!
//! 1. [`syntax`]: negations pushed to the literals, `F`, `G`, `W` as `U` and `R`; operators of the past become
//!    propositions of their own, whose truth a few bits determine that are carried along.
//! 2. [`buchi`]: a nondeterministic automaton of obligations with accepting transitions (Couvreur, 1999, made
//!    non-generalised by counting).
//! 3. [`determinise`]: the construction of Safra (1988) with the dynamic names of Piterman (2007), for automata with
//!    accepting transitions (Redziejowski, 2012), which gives priorities.
//! 4. [`parity`]: priorities made as few as possible (Carton & Maceiras, 1999), states with the empty or the full
//!    language replaced by constants, bisimilar states merged.
//!
//! The contribution of fairness needs no determinisation ([`rabin`]).
//!
//! The automata are deterministic because the opponent of the three-valued game chooses the value of every unknown
//! letter, as the state that is really there has it. With a nondeterministic automaton the proponent would have to
//! guess the future of the path before the opponent chooses it. So `(a && X b) || (!a && X c)` with `a` unknown would
//! be lost where it holds.

pub(crate) mod buchi;
mod determinise;
pub(crate) mod parity;
mod rabin;
pub(crate) mod syntax;
#[cfg(test)]
mod tests;

use buchi::Buchi;
use parity::Parity;
pub(crate) use syntax::TooLarge;
use syntax::{LinearFormula, LinearId};

/// The deterministic automaton of a formula: its own, or that of its negation with the roles exchanged, whichever is
/// smaller.
pub(crate) fn deterministic(formula: &mut LinearFormula, root: LinearId) -> Result<Parity, TooLarge> {
    let negation = formula.negation(root);
    if let Some(Ok(joined)) = rabin::with_pairs(formula, root) {
        return Ok(joined);
    }
    if let Some(Ok(joined)) = rabin::with_pairs(formula, negation) {
        return Ok(joined.complement());
    }
    let own = determinised(formula, root);
    let other = determinised(formula, negation).map(Parity::complement);
    match (own, other) {
        (Ok(own), Ok(other)) => Ok(if other.size() < own.size() { other } else { own }),
        (Ok(only), Err(TooLarge)) | (Err(TooLarge), Ok(only)) => Ok(only),
        (Err(TooLarge), Err(TooLarge)) => Err(TooLarge),
    }
}

fn determinised(formula: &LinearFormula, root: LinearId) -> Result<Parity, TooLarge> {
    let buchi = Buchi::new(formula, root)?;
    determinise::determinise(formula, &buchi)?.reduced()
}
