//! The work of a command: what it is done on, its threads and its limits.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use avr_image::{EepromAddress, Image};
use avr_machine::device::Device;
use avr_properties::{Binding, Property, PropertyError, PropertyFile, Setting, Specification, formula_text};
use avr_report::{Baseline, Escaped, InputFile, ReportOrigin, SourceFile};
use avr_verify::{
    Basis, Culprit, EarlyResults, Exhausted, InvariantUse, Progress, PropertyResult, PropertyText, Reductions, Request,
    Results, Statistics, Strategy, Unknown, Verdict, assumptions, fairness, place_at,
};

use crate::attached;
use crate::baseline;
use crate::device::{self, Wishes};
use crate::eeprom;
use crate::error::{InputError, InputErrorKind};
use crate::exit::Exit;
use crate::inputs::{IDENTITY, Input, Inputs, Role};
use crate::monitor::{Limits, Monitor};
use crate::options::Verify;
use crate::output;
use crate::outputs::Outputs;
use crate::progress::Display;
use crate::sources;
use crate::specifications;

/// The time between two looks at limits and the display.
const TICK: Duration = Duration::from_millis(4);
/// Stack of a thread that works, in bytes: formulas are trees of limited depth.
pub(crate) const STACK_BYTES: usize = 64 << 20;

/// The subject of verification: everything that the work needs, and what the report needs if the work must be given up.
pub(crate) struct Job {
    pub(crate) image: Image,
    pub(crate) device: &'static Device,
    pub(crate) file: PropertyFile,
    pub(crate) eeprom: BTreeMap<EepromAddress, u8>,
    /// The files that all this was read from.
    pub(crate) inputs: Inputs,
    /// The sources of the firmware that were found.
    pub(crate) sources: Vec<SourceFile>,
    pub(crate) start: Option<u32>,
    pub(crate) strategy: Strategy,
    pub(crate) reductions: Reductions,
    /// True if comparisons narrow what they compare.
    pub(crate) facts: bool,
    /// True if outcomes of comparisons are kept where values are forgotten.
    pub(crate) predicates: bool,
    /// The number of states that a limited location distinguishes.
    pub(crate) enumerated: NonZeroUsize,
    /// True if invariants of the whole program prove what they can.
    pub(crate) invariants: bool,
    /// True if verdicts that rest on the model are not accepted.
    pub(crate) strict: bool,
    /// The properties as they were written, if a certificate is wanted.
    pub(crate) text: Option<PropertyText>,
    /// An older report to compare with.
    pub(crate) baseline: Option<Baseline>,
    pub(crate) monitor: Monitor,
    /// The early results of the work, in case it must be given up.
    pub(crate) known: EarlyResults,
    /// True if findings are looked for.
    pub(crate) finds: bool,
}

/// The end of the work.
pub(crate) enum Ended<T> {
    /// It came to its end.
    Done(T),
    /// It went on beyond a limit.
    GivenUp(Exhausted),
    /// It panicked.
    Failed,
}

/// Does some work on what a command line names, within its limits.
///
/// # Errors
/// If the command line or a file is wrong.
pub(crate) fn perform<T: Send + 'static>(
    arguments: &Verify,
    inputs: Inputs,
    work: fn(&Job, &Sender<T>),
) -> Result<(Arc<Job>, Ended<T>), InputError> {
    perform_with(arguments, inputs, |_| Ok(()), work)
}

/// The same after some preparation.
///
/// # Errors
/// If the command line or a file is wrong, or the preparation fails.
pub(crate) fn perform_with<T: Send + 'static>(
    arguments: &Verify,
    inputs: Inputs,
    prepare: impl FnOnce(&mut Job) -> Result<(), InputError>,
    work: impl FnOnce(&Job, &Sender<T>) + Send + 'static,
) -> Result<(Arc<Job>, Ended<T>), InputError> {
    if arguments.attached {
        attached::end_with_standard_input();
    }
    let mut job = configure(arguments, inputs, Instant::now())?;
    prepare(&mut job)?;
    let job = Arc::new(job);
    output::image_warnings(&job.image);
    handle_interrupts(&job);
    let ended = watch(&job, &start(&job, arguments.jobs, work)?);
    Ok((job, ended))
}

/// Reads all files that were not read yet and excludes contradictions.
pub(crate) fn configure(arguments: &Verify, mut inputs: Inputs, started: Instant) -> Result<Job, InputError> {
    let properties = arguments.properties.as_deref();
    let text = properties.map(|path| read_text(&mut inputs, path)).transpose()?;
    let named = properties.zip(text.as_deref());
    let named = named.map(|(path, text)| PropertyFile::parse(&shown(path), text)).transpose()?;
    let wishes = Wishes { device: arguments.device.as_deref(), start: arguments.start, file: named.as_ref() };
    let (image, device) = device::load_from(&mut inputs, &arguments.firmware, wishes)?;
    let file = specifications::attach(&mut inputs, with_arguments(named, arguments)?, properties)?;
    let baseline = baseline::read(&mut inputs, arguments)?;
    let eeprom = eeprom::content(&mut inputs, &file, properties, device)?;
    let sources = sources::read(&mut inputs, &image, &arguments.firmware, &arguments.source);
    let outputs = Outputs::default().files("the certificate", &arguments.certificate);
    let outputs = outputs.files("the report", arguments.report.iter().map(|report| &report.path));
    outputs.evidence(arguments.evidence.as_ref()).check(inputs.paths())?;
    let text = text.unwrap_or_else(|| NO_FILE.to_owned());
    let carried = file.with_texts_of_specifications(&text).unwrap_or(text);
    Ok(Job {
        baseline,
        eeprom,
        inputs,
        sources,
        image,
        device,
        file,
        start: arguments.start,
        strategy: arguments.strategy,
        reductions: Reductions {
            interrupts: !arguments.all_interrupts,
            paths: !arguments.all_states,
            handlers: !arguments.all_handlers,
        },
        facts: !arguments.no_facts,
        predicates: !arguments.no_predicates,
        enumerated: arguments.enumerate,
        invariants: !arguments.no_invariants,
        strict: arguments.strict,
        text: arguments.certificate.as_ref().map(|_| PropertyText {
            file: carried,
            more: arguments.property.clone(),
            inherent: arguments.inherent,
        }),
        monitor: Monitor::new(started, Limits::chosen(arguments.timeout, arguments.memory)),
        known: EarlyResults::default(),
        finds: true,
    })
}

/// The content of a property file that says nothing.
const NO_FILE: &str = "()";

pub(crate) fn read_properties(inputs: &mut Inputs, path: &Path) -> Result<PropertyFile, InputError> {
    let file = PropertyFile::parse(&shown(path), &read_text(inputs, path)?)?;
    specifications::attach(inputs, file, Some(path))
}

/// The files that a verification reads, as far as they can be read.
pub(crate) fn readable(firmware: &Path, properties: Option<&Path>, baseline: Option<&Path>) -> Inputs {
    let mut inputs = Inputs::default();
    let _ = inputs.read(Role::Firmware, firmware);
    if let Some(path) = baseline {
        let _ = inputs.read(Role::Baseline, path);
    }
    let Some(path) = properties else { return inputs };
    let Ok(input) = inputs.read(Role::Properties, path) else { return inputs };
    let file = input.text().and_then(|text| PropertyFile::parse(&input.name(), text).ok());
    let Some(file) = file else { return inputs };
    if let Some(eeprom) = eeprom::path(&file, Some(path)) {
        let _ = inputs.read(Role::Eeprom, &eeprom);
    }
    let _ = specifications::attach(&mut inputs, file, Some(path));
    inputs
}

/// A path as messages of several lines may show it.
fn shown(path: &Path) -> String {
    Escaped(&path.display().to_string()).to_string()
}

fn read_text(inputs: &mut Inputs, path: &Path) -> Result<String, InputError> {
    let input = inputs.read(Role::Properties, path)?;
    input.text().map(str::to_owned).ok_or_else(|| InputErrorKind::NotText { path: input.name() }.into())
}

/// The property file with the properties of the command line. Where nothing lists properties it is the inherent one.
fn with_arguments(file: Option<PropertyFile>, arguments: &Verify) -> Result<PropertyFile, InputError> {
    let mut file = match file {
        Some(file) => file,
        None => PropertyFile::parse("command line", NO_FILE)?,
    };
    file.add(&arguments.property, arguments.inherent)?;
    if file.properties.is_empty() && !arguments.allow_empty {
        let reason = "its list of properties is empty".to_owned();
        return Err(InputErrorKind::NothingToVerify { path: file.name, reason }.into());
    }
    Ok(file)
}

/// The first interrupt ends the work and lets what is known be reported, the second ends the process.
pub(crate) fn handle_interrupts(job: &Arc<Job>) {
    let job = Arc::clone(job);
    // Without a handler, which a system may refuse, an interrupt ends the process.
    let _ = ctrlc::set_handler(move || {
        if job.monitor.interrupt() {
            std::process::exit(Exit::Interrupted.code().into());
        }
    });
}

/// Starts the work; what it sends will arrive in the channel.
pub(crate) fn start<T: Send + 'static>(
    job: &Arc<Job>,
    jobs: Option<NonZeroUsize>,
    work: impl FnOnce(&Job, &Sender<T>) + Send + 'static,
) -> Result<Receiver<T>, InputError> {
    let jobs = jobs.map_or(0, NonZeroUsize::get);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).stack_size(STACK_BYTES).build();
    let pool = pool.map_err(|error| InputErrorKind::Threads { jobs, reason: error.to_string() })?;
    let (sender, receiver) = channel();
    let job = Arc::clone(job);
    thread::spawn(move || pool.install(|| work(&job, &sender)));
    Ok(receiver)
}

/// Waits for the work and looks after limits and the display.
pub(crate) fn watch<T>(job: &Job, work: &Receiver<T>) -> Ended<T> {
    let mut display = Display::new();
    let outcome = loop {
        match work.recv_timeout(TICK) {
            Ok(done) => break Ended::Done(done),
            Err(RecvTimeoutError::Disconnected) => break Ended::Failed,
            Err(RecvTimeoutError::Timeout) => {}
        }
        job.monitor.measure();
        if let Some(limit) = job.monitor.must_end() {
            break Ended::GivenUp(limit);
        }
        display.show(&job.image, &job.monitor.progress(), job.monitor.elapsed());
    };
    display.clear();
    outcome
}

/// The reason why work was given up that came so far; places are named by flash byte addresses.
fn reason(limit: Exhausted, progress: &Progress, place: impl Fn(u32) -> String) -> String {
    let Progress { phase, pass, states, largest, refinements, refined_at, fullest, .. } = *progress;
    if pass == 0 {
        return format!("{limit} while proofs by invariants and claims about loops were looked for");
    }
    let states = states.max(largest.states);
    let last = refined_at.map_or_else(String::new, |at| format!(", the last {}", place(at)));
    let most =
        fullest.map_or_else(String::new, |(at, states)| format!("; the most states, {states}, came {}", place(at)));
    format!(
        "{limit} while {phase} in pass {pass}, with {states} states reached after {refinements} refinements{last}{most}"
    )
}

impl Job {
    /// The origin of a report that lists these files.
    pub(crate) fn origin<'a>(&'a self, inputs: &'a [InputFile]) -> ReportOrigin<'a> {
        let properties = self.inputs.all().find(|input| input.role == Role::Properties);
        ReportOrigin {
            tool: IDENTITY,
            inputs,
            properties: properties.and_then(Input::text).unwrap_or_default(),
            sources: &self.sources,
            ..ReportOrigin::default()
        }
    }

    pub(crate) fn request(&self) -> Request<'_> {
        Request {
            image: &self.image,
            device: self.device,
            start: self.start,
            file: &self.file,
            eeprom: &self.eeprom,
            strategy: self.strategy,
            reductions: self.reductions,
            facts: self.facts,
            predicates: self.predicates,
            enumerated: self.enumerated,
            invariants: if self.invariants { InvariantUse::Find } else { InvariantUse::Off },
            strict: self.strict,
            watch: &self.monitor,
            contracts: &[],
            findings: None,
            known: Some(&self.known),
        }
    }

    /// The question.
    pub(crate) fn specification(&self) -> Result<Specification, PropertyError> {
        let Self { image, device, file, eeprom, start, .. } = self;
        Setting { image, device, start: *start, file, eeprom }.specification()
    }

    /// The question with these properties in place of those of the file.
    pub(crate) fn specification_of(&self, properties: Vec<Property>) -> Result<Specification, PropertyError> {
        let mut file = self.file.clone();
        file.properties = properties;
        let Self { image, device, eeprom, start, .. } = self;
        Setting { image, device, start: *start, file: &file, eeprom }.specification()
    }

    /// Waits this long for the results after a limit.
    pub(crate) fn wait_for_results(&mut self, last_moment: Duration) {
        self.monitor.wait_for_results(last_moment);
    }

    /// Adds a property.
    ///
    /// # Errors
    /// If the text is no property.
    pub(crate) fn add_property(&mut self, text: &str) -> Result<(), InputError> {
        self.file.properties.push(Property::from_command_line(text)?);
        Ok(())
    }

    /// True if the user interrupted.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.monitor.is_interrupted()
    }

    /// The reason why work was given up.
    pub(crate) fn reason(&self, limit: Exhausted) -> String {
        reason(limit, &self.monitor.progress(), |address| place_at(&self.image, address))
    }

    /// The results when the work did not come to an end in time: what was decided before.
    pub(crate) fn given_up(&self, limit: Exhausted) -> Results {
        let reason = self.reason(limit);
        let invariants = self.known.invariants();
        let reason = invariants.as_ref().map_or_else(|| reason.clone(), |outcome| outcome.with_alarm(&reason));
        let refinements = self.monitor.progress().refinements;
        let culprit = Culprit::of_limit(limit, "the work was given up".to_owned(), refinements);
        let unknown = Unknown { culprit: Some(Box::new(culprit)), ..Unknown::because(reason) };
        Results { interrupted: limit == Exhausted::Interrupted, ..self.undecided(unknown) }
    }

    /// The results where nothing more is known than what was decided before.
    pub(crate) fn undecided(&self, unknown: Unknown) -> Results {
        let progress = self.monitor.progress();
        let statistics = Statistics {
            refinements: progress.refinements,
            states: progress.states.max(progress.largest.states),
            transitions: 0,
            time: self.monitor.elapsed(),
        };
        let invariants = self.known.invariants();
        let start = self.file.start_address(self.device, self.start);
        let binding = Binding {
            device: self.device,
            image: &self.image,
            start,
            ends_paths: self.file.ends_paths(),
            stacks: &self.file.stacks,
            boot_start: self.file.boot_start(self.device),
        };
        let open = |property: &Property| PropertyResult {
            name: property.name().to_owned(),
            kind: property.kind().name().to_owned(),
            formula: formula_text(property, &self.file.definitions, &binding),
            verdict: Verdict::Unknown(unknown.clone()),
            detail: None,
            evidence: None,
            evidence_missing: None,
            vacuous: None,
            explanation: None,
            notes: Vec::new(),
            promises: Vec::new(),
            basis: Basis::Hardware,
            methods: Vec::new(),
            predicates: Vec::new(),
            recheck: None,
            statistics,
        };
        let properties = self.file.properties.iter().enumerate();
        let result = |(number, property)| self.known.result(number).unwrap_or_else(|| open(property));
        Results {
            properties: properties.map(result).collect(),
            findings: self.known.findings(),
            stack: self.known.stack(),
            stacks: Vec::new(),
            survey: None,
            assumptions: [assumptions(&self.file, self.start, self.device), fairness(&self.file, &binding)].concat(),
            ended_paths: BTreeMap::new(),
            interrupted: false,
            passes: progress.pass,
            last_pass: Duration::ZERO,
            exploration: None,
            invariants,
            contracts: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ended, Inputs, Job, Sender, configure, start, watch};
    use crate::arguments::{Arguments, Command};
    use avr_verify::{Exhausted, Progress, Request, Verdict, Watch};
    use clap::Parser;
    use std::sync::Arc;
    use std::thread;
    use std::time::Instant;

    #[test]
    fn the_reason_has_figures_only_of_state_spaces() {
        let limit = Exhausted::Time(std::time::Duration::from_secs(2));
        let told = |progress: &Progress| super::reason(limit, progress, |address| format!("at {address:#06x}"));
        let none = told(&Progress::default());
        assert_eq!(
            none,
            "the time limit of 2 s was reached while proofs by invariants and claims about loops were looked for"
        );
        let some = Progress { pass: 2, states: 7, refinements: 3, refined_at: Some(0x12), ..Progress::default() };
        let end = "exploring in pass 2, with 7 states reached after 3 refinements, the last at 0x0012";
        assert_eq!(told(&some), format!("the time limit of 2 s was reached while {end}"));
    }

    /// Interrupts the run before the first state space is built, and never comes back.
    struct StuckAtOnce<'a>(&'a Job);

    impl Watch for StuckAtOnce<'_> {
        fn check(&self, progress: &Progress) -> Option<Exhausted> {
            if progress.pass > 0 {
                self.0.monitor.interrupt();
                loop {
                    thread::park();
                }
            }
            None
        }

        fn cancelled(&self) -> bool {
            false
        }
    }

    fn get_stuck_at_once(job: &Job, sender: &Sender<()>) {
        let _ = avr_verify::verify(&Request { watch: &StuckAtOnce(job), ..job.request() });
        sender.send(()).expect("somebody listens");
    }

    #[test]
    fn an_alarm_is_reported_when_the_work_does_not_come_back() {
        let sample = "../../firmware-samples/function-table-out-of-range/function-table-out-of-range.Os.elf";
        let image = format!("{}/{sample}", env!("CARGO_MANIFEST_DIR"));
        let line = ["avr-tvar", "verify", &image, "--inherent"];
        let Command::Verify(arguments) = Arguments::try_parse_from(line).expect("the line is valid").command else {
            panic!("another command")
        };
        let job = Arc::new(configure(&arguments, Inputs::default(), Instant::now()).expect("the sample is there"));
        let work = start(&job, None, get_stuck_at_once).expect("there are threads");
        let Ended::GivenUp(limit) = watch(&job, &work) else { panic!("the work came back") };
        let results = job.given_up(limit);
        let [alarm] = results.invariants.as_ref().expect("they were looked for").alarms.as_slice() else {
            panic!("{results:?}")
        };
        assert_eq!(alarm.line.as_ref().map(|line| line.text.as_str()), Some("assume: [\"PINB & 0x04 == 0\"]"));
        let Verdict::Unknown(unknown) = &results.properties[0].verdict else { panic!("{results:?}") };
        assert!(unknown.reason.ends_with(&alarm.text), "{}", unknown.reason);
    }

    /// Interrupts the run in the middle of the work, after the goals were evaluated for the first time, and never comes back.
    struct Stuck<'a>(&'a Job);

    impl Watch for Stuck<'_> {
        fn check(&self, progress: &Progress) -> Option<Exhausted> {
            if progress.states > 60_000 {
                self.0.monitor.interrupt();
                loop {
                    thread::park();
                }
            }
            self.0.monitor.check(progress)
        }

        fn cancelled(&self) -> bool {
            false
        }
    }

    fn get_stuck(job: &Job, sender: &Sender<()>) {
        let _ = avr_verify::verify(&Request { watch: &Stuck(job), ..job.request() });
        sender.send(()).expect("somebody listens");
    }

    #[test]
    fn what_was_decided_is_reported_when_the_work_does_not_come_back() {
        let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../firmware-samples");
        let image = format!("{samples}/input-bits-16/input-bits-16.Og.elf");
        let properties =
            ["--strategy", "naive", "--inherent", "--property", "EF (pc == 0x68)", "--property", "AG (pc != 0x68)"];
        let line = ["avr-tvar", "verify", &image].into_iter().chain(properties);
        let Command::Verify(arguments) = Arguments::try_parse_from(line).expect("the line is valid").command else {
            panic!("another command")
        };
        let job = Arc::new(configure(&arguments, Inputs::default(), Instant::now()).expect("the sample is there"));
        let work = start(&job, None, get_stuck).expect("there are threads");
        let Ended::GivenUp(limit) = watch(&job, &work) else { panic!("the work came back") };
        let results = job.given_up(limit);
        assert!(results.interrupted);
        let [open, exists, violated] = results.properties.as_slice() else { panic!("{results:?}") };
        assert_eq!((&exists.verdict, &violated.verdict), (&Verdict::Holds, &Verdict::Violated));
        assert!(violated.evidence.as_ref().is_some_and(|run| run.replayed));
        let Verdict::Unknown(unknown) = &open.verdict else { panic!("{open:?}") };
        assert!(unknown.reason.starts_with("interrupted while exploring"), "{}", unknown.reason);
    }
}
