//! The provenance of pointers in a concrete run: each byte of registers and SRAM carries the place at which the address of an object was
//! made that it is half of, if it is.
//!
//! A pointer is made by a pair of LDI, or by a pair of SUBI and SBCI that adds the address to an index. Moves, loads, stores,
//! PUSH and POP keep the provenance, and so does adding and subtracting a number; everything else drops it. A number whose value
//! may be an address itself may be the pointer, and the constant the number: the provenance is dropped.
//!
//! A place counts only after an access through it hit an object that it may mean: until then the constant may be a number, or the
//! biased base of another object.

use super::objects::Objects;
use super::{Access, Executed};
use avr_isa::{Addressing, DataAddress, FlashWordAddress, Instruction, MemoryAccess, PointerMode, Register};
use avr_machine::Machine;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::ops::RangeInclusive;
use std::rc::Rc;

/// The second instruction of a pair follows the first one within so many words.
const PAIR_WORDS: u32 = 4;

/// The pointer that a byte is half of; none for other bytes.
type Tag = Option<Half>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Half {
    made_at: FlashWordAddress,
    is_high: bool,
}

/// A byte with its provenance.
#[derive(Clone, Copy, Debug)]
struct Byte {
    value: u8,
    tag: Tag,
}

/// The first instruction of a pair that adds or subtracts words.
#[derive(Clone, Copy, Debug)]
struct LowHalf {
    pc: FlashWordAddress,
    /// The register that is changed.
    register: u8,
    own: Byte,
    other: Byte,
    subtracts: bool,
    is_constant: bool,
}

/// A place that makes a pointer.
#[derive(Clone, Debug)]
struct Maker {
    /// The objects that it may mean.
    meant: Vec<usize>,
    /// The one that an access through it hit.
    confirmed: Option<usize>,
}

/// The reach of an access through a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// It stays in an object that is meant.
    Inside,
    /// A store leaves all objects that may be meant.
    Outside { object: usize, address: DataAddress },
    /// Nothing is known of it.
    Unknown,
}

/// The provenance of all bytes.
#[derive(Clone)]
pub(super) struct Provenance {
    registers: [Tag; 32],
    memory: Vec<Tag>,
    /// The LDI that set a register, while nothing else did: its address and the constant.
    loaded: [Option<(FlashWordAddress, u8)>; 32],
    low: Option<LowHalf>,
    addresses: RangeInclusive<DataAddress>,
    /// The places that make pointers, whatever the run.
    makers: Rc<RefCell<FxHashMap<FlashWordAddress, Maker>>>,
}

impl Provenance {
    pub(super) fn new(machine: &Machine) -> Self {
        Self {
            registers: [None; 32],
            memory: vec![None; machine.data_end().index() + 1],
            loaded: [None; 32],
            low: None,
            addresses: machine.sram().start..=machine.data_end(),
            makers: Rc::default(),
        }
    }

    /// That of no byte; the places that make pointers stay.
    pub(super) fn again(&self) -> Self {
        Self {
            registers: [None; 32],
            memory: vec![None; self.memory.len()],
            loaded: [None; 32],
            low: None,
            addresses: self.addresses.clone(),
            makers: Rc::clone(&self.makers),
        }
    }

    /// Follows the entry into a handler, which pushes a return address from a data address down.
    pub(super) fn enter(&mut self, machine: &Machine, position: DataAddress) {
        self.low = None;
        self.loaded = [None; 32];
        self.push_return_address(machine, position);
    }

    fn push_return_address(&mut self, machine: &Machine, position: DataAddress) {
        for byte in 0..u16::from(machine.device.core.pc_bytes) {
            self.set_memory(position.wrapping_sub(byte), None);
        }
    }

    /// Follows an instruction; gives the reach of its access. No pointer is made where code speaks of whole sections.
    pub(super) fn execute(
        &mut self,
        machine: &Machine,
        executed: &Executed<'_>,
        objects: &Objects,
        makes_pointers: bool,
    ) -> Reach {
        let Executed { pc, instruction, access, stack_pointer, .. } = *executed;
        let reach = access.map_or(Reach::Unknown, |access| self.reach(access, objects));
        let kept = self.kept(executed, makes_pointers.then_some(objects));
        let low = self.low_half(executed).or(self.low.filter(|low| !changes_carry(instruction) && is_near(low.pc, pc)));
        match (instruction, access) {
            (Instruction::St { rr, .. } | Instruction::Sts { rr, .. }, Some(Access { address, .. })) => {
                self.set_memory(address, self.of(rr));
            }
            (Instruction::Push { rr }, _) => self.set_memory(stack_pointer, self.of(rr)),
            _ if instruction.memory_access() == MemoryAccess::PushReturnAddress => {
                self.push_return_address(machine, stack_pointer);
            }
            _ => {}
        }
        let moved = moved_pointer(instruction);
        let written = instruction.registers_written();
        for register in written.iter() {
            let number = usize::from(register.index());
            if moved != Some(register.index() & !1) {
                self.registers[number] = None;
            }
            self.loaded[number] = None;
        }
        for (register, tag) in kept.into_iter().flatten() {
            self.registers[usize::from(register)] = tag;
        }
        if let Instruction::Ldi { rd, k } = instruction {
            self.loaded[usize::from(rd.index())] = Some((pc, k));
        }
        self.low = low;
        reach
    }

    /// The reach of an access; takes note of the object that is hit.
    fn reach(&self, access: Access, objects: &Objects) -> Reach {
        let Some(half) = access.pointer.and_then(|pointer| self.word(pointer.low().index())) else {
            return Reach::Unknown;
        };
        let mut makers = self.makers.borrow_mut();
        let Some(maker) = makers.get_mut(&half.made_at) else { return Reach::Unknown };
        let hit = maker.meant.iter().find(|object| objects.range(**object).contains(&access.address));
        match (hit, maker.confirmed) {
            (Some(object), _) => {
                maker.confirmed = Some(*object);
                Reach::Inside
            }
            (None, Some(object)) if access.is_store => Reach::Outside { object, address: access.address },
            (None, _) => Reach::Unknown,
        }
    }

    fn of(&self, register: Register) -> Tag {
        self.registers[usize::from(register.index())]
    }

    /// The pointer that a pair of registers is, from the register of its low half on.
    fn word(&self, low: u8) -> Tag {
        pair(self.registers[usize::from(low)], self.registers[usize::from(low) + 1])
    }

    fn memory(&self, address: DataAddress) -> Tag {
        match Register::at(address) {
            Some(register) => self.of(register),
            None => self.memory.get(address.index()).copied().flatten(),
        }
    }

    fn set_memory(&mut self, address: DataAddress, tag: Tag) {
        match Register::at(address) {
            Some(_) => {
                self.registers[address.index()] = tag;
                self.loaded[address.index()] = None;
            }
            None => {
                if let Some(cell) = self.memory.get_mut(address.index()) {
                    *cell = tag;
                }
            }
        }
    }

    /// The provenance that up to two registers have after an instruction which writes them. Without objects no pointer is made.
    fn kept(&self, executed: &Executed<'_>, objects: Option<&Objects>) -> [Option<(u8, Tag)>; 2] {
        use Instruction as I;
        let Executed { pc, instruction, before, stack_pointer, access, .. } = *executed;
        let one = |register: Register, tag| [Some((register.index(), tag)), None];
        match instruction {
            I::Mov { rd, rr } => one(rd, self.of(rr)),
            I::Movw { rd, rr } => [Some((rd.index(), self.of(rr))), Some((rd.index() + 1, self.of(rr.next())))],
            I::Ld { rd, .. } | I::Lds { rd, .. } => one(rd, access.and_then(|access| self.memory(access.address))),
            I::Pop { rd } => one(rd, self.memory(stack_pointer.wrapping_add(1))),
            I::Adiw { rd, .. } | I::Sbiw { rd, .. } => word_of(rd.index(), self.word(rd.index())),
            I::Ldi { rd, k } => {
                let other = self.loaded[usize::from(rd.index() ^ 1)].filter(|(at, _)| is_near(*at, pc));
                let (Some((_, other)), Some(objects)) = (other, objects) else { return [None; 2] };
                let is_high = rd.index() & 1 == 1;
                let constant = u16::from_le_bytes(if is_high { [other, k] } else { [k, other] });
                word_of(rd.index() & !1, self.made(pc, constant, objects))
            }
            I::Adc { rd, .. } | I::Sbc { rd, .. } | I::Sbci { rd, .. } => {
                let is_pair = |low: &LowHalf| low.register + 1 == rd.index() && is_near(low.pc, pc);
                let Some(low) = self.low.filter(is_pair) else { return [None; 2] };
                let byte =
                    |register: Register| Byte { value: *before.data.get(register.address()), tag: self.of(register) };
                let (other, subtracts, is_constant) = match instruction {
                    I::Adc { rr, .. } => (byte(rr), false, false),
                    I::Sbc { rr, .. } => (byte(rr), true, false),
                    I::Sbci { k, .. } => (Byte { value: k, tag: None }, true, low.is_constant),
                    _ => return [None; 2],
                };
                if subtracts != low.subtracts {
                    return [None; 2];
                }
                word_of(low.register, self.sum(pc, &low, (byte(rd), other), is_constant, objects))
            }
            _ => [None; 2],
        }
    }

    /// The pointer that a sum or difference of two words is.
    fn sum(
        &self,
        pc: FlashWordAddress,
        low: &LowHalf,
        (own, other): (Byte, Byte),
        is_constant: bool,
        objects: Option<&Objects>,
    ) -> Tag {
        let value = |low: Byte, high: Byte| u16::from_le_bytes([low.value, high.value]);
        let (own_value, other_value) = (value(low.own, own), value(low.other, other));
        // A constant that is subtracted is one that is added.
        let added = if is_constant { other_value.wrapping_neg() } else { other_value };
        let is_number = |value: u16| !self.addresses.contains(&DataAddress(value));
        match (pair(low.own.tag, own.tag), pair(low.other.tag, other.tag)) {
            (Some(own), None) => is_number(added).then_some(own),
            (None, Some(other)) => (!low.subtracts && is_number(own_value)).then_some(other),
            (None, None) if is_constant && is_number(own_value) => self.made(pc, added, objects?),
            _ => None,
        }
    }

    /// The pointer that an instruction makes of a constant.
    fn made(&self, pc: FlashWordAddress, constant: u16, objects: &Objects) -> Tag {
        let mut makers = self.makers.borrow_mut();
        let maker = makers.entry(pc).or_insert_with(|| Maker { meant: objects.meant_by(constant), confirmed: None });
        (!maker.meant.is_empty()).then_some(Half { made_at: pc, is_high: false })
    }

    /// The first half of a pair that an instruction may be.
    fn low_half(&self, executed: &Executed<'_>) -> Option<LowHalf> {
        use Instruction as I;
        let Executed { pc, instruction, before, .. } = *executed;
        let byte = |register: Register| Byte { value: *before.data.get(register.address()), tag: self.of(register) };
        let (rd, other, subtracts, is_constant) = match instruction {
            I::Add { rd, rr } => (rd, byte(rr), false, false),
            I::Sub { rd, rr } => (rd, byte(rr), true, false),
            I::Subi { rd, k } => (rd, Byte { value: k, tag: None }, true, true),
            _ => return None,
        };
        Some(LowHalf { pc, register: rd.index(), own: byte(rd), other, subtracts, is_constant })
    }
}

/// The two registers of a pointer.
fn word_of(low: u8, tag: Tag) -> [Option<(u8, Tag)>; 2] {
    let half = |is_high| tag.map(|half| Half { is_high, ..half });
    [Some((low, half(false))), Some((low + 1, half(true)))]
}

/// The pointer that two bytes are.
fn pair(low: Tag, high: Tag) -> Tag {
    let (low, high) = (low?, high?);
    (!low.is_high && high.is_high && low.made_at == high.made_at).then_some(low)
}

fn is_near(first: FlashWordAddress, second: FlashWordAddress) -> bool {
    first.0 < second.0 && second.0 - first.0 <= PAIR_WORDS
}

/// True where a pair of instructions that carry from one to the other ends.
fn changes_carry(instruction: Instruction) -> bool {
    !instruction.flags_written().is_empty()
}

/// The pointer that a load or store increments or decrements, by its lower register: it stays a pointer.
fn moved_pointer(instruction: Instruction) -> Option<u8> {
    let (MemoryAccess::Load(addressing) | MemoryAccess::Store(addressing)) = instruction.memory_access() else {
        return None;
    };
    match addressing {
        Addressing::Indirect { pointer, mode: PointerMode::PostIncrement | PointerMode::PreDecrement } => {
            Some(pointer.low().index())
        }
        _ => None,
    }
}
