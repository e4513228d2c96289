//! Step soundness: whatever a concrete step does, some result of the abstract step stands for it.
//!
//! Random three-valued states are stepped by every instruction with every answer to every question. Random concrete
//! states that they stand for are stepped with random inputs. The provenance domain must know exactly what the
//! three-valued one knows, and have an origin for what it does not know.

mod exploration;
mod random;
mod readback;
mod states;

use avr_isa::{DataAddress, FeatureSet, Instruction};
use avr_machine::device::{Device, ResetCause};
use avr_machine::{HazardKind, Limit, Machine, MachineState, Options, Program, Stop};
use exploration::{Learning, Manner, Outcome, Path, explore, follow, run};
use random::Random;
use std::collections::BTreeMap;
use three_valued::{ByteDomain, TvByte};

/// The most paths of an abstract step that are looked at; steps with more are counted and left out.
const MOST_PATHS: usize = 1000;
/// Encodings of each operation.
const ENCODINGS: usize = 12;
/// Abstract states for each encoding, of which one is also stepped with provenance, which takes longest.
const STATES: usize = 6;
/// Concrete states for each abstract one.
const CONCRETE: usize = 8;

/// Counts of steps for an operation.
#[derive(Debug, Default)]
struct Count {
    concrete: usize,
    followed: usize,
}

fn machine(device: &'static Device, program: &Program, variant: usize) -> Machine {
    let all = HazardKind::ALL.iter().copied();
    let options = match variant {
        0 => Options::default(),
        1 => Options { allowed: all.collect(), ..Options::default() },
        2 => Options { forbidden: all.collect(), static_data_end: Some(DataAddress(0x300)), ..Options::default() },
        _ => Options {
            allowed: all.filter(|kind| kind.name().contains("memory") || kind.name().contains("return")).collect(),
            resets: vec![ResetCause::External, ResetCause::BrownOut],
            ..Options::default()
        },
    };
    Machine::new(device, program.clone(), options)
}

/// True if an abstract result stands for a concrete one. A limit is a state in which everything is open.
fn stands_for(path: &Outcome<TvByte>, concrete: &Outcome<u8>) -> bool {
    match (path, concrete) {
        (Err(Stop::Limit(_)), _) => true,
        (Ok((state, cycles)), Ok((end, taken))) => cycles == taken && states::covers(state, end),
        (Err(Stop::Hazard(expected)), Err(Stop::Hazard(found))) => expected.kind == found.kind,
        _ => false,
    }
}

/// Checks one abstract state before one instruction.
fn check(machine: &Machine, place: u32, instruction: Instruction, random: &mut Random, count: &mut Count) {
    let learns = random.pick(&[Learning::Nothing, Learning::Nothing, Learning::Equalities, Learning::Inequalities]);
    let start = states::state(machine, place, learns != Learning::Nothing, random);
    let manner = Manner { learns, settles_late: random.below(2) == 0 };
    let Some(paths) = explore(machine, &start, MOST_PATHS, manner) else { return };
    if random.below(STATES) == 0 {
        check_traced(machine, &start, &paths, manner);
    }
    for _ in 0..CONCRETE {
        let concrete = states::concretise(&start, random);
        let (happening, outcome) = run(machine, &concrete, random);
        assert_ne!(outcome.as_ref().err(), Some(&Stop::Infeasible), "{instruction:?} from a concrete state");
        // Nothing is chosen where one thing is possible; more of them may be where requests are settled late.
        let is_alike = |path: &Path<TvByte>| path.happening == happening || manner.settles_late && happening.is_none();
        let mut candidates = paths.iter().filter(|path| is_alike(path) || limited(path));
        let Some(path) = candidates.find(|path| stands_for(&path.outcome, &outcome)) else {
            panic!("{}", describe(instruction, &start, &concrete, &paths, &outcome))
        };
        count.concrete += 1;
        count.followed += usize::from(!limited(path));
    }
}

fn limited(path: &Path<TvByte>) -> bool {
    matches!(path.outcome, Err(Stop::Limit(_)))
}

/// The step with provenance must come to the same, with an origin for every unknown bit.
fn check_traced(machine: &Machine, start: &MachineState<TvByte>, paths: &[Path<TvByte>], manner: Manner) {
    let traced = states::trace(start);
    for path in paths.iter().take(8) {
        match (&path.outcome, follow(machine, &traced, &path.script, manner)) {
            (Ok((state, cycles)), Ok((other, same_cycles))) => {
                assert_eq!((*cycles, state.control), (same_cycles, other.control));
                for (address, (cell, other)) in state.data.cells().iter().zip(other.data.cells()).enumerate() {
                    assert_eq!(*cell, other.bits());
                    let traced = |bit: u8| !other.origins(bit).as_slice().is_empty();
                    let unknown = |bit: &u8| cell.unknown_mask() >> bit & 1 == 1;
                    assert!(
                        (0..8).filter(unknown).all(traced),
                        "{cell} at {address:#x} has lost an origin: {:?}",
                        machine.program.fetch(start.control.pc)
                    );
                }
            }
            (Err(stop), Err(other)) => assert_eq!(*stop, other),
            (one, other) => panic!("three-valued {:?}, traced {:?}", one.as_ref().err(), other.err()),
        }
    }
}

/// A failure that a person can retrace: the instruction, the known part of the start and how near the paths come.
fn describe(
    instruction: Instruction,
    start: &MachineState<TvByte>,
    concrete: &MachineState<u8>,
    paths: &[Path<TvByte>],
    outcome: &Outcome<u8>,
) -> String {
    let registers: Vec<_> = start.data.cells()[..32].iter().zip(concrete.data.cells()).collect();
    let nearest = |path: &Path<TvByte>| match (&path.outcome, outcome) {
        (Ok((state, cycles)), Ok((end, _))) => {
            let cells = state.data.cells().iter().zip(end.data.cells()).enumerate();
            let wrong: Vec<_> = cells.filter(|(_, (cell, value))| !cell.contains(**value)).take(4).collect();
            format!("  {:?}: {cycles} cycles, {:?}, not covered {wrong:?}\n", path.script, state.control)
        }
        (other, _) => format!("  {:?}: {:?}\n", path.script, other.as_ref().err()),
    };
    let paths: String = paths.iter().take(12).map(nearest).collect();
    let end = match outcome {
        Ok((end, cycles)) => format!("{:?} after {cycles} cycles", end.control),
        Err(stop) => format!("{stop:?}"),
    };
    format!("{instruction:?} from {:?}, registers {registers:?}: concrete {end}, abstract\n{paths}", start.control)
}

/// Checks every instruction on a device.
fn check_device(name: &str, seed: u64) {
    let device = Device::named(name).expect("the device exists");
    let features = FeatureSet::architecture("avr5").expect("the architecture exists");
    let mut random = Random::new(seed);
    let encodings = avr_testkit::cases(5, ENCODINGS as u64) as usize;
    let subjects = states::subjects(device, features, encodings, &mut random);
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    for variant in 0..4 {
        let machine = machine(device, &subjects.program, variant);
        for (place, instruction) in &subjects.places {
            let count = counts.entry(format!("{:?}", instruction.opcode())).or_default();
            (0..STATES).for_each(|_| check(&machine, *place, *instruction, &mut random, count));
        }
    }
    let most = 4 * encodings * STATES * CONCRETE;
    for (opcode, count) in counts {
        assert!(count.concrete > most / 2, "{opcode}: only {} of {most} states were compared", count.concrete);
        let unmodelled = opcode == "Spm";
        assert!(unmodelled || count.followed > count.concrete / 2, "{opcode}: too often a limit, {count:?}");
    }
}

#[test]
fn every_step_of_the_whole_device_is_covered() {
    check_device("atmega328p", 1);
}

#[test]
fn every_step_of_the_restricted_device_is_covered() {
    check_device("atmega328p-gpio", 2);
}

/// The comparison itself can fail: a result that claims to know one bit too many is found out.
#[test]
fn a_result_that_knows_too_much_is_noticed() {
    let device = Device::named("atmega328p").expect("the device exists");
    let machine = machine(device, &Program::decode(1, FeatureSet::EMPTY, |_| Some(0)), 0);
    let end: MachineState<u8> = MachineState::new(machine.cells(), 0);
    let mut state: MachineState<TvByte> = MachineState::new(machine.cells(), TvByte::ZERO);
    let outcome = |state: &MachineState<TvByte>| Ok((state.clone(), 1));
    assert!(stands_for(&outcome(&state), &Ok((end.clone(), 1))));
    assert!(!stands_for(&outcome(&state), &Ok((end.clone(), 2))), "cycles");
    state.control.copies.copy(DataAddress(1), DataAddress(0));
    assert!(stands_for(&outcome(&state), &Ok((end.clone(), 1))));
    let mut other = end.clone();
    other.data.set(DataAddress(1), 7);
    state.data.set(DataAddress(1), TvByte::UNKNOWN);
    assert!(!stands_for(&outcome(&state), &Ok((other, 1))), "what was copied is not the same");
    state.data.set(DataAddress(0x5f), TvByte::new(0x20, 0x20));
    assert!(!stands_for(&outcome(&state), &Ok((end.clone(), 1))), "the flag H");
    assert!(!stands_for(&Err(Stop::Infeasible), &Ok((end.clone(), 1))));
    assert!(stands_for(&Err(Stop::Limit(Limit::UnknownPointer)), &Ok((end, 1))));
}
