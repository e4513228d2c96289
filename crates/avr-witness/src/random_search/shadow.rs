//! The inputs that the values of a run were computed from: the same steps in the tracing domain.

use super::comparison::{Comparison, Effect, effect};
use crate::concretise::concrete_step::{Asked, Stepper};
use avr_isa::{DataAddress, EepromAddress, FlashWordAddress, Instruction, Register};
use avr_machine::{
    Demand, DeterminedBy, Environment, Event, Fetched, Happening, Input, Machine, MachineState, Possibilities, Question,
};
use rustc_hash::FxHashMap;
use three_valued::{ByteDomain, Sources, TracedByte};

/// The number of the first input that is no initial content; initial content has the number of its cell.
const FIRST_NUMBER: u32 = 1 << 16;
/// Inputs beyond so many are forgotten.
const MAX_ORIGINS: usize = 1 << 16;

/// The questions of a step that an input answered: those about one register, which may be asked for in several parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// The number of the step.
    pub(super) step: u64,
    /// The source of the input; the step does not matter where it is initial content.
    pub(super) source: Input,
    /// The answer.
    pub(super) value: u8,
}

/// The observations of a step.
#[derive(Debug, Default)]
pub(super) struct Observed {
    /// The comparisons that something was decided by.
    pub(super) comparisons: Vec<Comparison>,
    /// The cells that were written, with what was written.
    pub(super) written: Vec<(DataAddress, TracedByte)>,
}

/// A run in the tracing domain beside a concrete one.
#[derive(Debug)]
pub(super) struct Shadow {
    state: MachineState<TracedByte>,
    sources: FxHashMap<u32, Origin>,
    next: u32,
    /// The comparison that the next branch decides by.
    open: Option<Comparison>,
}

/// A shadow as it is kept beside a state: what differs from a state without sources.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    /// The cells that still have their initial content, one bit each.
    initial: Vec<u64>,
    others: Vec<(DataAddress, Sources)>,
    sources: FxHashMap<u32, Origin>,
    next: u32,
}

impl Shadow {
    /// The shadow of a run that begins.
    pub(super) fn new(stepper: &Stepper<'_>) -> Self {
        let cells = stepper.state().data.cells().len();
        let machine = stepper.machine;
        let sram = machine.sram();
        let eeprom = (0..machine.device.memory.eeprom_bytes).map(|byte| machine.eeprom_cell(EepromAddress(byte)));
        let known = sram.start.until(sram.end).chain(eeprom).filter(|cell| !assumed(machine, *cell));
        let known = known.chain(Register::all().map(Register::address));
        let mut initial = vec![0; cells.div_ceil(64)];
        known.for_each(|cell| initial[cell.index() / 64] |= 1 << (cell.index() % 64));
        Self::from(stepper, &Kept { initial, others: Vec::new(), sources: FxHashMap::default(), next: FIRST_NUMBER })
    }

    /// The shadow of a run that goes on.
    pub(super) fn from(stepper: &Stepper<'_>, kept: &Kept) -> Self {
        let concrete = stepper.state();
        let mut state = MachineState::new(concrete.data.cells().len(), TracedByte::constant(0));
        for (cell, value) in (0..).map(DataAddress).zip(concrete.data.cells()) {
            let is_initial = kept.initial[cell.index() / 64] >> (cell.index() % 64) & 1 == 1;
            let sources = if is_initial { Sources::of(cell.0.into()) } else { Sources::default() };
            if *value != 0 || is_initial {
                state.data.set(cell, TracedByte { value: *value, sources });
            }
        }
        for (cell, sources) in &kept.others {
            state.data.set(*cell, TracedByte { value: *concrete.data.get(*cell), sources: *sources });
        }
        state.data.clear_changed();
        state.control = concrete.control;
        state.calls = concrete.calls.clone();
        Self { state, sources: kept.sources.clone(), next: kept.next, open: None }
    }

    /// The shadow as it is kept.
    pub(super) fn kept(&self) -> Kept {
        let mut kept = Kept {
            initial: vec![0; self.state.data.cells().len().div_ceil(64)],
            others: Vec::new(),
            sources: FxHashMap::default(),
            next: self.next,
        };
        for (cell, byte) in
            (0..).map(DataAddress).zip(self.state.data.cells()).filter(|(_, byte)| !byte.sources.is_empty())
        {
            if byte.sources == Sources::of(cell.0.into()) {
                kept.initial[cell.index() / 64] |= 1 << (cell.index() % 64);
                continue;
            }
            kept.others.push((cell, byte.sources));
            for number in byte.sources.as_slice() {
                kept.sources.extend(self.sources.get(number).map(|origin| (*number, *origin)));
            }
        }
        kept
    }

    /// A cell.
    pub(super) fn cell(&self, address: DataAddress) -> TracedByte {
        *self.state.data.get(address)
    }

    /// True if a concrete state is that of the shadow.
    pub(super) fn agrees(&self, state: &MachineState<u8>) -> bool {
        let mut cells = self.state.data.cells().iter().zip(state.data.cells());
        self.state.control.of_hardware() == state.control.of_hardware() && cells.all(|(one, other)| one.value == *other)
    }

    /// The question that an input answered.
    pub(super) fn origin(&self, number: u32, initial: impl Fn(DataAddress) -> u8) -> Option<Origin> {
        match u16::try_from(number).map(DataAddress) {
            Ok(cell) => Some(Origin { step: 0, source: Input::Initial(cell), value: initial(cell) }),
            Err(_) => self.sources.get(&number).copied(),
        }
    }

    /// Takes the step that the concrete run took, with this number and these answers.
    pub(super) fn step(&mut self, machine: &Machine, step: u64, asked: &[Asked], observed: &mut Observed) {
        observed.comparisons.clear();
        observed.written.clear();
        if self.sources.len() > MAX_ORIGINS {
            self.sources.clear();
        }
        let first = self.next;
        let mut world = Told {
            asked,
            answered: 0,
            step,
            sources: &mut self.sources,
            first,
            next: &mut self.next,
            open: &mut self.open,
            skip: None,
            observed,
        };
        // The step is the concrete one, which was taken already.
        let _ = machine.step(&mut self.state, &mut world);
        if let Some((pc, bit)) = world.skip {
            let last = (first..self.next).rev().find_map(|number| Some((number, self.sources.get(&number)?.value)));
            let byte = last.map(|(number, value)| TracedByte { value, sources: Sources::of(number) });
            observed.comparisons.extend(byte.map(|byte| Comparison::of_bit(pc, byte, bit)));
        }
        self.state.data.clear_changed();
    }
}

/// True if the property file says the content of a cell at the start.
fn assumed(machine: &Machine, cell: DataAddress) -> bool {
    let options = machine.options();
    let mut bytes = options.eeprom.keys();
    let is_known = options.starts.first.get(&cell).is_some_and(|bits| bits.unknown_mask() == 0);
    is_known || bytes.any(|byte| machine.eeprom_cell(*byte) == cell)
}

/// The world of a step whose answers are known.
struct Told<'a> {
    asked: &'a [Asked],
    answered: usize,
    step: u64,
    sources: &'a mut FxHashMap<u32, Origin>,
    /// The number of the first input of the step, and of the next one.
    first: u32,
    next: &'a mut u32,
    open: &'a mut Option<Comparison>,
    /// The instruction tests this bit of a register that it reads itself.
    skip: Option<(FlashWordAddress, u8)>,
    observed: &'a mut Observed,
}

impl Told<'_> {
    /// The number of an input of this step, to which these bits belong.
    fn number(&mut self, source: Input, value: u8) -> u32 {
        for number in (self.first..*self.next).rev() {
            if let Some(origin) = self.sources.get_mut(&number).filter(|origin| origin.source == source) {
                origin.value |= value;
                return number;
            }
        }
        let number = *self.next;
        *self.next += 1;
        self.sources.insert(number, Origin { step: self.step, source, value });
        number
    }
}

impl Environment<TracedByte> for Told<'_> {
    fn input(&mut self, _: Input, _: u8, _: Demand, _: DeterminedBy) -> TracedByte {
        let question = self.answered;
        self.answered += 1;
        match self.asked.get(question) {
            Some(Asked::Input { source: Input::Initial(cell), value, .. }) => {
                TracedByte { value: *value, sources: Sources::of(cell.0.into()) }
            }
            Some(Asked::Input {
                source,
                value,
                who: DeterminedBy::Environment | DeterminedBy::EnvironmentInTime,
                ..
            }) => TracedByte { value: *value, sources: Sources::of(self.number(*source, *value)) },
            Some(Asked::Input { value, .. }) => TracedByte::constant(*value),
            Some(Asked::Choice { .. }) | None => TracedByte::constant(0),
        }
    }

    fn choose(&mut self, _count: usize) -> usize {
        0
    }

    fn choose_among(&mut self, possibilities: &Possibilities) -> usize {
        let question = self.answered;
        self.answered += 1;
        match self.asked.get(question) {
            Some(Asked::Choice { chosen, .. }) => {
                possibilities.iter().position(|happening| happening == *chosen).unwrap_or(0)
            }
            _ => possibilities.iter().position(|happening| happening == Happening::Continue).unwrap_or(0),
        }
    }

    fn case(&mut self, _count: usize, _about: Question<'_, TracedByte>) -> usize {
        0
    }

    fn before_instruction(&mut self, machine: &Machine, state: &mut MachineState<TracedByte>) {
        let pc = state.control.pc;
        let Fetched::Instruction { instruction, .. } = machine.program.fetch(pc) else { return };
        if let Instruction::Sbic { bit, .. } | Instruction::Sbis { bit, .. } = instruction {
            self.skip = Some((pc, bit));
            return;
        }
        match effect(pc, instruction, &|register| *state.data.get(register.address())) {
            Effect::Compares(comparison) => *self.open = Some(comparison),
            Effect::Continues(one, other) => *self.open = self.open.take().map(|open| open.with(one, other)),
            Effect::Decides { orders } => {
                self.observed.comparisons.extend(self.open.take().map(|open| open.ordering(orders)));
            }
            Effect::Skips(comparison) => self.observed.comparisons.push(comparison),
            Effect::Ends => *self.open = None,
            Effect::Nothing => {}
        }
    }

    fn event(&mut self, event: Event<'_, TracedByte>) {
        if let Event::Write(address, value) = event {
            self.observed.written.push((address, *value));
        }
    }
}
