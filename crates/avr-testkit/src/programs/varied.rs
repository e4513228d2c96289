//! Programs with most of what compilers write: frames, arrays, loops, calls through pointers, critical sections, handlers that
//! call functions, and reads below the stack pointer.

use avr_isa::{DataAddress, Instruction as I, Pointer, PointerMode};

use super::{CELLS, EIMSK, SREG, cell};
use crate::Random;
use crate::image::{Code, r};

/// I/O addresses.
const PIND: u8 = 0x09;
const EIFR: u8 = 0x1c;
const SPL: u8 = 0x3d;
const SPH: u8 = 0x3e;

/// Data address of the register that says whether interrupts are requested by levels or edges.
const EICRA: DataAddress = DataAddress(0x69);
/// An array of four bytes behind the cells.
const ARRAY: DataAddress = DataAddress(0x110);
/// The first instructions of handlers and functions, as flash word addresses.
const HANDLERS: [u32; 2] = [0x40, 0xa0];
const FUNCTIONS: [u32; 2] = [0x100, 0x180];
const MAIN: u32 = 0x200;
/// The largest nesting of pieces.
const MAX_DEPTH: u32 = 2;

/// The surroundings of a piece, which limit its calls and its nesting.
#[derive(Clone, Copy)]
struct Place {
    /// The first function that may be called.
    callable: usize,
    depth: u32,
    is_handler: bool,
}

/// A register that pieces compute with.
fn any(random: &mut Random) -> u8 {
    18 + random.below(4)
}

fn trap(code: &mut Code) {
    code.words.push(0xffff);
}

/// A pointer into the array, at an index that is masked or checked, or not.
fn point(code: &mut Code, random: &mut Random) {
    let index = r(any(random));
    match random.below(8) {
        0 => code.add(I::Mov { rd: r(30), rr: index }),
        1..3 => {
            code.add(I::Cpi { rd: index, k: 4 });
            code.add(I::Mov { rd: r(30), rr: index });
            code.unless(0, true, |code| code.add(I::Ldi { rd: r(30), k: 0 }));
        }
        _ => {
            code.add(I::Mov { rd: r(30), rr: index });
            code.add(I::Andi { rd: r(30), k: 3 });
        }
    }
    code.add(I::Ldi { rd: r(31), k: ARRAY.high() });
    code.add(I::Subi { rd: r(30), k: 0u8.wrapping_sub(ARRAY.low()) });
}

/// A frame of two bytes that something is kept in.
fn frame(code: &mut Code, random: &mut Random, place: Place) {
    let set_pointer = |code: &mut Code| {
        code.add(I::In { rd: r(0), io: SREG });
        code.add(I::Bclr { flag: 7 });
        code.add(I::Out { io: SPH, rr: r(29) });
        code.add(I::Out { io: SREG, rr: r(0) });
        code.add(I::Out { io: SPL, rr: r(28) });
    };
    let (kept, back) = (r(any(random)), r(any(random)));
    code.add(I::Push { rr: r(28) });
    code.add(I::Push { rr: r(29) });
    code.add(I::In { rd: r(28), io: SPL });
    code.add(I::In { rd: r(29), io: SPH });
    code.add(I::Sbiw { rd: r(28), k: 2 });
    set_pointer(code);
    code.add(I::St { pointer: Pointer::Y, mode: PointerMode::Displacement(1), rr: kept });
    piece(code, random, Place { depth: place.depth + 1, ..place });
    code.add(I::Ld { rd: back, pointer: Pointer::Y, mode: PointerMode::Displacement(1 + random.below(2)) });
    code.add(I::Andi { rd: back, k: 3 });
    code.add(I::Adiw { rd: r(28), k: 2 });
    set_pointer(code);
    code.add(I::Pop { rd: r(29) });
    code.add(I::Pop { rd: r(28) });
}

/// Some instructions of the main program, of a function, or of a handler that has saved what they use.
fn piece(code: &mut Code, random: &mut Random, place: Place) {
    match random.below(22) {
        kind @ 0..6 => compute(code, random, kind),
        kind @ 6..14 => access(code, random, kind - 6),
        14 | 15 => check(code, random),
        16 if place.callable < FUNCTIONS.len() => {
            let count = FUNCTIONS.len() - place.callable;
            code.call(FUNCTIONS[place.callable + random.below(count)]);
        }
        17 if place.callable == 0 => {
            code.add(I::Ldi { rd: r(30), k: FUNCTIONS[0] as u8 });
            code.add(I::Ldi { rd: r(31), k: (FUNCTIONS[0] >> 8) as u8 });
            code.add(I::Sbrs { rr: r(any(random)), bit: random.below(2) });
            code.add(I::Ldi { rd: r(30), k: FUNCTIONS[1] as u8 });
            code.add(I::Icall);
        }
        kind if place.depth < MAX_DEPTH => nest(code, random, place, kind),
        _ => {
            code.add(I::Push { rr: r(any(random)) });
            code.add(I::Pop { rd: r(any(random)) });
        }
    }
}

/// Something about registers and inputs.
fn compute(code: &mut Code, random: &mut Random, kind: u64) {
    let (one, other) = (r(any(random)), r(any(random)));
    match kind {
        0 | 1 => {
            code.add(I::Inc { rd: one });
            code.add(I::Andi { rd: one, k: 3 });
        }
        2 | 3 => code.add(I::Mov { rd: one, rr: other }),
        _ => {
            // A request that was seen stands until it is served.
            code.add(I::In { rd: one, io: if random.below(2) == 0 { PIND } else { EIFR } });
            code.add(I::Andi { rd: one, k: if random.below(2) == 0 { 3 } else { 7 } });
        }
    }
}

/// An access to memory: cells, the array, and what is below the stack pointer.
fn access(code: &mut Code, random: &mut Random, kind: u64) {
    let one = r(any(random));
    match kind {
        0..3 => code.add(I::Lds { rd: one, address: cell(random) }),
        3 | 4 => {
            code.add(I::Andi { rd: one, k: 3 });
            code.add(I::Sts { address: cell(random), rr: one });
        }
        5 => {
            point(code, random);
            code.add(I::Ld { rd: one, pointer: Pointer::Z, mode: PointerMode::Displacement(0) });
        }
        6 => {
            code.add(I::Andi { rd: one, k: 3 });
            point(code, random);
            code.add(I::St { pointer: Pointer::Z, mode: PointerMode::Displacement(0), rr: one });
        }
        _ => {
            code.add(I::Lds { rd: one, address: DataAddress(0x8ff - random.below(8)) });
            if random.below(2) == 0 {
                code.add(I::Andi { rd: one, k: 3 });
            }
        }
    }
}

/// A trap that is sprung if a cell is not small, which it is if all that is stored in it is masked, or if two registers differ
/// or are the same.
fn check(code: &mut Code, random: &mut Random) {
    let one = r(any(random));
    if random.below(4) == 0 {
        code.add(I::Cp { rd: one, rr: r(any(random)) });
        code.unless(1, random.below(4) != 0, trap);
    } else {
        code.add(I::Lds { rd: one, address: cell(random) });
        code.add(I::Cpi { rd: one, k: 4 });
        code.unless(0, true, trap);
    }
}

/// Pieces within a frame, a loop, a critical section, one way of a branch, or between a push and a pop; or a wait for a cell.
fn nest(code: &mut Code, random: &mut Random, place: Place, kind: u64) {
    let (one, other) = (r(any(random)), r(any(random)));
    let inner = Place { depth: place.depth + 1, ..place };
    match kind {
        16 => frame(code, random, place),
        17 if !place.is_handler => {
            code.add(I::Bclr { flag: 7 });
            piece(code, random, inner);
            piece(code, random, inner);
            code.add(I::Bset { flag: 7 });
        }
        18 => {
            code.add(I::Push { rr: r(17) });
            code.add(I::Ldi { rd: r(17), k: 1 + random.below(4) });
            let head = code.words.len();
            piece(code, random, inner);
            code.add(I::Dec { rd: r(17) });
            let offset = head as i64 - code.words.len() as i64 - 1;
            code.add(I::Brbc { flag: 1, offset: offset as i8 });
            code.add(I::Pop { rd: r(17) });
        }
        19 => {
            code.add(I::Cp { rd: one, rr: other });
            code.unless(random.below(2), random.below(2) == 0, |code| piece(code, random, inner));
        }
        20 => {
            let head = code.words.len() as u32;
            code.add(I::Lds { rd: one, address: cell(random) });
            code.add(I::Sbrs { rr: one, bit: random.below(2) });
            code.jump(head);
        }
        _ if random.below(3) == 0 => frame(code, random, place),
        _ => {
            code.add(I::Push { rr: one });
            piece(code, random, inner);
            code.add(I::Pop { rd: other });
        }
    }
}

/// A handler that gives back what it uses, or not.
fn handler(code: &mut Code, random: &mut Random, number: u8) {
    let mut saved = vec![18, 19, 20, 21, 30, 31, 0];
    if random.below(8) == 0 {
        saved.remove(random.below(7));
    }
    code.add(I::Push { rr: r(16) });
    code.add(I::In { rd: r(16), io: SREG });
    code.add(I::Push { rr: r(16) });
    saved.iter().for_each(|register| code.add(I::Push { rr: r(*register) }));
    (18..22).for_each(|register| code.add(I::Ldi { rd: r(register), k: random.below(4) }));
    let place = Place { callable: 1, depth: 1, is_handler: true };
    (0..1 + random.below(3)).for_each(|_| piece(code, random, place));
    if random.below(6) == 0 {
        code.add(I::Cbi { io: EIMSK, bit: number });
        code.add(I::Bset { flag: 7 });
        piece(code, random, place);
        code.add(I::Bclr { flag: 7 });
        code.add(I::Sbi { io: EIMSK, bit: number });
    }
    saved.iter().rev().for_each(|register| code.add(I::Pop { rd: r(*register) }));
    code.add(I::Pop { rd: r(16) });
    code.add(I::Out { io: SREG, rr: r(16) });
    code.add(I::Pop { rd: r(16) });
    code.add(I::Reti);
}

/// A program with two functions, of which the first may call the second, and up to two handlers.
pub fn program(random: &mut Random) -> Vec<u16> {
    let mut code = Code::with_vectors(MAIN, &HANDLERS);
    for (number, entry) in HANDLERS.iter().enumerate() {
        code.place(*entry);
        handler(&mut code, random, number as u8);
    }
    for (number, entry) in FUNCTIONS.iter().enumerate() {
        code.place(*entry);
        let place = Place { callable: number + 1, depth: 1, is_handler: true };
        (0..random.below(3)).for_each(|_| piece(&mut code, random, place));
        code.add(I::Ret);
    }
    code.place(MAIN);
    (16..22).for_each(|register| code.add(I::Ldi { rd: r(register), k: random.below(4) }));
    let array = ARRAY.until(ARRAY.wrapping_add(4));
    let stack = DataAddress(0x8f0).until(DataAddress(0x900));
    for address in CELLS.into_iter().chain(array).chain(stack) {
        code.add(I::Sts { address, rr: r(18) });
    }
    // Requests by levels come and go, those by edges stand.
    code.add(I::Ldi { rd: r(16), k: if random.below(3) == 0 { 0 } else { 0x0f } });
    code.add(I::Sts { address: EICRA, rr: r(16) });
    let enabled = random.below(4);
    code.add(I::Ldi { rd: r(16), k: if enabled == 0 { 1 } else { enabled } });
    code.add(I::Out { io: EIMSK, rr: r(16) });
    code.add(I::Bset { flag: 7 });
    let start = code.words.len() as u32;
    let place = Place { callable: 0, depth: 0, is_handler: false };
    (0..3 + random.below(7)).for_each(|_| piece(&mut code, random, place));
    code.jump(start);
    code.words
}
