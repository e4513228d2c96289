//! Tests of the oracle: it agrees with the verifier as it is, does not when something in it is wrong, and its two solvers
//! agree with each other.

use crate::ask::Asker;
use crate::board::{BOARDS, Board};
use crate::compare::{self, Counts};
use crate::formula::{Atom, Binary, Formula, Logic, Path, Property, Runs, Unary};
use crate::graph::Graph;
use crate::machine::{Fault, Machine};
use crate::program::Program;
use crate::{generate, solve};
use avr_testkit::Random;
use std::collections::BTreeSet;

/// Programs that are compared, and the most for each fault.
const PROGRAMS: u64 = 120;
const PROGRAMS_FOR_FAULT: u64 = 400;

#[test]
fn the_verifier_agrees() {
    let mut counts = Counts::default();
    compare::run(1..=PROGRAMS, None, &mut counts);
    assert_eq!(counts.contradictions, Vec::<String>::new());
    assert!(counts.programs > PROGRAMS * 8 / 10, "{:?}", counts.left_out);
    assert!(counts.holds > PROGRAMS && counts.violated > PROGRAMS, "{counts:?}");
    assert!(counts.unknown * 20 < counts.properties, "{:?}", counts.reasons);
    assert!(counts.sharp * 4 > counts.properties, "only {} of {} are sharp", counts.sharp, counts.properties);
}

#[test]
fn handlers_run_on_all_devices() {
    let on = |seed: u64| {
        let program = generate::program(&mut Random::new(seed), Board::of(seed));
        let graph = Graph::explore(&Machine { program: &program, fault: None }, 600).ok()?;
        graph.states.iter().any(|state| state.handlers > 0).then_some(program.board.name)
    };
    let all: BTreeSet<&str> = (1..=PROGRAMS).filter_map(on).collect();
    assert_eq!(all, BOARDS.iter().map(|board| board.name).collect());
}

/// The number of programs that it takes to find a fault.
fn programs_to_find(fault: Fault) -> Option<u64> {
    let mut counts = Counts::default();
    (1..=PROGRAMS_FOR_FAULT).find(|seed| {
        compare::run([*seed], Some(fault), &mut counts);
        !counts.contradictions.is_empty()
    })
}

#[test]
fn faults_are_found() {
    for fault in [
        Fault::NoDelayAfterSei,
        Fault::NoDelayAfterReti,
        Fault::RetiKeepsI,
        Fault::EntryKeepsI,
        Fault::EntryTakesTwoSteps,
        Fault::BranchInverted,
        Fault::InputsAreZero,
        Fault::NoInterrupts,
        Fault::InterruptsAreCertain,
        Fault::OnlyTheFirstInterrupt,
        Fault::SkipNever,
        Fault::VectorsOfTwoWords,
        Fault::ReturnsOfTwoBytes,
    ] {
        assert!(programs_to_find(fault).is_some(), "{fault:?} is not found");
    }
}

/// The graph of a random program that is small.
fn small_graph(random: &mut Random) -> Graph {
    loop {
        let program = generate::program(random, &BOARDS[0]);
        if let Ok(graph) = Graph::explore(&Machine { program: &program, fault: None }, 600) {
            return graph;
        }
    }
}

/// Branching time is decided by fixed points, and the same by the tableau where the operands are without time.
#[test]
fn solvers_agree() {
    let mut random = Random::new(7);
    for _ in 0..40 {
        let graph = small_graph(&mut random);
        let mut asker = Asker::new(&mut random, &Program::default(), &graph);
        let (p, q) = (asker.description(), asker.description());
        let state = |formula: &Formula| Box::new(Path::State(formula.clone()));
        for runs in [Runs::All, Runs::Some] {
            for unary in [Unary::Next, Unary::Eventually, Unary::Always] {
                let branching = Formula::Unary(runs, unary, Box::new(p.clone()));
                let linear = Formula::Path(runs, Box::new(Path::Unary(unary, state(&p))));
                assert_eq!(solve::set(&graph, &branching), solve::set(&graph, &linear), "{branching}");
            }
            for binary in [Binary::Until, Binary::Weak, Binary::Release] {
                let branching = Formula::Binary(runs, binary, Box::new(p.clone()), Box::new(q.clone()));
                let linear = Formula::Path(runs, Box::new(Path::Binary(binary, state(&p), state(&q))));
                assert_eq!(solve::set(&graph, &branching), solve::set(&graph, &linear), "{branching}");
            }
        }
    }
}

/// `E[G F p]` is `nu X. mu Y. (p && EX X) || EX Y`, and `A[F G p]` its counterpart.
#[test]
fn linear_time_agrees_with_fixed_points() {
    let mut random = Random::new(8);
    for _ in 0..40 {
        let graph = small_graph(&mut random);
        let p = Asker::new(&mut random, &Program::default(), &graph).description();
        let box_of = |formula: &Formula| Box::new(formula.clone());
        let next = |runs: Runs, variable: usize| {
            Box::new(Formula::Unary(runs, Unary::Next, Box::new(Formula::Variable(variable))))
        };
        let path =
            |outer, inner| Box::new(Path::Unary(outer, Box::new(Path::Unary(inner, Box::new(Path::State(p.clone()))))));
        let nested = |greatest: bool, body: Formula| {
            let inner = Formula::Fixed { greatest: !greatest, variable: 1, body: Box::new(body) };
            Formula::Fixed { greatest, variable: 0, body: Box::new(inner) }
        };
        let again = Formula::Logic(Logic::And, box_of(&p), next(Runs::Some, 0));
        let again = nested(true, Formula::Logic(Logic::Or, Box::new(again), next(Runs::Some, 1)));
        let linear = Formula::Path(Runs::Some, path(Unary::Always, Unary::Eventually));
        assert_eq!(solve::set(&graph, &again), solve::set(&graph, &linear), "{linear}");
        let settles = Formula::Logic(Logic::Or, box_of(&p), next(Runs::All, 0));
        let settles = nested(false, Formula::Logic(Logic::And, Box::new(settles), next(Runs::All, 1)));
        let linear = Formula::Path(Runs::All, path(Unary::Eventually, Unary::Always));
        assert_eq!(solve::set(&graph, &settles), solve::set(&graph, &linear), "{linear}");
    }
}

fn entered() -> Formula {
    Formula::Atom(Atom::Pc(0))
}

/// The text of properties is what the verifier reads, with brackets wherever operators meet.
#[test]
fn properties_are_written_with_brackets() {
    let p = || Box::new(entered());
    let formula = Formula::Unary(Runs::All, Unary::Always, Box::new(Formula::Logic(Logic::Implies, p(), p())));
    assert_eq!(Property::Formula(formula).to_string(), "AG ((pc == 0x0) -> (pc == 0x0))");
    let path = Path::Binary(Binary::Until, Box::new(Path::State(entered())), Box::new(Path::State(entered())));
    assert_eq!(Property::Ltl(path).to_string(), "Ltl(check: \"((pc == 0x0)) U ((pc == 0x0))\")");
}
