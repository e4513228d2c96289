//! The simulator: ends of runs, peripherals, stimulus files, and repeating a run exactly.

mod code;
mod ends;
mod peripherals;
mod replay;
mod stimulus_files;

use avr_machine::device::Device;
use avr_machine::simulator::Stimulus;
use avr_machine::{Machine, Options, Program};

fn device() -> &'static Device {
    Device::named("atmega328p").expect("the device exists")
}

/// A machine with a program that begins at address 0.
fn machine(code: &[u16]) -> Machine {
    machine_with(code, Options::default())
}

fn machine_with(code: &[u16], options: Options) -> Machine {
    let device = device();
    let word = |address: u32| code.get(address as usize).copied();
    let program = Program::decode(device.memory.flash_words(), device.core.features, word);
    Machine::new(device, program, options)
}

fn stimulus(text: &str) -> Stimulus {
    Stimulus::parse("test.ron", text, device()).expect("the stimulus is right")
}
