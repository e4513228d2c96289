//! Formulas over programs with paths that end, against the same formulas where what leads only to ends is taken away.

use avr_properties::{AtomKind, AtomTable, Binding, Definitions, Property, bind};
use mu_calculus::{GraphBuilder, HyperGraph, Labels, NormalForm, Problem, StateId};
use three_valued::Truth;

use crate::support::{device, hex};
use avr_testkit::Random;

/// A formula about states: CTL, the mu-calculus and linear time, `depth` operators deep.
fn formula(random: &mut Random, depth: u32) -> String {
    let atom = |random: &mut Random| random.pick(&["PORTB.PORTB0", "!PORTB.PORTB0", "PORTB.PORTB1"]).to_owned();
    if depth == 0 {
        return atom(random);
    }
    let part = |random: &mut Random| {
        let depth = random.below(depth);
        format!("({})", formula(random, depth))
    };
    let (p, q) = (part(random), part(random));
    let quantifier = random.pick(&["A", "E"]);
    match random.below(9) {
        0 => format!("!{p}"),
        1 => format!("{p} && {q}"),
        2 => format!("{p} -> {q}"),
        3 | 4 => format!("{quantifier}{} {p}", random.pick(&["X", "F", "G"])),
        5 | 6 => format!("{quantifier}[{p} {} {q}]", random.pick(&["U", "W", "R"])),
        7 => format!("{quantifier}[{}]", path(random, &p, &q)),
        _ => match random.below(4) {
            0 => format!("[]{p}"),
            1 => format!("<>{p}"),
            2 => format!("nu Y. {p} && [](<>Y)"),
            _ => format!("mu Y. {p} || <>(Y || []{q} && Y)"),
        },
    }
}

fn path(random: &mut Random, p: &str, q: &str) -> String {
    match random.below(6) {
        0 => format!("G F {p}"),
        1 => format!("F G {p} || X {q}"),
        2 => format!("({p} U {q}) && F {p}"),
        3 => format!("G ({p} -> X {q})"),
        4 => format!("G ({p} -> O {q})"),
        _ => format!("F {p} -> ({q} S {p})"),
    }
}

/// A program as its steps, with the ends of paths and the values of two atoms.
struct Program {
    steps: Vec<Vec<usize>>,
    is_end: Vec<bool>,
    values: [Vec<bool>; 2],
}

impl Program {
    fn new(random: &mut Random) -> Self {
        let count = 2 + random.below(5);
        let is_end: Vec<bool> = (0..count).map(|state| state > 0 && random.once_in(4)).collect();
        let steps = (0..count).map(|state| match is_end[state] {
            true => vec![state],
            false => (0..1 + random.below(2)).map(|_| random.below(count)).collect(),
        });
        let steps = steps.collect();
        let values = [(); 2].map(|()| (0..count).map(|_| random.once_in(2)).collect());
        Self { steps, is_end, values }
    }

    /// The states from which every path ends.
    fn doomed(&self) -> Vec<bool> {
        let mut doomed = self.is_end.clone();
        for _ in 0..doomed.len() {
            for (state, steps) in self.steps.iter().enumerate() {
                doomed[state] |= steps.iter().all(|next| doomed[*next]);
            }
        }
        doomed
    }

    /// The graph of the steps that fulfil a condition, with state 0 as its first.
    fn graph(&self, keeps: &dyn Fn(usize, usize) -> bool) -> HyperGraph {
        let mut builder = GraphBuilder::new();
        for (state, steps) in self.steps.iter().enumerate() {
            let id = builder.state();
            let kept: Vec<usize> = steps.iter().copied().filter(|next| keeps(state, *next)).collect();
            kept.iter().for_each(|next| _ = builder.edge([StateId(*next as u32)]));
            if kept.is_empty() {
                builder.edge([id]);
            }
        }
        builder.finish(StateId(0)).expect("the members are states")
    }

    /// The labels, where behind an end nothing but the end is known.
    fn labels(&self, table: &AtomTable, knows_ends: bool) -> Labels {
        let mut labels = Labels::new(table.atoms().len(), self.steps.len());
        for (atom, number) in table.atoms().iter().zip(0..) {
            for (state, is_end) in self.is_end.iter().enumerate() {
                let truth = match atom.kind() {
                    kind if *is_end && knows_ends => kind.at_hazard(true),
                    AtomKind::Ended => Truth::False,
                    AtomKind::CellEquals { mask, equals, .. } => {
                        let value = self.values[mask.trailing_zeros() as usize][state];
                        Truth::from(value == (*equals != 0))
                    }
                    other => unreachable!("{other:?} is in no such formula"),
                };
                labels.set(mu_calculus::AtomId(number), StateId(state as u32), truth);
            }
        }
        labels
    }
}

fn truths(graph: &HyperGraph, labels: &Labels, formula: &NormalForm) -> Vec<Truth> {
    let solution = Problem { graph, labels, formula }.solve(&|| false).expect("nobody cancels");
    graph.states().map(|state| solution.truth(state, formula.root())).collect()
}

#[test]
fn formulas_speak_of_the_paths_that_never_end() {
    let (image, mut random) = (hex(), Random::new(1));
    let binding = Binding {
        device: device("atmega328p"),
        image: &image,
        start: 0,
        ends_paths: true,
        stacks: &[],
        boot_start: None,
    };
    let (mut compared, mut different) = (0, 0);
    for _ in 0..avr_testkit::cases(3_000, 30_000) {
        let depth = 1 + random.below(3);
        let text = formula(&mut random, depth);
        let mut table = AtomTable::new();
        let property = Property::from_command_line(&text).expect("it is a formula");
        let bound =
            bind(&property, &Definitions::new(), &binding, &mut table).unwrap_or_else(|e| panic!("{text}: {e}"));
        let program = Program::new(&mut random);
        let doomed = program.doomed();
        let endless = program.graph(&|from, to| !doomed[from] && !doomed[to]);
        let plain = NormalForm::new(&bound.formula).expect("it translates");
        let expected = truths(&endless, &program.labels(&table, false), &plain);
        let all = program.graph(&|_, _| true);
        let found =
            truths(&all, &program.labels(&table, true), &bound.restricted(&bound.formula).expect("it translates"));
        let unrestricted = truths(&all, &program.labels(&table, false), &plain);
        for state in (0..doomed.len()).filter(|state| !doomed[*state]) {
            assert_eq!(found[state], expected[state], "{text} in state {state} of {:?}", program.steps);
            compared += 1;
            different += usize::from(unrestricted[state] != expected[state]);
        }
        // A property of the state before the start leaves out initial contents with which every path ends.
        let from_start =
            truths(&all, &program.labels(&table, true), &bound.from_start(&bound.formula).expect("it translates"));
        for (state, steps) in program.steps.iter().enumerate() {
            let left = || steps.iter().filter(|next| !doomed[**next]);
            assert_eq!(from_start[state].is_true(), left().all(|next| expected[*next].is_true()), "{text}");
            let something_is_left = bound.something_is_left().expect("paths may end");
            let is_left = truths(&all, &program.labels(&table, true), &something_is_left)[state];
            assert_eq!(is_left, Truth::from(left().count() > 0));
        }
    }
    assert!(compared > 5_000 && different > 100, "{different} of {compared} tell anything");
}

#[test]
fn the_inherent_property_sees_every_path_into_a_hazard() {
    let image = hex();
    let binding = Binding {
        device: device("atmega328p"),
        image: &image,
        start: 0,
        ends_paths: true,
        stacks: &[],
        boot_start: None,
    };
    let bound = bind(&Property::inherent(), &Definitions::new(), &binding, &mut AtomTable::new()).expect("it is bound");
    assert_eq!(bound.restricted(&bound.formula), Ok(NormalForm::new(&bound.formula).expect("it translates")));
    assert!(bound.something_is_left().is_some());
}
