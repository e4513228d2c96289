//! The world around the machine while a step is checked: it gives the answers of a script.

use avr_certificate::Advice;
use avr_image::FlashWordAddress;
use avr_isa::{Instruction, Register};
use avr_machine::{
    Comparison, Copies, DataSpace, Demand, DeterminedBy, Environment, Event, Happening, Input, Possibilities, Question,
    Stop,
};
use avr_predicates::{Predicates, Written};
use avr_properties::EventRecorder;
use three_valued::{ByteDomain, Truth, TvByte};

use crate::outcomes::{Script, Who};

/// Supplies inputs and settles questions.
///
/// SOUND: an input is unknown, or each of its values is an answer; every question has all its answers. So the outcomes of a
/// step cover what can happen, whatever the advice is.
pub(crate) struct World<'a> {
    pub(crate) script: &'a mut Script,
    pub(crate) advice: &'a Advice,
    pub(crate) events: EventRecorder<'a>,
    /// The predicates that states have.
    pub(crate) predicates: Option<&'a Predicates>,
    /// The cells that the step wrote.
    pub(crate) written: Written,
}

impl World<'_> {
    /// The bits of an input that are distinguished.
    fn split(&self, source: Input, mask: u8, demand: Demand) -> u8 {
        let (bits, address, all) = match source {
            Input::Register(address) => (&self.advice.inputs, address, self.advice.all),
            Input::Initial(address) => (&self.advice.initial, address, false),
        };
        if all || demand == Demand::Decides {
            return mask;
        }
        let advised = bits.iter().filter(|(cell, _)| *cell == address).fold(0, |all, (_, bits)| all | bits);
        mask & advised
    }
}

fn who(determined: DeterminedBy) -> Who {
    match determined {
        DeterminedBy::Environment => Who::Environment,
        DeterminedBy::EnvironmentInTime | DeterminedBy::Hardware | DeterminedBy::Undefined => Who::Hardware,
    }
}

impl Environment<TvByte> for World<'_> {
    fn input(&mut self, source: Input, mask: u8, demand: Demand, by: DeterminedBy) -> TvByte {
        let split = self.split(source, mask, demand);
        let who = who(by);
        let unknown = TvByte::new(0, !(mask & !split));
        (0..8).filter(|bit| split >> bit & 1 == 1).fold(unknown, |byte, bit| {
            let value = self.script.answer(who, 2) == 1;
            byte.with_bit(bit, &Truth::from(value))
        })
    }

    /// One of the parts is chosen, and of it the bits that are distinguished.
    fn input_among(
        &mut self,
        source: Input,
        mask: u8,
        parts: &[TvByte],
        demand: Demand,
        by: DeterminedBy,
    ) -> Result<(usize, TvByte), Stop> {
        let who = who(by);
        let number = self.script.answer(who, parts.len());
        let part = parts[number];
        let split = self.split(source, mask, demand) & part.unknown_mask();
        let value = (0..8).filter(|bit| split >> bit & 1 == 1).fold(part, |byte, bit| {
            let value = self.script.answer(who, 2) == 1;
            byte.with_bit(bit, &Truth::from(value))
        });
        Ok((number, value))
    }

    fn choose(&mut self, count: usize) -> usize {
        self.script.answer(Who::Environment, count)
    }

    /// Asks for one thing after the other whether it happens; going on is what is left, and where that is impossible, the last
    /// of the others.
    fn choose_among(&mut self, possibilities: &Possibilities) -> usize {
        let all: Vec<Happening> = possibilities.iter().collect();
        let goes_on = all.iter().position(|happening| *happening == Happening::Continue);
        let rest = goes_on.unwrap_or(all.len() - 1);
        for (index, happening) in all.iter().enumerate().filter(|(index, _)| *index != rest) {
            if self.script.answer(who(possibilities.determined_by(*happening)), 2) == 1 {
                return index;
            }
        }
        rest
    }

    fn case(&mut self, count: usize, _: Question<'_, TvByte>) -> usize {
        self.script.answer(Who::State, count)
    }

    fn relates(&self) -> bool {
        self.predicates.is_some()
    }

    fn relation(&mut self, comparison: &Comparison) -> u8 {
        self.predicates.map_or(0, |predicates| predicates.number_of(comparison))
    }

    fn outcome(&mut self, number: u8, flag: u8, data: &DataSpace<TvByte>) -> Truth {
        self.predicates.map_or(Truth::Unknown, |predicates| predicates.outcome(number, flag, data).0.truth)
    }

    fn decided(&mut self, number: u8, flag: u8, value: bool, copies: Copies, data: &mut DataSpace<TvByte>) {
        if let Some(predicates) = self.predicates {
            predicates.decided(number, flag, value, copies, data);
        }
    }

    fn difference(&mut self, comparison: &Comparison) -> u8 {
        self.predicates.map_or(0, |predicates| predicates.difference_of(comparison))
    }

    fn subtracts(&mut self, number: u8, first: Register, data: &DataSpace<TvByte>) {
        if let Some(predicates) = self.predicates {
            self.written.subtracts(number, first, predicates, data);
        }
    }

    fn stepped(&mut self, executed: Option<Instruction>, copies: Copies, data: &mut DataSpace<TvByte>) {
        if let Some(predicates) = self.predicates {
            let _ = self.written.end(executed, copies, predicates, data);
        }
    }

    fn event(&mut self, event: Event<'_, TvByte>) {
        self.written.note(&event);
        self.events.note(event);
    }

    fn moves(&mut self, from: FlashWordAddress, to: FlashWordAddress) -> u64 {
        self.events.moves(from, to)
    }
}
