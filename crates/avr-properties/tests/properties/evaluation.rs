//! Random comparisons on random states, against an evaluator that follows the syntax tree with concrete integers.

use avr_properties::{CellsRead, StateView};
use avr_testkit::Random;
use mu_calculus::{
    BinaryOperator, ComparisonKind, ComparisonOperator, Expr, ExprKind, Field, Formula, UnaryOperator, parse_predicate,
};
use three_valued::{Truth, TvByte};

use super::support::{State, atom, bound, hex, sensor, truth};

/// A comparison whose operands read a few cells.
fn comparison(random: &mut Random) -> String {
    let operators = ["==", "!=", "<", "<=", ">", ">="];
    let left = expression(random, 3);
    let right = if random.below(2) == 0 { expression(random, 2) } else { constant(random) };
    format!("{left} {} {right}", random.pick(&operators))
}

fn constant(random: &mut Random) -> String {
    match random.below(4) {
        0 => random.below(4).to_string(),
        1 => random.below(0x100).to_string(),
        2 => random.below(0x10000).to_string(),
        _ => format!("-{}", random.below(0x200)),
    }
}

fn expression(random: &mut Random, depth: u64) -> String {
    const LEAVES: [&str; 13] = [
        "r16",
        "r17",
        "x",
        "sp",
        "PORTB",
        "PORTB.3",
        "SREG.Z",
        "OCR1A",
        "mem[0x100]",
        "mem16[0x101]",
        "pc",
        "mem[0x100 + (r17 & 3)]",
        "mem16[x]",
    ];
    if depth == 0 || random.below(3) == 0 {
        return match random.below(4) {
            0 => constant(random),
            1 => format!("signed({})", random.pick(&LEAVES[..10])),
            _ => (random.pick(&LEAVES)).to_owned(),
        };
    }
    let inner = expression(random, depth - 1);
    match random.below(10) {
        0 => format!("(-({inner}))"),
        1 => format!("(~({inner}))"),
        2 => format!("({inner} << {})", random.below(12)),
        3 => format!("({inner} >> (r17 & 7))"),
        4 => format!("({inner} & {})", random.below(0x1000)),
        _ => format!("({inner} {} {})", random.pick(&["+", "-", "&", "|", "^"]), expression(random, depth - 1)),
    }
}

/// The value of an expression in a concrete state; `None` where it reads beyond the memory or bits that are no state.
fn value(e: &Expr, cells: &[u8], pc: u32) -> Option<i128> {
    let byte = |address: usize| cells.get(address).copied().map(i128::from);
    let word = |low: usize| Some(byte(low)? | byte(low + 1)? << 8);
    Some(match &e.kind {
        ExprKind::Integer(value) => i128::from(*value),
        ExprKind::Name(name) => match name.text.as_str() {
            "r16" => byte(16)?,
            "r17" => byte(17)?,
            "x" => word(26)?,
            "sp" => word(0x5d)?,
            "PORTB" => byte(0x25)?,
            "OCR1A" => word(0x88)?,
            "pc" => i128::from(pc),
            other => panic!("{other}"),
        },
        ExprKind::Field(name, Field::Number(3)) if name.text == "PORTB" => byte(0x25)? >> 3 & 1,
        ExprKind::Field(name, Field::Name(_)) if name.text == "SREG" => byte(0x5f)? >> 1 & 1,
        ExprKind::Index(name, address) => {
            let address = value(address, cells, pc)?;
            // Addresses in the I/O area may hit bits that hardware changes; those states are left out.
            let address = usize::try_from(address).ok().filter(|address| *address < 0x1f || *address >= 0x100)?;
            if name.text == "mem" { byte(address)? } else { word(address)? }
        }
        ExprKind::Signed(inner) => {
            let value = value(inner, cells, pc)?;
            let width = match &inner.kind {
                ExprKind::Field(..) => 1,
                ExprKind::Name(name) if ["x", "sp", "OCR1A"].contains(&name.text.as_str()) => 16,
                ExprKind::Index(name, _) if name.text == "mem16" => 16,
                _ => 8,
            };
            if value >> (width - 1) & 1 == 1 { value - (1 << width) } else { value }
        }
        ExprKind::Unary(UnaryOperator::Negate, inner) => -value(inner, cells, pc)?,
        ExprKind::Unary(UnaryOperator::Complement, inner) => !value(inner, cells, pc)?,
        ExprKind::Binary(operator, left, right) => {
            let (left, right) = (value(left, cells, pc)?, value(right, cells, pc)?);
            match operator {
                BinaryOperator::Or => left | right,
                BinaryOperator::Xor => left ^ right,
                BinaryOperator::And => left & right,
                BinaryOperator::ShiftLeft => left << right,
                BinaryOperator::ShiftRight => left >> right,
                BinaryOperator::Add => left + right,
                BinaryOperator::Subtract => left - right,
            }
        }
        other => panic!("{other:?}"),
    })
}

/// The truth of the text in a concrete state, evaluated directly.
fn expected(text: &str, cells: &[u8], pc: u32) -> Option<bool> {
    let Ok(Formula::Atom(comparison)) = parse_predicate(text) else { panic!("{text} is a comparison") };
    let ComparisonKind::Compare(operator, left, right) = comparison.kind else { panic!("{text} compares") };
    let (left, right) = (value(&left, cells, pc)?, value(&right, cells, pc)?);
    Some(match operator {
        ComparisonOperator::Equal => left == right,
        ComparisonOperator::NotEqual => left != right,
        ComparisonOperator::Less => left < right,
        ComparisonOperator::LessOrEqual => left <= right,
        ComparisonOperator::Greater => left > right,
        ComparisonOperator::GreaterOrEqual => left >= right,
    })
}

/// The cells that the comparisons read.
const CELLS: [u16; 12] = [16, 17, 26, 27, 0x25, 0x5d, 0x5e, 0x5f, 0x88, 0x89, 0x100, 0x101];

/// A state with some bits unknown: few in some states, many in others, and pointers that are often near the data.
fn state(random: &mut Random) -> State {
    let mut state = State::zero();
    let density = random.below(4);
    for cell in &mut state.cells {
        let unknown = (0..density).fold(0xff, |mask, _| mask & random.byte());
        *cell = TvByte::new(random.byte(), if density == 0 { 0xff } else { !unknown });
    }
    if random.below(2) == 0 {
        state.cells[27] = TvByte::constant(1);
    }
    state.pc = random.below(0x4000) * 2;
    state
}

/// One of the concrete states that the state stands for.
fn concretisation(random: &mut Random, state: &State) -> Vec<u8> {
    state.cells.iter().map(|cell| cell.value() | random.byte() & cell.unknown_mask()).collect()
}

fn concrete(cells: &[u8], pc: u32) -> State {
    State { cells: cells.iter().map(|byte| TvByte::constant(*byte)).collect(), pc, ..State::zero() }
}

/// Runs `check` on random comparisons that can be bound, each with its atom and the sign of it.
fn for_random_atoms(seed: u64, count: usize, mut check: impl FnMut(&mut Random, &str, &avr_properties::Atom, bool)) {
    let (image, mut random, mut bound_ones) = (hex(), Random::new(seed), 0);
    for _ in 0..count {
        let text = comparison(&mut random);
        let Ok((_, table)) = bound(&text, "atmega328p", &image) else { continue };
        assert_eq!(table.atoms().len(), 1);
        bound_ones += 1;
        let (atom, negated) = atom(&text, &image);
        check(&mut random, &text, &atom, negated);
    }
    assert!(bound_ones > count / 2, "only {bound_ones} of {count} comparisons could be bound");
}

#[test]
fn a_decided_atom_agrees_with_every_concrete_state() {
    let (mut decided, mut open) = (0u32, 0u32);
    for_random_atoms(0x1234_5678, 4_000, |random, text, atom, negated| {
        for _ in 0..6 {
            let state = state(random);
            let Some(value) = atom.evaluate(&state).known() else {
                open += 1;
                continue;
            };
            decided += 1;
            for _ in 0..8 {
                let cells = concretisation(random, &state);
                if let Some(expected) = expected(text, &cells, state.pc) {
                    assert_eq!(value != negated, expected, "{text}");
                }
            }
        }
    });
    assert!(decided > 5_000 && open > 2_000, "{decided} decided, {open} open: too one-sided to mean much");
}

#[test]
fn on_concrete_states_atoms_are_exact() {
    let mut compared = 0;
    for_random_atoms(0x9876_5431, 4_000, |random, text, atom, negated| {
        for _ in 0..4 {
            let abstract_state = state(random);
            let cells = concretisation(random, &abstract_state);
            let Some(expected) = expected(text, &cells, abstract_state.pc) else { continue };
            compared += 1;
            let found = atom.evaluate(&concrete(&cells, abstract_state.pc));
            assert_eq!(found, Truth::from(expected != negated), "{text}");
        }
    });
    assert!(compared > 8_000, "only {compared} comparisons");
}

#[test]
fn what_an_atom_does_not_read_does_not_matter() {
    for_random_atoms(0x5555_1111, 2_000, |random, text, atom, _| {
        let CellsRead::These(cells) = atom.cells() else { return };
        let state = state(random);
        let mut reduced = State { cells: vec![TvByte::UNKNOWN; 0x900], ..state.clone() };
        for (address, mask) in cells {
            reduced.cells[address.index()] = state.cell(address).forget(!mask);
        }
        if !atom.reads_pc() {
            reduced.pc = 0;
        }
        assert_eq!(atom.evaluate(&reduced), atom.evaluate(&state), "{text}");
    });
}

#[test]
fn learning_the_blamed_bits_decides() {
    for_random_atoms(0x7777_2222, 2_000, |random, text, atom, _| {
        let mut state = state(random);
        let cells = concretisation(random, &state);
        if expected(text, &cells, state.pc).is_none() {
            return;
        }
        for _ in 0..4 {
            for (address, mask) in atom.unknown_cells(&state) {
                let place = address.index();
                assert_eq!(mask & state.cells[place].known_mask(), 0, "{text}: a known bit is blamed");
                let known = state.cells[place].known_mask() | mask;
                state.cells[place] = TvByte::new(cells[place], known);
            }
        }
        assert!(!atom.evaluate(&state).is_unknown(), "{text}");
    });
}

#[test]
fn every_read_cell_is_one_of_the_test() {
    let (atom, _) = atom("mem[0x100 + (r17 & 1)] == 5", &hex());
    let CellsRead::These(cells) = atom.cells() else { panic!("the address has two values") };
    assert!(cells.iter().all(|(address, _)| CELLS.contains(&address.0)), "{cells:?}");
}

fn bits(text: &str) -> TvByte {
    let digit = |(known, value): (u8, u8), c| match c {
        'X' => (known << 1, value << 1),
        c => ((known << 1) | 1, (value << 1) | u8::from(c == '1')),
    };
    let (known, value) = text.chars().fold((0u8, 0u8), digit);
    TvByte::new(value, known)
}

#[test]
fn usual_comparisons_are_precise() {
    #[track_caller]
    fn check(text: &str, cells: &[(u16, &str)], expected: Truth) {
        let cells: Vec<(u16, TvByte)> = cells.iter().map(|(address, byte)| (*address, bits(byte))).collect();
        assert_eq!(truth(text, &hex(), &State::zero().with(&cells)), expected, "{text}");
    }
    use Truth::{False, True, Unknown};
    check("sp >= 0x8fd", &[(0x5e, "00001000"), (0x5d, "1111111X")], True);
    check("sp >= 0x8fd", &[(0x5e, "00001000"), (0x5d, "1111X111")], Unknown);
    check("sp >= 0x8fd", &[(0x5e, "00000XXX"), (0x5d, "XXXXXXXX")], False);
    check("PORTD & 0x0f == 3", &[(0x2b, "XXXX0011")], True);
    check("PORTD & 0x0f == 3", &[(0x2b, "XXXX0010")], False);
    check("PORTD & 0x0f == 3", &[(0x2b, "XXXX001X")], Unknown);
    check("PORTD & 0x0f != 0x13", &[(0x2b, "XXXXXXXX")], True);
    check("signed(r24) < 0", &[(24, "1XXXXXXX")], True);
    check("signed(r24) < 0", &[(24, "0XXXXXXX")], False);
    check("signed(r24) < 0", &[(24, "XXXXXXXX")], Unknown);
    check("signed(r24) >= -128", &[(24, "XXXXXXXX")], True);
    check("signed(r24) - 1 < -5", &[(24, "111110XX")], True);
    check("signed(r24) == -128", &[(24, "10000000")], True);
    check("r24 - r25 == 1", &[(24, "00000101"), (25, "00000100")], True);
    check("r24 - r25 == 1", &[(24, "0000000X"), (25, "000001XX")], False);
    check("r24 - r25 > 1", &[(24, "1XXXXXXX"), (25, "000000XX")], True);
    check("r24 + r25 == 300", &[(24, "11111111"), (25, "00101101")], True);
    check("PORTB != 3", &[(0x25, "1XXXXXXX")], True);
    check("SREG.Z", &[(0x5f, "XXXXXX1X")], True);
    check("SREG.Z == 0", &[(0x5f, "XXXXXX1X")], False);
    check("PORTD.3 != PORTD.0", &[(0x2b, "XXXX1XX0")], True);
    check("mem[x] == 7", &[(26, "0000000X"), (27, "00000001"), (0x100, "00000111"), (0x101, "00000111")], True);
    check("mem[x] == 7", &[(26, "0000000X"), (27, "00000001"), (0x100, "00000111")], Unknown);
    check("mem[x] == 7", &[(26, "0000000X"), (27, "00000001")], False);
    check("mem[x] == 7", &[(26, "XXXXXXXX"), (27, "XXXXXXXX")], Unknown);
    check("mem[x] <= 255", &[(26, "XXXXXXXX"), (27, "XXXXXXXX")], True);
}

#[test]
fn an_address_that_hits_no_state_reads_nothing() {
    let concrete =
        |x: u16| State::zero().with(&[(26, TvByte::constant(x as u8)), (27, TvByte::constant((x >> 8) as u8))]);
    for (x, expected) in [
        (0x23, Truth::Unknown),  // PINB, which hardware changes
        (0x20, Truth::Unknown),  // no register
        (0x900, Truth::Unknown), // beyond the memory
        (0x25, Truth::True),
        (0x8ff, Truth::True),
    ] {
        assert_eq!(truth("mem[x] == 0", &hex(), &concrete(x)), expected, "{x:#x}");
    }
}

#[test]
fn state_atoms() {
    let image = sensor();
    let state = State { torn: true, depth: 1, pc: 0xac, sleeping: Truth::True, ..State::zero() };
    for text in
        ["sp_torn", "in_interrupt", "sleeping", "pc in \"sensor::Filter::step(int)\"", "pc == 0xac", "pc >= 0xac"]
    {
        assert_eq!(truth(text, &image, &state), Truth::True, "{text}");
        assert_eq!(truth(text, &image, &State::zero()), Truth::False, "{text}");
    }
}
