//! Small programs with two interrupts whose handlers share cells with the main program.

use avr_isa::Instruction;

use super::{CELLS, EIMSK, SREG, cell};
use crate::Random;
use crate::image::{Code, r};

/// The first instructions of the handlers, as flash word addresses.
pub const HANDLERS: [u32; 2] = [0x40, 0x60];
const FUNCTION: u32 = 0x80;
/// The first instruction of the main program, as a flash word address.
pub const MAIN: u32 = 0xa0;

/// A handler that counts in a shared cell or sets it, and gives registers back unless it is a careless one. It does something else before it
/// writes.
fn handler(code: &mut Code, random: &mut Random, meanwhile: impl Fn(&mut Code, &mut Random)) {
    let careless = random.below(6);
    code.add(Instruction::Push { rr: r(16) });
    if careless != 0 {
        code.add(Instruction::In { rd: r(16), io: SREG });
        code.add(Instruction::Push { rr: r(16) });
    }
    let shared = cell(random);
    match random.below(3) {
        0 => {
            code.add(Instruction::Lds { rd: r(16), address: shared });
            code.add(Instruction::Inc { rd: r(16) });
            code.add(Instruction::Andi { rd: r(16), k: 3 });
        }
        1 => code.add(Instruction::Ldi { rd: r(16), k: random.below(4) }),
        _ => {
            code.add(Instruction::Lds { rd: r(16), address: cell(random) });
            code.add(Instruction::Andi { rd: r(16), k: 3 });
        }
    }
    meanwhile(code, random);
    code.add(Instruction::Sts { address: shared, rr: if careless == 1 { r(18) } else { r(16) } });
    if random.below(4) == 0 {
        code.trap(16, random.below(4));
    }
    if careless == 2 {
        code.add(Instruction::Ldi { rd: r(17), k: random.below(4) });
    }
    if careless != 0 {
        code.add(Instruction::Pop { rd: r(16) });
        code.add(Instruction::Out { io: SREG, rr: r(16) });
    }
    code.add(Instruction::Pop { rd: r(16) });
    code.add(Instruction::Reti);
}

/// Lets other interrupts in, mostly with the own one off.
fn let_in(code: &mut Code, random: &mut Random, own: u8) {
    if random.below(3) == 0 {
        return;
    }
    let is_off = random.below(10) != 0;
    if is_off {
        code.add(Instruction::Cbi { io: EIMSK, bit: own });
    }
    code.add(Instruction::Bset { flag: 7 });
    code.add(Instruction::Nop);
    if random.below(2) == 0 {
        code.add(Instruction::Lds { rd: r(16), address: cell(random) });
    }
    code.add(Instruction::Bclr { flag: 7 });
    if is_off && random.below(10) != 0 {
        code.add(Instruction::Sbi { io: EIMSK, bit: own });
    }
}

/// An instruction or two of the main program or its function.
fn piece(code: &mut Code, random: &mut Random, calls: bool) {
    let register = r(17 + random.below(3));
    match random.below(if calls { 12 } else { 11 }) {
        0 | 1 => code.add(Instruction::Lds { rd: register, address: cell(random) }),
        2 => code.add(Instruction::Sts { address: cell(random), rr: register }),
        3 => {
            code.add(Instruction::Inc { rd: register });
            code.add(Instruction::Andi { rd: register, k: 3 });
        }
        4 => {
            code.add(Instruction::Push { rr: register });
            if random.below(2) == 0 {
                code.add(Instruction::Inc { rd: r(20) });
                code.add(Instruction::Andi { rd: r(20), k: 1 });
            }
            code.add(Instruction::Pop { rd: r(19) });
        }
        5 => {
            code.add(Instruction::Bclr { flag: 7 });
            code.add(Instruction::Lds { rd: register, address: cell(random) });
            code.add(Instruction::Bset { flag: 7 });
        }
        6 | 7 => code.trap(17 + random.below(3), random.below(4)),
        8 => code.add(Instruction::Mov { rd: register, rr: r(17 + random.below(3)) }),
        9 => {
            code.add(Instruction::Cp { rd: register, rr: r(17) });
            code.add(Instruction::Brbs { flag: 1, offset: 1 });
            code.add(Instruction::Ldi { rd: register, k: random.below(4) });
        }
        10 => code.add(Instruction::Nop),
        _ => {
            code.call(FUNCTION);
        }
    }
}

/// A main program that calls a function, with two handlers; traps are reserved opcodes.
pub fn program(random: &mut Random) -> Vec<u16> {
    program_with(random, |code, random, _| handler(code, random, |_, _| {}))
}

/// The same with handlers that let each other in, and some of them themselves.
pub fn nested(random: &mut Random) -> Vec<u16> {
    program_with(random, |code, random, own| handler(code, random, |code, random| let_in(code, random, own)))
}

fn program_with(random: &mut Random, handler: impl Fn(&mut Code, &mut Random, u8)) -> Vec<u16> {
    let mut code = Code::with_vectors(MAIN, &HANDLERS);
    for (own, entry) in (0..).zip(HANDLERS) {
        code.place(entry);
        handler(&mut code, random, own);
    }
    code.place(FUNCTION);
    (0..random.below(3)).for_each(|_| piece(&mut code, random, false));
    code.add(Instruction::Ret);
    code.place(MAIN);
    for register in 16..21 {
        code.add(Instruction::Ldi { rd: r(register), k: random.below(2) });
    }
    for cell in CELLS {
        code.add(Instruction::Sts { address: cell, rr: r(17) });
    }
    code.add(Instruction::Ldi { rd: r(16), k: 1 + random.below(3) });
    code.add(Instruction::Out { io: EIMSK, rr: r(16) });
    code.add(Instruction::Bset { flag: 7 });
    let start = code.words.len() as u32;
    (0..2 + random.below(6)).for_each(|_| piece(&mut code, random, true));
    code.jump(start);
    code.words
}

/// A program whose handlers do this, and whose main program does that with interrupts on, after it cleared the cells.
pub fn with_handlers(handler: impl Fn(&mut Code, usize), main: impl Fn(&mut Code)) -> Vec<u16> {
    with_handlers_behind(handler, |_| {}, main)
}

/// The same where something is done before interrupts are on.
pub fn with_handlers_behind(
    handler: impl Fn(&mut Code, usize),
    before: impl Fn(&mut Code),
    main: impl Fn(&mut Code),
) -> Vec<u16> {
    let mut code = Code::with_vectors(MAIN, &HANDLERS);
    for (number, entry) in HANDLERS.iter().enumerate() {
        code.place(*entry);
        code.add(Instruction::Push { rr: r(16) });
        code.add(Instruction::In { rd: r(16), io: SREG });
        code.add(Instruction::Push { rr: r(16) });
        handler(&mut code, number);
        code.add(Instruction::Pop { rd: r(16) });
        code.add(Instruction::Out { io: SREG, rr: r(16) });
        code.add(Instruction::Pop { rd: r(16) });
        code.add(Instruction::Reti);
    }
    code.place(MAIN);
    code.add(Instruction::Ldi { rd: r(17), k: 0 });
    CELLS.iter().for_each(|cell| code.add(Instruction::Sts { address: *cell, rr: r(17) }));
    before(&mut code);
    code.add(Instruction::Ldi { rd: r(16), k: 3 });
    code.add(Instruction::Out { io: EIMSK, rr: r(16) });
    code.add(Instruction::Bset { flag: 7 });
    code.add(Instruction::Nop);
    main(&mut code);
    code.jump(code.words.len() as u32);
    code.words
}
