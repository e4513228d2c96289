//! The backward slice of an alarm: what the value depends on that is not known (Weiser, "Program slicing", 1981).
//!
//! Only what is not known, or not the same, in all states of the map at a place is followed. The slice names a cause; nothing is proved by it.

use super::places::{PlaceGraph, PlaceId};
use super::{Dependence, DependenceKind};
use avr_analysis::iteration_order::IterationOrder;
use avr_isa::{
    Addressing, ControlFlow, DataAddress, FlashByteAddress, FlashWordAddress, Instruction, MemoryAccess, Pointer,
    PointerMode, Register,
};
use petgraph::algo::kosaraju_scc;
use petgraph::graphmap::DiGraphMap;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The most contents of cells that are followed.
const MOST_ITEMS: usize = 20_000;
/// The most that a displacement adds to a pointer.
const REACH: u16 = 63;
/// The most cells that a load or store may concern before it is not followed.
const MOST_CELLS: usize = 64;
/// The flags that tell how a comparison came out: C, Z, N, V, S.
const COMPARED: u8 = 0x1f;

/// The content of a cell that matters: that of a register before a place, or that of a cell of the memory whenever it is loaded.
type Item = (Option<PlaceId>, DataAddress);

/// A slice under way.
pub(super) struct Slice<'a> {
    graph: &'a PlaceGraph<'a>,
    /// The bits of each content that matter.
    masks: FxHashMap<Item, u8>,
    numbers: FxHashMap<Item, u32>,
    queue: VecDeque<Item>,
    depends: DiGraphMap<u32, ()>,
    found: Vec<Dependence>,
    /// The computations of a register: what is changed, what it is changed from, and the dependence that it would be.
    changes: Vec<(Item, Item, usize, Dependence)>,
    /// The stores; none before they are needed.
    stores: Option<Stores>,
    order: IterationOrder,
    /// The heads of loops whose exits are followed.
    loops: BTreeSet<FlashWordAddress>,
}

/// The places at which cells are stored, with the register that is.
#[derive(Default)]
struct Stores {
    of: BTreeMap<DataAddress, Vec<(PlaceId, Register)>>,
    /// Those through a pointer that may reach many cells.
    wide: Vec<(PlaceId, Register, Pointer)>,
}

impl<'a> Slice<'a> {
    /// The dependences of registers or cells before some places, the nearest first.
    pub(super) fn of(graph: &'a PlaceGraph<'a>, places: &[PlaceId], cells: &BTreeSet<DataAddress>) -> Vec<Dependence> {
        let mut slice = Self {
            graph,
            masks: FxHashMap::default(),
            numbers: FxHashMap::default(),
            queue: VecDeque::new(),
            depends: DiGraphMap::new(),
            found: Vec::new(),
            changes: Vec::new(),
            stores: None,
            order: IterationOrder::new(&graph.machine().program),
            loops: BTreeSet::new(),
        };
        for (place, cell) in places.iter().flat_map(|place| cells.iter().map(move |cell| (*place, *cell))) {
            if !graph.is_known(place, cell) {
                slice.push(None, (Some(place).filter(|_| Register::at(cell).is_some()), cell), u8::MAX);
            }
        }
        loop {
            while let Some(item) = slice.queue.pop_front() {
                match item {
                    (Some(place), cell) if cell == graph.machine().status_address() => slice.follow_flags(item, place),
                    (Some(place), cell) => slice.follow_register(item, place, cell),
                    (None, cell) => slice.follow_memory(item, cell),
                }
            }
            let carried = slice.carried();
            let heads = carried.iter().filter_map(|(_, change)| Some(FlashByteAddress(change.in_loop?).word()));
            let heads: Vec<FlashWordAddress> = heads.filter(|head| !slice.loops.contains(head)).collect();
            if heads.is_empty() {
                return slice.result(carried);
            }
            slice.follow_exits(heads);
        }
    }

    /// Follows what decides that loops are left.
    fn follow_exits(&mut self, heads: Vec<FlashWordAddress>) {
        let (graph, status) = (self.graph, self.graph.machine().status_address());
        self.loops.extend(heads.iter().copied());
        for place in graph.all() {
            let pc = graph.pc(place);
            let Some(ControlFlow::Branch { next, target }) = graph.machine().program.control_flow(pc) else { continue };
            let is_in = |at: FlashWordAddress, head: &FlashWordAddress| self.order.loops(at).contains(head);
            let is_exit = |head: &&FlashWordAddress| is_in(pc, head) && is_in(next, head) != is_in(target, head);
            if heads.iter().find(is_exit).is_some() {
                self.push(None, (Some(place), status), u8::MAX);
            }
        }
    }

    /// Follows flags to the steps that set them.
    fn follow_flags(&mut self, item: Item, place: PlaceId) {
        let (graph, mask) = (self.graph, self.masks[&item]);
        for before in graph.before(place) {
            let instruction = graph.instruction(*before);
            match instruction.filter(|instruction| instruction.flags_written().bits() & COMPARED != 0) {
                Some(instruction) => {
                    let read = instruction.registers_read();
                    let unknown = read.iter().map(Register::address).filter(|read| !graph.is_known(*before, *read));
                    unknown.for_each(|read| self.push(Some(item), (Some(*before), read), u8::MAX));
                    if instruction.flags_read().bits() & COMPARED != 0 {
                        self.push(Some(item), (Some(*before), item.1), mask);
                    }
                }
                None => self.push(Some(item), (Some(*before), item.1), mask),
            }
        }
    }

    fn number(&mut self, item: Item) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(item).or_insert(next)
    }

    /// Adds some bits of a content that another one depends on.
    fn push(&mut self, from: Option<Item>, item: Item, mask: u8) {
        if self.numbers.len() >= MOST_ITEMS && !self.numbers.contains_key(&item) {
            return;
        }
        let number = self.number(item);
        if let Some(from) = from {
            let from = self.number(from);
            self.depends.add_edge(from, number, ());
        }
        let known = self.masks.entry(item).or_default();
        if mask & !*known != 0 {
            *known |= mask;
            self.queue.push_back(item);
        }
    }

    fn note(&mut self, kind: DependenceKind, cell: DataAddress, mask: u8, place: Option<PlaceId>) {
        let pc = place.map(|place| self.graph.pc(place).byte().0);
        let same = |one: &&mut Dependence| (one.kind, one.cell, one.pc) == (kind, cell, pc);
        match self.found.iter_mut().find(same) {
            Some(known) => known.mask |= mask,
            None => self.found.push(Dependence { kind, cell, more_cells: 0, mask, pc, in_loop: None }),
        }
    }

    /// Follows a register to the steps that lead to a place.
    fn follow_register(&mut self, item: Item, place: PlaceId, cell: DataAddress) {
        let Some(register) = Register::at(cell) else { return };
        let (graph, mask) = (self.graph, self.masks[&item]);
        for before in graph.before(place) {
            match graph.instruction(*before) {
                Some(instruction) if instruction.registers_written().contains(register) => {
                    if graph.is_in_startup(*before) {
                        self.note(DependenceKind::Constant, cell, mask, Some(*before));
                        continue;
                    }
                    self.defined(item, (*before, instruction), (register, mask));
                }
                _ => self.push(Some(item), (Some(*before), cell), mask),
            }
        }
    }

    /// Follows what an instruction writes into a register.
    fn defined(&mut self, item: Item, (place, instruction): (PlaceId, Instruction), (register, mask): (Register, u8)) {
        match instruction.memory_access() {
            MemoryAccess::LoadIo { address } | MemoryAccess::Load(Addressing::Direct(address)) => {
                self.loaded(item, (place, &[address]), (register, mask));
            }
            MemoryAccess::Load(Addressing::Indirect { pointer, mode }) if !is_half(pointer, register) => {
                let cells = self.through(place, pointer, mode);
                self.loaded(item, (place, &cells), (register, mask));
                self.push_pointer(item, place, pointer);
            }
            MemoryAccess::Pop => {
                let cells: Vec<DataAddress> =
                    self.graph.stack_pointers(place).into_iter().map(|pointer| pointer.wrapping_add(1)).collect();
                self.loaded(item, (place, &cells), (register, mask));
            }
            _ => self.computed(item, (place, instruction), (register, mask)),
        }
    }

    /// Follows what is not known of a pointer.
    fn push_pointer(&mut self, item: Item, place: PlaceId, pointer: Pointer) {
        let halves = [pointer.low().address(), pointer.low().next().address()];
        let unknown = halves.into_iter().filter(|half| !self.graph.is_known(place, *half));
        unknown.for_each(|half| self.push(Some(item), (Some(place), half), u8::MAX));
    }

    /// Follows the cells that a register is loaded from.
    fn loaded(&mut self, item: Item, (place, cells): (PlaceId, &[DataAddress]), (register, mask): (Register, u8)) {
        if cells.is_empty() || cells.len() > MOST_CELLS {
            self.note(DependenceKind::Unfollowed, register.address(), mask, Some(place));
        }
        let device = self.graph.machine().device;
        for cell in cells.iter().take(MOST_CELLS) {
            // The state of a register does not tell what is read from it.
            let is_read_as_known = item.0.is_some_and(|after| self.graph.is_known(after, register.address()));
            if device.is_io_area(*cell) && !is_read_as_known {
                self.note(DependenceKind::Input, *cell, mask, Some(place));
            } else if self.graph.is_known(place, *cell) {
                self.note(DependenceKind::Constant, *cell, mask, Some(place));
            } else if Register::at(*cell).is_some() {
                self.push(Some(item), (Some(place), *cell), mask);
            } else {
                self.note(DependenceKind::Variable, *cell, mask, Some(place));
                self.push(Some(item), (None, *cell), mask);
            }
        }
    }

    /// Follows the registers that a register is computed from.
    fn computed(&mut self, item: Item, (place, instruction): (PlaceId, Instruction), (register, mask): (Register, u8)) {
        let is_zero = match instruction {
            Instruction::Eor { rd, rr } | Instruction::Sub { rd, rr } => rd == rr,
            _ => false,
        };
        let mask = match instruction {
            Instruction::Andi { k, .. } => mask & k,
            Instruction::Ori { k, .. } => mask & !k,
            Instruction::Mov { .. } | Instruction::Movw { .. } => mask,
            Instruction::Swap { .. } => mask.rotate_left(4),
            _ => u8::MAX,
        };
        let is_move =
            matches!(instruction, Instruction::Mov { .. } | Instruction::Movw { .. } | Instruction::Andi { .. });
        // Of a pair that is moved or changed, each half depends on its own half first.
        let half = |read: Register| match instruction {
            Instruction::Movw { .. } => read.index() % 2 == register.index() % 2,
            _ => true,
        };
        let read = instruction.registers_read();
        let unknown = read.iter().map(Register::address).filter(|read| !self.graph.is_known(place, *read));
        let unknown: Vec<DataAddress> = unknown.filter(|read| Register::at(*read).is_some_and(half)).collect();
        let carries = instruction.flags_read().bits() & COMPARED != 0 && !is_zero;
        if carries {
            self.push(Some(item), (Some(place), self.graph.machine().status_address()), u8::MAX);
        }
        if is_zero || unknown.is_empty() && !carries {
            return self.note(DependenceKind::Constant, register.address(), mask, Some(place));
        }
        for read in unknown {
            let source = (Some(place), read);
            self.push(Some(item), source, mask);
            if !is_move {
                let pc = Some(self.graph.pc(place).byte().0);
                let kind = DependenceKind::Changed;
                let cell = register.address();
                let change = Dependence { kind, cell, more_cells: 0, mask: u8::MAX, pc, in_loop: None };
                self.changes.push((item, source, self.found.len(), change));
            }
        }
    }

    /// The cells that are reached through a pointer; none if they are too many.
    fn through(&self, place: PlaceId, pointer: Pointer, mode: PointerMode) -> Vec<DataAddress> {
        let Some((low, high)) = self.graph.range(place, pointer) else { return Vec::new() };
        if usize::from(high - low) >= MOST_CELLS {
            return Vec::new();
        }
        let offset = |address: DataAddress| match mode {
            PointerMode::Displacement(offset) => address.wrapping_add(offset.into()),
            PointerMode::PostIncrement => address,
            PointerMode::PreDecrement => address.wrapping_sub(1),
        };
        DataAddress(low).through(DataAddress(high)).map(offset).collect()
    }

    /// Follows a cell of the memory to the places where it is stored.
    fn follow_memory(&mut self, item: Item, cell: DataAddress) {
        if self.stores.is_none() {
            self.stores = Some(self.all_stores());
        }
        let Some(all) = &self.stores else { return };
        let stores = all.of.get(&cell).cloned().unwrap_or_default();
        let may_hit = |(place, _, pointer): &&(PlaceId, Register, Pointer)| {
            let range = self.graph.range(*place, *pointer);
            !self.graph.is_in_startup(*place)
                && range.is_some_and(|(low, high)| {
                    (low.saturating_sub(REACH)..=high.saturating_add(REACH)).contains(&cell.0)
                })
        };
        let wide: Vec<(PlaceId, Register, Pointer)> = all.wide.iter().filter(may_hit).copied().collect();
        if stores.is_empty() && wide.is_empty() {
            return self.note(DependenceKind::Initial, cell, u8::MAX, None);
        }
        let mask = self.masks[&item];
        for (place, register, pointer) in wide {
            self.note(DependenceKind::Stored, cell, u8::MAX, Some(place));
            self.push_pointer(item, place, pointer);
            if !self.graph.is_known(place, register.address()) {
                self.push(Some(item), (Some(place), register.address()), mask);
            }
        }
        for (place, register) in stores {
            if self.graph.is_known(place, register.address()) || self.graph.is_in_startup(place) {
                self.note(DependenceKind::Constant, cell, mask, Some(place));
            } else {
                self.push(Some(item), (Some(place), register.address()), mask);
            }
        }
    }

    fn all_stores(&self) -> Stores {
        let mut stores = Stores::default();
        for place in self.graph.all() {
            let Some(instruction) = self.graph.instruction(place) else { continue };
            let cells = match instruction.memory_access() {
                MemoryAccess::StoreIo { address } | MemoryAccess::Store(Addressing::Direct(address)) => vec![address],
                MemoryAccess::Store(Addressing::Indirect { pointer, mode }) => self.through(place, pointer, mode),
                MemoryAccess::Push => self.graph.stack_pointers(place).into_iter().collect(),
                _ => continue,
            };
            let Some(register) = stored_register(instruction) else { continue };
            if let (MemoryAccess::Store(Addressing::Indirect { pointer, .. }), []) =
                (instruction.memory_access(), cells.as_slice())
            {
                stores.wide.push((place, register, pointer));
            }
            cells.into_iter().for_each(|cell| stores.of.entry(cell).or_default().push((place, register)));
        }
        stores
    }

    /// The changes whose value depends on themselves, with the loop that they are in, and their position among what was found.
    fn carried(&self) -> Vec<(usize, Dependence)> {
        let mut component: FxHashMap<u32, usize> = FxHashMap::default();
        for (number, members) in kosaraju_scc(&self.depends).into_iter().enumerate() {
            component.extend(members.into_iter().map(|member| (member, number)));
        }
        let of = |item: &Item| self.numbers.get(item).and_then(|number| component.get(number));
        let mut all: Vec<(usize, Dependence)> = Vec::new();
        for (item, source, position, change) in &self.changes {
            let is_carried = of(item).is_some() && of(item) == of(source);
            let is_new = all.iter().all(|(_, one)| one.pc != change.pc);
            if is_carried && is_new {
                let pc = change.pc.map(|pc| FlashByteAddress(pc).word());
                let head = pc.and_then(|pc| self.order.loops(pc).last().copied());
                all.push((*position, Dependence { in_loop: head.map(|head| head.byte().0), ..*change }));
            }
        }
        all
    }

    /// The dependences, with the changes of loops, the nearest first. Constants count only where there is nothing else.
    fn result(self, carried: Vec<(usize, Dependence)>) -> Vec<Dependence> {
        let mut positioned = carried;
        positioned.extend(self.found.into_iter().enumerate());
        positioned.sort_by_key(|(position, _)| *position);
        let mut groups: Vec<(Dependence, BTreeSet<DataAddress>)> = Vec::new();
        for (_, one) in positioned {
            match groups.iter_mut().find(|(known, _)| are_told_together(known, &one)) {
                Some((known, cells)) => {
                    known.mask |= one.mask;
                    cells.insert(one.cell);
                }
                None => groups.push((one, BTreeSet::from([one.cell]))),
            }
        }
        let all = groups.into_iter().map(|(one, cells)| Dependence { more_cells: cells.len() - 1, ..one });
        let all: Vec<Dependence> = all.collect();
        let is_constant = |one: &Dependence| one.kind == DependenceKind::Constant;
        match all.iter().all(is_constant) {
            true => all,
            false => all.into_iter().filter(|one| !is_constant(one)).collect(),
        }
    }
}

/// True for cells that one instruction loads or may hit, for what one loop changes, and for initial contents.
fn are_told_together(one: &Dependence, other: &Dependence) -> bool {
    let is_same_place = match one.kind {
        DependenceKind::Variable | DependenceKind::Stored => one.pc == other.pc,
        DependenceKind::Changed => one.in_loop == other.in_loop,
        DependenceKind::Initial => true,
        DependenceKind::Input => one.cell == other.cell,
        DependenceKind::Constant | DependenceKind::Unfollowed => false,
    };
    one.kind == other.kind && is_same_place
}

/// The register that an instruction stores.
fn stored_register(instruction: Instruction) -> Option<Register> {
    let pointer = match instruction.memory_access() {
        MemoryAccess::Store(Addressing::Indirect { pointer, .. }) => Some(pointer),
        _ => None,
    };
    let read = instruction.registers_read();
    let is_stored = |register: &Register| pointer.is_none_or(|pointer| !is_half(pointer, *register));
    read.iter().find(is_stored).or_else(|| read.iter().next())
}

/// True if a register is half of a pointer.
fn is_half(pointer: Pointer, register: Register) -> bool {
    register == pointer.low() || register == pointer.low().next()
}
