//! Early results: what is told of properties while others are open.

use std::sync::Mutex;
use std::time::Duration;

use avr_machine::device::Device;
use avr_properties::{Property, PropertyFile};
use avr_verify::{EarlyResults, Exhausted, Progress, PropertyResult, Request, Results, Verdict, Watch, verify};

/// Reads the port and counts: `in r17,PINC; ldi r24,0; ldi r25,0; 1: adiw r24,1; rjmp 1b`.
const COUNTS: &[u16] = &[0xb116, 0xe080, 0xe090, 0x9601, 0xcffe];
/// Reads the port and loops for ever: `in r17,PINC; rjmp .-2`.
const READS: &[u16] = &[0xb116, 0xcfff];
/// Jumps to an unknown address with something on the stack: `push r0; ijmp`.
const GETS_LOST: &[u16] = &[0x920f, 0x9409];
/// A formula that takes all values of the counter to be decided.
const SLOW: &str = "nu X. (r25 != 200 || r17 & 1 == 0) && []X";

/// The early results of two properties.
type Both = (Option<PropertyResult>, Option<PropertyResult>);

/// Ends the exploration when it has so many states or when this much is known, and remembers what is known then.
struct Until<'a> {
    known: &'a EarlyResults,
    states: usize,
    is_enough: fn(&Both) -> bool,
    then: Mutex<Option<Both>>,
}

impl Watch for Until<'_> {
    fn check(&self, progress: &Progress) -> Option<Exhausted> {
        let both = (self.known.result(0), self.known.result(1));
        let is_over = progress.states > self.states || (self.is_enough)(&both);
        is_over.then(|| {
            self.then.lock().expect("nobody panicked").get_or_insert(both);
            Exhausted::Time(Duration::from_secs(1))
        })
    }

    fn cancelled(&self) -> bool {
        false
    }
}

/// The results of two properties, and their early results when the exploration ended.
fn both(words: &[u16], properties: [&str; 2], states: usize, is_enough: fn(&Both) -> bool) -> (Results, Both) {
    let mut file = PropertyFile::parse("empty.ron", "()").expect("it is valid");
    file.properties.extend(properties.map(|text| Property::from_command_line(text).expect("it is a property")));
    let (image, device) = (avr_testkit::image::image(words), Device::named("atmega328p").expect("the device exists"));
    let known = EarlyResults::default();
    let watch = Until { known: &known, states, is_enough, then: Mutex::default() };
    let request = Request { watch: &watch, known: Some(&known), ..Request::of(&image, device, &file) };
    let results = verify(&request).unwrap_or_else(|error| panic!("{error}"));
    let then = watch.then.into_inner().expect("nobody panicked");
    (results, then.unwrap_or_else(|| (known.result(0), known.result(1))))
}

#[test]
fn a_result_is_known_while_another_property_is_open() {
    for order in [["AG (pc != 4)", SLOW], [SLOW, "AG (pc != 4)"]] {
        let (results, (first, second)) = both(COUNTS, order, 2_000, |_| false);
        let (told, open, place) = if order[1] == SLOW { (first, second, 0) } else { (second, first, 1) };
        let told = told.expect("a short run shows it");
        assert_eq!((told.verdict.clone(), open), (Verdict::Violated, None));
        assert!(told.evidence.as_ref().is_some_and(|run| run.replayed), "{told:?}");
        let reported = PropertyResult { explanation: None, ..results.properties[place].clone() };
        assert_eq!(told, reported, "it is what the report says in the end");
        assert!(matches!(results.properties[1 - place].verdict, Verdict::Unknown(_)));
    }
}

#[test]
fn what_holds_is_known_with_its_proof_alone() {
    let (_, (first, second)) = both(READS, ["AG (pc <= 2)", "AG EF (pc == 2)"], usize::MAX, |_| false);
    assert_eq!([first, second].map(|told| told.map(|told| told.verdict)), [const { Some(Verdict::Holds) }; 2]);
}

#[test]
fn under_fairness_nothing_is_known_before_every_state_has_a_fair_path() {
    let fair = "Ltl(check: \"F (pc == 2)\", under: [\"G F (pc == 2)\"])";
    let unfair = "Ltl(check: \"F (pc == 2)\", under: [\"F G (r5 == 3)\"])";
    let (results, (fair, unfair)) = both(READS, [fair, unfair], usize::MAX, |_| false);
    assert_eq!((fair.map(|told| told.verdict), unfair), (Some(Verdict::Holds), None));
    assert!(matches!(results.properties[1].verdict, Verdict::Unknown(_)), "{:?}", results.properties[1].verdict);
}

/// A limit on the second look, with nothing left out, takes nothing away that the first look decided with something
/// left out.
#[test]
fn what_was_decided_before_stays_decided() {
    let (results, _) = both(GETS_LOST, ["Stack(max_bytes: 0)", "Inherent()"], usize::MAX, |(stack, _)| stack.is_some());
    let [stack, inherent] = results.properties.as_slice() else { panic!("{results:?}") };
    assert_eq!(stack.verdict, Verdict::Violated);
    assert!(stack.evidence.is_some());
    match &inherent.verdict {
        Verdict::Unknown(unknown) => {
            assert!(unknown.reason.contains("time limit"), "the second look came to its limit: {}", unknown.reason);
        }
        // A run that is directed at the alarm is there sooner.
        Verdict::Violated => assert!(inherent.evidence.is_some()),
        Verdict::Holds => panic!("the stack leaves the SRAM"),
    }
}
