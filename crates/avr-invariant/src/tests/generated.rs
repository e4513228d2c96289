//! Runs of random programs stay inside of their maps.

use avr_isa::FlashWordAddress;
use avr_machine::device::Device;
use avr_machine::{FrameKind, Machine, MachineState};
use avr_machine::{Options as MachineOptions, Program};
use avr_testkit::programs::interrupted::{self, nested};
use avr_testkit::programs::varied;
use avr_testkit::{Random, cases};

use super::runs::{Chaos, End, compare, run, run_from};
use crate::faults::{Fault, with_fault};
use crate::gap::Reason;
use crate::lookup::{Contents, Lookup};
use crate::map::Thread;
use crate::pass::{Analysis, Options, analyse, analyse_from};
use crate::step::Start;

/// The machine with a random program.
fn machine(program: fn(&mut Random) -> Vec<u16>, seed: u64) -> Machine {
    machine_with(program, seed, MachineOptions::default())
}

fn machine_with(program: fn(&mut Random) -> Vec<u16>, seed: u64, options: MachineOptions) -> Machine {
    let words = program(&mut Random::new(seed));
    let device = Device::named("atmega328p").expect("the device exists");
    let word = |address: u32| words.get(address as usize).copied();
    let program = Program::decode(device.memory.flash_words(), device.core.features, word);
    Machine::new(device, program, options)
}

/// The first contradiction between runs of a program and its map; none if the map is open. Besides, whether it is closed.
fn contradiction(machine: &Machine, runs: u64) -> (bool, Option<String>) {
    let limits = Options { states: 10_000, steps: 30_000, ..Options::default() };
    let Analysis { map, outcome, .. } = analyse(machine, &limits);
    let Ok(claims) = outcome else { return (false, None) };
    let problem = (0..runs).find_map(|seed| {
        let compared = compare(machine, &map, &claims, seed, [2, 5, 1, 30][seed as usize % 4], 500);
        compared.err().map(|problem| format!("run {seed}: {problem}"))
    });
    (true, problem)
}

/// The first contradiction between runs that go on from a state and the map from there; none if it is open. Besides, whether it is closed
/// and begins in a handler.
fn contradiction_behind(machine: &Machine, seed: u64) -> (Option<bool>, Option<String>) {
    let before = 20 + seed as usize % 300;
    let Ok((End::Steps, start)) = run(machine, &mut Chaos::new(seed, 5), before, |_, _| Ok(())) else {
        return (None, None);
    };
    let limits = Options { states: 10_000, steps: 30_000, ..Options::default() };
    let Analysis { map, outcome, .. } = analyse_from(machine, Start::At(&start), &limits, &|| false);
    let Ok(claims) = outcome else { return (None, None) };
    let lookup = Lookup::new(&map);
    let problem = (0..8).find_map(|run| {
        let mut oldest = start.calls.frames().len();
        let look = |state: &MachineState<u8>, contents: Contents<'_>| {
            oldest = oldest.min(state.calls.frames().len());
            let found = lookup.difference_above(state, contents, oldest);
            found.map_or(Ok(()), |found| Err(format!("run {run} at {:#06x}: {found}", state.control.pc.byte().0)))
        };
        let world = &mut Chaos::new(1_000 * (run + 1) + seed, [2, 5, 1, 30][run as usize % 4]);
        match run_from(machine, (start.clone(), world), 500, look) {
            Ok((End::Hazard(hazard), _)) if claims.has_no_hazard() => Some(format!("run {run} comes to {hazard:?}")),
            Ok(_) => None,
            Err(problem) => Some(problem),
        }
    });
    let in_handler = start.calls.frames().iter().any(|frame| matches!(frame.kind, FrameKind::Interrupt(_)));
    (Some(in_handler), problem)
}

#[test]
fn runs_from_a_state_stay_inside_of_the_map_from_there() {
    let mut closed = [0, 0];
    for seed in 0..cases(150, 4_000) {
        let (in_handler, problem) = contradiction_behind(&machine(interrupted::program, seed % 200), seed);
        assert_eq!(problem, None, "seed {seed}");
        in_handler.into_iter().for_each(|in_handler| closed[usize::from(in_handler)] += 1);
    }
    assert!(closed[0] > 40 && closed[1] > 4, "{closed:?} maps are closed");
}

#[test]
fn runs_from_a_state_find_faults() {
    for fault in [Fault::StartForgotten, Fault::InterferenceForgotten] {
        let is_found = |seed: u64| {
            let machine = machine(interrupted::program, seed % 200);
            with_fault(fault, || contradiction_behind(&machine, seed)).1.is_some()
        };
        assert!((0..400).any(is_found), "{fault:?} is not found");
    }
}

/// Checks that no run contradicts a map, and that most maps are closed.
#[track_caller]
fn check(program: fn(&mut Random) -> Vec<u16>, programs: u64, least: u64) {
    let mut closed = 0;
    for seed in 0..programs {
        let (is_closed, problem) = contradiction(&machine(program, seed), 8);
        assert_eq!(problem, None, "seed {seed}");
        closed += u64::from(is_closed);
    }
    assert!(closed * 100 >= least * programs, "only {closed} of {programs} maps are closed");
}

#[test]
fn runs_of_interrupted_programs_stay_inside() {
    check(interrupted::program, cases(100, 3_000), 70);
}

#[test]
fn runs_of_programs_with_nested_handlers_stay_inside() {
    check(nested, cases(100, 3_000), 60);
}

#[test]
fn runs_of_varied_programs_stay_inside() {
    check(varied::program, cases(100, 3_000), 5);
}

/// A machine whose start-up code ends somewhere in a program with interrupts, and properties speak of it.
fn observed(end: u32, seed: u64) -> Machine {
    let main = Some(FlashWordAddress(end));
    let options = MachineOptions { main, observes_startup: true, ..MachineOptions::default() };
    machine_with(interrupted::program, seed, options)
}

#[test]
fn runs_stay_inside_where_the_start_up_code_is_observed() {
    let (mut closed, mut seen) = (0, [false; 2]);
    for seed in 0..cases(100, 3_000) {
        let machine = observed(interrupted::MAIN + 8 + (seed % 24) as u32, seed);
        let (is_closed, problem) = contradiction(&machine, 8);
        assert_eq!(problem, None, "seed {seed}");
        closed += u64::from(is_closed);
        let Analysis { map, .. } = analyse(&machine, &Options { steps: 30_000, ..Options::default() });
        for entry in map.entries.iter().filter(|entry| entry.place.thread != Thread::Main) {
            seen[usize::from(entry.place.control.in_startup)] = true;
        }
    }
    assert!(closed > 30 && seen == [true; 2], "{closed} maps are closed");
}

#[test]
fn nothing_follows_where_the_start_up_code_ends_at_zero() {
    let outcome = analyse(&observed(0, 1), &Options::default()).outcome;
    assert_eq!(outcome.expect_err("a handler returns to 0").reason, Reason::StartupEndsAtZero);
}

#[test]
fn runs_of_random_programs_find_faults() {
    let faults = [
        Fault::InterferenceForgotten,
        Fault::ClosedAtJumps,
        Fault::FirstMemoryOnly,
        Fault::RegistersTrusted,
        Fault::NothingRenamed,
        Fault::MarksForgotten,
        Fault::DeadCellsKept,
    ];
    let nesting = [Fault::NestingForgotten, Fault::NestedWritesForgotten, Fault::InterferenceForgotten];
    let programs = |fault: Fault| (fault, interrupted::program as fn(&mut Random) -> Vec<u16>);
    let all = faults.map(programs).into_iter().chain(nesting.map(|fault| (fault, nested as _)));
    for (fault, program) in all {
        let mut seeds = 0..300;
        let is_found = |seed: u64| {
            let machine = machine(program, seed);
            with_fault(fault, || contradiction(&machine, 8)).1.is_some()
        };
        assert!(seeds.any(is_found), "{fault:?} is not found");
    }
}
