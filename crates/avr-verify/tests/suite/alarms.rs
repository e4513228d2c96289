//! Alarms of the samples: what reports name, and whether the lines that they offer help.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use avr_image::{FlashByteAddress, Image, LoadOptions};
use avr_machine::device::Device;
use avr_properties::PropertyFile;
use avr_testkit::side_by_side;
use avr_verify::{
    Alarm, AlarmKind, Dependence, DependenceKind, Exhausted, Progress, Request, Results, Verdict, Watch, verify,
};

/// Ends every state space before its first step.
struct NoStates;

impl Watch for NoStates {
    fn check(&self, progress: &Progress) -> Option<Exhausted> {
        (progress.pass > 0).then_some(Exhausted::Time(Duration::ZERO))
    }

    fn cancelled(&self) -> bool {
        false
    }
}

fn device() -> &'static Device {
    Device::named("atmega328p").expect("a device of the tables")
}

fn sample(name: &str, level: &str) -> Image {
    let path = format!("../../firmware-samples/{name}/{name}.{level}.elf");
    let options = LoadOptions::new(device().memory.flash_bytes, device().memory.eeprom_bytes.into());
    Image::load(Path::new(env!("CARGO_MANIFEST_DIR")).join(path), &options).expect("the sample is there")
}

/// What invariants say of the inherent property of an image, with lines of a property file.
fn results(image: &Image, lines: &str) -> Results {
    let mut file = PropertyFile::parse("p.ron", &format!("({lines})")).unwrap_or_else(|error| panic!("{error}"));
    file.add(&[], true).expect("the inherent property");
    let request = Request { watch: &NoStates, ..Request::of(image, device(), &file) };
    verify(&request).unwrap_or_else(|error| panic!("{lines}: {error}"))
}

fn alarms(results: &Results) -> &[Alarm] {
    &results.invariants.as_ref().expect("they were looked for").alarms
}

/// The one alarm of an image, which the reason of the inherent property names.
fn only_alarm(image: &Image) -> Alarm {
    let results = results(image, "");
    let [alarm] = alarms(&results) else { panic!("{:?}", results.invariants) };
    let Verdict::Unknown(unknown) = &results.properties[0].verdict else { panic!("{:?}", results.properties) };
    let expected = format!("; an alarm keeps invariants from proving anything: {}", alarm.text);
    assert!(unknown.reason.ends_with(&expected), "{}", unknown.reason);
    alarm.clone()
}

/// The names of the functions and variables that an alarm depends on, by kind.
fn named(image: &Image, alarm: &Alarm) -> BTreeMap<&'static str, Vec<String>> {
    let mut all: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    for one in &alarm.dependences {
        all.entry(one.kind.name()).or_default().push(name(image, one));
    }
    all
}

fn name(image: &Image, one: &Dependence) -> String {
    if let Some(register) = device().register_at(one.cell) {
        return register.name.to_owned();
    }
    if let Some(located) = image.symbols.object_at(one.cell) {
        return located.symbol.display_name().to_owned();
    }
    let place = one.in_loop.or(one.pc).map_or(FlashByteAddress(0), FlashByteAddress);
    image.symbols.function_at(place).map_or_else(String::new, |located| located.symbol.display_name().to_owned())
}

/// Checks what the alarm of a sample depends on.
#[track_caller]
fn depends(sample_name: &str, text: &str, expected: &[(&str, &str)]) {
    let image = sample(sample_name, "Os");
    let alarm = only_alarm(&image);
    assert!(alarm.text.starts_with(text), "{}", alarm.text);
    let named = named(&image, &alarm);
    for (kind, name) in expected {
        assert!(named.get(kind).is_some_and(|names| names.iter().any(|one| one == name)), "{kind} {name}: {named:?}");
    }
}

#[test]
fn what_states_told_apart_prove_raises_no_alarm() {
    let results = results(&sample("sketch-print", "Os"), "");
    assert_eq!((alarms(&results), &results.properties[0].verdict), (&[][..], &Verdict::Holds));
}

#[test]
fn a_heap_is_one_alarm() {
    let text = "a memory access through an unknown pointer at 0x0514 (in memcpy)";
    depends("sketch-string", text, &[("changed", "memcpy")]);
}

#[test]
fn a_target_depends_on_the_input_that_chooses_it() {
    let text = "an indirect jump to an unknown address at 0x00c4 (in main, common/function-table.h:19)";
    depends("function-table-out-of-range", text, &[("input", "PINB")]);
}

#[test]
fn a_target_depends_on_the_store_that_may_hit_it() {
    let text = "an indirect jump to an unknown address at 0x00fe (in main, common/parser.h:51)";
    depends("parser-overflow", text, &[("variable", "message"), ("stored", "message"), ("changed", "main")]);
}

/// The samples with alarms.
const ALARMED: [&str; 7] = [
    "function-table-out-of-range",
    "message-overflow",
    "packet-overflow",
    "parser-overflow",
    "sketch-string",
    "stack-smash",
    "bad-interrupt",
];

#[test]
fn lines_that_are_offered_are_accepted_and_remove_the_alarm() {
    let offered = side_by_side(&ALARMED, |name| {
        let mut offered = Vec::new();
        for level in ["Og", "Os"] {
            let image = sample(name, level);
            for alarm in alarms(&results(&image, "")) {
                let Some(line) = &alarm.line else { continue };
                let with_line = results(&image, &line.text);
                assert!(alarms(&with_line).iter().all(|other| other.pc != alarm.pc), "{name} {level}: {}", line.text);
                assert_eq!(alarms(&with_line).is_empty(), line.closes, "{name} {level}: {}", line.text);
                let holds = with_line.properties[0].verdict == Verdict::Holds;
                assert_eq!(holds, line.closes, "{name} {level}: {}", line.text);
                offered.push(format!("{name} {level}: {}", line.text));
            }
        }
        offered
    });
    let offered: Vec<String> = offered.into_iter().flatten().collect();
    assert!(
        offered.iter().any(|one| one == "function-table-out-of-range Os: assume: [\"PINB & 0x04 == 0\"]"),
        "{offered:?}"
    );
    assert!(offered.len() > 3, "{offered:?}");
}

#[test]
fn alarms_are_the_same_each_time() {
    let image = sample("parser-overflow", "Os");
    assert_eq!(only_alarm(&image), only_alarm(&image));
}

#[test]
fn a_sample_without_alarms_has_none() {
    let results = results(&sample("function-table", "Os"), "");
    assert_eq!((alarms(&results), &results.properties[0].verdict), (&[][..], &Verdict::Holds));
}

#[test]
fn a_hazard_that_is_not_excluded_is_an_alarm() {
    let image = sample("stack-smash", "Os");
    let alarm = only_alarm(&image);
    assert!(matches!(alarm.kind, AlarmKind::Hazard(_)), "{alarm:?}");
    assert!(alarm.dependences.iter().any(|one| one.kind == DependenceKind::Input), "{alarm:?}");
}
