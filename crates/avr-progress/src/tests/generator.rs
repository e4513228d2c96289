//! Random programs with few states: loops that may be left or not, and handlers on which that depends.

use avr_isa::{DataAddress, Instruction as I};
use avr_testkit::Random;
use avr_testkit::image::{Code, r};

pub(super) const PORTB: u8 = 5;
const PINB: u8 = 3;
const DDRB: u8 = 4;
const EECR: u8 = 0x1f;
const EIMSK: u8 = 0x1d;
const TCCR0B: u8 = 0x25;
const SREG: u8 = 0x3f;
const SMCR: u8 = 0x33;
const TIFR0: u8 = 0x15;
const TIMSK0: DataAddress = DataAddress(0x6e);
/// A handler counts here.
pub(super) const TICKS: DataAddress = DataAddress(0x100);
/// A handler sets or clears this.
pub(super) const GO: DataAddress = DataAddress(0x101);
/// A number that is counted down.
pub(super) const LEFT: DataAddress = DataAddress(0x102);
/// The vectors of INT0, TIMER0_OVF and EE_READY, as flash word addresses.
const VECTORS: [u32; 3] = [0x02, 0x20, 0x2c];
const HANDLERS: [u32; 2] = [0x40, 0x60];
const FUNCTION: u32 = 0x80;
const MAIN: u32 = 0xa0;
/// The flags by number.
const CARRY: u8 = 0;
const ZERO: u8 = 1;
const INTERRUPTS: u8 = 7;
/// Counters of loops, by their nesting.
const COUNTER: u8 = 17;
const DEEPEST: u8 = 2;

/// A program and the pins that it looks at.
pub(super) struct Generated {
    pub(super) code: Code,
    pub(super) pins: u8,
    /// The variables that it does not write at the beginning.
    pub(super) unwritten: Vec<DataAddress>,
}

/// A random program.
pub(super) fn program(random: &mut Random) -> Generated {
    let mut code = Code::default();
    code.jump(MAIN);
    let mut sources = [0, 1, 1, 1, 2, 0, 1];
    random.shuffle(&mut sources);
    let mut sources = sources[..random.pick(&[0, 1, 1, 1, 2])].to_vec();
    sources.sort_unstable();
    sources.dedup();
    let places: Vec<(usize, u32)> = sources.iter().copied().zip(HANDLERS).collect();
    for (source, entry) in &places {
        code.place(VECTORS[*source]);
        code.jump(*entry);
    }
    let mut writer = Writer { code, random, pins: 0, calls: false, sleeps: !sources.is_empty() };
    for (source, entry) in &places {
        writer.code.place(*entry);
        writer.handler(*source);
    }
    writer.code.place(FUNCTION);
    writer.block(1);
    writer.add(I::Ret);
    writer.calls = true;
    writer.code.place(MAIN);
    let unwritten = writer.main(&sources);
    Generated { pins: writer.pins, unwritten, code: writer.code }
}

struct Writer<'a> {
    code: Code,
    random: &'a mut Random,
    pins: u8,
    /// True where the function may be called.
    calls: bool,
    /// True where something may wake the processor.
    sleeps: bool,
}

impl Writer<'_> {
    fn add(&mut self, instruction: I) {
        self.code.add(instruction);
    }

    fn here(&self) -> u32 {
        self.code.words.len() as u32
    }

    fn branch(&mut self, flag: u8, is_set: bool, target: u32) {
        let offset = (i64::from(target) - i64::from(self.here()) - 1) as i8;
        self.add(if is_set { I::Brbs { flag, offset } } else { I::Brbc { flag, offset } });
    }

    fn set(&mut self, cell: DataAddress, value: u8) {
        self.add(I::Ldi { rd: r(16), k: value });
        self.add(I::Sts { address: cell, rr: r(16) });
    }

    fn pin(&mut self) -> u8 {
        let bit = self.random.below(2);
        self.pins |= 1 << bit;
        bit
    }

    /// Leaves out the next instruction if a pin has a level.
    fn skip_by_pin(&mut self) {
        let bit = self.pin();
        let skip = if self.random.once_in(2) { I::Sbis { io: PINB, bit } } else { I::Sbic { io: PINB, bit } };
        self.add(skip);
    }

    /// The main program; gives the variables that it does not write first.
    fn main(&mut self, sources: &[usize]) -> Vec<DataAddress> {
        let mut unwritten = Vec::new();
        for cell in [TICKS, GO, LEFT] {
            if self.random.chance(8) {
                unwritten.push(cell);
                continue;
            }
            let value = self.random.pick(&[0, 0, 1, 3]);
            self.set(cell, value);
        }
        (COUNTER..=COUNTER + DEEPEST + 1).for_each(|counter| self.add(I::Ldi { rd: r(counter), k: 1 }));
        self.add(I::Ldi { rd: r(24), k: 0 });
        if self.random.chance(15) {
            // Then what is read there is what was written, a little later.
            let bit = self.random.below(2);
            self.add(I::Sbi { io: DDRB, bit });
        }
        self.add(I::Ldi { rd: r(16), k: 1 });
        self.add(I::Out { io: SMCR, rr: r(16) });
        for source in sources {
            self.enable(*source);
        }
        if !sources.is_empty() && !self.random.chance(12) {
            self.add(I::Bset { flag: INTERRUPTS });
        }
        let first = self.here();
        let mut starts = vec![first];
        for _ in 0..self.random.within(1..4) {
            self.block(0);
            starts.push(self.here());
        }
        if self.random.chance(60) {
            self.switch();
        }
        match self.random.below(10) {
            0 => self.add(I::Rjmp { offset: -1 }),
            1 | 2 => {
                let start = self.random.pick(&starts);
                self.code.jump(start);
            }
            _ => self.code.jump(first),
        }
        unwritten
    }

    /// Lets an interrupt come, as a rule.
    fn enable(&mut self, source: usize) {
        if self.random.chance(15) {
            return;
        }
        match source {
            0 => self.add(I::Sbi { io: EIMSK, bit: 0 }),
            1 => {
                self.add(I::Ldi { rd: r(16), k: 3 });
                if !self.random.chance(10) {
                    self.add(I::Out { io: TCCR0B, rr: r(16) });
                }
                self.set(TIMSK0, 1);
            }
            _ => self.add(I::Sbi { io: EECR, bit: 3 }),
        }
    }

    fn disable(&mut self, source: usize) {
        match source {
            0 => self.add(I::Cbi { io: EIMSK, bit: 0 }),
            1 => self.set(TIMSK0, 0),
            _ => self.add(I::Cbi { io: EECR, bit: 3 }),
        }
    }

    /// A handler that gives back what it changes, unless it is a careless one.
    fn handler(&mut self, source: usize) {
        let careless = self.random.chance(15);
        self.add(I::Push { rr: r(16) });
        if !careless {
            self.add(I::In { rd: r(16), io: SREG });
            self.add(I::Push { rr: r(16) });
        }
        for _ in 0..self.random.pick(&[1, 1, 2]) {
            self.handle();
        }
        if self.random.chance(if source == 2 { 70 } else { 8 }) {
            self.disable(source);
        }
        if self.random.chance(8) {
            // A loop that ends, that may not end, or that never ends.
            match self.random.below(4) {
                0 => {
                    self.skip_by_pin();
                    self.add(I::Rjmp { offset: -2 });
                }
                1 => {
                    self.skip_by_pin();
                    self.add(I::Rjmp { offset: -1 });
                }
                _ => {
                    self.add(I::Ldi { rd: r(16), k: 2 });
                    self.add(I::Dec { rd: r(16) });
                    self.add(I::Brbc { flag: ZERO, offset: -2 });
                }
            }
        }
        if !careless {
            self.add(I::Pop { rd: r(16) });
            self.add(I::Out { io: SREG, rr: r(16) });
        }
        self.add(I::Pop { rd: r(16) });
        self.add(I::Reti);
    }

    /// One thing that a handler does.
    fn handle(&mut self) {
        match self.random.below(10) {
            0..3 => {
                self.add(I::Lds { rd: r(16), address: TICKS });
                self.add(I::Inc { rd: r(16) });
                let k = self.random.pick(&[3, 3, 7]);
                self.add(I::Andi { rd: r(16), k });
                self.add(I::Sts { address: TICKS, rr: r(16) });
            }
            3 | 4 => {
                let value = self.random.below(2);
                self.set(GO, value);
            }
            5 => {
                self.add(I::Lds { rd: r(16), address: GO });
                self.add(I::Com { rd: r(16) });
                self.add(I::Andi { rd: r(16), k: 1 });
                self.add(I::Sts { address: GO, rr: r(16) });
            }
            6 => {
                let value = self.random.within(1..4);
                self.set(LEFT, value);
            }
            7 => {
                self.add(I::Lds { rd: r(16), address: LEFT });
                self.add(I::And { rd: r(16), rr: r(16) });
                self.code.unless(ZERO, true, |code| {
                    code.add(I::Dec { rd: r(16) });
                    code.add(I::Sts { address: LEFT, rr: r(16) });
                });
            }
            8 => {
                self.skip_by_pin();
                self.switch();
            }
            _ => self.switch(),
        }
    }

    /// One instruction that switches an output.
    fn switch(&mut self) {
        let bit = self.random.pick(&[0, 0, 0, 1]);
        let instruction = match self.random.below(5) {
            0 => I::Sbi { io: PINB, bit },
            1 | 2 => I::Cbi { io: PORTB, bit },
            _ => I::Sbi { io: PORTB, bit },
        };
        self.add(instruction);
    }

    /// A part of the main program, or of its function.
    fn block(&mut self, depth: u8) {
        match self.random.below(if depth == 0 { 21 } else { 17 }) {
            0 | 1 => self.switch(),
            2 => self.count_down(depth),
            3 => self.count_up(depth),
            4 => self.count_in_memory(depth),
            5 => {
                self.skip_by_pin();
                self.add(I::Rjmp { offset: -2 });
            }
            6 => self.wait_for_ticks(),
            7 => self.wait_for_variable(),
            8 => self.count_while_going(),
            9 => self.count_until(depth),
            10 => self.count_from_pins(depth),
            11 => self.count_while_set(),
            12 => {
                // A trap, which a variable or a pin leads to.
                if self.random.once_in(2) {
                    let address = self.random.pick(&[GO, LEFT, TICKS]);
                    self.add(I::Lds { rd: r(16), address });
                    let bit = self.random.below(2);
                    self.add(I::Sbrc { rr: r(16), bit });
                } else {
                    self.skip_by_pin();
                }
                self.add(I::Rjmp { offset: -1 });
            }
            13 => self.count_to_a_limit(depth),
            14 => {
                let cell = self.random.pick(&[GO, LEFT, TICKS]);
                let value = self.random.below(4);
                self.set(cell, value);
            }
            15 => self.wait_for_the_flag(),
            16 if self.sleeps => self.add(I::Sleep),
            17 => {
                self.add(I::Bclr { flag: INTERRUPTS });
                self.block(1);
                if self.random.chance(80) {
                    self.add(I::Bset { flag: INTERRUPTS });
                }
            }
            18 => {
                self.skip_by_pin();
                let place = self.here();
                self.add(I::Nop);
                self.block(1);
                let offset = (self.here() - place - 1) as i16;
                let jump = I::Rjmp { offset };
                self.code.words.splice(place as usize..=place as usize, avr_testkit::image::encoded(jump));
            }
            _ if self.calls => self.code.call(FUNCTION),
            _ => self.switch(),
        }
    }

    /// Something inside of a loop, or nothing.
    fn body(&mut self, depth: u8) {
        if depth < DEEPEST && self.random.chance(35) {
            if self.random.once_in(2) { self.switch() } else { self.block(depth + 1) }
        }
    }

    fn count_down(&mut self, depth: u8) {
        let counter = r(COUNTER + depth);
        let (count, step) = (self.random.within(1..6), self.random.pick(&[1, 1, 1, 2, 3]));
        self.add(I::Ldi { rd: counter, k: count });
        let start = self.here();
        self.body(depth);
        if step == 1 && self.random.once_in(2) {
            self.add(I::Dec { rd: counter });
            self.branch(ZERO, false, start);
        } else {
            self.add(I::Subi { rd: counter, k: step });
            if self.random.once_in(3) {
                self.branch(CARRY, false, start);
            } else {
                self.add(I::Andi { rd: counter, k: 7 });
                self.branch(ZERO, false, start);
            }
        }
    }

    fn count_up(&mut self, depth: u8) {
        let counter = r(COUNTER + depth);
        let step = self.random.pick(&[1, 1, 1, 2, 3]);
        self.add(I::Ldi { rd: counter, k: 0 });
        let start = self.here();
        self.body(depth);
        self.add(I::Subi { rd: counter, k: 0_u8.wrapping_sub(step) });
        if step != 1 || self.random.once_in(3) {
            self.add(I::Andi { rd: counter, k: 7 });
        }
        let limit = self.random.within(1..8);
        self.add(I::Cpi { rd: counter, k: limit });
        let flag = self.random.pick(&[ZERO, CARRY]);
        self.branch(flag, flag == CARRY, start);
    }

    fn count_in_memory(&mut self, depth: u8) {
        if self.random.chance(80) {
            let count = self.random.within(1..4);
            self.set(LEFT, count);
        }
        let start = self.here();
        self.body(depth);
        self.add(I::Lds { rd: r(16), address: LEFT });
        if self.random.once_in(2) {
            self.add(I::And { rd: r(16), rr: r(16) });
            let place = self.here();
            self.add(I::Nop);
            self.add(I::Dec { rd: r(16) });
            self.add(I::Sts { address: LEFT, rr: r(16) });
            self.code.jump(start);
            let offset = (self.here() - place - 1) as i8;
            let branch = avr_testkit::image::encoded(I::Brbs { flag: ZERO, offset });
            self.code.words.splice(place as usize..=place as usize, branch);
        } else {
            self.add(I::Dec { rd: r(16) });
            self.add(I::Andi { rd: r(16), k: 3 });
            self.add(I::Sts { address: LEFT, rr: r(16) });
            self.branch(ZERO, false, start);
        }
    }

    fn wait_for_ticks(&mut self) {
        if self.random.chance(70) {
            self.set(TICKS, 0);
        }
        let start = self.here();
        self.add(I::Lds { rd: r(16), address: TICKS });
        let count = self.random.within(1..4);
        self.add(I::Cpi { rd: r(16), k: count });
        let flag = self.random.pick(&[ZERO, CARRY]);
        self.branch(flag, flag == CARRY, start);
    }

    fn wait_for_variable(&mut self) {
        if self.random.once_in(2) {
            let value = self.random.below(2);
            self.set(GO, value);
        }
        let start = self.here();
        self.add(I::Lds { rd: r(16), address: GO });
        self.add(I::And { rd: r(16), rr: r(16) });
        let until = self.random.once_in(2);
        self.branch(ZERO, until, start);
    }

    /// Waits for the overflow of a timer, and clears its flag as a rule.
    fn wait_for_the_flag(&mut self) {
        self.add(I::Sbis { io: TIFR0, bit: 0 });
        self.add(I::Rjmp { offset: -2 });
        if self.random.chance(80) {
            self.add(I::Sbi { io: TIFR0, bit: 0 });
        }
    }

    /// `while (n) { if (go) n--; }`
    fn count_while_going(&mut self) {
        if self.random.once_in(2) {
            self.set(GO, 1);
        }
        let count = self.random.within(1..4);
        self.set(LEFT, count);
        let start = self.here();
        let places: Vec<u32> = [LEFT, GO]
            .into_iter()
            .zip([16, 24])
            .map(|(address, register)| {
                self.add(I::Lds { rd: r(register), address });
                self.add(I::And { rd: r(register), rr: r(register) });
                self.add(I::Nop);
                self.here() - 1
            })
            .collect();
        self.add(I::Dec { rd: r(16) });
        self.add(I::Sts { address: LEFT, rr: r(16) });
        self.code.jump(start);
        for (place, target) in places.into_iter().zip([self.here(), start]) {
            let offset = (i64::from(target) - i64::from(place) - 1) as i8;
            let branch = avr_testkit::image::encoded(I::Brbs { flag: ZERO, offset });
            self.code.words.splice(place as usize..=place as usize, branch);
        }
    }

    /// `while (!go && --n);`, or the same with a pin.
    fn count_until(&mut self, depth: u8) {
        let counter = r(COUNTER + depth);
        let count = self.random.within(1..6);
        self.add(I::Ldi { rd: counter, k: count });
        let start = self.here();
        if self.random.once_in(2) {
            self.skip_by_pin();
        } else {
            self.add(I::Lds { rd: r(16), address: GO });
            self.add(I::Sbrc { rr: r(16), bit: 0 });
        }
        self.add(I::Rjmp { offset: 2 });
        self.add(I::Dec { rd: counter });
        self.branch(ZERO, false, start);
    }

    /// A count that pins give.
    fn count_from_pins(&mut self, depth: u8) {
        let counter = r(COUNTER + depth);
        self.add(I::In { rd: counter, io: PINB });
        self.add(I::Andi { rd: counter, k: 3 });
        self.pins |= 3;
        if self.random.once_in(2) {
            // 0 is no count.
            self.add(I::Ori { rd: counter, k: 1 });
        }
        let start = self.here();
        self.body(depth);
        self.add(I::Subi { rd: counter, k: 1 });
        self.add(I::Andi { rd: counter, k: 7 });
        self.branch(ZERO, false, start);
    }

    /// `while (n);`, where a handler counts down.
    fn count_while_set(&mut self) {
        if self.random.chance(70) {
            let count = self.random.within(1..4);
            self.set(LEFT, count);
        }
        let start = self.here();
        self.add(I::Lds { rd: r(16), address: LEFT });
        self.add(I::And { rd: r(16), rr: r(16) });
        self.branch(ZERO, false, start);
    }

    /// A count up to what a variable holds.
    fn count_to_a_limit(&mut self, depth: u8) {
        let counter = r(COUNTER + depth);
        let address = self.random.pick(&[LEFT, TICKS]);
        self.add(I::Ldi { rd: counter, k: 0 });
        self.add(I::Lds { rd: r(24), address });
        let start = self.here();
        if self.random.once_in(2) {
            self.add(I::Lds { rd: r(24), address });
        }
        self.body(depth);
        self.add(I::Inc { rd: counter });
        self.add(I::Andi { rd: counter, k: 7 });
        self.add(I::Cp { rd: counter, rr: r(24) });
        let flag = self.random.pick(&[ZERO, CARRY]);
        self.branch(flag, flag == CARRY, start);
    }
}
