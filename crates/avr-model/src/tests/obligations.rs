//! The obligations of the framework (initial, step: may and must, decay), tested on real images: concrete runs with
//! random worlds are followed through the abstract system, whatever its precision.

use crate::Firmware;
use crate::faults::path_compression::{Fault, with_fault};
use crate::reduction::passes::Passes;
use crate::reduction::successors::{leaves, leaves_far};
use crate::reduction::visibility::Visibility;
use crate::state::{AbstractState, Location};
use crate::transfer::Leaf;
use crate::transfer::hyper_edges::{FEW_COMBINATIONS, HardwareChoice, MAX_COMBINATIONS, hyper_edges};
use avr_image::{FlashWordAddress, Image, LoadOptions};
use avr_machine::device::Device;
use avr_machine::{Demand, DeterminedBy, Environment, Input, Machine, MachineState, Options, Program, Question, Stop};
use avr_testkit::Random;
use std::path::Path;
use tvar::{Knob, Precision, Strategy, System, Variable};

/// The number of them where runs are long.
const FEW_WORLDS: usize = 6;
/// The most steps from one state that is kept to the next.
const MOST_LEFT_OUT: usize = 5000;
/// The number of random worlds that a state is shown to.
const WORLDS: usize = 24;

/// A world that does anything.
struct World<'a>(&'a mut Random);

impl Environment<u8> for World<'_> {
    fn input(&mut self, _: Input, mask: u8, _: Demand, _: DeterminedBy) -> u8 {
        self.0.byte() & mask
    }

    fn choose(&mut self, count: usize) -> usize {
        self.0.below(count)
    }

    fn case(&mut self, _: usize, _: Question<'_, u8>) -> usize {
        panic!("nothing is open in a concrete state")
    }
}

fn machine(image: &str, device: &str) -> Machine {
    let device = Device::named(device).expect("a device of the tables");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../firmware-samples").join(image);
    let options = LoadOptions::new(device.memory.flash_bytes, device.memory.eeprom_bytes.into());
    let image = Image::load(path, &options).expect("a sample");
    let word = |address: u32| image.program.word(FlashWordAddress(address));
    let program = Program::decode(device.memory.flash_words(), device.core.features, word);
    Machine::new(device, program, Options::default())
}

/// The outcome of a concrete step.
type Outcome = Result<MachineState<u8>, Stop>;

fn covers(firmware: &Firmware<'_>, state: &AbstractState, outcome: &Outcome) -> bool {
    match (state, outcome) {
        (AbstractState::Running(running), Ok(concrete)) if running.control.of_hardware() == concrete.control => {
            let data = &concrete.data;
            let are_copies = running.control.copies.are_true(|cell| *data.get(cell));
            let mut frames: Vec<_> = firmware.model.context.store.frames(running.calls).collect();
            frames.reverse();
            let inside = |page: usize| {
                let cells =
                    firmware.model.context.store.page(running.memory, page).iter().zip(concrete.data.page(page));
                cells.into_iter().all(|(cell, value)| cell.contains(*value))
            };
            are_copies && frames == concrete.calls.frames() && (0..concrete.data.pages()).all(inside)
        }
        (AbstractState::Hazard { hazard, .. }, Err(Stop::Hazard(met))) => hazard.kind == met.kind,
        // The engine stopped following: the sink stands for everything.
        (AbstractState::Limit { .. }, _) => true,
        _ => false,
    }
}

fn step(machine: &Machine, state: &MachineState<u8>, random: &mut Random) -> Outcome {
    let mut next = state.clone();
    machine.step(&mut next, &mut World(random)).map(|_| next)
}

/// Refines the location of a state at random.
fn refine(firmware: &Firmware<'_>, state: &AbstractState, precision: &mut Precision<Location>, random: &mut Random) {
    let location = firmware.location(state);
    let variable = Variable(random.below(0x900));
    let bit = 1 << random.below(8);
    let input = Variable(random.pick(&[0x23, 0x26, 0x29, 0xc6, 0x46, 0x35]));
    match random.below(5) {
        0 => precision.refine(location, Knob::Input(input, bit)),
        4 => precision.refine(location, Knob::Value(input, random.number(8))),
        1 => precision.refine(location, Knob::Case(Variable(random.below(0x20)), bit)),
        2 if precision.is_new(&location, Knob::Step(variable, bit)) => {
            precision.refine(location, Knob::Step(variable, bit))
        }
        _ => false,
    };
}

/// Drops random bits of registers and memory where a step may lead, as a limit on the states of a location does.
fn drop_bits(firmware: &Firmware<'_>, leaves: &[Leaf], precision: &mut Precision<Location>, random: &mut Random) {
    if leaves.is_empty() || random.below(3) > 0 {
        return;
    }
    let location = firmware.location(&leaves[random.below(leaves.len())].state);
    let cell = if random.once_in(2) { random.below(0x20) } else { 0x100 + random.below(0x800) };
    precision.drop_bits(location, Variable(cell), random.number(8));
}

fn arrived(firmware: &mut Firmware<'_>, leaves: &[Leaf], precision: &Precision<Location>) -> Vec<AbstractState> {
    let arrive = |leaf: &Leaf| {
        let arrived = tvar::arrive(firmware, precision, leaf.state);
        assert!(firmware.covers(&arrived, &leaf.state), "what decays covers what it was");
        assert!(arrived == leaf.state || !firmware.covers(&leaf.state, &arrived), "and is not covered by it");
        arrived
    };
    leaves.iter().map(arrive).collect()
}

/// Follows one run for a number of steps, and gives the number of those that were taken. With `limited`, locations drop
/// bits on the way, and wild stores are not followed.
fn follow(machine: &Machine, strategy: Strategy, limited: bool, steps: usize, seed: u64) -> usize {
    let mut random = Random::new(seed);
    let mut firmware = Firmware::with_passes(machine, &[], Passes::default().with_facts());
    let mut precision = Precision::new(strategy);
    precision.be_coarse(limited);
    let most = if limited { FEW_COMBINATIONS } else { MAX_COMBINATIONS };
    let mut concrete: MachineState<u8> = machine.power_on(&mut World(&mut random));
    let mut state = firmware.initial();
    let start = leaves(&mut firmware.model, &state, precision.at(&Location::Dummy));
    let first = arrived(&mut firmware, &start, &precision);
    state = first[0];
    assert!(covers(&firmware, &state, &Ok(concrete.clone())), "the first state covers every initial content");
    for taken in 0..steps {
        refine(&firmware, &state, &mut precision, &mut random);
        let here = firmware.location(&state);
        let leaves = leaves(&mut firmware.model, &state, precision.at(&here));
        if limited {
            drop_bits(&firmware, &leaves, &mut precision, &mut random);
        }
        let members = arrived(&mut firmware, &leaves, &precision);
        let worlds: Vec<Outcome> = (0..WORLDS).map(|_| step(machine, &concrete, &mut random)).collect();
        let at = concrete.control.pc.byte().0;
        for world in &worlds {
            let covered = members.iter().any(|member| covers(&firmware, member, world));
            assert!(covered, "may: no member covers a successor at {at:#x} in step {taken} of seed {seed}: {world:?}");
        }
        let scripts: Vec<_> = leaves.iter().map(|leaf| leaf.script.clone()).collect();
        let edges = hyper_edges(&scripts, HardwareChoice::Free, most);
        // Random worlds would miss some of many, and most values.
        let are_met = edges.len() <= 4 && precision.at(&here).values.is_empty();
        for edge in edges.iter().filter(|_| are_met) {
            let taken_by = |world: &Outcome| edge.iter().any(|leaf| covers(&firmware, &members[*leaf], world));
            let possible = worlds.iter().any(taken_by);
            assert!(possible, "must: a hyper-edge cannot be taken at {at:#x} in step {taken} of seed {seed}");
        }
        let Some(Ok(next)) = worlds.into_iter().next() else { return taken };
        let covering = members.iter().find(|member| covers(&firmware, member, &Ok(next.clone())));
        state = *covering.expect("it was covered");
        if !matches!(state, AbstractState::Running(_)) {
            return taken;
        }
        concrete = next;
    }
    steps
}

/// Follows one run from one state that is kept to the next, with registers cut into cases on the way. The result is the
/// number of such states, or the state that is not covered.
fn follow_far(machine: &Machine, passages: usize, seed: u64) -> Result<usize, String> {
    let mut random = Random::new(seed);
    let mut firmware = Firmware::with_passes(
        machine,
        &[],
        Passes::default().with_path_compression(machine, &Visibility::of_hazards()).with_facts(),
    );
    let mut precision = Precision::new(Strategy::Default);
    precision.be_coarse(true);
    let mut concrete: MachineState<u8> = machine.power_on(&mut World(&mut random));
    let start = firmware.initial();
    let mut state = leaves(&mut firmware.model, &start, precision.at(&Location::Dummy))[0].state;
    for taken in 0..passages {
        if random.once_in(2) {
            let register = Variable(random.below(0x20));
            precision.refine_generally(firmware.location(&state), Knob::Case(register, 7));
        }
        let leaves = leaves_far(&mut firmware.model, &state, &precision);
        let at = concrete.control.pc.byte().0;
        let mut next = None;
        for _ in 0..FEW_WORLDS {
            let (mut world, mut steps) = (step(machine, &concrete, &mut random), 1);
            let arrived = loop {
                if let Some(leaf) = leaves.iter().find(|leaf| covers(&firmware, &leaf.state, &world)) {
                    break leaf.state;
                }
                world = match world {
                    Ok(on) if steps < MOST_LEFT_OUT => step(machine, &on, &mut random),
                    _ => {
                        return Err(format!(
                            "no leaf covers what comes after {at:#x} in passage {taken} of seed {seed}"
                        ));
                    }
                };
                steps += 1;
            };
            next = Some((arrived, world));
        }
        let Some((arrived @ AbstractState::Running(_), Ok(world))) = next else { return Ok(taken) };
        (state, concrete) = (tvar::arrive(&mut firmware, &precision, arrived), world);
    }
    Ok(passages)
}

/// Images in which indices are computed.
const INDEXED: [&str; 4] = [
    "usart-echo/usart-echo.Og.elf",
    "sketch-serial-echo/sketch-serial-echo.Os.elf",
    "parser-repaired/parser-repaired.Os.elf",
    "shared-counter-protected/shared-counter-protected.Og.elf",
];

#[test]
fn concrete_runs_pass_by_the_states_that_are_kept() {
    for image in INDEXED {
        let machine = machine(image, "atmega328p");
        for seed in 0..4 {
            let taken = follow_far(&machine, 30, seed).unwrap_or_else(|problem| panic!("{image}: {problem}"));
            assert!(taken > 3, "only {taken} passages of {image} were followed");
        }
    }
}

#[test]
fn a_case_that_stands_for_all_would_be_noticed() {
    let is_noticed = |image: &&str| {
        let machine = machine(image, "atmega328p");
        (0..4).any(|seed| follow_far(&machine, 30, seed).is_err())
    };
    assert!(with_fault(Fault::FirstCaseOnly, || INDEXED.iter().any(is_noticed)));
}

#[track_caller]
fn check(image: &str, device: &str, strategies: &[Strategy]) {
    let machine = machine(image, device);
    for (seed, strategy) in (0..3.max(strategies.len() as u64)).zip(strategies.iter().copied().cycle()) {
        let taken = follow(&machine, strategy, false, 90, seed);
        // If everything decays or cases are not followed, a run soon ends.
        let ends_soon = strategy == Strategy::Decay || strategy.is_per_state();
        assert!(taken > 20 || ends_soon, "only {taken} steps of {image} were followed");
        if !strategy.is_per_state() {
            let taken = follow(&machine, strategy, true, 90, seed);
            assert!(taken > 20 || ends_soon, "only {taken} steps of {image} were followed with limited locations");
        }
    }
}

#[test]
fn concrete_runs_of_gpio_programs_stay_inside() {
    check("calibration-original/calibration-original.Og.elf", "atmega328p-gpio", &Strategy::ALL);
    check("factorial-3-bits/factorial-3-bits.Og.elf", "atmega328p-gpio", &Strategy::ALL);
    check("gate-array/gate-array.Os.elf", "atmega328p-gpio", &Strategy::ALL);
}

#[test]
fn concrete_runs_of_interrupt_driven_programs_stay_inside() {
    check("timer-blink/timer-blink.Os.elf", "atmega328p", &[Strategy::Default, Strategy::Decay]);
    check("usart-echo/usart-echo.Og.elf", "atmega328p", &[Strategy::Default, Strategy::Decay]);
    check("sketch-serial-echo/sketch-serial-echo.Os.elf", "atmega328p", &[Strategy::Default, Strategy::Decay]);
    check("watchdog/watchdog.Os.elf", "atmega328p", &[Strategy::Default, Strategy::Decay]);
    check("eeprom-log/eeprom-log.Os.elf", "atmega328p", &[Strategy::Default, Strategy::Decay]);
    check("sketch-twi-slave/sketch-twi-slave.Os.elf", "atmega328p", &[Strategy::Default, Strategy::Decay]);
}
