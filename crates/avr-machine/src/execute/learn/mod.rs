//! Facts from comparisons about their operands.
//!
//! A comparison with an open outcome on which the next instruction branches is decided at once. In each case the
//! unknown operands are narrowed to the values with this outcome: below `cpi r24, 17; brcc`, r24 is at most 16; below
//! `cp r24, r25; brcc`, with r25 at most 16, it is at most 15.
//!
//! SOUND: the cases cover every value of the operand, and a case that decides a flag holds only values that the comparison
//! gives this flag for.

mod difference;
mod relation;
mod word;

use super::Step;
use super::flags::flag;
use crate::copies::{Copies, MaskedCopy, Relation};
use crate::environment::{Environment, Question};
use crate::program::Fetched;
use avr_isa::{DataAddress, Instruction, Opcode, Pointer, PointerMode, Register};
use three_valued::{BitDomain, ByteDomain, Truth, TvByte};
use word::WordComparison;

/// The most bytes into which one outcome of a comparison narrows an operand. One is enough where its values are a range of those
/// that its bits allow; where it takes more than these, it is narrowed to the smallest byte that covers them all.
const MOST_PER_OUTCOME: usize = 4;

/// The number of registers: the first data addresses are theirs.
const REGISTERS: DataAddress = DataAddress::IO;

/// The most instructions behind a comparison that belong to it.
const MAX_CHAIN: u32 = 8;

/// The second operand of a comparison.
#[derive(Clone, Copy)]
enum Other {
    Register(Register),
    Constant(u8),
}

/// The operation of a comparison.
#[derive(Clone, Copy)]
enum Operation {
    /// The flags are those of `rd - other`, with what was borrowed and Z from before if it is `chained`.
    Difference { chained: bool },
    /// The operands are the low and the high byte of a word that is compared with a constant.
    Word(WordComparison),
}

/// A comparison.
struct Comparison {
    rd: Register,
    other: Other,
    operation: Operation,
}

/// A case: what the first and the second operand are, and what the flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Case {
    operands: [TvByte; 2],
    outcome: bool,
}

impl<V: ByteDomain, E: Environment<V>> Step<'_, V, E> {
    /// Decides the outcome of a comparison in advance if the next instruction branches on it and it is open; the flag and
    /// its value, which the comparison is to be given.
    pub(super) fn learn(&mut self, instruction: Instruction, copies: Copies, relation: Relation) -> Option<(u8, bool)> {
        let comparison = comparison(instruction)?;
        if let Some(told) = self.outcome_told(relation) {
            return Some(told);
        }
        let flag = self.flag_asked_for().filter(|flag| *flag != flag::Z || self.environment.learns_equalities())?;
        let second = match comparison.other {
            Other::Register(rr) if rr == comparison.rd => return None,
            Other::Register(rr) => Some(rr),
            Other::Constant(_) => None,
        };
        let registers = [Some(comparison.rd), second];
        let constant = match comparison.other {
            Other::Constant(k) => TvByte::constant(k),
            Other::Register(_) => TvByte::UNKNOWN,
        };
        let operands = registers.map(|register| register.map_or(constant, |register| self.register(register).bits()));
        if operands.iter().all(|operand| operand.known().is_some()) {
            return None;
        }
        let same = registers.map(|register| register.map_or(Vec::new(), |one| copies.same_as(one.address())));
        if !self.is_worth_knowing(operands, &same) {
            return None;
        }
        let sides = self.environment.learns_inequalities();
        let cases = match comparison.operation {
            Operation::Difference { chained } => {
                let before = chained.then(|| (self.flag(flag::C).truth(), self.flag(flag::Z).truth()));
                if flag_of(flag, operands, before) != Truth::Unknown {
                    return None;
                }
                cases(flag, operands, before, sides)?
            }
            Operation::Word(comparison) => comparison.cases(flag, operands, sides)?,
        };
        let unknown: Vec<V> = registers.iter().flatten().map(|register| self.register(*register).clone()).collect();
        let asked: Vec<&V> = unknown.iter().filter(|value| value.known().is_none()).collect();
        let index = match cases.len() {
            1 => 0,
            count => self.environment.case(count, Question::Bytes(&asked)),
        };
        let case = cases[index];
        for (cells, fact) in same.iter().zip(case.operands) {
            for cell in cells {
                // A cell that was narrowed before in one place only may not agree here: then the other place tells.
                if let Some(narrowed) = self.state.data.get(*cell).assume(fact) {
                    self.state.data.set(*cell, narrowed);
                }
            }
        }
        Some((flag, case.outcome))
    }

    /// True if it is of use to know more about operands, which are in these cells.
    fn is_worth_knowing(&self, operands: [TvByte; 2], same: &[Vec<DataAddress>; 2]) -> bool {
        let mut pairs = operands.iter().zip(same);
        let mut unknown = pairs.clone().filter(|(operand, _)| operand.known().is_none()).flat_map(|(_, cells)| cells);
        // The cell of an index that a register was loaded from says that what it is compared with is a bound.
        let is_index = |cell: &DataAddress| *cell >= REGISTERS && self.environment.learns_cell(*cell);
        let is_bounded = pairs.any(|(operand, cells)| operand.known().is_some() && cells.iter().any(is_index));
        is_bounded || unknown.any(|cell| self.is_of_use(*cell))
    }

    /// True if it is of use to know more about a cell behind the present instruction.
    fn is_of_use(&self, cell: DataAddress) -> bool {
        match Register::at(cell) {
            Some(register) => self.environment.learns(register, self.state.control.pc),
            None => self.environment.learns_cell(cell),
        }
    }

    /// The copies that are known behind an instruction that goes on with the next one, if `copies` was before it.
    pub(super) fn copies_after(&self, instruction: Instruction, mut copies: Copies) -> Copies {
        use Instruction as I;
        let cell = Register::address;
        let relates = self.environment.relates();
        let mut copy = |to: DataAddress, from: DataAddress| match relates || self.is_of_use(to) || self.is_of_use(from)
        {
            true if relates => copies.copy_related(to, from),
            true => copies.copy(to, from),
            false => copies.overwrite(to),
        };
        match instruction {
            I::Mov { rd, rr } => copy(cell(rd), cell(rr)),
            I::Movw { rd, rr } => {
                // Each half is copied from what the instruction does not write, or from itself.
                copy(cell(rd), cell(rr));
                copy(cell(rd.next()), cell(rr.next()));
            }
            I::Lds { rd, address } if self.machine.sram.contains(&address) => copy(cell(rd), address),
            I::Sts { address, rr } if self.machine.sram.contains(&address) => copy(address, cell(rr)),
            I::Ld { rd, pointer, mode: PointerMode::Displacement(q) } => match self.pointed(pointer, q) {
                Some(address) if self.machine.sram.contains(&address) => copy(cell(rd), address),
                _ => copies.overwrite(cell(rd)),
            },
            I::St { pointer, mode: PointerMode::Displacement(q), rr } => match self.pointed(pointer, q) {
                Some(address) if self.machine.sram.contains(&address) => copy(address, cell(rr)),
                _ => copies = Copies::default(),
            },
            _ if copies.is_empty() && !relates => {}
            I::Andi { rd, k } if relates => mask(&mut copies, rd, rd, k),
            I::And { rd, rr } if relates && rd != rr => {
                match [rr, rd].map(|register| self.register(register).known()) {
                    [Some(bits), _] => mask(&mut copies, rd, rd, bits),
                    [None, Some(bits)] => mask(&mut copies, rd, rr, bits),
                    [None, None] => copies.overwrite(cell(rd)),
                }
            }
            _ if keeps_copies(instruction) => {
                instruction.registers_written().iter().for_each(|register| copies.overwrite(cell(register)));
            }
            _ => copies = Copies::default(),
        }
        copies
    }

    /// The address that is so far behind a pointer, if it is known.
    fn pointed(&self, pointer: Pointer, displacement: u8) -> Option<DataAddress> {
        let known = self.candidates(pointer.low().address(), pointer.high().address()).single();
        known.map(DataAddress).map(|address| address.wrapping_add(displacement.into()))
    }

    /// The flag of a comparison that the next branch wants to know, or that the rest of the comparison before the branch does.
    fn flag_asked_for(&self) -> Option<u8> {
        let first = self.state.control.pc;
        for address in (0..MAX_CHAIN).map(|words| first.wrapping_add(words)) {
            let Fetched::Instruction { instruction, .. } = self.machine.program.fetch(address) else { return None };
            match instruction {
                Instruction::Brbs { flag, .. } | Instruction::Brbc { flag, .. } if flag <= flag::S => {
                    // Of equal numbers all bytes are equal; orders depend on what is borrowed.
                    return Some(if address == first || flag == flag::Z { flag } else { flag::C });
                }
                Instruction::Cpc { .. } | Instruction::Sbc { .. } | Instruction::Sbci { .. } => {}
                _ => return None,
            }
        }
        None
    }
}

/// Takes note that a register was overwritten with some bits of another one, or of itself.
fn mask(copies: &mut Copies, to: Register, from: Register, mask: u8) {
    let others: Vec<DataAddress> =
        copies.same_as(from.address()).into_iter().filter(|cell| *cell != to.address()).collect();
    let whole = others.iter().find(|cell| **cell >= REGISTERS).or(others.first());
    let found = whole.map(|cell| (*cell, 0xff)).or_else(|| copies.masked_as(from.address()));
    copies.overwrite(to.address());
    if let Some((from, bits)) = found {
        copies.mask(MaskedCopy { register: to.index(), mask: bits & mask, from });
    }
}

/// True for instructions behind which copies stay known, but for what they write: registers that they are said to write,
/// and SREG. Others may write more, or are followed by too little that asks for copies.
fn keeps_copies(instruction: Instruction) -> bool {
    use Opcode as O;
    match instruction.opcode() {
        O::Add | O::Adc | O::Adiw | O::Inc | O::Sub | O::Subi | O::Sbc | O::Sbci | O::Sbiw | O::Dec | O::Neg => true,
        O::Cp | O::Cpc | O::Cpi | O::Cpse => true,
        O::And | O::Andi | O::Or | O::Ori | O::Eor | O::Com | O::Mul | O::Muls | O::Mulsu => true,
        O::Lsr | O::Ror | O::Asr | O::Swap | O::Bst | O::Bld => true,
        O::Ldi | O::Lds | O::In | O::Lpm => true,
        O::Brbs | O::Brbc | O::Sbrc | O::Sbrs | O::Nop => true,
        // The copies of these are noted where they are executed.
        O::Mov | O::Movw => false,
        O::Ld | O::St | O::Sts | O::Push | O::Pop | O::Out | O::Sbi | O::Cbi | O::Sbic | O::Sbis => false,
        O::Fmul | O::Fmuls | O::Fmulsu | O::Bset | O::Bclr | O::Elpm | O::Spm => false,
        O::Rjmp | O::Ijmp | O::Eijmp | O::Jmp | O::Rcall | O::Icall | O::Eicall | O::Call | O::Ret | O::Reti => false,
        O::Break | O::Sleep | O::Wdr => false,
    }
}

fn comparison(instruction: Instruction) -> Option<Comparison> {
    use Other::{Constant, Register};
    let (fresh, chained) = (Operation::Difference { chained: false }, Operation::Difference { chained: true });
    let (rd, other, operation) = match instruction {
        Instruction::Cp { rd, rr } | Instruction::Sub { rd, rr } => (rd, Register(rr), fresh),
        Instruction::Cpc { rd, rr } | Instruction::Sbc { rd, rr } => (rd, Register(rr), chained),
        Instruction::Cpi { rd, k } | Instruction::Subi { rd, k } => (rd, Constant(k), fresh),
        Instruction::Sbci { rd, k } => (rd, Constant(k), chained),
        Instruction::And { rd, rr } | Instruction::Or { rd, rr } if rd == rr => (rd, Constant(0), fresh),
        Instruction::Or { rd, rr } => (rd, Register(rr), Operation::Word(WordComparison::Or)),
        Instruction::Sbiw { rd, k } => (rd, Register(rd.next()), Operation::Word(WordComparison::Subtract(k))),
        Instruction::Adiw { rd, k } => (rd, Register(rd.next()), Operation::Word(WordComparison::Add(k))),
        _ => return None,
    };
    Some(Comparison { rd, other, operation })
}

/// A flag of `a - b`; `before` are C and Z of a chained comparison.
fn flag_of(flag: u8, [a, b]: [TvByte; 2], before: Option<(Truth, Truth)>) -> Truth {
    let (borrow, zero) = before.unwrap_or((Truth::False, Truth::True));
    let sum = a.subtract(&b, &borrow);
    match flag {
        flag::C => sum.carries.bit(7),
        flag::Z => sum.zero & zero,
        flag::N => sum.value.bit(7),
        flag::V => sum.overflow,
        _ => sum.negative,
    }
}

/// The cases of two operands for which a flag is open; with `sides`, what is not equal to a constant is below or above it. None
/// if nothing is learned.
fn cases(flag: u8, operands: [TvByte; 2], before: Option<(Truth, Truth)>, sides: bool) -> Option<Vec<Case>> {
    let open = match operands.map(TvByte::known) {
        [None, Some(_)] => 0,
        [Some(_), None] => 1,
        _ => return cases_of_both(flag, operands, before),
    };
    let with = |value: TvByte| {
        let mut operands = operands;
        operands[open] = value;
        operands
    };
    let outcome = |value: TvByte| flag_of(flag, with(value), before);
    let cases = match sides && flag == flag::Z {
        true => cases_beside(operands[open], &outcome),
        false => None,
    };
    let cases = cases.or_else(|| cases_of_one(operands[open], &outcome))?;
    Some(cases.into_iter().map(|(value, outcome)| Case { operands: with(value), outcome }).collect())
}

/// The cases of a byte: few bytes per outcome, or the byte as it is. None if nothing is learned.
fn cases_of_one(unknown: TvByte, outcome: &dyn Fn(TvByte) -> Truth) -> Option<Vec<(TvByte, bool)>> {
    let mut decided = Vec::new();
    decide(unknown, outcome, &mut decided)?;
    let mut cases = Vec::new();
    let mut learned = false;
    for wanted in [false, true] {
        let such: Vec<_> = decided.iter().copied().filter(|(_, outcome)| *outcome == wanted).collect();
        let all = such.iter().map(|(byte, _)| *byte).reduce(TvByte::hull)?;
        let is_exact = all.count() == such.iter().map(|(byte, _)| byte.count()).sum::<usize>();
        if is_exact || such.len() > MOST_PER_OUTCOME {
            learned |= all != unknown;
            cases.push((all, wanted));
        } else {
            learned = true;
            cases.extend(such);
        }
    }
    learned.then_some(cases)
}

/// The cases of a byte that is equal to something in one value: that value, what is below it, and what is above. None if several
/// values are, or if an outcome is not certain.
fn cases_beside(unknown: TvByte, outcome: &dyn Fn(TvByte) -> Truth) -> Option<Vec<(TvByte, bool)>> {
    let mut equal = unknown.concretisations().filter(|value| outcome(TvByte::constant(*value)) == Truth::True);
    let (value, None) = (equal.next()?, equal.next()) else { return None };
    let below = value.checked_sub(1).and_then(|most| unknown.within(0, most));
    let above = value.checked_add(1).and_then(|least| unknown.within(least, 0xff));
    let beside: Vec<(TvByte, bool)> = [below, above].into_iter().flatten().map(|byte| (byte, false)).collect();
    let is_certain = beside.iter().all(|(byte, _)| outcome(*byte) == Truth::False);
    is_certain.then(|| beside.into_iter().chain([(TvByte::constant(value), true)]).collect())
}

/// Cuts a byte from its highest unknown bit on until each part has one outcome; none if a value has none.
fn decide(byte: TvByte, outcome: &dyn Fn(TvByte) -> Truth, decided: &mut Vec<(TvByte, bool)>) -> Option<()> {
    if let Some(outcome) = outcome(byte).known() {
        decided.push((byte, outcome));
        return Some(());
    }
    let highest = byte.unknown_mask().checked_ilog2()? as u8;
    for value in [false, true] {
        if let Some(part) = byte.meet(TvByte::new(u8::from(value) << highest, 1 << highest)) {
            decide(part, outcome, decided)?;
        }
    }
    Some(())
}

/// The cases of two operands neither of which is known: what each says of the other one. None if nothing is learned.
fn cases_of_both(flag: u8, [a, b]: [TvByte; 2], before: Option<(Truth, Truth)>) -> Option<Vec<Case>> {
    let borrow = u8::from(before.map_or(Some(false), |(borrow, _)| borrow.known())?);
    let mut cases = Vec::new();
    for outcome in [false, true] {
        let operands = match (flag, outcome) {
            // a >= b + borrow
            (flag::C, false) => b
                .low()
                .checked_add(borrow)
                .zip(a.high().checked_sub(borrow))
                .and_then(|(low, high)| a.within(low, 0xff).zip(b.within(0, high))),
            // a <= b - 1 + borrow
            (flag::C, true) => {
                let [most, least] =
                    [i16::from(b.high()) - 1 + i16::from(borrow), i16::from(a.low()) + 1 - i16::from(borrow)];
                let [most, least] = [most.min(0xff), least.max(0)].map(u8::try_from);
                most.ok().zip(least.ok()).and_then(|(most, least)| a.within(0, most).zip(b.within(least, 0xff)))
            }
            (flag::Z, true) if borrow == 0 => a.meet(b).map(|both| (both, both)),
            (flag::Z, false) if borrow == 0 => Some((a, b)),
            _ => return None,
        };
        cases.extend(operands.map(|(a, b)| Case { operands: [a, b], outcome }));
    }
    let learned = cases.len() < 2 || cases.iter().any(|case| case.operands != [a, b]);
    (learned && !cases.is_empty()).then_some(cases)
}

#[cfg(test)]
mod tests {
    use super::{Case, cases, cases_of_both, flag_of};
    use crate::device::Device;
    use crate::environment::{Demand, DeterminedBy, Environment, Input, Question};
    use crate::execute::flags::flag;
    use crate::machine::{Machine, Options};
    use crate::program::Program;
    use crate::state::MachineState;
    use avr_isa::{DataAddress, FlashWordAddress, Instruction as I, Pointer, PointerMode, Register};
    use three_valued::{Truth, TvByte};

    /// Narrows everything, and takes the case of this number.
    struct Curious(usize);

    impl Environment<TvByte> for Curious {
        fn input(&mut self, _: Input, mask: u8, _: Demand, _: DeterminedBy) -> TvByte {
            TvByte::new(0, !mask)
        }

        fn learns(&self, _: Register, _: FlashWordAddress) -> bool {
            true
        }

        fn learns_equalities(&self) -> bool {
            true
        }

        fn learns_inequalities(&self) -> bool {
            true
        }

        fn learns_cell(&self, _: DataAddress) -> bool {
            true
        }

        fn choose(&mut self, _: usize) -> usize {
            0
        }

        fn case(&mut self, count: usize, _: Question<'_, TvByte>) -> usize {
            self.0.min(count - 1)
        }
    }

    fn r(number: u8) -> Register {
        Register::new(number).expect("there are 32 registers")
    }

    /// The state after these instructions with unknown registers, Y at 0x200, and the case of this number.
    fn after(code: &[I], case: usize) -> MachineState<TvByte> {
        let words: Vec<u16> = code
            .iter()
            .flat_map(|one| {
                let encoded = one.encode().expect("it has a code");
                std::iter::once(encoded.first).chain(encoded.second)
            })
            .collect();
        let device = Device::named("atmega328p").expect("a device of the tables");
        let word = |address: u32| Some(words.get(address as usize).copied().unwrap_or(0));
        let program = Program::decode(device.memory.flash_words(), device.core.features, word);
        let machine = Machine::new(device, program, Options::default());
        let mut state = MachineState::new(machine.cells(), TvByte::ZERO);
        (0..26).chain(0x100..0x300).for_each(|cell| state.data.set(DataAddress(cell), TvByte::UNKNOWN));
        state.data.set(DataAddress(29), TvByte::constant(2));
        for _ in code {
            machine.step(&mut state, &mut Curious(case)).expect("it goes on");
        }
        state
    }

    fn range(low: u8, high: u8) -> TvByte {
        TvByte::UNKNOWN.within(low, high).expect("the range is not empty")
    }

    const LENGTH: DataAddress = DataAddress(0x120);
    const BRANCH: I = I::Brbs { flag: 0, offset: 2 };

    #[test]
    fn a_bound_narrows_a_register_and_what_it_was_loaded_from() {
        let code = [
            I::Lds { rd: r(24), address: LENGTH },
            I::Mov { rd: r(17), rr: r(24) },
            I::Cpi { rd: r(24), k: 17 },
            BRANCH,
        ];
        for (case, expected, taken) in [(0, range(17, 255), false), (1, range(0, 16), true)] {
            let state = after(&code, case);
            for cell in [DataAddress(24), DataAddress(17), LENGTH] {
                assert_eq!(*state.data.get(cell), expected, "cell {cell:#x} in case {case}");
            }
            assert_eq!(state.control.pc, FlashWordAddress(if taken { 7 } else { 5 }));
        }
    }

    #[test]
    fn an_index_says_what_its_bound_is_not() {
        let code = [I::Ldi { rd: r(18), k: 12 }, I::Cp { rd: r(18), rr: r(24) }, BRANCH];
        assert_eq!(*after(&code, 0).data.get(DataAddress(24)), range(0, 12));
        assert_eq!(*after(&code, 1).data.get(DataAddress(24)), range(13, 255));
    }

    #[test]
    fn what_is_not_a_range_is_a_few_bytes() {
        // Less than 16 as a signed number: 0 to 15, and 128 to 255.
        let code = [I::Cpi { rd: r(24), k: 16 }, I::Brbs { flag: 4, offset: 2 }];
        let cases = [range(16, 127), range(0, 15), range(128, 255)];
        for (case, expected) in cases.into_iter().enumerate() {
            assert_eq!(*after(&code, case).data.get(DataAddress(24)), expected);
        }
    }

    #[test]
    fn two_bounded_operands_bound_each_other() {
        let bounded = [I::Cpi { rd: r(24), k: 25 }, BRANCH];
        let code = [&bounded[..], &[I::Nop, I::Nop, I::Cp { rd: r(25), rr: r(24) }, BRANCH]].concat();
        // The second case: r24 is at most 24, and the branch is taken.
        let state = after(&code, 1);
        assert_eq!([24, 25].map(|cell| *state.data.get(DataAddress(cell))), [range(1, 24), range(0, 23)]);
        let equal = [&bounded[..], &[I::Nop, I::Nop, I::Cp { rd: r(25), rr: r(24) }, I::Brbs { flag: 1, offset: 2 }]];
        let state = after(&equal.concat(), 1);
        assert_eq!([24, 25].map(|cell| *state.data.get(DataAddress(cell))), [range(0, 24), range(0, 24)]);
    }

    #[test]
    fn cases_of_two_operands_cover_all_their_values() {
        let ends = [(0, 0), (0, 3), (2, 5), (4, 4), (250, 255), (0, 255)];
        let bytes = ends.map(|(low, high)| range(low, high));
        for (a, b) in bytes.iter().flat_map(|a| bytes.iter().map(move |b| (*a, *b))) {
            for (flag, borrow) in [(flag::C, false), (flag::C, true), (flag::Z, false)] {
                let before = Some((Truth::from(borrow), Truth::True));
                let Some(cases) = cases_of_both(flag, [a, b], before) else { continue };
                for (x, y) in a.concretisations().flat_map(|x| b.concretisations().map(move |y| (x, y))) {
                    let outcome = flag_of(flag, [x, y].map(TvByte::constant), before).known();
                    let of = |case: &&Case| case.operands[0].contains(x) && case.operands[1].contains(y);
                    let such = cases.iter().filter(of).find(|case| Some(case.outcome) == outcome);
                    assert!(such.is_some(), "{x} - {y} of {a} - {b} with borrow {borrow} and flag {flag}");
                }
            }
        }
    }

    #[test]
    fn cases_beside_a_value_cover_all_values() {
        for unknown in [range(0, 255), range(3, 3), range(0, 4), range(4, 9), range(250, 255), TvByte::new(0x10, 0x33)]
        {
            for k in [0, 3, 4, 9, 17, 254, 255] {
                for before in [None, Some((Truth::False, Truth::True)), Some((Truth::True, Truth::True))] {
                    let operands = [unknown, TvByte::constant(k)];
                    if unknown.known().is_some() || flag_of(flag::Z, operands, before) != Truth::Unknown {
                        continue;
                    }
                    let cases = cases(flag::Z, operands, before, true).expect("an outcome is open");
                    for value in unknown.concretisations() {
                        let outcome = flag_of(flag::Z, [TvByte::constant(value), operands[1]], before).known();
                        let of = |case: &&Case| case.operands[0].contains(value) && Some(case.outcome) == outcome;
                        assert!(
                            cases.iter().any(|case| of(&case)),
                            "{value} of {unknown} compared with {k}: {cases:?}"
                        );
                    }
                    assert!(cases.len() <= 3, "{cases:?}");
                }
            }
        }
    }

    #[test]
    fn a_store_ends_what_its_cell_was_copied_to() {
        let load = I::Ld { rd: r(24), pointer: Pointer::Y, mode: PointerMode::Displacement(5) };
        let compare = [I::Cpi { rd: r(24), k: 16 }, BRANCH];
        let store = |q: u8| I::St { pointer: Pointer::Y, mode: PointerMode::Displacement(q), rr: r(20) };
        // The last case is the only one below the bound.
        let narrowed = |code: &[I]| *after(code, usize::MAX).data.get(DataAddress(0x205)) == range(0, 15);
        let with = |between: &[I]| [&[load], between, &compare[..]].concat();
        assert!(narrowed(&with(&[])));
        assert!(narrowed(&with(&[store(4)])));
        for other in [
            store(5),
            I::Sts { address: DataAddress(0x205), rr: r(20) },
            I::Inc { rd: r(24) },
            I::Lds { rd: r(24), address: DataAddress(0x206) },
        ] {
            assert!(!narrowed(&with(&[other])), "{other:?}");
        }
    }

    #[test]
    fn the_rest_of_a_comparison_takes_the_borrow_into_account() {
        let code = [I::Bset { flag: 0 }, I::Cpc { rd: r(24), rr: r(28) }, BRANCH];
        assert_eq!(
            *after(&code, 1).data.get(DataAddress(24)),
            TvByte::ZERO,
            "0 - 0 - 1 borrows, and nothing else does"
        );
    }
}
