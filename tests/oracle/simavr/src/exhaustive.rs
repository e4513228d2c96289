//! All operands of every instruction that computes, with every SREG.

use crate::executor::Executor;
use crate::stepper::Stepper;
use crate::tally::Tally;
use crate::wire::{Block, DATA_CELLS, Effect, FLASH_WORDS, Flash, OPERANDS, Second};
use avr_isa::{FeatureSet, Instruction, Register, decode};
use std::io;

/// The registers of the operands: the only ones that every two-operand instruction takes.
const RD: Register = Register::from_low_bits(16);
const RR: Register = Register::from_low_bits(17);

/// Blocks of one instruction: at a place in flash, for several values of SREG.
#[derive(Clone, Debug)]
pub struct Subject {
    kind: &'static str,
    block: Block,
    statuses: Vec<u8>,
}

/// The instructions in flash, each followed by a NOP.
#[derive(Debug)]
pub struct Layout {
    /// The flash.
    pub flash: Box<Flash>,
    /// The instructions that are tested in it.
    pub subjects: Vec<Subject>,
    next: u16,
}

impl Layout {
    fn place(&mut self, instruction: Instruction) -> u16 {
        let word = instruction.encode().expect("the instructions of this list have machine codes").first;
        let place = self.next;
        self.flash[usize::from(place)] = word;
        self.next += 1;
        place
    }

    fn add(&mut self, kind: &'static str, pc: u16, first: u8, second: Second, statuses: Vec<u8>) {
        self.next += 1;
        self.subjects.push(Subject { kind, block: Block { pc, first, second, status: 0 }, statuses });
    }

    /// Two registers, all values of both, every SREG.
    fn two_registers(&mut self, instruction: Instruction) {
        let pc = self.place(instruction);
        self.add("two registers, every SREG", pc, RD.index(), Second::Register(RR.index()), (0..=255).collect());
    }

    /// A register and a constant, all values of both, every SREG.
    fn immediate(&mut self, with: impl Fn(u8) -> Instruction) {
        let pc = self.next;
        (0..=255).for_each(|k| {
            self.place(with(k));
        });
        self.add("register and constant, every SREG", pc, RD.index(), Second::Place, (0..=255).collect());
    }

    /// A pair and a constant, all values of both. SREG does not enter: two values show which flags stay.
    fn pair(&mut self, with: impl Fn(u8) -> Instruction) {
        for k in 0..64 {
            let pc = self.place(with(k));
            self.add("pair and constant, SREG 0x00 and 0xff", pc, 24, Second::Register(25), vec![0, 0xff]);
        }
    }

    /// One register, all values, every SREG.
    fn one_register(&mut self, instruction: Instruction) {
        let pc = self.place(instruction);
        self.add("one register or none, every SREG", pc, RD.index(), Second::Status, vec![0]);
    }
}

/// Every instruction that computes.
pub fn layout() -> Layout {
    use Instruction as I;
    let mut layout = Layout { flash: Box::new([0; FLASH_WORDS]), subjects: Vec::new(), next: 0 };
    let (rd, rr) = (RD, RR);
    for instruction in two_registers(rd, rr) {
        layout.two_registers(instruction);
    }
    layout.immediate(|k| I::Subi { rd, k });
    layout.immediate(|k| I::Sbci { rd, k });
    layout.immediate(|k| I::Andi { rd, k });
    layout.immediate(|k| I::Ori { rd, k });
    layout.immediate(|k| I::Cpi { rd, k });
    layout.immediate(|k| I::Ldi { rd, k });
    layout.pair(|k| I::Adiw { rd: Register::from_low_bits(24), k });
    layout.pair(|k| I::Sbiw { rd: Register::from_low_bits(24), k });
    let one = [I::Com { rd }, I::Neg { rd }, I::Inc { rd }, I::Dec { rd }, I::Lsr { rd }, I::Ror { rd }, I::Asr { rd }];
    one.into_iter().chain([I::Swap { rd }]).for_each(|instruction| layout.one_register(instruction));
    two_registers(rd, rd).into_iter().for_each(|instruction| layout.one_register(instruction));
    for bit in 0..8 {
        let on_bits = [I::Bst { rd, bit }, I::Bld { rd, bit }, I::Sbrc { rr: rd, bit }, I::Sbrs { rr: rd, bit }];
        on_bits.into_iter().for_each(|instruction| layout.one_register(instruction));
        let (flag, offset) = (bit, 11);
        let on_flags = [I::Bset { flag }, I::Bclr { flag }, I::Brbs { flag, offset }, I::Brbc { flag, offset }];
        on_flags.into_iter().for_each(|instruction| layout.one_register(instruction));
    }
    layout
}

/// All operands of ADD with one SREG.
pub fn one_block() -> Layout {
    let mut layout = Layout { flash: Box::new([0; FLASH_WORDS]), subjects: Vec::new(), next: 0 };
    let pc = layout.place(Instruction::Add { rd: RD, rr: RR });
    layout.add("two registers", pc, RD.index(), Second::Register(RR.index()), vec![0x55]);
    layout
}

/// Every instruction on two registers; MOVW takes even ones, so it is left to the tests with random states.
fn two_registers(rd: Register, rr: Register) -> [Instruction; 17] {
    use Instruction as I;
    [
        I::Add { rd, rr },
        I::Adc { rd, rr },
        I::Sub { rd, rr },
        I::Sbc { rd, rr },
        I::And { rd, rr },
        I::Or { rd, rr },
        I::Eor { rd, rr },
        I::Cp { rd, rr },
        I::Cpc { rd, rr },
        I::Cpse { rd, rr },
        I::Mov { rd, rr },
        I::Mul { rd, rr },
        I::Muls { rd, rr },
        I::Mulsu { rd, rr },
        I::Fmul { rd, rr },
        I::Fmuls { rd, rr },
        I::Fmulsu { rd, rr },
    ]
}

/// Compares every block.
///
/// # Errors
/// If the stepper fails.
pub fn compare(stepper: &mut Stepper, executor: &mut Executor, layout: &Layout, tally: &mut Tally) -> io::Result<()> {
    // Something in each register, nothing in the I/O registers: no interrupt is enabled.
    let memory: [u8; DATA_CELLS] =
        std::array::from_fn(|address| if address < 32 { (address * 7 + 3) as u8 } else { 0 });
    stepper.load(&layout.flash)?;
    stepper.set_memory(&memory)?;
    executor.load(&layout.flash);
    executor.set_memory(&memory);
    let blocks: Vec<(&'static str, Block)> = layout.subjects.iter().flat_map(blocks).collect();
    // One block is always asked for in advance, so that both ends work at the same time.
    let mut asked = blocks.iter();
    let mut ask = |stepper: &mut Stepper| asked.next().map_or(Ok(()), |(_, block)| stepper.ask_block(block));
    ask(stepper)?;
    for (kind, block) in &blocks {
        ask(stepper)?;
        let effects = stepper.effects()?;
        compare_block(executor, &layout.flash, block, &effects, tally);
        tally.compared(kind, OPERANDS as u64);
    }
    Ok(())
}

fn blocks(subject: &Subject) -> impl Iterator<Item = (&'static str, Block)> + '_ {
    subject.statuses.iter().map(|status| (subject.kind, Block { status: *status, ..subject.block }))
}

fn compare_block(executor: &mut Executor, flash: &Flash, block: &Block, effects: &[Effect], tally: &mut Tally) {
    for (case, theirs) in effects.iter().enumerate() {
        let ours = executor.effect(block, case);
        if ours.as_ref() != Ok(theirs) {
            tally.difference(|| describe(flash, block, case, &ours, theirs));
        }
    }
}

fn describe(flash: &Flash, block: &Block, case: usize, ours: &Result<Effect, String>, theirs: &Effect) -> String {
    let (a, b) = Block::operands(case);
    let pc = usize::from(block.pc) + if block.second == Second::Place { usize::from(b) } else { 0 };
    let features = FeatureSet::architecture("avr5").unwrap_or_default();
    let instruction = decode(flash[pc], None, features);
    format!("{instruction:?} with {a:#04x} and {b:#04x} in {block:x?}: ours {ours:x?}, simavr {theirs:x?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each instruction that the table says writes flags from its operands is in the list of exhaustive blocks.
    #[test]
    fn no_instruction_that_computes_is_forgotten() {
        let features = FeatureSet::architecture("avr5").unwrap_or_default();
        let instruction = |word: u16| decode(word, Some(0), features).ok();
        let layout = layout();
        let listed: Vec<_> =
            layout.flash.iter().filter_map(|word| instruction(*word)).map(|one| one.opcode()).collect();
        for computing in (0..=u16::MAX).filter_map(instruction).filter(|one| !one.flags_written().is_empty()) {
            let opcode = computing.opcode();
            let elsewhere = matches!(computing, Instruction::Reti);
            assert!(elsewhere || listed.contains(&opcode), "{opcode:?} is in no block");
        }
    }

    #[test]
    fn blocks_do_not_overlap() {
        let layout = layout();
        let mut places: Vec<u16> = layout.subjects.iter().map(|subject| subject.block.pc).collect();
        places.dedup();
        assert_eq!(places.len(), layout.subjects.len());
        assert!(usize::from(layout.next) < FLASH_WORDS);
    }
}
