//! Backward slices of a program from what opens a map, to the cells that it depends on (Weiser, "Program slicing").

use std::collections::{BTreeMap, BTreeSet};

use avr_isa::{Addressing, ControlFlow, DataAddress, FlashWordAddress, Instruction, MemoryAccess, PointerMode};
use avr_machine::{Fetched, Machine};

use super::hints::Hints;
use super::numbers::{Arithmetic, Numbers};
use super::pointers::LivePointers;
use super::trace::Trace;

/// A cell by its address, or a flag.
type Variable = u16;

/// The first flag.
const FLAGS: Variable = 0xff00;

/// The first cell that is no register.
const MEMORY: Variable = 0x20;

/// The most variables that are added to the instructions of a slice.
const MOST_ADDED: usize = 200_000;

/// The most times that the conditions of loops are added.
const MOST_ROUNDS: usize = 8;

/// The cells that an instruction reads or writes in memory, from the first to the last.
pub(crate) type Touched = BTreeMap<FlashWordAddress, (DataAddress, DataAddress)>;

/// The steps to each instruction.
pub(crate) type Ways = BTreeMap<FlashWordAddress, Vec<Way>>;

/// The dependences that a slice follows, and the cells of it that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Depth {
    /// All, of which cells are told apart that hold nothing but numbers that are loaded as they are: states of a machine, and the like.
    Numbers,
    /// Those of values, and of the number of rounds of loops in which they change. What changes for ever is not told apart.
    Rounds,
    /// Those on branches as well, that decide whether values change.
    Branches,
}

/// An instruction with what is looked at before it.
pub(crate) type Root = (FlashWordAddress, Vec<DataAddress>);

/// A slice in the making.
pub(crate) struct Slice<'a> {
    machine: &'a Machine,
    trace: &'a Trace,
    touched: &'a Touched,
    /// The steps to each instruction.
    before: Ways,
    /// The instructions behind each one in the same function.
    behind: BTreeMap<FlashWordAddress, BTreeSet<FlashWordAddress>>,
    /// The loops by their heads.
    loops: BTreeMap<FlashWordAddress, BTreeSet<FlashWordAddress>>,
    /// The first instruction of what a call leads to, one of them.
    callees: BTreeMap<FlashWordAddress, FlashWordAddress>,
    /// The instructions of functions by their first one.
    bodies: BTreeMap<FlashWordAddress, BTreeSet<FlashWordAddress>>,
    /// The variables on which something depends before each instruction.
    relevant: BTreeMap<FlashWordAddress, BTreeSet<Variable>>,
    waiting: BTreeSet<FlashWordAddress>,
    added: usize,
}

/// A step backward.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    /// This instruction is executed.
    Executes(FlashWordAddress),
    /// This one is interrupted, or returns from a handler.
    Passes(FlashWordAddress),
}

impl<'a> Slice<'a> {
    pub(crate) fn new(machine: &'a Machine, trace: &'a Trace, touched: &'a Touched) -> Self {
        let mut before: BTreeMap<FlashWordAddress, BTreeSet<Way>> = BTreeMap::new();
        let mut behind: BTreeMap<FlashWordAddress, BTreeSet<FlashWordAddress>> = BTreeMap::new();
        for (from, to) in &trace.ways {
            before.entry(*to).or_default().insert(Way::Executes(*from));
            match machine.program.control_flow(*from) {
                Some(ControlFlow::Call { next, .. } | ControlFlow::IndirectCall { next }) => {
                    behind.entry(*from).or_default().insert(next);
                }
                Some(ControlFlow::Return) => {}
                Some(ControlFlow::Branch { next, target } | ControlFlow::Skip { next, target }) => {
                    behind.entry(*from).or_default().extend([next, target]);
                }
                _ => _ = behind.entry(*from).or_default().insert(*to),
            }
        }
        for (from, first, number) in &trace.begins {
            before.entry(*first).or_default().insert(Way::Passes(*from));
            let ends = trace.ends.iter().filter(|end| end.0 == *number);
            before.entry(*from).or_default().extend(ends.map(|end| Way::Passes(end.1)));
        }
        let before = before.into_iter().map(|(to, ways)| (to, ways.into_iter().collect())).collect();
        let is_call = |pc: FlashWordAddress| {
            let flow = machine.program.control_flow(pc);
            matches!(flow, Some(ControlFlow::Call { .. } | ControlFlow::IndirectCall { .. }))
        };
        let callees: BTreeMap<FlashWordAddress, FlashWordAddress> =
            trace.ways.iter().copied().filter(|(from, _)| is_call(*from)).collect();
        let next = |pc: FlashWordAddress| behind.get(&pc).into_iter().flatten().copied().collect();
        let bodies = callees.values().map(|entry| (*entry, reached([*entry], &next))).collect();
        let loops = loops(&behind);
        let (relevant, waiting) = (BTreeMap::new(), BTreeSet::new());
        Self { machine, trace, touched, before, behind, loops, callees, bodies, relevant, waiting, added: 0 }
    }

    /// The cells on which what is looked at depends, and that had known contents before states were joined.
    pub(crate) fn hints(mut self, roots: &[Root], depth: Depth) -> Hints {
        for (pc, cells) in roots {
            self.add(*pc, cells.iter().map(|cell| cell.0).collect());
        }
        self.follow();
        for _ in 0..MOST_ROUNDS {
            let before = self.added;
            self.add_rounds();
            if depth != Depth::Rounds {
                self.add_branches(roots);
            }
            self.follow();
            if self.added == before {
                break;
            }
        }
        let lost: BTreeSet<DataAddress> = self.trace.lost.values().flatten().copied().collect();
        let status = self.machine.status_address();
        let pointers = LivePointers::new(self.machine);
        let is_told = |cell: &DataAddress| *cell != status && !self.machine.stack_pointer().contains(*cell);
        let program = (self.touched, &self.before);
        let exact = Numbers::new(self.machine, program, Arithmetic::None, &[]);
        let numbers = match depth {
            Depth::Numbers => exact,
            Depth::Rounds => Numbers::new(self.machine, program, Arithmetic::Any, &self.endless(&exact)),
            Depth::Branches => Numbers::new(self.machine, program, Arithmetic::Any, &[]),
        };
        let mut hints = Hints::default();
        for (pc, variables) in &self.relevant {
            let told = variables.iter().map(|variable| DataAddress(*variable)).filter(is_told);
            let is_pointer = |cell: DataAddress| cell.0 < 32 && pointers.at(*pc) >> (cell.0 / 2) & 1 == 1;
            let is_wanted = |cell: &DataAddress| {
                let is_one_of_few = self.trace.few.contains(&(*pc, *cell));
                (lost.contains(cell) || is_one_of_few) && numbers.has(*pc, *cell) || is_one_of_few && is_pointer(*cell)
            };
            hints.add(*pc, told.filter(is_wanted));
        }
        hints
    }

    fn add(&mut self, pc: FlashWordAddress, variables: BTreeSet<Variable>) {
        let there = self.relevant.entry(pc).or_default();
        let before = there.len();
        there.extend(variables);
        let added = there.len() - before;
        self.added += added;
        if added > 0 {
            self.waiting.insert(pc);
        }
    }

    /// Follows all dependences of values.
    fn follow(&mut self) {
        while let Some(pc) = self.waiting.pop_last() {
            if self.added > MOST_ADDED {
                self.waiting.clear();
                return;
            }
            let after = self.relevant.get(&pc).cloned().unwrap_or_default();
            for way in self.before.get(&pc).cloned().unwrap_or_default() {
                match way {
                    Way::Executes(from) => self.add(from, self.needed(from, &after)),
                    Way::Passes(from) => self.add(from, after.range(MEMORY..FLAGS).copied().collect()),
                }
            }
        }
    }

    /// The variables on which those behind an instruction depend before it.
    fn needed(&self, pc: FlashWordAddress, after: &BTreeSet<Variable>) -> BTreeSet<Variable> {
        let Fetched::Instruction { instruction, .. } = self.machine.program.fetch(pc) else { return after.clone() };
        let mut before = after.clone();
        let mut is_needed = false;
        if let Instruction::Movw { rd, rr } = instruction {
            for (to, from) in [(rd, rr), (rd.next(), rr.next())] {
                if after.contains(&to.address().0) {
                    before.remove(&to.address().0);
                    before.insert(from.address().0);
                }
            }
            return before;
        }
        let written = instruction.registers_written().iter().map(|register| register.address().0);
        let flags = flags(instruction.flags_written().bits());
        for variable in written.chain(flags) {
            is_needed |= before.remove(&variable);
        }
        let touched = self.touched.get(&pc).map(|(first, last)| first.0..=last.0);
        let is_load = is_load(instruction.memory_access());
        if let Some(cells) = touched {
            if is_load && is_needed && cells.end() - cells.start() < 16 {
                before.extend(cells.clone());
            }
            if !is_load && after.range(cells.clone()).next().is_some() {
                is_needed = true;
                if cells.start() == cells.end() {
                    before.remove(cells.start());
                }
            }
        }
        if is_needed {
            before.extend(read(instruction));
        }
        before
    }

    /// Adds what decides how many rounds loops have in which something of the slice changes from one round to the other.
    fn add_rounds(&mut self) {
        let mut exits = Vec::new();
        for (head, body) in &self.loops {
            let Some(carried) = self.relevant.get(head) else { continue };
            let changes = |pc: &FlashWordAddress| self.written(*pc).any(|variable| carried.contains(&variable));
            let is_called = |pc: &FlashWordAddress| {
                let callee = self.callees.get(pc);
                callee.is_some_and(|callee| self.bodies[callee].iter().any(changes))
            };
            if body.iter().any(|pc| changes(pc) || is_called(pc)) {
                let leaves = |pc: &&FlashWordAddress| {
                    let mut targets = self.behind.get(pc).into_iter().flatten();
                    targets.any(|to| !body.contains(to))
                };
                exits.extend(body.iter().filter(leaves).copied());
            }
        }
        exits.into_iter().for_each(|exit| self.add_condition(exit));
    }

    /// The cells that change for ever: from one round to the other of loops that never end, and from one call of a handler to the other.
    fn endless(&self, exact: &Numbers<'_>) -> Vec<(FlashWordAddress, DataAddress)> {
        let ends = |(head, body): (&FlashWordAddress, &BTreeSet<FlashWordAddress>)| {
            let leaves = |pc: &FlashWordAddress| self.behind.get(pc).into_iter().flatten().any(|to| !body.contains(to));
            (!body.iter().any(leaves)).then_some(*head)
        };
        let heads = self.loops.iter().filter_map(ends).chain(self.trace.begins.iter().map(|begin| begin.1));
        let heads: BTreeSet<FlashWordAddress> = heads.collect();
        let lost = heads.into_iter().filter_map(|head| Some((head, self.trace.lost.get(&head)?)));
        let cells = lost.flat_map(|(head, cells)| cells.iter().map(move |cell| (head, *cell)));
        cells.filter(|(head, cell)| !exact.has(*head, *cell)).collect()
    }

    /// The variables that an instruction may write, but for flags.
    fn written(&self, pc: FlashWordAddress) -> impl Iterator<Item = Variable> {
        let instruction = match self.machine.program.fetch(pc) {
            Fetched::Instruction { instruction, .. } => Some(instruction),
            Fetched::Reserved | Fetched::Outside => None,
        };
        let is_store = instruction.is_some_and(|instruction| !is_load(instruction.memory_access()));
        let stored = self.touched.get(&pc).filter(|_| is_store).map(|(first, last)| first.0..=last.0);
        let registers = instruction.map(Instruction::registers_written);
        let registers =
            registers.into_iter().flat_map(|all| all.iter().map(|register| register.address().0).collect::<Vec<_>>());
        registers.chain(stored.into_iter().flatten())
    }

    /// Adds what branches decide by that lead to instructions of the slice on one side only.
    fn add_branches(&mut self, roots: &[Root]) {
        let defines = |pc: &FlashWordAddress| {
            let after = |to: &FlashWordAddress| self.relevant.get(to);
            let targets = || self.behind.get(pc).into_iter().flatten().filter_map(after);
            self.written(*pc).any(|variable| targets().any(|variables| variables.contains(&variable)))
        };
        let mut wanted: BTreeSet<FlashWordAddress> = self.behind.keys().copied().filter(defines).collect();
        wanted.extend(roots.iter().map(|root| root.0));
        loop {
            let count = wanted.len();
            for (from, callee) in &self.callees {
                if self.bodies[callee].intersection(&wanted).next().is_some() {
                    wanted.insert(*from);
                }
            }
            if wanted.len() == count {
                break;
            }
        }
        let behind = |pc: FlashWordAddress| -> Vec<FlashWordAddress> {
            self.behind.get(&pc).into_iter().flatten().copied().collect()
        };
        let branches: Vec<FlashWordAddress> =
            self.behind.iter().filter(|(_, targets)| targets.len() > 1).map(|(pc, _)| *pc).collect();
        let mut conditions = Vec::new();
        for branch in branches {
            let without = |pc: FlashWordAddress| if pc == branch { Vec::new() } else { behind(pc) };
            let sides: Vec<BTreeSet<FlashWordAddress>> = behind(branch)
                .into_iter()
                .map(|side| {
                    let mut all = reached([side], &without);
                    all.insert(side);
                    all.intersection(&wanted).copied().collect()
                })
                .collect();
            if sides.windows(2).any(|two| two[0] != two[1]) {
                conditions.push(branch);
            }
        }
        conditions.into_iter().for_each(|branch| self.add_condition(branch));
    }

    /// Adds what a branch reads.
    fn add_condition(&mut self, pc: FlashWordAddress) {
        let Fetched::Instruction { instruction, .. } = self.machine.program.fetch(pc) else { return };
        self.add(pc, read(instruction).collect());
    }
}

/// True for loads and returns.
pub(crate) fn is_load(access: MemoryAccess) -> bool {
    matches!(
        access,
        MemoryAccess::Load(_)
            | MemoryAccess::LoadIo { .. }
            | MemoryAccess::LoadIoBit { .. }
            | MemoryAccess::Pop
            | MemoryAccess::PopReturnAddress
    )
}

/// The natural loops of the back edges, by their heads: steps to an instruction that is not behind the one that they come from.
fn loops(
    behind: &BTreeMap<FlashWordAddress, BTreeSet<FlashWordAddress>>,
) -> BTreeMap<FlashWordAddress, BTreeSet<FlashWordAddress>> {
    let mut preceding: BTreeMap<FlashWordAddress, Vec<FlashWordAddress>> = BTreeMap::new();
    let mut backward: BTreeMap<FlashWordAddress, Vec<FlashWordAddress>> = BTreeMap::new();
    for (from, targets) in behind {
        for to in targets {
            preceding.entry(*to).or_default().push(*from);
            if to <= from {
                backward.entry(*to).or_default().push(*from);
            }
        }
    }
    let next =
        |pc: FlashWordAddress| -> Vec<FlashWordAddress> { behind.get(&pc).into_iter().flatten().copied().collect() };
    let body = |(head, ends): (FlashWordAddress, Vec<FlashWordAddress>)| {
        let forward = reached([head], &next);
        let ends = ends.into_iter().filter(|pc| forward.contains(pc));
        let mut body = reached(ends, &|pc| match pc == head {
            true => Vec::new(),
            false => preceding.get(&pc).into_iter().flatten().copied().filter(|pc| forward.contains(pc)).collect(),
        });
        let is_loop = !body.is_empty();
        body.insert(head);
        is_loop.then_some((head, body))
    };
    backward.into_iter().filter_map(body).collect()
}

/// The registers and flags that an instruction reads.
fn read(instruction: Instruction) -> impl Iterator<Item = Variable> {
    let registers = instruction.registers_read().iter().map(|register| register.address().0);
    registers.chain(flags(instruction.flags_read().bits()))
}

fn flags(bits: u8) -> impl Iterator<Item = Variable> {
    (0..8).filter(move |bit| bits >> bit & 1 == 1).map(|bit| FLAGS + bit)
}

/// All that is reached from some, with these if they are reached again.
fn reached(
    from: impl IntoIterator<Item = FlashWordAddress>,
    next: &dyn Fn(FlashWordAddress) -> Vec<FlashWordAddress>,
) -> BTreeSet<FlashWordAddress> {
    let mut waiting: Vec<FlashWordAddress> = from.into_iter().collect();
    let mut all: BTreeSet<FlashWordAddress> = BTreeSet::new();
    while let Some(pc) = waiting.pop() {
        if all.insert(pc) {
            waiting.extend(next(pc));
        }
    }
    all
}

/// The cell that an instruction reads or writes where the pointer or SP has this value.
pub(crate) fn accessed(access: MemoryAccess, pointer: DataAddress) -> DataAddress {
    match access {
        MemoryAccess::Load(Addressing::Indirect { mode, .. })
        | MemoryAccess::Store(Addressing::Indirect { mode, .. }) => match mode {
            PointerMode::Displacement(by) => pointer.wrapping_add(by.into()),
            PointerMode::PostIncrement => pointer,
            PointerMode::PreDecrement => pointer.wrapping_sub(1),
        },
        MemoryAccess::Pop | MemoryAccess::PopReturnAddress => pointer.wrapping_add(1),
        _ => pointer,
    }
}
