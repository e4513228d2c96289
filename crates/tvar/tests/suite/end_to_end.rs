//! Soundness end to end: every decided verdict is the one of the concrete system.

use crate::concrete::{Afterwards, Concrete};
use crate::obligations;
use crate::random;
use crate::toy::{ATOMS, State, Toy};
use avr_testkit::Random;
use mu_calculus::{AtomId, Formula, PathOperator, PathQuantifier, Problem};
use three_valued::Truth;
use tvar::{Goal, StateSpace, Strategy, System, Undecided, Unlimited, Unobserved, verify, verify_from};

/// The number of formulas that are evaluated on each system.
const FORMULAS: usize = 3;

/// All that may come after a hazard.
const AFTERWARDS: [Afterwards; 3] = [Afterwards::Continues, Afterwards::Stays(false), Afterwards::Stays(true)];

/// The value in the concrete system, if it does not depend on what comes after hazards.
fn concretely(toy: &Toy, concrete: &Concrete, formula: &Formula<AtomId>) -> Option<bool> {
    if toy.hazard.is_none() {
        return Some(concrete.holds(formula));
    }
    let values = AFTERWARDS.map(|afterwards| concrete.clone().after_hazards(afterwards).holds(formula));
    values.iter().all(|value| *value == values[0]).then_some(values[0])
}

/// The number of random formulas that a state space decides, and the first one that it gets wrong.
pub fn contradiction(
    random: &mut Random,
    toy: &Toy,
    space: &StateSpace<State>,
    concrete: &Concrete,
) -> (u64, Option<Formula<AtomId>>) {
    let graph = space.graph(false);
    let labels = space.labels(ATOMS as usize, |state, atom| toy.label(state, atom));
    let mut decided = 0;
    for _ in 0..FORMULAS {
        let formula = random::formula(random, toy);
        let goal = random::goal(&formula);
        let problem = Problem { graph: &graph, labels: &labels, formula: &goal.formula };
        let verdict = problem.solve(&|| false).expect("nothing cancels it").verdict();
        decided += u64::from(!verdict.is_unknown());
        if verdict.known().is_some_and(|value| concretely(toy, concrete, &formula) != Some(value)) {
            return (decided, Some(formula));
        }
    }
    (decided, None)
}

#[test]
fn decided_verdicts_under_random_precision_are_true() {
    let cases = random::cases(20_000);
    let [decided] = random::run(cases, |seed| {
        let (toy, space, mut random) = obligations::sample(seed ^ 0x1000_0000, None);
        let (decided, wrong) = contradiction(&mut random, &toy, &space, &Concrete::new(&toy));
        assert!(wrong.is_none(), "seed {seed}: {} on {toy:?}", shown(&wrong.unwrap_or(Formula::Constant(true))));
        [decided]
    });
    assert!(decided > cases && decided < 3 * cases, "{decided} decided verdicts in {cases} systems");
}

fn shown(formula: &Formula<AtomId>) -> String {
    let named = formula.try_map_atoms(&mut |atom| Ok::<_, ()>(format!("p{}", atom.0)));
    named.map_or_else(|()| String::new(), |named| named.to_string())
}

/// The verdicts of the refinement loop with every strategy; the number of refinements.
fn refined(seed: u64, toy: &Toy, formulas: &[Formula<AtomId>], expected: &[Option<bool>]) -> u64 {
    let goals: Vec<Goal> = formulas.iter().map(random::goal).collect();
    let mut refinements = 0;
    let toy = Toy { glances: seed.is_multiple_of(2), ..toy.clone() };
    for strategy in Strategy::ALL {
        let outcome = verify(&mut toy.clone(), &mut Unobserved, ATOMS as usize, &goals, strategy, &Unlimited);
        for ((decision, formula), expected) in outcome.decisions.iter().zip(formulas).zip(expected) {
            let told = || format!("seed {seed}, {strategy:?}: {} on {toy:?}", shown(formula));
            assert!(toy.hazard.is_some() || !decision.verdict.is_unknown(), "undecided, {}", told());
            let value = decision.verdict.known();
            assert!(value.is_none() || value == *expected, "{value:?} for {expected:?}, {}", told());
            let stuck = matches!(decision.undecided, Some(Undecided::Stuck { .. }));
            assert_eq!(stuck, value.is_none(), "{}", told());
        }
        refinements += outcome.decisions.iter().map(|decision| decision.refinements as u64).max().unwrap_or(0);
    }
    refinements
}

#[test]
fn the_loop_decides_everything_as_it_is() {
    let cases = random::cases(20_000);
    let [refinements] = random::run(cases, |seed| {
        let mut random = Random::new(seed ^ 0x2000_0000);
        let toy = random::toy(&mut random);
        let concrete = Concrete::new(&toy);
        let formulas: Vec<_> = (0..FORMULAS).map(|_| random::formula(&mut random, &toy)).collect();
        let expected: Vec<_> = formulas.iter().map(|formula| Some(concrete.holds(formula))).collect();
        [refined(seed, &toy, &formulas, &expected)]
    });
    assert!(refinements > cases / 2, "{refinements} refinements for {cases} systems");
}

#[test]
fn the_loop_decides_everything_where_locations_are_limited_early() {
    let cases = random::cases(20_000);
    let [larger] = random::run(cases, |seed| {
        let mut random = Random::new(seed ^ 0x2800_0000);
        let toy = random::toy(&mut random);
        let concrete = Concrete::new(&toy);
        let formulas: Vec<_> = (0..FORMULAS).map(|_| random::formula(&mut random, &toy)).collect();
        let goals: Vec<Goal> = formulas.iter().map(random::goal).collect();
        let budget = 2 + random.below(4);
        let mut larger = 0;
        for strategy in [Strategy::Default, Strategy::Decay] {
            let outcome =
                verify_from(&mut toy.clone(), &mut Unobserved, ATOMS as usize, &goals, strategy, budget, &Unlimited);
            for (decision, formula) in outcome.decisions.iter().zip(&formulas) {
                let expected = Truth::from(concrete.holds(formula));
                assert_eq!(decision.verdict, expected, "seed {seed}, {strategy:?}: {} on {toy:?}", shown(formula));
                larger |= u64::from(decision.space.states.len() > budget);
            }
        }
        [larger]
    });
    assert!(larger > cases / 10, "{larger} of {cases} systems have more states than are expanded at first");
}

#[test]
fn nothing_depends_on_what_comes_after_hazards() {
    let cases = random::cases(5_000);
    random::run(cases, |seed| {
        let mut random = Random::new(seed ^ 0x3000_0000);
        let toy = random::toy_with_hazards(&mut random);
        let concrete = Concrete::new(&toy);
        let formulas: Vec<_> = (0..FORMULAS).map(|_| random::formula(&mut random, &toy)).collect();
        let expected: Vec<_> = formulas.iter().map(|formula| concretely(&toy, &concrete, formula)).collect();
        [refined(seed, &toy, &formulas, &expected)]
    });
}

#[test]
fn whether_a_hazard_is_reached_is_always_decided() {
    let [safe, unsafe_] = random::run(random::cases(5_000), |seed| {
        let mut random = Random::new(seed ^ 0x4000_0000);
        let mut toy = random::toy_with_hazards(&mut random);
        let harmless = Formula::Not(Box::new(Formula::Atom(toy.hazard_atom())));
        let inherent = Formula::Path(PathQuantifier::All, PathOperator::Always, Box::new(harmless));
        let expected = Concrete::new(&toy).holds(&inherent);
        let goal = Goal { observes_hazards: true, ..random::goal(&inherent) };
        for strategy in Strategy::ALL {
            let outcome = verify(
                &mut toy,
                &mut Unobserved,
                ATOMS as usize + 1,
                std::slice::from_ref(&goal),
                strategy,
                &Unlimited,
            );
            let verdict = outcome.decisions[0].verdict;
            assert_eq!(verdict, Truth::from(expected), "seed {seed}, {strategy:?}: {toy:?}");
        }
        [u64::from(expected), u64::from(!expected)]
    });
    assert!(safe > 10 && unsafe_ > 10, "{safe} systems without a reachable hazard, {unsafe_} with one");
}
