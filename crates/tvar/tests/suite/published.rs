//! Properties and traps from the literature and from the design, on systems just large enough for them.

use crate::concrete::Concrete;
use crate::function::{Builder, Function, Gate, selection};
use crate::random;
use crate::toy::{ATOMS, Locations, STORED, Start, Toy};
use mu_calculus::{AtomId, Formula, Problem, parse_formula};
use three_valued::Truth;
use tvar::{Knob, Precision, Progress, StateSpace, Strategy, System, Unlimited, Unobserved, verify};

/// A formula over the atoms `p` and `q`.
fn formula(text: &str) -> Formula<AtomId> {
    let parsed = parse_formula(text).expect("the formula parses");
    let bound = parsed.try_map_atoms(&mut |atom| match atom.bare_name() {
        Some("p") => Ok(AtomId(0)),
        Some("q") => Ok(AtomId(1)),
        _ => Err("another atom"),
    });
    bound.expect("only p and q occur")
}

/// A system of two stored bits, `p` above `q`, and one input bit, by where inputs 0 and 1 lead from each state.
fn four_states(next: [[u64; 2]; 4]) -> Toy {
    Toy {
        width: 2,
        inputs: 1,
        step: Function::Table((0..8).map(|argument| next[argument & 3][argument >> 2]).collect()),
        atoms: selection(&[1, 0]),
        hazard: None,
        start: Start::State(0b10),
        locations: Locations::Bits(0),
        abstracted: 0,
        offers_cases: false,
        glances: false,
        mutation: None,
    }
}

/// The verdict of the loop with every strategy and that of the concrete system.
#[track_caller]
fn check(toy: &Toy, text: &str, expected: bool) {
    assert_eq!(Concrete::new(toy).holds(&formula(text)), expected, "concretely: {text}");
    check_loop(toy, text, expected);
}

/// The verdict of the loop with every strategy.
#[track_caller]
fn check_loop(toy: &Toy, text: &str, expected: bool) {
    let formula = formula(text);
    for strategy in Strategy::ALL {
        for locations in [Locations::Bits(0), Locations::States] {
            let mut system = Toy { locations, ..toy.clone() };
            let goal = random::goal(&formula);
            let outcome = verify(&mut system, &mut Unobserved, ATOMS as usize, &[goal], strategy, &Unlimited);
            assert_eq!(outcome.decisions[0].verdict, Truth::from(expected), "{strategy:?}, {locations:?}: {text}");
        }
    }
}

/// `p` for as long as the input is 0, then one state without it, then `p` for ever: on every path `p` holds for ever in
/// the end (`F G p` of linear time). But as long as the input is 0 it need not stay so (`AF AG p`).
#[test]
fn for_ever_in_the_end_is_no_matter_of_ctl() {
    let toy = four_states([[0b11, 0b11], [0b01, 0b01], [0b10, 0b00], [0b11, 0b11]]);
    check(&toy, "AF AG p", false);
    check(&toy, "mu X. nu Y. []X || (p && []Y)", true);
    check_loop(&toy, "A[F G p]", true);
    check_loop(&toy, "A[G F !p]", false);
    check(&toy, "AG EF AG p", true);
    check(&toy, "nu X. mu Y. []Y || ((p -> q) && []X)", false);
    check(&toy, "A[p U (!p || AG p)] || EG (p && !q)", true);
}

/// `p` in every second state, and between them as the input says: countable in the mu-calculus, not in CTL.
#[test]
fn p_at_even_times() {
    let toy = four_states([[0b10, 0b10], [0b00, 0b00], [0b01, 0b11], [0b10, 0b10]]);
    check(&toy, "nu X. p && [][]X", false);
    let toy = four_states([[0b10, 0b10], [0b10, 0b10], [0b01, 0b11], [0b10, 0b10]]);
    check(&toy, "nu X. p && [][]X", true);
    check(&toy, "[]nu X. p && [][]X", false);
    check(&toy, "nu X. p && <><>X", true);
    check(&toy, "AG p", false);
    check(&toy, "[]nu X. q && [][]X", true);
}

/// A byte that is never initialised and never written, with `p` where it is 5 (of three bits).
fn uninitialised() -> Toy {
    let mut builder = Builder::default();
    let bits = builder.leaves(0, 3);
    let other = builder.gate(Gate::Not(bits[1]));
    let is_five = builder.all(&[bits[2], other, bits[0]]);
    Toy {
        width: 3,
        inputs: 1,
        step: selection(&[0, 1, 2]),
        atoms: builder.finish(vec![is_five, bits[0]]),
        start: Start::Content { reset: 0, open: 0b111 },
        offers_cases: true,
        glances: false,
        ..four_states([[0; 2]; 4])
    }
}

/// The content was chosen before the first step. Cutting it into cases later must not prove that the system can choose
/// it then.
#[test]
fn stored_content_is_not_chosen_later() {
    let toy = uninitialised();
    check(&toy, "[]EF p", false);
    check(&toy, "<>AG p", true);
    check(&toy, "[](EF p || AG !p)", true);
    let mut precision = Precision::new(Strategy::Default);
    let location = toy.location(&crate::toy::State::Cover(crate::word::Word::exact(0)));
    precision.refine(location, Knob::Case(STORED, 0b111));
    let value = |text: &str| {
        let space = StateSpace::explore(&mut toy.clone(), &precision, &Unlimited, &mut Progress::default());
        let (graph, labels) = (space.graph(false), space.labels(2, |state, atom| toy.label(state, atom)));
        let goal = random::goal(&formula(text));
        let problem = Problem { graph: &graph, labels: &labels, formula: &goal.formula };
        problem.solve(&|| false).expect("nothing cancels it").verdict()
    };
    assert_eq!(value("[]EF p"), Truth::Unknown);
    assert_eq!(value("[]EX p"), Truth::Unknown);
    // A value that is the same in all cases is known.
    assert_eq!(value("[]AX AX (p -> q)"), Truth::True);
    assert_eq!(value("[]AX (AG p || AG !p)"), Truth::True);
}
