//! Small random programs with two interrupts, and what is said of them.

#[path = "../tests/program/mod.rs"]
mod program;

use crate::{Exhausted, Progress, Reductions, Request, Results, StackBound, Verdict, Watch, verify};
use avr_image::Image;
use avr_isa::{Instruction, Register};
use avr_machine::device::Device;
use avr_properties::{Property, PropertyFile};
use std::time::{Duration, Instant};

/// The time for a program that is to be decided.
pub(crate) const LONG: Duration = Duration::from_secs(300);

/// A limit on time.
struct Patience {
    started: Instant,
    limit: Duration,
}

impl Watch for Patience {
    fn check(&self, _: &Progress) -> Option<Exhausted> {
        self.cancelled().then_some(Exhausted::Time(self.limit))
    }

    fn cancelled(&self) -> bool {
        self.started.elapsed() > self.limit
    }
}

/// How many random programs tests look at.
pub(crate) const PROGRAMS: u64 = 250;

/// Data addresses that programs share with handlers.
pub(crate) const CELLS: [u16; 3] = [0x100, 0x101, 0x102];
/// Where handlers, a function and the main program begin, as flash word addresses.
pub(crate) const HANDLERS: [u32; 2] = [0x40, 0x60];
const FUNCTION: u32 = 0x80;
pub(crate) const MAIN: u32 = 0xa0;
/// I/O addresses.
pub(crate) const EIMSK: u8 = 0x1d;
pub(crate) const SREG: u8 = 0x3f;

/// A deterministic generator (splitmix64), so that failures repeat.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below the limit.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn cell(&mut self) -> u16 {
        CELLS[self.below(3) as usize]
    }
}

/// A register.
pub(crate) fn r(number: u8) -> Register {
    Register::new(number).expect("there are 32 registers")
}

/// Machine code while it is being written.
pub(crate) struct Code {
    pub(crate) words: Vec<u16>,
}

impl Code {
    /// The beginning of a program: jumps to its main part and, from the first vectors, to handlers.
    pub(crate) fn with_vectors(main: u32, handlers: &[u32]) -> Self {
        let mut code = Self { words: Vec::new() };
        code.jump(main);
        for (number, entry) in handlers.iter().enumerate() {
            code.place(2 + 2 * number as u32);
            code.jump(*entry);
        }
        code
    }

    pub(crate) fn place(&mut self, address: u32) {
        assert!(self.words.len() <= address as usize, "the code before it is too long");
        self.words.resize(address as usize, 0);
    }

    pub(crate) fn add(&mut self, instruction: Instruction) {
        let encoded = instruction.encode().expect("it has a code");
        self.words.push(encoded.first);
        self.words.extend(encoded.second);
    }

    pub(crate) fn jump(&mut self, target: u32) {
        let offset = target as i32 - self.words.len() as i32 - 1;
        self.add(Instruction::Rjmp { offset: offset as i16 });
    }

    /// A reserved opcode, unless the register holds something else.
    pub(crate) fn trap(&mut self, register: u8, value: u8) {
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

/// A main program that calls a function, with two handlers; traps are reserved opcodes.
pub(crate) fn program(random: &mut Random) -> Vec<u16> {
    let mut code = Code::with_vectors(MAIN, &HANDLERS);
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

/// A program whose handlers do this, and whose main program does that with interrupts on, after it cleared the cells.
pub(crate) fn with_handlers(handler: impl Fn(&mut Code, usize), main: impl Fn(&mut Code)) -> Vec<u16> {
    with_handlers_behind(handler, |_| {}, main)
}

/// The same where something is done before interrupts are on.
pub(crate) fn with_handlers_behind(
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

/// What comes of properties, given as on a command line, within a limit on time.
pub(crate) fn results(words: &[u16], properties: &[&str], reductions: Reductions, limit: Duration) -> Results {
    with_request(words, properties, reductions, limit, |request| verify(request).expect("the property is bound"))
}

/// What comes of a request for properties, given as on a command line, with a limit on time.
pub(crate) fn with_request<T>(
    words: &[u16],
    properties: &[&str],
    reductions: Reductions,
    limit: Duration,
    ask: impl FnOnce(&Request<'_>) -> T,
) -> T {
    with_request_for(&program::image(words), properties, reductions, limit, ask)
}

/// The same for an image.
pub(crate) fn with_request_for<T>(
    image: &Image,
    properties: &[&str],
    reductions: Reductions,
    limit: Duration,
    ask: impl FnOnce(&Request<'_>) -> T,
) -> T {
    let mut file = PropertyFile::parse("empty.ron", "()").expect("it is valid");
    let property = |text: &&str| Property::from_command_line(text).expect("it is valid");
    file.properties = properties.iter().map(property).collect();
    let device = Device::named("atmega328p").expect("the device exists");
    let watch = Patience { started: Instant::now(), limit };
    ask(&Request { reductions, watch: &watch, ..Request::of(image, device, &file) })
}

/// What is said of a program.
#[derive(Debug, PartialEq)]
pub(crate) struct Said {
    pub(crate) holds: Option<bool>,
    pub(crate) stack: StackBound,
    pub(crate) states: usize,
}

/// What is said of the inherent property of a program, and of its stack.
pub(crate) fn said(words: &[u16], reductions: Reductions, limit: Duration) -> Said {
    let results = results(words, &["Inherent()"], reductions, limit);
    let property = &results.properties[0];
    let holds = match property.verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated => Some(false),
        Verdict::Unknown(ref unknown) => {
            assert!(!unknown.self_check_failed, "{}", unknown.reason);
            None
        }
    };
    Said { holds, stack: results.stack, states: property.statistics.states }
}

/// Whether two answers contradict each other.
pub(crate) fn contradict(one: &Said, other: &Said) -> bool {
    let exceeds = |lower: Option<u32>, upper: Option<u32>| lower.zip(upper).is_some_and(|(lower, upper)| lower > upper);
    let verdicts = one.holds.zip(other.holds).is_some_and(|(one, other)| one != other);
    verdicts || exceeds(one.stack.lower, other.stack.upper) || exceeds(other.stack.lower, one.stack.upper)
}
