//! Runs of random programs, symbolic and concrete: under each assignment one path is taken, to the same end.

use avr_isa::FlashWordAddress;
use avr_machine::device::Device;
use avr_machine::{Machine, Options, Program, Stop};
use avr_symbolic::{
    Assignment, Cannot, EndKind, ExecutionLimits, Executor, Graph, PathCondition, Strategy, SymbolicState, Valuation,
    concrete_state, power_on, replay,
};
use avr_testkit::programs::{interrupted, varied};
use avr_testkit::{Random, cases};

/// Counts of what was compared.
#[derive(Debug, Default)]
struct Count {
    goals: usize,
    hazards: usize,
    unfinished: usize,
    merges: usize,
}

fn machine(words: &[u16]) -> Machine {
    let device = Device::named("atmega328p").expect("the device exists");
    let word = |address: u32| words.get(address as usize).copied();
    let program = Program::decode(device.memory.flash_words(), device.core.features, word);
    Machine::new(device, program, Options::default())
}

/// Checks the paths of a program from power-on to an instruction.
fn check(words: &[u16], random: &mut Random, count: &mut Count) {
    let machine = machine(words);
    let graph = Graph::new(1 << 18);
    let targets: Vec<FlashWordAddress> = machine.program.instructions().map(|(address, _)| address).collect();
    let target = targets[targets.len() - 1 - random.below(targets.len() / 4)];
    let strategy = match random.below(3) {
        0 => Strategy::entering(&[]),
        1 => Strategy::entering(&[1, 2, 1]),
        _ => Strategy::anything(),
    };
    let limits = ExecutionLimits { steps: 250, paths: 60, outcomes: 200, ..ExecutionLimits::default() };
    let start = (power_on(&machine, &graph), PathCondition::new());
    let is_end = |state: &SymbolicState<'_>| state.control.pc == target;
    let execution = Executor::new(&machine, limits).execute(&graph, start, &strategy, &is_end);
    count.merges += execution.merges;
    for _ in 0..cases(6, 30) {
        let mut assignment = Assignment::default();
        graph.variables().for_each(|variable| assignment.set(variable, random.once_in(2)));
        let mut values = Valuation::new(&graph, assignment);
        let on = execution.ends.iter().filter(|end| values.bit(&end.condition.bit()) == Some(true)).count();
        assert_eq!(on, 1, "{on} paths under {strategy:?} to {target:?}");
        let (mut run, end) = execution.concrete(&mut values).unwrap_or_else(|error| panic!("{error}"));
        let end = &execution.ends[end];
        assert_eq!(values.bit(&end.condition.bit()), Some(true));
        if let EndKind::Cannot(_) = end.kind {
            run.steps.pop();
        }
        match (&end.kind, replay(&machine, &run).unwrap_or_else(|error| panic!("{error}, {strategy:?}"))) {
            (EndKind::Goal(state), Ok(found)) => {
                count.goals += 1;
                let expected = concrete_state(state, &mut values).expect("no bit is open");
                assert_eq!(expected.control, found.control.of_hardware());
                assert_eq!(expected.calls.frames(), found.calls.frames());
                assert_eq!(expected.data.cells(), found.data.cells());
            }
            (EndKind::Hazard(expected), Err(Stop::Hazard(found))) => {
                count.hazards += 1;
                assert_eq!(*expected, found);
            }
            (EndKind::Cannot(reason), Ok(_)) => {
                count.unfinished += 1;
                assert!(!matches!(reason, Cannot::Open | Cannot::Question | Cannot::Contradiction), "{reason}");
            }
            (kind, found) => panic!("{kind:?}, but {:?}", found.map(|state| state.control)),
        }
    }
}

fn check_all(program: fn(&mut Random) -> Vec<u16>, seed: u64, programs: u64) -> Count {
    let mut random = Random::new(seed);
    let mut count = Count::default();
    for _ in 0..programs {
        let words = program(&mut random);
        check(&words, &mut random, &mut count);
    }
    count
}

#[test]
fn interrupted_programs_take_one_path_to_the_same_end() {
    let count = check_all(interrupted::program, 21, cases(150, 3_000));
    assert!(count.goals > 200 && count.hazards > 40 && count.merges > 500, "{count:?}");
}

#[test]
fn varied_programs_take_one_path_to_the_same_end() {
    let count = check_all(varied::program, 22, cases(150, 3_000));
    assert!(count.goals > 100 && count.hazards > 20 && count.merges > 200, "{count:?}");
}
