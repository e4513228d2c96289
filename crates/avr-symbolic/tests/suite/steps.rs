//! Steps of symbolic states against concrete ones: under each assignment exactly one path is taken, the concrete machine asks for
//! nothing else, has the same events to choose from, and comes to the same state.

#[path = "../../../avr-machine/tests/abstract_steps/random.rs"]
mod random;
#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../../../avr-machine/tests/abstract_steps/states.rs"]
mod states;

use avr_isa::{DataAddress, FeatureSet, FlashWordAddress, Instruction, Register};
use avr_machine::device::{BitKind, Device, ResetCause};
use avr_machine::{HazardKind, Machine, MachineState, Options, Program, Stop};
use avr_symbolic::{
    Assignment, Cannot, ConcreteRun, EndKind, ExecutionLimits, Executor, Graph, PathCondition, QueryLimits, Strategy,
    SymbolicBit, SymbolicByte, SymbolicState, Valuation, concrete_state, replay,
};
use avr_testkit::{Random, cases};
use random::ThreeValued;
use std::collections::{BTreeMap, BTreeSet};
use three_valued::{BitDomain, ByteDomain, TvByte};

/// A symbolic state with a variable for each bit that is not known; now and then bits share one, or are complements.
fn symbolic<'g>(graph: &'g Graph, state: &MachineState<TvByte>, random: &mut Random) -> SymbolicState<'g> {
    let mut all = SymbolicState::new(state.data.len(), SymbolicByte::constant(0));
    let mut pool: Vec<SymbolicBit<'g>> = vec![graph.variable()];
    for (address, cell) in (0..).map(DataAddress).zip(state.data.cells()) {
        let bits = std::array::from_fn(|index| match cell.bit(index as u8).known() {
            Some(value) => SymbolicBit::constant(value),
            None if random.once_in(6) => random.pick(&pool),
            None if random.once_in(6) => random.pick(&pool).not(),
            None if random.once_in(6) => random.pick(&pool).and(&random.pick(&pool)),
            None => {
                pool.push(graph.variable());
                *pool.last().expect("it is not empty")
            }
        });
        all.data.set(address, SymbolicByte::of_bits(bits));
    }
    all.control = state.control.of_hardware();
    all.calls = state.calls.clone();
    all
}

/// Values for all variables of a graph.
fn random_values<'g>(graph: &'g Graph, random: &mut Random) -> Valuation<'g> {
    let mut assignment = Assignment::default();
    graph.variables().for_each(|variable| assignment.set(variable, random.once_in(2)));
    Valuation::new(graph, assignment)
}

/// Counts of steps for an operation.
#[derive(Debug, Default)]
struct Count {
    compared: usize,
    not_followed: usize,
}

fn machine(device: &'static Device, program: &Program, variant: usize) -> Machine {
    let all = HazardKind::ALL.iter().copied();
    let options = match variant {
        0 => Options::default(),
        1 => Options { allowed: all.collect(), ..Options::default() },
        _ => Options {
            forbidden: all.collect(),
            static_data_end: Some(DataAddress(0x300)),
            resets: vec![ResetCause::External, ResetCause::BrownOut],
            ..Options::default()
        },
    };
    Machine::new(device, program.clone(), options)
}

/// Checks one state before one instruction.
fn check(executor: &Executor<'_>, place: u32, instruction: Instruction, random: &mut Random, count: &mut Count) {
    let start = states::state(executor.machine(), place, false, random);
    check_state(executor, &start, None, &format!("{instruction:?}"), random, count);
}

/// Checks a state up to an instruction, or for one step.
fn check_state(
    executor: &Executor<'_>,
    start: &MachineState<TvByte>,
    end: Option<FlashWordAddress>,
    name: &str,
    random: &mut Random,
    count: &mut Count,
) {
    let graph = Graph::new(1 << 20);
    let machine = executor.machine();
    let start = symbolic(&graph, start, random);
    let is_end = |state: &SymbolicState<'_>| end.is_none_or(|end| state.control.pc == end);
    let execution = executor.execute(&graph, (start, PathCondition::new()), &Strategy::anything(), &is_end);
    if graph.is_full() {
        count.not_followed += 1;
        return;
    }
    for _ in 0..4 {
        let mut values = random_values(&graph, random);
        let conditions = execution.ends.iter().filter(|end| values.bit(&end.condition.bit()) == Some(true)).count();
        assert_eq!(conditions, 1, "{name}: {conditions} paths");
        let (run, end) = execution.concrete(&mut values).unwrap_or_else(|error| panic!("{name}: {error}"));
        let end = &execution.ends[end];
        assert_eq!(values.bit(&end.condition.bit()), Some(true), "{name}");
        if let EndKind::Cannot(reason) = end.kind {
            assert!(
                matches!(reason, Cannot::Machine(_) | Cannot::Sleep | Cannot::Outcomes | Cannot::Paths | Cannot::Steps),
                "{name}: {reason}"
            );
            count.not_followed += 1;
            continue;
        }
        let expected = match &end.kind {
            EndKind::Goal(state) => Ok(concrete_state(state, &mut values).expect("no bit is open")),
            EndKind::Hazard(hazard) => Err(hazard.kind),
            EndKind::Cannot(_) => unreachable!("it is not compared"),
        };
        let differences = readings(&run).into_iter().map(|run| difference(machine, &run, &expected));
        let differences: Vec<String> = differences.map_while(|difference| difference).collect();
        assert!(differences.len() < readings(&run).len(), "{name}: {}, {run:?}", differences[0]);
        count.compared += 1;
    }
}

/// A run, and the same without inputs that came twice in a step. A symbolic step asks for an input whether the bit before is 0 or 1;
/// the concrete one asks only where it matters, and does not say which of two it asks for.
fn readings(run: &ConcreteRun) -> Vec<ConcreteRun> {
    let mut all = vec![run.clone()];
    for (number, step) in run.steps.iter().enumerate() {
        let is_twice = |index: &usize| {
            let (source, mask, _) = step.inputs[*index];
            step.inputs[index + 1..].iter().any(|(other, bits, _)| *other == source && bits & mask != 0)
        };
        if let Some(twice) = (0..step.inputs.len()).find(is_twice) {
            let mut fewer = all.clone();
            fewer.iter_mut().for_each(|run| _ = run.steps[number].inputs.remove(twice));
            all.extend(fewer);
        }
    }
    all
}

/// The first difference between what a run comes to and what is expected: a state, or the kind of a hazard.
fn difference(machine: &Machine, run: &ConcreteRun, expected: &Result<MachineState<u8>, HazardKind>) -> Option<String> {
    let found = match replay(machine, run) {
        Ok(found) => found,
        Err(error) => return Some(error.to_string()),
    };
    match (expected, found) {
        (Ok(expected), Ok(found)) => {
            let is_same = |address: &DataAddress| expected.data.get(*address) == found.data.get(*address);
            let differs = machine.addresses().find(|address| !is_same(address));
            let cell = differs.map(|address| format!("the cell {address:?} differs"));
            let is_elsewhere =
                expected.control != found.control.of_hardware() || expected.calls.frames() != found.calls.frames();
            cell.or_else(|| is_elsewhere.then(|| "it comes to another place".to_owned()))
        }
        (Err(expected), Err(Stop::Hazard(found))) if *expected == found.kind => None,
        (expected, found) => {
            let expected = expected.as_ref().map(|state| state.control);
            Some(format!("{expected:?}, but {:?}", found.map(|state| state.control)))
        }
    }
}

/// Checks every instruction on a device.
fn check_device(name: &str, seed: u64) {
    let device = Device::named(name).expect("the device exists");
    let mut random = Random::new(seed);
    let encodings = cases(2, 12) as usize;
    let subjects = states::subjects(device, FeatureSet::AVR5, encodings, &mut random);
    let limits = ExecutionLimits {
        outcomes: 300,
        feasibility: QueryLimits { steps: 50, nodes: 5_000 },
        ..ExecutionLimits::default()
    };
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    for variant in 0..3 {
        let machine = machine(device, &subjects.program, variant);
        let executor = Executor::new(&machine, limits);
        for (place, instruction) in &subjects.places {
            let count = counts.entry(format!("{:?}", instruction.opcode())).or_default();
            (0..cases(1, 12)).for_each(|_| check(&executor, *place, *instruction, &mut random, count));
        }
    }
    for (opcode, count) in counts {
        let is_followed = count.compared > count.not_followed;
        assert!(is_followed || opcode == "Spm", "{opcode}: {count:?}");
    }
}

#[test]
fn every_step_of_the_atmega328p_is_exact() {
    check_device("atmega328p", 11);
}

#[test]
fn every_step_of_the_restricted_device_is_exact() {
    check_device("atmega328p-gpio", 12);
}

/// A state in which bits of a peripheral are open, and nothing else is.
fn peripheral_state(machine: &Machine, peripheral: &str, random: &mut Random) -> MachineState<TvByte> {
    let mut start = MachineState::new(machine.cells(), TvByte::ZERO);
    for address in machine.addresses() {
        start.data.set(address, TvByte::constant(random.byte()));
    }
    for register in machine.device.registers.iter().filter(|register| register.peripheral == peripheral) {
        let windows = register.bits.iter().zip(0..8).filter(|(bit, _)| matches!(bit.kind, BitKind::Window(_)));
        let windows = windows.fold(0, |mask, (_, bit)| mask | 1 << bit);
        let open = random.byte() & random.byte() & !windows;
        start.data.set(register.address, TvByte::new(random.byte() & !windows, !open));
    }
    for half in machine.stack_pointer().cells() {
        start.data.set(half, TvByte::constant(1));
    }
    start
}

/// Checks loads from all registers of a device and stores to them, in states in which the peripheral of the register is open, and the
/// others are not.
fn check_registers(name: &str, seed: u64) {
    let device = Device::named(name).expect("the device exists");
    let mut random = Random::new(seed);
    let rd = Register::new(20).expect("there are 32 registers");
    let limits = ExecutionLimits { outcomes: 200, ..ExecutionLimits::default() };
    for register in device.registers.iter().filter(|register| !register.is_hidden) {
        let access = [
            Instruction::Lds { rd, address: register.address },
            Instruction::Sts { address: register.address, rr: rd },
        ];
        for instruction in access {
            let words: Vec<u16> = avr_testkit::image::encoded(instruction).collect();
            let word = |address: u32| words.get(address as usize).copied();
            let program = Program::decode(device.memory.flash_words(), device.core.features, word);
            let machine = machine(device, &program, 1);
            let executor = Executor::new(&machine, limits);
            let mut count = Count::default();
            for _ in 0..cases(10, 200) {
                let mut start = peripheral_state(&machine, register.peripheral, &mut random);
                start.data.set(rd.address(), random.three_valued());
                check_state(&executor, &start, None, &format!("{instruction:?}"), &mut random, &mut count);
            }
            assert!(count.compared > count.not_followed, "{instruction:?}: {count:?}");
        }
    }
}

#[test]
fn every_access_to_a_register_of_the_atmega328p_is_exact() {
    check_registers("atmega328p", 13);
}

#[test]
fn every_access_to_a_register_of_the_atmega1284p_is_exact() {
    check_registers("atmega1284p", 20);
}

#[test]
fn every_access_to_a_register_of_the_atmega2560_is_exact() {
    check_registers("atmega2560", 21);
}

#[test]
fn every_access_to_a_register_of_the_atmega32u4_is_exact() {
    check_registers("atmega32u4", 22);
}

#[test]
fn every_access_to_a_register_of_the_attiny85_is_exact() {
    check_registers("attiny85", 14);
}

#[test]
fn every_access_to_a_register_of_the_attiny13_is_exact() {
    check_registers("attiny13", 18);
}

#[test]
fn every_access_to_a_register_of_the_attiny84_is_exact() {
    check_registers("attiny84", 19);
}

/// Checks sequences of loads from registers of one peripheral and stores to them.
fn check_sequences(name: &str, seed: u64) {
    let device = Device::named(name).expect("the device exists");
    let mut random = Random::new(seed);
    let limits = ExecutionLimits { outcomes: 60, paths: 60, steps: 80, ..ExecutionLimits::default() };
    let peripherals: BTreeSet<&str> = device.registers.iter().map(|register| register.peripheral).collect();
    let mut count = Count::default();
    for peripheral in peripherals {
        let registers: Vec<DataAddress> = device
            .registers
            .iter()
            .filter(|register| register.peripheral == peripheral && !register.is_hidden)
            .map(|register| register.address)
            .collect();
        for _ in 0..cases(3, 300) {
            let access = |random: &mut Random| {
                let (address, rd) = (random.pick(&registers), Register::new(20 + random.below(4)).expect("it exists"));
                if random.once_in(3) { Instruction::Lds { rd, address } } else { Instruction::Sts { address, rr: rd } }
            };
            let code: Vec<Instruction> = (0..4).map(|_| access(&mut random)).collect();
            let words: Vec<u16> = code.iter().flat_map(|one| avr_testkit::image::encoded(*one)).collect();
            let word = |address: u32| words.get(address as usize).copied();
            let program = Program::decode(device.memory.flash_words(), device.core.features, word);
            let machine = machine(device, &program, 1);
            let mut start = peripheral_state(&machine, peripheral, &mut random);
            for register in 20..24 {
                let value = random.byte();
                start.data.set(DataAddress(register), random.near(value, 2));
            }
            if let Some(watchdog) = &device.watchdog
                && !registers.contains(&watchdog.reset_enable.address)
            {
                start.data.set(watchdog.reset_enable.address, TvByte::ZERO);
            }
            let status = *start.data.get(machine.status_address());
            start.data.set(machine.status_address(), status.and(&TvByte::constant(0x7f)));
            let end = Some(FlashWordAddress(words.len() as u32));
            check_state(&Executor::new(&machine, limits), &start, end, &format!("{code:?}"), &mut random, &mut count);
        }
    }
    assert!(count.compared > count.not_followed, "{count:?}");
}

#[test]
fn sequences_of_accesses_of_the_atmega328p_are_exact() {
    check_sequences("atmega328p", 15);
}

#[test]
fn sequences_of_accesses_of_the_attiny85_are_exact() {
    check_sequences("attiny85", 16);
}

/// The mode of programming decides what becomes of a byte of the EEPROM.
#[test]
fn programming_the_eeprom_in_an_open_mode_is_exact() {
    const EECR: DataAddress = DataAddress(0x3f);
    let device = Device::named("atmega328p").expect("the device exists");
    let mut random = Random::new(17);
    let code = [Instruction::Sbi { io: 0x1f, bit: 2 }, Instruction::Sbi { io: 0x1f, bit: 1 }];
    let words: Vec<u16> = code.iter().flat_map(|one| avr_testkit::image::encoded(*one)).collect();
    let word = |address: u32| words.get(address as usize).copied();
    let program = Program::decode(device.memory.flash_words(), device.core.features, word);
    let machine = machine(device, &program, 1);
    let executor = Executor::new(&machine, ExecutionLimits::default());
    let mut count = Count::default();
    for _ in 0..cases(3, 30) {
        let mut start = peripheral_state(&machine, "", &mut random);
        start.data.set(EECR, TvByte::new(0, !0x30));
        start.data.set(machine.status_address(), TvByte::ZERO);
        if let Some(watchdog) = &device.watchdog {
            start.data.set(watchdog.reset_enable.address, TvByte::ZERO);
        }
        check_state(&executor, &start, Some(FlashWordAddress(2)), "programming", &mut random, &mut count);
    }
    assert_eq!(count.not_followed, 0);
}
