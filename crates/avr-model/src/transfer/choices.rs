//! Enumerating what one step can come to: all answers to all open questions.
//!
//! A step is run again and again, each time with the next sequence of answers (its *script*), until every sequence was
//! tried. The scripts form a tree; what the environment chooses (inputs, interrupts) and what the stored state merely
//! leaves open (cases) become different kinds of branching: see [`super::hyper_edges`].

use super::interrupt_timing::InterruptTiming;
use crate::faults::predicates::{Fault, is_on};
use crate::predicates::SharedPredicates;
use crate::state::cell_variable::{cell_of, variable_of};
use avr_analysis::refinable_values::RefinableValues;
use avr_isa::{DataAddress, FlashWordAddress, Instruction, Register};
use avr_machine::{
    Comparison, Copies, DataSpace, Demand, DeterminedBy, Environment, Event, Happening, Input, Machine, MachineState,
    Possibilities, Question, Stop, cut_cell, cut_what_is_read,
};
use avr_predicates::Written;
use std::collections::BTreeSet;
use std::ops::Range;
use three_valued::{BitDomain, ByteDomain, Truth, TvByte};
use tvar::LocationPrecision;

/// The most cells that a store may select where wild stores are not followed: they would make too much unknown, and
/// their causes can be cut into cases.
const MOST_TARGETS: usize = 16;

/// The player that answers a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chooser {
    /// The environment, in this step: each answer is a hyper-edge of its own.
    Environment,
    /// The hardware, in this step, in a way that the model leaves open. Its answers are like the environment's, unless
    /// a verdict is wanted that does not rest on it; then like the state's. So are timed actions of the environment:
    /// states do not count cycles.
    Hardware,
    /// The stored state, which is in one of the cases: they are members of one hyper-edge.
    State,
}

/// A question and the answer that a script gives to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) chooser: Chooser,
    pub(crate) index: u32,
    pub(crate) count: u32,
}

impl Answer {
    /// One of the cases in which the stored state is.
    pub(crate) fn case(index: usize, count: usize) -> Self {
        Self { chooser: Chooser::State, index: index as u32, count: count as u32 }
    }
}

/// The making of unknown values and the notes about questions: the part that depends on the value domain.
pub(crate) trait Unknowns<V: ByteDomain> {
    /// A byte whose bits in `mask` are unknown inputs; the others are 0.
    fn unknown(&mut self, source: Input, mask: u8) -> V;
    /// Takes note of a question about the stored state.
    fn asked(&mut self, _about: Question<'_, V>) {}
    /// Takes note of what is not known well enough to go on.
    fn stuck(&mut self, _about: &[&V]) {}
    /// Takes note of what the machine does.
    fn event(&mut self, _event: Event<'_, V>) {}
    /// Takes note of a jump, and says what the youngest frame is to carry: [`Environment::moves`].
    fn moves(&mut self, _from: FlashWordAddress, _to: FlashWordAddress) -> u64 {
        0
    }
}

/// The number from which on variables stand for the initial content of cells.
pub(crate) const INITIAL_INPUTS: u32 = 0x1_0000;

/// The number of an input for precision.
pub(crate) fn input_variable(source: Input) -> tvar::Variable {
    match source {
        Input::Register(address) => variable_of(address),
        Input::Initial(address) => tvar::Variable(INITIAL_INPUTS + u32::from(address.0)),
    }
}

/// An environment that answers from a script and extends it with first answers.
pub(crate) struct Scripted<'a, U> {
    pub(crate) script: Vec<Answer>,
    position: usize,
    /// The answers that cut stored values in this step.
    cut: Range<usize>,
    precision: &'a LocationPrecision,
    /// The timing of interrupts that are possible.
    pub(crate) timing: InterruptTiming,
    /// True if interrupts were possible in this step and were skipped.
    pub(crate) skipped: bool,
    /// True if it matters what the environment can do where interrupts are deferred.
    branches: bool,
    /// True if an interrupt that was certain in this step was deferred.
    pub(crate) defers_certain: bool,
    /// The values that comparisons narrow.
    learning: Option<RefinableValues>,
    /// The predicates that states keep.
    predicates: Option<SharedPredicates>,
    /// The cells that the present step wrote, or may have written.
    written: Written,
    pub(crate) unknowns: U,
}

impl<'a, U> Scripted<'a, U> {
    /// An environment at the beginning of the first script.
    pub(crate) fn new(precision: &'a LocationPrecision, unknowns: U) -> Self {
        Self::replaying(precision, unknowns, Vec::new())
    }

    /// An environment that gives the answers of a script.
    pub(crate) fn replaying(precision: &'a LocationPrecision, unknowns: U, script: Vec<Answer>) -> Self {
        let timing = InterruptTiming::Now;
        let (position, cut, skipped, defers_certain, learning) = (0, 0..0, false, false, None);
        let (branches, predicates, written) = (false, None, Written::default());
        Self {
            script,
            position,
            cut,
            precision,
            timing,
            skipped,
            branches,
            defers_certain,
            learning,
            predicates,
            written,
            unknowns,
        }
    }

    /// The same where states keep predicates.
    pub(crate) fn relating(self, predicates: Option<SharedPredicates>) -> Self {
        Self { predicates, ..self }
    }

    /// The same where comparisons narrow something.
    pub(crate) fn learning(mut self, learning: Option<RefinableValues>) -> Self {
        self.learning = learning;
        self
    }

    /// The same where it matters what the environment can do.
    pub(crate) fn telling_branches(self, branches: bool) -> Self {
        Self { branches, ..self }
    }

    /// Begins a run of the step.
    pub(crate) fn begin(&mut self) {
        (self.position, self.skipped, self.defers_certain, self.cut) = (0, false, false, 0..0);
        self.written.clear();
    }

    /// Turns to another script.
    pub(crate) fn replay(&mut self, script: Vec<Answer>) {
        self.script = script;
        self.position = 0;
        self.written.clear();
    }

    /// True if the last questions of the step were those that cut stored values.
    pub(crate) fn is_only_cut(&self) -> bool {
        !self.cut.is_empty() && self.cut.end == self.script.len()
    }

    /// True if the script has the first of the cases into which stored values are cut.
    pub(crate) fn is_at_first_case(&self) -> bool {
        self.script[self.cut.clone()].iter().all(|answer| answer.index == 0)
    }

    /// The number of answers that came before those that cut stored values.
    pub(crate) fn uncut(&self) -> usize {
        self.cut.start
    }

    /// The answers before those that cut stored values.
    pub(crate) fn script_before_cut(&self) -> Vec<Answer> {
        self.script[..self.cut.start].to_vec()
    }

    /// The script with the last answers to the questions that cut stored values.
    pub(crate) fn last_case(&self) -> Vec<Answer> {
        let last = |answer: &Answer| Answer { index: answer.count - 1, ..*answer };
        self.script[..self.cut.start].iter().copied().chain(self.script[self.cut.clone()].iter().map(last)).collect()
    }

    /// Turns to the next script; none when all were tried.
    pub(crate) fn advance(&mut self) -> bool {
        self.position = 0;
        while let Some(last) = self.script.last_mut() {
            last.index += 1;
            if last.index < last.count {
                return true;
            }
            self.script.pop();
        }
        false
    }

    /// Takes back the answers from the first one about the stored state on; whether there is one.
    pub(crate) fn retract_cases(&mut self) -> bool {
        let first = self.script.iter().position(|answer| answer.chooser == Chooser::State);
        self.script.truncate(first.unwrap_or(self.script.len()));
        first.is_some()
    }

    /// True if a question was answered that has another answer.
    pub(crate) fn has_answered(&self) -> bool {
        self.script.iter().any(|answer| answer.count > 1)
    }

    /// An unknown input of which the chooser picks one of some parts, and after that the bits that are split.
    ///
    /// SOUND: the parts hold every value of the input, and each of them holds one, so each is a choice. So it is with
    /// the bits: one that only one value of the part is left for is not asked for.
    fn in_parts<V: ByteDomain>(&mut self, open: V, parts: &[TvByte], split: u8, chooser: Chooser) -> (usize, V) {
        let number = self.answer(chooser, parts.len());
        let byte = open.assume(parts[number]).expect("the part is one of the input");
        let split_bits = (0..8).filter(|bit| split >> bit & 1 == 1);
        let value = split_bits.fold(byte, |byte, bit| {
            let halves = [0, 1].map(|value| byte.assume(TvByte::new(value << bit, 1 << bit)));
            match halves {
                [Some(clear), Some(set)] => {
                    if self.answer(chooser, 2) == 1 {
                        set
                    } else {
                        clear
                    }
                }
                [Some(only), None] | [None, Some(only)] => only,
                [None, None] => byte,
            }
        });
        (number, value)
    }

    /// The bits of an input that are split.
    fn split(&self, source: Input, mask: u8, demand: Demand) -> u8 {
        match (demand, source) {
            (Demand::Decides, _) if !self.precision.stops_at_cases => mask,
            // The initial content has thousands of bits: even the naive strategy splits only those it is told to.
            (Demand::Stored, Input::Register(_)) if self.precision.splits_all => mask,
            (Demand::Stored | Demand::Decides, _) => mask & self.precision.inputs.get(input_variable(source)) as u8,
        }
    }

    fn answer(&mut self, chooser: Chooser, count: usize) -> usize {
        if self.position == self.script.len() {
            self.script.push(Answer { chooser, index: 0, count: count as u32 });
        }
        let answer = self.script[self.position];
        self.position += 1;
        answer.index as usize
    }
}

impl<V: ByteDomain, U: Unknowns<V>> Environment<V> for Scripted<'_, U> {
    fn most_targets(&self) -> usize {
        if self.precision.coarse { MOST_TARGETS } else { usize::MAX }
    }

    fn replaces_bodies(&self) -> bool {
        true
    }

    fn learns(&self, register: Register, next: FlashWordAddress) -> bool {
        self.learning.as_ref().is_some_and(|learning| learning.has_register(register, next))
    }

    fn learns_equalities(&self) -> bool {
        !self.precision.coarse
    }

    fn learns_inequalities(&self) -> bool {
        !self.precision.coarse && self.learning.as_ref().is_some_and(RefinableValues::is_everything)
    }

    fn learns_cell(&self, address: DataAddress) -> bool {
        self.learning.as_ref().is_some_and(|learning| learning.has_cell(address))
    }

    fn relates(&self) -> bool {
        self.predicates.is_some()
    }

    fn relation(&mut self, comparison: &Comparison) -> u8 {
        self.predicates.as_ref().map_or(0, |predicates| predicates.get().number(comparison))
    }

    fn outcome(&mut self, number: u8, flag: u8, data: &DataSpace<V>) -> Truth {
        let Some(predicates) = self.predicates.clone() else { return Truth::Unknown };
        let (outcome, looked_at) = predicates.get().outcome(number, flag, data);
        for cell in looked_at {
            if outcome == Truth::Unknown {
                self.unknowns.asked(Question::Bytes(&[data.get(cell)]));
            }
        }
        outcome
    }

    fn decided(&mut self, number: u8, flag: u8, value: bool, copies: Copies, data: &mut DataSpace<V>) {
        if let Some(predicates) = &self.predicates {
            predicates.get().all().decided(number, flag, value, copies, data);
        }
    }

    fn difference(&mut self, comparison: &Comparison) -> u8 {
        self.predicates.as_ref().map_or(0, |predicates| predicates.get().difference(comparison))
    }

    fn subtracts(&mut self, number: u8, first: Register, data: &DataSpace<V>) {
        if let Some(predicates) = &self.predicates {
            let mut predicates = predicates.get();
            predicates.relate_difference(number, first);
            self.written.subtracts(number, first, predicates.all(), data);
        }
    }

    fn stepped(&mut self, executed: Option<Instruction>, copies: Copies, data: &mut DataSpace<V>) {
        let Some(mut predicates) = self.predicates.as_ref().map(SharedPredicates::get) else { return };
        predicates.count();
        let before = self.written.end(executed, copies, predicates.all(), data);
        predicates.add_preconditions(&before);
    }

    fn has_ranges(&self) -> bool {
        self.learning.is_some()
    }

    fn input(&mut self, source: Input, mask: u8, demand: Demand, by: DeterminedBy) -> V {
        let split = self.split(source, mask, demand);
        let chooser = chooser(by);
        // Values are distinguished by ranges, which states without facts do not have. Of a single bit they would be its values.
        if self.learning.is_some() && split != mask && mask.count_ones() > 1 {
            let mut values = self.precision.values_of(input_variable(source)).peekable();
            let parts = if values.peek().is_some() { parts(mask, values) } else { Vec::new() };
            if parts.len() > 1 {
                let open = self.unknowns.unknown(source, mask);
                return self.in_parts(open, &parts, split, chooser).1;
            }
        }
        let open = self.unknowns.unknown(source, mask & !split);
        let split_bits = (0..8).filter(|bit| split >> bit & 1 == 1);
        split_bits.fold(open, |byte, bit| {
            let value = self.answer(chooser, 2) == 1;
            byte.with_bit(bit, &V::Bit::constant(value))
        })
    }

    /// SOUND: the player chooses one of the parts, and of each some value is possible: each is a choice.
    fn input_among(
        &mut self,
        source: Input,
        mask: u8,
        parts: &[TvByte],
        demand: Demand,
        by: DeterminedBy,
    ) -> Result<(usize, V), Stop> {
        let split = self.split(source, mask, demand);
        let open = self.unknowns.unknown(source, mask);
        Ok(self.in_parts(open, parts, split, chooser(by)))
    }

    fn asks_at_once(&self, register: DataAddress) -> bool {
        self.learning.is_some() && self.precision.values_of(variable_of(register)).next().is_some()
    }

    fn choose(&mut self, count: usize) -> usize {
        self.answer(Chooser::Environment, count)
    }

    /// Asks in the order of priority whether each thing happens, so that whoever determines the first has the first
    /// say. Going on is what is left over; where it is impossible, the last of the others is certain.
    fn choose_among(&mut self, possibilities: &Possibilities) -> usize {
        let all: Vec<Happening> = possibilities.iter().collect();
        let first = usize::from(all[0] == Happening::Continue);
        let asked = if first == 1 { all.len() } else { all.len() - 1 };
        for (index, happening) in all.iter().enumerate().take(asked).skip(first) {
            let chooser = match happening {
                // SOUND: no player decides whether an interrupt was deferred to this step that could not come just now.
                // As a case it is a member of a hyper-edge that goes on.
                Happening::Interrupt(_) if self.timing == InterruptTiming::Pending => Chooser::State,
                _ => chooser(possibilities.determined_by(*happening)),
            };
            if self.answer(chooser, 2) == 1 {
                return index;
            }
        }
        if first == 1 { 0 } else { asked }
    }

    fn before_instruction(&mut self, machine: &Machine, state: &mut MachineState<V>) {
        let (precision, first) = (self.precision, self.position);
        cut(machine, state, precision, self);
        self.cut = first..self.position;
    }

    fn postpones(&mut self) -> bool {
        self.skipped = matches!(self.timing, InterruptTiming::Deferred | InterruptTiming::Granted);
        self.skipped
    }

    fn defers(&mut self) -> bool {
        // The abilities of the environment are shown by small state spaces, and in large ones by runs.
        self.defers_certain = self.timing == InterruptTiming::Deferred && self.precision.coarse && !self.branches;
        self.skipped |= self.defers_certain;
        self.defers_certain
    }

    fn catches_up(&self) -> bool {
        self.timing == InterruptTiming::Pending
    }

    fn leaves_catching_up(&mut self, possible: &Possibilities) -> bool {
        let is_determined = |happening| possible.determined_by(happening) != DeterminedBy::Environment;
        let who = if possible.iter().any(is_determined) { Chooser::Hardware } else { Chooser::Environment };
        self.branches && self.answer(who, 2) == 0
    }

    fn case(&mut self, count: usize, about: Question<'_, V>) -> usize {
        self.unknowns.asked(about);
        let is_apart = self.predicates.is_some() && is_on(Fault::SplitsApart);
        self.answer(if is_apart { Chooser::Environment } else { Chooser::State }, count)
    }

    fn stuck(&mut self, about: &[&V]) {
        self.unknowns.stuck(about);
    }

    fn event(&mut self, event: Event<'_, V>) {
        if self.predicates.is_some() {
            self.written.note(&event);
        }
        self.unknowns.event(event);
    }

    fn moves(&mut self, from: FlashWordAddress, to: FlashWordAddress) -> u64 {
        self.unknowns.moves(from, to)
    }
}

fn chooser(who: DeterminedBy) -> Chooser {
    match who {
        DeterminedBy::Environment => Chooser::Environment,
        DeterminedBy::EnvironmentInTime | DeterminedBy::Hardware | DeterminedBy::Undefined => Chooser::Hardware,
    }
}

/// The parts of an input with some bits, which is 0 beyond them: each of the values, as far as they are in these bits, and
/// what is between them.
fn parts(mask: u8, values: impl Iterator<Item = u64>) -> Vec<TvByte> {
    let input = TvByte::new(0, !mask);
    let values: BTreeSet<u8> = values.map(|value| value as u8 & mask).collect();
    let mut parts = Vec::new();
    let mut least = Some(0);
    for value in values {
        let below = value.checked_sub(1).zip(least).filter(|(most, least)| least <= most);
        parts.extend(below.and_then(|(most, least)| input.within(least, most)));
        parts.push(TvByte::constant(value));
        least = value.checked_add(1);
    }
    parts.extend(least.and_then(|least| input.within(least, 0xff)));
    parts
}

/// The answers of a script that are choices, not cases.
pub(crate) fn choices(script: &[Answer]) -> Vec<Answer> {
    script.iter().copied().filter(|answer| answer.chooser != Chooser::State).collect()
}

/// True if a script has an answer of the hardware.
pub(crate) fn uses_abstracted_freedom(script: &[Answer]) -> bool {
    script.iter().any(|answer| answer.chooser == Chooser::Hardware)
}

/// Cuts the bits that the precision names and, where it splits everything, all that the instruction reads.
pub(crate) fn cut<V: ByteDomain, U: Unknowns<V>>(
    machine: &Machine,
    state: &mut MachineState<V>,
    precision: &LocationPrecision,
    environment: &mut Scripted<'_, U>,
) {
    for (variable, mask) in precision.cases.iter() {
        cut_cell(state, cell_of(variable), mask as u8, environment);
    }
    if precision.splits_all {
        cut_what_is_read(machine, state, environment);
    }
}

/// True if the precision names bits of a state that are unknown.
pub(crate) fn is_cut<V: ByteDomain>(state: &MachineState<V>, precision: &LocationPrecision) -> bool {
    precision
        .cases
        .iter()
        .any(|(variable, mask)| state.data.get(cell_of(variable)).bits().unknown_mask() & mask as u8 != 0)
}

/// The cells that a step may have cut into cases, if it read these.
pub(crate) fn cells_cut(
    precision: &LocationPrecision,
    read: impl Iterator<Item = DataAddress>,
) -> impl Iterator<Item = DataAddress> {
    let named = precision.cases.iter().map(|(variable, _)| cell_of(variable));
    named.chain(read.filter(|_| precision.splits_all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_an_input_hold_each_of_its_values_once() {
        for mask in [0xff, 0x7f, 0x3c, 0x81, 0x01] {
            for values in [&[][..], &[0], &[255], &[17], &[0, 1, 2], &[16, 60, 61, 128], &[0, 64, 127, 129, 255]] {
                let parts = parts(mask, values.iter().copied());
                assert!(parts.iter().all(|part| part.count() > 0));
                for value in 0..=0xff_u8 {
                    let holding: Vec<_> = parts.iter().filter(|part| part.contains(value)).collect();
                    assert_eq!(holding.len(), usize::from(value & !mask == 0), "{value} of {mask:#x} by {values:?}");
                    let alone = holding.iter().all(|part| part.known() == Some(value));
                    let is_named = values.iter().any(|named| *named as u8 & mask == value);
                    assert!(!is_named || alone, "{value} of {mask:#x} by {values:?}");
                }
            }
        }
    }
}
