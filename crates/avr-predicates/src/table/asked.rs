//! Questions about what several terms of an analysis tell together.

use super::{MOST_TERMS, Predicates};
use crate::order::{PredicateOrder, told};
use crate::term::Term;
use crate::together::{Known, Of, Question};
use crate::told_by::Told;
use avr_isa::DataAddress;
use avr_machine::Copies;
use three_valued::TvByte;

impl Predicates {
    /// The truth of a predicate of a term in a state of which `byte` gives the cells, as far as several terms tell it together.
    pub(super) fn told_together(&self, index: usize, predicate: u8, byte: &dyn Fn(DataAddress) -> TvByte) -> Told {
        let answer = self.question(index, Copies::default(), byte).map(|question| self.answers.ask(question));
        let mut told = PredicateOrder::ALL.iter().zip(answer.into_iter().flatten());
        told.find(|((_, bit), _)| *bit == predicate).map_or_else(Told::unknown, |(_, told)| told)
    }

    /// The predicates of a term in a state with such copies, of which some are known already.
    pub(crate) fn evaluated_together(
        &self,
        index: usize,
        known: TvByte,
        copies: Copies,
        byte: &dyn Fn(DataAddress) -> TvByte,
    ) -> TvByte {
        let Some(question) = self.question(index, copies, byte).filter(Question::is_connected) else { return known };
        let answer = self.answers.ask(question);
        PredicateOrder::ALL.iter().zip(answer).fold(known, |known, ((_, predicate), is_so)| {
            let more = is_so.truth.known().filter(|_| known.known_mask() & predicate == 0);
            more.map_or(known, |value| told(known, *predicate, value))
        })
    }

    fn question(&self, index: usize, copies: Copies, byte: &dyn Fn(DataAddress) -> TvByte) -> Option<Question> {
        let of_terms = self.terms.iter().enumerate().map(|(index, term)| (index, Of::Term(term)));
        let of_clauses = self.clauses.iter().enumerate().map(|(number, clause)| {
            let parts = clause.map(|part| (&self.terms[part.term], part.predicate, part.is_negated));
            (MOST_TERMS + number, Of::Either(parts))
        });
        let known = of_terms.chain(of_clauses).map(|(index, of)| Known { index, bits: byte(self.cell(index)), of });
        let known: Vec<Known<&Term>> = known.filter(|known| known.bits.known_mask() != 0).collect();
        Question::new(&self.terms[index], &known, copies, byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::{Fault, with_fault};
    use avr_machine::{Comparison, Number, Operand};
    use avr_testkit::Random;
    use three_valued::ByteDomain;

    const CELLS: [DataAddress; 2] = [DataAddress(0x100), DataAddress(0x101)];
    /// The first cell of predicates.
    const FIRST: DataAddress = DataAddress(0x900);

    fn random_number(random: &mut Random, bytes: usize) -> Number {
        let byte = |random: &mut Random| {
            let cell = random.pick(&CELLS);
            match random.below(5) {
                0 => Operand::Constant(random.pick(&[0, 1, 5, 0x7f, 0x80, 0xff])),
                1 => Operand::Cell(cell).masked(random.pick(&[0x0f, 0xf0, 0x81])),
                _ => Operand::Cell(cell),
            }
        };
        let bytes: Vec<Operand> = (0..bytes).map(|_| byte(random)).collect();
        let plus = if bytes.iter().all(|byte| byte.cell().is_none()) { 0 } else { random.pick(&[0, 0, 0, 3, 200]) };
        Number { bytes, plus }
    }

    /// Asks about random predicates, some of which are known of two bytes; how often something was told that has to be so, and what is wrong.
    fn compare_with_all_bytes(seeds: std::ops::Range<u64>) -> Result<usize, String> {
        let mut right = 0;
        for seed in seeds {
            let mut random = Random::new(seed);
            let mut predicates = Predicates::new(FIRST);
            for _ in 0..5 {
                let bytes = random.pick(&[1, 1, 1, 2]);
                let (left, right) = (random_number(&mut random, bytes), random_number(&mut random, bytes));
                if left.constant().is_none() {
                    predicates.number(&Comparison { left, right });
                }
            }
            if predicates.count() < 2 {
                continue;
            }
            let actual: [u8; 2] = [random.pick(&[0, 5, 0x7f, 0xfb]), random.byte()];
            let of = |values: [u8; 2]| move |cell: DataAddress| TvByte::constant(values[usize::from(cell == CELLS[1])]);
            // Copies relate the bytes as well where they are equal.
            let mut copies = Copies::default();
            if actual[0] == actual[1] {
                copies.copy(CELLS[0], CELLS[1]);
            }
            let known: Vec<TvByte> = (0..predicates.count())
                .map(|index| {
                    let mask = if index == 0 { 0 } else { random.byte() & random.byte() & 0x1f };
                    TvByte::new(predicates.term(index).evaluate(&of(actual)).value() & mask, mask)
                })
                .collect();
            let byte = |cell: DataAddress| match cell.0.checked_sub(FIRST.0) {
                Some(index) => known.get(usize::from(index)).copied().unwrap_or(TvByte::UNKNOWN),
                None => TvByte::UNKNOWN,
            };
            let told = predicates.evaluated_together(0, TvByte::UNKNOWN, copies, &byte);
            let mut all = None::<TvByte>;
            for values in
                (0..=u16::MAX).map(u16::to_le_bytes).filter(|values| actual[0] != actual[1] || values[0] == values[1])
            {
                let is_so = |index: usize| known[index].covers(predicates.term(index).evaluate(&of(values)));
                if (1..known.len()).all(is_so) {
                    let here = predicates.term(0).evaluate(&of(values));
                    if !told.covers(here) {
                        return Err(format!("seed {seed}: {values:?} has {here:?}, but {told:?} was told"));
                    }
                    all = Some(all.map_or(here, |all| all.join(&here)));
                }
            }
            right += usize::from(all.is_some_and(|all| all.known_mask() & 0x1f != 0 && told.known_mask() != 0));
        }
        Ok(right)
    }

    #[test]
    fn what_is_told_together_is_so_for_all_bytes() {
        let right =
            compare_with_all_bytes(0..avr_testkit::cases(150, 10_000)).unwrap_or_else(|problem| panic!("{problem}"));
        assert!(right > 25, "{right} were told");
    }

    #[test]
    fn what_is_told_wrongly_is_found() {
        for fault in [Fault::SignsMixed, Fault::OpenRefuted, Fault::MaskLost] {
            assert!(with_fault(fault, || compare_with_all_bytes(0..100)).is_err(), "{fault:?}");
        }
    }
}
