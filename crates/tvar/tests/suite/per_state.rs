//! Precision per abstract state, and the refinement that Onderka & Ratschan published.

use crate::concrete::Concrete;
use crate::landing_gear;
use crate::loop_control::{latch, refined_first};
use crate::obligations::broken;
use crate::random;
use crate::toy::{ATOMS, CONTENT, INPUT, Locations, STORED, State, Toy};
use crate::word::Word;
use avr_testkit::Random;
use mu_calculus::Problem;
use three_valued::Truth;
use tvar::{Goal, Knob, PerState, Precision, Progress, StateSpace, Strategy, System, Unlimited, Unobserved, verify};

const STRATEGIES: [Strategy; 2] = [Strategy::Paper, Strategy::PaperDecay];

/// A system of any kind.
fn system(random: &mut Random) -> Toy {
    let toy = if random.chance(25) { random::toy_with_hazards(random) } else { random::toy(random) };
    let locations = if random.chance(50) { Locations::States } else { Locations::Bits(toy.location_bits()) };
    Toy { locations, ..toy }
}

/// A few bits of precision in a few abstract states.
fn refinements(random: &mut Random, toy: &Toy) -> Vec<(State, Knob)> {
    let state = |random: &mut Random| match random.below(8) {
        0 => State::Dummy,
        _ => State::Cover(Word::exact(random.number(toy.width)).forget(random.number(toy.width))),
    };
    let knob = |random: &mut Random| match random.below(4) {
        0 => Knob::Input(INPUT, random.number(toy.inputs)),
        1 => Knob::Input(CONTENT, random.number(toy.width)),
        2 => Knob::Case(STORED, random.number(toy.width)),
        _ => Knob::Step(STORED, random.number(toy.width)),
    };
    (0..random.below(12)).map(|_| (state(random), knob(random))).collect()
}

fn explore(states: &mut PerState<'_, Toy>) -> StateSpace<State> {
    StateSpace::explore(states, &Precision::new(Strategy::Default), &Unlimited, &mut Progress::default())
}

#[test]
fn random_precision_per_state_meets_the_obligations() {
    let cases = random::cases(20_000);
    let [decided] = random::run(cases, |seed| {
        let mut random = Random::new(seed ^ 0xe000_0000);
        let mut toy = system(&mut random);
        let described = toy.clone();
        let refinements = refinements(&mut random, &toy);
        let mut states = PerState::new(&mut toy, random.pick(&STRATEGIES));
        for (state, knob) in &refinements {
            states.refine(state, *knob);
        }
        let space = explore(&mut states);
        assert_eq!(broken(&described, &space), None, "seed {seed}: {described:?} {space:?}");
        let concrete = Concrete::new(&described);
        let (decided, wrong) = crate::end_to_end::contradiction(&mut random, &described, &space, &concrete);
        assert_eq!(wrong, None, "seed {seed}: {described:?}");
        [decided]
    });
    assert!(decided > cases / 2 && decided < 3 * cases, "{decided} decided verdicts in {cases} systems");
}

fn verdict(toy: &Toy, space: &StateSpace<State>, goal: &Goal) -> Truth {
    let (graph, labels) = (space.graph(false), space.labels(ATOMS as usize, |state, atom| toy.label(state, atom)));
    let problem = Problem { graph: &graph, labels: &labels, formula: &goal.formula };
    problem.solve(&|| false).expect("nothing cancels it").verdict()
}

/// With the precision of covering states, more precision never loses a verdict; and it does not matter when in the work
/// a state is refined.
#[test]
fn more_precision_per_state_loses_nothing() {
    let cases = random::cases(20_000);
    let [decided, gained] = random::run(cases, |seed| {
        let mut random = Random::new(seed ^ 0xf000_0000);
        let mut toy = system(&mut random);
        let described = toy.clone();
        let strategy = random.pick(&STRATEGIES);
        let (coarse, more) = (refinements(&mut random, &toy), refinements(&mut random, &toy));
        let goal = random::goal(&random::formula(&mut random, &toy));
        let mut states = PerState::new(&mut toy, strategy);
        coarse.iter().for_each(|(state, knob)| {
            states.refine(state, *knob);
        });
        let before = verdict(&described, &explore(&mut states), &goal);
        more.iter().for_each(|(state, knob)| {
            states.refine(state, *knob);
        });
        let space = explore(&mut states);
        let after = verdict(&described, &space, &goal);
        assert!(before.is_unknown() || before == after, "seed {seed}: {before:?} became {after:?}, {described:?}");
        let mut again = described.clone();
        let mut fresh = PerState::new(&mut again, strategy);
        coarse.iter().chain(&more).for_each(|(state, knob)| {
            fresh.refine(state, *knob);
        });
        assert_eq!(explore(&mut fresh).states, space.states, "seed {seed}: {described:?}");
        [u64::from(!before.is_unknown()), u64::from(before.is_unknown() && !after.is_unknown())]
    });
    assert!(decided > cases / 5 && gained > cases / 50, "{decided} decided, {gained} gained of {cases}");
}

/// Each pass ends with one refinement, and only the last with none.
#[test]
fn one_refinement_is_made_at_a_time() {
    let [refinements] = random::run(random::cases(5_000), |seed| {
        let mut random = Random::new(seed ^ 0x1_0000_0000);
        let mut toy = system(&mut random);
        let goal = random::goal(&random::formula(&mut random, &toy));
        let outcome = verify(&mut toy, &mut Unobserved, ATOMS as usize, &[goal], random.pick(&STRATEGIES), &Unlimited);
        let decision = &outcome.decisions[0];
        assert_eq!(outcome.passes, decision.refinements + 1, "seed {seed}");
        assert!(outcome.refined_states.len() >= decision.refinements, "seed {seed}");
        [decision.refinements as u64]
    });
    assert!(refinements > 1_000 / 4, "{refinements}");
}

/// Of some candidates, given as knob, step, indirection, the first is refined, whatever their order; candidates at step
/// 1 that decayed there belong to step 0.
#[track_caller]
fn check_preference(candidates: &[(Knob, usize, u8)]) {
    let (knob, step, _) = candidates[0];
    let open = State::Cover(Word::exact(0).forget(1));
    let at = if matches!(knob, Knob::Step(..)) || step == 0 { State::Cover(Word::exact(0)) } else { open };
    assert_eq!(refined_first(candidates), (at, knob));
    let turned: Vec<_> = candidates.iter().rev().copied().collect();
    assert_eq!(refined_first(&turned), (at, knob));
}

#[test]
fn the_published_choice_is_made() {
    let (step, input, high) = (Knob::Step(STORED, 1), Knob::Input(INPUT, 1), Knob::Input(INPUT, 2));
    // Decayed bits come first, however indirect the inputs are.
    check_preference(&[(step, 1, 0), (input, 1, 7)]);
    // The highest indirection, then the last on the path, then the most significant bit.
    check_preference(&[(input, 0, 2), (high, 1, 1)]);
    check_preference(&[(input, 1, 1), (high, 0, 1)]);
    check_preference(&[(high, 1, 1), (input, 1, 1)]);
    check_preference(&[(high, 0, 0), (input, 0, 0)]);
    // Variables have their order; the paper knows no case splits, and no values.
    check_preference(&[(input, 0, 0), (Knob::Input(CONTENT, 4), 0, 0)]);
    check_preference(&[(input, 0, 0), (Knob::Case(STORED, 1), 1, 0)]);
    check_preference(&[(input, 0, 0), (Knob::Value(INPUT, 1), 1, 0)]);
}

/// Figure 4a, found without help: the input after 000 is split, and nothing else.
#[test]
fn the_split_after_the_start_is_found() {
    for text in ["EF AG msb", "AG EF !msb", "AX AX (msb <-> lsb)"] {
        let outcome = landing_gear::refine(text, Strategy::Paper, Locations::States);
        let (decision, start) = (&outcome.decisions[0], State::Cover(Word::read("000")));
        assert_eq!(outcome.refined_states, [(start, Knob::Input(INPUT, 1))], "{text}");
        assert_eq!((decision.refinements, decision.space.states.len(), outcome.passes), (1, 8, 2), "{text}");
    }
}

/// A latch on an input bit: its state is open until the input is split, and unknown until that is kept.
#[test]
fn what_decays_is_kept_where_it_comes_from() {
    let (mut toy, formula) = latch();
    let outcome = verify(&mut toy, &mut Unobserved, 1, &[random::goal(&formula)], Strategy::PaperDecay, &Unlimited);
    let zero = State::Cover(Word::exact(0));
    assert_eq!(outcome.refined_states, [(zero, Knob::Input(INPUT, 1)), (zero, Knob::Step(STORED, 1))]);
    assert_eq!(outcome.decisions[0].verdict, Truth::True);
}
