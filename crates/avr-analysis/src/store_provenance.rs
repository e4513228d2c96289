//! The provenance of the pointers of stores: the one object whose address a pointer was made from, on every way through the code.
//!
//! A forward data-flow analysis. Two registers are a pointer to an object where LDI set them to an address in it; so are the sum of
//! such a constant and a number, and a pointer to which a number is added. Everything else drops the provenance: loads, POP, results of calls,
//! arithmetic on single bytes, and two ways that meet with different pointers.
//!
//! A proof may rest on the result if it also proves that returns go where calls came from, that no store through a pointer hits a register, that
//! interrupts enter their handlers through the vectors at the start of the flash, and that the numbers in sums are no addresses. Registers
//! survive interrupts, because every handler is transparent.

use crate::handler_transparency::is_transparent;
use crate::interrupts::lets_interrupts_in;
use avr_isa::{
    Addressing, ControlFlow, DataAddress, FlashWordAddress, Instruction, MemoryAccess, PointerMode, Register,
    RegisterSet,
};
use avr_machine::{Fetched, Machine, Program};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The reach above a constant in which an object may begin whose base with a bias it is.
const INDEX_BIAS: u16 = 256;

/// The reason why the provenance of no pointer is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// An indirect jump or call leads nobody knows where.
    IndirectFlow(FlashWordAddress),
    /// The handler of an interrupt, by its number, may not give back what was in the registers.
    Handler(u8),
}

/// The result of the analysis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreProvenance {
    /// The stores through pointers that the code leads to, each with the object by its data addresses, where one is known.
    pub stores: BTreeMap<FlashWordAddress, Option<Range<DataAddress>>>,
    /// The sums of an address and a number that is not known.
    pub sums: BTreeSet<Sum>,
    /// True if no handler was looked at, because nothing enables interrupts by its name.
    pub has_no_interrupts: bool,
}

/// A sum of the address of an object and a number that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sum {
    /// The first of the two instructions.
    pub at: FlashWordAddress,
    /// The numbers of the registers that hold the number before it, the lower half first.
    pub number: [u8; 2],
}

/// The provenance of the pointers of all stores of a machine; `objects` are the data addresses of variables. Interrupts never enter the
/// default handler if `avoids_default_handler`.
///
/// # Errors
/// If the code cannot be followed.
pub fn store_provenance(
    machine: &Machine,
    objects: &[Range<DataAddress>],
    avoids_default_handler: bool,
) -> Result<StoreProvenance, Obstacle> {
    let program = &machine.program;
    let mut entries = vec![machine.options().start];
    let has_no_interrupts = !lets_interrupts_in(machine);
    for interrupt in machine.device.interrupts.iter().filter(|_| !has_no_interrupts) {
        let vector = FlashWordAddress(interrupt.vector.into());
        let is_default = match program.control_flow(vector) {
            Some(ControlFlow::Jump { target }) => machine.options().default_handler == Some(target),
            Some(_) => false,
            None => continue,
        };
        if avoids_default_handler && is_default {
            continue;
        }
        if !is_transparent(machine, vector) {
            return Err(Obstacle::Handler(interrupt.number));
        }
        entries.push(vector);
    }
    let mut analysis = Analysis {
        program,
        objects: Objects { all: objects, io: DataAddress::IO..machine.sram().start, sram: machine.sram() },
        before: BTreeMap::new(),
        written: BTreeMap::new(),
    };
    analysis.run(&entries)?;
    Ok(StoreProvenance { has_no_interrupts, ..analysis.result() })
}

/// The lower register of the pointer that a store goes through, and the mode.
#[must_use]
pub fn indirect_store(instruction: Instruction) -> Option<(Register, PointerMode)> {
    match instruction.memory_access() {
        MemoryAccess::Store(Addressing::Indirect { pointer, mode }) => Some((pointer.low(), mode)),
        _ => None,
    }
}

fn instruction(program: &Program, address: FlashWordAddress) -> Option<Instruction> {
    match program.fetch(address) {
        Fetched::Instruction { instruction, .. } => Some(instruction),
        Fetched::Reserved | Fetched::Outside => None,
    }
}

/// The data addresses that may be meant.
struct Objects<'a> {
    all: &'a [Range<DataAddress>],
    io: Range<DataAddress>,
    sram: Range<DataAddress>,
}

impl Objects<'_> {
    /// The one object that an address constant lies in. The I/O area is one.
    fn at(&self, constant: DataAddress) -> Option<Range<DataAddress>> {
        if self.io.contains(&constant) {
            return Some(self.io.clone());
        }
        let mut around = self.all.iter().filter(|object| object.contains(&constant));
        let object = around.next()?;
        around.all(|other| other == object).then(|| object.clone())
    }

    /// The one object that an address constant means where something is added to it. Inside of an object it may be the base of a later
    /// one whose index does not begin at 0, as in `table[i - 1]`: then it is not known.
    fn meant(&self, constant: DataAddress) -> Option<Range<DataAddress>> {
        let object = self.at(constant).filter(|_| self.is_address(constant))?;
        let behind = constant..=constant.saturating_add(INDEX_BIAS);
        let may_be_base = object.start != constant && self.all.iter().any(|other| behind.contains(&other.start));
        (!may_be_base).then_some(object)
    }

    /// True if a constant may be an address of a variable.
    fn is_address(&self, constant: DataAddress) -> bool {
        self.sram.contains(&constant)
    }
}

/// The content of a register, as far as it matters.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Tag {
    /// This number.
    Constant(u8),
    /// The lower half of a pointer to an object.
    Low(Range<DataAddress>),
    /// The upper half of a pointer to an object.
    High(Range<DataAddress>),
    /// Anything.
    Unknown,
}

/// Two registers that are a pointer.
struct Pointer {
    object: Range<DataAddress>,
    /// The value, where it is an address constant.
    constant: Option<DataAddress>,
}

/// The first instruction of a pair that adds or subtracts words, with what was in the registers before.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LowHalf {
    at: FlashWordAddress,
    register: Register,
    own: Tag,
    other: Tag,
    /// The register that is added or subtracted; none for a constant.
    operand: Option<Register>,
    subtracts: bool,
}

/// The contents of the registers before an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Contents {
    registers: [Tag; 32],
    low: Option<LowHalf>,
}

impl Contents {
    fn unknown() -> Self {
        Self { registers: std::array::from_fn(|_| Tag::Unknown), low: None }
    }

    fn of(&self, register: Register) -> &Tag {
        &self.registers[usize::from(register.index())]
    }

    fn set(&mut self, register: Register, tag: Tag) {
        self.registers[usize::from(register.index())] = tag;
    }

    /// The pointer that begins in a register.
    fn pointer(&self, low: Register, objects: &Objects<'_>) -> Option<Pointer> {
        pointer(self.of(low), self.of(low.next()), objects)
    }

    /// The variable that the pointer means which begins in a register, if it is moved.
    fn variable(&self, low: Register, objects: &Objects<'_>) -> Option<Range<DataAddress>> {
        Some(variable(self.of(low), self.of(low.next()), objects)?.object)
    }

    fn set_pointer(&mut self, low: Register, object: Option<Range<DataAddress>>) {
        let (first, second) = match object {
            Some(object) => (Tag::Low(object.clone()), Tag::High(object)),
            None => (Tag::Unknown, Tag::Unknown),
        };
        self.set(low, first);
        self.set(low.next(), second);
    }

    /// The contents that are these or others.
    fn join(&self, other: &Self, objects: &Objects<'_>) -> Self {
        let mut joined =
            Self { low: self.low.clone().filter(|low| other.low.as_ref() == Some(low)), ..Self::unknown() };
        for low in Register::all().filter(|register| register.index() % 2 == 0) {
            let (one, two) = (self.variable(low, objects), other.variable(low, objects));
            for register in [low, low.next()] {
                if self.of(register) == other.of(register) {
                    joined.set(register, self.of(register).clone());
                }
            }
            let is_same = joined.of(low) != &Tag::Unknown && joined.of(low.next()) != &Tag::Unknown;
            if let (false, Some(one), Some(two)) = (is_same, one, two)
                && one == two
            {
                joined.set_pointer(low, Some(one));
            }
        }
        joined
    }
}

/// The pointer that two registers are.
fn pointer(low: &Tag, high: &Tag, objects: &Objects<'_>) -> Option<Pointer> {
    match (low, high) {
        (Tag::Constant(low), Tag::Constant(high)) => {
            let constant = DataAddress::of_bytes(*low, *high);
            Some(Pointer { object: objects.at(constant)?, constant: Some(constant) })
        }
        (Tag::Low(one), Tag::High(other)) if one == other => Some(Pointer { object: one.clone(), constant: None }),
        _ => None,
    }
}

/// The variable that a pointer means to which something is added, and its value if it is a constant. A constant in the I/O area is a
/// number then.
fn variable(low: &Tag, high: &Tag, objects: &Objects<'_>) -> Option<Pointer> {
    let pointer = pointer(low, high, objects)?;
    match pointer.constant {
        Some(constant) => Some(Pointer { object: objects.meant(constant)?, ..pointer }),
        None => Some(pointer),
    }
}

/// The number that two registers are, if it is no address.
fn is_number(low: &Tag, high: &Tag, objects: &Objects<'_>) -> bool {
    match (low, high) {
        (Tag::Constant(low), Tag::Constant(high)) => !objects.is_address(DataAddress::of_bytes(*low, *high)),
        _ => false,
    }
}

struct Analysis<'a> {
    program: &'a Program,
    objects: Objects<'a>,
    before: BTreeMap<FlashWordAddress, Contents>,
    /// The registers that a call to an address may write.
    written: BTreeMap<FlashWordAddress, RegisterSet>,
}

impl Analysis<'_> {
    fn run(&mut self, entries: &[FlashWordAddress]) -> Result<(), Obstacle> {
        let mut waiting: BTreeSet<FlashWordAddress> = BTreeSet::new();
        for entry in entries {
            self.arrive(*entry, &Contents::unknown(), &mut waiting);
        }
        while let Some(address) = waiting.pop_first() {
            let before = self.before[&address].clone();
            let Some(instruction) = instruction(self.program, address) else { continue };
            let (after, _) = self.execute(address, instruction, &before);
            match instruction.control_flow(address, self.program) {
                ControlFlow::Next { next } | ControlFlow::Sleep { next } | ControlFlow::Break { next } => {
                    self.arrive(next, &after, &mut waiting);
                }
                ControlFlow::Skip { next, target } | ControlFlow::Branch { next, target } => {
                    self.arrive(next, &after, &mut waiting);
                    self.arrive(target, &after, &mut waiting);
                }
                ControlFlow::Jump { target } => self.arrive(target, &after, &mut waiting),
                ControlFlow::Call { next, target } => {
                    self.arrive(target, &after, &mut waiting);
                    let mut returned = Contents { low: None, ..after };
                    for register in self.written_by(target)?.iter() {
                        returned.set(register, Tag::Unknown);
                    }
                    self.arrive(next, &returned, &mut waiting);
                }
                ControlFlow::IndirectJump | ControlFlow::IndirectCall { .. } => {
                    return Err(Obstacle::IndirectFlow(address));
                }
                // SOUND: what comes after a return comes after the call, with all that the function may write unknown.
                ControlFlow::Return | ControlFlow::InterruptReturn => {}
            }
        }
        Ok(())
    }

    fn arrive(&mut self, at: FlashWordAddress, contents: &Contents, waiting: &mut BTreeSet<FlashWordAddress>) {
        let joined = match self.before.get(&at) {
            Some(known) => known.join(contents, &self.objects),
            None => contents.clone(),
        };
        if self.before.get(&at) != Some(&joined) {
            self.before.insert(at, joined);
            waiting.insert(at);
        }
    }

    /// The registers that are written by what a call leads to.
    fn written_by(&mut self, entry: FlashWordAddress) -> Result<RegisterSet, Obstacle> {
        if let Some(known) = self.written.get(&entry) {
            return Ok(*known);
        }
        let (mut waiting, mut seen, mut written) = (vec![entry], BTreeSet::new(), RegisterSet::EMPTY);
        while let Some(address) = waiting.pop() {
            let Some(instruction) = instruction(self.program, address).filter(|_| seen.insert(address)) else {
                continue;
            };
            written = written_registers(instruction).iter().fold(written, RegisterSet::with);
            match instruction.control_flow(address, self.program) {
                ControlFlow::Next { next } | ControlFlow::Sleep { next } | ControlFlow::Break { next } => {
                    waiting.push(next)
                }
                ControlFlow::Skip { next, target }
                | ControlFlow::Branch { next, target }
                | ControlFlow::Call { next, target } => waiting.extend([next, target]),
                ControlFlow::Jump { target } => waiting.push(target),
                ControlFlow::IndirectJump | ControlFlow::IndirectCall { .. } => {
                    return Err(Obstacle::IndirectFlow(address));
                }
                ControlFlow::Return | ControlFlow::InterruptReturn => {}
            }
        }
        self.written.insert(entry, written);
        Ok(written)
    }

    /// The stores with their objects, and the sums that pointers come from.
    fn result(&self) -> StoreProvenance {
        let mut result = StoreProvenance::default();
        for (address, contents) in &self.before {
            let Some(instruction) = instruction(self.program, *address) else { continue };
            if let Some((pointer, _)) = indirect_store(instruction) {
                let object = contents.pointer(pointer, &self.objects).map(|pointer| pointer.object);
                result.stores.insert(*address, object);
            }
            let (_, sum) = self.execute(*address, instruction, contents);
            result.sums.extend(sum);
        }
        result
    }

    /// The contents after an instruction, and the sum that it makes a pointer of.
    fn execute(&self, at: FlashWordAddress, instruction: Instruction, before: &Contents) -> (Contents, Option<Sum>) {
        use Instruction as I;
        let mut after = Contents { low: None, ..before.clone() };
        for register in written_registers(instruction).iter() {
            after.set(register, Tag::Unknown);
        }
        let low_half = |register: Register, other: Tag, operand, subtracts| {
            let own = before.of(register).clone();
            Some(LowHalf { at, register, own, other, operand, subtracts })
        };
        let mut high_half = |rd: Register, other: &Tag, operand: Option<Register>, subtracts| {
            let is_pair = |low: &&LowHalf| {
                let is_next =
                    low.register.next() == rd && low.register.index() + 1 == rd.index() && low.at.0 + 1 == at.0;
                is_next && low.subtracts == subtracts && low.operand.is_some() == operand.is_some()
            };
            let low = before.low.as_ref().filter(is_pair)?;
            let (object, sum) = self.sum(low, (before.of(rd), rd), (other, operand))?;
            after.set_pointer(low.register, Some(object));
            sum
        };
        let sum = match instruction {
            I::Adc { rd, rr } => high_half(rd, before.of(rr), Some(rr), false),
            I::Sbc { rd, rr } => high_half(rd, before.of(rr), Some(rr), true),
            I::Sbci { rd, k } => high_half(rd, &Tag::Constant(k), None, true),
            _ => None,
        };
        match instruction {
            I::Ldi { rd, k } => after.set(rd, Tag::Constant(k)),
            I::Eor { rd, rr } if rd == rr => after.set(rd, Tag::Constant(0)),
            I::Mov { rd, rr } => after.set(rd, before.of(rr).clone()),
            I::Movw { rd, rr } => {
                after.set(rd, before.of(rr).clone());
                after.set(rd.next(), before.of(rr.next()).clone());
            }
            I::Adiw { rd, .. } | I::Sbiw { rd, .. } => after.set_pointer(rd, before.variable(rd, &self.objects)),
            I::Add { rd, rr } => after.low = low_half(rd, before.of(rr).clone(), Some(rr), false),
            I::Sub { rd, rr } => after.low = low_half(rd, before.of(rr).clone(), Some(rr), true),
            I::Subi { rd, k } => after.low = low_half(rd, Tag::Constant(k), None, true),
            _ => {
                if let Some(low) = moved_pointer(instruction) {
                    after.set_pointer(low, before.variable(low, &self.objects));
                }
            }
        }
        (after, sum)
    }

    /// The variable that a sum or difference of words means, and what must be a number for that if it is not known.
    fn sum(
        &self,
        low: &LowHalf,
        (own_high, rd): (&Tag, Register),
        (other_high, operand): (&Tag, Option<Register>),
    ) -> Option<(Range<DataAddress>, Option<Sum>)> {
        let objects = &self.objects;
        let own_number = Sum { at: low.at, number: [low.register.index(), rd.index()] };
        let own = variable(&low.own, own_high, objects);
        let (Some(first), Some(second)) = (low.operand, operand) else {
            let (Tag::Constant(first), Tag::Constant(second)) = (&low.other, other_high) else { return None };
            let added = DataAddress(u16::from_le_bytes([*first, *second]).wrapping_neg());
            return match own {
                // A pointer and an address make no pointer.
                Some(own) => (!objects.is_address(added)).then_some((own.object, None)),
                None => {
                    let object = objects.meant(added)?;
                    self.added(object, (&low.own, own_high), own_number)
                }
            };
        };
        let other = variable(&low.other, other_high, objects);
        match (own, other) {
            (Some(own), None) if low.subtracts || own.constant.is_none() => {
                is_number(&low.other, other_high, objects).then_some((own.object, None))
            }
            // The lower half of the number is gone when the upper one is that register.
            (Some(_), None) if second == low.register => None,
            (Some(own), None) => {
                let number = Sum { at: low.at, number: [first.index(), second.index()] };
                self.added(own.object, (&low.other, other_high), number)
            }
            (None, Some(other)) if !low.subtracts && other.constant.is_some() => {
                self.added(other.object, (&low.own, own_high), own_number)
            }
            (None, Some(other)) if !low.subtracts => {
                is_number(&low.own, own_high, objects).then_some((other.object, None))
            }
            _ => None,
        }
    }

    /// An address constant with a number added to it, which must be no address where it is not known.
    fn added(
        &self,
        object: Range<DataAddress>,
        number: (&Tag, &Tag),
        sum: Sum,
    ) -> Option<(Range<DataAddress>, Option<Sum>)> {
        if holds_half(number.0) || holds_half(number.1) {
            return None;
        }
        Some((object, (!is_number(number.0, number.1, &self.objects)).then_some(sum)))
    }
}

/// True for half of a pointer.
fn holds_half(tag: &Tag) -> bool {
    matches!(tag, Tag::Low(_) | Tag::High(_))
}

/// The registers that an instruction writes, also as data addresses.
fn written_registers(instruction: Instruction) -> RegisterSet {
    let written = instruction.registers_written();
    let stored = match instruction.memory_access() {
        MemoryAccess::Store(Addressing::Direct(address)) => u8::try_from(address.0).ok().and_then(Register::new),
        _ => None,
    };
    stored.into_iter().fold(written, RegisterSet::with)
}

/// The lower register of a pointer that a load or store increments or decrements.
fn moved_pointer(instruction: Instruction) -> Option<Register> {
    let (MemoryAccess::Load(addressing) | MemoryAccess::Store(addressing)) = instruction.memory_access() else {
        return None;
    };
    match addressing {
        Addressing::Indirect { pointer, mode: PointerMode::PostIncrement | PointerMode::PreDecrement } => {
            Some(pointer.low())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avr_isa::{Instruction as Op, Pointer};
    use avr_machine::Options;
    use avr_machine::device::Device;

    /// Two objects, one behind the other.
    const OBJECTS: [Range<DataAddress>; 2] =
        [DataAddress(0x110)..DataAddress(0x118), DataAddress(0x118)..DataAddress(0x120)];

    fn r(number: u8) -> Register {
        Register::new(number).expect("there are 32 registers")
    }

    fn ldi(register: u8, k: u8) -> Op {
        Op::Ldi { rd: r(register), k }
    }

    /// Z becomes an address.
    fn z(low: u8) -> [Op; 2] {
        [ldi(30, low), ldi(31, 1)]
    }

    /// A number in Z becomes the sum with 0x0100 and a byte.
    fn add_to_z(low: u8) -> [Op; 2] {
        let k = u16::from_be_bytes([1, low]).wrapping_neg().to_le_bytes();
        [Op::Subi { rd: r(30), k: k[0] }, Op::Sbci { rd: r(31), k: k[1] }]
    }

    const STORE: Op = Op::St { pointer: Pointer::Z, mode: PointerMode::Displacement(0), rr: Register::R0 };
    const STORE_NEXT: Op = Op::St { pointer: Pointer::Z, mode: PointerMode::PostIncrement, rr: Register::R0 };
    const LOAD_NEXT: Op = Op::Ld { rd: Register::R0, pointer: Pointer::Z, mode: PointerMode::PostIncrement };
    const LOAD: Op = Op::Lds { rd: Register::R1, address: DataAddress(0x130) };

    fn machine(parts: &[&[Op]]) -> Machine {
        let code = parts.concat();
        let mut words: BTreeMap<u32, u16> = BTreeMap::new();
        for instruction in code.iter().chain([&Op::Rjmp { offset: -1 }]) {
            let encoded = instruction.encode().expect("it has a code");
            for word in std::iter::once(encoded.first).chain(encoded.second) {
                words.insert(words.len() as u32, word);
            }
        }
        let device = Device::named("atmega328p").expect("a device of the tables");
        let program = Program::decode(device.memory.flash_words(), device.core.features, |at| words.get(&at).copied());
        Machine::new(device, program, Options::default())
    }

    /// The objects of the last store of a program, and the number of sums.
    fn last(parts: &[&[Op]]) -> (Option<Range<DataAddress>>, usize) {
        let found = store_provenance(&machine(parts), &OBJECTS, true).expect("the code can be followed");
        let (_, object) = found.stores.last_key_value().expect("there is a store");
        (object.clone(), found.sums.len())
    }

    #[test]
    fn a_pointer_is_known_by_its_address() {
        let first = Some(OBJECTS[0].clone());
        assert_eq!(last(&[&z(0x10), &[STORE]]), (first.clone(), 0));
        assert_eq!(last(&[&z(0x17), &[STORE]]), (first.clone(), 0), "inside");
        assert_eq!(last(&[&z(0x18), &[STORE]]).0, Some(OBJECTS[1].clone()), "the next one");
        assert_eq!(last(&[&z(0x20), &[STORE]]).0, None, "behind all");
        assert_eq!(last(&[&z(0x10), &[STORE_NEXT, STORE_NEXT]]).0, first, "it is moved");
        assert_eq!(last(&[&z(0x17), &[STORE_NEXT, STORE_NEXT]]).0, None, "it may be the base of the next one");
        assert_eq!(last(&[&z(0x1f), &[STORE_NEXT, STORE_NEXT]]).0, Some(OBJECTS[1].clone()), "there is no next one");
        assert_eq!(last(&[&z(0x10), &[LOAD_NEXT, STORE]]).0, first, "a load moves it");
        assert_eq!(last(&[&z(0x10), &[Op::Adiw { rd: r(30), k: 40 }, STORE]]).0, first, "it is moved outside");
        let moved = [Op::Movw { rd: r(26), rr: r(30) }, ldi(30, 0), Op::Movw { rd: r(30), rr: r(26) }, STORE];
        assert_eq!(last(&[&z(0x10), &moved]).0, first, "it is copied");
        assert_eq!(
            last(&[&[ldi(30, 0x6f), ldi(31, 0), STORE]]).0,
            Some(DataAddress::IO..DataAddress(0x100)),
            "a register"
        );
        assert_eq!(last(&[&[ldi(30, 0x6f), ldi(31, 0), STORE_NEXT, STORE]]).0, None, "behind a register");
    }

    #[test]
    fn a_number_is_added_to_an_address() {
        let first = Some(OBJECTS[0].clone());
        let unknown = [Op::Mov { rd: r(30), rr: r(1) }, ldi(31, 0)];
        assert_eq!(last(&[&[LOAD], &unknown, &add_to_z(0x10), &[STORE]]), (first.clone(), 1));
        assert_eq!(last(&[&z(0x10), &add_to_z(0x18), &[STORE]]).0, None, "two addresses are added");
        assert_eq!(
            last(&[&[LOAD], &unknown, &add_to_z(0x17), &[STORE]]).0,
            None,
            "the next one with an index from 1 on"
        );
        let add = [Op::Add { rd: r(30), rr: r(1) }, Op::Adc { rd: r(31), rr: r(2) }];
        assert_eq!(last(&[&[LOAD], &z(0x10), &add, &[STORE]]), (first.clone(), 1));
        assert_eq!(last(&[&z(0x10), &[STORE_NEXT], &add, &[STORE]]).0, None, "what is added may be the pointer");
        let carried = [Op::Add { rd: r(30), rr: r(1) }, Op::Adc { rd: r(31), rr: r(30) }];
        assert_eq!(last(&[&[LOAD], &z(0x10), &carried, &[STORE]]).0, None, "the number changes meanwhile");
        let apart = [add_to_z(0x10)[0], Op::Sub { rd: r(2), rr: r(3) }, add_to_z(0x10)[1]];
        assert_eq!(last(&[&unknown, &apart, &[STORE]]).0, None, "another carry is added");
        assert_eq!(last(&[&z(0x10), &[Op::Subi { rd: r(30), k: 1 }, STORE]]).0, None, "one half alone");
        let skipped = [Op::Sbrc { rr: r(2), bit: 0 }, add_to_z(0x10)[0], add_to_z(0x10)[1], STORE];
        assert_eq!(last(&[&unknown, &skipped]).0, None, "the first half may be left out");
    }

    #[test]
    fn ways_that_meet_agree_or_nothing_is_known() {
        let skip = [Op::Sbrc { rr: r(2), bit: 0 }];
        let other = [Op::Sbrc { rr: r(2), bit: 0 }, ldi(30, 0x18)];
        assert_eq!(last(&[&z(0x10), &other, &[STORE]]).0, None, "two objects");
        assert_eq!(last(&[&z(0x10), &skip, &[ldi(30, 0x14)], &[STORE]]).0, None, "perhaps the same object");
        let loops = [STORE_NEXT, Op::Brbs { flag: 1, offset: -2 }];
        assert_eq!(last(&[&z(0x10), &loops]).0, Some(OBJECTS[0].clone()), "a loop moves it");
        assert_eq!(last(&[&z(0x10), &skip, &[Op::Pop { rd: r(30) }, STORE]]).0, None, "it may come from the stack");
        assert_eq!(
            last(&[&z(0x10), &[Op::Sts { address: DataAddress(30), rr: r(1) }, STORE]]).0,
            None,
            "a register by its address"
        );
    }

    #[test]
    fn a_call_keeps_what_it_does_not_write() {
        let call = Op::Rcall { offset: 2 };
        let end = [STORE, Op::Rjmp { offset: -1 }];
        let found = |function: &[Op]| {
            let found = store_provenance(&machine(&[&z(0x10), &[call], &end, function]), &OBJECTS, true);
            found.expect("the code can be followed").stores[&FlashWordAddress(3)].clone()
        };
        assert_eq!(found(&[ldi(24, 1), Op::Ret]), Some(OBJECTS[0].clone()));
        assert_eq!(found(&[ldi(31, 1), Op::Ret]), None, "it writes half of the pointer");
        assert_eq!(found(&[Op::Push { rr: r(30) }, Op::Pop { rd: r(30) }, Op::Ret]), None, "it may write it");
        let indirect = store_provenance(&machine(&[&z(0x10), &[Op::Icall, STORE]]), &OBJECTS, true);
        assert_eq!(indirect, Err(Obstacle::IndirectFlow(FlashWordAddress(2))));
    }
}
