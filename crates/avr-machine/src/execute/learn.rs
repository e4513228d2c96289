//! What comparisons tell about their operands.
//!
//! A comparison whose outcome is open, and whose outcome the next instruction branches on, is decided at once, and in each
//! case the operand that is not known is narrowed to the values that come to this outcome: below `cpi r24, 17; brcc`, the
//! three-valued bits of r24 are `0000XXXX` or `00010000`, and not 17 or more.
//!
//! SOUND: the cases cover every value of the operand, and a case that decides a flag holds only values that the comparison
//! gives this flag for.

use super::Step;
use super::flags::flag;
use crate::copies::Copies;
use crate::environment::{Environment, Question};
use crate::program::Fetched;
use avr_isa::{Instruction, Pointer, PointerMode, Register};
use three_valued::{BitDomain, ByteDomain, Truth, TvByte};

/// The most bytes into which one outcome of a comparison narrows an operand; where it takes more, the operand stays as it is.
const MOST_PER_OUTCOME: usize = 4;

/// How many registers there are: the first data addresses are theirs.
const REGISTERS: u16 = 32;

/// The most instructions behind a comparison that belong to it.
const MAX_CHAIN: u32 = 8;

/// The second operand of a comparison.
#[derive(Clone, Copy)]
enum Other {
    Register(Register),
    Constant(u8),
}

/// A comparison: the flags of `rd - other`, with what was borrowed and Z from before if it is `chained`.
struct Comparison {
    rd: Register,
    other: Other,
    chained: bool,
}

/// A case: what the unknown operand is, and what the flag.
type Case = (TvByte, bool);

impl<V: ByteDomain, E: Environment<V>> Step<'_, V, E> {
    /// Decides the outcome of a comparison in advance if the next instruction branches on it and it is open; the flag and
    /// its value, which the comparison is to be given.
    pub(super) fn learn(&mut self, instruction: Instruction, copies: Copies) -> Option<(u8, bool)> {
        let comparison = comparison(instruction)?;
        let flag = self.flag_asked_for().filter(|flag| *flag != flag::Z || self.environment.learns_equalities())?;
        let a = self.register(comparison.rd).bits();
        let b = match comparison.other {
            Other::Register(rr) if rr == comparison.rd => return None,
            Other::Register(rr) => self.register(rr).bits(),
            Other::Constant(k) => TvByte::constant(k),
        };
        let before = comparison.chained.then(|| (self.flag(flag::C).truth(), self.flag(flag::Z).truth()));
        let (register, unknown) = match (a.known(), b.known(), comparison.other) {
            (None, Some(_), _) => (comparison.rd, a),
            (Some(_), None, Other::Register(rr)) => (rr, b),
            _ => return None,
        };
        let same = copies.same_as(register.index().into());
        let compared = match comparison.other {
            Other::Register(rr) if rr != register => copies.same_as(rr.index().into()),
            Other::Register(_) => copies.same_as(comparison.rd.index().into()),
            Other::Constant(_) => Vec::new(),
        };
        // The cell of an index that a register was loaded from says that what it is compared with is a bound.
        let is_bound = compared.iter().any(|cell| *cell >= REGISTERS && self.environment.learns_cell(*cell));
        if !is_bound && !same.iter().any(|cell| self.is_of_use(*cell)) {
            return None;
        }
        let outcome = |value: TvByte| {
            let (a, b) = if register == comparison.rd { (value, b) } else { (a, value) };
            flag_of(flag, a, b, before)
        };
        if outcome(unknown) != Truth::Unknown {
            return None;
        }
        let cases = cases(unknown, &outcome)?;
        let value = self.register(register).clone();
        let index = self.environment.case(cases.len(), Question::Bytes(&[&value]));
        let (fact, outcome) = cases[index];
        for cell in same {
            // What was narrowed before in one place only may not agree here: then the other place tells.
            if let Some(narrowed) = self.state.data.get(cell).assume(fact) {
                self.state.data.set(cell, narrowed);
            }
        }
        Some((flag, outcome))
    }

    /// Whether it is of use to know more about a cell behind the present instruction.
    fn is_of_use(&self, cell: u16) -> bool {
        match u8::try_from(cell).ok().and_then(Register::new) {
            Some(register) => self.environment.learns(register, self.state.control.pc),
            None => self.environment.learns_cell(cell),
        }
    }

    /// What is known to be copied behind an instruction that goes on with the next one, if `copies` was before it.
    pub(super) fn copies_after(&self, instruction: Instruction, mut copies: Copies) -> Copies {
        use Instruction as I;
        let cell = |register: Register| u16::from(register.index());
        let mut copy = |to: u16, from: u16| match self.is_of_use(to) || self.is_of_use(from) {
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
            _ if copies.is_empty() => {}
            _ if writes_only_registers(instruction) => {
                instruction.registers_written().iter().for_each(|register| copies.overwrite(cell(register)));
            }
            _ => copies = Copies::default(),
        }
        copies
    }

    /// The address that is so far behind a pointer, if it is known.
    fn pointed(&self, pointer: Pointer, displacement: u8) -> Option<u16> {
        let known = self.candidates(pointer.low().index().into(), pointer.high().index().into()).single();
        known.map(|address| address.wrapping_add(displacement.into()))
    }

    /// The flag of a comparison that the next branch wants to know, or that the rest of the comparison before the branch does.
    fn flag_asked_for(&self) -> Option<u8> {
        let first = self.state.control.pc;
        for address in first..first + MAX_CHAIN {
            let Fetched::Instruction { instruction, .. } = self.machine.program.fetch(address) else { return None };
            match instruction {
                Instruction::Brbs { flag, .. } | Instruction::Brbc { flag, .. } if flag <= flag::S => {
                    return Some(if address == first { flag } else { flag::C });
                }
                Instruction::Cpc { .. } | Instruction::Sbc { .. } | Instruction::Sbci { .. } => {}
                _ => return None,
            }
        }
        None
    }
}

/// Whether an instruction changes no cell but the registers that it is said to write, and SREG.
fn writes_only_registers(instruction: Instruction) -> bool {
    use Instruction as I;
    let adds = matches!(instruction, I::Add { .. } | I::Adc { .. } | I::Adiw { .. } | I::Inc { .. });
    let subtracts = matches!(
        instruction,
        I::Sub { .. }
            | I::Subi { .. }
            | I::Sbc { .. }
            | I::Sbci { .. }
            | I::Sbiw { .. }
            | I::Dec { .. }
            | I::Neg { .. }
    );
    let compares = matches!(instruction, I::Cp { .. } | I::Cpc { .. } | I::Cpi { .. } | I::Cpse { .. });
    let combines = matches!(
        instruction,
        I::And { .. } | I::Andi { .. } | I::Or { .. } | I::Ori { .. } | I::Eor { .. } | I::Com { .. }
    );
    let multiplies = matches!(instruction, I::Mul { .. } | I::Muls { .. } | I::Mulsu { .. });
    let shifts = matches!(
        instruction,
        I::Lsr { .. } | I::Ror { .. } | I::Asr { .. } | I::Swap { .. } | I::Bst { .. } | I::Bld { .. }
    );
    let loads = matches!(instruction, I::Ldi { .. } | I::Lds { .. } | I::In { .. } | I::Lpm { .. });
    let goes_on = matches!(instruction, I::Brbs { .. } | I::Brbc { .. } | I::Sbrc { .. } | I::Sbrs { .. } | I::Nop);
    adds || subtracts || compares || combines || multiplies || shifts || loads || goes_on
}

fn comparison(instruction: Instruction) -> Option<Comparison> {
    use Other::{Constant, Register};
    let (rd, other, chained) = match instruction {
        Instruction::Cp { rd, rr } | Instruction::Sub { rd, rr } => (rd, Register(rr), false),
        Instruction::Cpc { rd, rr } | Instruction::Sbc { rd, rr } => (rd, Register(rr), true),
        Instruction::Cpi { rd, k } | Instruction::Subi { rd, k } => (rd, Constant(k), false),
        Instruction::Sbci { rd, k } => (rd, Constant(k), true),
        Instruction::And { rd, rr } | Instruction::Or { rd, rr } if rd == rr => (rd, Constant(0), false),
        _ => return None,
    };
    Some(Comparison { rd, other, chained })
}

/// A flag of `a - b`; `before` are C and Z of a chained comparison.
fn flag_of(flag: u8, a: TvByte, b: TvByte, before: Option<(Truth, Truth)>) -> Truth {
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

/// The cases of a byte: few bytes per outcome, or the byte as it is. None if nothing is learned.
fn cases(unknown: TvByte, outcome: &dyn Fn(TvByte) -> Truth) -> Option<Vec<Case>> {
    let mut decided = Vec::new();
    decide(unknown, outcome, &mut decided)?;
    let mut cases = Vec::new();
    let mut learned = false;
    for wanted in [false, true] {
        let such: Vec<Case> = decided.iter().copied().filter(|(_, outcome)| *outcome == wanted).collect();
        let joined = such.iter().map(|(byte, _)| *byte).reduce(|all, one| all.join(&one))?;
        if such.len() <= MOST_PER_OUTCOME {
            learned = true;
            cases.extend(such);
        } else {
            learned |= joined != unknown;
            cases.push((joined, wanted));
        }
    }
    learned.then_some(cases)
}

/// Cuts a byte from its highest unknown bit on until each part has one outcome; none if a value has none.
fn decide(byte: TvByte, outcome: &dyn Fn(TvByte) -> Truth, decided: &mut Vec<Case>) -> Option<()> {
    if let Some(outcome) = outcome(byte).known() {
        decided.push((byte, outcome));
        return Some(());
    }
    let highest = byte.unknown_mask().checked_ilog2()? as u8;
    for value in [false, true] {
        decide(byte.with_bit(highest, &Truth::from(value)), outcome, decided)?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::device::Device;
    use crate::environment::{Demand, Environment, Input, Question};
    use crate::machine::{Machine, Options};
    use crate::program::Program;
    use crate::state::MachineState;
    use avr_isa::{Instruction as I, Pointer, PointerMode, Register};
    use three_valued::TvByte;

    /// Narrows everything, and takes the case of this number.
    struct Curious(usize);

    impl Environment<TvByte> for Curious {
        fn input(&mut self, _: Input, mask: u8, _: Demand) -> TvByte {
            TvByte::new(0, !mask)
        }

        fn learns(&self, _: Register, _: u32) -> bool {
            true
        }

        fn learns_equalities(&self) -> bool {
            true
        }

        fn learns_cell(&self, _: u16) -> bool {
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

    /// What becomes of unknown registers, with Y at 0x200, after these instructions with the case of this number.
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
        (0..26).chain(0x100..0x300).for_each(|cell| state.data.set(cell, TvByte::UNKNOWN));
        state.data.set(29, TvByte::constant(2));
        for _ in code {
            machine.step(&mut state, &mut Curious(case)).expect("it goes on");
        }
        state
    }

    const LENGTH: u16 = 0x120;
    const BRANCH: I = I::Brbs { flag: 0, offset: 2 };

    #[test]
    fn a_bound_narrows_a_register_and_what_it_was_loaded_from() {
        let code = [
            I::Lds { rd: r(24), address: LENGTH },
            I::Mov { rd: r(17), rr: r(24) },
            I::Cpi { rd: r(24), k: 17 },
            BRANCH,
        ];
        for (case, expected, taken) in
            [(0, TvByte::UNKNOWN, false), (1, TvByte::new(0, 0xf0), true), (2, TvByte::constant(16), true)]
        {
            let state = after(&code, case);
            for cell in [24, 17, LENGTH] {
                assert_eq!(*state.data.get(cell), expected, "cell {cell:#x} in case {case}");
            }
            assert_eq!(state.control.pc, if taken { 7 } else { 5 }, "a hull is not below the bound all the same");
        }
    }

    #[test]
    fn an_index_says_what_its_bound_is_not() {
        let code = [I::Ldi { rd: r(18), k: 12 }, I::Cp { rd: r(18), rr: r(24) }, BRANCH];
        assert_eq!(*after(&code, 0).data.get(24), TvByte::new(0, 0xf8));
        assert_eq!(*after(&code, 2).data.get(24), TvByte::constant(12));
    }

    #[test]
    fn a_store_ends_what_its_cell_was_copied_to() {
        let load = I::Ld { rd: r(24), pointer: Pointer::Y, mode: PointerMode::Displacement(5) };
        let compare = [I::Cpi { rd: r(24), k: 16 }, BRANCH];
        let store = |q: u8| I::St { pointer: Pointer::Y, mode: PointerMode::Displacement(q), rr: r(20) };
        // The last case is the only one below the bound.
        let narrowed = |code: &[I]| *after(code, usize::MAX).data.get(0x205) == TvByte::new(0, 0xf0);
        let with = |between: &[I]| [&[load], between, &compare[..]].concat();
        assert!(narrowed(&with(&[])));
        assert!(narrowed(&with(&[store(4)])));
        for other in
            [store(5), I::Sts { address: 0x205, rr: r(20) }, I::Inc { rd: r(24) }, I::Lds { rd: r(24), address: 0x206 }]
        {
            assert!(!narrowed(&with(&[other])), "{other:?}");
        }
    }

    #[test]
    fn the_rest_of_a_comparison_takes_the_borrow_into_account() {
        let code = [I::Bset { flag: 0 }, I::Cpc { rd: r(24), rr: r(28) }, BRANCH];
        assert_eq!(*after(&code, 1).data.get(24), TvByte::ZERO, "0 - 0 - 1 borrows, and nothing else does");
    }
}
