//! Runs that `--strict` accepts keep the least time between two events from outside: no byte comes sooner than a line can bring it.
//!
//! The events are taken from a replay of the run by the simulator, the least times from the table below. Both know nothing of how
//! the search for runs counts.

use crate::sample::{Firmware, StateLimit, root, samples};
use avr_isa::DataAddress;
use avr_machine::device::Device;
use avr_machine::simulator::Simulator;
use avr_machine::{FrameKind, Machine, MachineState};
use avr_properties::{Property, PropertyFile, Setting};
use avr_testkit::side_by_side;
use avr_verify::{Evidence, PropertyResult, Request, Verdict};

/// States that the analysis of a sample may reach.
const MAX_STATES: usize = 20_000;

/// A flag that something outside sets.
struct Spaced {
    flag: (&'static str, u8),
    interrupt: &'static str,
    /// The bits of a register that must have a value for that.
    enabled: (&'static str, u8, u8),
    /// Clock cycles.
    least: u64,
}

/// Sections "Asynchronous Data Reception" (eight samples a bit in double-speed mode, ten bits a frame), "SPI Slave Mode" (SCK at most a
/// quarter of the clock), "2-wire Serial Interface, Bit Rate Generator Unit" (SCL at most a sixteenth of the clock).
const SPACED: [Spaced; 3] = [
    Spaced { flag: ("UCSR0A", 7), interrupt: "USART_RX", enabled: ("UCSR0B", 0x10, 0x10), least: 80 },
    Spaced { flag: ("SPSR", 7), interrupt: "SPI_STC", enabled: ("SPCR", 0x50, 0x40), least: 32 },
    Spaced { flag: ("TWCR", 7), interrupt: "TWI", enabled: ("TWCR", 0x04, 0x04), least: 16 },
];

impl Spaced {
    fn cell(device: &Device, register: &str) -> DataAddress {
        device.register(register).expect("the device has it").address
    }

    fn is_enabled(&self, device: &Device, state: &MachineState<u8>) -> bool {
        let (register, mask, value) = self.enabled;
        state.data.get(Self::cell(device, register)) & mask == value
    }

    fn is_set(&self, device: &Device, state: &MachineState<u8>) -> bool {
        state.data.get(Self::cell(device, self.flag.0)) >> self.flag.1 & 1 == 1
    }

    /// True if a step set the flag: it is stored, or its handler was entered.
    fn came(&self, device: &Device, before: &MachineState<u8>, after: &MachineState<u8>) -> bool {
        let number = device.interrupt(self.interrupt).expect("the device has it").number;
        let frames = after.calls.frames();
        let is_entered = frames.len() > before.calls.frames().len()
            && frames.last().is_some_and(|frame| frame.kind == FrameKind::Interrupt(number));
        !self.is_set(device, before) && (self.is_set(device, after) || is_entered)
    }

    /// The events of a run, and what comes too soon.
    fn events(&self, machine: &Machine, run: &Evidence) -> (usize, Option<String>) {
        let device = machine.device;
        let mut simulator = Simulator::new(machine, run.stimulus.clone());
        let mut since = 0;
        let mut events: Vec<(u64, u64)> = Vec::new();
        let mut cycles = vec![0];
        for step in 0..run.steps {
            let (before, now) = (simulator.state().clone(), simulator.cycles());
            simulator.step().expect("the run goes on");
            if !self.is_enabled(device, &before) {
                since = now;
            }
            if self.is_enabled(device, &before) && self.came(device, &before, simulator.state()) {
                if now - since < self.least {
                    return (
                        events.len(),
                        Some(format!("{} comes {} cycles too soon", self.interrupt, self.least - (now - since))),
                    );
                }
                since = now;
                events.push((step, now));
            }
            cycles.push(simulator.cycles());
        }
        let repeated: Vec<u64> =
            events.iter().filter(|event| Some(event.0) >= run.loop_start).map(|event| event.1).collect();
        if let (Some(start), Some(first), Some(last)) = (run.loop_start, repeated.first(), repeated.last()) {
            let pause = cycles[run.steps as usize] - last + (first - cycles[start as usize]);
            if pause < self.least {
                return (events.len(), Some(format!("{} comes again after {pause} cycles", self.interrupt)));
            }
        }
        (events.len(), None)
    }
}

/// The runs that `--strict` accepts with those of their branches.
fn accepted(result: &PropertyResult) -> Vec<Evidence> {
    fn all(run: &Evidence, found: &mut Vec<Evidence>) {
        found.push(run.clone());
        run.branches.iter().for_each(|branch| all(branch, found));
    }
    let mut found = Vec::new();
    if !matches!(result.clone().strict().verdict, Verdict::Unknown(_)) {
        result.evidence.iter().for_each(|run| all(run, &mut found));
    }
    found
}

/// The events that come too soon in the runs of an image, and the number of events.
fn look(name: &str, firmware: &Firmware) -> (usize, Vec<String>) {
    let request = Request { watch: &StateLimit(MAX_STATES), ..firmware.request() };
    let results = avr_verify::verify(&request).unwrap_or_else(|error| panic!("{name}: {error}"));
    let Request { image, device, file, start, eeprom, .. } = request;
    let machine = Setting { image, device, start, file, eeprom }.machine().expect("it is a machine");
    let (mut events, mut wrong) = (0, Vec::new());
    for result in &results.properties {
        for run in accepted(result).iter().filter(|run| run.steps < 200_000) {
            for spaced in &SPACED {
                let (found, problem) = spaced.events(&machine, run);
                events += found;
                wrong.extend(problem.map(|problem| format!("{name}: {}: {problem}", result.name)));
            }
        }
    }
    (events, wrong)
}

fn check(found: Vec<(usize, Vec<String>)>, at_least: usize) {
    let events: usize = found.iter().map(|(events, _)| events).sum();
    let wrong: Vec<String> = found.into_iter().flat_map(|(_, wrong)| wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(events >= at_least, "only {events} events");
}

#[test]
fn no_accepted_run_of_a_sample_has_events_too_soon() {
    let samples = samples();
    let chosen = samples.iter().filter(|sample| sample.device == "atmega328p");
    let images = chosen.flat_map(|sample| sample.images.iter().map(move |image| (sample, image)));
    let images: Vec<_> = images.filter(|(sample, (image, _))| sample.is_selected(image)).collect();
    let found = side_by_side(&images, |(sample, (image, properties))| look(image, &sample.load(image, properties)));
    // The short selection has no sample in which the run that is found first has such an event.
    check(found, avr_testkit::cases(0, 5) as usize);
}

#[test]
fn no_accepted_run_of_a_regression_has_events_too_soon() {
    let images =
        ["bytes-at-once", "bytes-in-time", "byte-interrupts-at-once", "slave-transfers-at-once", "bus-event-at-once"];
    let found = side_by_side(&images, |name| {
        let path = root().join("tests/regressions/images").join(format!("{name}.elf"));
        let mut firmware = Firmware::load(&path, "atmega328p", "inherent.ron");
        firmware.file = PropertyFile::parse("empty.ron", "()").expect("it is valid");
        for property in
            ["Never(check: \"pc == reached\")", "EG (pc != reached)", "Formula(check: \"EF AG (pc != reached)\")"]
        {
            firmware.file.properties.push(Property::from_command_line(property).expect("it is a property"));
        }
        look(name, &firmware)
    });
    check(found, 2);
}
