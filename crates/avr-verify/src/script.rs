//! Enumerating what one step can come to: all answers to all open questions.
//!
//! A step is run again and again, each time with the next sequence of answers (its *script*), until every sequence was
//! tried. The scripts form a tree; what the environment chooses (inputs, interrupts) and what the stored state merely
//! leaves open (cases) become different kinds of branching: see [`hyper_edges`].

use crate::cut::cut;
use crate::liveness::Learning;
use crate::reduction::Turn;
use avr_isa::Register;
use avr_machine::{
    Demand, DeterminedBy, Environment, Event, Happening, Input, Machine, MachineState, Possibilities, Question,
};
use std::ops::Range;
use three_valued::fault::{Fault, is_on};
use three_valued::{BitDomain, ByteDomain};
use tvar::LocationPrecision;

/// The most cells that a store may select where wild stores are not followed: they would make too much unknown, and
/// what leads to them can be cut into cases.
const MOST_TARGETS: usize = 16;

/// Who answers a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chooser {
    /// The environment, in this step: each answer is a hyper-edge of its own.
    Environment,
    /// The hardware, in this step, in a way that the model leaves open: like the environment's, unless a verdict is
    /// wanted that does not rest on it; then like the state's. So is what the environment does when it is time: states do not count
    /// cycles.
    Hardware,
    /// Nobody: the stored state is in one of the cases; they are members of one hyper-edge.
    State,
}

/// A question and the answer that a script gives to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    chooser: Chooser,
    index: u32,
    count: u32,
}

impl Answer {
    /// One of the cases in which the stored state is.
    pub(crate) fn case(index: usize, count: usize) -> Self {
        Self { chooser: Chooser::State, index: index as u32, count: count as u32 }
    }
}

/// How unknown values are made and what is noted about questions: the part that depends on the value domain.
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
    fn moves(&mut self, _from: u32, _to: u32) -> u64 {
        0
    }
}

/// The number from which on variables stand for the initial content of cells.
pub(crate) const INITIAL_INPUTS: u32 = 0x1_0000;

/// The number of an input for precision.
pub(crate) fn input_variable(source: Input) -> tvar::Variable {
    match source {
        Input::Register(address) => tvar::Variable(u32::from(address)),
        Input::Initial(address) => tvar::Variable(INITIAL_INPUTS + u32::from(address)),
    }
}

/// An environment that answers from a script and extends it with first answers.
pub(crate) struct Scripted<'a, U> {
    pub(crate) script: Vec<Answer>,
    position: usize,
    /// The answers that cut stored values in this step.
    cut: Range<usize>,
    precision: &'a LocationPrecision,
    /// When interrupts come that are possible.
    pub(crate) turn: Turn,
    /// Whether interrupts were possible in this step and were left out.
    pub(crate) postponed: bool,
    /// Whether it matters what somebody can do where interrupts are left for later.
    branches: bool,
    /// Whether an interrupt that was certain in this step was left out.
    pub(crate) deferred: bool,
    /// What comparisons narrow.
    learning: Option<Learning>,
    pub(crate) unknowns: U,
}

impl<'a, U> Scripted<'a, U> {
    /// An environment at the beginning of the first script.
    pub(crate) fn new(precision: &'a LocationPrecision, unknowns: U) -> Self {
        Self::replaying(precision, unknowns, Vec::new())
    }

    /// An environment that gives the answers of a script.
    pub(crate) fn replaying(precision: &'a LocationPrecision, unknowns: U, script: Vec<Answer>) -> Self {
        let turn = Turn::Now;
        let (position, cut, postponed, deferred, learning) = (0, 0..0, false, false, None);
        Self { script, position, cut, precision, turn, postponed, branches: false, deferred, learning, unknowns }
    }

    /// The same where comparisons narrow something.
    pub(crate) fn learning(mut self, learning: Option<Learning>) -> Self {
        self.learning = learning;
        self
    }

    /// The same where it matters what somebody can do.
    pub(crate) fn telling_branches(self, branches: bool) -> Self {
        Self { branches, ..self }
    }

    /// Begins a run of the step.
    pub(crate) fn begin(&mut self) {
        (self.position, self.postponed, self.deferred, self.cut) = (0, false, false, 0..0);
    }

    /// Turns to another script.
    pub(crate) fn replay(&mut self, script: Vec<Answer>) {
        self.script = script;
        self.position = 0;
    }

    /// Whether the last questions of the step were those that cut stored values.
    pub(crate) fn is_only_cut(&self) -> bool {
        !self.cut.is_empty() && self.cut.end == self.script.len()
    }

    /// Whether the script has the first of the cases into which stored values are cut.
    pub(crate) fn is_at_first_case(&self) -> bool {
        self.script[self.cut.clone()].iter().all(|answer| answer.index == 0)
    }

    /// How many answers came before those that cut stored values.
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

    /// Whether a question was answered that has another answer.
    pub(crate) fn has_answered(&self) -> bool {
        self.script.iter().any(|answer| answer.count > 1)
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

    fn learns(&self, register: Register, next: u32) -> bool {
        self.learning.as_ref().is_some_and(|learning| learning.has_register(register, next))
    }

    fn learns_equalities(&self) -> bool {
        !self.precision.coarse
    }

    fn learns_cell(&self, address: u16) -> bool {
        self.learning.as_ref().is_some_and(|learning| learning.has_cell(address))
    }

    fn has_ranges(&self) -> bool {
        self.learning.is_some()
    }

    fn input(&mut self, source: Input, mask: u8, demand: Demand, by: DeterminedBy) -> V {
        let chosen = self.precision.inputs.get(input_variable(source)) as u8;
        let split = match (demand, source) {
            (Demand::Decides, _) if !self.precision.stops_at_cases => mask,
            // The initial content has thousands of bits: even the naive strategy splits only those it is told to.
            (Demand::Stored, Input::Register(_)) if self.precision.splits_all => mask,
            (Demand::Stored | Demand::Decides, _) => mask & chosen,
        };
        let chooser = chooser(by);
        let open = self.unknowns.unknown(source, mask & !split);
        let split_bits = (0..8).filter(|bit| split >> bit & 1 == 1);
        split_bits.fold(open, |byte, bit| {
            let value = self.answer(chooser, 2) == 1;
            byte.with_bit(bit, &V::Bit::constant(value))
        })
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
                // SOUND: whether an interrupt was left for now that could not come just now, nobody says. As a case it
                // is a member of a hyper-edge that goes on.
                Happening::Interrupt(_) if self.turn == Turn::CatchingUp => Chooser::State,
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
        self.postponed = matches!(self.turn, Turn::Later | Turn::Before);
        self.postponed
    }

    fn defers(&mut self) -> bool {
        // What somebody can do is shown by small state spaces, and in large ones by runs.
        self.deferred = self.turn == Turn::Later && self.precision.coarse && !self.branches;
        self.postponed |= self.deferred;
        self.deferred
    }

    fn catches_up(&self) -> bool {
        self.turn == Turn::CatchingUp
    }

    fn leaves_catching_up(&mut self, possible: &Possibilities) -> bool {
        let is_determined = |happening| possible.determined_by(happening) != DeterminedBy::Environment;
        let who = if possible.iter().any(is_determined) { Chooser::Hardware } else { Chooser::Environment };
        self.branches && self.answer(who, 2) == 0
    }

    fn case(&mut self, count: usize, about: Question<'_, V>) -> usize {
        self.unknowns.asked(about);
        self.answer(Chooser::State, count)
    }

    fn stuck(&mut self, about: &[&V]) {
        self.unknowns.stuck(about);
    }

    fn event(&mut self, event: Event<'_, V>) {
        self.unknowns.event(event);
    }

    fn moves(&mut self, from: u32, to: u32) -> u64 {
        self.unknowns.moves(from, to)
    }
}

fn chooser(who: DeterminedBy) -> Chooser {
    match who {
        DeterminedBy::Environment => Chooser::Environment,
        DeterminedBy::EnvironmentInTime | DeterminedBy::Hardware | DeterminedBy::Undefined => Chooser::Hardware,
    }
}

/// The answers of a script that are choices, not cases.
pub(crate) fn choices(script: &[Answer]) -> Vec<Answer> {
    script.iter().copied().filter(|answer| answer.chooser != Chooser::State).collect()
}

/// Whether a script has an answer of the hardware.
pub(crate) fn uses_abstracted_freedom(script: &[Answer]) -> bool {
    script.iter().any(|answer| answer.chooser == Chooser::Hardware)
}

/// Who is taken to make the choices that the model leaves to the hardware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum HardwareChoice {
    /// The environment: verdicts are about the model.
    #[default]
    Free,
    /// Nobody: verdicts that remain are about the hardware, whatever it does.
    Open,
}

/// The most hyper-edges that are made from independent choices below different cases.
pub(crate) const MAX_COMBINATIONS: usize = 256;
/// The same where states are to be few.
pub(crate) const FEW_COMBINATIONS: usize = 8;

/// The hyper-edges over the leaves of a script tree, each as indices into `scripts`, which are in the order of
/// enumeration.
///
/// An environment's choice gives the hyper-edges of all its answers. Below the cases of a stored unknown, a hyper-edge
/// takes one hyper-edge of every case: whichever case a concrete state is in, there is an input that leads into the set.
///
/// Of more than `most` combinations only some are made.
pub(crate) fn hyper_edges(scripts: &[Vec<Answer>], hardware: HardwareChoice, most: usize) -> Vec<Vec<usize>> {
    let all: Vec<usize> = (0..scripts.len()).collect();
    if scripts.is_empty() { Vec::new() } else { edges_below(scripts, &all, 0, hardware, most) }
}

fn edges_below(
    scripts: &[Vec<Answer>],
    leaves: &[usize],
    depth: usize,
    hardware: HardwareChoice,
    most: usize,
) -> Vec<Vec<usize>> {
    let Some(question) = scripts[leaves[0]].get(depth) else {
        return vec![leaves.to_vec()];
    };
    let alternatives = leaves.chunk_by(|a, b| scripts[*a][depth].index == scripts[*b][depth].index);
    let below = alternatives.map(|group| edges_below(scripts, group, depth + 1, hardware, most));
    match (question.chooser, hardware) {
        (Chooser::Environment, _) | (Chooser::Hardware, HardwareChoice::Free) => below.flatten().collect(),
        (Chooser::State, _) if is_on(Fault::CasesAreChoices) => below.flatten().collect(),
        (Chooser::State, _) | (Chooser::Hardware, HardwareChoice::Open) => {
            below.reduce(|all, one| combine(&all, &one, most)).unwrap_or_default()
        }
    }
}

/// Every union of a set of the first list and one of the second; when that is too many, a selection in which every set
/// still occurs.
fn combine(all: &[Vec<usize>], one: &[Vec<usize>], most: usize) -> Vec<Vec<usize>> {
    let union = |a: &Vec<usize>, b: &Vec<usize>| a.iter().chain(b).copied().collect();
    if all.len() * one.len() <= most {
        return all.iter().flat_map(|a| one.iter().map(move |b| union(a, b))).collect();
    }
    // SOUND: each of these is one of the unions above, and each leaf stays in some hyper-edge, so may is complete.
    let longest = all.len().max(one.len());
    (0..longest).map(|index| union(&all[index % all.len()], &one[index % one.len()])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(index: u32) -> Answer {
        Answer { chooser: Chooser::Environment, index, count: 2 }
    }

    fn case(index: u32) -> Answer {
        Answer { chooser: Chooser::State, index, count: 2 }
    }

    #[track_caller]
    fn check(scripts: &[&[Answer]], expected: &[&[usize]]) {
        let scripts: Vec<Vec<Answer>> = scripts.iter().map(|script| script.to_vec()).collect();
        assert_eq!(
            hyper_edges(&scripts, HardwareChoice::Free, MAX_COMBINATIONS),
            expected.iter().map(|edge| edge.to_vec()).collect::<Vec<_>>()
        );
    }

    #[test]
    fn inputs_make_hyper_edges_and_cases_make_members() {
        check(&[&[]], &[&[0]]);
        check(&[&[input(0)], &[input(1)]], &[&[0], &[1]]);
        check(&[&[case(0)], &[case(1)]], &[&[0, 1]]);
        check(&[&[input(0), case(0)], &[input(0), case(1)], &[input(1)]], &[&[0, 1], &[2]]);
        // Below each case the environment still chooses: all combinations.
        check(&[&[case(0), input(0)], &[case(0), input(1)], &[case(1)]], &[&[0, 2], &[1, 2]]);
        check(
            &[&[case(0), input(0)], &[case(0), input(1)], &[case(1), input(0)], &[case(1), input(1)]],
            &[&[0, 2], &[0, 3], &[1, 2], &[1, 3]],
        );
    }

    #[test]
    fn choices_of_the_hardware_are_free_or_open() {
        let hardware = |index| Answer { chooser: Chooser::Hardware, index, count: 2 };
        let scripts = vec![vec![hardware(0), input(0)], vec![hardware(0), input(1)], vec![hardware(1)]];
        assert_eq!(hyper_edges(&scripts, HardwareChoice::Free, MAX_COMBINATIONS), [vec![0], vec![1], vec![2]]);
        assert_eq!(hyper_edges(&scripts, HardwareChoice::Open, MAX_COMBINATIONS), [vec![0, 2], vec![1, 2]]);
    }

    #[test]
    fn too_many_combinations_are_thinned_without_losing_a_leaf() {
        let sets = |from: usize, count: usize| (from..from + count).map(|leaf| vec![leaf]).collect::<Vec<_>>();
        let (all, one) = (sets(0, 64), sets(64, 32));
        for most in [FEW_COMBINATIONS, MAX_COMBINATIONS] {
            let combined = combine(&all, &one, most);
            assert_eq!(combined.len(), 64);
            for leaf in 0..96 {
                assert!(combined.iter().any(|edge| edge.contains(&leaf)));
            }
            assert!(combined.iter().all(|edge| edge.len() == 2 && edge[0] < 64 && edge[1] >= 64));
        }
    }
}
