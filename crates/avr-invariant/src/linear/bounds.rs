//! Ranges of numbers that follow from equations.

use super::carry;
use crate::equalities::{Silence, Value};
use crate::equations::Variable;
use crate::intervals::{MOST_BYTES, Range, greatest, hull};
use crate::map::State;
use crate::memory::Store;
use crate::rows::Row;

/// A part of an equation: a coefficient times a number of some bytes, or the carry.
struct Part {
    bytes: Vec<Value>,
    coefficient: i64,
    /// The range of the number.
    range: (i64, i64),
}

impl State {
    /// Ranges of numbers that follow from the equations, alone and, if `in_pairs`, by twos. None if no concrete state fulfils them.
    pub(crate) fn ranges_of_equations(&self, in_pairs: bool, silence: Silence, store: &Store) -> Option<Vec<Range>> {
        let rows = self.rows(silence, store);
        let mut found = Vec::new();
        for row in &rows {
            self.bounds(row, (silence, store), &mut found)?;
        }
        if in_pairs {
            for (index, one) in rows.iter().enumerate() {
                for other in &rows[index + 1..] {
                    for row in combinations(one, other) {
                        self.bounds(&row, (silence, store), &mut found)?;
                    }
                }
            }
        }
        Some(found)
    }

    /// Adds the ranges that follow from an equation.
    fn bounds(&self, row: &Row<Variable>, (silence, store): (Silence, &Store), found: &mut Vec<Range>) -> Option<()> {
        let twos = row.terms().iter().map(|term| term.1.trailing_zeros()).min().unwrap_or(0);
        // SOUND: 2^t a = 2^t b modulo 2^32 says that a = b modulo 2^(32 - t).
        let modulus = 1_i64 << (32 - twos);
        if row.constant.trailing_zeros() < twos {
            return None;
        }
        let constant = i64::from(row.constant >> twos);
        let parts = self.parts(row, twos, (silence, store));
        for (index, part) in parts.iter().enumerate().filter(|(_, part)| part.coefficient.abs() == 1) {
            if part.bytes.is_empty() {
                continue;
            }
            // The number is `sign` times what is left of the constant.
            let sign = part.coefficient;
            let (mut low, mut high) = (sign * constant, sign * constant);
            for (_, other) in parts.iter().enumerate().filter(|(other, _)| *other != index) {
                let factor = -sign * other.coefficient;
                let ends = [factor * other.range.0, factor * other.range.1];
                low += ends[0].min(ends[1]);
                high += ends[0].max(ends[1]);
            }
            if high - low >= modulus {
                continue;
            }
            let (least, most) = part.range;
            // The multiples of the modulus with which some number is in its range.
            let first = (least - high).div_euclid(modulus) + i64::from((least - high).rem_euclid(modulus) != 0);
            let last = (most - low).div_euclid(modulus);
            if first > last {
                return None;
            }
            let narrowed = (least.max(low + first * modulus), most.min(high + last * modulus));
            if narrowed != part.range && narrowed.0 <= narrowed.1 {
                let when = Some((narrowed.0 as u32, narrowed.1 as u32));
                found.push(Range { bytes: part.bytes.as_slice().into(), when: [when; 2] });
            }
        }
        Some(())
    }

    /// The parts of an equation that is divided by a power of 2.
    fn parts(&self, row: &Row<Variable>, twos: u32, (silence, store): (Silence, &Store)) -> Vec<Part> {
        let bits = 32 - twos;
        let signed = |coefficient: u32| {
            let divided = i64::from(coefficient >> twos);
            if divided >= 1_i64 << (bits - 1) { divided - (1_i64 << bits) } else { divided }
        };
        let mut left: Vec<(Variable, i64)> = row.terms().iter().map(|term| (term.0, signed(term.1))).collect();
        left.sort_by_key(|term| (term.1.abs(), term.0));
        let mut parts = Vec::new();
        while !left.is_empty() {
            let (variable, coefficient) = left.remove(0);
            let Variable::Byte(first) = variable else {
                let known = carry(store.cell(&self.memory, super::STATUS)).map(i64::from);
                parts.push(Part {
                    bytes: Vec::new(),
                    coefficient,
                    range: known.map_or((0, 1), |carry| (carry, carry)),
                });
                continue;
            };
            let mut bytes = vec![first];
            let mut next = coefficient;
            while bytes.len() < MOST_BYTES {
                next *= 256;
                // Modulo a small number a coefficient may have the other sign.
                let same = |one: i64| (one - next) % (1_i64 << bits) == 0;
                let is_next = |term: &(Variable, i64)| matches!(term.0, Variable::Byte(_)) && same(term.1);
                let Some(index) = left.iter().position(is_next) else { break };
                if let (Variable::Byte(value), _) = left.remove(index) {
                    bytes.push(value);
                }
            }
            let when = self.range(&bytes, silence, store);
            let whole = hull(when[0], when[1]).unwrap_or((0, greatest(bytes.len())));
            parts.push(Part { bytes, coefficient, range: (whole.0.into(), whole.1.into()) });
        }
        parts
    }
}

/// Consequences of two equations, each without a variable that both have.
fn combinations(one: &Row<Variable>, other: &Row<Variable>) -> Vec<Row<Variable>> {
    let shared = one.terms().iter().filter(|term| other.coefficient(term.0) != 0);
    shared
        .filter_map(|(variable, coefficient)| {
            let opposite = other.coefficient(*variable);
            let (twos, others) = (coefficient.trailing_zeros(), opposite.trailing_zeros());
            let more = twos.max(others);
            let (one, other) = (one.times(1 << (more - twos)), other.times(1 << (more - others)));
            let [a, b] = [one.coefficient(*variable), other.coefficient(*variable)].map(|both| both >> more);
            let row = one.less(a.wrapping_mul(crate::rows::inverse(b)), &other);
            (!row.terms().is_empty()).then_some(row)
        })
        .collect()
}
