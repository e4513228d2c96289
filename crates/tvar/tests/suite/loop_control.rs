//! The refinement loop when nothing helps, when a limit is reached, and when it has a choice.

use crate::observed::Observed;
use crate::random;
use crate::toy::{INPUT, Location, Locations, STORED, Start, State, Toy};
use crate::word::Word;
use mu_calculus::{AtomId, Formula, PathOperator, PathQuantifier};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use three_valued::Truth;
use tvar::{
    Blame, Candidate, Exhausted, Knob, Progress, Source, Strategy, Undecided, Unlimited, Unobserved, Variable, Watch,
    verify,
};

/// `p` on some path: not decided without refinement where `p` is an input bit that was stored.
pub fn latch() -> (Toy, Formula<AtomId>) {
    let toy = Toy {
        width: 1,
        inputs: 1,
        step: crate::function::selection(&[1]),
        atoms: crate::function::selection(&[0, 0]),
        hazard: None,
        start: Start::State(0),
        locations: Locations::Bits(0),
        abstracted: 0,
        offers_cases: false,
        glances: false,
        mutation: None,
    };
    let p = Box::new(Formula::Atom(AtomId(0)));
    (toy, Formula::Path(PathQuantifier::Exists, PathOperator::Eventually, p))
}

#[track_caller]
fn check_stuck(
    refinements: usize,
    sources: &[Source],
    blame: impl Fn(Vec<Candidate<Location>>) -> Vec<Candidate<Location>> + 'static,
) {
    let (toy, formula) = latch();
    let mut observed = Observed { blame: Box::new(blame), ..Observed::new(&toy) };
    let outcome = verify(&mut observed, &mut Unobserved, 1, &[random::goal(&formula)], Strategy::Default, &Unlimited);
    let decision = &outcome.decisions[0];
    let (zero, open) = (State::Cover(Word::exact(0)), State::Cover(Word::exact(0).forget(1)));
    let sources = sources.to_vec();
    let expected = Undecided::Stuck { path: vec![zero, open], blame: Blame::Atom(AtomId(0)), sources };
    assert_eq!((decision.verdict, &decision.undecided), (Truth::Unknown, &Some(expected)));
    assert_eq!((outcome.passes, decision.refinements, decision.spent), (1 + refinements, refinements, refinements));
}

/// The source that is reported for bits that the last state of the path depends on.
fn source(knob: Knob, step: usize) -> Source {
    Source { knob, step, direct: true }
}

#[test]
fn loop_without_anything_to_refine_stops_and_says_where() {
    check_stuck(0, &[], |_| Vec::new());
}

#[test]
fn loop_does_not_refine_what_is_refined() {
    // Without decay every bit is kept, unless the system takes it for dead: that can be forbidden once.
    check_stuck(1, &[source(Knob::Step(STORED, 1), 0)], |candidates| {
        candidates.into_iter().map(|candidate| Candidate { knob: Knob::Step(STORED, 1), ..candidate }).collect()
    });
    // The dummy refinement of no bit.
    check_stuck(0, &[source(Knob::Input(INPUT, 0), 0)], |candidates| {
        candidates.into_iter().map(|candidate| Candidate { knob: Knob::Input(INPUT, 0), ..candidate }).collect()
    });
}

#[test]
fn useless_refinements_come_to_an_end() {
    let (toy, formula) = latch();
    let mut observed = Observed {
        blame: Box::new(|candidates| {
            let elsewhere = |candidate| Candidate { knob: Knob::Input(INPUT, 0b1110), ..candidate };
            candidates.into_iter().map(elsewhere).collect()
        }),
        ..Observed::new(&toy)
    };
    let outcome = verify(&mut observed, &mut Unobserved, 1, &[random::goal(&formula)], Strategy::Default, &Unlimited);
    assert_eq!(outcome.passes, 2);
    assert!(matches!(outcome.decisions[0].undecided, Some(Undecided::Stuck { .. })));
}

#[test]
fn what_is_of_use_only_together_is_refined_together() {
    let (toy, formula) = latch();
    let offered = |joint: bool, later: bool| {
        let mut observed = Observed {
            blame: Box::new(move |candidates| {
                let one = candidates.first().expect("the input is blamed");
                let of = |bit: u64, step| Candidate { knob: Knob::Everywhere(STORED, bit), step, joint, ..*one };
                vec![of(0b0001, 1), of(0b0010, 1), of(0b0100, usize::from(!later)), of(0b0010, 1)]
            }),
            ..Observed::new(&toy)
        };
        let watch = Impatient(AtomicUsize::new(1));
        let outcome = verify(&mut observed, &mut Unobserved, 1, &[random::goal(&formula)], Strategy::Decay, &watch);
        outcome.precision.at(&Location::Bits(0, 0)).step.kept(STORED)
    };
    assert_eq!(offered(false, false), 0b0100, "the most significant bit is the best");
    assert_eq!(offered(true, false), 0b0111);
    assert_eq!(offered(true, true), 0b0011, "what another step forgot is of no use yet");
}

/// A watch that has enough after some questions.
struct Impatient(AtomicUsize);

impl Watch for Impatient {
    fn check(&self, _: &Progress) -> Option<Exhausted> {
        let asked = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        asked.is_err().then_some(Exhausted::Interrupted)
    }

    fn cancelled(&self) -> bool {
        false
    }
}

#[test]
fn loop_stops_at_limits() {
    let (toy, formula) = latch();
    for patience in 0..2 {
        let watch = Impatient(AtomicUsize::new(patience));
        let outcome =
            verify(&mut toy.clone(), &mut Unobserved, 1, &[random::goal(&formula)], Strategy::Default, &watch);
        let decision = &outcome.decisions[0];
        assert_eq!((decision.verdict, outcome.passes), (Truth::Unknown, patience + 1));
        assert_eq!(decision.undecided, Some(Undecided::Exhausted(Exhausted::Interrupted)));
        assert!(!decision.space.is_complete());
    }
}

/// A watch whose time is over as soon as the test says so.
struct Deadline(Arc<AtomicBool>);

impl Watch for Deadline {
    fn check(&self, _: &Progress) -> Option<Exhausted> {
        self.cancelled().then_some(Exhausted::Interrupted)
    }

    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The number of causes that are looked at where none of them helps, and the time may be over after the first.
fn causes_looked_at(strategy: Strategy, ends_after_first: bool) -> (usize, Option<Undecided<State>>) {
    let (one, formula) = latch();
    // The input, and what it was a step ago: two states in which the first bit is not known.
    let toy = Toy { width: 2, step: crate::function::selection(&[2, 0]), ..one };
    let (over, looked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let (ends, counted) = (over.clone(), looked.clone());
    let blame = move |_| {
        ends.store(ends_after_first, Ordering::Relaxed);
        counted.fetch_add(1, Ordering::Relaxed);
        Vec::new()
    };
    let mut observed = Observed { blame: Box::new(blame), ..Observed::new(&toy) };
    let outcome = verify(&mut observed, &mut Unobserved, 1, &[random::goal(&formula)], strategy, &Deadline(over));
    (looked.load(Ordering::Relaxed), outcome.decisions[0].undecided.clone())
}

#[test]
fn no_more_causes_are_looked_for_when_the_time_is_over() {
    for strategy in [Strategy::Default, Strategy::Paper] {
        let (all, undecided) = causes_looked_at(strategy, false);
        assert!(all > 1 && matches!(undecided, Some(Undecided::Stuck { .. })), "{strategy:?}: {all} {undecided:?}");
        let (some, undecided) = causes_looked_at(strategy, true);
        let interrupted = Some(Undecided::Exhausted(Exhausted::Interrupted));
        assert_eq!((some, undecided), (1, interrupted), "{strategy:?}");
    }
}

/// The first refinement of the published strategy among some candidates, given as knob, step and indirection.
pub fn refined_first(candidates: &[(Knob, usize, u8)]) -> (State, Knob) {
    let (toy, formula) = latch();
    let offered = candidates.to_vec();
    let blame = move |blamed: Vec<Candidate<Location>>| {
        let like = |&(knob, step, indirection): &(Knob, usize, u8)| Candidate {
            knob,
            step,
            indirection,
            ..*blamed.first().expect("the input is blamed")
        };
        offered.iter().map(like).collect()
    };
    let mut observed = Observed { blame: Box::new(blame), ..Observed::new(&toy) };
    // Limits are looked at before the first state is expanded and before the first cause is looked for.
    let watch = Impatient(AtomicUsize::new(2));
    let outcome = verify(&mut observed, &mut Unobserved, 1, &[random::goal(&formula)], Strategy::PaperDecay, &watch);
    outcome.refined_states[0]
}

/// Of some candidates, given as knob, step, indirection and whether they are direct, the loop takes the first.
#[track_caller]
fn check_preference(candidates: &[(Knob, usize, u8, bool)]) {
    check_preference_of(Strategy::Decay, candidates);
}

#[track_caller]
fn check_preference_of(strategy: Strategy, candidates: &[(Knob, usize, u8, bool)]) {
    let (toy, formula) = latch();
    for turned in [false, true] {
        let offer = |&(knob, step, indirection, direct): &(Knob, usize, u8, bool)| Candidate {
            location: Location::Bits(0, 0),
            knob,
            step,
            indirection,
            direct,
            joint: false,
        };
        let mut offered: Vec<Candidate<Location>> = candidates.iter().map(offer).collect();
        if turned {
            offered.reverse();
        }
        let mut observed = Observed { blame: Box::new(move |_| offered.clone()), ..Observed::new(&toy) };
        let watch = Impatient(AtomicUsize::new(1));
        let outcome = verify(&mut observed, &mut Unobserved, 1, &[random::goal(&formula)], strategy, &watch);
        let knobs = candidates.iter().map(|(knob, ..)| *knob);
        let taken: Vec<Knob> = knobs.filter(|knob| !outcome.precision.is_new(&Location::Bits(0, 0), *knob)).collect();
        assert_eq!(taken, [candidates[0].0]);
    }
}

/// Decayed bits come back first, then inputs are split, then cases are cut. Cases do not help where something is to be
/// shown of one run. Among all these the most indirect comes first, then the latest, then the most significant. Bits
/// that only the path depends on come after all that.
#[test]
fn candidates_have_an_order() {
    let (step, case, input) = (Knob::Step(STORED, 1), Knob::Case(STORED, 1), Knob::Input(INPUT, 1));
    check_preference(&[(step, 0, 0, true), (input, 1, 1, true), (case, 1, 1, true)]);
    check_preference(&[(input, 0, 0, true), (case, 1, 1, true)]);
    check_preference(&[(input, 0, 0, true), (step, 1, 1, false)]);
    check_preference(&[(input, 0, 1, true), (Knob::Input(INPUT, 2), 1, 0, true)]);
    check_preference(&[(input, 1, 0, true), (Knob::Input(INPUT, 2), 0, 0, true)]);
    check_preference(&[(Knob::Input(INPUT, 2), 1, 0, true), (input, 1, 0, true)]);
}

/// A value is split from all others before bits are, but in published strategies never.
#[test]
fn values_come_before_bits_where_nothing_is_published() {
    let (value, input, case) = (Knob::Value(INPUT, 1), Knob::Input(INPUT, 1), Knob::Case(STORED, 1));
    check_preference_of(Strategy::Default, &[(value, 0, 0, true), (input, 1, 1, true), (case, 1, 1, true)]);
    check_preference_of(Strategy::Decay, &[(input, 0, 0, true), (value, 1, 1, true)]);
}

/// Of twenty bits that inputs may be split by in one step, sixteen are, unless the strategy is published.
#[test]
fn inputs_give_a_step_few_outcomes() {
    let (toy, formula) = latch();
    let knobs: Vec<Knob> = [(1, 7), (2, 7), (3, 6)]
        .iter()
        .flat_map(|(input, bits)| (0..*bits).map(|bit| Knob::Input(Variable(*input), 1 << bit)))
        .collect();
    for (strategy, expected) in [(Strategy::Default, 16), (Strategy::Decay, 20)] {
        let offered = knobs.clone();
        let location = Location::Bits(0, 0);
        let offer = move |_| {
            let one =
                |knob: &Knob| Candidate { location, knob: *knob, step: 0, indirection: 0, direct: true, joint: false };
            offered.iter().map(one).collect()
        };
        let mut observed = Observed { blame: Box::new(offer), ..Observed::new(&toy) };
        let outcome = verify(&mut observed, &mut Unobserved, 1, &[random::goal(&formula)], strategy, &Unlimited);
        let split = knobs.iter().filter(|knob| !outcome.precision.is_new(&location, **knob)).count();
        assert_eq!(split, expected, "{strategy:?}");
    }
}
