//! The assumptions of every verdict beside the firmware and the device, in words.

use avr_machine::device::{Device, FuseBytes};
use avr_properties::{AtomTable, Binding, BoundProperty, EnvironmentEvent, Property, PropertyFile, bind};

/// Everything in a property file that restricts or extends what the device and its surroundings may do; reports name
/// all of it. Assumptions are told in their own words, and allowed hazards with the reasons. The rest are the stacks of tasks, events of the
/// environment, machines that drive inputs, what is said of the start and of the application, fuses that differ from the factory values, and the file with the content of the EEPROM. Also told is a
/// start at another flash byte address (`start`, or what the file says) than the reset vector.
#[must_use]
pub fn assumptions(file: &PropertyFile, start: Option<u32>, device: &Device) -> Vec<String> {
    let vector = device.reset_vector(file.fuses.bytes(device.default_fuses)).byte().0;
    let elsewhere = start.or(file.start).filter(|address| *address != vector);
    let start = elsewhere.map(|address| format!("execution starts at {address:#06x}, not at the reset vector"));
    let assumed = file.assume.iter().map(ToString::to_string);
    let allowed = file.allow.iter().map(|(kind, reason)| format!("the hazard {kind} is allowed: {reason}"));
    let at_places =
        file.allow_at.iter().map(|allowed| format!("the hazard {} is allowed: {}", allowed.text(), allowed.reason));
    let allowed = allowed.chain(at_places);
    let stacks = file.stacks.iter().map(|stack| format!("{} is the stack of a task", stack.name));
    let machines = file.machines.iter().map(ToString::to_string);
    let events = stacks.chain(file.environment.iter().map(event)).chain(machines);
    let fuses = fuses(file.fuses.bytes(device.default_fuses), device.default_fuses);
    let eeprom = file.eeprom.iter().map(|path| format!("the EEPROM has the content of {path}"));
    let initially = file.initially.iter().map(ToString::to_string);
    let application = file.application.iter().map(ToString::to_string);
    let assumed = assumed.chain(initially).chain(application);
    start.into_iter().chain(assumed).chain(allowed).chain(events).chain(fuses).chain(eeprom).collect()
}

/// The fairness that the properties of a file assume, each with the property.
#[must_use]
pub fn fairness(file: &PropertyFile, binding: &Binding<'_>) -> Vec<String> {
    let of_property = |property: &Property| {
        let mut table = AtomTable::default();
        bind(property, &file.definitions, binding, &mut table)
            .map_or_else(|_| Vec::new(), |bound| assumed(property, &bound))
    };
    file.properties.iter().filter(|property| !property.under().is_empty()).flat_map(of_property).collect()
}

/// The assumptions of a property on the paths that it speaks of.
pub(crate) fn assumed(property: &Property, bound: &BoundProperty) -> Vec<String> {
    let texts = bound.fairness().into_iter().flat_map(|fairness| &fairness.texts);
    texts.map(|text| format!("fairness, for '{}' only: {text}", property.name())).collect()
}

fn event(event: &EnvironmentEvent) -> String {
    match event {
        EnvironmentEvent::Reset => "an external reset may come at any moment",
        EnvironmentEvent::BrownOut => "a brown-out reset may come at any moment",
    }
    .to_owned()
}

/// The fuse bytes that are not the factory's.
fn fuses(fuses: FuseBytes, factory: FuseBytes) -> impl Iterator<Item = String> {
    let bytes = [
        ("low", fuses.low, factory.low),
        ("high", fuses.high, factory.high),
        ("extended", fuses.extended, factory.extended),
    ];
    let changed = bytes.into_iter().filter(|(_, byte, factory)| byte != factory);
    changed.map(|(name, byte, factory)| format!("the {name} fuse byte is {byte:#04x} (factory value {factory:#04x})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, expected: &[&str]) {
        let file = PropertyFile::parse("p.ron", file).unwrap_or_else(|error| panic!("{error}"));
        let device = Device::named("atmega328p").expect("the device exists");
        assert_eq!(assumptions(&file, None, device), expected);
    }

    #[test]
    fn everything_that_verdicts_rest_on_is_named() {
        check("()", &[]);
        check("(assume: [\"PINB & 0xf0 == 0\", never(INT1)])", &["PINB & 0xf0 == 0", "never(INT1)"]);
        check(
            "(allow: { \"reserved-register\": \"the boot loader does\" })",
            &["the hazard reserved-register is allowed: the boot loader does"],
        );
        check(
            "(environment: [reset, brown_out])",
            &["an external reset may come at any moment", "a brown-out reset may come at any moment"],
        );
        check("(fuses: (low: 0x62, high: 0xc9))", &["the high fuse byte is 0xc9 (factory value 0xd9)"]);
        check("(eeprom: \"settings.eep\")", &["the EEPROM has the content of settings.eep"]);
        check(
            "(initially: [\"MCUSR == 2\"], application: any)",
            &["at the first start: MCUSR == 2", "any application may be there, and runs end where it is entered"],
        );
        check(
            "(initially: (power_on: [\"MCUSR.BORF == 0\"], reset: [\"mem[0x100] == 1\"]), application: absent)",
            &["after power-on: MCUSR.BORF == 0", "after each later reset: mem[0x100] == 1", "no application is there"],
        );
        check("(application: file(\"app.hex\"))", &["the application app.hex is there"]);
        check("(start: 0x0100)", &["execution starts at 0x0100, not at the reset vector"]);
        check("(start: 0)", &[]);
        check("(forbid: [\"reserved-register\"])", &[]);
    }
}
