//! The world around the machine while a step is taken on symbolic bits.

use super::cannot::Cannot;
use super::path_condition::PathCondition;
use super::strategy::{Course, Freedom, Interrupts, Strategy};
use crate::domain::bit::SymbolicBit;
use crate::domain::byte::SymbolicByte;
use crate::domain::graph::Graph;
use crate::faults::{Fault, is_on};
use crate::query::{Answer, QueryLimits, satisfy};
use avr_isa::DataAddress;
use avr_machine::{Demand, DeterminedBy, Environment, Event, Happening, Input, Possibilities, Question};
use std::collections::BTreeSet;
use three_valued::{BitDomain, ByteDomain, TvByte};

/// An input that a step asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedInput<'g> {
    /// The source.
    pub source: Input,
    /// The bits that were asked for.
    pub mask: u8,
    /// Their value: variables, and constants where the strategy holds a level. The other bits are 0.
    pub value: SymbolicByte<'g>,
}

/// A question of a step, with the answer that is followed.
#[derive(Clone, Debug)]
enum Entry<'g> {
    Input(AskedInput<'g>, Freedom),
    /// A bit, its value, and whether the other one is to be followed as well.
    Case(SymbolicBit<'g>, bool, bool),
    Choice(Choice<'g>),
}

/// Events of which one happens.
#[derive(Clone, Debug)]
struct Choice<'g> {
    /// The place of each among the possibilities, the event, and the bits that are 1 if it happens.
    events: Vec<(usize, Happening, Vec<SymbolicBit<'g>>)>,
    chosen: usize,
    freedom: Freedom,
}

/// The questions of a step with one answer to each, from the first to the last combination.
#[derive(Clone, Debug, Default)]
pub(super) struct Script<'g> {
    entries: Vec<Entry<'g>>,
}

impl Script<'_> {
    /// Turns to the next combination; whether there is one.
    pub(super) fn advance(&mut self) -> bool {
        while let Some(last) = self.entries.last_mut() {
            match last {
                Entry::Case(_, value, has_other @ true) => {
                    (*value, *has_other) = (!*value, false);
                    return true;
                }
                Entry::Choice(choice) if choice.chosen + 1 < choice.events.len() => {
                    choice.chosen += 1;
                    return true;
                }
                _ => _ = self.entries.pop(),
            }
        }
        false
    }

    /// True if some question has another answer that was not followed yet.
    pub(super) fn has_next(&self) -> bool {
        self.entries.iter().any(|entry| match entry {
            Entry::Input(..) => false,
            Entry::Case(_, _, has_other) => *has_other,
            Entry::Choice(choice) => choice.chosen + 1 < choice.events.len(),
        })
    }
}

/// What a step asked and what was answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepRecord<'g> {
    /// The inputs, in their order.
    pub(crate) inputs: Vec<AskedInput<'g>>,
    /// The bits that are 1 on this outcome and not on the others.
    pub(crate) decisions: Vec<SymbolicBit<'g>>,
    /// The event, where there was a choice.
    pub(crate) happening: Option<Happening>,
    /// The events that were possible, where there was a choice.
    pub(crate) possible: Vec<Happening>,
}

/// Answers the questions of one step from a script, and extends it.
pub(super) struct World<'a, 'g> {
    graph: &'g Graph,
    strategy: &'a Strategy,
    feasibility: QueryLimits,
    script: &'a mut Script<'g>,
    position: usize,
    /// The part of the strategy that is over.
    course: Course,
    /// The registers with inputs in sequence that the step asked for.
    asked: BTreeSet<DataAddress>,
    /// The path condition with the answers so far.
    pub(super) condition: PathCondition<'g>,
    pub(super) record: StepRecord<'g>,
    pub(super) freedom: Freedom,
    pub(super) problem: Option<Cannot>,
}

impl<'a, 'g> World<'a, 'g> {
    pub(super) fn new(
        graph: &'g Graph,
        strategy: &'a Strategy,
        feasibility: QueryLimits,
        script: &'a mut Script<'g>,
        (condition, course): (PathCondition<'g>, Course),
    ) -> Self {
        let (record, freedom) = (StepRecord::default(), Freedom::default());
        Self {
            graph,
            strategy,
            feasibility,
            script,
            position: 0,
            course,
            asked: BTreeSet::new(),
            condition,
            record,
            freedom,
            problem: None,
        }
    }

    /// The part of the strategy that is over after the step.
    pub(super) fn course(&self) -> Course {
        let mut course = self.course.clone();
        for register in &self.asked {
            *course.asked.entry(*register).or_default() += 1;
        }
        course
    }

    /// The next entry, which is made if there is none.
    fn entry(&mut self, make: impl FnOnce(&mut Self) -> Entry<'g>) -> Entry<'g> {
        if self.position == self.script.entries.len() {
            let new = make(self);
            self.script.entries.push(new);
        }
        self.position += 1;
        self.script.entries[self.position - 1].clone()
    }

    fn decide(&mut self, bit: SymbolicBit<'g>) {
        self.condition.assume(bit);
        self.record.decisions.push(bit);
    }

    /// The answers to a question about a bit: the first one, and whether there is another. Those that no state on the path gives are none.
    fn answers(&self, bit: &SymbolicBit<'g>) -> (bool, bool) {
        if let Some(value) = self.condition.value(bit) {
            return (value, false);
        }
        let path = self.condition.bit();
        // SOUND: a query without an answer excludes nothing.
        let is_excluded = |bit: SymbolicBit<'g>| satisfy(&path.and(&bit), self.feasibility) == Answer::Unsatisfiable;
        if is_excluded(*bit) { (false, false) } else { (true, !is_excluded(bit.not())) }
    }

    fn problem(&mut self, problem: Cannot) -> usize {
        self.problem.get_or_insert(problem);
        0
    }

    /// The events that are followed, each with bits that are 1 if it happens: the first variable chooses the first one, the second the
    /// second one of the rest, and so on.
    fn choice(&self, possibilities: &Possibilities) -> Choice<'g> {
        let followed = self.strategy.followed(possibilities, self.course.entered);
        let last = followed.len().saturating_sub(1);
        let mut rest: Vec<SymbolicBit<'g>> = Vec::new();
        let mut events = Vec::new();
        for (number, (place, happening)) in followed.into_iter().enumerate() {
            let mut bits = rest.clone();
            if number < last {
                let chooses = self.graph.variable();
                bits.push(chooses);
                rest.push(chooses.not());
            }
            events.push((place, happening, bits));
        }
        let freedom = match self.strategy.interrupts {
            Interrupts::Any => Freedom::default(),
            Interrupts::Order(_) => Freedom::of_choice(possibilities),
        };
        Choice { events, chosen: 0, freedom }
    }
}

impl<'g> Environment<SymbolicByte<'g>> for World<'_, 'g> {
    fn is_exact(&self) -> bool {
        true
    }

    fn input(&mut self, source: Input, mask: u8, _: Demand, by: DeterminedBy) -> SymbolicByte<'g> {
        let entry = self.entry(|world| {
            let held = match source {
                // SOUND: nobody can choose what the data sheet leaves open.
                Input::Register(address) if by != DeterminedBy::Undefined || is_on(Fault::OpenChosen) => {
                    world.strategy.levels(address, &world.course)
                }
                _ => TvByte::UNKNOWN,
            };
            let fixed = SymbolicByte::constant(held.value() & mask);
            let value = world.graph.byte(mask & held.unknown_mask()).or(&fixed);
            let uses = mask & held.known_mask() != 0;
            let freedom = if uses { Freedom::of_input(by) } else { Freedom::default() };
            Entry::Input(AskedInput { source, mask, value }, freedom)
        });
        let Entry::Input(asked, freedom) = entry else {
            self.problem(Cannot::Contradiction);
            return SymbolicByte::constant(0);
        };
        self.freedom = self.freedom.union(freedom);
        self.record.inputs.push(asked);
        if let Input::Register(address) = source
            && self
                .strategy
                .sequences
                .get(&address)
                .is_some_and(|all| self.course.asked.get(&address).copied().unwrap_or(0) < all.len())
        {
            self.asked.insert(address);
        }
        asked.value
    }

    fn choose(&mut self, _: usize) -> usize {
        // The machine tells what it offers.
        self.problem(Cannot::Question)
    }

    fn choose_among(&mut self, possibilities: &Possibilities) -> usize {
        let Entry::Choice(choice) = self.entry(|world| Entry::Choice(world.choice(possibilities))) else {
            return self.problem(Cannot::Contradiction);
        };
        let Some((place, happening, bits)) = choice.events.into_iter().nth(choice.chosen) else {
            return self.problem(Cannot::Question);
        };
        self.freedom = self.freedom.union(choice.freedom);
        self.record.happening = Some(happening);
        self.record.possible = possibilities.iter().collect();
        bits.into_iter().for_each(|bit| self.decide(bit));
        place
    }

    fn event(&mut self, event: Event<'_, SymbolicByte<'g>>) {
        if let Event::Interrupt(number) = event {
            // Where nothing else is possible nothing is chosen.
            self.record.happening = Some(Happening::Interrupt(number));
            self.course.entered += usize::from(self.strategy.is_next(number, self.course.entered));
        }
    }

    fn case(&mut self, count: usize, about: Question<'_, SymbolicByte<'g>>) -> usize {
        let (Question::Bit(bit), 2) = (about, count) else { return self.problem(Cannot::Question) };
        if bit.is_open() {
            return self.problem(Cannot::Open);
        }
        let entry = self.entry(|world| {
            let (value, has_other) = world.answers(bit);
            Entry::Case(*bit, value, has_other)
        });
        let Entry::Case(asked, value, _) = entry else { return self.problem(Cannot::Contradiction) };
        if asked != *bit {
            return self.problem(Cannot::Contradiction);
        }
        self.decide(if value { *bit } else { bit.not() });
        usize::from(value)
    }
}
