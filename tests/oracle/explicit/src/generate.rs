//! Random programs without hazards: a function, up to three handlers, and a main program that ends in an endless loop.
//!
//! Values stay within two bits, so that there are few states; everything is written before it is read.

use crate::board::Board;
use crate::program::{
    CELLS, Constant, EICRA, EIMSK, GPIOR0, One, Op, PCICR, PCMSK0, PINB, PORTB, Place, Program, SREG, Two,
};
use avr_testkit::Random;

/// The registers of the main program, and the one that handlers use.
const MAIN: [u8; 4] = [16, 17, 18, 19];
const HANDLER: u8 = 24;
const Z: u8 = 1;
const C: u8 = 0;

/// A program in the making.
struct Builder<'a> {
    program: Program,
    random: &'a mut Random,
    /// The registers that the code at hand may use.
    registers: Vec<u8>,
    function: Option<u16>,
    /// The function leaves the I flag alone, so handlers may call it.
    function_is_plain: bool,
    interrupts: Vec<u16>,
    in_handler: bool,
}

/// A random program for a device.
pub(crate) fn program(random: &mut Random, board: &'static Board) -> Program {
    let count = random.pick(&[0, 1, 1, 1, 2, 2, 3]);
    let mut interrupts = board.interrupts();
    while interrupts.len() > count {
        let index = random.below(interrupts.len());
        interrupts.remove(index);
    }
    let mut builder = Builder {
        program: Program::on(board),
        random,
        registers: MAIN.to_vec(),
        function: None,
        function_is_plain: false,
        interrupts,
        in_handler: false,
    };
    builder.build();
    builder.program
}

impl Builder<'_> {
    fn build(&mut self) {
        let board = self.program.board;
        (0..board.vectors()).for_each(|_| self.add(board.jump(0)));
        if self.random.once_in(3) {
            let start = self.program.here();
            self.function_is_plain = self.random.once_in(2);
            self.in_handler = self.function_is_plain;
            (0..1 + self.random.below(2)).for_each(|_| self.piece());
            self.in_handler = false;
            self.add(Op::Ret);
            self.function = Some(start);
        }
        let mut entries = vec![0; board.vectors().into()];
        for interrupt in self.interrupts.clone() {
            entries[usize::from(board.number(interrupt))] = self.program.here();
            self.handler(interrupt);
        }
        entries[0] = self.program.here();
        for (number, entry) in (0..).zip(&entries) {
            // Vectors that are not used lead to the main program, which nothing does.
            let target = if *entry == 0 { entries[0] } else { *entry };
            self.program.replace(board.vector_words * number, board.jump(target));
        }
        self.main();
    }

    fn add(&mut self, op: Op) {
        self.program.add(op);
    }

    fn register(&mut self) -> u8 {
        let index = self.random.below(self.registers.len());
        self.registers[index]
    }

    fn cell(&mut self) -> u16 {
        self.random.pick(&CELLS)
    }

    /// An output, mostly one of two bits.
    fn output(&mut self) -> (u16, u8) {
        (self.random.pick(&[PORTB, GPIOR0]), self.random.below(2))
    }

    fn mask(&mut self, register: u8) {
        let mask = self.random.pick(&[1, 1, 3]);
        self.add(Op::Constant(Constant::Andi, register, mask));
    }

    // Handlers.

    fn handler(&mut self, vector: u16) {
        self.in_handler = true;
        match self.random.below(5) {
            0 | 1 => {
                (0..1 + self.random.below(2)).for_each(|_| self.bit_of_handler());
                self.switch_off(vector, None);
            }
            // A careless one gives nothing back.
            2 if self.random.once_in(2) => {
                if let Some(function) = self.function.filter(|_| self.function_is_plain) {
                    self.add(Op::Rcall(function));
                }
                self.registers = if self.random.once_in(2) { vec![19] } else { vec![HANDLER] };
                (0..1 + self.random.below(2)).for_each(|_| self.piece());
            }
            _ => self.careful_handler(vector),
        }
        self.add(Op::Reti);
        self.registers = MAIN.to_vec();
        self.in_handler = false;
    }

    fn careful_handler(&mut self, vector: u16) {
        let saves_flags = !self.random.once_in(8);
        self.add(Op::Push(HANDLER));
        if saves_flags {
            self.program.extend([Op::In(HANDLER, SREG), Op::Push(HANDLER)]);
        }
        // A handler that keeps itself out may let others in.
        let nests = vector < 3 && self.random.once_in(8);
        if nests {
            self.switch(vector, false, Some(HANDLER));
            self.add(Op::Sei);
        }
        let start = self.random.pick(&[
            Op::In(HANDLER, GPIOR0),
            Op::In(HANDLER, PORTB),
            Op::Lds(HANDLER, CELLS[0]),
            Op::Lds(HANDLER, CELLS[1]),
            Op::Constant(Constant::Ldi, HANDLER, 1),
            Op::Constant(Constant::Ldi, HANDLER, 2),
        ]);
        self.add(start);
        self.registers = vec![HANDLER];
        (0..1 + self.random.below(2)).for_each(|_| self.piece());
        if self.random.once_in(2) {
            let cell = self.cell();
            self.mask(HANDLER);
            self.add(Op::Sts(cell, HANDLER));
        }
        if nests {
            self.add(Op::Cli);
            self.switch(vector, true, Some(HANDLER));
        }
        self.switch_off(vector, Some(HANDLER));
        if saves_flags {
            self.program.extend([Op::Pop(HANDLER), Op::Out(SREG, HANDLER)]);
        }
        self.add(Op::Pop(HANDLER));
    }

    /// Some handlers switch themselves off.
    fn switch_off(&mut self, vector: u16, register: Option<u8>) {
        if vector < 3 && self.random.once_in(5) {
            self.switch(vector, false, register);
        }
    }

    /// Switches INT0 or INT1 on or off, by SBI or CBI, or in a register that the code at hand may use. Without one, nothing is done.
    fn switch(&mut self, vector: u16, value: bool, register: Option<u8>) {
        match (self.program.board.general, register) {
            (None, _) => self.add(Op::SetBit(EIMSK, vector as u8 - 1, value)),
            (Some([mask, _]), Some(register)) => {
                let changes = if value { (Constant::Ori, mask) } else { (Constant::Andi, !mask) };
                self.program.extend([
                    Op::In(register, EIMSK),
                    Op::Constant(changes.0, register, changes.1),
                    Op::Out(EIMSK, register),
                    Op::Constant(Constant::Andi, register, 3),
                ]);
            }
            (Some(_), None) => {}
        }
    }

    fn bit_of_handler(&mut self) {
        let (output, bit) = self.output();
        match self.random.below(6) {
            0 => {
                let pin = self.random.below(2);
                let value = self.random.once_in(2);
                self.add(Op::SkipIo(PINB, pin, value));
            }
            1 => {
                let (input, bit) = self.output();
                let value = self.random.once_in(2);
                self.add(Op::SkipIo(input, bit, value));
            }
            2 => return self.add(Op::SetBit(PINB, bit, true)),
            _ => {}
        }
        let value = !self.random.once_in(3);
        self.add(Op::SetBit(output, bit, value));
    }

    // The main program.

    fn main(&mut self) {
        let mut places: Vec<Place> = MAIN.map(Place::Register).to_vec();
        places.extend(CELLS.map(Place::Cell));
        for _ in 0..1 + self.random.below(2) {
            let index = self.random.below(places.len());
            self.program.observed.push(places.remove(index));
        }
        self.initialise();
        if self.random.once_in(6) {
            let register = self.register();
            self.add(Op::In(register, PINB));
            self.mask(register);
        }
        self.enable();
        (0..self.random.below(2)).for_each(|_| self.piece());
        if !self.random.once_in(12) {
            self.add(Op::Sei);
        }
        let start = self.program.here();
        (0..1 + self.random.below(5)).for_each(|_| self.piece());
        if self.random.once_in(4) {
            // The loop may be left.
            let register = self.register();
            let value = self.random.once_in(2);
            self.add(Op::SkipRegister(register, 0, value));
            self.add(Op::Rjmp(start));
            (0..self.random.below(2)).for_each(|_| self.piece());
            let end = self.program.here();
            self.add(Op::Rjmp(end));
        } else {
            self.add(Op::Rjmp(start));
        }
    }

    /// Writes all registers and cells, those first that formulas look at.
    fn initialise(&mut self) {
        let observed = self.program.observed.clone();
        let is_first = |register: &u8| observed.contains(&Place::Register(*register));
        let mut registers: Vec<u8> = MAIN.iter().copied().filter(is_first).collect();
        registers.extend(MAIN.iter().copied().filter(|register| !is_first(register)));
        registers.push(HANDLER);
        let cells_first = observed.iter().any(|place| matches!(place, Place::Cell(_)));
        for (index, register) in registers.into_iter().enumerate() {
            let value = self.random.below(2);
            self.add(Op::Constant(Constant::Ldi, register, value));
            if index == 0 && cells_first {
                CELLS.iter().for_each(|cell| self.program.add(Op::Sts(*cell, register)));
            }
        }
        if !cells_first {
            for cell in CELLS {
                let register = self.register();
                self.add(Op::Sts(cell, register));
            }
        }
    }

    fn enable(&mut self) {
        let board = self.program.board;
        let mut mask = 0;
        for interrupt in self.interrupts.iter().map(|interrupt| board.interrupt(*interrupt)) {
            mask |= if interrupt.is_in_pcicr { 0 } else { interrupt.mask };
        }
        if self.interrupts.iter().any(|interrupt| *interrupt < 3) && !self.random.once_in(4) {
            self.program.extend([Op::Constant(Constant::Ldi, 16, board.edges), Op::Sts(EICRA, 16)]);
        }
        if mask != 0 {
            self.program.extend([Op::Constant(Constant::Ldi, 16, mask), Op::Out(EIMSK, 16)]);
        }
        if board.general.is_some() {
            // The register is within two bits again.
            self.program.extend([Op::Constant(Constant::Ldi, 16, 1), Op::Sts(PCMSK0, 16)]);
        } else if self.interrupts.contains(&3) {
            self.program.extend([Op::Constant(Constant::Ldi, 16, 1), Op::Sts(PCMSK0, 16), Op::Sts(PCICR, 16)]);
        }
    }

    /// Some instructions that leave registers within two bits.
    fn piece(&mut self) {
        let (d, r) = (self.register(), self.register());
        match self.random.below(if self.in_handler { 13 } else { 21 }) {
            0 => {
                let one = self.random.pick(&[One::Inc, One::Dec, One::Com, One::Lsr, One::Inc]);
                self.add(Op::One(one, d));
                self.mask(d);
            }
            1 => {
                let two = self.random.pick(&[Two::Mov, Two::Add, Two::Sub, Two::And, Two::Or, Two::Eor]);
                self.add(Op::Two(two, d, r));
                self.mask(d);
            }
            2 => {
                let constant = self.random.pick(&[Constant::Ldi, Constant::Andi, Constant::Ori, Constant::Ldi]);
                let k = self.random.below(3);
                self.add(Op::Constant(constant, d, k));
            }
            3 => self.memory(d),
            4 | 5 => {
                let (output, bit) = self.output();
                let value = self.random.once_in(2);
                self.add(Op::SetBit(output, bit, value));
            }
            6 | 7 => self.branch(d, r),
            8 => self.skip(d),
            9 | 11 | 12 => {
                let (output, _) = self.output();
                self.mask(d);
                self.add(Op::Out(output, d));
            }
            10 => match self.function.filter(|_| self.registers.len() > 1) {
                Some(function) => self.add(Op::Rcall(function)),
                None => self.add(Op::Nop),
            },
            13 => self.poll(),
            14 | 15 => self.critical_section(r),
            16 => {
                self.add(Op::Push(d));
                self.single();
                self.add(Op::Pop(r));
            }
            17 => {
                // A pin, into a register.
                self.add(Op::Constant(Constant::Ldi, d, 0));
                let pin = self.random.below(2);
                let value = self.random.once_in(2);
                self.add(Op::SkipIo(PINB, pin, value));
                self.add(Op::Constant(Constant::Ldi, d, 1));
            }
            18 => {
                let (from, to) = (self.random.below(2), self.random.below(2));
                self.program.extend([Op::Bst(d, from), Op::Bld(r, to)]);
            }
            19 if !self.interrupts.is_empty() => {
                let vector = self.random.pick(&self.interrupts.clone());
                if vector < 3 {
                    let value = !self.random.once_in(3);
                    self.switch(vector, value, Some(d));
                }
            }
            _ => self.single(),
        }
    }

    /// One instruction of one word that any other may be followed by.
    fn single(&mut self) {
        let (d, r) = (self.register(), self.register());
        let (output, bit) = self.output();
        let k = self.random.below(3);
        let op = match self.random.below(6) {
            0 => Op::Constant(Constant::Ldi, d, k),
            1 => Op::Constant(Constant::Andi, d, k),
            2 => Op::Two(Two::Mov, d, r),
            3 => Op::SetBit(PINB, bit, true),
            4 => Op::Nop,
            _ => Op::SetBit(output, bit, self.random.once_in(2)),
        };
        self.add(op);
    }

    fn memory(&mut self, d: u8) {
        let cell = self.cell();
        if self.random.once_in(2) {
            self.add(Op::Lds(d, cell));
            if self.random.once_in(2) {
                self.add(Op::One(One::Inc, d));
                self.mask(d);
                self.add(Op::Sts(cell, d));
            }
        } else {
            self.mask(d);
            self.add(Op::Sts(cell, d));
        }
    }

    /// A comparison, and a branch over one instruction or two.
    fn branch(&mut self, d: u8, r: u8) {
        let k = self.random.below(3);
        let compares = if self.random.once_in(2) { Op::Two(Two::Cp, d, r) } else { Op::Constant(Constant::Cpi, d, k) };
        self.add(compares);
        let at = self.program.here();
        self.add(Op::Nop);
        (0..1 + self.random.below(2)).for_each(|_| self.single());
        let (flag, value) = (self.random.pick(&[Z, Z, C]), self.random.once_in(2));
        self.program.replace(at, Op::Branch(flag, value, self.program.here()));
    }

    fn skip(&mut self, d: u8) {
        let value = self.random.once_in(2);
        let (output, bit) = self.output();
        let pin = self.random.below(2);
        let skips = match self.random.below(3) {
            0 => Op::SkipRegister(d, bit, value),
            1 => Op::SkipIo(PINB, pin, value),
            _ => Op::SkipIo(output, bit, value),
        };
        self.add(skips);
        if self.random.once_in(4) {
            let cell = self.cell();
            self.add(Op::Lds(d, cell));
        } else {
            self.single();
        }
    }

    /// Waits for a bit that handlers may set, or for a pin.
    fn poll(&mut self) {
        let start = self.program.here();
        let value = !self.random.once_in(4);
        let (input, bit) = self.output();
        match self.random.below(4) {
            0 => self.add(Op::SkipIo(PINB, bit, value)),
            1 => {
                let (cell, register) = (self.cell(), self.register());
                self.program.extend([Op::Lds(register, cell), Op::SkipRegister(register, bit, value)]);
            }
            _ => self.add(Op::SkipIo(input, bit, value)),
        }
        self.add(Op::Rjmp(start));
    }

    /// Something with interrupts off.
    fn critical_section(&mut self, r: u8) {
        let restores = self.random.once_in(3);
        if restores {
            self.add(Op::In(r, SREG));
        }
        self.add(Op::Cli);
        for _ in 0..self.random.below(3) {
            self.single();
        }
        if restores {
            self.add(Op::Out(SREG, r));
            self.mask(r);
        } else {
            self.add(Op::Sei);
        }
    }
}
