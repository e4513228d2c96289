//! Plain storage reads back what was written, and reserved bits read 0: every such bit of every device table.

use super::exploration::{Manner, explore, power_on};
use avr_isa::{DataAddress, FeatureSet};
use avr_machine::device::{Access, Bit, BitKind, Device, Register};
use avr_machine::simulator::{Limits, Simulator, Stimulus};
use avr_machine::{HazardKind, Limit, Machine, MachineState, Options, Program, Stop};
use three_valued::TvByte;

/// The values that are written: patterns and their complements.
const PATTERNS: [u8; 6] = [0x55, 0xaa, 0x0f, 0xf0, 0x00, 0xff];
/// Instructions between the write and the read, which take longer than any timed window is open.
const PAUSE: usize = 6;
/// The register that is read into.
const READ: u8 = 17;

/// The bits of a register that have this property.
fn mask(register: &Register, property: fn(&Bit) -> bool) -> u8 {
    (0..8).filter(|number| property(&register.bits[*number])).fold(0, |mask, number| mask | 1 << number)
}

fn ldi(register: u8, value: u8) -> u16 {
    0xe000 | u16::from(value & 0xf0) << 4 | u16::from(register - 16) << 4 | u16::from(value & 0x0f)
}

fn sts(address: DataAddress, register: u8) -> [u16; 2] {
    [0x9200 | u16::from(register) << 4, address.0]
}

fn lds(register: u8, address: DataAddress) -> [u16; 2] {
    [0x9000 | u16::from(register) << 4, address.0]
}

/// A program that writes a value to a register and reads it, and how many steps it takes. Halves of 16-bit registers are written the high
/// one first and read the low one first.
fn program(register: &Register, value: u8) -> (Vec<u16>, usize) {
    let (written, read) = match register.access {
        Access::LowOfPair { high, .. } => (vec![high, register.address], vec![register.address]),
        Access::HighOfPair { low, .. } => (vec![register.address, low], vec![low, register.address]),
        Access::Direct | Access::LocksPair { .. } | Access::UnlocksPair { .. } => {
            (vec![register.address], vec![register.address])
        }
    };
    let mut code = vec![ldi(16, value)];
    code.extend(written.iter().flat_map(|address| sts(*address, 16)));
    code.extend([0; PAUSE]);
    code.extend(read.iter().flat_map(|address| lds(READ, *address)));
    (code, 1 + written.len() + PAUSE + read.len())
}

/// The machine that executes a program, with all hazards allowed that can be.
fn machine(device: &'static Device, code: &[u16]) -> Machine {
    let features: FeatureSet = device.core.features;
    let program = Program::decode(device.memory.flash_words(), features, |address| code.get(address as usize).copied());
    Machine::new(device, program, Options { allowed: HazardKind::ALL.iter().copied().collect(), ..Options::default() })
}

/// The value that the simulator reads.
fn simulated(device: &'static Device, code: &[u16], steps: usize) -> u8 {
    let machine = machine(device, code);
    let mut simulator = Simulator::new(&machine, Stimulus::default());
    simulator.run(Limits { steps: steps as u64, cycles: u64::MAX });
    assert_eq!(simulator.state().control.pc.index(), code.len(), "the program ran to its end");
    *simulator.state().data.get(DataAddress(READ.into()))
}

/// The values that the abstract executor reads on every path that executes the program and nothing else.
fn executed(device: &'static Device, code: &[u16], steps: usize) -> Vec<TvByte> {
    let machine = machine(device, code);
    let mut states: Vec<MachineState<TvByte>> = vec![power_on(&machine)];
    for _ in 0..steps {
        let mut next = Vec::new();
        for state in &states {
            let paths = explore(&machine, state, 64, Manner::PLAIN).expect("so many paths suffice");
            for path in paths {
                match path.outcome {
                    Ok((after, _)) if after.control.pc > state.control.pc => next.push(after),
                    // A reset or an interrupt.
                    Ok(_) | Err(Stop::Infeasible) => {}
                    Err(stop) => panic!("{code:x?} ends: {stop:?}"),
                }
            }
        }
        assert!((1..64).contains(&next.len()), "{} states", next.len());
        states = next;
    }
    assert!(states.iter().all(|state| state.control.pc.index() == code.len()), "the program ran to its end");
    states.iter().map(|state| *state.data.get(DataAddress(READ.into()))).collect()
}

/// Checks all registers of a device, and that it has more than so many bits of plain storage and reserved bits.
#[track_caller]
fn check(name: &str, storage_bits: u32, reserved_bits: u32) {
    let device = Device::named(name).expect("the device exists");
    let (mut stored, mut zeros) = (0, 0);
    for register in device.registers.iter().filter(|register| !register.is_hidden) {
        let storage = mask(register, Bit::is_storage);
        let reserved = mask(register, |bit| bit.kind == BitKind::Reserved);
        stored += storage.count_ones();
        zeros += reserved.count_ones();
        let unmodelled = device.unmodelled.iter().filter(|one| one.when_set.address == register.address);
        let unmodelled = unmodelled.fold(0, |mask, one| mask | one.when_set.mask());
        for value in PATTERNS.map(|value| value & !unmodelled) {
            let (code, steps) = program(register, value);
            let found = simulated(device, &code, steps);
            assert_eq!(found & (storage | reserved), value & storage, "{}: {value:#04x} is simulated", register.name);
            for found in executed(device, &code, steps) {
                let checked = TvByte::new(found.value(), found.known_mask() | !(storage | reserved));
                let expected = found.value() & !(storage | reserved) | value & storage;
                assert_eq!(checked, TvByte::constant(expected), "{}: {value:#04x} is executed", register.name);
            }
        }
    }
    assert!(stored > storage_bits && zeros > reserved_bits, "{stored} bits of storage, {zeros} reserved bits");
}

#[test]
fn plain_storage_of_the_atmega328p_reads_back_what_was_written() {
    check("atmega328p", 300, 100);
}

#[test]
fn plain_storage_of_the_atmega1284p_reads_back_what_was_written() {
    check("atmega1284p", 400, 100);
}

#[test]
fn plain_storage_of_the_atmega2560_reads_back_what_was_written() {
    check("atmega2560", 800, 100);
}

#[test]
fn plain_storage_of_the_atmega32u4_reads_back_what_was_written() {
    check("atmega32u4", 450, 50);
}

/// The end of a program that writes a value to a register.
fn written(name: &str, register: &str, value: u8) -> Result<(), Stop> {
    let device = Device::named(name).expect("the device exists");
    let address = device.register(register).expect("the register exists").address;
    let code: Vec<u16> = [ldi(16, value)].into_iter().chain(sts(address, 16)).collect();
    let machine = machine(device, &code);
    let paths = explore::<TvByte>(&machine, &power_on(&machine), 64, Manner::PLAIN).expect("so many paths suffice");
    let (after, _) = paths.into_iter().next().expect("there is a path").outcome?;
    let paths = explore(&machine, &after, 64, Manner::PLAIN).expect("so many paths suffice");
    paths.into_iter().next().expect("there is a path").outcome.map(drop)
}

#[test]
fn external_memory_is_refused_when_it_is_switched_on() {
    let refused = Err(Stop::Limit(Limit::Unsupported("external memory")));
    assert_eq!(written("atmega2560", "XMCRA", 0x80), refused);
    assert_eq!(written("atmega2560", "XMCRA", 0xff), refused);
    assert_eq!(written("atmega2560", "XMCRA", 0x7f), Ok(()));
    assert_eq!(written("atmega2560", "XMCRB", 0x80), Ok(()));
}

#[test]
fn a_reset_by_the_usb_host_is_refused_when_it_is_allowed() {
    let refused = Err(Stop::Limit(Limit::Unsupported("a reset by the USB host")));
    assert_eq!(written("atmega32u4", "UDCON", 0x08), refused);
    assert_eq!(written("atmega32u4", "UDCON", 0xff), refused);
    assert_eq!(written("atmega32u4", "UDCON", 0xf7), Ok(()));
    assert_eq!(written("atmega32u4", "USBCON", 0xff), Ok(()));
}

#[test]
fn plain_storage_of_the_attiny85_reads_back_what_was_written() {
    check("attiny85", 180, 50);
}

#[test]
fn plain_storage_of_the_attiny13_reads_back_what_was_written() {
    check("attiny13", 80, 50);
}

#[test]
fn plain_storage_of_the_attiny84_reads_back_what_was_written() {
    check("attiny84", 200, 50);
}
