//! The symbolic domain against the concrete one, and queries against enumeration.

use avr_symbolic::{
    Answer, Assignment, Consequence, Graph, PathCondition, QueryLimits, SymbolicBit, SymbolicByte, SymbolicWord,
    Unanswered, Valuation, consequences, satisfy,
};
use avr_testkit::{Random, cases};
use three_valued::{BitDomain, ByteDomain, Signedness, Sum, Truth, TvByte};

/// Everything that an operation on bytes gives, in a domain.
type Results<V> = (Vec<V>, Vec<<V as ByteDomain>::Bit>);

fn of_sum<V: ByteDomain>(sum: Sum<V>) -> Results<V> {
    (vec![sum.value, sum.carries], vec![sum.overflow, sum.negative, sum.zero])
}

/// All operations on two bytes and a bit.
fn operations<V: ByteDomain>(a: &V, b: &V, bit: &V::Bit) -> Vec<(String, Results<V>)> {
    use Signedness::{Signed, Unsigned};
    let mut all = vec![
        ("not".to_owned(), (vec![a.not()], vec![])),
        ("and".to_owned(), (vec![a.and(b)], vec![])),
        ("or".to_owned(), (vec![a.or(b)], vec![])),
        ("xor".to_owned(), (vec![a.xor(b)], vec![])),
        ("add".to_owned(), of_sum(a.add(b, bit))),
        ("subtract".to_owned(), of_sum(a.subtract(b, bit))),
        ("shift".to_owned(), (vec![a.shift_right(bit)], vec![])),
        ("swap".to_owned(), (vec![a.swap_nibbles()], vec![])),
        ("zero".to_owned(), (vec![], vec![a.is_zero()])),
        ("equals".to_owned(), (vec![], vec![a.equals(b)])),
    ];
    for index in 0..8 {
        all.push((format!("bit {index}"), (vec![a.with_bit(index, bit)], vec![a.bit(index)])));
    }
    for (sign, other) in [(Unsigned, Unsigned), (Unsigned, Signed), (Signed, Unsigned), (Signed, Signed)] {
        let (low, high) = a.multiply(sign, b, other);
        all.push((format!("multiply {sign:?} {other:?}"), (vec![low, high], vec![])));
    }
    all
}

/// A byte some of whose bits are constants, or bits of `others`, or their complements.
fn mixed<'g>(graph: &'g Graph, others: &[SymbolicBit<'g>], random: &mut Random) -> SymbolicByte<'g> {
    SymbolicByte::of_bits(std::array::from_fn(|_| match random.below(6) {
        0 => SymbolicBit::constant(random.once_in(2)),
        1 | 2 if !others.is_empty() => random.pick(others),
        3 if !others.is_empty() => random.pick(others).not(),
        _ => graph.variable(),
    }))
}

fn random_assignment(bits: &[SymbolicBit<'_>], random: &mut Random) -> Assignment {
    let mut assignment = Assignment::default();
    for variable in bits.iter().filter_map(|bit| bit.variable().or(bit.not().variable())) {
        assignment.set(variable, random.once_in(2));
    }
    assignment
}

/// Checks all operations on some operands under random assignments.
fn check<'g>(graph: &'g Graph, operands: (SymbolicByte<'g>, SymbolicByte<'g>, SymbolicBit<'g>), random: &mut Random) {
    let (a, b, bit) = operands;
    let symbolic = operations(&a, &b, &bit);
    let bits: Vec<SymbolicBit<'g>> = a.to_bits().into_iter().chain(b.to_bits()).chain([bit]).collect();
    for _ in 0..cases(40, 400) {
        let mut values = Valuation::new(graph, random_assignment(&bits, random));
        let (x, y, z) = (values.byte(&a), values.byte(&b), values.bit(&bit));
        let concrete = operations(&x.expect("closed"), &y.expect("closed"), &z.expect("closed"));
        for ((name, found), (_, expected)) in symbolic.iter().zip(&concrete) {
            let bytes: Vec<Option<u8>> = found.0.iter().map(|byte| values.byte(byte)).collect();
            let bits: Vec<Option<bool>> = found.1.iter().map(|bit| values.bit(bit)).collect();
            assert_eq!(
                bytes,
                expected.0.iter().copied().map(Some).collect::<Vec<_>>(),
                "{name} of {x:x?}, {y:x?}, {z:?}"
            );
            assert_eq!(
                bits,
                expected.1.iter().copied().map(Some).collect::<Vec<_>>(),
                "{name} of {x:x?}, {y:x?}, {z:?}"
            );
            for (byte, expected) in found.0.iter().zip(&expected.0) {
                assert!(byte.bits().contains(*expected), "{name}: {byte:?} is {expected:#x}");
            }
            for (bit, expected) in found.1.iter().zip(&expected.1) {
                assert!(bit.known().is_none_or(|known| known == *expected), "{name}: {bit:?} is {expected}");
            }
        }
    }
}

#[test]
fn operations_on_variables_are_exact() {
    let graph = Graph::new(1 << 20);
    let mut random = Random::new(1);
    for _ in 0..cases(10, 100) {
        check(&graph, (graph.byte(0xff), graph.byte(0xff), graph.variable()), &mut random);
    }
}

#[test]
fn operations_on_mixed_operands_are_exact() {
    let mut random = Random::new(2);
    for _ in 0..cases(300, 3000) {
        let graph = Graph::new(1 << 20);
        let pool: Vec<SymbolicBit<'_>> = (0..3).map(|_| graph.variable()).collect();
        let (a, b) = (mixed(&graph, &pool, &mut random), mixed(&graph, &pool, &mut random));
        check(&graph, (a, b, random.pick(&pool)), &mut random);
    }
}

#[test]
fn sums_are_exact_for_all_operands() {
    let graph = Graph::new(1 << 16);
    let (a, b, carry) = (graph.byte(0xff), graph.byte(0xff), graph.variable());
    let results = [a.add(&b, &carry), a.subtract(&b, &carry)].map(of_sum);
    let bit = carry.variable().expect("a variable");
    for (x, y) in (0..=255u8).flat_map(|x| (0..=255u8).map(move |y| (x, y))).step_by(cases(7, 1) as usize) {
        for z in [false, true] {
            let mut assignment = Assignment::default();
            assignment.set_byte(&a, x);
            assignment.set_byte(&b, y);
            assignment.set(bit, z);
            let mut values = Valuation::new(&graph, assignment);
            for (symbolic, concrete) in results.iter().zip([x.add(&y, &z), x.subtract(&y, &z)].map(of_sum)) {
                assert!(symbolic.0.iter().zip(&concrete.0).all(|(one, other)| values.byte(one) == Some(*other)));
                assert!(symbolic.1.iter().zip(&concrete.1).all(|(one, other)| values.bit(one) == Some(*other)));
            }
        }
    }
}

/// The variables of random formulas; a truth table has a bit for each assignment of them.
const POOL: usize = 6;

/// A random formula with its truth table. With `open`, two of the inputs are open bits, and the table is for the values in `as_if`.
struct Formulas<'g> {
    pool: Vec<(SymbolicBit<'g>, u64)>,
}

impl<'g> Formulas<'g> {
    fn new(graph: &'g Graph) -> Self {
        let table =
            |variable: usize| (0..64).filter(|row| row >> variable & 1 == 1).fold(0, |table, row| table | 1 << row);
        let mut pool: Vec<(SymbolicBit<'g>, u64)> =
            (0..POOL).map(|variable| (graph.variable(), table(variable))).collect();
        pool.extend([(SymbolicBit::ZERO, 0), (SymbolicBit::ONE, u64::MAX)]);
        Self { pool }
    }

    /// Adds a formula made of two of those that there are, mostly of late ones.
    fn grow(&mut self, random: &mut Random) {
        let mut pick = || {
            let late = self.pool.len().saturating_sub(12);
            let (bit, table) = self.pool[if random.once_in(3) {
                random.below(self.pool.len())
            } else {
                late + random.below(self.pool.len() - late)
            }];
            if random.once_in(2) { (bit.not(), !table) } else { (bit, table) }
        };
        let ((a, x), (b, y), (c, z)) = (pick(), pick(), pick());
        self.pool.push(match random.below(5) {
            0 => (a.or(&b), x | y),
            1 => (a.xor(&b), x ^ y),
            2 => (a.select(&b, &c), x & y | !x & z),
            _ => (a.and(&b), x & y),
        });
    }

    fn assignment(&self, row: u64) -> Assignment {
        let mut assignment = Assignment::default();
        for (index, (bit, _)) in self.pool.iter().take(POOL).enumerate() {
            assignment.set(bit.variable().expect("a variable"), row >> index & 1 == 1);
        }
        assignment
    }
}

#[test]
fn graphs_fold_to_the_same_function() {
    let mut random = Random::new(3);
    for _ in 0..cases(300, 10_000) {
        let graph = Graph::new(1 << 16);
        let mut formulas = Formulas::new(&graph);
        (0..60).for_each(|_| formulas.grow(&mut random));
        for row in 0..64 {
            let mut values = Valuation::new(&graph, formulas.assignment(row));
            for (bit, table) in &formulas.pool {
                assert_eq!(values.bit(bit), Some(table >> row & 1 == 1), "{bit:?}");
            }
        }
        for (bit, table) in &formulas.pool {
            let known = match *table {
                0 => [Truth::False, Truth::Unknown],
                u64::MAX => [Truth::True, Truth::Unknown],
                _ => [Truth::Unknown; 2],
            };
            assert!(known.contains(&bit.truth()), "{bit:?} of {table:x}");
        }
    }
}

#[test]
fn what_follows_from_a_condition_is_so() {
    let mut random = Random::new(7);
    let (mut found, mut others) = (0, 0);
    for _ in 0..cases(300, 10_000) {
        let graph = Graph::new(1 << 16);
        let mut formulas = Formulas::new(&graph);
        (0..40).for_each(|_| formulas.grow(&mut random));
        let row = random.below(64);
        let mut condition = PathCondition::new();
        for _ in 0..random.below(6) {
            let (bit, table) = random.pick(&formulas.pool);
            condition.assume(if table >> row & 1 == 1 { bit } else { bit.not() });
        }
        assert_eq!(Valuation::new(&graph, formulas.assignment(row)).bit(&condition.bit()), Some(true));
        for (bit, table) in &formulas.pool {
            match condition.value(bit) {
                Some(value) => assert_eq!(value, table >> row & 1 == 1, "{bit:?} under {condition:?}"),
                None => others += 1,
            }
            found += usize::from(condition.value(bit).is_some() && bit.known().is_none());
        }
    }
    assert!(found > 1000 && others > 1000, "{found} follow, {others} do not");
}

#[test]
fn queries_agree_with_truth_tables() {
    let mut random = Random::new(4);
    let (mut satisfiable, mut others) = (0, 0);
    for _ in 0..cases(200, 5_000) {
        let graph = Graph::new(1 << 16);
        let mut formulas = Formulas::new(&graph);
        (0..40).for_each(|_| formulas.grow(&mut random));
        // The folding leaves few formulas that are constant and do not look so.
        let (one, two) = (random.pick(&formulas.pool), random.pick(&formulas.pool));
        let differ = one.0.xor(&two.0).and(&one.0.equals(&two.0).or(&random.pick(&formulas.pool).0));
        let pool: Vec<SymbolicBit<'_>> = formulas.pool.iter().map(|(bit, _)| *bit).chain([differ]).collect();
        for bit in &pool {
            let is_true = |row| Valuation::new(&graph, formulas.assignment(row)).bit(bit) == Some(true);
            match satisfy(bit, QueryLimits::default()) {
                Answer::Satisfiable(assignment) => {
                    satisfiable += 1;
                    assert_eq!(Valuation::new(&graph, assignment).bit(bit), Some(true));
                }
                Answer::Unsatisfiable => {
                    others += 1;
                    assert!(!(0..64).any(is_true), "{bit:?} has a model");
                }
                Answer::None(reason) => panic!("{reason}"),
            }
        }
    }
    assert!(satisfiable > 1000 && others > 200, "{satisfiable} with models, {others} without");
}

/// A byte with other bits in `mask`.
fn replaced<'g>(byte: &SymbolicByte<'g>, mask: u8, with: impl Fn(u8) -> SymbolicBit<'g>) -> SymbolicByte<'g> {
    (0..8).filter(|index| mask >> index & 1 == 1).fold(*byte, |byte, index| byte.with_bit(index, &with(index)))
}

#[test]
fn open_bits_claim_nothing() {
    let mut random = Random::new(5);
    for _ in 0..cases(300, 5_000) {
        let graph = Graph::new(1 << 16);
        let pool: Vec<SymbolicBit<'_>> = (0..3).map(|_| graph.variable()).collect();
        let (a, b) = (mixed(&graph, &pool, &mut random), mixed(&graph, &pool, &mut random));
        let mask = random.byte() & random.byte();
        let value = random.byte();
        let given = SymbolicBit::constant(random.once_in(2));
        let opened = operations(&replaced(&a, mask, |_| SymbolicBit::OPEN), &b, &SymbolicBit::OPEN);
        let closed = replaced(&a, mask, |index| SymbolicBit::constant(value >> index & 1 == 1));
        let closed = operations(&closed, &b, &given);
        let bits: Vec<SymbolicBit<'_>> = a.to_bits().into_iter().chain(b.to_bits()).chain(pool).collect();
        let mut values = Valuation::new(&graph, random_assignment(&bits, &mut random));
        for ((name, claimed), (_, exact)) in opened.iter().zip(&closed) {
            let bytes =
                claimed.0.iter().zip(&exact.0).flat_map(|(one, other)| one.to_bits().into_iter().zip(other.to_bits()));
            let bits = claimed.1.iter().copied().zip(exact.1.iter().copied());
            for (claimed, exact) in bytes.chain(bits) {
                assert!(
                    claimed.is_open() || values.bit(&claimed) == values.bit(&exact),
                    "{name}: {claimed:?}, {exact:?}"
                );
            }
        }
    }
}

#[test]
fn joins_are_open_where_operands_differ() {
    let graph = Graph::new(100);
    let (a, b) = (graph.byte(0xff), graph.byte(0x0f));
    let joined = a.join(&a.with_bit(3, &b.bit(0)));
    assert_eq!((0..8).filter(|index| joined.bit(*index).is_open()).collect::<Vec<_>>(), [3]);
    let joined = SymbolicByte::constant(3).join(&SymbolicByte::constant(5));
    assert_eq!(joined.bits(), TvByte::new(1, 0xf9));
    assert_eq!(joined.bit(1).xor(&joined.bit(1)), SymbolicBit::OPEN, "an open bit is not known to be equal to itself");
    assert_eq!(satisfy(&joined.bit(1), QueryLimits::default()), Answer::None(Unanswered::Open));
}

#[test]
fn full_graphs_give_open_bits() {
    let graph = Graph::new(20);
    let sum = graph.byte(0xff).add(&graph.byte(0xff), &SymbolicBit::ZERO);
    assert!(graph.is_full() && sum.value.has_open_bits() && sum.zero.is_open());
    assert_eq!(graph.len(), 20);
}

#[test]
#[should_panic(expected = "bits of two graphs")]
fn graphs_are_not_mixed() {
    let (one, other) = (Graph::new(10), Graph::new(10));
    let _ = one.variable().and(&other.variable());
}

#[test]
fn words_compare_and_subtract_as_numbers() {
    let graph = Graph::new(1 << 16);
    let mut random = Random::new(6);
    let (a, b): ([SymbolicByte<'_>; 4], [SymbolicByte<'_>; 4]) =
        (std::array::from_fn(|_| graph.byte(0xff)), std::array::from_fn(|_| graph.byte(0xff)));
    let (x, y) = (SymbolicWord::of_bytes(&a), SymbolicWord::of_bytes(&b));
    let (difference, less, equal) = (x.wrapping_sub(&y), x.is_less(&y), x.is_equal(&y));
    let less_signed = x.is_less_signed(&y);
    for _ in 0..cases(2_000, 50_000) {
        let (one, near) = (random.bits() as u32, random.bits() as u32 & 0x1_0101);
        let other =
            if random.once_in(2) { one.wrapping_add(near & random.bits() as u32) } else { random.bits() as u32 };
        let mut assignment = Assignment::default();
        for (cells, number) in [(&a, one), (&b, other)] {
            cells.iter().zip(number.to_le_bytes()).for_each(|(cell, byte)| assignment.set_byte(cell, byte));
        }
        let mut values = Valuation::new(&graph, assignment);
        let found =
            difference.bits().iter().rev().fold(0, |all, bit| all << 1 | u32::from(values.bit(bit) == Some(true)));
        assert_eq!(found, one.wrapping_sub(other));
        assert_eq!((values.bit(&less), values.bit(&equal)), (Some(one < other), Some(one == other)));
        assert_eq!(values.bit(&less_signed), Some((one as i32) < other as i32));
    }
}

#[test]
fn consequences_follow_from_the_facts_that_they_name() {
    let mut random = Random::new(7);
    let (mut followed, mut others) = (0, 0);
    for _ in 0..cases(500, 10_000) {
        let graph = Graph::new(1 << 12);
        let pool: Vec<SymbolicBit<'_>> = (0..6).map(|_| graph.variable()).collect();
        let mut all = pool.clone();
        for _ in 0..12 {
            let (a, b) = (random.pick(&all), random.pick(&all));
            all.push(if random.once_in(2) { a.and(&b.not()) } else { a.xor(&b) });
        }
        all.extend([SymbolicBit::OPEN, SymbolicBit::ONE]);
        let (facts, goals): (Vec<_>, Vec<_>) =
            ((0..4).map(|_| random.pick(&all)).collect(), (0..3).map(|_| random.pick(&all)).collect());
        let found = consequences(&facts, &goals, QueryLimits::default());
        assert_eq!(found.len(), goals.len());
        for (goal, found) in goals.iter().zip(found) {
            // The values of the goal where some facts are 1, by all assignments.
            let values_under = |facts: &[SymbolicBit<'_>]| {
                let mut seen = [false; 2];
                for number in 0..1u8 << pool.len() {
                    let mut assignment = Assignment::default();
                    let bits = pool.iter().zip(0..);
                    bits.for_each(|(bit, index)| {
                        assignment.set(bit.variable().expect("it is one"), number >> index & 1 == 1)
                    });
                    let mut values = Valuation::new(&graph, assignment);
                    if facts.iter().all(|fact| fact.is_open() || values.bit(fact) == Some(true))
                        && let Some(value) = values.bit(goal)
                    {
                        seen[usize::from(value)] = true;
                    }
                }
                seen
            };
            match found {
                Some(Consequence { value, of }) => {
                    let named: Vec<SymbolicBit<'_>> = of.iter().map(|fact| facts[*fact]).collect();
                    assert!(!values_under(&named)[usize::from(!value)], "{value} does not follow");
                    followed += 1;
                }
                None => {
                    let is_unknown = goal.is_open() || values_under(&facts) == [true, true];
                    assert!(is_unknown, "the value of {goal:?} was not found");
                    others += 1;
                }
            }
        }
    }
    assert!(followed > 200 && others > 200, "{followed} followed, {others} did not");
}

/// The formula that says that pigeons have holes of their own.
fn pigeons<'g>(graph: &'g Graph, pigeons: usize, holes: usize) -> SymbolicBit<'g> {
    let nests: Vec<Vec<SymbolicBit<'g>>> =
        (0..pigeons).map(|_| (0..holes).map(|_| graph.variable()).collect()).collect();
    let mut all = SymbolicBit::ONE;
    for (number, one) in nests.iter().enumerate() {
        all = all.and(&one.iter().fold(SymbolicBit::ZERO, |any, hole| any.or(hole)));
        for other in &nests[..number] {
            all = one.iter().zip(other).fold(all, |all, (a, b)| all.and(&a.and(b).not()));
        }
    }
    all
}

#[test]
fn queries_stop_at_their_limits() {
    let graph = Graph::new(1 << 16);
    let (hard, easy) = (pigeons(&graph, 7, 6), pigeons(&graph, 6, 6));
    assert_eq!(satisfy(&hard, QueryLimits::default()), Answer::Unsatisfiable);
    assert!(matches!(satisfy(&easy, QueryLimits::default()), Answer::Satisfiable(_)));
    let within = |steps| satisfy(&hard, QueryLimits { steps, ..QueryLimits::default() });
    // The answer turns at one number of steps, and is the same each time.
    let turns =
        (0..40).map(|power| 1 << power).find(|steps| within(*steps) == Answer::Unsatisfiable).expect("it is found");
    assert!((8..100_000).contains(&turns), "{turns} steps");
    for steps in [1, turns / 4, turns / 2, turns, turns * 2] {
        let expected = if steps < turns { Answer::None(Unanswered::Steps) } else { Answer::Unsatisfiable };
        assert_eq!([within(steps), within(steps)], [expected.clone(), expected]);
    }
    assert_eq!(satisfy(&hard, QueryLimits { nodes: 100, ..QueryLimits::default() }), Answer::None(Unanswered::Nodes));
}
