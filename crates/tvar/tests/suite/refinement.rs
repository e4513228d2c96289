//! The loop: full precision decides, every round refines something, parts of a space decide nothing wrong.

use crate::concrete::Concrete;
use crate::obligations;
use crate::observed::Observed;
use crate::random;
use crate::toy::{ATOMS, Location, Locations, Start, State, Toy};
use crate::word::Word;
use avr_testkit::Random;
use std::collections::BTreeSet;
use tvar::{Explorer, Precision, Progress, StateSpace, Strategy, Unlimited, Unobserved, verify};

#[test]
fn full_precision_is_the_concrete_system() {
    random::run(random::cases(5_000), |seed| {
        let mut random = Random::new(seed ^ 0x7000_0000);
        let toy = random::toy(&mut random);
        let precision = Precision::new(Strategy::Naive);
        let space = StateSpace::explore(&mut toy.clone(), &precision, &Unlimited, &mut Progress::default());
        let found: BTreeSet<State> = space.states.iter().copied().collect();
        assert_eq!(found, reachable(&toy), "seed {seed}");
        let (decided, wrong) = crate::end_to_end::contradiction(&mut random, &toy, &space, &Concrete::new(&toy));
        assert_eq!((decided, wrong), (3, None), "seed {seed}");
        []
    });
}

/// The reachable states, each on its own.
fn reachable(toy: &Toy) -> BTreeSet<State> {
    let exact = |bits: u64| State::Cover(Word::exact(bits));
    let (mut found, mut pending): (BTreeSet<State>, Vec<u64>) = match toy.start {
        Start::State(bits) => ([exact(bits)].into(), vec![bits]),
        Start::Content { reset, open } => {
            let contents: Vec<u64> = Word::exact(reset & !open).forget(open).concretisations().collect();
            (contents.iter().map(|bits| exact(*bits)).chain([State::Dummy]).collect(), contents)
        }
    };
    while let Some(bits) = pending.pop() {
        let next = (0..1 << toy.inputs).map(|input| toy.step.at(bits | input << toy.width));
        pending.extend(next.filter(|next| found.insert(exact(*next))));
    }
    found
}

/// The bits of precision that a system has: the loop cannot take more rounds.
fn bits_of_precision(toy: &Toy) -> usize {
    let location_bits = toy.location_bits().count_ones();
    let per_location = toy.inputs + 2 * toy.width;
    ((per_location << location_bits) + toy.width) as usize
}

#[test]
fn every_round_refines_and_nearly_every_round_changes_the_relation() {
    let [rounds, idle] = random::run(random::cases(5_000), |seed| {
        let mut random = Random::new(seed ^ 0x8000_0000);
        let toy = random::toy(&mut random);
        let locations = if toy.locations == Locations::States { Locations::Bits(0) } else { toy.locations };
        let toy = Toy { locations, ..toy };
        let goal = random::goal(&random::formula(&mut random, &toy));
        let mut observed = Observed::new(&toy);
        let strategy = random.pick(&[Strategy::Default, Strategy::Decay]);
        let outcome = verify(&mut observed, &mut Unobserved, ATOMS as usize, &[goal], strategy, &Unlimited);
        assert_eq!(outcome.passes, observed.passes.len());
        assert!(outcome.passes <= bits_of_precision(&toy) + 1, "seed {seed}: {} passes", outcome.passes);
        let refinements = outcome.decisions[0].refinements;
        assert!(refinements + 1 >= outcome.passes, "seed {seed}: a round without refinement");
        let idle = observed.passes.windows(2).filter(|pair| pair[0] == pair[1]).count();
        [outcome.passes as u64 - 1, idle as u64]
    });
    assert!(rounds > 1_000 / 4 && idle * 5 < rounds, "{idle} of {rounds} rounds changed nothing");
}

/// Exploring in stages comes to the same state space, and whatever a part of it decides is true.
#[test]
fn parts_of_a_space_decide_nothing_wrong() {
    let [decided] = random::run(random::cases(5_000), |seed| {
        let (toy, whole, mut random) = obligations::sample(seed ^ 0x9000_0000, None);
        let precision = precision_of(seed ^ 0x9000_0000);
        let concrete = Concrete::new(&toy);
        let mut decided = 0;
        let (mut all, mut precision) = (Progress::default(), precision);
        let explorer = Explorer::new(&mut toy.clone(), false);
        let mut part = explorer.run(&mut toy.clone(), &mut precision, 1, &Unlimited, &mut all);
        while !part.is_finished() {
            assert!(!part.is_complete());
            let (count, wrong) = crate::end_to_end::contradiction(&mut random, &toy, &part, &concrete);
            assert_eq!(wrong, None, "seed {seed}: {toy:?}");
            decided += count;
            let budget = part.expanded + 1 + random.below(3);
            let explorer = Explorer::resume(part);
            part = explorer.run(&mut toy.clone(), &mut precision, budget, &Unlimited, &mut all);
        }
        let edges = |space: &StateSpace<State>| -> Vec<Vec<Vec<u32>>> {
            (0..space.states.len()).map(|state| space.edges(state).map(<[u32]>::to_vec).collect()).collect()
        };
        assert_eq!((&part.states, edges(&part)), (&whole.states, edges(&whole)), "seed {seed}");
        [decided]
    });
    assert!(decided > 1_000 / 4, "{decided}");
}

/// Locations with few states drop bits on the way; whatever the space that is left decides is true.
#[test]
fn limited_locations_decide_nothing_wrong() {
    let [decided, dropped] = random::run(random::cases(20_000), |seed| {
        let (toy, whole, mut random) = obligations::sample(seed ^ 0xa000_0000, None);
        let mut precision = precision_of(seed ^ 0xa000_0000);
        let explorer = Explorer::new(&mut toy.clone(), true);
        let limited = explorer.run(&mut toy.clone(), &mut precision, usize::MAX, &Unlimited, &mut Progress::default());
        assert!(limited.is_finished());
        let (count, wrong) = crate::end_to_end::contradiction(&mut random, &toy, &limited, &Concrete::new(&toy));
        assert_eq!(wrong, None, "seed {seed}: {toy:?}");
        [count, u64::from(limited.states.len() < whole.states.len())]
    });
    assert!(decided > 10_000 && dropped > 500, "{decided} {dropped}");
}

/// The precision of the sample with this seed.
fn precision_of(seed: u64) -> Precision<Location> {
    let mut random = Random::new(seed);
    let toy = if random.chance(25) { random::toy_with_hazards(&mut random) } else { random::toy(&mut random) };
    let strategy = random.pick(&Strategy::ALL);
    random::precision(&mut random, &toy, strategy)
}

/// Verdicts, counts and reasons do not depend on the number of threads, and goals do not disturb each other.
#[test]
fn answers_are_the_same_for_any_number_of_threads() {
    let pools = [1, 4].map(|threads| {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
        builder.build().expect("threads can be made")
    });
    for seed in 0..200 {
        let mut random = Random::new(seed ^ 0xa000_0000);
        let toy = random::toy_with_hazards(&mut random);
        let goals: Vec<_> = (0..4).map(|_| random::goal(&random::formula(&mut random, &toy))).collect();
        let answers = pools.each_ref().map(|pool| {
            let outcome = pool.install(|| {
                verify(&mut toy.clone(), &mut Unobserved, ATOMS as usize, &goals, Strategy::Decay, &Unlimited)
            });
            let answer = |decision: tvar::Decision<State>| {
                (decision.verdict, decision.refinements, decision.undecided, decision.space.states.clone())
            };
            (outcome.passes, outcome.decisions.into_iter().map(answer).collect::<Vec<_>>())
        });
        assert_eq!(answers[0], answers[1], "seed {seed}");
    }
}
