// Programs for an ATmega328P, shared by the tests of the crate and the oracle that runs them in libsimavr. The trap is a reserved opcode, or
// flash word address 0x70, to which a return address was changed.

use avr_isa::DataAddress;
use avr_isa::{Instruction as I, LpmMode};

/// Data addresses: variables, SPL and SPH, SREG, and what controls INT0 and INT1.
const X: DataAddress = DataAddress(0x100);
const Y: DataAddress = DataAddress(0x101);
const COPY: DataAddress = DataAddress(0x102);
const SPL: u8 = 0x3d;
const SPH: u8 = 0x3e;
const SREG: u8 = 0x3f;
const EICRA: DataAddress = DataAddress(0x69);
const EIMSK: u8 = 0x1d;
const EIFR: u8 = 0x1c;
const PIND: u8 = 0x09;
const DDRD: u8 = 0x0a;
const EECR: u8 = 0x1f;
const RAMEND: DataAddress = DataAddress(0x8ff);

/// Flash word addresses of the handlers of INT0 and INT1, and of the main program.
const HANDLERS: [u32; 2] = [0x20, 0x40];
const MAIN: u32 = 0x60;

const SEI: I = I::Bset { flag: 7 };
const CLI: I = I::Bclr { flag: 7 };

fn sts(address: DataAddress, register: u8) -> I {
    I::Sts { address, rr: r(register) }
}

fn lds(register: u8, address: DataAddress) -> I {
    I::Lds { rd: r(register), address }
}

fn ldi(register: u8, k: u8) -> I {
    I::Ldi { rd: r(register), k }
}

/// A program whose handlers consist of these instructions and RETI.
fn program(handlers: [&[I]; 2], enabled: u8, main: &[I]) -> Code {
    let mut code = Code::with_vectors(MAIN, &HANDLERS);
    for (handler, entry) in handlers.iter().zip(HANDLERS) {
        code.place(entry);
        handler.iter().for_each(|one| code.add(*one));
        code.add(I::Reti);
    }
    code.place(MAIN);
    begin(&mut code, enabled);
    main.iter().for_each(|one| code.add(*one));
    code
}

/// Enables the interrupts of a mask, at any change of their pins.
fn begin(code: &mut Code, enabled: u8) {
    [ldi(16, 5), sts(EICRA, 16), ldi(16, enabled), I::Out { io: EIMSK, rr: r(16) }]
        .into_iter()
        .for_each(|one| code.add(one));
}

/// A program with a trap where a register has another value at the end, and an endless loop behind it.
fn checked(handlers: [&[I]; 2], enabled: u8, main: &[I], register: u8, value: u8) -> Code {
    let mut code = program(handlers, enabled, main);
    ends(&mut code, register, value);
    code
}

/// Adds a trap where a register does not have a value, and an endless loop.
fn ends(code: &mut Code, register: u8, value: u8) {
    code.add(I::Cpi { rd: r(register), k: value });
    code.add(I::Brbs { flag: 1, offset: 1 });
    code.words.push(0xffff);
    code.add(I::Rjmp { offset: -1 });
}

/// Instructions that leave in r18 what a variable is more than it was less 1 before some time with interrupts: 1 if it stays.
fn less_than_before() -> Vec<I> {
    let before = [I::In { rd: r(24), io: PIND }, sts(X, 24), I::Subi { rd: r(24), k: 1 }];
    interrupted(&before, &[lds(18, X), I::Sub { rd: r(18), rr: r(24) }])
}

/// A program that jumps to one of sixteen places by a table in the flash, while interrupts come. There are traps between the places.
fn jumps_through_a_table() -> Code {
    const TABLE: u32 = 0x100;
    const PLACES: u32 = 0x133;
    let load = |rd: u8, mode| I::Lpm { rd: r(rd), mode };
    let main = [
        SEI,
        I::In { rd: r(30), io: PIND },
        I::Andi { rd: r(30), k: 15 },
        I::Add { rd: r(30), rr: r(30) },
        ldi(31, 2 * (TABLE >> 8) as u8),
        load(0, LpmMode::PostIncrement),
        load(31, LpmMode::Plain),
        I::Mov { rd: r(30), rr: r(0) },
        I::Ijmp,
    ];
    let mut code = program([&counts(X), &[]], 1, &main);
    code.place(TABLE);
    let place = |index: u32| PLACES + 3 * (7 * index % 16);
    (0..16).for_each(|index| code.words.push(place(index) as u16));
    code.place(PLACES);
    for _ in 0..16 {
        code.add(I::Nop);
        code.add(I::Rjmp { offset: -1 });
        code.words.push(0xffff);
    }
    code
}

/// `__udivmodqi4` of libgcc, which divides r24 by r22, with its last instruction before the return.
fn division(last: I) -> [I; 12] {
    [
        I::Sub { rd: r(25), rr: r(25) },
        ldi(23, 9),
        I::Rjmp { offset: 4 },
        I::Adc { rd: r(25), rr: r(25) },
        I::Cp { rd: r(25), rr: r(22) },
        I::Brbs { flag: 0, offset: 1 },
        I::Sub { rd: r(25), rr: r(22) },
        I::Adc { rd: r(24), rr: r(24) },
        I::Dec { rd: r(23) },
        I::Brbc { flag: 1, offset: -7 },
        last,
        I::Ret,
    ]
}

/// A program that divides a number below 128 while interrupts come, after instructions that put the divisor into r22, with a trap where the quotient is more than a limit.
fn divides(handler: &[I], divisor: &[I], last: I, limit: u8) -> Code {
    const ROUTINE: u32 = 0x100;
    let calls = [SEI, I::Call { target: ROUTINE }, CLI];
    let number = [&[I::In { rd: r(24), io: PIND }, I::Andi { rd: r(24), k: 0x7f }], &calls[..]].concat();
    let compared = [ldi(18, 0), I::Cpi { rd: r(24), k: limit + 1 }, I::Brbs { flag: 0, offset: 1 }, ldi(18, 1)];
    let mut code = checked([handler, &[]], 1, &[divisor, &number, &compared].concat(), 18, 0);
    code.place(ROUTINE);
    division(last).into_iter().for_each(|one| code.add(one));
    code
}

/// Instructions that leave a byte in a variable and every register and flag as it was.
fn leaves(address: DataAddress, value: u8) -> Vec<I> {
    vec![I::Push { rr: r(24) }, ldi(24, value), sts(address, 24), I::Pop { rd: r(24) }]
}

/// Instructions that count a variable up, and keep registers and flags.
fn counts(address: DataAddress) -> Vec<I> {
    vec![
        I::Push { rr: r(24) },
        I::In { rd: r(24), io: SREG },
        I::Push { rr: r(24) },
        lds(24, address),
        I::Inc { rd: r(24) },
        sts(address, 24),
        I::Pop { rd: r(24) },
        I::Out { io: SREG, rr: r(24) },
        I::Pop { rd: r(24) },
    ]
}

/// The power of interrupts between the last two of these instructions.
fn interrupted(before: &[I], after: &[I]) -> Vec<I> {
    [before, &[SEI, I::Nop, I::Nop, CLI], after].concat()
}

/// A handler of INT0 that lets INT1 in and keeps itself away, before these instructions; flags are as they were.
fn lets_in(before: &[I], after: &[I]) -> Vec<I> {
    let off = [I::Cbi { io: EIMSK, bit: 0 }, I::Sbi { io: EIMSK, bit: 1 }, SEI, I::Nop, I::Nop, CLI];
    let on = [I::Cbi { io: EIMSK, bit: 1 }, I::Sbi { io: EIMSK, bit: 0 }];
    [before, &off, &on, after].concat()
}

/// A handler of INT0 that tells in Y whether it was active already: X is 1 where it is.
fn tells_of_itself() -> Vec<I> {
    let begins = [
        I::Push { rr: r(24) },
        I::In { rd: r(24), io: SREG },
        I::Push { rr: r(24) },
        I::Push { rr: r(25) },
        lds(25, X),
        lds(24, Y),
        I::Or { rd: r(24), rr: r(25) },
        sts(Y, 24),
        I::Cpi { rd: r(25), k: 0 },
        I::Brbc { flag: 1, offset: 14 },
        ldi(24, 1),
        sts(X, 24),
    ];
    let ends = [
        ldi(24, 0),
        sts(X, 24),
        I::Pop { rd: r(25) },
        I::Pop { rd: r(24) },
        I::Out { io: SREG, rr: r(24) },
        I::Pop { rd: r(24) },
    ];
    lets_in(&begins, &ends)
}

/// Pushes a register and a copy of SREG, and pops them behind these instructions.
fn saves(register: u8, instructions: &[I]) -> Vec<I> {
    let [rd, rr] = [r(register); 2];
    let before = [I::Push { rr }, I::In { rd, io: SREG }, I::Push { rr }];
    let after = [I::Pop { rd }, I::Out { io: SREG, rr }, I::Pop { rd }];
    [&before, instructions, &after].concat()
}

/// The programs in which a handler interrupts another one, and of which some run comes to the trap.
fn nested() -> Vec<(&'static str, Code)> {
    let zeros = [ldi(17, 0), sts(X, 17), sts(Y, 17)];
    let sets = leaves(X, 3);
    let mut programs = Vec::new();

    // A cell that a handler has read is changed by a handler that interrupts it.
    let compares = lets_in(&[lds(24, X)], &[lds(25, X), I::Sub { rd: r(25), rr: r(24) }, sts(Y, 25)]);
    let compares = saves(24, &[&[I::Push { rr: r(25) }], &compares[..], &[I::Pop { rd: r(25) }]].concat());
    programs.push(("nested-read", checked([&compares, &sets], 1, &interrupted(&zeros, &[lds(18, Y)]), 18, 0)));

    // The main program sees the writes of a handler that interrupts another one.
    let lets = lets_in(&[], &[]);
    programs.push(("nested-write", checked([&lets, &sets], 1, &interrupted(&zeros, &[lds(18, X)]), 18, 0)));

    // A register of a handler is changed by one that interrupts it.
    let keeps = lets_in(&[I::Push { rr: r(24) }, ldi(24, 0)], &[sts(Y, 24), I::Pop { rd: r(24) }]);
    programs
        .push(("nested-register", checked([&keeps, &[ldi(24, 9)]], 1, &interrupted(&zeros, &[lds(18, Y)]), 18, 0)));

    // A handler gives back what a register was in the main program, and not in the handler that it interrupts.
    let before = [I::Push { rr: r(24) }, ldi(24, 7), I::Cbi { io: EIMSK, bit: 0 }, I::Sbi { io: EIMSK, bit: 1 }];
    let after = [I::Cbi { io: EIMSK, bit: 1 }, I::Sbi { io: EIMSK, bit: 0 }, sts(Y, 24), I::Pop { rd: r(24) }];
    // It comes once only.
    let changes = [&before[..], &[SEI, I::Nop, CLI], &after].concat();
    let returns = [lds(24, RAMEND.wrapping_sub(2))];
    let seven = [ldi(24, 0), ldi(17, 7), sts(Y, 17)];
    programs
        .push(("nested-entry", checked([&changes, &returns], 1, &interrupted(&seven, &[lds(18, Y)]), 18, 7)));

    // A handler keeps itself away by its enable bit, which the one that interrupts it sets.
    let sets_bit = [I::Sbi { io: EIMSK, bit: 0 }];
    let comes_again = interrupted(&zeros, &[lds(18, Y)]);
    programs.push(("nested-enabled", checked([&tells_of_itself(), &sets_bit], 1, &comes_again, 18, 0)));

    // A handler overwrites the return address of the one that it interrupts: that returns to the trap.
    let mut redirected = Code::with_vectors(MAIN, &HANDLERS);
    redirected.place(HANDLERS[0]);
    lets.iter().for_each(|one| redirected.add(*one));
    redirected.add(I::Reti);
    redirected.place(HANDLERS[1]);
    leaves(RAMEND, 0x70).into_iter().for_each(|one| redirected.add(one));
    redirected.add(I::Reti);
    redirected.place(MAIN);
    begin(&mut redirected, 1);
    [SEI, I::Rjmp { offset: -1 }].into_iter().for_each(|one| redirected.add(one));
    redirected.place(0x70);
    redirected.words.push(0xffff);
    programs.push(("nested-redirected", redirected));

    // The frame of a handler that interrupts another one lies in a variable of which no symbol tells.
    let low = [
        &[ldi(17, 1), I::Out { io: SPH, rr: r(17) }, ldi(17, 5), I::Out { io: SPL, rr: r(17) }][..],
        &interrupted(&[ldi(17, 0), sts(DataAddress(0x103), 17)], &[lds(18, DataAddress(0x103))]),
    ];
    programs.push(("nested-frame", checked([&lets, &[]], 1, &low.concat(), 18, 0)));

    programs
}

/// The programs of which some run comes to the trap.
fn all() -> Vec<(&'static str, Code)> {
    let zero = [ldi(17, 0), sts(X, 17)];
    let counted = counts(X);
    let mut programs = Vec::new();

    // A variable that a handler counts is read behind a short time with interrupts.
    programs.push(("counted", checked([&counted, &[]], 1, &interrupted(&zero, &[lds(18, X)]), 18, 0)));

    // A variable from which was subtracted is counted by a handler.
    programs.push(("difference", checked([&counted, &[]], 1, &less_than_before(), 18, 1)));

    // A cell below the stack pointer is read back behind a handler.
    let below = interrupted(&[ldi(17, 0x55), I::Push { rr: r(17) }, I::Pop { rd: r(17) }], &[lds(18, RAMEND)]);
    programs.push(("below", checked([&counted, &[]], 1, &below, 18, 0x55)));

    // A handler reads the stack pointer as a number.
    let reads = [I::Push { rr: r(24) }, I::In { rd: r(24), io: SPL }, sts(X, 24), I::Pop { rd: r(24) }];
    programs.push(("pointer", checked([&reads, &[]], 1, &interrupted(&zero, &[lds(18, X)]), 18, 0)));

    // A handler changes a register.
    programs.push(("register", checked([&[ldi(18, 7)], &[]], 1, &interrupted(&[ldi(18, 0)], &[]), 18, 0)));

    // A handler changes a flag.
    let flag = interrupted(&[ldi(18, 0), I::Bclr { flag: 6 }], &[I::Bld { rd: r(18), bit: 0 }]);
    programs.push(("flag", checked([&[I::Bset { flag: 6 }], &[]], 1, &flag, 18, 0)));

    // A handler enables another interrupt.
    let enables = [I::Sbi { io: EIMSK, bit: 1 }];
    let sets = leaves(X, 3);
    programs.push(("enabled", checked([&enables, &sets], 1, &interrupted(&zero, &[lds(18, X)]), 18, 0)));

    // The enable bit of one interrupt is cleared, and the handler of another one writes the variable.
    let masked = [&[SEI, I::Nop, I::Cbi { io: EIMSK, bit: 0 }], &zero[..], &[I::Nop, lds(18, X), CLI]].concat();
    programs.push(("masked-half", checked([&counted, &sets], 3, &masked, 18, 0)));

    // The handler of another interrupt sets that enable bit again.
    let enables_again = [I::Sbi { io: EIMSK, bit: 0 }];
    programs.push(("unmasked", checked([&counted, &enables_again], 3, &masked, 18, 0)));

    // A handler overwrites the return address of the function that it interrupts: it returns to the trap.
    let mut returns = Code::with_vectors(MAIN, &HANDLERS);
    returns.place(HANDLERS[0]);
    [I::Push { rr: r(24) }, ldi(24, 0x70), sts(RAMEND, 24), I::Pop { rd: r(24) }, I::Reti]
        .into_iter()
        .for_each(|one| returns.add(one));
    returns.place(MAIN);
    begin(&mut returns, 1);
    returns.call(returns.words.len() as u32 + 2);
    returns.add(I::Rjmp { offset: -1 });
    [SEI, I::Nop, I::Nop, CLI, I::Ret].into_iter().for_each(|one| returns.add(one));
    returns.place(0x70);
    returns.words.push(0xffff);
    programs.push(("returns", returns));

    // A handler overwrites its own return address: it returns to the trap.
    let mut redirected = Code::with_vectors(MAIN, &HANDLERS);
    redirected.place(HANDLERS[0]);
    [I::Push { rr: r(24) }, ldi(24, 0x70), sts(RAMEND, 24), I::Pop { rd: r(24) }, I::Reti]
        .into_iter()
        .for_each(|one| redirected.add(one));
    redirected.place(MAIN);
    begin(&mut redirected, 1);
    [SEI, I::Rjmp { offset: -1 }].into_iter().for_each(|one| redirected.add(one));
    redirected.place(0x70);
    redirected.words.push(0xffff);
    programs.push(("redirected", redirected));

    // A window to write the EEPROM lapses in an interrupt: the byte is not written.
    let written = [
        I::Sbic { io: EECR, bit: 1 },
        I::Rjmp { offset: -2 },
        ldi(17, 0),
        I::Out { io: 0x21, rr: r(17) },
        I::Out { io: 0x22, rr: r(17) },
        ldi(17, 0x42),
        I::Out { io: 0x20, rr: r(17) },
        SEI,
        I::Sbi { io: EECR, bit: 2 },
        I::Sbi { io: EECR, bit: 1 },
        CLI,
        I::Sbic { io: EECR, bit: 1 },
        I::Rjmp { offset: -2 },
        I::Sbi { io: EECR, bit: 0 },
        I::In { rd: r(18), io: 0x20 },
    ];
    programs.push(("window", checked([&[], &[]], 1, &written, 18, 0x42)));

    // A word that a handler changes at once is read in two halves: 0x00ff and 0x0100 give 0x01ff.
    let changes = [
        I::Push { rr: r(24) },
        I::In { rd: r(24), io: SREG },
        I::Push { rr: r(24) },
        lds(24, X),
        I::Com { rd: r(24) },
        sts(X, 24),
        lds(24, Y),
        I::Inc { rd: r(24) },
        I::Andi { rd: r(24), k: 1 },
        sts(Y, 24),
        I::Pop { rd: r(24) },
        I::Out { io: SREG, rr: r(24) },
        I::Pop { rd: r(24) },
    ];
    let torn = [
        &[ldi(17, 0xff), sts(X, 17), ldi(17, 0), sts(Y, 17), SEI, I::Nop, lds(18, X), lds(19, Y), CLI][..],
        // 1 for 0x01ff and 0x0000, 0 for what the word is.
        &[I::Bst { rd: r(18), bit: 0 }, ldi(18, 0), I::Bld { rd: r(18), bit: 0 }, I::Add { rd: r(18), rr: r(19) }],
    ];
    programs.push(("torn", checked([&changes, &[]], 1, &torn.concat(), 18, 1)));

    // The frame of a handler lies in a variable of which no symbol tells.
    let low = [
        &[ldi(17, 1), I::Out { io: SPH, rr: r(17) }, ldi(17, 3), I::Out { io: SPL, rr: r(17) }][..],
        &interrupted(&[ldi(17, 0), sts(DataAddress(0x103), 17)], &[lds(18, DataAddress(0x103))]),
    ];
    programs.push(("frame", checked([&[], &[]], 1, &low.concat(), 18, 0)));

    // An alarm behind which execution goes on: nothing is read outside of the memory, because bit 7 of the difference is 0.
    let mut alarm = program([&[], &[]], 0, &[I::In { rd: r(18), io: PIND }, I::Mov { rd: r(19), rr: r(18) }]);
    [I::Lsr { rd: r(19) }, I::Add { rd: r(19), rr: r(19) }, I::Sub { rd: r(18), rr: r(19) }]
        .into_iter()
        .for_each(|one| alarm.add(one));
    [I::Sbrc { rr: r(18), bit: 7 }, lds(20, RAMEND.wrapping_add(1))].into_iter().for_each(|one| alarm.add(one));
    ends(&mut alarm, 18, 0);
    programs.push(("alarm", alarm));

    // A copy of a variable and the variable differ behind a handler.
    let same = [
        &[lds(18, X), sts(COPY, 18), SEI, I::Nop, I::Nop, CLI, lds(19, X), lds(18, COPY)][..],
        &[I::Sub { rd: r(18), rr: r(19) }],
    ];
    programs.push(("copied", checked([&counted, &[]], 1, &same.concat(), 18, 0)));

    // A flag that was set and that nobody cleared is 0, because the entry into a handler cleared it.
    let acknowledged = [
        // The pin is an output, and is changed until that sets the flag.
        &[ldi(17, 4), I::Out { io: DDRD, rr: r(17) }, I::Out { io: PIND, rr: r(17) }][..],
        &[I::Sbis { io: EIFR, bit: 0 }, I::Rjmp { offset: -3 }],
        &interrupted(&[], &[I::In { rd: r(18), io: EIFR }, I::Andi { rd: r(18), k: 1 }]),
    ];
    programs.push(("acknowledged", checked([&[], &[]], 1, &acknowledged.concat(), 18, 1)));

    // A handler returns by RET, so that interrupts are off behind it.
    let plain = [SEI, I::Nop, I::Nop, I::In { rd: r(18), io: SREG }, I::Andi { rd: r(18), k: 0x80 }];
    programs.push(("plain", checked([&[I::Ret], &[]], 1, &plain, 18, 0x80)));

    // A handler that comes twice adds what it found.
    let doubles = [
        I::Push { rr: r(24) },
        I::In { rd: r(24), io: SREG },
        I::Push { rr: r(24) },
        lds(24, X),
        sts(Y, 24),
        I::Inc { rd: r(24) },
        sts(X, 24),
        I::Pop { rd: r(24) },
        I::Out { io: SREG, rr: r(24) },
        I::Pop { rd: r(24) },
    ];
    let twice = interrupted(&[ldi(17, 0), sts(X, 17), sts(Y, 17)], &[lds(18, Y)]);
    programs.push(("second", checked([&doubles, &[]], 1, &twice, 18, 0)));

    // A number is below 0x0150, and a handler makes it 0x0201.
    let changes = [I::Push { rr: r(24) }, ldi(24, 1), sts(X, 24), ldi(24, 2), sts(Y, 24), I::Pop { rd: r(24) }];
    let below = |then: &[I]| {
        let begins = [lds(24, X), lds(25, Y), I::Subi { rd: r(24), k: 0x50 }, I::Sbci { rd: r(25), k: 1 }];
        // 0 where the number was not below, so that only numbers that were go on.
        let chosen = [ldi(18, 0), I::Brbc { flag: 0, offset: 13 }];
        let ends = [lds(24, X), lds(25, Y), I::Cpi { rd: r(24), k: 0x50 }, ldi(19, 1), I::Cpc { rd: r(25), rr: r(19) }];
        [&begins[..], &chosen, then, &ends, &[I::Brbs { flag: 0, offset: 1 }, ldi(18, 1)]].concat()
    };
    let numbers = [I::In { rd: r(17), io: PIND }, sts(X, 17), I::Andi { rd: r(17), k: 1 }, sts(Y, 17), ldi(17, 0)];
    let number = [&numbers[..], &below(&[SEI, I::Nop, I::Nop, CLI])].concat();
    programs.push(("number", checked([&changes, &[]], 1, &number, 18, 0)));

    // A handler compares what a variable was when it began, which it has overwritten.
    let less = [I::Cpi { rd: r(24), k: 3 }, I::Cpc { rd: r(25), rr: r(25) }];
    let compares = [&less[..], &[I::Brbs { flag: 0, offset: 2 }, sts(Y, 24)]].concat();
    let overwrites = [&[lds(24, X), ldi(25, 0), sts(X, 25)], &compares[..]].concat();
    let any = [ldi(17, 0), sts(Y, 17), I::In { rd: r(17), io: PIND }, sts(X, 17)];
    let overwritten = saves(24, &saves(25, &overwrites));
    programs.push(("overwritten", checked([&overwritten, &[]], 1, &interrupted(&any, &[lds(18, Y)]), 18, 0)));

    // A handler changes the remainder.
    let com = I::Com { rd: r(24) };
    programs.push(("divided-changed", divides(&[ldi(25, 0x80)], &[ldi(22, 10)], com, 12)));

    // A divisor is one of some, and the least of them counts.
    let some = [I::In { rd: r(22), io: PIND }, I::Andi { rd: r(22), k: 3 }, I::Inc { rd: r(22) }];
    programs.push(("divided-by-some", divides(&counts(COPY), &some, com, 63)));

    // A divisor is 0 at times.
    programs.push(("divided-by-zero", divides(&counts(COPY), &some[..2], com, 127)));

    // A routine begins like a division.
    programs.push(("divided-otherwise", divides(&counts(COPY), &[ldi(22, 10)], I::Nop, 12)));

    programs.extend(nested());
    programs
}

/// The programs of which no run comes to the trap, which a map tells.
fn harmless() -> Vec<(&'static str, Code)> {
    let zero = [ldi(17, 0), sts(X, 17)];
    let counted = counts(X);
    let mut programs = Vec::new();

    // Interrupts are off from the write to the read.
    let off = [&[SEI, I::Nop, CLI], &zero[..], &[I::Nop, lds(18, X)]].concat();
    programs.push(("off", checked([&counted, &[]], 1, &off, 18, 0)));

    // A quotient is what it is, whatever comes in between.
    let com = I::Com { rd: r(24) };
    programs.push(("divided", divides(&counts(COPY), &[ldi(22, 10)], com, 12)));

    // A number that was compared stays as it was.
    let numbers = [I::In { rd: r(17), io: PIND }, sts(X, 17), I::Andi { rd: r(17), k: 1 }, sts(Y, 17), ldi(17, 0)];
    let below = [lds(24, X), lds(25, Y), I::Subi { rd: r(24), k: 0x50 }, I::Sbci { rd: r(25), k: 1 }, ldi(18, 0)];
    let still = [lds(24, X), lds(25, Y), I::Cpi { rd: r(24), k: 0x50 }, ldi(19, 1), I::Cpc { rd: r(25), rr: r(19) }];
    let number = [
        &numbers[..],
        &below,
        &[I::Brbc { flag: 0, offset: 13 }, SEI, I::Nop, I::Nop, CLI],
        &still,
        &[I::Brbs { flag: 0, offset: 1 }, ldi(18, 1)],
    ];
    programs.push(("number", checked([&counts(COPY), &[]], 1, &number.concat(), 18, 0)));

    // A number that is counted to 0 is 0, whatever comes in between.
    let counted_to = |count: I| {
        let number = [I::In { rd: r(17), io: PIND }, I::Andi { rd: r(17), k: 0x3f }, I::Ori { rd: r(17), k: 1 }, SEI];
        [&number[..], &[count, I::Brbc { flag: 1, offset: -2 }]].concat()
    };
    programs.push(("down", checked([&counted, &[]], 1, &counted_to(I::Dec { rd: r(17) }), 17, 0)));
    programs.push(("up", checked([&counted, &[]], 1, &counted_to(I::Inc { rd: r(17) }), 17, 0)));

    programs.push(("table", jumps_through_a_table()));

    // A number that was subtracted from is as it was.
    programs.push(("difference", checked([&counts(COPY), &[]], 1, &less_than_before(), 18, 1)));

    // The instruction behind SEI is executed first.
    let delayed = [&zero[..], &[SEI, CLI, lds(18, X)]].concat();
    programs.push(("delayed", checked([&counted, &[]], 1, &delayed, 18, 0)));

    // The enable bit is cleared from the write to the read, and nothing sets it.
    let masked = [&[SEI, I::Nop, I::Cbi { io: EIMSK, bit: 0 }], &zero[..], &[I::Nop, lds(18, X), CLI]].concat();
    programs.push(("masked", checked([&counted, &[]], 1, &masked, 18, 0)));

    // Registers and flags are as they were behind a handler that restores them.
    let kept = interrupted(&[ldi(18, 5), I::Cpi { rd: r(18), k: 5 }], &[I::Brbs { flag: 1, offset: 1 }, ldi(18, 0)]);
    programs.push(("kept", checked([&counted, &counted], 3, &kept, 18, 5)));

    // A cell that no handler writes stays equal to a register that holds the same.
    let same = interrupted(&[lds(18, Y)], &[lds(19, Y), I::Sub { rd: r(18), rr: r(19) }]);
    programs.push(("same", checked([&counted, &[]], 1, &same, 18, 0)));

    // A handler that keeps itself away by its enable bit is not active twice.
    let zeros = [ldi(17, 0), sts(X, 17), sts(Y, 17)];
    let sets = leaves(COPY, 3);
    let alone = interrupted(&zeros, &[lds(18, Y)]);
    programs.push(("nested-alone", checked([&tells_of_itself(), &sets], 1, &alone, 18, 0)));

    // Registers and stack of a handler are kept by a handler that interrupts it and restores them.
    let keeps = saves(24, &lets_in(&[ldi(24, 5)], &[I::Subi { rd: r(24), k: 5 }, sts(Y, 24)]));
    programs
        .push(("nested-kept", checked([&keeps, &counted], 1, &interrupted(&zeros, &[lds(18, Y)]), 18, 0)));

    // A handler interrupts itself, but no more than twice.
    let again = [lds(24, X), I::Cpi { rd: r(24), k: 2 }, I::Brbs { flag: 1, offset: 8 }, I::Inc { rd: r(24) }, sts(X, 24)];
    let less = [SEI, I::Nop, CLI, I::Dec { rd: r(24) }, sts(X, 24)];
    let twice = saves(24, &[&again[..], &less].concat());
    programs.push(("nested-twice", checked([&twice, &[]], 1, &interrupted(&zeros, &[lds(18, X)]), 18, 0)));

    programs
}
