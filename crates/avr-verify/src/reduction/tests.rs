//! Reduced against unreduced: small random programs with two interrupts, and what each kind of carelessness would miss.

use super::Fault;
use crate::{Request, Results, StackBound, Strategy, Unlimited, Verdict, verify};
use avr_image::{Image, LoadOptions};
use avr_isa::{Instruction, Register};
use avr_machine::device::Device;
use avr_properties::{Property, PropertyFile};
use std::cell::Cell;
use std::collections::BTreeMap;

thread_local! {
    /// The fault that the reduction has on this thread.
    pub(super) static FAULT: Cell<Option<Fault>> = const { Cell::new(None) };
}

/// Data addresses that programs share with handlers.
const CELLS: [u16; 3] = [0x100, 0x101, 0x102];
/// Where handlers, a function and the main program begin, as flash word addresses.
const HANDLERS: [u32; 2] = [0x40, 0x60];
const FUNCTION: u32 = 0x80;
const MAIN: u32 = 0xa0;
/// I/O addresses.
const EIMSK: u8 = 0x1d;
const SREG: u8 = 0x3f;

/// A deterministic generator (splitmix64), so that failures repeat.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn cell(&mut self) -> u16 {
        CELLS[self.below(3) as usize]
    }
}

fn r(number: u8) -> Register {
    Register::new(number).expect("there are 32 registers")
}

/// Machine code while it is being written.
struct Code {
    words: Vec<u16>,
}

impl Code {
    fn place(&mut self, address: u32) {
        assert!(self.words.len() <= address as usize, "the code before it is too long");
        self.words.resize(address as usize, 0);
    }

    fn add(&mut self, instruction: Instruction) {
        let encoded = instruction.encode().expect("it has a code");
        self.words.push(encoded.first);
        self.words.extend(encoded.second);
    }

    fn jump(&mut self, target: u32) {
        let offset = target as i32 - self.words.len() as i32 - 1;
        self.add(Instruction::Rjmp { offset: offset as i16 });
    }

    /// A reserved opcode, unless the register holds something else.
    fn trap(&mut self, register: u8, value: u8) {
        self.add(Instruction::Cpi { rd: r(register), k: value });
        self.add(Instruction::Brbc { flag: 1, offset: 1 });
        self.words.push(0xffff);
    }
}

/// A handler that counts in a shared cell or sets it, and gives registers back unless it is a careless one.
fn handler(code: &mut Code, random: &mut Random) {
    let careless = random.below(6);
    code.add(Instruction::Push { rr: r(16) });
    if careless != 0 {
        code.add(Instruction::In { rd: r(16), io: SREG });
        code.add(Instruction::Push { rr: r(16) });
    }
    let cell = random.cell();
    match random.below(3) {
        0 => {
            code.add(Instruction::Lds { rd: r(16), address: cell });
            code.add(Instruction::Inc { rd: r(16) });
            code.add(Instruction::Andi { rd: r(16), k: 3 });
        }
        1 => code.add(Instruction::Ldi { rd: r(16), k: random.below(4) as u8 }),
        _ => {
            code.add(Instruction::Lds { rd: r(16), address: random.cell() });
            code.add(Instruction::Andi { rd: r(16), k: 3 });
        }
    }
    code.add(Instruction::Sts { address: cell, rr: if careless == 1 { r(18) } else { r(16) } });
    if random.below(4) == 0 {
        code.trap(16, random.below(4) as u8);
    }
    if careless == 2 {
        code.add(Instruction::Ldi { rd: r(17), k: random.below(4) as u8 });
    }
    if careless != 0 {
        code.add(Instruction::Pop { rd: r(16) });
        code.add(Instruction::Out { io: SREG, rr: r(16) });
    }
    code.add(Instruction::Pop { rd: r(16) });
    code.add(Instruction::Reti);
}

/// An instruction or two of the main program or its function.
fn piece(code: &mut Code, random: &mut Random, calls: bool) {
    let register = r(17 + random.below(3) as u8);
    match random.below(if calls { 12 } else { 11 }) {
        0 | 1 => code.add(Instruction::Lds { rd: register, address: random.cell() }),
        2 => code.add(Instruction::Sts { address: random.cell(), rr: register }),
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
            code.add(Instruction::Lds { rd: register, address: random.cell() });
            code.add(Instruction::Bset { flag: 7 });
        }
        6 | 7 => code.trap(17 + random.below(3) as u8, random.below(4) as u8),
        8 => code.add(Instruction::Mov { rd: register, rr: r(17 + random.below(3) as u8) }),
        9 => {
            code.add(Instruction::Cp { rd: register, rr: r(17) });
            code.add(Instruction::Brbs { flag: 1, offset: 1 });
            code.add(Instruction::Ldi { rd: register, k: random.below(4) as u8 });
        }
        10 => code.add(Instruction::Nop),
        _ => {
            let offset = i64::from(FUNCTION) - code.words.len() as i64 - 1;
            code.add(Instruction::Rcall { offset: offset as i16 });
        }
    }
}

fn program(random: &mut Random) -> Vec<u16> {
    let mut code = Code { words: Vec::new() };
    code.jump(MAIN);
    for (number, entry) in HANDLERS.iter().enumerate() {
        code.place(2 + 2 * number as u32);
        code.jump(*entry);
    }
    for entry in HANDLERS {
        code.place(entry);
        handler(&mut code, random);
    }
    code.place(FUNCTION);
    (0..random.below(3)).for_each(|_| piece(&mut code, random, false));
    code.add(Instruction::Ret);
    code.place(MAIN);
    for register in 16..21 {
        code.add(Instruction::Ldi { rd: r(register), k: random.below(2) as u8 });
    }
    for cell in CELLS {
        code.add(Instruction::Sts { address: cell, rr: r(17) });
    }
    code.add(Instruction::Ldi { rd: r(16), k: 1 + random.below(3) as u8 });
    code.add(Instruction::Out { io: EIMSK, rr: r(16) });
    code.add(Instruction::Bset { flag: 7 });
    let start = code.words.len() as u32;
    (0..2 + random.below(6)).for_each(|_| piece(&mut code, random, true));
    code.jump(start);
    code.words
}

fn image(words: &[u16]) -> Image {
    let mut text = String::new();
    for (line, words) in words.chunks(8).enumerate() {
        let mut bytes = vec![2 * words.len() as u8, (line >> 4) as u8, (line << 4) as u8, 0];
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes.push(bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_sub(*byte)));
        let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        text.push_str(&format!(":{digits}\n"));
    }
    text.push_str(":00000001FF\n");
    Image::parse("program.hex", text.as_bytes(), &LoadOptions::new(0x8000, 0x400)).expect("the image is valid")
}

fn results(words: &[u16], reduces_interrupts: bool) -> Results {
    let mut file = PropertyFile::parse("empty.ron", "()").expect("it is valid");
    file.properties.push(Property::from_command_line("Inherent()").expect("it is valid"));
    let request = Request {
        image: &image(words),
        device: Device::named("atmega328p").expect("the device exists"),
        start: None,
        file: &file,
        eeprom: &BTreeMap::new(),
        strategy: Strategy::default(),
        reduces_interrupts,
        watch: &Unlimited,
    };
    verify(&request).expect("the property is bound")
}

/// What is said of a program.
#[derive(Debug, PartialEq)]
struct Said {
    holds: Option<bool>,
    stack: StackBound,
    states: usize,
}

fn said(words: &[u16], reduces_interrupts: bool) -> Said {
    let results = results(words, reduces_interrupts);
    let property = &results.properties[0];
    let holds = match property.verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated => Some(false),
        Verdict::Unknown(_) => None,
    };
    Said { holds, stack: results.stack, states: property.statistics.states }
}

/// Whether two answers contradict each other.
fn contradict(one: &Said, other: &Said) -> bool {
    let exceeds = |lower: Option<u32>, upper: Option<u32>| lower.zip(upper).is_some_and(|(lower, upper)| lower > upper);
    let verdicts = one.holds.zip(other.holds).is_some_and(|(one, other)| one != other);
    verdicts || exceeds(one.stack.lower, other.stack.upper) || exceeds(other.stack.lower, one.stack.upper)
}

/// How many random programs there are.
const PROGRAMS: u64 = 250;

#[test]
fn reduced_answers_are_those_of_all_interrupts() {
    let (mut hold, mut violated, mut fewer) = (0, 0, 0);
    for seed in 0..PROGRAMS {
        let words = program(&mut Random(seed));
        let (all, reduced) = (said(&words, false), said(&words, true));
        assert!(!contradict(&all, &reduced), "seed {seed}: {reduced:?} where it is {all:?}");
        assert_eq!(all.holds, reduced.holds, "seed {seed}");
        if all.holds == Some(true) {
            assert_eq!(all.stack, reduced.stack, "seed {seed}");
        }
        hold += u64::from(all.holds == Some(true));
        violated += u64::from(all.holds == Some(false));
        fewer += u64::from(reduced.states < all.states);
    }
    assert!(hold > PROGRAMS / 10 && violated > PROGRAMS / 10, "{hold} hold, {violated} are violated");
    assert!(fewer > PROGRAMS / 4, "{fewer} of {PROGRAMS} have fewer states");
}

/// The first program whose answer a fault makes wrong.
#[track_caller]
fn check_found(fault: Fault) {
    let wrong = |seed: &u64| {
        let words = program(&mut Random(*seed));
        let all = said(&words, false);
        FAULT.set(Some(fault));
        let reduced = said(&words, true);
        FAULT.set(None);
        contradict(&all, &reduced) || all.holds == Some(true) && all.stack != reduced.stack
    };
    assert!((0..4 * PROGRAMS).find(wrong).is_some(), "{fault:?} was not noticed");
}

#[test]
fn handlers_that_disturb_would_be_noticed() {
    check_found(Fault::AllNeutral);
}

#[test]
fn instructions_that_conflict_would_be_noticed() {
    check_found(Fault::NoConflicts);
}

/// A trap that is sprung when the first handler runs before an instruction that nothing depends on, and the second behind
/// it: the first sets a cell, and the second stores one more than it elsewhere.
fn two_in_a_row() -> Vec<u16> {
    let mut code = Code { words: Vec::new() };
    code.jump(MAIN);
    for (number, entry) in HANDLERS.iter().enumerate() {
        code.place(2 + 2 * number as u32);
        code.jump(*entry);
    }
    for (number, entry) in HANDLERS.iter().enumerate() {
        code.place(*entry);
        code.add(Instruction::Push { rr: r(16) });
        code.add(Instruction::In { rd: r(16), io: SREG });
        code.add(Instruction::Push { rr: r(16) });
        if number == 0 {
            code.add(Instruction::Ldi { rd: r(16), k: 1 });
        } else {
            code.add(Instruction::Lds { rd: r(16), address: CELLS[0] });
            code.add(Instruction::Inc { rd: r(16) });
        }
        code.add(Instruction::Sts { address: CELLS[number], rr: r(16) });
        code.add(Instruction::Pop { rd: r(16) });
        code.add(Instruction::Out { io: SREG, rr: r(16) });
        code.add(Instruction::Pop { rd: r(16) });
        code.add(Instruction::Reti);
    }
    code.place(MAIN);
    code.add(Instruction::Ldi { rd: r(17), k: 0 });
    CELLS.iter().for_each(|cell| code.add(Instruction::Sts { address: *cell, rr: r(17) }));
    code.add(Instruction::Ldi { rd: r(16), k: 3 });
    code.add(Instruction::Out { io: EIMSK, rr: r(16) });
    code.add(Instruction::Bset { flag: 7 });
    code.add(Instruction::Nop);
    code.add(Instruction::Nop);
    code.add(Instruction::Lds { rd: r(18), address: CELLS[1] });
    code.add(Instruction::Bclr { flag: 7 });
    code.trap(18, 2);
    code.jump(code.words.len() as u32);
    code.words
}

#[test]
fn interrupts_that_do_not_catch_up_would_be_noticed() {
    assert_eq!(said(&two_in_a_row(), false).holds, Some(false));
    assert_eq!(said(&two_in_a_row(), true).holds, Some(false));
    FAULT.set(Some(Fault::NothingOwed));
    assert_eq!(said(&two_in_a_row(), true).holds, Some(true));
    FAULT.set(None);
}

#[test]
fn a_stack_that_is_deeper_before_would_be_noticed() {
    check_found(Fault::ShallowerLater);
}

#[test]
fn a_stack_that_gets_deeper_would_be_noticed() {
    check_found(Fault::OfferedShallower);
}
