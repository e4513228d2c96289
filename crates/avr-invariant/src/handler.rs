//! Handlers as seen from what they interrupt: where they begin, and what they leave behind.

use avr_isa::DataAddress;
use avr_machine::{Control, Machine, flag};
use three_valued::{ByteDomain, Truth, TvByte};

use crate::equalities::{Equalities, Silence, Value};
use crate::faults::{Fault, is_on};
use crate::intervals::{Range, Ranges, add};
use crate::map::{Exit, Place, State, Thread};
use crate::memory::Store;
use crate::ranges::holders;

/// The entry into a handler.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt {
    /// The place at which it begins.
    pub(crate) place: Place,
    /// The state behind the entry, with the equalities of the interrupted thread.
    pub(crate) state: State,
}

impl Interrupt {
    /// The state with which the handler begins: each cell is as it is now.
    pub(crate) fn beginning(&self) -> State {
        let equalities = match is_on(Fault::EntryOfInterrupted) {
            true => self.state.equalities.rigid(),
            false => Equalities::default(),
        };
        let state = &self.state;
        let mut begun = State::of(state.memory.clone(), equalities);
        // SOUND: what cells hold is what they hold at the entry. What was at another entry is left out.
        let at_entry = |value: &Value| match value {
            Value::Of(cell) => Some(Value::Entry(*cell)),
            // The handler is at no division yet.
            Value::Entry(_) | Value::Result(_) => None,
        };
        let ranges = state.ranges.list().iter().filter_map(|range| {
            Some(Range { bytes: range.bytes.iter().map(at_entry).collect::<Option<_>>()?, when: range.when })
        });
        begun.ranges = Ranges::new(ranges.collect());
        begun
    }

    /// The place and the state to which the interrupted thread goes on from `from` when the handler returns so; none if it does not.
    ///
    /// SOUND: a cell that the return does not list holds what it held when the handler began, which is what the entry left in it, and what the
    /// return says as well. All others hold what the return says, with new values.
    pub(crate) fn resumed(
        &self,
        machine: &Machine,
        from: (&Place, &State),
        exit: &Exit,
        store: &mut Store,
    ) -> Option<(Place, State)> {
        let (from, before) = from;
        let silence = from.thread.silence();
        let status = machine.status_address();
        let is_kept = |cell: DataAddress| {
            cell < DataAddress::IO && is_on(Fault::RegistersTrusted)
                || !machine.stack_pointer().contains(cell) && is_on(Fault::InterferenceForgotten)
        };
        let base = if is_on(Fault::EntryForgotten) { before } else { &self.state };
        let changed = exit.state.equalities.changed().filter(|cell| *cell != status && !is_kept(*cell));
        let dead = if is_on(Fault::DeadCellsKept) { dead_cells(exit) } else { Vec::new() };
        let mut cells: Vec<DataAddress> = changed.chain([status]).chain(dead.iter().copied()).collect();
        cells.sort_unstable();
        cells.dedup();
        let is_status_changed = exit.state.equalities.changed().any(|cell| cell == status);
        let content = |cell: DataAddress, store: &Store| -> TvByte {
            if dead.contains(&cell) {
                return store.cell(&before.memory, cell);
            }
            if cell != status || is_status_changed {
                return store.cell(&exit.state.memory, cell);
            }
            store.cell(&base.memory, cell).with_bit(flag::I, &Truth::True)
        };
        let contents: Vec<(DataAddress, TvByte)> = cells.iter().map(|cell| (*cell, content(*cell, store))).collect();
        let equalities = match is_on(Fault::NumbersKept) {
            true => base.equalities.clone(),
            false if is_on(Fault::NestedWritesForgotten) => base.equalities.overwrite(&cells, Silence::Nothing),
            false => base.equalities.overwrite(&cells, silence),
        };
        let mut is_possible = true;
        let mut kept = |cell: DataAddress, base: TvByte, exit: TvByte| {
            if cell == status || is_kept(cell) || cells.binary_search(&cell).is_ok() {
                return base;
            }
            base.meet(exit).unwrap_or_else(|| {
                is_possible = false;
                base
            })
        };
        let memory = store.merge(&base.memory, &exit.state.memory, &mut kept);
        if !is_possible {
            return None;
        }
        let memory = store.overwrite(&memory, &contents);
        let mut state = State::of(memory, equalities);
        let is_overwritten = |cell: DataAddress| cells.binary_search(&cell).is_ok();
        let are_registers_changed = is_status_changed || cells.iter().any(|cell| *cell < DataAddress::IO);
        // SOUND: of what was before, that of cells which are as before; of the carry, if SREG is; of what the return says, that of what cells hold now.
        let still = |value: Value| match value {
            Value::Entry(_) => Some(value),
            // SOUND: a result depends on registers and flags alone.
            Value::Result(_) => (!are_registers_changed || is_on(Fault::ResultsOfInterrupted)).then_some(value),
            Value::Of(_) if is_on(Fault::RangesOfInterrupted) => Some(value),
            Value::Of(_) => {
                let cell = holders(base, value, silence).find(|cell| !is_overwritten(*cell))?;
                Some(state.equalities.value(cell, silence))
            }
        };
        let equations = base.equations_behind(&still, !is_status_changed, &state, silence, store);
        let before = base.ranges.list().iter().filter_map(|range| {
            let when = if is_status_changed { range.without_carry().when } else { range.when };
            Some(Range { bytes: range.bytes.iter().map(|value| still(*value)).collect::<Option<_>>()?, when })
        });
        let left = exit.state.ranges.list().iter().filter_map(|range| {
            let now = |value: &Value| {
                let cell = holders(&exit.state, *value, Silence::Unchanged).find(|cell| *cell != status)?;
                Some(state.equalities.value(cell, silence))
            };
            Some(Range { bytes: range.bytes.iter().map(now).collect::<Option<_>>()?, ..range.without_carry() })
        });
        let mut found: Vec<Range> = Vec::new();
        before.chain(left).for_each(|range| add(&mut found, range));
        state.ranges = state.own_ranges(found, silence, store);
        state.equations = equations;
        let control = Control { pc: from.control.pc, ..exit.control };
        Some((Place { thread: from.thread, control, calls: from.calls }, state))
    }
}

/// The cells of the stack that are not in use when a handler returns.
fn dead_cells(exit: &Exit) -> Vec<DataAddress> {
    match exit.thread {
        Thread::Handler { pointer, .. } => pointer.saturating_sub(0x20).through(pointer).collect(),
        Thread::Main => Vec::new(),
    }
}
