//! Predicates of certificates as numbers: what is known of them is true of a concrete state or not.

use avr_certificate::{Certificate, PredicateLiteral, PredicateTerms, Running, State};
use avr_image::Image;
use avr_isa::{DataAddress, Instruction as I};
use avr_machine::device::Device;
use avr_machine::{Comparison, Copies, DataSpace, Difference, Machine, Number, Operand, Options, PAGE_CELLS, Program};
use avr_testkit::Random;
use avr_testkit::image::{Code, image, r};
use three_valued::TvByte;

use super::judge::{cells, cells_from};

/// I/O addresses of the pins of port D and of port B.
const PIND: u8 = 0x09;
const PORTB: u8 = 0x05;
/// Data address of SREG.
const STATUS: DataAddress = DataAddress(0x5f);
/// The number of cells of pairs of numbers, behind which those of disjunctions are, and of all predicates.
const MOST_PAIRS: usize = 64;
const MOST: usize = 96;
/// The bit of the predicate that two numbers are equal.
const EQUAL: u8 = 2;

/// A program that compares a word, and again behind a loop with an end that a pin decides, and adds 1 to it if another pin says so;
/// if it is to change in between as well, it is 0 there.
pub(super) fn program(changes: bool) -> Image {
    let words: [DataAddress; 2] = [0x100, 0x101].map(DataAddress);
    let load = |code: &mut Code| {
        code.add(I::Lds { rd: r(24), address: words[0] });
        code.add(I::Lds { rd: r(25), address: words[1] });
    };
    let compare = |code: &mut Code| {
        load(code);
        code.add(I::Cpi { rd: r(24), k: 0x34 });
        code.add(I::Sbci { rd: r(25), k: 0x12 });
    };
    let mut code = Code::default();
    code.add(I::Ldi { rd: r(20), k: 0x2a });
    let start = code.words.len() as u32;
    compare(&mut code);
    code.unless(1, false, |code| {
        // Waits for a pin.
        code.add(I::Sbis { io: PIND, bit: 0 });
        code.add(I::Rjmp { offset: -2 });
        if changes {
            code.add(I::Sts { address: words[1], rr: r(0) });
        }
        compare(code);
        code.unless(1, true, |code| code.add(I::Out { io: PORTB, rr: r(20) }));
    });
    load(&mut code);
    code.add(I::Adiw { rd: r(24), k: 1 });
    code.add(I::Sbis { io: PIND, bit: 1 });
    code.jump(start);
    code.add(I::Sts { address: words[1], rr: r(25) });
    code.add(I::Sts { address: words[0], rr: r(24) });
    code.jump(start);
    image(&code.words)
}

/// A program that compares some bits of a word twice, with a loop in between, and stores the word with 5 added, which it compares behind
/// another loop. Pins decide the end of loops, and that 1 is added to the word.
pub(super) fn program_with_expressions() -> Image {
    let load = |code: &mut Code, register: u8, cell: u16| {
        code.add(I::Lds { rd: r(register), address: DataAddress(cell) });
        code.add(I::Lds { rd: r(register + 1), address: DataAddress(cell + 1) });
    };
    let store = |code: &mut Code, cell: u16| {
        code.add(I::Sts { address: DataAddress(cell + 1), rr: r(25) });
        code.add(I::Sts { address: DataAddress(cell), rr: r(24) });
    };
    let wait = |code: &mut Code| {
        code.add(I::Sbis { io: PIND, bit: 0 });
        code.add(I::Rjmp { offset: -2 });
    };
    let masked = |code: &mut Code| {
        load(code, 24, 0x100);
        code.add(I::Andi { rd: r(24), k: 0xf0 });
        code.add(I::Andi { rd: r(25), k: 0x0f });
        code.add(I::Cpi { rd: r(24), k: 0x20 });
        code.add(I::Sbci { rd: r(25), k: 0x01 });
    };
    let mut code = Code::default();
    code.add(I::Ldi { rd: r(20), k: 0x2a });
    let start = code.words.len() as u32;
    masked(&mut code);
    code.unless(1, false, |code| {
        wait(code);
        masked(code);
        code.unless(1, true, |code| code.add(I::Out { io: PORTB, rr: r(20) }));
    });
    load(&mut code, 24, 0x100);
    code.add(I::Adiw { rd: r(24), k: 5 });
    store(&mut code, 0x102);
    wait(&mut code);
    load(&mut code, 22, 0x102);
    load(&mut code, 24, 0x100);
    code.add(I::Adiw { rd: r(24), k: 5 });
    code.add(I::Cp { rd: r(24), rr: r(22) });
    code.add(I::Cpc { rd: r(25), rr: r(23) });
    code.unless(1, true, |code| code.add(I::Out { io: PORTB, rr: r(20) }));
    load(&mut code, 24, 0x100);
    code.add(I::Adiw { rd: r(24), k: 1 });
    code.add(I::Sbis { io: PIND, bit: 1 });
    code.jump(start);
    store(&mut code, 0x100);
    code.jump(start);
    image(&code.words)
}

/// A number of a concrete state.
fn number(number: &Number, data: &DataSpace<TvByte>) -> u32 {
    let sum = number.bytes.iter().rev().fold(0u32, |sum, byte| {
        let byte = match byte {
            Operand::Cell(cell) => data.get(*cell).known().expect("it is concrete"),
            Operand::Masked(cell, mask) => data.get(*cell).known().expect("it is concrete") & mask,
            Operand::Constant(value) => *value,
        };
        sum << 8 | u32::from(byte)
    });
    let unused = 32 - 8 * number.bytes.len() as u32;
    sum.wrapping_add(number.plus) << unused >> unused
}

/// The predicates of two numbers: less, equal, greater, and less and greater with a sign.
fn predicates(comparison: &Comparison, data: &DataSpace<TvByte>) -> [bool; 5] {
    let (left, right) = (number(&comparison.left, data), number(&comparison.right, data));
    let unused = 32 - 8 * comparison.left.bytes.len() as u32;
    let signed = |number: u32| (number << unused) as i32;
    let [one, other] = [left, right].map(signed);
    [left < right, left == right, left > right, one < other, one > other]
}

/// The facts that an abstract state has beside its bytes.
struct Facts<'a> {
    compared: &'a [Comparison],
    /// Disjunctions of two predicates.
    clauses: &'a [[PredicateLiteral; 2]],
    /// The bits of the predicates of each comparison, and of the disjunctions.
    known: Vec<TvByte>,
    copies: Copies,
}

impl<'a> Facts<'a> {
    /// The facts of a state of so many cells.
    fn of(certificate: &'a Certificate, running: &Running, count: usize) -> Option<Self> {
        let PredicateTerms { compared, clauses, .. } = certificate.predicates.as_ref()?;
        let known = cells_from(certificate, running.memory, count, MOST).collect();
        Some(Self { compared, clauses, known, copies: running.control.copies })
    }

    /// True within a row of instructions that compares or subtracts: there flags and registers are what its first instructions left.
    fn is_within_row(&self) -> bool {
        let relation = self.copies.relation();
        relation.number != 0 && !relation.is_complete
            || self.copies.difference() != Difference::default()
            || self.copies.sum().left > 0
    }

    /// True if they are true of a concrete state.
    fn are_true(&self, data: &DataSpace<TvByte>) -> bool {
        let is_true = |(comparison, known): (&Comparison, &TvByte)| {
            let mut actual = (0..5).zip(predicates(comparison, data));
            known.known_mask() >> 5 == 0
                && actual.all(|(bit, is_true)| {
                    known.known_mask() >> bit & 1 == 0 || (known.value() >> bit & 1 == 1) == is_true
                })
        };
        let is_told = |(clause, known): (&[PredicateLiteral; 2], &TvByte)| {
            known.known_mask() == 0
                || known.known_mask() == 1 && (known.value() == 1) == clause.iter().any(|one| self.is_true(one, data))
        };
        self.clauses.iter().zip(&self.known[MOST_PAIRS..]).all(is_told)
            && self.compared.iter().zip(&self.known).all(is_true)
            && self.copies.are_true(|cell| data.get(cell).known().expect("it is concrete"))
            && self.is_related(data)
    }

    /// True if a part of a disjunction is true of a concrete state.
    fn is_true(&self, literal: &PredicateLiteral, data: &DataSpace<TvByte>) -> bool {
        let Some(comparison) = self.compared.get(literal.pair as usize) else { return false };
        let holding = (0..5).zip(predicates(comparison, data)).filter(|(_, holds)| *holds);
        holding.into_iter().any(|(bit, _)| literal.predicate == 1 << bit) != literal.is_negated
    }

    /// True if flags are the outcome of the comparison that they are said to be.
    fn is_related(&self, data: &DataSpace<TvByte>) -> bool {
        let relation = self.copies.relation();
        let index = usize::from(relation.number & 0x7f).checked_sub(1);
        let Some(comparison) = index.and_then(|index| self.compared.get(index)) else { return true };
        let [less, equal, greater, signed_less, signed_greater] = predicates(comparison, data);
        let is_swapped = relation.number & 0x80 != 0;
        let (less, signed_less) = if is_swapped { (greater, signed_greater) } else { (less, signed_less) };
        let status = data.get(STATUS).known().expect("it is concrete");
        let flags = [(0, less), (1, equal), (4, signed_less)];
        flags.into_iter().all(|(flag, outcome)| !relation.tells(flag) || (status >> flag & 1 == 1) == outcome)
    }
}

/// True if the predicates, the copies and the relation of an abstract state are true of a concrete one.
pub(super) fn are_true(certificate: &Certificate, running: &Running, data: &DataSpace<TvByte>) -> bool {
    Facts::of(certificate, running, data.len()).is_none_or(|facts| facts.are_true(data))
}

/// Alters a concrete state until the predicates of an abstract one are true of it; false if they are not then.
pub(super) fn make_true(certificate: &Certificate, running: &Running, data: &mut DataSpace<TvByte>) -> bool {
    let count = data.len();
    let Some(facts) = Facts::of(certificate, running, count) else { return true };
    if facts.is_within_row() {
        return false;
    }
    let own = cells(certificate, running.memory, count);
    let give = |cell: DataAddress, value: u8, data: &mut DataSpace<TvByte>| {
        if own[cell.index()].contains(value) {
            data.set(cell, TvByte::constant(value));
        }
    };
    let assign = |to: &Number, value: u32, data: &mut DataSpace<TvByte>| {
        for (operand, byte) in to.bytes.iter().zip(value.wrapping_sub(to.plus).to_le_bytes()) {
            match operand {
                Operand::Cell(cell) => give(*cell, byte, data),
                Operand::Masked(cell, mask) => {
                    let rest = data.get(*cell).known().expect("it is concrete") & !mask;
                    give(*cell, rest | byte & mask, data);
                }
                Operand::Constant(_) => {}
            }
        }
    };
    let equate = |comparison: &Comparison, data: &mut DataSpace<TvByte>| {
        assign(&comparison.left, number(&comparison.right, data), data);
        assign(&comparison.right, number(&comparison.left, data), data);
    };
    for (comparison, known) in facts.compared.iter().zip(&facts.known) {
        if known.value() & EQUAL != 0 {
            equate(comparison, data);
        }
    }
    for (clause, known) in facts.clauses.iter().zip(&facts.known[MOST_PAIRS..]) {
        for literal in clause.iter().filter(|one| one.predicate == EQUAL && !one.is_negated) {
            let is_false = known.value() & 1 != 0 && !clause.iter().any(|one| facts.is_true(one, data));
            if let Some(comparison) = facts.compared.get(literal.pair as usize).filter(|_| is_false) {
                equate(comparison, data);
            }
        }
    }
    for (to, from) in facts.copies.pairs() {
        let [here, there] = [to, from].map(|cell| data.get(*cell).known().expect("it is concrete"));
        give(*to, there, data);
        give(*from, here, data);
    }
    for copy in facts.copies.masked() {
        let from = data.get(copy.from).known().expect("it is concrete");
        give(copy.to(), from & copy.mask, data);
    }
    let sum = facts.copies.sum();
    if let Some(value) = sum.number().map(|sum| number(&sum, data)) {
        sum.registers().zip(value.to_le_bytes()).for_each(|(register, byte)| give(register, byte, data));
    }
    // Flags may be what their comparison gives, as far as they are unknown.
    let mut flags = 0..=u8::MAX;
    while !facts.are_true(data) {
        let Some(status) = flags.next().filter(|_| facts.copies.relation().number != 0) else { return false };
        give(STATUS, status, data);
    }
    true
}

/// Alters what a certificate says of predicates; says what.
pub(super) fn change(certificate: &mut Certificate, random: &mut Random) -> &'static str {
    let kept = certificate.predicates.as_mut().expect("there are some");
    let one = random.below(kept.compared.len());
    let clause = kept.clauses.len();
    match random.below(8) {
        6 if clause > 0 => {
            let literal = &mut kept.clauses[random.below(clause)][random.below(2)];
            match random.below(3) {
                0 => literal.pair = random.below(kept.compared.len()) as u32,
                1 => literal.predicate = 1 << random.below(6),
                _ => literal.is_negated ^= true,
            }
            "part of a disjunction"
        }
        7 if clause > 0 => {
            change_cell(certificate, MOST_PAIRS + random.below(clause), 1, random);
            "disjunction"
        }
        0 => {
            let side = &mut kept.compared[one];
            let number = if random.once_in(2) { &mut side.left } else { &mut side.right };
            if random.once_in(4) {
                number.plus ^= 1 << random.below(8);
                return "sum";
            }
            let bytes = &mut number.bytes;
            let byte = random.below(bytes.len());
            bytes[byte] = match bytes[byte] {
                Operand::Cell(cell) => Operand::Cell(cell.wrapping_add(1)),
                Operand::Masked(cell, mask) => Operand::Masked(cell, mask ^ 1 << random.below(8)),
                Operand::Constant(value) => Operand::Constant(value ^ 1 << random.below(8)),
            };
            "number"
        }
        1 => {
            kept.telling = random.below(3);
            "atoms told"
        }
        2 => {
            let space = random.below(certificate.spaces.len());
            let states = &mut certificate.spaces[space].states;
            let other = states[random.below(states.len())];
            let state = random.below(states.len());
            if let (State::Running(running), State::Running(other)) = (&mut states[state], other) {
                running.control.copies = other.control.copies;
            }
            "copies"
        }
        _ => {
            let cell = random.below(kept.compared.len());
            change_cell(certificate, cell, 1 << random.below(5), random);
            "predicate"
        }
    }
}

/// Alters a bit of a cell behind those of the machine, in some memory.
fn change_cell(certificate: &mut Certificate, cell: usize, bit: u8, random: &mut Random) {
    let memories = certificate.store.memory_count() as u32;
    let blocks = certificate.store.memory(random.below(memories)).to_vec();
    let pages: Vec<u32> = blocks.iter().flat_map(|block| certificate.store.blocks[*block as usize]).collect();
    let first = cells_of_machine(&certificate.header.device) / PAGE_CELLS;
    let page = pages[first + cell / PAGE_CELLS] as usize;
    let byte = &mut certificate.store.pages[page][cell % PAGE_CELLS];
    *byte = match byte.known_mask() & bit {
        0 => TvByte::new(byte.value() | if random.once_in(2) { bit } else { 0 }, byte.known_mask() | bit),
        _ if random.once_in(2) => TvByte::new(byte.value() ^ bit, byte.known_mask()),
        _ => byte.forget(bit),
    };
}

/// The number of cells of the machine, behind which those of predicates are.
fn cells_of_machine(device: &str) -> usize {
    let device = Device::named(device).expect("it exists");
    let program = Program::decode(device.memory.flash_words(), device.core.features, |_| None);
    Machine::new(device, program, Options::default()).cells()
}
