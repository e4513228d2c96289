//! The landing gear controller of Onderka & Ratschan (Figure 1), with its abstract state spaces (Figures 3 and 4).
//!
//! The paper's text gives the transitions of 000, 001, 011, 100, 101, 111 and the two of 010. Back from 110 the input
//! decides, so that the gear stays retracted for ever only by way of the start with input 1.

use crate::concrete::Concrete;
use crate::function::{Function, selection};
use crate::random;
use crate::toy::{INPUT, Location, Locations, STORED, Start, State, Toy};
use crate::word::Word;
use mu_calculus::{AtomId, Formula, parse_formula};
use three_valued::Truth;
use tvar::{Knob, Outcome, Precision, Progress, StateSpace, Strategy, System, Unlimited, Unobserved, verify};

/// The successors for inputs 0 and 1, by state.
pub const NEXT: [[u64; 2]; 8] = [
    [0b001, 0b011],
    [0b010, 0b010],
    [0b010, 0b110],
    [0b111, 0b111],
    [0b101, 0b101],
    [0b101, 0b101],
    [0b010, 0b110],
    [0b100, 0b100],
];

fn controller(locations: Locations) -> Toy {
    Toy {
        width: 3,
        inputs: 1,
        step: Function::Table((0..16).map(|argument| NEXT[argument & 7][argument >> 3]).collect()),
        atoms: selection(&[0, 2]),
        hazard: None,
        start: Start::State(0b000),
        locations,
        abstracted: 0,
        offers_cases: false,
        glances: false,
        mutation: None,
    }
}

/// A formula over `msb` and `lsb`.
pub fn formula(text: &str) -> Formula<AtomId> {
    let parsed = parse_formula(text).expect("the formula parses");
    let bound = parsed.try_map_atoms(&mut |atom| match atom.bare_name() {
        Some("msb") => Ok(AtomId(1)),
        Some("lsb") => Ok(AtomId(0)),
        _ => Err("another atom"),
    });
    bound.expect("only msb and lsb occur")
}

const ATOMS: usize = 2;

pub fn refine(text: &str, strategy: Strategy, locations: Locations) -> Outcome<Toy> {
    verify(&mut controller(locations), &mut Unobserved, ATOMS, &[random::goal(&formula(text))], strategy, &Unlimited)
}

fn explore(precision: &Precision<Location>) -> StateSpace<State> {
    let mut system = controller(Locations::States);
    StateSpace::explore(&mut system, precision, &Unlimited, &mut Progress::default())
}

/// The state space in words: each state with its successors.
fn show(space: &StateSpace<State>) -> String {
    let name = |index: usize| match space.states[index] {
        State::Cover(word) => word.show(3),
        State::Dummy | State::Hazard => "none".to_owned(),
    };
    let edge = |members: &[u32]| members.iter().map(|member| name(*member as usize)).collect::<Vec<_>>().join("+");
    let line = |state: usize| {
        let edges: Vec<String> = space.edges(state).map(edge).collect();
        format!("{}>{}", name(state), edges.join(","))
    };
    (0..space.states.len()).map(line).collect::<Vec<_>>().join(" ")
}

fn value(space: &StateSpace<State>, text: &str) -> Truth {
    let toy = controller(Locations::States);
    let (graph, labels) = (space.graph(false), space.labels(ATOMS, |state, atom| toy.label(state, atom)));
    let goal = random::goal(&formula(text));
    let problem = mu_calculus::Problem { graph: &graph, labels: &labels, formula: &goal.formula };
    problem.solve(&|| false).expect("nothing cancels it").verdict()
}

fn at(text: &str) -> Location {
    Location::State(Word::read(text))
}

/// Figure 3a: nothing is split, and the paths form a lasso.
#[test]
fn initial_space_is_a_lasso() {
    let space = explore(&Precision::new(Strategy::Default));
    assert_eq!(show(&space), "000>0X1 0X1>X1X X1X>XXX XXX>XXX");
    assert_eq!(value(&space, "EF AG msb"), Truth::Unknown);
    assert_eq!(value(&space, "AX AX (msb <-> lsb)"), Truth::Unknown);
}

/// Figure 4a: the input after 000 is split.
#[test]
fn split_input_shows_the_way_to_the_trap() {
    let mut precision = Precision::new(Strategy::Default);
    assert!(precision.refine(at("000"), Knob::Input(INPUT, 1)));
    let space = explore(&precision);
    assert_eq!(show(&space), "000>001,011 001>010 011>111 010>X10 111>100 X10>X10 100>101 101>101");
    assert_eq!(value(&space, "EF AG msb"), Truth::True);
    assert_eq!(value(&space, "AG EF !msb"), Truth::False);
    assert_eq!(value(&space, "AX AX (msb <-> lsb)"), Truth::True);
}

/// Figure 4b: 001 decays, and what follows it collapses.
#[test]
fn decay_makes_the_space_smaller() {
    let mut precision = Precision::new(Strategy::Decay);
    precision.refine(at("000"), Knob::Input(INPUT, 1));
    for kept in ["011", "111", "100", "101"] {
        precision.refine(at(kept), Knob::Step(STORED, 0b111));
    }
    let space = explore(&precision);
    assert_eq!(show(&space), "000>XXX,011 XXX>XXX 011>111 111>100 100>101 101>101");
    assert_eq!(value(&space, "EF AG msb"), Truth::True);
    assert_eq!(value(&space, "AX AX (msb <-> lsb)"), Truth::Unknown);
}

/// The loop on its own: the verdict, the refinements and the states in the end.
#[track_caller]
fn check(text: &str, strategy: Strategy, locations: Locations, expected: (bool, usize, usize)) {
    let outcome = refine(text, strategy, locations);
    let decision = &outcome.decisions[0];
    let found = (decision.verdict, decision.refinements, decision.space.states.len());
    assert_eq!(found, (Truth::from(expected.0), expected.1, expected.2), "{}", show(&decision.space));
    assert_eq!(Concrete::new(&controller(locations)).holds(&formula(text)), expected.0);
}

const ONE: Locations = Locations::Bits(0);

#[test]
fn the_bug_is_proved_with_one_refinement() {
    check("EF AG msb", Strategy::Default, ONE, (true, 1, 8));
    check("EF AG msb", Strategy::Naive, ONE, (true, 0, 8));
    check("AG EF !msb", Strategy::Default, ONE, (false, 1, 8));
    check("AG EF !msb", Strategy::Naive, ONE, (false, 0, 8));
}

/// As the paper writes it, in CTL*; the naive evaluation knows only CTL.
#[test]
fn the_two_step_property_is_one_of_linear_time() {
    for strategy in Strategy::ALL {
        for locations in [ONE, Locations::States] {
            let outcome = refine("A[X X (msb <-> lsb)]", strategy, locations);
            assert_eq!(outcome.decisions[0].verdict, Truth::True, "{strategy:?}, {locations:?}");
            let outcome = refine("A[X X X (msb <-> lsb)]", strategy, locations);
            assert_eq!(outcome.decisions[0].verdict, Truth::False, "{strategy:?}, {locations:?}");
        }
    }
    assert_eq!(value(&explore(&Precision::new(Strategy::Default)), "A[X X (msb <-> lsb)]"), Truth::Unknown);
}

#[test]
fn the_two_step_property_needs_the_same_split() {
    check("AX AX (msb <-> lsb)", Strategy::Default, ONE, (true, 1, 8));
    check("AX AX (msb <-> lsb)", Strategy::Default, Locations::States, (true, 1, 8));
    check("AX AX (msb <-> lsb)", Strategy::Naive, ONE, (true, 0, 8));
    check("AX AX AX (msb <-> lsb)", Strategy::Default, ONE, (false, 1, 8));
    check("AX !msb", Strategy::Default, Locations::States, (true, 0, 4));
}

/// With precision per state the loop finds the split of Figure 4a; the second split, which the same round chooses for
/// what comes later on the same path, is never used.
#[test]
fn the_loop_finds_the_split_after_the_start() {
    let outcome = refine("EF AG msb", Strategy::Default, Locations::States);
    let decision = &outcome.decisions[0];
    assert_eq!(show(&decision.space), "000>001,011 001>010 011>111 010>X10 111>100 X10>X10 100>101 101>101");
    assert_eq!((outcome.passes, decision.verdict), (2, Truth::True));
    let is_split = |state: &str| outcome.precision.at(&at(state)).inputs.get(INPUT) != 0;
    assert!(is_split("000") && !["001", "010", "011", "X10"].into_iter().any(is_split));
}

/// After the start with input 0 the gear can always be extended: the start with input 1 is all that is wrong.
#[test]
fn only_the_start_with_input_1_is_wrong() {
    let after_0 = Toy { start: Start::State(0b001), ..controller(ONE) };
    assert!(Concrete::new(&after_0).holds(&formula("AG EF !msb")));
    let after_1 = Toy { start: Start::State(0b011), ..controller(ONE) };
    assert!(!Concrete::new(&after_1).holds(&formula("AG EF !msb")));
}
