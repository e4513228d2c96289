//! The events of a run, step by step, in a bounded amount of memory. Repetitions are folded, of long runs the middle is
//! left out, and the last steps are kept in full.

use crate::concretise::concrete_step::{Asked, ChosenStep, Run};
use avr_isa::DataAddress;
use avr_machine::simulator::ExactInput;
use avr_machine::{Happening, Input, MachineState, PAGE_CELLS};
use rustc_hash::FxHasher;
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

/// The longest body of a loop, in items, that is noticed.
const MAX_BODY: usize = 48;
/// The number of items that are kept from the beginning, and the most that are kept in all.
const KEPT_FIRST: usize = 150;
const MAX_ITEMS: usize = 1_000;
/// The number of the last steps that are kept in full.
pub(crate) const LAST_LINES: usize = 64;

/// The choices of a step in which something else would have come by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Chosen {
    /// The number of the step, from 0.
    pub step: u64,
    /// The inputs from registers of the hardware, in the order in which the step asks for them.
    pub inputs: Vec<ExactInput>,
    /// The content of cells after a reset, where it is not 0.
    pub initial: Vec<(DataAddress, u8)>,
    /// The happening.
    pub happening: Option<Happening>,
}

/// A cell that a step changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Change {
    /// Data address.
    pub address: DataAddress,
    /// The content before.
    pub before: u8,
    /// The content after.
    pub after: u8,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The number of the step, from 0.
    pub step: u64,
    /// Flash byte address of the instruction, or of the one that is next where something else happens.
    pub pc: u32,
    /// The happening of the step.
    pub happened: Happening,
    /// True if nothing happened because the processor slept.
    pub asleep: bool,
    /// The cells that it changed, by rising address.
    pub changes: Vec<Change>,
    /// The choices of the step.
    pub chosen: Option<Chosen>,
}

/// A part of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A step.
    Line(Line),
    /// The same steps several times; values may differ.
    Loop {
        /// The steps of the first time.
        body: Vec<Item>,
        /// The number of times.
        times: u64,
    },
    /// A part that is left out, with its number of steps.
    Omitted(u64),
}

impl Item {
    /// The number of steps it stands for.
    #[must_use]
    pub fn steps(&self) -> u64 {
        match self {
            Self::Line(_) => 1,
            Self::Loop { body, times } => body.iter().map(Self::steps).sum::<u64>() * times,
            Self::Omitted(steps) => *steps,
        }
    }
}

/// The narrative of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// The whole run, folded.
    pub items: Vec<Item>,
    /// The last steps in full.
    pub last: Vec<Line>,
}

/// An item with a number for what is done in it.
#[derive(Clone, Debug)]
struct Shaped {
    item: Item,
    shape: u64,
    /// For a loop: the shape of its body.
    body: u64,
}

/// Tells a run while it is replayed.
pub(crate) struct Narrative<'a> {
    /// The choices of the steps to come.
    chosen: std::iter::Peekable<std::slice::Iter<'a, ChosenStep>>,
    cells: Vec<u8>,
    pc: u32,
    asleep: bool,
    items: Vec<Shaped>,
    last: VecDeque<Line>,
}

impl<'a> Narrative<'a> {
    /// The narrative of a run that begins in a state.
    pub(crate) fn new(run: &'a Run, state: &MachineState<u8>) -> Self {
        let cells = state.data.cells().to_vec();
        Self {
            chosen: run.chosen.iter().peekable(),
            cells,
            pc: 0,
            asleep: false,
            items: Vec::new(),
            last: VecDeque::new(),
        }
    }

    /// A step begins.
    pub(crate) fn before(&mut self, state: &MachineState<u8>) {
        self.pc = state.control.pc.byte().0;
        self.asleep = state.control.sleeping;
    }

    /// A step has led to a state whose changed pages are noted.
    pub(crate) fn after(&mut self, step: u64, state: &MachineState<u8>, happened: Happening) {
        let mut changes = Vec::new();
        for page in state.data.changed_pages() {
            for (offset, after) in state.data.page(page).iter().enumerate() {
                let address = page * PAGE_CELLS + offset;
                let before = std::mem::replace(&mut self.cells[address], *after);
                if before != *after {
                    changes.push(Change { address: DataAddress::of_index(address), before, after: *after });
                }
            }
        }
        self.tell(step, happened, changes);
    }

    /// A step ends the run.
    pub(crate) fn stopped(&mut self, step: u64, happened: Happening) {
        self.tell(step, happened, Vec::new());
    }

    fn tell(&mut self, step: u64, happened: Happening, changes: Vec<Change>) {
        let chosen = self.chosen.next_if(|(at, _)| *at == step).map(|(_, asked)| chosen(step, asked));
        let asleep = self.asleep && happened == Happening::Continue;
        let line = Line { step, pc: self.pc, happened, asleep, changes, chosen };
        if self.last.len() == LAST_LINES {
            self.last.pop_front();
        }
        self.last.push_back(line.clone());
        let given = line.chosen.as_ref().map(|chosen| (&chosen.inputs, &chosen.initial, chosen.happening));
        let shape = hash(&(line.pc, line.happened, given));
        self.items.push(Shaped { item: Item::Line(line), shape, body: 0 });
        while self.fold() {}
        self.shorten();
    }

    /// Folds the last items into a loop, if they repeat what comes before them.
    fn fold(&mut self) -> bool {
        let end = self.items.len();
        let last = self.items[end - 1].shape;
        for length in 1..=MAX_BODY.min(end - 1) {
            let before = &self.items[end - 1 - length];
            if before.body == 0 && before.shape != last {
                continue;
            }
            let body = hash(&self.items[end - length..].iter().map(|one| one.shape).collect::<Vec<_>>());
            let before = &mut self.items[end - 1 - length];
            if let (Item::Loop { times, .. }, true) = (&mut before.item, before.body == body) {
                *times += 1;
                before.shape = hash(&(body, *times));
                self.items.truncate(end - length);
                return true;
            }
            if end >= 2 * length && self.same(end - 2 * length, end - length, length) {
                self.items.truncate(end - length);
                let steps = self.items.split_off(end - 2 * length).into_iter().map(|one| one.item).collect();
                let item = Item::Loop { body: steps, times: 2 };
                self.items.push(Shaped { item, shape: hash(&(body, 2u64)), body });
                return true;
            }
        }
        false
    }

    fn same(&self, first: usize, second: usize, length: usize) -> bool {
        (0..length).all(|index| self.items[first + index].shape == self.items[second + index].shape)
    }

    /// Leaves out items in the middle.
    fn shorten(&mut self) {
        if self.items.len() <= MAX_ITEMS {
            return;
        }
        let removed: Vec<Shaped> = self.items.drain(KEPT_FIRST..MAX_ITEMS / 2).collect();
        let steps = removed.iter().map(|one| one.item.steps()).sum();
        // No other item has this shape, so nothing is folded with it.
        let shape = hash(&("omitted", steps));
        self.items.insert(KEPT_FIRST, Shaped { item: Item::Omitted(steps), shape, body: 0 });
    }

    /// The finished narrative.
    pub(crate) fn told(self) -> Told {
        Told { items: self.items.into_iter().map(|one| one.item).collect(), last: self.last.into() }
    }
}

/// The choices of a step, of the questions whose answers do not come by themselves.
pub(crate) fn chosen(step: u64, asked: &[(usize, Asked)]) -> Chosen {
    let mut chosen = Chosen { step, ..Chosen::default() };
    for (_, one) in asked {
        match one {
            Asked::Input { source: Input::Register(register), mask, value, .. } => {
                chosen.inputs.push(ExactInput { register: *register, mask: *mask, value: *value });
            }
            Asked::Input { source: Input::Initial(cell), value, .. } => chosen.initial.push((*cell, *value)),
            Asked::Choice { chosen: happening, .. } => chosen.happening = Some(*happening),
        }
    }
    chosen
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use avr_isa::{FlashByteAddress, FlashWordAddress};

    fn told(pcs: impl IntoIterator<Item = u32>) -> Told {
        let run = Run::default();
        let mut state: MachineState<u8> = MachineState::new(PAGE_CELLS, 0);
        let mut narrative = Narrative::new(&run, &state);
        for (pc, step) in pcs.into_iter().zip(0..) {
            state.control.pc = FlashWordAddress(pc);
            narrative.before(&state);
            narrative.after(step, &state, Happening::Continue);
        }
        narrative.told()
    }

    fn shape(items: &[Item]) -> String {
        let one = |item: &Item| match item {
            Item::Line(line) => FlashByteAddress(line.pc).word().0.to_string(),
            Item::Loop { body, times } => format!("({})x{times}", shape(body)),
            Item::Omitted(steps) => format!("...{steps}"),
        };
        items.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[track_caller]
    fn check(pcs: &[u32], expected: &str) {
        let told = told(pcs.iter().copied());
        assert_eq!(shape(&told.items), expected);
        assert_eq!(told.items.iter().map(Item::steps).sum::<u64>(), pcs.len() as u64);
    }

    #[test]
    fn repetitions_are_folded() {
        check(&[1, 2, 3], "1 2 3");
        check(&[1, 1, 1], "(1)x3");
        check(&[0, 1, 2, 1, 2, 1, 2, 3], "0 (1 2)x3 3");
        check(&[1, 2, 1, 2, 1], "(1 2)x2 1");
        check(&[7, 1, 1, 2, 1, 1, 2, 8], "7 ((1)x2 2)x2 8");
        // The inner loop runs more often the second time, so the outer one is none.
        check(&[1, 1, 2, 1, 1, 1, 2], "(1)x2 2 (1)x3 2");
    }

    #[test]
    fn a_long_story_is_short() {
        let inner = || (0..250).flat_map(|_| [1, 2, 3]);
        let long = told((0..40).flat_map(|_| [10].into_iter().chain(inner()).chain([11])));
        assert_eq!(shape(&long.items), "(10 (1 2 3)x250 11)x40");
        // Without repetitions the middle is left out, and no step is lost.
        let random = told((0..50_000u32).map(|step| step.wrapping_mul(2_654_435_761) >> 8));
        assert!(random.items.len() <= MAX_ITEMS);
        assert_eq!(random.items.iter().map(Item::steps).sum::<u64>(), 50_000);
        assert_eq!(random.last.len(), LAST_LINES);
        assert_eq!(random.last.last().map(|line| line.step), Some(49_999));
    }
}
