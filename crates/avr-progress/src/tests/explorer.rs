//! The states that a program reaches, one by one, and whether from each some run comes to the target.

use super::generator::Generated;
use crate::Target;
use avr_isa::DataAddress;
use avr_machine::device::Promised;
use avr_machine::{
    CallString, Control, Demand, DeterminedBy, Environment, Frame, Input, Machine, MachineState, PAGE_CELLS, Question,
    Stop,
};
use avr_symbolic::{SymbolicBit, SymbolicState};
use rustc_hash::FxHashMap;
use three_valued::{BitDomain, ByteDomain};

/// A bit of a cell with a value, a cell with one, or a bit that is not 1 while a cell has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    Bit(DataAddress, u8, bool),
    Cell(DataAddress, u8),
    Apart((DataAddress, u8), (DataAddress, u8)),
}

impl Goal {
    fn is_reached(self, mut cell: impl FnMut(DataAddress) -> u8) -> bool {
        match self {
            Self::Bit(address, bit, value) => (cell(address) >> bit & 1 == 1) == value,
            Self::Cell(address, value) => cell(address) == value,
            Self::Apart((port, bit), (address, value)) => cell(port) >> bit & 1 == 0 || cell(address) != value,
        }
    }
}

impl Target for Goal {
    fn bit<'g>(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        match self {
            Self::Bit(cell, bit, true) => state.data.get(*cell).bit(*bit),
            Self::Bit(cell, bit, false) => state.data.get(*cell).bit(*bit).not(),
            Self::Apart((port, bit), (cell, value)) => {
                let both = state.data.get(*port).bit(*bit).and(&Self::Cell(*cell, *value).bit(state));
                both.not()
            }
            Self::Cell(cell, value) => (0..8).fold(SymbolicBit::ONE, |all, bit| {
                let is_set = state.data.get(*cell).bit(bit);
                all.and(&if value >> bit & 1 == 1 { is_set } else { is_set.not() })
            }),
        }
    }

    fn outside<'g>(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        self.bit(state).not()
    }
}

/// The states from which something is awaited.
#[derive(Clone, Copy, Debug)]
pub(super) enum On {
    Start,
    Everywhere,
    When(Goal),
}

/// An interrupt: the number of its vector, and the bit that enables it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) number: u8,
    pub(super) enabled: (DataAddress, u8),
}

/// An event that comes again and again, or at last: as is assumed of an interrupt, or promised.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fair {
    Assumed(Source),
    Promised(Promised),
}

impl Fair {
    /// The event that is promised.
    pub(super) fn event(self) -> Promised {
        match self {
            Self::Promised(event) => event,
            Self::Assumed(source) => Promised::Interrupt(source.number),
        }
    }
}

/// An eventuality, perhaps under fairness; then nothing is demanded of the states on the way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Awaited {
    pub(super) trigger: On,
    pub(super) holds: Option<Goal>,
    pub(super) until: Goal,
    pub(super) fair: Option<Fair>,
}

/// What is to be possible: from each state of the trigger some path leads to a state through such in which something holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Possible {
    pub(super) trigger: On,
    pub(super) holds: Option<Goal>,
    pub(super) until: Goal,
}

/// Known of a state only if it is the same for all values of what is open.
pub(super) struct Coarse<'a>(pub(super) &'a Goal);

impl Target for Coarse<'_> {
    fn bit<'g>(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        SymbolicBit::constant(self.0.bit(state).known() == Some(true))
    }

    fn outside<'g>(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        SymbolicBit::constant(self.0.bit(state).known() == Some(false))
    }
}

/// An environment that gives the answers of a list, and the first one behind its end.
struct Script<'a> {
    /// Each answer with the number of those that are possible.
    answers: Vec<(usize, usize)>,
    next: usize,
    /// The program: pins that it does not look at are 0, and cells that it writes before it reads them.
    generated: &'a Generated,
}

/// The data address of the register whose pins programs look at.
pub(super) const PINB: DataAddress = DataAddress(0x23);

impl Script<'_> {
    fn answer(&mut self, count: usize) -> usize {
        if self.next == self.answers.len() {
            self.answers.push((0, count));
        }
        let (answer, expected) = self.answers[self.next];
        assert_eq!(expected, count, "the same answers lead to the same questions");
        self.next += 1;
        answer
    }

    /// Goes to the next list of answers, unless this was the last one.
    fn advance(&mut self) -> bool {
        self.next = 0;
        while let Some((answer, count)) = self.answers.pop() {
            if answer + 1 < count {
                self.answers.push((answer + 1, count));
                return true;
            }
        }
        false
    }
}

impl Environment<u8> for Script<'_> {
    fn input(&mut self, source: Input, mask: u8, _: Demand, _: DeterminedBy) -> u8 {
        let open = match source {
            Input::Initial(cell) if self.generated.unwritten.contains(&cell) => mask & 3,
            Input::Initial(_) => 0,
            Input::Register(PINB) => mask & self.generated.pins,
            Input::Register(_) => mask,
        };
        let number = self.answer(1 << open.count_ones());
        let bits = (0..8).filter(|bit| open >> bit & 1 == 1);
        bits.zip(0..).fold(0, |all, (bit, place)| all | ((number >> place & 1) as u8) << bit)
    }

    fn choose(&mut self, count: usize) -> usize {
        self.answer(count)
    }

    fn case(&mut self, _: usize, _: Question<'_, u8>) -> usize {
        panic!("nothing is open in a concrete state")
    }
}

/// The pages that programs change: registers and cells of the first 16 bytes of the SRAM, the stack, and what registers keep unseen.
fn is_stored(page: usize) -> bool {
    page <= 0x10 || (0x8e..0x92).contains(&page)
}

/// A state as it is stored.
#[derive(PartialEq, Eq, Hash)]
struct Stored {
    control: Control,
    frames: Vec<Frame>,
    cells: Vec<u8>,
}

impl Stored {
    /// Cells below the stack pointer are taken for 0: no program reads them before it writes them.
    fn of(machine: &Machine, state: &MachineState<u8>) -> Self {
        let pointer = machine.stack_pointer().concrete(&state.data);
        let mut cells = Vec::new();
        for page in (0..state.data.pages()).filter(|page| is_stored(*page)) {
            let stack = 0x8e..0x90;
            let is_dead = |offset: usize| stack.contains(&page) && page * PAGE_CELLS + offset <= pointer.index();
            let all = state.data.page(page).iter().enumerate();
            cells.extend(all.map(|(offset, cell)| if is_dead(offset) { 0 } else { *cell }));
        }
        Self { control: state.control.of_hardware(), frames: state.calls.frames().to_vec(), cells }
    }

    fn load(&self, state: &mut MachineState<u8>) {
        state.control = self.control;
        state.calls = CallString::default();
        self.frames.iter().for_each(|frame| state.calls.push(*frame));
        let pages: Vec<usize> = (0..state.data.pages()).filter(|page| is_stored(*page)).collect();
        for (page, cells) in pages.into_iter().zip(self.cells.chunks(PAGE_CELLS)) {
            state.data.load_page(page, cells);
        }
    }
}

/// All states that a program reaches from power-on, and the steps between them.
pub(super) struct Space {
    states: Vec<std::rc::Rc<Stored>>,
    pub(super) previous: Vec<Vec<u32>>,
    /// The number of states after power-on; they are the first ones.
    initial: usize,
    working: MachineState<u8>,
}

impl Space {
    /// Explores a program; nothing if there are more states than so many.
    ///
    /// # Panics
    /// If a step is a hazard, or cannot be followed.
    pub(super) fn explore(machine: &Machine, generated: &Generated, most: usize) -> Option<Self> {
        let mut script = Script { answers: Vec::new(), next: 0, generated };
        let mut numbers: FxHashMap<std::rc::Rc<Stored>, u32> = FxHashMap::default();
        let mut states: Vec<std::rc::Rc<Stored>> = Vec::new();
        let mut previous: Vec<Vec<u32>> = Vec::new();
        let mut number = |stored: Stored, states: &mut Vec<std::rc::Rc<Stored>>, previous: &mut Vec<Vec<u32>>| {
            let stored = std::rc::Rc::new(stored);
            *numbers.entry(stored).or_insert_with_key(|stored| {
                states.push(stored.clone());
                previous.push(Vec::new());
                states.len() as u32 - 1
            })
        };
        let mut working: MachineState<u8> = loop {
            script.next = 0;
            let state = machine.power_on(&mut script);
            number(Stored::of(machine, &state), &mut states, &mut previous);
            if !script.advance() {
                break state;
            }
        };
        working.data.clear_changed();
        let initial = states.len();
        let mut current = 0;
        while let Some(stored) = states.get(current).cloned() {
            if states.len() > most {
                return None;
            }
            script.answers.clear();
            loop {
                script.next = 0;
                stored.load(&mut working);
                match machine.step(&mut working, &mut script) {
                    Ok(_) => {
                        let to = number(Stored::of(machine, &working), &mut states, &mut previous);
                        let before = &mut previous[to as usize];
                        if before.last() != Some(&(current as u32)) {
                            before.push(current as u32);
                        }
                    }
                    Err(Stop::Infeasible) => {}
                    Err(stop) => panic!("a step at {:#x} ends with {stop:?}", stored.control.pc.byte().0),
                }
                if !script.advance() {
                    break;
                }
            }
            current += 1;
        }
        assert!(working.data.changed_pages().all(is_stored), "programs change nothing else");
        Some(Self { states, previous, initial, working })
    }

    /// The number of states.
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    /// True if each state is one of the target.
    pub(super) fn are_all(&mut self, goal: Goal) -> bool {
        let Self { states, working, .. } = self;
        states.iter().all(|state| {
            state.load(working);
            goal.is_reached(|address| *working.data.get(address))
        })
    }

    /// Tells of each state whether it is one of a set.
    pub(super) fn are_in(&mut self, is_in: impl Fn(&MachineState<u8>) -> bool) -> Vec<bool> {
        let Self { states, working, .. } = self;
        let mut each = |state: &std::rc::Rc<Stored>| {
            state.load(working);
            is_in(working)
        };
        states.iter().map(&mut each).collect()
    }

    fn are_of(&mut self, goal: Goal) -> Vec<bool> {
        self.are_in(|state| goal.is_reached(|address| *state.data.get(address)))
    }

    /// A state from which something is awaited and need not come, if there is one; in words.
    pub(super) fn waits_in_vain(&mut self, machine: &Machine, awaited: &Awaited) -> Option<String> {
        let until = self.are_of(awaited.until);
        let triggers = self.triggers(awaited.trigger);
        let comes = match (awaited.fair, awaited.holds) {
            (Some(fair), _) => self.comes_fairly(machine, &until, fair),
            (None, holds) => {
                let holds = holds.map_or_else(|| vec![true; until.len()], |holds| self.are_of(holds));
                self.comes(until, &holds)
            }
        };
        let state = (0..self.states.len()).find(|state| triggers[*state] && !comes[*state])?;
        Some(self.text(state))
    }

    fn triggers(&mut self, on: On) -> Vec<bool> {
        match on {
            On::Start => (0..self.states.len()).map(|state| state < self.initial).collect(),
            On::Everywhere => vec![true; self.states.len()],
            On::When(goal) => self.are_of(goal),
        }
    }

    fn text(&self, state: usize) -> String {
        let stored = &self.states[state];
        format!("pc {:#x}, {} frames", stored.control.pc.byte().0, stored.frames.len())
    }

    /// The states from which all paths come to one of a set through such in which something holds: a least fixed point.
    fn comes(&self, mut comes: Vec<bool>, holds: &[bool]) -> Vec<bool> {
        let mut left = vec![0; comes.len()];
        self.previous.iter().flatten().for_each(|before| left[*before as usize] += 1);
        let mut waiting: Vec<usize> = (0..comes.len()).filter(|state| comes[*state]).collect();
        while let Some(state) = waiting.pop() {
            for before in &self.previous[state] {
                let before = *before as usize;
                left[before] -= 1;
                if left[before] == 0 && holds[before] && !comes[before] {
                    comes[before] = true;
                    waiting.push(before);
                }
            }
        }
        comes
    }

    /// The strongly connected components with a step, of the steps between states of a set (Kosaraju's algorithm).
    pub(super) fn cycles(&self, of: &[bool]) -> Vec<Vec<usize>> {
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); of.len()];
        for (to, before) in self.previous.iter().enumerate() {
            before.iter().filter(|from| of[**from as usize] && of[to]).for_each(|from| next[*from as usize].push(to));
        }
        let (mut order, mut seen) = (Vec::new(), vec![false; of.len()]);
        for root in (0..of.len()).filter(|state| of[*state]) {
            let mut stack = vec![(root, 0)];
            while let Some((state, place)) = stack.pop() {
                if place == 0 && std::mem::replace(&mut seen[state], true) {
                    continue;
                }
                match next[state].get(place) {
                    Some(to) => stack.extend([(state, place + 1), (*to, 0)]),
                    None => order.push(state),
                }
            }
        }
        let mut parts = Vec::new();
        for root in order.into_iter().rev() {
            let (mut part, mut waiting) = (Vec::new(), vec![root]);
            while let Some(state) = waiting.pop() {
                if std::mem::replace(&mut seen[state], false) {
                    part.push(state);
                    waiting.extend(self.previous[state].iter().map(|from| *from as usize).filter(|from| of[*from]));
                }
            }
            let has_step = part.len() > 1 || part.first().is_some_and(|state| next[*state].contains(state));
            parts.extend(has_step.then_some(part));
        }
        parts
    }

    /// A state from which something is not possible that is said to be, if there is one; in words.
    pub(super) fn refutes(&mut self, possible: &Possible) -> Option<String> {
        let mut comes = self.are_of(possible.until);
        let holds = possible.holds.map_or_else(|| vec![true; comes.len()], |holds| self.are_of(holds));
        let mut waiting: Vec<usize> = (0..comes.len()).filter(|state| comes[*state]).collect();
        while let Some(state) = waiting.pop() {
            for before in &self.previous[state] {
                let before = *before as usize;
                if holds[before] && !std::mem::replace(&mut comes[before], true) {
                    waiting.push(before);
                }
            }
        }
        let triggers = self.triggers(possible.trigger);
        let state = (0..self.states.len()).find(|state| triggers[*state] && !comes[*state])?;
        Some(self.text(state))
    }
}
