//! Accesses to variables of several bytes in several instructions, between which a handler that writes the variable may come.
//!
//! The analysis follows direct addresses, and pointers that are constants in straight-line code. It neither finds all nor are all of
//! its results possible: they are notes, and no verdict rests on them.

use crate::enable_bits::enables_cleared;
use crate::interrupt_enable::InterruptEnables;
use avr_isa::{Addressing, ControlFlow, DataAddress, FlashWordAddress, Instruction, MemoryAccess, PointerMode};
use avr_machine::{Fetched, Machine, Program};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Data address of SREG, and the I flag in it.
const SREG: DataAddress = DataAddress(0x5f);
const I: u8 = 7;
/// The last access follows the first one within so many instructions.
const MOST_INSTRUCTIONS: usize = 16;

/// An access to a variable in several instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornAccess {
    /// The number of the variable.
    pub variable: usize,
    /// True if it is written.
    pub is_write: bool,
    /// The instructions that access its bytes, in order along straight-line code.
    pub accesses: Vec<FlashWordAddress>,
    /// The interrupts that may come in between and whose handlers write the variable.
    pub vectors: Vec<u8>,
}

/// The torn accesses to variables, given by their data addresses, of a machine that starts at a flash word address; in order of
/// their first instructions.
#[must_use]
pub fn torn_accesses(machine: &Machine, start: FlashWordAddress, variables: &[Range<DataAddress>]) -> Vec<TornAccess> {
    let program = &machine.program;
    let constants = constant_stores(program);
    let writers = writers(machine, start, variables, &constants);
    if writers.iter().all(Vec::is_empty) {
        return Vec::new();
    }
    let enables = InterruptEnables::new(machine, start);
    let kept_out = kept_out(machine, start);
    let cleared = enables_cleared(machine);
    let is_reached = |address: FlashWordAddress| {
        let before = enables.before(address);
        before.may_be_clear || before.may_be_set
    };
    let mut found: Vec<TornAccess> = Vec::new();
    for (address, _) in program.instructions().filter(|(address, _)| is_reached(*address)) {
        let Some((cell, is_write)) = direct(program, address) else { continue };
        let Some(variable) = variables.iter().position(|cells| cells.contains(&cell)) else { continue };
        let is_in = |one: &TornAccess| one.is_write == is_write && one.accesses.contains(&address);
        if writers[variable].is_empty() || found.iter().any(is_in) {
            continue;
        }
        let accesses = accesses(program, address, &variables[variable], is_write);
        let may_come = |vector: &u8| {
            let is_kept_out = |at: &FlashWordAddress| {
                kept_out.contains(at) || cleared.get(vector).is_some_and(|cleared| cleared.contains(at))
            };
            accesses.windows(2).any(|pair| {
                let between = straight(program, pair[0]).skip(1).take_while(|at| *at <= pair[1]);
                between.filter(|at| !is_kept_out(at)).any(|at| enables.before(at).may_be_set)
            })
        };
        let vectors: Vec<u8> = writers[variable].iter().copied().filter(may_come).collect();
        if !vectors.is_empty() {
            found.push(TornAccess { variable, is_write, accesses, vectors });
        }
    }
    found
}

/// The cell that a load or store of a data address accesses, and true for a store.
fn direct(program: &Program, address: FlashWordAddress) -> Option<(DataAddress, bool)> {
    match instruction(program, address)?.memory_access() {
        MemoryAccess::Load(Addressing::Direct(cell)) => Some((cell, false)),
        MemoryAccess::Store(Addressing::Direct(cell)) => Some((cell, true)),
        _ => None,
    }
}

fn instruction(program: &Program, address: FlashWordAddress) -> Option<Instruction> {
    match program.fetch(address) {
        Fetched::Instruction { instruction, .. } => Some(instruction),
        Fetched::Reserved | Fetched::Outside => None,
    }
}

/// The straight-line code from an instruction on.
fn straight(program: &Program, from: FlashWordAddress) -> impl Iterator<Item = FlashWordAddress> + '_ {
    let next = |address: &FlashWordAddress| match program.control_flow(*address)? {
        ControlFlow::Next { next } => Some(next),
        _ => None,
    };
    std::iter::successors(Some(from), next).take(MOST_INSTRUCTIONS)
}

/// The accesses to bytes of a variable in straight-line code, each byte once.
fn accesses(
    program: &Program,
    first: FlashWordAddress,
    cells: &Range<DataAddress>,
    is_write: bool,
) -> Vec<FlashWordAddress> {
    let (mut seen, mut all) = (BTreeSet::new(), Vec::new());
    for address in straight(program, first) {
        match direct(program, address) {
            Some((cell, writes)) if writes == is_write && cells.contains(&cell) => {
                if !seen.insert(cell) {
                    break;
                }
                all.push(address);
            }
            _ => {}
        }
    }
    all
}

/// The interrupts whose handlers write each variable.
fn writers(
    machine: &Machine,
    start: FlashWordAddress,
    variables: &[Range<DataAddress>],
    constants: &BTreeMap<FlashWordAddress, DataAddress>,
) -> Vec<Vec<u8>> {
    let mut writers = vec![Vec::new(); variables.len()];
    for interrupt in &machine.device.interrupts {
        let handler =
            reached(&machine.program, FlashWordAddress(interrupt.vector.into()), &[start, FlashWordAddress(0)]);
        let stored = |address: &FlashWordAddress| match direct(&machine.program, *address) {
            Some((cell, true)) => Some(cell),
            _ => constants.get(address).copied(),
        };
        let written: BTreeSet<DataAddress> = handler.iter().filter_map(stored).collect();
        for (cells, writers) in variables.iter().zip(&mut writers) {
            if written.range(cells.clone()).next().is_some() {
                writers.push(interrupt.number);
            }
        }
    }
    writers
}

/// The instructions before which no interrupt comes, whatever calls through registers lead to: those behind CLI in straight-line code that
/// nothing jumps into, and those that only handlers reach which do not enable interrupts.
fn kept_out(machine: &Machine, start: FlashWordAddress) -> BTreeSet<FlashWordAddress> {
    let program = &machine.program;
    let mut targets = BTreeSet::new();
    for (address, _) in program.instructions() {
        match program.control_flow(address) {
            Some(
                ControlFlow::Branch { target, .. } | ControlFlow::Jump { target } | ControlFlow::Call { target, .. },
            ) => {
                targets.insert(target);
            }
            Some(ControlFlow::Skip { next, target }) => targets.extend([next, target]),
            _ => {}
        }
    }
    let mut kept_out = BTreeSet::new();
    for (address, _) in program.instructions().filter(|(_, instruction)| *instruction == Instruction::Bclr { flag: I })
    {
        for at in straight(program, address).skip(1).take_while(|at| !targets.contains(at)) {
            kept_out.insert(at);
            if instruction(program, at).is_none_or(may_set) {
                break;
            }
        }
    }
    let main = reached(program, start, &[]);
    let vectors = machine.device.interrupts.iter().map(|interrupt| FlashWordAddress(interrupt.vector.into()));
    let handlers: Vec<BTreeSet<FlashWordAddress>> =
        vectors.map(|vector| reached(program, vector, &[start, FlashWordAddress(0)])).collect();
    let enables = |handler: &&BTreeSet<FlashWordAddress>| {
        handler.iter().any(|at| instruction(program, *at) == Some(Instruction::Bset { flag: I }))
    };
    let (enabling, others): (Vec<_>, Vec<_>) = handlers.iter().partition(enables);
    let is_others = |at: &&FlashWordAddress| !main.contains(at) && !enabling.iter().any(|handler| handler.contains(at));
    kept_out.extend(others.into_iter().flatten().filter(is_others));
    kept_out
}

/// True for an instruction that may set the I flag.
fn may_set(instruction: Instruction) -> bool {
    match instruction.memory_access() {
        MemoryAccess::Store(addressing) => addressing == Addressing::Direct(SREG),
        MemoryAccess::StoreIo { address } | MemoryAccess::StoreIoBit { address, .. } => address == SREG,
        _ => instruction == Instruction::Bset { flag: I },
    }
}

/// The instructions that are reached from one, without those that stop it: an unexpected interrupt jumps to the start.
fn reached(program: &Program, from: FlashWordAddress, stops: &[FlashWordAddress]) -> BTreeSet<FlashWordAddress> {
    let (mut waiting, mut seen) = (vec![from], BTreeSet::new());
    while let Some(at) = waiting.pop() {
        let Some(flow) = program.control_flow(at).filter(|_| !stops.contains(&at)) else { continue };
        if !seen.insert(at) {
            continue;
        }
        match flow {
            ControlFlow::Next { next }
            | ControlFlow::Sleep { next }
            | ControlFlow::Break { next }
            | ControlFlow::IndirectCall { next } => waiting.push(next),
            ControlFlow::Skip { next, target }
            | ControlFlow::Branch { next, target }
            | ControlFlow::Call { next, target } => waiting.extend([next, target]),
            ControlFlow::Jump { target } => waiting.push(target),
            ControlFlow::IndirectJump | ControlFlow::Return | ControlFlow::InterruptReturn => {}
        }
    }
    seen
}

/// The data addresses of stores through pointers that LDI set before in straight-line code.
fn constant_stores(program: &Program) -> BTreeMap<FlashWordAddress, DataAddress> {
    let mut registers: [Option<u8>; 32] = [None; 32];
    let mut stores = BTreeMap::new();
    for (address, instruction) in program.instructions() {
        if let MemoryAccess::Store(Addressing::Indirect { pointer, mode }) = instruction.memory_access() {
            let low = usize::from(pointer.low().index());
            let at = registers[low].zip(registers[low + 1]).map(|(low, high)| DataAddress::of_bytes(low, high));
            let cell = match mode {
                PointerMode::Displacement(by) => at.map(|at| at.wrapping_add(by.into())),
                PointerMode::PostIncrement => at,
                PointerMode::PreDecrement => at.map(|at| at.wrapping_sub(1)),
            };
            stores.extend(cell.map(|cell| (address, cell)));
        }
        for register in instruction.registers_written().iter() {
            registers[usize::from(register.index())] = None;
        }
        match instruction {
            Instruction::Ldi { rd, k } => registers[usize::from(rd.index())] = Some(k),
            _ if matches!(program.control_flow(address), Some(ControlFlow::Next { .. })) => {}
            _ => registers = [None; 32],
        }
    }
    stores
}

#[cfg(test)]
mod tests {
    use super::*;
    use avr_isa::{Instruction as Op, Register};
    use avr_machine::Options;
    use avr_machine::device::Device;

    const SEI: Op = Op::Bset { flag: 7 };
    const CLI: Op = Op::Bclr { flag: 7 };
    const LOW: DataAddress = DataAddress(0x100);
    const HIGH: DataAddress = DataAddress(0x101);
    const CELLS: Range<DataAddress> = LOW..DataAddress(0x102);

    fn r(number: u8) -> Register {
        Register::new(number).expect("there are 32 registers")
    }

    fn load(register: u8, address: DataAddress) -> Op {
        Op::Lds { rd: r(register), address }
    }

    fn store(address: DataAddress, register: u8) -> Op {
        Op::Sts { address, rr: r(register) }
    }

    /// The torn accesses of a main program, with a handler of INT0.
    fn found(main: &[Op], handler: &[Op]) -> Vec<(bool, usize, Vec<u8>)> {
        let mut words: BTreeMap<u32, u16> = BTreeMap::new();
        let mut place = |at: u32, code: &[Op]| {
            code.iter().fold(at, |at, instruction| {
                let encoded = instruction.encode().expect("it has a code");
                let all = (at..).zip(std::iter::once(encoded.first).chain(encoded.second));
                words.extend(all);
                at + u32::from(instruction.words())
            })
        };
        place(0, &[Op::Rjmp { offset: 0xff }]);
        place(2, &[Op::Rjmp { offset: 0x1fd }]);
        let end = place(0x100, main);
        place(end, &[Op::Rjmp { offset: -1 }]);
        let end = place(0x200, handler);
        place(end, &[Op::Reti]);
        let device = Device::named("atmega328p").expect("a device of the tables");
        let word = |address: u32| words.get(&address).copied();
        let program = Program::decode(device.memory.flash_words(), device.core.features, word);
        let machine = Machine::new(device, program, Options::default());
        let found = torn_accesses(&machine, FlashWordAddress(0), &[CELLS]);
        found.into_iter().map(|one| (one.is_write, one.accesses.len(), one.vectors)).collect()
    }

    /// A read-modify-write of TIMSK1, which is below 0x100, through Z.
    fn change_timsk1(change: Op) -> [Op; 5] {
        let (pointer, mode) = (avr_isa::Pointer::Z, PointerMode::Displacement(0));
        let load = Op::Ld { rd: r(24), pointer, mode };
        [Op::Ldi { rd: r(30), k: 0x6f }, Op::Ldi { rd: r(31), k: 0 }, load, change, Op::St { pointer, mode, rr: r(24) }]
    }

    /// The same for EIMSK, with the enable bit of INT0, whose handler writes the variable.
    const EIMSK: DataAddress = DataAddress(0x3d);

    fn change_eimsk(change: Op) -> [Op; 3] {
        [load(24, EIMSK), change, store(EIMSK, 24)]
    }

    #[test]
    fn an_interrupt_that_is_turned_off_does_not_come_in_between() {
        let write = [store(HIGH, 25)];
        let access = [store(HIGH, 22), store(LOW, 23)];
        let off = change_eimsk(Op::Andi { rd: r(24), k: 0xfe });
        let main = |parts: &[&[Op]]| [&[SEI][..], &parts.concat()].concat();
        assert_eq!(found(&main(&[&off, &access]), &write), [], "its enable bit is cleared before");
        assert_eq!(found(&main(&[&off, &change_timsk1(Op::Ori { rd: r(24), k: 2 }), &access]), &write), []);
        assert_eq!(found(&main(&[&[Op::Ldi { rd: r(24), k: 2 }, store(EIMSK, 24)], &access]), &write), []);
        assert_eq!(found(&main(&[&[Op::Cbi { io: 0x1d, bit: 0 }], &access]), &write), []);
        assert_eq!(found(&main(&[&off, &access]), &[&off[..], &write].concat()), [], "the handler clears it as well");
    }

    #[test]
    fn an_interrupt_that_may_be_turned_on_comes_in_between() {
        let write = [store(HIGH, 25)];
        let access = [store(HIGH, 22), store(LOW, 23)];
        let off = change_eimsk(Op::Andi { rd: r(24), k: 0xfe });
        let on = change_eimsk(Op::Ori { rd: r(24), k: 1 });
        let check = |parts: &[&[Op]], handler: &[Op], why: &str| {
            assert_eq!(found(&[&[SEI][..], &parts.concat()].concat(), handler).len(), 1, "{why}");
        };
        let pointer = Op::St { pointer: avr_isa::Pointer::X, mode: PointerMode::Displacement(0), rr: r(24) };
        check(&[&change_eimsk(Op::Andi { rd: r(24), k: 0xfd }), &access], &write, "another bit is cleared");
        check(&[&off, &on, &access], &write, "it is set again");
        check(&[&off, &[access[0]], &on, &[access[1]]], &write, "it is set in between");
        check(&[&off, &[Op::Sbi { io: 0x1d, bit: 0 }], &access], &write, "it is set by its address");
        check(&[&off, &[pointer], &access], &write, "a store through a pointer may set it");
        check(&[&off, &access], &[&on[..], &write].concat(), "the handler sets it");
        check(&[&off, &access], &[&[pointer][..], &write].concat(), "the handler may set it");
        check(&[&off, &[Op::Rcall { offset: 0 }], &access], &write, "something is called");
        check(&[&off, &[Op::Icall], &access], &write, "something is called through a register");
        check(&[&[Op::Sbrc { rr: r(2), bit: 0 }], &[off[2]], &access], &write, "the value is not known");
        check(&[&[off[0], off[1], Op::Sbrc { rr: r(2), bit: 0 }, off[2]], &access], &write, "it may be left as it is");
        let back = Op::Brbs { flag: 1, offset: -5 };
        check(&[&off, &access, &[back]], &write, "the access is jumped to");
    }

    const BOTH: [Op; 2] = [Op::Nop, Op::Nop];

    #[test]
    fn an_access_that_a_writing_handler_may_come_into_is_torn() {
        let write = [store(HIGH, 25)];
        let read = [SEI, load(24, LOW), Op::Nop, load(25, HIGH)];
        assert_eq!(found(&read, &write), [(false, 2, vec![1])]);
        assert_eq!(found(&[SEI, store(HIGH, 25), store(LOW, 24)], &write), [(true, 2, vec![1])]);
        let both = [SEI, load(24, LOW), load(25, HIGH), Op::Adiw { rd: r(24), k: 1 }, store(HIGH, 25), store(LOW, 24)];
        assert_eq!(found(&both, &write), [(false, 2, vec![1]), (true, 2, vec![1])]);
        let through_pointer = [Op::Ldi { rd: r(30), k: 0 }, Op::Ldi { rd: r(31), k: 1 }];
        let stores = Op::St { pointer: avr_isa::Pointer::Z, mode: PointerMode::Displacement(1), rr: r(0) };
        assert_eq!(found(&read, &[&through_pointer[..], &[stores]].concat()), [(false, 2, vec![1])]);
    }

    #[test]
    fn an_access_that_nothing_can_come_into_is_not_torn() {
        let write = [store(HIGH, 25)];
        let read = [load(24, LOW), load(25, HIGH)];
        assert_eq!(found(&read, &write), [], "interrupts are off");
        assert_eq!(found(&[&[SEI, Op::Nop, CLI][..], &read, &[SEI]].concat(), &write), [], "they are off meanwhile");
        assert_eq!(found(&[&[SEI][..], &read].concat(), &BOTH), [], "the handler does not write it");
        let twice = [SEI, Op::Icall, CLI, load(24, LOW), load(25, HIGH), SEI];
        assert_eq!(found(&twice, &write), [], "they are off, whatever is called through a register");
        let in_handler = [&write[..], &read].concat();
        assert_eq!(found(&[SEI, Op::Icall], &in_handler), [], "a handler does not interrupt itself");
        assert_eq!(found(&[SEI, Op::Icall], &[&[SEI][..], &in_handler].concat()).len(), 1, "unless it allows that");
        assert_eq!(found(&[SEI, load(24, LOW)], &write), [], "one byte is read at once");
        assert_eq!(found(&[SEI, load(24, LOW), store(HIGH, 24)], &write), [], "one is read and one written");
        assert_eq!(found(&[SEI, load(24, LOW), load(24, LOW)], &write), [], "one byte is read twice");
    }
}
