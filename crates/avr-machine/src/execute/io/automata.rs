//! Automata of the environment: the moves that they make when a register is accessed.

use super::merge;
use crate::automaton::{AUTOMATON_CHOICE, Answer, Signal, parts};
use crate::cut::cut_cell;
use crate::device::{Condition, Freedom};
use crate::environment::{Demand, DeterminedBy, Environment, Input, Question};
use crate::execute::Step;
use crate::hazard::{HazardKind, Stop};
use avr_isa::DataAddress;
use three_valued::fault::{Fault, is_on};
use three_valued::{ByteDomain, TvByte};

impl<V: ByteDomain, E: Environment<V>> Step<'_, V, E> {
    /// Begins a read of a register, and gives the bits of it that automata drive.
    pub(super) fn begin_driving(&mut self, address: DataAddress) -> u8 {
        let automata = &self.machine.options().automata;
        let driven =
            automata.iter().filter_map(|automaton| automaton.drives.get(&address)).fold(0, |all, bits| all | bits);
        self.driving = (driven != 0).then_some((address, 0));
        driven
    }

    /// The bits among these that are left to automata in the read under way: those that they drive, while the environment determines
    /// them.
    ///
    /// SOUND: what is stored decides who determines them. It is known from here on, or cut into cases, so that automata move in the same
    /// concrete states as in the abstract one.
    pub(super) fn leave_to_automata(&mut self, address: DataAddress, mask: u8, freedom: &Freedom) -> u8 {
        let Some((_, left)) = self.driving.filter(|(driven, _)| *driven == address) else { return 0 };
        let automata = &self.machine.options().automata;
        let driven =
            automata.iter().filter_map(|automaton| automaton.drives.get(&address)).fold(0, |all, bits| all | bits);
        let mask = mask & driven;
        if mask == 0 || !self.is_from_outside(address, freedom) {
            return 0;
        }
        self.driving = Some((address, left | mask));
        mask
    }

    /// True if the environment determines input bits of a register now.
    fn is_from_outside(&mut self, address: DataAddress, freedom: &Freedom) -> bool {
        if self.settling && self.machine.is_pin(address) {
            return false;
        }
        let condition = match freedom {
            Freedom::Real => return true,
            Freedom::RealWhile(condition) | Freedom::RealOrUndefined(condition) => condition,
            Freedom::RealEvery(..) | Freedom::Abstracted | Freedom::AbstractedWhile(_) | Freedom::Undefined => {
                return false;
            }
        };
        let mut cells = Vec::new();
        condition.for_each_register(&mut |address, mask| cells.push((address, mask)));
        if !is_on(Fault::AutomatonUnsplit) {
            cells.into_iter().for_each(|(address, mask)| cut_cell(self.state, address, mask, self.environment));
        }
        self.evaluate(condition, Condition::evaluate).is_true()
    }

    /// Gives the value of a register, of which all bits but those that were left to automata are read, with these.
    pub(super) fn drive(&mut self, address: DataAddress, value: V, demand: Demand) -> Result<V, Stop> {
        let Some((_, left)) = self.driving.take().filter(|(_, left)| *left != 0) else { return Ok(value) };
        let machine = self.machine;
        let mut value = value;
        for (index, automaton) in machine.options().automata.iter().enumerate() {
            let mask = left & automaton.drives.get(&address).copied().unwrap_or(0);
            if mask == 0 {
                continue;
            }
            let answers = automaton.driven(self.state.control.automata[index], address, mask);
            if answers.is_empty() && !is_on(Fault::DeadIsFree) {
                return Err(Stop::hazard(HazardKind::DeadEnvironment, Some(u32::from(address.0))));
            }
            let (parts, numbers) = parts(&answers, mask);
            if parts.is_empty() {
                continue;
            }
            let source = Input::Register(address);
            let (part, bits) = self.environment.input_among(source, mask, &parts, demand, DeterminedBy::Environment)?;
            value = merge(&value, &bits, mask);
            self.move_automaton(index, &answers[numbers[part]])?;
        }
        Ok(value)
    }

    /// Lets automata hear an access.
    pub(super) fn hear(&mut self, signal: Signal, value: &V) -> Result<(), Stop> {
        let machine = self.machine;
        for (index, automaton) in machine.options().automata.iter().enumerate().filter(|(_, one)| one.hears(signal)) {
            let mut answers = automaton.heard(self.state.control.automata[index], signal);
            let bits = value.bits();
            // SOUND: every value that it may be is in one of the answers that stay.
            answers.retain(|answer| answer.values.iter().any(|byte| bits.contains(byte)));
            let number = match answers.len() {
                0 => return Err(Stop::Infeasible),
                1 => 0,
                _ if is_on(Fault::AutomatonFirstCase) => 0,
                count => self.environment.case(count, Question::Bytes(&[value])),
            };
            self.move_automaton(index, &answers[number])?;
        }
        Ok(())
    }

    /// Lets an automaton move to one of the states of an answer.
    fn move_automaton(&mut self, index: usize, answer: &Answer) -> Result<(), Stop> {
        if is_on(Fault::AutomatonStays) {
            return Ok(());
        }
        let number = match answer.to.len() {
            1 => 0,
            _ if is_on(Fault::AutomatonNoChoice) => 0,
            count => {
                let parts: Vec<TvByte> = (0..u8::MAX).take(count).map(TvByte::constant).collect();
                let source = Input::Register(AUTOMATON_CHOICE);
                // No more bits than it takes: whoever tries all answers tries few.
                let mask = u8::MAX >> (parts.len() as u8 - 1).leading_zeros();
                let by = DeterminedBy::Environment;
                self.environment.input_among(source, mask, &parts, Demand::Decides, by)?.0
            }
        };
        self.state.control.automata[index] = answer.to[number];
        Ok(())
    }
}
