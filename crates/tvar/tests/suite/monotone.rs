//! Monotonicity: with locations and drops fixed, adding precision never loses or turns a verdict.

use crate::random;
use crate::toy::{ATOMS, Location, Locations, Toy};
use avr_testkit::Random;
use mu_calculus::Problem;
use three_valued::Truth;
use tvar::{Goal, Precision, Progress, StateSpace, Strategy, System, Unlimited};

/// Counts of verdicts when precision was added: how many were decided without it, how many more with it, and how many
/// were lost.
#[derive(Debug, Default)]
struct Count {
    decided: u64,
    gained: u64,
    lost: u64,
}

fn verdict(toy: &Toy, precision: &Precision<Location>, goal: &Goal) -> Truth {
    let space = StateSpace::explore(&mut toy.clone(), precision, &Unlimited, &mut Progress::default());
    let (graph, labels) = (space.graph(false), space.labels(ATOMS as usize, |state, atom| toy.label(state, atom)));
    let problem = Problem { graph: &graph, labels: &labels, formula: &goal.formula };
    problem.solve(&|| false).expect("nothing cancels it").verdict()
}

fn compare(seed: u64, locations: fn(&mut Random, &Toy) -> Locations) -> [u64; 3] {
    let mut random = Random::new(seed ^ 0x5000_0000);
    let toy = if random.chance(25) { random::toy_with_hazards(&mut random) } else { random::toy(&mut random) };
    let toy = Toy { locations: locations(&mut random, &toy), ..toy };
    let strategy = random.pick(&Strategy::ALL);
    let coarse = random::precision(&mut random, &toy, strategy);
    let mut fine = coarse.clone();
    random::refine(&mut random, &toy, &mut fine);
    let goal = random::goal(&random::formula(&mut random, &toy));
    let (before, after) = (verdict(&toy, &coarse, &goal), verdict(&toy, &fine, &goal));
    assert!(before.is_unknown() || after.is_unknown() || before == after, "seed {seed}: turned");
    let decided = |truth: Truth| !truth.is_unknown();
    [decided(before).into(), (!decided(before) && decided(after)).into(), (decided(before) && !decided(after)).into()]
}

fn count(cases: u64, locations: fn(&mut Random, &Toy) -> Locations) -> Count {
    let [decided, gained, lost] = random::run(cases, |seed| compare(seed, locations));
    Count { decided, gained, lost }
}

fn bits(random: &mut Random, toy: &Toy) -> u64 {
    if random.chance(30) { 0 } else { random.number(toy.width) }
}

#[test]
fn more_precision_per_location_loses_nothing() {
    let cases = random::cases(20_000);
    let count = count(cases, |random, toy| Locations::Bits(bits(random, toy)));
    assert_eq!(count.lost, 0, "{count:?}");
    assert!(count.decided > cases / 4 && count.gained > cases / 50, "{count:?}");
}

/// Splitting only the bits that the location really depends on in the state at hand is sound. But more precision can
/// make a split unnecessary that a verdict needed: an input decides the location while a stored bit is unknown, and
/// does not once the bit is known. So a decided verdict has to be final.
#[test]
fn splits_on_demand_can_lose_verdicts() {
    let count = count(80_000, |random, toy| Locations::BitsOnDemand(bits(random, toy)));
    assert!(count.lost > 0 && count.lost * 50 < count.decided, "{count:?}");
}

/// Precision per state needs the bookkeeping of covering states of the paper (its equations 4), which the toy lacks:
/// more precision leads to other states, where there is less of it.
#[test]
fn precision_per_state_can_lose_verdicts() {
    let count = count(40_000, |_, _| Locations::States);
    assert!(count.lost > 0 && count.lost * 50 < count.decided, "{count:?}");
}
