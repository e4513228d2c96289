//! The pins: what ports read, and the requests that changes of levels make (data sheet, sections "I/O-Ports" and
//! "External Interrupts"). A pin that nobody drives is low, apart from the reset pin, which is high while the processor runs; a pin that is
//! an output reads what it drives.

use super::peripheral::{Peripheral, Signals, View, address, bit, known};
use crate::device::{BitRef, Device, PinChanges};
use crate::machine::Machine;
use avr_isa::DataAddress;

/// The mode bits in the control register of the serial interface (USI).
const MODE: u8 = 0x30;

/// A port.
#[derive(Clone, Copy, Debug)]
struct Port {
    pin: DataAddress,
    direction: DataAddress,
    output: DataAddress,
    /// Levels from outside.
    level: u8,
    /// The pins that the outside drives.
    driven: u8,
    /// The levels that the port reads.
    reads: u8,
    /// The pins that are outputs.
    outputs: u8,
    /// The clock cycle at which that last changed, and what the synchroniser of the inputs still has then.
    unsettled: (u64, u8),
}

/// The pin-change request of a port.
#[derive(Clone, Copy, Debug)]
struct PinChange {
    port: usize,
    /// The facts of the table.
    request: PinChanges,
}

/// An external interrupt.
#[derive(Clone, Copy, Debug)]
struct External {
    number: u8,
    port: usize,
    bit: u8,
    flag: BitRef,
    /// The register with the sense control bits, and where they begin.
    sense: BitRef,
}

/// All ports.
#[derive(Clone, Debug)]
pub(super) struct Pins {
    ports: Vec<Port>,
    changes: Vec<PinChange>,
    external: Vec<External>,
    /// The serial interface, where there is one: the register whose strobe toggles a bit of a port, the address of the PIN register of that
    /// port, and the pins that it may drive.
    serial: Option<(DataAddress, DataAddress, u8)>,
    /// Bits of ports that are outputs and that the serial interface may override, by the address of their PIN register.
    overridden: Option<(DataAddress, u8)>,
}

impl Pins {
    /// The ports of a machine.
    pub fn new(machine: &Machine) -> Self {
        let device = machine.device;
        let mut ports: Vec<Port> = ('A'..='L').filter_map(|letter| Port::new(device, letter)).collect();
        let index = |ports: &[Port], pins: DataAddress| ports.iter().position(|port| port.pin == pins);
        let fuses = machine.options().fuses.unwrap_or(device.default_fuses);
        let reset_pin = device.pins.reset.and_then(|pin| Some((index(&ports, pin.address)?, pin.bit)));
        if let Some((port, bit)) = reset_pin
            && device.fuse("RSTDISBL").is_some_and(|fuse| !fuse.is_programmed(fuses))
        {
            ports[port].level = 1 << bit;
            ports[port].reads = 1 << bit;
        }
        let change = |change: &PinChanges| Some(PinChange { port: index(&ports, change.pins)?, request: *change });
        let changes = device.pins.changes.iter().filter_map(change).collect();
        let external = |(name, pin): &(&'static str, BitRef)| {
            let interrupt = device.interrupt(name)?;
            let sense = bit(device, &format!("ISC{}0", name.strip_prefix("INT")?))?;
            let port = index(&ports, pin.address)?;
            Some(External { number: interrupt.number, port, bit: pin.bit, flag: interrupt.flag()?, sense })
        };
        let external = device.pins.external.iter().filter_map(external).collect();
        let serial =
            device.shifter.as_ref().map(|shifter| (shifter.strobe.address, shifter.drives.0, shifter.drives.1));
        Self { ports, changes, external, serial, overridden: None }
    }

    /// From now on the outside drives the pins in `mask` of a port; `pin` is the address of its PIN register.
    pub fn drive(&mut self, pin: DataAddress, mask: u8, level: u8, view: &View<'_>, signals: &mut Signals) {
        for port in self.ports.iter_mut().filter(|port| port.pin == pin) {
            port.level = port.level & !mask | level & mask;
            port.driven |= mask;
        }
        self.update(view, signals);
    }

    /// The interrupts that are requested by a level just now, as a set of numbers: the outside holds their pin low.
    pub fn levels(&self, view: &View<'_>) -> u128 {
        let requested = |external: &&External| {
            let port = &self.ports[external.port];
            let sense = view.get(external.sense.address) >> external.sense.bit & 3;
            sense == 0 && port.driven & !port.level & 1 << external.bit != 0
        };
        self.external.iter().filter(requested).fold(0, |all, external| all | 1 << external.number)
    }

    /// Determines what the ports read, and raises flags where that changes.
    fn update(&mut self, view: &View<'_>, signals: &mut Signals) {
        let before: Vec<u8> = self.ports.iter().map(|port| port.reads).collect();
        for port in &mut self.ports {
            let outputs = view.get(port.direction);
            if outputs != port.outputs {
                (port.outputs, port.unsettled) = (outputs, (view.now, port.reads));
            }
            port.reads = view.get(port.output) & outputs | port.level & !outputs;
        }
        let changed = |port: usize| self.ports[port].reads ^ before[port];
        for change in &self.changes {
            let PinChanges { of, mask, shift, flag, .. } = change.request;
            if (changed(change.port) & of) << shift & view.get(mask) != 0 {
                signals.raise(flag);
            }
        }
        for external in &self.external {
            let rises = self.ports[external.port].reads >> external.bit & 1 == 1;
            let sense = view.get(external.sense.address) >> external.sense.bit & 3;
            let wanted = matches!((sense, rises), (1, _) | (2, false) | (3, true));
            if changed(external.port) >> external.bit & 1 == 1 && wanted {
                signals.raise(external.flag);
            }
        }
    }
}

impl Port {
    fn new(device: &'static Device, letter: char) -> Option<Self> {
        let register = |kind: &str| address(device, &format!("{kind}{letter}"));
        let (pin, direction, output) = (register("PIN")?, register("DDR")?, register("PORT")?);
        Some(Self { pin, direction, output, level: 0, driven: 0, reads: 0, outputs: 0, unsettled: (u64::MAX, 0) })
    }
}

impl Peripheral for Pins {
    fn written_registers(&self) -> Vec<DataAddress> {
        let sense = self.external.iter().map(|external| external.sense.address);
        self.ports
            .iter()
            .flat_map(|port| [port.pin, port.direction, port.output])
            .chain(sense)
            .chain(self.serial.map(|(control, ..)| control))
            .collect()
    }

    fn answered_registers(&self) -> Vec<DataAddress> {
        self.ports.iter().map(|port| port.pin).collect()
    }

    fn known_bits(&self) -> Vec<(DataAddress, u8)> {
        let flags = self
            .changes
            .iter()
            .map(|change| change.request.flag)
            .chain(self.external.iter().map(|external| external.flag));
        self.ports.iter().map(|port| (port.pin, 0xff)).chain(flags.map(known)).collect()
    }

    fn input(&self, address: DataAddress, now: u64) -> u8 {
        let port = self.ports.iter().find(|port| port.pin == address);
        port.map_or(0, |port| if port.unsettled.0 == now { port.unsettled.1 } else { port.reads })
    }

    /// The serial interface drives its pins where its mode is not 0.
    fn is_exact(&self, address: DataAddress, mask: u8, _now: u64) -> bool {
        self.overridden.is_none_or(|(pin, bits)| pin != address || bits & mask == 0)
    }

    fn observe(&mut self, view: &View<'_>, signals: &mut Signals) {
        self.update(view, signals);
        self.overridden = self.serial.and_then(|(control, pin, driven)| {
            let port = self.ports.iter().find(|port| port.pin == pin)?;
            (view.get(control) & MODE != 0).then(|| (pin, view.get(port.direction) & driven))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Options;
    use crate::program::Program;
    use crate::state::MachineState;

    /// Asserts which pins are not known while the serial interface is on and all pins are outputs.
    #[track_caller]
    fn check(name: &str, port: char, expected: u8) {
        let device = Device::named(name).expect("the device exists");
        let program = Program::decode(device.memory.flash_words(), device.core.features, |_| None);
        let machine = Machine::new(device, program, Options::default());
        let at = |name: &str| address(device, name).expect("the register exists");
        let writes = [(at("USICR"), 0x10), (at(&format!("DDR{port}")), 0xff)];
        let mut state = MachineState::<u8>::new(machine.cells(), 0);
        writes.iter().for_each(|(address, value)| state.data.set(*address, *value));
        let view = View { cells: &state.data, writes: &writes, reads: &[], now: 0, sleeping: false };
        let mut pins = Pins::new(&machine);
        pins.observe(&view, &mut Signals { raised: vec![0; 0x100], ..Signals::default() });
        let pin = at(&format!("PIN{port}"));
        let unknown = (0..8).filter(|bit| !pins.is_exact(pin, 1 << bit, 0)).fold(0, |all, bit| all | 1 << bit);
        assert_eq!(unknown, expected, "{name}");
    }

    #[test]
    fn the_serial_interface_drives_the_pins_of_the_part() {
        check("attiny85", 'B', 0x07);
        check("attiny84", 'A', 0x70);
        check("attiny84", 'B', 0);
    }
}
