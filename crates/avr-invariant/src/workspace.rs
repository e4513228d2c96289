//! The working state in which steps are taken, loaded from and stored to the compact form.

use avr_isa::{DataAddress, FlashWordAddress, Instruction};
use avr_machine::{DataSpace, Machine, MachineState, PAGE_CELLS, flag};
use three_valued::{NumberedByte, TvByte};

use crate::division::Divisions;
use crate::equalities::{Equalities, Silence, Value, rename, sort};
use crate::faults::{Fault, is_on};
use crate::intervals::{Range, Ranges, add, greatest, hull, meet as meet_both};
use crate::linear;
use crate::map::State;
use crate::memory::{BLOCK_PAGES, Memory, Page, Store};
use crate::ranges::Before;

/// No page.
const NONE: u32 = u32::MAX;

/// Value numbers of what cells held when the handler began; those below are of what cells hold before the step.
const ENTRY: u32 = 1 << 16;

/// A step: where it was taken, and what was executed.
#[derive(Clone, Copy)]
pub(crate) struct Step<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) pc: FlashWordAddress,
    pub(crate) state: &'a State,
    /// None for the entry into a handler, or where nothing is executed.
    pub(crate) executed: Option<Instruction>,
}

/// The working state of the machine. Before a step each cell has the number of the value that it holds; what a cell holds after the step
/// is told from its number.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) state: MachineState<NumberedByte>,
    /// The page of the store that each page of the state holds.
    pages: Vec<u32>,
    blocks: Vec<u32>,
    /// The meaning of saying nothing in the loaded state.
    silence: Silence,
    equalities: Equalities,
    divisions: Divisions,
}

impl Workspace {
    /// A workspace for the states of a machine.
    pub(crate) fn new(machine: &Machine) -> Self {
        let state = MachineState::new(machine.cells(), NumberedByte::new(TvByte::UNKNOWN));
        let pages = state.data.pages();
        let blocks = pages.div_ceil(BLOCK_PAGES);
        Self {
            state,
            pages: vec![NONE; pages],
            blocks: vec![NONE; blocks],
            silence: Silence::Nothing,
            equalities: Equalities::default(),
            divisions: Divisions::new(&machine.program),
        }
    }

    /// Goes to a stored state. Control and call string stay as they are.
    pub(crate) fn load(&mut self, state: &State, silence: Silence, store: &Store) {
        if self.silence != silence {
            self.forget_loaded();
            self.silence = silence;
        }
        let written: Vec<usize> = self.state.data.changed_pages().collect();
        let listed: Vec<usize> = self.equalities.changed().map(|cell| cell.index() / PAGE_CELLS).collect();
        for page in written.into_iter().chain(listed) {
            self.pages[page] = NONE;
            self.blocks[page / BLOCK_PAGES] = NONE;
        }
        for (index, block) in state.memory.blocks().iter().enumerate() {
            if self.blocks[index] == *block {
                continue;
            }
            self.blocks[index] = *block;
            for (offset, number) in store.block(*block).iter().enumerate() {
                let page = index * BLOCK_PAGES + offset;
                if page < self.pages.len() && self.pages[page] != *number {
                    let bytes = store.page(*number);
                    let cell = |offset: usize| NumberedByte {
                        byte: bytes[offset],
                        number: number_of(unsaid(DataAddress::of_index(page * PAGE_CELLS + offset), silence)),
                    };
                    let cells: [NumberedByte; PAGE_CELLS] = std::array::from_fn(cell);
                    self.state.data.load_page(page, &cells);
                    self.pages[page] = *number;
                }
            }
        }
        self.equalities = state.equalities.clone();
        for (cell, value) in state.equalities.values(silence) {
            let byte = self.state.data.get(cell).byte;
            self.state.data.set(cell, NumberedByte { byte, number: number_of(value) });
        }
        self.state.data.clear_changed();
    }

    /// Forgets which pages are loaded.
    pub(crate) fn forget_loaded(&mut self) {
        self.pages.fill(NONE);
        self.blocks.fill(NONE);
    }

    /// The present content as a state after a step; none if no concrete state has it.
    pub(crate) fn stored(&mut self, step: &Step<'_>, store: &mut Store) -> Option<State> {
        let equalities = self.equalities_now();
        self.narrow(&equalities)?;
        let mut state = State::of(self.memory(store), equalities);
        let Step { machine, pc, state: before, executed } = *step;
        let silence = self.silence;
        let division = executed.and_then(|_| self.divisions.first(pc));
        let begin = Before { machine, pc, state: before, silence, store, division };
        let is_linear = !before.equations.list().is_empty() || executed.is_some_and(linear::counts);
        if begin.is_without(executed) && !is_linear {
            return Some(state);
        }
        let renamed = |value| match value {
            Value::Result(cell) => match self.divisions.behind(pc, executed, cell)? {
                Value::Of(cell) => Some(state.equalities.value(cell, silence)),
                other => Some(other),
            },
            _ => self.renamed(value, &state.equalities),
        };
        let mut found = begin.ranges(executed, &renamed, &state);
        if is_linear {
            let keeps_carry = begin.keeps_carry(executed);
            let begin = linear::Step { machine, state: before, silence, store, keeps_carry };
            let equations = begin.equations(executed, &renamed, &state)?;
            state.equations = equations;
            state.ranges = Ranges::new(found.clone());
            let is_decided = executed.is_some_and(linear::decides);
            for range in state.ranges_of_equations(is_decided, silence, store)? {
                add(&mut found, range);
            }
        }
        if self.narrow_to(&found, machine)? {
            self.narrow(&state.equalities)?;
            state.memory = self.memory(store);
        }
        state.ranges = state.own_ranges(found, self.silence, store);
        Some(state)
    }

    /// The name that a value of before the step has behind it; none if no cell is known to hold it.
    fn renamed(&self, value: Value, behind: &Equalities) -> Option<Value> {
        let Value::Of(own) = value else { return Some(value) };
        if is_on(Fault::RangesKept) {
            return Some(value);
        }
        let number = number_of(value);
        let holds = |cell: &DataAddress| self.state.data.get(*cell).number == number;
        let listed = self.equalities.list().iter().map(|(cell, _)| *cell);
        let changed = self.state.data.changed_pages().flat_map(|page| (page * PAGE_CELLS..).take(PAGE_CELLS));
        let mut cells = std::iter::once(own).chain(listed).chain(changed.map(DataAddress::of_index));
        cells.find(holds).map(|cell| behind.value(cell, self.silence))
    }

    /// Narrows cells, and the carry, to what ranges allow; none if that is nothing. True if something was narrowed.
    fn narrow_to(&mut self, ranges: &[Range], machine: &Machine) -> Option<bool> {
        let mut is_narrowed = false;
        let mut meet = |data: &mut DataSpace<NumberedByte>, cell: DataAddress, byte: TvByte| {
            let content = *data.get(cell);
            let narrowed = content.byte.meet(byte)?;
            if narrowed != content.byte {
                data.set(cell, NumberedByte { byte: narrowed, ..content });
                is_narrowed = true;
            }
            Some(narrowed)
        };
        for Range { bytes, when } in ranges {
            let (mut low, mut high) = hull(when[0], when[1])?;
            for (index, value) in bytes.iter().enumerate().rev() {
                let [least, most] = [low, high].map(|end| (end >> (8 * index)) as u8);
                let byte = TvByte::UNKNOWN.within(least, most)?;
                let known = match value {
                    Value::Of(cell) => meet(&mut self.state.data, *cell, byte)?.known(),
                    Value::Entry(_) | Value::Result(_) => byte.known(),
                };
                // The bytes below have ranges of their own where this one is known.
                let Some(known) = known else { break };
                if index > 0 {
                    let first = u32::from(known) << (8 * index);
                    let rest = meet_both(Some((low, high)), Some((first, first + greatest(index))))?;
                    (low, high) = (rest.0 - first, rest.1 - first);
                }
            }
            let carry = match when {
                [Some(_), None] => TvByte::new(0, 1 << flag::C),
                [None, Some(_)] => TvByte::new(1 << flag::C, 1 << flag::C),
                _ => continue,
            };
            meet(&mut self.state.data, machine.status_address(), carry)?;
        }
        Some(is_narrowed)
    }

    /// The present content with nothing known of equal cells.
    pub(crate) fn stored_apart(&mut self, store: &mut Store) -> State {
        State::of(self.memory(store), Equalities::default())
    }

    /// The cells that hold the same after a step.
    fn equalities_now(&self) -> Equalities {
        let silence = self.silence;
        let most = 2 * self.equalities.list().len() + PAGE_CELLS;
        let mut holders: Vec<(Value, DataAddress)> = Vec::with_capacity(most);
        // Contents of the entry have the same name behind the step.
        let mut of_entry: Vec<(DataAddress, Value)> = Vec::with_capacity(most);
        let mut unknown: Vec<(DataAddress, Value)> = Vec::new();
        let mut hold = |value: Value, cell: DataAddress| match value {
            Value::Of(_) => holders.push((value, cell)),
            Value::Entry(_) | Value::Result(_) if value == unsaid(cell, silence) => {}
            Value::Entry(_) | Value::Result(_) => of_entry.push((cell, value)),
        };
        let mut is_changed = vec![false; self.pages.len()];
        for page in self.state.data.changed_pages() {
            is_changed[page] = true;
            for (cell, content) in (page * PAGE_CELLS..).map(DataAddress::of_index).zip(self.state.data.page(page)) {
                match value_of(content.number) {
                    None if is_on(Fault::NothingRenamed) => hold(self.equalities.value(cell, silence), cell),
                    Some(value) if is_told(value, content.byte) => hold(value, cell),
                    _ if silence == Silence::Unchanged => unknown.push((cell, Value::Of(cell))),
                    _ => {}
                }
            }
        }
        let in_changed = |cell: DataAddress| is_changed[cell.index() / PAGE_CELLS];
        for (cell, value) in self.equalities.values(silence) {
            if !is_told(value, self.state.data.get(cell).byte) {
                if silence == Silence::Unchanged && !in_changed(cell) {
                    unknown.push((cell, Value::Of(cell)));
                }
                continue;
            }
            if !in_changed(cell) {
                hold(value, cell);
            }
            if let Value::Of(lowest) = value
                && !in_changed(lowest)
            {
                hold(value, lowest);
            }
        }
        // What a cell of another page held is held there still.
        let elsewhere: Vec<(Value, DataAddress)> = holders
            .iter()
            .filter_map(|(value, cell)| match value {
                Value::Of(other) if other != cell && !in_changed(*other) => Some((*value, *other)),
                _ => None,
            })
            .collect();
        holders.extend(elsewhere);
        let mut list = rename(holders, silence);
        list.extend(of_entry);
        list.extend(unknown);
        list.sort_unstable();
        // A known cell is told nothing of by itself, and something as the lowest one of those that hold the same; each is true.
        list.dedup_by_key(|one| one.0);
        Equalities::new(list)
    }

    /// Narrows cells that hold the same to what all of them allow; none if that is nothing.
    fn narrow(&mut self, equalities: &Equalities) -> Option<()> {
        let silence = self.silence;
        let mut copies: Vec<(DataAddress, DataAddress)> = Vec::with_capacity(equalities.list().len());
        let mut same: Vec<(Value, DataAddress)> = Vec::with_capacity(equalities.list().len());
        for (cell, value) in equalities.values(silence) {
            match value {
                Value::Of(lowest) => copies.extend((lowest != cell).then_some((lowest, cell))),
                Value::Entry(entry) => {
                    let is_kept = entry != cell && equalities.value(entry, silence) == value;
                    same.extend(is_kept.then_some((value, entry)));
                    same.push((value, cell));
                }
                Value::Result(_) => {}
            }
        }
        for (lowest, cell) in &copies {
            let all = self.state.data.get(*lowest).byte.meet(self.state.data.get(*cell).byte)?;
            self.narrow_cell(*lowest, all);
        }
        for (lowest, cell) in &copies {
            self.narrow_cell(*cell, self.state.data.get(*lowest).byte);
        }
        sort(&mut same);
        same.dedup();
        for cells in same.chunk_by(|a, b| a.0 == b.0).filter(|cells| cells.len() > 1) {
            let mut all = TvByte::UNKNOWN;
            for (_, cell) in cells {
                all = all.meet(self.state.data.get(*cell).byte)?;
            }
            cells.iter().for_each(|(_, cell)| self.narrow_cell(*cell, all));
        }
        Some(())
    }

    /// Replaces what is known of a cell that keeps its value.
    fn narrow_cell(&mut self, cell: DataAddress, byte: TvByte) {
        let content = *self.state.data.get(cell);
        if content.byte != byte {
            self.state.data.set(cell, NumberedByte { byte, ..content });
        }
    }

    fn memory(&self, store: &mut Store) -> Memory {
        let mut blocks = self.blocks.clone();
        let mut changed = self.state.data.changed_pages().peekable();
        while let Some(first) = changed.next() {
            let index = first / BLOCK_PAGES;
            let mut block = match self.blocks[index] {
                NONE => [0; BLOCK_PAGES],
                number => *store.block(number),
            };
            block[first % BLOCK_PAGES] = store.page_number(self.page(first));
            while let Some(page) = changed.next_if(|page| page / BLOCK_PAGES == index) {
                block[page % BLOCK_PAGES] = store.page_number(self.page(page));
            }
            blocks[index] = store.block_number(block);
        }
        Memory::new(blocks)
    }

    fn page(&self, page: usize) -> Page {
        let cells = self.state.data.page(page);
        std::array::from_fn(|index| cells[index].byte)
    }

    /// Makes the present state the content of everything, as after power-on: all pages count as changed.
    pub(crate) fn begin(&mut self, state: MachineState<NumberedByte>, store: &mut Store) {
        self.state = state;
        self.silence = Silence::Nothing;
        self.equalities = Equalities::default();
        let unknown = store.page_number([TvByte::UNKNOWN; PAGE_CELLS]);
        let block = store.block_number([unknown; BLOCK_PAGES]);
        self.pages.fill(NONE);
        self.blocks.fill(block);
        for cell in (0..self.state.data.len()).step_by(PAGE_CELLS).map(DataAddress::of_index) {
            let content = *self.state.data.get(cell);
            self.state.data.set(cell, content);
        }
    }
}

/// The value of a cell of which nothing else is said.
fn unsaid(cell: DataAddress, silence: Silence) -> Value {
    match silence {
        Silence::Nothing => Value::Of(cell),
        Silence::Unchanged => Value::Entry(cell),
    }
}

/// True if it is of use to tell which cells hold a value: that two cells hold the same number is told by their bytes.
fn is_told(value: Value, byte: TvByte) -> bool {
    matches!(value, Value::Entry(_)) || byte.known().is_none()
}

/// The value number of a value.
pub(crate) fn number_of(value: Value) -> u32 {
    match value {
        Value::Of(cell) => u32::from(cell.0) + 1,
        Value::Entry(cell) => ENTRY + u32::from(cell.0) + 1,
        // No cell is said to hold one.
        Value::Result(_) => 0,
    }
}

/// The value that has a number; none for values of which nothing is known.
fn value_of(number: u32) -> Option<Value> {
    match number {
        0 => None,
        number if number > ENTRY => Some(Value::Entry(DataAddress((number - ENTRY - 1) as u16))),
        number => Some(Value::Of(DataAddress((number - 1) as u16))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::linear::machine;
    use avr_isa::Instruction as I;
    use avr_testkit::image::{Code, r};

    #[test]
    fn each_cell_is_listed_once_where_a_known_one_has_copies() {
        let mut code = Code::with_vectors(0x80, &[]);
        code.place(0x80);
        code.add(I::Nop);
        let machine = machine(&code);
        let (mut store, mut workspace) = (Store::default(), Workspace::new(&machine));
        let (known, copy) = (r(24).address(), DataAddress(0x100));
        for cell in machine.addresses() {
            workspace.state.data.set(cell, NumberedByte::new(TvByte::UNKNOWN));
        }
        let unknown = workspace.memory(&mut store);
        let memory = store.overwrite(&unknown, &[(known, TvByte::constant(3))]);
        let list = vec![(known, Value::Of(known)), (copy, Value::Of(known))];
        workspace.load(&State::of(memory, Equalities::new(list.clone())), Silence::Unchanged, &store);
        let now = workspace.equalities_now();
        assert!(now.are_well_formed(Silence::Unchanged, machine.cells()), "{now:?}");
        assert_eq!(now.list(), list);
    }
}
