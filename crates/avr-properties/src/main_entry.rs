//! The entry of the main program, where the start-up code of the compiler ends.

use avr_image::{FlashByteAddress, FlashWordAddress, Image, SymbolKind};
use avr_isa::{ControlFlow, Instruction, Register};
use avr_machine::device::Device;
use avr_machine::{Fetched, Program};

/// The most instructions of start-up code that are followed.
const MOST_STEPS: u32 = 256;
/// Number of the I/O register SREG.
const SREG: u8 = 0x3f;
/// Bit of SREG that enables interrupts.
const I: u8 = 7;

/// Address of the main program: of the symbol `main`, or of what the start-up code of avr-libc calls. None
/// where the image has neither.
#[must_use]
pub fn main_entry(image: &Image, device: &Device) -> Option<FlashByteAddress> {
    let is_code = |symbol: &avr_image::Symbol| symbol.kind != SymbolKind::Object && symbol.place.flash().is_some();
    let named = image.symbols.find_where("main", is_code).ok().and_then(|symbol| symbol.place.flash());
    if named.is_some() {
        return named;
    }
    let start = image.program.ranges().map(|range| range.start).min()?;
    let word = |address: u32| image.program.word(FlashWordAddress(address));
    let program = Program::decode(device.memory.flash_words(), device.core.features, word);
    called_by_startup(&program, start.word()).map(FlashWordAddress::byte)
}

/// The function that start-up code from a flash word address on calls before it ends the program: it clears r1 and SREG,
/// copies and clears memory in loops, calls constructors, then `main`, and jumps to `exit`.
fn called_by_startup(program: &Program, start: FlashWordAddress) -> Option<FlashWordAddress> {
    let (mut pc, mut clears_r1, mut clears_status) = (start, false, false);
    for _ in 0..MOST_STEPS {
        let Fetched::Instruction { instruction, .. } = program.fetch(pc) else { return None };
        match instruction {
            Instruction::Eor { rd, rr } if rd == Register::R1 && rr == Register::R1 => clears_r1 = true,
            Instruction::Out { io: SREG, rr } if rr == Register::R1 => clears_status = clears_r1,
            _ => {}
        }
        pc = match instruction.control_flow(pc, program) {
            ControlFlow::Call { next, target } => {
                if clears_status && ends_program(program, next) {
                    return Some(target);
                }
                next
            }
            // Loops are left as soon as they are entered: their branches go back.
            ControlFlow::Next { next } | ControlFlow::Branch { next, .. } | ControlFlow::Skip { next, .. } => next,
            ControlFlow::Jump { target } => target,
            ControlFlow::IndirectCall { next } => next,
            ControlFlow::IndirectJump
            | ControlFlow::Return
            | ControlFlow::InterruptReturn
            | ControlFlow::Sleep { .. }
            | ControlFlow::Break { .. } => return None,
        };
    }
    None
}

/// True if a jump at a flash word address leads to code that disables interrupts and then stays where it is.
fn ends_program(program: &Program, mut pc: FlashWordAddress) -> bool {
    let (mut jumped, mut is_disabled) = (false, false);
    for _ in 0..MOST_STEPS {
        let Fetched::Instruction { instruction, .. } = program.fetch(pc) else { return false };
        is_disabled |= matches!(instruction, Instruction::Bclr { flag: I });
        pc = match instruction.control_flow(pc, program) {
            ControlFlow::Jump { target } if target == pc => return is_disabled,
            ControlFlow::Jump { target } => {
                jumped = true;
                target
            }
            // Destructors.
            ControlFlow::Next { next }
            | ControlFlow::Branch { next, .. }
            | ControlFlow::Skip { next, .. }
            | ControlFlow::Call { next, .. }
            | ControlFlow::IndirectCall { next }
                if jumped =>
            {
                next
            }
            _ => return false,
        };
    }
    false
}
