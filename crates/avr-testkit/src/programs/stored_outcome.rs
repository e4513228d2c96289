//! A program that stores the outcome of a comparison and relies on it later.

use super::CELLS;
use crate::image::{Code, r};
use avr_isa::Instruction as I;

/// I/O addresses of the pins of port D and of port B.
const PIND: u8 = 0x09;
const PORTB: u8 = 0x05;

/// A program that stores whether a word is 0x1234. Behind a loop with an end that a pin decides it compares the word again if it was,
/// and writes 0x2a to port B if it is not. It adds 1 to the word if another pin says so, and begins again.
#[must_use]
pub fn program() -> Vec<u16> {
    let mut code = Code::default();
    code.add(I::Ldi { rd: r(20), k: 0x2a });
    let start = code.words.len() as u32;
    compare(&mut code);
    code.add(I::Ldi { rd: r(24), k: 1 });
    code.add(I::Brbs { flag: 1, offset: 1 });
    code.add(I::Ldi { rd: r(24), k: 0 });
    code.add(I::Sts { address: CELLS[2], rr: r(24) });
    code.add(I::Sbis { io: PIND, bit: 0 });
    code.add(I::Rjmp { offset: -2 });
    code.add(I::Lds { rd: r(24), address: CELLS[2] });
    code.add(I::Cpi { rd: r(24), k: 0 });
    code.unless(1, true, |code| {
        compare(code);
        code.unless(1, true, |code| code.add(I::Out { io: PORTB, rr: r(20) }));
    });
    load(&mut code);
    code.add(I::Adiw { rd: r(24), k: 1 });
    code.add(I::Sbis { io: PIND, bit: 1 });
    code.jump(start);
    code.add(I::Sts { address: CELLS[1], rr: r(25) });
    code.add(I::Sts { address: CELLS[0], rr: r(24) });
    code.jump(start);
    code.words
}

/// Loads the word.
fn load(code: &mut Code) {
    code.add(I::Lds { rd: r(24), address: CELLS[0] });
    code.add(I::Lds { rd: r(25), address: CELLS[1] });
}

/// Compares the word with 0x1234.
fn compare(code: &mut Code) {
    load(code);
    code.add(I::Cpi { rd: r(24), k: 0x34 });
    code.add(I::Sbci { rd: r(25), k: 0x12 });
}
