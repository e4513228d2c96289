//! Random programs through the whole of the verification, with small limits: no panic, no failed check of itself, and no
//! strategy may contradict another.

use std::time::{Duration, Instant};

use avr_image::{Image, LoadOptions};
use avr_machine::device::Device;
use avr_properties::{Property, PropertyFile};
use avr_testkit::image::hex;
use avr_verify::{Exhausted, Progress, Request, Strategy, Verdict, Watch, verify};

/// The properties that every program is verified for.
const PROPERTIES: [&str; 7] = [
    "Inherent()",
    "Stack(max_bytes: 4)",
    "AG EF (pc == 0)",
    "EF (r16 & 1 == 1)",
    "AG (PORTB.0 == 0 || AX PORTB.0 == 1)",
    "Ltl(check: \"F G (SREG.Z == 0) || G F (r17 == 0)\")",
    "nu X. SREG.C == 0 && [][]X",
];

/// The most states of one state space.
const MAX_STATES: usize = 3_000;
/// The most refinements.
const MAX_REFINEMENTS: usize = 60;
/// The time limit of one verification.
const PATIENCE: Duration = Duration::from_millis(300);

/// Small limits.
struct Limits(Instant);

impl Watch for Limits {
    fn check(&self, progress: &Progress) -> Option<Exhausted> {
        let many = progress.states > MAX_STATES || progress.refinements > MAX_REFINEMENTS;
        (many || self.0.elapsed() > PATIENCE).then_some(Exhausted::Time(PATIENCE))
    }

    fn cancelled(&self) -> bool {
        self.0.elapsed() > 3 * PATIENCE
    }
}

/// The first byte chooses device and strategy, the others are flash from address 0.
pub(super) fn take(input: &[u8]) {
    let Some((first, flash)) = input.split_first() else { return };
    let name = [
        "atmega328p",
        "atmega328p-gpio",
        "attiny85",
        "attiny13",
        "attiny84",
        "atmega1284p",
        "atmega2560",
        "atmega32u4",
    ][usize::from(*first) % 8];
    let device = Device::named(name).expect("a device of the tables");
    let hex = hex(&flash[..flash.len().min(512)]);
    let options = LoadOptions::new(device.memory.flash_bytes, device.memory.eeprom_bytes.into());
    let Ok(image) = Image::parse("input.hex", hex.as_bytes(), &options) else { return };
    let others = [Strategy::Naive, Strategy::Decay, Strategy::Paper, Strategy::PaperDecay];
    let other = others[usize::from(*first) / 3 % others.len()];
    let one = verdicts(&image, device, Strategy::Default);
    let two = verdicts(&image, device, other);
    for ((one, two), property) in one.iter().zip(&two).zip(PROPERTIES) {
        let contradict = one.is_some() && two.is_some() && one != two;
        assert!(!contradict, "{property}: {one:?} by default, {two:?} by {}", other.name());
    }
}

/// The verdicts on all properties, none where there is no answer. One that the device lacks the words for has none.
fn verdicts(image: &Image, device: &'static Device, strategy: Strategy) -> Vec<Option<bool>> {
    let mut file = PropertyFile::parse("empty", "()").expect("it is valid");
    let wanted = PROPERTIES.map(|text| Property::from_command_line(text).expect("it is a property"));
    file.properties.extend(wanted);
    let watch = Limits(Instant::now());
    let request = Request { strategy, watch: &watch, ..Request::of(image, device, &file) };
    let results = verify(&request).unwrap_or_else(|error| panic!("{error}"));
    let verdict = |verdict: &Verdict| match verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated => Some(false),
        Verdict::Unknown(unknown) => {
            assert!(!unknown.self_check_failed, "{} by {}", unknown.reason, strategy.name());
            None
        }
    };
    results.properties.iter().map(|result| verdict(&result.verdict)).collect()
}
