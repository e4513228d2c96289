//! Comparisons that a run made, and the inputs with which they would come out otherwise.

use avr_isa::{FlashWordAddress, Instruction, Register};
use avr_machine::flag;
use three_valued::{ByteDomain, TracedByte};

/// The most bytes of a number that is compared.
const MAX_BYTES: usize = 4;
/// The most changes of inputs that one comparison suggests.
const MAX_SUGGESTIONS: usize = 12;

/// Two numbers that an instruction compared, or a bit that it tested.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comparison {
    /// The flash word address of the instruction, the first one where several compare numbers of several bytes.
    pub(super) pc: FlashWordAddress,
    operands: [(TracedByte, TracedByte); MAX_BYTES],
    bytes: usize,
    /// The bit of the first operand that is tested, where it is no comparison of numbers.
    bit: Option<u8>,
    /// True if it matters which number is greater.
    orders: bool,
}

/// Inputs by number, with the values that they should have.
pub(super) type Changes = Vec<(u32, u8)>;

/// A change of inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Suggestion {
    /// The value that is aimed at.
    pub(super) target: u32,
    /// True if the operands would differ by one.
    pub(super) is_beside: bool,
    pub(super) changes: Changes,
}

/// The part of an instruction in the comparison that a branch behind it decides by.
pub(super) enum Effect {
    /// It compares something.
    Compares(Comparison),
    /// It goes on with the comparison of the lower bytes.
    Continues(TracedByte, TracedByte),
    /// A branch decides by the comparison under way: by the order of the numbers, or by whether they are the same.
    Decides { orders: bool },
    /// It decides by a comparison of its own.
    Skips(Comparison),
    /// It changes flags in another way.
    Ends,
    /// Nothing.
    Nothing,
}

impl Comparison {
    fn of(pc: FlashWordAddress, one: TracedByte, other: TracedByte) -> Self {
        let none = TracedByte::constant(0);
        let mut operands = [(none, none); MAX_BYTES];
        operands[0] = (one, other);
        Self { pc, operands, bytes: 1, bit: None, orders: false }
    }

    /// The test of a bit.
    pub(super) fn of_bit(pc: FlashWordAddress, byte: TracedByte, bit: u8) -> Self {
        Self { bit: Some(bit), ..Self::of(pc, byte, TracedByte::constant(0)) }
    }

    /// The comparison of a number, low byte first, with a constant; none if it has too many bytes.
    pub(super) fn with_constant(pc: FlashWordAddress, number: &[TracedByte], constant: i128) -> Option<Self> {
        let bytes = constant.to_le_bytes();
        let mut pairs = number.iter().zip(bytes.map(TracedByte::constant));
        let (first, low) = pairs.next().filter(|_| number.len() <= MAX_BYTES)?;
        Some(pairs.fold(Self::of(pc, *first, low), |all, (byte, other)| all.with(*byte, other)).ordering(true))
    }

    /// True if the numbers are the same.
    pub(super) fn is_equal(&self) -> bool {
        self.bit.is_none() && self.operands().iter().all(|(one, other)| one.value == other.value)
    }

    /// The same with a further byte.
    pub(super) fn with(mut self, one: TracedByte, other: TracedByte) -> Self {
        if let Some(next) = self.operands.get_mut(self.bytes) {
            *next = (one, other);
            self.bytes += 1;
        }
        self
    }

    /// True if both operands depend on inputs.
    pub(super) fn is_among_inputs(&self) -> bool {
        let mut operands = self.operands().iter();
        operands.any(|(one, other)| !one.sources.is_empty() && !other.sources.is_empty())
    }

    /// The same where it matters which number is greater, or not.
    pub(super) fn ordering(self, orders: bool) -> Self {
        Self { orders, ..self }
    }

    /// True if it depends on inputs.
    pub(super) fn depends_on_inputs(&self) -> bool {
        self.operands().iter().any(|(one, other)| !one.sources.is_empty() || !other.sources.is_empty())
    }

    fn operands(&self) -> &[(TracedByte, TracedByte)] {
        &self.operands[..self.bytes]
    }

    /// The first bytes that are compared.
    pub(super) fn lowest(&self) -> (u8, u8) {
        let (one, other) = self.operands[0];
        (one.value, other.value)
    }

    /// The difference of the numbers.
    pub(super) fn difference(&self) -> u32 {
        let mut numbers = [0_u32; 2];
        for (one, other) in self.operands().iter().rev() {
            numbers = [numbers[0] << 8 | u32::from(one.value), numbers[1] << 8 | u32::from(other.value)];
        }
        numbers[0].abs_diff(numbers[1])
    }

    /// Changes of inputs with which it may come out otherwise; `value` gives the present value of an input.
    pub(super) fn suggestions(&self, value: &dyn Fn(u32) -> Option<u8>) -> Vec<Suggestion> {
        let mut all: Vec<Suggestion> = Vec::new();
        if let Some(bit) = self.bit {
            let byte = self.operands[0].0;
            let target = u32::from(byte.value >> bit & 1 ^ 1);
            for input in byte.sources.as_slice() {
                let changes = value(*input).map(|now| vec![(*input, now ^ 1 << bit)]);
                all.extend(changes.map(|changes| Suggestion { target, is_beside: false, changes }));
            }
            return all;
        }
        let mut both = [false, true].map(|is_swapped| {
            let pairs = self.operands().iter();
            pairs.map(|(one, other)| if is_swapped { (*other, *one) } else { (*one, *other) }).collect::<Vec<_>>()
        });
        let sources =
            |sides: &[(TracedByte, TracedByte)]| sides.iter().map(|(one, _)| one.sources.as_slice().len()).max();
        // What was made of many inputs is more than one of them.
        both.sort_by_key(|sides| sources(sides));
        for sides in &both {
            for way in WAYS {
                add(&mut all, (sides, 0), (0, way), value);
            }
            for beside in [-1, 1].into_iter().filter(|_| self.orders) {
                add(&mut all, (sides, beside), (0, difference), value);
            }
        }
        for sides in &both {
            for choice in 1..sources(sides).unwrap_or(0) {
                add(&mut all, (sides, 0), (choice, difference), value);
            }
        }
        all.truncate(MAX_SUGGESTIONS);
        all
    }
}

/// The way from a byte and its target to the value of an input: `now` is the present one.
type Way = fn(now: u8, byte: u8, target: u8) -> u8;

/// An operand may be an input to which something was added, an input with some bits flipped, or one with its nibbles exchanged.
const WAYS: [Way; 3] =
    [difference, |now, byte, target| now ^ byte ^ target, |now, byte, target| now ^ (byte ^ target).rotate_left(4)];

fn difference(now: u8, byte: u8, target: u8) -> u8 {
    now.wrapping_add(target.wrapping_sub(byte))
}

/// Adds the suggestion that the first number becomes the second one, or one beside it, by changing one input for each byte.
fn add(
    all: &mut Vec<Suggestion>,
    (sides, beside): (&[(TracedByte, TracedByte)], i64),
    (choice, way): (usize, Way),
    value: &dyn Fn(u32) -> Option<u8>,
) {
    let wanted = sides.iter().rev().fold(0, |number, (_, other)| number << 8 | i64::from(other.value)) + beside;
    let mut changes: Changes = Vec::new();
    for (index, (byte, _)) in sides.iter().enumerate() {
        let target = (wanted >> (8 * index)) as u8;
        if byte.value == target {
            continue;
        }
        let sources = byte.sources.as_slice();
        let Some(input) = sources.get(choice.min(sources.len().saturating_sub(1))) else { return };
        let Some(now) = value(*input) else { return };
        if changes.iter().any(|(changed, _)| changed == input) {
            return;
        }
        // A copy is what it is to become, whatever the way.
        let way = if byte.value == now { difference } else { way };
        changes.push((*input, way(now, byte.value, target)));
    }
    if !changes.is_empty() && all.iter().all(|one| one.changes != changes) {
        all.push(Suggestion { target: wanted as u32, is_beside: beside != 0, changes });
    }
}

/// The meaning of the instruction at an address for comparisons, before it is executed; `register` gives the content of registers.
pub(super) fn effect(
    pc: FlashWordAddress,
    instruction: Instruction,
    register: &dyn Fn(Register) -> TracedByte,
) -> Effect {
    use Instruction as I;
    let constant = TracedByte::constant;
    let compares = |one, other| Effect::Compares(Comparison::of(pc, one, other));
    match instruction {
        I::Cp { rd, rr } | I::Sub { rd, rr } | I::Eor { rd, rr } if rd != rr => compares(register(rd), register(rr)),
        I::Cpi { rd, k } | I::Subi { rd, k } => compares(register(rd), constant(k)),
        I::Cpc { rd, rr } | I::Sbc { rd, rr } => Effect::Continues(register(rd), register(rr)),
        I::Sbci { rd, k } => Effect::Continues(register(rd), constant(k)),
        I::And { rd, rr } => compares(register(rd).and(&register(rr)), constant(0)),
        I::Andi { rd, k } => compares(register(rd).and(&constant(k)), constant(0)),
        I::Or { rd, rr } => compares(register(rd).or(&register(rr)), constant(0)),
        I::Dec { rd } => compares(register(rd), constant(1)),
        I::Inc { rd } => compares(register(rd), constant(0xff)),
        I::Sbiw { rd, k } => {
            let low = Comparison::of(pc, register(rd), constant(k));
            Effect::Compares(low.with(register(rd.next()), constant(0)))
        }
        I::Lsr { rd } | I::Ror { rd } | I::Asr { rd } => Effect::Compares(Comparison::of_bit(pc, register(rd), 0)),
        I::Add { rd, rr } if rd == rr => Effect::Compares(Comparison::of_bit(pc, register(rd), 7)),
        I::Cpse { rd, rr } => Effect::Skips(Comparison::of(pc, register(rd), register(rr))),
        I::Sbrc { rr, bit } | I::Sbrs { rr, bit } => Effect::Skips(Comparison::of_bit(pc, register(rr), bit)),
        I::Bst { rd, bit } => Effect::Skips(Comparison::of_bit(pc, register(rd), bit)),
        I::Brbs { flag, .. } | I::Brbc { flag, .. } => Effect::Decides { orders: flag != flag::Z },
        _ if !instruction.flags_written().is_empty() => Effect::Ends,
        _ => Effect::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use three_valued::Sources;

    fn input(value: u8, number: u32) -> TracedByte {
        TracedByte { value, sources: Sources::of(number) }
    }

    fn compared(one: TracedByte, other: TracedByte) -> Comparison {
        Comparison::of(FlashWordAddress(7), one, other)
    }

    #[track_caller]
    fn suggests(comparison: &Comparison, values: &[u8], changes: &[(u32, u8)]) {
        let all = comparison.suggestions(&|input| values.get(input as usize).copied());
        assert!(all.iter().any(|one| one.changes == changes), "{changes:?} is not among {all:?}");
        assert!(all.len() <= MAX_SUGGESTIONS);
    }

    #[test]
    fn an_input_becomes_what_it_is_compared_with() {
        let constant = TracedByte::constant;
        suggests(&compared(input(0x41, 0), constant(0x4c)), &[0x41], &[(0, 0x4c)]);
        suggests(&compared(constant(0x4c), input(0x41, 0)), &[0x41], &[(0, 0x4c)]);
        let ordered = compared(input(0x41, 0), constant(0x4c)).ordering(true);
        suggests(&ordered, &[0x41], &[(0, 0x4b)]);
        suggests(&ordered, &[0x41], &[(0, 0x4d)]);
    }

    #[test]
    fn an_input_is_found_behind_sums_masks_and_exchanged_nibbles() {
        let constant = TracedByte::constant;
        // The digit of an ASCII character; the low nibble; the nibbles of 0x12 exchanged.
        suggests(&compared(input(0x11, 0), constant(9)), &[0x41], &[(0, 0x39)]);
        suggests(&compared(input(0x01, 0), constant(0x0a)), &[0x41], &[(0, 0x4a)]);
        suggests(&compared(input(0x21, 0), constant(0x35)), &[0x12], &[(0, 0x53)]);
    }

    #[test]
    fn the_bytes_of_a_word_change_together() {
        let word = compared(input(0, 0), TracedByte::constant(0xa7)).with(input(0, 1), TracedByte::constant(2));
        suggests(&word, &[0, 0], &[(0, 0xa7), (1, 2)]);
        suggests(&word.ordering(true), &[0, 0], &[(0, 0xa8), (1, 2)]);
    }

    #[test]
    fn a_checksum_is_met_by_the_byte_that_it_is_compared_with_or_by_one_of_its_own() {
        let sum = TracedByte { value: 0x30, sources: Sources::of(1).union(&Sources::of(2)) };
        let compared = compared(input(0x10, 3), sum);
        suggests(&compared, &[0, 0x18, 0x18, 0x10], &[(3, 0x30)]);
        let all = compared.suggestions(&|input| [0, 0x18, 0x18, 0x10].get(input as usize).copied());
        assert!(all.iter().any(|one| one.changes == [(2, 0xf8)]), "{all:?}");
    }

    #[test]
    fn a_bit_that_is_tested_is_flipped() {
        suggests(&Comparison::of_bit(FlashWordAddress(7), input(0x20, 0), 7), &[0x20], &[(0, 0xa0)]);
    }
}
