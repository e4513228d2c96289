//! The modelled peripherals as a world of their own, for those who answer some of the questions themselves.

use std::sync::Arc;

use avr_isa::DataAddress;

use super::environment::Board;
use super::stimulus::Stimulus;
use crate::environment::{Demand, DeterminedBy, Environment, Event, Input, Possibilities, Question};
use crate::machine::Machine;
use crate::state::MachineState;

/// The peripherals of a device, cycle by cycle, when nothing comes from outside.
///
/// A step may be tried several times with different answers: [`Self::forget_step`] goes back to before it.
#[derive(Clone, Debug)]
pub struct Peripherals {
    board: Board,
    /// The board before the step under way, once that has changed it.
    before: Option<Box<Board>>,
    sram_start: DataAddress,
}

impl Peripherals {
    /// The peripherals of a machine before power-on.
    #[must_use]
    pub fn new(machine: &Machine) -> Self {
        let board = Board::new(machine, Arc::new(Stimulus::default()));
        Self { board, before: None, sram_start: machine.device.memory.sram_start }
    }

    /// Takes note of the state after power-on (0 cycles, 0 steps) or after a step, which is then final; `cycles` and
    /// `steps` count from the start.
    pub fn after_step(&mut self, state: &MachineState<u8>, cycles: u64, steps: u64) {
        self.before = None;
        self.board.after_step(state, cycles, steps);
    }

    /// Goes back to before the step under way.
    pub fn forget_step(&mut self) {
        if let Some(before) = self.before.take() {
            self.board = *before;
        }
    }

    /// True if bits of a register are determined by a peripheral that is modelled.
    #[must_use]
    pub fn knows(&self, register: DataAddress, mask: u8) -> bool {
        self.board.knows(register, mask)
    }

    /// True if the hardware surely has in some bits of a register what these peripherals have there: a counter that was written or started
    /// just now may be some clocks behind, and of what is not modelled nothing is known.
    #[must_use]
    pub fn is_exact(&self, register: DataAddress, mask: u8) -> bool {
        self.board.is_exact(register, mask)
    }

    fn changing(&mut self) -> &mut Board {
        if self.before.is_none() {
            self.before = Some(Box::new(self.board.clone()));
        }
        &mut self.board
    }
}

impl Environment<u8> for Peripherals {
    fn input(&mut self, source: Input, mask: u8, demand: Demand, by: DeterminedBy) -> u8 {
        self.changing().input(source, mask, demand, by)
    }

    fn choose(&mut self, _count: usize) -> usize {
        0
    }

    fn choose_among(&mut self, possibilities: &Possibilities) -> usize {
        self.changing().choose_among(possibilities)
    }

    fn case(&mut self, _count: usize, _about: Question<'_, u8>) -> usize {
        0
    }

    fn event(&mut self, event: Event<'_, u8>) {
        let concerns = match event {
            Event::Write(address, _) | Event::Read(address, _) => address < self.sram_start,
            Event::Interrupt(_) | Event::WatchdogRestart => true,
            Event::PerhapsRead(..) | Event::PerhapsWrite(..) | Event::Call(_) | Event::Return(..) => false,
        };
        if concerns {
            self.changing().event(event);
        }
    }
}
