//! The obligations on an abstract state space, checked state by state against the concrete system.
//!
//! The checks see a state space only from outside: states, hyper-edges and labels. That they can fail is shown with
//! deliberate faults.

use crate::concrete::Concrete;
use crate::random;
use crate::toy::{ATOMS, Mutation, Start, State, Toy};
use crate::word::Word;
use avr_testkit::Random;
use mu_calculus::AtomId;
use tvar::{Progress, StateKind, StateSpace, Strategy, System, Unlimited};

/// An obligation that is not met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The initial state does not cover exactly the concrete one.
    Initial,
    /// A label contradicts a covered state.
    Label,
    /// A step of a covered state leads into no member of any hyper-edge.
    May,
    /// A covered state has no input that leads into a member of some hyper-edge.
    Must,
}

/// A concrete state: the dummy state or stored bits.
type Point = Option<u64>;

fn covers(toy: &Toy, state: &State, point: Point) -> bool {
    match (state, point) {
        (State::Dummy, None) => true,
        (State::Hazard, Some(bits)) => is_hazard(toy, bits),
        (State::Cover(word), Some(bits)) => word.contains(bits),
        _ => false,
    }
}

fn is_hazard(toy: &Toy, bits: u64) -> bool {
    toy.hazard.as_ref().is_some_and(|hazard| hazard.at(bits) & 1 == 1)
}

fn covered(state: &State) -> Vec<Point> {
    match state {
        State::Dummy => vec![None],
        State::Hazard => Vec::new(),
        State::Cover(word) => word.concretisations().map(Some).collect(),
    }
}

/// The successor for each input.
fn successors(toy: &Toy, point: Point) -> Vec<u64> {
    match (point, toy.start) {
        (Some(bits), _) => (0..1 << toy.inputs).map(|input| toy.step.at(bits | input << toy.width)).collect(),
        (None, Start::Content { reset, open }) => {
            Word::exact(reset & !open).forget(open & toy.stored_mask()).concretisations().collect()
        }
        (None, Start::State(_)) => Vec::new(),
    }
}

/// The first obligation that a state space does not meet.
pub fn broken(toy: &Toy, space: &StateSpace<State>) -> Option<Broken> {
    let start = match toy.start {
        Start::State(bits) => Some(bits),
        Start::Content { .. } => None,
    };
    if covered(&space.states[0]) != [start] {
        return Some(Broken::Initial);
    }
    (0..space.states.len()).find_map(|index| {
        let state = &space.states[index];
        if toy.kind(state) == StateKind::Hazard {
            return space.edges(index).next().map(|_| Broken::Must);
        }
        let points = covered(state);
        points.into_iter().find_map(|point| broken_at(toy, space, index, point))
    })
}

fn broken_at(toy: &Toy, space: &StateSpace<State>, index: usize, point: Point) -> Option<Broken> {
    let state = &space.states[index];
    let mislabelled = |atom: u32| {
        let label = toy.label(state, AtomId(atom)).known();
        point.is_some_and(|bits| label.is_some_and(|label| label != (toy.atoms.at(bits) >> atom & 1 == 1)))
    };
    if (0..ATOMS).any(mislabelled) {
        return Some(Broken::Label);
    }
    let leads_into =
        |next: u64, edge: &[u32]| edge.iter().any(|member| covers(toy, &space.states[*member as usize], Some(next)));
    let is_followed = |next: u64| {
        let members = || space.edges(index).flatten().map(|member| &space.states[*member as usize]);
        let sinks = !is_hazard(toy, next) || members().any(|member| *member == State::Hazard);
        sinks && members().any(|member| covers(toy, member, Some(next)))
    };
    let next = successors(toy, point);
    if !next.iter().all(|next| is_followed(*next)) {
        return Some(Broken::May);
    }
    let must = |edge: &[u32]| next.iter().any(|next| leads_into(*next, edge));
    (!space.edges(index).all(must)).then_some(Broken::Must)
}

/// A random system with a state space under a random precision.
pub fn sample(seed: u64, mutation: Option<Mutation>) -> (Toy, StateSpace<State>, Random) {
    let mut random = Random::new(seed);
    let toy = if random.chance(25) { random::toy_with_hazards(&mut random) } else { random::toy(&mut random) };
    let toy = Toy { mutation, ..toy };
    let strategy = random.pick(&Strategy::ALL);
    let precision = random::precision(&mut random, &toy, strategy);
    let space = StateSpace::explore(&mut toy.clone(), &precision, &Unlimited, &mut Progress::default());
    (toy, space, random)
}

#[test]
fn random_state_spaces_meet_the_obligations() {
    let [states, hyper_edges] = random::run(random::cases(20_000), |seed| {
        let (toy, space, _) = sample(seed, None);
        assert_eq!(broken(&toy, &space), None, "seed {seed}: {toy:?} {space:?}");
        assert!(space.is_complete());
        let several = |state| space.edges(state).filter(|edge| edge.iter().any(|member| *member != edge[0])).count();
        [space.states.len() as u64, (0..space.states.len()).map(several).sum::<usize>() as u64]
    });
    assert!(states > 40_000 / 20 && hyper_edges > 100, "{states} states and {hyper_edges} real hyper-edges");
}

/// A fault is found as what it is, and it also makes verdicts wrong.
#[track_caller]
fn check(mutation: Mutation, expected: &[Broken]) {
    let found: Vec<Broken> = (0..2_000)
        .filter_map(|seed| {
            let (toy, space, _) = sample(seed, Some(mutation));
            broken(&toy, &space)
        })
        .collect();
    assert!(found.len() >= 10, "{mutation:?}: found in {} of 2,000 systems", found.len());
    assert!(found.iter().all(|broken| expected.contains(broken)), "{mutation:?}: {found:?}");
    let wrong = (0..20_000).any(|seed| is_wrong(seed, mutation));
    assert!(wrong, "{mutation:?}: no verdict is wrong");
}

fn is_wrong(seed: u64, mutation: Mutation) -> bool {
    let (toy, space, mut random) = sample(seed, Some(mutation));
    let concrete = Concrete::new(&toy);
    crate::end_to_end::contradiction(&mut random, &toy, &space, &concrete).1.is_some()
}

#[test]
fn stored_bits_split_as_if_chosen_now_are_found() {
    check(Mutation::StoredChosenNow, &[Broken::Must]);
}

#[test]
fn forgotten_cases_are_found() {
    check(Mutation::CaseForgotten, &[Broken::May, Broken::Must]);
}

#[test]
fn forgotten_inputs_are_found() {
    check(Mutation::InputForgotten, &[Broken::May]);
}

#[test]
fn decay_to_a_value_is_found() {
    check(Mutation::DecaysToZero, &[Broken::May, Broken::Must]);
}

#[test]
fn wrong_labels_are_found() {
    check(Mutation::UnknownIsFalse, &[Broken::Label]);
}

#[test]
fn followed_hazards_are_found() {
    check(Mutation::HazardFollowed, &[Broken::May]);
}

#[test]
fn sinks_that_claim_to_go_on_are_found() {
    check(Mutation::SinkStays, &[Broken::Must]);
}

/// Labels alone do no harm: the solver knows that nothing is known in a sink.
#[test]
fn labels_of_sinks_do_not_count() {
    let wrong = (0..20_000).find(|seed| is_wrong(*seed, Mutation::SinkLabelled));
    assert_eq!(wrong, None);
}

#[test]
fn made_up_initial_content_is_found() {
    check(Mutation::ContentIsZero, &[Broken::May]);
}

/// An initial state that stands for two.
#[test]
fn vague_initial_states_are_found() {
    let (toy, mut space, _) = sample(1, None);
    space.states[0] = State::Cover(Word::exact(0).forget(1));
    assert_eq!(broken(&toy, &space), Some(Broken::Initial));
}
