//! Verdicts on random programs.

use crate::{Exhausted, InvariantUse, Progress, Reductions, Request, Results, StackBound, Verdict, Watch, verify};
use avr_image::Image;
use avr_machine::device::Device;
use avr_properties::{Property, PropertyFile};
use avr_testkit::image::image;
use std::time::{Duration, Instant};

pub(crate) use avr_testkit::Random;
pub(crate) use avr_testkit::image::{Code, r};
pub(crate) use avr_testkit::programs::interrupted::{HANDLERS, MAIN, program, with_handlers, with_handlers_behind};
pub(crate) use avr_testkit::programs::{CELLS, EIMSK, SREG};

/// The time for a program that is to be decided.
pub(crate) const LONG: Duration = Duration::from_secs(300);

/// A limit on time.
struct Patience {
    started: Instant,
    limit: Duration,
}

impl Watch for Patience {
    fn check(&self, _: &Progress) -> Option<Exhausted> {
        self.cancelled().then_some(Exhausted::Time(self.limit))
    }

    fn cancelled(&self) -> bool {
        self.started.elapsed() > self.limit
    }
}

/// No limit on time: what has limits in steps gives the same answers on a busy machine.
pub(crate) struct Unhurried;

impl Watch for Unhurried {
    fn check(&self, _: &Progress) -> Option<Exhausted> {
        None
    }

    fn cancelled(&self) -> bool {
        false
    }
}

/// The number of random programs that tests look at.
pub(crate) const PROGRAMS: u64 = 250;

/// The results of properties, given as on a command line, within a limit on time.
pub(crate) fn results(words: &[u16], properties: &[&str], reductions: Reductions, limit: Duration) -> Results {
    with_request(words, properties, reductions, limit, |request| verify(request).expect("the property is bound"))
}

/// The answer to a request for properties, given as on a command line, with a limit on time.
pub(crate) fn with_request<T>(
    words: &[u16],
    properties: &[&str],
    reductions: Reductions,
    limit: Duration,
    ask: impl FnOnce(&Request<'_>) -> T,
) -> T {
    with_request_for(&image(words), properties, reductions, limit, ask)
}

/// The same for an image.
pub(crate) fn with_request_for<T>(
    image: &Image,
    properties: &[&str],
    reductions: Reductions,
    limit: Duration,
    ask: impl FnOnce(&Request<'_>) -> T,
) -> T {
    let mut file = PropertyFile::parse("empty.ron", "()").expect("it is valid");
    let property = |text: &&str| Property::from_command_line(text).expect("it is valid");
    file.properties = properties.iter().map(property).collect();
    let device = Device::named("atmega328p").expect("the device exists");
    let watch = Patience { started: Instant::now(), limit };
    ask(&Request { reductions, invariants: InvariantUse::Off, watch: &watch, ..Request::of(image, device, &file) })
}

/// The answers about a program.
#[derive(Debug, PartialEq)]
pub(crate) struct Said {
    pub(crate) holds: Option<bool>,
    pub(crate) stack: StackBound,
    pub(crate) states: usize,
}

/// The answers about the inherent property of a program, and about its stack.
pub(crate) fn said(words: &[u16], reductions: Reductions, limit: Duration) -> Said {
    Said::of(&results(words, &["Inherent()"], reductions, limit))
}

impl Said {
    /// The answers that results about the inherent property are.
    pub(crate) fn of(results: &Results) -> Self {
        let property = &results.properties[0];
        let holds = match property.verdict {
            Verdict::Holds => Some(true),
            Verdict::Violated => Some(false),
            Verdict::Unknown(ref unknown) => {
                assert!(!unknown.self_check_failed, "{}", unknown.reason);
                None
            }
        };
        Self { holds, stack: results.stack, states: property.statistics.states }
    }
}

/// True if two answers contradict each other.
pub(crate) fn contradict(one: &Said, other: &Said) -> bool {
    let exceeds = |lower: Option<u32>, upper: Option<u32>| lower.zip(upper).is_some_and(|(lower, upper)| lower > upper);
    let verdicts = one.holds.zip(other.holds).is_some_and(|(one, other)| one != other);
    verdicts || exceeds(one.stack.lower, other.stack.upper) || exceeds(other.stack.lower, one.stack.upper)
}
