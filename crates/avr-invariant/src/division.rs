//! The division routines of libgcc: what they leave in their registers is known while they are at it.
//!
//! `docs/soundness.md`, Lemma 9c, says why what they are said to leave is true.

use avr_isa::{DataAddress, FlashWordAddress, Instruction, Register};
use avr_machine::{Fetched, Program, flag};
use rustc_hash::FxHashMap;

use crate::equalities::Value;
#[cfg(any(test, feature = "faults"))]
use crate::faults::{Fault, is_on};

/// A routine that divides a number by another one of the same size.
#[derive(Debug)]
pub(crate) struct Division {
    /// All its instructions, up to its return.
    pub(crate) code: Vec<Instruction>,
    /// The size of the numbers in bytes.
    pub(crate) bytes: usize,
    /// The lowest register of the dividend before the first instruction.
    pub(crate) dividend: Register,
    /// The lowest register of the divisor there.
    pub(crate) divisor: Register,
    /// The lowest register of the quotient before the return.
    pub(crate) quotient: Register,
    /// The lowest register of the remainder there.
    pub(crate) remainder: Register,
}

const fn r(index: u8) -> Register {
    Register::from_low_bits(index)
}

/// The instructions of a division: one round for each bit, in which the remainder takes a bit of the dividend, and the dividend a complemented bit of the quotient.
fn code(
    first: &[Instruction],
    (dividend, divisor, remainder): (&[u8], &[u8], &[u8]),
    counter: u8,
    last: &[Instruction],
) -> Vec<Instruction> {
    use Instruction as I;
    let bytes = dividend.len() as i16;
    let doubled = |register: &u8| I::Adc { rd: r(*register), rr: r(*register) };
    let both = || remainder.iter().zip(divisor).map(|(rd, rr)| (r(*rd), r(*rr)));
    let mut code = first.to_vec();
    code.push(I::Rjmp { offset: 3 * bytes + 1 });
    code.extend(remainder.iter().map(doubled));
    code.extend(
        both().enumerate().map(|(index, (rd, rr))| if index == 0 { I::Cp { rd, rr } } else { I::Cpc { rd, rr } }),
    );
    code.push(I::Brbs { flag: flag::C, offset: bytes as i8 });
    code.extend(
        both().enumerate().map(|(index, (rd, rr))| if index == 0 { I::Sub { rd, rr } } else { I::Sbc { rd, rr } }),
    );
    code.extend(dividend.iter().map(doubled));
    code.push(I::Dec { rd: r(counter) });
    code.push(I::Brbc { flag: flag::Z, offset: -(4 * bytes + 3) as i8 });
    code.extend(dividend.iter().map(|register| I::Com { rd: r(*register) }));
    code.extend(last);
    code.push(I::Ret);
    code
}

/// `__udivmodqi4`, `__udivmodhi4` and `__udivmodsi4`.
pub(crate) fn divisions() -> [Division; 3] {
    use Instruction as I;
    let cleared = |register: u8| I::Sub { rd: r(register), rr: r(register) };
    let pair = |rd: u8, rr: u8| I::Movw { rd: r(rd), rr: r(rr) };
    let one = code(&[cleared(25), I::Ldi { rd: r(23), k: 9 }], (&[24], &[22], &[25]), 23, &[]);
    let two = code(
        &[cleared(26), cleared(27), I::Ldi { rd: r(21), k: 17 }],
        (&[24, 25], &[22, 23], &[26, 27]),
        21,
        &[pair(22, 24), pair(24, 26)],
    );
    let four = code(
        &[I::Ldi { rd: r(26), k: 33 }, I::Mov { rd: r(1), rr: r(26) }, cleared(26), cleared(27), pair(30, 26)],
        (&[22, 23, 24, 25], &[18, 19, 20, 21], &[26, 27, 30, 31]),
        1,
        &[pair(18, 22), pair(20, 24), pair(22, 26), pair(24, 30)],
    );
    [
        Division { code: one, bytes: 1, dividend: r(24), divisor: r(22), quotient: r(24), remainder: r(25) },
        Division { code: two, bytes: 2, dividend: r(24), divisor: r(22), quotient: r(22), remainder: r(24) },
        Division { code: four, bytes: 4, dividend: r(22), divisor: r(18), quotient: r(18), remainder: r(22) },
    ]
}

/// The most instructions at the beginning of a routine that it is told by if no more are read.
#[cfg(any(test, feature = "faults"))]
const UNREAD_FROM: usize = 6;

/// The most instructions from any one of a routine to its return: the counter is a byte.
const MOST_STEPS: usize = 256 * 32;

/// The position of an instruction in a routine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    /// The first one of this routine.
    First(usize),
    Inside,
    /// The return.
    Return,
}

/// The division routines of a program.
#[derive(Debug)]
pub struct Divisions {
    kinds: [Division; 3],
    at: FxHashMap<FlashWordAddress, Position>,
}

impl Divisions {
    /// Those of a program: routines that have all instructions of one in libgcc, whatever their names are.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        let kinds = divisions();
        let mut at = FxHashMap::default();
        let is_there = |first: FlashWordAddress, kind: &Division| {
            let mut all = (0..).zip(&kind.code);
            #[cfg(any(test, feature = "faults"))]
            if is_on(Fault::RoutineUnread) {
                return all.take(UNREAD_FROM).all(|(offset, one)| is_at(program, first.wrapping_add(offset), *one));
            }
            all.all(|(offset, one)| is_at(program, first.wrapping_add(offset), *one))
        };
        for first in (0..program.words()).map(FlashWordAddress) {
            let Some(number) = kinds.iter().position(|kind| is_there(first, kind)) else { continue };
            for (offset, instruction) in (0..).zip(&kinds[number].code) {
                let position = match (offset, instruction) {
                    (0, _) => Position::First(number),
                    (_, Instruction::Ret) => Position::Return,
                    _ => Position::Inside,
                };
                at.insert(first.wrapping_add(offset), position);
            }
        }
        Self { kinds, at }
    }

    /// The registers before the return of the routine that an instruction belongs to, if they and SREG are so now and nothing interrupts it. None for
    /// other instructions.
    #[must_use]
    pub fn results(&self, program: &Program, pc: FlashWordAddress, registers: &[u8], status: u8) -> Option<[u8; 32]> {
        let mut now =
            Registers { all: *registers.first_chunk()?, carry: status & 1 != 0, zero: status >> flag::Z & 1 != 0 };
        let mut pc = pc;
        for _ in 0..MOST_STEPS {
            let Fetched::Instruction { instruction, .. } = program.fetch(pc) else { return None };
            if *self.at.get(&pc)? == Position::Return {
                return Some(now.all);
            }
            pc = pc.wrapping_add_signed(1 + now.execute(instruction)?);
        }
        None
    }

    /// The routine that begins with an instruction.
    pub(crate) fn first(&self, pc: FlashWordAddress) -> Option<&Division> {
        match self.at.get(&pc)? {
            Position::First(number) => self.kinds.get(*number),
            Position::Inside | Position::Return => None,
        }
    }

    /// The result in a register behind a step: itself, the register behind the return of its routine, or nothing if it belongs to none.
    ///
    /// SOUND: the instructions of a routine are the code that yields the result, and the entry into a handler leaves registers and flags but for I alone.
    pub(crate) fn behind(
        &self,
        pc: FlashWordAddress,
        executed: Option<Instruction>,
        cell: DataAddress,
    ) -> Option<Value> {
        match (self.at.get(&pc)?, executed) {
            (Position::Return, Some(_)) => Some(Value::Of(cell)),
            _ => Some(Value::Result(cell)),
        }
    }
}

/// The registers of a processor, with the flags on which divisions depend.
struct Registers {
    all: [u8; 32],
    carry: bool,
    zero: bool,
}

impl Registers {
    /// Executes an instruction of a division, for comparisons, and tells by how many words it jumps. None for other instructions.
    fn execute(&mut self, instruction: Instruction) -> Option<i32> {
        use Instruction as I;
        let get = |register: Register| self.all[usize::from(register.index())];
        let carry = u8::from(self.carry);
        let sum = |rd, rr, carry| u16::from(get(rd)) + u16::from(get(rr)) + u16::from(carry);
        let difference = |rd, rr, carry| u16::from(get(rd)).wrapping_sub(u16::from(get(rr)) + u16::from(carry));
        let (rd, result) = match instruction {
            I::Rjmp { offset } => return Some(offset.into()),
            I::Brbs { flag: flag::C, offset } => return Some(if self.carry { offset.into() } else { 0 }),
            I::Brbc { flag: flag::Z, offset } => return Some(if self.zero { 0 } else { offset.into() }),
            I::Ldi { rd, k } => (rd, k),
            I::Mov { rd, rr } => (rd, get(rr)),
            I::Movw { rd, rr } => {
                let high = get(rr.next());
                self.all[usize::from(rd.next().index())] = high;
                (rd, self.all[usize::from(rr.index())])
            }
            I::Adc { rd, rr } => {
                let result = sum(rd, rr, carry);
                self.carry = result > 0xff;
                (rd, result as u8)
            }
            I::Cp { rd, rr } | I::Cpc { rd, rr } | I::Sub { rd, rr } | I::Sbc { rd, rr } => {
                let has_carry = matches!(instruction, I::Cpc { .. } | I::Sbc { .. });
                let result = difference(rd, rr, if has_carry { carry } else { 0 });
                let is_kept = matches!(instruction, I::Sub { .. } | I::Sbc { .. });
                let kept = if is_kept { result as u8 } else { get(rd) };
                self.carry = result > 0xff;
                (rd, kept)
            }
            I::Com { rd } => {
                let result = !get(rd);
                self.carry = true;
                (rd, result)
            }
            I::Dec { rd } => {
                let result = get(rd).wrapping_sub(1);
                self.zero = result == 0;
                (rd, result)
            }
            _ => return None,
        };
        self.all[usize::from(rd.index())] = result;
        Some(0)
    }
}

fn is_at(program: &Program, pc: FlashWordAddress, wanted: Instruction) -> bool {
    matches!(program.fetch(pc), Fetched::Instruction { instruction, .. } if instruction == wanted)
}
