//! Moments without events in random words: formulas of which it is said that these are not told are as they were.

use avr_testkit::{Random, cases};
use mu_calculus::{AtomId, Formula, LinearOperator, LinearPairOperator};
use three_valued::Truth;

use crate::faults::{Fault, with_fault};
use crate::moments::are_untold;
use crate::word::Word;

/// The atoms: two of the content of states, and two events.
const ATOMS: u32 = 4;

fn is_event(atom: AtomId) -> bool {
    atom.0 >= 2
}

/// A random formula of this depth. Forms such as `G (e -> …)` are frequent.
fn formula(random: &mut Random, depth: usize) -> Formula<AtomId> {
    if depth == 0 || random.chance(15) {
        return Formula::Atom(AtomId(random.below(ATOMS)));
    }
    let p = Box::new(formula(random, depth - 1));
    let q = Box::new(formula(random, depth - 1));
    let event = Formula::Atom(AtomId(2 + random.below(2_u32)));
    let guarded = Box::new(Formula::And(vec![event.clone(), *p.clone()]));
    let implied = Box::new(Formula::Implies(Box::new(event), q.clone()));
    match random.below(12_u8) {
        0 => Formula::Not(p),
        1 => Formula::And(vec![*p, *q]),
        2 => Formula::Or(vec![*p, *q]),
        3 => Formula::Iff(p, q),
        4 => Formula::Linear(random.pick(&[LinearOperator::Eventually, LinearOperator::Once]), guarded),
        5 => Formula::Linear(random.pick(&[LinearOperator::Always, LinearOperator::Historically]), implied),
        6 => {
            use LinearPairOperator::{Since, Until, WeakUntil};
            Formula::LinearPair(random.pick(&[Until, WeakUntil, Since]), implied, guarded)
        }
        7 => Formula::LinearPair(LinearPairOperator::Release, guarded, implied),
        8 | 9 => {
            use LinearOperator::{Always, Eventually, Historically, Once};
            Formula::Linear(random.pick(&[Always, Eventually, Historically, Once]), p)
        }
        _ => {
            use LinearPairOperator::{Release, Since, Until, WeakUntil};
            Formula::LinearPair(random.pick(&[Until, WeakUntil, Since, Release]), p, q)
        }
    }
}

/// The value over letters, as bits of atoms, that go on at `back`.
fn value(formula: &Formula<AtomId>, letters: &[u8], back: usize) -> Truth {
    let letter = |position: usize, atom: AtomId| Truth::from(letters[position] >> atom.0 & 1 == 1);
    Word { letter: &letter, length: letters.len(), back }.value(formula)
}

/// Compares a random formula over a random word with the same over the word with more moments; true if it is said that these are not told.
fn compare(seed: u64) -> Result<bool, String> {
    let mut random = Random::new(seed);
    let formula = formula(&mut random, 3);
    if !are_untold(&formula, &is_event) {
        return Ok(false);
    }
    for _ in 0..20 {
        let mut letters: Vec<u8> = (0..1 + random.below(5_usize)).map(|_| random.byte() & 0x0f).collect();
        let mut back = random.below(letters.len());
        let before = value(&formula, &letters, back);
        for _ in 0..1 + random.below(3_usize) {
            let at = 1 + random.below(letters.len());
            letters.insert(at, letters[at - 1] & 0x03);
            back += usize::from(at <= back);
        }
        let after = value(&formula, &letters, back);
        if before != after {
            return Err(format!("seed {seed}: {before:?} and {after:?} of {formula:?} over {letters:?} from {back}"));
        }
    }
    Ok(true)
}

#[test]
fn moments_without_events_change_no_formula_that_does_not_tell_them() {
    let cases = cases(3_000, 1_000_000);
    let untold = (0..cases).filter(|seed| compare(*seed).unwrap_or_else(|wrong| panic!("{wrong}"))).count() as u64;
    assert!(5 * untold >= cases && untold < cases, "{untold} of {cases}");
}

#[test]
fn formulas_that_tell_moments_are_found() {
    assert!((0..300).any(|seed| with_fault(Fault::MomentsUntold, || compare(seed)).is_err()));
}
