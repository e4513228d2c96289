//! The command `verify`.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};

use avr_certificate::{Certificate, Claim};
use avr_properties::{PropertyError, Specification};
use avr_report::{Detail, Report, ReportOrigin};
use avr_verify::{Exhausted, Progress, Request, Results, Watch};

use crate::baseline;
use crate::certificate;
use crate::confirm;
use crate::error::InputError;
use crate::evidence;
use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::job::{Ended, Job, perform, perform_with};
use crate::made::Made;
use crate::memory;
use crate::monitor::Monitor;
use crate::options::Verify;
use crate::output;
use crate::reports;

/// The outcome of verification: results and, if one was wanted, a certificate to come.
type Work = Result<(Results, Option<Receiver<Certificate>>), PropertyError>;

/// Verifies the firmware and reports; some files may have been read.
///
/// # Errors
/// If the command line or a file is wrong.
pub(crate) fn run(arguments: &Verify, inputs: Inputs) -> Result<Exit, InputError> {
    run_with(arguments, inputs, if arguments.verbose { Detail::Methods } else { Detail::Verdicts })
}

/// The same with explanations of the verdicts, for files of which some may have been read.
///
/// # Errors
/// If the command line or a file is wrong.
pub(crate) fn run_explained(arguments: &Verify, inputs: Inputs) -> Result<Exit, InputError> {
    run_with(arguments, inputs, Detail::Subformulas)
}

fn run_with(arguments: &Verify, inputs: Inputs, detail: Detail) -> Result<Exit, InputError> {
    let work: fn(&Job, &Sender<Work>) = match detail {
        Detail::Verdicts | Detail::Methods => Job::verify,
        Detail::Subformulas => Job::explain,
    };
    let (job, ended) = perform(arguments, inputs, work)?;
    let (mut results, certificate) = match ended {
        Ended::Done(work) => work?,
        Ended::GivenUp(limit) => (job.given_up(limit), None),
        Ended::Failed => return Ok(Exit::Internal),
    };
    results.interrupted |= job.monitor.is_interrupted();
    if arguments.recheck {
        match rechecked(arguments, job.inputs.clone())? {
            Some(again) => results = results.rechecked(&again),
            None => return Ok(Exit::Internal),
        }
    }
    if arguments.confirm {
        confirm::confirm(&job, &mut results)?;
    }
    if arguments.strict {
        results = results.strict();
    }
    let is_denied = report(&job, &results, arguments, detail)?;
    if let Some(path) = &arguments.certificate {
        match certificate.map(|coming| coming.recv()) {
            Some(Ok(certificate)) => {
                certificate::write(path, &certificate)?;
                note_unproved(path, &certificate, &results, job.request().allows_reduction());
            }
            // The hook has told about a panic already.
            Some(Err(_)) => return Ok(Exit::Internal),
            None => output::note(&format!("nothing was proved in time, so {} is not written", path.display())),
        }
    }
    Ok(match Exit::of(&results, &arguments.deny) {
        Exit::Holds | Exit::Unknown if is_denied => Exit::Violated,
        exit => exit,
    })
}

/// Says that proofs may not fit before they are tried.
fn announce(open: &[&str]) {
    let others = match open.len() {
        0 | 1 => String::new(),
        more => format!(" and of {} more", more - 1),
    };
    output::note(&format!(
        "a proof of {}{others} takes state spaces with interrupts wherever they can come; within the limits it is tried, and what has none \
         is reported all the same",
        open[0]
    ));
}

/// The reason why a property may be undecided because of a certificate.
const UNDECIDED_WITH_ALL_INTERRUPTS: &str = "it is undecided with interrupts wherever they can come, as a proof needs them; \
     without --certificate there is partial-order reduction of interrupts, which may decide it";

/// Says which properties have no proof in a certificate although they are decided, or would perhaps be without it, and why.
fn note_unproved(path: &Path, certificate: &Certificate, results: &Results, was_reducible: bool) {
    for (claim, result) in certificate.claims.iter().zip(&results.properties) {
        let reason = match claim {
            Claim::Uncertified(reason) => reason.as_str(),
            Claim::Undecided if was_reducible => UNDECIDED_WITH_ALL_INTERRUPTS,
            Claim::Undecided | Claim::Decided(_) | Claim::Invariant(_) | Claim::Symbolic(_) | Claim::Confined(_) => {
                continue;
            }
        };
        output::note(&format!("{} has no proof of {}: {reason}", path.display(), result.name));
    }
}

/// The results with all reductions, facts and invariants off, within the same limits; none after a panic.
fn rechecked(arguments: &Verify, inputs: Inputs) -> Result<Option<Results>, InputError> {
    let plain = Verify {
        all_interrupts: true,
        all_states: true,
        all_handlers: true,
        no_facts: true,
        no_invariants: true,
        certificate: None,
        ..arguments.clone()
    };
    let without_findings = |job: &mut Job| {
        job.finds = false;
        Ok(())
    };
    let (job, ended) = perform_with(&plain, inputs, without_findings, Job::verify)?;
    Ok(match ended {
        Ended::Done(work) => Some(work?.0),
        Ended::GivenUp(limit) => Some(job.given_up(limit)),
        Ended::Failed => None,
    })
}

/// Reports, and says whether something is denied that the comparison with the older report found.
fn report(job: &Job, results: &Results, arguments: &Verify, detail: Detail) -> Result<bool, InputError> {
    let mut specification = job.specification()?;
    let unproved = results.contracts.iter().filter(|contract| !contract.proved);
    specification.assume.extend(unproved.map(|contract| contract.text.clone()));
    report_about(job, Some(&specification), results, (arguments, detail))
}

/// The same where the question is told, or is not known.
pub(crate) fn report_about(
    job: &Job,
    specification: Option<&Specification>,
    results: &Results,
    (arguments, detail): (&Verify, Detail),
) -> Result<bool, InputError> {
    let peak_memory_bytes = memory::peak() as u64;
    let inputs = job.inputs.listed();
    let machine = avr_verify::machine(&job.request())?;
    let made = Made::now();
    let report = Report {
        image: &job.image,
        device: job.device.name,
        results,
        specification,
        stopped_by: job.monitor.stopped_by(),
        peak_memory_bytes,
        machine: Some(&machine),
        baseline: job.baseline.as_ref(),
        origin: ReportOrigin {
            command: &made.command,
            date: &made.date,
            clock_hz: arguments.clock.map(|clock| clock.get().into()),
            ..job.origin(&inputs)
        },
    };
    reports::write(&report, &machine, (arguments.format, detail), &arguments.report)?;
    if let Some(directory) = &arguments.evidence {
        evidence::write(directory, &report, &machine, arguments.clock)?;
    }
    Ok(report.changes().is_some_and(|changes| baseline::is_denied(&changes, arguments)))
}

/// The limits of the search for findings.
struct Searching<'a>(&'a Monitor);

impl Watch for Searching<'_> {
    fn check(&self, progress: &Progress) -> Option<Exhausted> {
        self.0.check(progress)
    }

    fn cancelled(&self) -> bool {
        self.0.cancelled() || self.0.ends_search()
    }
}

impl Job {
    /// Verifies, and sends what comes of it. Nobody listens any more when the last moment has passed.
    fn verify(&self, sender: &Sender<Work>) {
        let Some(text) = &self.text else { return self.send(sender, avr_verify::verify_with_contracts) };
        if let Err(error) = self.find() {
            let _ = sender.send(Err(error));
            return;
        }
        let (proofs, coming) = channel();
        let tell = |results| {
            let _ = sender.send(Ok((results, Some(coming))));
        };
        let _ = match avr_verify::certify(&self.request(), text, announce, tell) {
            Ok(certificate) => proofs.send(certificate).is_ok(),
            Err(error) => sender.send(Err(error)).is_ok(),
        };
    }

    /// The same with explanations of all verdicts; beside a certificate, of those that are little work.
    fn explain(&self, sender: &Sender<Work>) {
        match self.text {
            Some(_) => self.verify(sender),
            None => self.send(sender, avr_verify::explained),
        }
    }

    /// Sends the results of some work, with the findings.
    fn send(&self, sender: &Sender<Work>, work: fn(&Request<'_>) -> Result<Results, PropertyError>) {
        let watch = Searching(&self.monitor);
        let findings = self.finds.then_some(&watch as &dyn Watch);
        let results = work(&Request { findings, ..self.request() });
        // Nobody listens any more when the last moment has passed.
        let _ = sender.send(results.map(|results| (results, None)));
    }

    /// Looks for findings, which all results have from then on.
    fn find(&self) -> Result<(), PropertyError> {
        if self.finds {
            let watch = Searching(&self.monitor);
            self.known.learn_findings(avr_verify::findings(&Request { watch: &watch, ..self.request() })?);
        }
        Ok(())
    }
}
