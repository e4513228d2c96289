//! Refinement of states, for comparison with refinement of inputs. It is not monotone where must-transitions lead to
//! single blocks, and needs several splits for the landing gear controller. It proves Shoham & Grumberg's program with
//! one must-transition to a set of blocks.

use crate::concrete::Concrete;
use crate::landing_gear::{self, NEXT};
use crate::modal::{Must, Set, System, elements};
use crate::random;
use crate::toy::{ATOMS, Start, Toy};
use crate::word::Word;
use avr_testkit::Random;
use mu_calculus::{AtomId, Formula, parse_formula};
use std::collections::BTreeSet;
use three_valued::Truth;

fn set(states: impl IntoIterator<Item = usize>) -> Set {
    states.into_iter().fold(0, |set, state| set | 1 << state)
}

/// The landing gear controller, with the atoms `lsb` and `msb`.
fn controller() -> System {
    System {
        start: 0,
        next: NEXT.iter().map(|next| set(next.iter().map(|state| *state as usize))).collect(),
        atoms: vec![set((0..8).filter(|state| state & 1 == 1)), set(4..8)],
    }
}

/// Blocks as three-valued words of three bits.
fn partition(words: &[&str]) -> Vec<Set> {
    let block = |word: &&str| set(Word::read(word).concretisations().map(|state| state as usize));
    words.iter().map(block).collect()
}

#[track_caller]
fn check(words: &[&str], must: Must, text: &str, expected: Truth) {
    let verdict = controller().verdict(&partition(words), must, &landing_gear::formula(text));
    assert_eq!(verdict, expected, "{words:?}, {must:?}: {text}");
}

/// Figure 2b: no transition of 0XX is in all of its states, so that even `EX true`, known before the split, is lost.
#[test]
fn splitting_a_block_loses_a_verdict_of_a_plain_structure() {
    for must in [Must::Plain, Must::Hyper] {
        check(&["XXX"], must, "EX true", Truth::True);
        check(&["XXX"], must, "EF AG msb", Truth::Unknown);
    }
    check(&["0XX", "1XX"], Must::Plain, "EX true", Truth::Unknown);
    check(&["0XX", "1XX"], Must::Hyper, "EX true", Truth::True);
    // The states that may be reached are known either way.
    check(&["0XX", "1XX"], Must::Plain, "AX true", Truth::True);
    check(&["0XX", "1XX"], Must::Plain, "AX AX EX true", Truth::Unknown);
}

/// Figures 2e and 2f: `EF AG msb` is proved only when the way from 000 over 011 stands alone.
#[test]
fn several_splits_prove_the_bug() {
    let blocks: [&[&str]; 3] =
        [&["0XX", "1XX"], &["0XX", "11X", "10X"], &["000", "001", "010", "011", "110", "111", "10X"]];
    for must in [Must::Plain, Must::Hyper] {
        let found =
            blocks.map(|words| controller().verdict(&partition(words), must, &landing_gear::formula("EF AG msb")));
        assert_eq!(found, [Truth::Unknown, Truth::Unknown, Truth::True], "{must:?}");
    }
    // The fewest blocks are 000, 001, 011, X10, 100 and 1X1. One input split does the same (`landing_gear`).
    assert_eq!(fewest_splits(Must::Plain), 5);
    assert_eq!(fewest_splits(Must::Hyper), 5);
}

/// The fewest splits of a block by a bit after which the bug is proved.
fn fewest_splits(must: Must) -> usize {
    let (system, formula) = (controller(), landing_gear::formula("EF AG msb"));
    let mut partitions: BTreeSet<Vec<Set>> = [partition(&["XXX"])].into();
    for splits in 0.. {
        if partitions.iter().any(|partition| system.verdict(partition, must, &formula).is_true()) {
            return splits;
        }
        partitions = partitions.iter().flat_map(|partition| split_by_a_bit(partition)).collect();
    }
    unreachable!("single states prove it")
}

/// All partitions with one block cut in two by one of the three bits.
fn split_by_a_bit(partition: &[Set]) -> Vec<Vec<Set>> {
    let cut = |(index, bit): (usize, usize)| {
        let ones = set((0..8).filter(|state| state >> bit & 1 == 1));
        let block = partition[index];
        let parts = [block & ones, block & !ones];
        let others = partition.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, block)| *block);
        let mut all: Vec<Set> = others.chain(parts).collect();
        all.sort_unstable();
        (!parts.contains(&0)).then_some(all)
    };
    (0..partition.len()).flat_map(|index| (0..3).map(move |bit| (index, bit))).filter_map(cut).collect()
}

/// The numbers from -1 to 14 at the start and in the loop of Shoham & Grumberg's program
/// `x > 0; if x > 5 then x := x + 1 else x := x + 2; loop: if odd(x) then x := -1 else x := x + 1`,
/// which starts with an `x` from 1 to 12. The atom says that `x <= 0`.
mod program {
    use super::{Set, System, set};

    const NUMBERS: std::ops::Range<i32> = -1..15;
    pub const STARTS: std::ops::Range<i32> = 1..13;

    pub fn at_start(x: i32) -> usize {
        (x - NUMBERS.start) as usize
    }

    pub fn in_loop(x: i32) -> usize {
        NUMBERS.len() + at_start(x)
    }

    fn step(x: i32) -> i32 {
        if x % 2 != 0 || x + 1 >= NUMBERS.end { -1 } else { x + 1 }
    }

    pub fn system(start: i32) -> System {
        let first =
            NUMBERS.map(|x| set([in_loop(if STARTS.contains(&x) { if x > 5 { x + 1 } else { x + 2 } } else { x })]));
        let later = NUMBERS.map(|x| set([in_loop(step(x))]));
        System {
            start: at_start(start),
            next: first.chain(later).collect(),
            atoms: vec![set(NUMBERS.filter(|x| *x <= 0).flat_map(|x| [at_start(x), in_loop(x)]))],
        }
    }

    /// The states at the start, and those in the loop by a predicate over `x`.
    pub fn partition(predicates: &[fn(i32) -> bool]) -> Vec<Set> {
        let others = set(NUMBERS.filter(|x| !STARTS.contains(x)).map(at_start));
        let rest: Vec<Set> = predicates.iter().map(|holds| set(NUMBERS.filter(|x| holds(*x)).map(in_loop))).collect();
        [vec![set(STARTS.map(at_start)), others], rest].concat()
    }
}

#[test]
fn a_must_transition_to_a_set_of_blocks_proves_the_program() {
    let formula = reaches_zero();
    let positive = program::partition(&[|x| x > 0, |x| x <= 0]);
    let parity = program::partition(&[|x| x > 0 && x % 2 != 0, |x| x > 0 && x % 2 == 0, |x| x <= 0]);
    let verdict = |partition: &[Set], must| program::system(1).verdict(partition, must, &formula);
    assert_eq!(verdict(&positive, Must::Plain), Truth::Unknown);
    assert_eq!(verdict(&positive, Must::Hyper), Truth::Unknown);
    // Some starts lead to an odd number and some to an even one: only a set of both must be reached.
    assert_eq!(verdict(&parity, Must::Plain), Truth::Unknown);
    assert_eq!(verdict(&parity, Must::Hyper), Truth::True);
    for start in program::STARTS {
        let single: Vec<Set> = (0..program::system(start).next.len()).map(|state| 1 << state).collect();
        assert_eq!(program::system(start).verdict(&single, Must::Plain, &formula), Truth::True, "x = {start}");
    }
}

/// `EF x <= 0`.
fn reaches_zero() -> Formula<AtomId> {
    let parsed = parse_formula("EF p").expect("the formula parses");
    parsed.try_map_atoms(&mut |_| Ok::<_, ()>(AtomId(0))).expect("every atom is bound")
}

/// A random system with its states in blocks, and a formula. The formula is about the start.
fn sample(random: &mut Random) -> (Toy, System, Vec<Set>, Formula<AtomId>) {
    let toy = random::toy(random);
    let toy = Toy { start: Start::State(random.number(toy.width)), hazard: None, ..toy };
    let states = 1_usize << toy.width;
    let after = |state: usize| (0..1_u64 << toy.inputs).map(move |input| (state as u64, input));
    let step = |(state, input): (u64, u64)| toy.step.at(state | input << toy.width) as usize;
    let next = (0..states).map(|state| set(after(state).map(step))).collect();
    let atoms = (0..ATOMS).map(|atom| set((0..states).filter(|state| toy.atoms.at(*state as u64) >> atom & 1 == 1)));
    let Start::State(start) = toy.start else { unreachable!("it was set") };
    let system = System { start: start as usize, next, atoms: atoms.collect() };
    let count = 1 + random.below(4.min(states));
    let mut blocks = vec![0; count];
    for state in 0..states {
        blocks[random.below(count)] |= 1 << state;
    }
    blocks.retain(|block| *block != 0);
    let formula = random::formula(random, &toy);
    (toy, system, blocks, formula)
}

/// One block cut in two, if one can be.
fn split(random: &mut Random, partition: &[Set]) -> Vec<Set> {
    let large: Vec<usize> = (0..partition.len()).filter(|index| partition[*index].count_ones() > 1).collect();
    let mut finer = partition.to_vec();
    if !large.is_empty() {
        let index = random.pick(&large);
        let members: Vec<usize> = elements(partition[index]).collect();
        let part =
            members[1..].iter().fold(1 << members[0], |part, member| part | u64::from(random.chance(50)) << member);
        finer[index] = part;
        finer.extend((partition[index] != part).then_some(partition[index] & !part));
    }
    finer
}

/// The number of verdicts that are decided before a split, how many more after it, and how many are lost.
fn count(must: Must) -> [u64; 3] {
    random::run(random::cases(10_000), |seed| {
        let mut random = Random::new(seed ^ 0x1_1000_0000);
        let (toy, system, coarse, formula) = sample(&mut random);
        let fine = split(&mut random, &coarse);
        let truth = Truth::from(Concrete::new(&toy).holds(&formula));
        let [before, after] = [&coarse, &fine].map(|partition| system.verdict(partition, must, &formula));
        for verdict in [before, after] {
            assert!(verdict.is_unknown() || verdict == truth, "seed {seed}: {verdict:?}, {toy:?}");
        }
        let known = |verdict: Truth| !verdict.is_unknown();
        [known(before).into(), (!known(before) && known(after)).into(), (known(before) && !known(after)).into()]
    })
}

#[test]
fn splits_lose_nothing_where_must_transitions_lead_to_sets() {
    let [decided, gained, lost] = count(Must::Hyper);
    assert!(lost == 0 && gained > 20 && decided > gained, "{decided} decided, {gained} gained, {lost} lost");
}

#[test]
fn splits_lose_verdicts_of_plain_structures() {
    let [decided, gained, lost] = count(Must::Plain);
    assert!(lost > 0 && lost < gained && decided > gained, "{decided} decided, {gained} gained, {lost} lost");
}
