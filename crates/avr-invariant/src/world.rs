//! The world around the machine while a step is taken with all answers to all questions.

use avr_isa::{Addressing, ControlFlow, FlashWordAddress, Instruction, MemoryAccess, Pointer, Register};
use avr_machine::{
    Copies, DataSpace, Demand, DeterminedBy, Environment, Event, Fetched, Happening, Input, Machine, MachineState,
    Possibilities, Question, flag,
};
use three_valued::{ByteDomain, NumberedByte, Truth, TvByte};

/// The most questions that one step may ask.
const MAX_QUESTIONS: usize = 1 << 10;

/// The most targets of an indirect jump, and cells of a store, that are distinguished.
const MOST_TARGETS: usize = 256;

/// The most values of a pointer that are distinguished where it leads to a table of addresses.
const MOST_IN_TABLE: usize = 64;

/// The instructions behind a load in which what was loaded may be jumped to.
const UNTIL_JUMP: u32 = 8;

/// Answers to the questions of a step, from the first to the last sequence.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    /// Each answer, and how many there are to its question.
    answers: Vec<(u32, u32)>,
    position: usize,
    is_too_long: bool,
}

impl Script {
    fn answer(&mut self, count: usize) -> usize {
        if self.position == self.answers.len() {
            if self.position == MAX_QUESTIONS {
                self.is_too_long = true;
                return 0;
            }
            self.answers.push((0, count as u32));
        }
        let (answer, _) = self.answers[self.position];
        self.position += 1;
        answer as usize
    }

    /// True if a step asked more than is answered.
    pub(crate) fn is_too_long(&self) -> bool {
        self.is_too_long
    }

    /// Turns to the next sequence; whether there is one.
    pub(crate) fn advance(&mut self) -> bool {
        self.position = 0;
        while let Some((answer, count)) = self.answers.last_mut() {
            *answer += 1;
            if answer < count {
                return true;
            }
            self.answers.pop();
        }
        false
    }
}

/// Supplies inputs and settles questions.
///
/// SOUND: an input is unknown, or each of its values is an answer; every question has all its answers. So the outcomes of a
/// step cover what can happen.
pub(crate) struct World<'a> {
    pub(crate) script: &'a mut Script,
    /// The interrupt whose handler was entered.
    pub(crate) entered: Option<u8>,
    /// True if a reset was chosen.
    pub(crate) is_reset: bool,
    /// The instruction that was executed; none if the step was another one.
    pub(crate) executed: Option<Instruction>,
}

impl<'a> World<'a> {
    pub(crate) fn new(script: &'a mut Script) -> Self {
        Self { script, entered: None, is_reset: false, executed: None }
    }

    /// Cuts a register where a threshold divides its values.
    fn cut_at(&mut self, state: &mut MachineState<NumberedByte>, register: Register, threshold: u8) {
        let address = register.address();
        let content = *state.data.get(address);
        let (Some(most), byte) = (threshold.checked_sub(1), content.byte) else { return };
        // SOUND: each value is below the threshold or not.
        if let (Some(below), Some(rest)) = (byte.within(0, most), byte.within(threshold, u8::MAX)) {
            let chosen = self.script.answer(2);
            state.data.set(address, NumberedByte { byte: [below, rest][chosen], ..content });
        }
    }

    /// Tells the values of a pointer apart, if there are a few.
    fn enumerate(&mut self, state: &mut MachineState<NumberedByte>, pointer: Pointer) {
        let halves = [pointer.high(), pointer.low()].map(Register::address);
        let count: usize = halves.iter().map(|half| state.data.get(*half).byte.count()).product();
        if count > MOST_IN_TABLE {
            return;
        }
        for half in halves {
            let content = *state.data.get(half);
            let count = content.byte.count();
            // SOUND: each value is one of these.
            let chosen = if count > 1 { self.script.answer(count) } else { 0 };
            if let Some(value) = content.byte.concretisations().nth(chosen) {
                state.data.set(half, NumberedByte { byte: TvByte::constant(value), ..content });
            }
        }
    }
}

/// The pointer of a load from a table of addresses: one of the next instructions jumps to what Z is then.
fn table_pointer(machine: &Machine, pc: FlashWordAddress, instruction: Instruction) -> Option<Pointer> {
    let pointer = match instruction.memory_access() {
        MemoryAccess::Load(Addressing::Indirect { pointer, .. }) => pointer,
        MemoryAccess::LoadFlash => Pointer::Z,
        _ => return None,
    };
    let mut next = pc;
    for _ in 0..UNTIL_JUMP {
        let Fetched::Instruction { words, .. } = machine.program.fetch(next) else { return None };
        match machine.program.control_flow(next)? {
            ControlFlow::IndirectJump | ControlFlow::IndirectCall { .. } => return Some(pointer),
            ControlFlow::Next { .. } => {}
            _ => return None,
        }
        next = next.wrapping_add(words.into());
    }
    None
}

/// The content of a register, if it is known.
fn known(state: &MachineState<NumberedByte>, register: Register) -> Option<u8> {
    state.data.get(register.address()).known()
}

/// True if a branch that tells which of two signed numbers is less follows a comparison: at an address, or behind the comparison of the upper
/// bytes that is there.
fn is_signed(machine: &Machine, address: FlashWordAddress) -> bool {
    let is_of_upper = matches!(
        machine.program.fetch(address),
        Fetched::Instruction { instruction: Instruction::Cpc { .. } | Instruction::Sbci { .. }, .. }
    );
    reads(machine, address.wrapping_add(is_of_upper.into()), flag::S)
}

/// True if the instruction at an address reads a flag.
fn reads(machine: &Machine, address: FlashWordAddress, flag: u8) -> bool {
    match machine.program.fetch(address) {
        Fetched::Instruction { instruction, .. } => instruction.flags_read().bits() >> flag & 1 == 1,
        Fetched::Reserved | Fetched::Outside => false,
    }
}

impl Environment<NumberedByte> for World<'_> {
    fn input(&mut self, _: Input, mask: u8, demand: Demand, _: DeterminedBy) -> NumberedByte {
        let split = if demand == Demand::Decides { mask } else { 0 };
        let unknown = TvByte::new(0, !(mask & !split));
        let byte = (0..8).filter(|bit| split >> bit & 1 == 1).fold(unknown, |byte, bit| {
            let value = self.script.answer(2) == 1;
            byte.with_bit(bit, &Truth::from(value))
        });
        NumberedByte::new(byte)
    }

    fn choose(&mut self, count: usize) -> usize {
        self.script.answer(count)
    }

    fn choose_among(&mut self, possibilities: &Possibilities) -> usize {
        let chosen = self.script.answer(possibilities.count());
        self.is_reset = matches!(possibilities.iter().nth(chosen), Some(Happening::Reset(_)));
        chosen
    }

    fn case(&mut self, count: usize, _: Question<'_, NumberedByte>) -> usize {
        self.script.answer(count)
    }

    /// Cuts the operand of a sum or difference at the value from which on it carries, where the next instruction reads the carry, that
    /// of a count where it comes to 0, if the next instruction reads Z, and that of a comparison of signed numbers where it is as large as the
    /// other one: of numbers that are not negative S is the carry. Tells the entries of tables of addresses apart.
    fn before_instruction(&mut self, machine: &Machine, state: &mut MachineState<NumberedByte>) {
        let pc = state.control.pc;
        let Fetched::Instruction { instruction, words, .. } = machine.program.fetch(pc) else { return };
        let next = pc.wrapping_add(words.into());
        if let Some(pointer) = table_pointer(machine, pc, instruction) {
            self.enumerate(state, pointer);
        }
        match instruction {
            Instruction::Dec { rd } if reads(machine, next, flag::Z) => {
                self.cut_at(state, rd, 1);
                self.cut_at(state, rd, 2);
            }
            Instruction::Inc { rd } if reads(machine, next, flag::Z) => self.cut_at(state, rd, u8::MAX),
            _ => {}
        }
        match instruction {
            Instruction::Cpi { rd, k } if is_signed(machine, next) => self.cut_at(state, rd, k),
            Instruction::Cp { rd, rr } if is_signed(machine, next) => match (known(state, rd), known(state, rr)) {
                (None, Some(k)) => self.cut_at(state, rd, k),
                (Some(k), None) => self.cut_at(state, rr, k.wrapping_add(1)),
                _ => {}
            },
            _ => {}
        }
        if !reads(machine, next, flag::C) {
            return;
        }
        match instruction {
            Instruction::Subi { rd, k } => self.cut_at(state, rd, k),
            Instruction::Add { rd, rr } if rd == rr => self.cut_at(state, rd, 0x80),
            Instruction::Add { rd, rr } => match (known(state, rd), known(state, rr)) {
                (None, Some(addend)) => self.cut_at(state, rd, addend.wrapping_neg()),
                (Some(addend), None) => self.cut_at(state, rr, addend.wrapping_neg()),
                _ => {}
            },
            _ => {}
        }
    }

    fn settles_late(&self) -> bool {
        true
    }

    fn learns(&self, _: Register, _: FlashWordAddress) -> bool {
        true
    }

    fn learns_equalities(&self) -> bool {
        true
    }

    fn has_ranges(&self) -> bool {
        true
    }

    fn most_targets(&self) -> usize {
        MOST_TARGETS
    }

    fn stepped(&mut self, executed: Option<Instruction>, _: Copies, _: &mut DataSpace<NumberedByte>) {
        self.executed = executed;
    }

    fn event(&mut self, event: Event<'_, NumberedByte>) {
        if let Event::Interrupt(number) = event {
            self.entered = Some(number);
        }
    }
}
