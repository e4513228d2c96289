//! Ranges behind a step.

use avr_isa::{Addressing, FlashWordAddress, Instruction, MemoryAccess, Register};
use avr_machine::{Fetched, Machine, flag};
use three_valued::{ByteDomain, Truth, TvByte};

use super::arithmetic::{Shift, Sign, above, divided, left, right};
use crate::division::Division;
use crate::equalities::{Silence, Value};
use crate::faults::{Fault, is_on};
use crate::intervals::{Interval, MOST_BYTES, Range, add, hull, meet, of_bytes};
use crate::map::State;
use crate::memory::Store;

/// A byte of a number while a step is taken: a value of before, or what a register holds behind the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Byte {
    Before(Value),
    Behind(Register),
}

/// A number with its range for each value of the carry behind the step.
type Found = (Vec<Byte>, [Interval; 2]);

/// The second operand of an instruction.
#[derive(Clone, Copy)]
enum Operand {
    Number(u8),
    Register(Register),
}

/// An instruction as far as ranges depend on it.
enum Kind {
    /// A sum of two registers, with the carry or without.
    Sum(Register, Register, bool),
    /// A difference, or a comparison if its result is not kept.
    Difference { rd: Register, operand: Operand, has_carry: bool, is_kept: bool },
    /// A sum or difference of a pair of registers and a number.
    Pair(Register, u8, Sign),
    /// Another one.
    Other,
}

impl Kind {
    fn of(instruction: Instruction) -> Self {
        let difference = |rd, operand, has_carry, is_kept| Self::Difference { rd, operand, has_carry, is_kept };
        match instruction {
            Instruction::Add { rd, rr } => Self::Sum(rd, rr, false),
            Instruction::Adc { rd, rr } => Self::Sum(rd, rr, true),
            Instruction::Sub { rd, rr } => difference(rd, Operand::Register(rr), false, true),
            Instruction::Sbc { rd, rr } => difference(rd, Operand::Register(rr), true, true),
            Instruction::Subi { rd, k } => difference(rd, Operand::Number(k), false, true),
            Instruction::Sbci { rd, k } => difference(rd, Operand::Number(k), true, true),
            Instruction::Cp { rd, rr } => difference(rd, Operand::Register(rr), false, false),
            Instruction::Cpc { rd, rr } => difference(rd, Operand::Register(rr), true, false),
            Instruction::Cpi { rd, k } => difference(rd, Operand::Number(k), false, false),
            Instruction::Adiw { rd, k } => Self::Pair(rd, k, Sign::Plus),
            Instruction::Sbiw { rd, k } => Self::Pair(rd, k, Sign::Minus),
            _ => Self::Other,
        }
    }
}

/// The addresses above SREG to which the accesses through a pointer go for sure, if it is there. A displacement is below 64.
const ABOVE: u32 = 4;
const BELOW: u32 = 0xff00;

impl Before<'_> {
    /// True if a step leaves the carry alone. Without an instruction it is an entry into a handler, which pushes.
    ///
    /// SOUND: flags are written by name, or SREG is as a cell.
    pub(crate) fn keeps_carry(&self, executed: Option<Instruction>) -> bool {
        let status = self.machine.status_address();
        let is_above = |(low, high): (u32, u32)| low > u32::from(status.0) + ABOVE && high < BELOW;
        let stack = || {
            let end = |byte: fn(TvByte) -> u8| {
                let half = |cell| Some(byte(self.state.byte(Value::Of(cell), self.silence, self.store)));
                self.machine.stack_pointer().value(half).map_or(0, |pointer| pointer.0.into())
            };
            is_above((end(TvByte::low), end(TvByte::high)))
        };
        let Some(instruction) = executed else { return stack() };
        let is_spared = match instruction.memory_access() {
            MemoryAccess::Store(Addressing::Direct(address))
            | MemoryAccess::StoreIo { address }
            | MemoryAccess::StoreIoBit { address, .. } => address != status,
            MemoryAccess::Store(Addressing::Indirect { pointer, .. }) => {
                let halves = [pointer.low(), pointer.high()].map(|register| Value::Of(register.address()));
                is_above(self.state.range_of_bytes(&halves, self.silence, self.store))
            }
            MemoryAccess::Push | MemoryAccess::PushReturnAddress => stack(),
            MemoryAccess::None
            | MemoryAccess::Load(_)
            | MemoryAccess::LoadIo { .. }
            | MemoryAccess::LoadIoBit { .. }
            | MemoryAccess::Pop
            | MemoryAccess::PopReturnAddress
            | MemoryAccess::LoadFlash
            | MemoryAccess::StoreFlash
            | MemoryAccess::ResetWatchdog => true,
        };
        is_spared && !instruction.flags_written().contains(flag::C)
    }
}

/// The number of registers from `rd` on that the code behind an address works on with the carry.
fn chain(machine: &Machine, mut pc: FlashWordAddress, rd: Register) -> usize {
    let mut count = 0;
    let mut next = rd;
    while count < MOST_BYTES - 1 {
        let Fetched::Instruction { instruction, words, .. } = machine.program.fetch(pc) else { break };
        match (instruction, Kind::of(instruction)) {
            (Instruction::Ldi { .. }, _) => {}
            (_, Kind::Sum(rd, _, true) | Kind::Difference { rd, has_carry: true, .. }) if rd == next => {
                count += 1;
                next = next.next();
            }
            _ => break,
        }
        pc = pc.wrapping_add(words.into());
    }
    count
}

/// Values of before a step as they are called behind it; none for one that no cell is known to hold any more.
pub(super) type Renamed<'a> = dyn Fn(Value) -> Option<Value> + 'a;

/// The state that a step begins with.
pub(crate) struct Before<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) pc: FlashWordAddress,
    pub(crate) state: &'a State,
    pub(crate) silence: Silence,
    pub(crate) store: &'a Store,
    /// The division of which the instruction is the first one.
    pub(crate) division: Option<&'a Division>,
}

impl Before<'_> {
    /// True if no range can be found behind a step with this instruction.
    pub(crate) fn is_without(&self, executed: Option<Instruction>) -> bool {
        let kind = executed.map_or(Kind::Other, Kind::of);
        self.state.ranges.list().is_empty() && matches!(kind, Kind::Other) && self.division.is_none()
    }

    fn value(&self, register: Register) -> Value {
        self.state.canonical(Value::Of(register.address()), self.silence)
    }

    fn byte(&self, value: Value) -> (u32, u32) {
        of_bytes([self.state.byte(value, self.silence, self.store)].into_iter())
    }

    fn operand(&self, operand: Operand) -> (u32, u32) {
        match operand {
            Operand::Number(number) => (number.into(), number.into()),
            Operand::Register(register) => self.byte(self.value(register)),
        }
    }

    /// The range of a number for each value of the carry before the step.
    fn range(&self, bytes: &[Value]) -> [Interval; 2] {
        let status = self.state.byte(Value::Of(self.machine.status_address()), self.silence, self.store);
        within_carry(self.state.range(bytes, self.silence, self.store), status)
    }

    fn is_one_value(&self, one: Value, other: Value) -> bool {
        self.state.is_one_value(one, other, self.silence, self.store)
    }

    /// The values of a register and of so many that follow.
    fn numbers(&self, first: Register, count: usize) -> Vec<Value> {
        let registers = std::iter::successors(Some(first), |register| Some(register.next()));
        registers.take(count).map(|register| self.value(register)).collect()
    }

    /// The ranges behind a step, as `renamed` and `behind` tell what cells hold then.
    pub(crate) fn ranges(&self, executed: Option<Instruction>, renamed: &Renamed<'_>, behind: &State) -> Vec<Range> {
        let mut found: Vec<Found> = Vec::new();
        let keeps = self.keeps_carry(executed) || is_on(Fault::CarryKept);
        for Range { bytes, .. } in self.state.ranges.list() {
            let when = self.range(bytes);
            let when = if keeps { when } else { [hull(when[0], when[1]); 2] };
            found.push((bytes.iter().map(|value| Byte::Before(*value)).collect(), when));
        }
        let behind_pc = |instruction: Instruction| match self.machine.program.fetch(self.pc) {
            Fetched::Instruction { instruction: here, words, .. } if here == instruction => {
                self.pc.wrapping_add(words.into())
            }
            _ => self.pc,
        };
        match executed.map_or(Kind::Other, Kind::of) {
            Kind::Other => {}
            Kind::Sum(rd, rr, has_carry) => {
                let count = executed.map_or(0, |one| chain(self.machine, behind_pc(one), rd.next()));
                for (changed, other) in [(rd, rr), (rr, rd)] {
                    let byte = self.byte(self.value(changed));
                    if changed != rd && byte.0 == byte.1 {
                        continue;
                    }
                    let operand = self.operand(Operand::Register(other));
                    self.shift(&mut found, (rd, changed), (Sign::Plus, operand, has_carry), count);
                }
            }
            Kind::Difference { rd, operand, has_carry, is_kept } => {
                let count = executed.map_or(0, |one| chain(self.machine, behind_pc(one), rd.next()));
                self.compare(&mut found, rd, operand, has_carry, count);
                if is_kept {
                    self.shift(&mut found, (rd, rd), (Sign::Minus, self.operand(operand), has_carry), count);
                }
            }
            Kind::Pair(rd, k, sign) => {
                let pair = rd.next();
                let count = executed.map_or(0, |one| chain(self.machine, behind_pc(one), pair.next()));
                let (operand, has_carry) = ((k.into(), k.into()), false);
                for bytes in self.all(self.numbers(rd, 2 + count)) {
                    let is_pair = |lowest: &usize| {
                        self.is_one_value(bytes[*lowest], self.value(rd))
                            && self.is_one_value(bytes[*lowest + 1], self.value(pair))
                    };
                    let Some(lowest) = (0..bytes.len().saturating_sub(1)).find(is_pair) else { continue };
                    let shift = Shift { sign, operand, lowest, width: 2, has_carry };
                    let mut number: Vec<Byte> = bytes.iter().map(|value| Byte::Before(*value)).collect();
                    (number[lowest], number[lowest + 1]) = (Byte::Behind(rd), Byte::Behind(pair));
                    found.push((number, shift.of(self.range(&bytes), bytes.len())));
                }
            }
        }
        found.extend(self.division.into_iter().flat_map(|division| self.results(division)));
        self.named(found, renamed, behind)
    }

    /// The numbers that a division leaves behind, if its divisor is not 0.
    fn results(&self, division: &Division) -> Vec<Found> {
        let size = division.bytes;
        let number = |first: Register| {
            let when = self.range(&self.numbers(first, size));
            hull(when[0], when[1])
        };
        let (Some(dividend), Some(divisor)) = (number(division.dividend), number(division.divisor)) else {
            return Vec::new();
        };
        let results = |first: Register| -> Vec<Byte> {
            let registers = std::iter::successors(Some(first), |register| Some(register.next())).take(size);
            registers.map(|register| Byte::Before(Value::Result(register.address()))).collect()
        };
        let Some((quotient, remainder)) = divided(dividend, divisor) else { return Vec::new() };
        vec![(results(division.quotient), [quotient; 2]), (results(division.remainder), [remainder; 2])]
    }

    /// The numbers that have ranges, and one more.
    fn all(&self, more: Vec<Value>) -> Vec<Vec<Value>> {
        let mut all: Vec<Vec<Value>> = self.state.ranges.list().iter().map(|range| range.bytes.to_vec()).collect();
        if !all.contains(&more) {
            all.push(more);
        }
        all
    }

    /// The numbers of which a byte is the one that is replaced by the sum or difference in `rd`.
    fn shift(
        &self,
        found: &mut Vec<Found>,
        (rd, changed): (Register, Register),
        (sign, operand, has_carry): (Sign, (u32, u32), bool),
        count: usize,
    ) {
        let value = self.value(changed);
        let has_carry = has_carry && !is_on(Fault::CarryDropped);
        for bytes in self.all(self.numbers(changed, 1 + count)) {
            // A byte with the same known content is one as well, but another one may be meant.
            let exact = bytes.iter().position(|byte| *byte == value);
            let lowest = exact.or_else(|| bytes.iter().position(|byte| self.is_one_value(*byte, value)));
            let Some(lowest) = lowest else { continue };
            if bytes.len() == 1 {
                continue;
            }
            let shift = Shift { sign, operand, lowest, width: 1, has_carry };
            let mut number: Vec<Byte> = bytes.iter().map(|value| Byte::Before(*value)).collect();
            number[lowest] = Byte::Behind(rd);
            found.push((number, shift.of(self.range(&bytes), bytes.len())));
        }
    }

    /// The numbers that a comparison tells something of.
    fn compare(&self, found: &mut Vec<Found>, rd: Register, operand: Operand, has_carry: bool, count: usize) {
        let one = self.value(rd);
        let [a, b] = [self.byte(one), self.operand(operand)];
        let sides = |carry: u32| [left(a, b, carry), right(a, b, carry)];
        let other = match operand {
            Operand::Number(_) => None,
            // A number that is known is a constant: nothing is to be told of it.
            Operand::Register(register) => Some(self.value(register)).filter(|_| b.0 < b.1),
        };
        let values = [Some(one), other];
        if !has_carry {
            for (value, when) in values.into_iter().zip(sides(0)).filter(|_| count > 0) {
                found.extend(value.map(|value| (vec![Byte::Before(value)], when)));
            }
            return;
        }
        for below in self.state.ranges.list().iter().filter(|range| range.is_conditional()) {
            let size = below.bytes.len();
            for (side, value) in values.iter().enumerate() {
                let Some(value) = value.filter(|value| size < MOST_BYTES && below.bytes.last() != Some(value)) else {
                    continue;
                };
                let of_below = self.range(&below.bytes);
                let bytes = [&below.bytes, &[value][..]].concat();
                let before = self.range(&bytes);
                let with = |behind: usize, carry: usize| {
                    let byte = sides(carry as u32)[side][behind];
                    meet(above(of_below[carry], byte, size), before[carry])
                };
                let when = [0, 1].map(|behind| hull(with(behind, 0), with(behind, 1)));
                found.push((bytes.into_iter().map(Byte::Before).collect(), when));
            }
        }
    }

    /// The ranges by what cells hold behind the step.
    fn named(&self, found: Vec<Found>, renamed: &Renamed<'_>, behind: &State) -> Vec<Range> {
        let status = behind.byte(Value::Of(self.machine.status_address()), self.silence, self.store);
        let mut list = Vec::new();
        for (number, when) in found {
            let name = |byte: &Byte| match byte {
                Byte::Before(value) => renamed(*value),
                Byte::Behind(register) => Some(behind.equalities.value(register.address(), self.silence)),
            };
            let Some(bytes) = number.iter().map(name).collect::<Option<Box<[Value]>>>() else { continue };
            add(&mut list, Range { bytes, when: within_carry(when, status) });
        }
        list
    }
}

/// The ranges with those left out that belong to a value which the carry does not have.
fn within_carry(when: [Interval; 2], status: TvByte) -> [Interval; 2] {
    match status.bit(flag::C) {
        Truth::Unknown => when,
        Truth::False => [when[0], None],
        Truth::True => [None, when[1]],
    }
}
