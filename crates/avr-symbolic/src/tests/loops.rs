//! Small loops with claims about them, true and false ones.

use crate::{Claim, Pattern, Rank, Rounds, Strategy, Term};
use avr_isa::{DataAddress, FlashWordAddress, Instruction as I};
use avr_machine::device::Device;
use avr_machine::{Control, Machine, Options, Program};
use avr_testkit::image::{Code, r};
use std::collections::BTreeMap;
use three_valued::TvByte;

pub(super) const SREG: DataAddress = DataAddress(0x5f);
const PINB: DataAddress = DataAddress(0x23);
const DDRB: DataAddress = DataAddress(0x24);
const DDRD: DataAddress = DataAddress(0x2a);
const TCNT0: DataAddress = DataAddress(0x46);
const GTCCR: DataAddress = DataAddress(0x43);
const TCCR0A: DataAddress = DataAddress(0x44);
const TCCR0B: DataAddress = DataAddress(0x45);
/// The watchdog is off in all regions.
const WDTCSR: DataAddress = DataAddress(0x60);
const TIMSK0: DataAddress = DataAddress(0x6e);
/// The register with the bit that moves the vectors.
const MCUCR: DataAddress = DataAddress(0x55);
const PRR: DataAddress = DataAddress(0x64);
/// The cell that a handler counts in.
const TICKS: DataAddress = DataAddress(0x100);
/// The number of the interrupt of the overflow of timer 0, and the flash word address of its vector.
const OVERFLOW: u8 = 16;
const OVERFLOW_VECTOR: u32 = 0x20;
/// The first instruction of the loop with ticks, as a flash word address.
const TICK_LOOP: u32 = 0x40;

/// A claim and what is true of it.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) machine: Machine,
    pub(super) claim: Claim,
    pub(super) is_true: Option<bool>,
}

pub(super) fn machine(code: &Code) -> Machine {
    let device = Device::named("atmega328p").expect("the device exists");
    let word = |address: u32| code.words.get(address as usize).copied();
    let program = Program::decode(device.memory.flash_words(), device.core.features, word);
    Machine::new(device, program, Options::default())
}

/// All states at an instruction with I as said, a stack pointer in the SRAM, no call, and these cells.
pub(super) fn at(pc: u32, cells: &[(DataAddress, TvByte)]) -> Pattern {
    let mut all = BTreeMap::from([
        (DataAddress(0x5d), TvByte::constant(0xff)),
        (DataAddress(0x5e), TvByte::constant(0x08)),
        (SREG, TvByte::new(0, 0x80)),
        (WDTCSR, TvByte::ZERO),
    ]);
    all.extend(cells.iter().copied());
    Pattern { control: Control { pc: FlashWordAddress(pc), ..Control::default() }, frames: Vec::new(), cells: all }
}

/// An exit of which nothing is demanded but the location.
pub(super) fn exit(pc: u32) -> Pattern {
    let mut pattern = at(pc, &[]);
    pattern.cells.remove(&SREG);
    pattern
}

pub(super) fn register(number: u8) -> DataAddress {
    r(number).address()
}

fn range(low: u8, high: u8) -> TvByte {
    TvByte::UNKNOWN.within(low, high).expect("the range is not empty")
}

fn code(instructions: &[I]) -> Code {
    let mut code = Code::default();
    instructions.iter().for_each(|instruction| code.add(*instruction));
    code
}

/// A number of 16 bits minus 1.
fn less_one(low: u8) -> Term {
    Term::Cells(vec![register(low), register(low + 1)]).minus(Term::Constant(1, 2))
}

fn quiet() -> Vec<Rounds> {
    vec![Rounds::one(Strategy::entering(&[]))]
}

/// `do --a; while (a != 0);` with a counter of 16 bits.
fn counter() -> Code {
    code(&[I::Sbiw { rd: r(24), k: 1 }, I::Brbc { flag: 1, offset: -2 }, I::Nop])
}

fn counters() -> Vec<Case> {
    let claim = Claim { region: at(0, &[]), rank: Rank(vec![less_one(24)]), rounds: quiet(), exits: vec![exit(2)] };
    let case = |name, claim: Claim, is_true| Case { name, machine: machine(&counter()), claim, is_true: Some(is_true) };
    let both = Term::Cells(vec![register(24), register(25)]);
    let open = |region: &mut Pattern| _ = region.cells.remove(&SREG);
    let with = |change: &dyn Fn(&mut Claim)| {
        let mut changed = claim.clone();
        change(&mut changed);
        changed
    };
    vec![
        case("a counter", claim.clone(), true),
        case("a rank that wraps at 0", with(&|claim| claim.rank = Rank(vec![both.clone()])), false),
        case("the low byte alone", with(&|claim| claim.rank = Rank(vec![Term::Cells(vec![register(24)])])), false),
        case(
            "the bytes as a pair",
            with(&|claim| {
                claim.region = at(0, &[(register(24), range(1, 255))]);
                claim.exits.push(at(0, &[(register(24), TvByte::ZERO)]));
                claim.rank = Rank(vec![Term::Cells(vec![register(25)]), Term::Cells(vec![register(24)])]);
            }),
            true,
        ),
        case("a constant", with(&|claim| claim.rank = Rank(vec![Term::Constant(3, 2)])), false),
        case(
            "a small counter",
            with(&|claim| {
                claim.region = at(0, &[(register(25), TvByte::ZERO), (register(24), range(1, 255))]);
                claim.rank = Rank(vec![Term::Cells(vec![register(24)])]);
            }),
            true,
        ),
        case(
            "a region that is not closed",
            with(&|claim| claim.region = at(0, &[(register(25), TvByte::ZERO)])),
            false,
        ),
        case(
            "an exit with what it has",
            with(&|claim| claim.exits = vec![at(2, &[(register(24), TvByte::ZERO), (register(25), TvByte::ZERO)])]),
            true,
        ),
        case(
            "an exit that is not reached",
            with(&|claim| claim.exits = vec![at(2, &[(register(24), TvByte::constant(1))])]),
            false,
        ),
        case("no exit", with(&|claim| claim.exits.clear()), false),
        // Too many interrupts may be enabled.
        Case { is_true: None, ..case("interrupts that may be on", with(&|claim| open(&mut claim.region)), false) },
    ]
}

/// A loop that waits for a pin, which falls into `exit` when it is 1.
fn waits() -> Vec<Case> {
    let pin = code(&[I::Sbis { io: 3, bit: 0 }, I::Rjmp { offset: -2 }, I::Nop]);
    let holding = |value| Strategy { held: BTreeMap::from([(PINB, TvByte::new(value, 1))]), ..Strategy::entering(&[]) };
    let input = (DDRB, TvByte::new(0, 1));
    let case = |name, region: Pattern, rounds: Vec<Rounds>, is_true| Case {
        name,
        machine: machine(&pin),
        claim: Claim { region, rank: Rank(vec![Term::Constant(0, 1)]), rounds, exits: vec![exit(2)] },
        is_true: Some(is_true),
    };
    let unlike = code(&[
        I::In { rd: r(16), io: 3 },
        I::In { rd: r(17), io: 9 },
        I::Eor { rd: r(16), rr: r(17) },
        I::Sbrc { rr: r(16), bit: 0 },
        I::Rjmp { offset: -5 },
        I::Nop,
    ]);
    vec![
        case("a pin that is held", at(0, &[input]), vec![Rounds::one(holding(1))], true),
        case("a pin that is held the wrong way", at(0, &[input]), vec![Rounds::one(holding(0))], false),
        case("a pin that nobody holds", at(0, &[input]), quiet(), false),
        // Then the hardware determines what is read.
        case("a pin that may be an output", at(0, &[]), vec![Rounds::one(holding(1))], true),
        Case {
            name: "a timer whose clock stands, of which the data sheet says nothing",
            machine: machine(&code(&[
                I::Lds { rd: r(16), address: TCNT0 },
                I::Sbrs { rr: r(16), bit: 0 },
                I::Rjmp { offset: -4 },
                I::Nop,
            ])),
            claim: Claim {
                region: at(0, &[(PRR, TvByte::constant(0x20))]),
                rank: Rank(vec![Term::Constant(0, 1)]),
                rounds: vec![Rounds::one(Strategy {
                    held: BTreeMap::from([(TCNT0, TvByte::constant(1))]),
                    ..Strategy::entering(&[])
                })],
                exits: vec![exit(4)],
            },
            is_true: Some(false),
        },
        Case {
            name: "a pin that nobody holds must be like another",
            machine: machine(&unlike),
            claim: Claim {
                region: at(0, &[input, (DDRD, TvByte::new(0, 1))]),
                rank: Rank(vec![Term::Constant(0, 1)]),
                rounds: vec![Rounds::one(holding(0)), Rounds::one(holding(1))],
                exits: vec![exit(5)],
            },
            is_true: Some(false),
        },
    ]
}

/// A loop that waits until a handler has counted to ten.
fn ticks() -> Vec<Case> {
    let mut code = Code::default();
    code.place(OVERFLOW_VECTOR);
    code.add(I::Push { rr: r(16) });
    code.add(I::In { rd: r(16), io: 0x3f });
    code.add(I::Push { rr: r(16) });
    code.add(I::Lds { rd: r(16), address: TICKS });
    code.add(I::Inc { rd: r(16) });
    code.add(I::Sts { address: TICKS, rr: r(16) });
    code.add(I::Pop { rd: r(16) });
    code.add(I::Out { io: 0x3f, rr: r(16) });
    code.add(I::Pop { rd: r(16) });
    code.add(I::Reti);
    code.place(TICK_LOOP);
    code.add(I::Lds { rd: r(18), address: TICKS });
    code.add(I::Cpi { rd: r(18), k: 10 });
    code.add(I::Brbs { flag: 0, offset: -4 });
    code.add(I::Nop);
    let device = Device::named("atmega328p").expect("the device exists");
    let region = |enabled: u8| {
        let off = device.interrupts.iter().map(|interrupt| (interrupt.enable.address, TvByte::ZERO));
        let mut cells: Vec<(DataAddress, TvByte)> = off.collect();
        cells.extend([
            (TIMSK0, TvByte::constant(enabled)),
            (TCCR0B, TvByte::constant(3)),
            (PRR, TvByte::ZERO),
            (MCUCR, TvByte::ZERO),
            (GTCCR, TvByte::ZERO),
            (TCCR0A, TvByte::ZERO),
        ]);
        cells.push((SREG, TvByte::new(0x80, 0x80)));
        at(TICK_LOOP, &cells)
    };
    let rank = Rank(vec![Term::Constant(9, 1).minus(Term::Cells(vec![TICKS]))]);
    let once = vec![Rounds::one(Strategy::entering(&[OVERFLOW]))];
    let case = |name, region, rank: &Rank, rounds: Vec<Rounds>, is_true| Case {
        name,
        machine: machine(&code),
        claim: Claim { region, rank: rank.clone(), rounds, exits: vec![exit(TICK_LOOP + 4)] },
        is_true: Some(is_true),
    };
    let up = Rank(vec![Term::Cells(vec![TICKS])]);
    let twice = vec![Rounds { strategy: Strategy::entering(&[OVERFLOW, OVERFLOW]), count: 2 }];
    vec![
        case("ticks", region(1), &rank, once.clone(), true),
        case("two ticks in two rounds", region(1), &rank, twice, true),
        case("ticks that never come", region(1), &rank, quiet(), false),
        case("ticks that are not enabled", region(0), &rank, once.clone(), false),
        case("a rank that grows", region(1), &up, once, false),
    ]
}

/// Loops with branches that meet again, hazards, and what is not followed.
fn branches() -> Vec<Case> {
    // r24 falls by 1 or 2 and r25 by the rest of 3, as r18 says; then r20 tells of the sum.
    let both = code(&[
        I::Sbrs { rr: r(18), bit: 0 },
        I::Rjmp { offset: 3 },
        I::Subi { rd: r(24), k: 1 },
        I::Subi { rd: r(25), k: 2 },
        I::Rjmp { offset: 2 },
        I::Subi { rd: r(24), k: 2 },
        I::Subi { rd: r(25), k: 1 },
        I::Mov { rd: r(20), rr: r(24) },
        I::Add { rd: r(20), rr: r(25) },
        I::Cpi { rd: r(24), k: 3 },
        I::Brbc { flag: 0, offset: -11 },
        I::Nop,
    ]);
    let region = |most| at(0, &[(register(24), range(3, most)), (register(25), range(0, 255))]);
    let difference = Rank(vec![Term::Cells(vec![register(24)])]);
    let case = |name, region, exits: Vec<Pattern>, is_true| Case {
        name,
        machine: machine(&both),
        claim: Claim { region, rank: difference.clone(), rounds: quiet(), exits },
        is_true: Some(is_true),
    };
    let trap = {
        let mut code = code(&[I::Subi { rd: r(24), k: 1 }, I::Sbrc { rr: r(18), bit: 3 }]);
        code.words.push(0xffff);
        code.add(I::Cpi { rd: r(24), k: 0 });
        code.add(I::Brbc { flag: 1, offset: -5 });
        code.add(I::Nop);
        code
    };
    let sleeps = code(&[
        I::Subi { rd: r(24), k: 1 },
        I::Sbrc { rr: r(18), bit: 3 },
        I::Ijmp,
        I::Brbc { flag: 1, offset: -4 },
        I::Nop,
    ]);
    let down = Rank(vec![Term::Cells(vec![register(24)]).minus(Term::Constant(1, 1))]);
    let trapped = |name, machine, known: TvByte, exit_at, is_true| Case {
        name,
        machine,
        claim: Claim {
            region: at(0, &[(register(18), known)]),
            rank: down.clone(),
            rounds: quiet(),
            exits: vec![exit(exit_at)],
        },
        is_true,
    };
    vec![
        case("branches that meet", region(255), vec![exit(11)], true),
        case(
            "branches that meet, and what is said behind them",
            at(0, &[(register(24), range(3, 3)), (register(25), range(3, 3))]),
            vec![at(11, &[(register(20), TvByte::constant(3))])],
            true,
        ),
        case(
            "branches that meet, and the other of both",
            at(0, &[(register(24), range(3, 3)), (register(25), range(3, 3)), (register(18), TvByte::constant(1))]),
            vec![at(11, &[(register(24), TvByte::constant(1))])],
            false,
        ),
        trapped("a trap", machine(&trap), TvByte::UNKNOWN, 5, Some(false)),
        trapped("a trap that is not reached", machine(&trap), TvByte::new(0, 8), 5, Some(true)),
        trapped("a jump that is not followed", machine(&sleeps), TvByte::UNKNOWN, 4, None),
        trapped("a jump that is not reached", machine(&sleeps), TvByte::new(0, 8), 4, Some(true)),
    ]
}

/// All cases.
pub(super) fn all() -> Vec<Case> {
    [counters(), waits(), ticks(), branches()].into_iter().flatten().collect()
}
