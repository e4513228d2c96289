//! Candidates for strategies. Nothing of them need be trusted.

use avr_isa::DataAddress;
use avr_machine::Input;
use avr_symbolic::{ConcreteRun, Interrupts, Rounds, Strategy};
use std::collections::{BTreeMap, BTreeSet};
use three_valued::TvByte;

/// The most registers whose inputs are held in all ways that are tried.
const MOST_REGISTERS: usize = 3;

/// Strategies in which inputs are free.
///
/// After an interrupt the code that was interrupted may still be told the old value, so that a second round is tried as well.
pub(crate) fn free(interrupts: &[u8]) -> Vec<Rounds> {
    let mut all = vec![Rounds::one(Strategy::entering(&[]))];
    for interrupt in interrupts {
        let strategy = Strategy::entering(&[*interrupt]);
        all.extend([1, 2].map(|count| Rounds { strategy: strategy.clone(), count }));
    }
    all
}

/// The strategy in which registers have the inputs of a run.
pub(crate) fn repeating(free: &Rounds, run: &ConcreteRun) -> Rounds {
    let mut sequences: BTreeMap<DataAddress, Vec<u8>> = BTreeMap::new();
    for step in &run.steps {
        let mut inputs: BTreeMap<DataAddress, u8> = BTreeMap::new();
        for (source, _, value) in &step.inputs {
            if let Input::Register(register) = source {
                *inputs.entry(*register).or_default() |= value;
            }
        }
        for (register, value) in inputs {
            sequences.entry(register).or_default().push(value);
        }
    }
    Rounds { strategy: Strategy { sequences, ..free.strategy.clone() }, count: free.count }
}

/// The strategy with the inputs of registers held: all 0, all 1, and those of one register 1.
pub(crate) fn holding(free: &Rounds, registers: &BTreeSet<DataAddress>) -> Vec<Rounds> {
    let registers: Vec<DataAddress> = registers.iter().copied().take(MOST_REGISTERS).collect();
    let levels = |is_high: &dyn Fn(usize) -> bool| -> BTreeMap<DataAddress, TvByte> {
        let level = |index| TvByte::constant(if is_high(index) { 0xff } else { 0 });
        registers.iter().enumerate().map(|(index, register)| (*register, level(index))).collect()
    };
    let mut all: Vec<BTreeMap<DataAddress, TvByte>> = Vec::new();
    if !registers.is_empty() {
        all.extend([levels(&|_| false), levels(&|_| true)]);
    }
    if registers.len() > 1 {
        all.extend((0..registers.len()).map(|high| levels(&|index| index == high)));
    }
    let with = |held| {
        let Strategy { interrupts, .. } = &free.strategy;
        let interrupts: Interrupts = interrupts.clone();
        Rounds { strategy: Strategy { held, interrupts, ..Strategy::anything() }, count: free.count }
    };
    all.into_iter().map(with).collect()
}
