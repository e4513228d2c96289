//! Random programs whose comparisons are correlated: what is compared once is compared again, with or without something in between that
//! changes it.

use super::{CELLS, EIMSK, SREG};
use crate::Random;
use crate::image::{Code, r};
use avr_isa::{DataAddress, Instruction as I, Pointer, PointerMode};

/// I/O address of the pins of port D.
const PIND: u8 = 0x09;
/// Flash word address of the handler of the first external interrupt, and of the main program.
const HANDLER: u32 = 0x40;
const MAIN: u32 = 0x80;

/// Cells below the stack pointer of the main program, most of the time.
const GARBAGE: [DataAddress; 3] = [DataAddress(0x8f6), DataAddress(0x8f9), DataAddress(0x8fd)];

/// Two numbers that are compared.
#[derive(Clone, Copy)]
enum Pair {
    /// A byte and a constant.
    Byte(DataAddress, u8),
    /// A word and a constant.
    Word(DataAddress, u16),
    /// Two bytes.
    Bytes(DataAddress, DataAddress),
}

fn pair(random: &mut Random) -> Pair {
    if random.once_in(6) {
        return Pair::Byte(random.pick(&GARBAGE), random.below(4));
    }
    match random.below(3) {
        0 => Pair::Byte(random.pick(&CELLS), random.below(4)),
        1 => Pair::Word(CELLS[random.below(2)], random.pick(&[0, 1, 2, 0x100, 0x101, 0x201])),
        _ => Pair::Bytes(CELLS[0], CELLS[1 + random.below(2)]),
    }
}

/// The same numbers, or others that are related to them.
fn again(pair: Pair, random: &mut Random) -> Pair {
    match (pair, random.below(4)) {
        (Pair::Byte(cell, value), 0) => Pair::Byte(cell, value.wrapping_add(random.pick(&[1, 0xff]))),
        (Pair::Word(cell, value), 0) => Pair::Word(cell, value.wrapping_add(random.pick(&[1, 0xffff]))),
        (Pair::Bytes(one, other), 0) => Pair::Bytes(other, one),
        _ => pair,
    }
}

/// Compares two numbers.
fn compare(code: &mut Code, pair: Pair) {
    match pair {
        Pair::Byte(address, k) => {
            code.add(I::Lds { rd: r(18), address });
            code.add(I::Cpi { rd: r(18), k });
        }
        Pair::Word(address, value) => {
            let [low, high] = value.to_le_bytes();
            code.add(I::Lds { rd: r(18), address });
            code.add(I::Lds { rd: r(19), address: address.wrapping_add(1) });
            code.add(I::Ldi { rd: r(20), k: high });
            code.add(I::Cpi { rd: r(18), k: low });
            code.add(I::Cpc { rd: r(19), rr: r(20) });
        }
        Pair::Bytes(one, other) => {
            code.add(I::Lds { rd: r(18), address: one });
            code.add(I::Lds { rd: r(19), address: other });
            code.add(I::Cp { rd: r(18), rr: r(19) });
        }
    }
}

/// Puts a number of two bits into a cell.
fn input(code: &mut Code, register: u8, address: DataAddress) {
    code.add(I::In { rd: r(register), io: PIND });
    code.add(I::Andi { rd: r(register), k: 3 });
    code.add(I::Sts { address, rr: r(register) });
}

/// Something between two comparisons.
fn between(code: &mut Code, random: &mut Random) {
    match random.below(7) {
        0 => input(code, 16, random.pick(&CELLS)),
        1 => {
            let address = random.pick(&CELLS);
            code.add(I::Lds { rd: r(16), address });
            code.add(I::Inc { rd: r(16) });
            code.add(I::Andi { rd: r(16), k: 3 });
            code.add(I::Sts { address, rr: r(16) });
        }
        // A store that hits one of two cells.
        2 => {
            code.add(I::In { rd: r(26), io: PIND });
            code.add(I::Andi { rd: r(26), k: 1 });
            code.add(I::Ldi { rd: r(27), k: 1 });
            code.add(I::St { pointer: Pointer::X, mode: PointerMode::Displacement(0), rr: r(1) });
        }
        3 => {
            // A loop with as many rounds as two pins say.
            code.add(I::In { rd: r(17), io: PIND });
            code.add(I::Andi { rd: r(17), k: 3 });
            code.add(I::Inc { rd: r(17) });
            code.add(I::Dec { rd: r(17) });
            code.add(I::Brbc { flag: 1, offset: -2 });
        }
        4 => {
            let pushes = 1 + random.below(6);
            (0..pushes).for_each(|_| code.add(I::Push { rr: r(18) }));
            (0..pushes).for_each(|_| code.add(I::Pop { rd: r(18) }));
        }
        _ => {}
    }
}

/// A comparison, and below it another one that traps.
fn block(code: &mut Code, random: &mut Random) {
    let first = pair(random);
    compare(code, first);
    let (flag, is_set) = (random.pick(&[0, 1, 1, 4]), random.once_in(2));
    code.unless(flag, is_set, |code| {
        between(code, random);
        let second = again(first, random);
        compare(code, second);
        // Most often what cannot be if nothing changed.
        let traps = if random.once_in(4) { (random.pick(&[0, 1, 4]), random.once_in(2)) } else { (flag, !is_set) };
        code.unless(traps.0, traps.1, |code| code.words.push(0xffff));
    });
}

/// Adds a constant to a word in memory.
fn add(code: &mut Code, address: DataAddress, k: u8, random: &mut Random) {
    let high = address.wrapping_add(1);
    code.add(I::Lds { rd: r(24), address });
    code.add(I::Lds { rd: r(25), address: high });
    if random.once_in(2) {
        code.add(I::Adiw { rd: r(24), k });
    } else {
        code.add(I::Subi { rd: r(24), k: k.wrapping_neg() });
        code.add(I::Sbci { rd: r(25), k: if k == 0 { 0 } else { 0xff } });
    }
    code.add(I::Sts { address: high, rr: r(25) });
    code.add(I::Sts { address, rr: r(24) });
}

/// A comparison of a word, and below it another one, of its sum with a constant, that traps.
fn sum(code: &mut Code, random: &mut Random) {
    let address = CELLS[random.below(2)];
    let (value, k) = (random.pick(&[0, 1, 2, 0x100, 0x101, 0x201]), random.below(3u8));
    compare(code, Pair::Word(address, value));
    let (flag, is_set) = (random.pick(&[0, 1, 1, 4]), random.once_in(2));
    code.unless(flag, is_set, |code| {
        add(code, address, k, random);
        if random.once_in(3) {
            between(code, random);
        }
        let off = random.pick(&[0, 0, 0, 1]);
        compare(code, Pair::Word(address, value + u16::from(k) + off));
        code.unless(flag, !is_set, |code| code.words.push(0xffff));
    });
    input(code, 16, address);
    input(code, 16, address.wrapping_add(1));
}

/// A program with correlated comparisons of cells that hold numbers of two bits, and perhaps a handler that changes one.
pub fn program(random: &mut Random) -> Vec<u16> {
    let mut code = Code::with_vectors(MAIN, &[HANDLER]);
    code.place(HANDLER);
    code.add(I::Push { rr: r(16) });
    code.add(I::In { rd: r(16), io: SREG });
    code.add(I::Push { rr: r(16) });
    if random.once_in(2) {
        input(&mut code, 16, random.pick(&CELLS));
    }
    code.add(I::Pop { rd: r(16) });
    code.add(I::Out { io: SREG, rr: r(16) });
    code.add(I::Pop { rd: r(16) });
    code.add(I::Reti);
    code.place(MAIN);
    code.add(I::Eor { rd: r(1), rr: r(1) });
    for address in CELLS.into_iter().chain(GARBAGE) {
        input(&mut code, 16, address);
    }
    if random.once_in(2) {
        code.add(I::Ldi { rd: r(16), k: 1 });
        code.add(I::Out { io: EIMSK, rr: r(16) });
        code.add(I::Bset { flag: 7 });
    }
    let start = code.words.len() as u32;
    for _ in 0..1 + random.below(3) {
        if random.once_in(4) {
            sum(&mut code, random);
        } else {
            block(&mut code, random);
        }
        if random.once_in(3) {
            between(&mut code, random);
        }
    }
    code.jump(start);
    code.words
}
