//! Prints how many instructions a second the simulator takes on one core, for a firmware file in Intel HEX.
//!
//! `cargo run --release -p avr-machine --example simulation-speed -- firmware.hex [millions of steps]`
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "printing is what this program is for")]

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Instant;

use avr_machine::device::Device;
use avr_machine::simulator::{Limits, Simulator, Stimulus};
use avr_machine::{Machine, Options, Program};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: simulation-speed FIRMWARE.hex [MILLIONS]")?;
    let millions: u64 = arguments.next().map_or(Ok(100), |number| number.parse())?;
    let bytes = bytes(&std::fs::read_to_string(path)?)?;
    let device = Device::named("atmega328p")?;
    let word = |address: u32| {
        let byte = |address: u32| bytes.get(&address).copied();
        let (low, high) = (byte(2 * address), byte(2 * address + 1));
        (low.is_some() || high.is_some()).then(|| u16::from_le_bytes([low.unwrap_or(0xff), high.unwrap_or(0xff)]))
    };
    let program = Program::decode(device.memory.flash_words(), device.core.features, word);
    let machine = Machine::new(device, program, Options::default());
    let mut simulator = Simulator::new(&machine, Stimulus::default());
    let started = Instant::now();
    let end = simulator.run(Limits { steps: millions * 1_000_000, ..Limits::default() });
    let seconds = started.elapsed().as_secs_f64();
    let rate = simulator.steps() as f64 / seconds / 1e6;
    println!("{} steps, {} cycles, {end:?}: {rate:.1} million steps a second", simulator.steps(), simulator.cycles());
    Ok(())
}

/// The bytes of the data records (type 00) by address.
fn bytes(hex: &str) -> Result<BTreeMap<u32, u8>, Box<dyn Error>> {
    let mut all = BTreeMap::new();
    for record in hex.lines().filter_map(|line| line.strip_prefix(':')) {
        let digits = |at: usize| record.get(at..at + 2).ok_or("a record is too short");
        let byte = |at: usize| Ok::<u8, Box<dyn Error>>(u8::from_str_radix(digits(at)?, 16)?);
        let (count, high, low, kind) = (byte(0)?, byte(2)?, byte(4)?, byte(6)?);
        for index in 0..if kind == 0 { u32::from(count) } else { 0 } {
            all.insert(u32::from(u16::from_be_bytes([high, low])) + index, byte(8 + 2 * index as usize)?);
        }
    }
    Ok(all)
}
