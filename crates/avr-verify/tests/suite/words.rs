//! Words of 16 and 32 bits that are compared with constants: what a comparison says of uninitialised memory and of ports is
//! learned where they are compared, so that no word is split into all its values.

use avr_isa::DataAddress;
use avr_isa::Instruction as I;
use avr_machine::device::Device;
use avr_properties::{Property, PropertyFile};
use avr_testkit::image::{encoded, image, r};
use avr_testkit::{Random, cases};
use avr_verify::{Exhausted, Progress, PropertyResult, Request, Verdict, Watch, verify};

/// The first cell of the word in memory.
const WORD: u16 = 0x100;
const PORTB: u8 = 0x05;
/// The I/O addresses of the pins of two ports.
const PINS: [u8; 2] = [0x03, 0x09];
/// The flags on which branches depend, by their numbers.
const C: u8 = 0;
const Z: u8 = 1;

/// A limit on states, which is the same on every machine.
struct FewStates(usize);

impl Watch for FewStates {
    fn check(&self, progress: &Progress) -> Option<Exhausted> {
        (progress.states.max(progress.largest.states) > self.0).then_some(Exhausted::Memory(self.0))
    }

    fn cancelled(&self) -> bool {
        false
    }
}

/// The machine code of instructions.
fn words(code: &[I]) -> Vec<u16> {
    code.iter().flat_map(|one| encoded(*one)).collect()
}

/// The answer to a property of a program.
fn result(code: &[I], property: &str, states: usize) -> PropertyResult {
    let mut file = PropertyFile::parse("empty.ron", "()").expect("it is valid");
    file.properties.push(Property::from_command_line(property).expect("it is a property"));
    let (image, device) = (image(&words(code)), Device::named("atmega328p").expect("the device exists"));
    let request = Request { watch: &FewStates(states), ..Request::of(&image, device, &file) };
    let results = verify(&request).unwrap_or_else(|error| panic!("{error}"));
    results.properties.into_iter().next().expect("there is one property")
}

/// Loads a word of some bytes from memory into r24 and the registers behind it.
fn load(bytes: u8) -> Vec<I> {
    (0..bytes).map(|byte| I::Lds { rd: r(24 + byte), address: DataAddress(WORD + u16::from(byte)) }).collect()
}

/// Reads two ports into r24 and r25.
fn read_ports() -> Vec<I> {
    PINS.iter().zip(24..).map(|(io, register)| I::In { rd: r(register), io: *io }).collect()
}

/// Compares r24 and the registers behind it with a constant, as a compiler does.
fn compare(constant: u32, bytes: u8) -> Vec<I> {
    let constants = constant.to_le_bytes();
    let mut code: Vec<I> =
        (0..bytes).map(|byte| I::Ldi { rd: r(16 + byte), k: constants[usize::from(byte)] }).collect();
    code.push(I::Cp { rd: r(24), rr: r(16) });
    code.extend((1..bytes).map(|byte| I::Cpc { rd: r(24 + byte), rr: r(16 + byte) }));
    code
}

/// An instruction that a comparison begins with, and that leaves the difference where the word was.
#[derive(Clone, Copy, Debug)]
enum First {
    Subi,
    Sbiw,
    Adiw,
    Or,
}

impl First {
    const ALL: [Self; 4] = [Self::Subi, Self::Sbiw, Self::Adiw, Self::Or];

    /// A constant that a word of some bytes may be compared with.
    fn constant(self, bytes: u8, random: &mut Random) -> u32 {
        let small = random.bits() as u32 % 64;
        let all = u32::MAX >> (32 - 8 * u32::from(bytes));
        match self {
            Self::Subi => random.bits() as u32 & all,
            Self::Sbiw => small,
            // Zero would be carried into the third byte.
            Self::Adiw => 0x1_0000 - small.max(1),
            Self::Or => 0,
        }
    }

    /// Compares r24 and the registers behind it with a constant; Z and, but for ADIW and OR, C are those of the difference.
    fn compare(self, constant: u32, bytes: u8) -> Vec<I> {
        let [low, high, third, fourth] = constant.to_le_bytes();
        let mut code = match self {
            Self::Subi => vec![I::Subi { rd: r(24), k: low }, I::Sbci { rd: r(25), k: high }],
            Self::Sbiw => vec![I::Sbiw { rd: r(24), k: low }],
            Self::Adiw => vec![I::Adiw { rd: r(24), k: low.wrapping_neg() }],
            Self::Or => return vec![I::Or { rd: r(24), rr: r(25) }],
        };
        let rest = [(26, third), (27, fourth)].into_iter().take(usize::from(bytes) - 2);
        code.extend(rest.map(|(register, k)| match self {
            Self::Subi => I::Sbci { rd: r(register), k },
            _ => I::Cpc { rd: r(register), rr: r(1) },
        }));
        code
    }

    /// True if it begins comparisons of words of so many bytes.
    fn is_for(self, bytes: u8) -> bool {
        bytes == 2 || matches!(self, Self::Subi | Self::Sbiw)
    }

    /// True if C tells if the word is less than the constant.
    fn tells_order(self) -> bool {
        matches!(self, Self::Subi | Self::Sbiw)
    }
}

/// Sets r1 to 0, which compilers keep there.
fn zero() -> Vec<I> {
    vec![I::Eor { rd: r(1), rr: r(1) }]
}

/// Leaves the part that follows if a flag is not as wanted.
fn only_if(flag: u8, wanted: bool, part: Vec<I>) -> Vec<I> {
    let offset = words(&part).len() as i8;
    let branch = if wanted { I::Brbc { flag, offset } } else { I::Brbs { flag, offset } };
    [vec![branch], part].concat()
}

fn alarm() -> Vec<I> {
    vec![I::Ldi { rd: r(20), k: 1 }, I::Out { io: PORTB, rr: r(20) }]
}

/// The rest of a program: it waits.
fn wait() -> Vec<I> {
    vec![I::Rjmp { offset: -1 }]
}

/// The condition that the word in memory is a constant.
fn is_word(constant: u32, bytes: usize) -> String {
    let cells = constant.to_le_bytes().into_iter().take(bytes).zip(WORD..);
    cells.map(|(value, cell)| format!("mem[{cell:#x}] == {value}")).collect::<Vec<_>>().join(" && ")
}

#[track_caller]
fn check_holds(code: &[I], property: &str, states: usize) {
    let result = result(code, property, states);
    assert_eq!(result.verdict, Verdict::Holds, "{property} after {} refinements", result.statistics.refinements);
}

#[test]
fn what_is_equal_to_a_constant_is_known_in_memory() {
    let mut random = Random::new(1);
    for bytes in [2, 4] {
        for _ in 0..cases(3, 10) {
            let constant = random.bits() as u32 & (u32::MAX >> (32 - 8 * u32::from(bytes)));
            let code = [load(bytes), compare(constant, bytes), only_if(Z, true, alarm()), wait()].concat();
            let same = is_word(constant, bytes.into());
            check_holds(&code, &format!("AG (PORTB != 1 || {same})"), 300);
            let other = is_word(constant ^ 0x0101, bytes.into());
            let result = result(&code, &format!("AG (PORTB != 1 || {other})"), 3_000);
            assert_ne!(result.verdict, Verdict::Holds, "{constant:#x}");
        }
    }
}

#[test]
fn a_word_is_not_on_both_sides_of_a_constant() {
    let mut random = Random::new(2);
    for sources in [load(2), read_ports(), load(4)] {
        let bytes = sources.len() as u8;
        for _ in 0..cases(3, 10) {
            let constant = random.bits() as u32 & (u32::MAX >> (32 - 8 * u32::from(bytes)));
            for flag in [C, Z] {
                let again = [compare(constant, bytes), only_if(flag, true, alarm())].concat();
                let code = [sources.clone(), compare(constant, bytes), only_if(flag, false, again.clone()), wait()];
                check_holds(&code.concat(), "AG (PORTB != 1)", 3_000);
                // The same comparison twice with the same outcome can be.
                let code = [sources.clone(), compare(constant, bytes), only_if(flag, true, again), wait()].concat();
                let result = result(&code, "AG (PORTB != 1)", 300);
                assert_ne!(result.verdict, Verdict::Holds, "{constant:#x}, flag {flag}");
            }
        }
    }
}

#[test]
fn what_a_difference_says_is_known_in_memory() {
    let mut random = Random::new(3);
    for (first, bytes) in First::ALL.into_iter().flat_map(|first| [(first, 2), (first, 4)]) {
        for _ in 0..if first.is_for(bytes) { cases(2, 6) } else { 0 } {
            let constant = first.constant(bytes, &mut random);
            let equal =
                [zero(), load(bytes), first.compare(constant, bytes), only_if(Z, true, alarm()), wait()].concat();
            check_holds(&equal, &format!("AG (PORTB != 1 || {})", is_word(constant, bytes.into())), 300);
            for changed in (0..bytes).map(|byte| constant ^ 1 << (8 * byte)) {
                let result = result(&equal, &format!("AG (PORTB != 1 || {})", is_word(changed, bytes.into())), 300);
                assert_ne!(result.verdict, Verdict::Holds, "{first:?}, {constant:#x} and {changed:#x}");
            }
        }
    }
}

#[test]
fn a_word_is_not_on_both_sides_of_a_constant_that_is_subtracted() {
    let mut random = Random::new(4);
    // The word that the difference takes the place of is loaded again, or was copied before.
    let copy = vec![I::Movw { rd: r(18), rr: r(24) }];
    let back = vec![I::Movw { rd: r(24), rr: r(18) }];
    let ways = [(load(2), load(2)), ([read_ports(), copy].concat(), back), (load(4), load(4))];
    for (first, (read, again)) in First::ALL.iter().flat_map(|first| ways.iter().map(move |way| (*first, way))) {
        let bytes = if *read == load(4) { 4 } else { 2 };
        for _ in 0..if first.is_for(bytes) { cases(1, 3) } else { 0 } {
            let constant = first.constant(bytes, &mut random).max(u32::from(first.tells_order()));
            for flag in if first.tells_order() { vec![C, Z] } else { vec![Z] } {
                let begin = [zero(), read.clone(), first.compare(constant, bytes)].concat();
                let again = [again.clone(), compare(constant, bytes), only_if(flag, true, alarm())].concat();
                let code = [begin.clone(), only_if(flag, false, again.clone()), wait()].concat();
                check_holds(&code, "AG (PORTB != 1)", 3_000);
                let code = [begin, only_if(flag, true, again), wait()].concat();
                let result = result(&code, "AG (PORTB != 1)", 300);
                assert_ne!(result.verdict, Verdict::Holds, "{first:?}, {constant:#x}, flag {flag}");
            }
        }
    }
}

/// A program that reads, and again and again after that, or only once, sets PORTB to 1 where the part says so, and else to 0.
fn told_again(read: &[I], decide: &[I], reads_again: bool) -> Vec<I> {
    let length = |code: &[I]| words(code).len() as i16;
    let body = [vec![I::Ldi { rd: r(20), k: 0 }], decide.to_vec(), vec![I::Out { io: PORTB, rr: r(20) }]].concat();
    let back = length(&body) + if reads_again { length(read) } else { 0 } + 1;
    [read.to_vec(), body, vec![I::Rjmp { offset: -back }]].concat()
}

/// Compares r24 and the registers behind it with constants; r20 becomes 1 if each comparison gives what it is said to.
fn if_all(comparisons: &[(u32, u8, bool)], bytes: u8) -> Vec<I> {
    let set = vec![I::Ldi { rd: r(20), k: 1 }];
    comparisons
        .iter()
        .rev()
        .fold(set, |part, (constant, flag, wanted)| [compare(*constant, bytes), only_if(*flag, *wanted, part)].concat())
}

/// A word of some bytes.
fn word(bytes: u8, random: &mut Random) -> u32 {
    random.bits() as u32 & (u32::MAX >> (32 - 8 * u32::from(bytes)))
}

#[track_caller]
fn check(code: &[I], property: &str, expected: Verdict, states: usize) {
    let result = result(code, property, states);
    let told =
        format!("{property} after {} refinements, {} states", result.statistics.refinements, result.statistics.states);
    assert_eq!(result.verdict, expected, "{told}");
}

#[test]
fn one_value_of_two_ports_is_found() {
    let mut random = Random::new(5);
    let always = "AG EF (PORTB == 1)";
    for _ in 0..cases(4, 10) {
        let (constant, other) = (word(2, &mut random), word(2, &mut random));
        let equal = if_all(&[(constant, Z, true)], 2);
        check(&told_again(&read_ports(), &equal, true), always, Verdict::Holds, 300);
        // Once it was read it stays what it is.
        let once = told_again(&read_ports(), &equal, false);
        check(&once, "EF (PORTB == 1)", Verdict::Holds, 300);
        check(&once, always, Verdict::Violated, 300);
        let both = if_all(&[(constant, Z, true), (constant ^ other.max(1), Z, true)], 2);
        check(&told_again(&read_ports(), &both, true), always, Verdict::Violated, 300);
        // Between two constants, if there is something.
        let [low, high] = [constant.min(other), constant.max(other)];
        let between = if_all(&[(low, C, false), (high, C, true)], 2);
        let expected = if low < high { Verdict::Holds } else { Verdict::Violated };
        check(&told_again(&read_ports(), &between, true), always, expected, 1_000);
    }
}

#[test]
fn one_initial_content_is_found() {
    let mut random = Random::new(6);
    for bytes in [2, 4] {
        for _ in 0..cases(4, 10) {
            let constant = word(bytes, &mut random);
            let code = told_again(&load(bytes), &if_all(&[(constant, Z, true)], bytes), true);
            // Not every content is the constant, but one is.
            check(&code, "AG (PORTB != 1)", Verdict::Violated, 3_000);
            check(&code, "AG EF (PORTB == 1)", Verdict::Violated, 3_000);
        }
    }
}

#[test]
fn a_sequence_of_input_bytes_is_found() {
    let mut random = Random::new(7);
    for length in [2, 4] {
        for _ in 0..cases(3, 5) {
            let set = vec![I::Ldi { rd: r(20), k: 1 }];
            let decide = (0..length).fold(set, |part, _| {
                let compare = vec![I::In { rd: r(24), io: PINS[0] }, I::Cpi { rd: r(24), k: random.bits() as u8 }];
                [compare, only_if(Z, true, part)].concat()
            });
            check(&told_again(&[], &decide, true), "AG EF (PORTB == 1)", Verdict::Holds, 300);
        }
    }
}
