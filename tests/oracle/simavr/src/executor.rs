//! Our end: the executor with concrete values, asked the same questions as libsimavr.

use crate::opcodes::PINS;
use crate::wire::{
    Block, CORE, DATA_CELLS, Effect, End, FLASH_WORDS, Flash, MOST_CHANGES, Outcome, STACK_LOW, STATUS, Second, Start,
};
use avr_isa::{DataAddress, FeatureSet, FlashWordAddress};
use avr_machine::device::{Device, UnknownDevice};
use avr_machine::{
    Control, DataSpace, Demand, DeterminedBy, Environment, HazardKind, Input, Machine, MachineState, Options,
    PAGE_CELLS, Program, Question, Stop,
};

/// The world of a step: hardware leaves every register as it is, as libsimavr does without its callbacks.
#[derive(Debug)]
struct World {
    memory: Box<[u8; DATA_CELLS]>,
    /// The values that PINB, PINC and PIND read, unless as they are in memory.
    pins: Option<[u8; 3]>,
    /// The machine asked what only an abstract one may ask.
    asked: bool,
}

impl Environment<u8> for World {
    fn input(&mut self, source: Input, mask: u8, _demand: Demand, _: DeterminedBy) -> u8 {
        let (Input::Initial(address) | Input::Register(address)) = source;
        let pin = PINS.iter().position(|pin| *pin == address.0);
        let level = pin.and_then(|pin| self.pins.map(|pins| pins[pin]));
        level.or_else(|| self.memory.get(address.index()).copied()).unwrap_or_default() & mask
    }

    fn choose(&mut self, _count: usize) -> usize {
        self.asked = true;
        0
    }

    fn case(&mut self, _count: usize, _about: Question<'_, u8>) -> usize {
        self.asked = true;
        0
    }
}

/// The executor with a program and a memory to start from.
#[derive(Debug)]
pub struct Executor {
    machine: Machine,
    state: MachineState<u8>,
    world: World,
    /// A flag that is given wrongly in one of 65,536 pairs of operands, to see that the test notices.
    falsified: Option<u8>,
}

impl Executor {
    /// An ATmega328P on which every hazard that has a behaviour is allowed.
    ///
    /// # Errors
    /// If there is no such device.
    pub fn new(falsified: Option<u8>) -> Result<Self, UnknownDevice> {
        let device = Device::named("atmega328p")?;
        let options = Options { allowed: HazardKind::ALL.iter().copied().collect(), ..Options::default() };
        let machine = Machine::new(device, program(&[0; FLASH_WORDS]), options);
        let state = MachineState::new(machine.cells(), 0);
        Ok(Self {
            machine,
            state,
            world: World { memory: Box::new([0; DATA_CELLS]), pins: None, asked: false },
            falsified,
        })
    }

    /// The device.
    pub fn device(&self) -> &'static Device {
        self.machine.device
    }

    /// Sets the flash.
    pub fn load(&mut self, flash: &Flash) {
        self.machine.program = program(flash);
    }

    /// Sets the data memory that steps start from.
    pub fn set_memory(&mut self, memory: &[u8; DATA_CELLS]) {
        *self.world.memory = *memory;
        restore(&mut self.state.data, memory, 0..DATA_CELLS / PAGE_CELLS);
    }

    /// Sets what PINB, PINC and PIND read; without, they read as they are in memory. What a read stores there is then
    /// no longer told as a change.
    pub fn set_pins(&mut self, pins: Option<[u8; 3]>) {
        self.world.pins = pins;
    }

    /// One instruction from the present state.
    #[inline]
    fn advance(&mut self) -> Result<u32, String> {
        let machine = &self.machine;
        let operands = (*self.state.data.get(DataAddress(16)), *self.state.data.get(DataAddress(17)));
        let cycles = machine.step(&mut self.state, &mut self.world).map_err(explain)?;
        if self.world.asked {
            self.world.asked = false;
            return Err("asks for a case although everything is known".to_owned());
        }
        match self.falsified {
            Some(flag) if operands == (0x9c, 0x64) => {
                let status = self.state.data.get(DataAddress::of_index(STATUS)) ^ 1 << flag;
                self.state.data.set(DataAddress::of_index(STATUS), status);
            }
            _ => {}
        }
        Ok(cycles)
    }

    fn begin(&mut self, start: &Start) {
        for (page, cells) in start.registers.chunks_exact(PAGE_CELLS).enumerate() {
            self.state.data.load_page(page, cells);
        }
        let [low, high] = start.stack_pointer.to_le_bytes();
        for (address, value) in CORE.into_iter().zip([low, high, start.status]) {
            self.state.data.set(DataAddress(address), value);
        }
        self.state.control = Control { pc: FlashWordAddress(start.pc.into()), ..Control::default() };
        self.state.calls.clear();
    }

    /// A single step.
    ///
    /// # Errors
    /// The reason why the executor made none.
    pub fn step(&mut self, start: &Start) -> Result<Outcome, String> {
        self.begin(start);
        let cycles = self.advance();
        let outcome = cycles.map(|cycles| self.outcome(cycles));
        self.go_back();
        outcome
    }

    /// Sets the memory back to what steps start from.
    fn go_back(&mut self) {
        let changed: Vec<usize> = self.state.data.changed_pages().collect();
        restore(&mut self.state.data, &self.world.memory, changed);
        self.state.data.clear_changed();
    }

    fn outcome(&self, cycles: u32) -> Outcome {
        let cells = &self.state.data.cells()[..DATA_CELLS];
        let mut outcome = Outcome {
            registers: [0; 32],
            status: cells[STATUS],
            stack_pointer: u16::from_le_bytes([cells[STACK_LOW], cells[STACK_LOW + 1]]),
            pc: self.state.control.pc.0,
            cycles,
            count: 0,
            changes: [(0, 0); MOST_CHANGES],
        };
        outcome.registers.copy_from_slice(&cells[..32]);
        let pages = cells.chunks(PAGE_CELLS).zip(self.world.memory.chunks(PAGE_CELLS)).enumerate().skip(2);
        for (page, (_, before)) in pages.filter(|(_, (after, before))| after != before) {
            self.note_changes(page, before, &mut outcome);
        }
        outcome
    }

    fn note_changes(&self, page: usize, before: &[u8], outcome: &mut Outcome) {
        for (index, (after, before)) in self.state.data.page(page).iter().zip(before).enumerate() {
            let address = (page * PAGE_CELLS + index) as u16;
            let hardware = self.world.pins.is_some() && PINS.contains(&address);
            if after == before || hardware || CORE.contains(&address) {
                continue;
            }
            if let Some(place) = outcome.changes.get_mut(usize::from(outcome.count)) {
                *place = (address, *after);
            }
            outcome.count += 1;
        }
    }

    /// A step of a block.
    ///
    /// # Errors
    /// The reason why the executor made none.
    #[inline]
    pub fn effect(&mut self, block: &Block, case: usize) -> Result<Effect, String> {
        let (a, b) = Block::operands(case);
        self.state.data.load_page(0, &self.world.memory[..PAGE_CELLS]);
        self.state.data.load_page(1, &self.world.memory[PAGE_CELLS..2 * PAGE_CELLS]);
        let (mut pc, mut status) = (u32::from(block.pc), block.status);
        self.state.data.set(DataAddress(block.first.into()), a);
        match block.second {
            Second::Register(register) => self.state.data.set(DataAddress(register.into()), b),
            Second::Place => pc += u32::from(b),
            Second::Status => status = b,
        }
        self.state.data.set(DataAddress::of_index(STATUS), status);
        self.state.control = Control { pc: FlashWordAddress(pc), ..Control::default() };
        let cycles = self.advance()?;
        let cell = |address: u8| *self.state.data.get(DataAddress(address.into()));
        let [low, high, ..] = self.state.control.pc.byte().0.to_le_bytes();
        let next = (block.first + 1) & 31;
        Ok(Effect([cell(block.first), cell(next), cell(0), cell(1), cell(STATUS as u8), cycles as u8, low, high]))
    }

    /// Runs until PC is `stop` or `most_steps` have been made.
    ///
    /// # Errors
    /// The reason why the executor made no further step, and the place.
    pub fn run(&mut self, start: &Start, stop: u16, most_steps: u32) -> Result<End, String> {
        self.go_back();
        self.begin(start);
        let (mut steps, mut cycles) = (0, 0u32);
        while steps < most_steps && self.state.control.pc.0 != u32::from(stop) {
            let pc = self.state.control.pc.0;
            cycles += self.advance().map_err(|why| format!("at word {pc:#06x} after {steps} steps: {why}"))?;
            steps += 1;
        }
        let data = self.state.data.cells()[..DATA_CELLS].to_vec();
        Ok(End { steps, cycles, pc: self.state.control.pc.0, data })
    }
}

/// The flash decoded for the ATmega328P.
fn program(flash: &Flash) -> Program {
    let features = FeatureSet::architecture("avr5").unwrap_or_default();
    Program::decode(FLASH_WORDS as u32, features, |address| flash.get(address as usize).copied())
}

fn restore(data: &mut DataSpace<u8>, memory: &[u8; DATA_CELLS], pages: impl IntoIterator<Item = usize>) {
    for page in pages {
        if let Some(cells) = memory.chunks_exact(PAGE_CELLS).nth(page) {
            data.load_page(page, cells);
        }
    }
}

fn explain(stop: Stop) -> String {
    match stop {
        Stop::Hazard(hazard) => format!("hazard: {hazard}"),
        Stop::Limit(limit) => format!("limit: {limit}"),
        Stop::Infeasible => "infeasible case".to_owned(),
    }
}
