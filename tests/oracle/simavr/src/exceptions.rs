//! Known errors of libsimavr 1.6, each with the manual's section that decides it.
//!
//! An exception repairs libsimavr's outcome in the one point that is known to be wrong, and only where it is; the
//! repaired outcome must then equal ours. The cases of each are put to a third simulator (`third_voice.rs`).

use crate::wire::{DATA_CELLS, FLASH_WORDS, Flash, MOST_CHANGES, Outcome, Start};
use avr_isa::{Instruction, Pointer, PointerMode};
use std::collections::BTreeMap;

/// A known error of libsimavr.
#[derive(Clone, Copy, Debug)]
pub struct Exception {
    /// Its name in the report.
    pub name: &'static str,
    /// The behaviour of libsimavr, and the source that decides that it is wrong.
    pub decided_by: &'static str,
    /// Repairs the outcome if it is wrong in this way, and says whether it was.
    pub repair: fn(&Step<'_>, &mut Outcome) -> bool,
}

/// A step whose outcome is judged.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The instruction at PC.
    pub instruction: Instruction,
    /// The flash.
    pub flash: &'a Flash,
    /// The data memory before.
    pub memory: &'a [u8; DATA_CELLS],
    /// The rest of the state before.
    pub start: &'a Start,
    /// The values that PINB, PINC and PIND read, where the ports are connected.
    pub pins: Option<[u8; 3]>,
}

impl Step<'_> {
    /// The word so many words behind the instruction.
    fn word(&self, distance: u16) -> u16 {
        self.flash[usize::from(self.start.pc.wrapping_add(distance)) % FLASH_WORDS]
    }

    /// Changes what a step left in a cell.
    fn repair_cell(&self, outcome: &mut Outcome, address: u16, repair: impl Fn(u8) -> u8) {
        let index = usize::from(address);
        if let Some(register) = outcome.registers.get_mut(index) {
            *register = repair(*register);
            return;
        }
        let mut changes: BTreeMap<u16, u8> = outcome.changes.into_iter().take(outcome.count.into()).collect();
        let value = repair(changes.get(&address).copied().unwrap_or(self.memory[index]));
        changes.insert(address, value);
        changes.retain(|address, value| *value != self.memory[usize::from(*address)]);
        outcome.count = changes.len() as u8;
        outcome.changes = [(0, 0); MOST_CHANGES];
        outcome.changes.iter_mut().zip(changes).for_each(|(place, change)| *place = change);
    }
}

/// All exceptions, in the order in which they are applied.
pub const EXCEPTIONS: [Exception; 5] = [
    Exception {
        name: "skip-over-word-arithmetic",
        decided_by: "a skip over ADIW or SBIW with a low nibble of c to f passes over two words, as if it were JMP or \
                     CALL. Manual, CPSE, SBRC, SBRS, SBIC, SBIS: the length of the skipped instruction counts; ADIW, \
                     SBIW: Words 1",
        repair: skip_over_word_arithmetic,
    },
    Exception {
        name: "return-address-not-cut",
        decided_by: "CALL, RCALL and ICALL in the last words push a return address with more bits than PC has. Manual, \
                     CALL: PC(15:0) on devices with 16-bit PC; data sheet DS40002061, AVR Memories: PC has 14 bits",
        repair: return_address_not_cut,
    },
    Exception {
        name: "program-counter-not-cut",
        decided_by: "PC runs past the end of the flash, by targets of JMP, CALL, IJMP, ICALL, RET and RETI that are \
                     too large or by running on. Data sheet DS40002061, AVR Memories: PC has 14 bits; manual, RJMP: \
                     parts with up to 4 K words are addressed round the end",
        repair: program_counter_not_cut,
    },
    Exception {
        name: "store-through-x-on-itself",
        decided_by: "`st X, Rr` writes X back, so a store to the data address of XL or XH is lost. Manual, ST using \
                     Index X: (i) (X) <- Rr, X: unchanged",
        repair: store_through_x_on_itself,
    },
    Exception {
        name: "bit-of-input-pins",
        decided_by: "SBI and CBI on PINx write back all bits that read 1 and so toggle them in PORTx. Manual, SBI and \
                     CBI: one bit; data sheet DS40002061, Toggling the Pin: SBI toggles one single bit",
        repair: bit_of_input_pins,
    },
];

fn skip_over_word_arithmetic(step: &Step<'_>, outcome: &mut Outcome) -> bool {
    use Instruction as I;
    let skips =
        matches!(step.instruction, I::Cpse { .. } | I::Sbrc { .. } | I::Sbrs { .. } | I::Sbic { .. } | I::Sbis { .. });
    let next = step.word(1);
    let wrong = skips && next & 0xfe00 == 0x9600 && next & 0x000f >= 0x000c && outcome.cycles == 3;
    if wrong {
        outcome.pc -= 1;
        outcome.cycles -= 1;
    }
    wrong
}

fn return_address_not_cut(step: &Step<'_>, outcome: &mut Outcome) -> bool {
    use Instruction as I;
    let words = match step.instruction {
        I::Rcall { .. } | I::Icall => 1,
        I::Call { .. } => 2,
        _ => return false,
    };
    let wrong = usize::from(step.start.pc) + words >= FLASH_WORDS;
    if wrong {
        step.repair_cell(outcome, step.start.stack_pointer.wrapping_sub(1), |high| high & 0x3f);
    }
    wrong
}

fn program_counter_not_cut(_: &Step<'_>, outcome: &mut Outcome) -> bool {
    let cut = outcome.pc % FLASH_WORDS as u32;
    let wrong = outcome.pc != cut;
    outcome.pc = cut;
    wrong
}

fn store_through_x_on_itself(step: &Step<'_>, outcome: &mut Outcome) -> bool {
    let Instruction::St { pointer: Pointer::X, mode: PointerMode::Displacement(0), rr } = step.instruction else {
        return false;
    };
    let low = Pointer::X.low().index();
    let address = step.start.pair(low);
    let own = address == u16::from(low) || address == u16::from(low) + 1;
    if own {
        outcome.registers[usize::from(address)] = step.start.registers[usize::from(rr.index())];
    }
    own
}

fn bit_of_input_pins(step: &Step<'_>, outcome: &mut Outcome) -> bool {
    let (io, bit) = match step.instruction {
        Instruction::Sbi { io, bit } | Instruction::Cbi { io, bit } => (io, bit),
        _ => return false,
    };
    // I/O addresses 3, 6 and 9 are PINB, PINC and PIND; each has DDRx and PORTx behind it.
    let (Some(pins), 3 | 6 | 9) = (step.pins, io) else { return false };
    let too_many = pins[usize::from(io / 3 - 1)] & !(1 << bit);
    step.repair_cell(outcome, u16::from(io) + 0x22, |latch| latch ^ too_many);
    too_many != 0
}
