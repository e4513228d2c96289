//! Random programs that end: straight lines, loops with counters, branches, skips, calls, frames and memory.

use crate::opcodes::features;
use crate::wire::FLASH_WORDS;
use avr_isa::{DataAddress, Instruction, LpmMode, Pointer, PointerMode, Register, RegisterSet, decode};
use avr_testkit::Random;

/// Byte address of the end of the flash.
const LAST_FLASH_BYTE: u16 = (2 * FLASH_WORDS - 1) as u16;

/// Loop counters, by depth: nothing but their loops writes them, and functions save them.
const COUNTERS: [Register; 2] = [Register::from_low_bits(20), Register::from_low_bits(21)];
/// Data addresses that programs use freely, below the stack.
const SCRATCH: std::ops::Range<u32> = 0x200..0x7c0;
/// Data addresses of GPIOR0, GPIOR1, GPIOR2 and SREG.
const STORAGE: [u16; 4] = [0x3e, 0x4a, 0x4b, 0x5f];
/// I/O addresses of SPL, SPH and SREG.
const SPL: u8 = 0x3d;
const SPH: u8 = 0x3e;
const SREG: u8 = 0x3f;

/// A program in flash, from word 0 on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// Its words.
    pub words: Vec<u16>,
    /// The word address at which it ends.
    pub stop: u16,
}

struct Generator<'a> {
    words: Vec<u16>,
    functions: Vec<u16>,
    random: &'a mut Random,
}

/// A program.
pub fn generate(random: &mut Random) -> Generated {
    let mut generator = Generator { words: vec![0], functions: Vec::new(), random };
    for _ in 0..generator.random.within(0..6) {
        generator.function();
    }
    generator.patch_jump(0);
    let statements = generator.random.within(4..60);
    generator.block(0, statements);
    let stop = generator.here();
    generator.emit(Instruction::Rjmp { offset: -1 });
    Generated { words: generator.words, stop }
}

impl Generator<'_> {
    fn here(&self) -> u16 {
        debug_assert!(self.words.len() < FLASH_WORDS);
        self.words.len() as u16
    }

    fn emit(&mut self, instruction: Instruction) {
        let code = instruction.encode().expect("the generator keeps operands in their ranges");
        self.words.push(code.first);
        self.words.extend(code.second);
    }

    /// Leaves room for a jump forward, to be patched.
    fn room(&mut self) -> u16 {
        self.words.push(0);
        self.here() - 1
    }

    /// Makes the room at `place` a jump to here.
    fn patch_jump(&mut self, place: u16) {
        let jump = Instruction::Rjmp { offset: (self.here() - place - 1).cast_signed() };
        self.words[usize::from(place)] = jump.encode().expect("programs are short").first;
    }

    fn constant(&mut self, rd: u8, k: u8) {
        self.emit(Instruction::Ldi { rd: Register::from_low_bits(rd), k });
    }

    /// Any register but a loop counter.
    fn any_register(&mut self) -> Register {
        loop {
            let register = Register::from_low_bits(self.random.byte());
            if !COUNTERS.contains(&register) {
                return register;
            }
        }
    }

    fn register_outside(&mut self, pointer: Pointer) -> Register {
        loop {
            let register = self.any_register();
            if register != pointer.low() && register != pointer.high() {
                return register;
            }
        }
    }

    /// Saves the counters, does something and returns.
    fn function(&mut self) {
        let place = self.here();
        COUNTERS.into_iter().for_each(|rr| self.emit(Instruction::Push { rr }));
        let statements = self.random.within(1..12);
        self.block(0, statements);
        COUNTERS.into_iter().rev().for_each(|rd| self.emit(Instruction::Pop { rd }));
        let with_interrupts = self.random.once_in(4);
        self.emit(if with_interrupts { Instruction::Reti } else { Instruction::Ret });
        self.functions.push(place);
    }

    fn block(&mut self, depth: usize, statements: u32) {
        (0..statements).for_each(|_| self.statement(depth));
    }

    fn inner_block(&mut self, depth: usize) {
        let statements = self.random.within(1..4);
        self.block(depth + 1, statements);
    }

    fn statement(&mut self, depth: usize) {
        match self.random.within(0..16) {
            0 => self.through_pointer(),
            1 => self.direct(),
            2 => self.read_flash(),
            3 => self.skip(depth),
            4 if depth < 3 => self.branch(depth),
            5 if depth < COUNTERS.len() => self.repeat(depth),
            6 if depth == 0 => self.call(),
            7 if depth < 3 => self.saved(depth),
            8 => self.input_output(),
            9 if depth < 2 => self.frame(depth),
            10 => self.jump_by_return(),
            11 => self.allocate_by_call(),
            _ => (0..3).for_each(|_| self.straight()),
        }
    }

    /// An instruction that only computes.
    fn straight(&mut self) {
        let instruction = self.computing();
        self.emit(instruction);
    }

    fn computing(&mut self) -> Instruction {
        loop {
            let word = self.random.bits() as u16;
            let Ok(instruction) = decode(word, None, features()) else { continue };
            if computes(instruction) && !writes_counter(instruction.registers_written()) {
                return instruction;
            }
        }
    }

    fn point_at(&mut self, pointer: Pointer, address: u16) {
        let [low, high] = address.to_le_bytes();
        self.constant(pointer.low().index(), low);
        self.constant(pointer.high().index(), high);
    }

    fn through_pointer(&mut self) {
        let pointer = self.random.pick(&[Pointer::X, Pointer::Y, Pointer::Z]);
        if self.random.once_in(4) {
            let address = self.random.within(0..20) as u16;
            self.point_at(pointer, address);
            return self.access(pointer, PointerMode::Displacement(0));
        }
        let address = self.random.within(SCRATCH) as u16;
        self.point_at(pointer, address);
        for _ in 0..self.random.within(1..6) {
            let displacement = if pointer == Pointer::X { 0 } else { self.random.byte() & 63 };
            let modes =
                [PointerMode::PostIncrement, PointerMode::PreDecrement, PointerMode::Displacement(displacement)];
            let mode = self.random.pick(&modes);
            self.access(pointer, mode);
        }
    }

    fn access(&mut self, pointer: Pointer, mode: PointerMode) {
        let register = self.register_outside(pointer);
        let load = self.random.once_in(2);
        self.emit(match load {
            true => Instruction::Ld { rd: register, pointer, mode },
            false => Instruction::St { pointer, mode, rr: register },
        });
    }

    fn direct(&mut self) {
        let address = match self.random.within(0..4) {
            0 => self.random.within(0..20) as u16,
            1 => self.random.pick(&STORAGE),
            _ => self.random.within(SCRATCH) as u16,
        };
        let register = self.any_register();
        let load = self.random.once_in(2);
        self.emit(match load {
            true => Instruction::Lds { rd: register, address: DataAddress(address) },
            false => Instruction::Sts { address: DataAddress(address), rr: register },
        });
    }

    fn read_flash(&mut self) {
        // If Z runs past the end, libsimavr reads what is behind its flash.
        let address = (self.random.bits() as u16 & 0x7fff).min(LAST_FLASH_BYTE - 2);
        self.point_at(Pointer::Z, address);
        for _ in 0..self.random.within(1..4) {
            let rd = self.register_outside(Pointer::Z);
            let mode = self.random.pick(&[LpmMode::Plain, LpmMode::PostIncrement]);
            self.emit(Instruction::Lpm { rd, mode });
        }
    }

    /// Passes over one instruction, of one word or two, or not.
    fn skip(&mut self, depth: usize) {
        let (rd, rr, bit) = (self.any_register(), self.any_register(), self.random.byte() & 7);
        let io = (STORAGE[0] - 0x20) as u8;
        let skips = [
            Instruction::Cpse { rd, rr },
            Instruction::Sbrc { rr, bit },
            Instruction::Sbrs { rr, bit },
            Instruction::Sbic { io, bit },
            Instruction::Sbis { io, bit },
        ];
        let skip = self.random.pick(&skips);
        self.emit(skip);
        match (self.random.within(0..4), self.functions.is_empty()) {
            (0, _) => self.direct(),
            (1, false) if depth == 0 => {
                let target = u32::from(self.random.pick(&self.functions));
                self.emit(Instruction::Call { target });
            }
            _ => self.straight_after_skip(),
        }
    }

    /// Not what libsimavr takes for two words (see the exception `skip-over-word-arithmetic`).
    fn straight_after_skip(&mut self) {
        loop {
            let instruction = self.computing();
            if !matches!(instruction, Instruction::Adiw { .. } | Instruction::Sbiw { .. }) {
                return self.emit(instruction);
            }
        }
    }

    fn branch(&mut self, depth: usize) {
        let flag = self.random.byte() & 7;
        let set = self.random.once_in(2);
        self.emit(if set { Instruction::Brbs { flag, offset: 1 } } else { Instruction::Brbc { flag, offset: 1 } });
        let jump = self.room();
        self.inner_block(depth);
        self.patch_jump(jump);
    }

    fn repeat(&mut self, depth: usize) {
        let rd = COUNTERS[depth];
        let times = self.random.within(1..6) as u8;
        self.emit(Instruction::Ldi { rd, k: times });
        let start = self.here();
        self.inner_block(depth);
        self.emit(Instruction::Dec { rd });
        self.emit(Instruction::Brbs { flag: 1, offset: 1 });
        let back = start.cast_signed() - self.here().cast_signed() - 1;
        self.emit(Instruction::Rjmp { offset: back });
    }

    fn call(&mut self) {
        if self.functions.is_empty() {
            return self.straight();
        }
        let target = self.random.pick(&self.functions);
        match self.random.within(0..3) {
            0 => self.emit(Instruction::Call { target: target.into() }),
            1 => {
                let offset = target.cast_signed() - self.here().cast_signed() - 1;
                self.emit(Instruction::Rcall { offset });
            }
            _ => {
                self.point_at(Pointer::Z, target);
                self.emit(Instruction::Icall);
            }
        }
    }

    fn saved(&mut self, depth: usize) {
        let (rr, rd) = (self.any_register(), self.any_register());
        self.emit(Instruction::Push { rr });
        self.inner_block(depth);
        self.emit(Instruction::Pop { rd });
    }

    fn input_output(&mut self) {
        let io = (self.random.pick(&STORAGE) - 0x20) as u8;
        let (register, bit) = (self.any_register(), self.random.byte() & 7);
        let low = io.min((STORAGE[0] - 0x20) as u8);
        let choices = [
            Instruction::In { rd: register, io },
            Instruction::Out { io, rr: register },
            Instruction::Sbi { io: low, bit },
            Instruction::Cbi { io: low, bit },
            Instruction::In { rd: register, io: SPL },
        ];
        let choice = self.random.pick(&choices);
        self.emit(choice);
    }

    /// A frame on the stack as avr-gcc makes it.
    fn frame(&mut self, depth: usize) {
        let (low, high, bytes) = (Pointer::Y.low(), Pointer::Y.high(), 1 + (self.random.byte() & 15));
        self.read_stack_pointer();
        self.emit(Instruction::Sbiw { rd: low, k: bytes });
        self.write_stack_pointer();
        let displacement = 1 + self.random.byte() % bytes;
        self.access(Pointer::Y, PointerMode::Displacement(displacement));
        self.inner_block(depth.max(1));
        self.read_stack_pointer();
        self.emit(Instruction::Adiw { rd: low, k: bytes });
        self.write_stack_pointer();
        debug_assert_eq!(low.next(), high);
    }

    fn read_stack_pointer(&mut self) {
        self.emit(Instruction::In { rd: Pointer::Y.low(), io: SPL });
        self.emit(Instruction::In { rd: Pointer::Y.high(), io: SPH });
    }

    fn write_stack_pointer(&mut self) {
        self.emit(Instruction::In { rd: Register::R0, io: SREG });
        self.emit(Instruction::Bclr { flag: 7 });
        self.emit(Instruction::Out { io: SPH, rr: Pointer::Y.high() });
        self.emit(Instruction::Out { io: SREG, rr: Register::R0 });
        self.emit(Instruction::Out { io: SPL, rr: Pointer::Y.low() });
    }

    /// Pushes the address behind the RET.
    fn jump_by_return(&mut self) {
        let target = self.here() + 5;
        for byte in target.to_le_bytes() {
            self.constant(16, byte);
            self.emit(Instruction::Push { rr: Register::from_low_bits(16) });
        }
        self.emit(Instruction::Ret);
    }

    /// `rcall .+0`, as avr-gcc makes room for two bytes.
    fn allocate_by_call(&mut self) {
        self.emit(Instruction::Rcall { offset: 0 });
        self.straight();
        for _ in 0..2 {
            let rd = self.any_register();
            self.emit(Instruction::Pop { rd });
        }
    }
}

fn computes(instruction: Instruction) -> bool {
    use Instruction as I;
    let moves = matches!(instruction, I::Mov { .. } | I::Movw { .. } | I::Ldi { .. } | I::Swap { .. } | I::Bld { .. });
    moves || !instruction.flags_written().is_empty() && instruction != I::Reti
}

fn writes_counter(written: RegisterSet) -> bool {
    COUNTERS.iter().any(|counter| written.contains(*counter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn programs_use_every_kind_of_statement() {
        let mut random = Random::new(7);
        let mut seen = BTreeSet::new();
        for _ in 0..300 {
            let generated = generate(&mut random);
            let pairs = generated.words.iter().zip(generated.words.iter().skip(1));
            seen.extend(pairs.filter_map(|(first, second)| {
                let instruction = decode(*first, Some(*second), features()).ok()?;
                Some(format!("{:?}", instruction.opcode()))
            }));
        }
        for wanted in ["Ld", "St", "Lds", "Sts", "Lpm", "Icall", "Rcall", "Call", "Ret", "Reti", "Push", "Pop", "Cpse"]
        {
            assert!(seen.contains(wanted), "no {wanted} in any program");
        }
    }

    #[test]
    fn a_seed_always_gives_the_same_program() {
        assert_eq!(generate(&mut Random::new(3)), generate(&mut Random::new(3)));
        assert_ne!(generate(&mut Random::new(3)), generate(&mut Random::new(4)));
    }
}
